//! Kinds of slices: what may be added up together. The time of a process contains that of its system calls, which
//! contains that of interrupts: sums over several kinds count the same time several times.
//!
//! A slice's kind follows from how it was made (its family) or, in a file that only states durations (FXT), from
//! its category; an asynchronous slice is of another kind than a nested one. An export to FXT keeps the categories,
//! so that its slices are of the same kinds when it is opened again.

use serde::{Deserialize, Serialize};

use crate::base::StringId;
use crate::event::pairs;
use crate::trace::{SliceLabel, Trace};

/// A kind of slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SliceKind {
    /// Durations that the recorded program names itself.
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
    /// All, in the order of menus; the first that a trace has is the one that is shown at first.
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

    /// The name of the kind, for people and for `--kind`.
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

    /// One sentence for those who wonder.
    #[must_use]
    pub(crate) fn about(self) -> &'static str {
        match self {
            SliceKind::Durations => "Durations that the recorded program names itself",
            SliceKind::Functions => "Functions of the function graph tracer",
            SliceKind::Probes => "Functions between a kprobe or uprobe and its return",
            SliceKind::SystemCalls => "System calls, from their begin to their end",
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
}

/// The categories that mean a kind in files that only state durations.
const CATEGORIES: &[(&str, SliceKind)] = &[
    ("syscalls", SliceKind::SystemCalls),
    ("raw_syscalls", SliceKind::SystemCalls),
    ("ftrace", SliceKind::Functions),
    ("kprobes", SliceKind::Probes),
    ("uprobes", SliceKind::Probes),
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

/// The categories that mean a kind of asynchronous slices.
const ASYNC_CATEGORIES: &[(&str, SliceKind)] = &[
    ("open files", SliceKind::OpenFiles),
    ("block", SliceKind::BlockRequests),
];

/// The kinds of a trace's labels.
#[derive(Clone, Debug, Default)]
pub struct SliceKinds {
    /// The kinds that labels have, in the order of [`SliceKind::ALL`].
    present: Vec<SliceKind>,
    /// By label: the place in `present`.
    numbers: Vec<u8>,
}

impl SliceKinds {
    /// Those of `trace`.
    #[must_use]
    pub fn new(trace: &Trace) -> SliceKinds {
        let known = |list: &[(&str, SliceKind)]| -> Vec<(StringId, SliceKind)> {
            let ids = list.iter();
            ids.filter_map(|(word, kind)| Some((trace.strings.find(word.as_bytes())?, *kind)))
                .collect()
        };
        let (categories, async_categories) = (known(CATEGORIES), known(ASYNC_CATEGORIES));
        let kind_of = |label: &SliceLabel| {
            let (list, otherwise) = match label.family {
                pairs::ASYNC => (&async_categories, SliceKind::Async),
                _ => (&categories, SliceKind::Durations),
            };
            let same = list.iter().find(|(word, _)| *word == label.category);
            of_family(label.family).unwrap_or(same.map_or(otherwise, |(_, kind)| *kind))
        };
        let kinds: Vec<SliceKind> = trace.slices.labels.iter().map(kind_of).collect();
        let is_present = |kind: &SliceKind| kinds.contains(kind);
        let present: Vec<SliceKind> = SliceKind::ALL.into_iter().filter(is_present).collect();
        let place = |kind: SliceKind| present.iter().position(|it| *it == kind);
        let numbers = kinds.into_iter().map(|kind| place(kind).unwrap_or(0) as u8);
        SliceKinds {
            numbers: numbers.collect(),
            present,
        }
    }

    /// The kinds that labels have; a label's number is a place in this list.
    #[must_use]
    pub fn present(&self) -> &[SliceKind] {
        &self.present
    }

    /// The number of the kind of a label.
    #[inline]
    #[must_use]
    pub fn number(&self, label: u32) -> u32 {
        let number = self.numbers.get(label as usize);
        number.map_or(0, |&number| number.into())
    }

    /// The number of a kind; `None` if no label is of it.
    #[must_use]
    pub(crate) fn number_of(&self, kind: SliceKind) -> Option<u32> {
        let at = self.present.iter().position(|it| *it == kind)?;
        Some(at as u32)
    }
}

/// The kind of a family; `None` where only the category says it.
fn of_family(family: u8) -> Option<SliceKind> {
    Some(match family {
        pairs::DURATIONS | pairs::ASYNC => return None,
        pairs::SYSCALLS => SliceKind::SystemCalls,
        pairs::FUNCTIONS => SliceKind::Functions,
        pairs::KPROBES | pairs::UPROBES => SliceKind::Probes,
        pairs::IRQS | pairs::SOFTIRQS | pairs::VECTORS => SliceKind::Interrupts,
        pairs::TIMERS => SliceKind::Timers,
        pairs::WORK => SliceKind::Work,
        pairs::PROGRAMS => SliceKind::Processes,
        _ => SliceKind::EventPairs,
    })
}
