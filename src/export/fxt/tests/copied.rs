//! Records that are copied say what their rows of the model say.

use super::*;
use crate::export::rows::RowFormat;
use crate::export::tables;

const COMPARED: [&str; 12] = [
    "slices",
    "instants",
    "counters",
    "flows",
    "runs",
    "states",
    "processes",
    "threads",
    "logs",
    "blobs",
    "events",
    "diagnostics",
];

fn bytes_of(
    source: &LoadedTrace,
    zones: Zones,
    selection: &Selection,
    arguments: Arguments,
) -> Vec<u8> {
    let job = Job::default();
    let request = Request {
        loaded: source,
        chosen: &Chosen::new(&source.trace, selection),
        job: &job,
        table: None,
    };
    let mut out = Vec::new();
    write_with((zones, arguments), &request, &mut out).unwrap();
    out
}

/// The lines of a table, without where records are in their file.
fn table(loaded: &LoadedTrace, name: &str) -> Vec<String> {
    let mut out = Vec::new();
    let chosen = Chosen::new(&loaded.trace, &Selection::all());
    let table = tables::find(name).unwrap();
    table
        .write(loaded, &chosen, RowFormat::Tsv, &mut out)
        .unwrap();
    let text = String::from_utf8_lossy(&out).into_owned();
    let mut lines = text.lines().map(|line| line.split('\t'));
    let hidden = ["id", "event", "location", "place", "offset", "byte"];
    let is_shown: Vec<bool> = lines
        .next()
        .unwrap()
        .map(|column| !hidden.contains(&column))
        .collect();
    let shown = |line: std::str::Split<'_, char>| {
        let cells = line.zip(&is_shown).filter(|(_, is_shown)| **is_shown);
        cells.map(|(cell, _)| cell).collect::<Vec<_>>().join("\t")
    };
    let mut lines: Vec<String> = lines.map(shown).collect();
    lines.sort_unstable();
    lines
}

fn assert_same(folder: &Path, source: &LoadedTrace, what: &str) {
    assert_same_tables(folder, source, &COMPARED, what);
}

fn assert_same_tables(folder: &Path, source: &LoadedTrace, tables: &[&str], what: &str) {
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
    // Large files are read back less often.
    let range_count = if source.trace.events.len() > 5000 {
        1
    } else {
        4
    };
    let parts = ranges.iter().take(range_count);
    let ways = parts.map(|part| (Zones::FULL, part)).chain([(small, &all)]);
    for (zones, selection) in ways.chain([(Zones::FULL, &all)]) {
        let read = |arguments: Arguments, name: &str| {
            let path = folder.join(name);
            std::fs::write(&path, bytes_of(source, zones, selection, arguments)).unwrap();
            open(&path, &Job::default()).unwrap()
        };
        let copied = read(Arguments::Copied, "copied.fxt");
        let encoded = read(Arguments::AsTheyStand, "encoded.fxt");
        for name in tables {
            let (copied, encoded) = (table(&copied, name), table(&encoded, name));
            let differs = copied.iter().zip(&encoded).find(|(a, b)| a != b);
            let counts = (copied.len(), encoded.len());
            assert!(
                copied == encoded,
                "{name} of {what} in {:?}: {counts:?} {differs:?}",
                selection.span
            );
        }
    }
}

#[test]
fn copies_are_read_as_what_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/golden/fxt", "sample-traces"].map(|folder| root.join(folder));
    let corpus = std::env::var_os("THREADLINE_CORPUS")
        .map_or_else(|| root.join("../shared/corpus"), Into::into)
        .join("fxt");
    let files = folders.iter().chain([&corpus]);
    let files = files.filter_map(|folder| folder.read_dir().ok());
    let paths = files.flatten().filter_map(|entry| Some(entry.ok()?.path()));
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
    assert!(count > 3, "{count}");
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

/// A file with everything that has a copy, at times that often are the same, on few threads.
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
        // In files of ours the first of those that start together is around the others.
        let ours = folder.path().join("ours.fxt");
        let bytes = bytes_of(&source, Zones::FULL, &Selection::all(), Arguments::Copied);
        std::fs::write(&ours, bytes).unwrap();
        let ours = open(&ours, &Job::default()).unwrap();
        assert_same(folder.path(), &ours, &format!("round {round} again"));
    }
}

#[test]
fn copies_of_damaged_records_are_read_as_what_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = random_numbers(11);
    // Ends of asynchronous slices keep their own names only where they are copied.
    let tables: Vec<&str> = COMPARED
        .into_iter()
        .filter(|name| *name != "events")
        .collect();
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
                // What headers say of references, types and counts.
                _ => bytes[at / 8 * 8 + random(4) as usize] ^= 1 << random(8),
            }
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(source) = open(&path, &Job::default()) {
            let what = format!("round {round}");
            assert_same_tables(folder.path(), &source, &tables, &what);
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Two events of one time: what is copied stays behind what stood before it, where slices that are encoded come first.
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
    let types_of = |arguments| {
        let bytes = bytes_of(&source, Zones::FULL, &Selection::all(), arguments);
        let words: Vec<u64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|&word| u64::from_le_bytes(word))
            .collect();
        let (mut at, mut types) = (0, Vec::new());
        while let Some(header) = words.get(at) {
            if header & 0xf == 4 {
                types.push(header >> 16 & 0xf);
            }
            at += (header >> 4 & 0xfff) as usize;
        }
        types
    };
    assert_eq!(types_of(Arguments::Copied), [0, 4]);
    assert_eq!(types_of(Arguments::AsTheyStand), [4, 0]);
}

/// An object without a pointer is a point and no object.
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

/// What a damaged record cannot hold is not copied with it.
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
    // Without its value's word.
    bytes[first] = 0x34;
    bytes.drain(first + 24..first + 32);
    std::fs::write(&path, bytes).unwrap();
    let source = open(&path, &Job::default()).unwrap();
    assert_eq!(table(&source, "instants").len(), 2);
    assert_same(folder.path(), &source, "a damaged record");
}

/// Where a range cut both, slices that overlap start together and lie beside each other.
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
    let write = |source: &LoadedTrace, selection: &Selection, arguments| {
        let bytes = bytes_of(source, Zones::FULL, selection, arguments);
        std::fs::write(&path, bytes).unwrap();
        open(&path, &Job::default()).unwrap()
    };
    // (parent's end, end), as all start together.
    let nested = |loaded: &LoadedTrace| {
        let slices = &loaded.trace.slices;
        let end = |at: usize| (at < slices.len()).then(|| slices.open_end(at));
        let ends = (0..slices.len()).map(|at| (end(slices.parents.at(at) as usize), end(at)));
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        ends
    };
    let cut = write(&source, &range(250, 600), Arguments::Copied);
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
    for arguments in [Arguments::Copied, Arguments::AsTheyStand] {
        let again = write(&cut, &Selection::all(), arguments);
        assert_eq!(nested(&again), expected, "{arguments:?}");
    }
}
