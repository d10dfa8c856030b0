//! Asynchronous begins, instants and ends to slices on the tracks of their groups.
//!
//! A slice is open under (scope, id); an end closes the innermost open one of equal category and name (or
//! the innermost, if its name is empty), on whatever thread it comes. Slices of one group share a track, in
//! rows: each takes the topmost row that is free, so a track is as high as its slices overlap.
//!
//! Marks are put in order of time; then those of each id are matched, and then the slices of each group laid
//! into rows, each in parallel.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::free_rows::FreeRows;
use super::group::{Groups, gather};
use super::identities::ProcessOfKey;
use super::merge::{Merged, MergedPart};
use super::nesting::{Draft, Nested};
use super::open_asyncs::{Open, OpenAsyncs};
use super::requests::build_requests;
use super::slice_table::AsyncTrack;
use crate::base::{Severity, StringId};
use crate::event::{AsyncMark, AsyncOp, AsyncScope};
use crate::trace::{ProcessId, SliceLabel, Trace};

/// What this makes.
pub struct Asyncs {
    /// The tracks, by process, then name.
    pub tracks: Vec<AsyncTrack>,
    /// All events that are instants on them.
    pub instants: Vec<u32>,
}

/// A mark with common numbers.
#[derive(Clone, Copy)]
struct Row {
    time: i64,
    id: u64,
    event: u32,
    process: Option<ProcessId>,
    name: StringId,
    category: StringId,
    group: StringId,
    op: AsyncOp,
}

/// Keeps the ids of requests apart from others.
const OF_REQUESTS: u64 = 0x626c_6f63_6b00_0000 << 8;

/// No mark.
const NONE: u32 = u32::MAX;

/// What became of a mark. Marks are numbered in order of time.
#[derive(Clone, Copy)]
struct Fate {
    /// Whose ids these are.
    process: Option<ProcessId>,
    id: u64,
    /// Which mark this is.
    mark: u32,
    /// The name of its group.
    group: StringId,
    /// Of a begin, the mark that ends it; of an end, the mark that it ends; or `NONE`.
    partner: u32,
    /// Of a begin, the begin around it in the same group, or `NONE`.
    parent: u32,
}

/// What the second half of the work needs of a [`Fate`], by mark.
#[derive(Clone, Copy)]
struct Matched {
    partner: u32,
    parent: u32,
}

/// The slices and instants of one group, while they are made.
#[derive(Default)]
struct Group {
    nested: Nested,
    instants: Vec<u32>,
    unmatched_ends: u64,
    unfinished: u64,
}

/// See the module's text. Takes the marks out of the parts.
pub fn build_async(merged: &mut Merged, processes: &ProcessOfKey, trace: &mut Trace) -> Asyncs {
    let rows = collect(merged, processes, trace);
    let fates = match_ends(&rows);
    let mut matched = vec![
        Matched {
            partner: NONE,
            parent: NONE
        };
        rows.len()
    ];
    let mut group_names = vec![StringId::EMPTY; rows.len()];
    for fate in fates {
        let mark = fate.mark as usize;
        group_names[mark] = fate.group;
        matched[mark] = Matched {
            partner: fate.partner,
            parent: fate.parent,
        };
    }
    let mut groups: Vec<(Option<ProcessId>, StringId)> = Vec::new();
    let mut group_ids: FxHashMap<(Option<ProcessId>, StringId), u32> = FxHashMap::default();
    let mut of_groups = Groups::with_capacity(rows.len());
    for ((row, &name), mark) in rows.iter().zip(&group_names).zip(0_u32..) {
        let key = (row.process, name);
        let group = *group_ids.entry(key).or_insert_with(|| {
            groups.push(key);
            groups.len() as u32 - 1
        });
        of_groups.push(group, mark);
    }
    let labels = labels(&rows, merged);
    let of_groups = of_groups.sorted();
    let made: Vec<Group> = gather([&of_groups])
        .into_par_iter()
        .map(|(_, marks)| group_of(&marks.concat(), &rows, &matched, &labels))
        .collect();
    let sums = made.iter().fold((0, 0), |sums, group| {
        (sums.0 + group.unmatched_ends, sums.1 + group.unfinished)
    });
    note(trace, sums);
    let instants = made.iter().flat_map(|group| &group.instants);
    let instants = instants.copied().collect();
    let mut tracks: Vec<AsyncTrack> = made
        .into_iter()
        .zip(groups)
        .map(|(group, (process, name))| AsyncTrack {
            process,
            name,
            nested: group.nested,
            instants: group.instants,
        })
        .collect();
    sort_tracks(&mut tracks, merged);
    Asyncs { tracks, instants }
}

fn note(trace: &mut Trace, (unmatched_ends, unfinished): (u64, u64)) {
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
}

/// Finds for each end its begin: id by id, in order of time.
fn match_ends(rows: &[Row]) -> Vec<Fate> {
    let mut fates: Vec<Fate> = rows
        .iter()
        .zip(0..)
        .map(|(row, mark)| Fate {
            process: row.process,
            id: row.id,
            mark,
            group: row.group,
            partner: NONE,
            parent: NONE,
        })
        .collect();
    fates.par_sort_unstable_by_key(|fate| (fate.process, fate.id, fate.mark));
    fates
        .par_chunk_by_mut(|a, b| (a.process, a.id) == (b.process, b.id))
        .for_each_init(OpenAsyncs::default, |open, of_id| {
            match_id(of_id, rows, open)
        });
    fates
}

/// The marks of one id. `open` is room to work in.
fn match_id(of_id: &mut [Fate], rows: &[Row], open: &mut OpenAsyncs) {
    open.clear();
    // Tracks without a group are named after the first slice seen under their id.
    let mut first_name = None;
    for at in 0..of_id.len() {
        let row = &rows[of_id[at].mark as usize];
        if row.group == StringId::EMPTY {
            of_id[at].group = *first_name.get_or_insert(row.name);
        }
        let group = of_id[at].group;
        match row.op {
            AsyncOp::Instant => {}
            AsyncOp::Begin => {
                let around = open.innermost().filter(|around| around.group == group);
                of_id[at].parent = around.map_or(NONE, |around| of_id[around.mark as usize].mark);
                open.push(Open {
                    mark: at as u32,
                    group,
                    name: row.name,
                    category: row.category,
                });
            }
            AsyncOp::End | AsyncOp::Over => {
                if let Some(closed) = open.close(row.category, row.name) {
                    let begin = closed.mark as usize;
                    of_id[begin].partner = of_id[at].mark;
                    of_id[at].partner = of_id[begin].mark;
                }
            }
        }
    }
}

/// The common label of each begin.
fn labels(rows: &[Row], merged: &mut Merged) -> Vec<u32> {
    let mut known: FxHashMap<(StringId, StringId), u32> = FxHashMap::default();
    let label_of = |row: &Row| match row.op {
        AsyncOp::Begin => *known.entry((row.category, row.name)).or_insert_with(|| {
            merged.labels.push(SliceLabel {
                name: row.name,
                category: row.category,
                family: crate::event::pairs::ASYNC,
            });
            merged.labels.len() as u32 - 1
        }),
        _ => 0,
    };
    rows.iter().map(label_of).collect()
}

/// The slices and instants of the marks of one group, in order of time.
fn group_of(marks: &[u32], rows: &[Row], matched: &[Matched], labels: &[u32]) -> Group {
    let mut group = Group::default();
    // By draft, its mark: a parent comes before its children and is looked up there.
    let mut begins: Vec<u32> = Vec::new();
    let mut free = FreeRows::default();
    for &mark in marks {
        let (row, found) = (&rows[mark as usize], matched[mark as usize]);
        match row.op {
            AsyncOp::Begin => {
                let finish = rows.get(found.partner as usize);
                let seen = finish.filter(|finish| finish.op == AsyncOp::End);
                let draft = Draft {
                    start: row.time,
                    end: finish.map_or(i64::MAX, |finish| finish.time.max(row.time)),
                    is_unended: seen.is_none(),
                    label: labels[mark as usize],
                    begin: row.event,
                    finish: seen.map_or(u32::MAX, |finish| finish.event),
                };
                group.unfinished += u64::from(finish.is_none());
                let parent = match found.parent {
                    NONE => None,
                    parent => begins.binary_search(&parent).ok(),
                };
                let nested = &mut group.nested;
                nested
                    .parents
                    .push(parent.map_or(u32::MAX, |parent| parent as u32));
                nested.rows.push(free.take(0, draft.start, draft.end));
                nested.slices.push(draft);
                begins.push(mark);
            }
            AsyncOp::End if found.partner != NONE => {}
            AsyncOp::Over => {}
            AsyncOp::End => {
                group.unmatched_ends += 1;
                group.instants.push(row.event);
            }
            AsyncOp::Instant => group.instants.push(row.event),
        }
    }
    group.nested.row_counts = free.into_counts();
    group
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
    let mut free = FreeRows::default();
    let take = |draft: &Draft| free.take(0, draft.start, draft.end);
    let rows = drafts.iter().map(take).collect();
    (rows, free.into_counts())
}

/// The marks of all parts, in order of time.
fn collect(merged: &mut Merged, processes: &ProcessOfKey, trace: &Trace) -> Vec<Row> {
    let taken = |part: &mut MergedPart| std::mem::take(&mut part.rows.asyncs);
    let marks: Vec<Vec<AsyncMark>> = merged.parts.iter_mut().map(taken).collect();
    let requests = build_requests(merged);
    let merged: &Merged = merged;
    let of_part = |(marks, part): (Vec<AsyncMark>, &MergedPart)| {
        let columns = &merged.events.segments()[part.segment as usize].columns;
        let row = |mark: &AsyncMark| {
            let time = columns.time(mark.event);
            let process = match mark.scope {
                AsyncScope::Global => None,
                AsyncScope::Process(key) => processes.get(&key).copied(),
                AsyncScope::ProcessOf(key) => {
                    trace.thread(merged.events.threads.at(key, time)).process
                }
            };
            Row {
                time: time.0,
                id: mark.id,
                event: part.event(mark.event).0,
                process,
                name: part.string(mark.name),
                category: part.string(mark.category),
                group: part.string(mark.group),
                op: mark.op,
            }
        };
        marks.iter().map(row).collect::<Vec<_>>()
    };
    let parts = marks.into_par_iter().zip(&merged.parts).map(of_part);
    let parts: Vec<Vec<Row>> = parts.collect();
    let mut rows = parts.concat();
    drop(parts);
    rows.extend(requests.into_iter().map(|mark| Row {
        time: mark.time,
        id: mark.id ^ OF_REQUESTS,
        event: mark.event,
        process: None,
        name: mark.name,
        category: mark.category,
        group: mark.group,
        op: mark.op,
    }));
    if !rows.is_sorted_by_key(|row| row.time) {
        rows.par_sort_by_key(|row| row.time);
    }
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
            is_unended: false,
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
