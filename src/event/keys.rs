//! Keys: how a reader names threads, processes and kinds of events, and the directory that explains them.
//!
//! A key is the file's name for a thing and may be reused by it; `build::identities` turns keys into the
//! ids of a `Trace`, each of which is one thing only.

use super::lane::ForkSort;
use super::syscalls::Abi;
use crate::base::{StringId, Strings, Timestamp};

/// A thread as its reader names it: in kernel formats the pid itself, elsewhere a number the reader gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey(pub u32);

impl ThreadKey {
    /// Nobody: the idle task of whatever CPU it is (pid 0). Every reader keeps this number for it.
    pub const IDLE: ThreadKey = ThreadKey(0);
    /// Not known.
    pub const UNKNOWN: ThreadKey = ThreadKey(u32::MAX);
}

/// A process as its reader names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey(pub u32);

/// The number of an [`EventKind`] in its reader's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u16);

/// What a kind of event turns into in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// A point on its thread's track (on its CPU's track where the thread is idle).
    #[default]
    Instant,
    /// A point on its CPU's track, whoever was running.
    CpuInstant,
    /// It is seen otherwise: as end of a slice or run, as a wakeup, as a counter's sample.
    /// (Ends that found no beginning are shown as instants all the same.)
    Consumed,
}

/// A kind of event: what the `events` table and the event list call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKind {
    /// Its name, e.g. `sched_switch`.
    pub name: StringId,
    /// Its system or category, e.g. `sched`.
    pub category: StringId,
    /// What becomes of it.
    pub role: Role,
}

/// What is known of a thread beside its life events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadEntry {
    /// The reader's name for it.
    pub key: ThreadKey,
    /// The number that people know it by (tid, koid, low bits of an upid).
    pub tid: u64,
    /// How the file itself names it, where that is more than the tid (etrace upid, FXT koid).
    pub file_key: u64,
    /// Its process, if the file says.
    pub process: Option<ProcessKey>,
    /// Its name, if the file says.
    pub name: Option<StringId>,
}

/// What is known of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The reader's name for it.
    pub key: ProcessKey,
    /// The number that people know it by.
    pub pid: u64,
    /// How the file itself names it.
    pub file_key: u64,
    /// Its name, if the file says.
    pub name: Option<StringId>,
}

/// The life of a process or thread as the file describes it without events: only FXT files of our own exporter do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaidLife {
    /// When it began, if the trace saw it.
    pub start: Option<Timestamp>,
    /// When it ended, if the trace saw it.
    pub end: Option<Timestamp>,
    /// How a process was made, if the trace saw it.
    pub made: Option<ForkSort>,
    /// Who made a process.
    pub parent: Option<ProcessKey>,
    /// A process's exit code.
    pub exit_status: Option<i32>,
    /// The signal that killed a process.
    pub exit_signal: Option<i32>,
}

/// A program that a process ran, from an exec to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidImage {
    /// When it was loaded.
    pub start: Timestamp,
    /// Its path.
    pub program: StringId,
    /// Its arguments, the first is the program's own name.
    pub arguments: Vec<StringId>,
    /// The working directory, empty if not known.
    pub directory: StringId,
    /// The interpreter, empty if not known.
    pub interpreter: StringId,
}

/// A key that the file used because it knew no better: what is born under it is one of `candidates`, which
/// is then born again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The key that means no thread of its own.
    pub key: ThreadKey,
    /// What it can mean; the one that was first seen or born last before the birth is meant.
    pub candidates: Vec<ThreadKey>,
}

/// What the reader's numbers mean. Asked for when all parts were read.
///
/// Threads that are not listed are known by their key alone: tid = key. A format whose keys are pids
/// (trace.dat, ftrace text, strace) need list only those it has a name for.
#[derive(Clone, Debug, Default)]
pub struct Directory {
    /// Kinds, indexed by [`KindId`].
    pub kinds: Vec<EventKind>,
    /// Threads with more than a key.
    pub threads: Vec<ThreadEntry>,
    /// Processes that the file names as such.
    pub processes: Vec<ProcessEntry>,
    /// When processes began and ended, and who made them, where the file says it without events.
    pub process_lives: Vec<(ProcessKey, SaidLife)>,
    /// When threads began and ended, where the file says it without events.
    pub thread_lives: Vec<(ThreadKey, SaidLife)>,
    /// The programs that processes ran, each process's in order, where the file says it without events.
    pub images: Vec<(ProcessKey, SaidImage)>,
    /// Keys that mean others.
    pub aliases: Vec<Alias>,
    /// What the environment of some was.
    pub environments: Vec<Environment>,
    /// What `build` makes of lives and files beyond threads and processes.
    pub derive: Derive,
    /// What the paths of opens are.
    pub opens: OpenPaths,
    /// What is said of tasks whose birth is not in the file.
    pub unseen: Unseen,
    /// The machine whose numbers raw system calls have; `None` where the file does not say.
    pub syscall_abi: Option<Abi>,
    /// The strings that the above refer to.
    pub strings: Strings,
}

/// The environment of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Its main thread.
    pub thread: ThreadKey,
    /// `NAME=value` each.
    pub variables: Vec<StringId>,
}

/// What the file says, by itself, of tasks whose birth is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unseen {
    /// They lived before.
    #[default]
    LivedBefore,
    /// The numbers of tasks rise from birth to birth: those above the number of one that was born in the file are new.
    NumbersRise,
    /// The file begins with this task (its number in the file, 0 if it says nothing there): all others are new.
    NewButRoot(u64),
}

/// What the path of an open is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenPaths {
    /// As the program said it: symbolic links may be in it.
    #[default]
    AsSaid,
    /// Where it led to: no symbolic links are in it.
    Resolved,
}

/// What `build` derives from lives and files for formats that have nothing else to draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Derive {
    /// Nothing.
    #[default]
    Nothing,
    /// Slices of the programs that a process ran, of the files that it had open, and arrows from forks to
    /// children and from the writers of pipes to their readers.
    Programs,
}
