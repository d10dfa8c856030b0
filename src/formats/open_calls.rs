//! The calls of each thread that are open in a part of a trace. If an end finds no begin here, the begin was lost or is
//! in another part. This is only a hint: it limits for how many ends the reader must add the call's duration.

const SLOTS: usize = 1024;
/// The kernel's return stack has 50 entries.
const MOST_OPEN: usize = 64;

/// The calls of one thread.
#[derive(Clone, Debug)]
struct Calls {
    thread: u32,
    /// Keys of the open calls, innermost last.
    open: Vec<u64>,
    /// The smallest key of any call of this thread.
    least: u64,
    /// Value of `OpenCalls::losses` when this was last valid.
    losses: u32,
}

/// Open calls by thread. If several threads share a slot, only the calls of the last one are stored.
#[derive(Clone, Debug)]
pub(crate) struct OpenCalls {
    slots: Vec<Calls>,
    losses: u32,
}

impl Default for OpenCalls {
    fn default() -> OpenCalls {
        let nobody = Calls {
            thread: 0,
            open: Vec::new(),
            least: u64::MAX,
            losses: 0,
        };
        OpenCalls {
            slots: vec![nobody; SLOTS],
            losses: 0,
        }
    }
}

impl OpenCalls {
    /// Forgets all calls, because events were lost.
    pub(crate) fn forget(&mut self) {
        self.losses = self.losses.wrapping_add(1);
    }

    #[inline]
    fn of(&mut self, thread: u32) -> Option<&mut Calls> {
        let calls = self.slots.get_mut(thread as usize % SLOTS)?;
        if calls.thread != thread || calls.losses != self.losses {
            calls.thread = thread;
            calls.losses = self.losses;
            calls.open.clear();
            calls.least = u64::MAX;
        }
        Some(calls)
    }

    /// Records that a call of `thread` begins; its end has the same `key`.
    #[inline]
    pub(crate) fn begin(&mut self, thread: u32, key: u64) {
        if let Some(calls) = self.of(thread) {
            if calls.open.len() >= MOST_OPEN {
                calls.open.clear();
            }
            calls.open.push(key);
        }
    }

    /// Records that a call of `thread` ends. Returns whether its begin was seen. Open calls inside it lost their ends.
    #[inline]
    #[must_use]
    pub fn end(&mut self, thread: u32, key: u64) -> bool {
        let Some(calls) = self.of(thread) else {
            return false;
        };
        match calls.open.iter().rposition(|open| *open == key) {
            Some(at) => {
                calls.open.truncate(at);
                true
            }
            None => false,
        }
    }

    /// Records that `thread` is at depth `key` (keys are depths here): its open calls at this depth or deeper are over,
    /// and their ends were lost. Returns whether the thread was at this depth or above before; if so, all open calls of
    /// this depth are known.
    #[inline]
    pub(crate) fn come_to(&mut self, thread: u32, key: u64) -> bool {
        let Some(calls) = self.of(thread) else {
            return false;
        };
        while calls.open.last().is_some_and(|open| *open >= key) {
            calls.open.pop();
        }
        let was_here = calls.least <= key;
        calls.least = calls.least.min(key);
        was_here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_without_a_begin_is_told() {
        let mut open = OpenCalls::default();
        assert!(!open.end(7, 1));
        open.begin(7, 1);
        open.begin(7, 2);
        open.begin(7, 3);
        assert!(!open.end(7, 4));
        assert!(open.end(7, 2) && !open.end(7, 3) && open.end(7, 1) && !open.end(7, 1));
        open.begin(7, 1);
        open.begin(7 + SLOTS as u32, 1);
        assert!(open.end(7 + SLOTS as u32, 1) && !open.end(7, 1));
        open.begin(9, 1);
        open.begin(9, 2);
        assert!(!open.come_to(9, 2) && open.come_to(9, 2));
        assert!(!open.end(9, 2) && open.end(9, 1));
        for _ in 0..1000 {
            open.begin(8, 5);
        }
        assert!(open.end(8, 5));
        open.begin(8, 5);
        open.forget();
        assert!(!open.end(8, 5));
    }
}
