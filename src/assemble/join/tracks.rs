//! Puts the tracks of several traces into one order, with their rows, slices and instants; then adds the arrows between
//! the slices.

use super::Joined;
use crate::base::{Cancelled, Job, Maybe, Timestamp};
use crate::trace::flows::FlowPoint;
use crate::trace::packed::Packed;
use crate::trace::slice_ends::EndRow;
use crate::trace::slices::SliceRow;
use crate::trace::{EventId, Flow, Flows, SliceId, Slices, Track, TrackId, TrackKind};

/// The old and new position of the slices of one row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MovedRow {
    /// Index of the row's first slice in its member.
    there: u32,
    /// Index of the same slice in the joined trace.
    here: u32,
}

impl Joined<'_> {
    /// Adds the tracks of all members with their rows, slices and instants. Tracks are sorted by kind, so the tracks of
    /// different files interleave. Returns, for each member, the new position of each of its rows.
    ///
    /// # Errors
    /// If the job is cancelled.
    pub(super) fn place_tracks(&mut self, job: &Job) -> Result<Vec<Vec<MovedRow>>, Cancelled> {
        let mut order: Vec<(TrackKind, usize, u32)> = Vec::new();
        for (number, (theirs, moves)) in self.members.iter().enumerate() {
            let tracks = theirs.tracks.iter().enumerate();
            order.extend(
                tracks.map(|(at, track)| (moves.track_kind(track.kind), number, at as u32)),
            );
        }
        order.sort_unstable();
        let mut slice_moves: Vec<Vec<MovedRow>> = self
            .members
            .iter()
            .map(|(theirs, _)| vec![MovedRow::default(); theirs.slices.rows.len()])
            .collect();
        let mut slice_count = 0;
        let mut instants = Vec::new();
        for &(kind, number, at) in &order {
            job.check()?;
            let (theirs, moves) = &self.members[number];
            let track = &theirs.tracks[at as usize];
            let ours = &mut self.trace;
            let id = TrackId(ours.tracks.len() as u32);
            // Tracks are sorted by kind, then member: a member's asynchronous tracks without a process are adjacent.
            if kind == TrackKind::Async(None)
                && let Some(source) = ours.sources.get_mut(number)
            {
                let loose = &mut source.loose_tracks;
                let first = if loose.start == loose.end {
                    id.0
                } else {
                    loose.start
                };
                *loose = first..id.0 + 1;
            }
            let first_row = ours.slices.rows.len() as u32;
            for row in track.rows.clone() {
                let row_there = &theirs.slices.rows[row as usize];
                let length = row_there.slices.len() as u32;
                slice_moves[number][row as usize] = MovedRow {
                    there: row_there.slices.start,
                    here: slice_count,
                };
                ours.slices.rows.push(SliceRow {
                    track: id,
                    row: row_there.row,
                    slices: slice_count..slice_count + length,
                });
                slice_count += length;
            }
            let first_instant = instants.len() as u32;
            let points = theirs.instants.of(&track.instants);
            instants.extend(points.map(|event| moves.event(EventId(event)).0));
            ours.tracks.push(Track {
                kind,
                name: moves.string(track.name),
                rows: first_row..ours.slices.rows.len() as u32,
                instants: first_instant..instants.len() as u32,
            });
        }
        self.trace.instants.events = Packed::new(&instants);
        // A second pass: a parent can be in a row that comes later, so all rows must have their places first.
        let mut ends: Vec<EndRow> = Vec::new();
        let (mut labels, mut parents) = (Vec::new(), Vec::new());
        for &(_, number, at) in &order {
            job.check()?;
            let (theirs, moves) = &self.members[number];
            let (ours, there) = (&mut *self.trace.slices, &theirs.slices);
            for row in theirs.tracks[at as usize].rows.clone() {
                let range = &there.rows[row as usize].slices;
                let range = range.start as usize..range.end as usize;
                for row in range {
                    labels.push(there.label_ids.at(row) + moves.first_label);
                    let parent = there.parent(row);
                    let parent = parent.and_then(|id| slice_here(there, &slice_moves[number], id));
                    parents.push(Maybe::from(parent.map(|id| id.0)));
                    let start = moves.time(Timestamp(there.starts.at(row)));
                    let end = there.end(row);
                    if there.is_unfinished(row) {
                        ours.unended.push(ends.len() as u32);
                    }
                    if there.is_cut(row) {
                        ours.cut.push(ends.len() as u32);
                    }
                    if let Some(ns) = there.measured(row) {
                        ours.measured.push(ends.len() as u32, ns);
                    }
                    if there.open_end(row).is_none() {
                        ours.lasting.push(ends.len() as u32);
                    }
                    ends.push(EndRow {
                        start: start.0,
                        end: moves.end(end),
                        begin: moves.event(there.begin(row)).0,
                        finish: there.finish(row).map(|id| moves.event(id).0).into(),
                    });
                }
            }
        }
        let slices = &mut *self.trace.slices;
        slices.set_times(&ends);
        slices.label_ids = Packed::new(&labels);
        slices.parents = Packed::new(&parents);
        slices.find_beside();
        Ok(slice_moves)
    }

    pub(super) fn add_flows(&mut self, slice_moves: &[Vec<MovedRow>]) {
        let mut rows = Vec::new();
        for ((theirs, moves), slice_moves) in self.members.iter().zip(slice_moves) {
            let point = |point: &FlowPoint| FlowPoint {
                time: moves.time(point.time),
                thread: point.thread.map(|thread| moves.thread(thread)),
                slice: point
                    .slice
                    .and_then(|id| slice_here(&theirs.slices, slice_moves, id)),
                event: moves.event(point.event),
            };
            rows.extend(theirs.flows.rows.iter().map(|flow| Flow {
                key: flow.key,
                name: moves.string(flow.name),
                kind: flow.kind,
                from: point(&flow.from),
                to: point(&flow.to),
            }));
        }
        self.trace.flows = Flows::new(rows).into();
    }
}

/// Returns the joined trace's id of a member's slice.
fn slice_here(there: &Slices, slice_moves: &[MovedRow], id: SliceId) -> Option<SliceId> {
    let row = there
        .rows
        .partition_point(|row| row.slices.start <= id.0)
        .checked_sub(1)?;
    let moved = slice_moves.get(row)?;
    Some(SliceId(moved.here + (id.0 - moved.there)))
}
