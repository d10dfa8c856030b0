//! Makes slices on the tracks of their groups from asynchronous begins, instants and ends.
//!
//! A slice is open under (scope, id). It is in the process of its scope; if the scope is the trace, in that of the begin
//! that is open around it, else its own. An end closes the innermost open slice with its category and name, whichever
//! thread recorded the end. If there is none, an end without a name closes the innermost open slice. The slices of a
//! group share a track. Each slice takes the topmost row that is free, so a track has as many rows as slices overlap at
//! once. A slice's parent is the innermost slice that was open under
//! its id when it began and contains it whole; it has none if the innermost one that was open is of another group.
//!
//! Marks are sorted by time. Then the marks of each id are matched, in parallel over ids; then the slices of each group
//! are put into rows, in parallel over groups.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::free_rows::FreeRows;
use super::group::{Groups, gather};
use super::nesting::Nested;
use super::open_asyncs::{Open, OpenAsyncs};
use super::people::People;
use super::recorded::{Part, Recorded};
use super::requests::{RequestMark, build_requests};
use super::rows::PerPart;
use super::slice_table::AsyncTrack;
use crate::base::streaks::Streaks;
use crate::base::{Diagnostics, Maybe, Severity, StringId, Strings};
use crate::event::family::Family;
use crate::event::{AsyncMark, AsyncOp, AsyncScope, ProcessKey, RequestRow, SliceKind};
use crate::trace::{ProcessId, SliceLabel};

/// Asynchronous slices and instants on their tracks, as [`async_slices`] returns them.
#[derive(Default)]
pub(crate) struct Asyncs {
    /// The tracks, sorted by process, then name.
    pub tracks: Vec<AsyncTrack>,
    /// The events of all instants on these tracks.
    pub instants: Vec<u32>,
    /// Counts of slices without a begin or without an end.
    pub diagnostics: Diagnostics,
}

/// The input of [`async_slices`].
pub(crate) struct AsyncRows {
    /// Begins, instants and ends.
    pub marks: PerPart<AsyncMark>,
    /// Events about bios and requests of the block layer.
    pub requests: PerPart<RequestRow>,
}

/// An [`AsyncMark`] with the trace's numbers.
#[derive(Clone, Copy)]
struct Row {
    time: i64,
    id: u64,
    event: u32,
    /// The process in which the id is unique; `None`: the whole trace.
    scope: Option<ProcessId>,
    /// The process of a mark outside of all slices.
    process: Option<ProcessId>,
    name: StringId,
    category: StringId,
    kind: SliceKind,
    group: StringId,
    op: AsyncOp,
}

/// XORed into the ids of block requests, so that they differ from ids in the file.
const OF_REQUESTS: u64 = 0x626c_6f63_6b00_0000 << 8;

/// The result of matching one mark. A mark's number is its index in order of time.
#[derive(Clone, Copy)]
struct Fate {
    /// The process in which the id is unique; `None`: the whole trace.
    scope: Option<ProcessId>,
    /// The process of the mark's track.
    process: Option<ProcessId>,
    id: u64,
    /// The number of the mark.
    mark: u32,
    /// The name of the mark's group.
    group: StringId,
    /// The number of a begin's end, or of an end's begin; none if it has no partner.
    partner: Maybe<u32>,
    /// The number of the innermost begin that was open at a begin; none if there is none, or if it is of another group.
    parent: Maybe<u32>,
}

/// The fields of a [`Fate`] that [`group_of`] reads, indexed by mark number.
#[derive(Clone, Copy)]
struct Matched {
    partner: Maybe<u32>,
    parent: Maybe<u32>,
}

/// The slices and instants of one group, while they are made.
#[derive(Default)]
struct Group {
    nested: Nested,
    instants: Vec<u32>,
    unmatched_ends: u64,
    unfinished: u64,
}

/// Returns the tracks of all asynchronous slices; adds their names to `strings` and `labels`.
pub(crate) fn async_slices(
    rows: AsyncRows,
    recorded: &Recorded,
    people: &People,
    strings: &mut Strings,
    labels: &mut Streaks<SliceLabel>,
) -> Asyncs {
    let requests = build_requests(rows.requests, recorded, strings);
    let rows = collect(rows.marks, recorded, people);
    let rows = in_order(rows, requests);
    let fates = match_ends(&rows);
    // Fates are sorted by id; the lists that follow are indexed by mark number again.
    let mut matched = vec![
        Matched {
            partner: Maybe::NONE,
            parent: Maybe::NONE
        };
        rows.len()
    ];
    let mut tracks = vec![(None, StringId::EMPTY); rows.len()];
    for fate in fates {
        let mark = fate.mark as usize;
        tracks[mark] = (fate.process, fate.group);
        matched[mark] = Matched {
            partner: fate.partner,
            parent: fate.parent,
        };
    }
    // Groups are numbered in the order of their first marks.
    let mut groups: Vec<(Option<ProcessId>, StringId)> = Vec::new();
    let mut group_ids: FxHashMap<(Option<ProcessId>, StringId), u32> = FxHashMap::default();
    let mut of_groups = Groups::with_capacity(rows.len());
    for (key, mark) in tracks.into_iter().zip(0_u32..) {
        let group = *group_ids.entry(key).or_insert_with(|| {
            groups.push(key);
            groups.len() as u32 - 1
        });
        of_groups.push(group, mark);
    }
    let label_ids = label_ids(&rows, labels);
    let of_groups = of_groups.sorted();
    let made: Vec<Group> = gather([&of_groups])
        .into_par_iter()
        .map(|of| group_of(&of.own.concat(), &rows, &matched, &label_ids))
        .collect();
    let diagnostics = notes(&made);
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
    sort_tracks(&mut tracks, strings);
    Asyncs {
        tracks,
        instants,
        diagnostics,
    }
}

fn notes(groups: &[Group]) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let sum = |count: fn(&Group) -> u64| groups.iter().map(count).sum::<u64>();
    let unmatched_ends = sum(|group| group.unmatched_ends);
    let unfinished = sum(|group| group.unfinished);
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
            diagnostics.note_many(code, Severity::Info, None, count, || message.to_owned());
        }
    }
    diagnostics
}

/// Returns the fate of each mark. Matches ends to begins in parallel over ids, in order of time inside an id.
fn match_ends(rows: &[Row]) -> Vec<Fate> {
    let mut fates: Vec<Fate> = rows
        .iter()
        .zip(0..)
        .map(|(row, mark)| Fate {
            scope: row.scope,
            process: row.process,
            id: row.id,
            mark,
            group: row.group,
            partner: Maybe::NONE,
            parent: Maybe::NONE,
        })
        .collect();
    fates.par_sort_unstable_by_key(|fate| (fate.scope, fate.id, fate.mark));
    fates
        .par_chunk_by_mut(|a, b| (a.scope, a.id) == (b.scope, b.id))
        .for_each_init(OpenAsyncs::default, |open, of_id| {
            match_id(of_id, rows, open)
        });
    fates
}

/// Matches the marks of one id. `open` is reused memory; its content on entry does not matter.
fn match_id(of_id: &mut [Fate], rows: &[Row], open: &mut OpenAsyncs) {
    open.clear();
    // Marks without a group belong to that of the outermost slice around them: a file may use an id again for another
    // operation.
    let mut outermost = None;
    for at in 0..of_id.len() {
        let row = &rows[of_id[at].mark as usize];
        if row.op == AsyncOp::Begin && open.innermost().is_none() {
            outermost = Some(match row.group {
                StringId::EMPTY => row.name,
                stated => stated,
            });
        }
        if row.group == StringId::EMPTY {
            of_id[at].group = *outermost.get_or_insert(row.name);
        }
        let group = of_id[at].group;
        if let Some(around) = open.innermost() {
            of_id[at].process = of_id[around.mark as usize].process;
        }
        match row.op {
            AsyncOp::Instant => {}
            AsyncOp::Begin => {
                let around = open.innermost().filter(|around| around.group == group);
                let parent = around.map(|around| of_id[around.mark as usize].mark);
                of_id[at].parent = parent.into();
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
                    of_id[begin].partner = Maybe::new(of_id[at].mark);
                    of_id[at].partner = Maybe::new(of_id[begin].mark);
                }
            }
        }
    }
}

/// Returns the label of each begin, an index into `labels`; adds the labels that it makes.
fn label_ids(rows: &[Row], labels: &mut Streaks<SliceLabel>) -> Vec<u32> {
    let mut known: FxHashMap<(StringId, StringId, SliceKind), u32> = FxHashMap::default();
    let label_of = |row: &Row| match row.op {
        AsyncOp::Begin => *known
            .entry((row.category, row.name, row.kind))
            .or_insert_with(|| {
                labels.push(SliceLabel {
                    name: row.name,
                    category: row.category,
                    family: Family::Async,
                    kind: row.kind,
                });
                labels.len() as u32 - 1
            }),
        _ => 0,
    };
    rows.iter().map(label_of).collect()
}

/// Returns the slices and instants of one group; `marks` are mark numbers in order of time.
fn group_of(marks: &[u32], rows: &[Row], matched: &[Matched], labels: &[u32]) -> Group {
    let mut group = Group::default();
    // The mark number of each draft, ascending, because parents come before their children: a search for the parent's
    // mark number finds the index of its draft.
    let mut begins: Vec<u32> = Vec::new();
    let mut free = FreeRows::default();
    for &mark in marks {
        let (row, found) = (&rows[mark as usize], matched[mark as usize]);
        match row.op {
            AsyncOp::Begin => {
                let finish = found.partner.get().map(|partner| &rows[partner as usize]);
                let seen = finish.filter(|finish| finish.op == AsyncOp::End);
                let draft = Draft {
                    start: row.time,
                    end: finish.map(|finish| finish.time.max(row.time)).into(),
                    is_unended: seen.is_none(),
                    label: labels[mark as usize],
                    begin: row.event,
                    finish: seen.map(|finish| finish.event).into(),
                };
                group.unfinished += u64::from(finish.is_none());
                let parent = found.parent.get();
                let mut parent = parent.and_then(|parent| begins.binary_search(&parent).ok());
                let nested = &mut group.nested;
                // A slice that ends before this one does not contain it, although it was open when this one began.
                while let Some(around) = parent
                    && nested.slices[around].end < draft.end
                {
                    let outer = nested.parents[around].get();
                    parent = outer.map(|outer| outer as usize);
                }
                nested
                    .parents
                    .push(parent.map(|parent| parent as u32).into());
                nested.rows.push(free.take(0, draft.start, draft.end));
                nested.slices.push(draft);
                begins.push(mark);
            }
            AsyncOp::End if found.partner.is_some() => {}
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

/// Sorts tracks by process, then name.
pub(crate) fn sort_tracks(tracks: &mut [AsyncTrack], strings: &Strings) {
    tracks.sort_by(|a, b| {
        a.process
            .cmp(&b.process)
            .then_with(|| strings.bytes(a.name).cmp(strings.bytes(b.name)))
    });
}

/// Returns the marks of all parts, part by part.
fn collect(marks: PerPart<AsyncMark>, recorded: &Recorded, people: &People) -> Vec<Row> {
    let of_part = |(marks, part): (Vec<AsyncMark>, &Part)| {
        let columns = recorded.columns(part);
        let row = |mark: &AsyncMark| {
            let time = columns.time(mark.event);
            let of_key = |key: &ProcessKey| people.process_of_key.get(key).copied();
            let process = match &mark.scope {
                AsyncScope::Global => None,
                AsyncScope::Process(key) | AsyncScope::Shared(key) => of_key(key),
                AsyncScope::ProcessOf(key) => {
                    people.process_of_or_idle(recorded.events.threads.at(key.get(), time))
                }
            };
            let is_shared = matches!(mark.scope, AsyncScope::Shared(_));
            Row {
                time: time.0,
                id: mark.id,
                event: part.event(mark.event).0,
                scope: process.filter(|_| !is_shared),
                process,
                name: part.string(mark.name),
                category: part.string(mark.category),
                kind: mark.kind,
                group: part.string(mark.group),
                op: mark.op,
            }
        };
        marks.iter().map(row).collect::<Vec<_>>()
    };
    let parts = marks.into_par_iter().zip(&recorded.parts).map(of_part);
    let parts: Vec<Vec<Row>> = parts.collect();
    parts.concat()
}

/// Returns marks and the marks of block requests, sorted by time.
fn in_order(mut rows: Vec<Row>, requests: Vec<RequestMark>) -> Vec<Row> {
    rows.extend(requests.into_iter().map(|mark| Row {
        time: mark.time,
        id: mark.id ^ OF_REQUESTS,
        event: mark.event,
        scope: None,
        process: None,
        name: mark.name,
        category: mark.category,
        kind: SliceKind::BlockRequests,
        group: mark.group,
        op: mark.op,
    }));
    if !rows.is_sorted_by_key(|row| row.time) {
        rows.par_sort_by_key(|row| row.time);
    }
    rows
}
