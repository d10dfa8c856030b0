//! Durations that the kernel measured itself are the durations of slices, on every way out of the program: calls of the
//! function graph, noise of the osnoise tracer. Names of enums that a format leaves unresolved match nothing.

use std::collections::BTreeMap;

use crate::files::Files;
use crate::program::case;

/// Calls: name, begin and duration by the kernel's local clock.
type Calls = Vec<(String, i64, i64)>;

/// What the returns in a trace say, in the form that `report -R` prints.
fn returns(files: &Files, file: &str) -> Calls {
    let report = files.text(&["report", "-R", file]);
    let field = |line: &str, name: &str| {
        let value = line.split(&format!(" {name}=")).nth(1)?;
        value.split_whitespace().next().map(str::to_owned)
    };
    let hex = |text: String| i64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let returns = report.lines().filter_map(|line| {
        let begun = hex(field(line, "calltime")?);
        let over = hex(field(line, "rettime")?);
        Some((field(line, "func")?, begun, over - begun))
    });
    let mut returns: Calls = returns.collect();
    returns.sort();
    returns
}

/// The finished calls of functions among a table of slices.
fn calls(rows: &[serde_json::Value]) -> Calls {
    let calls = rows.iter().filter(|row| row["category"] == "ftrace");
    let calls = calls.filter_map(|row| {
        let name = row["name"].as_str().unwrap().to_owned();
        Some((name, row["ts"].as_i64().unwrap(), row["dur"].as_i64()?))
    });
    let mut calls: Calls = calls.collect();
    calls.sort();
    calls
}

fn without_times(calls: Calls) -> Vec<(String, i64)> {
    let mut found: Vec<_> = calls.into_iter().map(|call| (call.0, call.2)).collect();
    found.sort();
    found
}

/// No call lasts longer than the one around it.
fn check_nesting(rows: &[serde_json::Value]) {
    let of = |id: &serde_json::Value| rows.iter().find(|row| row["id"] == *id);
    for row in rows {
        let around = of(&row["parent_id"]).and_then(|around| around["dur"].as_i64());
        if let (Some(around), Some(own)) = (around, row["dur"].as_i64()) {
            assert!(own <= around, "{row}");
        }
    }
}

#[test]
fn a_call_is_from_calltime_to_rettime() {
    let files = Files::new(&[]);
    let file = case("tracedat/fgraph-durations.dat.zst");
    let wanted = returns(&files, &file);
    assert_eq!(wanted.len(), 257);
    let rows = files.table(&["slices", &file]);
    assert_eq!(calls(&rows), wanted);
    check_nesting(&rows);
    // Exported and opened again, and beside another file.
    files.text(&["export", &file, "-o", "again.fxt"]);
    assert_eq!(calls(&files.table(&["slices", "again.fxt"])), wanted);
    let noise = case("tracedat/osnoise.dat.zst");
    let joined = files.table(&["slices", &file, &noise]);
    assert_eq!(without_times(calls(&joined)), without_times(wanted.clone()));
    // Sums are sums of these.
    let sum: i64 = wanted.iter().map(|call| call.2).sum();
    let stats = files.text(&["stats", &file, "--format", "json"]);
    let stats: Vec<serde_json::Value> = serde_json::from_str(&stats).unwrap();
    let told: i64 = stats.iter().map(|row| row["sum"].as_i64().unwrap()).sum();
    // One call never ended.
    let open = rows.iter().filter(|row| row["dur"].is_null()).count();
    assert!(open == 1 && told >= sum, "{told} {sum}");
    let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
    for (name, _, duration) in &wanted {
        *sums.entry(name).or_default() += duration;
    }
    let mutex = stats
        .iter()
        .find(|row| row["group"] == "mutex_unlock")
        .unwrap();
    assert_eq!(mutex["sum"].as_i64(), sums.get("mutex_unlock").copied());
}

#[test]
fn texts_of_the_same_calls_say_the_same() {
    let files = Files::new(&[]);
    let wanted = returns(&files, &case("tracedat/fgraph-durations.dat.zst"));
    // Fields have the times by the kernel's clock.
    let raw = case("ftrace_text/fgraph-durations.report-R.txt.zst");
    assert_eq!(calls(&files.table(&["slices", &raw])), wanted);
    // Braces have durations, and times of events in microseconds.
    let braces = case("ftrace_text/fgraph-durations.report.txt.zst");
    let rows = files.table(&["slices", &braces]);
    assert_eq!(without_times(calls(&rows)), without_times(wanted.clone()));
    check_nesting(&rows);
    files.text(&["export", &braces, "-o", "again.fxt"]);
    let again = files.table(&["slices", "again.fxt"]);
    assert_eq!(calls(&again), calls(&rows));
}

#[test]
fn a_clock_that_stood_still_moves_no_later_call() {
    let files = Files::new(&[]);
    // An interrupt's calls, among them a long one, all have the time before it. The calls after it are where the text has
    // them.
    let text = case("over_losses/fgraph-whole.ftrace.txt.zst");
    let rows = files.table(&["slices", &text]);
    let of = |name: &str| {
        let mut found = rows
            .iter()
            .filter(|row| row["name"] == name && row["tid"] == 229);
        let (row, more) = (found.next().unwrap(), found.next());
        assert!(more.is_none(), "{name}");
        [&row["ts"], &row["depth"]].map(|number| number.as_i64().unwrap())
    };
    assert_eq!(of("_raw_write_unlock_irq")[1], 1);
    assert_eq!(of("proc_exit_connector"), [42_288_829_633, 1]);
    assert_eq!(of("exit_task_stack_account"), [42_288_874_354, 1]);
    assert_eq!(of("do_task_dead"), [42_288_991_928, 1]);
    assert_eq!(of("psi_group_change"), [42_289_082_366, 3]);
}

#[test]
fn on_another_clock_the_duration_is_exact() {
    let files = Files::new(&[]);
    let file = format!(
        "{}/sample-traces/function-graph.dat",
        env!("CARGO_MANIFEST_DIR")
    );
    let wanted = without_times(returns(&files, &file));
    assert!(wanted.len() > 100);
    let rows = files.table(&["slices", &file]);
    assert_eq!(without_times(calls(&rows)), wanted);
    // The events' clock stands still at times. A call lies in the one around it all the same.
    let span = |row: &serde_json::Value| {
        let begin = row["ts"].as_i64().unwrap();
        row["dur"].as_i64().map(|duration| begin..begin + duration)
    };
    let mut count = 0;
    let by_id: BTreeMap<i64, &serde_json::Value> = rows
        .iter()
        .map(|row| (row["id"].as_i64().unwrap(), row))
        .collect();
    for row in &rows {
        let around = row["parent_id"].as_i64().map(|id| by_id[&id]);
        if let (Some(own), Some(around)) = (span(row), around.and_then(span)) {
            assert!(
                around.start <= own.start && own.end <= around.end,
                "{around:?}: {row}"
            );
            count += 1;
        }
    }
    assert!(count > 8000, "{count}");
}

#[test]
fn what_the_kernel_s_own_text_measured_is_kept_when_it_does_not_fit() {
    // A leaf that is longer than the call around it (its time was cut when printed), and one without a duration.
    let text = "# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n\
        # |     |   |                     |   |   |   |\n \
        0)               |  outer() {\n \
        0)   0.700 us    |    first();\n \
        0) + 12.345 us   |    second();\n \
        0)   9.000 us    |  }\n \
        0) ! 123.456 us  |  alone(); /* = 0x1 */\n \
        0)   1.000 us    |  } /* lost */\n";
    let files = Files::new(&[("graph.txt", text)]);
    let durations = |file: &str| without_times(calls(&files.table(&["slices", file])));
    let wanted = [
        ("alone", 123_456),
        ("first", 700),
        ("lost", 1000),
        ("outer", 9000),
        ("second", 12_345),
    ];
    let wanted: Vec<_> = wanted.map(|(name, ns)| (name.to_owned(), ns)).to_vec();
    assert_eq!(durations("graph.txt"), wanted);
    files.text(&["export", "graph.txt", "-o", "again.fxt"]);
    assert_eq!(durations("again.fxt"), wanted);
    files.text(&["export", "again.fxt", "-o", "third.fxt"]);
    assert_eq!(durations("third.fxt"), wanted);
}

/// Count and sum of noise by kind.
fn noise(rows: &[serde_json::Value]) -> BTreeMap<String, (usize, i64)> {
    let mut found: BTreeMap<String, (usize, i64)> = BTreeMap::new();
    for row in rows {
        let kind = row["category"].as_str().unwrap();
        if kind.ends_with("_noise") {
            let entry = found.entry(kind.to_owned()).or_default();
            entry.0 += 1;
            entry.1 += row["dur"].as_i64().unwrap();
        }
    }
    found
}

#[test]
fn noise_lasts_as_the_tracer_says_on_its_cpu() {
    let files = Files::new(&[]);
    let wanted = BTreeMap::from([
        ("irq_noise".to_owned(), (145, 152_086_248)),
        ("thread_noise".to_owned(), (49, 23_537_130)),
    ]);
    for name in [
        "tracedat/osnoise.dat.zst",
        "ftrace_text/osnoise.report.txt.zst",
    ] {
        let rows = files.table(&["slices", &case(name)]);
        assert_eq!(noise(&rows), wanted, "{name}");
        let first = &rows
            .iter()
            .find(|row| row["name"] == "local_timer:236")
            .unwrap();
        assert_eq!(first["ts"], 89_520_921_872_i64);
        assert_eq!(
            (&first["dur"], &first["track"]),
            (&146_943.into(), &"CPU 0".into())
        );
    }
}

#[test]
fn latencies_are_counters_of_their_cpus() {
    let timerlat = case("ftrace_text/timerlat.report.txt.zst");
    let own = "          <idle>-0     [001] d.h1.    54.029328: #1     context    irq timer_latency       932 ns\n\
               hwlatd-1729  [000] d....   678.473449: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6\n\
               \u{20}  <...>-859   [000] .....    81.637220: 1000000        190  99.98100       9     18      0   1007     18      1\n";
    let files = Files::new(&[("own.txt", own)]);
    let rows = files.table(&["counters", &timerlat]);
    let of = |rows: &[serde_json::Value], track: &str| {
        let rows = rows.iter().filter(|row| row["track"] == track);
        let values = rows.map(|row| (row["cpu"].as_i64(), row["value"].as_f64()));
        values.collect::<Vec<_>>()
    };
    let irq = of(&rows, "timer latency (ns) irq");
    assert_eq!(irq[0], (Some(0), Some(100_979.0)));
    assert!(irq.len() > 100 && !of(&rows, "timer latency (ns) thread").is_empty());
    let rows = files.table(&["counters", "own.txt"]);
    assert_eq!(
        of(&rows, "timer latency (ns) irq"),
        [(Some(1), Some(932.0))]
    );
    let inner = of(&rows, "hardware latency, inner (us)");
    assert_eq!(inner, [(Some(0), Some(11.0))]);
    let noise = of(&rows, "noise in a period (us)");
    assert_eq!(noise, [(Some(0), Some(190.0))]);
}

#[test]
fn an_unresolved_name_of_an_enum_matches_nothing() {
    let files = Files::new(&[]);
    let event = "writeback_mark_inode_dirty: ";
    let states = |text: &str| -> Vec<u64> {
        // The bits of state and flags, by name or by number.
        let bits = |word: &str| {
            word.split('|')
                .filter(|part| !part.is_empty())
                .fold(0, |sum, part| {
                    sum | match part {
                        "I_DIRTY_SYNC" => 0x10,
                        "I_DIRTY_PAGES" => 0x40,
                        number => u64::from_str_radix(number.trim_start_matches("0x"), 16)
                            .unwrap_or(1 << 60),
                    }
                })
        };
        let lines = text.lines().filter(|line| line.contains(event));
        let words = lines.flat_map(|line| {
            let word = |name: &str| line.split(name).nth(1)?.split_whitespace().next();
            let state = line.split("state=").nth(1).unwrap_or("");
            let state = match state.starts_with(' ') {
                true => "",
                false => word("state=").unwrap_or(""),
            };
            [bits(state), bits(word("flags=").unwrap_or(""))]
        });
        words.collect()
    };
    let ours = files.text(&[
        "report",
        &case("tracedat/block-requeue-and-enum-zero.dat.zst"),
    ]);
    let kernels = files.text(&[
        "report",
        &case("ftrace_text/writeback-enum-zero.ftrace.txt.zst"),
    ]);
    assert_eq!(states(&ours).len(), 2 * 803);
    let known = |states: Vec<u64>| -> Vec<(usize, u64)> {
        let states = states.into_iter().enumerate();
        states.filter(|(_, bits)| bits & 1 << 60 == 0).collect()
    };
    let (ours, kernels) = (states(&ours), known(states(&kernels)));
    assert!(kernels.len() > 1000, "{}", kernels.len());
    for (at, bits) in kernels {
        assert_eq!(ours[at], bits, "{at}");
    }
    assert!(ours.contains(&0));
}
