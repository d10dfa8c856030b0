//! The rows of a trace's tables as items in time order, window by window.
//!
//! Every sorted piece of a table (a row of a track, a counter, a CPU's runs) is a lane. What a lane has in a window is
//! found by a binary search; lanes with few items are gathered once instead. A window is as long as some 30,000
//! items take, so that memory stays bounded and windows can be encoded in parallel.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::copies::Copies;
use super::flows::FlowMark;
use super::forms::{BeginsAround, Form, form_of};
use super::item::{END_ORDER, Item, LAST_ORDER, What, Window, order_among, order_of};
use super::lanes::{Lane, Place, Rows, Stretch};
use super::lone_states::{LoneStates, RunBegins, StateBegins, TrueEnds};
use super::losses;
use super::objects::Objects;
use super::switches::event_behind;
use crate::base::{TimeSpan, Timestamp};
use crate::event::{KindId, Ties};
use crate::export::Chosen;
use crate::formats::fxt::FxtSource;
use crate::trace::{CounterTrackId, CpuId, EventId, StateId, ThreadId, Trace, TrackId};

/// A lane with fewer items for each window than this is gathered once: that costs less than a search for every window.
const SPARSE: usize = 4;
/// Every how many items a time is taken to choose the windows by.
const SAMPLE_EVERY: usize = 512;
const SAMPLES_IN_WINDOW: usize = 64;

/// All lanes of what was chosen.
pub struct Items<'a> {
    pub(super) trace: &'a Trace,
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) flows: &'a [FlowMark],
    lone_states: &'a LoneStates,
    /// Where counter events without a number are in the file, sorted.
    places_without_numbers: &'a [u64],
    /// The records, if it is an FXT file.
    pub(super) fxt: Option<FxtSource<'a>>,
    /// Whether whole slices that start together nest in the order of their file, as in what is written.
    pub(super) is_nested_as_read: bool,
    /// By kind: whether it is that of FXT's wakeups.
    wakeup_kinds: Vec<bool>,
    /// Userspace objects that are no points of the selection.
    pub(super) objects: Objects,
    /// The index of the CPU of an event.
    cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
    pub(super) begins: BeginsAround,
    /// What is copied from an FXT file, if anything is.
    pub copies: Option<Copies>,
    forms: Vec<Form>,
    lanes: Vec<Lane>,
    /// Of each lane, where the windows cut it.
    places: Vec<Vec<Place>>,
    sparse: Vec<Item>,
    log_events: Vec<u32>,
    /// The events of the scheduling records that are written as they stand, in order of time.
    scheduling: Vec<u32>,
    true_ends: &'a TrueEnds,
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
        (lone_states, true_ends, begins): (&'a LoneStates, &'a TrueEnds, BeginsAround),
        (scheduling, places_without_numbers): (Scheduling, &'a [u64]),
        cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
        (fxt, objects, copied): (Option<FxtSource<'a>>, Objects, Option<FxtSource<'a>>),
    ) -> Items<'a> {
        let mut items = Items {
            trace,
            chosen,
            flows,
            lone_states,
            places_without_numbers,
            objects,
            fxt,
            is_nested_as_read: fxt.is_some_and(|fxt| fxt.ties() == Ties::First),
            wakeup_kinds: (0..trace.kinds.len())
                .map(|kind| {
                    let kind = KindId(u16::try_from(kind).unwrap_or(u16::MAX));
                    trace.kind_name(kind) == "thread_wakeup"
                })
                .collect(),
            cpu_of,
            forms: trace
                .tracks
                .par_iter()
                .map(|track| form_of(trace, &begins, track))
                .collect(),
            begins,
            copies: None,
            lanes: Vec::new(),
            places: Vec::new(),
            sparse: Vec::new(),
            log_events: Vec::new(),
            scheduling: Vec::new(),
            true_ends,
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
        items.find_lanes(scheduling, copied);
        items.choose_windows();
        items
    }

    /// The lanes of slices, points, samples and flows.
    fn lanes_of_tracks(&self) -> Vec<Lane> {
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
        lanes.push(Lane::Flows);
        lanes
    }

    fn find_lanes(&mut self, scheduling: Scheduling, copied: Option<FxtSource<'a>>) {
        let trace = self.trace;
        let mut lanes = self.lanes_of_tracks();
        let stands = scheduling == Scheduling::AsItStands;
        let mut gathered = match copied {
            Some(fxt) => self.choose_copies(fxt, scheduling, &mut lanes),
            None => Vec::new(),
        };
        if stands && self.copies.is_none() {
            self.scheduling = scheduling_events(trace);
        }
        let is_copied = stands && self.copies.is_some();
        let is_derived = self.scheduling.is_empty() && !is_copied;
        if is_derived {
            for cpu in 0..trace.cpus.len() as u32 {
                if self.chosen.has_runs_of(CpuId(cpu)) && !trace.runs.on(CpuId(cpu)).is_empty() {
                    lanes.push(Lane::Runs { cpu });
                }
            }
            for (thread, range) in trace.states.of_thread.iter().enumerate() {
                let thread = thread as u32;
                if !range.is_empty() && self.chosen.has_states_of(ThreadId(thread)) {
                    lanes.push(Lane::States { thread });
                }
            }
        } else if !is_copied {
            lanes.push(Lane::Scheduling);
        }
        lanes.push(Lane::Logs);
        let all: usize = lanes.iter().map(|lane| lane.size(&self.rows())).sum();
        let least = SPARSE * (all / (SAMPLE_EVERY * SAMPLES_IN_WINDOW)).max(16);
        let (sparse, dense): (Vec<Lane>, Vec<Lane>) = lanes
            .into_iter()
            .partition(|lane| lane.size(&self.rows()) < least);
        self.lanes = dense;
        let span = self.chosen.span;
        let sparse: Vec<Item> = sparse
            .par_iter()
            .fold(Vec::new, |mut list, lane| {
                self.gather_lane(*lane, &lane.stretch(&self.rows(), span), &mut list);
                list
            })
            .flatten_iter()
            .collect();
        gathered.extend(sparse);
        if is_derived {
            gathered.extend(self.switches_off());
            gathered.extend(self.wakeups_of_ready());
        }
        if stands && super::lone_states::lacks_run_ends(trace, self.fxt) {
            gathered.extend(self.unseen_ends());
        }
        if self.copies.is_none() {
            gathered.extend(self.counters_without_numbers());
        }
        gathered.extend(losses::inside(trace, self.chosen));
        gathered.extend_from_slice(&self.objects.inside);
        self.sparse = Window::of(gathered).items;
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
        let rows = self.rows();
        for &lane in &self.lanes {
            let stretch = lane.stretch(&rows, span);
            count += stretch.starts.len() as u64;
            let sampled = stretch.starts.step_by(SAMPLE_EVERY);
            samples.extend(sampled.map(|index| lane.time_at(&rows, index)));
        }
        if self.copies.is_some() {
            let (copies, times) = Copies::sample(self.trace, span, SAMPLE_EVERY);
            count += copies;
            samples.extend(times);
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
        let lanes = self.lanes.par_iter();
        self.places = lanes
            .map(|lane| lane.places(&self.rows(), span.start.0, &self.cuts))
            .collect();
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows {
            trace: self.trace,
            flows: self.flows,
            scheduling: &self.scheduling,
        }
    }

    /// Fills `window` with what is in window `number`.
    pub fn fill(&self, window: &mut Window, number: usize) {
        let start = match number.checked_sub(1) {
            Some(before) => self.cuts[before],
            None => self.chosen.span.start.0,
        };
        let span = TimeSpan::new(Timestamp(start), Timestamp(self.cuts[number]));
        let first = self.sparse.partition_point(|item| item.time < span.start.0);
        let last = self.sparse.partition_point(|item| item.time < span.end.0);
        let list = &mut window.gathered;
        list.clear();
        list.extend_from_slice(&self.sparse[first..last.max(first)]);
        for (&lane, places) in self.lanes.iter().zip(&self.places) {
            if let Some([from, until]) = places.get(number..number + 2) {
                self.gather_lane(lane, &from.to(*until), list);
            }
        }
        window.sort();
        match self.copies {
            Some(_) => Copies::fill(self.trace, span, &mut window.copies),
            None => window.copies.list.clear(),
        }
    }

    fn gather_lane(&self, lane: Lane, stretch: &Stretch, list: &mut Vec<Item>) {
        let trace = self.trace;
        let is_narrowed = self.chosen.is_narrowed();
        match lane {
            Lane::Slices { row, form } => self.gather_slices(row, form, stretch, list),
            Lane::Instants { track } => {
                let first = trace.tracks[track as usize].instants.start as usize;
                for index in stretch.starts.clone() {
                    let event = trace.instants.events.at(first + index);
                    if !is_narrowed || self.chosen.has_point(TrackId(track), EventId(event)) {
                        list.extend(self.point_item(track, event));
                    }
                }
            }
            Lane::Samples { track } => {
                let first = trace.counters.tracks[track as usize].samples.start as usize;
                for index in stretch.starts.clone() {
                    let row = first + index;
                    let id = CounterTrackId(track);
                    if is_narrowed && !self.chosen.has_sample(id, row as u32) {
                        continue;
                    }
                    let order = order_of(trace.counters.events[row]);
                    let at = (trace.counters.times[row], order);
                    list.push(Item::new(What::Sample, at, row as u32, track));
                }
            }
            Lane::Runs { cpu } => self.gather_runs(cpu, stretch, list),
            Lane::States { thread } => self.gather_wakeups(thread, stretch, list),
            Lane::Scheduling => {
                for index in stretch.starts.clone() {
                    let event = self.scheduling[index];
                    let at = (lane.time_at(&self.rows(), index), order_of(event));
                    list.push(Item::new(What::Scheduling, at, event, 0));
                }
            }
            Lane::Logs => {
                for index in stretch.starts.clone() {
                    let log = &trace.logs.rows[index];
                    if !is_narrowed || self.chosen.has_log(log) {
                        let at = (log.time.0, order_of(log.event.0));
                        list.push(Item::new(What::Log, at, index as u32, log.thread.0));
                    }
                }
            }
            Lane::Flows => {
                for index in stretch.starts.clone() {
                    list.push(self.flow_item(index));
                }
            }
        }
    }

    /// A mark of a flow.
    pub(super) fn flow_item(&self, index: usize) -> Item {
        let mark = &self.flows[index];
        let at = (mark.time, order_of(mark.order));
        Item::new(What::Flow, at, index as u32, mark.thread.0)
    }

    /// A blob without a time has that of what stands before it: it comes behind all of that time.
    fn order_of_point(&self, event: u32) -> u64 {
        let place = || self.trace.events.get(EventId(event)).row.place;
        match self.fxt {
            Some(fxt) if fxt.is_blob_at(place) => LAST_ORDER,
            _ => order_of(event),
        }
    }

    /// A point of a track, but for those that logs make again.
    pub(super) fn point_item(&self, track: u32, event: u32) -> Option<Item> {
        let is_log = self.log_events.binary_search(&event).is_ok();
        let time = || self.trace.events.time(EventId(event)).0;
        (!is_log).then(|| {
            let at = (time(), self.order_of_point(event));
            Item::new(What::Instant, at, event, track)
        })
    }

    fn gather_runs(&self, cpu: u32, stretch: &Stretch, list: &mut Vec<Item>) {
        let runs = &self.trace.runs;
        let range = runs.on(CpuId(cpu));
        let (from, until) = (range.start as usize, range.end as usize);
        for index in stretch.starts_from(from) {
            let order = order_of(known_event(runs.events[index]));
            let at = (runs.starts[index], order);
            list.push(Item::new(What::SwitchTo, at, index as u32, cpu));
        }
        for index in stretch.ends_from(from) {
            let follows = index + 1 < until
                && runs.starts[index + 1] == runs.ends[index]
                && !self.true_ends.is_apart(index);
            if !follows {
                // Just before what its thread does then, wherever that is; unknown, after all else of its time.
                let behind = event_behind(self.trace, index)
                    .map_or(LAST_ORDER, |(event, _)| order_among(event, END_ORDER));
                let is_at_once = runs.starts[index] == runs.ends[index];
                let begin = order_of(known_event(runs.events[index]));
                let order = if is_at_once {
                    behind.max(begin + 1)
                } else {
                    behind
                };
                let at = (runs.ends[index], order);
                list.push(Item::new(What::SwitchToIdle, at, index as u32, cpu));
            }
        }
    }

    fn gather_wakeups(&self, thread: u32, stretch: &Stretch, list: &mut Vec<Item>) {
        let states = &self.trace.states;
        let from = states.of_thread[thread as usize].start as usize;
        for index in stretch.starts_from(from) {
            if self.is_wakeup(index) && self.leads_to_chosen_cpu(index, thread) {
                let own = order_of(known_event(states.events[index]));
                // Behind what took the thread off a CPU just then, perhaps on another one.
                let of_thread = from..index;
                let at_once = of_thread
                    .rev()
                    .take_while(|&row| states.starts[row] == states.starts[index]);
                let before = at_once.map(|row| order_of(known_event(states.events[row])) + 1);
                let order = before.fold(own, u64::max);
                let at = (states.starts[index], order);
                list.push(Item::new(What::Wakeup, at, index as u32, thread));
            }
        }
    }

    /// Events at `places_without_numbers`. Hardly any file has some.
    fn counters_without_numbers(&self) -> Vec<Item> {
        let (events, places) = (&self.trace.events, self.places_without_numbers);
        if places.is_empty() {
            return Vec::new();
        }
        let item_of = |id: u32| {
            let event = events.get(EventId(id));
            let thread = events.thread(EventId(id));
            let is_one = places.binary_search(&event.row.place).is_ok();
            let is_chosen =
                self.chosen.span.contains(event.row.time) && self.chosen.has_event(EventId(id));
            let at = (event.row.time.0, order_of(id));
            (is_one && is_chosen).then(|| Item::new(What::CounterWithoutNumber, at, id, thread.0))
        };
        (0..events.len() as u32)
            .into_par_iter()
            .filter_map(item_of)
            .collect()
    }

    fn switches_off(&self) -> Vec<Item> {
        let trace = self.trace;
        let run_begins = RunBegins::new(trace);
        let item_of = |&(event, state): &(u32, u32)| {
            // Most are the other side of a switch that is told anyhow.
            if run_begins.has(EventId(event))
                || self.lone_states.of_event(event) != Some(StateId(state))
            {
                return None;
            }
            let row = trace.states.get(StateId(state));
            if !self.chosen.span.contains(row.start) || !self.chosen.has_thread(row.thread) {
                return None;
            }
            let cpu = (self.cpu_of)(EventId(event))?;
            let at = (row.start.0, order_of(event));
            let is_chosen = self.chosen.has_runs_of(CpuId(cpu));
            is_chosen.then(|| Item::new(What::SwitchOff, at, state, cpu))
        };
        let lone_states = self.lone_states.rows().par_iter();
        lone_states.filter_map(item_of).collect()
    }

    /// Whether readiness ends on a chosen CPU: a thread that went on elsewhere would seem to wait for ever. Of the last one
    /// the event says where it was.
    pub(super) fn leads_to_chosen_cpu(&self, index: usize, thread: u32) -> bool {
        if !self.chosen.limits_cpus() {
            return true;
        }
        let of_thread = self.trace.states.of(ThreadId(thread));
        let next = index as u32 + 1;
        let next = of_thread.contains(&next).then_some(StateId(next));
        let state = self.trace.states.get(StateId(index as u32));
        match next.and_then(|next| self.trace.states.get(next).cpu) {
            Some(cpu) => self.chosen.has_runs_of(CpuId(cpu)),
            None => state.event.is_none_or(|event| {
                (self.cpu_of)(event).is_none_or(|cpu| self.chosen.has_runs_of(CpuId(cpu)))
            }),
        }
    }

    /// Whether a state came by a wakeup, whatever became of it.
    fn is_wakeup(&self, index: usize) -> bool {
        self.trace.states.notes[index].is_woken()
    }

    /// Whether an event wakes a thread: one that was switched from at the same time, too.
    fn is_wakeup_event(&self, event: u32) -> bool {
        let kind = |event| self.trace.events.get(EventId(event)).row.kind;
        event != u32::MAX
            && self
                .wakeup_kinds
                .get(usize::from(kind(event).0))
                .is_some_and(|&is_one| is_one)
    }

    /// Wakeups of an FXT file that changed nothing: no state begins with them.
    fn wakeups_of_ready(&self) -> Vec<Item> {
        let trace = self.trace;
        let Some(fxt) = self.fxt.filter(|_| self.wakeup_kinds.contains(&true)) else {
            return Vec::new();
        };
        let begun = StateBegins::new(trace);
        // Of several of one number only one was scheduled: it counts.
        let has_states = |id: u32| {
            let states = trace.states.of_thread.get(id as usize);
            states.is_some_and(|range| !range.is_empty())
        };
        let ids = 1..trace.threads.len() as u32;
        let others = ids.clone().filter(|&id| !has_states(id));
        let threads: FxHashMap<u64, u32> = others
            .chain(ids.filter(|&id| has_states(id)))
            .map(|id| (trace.thread(ThreadId(id)).tid, id))
            .collect();
        let item_of = |id: u32| {
            if begun.has(EventId(id)) || !self.is_wakeup_event(id) {
                return None;
            }
            let row = trace.events.get(EventId(id)).row;
            let thread = *threads.get(&fxt.woken(row.place)?)?;
            let is_chosen =
                self.chosen.span.contains(row.time) && self.chosen.has_states_of(ThreadId(thread));
            let is_here = || {
                let cpu = (self.cpu_of)(EventId(id)).map(CpuId);
                cpu.is_none_or(|cpu| self.chosen.has_runs_of(cpu))
            };
            let is_chosen = is_chosen && (!self.chosen.limits_cpus() || is_here());
            let at = (row.time.0, order_of(id));
            is_chosen.then(|| Item::new(What::WakeupOfReady, at, id, thread))
        };
        (0..trace.events.len() as u32)
            .into_par_iter()
            .filter_map(item_of)
            .collect()
    }

    /// How the slices of a track are written.
    pub fn form(&self, track: u32) -> Form {
        self.forms
            .get(track as usize)
            .copied()
            .unwrap_or(Form::Whole)
    }
}

/// How scheduling is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// By the records of an FXT file, each as it stands.
    AsItStands,
    /// By switches and wakeups that make the runs and states.
    OfRunsAndStates,
}

/// The events of all scheduling records of an FXT file, in order of time.
fn scheduling_events(trace: &Trace) -> Vec<u32> {
    let is_one: Vec<bool> = (0..trace.kinds.len())
        .map(|kind| {
            let kind = KindId(u16::try_from(kind).unwrap_or(u16::MAX));
            matches!(&*trace.kind_name(kind), "thread_wakeup" | "context_switch")
        })
        .collect();
    if !is_one.contains(&true) {
        return Vec::new();
    }
    let segments = trace.events.segments().par_iter();
    let mut found: Vec<(i64, u32)> = segments
        .flat_map_iter(|segment| {
            let is_one = &is_one;
            (0..segment.columns.len() as u32).filter_map(move |index| {
                let kind = usize::from(segment.kind(index).0);
                let is_one = is_one.get(kind).copied().unwrap_or(false);
                is_one.then(|| (segment.time(index).0, segment.first + index))
            })
        })
        .collect();
    found.par_sort_unstable();
    found.into_iter().map(|(_, event)| event).collect()
}

/// The order of a row without an event: before all others of its time.
pub(super) fn known_event(event: u32) -> u32 {
    if event == u32::MAX { 0 } else { event }
}
