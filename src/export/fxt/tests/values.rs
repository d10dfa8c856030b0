//! Tests that numbers keep their types and digits, and that arguments of unknown types are counted and left out.

use super::*;
use crate::export::tables::write;
use crate::export::{Chosen, rows::RowFormat};

#[test]
fn a_counters_current_value_is_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let mut counter = |name: &'static str, value| {
            let name = out.name(name);
            let base = head(EventType::Counter, 10, 11);
            let args = [Arg::new("v", value)];
            out.event(Head { name, ..base }, &args, Some(0));
        };
        counter("epoch", ArgValue::Int64(1_700_000_000_000_000_001));
        counter("load", ArgValue::Double(2.0));
        counter("addr", ArgValue::UInt64(1 << 63));
        counter("small", ArgValue::UInt32(7));
        for time in [20, 30] {
            out.event(head(EventType::Instant, time, 11), &[], None);
        }
    });
    let said = |loaded: &LoadedTrace| -> Vec<String> {
        let trace = &loaded.trace;
        let events = (0..trace.events.len() as u32).map(EventId);
        let details = events.map(|id| loaded.reader.describe(trace.events.get(id).into()));
        let mut said: Vec<String> = details
            .filter_map(|detail| {
                let field = detail.fields.iter().find(|field| field.name == "v")?;
                Some(format!(
                    "{} {} {}",
                    detail.name, field.type_name, field.value
                ))
            })
            .collect();
        said.sort();
        said
    };
    let (again, _) = cut(folder.path(), &source, &range(15, 40));
    assert_eq!(said(&again), said(&source));
    assert!(
        said(&again)[1].contains("1700000000000000001"),
        "{:?}",
        said(&again)
    );
    let mut text = Vec::new();
    let table = crate::tables::find("counters").unwrap();
    let chosen = Chosen::new(&source.trace, &Selection::all());
    let job = Job::default();
    write(table, &source, &chosen, RowFormat::Tsv, &mut text, &job).unwrap();
    let text = String::from_utf8(text).unwrap();
    for number in ["\t1700000000000000001\t", "\t9223372036854775808\t"] {
        assert!(text.contains(number), "{text}");
    }
}

#[test]
fn arguments_of_unknown_types_are_counted_everywhere_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "unknown.fxt", |out| {
        out.process_object(10, b"game");
    });
    let name = u64::from_le_bytes(*b"zz\0\0\0\0\0\0");
    let unknown = |kind: u64| [kind | 3 << 4 | 0x8002 << 16, name, 7];
    let idle = u64::from(i32::MIN as u32) << 32;
    let weight = [
        1 | 4 << 4 | 0x800f << 16 | idle,
        u64::from_le_bytes(*b"outgoing"),
        u64::from_le_bytes(*b"_weight\0"),
    ];
    let weight = [&[weight[0] & !0xff0 | 3 << 4][..], &weight[1..]].concat();
    let record = |head: &[u64], rest: &[&[u64]]| -> Vec<u64> {
        let mut words = [head, &rest.concat()].concat();
        let size = words.len() as u64;
        words[0] |= size << 4;
        words
    };
    let records = [
        // A thread, a switch, a wakeup, a userspace object, a large event, an instant.
        record(
            &[7 | 2 << 16 | 0x8002 << 24 | 1 << 40, 21, name],
            &[&unknown(13)],
        ),
        record(
            &[8 | 2 << 16 | 1 << 36 | 1 << 60, 1000, 0, 21],
            &[&unknown(12), &weight],
        ),
        record(&[8 | 1 << 16 | 2 << 60, 1500, 21], &[&unknown(12)]),
        record(
            &[6 | 0x8002 << 24 | 1 << 40, 0x10, 10, name],
            &[&unknown(14)],
        ),
        record(
            &[
                15,
                0x8002 | 0x8002 << 16 | 1 << 32,
                name,
                name,
                1600,
                10,
                21,
            ],
            &[&unknown(15), &[8, 99]],
        ),
        record(&[4 | 1 << 20, 1700, 10, 21], &[&unknown(11)]),
    ];
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(records.concat().iter().flat_map(|word| word.to_le_bytes()));
    std::fs::write(&path, bytes).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    assert_eq!(
        source.trace.diagnostics.count_of("unknown_argument_type"),
        6
    );
    assert_eq!(source.trace.diagnostics.count_of("bad_argument"), 0);
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.starts_with("6 arguments")),
        "{:?}",
        summary.notes
    );
    assert_eq!(again.trace.diagnostics.count_of("unknown_argument_type"), 0);
    assert_eq!(again.trace.events.len(), source.trace.events.len());
    assert_eq!(states(&again), states(&source));
    let all = (0..again.trace.events.len() as u32).map(EventId);
    for id in all {
        assert!(!fields_of(&again, id).contains_key("zz"));
    }
}
