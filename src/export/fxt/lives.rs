//! The lives of processes and threads as arguments of their kernel objects: when they began and ended, their parents,
//! the programs that they ran. Other readers ignore these arguments.

use super::args::{self, MOST_ARG_WORDS};
use super::encode::{Encoder, Source};
use super::records::{Arg, ArgValue, ObjectKey, PROCESS};
use crate::base::{StringId, Timestamp};
use crate::event::SEEN_UNTIL;
use crate::export::shared::borders::EndCut;
use crate::fxt::agreed::{command_text, fork_word};
use crate::trace::{ProcessId, ProgramImage, StateId, ThreadId};

/// The name of the argument that contains a program's command line.
const COMMAND: &str = "command";

/// Returns whether lives are written: FXT files of other programs contain none.
fn are_known(source: &Source<'_>) -> bool {
    source.kept.is_none_or(|kept| kept.has_lives)
}

fn time_arg(source: &Source<'_>, name: &'static str, time: Timestamp) -> Arg<'static> {
    Arg::new(name, ArgValue::Int64(time.0.saturating_add(source.shift)))
}

fn life_args(
    source: &Source<'_>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
) -> Vec<Arg<'static>> {
    let start = start.map(|time| time_arg(source, "started_ns", time));
    let end = end.map(|time| time_arg(source, "ended_ns", time));
    start.into_iter().chain(end).collect()
}

/// Returns the arguments of a thread's object.
pub(crate) fn of_thread(source: &Source<'_>, id: ThreadId) -> Vec<Arg<'static>> {
    if !are_known(source) {
        return Vec::new();
    }
    let thread = source.trace.thread(id);
    let mut args = life_args(source, thread.start, thread.end);
    args.extend(seen_until(source, id).map(|time| time_arg(source, SEEN_UNTIL, time)));
    args
}

/// Returns when a thread was last seen, if its last state was open at the end of a file that ended before the exported
/// part does.
fn seen_until(source: &Source<'_>, id: ThreadId) -> Option<Timestamp> {
    let trace = source.trace;
    let last = trace.states.of(id).next_back()?;
    let part = source.borders.of_state(trace, StateId(last));
    let end = part.end.filter(|_| part.cut == Some(EndCut::Never))?;
    (end < source.borders.last_moment()).then_some(Timestamp(end))
}

/// Returns the arguments of a process's object.
pub(crate) fn of_process(source: &Source<'_>, id: ProcessId) -> Vec<Arg<'static>> {
    let process = source.trace.processes.get(id.0 as usize);
    let Some(process) = process.filter(|_| are_known(source)) else {
        return Vec::new();
    };
    let mut args = life_args(source, process.start, process.end);
    let made = process.made.map(fork_word);
    args.extend(made.map(|word| Arg::new("made", ArgValue::Text(word.as_bytes().into()))));
    let parent = process.parent.map(|parent| source.koids.process(parent));
    args.extend(parent.map(|koid| Arg::new("parent", ArgValue::Koid(koid))));
    for (name, value) in [
        ("exit_status", process.exit_status),
        ("exit_signal", process.exit_signal),
    ] {
        args.extend(value.map(|value| Arg::new(name, ArgValue::Int32(value))));
    }
    args
}

impl Encoder<'_, '_> {
    /// Writes an object of a process for each program that it ran.
    pub(super) fn images(&mut self, id: ProcessId) {
        let source = self.source;
        let process = source.trace.processes.get(id.0 as usize);
        let Some(process) = process.filter(|_| are_known(source)) else {
            return;
        };
        let name = self.name_bytes(process.name);
        for image in &process.images {
            let mut args = self.image_args(image);
            // A command line that does not fit is left out.
            if args.iter().map(Arg::most_words).sum::<usize>() > MOST_ARG_WORDS {
                args.retain(|arg| *arg.name != *COMMAND.as_bytes());
                let _fitted = args::fit(&mut args, MOST_ARG_WORDS);
                self.records.counts.cut_commands += 1;
            }
            let object = ObjectKey {
                object_type: PROCESS,
                koid: source.koids.process(id),
            };
            self.records.object(object, name, &args);
        }
    }

    fn image_args(&self, image: &ProgramImage) -> Vec<Arg<'static>> {
        let mut args = vec![time_arg(self.source, "exec_ns", image.start)];
        for (name, text) in [
            ("program", image.program),
            ("directory", image.directory),
            ("interpreter", image.interpreter),
        ] {
            if text != StringId::EMPTY {
                let text = self.name_bytes(text).to_vec();
                args.push(Arg::new(name, ArgValue::Text(text.into())));
            }
        }
        if !image.arguments.is_empty() {
            let words = image.arguments.iter();
            let text = command_text(words.map(|&word| self.name_bytes(word)));
            args.push(Arg::new(COMMAND, ArgValue::Text(text.into())));
        }
        args
    }
}
