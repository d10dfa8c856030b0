//! Tables as Parquet: the same values as in `threadline table`, in types that all engines share.

use std::path::Path;

use bytes::Bytes;
use parquet::basic::{ConvertedType, Encoding, Type};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use threadline::base::Job;
use threadline::export::{EXPORTERS, Exporter, Selection, Summary};
use threadline::load::{LoadedTrace, Reading, open_bytes};
use threadline::tables::TABLES;

use crate::program::run;
use crate::tables::rows;

fn loaded(path: &str) -> LoadedTrace {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let bytes = std::fs::read(&path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    open_bytes(&name, bytes, Reading::default(), &Job::default()).unwrap()
}

fn written(loaded: &LoadedTrace, table: &str) -> (SerializedFileReader<Bytes>, Summary) {
    let parquet = EXPORTERS.iter().find(|row| row.name == "parquet").unwrap();
    let exporter = Exporter {
        table: threadline::tables::find(table),
        ..*parquet
    };
    let (mut out, job) = (Vec::new(), Job::default());
    let summary = exporter.write_to(loaded, &Selection::all(), &mut out, &job);
    let reader = SerializedFileReader::new(Bytes::from(out)).unwrap();
    (reader, summary.unwrap())
}

/// A value as `tests/support/tables.rs` has it; flags and floating point numbers as they are in JSON.
fn text(field: &Field, told: &str) -> String {
    match field {
        // Only 63 bits are shared by all engines: stand-ins for threads in FXT have numbers beyond.
        Field::Null if needs_64_bits(told) => told.to_owned(),
        Field::Null => String::new(),
        Field::Long(value) => value.to_string(),
        Field::Bool(value) => u8::from(*value).to_string(),
        Field::Str(text) => text.clone(),
        // Whole numbers that a floating point number rounds are in the column `exact`.
        Field::Double(value) if told.parse() == Ok(*value) => told.to_owned(),
        other => panic!("{other:?} for {told:?}"),
    }
}

fn needs_64_bits(told: &str) -> bool {
    told.parse()
        .is_ok_and(|number: u64| i64::try_from(number).is_err())
}

#[test]
fn every_table_has_the_values_that_table_prints() {
    let mut filled = Vec::new();
    for path in [
        "sample-traces/compress.fxt",
        "sample-traces/syscalls-part.fxt",
        "sample-traces/sched-irq-syscalls.dat",
        "sample-traces/block-ext4.dat",
        "sample-traces/sched-irq.ftrace",
        "sample-traces/lua-make-j2.etrace.zst",
        "sample-traces/threads-and-signals.strace",
        "sample-traces/node-workers.json.gz",
        "tests/golden/fxt/serializer_vectors.fxt",
    ] {
        let loaded = loaded(path);
        for table in TABLES.iter().filter(|table| table.is_of_trace()) {
            let told = rows(&loaded, table.name);
            let (reader, summary) = written(&loaded, table.name);
            assert_eq!(summary.count_of("rows"), told.len() as u64);
            let of_note = |note: &String| {
                let is_said = |name: &str| note.contains(&format!("column {name} "));
                let mut values = told.iter().flatten();
                values.any(|(name, value)| is_said(name) && needs_64_bits(value))
            };
            assert!(
                summary.notes.iter().all(of_note),
                "{path} {table:?} {summary:?}"
            );
            let stored = reader.get_row_iter(None).unwrap().map(Result::unwrap);
            for (row, told) in stored.zip(&told) {
                let values = row.get_column_iter();
                let values = values.map(|(name, field)| (name.clone(), text(field, &told[name])));
                let values: std::collections::BTreeMap<String, String> = values.collect();
                assert_eq!(&values, told, "{path} {table:?}");
            }
            let count = reader.metadata().file_metadata().num_rows();
            assert_eq!(count, told.len() as i64);
            if count > 0 {
                filled.push(table.name);
            }
        }
    }
    for name in [
        "slices",
        "states",
        "counters",
        "flows",
        "processes",
        "logs",
        "file_uses",
    ] {
        assert!(filled.contains(&name), "{name}");
    }
}

#[test]
fn types_are_those_that_all_engines_share_and_times_take_little_space() {
    let loaded = loaded("sample-traces/sched-irq-syscalls.dat");
    let (reader, _) = written(&loaded, "slices");
    let file = reader.metadata().file_metadata();
    for column in file.schema_descr().columns() {
        let is_text = column.converted_type() == ConvertedType::UTF8;
        let shared = match column.physical_type() {
            Type::INT64 | Type::DOUBLE | Type::BOOLEAN => !is_text,
            Type::BYTE_ARRAY => is_text,
            _ => false,
        };
        assert!(shared && column.max_rep_level() == 0, "{column:?}");
    }
    let group = reader.metadata().row_group(0);
    let column = |name: &str| {
        let mut all = group.columns().iter();
        all.find(|column| column.column_path().string() == name)
            .unwrap()
    };
    for name in ["ts", "dur", "id"] {
        let column = column(name);
        assert!(
            column
                .encodings()
                .any(|it| it == Encoding::DELTA_BINARY_PACKED)
        );
        assert!(column.statistics().is_some(), "{name}");
    }
    assert!(column("name").dictionary_page_offset().is_some());
    let sorted = group.sorting_columns().unwrap();
    assert_eq!(sorted[0].column_idx, 0);
}

#[test]
fn a_file_is_named_and_kept() {
    let trace = format!("{}/sample-traces/compress.fxt", env!("CARGO_MANIFEST_DIR"));
    let refused = run(&["table", "slices", &trace, "--format", "parquet"]);
    assert_eq!(refused.status.code(), Some(2));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("slices.parquet");
    let out = out.to_str().unwrap();
    let write = |more: &[&str]| run(&[&["table", "slices", &trace, "-o", out], more].concat());
    assert!(write(&[]).status.success());
    let bytes = std::fs::read(out).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let again = write(&[]);
    assert_eq!(again.status.code(), Some(1));
    assert!(write(&["--force", "--until", "1ns"]).status.success());
    assert!(std::fs::read(out).unwrap().len() < bytes.len());
    let aligned = run(&["table", "slices", &trace, "-o", out, "--format", "table"]);
    assert_eq!(aligned.status.code(), Some(2));
}
