//! Opens every trace.dat of the corpus and counts what is in it against what trace-cmd counted.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::corpus::corpus;
use threadline::base::{Job, Severity};
use threadline::event::keys::Directory;
use threadline::event::{LaneColumns, MarkOp, Role};
use threadline::formats::tracedat::{FORMAT, TraceFile};
use threadline::formats::{Input, Recording, ReportOptions};
use threadline::trace::{ThreadId, ThreadState};

/// "types" and per-CPU counts of the manifest, where it has them.
fn files() -> Vec<(String, Vec<u8>, serde_json::Value)> {
    let folder = corpus("tracedat");
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let mut files = Vec::new();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "dat"))
        .collect();
    names.sort();
    for path in names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let entry = find(&manifest, &name).cloned().unwrap_or_default();
        files.push((name, bytes, entry));
    }
    files
}

fn find<'a>(manifest: &'a serde_json::Value, name: &str) -> Option<&'a serde_json::Value> {
    match manifest {
        serde_json::Value::Array(rows) => rows
            .iter()
            .find(|row| row["file"] == name || row["name"] == name),
        _ => manifest
            .get(name)
            .or_else(|| find(manifest.get("files")?, name)),
    }
}

#[test]
fn counts_agree_with_trace_cmd() {
    let mut wrong = Vec::new();
    for (name, bytes, entry) in files() {
        let file = TraceFile::open(Input::from_vec(bytes, &name)).unwrap();
        let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
        for buffer in &file.buffers {
            for data in &buffer.cpus {
                let mut records = file.records(data, buffer.page_size);
                while records.advance().is_some() {
                    let id = records.payload().first_chunk().copied().unwrap_or_default();
                    let kind = file.kind_of_id(file.endian().u16(id));
                    let format = kind.and_then(|kind| file.metadata.formats.get(kind as usize));
                    let name = format.map_or("unknown", |format| &format.name);
                    *by_name.entry(name.to_owned()).or_default() += 1;
                }
            }
        }
        let odd = file.diagnostics.rows().iter();
        let odd: Vec<_> = odd.filter(|row| row.severity != Severity::Info).collect();
        assert!(odd.is_empty(), "{name}: {odd:?}");
        for (event, count) in entry["per_type"].as_object().into_iter().flatten() {
            // trace-cmd prints a leaf's entry and exit as one line; the two others were not counted by it.
            if !["funcgraph_exit", "blktrace", "run"].contains(&event.as_str()) {
                let ours = by_name.get(event).copied();
                if ours != count.as_u64() {
                    wrong.push(format!("{name}: {event} {ours:?} {count}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

struct Opened {
    recording: Recording,
    parts: Vec<LaneColumns>,
    directory: Directory,
}

fn open(name: &str, bytes: Vec<u8>) -> Opened {
    let job = Job::default();
    let recording = FORMAT.open(Input::from_vec(bytes, name), &job).unwrap();
    let gathered = recording.read_whole(&job).unwrap();
    let parts = gathered.parts.into_iter().map(|part| part.columns);
    Opened {
        recording,
        parts: parts.collect(),
        directory: gathered.directory,
    }
}

#[test]
fn the_bulk_pass_agrees_with_the_walk_over_records() {
    for (name, bytes, entry) in files() {
        let file = TraceFile::open(Input::from_vec(bytes.clone(), &name)).unwrap();
        let opened = open(&name, bytes);
        let parts = &opened.parts;
        if opened.recording.info.format.ends_with("latency text") {
            continue;
        }
        let mut walked = Vec::new();
        for buffer in &file.buffers {
            for data in &buffer.cpus {
                let map = file.time_map(data.cpu);
                let mut records = file.records(data, buffer.page_size);
                while let Some(head) = records.advance() {
                    walked.push((map.time(head.raw_time), head.place));
                    let again = file.event_at(data, buffer.page_size, head.place);
                    assert_eq!(again.unwrap(), records.payload(), "{name}");
                }
            }
        }
        let read: Vec<_> = parts
            .iter()
            .flat_map(|part| (0..part.events.len() as u32).map(|event| part.events.row(event)))
            .map(|row| (row.time.0, row.place))
            .collect();
        assert!(read == walked, "{name}");
        let directory = &opened.directory;
        let gaps: usize = parts.iter().map(|part| part.gaps.len()).sum();
        assert_eq!(
            Some(gaps as u64),
            entry["dropped_markers"].as_u64(),
            "{name}"
        );
        let switches: usize = parts.iter().map(|part| part.switches.len()).sum();
        if let Some(count) = entry["per_type"]["sched_switch"].as_u64() {
            assert_eq!(switches as u64, count, "{name}");
        }
        let unknown = parts
            .iter()
            .flat_map(|part| &part.switches)
            .filter(|switch| switch.prev_state == ThreadState::Unknown)
            .count();
        assert_eq!(unknown, 0, "{name}");
        let span = opened.recording.stream.coarse().span;
        for (time, _) in read {
            assert!(
                span.start.0 <= time && time < span.end.0,
                "{name}: {span:?} {time}"
            );
        }
        for part in parts {
            for row in part.diagnostics.rows() {
                assert!(row.code == "unknown_event", "{name}: {row:?}");
            }
            for mark in part.marks.iter().filter(|mark| mark.op() == MarkOp::Begin) {
                let label = part.labels.get(mark.label() as usize).unwrap();
                assert!(!part.strings.bytes(label.name).is_empty(), "{name}");
                assert!(directory.kinds.len() > part.events.kind(mark.event).index());
            }
        }
    }
}

#[test]
fn a_latency_tracers_text_is_the_trace() {
    for (name, bytes, _) in files() {
        if name != "v7-zlib-latency-wakeup_rt.dat" {
            continue;
        }
        let opened = open(&name, bytes);
        let parts = &opened.parts;
        assert_eq!(opened.recording.info.format, "trace.dat 7, latency text");
        let events: usize = parts.iter().map(|part| part.events.len()).sum();
        assert_eq!(events, 93, "the header says #93/93");
        let wakeups: Vec<_> = parts.iter().flat_map(|part| &part.wakeups).collect();
        assert!(wakeups.iter().any(|wakeup| wakeup.thread.0 == 286));
        let switches: Vec<_> = parts.iter().flat_map(|part| &part.switches).collect();
        assert!(matches!(switches.as_slice(), [only] if only.next.0 == 286));
        assert!(opened.recording.report.is_some());
        assert_eq!(opened.recording.diagnostics.count_of("latency_text"), 1);
    }
}

#[test]
fn atrace_marks_in_markers_are_slices_and_counters_as_in_the_report_of_the_same_file() {
    for (name, bytes, _) in files() {
        if name != "v7-none-trace-marker.dat" {
            continue;
        }
        let opened = open(&name, bytes);
        let parts = &opened.parts;
        let mut report = Vec::new();
        let options = ReportOptions {
            has_full_times: true,
            ..ReportOptions::default()
        };
        let job = Job::default();
        let printer = opened.recording.report.as_ref().unwrap().report();
        printer.write(&options, &mut report, &job).unwrap();
        let input = Input::from_vec(report, "report");
        let text = threadline::formats::ftrace_text::FORMAT
            .open(input, &job)
            .unwrap();
        let text_parts = text.read_whole(&job).unwrap().parts;
        let text_parts: Vec<_> = text_parts.into_iter().map(|part| part.columns).collect();
        let marks = marks_of(parts);
        assert_eq!(marks.len(), 9, "{marks:?}");
        assert_eq!(marks, marks_of(&text_parts));
        let kinds = &opened.directory.kinds;
        let consumed = kinds.iter().filter(|kind| kind.role == Role::Consumed);
        let names = consumed.map(|kind| kind.name).collect::<Vec<_>>();
        let event = parts
            .iter()
            .find_map(|part| Some((part, part.marks.first()?)));
        let (part, mark) = event.unwrap();
        let kind = part.events.kind(mark.event);
        assert!(names.contains(&kinds[kind.index()].name));
        assert_eq!(kinds[kind.index()].role, Role::Consumed);
    }
}

/// Time, thread and name of all begins, ends and samples.
fn marks_of(parts: &[LaneColumns]) -> Vec<(i64, u32, String)> {
    let mut found = Vec::new();
    for part in parts {
        for mark in &part.marks {
            let label = part.labels.get(mark.label() as usize).unwrap();
            if part.strings.bytes(label.category) == b"atrace" {
                let (time, thread) = (part.events.time(mark.event), part.events.thread(mark.event));
                let name = part.strings.text(label.name).into_owned();
                found.push((time.0, thread.unwrap().0, name));
            }
        }
        for sample in &part.samples {
            let series = part.series[sample.series as usize];
            let name = part.strings.text(series.name).into_owned();
            let time = part.events.time(sample.event);
            found.push((time.0, sample.value as u32, name));
        }
    }
    found.sort();
    found
}

/// Time spans that touch become one; of no length is none.
fn joined(spans: impl IntoIterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut all: Vec<(i64, i64)> = Vec::new();
    for (start, end) in spans.into_iter().filter(|span| span.0 < span.1) {
        match all.last_mut().filter(|last| last.1 == start) {
            Some(last) => last.1 = end,
            None => all.push((start, end)),
        }
    }
    all
}

#[test]
fn a_thread_runs_when_a_cpu_runs_it() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let folders = [samples, corpus("tracedat")];
    let mut seen = 0;
    for folder in folders {
        let paths = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<PathBuf> = paths.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.extension().is_none_or(|ending| ending != "dat") {
                continue;
            }
            let Ok(loaded) = threadline::load::open(&path, &Job::default()) else {
                continue;
            };
            let trace = &loaded.trace;
            for thread in (0..trace.threads.len() as u32).map(ThreadId) {
                let runs = trace.runs.of(thread).iter().map(|&run| {
                    let run = run as usize;
                    (trace.runs.starts[run], trace.runs.ends[run].or_greatest())
                });
                let states = trace.states.of(thread).map(|row| row as usize);
                let running = states
                    .filter(|&row| trace.states.states[row] == ThreadState::Running)
                    .map(|row| {
                        (
                            trace.states.starts[row],
                            trace.states.ends[row].or_greatest(),
                        )
                    });
                assert_eq!(joined(runs), joined(running), "{path:?} {thread:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 50);
}
