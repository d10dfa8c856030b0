//! Asynchronous begins, instants and ends to slices on the tracks of their groups.
//!
//! A slice is open under (scope, id); an end closes the innermost open one of equal category and name (or
//! the innermost, if its name is empty), on whatever thread it comes. Slices of one group share a track, in
//! rows: each takes the topmost row that is free, so a track is as high as its slices overlap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::identities::ProcessOfKey;
use super::merge::Merged;
use super::nesting::{Draft, Nested};
use super::slice_table::AsyncTrack;
use crate::base::{Severity, StringId, Timestamp};
use crate::event::{AsyncOp, AsyncScope};
use crate::trace::{LabelId, ProcessId, SliceLabel, Trace};

/// What this makes.
pub struct Asyncs {
    /// The tracks, by process, then name.
    pub tracks: Vec<AsyncTrack>,
    /// All events that are instants on them.
    pub instants: Vec<u32>,
}

/// A mark with common numbers.
struct Row {
    time: Timestamp,
    event: u32,
    op: AsyncOp,
    process: Option<ProcessId>,
    id: u64,
    name: StringId,
    category: StringId,
    group: StringId,
}

#[derive(Default)]
struct Group {
    drafts: Vec<Draft>,
    parents: Vec<u32>,
    instants: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Open {
    group: u32,
    draft: u32,
    name: StringId,
    category: StringId,
}

/// See the module's text. Takes the marks out of the parts.
pub fn build_async(merged: &mut Merged, processes: &ProcessOfKey, trace: &mut Trace) -> Asyncs {
    let rows = collect(merged, processes, trace);
    let mut labels: FxHashMap<SliceLabel, u32> = FxHashMap::default();
    let mut group_ids: FxHashMap<(Option<ProcessId>, StringId), u32> = FxHashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut open: FxHashMap<(Option<ProcessId>, u64), Vec<Open>> = FxHashMap::default();
    let mut first_names: FxHashMap<(Option<ProcessId>, u64), StringId> = FxHashMap::default();
    let (mut unmatched_ends, mut unfinished) = (0_u64, 0_u64);
    for row in &rows {
        let key = (row.process, row.id);
        // Tracks without a group are named after the first slice seen under their id.
        let group_name = if row.group == StringId::EMPTY {
            *first_names.entry(key).or_insert(row.name)
        } else {
            row.group
        };
        let group = *group_ids
            .entry((row.process, group_name))
            .or_insert_with(|| {
                groups.push(Group::default());
                groups.len() as u32 - 1
            });
        let stack = open.entry(key).or_default();
        match row.op {
            AsyncOp::Instant => groups[group as usize].instants.push(row.event),
            AsyncOp::Begin => {
                let label = SliceLabel {
                    name: row.name,
                    category: row.category,
                    family: crate::event::pairs::DURATIONS,
                };
                let label = *labels.entry(label).or_insert_with(|| {
                    merged.labels.push(label);
                    LabelId(merged.labels.len() as u32 - 1).0
                });
                let parent = stack
                    .last()
                    .filter(|around| around.group == group)
                    .map_or(u32::MAX, |around| around.draft);
                let list = &mut groups[group as usize];
                stack.push(Open {
                    group,
                    draft: list.drafts.len() as u32,
                    name: row.name,
                    category: row.category,
                });
                list.drafts.push(Draft {
                    start: row.time.0,
                    end: i64::MAX,
                    label,
                    begin: row.event,
                    finish: u32::MAX,
                });
                list.parents.push(parent);
                unfinished += 1;
            }
            AsyncOp::End => {
                let fits = |open: &Open| {
                    row.name == StringId::EMPTY
                        || (open.name == row.name && open.category == row.category)
                };
                match stack.iter().rposition(fits) {
                    Some(at) => {
                        let closed = stack.remove(at);
                        let draft =
                            &mut groups[closed.group as usize].drafts[closed.draft as usize];
                        draft.end = row.time.0.max(draft.start);
                        draft.finish = row.event;
                        unfinished -= 1;
                    }
                    None => {
                        unmatched_ends += 1;
                        groups[group as usize].instants.push(row.event);
                    }
                }
                if stack.is_empty() {
                    open.remove(&key);
                }
            }
        }
    }
    for (code, count, message) in [
        (
            "unmatched_async_end",
            unmatched_ends,
            "asynchronous ends whose beginning was not seen; shown as instants",
        ),
        (
            "unfinished_async",
            unfinished,
            "asynchronous slices that were still open at the trace's end",
        ),
    ] {
        if count > 0 {
            trace
                .diagnostics
                .note_many(code, Severity::Info, None, count, || message.to_owned());
        }
    }
    finish(groups, group_ids, merged)
}

fn finish(
    groups: Vec<Group>,
    ids: FxHashMap<(Option<ProcessId>, StringId), u32>,
    merged: &Merged,
) -> Asyncs {
    let mut names = vec![(None, StringId::EMPTY); groups.len()];
    for (key, id) in ids {
        names[id as usize] = key;
    }
    let instants = groups
        .iter()
        .flat_map(|group| group.instants.iter().copied())
        .collect();
    let mut tracks: Vec<AsyncTrack> = groups
        .into_iter()
        .zip(names)
        .map(|(group, (process, name))| {
            let (rows, row_counts) = pack(&group.drafts);
            let nested = Nested {
                slices: group.drafts,
                rows,
                parents: group.parents,
                row_counts,
            };
            AsyncTrack {
                process,
                name,
                nested,
                instants: group.instants,
            }
        })
        .collect();
    sort_tracks(&mut tracks, merged);
    Asyncs { tracks, instants }
}

/// By process, then name.
pub fn sort_tracks(tracks: &mut [AsyncTrack], merged: &Merged) {
    tracks.sort_by(|a, b| {
        a.process.cmp(&b.process).then_with(|| {
            merged
                .strings
                .bytes(a.name)
                .cmp(merged.strings.bytes(b.name))
        })
    });
}

/// The topmost free row for each draft (they are sorted by start), and how many each row got.
pub fn pack(drafts: &[Draft]) -> (Vec<u32>, Vec<u32>) {
    let mut free: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
    let mut busy: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut counts: Vec<u32> = Vec::new();
    let rows = drafts
        .iter()
        .map(|draft| {
            while let Some(&Reverse((end, row))) = busy.peek() {
                if end > draft.start {
                    break;
                }
                busy.pop();
                free.push(Reverse(row));
            }
            let row = free.pop().map_or_else(
                || {
                    counts.push(0);
                    counts.len() as u32 - 1
                },
                |Reverse(row)| row,
            );
            counts[row as usize] += 1;
            busy.push(Reverse((draft.end, row)));
            row
        })
        .collect();
    (rows, counts)
}

fn collect(merged: &mut Merged, processes: &ProcessOfKey, trace: &Trace) -> Vec<Row> {
    let mut rows = Vec::new();
    for part in &merged.parts {
        for mark in &part.rows.asyncs {
            let time = merged.time(part, mark.event);
            let process = match mark.scope {
                AsyncScope::Global => None,
                AsyncScope::Process(key) => processes.get(&key).copied(),
                AsyncScope::ProcessOf(key) => {
                    trace.thread(merged.events.threads.at(key, time)).process
                }
            };
            rows.push(Row {
                time,
                event: part.event(mark.event).0,
                op: mark.op,
                process,
                id: mark.id,
                name: part.string(mark.name),
                category: part.string(mark.category),
                group: part.string(mark.group),
            });
        }
    }
    for part in &mut merged.parts {
        part.rows.asyncs = Vec::new();
    }
    rows.sort_by_key(|row| row.time);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_slices_take_the_topmost_free_row() {
        let draft = |start, end| Draft {
            start,
            end,
            label: 0,
            begin: 0,
            finish: 0,
        };
        let (rows, counts) = pack(&[
            draft(0, 10),
            draft(5, 20),
            draft(10, 12),
            draft(11, i64::MAX),
            draft(30, 31),
        ]);
        assert_eq!(rows, vec![0, 1, 0, 2, 0]);
        assert_eq!(counts, vec![3, 1, 1]);
    }
}
