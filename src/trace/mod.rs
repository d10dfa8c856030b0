//! The immutable [`Trace`]: what `build` made of a file's lanes, one column table a file.
//!
//! An id is our row number and valid in one `Trace` only. Times are integer nanoseconds on the trace's own
//! clock. Rows that a frame walks (slices, runs, states, samples) lie sorted by time within their track,
//! CPU, thread or series, so that every question is a binary search and a walk.

pub mod counters;
pub mod entities;
pub mod events;
pub mod file_history;
mod file_holders;
mod file_names;
pub mod files;
pub mod flows;
pub mod gaps;
pub mod instants;
pub mod logs;
pub mod packed;
pub mod plots;
pub mod runs;
pub mod seen;
pub mod shared;
pub mod slice_ends;
pub mod slice_kinds;
pub mod slices;
pub mod sources;
pub mod states;
pub mod tracks;

pub use counters::{CounterTrack, CounterTrackId, Counters};
pub use entities::{Cpu, CpuId, Process, ProcessId, ProgramImage, Thread, ThreadId, ThreadMap};
pub use events::{EventCursor, EventId, Events, Origin, Segment};
pub use file_history::{FileHistory, FileId};
pub use files::{FileUse, Files};
pub use flows::{Flow, FlowId, Flows};
pub use gaps::GapId;
pub use instants::{InstantId, Instants};
pub use logs::{Log, Logs};
pub use plots::Plot;
pub use runs::{Run, RunId, Runs};
pub use seen::{Length, Seen};
pub use shared::Shared;
pub use slice_kinds::{SliceKind, SliceKinds};
pub use slices::{LabelId, Slice, SliceId, SliceLabel, Slices};
pub use sources::{Source, SourceId};
pub use states::{State, StateId, StateNotes, States, ThreadState};
pub use tracks::{Track, TrackId, TrackKind};

use crate::base::{Diagnostics, StringId, Strings, TimeSpan, Timestamp};
use crate::event::{EventKind, Gap, KindId, TraceInfo};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Everything that was read of one file, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What the file says about itself.
    pub info: TraceInfo,
    /// From the first event to just past the last.
    pub span: TimeSpan,
    /// All names and texts.
    pub strings: Shared<Strings>,
    /// Kinds of events, by [`KindId`].
    pub kinds: Vec<EventKind>,
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
    /// What the user had plotted: the last counter tracks are theirs.
    pub plots: Vec<Plot>,
    /// Flows between slices.
    pub flows: Shared<Flows>,
    /// Who ran on which CPU.
    pub runs: Shared<Runs>,
    /// What each thread was doing.
    pub states: Shared<States>,
    /// Log messages.
    pub logs: Shared<Logs>,
    /// What was done to files.
    pub files: Shared<Files>,
    /// Where the recorder lost events; in a joined trace file by file, within a file by start.
    pub gaps: Vec<Gap>,
    /// The files that share this trace's axis; empty where there is one file only.
    pub sources: Vec<Source>,
    /// What was odd.
    pub diagnostics: Diagnostics,
}

impl Trace {
    /// The text of a string.
    #[must_use]
    pub fn text(&self, id: StringId) -> std::borrow::Cow<'_, str> {
        self.strings.text(id)
    }

    /// The name of a kind of event; empty if there is no such kind.
    #[must_use]
    pub fn kind_name(&self, kind: KindId) -> std::borrow::Cow<'_, str> {
        self.kinds
            .get(usize::from(kind.0))
            .map_or_else(Default::default, |kind| self.text(kind.name))
    }

    /// A thread, the idle one if there is no such id.
    #[must_use]
    pub fn thread(&self, id: ThreadId) -> &Thread {
        static NOBODY: Thread = Thread::nobody();
        self.threads
            .get(id.0 as usize)
            .or_else(|| self.threads.first())
            .unwrap_or(&NOBODY)
    }

    /// When a thread was over: when it died, or where what is known of it shows it alive after that, when it did last
    /// what is known. `None` if it is not known to have died.
    #[must_use]
    pub fn over_at(&self, id: ThreadId) -> Option<Timestamp> {
        let died = self.thread(id).end?;
        let last_state = self.states.of(id).next_back();
        let state = last_state.and_then(|row| self.states.starts.get(row as usize));
        let last_run = self.runs.of(id).last();
        let run = last_run.and_then(|&run| self.runs.ends.get(run as usize));
        let known = state.into_iter().chain(run).copied();
        let known = known.filter(|&time| time != i64::MAX);
        Some(known.map(Timestamp).fold(died, Timestamp::max))
    }

    /// The process of a thread, if it has one.
    #[must_use]
    pub fn process_of(&self, id: ThreadId) -> Option<&Process> {
        self.processes.get(self.thread(id).process?.0 as usize)
    }

    /// A thread's name, or `tid N` where it has none; `<...>` if nobody knows whose thread it was.
    #[must_use]
    pub fn thread_name(&self, id: ThreadId) -> String {
        if id == ThreadId::NONE {
            return "<...>".to_owned();
        }
        let thread = self.thread(id);
        if thread.name == StringId::EMPTY {
            format!("tid {}", thread.tid)
        } else {
            self.text(thread.name).into_owned()
        }
    }

    /// A thread's name and number, for lists in which several have one name.
    #[must_use]
    pub fn thread_title(&self, id: ThreadId) -> String {
        let name = self.thread_name(id);
        match self.thread(id) {
            _ if id == ThreadId::IDLE => "idle".to_owned(),
            thread if id == ThreadId::NONE || thread.name == StringId::EMPTY => name,
            thread => format!("{name} ({})", thread.tid),
        }
    }

    /// The track of that kind, if there is one (the first of several asynchronous ones).
    #[must_use]
    pub fn track_of(&self, kind: TrackKind) -> Option<TrackId> {
        let at = self.tracks.partition_point(|track| track.kind < kind);
        self.tracks
            .get(at)
            .filter(|track| track.kind == kind)
            .map(|_| TrackId(at as u32))
    }

    /// The CPU of an event: the one that it names, else where its thread ran then; `None` if neither is known. Panics
    /// if there is no such event.
    #[must_use]
    pub fn cpu_of(&self, id: EventId) -> Option<CpuId> {
        let event = self.events.get(id);
        let cpu = event.cpu.map(CpuId);
        cpu.or_else(|| self.runs.cpu_at(self.events.thread(id), event.row.time))
    }

    /// The innermost slice of a thread around `time`: one that begins then is around it, one that ends then is
    /// not. Of several that overlap without one holding the other, it is the one that began last.
    #[must_use]
    pub fn innermost_slice(&self, thread: ThreadId, time: Timestamp) -> Option<SliceId> {
        let track = self
            .tracks
            .get(self.track_of(TrackKind::Thread(thread))?.0 as usize)?;
        self.slices.rows[track.rows.start as usize..track.rows.end as usize]
            .iter()
            .filter_map(|row| {
                let slices = row.slices.start as usize..row.slices.end as usize;
                let starts = &self.slices.starts;
                // The last that begins at or before `time`; of several at once, the one that lasts.
                let after = starts.partition_point(slices, |start| start <= time.0);
                let index = row.slices.start + after.checked_sub(1)? as u32;
                (self.slices.end(index as usize) > time.0).then_some(SliceId(index))
            })
            .max_by_key(|id| (self.slices.starts.at(id.0 as usize), id.0))
    }

    /// The file that a row of a table lies in: `range` is the table's part of a [`Source`]. `None` where there
    /// is one file only.
    #[must_use]
    pub fn source_of(&self, row: u32, range: impl Fn(&Source) -> &Range<u32>) -> Option<SourceId> {
        let at = self
            .sources
            .iter()
            .position(|source| range(source).contains(&row))?;
        Some(SourceId(at as u32))
    }

    /// When a run ended; `None` if it lasted to the end of its file, also where other files go on behind that.
    #[must_use]
    pub fn run_end(&self, run: &Run) -> Option<Timestamp> {
        let file = self.file_span(run.cpu.0, |source| &source.cpus);
        run.end
            .filter(|&end| self.sources.is_empty() || end != file.end)
    }

    /// The same of a state.
    #[must_use]
    pub fn state_end(&self, state: &State) -> Option<Timestamp> {
        let file = self.file_span(state.thread.0, |source| &source.threads);
        (state.end).filter(|&end| self.sources.is_empty() || end != file.end)
    }

    /// The time of the file that a row of a table lies in, on the axis.
    #[must_use]
    pub fn file_span(&self, row: u32, range: impl Fn(&Source) -> &Range<u32>) -> TimeSpan {
        self.source_of(row, range)
            .and_then(|id| self.sources.get(id.0 as usize))
            .map_or(self.span, Source::span)
    }

    /// First nanosecond after a slice; one that never ended lasts to the end of its file. Panics if there is no
    /// such slice, as slices do.
    #[must_use]
    pub fn slice_end(&self, id: SliceId) -> Timestamp {
        Timestamp(self.slices.end(id.0 as usize).min(self.span.end.0))
    }

    /// The holes in the recordings of the CPUs, by `CpuId`; those that are of no CPU with a row are left out.
    #[must_use]
    pub fn gaps_by_cpu(&self) -> Vec<Vec<Gap>> {
        let mut lists = vec![Vec::new(); self.cpus.len()];
        for (id, gap) in (0..).map(GapId).zip(&self.gaps) {
            let cpu = self.gap_cpu(id);
            if let Some(list) = cpu.and_then(|cpu| lists.get_mut(cpu.0 as usize)) {
                list.push(*gap);
            }
        }
        lists
    }

    /// How many events were lost: the largest number that the file proves. See [`Trace::are_more_lost`].
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        let lost = self.losses_of_sources();
        lost.fold(0, |sum, (count, _)| sum.saturating_add(count))
    }

    /// Whether [`Trace::lost_events`] is a bound: the file says that events were lost somewhere, but not how many.
    #[must_use]
    pub fn are_more_lost(&self) -> bool {
        self.losses_of_sources().any(|(_, is_bound)| is_bound)
    }

    /// How many events were lost, in words: `120`, `at least 3`.
    #[must_use]
    pub fn lost_text(&self) -> String {
        let count =
            crate::base::time::grouped(i64::try_from(self.lost_events()).unwrap_or(i64::MAX));
        match self.are_more_lost() {
            true => format!("at least {count}"),
            false => count,
        }
    }

    fn losses_of_sources(&self) -> impl Iterator<Item = (u64, bool)> {
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

    /// Heap bytes held (mapped file not counted).
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
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
            + (self.tracks.capacity() * size_of::<Track>()) as u64
    }
}

/// How many events one file lost at least, and whether that is only a bound.
fn lost_of(gaps: &[Gap], info: &TraceInfo) -> (u64, bool) {
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
    // A number that is of no CPU in particular is of all of them, those without a number of their own too.
    let has_sum_of_all = sums.get(&None).is_some_and(|sum| sum.counted > 0);
    let mut lost = (0_u64, false);
    for (cpu, sum) in sums {
        let is_covered = sum.by_recorder > sum.counted || (has_sum_of_all && cpu.is_some());
        let uncounted = if is_covered { 0 } else { sum.uncounted };
        // Where events were lost it was one at least.
        let count = sum.counted.saturating_add(uncounted).max(sum.by_recorder);
        lost.0 = lost.0.saturating_add(count);
        lost.1 |= uncounted > 0;
    }
    lost
}
