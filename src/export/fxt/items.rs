//! The rows of a trace's tables as items in order of time, window by window.
//!
//! Every sorted piece of a table (a row of a track, a counter, a CPU's runs) is a lane. The rows of a lane in a window
//! are found by a binary search; lanes with few items are gathered once instead. A window contains about 30,000 items,
//! so that memory stays bounded and windows can be encoded in parallel.

use rayon::prelude::*;

use super::filter::Kept;
use super::forms::{BeginsAround, Form, form_of};
use super::item::{Item, LAST_ORDER, What, Window, order_of};
use super::lanes::{Lane, Place, Rows, Stretch};
use super::lone_states::{LoneStates, TrueEnds};
use super::losses;
use super::objects::Objects;
use crate::base::{TimeSpan, Timestamp};
use crate::event::{KindId, Ties};
use crate::export::shared::flow_marks::FlowMark;
use crate::formats::fxt::FxtSource;
use crate::query::selection::Chosen;
use crate::trace::{CounterTrackId, CpuId, EventId, ThreadId, Trace, TrackId};

/// A lane with fewer items per window than this is gathered once: that costs less than a search for every window.
const SPARSE: usize = 4;
/// The distance, in items, between the times from which windows are chosen.
const SAMPLE_EVERY: usize = 512;
const SAMPLES_IN_WINDOW: usize = 64;

/// All lanes of the selection.
pub(crate) struct Items<'a> {
    pub(super) trace: &'a Trace,
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) flows: &'a [FlowMark],
    pub(super) lone_states: &'a LoneStates,
    /// Places in the file of counter events without a number, sorted.
    places_without_numbers: &'a [u64],
    /// Whether all counters are chosen.
    pub(super) has_all_counters: bool,
    /// The records, if the trace comes from an FXT file.
    pub(super) fxt: Option<FxtSource<'a>>,
    /// Whether whole slices that start together nest by their order in the file, as they do in the output.
    pub(super) is_nested_as_read: bool,
    /// By kind: whether it is FXT's kind of wakeups.
    pub(super) wakeup_kinds: Vec<bool>,
    /// Userspace objects that are not points of the selection.
    pub(super) objects: Objects,
    /// Returns the index of the CPU of an event.
    pub(super) cpu_of: &'a (dyn Fn(EventId) -> Option<u32> + Sync),
    pub(super) begins: BeginsAround,
    /// The records of an FXT file that are kept, if it is filtered.
    pub kept: Option<Kept>,
    forms: Vec<Form>,
    lanes: Vec<Lane>,
    /// By lane: the places at which windows cut it.
    places: Vec<Vec<Place>>,
    sparse: Vec<Item>,
    log_events: Vec<u32>,
    /// The events of the scheduling records that are written unchanged, in order of time.
    scheduling: Vec<u32>,
    pub(super) true_ends: &'a TrueEnds,
    /// The ends of windows, in ns; the last is the range's end.
    pub cuts: Vec<i64>,
    /// The approximate number of items.
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
        (fxt, objects, filtered): (Option<FxtSource<'a>>, Objects, Option<FxtSource<'a>>),
    ) -> Items<'a> {
        let mut items = Items {
            trace,
            chosen,
            flows,
            lone_states,
            places_without_numbers,
            has_all_counters: chosen.has_all_counters(),
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
            kept: None,
            lanes: Vec::new(),
            places: Vec::new(),
            sparse: Vec::new(),
            log_events: Vec::new(),
            scheduling: Vec::new(),
            true_ends,
            cuts: Vec::new(),
            count: 0,
        };
        // A log record becomes an instant again when it is read, so that instant is not written.
        items.log_events = trace
            .logs
            .rows
            .iter()
            .filter(|log| trace.kind_name(trace.events.kind(log.event)) == "log")
            .map(|log| log.event.0)
            .collect();
        items.log_events.sort_unstable();
        items.find_lanes(scheduling, filtered);
        items.choose_windows();
        items
    }

    /// Returns the lanes of slices, points, samples and flows.
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

    fn find_lanes(&mut self, scheduling: Scheduling, filtered: Option<FxtSource<'a>>) {
        let trace = self.trace;
        let mut lanes = self.lanes_of_tracks();
        let stands = scheduling == Scheduling::AsItStands;
        let mut gathered = match filtered {
            Some(fxt) => self.choose_kept(fxt, &mut lanes),
            None => Vec::new(),
        };
        let is_filtered = self.kept.is_some();
        if stands && !is_filtered {
            self.scheduling = scheduling_events(trace);
        }
        // Runs and states are encoded if scheduling records are not written unchanged, or if there are none.
        let is_derived = !stands || self.scheduling.is_empty() && !is_filtered;
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
        } else if !is_filtered {
            lanes.push(Lane::Scheduling);
        }
        if !is_filtered {
            lanes.push(Lane::Logs);
        }
        let all: usize = lanes.iter().map(|lane| lane.size(&self.rows())).sum();
        // SPARSE items for each window; a small trace counts as 16 windows.
        let least = SPARSE * (all / (SAMPLE_EVERY * SAMPLES_IN_WINDOW)).max(16);
        let (sparse, dense): (Vec<Lane>, Vec<Lane>) = lanes
            .into_iter()
            .partition(|lane| is_filtered || lane.size(&self.rows()) < least);
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
        let without_numbers = self.counters_without_numbers();
        match &self.kept {
            None => gathered.extend(without_numbers),
            Some(kept) => kept.keep_all(&without_numbers),
        }
        if !self.keeps_losses() {
            gathered.extend(losses::inside(trace, self.chosen));
        }
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

    /// Returns whether records of losses are kept: in a part of a file their meaning depends on records around them.
    pub(super) fn keeps_losses(&self) -> bool {
        self.kept.is_some() && self.chosen.is_whole()
    }

    /// Returns the items between the kept records of a filtered file, in order of time.
    pub fn between(&self) -> &[Item] {
        &self.sparse
    }

    /// Fills `window` with the items of the window `number`.
    pub(crate) fn fill(&self, window: &mut Window, number: usize) {
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
                    list.push(self.sample_item(track, row));
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

    /// Returns the item of a flow mark.
    pub(super) fn flow_item(&self, index: usize) -> Item {
        let mark = &self.flows[index];
        let at = (mark.time, order_of(mark.order));
        Item::new(What::Flow, at, index as u32, mark.thread.0)
    }

    /// Returns the item of a counter's sample.
    pub(super) fn sample_item(&self, track: u32, row: usize) -> Item {
        let counters = &self.trace.counters;
        let at = (counters.times[row], order_of(counters.events[row]));
        Item::new(What::Sample, at, row as u32, track)
    }

    /// A blob has no time in the file and takes that of the record before it: it comes after all others of its time.
    fn order_of_point(&self, event: u32) -> u64 {
        let place = || self.trace.events.get(EventId(event)).row.place;
        match self.fxt {
            Some(fxt) if fxt.is_blob_at(place) => LAST_ORDER,
            _ => order_of(event),
        }
    }

    /// Returns the item of a point; `None` for a point that a log record will make again.
    pub(super) fn point_item(&self, track: u32, event: u32) -> Option<Item> {
        let is_log = self.log_events.binary_search(&event).is_ok();
        let time = || self.trace.events.time(EventId(event)).0;
        (!is_log).then(|| {
            let at = (time(), self.order_of_point(event));
            Item::new(What::Instant, at, event, track)
        })
    }

    /// Returns items for the events at `places_without_numbers`. Hardly any file contains some.
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

    /// Returns how the slices of a track are written.
    pub fn form(&self, track: u32) -> Form {
        self.forms
            .get(track as usize)
            .copied()
            .unwrap_or(Form::Whole)
    }
}

/// How scheduling is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheduling {
    /// As the records of an FXT file, unchanged.
    AsItStands,
    /// As switches and wakeups from which readers make the runs and states.
    OfRunsAndStates,
}

/// Returns the events of all scheduling records of an FXT file, in order of time.
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

/// Returns the event; 0 for a row without an event, which orders it before all other events of its time.
pub(super) fn known_event(event: u32) -> u32 {
    if event == u32::MAX { 0 } else { event }
}
