//! A diagnostic for all text formats, about a file that was cut inside its last line.

use crate::base::{Diagnostics, Location, Severity};

/// Adds a diagnostic if the last line of `text` has no newline, as after a killed recorder or an interrupted copy: then
/// that line may be incomplete.
pub(crate) fn note_cut_line(text: &[u8], diagnostics: &mut Diagnostics) {
    // Trailing zeros are preallocated space that was never written.
    let zeros = text.iter().rev().take_while(|byte| **byte == 0).count();
    let written = text.get(..text.len() - zeros).unwrap_or(text);
    if !written.is_empty() && written.last() != Some(&b'\n') {
        let place = Location::Byte(written.len() as u64);
        diagnostics.note("no_last_newline", Severity::Info, place, || {
            "the last line has no end: the file may have been cut".to_owned()
        });
    }
}
