//! Lines of etrace among other events of a text: the build tracer writes through ftrace, so whoever reads
//! `trace_pipe` with more events enabled gets both.
//!
//! The text is read as it is; after its own parts comes one more, which has the calls that the lines belong to.

use std::sync::OnceLock;

use rayon::prelude::*;

use super::event_lines::{EventLine, LineKind, event_lines};
use super::line::Plain;
use super::{Block, FtraceReader};
use crate::base::{Diagnostics, Job, ReadError, Timestamp};
use crate::event::keys::{Derive, OpenPaths};
use crate::event::{
    Coarse, Directory, EventDetail, EventKind, KindId, Lane, LaneColumns, Part, ThreadKey,
    TraceInfo, Value,
};
use crate::formats::etrace::{Found, Lines, parse_line};
use crate::formats::format::BoxedReader;
use crate::formats::{EventRef, Reader, Report};

/// So many lines tell how the lines of a text end.
const LINES_OF_ENDS: usize = 64;

/// A text with lines of etrace in it.
#[derive(Debug)]
struct WithEtrace {
    inner: FtraceReader,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    found: OnceLock<Lines>,
    /// What stands at the end of its lines.
    line_end: &'static [u8],
}

/// A text as it is, or with the calls that its lines of etrace tell of.
pub fn with_its_etrace(inner: FtraceReader) -> BoxedReader {
    if !inner.has_etrace {
        return Box::new(inner);
    }
    let mut lanes = inner.lanes.clone();
    lanes.push(Lane {
        name: "etrace lines".to_owned(),
        cpu: None,
    });
    let mut parts = inner.parts.clone();
    parts.push(Part {
        lane: lanes.len() as u32 - 1,
        size_bytes: inner.input.bytes().len() as u64,
    });
    Box::new(WithEtrace {
        line_end: line_end(inner.input.bytes()),
        inner,
        lanes,
        parts,
        found: OnceLock::new(),
    })
}

/// How the first lines of a text end: in a text of lines with CR LF all of them do.
fn line_end(text: &[u8]) -> &'static [u8] {
    let mut first = text
        .split_inclusive(|byte| *byte == b'\n')
        .take(LINES_OF_ENDS);
    match first.all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n")) {
        true => b"\r\n",
        false => b"\n",
    }
}

/// Whether the body of a line is one of the build tracer's, as the kernel or trace-cmd prints it.
#[inline]
pub fn is_call(body: &[u8]) -> bool {
    let is_print = body.starts_with(b"print:") || body.starts_with(b"bprint:");
    (is_print || body.first().is_some_and(u8::is_ascii_digit)) && parse_line(body).is_some()
}

impl WithEtrace {
    fn own_part(&self) -> u32 {
        self.parts.len() as u32 - 1
    }

    fn collect(&self, job: &Job) -> Result<Lines, ReadError> {
        let blocks: Vec<Found> = self
            .inner
            .blocks
            .par_iter()
            .map(|block| {
                job.check()?;
                let found = self.found_in(block);
                job.advance(block.range.len() as u64);
                Ok(found)
            })
            .collect::<Result<_, ReadError>>()?;
        let mut all = Found::default();
        for found in blocks {
            all.append(found);
        }
        Ok(all.lines())
    }

    fn found_in(&self, block: &Block) -> Found {
        let (all, base) = (self.inner.input.bytes(), block.range.start as u64);
        let text = all.get(block.range.clone());
        let mut found = Found::default();
        let mut last = block.last;
        let mut is_behind_hole = false;
        let text = text.unwrap_or(&[]);
        for EventLine { line, kind } in event_lines(text, block.first_line, base, &self.inner.facts)
        {
            let LineKind::Event(prefix) = kind else {
                is_behind_hole |= matches!(kind, LineKind::Other(Plain::Lost(..)));
                continue;
            };
            // Each line counts: those of one microsecond lie apart as in the lanes of their CPUs.
            let time = last.spread(&prefix);
            if std::mem::take(&mut is_behind_hole) {
                found.add_hole(Timestamp(time));
            }
            if !is_call(prefix.body) {
                continue;
            }
            // Up to the line's end: it may be that of a name.
            let place = (prefix.body.as_ptr() as usize).saturating_sub(all.as_ptr() as usize);
            let rest = all.get(place..).unwrap_or(prefix.body);
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
            let body = rest.get(..length).unwrap_or(rest);
            let body = body.strip_suffix(self.line_end).unwrap_or(body);
            let writer = ThreadKey(prefix.pid);
            found.add(body, Some(line.number), Timestamp(time), writer);
        }
        if is_behind_hole {
            found.add_hole(Timestamp(last.time));
        }
        found
    }

    /// Kinds of the text are found while it is read: calls get theirs among them.
    fn kinds_of(&self, lines: &Lines) -> Vec<KindId> {
        let mut strings = crate::base::Strings::default();
        let kinds = lines.kinds(&mut strings);
        let number = |kind: &EventKind| {
            let category = strings.text(kind.category);
            let name = strings.bytes(kind.name);
            self.inner.kinds.intern(&category, name, kind.role)
        };
        kinds.iter().map(number).collect()
    }

    fn own(&self, event: EventRef) -> Option<&Lines> {
        self.found.get().filter(|_| event.part == self.own_part())
    }
}

impl Reader for WithEtrace {
    fn info(&self) -> &TraceInfo {
        self.inner.info()
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        self.inner.coarse()
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        if part != self.own_part() {
            return self.inner.read_part(part, job);
        }
        let read = self.collect(job)?;
        let lines = self.found.get_or_init(|| read);
        let mut columns = lines.columns()?;
        let kinds = self.kinds_of(lines);
        for index in 0..columns.events.len() as u32 {
            let kind = kinds.get(usize::from(columns.events.kind(index).0));
            columns
                .events
                .set_kind(index, kind.copied().unwrap_or(KindId(0)));
        }
        Ok(columns)
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        let own = self.inner.parts.len().min(parts.len());
        let mut diagnostics = match parts.get_mut(..own) {
            Some(parts) => self.inner.settle(parts),
            None => Diagnostics::default(),
        };
        if let Some(lines) = self.found.get() {
            let kinds = self.kinds_of(lines);
            let kind = |kind: KindId| kinds.get(usize::from(kind.0)).copied().unwrap_or(KindId(0));
            diagnostics.merge(Lines::settle(parts, own, &kind));
        }
        diagnostics
    }

    fn directory(&self) -> Directory {
        let mut directory = Directory {
            derive: Derive::Programs,
            opens: OpenPaths::Resolved,
            ..self.inner.directory()
        };
        if let Some(lines) = self.found.get() {
            lines.environments_into(&mut directory);
        }
        directory
    }

    fn diagnostics(&self) -> Diagnostics {
        self.inner.diagnostics()
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        match self.own(event) {
            Some(lines) => lines.describe(event),
            None => self.inner.describe(event),
        }
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        match self.own(event) {
            Some(lines) => {
                let fields = lines.describe(event).fields;
                let field = fields.into_iter().find(|field| field.name == name)?;
                Some(field.value)
            }
            None => self.inner.value(event, name),
        }
    }

    fn report(&self) -> Option<&dyn Report> {
        Some(&self.inner)
    }

    fn memory_bytes(&self) -> u64 {
        self.inner.memory_bytes() + self.found.get().map_or(0, Lines::memory_bytes)
    }
}
