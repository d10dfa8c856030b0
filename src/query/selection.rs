//! The part of a trace to export: a time range, and optionally only some CPUs, processes, threads and tracks.
//!
//! An item is chosen if it belongs to any of the listed processes, threads, tracks, counters and CPU tracks. If one of
//! these lists is not empty, items that belong to none of them are left out, such as global counters, and CPUs that
//! `cpus` does not name. The track of a CPU shows all threads that run there, its interrupts and its counters. A chosen
//! thread includes the asynchronous slices that it began and their points, whatever their process, and the samples of
//! its process that it took. `cpus` leaves out everything that belongs to another CPU: see `on_cpus`.

use super::on_cpus::OnCpus;
use crate::base::{TimeSpan, Timestamp};
use crate::event::KindId;
use crate::trace::counters::CounterScope;
use crate::trace::logs::Log;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, ThreadId, Trace, Track, TrackId, TrackKind,
};

/// The exported part of a trace. The default is empty: use [`Selection::all`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The time range, on the trace's own clock; may reach past the trace.
    pub span: TimeSpan,
    /// Only these CPUs; empty: all.
    pub cpus: Vec<CpuId>,
    /// These processes; see the module's documentation.
    pub processes: Vec<ProcessId>,
    /// These threads.
    pub threads: Vec<ThreadId>,
    /// These tracks.
    pub tracks: Vec<TrackId>,
    /// These counters.
    pub counters: Vec<CounterTrackId>,
    /// These tracks of CPUs, with everything that they show.
    pub cpu_tracks: Vec<CpuId>,
    /// Only events of these kinds, for exporters that copy records; empty: all.
    pub kinds: Vec<KindId>,
}

impl Selection {
    /// Returns the selection of everything.
    #[must_use]
    pub fn all() -> Selection {
        Selection::range(TimeSpan::ALL)
    }

    /// Everything in a time range.
    #[must_use]
    pub fn range(span: TimeSpan) -> Selection {
        Selection {
            span,
            ..Selection::default()
        }
    }
}

impl Selection {
    /// Returns whether only some processes, threads, tracks, counters or tracks of CPUs are chosen.
    #[must_use]
    pub(crate) fn is_narrowed(&self) -> bool {
        !(self.processes.is_empty()
            && self.threads.is_empty()
            && self.tracks.is_empty()
            && self.counters.is_empty()
            && self.cpu_tracks.is_empty())
    }

    /// If only tracks of CPUs are chosen, chooses all that happens on these CPUs instead.
    pub(crate) fn take_cpus_alone(&mut self) {
        let has_others = !(self.processes.is_empty()
            && self.threads.is_empty()
            && self.tracks.is_empty()
            && self.counters.is_empty()
            && self.cpus.is_empty());
        if !has_others {
            self.cpus = std::mem::take(&mut self.cpu_tracks);
        }
    }
}

/// The part of a track or counter that is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    None,
    /// The slices, points and samples of chosen threads.
    OfThreads,
    All,
}

/// A selection, prepared for fast lookups in one trace.
#[derive(Clone, Debug)]
pub struct Chosen<'a> {
    trace: &'a Trace,
    /// The range.
    pub span: TimeSpan,
    on_cpus: OnCpus,
    is_narrowed: bool,
    threads: Vec<bool>,
    processes: Vec<bool>,
    tracks: Vec<Share>,
    counters: Vec<Share>,
    cpu_tracks: Vec<CpuId>,
    names_tracks: bool,
    /// By kind; empty: all kinds.
    kinds: Vec<bool>,
}

impl<'a> Chosen<'a> {
    /// Prepares a selection for a trace.
    #[must_use]
    pub fn new(trace: &'a Trace, selection: &Selection) -> Chosen<'a> {
        let mut chosen = Chosen {
            trace,
            span: selection.span,
            on_cpus: OnCpus::new(trace, &selection.cpus),
            is_narrowed: selection.is_narrowed(),
            threads: Vec::new(),
            processes: Vec::new(),
            tracks: Vec::new(),
            counters: Vec::new(),
            cpu_tracks: selection.cpu_tracks.clone(),
            names_tracks: !(selection.tracks.is_empty()
                && selection.counters.is_empty()
                && selection.cpu_tracks.is_empty()),
            kinds: Vec::new(),
        };
        if !selection.kinds.is_empty() {
            chosen.kinds = vec![false; trace.kinds.len()];
        }
        for kind in &selection.kinds {
            if let Some(entry) = chosen.kinds.get_mut(kind.index()) {
                *entry = true;
            }
        }
        if chosen.is_narrowed {
            chosen.choose_owners(selection);
        }
        chosen.share_out(selection);
        chosen
    }

    fn choose_owners(&mut self, selection: &Selection) {
        let trace = self.trace;
        self.processes = vec![false; trace.processes.len()];
        for id in &selection.processes {
            if let Some(entry) = self.processes.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        let processes = &self.processes;
        let is_in = |id: &Option<ProcessId>| {
            id.and_then(|id| processes.get(id.0 as usize).copied())
                .unwrap_or(false)
        };
        let threads = trace.threads.iter();
        self.threads = threads.map(|row| is_in(&row.process)).collect();
        for id in &selection.threads {
            if let Some(entry) = self.threads.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
    }

    /// Determines for each track and counter which part is chosen.
    fn share_out(&mut self, selection: &Selection) {
        let trace = self.trace;
        // By process: whether chosen threads of it may have slices, points or samples on its tracks.
        let mut has_threads = vec![false; trace.processes.len()];
        let mut has_homeless = false;
        for (thread, &is_chosen) in trace.threads.iter().zip(&self.threads) {
            let entry = thread.process.map(|id| has_threads.get_mut(id.0 as usize));
            match entry {
                Some(Some(entry)) => *entry |= is_chosen,
                _ => has_homeless |= is_chosen,
            }
        }
        let of_process = |process: Option<ProcessId>| match process {
            Some(id) if self.has_process(id) => Share::All,
            None if !self.is_narrowed => Share::All,
            Some(id) if has_threads.get(id.0 as usize) == Some(&true) => Share::OfThreads,
            None if has_homeless => Share::OfThreads,
            _ => Share::None,
        };
        let has_any_thread = self.is_narrowed && self.threads.contains(&true);
        // A thread may work for an operation of another process.
        let of_operation = |process, track: &Track| match of_process(process) {
            Share::None if has_any_thread && self.has_some_of(track) => Share::OfThreads,
            share => share,
        };
        let whole = |is_chosen: bool| if is_chosen { Share::All } else { Share::None };
        // What happens on a CPU is of no thread: where threads are chosen, a limit of the CPUs adds nothing.
        let has_cpu = |cpu| !self.is_narrowed && self.has_cpu(cpu) || self.has_cpu_track(cpu);
        let tracks = trace.tracks.iter().map(|track| match track.kind {
            TrackKind::Thread(thread) => whole(self.has_thread(thread)),
            TrackKind::Nobody => whole(!self.is_narrowed),
            TrackKind::Cpu(cpu) => whole(has_cpu(cpu)),
            TrackKind::Async(process) => of_operation(process, track),
        });
        let mut tracks: Vec<Share> = tracks.collect();
        let counters = trace.counters.tracks.iter();
        let counters = counters.map(|track| match track.scope {
            CounterScope::Global => whole(!self.is_narrowed),
            CounterScope::Cpu(cpu) => whole(has_cpu(cpu)),
            CounterScope::Process(process) => of_process(Some(process)),
            CounterScope::Thread(thread) => whole(self.has_thread(thread)),
        });
        let mut counters: Vec<Share> = counters.collect();
        for id in &selection.tracks {
            if let Some(entry) = tracks.get_mut(id.0 as usize) {
                *entry = Share::All;
            }
        }
        for id in &selection.counters {
            if let Some(entry) = counters.get_mut(id.0 as usize) {
                *entry = Share::All;
            }
        }
        (self.tracks, self.counters) = (tracks, counters);
    }

    /// Returns whether a chosen thread began a slice of a track or recorded one of its points.
    fn has_some_of(&self, track: &Track) -> bool {
        let trace = self.trace;
        let is_own = |event: u32| self.has_thread(trace.events.thread(EventId(event)));
        let rows = trace.slices.rows_of(track).iter();
        let mut slices = rows.flat_map(|row| row.slices.clone());
        slices.any(|slice| is_own(trace.slices.begins.at(slice as usize)))
            || trace.instants.of(&track.instants).any(is_own)
    }

    /// Returns whether events of all kinds are chosen.
    #[must_use]
    pub(crate) fn has_all_kinds(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Returns whether events of a kind are chosen.
    #[must_use]
    pub(crate) fn has_kind(&self, kind: KindId) -> bool {
        self.has_all_kinds() || self.kinds.get(kind.index()) == Some(&true)
    }

    /// Returns whether all threads are chosen.
    #[must_use]
    pub(crate) fn has_all_threads(&self) -> bool {
        !self.is_narrowed
    }

    /// Returns whether tracks or counters are chosen by themselves.
    #[must_use]
    pub(crate) fn names_tracks(&self) -> bool {
        self.names_tracks
    }

    /// Returns whether everything that a thread does is chosen.
    #[must_use]
    pub(crate) fn has_thread(&self, id: impl Into<Option<ThreadId>>) -> bool {
        let is_chosen = |id: ThreadId| self.threads.get(id.0 as usize) == Some(&true);
        !self.is_narrowed || id.into().is_some_and(is_chosen)
    }

    /// Returns whether a thread's own track is chosen, through the thread or by itself.
    #[must_use]
    pub(crate) fn has_track_of(&self, id: impl Into<Option<ThreadId>>) -> bool {
        let id = id.into();
        let track = || self.trace.track_of(TrackKind::Thread(id?));
        self.has_thread(id) || track().is_some_and(|track| self.has_whole_track(track))
    }

    /// Returns whether a process itself is chosen.
    #[must_use]
    pub(crate) fn has_process(&self, id: ProcessId) -> bool {
        !self.is_narrowed || self.processes.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Returns whether a thread's life was over when the range starts: states of no length at its end are not in the
    /// range.
    #[must_use]
    pub(crate) fn starts_after(&self, thread: ThreadId) -> bool {
        let end = self.trace.over_at(thread);
        end.is_some_and(|end| end <= self.span.start)
    }

    /// Returns whether the trace continues after the range: then everything that lasts beyond the range, and unfinished
    /// items, are cut at the range's end.
    #[must_use]
    pub(crate) fn ends_before_trace(&self) -> bool {
        self.span.end < self.trace.span.end
    }

    /// Returns whether the range contains the whole time of the trace.
    #[must_use]
    pub(crate) fn has_all_times(&self) -> bool {
        self.span.start <= self.trace.span.start && !self.ends_before_trace()
    }

    /// Returns whether everything on a CPU is chosen, whichever thread runs.
    #[must_use]
    pub(crate) fn has_cpu(&self, id: CpuId) -> bool {
        match self.on_cpus.is_limit() {
            true => self.on_cpus.has(id),
            false => !self.is_narrowed,
        }
    }

    /// Returns whether runs on a CPU are chosen (if their threads are).
    #[must_use]
    pub(crate) fn has_runs_of(&self, id: CpuId) -> bool {
        self.on_cpus.has(id)
    }

    /// Returns whether the track of a CPU was chosen by itself.
    #[must_use]
    pub(crate) fn has_cpu_track(&self, id: CpuId) -> bool {
        self.cpu_tracks.contains(&id)
    }

    /// Returns whether a thread's runs on a CPU are chosen.
    #[must_use]
    pub(crate) fn has_run(&self, cpu: CpuId, thread: ThreadId) -> bool {
        self.has_runs_of(cpu) && (self.has_thread(thread) || self.has_cpu_track(cpu))
    }

    /// Returns whether a thread's states are chosen. They are not if the thread ran on none of the chosen CPUs in the
    /// range.
    #[must_use]
    pub(crate) fn has_states_of(&self, id: ThreadId) -> bool {
        self.has_thread(id) && (!self.on_cpus.is_limit() || self.on_cpus.has_run_in(id, self.span))
    }

    /// Returns whether a track is chosen, or a part of it.
    #[must_use]
    pub(crate) fn has_track(&self, id: TrackId) -> bool {
        self.share_of_track(id) != Share::None
    }

    /// Returns whether a track was chosen by itself, with everything on it.
    #[must_use]
    pub(crate) fn has_whole_track(&self, id: TrackId) -> bool {
        self.share_of_track(id) == Share::All
    }

    /// Returns whether all slices of a track are chosen: none need be looked at by itself.
    #[must_use]
    pub(crate) fn has_all_slices_of(&self, id: TrackId) -> bool {
        self.has_whole_track(id) && !self.on_cpus.is_limit()
    }

    fn share_of_track(&self, id: TrackId) -> Share {
        let share = self.tracks.get(id.0 as usize).copied();
        share.unwrap_or(Share::None)
    }

    /// Returns whether a slice of a track is chosen.
    #[must_use]
    pub(crate) fn has_slice(&self, track: TrackId, slice: usize) -> bool {
        let is_chosen = match self.share_of_track(track) {
            Share::None => false,
            Share::All => true,
            Share::OfThreads => {
                let begin = self.trace.slices.begin(slice);
                self.has_thread(self.trace.events.thread(begin))
            }
        };
        if !(is_chosen && self.on_cpus.is_limit()) {
            return is_chosen;
        }
        let track = self.trace.tracks.get(track.0 as usize);
        match track.map(|track| track.kind) {
            Some(TrackKind::Thread(thread)) => {
                self.on_cpus.has_slice(self.trace, thread, slice, self.span)
            }
            Some(TrackKind::Async(_)) => self.on_cpus.has_slice_by_ends(self.trace, slice),
            Some(TrackKind::Cpu(_) | TrackKind::Nobody) | None => true,
        }
    }

    /// Returns whether a point of a track is chosen.
    #[must_use]
    pub(crate) fn has_point(&self, track: TrackId, event: EventId) -> bool {
        let is_chosen = match self.share_of_track(track) {
            Share::None => false,
            Share::All => true,
            Share::OfThreads => self.has_thread(self.trace.events.thread(event)),
        };
        is_chosen && self.has_cpu_of(event)
    }

    /// Returns whether a counter is chosen, or some of its samples.
    #[must_use]
    pub(crate) fn has_counter(&self, id: CounterTrackId) -> bool {
        self.share_of_counter(id) != Share::None
    }

    /// Returns whether all counters are chosen.
    #[must_use]
    pub(crate) fn has_all_counters(&self) -> bool {
        self.counters.iter().all(|share| *share != Share::None)
    }

    fn share_of_counter(&self, id: CounterTrackId) -> Share {
        let share = self.counters.get(id.0 as usize).copied();
        share.unwrap_or(Share::None)
    }

    /// Returns whether a sample (by its row) of a counter is chosen.
    #[must_use]
    pub(crate) fn has_sample(&self, id: CounterTrackId, row: u32) -> bool {
        match self.share_of_counter(id) {
            Share::None => false,
            Share::All => true,
            Share::OfThreads => {
                let event = self.trace.counters.events.get(row as usize);
                event
                    .is_some_and(|&event| self.has_thread(self.trace.events.thread(EventId(event))))
            }
        }
    }

    /// Returns the row of the chosen sample of a counter whose value holds at the range's start, if the sample was
    /// taken before the range.
    #[must_use]
    pub(crate) fn sample_at_start(&self, id: CounterTrackId) -> Option<u32> {
        let track = self.trace.counters.tracks.get(id.0 as usize)?;
        let before = Timestamp(self.span.start.0.checked_sub(1)?);
        let last = self.trace.counters.sample_at(track, before)?;
        let at_start = self.trace.counters.sample_at(track, self.span.start)?;
        let has_newer = (last + 1..=at_start).any(|row| self.has_sample(id, row));
        let mut rows = (track.samples.start..=last).rev();
        rows.find(|&row| self.has_sample(id, row))
            .filter(|_| !has_newer)
    }

    /// Returns whether an event's CPU is chosen, or unknown.
    #[must_use]
    pub(crate) fn has_cpu_of(&self, event: EventId) -> bool {
        self.on_cpus.has_event(self.trace, event)
    }

    /// Returns whether an event is chosen: by its thread, and by its CPU, if the CPU is known.
    #[must_use]
    pub(crate) fn has_event(&self, event: EventId) -> bool {
        (!self.is_narrowed || self.has_thread(self.trace.events.thread(event)))
            && self.has_cpu_of(event)
    }

    /// Returns whether a log message is chosen: by its thread's track.
    #[must_use]
    pub(crate) fn has_log(&self, log: &Log) -> bool {
        self.has_track_of(log.thread) && self.has_cpu_of(log.event)
    }

    /// Returns whether `cpus` excludes anything.
    #[must_use]
    pub(crate) fn limits_cpus(&self) -> bool {
        self.on_cpus.is_limit()
    }

    /// Returns whether anything other than the time range is limited.
    #[must_use]
    pub(crate) fn is_narrowed(&self) -> bool {
        self.is_narrowed || self.limits_cpus()
    }

    /// Returns whether everything is chosen.
    #[must_use]
    pub(crate) fn is_whole(&self) -> bool {
        let whole = self.trace.span;
        !self.is_narrowed()
            && self.has_all_kinds()
            && self.span.start <= whole.start
            && self.span.end >= whole.end
    }

    /// Returns whether an item from `start` to `end` overlaps the range.
    #[must_use]
    pub(crate) fn meets(&self, start: Timestamp, end: Timestamp) -> bool {
        start < self.span.end
            && (end > self.span.start || (start == end && start >= self.span.start))
    }
}
