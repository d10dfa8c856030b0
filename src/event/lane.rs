//! The result of the bulk pass for one part of a lane: all events in 9 bytes each, and typed rows for what is drawn.
//!
//! `event` in a row is an index into the same part's [`EventColumns`], which has the event's time, thread and lane (so
//! its CPU); rows do not repeat them. Strings are ids in the part's own [`Strings`].

use super::columns::EventColumns;
use super::family::Family;
use super::flow_kind::FlowKind;
use super::keys::{ForkSort, ProcessKey, ThreadKey};
use super::pairs::{RequestOp, USER_MODE};
use super::slice_kind::SliceKind;
use crate::base::order::put_in_order;
use crate::base::{Diagnostics, StringId, Strings, Timestamp};

/// The columns of one part. All row vectors are in the order of `events`.
#[derive(Clone, Debug, Default)]
pub struct LaneColumns {
    /// Every event.
    pub events: EventColumns,
    /// Context switches.
    pub switches: Vec<Switch>,
    /// Wakeups.
    pub wakeups: Vec<Wakeup>,
    /// What the file itself says of thread states, by the event that starts the state.
    pub said_states: Vec<SaidState>,
    /// Begins and ends of slices.
    pub marks: Vec<Mark>,
    /// The labels that `marks` and `completes` refer to.
    pub labels: Vec<Label>,
    /// Slices that are recorded whole, with their duration.
    pub completes: Vec<Complete>,
    /// Durations that the recorder measured itself.
    pub measured: Vec<Measured>,
    /// Slices to use for ends whose begin was lost.
    pub stated: Vec<Stated>,
    /// How the clock of `measured` relates to the events' clock.
    pub measured_clock: MeasuredClock,
    /// How `completes` that start at the same time nest.
    pub ties: Ties,
    /// What begins mean in a recording without any end of their family.
    pub lone_begins: LoneBegins,
    /// Begins, instants and ends of asynchronous slices.
    pub asyncs: Vec<AsyncMark>,
    /// Events of bios and requests of the block layer.
    pub requests: Vec<RequestRow>,
    /// Counter samples.
    pub samples: Vec<Sample>,
    /// The counters that `samples` refer to.
    pub series: Vec<Series>,
    /// Flow begins, steps and ends.
    pub flows: Vec<FlowMark>,
    /// Forks, execs, exits, names, and other facts about lives.
    pub lives: Vec<LifeRow>,
    /// Operations on files.
    pub files: Vec<FileRow>,
    /// Log messages.
    pub logs: Vec<LogRow>,
    /// Where events were lost.
    pub gaps: Vec<Gap>,
    /// Where events may have been lost, for recordings that contain the number of lost events but not their place.
    pub seams: Vec<Seam>,
    /// The strings that all rows refer to.
    pub strings: Strings,
    /// Diagnostics of the part.
    pub diagnostics: Diagnostics,
}

/// The columns of one part, with the part's place in the file.
#[derive(Debug)]
pub struct PartColumns {
    /// Index of the part in the reader's parts.
    pub part: u32,
    /// Index of its lane.
    pub lane: u32,
    /// The part's columns.
    pub columns: LaneColumns,
}

/// What a begin means in a recording without any end of its family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoneBegins {
    /// An instant: ends were not recorded at all.
    #[default]
    Points,
    /// A slice that had not ended yet: the recorder writes a begin only for something that lasts (strace's `<unfinished
    /// ...>`).
    Open,
}

/// Which of several whole slices that start at the same time is the outer one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The longest: many recorders write a slice when it ends, so inner ones come first.
    #[default]
    Longest,
    /// The first in the file, as our own exporter writes them.
    First,
}

/// One context switch, at its event's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The event.
    pub event: u32,
    /// The CPU it happened on.
    pub cpu: u32,
    /// The thread that stopped running.
    pub prev: ThreadKey,
    /// The thread that runs from now on.
    pub next: ThreadKey,
    /// Priority of `prev`.
    pub prev_priority: i32,
    /// Priority of `next`.
    pub next_priority: i32,
    /// The state of `prev` from now on.
    pub prev_state: EndState,
    /// What follows from the switch.
    pub tells: SwitchTells,
}

/// What the file itself says about the state that starts with a switch or wakeup: only in FXT files of our own
/// exporter, where the records alone would be read differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaidState {
    /// The switch that took the thread off, or the wakeup.
    pub event: u32,
    /// Whether the thread was observed to wait for a CPU until it ran.
    pub is_wait: Option<bool>,
    /// Whether events were lost while the state lasted.
    pub spans_loss: Option<bool>,
    /// The name of the recorded interrupt handler that woke the thread.
    pub woken_by: Option<StringId>,
}

/// What follows from a context switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchTells {
    /// The thread on the CPU, and the states of both threads.
    #[default]
    RunsAndStates,
    /// Only the thread on the CPU: our FXT of a recording whose runs were not seen as switches.
    Runs,
}

/// Why a thread stopped running: the state it is in after a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndState {
    /// Ready, waits for a CPU (`R`).
    Runnable,
    /// Ready, was pushed off its CPU (`R+`).
    Preempted,
    /// Waits for something, can be interrupted (`S`).
    Sleeping,
    /// Waits for something, cannot be interrupted (`D`).
    Uninterruptible,
    /// Stopped by a signal (`T`).
    Stopped,
    /// Stopped by a tracer (`t`).
    Traced,
    /// Exited, waits to be reaped (`Z`).
    Zombie,
    /// Gone (`X`).
    Dead,
    /// Parked (`P`).
    Parked,
    /// Idle kernel thread (`I`).
    Idle,
    /// The file does not say.
    #[default]
    Unknown,
}

impl EndState {
    /// Returns the letters that the kernel's tools print for the state.
    #[must_use]
    pub(crate) fn letters(self) -> &'static str {
        match self {
            EndState::Runnable => "R",
            EndState::Preempted => "R+",
            EndState::Sleeping => "S",
            EndState::Uninterruptible => "D",
            EndState::Stopped => "T",
            EndState::Traced => "t",
            EndState::Zombie => "Z",
            EndState::Dead => "X",
            EndState::Parked => "P",
            EndState::Idle => "I",
            EndState::Unknown => "?",
        }
    }
}

/// A thread was made ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// The event.
    pub event: u32,
    /// The thread that was woken.
    pub thread: ThreadKey,
    /// The thread that woke it; `UNKNOWN` if the file does not say (an interrupt on an idle CPU: `IDLE`).
    pub waker: ThreadKey,
    /// The CPU that the thread is to run on, `u32::MAX` if not recorded.
    pub target_cpu: u32,
    /// Which of the kernel's wakeup events.
    pub sort: WakeupSort,
    /// The interrupt in which the wakeup happened, by the event's own flags: `waker` is then only the thread that was
    /// interrupted. `None` also if the file has no flags.
    pub interrupt: Option<Interrupt>,
}

/// An interrupt that ran in place of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Interrupt {
    /// A softirq.
    Soft = 1,
    /// A hardware interrupt.
    Hard = 2,
    /// An interrupt that cannot be masked.
    Nmi = 3,
}

impl Interrupt {
    /// Returns the innermost interrupt in which an event with these `common_flags` happened.
    #[inline]
    #[must_use]
    pub(crate) fn of_flags(flags: u64) -> Option<Interrupt> {
        const HARDIRQ: u64 = 0x08;
        const SOFTIRQ: u64 = 0x10;
        const NMI: u64 = 0x40;
        match flags {
            flags if flags & NMI != 0 => Some(Interrupt::Nmi),
            flags if flags & HARDIRQ != 0 => Some(Interrupt::Hard),
            flags if flags & SOFTIRQ != 0 => Some(Interrupt::Soft),
            _ => None,
        }
    }

    /// Returns the interrupt with this [`Interrupt::number`]; `None` for 0 and for other numbers.
    #[inline]
    #[must_use]
    pub(crate) fn of_number(number: u32) -> Option<Interrupt> {
        match number {
            1 => Some(Interrupt::Soft),
            2 => Some(Interrupt::Hard),
            3 => Some(Interrupt::Nmi),
            _ => None,
        }
    }

    /// Returns the interrupt with this [`Interrupt::word`].
    #[must_use]
    pub(crate) fn of_word(word: &[u8]) -> Option<Interrupt> {
        let all = [Interrupt::Soft, Interrupt::Hard, Interrupt::Nmi];
        all.into_iter().find(|it| it.word().as_bytes() == word)
    }

    /// Returns the interrupt's number, 1 to 3.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// Returns the interrupt in words, for sentences.
    #[must_use]
    pub(crate) fn words(self) -> &'static str {
        match self {
            Interrupt::Soft => "a softirq",
            Interrupt::Hard => "a hardware interrupt",
            Interrupt::Nmi => "an NMI",
        }
    }

    /// Returns the interrupt in one word, for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Interrupt::Soft => "softirq",
            Interrupt::Hard => "hardirq",
            Interrupt::Nmi => "nmi",
        }
    }
}

/// Which of the kernel's wakeup events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeupSort {
    /// The waker requests the wakeup (`sched_waking`).
    Waking,
    /// The thread was put on a run queue (`sched_wakeup`).
    Wakeup,
    /// A new thread was put on a run queue (`sched_wakeup_new`).
    New,
}

/// A begin or end of a slice on the event's thread or CPU (by the label's family).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The event.
    pub event: u32,
    /// Label index in the low 30 bits, [`MarkOp`] in the high 2 bits.
    packed: u32,
}

/// What a [`Mark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkOp {
    /// A slice begins.
    Begin,
    /// A slice ends.
    End,
    /// A slice ended earlier: its end was not seen.
    Over,
}

impl Mark {
    /// Returns a mark; `label` is an index below 2^30 into the part's labels.
    #[inline]
    #[must_use]
    pub fn new(event: u32, label: u32, op: MarkOp) -> Mark {
        let bit = match op {
            MarkOp::Begin => 0,
            MarkOp::End => 1 << 30,
            MarkOp::Over => 1 << 31,
        };
        Mark {
            event,
            packed: (label & 0x3fff_ffff) | bit,
        }
    }

    /// Index into the part's labels.
    #[inline]
    #[must_use]
    pub fn label(self) -> u32 {
        self.packed & 0x3fff_ffff
    }

    /// Returns whether the mark is a begin, an end or an unseen end.
    #[inline]
    #[must_use]
    pub fn op(self) -> MarkOp {
        match self.packed >> 30 {
            0 => MarkOp::Begin,
            1 => MarkOp::End,
            _ => MarkOp::Over,
        }
    }
}

/// The name of a slice, and which ends match it. Labels are the same if all fields are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Defines the slice's track and how ends match begins.
    pub family: Family,
    /// What the slice is about.
    pub kind: SliceKind,
    /// The name that is shown on the slice.
    pub name: StringId,
    /// The slice's category or system.
    pub category: StringId,
    /// Distinguishes begins with equal names (an irq number, a function's address); 0 where the name is enough. A slice
    /// gets the name of its begin; an end matches by family and key only.
    pub key: u64,
}

impl Label {
    /// The label of a mark that only shows that its thread is outside of system calls.
    pub(crate) const USER_MODE: Label = Label {
        family: Family::Syscalls,
        kind: SliceKind::SystemCalls,
        name: StringId::EMPTY,
        category: StringId::EMPTY,
        key: USER_MODE,
    };
}

/// A slice that is recorded whole; starts at its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The event.
    pub event: u32,
    /// Index into the part's labels; with [`UNSEEN_END`] set, `duration_ns` only defines how far the slice is drawn.
    pub label: u32,
    /// Duration in ns, 0 or more.
    pub duration_ns: i64,
}

/// Bit of [`Complete::label`]: the slice's end was not seen.
pub(crate) const UNSEEN_END: u32 = 1 << 31;

/// The duration of a slice as the recorder measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The event that ends the slice, or that is the whole slice.
    pub event: u32,
    /// Difference in ns from the slice's end, by the clock that measured it, to its event; or one of the constants
    /// below.
    pub late: i32,
    /// Duration in ns, 0 or more.
    pub duration_ns: i64,
}

impl Measured {
    /// Value of `late`: the file does not contain the time of the end, only an event for it.
    pub(crate) const NOT_SAID: i32 = i32::MIN;
    /// Value of `late`: one event both begins and ends the slice; the time of its end is not recorded.
    pub(crate) const ONE_EVENT: i32 = i32::MIN + 1;
    /// Value of `late`: the slice is drawn with another length. The event is one of `completes`, or ends a pair.
    pub const COMPLETE: i32 = i32::MIN + 2;

    /// Returns the duration of a slice that ended at `ended` (ns) by the clock that measured it, and whose event is at
    /// `time` (ns).
    #[must_use]
    pub fn new(event: u32, duration_ns: i64, time: i64, ended: Option<i64>) -> Measured {
        let late = ended.and_then(|ended| i32::try_from(time.checked_sub(ended)?).ok());
        let late = late.filter(|&late| late > Measured::COMPLETE);
        Measured {
            event,
            late: late.unwrap_or(Measured::NOT_SAID),
            duration_ns: duration_ns.max(0),
        }
    }

    /// Returns how many ns before its event the slice ended, if that is known.
    #[must_use]
    pub(crate) fn lateness(&self) -> Option<i32> {
        (self.late > Measured::COMPLETE).then_some(self.late)
    }
}

/// The label to use for an end whose begin was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The end's event, whose duration is in `measured`.
    pub event: u32,
    /// Index into the part's labels.
    pub label: u32,
}

/// Name of a function call whose entry was lost and whose return does not contain the function's name.
pub(crate) const NAMELESS_CALL: &str = "(entry lost)";

/// How the clock that measured durations relates to the clock of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredClock {
    /// The times cannot be compared with the events' times.
    #[default]
    Other,
    /// The unit is the same; the times themselves show whether the zero is the same.
    Unproven,
    /// Both are the same clock.
    Same,
}

/// One event of an asynchronous slice. Each (scope, group, id) has its own track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncMark {
    /// The event.
    pub event: u32,
    /// Begin, instant or end.
    pub op: AsyncOp,
    /// The scope in which `id` is unique.
    pub scope: AsyncScope,
    /// The file's id of the operation.
    pub id: u64,
    /// Name of the slice; an end with an empty name closes the innermost open slice.
    pub name: StringId,
    /// The slice's category.
    pub category: StringId,
    /// What the slice is about.
    pub kind: SliceKind,
    /// Name of the group of tracks that the slice belongs to, e.g. `block requests`; empty: named after the first
    /// slice.
    pub group: StringId,
}

/// What an [`AsyncMark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncOp {
    /// The operation begins.
    Begin,
    /// Something happened in it.
    Instant,
    /// The operation ends.
    End,
    /// The operation ended earlier: its end was not seen. Ignored if none is open.
    Over,
}

/// The scope in which an id is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncScope {
    /// The whole trace.
    Global,
    /// A process named by the file.
    Process(ProcessKey),
    /// The process of a thread.
    ProcessOf(ThreadKey),
}

/// An event of a bio or request of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// The event.
    pub event: u32,
    /// What happened.
    pub op: RequestOp,
    /// Number of the device.
    pub device: u64,
    /// Its first sector.
    pub sector: u64,
    /// Number of sectors; for a split: the first sector of the rest.
    pub count: u64,
    /// The operation's letters (`WS`).
    pub name: StringId,
}

/// A counter's value, valid from the time of its event on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The event.
    pub event: u32,
    /// Index into the part's series.
    pub series: u32,
    /// The value; whole numbers up to 2^53 are exact.
    pub value: f64,
}

/// A counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Series {
    /// Name of the counter track.
    pub name: StringId,
    /// What the counter belongs to.
    pub scope: SeriesScope,
}

/// What a counter belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeriesScope {
    /// The whole machine.
    Global,
    /// One CPU.
    Cpu(u32),
    /// One process named by the file.
    Process(ProcessKey),
    /// One thread.
    Thread(ThreadKey),
}

/// A begin, step or end of a flow, on its event's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMark {
    /// The event.
    pub event: u32,
    /// Begin, step or end.
    pub op: FlowOp,
    /// Which slice it is bound to.
    pub bound: FlowBound,
    /// Which other marks belong to its flow.
    pub joined: FlowJoin,
    /// The file's id.
    pub id: u64,
    /// The flow's name.
    pub name: StringId,
    /// The flow's category.
    pub category: StringId,
    /// What the arrow means that ends here.
    pub kind: FlowKind,
}

/// Which marks belong to one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowJoin {
    /// Those with its id.
    ById,
    /// Those with its id, category and name.
    ByIdAndNames,
}

/// Which slice a [`FlowMark`] is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowBound {
    /// The innermost slice around it; ignored if there is none.
    Around,
    /// The innermost slice around the nanosecond before it, at the end of which it happens; ignored if there is none.
    AtEnd,
    /// The first slice that begins at its time or later on its thread, the outermost of several; ignored if there is
    /// none.
    Next,
    /// No slice, as the file itself says.
    Nowhere,
}

/// What a [`FlowMark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowOp {
    /// The flow leaves its first slice.
    Begin,
    /// The flow passes through a slice.
    Step,
    /// The flow arrives at its last slice.
    End,
}

/// An event in a thread's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeRow {
    /// The event.
    pub event: u32,
    /// What happened.
    pub life: Life,
}

/// How the working directory of a process is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectorySort {
    /// The process changed to the directory.
    Changed,
    /// The process is in the directory, and was since its last change of directory.
    Found,
}

/// Events in the lives of threads and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// `parent` created `child`, which is a new thread even if its key was used before.
    Fork {
        /// The thread that forked.
        parent: ThreadKey,
        /// The new thread.
        child: ThreadKey,
        /// Whether it shares its parent's process.
        sort: ForkSort,
        /// The first name of `child`, empty if not recorded.
        name: StringId,
    },
    /// The process of `thread` runs another program from now on.
    Exec {
        /// The thread.
        thread: ThreadKey,
        /// The program's path.
        program: StringId,
        /// The arguments; the first is the program's name.
        arguments: Vec<StringId>,
        /// The working directory, empty if not recorded.
        directory: StringId,
        /// The interpreter or loader, empty if not recorded.
        interpreter: StringId,
        /// The thread that called `execve`, if it took the place of its leader `thread`: its own key ends here.
        caller: Option<ThreadKey>,
    },
    /// `thread` ended.
    Exit {
        /// The thread.
        thread: ThreadKey,
        /// The exit code, if known.
        status: Option<i32>,
        /// The signal that killed it, if known.
        signal: Option<i32>,
    },
    /// `thread` has the name `name` from now on (and, if this is its first name, also before).
    Name {
        /// The thread.
        thread: ThreadKey,
        /// The new name.
        name: StringId,
    },
    /// The process of `thread` is in another directory from now on, or its directory is observed.
    Directory {
        /// The thread.
        thread: ThreadKey,
        /// The path as the program passed it: may be relative to the previous directory.
        directory: StringId,
        /// How the directory is known.
        sort: DirectorySort,
    },
    /// `thread` belongs to the process whose main thread is `leader`.
    Member {
        /// The thread.
        thread: ThreadKey,
        /// The main thread of its process.
        leader: ThreadKey,
    },
    /// `thread` itself reports that it belongs to that process: used where nothing else shows its process.
    Claim {
        /// The thread.
        thread: ThreadKey,
        /// The main thread of its process.
        leader: ThreadKey,
    },
}

/// An operation on a file by the event's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The event.
    pub event: u32,
    /// The operation.
    pub op: FileOp,
    /// The path; empty where only a descriptor is known.
    pub path: StringId,
    /// The path as the program passed it, or the other path of a rename or link; else empty.
    pub other_path: StringId,
    /// Open flags with the kernel's numbers; 0 if none.
    pub flags: u32,
    /// File mode (the low 12 bits are meaningful); 0 if none.
    pub mode: u16,
    /// The descriptor; -1 if none.
    pub fd: i32,
    /// What the call returned: 0 or more, or a negative error number.
    pub result: i32,
}

/// Operations on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOp {
    /// Opened.
    Open,
    /// A descriptor was closed.
    Close,
    /// A descriptor was copied (`fd` to `result`).
    Dup,
    /// A pipe was made (`fd` reads, `result` writes).
    Pipe,
    /// Renamed from `path` to `other_path`.
    Rename,
    /// Linked, `path` is now also `other_path`.
    Link,
    /// `other_path` is now a symbolic link to `path`.
    Symlink,
    /// The name `path` was removed.
    Unlink,
    /// Mounted (`path` at `other_path`).
    Mount,
    /// Unmounted.
    Unmount,
}

/// A log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The event.
    pub event: u32,
    /// Its severity as the file names it; empty if it has none.
    pub severity: StringId,
    /// The text.
    pub message: StringId,
}

/// The recorder lost events of a CPU (or of the lane) in `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Time of the last event before the gap.
    pub start: Timestamp,
    /// Time of the first event after the gap.
    pub end: Timestamp,
    /// The CPU, if the gap belongs to one.
    pub cpu: Option<u32>,
    /// How many events are missing, if the file says.
    pub lost: Option<u64>,
}

/// A time range in which events of a CPU may have been dropped, if the file contains only their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    /// Time of the last event before it.
    pub start: Timestamp,
    /// Time of the first event after it.
    pub end: Timestamp,
    /// The CPU.
    pub cpu: u32,
}

impl LaneColumns {
    /// Returns empty columns; see [`EventColumns::new`] for `place_shift`.
    #[must_use]
    pub fn new(place_shift: u8) -> LaneColumns {
        LaneColumns {
            events: EventColumns::new(place_shift),
            ..LaneColumns::default()
        }
    }

    /// Sorts the events by time if they are not sorted, and all rows accordingly.
    pub(crate) fn sort_by_time(&mut self) {
        if self.events.is_sorted() {
            return;
        }
        let (sorted, map) = self.events.sorted_by_time();
        self.events = sorted;
        macro_rules! remap {
            ($($rows:ident),*) => {$(
                for row in &mut self.$rows {
                    row.event = map[row.event as usize];
                }
                put_in_order(&mut self.$rows, |row| row.event);
            )*};
        }
        remap!(
            switches,
            wakeups,
            said_states,
            marks,
            completes,
            measured,
            stated,
            asyncs,
            requests,
            samples,
            flows,
            lives,
            files,
            logs
        );
    }
}
