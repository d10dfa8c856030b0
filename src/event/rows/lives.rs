//! Forks, execs, exits, names and other facts about the lives of threads and processes.

use crate::base::StringId;
use crate::event::{ForkSort, ThreadKey};

/// An event in a thread's life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifeRow {
    /// The event.
    pub event: u32,
    /// What happened.
    pub life: Life,
}

/// Events in the lives of threads and processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    /// `parent` created `child`, which is a new thread even if its key was used before.
    Fork {
        /// The thread that forked, if it is known.
        parent: Option<ThreadKey>,
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
        /// The thread that called `execve`, if it replaced its leader `thread`: it belongs to the process of `thread`,
        /// and its own key ends here.
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
        /// Whether it was the last thread of its process, if the file states that.
        is_last: Option<bool>,
    },
    /// `thread` ends its whole process, by `exit_group`; the exits of the threads follow.
    Exiting {
        /// The thread.
        thread: ThreadKey,
        /// The exit code.
        status: i32,
    },
    /// `thread` has ended before, and the kernel has forgotten it.
    Forgotten {
        /// The thread.
        thread: ThreadKey,
    },
    /// The parent of the process of `thread` learnt that it has ended; used only if its own end is not in the file.
    Reaped {
        /// The main thread of the process.
        thread: ThreadKey,
        /// The exit code, if known.
        status: Option<i32>,
        /// The signal that killed it, if known.
        signal: Option<i32>,
    },
    /// `thread` has the name `name` from now on (and also before, if this is its first name).
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
    /// `thread` itself reports that it belongs to the process of `leader`: used only if nothing else shows its process.
    Claim {
        /// The thread.
        thread: ThreadKey,
        /// The main thread of its process.
        leader: ThreadKey,
    },
}

impl Life {
    /// Returns an exec whose arguments, directory and interpreter are not recorded. `caller` is the thread that called
    /// `execve`, if it is recorded.
    #[must_use]
    pub(crate) fn exec(thread: ThreadKey, program: StringId, caller: Option<ThreadKey>) -> Life {
        Life::Exec {
            thread,
            program,
            arguments: Vec::new(),
            directory: StringId::EMPTY,
            interpreter: StringId::EMPTY,
            caller: caller.filter(|caller| *caller != thread),
        }
    }
}

/// How the working directory of a process is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectorySort {
    /// The process changed to the directory.
    Changed,
    /// The process is in the directory, and was since its last change of directory.
    Found,
}
