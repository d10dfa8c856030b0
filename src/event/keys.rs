//! Keys, with which a reader identifies threads, processes and kinds of events, and the directory that describes them.
//!
//! A key identifies a thread or process as the file does, and the file may reuse the key; `assemble::people` turns
//! keys into ids of a `Trace`, each of which belongs to only one thread or process.

use super::kernel::ProbeGroup;
use super::syscalls::Abi;
use crate::base::maybe::Sparse;
use crate::base::numbered::Named;
use crate::base::streaks::Follows;
use crate::base::{StringId, Strings, Timestamp};
use serde::{Deserialize, Serialize};

/// A reader's key of a thread: in kernel formats the pid itself, elsewhere a number that the reader assigned.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ThreadKey(pub u32);

impl ThreadKey {
    /// The idle task of any CPU (pid 0). Every reader reserves this key for it.
    pub const IDLE: ThreadKey = ThreadKey(0);
}

impl Sparse for ThreadKey {
    const UNUSED: ThreadKey = ThreadKey(u32::MAX);
}

/// A reader's key of a process.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ProcessKey(pub u32);

/// Index of an [`EventKind`] in its reader's directory.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct KindId(pub u32);

impl Follows for KindId {
    #[inline]
    fn after(self, steps: u32) -> KindId {
        KindId(self.0.wrapping_add(steps))
    }
}

impl KindId {
    /// Returns the kind's index in lists by kind.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How events of a kind are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// A point on its thread's track, or on its CPU's track if the thread is idle.
    #[default]
    Instant,
    /// A point on its CPU's track, whichever thread was running.
    CpuInstant,
    /// Drawn in another form: as the end of a slice or run, as a wakeup, or as a sample of a counter. (An end without a
    /// matching begin is still drawn as an instant.)
    Consumed,
    /// As `Consumed`; in addition, the kind has the names in the record: those of a slice, a counter or an arrow. The
    /// kind of an end has the end's own names, if any.
    Named,
    /// As `Consumed`: a thread enters or leaves a system call, which it does not do within a context switch.
    SystemCall,
    /// A point that is also a log message.
    Log,
    /// A point that contains a file for other tools; it may belong to no thread.
    Attachment,
    /// A point that names the target of a pointer: its first field is the pointer, its second the process.
    PointerName,
    /// A context switch: drawn as the end of a run and the begin of another.
    Switch,
}

/// A kind of event, as the `events` table and the event list show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EventKind {
    /// The kind's name, e.g. `sched_switch`.
    pub name: StringId,
    /// The kind's system or category, e.g. `sched`.
    pub category: StringId,
    /// How events of this kind are drawn.
    pub role: Role,
    /// What defines the kind.
    pub origin: KindOrigin,
}

/// What defines a kind of event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum KindOrigin {
    /// The recorder.
    #[default]
    Recorder,
    /// A probe that a user defined (kprobe, uprobe, eprobe).
    Probe,
    /// A mark in the text that a program wrote with ftrace: the kind has the mark's name, and its events were recorded as
    /// `ftrace:print`.
    Mark,
}

impl KindOrigin {
    /// The category of kinds with this origin.
    pub(crate) const MARK_CATEGORY: &'static str = "atrace";

    /// Returns the origin of a kind of a recorder in the system `system`.
    pub(crate) fn of_system(system: &[u8]) -> KindOrigin {
        match ProbeGroup::of(system) {
            Some(_) => KindOrigin::Probe,
            None => KindOrigin::Recorder,
        }
    }
}

impl Follows for EventKind {
    #[inline]
    fn after(self, steps: u32) -> EventKind {
        EventKind {
            name: self.name.after(steps),
            ..self
        }
    }
}

impl Named for EventKind {
    fn name(&self) -> StringId {
        self.name
    }
}

/// The facts about a thread that do not come from its life events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEntry {
    /// The reader's key.
    pub key: ThreadKey,
    /// The number by which people know the thread (tid, koid, low bits of an upid).
    pub tid: u64,
    /// The file's own id of the thread, if it differs from the tid (etrace upid, FXT koid).
    pub file_key: u64,
    /// The thread's process, if the file contains it.
    pub process: Option<ProcessKey>,
    /// The name, if the file contains it.
    pub name: Option<StringId>,
}

/// The facts about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The reader's key.
    pub key: ProcessKey,
    /// The number by which people know the process.
    pub pid: u64,
    /// The file's own id of the process.
    pub file_key: u64,
    /// The name, if the file contains it.
    pub name: Option<StringId>,
}

/// Whether a fork created a process or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ForkSort {
    /// A process of its own.
    Process,
    /// A process whose parent is that of the process that made it.
    Sibling,
    /// A thread in its parent's process.
    Thread,
    /// The file does not contain it.
    Unknown,
}

impl ForkSort {
    /// The kernel's `CLONE_PARENT`.
    pub(crate) const CLONE_PARENT: u64 = 0x8000;
    /// The kernel's `CLONE_THREAD`.
    pub(crate) const CLONE_THREAD: u64 = 0x1_0000;

    /// Returns what the kernel creates with these flags of clone (`clone_flags` of `task_newtask`).
    #[must_use]
    pub(crate) fn of_clone(flags: u64) -> ForkSort {
        match flags {
            _ if flags & ForkSort::CLONE_THREAD != 0 => ForkSort::Thread,
            _ if flags & ForkSort::CLONE_PARENT != 0 => ForkSort::Sibling,
            _ => ForkSort::Process,
        }
    }
}

/// The life of a process or thread that the file describes without events: only FXT files of our own exporter do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedLife {
    /// Start time, if the trace contains the start.
    pub start: Option<Timestamp>,
    /// End time, if the trace contains the end.
    pub end: Option<Timestamp>,
    /// How a process was created, if the trace contains its creation.
    pub made: Option<ForkSort>,
    /// The process that created a process.
    pub parent: Option<ProcessKey>,
    /// A process's exit code.
    pub exit_status: Option<i32>,
    /// The signal that killed a process.
    pub exit_signal: Option<i32>,
    /// When a thread was last seen, if its recording ended before others: then its last state was not over.
    pub seen_until: Option<Timestamp>,
}

/// A program that a process ran, from an exec to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedImage {
    /// Time of the exec.
    pub start: Timestamp,
    /// The program's path.
    pub program: StringId,
    /// The program's arguments; the first is its own name.
    pub arguments: Vec<StringId>,
    /// The working directory; empty if unknown.
    pub directory: StringId,
    /// The interpreter; empty if unknown.
    pub interpreter: StringId,
}

/// A key that the file uses instead of another one: a thread that is created with `key` is one of `candidates`, which
/// starts a new life then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The key that is used.
    pub key: ThreadKey,
    /// The keys that it may replace. It means the candidate whose first event or birth is the last one before this
    /// birth.
    pub candidates: Vec<ThreadKey>,
}

/// The process of a thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The thread.
    pub thread: ThreadKey,
    /// The main thread of its process.
    pub leader: ThreadKey,
    /// When this was so.
    pub when: Moment,
}

/// A moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The recording's start.
    Start,
    /// The recording's end, or the thread's if that was before.
    End,
}

/// The meaning of the reader's keys. Requested after all parts were read.
///
/// Threads that are not listed have tid = key and no other facts. A format whose keys are pids (trace.dat, ftrace text,
/// strace) need list only the threads whose names it has.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Kinds, indexed by [`KindId`].
    pub kinds: Vec<EventKind>,
    /// Threads with more facts than the key.
    pub threads: Vec<ThreadEntry>,
    /// The processes of threads, where the file states them without events.
    pub groups: Vec<Group>,
    /// Processes that the file names as such.
    pub processes: Vec<ProcessEntry>,
    /// Lives of processes, where the file describes them without events.
    pub process_lives: Vec<(ProcessKey, RecordedLife)>,
    /// Lives of threads, where the file describes them without events.
    pub thread_lives: Vec<(ThreadKey, RecordedLife)>,
    /// The programs that processes ran, in order for each process, where the file describes them without events.
    pub images: Vec<(ProcessKey, RecordedImage)>,
    /// The positions of processes among processes of the same level, if the file states them.
    pub process_ranks: Vec<(ProcessKey, i64)>,
    /// The positions of threads in their processes, if the file states them.
    pub thread_ranks: Vec<(ThreadKey, i64)>,
    /// What the file adds to the names of processes.
    pub process_labels: Vec<(ProcessKey, StringId)>,
    /// Keys that are used instead of others.
    pub aliases: Vec<Alias>,
    /// Parts of the environments of processes, where the file has them.
    pub environments: Vec<Environment>,
    /// What `assemble` derives from lives and files in addition to threads and processes.
    pub derive: Derive,
    /// Whether the paths of opens are resolved.
    pub opens: OpenPaths,
    /// What the file implies about tasks whose birth is not in the file.
    pub unseen: Unseen,
    /// The system call table for raw system call numbers; `None` if the file does not state it.
    pub syscall_abi: Option<Abi>,
    /// The last moment of the recording, if the file states it: unfinished items lasted at least until then.
    pub seen_until: Option<Timestamp>,
    /// The strings that the other fields refer to.
    pub strings: Strings,
}

/// Variables that are in the environments of several processes. One process may be in several of these lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The main threads of the processes.
    pub threads: Vec<ThreadKey>,
    /// The variables, each as `NAME=value`.
    pub variables: Vec<StringId>,
}

/// What the file implies about tasks whose birth is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// These tasks were alive before the file starts.
    #[default]
    LivedBefore,
    /// Task numbers increase from birth to birth: a task with a higher number than a task that was born in the file is
    /// new.
    NumbersRise,
    /// The file starts with this task (its number; 0 if the file does not state it): all other tasks are new.
    NewButRoot(u64),
}

/// Whether the path of an open is resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpenPaths {
    /// The path as the program passed it: may contain symbolic links.
    #[default]
    AsPassed,
    /// The resolved path, without symbolic links.
    Resolved,
}

/// What `assemble` derives from lives and files, for formats that have nothing else to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derive {
    /// Nothing.
    #[default]
    Nothing,
    /// Slices of the programs that a process ran, of the files that it had open, and arrows from forks to
    /// children and from the writers of pipes to their readers.
    Programs,
}
