//! The threads and CPUs whose waits and events count.

use crate::query::area::{Area, Hidden, Lane, Lanes};
use crate::trace::{CpuId, ThreadId, Trace, TrackKind};

/// The threads and CPUs that count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Among {
    /// All threads and CPUs.
    #[default]
    All,
    /// The events of these threads on any CPU, and all events on these CPUs, as selected lanes contain them.
    AnyOf(Vec<ThreadId>, Vec<CpuId>),
    /// The events of these threads on these CPUs; an empty list means all.
    AllOf(Vec<ThreadId>, Vec<CpuId>),
    /// As the first field, without the events of the hidden threads and on the hidden CPUs.
    Without(Box<Among>, Hidden),
}

impl Among {
    /// Returns the threads and CPUs of an area's lanes, without hidden ones.
    #[must_use]
    pub fn area(trace: &Trace, area: &Area) -> Among {
        let among = Among::lanes(trace, &area.lanes);
        match area.hidden == Hidden::default() {
            true => among,
            false => Among::Without(Box::new(among), area.hidden.clone()),
        }
    }

    /// Returns the threads and CPUs of selected lanes.
    #[must_use]
    fn lanes(trace: &Trace, lanes: &Lanes) -> Among {
        let lanes = match lanes {
            Lanes::All => return Among::All,
            Lanes::Of(lanes) => lanes,
            // An empty list of threads means no threads here, not all threads.
            Lanes::Both { threads, .. } if threads.is_empty() => {
                return Among::AnyOf(Vec::new(), Vec::new());
            }
            Lanes::Both { threads, cpus } => {
                return Among::AllOf(sorted(threads.clone()), sorted(cpus.clone()));
            }
        };
        let (mut threads, mut cpus) = (Vec::new(), Vec::new());
        for lane in lanes {
            match *lane {
                Lane::States(thread) => threads.push(thread),
                Lane::Runs(cpu) | Lane::OnCpu(cpu) => cpus.push(cpu),
                Lane::Track(id) => match trace.tracks.get(id.0 as usize).map(|it| it.kind) {
                    Some(TrackKind::Thread(thread)) => threads.push(thread),
                    Some(TrackKind::Cpu(cpu)) => cpus.push(cpu),
                    _ => {}
                },
                Lane::Counter(_) | Lane::AsyncOf(_) => {}
            }
        }
        Among::AnyOf(sorted(threads), sorted(cpus))
    }

    /// Returns whether something that `thread` did on `cpu` counts; `cpu` is `None` if the CPU is unknown.
    #[must_use]
    pub fn has(&self, thread: impl Into<Option<ThreadId>>, cpu: Option<CpuId>) -> bool {
        let thread = thread.into();
        let is_on = |cpus: &[CpuId]| cpu.is_some_and(|cpu| cpus.contains(&cpu));
        match self {
            Among::All => true,
            Among::AnyOf(threads, cpus) => is_in(threads, thread) || is_on(cpus),
            Among::AllOf(threads, cpus) => {
                (threads.is_empty() || is_in(threads, thread)) && (cpus.is_empty() || is_on(cpus))
            }
            Among::Without(among, hidden) => {
                !is_in(&hidden.threads, thread)
                    && cpu.is_none_or(|cpu| hidden.cpus.binary_search(&cpu).is_err())
                    && among.has(thread, cpu)
            }
        }
    }

    /// Returns whether everything that `thread` did counts, on any CPU.
    #[must_use]
    pub(crate) fn has_anywhere(&self, thread: impl Into<Option<ThreadId>>) -> bool {
        let thread = thread.into();
        match self {
            Among::Without(among, hidden) => {
                hidden.cpus.is_empty()
                    && !is_in(&hidden.threads, thread)
                    && among.has_anywhere(thread)
            }
            _ => self.has(thread, None),
        }
    }

    /// Returns whether something that `thread` did may count, on some CPU.
    #[must_use]
    pub(crate) fn may_have(&self, thread: impl Into<Option<ThreadId>>) -> bool {
        let thread = thread.into();
        match self {
            Among::AnyOf(threads, cpus) if cpus.is_empty() => is_in(threads, thread),
            Among::AllOf(threads, _) if !threads.is_empty() => is_in(threads, thread),
            Among::Without(among, hidden) => {
                !is_in(&hidden.threads, thread) && among.may_have(thread)
            }
            _ => true,
        }
    }
}

/// Returns whether a thread is in a sorted list.
fn is_in(threads: &[ThreadId], thread: Option<ThreadId>) -> bool {
    thread.is_some_and(|thread| threads.binary_search(&thread).is_ok())
}

fn sorted<T: Ord>(mut ids: Vec<T>) -> Vec<T> {
    ids.sort_unstable();
    ids.dedup();
    ids
}
