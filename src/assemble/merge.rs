//! Merges parts: one string table, one label table, one list of kinds; the events of each part become a segment.
//!
//! Rows keep their part's numbers (of strings, labels, events); each part keeps the maps to the trace's numbers.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::labels::{LabelPairs, LabelTable, PairedLabels};
use super::measured::MeasuredTable;
use super::recorded::{Part, Recorded, StringMap};
use super::rows::{PerPart, Rows, WholeRows};
use crate::base::numbered::Numbered;
use crate::base::streaks::Streaks;
use crate::base::{Cancelled, Diagnostics, Job, Nanos, StringId, Strings, TimeSpan, Timestamp};
use crate::event::part::ClockUnit;
use crate::event::{
    Complete, Directory, EventKind, Gap, KindId, Lane, LoneBegins, PartColumns, Seam, SeriesScope,
    Ties, WholeRun, WholeState,
};
use crate::trace::{Events, LabelId, Segment, SliceLabel};

/// All parts merged. Thread keys are not mapped to threads yet.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    /// All events.
    pub recorded: Recorded,
    /// All rows.
    pub rows: Rows,
    /// The trace's strings.
    pub strings: Strings,
    /// Maps the directory's string ids to the trace's.
    pub directory_strings: StringMap,
    /// The trace's labels.
    pub labels: Streaks<SliceLabel>,
    /// Which labels pair.
    pub label_pairs: LabelPairs,
    /// How the recorder wrote slices.
    pub habits: SliceHabits,
    /// Kinds of events, with the trace's strings.
    pub kinds: Streaks<EventKind>,
    /// Gaps of all parts, sorted by time.
    pub gaps: Vec<Gap>,
    /// Spans in which events of a CPU may have been lost.
    pub seams: Vec<Seam>,
    /// Durations that the recorder measured.
    pub measured: MeasuredTable,
    /// From the first event to 1 ns after the last.
    pub span: TimeSpan,
    /// Diagnostics of all parts.
    pub diagnostics: Diagnostics,
}

/// The recorder's conventions about slices.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SliceHabits {
    /// Which of several whole slices that start together contains the others.
    pub ties: Ties,
    /// The meaning of a begin if the recording has no end of its kind.
    pub lone_begins: LoneBegins,
}

/// Returns all parts merged. The times of events are in `unit`.
///
/// # Errors
/// If the job is cancelled.
pub(crate) fn merge(
    mut parts: Vec<PartColumns>,
    lanes: &[Lane],
    directory: &Directory,
    unit: ClockUnit,
    job: &Job,
) -> Result<Merged, Cancelled> {
    parts.par_iter_mut().try_for_each(|part| {
        job.check()?;
        part.columns.sort_by_time();
        Ok(())
    })?;
    let cpus = cpu_numbers(&parts, lanes);
    // Mostly, the CPU numbers have no gaps: then numbers equal ids, and no event has to be renumbered.
    let are_ids = cpus.iter().copied().eq(0..cpus.len() as u32);
    let mut recorded = Recorded {
        cpus,
        ..Recorded::default()
    };
    // The directory's strings come first, so that they keep their numbers.
    let mut strings = directory.strings.clone();
    let directory_strings = StringMap((0..strings.len() as u32).map(StringId).collect());
    let habits = habits_of(&parts);
    let (mut gaps, mut seams) = (Vec::new(), Vec::new());
    let mut diagnostics = Diagnostics::default();
    let mut rows = Rows::default();
    let mut segments = Vec::new();
    for part in &mut parts {
        let own = &mut part.columns;
        diagnostics.merge(std::mem::take(&mut own.diagnostics));
        gaps.append(&mut own.gaps);
        seams.append(&mut own.seams);
    }
    parts.retain(|part| !part.columns.events.is_empty());
    let of_parts = parts.iter_mut();
    let of_parts = of_parts.map(|part| std::mem::take(&mut part.columns.strings));
    let all_strings = strings.absorb_all(of_parts.collect()).into_iter();
    job.check()?;
    let all_strings: Vec<StringMap> = all_strings.map(StringMap).collect();
    let mut kinds = KindList::of(directory, &directory_strings);
    let mut labels = LabelTable::default();
    let with_strings = || parts.iter().zip(&all_strings);
    let (own_kinds, own_labels): (Vec<Streaks<KindId>>, Vec<Streaks<LabelId>>) = rayon::join(
        || {
            with_strings()
                .map(|(part, strings)| kinds.add(&part.columns.kinds, strings))
                .collect()
        },
        || {
            with_strings()
                .map(|(part, strings)| labels.add(&part.columns.labels, strings))
                .collect()
        },
    );
    let with_strings = parts.into_iter().zip(all_strings);
    for ((part, own_strings), own_labels) in with_strings.zip(own_labels) {
        job.check()?;
        let mut own = part.columns;
        (own.kinds, own.labels) = (Streaks::default(), Streaks::default());
        let cpu_number = lanes.get(part.lane as usize).and_then(|lane| lane.cpu);
        let cpu = cpu_number.and_then(|number| recorded.cpu_id(number));
        let mut columns = std::mem::take(&mut own.events);
        if !are_ids {
            columns.renumber_cpus(|number| {
                let id = recorded.cpu_id(u32::from(number));
                id.map_or(number, |id| id.0 as u16)
            });
        }
        let segment = segments.len() as u32;
        segments.push(Segment {
            part: part.part,
            lane: part.lane,
            cpu: cpu.map(|cpu| cpu.0),
            first: 0,
            origin: None,
            resolution_ns: 1,
            columns: Arc::new(columns),
        });
        recorded.parts.push(Part {
            segment,
            first_event: 0,
            cpu,
            clock: own.clock,
            strings: own_strings,
            labels: own_labels,
        });
        rows.push(own);
    }
    (segments.par_iter_mut().zip(own_kinds)).for_each(|(segment, kinds)| {
        if let Some(columns) = Arc::get_mut(&mut segment.columns) {
            columns.shrink();
            if !kinds.is_empty() {
                columns.renumber_kinds(&kinds);
            }
        }
    });
    job.check()?;
    gaps.sort_by_key(|gap| gap.span().start);
    recorded.events = Events::new(segments);
    for part in &mut recorded.parts {
        part.first_event = recorded.events.segments()[part.segment as usize].first;
    }
    let PairedLabels {
        labels,
        pairs: label_pairs,
    } = labels.finish(&recorded.parts, &rows.marks);
    job.check()?;
    let measured = MeasuredTable::new(std::mem::take(&mut rows.measured), &recorded, unit);
    let mut span = span_of(&recorded, &rows, &measured, &gaps);
    if let Some(last) = directory.seen_until.filter(|_| !span.is_empty()) {
        // The last moment is in the last nanosecond of the span.
        span.end = span.end.max(last.saturating_add(Nanos(1)));
    }
    Ok(Merged {
        kinds: kinds.into_all(),
        recorded,
        rows,
        strings,
        directory_strings,
        labels,
        label_pairs,
        habits,
        gaps,
        seams,
        measured,
        span,
        diagnostics,
    })
}

/// The trace's kinds while those of parts are added.
struct KindList {
    /// The directory's kinds, which keep their numbers.
    first: Vec<EventKind>,
    /// Kinds that parts have named themselves, which come after those.
    own: Numbered<EventKind>,
}

impl KindList {
    fn of(directory: &Directory, strings: &StringMap) -> KindList {
        let kinds = directory.kinds.iter().map(|kind| moved(kind, strings));
        KindList {
            first: kinds.collect(),
            own: Numbered::default(),
        }
    }

    /// Adds a part's own kinds; returns the trace's numbers of them.
    fn add(&mut self, kinds: &Streaks<EventKind>, strings: &StringMap) -> Streaks<KindId> {
        let mut numbers = Streaks::default();
        while let Some(kind) = kinds.get(numbers.len()) {
            let most = kinds.streak_from(numbers.len(), usize::MAX);
            let most = strings.0.streak_from(kind.name.0 as usize, most);
            let (number, count) = self.own.add(moved(&kind, strings), most);
            numbers.push_streak(KindId(self.first.len() as u32 + number), count);
        }
        numbers
    }

    /// Returns all kinds by their numbers.
    fn into_all(self) -> Streaks<EventKind> {
        let mut all: Streaks<EventKind> = self.first.into_iter().collect();
        for (kind, count) in self.own.into_items().streaks() {
            all.push_streak(kind, count);
        }
        all
    }
}

/// Returns a kind with the trace's strings.
fn moved(kind: &EventKind, strings: &StringMap) -> EventKind {
    EventKind {
        name: strings.get(kind.name),
        category: strings.get(kind.category),
        role: kind.role,
        origin: kind.origin,
    }
}

/// Returns the conventions of all parts that have events: `Ties::First` only if all parts with whole slices have it.
fn habits_of(parts: &[PartColumns]) -> SliceHabits {
    let with_events = || {
        let columns = parts.iter().map(|part| &part.columns);
        columns.filter(|columns| !columns.events.is_empty())
    };
    let mut with_wholes = with_events().filter(|columns| !columns.completes.is_empty());
    let are_in_order = with_wholes.all(|columns| columns.ties == Ties::First);
    let are_open = with_events().any(|columns| columns.lone_begins == LoneBegins::Open);
    SliceHabits {
        ties: if are_in_order {
            Ties::First
        } else {
            Ties::Longest
        },
        lone_begins: if are_open {
            LoneBegins::Open
        } else {
            LoneBegins::Points
        },
    }
}

/// Returns the span from the first event, measured start or gap to just after the last event, slice end or gap.
fn span_of(recorded: &Recorded, rows: &Rows, measured: &MeasuredTable, gaps: &[Gap]) -> TimeSpan {
    let mut span: Option<TimeSpan> = None;
    let mut include = |start: Timestamp, end: Timestamp| {
        let more = TimeSpan::new(start, end);
        span = Some(span.map_or(more, |span| span.union(more)));
    };
    for segment in recorded.events.segments() {
        let last = segment.columns.time(segment.columns.len() as u32 - 1);
        include(segment.columns.time(0), last.saturating_add(Nanos(1)));
    }
    let known = complete_ends(recorded, &rows.completes).into_iter();
    let known = known.chain(whole_ends(recorded, &rows.scheduling.whole));
    for time in known.chain(measured.last_end).chain(measured.first_start) {
        include(Timestamp(time), Timestamp(time));
    }
    for gap in gaps {
        if let (Some(start), Some(end)) = (gap.event_before(), gap.event_after()) {
            include(start, end);
        }
    }
    span.unwrap_or_default()
}

/// Returns the latest end of a whole run or state for each part that has some, in ns.
fn whole_ends(recorded: &Recorded, whole: &WholeRows) -> Vec<i64> {
    let of_part = |((part, runs), states): ((&Part, &Vec<WholeRun>), &Vec<WholeState>)| {
        let columns = recorded.columns(part);
        let runs = runs.iter().map(|run| (run.event, run.duration_ns));
        let states = states.iter().map(|state| (state.event, state.duration_ns));
        let end = |(event, duration): (u32, Option<i64>)| {
            columns.time(event).0.saturating_add(duration.unwrap_or(0))
        };
        runs.chain(states).map(end).max()
    };
    let parts = recorded.parts.par_iter().zip(&whole.runs);
    parts.zip(&whole.states).filter_map(of_part).collect()
}

/// Returns the latest end of a whole slice for each part that has whole slices, in ns.
fn complete_ends(recorded: &Recorded, completes: &PerPart<Complete>) -> Vec<i64> {
    let of_part = |(part, completes): (&Part, &Vec<Complete>)| {
        let columns = recorded.columns(part);
        let end = |row: &Complete| columns.time(row.event).0.saturating_add(row.duration_ns);
        completes.iter().map(end).max()
    };
    let parts = recorded.parts.par_iter().zip(completes);
    parts.filter_map(of_part).collect()
}

/// Returns the numbers of all CPUs, sorted.
fn cpu_numbers(parts: &[PartColumns], lanes: &[Lane]) -> Vec<u32> {
    let of_lanes = lanes.iter().filter_map(|lane| lane.cpu);
    let mut numbers: Vec<u32> = of_lanes.collect();
    let from_rows: Vec<Vec<u32>> = parts
        .par_iter()
        .map(|part| {
            let own = lanes.get(part.lane as usize).and_then(|lane| lane.cpu);
            let mut seen = FxHashSet::default();
            // Neighbouring rows mostly have the same CPU: `last` saves the search in `seen`.
            let mut last = own;
            let cpus = part.columns.events.cpus().iter();
            for cpu in cpus.filter_map(|cpu| cpu.get()) {
                if Some(u32::from(cpu)) != last {
                    last = Some(u32::from(cpu));
                    seen.insert(u32::from(cpu));
                }
            }
            for switch in &part.columns.switches {
                if Some(switch.cpu) != last {
                    last = Some(switch.cpu);
                    seen.insert(switch.cpu);
                }
            }
            let runs = part.columns.whole_runs.iter().map(|run| run.cpu);
            seen.extend(runs.filter(|&cpu| last.replace(cpu) != Some(cpu)));
            let series = part.columns.series.iter();
            seen.extend(series.filter_map(|series| match series.scope {
                SeriesScope::Cpu(cpu) => Some(cpu),
                _ => None,
            }));
            seen.extend(part.columns.gaps.iter().filter_map(|gap| gap.cpu));
            seen.into_iter().collect()
        })
        .collect();
    numbers.extend(from_rows.into_iter().flatten());
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
