//! Parsed definitions: the lines of a text, their probes, and what each probe records.

use super::fault::ProbeError;

/// All lines of a text of definitions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    /// The lines in the text's order, without comments and empty lines.
    pub lines: Vec<DefinitionLine>,
}

impl Definitions {
    /// Returns the probes that remain after the last line: the valid ones that were not removed.
    pub fn standing(&self) -> impl Iterator<Item = &ProbeDefinition> {
        self.lines.iter().filter_map(DefinitionLine::standing)
    }

    /// Returns the errors, in the text's order.
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

    /// Returns a message for each line that is kept but not checked.
    pub(crate) fn unchecked(&self) -> impl Iterator<Item = String> {
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

/// One command of a text of definitions.
#[derive(Clone, Debug, PartialEq)]
pub struct DefinitionLine {
    /// Name of the file of the line; empty for pasted text.
    pub source: String,
    /// Line number, the first is 1.
    pub number: u32,
    /// The text of the whole line.
    pub text: String,
    /// The parsed command, or why the kernel would refuse it.
    pub command: Result<Command, ProbeError>,
    /// Whether a later line removes this probe, or another file also defines it.
    pub is_removed: bool,
}

impl DefinitionLine {
    /// Returns `FILE: `, the prefix of messages; empty for pasted text.
    #[must_use]
    pub(crate) fn file_words(&self) -> String {
        match self.source.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        }
    }

    /// Returns the probe that the line defines, unless it was removed.
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
    /// Defines a probe.
    Define(ProbeDefinition),
    /// Removes the probes of this group and event; if only one of the two is given, all probes that match it.
    Remove {
        /// The group, if given.
        group: Option<String>,
        /// The event, if given.
        event: Option<String>,
    },
    /// A dynamic event that is not a probe: kept, not checked.
    Other(OtherEvent),
}

/// A dynamic event that is not a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherEvent {
    /// `s:`, a synthetic event, which a histogram's trigger creates from other events.
    Synthetic,
    /// `u:`, a user event, which programs write.
    User,
}

impl OtherEvent {
    /// Returns the kind in words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OtherEvent::Synthetic => "a synthetic event",
            OtherEvent::User => "an event of programs (user_events)",
        }
    }
}

/// The definition of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeDefinition {
    /// When the probe hits.
    pub sort: ProbeSort,
    /// How many calls of the function can be followed at once; `None`: the kernel's default.
    pub max_active: Option<u32>,
    /// The group, which is the system of the probe's events.
    pub group: String,
    /// The event's name, given or generated.
    pub event: String,
    /// The probed place.
    pub place: ProbePlace,
    /// The values that the probe records.
    pub arguments: Vec<FetchArgument>,
}

impl ProbeDefinition {
    /// Returns the argument whose field is called `name` in events.
    #[must_use]
    pub(crate) fn argument(&self, name: &str) -> Option<&FetchArgument> {
        // Old kernels use the text of an unnamed argument as the name of its field.
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

/// The place of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ProbePlace {
    /// A function of the kernel.
    Symbol {
        /// The function's module; empty for the kernel itself.
        module: String,
        /// The function's name.
        name: String,
        /// Byte offset from the function's start.
        offset: u64,
    },
    /// An address in the kernel.
    Address(u64),
    /// An instruction of a program.
    File {
        /// The program or library.
        path: String,
        /// Byte offset of the instruction in the file.
        offset: u64,
        /// Byte offset in the file of a reference counter, which shows the program that a tracer uses the probe.
        counter: Option<u64>,
    },
    /// An event.
    Event {
        /// The event's system.
        system: String,
        /// The event's name.
        event: String,
    },
    /// A function of the kernel, as a whole (fprobe).
    Function {
        /// The function's module; empty for the kernel itself.
        module: String,
        /// The function's name.
        name: String,
    },
    /// A tracepoint.
    Tracepoint(String),
}

impl ProbePlace {
    /// Returns whether the place is in a program.
    #[must_use]
    pub(crate) fn is_user(&self) -> bool {
        matches!(self, ProbePlace::File { .. })
    }
}

/// One value that a probe records.
#[derive(Clone, Debug, PartialEq)]
pub struct FetchArgument {
    /// The argument's name, given or generated.
    pub name: String,
    /// Whether the name was given.
    pub is_named: bool,
    /// The source of the value.
    pub fetch: Fetch,
    /// How the value is read and shown.
    pub type_: FetchType,
    /// Number of elements, if the value is an array.
    pub count: Option<u32>,
    /// The argument's text, without the name.
    pub text: String,
}

/// The source of a value.
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
    /// `$arg*`: all arguments, with their names and types in the kernel.
    AllArguments,
    /// `$retval`.
    ReturnValue,
    /// `$comm`.
    Comm,
    /// `$FIELD`: a field of the probed event.
    EventField(String),
    /// `+|-[u]OFFS(...)`.
    Memory {
        /// Offset in bytes that is added to the address.
        offset: i64,
        /// The address space.
        space: Space,
        /// The address.
        address: Box<Fetch>,
    },
    /// `\IMM`.
    Immediate(i64),
    /// `\"text"`.
    ImmediateText(String),
    /// `NAME` or `NAME->FIELD`: an argument of the function by its name in the kernel (BTF).
    Named(String),
}

/// The address space of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// The kernel's memory.
    Kernel,
    /// The program's memory (`u`).
    User,
}

/// How a value is read and shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchType {
    /// A machine word in hexadecimal.
    #[default]
    Word,
    /// The type in the kernel (BTF), which prints the value readably.
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
    /// `symstr`: a symbol, stored as text.
    SymbolText,
    /// `bWIDTH@OFFSET/SIZE`.
    Bits {
        /// Width in bits.
        width: u8,
        /// Index of the lowest bit.
        offset: u8,
        /// Size in bits of the number that contains the bits.
        size: u8,
    },
}
