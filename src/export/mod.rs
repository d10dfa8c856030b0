//! A trace, or a range of it, as a file for others to read.
//!
//! `EXPORTERS` is the one table: the command line's `--to`, the window's dialog and the tests walk it. A new
//! exporter is one file and its row. [`run`] writes to a temporary file first, so that a file appears only when it
//! is whole. What is exported is said by a [`Selection`]; how a format says it is told in each exporter's header.

pub mod background;
mod build_tables;
pub mod choices;
mod chrome_json;
mod compile_commands;
mod fxt;
mod on_cpus;
mod process_tree_json;
pub mod rows;
pub mod selection;
mod table_rows;
pub mod tables;

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use crate::base::atomic_file::{self, Overwrite};
pub use selection::{Chosen, Selection};
pub use tables::{TABLES, Table};

use crate::base::Job;
use crate::base::job::Cancelled;
use crate::base::visible::Visible;
use crate::load::opened::Lookout;
use crate::load::{Change, LoadedTrace};
use atomic_file::FileError;

/// Every exporter, the most complete first.
pub const EXPORTERS: &[Exporter] = &[
    fxt::EXPORTER,
    chrome_json::EXPORTER,
    tables::CSV,
    tables::JSON,
    compile_commands::EXPORTER,
    process_tree_json::EXPORTER,
];

/// A row in `EXPORTERS`.
#[derive(Clone, Copy)]
pub struct Exporter {
    /// What the command line calls it, e.g. `fxt`.
    pub name: &'static str,
    /// For people: what it is and who reads it.
    pub about: &'static str,
    /// The usual file name ending, without the dot.
    pub extension: &'static str,
    /// The table that it writes, where it writes one; another can be put in its place.
    pub table: Option<&'static Table>,
    /// Writes the selected part of a trace, and says what was written.
    pub write: WriteFn,
}

/// What an exporter does.
pub type WriteFn = fn(&Request<'_>, &mut dyn Write) -> Result<Summary, ExportError>;

/// What an exporter is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The trace.
    pub loaded: &'a LoadedTrace,
    /// What of it.
    pub chosen: &'a Chosen<'a>,
    /// The table, for exporters that write one.
    pub table: Option<&'static Table>,
    /// Takes the progress, and may stop it.
    pub job: &'a Job,
}

impl Exporter {
    /// Writes what is selected to `out`.
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
        // Of a file that is cut short a single event may be as long as the rest of the file: the work stops at once.
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
        let mut summary = match self.extension.ends_with("json") {
            true => {
                let mut out = Visible::json(&mut out);
                let summary = (self.write)(&request, &mut out)?;
                out.finish()?;
                summary
            }
            false => (self.write)(&request, &mut out)?,
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

/// The exporter of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Exporter> {
    EXPORTERS.iter().find(|exporter| exporter.name == name)
}

/// The exporter that a file name's ending asks for: `compile_commands.json` is more than `.json`, which is a trace.
#[must_use]
pub fn for_path(path: &Path) -> Option<&'static Exporter> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let fits = |exporter: &&Exporter| {
        let stem = name.strip_suffix(exporter.extension);
        stem.is_some_and(|stem| stem.is_empty() || stem.ends_with('.'))
    };
    EXPORTERS
        .iter()
        .filter(fits)
        .max_by_key(|exporter| exporter.extension.len())
}

/// The exporter that writes one table into a file of that ending.
#[must_use]
pub fn for_table(path: &Path) -> Option<&'static Exporter> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    let fits = |exporter: &&Exporter| {
        exporter.table.is_some() && exporter.extension.rsplit('.').next() == Some(&*ending)
    };
    EXPORTERS.iter().find(fits)
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Size of the file.
    pub bytes: u64,
    /// What is in it: (`slices`, 12), ...; nothing that is not there.
    pub counts: Vec<(&'static str, u64)>,
    /// What readers of the file should know: times were shifted, texts were cut.
    pub notes: Vec<String>,
}

impl Summary {
    /// Adds a line, if there is any of it.
    pub fn count(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            self.counts.push((what, count));
        }
    }

    /// How many of `what` there are.
    #[must_use]
    pub fn count_of(&self, what: &str) -> u64 {
        self.counts
            .iter()
            .find(|(name, _)| *name == what)
            .map_or(0, |(_, count)| *count)
    }
}

/// The word for so many of `what`: `slices`, of one `slice`.
#[must_use]
pub fn word_for(what: &str, count: u64) -> &str {
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

/// Why nothing was exported. No file was written or changed.
#[derive(Debug)]
pub enum ExportError {
    /// There is such a file already.
    Exists(PathBuf),
    /// It could not be written.
    Io(std::io::Error),
    /// The user stopped it.
    Cancelled,
    /// A file that the trace is read from was cut short or written over.
    InputChanged {
        /// The file.
        path: PathBuf,
        /// What happened to it.
        change: Change,
    },
    /// The trace has nothing that this exporter could write; why.
    Nothing(String),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Exists(path) if path.is_dir() => {
                write!(f, "this is a folder: {}", path.display())
            }
            ExportError::Exists(path) => {
                write!(f, "there is such a file already: {}", path.display())
            }
            ExportError::Io(error) if error.kind() == std::io::ErrorKind::StorageFull => f
                .write_str(
                    "the disk is full: nothing was written, and a file that was there is as it was",
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

/// Exports to a file, which appears only when it is whole. Progress is the job's; cancelling it leaves no file.
///
/// # Errors
/// See [`ExportError`]; whatever it is, a file that was at `path` is as it was.
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
        // A damaged file may be why.
        ExportError::Io(_) | ExportError::Cancelled => check_input(loaded).err().unwrap_or(error),
        other => other,
    })
}

/// `Err` if a file that `loaded` is read from was damaged since it was opened: what was made of it may be wrong.
///
/// # Errors
/// [`ExportError::InputChanged`].
pub fn check_input(loaded: &LoadedTrace) -> Result<(), ExportError> {
    match loaded.damage() {
        Some((path, change)) => Err(ExportError::InputChanged {
            path: path.to_path_buf(),
            change,
        }),
        None => Ok(()),
    }
}

/// After so many bytes it is looked whether the input is still whole.
const LOOK_EVERY: u64 = 1 << 20;

/// Counts what passes, and lets it pass as long as the input is whole.
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
            // The words are those of `check_input`.
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

    #[test]
    fn endings_choose_the_exporter() {
        let name = |path: &str| for_path(Path::new(path)).map(|exporter| exporter.name);
        assert_eq!(name("a/b.fxt"), Some("fxt"));
        assert_eq!(name("b.trace.json"), Some("chrome-json"));
        assert_eq!(name("b.json"), Some("chrome-json"));
        assert_eq!(name("b.table.json"), Some("json"));
        assert_eq!(
            name("build/compile_commands.json"),
            Some("compile-commands")
        );
        assert_eq!(name("b.txt"), None);
    }
}
