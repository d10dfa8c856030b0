//! High-resolution timers.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::FunctionAt;
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_hex, push_hex_digits};

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "timer",
        event: "hrtimer_expire_entry",
        fields: &["timer", "hrtimer", "function", "now"],
        show: show_expire,
    },
    Plugin {
        system: "timer",
        event: "hrtimer_start",
        fields: &["timer", "hrtimer", "function", "expires", "softexpires"],
        show: show_start,
    },
];

fn show_expire(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    push_timer(out, event);
    out.extend_from_slice(b" now=");
    push_decimal(out, event.value(3).unwrap_or(0));
    push_function(out, event);
    Then::Done
}

fn show_start(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    push_timer(out, event);
    push_function(out, event);
    out.extend_from_slice(b" expires=");
    push_decimal(out, event.value(3).unwrap_or(0));
    out.extend_from_slice(b" softexpires=");
    push_decimal(out, event.value(4).unwrap_or(0));
    Then::Done
}

fn push_timer(out: &mut Vec<u8>, event: &Event<'_>) {
    out.extend_from_slice(b"hrtimer=0x");
    push_hex(out, event.value(0).or(event.value(1)).unwrap_or(0));
}

fn push_function(out: &mut Vec<u8>, event: &Event<'_>) {
    let Some(address) = event.value(2) else {
        return;
    };
    out.extend_from_slice(b" function=");
    if let Some(FunctionAt { name, start }) = event.function(address) {
        out.extend_from_slice(name);
        out.extend_from_slice(b"/0x");
        // The difference is negated, as in trace-cmd.
        push_hex(out, start.wrapping_sub(address));
    } else {
        out.extend_from_slice(b"0x");
        let digits = 16 - address.leading_zeros() as usize / 4;
        push_hex_digits(out, address, digits.max(8));
    }
}
