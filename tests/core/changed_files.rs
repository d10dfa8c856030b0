//! Files that change under a verb, inputs without end, and memory limits: no wrong answer leaves without a word.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use threadline::base::Job;
use threadline::export::{self, ExportError, Overwrite, Selection};
use threadline::load;

/// An strace text of `lines` calls, 1 MB from 20,000 on: such files are mapped.
fn calls(from: usize, lines: usize) -> String {
    let mut text = String::new();
    for line in from..from + lines {
        writeln!(
            text,
            "7 {}.{:06} write(1, \"some text {line}\"..., 100) = 100 <0.000001>",
            1_000 + line / 1_000,
            line % 1_000 * 1_000
        )
        .unwrap();
    }
    text
}

const LINES: usize = 30_000;

/// Sets a file's modification time to an hour ago: the next write changes it, however coarse the file system's clock is.
fn backdate(path: &Path) {
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(an_hour_ago).unwrap();
}

fn trace(folder: &Path) -> PathBuf {
    let path = folder.join("a.strace");
    std::fs::write(&path, calls(0, LINES)).unwrap();
    backdate(&path);
    path
}

fn start(arguments: &[&str], path: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(arguments)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a verb that prints more than a pipe holds, does `change` to the file once it has begun to print, and lets it go on.
fn printed_while(arguments: &[&str], change: impl FnOnce(&Path)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    let mut child = start(arguments, &path);
    let mut head = vec![0; 1000];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut head)
        .unwrap();
    change(&path);
    let mut output = child.wait_with_output().unwrap();
    head.append(&mut output.stdout);
    output.stdout = head;
    output
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const PRINTING: &[&[&str]] = &[&["report"], &["table", "events"], &["export", "-o", "-"]];

/// A trace with so many names that their comparison is more than a pipe holds.
fn named(folder: &Path) -> PathBuf {
    let path = folder.join("named.strace");
    let line = |at: usize| {
        format!(
            "7 {}.{:06} call_{at}(1) = 0 <0.000001>\n",
            1_000 + at / 1_000,
            at % 1_000 * 1_000
        )
    };
    std::fs::write(&path, (0..LINES).map(line).collect::<String>()).unwrap();
    path
}

#[test]
fn a_comparison_of_a_file_that_is_cut_short_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = named(folder.path());
    let whole = folder.path().join("whole.strace");
    std::fs::copy(&path, &whole).unwrap();
    for files in [[&path, &whole], [&whole, &path]] {
        std::fs::copy(&whole, &path).unwrap();
        backdate(&path);
        let mut child = start(&["compare", files[0].to_str().unwrap()], files[1]);
        let mut head = vec![0; 1000];
        (child.stdout.as_mut().unwrap().read_exact(&mut head)).unwrap();
        let file = OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(100_000).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        assert!(words(&output).contains("cut short"), "{}", words(&output));
    }
}

#[test]
fn files_of_definitions_without_end_are_refused() {
    for option in ["--definitions", "--profile"] {
        let child = start(&["probes", option], Path::new("/dev/zero"));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{option}");
        assert!(words(&output).contains("at most"), "{}", words(&output));
    }
}

#[test]
fn a_file_cut_short_while_a_verb_prints_is_an_error() {
    for verb in PRINTING {
        let output = printed_while(verb, |path| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(100_000).unwrap();
        });
        assert_eq!(output.status.code(), Some(1), "{verb:?}");
        assert!(words(&output).contains("cut short"), "{}", words(&output));
    }
}

#[test]
fn an_event_whose_line_was_cut_away_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    let loaded = load::open(&path, &Job::default()).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(100_000).unwrap();
    let events = &loaded.trace.events;
    let texts: Vec<String> = events
        .from_rank(0)
        .step_by(7)
        .map(|id| loaded.reader.describe(events.get(id).into()).text)
        .collect();
    assert!(texts[0].contains("some text 0"), "{}", texts[0]);
    assert_eq!(*texts.last().unwrap(), "this line cannot be read any more");
    assert!(texts.iter().all(|text| text.len() < 4096));
}

#[test]
fn a_file_written_over_while_a_verb_prints_is_an_error() {
    for verb in PRINTING {
        let output = printed_while(verb, |path| {
            let mut file = OpenOptions::new().write(true).open(path).unwrap();
            file.seek(SeekFrom::Start(900_000)).unwrap();
            file.write_all(b"other bytes").unwrap();
        });
        assert_eq!(output.status.code(), Some(1), "{verb:?}");
        assert!(
            words(&output).contains("written over"),
            "{}",
            words(&output)
        );
    }
}

#[test]
fn a_file_that_grows_is_used_as_long_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    for verb in PRINTING {
        let expected = start(verb, &path).wait_with_output().unwrap();
        let output = printed_while(verb, |path| {
            let mut file = OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(calls(LINES, 500).as_bytes()).unwrap();
        });
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert!(output.stdout == expected.stdout, "{verb:?}");
        assert!(words(&output).contains("grew"), "{}", words(&output));
    }
}

#[test]
fn a_file_that_is_replaced_by_another_is_still_the_one_that_was_opened() {
    let output = printed_while(&["report"], |path| {
        let other = path.with_extension("other");
        std::fs::write(&other, "no trace").unwrap();
        std::fs::rename(&other, path).unwrap();
    });
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert_eq!(words(&output), "");
}

#[test]
fn an_export_of_a_changed_file_keeps_the_old_target() {
    let folder = tempfile::tempdir().unwrap();
    let path = trace(folder.path());
    let loaded = load::open(&path, &Job::default()).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(500_000).unwrap();
    for exporter in export::EXPORTERS {
        let target = folder.path().join("target");
        std::fs::write(&target, "as it was").unwrap();
        let selection = Selection::range(threadline::base::TimeSpan::ALL);
        let job = Job::default();
        match export::run(
            exporter,
            &loaded,
            &selection,
            &target,
            Overwrite::Replace,
            &job,
        ) {
            Err(ExportError::InputChanged { .. } | ExportError::Nothing(_)) => {}
            other => panic!("{}: {other:?}", exporter.name),
        }
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "as it was");
    }
}

/// Runs `info` on a stream that goes on until nobody reads it. How many bytes were written, and what came out.
fn info_of_endless(piece: &[u8], options: &[&str]) -> (usize, Output) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .arg("info")
        .args(options)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut written = 0;
    while input.write_all(piece).is_ok() {
        written += piece.len();
        assert!(written < 2 << 30, "it reads on and on");
    }
    (written, child.wait_with_output().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn endless_input_that_is_no_trace_is_refused_after_its_head() {
    let output = start(&["info"], Path::new("/dev/zero"))
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("not a trace"), "{}", words(&output));
    let (written, output) = info_of_endless(&b"y\n".repeat(5_000), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(written < 8 << 20, "{written}");
    // Blank lines are of many texts, and of none.
    let (written, output) = info_of_endless(&b"\n".repeat(5_000), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(written < 8 << 20, "{written}");
}

#[test]
#[cfg(target_os = "linux")]
fn endless_compressed_input_is_unpacked_while_it_is_read() {
    // Members and frames in a row are one file.
    let packed = |text: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        [gzip.finish().unwrap(), zstd::encode_all(text, 1).unwrap()]
    };
    for piece in packed(&vec![0; 1 << 20]) {
        let (written, output) = info_of_endless(&piece, &[]);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        assert!(words(&output).contains("not a trace"), "{}", words(&output));
        assert!(written < 1 << 20, "{written}");
    }
    for piece in packed(calls(0, 1_000).as_bytes()) {
        let (written, output) = info_of_endless(&piece, &["--memory", "80M"]);
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert!(written < 20 << 20, "{written}");
        let words = words(&output);
        assert!(
            words.contains("unpacked bytes were read: the memory limit"),
            "{words}"
        );
        // Whole, the same is read to its end, and a damaged one up to the damage.
        let whole = of_stream(&piece.repeat(3));
        assert_eq!(whole.status.code(), Some(0));
        let text = String::from_utf8_lossy(&whole.stdout).into_owned();
        assert!(text.contains("events           3000\n"), "{text}");
        let cut = of_stream(&piece.repeat(2)[..piece.len() * 3 / 2]);
        let words = String::from_utf8_lossy(&cut.stderr).into_owned();
        assert!(words.contains("it ends there too early"), "{words}");
    }
}

/// Runs `info` on a stream of these bytes.
#[cfg(target_os = "linux")]
fn of_stream(bytes: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn endless_zeros_and_random_bytes_are_of_no_format() {
    // xorshift: the same bytes in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let random: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
    .take(9 << 20)
    .flat_map(u64::to_le_bytes)
    .collect();
    for name in threadline::formats::FORMATS
        .iter()
        .map(|format| format.name)
    {
        for piece in [&vec![0_u8; 1 << 20], &random] {
            let (written, output) = info_of_endless(piece, &["--read-as", name]);
            assert_eq!(output.status.code(), Some(1), "{name}: {}", words(&output));
            let is_refused = words(&output).contains("nothing in the first 64 MB looks like");
            assert!(is_refused, "{name}: {}", words(&output));
            assert!(written <= 72 << 20, "{name}: {written}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn endless_input_without_a_line_of_the_named_format_is_refused() {
    let text = [&b"y".repeat(100)[..], b"\n"].concat().repeat(100);
    for name in ["strace", "ftrace text", "etrace"] {
        let (written, output) = info_of_endless(&text, &["--read-as", name]);
        assert_eq!(output.status.code(), Some(1), "{}", words(&output));
        let expected = format!("nothing in the first 64 MB looks like {name}");
        assert!(words(&output).contains(&expected), "{}", words(&output));
        // The place is where reading stopped: a piece of the pipe after the 64 MB at most.
        assert!(
            words(&output).contains("at byte 0x400"),
            "{}",
            words(&output)
        );
        assert!(written < 72 << 20, "{written}");
    }
    let limited = ["--read-as", "strace", "--memory", "80M"];
    let (_, output) = info_of_endless(&text, &limited);
    assert_eq!(output.status.code(), Some(1), "{}", words(&output));
    assert!(
        words(&output).contains(" MB looks like strace"),
        "{}",
        words(&output)
    );
    // A format that is found late is read as long as there is room.
    let late = [
        [&b"y".repeat(200)[..], b"\n"].concat().repeat(30_000),
        calls(0, 1_000).repeat(64).into_bytes(),
    ]
    .concat();
    let (written, output) = info_of_endless(&late, &limited);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(written < 40 << 20, "{written}");
    assert!(
        words(&output).contains("memory limit"),
        "{}",
        words(&output)
    );
}

#[test]
#[cfg(target_os = "linux")]
fn an_endless_trace_is_read_as_far_as_the_memory_limit_leaves_room() {
    let (written, output) = info_of_endless(calls(0, 1_000).as_bytes(), &["--memory", "80M"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    assert!(written > 4 << 20 && written < 40 << 20, "{written}");
    assert!(
        words(&output).contains("memory limit"),
        "{}",
        words(&output)
    );
}

#[test]
#[cfg(target_os = "linux")]
fn what_unpacks_to_more_than_the_memory_limit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.strace.zst");
    let text = calls(0, 1_000).repeat(1_500);
    std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let output = start(&["info", "--memory", "30M"], &path)
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        words(&output).contains("MB of memory"),
        "{}",
        words(&output)
    );
    let output = start(&["info", "--memory", "30X"], &path)
        .wait_with_output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
