//! The details of threads and processes: their lives, their programs, and the parts of these that were not seen.

use super::section::{Details, Section, length_text, process_row, trace_time};
use crate::base::signals::exit_text;
use crate::base::{Nanos, StringId, Timestamp};
use crate::query::item::Item;
use crate::trace::{ProcessId, ThreadId, Trace};

pub(super) fn thread_details(trace: &Trace, id: ThreadId) -> Details {
    let thread = trace.thread(id);
    let mut facts = Section::new("");
    facts.row("tid", thread.tid.to_string());
    if thread.key != thread.tid {
        facts.row("key", thread.key.to_string());
    }
    process_row(&mut facts, trace, id);
    facts.row(
        "started",
        match (thread.start, lost_start(trace, id)) {
            (Some(time), _) => trace_time(trace, time),
            (None, Some(text)) => text,
            (None, None) => "before the trace".to_owned(),
        },
    );
    facts.row(
        "ended",
        thread
            .end
            .map_or("not seen".to_owned(), |time| trace_time(trace, time)),
    );
    let runs = trace.runs.of(id);
    let end_of = |run: u32| trace.runs.ends[run as usize].at_most(trace.span.end.0);
    let ran: i64 = runs
        .iter()
        .map(|&run| end_of(run) - trace.runs.starts[run as usize])
        .sum();
    facts.row("runs", runs.len().to_string());
    facts.row("time on CPUs", length_text(trace, Nanos(ran)));
    Details {
        title: trace.thread_name(id).into_owned(),
        subtitle: "thread".to_owned(),
        sections: vec![facts],
    }
}

/// Returns words for the start of a thread whose process is known to have begun in the trace, although its fork is not
/// in the trace.
fn lost_start(trace: &Trace, id: ThreadId) -> Option<String> {
    let process = trace.thread(id).process?;
    let process = trace.processes.get(process.0 as usize)?;
    let is_main = process.main_thread == Some(id) && process.made.is_none();
    is_main.then(|| lost_fork(trace, process.start)).flatten()
}

/// Returns words for the start of a process whose fork was lost; `start` is the time of its first event.
fn lost_fork(trace: &Trace, start: Option<Timestamp>) -> Option<String> {
    let time = trace_time(trace, start?);
    Some(format!("{time} or shortly before: its fork was lost"))
}

/// Returns the reason why no start was seen.
fn before_text(trace: &Trace) -> String {
    if trace.lost_events() > 0 {
        "before the trace, or its start is among the lost events".to_owned()
    } else {
        "before the trace".to_owned()
    }
}

pub(super) fn process_details(trace: &Trace, id: ProcessId) -> Details {
    let process = &trace.processes[id.0 as usize];
    let mut facts = Section::new("");
    facts.row("pid", process.pid.to_string());
    if process.key != process.pid {
        facts.row("key", process.key.to_string());
    }
    if process.labels != StringId::EMPTY {
        facts.row("labels", trace.text(process.labels).into_owned());
    }
    if let Some(parent) = process
        .parent
        .and_then(|parent| trace.processes.get(parent.0 as usize))
    {
        let text = format!("{} ({})", trace.text(parent.name), parent.pid);
        facts.link("parent", text, Item::Process(process.parent.unwrap_or(id)));
    }
    facts.row(
        "started",
        match (process.start, process.made) {
            (Some(time), Some(_)) => trace_time(trace, time),
            (start, _) => lost_fork(trace, start).unwrap_or_else(|| before_text(trace)),
        },
    );
    facts.row(
        "ended",
        process
            .end
            .map_or("after the trace, or it was not seen".to_owned(), |time| {
                trace_time(trace, time)
            }),
    );
    let exit = exit_text(process.exit_status, process.exit_signal);
    if !exit.is_empty() {
        facts.row("exit", exit);
    }
    if process.may_be_thread() {
        facts.row(
            "kind",
            "possibly a thread of its parent: it ran no program, and the trace does not say how it was made",
        );
    }
    facts.row("files opened", process.opens.to_string());
    let mut sections = vec![facts];
    for image in &process.images {
        let mut program = Section::new("program");
        program.row("loaded", trace_time(trace, image.start));
        program.row("path", trace.text(image.program));
        if !image.arguments.is_empty() {
            let arguments: Vec<_> = image.arguments.iter().map(|&id| trace.text(id)).collect();
            program.row("arguments", arguments.join(" "));
        }
        if image.interpreter != crate::base::StringId::EMPTY && image.interpreter != image.program {
            program.row("interpreter", trace.text(image.interpreter));
        }
        if image.directory != crate::base::StringId::EMPTY {
            program.row("directory", trace.text(image.directory));
        }
        sections.push(program);
    }
    let variables = trace.environment(process);
    if !variables.is_empty() {
        let mut environment = Section::new("environment");
        for id in variables {
            let text = trace.text(id);
            let (name, value) = text.split_once('=').unwrap_or((&text, ""));
            environment.row(name, value);
        }
        sections.push(environment);
    }
    Details {
        title: trace.text(process.name).into_owned(),
        subtitle: "process".to_owned(),
        sections,
    }
}
