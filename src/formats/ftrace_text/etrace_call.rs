//! Lines of the build tracer in a text, because it writes through ftrace.

use crate::formats::etrace_lines::parse_line;

/// Returns whether the body of a line is a line of the build tracer, as printed by the kernel or trace-cmd.
#[inline]
pub(crate) fn is_etrace_call(body: &[u8]) -> bool {
    let is_print = body.starts_with(b"print:") || body.starts_with(b"bprint:");
    (is_print || body.first().is_some_and(u8::is_ascii_digit)) && parse_line(body).is_some()
}
