//! Parts to common numbers: one string table, one label table, one list of kinds; events become segments.
//!
//! Rows stay in their parts; each part keeps the maps from its numbers to the common ones.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::PartColumns;
use super::measured::MeasuredTable;
use crate::base::{Diagnostics, StringId, Strings, Timestamp};
use crate::event::pairs::{ANY_KEY, FAMILIES};
use crate::event::part::ClockUnit;
use crate::event::{
    Directory, EventColumns, EventKind, Gap, Label, Lane, LaneColumns, MarkOp, Seam,
};
use crate::trace::{CpuId, EventId, Events, LabelId, Segment, SliceLabel};

/// All parts with common numbers.
#[derive(Debug, Default)]
pub struct Merged {
    /// The parts that have events, in segment order.
    pub parts: Vec<MergedPart>,
    /// All events.
    pub events: Events,
    /// The common strings.
    pub strings: Strings,
    /// The common labels.
    pub labels: Vec<SliceLabel>,
    /// For each common label, its key.
    pub label_keys: Vec<u64>,
    /// For each common label, which labels pair with it: equal numbers do.
    pub pair_of_label: Vec<u32>,
    /// For each pair number, whether some part has a begin and an end with it.
    pub pair_has: Vec<PairHas>,
    /// For each family, whether some part has an end of it.
    pub family_has_end: Vec<bool>,
    /// Kinds with common strings.
    pub kinds: Vec<EventKind>,
    /// Numbers of all CPUs, sorted.
    pub cpus: Vec<u32>,
    /// Gaps of all parts, sorted by time.
    pub gaps: Vec<Gap>,
    /// Where events of a CPU may have been lost.
    pub seams: Vec<Seam>,
    /// Diagnostics of all parts.
    pub diagnostics: Diagnostics,
    /// The latest end of a complete slice in each part that has some.
    pub complete_ends: Vec<i64>,
    /// Durations that the recorder measured.
    pub measured: MeasuredTable,
    /// For each string of the directory, the common number.
    pub directory_strings: Vec<StringId>,
}

/// Whether begins and ends of a pair number occur at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairHas {
    /// There are begins.
    pub begin: bool,
    /// There are ends.
    pub end: bool,
    /// Its ends close whatever is open: their key says nothing.
    pub is_any: bool,
}

/// What is left of a part once its events are a segment.
#[derive(Debug, Default)]
pub struct MergedPart {
    /// The rows; their `events` columns have moved away.
    pub rows: LaneColumns,
    /// Index of its segment.
    pub segment: u32,
    /// The id of its first event.
    pub first_event: u32,
    /// Its lane's CPU.
    pub cpu: Option<CpuId>,
    /// Common number of each of its strings.
    pub string_map: Vec<StringId>,
    /// Common number of each of its labels.
    pub label_map: Vec<LabelId>,
}

impl MergedPart {
    /// The common number of a part's string.
    pub fn string(&self, id: StringId) -> StringId {
        self.string_map
            .get(id.0 as usize)
            .copied()
            .unwrap_or(StringId::EMPTY)
    }

    /// The trace's number of a part's event.
    #[inline]
    pub fn event(&self, local: u32) -> EventId {
        EventId(self.first_event + local)
    }
}

impl Merged {
    /// When a part's event happened.
    #[inline]
    pub fn time(&self, part: &MergedPart, local: u32) -> Timestamp {
        self.events.segments()[part.segment as usize]
            .columns
            .time(local)
    }

    /// Index of the CPU with a number.
    pub fn cpu_id(&self, number: u32) -> Option<CpuId> {
        self.cpus
            .binary_search(&number)
            .ok()
            .map(|index| CpuId(index as u32))
    }
}

/// See the module's text. The events' times are in `unit`.
pub fn merge(
    mut parts: Vec<PartColumns>,
    lanes: &[Lane],
    directory: &Directory,
    unit: ClockUnit,
) -> Merged {
    let mut merged = Merged::default();
    parts
        .par_iter_mut()
        .for_each(|part| part.columns.sort_by_time());
    merged.cpus = cpu_numbers(&parts, lanes);
    merged.directory_strings = merged.strings.absorb(&directory.strings);
    merged.kinds = directory
        .kinds
        .iter()
        .map(|kind| EventKind {
            name: directory_string(&merged.directory_strings, kind.name),
            category: directory_string(&merged.directory_strings, kind.category),
            role: kind.role,
        })
        .collect();

    // Mostly no number is left out.
    let are_ids = merged.cpus.iter().copied().eq(0..merged.cpus.len() as u32);
    let mut segments = Vec::new();
    let mut labels = LabelTable::default();
    for part in parts {
        let mut rows = part.columns;
        merged
            .diagnostics
            .merge(std::mem::take(&mut rows.diagnostics));
        merged.gaps.append(&mut rows.gaps);
        merged.seams.append(&mut rows.seams);
        if rows.events.is_empty() {
            continue;
        }
        let cpu_number = lanes.get(part.lane as usize).and_then(|lane| lane.cpu);
        let cpu = cpu_number.and_then(|number| merged.cpu_id(number));
        // What is not needed any more is given back at once: whatever comes next gets the same pages.
        let string_map = merged.strings.absorb(&std::mem::take(&mut rows.strings));
        let label_map = rows
            .labels
            .iter()
            .map(|label| labels.intern(label, &string_map))
            .collect();
        let mut columns = std::mem::take(&mut rows.events);
        columns.shrink();
        if !are_ids {
            columns.renumber_cpus(|number| {
                merged
                    .cpu_id(u32::from(number))
                    .map_or(number, |id| id.0 as u16)
            });
        }
        let segment = segments.len() as u32;
        segments.push(Segment {
            part: part.part,
            lane: part.lane,
            cpu: cpu.map(|cpu| cpu.0),
            first: 0,
            origin: None,
            columns: Arc::new(columns),
        });
        merged.parts.push(MergedPart {
            rows,
            segment,
            first_event: 0,
            cpu,
            string_map,
            label_map,
        });
    }
    merged.gaps.sort_by_key(|gap| gap.start);
    merged.events = Events::new(segments);
    for part in &mut merged.parts {
        part.first_event = merged.events.segments()[part.segment as usize].first;
    }
    merged.labels = labels.labels;
    merged.label_keys = labels.keys;
    merged.pair_of_label = labels.pairs;
    merged.pair_has = pair_ends(&merged.parts, &merged.pair_of_label, labels.pair_count);
    for ((_, key, _), pair) in &labels.pair_ids {
        merged.pair_has[*pair as usize].is_any = *key == ANY_KEY;
    }
    merged.family_has_end = vec![false; FAMILIES.len()];
    for (label, pair) in merged.labels.iter().zip(&merged.pair_of_label) {
        if let Some(has) = merged.family_has_end.get_mut(usize::from(label.family)) {
            *has |= merged.pair_has[*pair as usize].end;
        }
    }
    merged.complete_ends = complete_ends(&merged);
    merged.measured = MeasuredTable::take(&mut merged, unit);
    merged.complete_ends.extend(merged.measured.last_end);
    merged
}

fn directory_string(map: &[StringId], id: StringId) -> StringId {
    map.get(id.0 as usize).copied().unwrap_or(StringId::EMPTY)
}

fn cpu_numbers(parts: &[PartColumns], lanes: &[Lane]) -> Vec<u32> {
    let mut numbers: Vec<u32> = lanes.iter().filter_map(|lane| lane.cpu).collect();
    let from_rows: Vec<Vec<u32>> = parts
        .par_iter()
        .map(|part| {
            let own = lanes.get(part.lane as usize).and_then(|lane| lane.cpu);
            let mut seen = Vec::new();
            let mut last = own;
            let cpus = part.columns.events.cpus().iter();
            for &cpu in cpus.filter(|cpu| **cpu != EventColumns::NO_CPU) {
                if Some(u32::from(cpu)) != last {
                    last = Some(u32::from(cpu));
                    if !seen.contains(&u32::from(cpu)) {
                        seen.push(u32::from(cpu));
                    }
                }
            }
            for switch in &part.columns.switches {
                if Some(switch.cpu) != last {
                    last = Some(switch.cpu);
                    seen.push(switch.cpu);
                }
            }
            seen.extend(
                part.columns
                    .series
                    .iter()
                    .filter_map(|series| match series.scope {
                        crate::event::SeriesScope::Cpu(cpu) => Some(cpu),
                        _ => None,
                    }),
            );
            seen.extend(part.columns.gaps.iter().filter_map(|gap| gap.cpu));
            seen.sort_unstable();
            seen.dedup();
            seen
        })
        .collect();
    numbers.extend(from_rows.into_iter().flatten());
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[derive(Default)]
struct LabelTable {
    labels: Vec<SliceLabel>,
    keys: Vec<u64>,
    pairs: Vec<u32>,
    ids: FxHashMap<(SliceLabel, u32), LabelId>,
    pair_ids: FxHashMap<(u8, u64, StringId), u32>,
    pair_count: usize,
}

impl LabelTable {
    fn intern(&mut self, label: &Label, strings: &[StringId]) -> LabelId {
        let common = |id: StringId| {
            strings
                .get(id.0 as usize)
                .copied()
                .unwrap_or(StringId::EMPTY)
        };
        let shown = SliceLabel {
            name: common(label.name),
            category: common(label.category),
            family: label.family,
        };
        // A key says it all; without one, the name does.
        let pair_key = (
            label.family,
            label.key,
            if label.key == 0 {
                shown.name
            } else {
                StringId::EMPTY
            },
        );
        let next = self.pair_ids.len() as u32;
        let pair = *self.pair_ids.entry(pair_key).or_insert(next);
        self.pair_count = self.pair_ids.len();
        *self.ids.entry((shown, pair)).or_insert_with(|| {
            self.labels.push(shown);
            self.keys.push(label.key);
            self.pairs.push(pair);
            LabelId(self.labels.len() as u32 - 1)
        })
    }
}

fn pair_ends(parts: &[MergedPart], pair_of_label: &[u32], pair_count: usize) -> Vec<PairHas> {
    let each: Vec<Vec<PairHas>> = parts
        .par_iter()
        .map(|part| {
            let mut has = vec![PairHas::default(); part.label_map.len()];
            for mark in &part.rows.marks {
                if let Some(has) = has.get_mut(mark.label() as usize) {
                    match mark.op() {
                        MarkOp::Begin => has.begin = true,
                        MarkOp::End => has.end = true,
                        // It ends nothing by itself.
                        MarkOp::Over => {}
                    }
                }
            }
            has
        })
        .collect();
    let mut all = vec![PairHas::default(); pair_count];
    for (part, has) in parts.iter().zip(each) {
        for (label, has) in part.label_map.iter().zip(has) {
            let pair = &mut all[pair_of_label[label.0 as usize] as usize];
            pair.begin |= has.begin;
            pair.end |= has.end;
        }
    }
    all
}

fn complete_ends(merged: &Merged) -> Vec<i64> {
    merged
        .parts
        .par_iter()
        .filter_map(|part| {
            let end = |row: &crate::event::Complete| {
                merged
                    .time(part, row.event)
                    .0
                    .saturating_add(row.duration_ns)
            };
            part.rows.completes.iter().map(end).max()
        })
        .collect()
}
