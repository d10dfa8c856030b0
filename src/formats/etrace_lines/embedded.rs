//! etrace lines in another recording, as texts of its `print` events: the tracer writes through ftrace, so a trace.dat
//! of the same time contains the tracer's lines together with scheduler events.
//!
//! The recording is read as usual, and each part collects its etrace lines ([`Found`]). One further part follows the
//! recording's own parts; it sorts the lines of all CPUs by time and reads them as one etrace text. Tasks are those of
//! the recording, by pid (if upids contain no pid, by the writer of the line), and times are those of the print events,
//! because the recording's clock may differ from the clock in the lines. Both the print event and the call to which its
//! text belongs are events.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};

use super::describe;
use super::file::{File, PART_BYTES, cut};
use super::gather::assemble;
use super::line::{Word, parse_line};
use super::lines::HOLE;
use super::reordered::Reordered;
use super::tokens::{Tokens, tokenise};
use super::upids::{Form, Upids};
use crate::base::column::{self, Column};
use crate::base::{Cancelled, Job, ReadError, Strings, Timestamp};
use crate::event::keys::{Derive, OpenPaths};
use crate::event::{DecodedEvent, EventKind, Gap, KindId, Lane, Need, PartColumns, ThreadKey};
use crate::formats::{EventRef, Gathered, Input};

/// The name of the text.
const NAME: &str = "etrace lines";
/// Number of lines that are copied between two checks of the job.
const LINES_BETWEEN_CHECKS: usize = 1 << 12;

/// A line of etrace.
#[derive(Debug)]
struct Line {
    time: i64,
    /// Whether the line is an event; a gap is sorted before the events with the same time.
    is_event: bool,
    /// Line number in the text that contains it; 0 if there is none.
    number: u64,
    text: Vec<u8>,
}

/// A thread that wrote a line of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Writer {
    /// The time of the line, in ns.
    time: i64,
    thread: ThreadKey,
}

/// Collects the etrace lines of another recording.
#[derive(Debug, Default)]
pub(crate) struct Found {
    lines: Vec<Line>,
    has_pids: bool,
    /// Time and thread of the first line of each upid.
    writers: FxHashMap<i64, Writer>,
}

impl Found {
    /// Adds `line`, written by `thread` at `time`, if it contains an event; `number` is its line number in a text.
    /// Except for a newline at its end, the line must be exactly the tracer's.
    pub(crate) fn add(
        &mut self,
        line: &[u8],
        number: Option<u64>,
        time: Timestamp,
        thread: Option<ThreadKey>,
    ) {
        let mut rest = line.strip_suffix(b"\n").unwrap_or(line);
        while let Some(payload) = parse_line(rest) {
            self.has_pids |= Upids::form_of(payload.upid) == Form::SerialAndPid;
            if let Some(thread) = thread {
                let writer = Writer {
                    time: time.0,
                    thread,
                };
                self.note_writer(payload.upid, writer);
            }
            let at = (payload.tag.as_ptr() as usize).saturating_sub(rest.as_ptr() as usize);
            // If the tracer omitted the line end, another event follows.
            let next = match payload.word {
                Word::ContEnd => payload.text,
                _ => &[],
            };
            let body = rest.get(at..rest.len() - next.len()).unwrap_or(&[]);
            let (seconds, nanos) = (
                time.0.div_euclid(1_000_000_000).max(0),
                time.0.rem_euclid(1_000_000_000),
            );
            let head = format!("0: {},{},{seconds},{nanos}!", payload.upid, payload.cpu);
            self.lines.push(Line {
                time: time.0,
                is_event: true,
                number: number.unwrap_or(0),
                text: [head.as_bytes(), body].concat(),
            });
            rest = next;
        }
    }

    /// Adds a gap: events were lost before `time`.
    pub(crate) fn add_hole(&mut self, time: Timestamp) {
        self.lines.push(Line {
            time: time.0,
            is_event: false,
            number: 0,
            text: HOLE.to_vec(),
        });
    }

    fn note_writer(&mut self, upid: i64, writer: Writer) {
        let known = self.writers.entry(upid).or_insert(writer);
        *known = writer.min(*known);
    }

    /// Adds the lines that were found elsewhere.
    pub(crate) fn append(&mut self, mut other: Found) {
        self.lines.append(&mut other.lines);
        self.has_pids |= other.has_pids;
        for (upid, writer) in other.writers {
            self.note_writer(upid, writer);
        }
    }

    /// Returns all lines in time order; lines with equal times are in the order in which they were added.
    ///
    /// # Errors
    /// If the job is cancelled.
    pub(crate) fn lines(mut self, job: &Job) -> Result<Lines, Cancelled> {
        (self.lines).sort_by_key(|line| (line.time, line.is_event));
        let size = self.lines.iter().map(|line| line.text.len() + 1).sum();
        let mut text = Vec::with_capacity(size);
        let mut numbers = Vec::with_capacity(self.lines.len());
        for (number, line) in self.lines.into_iter().enumerate() {
            if number % LINES_BETWEEN_CHECKS == 0 {
                job.check()?;
            }
            text.extend_from_slice(&line.text);
            text.push(b'\n');
            numbers.push(line.number);
        }
        let upids = if self.has_pids {
            Upids::of_pids(Form::SerialAndPid, FxHashMap::default())
        } else {
            let writers = self.writers.into_iter();
            let known = writers.map(|(upid, writer)| (upid, writer.thread.0));
            Upids::of_pids(Form::Plain, known.collect())
        };
        job.check()?;
        let cuts = cut(&text, PART_BYTES);
        let input = Input::from_vec(text, NAME);
        Ok(Lines(File {
            numbers: Some(numbers),
            is_copy: true,
            ..File::new(input, cuts, upids)
        }))
    }
}

/// The etrace lines of another recording as a text. In a model file they are what decoding their calls takes.
#[derive(Debug, Deserialize)]
#[serde(from = "Stored")]
pub(crate) struct Lines(File);

#[derive(Deserialize)]
struct Stored {
    text: Column<u8>,
    order: Option<Reordered>,
    form: Form,
    pids: FxHashMap<i64, u32>,
}

/// The same as [`Stored`], for writing.
#[derive(Serialize)]
struct StoredRef<'a> {
    #[serde(serialize_with = "column::checked::serialize")]
    text: &'a [u8],
    order: Option<&'a Reordered>,
    form: Form,
    pids: &'a FxHashMap<i64, u32>,
}

impl From<Stored> for Lines {
    fn from(stored: Stored) -> Lines {
        let cuts = cut(&stored.text, PART_BYTES);
        let input = Input::new(Arc::new(stored.text), NAME.to_owned());
        let file = File::new(input, cuts, Upids::of_pids(stored.form, stored.pids));
        Lines(File {
            order: stored.order.map(OnceLock::from).unwrap_or_default(),
            ..file
        })
    }
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Lines(file) = self;
        let stored = StoredRef {
            text: file.text(),
            order: file.order.get(),
            form: file.upids.form(),
            pids: file.upids.pids(),
        };
        stored.serialize(serializer)
    }
}

impl Lines {
    /// Returns the kinds of the calls.
    #[must_use]
    pub(crate) fn kinds(&self, strings: &mut Strings) -> Vec<EventKind> {
        self.0.kinds.list(strings)
    }

    /// Adds the calls to `gathered`, which contains the other parts of the recording, as part number `part` in a lane
    /// of its own. `kinds` contains the recording's kind for each of [`Lines::kinds`].
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    pub(crate) fn add_to(
        &self,
        gathered: &mut Gathered,
        part: u32,
        kinds: &[KindId],
        job: &Job,
    ) -> Result<(), ReadError> {
        let kind_of = |kind: KindId| kinds.get(kind.index()).copied().unwrap_or_default();
        let file = &self.0;
        let read: Vec<Result<Tokens, ReadError>> = (0..file.cuts.len() - 1)
            .into_par_iter()
            .map(|part| tokenise(file, part, job))
            .collect();
        let read = read
            .into_iter()
            .collect::<Result<Vec<Tokens>, ReadError>>()?;
        let gaps = gathered.parts.iter().flat_map(|part| &part.columns.gaps);
        let gaps: Vec<Gap> = gaps.copied().collect();
        let assembled = assemble(file, read, &gaps, 1, job)?;
        for mut columns in assembled.parts {
            for index in 0..columns.events.len() as u32 {
                let kind = kind_of(columns.events.kind(index));
                columns.events.set_kind(index, kind);
            }
            gathered.parts.push(PartColumns {
                part,
                lane: gathered.lanes.len() as u32,
                columns,
            });
        }
        gathered.lanes.push(Lane {
            name: NAME.to_owned(),
            cpu: None,
        });
        gathered.diagnostics.merge(assembled.doubts);
        gathered.directory.derive = Derive::Programs;
        gathered.directory.opens = OpenPaths::Resolved;
        let environments = &assembled.environments;
        environments.list_into(&file.upids, &mut gathered.directory);
        Ok(())
    }

    /// Decodes the parts of one call that `need` requests.
    pub(crate) fn decode<'a>(
        &'a self,
        event: EventRef,
        need: Need<'_>,
        decoded: &mut DecodedEvent<'a>,
    ) {
        describe::decode(&self.0, event, need, decoded);
    }

    /// Returns the heap memory of the text and the line numbers, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes()
    }
}
