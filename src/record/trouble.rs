//! Why nothing was recorded.

use std::fmt;
use std::path::PathBuf;

use crate::base::atomic_file::FileError;

/// Why nothing was recorded. Nothing is left behind in the kernel, and no file.
#[derive(Debug)]
pub enum RecordError {
    /// The process with the rights refused the order; its sentence.
    Refused(String),
    /// The program that has the rights could not be started.
    NoTracer {
        /// Its path.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// It was stopped before it began.
    Stopped,
    /// The process with the rights ended early.
    TracerGone,
    /// The expression of a trigger asks for what this kernel does not have; a sentence with its place.
    Expression(String),
    /// The command could not be started.
    Command {
        /// The command.
        name: String,
        /// The error.
        error: std::io::Error,
    },
    /// The output file exists already.
    Exists(PathBuf),
    /// Writing failed, or another call of the system.
    Io(std::io::Error),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Refused(sentence) => f.write_str(sentence),
            RecordError::Expression(pointed) => write!(f, "the expression is wrong:\n{pointed}"),
            RecordError::NoTracer { path, error } => write!(
                f,
                "the program that uses tracefs could not be started: {error}; install Threadline again: {}",
                path.display()
            ),
            RecordError::Stopped => f.write_str("stopped before recording began; nothing was written"),
            RecordError::TracerGone => f.write_str(
                "the process that uses tracefs ended early; `threadline record --clean-up` puts back what it left",
            ),
            RecordError::Command { name, error } => {
                write!(f, "{name} could not be started: {error}; nothing was recorded")
            }
            RecordError::Exists(path) => write!(
                f,
                "{} exists already; use --force to replace it",
                path.display()
            ),
            RecordError::Io(error) => write!(f, "nothing was recorded: {error}"),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<std::io::Error> for RecordError {
    fn from(error: std::io::Error) -> RecordError {
        RecordError::Io(error)
    }
}

impl From<FileError> for RecordError {
    fn from(error: FileError) -> RecordError {
        match error {
            FileError::Exists => RecordError::Exists(PathBuf::new()),
            FileError::Io(error) => RecordError::Io(error),
        }
    }
}
