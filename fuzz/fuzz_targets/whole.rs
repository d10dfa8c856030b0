//! One file through everything that the program does with a file.

#[path = "../../tests/support/everything.rs"]
mod everything;

use threadline::base::Job;
use threadline::formats::{Format, Input};

/// How many inputs are taken how far. Reading the parts of a short file takes microseconds, making a trace of them
/// takes many times as long, and writing it in every form and every table takes milliseconds.
pub struct Depth {
    /// Of this many inputs one is made into a trace.
    pub loaded: usize,
    /// Of this many inputs one is written.
    pub written: usize,
}

pub fn run(format: &Format, bytes: &[u8], depth: &Depth) {
    // The same bytes are always taken as far.
    let number = bytes.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    if number % depth.loaded != 0 {
        if let Ok(recording) = format.open(Input::from_vec(bytes.to_vec(), "fuzzed"), &Job::default()) {
            let _parts = recording.read_whole(&Job::default());
        }
        return;
    }
    let Some(loaded) = everything::loaded(format, bytes, "fuzzed") else { return };
    for event in everything::some_events(&loaded) {
        let _detail = loaded.reader.describe(event);
    }
    if number % depth.written == 0 {
        everything::write_all(&loaded);
    }
}
