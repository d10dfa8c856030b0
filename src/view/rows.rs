//! The rows of the timeline, from top to bottom: what of the outline is open and passes the filter; and the
//! pinned ones, which are shown above the others once more.
//!
//! Heights are points. A row is a header at the left and, at the right, lanes one below the other. Rows are
//! made when something about them changes, never for a frame.

use super::layout::Layout;
use super::outline::{Node, Outline, count_tracks};
use crate::query::Item;
use crate::trace::{CounterTrackId, CpuId, ProcessId, SourceId, ThreadId, TrackId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Names a row as the file names it: the same in the next generation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RowKey {
    /// The group of all CPUs.
    Cpus,
    /// The group of counters of the whole machine.
    Counters,
    /// The group of asynchronous tracks of no process.
    Asyncs,
    /// The group of threads of no process.
    Loose,
    /// One of several files, by its place among them.
    Source(u32),
    /// A group within one of the later files, by a hash of the file and the group.
    Group(u64),
    /// A CPU by its number (of a later file: with the file's place in the upper half).
    Cpu(u32),
    /// A process by the file's key.
    Process(u64),
    /// A thread by the file's key.
    Thread(u64),
    /// A track by a hash of its owner and name.
    Track(u64),
    /// A counter by a hash of its owner and name.
    Counter(u64),
    /// A group of threads of one name, by a hash of it.
    Named(u64),
    /// The group of what is plotted.
    Plots,
    /// A group that the user made, by its number in the layout.
    Made(u32),
}

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A group that is nothing by itself.
    Group,
    /// One of several files on the axis.
    Source(SourceId),
    /// A CPU.
    Cpu(CpuId),
    /// A process.
    Process(ProcessId),
    /// A thread.
    Thread(ThreadId),
    /// A track.
    Track(TrackId),
    /// A counter.
    Counter(CounterTrackId),
}

/// What a lane draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// Who runs on a CPU.
    Runs(CpuId),
    /// What a thread does.
    States(ThreadId),
    /// A row of `Slices::rows`.
    Slices(u32),
    /// The points of a track.
    Instants(TrackId),
    /// A counter's samples.
    Counter(CounterTrackId),
}

impl LaneKind {
    /// How high it is unless the user says otherwise.
    #[must_use]
    pub fn height(self) -> f32 {
        match self {
            LaneKind::Runs(_) => 20.0,
            LaneKind::States(_) => 8.0,
            LaneKind::Slices(_) => 18.0,
            LaneKind::Instants(_) => 9.0,
            LaneKind::Counter(_) => 28.0,
        }
    }
}

/// One line of drawing within a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// What it draws.
    pub kind: LaneKind,
    /// From the row's top.
    pub offset: f32,
    /// How high it is.
    pub height: f32,
}

impl Lane {
    /// A lane that has no place yet.
    #[must_use]
    pub fn new(kind: LaneKind) -> Lane {
        Lane {
            kind,
            offset: 0.0,
            height: kind.height(),
        }
    }
}

/// Whether a row hides what lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fold {
    /// There is nothing to hide.
    None,
    /// It shows all.
    Open,
    /// It hides some.
    Closed,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub key: RowKey,
    /// What it is.
    pub kind: RowKind,
    /// How deep it lies in groups.
    pub depth: u8,
    /// Shown at the left.
    pub title: Arc<str>,
    /// Shown small behind the title.
    pub note: Arc<str>,
    /// Open or closed.
    pub fold: Fold,
    /// What it draws.
    pub lanes: Vec<Lane>,
    /// From the top of all rows.
    pub top: f32,
    /// How high it is.
    pub height: f32,
}

impl Row {
    /// What it is of, where that can be selected.
    #[must_use]
    pub fn item(&self) -> Option<Item> {
        match self.kind {
            RowKind::Group | RowKind::Source(_) | RowKind::Counter(_) => None,
            RowKind::Cpu(id) => Some(Item::Cpu(id)),
            RowKind::Process(id) => Some(Item::Process(id)),
            RowKind::Thread(id) => Some(Item::Thread(id)),
            RowKind::Track(id) => Some(Item::Track(id)),
        }
    }

    /// How high it is without its lanes, and how high these are unless the user says otherwise.
    #[must_use]
    pub fn natural_heights(&self) -> (f32, f32) {
        let gaps = self.lanes.len().saturating_sub(1) as f32 * LANE_GAP;
        let lanes = self.lanes.iter().map(|lane| lane.kind.height()).sum();
        (gaps + 2.0 * PADDING, lanes)
    }

    /// Where it ends.
    #[must_use]
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}

/// A row is at least this high, for its title.
const MIN_HEIGHT: f32 = 22.0;
/// A group's row.
const GROUP_HEIGHT: f32 = 24.0;
/// Space above the first and below the last lane.
const PADDING: f32 = 3.0;
/// Space between lanes.
const LANE_GAP: f32 = 1.0;

/// What of the outline is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What the user did to the tracks.
    pub layout: &'a Layout,
    /// Matched against titles and notes, upper or lower case alike.
    pub filter: &'a str,
    /// Only these and what they lie in; `None`: all.
    pub active: Option<&'a FxHashSet<RowKey>>,
    /// The height of all, in percent.
    pub percent: u16,
}

/// All rows, in order.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    height: f32,
    pinned: Vec<Row>,
    pinned_height: f32,
    by_key: FxHashMap<RowKey, u32>,
    by_lane: FxHashMap<LaneKind, (u32, u32)>,
    /// The closed row that hides a lane.
    covers: FxHashMap<LaneKind, u32>,
    hidden_count: usize,
    inactive_count: usize,
}

impl Rows {
    /// Flattens `outline`.
    #[must_use]
    pub fn new<'a>(outline: &'a Outline, wanted: Wanted<'a>) -> Rows {
        let mut flat = Flat::new(wanted);
        flat.add_all(None, &outline.nodes, 0, Passed::NotYet);
        let covers = flat.covers();
        let (rows, height) = (flat.rows, flat.height);
        let (hidden_count, inactive_count) = left_out(&outline.nodes, wanted);
        // What is pinned is shown whatever the filters say.
        let mut flat = Flat::new(Wanted {
            filter: "",
            active: None,
            ..wanted
        });
        for key in &wanted.layout.pinned {
            if let Some(node) = outline.node(*key) {
                flat.add(node, 0, Passed::NotYet);
            }
        }
        let by_key = (0..).zip(&rows).map(|(at, row)| (row.key, at)).collect();
        let mut by_lane = FxHashMap::default();
        for (at, row) in (0..).zip(&rows) {
            for (number, lane) in (0..).zip(&row.lanes) {
                by_lane.entry(lane.kind).or_insert((at, number));
            }
        }
        Rows {
            rows,
            height,
            pinned: flat.rows,
            pinned_height: flat.height,
            by_key,
            by_lane,
            covers,
            hidden_count,
            inactive_count,
        }
    }

    /// The rows.
    #[must_use]
    pub fn all(&self) -> &[Row] {
        &self.rows
    }

    /// How high they are together.
    #[must_use]
    pub fn height(&self) -> f32 {
        self.height
    }

    /// The rows that are shown above the others.
    #[must_use]
    pub fn pinned(&self) -> &[Row] {
        &self.pinned
    }

    /// How high the pinned ones are together.
    #[must_use]
    pub fn pinned_height(&self) -> f32 {
        self.pinned_height
    }

    /// How many tracks are not shown because the user hid them or what they lie in.
    #[must_use]
    pub fn hidden_count(&self) -> usize {
        self.hidden_count
    }

    /// How many are not shown because only active ones are, those that are hidden anyway not counted.
    #[must_use]
    pub fn inactive_count(&self) -> usize {
        self.inactive_count
    }

    /// The rows that are seen between two heights.
    #[must_use]
    pub fn between(&self, top: f32, bottom: f32) -> Range<usize> {
        let first = self.rows.partition_point(|row| row.bottom() <= top);
        let last = self.rows.partition_point(|row| row.top < bottom);
        first..last.max(first)
    }

    /// The row at a height.
    #[must_use]
    pub fn at(&self, y: f32) -> Option<&Row> {
        let index = self.rows.partition_point(|row| row.bottom() <= y);
        self.rows.get(index).filter(|row| row.top <= y)
    }

    /// The row of that name.
    #[must_use]
    pub fn of_key(&self, key: RowKey) -> Option<&Row> {
        self.rows.get(*self.by_key.get(&key)? as usize)
    }

    /// The row and lane that draw `kind`, if they are shown.
    #[must_use]
    pub fn of_lane(&self, kind: LaneKind) -> Option<(&Row, &Lane)> {
        let &(row, lane) = self.by_lane.get(&kind)?;
        let row = self.rows.get(row as usize)?;
        Some((row, row.lanes.get(lane as usize)?))
    }

    /// The closed row that `kind` is folded away in.
    #[must_use]
    pub fn cover_of_lane(&self, kind: LaneKind) -> Option<&Row> {
        self.rows.get(*self.covers.get(&kind)? as usize)
    }

    /// The pinned row and lane that draw `kind`, if there are some.
    #[must_use]
    pub fn pinned_of_lane(&self, kind: LaneKind) -> Option<(&Row, &Lane)> {
        self.pinned.iter().find_map(|row| {
            let lane = row.lanes.iter().find(|lane| lane.kind == kind)?;
            Some((row, lane))
        })
    }
}

/// The nodes that `filter` names, each without those that lie in it.
#[must_use]
pub fn matching<'a>(outline: &'a Outline, filter: &str) -> Vec<&'a Node> {
    let layout = Layout::default();
    let flat = Flat::new(Wanted {
        layout: &layout,
        filter,
        active: None,
        percent: 100,
    });
    let mut found = Vec::new();
    let mut open: Vec<&Node> = outline.nodes.iter().rev().collect();
    while let Some(node) = open.pop() {
        if flat.matches(node) {
            found.push(node);
        } else {
            open.extend(node.children.iter().rev());
        }
    }
    found
}

/// How many tracks are hidden, and how many of the others are not active.
fn left_out(nodes: &[Node], wanted: Wanted<'_>) -> (usize, usize) {
    let (mut hidden, mut inactive) = (0, 0);
    for node in nodes {
        if wanted.layout.hidden.contains(&node.key) {
            hidden += count_tracks(node);
            continue;
        }
        let below = left_out(&node.children, wanted);
        hidden += below.0;
        inactive += below.1;
        let is_counted = wanted
            .active
            .is_some_and(|active| !active.contains(&node.key));
        // What holds an active one is shown with it.
        let is_seen = below.0 + below.1 < count_tracks(node) - usize::from(node.is_track());
        inactive += usize::from(is_counted && !is_seen && node.is_track());
    }
    (hidden, inactive)
}

/// Whether a group around this node matched the filter already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    NotYet,
    Already,
}

struct Flat<'a> {
    wanted: Wanted<'a>,
    words: Vec<String>,
    rows: Vec<Row>,
    height: f32,
    /// Closed rows, with what they hide.
    closed: Vec<(u32, &'a Node)>,
}

impl<'a> Flat<'a> {
    /// Which closed row hides which lane.
    fn covers(&self) -> FxHashMap<LaneKind, u32> {
        fn note(node: &Node, row: u32, covers: &mut FxHashMap<LaneKind, u32>) {
            for lane in &node.lanes {
                covers.insert(lane.kind, row);
            }
            for child in &node.children {
                note(child, row, covers);
            }
        }
        let mut covers = FxHashMap::default();
        for (row, node) in &self.closed {
            note(node, *row, &mut covers);
        }
        covers
    }

    fn new(wanted: Wanted<'a>) -> Flat<'a> {
        let words = wanted.filter.split_whitespace().map(str::to_lowercase);
        Flat {
            wanted,
            words: words.collect(),
            rows: Vec::new(),
            height: 0.0,
            closed: Vec::new(),
        }
    }

    fn title<'n>(&'n self, node: &'n Node) -> &'n str {
        match self.wanted.layout.names.get(&node.key) {
            Some(name) => name,
            None => &node.title,
        }
    }

    fn matches(&self, node: &Node) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let title = self.title(node).to_lowercase();
        self.words
            .iter()
            .all(|word| title.contains(word.as_str()) || node.note.contains(word.as_str()))
    }

    fn any_below(&self, node: &Node) -> bool {
        node.children
            .iter()
            .any(|child| self.matches(child) || self.any_below(child))
    }

    fn is_active(&self, node: &Node) -> bool {
        let Some(active) = self.wanted.active else {
            return true;
        };
        active.contains(&node.key) || node.children.iter().any(|child| self.is_active(child))
    }

    fn add_all(&mut self, parent: Option<RowKey>, nodes: &'a [Node], depth: u8, passed: Passed) {
        let Some(order) = self.wanted.layout.order.get(&parent) else {
            for node in nodes {
                self.add(node, depth, passed);
            }
            return;
        };
        let place: FxHashMap<RowKey, usize> = order.iter().copied().zip(0..).collect();
        let mut sorted: Vec<&'a Node> = nodes.iter().collect();
        sorted.sort_by_key(|node| place.get(&node.key).copied().unwrap_or(usize::MAX));
        for node in sorted {
            self.add(node, depth, passed);
        }
    }

    fn add(&mut self, node: &'a Node, depth: u8, passed: Passed) {
        if self.wanted.layout.hidden.contains(&node.key) {
            return;
        }
        let has_passed = passed == Passed::Already || self.matches(node);
        if (!has_passed && !self.any_below(node)) || !self.is_active(node) {
            return;
        }
        let is_filtering = !self.words.is_empty();
        let fold = match self.wanted.layout.folds.get(&node.key) {
            _ if !node.can_close() => Fold::None,
            // What matches inside must be seen.
            _ if is_filtering && !has_passed => Fold::Open,
            Some(&fold) => fold,
            None if node.is_open_at_first => Fold::Open,
            None => Fold::Closed,
        };
        if fold == Fold::Closed {
            self.closed.push((self.rows.len() as u32, node));
        }
        self.push(node, depth, fold);
        if fold != Fold::Closed {
            let passed = if has_passed && is_filtering {
                Passed::Already
            } else {
                passed
            };
            self.add_all(
                Some(node.key),
                &node.children,
                depth.saturating_add(1),
                passed,
            );
        }
    }

    /// The note of a row; a group that tells how many lie in it tells how many of them are shown.
    fn note_of(&self, node: &Node) -> Arc<str> {
        let count = node.children.len();
        let is_left_out = |child: &&Node| {
            self.wanted.layout.hidden.contains(&child.key) || !self.is_active(child)
        };
        match node.children.iter().filter(is_left_out).count() {
            some if some > 0 && *node.note == *count.to_string() => {
                format!("{} of {count}", count - some).into()
            }
            _ => node.note.clone(),
        }
    }

    fn push(&mut self, node: &Node, depth: u8, fold: Fold) {
        let layout = self.wanted.layout;
        let mut lanes = match fold {
            Fold::Closed => node.closed_lanes.clone(),
            Fold::None | Fold::Open => node.lanes.clone(),
        };
        let own = layout.heights.get(&node.key).copied().unwrap_or(100);
        let factor = f32::from(own) * f32::from(self.wanted.percent) / 10_000.0;
        let mut offset = PADDING;
        for lane in &mut lanes {
            lane.offset = offset;
            lane.height = (lane.kind.height() * factor).round().max(3.0);
            offset += lane.height + LANE_GAP;
        }
        let least = match node.kind {
            RowKind::Group | RowKind::Source(_) => GROUP_HEIGHT,
            _ => MIN_HEIGHT,
        };
        if let [lane] = lanes.as_mut_slice() {
            // A single lane stands in the middle of its row.
            lane.offset = ((least - lane.height) / 2.0).max(PADDING).floor();
        }
        let height = (offset - LANE_GAP + PADDING).max(least);
        let title = match layout.names.get(&node.key) {
            Some(name) => Arc::from(name.as_str()),
            None => node.title.clone(),
        };
        self.rows.push(Row {
            key: node.key,
            kind: node.kind,
            depth,
            title,
            note: self.note_of(node),
            fold,
            lanes,
            top: self.height,
            height,
        });
        self.height += height;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::layout::FoundBy;

    fn node(key: RowKey, title: &str, children: Vec<Node>) -> Node {
        let lanes = match key {
            RowKey::Thread(tid) => vec![
                Lane::new(LaneKind::States(ThreadId(tid as u32))),
                Lane::new(LaneKind::Slices(tid as u32)),
            ],
            _ => Vec::new(),
        };
        Node {
            key,
            kind: match key {
                RowKey::Thread(tid) => RowKind::Thread(ThreadId(tid as u32)),
                _ => RowKind::Group,
            },
            title: title.into(),
            note: "".into(),
            closed_lanes: lanes.clone(),
            lanes,
            children,
            is_open_at_first: true,
            activity: 0,
        }
    }

    fn outline() -> Outline {
        let threads = |first: u64| {
            (first..first + 3)
                .map(|tid| node(RowKey::Thread(tid), &format!("worker {tid}"), Vec::new()))
                .collect()
        };
        Outline {
            nodes: vec![
                node(RowKey::Process(1), "Alpha", threads(10)),
                node(RowKey::Process(2), "Beta", threads(20)),
            ],
            track_count: 8,
        }
    }

    fn rows(layout: &Layout, filter: &str) -> Rows {
        Rows::new(
            &outline(),
            Wanted {
                layout,
                filter,
                active: None,
                percent: 100,
            },
        )
    }

    fn titles(rows: &Rows) -> Vec<&str> {
        rows.all().iter().map(|row| &*row.title).collect()
    }

    #[test]
    fn rows_lie_one_below_the_other_and_are_found_by_height() {
        let rows = rows(&Layout::default(), "");
        assert_eq!(rows.all().len(), 8);
        let mut at = 0.0;
        for row in rows.all() {
            assert_eq!(row.top, at);
            at = row.bottom();
            assert_eq!(rows.at(row.top).map(|it| it.key), Some(row.key));
        }
        assert_eq!(rows.height(), at);
        assert_eq!(rows.between(0.0, at), 0..8);
        assert_eq!(rows.between(rows.all()[3].top, rows.all()[4].top), 3..4);
    }

    #[test]
    fn a_closed_group_hides_its_rows_and_a_filter_finds_them() {
        let mut folds = FxHashMap::default();
        folds.insert(RowKey::Process(1), Fold::Closed);
        let outline_of_all = outline();
        let found: Vec<&str> = matching(&outline_of_all, "worker 11")
            .into_iter()
            .chain(matching(&outline_of_all, "beta"))
            .map(|node| &*node.title)
            .collect();
        assert_eq!(found, ["worker 11", "Beta"]);
        let mut layout = Layout::default();
        layout.folds.insert(RowKey::Process(1), Fold::Closed);
        let shown = rows(&layout, "");
        assert_eq!(titles(&shown)[..2], ["Alpha", "Beta"]);
        let shown = rows(&layout, "WORKER 11");
        assert_eq!(titles(&shown), ["Alpha", "worker 11"]);
        let shown = rows(&layout, "beta");
        assert_eq!(
            titles(&shown),
            ["Beta", "worker 20", "worker 21", "worker 22"]
        );
    }

    #[test]
    fn tracks_are_hidden_pinned_moved_renamed_and_made_higher() {
        let outline = outline();
        let mut layout = Layout::default();
        layout.hidden.insert(RowKey::Thread(10));
        layout.pinned.push(RowKey::Thread(21));
        layout
            .names
            .insert(RowKey::Thread(11), "the slow one".to_owned());
        layout.heights.insert(RowKey::Thread(12), 200);
        layout.move_row(&outline, RowKey::Process(2), Some(RowKey::Process(1)));
        layout.move_row(&outline, RowKey::Thread(20), None);
        let shown = rows(&layout, "");
        assert_eq!(
            titles(&shown),
            [
                "Beta",
                "worker 21",
                "worker 22",
                "worker 20",
                "Alpha",
                "the slow one",
                "worker 12"
            ]
        );
        assert_eq!(shown.pinned()[0].title.as_ref(), "worker 21");
        assert_eq!(shown.hidden_count(), 1);
        let higher = shown.of_key(RowKey::Thread(12)).unwrap();
        assert_eq!(higher.lanes[1].height, 36.0);
        let saved = layout.saved(&outline, "mine");
        for found_by in [FoundBy::Key, FoundBy::Name] {
            assert_eq!(Layout::from_saved(&saved, &outline, found_by), layout);
        }
        assert_eq!(titles(&rows(&layout, "slow")), ["Alpha", "the slow one"]);
    }
}
