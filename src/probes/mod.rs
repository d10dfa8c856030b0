//! Definitions of kprobes and uprobes: the text of `kprobe_events`, `uprobe_events` or `dynamic_events`, of a
//! `kprobe_event=` boot parameter, or lines that somebody pasted; checked as the kernel would check them.
//!
//! ```text
//! p[:[GRP/][EVENT]] [MOD:]SYM[+offs]|MEMADDR|PATH:OFFSET [FETCHARGS]             an entry probe
//! r[MAXACTIVE][:[GRP/][EVENT]] [MOD:]SYM[+0]|PATH:OFFSET [FETCHARGS]             a return probe
//! p[:[GRP/][EVENT]] [MOD:]SYM[+0]%return|PATH:OFFSET[%return][(COUNTER)] [FETCHARGS]   the same
//! e[:[GRP/][EVENT]] SYSTEM.EVENT [FETCHARGS] [if FILTER]                         a probe on an event
//! f[:[GRP/][EVENT]] [MOD:]SYM[%return] [FETCHARGS]                               a function's entry or return (fprobe)
//! t[:[GRP/][EVENT]] TRACEPOINT [FETCHARGS]                                       a probe on a tracepoint
//! -:[GRP/][EVENT]                                                                takes probes away
//! FETCHARG: [NAME=]%REG | @ADDR | @SYM[+|-offs] | @+FILEOFFS | $stackN | $stack | $argN | $arg* | $retval | $comm
//!           | +|-[u]OFFS(FETCHARG) | \IMM | \"text" | NAME[->FIELD[.FIELD]]      and behind it [:TYPE]
//! TYPE:     u|s|x 8|16|32|64 | char | string | ustring | symbol | symstr | bWIDTH@OFFSET/SIZE, each with [N]; %pd | %pD
//! ```
//!
//! Described in the kernel's Documentation/trace/kprobetrace.rst, uprobetracer.rst, eprobetrace.rst and
//! fprobetrace.rst. The rules are those of Linux 6.18 on a 64-bit machine (`tests/core/probes_kernel.rs` holds them to one),
//! but that `$argN` where a function returns is refused, as before 6.9. Of the number behind `r` its sources decide, not
//! its documentation: 0 is refused for functions of the kernel. Whether a symbol, a register, a file or a function's argument exists on a certain machine is not
//! decided here.

mod command;
mod fault;
mod fetch;
mod fetch_type;
mod place;
pub mod profile;
pub mod readable;
pub mod script;
mod show;
mod sniff;

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use command::{parse, parse_files};
pub use fault::{Fault, ProbeError};
pub use profile::{ProfileRow, parse_profile};
pub use sniff::{sniff, sniff_form, sniff_profile};

/// Definitions with what the kernel counted: what is attached to a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeSet {
    /// Where the definitions came from: a file's name, or empty for what was pasted.
    pub source: String,
    /// The lines.
    pub definitions: Arc<Definitions>,
    /// `kprobe_profile`, if it was given.
    pub profile: Arc<Vec<ProfileRow>>,
}

impl ProbeSet {
    /// Definitions from a text.
    #[must_use]
    pub fn from_text(source: &str, text: &str) -> ProbeSet {
        ProbeSet {
            source: source.to_owned(),
            definitions: Arc::new(parse(text)),
            profile: Arc::default(),
        }
    }

    /// Definitions from files, by name and text.
    #[must_use]
    pub fn from_files(files: &[(String, String)]) -> ProbeSet {
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        ProbeSet {
            source: names.join(", "),
            definitions: Arc::new(parse_files(files)),
            profile: Arc::default(),
        }
    }

    /// What was counted of each event; of several rows with one name, the sum.
    #[must_use]
    pub fn counts(&self) -> FxHashMap<&str, ProfileRow> {
        let mut counts: FxHashMap<&str, ProfileRow> = FxHashMap::default();
        for row in self.profile.iter() {
            match counts.entry(&row.event) {
                Entry::Vacant(free) => {
                    free.insert(row.clone());
                }
                Entry::Occupied(mut sum) => {
                    let sum = sum.get_mut();
                    sum.hits = sum.hits.saturating_add(row.hits);
                    sum.misses = match (sum.misses, row.misses) {
                        (Some(a), Some(b)) => Some(a.saturating_add(b)),
                        (a, b) => a.or(b),
                    };
                }
            }
        }
        counts
    }
}

/// All lines of a text of definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// In the text's order; comments and empty lines are left out.
    pub lines: Vec<DefinitionLine>,
}

impl Definitions {
    /// The probes that stand at the end: those that are right and were not taken away.
    pub fn standing(&self) -> impl Iterator<Item = &ProbeDefinition> {
        self.lines.iter().filter_map(DefinitionLine::standing)
    }

    /// What is wrong, in the text's order.
    pub fn errors(&self) -> impl Iterator<Item = &ProbeError> {
        let errors = |line| match line {
            &DefinitionLine {
                command: Err(ref error),
                ..
            } => Some(error),
            _ => None,
        };
        self.lines.iter().filter_map(errors)
    }

    /// What is said of the lines that are kept but not checked.
    pub fn unchecked(&self) -> impl Iterator<Item = String> {
        self.lines.iter().filter_map(|line| match line.command {
            Ok(Command::Other(other)) => Some(format!(
                "{}line {}: {}; only probes are checked",
                line.file_words(),
                line.number,
                other.word()
            )),
            _ => None,
        })
    }
}

/// One command.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionLine {
    /// The file that it stands in; empty for what was pasted.
    pub source: String,
    /// The line of the text, from 1.
    pub number: u32,
    /// The whole line.
    pub text: String,
    /// What it says, or why the kernel would refuse it.
    pub command: Result<Command, ProbeError>,
    /// Whether a later line takes this probe away, or another file has it, too.
    pub is_removed: bool,
}

impl DefinitionLine {
    /// `FILE: `, where there is one.
    #[must_use]
    pub fn file_words(&self) -> String {
        match self.source.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        }
    }

    /// The probe that it defines, unless that was taken away.
    #[must_use]
    pub fn standing(&self) -> Option<&ProbeDefinition> {
        match &self.command {
            Ok(Command::Define(probe)) if !self.is_removed => Some(probe),
            _ => None,
        }
    }
}

/// What a line does.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Sets a probe.
    Define(ProbeDefinition),
    /// Takes away the probes of that group and event; without one of them, all of the other.
    Remove {
        /// The group, if it is said.
        group: Option<String>,
        /// The event, if it is said.
        event: Option<String>,
    },
    /// A dynamic event that is no probe: kept, not checked.
    Other(OtherEvent),
}

/// A dynamic event that is no probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEvent {
    /// `s:`, made of other events by a histogram's trigger.
    Synthetic,
    /// `u:`, written by programs.
    User,
}

impl OtherEvent {
    /// A word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OtherEvent::Synthetic => "a synthetic event",
            OtherEvent::User => "an event of programs (user_events)",
        }
    }
}

/// A probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeDefinition {
    /// Entry or return.
    pub sort: ProbeSort,
    /// How many calls of the function can be followed at once; the kernel's default if it is not said.
    pub max_active: Option<u32>,
    /// Its group: the system of its events.
    pub group: String,
    /// Its event's name, as said or generated.
    pub event: String,
    /// Where it sits.
    pub place: ProbePlace,
    /// What it records.
    pub arguments: Vec<FetchArgument>,
}

impl ProbeDefinition {
    /// The argument that events call `name`.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&FetchArgument> {
        // Old kernels name an argument without a name by its text.
        let mut arguments = self.arguments.iter();
        arguments.find(|it| it.name == name || (!it.is_named && it.text == name))
    }
}

/// When a probe hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeSort {
    /// When its instruction is reached.
    Entry,
    /// When the function returns.
    Return,
    /// When an event happens.
    Event,
}

/// Where a probe sits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProbePlace {
    /// A function of the kernel.
    Symbol {
        /// Its module; empty for the kernel itself.
        module: String,
        /// Its name.
        name: String,
        /// Bytes from its start.
        offset: u64,
    },
    /// An address in the kernel.
    Address(u64),
    /// An instruction of a program.
    File {
        /// The program or library.
        path: String,
        /// Bytes from the file's start.
        offset: u64,
        /// Where a counter of the program's is that says that somebody listens.
        counter: Option<u64>,
    },
    /// An event.
    Event {
        /// Its system.
        system: String,
        /// Its name.
        event: String,
    },
    /// A function of the kernel, as a whole (fprobe).
    Function {
        /// Its module; empty for the kernel itself.
        module: String,
        /// Its name.
        name: String,
    },
    /// A tracepoint.
    Tracepoint(String),
}

impl ProbePlace {
    /// Whether it is in a program.
    #[must_use]
    pub fn is_user(&self) -> bool {
        matches!(self, ProbePlace::File { .. })
    }
}

/// One thing that a probe records.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchArgument {
    /// Its name, as said or `argN`.
    pub name: String,
    /// Whether the name was said.
    pub is_named: bool,
    /// Where its value comes from.
    pub fetch: Fetch,
    /// How the value is read and shown.
    pub type_: FetchType,
    /// How many elements, if it is an array.
    pub count: Option<u32>,
    /// As it stands in the text, without the name.
    pub text: String,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Fetch {
    /// `%REG`.
    Register(String),
    /// `@ADDR`.
    Address(u64),
    /// `@SYM+offs`.
    Symbol(String, i64),
    /// `@+OFFS`, in the file of a program.
    FileOffset(i64),
    /// `$stackN`.
    StackEntry(u32),
    /// `$stack`.
    Stack,
    /// `$argN`, from 1.
    Argument(u32),
    /// `$arg*`: all of them, with the names and types that the kernel knows.
    AllArguments,
    /// `$retval`.
    ReturnValue,
    /// `$comm`.
    Comm,
    /// `$FIELD` of the event that is probed.
    EventField(String),
    /// `+|-[u]OFFS(...)`.
    Memory {
        /// Bytes behind the address.
        offset: i64,
        /// Whose memory.
        space: Space,
        /// The address.
        address: Box<Fetch>,
    },
    /// `\IMM`.
    Immediate(i64),
    /// `\"text"`.
    ImmediateText(String),
    /// `NAME` or `NAME->FIELD`: an argument of the function by its name, which the kernel knows (BTF).
    Named(String),
}

/// Whose memory an address is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The kernel's.
    Kernel,
    /// The program's (`u`).
    User,
}

/// How a value is read and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchType {
    /// A machine word in hexadecimal.
    #[default]
    Word,
    /// As the kernel knows it (BTF): printed so already.
    Declared,
    /// `u8` to `u64`.
    Unsigned(u8),
    /// `s8` to `s64`.
    Signed(u8),
    /// `x8` to `x64`.
    Hex(u8),
    /// `char`.
    Char,
    /// `string`.
    Text,
    /// `ustring`.
    UserText,
    /// `symbol`: an address, shown as a symbol.
    Symbol,
    /// `symstr`: the same, stored as text.
    SymbolText,
    /// `bWIDTH@OFFSET/SIZE`.
    Bits {
        /// How many bits.
        width: u8,
        /// The lowest of them.
        offset: u8,
        /// Bits of the number that they are cut from.
        size: u8,
    },
}

#[cfg(test)]
mod tests;
