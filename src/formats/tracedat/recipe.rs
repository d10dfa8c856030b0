//! Creates a recipe with field offsets from a format: how the bulk pass processes each kind of event.
//!
//! The tables of `event::pairs` define which events belong together; this module finds their fields. For an event
//! without a recipe, only time, kind, thread and place are stored.

use super::event_format::{EventFormat, FieldFormat};
use super::{TraceFile, switch_state::StateTable};
use crate::base::ByteOrder;
use crate::event::family::Family;
use crate::event::kernel::{
    AsyncPair, Counter, EXIT_GROUP, EndOfPair, Noise, Pair, PairEnd, PairName, PairOfEvent,
    ProbeGroup, RequestOp, find_async_pair, find_counters, find_noise, find_pair, find_request,
    is_of_cpu, is_user_mode,
};
use crate::event::{MarkOp, Role, WakeupSort};

/// Offset and type of a number in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Num {
    offset: u32,
    size: u8,
    is_signed: bool,
}

impl Num {
    /// Returns the number in `field`; `None` if the field is not one number.
    #[must_use]
    pub(crate) fn of(field: &FieldFormat) -> Option<Num> {
        field.is_number().then_some(Num {
            offset: field.offset,
            size: field.size as u8,
            is_signed: field.is_signed,
        })
    }

    fn named(format: &EventFormat, name: &str) -> Option<Num> {
        Num::of(format.field(name)?)
    }

    /// Reads the number from `event`, sign-extended if it is signed; `None` if the event is too short.
    #[inline(always)]
    #[must_use]
    pub(crate) fn read<E: ByteOrder>(self, event: &[u8]) -> Option<u64> {
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

/// The key that distinguishes concurrent slices of one family.
#[derive(Clone, Debug)]
pub(crate) enum KeyOf {
    /// Constant: a hash of the name that begin and end share.
    Fixed(u64),
    /// A number in the event.
    Num(Num),
    /// A hash of a text in the event.
    Text(Box<FieldFormat>),
}

/// The name of a slice.
#[derive(Clone, Debug)]
pub(crate) enum NameOf {
    /// A constant name.
    Fixed(Box<str>),
    /// A text in the event.
    Text(Box<FieldFormat>),
    /// The symbol at an address in the event.
    Symbol(Num),
    /// The function at a probe's address; the event's name if there is no symbol at the address.
    Probe(Num, Box<str>),
    /// The name of the system call whose number is the key.
    Syscall,
    /// The word for a number in the event, from a table.
    Word(Num, &'static [&'static str]),
    /// An end has no name.
    None,
}

/// Recipe of an event that begins or ends a slice.
#[derive(Clone, Debug)]
pub(crate) struct MarkRecipe {
    /// The family of its slices. Probes may be kernel or user probes, depending on their address (`is_probe`).
    pub family: Family,
    /// Whether the family depends on the address in the key.
    pub is_probe: bool,
    /// Begin or end.
    pub op: MarkOp,
    /// Distinguishes concurrent slices.
    pub key: KeyOf,
    /// Combined with the key by exclusive or.
    pub salt: u64,
    /// Name of the slice.
    pub name: NameOf,
    /// Only for the return of a traced function: the call, in case its entry was lost.
    pub call: Option<Box<CallRecipe>>,
    /// The field with the number of calls around a call of a traced function.
    pub depth: Option<Num>,
    /// The field with the exit code of the process that the call ends.
    pub exit_code: Option<Num>,
}

/// A call of a traced function, as described by its return.
#[derive(Clone, Debug)]
pub(crate) struct CallRecipe {
    /// Start of the call, in ns of the kernel's local clock.
    pub begun: Num,
    /// End of the call, on the same clock.
    pub over: Num,
    /// The recipe that its entry would have had.
    pub entry: MarkRecipe,
}

/// The fields of sched_switch.
#[derive(Clone, Debug)]
pub(crate) struct SwitchRecipe {
    pub(super) prev_pid: Num,
    pub(super) next_pid: Num,
    pub(super) prev_priority: Option<Num>,
    pub(super) next_priority: Option<Num>,
    pub(super) prev_state: Option<Num>,
    pub(super) prev_comm: Option<u32>,
    pub(super) next_comm: Option<u32>,
    pub(super) states: Box<StateTable>,
}

/// How the bulk pass processes events of one kind.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// sched_switch.
    Switch(SwitchRecipe),
    /// sched_waking, sched_wakeup, sched_wakeup_new.
    Wakeup {
        /// Pid of the woken thread.
        pid: Num,
        /// CPU on which the woken thread is to run.
        target_cpu: Option<Num>,
        /// Offset of the thread's name (16 bytes) in the event.
        comm: Option<u32>,
        /// Which of the three events it is.
        sort: WakeupSort,
    },
    /// A begin or end of a slice.
    Mark(MarkRecipe),
    /// A begin or end of an asynchronous slice.
    Async {
        /// Row of the table of pairs.
        pair: &'static AsyncPair,
        /// Begin or end.
        end: PairEnd,
        /// The numbers from which the id is computed.
        keys: Vec<Num>,
        /// Field with the name of the slice.
        name: Option<Box<FieldFormat>>,
    },
    /// Noise (osnoise): CPU time that an interrupt or another disturbance used.
    Noise {
        /// Row of the table of noise.
        row: &'static Noise,
        /// Start, in ns of the local clock.
        start: Num,
        /// Duration, in ns.
        duration: Num,
        /// Name of the disturbance.
        text: Option<Box<FieldFormat>>,
        /// Number that is appended to the name.
        number: Option<Num>,
    },
    /// Samples of several counters.
    Counters(Vec<Recipe>),
    /// A step of a bio or request.
    Request {
        /// The step, e.g. the issue of a request to its device.
        op: RequestOp,
        /// The device.
        device: Num,
        /// The first sector.
        sector: Num,
        /// Number of sectors; for a split: the first sector of the rest.
        count: Option<Num>,
        /// Field with the operation (`rwbs`).
        name: Option<Box<FieldFormat>>,
    },
    /// A sample of a counter.
    Counter {
        /// Row of the table of counters.
        row: &'static Counter,
        /// The value.
        value: Num,
        /// The CPU that the counter belongs to.
        cpu: Option<Num>,
        /// Text that is appended to the counter's name.
        label: Option<Box<FieldFormat>>,
    },
    /// sched_process_fork.
    Fork {
        /// Pid of the parent.
        parent: Num,
        /// Pid of the child.
        child: Num,
        /// Name of the child.
        name: Option<Box<FieldFormat>>,
    },
    /// task_newtask.
    NewTask {
        /// Pid of the new thread.
        child: Num,
        /// Clone flags, which distinguish processes from threads.
        flags: Option<Num>,
        /// Its name.
        name: Option<Box<FieldFormat>>,
    },
    /// sched_process_exec.
    Exec {
        /// Pid of the thread after the exec.
        pid: Num,
        /// Pid of the thread that called `execve`; it differs if that thread was not the leader of its process.
        caller: Option<Num>,
        /// File name of the program.
        program: Option<Box<FieldFormat>>,
    },
    /// sched_stat_runtime.
    Ran {
        /// The thread.
        pid: Num,
    },
    /// sched_migrate_task.
    Migrate {
        /// The thread.
        pid: Num,
        /// The CPU that it was moved from.
        from: Num,
        /// The CPU that it was moved to.
        to: Num,
    },
    /// sched_process_free.
    Forget {
        /// Pid of the thread.
        pid: Num,
    },
    /// sched_process_exit.
    Exit {
        /// Pid of the thread.
        pid: Num,
        /// Whether it was the last thread of its process.
        is_last: Option<Num>,
    },
    /// task_rename.
    Rename {
        /// Pid of the thread; `None` in newer kernels, where it is the event's own thread.
        pid: Option<Num>,
        /// The new name.
        name: Box<FieldFormat>,
    },
    /// Shows that its thread is not in a system call.
    UserMode,
    /// Text that a program or the kernel wrote; it may be a mark.
    Print(PrintText),
}

/// The place of an event's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintText {
    /// In the event, from this offset to the event's end (trace_marker).
    Inline(u32),
    /// In the table of printk formats, at the address in this field (a constant text of trace_printk).
    Constant(Num),
    /// Formatted from the trace_printk format at the address in this field, and from arguments.
    Formatted(Num),
    /// The text that its print fmt prints (`tracing_mark_write` of vendors' kernels).
    PrintFmt,
}

/// Returns the recipe for events of `format`; `None` if they need none.
#[must_use]
pub(crate) fn recipe_for(file: &TraceFile, format: &EventFormat) -> Option<Recipe> {
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
        ("sched", "sched_stat_runtime") => return Some(Recipe::Ran { pid: num("pid")? }),
        ("sched", "sched_migrate_task") => {
            return Some(Recipe::Migrate {
                pid: num("pid")?,
                from: num("orig_cpu")?,
                to: num("dest_cpu")?,
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
                caller: num("old_pid"),
                program: text("filename"),
            });
        }
        ("sched", "sched_process_exit") => {
            return Some(Recipe::Exit {
                pid: num("pid")?,
                is_last: num("group_dead"),
            });
        }
        ("sched", "sched_process_free") => return Some(Recipe::Forget { pid: num("pid")? }),
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
    if let Some(PairOfEvent { pair, end, stem }) = find_pair(&format.system, &format.name) {
        return mark_recipe(format, pair, end, stem).map(Recipe::Mark);
    }
    if let Some(EndOfPair { pair, end }) = find_async_pair(&format.system, &format.name) {
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

/// Returns the place of the text in events of `format`; `None` if they are not print events.
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

/// Returns the recipe of a kprobe or uprobe. Users choose the names of probes, so they are recognised by fields that
/// only probes have.
fn probe_recipe(file: &TraceFile, format: &EventFormat) -> Option<MarkRecipe> {
    let entry = Num::named(format, "__probe_ip");
    let (op, address) = match entry {
        Some(address) => (MarkOp::Begin, address),
        None => (MarkOp::End, Num::named(format, "__probe_func")?),
    };
    // Without kernel symbols, the default groups of both kinds of probes decide.
    let group = ProbeGroup::of(format.system.as_bytes());
    let is_user = group == Some(ProbeGroup::Uprobes);
    Some(MarkRecipe {
        family: if is_user {
            Family::Uprobes
        } else {
            Family::Kprobes
        },
        is_probe: !is_user
            && group != Some(ProbeGroup::Kprobes)
            && !file.metadata.kallsyms.is_empty(),
        op,
        key: KeyOf::Num(address),
        salt: 0,
        name: match op {
            MarkOp::Begin => NameOf::Probe(address, format.name.as_str().into()),
            MarkOp::End | MarkOp::Over => NameOf::None,
        },
        call: None,
        depth: None,
        exit_code: None,
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
        // The event of this kernel lacks the pair's key field: then an end matches the innermost begin of the pair.
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
            (PairEnd::End, Family::Functions) => call(),
            _ => None,
        },
        depth: match pair.family {
            Family::Functions => num("depth"),
            _ => None,
        },
        exit_code: match format.name.as_str() {
            EXIT_GROUP => num("error_code"),
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

/// Returns a hash of a text, which is used as its key.
#[must_use]
pub(crate) fn hash_text(text: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// Returns how the window draws events of `format`.
#[must_use]
pub(crate) fn role_of(format: &EventFormat, recipe: Option<&Recipe>) -> Role {
    match recipe {
        Some(Recipe::Switch(_)) => Role::Switch,
        Some(Recipe::Mark(mark)) if mark.family.is_of_calls() => Role::SystemCall,
        Some(
            Recipe::Wakeup { .. }
            | Recipe::Mark(_)
            | Recipe::Async { .. }
            | Recipe::Noise { .. }
            | Recipe::Counters(_)
            | Recipe::Counter { .. },
        ) => Role::Consumed,
        // A merge neither begins nor ends a slice.
        Some(Recipe::Request { op, .. }) if *op != RequestOp::Merge => Role::Consumed,
        _ if is_of_cpu(&format.system) => Role::CpuInstant,
        _ => Role::Instant,
    }
}
