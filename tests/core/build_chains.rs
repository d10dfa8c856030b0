//! The critical chain of builds under job runners, in small strace texts: which jobs needed each other, and what only
//! waited for a free job slot.

use crate::program::{Row, number, rows};

/// A job: its number, start and end in tenths of a second.
type Job = (u32, u32, u32);

fn at(tenths: u32) -> String {
    format!("{}.{}00000", 1_700_000_000 + tenths / 10, tenths % 10)
}

/// Returns the text of a runner with these jobs, sorted by time; the jobs' output goes to pipes that the runner reads if
/// it is ninja.
fn build(runner: &str, jobs: &[Job], end: u32) -> String {
    let mut lines = vec![(
        0,
        format!(
            "10 {} execve(\"/usr/bin/{runner}\", [{}], 0x7f /* 1 vars */) = 0",
            at(0),
            words(runner)
        ),
    )];
    for &(pid, from, until) in jobs {
        let is_piped = runner.starts_with("ninja");
        if is_piped {
            lines.push((
                from,
                format!("10 {} pipe2([3, 4], O_CLOEXEC) = 0", at(from)),
            ));
        }
        lines.push((from, format!("10 {} vfork() = {pid}", at(from))));
        if is_piped {
            lines.push((from, format!("{pid} {} dup2(4, 1) = 1", at(from))));
            lines.push((from, format!("10 {} close(4) = 0", at(from))));
            // The next pipe has the same descriptor, so this one gets another.
            lines.push((
                from,
                format!("10 {} dup2(3, {}) = {}", at(from), 100 + pid, 100 + pid),
            ));
            lines.push((from, format!("10 {} close(3) = 0", at(from))));
        }
        lines.push((
            from,
            format!(
                "{pid} {} execve(\"/bin/job{pid}\", [\"job{pid}\"], 0x7f /* 1 vars */) = 0",
                at(from)
            ),
        ));
        lines.push((until, format!("{pid} {} exit_group(0) = ?", at(until))));
        lines.push((until, format!("{pid} {} +++ exited with 0 +++", at(until))));
        if is_piped {
            lines.push((
                until,
                format!("10 {} read({}, \"\", 4096) = 0", at(until), 100 + pid),
            ));
            lines.push((until, format!("10 {} close({}) = 0", at(until), 100 + pid)));
        }
    }
    lines.push((end, format!("10 {} exit_group(0) = ?", at(end))));
    lines.push((end, format!("10 {} +++ exited with 0 +++", at(end))));
    // What a time has is in order already.
    lines.sort_by_key(|(time, _)| *time);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

fn words(runner: &str) -> String {
    let words = match runner {
        "ninja" => ["ninja", "-j2"],
        _ => ["make", "-j1"],
    };
    words.map(|word| format!("\"{word}\"")).join(", ")
}

/// Returns (name of the process, why, own time in tenths of a second) of each row of the chain.
fn chain(text: &str) -> Vec<(String, String, i64)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("build.strace");
    std::fs::write(&path, text).unwrap();
    let chain = rows(&["table", "critical_chain", &path.to_string_lossy()]);
    let shares: f64 = chain
        .iter()
        .map(|row| row["share"].parse::<f64>().unwrap())
        .sum();
    assert!((shares - 100.0).abs() < 0.1, "{chain:?}");
    let cells = |row: &Row| {
        let own = number(row, "own") / 100_000_000;
        (row["process"].clone(), row["because"].clone(), own)
    };
    chain.iter().map(cells).collect()
}

/// ninja reads the output of its jobs from pipes: that is no reason why the next job waits for one of them.
#[test]
fn a_runner_that_reads_its_jobs_output_needs_no_job_for_the_next() {
    let jobs = [
        (11, 1, 31),
        (12, 2, 45),
        (13, 32, 60),
        (14, 46, 58),
        (15, 61, 71),
    ];
    let found = chain(&build("ninja", &jobs, 72));
    let ran = found.iter().filter(|(name, ..)| name.starts_with("job"));
    let ran: Vec<(&str, i64)> = ran.map(|(name, _, own)| (name.as_str(), *own)).collect();
    // The longest of those that ran at once, and the last, for which all others had ended.
    assert_eq!(ran, [("job12", 43), ("job15", 10)], "{found:?}");
    let waited = found.iter().find(|(_, why, _)| why == "no free job slot");
    assert_eq!(waited.map(|(_, _, own)| *own), Some(12), "{found:?}");
}

/// With one job at a time nothing shows that a job needed the one before.
#[test]
fn a_runner_of_one_job_at_a_time_waits_for_its_slot() {
    let jobs = [(11, 1, 31), (12, 32, 45), (13, 46, 60), (14, 61, 71)];
    let found = chain(&build("make", &jobs, 72));
    let ran: Vec<_> = found
        .iter()
        .filter(|(_, why, _)| why == "started by")
        .collect();
    assert_eq!(ran.len(), 1, "{found:?}");
    let waited = found.iter().filter(|(_, why, _)| why == "no free job slot");
    let waited: i64 = waited.map(|(_, _, own)| *own).sum();
    assert_eq!(waited + ran[0].2, 30 + 13 + 14 + 10, "{found:?}");
}

/// Both jobs end before make can start another: nothing shows that the next needs them. Where make waits long with a free
/// slot before it starts the next, that one needed the last to end.
#[test]
fn slots_that_become_free_at_once_make_no_job_needed() {
    let lines = |second: &str| {
        format!(
            "10 1700000000.000000 execve(\"/usr/bin/make\", [\"make\", \"-j2\"], 0x7f /* 1 vars */) = 0
10 1700000000.001000 vfork() = 11
11 1700000000.001060 execve(\"/bin/job11\", [\"job11\"], 0x7f /* 1 vars */) = 0
10 1700000000.001100 vfork() = 12
12 1700000000.001160 execve(\"/bin/job12\", [\"job12\"], 0x7f /* 1 vars */) = 0
11 1700000000.101000 +++ exited with 0 +++
12 1700000000.{second}100 +++ exited with 0 +++
10 1700000000.{second}200 vfork() = 13
13 1700000000.{second}260 execve(\"/bin/job13\", [\"job13\"], 0x7f /* 1 vars */) = 0
10 1700000000.{second}400 vfork() = 14
14 1700000000.{second}460 execve(\"/bin/job14\", [\"job14\"], 0x7f /* 1 vars */) = 0
13 1700000000.701000 +++ exited with 0 +++
14 1700000000.701500 +++ exited with 0 +++
10 1700000000.702000 +++ exited with 0 +++
"
        )
    };
    let ran = |text: &str| {
        let found = chain(text).into_iter();
        let jobs = found.filter(|(name, why, _)| name.starts_with("job") && why == "started by");
        jobs.map(|(name, ..)| name).collect::<Vec<_>>()
    };
    assert_eq!(ran(&lines("101")), ["job14"]);
    assert_eq!(ran(&lines("301")), ["job12", "job14"]);
}
