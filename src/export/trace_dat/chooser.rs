//! Which records of a part are exported.
//!
//! If threads are chosen, the scheduler's records about them are also exported, whichever thread wrote them:
//! `sched_switch` to a chosen thread, its wakeups, its birth. Without these records, the thread's runs would have no
//! start.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::Timestamp;
use crate::export::Chosen;
use crate::export::shared::losses::{GapRow, chosen_rows};
use crate::formats::tracedat::TraceFile;
use crate::formats::tracedat::buffers::CpuPages;
use crate::trace::segments::{EventId, Segment};
use crate::trace::{CpuId, GapId, ThreadId, Trace};

/// The fields of the scheduler's events that name a thread other than the one that wrote the record.
const NAMING_FIELDS: &[&str] = &["next_pid", "pid", "child_pid"];

/// Chooses records.
pub(super) struct Chooser<'a> {
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    file: &'a TraceFile,
    /// The numbers of the chosen threads; `None` if all threads are chosen.
    tids: Option<FxHashSet<u64>>,
    /// By kind: offset of the field that names another thread.
    naming: Vec<Option<usize>>,
    /// The ends of the chosen losses of each CPU, in ascending order.
    losses: FxHashMap<CpuId, Vec<Timestamp>>,
}

/// The chosen records of a part.
pub(super) enum Places {
    /// All of them.
    All,
    /// Those at these places, in ascending order.
    Only(Vec<u64>),
}

impl<'a> Chooser<'a> {
    pub(super) fn new(trace: &'a Trace, chosen: &'a Chosen<'a>, file: &'a TraceFile) -> Self {
        let tids = (!chosen.has_all_threads()).then(|| {
            let threads = (0..trace.threads.len() as u32).map(ThreadId);
            let chosen = threads.filter(|&id| chosen.has_thread(id));
            chosen.map(|id| trace.thread(id).tid).collect()
        });
        let naming = file.metadata.formats.iter().map(|format| {
            let mut fields = format.fields.iter().filter(|_| format.system == "sched");
            let field = fields.find(|field| {
                !field.is_common() && field.size == 4 && NAMING_FIELDS.contains(&&*field.name)
            });
            field.map(|field| field.offset as usize)
        });
        let mut losses: FxHashMap<CpuId, Vec<Timestamp>> = FxHashMap::default();
        for GapRow { row, gap } in chosen_rows(trace, chosen) {
            if let Some(cpu) = trace.gap_cpu(GapId(row)) {
                losses.entry(cpu).or_default().push(gap.span().end);
            }
        }
        losses.values_mut().for_each(|ends| ends.sort_unstable());
        Chooser {
            losses,
            trace,
            chosen,
            file,
            tids,
            naming: naming.collect(),
        }
    }

    /// Returns whether every byte of the file is chosen.
    pub(super) fn is_whole(&self) -> bool {
        self.chosen.is_whole()
    }

    /// Returns the segment with the events of a part.
    pub(super) fn segment_of(&self, part: u32) -> Option<&'a Segment> {
        let mut segments = self.trace.events.segments().iter();
        segments.find(|segment| segment.part == part)
    }

    /// Returns the places of the chosen records of a part, whose events are `segment`.
    pub(super) fn places(&self, segment: &Segment, pages: CpuPages<'_>) -> Places {
        let span = self.chosen.span;
        let count = segment.columns.len() as u32;
        let is_inside = segment.first_time() >= span.start && segment.last_time() < span.end;
        let is_of_all = self.tids.is_none() && self.chosen.has_all_kinds();
        if is_of_all && !self.chosen.has_event(EventId(segment.first)) {
            // All events of a part are of one CPU.
            return Places::Only(Vec::new());
        }
        if is_of_all && is_inside {
            return Places::All;
        }
        let (first, end) = (
            segment.lower_bound(span.start),
            segment.lower_bound(span.end),
        );
        let chosen = (first..end.min(count)).filter(|&index| self.has(segment, index, pages));
        let mut places: Vec<u64> = chosen.map(|index| segment.columns.place(index)).collect();
        places.sort_unstable();
        Places::Only(places)
    }

    /// Returns the places of the records before which chosen losses end, in ascending order: pages state losses, also
    /// those of records that are not chosen.
    pub(super) fn losses(&self, segment: &Segment) -> Vec<u64> {
        let ends = segment.cpu.and_then(|cpu| self.losses.get(&CpuId(cpu)));
        let ends = ends.map_or(&[][..], Vec::as_slice);
        let first = ends.partition_point(|end| *end < segment.first_time());
        let here = ends.iter().skip(first);
        let here = here.take_while(|end| **end <= segment.last_time());
        let places = here.filter_map(|&end| {
            let after = segment.lower_bound(end);
            let is_there = after < segment.columns.len() as u32 && segment.time(after) == end;
            is_there.then(|| segment.columns.place(after))
        });
        let mut places: Vec<u64> = places.collect();
        places.sort_unstable();
        places
    }

    fn has(&self, segment: &Segment, index: u32, pages: CpuPages<'_>) -> bool {
        let (id, kind) = (EventId(segment.first + index), segment.kind(index));
        if !self.chosen.has_kind(kind) {
            return false;
        }
        if self.chosen.has_event(id) {
            return true;
        }
        let (Some(tids), Some(Some(offset))) = (&self.tids, self.naming.get(kind.index())) else {
            return false;
        };
        let place = segment.columns.place(index);
        let named = self
            .file
            .with_event(pages.data, pages.buffer.page_size, place, |record| {
                let bytes = record.get(*offset..)?.first_chunk::<4>()?;
                Some(u64::from(self.file.endian().u32(*bytes)))
            });
        let named = named.ok().flatten();
        self.chosen.has_cpu_of(id) && named.is_some_and(|tid| tids.contains(&tid))
    }
}
