//! Sizes that the parts of the timeline share, in points.

/// Height of the overview.
pub(super) const OVERVIEW_HEIGHT: f32 = 46.0;
/// Height of the ruler.
pub(super) const RULER_HEIGHT: f32 = 24.0;
/// Height of the overview and the ruler together.
pub(crate) const HEAD_HEIGHT: f32 = OVERVIEW_HEIGHT + RULER_HEIGHT;
/// Labels are drawn on blocks at least this wide.
pub(super) const LABEL_FROM_POINTS: f32 = 26.0;
/// A row of slices can be read if one of them is at least this wide.
pub(super) const LEGIBLE_FROM_POINTS: f32 = 14.0;
/// Blocks at least this wide get a node for screen readers.
pub(super) const NODE_FROM_POINTS: f32 = 4.0;
