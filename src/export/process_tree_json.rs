//! The process tree as JSON: an array of the processes without a known parent; each process contains its children.
//!
//! ```text
//! { "pid", "key", "name", "start", "end", "duration_ns", "own_ns", "subtree_ns", "exit_status", "exit_signal",
//!   "before_trace", "after_trace", "may_be_thread", "opens",
//!   "programs": [ { "start", "path", "arguments", "directory", "interpreter" } ], "children": [ ... ] }
//! ```
//!
//! Times are in ns on the trace's own clock, `null` if unknown. Bytes that are not UTF-8 are written as `\xNN`, and a
//! backslash that could be read so as `\x5c`: the exact bytes can be restored.

use std::io::Write;

use super::{ExportError, ExportedText, Exporter, Request, Summary};
use crate::base::strings::exact_text;
use crate::base::{StringId, Timestamp};
use crate::query::process_times::ProcessTimes;
use crate::query::process_tree::Visited;
use crate::trace::{ProcessId, ProgramImage, Trace};

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "process-tree-json",
    title: "Process tree (JSON)",
    about: "The process tree as JSON, each process with its programs, times and children",
    extension: "process-tree.json",
    text: ExportedText::Json,
    table: None,
    write,
};

/// The deepest nesting: deeper children follow their parents in the parents' array, because some readers of JSON limit
/// the depth.
const MOST_DEPTH: u32 = 100;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let (trace, chosen, job) = (request.loaded.trace.as_ref(), request.chosen, request.job);
    let times = ProcessTimes::new(trace);
    // The chosen processes with all their ancestors, so that the tree keeps its shape.
    let walk = times.tree.walk();
    let mut is_kept = vec![false; times.rows.len()];
    for Visited { id, .. } in walk.iter().rev().copied() {
        let span = times.of(id).span;
        is_kept[id.0 as usize] = (chosen.has_process(id) && chosen.meets(span.start, span.end))
            || times.tree.children[id.0 as usize]
                .iter()
                .any(|child| is_kept[child.0 as usize]);
    }
    let mut count = 0_u64;
    let mut cut = 0_u64;
    let mut open: Vec<u32> = Vec::new();
    out.write_all(b"[")?;
    for Visited { id, depth } in walk {
        if count.is_multiple_of(1024) {
            job.check()?;
        }
        if !is_kept[id.0 as usize] {
            continue;
        }
        cut += u64::from(depth > MOST_DEPTH);
        let depth = depth.min(MOST_DEPTH);
        let mut is_first = count == 0 || open.last().is_some_and(|&last| last < depth);
        while open.last().is_some_and(|&last| last >= depth) {
            open.pop();
            out.write_all(b"]}")?;
            is_first = false;
        }
        out.write_all(if is_first { b"\n" } else { b",\n" })?;
        one(out, trace, &times, id)?;
        open.push(depth);
        count += 1;
    }
    for _ in open {
        out.write_all(b"]}")?;
    }
    out.write_all(b"\n]\n")?;
    if count == 0 {
        return Err(ExportError::Nothing(
            "the selection contains no processes".to_owned(),
        ));
    }
    let mut summary = Summary::default();
    summary.count("processes", count);
    if cut > 0 {
        let note = format!(
            "{cut} processes are deeper than {MOST_DEPTH} levels and are listed at that level"
        );
        summary.notes.push(note);
    }
    Ok(summary)
}

/// Writes one process, up to and including the bracket before its children.
fn one(
    out: &mut dyn Write,
    trace: &Trace,
    times: &ProcessTimes,
    id: ProcessId,
) -> std::io::Result<()> {
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return Ok(());
    };
    let time = times.of(id);
    write!(
        out,
        "{{\"pid\":{},\"key\":{},\"name\":",
        process.pid, process.key
    )?;
    text(out, trace, process.name)?;
    let numbers = [
        ("start", process.start.map(|it| it.0)),
        ("end", process.end.map(|it| it.0)),
        ("duration_ns", times.life(trace, id).known()),
        ("own_ns", time.own.known()),
        ("subtree_ns", time.subtree.known()),
        ("exit_status", process.exit_status.map(i64::from)),
        ("exit_signal", process.exit_signal.map(i64::from)),
        ("opens", Some(i64::from(process.opens))),
    ];
    for (name, value) in numbers {
        match value {
            Some(value) => write!(out, ",\"{name}\":{value}")?,
            None => write!(out, ",\"{name}\":null")?,
        }
    }
    write!(
        out,
        ",\"before_trace\":{},\"after_trace\":{},\"may_be_thread\":{},\"programs\":[",
        process.start.is_none(),
        process.end.is_none(),
        process.may_be_thread()
    )?;
    for (index, image) in process.images.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        program(out, trace, image)?;
    }
    out.write_all(b"],\"children\":[")
}

fn program(out: &mut dyn Write, trace: &Trace, image: &ProgramImage) -> std::io::Result<()> {
    let Timestamp(start) = image.start;
    write!(out, "{{\"start\":{start}")?;
    for (name, id) in [
        ("path", image.program),
        ("directory", image.directory),
        ("interpreter", image.interpreter),
    ] {
        write!(out, ",\"{name}\":")?;
        text(out, trace, id)?;
    }
    out.write_all(b",\"arguments\":[")?;
    for (index, &argument) in image.arguments.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        exact(out, trace, argument)?;
    }
    out.write_all(b"]}")
}

fn text(out: &mut dyn Write, trace: &Trace, id: StringId) -> std::io::Result<()> {
    if id == StringId::EMPTY {
        return out.write_all(b"null");
    }
    exact(out, trace, id)
}

/// Writes a text from which its exact bytes can be restored.
fn exact(out: &mut dyn Write, trace: &Trace, id: StringId) -> std::io::Result<()> {
    let text = exact_text(trace.strings.bytes(id));
    Ok(serde_json::to_writer(out, &text)?)
}
