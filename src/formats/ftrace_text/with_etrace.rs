//! etrace lines between other events of a text: the build tracer writes through ftrace, so its recording contains other
//! events if more are enabled.
//!
//! The text is read as usual; each block also collects its etrace lines, from which `formats::etrace_lines` builds calls.

use super::etrace_call::is_etrace_call;
use crate::base::{Strings, Timestamp};
use crate::event::{EventKind, KindId, ThreadKey};
use crate::formats::etrace_lines::{Found, Lines};
use crate::formats::ftrace_line::line::Plain;
use crate::formats::ftrace_line::prefix::Prefix;
use crate::formats::kind_table::Kinds;

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

/// Collects the etrace lines of a block while its events are read.
pub(super) struct EtraceLines<'a> {
    /// The whole text.
    text: &'a [u8],
    line_end: &'static [u8],
    found: Found,
    /// Whether events were lost before the next event.
    is_behind_hole: bool,
}

impl<'a> EtraceLines<'a> {
    /// Returns the state before the first line of a block of `text`, which is the whole text.
    #[must_use]
    pub(super) fn new(text: &'a [u8]) -> EtraceLines<'a> {
        EtraceLines {
            text,
            line_end: line_end(text),
            found: Found::default(),
            is_behind_hole: false,
        }
    }

    /// Adds the call of an event, if the event is one; `number` is the number of its line.
    pub(super) fn event(&mut self, event: &Prefix<'a>, number: u64) {
        let time = Timestamp(event.time);
        if std::mem::take(&mut self.is_behind_hole) {
            self.found.add_hole(time);
        }
        if !is_etrace_call(event.body) {
            return;
        }
        // Up to the newline: a CR before it may be the end of a name.
        let place = (event.body.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let rest = self.text.get(place..).unwrap_or(event.body);
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
        let body = rest.get(..length).unwrap_or(rest);
        let body = body.strip_suffix(self.line_end).unwrap_or(body);
        let writer = Some(ThreadKey(event.pid));
        self.found.add(body, Some(number), time, writer);
    }

    /// Notes a line without columns: events may have been lost before the next one.
    pub(super) fn plain(&mut self, plain: &Plain) {
        self.is_behind_hole |= matches!(plain, Plain::Lost(..));
    }

    /// Returns the lines; `end` is the time of the block's last event, in ns.
    #[must_use]
    pub(super) fn into_found(mut self, end: i64) -> Found {
        if self.is_behind_hole {
            self.found.add_hole(Timestamp(end));
        }
        self.found
    }
}

/// Returns, for each kind of call, its kind in the text.
#[must_use]
pub(crate) fn kinds_of(of_text: &Kinds, lines: &Lines) -> Vec<KindId> {
    let mut strings = Strings::default();
    let kinds = lines.kinds(&mut strings);
    let number = |kind: &EventKind| {
        let category = strings.text(kind.category);
        let name = strings.bytes(kind.name);
        of_text.intern(&category, name, kind.role)
    };
    kinds.iter().map(number).collect()
}
