//! The elements of a draw list.

use crate::index::lod::PARTS;

/// One item of a row, or several neighbouring ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// First nanosecond; may be before the visible span.
    pub start: i64,
    /// First nanosecond after; may be after the visible span.
    pub end: i64,
    /// The id that defines the block's name and colour. Slices: [`LabelId`](crate::trace::LabelId), runs:
    /// [`ThreadId`](crate::trace::ThreadId), states: the number of the [`ThreadState`](crate::trace::ThreadState),
    /// instants: [`KindId`](crate::event::KindId). A block of several items has the label that takes most of the time.
    pub label: u32,
    /// Row number of the (first) item: [`SliceId`](crate::trace::SliceId) and so on.
    pub first: u32,
    /// The number of items in the block.
    pub count: u32,
    /// The durations of the items in ns, by the parts into which a thread's time is divided (`StatePart`); all other
    /// rows have only the first part.
    pub times: [f32; PARTS],
}

impl Block {
    /// Returns the share of the block's time that the items take, 0 to 1; 1 for a single item.
    #[must_use]
    pub fn busy(&self) -> f32 {
        let length = (self.end - self.start) as f32;
        if self.count == 1 || length <= 0.0 {
            return 1.0;
        }
        (self.times.iter().sum::<f32>() / length).clamp(0.0, 1.0)
    }
}
