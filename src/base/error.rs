//! Errors if nothing of a file (or of one lane) can be shown: what went wrong, where and why.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why something could not be read. Prints as
/// `FXT record header at byte 0x8: needs 8 bytes, 4 are left`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where in the file it happened.
    pub at: Location,
    /// What was being read, in the words of its specification.
    pub item: &'static str,
    /// What was wrong with the item.
    pub problem: Problem,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Location {
    /// Offset from the start of the file.
    Byte(u64),
    /// Line of a text file, the first is 1.
    Line(u64),
    /// Line of one file of a recording of several files.
    LineOfPart {
        /// Number of the file, the first is 1.
        part: u32,
        /// Line number, the first is 1.
        line: u64,
    },
}

/// What can be wrong with an item of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file ends too early.
    Truncated {
        /// Bytes that the item needs.
        needed_bytes: u64,
        /// Bytes that are left.
        left_bytes: u64,
    },
    /// The item does not start with its magic bytes.
    BadMagic,
    /// A number is larger than it can be.
    TooLarge {
        /// Name of the field.
        field: &'static str,
        /// The field's value.
        value: u64,
        /// The largest value that is possible here.
        max: u64,
    },
    /// A number refers to an entry of a table that does not exist.
    BadReference {
        /// Name of the table.
        table: &'static str,
        /// Index of the entry.
        index: u64,
    },
    /// No format recognises the file.
    UnknownFormat {
        /// The formats that can be read, in words.
        known: String,
    },
    /// A known feature that this program cannot read.
    Unsupported {
        /// Name of the feature.
        what: &'static str,
        /// Its version or name, as the file has it.
        version: String,
    },
    /// The item needs more memory than the limit allows.
    NoMemory {
        /// Bytes that the item needs.
        needed_bytes: u64,
        /// Bytes that may still be allocated.
        left_bytes: u64,
    },
    /// A compressed block could not be decompressed; contains the codec's message.
    Compression(String),
    /// The operating system reported an error; contains its message.
    Io(String),
    /// The user cancelled the work.
    Cancelled,
    /// Anything else, as the end of the sentence "ITEM at PLACE: ...".
    Other(String),
}

impl ReadError {
    /// Returns an error about `item` at file offset `byte`.
    #[must_use]
    pub(crate) fn at_byte(byte: u64, item: &'static str, problem: Problem) -> ReadError {
        ReadError {
            at: Location::Byte(byte),
            item,
            problem,
        }
    }

    /// Returns an error about `item` on line `line` (the first is 1).
    #[must_use]
    pub(crate) fn at_line(line: u64, item: &'static str, problem: Problem) -> ReadError {
        ReadError {
            at: Location::Line(line),
            item,
            problem,
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Byte(byte) => write!(f, "byte {byte:#x}"),
            Location::Line(line) => write!(f, "line {line}"),
            Location::LineOfPart { part, line } => write!(f, "line {line} of file {part}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Truncated {
                needed_bytes,
                left_bytes,
            } => {
                write!(f, "needs {needed_bytes} bytes, {left_bytes} are left")
            }
            Problem::BadMagic => f.write_str("does not start with the expected bytes"),
            Problem::TooLarge { field, value, max } => {
                write!(f, "{field} is {value}, at most {max} is possible here")
            }
            Problem::BadReference { table, index } => {
                write!(f, "the {table} has no entry {index}")
            }
            Problem::Unsupported { what, version } => {
                write!(f, "this version of Threadline cannot read {what} {version}")
            }
            Problem::NoMemory {
                needed_bytes,
                left_bytes,
            } => write!(
                f,
                "needs {} MB of memory, {} MB are left within the limits (of memory, the cgroup, ulimit and the machine)",
                needed_bytes.div_ceil(1 << 20),
                left_bytes >> 20
            ),
            Problem::UnknownFormat { known } => write!(
                f,
                "this is not a trace that Threadline can read; it reads: {known}"
            ),
            Problem::Compression(words) => write!(f, "cannot be unpacked ({words})"),
            Problem::Io(words) | Problem::Other(words) => f.write_str(words),
            Problem::Cancelled => f.write_str("stopped"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.problem, self.at) {
            (Problem::Cancelled, _) => f.write_str("stopped"),
            // An error about the whole file has no place to print.
            (_, Location::Byte(0)) if self.item == "file" => self.problem.fmt(f),
            (Problem::Io(_), Location::Byte(0)) => write!(f, "{}: {}", self.item, self.problem),
            _ => write!(f, "{} at {}: {}", self.item, self.at, self.problem),
        }
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_why() {
        let error = ReadError::at_byte(
            8,
            "FXT record header",
            Problem::Truncated {
                needed_bytes: 8,
                left_bytes: 4,
            },
        );
        assert_eq!(
            error.to_string(),
            "FXT record header at byte 0x8: needs 8 bytes, 4 are left"
        );
    }
}
