//! Reports: a whole trace as text, as its format's reference tool prints it, with the options that every format's
//! report has. `record_report` contains the options that only reports of binary records have.

use std::path::PathBuf;

use super::event_filter::KindFields;
use super::events::EventRef;
use super::record_report::{List, RecordOptions, StepsBack};
use crate::base::{CpuList, Job, Timestamp};

/// The options that the report of any format has.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// `-t`: timestamps in full instead of in microseconds.
    pub has_full_times: bool,
    /// `-R`: fields are printed raw.
    pub is_raw: bool,
    /// Whether the column of latency flags is omitted.
    pub has_no_flags: bool,
    /// Only these CPUs.
    pub cpus: CpuList,
    /// Only events at or after this time.
    pub from: Option<Timestamp>,
    /// Only events before this time.
    pub until: Option<Timestamp>,
    /// The file's path as the user gave it, for lists that print the path; `None`: they print the file's name.
    pub path: Option<PathBuf>,
    /// Label at the start of each line, if several files are printed.
    pub label: Option<FileLabel>,
    /// Offset that is added to all times, in ns or in the clock's own unit.
    pub offset: i64,
    /// The options that only a report of binary records has.
    pub records: RecordOptions,
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

    /// Returns whether the bytes are exactly those of the reference tool. Then they are written to a file unchanged:
    /// control characters are not escaped.
    fn is_exact(&self) -> bool {
        false
    }

    /// Returns the report line by line, for callers that merge lines of several reports or compare a line with earlier
    /// ones. `None` if the report can be written only as a whole.
    fn lines<'a>(&'a self, _options: &'a ReportOptions) -> Option<Box<dyn ReportLines + 'a>> {
        None
    }

    /// Returns the names of the instances in the file.
    fn instances(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns a list of the file's contents besides events, as the reference tool prints it.
    fn list(&self, _list: List, _options: &ReportOptions) -> Option<Vec<u8>> {
        None
    }

    /// Returns the time of the first event on the clock that `options` choose; `None` if the report has only one clock.
    fn start(&self, _options: &ReportOptions) -> Option<Timestamp> {
        None
    }

    /// Returns all events whose time is before that of the previous event on their CPU (`--ts-check`).
    fn steps_back(&self, _options: &ReportOptions) -> StepsBack {
        StepsBack::default()
    }

    /// Returns all kinds of events that the file describes, for filters that are evaluated while events are printed;
    /// `None` if the report cannot evaluate filters.
    fn kinds(&self) -> Option<Vec<KindFields<'_>>> {
        None
    }

    /// Writes one event like [`Report::write`]; returns `Wrote::Nothing` if single events cannot be printed.
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

    /// Returns the time of the next line's event; `None` after the last line.
    fn time(&self) -> Option<u64>;

    /// Appends the next line, after a line about events lost before it. `before` is the time of the previous line, to
    /// which the step (`--ts-diff`) is relative; 0 if there is none. It is set to this line's time.
    fn push(&mut self, out: &mut Vec<u8>, before: &mut u64);

    /// Returns the text after the last event.
    fn foot(&self) -> Vec<u8>;
}
