//! What threads and processes are called: what was told of them last, unless they ran another program since.
//!
//! ```text
//! sched_process_fork child_comm=make child_pid=9      New_proc of 9: /usr/bin/gcc       9 is called gcc
//! Comm of 9: sh                                       New_proc of 9: /usr/bin/dash      9 is called sh
//! ```
//!
//! Where programs are known, a name from before an exec stays only if the program can be called so, or if the one who
//! tells of the exec told it, too: the kernel's name of a task changes within the exec, before that is told.

use rustc_hash::FxHashMap;

use super::{People, directory_name};
use crate::base::strings::base_name;
use crate::base::{StringId, Timestamp};
use crate::build::merge::Merged;
use crate::event::Directory;
use crate::event::keys::Derive;
use crate::trace::Thread;

/// The kernel cuts names of tasks after so many bytes.
const MOST_COMM_BYTES: usize = 15;

/// Which lane told each thread's name, `None` if its fork did; empty where programs are not derived.
pub(super) struct Naming {
    told_in: Vec<Option<u32>>,
}

impl Naming {
    pub(super) fn new(derive: Derive, thread_count: usize) -> Naming {
        let told_in = match derive {
            Derive::Programs => vec![None; thread_count],
            Derive::Nothing => Vec::new(),
        };
        Naming { told_in }
    }

    /// A name of a thread was told in `lane`.
    pub(super) fn tell(&mut self, thread: usize, lane: u32) {
        if let Some(told_in) = self.told_in.get_mut(thread) {
            *told_in = Some(lane);
        }
    }

    /// A thread runs another program, as `lane` tells.
    pub(super) fn exec(
        &mut self,
        index: usize,
        thread: &mut Thread,
        program: StringId,
        lane: u32,
        merged: &Merged,
    ) {
        let Some(told_in) = self.told_in.get_mut(index) else {
            return;
        };
        if thread.name != StringId::EMPTY
            && *told_in != Some(lane)
            && !may_be_called(merged, program, thread.name)
        {
            thread.name = StringId::EMPTY;
            *told_in = None;
        }
    }

    /// Whether nobody told the name of a thread but the list of all names, which does not say since when.
    fn is_of_list(&self, thread: usize) -> bool {
        self.told_in.get(thread) == Some(&None)
    }
}

/// Whether the kernel may call a task that runs `program` so.
fn may_be_called(merged: &Merged, program: StringId, name: StringId) -> bool {
    let program = base_name(merged.strings.bytes(program));
    let name = merged.strings.bytes(name);
    program.is_empty() || program == name || program.get(..MOST_COMM_BYTES) == Some(name)
}

impl People {
    /// Names threads that nothing else names by the file's list; its names are the last that were known. Processes
    /// without a name of their own are called as their main thread; a first process of an image list without names
    /// keeps its program's path for the panes to shorten.
    pub(super) fn name_all(&mut self, directory: &Directory, merged: &Merged, naming: &Naming) {
        // Of several for one key the last counts.
        for entry in directory.threads.iter().rev() {
            let Some(name) = entry.name else { continue };
            let thread = self.map.at(entry.key, Timestamp::MAX).0 as usize;
            if let Some(thread) = self.threads.get_mut(thread)
                && thread.name == StringId::EMPTY
            {
                thread.name = directory_name(merged, name);
            }
        }
        let named: FxHashMap<u32, ()> = directory
            .processes
            .iter()
            .filter(|entry| {
                entry
                    .name
                    .is_some_and(|name| directory_name(merged, name) != StringId::EMPTY)
            })
            .filter_map(|entry| self.process_of_key.get(&entry.key))
            .map(|id| (id.0, ()))
            .collect();
        for (index, process) in self.processes.iter_mut().enumerate() {
            if named.contains_key(&(index as u32)) {
                continue;
            }
            let program = process.images.last().map(|image| image.program);
            let main = process.main_thread.map(|id| id.0 as usize);
            if let Some((id, thread)) = main.and_then(|id| Some((id, self.threads.get(id)?))) {
                process.name = thread.name;
                if naming.is_of_list(id)
                    && program.is_some_and(|program| !may_be_called(merged, program, thread.name))
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
