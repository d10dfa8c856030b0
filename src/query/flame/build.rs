//! Slices or stacks of an area in, a merged call tree out.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::{Flame, Tree, Unit};
use crate::base::{Cancelled, Job, TimeSpan};
use crate::formats::Reader;
use crate::query::area::{Area, Lane, Lanes};
use crate::query::details::describe;
use crate::query::item::track_title;
use crate::trace::{EventId, ThreadId, Trace, TrackId, TrackKind};

/// Most stacks that are decoded.
const MAX_STACKS: usize = 1_000_000;
/// Deepest path.
const MAX_DEPTH: usize = 1024;

/// What stands right above the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// All tracks merged: the outermost slices.
    Merged,
    /// A node for each track (thread), with its slices above.
    Tracks,
}

/// The nested slices of an area, merged by their paths of names.
///
/// # Errors
/// If the job is cancelled.
pub fn of_slices(trace: &Trace, area: &Area, roots: Roots, job: &Job) -> Result<Flame, Cancelled> {
    let tracks: Vec<TrackId> = match &area.lanes {
        Lanes::All => (0..trace.tracks.len() as u32).map(TrackId).collect(),
        Lanes::Of(lanes) => {
            let tracks = lanes.iter().filter_map(|lane| match lane {
                Lane::Track(id) => Some(*id),
                _ => None,
            });
            let mut tracks: Vec<TrackId> = tracks.collect();
            tracks.sort_unstable();
            tracks.dedup();
            tracks
        }
    };
    job.add_total(tracks.len() as u64);
    let tree = tracks
        .par_iter()
        .fold(Tree::new, |mut tree, &track| {
            if !job.is_cancelled() {
                add_track(&mut tree, trace, track, area.span, roots);
            }
            job.advance(1);
            tree
        })
        .reduce(Tree::new, |mut ours, theirs| {
            ours.absorb(&theirs);
            ours
        });
    job.check()?;
    Ok(tree.finish(Unit::Nanos, |node| node.total))
}

fn add_track(tree: &mut Tree, trace: &Trace, id: TrackId, span: TimeSpan, roots: Roots) {
    let slices = &trace.slices;
    let Some(track) = trace.tracks.get(id.0 as usize) else {
        return;
    };
    let rows = slices
        .rows
        .get(track.rows.start as usize..track.rows.end as usize);
    let rows = rows.unwrap_or(&[]);
    // A name's number in the tree, by label.
    let mut names: Vec<u32> = vec![u32::MAX; slices.labels.len()];
    let mut root = 0;
    // Of each row above: which slices, and the node of each.
    let mut above: Vec<(Range<u32>, Vec<u32>)> = Vec::with_capacity(rows.len());
    for row in rows {
        let inside = slices.overlapping(row, span);
        if root == 0 && roots == Roots::Tracks && !inside.is_empty() {
            let name = tree.name(&track_title(trace, id));
            root = tree.child(0, name).unwrap_or(0);
        }
        let mut nodes = Vec::with_capacity(inside.len());
        for at in inside.clone() {
            let index = at as usize;
            let start = slices.starts.at(index).max(span.start.0);
            let end = slices.end(index).min(trace.span.end.0).min(span.end.0);
            let length = end.saturating_sub(start).max(0);
            let parent = match slices.parents.at(index) {
                u32::MAX => root,
                parent => node_of(&above, parent).unwrap_or(root),
            };
            let label = slices.label_ids.at(index) as usize;
            let name = match names.get(label) {
                Some(&u32::MAX) => {
                    let text = slices.labels.get(label).map(|label| trace.text(label.name));
                    let name = tree.name(&text.unwrap_or_default());
                    names[label] = name;
                    name
                }
                Some(&name) => name,
                None => 0,
            };
            if parent == root {
                // What encloses everything has all of the time.
                for node in if root == 0 { vec![0] } else { vec![0, root] } {
                    tree.add(node, length, 0, 0);
                }
            } else {
                tree.add(parent, 0, -length, 0);
            }
            match tree.child(parent, name) {
                Some(node) => {
                    tree.add(node, length, length, 1);
                    nodes.push(node);
                }
                None => {
                    tree.add(parent, 0, length, 0);
                    tree.leave_out(1);
                    nodes.push(parent);
                }
            }
        }
        above.push((inside, nodes));
    }
}

/// The node of a slice of a row above; it mostly is the last.
fn node_of(above: &[(Range<u32>, Vec<u32>)], slice: u32) -> Option<u32> {
    above.iter().rev().find_map(|(range, nodes)| {
        let at = slice.checked_sub(range.start)?;
        nodes
            .get(at as usize)
            .copied()
            .filter(|_| slice < range.end)
    })
}

/// The call stacks recorded in an area, merged: outermost functions below. Events are of an area if their
/// threads' lanes are.
///
/// # Errors
/// If the job is cancelled.
pub fn of_stacks(
    trace: &Trace,
    reader: &dyn Reader,
    area: &Area,
    job: &Job,
) -> Result<Flame, Cancelled> {
    let kinds = stack_kinds(trace, reader);
    let threads = threads_of(trace, area);
    let mut events: Vec<EventId> = Vec::new();
    let mut left_out = 0;
    for segment in trace.events.segments() {
        job.check()?;
        if kinds.is_empty() {
            break;
        }
        let columns = &segment.columns;
        let range = columns.lower_bound(area.span.start)..columns.lower_bound(area.span.end);
        for index in range {
            if !kinds.contains(&columns.kind(index).0) {
                continue;
            }
            let id = EventId(segment.first + index);
            let is_in = threads
                .as_ref()
                .is_none_or(|threads| threads.contains(&trace.events.thread(id)));
            if is_in && events.len() < MAX_STACKS {
                events.push(id);
            } else {
                left_out += u64::from(is_in);
            }
        }
    }
    job.add_total(events.len() as u64);
    let mut tree = events
        .par_chunks(4096)
        .fold(Tree::new, |mut tree, events| {
            for &id in events {
                if job.is_cancelled() {
                    break;
                }
                add_stack(&mut tree, &describe(trace, reader, id).stack);
            }
            job.advance(events.len() as u64);
            tree
        })
        .reduce(Tree::new, |mut ours, theirs| {
            ours.absorb(&theirs);
            ours
        });
    job.check()?;
    tree.leave_out(left_out);
    Ok(tree.finish(Unit::Samples, |node| node.total))
}

/// The stack comes innermost first.
fn add_stack(tree: &mut Tree, stack: &[String]) {
    if stack.is_empty() {
        return;
    }
    let mut at = 0;
    tree.add(0, 1, 0, 1);
    for frame in stack.iter().rev().take(MAX_DEPTH) {
        // Where in the function it was is one detail too many here.
        let name = frame
            .split_once("+0x")
            .map_or(frame.as_str(), |(name, _)| name);
        let name = tree.name(name);
        match tree.child(at, name) {
            Some(node) => at = node,
            None => {
                tree.leave_out(1);
                break;
            }
        }
        tree.add(at, 1, 0, 1);
    }
    tree.add(at, 0, 1, 0);
}

/// The kinds of events that carry stacks: those whose first event has one.
fn stack_kinds(trace: &Trace, reader: &dyn Reader) -> FxHashSet<u16> {
    let mut seen = vec![false; usize::from(u16::MAX) + 1];
    let mut kinds = FxHashSet::default();
    let mut left = trace.kinds.len();
    for segment in trace.events.segments() {
        for (index, &kind) in segment.columns.kinds().iter().enumerate() {
            let is_seen = std::mem::replace(&mut seen[usize::from(kind)], true);
            if is_seen {
                continue;
            }
            let id = EventId(segment.first + index as u32);
            if !describe(trace, reader, id).stack.is_empty() {
                kinds.insert(kind);
            }
            left = left.saturating_sub(1);
            if left == 0 {
                return kinds;
            }
        }
    }
    kinds
}

/// The threads whose lanes an area has; `None`: all.
fn threads_of(trace: &Trace, area: &Area) -> Option<FxHashSet<ThreadId>> {
    let Lanes::Of(lanes) = &area.lanes else {
        return None;
    };
    let threads = lanes.iter().filter_map(|lane| match lane {
        Lane::States(id) => Some(*id),
        Lane::Track(id) => match trace.tracks.get(id.0 as usize)?.kind {
            TrackKind::Thread(thread) => Some(thread),
            _ => None,
        },
        _ => None,
    });
    Some(threads.collect())
}
