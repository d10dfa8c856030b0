//! Makes the trace's tables from finished tracks: tracks in order; slices, rows and instants as one column set each.

use std::ops::Range;

use rayon::prelude::*;

use super::group::{Numbered, zip_by_number};
use super::nesting::Nested;
use super::points::Points;
use super::stretch::cut;
use super::track_number;
use crate::base::streaks::Streaks;
use crate::base::{Maybe, StringId};
use crate::trace::packed::{Number, Packed};
use crate::trace::slice_ends::{EndColumns, EndExceptions, EndRow, Ends, Finishes};
use crate::trace::slices::SliceRow;
use crate::trace::{Instants, ProcessId, SliceLabel, Slices, Track, TrackId, TrackKind};

/// The slices and instants of all tracks; the input of [`track_tables`].
pub(crate) struct OnTracks {
    /// Slices of threads and CPUs, sorted by track number.
    pub nested: Vec<Numbered<Nested>>,
    /// Asynchronous slices, in their final order.
    pub asyncs: Vec<AsyncTrack>,
    /// Instants of threads and CPUs.
    pub points: Points,
    /// The labels of all slices.
    pub labels: Streaks<SliceLabel>,
}

/// The tables of tracks, slices and instants.
#[derive(Debug, Default)]
pub(crate) struct TrackTables {
    /// The tracks, in order.
    pub tracks: Vec<Track>,
    /// The slices of all tracks.
    pub slices: Slices,
    /// The instants of all tracks.
    pub instants: Instants,
}

/// A track of asynchronous slices.
pub(crate) struct AsyncTrack {
    /// The process that it belongs to; `None` if it belongs to the trace.
    pub process: Option<ProcessId>,
    /// Name of the track.
    pub name: StringId,
    /// Its slices.
    pub nested: Nested,
    /// The events of its instants, sorted by time.
    pub instants: Vec<u32>,
}

/// A track before it is in the tables.
struct Draft {
    kind: TrackKind,
    name: StringId,
    nested: Nested,
    instants: Range<u32>,
}

/// Each job fills at most this many tracks; it also ends with the track at which it has more than this many slices.
const TRACKS_A_JOB: usize = 64;
const SLICES_A_JOB: u32 = 4096;

/// Returns the tables of all tracks; `cpu_count` is the trace's number of CPUs.
pub(crate) fn track_tables(from: OnTracks, cpu_count: usize) -> TrackTables {
    let OnTracks {
        nested,
        asyncs,
        points,
        labels,
    } = from;
    let Drafts {
        mut drafts,
        instants,
    } = drafts(nested, asyncs, points, cpu_count);
    let slice_count: usize = drafts.iter().map(|draft| draft.nested.slices.len()).sum();
    let mut tracks = Vec::new();
    let mut table = Slices {
        labels,
        ..Slices::default()
    };
    let mut starts = vec![0; slice_count];
    let mut lengths = vec![0; slice_count];
    let mut label_ids = vec![0; slice_count];
    let mut parents = vec![Maybe::NONE; slice_count];
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
            let track = TrackId(tracks.len() as u32);
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
            tracks.push(Track {
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
    let odd: Vec<OddRows> = jobs
        .into_par_iter()
        .map(|(drafts, mut first, mut columns)| {
            let mut odd = OddRows::default();
            for draft in drafts {
                let nested = std::mem::take(&mut draft.nested);
                let count = nested.slices.len();
                let stretch = columns.cut(count);
                stretch.fill(nested, first, &mut odd);
                first += count as u32;
            }
            odd
        })
        .collect();
    let (mut long, mut far, mut measured) = (Vec::new(), Vec::new(), Vec::new());
    for mut of_job in odd {
        long.append(&mut of_job.exceptions.long);
        far.append(&mut of_job.exceptions.far);
        measured.append(&mut of_job.measured);
        table.unended.extend_from_slice(&of_job.exceptions.unended);
    }
    table.unended.to_mut().par_sort_unstable();
    table.unended.shrink_to_fit();
    measured.par_sort_unstable();
    table.measured = measured.into_iter().collect();
    long.par_sort_unstable();
    far.par_sort_unstable();
    table.label_ids = packed(label_ids);
    table.parents = packed(parents);
    table.ends = Ends::new(lengths, long, &starts);
    table.starts = packed(starts);
    table.finishes = Finishes::new(steps, far, &begins);
    table.begins = packed(begins);
    table.find_beside();
    TrackTables {
        tracks,
        slices: table,
        instants,
    }
}

/// Returns a column in the packed form of the table.
fn packed<T: Number>(values: Vec<T>) -> Packed<T> {
    Packed::new(&values)
}

/// The tracks, and the instants of all tracks.
struct Drafts {
    drafts: Vec<Draft>,
    instants: Instants,
}

/// Returns the tracks in their final order (by number, then asynchronous tracks), and the instants of all tracks.
fn drafts(
    tracks: Vec<Numbered<Nested>>,
    asyncs: Vec<AsyncTrack>,
    points: Points,
    cpu_count: usize,
) -> Drafts {
    let mut events = points.events;
    events.reserve_exact(asyncs.iter().map(|track| track.instants.len()).sum());
    let mut first = 0_u32;
    let mut next_instants = |count: usize| {
        let range = first..first + count as u32;
        first = range.end;
        range
    };
    let mut drafts = Vec::new();
    for of_track in zip_by_number(tracks, points.tracks) {
        let nested = of_track.left;
        let instants = next_instants(of_track.right);
        if !(nested.slices.is_empty() && instants.is_empty()) {
            drafts.push(Draft {
                kind: track_number::kind_of(of_track.number, cpu_count),
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
    let instants = Instants {
        events: packed(events),
    };
    Drafts { drafts, instants }
}

/// Values of one job that do not fit into the columns.
#[derive(Default)]
struct OddRows {
    exceptions: EndExceptions,
    /// (slice index, measured duration in ns) of slices whose measured duration differs from the drawn one.
    measured: Vec<(u32, i64)>,
}

/// The same range of each of the table's columns.
struct SliceColumns<'a> {
    starts: &'a mut [i64],
    lengths: &'a mut [u32],
    label_ids: &'a mut [u32],
    parents: &'a mut [Maybe<u32>],
    begins: &'a mut [u32],
    steps: &'a mut [u16],
}

impl<'a> SliceColumns<'a> {
    /// Removes the first `count` rows and returns them.
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

    /// Writes a track's slices, sorted by row, then start. `first` is the index of the track's first slice in the
    /// table.
    fn fill(self, nested: Nested, first: u32, odd: &mut OddRows) {
        let exceptions = &mut odd.exceptions;
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
        // A parent comes before its children, so its place in the table is known when its children are written.
        let mut places = nested.rows;
        for (index, draft) in nested.slices.iter().enumerate() {
            let next = &mut next[places[index] as usize];
            let place = *next as usize;
            *next += 1;
            places[index] = place as u32;
            self.starts[place] = draft.start;
            let row = EndRow {
                start: draft.start,
                end: draft.end,
                begin: draft.begin,
                finish: draft.finish,
            };
            ends.set(place, first + place as u32, row, exceptions);
            if draft.is_unended && draft.end.is_some() {
                exceptions.unended.push(first + place as u32);
            }
            self.label_ids[place] = draft.label;
            self.begins[place] = draft.begin;
            let parent = nested.parents[index].get();
            let parent = parent.map(|parent| first + places[parent as usize]);
            self.parents[place] = parent.into();
        }
        let rows = nested.measured.iter().filter_map(|&(index, ns)| {
            let place = places.get(index as usize)?;
            Some((first + place, ns))
        });
        odd.measured.extend(rows);
    }
}
