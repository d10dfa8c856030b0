//! One file through everything that the program does with a file.

#[path = "../../tests/support/everything.rs"]
mod everything;

use threadline::formats::Format;

/// Writing a trace in every form and every table takes longer than opening it: one input in so many is written.
const WRITTEN: usize = 16;

pub fn run(format: &Format, bytes: &[u8]) {
    let Some(loaded) = everything::loaded(format, bytes, "fuzzed") else { return };
    for event in everything::some_events(&loaded) {
        let _detail = loaded.reader.describe(event);
    }
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    if sum % WRITTEN == 0 {
        everything::write_all(&loaded);
    }
}
