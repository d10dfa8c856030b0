//! Depths: a reader of the track events nests slices as the trace does.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::layout::{packet, track_event};
use super::exported;
use super::read::{first, number};
use crate::base::Job;
use crate::export::Selection;
use crate::trace::{SliceId, Trace};

/// The number of slices at each start and depth.
type Depths = BTreeMap<(u64, usize), usize>;

fn depth_of(trace: &Trace, slice: SliceId) -> usize {
    let parents = std::iter::successors(Some(slice), |&slice| trace.slices.get(slice).parent);
    parents.count() - 1
}

#[test]
fn slices_are_as_deep_as_in_the_trace() {
    // In the first file, functions that were measured without a drawn length start and end together; in the second, a
    // slice of no length is the last one inside another, which ends where the next one starts.
    let files = [
        "tests/cases/over_losses/fgraph-whole.ftrace.txt.zst",
        "tests/cases/ftrace_text/last-of-no-length-before-the-next.ftrace",
        "sample-traces/compress.fxt",
        "sample-traces/shell-pipeline.strace",
    ];
    for file in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let loaded = crate::load::open(&path, &Job::default()).unwrap();
        let read = exported(&loaded, &Selection::all());
        let mut events: Vec<(u64, usize, u64, u64)> = read
            .messages(packet::TRACK_EVENT)
            .iter()
            .enumerate()
            .filter(|(_, (_, event))| first(event, track_event::NAME).is_none())
            .map(|(at, (packet, event))| {
                let time = number(packet, packet::TIMESTAMP);
                let track = number(event, track_event::TRACK);
                (time, at, track, number(event, track_event::TYPE))
            })
            .collect();
        events.sort_unstable();
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        let mut found = Depths::new();
        for (time, _, track, kind) in events {
            let depth = open.entry(track).or_default();
            match kind {
                track_event::SLICE_BEGIN => {
                    *found.entry((time, *depth)).or_default() += 1;
                    *depth += 1;
                }
                track_event::SLICE_END => *depth -= 1,
                _ => {}
            }
        }
        let trace = loaded.trace.as_ref();
        let mut expected = Depths::new();
        for slice in (0..trace.slices.len() as u32).map(SliceId) {
            let start = trace.slices.get(slice).start.0.cast_unsigned();
            *expected.entry((start, depth_of(trace, slice))).or_default() += 1;
        }
        assert!(expected.keys().any(|&(_, depth)| depth > 0), "{file}");
        assert_eq!(found, expected, "{file}");
    }
}
