//! Lines of the build tracer in a text, because it writes through ftrace.

use crate::formats::etrace_lines::parse_line;

/// Returns whether the body of a line is a line of the build tracer, as printed by the kernel or trace-cmd.
#[inline]
pub(crate) fn is_etrace_call(body: &[u8]) -> bool {
    let may_be_call = match body.first() {
        Some(b'p') => body.starts_with(b"print:"),
        Some(b'b') => body.starts_with(b"bprint:"),
        Some(first) => first.is_ascii_digit(),
        None => false,
    };
    may_be_call && parse_line(body).is_some()
}
