//! Every kind of FXT record, as the specification and newer writers have them: bytes made here, word by word, without
//! the program's own writer, are opened as a file and looked at in the model.

use crate::alone::is_alone;
use crate::program::{number, rows, stdout};
use std::io::Write as _;

use threadline::base::Job;
use threadline::event::EventDetail;
use threadline::load::{LoadedTrace, open};
use threadline::query::details::describe;
use threadline::trace::{CpuId, EventId, SliceId, ThreadId, ThreadState};

/// Words of a file.
#[derive(Default)]
struct File(Vec<u64>);

impl File {
    /// The magic number and a provider that counts nanoseconds.
    fn new() -> File {
        let mut file = File(vec![0x0016_5478_4604_0010]);
        file.provider(1, "p").record(1, 0, &[1_000_000_000]);
        file
    }

    /// A record of a type with more bits in its header; the size is put in.
    fn record(&mut self, record_type: u64, header: u64, words: &[u64]) -> &mut File {
        let size = words.len() as u64 + 1;
        self.0.push(record_type | size << 4 | header);
        self.0.extend(words);
        self
    }

    fn provider(&mut self, id: u64, name: &str) -> &mut File {
        let header = 1 << 16 | id << 20 | (name.len() as u64) << 52;
        self.record(0, header, &text(name))
    }

    fn section(&mut self, id: u64) -> &mut File {
        self.record(0, 2 << 16 | id << 20, &[])
    }

    fn string(&mut self, index: u64, name: &str) -> &mut File {
        self.record(2, index << 16 | (name.len() as u64) << 32, &text(name))
    }

    fn thread(&mut self, index: u64, process: u64, thread: u64) -> &mut File {
        self.record(3, index << 16, &[process, thread])
    }

    /// An event of thread index 1 with an inline name; `count` arguments and what follows them are in `rest`.
    fn event(&mut self, sort: u64, time: u64, name: &str, count: u64, rest: &[u64]) -> &mut File {
        self.event_of(1, sort, time, (name, count, rest))
    }

    fn event_of(
        &mut self,
        thread: u64,
        sort: u64,
        time: u64,
        (name, count, rest): (&str, u64, &[u64]),
    ) -> &mut File {
        let name_bits = if name.is_empty() {
            0
        } else {
            0x8000 | name.len() as u64
        };
        let header = sort << 16 | count << 20 | thread << 24 | name_bits << 48;
        let words = [&[time][..], &text(name), rest].concat();
        self.record(4, header, &words)
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn open(&self) -> LoadedTrace {
        open_bytes(&self.bytes(), "test.fxt")
    }
}

fn open_bytes(bytes: &[u8], name: &str) -> LoadedTrace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    open(&path, &Job::default()).unwrap()
}

fn text(text: &str) -> Vec<u64> {
    let chunks = text.as_bytes().chunks(8);
    let word = |chunk: &[u8]| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    };
    chunks.map(word).collect()
}

/// An argument called `a`: its type, the high half of its header, and what follows.
fn arg(arg_type: u64, high: u64, words: &[u64]) -> Vec<u64> {
    let size = 2 + words.len() as u64;
    let header = arg_type | size << 4 | 0x8001 << 16 | high << 32;
    [&[header, u64::from(b'a')][..], words].concat()
}

const INSTANT: u64 = 0;
const BEGIN: u64 = 2;
const END: u64 = 3;
const COMPLETE: u64 = 4;

fn detail_of(loaded: &LoadedTrace, name: &str) -> EventDetail {
    let trace = &loaded.trace;
    let id = (0..trace.events.len() as u32)
        .map(EventId)
        .find(|&id| trace.kind_name(trace.events.kind(id)) == name)
        .unwrap();
    describe(trace, loaded.reader.as_ref(), id)
}

fn count_of(loaded: &LoadedTrace, code: &str) -> u64 {
    loaded.trace.diagnostics.count_of(code)
}

fn slices(loaded: &LoadedTrace) -> Vec<(String, i64, Option<i64>)> {
    let trace = &loaded.trace;
    let row = |index| {
        let slice = trace.slices.get(SliceId(index));
        let name = trace
            .text(trace.slices.label(SliceId(index)).name)
            .into_owned();
        (name, slice.start.0, slice.end.map(|end| end.0))
    };
    let mut rows: Vec<_> = (0..trace.slices.len() as u32).map(row).collect();
    rows.sort();
    rows
}

#[test]
fn every_type_of_argument_has_its_value_and_unknown_ones_are_counted() {
    let mut file = File::new();
    file.thread(1, 10, 11).string(5, "hello");
    let cases: Vec<(&str, u64, u64, Vec<u64>, &str)> = vec![
        ("null", 0, 0, vec![], "null"),
        ("int32", 1, u64::from(-7_i32 as u32), vec![], "-7"),
        ("uint32", 2, 0xffff_ffff, vec![], "4294967295"),
        ("int64", 3, 0, vec![-8_i64 as u64], "-8"),
        ("uint64", 4, 0, vec![u64::MAX], "18446744073709551615"),
        ("double", 5, 0, vec![1.5_f64.to_bits()], "1.5"),
        ("string", 6, 0x8002, text("hi"), "hi"),
        ("indexed", 6, 5, vec![], "hello"),
        ("pointer", 7, 0, vec![0xdead], "0xdead"),
        ("koid", 8, 0, vec![77], "77"),
        ("bool", 9, 1, vec![], "true"),
        ("blob", 10, 3, vec![0x0003_0201], "01 02 03"),
        ("newer", 13, 0, vec![1, 2, 3], "null"),
    ];
    for (time, (name, arg_type, high, words, _)) in cases.iter().enumerate() {
        file.event(INSTANT, time as u64, name, 1, &arg(*arg_type, *high, words));
    }
    file.event(INSTANT, 99, "after", 0, &[]);
    let loaded = file.open();
    for (name, _, _, _, value) in cases {
        let detail = detail_of(&loaded, name);
        assert_eq!(detail.fields[0].name, "a", "{name}");
        assert_eq!(detail.fields[0].value.to_string(), value, "{name}");
    }
    assert_eq!(detail_of(&loaded, "after").time.0, 99);
    assert_eq!(count_of(&loaded, "unknown_argument_type"), 1);
}

#[test]
fn unknown_records_and_blobs_are_skipped_by_their_size_and_counted() {
    let mut file = File::new();
    file.thread(1, 10, 11)
        .event(INSTANT, 5, "before", 0, &[])
        .record(13, 0, &[1, 2, 3])
        .record(11, 0, &[])
        .record(4, 12 << 16 | 1 << 24, &[6])
        .record(0, 9 << 16, &[7])
        .record(
            5,
            0x8001 << 16 | 3 << 32 | 1 << 48,
            &[u64::from(b'd'), 0x636261],
        )
        .record(
            5,
            0x8001 << 16 | 3 << 32 | 99 << 48,
            &[u64::from(b'u'), 0x636261],
        )
        .event(INSTANT, 8, "after", 0, &[]);
    let loaded = file.open();
    assert_eq!(count_of(&loaded, "unknown_record_type"), 2);
    assert_eq!(count_of(&loaded, "unknown_event_type"), 1);
    assert_eq!(count_of(&loaded, "unknown_metadata"), 1);
    assert_eq!(count_of(&loaded, "unknown_blob_type"), 1);
    let blob = detail_of(&loaded, "d");
    assert_eq!(
        blob.fields
            .iter()
            .find(|field| field.name == "payload")
            .unwrap()
            .value
            .to_string(),
        "61 62 63"
    );
    assert_eq!(detail_of(&loaded, "after").time.0, 8);
}

#[test]
fn a_full_buffer_of_a_provider_is_a_loss() {
    let loaded = File::new().record(0, 3 << 16 | 1 << 20, &[]).open();
    let rows = loaded.trace.diagnostics.rows();
    assert!(
        rows.iter()
            .any(|row| row.severity == threadline::base::Severity::DataLoss),
        "{rows:?}"
    );
}

/// What comes before and after a loss is the provider's own, whatever other providers recorded around it.
#[test]
fn a_loss_lies_between_the_events_of_its_provider() {
    #[derive(Clone, Copy)]
    enum Part {
        Section(u64),
        Event(u64),
        Loss(u64),
    }
    use Part::{Event, Loss, Section};
    let gaps = |parts: &[Part]| -> Vec<(Option<i64>, Option<i64>)> {
        let mut file = File::new();
        file.thread(1, 10, 11);
        file.provider(2, "q").record(1, 0, &[1_000_000_000]);
        file.thread(1, 20, 21).section(1);
        for part in parts {
            match *part {
                Section(id) => file.section(id),
                Event(time) => file.event(0, time, "e", 0, &[]),
                Loss(id) => file.record(0, 3 << 16 | id << 20, &[]),
            };
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("losses.fxt");
        std::fs::write(&path, file.bytes()).unwrap();
        let table = rows(&["table", "gaps", path.to_str().unwrap()]);
        let time = |text: &str| text.parse().ok();
        table
            .iter()
            .map(|row| (time(&row["ts"]), time(&row["end"])))
            .collect()
    };
    let apart = [
        Event(100),
        Section(2),
        Event(50),
        Section(1),
        Event(600),
        Section(2),
    ];
    let with = |rest: [Part; 2]| gaps(&[&apart[..], &rest].concat());
    assert_eq!(with([Loss(2), Event(900)]), [(Some(50), Some(900))]);
    assert_eq!(with([Loss(2), Event(400)]), [(Some(50), Some(400))]);
    // Said in the section of another.
    let elsewhere = [
        Event(100),
        Section(2),
        Event(50),
        Section(1),
        Event(200),
        Loss(2),
        Event(600),
        Section(2),
        Event(400),
    ];
    assert_eq!(gaps(&elsewhere), [(Some(50), Some(400))]);
    assert_eq!(gaps(&[Loss(1), Event(100)]), [(None, Some(100))]);
    assert_eq!(
        gaps(&[Event(100), Section(2), Loss(2), Event(300)]),
        [(None, Some(300))]
    );
    assert_eq!(
        gaps(&[Event(100), Loss(1), Section(2), Event(700)]),
        [(Some(100), None)]
    );
}

#[test]
fn indices_mean_what_was_registered_last_and_by_the_provider_at_hand() {
    let named = |index: u64| 4 | 2 << 4 | 1 << 24 | index << 48;
    let mut file = File::new();
    file.thread(1, 10, 11)
        .string(7, "one")
        .0
        .extend([named(7), 1]);
    file.string(7, "two")
        .thread(1, 10, 12)
        .0
        .extend([named(7), 2]);
    file.provider(2, "q")
        .record(1, 0, &[1_000_000])
        .string(7, "three")
        .thread(1, 20, 21);
    file.0.extend([named(7), 3]);
    file.section(1).0.extend([named(7), 4]);
    let loaded = file.open();
    let trace = &loaded.trace;
    let mut seen: Vec<(i64, String, u64)> = (0..trace.events.len() as u32)
        .map(EventId)
        .map(|id| {
            let tid = trace.thread(trace.events.thread(id)).tid;
            (
                trace.events.time(id).0,
                trace.kind_name(trace.events.kind(id)).into_owned(),
                tid,
            )
        })
        .collect();
    seen.sort();
    let expected = [
        (1, "one", 11),
        (2, "two", 12),
        (4, "two", 12),
        (3000, "three", 21),
    ];
    assert_eq!(
        seen,
        expected.map(|(time, name, tid)| (time, name.to_owned(), tid))
    );
}

#[test]
fn wrapped_files_are_read_like_plain_ones() {
    let mut file = File::new();
    file.thread(1, 10, 11).event(COMPLETE, 5, "slice", 0, &[9]);
    let bytes = file.bytes();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&bytes).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(&bytes).unwrap();
    let zst = zstd::encode_all(&bytes[..], 1).unwrap();
    for (name, packed) in [
        ("a.fxt.gz", gz.finish().unwrap()),
        ("a.fxt.lz4", lz4.finish().unwrap()),
        ("a.fxt.zst", zst),
    ] {
        let loaded = open_bytes(&packed, name);
        assert_eq!(
            slices(&loaded),
            [("slice".to_owned(), 5, Some(9))],
            "{name}"
        );
    }
}

#[test]
fn ends_without_begins_and_begins_without_ends_are_repaired() {
    let loaded = File::new()
        .thread(1, 10, 11)
        .event(END, 1, "lost", 0, &[])
        .event(BEGIN, 2, "open", 0, &[])
        .event(BEGIN, 3, "inner", 0, &[])
        .event(END, 4, "", 0, &[])
        .event(INSTANT, 9, "last", 0, &[])
        .open();
    let expected = [("inner", 3, Some(4)), ("open", 2, None)];
    assert_eq!(
        slices(&loaded),
        expected.map(|(name, start, end)| (name.to_owned(), start, end))
    );
    assert_eq!(count_of(&loaded, "unmatched_end"), 1);
    assert_eq!(count_of(&loaded, "unfinished"), 1);
}

#[test]
fn flows_lead_by_steps_from_slice_to_slice() {
    let mut file = File::new();
    for thread in 1..4 {
        file.thread(thread, 10, 10 + thread);
        let time = thread * 100;
        file.event_of(thread, COMPLETE, time, ("work", 0, &[time + 50]));
        file.event_of(thread, 7 + thread, time + 10, ("", 0, &[77]));
    }
    let loaded = file.open();
    let legs: Vec<_> = loaded
        .trace
        .flows
        .rows
        .iter()
        .map(|flow| {
            (
                flow.from.time.0,
                flow.to.time.0,
                flow.from.slice.is_some() && flow.to.slice.is_some(),
            )
        })
        .collect();
    assert_eq!(legs, [(110, 210, true), (210, 310, true)]);
}

#[test]
fn asynchronous_slices_span_threads_and_are_told_apart_by_id_and_name() {
    let loaded = File::new()
        .thread(1, 10, 11)
        .thread(2, 10, 12)
        .event_of(1, 5, 1, ("load", 0, &[1]))
        .event_of(1, 5, 2, ("load", 0, &[2]))
        .event_of(2, 5, 3, ("parse", 0, &[1]))
        .event_of(2, 6, 4, ("half way", 0, &[1]))
        .event_of(2, 7, 5, ("parse", 0, &[1]))
        .event_of(2, 7, 6, ("load", 0, &[1]))
        .event_of(1, 7, 9, ("load", 0, &[2]))
        .open();
    let expected = [
        ("load", 1, Some(6)),
        ("load", 2, Some(9)),
        ("parse", 3, Some(5)),
    ];
    assert_eq!(
        slices(&loaded),
        expected.map(|(name, start, end)| (name.to_owned(), start, end))
    );
}

#[test]
fn counters_have_a_series_for_each_argument() {
    let two = [arg(3, 0, &[5]), {
        let mut second = arg(5, 0, &[0.5_f64.to_bits()]);
        second[1] = u64::from(b'b');
        second
    }]
    .concat();
    let loaded = File::new()
        .thread(1, 10, 11)
        .event(1, 1, "load", 2, &[&two[..], &[3]].concat())
        .open();
    let counters = &loaded.trace.counters;
    let mut values: Vec<(String, f64)> = counters
        .tracks
        .iter()
        .map(|track| {
            (
                loaded.trace.text(track.name).into_owned(),
                counters.values[track.samples.start as usize],
            )
        })
        .collect();
    values.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(values.len(), 2);
    assert!(
        values[0].0.contains('a') && values[0].1 == 5.0,
        "{values:?}"
    );
    assert!(
        values[1].0.contains('b') && values[1].1 == 0.5,
        "{values:?}"
    );
}

#[test]
fn pointers_and_koids_show_the_names_of_their_objects() {
    let loaded = File::new()
        .thread(1, 10, 11)
        // A process, a channel, and an object at an address of the process.
        .record(
            7,
            1 << 16 | 0x8004 << 24,
            &[&[10][..], &text("game")].concat(),
        )
        .record(
            7,
            4 << 16 | 0x8004 << 24,
            &[&[500][..], &text("pipe")].concat(),
        )
        .record(
            6,
            1 << 16 | 0x8006 << 24,
            &[&[0xbeef][..], &text("socket")].concat(),
        )
        .event(INSTANT, 1, "by koid", 1, &arg(8, 0, &[500]))
        .event(INSTANT, 2, "by pointer", 1, &arg(7, 0, &[0xbeef]))
        .open();
    assert_eq!(
        detail_of(&loaded, "by koid").fields[0].text(),
        "500 (channel pipe)"
    );
    assert_eq!(
        detail_of(&loaded, "by pointer").fields[0].text(),
        "0xbeef (socket)"
    );
    assert_eq!(loaded.trace.processes[0].pid, 10);
    assert_eq!(loaded.trace.text(loaded.trace.processes[0].name), "game");
}

#[test]
fn switches_and_wakeups_make_runs_and_states_and_idle_is_nobody() {
    let weight = |name: &str, value: i32| {
        let words = text(name);
        let header = 1
            | (1 + words.len() as u64) << 4
            | (0x8000 | name.len() as u64) << 16
            | u64::from(value as u32) << 32;
        [&[header][..], &words].concat()
    };
    let switch = |time: u64, out: (u64, i32), state: u64, next: (u64, i32)| {
        let args = [
            weight("outgoing_weight", out.1),
            weight("incoming_weight", next.1),
        ]
        .concat();
        (
            2 << 16 | 3 << 20 | state << 36 | 1 << 60,
            [&[time, out.0, next.0][..], &args].concat(),
        )
    };
    let idle = (0, i32::MIN);
    let mut file = File::new();
    file.thread(1, 10, 11).thread(2, 10, 12);
    for (header, words) in [
        switch(10, idle, 1, (11, 5)),
        switch(20, (11, 5), 3, idle),
        switch(40, idle, 1, (12, 6)),
    ] {
        file.record(8, header, &words);
    }
    file.record(8, 3 << 20 | 2 << 60, &[50, 11]);
    // The form of the specification: CPU 3, thread 12 preempted by thread 11.
    file.record(
        8,
        3 << 16 | 1 << 24 | 2 << 28 | 1 << 36 | 6 << 44 | 5 << 52,
        &[60],
    );
    let loaded = file.open();
    let trace = &loaded.trace;
    let runs: Vec<(u64, i64, i64, ThreadState)> = (0..trace.runs.len())
        .map(|run| {
            let tid = trace.thread(ThreadId(trace.runs.threads[run])).tid;
            (
                tid,
                trace.runs.starts[run],
                trace.runs.ends[run].or_greatest(),
                trace.runs.end_states[run],
            )
        })
        .collect();
    assert_eq!(trace.cpus[0].number, 3);
    assert_eq!(trace.runs.on(CpuId(0)).len(), 3);
    assert_eq!(runs[0], (11, 10, 20, ThreadState::Sleeping));
    assert_eq!(runs[1], (12, 40, 60, ThreadState::Runnable));
    assert_eq!((runs[2].0, runs[2].1), (11, 60));
    let sleeper = trace
        .threads
        .iter()
        .position(|thread| thread.tid == 11)
        .unwrap();
    let states = trace.states.of(ThreadId(sleeper as u32));
    let seen: Vec<ThreadState> = states
        .map(|index| trace.states.states[index as usize])
        .collect();
    assert!(
        seen.windows(3).any(|states| states
            == [
                ThreadState::Sleeping,
                ThreadState::Runnable,
                ThreadState::Running
            ]),
        "{seen:?}"
    );
    assert!(trace.threads.iter().skip(1).all(|thread| thread.tid != 0));
}

#[test]
fn a_file_without_magic_record_opens_when_it_is_said_to_be_fxt() {
    use threadline::load::reading::{Reading, format_named};
    use threadline::load::together::open_as;
    let name = u64::from_le_bytes(*b"only\0\0\0\0");
    let words = [4 | 5 << 4 | 0x8004 << 48, 5, 10, 11, name];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let swapped: Vec<u8> = words[..4]
        .iter()
        .flat_map(|word| word.to_be_bytes())
        .chain(*b"only\0\0\0\0")
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.fxt");
    for bytes in [bytes, swapped] {
        std::fs::write(&path, bytes).unwrap();
        assert!(open(&path, &Job::default()).is_err());
        let reading = Reading {
            format: Some(format_named("fxt").unwrap().name),
            ..Reading::default()
        };
        let loaded = open_as(
            std::slice::from_ref(&path),
            reading,
            &[],
            &[],
            &Job::default(),
            None,
        )
        .unwrap();
        assert_eq!(loaded.trace.events.len(), 1);
    }
}

#[test]
fn the_last_nanosecond_of_all_is_shown_and_said() {
    let max = i64::MAX as u64;
    let mut file = File::new();
    file.thread(1, 10, 11)
        .event(INSTANT, 20, "first", 0, &[])
        .event(INSTANT, max, "at max", 0, &[]);
    let loaded = file.open();
    let trace = &loaded.trace;
    assert_eq!(trace.events.len(), 2);
    assert!(
        (0..2).all(|id| trace.span.contains(trace.events.time(EventId(id)))),
        "{:?}",
        trace.span
    );
    assert_eq!(trace.diagnostics.count_of("timestamp_at_limit"), 1);
}

#[test]
fn a_nameless_end_closes_a_nameless_begin_first() {
    let (async_begin, async_end) = (5, 7);
    let mut file = File::new();
    file.thread(1, 10, 11)
        .event(async_begin, 10, "", 0, &[1])
        .event(async_begin, 20, "a", 0, &[1])
        .event(async_end, 30, "", 0, &[1])
        .event(async_end, 40, "a", 0, &[1]);
    let loaded = file.open();
    let trace = &loaded.trace;
    let slices = (0..trace.slices.len() as u32).map(|id| trace.slices.get(SliceId(id)));
    let mut ends: Vec<_> = slices
        .map(|slice| (slice.start.0, slice.end.map(|end| end.0)))
        .collect();
    ends.sort_unstable();
    assert_eq!(ends, [(10, Some(30)), (20, Some(40))]);
}

/// The most memory that this process held so far.
#[cfg(target_os = "linux")]
fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
#[cfg(target_os = "linux")]
fn thousands_of_cpus_take_memory_as_their_runs_do() {
    if !is_alone(concat!(
        module_path!(),
        "::thousands_of_cpus_take_memory_as_their_runs_do"
    )) {
        return;
    }
    let mut file = File::new();
    for cpu in 0..65_536 {
        file.record(8, cpu << 20 | 1 << 36 | 1 << 60, &[1000 + cpu, 0, 5]);
    }
    let loaded = file.open();
    assert_eq!(loaded.trace.cpus.len(), 65_536);
    let peak = peak_kilobytes().unwrap();
    assert!(peak < 400_000, "{peak} kB");
}

#[test]
fn a_thread_of_which_only_its_number_is_known_is_the_main_thread_of_that_process() {
    let switch = 2 << 36 | 1 << 60;
    let waker = 8 | 3 << 4 | 0x8005 << 16;
    let waker = |koid| [&[waker][..], &text("waker"), &[koid]].concat();
    let loaded = File::new()
        .thread(1, 500, 501)
        .thread(2, 600, 601)
        .event(INSTANT, 5, "worker", 0, &[])
        .event_of(2, INSTANT, 6, ("other", 0, &[]))
        .record(8, switch, &[10, 501, 500])
        .record(8, switch, &[20, 500, 501])
        .record(
            8,
            2 << 60 | 1 << 16,
            &[&[30, 500][..], &waker(600)].concat(),
        )
        .record(8, switch, &[40, 501, 77])
        .open();
    let trace = &loaded.trace;
    let process_of = |tid: u64| -> Vec<u64> {
        let ids = (1..trace.threads.len() as u32).map(ThreadId);
        let ids = ids.filter(|&id| trace.thread(id).tid == tid);
        ids.filter_map(|id| Some(trace.process_of(id)?.pid))
            .collect()
    };
    assert_eq!(process_of(500), [500]);
    assert_eq!(process_of(501), [500]);
    assert_eq!(process_of(600), [600]);
    let mut pids: Vec<u64> = trace.processes.iter().map(|process| process.pid).collect();
    pids.sort_unstable();
    assert_eq!(pids, [77, 500, 600]);
}

#[test]
fn a_section_of_provider_0_goes_back_to_what_nobody_announced() {
    let named = |index: u64| 4 | 2 << 4 | 1 << 24 | index << 48;
    let mut file = File(vec![0x0016_5478_4604_0010]);
    file.record(1, 0, &[1_000_000])
        .string(1, "one")
        .thread(1, 10, 11);
    file.0.extend([named(1), 5]);
    file.provider(7, "seven").string(1, "own");
    file.0.extend([named(1), 6]);
    file.section(0).string(2, "two").thread(1, 10, 12);
    file.0.extend([named(1), 7]);
    file.0.extend([named(2), 8]);
    // String 2 belongs to provider 0: provider 9 has strings of its own.
    file.provider(9, "nine");
    file.0.extend([named(2), 9]);
    let loaded = file.open();
    let trace = &loaded.trace;
    let mut seen: Vec<(i64, String, u64)> = (0..trace.events.len() as u32)
        .map(EventId)
        .map(|id| {
            let tid = trace.thread(trace.events.thread(id)).tid;
            let name = trace.kind_name(trace.events.kind(id)).into_owned();
            (trace.events.time(id).0, name, tid)
        })
        .collect();
    seen.sort();
    let expected = [
        (5000, "one", 11),
        (6000, "own", 11),
        (7000, "one", 12),
        (8000, "two", 12),
        (9000, "<string 2?>", 11),
    ];
    let expected = expected.map(|(time, name, tid)| (time, name.to_owned(), tid));
    assert_eq!(seen, expected);
    assert_eq!(count_of(&loaded, "unknown_provider"), 0);
    assert_eq!(count_of(&loaded, "unresolved_string"), 1);
}

#[test]
fn objects_say_their_process_or_their_thread_as_their_size_tells() {
    let object = 0x8006 << 24;
    let one = |count: u64| object | count << 40;
    let value = |number: u64| arg(3, 0, &[number]);
    let loaded = File::new()
        .thread(1, 10, 11)
        .string(3, "indexed")
        .event(INSTANT, 1, "before", 0, &[])
        .record(6, one(0), &[&[0x100, 10][..], &text("single")].concat())
        .record(
            6,
            one(1),
            &[&[0x200, 10, 99][..], &text("double"), &value(5)].concat(),
        )
        .record(
            6,
            3 << 24 | 1 << 40,
            &[&[0x300, 10, 1 << 62 | 1][..], &value(6)].concat(),
        )
        .event(INSTANT, 2, "use", 1, &arg(7, 0, &[0x300]))
        .open();
    let trace = &loaded.trace;
    let whose = |name: &str| {
        let mut ids = (0..trace.events.len() as u32).map(EventId);
        let id = ids.find(|&id| trace.kind_name(trace.events.kind(id)) == name);
        trace.thread(trace.events.thread(id.unwrap())).tid
    };
    assert_eq!((whose("double"), whose("indexed")), (99, 1 << 62 | 1));
    let said = |name: &str| -> Vec<String> {
        let fields = detail_of(&loaded, name).fields.into_iter();
        fields.map(|field| field.value.to_string()).collect()
    };
    assert_eq!(said("single"), ["0x100", "10"]);
    assert_eq!(said("double"), ["0x200", "10", "5"]);
    assert_eq!(said("indexed"), ["0x300", "10", "6"]);
    assert_eq!(
        detail_of(&loaded, "use").fields[0].text(),
        "0x300 (indexed)"
    );
    for code in ["bad_argument", "short_record", "unresolved_string"] {
        assert_eq!(count_of(&loaded, code), 0, "{code}");
    }
}

#[test]
fn every_name_stays_however_many_there_are() {
    // More than 2 bytes can number: points and slices in turns, and the first hundred of both once more.
    const COUNT: usize = 80_000;
    let name = |number: usize| match number % 2 {
        0 => format!("point {number}"),
        _ => format!("slice {number}"),
    };
    let mut file = File::new();
    file.thread(1, 10, 11);
    let numbers = (0..COUNT).chain(0..100);
    for (time, number) in (0_u64..).step_by(4).zip(numbers.clone()) {
        match number % 2 {
            0 => file.event(INSTANT, time, &name(number), 0, &[]),
            _ => file.event(COMPLETE, time, &name(number), 0, &[time + 2]),
        };
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("names.fxt");
    std::fs::write(&path, file.bytes()).unwrap();
    let path = path.to_str().unwrap();

    let all: Vec<String> = numbers.map(name).collect();
    let (points, slices): (Vec<&String>, Vec<&String>) =
        all.iter().partition(|name| name.starts_with("point"));
    let names_in = |arguments: &[&str]| -> Vec<String> {
        let rows = rows(&[arguments, &[path]].concat());
        rows.into_iter()
            .map(|mut row| row.remove("name").unwrap())
            .collect()
    };
    assert!(names_in(&["table", "events"]) == all);
    assert!(names_in(&["table", "instants"]).iter().eq(points));
    assert!(
        names_in(&["table", "slices"])
            .iter()
            .eq(slices.iter().copied())
    );

    for number in [1, 40_001, 65_516, 65_517, 79_998, 79_999] {
        let found = names_in(&[
            "search",
            "--in",
            "events",
            &format!("name == \"{}\"", name(number)),
        ]);
        assert_eq!(found, vec![name(number); if number < 100 { 2 } else { 1 }]);
    }
    let found = names_in(&["search", "--in", "events", "name ~ \"point 7999.\""]);
    assert_eq!(found.len(), 5, "{found:?}");

    for of in ["events", "slices"] {
        let sums = rows(&["stats", "--of", of, path]);
        assert_eq!(
            sums.len(),
            if of == "events" {
                COUNT
            } else {
                slices.len() - 50
            }
        );
        for row in sums {
            let (_, digits) = row["group"].split_once(' ').unwrap();
            let is_twice = digits.parse::<usize>().unwrap() < 100;
            assert_eq!(
                number(&row, "count"),
                if is_twice { 2 } else { 1 },
                "{row:?}"
            );
        }
    }
    assert_eq!(rows(&["table", "diagnostics", path]).len(), 0);

    // The same after an export, and where a file is opened beside another.
    let copy = folder.path().join("copy.fxt");
    let copy = copy.to_str().unwrap();
    let _said = stdout(&["export", "-o", copy, path]);
    let names = |paths: &[&str]| -> Vec<String> {
        let rows = rows(&[&["table", "events"], paths].concat());
        rows.into_iter()
            .map(|mut row| row.remove("name").unwrap())
            .collect()
    };
    assert!(names(&[copy]) == all);
    let twice: Vec<String> = all
        .iter()
        .flat_map(|name| [name.clone(), name.clone()])
        .collect();
    assert!(names(&[path, copy]) == twice);
}
