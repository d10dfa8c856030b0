//! Tests that kinds of slices and flows survive an export and are not guessed from other programs' names.

use super::*;
use crate::event::{FieldRole, FlowKind, SliceKind};
use crate::query::details::describe;
use std::collections::BTreeSet;

/// The number of slices and arrows of each kind.
type Counts = (BTreeMap<SliceKind, usize>, BTreeMap<&'static str, usize>);

fn counts(loaded: &LoadedTrace) -> Counts {
    let trace = &loaded.trace;
    let (mut slices, mut flows) = Counts::default();
    for row in 0..trace.slices.len() as u32 {
        let kind = trace.slices.label(SliceId(row)).kind;
        *slices.entry(kind).or_default() += 1;
    }
    for flow in &trace.flows.rows {
        *flows.entry(flow.kind.word()).or_default() += 1;
    }
    (slices, flows)
}

#[test]
fn kinds_of_recordings_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let mut seen = Counts::default();
    for name in [
        "lua-make-j2.etrace.zst",
        "shell-pipeline.strace",
        "block-ext4.dat",
        "sched-irq-syscalls.dat",
        "kprobe-hackbench.dat",
        "function-graph.dat",
    ] {
        let source = open(&samples.join(name), &Job::default()).unwrap();
        let expected = counts(&source);
        let (again, _) = cut(folder.path(), &source, &Selection::all());
        assert_eq!(counts(&again), expected, "{name}");
        let (twice, _) = cut(folder.path(), &again, &Selection::all());
        assert_eq!(counts(&twice), expected, "{name}, exported twice");
        seen.0.extend(expected.0);
        seen.1.extend(expected.1);
    }
    for kind in [
        SliceKind::Processes,
        SliceKind::OpenFiles,
        SliceKind::SystemCalls,
        SliceKind::EventPairs,
        SliceKind::BlockRequests,
        SliceKind::Functions,
        SliceKind::Probes,
    ] {
        assert!(seen.0.contains_key(&kind), "{kind:?}");
    }
    for kind in [FlowKind::Pipe, FlowKind::Fork, FlowKind::File] {
        assert!(seen.1.contains_key(kind.word()), "{kind:?}");
    }
}

/// The fields that a kernel adds to events are not shown among a probe's own arguments, in an exported file neither.
#[test]
fn fields_of_the_kernel_come_back_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("sample-traces");
    let source = open(&samples.join("kprobe-hackbench.dat"), &Job::default()).unwrap();
    let (again, _) = cut(folder.path(), &source, &Selection::all());
    let roles = |loaded: &LoadedTrace| {
        let events = (0..loaded.trace.events.len() as u32).map(EventId);
        let details = events.map(|id| describe(&loaded.trace, loaded.reader.as_ref(), id));
        let fields = details.flat_map(|detail| detail.fields);
        let added = |role| matches!(role, FieldRole::Common | FieldRole::Probe);
        let fields = fields.filter(|field| added(field.role));
        fields.map(|field| field.name).collect::<BTreeSet<String>>()
    };
    assert_eq!(roles(&again), roles(&source));
    assert_eq!(roles(&again).len(), 7);
}

#[test]
fn names_of_other_programs_imply_no_kind() {
    let folder = tempfile::tempdir().unwrap();
    let source = written(folder.path(), |out| {
        let mut event = |event_type, time, name: &'static str, word| {
            let names = (out.name("timer"), out.name(name));
            let head = Head {
                category: names.0,
                name: names.1,
                ..head(event_type, time, 11)
            };
            out.event(head, &[], word);
        };
        event(EventType::Complete, 100, "outer", Some(900));
        event(EventType::FlowBegin, 150, "pipe", Some(7));
        event(EventType::FlowEnd, 800, "pipe", Some(7));
    });
    let expected = counts(&source);
    assert_eq!(expected.0, BTreeMap::from([(SliceKind::Durations, 1)]));
    assert_eq!(expected.1, BTreeMap::from([("stated", 1)]));
    // Copied records, records that the range cuts among them, and rows of the model.
    let (copied, _) = cut(folder.path(), &source, &Selection::all());
    assert_eq!(counts(&copied), expected);
    let (part, _) = cut(folder.path(), &source, &range(200, 850));
    assert_eq!(counts(&part), expected);
    let (rows, _) = encoded(folder.path(), &source);
    assert_eq!(counts(&rows), expected);
}
