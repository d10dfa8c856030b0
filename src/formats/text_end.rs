//! Whether a text was cut inside of its last line: the same diagnostic for every text format.

use crate::base::{Diagnostics, Location, Severity};

/// Notes that the last line of `text` has no end, as where a recorder was killed or a copy stopped: what the line says may
/// be less than what was recorded.
pub fn note_cut_line(text: &[u8], diagnostics: &mut Diagnostics) {
    // Zeros are room that nothing was written to.
    let zeros = text.iter().rev().take_while(|byte| **byte == 0).count();
    let written = text.get(..text.len() - zeros).unwrap_or(text);
    if !written.is_empty() && written.last() != Some(&b'\n') {
        let place = Location::Byte(written.len() as u64);
        diagnostics.note("no_last_newline", Severity::Info, place, || {
            "the last line has no end: the file may have been cut".to_owned()
        });
    }
}
