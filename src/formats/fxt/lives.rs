//! What files of our own exporter say of the lives of processes and threads, in arguments of their kernel objects.
//!
//! ```text
//! process, thread   started_ns | ended_ns
//! process           made: "process", "thread", "unknown" | parent: koid | exit_status, exit_signal: int32
//! process, again, for each program that it ran, in order
//!                   exec_ns | program, directory, interpreter, command: texts
//! ```
//!
//! A command is its words with a space between each two; in a word `\ ` is a space, `\n` a line feed, `\\` a backslash and
//! `\e` nothing, for a word without bytes.
//!
//! Every argument may be missing: that is not known then. Does not decide what follows from a life: `build` does.

use crate::base::{StringId, Strings, Timestamp};
use crate::event::{Directory, ForkSort, ProcessKey, SaidImage, SaidLife, ThreadKey};

use super::args::{Arg, ArgValue};
use super::header::Order;
use super::scan::Scanner;

/// The names of the arguments of kernel objects that say something of a life.
pub const LIFE_ARGUMENTS: [&str; 11] = [
    "started_ns",
    "ended_ns",
    "made",
    "parent",
    "exit_status",
    "exit_signal",
    "exec_ns",
    "program",
    "command",
    "directory",
    "interpreter",
];

/// What the arguments of one kernel object say of a life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectLife<'a> {
    start: Option<i64>,
    end: Option<i64>,
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

/// The lives that a file describes; parents are koids.
#[derive(Debug, Default)]
pub struct Lives {
    processes: Vec<(ProcessKey, Option<u64>, SaidLife)>,
    threads: Vec<(ThreadKey, SaidLife)>,
    images: Vec<(ProcessKey, SaidImage)>,
}

/// Whose life a kernel object describes.
#[derive(Clone, Copy, Debug)]
pub enum LifeOf {
    /// A process's.
    Process(ProcessKey),
    /// A thread's.
    Thread(ThreadKey),
}

fn time_of(ns: i64) -> Option<Timestamp> {
    (ns < i64::MAX).then_some(Timestamp(ns))
}

impl Lives {
    /// Adds what a kernel object says; its texts go to `strings`.
    pub fn add(&mut self, of: LifeOf, said: &ObjectLife<'_>, strings: &mut Strings) {
        let life = SaidLife {
            start: said.start.and_then(time_of),
            end: said.end.and_then(time_of),
            made: said.made,
            parent: None,
            exit_status: said.exit_status,
            exit_signal: said.exit_signal,
        };
        let process = match of {
            LifeOf::Process(process) => process,
            LifeOf::Thread(thread) => {
                if life != SaidLife::default() {
                    self.threads.push((thread, life));
                }
                return;
            }
        };
        if life != SaidLife::default() || said.parent.is_some() {
            self.processes.push((process, said.parent, life));
        }
        let Some(start) = said.exec.and_then(time_of) else {
            return;
        };
        let words = command_words(said.command);
        let image = SaidImage {
            start,
            program: strings.intern(said.program),
            arguments: words.iter().map(|word| strings.intern(word)).collect(),
            directory: strings.intern(said.directory),
            interpreter: strings.intern(said.interpreter),
        };
        self.images.push((process, image));
    }

    /// Lists them into a directory. `process_of` finds the key of a koid, `string` the directory's number of a text.
    pub fn list_into(
        &self,
        directory: &mut Directory,
        process_of: impl Fn(u64) -> Option<ProcessKey>,
        string: impl Fn(&mut Strings, StringId) -> StringId,
    ) {
        let processes = self.processes.iter().map(|(key, parent, life)| {
            let parent = parent.and_then(&process_of);
            (*key, SaidLife { parent, ..*life })
        });
        directory.process_lives.extend(processes);
        directory.thread_lives.extend_from_slice(&self.threads);
        for (key, image) in &self.images {
            let mut common = |id: &StringId| string(&mut directory.strings, *id);
            let image = SaidImage {
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

impl<'a, O: Order> Scanner<'a, O> {
    /// Takes in an argument of a kernel object of our own exporter.
    pub(super) fn read_life(&self, life: &mut ObjectLife<'a>, arg: &Arg<'a>, at: usize) {
        let text = |value| match value {
            ArgValue::Text(text) => self.text(text, at).unwrap_or(&[]),
            _ => &[],
        };
        match (self.text(arg.name, at).unwrap_or(&[]), arg.value) {
            (b"started_ns", ArgValue::Int64(time)) => life.start = Some(time),
            (b"ended_ns", ArgValue::Int64(time)) => life.end = Some(time),
            (b"exec_ns", ArgValue::Int64(time)) => life.exec = Some(time),
            (b"parent", ArgValue::Koid(koid)) => life.parent = Some(koid),
            (b"exit_status", ArgValue::Int32(status)) => life.exit_status = Some(status),
            (b"exit_signal", ArgValue::Int32(signal)) => life.exit_signal = Some(signal),
            (b"command", value) => life.command = text(value),
            (b"made", value) => life.made = fork_of_word(text(value)),
            (b"program", value) => life.program = text(value),
            (b"directory", value) => life.directory = text(value),
            (b"interpreter", value) => life.interpreter = text(value),
            _ => {}
        }
    }
}

/// A program's arguments as one text, see the module's text.
#[must_use]
pub fn command_text<'w>(words: impl Iterator<Item = &'w [u8]>) -> Vec<u8> {
    let mut text = Vec::new();
    for (index, word) in words.enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        if word.is_empty() {
            text.extend_from_slice(b"\\e");
        }
        for &byte in word {
            match byte {
                b' ' => text.extend_from_slice(b"\\ "),
                b'\n' => text.extend_from_slice(b"\\n"),
                b'\\' => text.extend_from_slice(b"\\\\"),
                byte => text.push(byte),
            }
        }
    }
    text
}

/// The arguments in a text of [`command_text`]; none in an empty one.
fn command_words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    if text.is_empty() {
        return words;
    }
    let mut word = Vec::new();
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b' ' => words.push(std::mem::take(&mut word)),
            b'\\' => match bytes.next() {
                Some(b'n') => word.push(b'\n'),
                Some(b'e') | None => {}
                Some(&other) => word.push(other),
            },
            byte => word.push(byte),
        }
    }
    words.push(word);
    words
}

/// The word for how a process was made.
#[must_use]
pub fn fork_word(fork: ForkSort) -> &'static str {
    match fork {
        ForkSort::Process => "process",
        ForkSort::Thread => "thread",
        ForkSort::Unknown => "unknown",
    }
}

fn fork_of_word(word: &[u8]) -> Option<ForkSort> {
    let all = [ForkSort::Process, ForkSort::Thread, ForkSort::Unknown];
    all.into_iter()
        .find(|fork| fork_word(*fork).as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_as_they_were_written() {
        let words: [&[u8]; 6] = [b"sh", b"-c", b"echo a\\n b\n", b"", b"\\", b"\xff"];
        let text = command_text(words.into_iter());
        assert_eq!(text, b"sh -c echo\\ a\\\\n\\ b\\n \\e \\\\ \xff");
        assert_eq!(command_words(&text), words);
        assert_eq!(command_words(b""), Vec::<Vec<u8>>::new());
        assert_eq!(command_words(b"a\\"), [b"a"]);
    }
}
