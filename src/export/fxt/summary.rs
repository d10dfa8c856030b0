//! The summary of an export for the user: how many records of each kind, and what was left out, cut or changed.

use super::encode::Source;
use super::names::Named;
use super::records::{EventType, RecordCounts};
use super::written::Written;
use crate::export::Summary;
use crate::export::shared::flow_marks::FlowMarks;

/// Returns the summary of what was `written`.
pub(crate) fn summary(
    source: &Source<'_>,
    written: &Written<'_>,
    named: &Named,
    flows: &FlowMarks,
) -> Summary {
    let mut summary = summary_of(&written.counts, flows.lone_end_count);
    summary.count("processes", named.processes.len() as u64);
    summary.count("threads", named.threads.len() as u64);
    if source.shift > 0 {
        let shift = source.shift;
        let note = format!("FXT has no times below zero: {shift} ns were added to all times");
        summary.notes.push(note);
    }
    summary.notes.extend(source.koids.notes());
    summary
        .notes
        .extend((source.koids.renumbered_cpus().iter()).map(|it| it.note.clone()));
    let mut note = |count: u64, one: &str, many: &str| match count {
        0 => {}
        1 => summary.notes.push(format!("1 {one}")),
        count => summary.notes.push(format!("{count} {many}")),
    };
    note(
        flows.renamed_count,
        "flow has an artificial id",
        "flows have artificial ids",
    );
    note(
        flows.lone_count,
        "flow event has no counterpart and makes no arrow: it is kept as it is",
        "flow events have no counterparts and make no arrows: they are kept as they are",
    );
    note(
        (source.trace.diagnostics).count_of("unknown_argument_type"),
        "argument of the trace has an unknown type and is left out",
        "arguments of the trace have unknown types and are left out",
    );
    note(
        written.counts.packed,
        "event has more than 15 arguments: the others are in 'more', as JSON",
        "events have more than 15 arguments: the others are in 'more', as JSON",
    );
    note(
        written.counts.moved_blobs,
        "blob has no time of its own, and the record before it is left out: it gets the time of the record that is before it now",
        "blobs have no time of their own, and the records before them are left out: they get the times of the records that are before them now",
    );
    note(
        written.counts.cut_scheduling,
        "argument of a switch or wakeup was too long for its record: it is cut there",
        "arguments of switches and wakeups were too long for their records: they are cut there",
    );
    note(
        written.counts.cut_commands,
        "program's command line was longer than a record: it is left out",
        "programs' command lines were longer than a record: they are left out",
    );
    note(
        written.counts.cut_names,
        "name was longer than the 32 KB that FXT allows: it is cut there",
        "names were longer than the 32 KB that FXT allows (a name that is used twice counts twice): they are cut there",
    );
    note(
        written.cut_texts,
        "text was too long for its record: it is cut there and follows whole in a large record",
        "texts were too long for their record: they are cut there and follow whole in a large record",
    );
    summary
}

/// Returns the numbers of records. `lone` is the number of flow steps and ends that end no arrow.
fn summary_of(counts: &RecordCounts, lone: u64) -> Summary {
    let mut summary = Summary::default();
    summary.count(
        "slices",
        counts.of(EventType::Complete) + counts.of(EventType::Begin),
    );
    summary.count("async slices", counts.of(EventType::AsyncBegin));
    summary.count(
        "instants",
        counts.of(EventType::Instant)
            + counts.of(EventType::AsyncInstant)
            + counts.large
            + counts.blobs
            + counts.userspace_objects
            - counts.described_losses,
    );
    summary.count("counter samples", counts.of(EventType::Counter));
    summary.count(
        "flow arrows",
        (counts.of(EventType::FlowStep) + counts.of(EventType::FlowEnd)).saturating_sub(lone),
    );
    summary.count("context switches", counts.switches);
    summary.count("wakeups", counts.wakeups);
    summary.count("logs", counts.logs);
    summary.count("losses", counts.losses);
    summary
}
