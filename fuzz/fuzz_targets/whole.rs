//! One file through everything that the program does with a file.

#[path = "../../tests/support/everything.rs"]
mod everything;

use threadline::base::Job;
use threadline::formats::{Format, Input};

/// Reading a file's parts is quick, making a trace of them takes longer, and writing it in every form and every table
/// longer still: of so many inputs one is made into a trace.
const LOADED: usize = 8;
/// Of so many inputs one is written.
const WRITTEN: usize = 64;

pub fn run(format: &Format, bytes: &[u8]) {
    // The same bytes are always taken as far.
    let number = bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    if number % LOADED != 0 {
        if let Ok(recording) = format.open(Input::from_vec(bytes.to_vec(), "fuzzed"), &Job::default()) {
            let _parts = recording.read_whole(&Job::default());
        }
        return;
    }
    let Some(loaded) = everything::loaded(format, bytes, "fuzzed") else { return };
    for event in everything::some_events(&loaded) {
        let _detail = loaded.reader.describe(event);
    }
    if number % WRITTEN == 0 {
        everything::write_all(&loaded);
    }
}
