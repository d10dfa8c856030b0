//! What a format is: a name, a question ("are these bytes yours?"), and a way to open them.
//!
//! A reader is a set of pure functions over bytes. It never reads files itself and never blocks: the
//! bytes are mapped, or were unpacked, before it sees them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::base::{CpuList, Diagnostics, Job, ReadError, Timestamp};
use crate::event::{
    Coarse, Directory, EventDetail, Field, FieldRef, KindId, Lane, LaneColumns, Part, ThreadKey,
    TraceInfo, Value,
};
use crate::formats::fxt::FxtSource;
use crate::trace::events::Event;

/// A row in `FORMATS`.
#[derive(Clone, Copy)]
pub struct Format {
    /// For people, e.g. `trace-cmd (trace.dat)`.
    pub name: &'static str,
    /// Usual file name endings, without the dot; never needed for detection.
    pub extensions: &'static [&'static str],
    /// Whether the first bytes of a file (up to 64 KiB, already unpacked) are this format.
    pub sniff: fn(head: &[u8]) -> Sniff,
    /// Reads the head of the file: what it says of itself, its lanes and parts.
    pub open: fn(input: Input, job: &Job) -> Result<BoxedReader, ReadError>,
    /// How several files that are parts of one recording become one trace; `None`: it has no such files.
    pub together: Option<Together>,
}

/// Opens the parts of one recording as one trace.
#[derive(Clone, Copy)]
pub struct Together {
    /// Whether files of this format (empty ones may be among them) are parts of one recording. Quick: looks at
    /// their heads only.
    pub are_parts: fn(inputs: &[Input]) -> bool,
    /// Reads their heads, as `Format::open` does for one.
    pub open: fn(inputs: Vec<Input>, job: &Job) -> Result<BoxedReader, ReadError>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Any format's reader.
pub type BoxedReader = Box<dyn Reader>;

/// How sure a format is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sniff {
    /// It is not.
    No,
    /// It could be: text that looks alike.
    Maybe,
    /// It is.
    Yes,
}

/// A file's bytes: mapped, or owned. Cheap to clone.
#[derive(Clone)]
pub struct Input {
    bytes: Arc<dyn Deref<Target = [u8]> + Send + Sync>,
    /// The file's name without its folder, for formats whose names say something (strace -ff).
    pub file_name: String,
    /// Midnight of the first day in ns since the Unix epoch, where the user said the date that the file does not.
    pub midnight_ns: Option<i64>,
}

impl Input {
    /// Wraps what holds the bytes (a map or a vector).
    #[must_use]
    pub fn new(bytes: Arc<dyn Deref<Target = [u8]> + Send + Sync>, file_name: String) -> Input {
        Input {
            bytes,
            file_name,
            midnight_ns: None,
        }
    }

    /// Bytes in memory, for tests and for what was unpacked.
    #[must_use]
    pub fn from_vec(bytes: Vec<u8>, file_name: &str) -> Input {
        Input {
            bytes: Arc::new(bytes),
            file_name: file_name.to_owned(),
            midnight_ns: None,
        }
    }

    /// All bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({}, {} bytes)", self.file_name, self.bytes().len())
    }
}

/// Names one event to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventRef {
    /// The part it was read from.
    pub part: u32,
    /// Its place, as [`EventColumns`](crate::event::EventColumns) has it.
    pub place: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What it is.
    pub kind: KindId,
    /// Whose it is.
    pub thread: ThreadKey,
}

impl From<Event> for EventRef {
    fn from(event: Event) -> EventRef {
        EventRef {
            part: event.part,
            place: event.row.place,
            time: event.row.time,
            kind: event.row.kind,
            thread: event.row.thread,
        }
    }
}

/// An opened file.
pub trait Reader: Send + Sync {
    /// What the file says about itself.
    fn info(&self) -> &TraceInfo;

    /// Lanes, in the order in which equal times are sorted.
    fn lanes(&self) -> &[Lane];

    /// Parts, in lane order and file order.
    fn parts(&self) -> &[Part];

    /// A picture from what is cheap: must take a small fraction of a second for any file.
    fn coarse(&self) -> Coarse;

    /// The bulk pass over one part. Pure; runs on many threads at once. Damage becomes diagnostics in the
    /// answer. Calls `job.check()` at least once a megabyte and `job.advance` for what was done.
    ///
    /// # Errors
    /// Only if nothing of the part can be read, or the job was cancelled.
    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError>;

    /// Puts right what depends on the order in which parts were read, in the columns of all parts, which stand in
    /// their order. Asked for once, before [`Reader::directory`].
    fn settle(&self, _parts: &mut [&mut LaneColumns]) -> Diagnostics {
        Diagnostics::default()
    }

    /// What the numbers in the columns mean; asked for once all parts were read.
    fn directory(&self) -> Directory;

    /// What was odd in the head of the file.
    fn diagnostics(&self) -> Diagnostics;

    /// One event in full. An event that cannot be decoded any more says so in its `text`.
    fn describe(&self, event: EventRef) -> EventDetail;

    /// The fields of an event alone, as [`Reader::describe`] lists them (`shown` may be left empty): for exporters,
    /// which ask for all events.
    fn fields(&self, event: EventRef) -> Vec<Field> {
        self.describe(event).fields
    }

    /// Appends what an exporter writes of the event to `fields`, without `shown` and without copying what need not be
    /// copied: the same, and what only text and stack tell ([`EventDetail::into_told_fields`]).
    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        let told = self.describe(event).into_told_fields();
        fields.extend(told.into_iter().map(FieldRef::from));
    }

    /// Its events as an exporter wants them that writes the format which the file has.
    fn fxt_source(&self) -> Option<FxtSource<'_>> {
        None
    }

    /// The same of the file that an event is from, where several share an axis.
    fn fxt_source_of(&self, _event: EventRef) -> Option<FxtSource<'_>> {
        self.fxt_source()
    }

    /// The same of all files.
    fn fxt_sources(&self) -> Vec<FxtSource<'_>> {
        self.fxt_source().into_iter().collect()
    }

    /// The bytes that an event carries for other tools, if it is an attachment (FXT's blobs and large records).
    fn payload(&self, _event: EventRef) -> Option<Cow<'_, [u8]>> {
        None
    }

    /// Whether [`Reader::describe`] would find any field. Exporters ask it first, so it should be quick; `true`
    /// is always a right answer.
    fn has_fields(&self, _event: EventRef) -> bool {
        true
    }

    /// One field's value, as [`Reader::fields`] has it; `None` if the event has no such field. For filters,
    /// which ask for one field of very many events.
    fn value(&self, event: EventRef, name: &str) -> Option<Value> {
        let fields = self.fields(event);
        let field = fields.into_iter().find(|field| field.name == name)?;
        Some(field.value)
    }

    /// The names of the fields that events of a kind have. `None`: that shows only in each event.
    fn field_names(&self, _kind: KindId) -> Option<Vec<&str>> {
        None
    }

    /// Appends what [`Reader::describe`] says of an event in one line ([`EventDetail::line`]). For search,
    /// which asks for the text of all events.
    fn push_text(&self, event: EventRef, out: &mut Vec<u8>) {
        out.extend_from_slice(self.describe(event).line().as_bytes());
    }

    /// The whole trace as its reference tool prints it, if it has one (trace-cmd report): line by line into
    /// `out`, in time order. `None`: the caller prints one line an event from `describe`.
    fn report(&self) -> Option<&dyn Report> {
        None
    }

    /// Heap bytes held for describing.
    fn memory_bytes(&self) -> u64 {
        0
    }
}

/// What a report shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportOptions {
    /// `-t`: full time stamps instead of microseconds.
    pub has_full_times: bool,
    /// `-N`: no plugins, only each event's own print format.
    pub is_plain: bool,
    /// `-R`: raw fields.
    pub is_raw: bool,
    /// Leave out the latency-flags column.
    pub has_no_flags: bool,
    /// Only these CPUs.
    pub cpus: CpuList,
    /// Only events from this time on.
    pub from: Option<Timestamp>,
    /// Only events before this time.
    pub until: Option<Timestamp>,
    /// `-l`: the columns of the latency format.
    pub has_latency_columns: bool,
    /// `--ts-diff`: how long after the line before each line came.
    pub shows_steps: bool,
    /// `-w`: how long a thread waited from its wakeup, behind the switch to it.
    pub shows_wakeups: bool,
    /// `-O`: how functions are shown.
    pub functions: FunctionOptions,
    /// Only these events (and the kernel stacks that belong to them): part and place, sorted.
    pub only: Option<Arc<Vec<(u32, u64)>>>,
    /// What lines begin with where several files are printed.
    pub label: Option<FileLabel>,
    /// Added to all times, in ns or in the clock's own steps.
    pub offset: i64,
}

/// A file's name before the lines of several files' report, padded on the left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLabel {
    /// The name.
    pub name: String,
    /// The width before events: that of the longest name of a file or an instance.
    pub width: usize,
    /// The width before the file's number of CPUs: instances are counted only of files before it.
    pub head_width: usize,
}

/// What trace-cmd's plugins for functions can be told by `-O`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionOptions {
    /// `parent`: the caller behind a function.
    pub shows_parent: bool,
    /// `offset`: where in a function an address is.
    pub shows_offset: bool,
    /// `indent=0`: functions are not indented below their callers.
    pub is_flat: bool,
    /// `tailprint`: the function behind the brace that closes it.
    pub shows_tail: bool,
    /// `depth`: how deep a call is.
    pub shows_depth: bool,
}

impl FunctionOptions {
    /// The names that `-O` takes.
    pub const NAMES: [&'static str; 5] = ["parent", "offset", "indent", "tailprint", "depth"];

    /// Takes `name`, `plugin:name` or `name=value`, as trace-cmd does; whether there is such an option.
    pub fn set(&mut self, option: &str) -> bool {
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, !matches!(value.trim(), "0" | "false" | "no" | "n")),
            None => (option, true),
        };
        let (plugin, name) = name.rsplit_once(':').unwrap_or(("", name));
        let (is_known, slot) = match name {
            "parent" => (matches!(plugin, "" | "ftrace"), &mut self.shows_parent),
            "offset" => (matches!(plugin, "" | "ftrace"), &mut self.shows_offset),
            "indent" => (matches!(plugin, "" | "ftrace"), &mut self.is_flat),
            "tailprint" => (matches!(plugin, "" | "fgraph"), &mut self.shows_tail),
            "depth" => (matches!(plugin, "" | "fgraph"), &mut self.shows_depth),
            _ => return false,
        };
        if is_known {
            *slot = value != (name == "indent");
        }
        is_known
    }
}

/// What a report did with one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// Its line.
    Line,
    /// Nothing: it prints whole traces only.
    Nothing,
}

/// Prints a whole trace as its reference tool does.
pub trait Report {
    /// Writes all of it; stops early with an error of kind `Interrupted` if the job is cancelled.
    ///
    /// # Errors
    /// Those of `out`.
    fn write(
        &self,
        options: &ReportOptions,
        out: &mut dyn std::io::Write,
        job: &Job,
    ) -> std::io::Result<()>;

    /// Whether its bytes are the reference tool's, to the last one: then nothing in them is made visible on the way
    /// into a file.
    fn is_exact(&self) -> bool {
        false
    }

    /// The lines one by one, for what needs them in an order with others or looks at those before. `None`: only all
    /// at once.
    fn lines<'a>(&'a self, _options: &'a ReportOptions) -> Option<Box<dyn ReportLines + 'a>> {
        None
    }

    /// The names of the instances in the file.
    fn instances(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the kernel counted per CPU, as the reference tool prints it (`--stat`).
    fn statistics(&self) -> Option<Vec<u8>> {
        None
    }

    /// The descriptions of events in the file, as the reference tool prints them (`--events`).
    fn event_formats(&self) -> Option<Vec<u8>> {
        None
    }

    /// Writes one event as [`Report::write`] does, if it can do that for one alone; else says so.
    ///
    /// # Errors
    /// Those of `out`.
    fn write_event(
        &self,
        _event: EventRef,
        _options: &ReportOptions,
        _out: &mut dyn std::io::Write,
    ) -> std::io::Result<Wrote> {
        Ok(Wrote::Nothing)
    }
}

/// The lines of a report, one by one.
pub trait ReportLines {
    /// What stands before the first event.
    fn head(&self) -> Vec<u8>;

    /// When the next line's event happened; `None` behind the last.
    fn time(&self) -> Option<u64>;

    /// Appends the next line, with what was lost before it. `before` is the time that the step of the line counts
    /// from, and becomes the line's own; 0: there is no line before.
    fn push(&mut self, out: &mut Vec<u8>, before: &mut u64);

    /// What stands behind the last event.
    fn foot(&self) -> Vec<u8>;
}
