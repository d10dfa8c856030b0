//! Finished tracks to the trace's tables: tracks in order, slices, rows and instants as one column set each.

use rayon::prelude::*;

use super::nesting::Nested;
use super::track_kind;
use crate::base::StringId;
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

/// Puts tracks, slices and instants into `trace`.
///
/// `points` are the instants of each track number, sorted by number; every list is sorted by time.
pub fn assemble(
    trace: &mut Trace,
    tracks: Vec<(u32, Nested)>,
    asyncs: Vec<AsyncTrack>,
    points: Vec<(u32, Vec<u32>)>,
) {
    let cpu_count = trace.cpus.len();
    let mut drafts: Vec<(TrackKind, StringId, Nested, Vec<u32>)> = Vec::new();
    let mut slices = tracks.into_iter().peekable();
    let mut points = points.into_iter().peekable();
    loop {
        let next_slices = slices.peek().map(|(number, _)| *number);
        let next_points = points.peek().map(|(number, _)| *number);
        let Some(number) = next_slices.into_iter().chain(next_points).min() else {
            break;
        };
        let nested = slices
            .next_if(|(at, _)| *at == number)
            .map(|(_, nested)| nested)
            .unwrap_or_default();
        let instants = points
            .next_if(|(at, _)| *at == number)
            .map(|(_, instants)| instants)
            .unwrap_or_default();
        if !(nested.slices.is_empty() && instants.is_empty()) {
            drafts.push((
                track_kind(number, cpu_count),
                StringId::EMPTY,
                nested,
                instants,
            ));
        }
    }
    for track in asyncs {
        drafts.push((
            TrackKind::Async(track.process),
            track.name,
            track.nested,
            track.instants,
        ));
    }
    let slice_count: usize = drafts
        .iter()
        .map(|(_, _, nested, _)| nested.slices.len())
        .sum();
    let table = &mut trace.slices;
    table.starts = vec![0; slice_count];
    table.ends = vec![0; slice_count];
    table.label_ids = vec![0; slice_count];
    table.parents = vec![0; slice_count];
    table.begins = vec![0; slice_count];
    table.finishes = vec![0; slice_count];

    let mut places = Vec::with_capacity(drafts.len());
    let mut first_slice = 0_u32;
    for (index, (kind, name, nested, instants)) in drafts.iter().enumerate() {
        let first_row = table.rows.len() as u32;
        for (row, ends) in nested.row_starts.windows(2).enumerate() {
            if ends[0] < ends[1] {
                table.rows.push(SliceRow {
                    track: TrackId(index as u32),
                    row: row as u32,
                    slices: first_slice + ends[0]..first_slice + ends[1],
                });
            }
        }
        let first_instant = trace.instants.events.len() as u32;
        trace.instants.events.extend_from_slice(instants);
        trace.tracks.push(Track {
            kind: *kind,
            name: *name,
            rows: first_row..table.rows.len() as u32,
            instants: first_instant..trace.instants.events.len() as u32,
        });
        places.push(first_slice);
        first_slice += nested.slices.len() as u32;
    }
    trace.instants.events.shrink_to_fit();

    // Each track fills its own stretch of every column.
    let mut starts = table.starts.as_mut_slice();
    let mut ends = table.ends.as_mut_slice();
    let mut labels = table.label_ids.as_mut_slice();
    let mut parents = table.parents.as_mut_slice();
    let mut begins = table.begins.as_mut_slice();
    let mut finishes = table.finishes.as_mut_slice();
    let mut jobs = Vec::with_capacity(drafts.len());
    for ((_, _, nested, _), first) in drafts.into_iter().zip(places) {
        let count = nested.slices.len();
        jobs.push((
            nested,
            first,
            cut(&mut starts, count),
            cut(&mut ends, count),
            cut(&mut labels, count),
            cut(&mut parents, count),
            cut(&mut begins, count),
            cut(&mut finishes, count),
        ));
    }
    jobs.into_par_iter().for_each(
        |(nested, first, starts, ends, labels, parents, begins, finishes)| {
            for (i, draft) in nested.slices.iter().enumerate() {
                starts[i] = draft.start;
                ends[i] = draft.end;
                labels[i] = draft.label;
                begins[i] = draft.begin;
                finishes[i] = draft.finish;
                let parent = nested.parents[i];
                parents[i] = if parent == u32::MAX {
                    u32::MAX
                } else {
                    first + parent
                };
            }
        },
    );
}

/// Takes the first `count` elements off `rest`.
fn cut<'a, T>(rest: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, left) = std::mem::take(rest).split_at_mut(count);
    *rest = left;
    taken
}
