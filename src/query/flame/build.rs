//! Slices or stacks of an area in, a merged call tree out.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Flame, Tree, Unit};
use crate::base::{Cancelled, Job, TimeSpan};
use crate::event::KindId;
use crate::formats::Events;
use crate::query::area::on_cpu::{Counted, OnCpus, OnTrack};
use crate::query::area::{Area, AsyncsOf, Lanes, whole_tracks};
use crate::query::details::describe;
use crate::query::item::track_title;
use crate::query::latency::Among;
use crate::query::seen::{Length, Seen};
use crate::trace::{EventId, SliceId, Slices, Trace, TrackId, TrackKind};

/// The most stacks that are decoded.
const MAX_STACKS: usize = 1_000_000;
/// The greatest depth of a path.
const MAX_DEPTH: usize = 1024;

/// The first level below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roots {
    /// The outermost slices of all tracks, merged.
    Merged,
    /// A node for each track (thread), with its slices above.
    Tracks,
}

/// The nested slices of an area, merged by their paths of names. On a CPU a thread's slice counts once, with the time
/// that its thread ran there.
///
/// # Errors
/// Errors if the job is cancelled.
pub fn of_slices(trace: &Trace, area: &Area, roots: Roots, job: &Job) -> Result<Flame, Cancelled> {
    let asyncs = match &area.lanes {
        Lanes::Of(lanes) => AsyncsOf::new(lanes),
        Lanes::All | Lanes::Both { .. } => AsyncsOf::default(),
    };
    let tracks: Vec<TrackId> = match &area.lanes {
        Lanes::All => (0..trace.tracks.len() as u32).map(TrackId).collect(),
        Lanes::Of(lanes) => whole_tracks(lanes),
        Lanes::Both { .. } => Vec::new(),
    };
    let parts = asyncs.tracks(trace, &tracks);
    let whole = tracks.into_iter().map(|track| (track, None));
    let parts = parts.into_iter().map(|track| (track, Some(&asyncs)));
    let tracks: Vec<(TrackId, Option<&AsyncsOf>)> = whole.chain(parts).collect();
    let on = OnCpus::of(trace, area);
    let on_cpus: &[OnTrack] = on.as_ref().map_or(&[], OnCpus::tracks);
    job.add_total((tracks.len() + on_cpus.len()) as u64);
    let seen = Seen::new(trace);
    let titles = match roots {
        Roots::Merged => FxHashMap::default(),
        Roots::Tracks => titles_of_tracks(trace),
    };
    let make = || Merge::new(trace, roots, &titles);
    let of_tracks = tracks.par_iter().fold(make, |mut merge, &(track, begun)| {
        if !job.is_cancelled() {
            let length = |slice| {
                let inside = |drawn: TimeSpan| drawn.intersection(area.span).duration().0;
                Some(seen.part_of_duration(trace, slice, inside))
            };
            merge.add(track, area.span, begun, length);
        }
        job.advance(1);
        merge
    });
    let join = |mut ours: Tree, theirs: Tree| {
        ours.absorb(&theirs);
        ours
    };
    let mut tree = of_tracks.map(|merge| merge.tree).reduce(Tree::new, join);
    if let Some(on) = &on {
        let of_runs = on_cpus.par_iter().fold(make, |mut merge, of| {
            if !job.is_cancelled() {
                for ran in on.ran(of.thread, Counted::Once) {
                    merge.add(of.track, area.span, None, |slice| on.length(&ran, slice));
                }
            }
            job.advance(1);
            merge
        });
        let of_runs = of_runs.map(|merge| merge.tree).reduce(Tree::new, join);
        tree.absorb(&of_runs);
    }
    job.check()?;
    Ok(tree.finish(Unit::Nanos, |node| node.total))
}

/// The titles of all tracks with slices. Tracks of one name also have a number; if that is not enough, their process's
/// number, and after that their place among those of one title.
fn titles_of_tracks(trace: &Trace) -> FxHashMap<TrackId, String> {
    let tracks = trace.tracks.iter().zip((0..).map(TrackId));
    let with_slices = tracks.filter(|(track, _)| !track.rows.is_empty());
    let mut titles = FxHashMap::default();
    let mut given = FxHashSet::default();
    let mut give = |id, title: String| {
        let is_new = given.insert(title.clone());
        if is_new {
            titles.insert(id, title);
        }
        is_new
    };
    let mut rest: Vec<TrackId> = with_slices.map(|(_, id)| id).collect();
    for numbering in [Numbering::None, Numbering::Own, Numbering::OfProcess] {
        let mut of_title: FxHashMap<String, Vec<TrackId>> = FxHashMap::default();
        for id in rest.drain(..) {
            let title = numbering.title(trace, id);
            of_title.entry(title).or_default().push(id);
        }
        for (title, ids) in of_title {
            match ids.as_slice() {
                [id] if give(*id, title) => {}
                ids => rest.extend(ids),
            }
        }
        rest.sort_unstable();
    }
    let mut places: FxHashMap<String, u32> = FxHashMap::default();
    for id in rest {
        let title = Numbering::OfProcess.title(trace, id);
        let place = places.entry(title.clone()).or_default();
        loop {
            *place += 1;
            // Another track may have this name.
            if give(id, format!("{title} #{place}")) {
                break;
            }
        }
    }
    titles
}

/// The numbers in the title of a track.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// None.
    None,
    /// Its thread's, or that of the process that it belongs to.
    Own,
    /// The number of its thread's process too.
    OfProcess,
}

impl Numbering {
    fn title(self, trace: &Trace, id: TrackId) -> String {
        let title = track_title(trace, id);
        let kind = trace.tracks.get(id.0 as usize).map(|track| track.kind);
        match (self, kind) {
            (Numbering::Own, Some(TrackKind::Thread(thread))) => {
                format!("{title} {}", trace.thread(thread).tid)
            }
            (Numbering::OfProcess, Some(TrackKind::Thread(thread))) => {
                let process = trace.process_of(thread).map_or(0, |process| process.pid);
                format!("{title} {process}/{}", trace.thread(thread).tid)
            }
            (Numbering::Own | Numbering::OfProcess, Some(TrackKind::Async(Some(process)))) => {
                let process = trace.processes.get(process.0 as usize);
                format!("{title} {}", process.map_or(0, |process| process.pid))
            }
            _ => title,
        }
    }
}

/// A tree that slices are put into.
struct Merge<'a> {
    tree: Tree,
    trace: &'a Trace,
    roots: Roots,
    /// A name's number in the tree, by label, once a slice of the label was put in.
    names: Vec<Option<u32>>,
    /// The titles of all tracks, if each has a node.
    titles: &'a FxHashMap<TrackId, String>,
    /// The node of each track that has one.
    tracks: FxHashMap<TrackId, u32>,
}

/// Where a slice is added to the tree.
#[derive(Clone, Copy)]
struct Spot {
    /// The node above the outermost slices of its track.
    root: u32,
    /// The node of the slice around it, or `root`.
    parent: u32,
    /// How much of its time, in ns, is part of the own time of `parent`: nothing if a slice between the two was left out.
    taken: i64,
}

/// The slices of a row of a track, each with its node; slices that were left out are not included.
struct RowNodes {
    slices: Range<u32>,
    nodes: Vec<Option<u32>>,
}

impl<'a> Merge<'a> {
    fn new(trace: &'a Trace, roots: Roots, titles: &'a FxHashMap<TrackId, String>) -> Merge<'a> {
        Merge {
            tree: Tree::new(),
            trace,
            roots,
            names: vec![None; trace.slices.labels.len()],
            titles,
            tracks: FxHashMap::default(),
        }
    }

    /// Returns the node that is the parent of a track's outermost slices.
    fn root(&mut self, track: TrackId) -> u32 {
        if self.roots == Roots::Merged {
            return 0;
        }
        if let Some(root) = self.tracks.get(&track) {
            return *root;
        }
        let title = self.titles.get(&track).map_or("", String::as_str);
        let name = self.tree.name(title, None);
        let root = self.tree.child(0, name).unwrap_or(0);
        self.tracks.insert(track, root);
        root
    }

    /// The number of the name of a label.
    fn name(&mut self, label: usize) -> u32 {
        match self.names.get(label) {
            Some(None) => {
                let label_of = self.trace.slices.labels.get(label);
                let text = label_of.map(|label| self.trace.text(label.name));
                let kind = label_of.map(|label| label.kind);
                let name = self.tree.name(&text.unwrap_or_default(), kind);
                self.names[label] = Some(name);
                name
            }
            Some(Some(name)) => *name,
            None => 0,
        }
    }

    /// Adds the slices of a track that overlap `span`, with the durations that `length` returns; those without one are left
    /// out, and asynchronous slices that threads other than `begun` began.
    fn add(
        &mut self,
        id: TrackId,
        span: TimeSpan,
        begun: Option<&AsyncsOf>,
        length: impl Fn(SliceId) -> Option<Length>,
    ) {
        let (trace, slices) = (self.trace, &self.trace.slices);
        let Some(track) = trace.tracks.get(id.0 as usize) else {
            return;
        };
        let rows = slices.rows_of(track);
        let inside = rows.iter().map(|row| slices.overlapping(row, span));
        let inside: Vec<Range<u32>> = inside.filter(|slices| !slices.is_empty()).collect();
        let length = |slice: u32| length(SliceId(slice)).map(Length::certain);
        let taken = |slice: u32, length: i64| slices.taken(slice as usize, length, span);
        let mut root = None;
        if matches!(track.kind, TrackKind::Async(_)) {
            let order = outermost_first(slices, inside.iter().cloned().flatten());
            let lost = self.lost_lengths(&inside, order.iter().rev().copied(), length, taken);
            // The node of each slice, or that around a slice that was left out, and whether it was not.
            let mut nodes: FxHashMap<u32, (u32, bool)> = FxHashMap::default();
            for at in order {
                let Some(length) = lost.get(&at).copied().or_else(|| length(at)) else {
                    continue;
                };
                let parent = slices.parent(at as usize);
                let parent = parent.and_then(|id| nodes.get(&id.0).copied());
                if begun.is_some_and(|begun| !begun.has(trace, at)) {
                    if let Some((around, is_direct)) = parent {
                        let own = if is_direct { -taken(at, length) } else { 0 };
                        self.tree.add(around, 0, own, 0);
                        nodes.insert(at, (around, false));
                    }
                    continue;
                }
                let root = *root.get_or_insert_with(|| self.root(id));
                let (parent, is_direct) = parent.unwrap_or((root, true));
                let spot = Spot {
                    root,
                    parent,
                    taken: if is_direct { taken(at, length) } else { 0 },
                };
                nodes.insert(at, (self.add_slice(spot, at, length), true));
            }
            return;
        }
        // Nested slices are in the rows below.
        let inner_first = inside.iter().rev().cloned().flatten();
        let lost = self.lost_lengths(&inside, inner_first, length, taken);
        let mut above: Vec<RowNodes> = Vec::new();
        for inside in inside {
            let mut nodes = Vec::with_capacity(inside.len());
            for at in inside.clone() {
                let Some(length) = lost.get(&at).copied().or_else(|| length(at)) else {
                    nodes.push(None);
                    continue;
                };
                let root = *root.get_or_insert_with(|| self.root(id));
                let parent = slices.parent(at as usize);
                let parent = parent.and_then(|id| node_of(&above, id.0));
                let spot = Spot {
                    root,
                    parent: parent.unwrap_or(root),
                    taken: taken(at, length),
                };
                nodes.push(Some(self.add_slice(spot, at, length)));
            }
            above.push(RowNodes {
                slices: inside,
                nodes,
            });
        }
    }

    /// Returns, for the unfinished slices of some rows, their least time in ns: at least the time of their children.
    /// `inner_first` contains all slices of the rows, inner slices before the slices around them. `length` returns the
    /// certain time of a slice; `None` for slices that are left out; `taken` how much of it is time of the slice around it.
    fn lost_lengths(
        &self,
        rows: &[Range<u32>],
        inner_first: impl Iterator<Item = u32>,
        length: impl Fn(u32) -> Option<i64>,
        taken: impl Fn(u32, i64) -> i64,
    ) -> FxHashMap<u32, i64> {
        let slices = &self.trace.slices;
        let unfinished = rows
            .iter()
            .flat_map(|row| slices.unfinished_in(row.clone()));
        let mut lost: FxHashMap<u32, i64> = unfinished
            .filter_map(|at| Some((at, length(at)?)))
            .collect();
        if lost.is_empty() {
            return lost;
        }
        let mut children: FxHashMap<u32, i64> = FxHashMap::default();
        for at in inner_first {
            let own = lost.get(&at).copied();
            let longest = own.map(|own| own.max(children.get(&at).copied().unwrap_or(0)));
            if let Some(longest) = longest {
                lost.insert(at, longest);
            }
            let parent = slices.parent(at as usize).map(|parent| parent.0);
            if let Some(parent) = parent.filter(|parent| lost.contains_key(parent)) {
                let sum = children.entry(parent).or_default();
                let own = longest.or_else(|| length(at)).unwrap_or(0);
                *sum = sum.saturating_add(taken(at, own));
            }
        }
        lost
    }

    /// Adds one slice with its least time in ns; returns its node.
    fn add_slice(&mut self, spot: Spot, slice: u32, length: i64) -> u32 {
        let Spot {
            root,
            parent,
            taken,
        } = spot;
        let name = self.name(self.trace.slices.label_ids.at(slice as usize) as usize);
        let (count, unfinished, unfinished_ns) =
            match self.trace.slices.is_unfinished(slice as usize) {
                true => (0, 1, length),
                false => (1, 0, 0),
            };
        let tree = &mut self.tree;
        if parent == root {
            // The root contains all time.
            tree.add(0, length, 0, 0);
            if root != 0 {
                tree.add(root, length, 0, 0);
            }
        } else {
            tree.add(parent, 0, -taken, 0);
        }
        match tree.child(parent, name) {
            Some(node) => {
                tree.add(node, length, length, count);
                tree.add_unfinished(node, unfinished, unfinished_ns);
                node
            }
            None => {
                tree.add(parent, 0, length, 0);
                tree.leave_out(count + unfinished);
                parent
            }
        }
    }
}

/// Returns slices of an asynchronous track in an order in which each comes after the slice around it. The slice around
/// it may be in any row.
fn outermost_first(slices: &Slices, inside: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut waiting: FxHashSet<u32> = inside.collect();
    let mut all: Vec<u32> = waiting.iter().copied().collect();
    all.sort_unstable();
    let mut order = Vec::with_capacity(all.len());
    let mut path = Vec::new();
    for slice in all {
        let mut next = Some(slice);
        while let Some(at) = next.filter(|at| waiting.remove(at)) {
            path.push(at);
            next = slices.parent(at as usize).map(|id| id.0);
        }
        order.extend(path.drain(..).rev());
    }
    order
}

/// The node of a slice of a row above. Rows above are in ascending order of their slices.
fn node_of(above: &[RowNodes], slice: u32) -> Option<u32> {
    let has = |row: &RowNodes| {
        let at = slice.checked_sub(row.slices.start)?;
        let node = row.nodes.get(at as usize).copied().flatten();
        node.filter(|_| slice < row.slices.end)
    };
    // It is mostly the last row.
    let last = above.last()?;
    has(last).or_else(|| {
        let after = above.partition_point(|row| row.slices.start <= slice);
        has(above.get(after.checked_sub(1)?)?)
    })
}

/// The call stacks recorded in an area, merged: outermost functions below. Events are of an area if a lane of
/// their thread or their CPU is.
///
/// # Errors
/// Errors if the job is cancelled.
pub fn of_stacks(
    trace: &Trace,
    reader: &dyn Events,
    area: &Area,
    job: &Job,
) -> Result<Flame, Cancelled> {
    let kinds = stack_kinds(trace, reader);
    let among = Among::area(trace, area);
    let mut events: Vec<EventId> = Vec::new();
    let mut left_out = 0;
    for segment in trace.events.segments() {
        job.check()?;
        if kinds.is_empty() {
            break;
        }
        let range = segment.lower_bound(area.span.start)..segment.lower_bound(area.span.end);
        for index in range {
            if !kinds.contains(&segment.kind(index)) {
                continue;
            }
            let id = EventId(segment.first + index);
            let is_in = among == Among::All || among.has(trace.events.thread(id), trace.cpu_of(id));
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

/// Returns the function's name in a frame: `do_exit+0x12`, or `do_exit (ffffffff81399b71)` as trace-cmd prints it.
fn function_of(frame: &str) -> &str {
    if let Some((name, _)) = frame.split_once("+0x") {
        return name;
    }
    let address = frame.strip_suffix(')').and_then(|it| it.rsplit_once(" ("));
    match address {
        Some((name, address)) if address.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            name.trim_end()
        }
        _ => frame,
    }
}

/// Adds a stack, whose innermost function comes first.
fn add_stack(tree: &mut Tree, stack: &[String]) {
    if stack.is_empty() {
        return;
    }
    let mut at = 0;
    tree.add(0, 1, 0, 1);
    for frame in stack.iter().rev().take(MAX_DEPTH) {
        // The offset inside the function and the address are left out: they would split the function into many nodes.
        let name = tree.name(function_of(frame), None);
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

/// Returns the kinds of events that have stacks: those whose first event has one.
fn stack_kinds(trace: &Trace, reader: &dyn Events) -> FxHashSet<KindId> {
    let mut seen = vec![false; trace.kinds.len()];
    let mut kinds = FxHashSet::default();
    let mut left = trace.kinds.len();
    for segment in trace.events.segments() {
        for index in 0..segment.columns.len() as u32 {
            let kind = segment.kind(index);
            match seen.get_mut(kind.index()) {
                Some(is_seen @ false) => *is_seen = true,
                _ => continue,
            }
            let id = EventId(segment.first + index);
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
