//! Does everything with the bytes of a file that the program does with a file: for tests of mutations and for fuzz
//! targets.

use threadline::base::Job;
use threadline::export::{EXPORTERS, Exporter, Selection};
use threadline::formats::{EventRef, Format};
use threadline::load::{LoadedTrace, Reading, open_bytes};
use threadline::tables::TABLES;
use threadline::trace::EventId;

/// Approximate number of events that are decoded one by one.
const DECODED: usize = 16;

/// Loads bytes as a file of this format; `None` if they contain nothing that can be shown.
pub fn loaded(format: &Format, bytes: &[u8], name: &str) -> Option<LoadedTrace> {
    let reading = Reading {
        format: Some(format.name),
        ..Reading::default()
    };
    open_bytes(name, bytes.to_vec(), reading, &Job::default()).ok()
}

/// Returns some events, evenly spread from the first to the last.
pub fn some_events(loaded: &LoadedTrace) -> impl Iterator<Item = EventRef> {
    let count = loaded.trace.events.len();
    let ids = (0..count as u32).step_by(count / DECODED + 1).map(EventId);
    ids.map(|id| loaded.trace.events.get(id).into())
}

/// Writes the trace with every exporter, and every table, and discards the output.
pub fn write_all(loaded: &LoadedTrace) {
    let selection = Selection::all();
    let write = |exporter: &Exporter| {
        // An error that there is nothing to write is fine.
        let _summary = exporter.write_to(loaded, &selection, &mut std::io::sink(), &Job::default());
    };
    EXPORTERS.iter().for_each(write);
    let parquet = EXPORTERS.iter().find(|exporter| exporter.name == "parquet");
    let first = EXPORTERS.iter().find(|exporter| exporter.table.is_some());
    for by_table in first.into_iter().chain(parquet) {
        for table in TABLES.iter().filter(|table| table.is_of_trace()) {
            write(&Exporter {
                table: Some(table),
                ..*by_table
            });
        }
    }
}
