use std::path::Path;

use super::borders::Window;
use super::fold::PartRange;
use super::reader::FxtReader;
use super::scan::Scan;
use super::settle::settle;
use super::*;
use crate::base::{Endian, Timestamp};
use crate::event::{EventDetail, Fact, KindId, LaneColumns, MarkOp, Value};
use crate::formats::stream::{PartRead, Started, start};
use crate::formats::{EventRef, Events, Gathered, Sniff, Stream};
use crate::fxt::layout::MAGIC;

/// A word of a record: a number, swapped in big-endian files, or eight bytes of text.
#[derive(Clone, Copy)]
enum Cell {
    Number(u64),
    Text(&'static [u8; 8]),
}
use Cell::{Number, Text};

fn encoded(cells: &[Cell], endian: Endian) -> Vec<u8> {
    let bytes = cells.iter().flat_map(|cell| match (cell, endian) {
        (Number(word), Endian::Little) => word.to_le_bytes(),
        (Number(word), Endian::Big) => word.to_be_bytes(),
        (Text(text), _) => **text,
    });
    bytes.collect()
}

/// A provider with a tick rate of 1 MHz, a thread, a named slice with an argument and an instant.
const SMALL: &[Cell] = &[
    Number(MAGIC),
    Number(2 << 4 | 1 << 16 | 3 << 20 | 4 << 52),
    Text(b"prov\0\0\0\0"),
    Number(1 | 2 << 4),
    Number(1_000_000),
    Number(2 | 2 << 4 | 1 << 16 | 5 << 32),
    Text(b"paint\0\0\0"),
    Number(3 | 3 << 4 | 1 << 16),
    Number(10),
    Number(11),
    Number(4 | 4 << 4 | 2 << 16 | 1 << 20 | 1 << 24 | 1 << 48),
    Number(7),
    Number(1 | 2 << 4 | 0x8003 << 16 | 42 << 32),
    Text(b"key\0\0\0\0\0"),
    Number(4 | 2 << 4 | 3 << 16 | 1 << 24),
    Number(9),
    Number(4 | 5 << 4 | 0x8004 << 48),
    Number(12),
    Number(10),
    Number(13),
    Text(b"tick\0\0\0\0"),
];

fn described(reader: &dyn Events, event: EventRef) -> EventDetail {
    reader.describe(event)
}

/// A file and its parts as they were read, before they are gathered.
struct Opened {
    reader: FxtReader,
    started: Started<FxtReader>,
    parts: Vec<LaneColumns>,
}

fn read(bytes: Vec<u8>) -> Opened {
    let job = Job::default();
    let reader = FxtReader::open(Input::from_vec(bytes, "test.fxt")).unwrap();
    let started = start(&reader, &job).unwrap();
    let starts = started.starts.iter();
    let parts = starts.map(|(part, range)| reader.read(*part, range, &started.whole, &job));
    let parts = parts.map(Result::unwrap).collect();
    Opened {
        reader,
        started,
        parts,
    }
}

impl Opened {
    fn gathered(self) -> Gathered {
        let parts = (0..).zip(self.parts);
        let parts = parts.map(|(part, read)| PartRead { part, read }).collect();
        let whole = self.started.whole;
        self.reader.gather(parts, whole, &Job::default()).unwrap()
    }
}

fn check_small(bytes: Vec<u8>) -> Gathered {
    let opened = read(bytes);
    let part = &opened.parts[0];
    let ops: Vec<MarkOp> = part.marks.iter().map(|mark| mark.op()).collect();
    assert_eq!(ops, vec![MarkOp::Begin, MarkOp::End]);
    let label = part.labels.get(part.marks[0].label() as usize).unwrap();
    assert_eq!(part.strings.text(label.name), "paint");
    let times: Vec<i64> = (0..3).map(|event| part.events.time(event).0).collect();
    assert_eq!(times, vec![7000, 9000, 12000]);
    assert_eq!(part.events.thread(0), part.events.thread(1));
    assert_ne!(part.events.thread(0), part.events.thread(2));
    let row = part.events.row(0);
    let detail = described(&opened.reader, EventRef::new(0, row));
    assert_eq!((detail.name.as_str(), detail.tid), ("paint", 11));
    assert_eq!(detail.fields[0].name, "key");
    assert_eq!(detail.fields[0].value, Value::Int(42));
    opened.gathered()
}

#[test]
fn both_byte_orders_say_the_same() {
    let little = check_small(encoded(SMALL, Endian::Little));
    let big = encoded(SMALL, Endian::Big);
    assert_eq!((FORMAT.sniff)(&big), Sniff::Yes);
    let big = check_small(big);
    assert_eq!(little.info.format, "FXT");
    assert_eq!(big.info.format, "big-endian FXT");
}

#[test]
fn a_file_without_magic_record_is_read_and_that_is_said() {
    for endian in [Endian::Little, Endian::Big] {
        let bytes = encoded(&SMALL[1..], endian);
        assert_eq!((FORMAT.sniff)(&bytes), Sniff::Maybe);
        let recording = open(Input::from_vec(bytes.clone(), "x"), &Job::default()).unwrap();
        assert_eq!(recording.diagnostics.count_of("no_magic_record"), 1);
        check_small(bytes);
    }
}

#[test]
fn other_bytes_are_refused() {
    let job = Job::default();
    for bytes in [&b""[..], b"short", b"not a trace of this sort at all"] {
        assert!(open(Input::from_vec(bytes.to_vec(), "x"), &job).is_err());
    }
}

#[test]
fn a_cancelled_job_stops() {
    let job = Job::default();
    job.cancel();
    let bytes = encoded(SMALL, Endian::Little);
    assert!(open(Input::from_vec(bytes, "x"), &job).is_err());
}

#[test]
fn sizes_in_a_file_are_no_promises() {
    let huge = [
        Number(MAGIC),
        // A large record of 32 GiB without contents.
        Number(15 | 0xffff_ffff << 4),
        Number(0),
    ];
    let opened = read(encoded(&huge, Endian::Little));
    assert!(opened.parts.iter().all(|part| part.events.is_empty()));
    assert_eq!(opened.gathered().diagnostics.count_of("cut_record"), 1);
    let blob = [
        Number(MAGIC),
        // A blob that claims 32,767 bytes in a record of two words, and a record with too many arguments.
        Number(5 | 2 << 4 | 0x7fff << 32),
        Number(7),
        Number(4 | 2 << 4 | 1 << 16 | 15 << 20 | 1 << 24),
        Number(5),
    ];
    let opened = read(encoded(&blob, Endian::Little));
    assert_eq!(opened.parts[0].events.len(), 2);
    assert_eq!(opened.parts[0].diagnostics.count_of("bad_argument"), 1);
    let facts = opened.gathered().info.facts;
    assert!(facts.iter().any(|fact| fact.value.contains("8 bytes")));
}

#[test]
fn blobs_take_the_time_of_the_record_before_them() {
    let cells = [
        Number(MAGIC),
        Number(5 | 1 << 4),
        Number(4 | 2 << 4 | 1 << 24),
        Number(5000),
        Number(5 | 1 << 4),
        Number(4 | 2 << 4 | 1 << 24),
        Number(9000),
    ];
    let opened = read(encoded(&cells, Endian::Little));
    let events = &opened.parts[0].events;
    let times: Vec<i64> = (0..4).map(|event| events.time(event).0).collect();
    assert_eq!(times, vec![5000, 5000, 5000, 9000]);
    let gathered = opened.gathered();
    let key = gathered.parts[0].columns.events.thread(0).unwrap();
    let directory = gathered.directory;
    let listed = directory.threads.iter().find(|thread| thread.key == key);
    let name = listed.and_then(|thread| thread.name).unwrap();
    assert_eq!(directory.strings.text(name), "provider");
}

/// Opens, reads and describes everything; only panics fail.
fn exercise(bytes: Vec<u8>) {
    let length = bytes.len();
    if open(
        Input::from_vec(bytes.clone(), "mutant.fxt"),
        &Job::default(),
    )
    .is_err()
    {
        return;
    }
    let opened = read(bytes);
    let reader = &opened.reader;
    for (part, columns) in (0..).zip(&opened.parts) {
        assert!(columns.events.is_sorted());
        assert!(columns.events.len() <= length / 8);
        for event in 0..columns.events.len() as u32 {
            let row = columns.events.row(event);
            let _ = described(reader, EventRef::new(part, row));
        }
    }
    // Places without an event must not cause a panic either.
    for place in [0, 3, 8, length as u64, u64::MAX] {
        let _ = described(
            reader,
            EventRef {
                part: 0,
                place,
                time: Timestamp(0),
                kind: KindId::default(),
                thread: None,
            },
        );
    }
    let directory = opened.gathered().directory;
    assert!(directory.threads.len() <= length / 8 + 1);
}

#[test]
fn damaged_files_never_panic() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut seeds = vec![encoded(SMALL, Endian::Little), encoded(SMALL, Endian::Big)];
    for folder in ["golden/fxt", "broken/fxt"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            if bytes.len() < 10_000 {
                seeds.push(bytes);
            }
        }
    }
    assert!(seeds.len() > 8);
    let mut state = 0x5eed_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 9) as usize % below
    };
    for seed in &seeds {
        exercise(seed.clone());
        for _ in 0..300 {
            let mut bytes = seed.clone();
            for _ in 0..=random(4) {
                let at = 8 + random(bytes.len().saturating_sub(8).max(1));
                let at = at.min(bytes.len() - 1);
                match random(5) {
                    0 => bytes[at] ^= 1 << random(8),
                    1 => bytes[at] = [0, 0xff, 0x7f, 0x80][random(4)],
                    2 => bytes.truncate(at.max(8)),
                    3 => {
                        let end = (at + 8 * (1 + random(6))).min(bytes.len());
                        let piece = bytes[at..end].to_vec();
                        bytes.splice(at..at, piece);
                    }
                    _ => {
                        let end = (at / 8 * 8 + 8).min(bytes.len());
                        bytes[at / 8 * 8..end].fill([0, 0xff][random(2)]);
                    }
                }
            }
            exercise(bytes);
        }
    }
}

/// Returns points with more names than 2 bytes can number, and wakeups by threads that no summary contains.
fn many_names() -> Vec<u8> {
    let mut bytes = MAGIC.to_le_bytes().to_vec();
    let mut words = |words: &[u64]| bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    for number in 0..100_000_u64 {
        let name = u64::from_le_bytes(*format!("n{number:07}").first_chunk_bytes());
        words(&[4 | 5 << 4 | 0x8008 << 48, number, 1, 2, name]);
        let waker = u64::from_le_bytes(*b"waker\0\0\0");
        let argument = 8 | 3 << 4 | 0x8005 << 16;
        let wakeup = 8 | 6 << 4 | 1 << 16 | 2 << 60;
        words(&[wakeup, number, 2, argument, waker, 200 - number % 50]);
    }
    bytes
}

trait FirstChunk {
    fn first_chunk_bytes(&self) -> &[u8; 8];
}

impl FirstChunk for String {
    fn first_chunk_bytes(&self) -> &[u8; 8] {
        self.as_bytes().first_chunk().unwrap()
    }
}

/// Returns kind names and threads of all events, with the parts read in this order.
fn read_in_order(order: &[u32], settles: fn(&Scan, &mut [LaneColumns])) -> Vec<(String, u64)> {
    let job = Job::default();
    let reader = FxtReader::open(Input::from_vec(many_names(), "test.fxt")).unwrap();
    let Started { starts, whole, .. } = start(&reader, &job).unwrap();
    assert_eq!(starts.len(), order.len());
    let mut parts = vec![LaneColumns::new(3); order.len()];
    for &part in order {
        let range = &starts[part as usize].1;
        parts[part as usize] = reader.read(part, range, &whole, &job).unwrap();
    }
    settles(&whole, &mut parts);
    let directory = reader.directory(&whole);
    let threads = directory.threads.iter();
    let tids: std::collections::HashMap<_, _> =
        threads.map(|thread| (thread.key, thread.tid)).collect();
    let mut all = Vec::new();
    for part in &parts {
        for event in 0..part.events.len() as u32 {
            let kind = part.kinds.get(part.events.kind(event).index()).unwrap();
            let name = part.strings.text(kind.name).into_owned();
            let key = part.events.thread(event).unwrap();
            assert_eq!(
                described(
                    &reader,
                    EventRef {
                        part: 0,
                        place: part.events.place(event),
                        time: Timestamp(0),
                        kind: part.events.kind(event),
                        thread: Some(key),
                    }
                )
                .tid,
                tids[&key]
            );
            all.push((name, u64::from(key.0) << 32 | tids[&key]));
        }
        for wakeup in &part.wakeups {
            let waker = wakeup.waker.get().unwrap();
            all.push((String::new(), u64::from(waker.0) << 32 | tids[&waker]));
        }
    }
    all
}

#[test]
fn what_is_called_how_does_not_depend_on_the_order_in_which_parts_are_read() {
    let settles = |scan: &Scan, parts: &mut [LaneColumns]| {
        let mut all: Vec<&mut LaneColumns> = parts.iter_mut().collect();
        settle(scan, &mut all);
    };
    let forward = read_in_order(&[0, 1], settles);
    assert!(forward == read_in_order(&[1, 0], settles));
    let named = forward.iter().filter(|(name, _)| name.starts_with('n'));
    assert_eq!(named.count(), 100_000);
    // Without settling, the results differ.
    let unsettled = |_: &Scan, _: &mut [LaneColumns]| {};
    assert!(read_in_order(&[0, 1], unsettled) != read_in_order(&[1, 0], unsettled));
}

#[test]
fn a_cancelled_fold_gives_up_within_its_part() {
    let reader = FxtReader::open(Input::from_vec(many_names(), "test.fxt")).unwrap();
    let (job, cancelled) = (Job::default(), Job::default());
    cancelled.cancel();
    let summary = || reader.summarise(0, &job).unwrap();
    let mut state = reader.first_state();
    assert!(reader.fold(&mut state, 0, summary(), &cancelled).is_err());
    // If the records of the previous part end elsewhere, the fold summarises the part.
    let mut state = reader.first_state();
    let unknown = super::summary::Summary::default();
    assert!(reader.fold(&mut state, 0, unknown, &cancelled).is_err());
    let mut state = reader.first_state();
    assert!(reader.fold(&mut state, 0, summary(), &job).is_ok());
    assert!(reader.conclude(state, &cancelled).is_err());
}

/// Returns everything that is read from a file, as text that must not depend on the parts.
fn everything(reader: &FxtReader) -> String {
    let job = Job::default();
    let Started { starts, whole, .. } = start(reader, &job).unwrap();
    let read = starts.iter().map(|(part, range)| {
        let columns = reader.read(*part, range, &whole, &job).unwrap();
        PartRead {
            part: *part,
            read: columns,
        }
    });
    let gathered = reader.gather(read.collect(), whole, &job).unwrap();
    let directory = &gathered.directory;
    let text = |id| directory.strings.text(id).into_owned();
    let mut events = Vec::new();
    let mut diagnostics = gathered.diagnostics;
    let mut gaps = Vec::new();
    for part in gathered.parts {
        let columns = part.columns;
        gaps.extend(columns.gaps.iter().map(|gap| format!("{gap:?}")));
        for event in 0..columns.events.len() as u32 {
            let row = columns.events.row(event);
            let kind = columns.kinds.get(row.kind.index()).unwrap();
            let detail = described(reader, EventRef::new(part.part, row));
            let own = |id| columns.strings.text(id).into_owned();
            let names = (own(kind.category), own(kind.name), detail);
            events.push((row.place, row.time, row.thread, format!("{names:?}")));
        }
        diagnostics.merge(columns.diagnostics);
    }
    events.sort_by_key(|event| event.0);
    let threads = directory.threads.iter().map(|thread| {
        let name = thread.name.map(text);
        (thread.key, thread.tid, thread.process, name)
    });
    let threads: Vec<_> = threads.collect();
    let processes = directory.processes.iter();
    let processes: Vec<_> = processes
        .map(|process| (process.key, process.pid, process.name.map(text)))
        .collect();
    let lives = (&directory.process_lives, &directory.thread_lives);
    let facts = (gathered.info.facts, gathered.info.losses);
    format!("{events:?} {gaps:?} {diagnostics:?} {threads:?} {processes:?} {lives:?} {facts:?}")
}

/// Returns small files of many kinds, whole and damaged.
fn small_files() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = vec![encoded(SMALL, Endian::Little), encoded(SMALL, Endian::Big)];
    for folder in ["golden/fxt", "broken/fxt"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            let is_fxt = open(Input::from_vec(bytes.clone(), "x"), &Job::default()).is_ok();
            if is_fxt && bytes.len() < 200_000 {
                files.push(bytes);
            }
        }
    }
    assert!(files.len() > 8);
    files
}

#[test]
fn parts_cut_anywhere_say_the_same() {
    for bytes in small_files() {
        let input = || Input::from_vec(bytes.clone(), "test.fxt");
        let expected = everything(&FxtReader::open_in_parts(input(), u64::MAX).unwrap());
        let in_parts = FxtReader::open_in_parts(input(), 1 << 14).unwrap();
        assert!(everything(&in_parts) == expected);
        // Windows that start inside records but claim to start at borders.
        for part_bytes in [8, 40, 104, 1000, 10_000] {
            let length = bytes.len() as u64;
            if length / part_bytes > 3_000 {
                continue;
            }
            for has_border in [true, false] {
                let starts = (0..length).step_by(part_bytes as usize);
                let windows = starts.map(|start| Window {
                    start,
                    end: (start + part_bytes).min(length),
                    has_border,
                });
                let reader = FxtReader::open(input()).unwrap();
                let reader = reader.in_windows(windows.collect());
                assert!(everything(&reader) == expected, "parts of {part_bytes}");
            }
        }
    }
}

#[test]
fn parts_begin_where_their_borders_are_guessed() {
    let input = Input::from_vec(many_names(), "test.fxt");
    let reader = FxtReader::open_in_parts(input, 1 << 16).unwrap();
    let ranges = start(&reader, &Job::default()).unwrap().starts;
    assert!(ranges.len() > 100);
    // Otherwise the fold summarises a part a second time.
    assert!(
        ranges
            .iter()
            .all(|(part, range)| reader.starts_at_its_border(*part, range))
    );
}

#[test]
fn a_record_longer_than_parts_leaves_them_empty() {
    let mut cells = SMALL.to_vec();
    // A large blob of 100 words, which look like records.
    cells.extend([Number(15 | 103 << 4 | 1 << 40), Number(0), Number(800)]);
    cells.extend([Number(4 | 2 << 4 | 1 << 24); 100]);
    cells.extend([Number(4 | 2 << 4 | 1 << 24), Number(20)]);
    let bytes = encoded(&cells, Endian::Little);
    let input = || Input::from_vec(bytes.clone(), "test.fxt");
    let windows = (0..bytes.len() as u64).step_by(64).map(|start| Window {
        start,
        end: (start + 64).min(bytes.len() as u64),
        has_border: true,
    });
    let reader = FxtReader::open(input()).unwrap();
    let reader = reader.in_windows(windows.collect());
    let ranges = start(&reader, &Job::default()).unwrap().starts;
    let is_empty = |range: &PartRange| range.start == range.end;
    let empty = ranges.iter().filter(|(_, range)| is_empty(range)).count();
    assert!(empty >= 11, "{ranges:?}");
    assert!(everything(&reader) == everything(&FxtReader::open(input()).unwrap()));
}

#[test]
fn opening_reads_the_head_only() {
    let mut bytes = many_names();
    // A zero word and an unknown record, far after the head.
    let words = [0_u64, 12 | 1 << 4];
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let job = Job::default();
    let recording = open(Input::from_vec(bytes, "test.fxt"), &job).unwrap();
    assert!(recording.diagnostics.is_empty());
    assert!(
        recording
            .info
            .facts
            .iter()
            .all(|fact| fact.name != "records")
    );
    let memory_before = recording.events.memory_bytes();
    assert!(memory_before < 10_000, "no tables yet");
    let density = &recording.stream.coarse().density;
    assert_eq!(density.len(), recording.stream.parts().len());
    let times: Vec<i64> = density.iter().map(|sample| sample.time.0).collect();
    assert_eq!(times[0], 0);
    assert!((70_000..100_000).contains(&times[1]), "{times:?}");
    let gathered = recording.read_whole(&job).unwrap();
    assert_eq!(gathered.diagnostics.count_of("zero_word"), 1);
    assert_eq!(gathered.diagnostics.count_of("unknown_record_type"), 1);
    let facts = gathered.info.facts;
    assert!(facts.contains(&Fact::new("records", "200002")));
    assert!(recording.events.memory_bytes() > memory_before);
}

#[test]
fn the_summaries_of_a_cancelled_load_stop() {
    let job = Job::default();
    let recording = open(Input::from_vec(many_names(), "test.fxt"), &job).unwrap();
    let reader = FxtReader::open(Input::from_vec(many_names(), "test.fxt")).unwrap();
    reader.summarise(0, &job).unwrap();
    let done = job.progress().done;
    let share = reader.parts()[0].size_bytes / 8;
    assert!(done.abs_diff(share) < 100, "{done} of {share}");
    job.cancel();
    assert!(reader.summarise(1, &job).is_err());
    assert_eq!(job.progress().done, done, "nothing more was read");
    assert!(recording.read_whole(&job).is_err());
    assert!(
        recording.events.memory_bytes() < 10_000,
        "no tables were made"
    );
}
