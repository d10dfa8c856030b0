//! Names and births of threads. A name is added when it changes.

use super::{NAMES, PartPass, ThreadName, until_nul};
use crate::event::{ForkSort, Life, LifeRow, ThreadKey};

impl PartPass<'_> {
    /// Adds the name of thread `pid` (16 bytes at offset `at` of `payload`) to the rows, unless the thread's last name
    /// is the same.
    #[inline]
    pub(super) fn name(&mut self, event: u32, pid: u32, at: Option<u32>, payload: &[u8]) {
        let name = at
            .and_then(|at| payload.get(at as usize..))
            .and_then(<[u8]>::first_chunk::<16>);
        let slot = self.names.get_mut(pid as usize % NAMES);
        if let (Some(name), Some(slot)) = (name, slot)
            && (slot.pid != pid || slot.name != *name)
        {
            let (old, name) = (*slot, *name);
            *slot = ThreadName { pid, name };
            self.new_name(event, pid, old, name);
        }
    }

    #[cold]
    fn new_name(&mut self, event: u32, pid: u32, old: ThreadName, name: [u8; 16]) {
        let known = if old.pid == pid {
            Some(old.name)
        } else {
            if old.pid != 0 {
                self.other_names.insert(old.pid, old.name);
            }
            self.other_names.get(&pid).copied()
        };
        if pid != 0 && known != Some(name) {
            let name = self.columns.strings.intern(until_nul(&name));
            self.live(
                event,
                Life::Name {
                    thread: ThreadKey(pid),
                    name,
                },
            );
        }
    }

    pub(super) fn live(&mut self, event: u32, life: Life) {
        self.columns.lives.push(LifeRow { event, life });
    }

    pub(super) fn name_fixed(&mut self, event: u32, pid: u32, name: [u8; 16]) {
        self.name(event, pid, Some(0), &name);
    }

    pub(super) fn fork(
        &mut self,
        event: u32,
        parent: Option<ThreadKey>,
        child: u32,
        sort: ForkSort,
        name: Option<&[u8]>,
    ) {
        let name = name.map_or(&b""[..], until_nul);
        // The name of an earlier thread with this pid no longer applies.
        let mut fixed = [0; 16];
        for (to, from) in fixed.iter_mut().zip(name) {
            *to = *from;
        }
        self.other_names.insert(child, fixed);
        if let Some(slot) = self.names.get_mut(child as usize % NAMES)
            && slot.pid == child
        {
            slot.name = fixed;
        }
        let name = self.columns.strings.intern(name);
        let child = ThreadKey(child);
        let life = Life::Fork {
            parent,
            child,
            sort,
            name,
        };
        self.live(event, life);
    }
}
