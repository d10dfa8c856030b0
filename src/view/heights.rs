//! The heights of rows: lanes that cannot be read at this zoom are drawn lower, nested lanes as one flat profile, so
//! that more rows are in view. They open again as the user zooms in.
//!
//! ```text
//! roomy      natural heights, and more where there is room
//! compact    thin lanes are lower
//! dense      a row without anything legible is a single lane
//! tight      lanes with something legible are lower too, and the other lanes of their rows are merged
//! bare       a row of a thread or CPU is the single lane that shows what it did
//! ```

use super::layout::Layout;
use super::row::{LANE_GAP, Lane, LaneKind, Legibility, MergedLane, PADDING, Row, RowKind};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Least height of a row, in points, so that its title fits.
const MIN_HEIGHT: f32 = 22.0;
/// Height of a group's row, in points.
const GROUP_HEIGHT: f32 = 24.0;
/// Height of a group's row in a compact layout, in points.
const COMPACT_HEIGHT: f32 = 18.0;
/// Least height of a dense row of a CPU, in points.
const DENSE_CPU: f32 = 18.0;
/// Heights of dense rows, in points, in the order in which they are tried.
const DENSE_HEIGHTS: [u8; 6] = [18, 16, 15, 14, 13, LEAST_DENSE];
const LEAST_DENSE: u8 = 12;
/// Heights of tight rows without anything legible, and of lanes of slices, in points, in the order in which they are
/// tried: names still fit into the last.
const TIGHT_HEIGHTS: [u8; 5] = [16, 15, 14, 13, LEAST_DENSE];
/// Space above and below the lanes of a tight row, in points.
const TIGHT_PADDING: f32 = 1.0;
/// Height of a group's row in a tight layout, in points.
const TIGHT_GROUP: f32 = 14.0;
/// Least height of a tight row of a CPU, in points.
const TIGHT_CPU: f32 = 16.0;

/// The rows of slices, by their index in `Slices::rows`, in which something is wide enough to be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LegibleRows(Arc<FxHashSet<u32>>);

impl LegibleRows {
    /// Returns the set of these rows.
    #[must_use]
    pub fn new(rows: impl Iterator<Item = u32>) -> LegibleRows {
        LegibleRows(Arc::new(rows.collect()))
    }

    fn legibility(&self, kind: LaneKind) -> Legibility {
        let is_legible = match kind {
            LaneKind::Slices(row) => self.0.contains(&row),
            LaneKind::Instants(_) | LaneKind::Profile { .. } => false,
            _ => true,
        };
        match is_legible {
            true => Legibility::Legible,
            false => Legibility::Thin,
        }
    }
}

/// The lanes of a row that are drawn, and the lanes that are merged into them.
pub(super) struct DrawnLanes {
    pub(super) lanes: Vec<Lane>,
    pub(super) merged: Vec<MergedLane>,
}

/// Returns the lanes to draw of a row's lanes. Neighbouring rows of slices that contain nothing legible, down to the
/// last row, become a profile.
pub(super) fn lanes_at(lanes: &[Lane], legible: Option<&LegibleRows>) -> DrawnLanes {
    let mut drawn = DrawnLanes {
        lanes: lanes.to_vec(),
        merged: Vec::new(),
    };
    let Some(legible) = legible else {
        return drawn;
    };
    for lane in &mut drawn.lanes {
        lane.legibility = legible.legibility(lane.kind);
    }
    let row_of = |lane: &Lane| match lane.kind {
        LaneKind::Slices(row) if lane.legibility == Legibility::Thin => Some(row),
        _ => None,
    };
    let mut at = 0;
    while at < drawn.lanes.len() {
        let Some(first) = drawn.lanes.get(at).and_then(row_of) else {
            at += 1;
            continue;
        };
        let rest = (first + 1..).zip(drawn.lanes.iter().skip(at + 1));
        let more = rest
            .take_while(|(row, lane)| row_of(lane) == Some(*row))
            .count();
        let is_deepest = !matches!(
            drawn.lanes.get(at + 1 + more).map(|lane| lane.kind),
            Some(LaneKind::Slices(row)) if row == first + 1 + more as u32
        );
        if more > 0 && is_deepest {
            let count = more as u32 + 1;
            let mut lane = Lane::new(LaneKind::Profile { first, count });
            lane.legibility = Legibility::Thin;
            drawn.lanes.splice(at..=at + more, [lane]);
            drawn
                .merged
                .extend((first..first + count).map(|row| MergedLane {
                    kind: LaneKind::Slices(row),
                    shown_by: at as u32,
                }));
        }
        at += 1;
    }
    drawn
}

/// The amount of content of a row that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Density {
    Roomy,
    Compact,
    Dense {
        /// Height of a row without anything legible, in points.
        height: u8,
    },
    Tight {
        /// Height of a row without anything legible and of a lane of slices, in points.
        height: u8,
    },
    /// As `Tight`, but rows with a main lane have no other.
    Bare {
        /// As for `Tight`.
        height: u8,
    },
}

impl Density {
    /// The density with the least content.
    pub(super) const DENSEST: Density = Density::Bare {
        height: LEAST_DENSE,
    };

    /// Returns the first density with which everything fits into `room` points; `total` returns the height of all rows. If
    /// rows must be scrolled anyway, they keep all their lanes.
    pub(super) fn fitting(room: f32, total: impl Fn(Density) -> f32) -> Density {
        let dense = DENSE_HEIGHTS.map(|height| Density::Dense { height });
        let tight = TIGHT_HEIGHTS.map(|height| Density::Tight { height });
        let bare = TIGHT_HEIGHTS.map(|height| Density::Bare { height });
        let roomier = [Density::Roomy, Density::Compact].into_iter();
        let all = roomier.chain(dense).chain(tight).chain(bare);
        let mut fitting = all.filter(|density| total(*density) <= room);
        fitting.next().unwrap_or(Density::Compact)
    }

    /// Returns the height of a lane, in points.
    fn lane_height(self, lane: &Lane) -> f32 {
        match (self.tight_height(), lane.legibility, lane.kind) {
            (Some(height), _, LaneKind::Slices(_)) => height,
            (Some(height), _, LaneKind::States(_)) => height / 2.0,
            (_, Legibility::Legible, _) => lane.kind.height(),
            _ if self == Density::Roomy => lane.kind.height(),
            (_, _, LaneKind::Slices(_)) => 8.0,
            (_, _, LaneKind::Instants(_)) => 4.0,
            (_, _, LaneKind::Profile { .. }) => 14.0,
            _ => lane.kind.height(),
        }
    }

    /// Returns the least height of a row, in points.
    fn least_height(self, kind: RowKind) -> f32 {
        let is_group = matches!(kind, RowKind::Group | RowKind::Source(_));
        match self {
            Density::Roomy if is_group => GROUP_HEIGHT,
            Density::Roomy => MIN_HEIGHT,
            Density::Compact | Density::Dense { .. } => COMPACT_HEIGHT,
            Density::Tight { .. } | Density::Bare { .. } if is_group => TIGHT_GROUP,
            Density::Tight { height } | Density::Bare { height } => f32::from(height),
        }
    }

    /// Returns the height of a lane of slices in a tight layout, in points.
    fn tight_height(self) -> Option<f32> {
        match self {
            Density::Roomy | Density::Compact | Density::Dense { .. } => None,
            Density::Tight { height } | Density::Bare { height } => Some(f32::from(height)),
        }
    }

    /// Returns whether a lane of a row that is not dense is drawn, and not merged into another one.
    fn keeps(self, lane: &Lane) -> bool {
        self.tight_height().is_none() || lane.legibility == Legibility::Legible || is_main(lane)
    }

    /// Returns the space above and below the lanes of a row, in points.
    fn padding(self) -> f32 {
        match self.tight_height() {
            Some(_) => TIGHT_PADDING,
            None => PADDING,
        }
    }

    /// Returns the height of a dense row, if this row is one: it has nothing legible, or a single lane.
    fn dense_height(self, row: &Row) -> Option<f32> {
        let (height, least_cpu) = match self {
            Density::Dense { height } => (height, DENSE_CPU),
            Density::Tight { height } | Density::Bare { height } => (height, TIGHT_CPU),
            Density::Roomy | Density::Compact => return None,
        };
        let can_be = matches!(
            row.kind,
            RowKind::Thread(_) | RowKind::Process(_) | RowKind::Track(_) | RowKind::Cpu(_)
        );
        let is_plain = |lane: &Lane| lane.legibility == Legibility::Thin || is_main(lane);
        let is_single = row.lanes.len() <= 1 || row.lanes.iter().all(is_plain);
        let is_bare = matches!(self, Density::Bare { .. }) && row.lanes.iter().any(is_main);
        let is_dense = can_be && (is_single || is_bare);
        let least = match row.kind {
            // A CPU's lane shows shares by height: that needs some.
            RowKind::Cpu(_) => least_cpu,
            _ => 0.0,
        };
        is_dense.then_some(f32::from(height).max(least))
    }
}

/// Returns whether a lane shows what its thread or CPU did.
fn is_main(lane: &Lane) -> bool {
    matches!(lane.kind, LaneKind::States(_) | LaneKind::Runs(_))
}

/// Whether a single lane grows into its row's least height.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Grow {
    IntoRoom,
    No,
}

/// Returns the height of a row, in points, at `percent` of its natural height.
fn height_of(row: &Row, percent: f32, density: Density) -> f32 {
    if let Some(height) = density.dense_height(row) {
        return height;
    }
    let heights = row
        .lanes
        .iter()
        .filter(|lane| density.keeps(lane))
        .map(|lane| lane_height(lane, percent, density));
    let lanes: f32 = heights.map(|height| height + LANE_GAP).sum();
    (lanes - LANE_GAP + 2.0 * density.padding()).max(density.least_height(row.kind))
}

fn lane_height(lane: &Lane, percent: f32, density: Density) -> f32 {
    (density.lane_height(lane) * percent / 100.0)
        .round()
        .max(3.0)
}

/// Stacks the lanes of a row, each at `percent` of its natural height.
fn lay_out(row: &mut Row, percent: f32, density: Density, grow: Grow) {
    row.height = height_of(row, percent, density);
    if density.dense_height(row).is_some() {
        keep_main_lane(row);
        if let [lane] = row.lanes.as_mut_slice() {
            lane.offset = 1.0;
            lane.height = row.height - 3.0;
        }
        return;
    }
    keep_lanes(row, |lane| density.keeps(lane));
    let least = density.least_height(row.kind);
    let mut offset = density.padding();
    for lane in &mut row.lanes {
        lane.offset = offset;
        lane.height = lane_height(lane, percent, density);
        offset += lane.height + LANE_GAP;
    }
    if let [lane] = row.lanes.as_mut_slice() {
        let is_state = matches!(lane.kind, LaneKind::States(_));
        if is_state && grow == Grow::IntoRoom && percent >= 100.0 {
            lane.height = lane.height.max(least - 2.0 * density.padding());
        }
        // A single lane is centred in its row.
        lane.offset = ((least - lane.height) / 2.0).max(density.padding()).floor();
    }
}

/// Leaves the lane that shows most of a row: states, else a profile, else slices.
fn keep_main_lane(row: &mut Row) {
    let rank = |lane: &Lane| match lane.kind {
        LaneKind::States(_) | LaneKind::Runs(_) | LaneKind::Summary(..) => 0,
        LaneKind::Profile { .. } => 1,
        LaneKind::Slices(_) => 2,
        _ => 3,
    };
    let Some(main) = row.lanes.iter().min_by_key(|lane| rank(lane)).cloned() else {
        return;
    };
    keep_lanes(row, |lane| lane.kind == main.kind);
}

/// Keeps the lanes of a row for which `keeps` returns true; the other lanes are shown by the first lane that is kept.
fn keep_lanes(row: &mut Row, keeps: impl Fn(&Lane) -> bool) {
    if row.lanes.iter().all(&keeps) {
        return;
    }
    let mut kept = 0;
    let places: Vec<Option<u32>> = (row.lanes.iter())
        .map(|lane| {
            let is_kept = keeps(lane);
            kept += u32::from(is_kept);
            is_kept.then(|| kept - 1)
        })
        .collect();
    for merged in &mut row.merged {
        let place = places.get(merged.shown_by as usize).copied().flatten();
        merged.shown_by = place.unwrap_or(0);
    }
    let left_out = row.lanes.iter().filter(|lane| !keeps(lane));
    row.merged.extend(left_out.map(|lane| MergedLane {
        kind: lane.kind,
        shown_by: 0,
    }));
    row.lanes.retain(keeps);
}

/// Returns the percentage and density of a row: the height that the user chose beats everything.
fn sizes_of(row: &Row, layout: &Layout, percent: u16, density: Density) -> (f32, Density, Grow) {
    let percent = f32::from(percent);
    match layout.heights.get(&row.key) {
        Some(&own) => (f32::from(own) * percent / 100.0, Density::Roomy, Grow::No),
        None => (percent, density, Grow::IntoRoom),
    }
}

/// Returns the height of all rows together, in points.
pub(super) fn height_of_all(rows: &[Row], layout: &Layout, percent: u16, density: Density) -> f32 {
    let heights = rows.iter().map(|row| {
        let (percent, density, _) = sizes_of(row, layout, percent, density);
        height_of(row, percent, density)
    });
    heights.sum()
}

/// Lays out all rows, one below the other; returns their height together, in points.
pub(super) fn lay_out_all(
    rows: &mut [Row],
    layout: &Layout,
    percent: u16,
    density: Density,
) -> f32 {
    let mut top = 0.0;
    for row in rows {
        let (percent, density, grow) = sizes_of(row, layout, percent, density);
        row.top = top;
        lay_out(row, percent, density, grow);
        top = row.bottom();
    }
    top
}

/// Sets lane heights to `percent` in all rows but those whose height the user chose; returns the height of all rows
/// together, in points.
pub(super) fn grow(rows: &mut [Row], layout: &Layout, percent: u16) -> f32 {
    let mut top = 0.0;
    for row in rows {
        row.top = top;
        if !layout.heights.contains_key(&row.key) {
            lay_out(row, f32::from(percent), Density::Roomy, Grow::IntoRoom);
        }
        top = row.bottom();
    }
    top
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(rows: std::ops::Range<u32>) -> Vec<Lane> {
        rows.map(|row| Lane::new(LaneKind::Slices(row))).collect()
    }

    #[test]
    fn deep_rows_that_cannot_be_read_become_a_profile() {
        let legible = LegibleRows::new([4, 6].into_iter());
        let drawn = lanes_at(&lanes(4..12), Some(&legible));
        let kinds: Vec<LaneKind> = drawn.lanes.iter().map(|lane| lane.kind).collect();
        let profile = LaneKind::Profile { first: 7, count: 5 };
        let row = LaneKind::Slices;
        assert_eq!(kinds, [row(4), row(5), row(6), profile]);
        assert!(drawn.merged.iter().all(|lane| lane.shown_by == 3));
        assert_eq!(drawn.merged.len(), 5);
        // A single row stays as it is, and so does everything before the zoom is known.
        assert_eq!(lanes_at(&lanes(4..8), Some(&legible)).lanes.len(), 4);
        assert_eq!(lanes_at(&lanes(4..12), None).lanes.len(), 8);
    }

    #[test]
    fn rows_are_as_dense_as_the_window_needs() {
        let total = |density| match density {
            Density::Roomy => 900.0,
            Density::Compact => 700.0,
            Density::Dense { height } => 30.0 * f32::from(height),
            Density::Tight { height } => 25.0 * f32::from(height),
            Density::Bare { height } => 20.0 * f32::from(height),
        };
        assert_eq!(Density::fitting(900.0, total), Density::Roomy);
        assert_eq!(Density::fitting(899.0, total), Density::Compact);
        assert_eq!(
            Density::fitting(500.0, total),
            Density::Dense { height: 16 }
        );
        assert_eq!(
            Density::fitting(359.0, total),
            Density::Tight { height: 14 }
        );
        assert_eq!(Density::fitting(299.0, total), Density::Bare { height: 14 });
        assert_eq!(Density::fitting(100.0, total), Density::Compact);
    }
}
