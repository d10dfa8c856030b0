//! Flushes of the translation lookaside buffer.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::printf::push_signed;

pub(super) const PLUGINS: &[Plugin] = &[Plugin {
    system: "tlb",
    event: "tlb_flush",
    fields: &["pages", "reason"],
    show,
}];

fn show(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    out.extend_from_slice(b"pages=");
    push_signed(out, event.value(0).unwrap_or(0) as i64);
    let Some(reason) = event.require(out, 1) else {
        return Then::PrintFmt;
    };
    out.extend_from_slice(b" reason=");
    out.extend_from_slice(match reason {
        0 => b"flush on task switch",
        1 => b"remote shootdown",
        2 => b"local shootdown",
        3 => b"local mm shootdown",
        _ => b"",
    });
    out.extend_from_slice(b" (");
    push_signed(out, reason as i64);
    out.push(b')');
    Then::Done
}
