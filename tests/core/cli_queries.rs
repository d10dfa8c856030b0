//! The verbs that answer questions: search, stats, latency, chain, flame, compare, report --filter.

use crate::program::{case, json, run, stdout};
use std::collections::BTreeMap;
use std::path::Path;

fn sample(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name);
    path.to_string_lossy().into_owned()
}

#[test]
fn a_field_that_no_event_has_is_told_with_what_was_meant() {
    let told = |file: &str| {
        let output = run(&["search", "prev_proi < 100", &sample(file)]);
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(
            words.contains("prev_proi < 100\n^^^^^^^^^ no event"),
            "{words}"
        );
        assert!(
            words.contains("'prev_proi'; there is 'prev_prio'"),
            "{words}"
        );
        output.status.code()
    };
    // This format says which fields there are; in the other one only each event tells.
    assert_eq!(told("sched-irq-syscalls.dat"), Some(2));
    assert_eq!(told("sched-irq.ftrace"), Some(0));
    let quiet = run(&["search", "prev_prio < -5", &sample("sched-irq.ftrace")]);
    assert!(quiet.stderr.is_empty());
}

#[test]
fn of_wakeups_without_a_run_no_latency_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("single.ftrace");
    let line = "            bash-1     [000] d... 1.000001: sched_waking: comm=a pid=5 prio=120 target_cpu=000\n";
    std::fs::write(&path, format!("# tracer: nop\n#\n{line}")).unwrap();
    let rows = json(&["latency", &path.display().to_string()]);
    assert_eq!(
        (&rows[0]["count"], &rows[0]["unmatched"]),
        (&0.into(), &1.into())
    );
    for name in ["mean", "min", "p50", "p99", "max"] {
        assert!(rows[0][name].is_null(), "{name}: {}", rows[0][name]);
    }
}

#[test]
fn a_search_prints_a_table_or_a_count() {
    let file = sample("sched-irq-syscalls.dat");
    let expression = "sched_switch: next_prio >= 100 && cpu == 1";
    let all = json(&["search", expression, &file]);
    assert!(all.len() > 10);
    for row in &all {
        assert_eq!(
            (&row["name"], &row["cpu"], &row["type"]),
            (&"sched_switch".into(), &1.into(), &"event".into())
        );
        assert!(row["text"].as_str().unwrap().contains("==>"));
    }
    assert!(all.is_sorted_by_key(|row| row["ts"].as_i64()));
    let count = stdout(&["search", expression, &file, "--count"]);
    assert_eq!(count.trim(), all.len().to_string());
    let some = stdout(&["search", expression, &file, "--limit", "3"]);
    assert_eq!(some.lines().count(), 4);
    let threads = json(&["search", "mix", &file, "--in", "threads,processes"]);
    assert!(
        threads
            .iter()
            .any(|row| row["type"] == "thread" && row["name"] == "mix.sh")
    );
    let early = json(&["search", expression, &file, "--until", "100ms"]);
    assert!(early.len() < all.len());
}

#[test]
fn wrong_expressions_are_wrong_usage_with_a_place() {
    let file = sample("sched-irq-syscalls.dat");
    for (arguments, pointed) in [
        (
            vec!["search", "cpu == x", &*file],
            "\n       ^ 'cpu' can only be compared with a number",
        ),
        (
            vec!["search", "nxt_prio < 5", &*file],
            "\n^^^^^^^^ no event of this trace",
        ),
        (
            vec!["report", "--filter", "(cpu == 1", &*file],
            "\n^ this ( has no partner",
        ),
        (
            vec!["latency", "--begin", "name == a", "--end", "b ==", &*file],
            "a value is missing",
        ),
    ] {
        let output = run(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(pointed), "{errors}");
    }
    let output = run(&["chain", "--thread", "99999", "--at", "1s", &file]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_filtered_report_has_the_lines_of_the_whole_one() {
    let file = sample("block-ext4.dat");
    let whole = stdout(&["report", &file]);
    let filtered = stdout(&["report", "--filter", "category == block", &file]);
    let lines: Vec<&str> = whole
        .lines()
        .filter(|line| line.contains(": block_") || *line == "cpus=2")
        .collect();
    assert!(lines.len() > 20);
    assert!(filtered.lines().eq(lines));
}

#[test]
fn stats_group_slices_runs_states_and_counters() {
    let file = sample("sched-irq-syscalls.dat");
    let names = json(&["stats", &file]);
    let slices = stdout(&["table", "slices", &file]).lines().count() as u64 - 1;
    // Those that never ended are counted beside those that did.
    let all = |rows: &[serde_json::Value]| -> u64 {
        let number = |row: &serde_json::Value, name: &str| row[name].as_u64().unwrap();
        let rows = rows.iter();
        rows.map(|row| number(row, "count") + number(row, "unfinished"))
            .sum()
    };
    assert_eq!(all(&names), slices);
    for by in ["thread", "process", "cpu"] {
        let groups = json(&["stats", "--by", by, &file]);
        assert_eq!(all(&groups), slices, "{by}");
    }
    let cpus = json(&[
        "stats", "--of", "runs", "--by", "cpu", "--from", "100ms", "--until", "200ms", &file,
    ]);
    assert!(!cpus.is_empty());
    assert!(
        cpus.iter()
            .all(|row| row["sum"].as_i64().unwrap() <= 100_000_000)
    );
    let one = json(&[
        "stats", "--of", "states", "--by", "thread", "--thread", "288", &file,
    ]);
    assert!(!one.is_empty());
    assert!(
        one.iter()
            .all(|row| row["group"].as_str().unwrap().starts_with("trace-cmd 288"))
    );
    let counters = json(&["stats", "--of", "counters", &sample("block-ext4.dat")]);
    assert!(!counters.is_empty());
}

#[test]
fn bios_queues_and_requests_of_one_operation_are_not_added_up_together() {
    let path = case("tracedat/block-requeue-and-enum-zero.dat.zst");
    let rows = json(&["stats", &path, "--kind", "block requests"]);
    let count = |category: &str| -> u64 {
        let own = rows.iter().filter(|row| row["category"] == category);
        own.map(|row| row["count"].as_u64().unwrap()).sum()
    };
    let counts = ["block requests", "block queue", "block bios", "block"].map(count);
    assert_eq!(counts, [99, 82, 115, 0]);
}

#[test]
fn a_mean_of_samples_counts_each_once() {
    let path = case("ftrace_text/timerlat.report.txt.zst");
    let samples = json(&["table", "counters", &path]);
    let sums = json(&["stats", "--of", "counters", &path]);
    assert!(!sums.is_empty());
    for row in &sums {
        let is_own = |sample: &&serde_json::Value| {
            row["track"] == sample["track"] && row["of"] == format!("CPU {}", sample["cpu"])
        };
        let own = samples.iter().filter(is_own);
        let values: Vec<f64> = own
            .map(|sample| sample["value"].as_f64().unwrap())
            .collect();
        assert_eq!(row["count"], values.len());
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let found = row["sample_mean"].as_f64().unwrap();
        assert!((found - mean).abs() < 1e-6 * mean, "{row}");
    }
}

/// A row without its name.
fn numbers_of(row: &serde_json::Value) -> serde_json::Value {
    let mut row = row.clone();
    row.as_object_mut().unwrap().remove("group");
    row
}

#[test]
fn runs_and_states_are_found_by_thread_process_track_and_cpu() {
    let file = sample("sched-irq-syscalls.dat");
    let stats = |arguments: &[&str]| {
        let all = [&["stats"], arguments, &[file.as_str()]].concat();
        json(&all)
    };
    let runs_by_thread = stats(&["--of", "runs", "--by", "thread"]);
    let of_thread = runs_by_thread
        .iter()
        .find(|row| row["group"] == "mix.sh 291");
    let of_thread = of_thread.unwrap();
    assert_eq!(
        (&of_thread["count"], &of_thread["sum"]),
        (&48.into(), &210_402_983.into())
    );
    for narrowed in [
        &["--thread", "291"][..],
        &["--process", "291"],
        &["--cpu", "0,1", "--thread", "291"],
    ] {
        let runs = stats(&[&["--of", "runs"], narrowed].concat());
        assert_eq!(runs, std::slice::from_ref(of_thread), "{narrowed:?}");
    }
    // A thread and a CPU's track: the thread's runs on the other CPU as well.
    let cpus = stats(&["--of", "runs", "--by", "cpu"]);
    let by_cpu = |narrowed: &[&str]| stats(&[&["--of", "runs", "--by", "cpu"], narrowed].concat());
    let mixed = by_cpu(&["--track", "CPU 1", "--thread", "291"]);
    let elsewhere = by_cpu(&["--cpu", "0", "--thread", "291"]);
    let whole = cpus.iter().find(|row| row["group"] == "CPU 1").unwrap();
    assert_eq!(mixed.len(), 2);
    assert!(mixed.contains(whole) && mixed.contains(&elsewhere[0]));
    // On a CPU threads are running.
    for (cpu, row) in [("0", "CPU 0"), ("1", "CPU 1")] {
        let states = stats(&["--of", "states", "--cpu", cpu]);
        assert_eq!(states.len(), 1, "{states:?}");
        assert_eq!(states[0]["group"], "running");
        let all = stats(&["--of", "states", "--by", "cpu"]);
        let expected = all.iter().find(|it| it["group"] == row).unwrap();
        assert_eq!(numbers_of(&states[0]), numbers_of(expected), "{cpu}");
    }
}

#[test]
fn what_was_still_open_at_the_end_is_counted_beside_what_ended() {
    for name in ["sched-irq-syscalls.dat", "sched-irq.ftrace"] {
        let file = sample(name);
        let info: serde_json::Value =
            serde_json::from_str(&stdout(&["info", "--json", &file])).unwrap();
        let end = info["end_ns"].as_i64().unwrap();
        // By group: count and sum of those that ended, count and least sum of the others.
        let mut expected: BTreeMap<String, [i64; 4]> = BTreeMap::new();
        for row in crate::program::rows(&["table", "states", &file]) {
            let group = expected.entry(row["state"].clone()).or_default();
            match row["dur"].parse::<i64>() {
                Ok(dur) => {
                    group[0] += 1;
                    group[1] += dur;
                }
                Err(_) => {
                    group[2] += 1;
                    // The last event is in the last nanosecond. Nobody records how long a zombie stays.
                    if !matches!(&*row["state"], "zombie" | "dead") {
                        group[3] += end - 1 - crate::program::number(&row, "ts");
                    }
                }
            }
        }
        let stats = json(&["stats", "--of", "states", &file]);
        let found: BTreeMap<String, [i64; 4]> = stats
            .iter()
            .map(|row| {
                let columns = ["count", "sum", "unfinished", "at_least"];
                let cells = columns.map(|column| row[column].as_i64().unwrap());
                (row["group"].as_str().unwrap().to_owned(), cells)
            })
            .collect();
        assert_eq!(found, expected, "{name}");
        assert!(
            found["sleeping"][2] > 0 && found["sleeping"][0] > 0,
            "{name}"
        );
        // Of a zombie nothing has ended: no mean, no longest; and it does not lead the table.
        let zombie = stats.iter().find(|row| row["group"] == "zombie").unwrap();
        assert!(
            zombie["mean"].is_null() && zombie["max"].is_null(),
            "{zombie}"
        );
        assert_ne!(stats[0]["group"], "zombie", "{name}");
        // In a range that ends before the trace, too; what has ended by then counts as far as it is inside.
        let part = json(&[
            "stats", "--of", "states", "--from", "100ms", "--until", "200ms", &file,
        ]);
        let time = |row: &serde_json::Value| {
            row["sum"].as_i64().unwrap() + row["at_least"].as_i64().unwrap()
        };
        assert!(
            part.iter().all(|row| time(row) <= 100_000_000 * 64),
            "{name}"
        );
        let runs = json(&["stats", "--of", "runs", &file]);
        let open: i64 = runs
            .iter()
            .map(|row| row["unfinished"].as_i64().unwrap())
            .sum();
        let rows = crate::program::rows(&["table", "runs", &file]);
        let count = rows.iter().filter(|row| row["dur"] == "\\N").count();
        assert_eq!(open, count as i64, "{name}");
    }
}

#[test]
fn a_cpu_is_asked_for_what_threads_did_there() {
    let file = sample("sched-irq-syscalls.dat");
    let number = |row: &serde_json::Value, name: &str| row[name].as_i64().unwrap();
    // Who ran on CPU 1, and with which system calls: not more than they ran.
    let ran = json(&["stats", "--cpu", "1", "--of", "runs", &file]);
    let did = json(&["stats", "--cpu", "1", "--by", "thread", &file]);
    let of_threads: Vec<_> = did
        .iter()
        .filter_map(|row| Some((row, ran.iter().find(|run| run["group"] == row["group"])?)))
        .collect();
    assert!(of_threads.len() > 3);
    for (did, ran) in &of_threads {
        assert!(number(did, "self") <= number(ran, "sum"), "{did} {ran}");
    }
    let names = json(&["stats", "--cpu", "1", &file]);
    let calls = |rows: &[serde_json::Value]| -> i64 {
        let calls = rows.iter().filter(|row| row["category"] == "raw_syscalls");
        calls.map(|row| number(row, "count")).sum()
    };
    assert!(calls(&names) > 100 && calls(&names) < calls(&json(&["stats", &file])));
    let flame = json(&["flame", "--cpu", "1", "--as", "names", &file]);
    // A graph contains what was seen of slices that never ended; sums do not.
    let sum = |rows: &[serde_json::Value], name: &str| -> i64 {
        rows.iter().map(|row| number(row, name)).sum()
    };
    for name in ["count", "unfinished"] {
        assert_eq!(sum(&flame, name), sum(&names, name), "{name}");
    }
    assert!(sum(&flame, "self") >= sum(&names, "self"));
    // One thread there: less than it did everywhere.
    let thread = |arguments: &[&str]| -> i64 {
        let all = [&["stats", "--thread", "288"], arguments, &[file.as_str()]].concat();
        json(&all).iter().map(|row| number(row, "sum")).sum()
    };
    let cpus = [thread(&["--cpu", "0"]), thread(&["--cpu", "1"])];
    assert!(cpus.iter().sum::<i64>() <= thread(&[]), "{cpus:?}");
    assert!(cpus.iter().any(|sum| *sum > 0));
    let states = json(&[
        "stats", "--of", "states", "--thread", "288", "--cpu", "1", &file,
    ]);
    assert!(
        states.iter().all(|row| row["group"] == "running"),
        "{states:?}"
    );
}

#[test]
fn events_are_counted_by_what_they_have_in_common() {
    let file = sample("sched-irq-syscalls.dat");
    let count = |rows: &[serde_json::Value]| -> u64 {
        rows.iter().map(|row| row["count"].as_u64().unwrap()).sum()
    };
    let all = stdout(&["table", "events", &file]).lines().count() as u64 - 1;
    for by in ["name", "thread", "process", "cpu"] {
        let rows = json(&["stats", "--of", "events", "--by", by, &file]);
        assert_eq!(count(&rows), all, "{by}");
        assert!(
            rows.iter()
                .all(|row| row["per_second"].as_f64() > Some(0.0))
        );
    }
    let names = json(&["stats", "--of", "events", "--cpu", "1", &file]);
    let switches = names
        .iter()
        .find(|row| row["group"] == "sched_switch")
        .unwrap();
    assert_eq!(switches["category"], "sched");
    let lines = stdout(&["report", "--cpu", "1", &file]);
    let lines = lines.lines().filter(|line| line.contains(" sched_switch:"));
    assert_eq!(switches["count"].as_u64().unwrap(), lines.count() as u64);
    // Of a thread: on each CPU by itself as many as on all.
    let thread = ["stats", "--of", "events", "--thread", "288", file.as_str()];
    let by_cpu = json(&["stats", "--of", "events", "--by", "cpu", &file]);
    let on_each = by_cpu.iter().filter_map(|row| {
        let number = row["group"].as_str()?.strip_prefix("CPU ")?;
        Some(count(&json(&[&thread[..], &["--cpu", number]].concat())))
    });
    assert_eq!(on_each.sum::<u64>(), count(&json(&thread)));
}

#[test]
fn latencies_chains_flames_and_comparisons_are_tables() {
    let ftrace = sample("sched-irq.ftrace");
    let latencies = json(&["latency", &ftrace]);
    assert!(
        latencies.len() > 3
            && latencies
                .iter()
                .all(|row| row["max"].as_i64() >= row["p99"].as_i64())
    );
    let worst = json(&["latency", "--worst", "5", &ftrace]);
    assert_eq!(worst.len(), 5);
    assert_eq!(worst[0]["dur"], latencies[0]["max"]);
    let pairs = json(&[
        "latency",
        "--begin",
        "sched_waking",
        "--end",
        "sched_switch: next_pid > 0",
        "--key",
        "pid=next_pid",
        &ftrace,
    ]);
    assert!(pairs[0]["count"].as_u64().unwrap() > 50);
    let hops = json(&[
        "chain",
        "--thread",
        "27243",
        "--at",
        "@2471495100000",
        &ftrace,
    ]);
    let told: Vec<&str> = hops.iter().filter_map(|hop| hop["what"].as_str()).collect();
    assert_eq!(
        told,
        ["uninterruptible", "interrupt", "softirq", "waits for a CPU"]
    );
    let shares: f64 = hops.iter().filter_map(|hop| hop["share"].as_f64()).sum();
    assert!((shares - 100.0).abs() < 0.1);

    let graph = sample("function-graph.dat");
    let tree = json(&["flame", &graph]);
    assert!(tree.iter().any(|row| row["depth"].as_u64().unwrap() > 3));
    let folded = stdout(&["flame", "--as", "folded", &graph]);
    let own: i64 = tree.iter().filter_map(|row| row["self"].as_i64()).sum();
    let sum: i64 = folded
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<i64>().unwrap())
        .sum();
    assert_eq!(sum, own);
    let first = stdout(&["flame", "--as", "folded", "--limit", "2", &graph]);
    assert_eq!(first.lines().count(), 2);
    let refused = run(&["flame", "--as", "folded", "--format", "json", &graph]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let names = json(&["flame", "--as", "names", &graph]);
    assert_eq!(
        names
            .iter()
            .filter_map(|row| row["self"].as_i64())
            .sum::<i64>(),
        own
    );
    let turned = json(&["flame", "--as", "bottom-up", &graph]);
    assert!(turned.len() > names.len());

    let (a, b) = (
        sample("sched-irq-syscalls.dat"),
        sample("kprobe-hackbench.dat"),
    );
    let rows = json(&["compare", &a, &b, "--of", "events"]);
    let switches = rows
        .iter()
        .find(|row| row["name"] == "sched_switch")
        .unwrap();
    assert!(switches["count_a"].as_u64() > Some(0) && switches["count_b"].as_u64() > Some(0));
    assert!(
        json(&["compare", &a, &a])
            .iter()
            .all(|row| row["change"] == 0)
    );
    for of in ["threads", "states"] {
        let rows = json(&["compare", &a, &b, "--of", of]);
        // What never ended has no percentiles.
        let has_ended = |row: &&serde_json::Value| row["count_a"].as_u64() > Some(0);
        let there: Vec<_> = rows.iter().filter(has_ended).collect();
        assert!(there.len() > 3);
        assert!(
            there
                .iter()
                .all(|row| row["p50_a"].is_i64() && row["p95_a"].is_i64())
        );
    }
    let names = json(&["stats", "--of", "runs", "--by", "thread-name", &a]);
    let threads = json(&["stats", "--of", "runs", "--by", "thread", &a]);
    assert!(names.len() < threads.len());
}

#[test]
fn children_run_their_parents_program_until_they_execute_another() {
    let file = sample("minix-pipeline.minix");
    let images: Vec<(String, u64)> = json(&["table", "slices", &file])
        .iter()
        .filter(|row| ["earlier", "fork", "exec"].contains(&row["category"].as_str().unwrap()))
        .map(|row| {
            let name = row["name"].as_str().unwrap().to_owned();
            (name, row["pid"].as_u64().unwrap())
        })
        .collect();
    let image = |name: &str, pid| images.contains(&(name.to_owned(), pid));
    assert!(image("sh", 311), "{images:?}");
    assert!(image("sh", 312) && image("ls", 312), "{images:?}");
}

/// Two threads on one CPU; the run of the second is open when the recording ends `last` after 1 s, in µs.
fn open_run(folder: &Path, name: &str, last: u32) -> String {
    let path = folder.join(name);
    let switch = "sched_switch: prev_comm=";
    let text = format!(
        "# tracer: nop\n#\n\
         \u{20}         <idle>-0     [000] d... 1.000100: {switch}swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a next_pid=10 next_prio=120\n\
         \u{20}              a-10    [000] d... 1.000500: {switch}a prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=b next_pid=11 next_prio=120\n\
         \u{20}              b-11    [000] d... 1.{last:06}: print: x\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn a_comparison_of_states_and_threads_counts_what_never_ended() {
    let file = sample("sched-irq-syscalls.dat");
    for (of, stats) in [
        ("states", vec!["stats", "--of", "states"]),
        (
            "threads",
            vec!["stats", "--of", "runs", "--by", "thread-name"],
        ),
    ] {
        let stats = json(&[stats, vec![file.as_str()]].concat());
        let compared = json(&["compare", "--of", of, &file, &file]);
        assert_eq!(compared.len(), stats.len(), "{of}");
        for row in &stats {
            let of_both = compared
                .iter()
                .find(|it| it["name"] == row["group"])
                .unwrap();
            for (side, column) in ["a", "b"]
                .into_iter()
                .flat_map(|side| ["count", "sum", "unfinished", "at_least"].map(|it| (side, it)))
            {
                assert_eq!(
                    of_both[format!("{column}_{side}")],
                    row[column],
                    "{of} {column}"
                );
            }
        }
        assert!(
            stats.iter().any(|row| row["unfinished"].as_i64() > Some(0)),
            "{of}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let [left, right] = [("left.ftrace", 1_000), ("right.ftrace", 900_000)]
        .map(|(name, last)| open_run(folder.path(), name, last));
    let rows = json(&["compare", "--of", "threads", &left, &right]);
    // The largest change is first: what is certain of the open run.
    let first = &rows[0];
    assert_eq!(first["name"], "b");
    for (column, expected) in [
        ("count_a", 0),
        ("unfinished_a", 1),
        ("unfinished_b", 1),
        ("at_least_a", 500_000),
        ("at_least_b", 899_500_000),
    ] {
        assert_eq!(first[column], expected, "{column}");
    }
}

/// Two slices of one name and category on threads, and an asynchronous one.
const TWO_KINDS: &str = r#"{"traceEvents":[
{"name":"job","cat":"x","ph":"X","pid":1,"tid":1,"ts":0,"dur":10},
{"name":"job","cat":"x","ph":"b","id":1,"pid":1,"tid":1,"ts":20},
{"name":"job","cat":"x","ph":"e","id":1,"pid":1,"tid":1,"ts":90},
{"name":"job","cat":"x","ph":"X","pid":1,"tid":2,"ts":5,"dur":30}
]}"#;

#[test]
fn slices_are_found_by_their_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kinds.json");
    std::fs::write(&path, TWO_KINDS).unwrap();
    let path = path.to_string_lossy().into_owned();
    let count = |expression: &str| json(&["search", "--in", "slices", expression, &path]).len();
    for (expression, expected) in [
        ("name == job && dur >= 0ns", 3),
        ("name == job && slice_kind == durations", 2),
        ("slice_kind == \"asynchronous\"", 1),
        ("slice_kind != durations", 1),
        ("slice_kind ~ \"dur.*\" && dur < 20us", 1),
        ("slice_kind == \"system calls\"", 0),
    ] {
        assert_eq!(count(expression), expected, "{expression}");
    }
    // Events have no kind.
    let events = ["search", "--in", "events", "slice_kind != durations", &path];
    assert_eq!(json(&events).len(), 0);
}
