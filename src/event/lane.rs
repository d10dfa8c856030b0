//! What the bulk pass says of one part of a lane: all events in 9 bytes each, and typed rows for what is drawn.
//!
//! `event` in a row is an index into the same part's [`EventColumns`]; its time, thread and lane (so its
//! CPU) are found there and not repeated. Strings are numbers in the part's own [`Strings`].

use super::columns::EventColumns;
use super::keys::{ProcessKey, ThreadKey};
use crate::base::order::put_in_order;
use crate::base::{Diagnostics, StringId, Strings, Timestamp};

/// The columns of one part. All vectors are in the order of `events`.
#[derive(Clone, Debug, Default)]
pub struct LaneColumns {
    /// Every event.
    pub events: EventColumns,
    /// Context switches.
    pub switches: Vec<Switch>,
    /// Wakeups.
    pub wakeups: Vec<Wakeup>,
    /// Begins and ends of slices.
    pub marks: Vec<Mark>,
    /// What `marks` and `completes` refer to.
    pub labels: Vec<Label>,
    /// Slices that arrive whole.
    pub completes: Vec<Complete>,
    /// Slices that ends tell of whose begins may be lost: each ends at its event, and began `duration_ns` before. Used
    /// where no begin is found for the end.
    pub stated: Vec<Complete>,
    /// Which of `completes` that start together lie around the others.
    pub ties: Ties,
    /// Begins, instants and ends of asynchronous slices.
    pub asyncs: Vec<AsyncMark>,
    /// Counter samples.
    pub samples: Vec<Sample>,
    /// What `samples` refer to.
    pub series: Vec<Series>,
    /// Flow begins, steps and ends.
    pub flows: Vec<FlowMark>,
    /// Forks, execs, exits, names.
    pub lives: Vec<LifeRow>,
    /// What was done to files.
    pub files: Vec<FileRow>,
    /// Log messages.
    pub logs: Vec<LogRow>,
    /// Where events were lost.
    pub gaps: Vec<Gap>,
    /// The strings that all rows refer to.
    pub strings: Strings,
    /// What was odd.
    pub diagnostics: Diagnostics,
}

/// Which of several whole slices that start together lies around the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The longest: many writers write a slice when it ends, so that inner ones come first.
    #[default]
    Longest,
    /// The one that comes first, as our own exporter writes them.
    First,
}

/// One context switch. Its time is its event's, its CPU `cpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The event.
    pub event: u32,
    /// The CPU it happened on.
    pub cpu: u32,
    /// Who stopped running.
    pub prev: ThreadKey,
    /// Who runs from now on.
    pub next: ThreadKey,
    /// Priority of `prev`.
    pub prev_priority: i32,
    /// Priority of `next`.
    pub next_priority: i32,
    /// What `prev` does from now on.
    pub prev_state: EndState,
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
    /// The letters that the kernel's tools print for it.
    #[must_use]
    pub fn letters(self) -> &'static str {
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

/// Somebody was made ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// The event.
    pub event: u32,
    /// Who was woken.
    pub thread: ThreadKey,
    /// Who did it; `UNKNOWN` if the file does not say (an interrupt on an idle CPU: `IDLE`).
    pub waker: ThreadKey,
    /// The CPU it is meant to run on, `u32::MAX` if not said.
    pub target_cpu: u32,
    /// Which of the kernel's wakeup events.
    pub sort: WakeupSort,
}

/// Which of the kernel's wakeup events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeupSort {
    /// The waker asks (`sched_waking`).
    Waking,
    /// The thread is on a run queue (`sched_wakeup`).
    Wakeup,
    /// A new thread is on a run queue (`sched_wakeup_new`).
    New,
}

/// A begin or end of a slice on the event's thread or CPU (the label says which).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The event.
    pub event: u32,
    /// Label index in the low 30 bits, then [`MarkOp`].
    packed: u32,
}

/// What a [`Mark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkOp {
    /// A slice begins.
    Begin,
    /// A slice ends.
    End,
}

impl Mark {
    /// A mark; `label` is an index below 2^30 into the part's labels.
    #[inline]
    #[must_use]
    pub fn new(event: u32, label: u32, op: MarkOp) -> Mark {
        let bit = match op {
            MarkOp::Begin => 0,
            MarkOp::End => 1 << 30,
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

    /// Begin or end.
    #[inline]
    #[must_use]
    pub fn op(self) -> MarkOp {
        if self.packed & (1 << 30) == 0 {
            MarkOp::Begin
        } else {
            MarkOp::End
        }
    }
}

/// What a slice is called and which ends close it. Two labels are the same thing if all of this is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Row of `event::pairs::FAMILIES`: says where the slice lies and how ends find begins.
    pub family: u8,
    /// Shown on the slice.
    pub name: StringId,
    /// Its category or system.
    pub category: StringId,
    /// Tells begins of equal name apart (an irq number, a function's address); 0 where the name says it all.
    /// The name of a slice is that of its begin; an end need only have the family and this key right.
    pub key: u64,
}

/// A slice that arrives whole; begins at its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The event.
    pub event: u32,
    /// Index into the part's labels.
    pub label: u32,
    /// How long it is; 0 or more.
    pub duration_ns: i64,
}

/// One point in the life of an asynchronous slice: a track of its own for each (scope, group, id).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncMark {
    /// The event.
    pub event: u32,
    /// Begin, instant or end.
    pub op: AsyncOp,
    /// Whose ids these are.
    pub scope: AsyncScope,
    /// The file's id of the operation.
    pub id: u64,
    /// Shown on the slice; an end with an empty name closes the innermost open one.
    pub name: StringId,
    /// Its category.
    pub category: StringId,
    /// Name of the group of tracks it belongs to, e.g. `block requests`; empty: named after the first slice.
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
}

/// Within what an id is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AsyncScope {
    /// The whole trace.
    Global,
    /// A process named by the file.
    Process(ProcessKey),
    /// The process of a thread.
    ProcessOf(ThreadKey),
}

/// A counter's value from its event's time on.
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
    /// Shown at the left.
    pub name: StringId,
    /// Where it belongs.
    pub scope: SeriesScope,
}

/// Where a counter belongs.
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

/// A point of a flow, on its event's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowMark {
    /// The event.
    pub event: u32,
    /// Begin, step or end.
    pub op: FlowOp,
    /// Which slice it is of.
    pub bound: FlowBound,
    /// The file's id.
    pub id: u64,
    /// Its name.
    pub name: StringId,
    /// Its category.
    pub category: StringId,
}

/// Which slice a [`FlowMark`] is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowBound {
    /// The innermost one around it; without one it is of no flow.
    Around,
    /// None that the file has, as the file says.
    Nowhere,
}

/// What a [`FlowMark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowOp {
    /// The flow leaves its first slice.
    Begin,
    /// It passes through a slice.
    Step,
    /// It arrives.
    End,
}

/// A point in a thread's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeRow {
    /// The event.
    pub event: u32,
    /// What happened.
    pub life: Life,
}

/// What happens to threads and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// `parent` made `child`, which is a new thread even if its key was used before.
    Fork {
        /// Who forked.
        parent: ThreadKey,
        /// The new one.
        child: ThreadKey,
        /// Whether it shares its parent's process.
        sort: ForkSort,
        /// Its first name, empty if not said.
        name: StringId,
    },
    /// `thread`'s process runs another program from now on.
    Exec {
        /// Who.
        thread: ThreadKey,
        /// The program's path.
        program: StringId,
        /// The arguments, first the program's name.
        arguments: Vec<StringId>,
        /// The working directory, empty if not said.
        directory: StringId,
        /// The interpreter or loader, empty if not said.
        interpreter: StringId,
    },
    /// `thread` ended.
    Exit {
        /// Who.
        thread: ThreadKey,
        /// Its exit code, where known.
        status: Option<i32>,
        /// The signal that killed it, where known.
        signal: Option<i32>,
    },
    /// `thread` is called `name` from now on (and, if this is its first name, before).
    Name {
        /// Who.
        thread: ThreadKey,
        /// The new name.
        name: StringId,
    },
    /// `thread`'s process is in another directory from now on.
    Directory {
        /// Who.
        thread: ThreadKey,
        /// Where, as the program said it: perhaps counted from where it was.
        directory: StringId,
    },
    /// `thread` belongs to the process whose main thread is `leader`.
    Member {
        /// Who.
        thread: ThreadKey,
        /// The main thread of its process.
        leader: ThreadKey,
    },
    /// `thread` says itself that it belongs to that process: believed where nothing else tells.
    Claim {
        /// Who.
        thread: ThreadKey,
        /// The main thread of its process.
        leader: ThreadKey,
    },
}

/// Whether a fork made a process or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForkSort {
    /// A process of its own.
    Process,
    /// A thread in its parent's process.
    Thread,
    /// The file does not say.
    Unknown,
}

/// Something done to a file by the event's thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The event.
    pub event: u32,
    /// What was done.
    pub op: FileOp,
    /// The path; empty where only a descriptor is known.
    pub path: StringId,
    /// The path as the program said it, or the other path of a rename or link; else empty.
    pub other_path: StringId,
    /// Open flags as the kernel counts them; 0 if none.
    pub flags: u32,
    /// File mode (12 bits of it mean something); 0 if none.
    pub mode: u16,
    /// The descriptor; -1 if none.
    pub fd: i32,
    /// What the call returned: 0 or more, or a negative error number.
    pub result: i32,
}

/// What is done to files.
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
    /// The name `path` was taken away.
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
    /// The last time before the hole.
    pub start: Timestamp,
    /// The first time after it.
    pub end: Timestamp,
    /// The CPU, where it is one's.
    pub cpu: Option<u32>,
    /// How many events are missing, if the file says.
    pub lost: Option<u64>,
}

impl LaneColumns {
    /// Empty columns; see [`EventColumns::new`] for `place_shift`.
    #[must_use]
    pub fn new(place_shift: u8) -> LaneColumns {
        LaneColumns {
            events: EventColumns::new(place_shift),
            ..LaneColumns::default()
        }
    }

    /// Puts the events in time order if they are not, and every row with them.
    pub fn sort_by_time(&mut self) {
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
            switches, wakeups, marks, completes, stated, asyncs, samples, flows, lives, files, logs
        );
    }
}
