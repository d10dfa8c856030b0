//! Tests of string and thread tables that are too small for all entries.

use super::*;

#[test]
fn full_tables_replace_their_oldest_entries() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for i in 0..2000_u64 {
            let name = format!("name {}", i % 300);
            let text = format!("value {}", i % 211);
            let name = out.name(&name);
            let args = [
                Arg::new(format!("argument {}", i % 97), ArgValue::text(text)),
                Arg::new("pointer", ArgValue::Pointer(i)),
            ];
            let base = head(EventType::Complete, i * 10, 100 + i % 40);
            out.event(Head { name, ..base }, &args, Some(i * 10 + 5));
        }
    });
    let small = Zones {
        strings: 12,
        last_string: 60,
        threads: 1,
        last_thread: 3,
    };
    let mut bytes = Vec::new();
    let request = Request {
        loaded: &source,
        chosen: &Chosen::new(&source.trace, &Selection::all()),
        table: None,
        job: &Job::default(),
    };
    write_as(small, None, &request, &mut bytes).unwrap();
    let path = folder.path().join("small.fxt");
    std::fs::write(&path, bytes).unwrap();
    let again = open(&path, &Job::default()).unwrap();
    assert_eq!(
        again.trace.diagnostics.rows(),
        source.trace.diagnostics.rows()
    );
    assert_eq!(slices(&again), slices(&source));
    for name in ["name 7", "name 250"] {
        assert_eq!(arguments(&again, name), {
            let mut expected = arguments(&source, name);
            expected.insert("end".to_owned(), arguments(&again, name)["end"].clone());
            expected
        });
    }
}

#[test]
fn more_strings_and_threads_than_the_tables_hold() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for i in 0..40_000_u64 {
            let text = format!("slice {i}");
            let name = out.name(&text);
            let base = head(EventType::Complete, i * 10, 100 + i % 300);
            let same = format!("argument {}", i % 40_000);
            let args = [Arg::new(same, ArgValue::Int64(i as i64))];
            out.event(Head { name, ..base }, &args, Some(i * 10 + 5));
        }
    });
    let (again, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.count_of("slices"), 40_000);
    assert_eq!(summary.count_of("threads"), 300);
    assert!(slices(&again) == slices(&source));
    for name in ["slice 7", "slice 39999"] {
        assert!(arguments(&again, name).contains_key(&name.replace("slice", "argument")));
    }
}

#[test]
fn a_name_keeps_its_entry_while_its_record_registers_others() {
    let zones = Zones {
        strings: 10,
        last_string: 110,
        threads: 1,
        last_thread: 3,
    };
    let no_strings = crate::base::Strings::default();
    let tables = FixedTables::new(zones, &[], &[], &no_strings, &[]);
    let mut out = Records::new(&tables);
    for i in 0..100 {
        out.name(&format!("name {i}"));
    }
    // The oldest entry of a full table is used again, together with new ones.
    let first = out.name("name 0");
    for i in 0..31 {
        let text = format!("argument {i}");
        assert_ne!(out.name(&text).bits, first.bits, "{text}");
    }
    assert_eq!(out.name("name 0").bits, first.bits);
}
