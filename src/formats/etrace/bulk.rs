//! The bulk pass over one part: reads its lines in file order, or if necessary in time order, then completes its calls.
//!
//! The result does not depend on where a file is cut: a call belongs to the part in which it starts. That part reads on
//! after its end until its open calls are complete (`around`).

use crate::base::{Job, ReadError};
use crate::event::LaneColumns;

use super::around;
use super::emit::{Emitter, Order};
use super::file::File;
use super::order::{in_file_order, in_time_order};

/// Reads the lines of part number `part`, from `start` to `end`, which are line starts.
///
/// # Errors
/// Errors only if the job was cancelled.
pub fn read(
    file: &File,
    part: usize,
    (start, end): (usize, usize),
    job: &Job,
) -> Result<LaneColumns, ReadError> {
    let text = file.text();
    let mut emitter = Emitter::new(file, part, (start, end));
    let order = in_file_order(&mut emitter, part, (start, end), job)?;
    if order == Order::GoesBack {
        emitter = Emitter::new(file, part, (start, end));
        in_time_order(&mut emitter, part, (start, end), job)?;
    }
    around::read_on(&mut emitter, text, file.seams_of(part)[1]);
    Ok(emitter.finish())
}
