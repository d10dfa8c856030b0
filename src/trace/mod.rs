//! The immutable [`Trace`], which `assemble` makes of a file's lanes: tables of columns, one table per file of this
//! folder.
//!
//! An id is a row number and valid in one `Trace` only. Times are integer nanoseconds on the trace's own clock. Rows
//! that a frame reads (slices, runs, states, samples) are sorted by time within their track, CPU, thread or series, so
//! that every query is a binary search and an iteration.

mod beside;
mod compilations;
pub mod counters;
pub(crate) mod entities;
pub mod events;
pub mod files;
pub mod flows;
pub mod gaps;
pub mod instants;
pub mod logs;
mod overlap;
pub(crate) mod packed;
pub mod plots;
pub mod runs;
pub(crate) mod segments;
pub(crate) mod shared;
pub(crate) mod slice_ends;
mod slice_walk;
pub mod slices;
pub mod sources;
pub mod states;
pub mod tracks;

pub use counters::{CounterTrack, CounterTrackId, Counters};
pub use entities::{Cpu, CpuId, Process, ProcessId, SeenTimes, Thread, ThreadId};
pub(crate) use entities::{ProgramImage, ThreadMap};
pub(crate) use events::EventCursor;
pub use events::Events;
pub(crate) use files::FileUse;
pub use files::Files;
pub(crate) use flows::Flows;
pub use flows::{Flow, FlowId};
pub use gaps::GapId;
pub(crate) use gaps::UnplacedLoss;
pub(crate) use instants::{InstantId, Instants};
pub(crate) use logs::{Log, Logs};
pub use plots::{Plot, PlotSource};
pub use runs::{Run, RunId, Runs};
pub use segments::EventId;
pub(crate) use segments::{Origin, Segment};
pub(crate) use shared::Shared;
pub(crate) use slices::{LabelId, SliceLabel};
pub use slices::{Slice, SliceId, Slices};
pub use sources::{Source, SourceId};
pub(crate) use states::StateNotes;
pub use states::{State, StateId, States, ThreadState};
pub use tracks::{Track, TrackId, TrackKind};

use crate::base::streaks::Streaks;
use crate::base::{Diagnostics, StringId, Strings, TimeSpan, Timestamp};
use crate::event::{EventKind, Gap, KindId, KindOrigin, TraceInfo};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// All contents of one file, or of several files on one axis.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The information that the file contains about itself.
    pub info: TraceInfo,
    /// From the first event to just after the last.
    pub span: TimeSpan,
    /// All names and texts of the tables.
    pub strings: Shared<Strings>,
    /// Kinds of events, by [`KindId`].
    pub kinds: Streaks<EventKind>,
    /// All raw events.
    pub events: Shared<Events>,
    /// CPUs in the order of their numbers.
    pub cpus: Vec<Cpu>,
    /// Threads; the first is always "idle".
    pub threads: Vec<Thread>,
    /// Processes.
    pub processes: Shared<Vec<Process>>,
    /// Tracks: of threads, of CPUs, of asynchronous groups.
    pub tracks: Vec<Track>,
    /// Slices on tracks.
    pub slices: Shared<Slices>,
    /// Points on tracks.
    pub instants: Shared<Instants>,
    /// Counter tracks and their samples.
    pub counters: Counters,
    /// The plots that the user made: the last counter tracks are theirs.
    #[serde(skip)]
    pub plots: Vec<Plot>,
    /// Flows between slices.
    pub flows: Shared<Flows>,
    /// Which thread ran on which CPU.
    pub runs: Shared<Runs>,
    /// The states of each thread.
    pub states: Shared<States>,
    /// Log messages.
    pub logs: Shared<Logs>,
    /// Operations on files.
    pub files: Shared<Files>,
    /// Where the recorder lost events; sorted by file, then start.
    pub gaps: Vec<Gap>,
    /// The files that share this trace's axis; empty where there is one file only.
    #[serde(skip)]
    pub sources: Vec<Source>,
    /// Diagnostics of reading and assembling.
    pub diagnostics: Diagnostics,
}

impl Trace {
    /// Returns the text of a string.
    #[must_use]
    pub fn text(&self, id: StringId) -> Cow<'_, str> {
        self.strings.text(id)
    }

    /// Returns system and name of the event that was recorded for events of a kind.
    #[must_use]
    pub(crate) fn recorded_as(&self, kind: &EventKind) -> (&[u8], &[u8]) {
        match kind.origin {
            KindOrigin::Mark => (b"ftrace", b"print"),
            _ => (
                self.strings.bytes(kind.category),
                self.strings.bytes(kind.name),
            ),
        }
    }

    /// Returns the environment of a process as `NAME=value` strings, sorted: the variables that the file contains.
    #[must_use]
    pub fn environment(&self, process: &Process) -> Vec<StringId> {
        let parts = process.environment.iter();
        let mut all: Vec<StringId> = parts.flat_map(|part| part.iter().copied()).collect();
        all.sort_unstable_by(|&a, &b| self.strings.bytes(a).cmp(self.strings.bytes(b)));
        all.dedup();
        all
    }

    /// Returns the name of a kind of event; empty if there is no such kind.
    #[must_use]
    pub fn kind_name(&self, kind: KindId) -> Cow<'_, str> {
        self.kinds
            .get(kind.index())
            .map_or_else(Default::default, |kind| self.text(kind.name))
    }

    /// Returns a thread; the idle one if there is no such id.
    #[must_use]
    pub fn thread(&self, id: impl Into<Option<ThreadId>>) -> &Thread {
        static NOBODY: Thread = Thread::nobody();
        let id = id.into();
        id.and_then(|id| self.threads.get(id.0 as usize))
            .or_else(|| self.threads.first())
            .unwrap_or(&NOBODY)
    }

    /// Returns when a thread ended: the time of its exit, or of its last run or state change if that is later. `None`
    /// if its exit is not known.
    #[must_use]
    pub(crate) fn over_at(&self, id: ThreadId) -> Option<Timestamp> {
        let died = self.thread(id).end?;
        let last_state = self.states.of(id).next_back();
        let state = last_state.and_then(|row| self.states.starts.get(row as usize));
        let last_run = self.runs.of(id).last();
        let run = last_run.and_then(|&run| self.runs.ends.get(run as usize));
        let run = run.and_then(|end| end.get());
        let known = state.copied().into_iter().chain(run);
        Some(known.map(Timestamp).fold(died, Timestamp::max))
    }

    /// Returns the process of a thread, if it has one.
    #[must_use]
    pub fn process_of(&self, id: impl Into<Option<ThreadId>>) -> Option<&Process> {
        let process = self.thread(id).process?;
        self.processes.get(process.0 as usize)
    }

    /// Returns a thread's name, or `tid N` if it has none; `<...>` for an unknown thread.
    #[must_use]
    pub fn thread_name(&self, id: impl Into<Option<ThreadId>>) -> Cow<'_, str> {
        let Some(id) = id.into() else {
            return "<...>".into();
        };
        let thread = self.thread(id);
        match thread.name {
            StringId::EMPTY if id == ThreadId::IDLE => "<idle>".into(),
            StringId::EMPTY => format!("tid {}", thread.tid).into(),
            name => self.text(name),
        }
    }

    /// Returns a thread's name and number, for lists in which several threads may have one name.
    #[must_use]
    pub(crate) fn thread_title(&self, id: impl Into<Option<ThreadId>>) -> String {
        let id = id.into();
        let name = self.thread_name(id);
        match id.map(|id| self.thread(id)) {
            _ if id == Some(ThreadId::IDLE) => "idle".to_owned(),
            None => name.into_owned(),
            Some(thread) if thread.name == StringId::EMPTY => name.into_owned(),
            Some(thread) => format!("{name} ({})", thread.tid),
        }
    }

    /// Returns a process's name and number; `pid N` if it has no name.
    #[must_use]
    pub(crate) fn process_title(&self, id: ProcessId) -> String {
        match self.processes.get(id.0 as usize) {
            None => String::new(),
            Some(process) if process.name == StringId::EMPTY => format!("pid {}", process.pid),
            Some(process) => format!("{} ({})", self.text(process.name), process.pid),
        }
    }

    /// Returns a CPU's name: `CPU 3`, with its file if there are several.
    #[must_use]
    pub(crate) fn cpu_title(&self, id: CpuId) -> String {
        let number = self.cpus.get(id.0 as usize).map_or(id.0, |cpu| cpu.number);
        let source = self.source_of(id.0, |source| &source.cpus);
        sources::title_of_cpu(
            number,
            source.and_then(|id| self.sources.get(id.0 as usize)),
        )
    }

    /// Returns the track of this kind, if there is one (the first of several asynchronous tracks).
    #[must_use]
    pub fn track_of(&self, kind: TrackKind) -> Option<TrackId> {
        tracks::of_kind(&self.tracks, kind)
    }

    /// Returns the asynchronous slice that a thread began at its own start; `None` if there is none, or the start is not
    /// known. Such a slice shows the whole thread: a target of a build on its job slot.
    #[must_use]
    pub(crate) fn life_slice_of(&self, thread: ThreadId) -> Option<SliceId> {
        /// Slices that start at one time in one row; all but the last have no length.
        const MOST_AT_ONCE: u32 = 16;
        let start = self.threads.get(thread.0 as usize)?.start?;
        let is_async = |track: &&Track| matches!(track.kind, TrackKind::Async(_));
        let rows = self.tracks.iter().filter(is_async);
        let mut rows = rows.flat_map(|track| track.rows.clone());
        let slices = &self.slices;
        rows.find_map(|row| {
            let row = slices.rows.get(row as usize)?;
            let first = slices.first_that(row, |at| slices.starts.at(at) >= start.0);
            let near = first..row.slices.end.min(first.saturating_add(MOST_AT_ONCE));
            let mut near = near.take_while(|&at| slices.starts.at(at as usize) == start.0);
            let begun_by = |at: u32| self.events.thread(slices.begin(at as usize));
            near.find(|&at| begun_by(at) == Some(thread)).map(SliceId)
        })
    }

    /// Returns the CPU of an event: its own, else the CPU of its thread's run at that time (or of the run nearest
    /// before, else the first); `None` if neither is known. Panics if there is no such event.
    #[must_use]
    pub fn cpu_of(&self, id: EventId) -> Option<CpuId> {
        let event = self.events.get(id);
        let cpu = event.cpu.map(CpuId);
        cpu.or_else(|| self.runs.cpu_at(self.events.thread(id), event.row.time))
    }

    /// Returns the innermost slice of a thread at `time`. A slice that starts at `time` counts, a slice that ends at
    /// `time` does not. If slices overlap without being nested, the one that started last is returned.
    #[must_use]
    pub(crate) fn innermost_slice(
        &self,
        thread: impl Into<Option<ThreadId>>,
        time: Timestamp,
    ) -> Option<SliceId> {
        let track = tracks::of_kind(&self.tracks, TrackKind::Thread(thread.into()?))?;
        let rows = &self.tracks.get(track.0 as usize)?.rows;
        self.slices.innermost(rows, time)
    }

    /// Returns the file that a row of a table belongs to. `range` returns the table's range in a [`Source`]; it must be
    /// a table in which the files' rows are adjacent and in order (not `loose_tracks`). `None` if the trace has one
    /// file only.
    #[must_use]
    pub(crate) fn source_of(
        &self,
        row: u32,
        range: impl Fn(&Source) -> &Range<u32>,
    ) -> Option<SourceId> {
        let at = self
            .sources
            .partition_point(|source| range(source).end <= row);
        let source = self.sources.get(at)?;
        range(source).contains(&row).then_some(SourceId(at as u32))
    }

    /// Returns the CPU with a number in a file (`None`: the trace is one file): each of several files has its own CPUs.
    #[must_use]
    pub(crate) fn cpu_numbered(&self, file: Option<SourceId>, number: u32) -> Option<CpuId> {
        let file = file.and_then(|file| self.sources.get(file.0 as usize));
        let cpus = file.map_or(0..self.cpus.len() as u32, |file| file.cpus.clone());
        let own = self.cpus.get(cpus.start as usize..cpus.end as usize)?;
        let at = own.binary_search_by_key(&number, |cpu| cpu.number).ok()?;
        Some(CpuId(cpus.start + at as u32))
    }

    /// Returns when a run ended; `None` if only a part of it is known: it lasted to the end of its file, or an export cut
    /// it.
    #[must_use]
    pub(crate) fn run_end(&self, run: &Run) -> Option<Timestamp> {
        run.end.filter(|_| !self.runs.is_partial(run.id.0 as usize))
    }

    /// Returns when a state ended; `None` if only a part of it is known, as for [`Trace::run_end`].
    #[must_use]
    pub(crate) fn state_end(&self, state: &State) -> Option<Timestamp> {
        (state.end).filter(|_| !self.states.is_partial(state.id.0 as usize))
    }

    /// Returns the span, on the axis, of the file that a row of a table belongs to. `range` is as for
    /// [`Trace::source_of`].
    #[must_use]
    pub fn file_span(&self, row: u32, range: impl Fn(&Source) -> &Range<u32>) -> TimeSpan {
        self.source_of(row, range)
            .and_then(|id| self.sources.get(id.0 as usize))
            .map_or(self.span, Source::span)
    }

    /// Returns the first nanosecond after a slice; a slice that never ended lasts to the end of its file. Panics if
    /// there is no such slice.
    #[must_use]
    pub fn slice_end(&self, id: SliceId) -> Timestamp {
        Timestamp(self.slices.end(id.0 as usize).at_most(self.span.end.0))
    }

    /// Returns the spans of the gaps of each CPU ([`Trace::gap_span`]), by `CpuId` and sorted by start; gaps of no CPU with
    /// a row are left out.
    #[must_use]
    pub fn gaps_by_cpu(&self) -> Vec<Vec<TimeSpan>> {
        let mut lists = vec![Vec::new(); self.cpus.len()];
        for id in (0..self.gaps.len() as u32).map(GapId) {
            let cpu = self.gap_cpu(id);
            let list = cpu.and_then(|cpu| lists.get_mut(cpu.0 as usize));
            if let (Some(list), Some(span)) = (list, self.gap_span(id)) {
                list.push(span);
            }
        }
        for list in &mut lists {
            list.sort_by_key(|span| (span.start, span.end));
        }
        lists
    }

    /// Returns how many events were lost: the largest number that the file proves. See [`Trace::are_more_lost`].
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        let lost = self.losses_of_sources();
        lost.fold(0, |sum, of| sum.saturating_add(of.count))
    }

    /// Returns whether [`Trace::lost_events`] is only a lower bound: the file shows that events were lost somewhere,
    /// but not how many.
    #[must_use]
    pub(crate) fn are_more_lost(&self) -> bool {
        self.losses_of_sources().any(|lost| lost.is_bound)
    }

    /// Returns how many events were lost, as text: `120`, `at least 3`.
    #[must_use]
    pub fn lost_text(&self) -> String {
        let count =
            crate::base::time::grouped(i64::try_from(self.lost_events()).unwrap_or(i64::MAX));
        match self.are_more_lost() {
            true => format!("at least {count}"),
            false => count,
        }
    }

    fn losses_of_sources(&self) -> impl Iterator<Item = LostEvents> {
        let whole = self
            .sources
            .is_empty()
            .then(|| (&self.gaps[..], &self.info));
        let of_source = |source: &'_ Source| {
            let range = source.gaps.start as usize..source.gaps.end as usize;
            lost_of(self.gaps.get(range).unwrap_or_default(), &source.info)
        };
        let whole = whole.into_iter().map(|(gaps, info)| lost_of(gaps, info));
        whole.chain(self.sources.iter().map(of_source))
    }

    /// Allocated heap memory in bytes (without the mapped file).
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.strings.memory_bytes()
            + self.events.memory_bytes()
            + self.slices.memory_bytes()
            + self.instants.memory_bytes()
            + self.counters.memory_bytes()
            + self.flows.memory_bytes()
            + self.runs.memory_bytes()
            + self.states.memory_bytes()
            + (self.threads.capacity() * size_of::<Thread>()) as u64
            + (self.processes.capacity() * size_of::<Process>()) as u64
            + (self.files.rows.capacity() * size_of::<FileUse>()) as u64
            + (self.files.writes.capacity() * size_of::<FileUse>()) as u64
            + (self.tracks.capacity() * size_of::<Track>()) as u64
    }
}

/// How many events one file lost.
#[derive(Default)]
struct LostEvents {
    count: u64,
    /// Whether more events may have been lost.
    is_bound: bool,
}

/// Returns how many events one file lost.
fn lost_of(gaps: &[Gap], info: &TraceInfo) -> LostEvents {
    #[derive(Default)]
    struct Sum {
        counted: u64,
        uncounted: u64,
        by_recorder: u64,
    }
    let mut sums: FxHashMap<Option<u32>, Sum> = FxHashMap::default();
    for gap in gaps {
        let sum = sums.entry(gap.cpu).or_default();
        match gap.lost {
            Some(count) => sum.counted = sum.counted.saturating_add(count),
            None => sum.uncounted += 1,
        }
    }
    for loss in &info.losses {
        let sum = sums.entry(Some(loss.cpu)).or_default();
        sum.by_recorder = sum.by_recorder.saturating_add(loss.total());
    }
    // A count without a CPU covers all CPUs, including CPUs whose gaps have no count.
    let has_sum_of_all = sums.get(&None).is_some_and(|sum| sum.counted > 0);
    let mut lost = LostEvents::default();
    for (cpu, sum) in sums {
        let is_covered = sum.by_recorder > sum.counted || (has_sum_of_all && cpu.is_some());
        let uncounted = if is_covered { 0 } else { sum.uncounted };
        // A gap without a count lost at least one event.
        let count = sum.counted.saturating_add(uncounted).max(sum.by_recorder);
        lost.count = lost.count.saturating_add(count);
        lost.is_bound |= uncounted > 0;
    }
    lost
}
