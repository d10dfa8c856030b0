//! Labels of blocks: the text on a block, and its description for screen readers.

use crate::base::TimeSpan;
use crate::query::Item;
use crate::query::seen::Seen;
use crate::trace::Trace;
use crate::view::spoken::length_words;
use crate::view::{ViewState, ruler as times};
use egui::{Color32, Rect};

/// At most this many blocks get a node for screen readers and tests.
pub(super) const MAX_NODES: usize = 2_000;

/// A block that has a label, a node for screen readers, or both.
pub(super) struct Label {
    /// Whether there is space to draw the text.
    pub(super) is_drawn: bool,
    pub(super) rect: Rect,
    pub(super) clip: Rect,
    pub(super) text: String,
    /// Font size of the text.
    pub(super) size: f32,
    pub(super) color: Color32,
    pub(super) item: Item,
    /// Time range of the block.
    pub(super) span: TimeSpan,
    /// Number of items drawn as this block.
    pub(super) count: u32,
}

impl Label {
    /// Returns the block's description for screen readers: name, length and start.
    pub(super) fn spoken(&self, state: &ViewState, trace: &Trace, seen: &Seen) -> String {
        let start = times::full_text(self.span.start, state.time_format, state.origins);
        let length = match self.count {
            1 => length_words(state, trace, seen, self.item),
            _ => format!(
                "within {}",
                times::length_text(self.span.duration(), state.origins.unit)
            ),
        };
        match length.as_str() {
            "" => format!("{}, at {start}", self.text),
            length => format!("{}, {length}, at {start}", self.text),
        }
    }
}
