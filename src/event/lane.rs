//! What the bulk pass says of one part of a lane: all events in 9 bytes each, and typed rows for what is drawn.
//!
//! `event` in a row is an index into the same part's [`EventColumns`]; its time, thread and lane (so its
//! CPU) are found there and not repeated. Strings are numbers in the part's own [`Strings`].

use super::columns::EventColumns;
use super::keys::{ProcessKey, ThreadKey};
use super::pairs::RequestOp;
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
    /// What the file itself says of states that begin with them; by event.
    pub said_states: Vec<SaidState>,
    /// Begins and ends of slices.
    pub marks: Vec<Mark>,
    /// What `marks` and `completes` refer to.
    pub labels: Vec<Label>,
    /// Slices that arrive whole.
    pub completes: Vec<Complete>,
    /// Durations that the recorder measured itself.
    pub measured: Vec<Measured>,
    /// Slices of ends whose begins may be lost: used where no begin is found for the end.
    pub stated: Vec<Stated>,
    /// Whether the times in `measured` are times of the events' clock.
    pub measured_clock: MeasuredClock,
    /// Which of `completes` that start together lie around the others.
    pub ties: Ties,
    /// What begins mean where the recording has no end of their kind.
    pub lone_begins: LoneBegins,
    /// Begins, instants and ends of asynchronous slices.
    pub asyncs: Vec<AsyncMark>,
    /// What happened to bios and requests of the block layer.
    pub requests: Vec<RequestRow>,
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
    /// Where events may have been lost, of recordings that say how many were but not where.
    pub seams: Vec<Seam>,
    /// The strings that all rows refer to.
    pub strings: Strings,
    /// What was odd.
    pub diagnostics: Diagnostics,
}

/// What a begin means in a recording without any end of its family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoneBegins {
    /// A point: ends were not recorded at all.
    #[default]
    Points,
    /// Something that had not ended yet: the recorder writes a begin only for what lasts (strace's `<unfinished ...>`).
    Open,
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
    /// What follows from it.
    pub tells: SwitchTells,
}

/// What the file itself says of the state that a switch or wakeup brings: only FXT files of our own exporter do, where
/// the records alone would be read differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaidState {
    /// The switch that took the thread off, or the wakeup.
    pub event: u32,
    /// Whether the thread was seen to wait for a CPU until it ran.
    pub is_wait: Option<bool>,
    /// Whether events were lost while the state lasted.
    pub spans_loss: Option<bool>,
    /// The name of the recorded interrupt handler that woke the thread.
    pub woken_by: Option<StringId>,
}

/// What follows from a context switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchTells {
    /// Who runs on the CPU, and the states of both threads.
    #[default]
    RunsAndStates,
    /// Only who runs on the CPU: our FXT of a recording whose runs were not seen as switches.
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
    /// The interrupt in which it happened, as the event's own flags say: then `waker` is only the thread that was
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
    /// The innermost interrupt in which an event with these `common_flags` happened.
    #[inline]
    #[must_use]
    pub fn of_flags(flags: u64) -> Option<Interrupt> {
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

    /// The interrupt with a number of [`Interrupt::number`]; `None` for 0 and for other numbers.
    #[inline]
    #[must_use]
    pub fn of_number(number: u32) -> Option<Interrupt> {
        match number {
            1 => Some(Interrupt::Soft),
            2 => Some(Interrupt::Hard),
            3 => Some(Interrupt::Nmi),
            _ => None,
        }
    }

    /// The interrupt with one of the words of [`Interrupt::word`].
    #[must_use]
    pub fn of_word(word: &[u8]) -> Option<Interrupt> {
        let all = [Interrupt::Soft, Interrupt::Hard, Interrupt::Nmi];
        all.into_iter().find(|it| it.word().as_bytes() == word)
    }

    /// 1 to 3.
    #[inline]
    #[must_use]
    pub fn number(self) -> u32 {
        self as u32
    }

    /// The words for it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Interrupt::Soft => "a softirq",
            Interrupt::Hard => "a hardware interrupt",
            Interrupt::Nmi => "an NMI",
        }
    }

    /// One word for it, for tables.
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
    /// A slice is over by now: its end was not seen.
    Over,
}

impl Mark {
    /// A mark; `label` is an index below 2^30 into the part's labels.
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

    /// Begin or end.
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
    /// Index into the part's labels, with [`UNSEEN_END`] if `duration_ns` only says how far it is drawn.
    pub label: u32,
    /// How long it is; 0 or more.
    pub duration_ns: i64,
}

/// Set in [`Complete::label`]: the slice's end was not seen.
pub const UNSEEN_END: u32 = 1 << 31;

/// How long a slice was, as the recorder measured it itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The event that ends the slice, or that is all of it.
    pub event: u32,
    /// How many ns before its event the slice ended by the clock that measured it; or one of the constants below.
    pub late: i32,
    /// How long the slice was, in ns; 0 or more.
    pub duration_ns: i64,
}

impl Measured {
    /// In `late`: the file does not say when the slice ended, but for its end's event.
    pub const NOT_SAID: i32 = i32::MIN;
    /// In `late`: the event begins the slice and ends it too; when it ended is not said.
    pub const ONE_EVENT: i32 = i32::MIN + 1;
    /// In `late`: the event is one of `completes`, whose length is only what is drawn.
    pub const COMPLETE: i32 = i32::MIN + 2;

    /// The duration of a slice that ended at `ended` by the clock that measured it, and by its event at `time`.
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

    /// How many ns before its event the slice ended, if that is known.
    #[must_use]
    pub fn lateness(&self) -> Option<i32> {
        (self.late > Measured::COMPLETE).then_some(self.late)
    }
}

/// What the slice of an end is called whose begin may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The end's event; `measured` has its duration.
    pub event: u32,
    /// Index into the part's labels.
    pub label: u32,
}

/// What a call of a function is called of which only the return is there, and that without its name.
pub const NAMELESS_CALL: &str = "(entry lost)";

/// How the clock that durations are measured with relates to the clock of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredClock {
    /// Its times mean nothing on the events' axis.
    #[default]
    Other,
    /// It has the same unit; the times themselves show whether it has the same zero.
    Unproven,
    /// It is the clock of the events.
    Same,
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
    /// The operation is over by now: its end was not seen. Nothing if none is open.
    Over,
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

/// What happened to a bio or a request of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// The event.
    pub event: u32,
    /// What.
    pub op: RequestOp,
    /// A number for the device.
    pub device: u64,
    /// Its first sector.
    pub sector: u64,
    /// How many sectors it has; of a split: the first sector of the rest.
    pub count: u64,
    /// What it does (`WS`).
    pub name: StringId,
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
    /// The innermost one around the nanosecond before it, at whose end it is; without one it is of no flow.
    AtEnd,
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

/// How the directory of a process is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectorySort {
    /// The process changed to it.
    Changed,
    /// The process is in it, and was since its last change.
    Found,
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
    /// `thread`'s process is in another directory from now on, or a line shows where it is.
    Directory {
        /// Who.
        thread: ThreadKey,
        /// Where, as the program said it: perhaps counted from where it was.
        directory: StringId,
        /// Which of the two.
        sort: DirectorySort,
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

/// Of a CPU of which events were dropped at places that the file does not say: a stretch in which that can have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seam {
    /// The last time before.
    pub start: Timestamp,
    /// The first time after.
    pub end: Timestamp,
    /// The CPU.
    pub cpu: u32,
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
