//! The interface of a format: its name, its detection (`sniff`), and its reader (`open`).
//!
//! A reader is a set of pure functions over bytes. It never reads files itself and never blocks: the caller maps or
//! unpacks the bytes first.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use super::stream::Recording;
use crate::base::{Job, ReadError};
use crate::event::Directory;

/// A row in `FORMATS`.
#[derive(Clone, Copy)]
pub struct Format {
    /// Name that users see, e.g. `trace-cmd (trace.dat)`.
    pub name: &'static str,
    /// Usual file name extensions, without the dot; never needed for detection.
    pub extensions: &'static [&'static str],
    /// Returns the certainty that a file is in this format, from its first bytes (up to 64 KiB, already unpacked).
    pub sniff: fn(head: &[u8]) -> Sniff,
    /// Reads the head of the file: its facts, its lanes and its parts. [`Format::open`] calls it.
    pub read_head: fn(input: Input, job: &Job) -> Result<Recording, ReadError>,
    /// Opens several files of one recording as one trace; `None` if a recording of this format is always one file.
    pub together: Option<Together>,
    /// Returns the recording of another format in a file that contains nothing else; `None` for any other bytes. The
    /// file is then read as that recording. Called for every file: it must reject other formats by their first bytes.
    pub wrapped: Option<Unwrap>,
    /// Whether programs write recordings of themselves in this format, so that a process in another recording may have
    /// written the file.
    pub may_be_self_trace: bool,
}

/// Returns the recording of another format in the bytes of a file, if the file contains nothing else.
pub type Unwrap = fn(bytes: &[u8]) -> Option<Vec<u8>>;

/// Opens several files of one recording as one trace.
#[derive(Clone, Copy)]
pub struct Together {
    /// Returns whether the files (some may be empty) belong to one recording. Fast: reads only their heads.
    pub are_parts: fn(inputs: &[Input]) -> bool,
    /// Reads the heads of all files, as `Format::read_head` does for one file.
    pub open: fn(inputs: Vec<Input>, job: &Job) -> Result<Recording, ReadError>,
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The certainty that a file is in a format.
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

    /// Returns the bytes in a range of the file as an input of its own; empty if the file has no such range.
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

    /// Returns the bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A further recording in a file.
#[derive(Clone, Debug)]
pub struct Inside {
    /// What the recording is: its name after the name of the file.
    pub name: String,
    /// Its bytes.
    pub input: Input,
}

/// The recording of another format that a file contains instead of events of its own.
#[derive(Clone, Debug)]
pub struct Instead {
    /// What the recording is: its name after the name of the file's format.
    pub name: &'static str,
    /// Its bytes.
    pub input: Input,
    /// Threads that the outer file names.
    pub known: Directory,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({}, {} bytes)", self.file_name, self.bytes().len())
    }
}
