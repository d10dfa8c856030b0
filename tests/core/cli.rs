//! The command line as scripts see it: contracts of DESIGN.md part 6, run on the built program.

use crate::program::{run, stdout};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("sample-traces")
        .join(name)
}

fn path(name: &str) -> String {
    sample(name).to_string_lossy().into_owned()
}

#[test]
fn info_is_one_object_with_all_its_keys() {
    let info: serde_json::Value = serde_json::from_str(&stdout(&[
        "info",
        "--json",
        &path("sched-irq-syscalls.dat"),
    ]))
    .unwrap();
    for key in [
        "format",
        "start_ns",
        "end_ns",
        "events",
        "lost_events",
        "cpus",
        "processes",
        "threads",
        "slices",
        "instants",
        "counter_tracks",
        "counter_samples",
        "flows",
        "runs",
        "states",
        "diagnostics",
        "timings_ms",
        "memory_bytes",
    ] {
        assert!(!info[key].is_null(), "{key} is missing");
    }
    assert_eq!(info["format"], "trace.dat 7");
    assert_eq!(info["events"], 9113);
    assert_eq!(info["cpus"], 2);
    assert!(info["timings_ms"]["coarse"].is_number() && info["timings_ms"]["full"].is_number());
    for diagnostic in info["diagnostics"].as_array().unwrap() {
        for key in ["severity", "code", "count", "message"] {
            assert!(!diagnostic[key].is_null(), "{key} of {diagnostic}");
        }
    }
}

#[test]
fn info_of_several_files_names_one_and_counts_the_others() {
    let both = ["block-ext4.dat", "sched-irq-syscalls.dat"];
    let sizes = both.map(|name| sample(name).metadata().unwrap().len());
    let info = stdout(&["info", &path(both[0]), &path(both[1])]);
    let told = format!(
        "{} and 1 more ({} bytes)",
        path(both[0]),
        sizes[0] + sizes[1]
    );
    assert!(info.contains(&told), "{info}");
}

#[test]
fn a_text_without_flags_is_said_not_to_tell_of_interrupts() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/ftrace_text");
    for (name, count) in [("wakeup-without-flags", 3), ("two-flushes", 0)] {
        let file = format!("{folder}/{name}.ftrace");
        let info = stdout(&["info", "--json", &file]);
        let info: serde_json::Value = serde_json::from_str(&info).unwrap();
        let all = info["diagnostics"].as_array().unwrap().iter();
        let found = all.filter(|it| it["code"] == "wakeup_without_flags");
        let found: u64 = found.map(|it| it["count"].as_u64().unwrap()).sum();
        assert_eq!(found, count, "{name}");
    }
}

#[test]
fn tables_have_their_columns_and_exact_numbers() {
    for (table, columns) in [
        (
            "slices",
            "ts\tdur\tdepth\tname\tcategory\tpid\ttid\tprocess\tthread\ttrack",
        ),
        ("instants", "ts\tname\tcategory\tpid\ttid"),
        ("counters", "ts\ttrack\tvalue\tpid"),
        ("flows", "id\tname\tfrom_ts\tfrom_tid\tto_ts\tto_tid"),
        (
            "runs",
            "ts\tdur\tcpu\tpid\ttid\tthread\tpriority\tend_state",
        ),
        ("states", "ts\tdur\tstate\ttid\tthread\twaker_tid"),
        (
            "processes",
            "id\tkey\tpid\tparent_id\tname\tstart\tend\texit_status\texecs\topens\targs",
        ),
        ("threads", "id\tkey\ttid\tpid\tname"),
        ("files", "ts\tpid\tpath\tmode\tfd\tresult"),
        ("events", "ts\tcpu\ttid\tname"),
        ("logs", "ts\tseverity\tpid\ttid\tmessage"),
        ("diagnostics", "severity\tcode\tcount\tplace\tmessage"),
        ("probes", "group\tevent\tsort\tplace\targuments\thits"),
        ("gaps", "ts\tdur\tlost\tcpu\tfile"),
        ("sources", "file\tformat\toffset\tplaced_by\twhy"),
    ] {
        let text = stdout(&["table", table, &path("kprobe-hackbench.dat")]);
        assert!(
            text.starts_with(columns),
            "{table}: {}",
            text.lines().next().unwrap_or_default()
        );
    }
    let slices = stdout(&["table", "slices", &path("kprobe-hackbench.dat")]);
    assert_eq!(
        slices.lines().count(),
        1 + 172,
        "each entry of the probe has found its return"
    );
    let times: Vec<i64> = slices
        .lines()
        .skip(1)
        .map(|line| line.split('\t').next().unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted());
    let json: serde_json::Value = serde_json::from_str(&stdout(&[
        "table",
        "runs",
        &path("kprobe-hackbench.dat"),
        "--format",
        "json",
    ]))
    .unwrap();
    assert_eq!(json.as_array().unwrap().len(), 68);
}

#[test]
fn tables_are_listed_with_the_commands_that_print_them() {
    let list = stdout(&["table"]);
    let rows: Vec<Vec<&str>> = list.lines().map(|it| it.split('\t').collect()).collect();
    assert_eq!(rows[0], ["name", "title", "about", "command"]);
    let command = |name: &str| rows.iter().find(|row| row[0] == name).unwrap()[3];
    assert_eq!(command("slices"), "threadline table slices FILE");
    assert_eq!(command("matches"), "threadline search EXPR FILE");
    let help = stdout(&["table", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for row in &rows[1..] {
        assert!(help.contains(&format!("{}: {}", row[1], row[2])), "{row:?}");
    }
    // A table that answers a question names the command that asks it.
    let output = run(&["table", "wakeup_chain", &path("kprobe-hackbench.dat")]);
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        words.contains("threadline chain --thread TID --at T"),
        "{words}"
    );
    let probes = path("kprobe-hackbench.dat");
    assert_eq!(
        stdout(&["table", "probes", &probes]),
        stdout(&["probes", &probes])
    );
}

#[test]
fn a_range_of_time_holds_what_meets_it() {
    let file = path("sched-irq-syscalls.dat");
    let all = stdout(&["table", "events", &file]).lines().count() - 1;
    let first = stdout(&["table", "events", &file, "--until", "100ms"])
        .lines()
        .count()
        - 1;
    let rest = stdout(&["table", "events", &file, "--from", "100ms"])
        .lines()
        .count()
        - 1;
    assert!(first > 0 && rest > 0);
    assert_eq!(first + rest, all);
}

#[test]
fn a_report_has_a_line_an_event_and_nothing_that_a_terminal_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.fxt");
    let name = u64::from_le_bytes(*b"a\n\x1b[31mb");
    let thread = u64::from_le_bytes(*b"th\nr\x1b\0\0\0");
    let words = [
        0x0016_5478_4604_0010,
        // An instant of thread 11, and the thread's name.
        4 | 5 << 4 | 0x8008 << 48,
        10,
        1,
        11,
        name,
        7 | 3 << 4 | 2 << 16 | 0x8005 << 24,
        11,
        thread,
    ];
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word: &u64| word.to_le_bytes())
        .collect();
    std::fs::write(&path, bytes).unwrap();
    let text = stdout(&["report", &path.to_string_lossy()]);
    assert_eq!(text.lines().count(), 1, "{text:?}");
    assert!(!text.contains('\x1b'), "{text:?}");
    assert!(text.contains(r"a\n\x1b[31mb"), "{text:?}");
}

#[test]
fn a_report_goes_to_stdout_and_reads_stdin() {
    let file = path("kprobe-hackbench.dat");
    let text = stdout(&["report", "-t", &file]);
    assert!(
        text.starts_with("cpus=4\n"),
        "{}",
        text.lines().next().unwrap_or_default()
    );
    let mut child = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["report", "-t", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let bytes = std::fs::read(sample("kprobe-hackbench.dat")).unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
}

#[test]
fn exit_codes_tell_input_from_usage() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.dat");
    std::fs::write(&empty, b"").unwrap();
    let prose = folder.path().join("prose.txt");
    std::fs::write(&prose, b"It was a dark and stormy night.\n").unwrap();
    for (arguments, code, words) in [
        (vec!["info", "/no/such/file"], 1, "no such file"),
        (vec!["info", folder.path().to_str().unwrap()], 1, "folder"),
        (vec!["info", empty.to_str().unwrap()], 1, "empty"),
        (
            vec!["info", prose.to_str().unwrap()],
            1,
            "not a trace that Threadline can read",
        ),
        (vec!["table", "nonsense", "x"], 2, "nonsense"),
        (vec!["info"], 2, "FILE"),
        (vec!["table", "runs", "x", "--from", "soon"], 2, "1.5s"),
    ] {
        let output = run(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert!(stdout(&["help"]).contains("report"));
    assert!(stdout(&["formats"]).contains("trace.dat"));
}

#[test]
fn an_export_can_be_narrowed_to_tracks_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("one.csv");
    let (trace, out) = (path("kprobe-hackbench.dat"), out.to_str().unwrap());
    stdout(&["export", &trace, "-o", out, "--track", "hackbench"]);
    let text = std::fs::read_to_string(out).unwrap();
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let thread = columns.iter().position(|name| *name == "thread").unwrap();
    let threads: Vec<&str> = lines
        .map(|line| line.split(',').nth(thread).unwrap())
        .collect();
    assert!(threads.len() > 10 && threads.iter().all(|name| *name == "hackbench"));
    let output = run(&[
        "export",
        &trace,
        "-o",
        out,
        "-f",
        "--track",
        "no such track",
    ]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn blobs_are_listed_and_saved() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/fxt/log_and_large.fxt"
    );
    let table = stdout(&["table", "blobs", file]);
    let mut lines = table.lines();
    assert_eq!(
        lines.next().unwrap(),
        "number\tts\tname\tcategory\ttype\tbytes"
    );
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    assert!(!rows.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("blob");
    for row in rows {
        stdout(&["blob", row[0], file, "-f", "-o", out.to_str().unwrap()]);
        let size = std::fs::metadata(&out).unwrap().len();
        assert_eq!(row[5], size.to_string());
    }
    let out = out.to_str().unwrap();
    assert_eq!(run(&["blob", "99", file, "-o", out]).status.code(), Some(2));
    assert_eq!(run(&["blob", "0", file, "-o", out]).status.code(), Some(1));
}

#[test]
fn a_wrapped_file_is_read_like_the_plain_one() {
    use flate2::write::GzEncoder;
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(sample("kprobe-hackbench.dat")).unwrap();
    let plain = stdout(&["table", "slices", &path("kprobe-hackbench.dat")]);
    let gz = folder.path().join("a.dat.gz");
    let mut encoder = GzEncoder::new(
        std::fs::File::create(&gz).unwrap(),
        flate2::Compression::fast(),
    );
    encoder.write_all(&bytes).unwrap();
    encoder.finish().unwrap();
    let zst = folder.path().join("a.dat.zst");
    std::fs::write(&zst, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    for file in [gz, zst] {
        assert_eq!(
            stdout(&["table", "slices", file.to_str().unwrap()]),
            plain,
            "{}",
            file.display()
        );
    }
}

#[test]
fn cut_packed_files_open_with_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let line = |at: u32| {
        format!(
            "7 1700000000.{at:06} write(1, \"{at}\", {}) = {at}\n",
            at * 7
        )
    };
    let text: String = (1..20_000).map(line).collect();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(text.as_bytes()).unwrap();
    for (ending, packed) in [
        ("gz", gz.finish().unwrap()),
        ("lz4", lz4.finish().unwrap()),
        ("zst", zstd::encode_all(text.as_bytes(), 1).unwrap()),
    ] {
        let file = folder.path().join(format!("a.strace.{ending}"));
        let file_name = file.to_str().unwrap();
        for tenths in [3, 6, 9] {
            let cut = packed.len() * tenths / 10;
            std::fs::write(&file, &packed[..cut]).unwrap();
            let output = run(&["table", "events", file_name]);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{said}");
            let rows = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
            assert!(
                rows > 2_000 * (tenths - 2) && rows < 40_000,
                "{ending} {rows}"
            );
            assert!(said.contains(&format!("its byte {cut} of {cut}")), "{said}");
            let table = stdout(&["table", "diagnostics", file_name]);
            assert!(table.contains("data_loss\tunpacking_stopped"), "{table}");
        }
        std::fs::write(&file, &packed[..8]).unwrap();
        assert_ne!(run(&["table", "events", file_name]).status.code(), Some(0));
    }
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_is_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let pictures: Vec<Vec<u8>> = ["a.png", "b.png"]
        .iter()
        .map(|name| {
            let out = folder.path().join(name);
            stdout(&[
                "render",
                &path("kprobe-hackbench.dat"),
                "-o",
                out.to_str().unwrap(),
                "--size",
                "640x360",
            ]);
            std::fs::read(out).unwrap()
        })
        .collect();
    assert!(pictures[0].starts_with(b"\x89PNG"));
    assert!(
        pictures[0] == pictures[1],
        "two pictures of one trace differ"
    );
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_shows_what_is_selected_and_what_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |name: &str, options: &[&str]| {
        let out = folder.path().join(name);
        let mut arguments = vec!["render", "--size", "900x400", "-o", out.to_str().unwrap()];
        let trace = path("kprobe-hackbench.dat");
        arguments.push(&trace);
        arguments.extend(options);
        let answer = run(&arguments);
        (answer.status.code(), std::fs::read(out).ok())
    };
    let plain = draw("plain.png", &["--pane", "details"]);
    let selected = draw(
        "selected.png",
        &["--pane", "details", "--select", "name == \"read_in\""],
    );
    let found = draw("found.png", &["--find", "read_in", "--pane", "details"]);
    let several = draw("several.png", &["--pane", "details", "--pane", "events"]);
    for (code, picture) in [&plain, &selected, &found, &several] {
        assert_eq!(*code, Some(0));
        assert!(picture.is_some());
    }
    assert!(plain.1 != selected.1 && plain.1 != found.1 && plain.1 != several.1);
    for wrong in ["dur >", "name == \"nobody is called so\""] {
        let (code, picture) = draw("none.png", &["--select", wrong]);
        assert_eq!((code, picture), (Some(2), None), "{wrong}");
    }
}

#[cfg(feature = "gui")]
#[test]
fn render_draws_what_a_session_names() {
    let folder = tempfile::tempdir().unwrap();
    let trace = path("sched-irq-syscalls.dat");
    let session = |plots: &str| {
        let words = format!(
            r#"{{"traces": [{trace:?}], "layout": {{"plots": [{plots}]}}, "marks": [null, null]}}"#
        );
        let file = folder.path().join("kept.threadline");
        std::fs::write(&file, words).unwrap();
        let out = folder.path().join("out.png");
        let answer = run(&[
            "render",
            file.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ]);
        assert_eq!(answer.status.code(), Some(0), "{answer:?}");
        std::fs::read(out).unwrap()
    };
    let plain = session("");
    let plotted = session(r#"{"filter": "sched_switch", "field": "next_prio"}"#);
    assert!(plain.starts_with(b"\x89PNG") && plain != plotted);
}

#[cfg(feature = "gui")]
#[test]
fn render_does_commands_and_opens_links() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let draw = |options: &[&str]| {
        let mut arguments = vec!["render", "--size", "900x400", "-o", out.to_str().unwrap()];
        arguments.extend(options);
        let answer = run(&arguments);
        let words = String::from_utf8_lossy(&answer.stderr).into_owned();
        (answer.status.code(), words, std::fs::read(&out).ok())
    };
    let trace = path("kprobe-hackbench.dat");
    let (_, _, plain) = draw(&[&trace]);
    let (code, _, folded) = draw(&[&trace, "--do", "Fold all"]);
    assert!(code == Some(0) && folded != plain);
    let (code, words, _) = draw(&[&trace, "--do", "Fold"]);
    assert!(code == Some(2) && words.contains("'Fold all'"), "{words}");
    let (code, words, _) = draw(&[&trace, "--do", "Go to a time: noon"]);
    assert!(
        code == Some(2) && words.contains("expected a time"),
        "{words}"
    );
    let link = format!("threadline:?file={trace}&view=36185724127..36187865250");
    let (code, _, linked) = draw(&[&link]);
    assert!(code == Some(0) && linked != plain);
}

#[cfg(feature = "gui")]
#[test]
fn render_writes_svg_with_text_as_text() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.svg");
    let trace = path("sched-irq-syscalls.dat");
    let answer = run(&[
        "render",
        &trace,
        "-o",
        out.to_str().unwrap(),
        "--pane",
        "info",
    ]);
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    let svg = std::fs::read_to_string(&out).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    for words in [
        ">CPU 0<",
        ">mix.sh<",
        ">Diagnostics<",
        ">sched-irq-syscalls.dat<",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    // Every element that is opened is closed, and nothing is no number.
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    assert_eq!(
        svg.matches("<text ").count(),
        svg.matches("</text>").count()
    );
    assert!(!svg.contains("NaN") && !svg.contains("\"inf"));
    let bars = svg.matches("<path ").count() + svg.matches("<rect ").count();
    assert!(bars > 100, "{bars} shapes");
}
