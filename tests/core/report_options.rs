//! Options of `report`, held to what trace-cmd printed of the same files with the same options.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases/tracedat")
        .join(name)
}

fn unpacked(name: &str) -> Vec<u8> {
    let file = std::fs::File::open(case(name)).unwrap();
    zstd::decode_all(file).unwrap()
}

/// What trace-cmd 3.1.6 printed, with the states of idle and dead threads as trace-cmd since 3.2 prints them: before, it
/// had the letters of kernels that were older than 3.14.
fn expected(name: &str) -> String {
    expected_of("switches-and-wakeups", name)
}

fn expected_of(recording: &str, name: &str) -> String {
    let bytes = unpacked(&format!("{recording}.{name}.txt.zst"));
    let text = String::from_utf8(bytes).unwrap();
    let text = text.replace("] Z ==> ", "] zombie ==> ");
    let text = text.replace("] X ==> ", "] Z ==> ");
    let text = text.replace("] zombie ==> ", "] X ==> ");
    text.replace("] W ==> ", "] I ==> ")
}

/// A folder with the recording under two names of different lengths.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes = unpacked("switches-and-wakeups.dat.zst");
    for name in ["a.dat", "longer.dat"] {
        std::fs::write(folder.path().join(name), &bytes).unwrap();
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_threadline"))
        .current_dir(folder)
        .arg("report")
        .args(arguments)
        .output()
        .unwrap()
}

fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {words}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn assert_same(ours: &str, theirs: &str, what: &str) {
    let differ = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
    if let Some(at) = differ {
        let line = |text: &str| text.lines().nth(at).unwrap().to_owned();
        panic!(
            "{what}: line {}\nours   {}\ntheirs {}",
            at + 1,
            line(ours),
            line(theirs)
        );
    }
    assert_eq!(
        ours.len(),
        theirs.len(),
        "{what}: one ends before the other"
    );
}

#[test]
fn columns_steps_and_waits_are_trace_cmds() {
    let folder = folder();
    for (name, options) in [
        ("l", &["-l"][..]),
        ("lR", &["-l", "-t", "-R"]),
        ("diff", &["--ts-diff", "--no-flags"]),
        ("w", &["-w", "--no-flags"]),
    ] {
        let ours = printed(folder.path(), &[options, &["a.dat"]].concat());
        assert_same(&ours, &expected(name), name);
    }
}

/// A recording with `--date`, and the same with a page of CPU 1 that is 0.1 s too early.
fn folder_with_date() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = unpacked("date.dat.zst");
    std::fs::write(folder.path().join("date.dat"), &bytes).unwrap();
    let stamp: &mut [u8; 8] = bytes[0x23000..].first_chunk_mut().unwrap();
    *stamp = (u64::from_le_bytes(*stamp) - 100_000_000).to_le_bytes();
    std::fs::write(folder.path().join("back.dat"), &bytes).unwrap();
    folder
}

#[test]
fn recorded_times_dates_and_aligned_times_are_trace_cmds() {
    let folder = folder_with_date();
    for (name, options) in [
        ("raw", &["--raw-ts", "--ts-diff", "--no-flags"][..]),
        ("nodate", &["--nodate", "--no-flags"]),
        ("align", &["--align-ts", "--ts-diff", "-t", "--no-flags"]),
        ("rawcpus", &["--raw-ts", "--last-event"]),
    ] {
        let ours = printed(folder.path(), &[options, &["date.dat"]].concat());
        assert_same(&ours, &expected_of("date", name), name);
    }
    // No option shifts a recorded time; a range counts on the clock that is shown.
    let first = |options: &[&str]| {
        let text = printed(folder.path(), &[options, &["date.dat"]].concat());
        text.lines().nth(1).unwrap().to_owned()
    };
    let raw = first(&["--raw-ts"]);
    assert!(raw.contains("2214029379895:"), "{raw}");
    assert_eq!(
        first(&["--raw-ts", "--align-ts", "--nodate", "--offset", "1=1s"]),
        raw
    );
    let later = first(&["--raw-ts", "--from", "90us"]);
    assert!(later.contains("2214029475453:"), "{later}");
    let later = first(&["--align-ts", "-t", "--from", "@95558"]);
    assert!(later.contains(" 0.000095558:"), "{later}");
}

#[test]
fn times_that_go_back_on_a_cpu_are_warned_of() {
    let folder = folder_with_date();
    let checked = |file: &str| {
        let output = run(folder.path(), &["--ts-check", "--no-flags", file]);
        assert_eq!(output.status.code(), Some(0));
        let text = String::from_utf8(output.stdout).unwrap();
        (text, String::from_utf8(output.stderr).unwrap())
    };
    let (text, words) = checked("back.dat");
    assert_same(&text, &expected_of("date", "back"), "back");
    let step =
        "CPU 1 went backwards: 1795226950606006442 to 1795226950506026448, by 99979994: back.dat";
    assert!(words.contains(step), "{words}");
    assert_eq!(words.matches("backwards").count(), 1, "{words}");
    assert_eq!(checked("date.dat").1, "");
}

#[test]
fn cpus_are_chosen_by_numbers_and_ranges() {
    let folder = folder();
    let cpus = |list: &str| {
        let text = printed(folder.path(), &["--cpu", list, "--no-flags", "a.dat"]);
        let events = text.lines().skip(1);
        let of_line = |line: &str| line.split_once('[').unwrap().1[..3].parse().unwrap();
        let found: std::collections::BTreeSet<u32> = events.map(of_line).collect();
        found.into_iter().collect::<Vec<_>>()
    };
    for (list, expected) in [
        ("0,2-3", &[0, 2, 3][..]),
        ("2,0", &[0, 2]),
        ("0:2", &[0, 2]),
        ("1-4000000000", &[1, 2, 3]),
    ] {
        assert_eq!(cpus(list), expected, "{list}");
    }
    for wrong in ["3-1", "a", "0-", ""] {
        let output = run(folder.path(), &["--cpu", wrong, "a.dat"]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    // Other commands take them, too.
    let rows = |list: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
            .current_dir(folder.path())
            .args([
                "stats", "--of", "runs", "--by", "cpu", "--cpu", list, "a.dat",
            ])
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().count() - 1
    };
    assert_eq!((rows("1"), rows("0,2-3"), rows("0,0")), (1, 3, 1));
}

#[test]
fn a_string_that_a_probe_could_not_read_is_no_empty_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = case("chain-untraced-interrupt.dat.zst");
    let text = printed(folder.path(), &["--no-flags", path.to_str().unwrap()]);
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" ep: ")?.1.split_once("f="))
        .map(|(_, name)| name.split(" fl=").next().unwrap())
        .collect();
    assert!(names.contains(&"(fault)") && names.contains(&"\"/dev/null\""));
    assert!(!names.contains(&"\"\""), "{names:?}");
}

#[test]
fn what_only_trace_dat_has_is_refused_elsewhere() {
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
    let folder = tempfile::tempdir().unwrap();
    for option in [
        "--ts-diff",
        "--ts-check",
        "--raw-ts",
        "--nodate",
        "--align-ts",
        "-w",
        "--stat",
        "--events",
    ] {
        let output = run(folder.path(), &[option, text.to_str().unwrap()]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(said.contains("trace.dat"), "{option}: {said}");
        assert!(output.stdout.is_empty(), "{option}");
    }
}

/// As trace-cmd 3.1.6 prints them.
#[test]
fn lists_of_several_files_name_the_files() {
    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let files = ["sched-irq-syscalls.dat", "function-graph.dat"];
    for list in ["--stat", "--uname", "--version"] {
        let output = run(&samples, &[list, files[0], files[1]]);
        let text = String::from_utf8_lossy(&output.stdout);
        let heads: Vec<&str> = text.lines().filter(|it| it.contains("cpus=")).collect();
        let expected = [
            "sched-irq-syscalls.dat: cpus=2",
            "    function-graph.dat: cpus=2",
        ];
        assert_eq!(heads, expected, "{list}");
        let alone = run(&samples, &[list, files[0]]);
        assert!(alone.stdout.starts_with(b"cpus=2\n"), "{list}");
    }
}

#[test]
fn filters_choose_what_they_choose_in_trace_cmd() {
    let folder = folder();
    for (name, options) in [
        ("f1", &["-F", "sched_switch: prev_state==0"][..]),
        (
            "f2",
            &[
                "-F",
                "sched_wake.*,sched_switch: prio < 100 || next_prio < 100",
            ],
        ),
        ("f3", &["-F", "sched:COMM =~ \"cyclic.*\""]),
        ("f4", &["-F", "irq"]),
        (
            "f5",
            &["-F", ".*: common_pid != 0", "-v", "-F", "sched_wakeup"],
        ),
        ("v", &["-v", "-F", "sched_switch"]),
    ] {
        let ours = printed(folder.path(), &[options, &["--no-flags", "a.dat"]].concat());
        assert_same(&ours, &expected(name), name);
    }
}

#[test]
fn a_star_alone_stands_for_any_text() {
    let folder = folder();
    let count = |filter: &str| {
        let text = printed(folder.path(), &["-F", filter, "a.dat"]);
        text.lines().count() - 1
    };
    let all = count("sched_switch");
    assert!(all > 100);
    let by_regex = count("sched_switch: next_comm ~ \"cyclic\"");
    assert!(by_regex > 10 && by_regex < all);
    assert_eq!(count("sched_switch: next_comm ~ \"*cyclic*\""), by_regex);
    assert_eq!(count("sched_sw*: next_comm ~ \"cyclic*\""), by_regex);
    assert_eq!(count("sched/.*_switch: next_comm ~ \"cyclic*\""), by_regex);
    let others = count("sched_switch: next_comm !~ \"*cyclic*\"");
    assert_eq!(others, all - by_regex);
}

#[test]
fn no_filter_matches_nothing_without_a_word() {
    let folder = folder();
    for (filter, code, words) in [
        (
            "sched_swich: prev_pid == 1",
            2,
            "no event and no system called 'sched_swich'",
        ),
        (
            "sched_switch: prev_pdi == 1",
            2,
            "none of these events has a field 'prev_pdi'; there is 'prev_pid'",
        ),
        (
            "sched_.*: pid == 1 && cpu == 0",
            2,
            "field 'cpu'; CPU is that of the event's line",
        ),
        (
            "sched_switch: bogus == 1 || next_pid != 0",
            0,
            "none of these events has a field 'bogus'",
        ),
        (
            "sched_switch: next_pid == 123456",
            0,
            "no event of this trace passes the filters",
        ),
        ("nosuchword", 0, "no event of this trace passes the filters"),
    ] {
        let output = run(folder.path(), &["-F", filter, "a.dat"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{filter}: {said}");
        assert!(said.contains(words), "{filter}: {said}");
    }
    let output = run(folder.path(), &["-v", "a.dat"]);
    assert_eq!(output.status.code(), Some(2));
    // One that leaves nothing out, and one of several that finds nothing, are told as well.
    for filter in ["nosuchword", "sched_switch: bogus == 1"] {
        for filters in [
            &["-v", "-F", filter][..],
            &["-F", "sched_switch", "-F", filter],
        ] {
            let output = run(folder.path(), &[filters, &["a.dat"]].concat());
            let said = String::from_utf8_lossy(&output.stderr);
            let words = format!("passes the filter '{filter}'");
            assert!(said.contains(&words), "{filters:?}: {said}");
            let names_field = said.contains("none of these events has a field 'bogus'");
            assert_eq!(names_field, filter.contains("bogus"), "{said}");
            assert!(!output.stdout.is_empty());
        }
    }
}

#[test]
fn several_files_are_printed_in_one_order_with_their_names() {
    let folder = folder();
    let theirs = expected("two");
    for files in [
        &["-i", "a.dat", "-i", "longer.dat"][..],
        &["a.dat", "longer.dat"],
    ] {
        let ours = printed(folder.path(), &[&["--no-flags"][..], files].concat());
        assert_same(&ours, &theirs, "two files");
    }
    // Steps count from the line before, of whatever file it is.
    let steps = printed(folder.path(), &["--ts-diff", "a.dat", "longer.dat"]);
    let zero = steps
        .lines()
        .filter(|line| line.contains(": (+0) "))
        .count();
    assert!(zero >= steps.lines().count() / 2 - 2, "{zero}");
    // A shift puts them in another order.
    let shifted = printed(folder.path(), &["--offset", "2=1h", "a.dat", "longer.dat"]);
    let of_second = |line: &str| line.trim_start().starts_with("longer.dat: ");
    let events: Vec<&str> = shifted.lines().skip(2).collect();
    let half = events.len() / 2;
    assert!(!events[..half].iter().any(|line| of_second(line)));
    assert!(events[half..].iter().all(|line| of_second(line)));
    // Files of other kinds have their names before their lines too.
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
    let mixed = printed(folder.path(), &["a.dat", text.to_str().unwrap()]);
    let names = ["           a.dat: ", "sched-irq.ftrace: "];
    let name_of = |line: &str| names.iter().position(|name| line.starts_with(name));
    let found: Vec<Option<usize>> = mixed.lines().map(name_of).collect();
    assert!(found.contains(&Some(0)) && found.contains(&Some(1)) && !found.contains(&None));
    let output = run(folder.path(), &["-w", "a.dat", "longer.dat"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn functions_are_shown_as_asked() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/function-graph.dat");
    let path = path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plain = printed(folder.path(), &["--no-flags", path]);
    let both = printed(
        folder.path(),
        &["-O", "tailprint", "-O", "fgraph:depth", "--no-flags", path],
    );
    assert_eq!(plain.lines().count(), both.lines().count());
    let (mut calls, mut ends) = (0, 0);
    for (plain, both) in plain.lines().zip(both.lines()) {
        if plain.contains("funcgraph_entry: ") {
            calls += 1;
            let depth = both.strip_prefix(plain).unwrap();
            assert!(depth.starts_with(" (") && depth.ends_with(')'), "{both}");
        } else if plain.ends_with('}') {
            ends += 1;
            let tail = both.strip_prefix(plain).unwrap();
            assert!(tail.starts_with(" /* ") && tail.ends_with(')'), "{both}");
        } else {
            assert_eq!(plain, both);
        }
    }
    assert!(calls > 100 && ends > 100);
    let output = run(folder.path(), &["-O", "colour", path]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn statistics_and_descriptions_of_events_are_printed() {
    let folder = folder();
    let stat = printed(folder.path(), &["--stat", "a.dat"]);
    assert!(
        stat.starts_with("cpus=4\n\nKernel buffer statistics:\n"),
        "{stat}"
    );
    assert!(stat.contains("\nCPU: 3\nentries: 376\n"), "{stat}");
    assert!(
        stat.ends_with("CPU3 data recorded at offset=0x2c000\n    20480 bytes in size\n"),
        "{stat}"
    );
    let events = printed(folder.path(), &["--events", "a.dat"]);
    assert!(events.contains("\nsystem: sched\nname: sched_"), "{events}");
    assert!(events.contains("\nname: sched_switch\nID: "));
    assert!(events.contains("\tfield:char next_comm[16];\toffset:"));
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
    let output = run(folder.path(), &["--stat", text.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_terminal_gets_escapes_and_a_pipe_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = unpacked("switches-and-wakeups.dat.zst");
    let (name, active) = (b"cyclictest", b"cyc\x1b[31m\xff\r");
    let places: Vec<usize> = (0..bytes.len() - name.len())
        .filter(|&at| bytes[at..].starts_with(name))
        .collect();
    assert!(places.len() > 100);
    for at in places {
        bytes[at..at + name.len()].copy_from_slice(active);
    }
    std::fs::write(folder.path().join("a.dat"), &bytes).unwrap();
    let piped = run(folder.path(), &["a.dat"]).stdout;
    assert!(memchr::memmem::find(&piped, active).is_some());
    // Other outputs of the same file have escapes everywhere.
    for arguments in [&["-F", "sched_switch", "a.dat"][..], &["a.dat"]] {
        let command = format!(
            "'{}' report {}",
            env!("CARGO_BIN_EXE_threadline"),
            arguments.join(" ")
        );
        let shown = Command::new("script")
            .current_dir(folder.path())
            .args(["-qec", &command, "/dev/null"])
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        // The progress that stderr shows on the same terminal ends with a line's deletion.
        let events = shown.lines().filter(|line| line.contains("sched_switch"));
        let mut count = 0;
        for line in events {
            count += 1;
            let line = line.rsplit("\u{1b}[K").next().unwrap();
            assert!(!line.contains('\u{1b}'), "{line:?}");
        }
        assert!(
            count > 100 && shown.contains("cyc\\x1b[31m\\xff\\x0d"),
            "{count}"
        );
    }
}

#[test]
fn a_filter_names_events_of_some_of_several_files() {
    let sample = |name: &str| {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
        samples.join(name).to_str().unwrap().to_owned()
    };
    let (has, lacks) = (sample("kprobe-hackbench.dat"), sample("function-graph.dat"));
    let folder = tempfile::tempdir().unwrap();
    let events = |text: &str| text.lines().filter(|line| line.contains("read_in")).count();
    for filter in ["fsio: CPU >= 0", "read_in"] {
        let alone = events(&printed(folder.path(), &["-F", filter, &has]));
        assert!(alone > 10, "{alone}");
        for files in [[&has, &lacks], [&lacks, &has]] {
            let both = printed(folder.path(), &["-F", filter, files[0], files[1]]);
            assert_eq!(events(&both), alone, "{filter} {files:?}");
        }
    }
    let output = run(folder.path(), &["-F", "nothing: CPU >= 0", &has, &lacks]);
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        words.contains("no event and no system called 'nothing'"),
        "{words}"
    );
}

#[test]
fn offsets_in_functions_have_a_space_behind_as_trace_cmd_prints_them() {
    let path = crate::corpus::corpus("tracedat/v6-function.dat");
    let path = path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let text = printed(folder.path(), &["-O", "offset", path]);
    let opens = text.lines().filter(|line| line.contains("vfs_open"));
    assert!(opens.clone().count() > 1, "{text}");
    assert!(opens.clone().all(|line| line.ends_with(" vfs_open+0x0 ")));
    let text = printed(folder.path(), &["-O", "offset", "-O", "parent", path]);
    assert!(text.contains("vfs_open+0x0  <-- "), "{text}");
    // So have the frames of a stack.
    let stacks = crate::corpus::corpus("tracedat/v7-zstd-kernel-stack.dat");
    let text = printed(folder.path(), &["-O", "offset", stacks.to_str().unwrap()]);
    let frames = text.lines().filter(|line| line.starts_with("=> "));
    let named = frames.filter(|line| line.contains('('));
    assert!(named.clone().count() > 1000);
    assert!(
        named
            .clone()
            .all(|line| line.contains("+0x") && line.contains("  ("))
    );
    assert!(text.contains("\n=> task_mm_cid_work+0x325  (ffffffff813a03c5)\n"));
}
