//! Restores what a killed recording changed in the kernel: runs `threadline-tracer`, which has the rights.

use std::process::{Command, Stdio};

use super::session::tracer_path;
use super::trouble::RecordError;

/// Restores everything that killed recordings changed in the kernel.
///
/// # Errors
/// If something could not be restored; the error lists what.
pub(crate) fn clean_up() -> Result<(), RecordError> {
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
