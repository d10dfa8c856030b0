//! Cells that many tables contain: owners, CPUs, tracks, durations.

use std::borrow::Cow;

use crate::base::strings::exact_text;
use crate::base::{StringId, Timestamp};
use crate::tables::Cell;
use crate::trace::{ProcessId, ThreadId, Trace, TrackId, TrackKind};

/// Returns the duration of a row whose end may be unknown.
pub(crate) fn duration(start: Timestamp, end: Option<Timestamp>) -> Cell<'static> {
    end.map(|end| (end - start).0).into()
}

/// The numbers of a thread and of its process.
pub(crate) struct Owner {
    pub pid: Cell<'static>,
    pub tid: Cell<'static>,
}

impl Owner {
    pub fn of(trace: &Trace, id: impl Into<Option<ThreadId>>) -> Owner {
        let Some(id) = id.into() else {
            return Owner {
                pid: Cell::None,
                tid: Cell::None,
            };
        };
        if id == ThreadId::IDLE {
            return Owner {
                pid: Cell::None,
                tid: 0_u32.into(),
            };
        }
        Owner {
            pid: trace.process_of(id).map(|process| process.pid).into(),
            tid: trace.thread(id).tid.into(),
        }
    }
}

/// Returns the number of a process.
pub(crate) fn pid_of(trace: &Trace, id: ProcessId) -> Cell<'static> {
    trace.processes.get(id.0 as usize).map(|it| it.pid).into()
}

/// Returns the number of the CPU with this index.
pub(crate) fn cpu_number(trace: &Trace, index: Option<u32>) -> Cell<'static> {
    index
        .and_then(|index| trace.cpus.get(index as usize))
        .map(|cpu| cpu.number)
        .into()
}

/// Returns the name of a track, as tables and exports contain it.
pub(crate) fn track_name(trace: &Trace, id: TrackId) -> Cow<'_, str> {
    let Some(track) = trace.tracks.get(id.0 as usize) else {
        return Cow::default();
    };
    match track.kind {
        _ if track.name != StringId::EMPTY => exact_text(trace.strings.bytes(track.name)),
        TrackKind::Cpu(cpu) => {
            let number = trace.cpus.get(cpu.0 as usize);
            format!("CPU {}", number.map_or(cpu.0, |cpu| cpu.number)).into()
        }
        TrackKind::Thread(thread) => trace.thread_name(thread),
        TrackKind::Nobody => trace.thread_name(None),
        TrackKind::Async(_) => Cow::default(),
    }
}
