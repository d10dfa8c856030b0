//! A begin or end on its track.

/// A begin or end on its track, 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub time: i64,
    pub event: u32,
    /// The trace's label, with [`END`] or [`OVER`] if the mark is not a begin, and [`COMPAT`].
    pub packed: u32,
}

/// Bit of `packed`: the mark is an end.
pub(super) const END: u32 = 1 << 31;
/// Bit of `packed`: the innermost open slice of the family is over; its end was lost.
pub(super) const OVER: u32 = 1 << 30;
/// Bit of `packed`: the number of the system call belongs to the table of 32-bit programs, so its name differs from its
/// label's name.
pub(super) const COMPAT: u32 = 1 << 29;

impl Row {
    pub(super) fn label(self) -> u32 {
        self.packed & !(END | OVER | COMPAT)
    }

    pub(crate) fn is_end(self) -> bool {
        self.packed & END != 0
    }
}
