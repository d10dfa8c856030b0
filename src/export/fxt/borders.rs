//! Rows that cross the borders of the range: written as if they began at its start, and ended at its end.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::forms::Form;
use super::item::{Item, ItemTime, LAST_ORDER, SliceAt, What, order_of, order_of_whole};
use super::items::{Items, known_event};
use super::losses;
use super::switches::event_behind;
use crate::base::Timestamp;
use crate::event::Role;
use crate::export::shared::crossing::crossing_cuts;
use crate::query::event_cpus::leads_to_chosen_cpu;
use crate::trace::slices::SliceRow;
use crate::trace::{
    CounterTrackId, CpuId, EventId, RunId, StateId, ThreadId, ThreadState, Trace, TrackId,
};

/// A row of slices, and how its track is written.
struct RowForm<'a> {
    row: &'a SliceRow,
    form: Form,
}

/// A slice that crosses a border of the range.
struct AtBorder {
    /// Its start in ns, and its order among slices that start at the same time.
    began: (i64, u32),
    /// The item that is written at the border.
    what: What,
    slice: usize,
    track: u32,
}

impl AtBorder {
    fn item(&self, trace: &Trace, at: ItemTime) -> Item {
        Item::of_slice(self.what, at, SliceAt::of(trace, self.slice), self.track)
    }
}

impl<'a> Items<'a> {
    /// Returns items for everything that crosses the range's start, outermost first; their time is the start.
    pub(crate) fn across_start(&self) -> Vec<Item> {
        let trace = self.trace;
        let span = self.chosen.span;
        if span.start >= span.end {
            return Vec::new();
        }
        let mut list = Vec::new();
        for RowForm { row, form } in self.slice_rows() {
            let track = row.track.0;
            let found = trace.slices.overlapping(row, span);
            // At most one slice of a row crosses a point in time.
            let index = found.start as usize;
            if found.is_empty()
                || trace.slices.starts.at(index) >= span.start.0
                || !self.chosen.has_slice(row.track, index)
            {
                continue;
            }
            let what = match form {
                Form::Async => What::AsyncBegin,
                _ if self.is_open_at_end(index) => What::Begin,
                _ if self.has_own_end(&SliceAt::of(trace, index), form) => What::Begin,
                _ => What::Whole,
            };
            let order = match self.is_nested_as_read() {
                true => trace.slices.begins.at(index),
                false => 0,
            };
            list.push(AtBorder {
                began: (trace.slices.starts.at(index), order),
                what,
                slice: index,
                track,
            });
        }
        // The sort is stable: slices that started together on one track stay in the order of its rows. Where the order
        // in the file decides which is the outer one, they have the order of their begin events.
        list.sort_by_key(|crossing| crossing.began);
        let start = ItemTime::first_at(span.start.0);
        let at_start = |what: What, row: usize, of: u32| Item::new(what, start, row as u32, of);
        // Objects come first, so that pointers have names before an event refers to them.
        let mut items = self.objects.at_start.clone();
        let slices = list.into_iter();
        items.extend(slices.map(|crossing| crossing.item(trace, start)));
        for number in 0..trace.counters.tracks.len() as u32 {
            if let Some(row) = self.chosen.sample_at_start(CounterTrackId(number)) {
                items.push(at_start(What::Sample, row as usize, number));
            }
        }
        items.extend(self.waiting_at_start());
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
            if range.is_empty() || !self.chosen.has_states_of(ThreadId(thread as u32)) {
                continue;
            }
            let found = trace.states.overlapping(range.clone(), span);
            let index = found.start as usize;
            if !found.is_empty()
                && trace.states.starts[index] < span.start.0
                && is_woken(trace, index)
                && leads_to_chosen_cpu(trace, self.chosen, self.cpus, StateId(index as u32))
            {
                items.push(at_start(What::Wakeup, index, thread as u32));
            }
        }
        items
    }

    /// Returns an item for the end of each run that no switch names; it comes before all other items of its time.
    pub(super) fn unseen_ends(&self) -> Vec<Item> {
        let (trace, span) = (self.trace, self.chosen.span);
        let runs = &trace.runs;
        let is_seen = |run: usize| {
            event_behind(trace, run).is_some_and(|behind| {
                let kind = trace.events.kind(EventId(behind.event));
                let kind = trace.kinds.get(kind.index());
                kind.is_some_and(|kind| kind.role == Role::Switch)
                    && trace.events.thread(EventId(behind.event))
                        == Some(ThreadId(runs.threads[run]))
            })
        };
        let item_of = |cpu: u32, run: usize| {
            let end = runs.ends[run].get()?;
            if !span.contains(Timestamp(end)) || is_seen(run) {
                return None;
            }
            let order = match runs.starts[run] == end {
                true => order_of(known_event(runs.events[run])) + 1,
                false => order_of_whole(0),
            };
            let at = ItemTime { time: end, order };
            Some(Item::new(What::UnseenEnd, at, run as u32, cpu))
        };
        let cpus = (0..trace.cpus.len() as u32).into_par_iter();
        cpus.flat_map_iter(|cpu| {
            let range = runs.on(CpuId(cpu));
            (range.start as usize..range.end as usize).filter_map(move |run| item_of(cpu, run))
        })
        .collect()
    }

    /// Switches from the threads that wait at the range's start to idle, before any thread runs there.
    fn waiting_at_start(&self) -> Vec<Item> {
        let (trace, span) = (self.trace, self.chosen.span);
        let has_runs = |cpu: &u32| self.chosen.has_runs_of(CpuId(*cpu));
        let Some(cpu) = (0..trace.cpus.len() as u32).find(has_runs) else {
            return Vec::new();
        };
        let mut items = Vec::new();
        for (thread, range) in trace.states.of_thread.iter().enumerate() {
            if range.is_empty() || !self.chosen.has_states_of(ThreadId(thread as u32)) {
                continue;
            }
            let found = trace.states.overlapping(range.clone(), span);
            let index = found.start as usize;
            if found.is_empty() || trace.states.starts[index] >= span.start.0 {
                continue;
            }
            let state = trace.states.states[index];
            // A thread that was just created was not switched from; a dead thread does not wait, unless another state
            // follows.
            let died = trace.over_at(ThreadId(thread as u32));
            let is_dead = state == ThreadState::Dead && trace.states.ends[index].is_none();
            let is_waiting = died.is_none_or(|end| end > span.start)
                && !is_dead
                && !is_woken(trace, index)
                && !matches!(state, ThreadState::Running | ThreadState::Created);
            if is_waiting {
                let at = ItemTime::first_at(span.start.0);
                items.push(Item::new(What::SwitchOff, at, found.start, cpu));
            }
        }
        items
    }

    /// Returns items for the ends of everything that began with an event of its own and crosses the range's end.
    pub(crate) fn across_end(&self) -> Vec<Item> {
        let trace = self.trace;
        let span = self.chosen.span;
        if span.start >= span.end {
            return Vec::new();
        }
        let mut list = Vec::new();
        for RowForm { row, form } in self.slice_rows() {
            let track = row.track.0;
            let found = trace.slices.overlapping(row, span);
            let Some(index) = found.end.checked_sub(1).filter(|_| !found.is_empty()) else {
                continue;
            };
            let index = index as usize;
            let end = trace.slices.open_end(index);
            let is_chosen = self.chosen.has_slice(row.track, index);
            let has_own_end = || self.has_own_end(&SliceAt::of(trace, index), form);
            // A slice that ends with its file, before the range's end, is written at the file's end instead.
            let slice = SliceAt::of(trace, index);
            let is_over = end.is_some() || self.cut_of_open(&slice) == Some(span.end.0);
            if end >= span.end.0 && is_over && is_chosen && has_own_end() {
                let what = if form == Form::Async {
                    What::AsyncEnd
                } else {
                    What::End
                };
                list.push(AtBorder {
                    began: (trace.slices.starts.at(index), 0),
                    what,
                    slice: index,
                    track,
                });
            }
        }
        // The innermost slice ends first.
        list.sort_by_key(|crossing| std::cmp::Reverse(crossing.began));
        let mut items = match self.keeps_losses() {
            true => Vec::new(),
            false => losses::across_end(trace, self.chosen),
        };
        let ends = list.into_iter();
        let end = ItemTime::first_at(span.end.0);
        items.extend(ends.map(|crossing| crossing.item(trace, end)));
        items.extend(self.runs_across_end());
        items
    }

    /// A switch from each thread that runs at the range's end to idle.
    fn runs_across_end(&self) -> impl Iterator<Item = Item> + '_ {
        let (trace, span) = (self.trace, self.chosen.span);
        let cpus = (0..trace.cpus.len() as u32).filter(|&cpu| self.chosen.has_runs_of(CpuId(cpu)));
        cpus.filter_map(move |cpu| {
            let found = trace.runs.overlapping(trace.runs.on(CpuId(cpu)), span);
            let run = found.end.checked_sub(1).filter(|_| !found.is_empty())?;
            let part = self.borders.of_run(trace, RunId(run));
            let lasts = part.end.is_some_and(|end| end >= span.end.0);
            let thread = ThreadId(trace.runs.threads[run as usize]);
            (lasts && self.chosen.has_run(CpuId(cpu), thread))
                .then(|| Item::new(What::SwitchAtEnd, ItemTime::first_at(span.end.0), run, cpu))
        })
    }

    /// Returns, by slice, where whole slices that cross each other are cut; see [`crossing_cuts`].
    pub(crate) fn crossing_cuts(&self) -> FxHashMap<u32, i64> {
        let rows: Vec<_> = self.slice_rows().collect();
        let of_tracks = rows.chunk_by(|a, b| a.row.track == b.row.track);
        let of_track = |rows: &[RowForm<'_>]| {
            let nested = rows.iter().filter(|it| it.form != Form::Async);
            let nested = nested.map(|it| it.row);
            crossing_cuts(self.trace, self.chosen, rows[0].row.track, nested)
        };
        of_tracks.flat_map(of_track).collect()
    }

    /// Returns whether a slice never ended and is still open at the end of the exported part.
    fn is_open_at_end(&self, index: usize) -> bool {
        let slice = SliceAt::of(self.trace, index);
        slice.facts.end.is_none() && self.cut_of_open(&slice).is_none()
    }

    /// Returns switches to idle from runs that are only partly known: the threads still ran at the end of their files,
    /// or where another export cut them.
    pub(super) fn partial_runs(&self) -> Vec<Item> {
        let (trace, span) = (self.trace, self.chosen.span);
        let rows = trace.runs.partial.iter().copied();
        let is_inside = |run: usize| {
            let start = trace.runs.starts[run];
            start >= span.start.0 || trace.runs.ends[run] > span.start.0
        };
        let items = rows.filter(|&run| self.ends_as_part(run as usize) && is_inside(run as usize));
        let items = items.filter_map(|run| {
            let cpu = trace.runs.of_cpu.partition_point(|range| range.end <= run);
            let cpu = CpuId(u32::try_from(cpu).ok()?);
            let thread = ThreadId(trace.runs.threads[run as usize]);
            let part = self.borders.of_run(trace, RunId(run));
            let time = part.end.filter(|&end| span.contains(Timestamp(end)))?;
            let at = ItemTime {
                time,
                order: LAST_ORDER,
            };
            let is_chosen = self.chosen.has_run(cpu, thread);
            is_chosen.then(|| Item::new(What::SwitchAtEnd, at, run, cpu.0))
        });
        items.collect()
    }

    /// Returns whether a run is known only up to its end: no state of its thread follows.
    pub(super) fn ends_as_part(&self, run: usize) -> bool {
        let runs = &self.trace.runs;
        runs.is_partial(run) && runs.end_states[run] == ThreadState::Unknown
    }

    fn slice_rows(&self) -> impl Iterator<Item = RowForm<'a>> {
        let trace = self.trace;
        let tracks = trace.tracks.iter().enumerate();
        let chosen = tracks.filter(|(number, _)| self.chosen.has_track(TrackId(*number as u32)));
        chosen.flat_map(move |(number, track)| {
            let form = self.form(number as u32);
            let rows = trace.slices.rows_of(track);
            rows.iter().map(move |row| RowForm { row, form })
        })
    }
}

/// Returns whether the state at the range's start began with a wakeup, which the file then repeats.
fn is_woken(trace: &Trace, state: usize) -> bool {
    trace.states.notes[state].is_woken()
}
