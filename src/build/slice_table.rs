//! Finished tracks to the trace's tables: tracks in order, slices, rows and instants as one column set each.

use std::ops::Range;

use rayon::prelude::*;

use super::group::zip_by_number;
use super::nesting::Nested;
use super::points::Points;
use super::track_kind;
use crate::base::StringId;
use crate::trace::packed::{Number, Packed};
use crate::trace::slice_ends::{EndColumns, EndExceptions, Ends, Finishes};
use crate::trace::slices::SliceRow;
use crate::trace::{ProcessId, Trace, Track, TrackId, TrackKind};

/// A track of asynchronous slices.
pub struct AsyncTrack {
    /// Whose.
    pub process: Option<ProcessId>,
    /// What it is called.
    pub name: StringId,
    /// Its slices.
    pub nested: Nested,
    /// Its points, sorted by time.
    pub instants: Vec<u32>,
}

/// A track on its way into the tables.
struct Draft {
    kind: TrackKind,
    name: StringId,
    nested: Nested,
    instants: Range<u32>,
}

/// How many tracks, and slices, one after the other are filled in at a time, or a little more.
const TRACKS_A_JOB: usize = 64;
const SLICES_A_JOB: u32 = 4096;

/// Puts tracks, slices and instants into `trace`.
///
/// `tracks` and `points` are sorted by track number, the slices and instants of each by time.
pub fn assemble(
    trace: &mut Trace,
    tracks: Vec<(u32, Nested)>,
    asyncs: Vec<AsyncTrack>,
    points: Points,
) {
    let mut drafts = drafts(trace, tracks, asyncs, points);
    let slice_count: usize = drafts.iter().map(|draft| draft.nested.slices.len()).sum();
    let table = &mut *trace.slices;
    let mut starts = vec![0; slice_count];
    let mut lengths = vec![0; slice_count];
    let mut label_ids = vec![0; slice_count];
    let mut parents = vec![0; slice_count];
    let mut begins = vec![0; slice_count];
    let mut steps = vec![0; slice_count];

    let rows = drafts.iter().map(|draft| draft.nested.row_counts.len());
    table.rows.reserve_exact(rows.sum());

    // Each track fills its own stretch of every column.
    let mut columns = SliceColumns {
        starts: &mut starts,
        lengths: &mut lengths,
        label_ids: &mut label_ids,
        parents: &mut parents,
        begins: &mut begins,
        steps: &mut steps,
    };
    let mut jobs = Vec::new();
    let mut rest = drafts.as_mut_slice();
    let mut first_slice = 0_u32;
    while !rest.is_empty() {
        let first_of_job = first_slice;
        let mut count = 0;
        for draft in rest.iter().take(TRACKS_A_JOB) {
            let track = TrackId(trace.tracks.len() as u32);
            let first_row = table.rows.len() as u32;
            for (row, &count) in draft.nested.row_counts.iter().enumerate() {
                if count > 0 {
                    table.rows.push(SliceRow {
                        track,
                        row: row as u32,
                        slices: first_slice..first_slice + count,
                    });
                    first_slice += count;
                }
            }
            trace.tracks.push(Track {
                kind: draft.kind,
                name: draft.name,
                rows: first_row..table.rows.len() as u32,
                instants: draft.instants.clone(),
            });
            count += 1;
            if first_slice - first_of_job > SLICES_A_JOB {
                break;
            }
        }
        let stretch = columns.cut((first_slice - first_of_job) as usize);
        jobs.push((cut(&mut rest, count), first_of_job, stretch));
    }
    let exceptions: Vec<(EndExceptions, Vec<(u32, i64)>)> = jobs
        .into_par_iter()
        .map(|(drafts, mut first, mut columns)| {
            let (mut exceptions, mut measured) = (EndExceptions::default(), Vec::new());
            for draft in drafts {
                let nested = std::mem::take(&mut draft.nested);
                let count = nested.slices.len();
                let stretch = columns.cut(count);
                stretch.fill(nested, first, &mut exceptions, &mut measured);
                first += count as u32;
            }
            (exceptions, measured)
        })
        .collect();
    let (mut long, mut far, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    for (mut of_job, mut measured_of_job) in exceptions {
        long.append(&mut of_job.long);
        far.append(&mut of_job.far);
        measured.append(&mut measured_of_job);
        table.unended.append(&mut of_job.unended);
    }
    table.unended.par_sort_unstable();
    table.unended.shrink_to_fit();
    measured.par_sort_unstable();
    table.measured = measured;
    long.par_sort_unstable();
    far.par_sort_unstable();
    table.label_ids = packed(label_ids);
    table.parents = packed(parents);
    table.ends = Ends::new(lengths, long, &starts);
    table.starts = packed(starts);
    table.finishes = Finishes::new(steps, far, &begins);
    table.begins = packed(begins);
}

/// A column as the table keeps it.
fn packed<T: Number>(values: Vec<T>) -> Packed<T> {
    Packed::new(&values)
}

/// Tracks in their final order: by number, then the asynchronous ones. Their instants go into the table.
fn drafts(
    trace: &mut Trace,
    tracks: Vec<(u32, Nested)>,
    asyncs: Vec<AsyncTrack>,
    points: Points,
) -> Vec<Draft> {
    let mut events = points.events;
    events.reserve_exact(asyncs.iter().map(|track| track.instants.len()).sum());
    let mut first = 0_u32;
    let mut next_instants = |count: usize| {
        let range = first..first + count as u32;
        first = range.end;
        range
    };
    let mut drafts = Vec::new();
    for (number, nested, count) in zip_by_number(tracks, points.tracks) {
        let instants = next_instants(count);
        if !(nested.slices.is_empty() && instants.is_empty()) {
            drafts.push(Draft {
                kind: track_kind(number, trace.cpus.len()),
                name: StringId::EMPTY,
                nested,
                instants,
            });
        }
    }
    for track in asyncs {
        events.extend_from_slice(&track.instants);
        drafts.push(Draft {
            kind: TrackKind::Async(track.process),
            name: track.name,
            nested: track.nested,
            instants: next_instants(track.instants.len()),
        });
    }
    trace.instants.events = packed(events);
    drafts
}

/// A stretch of the table's columns.
struct SliceColumns<'a> {
    starts: &'a mut [i64],
    lengths: &'a mut [u32],
    label_ids: &'a mut [u32],
    parents: &'a mut [u32],
    begins: &'a mut [u32],
    steps: &'a mut [u16],
}

impl<'a> SliceColumns<'a> {
    /// Takes the first `count` rows off.
    fn cut(&mut self, count: usize) -> SliceColumns<'a> {
        SliceColumns {
            starts: cut(&mut self.starts, count),
            lengths: cut(&mut self.lengths, count),
            label_ids: cut(&mut self.label_ids, count),
            parents: cut(&mut self.parents, count),
            begins: cut(&mut self.begins, count),
            steps: cut(&mut self.steps, count),
        }
    }

    /// Puts a track's slices where they belong: sorted by row, then start. Its first is slice `first`.
    fn fill(
        self,
        nested: Nested,
        first: u32,
        exceptions: &mut EndExceptions,
        measured: &mut Vec<(u32, i64)>,
    ) {
        let mut ends = EndColumns {
            lengths: self.lengths,
            steps: self.steps,
        };
        let mut next = Vec::with_capacity(nested.row_counts.len());
        let mut sum = 0;
        for count in &nested.row_counts {
            next.push(sum);
            sum += count;
        }
        // A parent comes before its children, so its place is known when they ask for it.
        let mut places = nested.rows;
        for (index, draft) in nested.slices.iter().enumerate() {
            let next = &mut next[places[index] as usize];
            let place = *next as usize;
            *next += 1;
            places[index] = place as u32;
            self.starts[place] = draft.start;
            ends.set(
                (place, first + place as u32),
                (draft.start, draft.end),
                (draft.begin, draft.finish),
                exceptions,
            );
            if draft.is_unended && draft.end != i64::MAX {
                exceptions.unended.push(first + place as u32);
            }
            self.label_ids[place] = draft.label;
            self.begins[place] = draft.begin;
            let parent = places.get(nested.parents[index] as usize);
            self.parents[place] = parent.map_or(u32::MAX, |parent| first + parent);
        }
        let rows = nested.measured.iter().filter_map(|&(index, ns)| {
            let place = places.get(index as usize)?;
            Some((first + place, ns))
        });
        measured.extend(rows);
    }
}

/// Takes the first `count` elements off `rest`.
pub fn cut<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, left) = std::mem::take(rest).split_at_mut(count);
    *rest = left;
    taken
}
