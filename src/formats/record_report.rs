//! Options of reports of binary records in addition to those of every report: records that filters choose, styles for
//! kinds of events, and lists of the file's contents besides events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event_filter::BoundFilter;
use super::events::EventRef;

/// Options of a report of binary records. A report of text ignores them.
#[derive(Clone, Debug, Default)]
pub struct RecordOptions {
    /// `-N`: only each event's own print format is used, no plugins.
    pub is_plain: bool,
    /// `-l`: prints the columns of the latency format.
    pub has_latency_columns: bool,
    /// Which corrections are applied to recorded times.
    pub clock: ReportClock,
    /// `--ts-diff`: prints the time between each line and the previous one.
    pub shows_steps: bool,
    /// `-w`: prints after each switch to a thread how long the thread waited since its wakeup.
    pub shows_wakeups: bool,
    /// `-O`: options of the format's plugins for certain kinds of events, as the user gave them. A format without such
    /// plugins ignores them.
    pub plugin_options: Vec<String>,
    /// Only these events, and the stacks that belong to them.
    pub selection: Option<Arc<Selection>>,
    /// Events with one of these bits in `common_flags` are left out (`-I`, `-S`).
    pub left_out_flags: u64,
    /// Events that are printed in a style of their own.
    pub styles: Vec<KindStyle>,
}

/// Which corrections a report applies to recorded times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportClock {
    /// All corrections that the file contains.
    #[default]
    Corrected,
    /// `--nodate`: the date and the offset that the recorder was given are not added.
    WithoutDate,
    /// `--raw-ts`: no correction; times are numbers of the recorder's clock.
    Raw,
}

/// An event whose time is before that of the previous event on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBack {
    /// The CPU.
    pub cpu: u32,
    /// The time of the previous event.
    pub from: u64,
    /// The time of the event.
    pub to: u64,
}

/// Events whose time is before that of the previous event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepsBack {
    /// The first of these events, at most [`StepsBack::NAMED`].
    pub first: Vec<StepBack>,
    /// The number of all these events.
    pub count: u64,
}

impl StepsBack {
    /// Maximum number of events in `first`.
    pub(crate) const NAMED: usize = 8;

    /// Adds an event.
    pub fn push(&mut self, step: StepBack) {
        self.count += 1;
        if self.first.len() < StepsBack::NAMED {
            self.first.push(step);
        }
    }
}

/// The events that are printed.
#[derive(Debug, Default)]
pub struct Selection {
    /// Only events that match one of these are printed; empty: all events.
    pub shown: Vec<Choice>,
    /// An event that matches one of these is not printed.
    pub left_out: Vec<Choice>,
    /// Whether an event was printed.
    pub is_met: AtomicBool,
}

impl Selection {
    /// Returns whether an event was printed so far.
    #[must_use]
    pub(crate) fn is_met(&self) -> bool {
        self.is_met.load(Ordering::Relaxed)
    }
}

/// A condition that chooses events.
#[derive(Debug)]
pub enum Choice {
    /// A filter, evaluated while events are printed.
    Filter(BoundFilter),
    /// These events, sorted.
    Events(Vec<EventPlace>),
}

/// The position of an event in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// The number of its part.
    pub part: u32,
    /// Its place in the part.
    pub place: u64,
}

impl EventPlace {
    /// Returns the position of an event.
    pub(crate) fn of(event: EventRef) -> EventPlace {
        let EventRef { part, place, .. } = event;
        EventPlace { part, place }
    }
}

/// The style of the events that a filter names.
#[derive(Clone, Debug)]
pub struct KindStyle {
    /// The events.
    pub events: Arc<BoundFilter>,
    /// The style in which they are printed.
    pub style: OwnStyle,
}

/// A style for chosen kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStyle {
    /// `-r`: their raw fields.
    Raw,
    /// `-n`: by their own print format, without plugins.
    Plain,
}

/// A list that a reference tool prints about a file instead of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `--stat`: the kernel's counts for each CPU.
    Statistics,
    /// `--events`: the descriptions of all kinds of events.
    Formats,
    /// `-E`: systems and names of all kinds of events.
    Events,
    /// `-e`: the byte order of the file and of this machine.
    ByteOrder,
    /// `-p`: the page size of the recorded machine and of this one.
    PageSize,
    /// `-f`: the kernel's symbols.
    Functions,
    /// `-P`: the formats of trace_printk.
    PrintFormats,
    /// `--uname`: the recorded system, and the version of the program that recorded.
    System,
    /// `--version`: only the version of the program that recorded.
    Version,
    /// `--cpus`: the CPUs that have data.
    Cpus,
    /// `--first-event`: the time of each CPU's first event.
    FirstEvents,
    /// `--last-event`: the time of each CPU's last event.
    LastEvents,
}
