//! ftrace text as the kernel and trace-cmd write it, through the whole program: what is in a line is in the model
//! and in the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::corpus::corpus;
use threadline::base::Job;
use threadline::event::Value;
use threadline::load::{LoadedTrace, open};
use threadline::query::Item;
use threadline::query::details::{describe, details};
use threadline::trace::{EventId, GapId};

/// A text in a file of its own.
struct Text(PathBuf);

impl Text {
    fn new(name: &str, text: impl AsRef<[u8]>) -> Text {
        let name = format!("threadline-{name}-{}.txt", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Text(path)
    }

    fn load(&self) -> LoadedTrace {
        open(&self.0, &Job::default()).unwrap()
    }

    fn run(&self, verb: &str, options: &[&str]) -> String {
        run(verb, options, &self.0)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn run(verb: &str, options: &[&str], path: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .arg(verb)
        .args(options)
        .arg(path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{verb} {options:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The values of two fields of all events of each CPU, in their order.
fn flags_of(loaded: &LoadedTrace) -> BTreeMap<u32, Vec<(String, u64, u64)>> {
    let mut found = BTreeMap::<u32, Vec<_>>::new();
    for id in (0..loaded.trace.events.len() as u32).map(EventId) {
        let detail = describe(&loaded.trace, loaded.reader.as_ref(), id);
        let value = |name: &str| {
            let field = detail.fields.iter().find(|field| field.name == name);
            match field.map(|field| &field.value) {
                Some(Value::UInt(value)) => *value,
                other => panic!("{name} is {other:?} in {detail:?}"),
            }
        };
        let row = (
            detail.name.clone(),
            value("common_flags"),
            value("common_preempt_count"),
        );
        found.entry(detail.cpu.unwrap()).or_default().push(row);
    }
    found
}

#[test]
fn flags_of_a_text_are_those_of_the_binary_recording() {
    let folder = corpus("tracedat");
    let mut compared = 0;
    for name in [
        "v7-none-sched",
        "v7-zstd-kprobe-seed-example",
        "v7-zstd-sched-4cpu-hackbench",
        "v7-zstd-multi-instance-clocks",
        "v7-none-missed-events",
        "v7-zstd-extract-sched-irq",
    ] {
        let text = std::fs::read_dir(&folder).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            let file = path.file_name()?.to_str()?.to_owned();
            let is_wanted = ["report33", "ftrace"]
                .iter()
                .any(|kind| file.starts_with(&format!("{name}.{kind}.txt")));
            is_wanted.then_some(path)
        });
        let (path, job) = (text.unwrap(), Job::default());
        let is_kernels = path.to_str().unwrap().contains(".ftrace.txt");
        let text = flags_of(&open(&path, &job).unwrap());
        let binary = flags_of(&open(&folder.join(format!("{name}.dat")), &job).unwrap());
        assert_eq!(
            text.keys().collect::<Vec<_>>(),
            binary.keys().collect::<Vec<_>>()
        );
        for (cpu, rows) in binary {
            let mut binary: Vec<_> = rows
                .into_iter()
                // trace-cmd does not print all bits.
                .map(|row| (row.0, if is_kernels { row.1 } else { row.1 & 0x1d }, row.2))
                .collect();
            let mut text = text[&cpu].clone();
            // Buffers of several instances may stand in another order.
            binary.sort();
            text.sort();
            assert_eq!(text.len(), binary.len(), "{name}");
            for (text, binary) in text.iter().zip(&binary) {
                assert_eq!(text, binary, "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn flags_are_fields_in_expressions() {
    let text = Text::new(
        "flags",
        "# tracer: nop\n#\n          sh-96      [001] .....    69.626109: a: x=1\n          sh-96      [001] d.h31    69.626110: b: x=1\n          sh-96      [001] ..s2.    69.626111: c: x=1\n",
    );
    let names = |filter: &str| -> Vec<String> {
        let found = text.run("search", &["--in", "events", filter]);
        found
            .lines()
            .skip(1)
            .map(|line| {
                let mut words = line.split('\t');
                words
                    .find(|word| ["a", "b", "c"].contains(word))
                    .unwrap()
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(names("common_flags > 0"), ["b", "c"]);
    assert_eq!(names("common_flags & 16"), ["c"]);
    assert_eq!(names("common_preempt_count > 2"), ["b"]);
    assert_eq!(names("common_preempt_count == 19"), ["b"]);
    assert_eq!(names("common_pid == 96 && common_flags == 0"), ["a"]);
    let detail = describe(&text.load().trace, text.load().reader.as_ref(), EventId(1));
    let shown = detail.fields.iter().find(|it| it.name == "common_flags");
    assert_eq!(shown.unwrap().text(), "interrupts off, in hardirq");
}

#[test]
fn the_report_of_a_report_is_the_report() {
    let folder = corpus("tracedat");
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let is_report = [".report.txt", ".report33.txt", ".report-N.txt"]
            .iter()
            .any(|kind| name.contains(kind));
        // A latency report is the kernel's text; hooks stand before the number of CPUs.
        if !is_report || name.contains("latency") || name.contains("hook") {
            continue;
        }
        // The long ones say the same again, and packed ones are many.
        if std::fs::metadata(&path).unwrap().len() > 12_000 {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let wanted = match name.ends_with(".zst") {
            true => zstd::decode_all(&bytes[..]).unwrap(),
            false => bytes,
        };
        let found = run("report", &["-t"], &path);
        assert!(found == String::from_utf8_lossy(&wanted), "{name}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn what_is_in_a_line_is_in_the_report() {
    let text = Text::new(
        "report",
        "# tracer: nop\n#\n\
         \x20         sh-96      (     90) [001] d.h2.    69.626109: sys_read(fd: 3, buf: 0x7f)\n\
         \x20         sh-96      (-------) [001] .....    69.626110: sys_read -> 0x8\n\
         CPU:1 [LOST EVENTS]\n\
         \x20         sh-96      (     90) [001] dNs1.    69.626111: <stack trace>\n => f\n => g\n\
         \x20         sh-96      (     90) [002] .....    69.626112: tracing_mark_write: B|9|draw\n\
         CPU:2 [LOST 7 EVENTS]\n\
         \x20         sh-96      (     90) [002] ...1.    69.626113: vfs_read <-ksys_read\n\
         what a program printed\n",
    );
    let report = "\
cpus=2
              sh-96    (     90) [001] d.h2.    69.626109: sys_enter_read:       fd: 3, buf: 0x7f
              sh-96    (-------) [001] .....    69.626110: sys_exit_read:        0x8
CPU:1 [EVENTS DROPPED]
              sh-96    (     90) [001] dNs1.    69.626111: kernel_stack:         <stack trace>
 => f
 => g
              sh-96    (     90) [002] .....    69.626112: print:                tracing_mark_write: B|9|draw
CPU:2 [7 EVENTS DROPPED]
              sh-96    (     90) [002] ...1.    69.626113: function:             vfs_read <-ksys_read
what a program printed
";
    assert_eq!(text.run("report", &[]), report);
    let only = text.run("report", &["--cpu", "1", "--no-flags", "--from", "1us"]);
    let lines: Vec<&str> = report.lines().collect();
    let wanted = [lines[0], lines[2], lines[3], lines[4], lines[5], lines[6]].join("\n");
    assert_eq!(
        only,
        wanted.replace(" .....", "").replace(" dNs1.", "") + "\n"
    );
    // With a filter: the events alone, each with its stack.
    let found = text.run("report", &["--filter", "common_flags & 16"]);
    assert_eq!(found, lines[4..7].join("\n") + "\n");
    // What the report says can be read again.
    let again = Text::new("report-again", report);
    assert_eq!(again.run("report", &["-t"]), report);
    assert!(
        again
            .run("search", &["--in", "events", "common_flags == 9"])
            .contains("sys_enter_read")
    );
}

#[test]
fn numbers_of_a_counting_clock_stay_numbers() {
    let text = Text::new(
        "counter",
        "# tracer: nop\n#\n          sh-96      [001] d..2.         1234: a: x=1\n          sh-96      [000] .....  4631252878692: b: y=2\n",
    );
    let report = text.run("report", &[]);
    assert_eq!(
        report,
        "cpus=2\n              sh-96    [001] d..2.        1234: a:                    x=1\n              sh-96    [000] .....4631252878692: b:                    y=2\n"
    );
    // As trace-cmd glues them together.
    let again = Text::new("counter-again", &report);
    assert_eq!(again.run("report", &[]), report);
    let filtered = text.run("report", &["--filter", "x == 1"]);
    assert_eq!(filtered, report.lines().nth(1).unwrap().to_owned() + "\n");
    // The latency format has no unit where the clock has none.
    let latency = Text::new(
        "counter-latency",
        "#  cmd pid\n  <idle>-0         1dn.h5..    3: a: x=1\n      sh-9         0d..2.4631252878692: b: y=2\n",
    );
    let report = latency.run("report", &[]);
    assert!(
        report.contains("[001] dn.h5..            3: a:"),
        "{report}"
    );
    assert!(report.contains("[000] d..2.4631252878692: b:"), "{report}");
}

#[test]
fn every_layout_of_trace_cmd_is_read() {
    for (line, wanted) in [
        (
            "  mix.sh-20242   0d..2.  2157.149710121: (+961878) sched_wakeup_new:     mix.sh:20243 [120] CPU:001",
            "          mix.sh-20242 [000] d..2.  2157.149710: (+961878) sched_wakeup_new:     mix.sh:20243 [120] CPU:001",
        ),
        (
            "  mix.sh-20242   0-0x1  2157.149716: sched_wakeup_new:      comm=mix.sh pid=20243 prio=120 target_cpu=001",
            "          mix.sh-20242 [000]-0x1  2157.149716: sched_wakeup_new:      comm=mix.sh pid=20243 prio=120 target_cpu=001",
        ),
        (
            "          mix.sh-22053 [001]4631252923878: (+45)    sched_switch:         mix.sh:22053 [120] R ==> sh:9 [120]",
            "          mix.sh-22053 [001]4631252923878: (+45)    sched_switch:         mix.sh:22053 [120] R ==> sh:9 [120]",
        ),
        (
            "trace-cm-22033   1d..2.4631252923878: sched_switch:         trace-cmd:22033 [120] S ==> mix.sh:22054 [120]",
            "        trace-cm-22033 [001] d..2.4631252923878: sched_switch:         trace-cmd:22033 [120] S ==> mix.sh:22054 [120]",
        ),
        (
            "a.dat:           mix.sh-20242 [000]  2157.148748: x: y=1",
            "a.dat:           mix.sh-20242 [000]  2157.148748: x:                    y=1",
        ),
    ] {
        let text = Text::new("layouts", format!("cpus=2\n{line}\n"));
        assert_eq!(text.run("report", &[]), format!("cpus=2\n{wanted}\n"));
        assert_eq!(text.load().trace.diagnostics.count_of("unknown_line"), 0);
    }
}

/// Start, length, depth, name, tid and track of all slices, sorted by start.
fn slices(text: &Text) -> Vec<String> {
    let table = text.run("table", &["slices"]);
    let rows = table.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        [0, 1, 2, 3, 6, 9].map(|at| cells[at]).join(" ")
    });
    rows.collect()
}

#[test]
fn a_call_whose_entry_was_lost_is_as_long_as_its_return_says() {
    let text = Text::new(
        "lost-entry",
        "# tracer: function_graph\n#\n\
         \x200)   0.500 us    |      leaf_a();\n\
         \x200)   2.000 us    |    } /* inner */\n\
         \x200)   0.500 us    |    leaf_b();\n\
         \x200) + 12.300 us   |  } /* outer = 0x3 */\n\
         \x200)               |  vfs_read() {\n\
         \x200)   0.500 us    |    rw_verify();\n",
    );
    assert_eq!(
        slices(&text),
        [
            "0 500 2 leaf_a \\N CPU 0",
            "0 2000 1 inner \\N CPU 0",
            "0 12300 0 outer \\N CPU 0",
            "2000 500 1 leaf_b \\N CPU 0",
            "12300 \\N 0 vfs_read \\N CPU 0",
            "12300 500 1 rw_verify \\N CPU 0",
        ]
    );
    // What is still open in it when it returns ended at an unknown time.
    let text = Text::new(
        "lost-return",
        "# tracer: function_graph\n#\n\
         \x200)               |    inner() {\n\
         \x200)   5.000 us    |  } /* outer */\n\
         \x200)   1.000 us    |  next();\n",
    );
    assert_eq!(
        slices(&text),
        [
            "0 \\N 1 inner \\N CPU 0",
            "0 5000 0 outer \\N CPU 0",
            "5000 1000 0 next \\N CPU 0",
        ]
    );
    // With times and tasks: from the time of the return back.
    let text = Text::new(
        "lost-entry-times",
        "# tracer: function_graph\n#\n\
         \x20  10.000010 |   1)    sh-97      |  d..1.  |   0.500 us    |    leaf();\n\
         \x20  10.000012 |   1)    sh-97      |  d..1.  |   5.000 us    |  } /* outer */\n\
         \x20  10.000013 |   1)    sh-97      |  .....  |               |  open() {\n",
    );
    assert_eq!(
        slices(&text),
        [
            "10000007000 5000 0 outer 97 sh",
            "10000010000 500 1 leaf 97 sh",
            "10000013000 \\N 0 open 97 sh",
        ]
    );
    assert_eq!(
        text.run("report", &[]).lines().nth(2).unwrap(),
        "              sh-97    [001] d..1.    10.000012: funcgraph_exit:          5.000 us    |  } /* outer */"
    );
    let found = text.run("search", &["--in", "events", "common_preempt_count == 1"]);
    assert_eq!(found.lines().count(), 3);
    // As trace-cmd has it, which does not say the name.
    let text = Text::new(
        "lost-entry-report",
        "cpus=2\n              sh-97    [001]    10.000012000: funcgraph_exit:         5.000 us   |  }\n",
    );
    assert_eq!(slices(&text), ["10000007000 5000 0 (entry lost) 97 sh"]);
}

#[test]
fn a_graph_without_tasks_is_nobodys_until_it_says_who_runs() {
    let text = Text::new(
        "graph-tasks",
        "# tracer: function_graph\n#\n\
         \x200)   1.000 us    |  nobody();\n\
         \x201)   1.000 us    |  before();\n\
         \x20------------------------------------------\n\
         \x201)  bash-96      =>   sh-97  \n\
         \x20------------------------------------------\n\n\
         \x201)   1.000 us    |  after();\n",
    );
    assert_eq!(
        slices(&text),
        [
            "0 1000 0 nobody \\N CPU 0",
            "0 1000 0 before 96 bash",
            "1000 1000 0 after 97 sh",
        ]
    );
    assert!(!text.run("table", &["slices"]).contains("idle"));
}

#[test]
fn losses_without_a_number_are_gaps() {
    let text = Text::new(
        "lost",
        "# tracer: nop\n\
         \x20         sh-96      [002] d.h2.    69.626209: a: x=1\n\
         CPU:2 [LOST EVENTS]\n\
         \x20         sh-96      [002] d.h21    69.627109: a: x=1\n\
         CPU:1 [LOST 4 EVENTS]\n\
         \x20         sh-96      [001] .....    69.628109: a: x=1\n\
         CPU:2 [LOST 3 EVENTS]\n",
    );
    let table = text.run("table", &["gaps"]);
    let rows: Vec<&str> = table.lines().skip(1).map(str::trim_end).collect();
    // No event of CPU 1 comes before its loss, and none of CPU 2 after its second: nobody knows how long these are.
    assert_eq!(
        rows,
        [
            "\\N\t\\N\t4\t1\t\\N\t69628109000",
            "69626209000\t900000\t\\N\t2\t\\N\t69627109000",
            "69627109000\t\\N\t3\t2\t\\N\t\\N",
        ]
    );
    let loaded = text.load();
    let about = |gap: u32| {
        let gap = Item::Gap(GapId(gap));
        details(&loaded.trace, loaded.reader.as_ref(), gap).text()
    };
    assert!(about(0).contains("unknown: before the first event of this CPU"));
    assert!(about(1).contains("900 µs"), "{}", about(1));
    assert!(about(2).contains("unknown: after the last event of this CPU"));
    for gap in [0, 2] {
        let text = about(gap);
        let mut lines = text.lines();
        let duration = lines.find(|line| line.trim_start().starts_with("duration"));
        assert!(
            duration.is_some_and(|line| line.ends_with("unknown")),
            "{text}"
        );
    }
    assert!(
        text.run("info", &[])
            .contains("does not contain their number")
    );
}

#[test]
fn a_graph_of_functions_as_text_is_that_of_the_binary_recording() {
    let folder = corpus("tracedat");
    // v7-zstd-fgraph has lost events: where text does not name a return, nobody knows whose it is.
    for name in ["v6-fgraph", "be-v6-fgraph"] {
        // Both say how long a function ran. When exactly, only the binary file does: the text has the times of the events,
        // which are written a little later. Idle threads are told by their CPU.
        let rows = |path: &Path| -> BTreeMap<String, Vec<[String; 4]>> {
            let table = run("table", &["slices"], path);
            let mut tracks: BTreeMap<String, Vec<[String; 4]>> = BTreeMap::new();
            for line in table.lines().skip(1) {
                let cells: Vec<&str> = line.split('\t').collect();
                let row = [3, 2, 1, 0].map(|at| cells[at].to_owned());
                tracks.entry(cells[9].to_owned()).or_default().push(row);
            }
            tracks
        };
        let mut binary = rows(&folder.join(format!("{name}.dat")));
        let mut text = rows(&folder.join(format!("{name}.report.txt.zst")));
        // Before the end of one thread an interrupt came between a return and its event. Only the binary file says that it
        // came after the call; so what follows lies elsewhere in the text. Names and lengths are the same.
        if name == "v6-fgraph" {
            let calls = |tracks: &mut BTreeMap<String, Vec<[String; 4]>>| {
                let rows = tracks.remove("sleep").unwrap().into_iter();
                let mut calls: Vec<_> = rows.map(|[name, _, length, _]| (name, length)).collect();
                calls.sort();
                calls
            };
            assert_eq!(calls(&mut binary), calls(&mut text));
        }
        let without_start = |tracks: &BTreeMap<String, Vec<[String; 4]>>| {
            let rows = tracks.iter().flat_map(|(track, rows)| {
                let rows = rows.iter();
                rows.map(move |[name, depth, length, _]| format!("{track} {name} {depth} {length}"))
            });
            rows.collect::<Vec<String>>()
        };
        assert_eq!(without_start(&binary), without_start(&text), "{name}");
        let starts = |tracks: &BTreeMap<String, Vec<[String; 4]>>| -> Vec<i64> {
            let rows = tracks.values().flatten();
            rows.map(|row| row[3].parse().unwrap()).collect()
        };
        let binary = starts(&binary);
        for (ours, theirs) in binary.iter().zip(starts(&text)) {
            assert!((ours - theirs).abs() < 20_000, "{name} {ours} {theirs}");
        }
        assert!(binary.len() > 500, "{name}");
    }
}

#[test]
fn probes_are_told_by_their_form_whatever_they_are_called() {
    let text = Text::new(
        "probes",
        "# tracer: nop\n\
         \x20         sh-96      [001] .....    69.000001: sched_wakeup: (do_sys_open+0x0/0xd6) dfd=3 who=\"a b\"\n\
         \x20         sh-96      [001] .....    69.000002: print: (do_sys_open+0x80/0xd6) x=1\n\
         \x20         sh-96      [001] .....    69.000003: sched_switch: (sys_openat+0xc/0xe <- do_sys_open) $retval=0x4\n\
         \x20         sh-96      [001] .....    69.000004: function: (ext4_sync+0x0/0x10 [ext4]) y=2\n\
         \x20         sh-96      [001] .....    69.000005: sys_enter: (syscalls.sys_enter_openat) file=\"x\"\n\
         \x20         sh-96      [001] .....    69.000006: tracing_mark_write: (do_sys_open+0x0/0xd6) said\n",
    );
    let loaded = text.load();
    let codes: Vec<_> = loaded
        .trace
        .diagnostics
        .rows()
        .iter()
        .map(|row| &*row.code)
        .collect();
    assert!(codes.is_empty(), "{codes:?}");
    assert_eq!(slices(&text), ["69000001000 2000 0 do_sys_open 96 sh"]);
    let table = text.run("probes", &[]);
    let rows: Vec<String> = table
        .lines()
        .skip(1)
        .map(|line| line.split('\t').take(4).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "eprobes sys_enter event syscalls/sys_enter_openat",
            "kprobes function entry ext4_sync [ext4]",
            "kprobes print entry do_sys_open+0x80",
            "kprobes sched_switch return do_sys_open",
            "kprobes sched_wakeup entry do_sys_open",
        ]
    );
    for filter in [
        "dfd == 3 && who == \"a b\"",
        "x == 1",
        "$retval == 4",
        "file == \"x\"",
    ] {
        let found = text.run("search", &["--in", "events", "--count", filter]);
        assert_eq!(found.trim(), "1", "{filter}");
    }
}

#[test]
fn a_trace_is_found_behind_other_text() {
    let noise: String = (0..4000)
        .map(|i| format!("[ {i:>4}.000000] usb 1-1: new high-speed USB device number {i}\n"))
        .collect();
    let event = "          sh-96      [001] d..2.         1234: a: x=1\n";
    for behind in [
        format!("#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n{event}{event}{event}"),
        format!("cpus=3\n{event}{event}{event}"),
    ] {
        let text = Text::new("noise", format!("{noise}$ cat trace\n{behind}"));
        let loaded = text.load();
        assert_eq!(loaded.trace.info.format, "ftrace text");
        let found = text.run(
            "search",
            &["--in", "events", "--count", "common_flags == 1"],
        );
        assert_eq!(found.trim(), "3");
    }
    let text = Text::new("no-trace", &noise);
    let error = open(&text.0, &Job::default()).unwrap_err().to_string();
    assert!(error.contains("not a trace"), "{error}");
    let info = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .arg("info")
        .arg(&text.0)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&info.stderr);
    assert!(told.contains("--read-as"), "{told}");
}

#[test]
fn line_ends_zeros_and_consoles_do_no_harm() {
    let text = Text::new(
        "odd-bytes",
        b"# tracer: nop\r\n#\r\n\
          \0\0\0\0          sh-96      [001] d..1.     9.000001: a: x=1\r\n\
          \xff\xfe-7       [001] (   77) d..1.     9.000002: b: y=\xff\r\n\
          Dumping ftrace buffer:\r\n---------------------------------\r\n\
          <4>[   12.345678] [  T123]       sh-96      1d..2. 9000003us : c: z=1\r\n\
          [   12.345678]       sh-96      1d..2. 9000004us : d: z=1\r\n\
          version = 6\r\nCPU 1 is empty\r\ncpus=4\r\n\0\0\0\0",
    );
    let loaded = text.load();
    let names: Vec<String> = (0..loaded.trace.events.len() as u32)
        .map(|id| describe(&loaded.trace, loaded.reader.as_ref(), EventId(id)))
        .map(|detail| format!("{}@{}", detail.name, detail.time.0 / 1000))
        .collect();
    assert_eq!(
        names,
        [
            "a@9000001",
            "b@9000002",
            "line@9000002",
            "c@9000003",
            "d@9000004"
        ]
    );
    assert_eq!(loaded.trace.info.cpu_count, Some(4));
    let found = text.run(
        "search",
        &["--in", "events", "--count", "common_preempt_count == 2"],
    );
    assert_eq!(found.trim(), "2");
    let groups: Vec<u64> = loaded
        .trace
        .processes
        .iter()
        .map(|process| process.pid)
        .collect();
    assert!(groups.contains(&77), "{groups:?}");
}

#[test]
fn tracers_that_print_no_name_have_fields() {
    let text = Text::new(
        "tracers",
        "# tracer: blk\n\
         \x20         dd-96      [001] .....     9.000001:   8,0    D   W 12345 + 8 [dd]\n\
         \x20         dd-96      [001] .....     9.000002: vfs_read(file=0xff, count=512) <-ksys_read (repeats: 4, last_ts: 9.000001)\n\
         \x20         dd-96      [001] .....     9.000003: # 1f buf: 68 65\n\
         \x20         dd-96      [001] .....     9.000004: sys_write(fd: 1, buf: 0x55 \"a, b\", count: 3)\n\
         \x20     <idle>-0       [000] .....     9.000101:   8,0    C   W 12345 + 8 [0]\n",
    );
    for filter in [
        "nr_sector == 8 && action == D",
        "function == vfs_read && caller == ksys_read && count == 4",
        "id == 31",
        "fd == 1 && count == 3",
    ] {
        let found = text.run("search", &["--in", "events", "--count", filter]);
        assert_eq!(found.trim(), "1", "{filter}");
    }
    assert_eq!(slices(&text), ["9000001000 100000 0 W 96 block requests"]);
    assert_eq!(text.load().trace.diagnostics.count_of("unknown_line"), 0);
}

#[test]
fn events_with_forms_of_their_own_feed_the_same_slices_and_counters() {
    let text = Text::new(
        "forms",
        "# tracer: nop\n\
         \x20         kw-96      [001] .....     9.000001: workqueue_execute_start: work struct 00abc: function vmstat_update\n\
         \x20         kw-96      [001] .....     9.000002: workqueue_execute_end: work struct 00abc: function vmstat_update\n\
         \x20         kw-96      [001] .....     9.000003: ipi_entry: (Rescheduling interrupts)\n\
         \x20         kw-96      [001] .....     9.000004: ipi_exit: (Rescheduling interrupts)\n\
         \x20         kw-96      [001] .....     9.000005: tasklet_entry: tasklet=00abc function=do_it\n\
         \x20         kw-96      [001] .....     9.000006: tasklet_exit: tasklet=00abc function=do_it\n\
         \x20         kw-96      [001] .....     9.000007: device_pm_callback_start: usb 1-1, parent: usb1, driver [suspend]\n\
         \x20         kw-96      [001] .....     9.000008: device_pm_callback_end: usb 1-1, err=0\n\
         \x20         kw-96      [001] .....     9.000009: clk_set_rate: osc 24000000\n\
         \x20         kw-96      [001] .....     9.000010: cpu_frequency_limits: min=1 max=2000 cpu_id=1\n\
         \x20         kw-96      [001] .....     9.000011: global_dirty_state: dirty=23963 writeback=0 bg_thresh=5\n\
         \x20         kw-96      [001] .....     9.000012: softirq_raise: vec=1 [action=TIMER]\n\
         \x20         kw-96      [001] .....     9.000013: ext4_da_write_begin: dev 8,1 ino 12 pos 0 len 5\n",
    );
    let names: Vec<String> = slices(&text)
        .iter()
        .map(|row| row.split(' ').skip(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        names,
        [
            "vmstat_update 96 kw",
            "Rescheduling interrupts 96 CPU 1",
            "do_it 96 CPU 1",
            "1-1 96 kw",
        ]
    );
    let counters = text.run("table", &["counters"]);
    let counters: Vec<String> = counters
        .lines()
        .skip(1)
        .map(|line| {
            line.split('\t')
                .skip(1)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect();
    assert_eq!(
        counters,
        [
            "clock osc 24000000",
            "max frequency (kHz) 2000",
            "dirty pages 23963"
        ]
    );
    for filter in [
        "vec == 1",
        "ino == 12 && len == 5",
        "rate > 0",
        "event == suspend",
    ] {
        let found = text.run("search", &["--in", "events", "--count", filter]);
        assert_eq!(found.trim(), "1", "{filter}");
    }
    let codes = text.load().trace.diagnostics.rows().len();
    assert_eq!(codes, 0);
}

#[test]
fn a_text_without_a_line_of_an_event_has_no_cpu() {
    let header = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:4\n#\n";
    let text = Text::new("no-event", header);
    let loaded = text.load();
    assert_eq!(loaded.trace.events.len(), 0);
    assert!(loaded.trace.cpus.is_empty());
    let info = text.run("info", &["--json"]);
    assert!(info.contains("\"cpus\": 0"), "{info}");
    // One line is enough.
    let line = format!("{header}          sh-7     [002] .....     1.000000: sched_yield: x\n");
    let text = Text::new("one-event", line);
    let cpus: Vec<u32> = text.load().trace.cpus.iter().map(|it| it.number).collect();
    assert_eq!(cpus, [2]);
}

#[test]
fn priorities_below_zero_are_read_where_fields_are_shown_raw() {
    let text = "\
# tracer: nop
#
           rustc-27231   [000] d..2.  2567.197096: sched_switch: prev_comm=rustc prev_pid=0x6a5f (27231) prev_prio=0x78 (120) prev_state=0x0 (0) next_comm=dl next_pid=0x6a65 (27237) next_prio=0xffffffff (-1)
              dl-27237   [000] d..2.  2567.197412: sched_switch: prev_comm=dl prev_pid=0x6a65 (27237) prev_prio=0xffffffff (-1) prev_state=0x0 (0) next_comm=rustc next_pid=0x6a5f (27231) next_prio=0x78 (120)
";
    let trace = Text::new("raw-priorities", text);
    let runs = trace.run("table", &["runs", "--format", "csv"]);
    assert!(runs.contains("2567197096000,316000,0,"), "{runs}");
    assert!(runs.contains(",dl,-1,"), "{runs}");
}

#[test]
fn marks_in_the_latency_format_neither_hide_events_nor_make_them() {
    let verbose = "\
# tracer: nop
#
         python3   27171   1 0 00000001 0000000b [99041f24] 2567184.164ms (+0.001ms): tracing_mark_write: a         python3   27171   1 0 00000001 0000000c [99041f25] 2567184.165ms (+0.001ms): tracing_mark_write: 
         python3   27171   1 0 00000001 0000000d [99041f26] 2567184.166ms (+0.001ms): tracing_mark_write: b
";
    let events = |text: &Text| {
        let rows = text.run("table", &["events", "--format", "csv"]);
        rows.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let verbose = Text::new("verbose-marks", verbose);
    let times: Vec<String> = (events(&verbose).iter())
        .map(|row| row[..13].to_owned())
        .collect();
    assert_eq!(times, ["2567184164000", "2567184165000", "2567184166000"]);
    let latency = "\
# tracer: nop
#
 python3-27171     1...1. 2567184141us : tracing_mark_write: plain
 python3-27171     1...1. 2567184167us : tracing_mark_write:   python3-1   [000] ..... 12.5: sched_switch: x
";
    let latency = Text::new("latency-marks", latency);
    let rows = events(&latency);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.iter().all(|row| row.starts_with("25671841")),
        "{rows:?}"
    );
}
