//! One record of a batch in, its line in the report out.
//!
//! ```text
//!         comm-PID   [CPU] flags     time: NAME:                info
//!  %16s   -%-5d     [%03d] 5     %5u.%09u:  padded to 20
//! ```

use super::merge::{Batch, Line};
use super::setup::{Look, Lost, Setup};
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
        false => (16, name),
    };
    push_many(out, b' ', usize::saturating_sub(width, shown.len()));
    out.extend_from_slice(shown);
    out.push(b'-');
    let pid_start = out.len();
    push_signed(out, i64::from(line.pid));
    let pid_length = out.len() - pid_start;
    push_many(out, b' ', 5_usize.saturating_sub(pid_length));
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
        pad_left(out, start, 12);
    } else {
        out.push(b' ');
        push_time(out, line.time, times);
    }
    out.push(b':');
    if let Some(step) = step {
        out.push(b' ');
        out.extend_from_slice(step.as_bytes());
        push_many(out, b' ', 8_usize.saturating_sub(step.len()));
    }
    out.push(b' ');
    let name = decoder
        .kinds()
        .get(usize::from(kind))
        .map_or("", |kind| kind.format.name.as_str());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    push_many(out, b' ', 20_usize.saturating_sub(name.len()));
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
    // The text ends at its first NUL, and one line end at its end is removed.
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
    out.extend_from_slice(b"CPU:");
    push_decimal(out, u64::from(line.cpu));
    out.extend_from_slice(b" [");
    if let Some(count) = count {
        push_decimal(out, count);
        out.push(b' ');
    }
    out.extend_from_slice(b"EVENTS DROPPED]\n");
}
