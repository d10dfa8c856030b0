//! The function graph tracer's steps become slices. Its own text says neither thread nor, often, time: the
//! thread is who was switched to last, and durations move a clock of each CPU.

use super::{Emitter, Now, TEXT};
use crate::base::lines::Line;
use crate::event::pairs::FUNCTIONS;
use crate::event::{Complete, Label, MarkOp, Role, ThreadKey};
use crate::formats::ftrace_text::flags::Flags;
use crate::formats::ftrace_text::graph::{self, Step};
use crate::formats::ftrace_text::line::{Body, classify};
use crate::formats::ftrace_text::prefix::{Group, Prefix, split_prefix};

impl<'a> Emitter<'a> {
    /// A function graph step in trace-cmd's text.
    pub(super) fn graph_info(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let found = graph::step(info)?;
        self.graph_step(now, found.depth, found.step);
        Some(())
    }

    /// Begins and ends of the graph find each other by depth: an end does not say its function.
    pub(super) fn graph_step(&mut self, now: &Now, depth: u32, step: Step<'a>) {
        let (name, op): (&[u8], _) = match step {
            Step::Leaf(name, _) | Step::Enter(name) => (name, MarkOp::Begin),
            Step::Leave(_) => (b"", MarkOp::End),
            Step::Comment(_) => return,
        };
        let category: &[u8] = match op {
            MarkOp::Begin => b"ftrace",
            MarkOp::End => b"",
        };
        let label = Label {
            family: FUNCTIONS,
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category),
            key: u64::from(depth) + 1,
        };
        let label = self.label(now.lane, label);
        match step {
            Step::Leaf(_, duration_ns) => {
                if let Some(lane) = self.lanes.get_mut(now.lane) {
                    lane.columns.completes.push(Complete {
                        event: now.event,
                        label,
                        duration_ns,
                    });
                }
            }
            _ => self.push_mark(now, label, op),
        }
    }

    /// A line of the kernel's own function_graph text.
    pub(super) fn graph_line(&mut self, line: &Line<'a>) {
        let found = graph::split_line(line.bytes).or_else(|| graph::without_cpu(line.bytes));
        let Some(found) = found else {
            return match split_prefix(line.bytes) {
                Some(prefix) => self.event(&prefix, line),
                None => self.plain(line),
            };
        };
        let lane_number = self.lane_of(found.cpu);
        let Some(lane) = self.lanes.get_mut(lane_number) else {
            return;
        };
        let step = graph::step(found.rest).or_else(|| graph::step_without_duration(found.rest));
        let switched = graph::switched_to(found.rest).filter(|_| step.is_none());
        if let Some((comm, pid)) = found.task.or(switched) {
            lane.task = Some(pid);
            if pid != 0 {
                self.seen_names.insert(pid, comm);
            }
            if switched.is_some() && found.task.is_none() {
                return;
            }
        }
        // Without a column of times, leaves and returns move the CPU's own clock by their durations.
        let time = match (found.time, step.map(|found| found.step)) {
            (Some(time), _) => time,
            (None, Some(Step::Leaf(_, ns))) => {
                let time = lane.now;
                lane.now = lane.now.saturating_add(ns.max(1));
                time
            }
            (None, Some(Step::Enter(_))) => {
                lane.open.push(lane.now);
                lane.now
            }
            (None, Some(Step::Leave(ns))) => {
                let begin = lane.open.pop().unwrap_or(lane.now);
                lane.now = lane.now.max(begin.saturating_add(ns.unwrap_or(0)));
                lane.now
            }
            (None, _) => lane.now,
        };
        let thread = lane.task.map_or(ThreadKey::IDLE, ThreadKey);
        lane.lost_before(time, found.cpu);
        let mut now = Now {
            lane: lane_number,
            event: 0,
            thread,
            cpu: found.cpu,
        };
        self.last.time = time;
        self.last.cpu = found.cpu;
        self.last.thread = thread.0;
        match step {
            Some(found) if !matches!(found.step, Step::Comment(_)) => {
                let name: &[u8] = match found.step {
                    Step::Leave(_) => b"funcgraph_exit",
                    _ => b"funcgraph_entry",
                };
                let kind = self.kind_by_name(name).1;
                self.push(&mut now, time, line.offset, kind);
                self.graph_step(&now, found.depth, found.step);
            }
            Some(graph::Graph {
                step: Step::Comment(text),
                ..
            }) => {
                // Events stand in comments: they mean what they mean elsewhere.
                let prefix = Prefix {
                    instance: &[],
                    comm: b"<...>",
                    pid: thread.0,
                    group: Group::NoColumn,
                    cpu: found.cpu,
                    flags: Flags::Letters(found.flags),
                    time,
                    precision: Some(6),
                    step: &[],
                    body: text,
                };
                match classify(text) {
                    Body::Event(name, info) => self.named(&mut now, &prefix, line, name, info),
                    Body::SysEnter(name, _) => {
                        self.syscall(&mut now, &prefix, line, name, MarkOp::Begin);
                    }
                    Body::SysExit(name, _) => {
                        self.syscall(&mut now, &prefix, line, name, MarkOp::End);
                    }
                    _ => {
                        let kind = self.kinds.intern(TEXT, b"comment", Role::Instant);
                        self.push(&mut now, time, line.offset, kind);
                    }
                }
            }
            _ => self.unknown(&mut now, time, line, line.bytes),
        }
    }
}
