//! What a killed recording left in the kernel is put back by the program with the rights.

use std::process::{Command, Stdio};

use super::session::tracer_path;
use super::trouble::RecordError;

/// Puts back what killed recordings changed.
///
/// # Errors
/// With a sentence about what could not be put back.
pub fn clean_up() -> Result<(), RecordError> {
    let path = tracer_path();
    let output = Command::new(&path)
        .arg("clean-up")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| RecordError::NoTracer { path, error })?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words = words.trim().trim_start_matches("threadline-tracer: ");
    Err(RecordError::Refused(words.to_owned()))
}
