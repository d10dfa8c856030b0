//! The calls of each thread that are open in a part of a trace. If no begin is found here for an end, the begin was
//! lost or is in another part. This is only a hint, which limits the number of ends for which the reader must add the
//! call's duration.

use crate::event::{CallDepth, ThreadKey};

const SLOTS: usize = 1024;
/// Maximum number of open calls: the kernel's return stack has 50 entries.
const MOST_OPEN: usize = 64;

/// The caller of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Thread(u32),
    /// The idle thread of a CPU, or an unknown thread there, because these have the same key on all CPUs.
    IdleOn(u32),
}

impl Caller {
    #[inline]
    pub(crate) fn of(thread: Option<ThreadKey>, cpu: u32) -> Caller {
        match thread {
            Some(ThreadKey::IDLE) | None => Caller::IdleOn(cpu),
            Some(thread) => Caller::Thread(thread.0),
        }
    }

    #[inline]
    fn slot(self) -> usize {
        let number = match self {
            Caller::Thread(key) => key,
            Caller::IdleOn(cpu) => !cpu,
        };
        number as usize % SLOTS
    }
}

/// The calls of one thread.
#[derive(Clone, Debug)]
struct Calls {
    thread: Caller,
    /// Keys of the open calls, innermost last.
    open: Vec<u64>,
    /// The smallest key of any call of this thread.
    least: u64,
    /// Value of `OpenCalls::losses` when these calls were last valid.
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
            thread: Caller::IdleOn(0),
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
    fn of(&mut self, thread: Caller) -> Option<&mut Calls> {
        let calls = self.slots.get_mut(thread.slot())?;
        if calls.thread != thread || calls.losses != self.losses {
            calls.thread = thread;
            calls.losses = self.losses;
            calls.open.clear();
            calls.least = u64::MAX;
        }
        Some(calls)
    }

    /// Adds a call of `thread` that begins; its end has the same `key`.
    #[inline]
    pub(crate) fn begin(&mut self, thread: Caller, key: u64) {
        if let Some(calls) = self.of(thread) {
            if calls.open.len() >= MOST_OPEN {
                calls.open.clear();
            }
            calls.open.push(key);
        }
    }

    /// Removes a call of `thread` that ends; returns whether its begin was seen. Open calls inside it lost their ends.
    #[inline]
    #[must_use]
    pub(crate) fn end(&mut self, thread: Caller, key: u64) -> bool {
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

    /// Sets the depth of `thread` to `key` (keys are depths here): open calls at this depth or deeper have ended, and
    /// their ends were lost. Returns whether the thread was at this depth or above before; if so, all open calls of
    /// this depth are known.
    #[inline]
    pub(crate) fn come_to(&mut self, thread: Caller, key: u64) -> bool {
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

/// Follows the depths of calls in a lane, to find depths that do not follow from the previous event.
#[derive(Clone, Debug, Default)]
pub(crate) struct DepthFollower {
    /// The last event's thread, and the depth of its next entry if nothing is lost.
    last: Option<Reached>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reached {
    thread: Caller,
    inside: u32,
}

impl DepthFollower {
    /// Adds an entry at a depth; returns its row if the depth does not follow from the previous event.
    #[inline]
    pub(crate) fn enter(&mut self, thread: Caller, call: CallDepth) -> Option<CallDepth> {
        let depth = call.depth;
        self.step(thread, call, depth, depth.saturating_add(1))
    }

    /// Adds a return at a depth; returns its row if the depth does not follow from the previous event.
    #[inline]
    pub(crate) fn leave(&mut self, thread: Caller, call: CallDepth) -> Option<CallDepth> {
        let depth = call.depth;
        self.step(thread, call, depth.saturating_add(1), depth)
    }

    #[inline]
    fn step(
        &mut self,
        thread: Caller,
        call: CallDepth,
        before: u32,
        after: u32,
    ) -> Option<CallDepth> {
        let at = |inside| Some(Reached { thread, inside });
        let is_implied = self.last == at(before);
        self.last = at(after);
        (!is_implied).then_some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_depths_that_nothing_implies_are_told() {
        let mut follower = DepthFollower::default();
        let call = |event, depth| CallDepth { event, depth };
        let mut told = Vec::new();
        told.extend(follower.enter(Caller::Thread(7), call(0, 3)));
        told.extend(follower.enter(Caller::Thread(7), call(1, 4)));
        told.extend(follower.leave(Caller::Thread(7), call(2, 4)));
        told.extend(follower.leave(Caller::Thread(7), call(3, 3)));
        // The entry at 2 was lost.
        told.extend(follower.leave(Caller::Thread(7), call(4, 2)));
        told.extend(follower.enter(Caller::Thread(7), call(5, 2)));
        told.extend(follower.enter(Caller::Thread(8), call(6, 3)));
        told.extend(follower.leave(Caller::Thread(7), call(7, 2)));
        assert_eq!(told, [call(0, 3), call(6, 3), call(7, 2)]);
    }

    #[test]
    fn an_end_without_a_begin_is_told() {
        let mut open = OpenCalls::default();
        assert!(!open.end(Caller::Thread(7), 1));
        open.begin(Caller::Thread(7), 1);
        open.begin(Caller::Thread(7), 2);
        open.begin(Caller::Thread(7), 3);
        assert!(!open.end(Caller::Thread(7), 4));
        assert!(
            open.end(Caller::Thread(7), 2)
                && !open.end(Caller::Thread(7), 3)
                && open.end(Caller::Thread(7), 1)
                && !open.end(Caller::Thread(7), 1)
        );
        open.begin(Caller::Thread(7), 1);
        open.begin(Caller::Thread(7 + SLOTS as u32), 1);
        assert!(open.end(Caller::Thread(7 + SLOTS as u32), 1) && !open.end(Caller::Thread(7), 1));
        open.begin(Caller::Thread(9), 1);
        open.begin(Caller::Thread(9), 2);
        assert!(!open.come_to(Caller::Thread(9), 2) && open.come_to(Caller::Thread(9), 2));
        assert!(!open.end(Caller::Thread(9), 2) && open.end(Caller::Thread(9), 1));
        for _ in 0..1000 {
            open.begin(Caller::Thread(8), 5);
        }
        assert!(open.end(Caller::Thread(8), 5));
        open.begin(Caller::Thread(8), 5);
        open.forget();
        assert!(!open.end(Caller::Thread(8), 5));
    }
}
