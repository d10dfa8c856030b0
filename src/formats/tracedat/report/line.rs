//! Prints one record of a batch as its line in the report (`formats/ftrace_line/report_layout`).

use super::merge::{Batch, Line};
use super::setup::{Look, Lost, Setup};
use crate::formats::ftrace_line::report_layout::{
    COUNT_WIDTH, PID_WIDTH, STEP_WIDTH, TASK_WIDTH, push_dropped, push_event_name, push_padding,
};
use crate::formats::tracedat::decoder::{Memory, Raw, Style};
use crate::formats::tracedat::print_fmt::printf::pad_left;
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_hex, push_many, push_signed};
use crate::formats::tracedat::printed_time::{Times, push_time};

/// Appends the line of one record, preceded by a line about lost events. `step` is the text of the `--ts-diff` column.
pub(super) fn push_line(
    out: &mut Vec<u8>,
    batch: &Batch,
    line: &Line,
    setup: &Setup<'_>,
    look: Look,
    memory: &mut Memory,
    step: Option<&str>,
) {
    let decoder = setup.decoder;
    let bytes = batch.bytes.get(line.start..).unwrap_or(&[]);
    let (name, rest) = bytes
        .split_at_checked(line.name_length as usize)
        .unwrap_or_default();
    let (record, rest) = rest
        .split_at_checked(line.record_length as usize)
        .unwrap_or_default();
    let next = rest.get(..line.next_length as usize).unwrap_or(&[]);
    let buffer = setup.buffers.get(usize::from(line.buffer));
    if let Some(buffer) = buffer {
        out.extend_from_slice(&buffer.prefix);
    }
    let times = buffer.map_or(Times::Nanoseconds, |buffer| buffer.times);
    push_lost(out, line);
    let Some(kind) = line.kind else {
        let unknown = b"[UNKNOWN EVENT]";
        for _ in 0..if look.has_flags && look.style == Style::Plugins {
            3
        } else {
            2
        } {
            out.extend_from_slice(unknown);
        }
        out.extend_from_slice(b" (NULL):               ");
        out.extend_from_slice(unknown);
        out.push(b'\n');
        return;
    };
    let start = out.len();
    let (width, shown) = match look.has_latency_columns {
        true => (8, name.get(..8).unwrap_or(name)),
        false => (TASK_WIDTH, name),
    };
    push_padding(out, width, shown.len());
    out.extend_from_slice(shown);
    out.push(b'-');
    let pid_start = out.len();
    push_signed(out, i64::from(line.pid));
    let pid_length = out.len() - pid_start;
    push_padding(out, PID_WIDTH, pid_length);
    let padding = usize::from(line.cpu < 100) + usize::from(line.cpu < 10);
    match look.has_latency_columns {
        true => {
            push_many(out, b' ', 1 + padding);
            push_decimal(out, u64::from(line.cpu));
        }
        false => {
            out.extend_from_slice(b" [");
            push_many(out, b'0', padding);
            push_decimal(out, u64::from(line.cpu));
            out.push(b']');
        }
    }
    if look.has_flags {
        if matches!(look.style, Style::Raw(_)) {
            out.extend_from_slice(b"-0x");
            push_hex(out, decoder.flags_of(record));
        } else {
            if !look.has_latency_columns {
                out.push(b' ');
            }
            decoder.push_flags(out, record);
        }
    }
    if times == Times::Counts {
        let start = out.len();
        push_decimal(out, line.time);
        pad_left(out, start, COUNT_WIDTH);
    } else {
        out.push(b' ');
        push_time(out, line.time, times);
    }
    out.push(b':');
    if let Some(step) = step {
        out.push(b' ');
        out.extend_from_slice(step.as_bytes());
        push_padding(out, STEP_WIDTH, step.len());
    }
    out.push(b' ');
    let name = decoder
        .kinds()
        .get(usize::from(kind))
        .map_or("", |kind| kind.format.name.as_str());
    push_event_name(out, &[name.as_bytes()]);
    let raw = Raw {
        record,
        cpu: line.cpu,
        time: line.time,
        next: (!next.is_empty()).then_some(next),
        depth: line.depth,
    };
    let style = setup.styles.get(usize::from(kind)).copied();
    let style = style.unwrap_or(look.style);
    decoder.push_info(out, usize::from(kind), raw, style, times, memory);
    // The text ends at its first NUL, and one newline at its end is removed.
    if let Some(text) = out.get(start..)
        && let Some(length) = memchr::memchr(0, text)
    {
        out.truncate(start + length);
    } else if out.last() == Some(&b'\n') {
        out.pop();
    }
    out.push(b'\n');
}

fn push_lost(out: &mut Vec<u8>, line: &Line) {
    let count = match line.lost {
        Lost::None | Lost::Known(0) => return,
        Lost::Known(count) => Some(count),
        Lost::Unknown => None,
    };
    push_dropped(out, line.cpu, count);
    out.push(b'\n');
}
