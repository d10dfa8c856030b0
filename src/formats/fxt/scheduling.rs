//! Scheduling records (type 8): context switches of the older and newer form, and wakeups.
//!
//! ```text
//! bits 60..63: 0 legacy switch  16..23 cpu | 24..27 outgoing state | 28..35 outgoing thread | 36..43 incoming thread
//!                               44..51, 52..59 priorities; ticks | [outgoing process, thread] | [incoming ...]
//!              1 switch         16..19 argument count | 20..35 cpu | 36..39 outgoing state; ticks | outgoing koid |
//!                               incoming koid | arguments (`outgoing_weight`, `incoming_weight`,
//!                               ours: `outgoing_state`, `without_states`,
//!                               `outgoing_not_seen`, `waits`, `spans_loss`, `misses_switches`,
//!                               `lasts_at_most_ns`)
//!              2 wakeup         16..19 argument count | 20..35 cpu; ticks | koid | arguments (`weight`, `waker`,
//!                               ours: `woken_in`, `woken_by`, `interrupted`, `waits`, `spans_loss`,
//!                               `misses_switches`)
//! ```
//!
//! A thread is the idle thread if its process koid and priority are 0 (older form), or if its weight is the smallest
//! int32 (newer form). Idle threads have no runs: they become `ThreadKey::IDLE`.
//!
//! Of the 50 FXT files of the corpus and the samples, 4 have switches of the older form, 8 have switches of the newer
//! form, 8 have wakeups, and 2 have records of unknown types, which are skipped. Our own arguments are in 1 sample.

use crate::base::{Location, Maybe, Severity};
use crate::event::{
    Interrupt, StateFacts, Switch, SwitchContent, ThreadKey, ThreadState, Ties, Wakeup, WakeupSort,
};

use super::emit::Emitter;
use super::rows::NewEvent;
use super::sort::Sort;
use crate::base::ByteOrder;
use crate::fxt::args::{Arg, ArgValue, Args};
use crate::fxt::layout::scheduling::{self, IDLE_WEIGHT, legacy};
use crate::fxt::words::Words;

/// Returns the state of a thread that was switched out, from the record's 4-bit state.
#[must_use]
pub(crate) fn end_state(state: u64) -> ThreadState {
    match state {
        0 | 1 => ThreadState::Runnable,
        2 => ThreadState::Stopped,
        3 => ThreadState::Sleeping,
        4 => ThreadState::Zombie,
        5 => ThreadState::Dead,
        _ => ThreadState::Unknown,
    }
}

/// Returns a state that the 4 bits cannot express, from the letters in the argument `outgoing_state` of our own
/// exporter.
fn finer_state(letters: &[u8]) -> Option<ThreadState> {
    Some(match letters {
        b"R+" => ThreadState::Preempted,
        b"D" => ThreadState::Uninterruptible,
        b"t" => ThreadState::Traced,
        b"P" => ThreadState::Parked,
        b"I" => ThreadState::Idle,
        _ => return None,
    })
}

impl<'f, O: ByteOrder> Emitter<'f, O> {
    pub(super) fn scheduling(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let read = match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => self.legacy_switch(at, header, record),
            scheduling::SWITCH => self.context_switch(at, header, record),
            scheduling::WAKEUP => self.wakeup(at, header, record),
            other => {
                self.diagnostics().note(
                    "unknown_scheduling_record",
                    Severity::Info,
                    Location::Byte(at),
                    || format!("a scheduling record of type {other} was skipped"),
                );
                return;
            }
        };
        if read.is_none() {
            self.short(at, "a scheduling record");
        }
    }

    /// Adds a context switch of the older form; `None` if the record is too short.
    fn legacy_switch(&mut self, at: u64, header: u64, record: Words<'f, O>) -> Option<()> {
        let ticks = record.get(1)?;
        let mut next = 2;
        let mut side = |emitter: &mut Self, reference: u64, priority: u64| {
            let is_pid_zero = if reference == 0 {
                record.get(next)? == 0
            } else {
                let key = emitter.peek_thread(reference as u8, at);
                key.is_some_and(|key| emitter.scan.entities.koids_of(key).process == Some(0))
            };
            if is_pid_zero && priority == 0 {
                next += if reference == 0 { 2 } else { 0 };
                return Some(ThreadKey::IDLE);
            }
            let thread = emitter.thread(reference, record, &mut next, at)?;
            Some(thread.get().unwrap_or(ThreadKey::IDLE))
        };
        let priorities = (
            legacy::OUTGOING_PRIORITY.get(header),
            legacy::INCOMING_PRIORITY.get(header),
        );
        let prev = side(self, legacy::OUTGOING.get(header), priorities.0)?;
        let next = side(self, legacy::INCOMING.get(header), priorities.1)?;
        let Some(time) = self.time(ticks, at) else {
            return Some(());
        };
        self.switch(
            time,
            at,
            Switch {
                event: 0,
                cpu: legacy::CPU.get(header) as u32,
                prev,
                next,
                prev_priority: priorities.0 as i32,
                next_priority: priorities.1 as i32,
                prev_state: end_state(legacy::STATE.get(header)),
                content: SwitchContent::RunsAndStates,
            },
        );
        Some(())
    }

    fn context_switch(&mut self, at: u64, header: u64, record: Words<'f, O>) -> Option<()> {
        let (ticks, outgoing, incoming) = (record.get(1)?, record.get(2)?, record.get(3)?);
        let Some(time) = self.time(ticks, at) else {
            return Some(());
        };
        let (mut outgoing_weight, mut incoming_weight) = (None, None);
        let mut unknown_count = 0;
        let mut args = Args::new(record, 4, scheduling::ARGS.get(header));
        let mut state = end_state(scheduling::STATE.get(header));
        let mut content = SwitchContent::RunsAndStates;
        let mut facts = StateFacts::default();
        for arg in args.by_ref() {
            let weight = match arg.value {
                ArgValue::Int32(weight) => weight,
                // Our own exporter writes states that the 4 bits cannot express.
                ArgValue::Text(letters)
                    if self.text(arg.name, at) == self.well_known.outgoing_state =>
                {
                    let letters = self.text(letters, at);
                    state = finer_state(self.out.strings.bytes(letters)).unwrap_or(state);
                    continue;
                }
                ArgValue::Bool(true)
                    if self.text(arg.name, at) == self.well_known.without_states =>
                {
                    content = SwitchContent::Runs;
                    continue;
                }
                ArgValue::Bool(true)
                    if self.text(arg.name, at) == self.well_known.outgoing_not_seen =>
                {
                    content = SwitchContent::StatesAndNextRun;
                    continue;
                }
                ArgValue::Bool(_) | ArgValue::Int64(_) if self.is_cut_by(&arg, at) => continue,
                ArgValue::Bool(_) | ArgValue::Int64(_) => {
                    self.read_state_fact(&mut facts, &arg, at);
                    continue;
                }
                ArgValue::Other(_) => {
                    unknown_count += 1;
                    continue;
                }
                _ => continue,
            };
            let name = self.text(arg.name, at);
            if name == self.well_known.outgoing_weight {
                outgoing_weight = Some(weight);
            } else if name == self.well_known.incoming_weight {
                incoming_weight = Some(weight);
            }
        }
        if args.is_bad() {
            self.bad_argument(at);
        }
        if unknown_count > 0 {
            self.unknown_arguments(at, unknown_count);
        }
        if facts != StateFacts::default() {
            let index = self.cache.rows.switches.len() as u32;
            self.cache.rows.state_facts[0].insert(index, facts);
        }
        let mut side = |koid: u64, weight: Option<i32>| match weight {
            Some(IDLE_WEIGHT) => ThreadKey::IDLE,
            _ => self.tid(koid),
        };
        let (prev, next) = (
            side(outgoing, outgoing_weight),
            side(incoming, incoming_weight),
        );
        self.switch(
            time,
            at,
            Switch {
                event: 0,
                cpu: scheduling::CPU.get(header) as u32,
                prev,
                next,
                prev_priority: outgoing_weight.unwrap_or(0),
                next_priority: incoming_weight.unwrap_or(0),
                prev_state: state,
                content,
            },
        );
        Some(())
    }

    /// Adds a cut if the argument states that our own exporter cut the run or state that begins or ends with the next
    /// event. Returns whether it does.
    fn is_cut_by(&mut self, arg: &Arg<'f>, at: u64) -> bool {
        let side = match self.out.ties {
            Ties::First => self.cut_by(arg, at),
            Ties::Longest => None,
        };
        side.map(|side| self.cut_next(side)).is_some()
    }

    /// Reads an argument that only our own exporter writes: a fact about the thread state that starts at the record.
    fn read_state_fact(&mut self, facts: &mut StateFacts, arg: &Arg<'f>, at: u64) {
        if self.out.ties != Ties::First {
            return;
        }
        let name = self.text(arg.name, at);
        match arg.value {
            ArgValue::Bool(value) if name == self.well_known.waits => facts.is_wait = Some(value),
            ArgValue::Bool(value) if name == self.well_known.spans_loss => {
                facts.spans_loss = Some(value);
            }
            ArgValue::Bool(value) if name == self.well_known.misses_switches => {
                facts.misses_switches = value;
            }
            ArgValue::Int64(value) if name == self.well_known.longest => {
                facts.longest_ns = Some(value);
            }
            _ => {}
        }
    }

    fn switch(&mut self, time: i64, at: u64, switch: Switch) {
        let kind = self.own_kind(Sort::Switch);
        let rows = &mut self.cache.rows;
        let detail = rows.switches.len() as u32;
        rows.push(NewEvent {
            time,
            at,
            thread: switch.prev.into(),
            kind,
            sort: Sort::Switch,
            detail,
        });
        rows.switches.push(switch);
    }

    fn wakeup(&mut self, at: u64, header: u64, record: Words<'f, O>) -> Option<()> {
        let (ticks, koid) = (record.get(1)?, record.get(2)?);
        let Some(time) = self.time(ticks, at) else {
            return Some(());
        };
        let mut waker = None;
        let mut interrupted = None;
        let mut interrupt = None;
        let mut facts = StateFacts::default();
        let mut unknown_count = 0;
        let mut args = Args::new(record, 3, scheduling::ARGS.get(header));
        for arg in args.by_ref() {
            match arg.value {
                ArgValue::Koid(koid) => {
                    let name = self.text(arg.name, at);
                    if name == self.well_known.waker {
                        waker = Some(self.waker(koid));
                    } else if name == self.well_known.interrupted && self.out.ties == Ties::First {
                        interrupted = Some(self.waker(koid));
                    }
                }
                ArgValue::Text(text) => {
                    let name = self.text(arg.name, at);
                    if name == self.well_known.woken_in {
                        let word = self.text(text, at);
                        interrupt = Interrupt::of_word(self.out.strings.bytes(word));
                    } else if name == self.well_known.woken_by && self.out.ties == Ties::First {
                        let word = self.text(text, at);
                        facts.woken_by = Some(word);
                    }
                }
                ArgValue::Bool(_) | ArgValue::Int64(_) if self.is_cut_by(&arg, at) => {}
                ArgValue::Bool(_) => self.read_state_fact(&mut facts, &arg, at),
                ArgValue::Other(_) => unknown_count += 1,
                _ => {}
            }
        }
        if facts != StateFacts::default() {
            let index = self.cache.rows.wakeups.len() as u32;
            self.cache.rows.state_facts[1].insert(index, facts);
        }
        if args.is_bad() {
            self.bad_argument(at);
        }
        if unknown_count > 0 {
            self.unknown_arguments(at, unknown_count);
        }
        let thread = self.tid(koid);
        let shown_at = interrupted.or(waker).unwrap_or(thread);
        let kind = self.own_kind(Sort::Wakeup);
        let rows = &mut self.cache.rows;
        let detail = rows.wakeups.len() as u32;
        rows.push(NewEvent {
            time,
            at,
            thread: shown_at.into(),
            kind,
            sort: Sort::Wakeup,
            detail,
        });
        rows.wakeups.push(Wakeup {
            event: 0,
            thread,
            waker: waker.into(),
            target_cpu: Maybe::new(scheduling::CPU.get(header) as u32),
            sort: WakeupSort::Wakeup,
            interrupt,
        });
        Some(())
    }
}
