//! Cells that many tables contain: owners, CPUs, tracks.

use std::borrow::Cow;

use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::tables::Cell;
use crate::trace::{ProcessId, ThreadId, Trace, TrackId, TrackKind};

/// The numbers of a thread and of its process.
pub(crate) struct Owner {
    pub pid: Cell<'static>,
    pub tid: Cell<'static>,
}

impl Owner {
    pub(crate) fn of(trace: &Trace, id: impl Into<Option<ThreadId>>) -> Owner {
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

/// Returns the name of a thread, as tables and exports contain it: in the table of threads, too, if it has one.
fn thread_name(trace: &Trace, id: Option<ThreadId>) -> Cow<'_, str> {
    let named = id.map(|id| trace.thread(id).name);
    match named.filter(|&name| name != StringId::EMPTY) {
        Some(name) => exact_text(trace.strings.bytes(name)),
        None => trace.thread_name(id),
    }
}

/// Returns the name of a track, as tables and exports contain it.
pub(crate) fn track_name(trace: &Trace, id: TrackId) -> Cow<'_, str> {
    let Some(track) = trace.tracks.get(id.0 as usize) else {
        return Cow::default();
    };
    match track.kind {
        _ if track.name != StringId::EMPTY => exact_text(trace.strings.bytes(track.name)),
        TrackKind::Cpu(cpu) => trace.cpu_title(cpu).into(),
        TrackKind::Thread(thread) => thread_name(trace, Some(thread)),
        TrackKind::Nobody => trace.thread_name(None),
        TrackKind::Async(_) => Cow::default(),
    }
}

/// The values of long tables' columns about threads, by thread; the last entry is for rows without a thread.
pub(crate) struct Owners {
    /// The numbers of the processes.
    pub pids: Vec<Option<u64>>,
    /// The numbers of the threads.
    pub tids: Vec<Option<u64>>,
    /// The rows of the processes.
    pub upids: Vec<Option<i64>>,
    /// The names of the processes, as numbers of strings of the trace.
    pub processes: Vec<Option<u32>>,
    /// The names of the threads.
    pub names: Vec<String>,
}

impl Owners {
    pub(crate) fn new(trace: &Trace) -> Owners {
        let mut owners = Owners {
            pids: Vec::new(),
            tids: Vec::new(),
            upids: Vec::new(),
            processes: Vec::new(),
            names: Vec::new(),
        };
        let threads = (0..trace.threads.len() as u32).map(|id| Some(ThreadId(id)));
        for id in threads.chain([None]) {
            let process = trace.process_of(id);
            let is_idle = id == Some(ThreadId::IDLE);
            let own = process.filter(|_| !is_idle && id.is_some());
            owners.pids.push(own.map(|process| process.pid));
            let row = id.and_then(|id| trace.thread(id).process);
            owners.upids.push(row.map(|process| process.0.into()));
            let tid = |id| match is_idle {
                true => 0,
                false => trace.thread(id).tid,
            };
            owners.tids.push(id.map(tid));
            owners.processes.push(process.map(|process| process.name.0));
            owners.names.push(thread_name(trace, id).into_owned());
        }
        owners
    }

    /// Returns the row of the thread with this index; `None` for an idle CPU, which is not in the table of threads.
    pub(crate) fn utid(&self, index: usize) -> Option<i64> {
        (index > 0 && index + 1 < self.tids.len()).then_some(index as i64)
    }

    /// Returns the index of the entry for a thread, or for rows without a thread.
    pub(crate) fn index(&self, id: impl Into<Option<ThreadId>>) -> usize {
        let nobody = self.tids.len() - 1;
        id.into().map_or(nobody, |id| nobody.min(id.0 as usize))
    }
}

/// Returns the number of the CPU with this index.
pub(crate) fn cpu_of(trace: &Trace, index: Option<u32>) -> Option<i64> {
    let cpu = trace.cpus.get(index? as usize)?;
    Some(i64::from(cpu.number))
}
