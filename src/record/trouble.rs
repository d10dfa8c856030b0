//! Why nothing was recorded.

use std::fmt;
use std::path::PathBuf;

use crate::base::atomic_file::FileError;

/// Why nothing was recorded. The kernel is as before, and there is no file.
#[derive(Debug)]
pub enum RecordError {
    /// `threadline-tracer` refused the order, with this sentence.
    Refused(String),
    /// `threadline-tracer` could not be started.
    NoTracer {
        /// The path of the program.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The user stopped the recording before it began.
    Stopped,
    /// `threadline-tracer` ended early.
    TracerGone,
    /// polkit did not give `threadline-tracer` its rights, for this reason.
    NotGranted(&'static str),
    /// The process that reads the recording while it is made has ended.
    Abandoned,
    /// The expression of a trigger names something that this kernel does not have; a sentence that marks its position.
    Expression(String),
    /// The command to record could not be started.
    Command {
        /// The name of the program.
        name: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The output file exists already.
    Exists(PathBuf),
    /// A write or another system call failed.
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
            RecordError::NotGranted(why) => write!(
                f,
                "polkit did not let threadline-tracer use tracefs: {why}; nothing was recorded"
            ),
            RecordError::Abandoned => f.write_str(
                "the program that showed the recording ended before it was stopped; nothing was written",
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
