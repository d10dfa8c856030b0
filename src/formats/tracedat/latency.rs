//! A trace.dat that contains the text of a latency tracer in place of events (`trace-cmd record -p wakeup_rt`): the
//! text is read as ftrace text and combined with the file's own facts and thread names.
//!
//! `formats::ftrace_text` parses the text.

use std::sync::Arc;

use super::TraceDat;
use crate::base::{Job, Location, ReadError, Severity};
use crate::event::{Directory, Part, TraceInfo};
use crate::formats::format::Input;
use crate::formats::ftrace_text;
use crate::formats::stream::{AnyStream, Gathered, IndependentParts, Recording, Shown};

/// Returns whether a file contains the text of a latency tracer and no events.
#[must_use]
pub(crate) fn has_only_text(reader: &TraceDat) -> bool {
    !reader.file().latency_texts.is_empty() && IndependentParts::parts(reader).is_empty()
}

/// Returns the recording of the text in the file.
///
/// # Errors
/// If the text cannot be opened or the job is cancelled.
pub(crate) fn of_text(reader: &Arc<TraceDat>, job: &Job) -> Result<Recording, ReadError> {
    let bare = TraceDat::recording(reader);
    let file = reader.file();
    let mut joined = Vec::new();
    for text in &file.latency_texts {
        let length = memchr::memchr(0, text).unwrap_or(text.len());
        joined.extend_from_slice(text.get(..length).unwrap_or(text));
        joined.push(b'\n');
    }
    let name = &file.input.file_name;
    let text = (ftrace_text::FORMAT.open)(Input::from_vec(joined, name), job)?;
    let mut info = bare.info;
    info.format.push_str(", latency text");
    info.clock_unit = text.info.clock_unit;
    info.wall_clock_zero_ns = None;
    info.facts.extend(text.info.facts.iter().cloned());
    let mut diagnostics = bare.diagnostics;
    diagnostics.note("latency_text", Severity::Info, Location::Byte(0), || {
        "the file contains the text of a latency tracer in place of events: its lines are shown"
            .into()
    });
    diagnostics.merge(text.diagnostics);
    Ok(Recording {
        stream: Arc::new(LatencyText {
            text: text.stream,
            known: reader.directory(),
            info: info.clone(),
        }),
        info,
        diagnostics,
        report: bare.report,
        ..text
    })
}

/// The events of the text, with facts and thread names from the file around it.
struct LatencyText {
    text: Arc<dyn AnyStream>,
    /// Thread names from the file's list.
    known: Directory,
    info: TraceInfo,
}

impl AnyStream for LatencyText {
    fn parts(&self) -> &[Part] {
        self.text.parts()
    }

    fn read_all(
        &self,
        steps: usize,
        job: &Job,
        show: &mut dyn FnMut(&[Shown<'_>]),
    ) -> Result<Gathered, ReadError> {
        let mut gathered = self.text.read_all(steps, job, show)?;
        let directory = &mut gathered.directory;
        // The text shows `<...>` for a thread whose name the kernel had forgotten; the file's list may contain the
        // name.
        for known in &self.known.threads {
            if directory.threads.iter().all(|it| it.key != known.key) {
                let mut thread = known.clone();
                thread.name = known
                    .name
                    .map(|name| directory.strings.intern(self.known.strings.bytes(name)));
                directory.threads.push(thread);
            }
        }
        gathered.info = self.info.clone();
        Ok(gathered)
    }
}
