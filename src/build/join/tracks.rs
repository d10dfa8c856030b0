//! Tracks of several traces in one order, and with them their rows, slices and instants; then the arrows between
//! the slices.

use super::Joined;
use crate::base::Timestamp;
use crate::trace::flows::FlowPoint;
use crate::trace::packed::Packed;
use crate::trace::slices::SliceRow;
use crate::trace::{Flow, Flows, SliceId, Slices, Track, TrackId, TrackKind};

impl Joined<'_> {
    /// Tracks are sorted by what they are of, so the files' tracks lie between each other's, and with them
    /// their rows, slices and instants. The answer says, for each member, where its slices went: by its rows,
    /// (first slice there, first slice here).
    pub(super) fn place_tracks(&mut self) -> Vec<Vec<(u32, u32)>> {
        let mut order: Vec<(TrackKind, usize, u32)> = Vec::new();
        for (number, (theirs, moves)) in self.members.iter().enumerate() {
            let tracks = theirs.tracks.iter().enumerate();
            order.extend(
                tracks.map(|(at, track)| (moves.track_kind(track.kind), number, at as u32)),
            );
        }
        order.sort_unstable();
        let mut slice_moves: Vec<Vec<(u32, u32)>> = self
            .members
            .iter()
            .map(|(theirs, _)| vec![(0, 0); theirs.slices.rows.len()])
            .collect();
        let mut slice_count = 0;
        let mut instants = Vec::new();
        for &(kind, number, at) in &order {
            let (theirs, moves) = &self.members[number];
            let track = &theirs.tracks[at as usize];
            let ours = &mut self.trace;
            let id = TrackId(ours.tracks.len() as u32);
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
                slice_moves[number][row as usize] = (row_there.slices.start, slice_count);
                ours.slices.rows.push(SliceRow {
                    track: id,
                    row: row_there.row,
                    slices: slice_count..slice_count + length,
                });
                slice_count += length;
            }
            let first_instant = instants.len() as u32;
            let points = theirs.instants.of(&track.instants);
            instants.extend(points.map(|event| moves.event_or_none(event)));
            ours.tracks.push(Track {
                kind,
                name: moves.string(track.name),
                rows: first_row..ours.slices.rows.len() as u32,
                instants: first_instant..instants.len() as u32,
            });
        }
        self.trace.instants.events = Packed::new(&instants);
        let mut starts: Vec<(i64, u32)> = Vec::new();
        let mut ends: Vec<(i64, u32)> = Vec::new();
        let (mut labels, mut parents) = (Vec::new(), Vec::new());
        for &(_, number, at) in &order {
            let (theirs, moves) = &self.members[number];
            let (ours, there) = (&mut *self.trace.slices, &theirs.slices);
            for row in theirs.tracks[at as usize].rows.clone() {
                let range = &there.rows[row as usize].slices;
                let range = range.start as usize..range.end as usize;
                for row in range {
                    labels.push(there.label_ids.at(row) + moves.first_label);
                    let parent = SliceId(there.parents.at(row));
                    let parent = slice_here(there, &slice_moves[number], parent);
                    parents.push(parent.map_or(u32::MAX, |id| id.0));
                    let start = moves.time(Timestamp(there.starts.at(row)));
                    starts.push((start.0, moves.event_or_none(there.begins.at(row))));
                    let end = there.end(row);
                    if there.own_end(row) == i64::MAX {
                        ours.unended.push(ends.len() as u32);
                    }
                    if let Some(ns) = there.measured(row) {
                        ours.measured.push((ends.len() as u32, ns));
                    }
                    if there.open_end(row) == i64::MAX {
                        ours.lasting.push(ends.len() as u32);
                    }
                    ends.push((moves.end(end), moves.event_or_none(there.finish(row))));
                }
            }
        }
        let slices = &mut *self.trace.slices;
        slices.set_times(starts, &ends);
        slices.label_ids = Packed::new(&labels);
        slices.parents = Packed::new(&parents);
        slice_moves
    }

    pub(super) fn add_flows(&mut self, slice_moves: &[Vec<(u32, u32)>]) {
        let mut rows = Vec::new();
        for ((theirs, moves), slice_moves) in self.members.iter().zip(slice_moves) {
            let point = |point: &FlowPoint| FlowPoint {
                time: moves.time(point.time),
                thread: moves.thread(point.thread),
                slice: point
                    .slice
                    .and_then(|id| slice_here(&theirs.slices, slice_moves, id)),
                event: moves.event(point.event),
            };
            rows.extend(theirs.flows.rows.iter().map(|flow| Flow {
                key: flow.key,
                name: moves.string(flow.name),
                from: point(&flow.from),
                to: point(&flow.to),
            }));
        }
        self.trace.flows = Flows::new(rows).into();
    }
}

/// Where a member's slice went.
fn slice_here(there: &Slices, slice_moves: &[(u32, u32)], id: SliceId) -> Option<SliceId> {
    if id.0 == u32::MAX {
        return None;
    }
    let row = there
        .rows
        .partition_point(|row| row.slices.start <= id.0)
        .checked_sub(1)?;
    let (first_there, first_here) = slice_moves.get(row)?;
    Some(SliceId(first_here + (id.0 - first_there)))
}
