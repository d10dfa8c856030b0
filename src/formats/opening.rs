//! Opens a file of a format by reading its head. If the file contains a recording of another format instead of events
//! of its own, reads the head of that recording, and joins it with the facts of the outer file.

use std::sync::Arc;

use super::FORMATS;
use super::format::{Format, Input, Sniff};
use super::stream::{AnyStream, Gathered, KeptFacts, Recording, Shown};
use crate::base::{Job, ReadError};
use crate::event::{Coarse, Directory, Part, TraceInfo};
use crate::trace::Trace;

/// Number of bytes of an inner recording in which its format is detected.
const HEAD_BYTES: usize = 64 * 1024;

impl Format {
    /// Opens a file: reads its head.
    ///
    /// # Errors
    /// If the file cannot be read as a file of this format, or the job is cancelled.
    pub fn open(&self, input: Input, job: &Job) -> Result<Recording, ReadError> {
        let mut around = (self.read_head)(input, job)?;
        let Some(instead) = around.instead.take() else {
            return Ok(around);
        };
        let bytes = instead.input.bytes();
        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
        match most_certain(head) {
            Some(format) => {
                let carried = (format.read_head)(instead.input, job)?;
                Ok(joined(around, carried, instead.name, instead.known))
            }
            None => Ok(around),
        }
    }
}

/// Returns the format that recognises these first bytes of a file with the highest certainty; `None` if no format
/// accepts them.
#[must_use]
pub(crate) fn most_certain(head: &[u8]) -> Option<&'static Format> {
    let formats = FORMATS.iter().rev();
    let best = formats.max_by_key(|format| (format.sniff)(head));
    best.filter(|format| (format.sniff)(head) != Sniff::No)
}

/// Returns the recording `carried`, with the facts, the diagnostics and the report of the outer file `around`.
fn joined(
    around: Recording,
    carried: Recording,
    name: &'static str,
    known: Directory,
) -> Recording {
    let mut info = around.info;
    info.format = format!("{}, {name}", info.format);
    info.clock_unit = carried.info.clock_unit;
    info.wall_clock_zero_ns = None;
    info.facts.extend(carried.info.facts.iter().cloned());
    let mut diagnostics = around.diagnostics;
    diagnostics.merge(carried.diagnostics);
    Recording {
        stream: Arc::new(Carried {
            stream: carried.stream,
            known,
            info: info.clone(),
        }),
        info,
        diagnostics,
        report: around.report,
        ..carried
    }
}

/// The events of the inner recording, with facts and thread names of the outer file.
struct Carried {
    stream: Arc<dyn AnyStream>,
    /// Threads that the outer file names.
    known: Directory,
    info: TraceInfo,
}

impl AnyStream for Carried {
    fn parts(&self) -> &[Part] {
        self.stream.parts()
    }

    fn coarse(&self) -> Coarse {
        self.stream.coarse()
    }

    fn read_all(
        &self,
        steps: usize,
        job: &Job,
        show: &mut dyn FnMut(&[Shown<'_>]),
    ) -> Result<Gathered, ReadError> {
        let mut gathered = self.stream.read_all(steps, job, show)?;
        let directory = &mut gathered.directory;
        // ftrace's text shows `<...>` for a thread whose name the kernel no longer had; the list of names in the outer
        // file may contain the name.
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

    fn facts(&self) -> Option<Vec<u8>> {
        self.stream.facts()
    }

    fn take_facts(&self, facts: &KeptFacts, trace: &Trace) -> Option<()> {
        self.stream.take_facts(facts, trace)
    }
}
