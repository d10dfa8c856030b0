//! The rows of a trace's tables as items in time order, window by window.
//!
//! Every sorted piece of a table (a row of a track, a counter, a CPU's runs) is a lane. What a lane has in a window is
//! found by a binary search; lanes with few items are gathered once instead. A window is as long as some 30,000
//! items take, so that memory stays bounded and windows can be encoded in parallel.

use std::ops::Range;

use rayon::prelude::*;

use super::flows::FlowMark;
use super::lone_states::{LoneStates, RunBegins};
use crate::base::{TimeSpan, Timestamp};
use crate::event::pairs::DURATIONS;
use crate::export::Chosen;
use crate::trace::slices::SliceRow;
use crate::trace::{
    CounterTrackId, CpuId, EventId, SliceId, StateId, ThreadId, ThreadState, Trace, Track, TrackId,
    TrackKind,
};

/// A lane with fewer items than this is gathered once.
const SPARSE: usize = 2048;
/// Every how many items a time is taken to choose the windows by.
const SAMPLE_EVERY: usize = 512;
const SAMPLES_IN_WINDOW: usize = 64;

/// Something to be written at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// When, on the trace's clock.
    pub time: i64,
    /// The order among items of one time: that of their events in the source (see `order_of`).
    pub order: u64,
    /// What.
    pub what: What,
    /// The row.
    pub row: u32,
    /// The track, counter track, CPU or thread that the row is of.
    pub of: u32,
}

impl Item {
    fn key(&self) -> (i64, u64) {
        (self.time, self.order)
    }
}

/// The place of what an event does: one event may end a slice and begin the next.
fn order_of(event: u32) -> u64 {
    u64::from(event) << 2 | 1
}

/// The place of a whole slice, and of an unfinished one among such: before all else of its time, and those around
/// it first. So they nest when read back by [`Ties::First`](crate::event::Ties); whether they nest in time does not
/// matter.
fn order_of_whole(depth: u32) -> u64 {
    u64::from(depth)
}

/// The place of a slice's end: before what else its event does, but after the slice's begin.
fn order_of_end(trace: &Trace, slice: usize) -> u64 {
    let slices = &trace.slices;
    let is_at_once = slices.starts[slice] == slices.ends[slice]
        && slices.begins[slice] == slices.finishes[slice];
    u64::from(slices.finishes[slice]) << 2 | if is_at_once { 2 } else { 0 }
}

/// What a row becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A slice, whole.
    Whole,
    /// A slice's begin.
    Begin,
    /// A slice's end.
    End,
    /// An asynchronous slice's begin.
    AsyncBegin,
    /// Its end.
    AsyncEnd,
    /// A point (`row` is the event).
    Instant,
    /// A counter's sample.
    Sample,
    /// A CPU's switch to a run (`row`), from the run before it or from idle.
    SwitchTo,
    /// A CPU's switch from a run to idle.
    SwitchToIdle,
    /// A CPU's switch to idle from a thread of which no run is known: its state (`row`) says what it does then.
    SwitchOff,
    /// A thread was woken: its state (`row`) says by whom.
    Wakeup,
    /// A log message.
    Log,
    /// A mark of the list of flow marks.
    Flow,
    /// A slice outside of the range to which a flow leads (`row` is the slice): 1 ns at the border.
    Stub,
}

/// How the slices of a track are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Begins and ends as they came: read back, they pair as they did here.
    AsCame,
    /// Finished ones as complete events: ends that name no begin could not be told apart.
    Whole,
    /// Asynchronous begins and ends.
    Async,
}

#[derive(Clone, Copy, Debug)]
enum Lane {
    /// A row of `slices.rows`.
    Slices {
        row: u32,
        form: Form,
    },
    /// The points of a track.
    Instants {
        track: u32,
    },
    /// The samples of a counter track.
    Samples {
        track: u32,
    },
    /// The runs of a CPU.
    Runs {
        cpu: u32,
    },
    /// The states of a thread.
    States {
        thread: u32,
    },
    Logs,
    Flows,
}

/// All lanes of what was chosen.
pub struct Items<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    flows: &'a [FlowMark],
    lone_states: &'a LoneStates,
    /// The index of the CPU of an event.
    cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
    forms: Vec<Form>,
    lanes: Vec<Lane>,
    sparse: Vec<Item>,
    log_events: Vec<u32>,
    /// Where windows end; the last is the range's end.
    pub cuts: Vec<i64>,
    /// About how many items there are.
    pub count: u64,
}

impl<'a> Items<'a> {
    /// Finds the lanes and chooses the windows.
    pub fn new(
        trace: &'a Trace,
        chosen: &'a Chosen<'a>,
        flows: &'a [FlowMark],
        lone_states: &'a LoneStates,
        cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
    ) -> Items<'a> {
        let mut items = Items {
            trace,
            chosen,
            flows,
            lone_states,
            cpu_of,
            forms: trace
                .tracks
                .par_iter()
                .map(|track| form_of(trace, track))
                .collect(),
            lanes: Vec::new(),
            sparse: Vec::new(),
            log_events: Vec::new(),
            cuts: Vec::new(),
            count: 0,
        };
        // Reading a log record makes an instant of it again.
        items.log_events = trace
            .logs
            .rows
            .iter()
            .filter(|log| trace.kind_name(trace.events.kind(log.event)) == "log")
            .map(|log| log.event.0)
            .collect();
        items.log_events.sort_unstable();
        items.find_lanes();
        items.choose_windows();
        items
    }

    fn find_lanes(&mut self) {
        let trace = self.trace;
        let mut lanes = Vec::new();
        for (number, track) in trace.tracks.iter().enumerate() {
            if !self.chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            let form = self.form(number as u32);
            for row in track.rows.clone() {
                lanes.push(Lane::Slices { row, form });
            }
            if !track.instants.is_empty() {
                let track = number as u32;
                lanes.push(Lane::Instants { track });
            }
        }
        for number in 0..trace.counters.tracks.len() {
            if self.chosen.has_counter(CounterTrackId(number as u32)) {
                let track = number as u32;
                lanes.push(Lane::Samples { track });
            }
        }
        for cpu in 0..trace.cpus.len() as u32 {
            if self.chosen.has_runs_of(CpuId(cpu)) && !trace.runs.on(CpuId(cpu)).is_empty() {
                lanes.push(Lane::Runs { cpu });
            }
        }
        for (thread, range) in trace.states.of_thread.iter().enumerate() {
            let thread = thread as u32;
            if !range.is_empty() && self.chosen.has_thread(ThreadId(thread)) {
                lanes.push(Lane::States { thread });
            }
        }
        lanes.push(Lane::Logs);
        lanes.push(Lane::Flows);
        let (sparse, dense): (Vec<Lane>, Vec<Lane>) = lanes
            .into_iter()
            .partition(|lane| self.size(*lane) < SPARSE);
        self.lanes = dense;
        let span = self.chosen.span;
        let mut gathered: Vec<Item> = sparse
            .par_iter()
            .map(|lane| {
                let mut list = Vec::new();
                self.gather_lane(*lane, span, &mut list);
                list
            })
            .flatten_iter()
            .collect();
        gathered.extend(self.switches_off());
        gathered.par_sort_by_key(Item::key);
        self.sparse = gathered;
    }

    fn size(&self, lane: Lane) -> usize {
        let trace = self.trace;
        match lane {
            Lane::Slices { row, .. } => trace.slices.rows[row as usize].slices.len(),
            Lane::Instants { track } => trace.tracks[track as usize].instants.len(),
            Lane::Samples { track } => trace.counters.tracks[track as usize].samples.len(),
            Lane::Runs { cpu } => trace.runs.on(CpuId(cpu)).len(),
            Lane::States { thread } => trace.states.of_thread[thread as usize].len(),
            Lane::Logs => trace.logs.rows.len(),
            Lane::Flows => self.flows.len(),
        }
    }

    /// The time of a lane's item.
    fn time_at(&self, lane: Lane, index: usize) -> i64 {
        let trace = self.trace;
        match lane {
            Lane::Slices { row, .. } => {
                trace.slices.starts[trace.slices.rows[row as usize].slices.start as usize + index]
            }
            Lane::Instants { track } => {
                let at = trace.tracks[track as usize].instants.start as usize + index;
                trace.events.time(EventId(trace.instants.events[at])).0
            }
            Lane::Samples { track } => {
                let at = trace.counters.tracks[track as usize].samples.start as usize + index;
                trace.counters.times[at]
            }
            Lane::Runs { cpu } => {
                trace.runs.starts[trace.runs.on(CpuId(cpu)).start as usize + index]
            }
            Lane::States { thread } => {
                trace.states.starts[trace.states.of_thread[thread as usize].start as usize + index]
            }
            Lane::Logs => trace.logs.rows[index].time.0,
            Lane::Flows => self.flows[index].time,
        }
    }

    fn choose_windows(&mut self) {
        let span = self.chosen.span;
        let mut samples: Vec<i64> = self
            .sparse
            .iter()
            .step_by(SAMPLE_EVERY)
            .map(|item| item.time)
            .collect();
        let mut count = self.sparse.len() as u64;
        for &lane in &self.lanes {
            let range = self.range_in(lane, span);
            count += range.len() as u64;
            samples.extend(
                range
                    .step_by(SAMPLE_EVERY)
                    .map(|index| self.time_at(lane, index)),
            );
        }
        samples.par_sort_unstable();
        self.count = count;
        self.cuts = samples
            .into_iter()
            .skip(SAMPLES_IN_WINDOW)
            .step_by(SAMPLES_IN_WINDOW)
            .filter(|&time| span.contains(Timestamp(time)) && time > span.start.0)
            .collect();
        self.cuts.push(span.end.0);
        self.cuts.dedup();
    }

    /// The items of a lane (by their starts) in `span`.
    fn range_in(&self, lane: Lane, span: TimeSpan) -> Range<usize> {
        let size = self.size(lane);
        let first = partition_point(size, |index| self.time_at(lane, index) < span.start.0);
        let last = partition_point(size, |index| self.time_at(lane, index) < span.end.0);
        first..last.max(first)
    }

    /// What window `number` holds, in order.
    pub fn window(&self, number: usize) -> Vec<Item> {
        let start = match number.checked_sub(1) {
            Some(before) => self.cuts[before],
            None => self.chosen.span.start.0,
        };
        let span = TimeSpan::new(Timestamp(start), Timestamp(self.cuts[number]));
        let first = self.sparse.partition_point(|item| item.time < span.start.0);
        let last = self.sparse.partition_point(|item| item.time < span.end.0);
        let mut list = self.sparse[first..last.max(first)].to_vec();
        for &lane in &self.lanes {
            self.gather_lane(lane, span, &mut list);
        }
        list.sort_by_key(Item::key);
        list
    }

    fn gather_lane(&self, lane: Lane, span: TimeSpan, list: &mut Vec<Item>) {
        let trace = self.trace;
        match lane {
            Lane::Slices { row, form } => self.gather_slices(row, form, span, list),
            Lane::Instants { track } => {
                let first = trace.tracks[track as usize].instants.start as usize;
                for index in self.range_in(lane, span) {
                    let event = trace.instants.events[first + index];
                    if self.log_events.binary_search(&event).is_ok()
                        || (self.chosen.limits_cpus() && !self.chosen.has_cpu_of(EventId(event)))
                    {
                        continue;
                    }
                    list.push(Item {
                        time: self.time_at(lane, index),
                        order: order_of(event),
                        what: What::Instant,
                        row: event,
                        of: track,
                    });
                }
            }
            Lane::Samples { track } => {
                let first = trace.counters.tracks[track as usize].samples.start as usize;
                for index in self.range_in(lane, span) {
                    list.push(Item {
                        time: trace.counters.times[first + index],
                        order: order_of(trace.counters.events[first + index]),
                        what: What::Sample,
                        row: (first + index) as u32,
                        of: track,
                    });
                }
            }
            Lane::Runs { cpu } => self.gather_runs(cpu, span, list),
            Lane::States { thread } => self.gather_wakeups(thread, span, list),
            Lane::Logs => {
                for index in self.range_in(lane, span) {
                    let log = &trace.logs.rows[index];
                    if self.chosen.has_thread(log.thread) {
                        list.push(Item {
                            time: log.time.0,
                            order: order_of(log.event.0),
                            what: What::Log,
                            row: index as u32,
                            of: log.thread.0,
                        });
                    }
                }
            }
            Lane::Flows => {
                for index in self.range_in(lane, span) {
                    let mark = &self.flows[index];
                    list.push(Item {
                        time: mark.time,
                        order: order_of(mark.event.0),
                        what: What::Flow,
                        row: index as u32,
                        of: mark.thread.0,
                    });
                }
            }
        }
    }

    fn gather_slices(&self, row: u32, form: Form, span: TimeSpan, list: &mut Vec<Item>) {
        let slices = &self.trace.slices;
        let number = row;
        let row = &slices.rows[row as usize];
        let depth = number - self.trace.tracks[row.track.0 as usize].rows.start;
        let (from, until) = (row.slices.start as usize, row.slices.end as usize);
        let is_chosen = |index: usize| {
            !self.chosen.limits_cpus() || self.chosen.has_cpu_of(EventId(slices.begins[index]))
        };
        let starts = &slices.starts[from..until];
        let first = from + starts.partition_point(|&start| start < span.start.0);
        let last = from + starts.partition_point(|&start| start < span.end.0);
        for index in (first..last).filter(|&index| is_chosen(index)) {
            let what = match form {
                Form::Async => What::AsyncBegin,
                _ if is_whole(self.trace, index, form) => What::Whole,
                _ => What::Begin,
            };
            list.push(Item {
                time: slices.starts[index],
                order: match (what, form) {
                    (What::Whole, _) | (_, Form::Whole) => order_of_whole(depth),
                    _ => order_of(slices.begins[index]),
                },
                what,
                row: index as u32,
                of: row.track.0,
            });
        }
        if form == Form::Whole {
            return;
        }
        let ends = &slices.ends[from..until];
        let first = from + ends.partition_point(|&end| end < span.start.0);
        let last = from + ends.partition_point(|&end| end < span.end.0);
        for index in (first..last).filter(|&index| is_chosen(index)) {
            if !self.has_own_end(index, form) {
                continue;
            }
            list.push(Item {
                time: slices.ends[index],
                order: order_of_end(self.trace, index),
                what: if form == Form::Async {
                    What::AsyncEnd
                } else {
                    What::End
                },
                row: index as u32,
                of: row.track.0,
            });
        }
    }

    /// Whether a slice that ends is ended by an event of its own.
    fn has_own_end(&self, index: usize, form: Form) -> bool {
        let slices = &self.trace.slices;
        let began = slices.starts[index] >= self.chosen.span.start.0;
        match form {
            Form::Async => true,
            Form::Whole => false,
            // What began before the range is written whole.
            Form::AsCame => began && !is_whole(self.trace, index, form),
        }
    }

    fn gather_runs(&self, cpu: u32, span: TimeSpan, list: &mut Vec<Item>) {
        let runs = &self.trace.runs;
        let range = runs.on(CpuId(cpu));
        let (from, until) = (range.start as usize, range.end as usize);
        let starts = &runs.starts[from..until];
        let first = from + starts.partition_point(|&start| start < span.start.0);
        let last = from + starts.partition_point(|&start| start < span.end.0);
        for index in first..last {
            list.push(Item {
                time: runs.starts[index],
                order: order_of(known_event(runs.events[index])),
                what: What::SwitchTo,
                row: index as u32,
                of: cpu,
            });
        }
        let ends = &runs.ends[from..until];
        let first = from + ends.partition_point(|&end| end < span.start.0);
        let last = from + ends.partition_point(|&end| end < span.end.0);
        for index in first..last {
            let follows = index + 1 < until && runs.starts[index + 1] == runs.ends[index];
            if !follows {
                // It comes after everything else of its time: who runs then is idle.
                list.push(Item {
                    time: runs.ends[index],
                    order: order_of(u32::MAX),
                    what: What::SwitchToIdle,
                    row: index as u32,
                    of: cpu,
                });
            }
        }
    }

    fn gather_wakeups(&self, thread: u32, span: TimeSpan, list: &mut Vec<Item>) {
        let states = &self.trace.states;
        let range = states.of_thread[thread as usize].clone();
        let (from, until) = (range.start as usize, range.end as usize);
        let starts = &states.starts[from..until];
        let first = from + starts.partition_point(|&start| start < span.start.0);
        let last = from + starts.partition_point(|&start| start < span.end.0);
        for index in first..last {
            if self.is_wakeup(index, from) {
                list.push(Item {
                    time: states.starts[index],
                    order: order_of(known_event(states.events[index])),
                    what: What::Wakeup,
                    row: index as u32,
                    of: thread,
                });
            }
        }
    }

    fn switches_off(&self) -> Vec<Item> {
        let trace = self.trace;
        let mut items = Vec::new();
        let run_begins = RunBegins::new(trace);
        for (event, state) in self.lone_states.iter() {
            let row = trace.states.get(state);
            let is_chosen =
                self.chosen.span.contains(row.start) && self.chosen.has_thread(row.thread);
            if !is_chosen || run_begins.has(event) {
                continue;
            }
            let Some(cpu) = (self.cpu_of)(event) else {
                continue;
            };
            if self.chosen.has_runs_of(CpuId(cpu)) {
                items.push(Item {
                    time: row.start.0,
                    order: order_of(event.0),
                    what: What::SwitchOff,
                    row: state.0,
                    of: cpu,
                });
            }
        }
        items
    }

    /// Whether a state came by a wakeup: readiness that is not left over from running.
    fn is_wakeup(&self, index: usize, first_of_thread: usize) -> bool {
        let states = &self.trace.states;
        states.states[index] == ThreadState::Runnable
            && self.lone_states.of_event(states.events[index]) != Some(StateId(index as u32))
            && (states.partners[index] != u32::MAX
                || index == first_of_thread
                || states.states[index - 1] != ThreadState::Running)
    }

    /// What lasts over the range's start, outermost first; their time is the start.
    pub fn across_start(&self) -> Vec<Item> {
        let trace = self.trace;
        let span = self.chosen.span;
        let mut list = Vec::new();
        for (track, row, form) in self.slice_rows() {
            let found = trace.slices.overlapping(row, span);
            // At most one slice of a row lies over a point.
            let index = found.start as usize;
            if found.is_empty()
                || trace.slices.starts[index] >= span.start.0
                || (self.chosen.limits_cpus()
                    && !self.chosen.has_cpu_of(EventId(trace.slices.begins[index])))
            {
                continue;
            }
            let what = match form {
                Form::Async => What::AsyncBegin,
                _ if trace.slices.ends[index] == i64::MAX => What::Begin,
                _ => What::Whole,
            };
            list.push((trace.slices.starts[index], (what, index, track)));
        }
        // Of a track, rows come in their order, and stay in it where slices started together.
        list.sort_by_key(|(start, _)| *start);
        let at_start = |what: What, row: usize, of: u32| Item {
            time: span.start.0,
            order: 0,
            what,
            row: row as u32,
            of,
        };
        let mut items: Vec<Item> = list
            .into_iter()
            .map(|(_, (what, row, track))| at_start(what, row, track))
            .collect();
        for (number, track) in trace.counters.tracks.iter().enumerate() {
            if !self.chosen.has_counter(CounterTrackId(number as u32)) {
                continue;
            }
            let in_force = trace.counters.in_force(track, span);
            let index = in_force.start as usize;
            if !in_force.is_empty() && trace.counters.times[index] < span.start.0 {
                items.push(at_start(What::Sample, index, number as u32));
            }
        }
        for cpu in 0..trace.cpus.len() as u32 {
            let range = trace.runs.on(CpuId(cpu));
            let found = trace.runs.overlapping(range, span);
            if self.chosen.has_runs_of(CpuId(cpu))
                && !found.is_empty()
                && trace.runs.starts[found.start as usize] < span.start.0
            {
                items.push(at_start(What::SwitchTo, found.start as usize, cpu));
            }
        }
        for (thread, range) in trace.states.of_thread.iter().enumerate() {
            if range.is_empty() || !self.chosen.has_thread(ThreadId(thread as u32)) {
                continue;
            }
            let found = trace.states.overlapping(range.clone(), span);
            let index = found.start as usize;
            if !found.is_empty()
                && trace.states.starts[index] < span.start.0
                && trace.states.states[index].is_ready()
            {
                items.push(at_start(What::Wakeup, index, thread as u32));
            }
        }
        items
    }

    /// Ends of what began by an event of its own and lasts over the range's end.
    pub fn across_end(&self) -> Vec<Item> {
        let trace = self.trace;
        let span = self.chosen.span;
        let mut list = Vec::new();
        for (track, row, form) in self.slice_rows() {
            let found = trace.slices.overlapping(row, span);
            let Some(index) = found.end.checked_sub(1).filter(|_| !found.is_empty()) else {
                continue;
            };
            let index = index as usize;
            let end = trace.slices.ends[index];
            let is_chosen = !self.chosen.limits_cpus()
                || self.chosen.has_cpu_of(EventId(trace.slices.begins[index]));
            if end >= span.end.0 && end != i64::MAX && is_chosen && self.has_own_end(index, form) {
                let what = if form == Form::Async {
                    What::AsyncEnd
                } else {
                    What::End
                };
                list.push((trace.slices.starts[index], what, index, track));
            }
        }
        // The innermost ends first.
        list.sort_by_key(|row| std::cmp::Reverse(row.0));
        list.into_iter()
            .map(|(_, what, row, of)| Item {
                time: span.end.0,
                order: 0,
                what,
                row: row as u32,
                of,
            })
            .collect()
    }

    /// How the slices of a track are written.
    pub fn form(&self, track: u32) -> Form {
        self.forms
            .get(track as usize)
            .copied()
            .unwrap_or(Form::Whole)
    }

    fn slice_rows(&self) -> impl Iterator<Item = (u32, &'a SliceRow, Form)> {
        let trace = self.trace;
        self.lanes_of_slices()
            .into_iter()
            .filter_map(move |(row, form)| {
                let row = trace.slices.rows.get(row as usize)?;
                Some((row.track.0, row, form))
            })
    }

    fn lanes_of_slices(&self) -> Vec<(u32, Form)> {
        let tracks = self.trace.tracks.iter().enumerate();
        let chosen = tracks.filter(|(number, _)| self.chosen.has_track(TrackId(*number as u32)));
        chosen
            .flat_map(|(number, track)| {
                let form = self.form(number as u32);
                track.rows.clone().map(move |row| (row, form))
            })
            .collect()
    }
}

/// The order of a row without an event: before all others of its time.
fn known_event(event: u32) -> u32 {
    if event == u32::MAX { 0 } else { event }
}

/// Whether a slice is written as a complete event.
fn is_whole(trace: &Trace, index: usize, form: Form) -> bool {
    let slices = &trace.slices;
    slices.ends[index] != i64::MAX && (form == Form::Whole || slices.finishes[index] == u32::MAX)
}

/// How a track's slices are written: see [`Form`].
fn form_of(trace: &Trace, track: &Track) -> Form {
    if matches!(track.kind, TrackKind::Async(_)) {
        return Form::Async;
    }
    let slices = &trace.slices;
    let rows = slices
        .rows
        .get(track.rows.start as usize..track.rows.end as usize)
        .unwrap_or(&[]);
    let is_duration = |index: u32| slices.label(SliceId(index)).family == DURATIONS;
    // Durations were paired here as they are when read back.
    if rows.iter().all(|row| row.slices.clone().all(is_duration)) {
        return Form::AsCame;
    }
    // Of other families the ends found their begins by name, which FXT's ends do not: begins and ends will do
    // only where nothing overlaps, and nothing whole is among them.
    let mut above: &Range<u32> = &(0..0);
    for row in rows {
        if !row
            .slices
            .clone()
            .all(|index| nests(trace, index, &row.slices, above))
        {
            return Form::Whole;
        }
        above = &row.slices;
    }
    Form::AsCame
}

/// Whether a slice lies in its parent and after the one before it also in the order of their events. One that was
/// closed with the one around it is written whole, which readers sort before begins of the same time: it may be
/// only where there is none.
fn nests(trace: &Trace, index: u32, row: &Range<u32>, above: &Range<u32>) -> bool {
    let slices = &trace.slices;
    let start = |index: u32| slices.starts[index as usize];
    let begin = |index: u32| (start(index), slices.begins[index as usize]);
    let end = |index: u32| (slices.ends[index as usize], slices.finishes[index as usize]);
    let is_whole = |index: u32| is_whole(trace, index as usize, Form::AsCame);
    let before = (index > row.start).then(|| index - 1);
    let parent = Some(slices.parents[index as usize]).filter(|&parent| parent != u32::MAX);
    if parent.is_none() != above.is_empty() {
        return false;
    }
    if let Some(parent) = parent {
        let ends_inside = if is_whole(index) || is_whole(parent) {
            end(index).0 <= end(parent).0
        } else {
            end(index) <= end(parent)
        };
        let begins_inside = begin(parent) < begin(index);
        if !(above.contains(&parent) && begins_inside && ends_inside) {
            return false;
        }
    }
    if is_whole(index) {
        let is_first = [before, parent]
            .into_iter()
            .flatten()
            .all(|other| start(other) < start(index));
        return is_first && before.is_none_or(|before| end(before).0 <= start(index));
    }
    let follows = before.is_none_or(|before| match is_whole(before) {
        true => end(before).0 <= start(index),
        false => end(before) <= begin(index),
    });
    follows && begin(index) <= end(index)
}

/// The first index of `0..count` for which `is_before` does not hold.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
