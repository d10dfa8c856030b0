//! etrace recordings of real builds and of programs made to be hard to trace: what `load` makes of them
//! against what an independent reader found (`NAME.facts.json`, `NAME.tree.json`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::corpus::corpus;
use serde_json::Value;
use threadline::base::{Job, StringId, Timestamp};
use threadline::event::{DecodedEvent, EventDetail, FileOp, Need};
use threadline::formats::EventRef;
use threadline::load::{self, LoadedTrace};
use threadline::trace::{EventId, ThreadId, TrackKind};

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    vec![
        corpus("etrace"),
        root.join("tests/golden/etrace"),
        root.join("sample-traces"),
    ]
}

/// Recordings with what is known of them.
fn recordings() -> Vec<(PathBuf, Value, Option<Value>)> {
    let json = |path: &Path| -> Option<Value> {
        Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap())
    };
    let mut all = Vec::new();
    for folder in folders() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && name == "percpu-parts" {
                let facts = json(&path.join("merged.facts.json")).unwrap();
                let tree = json(&path.join("merged.tree.json"));
                all.push((path, facts, tree));
                continue;
            }
            let Some(stem) = name
                .strip_suffix(".etrace")
                .or_else(|| name.strip_suffix(".etrace.zst"))
                .or_else(|| name.strip_suffix("-info.txt").and(Some("context-info")))
            else {
                continue;
            };
            let facts = json(&path.with_file_name(format!("{stem}.facts.json")));
            let tree = json(&path.with_file_name(format!("{stem}.tree.json")));
            if let Some(facts) = facts {
                all.push((path, facts, tree));
            }
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn open(path: &Path) -> LoadedTrace {
    let job = Job::default();
    let loaded = if path.is_dir() {
        // One file a CPU; one of them is empty.
        let parts: Vec<PathBuf> = (0..4)
            .map(|n| path.join(format!("nfsdb_part_{n}")))
            .collect();
        load::together::open_together(&parts, &[], &[], &job, None)
    } else {
        load::open(path, &job)
    };
    loaded.unwrap_or_else(|error| panic!("{error}"))
}

/// Opens the recording with this file name.
fn recording(name: &str) -> LoadedTrace {
    let mut all = recordings().into_iter();
    let found = all.find(|row| row.0.ends_with(name));
    open(&found.unwrap_or_else(|| panic!("no recording {name}")).0)
}

fn events(loaded: &LoadedTrace) -> impl Iterator<Item = EventId> + '_ {
    (0..loaded.trace.events.len() as u32).map(EventId)
}

fn describe(loaded: &LoadedTrace, id: EventId) -> EventDetail {
    let event = loaded.trace.events.get(id);
    loaded.reader.describe(EventRef {
        part: event.part,
        place: event.row.place,
        time: event.row.time,
        kind: event.row.kind,
        thread: event.row.thread,
    })
}

fn kind(loaded: &LoadedTrace, id: EventId) -> String {
    let kind = loaded.trace.events.kind(id);
    loaded.trace.kind_name(kind).into_owned()
}

/// Bytes that are not UTF-8 as the facts have them.
fn escaped(loaded: &LoadedTrace, id: StringId) -> String {
    let mut text = String::new();
    for chunk in loaded.trace.strings.bytes(id).utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

const TEXT_TAGS: &[&str] = &[
    "PI",
    "PP",
    "CW",
    "A",
    "FN",
    "FO",
    "RF",
    "RT",
    "LF",
    "LT",
    "ST",
    "SR",
    "SL",
    "MS",
    "MT",
    "MX",
    "CN",
    "Cont",
    "Cont_end",
    "End_of_args",
    "Env",
];

#[test]
fn files_hold_the_lines_and_calls_that_are_in_them() {
    for (path, facts, _) in recordings() {
        let name = path.display();
        let loaded = open(&path);
        let trace = &loaded.trace;
        let mut tags: BTreeMap<String, i64> = BTreeMap::new();
        for id in events(&loaded) {
            *tags.entry(kind(&loaded, id)).or_default() += 1;
        }
        for (tag, count) in facts["tags"].as_object().unwrap() {
            if !TEXT_TAGS.contains(&tag.as_str()) && !tag.ends_with("_end") {
                assert_eq!(tags.get(tag).copied(), count.as_i64(), "{tag} of {name}");
            }
        }
        let owners: BTreeSet<u64> = events(&loaded)
            .map(|id| trace.thread(trace.events.thread(id)).key)
            .filter(|key| *key != 0)
            .collect();
        assert_eq!(
            owners.len() as i64,
            number(&facts["owners"]),
            "owners of {name}"
        );
        let lost: Vec<(u32, u64)> = trace
            .gaps
            .iter()
            .map(|gap| (gap.cpu.unwrap(), gap.lost.unwrap()))
            .collect();
        let known_lost: Vec<(u32, u64)> = facts["lost_lines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (number(&row["cpu"]) as u32, number(&row["events"]) as u64))
            .collect();
        assert_eq!(lost, known_lost, "{name}");
        let lost_events: u64 = known_lost.iter().map(|row| row.1).sum();
        assert_eq!(
            trace.diagnostics.count_of("lost_events"),
            lost_events,
            "{name}"
        );
        assert_eq!(trace.diagnostics.count_of("junk_line"), 0, "{name}");
        assert_eq!(trace.diagnostics.count_of("stray_line"), 0, "{name}");
        let damaged = !known_lost.is_empty() || name.to_string().contains("cut-in");
        for code in ["text_without_call", "incomplete_call", "size_differs"] {
            let is_clean = trace.diagnostics.count_of(code) == 0;
            // names3 of the tracer's own list loses empty lines; every other size is exact.
            assert!(
                is_clean || damaged,
                "{code} in {name}: {:?}",
                trace.diagnostics
            );
        }
        let cpus: Vec<i64> = trace.cpus.iter().map(|cpu| i64::from(cpu.number)).collect();
        let known: Vec<i64> = facts["cpus"]
            .as_array()
            .unwrap()
            .iter()
            .map(number)
            .collect();
        assert_eq!(cpus, known, "cpus of {name}");
        for id in events(&loaded).take(2000) {
            let event = trace.events.get(id);
            let detail = describe(&loaded, id);
            assert_eq!(detail.name, kind(&loaded, id), "{name}");
            assert_eq!(detail.time, event.row.time);
            let cpu = event.cpu.map(|cpu| trace.cpus[cpu as usize].number);
            assert_eq!(detail.cpu, cpu, "{name}");
        }
    }
}

#[test]
fn files_and_ends_agree_with_the_counts() {
    for (path, facts, _) in recordings() {
        let name = path.display();
        let loaded = open(&path);
        let trace = &loaded.trace;
        let counts = &facts["counts"];
        let known = |key: &str| counts.get(key).map_or(0, number);
        let count = |op: FileOp, is_good: bool| {
            let rows = trace.files.rows.iter();
            rows.filter(|row| row.op == op && (row.result >= 0) == is_good)
                .count() as i64
        };
        assert_eq!(count(FileOp::Open, true), known("opens"), "opens of {name}");
        let differ = trace
            .files
            .rows
            .iter()
            .filter(|row| row.op == FileOp::Open && row.other_path != StringId::EMPTY)
            .count() as i64;
        assert_eq!(differ, known("opens_orig_differs"), "{name}");
        assert_eq!(
            count(FileOp::Close, true),
            known("closes"),
            "closes of {name}"
        );
        assert_eq!(count(FileOp::Dup, true), known("dups"), "dups of {name}");
        assert_eq!(count(FileOp::Pipe, true), known("pipes"), "pipes of {name}");
        assert_eq!(count(FileOp::Symlink, true), known("symlinks"), "{name}");
        assert_eq!(
            count(FileOp::Rename, true),
            known("rename_ok"),
            "renames of {name}"
        );
        assert_eq!(
            count(FileOp::Link, true),
            known("link_ok"),
            "links of {name}"
        );
        assert_eq!(
            count(FileOp::Rename, false),
            known("rename_failed") - known("RenameFailed_without_from"),
            "{name}"
        );
        assert_eq!(
            count(FileOp::Link, false),
            known("link_failed") - known("LinkFailed_without_from"),
            "{name}"
        );
        assert_eq!(
            count(FileOp::Mount, false),
            known("mount_failed") - known("MountFailed_without_from"),
            "{name}"
        );
        assert_eq!(count(FileOp::Unmount, true), known("umount_ok"), "{name}");
        let mut statuses: BTreeMap<String, i64> = BTreeMap::new();
        for id in events(&loaded).filter(|id| kind(&loaded, *id) == "Exit") {
            let detail = describe(&loaded, id);
            let status = detail.fields.iter().find(|field| field.name == "status");
            *statuses
                .entry(status.unwrap().value.to_string())
                .or_default() += 1;
        }
        for (status, count) in facts["exit_status"].as_object().unwrap() {
            assert_eq!(
                statuses.get(status).copied(),
                count.as_i64(),
                "exits of {name}"
            );
        }
        assert_eq!(
            statuses.len(),
            facts["exit_status"].as_object().unwrap().len()
        );
        let images: usize = trace
            .processes
            .iter()
            .map(|process| process.images.len())
            .sum();
        assert_eq!(images as i64, known("execs"), "execs of {name}");
    }
}

/// The lives of a task: more than one where the tracer gave its id to another.
fn lives(loaded: &LoadedTrace, upid: u64) -> Vec<ThreadId> {
    let threads = loaded.trace.threads.iter().enumerate().skip(1);
    threads
        .filter(|(_, thread)| thread.key == upid)
        .map(|(index, _)| ThreadId(index as u32))
        .collect()
}

#[test]
fn the_tree_is_the_one_that_was_recorded() {
    for (path, facts, tree) in recordings() {
        let name = path.display();
        let loaded = open(&path);
        let trace = &loaded.trace;
        let key_of_process = |id: threadline::trace::ProcessId| {
            let process = &trace.processes[id.0 as usize];
            trace.thread(process.main_thread.unwrap()).key
        };
        let roots: BTreeSet<u64> = trace
            .processes
            .iter()
            .filter(|process| process.parent.is_none())
            .map(|process| process.key)
            .collect();
        let known: BTreeSet<u64> = facts["roots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|root| root.as_u64().unwrap())
            .collect();
        assert_eq!(roots, known, "roots of {name}");
        let Some(tree) = tree else { continue };
        for task in tree.as_array().unwrap() {
            let upid = task["upid"].as_u64().unwrap();
            let is_unregistered = upid >> 22 == (1 << 41) - 1;
            let ids = if is_unregistered {
                // It lives on under a stale id of the same pid.
                let stale = tree
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|other| other["pid"] == task["pid"] && other["upid"] != task["upid"]);
                let stale = lives(&loaded, stale.unwrap()["upid"].as_u64().unwrap());
                assert_eq!(stale.len(), 2, "{upid} of {name}");
                stale[1..].to_vec()
            } else {
                lives(&loaded, upid)
            };
            assert!(!ids.is_empty(), "{upid} of {name}");
            let thread = trace.thread(ids[0]);
            assert_eq!(thread.tid, task["pid"].as_u64().unwrap(), "{name}");
            let process = &trace.processes[thread.process.unwrap().0 as usize];
            let is_thread = task["thread"] == Value::Bool(true);
            assert_eq!(
                process.main_thread != Some(ids[0]),
                is_thread,
                "{upid} of {name}"
            );
            let parent = if is_thread {
                thread.process.map(key_of_process)
            } else {
                process.parent.map(key_of_process)
            };
            // A thread's parent can be another thread of the process.
            let known_parent = task["parent"].as_u64().map(|parent| {
                let id = lives(&loaded, parent)[0];
                key_of_process(trace.thread(id).process.unwrap())
            });
            assert_eq!(parent, known_parent, "parent of {upid} in {name}");
            if is_unregistered {
                continue;
            }
            let opens = trace
                .files
                .rows
                .iter()
                .filter(|row| row.op == FileOp::Open && trace.thread(row.thread).key == upid);
            assert_eq!(
                opens.count() as i64,
                number(&task["opens"]),
                "{upid} of {name}"
            );
            let images: Vec<_> = trace
                .processes
                .iter()
                .filter(|process| process.main_thread.is_some_and(|id| ids.contains(&id)))
                .flat_map(|process| &process.images)
                .collect();
            let execs = task["execs"].as_array().unwrap();
            assert_eq!(images.len(), execs.len(), "execs of {upid} in {name}");
            for (image, exec) in images.iter().zip(execs) {
                assert_eq!(
                    image.start,
                    Timestamp(number(&exec["ns"])),
                    "{upid} of {name}"
                );
                for (found, known) in [
                    (image.program, "path"),
                    (image.interpreter, "interp"),
                    (image.directory, "cwd"),
                ] {
                    let known = exec[known].as_str().unwrap_or("");
                    assert_eq!(escaped(&loaded, found), known, "{upid} of {name}");
                }
                let arguments: Vec<String> = image
                    .arguments
                    .iter()
                    .map(|id| escaped(&loaded, *id))
                    .collect();
                let known: Vec<&str> = exec["argv"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|argument| argument.as_str().unwrap())
                    .collect();
                assert_eq!(arguments, known, "arguments of {upid} in {name}");
            }
            let last = trace.thread(*ids.last().unwrap());
            let exits = task["exit"].as_array();
            assert_eq!(
                last.end.is_some(),
                exits.is_some(),
                "end of {upid} in {name}"
            );
            if let (Some(exits), false) = (exits, is_thread) {
                let last = &trace.processes[last.process.unwrap().0 as usize];
                let status = last.exit_status.map(i64::from);
                assert_eq!(status, exits.last().unwrap().as_i64(), "{upid} of {name}");
            }
            if let Some(comms) = task["comms"].as_array().filter(|comms| !comms.is_empty()) {
                let comm = comms.last().unwrap().as_str().unwrap();
                assert_eq!(escaped(&loaded, last.name), comm, "{upid} of {name}");
            }
        }
    }
}

#[test]
fn every_task_has_slices_from_its_birth_to_its_end() {
    for (path, _, _) in recordings() {
        let name = path.display();
        let loaded = open(&path);
        let trace = &loaded.trace;
        for (index, thread) in trace.threads.iter().enumerate().skip(1) {
            let track = trace.track_of(TrackKind::Thread(ThreadId(index as u32)));
            let track = &trace.tracks[track.unwrap_or_else(|| panic!("{name}")).0 as usize];
            assert_eq!(track.rows.len(), 1, "programs follow each other in {name}");
            let row = &trace.slices.rows[track.rows.start as usize];
            let slices: Vec<_> = row
                .slices
                .clone()
                .map(|id| {
                    (
                        trace.slices.starts.at(id as usize),
                        trace.slices.end(id as usize).or_greatest(),
                    )
                })
                .collect();
            if let Some(start) = thread.start {
                assert_eq!(slices[0].0, start.0, "{name}");
            }
            assert!(
                slices.windows(2).all(|pair| pair[0].1 == pair[1].0),
                "{name}"
            );
            let end = thread.end.map_or(i64::MAX, |end| end.0);
            assert_eq!(slices.last().unwrap().1, end, "{name}");
        }
        let forks = trace
            .flows
            .rows
            .iter()
            .filter(|flow| trace.text(flow.name) == "fork");
        for flow in forks {
            assert!(flow.from.time <= flow.to.time, "{name}");
            assert_ne!(flow.from.thread, flow.to.thread, "{name}");
        }
    }
}

#[test]
fn a_pipeline_has_its_names_arrows_and_open_files() {
    let loaded = recording("pipeline.etrace");
    let trace = &loaded.trace;
    let name = |thread: Option<ThreadId>| trace.text(trace.thread(thread).name).into_owned();
    let pipes: BTreeSet<(String, String)> = trace
        .flows
        .rows
        .iter()
        .filter(|flow| trace.text(flow.name) == "pipe")
        .map(|flow| (name(flow.from.thread), name(flow.to.thread)))
        .collect();
    for (from, to) in [
        ("ls", "sort"),
        ("sort", "head"),
        ("head", "tee"),
        ("tee", "wc"),
    ] {
        assert!(
            pipes.contains(&(from.to_owned(), to.to_owned())),
            "{pipes:?}"
        );
    }
    assert_eq!(pipes.len(), 4, "{pipes:?}");
    let root = trace
        .processes
        .iter()
        .find(|process| process.parent.is_none());
    assert_eq!(trace.text(root.unwrap().name), "(etrace shell)");
    let open_files = trace
        .tracks
        .iter()
        .filter(|track| trace.text(track.name) == "open files");
    let shown: u32 = open_files
        .flat_map(|track| &trace.slices.rows[track.rows.start as usize..track.rows.end as usize])
        .map(|row| row.slices.end - row.slices.start)
        .sum();
    assert_eq!(shown, 37);
}

#[test]
fn part_files_of_one_cpu_open_by_themselves() {
    let folder = corpus("etrace").join("percpu-parts");
    let facts: Value =
        serde_json::from_slice(&std::fs::read(folder.join("merged.facts.json")).unwrap()).unwrap();
    let mut tags: BTreeMap<String, i64> = BTreeMap::new();
    for part in [0, 1, 3] {
        let loaded = open(&folder.join(format!("nfsdb_part_{part}")));
        let cpus: Vec<u32> = loaded.trace.cpus.iter().map(|cpu| cpu.number).collect();
        assert_eq!(cpus, vec![part]);
        for id in events(&loaded) {
            *tags.entry(kind(&loaded, id)).or_default() += 1;
        }
    }
    for tag in [
        "Open",
        "Close",
        "Exit",
        "SchedFork",
        "New_proc",
        "Dup",
        "Pipe",
        "SysClone",
    ] {
        assert_eq!(tags.get(tag).copied(), facts["tags"][tag].as_i64(), "{tag}");
    }
    assert!(load::open(&folder.join("nfsdb_part_2"), &Job::default()).is_err());
}

#[test]
fn runs_are_what_lines_prove() {
    for (path, ..) in recordings() {
        let name = path.display();
        let loaded = open(&path);
        let runs = &loaded.trace.runs;
        let inside = |thread: u32, cpu: u32, time: i64| {
            let range = runs.of_cpu[cpu as usize].clone();
            let starts = &runs.starts[range.start as usize..range.end as usize];
            let after = starts.partition_point(|start| *start <= time);
            // A run reaches from its first line to its last, which may be at one time with the next one's first.
            let before = (range.start as usize..range.start as usize + after).rev();
            let mut meeting = before.take_while(|&at| runs.ends[at] >= time);
            meeting.any(|at| runs.threads[at] == thread)
        };
        for id in events(&loaded) {
            let event = loaded.trace.events.get(id);
            // Events of a dump have no thread.
            let thread = loaded.trace.events.thread(id);
            let time = event.row.time.0;
            assert!(
                thread.is_none_or(|thread| inside(thread.0, event.cpu.unwrap(), time)),
                "{time} in {name}"
            );
        }
        for range in &runs.of_thread {
            let list = &runs.by_thread[range.start as usize..range.end as usize];
            for pair in list.windows(2) {
                let (a, b) = (pair[0] as usize, pair[1] as usize);
                assert!(
                    runs.ends[a] <= runs.starts[b],
                    "a task on two CPUs at once in {name}"
                );
            }
        }
    }
}

#[test]
fn files_flow_from_their_writers_to_their_readers() {
    use threadline::query::build_chain::{Because, critical_chain};
    use threadline::query::files::{FileList, Kinship, More};
    use threadline::query::process_times::{ProcessTimes, mean_and_most, parallelism, program_of};

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/lua-make-j2.etrace.zst");
    let loaded = open(&path);
    let trace = &loaded.trace;
    let file = trace.strings.find(b"file").unwrap();
    let flows: Vec<_> = trace
        .flows
        .rows
        .iter()
        .filter(|flow| flow.name == file)
        .collect();
    // Each object goes from the assembler to the archiver or a linker, each .s from the compiler to the assembler.
    assert!(flows.len() >= 34 * 2, "{}", flows.len());
    assert!(
        flows
            .iter()
            .all(|flow| flow.from.time <= flow.to.time && flow.from.slice.is_some())
    );

    let times = ProcessTimes::new(trace);
    let list = FileList::new(trace, &Job::default()).unwrap();
    let name = |id| program_of(trace, id);
    let object = list.find(trace, b"src/lvm.o").unwrap();
    let found = list
        .relatives(trace, object, Kinship::WentInto, &Job::default())
        .unwrap();
    let (inputs, more) = (found.files, found.more);
    assert_eq!(more, More::No);
    let path_of = |id| trace.text(list.history.name(id)).into_owned();
    let source = inputs
        .iter()
        .find(|it| path_of(it.file).ends_with("/lvm.c"))
        .unwrap();
    assert_eq!((source.steps, name(source.through)), (2, "cc1".to_owned()));
    assert!(
        inputs
            .iter()
            .any(|it| path_of(it.file).ends_with("/lopcodes.h"))
    );
    assert!(!inputs.iter().any(|it| path_of(it.file).ends_with("/lua.c")));
    let header = list.find(trace, b"src/lvm.c").unwrap();
    let made = list
        .relatives(trace, header, Kinship::MadeFrom, &Job::default())
        .unwrap()
        .files;
    for product in ["/lvm.o", "/liblua.a", "/src/lua", "/src/luac"] {
        assert!(
            made.iter().any(|it| path_of(it.file).ends_with(product)),
            "{product}"
        );
    }
    assert!(!made.iter().any(|it| path_of(it.file).ends_with("/lapi.o")));

    // The slowest compiler, then the archive that takes its object, then the link that takes the archive.
    let chain = critical_chain(trace, &times, &list.history);
    let names: Vec<String> = chain.steps.iter().map(|step| name(step.process)).collect();
    let at = |program: &str| names.iter().position(|name| name == program).unwrap();
    assert!(at("cc1") < at("as") && at("as") < at("ar") && at("ar") < at("ld"));
    let archive = &chain.steps[at("ar")];
    assert!(matches!(archive.because, Because::File(path) if trace.text(path).ends_with("/lvm.o")));
    assert!(
        chain
            .steps
            .windows(2)
            .all(|pair| pair[0].span.end <= pair[1].span.start)
    );
    assert!(chain.length < trace.span.duration());
    let steps = parallelism(trace, &times);
    let found = mean_and_most(&steps, trace.span);
    assert!(
        found.mean > 1.5 && found.mean < 2.0 && found.most == 2,
        "{found:?}"
    );
}

#[test]
fn renames_and_links_keep_a_file_the_same() {
    use threadline::query::files::FileList;
    let loaded = recording("fails.etrace");
    let list = FileList::new(&loaded.trace, &Job::default()).unwrap();
    let renamed = list
        .history
        .files
        .iter()
        .filter(|file| file.names.len() > 1)
        .count();
    let (renames, links) = [FileOp::Rename, FileOp::Link]
        .map(|op| {
            loaded
                .trace
                .files
                .rows
                .iter()
                .filter(|row| row.op == op && row.result >= 0)
                .count()
        })
        .into();
    assert!(
        renamed > 0 && renamed <= renames + links + 4,
        "{renamed} {renames} {links}"
    );
}

#[test]
fn tasks_that_never_exec_may_be_threads() {
    for (path, _, tree) in recordings() {
        let Some(tree) = tree.filter(|_| path.ends_with("threads.etrace")) else {
            continue;
        };
        let loaded = open(&path);
        let processes = loaded.trace.processes.iter();
        let maybe: BTreeSet<u64> = processes
            .filter(|process| process.may_be_thread())
            .map(|process| process.key)
            .collect();
        // The threads of glibc, which calls clone3, and what else came without a clone; those of musl are known.
        let known: BTreeSet<u64> = tree
            .as_array()
            .unwrap()
            .iter()
            .filter(|task| task["clone_flags"].is_null() && !task["parent"].is_null())
            .filter(|task| task["execs"].as_array().unwrap().is_empty())
            .map(|task| task["upid"].as_u64().unwrap())
            .collect();
        assert!(known.len() >= 4);
        assert_eq!(maybe, known);
    }
}

#[test]
fn lines_among_the_print_events_of_a_trace_dat_are_read() {
    let path = corpus("etrace/sched-and-etrace.dat");
    let loaded = open(&path);
    let trace = &loaded.trace;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for id in events(&loaded) {
        *kinds.entry(kind(&loaded, id)).or_default() += 1;
    }
    // What `grep -c` finds of each in the report beside it.
    for (name, count) in [
        ("print", 403),
        ("Open", 53),
        ("Close", 94),
        ("New_proc", 11),
        ("SchedFork", 13),
    ] {
        assert_eq!(kinds.get(name), Some(&count), "{name}");
    }
    // An exec that both tell of is one image, with the arguments that only etrace knows.
    let ls = trace
        .processes
        .iter()
        .find(|process| process.pid == 148)
        .unwrap();
    assert_eq!(ls.images.len(), 1);
    let arguments: Vec<_> = ls.images[0]
        .arguments
        .iter()
        .map(|&id| trace.text(id))
        .collect();
    assert_eq!(arguments, ["ls", "-l", "/usr/bin"]);
    assert_eq!((ls.opens, ls.exit_status), (11, Some(0)));
    assert!(ls.parent.is_some());
    assert_eq!(trace.diagnostics.count_of("junk_line"), 0);
    for id in events(&loaded)
        .filter(|id| kind(&loaded, *id) == "Open")
        .take(5)
    {
        let detail = describe(&loaded, id);
        assert_eq!(detail.name, "Open");
        assert!(detail.text.contains("path=/"), "{}", detail.text);
    }
    assert!(loaded.report.is_some(), "it prints as it did");
}

#[test]
fn exporters_are_told_the_fields_that_details_show() {
    let mut count = 0;
    for (path, _, _) in recordings() {
        let loaded = open(&path);
        for at in 0..loaded.trace.events.len() as u32 {
            let event = loaded.trace.events.get(EventId(at));
            let mut decoded = Vec::new();
            loaded.reader.fields_into(event.into(), &mut decoded);
            let mut shown = DecodedEvent::default();
            shown.take(loaded.reader.describe(event.into()), Need::Export);
            shown.text_and_stack_as_fields();
            for field in &mut shown.fields {
                field.shown.clear();
            }
            assert_eq!(decoded, shown.fields, "event {at} of {}", path.display());
            count += decoded.len();
        }
    }
    assert!(count > 0 || recordings().is_empty());
}

#[test]
fn every_point_and_slice_of_no_thread_has_a_row() {
    for name in ["env.etrace", "pipeline.etrace"] {
        let loaded = recording(name);
        let trace = &loaded.trace;
        let mut shown = BTreeSet::new();
        let mut titles = Vec::new();
        threadline::view::Outline::new(trace).visit(&mut |_, node| {
            if let threadline::view::row::RowKind::Track(id) = node.kind {
                shown.insert(id.0);
                titles.push(node.title.to_string());
            }
        });
        let of_nobody: Vec<u32> = (0..)
            .zip(&trace.tracks)
            .filter(|(_, track)| track.kind == TrackKind::Nobody)
            .map(|(id, _)| id)
            .collect();
        assert_eq!(of_nobody.is_empty(), name == "pipeline.etrace");
        assert!(of_nobody.iter().all(|id| shown.contains(id)), "{name}");
        assert_eq!(
            titles.contains(&"No thread".to_owned()),
            !of_nobody.is_empty()
        );
    }
}
