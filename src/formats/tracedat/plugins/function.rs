//! The function tracer and the stack traces, of the system `ftrace`.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::event_format::read_number;
use crate::formats::tracedat::print_fmt::FunctionAt;
use crate::formats::tracedat::print_fmt::printf::{
    push_hex, push_hex_digits, push_many, push_signed,
};
use crate::formats::tracedat::printed_time::push_time;

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "ftrace",
        event: "function",
        fields: &["ip", "parent_ip"],
        show: show_function,
    },
    Plugin {
        system: "ftrace",
        event: "func_repeats",
        fields: &[
            "ip",
            "parent_ip",
            "count",
            "top_delta_ts",
            "bottom_delta_ts",
        ],
        show: show_repeats,
    },
    Plugin {
        system: "ftrace",
        event: "kernel_stack",
        fields: &["caller"],
        show: show_stack,
    },
    Plugin {
        system: "ftrace",
        event: "raw_data",
        fields: &["id", "buf"],
        show: show_raw_data,
    },
];

fn show_function(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(address) = event.require(out, 0) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    if event.require(out, 1).is_none() {
        out.push(b'!');
        return Then::PrintFmt;
    }
    if !event.functions.is_flat {
        push_many(out, b' ', event.depth as usize * 3);
    }
    push_function(out, event, address, state);
    if let Some(parent) = event.value(1).filter(|_| event.functions.shows_parent) {
        out.extend_from_slice(b" <-- ");
        push_function(out, event, parent, state);
    }
    Then::Done
}

/// Appends the function at `address`, with the offset in it if the user wants offsets.
fn push_function(out: &mut Vec<u8>, event: &Event<'_>, address: u64, state: &mut State<'_>) {
    state.functions.push(out, event.scope.lookup, address);
    if event.functions.shows_offset
        && let Some(FunctionAt { start, .. }) = event.function(address)
    {
        push_offset(out, event, address, start);
    }
}

/// Appends the offset of an address in the function that begins at `start`, if the user wants offsets.
fn push_offset(out: &mut Vec<u8>, event: &Event<'_>, address: u64, start: u64) {
    if event.functions.shows_offset {
        out.extend_from_slice(b"+0x");
        push_hex(out, address.wrapping_sub(start));
        // trace-cmd prints a space after it.
        out.push(b' ');
    }
}

fn show_repeats(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    show_function(out, event, state);
    let values = [2, 3, 4].map(|index| event.require(out, index));
    let [Some(count), Some(top), Some(bottom)] = values else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    out.extend_from_slice(b" (count: ");
    push_signed(out, count as i64);
    out.extend_from_slice(b"  last_ts: ");
    let time = event.time.wrapping_sub(top << 32 | bottom);
    push_time(out, time, event.times);
    out.push(b')');
    Then::Done
}

fn show_stack(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let Some(field) = event.field(0) else {
        out.extend_from_slice(b"<CANT FIND FIELD caller>");
        return Then::Done;
    };
    out.extend_from_slice(b"<stack trace >\n");
    let size = event.scope.long_size as usize;
    let frames = event
        .scope
        .record
        .get(field.offset as usize..)
        .unwrap_or(&[]);
    for frame in frames.chunks_exact(size.max(1)) {
        let address = read_number(frame, event.scope.endian).unwrap_or(u64::MAX);
        if (size == 8 && address == u64::MAX) || address as u32 == u32::MAX {
            break;
        }
        out.extend_from_slice(b"=> ");
        if let Some(FunctionAt { name, start }) = event.function(address) {
            out.extend_from_slice(name);
            push_offset(out, event, address, start);
            out.extend_from_slice(b" (");
            push_hex(out, address);
            out.extend_from_slice(b")\n");
        } else {
            push_hex(out, address);
            out.push(b'\n');
        }
    }
    Then::Done
}

fn show_raw_data(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let Some(id) = event.require(out, 0) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    out.extend_from_slice(b"# ");
    push_hex(out, id);
    let Some(field) = event.field(1) else {
        out.extend_from_slice(b"<CANT FIND FIELD buf>");
        return Then::Done;
    };
    let bytes = event.scope.record.get(field.offset as usize..);
    for &byte in bytes.unwrap_or(&[]) {
        out.push(b' ');
        push_hex_digits(out, u64::from(byte), 2);
    }
    Then::Done
}
