//! Writes etrace recordings line by line, so that a test shows its recording in words; and opens them.
#![allow(dead_code, reason = "each test writes some of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use threadline::assemble::file_history::FileHistory;
use threadline::base::{Job, StringId};
use threadline::export::{self, ExportError, Overwrite, Selection, Summary};
use threadline::load::{self, LoadedTrace};
use threadline::query::files::{FileList, Kinship};
use threadline::query::process_times::program_of;
use threadline::trace::{ProcessId, Trace};

/// Opens a text as a file of this name.
pub fn load_as(name: &str, text: &[u8]) -> LoadedTrace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    load::open(&path, &Job::default()).unwrap()
}

/// Opens the recording.
pub fn load(recorder: &Recorder) -> LoadedTrace {
    load_as("made.etrace", &recorder.text)
}

/// Returns the names of the files that went into a file, or were made from it, in their order.
pub fn relatives(trace: &Trace, path: &str, kinship: Kinship) -> Vec<String> {
    let list = FileList::new(trace, &Job::default()).unwrap();
    let file = list.find(trace, path.as_bytes()).unwrap();
    let relatives = list
        .relatives(trace, file, kinship, &Job::default())
        .unwrap()
        .files;
    let name = |id: StringId| trace.text(id).into_owned();
    let mut all: Vec<String> = (relatives.iter())
        .map(|it| name(list.history.name(it.file)))
        .collect();
    all.sort();
    all
}

/// Returns (writer, reader) of each dependency.
pub fn dependencies(trace: &Trace) -> Vec<[String; 2]> {
    let name = |id: ProcessId| program_of(trace, id);
    let history = FileHistory::new(trace);
    (history.dependencies.iter())
        .map(|it| [name(it.writer), name(it.reader)])
        .collect()
}

/// Returns pairs of texts in the form that [`dependencies`] returns.
pub fn pairs(all: &[[&str; 2]]) -> Vec<[String; 2]> {
    all.iter().map(|pair| pair.map(str::to_owned)).collect()
}

/// A recording that grows; the time increases by a millisecond between two calls.
pub struct Recorder {
    /// The text so far.
    pub text: Vec<u8>,
    serial: i64,
    now_ns: i64,
    /// The shell that is the ancestor of all other processes.
    pub shell: i64,
}

impl Recorder {
    pub fn new() -> Recorder {
        Recorder::behind(b"INITCWD=/w\n")
    }

    /// Returns a recording whose text begins with `head`.
    pub fn behind(head: &[u8]) -> Recorder {
        let mut recorder = Recorder {
            text: head.to_vec(),
            serial: 0,
            now_ns: 100_000_000_000,
            shell: 0,
        };
        recorder.shell = recorder.task(1000);
        recorder
    }

    /// Returns the number of a new task; nothing is written.
    pub fn task(&mut self, pid: i64) -> i64 {
        self.serial += 1;
        (self.serial << 22) | pid
    }

    pub fn wait_ms(&mut self, time: i64) {
        self.now_ns += time * 1_000_000;
    }

    pub fn line(&mut self, of: i64, body: &[u8]) {
        self.now_ns += 1_000;
        let (seconds, rest) = (self.now_ns / 1_000_000_000, self.now_ns % 1_000_000_000);
        let head = format!("0: {of},0,{seconds},{rest}!");
        self.text.extend_from_slice(head.as_bytes());
        self.text.extend_from_slice(body);
        self.text.push(b'\n');
    }

    pub fn call(&mut self, of: i64, body: &str) {
        self.wait_ms(1);
        self.line(of, body.as_bytes());
    }

    pub fn fork(&mut self, parent: i64, pid: i64) -> i64 {
        let child = self.task(pid);
        self.call(parent, "SysClone|flags=18874385");
        self.call(parent, &format!("SchedFork|pid={child}"));
        child
    }

    /// Adds a thread of `parent`'s process (as the clone call of old C libraries creates it).
    pub fn thread(&mut self, parent: i64, pid: i64) -> i64 {
        let child = self.task(pid);
        self.call(parent, "SysClone|flags=8195840");
        self.call(parent, &format!("SchedFork|pid={child}"));
        child
    }

    pub fn exec(&mut self, of: i64, program: &str, arguments: &[&str]) {
        let size: usize = arguments.iter().map(|it| it.len() + 1).sum();
        let length = program.len();
        self.call(
            of,
            &format!(
                "New_proc|argsize={size},prognameisize={length},prognamepsize={length},cwdsize=2"
            ),
        );
        for line in [
            format!("PI|{program}"),
            format!("PP|{program}"),
            "CW|/w".to_owned(),
        ] {
            self.line(of, line.as_bytes());
        }
        for (index, argument) in arguments.iter().enumerate() {
            self.line(of, format!("A[{index}]{argument}").as_bytes());
        }
        self.line(of, b"End_of_args|");
    }

    pub fn open(&mut self, of: i64, path: &[u8], flags: u32, fd: i32) {
        self.open_as(of, path, path, flags, fd);
    }

    /// Adds an open of `path`; the program passed another name, `said`.
    pub fn open_as(&mut self, of: i64, path: &[u8], said: &[u8], flags: u32, fd: i32) {
        let (length, said_length) = (path.len(), said.len());
        self.call(
            of,
            &format!(
                "Open|fnamesize={length},forigsize={said_length},flags={flags},mode=420,fd={fd}"
            ),
        );
        self.line(of, &[b"FN|", path].concat());
        self.line(of, &[b"FO|", said].concat());
    }

    pub fn close(&mut self, of: i64, fd: i32) {
        self.call(of, &format!("Close|fd={fd}"));
    }

    pub fn dup(&mut self, of: i64, from: i32, to: i32) {
        self.call(of, &format!("Dup|oldfd={from},newfd={to},flags=0"));
    }

    pub fn pipe(&mut self, of: i64, reader: i32, writer: i32) {
        self.call(of, &format!("Pipe|fd1={reader},fd2={writer},flags=0"));
    }

    pub fn read(&mut self, of: i64, path: &str) {
        self.open(of, path.as_bytes(), 0, 3);
        self.close(of, 3);
    }

    pub fn write(&mut self, of: i64, path: &str) {
        self.open(of, path.as_bytes(), 0o1101, 3);
        self.close(of, 3);
    }

    pub fn rename(&mut self, of: i64, from: &str, to: &str) {
        self.two_names(of, ["RenameFrom", "RF", "RenameTo", "RT"], from, to);
    }

    pub fn link(&mut self, of: i64, from: &str, to: &str) {
        self.two_names(of, ["LinkFrom", "LF", "LinkTo", "LT"], from, to);
    }

    fn two_names(&mut self, of: i64, words: [&str; 4], from: &str, to: &str) {
        self.call(of, &format!("{}|fnamesize={}", words[0], from.len()));
        self.line(of, format!("{}|{from}", words[1]).as_bytes());
        self.call(of, &format!("{}|fnamesize={}", words[2], to.len()));
        self.line(of, format!("{}|{to}", words[3]).as_bytes());
    }

    /// Adds a symbolic link to `target`, which exists.
    pub fn symlink(&mut self, of: i64, target: &str, link: &str) {
        let (length, link_length) = (target.len(), link.len());
        self.call(
            of,
            &format!(
                "Symlink|targetnamesize={length},resolvednamesize={length},linknamesize={link_length}"
            ),
        );
        for line in [
            format!("ST|{target}"),
            format!("SR|{target}"),
            format!("SL|{link}"),
        ] {
            self.line(of, line.as_bytes());
        }
    }

    pub fn exit(&mut self, of: i64, status: i32) {
        self.call(of, &format!("Exit|status={status}"));
    }

    /// Adds a child of the shell that runs a program, acts, and exits.
    pub fn run(
        &mut self,
        pid: i64,
        program: &str,
        arguments: &[&str],
        does: impl FnOnce(&mut Recorder, i64),
    ) -> i64 {
        let child = self.fork(self.shell, pid);
        self.exec(child, program, arguments);
        does(self, child);
        self.exit(child, 0);
        child
    }
}

/// Returns the output of an exporter for the whole trace.
pub fn exported(loaded: &LoadedTrace, name: &str) -> Result<(Vec<u8>, Summary), ExportError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let exporter = export::find(name).unwrap();
    let job = Job::default();
    let all = Selection::all();
    let summary = export::run(exporter, loaded, &all, &path, Overwrite::Refuse, &job)?;
    Ok((std::fs::read(&path).unwrap(), summary))
}
