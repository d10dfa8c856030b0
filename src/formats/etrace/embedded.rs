//! Lines of etrace that lie in another recording, as the texts of its `print` events: the tracer writes through
//! ftrace, so a trace.dat of the same time has its lines beside scheduler events.
//!
//! The recording is read as it is; after its own parts comes one more, which goes through the texts of all CPUs in
//! time order and reads them as one etrace text (`ftrace_text` does the same with the lines of a text). Tasks are the
//! recording's own, by their pids (where upids have no pid in them, by whose line it was), and times are those of
//! the print events: the recording's clock need not be the one in the lines. Both the print event and the call that
//! its text belongs to are events.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use rustc_hash::FxHashMap;

use super::describe;
use super::emit;
use super::environment;
use super::file::{File, HOLE, LineCounts};
use super::head::Head;
use super::jumbled::Jumbled;
use super::kinds::Kinds;
use super::line::{Word, parse_line};
use super::lost_pairs;
use super::sorts::Sort;
use super::upids::{Form, Upids};
use crate::base::{Diagnostics, Job, ReadError, Strings, Timestamp};
use crate::event::keys::{Derive, OpenPaths};
use crate::event::{
    Coarse, Directory, EventDetail, EventKind, Field, FieldRef, KindId, Lane, LaneColumns, Part,
    ThreadKey, TraceInfo, Value,
};
use crate::formats::format::BoxedReader;
use crate::formats::{EventRef, Input, Reader, Report};

/// Appends the text of a print event to the bytes, as the tracer wrote it.
pub type Texts = Box<dyn Fn(EventRef, &mut Vec<u8>) + Send + Sync>;

/// A recording with lines of etrace in it.
struct WithEtrace {
    inner: BoxedReader,
    /// The kinds of `inner` whose texts may be lines.
    prints: Vec<KindId>,
    texts: Texts,
    /// The first kind of calls: behind those of `inner`.
    first_kind: u16,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    text: OnceLock<Lines>,
}

/// `inner` with the calls that `texts` of its events of kinds `prints` hold. Its directory must be known already.
#[must_use]
pub fn with_etrace(inner: BoxedReader, prints: Vec<KindId>, texts: Texts) -> BoxedReader {
    let mut lanes = inner.lanes().to_vec();
    lanes.push(Lane {
        name: "etrace lines".to_owned(),
        cpu: None,
    });
    let mut parts = inner.parts().to_vec();
    parts.push(Part {
        lane: lanes.len() as u32 - 1,
        size_bytes: parts.iter().map(|part| part.size_bytes).sum(),
    });
    let first_kind = u16::try_from(inner.directory().kinds.len()).unwrap_or(u16::MAX);
    Box::new(WithEtrace {
        inner,
        prints,
        texts,
        first_kind,
        lanes,
        parts,
        text: OnceLock::new(),
    })
}

impl WithEtrace {
    fn own_part(&self) -> u32 {
        self.parts.len() as u32 - 1
    }

    /// The lines of all print events in time order, as an etrace text of its own.
    fn collect(&self, job: &Job) -> Result<Lines, ReadError> {
        let mut found = Found::default();
        let mut line = Vec::new();
        for (part, about) in (0..self.own_part()).zip(&self.parts) {
            job.check()?;
            // The part counts its own progress when it is read for itself.
            let columns = self.inner.read_part(part, &Job::default())?;
            for index in 0..columns.events.len() as u32 {
                let row = columns.events.row(index);
                if !self.prints.contains(&row.kind) {
                    continue;
                }
                line.clear();
                let event = EventRef {
                    part,
                    place: row.place,
                    time: row.time,
                    kind: row.kind,
                    thread: row.thread,
                };
                (self.texts)(event, &mut line);
                found.add(&line, None, row.time, row.thread);
            }
            for gap in &columns.gaps {
                found.add_hole(gap.end);
            }
            job.advance(about.size_bytes);
        }
        Ok(found.lines())
    }

    /// What describes the events of the last part; empty as long as that was not read.
    fn own(&self, event: EventRef) -> Option<&Lines> {
        self.text.get().filter(|_| event.part == self.own_part())
    }
}

/// A line that was found.
#[derive(Debug)]
struct Line {
    time: i64,
    /// Whether it is an event; a hole comes before the events of its time.
    is_event: bool,
    /// Its number in the text that it is of, 0 if that has none.
    number: u64,
    text: Vec<u8>,
}

/// Lines of etrace while they are found in another recording.
#[derive(Debug, Default)]
pub struct Found {
    lines: Vec<Line>,
    has_pids: bool,
    /// Who wrote the first line of each upid.
    writers: FxHashMap<i64, (i64, ThreadKey)>,
}

impl Found {
    /// Takes in `line`, which `thread` wrote at `time`, if there is an event in it; `number` is its number in a text. All
    /// but the newline at its end is the tracer's own.
    pub fn add(&mut self, line: &[u8], number: Option<u64>, time: Timestamp, thread: ThreadKey) {
        let mut rest = line.strip_suffix(b"\n").unwrap_or(line);
        while let Some(payload) = parse_line(rest) {
            self.has_pids |= Upids::form_of(payload.upid) == Form::SerialAndPid;
            self.note_writer(payload.upid, (time.0, thread));
            let at = (payload.tag.as_ptr() as usize).saturating_sub(rest.as_ptr() as usize);
            // Behind a line whose end the tracer forgot comes another event.
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

    /// Events were lost before `time`.
    pub fn add_hole(&mut self, time: Timestamp) {
        self.lines.push(Line {
            time: time.0,
            is_event: false,
            number: 0,
            text: HOLE.to_vec(),
        });
    }

    fn note_writer(&mut self, upid: i64, writer: (i64, ThreadKey)) {
        let known = self.writers.entry(upid).or_insert(writer);
        *known = writer.min(*known);
    }

    /// Takes in what was found elsewhere.
    pub fn append(&mut self, mut other: Found) {
        self.lines.append(&mut other.lines);
        self.has_pids |= other.has_pids;
        for (upid, writer) in other.writers {
            self.note_writer(upid, writer);
        }
    }

    /// All of them in order of time; those of equal times in the order in which they were found.
    #[must_use]
    pub fn lines(mut self) -> Lines {
        (self.lines).sort_by_key(|line| (line.time, line.is_event));
        let size = self.lines.iter().map(|line| line.text.len() + 1).sum();
        let mut text = Vec::with_capacity(size);
        let mut numbers = Vec::with_capacity(self.lines.len());
        for line in self.lines {
            text.extend_from_slice(&line.text);
            text.push(b'\n');
            numbers.push(line.number);
        }
        let upids = if self.has_pids {
            Upids::of_pids(Form::SerialAndPid, FxHashMap::default())
        } else {
            let writers = self.writers.into_iter();
            let known = writers.map(|(upid, (_, thread))| (upid, thread.0));
            Upids::of_pids(Form::Plain, known.collect())
        };
        Lines(File {
            cuts: vec![0, text.len()],
            seams: Vec::new(),
            input: Input::from_vec(text, "etrace lines"),
            head: Head::NONE,
            upids,
            kinds: Kinds::default(),
            line_counts: LineCounts::new(1),
            environments: AtomicU64::new(u64::MAX),
            pieces: None,
            jumbled: Jumbled::default(),
            numbers: Some(numbers),
            is_copy: true,
        })
    }
}

/// The lines of etrace of another recording, as a text of their own.
#[derive(Debug)]
pub struct Lines(File);

impl Lines {
    /// The calls in them. Their kinds are numbers in [`Lines::kinds`].
    ///
    /// # Errors
    /// Only if the job was cancelled.
    pub fn columns(&self) -> Result<LaneColumns, ReadError> {
        emit::emit(&self.0, 0, (0, self.0.text().len()), &Job::default())
    }

    /// The kinds of calls.
    #[must_use]
    pub fn kinds(&self, strings: &mut Strings) -> Vec<EventKind> {
        self.0.kinds.list(strings)
    }

    /// Puts right what holes say of forks and renames: lines are in the parts from `first` on, where `kind` gives a kind of
    /// [`Lines::kinds`] its number.
    pub fn settle(
        parts: &mut [&mut LaneColumns],
        first: usize,
        kind: &dyn Fn(KindId) -> KindId,
    ) -> Diagnostics {
        let clone = kind(Kinds::of_sort(Sort::SysClone));
        let mut diagnostics = lost_pairs::doubt_forks(parts, first, clone);
        let renames = lost_pairs::doubt_renames(parts, first, kind, &|_| None);
        diagnostics.merge(renames);
        diagnostics
    }

    /// Lists the environments that they tell of.
    pub fn environments_into(&self, directory: &mut Directory) {
        environment::list_into(&self.0, directory);
    }

    /// One call in full.
    #[must_use]
    pub fn describe(&self, event: EventRef) -> EventDetail {
        describe::describe(&self.0, event)
    }

    /// Heap bytes held.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let numbers = self.0.numbers.as_ref().map_or(0, Vec::capacity);
        (self.0.text().len() + numbers * size_of::<u64>()) as u64
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
        let mut columns = self.text.get_or_init(|| read).columns()?;
        for index in 0..columns.events.len() as u32 {
            let kind = columns.events.kind(index).0;
            let kind = self.first_kind.saturating_add(kind);
            columns.events.set_kind(index, KindId(kind));
        }
        Ok(columns)
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        let own = self.inner.parts().len();
        let mut diagnostics = match parts.get_mut(..own) {
            Some(parts) => self.inner.settle(parts),
            None => Diagnostics::default(),
        };
        let kind = |kind: KindId| KindId(self.first_kind.saturating_add(kind.0));
        diagnostics.merge(Lines::settle(parts, own, &kind));
        diagnostics
    }

    fn directory(&self) -> Directory {
        let mut directory = self.inner.directory();
        directory.derive = Derive::Programs;
        directory.opens = OpenPaths::Resolved;
        if let Some(lines) = self.text.get() {
            let kinds = lines.kinds(&mut directory.strings);
            directory.kinds.extend(kinds);
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

    fn fields(&self, event: EventRef) -> Vec<Field> {
        match self.own(event) {
            Some(_) => self.describe(event).fields,
            None => self.inner.fields(event),
        }
    }

    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        match self.own(event) {
            Some(_) => fields.extend(self.describe(event).fields.into_iter().map(FieldRef::from)),
            None => self.inner.fields_into(event, fields),
        }
    }

    fn has_fields(&self, event: EventRef) -> bool {
        self.own(event).is_some() || self.inner.has_fields(event)
    }

    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        if self.own(event).is_none() {
            return self.inner.value(event, name);
        }
        let fields = self.describe(event).fields;
        let field = fields.into_iter().find(|field| field.name == name)?;
        Some(field.value)
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        if kind.0 >= self.first_kind {
            return None;
        }
        self.inner.field_names(kind)
    }

    fn push_text(&self, event: EventRef, out: &mut Vec<u8>) {
        match self.own(event) {
            Some(_) => out.extend_from_slice(self.describe(event).line().as_bytes()),
            None => self.inner.push_text(event, out),
        }
    }

    fn report(&self) -> Option<&dyn Report> {
        self.inner.report()
    }

    fn memory_bytes(&self) -> u64 {
        self.inner.memory_bytes() + self.text.get().map_or(0, Lines::memory_bytes)
    }
}
