//! Tests that texts that are not UTF-8 are exported with the same bytes, in both byte orders.

use super::*;

const ODD: &[u8] = b"odd \xff\xfe";

fn arg(name: &'static [u8], value: ArgValue<'static>) -> Arg<'static> {
    Arg {
        name: name.into(),
        value,
    }
}

/// Returns how often the odd bytes are in a file, followed by each of several other bytes.
fn counts(bytes: &[u8]) -> Vec<usize> {
    let ends: [&[u8]; 8] = [
        b" name",
        b" value",
        b" long",
        b" blob",
        b" large",
        b" counter",
        b" series",
        b" object",
    ];
    let count = |end: &&[u8]| {
        let wanted = [ODD, *end].concat();
        bytes
            .windows(wanted.len())
            .filter(|some| *some == wanted)
            .count()
    };
    ends.iter().map(count).collect()
}

fn odd(bytes: &[u8]) -> Vec<u8> {
    [ODD, bytes].concat()
}

fn source(folder: &Path) -> LoadedTrace {
    written(folder, |out| {
        let value = arg(b"odd \xff\xfe name", ArgValue::Text(odd(b" value").into()));
        let mut long = odd(b" long");
        long.resize(5000, b'.');
        let long = arg(b"long", ArgValue::Text(long.into()));
        let name = out.name("slice");
        let base = head(EventType::Complete, 5, 11);
        out.event(Head { name, ..base }, &[value, long], Some(9));
        out.blob(&odd(b" blob"), b"", Some(1), b"bytes");
        let name = odd(b" large");
        let name = out.exact_name(&name);
        let base = head(EventType::Instant, 6, 11);
        let value = arg(b"odd \xff\xfe name", ArgValue::Int32(3));
        out.large_event(Head { name, ..base }, &[value], b"bytes");
        let name = odd(b" counter");
        let name = out.exact_name(&name);
        let base = head(EventType::Counter, 7, 11);
        let value = arg(b"odd \xff\xfe series", ArgValue::Int32(3));
        out.event(Head { name, ..base }, &[value], Some(4));
        let name = odd(b" object");
        let name = out.exact_name(&name);
        let value = arg(b"odd \xff\xfe name", ArgValue::Int32(3));
        out.prepare(&[value]);
        out.userspace_object(0x10, Err(10), name);
    })
}

/// Returns the file with the bytes of each word reversed, except texts, which are bytes in both orders.
fn turned(bytes: &[u8], is_text: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let words = bytes.chunks_exact(8);
    let turn = |word: &[u8]| -> Vec<u8> {
        match is_text(word) {
            true => word.to_vec(),
            false => word.iter().rev().copied().collect(),
        }
    };
    words.flat_map(turn).collect()
}

#[test]
fn names_values_and_attachments_keep_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let original = std::fs::read(folder.path().join("written.fxt")).unwrap();
    // Names that occur again are registered once.
    assert_eq!(counts(&original), [1; 8]);
    let (_, summary) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(summary.notes, Vec::<String>::new());
    let copy = std::fs::read(folder.path().join("cut.fxt")).unwrap();
    assert_eq!(counts(&copy), [1; 8]);
    // A range that cuts the slice adds arguments with its real times, and writes the counter's value at its start.
    cut(folder.path(), &source, &range(8, 9));
    let copy = std::fs::read(folder.path().join("cut.fxt")).unwrap();
    assert_eq!(counts(&copy), [1, 1, 1, 0, 0, 1, 1, 0]);
}

#[test]
fn big_endian_files_keep_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let tables = tables();
    let mut out = Records::new(&tables);
    out.head_of("");
    let base = head(EventType::Instant, 5, 11);
    let args = [arg(b"text", ArgValue::Text(b"\xff\xfe odd".into()))];
    out.event(base, &args, None);
    let bytes = out.finish().bytes;
    let is_text = |word: &[u8]| word.starts_with(b"text") || word.starts_with(b"\xff\xfe");
    let path = folder.path().join("big.fxt");
    std::fs::write(&path, turned(&bytes, is_text)).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    assert_eq!(source.trace.info.format, "big-endian FXT");
    cut(folder.path(), &source, &Selection::all());
    let copy = std::fs::read(folder.path().join("cut.fxt")).unwrap();
    assert!(copy.windows(6).any(|some| some == b"\xff\xfe odd"));
}
