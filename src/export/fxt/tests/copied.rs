//! Tests that copied records match the rows that the model has for them.

use super::*;
use crate::export::rows::RowFormat;
use crate::export::tables::write;
use crate::tables;

/// How a file is exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By copying its records.
    Filter,
    /// By encoding the rows of the model, as for a file of another format.
    Encode,
}

fn bytes_of(source: &LoadedTrace, zones: Zones, selection: &Selection, way: Way) -> Vec<u8> {
    let job = Job::default();
    let request = Request {
        loaded: source,
        chosen: &Chosen::new(&source.trace, selection),
        job: &job,
        table: None,
    };
    let mut out = Vec::new();
    let file = FxtFile::of(source).filter(|_| way == Way::Filter);
    write_as(zones, file, &request, &mut out).unwrap();
    out
}

/// Returns the cells of a table, without the line of column names.
fn cells_of(loaded: &LoadedTrace, name: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let chosen = Chosen::new(&loaded.trace, &Selection::all());
    let table = tables::find(name).unwrap();
    let job = Job::default();
    write(table, loaded, &chosen, RowFormat::Tsv, &mut out, &job).unwrap();
    let text = String::from_utf8_lossy(&out).into_owned();
    let rows = text.lines();
    rows.map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// Returns the cells of each row of a table, by the row's number.
fn said_by_id(rows: &[Vec<String>]) -> BTreeMap<String, String> {
    let at = |name: &str| rows[0].iter().position(|column| column == name);
    let Some(id) = at("id") else {
        return BTreeMap::new();
    };
    let words = |row: &Vec<String>| {
        let columns = ["ts", "dur", "name", "tid", "pid"];
        let columns = columns.into_iter().filter_map(at);
        let cells: Vec<&str> = columns.map(|column| row[column].as_str()).collect();
        cells.join(" ")
    };
    let rows = rows.iter().skip(1);
    rows.map(|row| (row[id].clone(), words(row))).collect()
}

/// Returns the lines of a table, without the places of records. Row numbers depend on the order in which threads
/// occur, so the number of a parent, or of the slice at an arrow's end, is replaced by that row's cells.
fn table(loaded: &LoadedTrace, name: &str) -> Vec<String> {
    let rows = cells_of(loaded, name);
    let columns = &rows[0];
    let hidden = [
        "id", "number", "event", "location", "place", "offset", "byte",
    ];
    let said = said_by_id(&rows);
    let slices = match name {
        "flows" => said_by_id(&cells_of(loaded, "slices")),
        _ => BTreeMap::new(),
    };
    let shown = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(columns)
            .filter(|(_, name)| !hidden.contains(&name.as_str()));
        let cells = cells.map(|(cell, name)| match name.as_str() {
            "parent_id" => said.get(cell).unwrap_or(cell).clone(),
            // The encoder writes events that belong to no thread in its own provider's section.
            "track" | "thread" | "name" if cell.starts_with("provider") => "provider".to_owned(),
            "from_slice" | "to_slice" => slices.get(cell).unwrap_or(cell).clone(),
            _ => cell.clone(),
        });
        cells.collect::<Vec<_>>().join("\t")
    };
    let mut lines: Vec<String> = rows.iter().skip(1).map(shown).collect();
    lines.sort_unstable();
    lines
}

/// Returns selections: every second thread, of the whole and of a range; a CPU; every second track and counter.
fn choices_of(source: &LoadedTrace, range: &Selection) -> Vec<Selection> {
    let trace = &source.trace;
    let every_second = |count: usize| (1..count as u32).step_by(2);
    let threads: Vec<ThreadId> = every_second(trace.threads.len()).map(ThreadId).collect();
    let tracks = every_second(trace.tracks.len()).map(crate::trace::TrackId);
    let counters = every_second(trace.counters.tracks.len()).map(crate::trace::CounterTrackId);
    let (tracks, counters): (Vec<_>, Vec<_>) = (tracks.collect(), counters.collect());
    let mut choices = Vec::new();
    if !threads.is_empty() {
        for part in [&Selection::all(), range] {
            let threads = threads.clone();
            choices.push(Selection {
                threads,
                ..part.clone()
            });
        }
    }
    if !trace.cpus.is_empty() {
        choices.push(Selection {
            cpus: vec![crate::trace::CpuId(0)],
            ..Selection::all()
        });
    }
    if !tracks.is_empty() || !counters.is_empty() {
        choices.push(Selection {
            tracks,
            counters,
            ..Selection::all()
        });
    }
    choices
}

/// Tables that must be equal in two exports of a part of a file: one that copies records, and one that encodes the
/// trace's rows. Other tables differ: encoding leaves out events without an effect, and writes its own switches and
/// wakeups for the runs and states.
const ENCODED_ALIKE: [&str; 6] = ["slices", "instants", "counters", "runs", "logs", "blobs"];

/// Checks that the copy of a whole file has the same tables as the file, and the copy of each part the same tables as
/// its encoded export.
fn assert_same(folder: &Path, source: &LoadedTrace, what: &str) {
    let path = folder.join("copied.fxt");
    let all = Selection::all();
    std::fs::write(&path, bytes_of(source, Zones::FULL, &all, Way::Filter)).unwrap();
    let copied = open(&path, &Job::default()).unwrap();
    for name in ["slices", "counters", "flows", "runs", "states", "logs"] {
        assert_alike(&copied, source, name, what);
    }
    assert_parts_same(folder, source, &ENCODED_ALIKE, what);
}

fn assert_alike(one: &LoadedTrace, other: &LoadedTrace, name: &str, what: &str) {
    let (one, other) = (table(one, name), table(other, name));
    let differs = one.iter().zip(&other).find(|(a, b)| a != b);
    let counts = (one.len(), other.len());
    assert!(one == other, "{name} of {what}: {counts:?} {differs:?}");
}

fn assert_parts_same(folder: &Path, source: &LoadedTrace, tables: &[&str], what: &str) {
    let span = source.trace.span;
    let part = |of: i64| Timestamp(span.start.0 + (span.end.0 - span.start.0) / 16 * of);
    let small = Zones {
        strings: 40,
        last_string: 60,
        threads: 2,
        last_thread: 4,
    };
    let all = Selection::all();
    let ranges = [(0, 8), (3, 5), (7, 16), (2, 13)]
        .map(|(from, until)| Selection::range(TimeSpan::new(part(from), part(until))));
    // Large files are read back less often, to save time.
    let range_count = if source.trace.events.len() > 5000 {
        1
    } else {
        4
    };
    let choices = match range_count {
        1 => Vec::new(),
        _ => choices_of(source, &ranges[1]),
    };
    let parts = ranges.iter().take(range_count).chain(&choices);
    let ways = parts.map(|part| (Zones::FULL, part)).chain([(small, &all)]);
    for (zones, selection) in ways.chain([(Zones::FULL, &all)]) {
        let read = |way: Way, name: &str| {
            let path = folder.join(name);
            std::fs::write(&path, bytes_of(source, zones, selection, way)).unwrap();
            open(&path, &Job::default()).unwrap()
        };
        let copied = read(Way::Filter, "copied.fxt");
        let encoded = read(Way::Encode, "encoded.fxt");
        for name in tables {
            assert_alike(&copied, &encoded, name, &format!("{what}, {selection:?}"));
        }
    }
}

#[test]
fn copies_are_read_as_what_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/golden/fxt", "sample-traces", "tests/corpus/fxt"];
    let files = folders.iter().map(|folder| root.join(folder).read_dir());
    let paths = files
        .flat_map(Result::unwrap)
        .map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !(name.ends_with(".fxt") || name.contains(".fxt.") && !name.contains(".tp.")) {
            continue;
        }
        if let Ok(source) = open(&path, &Job::default()) {
            assert_same(folder.path(), &source, &name);
            count += 1;
        }
    }
    assert!(count > 12, "{count}");
}

fn random_numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    }
}

/// Writes a file with every kind of record that can be copied, with often equal times, on few threads.
fn random_file(folder: &Path, random: &mut impl FnMut(u64) -> u64, most_step: u64) -> PathBuf {
    let mut time = 100;
    file(folder, "random.fxt", |out| {
        for _ in 0..150 {
            time += random(most_step);
            let thread = 11 + random(2);
            let name = out.name(["a", "b", "c"][random(3) as usize]);
            let args = [Arg::new("n", ArgValue::Int64(random(9) as i64))];
            let args = &args[..random(2) as usize];
            let (event_type, word) = match random(19) {
                0..=3 => (EventType::Begin, None),
                4..=7 => (EventType::End, None),
                8..=10 => (EventType::Complete, Some(time + random(3) * random(9))),
                11 => (
                    EventType::Instant,
                    [None, Some(1), Some(2)][random(3) as usize],
                ),
                12 => (EventType::AsyncBegin, Some(random(3))),
                13 => (EventType::AsyncInstant, Some(random(3))),
                14 => (EventType::AsyncEnd, Some(random(3))),
                15 => (EventType::Counter, Some(0)),
                16 => (EventType::FlowBegin, Some(random(3))),
                17 => (EventType::FlowStep, Some(random(3))),
                _ => (EventType::FlowEnd, Some(random(3))),
            };
            let base = head(event_type, time, thread);
            out.event(Head { name, ..base }, args, word);
            let side = |koid| Side::Thread { koid, weight: 1 };
            match random(12) {
                0 => out.context_switch((time, 0), side(11), (3, ""), side(12), None),
                1 => out.wakeup(time, 0, thread, None),
                _ => {}
            }
        }
    })
}

#[test]
fn copies_of_one_time_nest_as_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = random_numbers(7);
    for round in 0..60 {
        let path = random_file(folder.path(), &mut random, 1 + round % 4);
        let source = open(&path, &Job::default()).unwrap();
        assert_same(folder.path(), &source, &format!("round {round}"));
        // In files of this program the first of slices that start together is the outer one.
        let ours = folder.path().join("ours.fxt");
        let bytes = bytes_of(&source, Zones::FULL, &Selection::all(), Way::Filter);
        std::fs::write(&ours, bytes).unwrap();
        let ours = open(&ours, &Job::default()).unwrap();
        assert_same(folder.path(), &ours, &format!("round {round} again"));
    }
}

#[test]
fn copies_of_damaged_records_are_read_as_what_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = random_numbers(11);
    // A damaged record may belong to a thread with the number 0, which the encoder writes with another number.
    let tables = ["slices", "counters", "flows", "runs", "logs", "blobs"];
    let mut count = 0;
    for round in 0..150 {
        let path = random_file(folder.path(), &mut random, 100);
        let mut bytes = std::fs::read(&path).unwrap();
        let most = bytes.len() as u64;
        for _ in 0..1 + random(20) {
            let at = 64 + random(most - 64) as usize;
            match random(3) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes[at] ^= 1 << random(8),
                // The bits of headers with references, types and counts.
                _ => bytes[at / 8 * 8 + random(4) as usize] ^= 1 << random(8),
            }
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(source) = open(&path, &Job::default()) {
            let what = format!("round {round}");
            assert_parts_same(folder.path(), &source, &tables, &what);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Two events of one time: a copied record stays after the record before it, whereas encoded slices would come first.
#[test]
fn records_of_a_whole_file_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        for (event_type, name, word) in [
            (EventType::Instant, "point", None),
            (EventType::Complete, "slice", Some(200)),
        ] {
            let name = out.name(name);
            let base = head(event_type, 100, 11);
            out.event(Head { name, ..base }, &[], word);
        }
    });
    let types_of = |way| -> Vec<u64> {
        let bytes = bytes_of(&source, Zones::FULL, &Selection::all(), way);
        let events = records_in(&bytes).filter(|header| header & 0xf == 4);
        events.map(|header| header >> 16 & 0xf).collect()
    };
    assert_eq!(types_of(Way::Filter), [0, 4]);
    assert_eq!(types_of(Way::Encode), [4, 0]);
}

/// In a selection, too, no record is decoded and encoded again: the encoder might write it with other bytes.
#[test]
fn records_of_a_choice_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let odd = |thread: u64| [b'a', 0xff, b'0' + (thread % 10) as u8, 0xfe];
    let source = written(folder.path(), |out| {
        for thread in [11, 12] {
            let args = [Arg {
                name: b"odd".into(),
                value: ArgValue::Text(odd(thread).to_vec().into()),
            }];
            for (event_type, time, word) in [
                (EventType::Instant, 100, None),
                (EventType::Counter, 110, Some(0)),
                (EventType::Complete, 120, Some(150)),
                (EventType::Begin, 200, None),
                (EventType::End, 300, None),
                (EventType::AsyncBegin, 310, Some(thread)),
                (EventType::AsyncEnd, 320, Some(thread)),
            ] {
                out.event(head(event_type, time, thread), &args, word);
            }
        }
    });
    let threads = source.trace.threads.iter().zip(0..);
    let threads = threads.filter(|row| row.0.tid == 12);
    let selection = Selection {
        threads: threads.map(|row| ThreadId(row.1)).collect(),
        ..Selection::all()
    };
    let bytes = bytes_of(&source, Zones::FULL, &selection, Way::Filter);
    let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(has(&odd(12)) && !has(&odd(11)));
    let whole = std::fs::read(folder.path().join("written.fxt")).unwrap();
    let copied: Vec<u64> = records_in(&bytes).filter(|word| word & 0xf == 4).collect();
    let of_file: Vec<u64> = records_in(&whole).filter(|word| word & 0xf == 4).collect();
    assert_eq!(copied, of_file[7..]);
}

/// Returns the headers of all records.
fn records_in(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let words = bytes.as_chunks().0;
    let mut at = 0;
    std::iter::from_fn(move || {
        let header = u64::from_le_bytes(*words.get(at)?);
        at += ((header >> 4 & 0xfff) as usize).max(1);
        Some(header)
    })
}

/// An object without a pointer is a point, and not an object.
#[test]
fn points_of_odd_records_are_not_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "short.fxt", |out| {
        let name = out.name("point");
        let base = head(EventType::Instant, 100, 11);
        out.event(Head { name, ..base }, &[], None);
    });
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(u64::to_le_bytes(6 | 1 << 4 | 7 << 16));
    std::fs::write(&path, bytes).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    assert_eq!(table(&source, "instants").len(), 2);
    assert_same(folder.path(), &source, "short object");
}

/// Fields that a damaged record is too short for are not copied with it.
#[test]
fn arguments_that_reach_past_their_record_are_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "damaged.fxt", |out| {
        for (time, name) in [(100, "damaged"), (200, "next")] {
            let name = out.name(name);
            let base = head(EventType::Instant, time, 11);
            let args = [Arg::new("value", ArgValue::Int64(5))];
            out.event(Head { name, ..base }, &args, None);
        }
    });
    let mut bytes = std::fs::read(&path).unwrap();
    let is_instant = |word: &[u8; 8]| u64::from_le_bytes(*word) & 0xff_ffff == 0x10_0044;
    let first = bytes.as_chunks().0.iter().position(is_instant).unwrap() * 8;
    // Without the word of its value.
    bytes[first] = 0x34;
    bytes.drain(first + 24..first + 32);
    std::fs::write(&path, bytes).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    assert_eq!(table(&source, "instants").len(), 2);
    assert_same(folder.path(), &source, "a damaged record");
}

/// Slices that overlap, and that a range cuts at both ends, start together and stay side by side.
#[test]
fn slices_that_start_beside_each_other_stay_there() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        out.event(head(EventType::Begin, 50, 11), &[], None);
        for (name, span) in [
            ("first", (100, 300)),
            ("in it", (110, 290)),
            ("second", (200, 500)),
            ("in that", (240, 260)),
        ] {
            complete(out, name, span, &[]);
        }
    });
    let path = folder.path().join("range.fxt");
    let write = |source: &LoadedTrace, selection: &Selection, way| {
        let bytes = bytes_of(source, Zones::FULL, selection, way);
        std::fs::write(&path, bytes).unwrap();
        open(&path, &Job::default()).unwrap()
    };
    // Pairs of (parent's end, end): all slices start together.
    let nested = |loaded: &LoadedTrace| {
        let slices = &loaded.trace.slices;
        let end = |at: usize| slices.open_end(at).or_greatest();
        let around = |at: usize| slices.parent(at).map(|parent| end(parent.0 as usize));
        let ends = (0..slices.len()).map(|at| (around(at), Some(end(at))));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        ends
    };
    let cut = write(&source, &range(250, 600), Way::Filter);
    let [open, first, in_it, second, in_that] = [i64::MAX, 300, 290, 500, 260].map(Some);
    let mut expected = [
        (None, open),
        (open, first),
        (first, in_it),
        (open, second),
        (second, in_that),
    ];
    expected.sort_unstable();
    assert_eq!(nested(&cut), expected);
    let again = write(&cut, &Selection::all(), Way::Filter);
    assert_eq!(nested(&again), expected);
}
