//! The kinds of a trace's slices, numbered: sums group slices by the number of their kind.

use crate::event::SliceKind;
use crate::trace::Trace;

/// The kinds of a trace's labels.
#[derive(Clone, Debug, Default)]
pub struct SliceKinds {
    /// The kinds that labels have, in the order of [`SliceKind::ALL`].
    present: Vec<SliceKind>,
    /// By label: the index in `present`.
    numbers: Vec<u8>,
}

impl SliceKinds {
    /// Returns the kinds of a trace's labels.
    #[must_use]
    pub fn new(trace: &Trace) -> SliceKinds {
        let labels = trace.slices.labels.iter();
        let kinds: Vec<SliceKind> = labels.map(|label| label.kind).collect();
        let is_present = |kind: &SliceKind| kinds.contains(kind);
        let present: Vec<SliceKind> = SliceKind::ALL.into_iter().filter(is_present).collect();
        let place = |kind: SliceKind| present.iter().position(|it| *it == kind);
        let numbers = kinds.into_iter().map(|kind| place(kind).unwrap_or(0) as u8);
        SliceKinds {
            numbers: numbers.collect(),
            present,
        }
    }

    /// Returns the kinds that labels have; a label's number is an index into this list.
    #[must_use]
    pub fn present(&self) -> &[SliceKind] {
        &self.present
    }

    /// Returns the number of a label's kind.
    #[inline]
    #[must_use]
    pub fn number(&self, label: u32) -> u32 {
        let number = self.numbers.get(label as usize);
        number.map_or(0, |&number| number.into())
    }

    /// Returns the number of a kind; `None` if no label has it.
    #[must_use]
    pub(crate) fn number_of(&self, kind: SliceKind) -> Option<u32> {
        let at = self.present.iter().position(|it| *it == kind)?;
        Some(at as u32)
    }
}
