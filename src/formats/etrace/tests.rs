//! Tests of the whole reader over recordings: the result is the same for parts of any size.

use std::path::Path;

use super::{Environments, EtraceReader, PART_BYTES};
use crate::base::{Job, StringId};
use crate::event::EventDetail;
use crate::event::{LaneColumns, Life};
use crate::formats::stream::PartRead;
use crate::formats::{EventRef, Events, IndependentParts, Input};

/// Returns the recordings in the repository; those of the corpus are compressed.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut all = Vec::new();
    for folder in ["golden/etrace", "corpus/etrace"] {
        for entry in std::fs::read_dir(tests.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = || std::fs::read(&path).unwrap();
            if name.ends_with(".etrace") {
                all.push((name, bytes()));
            } else if name.ends_with(".etrace.packed") {
                all.push((name, zstd::decode_all(&bytes()[..]).unwrap()));
            }
        }
    }
    assert!(all.len() >= 14, "{}", all.len());
    all.sort();
    all.dedup();
    all
}

fn described(reader: &dyn Events, event: EventRef) -> EventDetail {
    reader.describe(event)
}

fn read(bytes: &[u8], part_bytes: usize) -> (EtraceReader, Vec<LaneColumns>) {
    let reader = EtraceReader::open(Input::from_vec(bytes.to_vec(), "test"), part_bytes);
    let job = Job::default();
    let tokens = (0..reader.parts.len() as u32)
        .map(|part| PartRead {
            part,
            read: reader.read(part, &job).unwrap(),
        })
        .collect();
    let gathered = reader.gather(tokens, &job).unwrap();
    let parts: Vec<LaneColumns> = gathered.parts.into_iter().map(|it| it.columns).collect();
    let span = |part: &LaneColumns| {
        let last = part.events.len().checked_sub(1);
        last.map(|last| (part.events.time(0), part.events.time(last as u32)))
    };
    let spans: Vec<_> = parts.iter().filter_map(span).collect();
    // The parts follow each other in time.
    assert!(spans.is_sorted_by(|a, b| a.1 <= b.0));
    (reader, parts)
}

/// Returns all results of a read as sorted lines of text, without values that depend on parts.
fn all_rows(reader: &EtraceReader, parts: &[LaneColumns]) -> Vec<String> {
    let directory = reader.directory(&Environments::default());
    let upid = |key: crate::event::ThreadKey| {
        let entry = directory.threads.iter().find(|entry| entry.key == key);
        entry.map_or(0, |entry| entry.file_key)
    };
    let mut rows = Vec::new();
    for part in parts {
        let text = |id: StringId| String::from_utf8_lossy(part.strings.bytes(id)).into_owned();
        let place = |event: u32| part.events.place(event);
        for event in 0..part.events.len() as u32 {
            let row = part.events.row(event);
            rows.push(format!(
                "{} event {} {} {:?}",
                row.place,
                row.time,
                row.kind.0,
                part.events.cpu(event)
            ));
        }
        for row in &part.files {
            rows.push(format!(
                "{} file {:?} {:?} {:?} {} {} {} {}",
                place(row.event),
                row.op,
                text(row.path),
                text(row.other_path),
                row.flags,
                row.mode,
                row.fd,
                row.result
            ));
        }
        for row in &part.lives {
            let life = match &row.life {
                Life::Fork {
                    parent,
                    child,
                    sort,
                    ..
                } => format!("fork {} {} {sort:?}", upid(parent.unwrap()), upid(*child)),
                Life::Exec {
                    program,
                    arguments,
                    directory,
                    interpreter,
                    ..
                } => {
                    let arguments: Vec<String> = arguments.iter().map(|id| text(*id)).collect();
                    format!(
                        "exec {:?} {arguments:?} {:?} {:?}",
                        text(*program),
                        text(*directory),
                        text(*interpreter)
                    )
                }
                Life::Name { name, .. } => format!("name {:?}", text(*name)),
                life => format!("{life:?}"),
            };
            rows.push(format!("{} {life}", place(row.event)));
        }
        for gap in &part.gaps {
            rows.push(format!("{gap:?}"));
        }
    }
    rows.sort();
    let mut codes: Vec<String> = Vec::new();
    let mut all = crate::base::Diagnostics::default();
    for part in parts {
        all.merge(part.diagnostics.clone());
    }
    for row in all.rows() {
        codes.push(format!("{} {} {:?}", row.code, row.count, row.places));
    }
    codes.sort();
    rows.extend(codes);
    rows
}

#[test]
fn it_does_not_matter_where_a_file_is_cut() {
    let made = ("holes".to_owned(), with_holes());
    for (name, bytes) in recordings().into_iter().chain([made]) {
        let (reader, parts) = read(&bytes, PART_BYTES);
        assert_eq!(parts.len(), 1);
        let whole = all_rows(&reader, &parts);
        let sizes: &[usize] = if bytes.len() < 50_000 {
            &[1, 77, 500, 4099]
        } else {
            &[3001, 20_000]
        };
        for &size in sizes {
            let (reader, parts) = read(&bytes, size);
            assert!(parts.len() > 1);
            let cut = all_rows(&reader, &parts);
            for (a, b) in whole.iter().zip(&cut) {
                assert_eq!(a, b, "{name} in parts of {size} bytes");
            }
            assert_eq!(whole.len(), cut.len(), "{name} in parts of {size} bytes");
        }
    }
}

/// Returns calls with losses between their lines.
fn with_holes() -> Vec<u8> {
    let mut text = String::from("INITCWD=/p\n");
    for round in 0..16_i64 {
        let [a, b] = [1, 2].map(|serial| ((round * 2 + serial) << 22) | (100 + serial));
        let second = round + 1;
        text.push_str(&format!(
            "0: {a},0,{second},1!Open|fnamesize=4,forigsize=4,flags=577,mode=420,fd=3\n0: {b},1,{second},0!Exit|status=0\n\
             CPU:0 [LOST 3 EVENTS]\n0: {a},0,{second},4!FN|/usr/x\n0: {a},0,{second},5!FO|/usr/x\n\
             0: {a},0,{second},6!Open|fnamesize=4,forigsize=4,flags=577,mode=420,fd=3\n0: {a},0,{second},7!FN|/w/a\n\
             0: {a},0,{second},8!FO|/w/a\nCPU:0 [LOST EVENTS]\n0: {b},1,{second},5!Exit|status=0\n0: {a},0,{second},10!FN|/w/b\n\
             0: {a},0,{second},11!FO|/w/b\n0: {a},0,{second},12!New_proc|argsize=9,prognameisize=1,prognamepsize=1,cwdsize=1\n\
             0: {a},0,{second},13!PI|p\n0: {a},0,{second},14!PP|p\nCPU:3 [LOST 1 EVENTS]\n0: {a},0,{second},15!CW|p\n\
             0: {a},0,{second},16!A[0]sh\nCPU:0 [LOST 1 EVENTS]\n0: {b},1,{second},11!Exit|status=0\n0: {a},0,{second},18!A[2]x\n\
             0: {a},0,{second},19!A[3]y\n0: {a},0,{second},20!End_of_args|\nCPU:0 [LOST 1 EVENTS]\n0: {a},0,{second},21!Close|fd=3\n"
        ));
    }
    text.into_bytes()
}

#[test]
fn a_call_goes_on_behind_a_line_longer_than_any_part() {
    let long = "q".repeat(10 << 20);
    let text = format!(
        "INITCWD=/\n\
         4194310,0,1,1!Open|fnamesize={},forigsize=2,flags=0,mode=0,fd=3\n\
         4194310,0,1,2!FN|/{long}\n4194310,0,1,3!FO|/q\n4194310,0,1,4!Close|fd=3\n",
        long.len() + 1
    );
    for part_bytes in [100, PART_BYTES, 64 << 20] {
        let (_, parts) = read(text.as_bytes(), part_bytes);
        assert_eq!(parts.len(), if part_bytes > long.len() { 1 } else { 2 });
        assert!(parts.iter().all(|part| part.diagnostics.is_empty()));
        let events: usize = parts.iter().map(|part| part.events.len()).sum();
        assert_eq!(events, 2);
        let opened = &parts[0].files[0];
        assert_eq!(parts[0].strings.bytes(opened.other_path), b"/q");
    }
}

#[test]
fn a_file_that_ends_anywhere_is_read_up_to_there() {
    for (name, bytes) in recordings() {
        let (_, whole) = read(&bytes, PART_BYTES);
        let total: usize = whole.iter().map(|part| part.events.len()).sum();
        let step = bytes.len() / 60 + 1;
        for end in (0..bytes.len()).step_by(step) {
            let cut = bytes.get(..end).unwrap();
            let (reader, parts) = read(cut, 20_000);
            let events: usize = parts.iter().map(|part| part.events.len()).sum();
            assert!(events <= total, "{name} up to {end}");
            for (number, part) in parts.iter().enumerate() {
                if let Some(last) = part.events.len().checked_sub(1) {
                    let row = part.events.row(last as u32);
                    let detail = described(&reader, EventRef::new(number as u32, row));
                    assert_eq!(detail.time, row.time, "{name} up to {end}");
                }
            }
        }
    }
}

#[test]
fn an_event_on_the_line_of_another_is_found() {
    let text = b"INITCWD=/\n0: 0,0,1,5!UPID|77\n0: 0,0,1,6!Env[0]A=1\n0: 0,0,1,7!Cont|2\n\
        0: 0,0,1,8!Cont_end|0: 0,0,1,9!Env[1]3\n0: 0,0,1,10!Env[0]B=\n";
    let (reader, parts) = read(text, PART_BYTES);
    let events = &parts[0].events;
    assert_eq!(events.len(), 3);
    let describe = |event: u32| {
        let row = events.row(event);
        described(&reader, EventRef::new(0, row))
    };
    assert_eq!(describe(0).text, "77");
    assert_eq!(describe(2).text, "B=");
}

#[test]
fn flags_and_failed_calls_are_said_in_words() {
    let text = b"4194310,0,1,1!Open|fnamesize=2,forigsize=2,flags=577,mode=420,fd=3\n\
        4194310,0,1,2!FN|/a\n4194310,0,1,3!FO|/b\n4194310,0,1,4!RenameFrom|fnamesize=2\n\
        4194310,0,1,5!RF|/a\n4194310,0,1,6!RenameFailed|\n4194310,0,1,7!Novel|x=1\n";
    let (reader, parts) = read(text, PART_BYTES);
    let part = &parts[0];
    assert_eq!(part.files.len(), 2);
    assert_eq!(part.files[1].result, -1);
    assert_eq!(part.strings.bytes(part.files[1].path), b"/a");
    let row = part.events.row(0);
    let detail = described(&reader, EventRef::new(0, row));
    assert_eq!(
        detail.text,
        "path=/a original=/b flags=O_WRONLY|O_CREAT|O_TRUNC mode=0o644 fd=3"
    );
    let directory = reader.directory(&Environments::default());
    let kind = directory.kinds[part.events.kind(3).index()];
    assert_eq!(directory.strings.bytes(kind.name), b"Novel");
}

/// Returns the lines of a few tasks, in order and displaced by less than 60 lines.
fn in_order_and_not() -> [Vec<u8>; 2] {
    let tasks = [1_i64, 2, 3].map(|serial| (serial << 22) | (100 + serial));
    let mut lines: Vec<String> = Vec::new();
    for round in 0..400 {
        for it in tasks {
            let name = format!("/w/{round}");
            let size = name.len();
            for body in [
                format!("RenameFrom|fnamesize={size}"),
                format!("RF|{name}"),
                format!("RenameTo|fnamesize={}", size + 1),
                format!("RT|{name}x"),
                format!("Open|fnamesize={size},forigsize={size},flags=577,mode=420,fd=3"),
                format!("FN|{name}"),
                format!("FO|{name}"),
                "Close|fd=3".to_owned(),
            ] {
                let time = lines.len();
                lines.push(format!("0: {it},0,1,{time}!{body}\n"));
            }
        }
    }
    let mut seed = 7_u64;
    let mut moved: Vec<(usize, &String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        moved.push((at + (seed >> 33) as usize % 60, line));
    }
    moved.sort_by_key(|line| line.0);
    let moved: Vec<u8> = moved.into_iter().flat_map(|line| line.1.bytes()).collect();
    [lines.concat().into_bytes(), moved]
}

#[test]
fn lines_out_of_order_around_a_cut_are_joined() {
    // Lines are identified by their times, because their places differ.
    let told = |bytes: &[u8], part_bytes: usize| {
        let (reader, parts) = read(bytes, part_bytes);
        let mut all: Vec<String> = Vec::new();
        for (part, columns) in parts.iter().enumerate() {
            assert!(columns.diagnostics.is_empty(), "{:?}", columns.diagnostics);
            for at in 0..columns.events.len() as u32 {
                let row = columns.events.row(at);
                let detail = described(&reader, EventRef::new(part as u32, row));
                all.push(format!("{} {}", row.time, detail.line()));
            }
            let text = |id: StringId| String::from_utf8_lossy(columns.strings.bytes(id));
            for row in &columns.files {
                let time = columns.events.time(row.event);
                let [path, other] = [row.path, row.other_path].map(text);
                all.push(format!("{time} {:?} {path} {other}", row.op));
            }
        }
        all.sort();
        (all, parts.len())
    };
    let [in_order, moved] = in_order_and_not();
    let (expected, _) = told(&in_order, PART_BYTES);
    assert_eq!(expected.len(), 400 * 3 * 7);
    for part_bytes in [PART_BYTES, 200_000, 70_001] {
        let (all, parts) = told(&moved, part_bytes);
        assert_eq!(parts > 1, part_bytes < PART_BYTES);
        let differ = all.iter().zip(&expected).find(|(a, b)| a != b);
        assert_eq!(differ, None, "parts of {part_bytes} bytes");
        assert_eq!(all.len(), expected.len());
    }
}
