//! What the bulk pass does with each kind of event: its format in, a recipe with field offsets out.
//!
//! Which events belong together is said by the tables of `event::pairs`; this file finds their fields. An
//! event without a recipe is only counted: time, kind, thread and place.

use super::event_format::{EventFormat, FieldFormat};
use super::page::Order;
use super::{TraceFile, switch_state::StateTable};
use crate::event::pairs::{
    AsyncPair, Counter, FUNCTIONS, KPROBES, Noise, Pair, PairEnd, PairName, RequestOp, UPROBES,
    find_async_pair, find_counters, find_noise, find_pair, find_request, is_user_mode,
};
use crate::event::{MarkOp, Role, WakeupSort};

/// A number inside an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Num {
    offset: u32,
    size: u8,
    is_signed: bool,
}

impl Num {
    /// The place of a field that is one number.
    #[must_use]
    pub fn of(field: &FieldFormat) -> Option<Num> {
        field.is_number().then_some(Num {
            offset: field.offset,
            size: field.size as u8,
            is_signed: field.is_signed,
        })
    }

    fn named(format: &EventFormat, name: &str) -> Option<Num> {
        Num::of(format.field(name)?)
    }

    /// Its value in `event`, sign-extended if it is signed; `None` if the event is too short.
    #[inline(always)]
    #[must_use]
    pub fn read<E: Order>(self, event: &[u8]) -> Option<u64> {
        let bytes = event.get(self.offset as usize..)?;
        Some(match (self.size, self.is_signed) {
            (4, false) => u64::from(E::u32(*bytes.first_chunk()?)),
            (4, true) => E::u32(*bytes.first_chunk()?) as i32 as u64,
            (8, _) => E::u64(*bytes.first_chunk()?),
            (2, false) => u64::from(E::u16(*bytes.first_chunk()?)),
            (2, true) => E::u16(*bytes.first_chunk()?) as i16 as u64,
            (_, false) => u64::from(*bytes.first()?),
            (_, true) => *bytes.first()? as i8 as u64,
        })
    }
}

/// What tells concurrent slices of a family apart.
#[derive(Clone, Debug)]
pub enum KeyOf {
    /// Always the same number: a hash of the name that both ends share.
    Fixed(u64),
    /// A number of the event.
    Num(Num),
    /// A hash of a text of the event.
    Text(Box<FieldFormat>),
}

/// What a slice is called.
#[derive(Clone, Debug)]
pub enum NameOf {
    /// Always the same.
    Fixed(Box<str>),
    /// A text of the event.
    Text(Box<FieldFormat>),
    /// The symbol at an address.
    Symbol(Num),
    /// The function of a probe if it is known, else the event's name.
    Probe(Num, Box<str>),
    /// The system call with the key's number.
    Syscall,
    /// The word for a number.
    Word(Num, &'static [&'static str]),
    /// An end needs no name.
    None,
}

/// A begin or end.
#[derive(Clone, Debug)]
pub struct MarkRecipe {
    /// Row of FAMILIES; probes decide between kernel and user by their address.
    pub family: u8,
    /// Whether the family depends on the address in the key.
    pub is_probe: bool,
    /// Begin or end.
    pub op: MarkOp,
    /// Tells concurrent ones apart.
    pub key: KeyOf,
    /// Mixed into the key.
    pub salt: u64,
    /// What it is called.
    pub name: NameOf,
    /// Of the return of a traced function: what its call is where the entry was lost.
    pub call: Option<Box<CallRecipe>>,
}

/// A call as its return alone tells it.
#[derive(Clone, Debug)]
pub struct CallRecipe {
    /// When it began.
    pub begun: Num,
    /// When it was over, on the same clock.
    pub over: Num,
    /// What its entry would have been.
    pub entry: MarkRecipe,
}

/// Where sched_switch has its fields.
#[derive(Clone, Debug)]
pub struct SwitchRecipe {
    pub(super) prev_pid: Num,
    pub(super) next_pid: Num,
    pub(super) prev_priority: Option<Num>,
    pub(super) next_priority: Option<Num>,
    pub(super) prev_state: Option<Num>,
    pub(super) prev_comm: Option<u32>,
    pub(super) next_comm: Option<u32>,
    pub(super) states: Box<StateTable>,
}

/// What to do with a kind of event.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// sched_switch.
    Switch(SwitchRecipe),
    /// sched_waking, sched_wakeup, sched_wakeup_new.
    Wakeup {
        /// Who was woken.
        pid: Num,
        /// Where it is to run.
        target_cpu: Option<Num>,
        /// Offset of its name's 16 bytes.
        comm: Option<u32>,
        /// Which of them.
        sort: WakeupSort,
    },
    /// A begin or end of a slice.
    Mark(MarkRecipe),
    /// A begin or end of an asynchronous slice.
    Async {
        /// The table's row.
        pair: &'static AsyncPair,
        /// Begin or end.
        end: PairEnd,
        /// The numbers that make the id.
        keys: Vec<Num>,
        /// The name's field.
        name: Option<Box<FieldFormat>>,
    },
    /// Time that something took of a CPU.
    Noise {
        /// The table's row.
        row: &'static Noise,
        /// When it began, in ns of the local clock.
        start: Num,
        /// How long it took, in ns.
        duration: Num,
        /// Its name.
        text: Option<Box<FieldFormat>>,
        /// The number behind the name.
        number: Option<Num>,
    },
    /// Samples of several counters.
    Counters(Vec<Recipe>),
    /// What happened to a bio or request.
    Request {
        /// What.
        op: RequestOp,
        /// The device.
        device: Num,
        /// The first sector.
        sector: Num,
        /// How many sectors; of a split: the first sector of the rest.
        count: Option<Num>,
        /// What it does.
        name: Option<Box<FieldFormat>>,
    },
    /// A sample of a counter.
    Counter {
        /// The table's row.
        row: &'static Counter,
        /// The value.
        value: Num,
        /// Whether the value is idle's 32-bit number, of which the highest means "not idle".
        is_idle: bool,
        /// The CPU it is of.
        cpu: Option<Num>,
        /// What is added to the name.
        label: Option<Box<FieldFormat>>,
    },
    /// sched_process_fork.
    Fork {
        /// Who forked.
        parent: Num,
        /// The new one.
        child: Num,
        /// Its name.
        name: Option<Box<FieldFormat>>,
    },
    /// task_newtask.
    NewTask {
        /// The new one.
        child: Num,
        /// Tell process and thread apart.
        flags: Option<Num>,
        /// Its name.
        name: Option<Box<FieldFormat>>,
    },
    /// sched_process_exec.
    Exec {
        /// Who.
        pid: Num,
        /// The program.
        program: Option<Box<FieldFormat>>,
    },
    /// sched_process_exit.
    Exit {
        /// Who.
        pid: Num,
    },
    /// task_rename.
    Rename {
        /// Who; the event's own thread in newer kernels.
        pid: Option<Num>,
        /// The new name.
        name: Box<FieldFormat>,
    },
    /// Shows that its thread is in no system call.
    UserMode,
    /// Text that a program or the kernel wrote: it may be a mark.
    Print(PrintText),
}

/// Where an event has its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintText {
    /// From this offset to the event's end (trace_marker).
    Inline(u32),
    /// In the table of printk formats, at this address (a constant text of trace_printk).
    Constant(Num),
    /// trace_printk's format, at this address, with arguments.
    Formatted(Num),
    /// Its print fmt makes it (`tracing_mark_write` of vendors' kernels).
    PrintFmt,
}

/// The recipe for events of `format`, if they need one.
#[must_use]
pub fn recipe_for(file: &TraceFile, format: &EventFormat) -> Option<Recipe> {
    let num = |name| Num::named(format, name);
    let text = |name: &str| format.field(name).cloned().map(Box::new);
    let comm = |name: &str| {
        let field = format.field(name)?;
        (field.is_string && field.size == 16).then_some(field.offset)
    };
    match (format.system.as_str(), format.name.as_str()) {
        ("sched", "sched_switch") => {
            return Some(Recipe::Switch(SwitchRecipe {
                prev_pid: num("prev_pid")?,
                next_pid: num("next_pid")?,
                prev_priority: num("prev_prio"),
                next_priority: num("next_prio"),
                prev_state: num("prev_state"),
                prev_comm: comm("prev_comm"),
                next_comm: comm("next_comm"),
                states: Box::new(StateTable::new(&format.print_fmt)),
            }));
        }
        ("sched", name @ ("sched_waking" | "sched_wakeup" | "sched_wakeup_new")) => {
            return Some(Recipe::Wakeup {
                pid: num("pid")?,
                target_cpu: num("target_cpu"),
                comm: comm("comm"),
                sort: match name {
                    "sched_waking" => WakeupSort::Waking,
                    "sched_wakeup" => WakeupSort::Wakeup,
                    _ => WakeupSort::New,
                },
            });
        }
        ("sched", "sched_process_fork") => {
            return Some(Recipe::Fork {
                parent: num("parent_pid")?,
                child: num("child_pid")?,
                name: text("child_comm"),
            });
        }
        ("sched", "sched_process_exec") => {
            return Some(Recipe::Exec {
                pid: num("pid")?,
                program: text("filename"),
            });
        }
        ("sched", "sched_process_exit") => return Some(Recipe::Exit { pid: num("pid")? }),
        ("task", "task_newtask") => {
            return Some(Recipe::NewTask {
                child: num("pid")?,
                flags: num("clone_flags"),
                name: text("comm"),
            });
        }
        ("task", "task_rename") => {
            return Some(Recipe::Rename {
                pid: num("pid"),
                name: text("newcomm")?,
            });
        }
        _ => {}
    }
    if let Some(text) = print_text(format) {
        return Some(Recipe::Print(text));
    }
    if let Some(mark) = probe_recipe(file, format) {
        return Some(Recipe::Mark(mark));
    }
    if is_user_mode(&format.system, &format.name) {
        return Some(Recipe::UserMode);
    }
    if let Some((pair, end, stem)) = find_pair(&format.system, &format.name) {
        return mark_recipe(format, pair, end, stem).map(Recipe::Mark);
    }
    if let Some((pair, end)) = find_async_pair(&format.system, &format.name) {
        let key = |names: &&'static str| names.split('|').find_map(|name| Num::named(format, name));
        let keys: Vec<Num> = pair.keys.iter().filter_map(key).collect();
        if keys.is_empty() {
            return None;
        }
        return Some(Recipe::Async {
            keys,
            name: text(pair.name).filter(|_| end == PairEnd::Begin),
            pair,
            end,
        });
    }
    if let Some(op) = find_request(&format.system, &format.name) {
        return Some(Recipe::Request {
            op,
            device: num("dev")?,
            sector: num("sector")?,
            count: match op {
                RequestOp::Split => Some(num("new_sector")?),
                _ => num("nr_sector"),
            },
            name: text("rwbs"),
        });
    }
    if let Some(row) = find_noise(&format.system, &format.name) {
        return Some(Recipe::Noise {
            row,
            start: num("start")?,
            duration: num("duration")?,
            text: text(row.text),
            number: num(row.number),
        });
    }
    let counter = |row: &'static Counter| {
        Some(Recipe::Counter {
            row,
            value: num(row.value)?,
            is_idle: row.event == "power:cpu_idle",
            cpu: num(row.cpu),
            label: text(row.label),
        })
    };
    match find_counters(&format.system, &format.name) {
        [] => None,
        [row] => counter(row),
        rows => Some(Recipe::Counters(rows.iter().filter_map(counter).collect())),
    }
}

/// Where events of `format` have a text, if that is what they are.
fn print_text(format: &EventFormat) -> Option<PrintText> {
    let num = |name| Num::named(format, name);
    match (format.system.as_str(), format.name.as_str()) {
        ("ftrace", "print") => Some(PrintText::Inline(format.field("buf")?.offset)),
        ("ftrace", "bputs") => Some(PrintText::Constant(num("str")?)),
        ("ftrace", "bprint") => Some(PrintText::Formatted(num("fmt")?)),
        (_, "tracing_mark_write") => Some(PrintText::PrintFmt),
        _ => None,
    }
}

/// kprobes and uprobes, which users name: told by the fields that only they have.
fn probe_recipe(file: &TraceFile, format: &EventFormat) -> Option<MarkRecipe> {
    let entry = Num::named(format, "__probe_ip");
    let (op, address) = match entry {
        Some(address) => (MarkOp::Begin, address),
        None => (MarkOp::End, Num::named(format, "__probe_func")?),
    };
    // Where no symbols tell, the kernel's usual names of the two systems do.
    let is_user = format.system == "uprobes";
    Some(MarkRecipe {
        family: if is_user { UPROBES } else { KPROBES },
        is_probe: !file.metadata.kallsyms.is_empty() && !is_user && format.system != "kprobes",
        op,
        key: KeyOf::Num(address),
        salt: 0,
        name: match op {
            MarkOp::Begin => NameOf::Probe(address, format.name.as_str().into()),
            MarkOp::End | MarkOp::Over => NameOf::None,
        },
        call: None,
    })
}

fn mark_recipe(
    format: &EventFormat,
    pair: &'static Pair,
    end: PairEnd,
    stem: &str,
) -> Option<MarkRecipe> {
    let key = match format.field(pair.key) {
        Some(field) => match Num::of(field) {
            Some(num) => KeyOf::Num(num),
            None => KeyOf::Text(Box::new(field.clone())),
        },
        None if pair.key.is_empty() => KeyOf::Fixed(hash_text(stem.as_bytes())),
        // The pair's key is not in this kernel's event: the innermost of its name will do.
        None => KeyOf::Fixed(hash_text(pair.begin.as_bytes())),
    };
    let fixed = || NameOf::Fixed(stem.into());
    let num = |name| Num::named(format, name);
    let name = match (end, pair.name) {
        (PairEnd::End, _) => NameOf::None,
        (_, PairName::Stem) => fixed(),
        (_, PairName::Text(name)) => match format.field(name) {
            Some(field) => NameOf::Text(Box::new(field.clone())),
            None => fixed(),
        },
        (_, PairName::Symbol(name)) => num(name).map_or_else(fixed, NameOf::Symbol),
        (_, PairName::Syscall(_)) => NameOf::Syscall,
        (_, PairName::Word(name, words)) => {
            num(name).map_or_else(fixed, |num| NameOf::Word(num, words))
        }
    };
    let call = || {
        let recipe = CallRecipe {
            begun: num("calltime")?,
            over: num("rettime")?,
            entry: mark_recipe(format, pair, PairEnd::Begin, stem)?,
        };
        Some(Box::new(recipe))
    };
    Some(MarkRecipe {
        family: pair.family,
        is_probe: false,
        call: match (end, pair.family) {
            (PairEnd::End, FUNCTIONS) => call(),
            _ => None,
        },
        op: match end {
            PairEnd::Begin => MarkOp::Begin,
            PairEnd::End => MarkOp::End,
        },
        key,
        salt: pair.salt(),
        name,
    })
}

/// A number that stands for a text as key.
#[must_use]
pub fn hash_text(text: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// What becomes of events of `format` in the picture.
#[must_use]
pub fn role_of(format: &EventFormat, recipe: Option<&Recipe>) -> Role {
    match recipe {
        Some(
            Recipe::Switch(_)
            | Recipe::Wakeup { .. }
            | Recipe::Mark(_)
            | Recipe::Async { .. }
            | Recipe::Noise { .. }
            | Recipe::Counters(_)
            | Recipe::Counter { .. },
        ) => Role::Consumed,
        // A merge neither begins nor ends anything.
        Some(Recipe::Request { op, .. }) if *op != RequestOp::Merge => Role::Consumed,
        _ if matches!(format.system.as_str(), "irq" | "irq_vectors" | "ipi") => Role::CpuInstant,
        _ => Role::Instant,
    }
}
