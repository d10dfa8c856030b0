//! One file through a format and the builder, as loading does it, and some events in full.

use threadline::base::Job;
use threadline::build::{PartColumns, build};
use threadline::formats::{EventRef, Format, Input};
use threadline::index::Index;

pub fn run(format: &Format, bytes: &[u8]) {
    let job = Job::default();
    let Ok(reader) = (format.open)(Input::from_vec(bytes.to_vec(), "fuzzed"), &job) else { return };
    let parts = reader.parts().iter().enumerate().filter_map(|(number, part)| {
        let columns = reader.read_part(number as u32, &job).ok()?;
        Some(PartColumns { part: number as u32, lane: part.lane, columns })
    });
    let parts: Vec<PartColumns> = parts.collect();
    let trace = build(parts, reader.lanes(), &reader.directory(), reader.info().clone(), &job);
    let _index = Index::new(&trace);
    for id in trace.events.from_rank(0).take(32) {
        let event = trace.events.get(id);
        let row = event.row;
        let reference =
            EventRef { part: event.part, place: row.place, time: row.time, kind: row.kind, thread: row.thread };
        let _detail = reader.describe(reference);
    }
}
