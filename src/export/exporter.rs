//! The interface of an exporter: its request, its summary and its errors; an output file appears only when it is
//! complete.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::base::Job;
use crate::base::atomic_file::{self, FileError, Overwrite};
use crate::base::job::Cancelled;
use crate::base::visible::Visible;
use crate::load::opened::{DamagedFile, Lookout};
use crate::load::{Change, LoadedTrace};
use crate::query::selection::{Chosen, Selection};
use crate::tables::TableDef;

/// A row in `EXPORTERS`.
#[derive(Clone, Copy)]
pub struct Exporter {
    /// Its name on the command line, e.g. `fxt`.
    pub name: &'static str,
    /// Its name in the window, e.g. `FXT`.
    pub title: &'static str,
    /// One line for help texts: the format that it writes, and the programs that read it.
    pub about: &'static str,
    /// The usual file name ending, without the dot.
    pub extension: &'static str,
    /// How control characters in the output are made visible.
    pub text: ExportedText,
    /// The table that it writes unless another is chosen; `None` for exporters that do not write a table.
    pub table: Option<&'static TableDef>,
    /// Writes the selected part of a trace; returns what was written.
    pub write: WriteFn,
}

/// The kind of an exporter's output, which decides how invisible characters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportedText {
    /// JSON: control characters, and characters that change a text's direction, become escapes of JSON.
    Json,
    /// Bytes, or text in which the exporter itself escapes such characters.
    AsWritten,
}

/// The function of an exporter.
pub(crate) type WriteFn = fn(&Request<'_>, &mut dyn Write) -> Result<Summary, ExportError>;

/// The input of an exporter.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The trace, with its files.
    pub loaded: &'a LoadedTrace,
    /// The selected part of the trace.
    pub chosen: &'a Chosen<'a>,
    /// The table, for exporters that write one.
    pub table: Option<&'static TableDef>,
    /// Progress and cancellation.
    pub job: &'a Job,
}

impl Exporter {
    /// Writes the selected part of the trace to `out`; returns what was written.
    ///
    /// # Errors
    /// See [`ExportError`].
    pub fn write_to(
        &self,
        loaded: &LoadedTrace,
        selection: &Selection,
        out: &mut dyn Write,
        job: &Job,
    ) -> Result<Summary, ExportError> {
        check_input(loaded)?;
        // The job is cancelled as soon as an input file is damaged: in a file that was cut short one event may seem
        // as long as the rest of the file.
        let files = loaded.opened_files().cloned().collect();
        let stopper = job.clone();
        let _lookout = Lookout::start(files, move || stopper.cancel());
        let request = Request {
            loaded,
            chosen: &Chosen::new(&loaded.trace, selection),
            table: self.table,
            job,
        };
        let mut out = Counted {
            out,
            loaded,
            bytes: 0,
        };
        let mut summary = match self.text {
            ExportedText::Json => {
                let mut out = Visible::json(&mut out);
                let summary = (self.write)(&request, &mut out)?;
                out.finish()?;
                summary
            }
            ExportedText::AsWritten => (self.write)(&request, &mut out)?,
        };
        summary.bytes = out.bytes;
        Ok(summary)
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The summary of a file that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Number of rows by kind: (`slices`, 12), ...; without kinds that do not occur.
    pub counts: Vec<(&'static str, u64)>,
    /// Sentences for the user about the file: times were shifted, texts were cut.
    pub notes: Vec<String>,
}

impl Summary {
    /// Adds a count; does nothing if it is 0.
    pub fn count(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            self.counts.push((what, count));
        }
    }

    /// Returns the count of `what`; 0 if there is none.
    #[must_use]
    pub fn count_of(&self, what: &str) -> u64 {
        self.counts
            .iter()
            .find(|(name, _)| *name == what)
            .map_or(0, |(_, count)| *count)
    }
}

/// Returns the noun for a count: `slices`, but `slice` for 1.
#[must_use]
pub(crate) fn word_for(what: &str, count: u64) -> &str {
    let ending = match what.ends_with("sses") || what.ends_with("ches") {
        _ if count != 1 => "",
        true => "es",
        false => "s",
    };
    what.strip_suffix(ending).unwrap_or(what)
}

/// `12 slices, 3 instants, 480 bytes`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &(what, count) in &self.counts {
            write!(f, "{count} {}, ", word_for(what, count))?;
        }
        write!(f, "{} {}", self.bytes, word_for("bytes", self.bytes))
    }
}

/// Why an export failed. No file was written or changed.
#[derive(Debug)]
pub enum ExportError {
    /// A file of that name exists already.
    Exists(PathBuf),
    /// Writing failed.
    Io(std::io::Error),
    /// The user cancelled it.
    Cancelled,
    /// A file of the trace was cut short or written over.
    InputChanged {
        /// The path of that file.
        path: PathBuf,
        /// How it changed.
        change: Change,
    },
    /// The trace contains nothing that this exporter writes; the text gives the reason.
    Nothing(String),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Exists(path) if path.is_dir() => {
                write!(f, "this is a folder: {}", path.display())
            }
            ExportError::Exists(path) => {
                write!(f, "{} exists already", path.display())
            }
            ExportError::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => f
                .write_str(
                    "the disk is full: nothing was written, and a file that existed is unchanged",
                ),
            ExportError::Io(error) => write!(f, "the file could not be written: {error}"),
            ExportError::Cancelled => f.write_str("stopped: nothing was written"),
            ExportError::InputChanged { path, change } => {
                write!(
                    f,
                    "{change}: nothing was written; open it again: {}",
                    path.display()
                )
            }
            ExportError::Nothing(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ExportError {}

impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> ExportError {
        ExportError::Io(error)
    }
}

impl From<Cancelled> for ExportError {
    fn from(_: Cancelled) -> ExportError {
        ExportError::Cancelled
    }
}

impl From<FileError> for ExportError {
    fn from(error: FileError) -> ExportError {
        match error {
            FileError::Exists => ExportError::Exists(PathBuf::new()),
            FileError::Io(error) => ExportError::Io(error),
        }
    }
}

/// Exports to a file, which appears only when it is complete. Progress goes to the job; cancelling the job leaves no
/// file.
///
/// # Errors
/// See [`ExportError`]; after any error, a file that was at `path` is unchanged.
pub fn run(
    exporter: &Exporter,
    loaded: &LoadedTrace,
    selection: &Selection,
    path: &Path,
    overwrite: Overwrite,
    job: &Job,
) -> Result<Summary, ExportError> {
    let written = atomic_file::write_whole(path, overwrite, |out| {
        let summary = exporter.write_to(loaded, selection, out, job)?;
        job.check()?;
        check_input(loaded)?;
        Ok(summary)
    });
    written.map_err(|error| match error {
        ExportError::Exists(_) => ExportError::Exists(path.to_path_buf()),
        // A damaged input file may be the cause.
        ExportError::Io(_) | ExportError::Cancelled => check_input(loaded).err().unwrap_or(error),
        other => other,
    })
}

/// Errors if a file of `loaded` was damaged since it was opened: rows that were read from it may be wrong.
///
/// # Errors
/// [`ExportError::InputChanged`].
pub(crate) fn check_input(loaded: &LoadedTrace) -> Result<(), ExportError> {
    match loaded.damage() {
        Some(DamagedFile { path, change }) => Err(ExportError::InputChanged { path, change }),
        None => Ok(()),
    }
}

/// The number of bytes after which the input is checked again.
const LOOK_EVERY: u64 = 1 << 20;

/// Counts the bytes that are written, and errors once the input is damaged.
struct Counted<'a> {
    out: &'a mut dyn Write,
    loaded: &'a LoadedTrace,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        let before = self.bytes / LOOK_EVERY;
        self.bytes += count as u64;
        if self.bytes / LOOK_EVERY != before && self.loaded.damage().is_some() {
            // `check_input` makes the message for the user.
            return Err(std::io::Error::other("the input was damaged"));
        }
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        for (many, one) in [
            ("wakeups", "wakeup"),
            ("processes", "process"),
            ("context switches", "context switch"),
            ("slices", "slice"),
            ("bytes", "byte"),
        ] {
            assert_eq!(word_for(many, 1), one);
            assert_eq!(word_for(many, 0), many);
        }
    }
}
