//! The heights of rows: lanes that cannot be read at this zoom are drawn lower, nested lanes as one flat profile, so
//! that more rows are in view. They open again as the user zooms in.
//!
//! ```text
//! roomy      natural heights, and more where there is room
//! compact    thin lanes are lower
//! tight      lanes with something legible are lower too, and the other lanes of their rows are merged
//! bare       a row of a thread or CPU is the single lane that shows what it did
//! ```
//!
//! If all rows fit at one of the first two densities, they have it. Otherwise rows are bare, and open from the top as far
//! as there is room. In a part of the trace, rows with something legible open in any case, even if the rows then scroll:
//! who zooms in wants to read. If even bare rows do not fit, they scroll, and all are compact.

use super::layout::Layout;
use super::row::{LANE_GAP, Lane, LaneKind, Legibility, MergedLane, PADDING, Row, RowKind};
use crate::base::TimeSpan;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Least height of a row, in points, so that its title fits.
const MIN_HEIGHT: f32 = 22.0;
/// Height of a group's row, in points.
const GROUP_HEIGHT: f32 = 24.0;
/// Height of a group's row in a compact layout, in points.
const COMPACT_HEIGHT: f32 = 18.0;
/// Heights of bare rows, and of lanes of slices in tight rows, in points, in the order in which they are tried: names
/// still fit into the last.
const BARE_HEIGHTS: [u8; 6] = [18, 16, 15, 14, 13, LEAST_BARE];
const LEAST_BARE: u8 = 12;
/// Height of the instants in a bare row, in points.
const BARE_BAND: f32 = 2.0;
/// The share of the room that bare rows leave to rows that open, if they can.
const SHARE_TO_OPEN: f32 = 0.3;
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

/// How much of the trace is in view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All of it, or nearly.
    #[default]
    Whole,
    /// A part.
    Part,
}

impl Reach {
    /// Returns how much of the span of a trace is in view.
    #[must_use]
    pub(super) fn of(view: TimeSpan, trace: TimeSpan) -> Reach {
        let (seen, all) = (view.duration().0, trace.duration().0);
        match i128::from(seen) * 10 >= i128::from(all) * 9 {
            true => Reach::Whole,
            false => Reach::Part,
        }
    }
}

/// The space for rows, in points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The height that the window has for rows.
    pub(super) height: f32,
    /// The height of all rows at [`Density::DENSEST`].
    pub(super) least: f32,
}

/// Returns the density of each row: the first rows are pinned, above the others. See the module's comment.
pub(super) fn densities(
    rows: &[&[Row]; 2],
    layout: &Layout,
    percent: u16,
    room: Room,
    reach: Reach,
) -> Vec<Density> {
    let count = rows[0].len() + rows[1].len();
    let all = || rows.iter().flat_map(|rows| rows.iter());
    let height_at = |row: &Row, density| height_at(row, layout, percent, density);
    let total = |density| all().map(|row| height_at(row, density)).sum::<f32>();
    let mut roomier = [Density::Roomy, Density::Compact].into_iter();
    if let Some(density) = roomier.find(|density| total(*density) <= room.height) {
        return vec![density; count];
    }
    if room.least > room.height {
        return vec![Density::Compact; count];
    }
    let mut heights = BARE_HEIGHTS.into_iter();
    let height = heights
        .find(|&height| total(Density::Bare { height }) <= room.height * (1.0 - SHARE_TO_OPEN));
    let height = height.unwrap_or(LEAST_BARE);
    let least = |row: &Row| match reach == Reach::Part && row.lanes.iter().any(is_to_be_read) {
        true => Density::Tight { height },
        false => Density::Bare { height },
    };
    let mut chosen: Vec<Density> = all().map(least).collect();
    let so_far = all()
        .zip(&chosen)
        .map(|(row, density)| height_at(row, *density));
    let mut left = room.height - so_far.sum::<f32>();
    // What threads called comes before the interrupts of CPUs.
    for of_cpus in [false, true] {
        let rows = all().zip(&mut chosen);
        let rows = rows.filter(|(row, _)| matches!(row.kind, RowKind::Cpu(_)) == of_cpus);
        for (row, density) in rows {
            let more = height_at(row, Density::Compact) - height_at(row, *density);
            if more <= left {
                left -= more;
                *density = Density::Compact;
            }
        }
    }
    chosen
}

/// Returns whether a lane contains names that are wide enough to be read.
fn is_to_be_read(lane: &Lane) -> bool {
    matches!(lane.kind, LaneKind::Slices(_)) && lane.legibility == Legibility::Legible
}

impl Density {
    /// The density with the least content.
    pub(super) const DENSEST: Density = Density::Bare { height: LEAST_BARE };

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
            Density::Compact => COMPACT_HEIGHT,
            Density::Tight { .. } | Density::Bare { .. } if is_group => TIGHT_GROUP,
            Density::Tight { height } | Density::Bare { height } => f32::from(height),
        }
    }

    /// Returns the height of a lane of slices in a tight layout, in points.
    fn tight_height(self) -> Option<f32> {
        match self {
            Density::Roomy | Density::Compact => None,
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
        let height = self.tight_height()?;
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
            RowKind::Cpu(_) => TIGHT_CPU,
            _ => 0.0,
        };
        is_dense.then_some(height.max(least))
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
        let band = match row.lanes.len() {
            0 | 1 => 0.0,
            _ => BARE_BAND,
        };
        for lane in &mut row.lanes {
            (lane.offset, lane.height) = match lane.kind {
                LaneKind::Instants(_) if band > 0.0 => (row.height - 2.0 - band, band),
                _ => (1.0, row.height - 3.0 - band),
            };
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

/// Leaves the lane that shows most of a row: states, else a profile, else slices; and its instants, of which one may be the
/// error that somebody looks for.
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
    let instants = |lane: &&Lane| matches!(lane.kind, LaneKind::Instants(_));
    let instants = row.lanes.iter().find(instants).map(|lane| lane.kind);
    keep_lanes(row, |lane| {
        lane.kind == main.kind || Some(lane.kind) == instants
    });
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

/// Returns the height of all rows together, in points, at one density.
pub(super) fn height_of_all(rows: &[Row], layout: &Layout, percent: u16, density: Density) -> f32 {
    let heights = rows.iter();
    heights
        .map(|row| height_at(row, layout, percent, density))
        .sum()
}

/// Returns the height of a row at a density, in points; the height that the user chose beats it.
fn height_at(row: &Row, layout: &Layout, percent: u16, density: Density) -> f32 {
    let (percent, density, _) = sizes_of(row, layout, percent, density);
    height_of(row, percent, density)
}

/// Lays out all rows, one below the other, each with its density; returns their height together, in points.
pub(super) fn lay_out_all(
    rows: &mut [Row],
    layout: &Layout,
    percent: u16,
    densities: &[Density],
) -> f32 {
    let mut top = 0.0;
    for (row, density) in rows.iter_mut().zip(densities) {
        let (percent, density, grow) = sizes_of(row, layout, percent, *density);
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
    use super::super::row::{Fold, RowKey};
    use super::*;
    use crate::trace::ThreadId;

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

    /// Returns the row of a thread with its states and nested slices, of which the first are legible.
    fn thread(number: u32, legible: u32) -> Row {
        let first = number * 10;
        let mut row = Row {
            key: RowKey::Thread(u64::from(number)),
            kind: RowKind::Thread(ThreadId(number)),
            depth: 0,
            title: "".into(),
            note: "".into(),
            fold: Fold::Open,
            lanes: vec![Lane::new(LaneKind::States(ThreadId(number)))],
            merged: Vec::new(),
            top: 0.0,
            height: 0.0,
        };
        row.lanes.extend(lanes(first..first + 5));
        for lane in row.lanes.iter_mut().skip(1 + legible as usize) {
            lane.legibility = Legibility::Thin;
        }
        row
    }

    #[test]
    fn rows_open_from_the_top_as_far_as_there_is_room() {
        let rows: Vec<Row> = (0..40)
            .map(|number| thread(number, u32::from(number < 20)))
            .collect();
        let layout = Layout::default();
        let least = height_of_all(&rows, &layout, 100, Density::DENSEST);
        let chosen = |height, reach| {
            let room = Room { height, least };
            densities(&[&[], &rows], &layout, 100, room, reach)
        };
        let count = |all: &[Density], wanted: fn(&Density) -> bool| {
            all.iter().filter(|it| wanted(it)).count()
        };
        let is_bare = |density: &Density| matches!(density, Density::Bare { .. });
        let is_compact = |density: &Density| *density == Density::Compact;
        assert_eq!(chosen(1e6, Reach::Whole), vec![Density::Roomy; 40]);
        // Not even one lane each fits.
        assert_eq!(chosen(300.0, Reach::Whole), vec![Density::Compact; 40]);
        // More room, more rows that are open, from the top.
        let mut before = 0;
        for room in [500.0, 700.0, 900.0, 1_200.0] {
            let all = chosen(room, Reach::Whole);
            let open = count(&all, is_compact);
            assert!(all[..open].iter().all(is_compact) && all[open..].iter().all(is_bare));
            assert!(open >= before, "{room}: {open}");
            before = open;
        }
        assert!((1..40).contains(&before));
        // In a part of the trace all that can be read is shown.
        let all = chosen(500.0, Reach::Part);
        assert_eq!(count(&all[..20], is_bare), 0);
        assert_eq!(count(&all[20..], is_bare), 20);
    }
}
