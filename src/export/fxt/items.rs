//! The rows of a trace's tables as items in order of time, window by window.
//!
//! Every sorted piece of a table (a row of a track, a counter, a CPU's runs) is a lane. The rows of a lane in a window
//! are found by a binary search; lanes with few items are gathered once instead. A window contains about 30,000 items,
//! so that memory stays bounded and windows can be encoded in parallel.

use rayon::prelude::*;

use super::forms::{BeginsAround, Form, form_of};
use super::item::{Item, ItemTime, What, Window, order_of};
use super::lanes::{Lane, Place, Rows, Stretch};
use super::lone_states::{LoneStates, TrueEnds};
use super::losses;
use super::objects::Objects;
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::Role;
use crate::export::shared::borders::Borders;
use crate::export::shared::flow_marks::FlowMark;
use crate::query::event_cpus::EventCpus;
use crate::query::selection::Chosen;
use crate::trace::{CounterTrackId, CpuId, EventId, ThreadId, Trace, TrackId};

/// A lane with fewer items per window than this is gathered once: that costs less than a search for every window.
const SPARSE: usize = 4;
/// The distance, in items, between the times from which windows are chosen.
const SAMPLE_EVERY: usize = 512;
const SAMPLES_IN_WINDOW: usize = 64;

/// Returns the span of everything that touches a range: an item that ends where the range starts may be in it.
pub(super) fn touched(range: TimeSpan) -> TimeSpan {
    let end = Timestamp(range.end.0.saturating_add(1)).max(range.start);
    TimeSpan::new(Timestamp(range.start.0.saturating_sub(1)), end)
}

/// All lanes of the selection.
pub(crate) struct Items<'a> {
    pub(super) trace: &'a Trace,
    pub(super) chosen: &'a Chosen<'a>,
    pub(super) borders: &'a Borders,
    pub(super) flows: &'a [FlowMark],
    pub(super) lone_states: &'a LoneStates,
    /// Whether all counters are chosen.
    pub(super) has_all_counters: bool,
    /// The kept records of a file that is filtered.
    pub(super) kept: Option<KeptOfFile>,
    /// Userspace objects that are not points of the selection.
    pub(super) objects: Objects,
    /// Looks up the CPUs of events.
    pub(super) cpus: &'a EventCpus<'a>,
    pub(super) begins: BeginsAround,
    forms: Vec<Form>,
    lanes: Vec<Lane>,
    /// By lane: the places at which windows cut it.
    places: Vec<Vec<Place>>,
    sparse: Vec<Item>,
    log_events: Vec<u32>,
    pub(super) true_ends: &'a TrueEnds,
    /// The ends of windows, in ns; the last is the range's end.
    pub cuts: Vec<i64>,
    /// The approximate number of items.
    pub count: u64,
}

/// The rows from which items are made.
pub(crate) struct Ground<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The range and the rest of the selection.
    pub chosen: &'a Chosen<'a>,
    /// Where items are cut.
    pub borders: &'a Borders,
    /// The marks of flows.
    pub flows: &'a [FlowMark],
    /// States that began without a run before them.
    pub lone_states: &'a LoneStates,
    /// The runs whose end the states of their thread confirm.
    pub true_ends: &'a TrueEnds,
    /// Slices that start with a begin around them.
    pub begins: BeginsAround,
    /// Looks up the CPUs of events.
    pub cpus: &'a EventCpus<'a>,
    /// Userspace objects that are not points of the selection.
    pub objects: Objects,
}

/// The kept records of a file that is filtered, besides records that the filter chooses one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptOfFile {
    /// Whether whole slices that start together nest by their order in the file, as they do in the output.
    pub is_nested_as_read: bool,
    /// Whether all context switches and wakeups of the range are kept; otherwise they are made of runs and states.
    pub scheduling: bool,
    /// Whether runs may end by a switch that names another thread.
    pub lacks_run_ends: bool,
}

impl<'a> Items<'a> {
    /// Returns no items yet: see [`take_lanes`](Self::take_lanes).
    pub(super) fn new(ground: Ground<'a>, kept: Option<KeptOfFile>) -> Items<'a> {
        let Ground {
            trace,
            chosen,
            borders,
            flows,
            lone_states,
            true_ends,
            begins,
            cpus,
            objects,
        } = ground;
        let tracks = trace.tracks.par_iter();
        let mut items = Items {
            trace,
            chosen,
            borders,
            flows,
            lone_states,
            has_all_counters: chosen.has_all_counters(),
            objects,
            kept,
            cpus,
            forms: tracks
                .map(|track| form_of(trace, &begins, track, touched(chosen.span)))
                .collect(),
            begins,
            lanes: Vec::new(),
            places: Vec::new(),
            sparse: Vec::new(),
            log_events: Vec::new(),
            true_ends,
            cuts: Vec::new(),
            count: 0,
        };
        // A log record becomes an instant again when it is read, so that instant is not written.
        items.log_events = trace
            .logs
            .rows
            .iter()
            .filter(|log| {
                let kind = trace.kinds.get(trace.events.kind(log.event).index());
                kind.is_some_and(|kind| kind.role == Role::Log)
            })
            .map(|log| log.event.0)
            .collect();
        items.log_events.sort_unstable();
        items
    }

    /// Returns the lanes of slices, points, samples and flows.
    pub(super) fn lanes_of_tracks(&self) -> Vec<Lane> {
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

    /// Returns whether whole slices that start together nest by their order in the file, as they do in the output.
    pub(super) fn is_nested_as_read(&self) -> bool {
        self.kept.is_some_and(|kept| kept.is_nested_as_read)
    }

    /// Takes the lanes whose rows are written, and items of other lanes, adds runs, states, logs and losses, and chooses
    /// the windows.
    pub(super) fn take_lanes(&mut self, mut lanes: Vec<Lane>, mut gathered: Vec<Item>) {
        let trace = self.trace;
        let is_filtered = self.kept.is_some();
        let is_derived = !self.kept.is_some_and(|kept| kept.scheduling);
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
            gathered.extend(self.partial_runs());
        }
        gathered.extend(self.async_ends_of_files());
        if !is_derived && self.kept.is_some_and(|kept| kept.lacks_run_ends) {
            gathered.extend(self.unseen_ends());
        }
        if !self.keeps_losses() {
            gathered.extend(losses::inside(trace, self.chosen));
        }
        gathered.extend_from_slice(&self.objects.inside);
        self.sparse = Window::of(gathered, &self.trace.events).items;
        if is_filtered && is_derived {
            // If records are kept, all items are in one window: the items between kept records.
            let mut items = std::mem::take(&mut self.sparse);
            self.take_turns(&mut items);
            self.sparse = items;
        }
        self.choose_windows();
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
        }
    }

    /// Returns whether records of losses are kept: in a part of a file their meaning depends on records around them.
    pub(super) fn keeps_losses(&self) -> bool {
        self.kept.is_some() && self.chosen.is_whole()
    }

    /// Returns the items between the kept records of a filtered file, in order of time.
    pub(crate) fn between(&self) -> &[Item] {
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
        window.sort(&self.trace.events);
        self.take_turns(&mut window.items);
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
            Lane::Logs => {
                for index in stretch.starts.clone() {
                    let log = &trace.logs.rows[index];
                    if !is_narrowed || self.chosen.has_log(log) {
                        let at = ItemTime {
                            time: log.time.0,
                            order: order_of(log.event.0),
                        };
                        list.push(Item::alone(What::Log, at, index as u32));
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
        let at = ItemTime {
            time: mark.time,
            order: order_of(mark.order),
        };
        Item::alone(What::Flow, at, index as u32)
    }

    /// Returns the item of a counter's sample.
    pub(super) fn sample_item(&self, track: u32, row: usize) -> Item {
        let counters = &self.trace.counters;
        let at = ItemTime {
            time: counters.times[row],
            order: order_of(counters.events[row]),
        };
        Item::new(What::Sample, at, row as u32, track)
    }

    /// Returns the item of a point; `None` for a point that a log record will make again.
    pub(super) fn point_item(&self, track: u32, event: u32) -> Option<Item> {
        let is_log = self.log_events.binary_search(&event).is_ok();
        let time = || self.trace.events.time(EventId(event)).0;
        (!is_log).then(|| {
            let at = ItemTime {
                time: time(),
                order: order_of(event),
            };
            Item::new(What::Instant, at, event, track)
        })
    }

    /// Returns how the slices of a track are written.
    pub(super) fn form(&self, track: u32) -> Form {
        self.forms
            .get(track as usize)
            .copied()
            .unwrap_or(Form::Whole)
    }
}

/// Returns the event; 0 for a row without an event, which orders it before all other events of its time.
pub(super) fn known_event(event: Maybe<u32>) -> u32 {
    event.get().unwrap_or(0)
}
