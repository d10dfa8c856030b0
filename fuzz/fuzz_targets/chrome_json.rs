//! Chrome JSON as any file; and cut into small parts, which must not change what is found.
#![no_main]
mod one_thread;
mod reader;

use threadline::base::Job;
use threadline::formats::Input;
use threadline::formats::chrome_json::{FORMAT, open_in_parts};

/// Place, time and length or mark of everything in the file, in its order.
fn found(bytes: &[u8], part_bytes: usize) -> Option<Vec<(u64, i64, Option<i64>)>> {
    let input = Input::from_vec(bytes.to_vec(), "fuzzed.json");
    let recording = open_in_parts(input, part_bytes).ok()?;
    let gathered = recording.read_whole(&Job::default()).ok()?;
    let mut found = Vec::new();
    for part in &gathered.parts {
        let columns = &part.columns;
        let row = |event: u32| columns.events.row(event);
        found.extend((0..columns.events.len() as u32).map(row).map(|row| (row.place, row.time.0, None)));
        let whole = columns.completes.iter().map(|whole| (row(whole.event), whole.duration_ns));
        found.extend(whole.map(|(row, length)| (row.place, row.time.0, Some(length))));
    }
    found.sort_unstable();
    Some(found)
}

libfuzzer_sys::fuzz_target!(init: one_thread::enter(), |bytes: &[u8]| {
    reader::run(&FORMAT, bytes);
    let whole = found(bytes, usize::MAX);
    let part_bytes = 1 + bytes.len() % 97;
    assert_eq!(found(bytes, part_bytes), whole, "parts of {part_bytes} bytes");
});
