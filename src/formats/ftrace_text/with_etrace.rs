//! etrace lines between other events of a text: the build tracer writes through ftrace, so its recording contains other
//! events if more are enabled.
//!
//! The text is read as usual; each block also collects its etrace lines, from which `formats::etrace_lines` builds calls.

use super::etrace_call::is_etrace_call;
use super::event_lines::{EventLine, LineKind, event_lines};
use super::reader::{Block, FtraceReader};
use crate::base::{Strings, Timestamp};
use crate::event::{EventKind, KindId, ThreadKey};
use crate::formats::etrace_lines::{Found, Lines};
use crate::formats::ftrace_line::line::Plain;

/// Number of lines in which a text's line ends are detected.
const LINES_OF_ENDS: usize = 64;

/// Returns the line end of a text: CR LF if all of its first lines end in CR LF.
fn line_end(text: &[u8]) -> &'static [u8] {
    let mut first = text
        .split_inclusive(|byte| *byte == b'\n')
        .take(LINES_OF_ENDS);
    match first.all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n")) {
        true => b"\r\n",
        false => b"\n",
    }
}

/// Collects the etrace lines of a block.
#[must_use]
pub(crate) fn lines_in(reader: &FtraceReader, block: &Block) -> Found {
    let (all, base) = (reader.input.bytes(), block.range.start as u64);
    let text = all.get(block.range.clone());
    let line_end = line_end(all);
    let mut found = Found::default();
    let mut last = block.last;
    let mut is_behind_hole = false;
    let text = text.unwrap_or(&[]);
    for EventLine { line, kind } in event_lines(text, block.first_line, base, &reader.facts) {
        let LineKind::Event(prefix) = kind else {
            is_behind_hole |= matches!(kind, LineKind::Other(Plain::Lost(..)));
            continue;
        };
        // Every line must be spread, so that times equal those in the lanes of the CPUs.
        let time = last.spread(&prefix);
        if std::mem::take(&mut is_behind_hole) {
            found.add_hole(Timestamp(time));
        }
        if !is_etrace_call(prefix.body) {
            continue;
        }
        // Up to the newline: a CR before it may be the end of a name.
        let place = (prefix.body.as_ptr() as usize).saturating_sub(all.as_ptr() as usize);
        let rest = all.get(place..).unwrap_or(prefix.body);
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
        let body = rest.get(..length).unwrap_or(rest);
        let body = body.strip_suffix(line_end).unwrap_or(body);
        let writer = Some(ThreadKey(prefix.pid));
        found.add(body, Some(line.number), Timestamp(time), writer);
    }
    if is_behind_hole {
        found.add_hole(Timestamp(last.time));
    }
    found
}

/// Returns, for each kind of call, its kind in the text.
#[must_use]
pub(crate) fn kinds_of(reader: &FtraceReader, lines: &Lines) -> Vec<KindId> {
    let mut strings = Strings::default();
    let kinds = lines.kinds(&mut strings);
    let number = |kind: &EventKind| {
        let category = strings.text(kind.category);
        let name = strings.bytes(kind.name);
        reader.kinds.intern(&category, name, kind.role)
    };
    kinds.iter().map(number).collect()
}
