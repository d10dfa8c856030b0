//! Which events of a trace are the kernel's: those of trace.dat and ftrace text in the lanes of CPUs. They become ftrace
//! events; everything else becomes track events, also what another format's lines among them say.
//!
//! Of several recordings of the kernel only the first one's events are ftrace events: trace_processor would take threads
//! of one number for one thread.

use crate::event::TraceInfo;
use crate::trace::{CpuId, EventId, Segment, SourceId, ThreadId, Trace};

/// The starts of the names of the kernel's formats, see [`TraceInfo::format`].
const KERNEL_FORMATS: [&str; 2] = ["trace.dat", "ftrace text"];

/// Which files of a trace contain the kernel's events.
pub(super) struct KernelSources<'a> {
    trace: &'a Trace,
    /// Whether the only file does.
    is_alone: bool,
    /// By file, if there are several.
    of_sources: Vec<bool>,
    /// The names of other files with the kernel's events.
    others: Vec<String>,
}

impl<'a> KernelSources<'a> {
    /// Looks at the files of a trace.
    pub fn new(trace: &'a Trace) -> KernelSources<'a> {
        let is_kernel =
            |info: &TraceInfo| (KERNEL_FORMATS.iter()).any(|name| info.format.starts_with(name));
        let first = trace
            .sources
            .iter()
            .position(|source| is_kernel(&source.info));
        let all = trace.sources.iter().enumerate();
        let others = all
            .clone()
            .filter(|(at, source)| Some(*at) != first && is_kernel(&source.info));
        KernelSources {
            trace,
            is_alone: trace.sources.is_empty() && is_kernel(&trace.info),
            others: others.map(|(_, source)| source.name.clone()).collect(),
            of_sources: all.map(|(at, _)| Some(at) == first).collect(),
        }
    }

    /// Returns the names of the kernel's recordings whose events are no ftrace events.
    pub fn others(&self) -> &[String] {
        &self.others
    }

    /// Returns whether any file contains the kernel's events.
    pub fn is_any(&self) -> bool {
        self.is_alone || self.of_sources.contains(&true)
    }

    /// Returns the facts that the first of the kernel's files states about itself.
    pub fn info(&self) -> Option<&'a TraceInfo> {
        if self.is_alone {
            return Some(&self.trace.info);
        }
        let at = self.of_sources.iter().position(|&it| it)?;
        self.trace.sources.get(at).map(|source| &source.info)
    }

    fn has(&self, source: Option<SourceId>) -> bool {
        match source {
            None => self.is_alone,
            Some(id) => self.of_sources.get(id.0 as usize) == Some(&true),
        }
    }

    /// Returns whether the events of a segment are the kernel's.
    pub fn has_segment(&self, segment: &Segment) -> bool {
        segment.cpu.is_some() && self.has_event(EventId(segment.first))
    }

    fn has_event(&self, id: EventId) -> bool {
        if self.of_sources.is_empty() {
            return self.is_alone;
        }
        self.has(self.trace.source_of(id.0, |source| &source.events))
    }

    /// Returns whether an event is written as an ftrace event.
    pub fn is_ftrace(&self, id: EventId) -> bool {
        self.is_any() && self.has_event(id) && self.trace.events.is_in_lane_of_cpu(id)
    }

    /// Returns whether a CPU is of a file of the kernel's events.
    pub fn has_cpu(&self, id: CpuId) -> bool {
        if self.of_sources.is_empty() {
            return self.is_alone;
        }
        self.has(self.trace.source_of(id.0, |source| &source.cpus))
    }

    /// Returns whether a thread is of a file of the kernel's events.
    pub fn has_thread(&self, id: ThreadId) -> bool {
        if self.of_sources.is_empty() {
            return self.is_alone;
        }
        self.has(self.trace.source_of(id.0, |source| &source.threads))
    }
}
