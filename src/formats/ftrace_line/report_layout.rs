//! The layout of the lines that `trace-cmd report` prints, for the reports of trace.dat and of ftrace text.
//!
//! ```text
//!         comm-PID   [CPU] flags     time: NAME:                info
//!  %16s   -%-5d     [%03d]                 padded to 20
//! CPU:n [N EVENTS DROPPED]                                      events of a CPU were lost before its next line
//! ```

/// Width to which a thread's name is padded on the left.
pub(crate) const TASK_WIDTH: usize = 16;
/// Width to which a pid is padded on the right.
pub(crate) const PID_WIDTH: usize = 5;
/// Width to which an event's name is padded on the right, after its colon.
pub(crate) const EVENT_WIDTH: usize = 20;
/// Width to which the integer of a counting clock is padded on the left.
pub(crate) const COUNT_WIDTH: usize = 12;
/// Width to which the step of `--ts-diff` is padded on the right.
pub(crate) const STEP_WIDTH: usize = 8;

/// Appends the spaces that pad a text of `length` bytes to `width`.
#[inline]
pub(crate) fn push_padding(out: &mut Vec<u8>, width: usize, length: usize) {
    const BLANKS: &[u8] = &[b' '; 64];
    let count = width.saturating_sub(length);
    match BLANKS.get(..count) {
        Some(blanks) => out.extend_from_slice(blanks),
        None => out.resize(out.len().saturating_add(count), b' '),
    }
}

/// Appends an event's name, given in pieces, with the colon and the padding after it.
#[inline]
pub(crate) fn push_event_name(out: &mut Vec<u8>, pieces: &[&[u8]]) {
    let mut length = 0;
    for piece in pieces {
        out.extend_from_slice(piece);
        length += piece.len();
    }
    out.extend_from_slice(b": ");
    push_padding(out, EVENT_WIDTH, length);
}

/// Appends the line about lost events of a CPU, without a newline; with their count, if it is known.
pub(crate) fn push_dropped(out: &mut Vec<u8>, cpu: u32, count: Option<u64>) {
    let count = count.map(|count| format!("{count} ")).unwrap_or_default();
    out.extend_from_slice(format!("CPU:{cpu} [{count}EVENTS DROPPED]").as_bytes());
}
