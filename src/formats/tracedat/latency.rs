//! A trace.dat that holds the text of a latency tracer in place of events (`trace-cmd record -p wakeup_rt`):
//! its text read as ftrace text, with what the file says of itself beside it.
//!
//! Does not read any text itself: that is `formats::ftrace_text`, to which lanes, parts and events are handed on.

use super::TraceDat;
use crate::base::{Diagnostics, Job, Location, ReadError, Severity};
use crate::event::{
    Coarse, Directory, EventDetail, Field, FieldRef, Lane, LaneColumns, Part, TraceInfo, Value,
};
use crate::formats::format::{BoxedReader, EventRef, Input, Reader, Report};
use crate::formats::ftrace_text;

/// A trace.dat whose events are lines of text.
struct LatencyTrace {
    file: TraceDat,
    text: BoxedReader,
    info: TraceInfo,
}

/// The reader for what `file` holds: of its text if it has no events of its own, else the file's.
///
/// # Errors
/// If the job was cancelled.
pub fn reader_for(file: TraceDat, job: &Job) -> Result<BoxedReader, ReadError> {
    let texts = &file.file().latency_texts;
    if texts.is_empty() || !file.parts().is_empty() {
        return Ok(Box::new(file));
    }
    let mut joined = Vec::new();
    for text in texts {
        let length = memchr::memchr(0, text).unwrap_or(text.len());
        joined.extend_from_slice(text.get(..length).unwrap_or(text));
        joined.push(b'\n');
    }
    let name = &file.file().input.file_name;
    let text = (ftrace_text::FORMAT.open)(Input::from_vec(joined, name), job)?;
    let mut info = file.info().clone();
    info.format.push_str(", latency text");
    info.clock_unit = text.info().clock_unit;
    info.wall_clock_zero_ns = None;
    info.facts.extend(text.info().facts.iter().cloned());
    Ok(Box::new(LatencyTrace { file, text, info }))
}

impl Reader for LatencyTrace {
    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn lanes(&self) -> &[Lane] {
        self.text.lanes()
    }

    fn parts(&self) -> &[Part] {
        self.text.parts()
    }

    fn coarse(&self) -> Coarse {
        self.text.coarse()
    }

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        self.text.read_part(part, job)
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        self.text.settle(parts)
    }

    fn directory(&self) -> Directory {
        let mut directory = self.text.directory();
        let known = self.file.directory();
        // Lines say `<...>` of a thread whose name the kernel had forgotten; the file's list may have it.
        for mut thread in known.threads {
            if directory.threads.iter().all(|it| it.key != thread.key) {
                thread.name = thread
                    .name
                    .map(|name| directory.strings.intern(known.strings.bytes(name)));
                directory.threads.push(thread);
            }
        }
        directory
    }

    fn diagnostics(&self) -> Diagnostics {
        let mut all = self.file.diagnostics();
        all.note("latency_text", Severity::Info, Location::Byte(0), || {
            "the file holds the text of a latency tracer in place of events: its lines are shown"
                .into()
        });
        all.merge(self.text.diagnostics());
        all
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        self.text.describe(event)
    }

    fn fields(&self, event: EventRef) -> Vec<Field> {
        self.text.fields(event)
    }

    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        self.text.fields_into(event, fields);
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        self.text.value(event, name)
    }

    fn report(&self) -> Option<&dyn Report> {
        self.file.report()
    }

    fn memory_bytes(&self) -> u64 {
        let texts = self.file.file().latency_texts.iter();
        let text_bytes: usize = texts.map(Vec::len).sum();
        self.file.memory_bytes() + self.text.memory_bytes() + text_bytes as u64
    }
}
