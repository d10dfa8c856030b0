//! Tests that read exports back with a small reader of the wire format.

mod depths;
mod kernel;
mod kernel_text;
mod model;
pub(super) mod read;

use super::EXPORTER;
use super::layout::{packet, trace};
use crate::base::Job;
use crate::export::{ExportError, Selection, Summary};
use crate::load::{LoadedTrace, Reading, open_bytes};
use read::{ReadField, fields_of, first};

/// Opens a text as a file of this name.
fn opened(name: &str, text: &str) -> LoadedTrace {
    let job = Job::default();
    open_bytes(name, text.as_bytes().to_vec(), Reading::default(), &job).unwrap()
}

/// An export, read back.
struct Read {
    /// The fields of each packet.
    packets: Vec<Vec<ReadField>>,
    summary: Summary,
}

fn exported(loaded: &LoadedTrace, selection: &Selection) -> Read {
    let mut bytes = Vec::new();
    let summary = EXPORTER
        .write_to(loaded, selection, &mut bytes, &Job::default())
        .unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    let all = fields_of(&bytes);
    assert!(all.iter().all(|field| field.field == trace::PACKET));
    Read {
        packets: all.iter().map(|packet| fields_of(packet.bytes())).collect(),
        summary,
    }
}

impl Read {
    /// The messages of one kind, each with the other fields of its packet.
    fn messages(&self, kind: u32) -> Vec<(&[ReadField], Vec<ReadField>)> {
        let packets = self.packets.iter();
        let found = packets.filter_map(|packet| {
            let message = first(packet, kind)?;
            Some((packet.as_slice(), fields_of(message.bytes())))
        });
        found.collect()
    }
}

#[test]
fn a_cancelled_export_writes_no_file() {
    let loaded = opened(
        "a.json",
        r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]"#,
    );
    let job = Job::default();
    job.cancel();
    let mut bytes = Vec::new();
    let result = EXPORTER.write_to(&loaded, &Selection::all(), &mut bytes, &job);
    assert!(matches!(result, Err(ExportError::Cancelled)), "{result:?}");
}

#[test]
fn times_below_zero_are_shifted_together() {
    let text = r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":-5.5,"dur":2},
        {"ph":"i","name":"b","pid":1,"tid":1,"ts":3,"s":"t"}]"#;
    let read = exported(&opened("a.json", text), &Selection::all());
    let events = read.messages(packet::TRACK_EVENT);
    let times: Vec<u64> = events
        .iter()
        .map(|(packet, _)| first(packet, packet::TIMESTAMP).unwrap().number())
        .collect();
    assert_eq!(times, [0, 2_000, 8_500]);
    let note = "Perfetto has no times below zero: 5500 ns were added to all times";
    assert!(read.summary.notes.iter().any(|it| it == note));
}
