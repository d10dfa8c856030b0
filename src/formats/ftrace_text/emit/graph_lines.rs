//! Turns the function graph tracer's steps into slices. The tracer's own text contains no thread and often no time: the
//! thread is the last one that was switched to, and durations advance a clock for each CPU.

use super::{Emitter, Now, TEXT};
use crate::base::lines::Line;
use crate::event::family::Family;
use crate::event::{CallDepth, Label, MarkOp, Measured, NAMELESS_CALL, Role, Stated, ThreadKey};
use crate::formats::ftrace_line::line::{Body, classify, plain};
use crate::formats::ftrace_line::prefix::split_prefix;
use crate::formats::ftrace_text::facts::Facts;
use crate::formats::ftrace_text::facts::Layout;
use crate::formats::ftrace_text::graph::{self, Graph, GraphLine, NamedTask, Step, Switched};
use crate::formats::ftrace_text::raw_graph::{raw_ended, raw_step};
use crate::formats::ftrace_text::tasks;
use crate::formats::open_calls::Caller;

/// Added to the key of a return whose entry was lost, so that it ends no other call with the same depth.
const LOST: u64 = 1 << 32;

/// Maximum depth of a call: the kernel's return stack has 50 entries.
const MOST_DEPTH: u32 = 1024;

/// The clock of a CPU, for a text without times, with its open calls and the end of the last call at each depth.
#[derive(Debug, Default)]
pub(super) struct GraphClock {
    now: i64,
    /// Whether the clock counts steps, because durations are unknown.
    counts_steps: bool,
    /// Open calls: (depth, begin).
    open: Vec<(u32, i64)>,
    /// End of the last call, by depth.
    ended: Vec<i64>,
}

impl GraphClock {
    pub(super) fn of(facts: &Facts) -> GraphClock {
        GraphClock {
            counts_steps: facts.has_steps_alone,
            ..GraphClock::default()
        }
    }

    /// Advances the clock by a step, and returns the step's time.
    fn time(&mut self, found: Option<Graph<'_>>) -> i64 {
        if self.counts_steps {
            self.now = self.now.saturating_add(1);
            return self.now;
        }
        let Some(Graph { depth, step }) = found else {
            return self.now;
        };
        match step {
            Step::Leaf(_, ns) => {
                let begin = self.now;
                self.now = self.now.saturating_add(ns.unwrap_or(0).max(1));
                self.over(depth);
                begin
            }
            Step::Enter(_) => {
                self.open.push((depth, self.now));
                self.now
            }
            Step::Leave(ns, _) => {
                // Open calls with a greater depth lost their returns.
                while self.open.last().is_some_and(|open| open.0 > depth) {
                    self.open.pop();
                }
                let begin = match self.open.pop() {
                    Some((own, begin)) if own == depth => begin,
                    around => {
                        // The entry was lost: the call starts at the end of the call before it in the same caller.
                        let around = around.inspect(|&around| self.open.push(around));
                        let upper = self.ended.iter().take(depth as usize + 1);
                        let before = upper.max().copied().unwrap_or(0);
                        before.max(around.map_or(0, |around| around.1))
                    }
                };
                self.now = self.now.max(begin.saturating_add(ns.unwrap_or(0)));
                self.over(depth);
                self.now
            }
            Step::Comment(_) => self.now,
        }
    }

    fn over(&mut self, depth: u32) {
        let depth = depth.min(MOST_DEPTH) as usize;
        if self.ended.len() <= depth {
            self.ended.resize(depth + 1, 0);
        }
        if let Some(ended) = self.ended.get_mut(depth) {
            *ended = self.now;
        }
    }
}

impl<'a> Emitter<'a> {
    /// Adds a function graph step from trace-cmd's text.
    pub(super) fn graph_info(&mut self, now: &Now, name: &[u8], info: &'a [u8]) -> Option<()> {
        let found = graph::step(info).or_else(|| raw_step(name, info))?;
        self.graph_step(now, found.depth, found.step, raw_ended(info));
        Some(())
    }

    /// Adds a step. Begins and ends are matched by depth, because an end does not contain its function. `ended` is the
    /// time of a return by the kernel's local clock, if the text contains it.
    fn graph_step(&mut self, now: &Now, depth: u32, step: Step<'a>, ended: Option<i64>) {
        let thread = Caller::of(now.thread, now.cpu);
        let (name, op): (&[u8], _) = match step {
            Step::Leaf(name, _) | Step::Enter(name) => (name, MarkOp::Begin),
            Step::Leave(..) => (b"", MarkOp::End),
            Step::Comment(_) => return,
        };
        let category: &[u8] = match op {
            MarkOp::Begin => b"ftrace",
            MarkOp::End | MarkOp::Over => b"",
        };
        let mut key = u64::from(depth) + 1;
        let has_begun = match step {
            Step::Leave(..) => self.open_calls.end(thread, key),
            _ => true,
        };
        let was_here = self.open_calls.come_to(thread, key);
        // Otherwise the entry may be in an earlier block.
        if !has_begun && (was_here || self.is_first) {
            key += LOST;
        }
        let label = self.function_label(now, name, category, key);
        // Without a duration (`nofuncgraph-duration`), it is only known that the call is over.
        let has_end = match step {
            Step::Leaf(_, duration_ns) => duration_ns.is_some() || self.facts.has_steps_alone,
            _ => false,
        };
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            let event = now.event;
            let call = CallDepth { event, depth };
            let depths = match op {
                MarkOp::Begin => lane.depths.enter(thread, call),
                MarkOp::End | MarkOp::Over => lane.depths.leave(thread, call),
            };
            lane.columns.call_depths.extend(depths);
            if has_end {
                let _is_implied = lane.depths.leave(thread, call);
            }
        }
        match step {
            Step::Leaf(_, duration_ns) => {
                self.push_mark(now, label, MarkOp::Begin);
                if has_end {
                    self.push_mark(now, label, MarkOp::End);
                }
                if let Some(lane) = self.lanes.get_mut(now.lane) {
                    if let Some(duration_ns) = duration_ns {
                        let measured = Measured::of_one_event(now.event, duration_ns);
                        lane.columns.measured.push(measured);
                    }
                    // The line is two events: a later loss starts after the function's return.
                    let returned = lane.columns.events.time(now.event).0;
                    let returned = returned.saturating_add(duration_ns.unwrap_or(0));
                    lane.last_time = lane.last_time.max(Some(returned));
                }
            }
            Step::Enter(_) => {
                self.open_calls.begin(thread, key);
                self.push_mark(now, label, op);
            }
            _ => self.push_mark(now, label, op),
        }
        if let Step::Leave(Some(duration_ns), name) = step {
            let lost_label = (!has_begun).then(|| {
                let name = match name {
                    b"" => NAMELESS_CALL.as_bytes(),
                    name => name,
                };
                self.function_label(now, name, b"ftrace", key)
            });
            if let Some(lane) = self.lanes.get_mut(now.lane) {
                let event = now.event;
                let time = lane.columns.events.time(event).0;
                let ended = ended.filter(|_| self.facts.layout == Layout::Events);
                let row = Measured::new(event, duration_ns, time, ended);
                lane.columns.measured.push(row);
                let lost = lost_label.map(|label| Stated { event, label });
                lane.columns.stated.extend(lost);
            }
        }
    }

    fn function_label(&mut self, now: &Now, name: &[u8], category: &[u8], key: u64) -> u32 {
        let label = Label {
            family: Family::Functions,
            kind: Family::Functions.slice_kind(),
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category),
            key,
        };
        self.label(now.lane, label)
    }

    /// Reads a line of the kernel's own function_graph text.
    pub(super) fn graph_line(&mut self, line: &Line<'a>) {
        let found = graph::split_line(line.bytes).or_else(|| graph::without_cpu(line.bytes));
        let Some(found) = found else {
            return match split_prefix(line.bytes) {
                Some(prefix) => self.event(&prefix, line),
                None => self.plain(line, plain(line.bytes)),
            };
        };
        let lane_number = self.lane_of(found.cpu);
        let step = graph::step(found.rest).or_else(|| graph::step_without_duration(found.rest));
        let switched = graph::switched(found.rest).filter(|_| step.is_none());
        let Some(lane) = self.lanes.get_mut(lane_number) else {
            return;
        };
        if let Some(NamedTask { comm, pid }) = found.task.or(switched.map(|both| both.next)) {
            lane.task = Some(pid);
            if pid != 0 {
                self.seen_names.insert(pid, comm);
            }
        }
        if let Some(Switched { prev, .. }) = switched.filter(|_| found.task.is_none()) {
            self.seen_names.entry(prev.pid).or_insert(prev.comm);
            return;
        }
        let time = found.time.unwrap_or_else(|| lane.clock.time(step));
        let thread = lane.task.map(ThreadKey);
        lane.lost_before(time, found.cpu);
        let mut now = Now {
            lane: lane_number,
            event: 0,
            thread,
            cpu: found.cpu,
        };
        self.last.time = time;
        self.last.cpu = found.cpu;
        self.last.thread = thread;
        match step {
            Some(Graph {
                step: Step::Comment(text),
                ..
            }) => self.graph_comment(&mut now, &found, time, text, line),
            Some(found) => {
                let name: &[u8] = match found.step {
                    Step::Leave(..) => b"funcgraph_exit",
                    _ => b"funcgraph_entry",
                };
                let kind = self.kind_by_name(name).kind;
                self.push(&mut now, time, line.offset, kind);
                self.graph_step(&now, found.depth, found.step, None);
            }
            None => self.unknown(&mut now, time, line, line.bytes),
        }
    }

    /// Reads an event in a comment; it has the same meaning as in a line of its own.
    fn graph_comment(
        &mut self,
        now: &mut Now,
        found: &GraphLine<'a>,
        time: i64,
        text: &'a [u8],
        line: &Line<'a>,
    ) {
        let task = NamedTask {
            comm: b"<...>",
            pid: now.thread.map_or(0, |thread| thread.0),
        };
        let prefix = found.prefix(task, time, text);
        match classify(text) {
            Body::Event(name, info) => {
                self.named(now, &prefix, line, name, info);
                if name == b"sched_switch"
                    && let Some(switch) = tasks::switch(info)
                    && let Some(lane) = self.lanes.get_mut(now.lane)
                {
                    lane.task = Some(switch.next.pid);
                }
            }
            Body::SysEnter(name, _) => self.syscall(now, &prefix, line, name, MarkOp::Begin),
            Body::SysExit(name, _) => self.syscall(now, &prefix, line, name, MarkOp::End),
            _ => {
                let kind = self.kinds.intern(TEXT, b"comment", Role::Instant);
                self.push(now, time, line.offset, kind);
            }
        }
    }
}

impl Emitter<'_> {
    /// Finds the running thread of each of `cpus` before a graph's first switch: the first thread that is switched out.
    pub(in crate::formats::ftrace_text) fn first_tasks(&mut self, text: &[u8], cpus: &[u32]) {
        for &cpu in cpus {
            self.lane_of(cpu);
        }
        let mut left = cpus.len();
        for line in crate::base::lines::lines(text, 1, 0) {
            if left == 0 {
                return;
            }
            let Some(found) = graph::split_line(line.bytes) else {
                continue;
            };
            let lane = self.lane_of(found.cpu);
            let Some(lane) = self.lanes.get_mut(lane).filter(|it| it.task.is_none()) else {
                continue;
            };
            let step = graph::step(found.rest);
            let before = match step.map(|found| found.step) {
                Some(Step::Comment(text)) => match classify(text) {
                    Body::Event(b"sched_switch", info) => tasks::switch(info).map(|it| it.prev.pid),
                    _ => None,
                },
                Some(_) => None,
                None => graph::switched(found.rest).map(|both| both.prev.pid),
            };
            if let Some(pid) = found.task.map(|task| task.pid).or(before) {
                lane.task = Some(pid);
                left -= 1;
            }
        }
    }
}
