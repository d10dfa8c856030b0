//! Kinds of slices: only slices of one kind may be added up together. The time of a process contains the time of its
//! system calls, which contains the time of interrupts: sums over several kinds count the same time several times.
//!
//! Readers set the kind. In trace.dat and the texts it follows from the slice's family; FXT and Chrome JSON only state
//! durations, so our own exports imply the kind by the category ([`SliceKind::implied`]), and write it as an argument
//! ([`SLICE_KIND`]) if the category implies another kind.

use serde::{Deserialize, Serialize};

use super::kernel::ProbeGroup;

/// The argument with [`SliceKind::word`] in our own exports.
pub(crate) const SLICE_KIND: &str = "slice_kind";
/// The argument of our own Chrome JSON with the category of an asynchronous slice inside a slice of another category: the format
/// joins what has one category and one id.
pub(crate) const SLICE_CATEGORY: &str = "threadline_category";
/// The argument of asynchronous events in our exports with the name of their track, if that is not the name of its first
/// slice.
pub(crate) const ASYNC_GROUP: &str = "async_group";

/// A kind of slices.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum SliceKind {
    /// Durations that the recorded program names itself.
    #[default]
    Durations,
    /// Functions of the function graph tracer.
    Functions,
    /// Functions between a kprobe or uprobe and its return.
    Probes,
    /// System calls.
    SystemCalls,
    /// Programs that processes ran.
    Processes,
    /// Files while they were open.
    OpenFiles,
    /// Interrupts: their handlers, soft interrupts, vectors.
    Interrupts,
    /// Timer callbacks.
    Timers,
    /// Work items.
    Work,
    /// Other pairs of kernel events.
    EventPairs,
    /// Requests to block devices.
    BlockRequests,
    /// Other asynchronous slices.
    Async,
}

impl SliceKind {
    /// All kinds, in the order of menus; a trace is first shown with the first kind that it contains.
    pub const ALL: [SliceKind; 12] = [
        SliceKind::Durations,
        SliceKind::Functions,
        SliceKind::Probes,
        SliceKind::SystemCalls,
        SliceKind::Processes,
        SliceKind::OpenFiles,
        SliceKind::Interrupts,
        SliceKind::Timers,
        SliceKind::Work,
        SliceKind::EventPairs,
        SliceKind::BlockRequests,
        SliceKind::Async,
    ];

    /// Returns the name of the kind, for people and for `--kind`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            SliceKind::Durations => "durations",
            SliceKind::Functions => "functions",
            SliceKind::Probes => "probes",
            SliceKind::SystemCalls => "system calls",
            SliceKind::Processes => "processes",
            SliceKind::OpenFiles => "open files",
            SliceKind::Interrupts => "interrupts",
            SliceKind::Timers => "timers",
            SliceKind::Work => "work items",
            SliceKind::EventPairs => "event pairs",
            SliceKind::BlockRequests => "block requests",
            SliceKind::Async => "asynchronous",
        }
    }

    /// Returns one sentence about the kind, for the user.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            SliceKind::Durations => "Durations that the recorded program names itself",
            SliceKind::Functions => "Functions of the function graph tracer",
            SliceKind::Probes => "Functions between a kprobe or uprobe and its return",
            SliceKind::SystemCalls => "System calls, from entry to exit",
            SliceKind::Processes => {
                "Programs that processes ran, from exec or fork to exec or exit"
            }
            SliceKind::OpenFiles => "Files, from open to close",
            SliceKind::Interrupts => "Interrupt handlers, soft interrupts and vectors",
            SliceKind::Timers => "Timer callbacks",
            SliceKind::Work => "Work items of the kernel's workqueues",
            SliceKind::EventPairs => "Other kernel events that begin and end something",
            SliceKind::BlockRequests => "Requests to block devices",
            SliceKind::Async => "Asynchronous slices, which may begin and end on different threads",
        }
    }

    /// Returns the kind that a category implies in our own exports.
    #[must_use]
    pub(crate) fn implied(category: &[u8], nesting: Nesting) -> SliceKind {
        let (list, other) = match nesting {
            Nesting::Nested => (CATEGORIES, SliceKind::Durations),
            Nesting::Async => (ASYNC_CATEGORIES, SliceKind::Async),
        };
        let found = list.iter().find(|(word, _)| word.as_bytes() == category);
        found.map_or(other, |(_, kind)| *kind)
    }

    /// Returns the kind with a word from [`SliceKind::word`].
    #[must_use]
    pub(crate) fn of_word(word: &[u8]) -> Option<SliceKind> {
        let mut all = SliceKind::ALL.into_iter();
        all.find(|kind| kind.word().as_bytes() == word)
    }
}

/// Whether slices nest on the track of a thread, or have a track for each id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// On the track of a thread or CPU.
    Nested,
    /// Asynchronous.
    Async,
}

/// The categories that imply a kind in our own exports; other categories imply [`SliceKind::Durations`].
const CATEGORIES: &[(&str, SliceKind)] = &[
    ("syscalls", SliceKind::SystemCalls),
    ("raw_syscalls", SliceKind::SystemCalls),
    ("ftrace", SliceKind::Functions),
    (ProbeGroup::Kprobes.name(), SliceKind::Probes),
    (ProbeGroup::Uprobes.name(), SliceKind::Probes),
    ("probe", SliceKind::Probes),
    ("fork", SliceKind::Processes),
    ("exec", SliceKind::Processes),
    ("thread", SliceKind::Processes),
    ("earlier", SliceKind::Processes),
    ("irq", SliceKind::Interrupts),
    ("irq_vectors", SliceKind::Interrupts),
    ("ipi", SliceKind::Interrupts),
    ("timer", SliceKind::Timers),
    ("workqueue", SliceKind::Work),
];

/// The categories that imply a kind of asynchronous slices in our own exports; others imply [`SliceKind::Async`].
const ASYNC_CATEGORIES: &[(&str, SliceKind)] = &[
    ("open files", SliceKind::OpenFiles),
    ("block", SliceKind::BlockRequests),
    ("block bios", SliceKind::BlockRequests),
    ("block queue", SliceKind::BlockRequests),
    ("block requests", SliceKind::BlockRequests),
    ("block accounting", SliceKind::BlockRequests),
];
