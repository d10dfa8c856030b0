//! Which events of a trace are the kernel's: those of trace.dat and ftrace text in the lanes of CPUs. They become
//! ftrace events; everything else becomes track events, also the lines of other formats in the same files.
//!
//! Each recording of the kernel is a machine of the file: trace_processor keeps the threads, processes and CPUs of each
//! machine apart. The first one is the host, which also gets everything that does not come from a kernel.

use std::ops::Range;

use crate::event::TraceInfo;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, Segment, Source, SourceId, ThreadId, Trace, TrackId,
};

/// A machine of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Machine(pub u32);

impl Machine {
    /// The machine of packets that name none.
    pub(crate) const HOST: Machine = Machine(0);
}

/// Which files of a trace contain the kernel's events.
pub(super) struct KernelSources<'a> {
    trace: &'a Trace,
    /// The number of recordings of the kernel.
    count: u32,
    has_all_events: bool,
    /// The machine of each file, by `SourceId`; empty if the trace has one file.
    of_sources: Vec<Option<Machine>>,
}

impl<'a> KernelSources<'a> {
    /// Looks at the files of a trace.
    pub(super) fn new(trace: &'a Trace) -> KernelSources<'a> {
        if trace.sources.is_empty() {
            let is_any = trace.info.is_of_kernel;
            let mut segments = trace.events.segments().iter();
            return KernelSources {
                trace,
                count: u32::from(is_any),
                has_all_events: is_any && segments.all(|it| it.cpu.is_some()),
                of_sources: Vec::new(),
            };
        }
        let mut count = 0;
        let of_sources = trace.sources.iter().map(|source| {
            source.info.is_of_kernel.then(|| {
                count += 1;
                Machine(count - 1)
            })
        });
        KernelSources {
            trace,
            of_sources: of_sources.collect(),
            has_all_events: false,
            count,
        }
    }

    /// Returns the machines whose kernels were recorded.
    pub(super) fn machines(&self) -> impl Iterator<Item = Machine> + use<> {
        (0..self.count).map(Machine)
    }

    /// Returns whether any file contains the kernel's events.
    pub(crate) fn is_any(&self) -> bool {
        self.count > 0
    }

    /// Returns whether all events are ftrace events.
    pub(crate) fn has_all_events(&self) -> bool {
        self.has_all_events
    }

    /// Returns the name of a machine's file; empty for the only file.
    pub(super) fn name(&self, machine: Machine) -> &'a str {
        let source = self.source(machine);
        source.map_or("", |source| &source.name)
    }

    /// Returns the facts that the file of a machine states about itself.
    pub(super) fn info(&self, machine: Machine) -> &'a TraceInfo {
        let source = self.source(machine);
        source.map_or(&self.trace.info, |source| &source.info)
    }

    fn source(&self, machine: Machine) -> Option<&'a Source> {
        let at = self.of_sources.iter().position(|&it| it == Some(machine))?;
        self.trace.sources.get(at)
    }

    /// Returns the machine of a file.
    pub(crate) fn of_source(&self, SourceId(source): SourceId) -> Option<Machine> {
        self.of_sources.get(source as usize).copied().flatten()
    }

    /// Returns the machine of a row that is in the range `rows` of its file.
    #[inline]
    fn of_row(&self, row: u32, rows: impl Fn(&Source) -> &Range<u32>) -> Option<Machine> {
        if self.of_sources.is_empty() {
            return (self.count > 0).then_some(Machine::HOST);
        }
        self.of_source(self.trace.source_of(row, rows)?)
    }

    /// Returns the machine of a segment; `None` if its events are not the kernel's.
    pub(crate) fn of_segment(&self, segment: &Segment) -> Option<Machine> {
        segment.cpu?;
        self.of_row(segment.first, |source| &source.events)
    }

    /// Returns the machine of an event; `None` if it is not written as an ftrace event.
    pub(crate) fn of_event(&self, id: EventId) -> Option<Machine> {
        let machine = self.of_row(id.0, |source| &source.events)?;
        (self.trace.events.is_in_lane_of_cpu(id)).then_some(machine)
    }

    /// Returns the machine of a CPU; `None` if its file does not contain the kernel's events.
    pub(super) fn of_cpu(&self, id: CpuId) -> Option<Machine> {
        self.of_row(id.0, |source| &source.cpus)
    }

    /// Returns the machine of a thread; `None` if its file does not contain the kernel's events.
    pub(super) fn of_thread(&self, id: ThreadId) -> Option<Machine> {
        self.of_row(id.0, |source| &source.threads)
    }

    /// Returns the machine of a process; `None` if its file does not contain the kernel's events.
    pub(super) fn of_process(&self, id: ProcessId) -> Option<Machine> {
        self.of_row(id.0, |source| &source.processes)
    }

    /// Returns the machine of a counter; `None` if its file does not contain the kernel's events.
    pub(crate) fn of_counter(&self, id: CounterTrackId) -> Option<Machine> {
        self.of_row(id.0, |source| &source.counters)
    }

    /// Returns the machine of a track without a thread, CPU or process; `None` if its file does not contain the
    /// kernel's events.
    pub(crate) fn of_loose_track(&self, id: TrackId) -> Option<Machine> {
        if self.of_sources.is_empty() {
            return (self.count > 0).then_some(Machine::HOST);
        }
        let mut sources = self.trace.sources.iter().zip(&self.of_sources);
        let own = sources.find(|(source, _)| source.loose_tracks.contains(&id.0));
        own.and_then(|(_, machine)| *machine)
    }
}
