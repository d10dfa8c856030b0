//! Collects the events of one part in file order, then writes its columns in time order.
//!
//! Providers write their buffers in turns, so a part contains several interleaved streams. Each event is stored with
//! the index of its typed row; then one pass in time order fills columns of exact length that need no sorting. The
//! allocations are reused for the next part.

use rustc_hash::FxHashMap;

use crate::base::Maybe;
use crate::base::time_order::Sorter;
use crate::event::{
    AsyncMark, Complete, Cut, CutSide, FlowMark, KindId, LaneColumns, LogRow, Mark, MarkOp,
    Measured, Sample, StateFacts, Switch, ThreadKey, Wakeup,
};

use super::sort::Sort;

/// An event. `detail` depends on the record type: for a mark it is the label (ends have `END_BIT`), otherwise the index
/// of the typed row.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Offset from the part's start, in 8-byte words.
    place: u32,
    thread: Maybe<ThreadKey>,
    detail: u32,
    kind: KindId,
    sort: Sort,
}

/// An event to be added. See [`Row`] for the meaning of `detail`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewEvent {
    /// Time in ns.
    pub time: i64,
    /// Place of its record.
    pub at: u64,
    pub thread: Maybe<ThreadKey>,
    pub kind: KindId,
    pub sort: Sort,
    pub detail: u32,
}

/// Bit in the detail of a mark: the mark is an end.
pub(crate) const END_BIT: u32 = 1 << 31;
/// Bit in the detail of an end: the end of the slice itself was not recorded.
pub(crate) const OVER_BIT: u32 = 1 << 30;

const GROUP_COUNT: usize = 9;

/// Returns the index in `Rows::sorted` for events of a record type.
#[inline]
fn group_of(sort: Sort) -> usize {
    const GROUPS: [u8; 20] = [8, 3, 0, 0, 1, 2, 2, 2, 4, 4, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8];
    GROUPS
        .get(sort as usize)
        .map_or(8, |&group| usize::from(group))
}

/// The rows of a part so far. The `event` of typed rows is not final yet.
#[derive(Debug, Default)]
pub(super) struct Rows {
    start: u64,
    rows: Vec<Row>,
    times: Vec<i64>,
    is_unsorted: bool,
    span: (i64, i64),
    last_time: i64,
    sorter: Sorter,
    /// Events by group, in time order: (event index in the columns, detail).
    sorted: [Vec<(u32, u32)>; GROUP_COUNT],
    pub completes: Vec<Complete>,
    /// The measured durations of some of `completes`, by index.
    pub measured: FxHashMap<u32, i64>,
    pub asyncs: Vec<AsyncMark>,
    pub samples: Vec<Sample>,
    pub flows: Vec<FlowMark>,
    pub switches: Vec<Switch>,
    pub wakeups: Vec<Wakeup>,
    /// The state facts of some of `switches`, and of some of `wakeups`, by index.
    pub state_facts: [FxHashMap<u32, StateFacts>; 2],
    pub logs: Vec<LogRow>,
    /// The events that begin or end an item that an export cut, by index in `rows`.
    pub cuts: FxHashMap<u32, CutSide>,
    /// CPUs of some events: (index in `rows`, CPU), sorted by index.
    pub cpus: Vec<(u32, u16)>,
    /// CPU of every event, while the columns are filled.
    cpu_of: Vec<Maybe<u16>>,
}

impl Rows {
    /// Removes all events; the next events belong to the part that starts at `start`.
    pub(crate) fn start(&mut self, start: u64) {
        self.start = start;
        self.rows.clear();
        self.times.clear();
        self.is_unsorted = false;
        self.span = (i64::MAX, i64::MIN);
        self.last_time = i64::MIN;
        self.sorted.iter_mut().for_each(Vec::clear);
        self.completes.clear();
        self.measured.clear();
        self.asyncs.clear();
        self.samples.clear();
        self.flows.clear();
        self.switches.clear();
        self.wakeups.clear();
        self.state_facts.iter_mut().for_each(FxHashMap::clear);
        self.logs.clear();
        self.cuts.clear();
        self.cpus.clear();
    }

    /// Returns the index that the next event will have in `rows`.
    #[inline]
    pub(crate) fn next_event(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Adds an event.
    #[inline]
    pub(crate) fn push(&mut self, event: NewEvent) {
        let NewEvent {
            time,
            at,
            thread,
            kind,
            sort,
            detail,
        } = event;
        self.is_unsorted |= time < self.last_time;
        self.last_time = time;
        self.span = (self.span.0.min(time), self.span.1.max(time));
        self.times.push(time);
        self.rows.push(Row {
            place: (at.saturating_sub(self.start) >> 3) as u32,
            thread,
            detail,
            kind,
            sort,
        });
    }

    /// Writes all events to the columns of the part, in time order.
    pub(crate) fn fill(&mut self, out: &mut LaneColumns) {
        out.events.reserve(self.rows.len());
        self.cpu_of.clear();
        if !self.cpus.is_empty() {
            self.cpu_of.resize(self.rows.len(), Maybe::NONE);
            for &(event, cpu) in &self.cpus {
                if let Some(entry) = self.cpu_of.get_mut(event as usize) {
                    *entry = Maybe::new(cpu);
                }
            }
        }
        let start = self.start;
        let (rows, sorted, cpus) = (&self.rows, &mut self.sorted, &self.cpu_of);
        let (cuts, has_cuts) = (&self.cuts, !self.cuts.is_empty());
        let mut visit = |index: usize, time: i64| {
            let Some(row) = rows.get(index) else { return };
            let place = start + (u64::from(row.place) << 3);
            let event = match cpus.get(index) {
                Some(&cpu) => (out.events).push_on_cpu(time, place, row.kind, row.thread, cpu),
                None => out.events.push(time, place, row.kind, row.thread),
            };
            if has_cuts && let Some(&side) = cuts.get(&(index as u32)) {
                out.cuts.push(Cut { event, side });
            }
            // No branch: the record type of the next event is unpredictable.
            if let Some(group) = sorted.get_mut(group_of(row.sort)) {
                group.push((event, row.detail));
            }
        };
        if self.is_unsorted {
            let span = self.span.0..=self.span.1;
            self.sorter.visit_in_order(&self.times, span, &mut visit);
        } else {
            let times = self.times.iter().enumerate();
            times.for_each(|(index, &time)| visit(index, time));
        }
        self.fill_rows(out);
    }

    fn fill_rows(&self, out: &mut LaneColumns) {
        let [
            marks,
            completes,
            asyncs,
            samples,
            flows,
            switches,
            wakeups,
            logs,
            _,
        ] = &self.sorted;
        out.marks.extend(marks.iter().map(|&(event, detail)| {
            let op = match (detail & END_BIT, detail & OVER_BIT) {
                (0, _) => MarkOp::Begin,
                (_, 0) => MarkOp::End,
                _ => MarkOp::Over,
            };
            Mark::new(event, detail & !(END_BIT | OVER_BIT), op)
        }));
        macro_rules! copy {
            ($list:ident) => {
                out.$list.reserve_exact($list.len());
                let found = $list.iter().filter_map(|&(event, detail)| {
                    let mut row = *self.$list.get(detail as usize)?;
                    row.event = event;
                    Some(row)
                });
                out.$list.extend(found);
            };
        }
        copy!(completes);
        if !self.measured.is_empty() {
            let rows = completes.iter().filter_map(|&(event, detail)| {
                let duration_ns = *self.measured.get(&detail)?;
                Some(Measured::drawn_otherwise(event, duration_ns))
            });
            out.measured.extend(rows);
        }
        copy!(asyncs);
        copy!(flows);
        copy!(switches);
        copy!(wakeups);
        for (events, facts) in [switches, wakeups].into_iter().zip(&self.state_facts) {
            if !facts.is_empty() {
                let rows = events.iter().filter_map(|&(event, detail)| {
                    let facts = *facts.get(&detail)?;
                    Some(StateFacts { event, ..facts })
                });
                out.state_facts.extend(rows);
            }
        }
        out.state_facts.sort_unstable_by_key(|facts| facts.event);
        copy!(logs);
        out.samples.reserve_exact(self.samples.len());
        for &(event, first) in samples {
            let own = self.samples.get(first as usize..).unwrap_or(&[]);
            // The samples of one counter event are adjacent and have its index in `rows`.
            let number = own.first().map(|sample| sample.event);
            let own = own.iter().take_while(|sample| Some(sample.event) == number);
            out.samples
                .extend(own.map(|sample| Sample { event, ..*sample }));
        }
    }
}
