//! Builds that their own tool recorded: how a log of targets (ninja, cargo) is represented in the model.
//!
//! ```text
//! job 1  |== a.o ==|== libx.a ==|       tracks of job slots: each target takes the lowest slot that is free (`slots`)
//! job 2  |==== b.o =====|  |= app =|
//! ```
//!
//! Logs of builds do not contain slots: the packed tracks show how many targets ran at once. Each target is also a
//! process, started by the tool, which is a process too; so lives, parallelism and the critical chain of a build are
//! computed as for recorded processes. The events of a target belong to the main thread of its process. Sections of a
//! target (front end, code generation) are slices inside its slice, and an arrow with the name [`UNBLOCKS`] goes from a
//! target to a target that it unblocked.

mod columns;
mod json_fields;
mod reader;
mod slots;

pub(crate) use json_fields::json_fields;
pub(crate) use reader::{Log, LogFormat, open};

/// The name of arrows from a target to targets that could start because of it.
pub(crate) const UNBLOCKS: &str = crate::event::FlowKind::Unblocks.word();

/// A time in a build, and the place of the record that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Time in ns on the trace's clock.
    pub time: i64,
    /// Byte offset of the record in the file.
    pub place: u64,
}

/// One run of a build tool.
#[derive(Clone, Debug, Default)]
pub(crate) struct Build {
    /// The tool's name, for example `ninja`.
    pub tool: &'static str,
    /// The tool's command line; empty if unknown.
    pub arguments: Vec<Vec<u8>>,
    /// The directory in which the tool ran; empty if unknown.
    pub directory: Vec<u8>,
    /// When the tool started and when its last target ended, ns.
    pub span: (i64, i64),
    /// The targets, in the order of the file.
    pub units: Vec<Unit>,
    /// Which target unblocked which.
    pub unblocks: Vec<Unblock>,
    /// Counters of the build.
    pub counters: Vec<Counter>,
}

/// A target: the result of one job of the build.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The name to show.
    pub name: Vec<u8>,
    /// The kind of target, in a word.
    pub category: Vec<u8>,
    /// The number that identifies the target in the file.
    pub number: u64,
    /// Its start.
    pub begin: Moment,
    /// Its end; `None` if the file has none.
    pub end: Option<Moment>,
    /// Parts of its work, in order of time.
    pub sections: Vec<Section>,
}

/// A part of a target's work.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    /// Its name.
    pub name: Vec<u8>,
    /// Its start.
    pub begin: Moment,
    /// Its end; `None` if the file has none.
    pub end: Option<Moment>,
}

/// A relation between two targets: one could start because of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unblock {
    /// The target that was waited for, an index into the build's units.
    pub from: usize,
    /// The target that waited, an index into the build's units.
    pub to: usize,
    /// The time in ns at which `from` had made what `to` needs.
    pub time: i64,
}

/// A counter of a build.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    /// Its name.
    pub name: &'static str,
    /// Its values, in order of time.
    pub samples: Vec<(Moment, f64)>,
}
