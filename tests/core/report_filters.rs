//! Filters of `report`, held to what trace-cmd 3.1.6 chose with them (`tests/filters_of_trace_cmd.py` wrote it down, and
//! compares many more where trace-cmd is installed).

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The recordings, unpacked.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for name in ["switches-and-wakeups", "both-syscall-kinds"] {
            let packed = root.join(format!("tests/cases/tracedat/{name}.dat.zst"));
            let bytes = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
            std::fs::write(folder.path().join(format!("{name}.dat")), bytes).unwrap();
        }
        for name in ["block-ext4", "kprobe-hackbench", "sched-irq-syscalls"] {
            let file = format!("{name}.dat");
            std::fs::copy(
                root.join("sample-traces").join(&file),
                folder.path().join(&file),
            )
            .unwrap();
        }
        Files(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, name: &str, options: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_threadline"))
            .args(["report", "--no-flags"])
            .args(options)
            .arg(self.path(name))
            .output()
            .unwrap()
    }

    fn lines(&self, name: &str, options: &[&str]) -> Vec<String> {
        let output = self.run(name, options);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {options:?}: {words}");
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(str::to_owned).collect()
    }
}

/// `0 3-5`: 0, 3, 4, 5.
fn numbers(text: &str) -> Vec<usize> {
    let ranges = text.split(' ').flat_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        first.parse::<usize>().unwrap()..=last.parse().unwrap()
    });
    ranges.collect()
}

#[test]
fn filters_choose_the_lines_that_trace_cmd_chooses() {
    let files = Files::new();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/tracedat/filters.tsv.zst");
    let golden = zstd::decode_all(std::fs::File::open(golden).unwrap()).unwrap();
    let golden = String::from_utf8(golden).unwrap();
    let mut whole: Option<(String, Vec<String>)> = None;
    let mut count = 0;
    for row in golden.lines() {
        let [file, options, chosen] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        if whole.as_ref().is_none_or(|(name, _)| name != file) {
            whole = Some((file.to_owned(), files.lines(file, &[])));
        }
        let all = &whole.as_ref().unwrap().1;
        let expected: Vec<&String> = numbers(chosen).into_iter().map(|at| &all[at]).collect();
        let options: Vec<&str> = options.split('\u{1f}').collect();
        let found = files.lines(file, &options);
        assert_eq!(found.len(), expected.len(), "{file} {options:?}");
        let differs = found
            .iter()
            .zip(expected)
            .find(|(own, theirs)| own != theirs);
        assert_eq!(differs, None, "{file} {options:?}");
        count += 1;
    }
    assert!(count > 140, "{count}");
}

#[test]
fn what_trace_cmd_refuses_or_leaves_without_a_word_is_meant_as_the_kernel_means_it() {
    let files = Files::new();
    let count = |name: &str, filter: &str| files.lines(name, &["-F", filter]).len() - 1;
    let both = "both-syscall-kinds.dat";
    // Extended regular expressions, where no event has the name as a basic one; errors are below 0.
    let failed = count(both, "sys_exit_(read|openat): ret < 0");
    let one_by_one =
        count(both, "sys_exit_read: ret < 0") + count(both, "sys_exit_openat: ret < 0");
    let all = count(both, "sys_exit_read,sys_exit_openat");
    assert!(
        failed > 0 && failed == one_by_one && failed < all,
        "{failed}"
    );
    assert_eq!(count(both, r"sys_exit_\(read\|openat\): ret < 0"), failed);
    assert_eq!(
        count(both, "sys_exit_(read|openat): ret >= 0"),
        all - failed
    );
    assert!(count(both, "sys_exit_openat: ret == -2") > 0);
    assert_eq!(
        count(both, "sys_exit_openat: ret == -2"),
        count(both, "sys_exit_openat: ret == 0xfffffffffffffffe")
    );
    let file = "switches-and-wakeups.dat";
    let switches = count(file, "sched_switch");
    assert_eq!(count(file, "sched_sw*"), switches);
    // Globs, as in the kernel's filters, and what the line begins with.
    let named = count(file, "sched_switch: next_comm =~ 'cyclic'");
    assert!(named > 10 && named < switches);
    for filter in [
        "sched_switch: next_comm ~ \"*cyclic*\"",
        "sched_switch: next_comm ~ \"c?clic*\"",
        "sched_switch: next_comm ~ \"[bc]yclic*\"",
        "sched_switch: next_comm =~ \"*cyclic*\"",
        "sched_switch: next_comm ~ \"cyclic\"",
        "sched_switch: !(next_comm !~ \"*cyclic*\")",
    ] {
        assert_eq!(count(file, filter), named, "{filter}");
    }
    assert_eq!(count(file, "sched_switch: PID == prev_pid"), switches);
    assert_eq!(count(file, "sched_switch: COMM ~ \"*\""), switches);
    let early = count(file, "sched_switch: TIMESTAMP < 100ms");
    let late = count(file, "sched_switch: TIMESTAMP >= 100ms");
    assert!(early > 0 && late > 0 && early + late == switches);
    // What the line shows: also threads that were pushed off their CPU.
    let lines = files.lines(file, &["-F", "sched_switch"]);
    let shown = lines
        .iter()
        .filter(|line| line.contains("] R ==> "))
        .count();
    // The text of trace-cmd has no `+` behind the letter of a preempted thread; the kernel's has.
    let ready = count(file, "sched_switch: prev_state == R");
    let preempted = count(file, "sched_switch: prev_state == \"R+\"");
    assert_eq!(ready + preempted, shown);
    assert_eq!(count(file, "sched_switch: prev_state == 0"), ready);
    assert!(ready > 0 && preempted > 0 && shown < switches);
    let same = count(file, "sched_switch: prev_prio == next_prio");
    assert!(same > 0 && same < switches);
    assert_eq!(
        count(file, "sched_switch: prev_prio != next_prio"),
        switches - same
    );
    let odd = count(file, "sched_switch: prev_pid & 1");
    assert_eq!(count(file, "sched_switch: prev_pid & 1 == 1"), odd);
    assert_eq!(count(file, "sched_switch: prev_pid / 0 == 1"), 0);
}

#[test]
fn filters_choose_the_same_events_in_text() {
    let files = Files::new();
    let name = "switches-and-wakeups.dat";
    let text = files.path("text.txt");
    std::fs::write(&text, files.lines(name, &[]).join("\n") + "\n").unwrap();
    for filter in [
        "sched_.*: pid > 100",
        "sched_switch: prev_pid == 0 || next_pid == 0 && prev_prio < 100",
        "sched_switch: next_comm =~ 'cyclic' && CPU != 0",
        "irq",
        "sched: COMM =~ 'ksoft' && PID > 3",
    ] {
        let ours = files.lines(name, &["-F", filter]);
        let of_text = files.lines("text.txt", &["-F", filter]);
        assert!(ours.len() > 3, "{filter}");
        assert_eq!(ours[1..].len(), of_text.len(), "{filter}");
    }
}

#[test]
fn single_kinds_are_printed_raw_or_without_plugin() {
    let files = Files::new();
    let name = "switches-and-wakeups.dat";
    let [plain, raw, neither] = [&["-N"][..], &["-R"], &[]].map(|it| files.lines(name, it));
    let mixed = files.lines(name, &["-r", "sched_switch", "-n", "sched_wake.*"]);
    let mut seen = [0; 3];
    for (at, line) in mixed.iter().enumerate() {
        let (expected, kind) = match () {
            () if line.contains(": sched_switch: ") => (&raw[at], 0),
            () if line.contains(": sched_wakeup: ") => (&plain[at], 1),
            () => (&neither[at], 2),
        };
        assert_eq!(line, expected);
        seen[kind] += 1;
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    let output = files.run(name, &["-r", "nosuch"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("called 'nosuch'"));
}

#[test]
fn a_files_own_lists_are_trace_cmds() {
    let files = Files::new();
    let name = "switches-and-wakeups.dat";
    let one = |option: &str| files.lines(name, &[option]);
    assert_eq!(
        one("-e"),
        ["file is little endian and host is little endian"]
    );
    assert_eq!(
        one("-p"),
        ["file page size is 4096, and host page size is 4096"]
    );
    let names = one("-E");
    assert!(names.contains(&"sched:sched_switch".to_owned()));
    assert!(names.is_sorted() && !names.contains(&"ftrace:blktrace".to_owned()));
    let functions = one("-f");
    assert!(functions.is_sorted_by_key(|line| line[..16].to_owned()) && functions.len() > 1);
    assert!(one("--uname")[1].starts_with("Linux ") && one("--version").len() == 2);
    let events = files.lines(name, &[]);
    let time_of = |line: &String| line[line.find(']').unwrap() + 1..][..15].trim().to_owned();
    let of_cpu = |cpu: u32| {
        let mut own = events
            .iter()
            .filter(|line| line.contains(&format!(" [{cpu:03}] ")));
        let first = time_of(own.next().unwrap());
        (first, time_of(own.next_back().unwrap()))
    };
    let [cpus, first, last] = ["--cpus", "--first-event", "--last-event"].map(one);
    assert_eq!(cpus[1..], ["  0", "  1", "  2", "  3"]);
    for cpu in 0..4 {
        let at = cpu as usize + 1;
        let (begin, end) = of_cpu(cpu);
        let stamp = |line: &str, words: &str| {
            let (own, time) = line.split_once(words).unwrap();
            assert_eq!(own, format!("  {cpu}\t"));
            format!("{}:", time.trim())
        };
        assert_eq!(stamp(&first[at], "First event:"), begin);
        assert_eq!(stamp(&last[at], "Last event:"), end);
    }
    for option in ["-e", "-f", "-I", "-r"] {
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces/sched-irq.ftrace");
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
        command.arg("report").arg(option);
        if option == "-r" {
            command.arg("sched");
        }
        let output = command.arg(text).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("trace.dat"));
    }
}
