//! The rows of the timeline from top to bottom: the open part of the outline that passes the filter, and the pinned
//! rows, which are also shown above the others.
//!
//! Rows are rebuilt when something about them changes, not per frame.

use super::flat_rows::{Flat, Passed, Wanted, left_out};
use super::heights::{Density, Reach, Room, densities, grow, height_of_all, lay_out_all};
use super::layout::Layout;
use super::outline::{Node, Outline};
use rustc_hash::FxHashMap;
use std::ops::Range;

pub use super::row::{
    Fold, Lane, LaneKind, Legibility, MergedLane, Row, RowKey, RowKind, Summarised,
};

/// Lanes grow by at most this many percent into free room, in steps of `GROWN_STEP` percent.
const MOST_GROWN: u32 = 50;
const GROWN_STEP: u32 = 10;

/// All visible rows, in order.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    height: f32,
    pinned: Vec<Row>,
    pinned_height: f32,
    by_key: FxHashMap<RowKey, u32>,
    by_lane: FxHashMap<LaneKind, (u32, u32)>,
    /// Index of the closed row that hides a lane.
    covers: FxHashMap<LaneKind, u32>,
    /// Height of all rows and pinned rows at the greatest density, in points: with less room than this, they scroll.
    least_height: f32,
    hidden_count: usize,
    inactive_count: usize,
    filtered_count: usize,
}

/// A lane in its row.
#[derive(Clone, Copy, Debug)]
pub struct RowLane<'a> {
    /// The row.
    pub row: &'a Row,
    /// One of its lanes.
    pub lane: &'a Lane,
}

impl Rows {
    /// Flattens `outline`.
    #[must_use]
    pub fn new<'a>(outline: &'a Outline, wanted: Wanted<'a>) -> Rows {
        let mut flat = Flat::new(wanted);
        flat.add_all(None, &outline.nodes, 0, Passed::NotYet);
        let covers = flat.covers();
        let filtered_count = flat.filtered_out(&outline.nodes);
        let rows = flat.rows;
        let left_out = left_out(&outline.nodes, wanted);
        // Pinned rows are shown regardless of filters.
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
        let (mut rows, mut pinned) = (rows, flat.rows);
        let (percent, layout) = (wanted.percent, wanted.layout);
        let total = |density| {
            height_of_all(&rows, layout, percent, density)
                + height_of_all(&pinned, layout, percent, density)
        };
        let densest_height = wanted.legible.map(|_| total(Density::DENSEST));
        let density = match densest_height {
            Some(least) if wanted.room > 0.0 => {
                let height = wanted.room;
                let room = Room { height, least };
                densities(&[&pinned, &rows], layout, percent, room, wanted.reach)
            }
            _ => vec![Density::Roomy; pinned.len() + rows.len()],
        };
        let (of_pinned, of_rows) = density.split_at(pinned.len());
        let mut height = lay_out_all(&mut rows, layout, percent, of_rows);
        let mut pinned_height = lay_out_all(&mut pinned, layout, percent, of_pinned);
        let least_height = densest_height.unwrap_or(height + pinned_height);
        // Grows lanes as much as possible without making the rows scroll.
        let mut more = match density.iter().all(|density| *density == Density::Roomy) {
            true => MOST_GROWN,
            false => 0,
        };
        while height + pinned_height < wanted.room && more > 0 {
            let percent = (u32::from(wanted.percent) * (100 + more) / 100) as u16;
            let grown = grow(&mut rows, wanted.layout, percent);
            let pinned_grown = grow(&mut pinned, wanted.layout, percent);
            if grown + pinned_grown <= wanted.room {
                (height, pinned_height) = (grown, pinned_grown);
                break;
            }
            more -= GROWN_STEP;
            if more == 0 {
                grow(&mut rows, wanted.layout, wanted.percent);
                grow(&mut pinned, wanted.layout, wanted.percent);
            }
        }
        let by_key = (0..).zip(&rows).map(|(at, row)| (row.key, at)).collect();
        let mut by_lane = FxHashMap::default();
        for (at, row) in (0..).zip(&rows) {
            for (number, lane) in (0..).zip(&row.lanes) {
                by_lane.entry(lane.kind).or_insert((at, number));
            }
            for merged in &row.merged {
                by_lane.entry(merged.kind).or_insert((at, merged.shown_by));
            }
        }
        Rows {
            rows,
            height,
            pinned,
            pinned_height,
            by_key,
            by_lane,
            covers,
            least_height,
            hidden_count: left_out.hidden,
            inactive_count: left_out.inactive,
            filtered_count,
        }
    }

    /// Returns the rows, without the pinned ones.
    #[must_use]
    pub fn all(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the height of all rows together, in points.
    #[must_use]
    pub fn height(&self) -> f32 {
        self.height
    }

    /// Returns the height of all rows and pinned rows together at the greatest density, in points.
    pub(super) fn least_height(&self) -> f32 {
        self.least_height
    }

    /// Returns the pinned rows.
    #[must_use]
    pub fn pinned(&self) -> &[Row] {
        &self.pinned
    }

    /// Returns the height of the pinned rows together, in points.
    #[must_use]
    pub(crate) fn pinned_height(&self) -> f32 {
        self.pinned_height
    }

    /// Returns the number of tracks that are hidden by the user, themselves or with a group around them.
    #[must_use]
    pub fn hidden_count(&self) -> usize {
        self.hidden_count
    }

    /// Returns the number of tracks left out because they are not active; hidden ones are not counted.
    #[must_use]
    pub fn inactive_count(&self) -> usize {
        self.inactive_count
    }

    /// Returns the number of tracks left out by the filter alone.
    #[must_use]
    pub(crate) fn filtered_count(&self) -> usize {
        self.filtered_count
    }

    /// Returns the indices of the rows visible between two heights, in points.
    #[must_use]
    pub(crate) fn between(&self, top: f32, bottom: f32) -> Range<usize> {
        let first = self.rows.partition_point(|row| row.bottom() <= top);
        let last = self.rows.partition_point(|row| row.top < bottom);
        first..last.max(first)
    }

    /// Returns the row at a height, in points.
    #[must_use]
    pub fn at(&self, y: f32) -> Option<&Row> {
        let index = self.rows.partition_point(|row| row.bottom() <= y);
        self.rows.get(index).filter(|row| row.top <= y)
    }

    /// Returns the row with this key.
    #[must_use]
    pub fn of_key(&self, key: RowKey) -> Option<&Row> {
        self.rows.get(*self.by_key.get(&key)? as usize)
    }

    /// Returns the row and lane that draw `kind`, if they are visible.
    #[must_use]
    pub fn of_lane(&self, kind: LaneKind) -> Option<RowLane<'_>> {
        let &(row, lane) = self.by_lane.get(&kind)?;
        let row = self.rows.get(row as usize)?;
        let lane = row.lanes.get(lane as usize)?;
        Some(RowLane { row, lane })
    }

    /// Returns the closed row that hides the lane `kind`.
    #[must_use]
    pub(crate) fn cover_of_lane(&self, kind: LaneKind) -> Option<&Row> {
        self.rows.get(*self.covers.get(&kind)? as usize)
    }

    /// Returns the pinned row and lane that draw `kind`, if there are any.
    #[must_use]
    pub(crate) fn pinned_of_lane(&self, kind: LaneKind) -> Option<RowLane<'_>> {
        self.pinned.iter().find_map(|row| {
            let merged = || row.merged.iter().find(|lane| lane.kind == kind);
            let own = row.lanes.iter().find(|lane| lane.kind == kind);
            let lane = own.or_else(|| row.lanes.get(merged()?.shown_by as usize))?;
            Some(RowLane { row, lane })
        })
    }
}

/// Returns the nodes that match `filter`, each without its children.
#[must_use]
pub(crate) fn matching<'a>(outline: &'a Outline, filter: &str) -> Vec<&'a Node> {
    let layout = Layout::default();
    let flat = Flat::new(Wanted {
        layout: &layout,
        filter,
        active: None,
        legible: None,
        reach: Reach::Whole,
        percent: 100,
        room: 0.0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::ThreadId;
    use crate::view::saved_layout::FoundBy;
    use std::sync::Arc;

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
            jobs: Arc::default(),
        }
    }

    fn rows(layout: &Layout, filter: &str) -> Rows {
        Rows::new(
            &outline(),
            Wanted {
                layout,
                filter,
                active: None,
                legible: None,
                reach: Reach::Whole,
                percent: 100,
                room: 0.0,
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
    fn lanes_grow_where_there_is_room_and_not_where_the_user_chose_their_height() {
        let mut layout = Layout::default();
        layout.heights.insert(RowKey::Thread(12), 200);
        let outline = outline();
        let rows = |room| {
            let layout = &layout;
            let wanted = Wanted {
                layout,
                filter: "",
                active: None,
                legible: None,
                reach: Reach::Whole,
                percent: 100,
                room,
            };
            Rows::new(&outline, wanted)
        };
        let lanes = |rows: &Rows, tid| {
            let lanes = &rows.of_key(RowKey::Thread(tid)).unwrap().lanes;
            (lanes[0].height, lanes[1].height)
        };
        let plain = rows(0.0);
        assert_eq!(lanes(&plain, 10), (12.0, 18.0));
        let large = rows(2_000.0);
        assert_eq!(lanes(&large, 10), (18.0, 27.0));
        assert_eq!(lanes(&large, 12), lanes(&plain, 12));
        assert!(large.height() > plain.height());
        // Rows never grow so much that they scroll, and otherwise as much as possible.
        let mut before = plain.height();
        for room in (plain.height() as u16..large.height() as u16).step_by(3) {
            let grown = rows(f32::from(room));
            assert!(grown.height() <= f32::from(room).max(plain.height()));
            assert!(grown.height() >= before);
            assert_eq!(grown.all().last().unwrap().bottom(), grown.height());
            before = grown.height();
        }
        let scrolled = rows(plain.height() - 1.0);
        assert_eq!(lanes(&scrolled, 10), (12.0, 18.0));
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
