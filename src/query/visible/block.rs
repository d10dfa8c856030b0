//! What a draw list consists of.

/// One or several neighbouring items of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// First nanosecond; may lie before the span asked for.
    pub start: i64,
    /// First nanosecond after; may lie after the span asked for.
    pub end: i64,
    /// What it is called or coloured by: slices: [`LabelId`](crate::trace::LabelId), runs:
    /// [`ThreadId`](crate::trace::ThreadId), states: the number of the [`ThreadState`](crate::trace::ThreadState), instants:
    /// [`KindId`](crate::event::KindId). Of several, the one that takes most of the time.
    pub label: u32,
    /// Row number of the (first) item: [`SliceId`](crate::trace::SliceId) and so on.
    pub first: u32,
    /// How many items it stands for.
    pub count: u32,
    /// The share of its time that the items take, 0 to 1; of one item always 1.
    pub busy: f32,
}
