//! Adds context switches, wakeups, names, forks and exits to the rows of a lane.

use super::{Emitter, NAMES, Now};
use crate::base::lines::Line;
use crate::base::strings::base_name;
use crate::base::{Location, Maybe};
use crate::event::kernel::{MOST_COMM, exit_status};
use crate::event::{
    ForkSort, Interrupt, Life, LifeRow, Migration, Role, Sighted, Switch, SwitchContent, ThreadKey,
    Wakeup, WakeupSort,
};
use crate::formats::ftrace_line::flags::Flags;
use crate::formats::ftrace_line::prefix::Prefix;
use crate::formats::ftrace_text::fields::{arguments, field, first_word, pid};
use crate::formats::ftrace_text::recipe::Recipe;
use crate::formats::ftrace_text::tasks::{
    StateLetters, TracerText, WakeupText, end_state, switch, wakeup,
};

/// Maximum time in ns between a `sched_wakeup` event and the wakeup tracer's line for the same wakeup.
const MOST_NS_BETWEEN_DOUBLES: i64 = 20_000;

impl<'a> Emitter<'a> {
    pub(super) fn switch(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let found = switch(info)?;
        let prev_state = self.facts.end_state(&found);
        let lane = self.lanes.get_mut(now.lane)?;
        lane.columns.switches.push(Switch {
            event: now.event,
            cpu: now.cpu,
            prev: ThreadKey(found.prev.pid),
            next: ThreadKey(found.next.pid),
            prev_priority: found.prev.priority,
            next_priority: found.next.priority,
            prev_state,
            content: SwitchContent::RunsAndStates,
        });
        self.name(now, found.prev.pid, found.prev.comm);
        self.name(now, found.next.pid, found.next.comm);
        Some(())
    }

    pub(super) fn woken(
        &mut self,
        now: &Now,
        sort: WakeupSort,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        info: &'a [u8],
    ) -> Option<()> {
        let WakeupText { task, cpu: target } = wakeup(info)?;
        let interrupt = self.interrupt(prefix);
        if prefix.flags == Flags::Letters(&[]) {
            let at = Location::Line(line.number);
            self.note(now.lane, "wakeup_without_flags", at, || {
                "the text has no flags (trace-cmd report -l prints them): a wakeup in an interrupt is shown as one by the \
                 interrupted thread, unless the interrupt was recorded"
                    .to_owned()
            });
        }
        let lane = self.lanes.get_mut(now.lane)?;
        lane.columns.wakeups.push(Wakeup {
            event: now.event,
            thread: ThreadKey(task.pid),
            waker: now.thread.into(),
            target_cpu: target.into(),
            sort,
            interrupt,
        });
        self.name(now, task.pid, task.comm);
        Some(())
    }

    pub(super) fn migrated(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let row = Migration {
            event: now.event,
            thread: ThreadKey(pid(info, b"pid")?),
            from_cpu: pid(info, b"orig_cpu")?,
            to_cpu: pid(info, b"dest_cpu")?,
        };
        let lane = self.lanes.get_mut(now.lane)?;
        lane.columns.migrations.push(row);
        Some(())
    }

    pub(super) fn ran(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let thread = ThreadKey(pid(info, b"pid")?);
        if now.thread != Some(thread) {
            let event = now.event;
            let lane = self.lanes.get_mut(now.lane)?;
            lane.columns.sighted.push(Sighted { event, thread });
        }
        Some(())
    }

    /// Returns the interrupt in which a line's event happened, from its latency flags.
    fn interrupt(&self, prefix: &Prefix<'a>) -> Option<Interrupt> {
        let flags = self.facts.legend.read(prefix.flags).flags;
        flags.and_then(Interrupt::of_flags)
    }

    /// Adds a switch or wakeup in the form of the wakeup tracers.
    pub(super) fn tracer(
        &mut self,
        now: &mut Now,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        found: TracerText<'a>,
    ) {
        let kind = match found.is_wakeup {
            true => self.kinds.intern("ftrace", b"wakeup", Role::Consumed),
            false => self.kinds.intern("ftrace", b"context_switch", Role::Switch),
        };
        self.push(now, prefix.time, line.offset, kind);
        let interrupt = self.interrupt(prefix);
        let Some(lane) = self.lanes.get_mut(now.lane) else {
            return;
        };
        if found.is_wakeup {
            let thread = ThreadKey(found.next.pid);
            // Skip the line if `sched_wakeup` was also recorded.
            let columns = &lane.columns;
            let is_same = |last: &Wakeup| {
                let since = prefix
                    .time
                    .saturating_sub(columns.events.time(last.event).0);
                let has_switched = columns
                    .switches
                    .last()
                    .is_some_and(|it| it.event > last.event);
                last.thread == thread && since <= MOST_NS_BETWEEN_DOUBLES && !has_switched
            };
            if columns.wakeups.last().is_some_and(is_same) {
                return;
            }
            lane.columns.wakeups.push(Wakeup {
                event: now.event,
                thread,
                waker: Maybe::new(ThreadKey(found.prev.pid)),
                target_cpu: Maybe::new(found.cpu),
                sort: WakeupSort::Wakeup,
                interrupt,
            });
        } else {
            let (prev, next) = (ThreadKey(found.prev.pid), ThreadKey(found.next.pid));
            // Skip the line if `sched_switch` was also recorded.
            let last = lane.columns.switches.last();
            if last.is_some_and(|last| (last.prev, last.next) == (prev, next)) {
                return;
            }
            lane.columns.switches.push(Switch {
                event: now.event,
                cpu: now.cpu,
                prev,
                next,
                prev_priority: found.prev.priority,
                next_priority: found.next.priority,
                prev_state: end_state(found.state, StateLetters::Kernel),
                content: SwitchContent::RunsAndStates,
            });
        }
        self.name(now, found.next.pid, found.next.comm);
    }

    /// Adds a thread's name if it differs from the last one.
    #[inline]
    pub(super) fn name(&mut self, now: &Now, pid: u32, comm: &'a [u8]) {
        let Some(slot) = self.names.get_mut(pid as usize % NAMES) else {
            return;
        };
        if slot.0 == pid && slot.1 == comm {
            return;
        }
        *slot = (pid, comm);
        if pid != 0 && comm != b"<...>" {
            let thread = ThreadKey(pid);
            if let Some(lane) = self.lanes.get_mut(now.lane) {
                let name = lane.columns.strings.intern(comm);
                self.live(now, Life::Name { thread, name });
            }
        }
    }

    pub(super) fn live(&mut self, now: &Now, life: Life) {
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            let event = now.event;
            lane.columns.lives.push(LifeRow { event, life });
        }
    }

    /// Adds that a thread ends its process with the exit code in the text of its call: `error_code: 0x00000003`, or `3`
    /// without a prefix, which is hexadecimal, too.
    pub(super) fn exiting(&mut self, now: &Now, text: &[u8]) {
        let code = arguments(text).first().and_then(|(_, code)| hex(code));
        if let (Some(thread), Some(code)) = (now.thread, code) {
            let status = exit_status(code);
            self.live(now, Life::Exiting { thread, status });
        }
    }

    pub(super) fn life(&mut self, now: &Now, recipe: Recipe, info: &'a [u8]) -> Option<()> {
        let lane = self.lanes.get_mut(now.lane)?;
        let strings = &mut lane.columns.strings;
        let life = match recipe {
            Recipe::Fork => {
                let parent = pid(info, b"parent_pid").or_else(|| pid(info, b"pid"))?;
                let child = pid(info, b"child_pid")?;
                let name = strings.intern(field(info, b"child_comm").unwrap_or(b""));
                self.forget(child);
                Life::Fork {
                    parent: Some(ThreadKey(parent)),
                    child: ThreadKey(child),
                    sort: ForkSort::Unknown,
                    name,
                }
            }
            Recipe::NewTask => {
                let child = pid(info, b"pid")?;
                let name = strings.intern(field(info, b"comm").unwrap_or(b""));
                let flags = field(info, b"clone_flags").and_then(hex);
                let sort = flags.map_or(ForkSort::Unknown, ForkSort::of_clone);
                self.forget(child);
                Life::Fork {
                    parent: now.thread,
                    child: ThreadKey(child),
                    sort,
                    name,
                }
            }
            Recipe::Exec => {
                let thread = ThreadKey(pid(info, b"pid")?);
                let program = strings.intern(field(info, b"filename").unwrap_or(b""));
                let caller = pid(info, b"old_pid").map(ThreadKey);
                Life::exec(thread, program, caller)
            }
            Recipe::Exit => Life::Exit {
                thread: ThreadKey(pid(info, b"pid")?),
                status: None,
                signal: None,
                is_last: field(info, b"group_dead").map(|value| matches!(value, b"true" | b"(1)")),
            },
            Recipe::Forget => Life::Forgotten {
                thread: ThreadKey(pid(info, b"pid")?),
            },
            _ => {
                let whose = pid(info, b"pid").or(now.thread.map(|own| own.0))?;
                let name = field(info, b"newcomm")?;
                self.name(now, whose, name);
                return Some(());
            }
        };
        self.live(now, life);
        if let Recipe::Exec = recipe {
            // The kernel names the thread by the program.
            let name = base_name(field(info, b"filename")?);
            let name = name.get(..MOST_COMM).unwrap_or(name);
            self.name(now, pid(info, b"pid")?, name);
        }
        Some(())
    }

    /// Forgets the name of `pid`, because the pid now belongs to a new thread.
    pub(super) fn forget(&mut self, pid: u32) {
        if let Some(slot) = self.names.get_mut(pid as usize % NAMES)
            && slot.0 == pid
        {
            *slot = (0, &[]);
        }
    }
}

/// Parses `1200000` or `0x1200000`, both hex, as task_newtask prints its flags.
fn hex(value: &[u8]) -> Option<u64> {
    let word = first_word(value);
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}
