//! ftrace text as the kernel and trace-cmd write it, through the whole program: what is in a line is in the model
//! and in the report.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use threadline::base::Job;
use threadline::event::Value;
use threadline::load::{LoadedTrace, open};
use threadline::query::details::describe;
use threadline::trace::EventId;

fn corpus() -> Option<PathBuf> {
    let root = std::env::var_os("THREADLINE_CORPUS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        PathBuf::from,
    );
    let folder = root.join("tracedat");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no corpus at {}", folder.display());
    None
}

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
    let Some(folder) = corpus() else { return };
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
