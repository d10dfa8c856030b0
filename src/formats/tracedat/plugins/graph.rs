//! The function graph tracer: calls as a tree with durations.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::event_format::read_number;
use crate::formats::tracedat::kind::Kind;
use crate::formats::tracedat::print_fmt::FunctionAt;
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_hex, push_many, push_signed};

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "ftrace",
        event: "funcgraph_entry",
        fields: &["func", "depth"],
        show: show_entry,
    },
    Plugin {
        system: "ftrace",
        event: "funcgraph_exit",
        fields: &["func", "depth", "calltime", "rettime"],
        show: show_exit,
    },
];

/// Maximum depth of a call that increases the indentation.
const MAX_DEPTH: u64 = 512;

fn show_entry(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(function) = event.require(out, 0) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    let duration = leaf_duration(event, function);
    match duration {
        Some(duration) => {
            state.has_taken_next = true;
            push_overhead(out, duration);
            push_duration(out, duration);
        }
        None => out.extend_from_slice(b"             |  "),
    }
    let Some(depth) = event.require(out, 1) else {
        out.push(b'!');
        return Then::Done;
    };
    push_indent(out, depth);
    match event.function(function) {
        Some(called) => out.extend_from_slice(called.name),
        None => push_hex(out, function),
    }
    out.extend_from_slice(if duration.is_some() { b"();" } else { b"() {" });
    push_depth(out, event, depth);
    Then::Done
}

/// Returns the duration of the call if the next record is its return; otherwise `None`.
fn leaf_duration(event: &Event<'_>, function: u64) -> Option<u64> {
    let exit = event.graph_exit?;
    let next = event.next?;
    let field = |kind: &Kind, name: &str, record: &[u8]| {
        let field = kind.format.field(name)?;
        let offset = field.offset as usize;
        let end = offset.checked_add(field.size as usize)?;
        read_number(record.get(offset..end)?, event.scope.endian)
    };
    let is_exit = field(exit, "common_type", next)? == u64::from(exit.format.id);
    let is_same_thread =
        field(exit, "common_pid", next)? == field(event.kind, "common_pid", event.scope.record)?;
    let is_same_function = field(exit, "func", next)? == function;
    if !(is_exit && is_same_thread && is_same_function) {
        return None;
    }
    let end = field(exit, "rettime", next)?;
    Some(end.wrapping_sub(field(exit, "calltime", next)?))
}

fn show_exit(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let (Some(end), Some(start)) = (event.require(out, 3), event.require(out, 2)) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    let duration = end.wrapping_sub(start);
    push_overhead(out, duration);
    push_duration(out, duration);
    let Some(depth) = event.require(out, 1) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    push_indent(out, depth);
    out.push(b'}');
    if event.functions.shows_tail
        && let Some(address) = event.value(0)
        && let Some(FunctionAt { name, .. }) = event.function(address)
    {
        out.extend_from_slice(b" /* ");
        out.extend_from_slice(name);
        out.extend_from_slice(b" */");
    }
    push_depth(out, event, depth);
    Then::Done
}

fn push_depth(out: &mut Vec<u8>, event: &Event<'_>, depth: u64) {
    if event.functions.shows_depth {
        out.extend_from_slice(b" (");
        push_signed(out, i64::from(depth as u32 as i32));
        out.push(b')');
    }
}

fn push_indent(out: &mut Vec<u8>, depth: u64) {
    // The depth is an int; a negative depth is not indented.
    let depth = u64::try_from(depth as u32 as i32).unwrap_or(0);
    push_many(out, b' ', depth.min(MAX_DEPTH) as usize * 2);
}

fn push_overhead(out: &mut Vec<u8>, duration: u64) {
    out.extend_from_slice(match duration {
        u64::MAX => b"  ",
        1_000_000_001.. => b"$ ",
        1_000_001.. => b"# ",
        100_001.. => b"! ",
        10_001.. => b"+ ",
        _ => b"  ",
    });
}

fn push_duration(out: &mut Vec<u8>, duration: u64) {
    let start = out.len();
    push_decimal(out, duration / 1000);
    if out.len() - start < 7 {
        out.push(b'.');
        let rest = duration % 1000;
        push_many(out, b'0', usize::from(rest < 100) + usize::from(rest < 10));
        push_decimal(out, rest);
    }
    let length = out.len() - start;
    out.extend_from_slice(b" us ");
    push_many(out, b' ', 7_usize.saturating_sub(length));
    out.extend_from_slice(b"|  ");
}
