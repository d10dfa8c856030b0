//! System calls, block requests and other pairs of kernel events, in trace.dat and ftrace text, as tables and exports
//! tell them. Expected counts and sums of recordings are those of independent models (one open call a thread; bios and
//! requests by sector) over what `trace-cmd report -t` prints.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(name)
}

fn run(arguments: &[&str], path: &Path, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .arg(path)
        .args(more)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slice {
    ts: i64,
    /// `None`: not known.
    dur: Option<i64>,
    name: String,
    category: String,
    tid: u32,
    track: String,
}

fn slices(path: &Path) -> Vec<Slice> {
    let text = run(&["table", "slices"], path, &[]);
    let rows = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        Slice {
            ts: cells[0].parse().unwrap(),
            dur: cells[1].parse().ok(),
            name: cells[3].to_owned(),
            category: cells[4].to_owned(),
            tid: cells[6].parse().unwrap_or(0),
            track: cells[9].to_owned(),
        }
    });
    rows.collect()
}

fn of_category(slices: &[Slice], category: &str) -> (usize, i64, usize) {
    let own = slices.iter().filter(|slice| slice.category == category);
    sums(own)
}

fn of_track(slices: &[Slice], track: &str) -> (usize, i64, usize) {
    sums(slices.iter().filter(|slice| slice.track == track))
}

/// How many have a duration, the sum of those, how many have none.
fn sums<'a>(slices: impl Iterator<Item = &'a Slice>) -> (usize, i64, usize) {
    let mut all = (0, 0, 0);
    for slice in slices {
        match slice.dur {
            Some(dur) => all = (all.0 + 1, all.1 + dur, all.2),
            None => all.2 += 1,
        }
    }
    all
}

/// Name and duration of all slices, sorted.
fn lengths(slices: &[Slice]) -> Vec<(String, Option<i64>)> {
    let mut all: Vec<_> = slices
        .iter()
        .map(|slice| (slice.name.clone(), slice.dur))
        .collect();
    all.sort();
    all
}

/// The trace as FXT, read again.
fn as_fxt(path: &Path) -> Vec<Slice> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("again.fxt");
    run(&["export"], path, &["-o", out.to_str().unwrap()]);
    slices(&out)
}

/// A text of thread 7 on CPU 0, a line each 10 us from 1 s on.
fn text(lines: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.ftrace");
    let mut text = "# tracer: nop\n#\n".to_owned();
    for (at, line) in lines.iter().enumerate() {
        let micros = (at + 1) * 10;
        text += &format!("            bash-7     [000] d... 1.{micros:06}: {line}\n");
    }
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// (name, start and duration in us) of a made text's slices.
fn made(lines: &[&str]) -> Vec<(String, i64, Option<i64>)> {
    let (_folder, path) = text(lines);
    let all = slices(&path).into_iter().map(|slice| {
        let micros = (slice.ts - 1_000_000_000) / 1000;
        (slice.name, micros, slice.dur.map(|dur| dur / 1000))
    });
    all.collect()
}

fn row(name: &str, start: i64, dur: i64) -> (String, i64, Option<i64>) {
    (name.to_owned(), start, (dur >= 0).then_some(dur))
}

/// Two flushes of a disk's cache are queued before the first is done: the first that is done is the first that was queued,
/// and the kernel's own flush requests end neither.
#[test]
fn flushes_at_one_time_end_in_their_order() {
    let slices = slices(&case("ftrace_text/two-flushes.ftrace"));
    let of = |track: &str, name: &str| -> Vec<(i64, Option<i64>)> {
        let own = slices.iter();
        let own = own.filter(|slice| slice.track == track && slice.name == name);
        own.map(|slice| (slice.ts / 1000 % 1_000_000, slice.dur))
            .collect()
    };
    let two = |first: (i64, i64), second: (i64, i64)| [first, second].map(|it| (it.0, Some(it.1)));
    assert_eq!(
        of("block bios", "FWS"),
        two((121_274, 49_000), (121_307, 44_000))
    );
    assert_eq!(
        of("block accounting", "FWS"),
        two((121_275, 49_000), (121_308, 45_000))
    );
    assert_eq!(
        of("block requests", "FF"),
        two((121_294, 28_000), (121_328, 22_000))
    );
}

#[test]
fn a_call_recorded_by_name_and_by_number_is_one_call() {
    let binary = case("tracedat/both-syscall-kinds.dat.zst");
    let of_binary = slices(&binary);
    assert_eq!(of_category(&of_binary, "syscalls"), (237, 87_568_470, 8));
    assert_eq!(
        of_category(&of_binary, "raw_syscalls"),
        (156, 12_288_076, 0)
    );
    let clone = of_binary
        .iter()
        .find(|slice| slice.name == "clone")
        .unwrap();
    assert_eq!((clone.ts, clone.dur), (1_370_929_726_377, Some(165_756)));
    // As FXT, read again.
    assert_eq!(lengths(&as_fxt(&binary)), lengths(&of_binary));

    let of_text = slices(&case("ftrace_text/both-syscall-kinds.ftrace.txt.zst"));
    for category in ["syscalls", "raw_syscalls"] {
        let (binary, text) = (
            of_category(&of_binary, category),
            of_category(&of_text, category),
        );
        assert_eq!((binary.0, binary.2), (text.0, text.2), "{category}");
        // Text has microseconds.
        let most = 1000 * binary.0 as i64;
        assert!((binary.1 - text.1).abs() < most, "{category}: {text:?}");
    }
}

#[test]
fn calls_of_32_bit_programs_have_the_names_of_their_table() {
    for name in [
        "tracedat/both-syscall-kinds.dat.zst",
        "ftrace_text/both-syscall-kinds.ftrace.txt.zst",
    ] {
        let all = slices(&case(name));
        let raw = all.iter().filter(|slice| slice.category == "raw_syscalls");
        let mut names: Vec<&str> = raw.map(|slice| &*slice.name).collect();
        names.sort_unstable();
        names.dedup();
        for expected in [
            "clock_nanosleep",
            "getppid",
            "openat",
            "read",
            "brk",
            "_llseek",
        ] {
            assert!(names.contains(&expected), "{name}: {names:?}");
        }
        // What 267, 64, 295 and 3 are to 64-bit programs.
        for wrong in ["readlinkat", "semget", "preadv", "recvfrom", "ioprio_get"] {
            assert!(!names.contains(&wrong), "{name}: {names:?}");
        }
        // It began as 59 and by name, and returned as 11.
        let mut execs = all.iter().filter(|slice| slice.name == "execve");
        assert!(
            execs.any(|slice| (1_310_000..1_312_000).contains(&slice.dur.unwrap())),
            "{name}"
        );
    }
}

/// How many have ended, how long these and the others lasted, how many have not.
type Sums = (usize, i64, usize);

/// The rows that a verb prints of files, as cells by column.
fn printed(arguments: &[&str], paths: &[&Path]) -> Vec<BTreeMap<String, String>> {
    let text = run(arguments, paths[0], &[]);
    let text = match paths {
        [_] => text,
        _ => {
            let more: Vec<&str> = paths[1..].iter().map(|it| it.to_str().unwrap()).collect();
            run(arguments, paths[0], &more)
        }
    };
    let mut lines = text.lines().map(|line| line.split('\t'));
    let names: Vec<&str> = lines.next().unwrap().collect();
    let named = |cells| names.iter().map(ToString::to_string).zip(cells).collect();
    lines
        .map(|cells| named(cells.map(str::to_owned).collect::<Vec<_>>()))
        .collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> i64 {
    row[column].parse().unwrap()
}

/// Of system calls, by name: what `stats` says, and what the flame graph says. Both must tell the same.
fn sums_of_calls(paths: &[&Path]) -> BTreeMap<String, Sums> {
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    for row in printed(&["stats", "--kind", "system calls"], paths) {
        let all = sums.entry(row["group"].clone()).or_default();
        all.0 += number(&row, "count") as usize;
        all.1 += number(&row, "sum") + number(&row, "at_least");
        all.2 += number(&row, "unfinished") as usize;
    }
    let mut flames: BTreeMap<String, Sums> = BTreeMap::new();
    for row in printed(&["flame", "--as", "names"], paths) {
        let all = flames.entry(row["name"].clone()).or_default();
        all.0 += number(&row, "count") as usize;
        all.1 += number(&row, "total");
        all.2 += number(&row, "unfinished") as usize;
        // A call lies in no other.
        assert_eq!(row["self"], row["total"], "{row:?}");
    }
    flames.retain(|name, _| sums.contains_key(name));
    assert_eq!(sums, flames, "{paths:?}");
    sums
}

#[test]
fn sums_and_flame_graphs_count_a_call_once_alone_and_beside_another_file() {
    let both = case("tracedat/both-syscall-kinds.dat.zst");
    let text = case("ftrace_text/both-syscall-kinds.ftrace.txt.zst");
    let returns = case("ftrace_text/rt_sigreturn.report.txt.zst");
    let total = |sums: &BTreeMap<String, Sums>| {
        let add = |all: (usize, usize), row: &Sums| (all.0 + row.0, all.1 + row.2);
        sums.values().fold((0, 0), add)
    };
    let of_both = sums_of_calls(&[&both]);
    assert_eq!(total(&of_both), (237 + 156, 8));
    assert_eq!(of_both["clone"], (3, 327_531, 0));
    let of_text = sums_of_calls(&[&text]);
    assert_eq!(total(&of_text), total(&of_both));
    // Calls that never return are none; calls of 32-bit programs have the names of their table.
    let of_returns = sums_of_calls(&[&returns]);
    assert_eq!(total(&of_returns), (309, 1));
    assert!(!of_returns.contains_key("rt_sigreturn"));
    for sums in [&of_both, &of_text] {
        assert_eq!((sums["_llseek"].0, sums["getppid"].0), (20, 20));
        for wrong in ["readlinkat", "semget", "preadv", "recvfrom", "ioprio_get"] {
            assert!(!sums.contains_key(wrong), "{wrong}");
        }
    }
    // Each file's calls are paired among themselves, whatever the other one recorded.
    for (first, second) in [(&both, &returns), (&returns, &both), (&text, &both)] {
        let joined = sums_of_calls(&[first, second]);
        let mut apart = sums_of_calls(&[first]);
        for (name, sums) in sums_of_calls(&[second]) {
            let all = apart.entry(name).or_default();
            *all = (all.0 + sums.0, all.1 + sums.1, all.2 + sums.2);
        }
        let counts = |sums: &BTreeMap<String, Sums>| -> Vec<(String, usize, usize)> {
            let rows = sums.iter();
            rows.map(|(name, all)| (name.clone(), all.0, all.2))
                .collect()
        };
        assert_eq!(counts(&joined), counts(&apart));
        for (name, sums) in &joined {
            // What is still open lasts at least to its own file's end, in both.
            assert_eq!(sums.1, apart[name].1, "{name}");
        }
    }
}

#[test]
fn points_stay_points_beside_another_file_and_in_exports() {
    let returns = case("ftrace_text/rt_sigreturn.report.txt.zst");
    let both = case("tracedat/both-syscall-kinds.dat.zst");
    let points = |paths: &[&Path]| {
        let rows = printed(&["table", "instants"], paths);
        let name = "sys_enter_rt_sigreturn";
        rows.iter().filter(|row| row["name"] == name).count()
    };
    assert_eq!((points(&[&returns]), points(&[&both])), (2, 2));
    assert_eq!(points(&[&returns, &both]), 4);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("again.fxt");
    run(&["export"], &returns, &["-o", out.to_str().unwrap()]);
    assert_eq!(points(&[&out]), 2);
    let names: BTreeSet<String> = slices(&out).into_iter().map(|slice| slice.name).collect();
    assert!(!names.contains("rt_sigreturn") && names.contains("wait4"));
}

#[test]
fn the_number_with_which_execve_returns_says_whose_numbers_follow() {
    let lines = [
        "sys_enter: NR 59 (1, 2, 3, 4, 5, 6)",
        "sys_exit: NR 11 = 0",
        "sys_enter: NR 45 (1, 2, 3, 4, 5, 6)",
        "sys_exit: NR 45 = 0",
        "sys_enter: NR 11 (1, 2, 3, 4, 5, 6)",
        "sys_exit: NR 59 = 0",
        "sys_enter: NR 45 (1, 2, 3, 4, 5, 6)",
        "sys_exit: NR 45 = 0",
    ];
    let expected = [
        row("execve", 10, 10),
        row("brk", 30, 10),
        row("execve", 50, 10),
        row("recvfrom", 70, 10),
    ];
    assert_eq!(made(&lines), expected);
    let told = |lines: &[&str]| {
        let (_folder, path) = text(lines);
        run(&["info", "--json"], &path, &[]).contains("undecided_syscall_names")
    };
    assert!(!told(&lines));
    // Nothing tells.
    assert!(told(&lines[2..4]));
}

#[test]
fn calls_that_never_return_are_points_in_every_form() {
    let read = ["sys_enter: NR 0 (1, 2)", "sys_exit: NR 0 = 0"];
    let forms: [(&[&str], &str); 5] = [
        (
            &["sys_enter: NR 15 (0, 0)", "sys_exit: NR -1 = 0"],
            "sys_enter",
        ),
        (&["sys_enter_rt_sigreturn: "], "sys_enter_rt_sigreturn"),
        (&["sys_rt_sigreturn()"], "sys_enter_rt_sigreturn"),
        (
            &["sys_enter: NR 231 (0, 0)", "sched_process_wait: x=1"],
            "sys_enter",
        ),
        (&["sys_exit_group(error_code: 0)"], "sys_enter_exit_group"),
    ];
    for (form, point) in forms {
        let lines: Vec<&str> = [&read[..], form, &read[..], &read[..]].concat();
        let (_folder, path) = text(&lines);
        let all = slices(&path);
        assert_eq!(all.len(), 3, "{form:?}: {all:?}");
        assert!(all.iter().all(|slice| slice.dur == Some(10_000)), "{all:?}");
        let points = run(&["table", "instants"], &path, &[]);
        let count = points.lines().filter(|line| line.contains(point)).count();
        assert_eq!(count, 1, "{form:?}: {points}");
        assert!(!run(&["info", "--json"], &path, &[]).contains("unmatched"));
    }
    let recorded = case("ftrace_text/rt_sigreturn.report.txt.zst");
    let all = slices(&recorded);
    assert!(all.iter().all(|slice| slice.name != "rt_sigreturn"));
    assert_eq!(of_category(&all, "syscalls"), (309, 895_802_241, 1));
}

#[test]
fn a_call_whose_end_was_lost_has_no_duration_and_is_drawn_to_what_proves_it_over() {
    let lines = [
        "sys_enter: NR 0 (1, 2)",
        "sched_process_wait: x=1",
        "sys_enter: NR 1 (1, 2)",
        "sys_exit: NR 1 = 0",
        "sys_enter: NR 3 (1, 2)",
        "sys_exit: NR 0 = 0",
    ];
    let expected = [
        row("read", 10, -1),
        row("write", 30, 10),
        row("close", 50, -1),
    ];
    assert_eq!(made(&lines), expected);
    // An interrupt cannot interrupt itself.
    let lost = made(&[
        "irq_handler_entry: irq=5 name=disk",
        "irq_handler_entry: irq=5 name=disk",
        "irq_handler_exit: irq=5 ret=handled",
    ]);
    assert_eq!(lost, [row("disk", 10, -1), row("disk", 20, 10)]);
    let (_folder, path) = text(&lines);
    assert_eq!(lengths(&as_fxt(&path)), lengths(&slices(&path)));
    // Also from FXT to FXT, and where a range cuts it.
    let folder = tempfile::tempdir().unwrap();
    let (once, twice) = (folder.path().join("1.fxt"), folder.path().join("2.fxt"));
    run(&["export"], &path, &["-o", once.to_str().unwrap()]);
    run(
        &["export"],
        &once,
        &["-o", twice.to_str().unwrap(), "--until", "35us"],
    );
    let names = |path: &Path| {
        let mut all = slices(path);
        all.sort();
        all.into_iter()
            .map(|slice| (slice.name, slice.dur))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("read".to_owned(), None),
        ("write".to_owned(), Some(10_000)),
    ];
    assert_eq!(names(&twice), expected);
    // A fault outside of the kernel proves it over as well, and is a point as before.
    let (_folder, path) = text(&[
        "sys_enter: NR 0 (1, 2)",
        "page_fault_user: address=0x1 ip=0x2 error_code=0x4",
        "sys_enter: NR 1 (1, 2)",
        "sys_exit: NR 1 = 0",
    ]);
    let points = run(&["table", "instants"], &path, &[]);
    assert!(points.contains("page_fault_user"), "{points}");
    // Chrome JSON has no begin that would take the next one's end.
    let json = folder.path().join("made.json");
    run(
        &["export", "--to", "chrome-json"],
        &path,
        &["-o", json.to_str().unwrap()],
    );
    let json = std::fs::read_to_string(&json).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let read = events.iter().find(|event| event["name"] == "read").unwrap();
    assert_eq!(
        (&read["ph"], read["dur"].as_f64()),
        (&"X".into(), Some(10.0))
    );
    assert_eq!(read["args"]["end_not_seen"], true);
}

#[test]
fn bios_and_requests_end_with_what_completes_or_takes_them() {
    let binary = case("tracedat/block-requeue-and-enum-zero.dat.zst");
    let of_binary = slices(&binary);
    let tracks = [
        ("block requests", (99, 45_743_577, 0)),
        ("block queue", (82, 364_060_306, 0)),
        ("block bios", (115, 664_925_550, 0)),
    ];
    for (track, expected) in tracks {
        assert_eq!(of_track(&of_binary, track), expected, "{track}");
    }
    assert_eq!(lengths(&as_fxt(&binary)), lengths(&of_binary));
    let of_text = slices(&case("ftrace_text/block-requeue.ftrace.txt.zst"));
    for (track, (count, sum, open)) in tracks {
        let text = of_track(&of_text, track);
        assert_eq!((text.0, text.2), (count, open), "{track}");
        assert!((text.1 - sum).abs() < 1000 * count as i64, "{text:?}");
    }
}

#[test]
fn a_request_issued_again_is_another_and_a_remainder_is_a_bio_of_its_own() {
    let lines = [
        "block_rq_issue: 8,0 W 4096 () 100 + 8 [bash]",
        "block_rq_issue: 8,0 W 4096 () 100 + 8 [bash]",
        "block_rq_requeue: 8,0 W () 100 + 8 [0]",
        "block_rq_issue: 8,0 W 4096 () 100 + 8 [bash]",
        "block_rq_complete: 8,0 W () 100 + 4 [0]",
        "block_rq_complete: 8,0 W () 104 + 4 [0]",
    ];
    let expected = [row("W", 10, -1), row("W", 20, 10), row("W", 40, 20)];
    assert_eq!(made(&lines), expected);
    let lines = [
        "block_bio_queue: 8,0 W 100 + 24 [bash]",
        "block_split: 8,0 W 100 / 116 [bash]",
        "block_bio_queue: 8,0 W 124 + 4 [bash]",
        "block_bio_backmerge: 8,0 W 124 + 4 [bash]",
        "block_rq_complete: 8,0 W () 100 + 16 [0]",
        "block_rq_complete: 8,0 W () 116 + 12 [0]",
    ];
    let expected = [row("W", 10, 40), row("W", 20, 40), row("W", 30, 30)];
    assert_eq!(made(&lines), expected);
    let (_folder, path) = text(&lines);
    assert_eq!(lengths(&as_fxt(&path)), lengths(&slices(&path)));
}

#[test]
fn requeued_requests_are_seen_without_completions() {
    let lines = [
        "block_rq_issue: 8,0 W 12288 () 0 + 24 none,0,0 [dd]",
        "block_rq_issue: 8,0 W 4096 () 100 + 8 none,0,0 [dd]",
        "block_rq_requeue: 8,0 W () 0 + 24 none,0,0 [0]",
        "block_rq_issue: 8,0 W 12288 () 0 + 24 none,0,0 [dd]",
        "block_rq_requeue: 8,0 W () 0 + 24 none,0,0 [0]",
        "block_rq_issue: 8,0 W 12288 () 0 + 24 none,0,0 [dd]",
    ];
    // How long the others took is not recorded.
    assert_eq!(made(&lines), [row("W", 10, 20), row("W", 40, 10)]);
    let (_folder, path) = text(&lines);
    let diagnostics = run(&["table", "diagnostics"], &path, &[]);
    assert_eq!(diagnostics.lines().count(), 1, "{diagnostics}");
}

#[test]
fn those_who_read_the_same_sectors_at_one_time_have_a_bio_and_a_request_each() {
    // Two of them: each ends, in the order in which they began.
    let lines = [
        "block_bio_queue: 8,0 R 0 + 8 [a]",
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [a]",
        "block_bio_queue: 8,0 R 0 + 8 [b]",
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [b]",
        "block_rq_complete: 8,0 R () 0 + 8 [0]",
        "block_rq_complete: 8,0 R () 0 + 8 [0]",
    ];
    let expected = [
        row("R", 10, 40),
        row("R", 20, 30),
        row("R", 30, 30),
        row("R", 40, 20),
    ];
    assert_eq!(made(&lines), expected);
    // One end is missing: of those that are left each has the end after it.
    let lines = [
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [a]",
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [b]",
        "block_rq_complete: 8,0 R () 0 + 8 [0]",
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [c]",
        "block_rq_complete: 8,0 R () 0 + 8 [0]",
    ];
    let expected = [row("R", 10, -1), row("R", 20, 10), row("R", 40, 10)];
    assert_eq!(made(&lines), expected);
    let (_folder, path) = text(&lines);
    assert_eq!(lengths(&as_fxt(&path)), lengths(&slices(&path)));
    // Of another length: the end of the first was lost, whatever its length.
    for first in ["0 + 16", "0 + 4"] {
        let lines = [
            &format!("block_rq_issue: 8,0 R 4096 () {first} [a]")[..],
            "block_rq_issue: 8,0 R 4096 () 0 + 8 [b]",
            "block_rq_complete: 8,0 R () 0 + 8 [0]",
        ];
        assert_eq!(made(&lines), [row("R", 10, -1), row("R", 20, 10)]);
    }
    // Two, of which one is completed in two steps.
    let lines = [
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [a]",
        "block_rq_issue: 8,0 R 4096 () 0 + 8 [b]",
        "block_rq_complete: 8,0 R () 0 + 8 [0]",
        "block_rq_complete: 8,0 R () 0 + 4 [0]",
        "block_rq_complete: 8,0 R () 4 + 4 [0]",
    ];
    let expected = [row("R", 10, 20), row("R", 20, 30)];
    assert_eq!(made(&lines), expected);
}

#[test]
fn a_number_without_named_events_is_no_twin_of_the_next_call() {
    // Number 20 is a call of a 32-bit program, which has no named events.
    let lines = [
        "sys_getpid()",
        "sys_enter: NR 39 (0, 0, 0, 0, 0, 0)",
        "sys_getpid -> 0x64",
        "sys_enter: NR 20 (0, 0, 0, 0, 0, 0)",
        "sys_clock_nanosleep(which_clock: 0, flags: 0, rqtp: 0, rmtp: 0)",
        "sys_enter: NR 230 (0, 0, 0, 0, 0, 0)",
        "sys_clock_nanosleep -> 0x0",
        "sys_getpid()",
        "sys_enter: NR 39 (0, 0, 0, 0, 0, 0)",
        "sys_getpid -> 0x64",
    ];
    let slices = made(&lines);
    let of = |name: &str| -> Vec<_> {
        let own = slices.iter().filter(|row| row.0 == name);
        own.cloned().collect()
    };
    assert_eq!(of("clock_nanosleep"), [row("clock_nanosleep", 50, 20)]);
    assert_eq!(of("getpid"), [row("getpid", 10, 20), row("getpid", 80, 20)]);
    assert_eq!(slices.len(), 4, "{slices:?}");
}

#[test]
fn other_pairs_are_told_apart_by_their_fields() {
    let lines = [
        "scsi_dispatch_cmd_start: host_no=0 channel=0 id=0 lun=0 data_sgl=1 prot_sgl=0 driver_tag=5 scheduler_tag=1",
        "scsi_dispatch_cmd_start: host_no=0 channel=0 id=0 lun=0 data_sgl=1 prot_sgl=0 driver_tag=6 scheduler_tag=2",
        "scsi_dispatch_cmd_done: host_no=0 channel=0 id=0 lun=0 data_sgl=1 prot_sgl=0 driver_tag=5 scheduler_tag=1",
        "scsi_dispatch_cmd_done: host_no=0 channel=0 id=0 lun=0 data_sgl=1 prot_sgl=0 driver_tag=6 scheduler_tag=2",
    ];
    let name = "scsi_dispatch_cmd";
    assert_eq!(made(&lines), [row(name, 10, 20), row(name, 20, 20)]);
    // Two pairs with the same inode in the same thread; an end of a third kind is nobody's.
    let lines = [
        "writeback_single_inode_start: bdi 8:0: ino=7 state= age=1",
        "ext4_writepages: dev 8,0 ino 7 nr_to_write 1",
        "my_request_done: ino=7",
        "writeback_single_inode: bdi 8:0: ino=7 state= age=1",
    ];
    let expected = [row("writeback_single_inode", 10, 30)];
    assert_eq!(made(&lines), expected);
}

#[test]
fn a_thread_that_executes_a_64_bit_program_does_not_rename_the_32_bit_calls_before_it() {
    let slices = slices(&case("ftrace_text/thread-execs-32.ftrace.txt.zst"));
    let of = |tid: u32| slices.iter().filter(move |slice| slice.tid == tid);
    // The leader's 32-bit calls up to `pause`; the program that its thread executed goes on with 64-bit calls.
    let names: Vec<&str> = of(6606).map(|slice| slice.name.as_str()).take(10).collect();
    let expected = [
        "set_robust_list",
        "rt_sigaction",
        "rt_sigprocmask",
        "mmap2",
        "mprotect",
        "rt_sigprocmask",
        "clone3",
        "rt_sigprocmask",
        "pause",
        "brk",
    ];
    assert_eq!(names, expected);
    let length = |tid, name: &str| {
        let found: Vec<_> = of(tid).filter(|slice| slice.name == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        found[0].dur
    };
    assert_eq!(length(6606, "pause"), Some(2_371_000));
    // Entered by a 32-bit program, by number alone; returned to a 64-bit program, by name too.
    assert_eq!(length(6608, "execve"), Some(106_000));
    assert_eq!(length(6605, "syscall -1"), Some(1000));
    assert_eq!(length(6605, "syscall 9999"), Some(0));
}

/// 32-bit calls have no named event, in a 64-bit program neither: 20 is `getpid` there, `writev` in the table of the others.
#[test]
fn a_32_bit_call_of_a_64_bit_program_has_the_name_of_its_table() {
    let slices = slices(&case("ftrace_text/int-0x80.ftrace.txt.zst"));
    let raw = slices.iter().filter(|it| it.category == "raw_syscalls");
    let raw: Vec<&str> = raw.map(|slice| slice.name.as_str()).collect();
    assert_eq!(raw, ["getpid"; 3]);
    let named = slices.iter().filter(|it| it.category == "syscalls");
    assert!(named.count() > 40);
}

#[test]
fn the_execve_of_a_thread_ends_on_that_thread() {
    // 6607 executes a program and is 6606 from then on: 494218 us to 495347 us.
    let path = case("ftrace_text/thread-execs-32.ftrace.txt.zst");
    let check = |path: &Path| {
        let slices = slices(path);
        let execs: Vec<_> = slices
            .iter()
            .filter(|slice| slice.name == "execve" && (6606..6608).contains(&slice.tid))
            .map(|slice| (slice.tid, slice.ts, slice.dur))
            .collect();
        assert_eq!(execs, [(6607, 1_097_494_218_000, Some(1_129_000))]);
        let threads = run(&["table", "threads"], path, &[]);
        let thread = threads.lines().find(|line| line.contains("\t6607\t"));
        let cells: Vec<&str> = thread.unwrap().split('\t').collect();
        // A thread of its leader's process, which ends where it gets its leader's number.
        assert_eq!((cells[2], cells[3]), ("6607", "6606"), "{cells:?}");
        assert_eq!(cells[6], "1097495344000", "{cells:?}");
    };
    check(&path);
    let folder = tempfile::tempdir().unwrap();
    let exported = folder.path().join("execs.fxt");
    run(&["export"], &path, &["-o", exported.to_str().unwrap()]);
    check(&exported);
}
