//! Text traces of many recorders: what the readers say of them against what is known to be in them.
//!
//! READMEs and `*.expected.json` of the corpus count what each file holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::corpus::corpus;
use threadline::base::Job;
use threadline::event::{EventDetail, ForkSort, LaneColumns, Life, MarkOp};
use threadline::formats::{EventRef, FORMATS, Input, Recording, Sniff};
use threadline::load::together::{open_as, open_together};
use threadline::load::{LoadedTrace, Reading, open};

fn files(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| wanted(path.file_name().unwrap().to_str().unwrap()))
        .collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

struct Opened {
    recording: Recording,
    parts: Vec<LaneColumns>,
}

fn read(path: &Path, format_name: &str) -> Opened {
    let bytes = std::fs::read(path).unwrap();
    let head = &bytes[..bytes.len().min(1 << 16)];
    for format in FORMATS {
        let sure = (format.sniff)(head);
        if format.name == format_name {
            assert_eq!(sure, Sniff::Yes, "{}", path.display());
        } else {
            assert_eq!(sure, Sniff::No, "{} as {}", path.display(), format.name);
        }
    }
    let format = FORMATS.iter().find(|f| f.name == format_name).unwrap();
    let job = Job::default();
    let recording = format
        .open(Input::from_vec(bytes, &name_of(path)), &job)
        .unwrap();
    Opened::of(recording)
}

impl Opened {
    fn of(recording: Recording) -> Opened {
        let gathered = recording.read_whole(&Job::default()).unwrap();
        let parts = gathered.parts.into_iter().map(|part| part.columns);
        Opened {
            recording,
            parts: parts.collect(),
        }
    }

    fn details(&self) -> Vec<EventDetail> {
        let mut details = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            for event in 0..part.events.len() as u32 {
                let row = part.events.row(event);
                details.push(
                    self.recording
                        .events
                        .describe(EventRef::new(number as u32, row)),
                );
            }
        }
        details
    }

    fn marks(&self, op: MarkOp) -> usize {
        let marks = self.parts.iter().flat_map(|part| &part.marks);
        marks.filter(|mark| mark.op() == op).count()
    }

    fn lives(&self) -> impl Iterator<Item = &Life> {
        self.parts
            .iter()
            .flat_map(|part| part.lives.iter().map(|row| &row.life))
    }

    fn forks(&self) -> Vec<(u32, u32)> {
        self.lives()
            .filter_map(|life| match life {
                Life::Fork { parent, child, .. } => Some(((*parent)?.0, child.0)),
                _ => None,
            })
            .collect()
    }

    fn diagnostic(&self, code: &str) -> u64 {
        let parts = self.parts.iter();
        parts.map(|part| part.diagnostics.count_of(code)).sum()
    }
}

fn load(path: &Path) -> LoadedTrace {
    open(path, &Job::default()).unwrap()
}

/// Lines, unfinished, resumed, signals, exits of each file in the strace README.
fn strace_counts(readme: &str) -> BTreeMap<String, [usize; 5]> {
    readme
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let lines = cells.get(2)?.parse().ok()?;
            let marks: Vec<usize> = cells[3]
                .split('/')
                .map(|n| n.trim().parse().unwrap())
                .collect();
            Some((
                cells[1].to_owned(),
                [lines, marks[0], marks[1], marks[2], marks[3]],
            ))
        })
        .collect()
}

#[test]
fn every_strace_file_has_the_lines_that_are_listed_for_it() {
    let folder = corpus("strace");
    let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let listed = strace_counts(&readme);
    assert!(listed.len() > 8);
    for (name, [lines, unfinished, resumed, signals, exits]) in listed {
        if name.starts_with("summary") {
            continue;
        }
        let opened = read(&folder.join(&name), "strace");
        let details = opened.details();
        let of = |category: &str| details.iter().filter(|d| d.category == category).count();
        // A detached call is begun, too, but not `<unfinished ...>`.
        let detached = details
            .iter()
            .filter(|d| d.text.ends_with("<detached ...>"))
            .count();
        // strace's way to say that a process was killed inside of a call: `resumed> <unfinished ...>) = ?`.
        let killed = details
            .iter()
            .filter(|d| d.text.contains("resumed> <unfinished ...>"))
            .count();
        let begun = unfinished + detached - killed;
        let calls = || details.iter().filter(|d| d.category == "syscalls");
        let is_exit = |text: &str| {
            text.contains(" exit_group") || text.contains(" exit(") || text.starts_with("exit")
        };
        // Those that never return are points.
        let open_exits = calls()
            .filter(|d| is_exit(&d.text) && d.text.ends_with("<unfinished ...>"))
            .count();
        // Those that their threads did not outlive have no end.
        let is_whole =
            |text: &str| !text.contains("resumed>") && !text.ends_with("...>") && !is_exit(text);
        let is_unknown = |text: &str| text.ends_with(" = ?");
        let unknown = calls()
            .filter(|d| is_whole(&d.text) && is_unknown(&d.text))
            .count();
        let unreturned = calls()
            .filter(|d| d.text.contains("resumed>") && d.text.ends_with(" = ?"))
            .count();
        assert_eq!(
            opened.marks(MarkOp::Begin),
            begun - open_exits + unknown,
            "{name}"
        );
        assert_eq!(opened.marks(MarkOp::End), resumed - unreturned, "{name}");
        assert_eq!(of("signal"), signals, "{name}");
        let ends = opened
            .lives()
            .filter(|life| matches!(life, Life::Exit { .. }));
        assert_eq!(ends.count(), exits, "{name}");
        assert_eq!(opened.diagnostic("unknown_line"), 0, "{name}");
        let stacks: usize = details.iter().map(|d| d.stack.len()).sum();
        assert_eq!(details.len() + stacks, lines, "{name}");
        if name.starts_with("stack") {
            assert!(stacks > 200);
        }
    }
}

#[test]
fn a_summary_is_refused_in_words() {
    let folder = corpus("strace");
    let error = open(&folder.join("summary.c.strace"), &Job::default()).unwrap_err();
    assert!(error.to_string().contains("strace -c"), "{error}");
}

#[test]
fn what_is_expected_of_the_recorded_pipeline() {
    let folder = corpus("minix");
    let json = std::fs::read(folder.join("strace-f-ttt-T.expected.json")).unwrap();
    let expected: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let opened = read(&folder.join("strace-f-ttt-T.txt"), "strace");
    let number = |name: &str| expected[name].as_u64().unwrap() as usize;
    assert_eq!(opened.marks(MarkOp::Begin), number("unfinished"));
    assert_eq!(opened.marks(MarkOp::End), number("resumed"));
    let execs = opened.lives().filter(|l| matches!(l, Life::Exec { .. }));
    assert_eq!(execs.count(), number("successful_execs"));
    let forks: Vec<(u32, u32)> = serde_json::from_value(expected["forks"].clone()).unwrap();
    assert_eq!(opened.forks(), forks);
    let exits: BTreeMap<String, String> =
        serde_json::from_value(expected["exits"].clone()).unwrap();
    let trace = load(&folder.join("strace-f-ttt-T.txt")).trace;
    assert_eq!(trace.processes.len(), exits.len());
    for process in &trace.processes {
        let said = match (process.exit_status, process.exit_signal) {
            (Some(status), _) => format!("exited with {status}"),
            (_, Some(10)) => "killed by SIGUSR1".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(exits[&process.pid.to_string()], said);
        assert!(process.end.is_some());
    }
    // All of the tree hangs below the shell.
    let roots = trace.processes.iter().filter(|p| p.parent.is_none());
    assert_eq!(roots.count(), 1);
}

#[test]
fn minix_files_have_what_is_expected() {
    let folder = corpus("minix");
    for name in ["ls-single", "sh-pipeline-f"] {
        let json = std::fs::read(folder.join(format!("{name}.expected.json"))).unwrap();
        let expected: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let number = |name: &str| expected[name].as_u64().unwrap() as usize;
        let path = folder.join(format!("{name}.txt"));
        let opened = read(&path, "MINIX trace(1)");
        let details = opened.details();
        let calls: usize = opened.parts.iter().map(|p| p.completes.len()).sum();
        let calls = calls + opened.marks(MarkOp::Begin);
        assert_eq!(calls, number("calls"), "{name}");
        let call_lines = || details.iter().filter(|d| d.category == "syscalls");
        let suspended = call_lines().filter(|d| d.text.ends_with("<..>")).count();
        assert_eq!(suspended, number("suspensions"), "{name}");
        let signals = details.iter().filter(|d| d.category == "signal").count();
        assert_eq!(signals, number("signals"), "{name}");
        let forks: Vec<(u32, u32)> = serde_json::from_value(expected["forks"].clone()).unwrap();
        assert_eq!(opened.forks(), forks, "{name}");
        let execs = opened.lives().filter(|l| matches!(l, Life::Exec { .. }));
        let wanted = expected["execs"].as_array().unwrap().len();
        assert_eq!(execs.count(), wanted, "{name}");
        assert_eq!(opened.diagnostic("unknown_line"), 0, "{name}");

        let loaded = load(&path);
        let trace = &loaded.trace;
        assert_eq!(trace.processes.len(), number("processes"), "{name}");
        let exits: BTreeMap<String, String> =
            serde_json::from_value(expected["exits"].clone()).unwrap();
        for process in &trace.processes {
            let said = match (process.exit_status, process.exit_signal) {
                (Some(status), _) => format!("exit {status}"),
                (_, Some(15)) => "signal SIGTERM".to_owned(),
                other => panic!("{other:?} of {}", process.pid),
            };
            assert_eq!(exits[&process.pid.to_string()], said, "{name}");
        }
        // A call is one slice, however many lines it takes.
        let of_calls = |label: &u32| {
            let label = trace.slices.labels.get(*label as usize).unwrap();
            &*trace.text(label.category) == "syscalls"
        };
        let slices = trace.slices.label_ids.iter().filter(of_calls);
        assert_eq!(slices.count(), number("calls"), "{name}");
        // Failures: lines that end a call, with an error.
        let failed = call_lines()
            .filter(|d| !d.text.ends_with("<..>"))
            .filter(|d| d.fields.iter().any(|field| field.name == "error"))
            .count();
        assert_eq!(failed, number("failed"), "{name}");
    }
}

#[test]
fn threads_share_their_process_and_children_know_their_parent() {
    let folder = corpus("strace");
    let path = folder.join("python-threads-signals.f.strace");
    let opened = read(&path, "strace");
    let sorts: Vec<ForkSort> = opened
        .lives()
        .filter_map(|life| match life {
            Life::Fork { sort, .. } => Some(*sort),
            _ => None,
        })
        .collect();
    let threads = sorts.iter().filter(|s| **s == ForkSort::Thread).count();
    let loaded = load(&path);
    let trace = &loaded.trace;
    // idle, and everybody who was made: strace made the first process
    assert_eq!(trace.threads.len(), 1 + sorts.len());
    assert_eq!(trace.processes.len(), sorts.len() - threads);
    assert!(threads >= 3);
    for process in &trace.processes[1..] {
        assert!(process.parent.is_some());
    }
    let killed: Vec<Option<i32>> = trace.processes.iter().map(|p| p.exit_signal).collect();
    assert!(killed.contains(&Some(9)) && killed.contains(&Some(11)));
}

#[test]
fn a_file_of_its_own_for_each_process_tells_the_pid_by_its_name() {
    let folder = corpus("strace");
    for path in files(&folder, |name| name.starts_with("ff-split")) {
        let pid: u64 = name_of(&path).rsplit('.').next().unwrap().parse().unwrap();
        let trace = load(&path).trace;
        assert!(trace.processes.iter().any(|process| process.pid == pid));
        assert!(!trace.slices.is_empty());
    }
}

#[test]
fn nothing_that_was_read_is_lost_when_files_are_damaged() {
    for folder in ["strace", "minix"] {
        let folder = corpus(folder);
        let wanted = |name: &str| !name.ends_with(".md") && !name.ends_with(".json");
        for path in files(&folder, wanted) {
            let bytes = std::fs::read(&path).unwrap();
            mutate(&bytes, &name_of(&path));
        }
    }
}

#[test]
fn damaged_ftrace_text_does_no_harm() {
    let folder = corpus("tracedat");
    for path in files(&folder, |name| {
        name.contains(".ftrace.txt") || name.contains("fgraph.report.txt")
    }) {
        mutate(&plain_bytes(&path), &name_of(&path));
    }
}

/// Flips, cuts and repeats bytes from a fixed seed, through every format that takes the result.
fn mutate(bytes: &[u8], name: &str) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    let mut next = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below.max(1) as u64) as usize
    };
    let job = Job::default();
    for round in 0..16 {
        let mut damaged = bytes.get(..100_000).unwrap_or(bytes).to_vec();
        match round % 4 {
            0 => {
                for _ in 0..50 {
                    let at = next(damaged.len());
                    damaged[at] = next(256) as u8;
                }
            }
            1 => damaged.truncate(next(damaged.len())),
            2 => {
                let start = next(damaged.len());
                let piece = damaged[start..(start + next(4000)).min(damaged.len())].to_vec();
                let at = next(damaged.len());
                damaged.splice(at..at, piece);
            }
            _ => {
                for _ in 0..20 {
                    let at = next(damaged.len());
                    damaged[at] = b"()[]{}<>\"\\|*, =\n\r\0"[next(18)];
                }
            }
        }
        for format in FORMATS.iter().filter(|f| {
            (f.sniff)(&damaged[..damaged.len().min(1 << 16)]) != Sniff::No
                || ["strace", "MINIX trace(1)", "ftrace text"].contains(&f.name)
        }) {
            let input = Input::from_vec(damaged.clone(), name);
            let Ok(recording) = format.open(input, &job) else {
                continue;
            };
            let read = recording.read_whole(&job).unwrap();
            for (part, columns) in read.parts.iter().map(|part| (part.part, &part.columns)) {
                for event in (0..columns.events.len() as u32).step_by(37) {
                    let row = columns.events.row(event);
                    let _ = recording.events.describe(EventRef::new(part, row));
                }
            }
        }
    }
}

/// A corpus file, unpacked if it is stored so.
fn plain_bytes(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    if name_of(path).ends_with(".zst") {
        zstd::decode_all(&bytes[..]).unwrap()
    } else {
        bytes
    }
}

/// The texts of the kernel and of trace-cmd in the corpus, without raw and latency reports.
fn ftrace_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, |name| {
        let name = name.trim_end_matches(".zst");
        name.ends_with(".ftrace.txt")
            || name.ends_with(".report.txt")
            || name.ends_with(".report-N.txt")
            || name.ends_with(".trace_pipe.txt")
            || name.ends_with(".stream.txt")
    })
}

#[test]
fn every_ftrace_text_is_known_by_its_content_and_every_line_is_an_event() {
    let folder = corpus("tracedat");
    let paths = ftrace_files(&folder);
    assert!(paths.len() > 100);
    for path in paths {
        let bytes = plain_bytes(&path);
        let name = name_of(&path);
        let head = &bytes[..bytes.len().min(1 << 16)];
        // A trace without events is a line or two.
        let has_events = bytes.split(|b| *b == b'\n').count() > 3;
        for format in FORMATS {
            let sure = (format.sniff)(head);
            if format.name == "ftrace text" {
                assert!(!has_events || sure == Sniff::Yes, "{name}");
            } else {
                assert_eq!(sure, Sniff::No, "{name} as {}", format.name);
            }
        }
        let format = FORMATS.iter().find(|f| f.name == "ftrace text").unwrap();
        let job = Job::default();
        let recording = format
            .open(Input::from_vec(bytes.clone(), &name), &job)
            .unwrap();
        let opened = Opened::of(recording);
        let events: usize = opened.parts.iter().map(|part| part.events.len()).sum();
        let text = String::from_utf8_lossy(&bytes);
        let silent = text.lines().filter(|line| {
            let line = line.trim();
            line.is_empty()
                || line.starts_with('#')
                || line.starts_with("=>")
                || line.starts_with("cpus=")
                || (line.starts_with("start ") && line.contains(") end "))
                || (line.starts_with("CPU:") && line.ends_with(']'))
        });
        // What goes on behind the end of a line inside a string.
        let goes_on = text.lines().filter(|line| *line == "\"").count();
        let silent = silent.count() + goes_on;
        assert_eq!(events + silent, text.lines().count(), "{name}");
        let in_header = text.lines().find_map(|line| {
            let counts = line.strip_prefix("# entries-in-buffer/entries-written: ")?;
            let (left, written) = counts.split_whitespace().next()?.split_once('/')?;
            Some(written.parse::<u64>().unwrap() - left.parse::<u64>().unwrap())
        });
        // What was overwritten is one more gap, before the first event.
        let all_gaps: usize = opened.parts.iter().map(|part| part.gaps.len()).sum();
        let gaps = all_gaps - usize::from(in_header.is_some_and(|lost| lost > 0) && events > 0);
        let lost = text
            .lines()
            .filter(|line| line.starts_with("CPU:") && line.ends_with(']'));
        assert!(
            gaps <= lost.count() && (gaps > 0 || !text.contains("DROPPED]")),
            "{name}"
        );
        if let Some(lost) = in_header.filter(|lost| *lost > 0) {
            let loaded = load(&path).trace;
            assert!(
                loaded.gaps.iter().any(|gap| gap.lost == Some(lost)),
                "{name}"
            );
        }
        for detail in opened.details().iter().step_by(7) {
            assert!(!detail.name.is_empty(), "{name}");
        }
    }
}

/// Rows of a track that two readings of a recording must agree on: what, start, end.
type Rows = BTreeMap<String, Vec<(String, i64, Option<i64>)>>;

fn runs_of(loaded: &LoadedTrace) -> Rows {
    let trace = &loaded.trace;
    let mut rows = Rows::new();
    for (cpu, range) in trace.cpus.iter().zip(&trace.runs.of_cpu) {
        let list = rows.entry(format!("cpu {}", cpu.number)).or_default();
        for run in range.clone() {
            let run = run as usize;
            let tid = trace.threads[trace.runs.threads[run] as usize].tid;
            let end = trace.runs.ends[run].get();
            let what = format!(
                "{tid} {} {:?}",
                trace.runs.priorities[run], trace.runs.end_states[run]
            );
            list.push((what, trace.runs.starts[run], end));
        }
    }
    rows
}

fn states_of(loaded: &LoadedTrace) -> Rows {
    let trace = &loaded.trace;
    let mut rows = Rows::new();
    for (thread, range) in trace.threads.iter().zip(&trace.states.of_thread) {
        let list = rows
            .entry(format!("{} {:?}", thread.tid, thread.start.is_some()))
            .or_default();
        for state in range.clone() {
            let state = state as usize;
            let end = trace.states.ends[state].get();
            let what = format!("{:?}", trace.states.states[state]);
            list.push((what, trace.states.starts[state], end));
        }
    }
    rows
}

fn slices_of(loaded: &LoadedTrace) -> Rows {
    use threadline::trace::{SliceId, TrackKind};
    let trace = &loaded.trace;
    let mut rows = Rows::new();
    for id in 0..trace.slices.len() as u32 {
        let slice = trace.slices.get(SliceId(id));
        let label = trace.slices.label(SliceId(id));
        let track = &trace.tracks[trace.slices.row_of(SliceId(id)).track.0 as usize];
        let owner = match track.kind {
            TrackKind::Cpu(cpu) => format!("cpu {}", trace.cpus[cpu.0 as usize].number),
            TrackKind::Thread(thread) => {
                format!("thread {}", trace.threads[thread.0 as usize].tid)
            }
            TrackKind::Nobody => "nobody".to_owned(),
            TrackKind::Async(_) => format!("async {}", trace.strings.text(track.name)),
        };
        let name = trace.strings.text(label.name).into_owned();
        // Not the category: text does not say in which group a user put a probe.
        let what = format!("{name} depth {}", trace.slices.depth(SliceId(id)));
        rows.entry(owner)
            .or_default()
            .push((what, slice.start.0, slice.end.map(|end| end.0)));
    }
    rows
}

/// Equal but for the rounding of text to microseconds.
fn assert_same(binary: &Rows, text: &Rows, what: &str) -> usize {
    let keys: Vec<_> = binary.keys().collect();
    assert_eq!(keys, text.keys().collect::<Vec<_>>(), "{what}");
    let mut count = 0;
    for (owner, rows) in binary {
        let mut left = rows.clone();
        let mut right = text[owner].clone();
        // Equal microseconds may come in another order.
        let order = |row: &(String, i64, Option<i64>)| (row.0.clone(), row.1);
        left.sort_by_key(order);
        right.sort_by_key(order);
        assert_eq!(left.len(), right.len(), "{what} of {owner}");
        let is_near = |a: i64, b: i64| (a - b).abs() <= 1000;
        for (a, b) in left.iter().zip(&right) {
            let ends = match (a.2, b.2) {
                (Some(a), Some(b)) => is_near(a, b),
                (a, b) => a == b,
            };
            assert!(
                a.0 == b.0 && is_near(a.1, b.1) && ends,
                "{what} of {owner}: {a:?} is {b:?} in text"
            );
            count += 1;
        }
    }
    count
}

#[test]
fn a_recording_as_text_gives_the_picture_of_the_binary_one() {
    let folder = corpus("tracedat");
    let mut counts = [0; 3];
    for path in files(&folder, |name| name.contains(".ftrace.txt")) {
        let name = name_of(&path);
        let stem = name.split(".ftrace.txt").next().unwrap();
        // Its text and its binary file hold different stretches of time.
        if stem.ends_with("snapshot") {
            continue;
        }
        let binary = load(&folder.join(format!("{stem}.dat")));
        let text = load(&path);
        counts[0] += assert_same(&runs_of(&binary), &runs_of(&text), &format!("runs, {stem}"));
        let states = (states_of(&binary), states_of(&text));
        counts[1] += assert_same(&states.0, &states.1, &format!("states, {stem}"));
        let mut slices = (slices_of(&binary), slices_of(&text));
        // The binary file has no format for the records of blk.
        if stem.ends_with("blk-tracer") {
            slices
                .1
                .retain(|track, _| !track.starts_with("async block "));
        }
        counts[2] += assert_same(&slices.0, &slices.1, &format!("slices, {stem}"));
    }
    assert!(counts.iter().all(|count| *count > 700), "{counts:?}");
}

#[test]
fn reports_without_plugins_and_raw_give_the_picture_of_the_recording() {
    let folder = corpus("tracedat");
    let mut counts = [0; 3];
    for path in files(&folder, |name| {
        name.contains(".report-R.txt") || name.contains(".report-N.txt")
    }) {
        let name = name_of(&path);
        let stem = name.split(".report-").next().unwrap();
        let (binary, text) = (load(&folder.join(format!("{stem}.dat"))), load(&path));
        counts[0] += assert_same(&runs_of(&binary), &runs_of(&text), &format!("runs, {name}"));
        let states = (states_of(&binary), states_of(&text));
        counts[1] += assert_same(&states.0, &states.1, &format!("states, {name}"));
        // Its clock stands still for a while, so that begins and ends have no order.
        if stem == "v7-zstd-fgraph" {
            continue;
        }
        // Not the names: a probe's function is a bare number there.
        let count = |loaded: &LoadedTrace| loaded.trace.slices.len();
        // Which numbers never return depends on the machine, which this text does not say.
        let is_unsaid = text.trace.diagnostics.count_of("unsaid_machine") > 0;
        if is_unsaid && (stem.starts_with("be-") || stem.starts_with("i386-")) {
            continue;
        }
        assert_eq!(count(&binary), count(&text), "slices, {name}");
        counts[2] += count(&text);
    }
    assert!(counts.iter().all(|count| *count > 10_000), "{counts:?}");
}

#[test]
fn states_of_every_trace_cmd_are_those_of_the_recording() {
    let folder = corpus("tracedat");
    let mut count = 0;
    for path in files(&folder, |name| name.contains(".report.txt")) {
        let name = name_of(&path);
        let stem = name.split(".report.txt").next().unwrap();
        let (binary, text) = (load(&folder.join(format!("{stem}.dat"))), load(&path));
        // Its letters do not tell who was pushed off.
        let letters = |loaded: &LoadedTrace| {
            let mut rows = runs_of(loaded);
            for row in rows.values_mut().flatten() {
                row.0 = row.0.replace("Preempted", "Runnable");
            }
            rows
        };
        count += assert_same(&letters(&binary), &letters(&text), &format!("runs, {name}"));
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn the_files_of_ff_open_as_one_recording() {
    let folder = corpus("strace");
    let paths: Vec<PathBuf> = [15691, 15692, 15693]
        .iter()
        .map(|pid| folder.join(format!("ff-split.ff-ttt-T.strace.{pid}")))
        .collect();
    let job = Job::default();
    let loaded = open_together(&paths, &[], &[], &job, None).unwrap();
    let trace = &loaded.trace;
    assert!(loaded.members.is_empty(), "one trace, not three");
    assert_eq!(trace.info.format, "strace, 3 files of -ff");
    let mut pids: Vec<u64> = trace.processes.iter().map(|process| process.pid).collect();
    pids.sort_unstable();
    assert_eq!(pids, [15691, 15692, 15693]);
    let children = trace.processes.iter().filter(|it| it.parent.is_some());
    assert_eq!(children.count(), 2);
    let alone: usize = paths.iter().map(|path| load(path).trace.events.len()).sum();
    assert_eq!(trace.events.len(), alone);
    // Events of every file are found again.
    for process in [0, alone / 2, alone - 1] {
        let id = threadline::trace::EventId(process as u32);
        let detail = threadline::query::details::describe(trace, loaded.reader.as_ref(), id);
        assert!(!detail.text.is_empty(), "{process}");
    }
    // One of them twice is no recording: two traces beside each other.
    let twice = [paths[0].clone(), paths[0].clone()];
    let loaded = open_together(&twice, &[], &[], &job, None).unwrap();
    assert_eq!(loaded.members.len(), 2);
}

#[test]
fn programs_and_files_of_strace_are_shown() {
    let folder = corpus("strace");
    let loaded = load(&folder.join("shell-pipeline.f-ttt-T-yy.strace"));
    let trace = &loaded.trace;
    let programs: Vec<String> = (0..trace.slices.len() as u32)
        .map(|id| trace.slices.label(threadline::trace::SliceId(id)))
        .filter(|label| label.family == threadline::event::family::Family::Programs)
        .map(|label| trace.text(label.name).into_owned())
        .collect();
    for program in ["bash", "ls", "head", "sort", "tail", "cat"] {
        assert!(
            programs.iter().any(|it| it == program),
            "{program}: {programs:?}"
        );
    }
    assert!(!trace.flows.rows.is_empty(), "forks and pipes are arrows");
}

#[test]
fn a_date_and_a_format_that_the_user_gives_are_taken() {
    let text = "12:00:00.5 read(0, \"\", 1) = 0 <0.000001>\n12:00:01.5 close(0) = 0 <0.000001>\n";
    let path = std::env::temp_dir().join(format!("threadline-date-{}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let midnight = threadline::load::reading::midnight_of("2026-11-21").unwrap();
    let read = |reading| {
        open_as(
            std::slice::from_ref(&path),
            reading,
            &[],
            &[],
            &Job::default(),
            None,
        )
    };
    let bare = read(Reading::default()).unwrap();
    assert_eq!(bare.trace.info.wall_clock_zero_ns, None);
    let dated = read(Reading {
        midnight_ns: Some(midnight),
        ..Reading::default()
    })
    .unwrap();
    assert_eq!(dated.trace.info.wall_clock_zero_ns, Some(midnight));
    assert_eq!(
        dated.trace.span, bare.trace.span,
        "times stay those of the file"
    );
    let forced = read(Reading {
        format: Some("ftrace text"),
        ..Reading::default()
    })
    .unwrap();
    assert_eq!(forced.trace.info.format, "ftrace text");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_leader_that_a_thread_took_over_runs_its_program() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/strace");
    let paths = [8475, 8482].map(|pid| folder.join(format!("taken-over.{pid}")));
    let loaded = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let trace = &loaded.trace;
    assert_eq!(trace.info.format, "strace, 2 files of -ff");
    let leader = trace.processes.iter().find(|it| it.pid == 8475).unwrap();
    assert_eq!(trace.text(leader.name), "echo");
    let last = leader.images.last().unwrap();
    let arguments = last.arguments.iter().map(|it| trace.text(*it).into_owned());
    assert_eq!(arguments.collect::<Vec<_>>(), ["echo", "taken over"]);
    assert_eq!(leader.exit_status, Some(0));
    // The thread's execve is one slice, and nothing is left without its other half.
    let execs = (0..trace.slices.len() as u32)
        .map(threadline::trace::SliceId)
        .filter(|&id| trace.text(trace.slices.label(id).name) == "execve")
        .count();
    assert_eq!(execs, 2, "the first program's and the thread's");
    let codes: Vec<_> = trace
        .diagnostics
        .rows()
        .iter()
        .map(|row| &*row.code)
        .collect();
    assert!(!codes.contains(&"unmatched_end"), "{codes:?}");
}
