//! Lives of processes and threads in files of our own exporter, from arguments of their kernel objects.
//!
//! ```text
//! process, thread   started_ns | ended_ns
//! thread            seen_until_ns, if its file ended before others
//! process           made: "process", "thread", "unknown" | parent: koid | exit_status, exit_signal: int32
//! process, again, for each program that it ran, in order
//!                   exec_ns | program, directory, interpreter, command: texts
//! ```
//!
//! A command contains its words, separated by single spaces. In a word, `\ ` is a space, `\n` a newline, `\\` a
//! backslash, and `\e` marks an empty word.
//!
//! Every argument may be missing: then the fact is unknown. `assemble` decides what follows from a life.

use serde::{Deserialize, Serialize};

use crate::base::{StringId, Strings, Timestamp};
use crate::event::{Directory, ForkSort, ProcessKey, RecordedImage, RecordedLife, ThreadKey};

use crate::fxt::agreed::{command_words, fork_of_word};
use crate::fxt::{Arg, ArgValue, TextRef};

/// The facts about a life in the arguments of one kernel object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ObjectLife<'a> {
    start: Option<i64>,
    end: Option<i64>,
    seen_until: Option<i64>,
    made: Option<ForkSort>,
    parent: Option<u64>,
    exit_status: Option<i32>,
    exit_signal: Option<i32>,
    exec: Option<i64>,
    program: &'a [u8],
    command: &'a [u8],
    directory: &'a [u8],
    interpreter: &'a [u8],
}

/// All lives that a file describes; parents are koids.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Lives {
    processes: Vec<(ProcessKey, Option<u64>, RecordedLife)>,
    threads: Vec<(ThreadKey, RecordedLife)>,
    images: Vec<(ProcessKey, RecordedImage)>,
}

/// The process or thread that a kernel object describes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LifeOf {
    /// A process.
    Process(ProcessKey),
    /// A thread.
    Thread(ThreadKey),
}

fn time_of(ns: i64) -> Option<Timestamp> {
    (ns < i64::MAX).then_some(Timestamp(ns))
}

impl Lives {
    /// Adds the facts of one kernel object; interns its texts in `strings`.
    pub(crate) fn add(&mut self, of: LifeOf, object: &ObjectLife<'_>, strings: &mut Strings) {
        let life = RecordedLife {
            start: object.start.and_then(time_of),
            end: object.end.and_then(time_of),
            made: object.made,
            parent: None,
            exit_status: object.exit_status,
            exit_signal: object.exit_signal,
            seen_until: object.seen_until.and_then(time_of),
        };
        let process = match of {
            LifeOf::Process(process) => process,
            LifeOf::Thread(thread) => {
                if life != RecordedLife::default() {
                    self.threads.push((thread, life));
                }
                return;
            }
        };
        if life != RecordedLife::default() || object.parent.is_some() {
            self.processes.push((process, object.parent, life));
        }
        let Some(start) = object.exec.and_then(time_of) else {
            return;
        };
        let words = command_words(object.command);
        let image = RecordedImage {
            start,
            program: strings.intern(object.program),
            arguments: words.iter().map(|word| strings.intern(word)).collect(),
            directory: strings.intern(object.directory),
            interpreter: strings.intern(object.interpreter),
        };
        self.images.push((process, image));
    }

    /// Adds all lives to a directory. `process_of` maps a koid to its key; `string` interns a text in the directory.
    pub(crate) fn list_into(
        &self,
        directory: &mut Directory,
        process_of: impl Fn(u64) -> Option<ProcessKey>,
        string: impl Fn(&mut Strings, StringId) -> StringId,
    ) {
        let processes = self.processes.iter().map(|(key, parent, life)| {
            let parent = parent.and_then(&process_of);
            (*key, RecordedLife { parent, ..*life })
        });
        directory.process_lives.extend(processes);
        directory.thread_lives.extend_from_slice(&self.threads);
        for (key, image) in &self.images {
            let mut common = |id: &StringId| string(&mut directory.strings, *id);
            let image = RecordedImage {
                start: image.start,
                program: common(&image.program),
                arguments: image.arguments.iter().map(&mut common).collect(),
                directory: common(&image.directory),
                interpreter: common(&image.interpreter),
            };
            directory.images.push((*key, image));
        }
    }
}

impl<'a> ObjectLife<'a> {
    /// Reads one argument of a kernel object of our own exporter. `text_of` returns the bytes of a text; none if the
    /// text is not registered.
    pub(super) fn take_in(&mut self, arg: &Arg<'a>, text_of: impl Fn(TextRef<'a>) -> &'a [u8]) {
        let text = |value| match value {
            ArgValue::Text(text) => text_of(text),
            _ => &[],
        };
        match (text_of(arg.name), arg.value) {
            (b"started_ns", ArgValue::Int64(time)) => self.start = Some(time),
            (b"ended_ns", ArgValue::Int64(time)) => self.end = Some(time),
            (b"seen_until_ns", ArgValue::Int64(time)) => self.seen_until = Some(time),
            (b"exec_ns", ArgValue::Int64(time)) => self.exec = Some(time),
            (b"parent", ArgValue::Koid(koid)) => self.parent = Some(koid),
            (b"exit_status", ArgValue::Int32(status)) => self.exit_status = Some(status),
            (b"exit_signal", ArgValue::Int32(signal)) => self.exit_signal = Some(signal),
            (b"command", value) => self.command = text(value),
            (b"made", value) => self.made = fork_of_word(text(value)),
            (b"program", value) => self.program = text(value),
            (b"directory", value) => self.directory = text(value),
            (b"interpreter", value) => self.interpreter = text(value),
            _ => {}
        }
    }
}
