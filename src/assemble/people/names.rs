//! Names of threads and processes: the last one recorded, unless they ran another program since.
//!
//! ```text
//! sched_process_fork child_comm=make child_pid=9      New_proc of 9: /usr/bin/gcc       9 is named gcc
//! Comm of 9: sh                                       New_proc of 9: /usr/bin/dash      9 is named sh
//! ```
//!
//! Where programs are derived, a name from before an exec is kept only if the program can have that name, or if the
//! lane that records the exec recorded the name too: the kernel changes a task's name within the exec, before it is
//! recorded.

use rustc_hash::FxHashMap;

use super::super::merge::Merged;
use super::Making;
use crate::base::strings::base_name;
use crate::base::{StringId, Strings};
use crate::event::Directory;
use crate::event::kernel::MOST_COMM;
use crate::event::keys::Derive;
use crate::trace::Thread;

/// An exec: the program that runs after it, and the lane that records it.
#[derive(Clone, Copy)]
pub(super) struct Exec {
    pub(super) program: StringId,
    pub(super) lane: u32,
}

/// For each thread, the lane that recorded its name, `None` if its fork did. Empty if programs are not derived.
pub(super) struct Naming {
    named_in: Vec<Option<u32>>,
}

impl Naming {
    pub(super) fn new(derive: Derive, thread_count: usize) -> Naming {
        let named_in = match derive {
            Derive::Programs => vec![None; thread_count],
            Derive::Nothing => Vec::new(),
        };
        Naming { named_in }
    }

    /// Notes that a name of a thread was recorded in `lane`.
    pub(super) fn note_name(&mut self, thread: usize, lane: u32) {
        if let Some(named_in) = self.named_in.get_mut(thread) {
            *named_in = Some(lane);
        }
    }

    /// Notes that `thread`, which is row `index`, runs another program.
    pub(super) fn exec(
        &mut self,
        index: usize,
        thread: &mut Thread,
        exec: Exec,
        strings: &Strings,
    ) {
        let Some(named_in) = self.named_in.get_mut(index) else {
            return;
        };
        if thread.name != StringId::EMPTY
            && *named_in != Some(exec.lane)
            && !may_be_called(strings, exec.program, thread.name)
        {
            thread.name = StringId::EMPTY;
            *named_in = None;
        }
    }

    /// Returns whether a thread's name comes from its fork or from the directory's list of names (which has no times).
    fn is_of_list(&self, thread: usize) -> bool {
        self.named_in.get(thread) == Some(&None)
    }
}

/// Returns whether the kernel can name a task `name` that runs `program`.
fn may_be_called(strings: &Strings, program: StringId, name: StringId) -> bool {
    let program = base_name(strings.bytes(program));
    let name = strings.bytes(name);
    program.is_empty() || program == name || program.get(..MOST_COMM) == Some(name)
}

impl Making {
    /// Names threads without a name from the directory's list, whose names are the last that were known. Processes
    /// without a name in the directory get their main thread's name, or if there is none, the path of their last
    /// program, which panes shorten.
    pub(super) fn name_all(&mut self, directory: &Directory, merged: &Merged, naming: &Naming) {
        // If the list has several names for one key, the last name is used.
        for entry in directory.threads.iter().rev() {
            let Some(name) = entry.name else { continue };
            let thread = self.keys.last(entry.key);
            let threads = &mut self.people.threads;
            if let Some(thread) = thread.and_then(|id| threads.get_mut(id.0 as usize))
                && thread.name == StringId::EMPTY
            {
                thread.name = merged.directory_strings.get(name);
            }
        }
        let named: FxHashMap<u32, ()> = directory
            .processes
            .iter()
            .filter(|entry| {
                entry
                    .name
                    .is_some_and(|name| merged.directory_strings.get(name) != StringId::EMPTY)
            })
            .filter_map(|entry| self.people.process_of_key.get(&entry.key))
            .map(|id| (id.0, ()))
            .collect();
        let threads = &self.people.threads;
        for (index, process) in self.people.processes.iter_mut().enumerate() {
            if named.contains_key(&(index as u32)) {
                continue;
            }
            let program = process.images.last().map(|image| image.program);
            let main = process.main_thread.map(|id| id.0 as usize);
            if let Some((id, thread)) = main.and_then(|id| Some((id, threads.get(id)?))) {
                process.name = thread.name;
                if naming.is_of_list(id)
                    && program.is_some_and(|program| {
                        !may_be_called(&merged.strings, program, thread.name)
                    })
                {
                    process.name = StringId::EMPTY;
                }
            }
            if process.name == StringId::EMPTY
                && let Some(program) = program
            {
                process.name = program;
            }
        }
    }
}
