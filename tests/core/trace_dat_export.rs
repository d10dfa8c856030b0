//! `export --to trace-dat`: what is read again, and what trace-cmd prints of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::corpus;
use crate::program::{Row, number, rows, run, stdout};
use std::collections::BTreeMap;
use threadline::base::{Big, ByteOrder, Endian, Little};
use threadline::formats::tracedat::page::{Records, read_head};
use threadline::tracedat::layout::{Layout, Lost};
use threadline::tracedat::page_writer::PageWriter;

/// All recordings of trace-cmd in the corpus and the samples that contain records.
fn recordings() -> Vec<PathBuf> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let folders = [corpus("tracedat"), samples];
    let entries = folders.iter().flat_map(|it| std::fs::read_dir(it).unwrap());
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "dat"))
        .filter(|path| !path.to_str().unwrap().contains("-latency-"))
        .collect();
    paths.sort();
    assert!(paths.len() > 25, "{}", paths.len());
    paths
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exports a file; returns the folder of the new one, which lasts as long as the answer, and its path.
fn exported(path: &Path, more: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.dat");
    let arguments = ["export", text(path), "-o", text(&out)];
    let output = run(&[&arguments[..], more].concat());
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success(),
        "{} {more:?}: {words}",
        path.display()
    );
    (folder, out)
}

/// Time, CPU, thread and name of all events, sorted.
fn events(path: &Path, more: &[&str]) -> Vec<String> {
    let arguments = [&["table", "events", text(path)], more].concat();
    let rows = stdout(&arguments);
    let first_columns = |line: &str| line.split('\t').take(4).collect::<Vec<_>>().join("\t");
    let mut rows: Vec<String> = rows.lines().skip(1).map(first_columns).collect();
    rows.sort();
    rows
}

/// Times on the trace's own clock at which a quarter of the events and three quarters are over.
fn middle(path: &Path) -> (String, String) {
    let mut times: Vec<i64> = events(path, &[])
        .iter()
        .map(|row| row.split('\t').next().unwrap().parse().unwrap())
        .collect();
    times.sort_unstable();
    let at = |share: usize| format!("@{}", times[times.len() * share / 4]);
    (at(1), at(3))
}

#[test]
fn a_whole_export_is_read_as_the_input() {
    for path in recordings() {
        let (_folder, out) = exported(&path, &[]);
        let name = path.display();
        for options in [&["report", "-t"][..], &["report", "-R"]] {
            // Some recordings contain bytes that are not UTF-8.
            let told = |path: &Path| run(&[options, &[text(path)]].concat()).stdout;
            let before = told(&path);
            assert!(before == told(&out), "{name} {options:?}");
            assert!(!before.is_empty(), "{name} {options:?}");
        }
        for table in ["runs", "slices", "diagnostics", "counters"] {
            let told = |path: &Path| stdout(&["table", table, text(path)]);
            // Places in the file are others.
            let without_places = |text: String| match table {
                "diagnostics" => text
                    .lines()
                    .map(|line| line.split('\t').take(2).collect::<Vec<_>>().join("\t"))
                    .collect::<Vec<_>>()
                    .join("\n"),
                _ => text,
            };
            let (before, after) = (without_places(told(&path)), without_places(told(&out)));
            assert!(before == after, "{name} {table}:\n{before}\n{after}");
        }
    }
}

/// Every third of the recordings, from one of the first three on: pages are cut alike in all of them.
fn third(from: usize) -> impl Iterator<Item = PathBuf> {
    recordings().into_iter().skip(from).step_by(3)
}

#[test]
fn a_range_contains_the_events_in_it_and_no_others() {
    for path in third(0) {
        let (from, until) = middle(&path);
        let range = ["--from", &from, "--until", &until];
        let (_folder, out) = exported(&path, &range);
        let expected = events(&path, &range);
        assert_eq!(events(&out, &[]), expected, "{}", path.display());
        assert!(!expected.is_empty(), "{}", path.display());
    }
}

/// The lost events of a file whose time and CPU are known, of each CPU.
fn lost(path: &Path, more: &[&str]) -> BTreeMap<String, u64> {
    let gaps = rows(&[&["table", "gaps", text(path)], more].concat());
    let mut lost = BTreeMap::new();
    for gap in gaps.iter().filter(|gap| gap["lost"] != "\\N") {
        *lost.entry(gap["cpu"].clone()).or_default() += gap["lost"].parse::<u64>().unwrap();
    }
    lost
}

#[test]
fn a_range_states_the_losses_in_it() {
    let mut compared = 0;
    // Dropped events (buffers that overwrite nothing) stay those of the whole recording: nothing says when they were lost.
    let overwrites = |path: &&PathBuf| !text(path).contains("nooverwrite");
    for path in recordings()
        .iter()
        .filter(overwrites)
        .filter(|path| !lost(path, &[]).is_empty())
    {
        let (from, until) = middle(path);
        for range in [["--from", &from], ["--until", &until]] {
            // CPUs without events in the range are no CPUs of the export.
            let (_folder, out) = exported(path, &range);
            let mut expected = lost(path, &range);
            let cpus = rows(&["table", "events", text(&out)]);
            expected.retain(|cpu, _| cpus.iter().any(|event| event["cpu"] == *cpu));
            assert_eq!(lost(&out, &[]), expected, "{} {range:?}", path.display());
            compared += 1;
        }
    }
    assert!(compared > 3, "{compared}");
}

/// What a CPU did after its last event is known only up to the loss that follows.
#[test]
fn a_loss_in_which_the_range_ends_is_stated_whole() {
    let mut compared = 0;
    for path in recordings() {
        let of_file = rows(&["table", "gaps", text(&path)]);
        let is_known = |gap: &&Row| gap["ts"] != "\\N" && gap["dur"] != "\\N";
        let Some(gap) = of_file
            .iter()
            .filter(is_known)
            .find(|gap| number(gap, "dur") > 1)
        else {
            continue;
        };
        let inside = number(gap, "ts") + number(gap, "dur") / 2;
        let until = format!("@{inside}");
        let (_folder, out) = exported(&path, &["--until", &until]);
        let cells = |gap: &Row| ["ts", "dur", "lost", "cpu"].map(|name| gap[name].clone());
        let gaps_of = |path: &Path, more: &[&str]| {
            let gaps = rows(&[&["table", "gaps", text(path)], more].concat());
            let mut gaps: Vec<_> = gaps.iter().map(cells).collect();
            gaps.sort();
            gaps
        };
        let stated = gaps_of(&out, &[]);
        assert!(
            stated.contains(&cells(gap)),
            "{} {stated:?}",
            path.display()
        );
        assert_eq!(
            stated,
            gaps_of(&path, &["--until", &until]),
            "{}",
            path.display()
        );
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

#[test]
fn chosen_cpus_and_kinds_are_all_that_is_exported() {
    for path in third(1) {
        let all = events(&path, &[]);
        let column = |row: &str, index: usize| row.split('\t').nth(index).unwrap().to_owned();
        let (cpu, name) = (column(&all[0], 1), column(&all[0], 3));
        for (argument, value, index) in [("--cpu", &cpu, 1), ("--event", &name, 3)] {
            let (_folder, out) = exported(&path, &[argument, value]);
            let mut expected = all.clone();
            expected.retain(|row| column(row, index) == *value);
            assert!(
                events(&out, &[]) == expected,
                "{} {argument} {value}",
                path.display()
            );
        }
    }
}

#[test]
fn chosen_threads_bring_the_switches_to_them() {
    let path = corpus("tracedat/v7-none-sched.dat");
    let switches = stdout(&["table", "runs", text(&path)]);
    let column = |row: &str, index: usize| row.split('\t').nth(index).unwrap().to_owned();
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for row in switches.lines().skip(1) {
        *counts.entry(column(row, 4)).or_default() += 1;
    }
    let (tid, _) = counts
        .iter()
        .filter(|(tid, _)| *tid != "0")
        .max_by_key(|(_, count)| **count)
        .unwrap();
    let (_folder, out) = exported(&path, &["--thread", tid]);
    let runs_of = |path: &Path| -> Vec<String> {
        let table = stdout(&["table", "runs", text(path)]);
        let rows = table.lines().skip(1).filter(|row| column(row, 4) == *tid);
        rows.map(|row| row.split('\t').take(3).collect::<Vec<_>>().join("\t"))
            .collect()
    };
    assert!(!runs_of(&path).is_empty());
    assert_eq!(runs_of(&out), runs_of(&path));
    assert!(events(&out, &[]).len() < events(&path, &[]).len());
}

#[test]
fn pages_inside_of_a_range_are_copied() {
    let path = corpus("tracedat/v7-none-kprobe-load.dat");
    let (from, until) = middle(&path);
    let (_folder, out) = exported(&path, &["--from", &from, "--until", &until]);
    let (input, output) = (std::fs::read(&path).unwrap(), std::fs::read(&out).unwrap());
    let pages = |bytes: &[u8]| -> std::collections::HashSet<Vec<u8>> {
        let pages = bytes
            .chunks_exact(4096)
            .filter(|page| page[16..] != [0; 4080]);
        pages.map(<[u8]>::to_vec).collect()
    };
    let (input, output) = (pages(&input), pages(&output));
    let copied = output.intersection(&input).count();
    assert!(copied > 10, "{copied} of {}", output.len());
}

#[test]
fn what_is_no_record_is_refused_with_a_sentence() {
    let fxt = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/compress.fxt");
    let dat = corpus("tracedat/v7-none-sched.dat");
    for (path, more, words) in [
        (&fxt, &["--to", "trace-dat"][..], "only a single trace.dat"),
        (
            &dat,
            &["--track", "CPU 0", "--cpu", "0"],
            "records, not tracks",
        ),
        (&dat, &["--event", "nothing"], "no event 'nothing'"),
        (
            &dat,
            &["--event", "sched_switch", "--to", "fxt"],
            "--event is for trace-dat",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.dat");
        let output = run(&[&["export", text(path), "-o", text(&out)], more].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && told.contains(words),
            "{more:?}: {told}"
        );
        assert!(!out.exists(), "{more:?}");
    }
}

/// Writes records of all sizes and distances and reads them again.
fn write_and_read<E: ByteOrder>(layout: Layout) {
    let payload = |size: usize| -> Vec<u8> { (0..size).map(|index| index as u8 | 1).collect() };
    let mut expected: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut time = 1_u64 << 60;
    for (index, size) in (4..=400).chain([3000, 16, 112, 116]).enumerate() {
        time += [0, 1, (1 << 27) - 1, 1 << 27, 1 << 40][index % 5];
        expected.push((time, payload(size)));
    }
    // A time that goes back.
    expected.push((time - 5, payload(8)));
    let mut writer = PageWriter::new(E::ENDIAN, layout, 4096);
    for (index, (time, payload)) in expected.iter().enumerate() {
        let lost = match index {
            100 => Lost::Count(77),
            200 => Lost::Some,
            _ => Lost::No,
        };
        assert!(writer.push(*time, payload, lost));
    }
    assert!(!writer.push(time, &payload(4090), Lost::No));
    let pages = writer.finish();
    assert_eq!(pages.len() % 4096, 0);
    let mut read = Vec::new();
    let mut lost = Vec::new();
    for page in pages.chunks(4096) {
        let head = read_head::<E>(page, layout).unwrap();
        assert!(!head.is_damaged);
        if head.lost != Lost::No {
            lost.push((read.len(), head.lost));
        }
        let records = Records::<E>::new(page, layout, &head);
        read.extend(records.map(|record| (record.time, record.payload.to_vec())));
    }
    assert!(read == expected);
    assert_eq!(lost, [(100, Lost::Count(77)), (200, Lost::Some)]);
}

#[test]
fn pages_of_single_records_are_read_again() {
    for commit_size in [4, 8] {
        let data = 8 + commit_size;
        write_and_read::<Little>(Layout { commit_size, data });
        write_and_read::<Big>(Layout { commit_size, data });
    }
    assert_eq!(Endian::Little, Little::ENDIAN);
}

/// The lines that trace-cmd prints of a file; `None` if it cannot read it: Debian's was built without zlib.
fn lines_of_trace_cmd(path: &Path) -> Option<Vec<String>> {
    let output = Command::new("trace-cmd")
        .args(["report", "-t", "-i", text(path)])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().map(str::to_owned).collect();
    output.status.success().then_some(lines)
}

#[test]
#[ignore = "needs trace-cmd 3.1.6"]
fn against_trace_cmd_exports_are_read_by_trace_cmd() {
    for path in recordings() {
        // trace-cmd crashes on this file itself.
        if text(&path).contains("printfmt-zoo") {
            continue;
        }
        let Some(before) = lines_of_trace_cmd(&path) else {
            assert!(text(&path).contains("zlib"), "{}", path.display());
            continue;
        };
        let (_folder, out) = exported(&path, &[]);
        let after = lines_of_trace_cmd(&out);
        assert!(after.as_ref() == Some(&before), "{}", path.display());
        let (from, until) = middle(&path);
        let range = ["--from", &from, "--until", &until];
        let (_folder, out) = exported(&path, &range);
        let after = lines_of_trace_cmd(&out).unwrap();
        // The name of a thread may be known from an event before the range.
        let without_name = |line: &String| line.split_once(" [").map(|it| it.1.to_owned());
        let known: std::collections::HashSet<_> = before.iter().filter_map(without_name).collect();
        let unknown: Vec<&String> = after
            .iter()
            .filter(|line| without_name(line).is_some_and(|line| !known.contains(&line)))
            .collect();
        // A leaf of the function graph is two lines where the range cuts it.
        let cut = unknown.iter().filter(|line| line.contains("funcgraph_"));
        assert!(
            unknown.len() == cut.count() && unknown.len() <= 16,
            "{}: {unknown:?}",
            path.display()
        );
        assert!(after.len() > 1, "{}", path.display());
    }
}
