//! A trace that is opened from its model file is the same as one that is read, and a model file that does not fit is not
//! used.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use threadline::tables::TABLES;

/// A cache folder of its own for each test.
struct Cache(tempfile::TempDir);

impl Cache {
    fn new() -> Cache {
        Cache(tempfile::tempdir().unwrap())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_threadline"));
        command
            .env("XDG_CACHE_HOME", self.0.path())
            // Small traces load in less than a second.
            .env("THREADLINE_KEEP_FROM_MS", "0")
            .args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The program's output, which must succeed.
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A copy of a sample: other tests may change the times of the sample.
    fn sample(&self, name: &str) -> String {
        let sample = format!("{}/sample-traces/{name}", env!("CARGO_MANIFEST_DIR"));
        let copy = self.0.path().join(name);
        std::fs::copy(sample, &copy).unwrap();
        copy.to_str().unwrap().to_owned()
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("threadline/models")
    }

    fn models(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.folder()) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The only model file.
    fn model(&self) -> PathBuf {
        let models = self.models();
        assert_eq!(models.len(), 1, "{models:?}");
        models[0].clone()
    }

    /// Sets the time of the last use of all model files back.
    fn age(&self) {
        for path in self.models() {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(long_ago()).unwrap();
        }
    }

    fn was_used(path: &Path) -> bool {
        path.metadata().unwrap().modified().unwrap() > long_ago() + Duration::from_secs(10)
    }
}

fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)
}

/// Every answer of the program about a file that names no output file.
fn all_answers(file: &str) -> Vec<Vec<&str>> {
    let mut all = vec![
        vec!["stats", file],
        vec!["latency", file],
        vec!["flame", file],
        vec!["search", "e", file],
        vec!["export", "--to", "fxt", "-o", "-", file],
        vec!["export", "--to", "chrome-json", "-o", "-", file],
    ];
    all.extend(TABLES.iter().map(|table| vec!["table", table.name, file]));
    all
}

#[test]
fn every_answer_is_the_same_from_a_model_file() {
    for name in [
        "block-ext4.dat",
        "cargo-timing.html",
        "cmake-shop.ninja_log",
        "compress.fxt",
        "function-graph.dat",
        "kprobe-pair.trace_pipe",
        "lua-make-j2.etrace.zst",
        "minix-pipeline.minix",
        "node-workers.json.gz",
        "sched-irq.ftrace",
        "sched-irq-syscalls.dat",
        "threads-and-signals.strace",
    ] {
        let cache = Cache::new();
        let file = cache.sample(name);
        let first = cache.text(&["info", &file]);
        let model = cache.model();
        for arguments in all_answers(&file) {
            let read = cache.run(&[&arguments[..], &["--no-cache"]].concat());
            if !read.status.success() {
                // A table of an answer, which no command shows.
                continue;
            }
            cache.age();
            let reopened = cache.run(&arguments);
            assert!(Cache::was_used(&model), "{arguments:?}");
            assert!(read == reopened, "{arguments:?}");
        }
        assert_eq!(
            without_load(&cache.text(&["info", &file])),
            without_load(&first)
        );
        assert_eq!(cache.models(), [model]);
    }
}

/// The facts of `info` that do not depend on how the trace was opened: columns in a file take no memory.
fn without_load(info: &str) -> String {
    let changes = |line: &&str| line.starts_with("memory") || line.starts_with("loaded in");
    let lines = info.lines().filter(|line| !changes(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_changed_trace_is_read_anew() {
    let (cache, folder) = (Cache::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("trace.strace");
    let file = path.to_str().unwrap();
    let line = |name: &str| format!("7 1.000000 {name}(1) = 0 <0.000100>\n");
    std::fs::write(&path, line("open").repeat(3)).unwrap();
    let count = |name: &str| {
        let table = cache.text(&["table", "slices", file]);
        table.matches(&format!("\t{name}\t")).count()
    };
    assert_eq!(count("open"), 3);
    let modified = path.metadata().unwrap().modified().unwrap();
    // The same length, and the time of the change set back.
    std::fs::write(&path, line("read").repeat(3)).unwrap();
    let written = std::fs::File::options().write(true).open(&path).unwrap();
    written.set_modified(modified).unwrap();
    assert_eq!(count("read"), 3);
    let longer = line("read").repeat(3) + &line("open");
    std::fs::write(&path, longer).unwrap();
    assert_eq!(count("open"), 1);
    let other = folder.path().join("other.strace");
    std::fs::write(&other, line("stat").repeat(3)).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(count("stat"), 3);
    assert_eq!(cache.models().len(), 4);
}

#[test]
fn a_damaged_model_file_is_made_again() {
    let cache = Cache::new();
    let file = cache.sample("sched-irq-syscalls.dat");
    let expected = cache.text(&["table", "slices", &file]);
    let model = cache.model();
    let whole = std::fs::read(&model).unwrap();
    type Damage<'a> = &'a dyn Fn(&mut Vec<u8>);
    let damages: [Damage<'_>; 5] = [
        &|bytes| bytes.clear(),
        &|bytes| bytes.truncate(whole.len() / 2),
        &|bytes| bytes.truncate(60),
        &|bytes| bytes[whole.len() / 3] ^= 1,
        &|bytes| bytes.extend_from_slice(b"more"),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        std::fs::write(&model, bytes).unwrap();
        assert_eq!(
            cache.text(&["table", "slices", &file]),
            expected,
            "{number}"
        );
        assert!(std::fs::read(cache.model()).unwrap() == whole, "{number}");
    }
}

#[test]
fn programs_that_open_a_trace_at_once_all_see_the_same() {
    let cache = Cache::new();
    let file = cache.sample("compress.fxt");
    let expected = cache.text(&["table", "slices", &file, "--no-cache"]);
    let children = (0..6).map(|_| {
        let mut command = cache.command(&["table", "slices", &file]);
        command
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    });
    for child in children.collect::<Vec<_>>() {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert!(output.stdout == expected.as_bytes());
    }
    cache.model();
}

#[test]
fn the_cache_is_listed_and_cleared_and_private() {
    let cache = Cache::new();
    let file = cache.sample("compress.fxt");
    assert!(cache.text(&["cache", "list"]).ends_with("\n0 files, 0 B\n"));
    cache.text(&["info", &file, "--no-cache"]);
    let set = cache.0.path().join("set");
    cache.text(&["dataset", "add", set.to_str().unwrap(), &file]);
    assert!(cache.models().is_empty(), "neither of them keeps a model");
    cache.text(&["info", &file]);
    let listed = cache.text(&["cache", "list"]);
    assert!(listed.contains(cache.model().to_str().unwrap()), "{listed}");
    assert!(listed.contains("\n1 file, "), "{listed}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = cache.folder().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let model = cache.model();
        let mode = model.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        // Somebody else could have written it.
        let shared = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(&model, shared).unwrap();
        cache.age();
        assert!(cache.run(&["info", &file]).status.success());
        assert_eq!(
            cache.model().metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    let cleared = cache.text(&["cache", "clear"]);
    assert!(
        cleared.starts_with("removed:\n") && cleared.contains("\n1 file, "),
        "{cleared}"
    );
    assert!(cache.models().is_empty());
}

#[test]
fn the_files_of_a_joined_trace_have_models_of_their_own() {
    let cache = Cache::new();
    let one = cache.sample("sched-irq-syscalls.dat");
    let two = cache.sample("compress.fxt");
    let arguments = ["table", "slices", &one, &two];
    let expected = cache.text(&[&arguments[..], &["--no-cache"]].concat());
    assert_eq!(cache.text(&arguments), expected);
    assert_eq!(cache.models().len(), 2);
    cache.age();
    assert_eq!(cache.text(&arguments), expected);
    assert!(cache.models().iter().all(|model| Cache::was_used(model)));
}

#[test]
fn a_cache_folder_that_cannot_be_written_changes_nothing() {
    let cache = Cache::new();
    let file = cache.sample("compress.fxt");
    std::fs::write(
        cache.0.path().join("threadline"),
        "a file where the folder should be",
    )
    .unwrap();
    let output = cache.run(&["info", &file]);
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{output:?}");
}
