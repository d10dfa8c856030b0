//! Rows of intervals to add up: of slices, runs or states. The group of each is in `grouping`.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::choose::{AsyncsOf, whole_tracks};
use super::label_groups::{LabelGroups, namesakes};
use super::{Area, GroupBy, Hidden, Lane, Lanes, What};
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::query::seen::{Length, Seen};
use crate::query::slice_kinds::SliceKinds;
use crate::trace::{CpuId, RunId, SliceId, StateId, ThreadId, ThreadState, Trace, TrackId};

/// The number of states.
pub(super) const STATES: u32 = ThreadState::ALL.len() as u32;

/// The time in ns of a group's intervals that is outside of an area.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CutOff {
    pub of_finished: i128,
    /// The same for runs and states whose end was not seen.
    pub of_unfinished: i128,
}

/// The rows of an area, and the data by which their intervals are grouped.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub what: What,
    pub by: GroupBy,
    /// Rows of intervals that do not overlap.
    pub rows: Vec<Row>,
    /// Slices by name: groups of their labels.
    pub labels: LabelGroups,
    /// By thread: the first thread with the same name.
    pub namesakes: Vec<u32>,
    pub group_count: usize,
    pub limits: Option<Limits>,
    pub kinds: SliceKinds,
    pub wanted: WantedKinds,
    shared: Option<SharedTracks>,
    seen: Seen,
}

/// The kinds of slices that are in groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedKinds {
    All,
    /// The kind with this number; `None`: the trace has no slices of the kind.
    One(Option<u32>),
}

/// The threads and CPUs whose runs and states count.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    threads: Vec<Choice>,
    cpus: Vec<Choice>,
    joined: Joined,
}

/// Whether a thread or a CPU is in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Absent,
    Chosen,
    /// Hidden: nothing on it counts in any lane.
    Hidden,
}

/// How the choices of threads and of CPUs are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    /// A run counts if its thread or its CPU is chosen.
    Any,
    /// A run counts if its thread and its CPU are chosen.
    All,
}

impl Limits {
    /// Returns the limits of an area; `None` if all runs and states count.
    fn of(trace: &Trace, area: &Area) -> Option<Limits> {
        if area.lanes == Lanes::All && area.hidden == Hidden::default() {
            return None;
        }
        let mut limits = Limits {
            threads: vec![Choice::Absent; trace.threads.len()],
            cpus: vec![Choice::Absent; trace.cpus.len()],
            joined: Joined::Any,
        };
        match &area.lanes {
            Lanes::All => {
                limits.threads.fill(Choice::Chosen);
                limits.cpus.fill(Choice::Chosen);
            }
            Lanes::Of(lanes) => {
                for lane in lanes {
                    match *lane {
                        Lane::States(thread) => limits.set(&[thread], &[], Choice::Chosen),
                        Lane::Runs(cpu) => limits.set(&[], &[cpu], Choice::Chosen),
                        Lane::Track(_) | Lane::OnCpu(_) | Lane::Counter(_) | Lane::AsyncOf(_) => {}
                    }
                }
            }
            Lanes::Both { threads, cpus } => {
                limits.joined = Joined::All;
                limits.set(threads, cpus, Choice::Chosen);
            }
        }
        let Hidden { threads, cpus } = &area.hidden;
        limits.set(threads, cpus, Choice::Hidden);
        Some(limits)
    }

    fn set(&mut self, threads: &[ThreadId], cpus: &[CpuId], choice: Choice) {
        for thread in threads {
            if let Some(entry) = self.threads.get_mut(thread.0 as usize) {
                *entry = choice;
            }
        }
        for cpu in cpus {
            if let Some(entry) = self.cpus.get_mut(cpu.0 as usize) {
                *entry = choice;
            }
        }
    }

    #[inline]
    fn thread(&self, id: ThreadId) -> Choice {
        let choice = self.threads.get(id.0 as usize).copied();
        choice.unwrap_or(Choice::Absent)
    }

    /// Returns whether the runs of a thread on a CPU count.
    #[inline]
    pub(crate) fn has_run(&self, thread: ThreadId, cpu: CpuId) -> bool {
        let cpu = self.cpus.get(cpu.0 as usize).copied();
        let both = [self.thread(thread), cpu.unwrap_or(Choice::Absent)];
        match self.joined {
            Joined::All => both == [Choice::Chosen; 2],
            Joined::Any => both.contains(&Choice::Chosen) && !both.contains(&Choice::Hidden),
        }
    }

    /// Returns whether a state of a thread counts: all states of a chosen thread, and where CPUs are chosen, the state
    /// "running" there. `running_on` is `None` for other states.
    #[inline]
    pub(crate) fn has_state(&self, thread: ThreadId, running_on: Option<CpuId>) -> bool {
        (self.joined == Joined::Any && self.thread(thread) == Choice::Chosen)
            || running_on.is_some_and(|cpu| self.has_run(thread, cpu))
    }
}

/// A shape with its trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub trace: &'a Trace,
    pub shape: &'a Shape,
}

/// An interval of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// Its number in its table.
    pub row: u32,
    /// The group in which it counts.
    pub group: Option<u32>,
    /// How long it counts.
    pub length: Length,
    /// The slice around it.
    pub parent: Maybe<u32>,
}

/// A row of intervals.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub range: Range<u32>,
    /// CPU of runs, thread of states, track of slices.
    pub owner: u32,
    /// The row below it, whose slices may be its slices' children.
    pub below: Option<Range<u32>>,
}

impl Shape {
    pub(super) fn new(trace: &Trace, area: &Area, what: What, by: GroupBy) -> Shape {
        let lanes = &area.lanes;
        let kinds = match what {
            What::Slices => SliceKinds::new(trace),
            What::Runs | What::States => SliceKinds::default(),
        };
        let wanted = match area.kind.filter(|_| what == What::Slices) {
            Some(kind) => WantedKinds::One(kinds.number_of(kind)),
            None => WantedKinds::All,
        };
        let labels = match (what, by) {
            (What::Slices, GroupBy::Name) => LabelGroups::of(trace),
            _ => LabelGroups::default(),
        };
        let group_count = match (what, by) {
            (What::Slices, GroupBy::Name) => labels.firsts.len() as u32,
            (What::States, GroupBy::Name) => STATES,
            (What::States, GroupBy::Thread | GroupBy::ThreadName) => {
                trace.threads.len() as u32 * STATES
            }
            (What::States, GroupBy::Process) => (trace.processes.len() as u32 + 1) * STATES,
            (_, GroupBy::Name | GroupBy::Thread | GroupBy::ThreadName) => {
                trace.threads.len() as u32 + 1
            }
            (_, GroupBy::Process) => trace.processes.len() as u32 + 1,
            (_, GroupBy::Cpu) => trace.cpus.len() as u32,
        };
        // Each kind of slices has groups of its own.
        let group_count = group_count as usize * kinds.present().len().max(1);
        let shared = match (what, lanes) {
            (What::Slices, Lanes::Of(lanes)) => Some(SharedTracks::of(trace, lanes)),
            _ => None,
        };
        let shared = shared.filter(|shared| !shared.tracks.is_empty());
        Shape {
            what,
            by,
            rows: rows_of(trace, lanes, what, shared.as_ref()),
            shared,
            labels,
            namesakes: match by {
                GroupBy::ThreadName => namesakes(trace),
                _ => Vec::new(),
            },
            group_count,
            limits: match what {
                What::Slices => None,
                What::Runs | What::States => Limits::of(trace, area),
            },
            kinds,
            wanted,
            seen: Seen::new(trace),
        }
    }
}

impl Source<'_> {
    #[inline]
    pub(crate) fn start(&self, row: u32) -> i64 {
        match self.shape.what {
            What::Slices => self.trace.slices.starts.at(row as usize),
            What::Runs => self.trace.runs.starts[row as usize],
            What::States => self.trace.states.starts[row as usize],
        }
    }

    /// Returns the interval's end, at most the trace's.
    #[inline]
    pub(super) fn end(&self, row: u32) -> i64 {
        let end = match self.shape.what {
            What::Slices => self.trace.slices.end(row as usize),
            What::Runs => self.trace.runs.ends[row as usize],
            What::States => self.trace.states.ends[row as usize],
        };
        end.at_most(self.trace.span.end.0)
    }

    /// Returns the interval's drawn length in ns; if it ended, that is its duration.
    #[inline]
    fn length(&self, row: u32) -> i64 {
        let measured = match self.shape.what {
            What::Slices => self.trace.slices.measured(row as usize),
            What::Runs | What::States => None,
        };
        measured.unwrap_or_else(|| self.end(row).saturating_sub(self.start(row)).max(0))
    }

    /// Returns whether the interval's end was not seen, or events in which it may have ended were lost.
    #[inline]
    pub(crate) fn is_unfinished(&self, row: u32) -> bool {
        let trace = self.trace;
        let row = row as usize;
        match self.shape.what {
            What::Slices => trace.slices.is_unfinished(row),
            What::Runs => trace.runs.is_open(row),
            What::States => trace.states.is_uncertain(row),
        }
    }

    /// Returns the time until which an unfinished run or state certainly lasted.
    fn open_until(&self, row: u32) -> i64 {
        let (trace, seen) = (self.trace, &self.shape.seen);
        let drawn = Timestamp(self.end(row));
        let until = match self.shape.what {
            What::Runs => seen.run_until(trace, RunId(row), drawn),
            _ => seen.state_until(trace, StateId(row), drawn),
        };
        until.0
    }

    /// Returns the interval's duration, or the time that it certainly lasted.
    #[inline]
    pub(crate) fn measure(&self, row: u32) -> Length {
        match (self.is_unfinished(row), self.shape.what) {
            (false, _) => Length::Known(self.length(row)),
            (true, What::Slices) => {
                Length::AtLeast(self.shape.seen.length(self.trace, SliceId(row)))
            }
            (true, What::Runs | What::States) => {
                Length::AtLeast(self.open_until(row).saturating_sub(self.start(row)))
            }
        }
    }

    /// Returns the part of a run or state that is inside of `span`.
    #[inline]
    pub(crate) fn inside(&self, row: u32, span: TimeSpan) -> Length {
        let part = |end: i64| {
            let start = self.start(row).max(span.start.0);
            end.min(span.end.0).saturating_sub(start).max(0)
        };
        match self.is_unfinished(row) {
            true => Length::AtLeast(part(self.open_until(row))),
            false => Length::Known(part(self.end(row))),
        }
    }

    /// Calls `visit` for each interval of `rows`, which are in one row of `owner`. Of runs and states, only the part inside
    /// of `span` counts.
    #[inline]
    pub(super) fn each(
        &self,
        owner: u32,
        rows: Range<u32>,
        span: TimeSpan,
        mut visit: impl FnMut(Interval),
    ) {
        if self.shape.what != What::Slices {
            return rows.for_each(|row| {
                visit(Interval {
                    row,
                    group: self.group(owner, row),
                    length: self.inside(row, span),
                    parent: Maybe::NONE,
                });
            });
        }
        let trace_end = self.trace.span.end.0;
        for slice in self.trace.slices.walk(rows) {
            let drawn = || slice.end.at_most(trace_end).saturating_sub(slice.start);
            visit(Interval {
                row: slice.row,
                group: self.group_of_slice(owner, slice.row, slice.label),
                length: match slice.is_unfinished() {
                    true => {
                        Length::AtLeast((self.shape.seen).length(self.trace, SliceId(slice.row)))
                    }
                    false => Length::Known(slice.measured.unwrap_or_else(|| drawn().max(0))),
                },
                parent: slice.parent,
            });
        }
    }

    /// Returns a function from the slice around a slice of `owner` (a track) to its group, from whose own time the nested
    /// slice is subtracted; `None` if the outer slice is in no sum.
    pub(super) fn arounds(&self, owner: u32) -> impl FnMut(Maybe<u32>) -> Option<u32> {
        // Neighbours are mostly in the same slice.
        let mut last = (Maybe::NONE, None);
        move |parent| {
            if parent != last.0 {
                let group = parent.get().and_then(|parent| self.around(owner, parent));
                last = (parent, group);
            }
            last.1
        }
    }

    /// Returns the group of a slice that is around others; `None` if it is in no sum.
    fn around(&self, owner: u32, parent: u32) -> Option<u32> {
        if self.is_unfinished(parent) {
            return None;
        }
        let shared = self.shape.shared.as_ref();
        let is_counted = shared.is_none_or(|it| it.has(self.trace, owner, parent));
        self.group(owner, parent).filter(|_| is_counted)
    }

    /// Returns how much of the time of an interval, `ns`, it takes from the own time of the slice around it.
    #[inline]
    pub(crate) fn taken(&self, row: u32, ns: i64) -> i64 {
        match self.shape.what {
            What::Slices => self.trace.slices.taken(row as usize, ns, TimeSpan::ALL),
            What::Runs | What::States => ns,
        }
    }

    /// Returns the row of the slice that contains slice `row`; `None` for runs and states, and for an outermost slice.
    #[inline]
    pub(crate) fn parent(&self, row: u32) -> Option<u32> {
        match self.shape.what {
            What::Slices => self.trace.slices.parent(row as usize).map(|id| id.0),
            What::Runs | What::States => None,
        }
    }

    /// Returns the intervals of `row` that overlap `span`.
    pub(super) fn overlapping(&self, row: &Row, span: TimeSpan) -> Range<u32> {
        match self.shape.what {
            What::Slices => {
                let row = crate::trace::slices::SliceRow {
                    track: crate::trace::TrackId(row.owner),
                    row: 0,
                    slices: row.range.clone(),
                };
                self.trace.slices.overlapping(&row, span)
            }
            What::Runs => self.trace.runs.overlapping(row.range.clone(), span),
            What::States => {
                // A zombie lasts for ever: a thread that died before the span is not in it.
                let over = self.trace.over_at(ThreadId(row.owner));
                match over.is_some_and(|over| over <= span.start) {
                    true => row.range.start..row.range.start,
                    false => self.trace.states.overlapping(row.range.clone(), span),
                }
            }
        }
    }

    /// Returns whether nothing of the trace is outside of `span`.
    pub(super) fn is_whole(&self, span: TimeSpan) -> bool {
        let all = self.trace.span;
        span.start <= all.start && all.end <= span.end
    }

    /// Adds to each group the time that is outside of `span`: of the intervals of a row that are `inside`, only the
    /// first and the last reach out of the span.
    pub(crate) fn cut_off(
        &self,
        owner: u32,
        inside: &Range<u32>,
        span: TimeSpan,
        cut: &mut FxHashMap<u32, CutOff>,
    ) {
        let mut edges = vec![inside.start, inside.end.saturating_sub(1)];
        edges.dedup();
        for at in edges.into_iter().filter(|at| inside.contains(at)) {
            if self.is_unfinished(at) {
                if let Some(group) = self.group(owner, at) {
                    let certain = self.measure(at).certain();
                    let known = TimeSpan {
                        start: Timestamp(self.start(at)),
                        end: Timestamp(self.start(at).saturating_add(certain)),
                    };
                    let outside = certain - known.intersection(span).duration().0;
                    cut.entry(group).or_default().of_unfinished += i128::from(outside);
                }
                continue;
            }
            let (start, end) = (self.start(at), self.end(at));
            let before = span.start.0.min(end).saturating_sub(start).max(0);
            let after = end.saturating_sub(span.end.0.max(start)).max(0);
            let mut outside = before.saturating_add(after);
            if self.shape.what == What::Slices {
                let whole = TimeSpan {
                    start: Timestamp(start),
                    end: Timestamp(end),
                };
                let slices = &self.trace.slices;
                outside = slices.part_of_duration(at as usize, whole, outside);
            }
            if let Some(group) = self.group(owner, at) {
                cut.entry(group).or_default().of_finished += i128::from(outside);
            }
        }
    }

    /// Calls `found` with (track, parent, duration in ns) for each child outside of the area whose parent is one of its
    /// slices. Slices that reach out of the span have such children, and asynchronous slices whose children other threads
    /// began.
    pub(crate) fn children_outside(&self, span: TimeSpan, mut found: impl FnMut(u32, u32, i64)) {
        if self.shape.what != What::Slices {
            return;
        }
        let foreign = self.shape.shared.iter().flat_map(|it| it.foreign_in(span));
        for it in foreign.filter(|it| !self.is_unfinished(it.parent)) {
            if self.end(it.slice) > span.start.0 {
                let taken = self.taken(it.slice, self.measure(it.slice).certain());
                found(it.track.0, it.parent, taken);
            }
        }
        if self.is_whole(span) {
            return;
        }
        for row in &self.shape.rows {
            if row.below.is_none() && self.trace.slices.beside.has_no_far_children() {
                continue;
            }
            let inside = self.overlapping(row, span);
            if inside.is_empty() {
                continue;
            }
            let mut edges = vec![inside.start, inside.end - 1];
            edges.dedup();
            for parent in edges {
                let is_inside =
                    self.start(parent) >= span.start.0 && self.end(parent) <= span.end.0;
                if is_inside || self.is_unfinished(parent) {
                    continue;
                }
                let of_row = |slices: Range<u32>| crate::trace::slices::SliceRow {
                    track: crate::trace::TrackId(row.owner),
                    row: 0,
                    slices,
                };
                let whole = TimeSpan::new(
                    crate::base::Timestamp(self.start(parent)),
                    crate::base::Timestamp(self.end(parent)),
                );
                let mut add = |child: u32| {
                    let taken = self.taken(child, self.measure(child).certain());
                    found(row.owner, parent, taken);
                };
                if let Some(below) = &row.below {
                    let below = of_row(below.clone());
                    let children = self.trace.slices.overlapping(&below, whole);
                    let counted = self.trace.slices.overlapping(&below, span);
                    let is_child = |child: &u32| self.parent(*child) == Some(parent);
                    let children = children.filter(|child| !counted.contains(child));
                    children.filter(is_child).for_each(&mut add);
                }
                for child in self.trace.slices.beside.far_children(parent) {
                    let own = of_row(child..child + 1);
                    if self.trace.slices.overlapping(&own, span).is_empty() {
                        add(child);
                    }
                }
            }
        }
    }
}

/// Asynchronous tracks of which only the slices that some threads began are chosen.
#[derive(Clone, Debug)]
struct SharedTracks {
    begun_by: AsyncsOf,
    /// Sorted.
    tracks: Vec<TrackId>,
    /// Sorted by start.
    foreign: Vec<Foreign>,
}

/// A slice inside of a chosen one, begun by a thread that is not chosen.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    track: TrackId,
    slice: u32,
    parent: u32,
    /// Its start in ns.
    start: i64,
    /// The latest end of the slices up to this one, in ns.
    latest_end: i64,
}

impl SharedTracks {
    fn of(trace: &Trace, lanes: &[Lane]) -> SharedTracks {
        let begun_by = AsyncsOf::new(lanes);
        let tracks = begun_by.tracks(trace, &whole_tracks(lanes));
        let is_own = |slice: u32| begun_by.has(trace, slice);
        let mut foreign = Vec::new();
        for &id in &tracks {
            let track = trace.tracks.get(id.0 as usize);
            let rows = track.map_or(&[][..], |track| trace.slices.rows_of(track));
            for slice in rows.iter().flat_map(|row| row.slices.clone()) {
                let parent = trace.slices.parent(slice as usize).map(|id| id.0);
                let parent = parent.filter(|&parent| is_own(parent) && !is_own(slice));
                foreign.extend(parent.map(|parent| Foreign {
                    track: id,
                    slice,
                    parent,
                    start: trace.slices.starts.at(slice as usize),
                    latest_end: trace.slices.end(slice as usize).at_most(trace.span.end.0),
                }));
            }
        }
        foreign.sort_by_key(|it| it.start);
        let mut latest = i64::MIN;
        for it in &mut foreign {
            latest = latest.max(it.latest_end);
            it.latest_end = latest;
        }
        SharedTracks {
            begun_by,
            tracks,
            foreign,
        }
    }

    /// Returns whether a slice of a track is chosen, or the track is none of these.
    fn has(&self, trace: &Trace, track: u32, slice: u32) -> bool {
        let is_shared = self.tracks.binary_search(&TrackId(track)).is_ok();
        !is_shared || self.begun_by.has(trace, slice)
    }

    /// Returns the slices of other threads that may overlap a span.
    fn foreign_in(&self, span: TimeSpan) -> &[Foreign] {
        let first = (self.foreign).partition_point(|it| it.latest_end <= span.start.0);
        let end = self.foreign.partition_point(|it| it.start < span.end.0);
        self.foreign.get(first..end).unwrap_or_default()
    }
}

/// Returns the asynchronous slices that chosen threads began, of tracks that are not chosen themselves: a row for each
/// stretch of them.
fn async_rows<R: Iterator<Item = Row>>(
    trace: &Trace,
    shared: &SharedTracks,
    rows_of_track: impl Fn(u32) -> R,
) -> Vec<Row> {
    let chosen = &shared.begun_by;
    let mut found = Vec::new();
    for track in &shared.tracks {
        for row in rows_of_track(track.0) {
            let mut slices = row.range.clone().peekable();
            while let Some(first) = slices.find(|&slice| chosen.has(trace, slice)) {
                let mut end = first + 1;
                while slices.next_if(|&slice| chosen.has(trace, slice)).is_some() {
                    end += 1;
                }
                found.push(Row {
                    range: first..end,
                    ..row.clone()
                });
            }
        }
    }
    found
}

fn rows_of(trace: &Trace, lanes: &Lanes, what: What, shared: Option<&SharedTracks>) -> Vec<Row> {
    let plain = |range: Range<u32>, owner: u32| Row {
        range,
        owner,
        below: None,
    };
    let track_rows = |track: u32| {
        let rows = trace
            .tracks
            .get(track as usize)
            .map(|track| track.rows.clone());
        let rows = rows.unwrap_or(0..0);
        let rows = trace
            .slices
            .rows
            .get(rows.start as usize..rows.end as usize);
        let rows = rows.unwrap_or(&[]);
        rows.iter()
            .zip(1..)
            .map(move |(row, next): (_, usize)| Row {
                range: row.slices.clone(),
                owner: track,
                below: rows.get(next).map(|row| row.slices.clone()),
            })
    };
    let all_runs = || {
        let cpus = 0..trace.cpus.len() as u32;
        cpus.map(|cpu| plain(trace.runs.on(CpuId(cpu)), cpu))
            .collect()
    };
    let all_states = || {
        let threads = 0..trace.threads.len() as u32;
        threads
            .map(|id| plain(trace.states.of(ThreadId(id)), id))
            .collect()
    };
    let is_states = |lane: &Lane| matches!(lane, Lane::States(_));
    let is_runs = |lane: &Lane| matches!(lane, Lane::Runs(_));
    let mut found: Vec<Row> = match (what, lanes) {
        (What::Slices, Lanes::All) => (0..trace.tracks.len() as u32)
            .flat_map(track_rows)
            .collect(),
        (What::Runs, Lanes::All) => all_runs(),
        (What::States, Lanes::All) => all_states(),
        // A chosen thread runs on any CPU, and a chosen CPU runs any thread, so all rows are read; `Limits` chooses
        // among them.
        (What::Runs, Lanes::Of(lanes)) if lanes.iter().any(is_states) => all_runs(),
        (What::States, Lanes::Of(lanes)) if lanes.iter().any(is_runs) => all_states(),
        (_, Lanes::Of(lanes)) => {
            let mut lanes = lanes.clone();
            lanes.sort_unstable();
            lanes.dedup();
            let rows = lanes.iter().flat_map(|lane| match (*lane, what) {
                (Lane::Track(id), What::Slices) => track_rows(id.0).collect(),
                (Lane::Runs(id), What::Runs) => vec![plain(trace.runs.on(id), id.0)],
                (Lane::States(id), What::States) => vec![plain(trace.states.of(id), id.0)],
                _ => Vec::new(),
            });
            let mut rows: Vec<Row> = rows.collect();
            if let Some(shared) = shared {
                rows.extend(async_rows(trace, shared, track_rows));
            }
            rows
        }
        (What::Slices, Lanes::Both { .. }) => Vec::new(),
        (What::Runs, Lanes::Both { cpus, .. }) => cpus
            .iter()
            .map(|cpu| plain(trace.runs.on(*cpu), cpu.0))
            .collect(),
        (What::States, Lanes::Both { threads, .. }) => threads
            .iter()
            .map(|thread| plain(trace.states.of(*thread), thread.0))
            .collect(),
    };
    found.retain(|row| !row.range.is_empty());
    found
}
