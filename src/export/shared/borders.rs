//! Where exports cut slices, runs and states that last over a border: at the start and the end of the range, and at the
//! end of its file if the trace consists of several files and others last longer.
//!
//! ```text
//! range                    |----------------------|
//! ended               |~~~~|---------|                 cut at its start, with its real start
//! ended                          |----------------|~~| cut at its end, with its real end
//! open                           |----------------|~~~ cut at the range's end: it never ended
//! open at its file's end         |---|                 cut at the last moment of its file: it never ended
//! ```
//!
//! Exporters of traces (not of tables, whose rows have their own times) write each cut as an argument. Our readers then
//! count the item as unfinished: it lasted at least as long as the part that was written.

use crate::base::Maybe;
use crate::event::{NEVER_ENDED, REALLY_BEGAN, REALLY_ENDED};
use crate::query::seen::open_to_thread_end;
use crate::query::selection::Chosen;
use crate::trace::{RunId, SliceId, SourceId, StateId, Trace};

/// The borders of a selection of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Borders {
    start: i64,
    end: i64,
    trace_end: i64,
    ends_before_trace: bool,
    /// By file: its last moment in ns.
    files: Vec<i64>,
}

/// The part of an item that an export contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Start in ns.
    pub start: i64,
    /// End in ns; `None` if the item is still open at the end of the exported part.
    pub end: Option<i64>,
    /// Its real start in ns, if that is before the range.
    pub really_began: Option<i64>,
    /// The cut at its end.
    pub cut: Option<EndCut>,
}

/// How an item is cut at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndCut {
    /// The item ended after the range, at this time in ns.
    Ended(i64),
    /// The item's end is not known.
    Never,
}

/// An argument that describes a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutArgument {
    /// A time in ns.
    Time {
        /// The argument's name.
        name: &'static str,
        /// The real time of a start or end.
        ns: i64,
    },
    /// [`NEVER_ENDED`], which is true.
    NeverEnded,
}

impl CutArgument {
    /// Returns the argument's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CutArgument::Time { name, .. } => name,
            CutArgument::NeverEnded => NEVER_ENDED,
        }
    }

    /// Returns the argument for a real start.
    pub(crate) fn really_began(ns: i64) -> CutArgument {
        let name = REALLY_BEGAN;
        CutArgument::Time { name, ns }
    }
}

impl EndCut {
    /// Returns the argument that describes the cut.
    pub(crate) fn argument(self) -> CutArgument {
        match self {
            EndCut::Ended(ns) => CutArgument::Time {
                name: REALLY_ENDED,
                ns,
            },
            EndCut::Never => CutArgument::NeverEnded,
        }
    }
}

impl Part {
    /// Returns the arguments that describe the cuts.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = CutArgument> {
        let began = self.really_began.map(CutArgument::really_began);
        began.into_iter().chain(self.cut.map(EndCut::argument))
    }
}

impl Borders {
    /// Returns the borders of a selection.
    pub(crate) fn new(trace: &Trace, chosen: &Chosen<'_>) -> Borders {
        Borders {
            start: chosen.span.start.0,
            end: chosen.span.end.0,
            trace_end: trace.span.end.0,
            ends_before_trace: chosen.ends_before_trace(),
            files: last_moments(trace),
        }
    }

    /// Returns the last moment that the export contains, in ns: everything that is open there lasted at least until
    /// then.
    pub(crate) fn last_moment(&self) -> i64 {
        match self.ends_before_trace {
            true => self.end,
            false => self.trace_end.saturating_sub(1),
        }
    }

    /// Returns when an item of a file that did not end is cut, in ns; `None` if it is still open at the end of the
    /// exported part.
    pub(crate) fn cut_of_open(&self, file: Option<SourceId>) -> Option<i64> {
        let own = file.and_then(|file| self.files.get(file.0 as usize));
        match (own, self.ends_before_trace) {
            (Some(&last), true) => Some(last.min(self.end)),
            (None, true) => Some(self.end),
            (Some(&last), false) => (last.saturating_add(1) < self.trace_end).then_some(last),
            (None, false) => None,
        }
    }

    /// Returns the cut of an open slice; see [`Borders::cut_of_open`]. `begin` is the event that began it.
    #[inline]
    pub(crate) fn cut_of_open_slice(&self, trace: &Trace, begin: u32) -> Option<i64> {
        self.cut_of_open(trace.source_of(begin, |source| &source.events))
    }

    /// Returns the part of a slice. Panics if there is no such slice.
    pub(crate) fn of_slice(&self, trace: &Trace, row: usize) -> Part {
        let slices = &trace.slices;
        let open = || self.cut_of_open_slice(trace, slices.begins.at(row));
        let mut part = self.part(slices.starts.at(row), slices.open_end(row), open);
        // It certainly lasted as long as it is drawn: an export cut it, or its thread ended.
        let is_certain = || slices.is_cut(row) || open_to_thread_end(trace, SliceId(row as u32));
        if slices.is_unended(row) && part.end.is_some() && is_certain() {
            part.cut = Some(EndCut::Never);
        }
        part
    }

    /// Returns the part of a run. Panics if there is no such run.
    pub(crate) fn of_run(&self, trace: &Trace, id: RunId) -> Part {
        let run = trace.runs.get(id);
        let file = trace.source_of(run.cpu.0, |source| &source.cpus);
        let end = Maybe::from(trace.run_end(&run).map(|end| end.0));
        let drawn = run.end.map(|end| end.0);
        self.part(run.start.0, end, || self.cut_of_drawn(file, drawn))
    }

    /// Returns the part of a state. Panics if there is no such state.
    pub(crate) fn of_state(&self, trace: &Trace, id: StateId) -> Part {
        let state = trace.states.get(id);
        let file = trace.source_of(state.thread.0, |source| &source.threads);
        let end = Maybe::from(trace.state_end(&state).map(|end| end.0));
        let drawn = state.end.map(|end| end.0);
        self.part(state.start.0, end, || self.cut_of_drawn(file, drawn))
    }

    /// Returns the cut of an item whose duration is not known; `drawn` is the time to which it is drawn, if known.
    pub(crate) fn cut_of_drawn(&self, file: Option<SourceId>, drawn: Option<i64>) -> Option<i64> {
        match (drawn, self.cut_of_open(file)) {
            (Some(drawn), Some(cut)) => Some(drawn.min(cut)),
            (None, cut) => cut,
            // Drawn to the end of the last file: also open there.
            (Some(drawn), None) if drawn >= self.trace_end => None,
            (drawn, None) => drawn,
        }
    }

    /// Returns the part of an item with a start and an end in ns; `open` returns where it is cut if it has no end.
    fn part(&self, start: i64, end: Maybe<i64>, open: impl FnOnce() -> Option<i64>) -> Part {
        let shown = start.max(self.start);
        let really_began = (start < self.start).then_some(start);
        let (end, cut) = match end.get() {
            Some(end) if end > self.end => (Some(self.end), Some(EndCut::Ended(end))),
            Some(end) => (Some(end), None),
            None => match open() {
                Some(cut) => (Some(cut), Some(EndCut::Never)),
                None => (None, None),
            },
        };
        Part {
            start: shown,
            end: end.map(|end| end.max(shown)),
            really_began,
            cut,
        }
    }
}

/// Returns by file its last moment in ns: the last event is in the last nanosecond of the file. If a slice ends at the
/// end of the file, that is the last moment, so that an open slice around it does not end before it.
fn last_moments(trace: &Trace) -> Vec<i64> {
    let sources = trace.sources.iter();
    let mut moments: Vec<i64> = sources
        .map(|source| source.span().end.0.saturating_sub(1))
        .collect();
    if moments.is_empty() {
        return moments;
    }
    let slices = &trace.slices;
    for row in &slices.rows {
        let mut last = row.slices.clone().rev().take(2);
        let ended = last.find_map(|slice| {
            let end = slices.own_end(slice as usize)?;
            Some((slices.begin(slice as usize), end))
        });
        if let Some((begin, end)) = ended
            && let Some(file) = trace.source_of(begin.0, |source| &source.events)
            && let Some(moment) = moments.get_mut(file.0 as usize)
        {
            *moment = end.max(*moment);
        }
    }
    moments
}
