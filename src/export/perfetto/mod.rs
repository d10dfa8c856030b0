//! The Perfetto exporter: any trace, or a part of it, as a protobuf trace (`.pftrace`) that <https://ui.perfetto.dev>
//! opens and trace_processor queries.
//!
//! ```text
//! packets, each: time | sequence | interned names | one of
//!     clock snapshot, system, processes and threads, statistics of lost events       once
//!     bundle of ftrace events of one CPU                                             events of trace.dat and ftrace text
//!     track descriptor | track event: begin, end, instant, sample                   everything else
//!     generic task state                                                            runs and states of other formats
//! ```
//!
//! - **Events of the kernel** (trace.dat, ftrace text) are ftrace events, each once: as Perfetto's own message where
//!   its analysis uses it (`event_types`; `printed` for texts), otherwise as a message that the file describes (`plan`).
//!   trace_processor derives runs, thread states, interrupts, system calls by number, work items, block requests
//!   (`accounted`), atrace marks and power counters from them, so these are not written again. Events whose CPU is not
//!   known are track events.
//! - **Slices** that trace_processor does not make itself are begins and ends on the track of their thread or CPU, with
//!   the fields of their events as debug annotations (except for traced functions, whose ftrace events have them).
//!   Slices that cross others are on a child of that track (`shared::layers`), asynchronous slices that overlap are on
//!   several tracks of one name. A slice whose end was not seen ends at the time to which it is drawn, with
//!   the annotation `end_not_seen`, or not at all. `measured_ns` is the duration that the recorder measured, if it differs
//!   from the drawn duration.
//! - **Arrows** each have a flow number of their own: see `arrows`. Flow events without an arrow are instants.
//! - **Counters** start with their value at the range's start.
//! - **A range** has the slices and runs that reach into it, with their real times; see `switches` for ftrace events.
//! - **Losses** of a CPU's events are `lost_events` of the bundle after them, and the numbers of lost events the
//!   statistics of ftrace; those of other formats are slices of a track called `lost events`.
//! - **Several recordings of the kernel** are machines, each with its own threads and CPUs: see `sources`.
//! - Times are those of the trace, as boot time; if any is below zero, all are shifted so that none is.
//!
//! Bytes that are not UTF-8 are written as `\xNN`. Left out: thread names of the past, files, diagnostics.

mod accounted;
mod arrows;
mod births;
mod bundles;
mod context;
mod event_types;
mod ftrace_events;
mod head;
mod interner;
mod lanes;
mod layout;
mod losses;
mod marks;
mod output;
mod people;
mod plan;
mod printed;
mod proto;
mod sequences;
mod sources;
mod subjects;
mod switches;
mod tasks;
#[cfg(test)]
mod tests;
mod track_events;
mod track_marks;
mod tracks;
mod values;
mod windows;

use std::io::Write;

use super::{ExportError, ExportedText, Exporter, Request, Summary};
use crate::trace::Thread;
use arrows::Arrows;
use births::Births;
use context::Context;
use head::System;
use output::Output;
use people::{People, PeopleCounts};
use plan::{CallNames, Kernel, Plans};
use sources::{KernelSources, Machine};
use subjects::Subjects;
use track_events::write_track_events;

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "perfetto",
    title: "Perfetto",
    about: "Perfetto's own format: for ui.perfetto.dev and trace_processor, with the kernel's events as they know them",
    extension: "pftrace",
    text: ExportedText::AsWritten,
    table: None,
    write,
};

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let Request {
        loaded,
        chosen,
        job,
        ..
    } = *request;
    let trace = loaded.trace.as_ref();
    let reader = loaded.reader.as_ref();
    let sources = KernelSources::new(trace);
    let people = People::new(trace, &sources);
    let systems: Vec<System> = sources
        .machines()
        .map(|machine| System::of(&sources, machine))
        .collect();
    let mut extra = switches::extra_candidates(trace, chosen, &sources);
    let kernel = Kernel {
        trace,
        sources: &sources,
        reader,
    };
    let names: Vec<CallNames> = systems.iter().map(System::call_names).collect();
    let plans = Plans::new(kernel, chosen, &extra, &names);
    let context = Context {
        trace,
        chosen,
        reader,
        sources: &sources,
        people: &people,
        plans: &plans,
        states: systems.iter().map(System::states).collect(),
        subjects: Subjects::new(trace, chosen, &sources),
        shift: trace.span.start.0.min(0).saturating_neg(),
    };
    let rows = trace.slices.len() + trace.instants.len() + trace.counters.times.len();
    job.set_total(bundles::event_count(&context) + rows as u64);
    let mut summary = Summary::default();
    let mut output = Output {
        out,
        job,
        start: context.time(context.span().start.0),
    };
    head::write_head(&context, &systems, &mut output)?;
    let named = write_trees(&context, &mut output)?;
    if sources.is_any() {
        extra.retain(|&event| switches::is_extra(&context, event));
        let made = switches::made_switches(&context);
        let events = bundles::write_events(&context, &extra, &made, &mut output)?;
        summary.count("ftrace events", events);
    }
    let arrows = Arrows::new(&context);
    let counts = write_track_events(&context, &arrows, &mut output)?;
    head::write_tail(&context, &mut output)?;
    output.out.flush()?;
    summary.count("slices", counts.slices);
    summary.count("instants", counts.instants);
    summary.count("counter samples", counts.samples);
    summary.count("arrows", arrows.count);
    summary.count("runs", counts.tasks.runs);
    summary.count("thread states", counts.tasks.states);
    summary.count("processes", named.processes);
    summary.count("threads", named.threads);
    head::add_notes(&context, &arrows, &counts, &mut summary);
    Ok(summary)
}

/// Writes the process tree of each machine; returns how many processes and threads there are.
fn write_trees(
    context: &Context<'_>,
    output: &mut Output<'_>,
) -> Result<PeopleCounts, ExportError> {
    let mut named = PeopleCounts::default();
    let births = Births::new(context);
    let others = context.sources.machines().skip(1);
    for machine in std::iter::once(Machine::HOST).chain(others) {
        let is_born = |thread: &Thread| births.has(machine, thread);
        let own = (context.people).write_tree(context.chosen, machine, &is_born, output)?;
        named.processes += own.processes;
        named.threads += own.threads;
    }
    Ok(named)
}
