//! Times of ftrace text: durations are the file's, and events of one time keep the file's order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::program::{Row, number, rows, stdout};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases/ftrace_text")
        .join(name)
}

fn table(name: &str, path: &Path) -> Vec<Row> {
    rows(&["table", name, path.to_str().unwrap()])
}

#[test]
fn a_call_of_no_microseconds_lasts_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.ftrace");
    let lines = [
        "# tracer: nop",
        "            bash-100     [000] ....   100.000001: sys_getpid()",
        "            bash-100     [000] ....   100.000001: sys_getpid -> 0x64",
        "            bash-100     [000] ....   100.000001: sys_getuid()",
        "            true-200     [001] ....   100.000001: sys_getppid()",
        "            bash-100     [000] ....   100.000001: sys_getuid -> 0x0",
        "            true-200     [001] ....   100.000003: sys_getppid -> 0x1",
        "            bash-100     [000] d...   100.000004: irq_handler_entry: irq=1 name=a",
        "            bash-100     [000] d...   100.000004: irq_handler_exit: irq=1 ret=handled",
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let slices = table("slices", &path);
    let found: BTreeMap<&str, (i64, i64)> = slices
        .iter()
        .map(|row| {
            (
                row["name"].as_str(),
                (number(row, "ts"), number(row, "dur")),
            )
        })
        .collect();
    let expected = [
        ("a", (100_000_004_000, 0)),
        ("getpid", (100_000_001_000, 0)),
        ("getppid", (100_000_001_000, 2000)),
        ("getuid", (100_000_001_000, 0)),
    ];
    assert_eq!(found, BTreeMap::from(expected));
    // The file's order, over both CPUs; so also from the middle, and after a round trip.
    let names = |path: &Path, more: &[&str]| -> Vec<String> {
        let arguments = [&["table", "events", path.to_str().unwrap()][..], more].concat();
        let events = rows(&arguments);
        events.iter().map(|row| row["name"].clone()).collect()
    };
    let all = names(&path, &[]);
    let expected = [
        "sys_enter_getpid",
        "sys_exit_getpid",
        "sys_enter_getuid",
        "sys_enter_getppid",
        "sys_exit_getuid",
        "sys_exit_getppid",
        "irq_handler_entry",
        "irq_handler_exit",
    ];
    assert_eq!(all, expected);
    assert_eq!(names(&path, &["--from", "@100000001001"]), all[5..]);
    assert_eq!(names(&path, &["--from", "@100000001000"]), all);
    assert_eq!(names(&path, &["--until", "@100000001001"]), all[..5]);
    let exported = folder.path().join("calls.fxt");
    stdout(&[
        "export",
        path.to_str().unwrap(),
        "-o",
        exported.to_str().unwrap(),
    ]);
    let again = table("slices", &exported);
    let length = |row: &Row| (row["name"].clone(), number(row, "ts"), number(row, "dur"));
    let mut both = [slices, again].map(|rows| rows.iter().map(length).collect::<Vec<_>>());
    both.iter_mut().for_each(|rows| rows.sort());
    assert_eq!(both[0], both[1]);
}

#[test]
fn a_thread_that_is_woken_runs_and_sleeps_in_one_microsecond_does_so_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switches.ftrace");
    let switch = |cpu: u32, at: &str, prev: &str, state: &str, next: &str| {
        let pid = |task: &str| task.rsplit_once('-').unwrap().1.to_owned();
        let comm = |task: &str| task.rsplit_once('-').unwrap().0.to_owned();
        format!(
            "{prev:>21}     [{cpu:03}] d...   50.{at}: sched_switch: prev_comm={} prev_pid={} prev_prio=120 \
             prev_state={state} ==> next_comm={} next_pid={} next_prio=120",
            comm(prev),
            pid(prev),
            comm(next),
            pid(next)
        )
    };
    // The thread that wakes is on the CPU with the higher number: the order is that of the lines, not of the CPUs.
    let lines = [
        "# tracer: nop".to_owned(),
        switch(0, "000010", "b-2", "S", "swapper/0-0"),
        "                  a-1     [001] d...   50.000020: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000".to_owned(),
        switch(0, "000020", "swapper/0-0", "R", "b-2"),
        switch(0, "000020", "b-2", "D", "swapper/0-0"),
        switch(1, "000020", "a-1", "S", "swapper/1-0"),
        "            swapper/1-0     [001] d...   50.000030: sched_wakeup: comm=b pid=2 prio=120 target_cpu=000".to_owned(),
        switch(0, "000034", "swapper/0-0", "R", "b-2"),
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let of = |path: &Path| -> Vec<(String, i64, String)> {
        let rows = table("states", path);
        let own = rows.iter().filter(|row| row["tid"] == "2");
        let cells = |row: &Row| {
            let ts = number(row, "ts") % 1_000_000;
            (row["state"].clone(), ts, row["dur"].clone())
        };
        own.map(cells).collect()
    };
    let expected = [
        ("sleeping", 10_000, "10000"),
        ("runnable", 20_000, "0"),
        ("running", 20_000, "0"),
        ("uninterruptible", 20_000, "10000"),
        ("runnable", 30_000, "4000"),
        ("running", 34_000, "\\N"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(state, ts, dur)| ((*state).to_owned(), *ts, (*dur).to_owned()))
        .collect();
    let states = of(&path);
    assert!(states.ends_with(&expected), "{states:?}");
    let exported = folder.path().join("switches.fxt");
    let [from, to] = [&path, &exported].map(|path| path.to_str().unwrap());
    stdout(&["export", from, "-o", to]);
    assert_eq!(of(&exported), states);
}

#[test]
fn all_times_of_a_recording_are_those_of_its_lines() {
    // Calls by thread, as the text has them: begin, end, name; one open call a thread.
    let path = case("both-syscall-kinds.ftrace.txt.zst");
    let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut open: BTreeMap<u32, (i64, String)> = BTreeMap::new();
    let mut expected: BTreeMap<(u32, i64, i64, String), usize> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((head, body)) = line.split_once(": sys_").filter(|_| !line.contains(" NR "))
        else {
            continue;
        };
        let task = head.split('(').next().unwrap().trim();
        let pid: u32 = task.rsplit_once('-').unwrap().1.parse().unwrap();
        let time = head.rsplit_once(' ').unwrap().1.replace('.', "");
        let time = time.parse::<i64>().unwrap() * 1000;
        match (body.split_once(" -> "), body.split_once('(')) {
            (Some((name, _)), _) => {
                if let Some((start, begun)) = open.remove(&pid)
                    && begun == name
                {
                    *expected
                        .entry((pid, start, time - start, begun))
                        .or_default() += 1;
                }
            }
            (None, Some((name, _))) => {
                open.insert(pid, (time, name.to_owned()));
            }
            _ => {}
        }
    }
    let slices = table("slices", &path);
    let mut found: BTreeMap<(u32, i64, i64, String), usize> = BTreeMap::new();
    for row in slices.iter().filter(|row| row["dur"] != "\\N") {
        let key = (
            row["tid"].parse().unwrap(),
            number(row, "ts"),
            number(row, "dur"),
            row["name"].clone(),
        );
        assert_eq!((key.1 % 1000, key.2 % 1000), (0, 0), "{key:?}");
        *found.entry(key).or_default() += 1;
    }
    assert!(expected.len() > 200, "{}", expected.len());
    let zero = expected.keys().filter(|key| key.2 == 0).count();
    assert!(zero > 20, "{zero}");
    for (key, count) in &expected {
        assert_eq!(found.get(key), Some(count), "{key:?}");
    }
}
