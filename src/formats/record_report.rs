//! What a report of binary records can be asked for besides what every report can: records that filters choose, kinds
//! of events in a style of their own, and lists of what the file contains beside events.

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
    /// How far recorded times are corrected.
    pub clock: ReportClock,
    /// `--ts-diff`: prints the time between each line and the line before it.
    pub shows_steps: bool,
    /// `-w`: prints after each switch to a thread how long the thread waited since its wakeup.
    pub shows_wakeups: bool,
    /// `-O`: options of the format's plugins for single kinds of events, as the user gave them. A format without such
    /// plugins has no options.
    pub plugin_options: Vec<String>,
    /// Only these events, and the stacks that belong to them.
    pub selection: Option<Arc<Selection>>,
    /// Events with one of these bits in `common_flags` are left out (`-I`, `-S`).
    pub left_out_flags: u64,
    /// Events that are printed in a style of their own.
    pub styles: Vec<KindStyle>,
}

/// How far a report corrects the times that were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportClock {
    /// By everything that the file says about its clock.
    #[default]
    Corrected,
    /// `--nodate`: the date and the offset that the recorder was given are not added.
    WithoutDate,
    /// `--raw-ts`: not at all; times are numbers on the recorder's clock.
    Raw,
}

/// An event whose time is before that of the event before it on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepBack {
    /// The CPU.
    pub cpu: u32,
    /// The time of the event before.
    pub from: u64,
    /// The time of the event.
    pub to: u64,
}

/// Events whose times go back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepsBack {
    /// The first ones, at most [`StepsBack::NAMED`].
    pub first: Vec<StepBack>,
    /// The number of all of them.
    pub count: u64,
}

impl StepsBack {
    /// At most this many are named.
    pub const NAMED: usize = 8;

    /// Adds an event.
    pub fn push(&mut self, step: StepBack) {
        self.count += 1;
        if self.first.len() < StepsBack::NAMED {
            self.first.push(step);
        }
    }
}

/// Which events are printed.
#[derive(Debug, Default)]
pub struct Selection {
    /// Only events that one of these chooses are printed; empty: all events.
    pub shown: Vec<Choice>,
    /// An event that one of these chooses is not printed.
    pub left_out: Vec<Choice>,
    /// Whether an event was printed.
    pub is_met: AtomicBool,
}

impl Selection {
    /// Returns whether an event was printed so far.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.is_met.load(Ordering::Relaxed)
    }
}

/// What chooses events.
#[derive(Debug)]
pub enum Choice {
    /// A filter, asked while events are printed.
    Filter(BoundFilter),
    /// These events, sorted.
    Events(Vec<EventPlace>),
}

/// Where an event is in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// The number of its part.
    pub part: u32,
    /// Its place in the part.
    pub place: u64,
}

impl EventPlace {
    /// Returns where an event is.
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
    /// How they are printed.
    pub style: OwnStyle,
}

/// How chosen kinds of events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStyle {
    /// `-r`: their raw fields.
    Raw,
    /// `-n`: by their own print format, without plugins.
    Plain,
}

/// What a reference tool prints about a file instead of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `--stat`: what the kernel counted per CPU.
    Statistics,
    /// `--events`: the descriptions of all kinds of events.
    Formats,
    /// `-E`: their systems and names.
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
    /// `--version`: that version alone.
    Version,
    /// `--cpus`: the CPUs that have data.
    Cpus,
    /// `--first-event`: the time of their first events.
    FirstEvents,
    /// `--last-event`: the time of their last events.
    LastEvents,
}
