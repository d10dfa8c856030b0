//! Families of slices, which readers set: the track of a family's slices, and how its ends match its begins.

use super::slice_kind::SliceKind;
use serde::{Deserialize, Serialize};

/// A family of slices: begins and ends match within a family only.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Family {
    /// Slices that the file itself records as durations (FXT, atrace marks).
    #[default]
    Durations,
    /// As [`Family::Durations`], but an end may name the slice that it closes (Chrome JSON).
    NamedDurations,
    /// As [`Family::Durations`], on the track of the event's CPU (our own exports).
    CpuDurations,
    /// System calls.
    Syscalls,
    /// Calls of the function graph tracer.
    Functions,
    /// From a kprobe to the kretprobe of the same function.
    Kprobes,
    /// From a uprobe to the uretprobe of the same function.
    Uprobes,
    /// Interrupt handlers.
    Irqs,
    /// Soft interrupts and tasklets.
    Softirqs,
    /// Interrupt vectors and inter-processor interrupts.
    Vectors,
    /// Timer callbacks.
    Timers,
    /// Work items.
    Work,
    /// Other pairs of events of a thread, recognised by their names.
    Paired,
    /// Programs that a process runs, each from one exec to the next.
    Programs,
    /// Other pairs of events of a CPU.
    CpuPaired,
    /// Marks of system calls by number; their slices have [`SliceKind::SystemCalls`].
    RawSyscalls,
    /// Time in which something else used a CPU, measured by the osnoise or timerlat tracer.
    Noise,
    /// Asynchronous slices, whose begins and ends match by their ids.
    Async,
}

/// The track of a family's slices, and how its ends match its begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// The track of the family's slices.
    pub place: Place,
    /// How an end matches a begin.
    pub matching: Matching,
    /// What a begin without an end becomes.
    pub open: OpenBegin,
}

/// The track that a slice is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The track of the thread that caused the begin.
    Thread,
    /// The track of the CPU on which the begin happened.
    Cpu,
}

/// How an end matches a begin, among the open begins of its family on its track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    /// The end closes the innermost begin with an equal label key; the ends of begins nested in that one were lost.
    ByKey,
    /// As [`Matching::ByKey`], for slices that never nest in a slice with the same key: a second begin with the same
    /// key shows that the end of the first was lost.
    Once,
    /// The end closes the innermost begin, whatever its key.
    Innermost,
    /// The end closes the innermost begin with its name and category; a missing name or category of the end matches
    /// any. Begins nested in that one stay open, because their own ends may follow.
    ByName,
    /// At most one begin is open: the end closes it if the keys are equal, or if the end's key is
    /// [`ANY_KEY`](super::kernel::ANY_KEY); a second begin shows that the end of the first was lost.
    OneAtATime,
}

/// What a begin without an end becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenBegin {
    /// If it is still open at the trace's end: a slice up to there, marked unfinished. Otherwise: a slice of unknown
    /// duration, drawn up to the event that showed that its end was lost.
    Unfinished,
    /// A slice of unknown duration, drawn at its begin: returns of probes are often lost, and the next begin may be
    /// nested or not. Unfinished, to the end of its thread or the trace, if nothing that is recorded came after it.
    Point,
}

impl Family {
    /// The number of families.
    pub(crate) const COUNT: usize = Family::Async as usize + 1;

    /// Returns the family's index in tables with [`Family::COUNT`] rows.
    #[must_use]
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// Returns the track of the family's slices, and how its ends match its begins. (Asynchronous slices are matched
    /// elsewhere, by their ids.)
    #[must_use]
    pub(crate) fn rules(self) -> Rules {
        let (place, matching, open) = match self {
            Family::Durations | Family::Programs | Family::Async => {
                (Place::Thread, Matching::Innermost, OpenBegin::Unfinished)
            }
            Family::NamedDurations => (Place::Thread, Matching::ByName, OpenBegin::Unfinished),
            Family::CpuDurations => (Place::Cpu, Matching::Innermost, OpenBegin::Unfinished),
            Family::Syscalls | Family::RawSyscalls => {
                (Place::Thread, Matching::OneAtATime, OpenBegin::Unfinished)
            }
            Family::Functions => (Place::Thread, Matching::ByKey, OpenBegin::Unfinished),
            Family::Kprobes | Family::Uprobes | Family::Paired => {
                (Place::Thread, Matching::ByKey, OpenBegin::Point)
            }
            Family::Work => (Place::Thread, Matching::Once, OpenBegin::Unfinished),
            Family::Irqs | Family::Softirqs | Family::Vectors | Family::Timers => {
                (Place::Cpu, Matching::Once, OpenBegin::Unfinished)
            }
            Family::CpuPaired | Family::Noise => (Place::Cpu, Matching::ByKey, OpenBegin::Point),
        };
        Rules {
            place,
            matching,
            open,
        }
    }

    /// Returns the kind of the family's slices, unless the file states another one.
    #[must_use]
    pub fn slice_kind(self) -> SliceKind {
        match self {
            Family::Durations | Family::NamedDurations | Family::CpuDurations => {
                SliceKind::Durations
            }
            Family::Syscalls | Family::RawSyscalls => SliceKind::SystemCalls,
            Family::Functions => SliceKind::Functions,
            Family::Kprobes | Family::Uprobes => SliceKind::Probes,
            Family::Irqs | Family::Softirqs | Family::Vectors => SliceKind::Interrupts,
            Family::Timers => SliceKind::Timers,
            Family::Work => SliceKind::Work,
            Family::Programs => SliceKind::Processes,
            Family::Paired | Family::CpuPaired | Family::Noise => SliceKind::EventPairs,
            Family::Async => SliceKind::Async,
        }
    }

    /// Returns whether the slices are system calls, by name or by number.
    #[must_use]
    pub(crate) fn is_of_calls(self) -> bool {
        matches!(self, Family::Syscalls | Family::RawSyscalls)
    }

    /// Returns whether an end closes the innermost open begin, whatever its name, as in FXT. (Asynchronous slices are
    /// written with ids.)
    #[must_use]
    pub(crate) fn closes_innermost(self) -> bool {
        matches!(
            self,
            Family::Durations | Family::CpuDurations | Family::Async
        )
    }
}
