//! Detects the format of a file from its first bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::base::{Problem, ReadError};
use crate::formats::{FORMATS, Format, Sniff, most_certain};
use crate::probes;

/// Length in bytes of the head in which a format is detected.
pub(super) const HEAD_BYTES: usize = 64 * 1024;
/// Length in bytes of a second attempt, if no format was detected: other text may come before a trace.
pub(super) const WIDE_HEAD_BYTES: usize = 4 * 1024 * 1024;

/// Returns the format of a file that is not compressed, if its first bytes decide it; `None` if they do not, or the file
/// cannot be read.
pub(crate) fn format_of_file(path: &Path) -> Option<&'static Format> {
    let mut head = Vec::new();
    let mut file = File::open(path).ok()?.take(HEAD_BYTES as u64);
    file.read_to_end(&mut head).ok()?;
    let format = detect(&head).ok()?;
    ((format.sniff)(&head) == Sniff::Yes).then_some(format)
}

/// Returns whether a file's first bytes are those of a format in which programs write recordings of themselves.
pub(super) fn may_be_self_trace(path: &Path) -> bool {
    format_of_file(path).is_some_and(|format| format.may_be_self_trace)
}

/// Returns the format that recognises these bytes with the highest certainty.
///
/// # Errors
/// If no format accepts them; the error lists the known formats.
pub fn detect(head: &[u8]) -> Result<&'static Format, ReadError> {
    most_certain(head).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
        let problem = if probes::sniff(head) || probes::sniff_profile(head) {
            Problem::Other(
                "this file contains probe definitions, not a trace: open it together with the trace that they made"
                    .to_owned(),
            )
        } else if head.is_empty() {
            Problem::Other("the file is empty".to_owned())
        } else {
            Problem::UnknownFormat {
                known: names.join(", "),
            }
        };
        ReadError::at_byte(0, "file", problem)
    })
}
