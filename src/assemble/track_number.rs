//! The number of a track while tracks are made: CPUs first, then threads, then the track of events without a thread.

use crate::trace::{CpuId, ThreadId, TrackKind};

/// The number of the track of events without a thread.
const NOBODY: u32 = u32::MAX;

/// An event that is an instant on a track.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackEvent {
    /// The number of the track.
    pub track: u32,
    /// The event.
    pub event: u32,
}

/// Returns the track number of a CPU.
pub(crate) fn of_cpu(cpu: CpuId) -> u32 {
    cpu.0
}

/// Returns the track number of a thread, or of the events without a thread, in a trace with `cpu_count` CPUs.
pub(crate) fn of_thread(thread: impl Into<Option<ThreadId>>, cpu_count: usize) -> u32 {
    (thread.into()).map_or(NOBODY, |thread| cpu_count as u32 + thread.0)
}

/// Returns the owner of a track number (a CPU, a thread, or none) in a trace with `cpu_count` CPUs.
pub(crate) fn kind_of(number: u32, cpu_count: usize) -> TrackKind {
    if number == NOBODY {
        return TrackKind::Nobody;
    }
    match number.checked_sub(cpu_count as u32) {
        None => TrackKind::Cpu(CpuId(number)),
        Some(thread) => TrackKind::Thread(ThreadId(thread)),
    }
}
