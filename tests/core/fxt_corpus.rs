//! FXT files of many writers: what the reader says of them against what is known to be in them.
//!
//! The README of the corpus lists the records of each file, and `.tp.*.tsv` what another reader sees.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;

use crate::corpus::corpus;
use threadline::base::{Job, Location, Severity, Timestamp};
use threadline::event::{
    AsyncOp, Directory, EventDetail, FlowOp, LaneColumns, MarkOp, SeriesScope, ThreadKey,
    ThreadState, Value,
};
use threadline::formats::stream::Gathered;
use threadline::formats::{EventRef, FORMATS, Input, Recording, Sniff};

fn unpacked(path: &PathBuf) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&bytes[..])
        .read_to_end(&mut plain)
        .unwrap();
    plain
}

struct Opened {
    recording: Recording,
    parts: Vec<LaneColumns>,
    directory: Directory,
    /// What else the whole file says.
    whole: Gathered,
}

fn open(bytes: Vec<u8>) -> Opened {
    let format = FORMATS
        .iter()
        .find(|format| format.name.contains("FXT"))
        .unwrap();
    assert_ne!(
        (format.sniff)(&bytes[..bytes.len().min(1 << 16)]),
        Sniff::No
    );
    let job = Job::default();
    let recording = format
        .open(Input::from_vec(bytes, "test.fxt"), &job)
        .unwrap();
    let mut gathered = recording.read_whole(&job).unwrap();
    let parts = std::mem::take(&mut gathered.parts).into_iter();
    let parts: Vec<LaneColumns> = parts.map(|part| part.columns).collect();
    assert!(parts.iter().all(|part| part.events.is_sorted()));
    Opened {
        recording,
        parts,
        directory: std::mem::take(&mut gathered.directory),
        whole: gathered,
    }
}

fn open_sample(name: &str) -> Opened {
    open(unpacked(&corpus("fxt").join(name)))
}

impl Opened {
    /// The only part of a small file.
    fn part(&self) -> &LaneColumns {
        assert_eq!(self.parts.len(), 1);
        &self.parts[0]
    }

    fn describe(&self, part: usize, event: u32) -> EventDetail {
        let row = self.parts[part].events.row(event);
        self.recording
            .events
            .describe(EventRef::new(part as u32, row))
    }

    fn diagnostic(&self, code: &str) -> u64 {
        let own = self.recording.diagnostics.count_of(code) + self.whole.diagnostics.count_of(code);
        let parts = self.parts.iter();
        own + parts
            .map(|part| part.diagnostics.count_of(code))
            .sum::<u64>()
    }

    fn thread_name(&self, key: ThreadKey) -> String {
        let entry = self.directory.threads.iter().find(|entry| entry.key == key);
        entry
            .and_then(|entry| entry.name)
            .map_or_else(String::new, |name| {
                self.directory.strings.text(name).into_owned()
            })
    }

    /// (process koid, thread koid) of a thread.
    fn koids(&self, key: ThreadKey) -> (Option<u64>, u64) {
        let entry = self.directory.threads.iter().find(|entry| entry.key == key);
        let entry = entry.unwrap();
        let process = entry.process.map(|process| {
            let processes = &self.directory.processes;
            processes.iter().find(|p| p.key == process).unwrap().pid
        });
        (process, entry.tid)
    }

    fn kind_name(&self, part: usize, event: u32) -> String {
        let part = &self.parts[part];
        let kind = part.events.kind(event);
        let name = part.kinds.get(kind.index()).unwrap().name;
        part.strings.text(name).into_owned()
    }

    /// (name, start, length) of all complete slices, sorted.
    fn completes(&self) -> Vec<(String, i64, i64)> {
        let mut all = Vec::new();
        for part in &self.parts {
            for complete in &part.completes {
                let label = part.labels.get(complete.label as usize).unwrap();
                let start = part.events.time(complete.event).0;
                let name = part.strings.text(label.name).into_owned();
                all.push((name, start, complete.duration_ns));
            }
        }
        all.sort_by_key(|slice| slice.1);
        all
    }
}

/// The records that the corpus README lists for a file, by name.
fn listed_records(readme: &str, file: &str) -> BTreeMap<String, u64> {
    let section = readme
        .split("\n## ")
        .find(|section| section.starts_with(&format!("{file} ")))
        .unwrap_or_else(|| panic!("{file} is not in the README"));
    let line = section
        .lines()
        .find_map(|line| line.strip_prefix("Records: "))
        .unwrap();
    line.trim_end_matches('.')
        .split(", ")
        .filter_map(|item| {
            let (count, name) = item.split_once(' ')?;
            Some((name.to_owned(), count.parse().ok()?))
        })
        .collect()
}

#[test]
fn every_file_has_the_records_that_are_listed_for_it() {
    let folder = corpus("fxt");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".fxt") || name.ends_with(".fxt.gz"))
        .collect();
    names.sort();
    assert!(names.len() >= 16);
    for name in names {
        let opened = open(unpacked(&folder.join(&name)));
        // These have their own tests: their lists stop at the damage, or events are dropped for it.
        if name.contains("zero_word") || name == "bad_timestamps.fxt" {
            continue;
        }
        let listed = listed_records(&readme, &name);
        let said = |wanted: &str| -> u64 {
            let all = listed.iter().filter(|(name, _)| name.starts_with(wanted));
            all.map(|(_, count)| count).sum()
        };
        let sum = |count: &dyn Fn(&LaneColumns) -> usize| -> u64 {
            opened.parts.iter().map(|part| count(part) as u64).sum()
        };
        let marks = |op: MarkOp| sum(&|p| p.marks.iter().filter(|m| m.op() == op).count());
        let asyncs = |op: AsyncOp| sum(&|p| p.asyncs.iter().filter(|m| m.op == op).count());
        let flows = |op: FlowOp| sum(&|p| p.flows.iter().filter(|m| m.op == op).count());
        let mut drawn = 0;
        // The last two timestamps of the serializer's vectors are over the axis.
        let over = opened.diagnostic("timestamp_overflow");
        for (wanted, found) in [
            ("event duration_begin", marks(MarkOp::Begin)),
            ("event duration_end", marks(MarkOp::End)),
            ("event duration_complete", sum(&|p| p.completes.len())),
            ("event async_begin", asyncs(AsyncOp::Begin)),
            ("event async_instant", asyncs(AsyncOp::Instant)),
            ("event async_end", asyncs(AsyncOp::End)),
            ("event flow_begin", flows(FlowOp::Begin)),
            ("event flow_step", flows(FlowOp::Step)),
            ("event flow_end", flows(FlowOp::End)),
            ("sched thread_wakeup", sum(&|p| p.wakeups.len())),
            ("log", sum(&|p| p.logs.len())),
        ] {
            if over == 0 {
                assert_eq!(found, said(wanted), "{wanted} of {name}");
            }
            drawn += found;
        }
        let switches = sum(&|p| p.switches.len());
        let listed_switches = said("sched context_switch") + said("sched legacy");
        if over == 0 {
            assert_eq!(switches, listed_switches, "switches of {name}");
        }
        let points = said("event instant") + said("blob") + said("userspace") + said("profiler");
        let large = said("large type 0 format 0") + said("large type 0 format 1");
        let others = points + large + said("event counter");
        let events = sum(&|p| p.events.len());
        if over == 0 {
            assert_eq!(events, drawn + switches + others, "events of {name}");
        }
        for part in 0..opened.parts.len() {
            for event in 0..opened.parts[part].events.len() as u32 {
                let detail = opened.describe(part, event);
                assert_ne!(detail.text, "this record cannot be decoded", "{name}");
                let kind = opened.parts[part].events.kind(event);
                // The first 19 kinds stand for names that found no room.
                if kind.0 >= 19 {
                    let kind = opened.kind_name(part, event);
                    assert_eq!(detail.name, kind, "event {event} of {name}");
                }
            }
        }
    }
}

fn times(part: &LaneColumns, events: impl Iterator<Item = u32>) -> Vec<i64> {
    events.map(|event| part.events.time(event).0).collect()
}

/// The fields of the first event with this name, as (name, type, text).
fn fields_of(opened: &Opened, name: &str) -> Vec<(String, String, String)> {
    let detail = (0..opened.part().events.len() as u32)
        .map(|event| opened.describe(0, event))
        .find(|detail| detail.name == name)
        .unwrap();
    let fields = detail.fields.iter();
    fields
        .map(|field| (field.name.clone(), field.type_name.clone(), field.text()))
        .collect()
}

fn process_names(opened: &Opened) -> Vec<(u64, String)> {
    let processes = opened.directory.processes.iter();
    processes
        .filter_map(|process| {
            let name = opened.directory.strings.text(process.name?).into_owned();
            Some((process.pid, name))
        })
        .collect()
}

#[test]
fn ticks_of_24_mhz_and_legacy_switches_are_exact() {
    let opened = open_sample("fx_simple_trace.fxt");
    let part = opened.part();
    assert_eq!(
        opened.completes(),
        vec![
            ("complete_ref".into(), 100_000_000, 400_000_000),
            ("complete_inline".into(), 110_000_000, 40_000_000),
            ("complete_ref".into(), 500_000_458, 99_999_542),
        ]
    );
    let switches = part.switches.iter();
    let switched = times(part, switches.map(|switch| switch.event));
    assert_eq!(switched, vec![41, 500_000_416, 600_010_666, 1_000_000_666]);
    assert_eq!(part.switches[0].prev_state, ThreadState::Stopped);
    // Priority 0 but a process: not idle.
    assert_eq!(opened.koids(part.switches[0].prev), (Some(4660), 17185));
    assert_eq!(opened.koids(part.switches[3].next), (Some(4660), 17185));
    assert_eq!(opened.koids(part.switches[1].next), (Some(1000), 1002));
    let asyncs = times(part, part.asyncs.iter().map(|mark| mark.event));
    assert_eq!(asyncs, vec![500_000_208, 600_016_000]);
    assert_eq!(part.asyncs[0].id, 1);
}

#[test]
fn a_zero_word_is_skipped() {
    let (whole, padded) = (
        open_sample("fx_simple_trace.fxt"),
        open_sample("fx_simple_zero_word_in_middle.fxt"),
    );
    assert_eq!(padded.diagnostic("zero_word"), 1);
    assert_eq!(padded.completes(), whole.completes());
    assert_eq!(padded.part().events.len(), whole.part().events.len());
}

#[test]
fn a_trace_cut_anywhere_shows_its_whole_records() {
    let folder = corpus("fxt");
    let bytes = unpacked(&folder.join("fx_simple_trace.fxt"));
    let mut ends = vec![];
    let mut at = 0;
    while at < bytes.len() {
        at += usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]) >> 4) * 8;
        ends.push(at);
    }
    for length in 8..=bytes.len() {
        let opened = open(bytes[..length].to_vec());
        let whole_bytes = *ends.iter().rfind(|&&end| end <= length).unwrap();
        let is_cut = length != whole_bytes;
        assert_eq!(
            opened.diagnostic("cut_record"),
            u64::from(is_cut),
            "{length}"
        );
        if is_cut {
            let diagnostics = &opened.whole.diagnostics;
            let row = diagnostics
                .rows()
                .iter()
                .find(|row| row.code == "cut_record")
                .unwrap();
            assert_eq!(row.places, vec![Location::Byte(whole_bytes as u64)]);
        }
        let whole = open(bytes[..whole_bytes].to_vec());
        let count =
            |opened: &Opened| -> usize { opened.parts.iter().map(|part| part.events.len()).sum() };
        assert_eq!(count(&opened), count(&whole));
    }
}

#[test]
#[ignore = "reads a file of Perfetto's tests: set THREADLINE_CORPUS to a corpus that has it"]
fn a_header_of_size_zero_is_reported() {
    let opened = open_sample("pt_corrupted_fxt.fxt");
    let diagnostics = &opened.whole.diagnostics;
    let row = &diagnostics.rows()[0];
    assert_eq!(
        (&*row.code, row.severity),
        ("record_size_zero", Severity::Error)
    );
    assert_eq!(row.places, vec![Location::Byte(8)]);
}

#[test]
fn damage_is_noted_and_what_is_whole_is_shown() {
    let refs = open_sample("bad_refs.fxt");
    let goods = vec![("good 1".into(), 100, 100), ("good 2".into(), 900, 50)];
    assert_eq!(refs.completes(), goods);
    assert_eq!(refs.diagnostic("unknown_provider"), 1);
    // Of arguments only `describe` reads the names.
    assert_eq!(refs.diagnostic("unresolved_string"), 2);
    assert_eq!(refs.diagnostic("unresolved_thread"), 2);
    let argument = fields_of(&refs, "unresolved arg name");
    assert_eq!(argument[0].0, "<string 502?>");
    let names: Vec<String> = (0..refs.part().events.len() as u32)
        .map(|event| refs.describe(0, event).name)
        .collect();
    assert!(
        names.iter().any(|name| name == "<string 501?>"),
        "{names:?}"
    );
    let thread = (0..refs.part().events.len() as u32)
        .find(|&event| refs.describe(0, event).name == "unresolved thread")
        .and_then(|event| refs.part().events.thread(event))
        .unwrap();
    assert_eq!(refs.thread_name(thread), "<thread 200?>");

    let cut = open_sample("bad_truncated.fxt");
    assert_eq!(cut.completes(), goods[..1]);
    let diagnostics = &cut.whole.diagnostics;
    let row = &diagnostics.rows()[0];
    assert_eq!((&*row.code, row.count), ("cut_record", 1));
    assert_eq!(row.places, vec![Location::Byte(176)]);

    let unknown = open_sample("bad_unknown_records.fxt");
    assert_eq!(unknown.completes(), goods);
    for (code, count) in [
        ("unknown_record_type", 4),
        ("unknown_large_record", 2),
        ("unknown_event_type", 2),
        ("unknown_scheduling_record", 1),
        ("unknown_metadata", 2),
    ] {
        assert_eq!(unknown.diagnostic(code), count, "{code}");
    }
    let fields = fields_of(&unknown, "arg type 11");
    let last = fields.last().unwrap();
    assert_eq!((last.0.as_str(), last.2.as_str()), ("y", "7"));

    let timestamps = open_sample("bad_timestamps.fxt");
    assert!(timestamps.completes().contains(&("ok".into(), 2000, 500)));
    assert_eq!(timestamps.diagnostic("tick_rate_zero"), 1);
    assert!(timestamps.diagnostic("timestamp_overflow") >= 2);
    assert_eq!(timestamps.diagnostic("end_before_begin"), 1);
}

#[test]
#[ignore = "reads files of other libraries' tests: set THREADLINE_CORPUS to a corpus that has them"]
fn what_stands_before_the_first_provider_is_used_by_it() {
    let ocaml = open_sample("ocaml_t2_thread_before_provider.fxt");
    let slices = vec![
        ("outer".into(), 100_000, 4_900_000),
        ("inner".into(), 180_000, 4_320_000),
    ];
    assert_eq!(ocaml.completes(), slices);
    assert_eq!(
        ocaml.koids(ocaml.part().events.thread(0).unwrap()),
        (Some(1), 86)
    );
    assert!(ocaml.diagnostic("inherited_tables") >= 1);
    let fields = fields_of(&ocaml, "hello");
    assert_eq!(fields, vec![("x".into(), "int32".into(), "42".into())]);

    // 1 MHz, registered before provider 1.
    let rust = open_sample("ftfrs_sample.fxt");
    assert_eq!(rust.part().events.time(0), Timestamp(100_000_000));
}

#[test]
fn an_ocaml_program_with_its_counters_and_asyncs() {
    let opened = open_sample("ocaml_t1.fxt");
    let part = opened.part();
    assert_eq!(process_names(&opened).len(), 1);
    assert_eq!(process_names(&opened)[0].1, "main");
    let names: Vec<String> = opened
        .directory
        .threads
        .iter()
        .map(|t| opened.thread_name(t.key))
        .collect();
    assert_eq!(names, vec!["t1".to_owned()]);
    let facts = &opened.whole.info.facts;
    assert!(
        facts.iter().any(|fact| fact.value.starts_with("oc ")),
        "{facts:?}"
    );
    assert_eq!(opened.completes().len(), 316);
    assert_eq!(part.samples.len(), 200);
    let series: Vec<_> = part
        .series
        .iter()
        .map(|series| part.strings.text(series.name))
        .collect();
    assert_eq!(series, vec!["n"]);
    assert!(matches!(part.series[0].scope, SeriesScope::Process(_)));
    let slept = (0..part.events.len() as u32)
        .flat_map(|event| opened.describe(0, event).fields)
        .find(|field| field.name == "slept")
        .unwrap();
    assert_eq!(slept.value, Value::Bool(false));
}

#[test]
fn providers_with_equal_indices_are_kept_apart() {
    let opened = open_sample("cpp_multi_provider.fxt");
    let part = opened.part();
    let labels: Vec<_> = part.marks.iter().take(4).map(|mark| mark.label()).collect();
    assert_eq!(
        part.strings
            .text(part.labels.get(labels[0] as usize).unwrap().name),
        "alpha outer"
    );
    let processes = process_names(&opened);
    assert!(processes.contains(&(11, "alpha process".into())));
    assert!(processes.contains(&(22, "beta process".into())));
    assert_eq!((part.gaps.len(), opened.diagnostic("buffer_full")), (2, 2));
    for gap in &part.gaps {
        let is_inside = gap.span().start >= part.events.time(0);
        assert!(is_inside, "{gap:?}");
    }
    // 24 MHz ticks of beta: 541,666 is 13,000,000 / 24 rounded down.
    let beta = opened.completes();
    assert_eq!(
        beta[0],
        ("beta inner".into(), 541_666, 83_334),
        "{:?}",
        &beta[..2]
    );
    assert_eq!(part.flows.len(), 100);
}

#[test]
#[ignore = "reads a file of Perfetto's tests: set THREADLINE_CORPUS to a corpus that has it"]
fn scheduling_records_keep_their_koids_wakers_and_idle_threads() {
    let opened = open_sample("pt_scheduler_events_with_waker_id.fxt");
    let part = opened.part();
    let (switch, wakeup) = (part.switches[0], part.wakeups[0]);
    assert_eq!(wakeup.waker.get(), Some(switch.next));
    assert_ne!(Some(wakeup.thread), wakeup.waker.get());
    assert!(opened.koids(switch.next).1 > u64::from(u32::MAX));

    let without = open_sample("pt_scheduler_events.fxt");
    assert_eq!(without.part().wakeups[0].waker.get(), None);

    let legacy = open_sample("pt_legacy_scheduler_events.fxt");
    let part = legacy.part();
    assert_eq!(part.switches[0].prev, ThreadKey::IDLE);
    assert!(
        part.switches[1..]
            .iter()
            .all(|switch| switch.prev != ThreadKey::IDLE)
    );
    // The idle thread is nobody.
    assert!(
        legacy
            .directory
            .threads
            .iter()
            .all(|thread| thread.key != ThreadKey::IDLE)
    );
}

#[test]
fn the_scope_of_instants_is_told() {
    let opened = open_sample("fx_instant_scope.fxt");
    let scope = |name: &str| -> Option<String> {
        let fields = fields_of(&opened, name);
        let scope = fields.into_iter().find(|field| field.1 == "instant scope");
        scope.map(|field| field.2)
    };
    assert_eq!(scope("no scope word"), None);
    assert_eq!(scope("scope thread").as_deref(), Some("thread"));
    assert_eq!(scope("scope process").as_deref(), Some("process"));
    assert_eq!(scope("scope global with arg").as_deref(), Some("global"));
    assert_eq!(scope("scope unknown").as_deref(), Some("thread"));
}

#[test]
fn logs_and_large_records_are_read() {
    let opened = open_sample("fx_log_and_large.fxt");
    let part = opened.part();
    assert_eq!(part.logs.len(), 4);
    let messages = part.logs.iter().map(|log| part.strings.text(log.message));
    let messages: Vec<_> = messages.collect();
    assert!(messages.iter().any(|message| message.is_empty()));
    assert!(messages.iter().any(|message| message.contains("\\x")));
    assert_eq!(
        opened.completes(),
        vec![("between large records".into(), 1500, 100)]
    );
    assert_eq!(
        times(part, part.marks.iter().map(|mark| mark.event)),
        vec![1000, 2000]
    );
    let sizes: Vec<String> = (0..part.events.len() as u32)
        .flat_map(|event| opened.describe(0, event).fields)
        .filter(|field| field.type_name == "bytes")
        .map(|field| field.text())
        .collect();
    assert!(sizes.contains(&"70000".to_owned()), "{sizes:?}");
    assert_eq!(
        part.events.time(part.events.len() as u32 - 1),
        Timestamp(2100)
    );
    assert!(part.events.time(0).0 >= 1000);
}

#[test]
fn four_word_initialization_tells_the_wall_clock() {
    let opened = open_sample("fx_init_4words.fxt");
    assert_eq!(
        opened.completes(),
        vec![("starts at base".into(), 500_000, 1_000_000)]
    );
    let zero = opened.whole.info.wall_clock_zero_ns;
    assert_eq!(zero, Some(1_700_000_000_000_000_000 - 500_000));
}

#[test]
fn counters_have_a_series_an_argument() {
    let folder = corpus("fxt");
    let opened = open_sample("cpp_general.fxt");
    let mut ours: Vec<(i64, String, String)> = Vec::new();
    let part = opened.part();
    for sample in &part.samples {
        let name = part.strings.text(part.series[sample.series as usize].name);
        let time = part.events.time(sample.event).0;
        ours.push((time, format!("{:.6}", sample.value), name.into_owned()));
    }
    let table = std::fs::read_to_string(folder.join("cpp_general.fxt.tp.counters.tsv")).unwrap();
    let mut theirs: Vec<(i64, String, String)> = Vec::new();
    for line in table.lines().skip(1) {
        let mut cells = line.split('\t').map(str::to_owned);
        let time = cells.next().unwrap().parse().unwrap();
        theirs.push((time, cells.next().unwrap(), cells.next().unwrap()));
    }
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
    assert_eq!(opened.diagnostic("end_before_begin"), 1);
}

#[test]
#[ignore = "reads a capture that others published: set THREADLINE_CORPUS to a corpus that has it"]
fn a_real_magic_trace_capture() {
    let opened = open_sample("magictrace_real.fxt");
    let part = opened.part();
    assert_eq!(part.marks.len(), 2 * 17_296);
    assert!(opened.whole.info.wall_clock_zero_ns.is_some());
    assert_eq!(process_names(&opened)[0].1, "2248878/2248878");
    let names: Vec<String> = opened
        .directory
        .threads
        .iter()
        .map(|t| opened.thread_name(t.key))
        .collect();
    assert_eq!(names, vec!["main".to_owned()]);
    for mark in part
        .marks
        .iter()
        .filter(|mark| mark.op() == MarkOp::Begin)
        .step_by(97)
    {
        let detail = opened.describe(0, mark.event);
        let label = part.labels.get(mark.label() as usize).unwrap();
        // Temporary string entries are overwritten all the time: both ways must agree.
        assert_eq!(part.strings.text(label.name), detail.name);
        let types: Vec<&str> = detail
            .fields
            .iter()
            .map(|field| field.type_name.as_str())
            .collect();
        assert!(types.contains(&"pointer"), "{types:?}");
    }
}

#[test]
fn parts_are_the_same_in_whatever_order_they_are_read() {
    let folder = corpus("fxt");
    let once = unpacked(&folder.join("mix_seed1.fxt"));
    let bytes: Vec<u8> = once.iter().copied().cycle().take(once.len() * 7).collect();
    let forward = open(bytes.clone());
    let count = forward.parts.len();
    assert!(count > 2);
    let single = open(once);
    let events: usize = forward.parts.iter().map(|part| part.events.len()).sum();
    assert_eq!(events, 7 * single.part().events.len());

    let backward = open(bytes);
    let job = Job::default();
    for part in (0..count).rev() {
        let again = backward.recording.read_whole(&job).unwrap();
        let again = &again.parts[part].columns;
        let first = &forward.parts[part];
        assert_eq!(first.events.len(), again.events.len());
        for event in (0..first.events.len() as u32).step_by(131) {
            let (a, b) = (first.events.row(event), again.events.row(event));
            assert_eq!((a.time, a.place, a.thread), (b.time, b.place, b.thread));
        }
        let names = |part: &LaneColumns| -> Vec<Vec<u8>> {
            let marks = part
                .marks
                .iter()
                .map(|mark| part.labels.get(mark.label() as usize).unwrap());
            marks
                .map(|label| part.strings.bytes(label.name).to_vec())
                .collect()
        };
        assert_eq!(names(first), names(again));
    }
}
