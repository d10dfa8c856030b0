//! The rows of the timeline, from top to bottom: what of the outline is open and passes the filter.
//!
//! Heights are points. A row is a header at the left and, at the right, lanes one below the other.

use super::outline::{Node, Outline};
use crate::trace::{CounterTrackId, CpuId, ProcessId, SourceId, ThreadId, TrackId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// How high it is.
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
}

impl Lane {
    /// A lane that has no place yet.
    #[must_use]
    pub fn new(kind: LaneKind) -> Lane {
        Lane { kind, offset: 0.0 }
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
    pub title: String,
    /// Shown small behind the title.
    pub note: String,
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

/// All rows, in order.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    height: f32,
}

impl Rows {
    /// Flattens `outline`: what the user opened or closed is in `folds`; `filter` is matched against
    /// titles and notes, upper or lower case alike.
    #[must_use]
    pub fn new(outline: &Outline, folds: &FxHashMap<RowKey, Fold>, filter: &str) -> Rows {
        let mut flat = Flat {
            folds,
            words: filter.split_whitespace().map(str::to_lowercase).collect(),
            rows: Vec::new(),
            height: 0.0,
        };
        for node in &outline.nodes {
            flat.add(node, 0, Passed::NotYet);
        }
        Rows {
            rows: flat.rows,
            height: flat.height,
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
        self.rows.iter().find(|row| row.key == key)
    }

    /// The row and lane that draw `kind`, if they are shown.
    #[must_use]
    pub fn of_lane(&self, kind: LaneKind) -> Option<(&Row, &Lane)> {
        self.rows.iter().find_map(|row| {
            let lane = row.lanes.iter().find(|lane| lane.kind == kind)?;
            Some((row, lane))
        })
    }
}

/// The nodes that `filter` names, each without those that lie in it.
#[must_use]
pub fn matching<'a>(outline: &'a Outline, filter: &str) -> Vec<&'a Node> {
    let folds = FxHashMap::default();
    let flat = Flat {
        folds: &folds,
        words: filter.split_whitespace().map(str::to_lowercase).collect(),
        rows: Vec::new(),
        height: 0.0,
    };
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

/// Whether a group around this node matched the filter already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    NotYet,
    Already,
}

struct Flat<'a> {
    folds: &'a FxHashMap<RowKey, Fold>,
    words: Vec<String>,
    rows: Vec<Row>,
    height: f32,
}

impl Flat<'_> {
    fn matches(&self, node: &Node) -> bool {
        let title = node.title.to_lowercase();
        self.words
            .iter()
            .all(|word| title.contains(word.as_str()) || node.note.contains(word.as_str()))
    }

    fn any_below(&self, node: &Node) -> bool {
        node.children
            .iter()
            .any(|child| self.matches(child) || self.any_below(child))
    }

    fn add(&mut self, node: &Node, depth: u8, passed: Passed) {
        let has_passed = passed == Passed::Already || self.matches(node);
        if !has_passed && !self.any_below(node) {
            return;
        }
        let is_filtering = !self.words.is_empty();
        let fold = match self.folds.get(&node.key) {
            _ if !node.can_close() => Fold::None,
            // What matches inside must be seen.
            _ if is_filtering && !has_passed => Fold::Open,
            Some(&fold) => fold,
            None if node.is_open_at_first => Fold::Open,
            None => Fold::Closed,
        };
        let mut lanes = match fold {
            Fold::Closed => node.closed_lanes.clone(),
            Fold::None | Fold::Open => node.lanes.clone(),
        };
        let mut offset = PADDING;
        for lane in &mut lanes {
            lane.offset = offset;
            offset += lane.kind.height() + LANE_GAP;
        }
        let least = match node.kind {
            RowKind::Group | RowKind::Source(_) => GROUP_HEIGHT,
            _ => MIN_HEIGHT,
        };
        if let [lane] = lanes.as_mut_slice() {
            // A single lane stands in the middle of its row.
            lane.offset = ((least - lane.kind.height()) / 2.0).max(PADDING).floor();
        }
        let height = (offset - LANE_GAP + PADDING).max(least);
        self.rows.push(Row {
            key: node.key,
            kind: node.kind,
            depth,
            title: node.title.clone(),
            note: node.note.clone(),
            fold,
            lanes,
            top: self.height,
            height,
        });
        self.height += height;
        if fold != Fold::Closed {
            let passed = if has_passed && is_filtering {
                Passed::Already
            } else {
                passed
            };
            for child in &node.children {
                self.add(child, depth.saturating_add(1), passed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            kind: RowKind::Group,
            title: title.to_owned(),
            note: String::new(),
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

    fn titles(rows: &Rows) -> Vec<&str> {
        rows.all().iter().map(|row| row.title.as_str()).collect()
    }

    #[test]
    fn rows_lie_one_below_the_other_and_are_found_by_height() {
        let rows = Rows::new(&outline(), &FxHashMap::default(), "");
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
        let rows = Rows::new(&outline(), &folds, "");
        assert_eq!(titles(&rows)[..2], ["Alpha", "Beta"]);
        let rows = Rows::new(&outline(), &folds, "WORKER 11");
        assert_eq!(titles(&rows), ["Alpha", "worker 11"]);
        let outline_of_all = outline();
        let found: Vec<&str> = matching(&outline_of_all, "worker 11")
            .into_iter()
            .chain(matching(&outline_of_all, "beta"))
            .map(|node| node.title.as_str())
            .collect();
        assert_eq!(found, ["worker 11", "Beta"]);
        let rows = Rows::new(&outline(), &folds, "beta");
        assert_eq!(
            titles(&rows),
            ["Beta", "worker 20", "worker 21", "worker 22"]
        );
    }
}
