//! The interface of a format: its name, its detection (`sniff`), and its reader (`open`).
//!
//! A reader is a set of pure functions over bytes. It never reads files itself and never blocks: the caller maps or
//! unpacks the bytes first.

use std::fmt;
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::event_filter::{BoundFilter, KindFields};
use super::events::EventRef;
use super::stream::Recording;
use crate::base::{CpuList, Job, ReadError, Timestamp};

/// A row in `FORMATS`.
#[derive(Clone, Copy)]
pub struct Format {
    /// Name that users see, e.g. `trace-cmd (trace.dat)`.
    pub name: &'static str,
    /// Usual file name endings, without the dot; never needed for detection.
    pub extensions: &'static [&'static str],
    /// Returns how sure the format is, from the first bytes of a file (up to 64 KiB, already unpacked).
    pub sniff: fn(head: &[u8]) -> Sniff,
    /// Reads the head of the file: its facts, its lanes and its parts.
    pub open: fn(input: Input, job: &Job) -> Result<Recording, ReadError>,
    /// Opens several files of one recording as one trace; `None` if a recording of this format is always one file.
    pub together: Option<Together>,
}

/// Opens several files of one recording as one trace.
#[derive(Clone, Copy)]
pub struct Together {
    /// Returns whether the files (some may be empty) belong to one recording. Fast: reads only their heads.
    pub are_parts: fn(inputs: &[Input]) -> bool,
    /// Reads the heads of all files, as `Format::open` does for one file.
    pub open: fn(inputs: Vec<Input>, job: &Job) -> Result<Recording, ReadError>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How sure a format is that a file is in this format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sniff {
    /// The file is not in this format.
    No,
    /// The file may be in this format: its text looks similar.
    Maybe,
    /// The file is in this format.
    Yes,
}

/// A file's bytes: mapped, or owned. Cheap to clone.
#[derive(Clone)]
pub struct Input {
    bytes: Arc<dyn Deref<Target = [u8]> + Send + Sync>,
    /// The file's name without its folder, for formats whose file names contain facts (`strace -ff`: the pid).
    pub file_name: String,
    /// Midnight of the first day, ns since the Unix epoch, if the user gave the date that the file lacks.
    pub midnight_ns: Option<i64>,
}

impl Input {
    /// Wraps the owner of the bytes (a memory map or a vector).
    #[must_use]
    pub fn new(bytes: Arc<dyn Deref<Target = [u8]> + Send + Sync>, file_name: String) -> Input {
        Input {
            bytes,
            file_name,
            midnight_ns: None,
        }
    }

    /// Wraps bytes in memory, for tests and for unpacked files.
    #[must_use]
    pub fn from_vec(bytes: Vec<u8>, file_name: &str) -> Input {
        Input {
            bytes: Arc::new(bytes),
            file_name: file_name.to_owned(),
            midnight_ns: None,
        }
    }

    /// Returns the bytes in a range of the file as a file of its own, empty if the file has no such range.
    #[must_use]
    pub(crate) fn part(&self, range: Range<usize>) -> Input {
        struct Part {
            whole: Input,
            range: Range<usize>,
        }
        impl Deref for Part {
            type Target = [u8];
            fn deref(&self) -> &[u8] {
                self.whole.bytes().get(self.range.clone()).unwrap_or(&[])
            }
        }
        let whole = self.clone();
        Input {
            bytes: Arc::new(Part { whole, range }),
            ..self.clone()
        }
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A recording in a file that has another one.
#[derive(Clone, Debug)]
pub struct Inside {
    /// What it is, for its name beside that of the file.
    pub name: String,
    /// Its bytes.
    pub input: Input,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({}, {} bytes)", self.file_name, self.bytes().len())
    }
}

/// Options of a report.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// `-t`: timestamps in full instead of in microseconds.
    pub has_full_times: bool,
    /// `-N`: only each event's own print format is used, no plugins.
    pub is_plain: bool,
    /// `-R`: fields are printed raw.
    pub is_raw: bool,
    /// Omits the column of latency flags.
    pub has_no_flags: bool,
    /// Only these CPUs.
    pub cpus: CpuList,
    /// Only events at or after this time.
    pub from: Option<Timestamp>,
    /// Only events before this time.
    pub until: Option<Timestamp>,
    /// `-l`: prints the columns of the latency format.
    pub has_latency_columns: bool,
    /// `--ts-diff`: prints the time between each line and the line before it.
    pub shows_steps: bool,
    /// `-w`: prints after each switch to a thread how long the thread waited since its wakeup.
    pub shows_wakeups: bool,
    /// `-O`: options of the function plugins.
    pub functions: FunctionOptions,
    /// Only these events, and the stacks that belong to them.
    pub selection: Option<Arc<Selection>>,
    /// Events with one of these bits in `common_flags` are left out (`-I`, `-S`).
    pub left_out_flags: u64,
    /// Events that are printed in a style of their own.
    pub styles: Vec<KindStyle>,
    /// The file's path as the user gave it, for lists that print it; otherwise they print its name.
    pub path: Option<PathBuf>,
    /// Label at the start of each line, if several files are printed.
    pub label: Option<FileLabel>,
    /// Added to all times, in ns or in the clock's own unit.
    pub offset: i64,
}

/// Which events are printed.
#[derive(Debug, Default)]
pub struct Selection {
    /// Only events that one of these chooses are printed; empty: all events.
    pub shown: Vec<Choice>,
    /// An event that one of these chooses is not printed.
    pub left_out: Vec<Choice>,
    /// Whether an event was printed.
    pub is_met: AtomicBool,
}

impl Selection {
    /// Returns whether an event was printed so far.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.is_met.load(Ordering::Relaxed)
    }
}

/// What chooses events.
#[derive(Debug)]
pub enum Choice {
    /// A filter, asked while events are printed.
    Filter(BoundFilter),
    /// These events, sorted.
    Events(Vec<EventPlace>),
}

/// Where an event is in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    /// The number of its part.
    pub part: u32,
    /// Its place in the part.
    pub place: u64,
}

impl EventPlace {
    /// Returns where an event is.
    pub(crate) fn of(event: EventRef) -> EventPlace {
        let EventRef { part, place, .. } = event;
        EventPlace { part, place }
    }
}

/// The style of the events that a filter names.
#[derive(Clone, Debug)]
pub struct KindStyle {
    /// The events.
    pub events: Arc<BoundFilter>,
    /// How they are printed.
    pub style: OwnStyle,
}

/// How chosen kinds of events are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnStyle {
    /// `-r`: their raw fields.
    Raw,
    /// `-n`: by their own print format, without plugins.
    Plain,
}

/// A file's name at the start of its lines in a report of several files, padded on the left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileLabel {
    /// The file's name.
    pub name: String,
    /// Width before events: the length of the longest name of a file or an instance.
    pub width: usize,
    /// Width before the line with the file's CPU count: it includes the names of instances of earlier files only.
    pub head_width: usize,
}

/// Options of trace-cmd's plugins for functions, set by `-O`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionOptions {
    /// `parent`: prints the caller after a function.
    pub shows_parent: bool,
    /// `offset`: prints the address's offset in its function.
    pub shows_offset: bool,
    /// `indent=0`: functions are not indented below their callers.
    pub is_flat: bool,
    /// `tailprint`: prints the function's name after its closing brace.
    pub shows_tail: bool,
    /// `depth`: prints the depth of a call.
    pub shows_depth: bool,
}

impl FunctionOptions {
    /// Names of the options that `-O` accepts.
    pub(crate) const NAMES: [&'static str; 5] =
        ["parent", "offset", "indent", "tailprint", "depth"];

    /// Sets an option given as `name`, `plugin:name` or `name=value`, as trace-cmd does. Returns whether it exists.
    pub(crate) fn set(&mut self, option: &str) -> bool {
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

/// What a reference tool prints about a file instead of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `--stat`: what the kernel counted per CPU.
    Statistics,
    /// `--events`: the descriptions of all kinds of events.
    Formats,
    /// `-E`: their systems and names.
    Events,
    /// `-e`: the byte order of the file and of this machine.
    ByteOrder,
    /// `-p`: the page size of the recorded machine and of this one.
    PageSize,
    /// `-f`: the kernel's symbols.
    Functions,
    /// `-P`: the formats of trace_printk.
    PrintFormats,
    /// `--uname`: the recorded system, and the version of the program that recorded.
    System,
    /// `--version`: that version alone.
    Version,
    /// `--cpus`: the CPUs that have data.
    Cpus,
    /// `--first-event`: the time of their first events.
    FirstEvents,
    /// `--last-event`: the time of their last events.
    LastEvents,
}

/// What a report wrote for one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// The event's line.
    Line,
    /// Nothing: the report can print only whole traces.
    Nothing,
}

/// Prints a whole trace as its reference tool does.
pub trait Report {
    /// Writes the whole report; stops early with an error of kind `Interrupted` if the job is cancelled.
    ///
    /// # Errors
    /// Errors of `out`.
    fn write(
        &self,
        options: &ReportOptions,
        out: &mut dyn std::io::Write,
        job: &Job,
    ) -> std::io::Result<()>;

    /// Returns whether the bytes equal the reference tool's exactly. They are then written to a file unchanged: control
    /// characters are not made visible.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns the report line by line, for callers that merge lines of several reports or look at earlier lines.
    /// `None` if the report can be written only as a whole.
    fn lines<'a>(&'a self, _options: &'a ReportOptions) -> Option<Box<dyn ReportLines + 'a>> {
        None
    }

    /// The names of the instances in the file.
    fn instances(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the file contains beside events, as the reference tool prints it.
    fn list(&self, _list: List, _options: &ReportOptions) -> Option<Vec<u8>> {
        None
    }

    /// Returns all kinds of events that the file describes, for filters that are asked while events are printed;
    /// `None` if the report cannot ask them.
    fn kinds(&self) -> Option<Vec<KindFields<'_>>> {
        None
    }

    /// Writes one event as [`Report::write`] does, or returns `Wrote::Nothing` if single events cannot be printed.
    ///
    /// # Errors
    /// Errors of `out`.
    fn write_event(
        &self,
        _event: EventRef,
        _options: &ReportOptions,
        _out: &mut dyn std::io::Write,
    ) -> std::io::Result<Wrote> {
        Ok(Wrote::Nothing)
    }
}

/// Iterates over the lines of a report.
pub trait ReportLines {
    /// Returns the text before the first event.
    fn head(&self) -> Vec<u8>;

    /// Time of the next line's event; `None` after the last line.
    fn time(&self) -> Option<u64>;

    /// Appends the next line, after a note of events lost before it. `before`: time of the line before, from which the
    /// step (`--ts-diff`) counts; 0 if there is none. It is set to this line's time.
    fn push(&mut self, out: &mut Vec<u8>, before: &mut u64);

    /// Returns the text after the last event.
    fn foot(&self) -> Vec<u8>;
}
