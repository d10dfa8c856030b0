//! Labels of slices and threads that share a name.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::trace::{ThreadId, Trace};

/// Groups of labels that share a name and differ only in the event that ends their slices.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelGroups {
    /// The group of each label.
    pub of_label: Vec<u32>,
    /// The first label of each group.
    pub firsts: Vec<u32>,
}

impl LabelGroups {
    pub(super) fn of(trace: &Trace) -> LabelGroups {
        let mut groups = FxHashMap::default();
        let mut all = LabelGroups::default();
        for (at, label) in (0..).zip(&trace.slices.labels) {
            let next = all.firsts.len() as u32;
            let group = *groups.entry((label.name, label.category)).or_insert(next);
            if group == next {
                all.firsts.push(at);
            }
            all.of_label.push(group);
        }
        all
    }
}

/// The first thread that is called as each thread is.
pub(super) fn namesakes(trace: &Trace) -> Vec<u32> {
    let mut firsts: FxHashMap<Cow<'_, str>, u32> = FxHashMap::default();
    let threads = (0..trace.threads.len() as u32).map(ThreadId);
    threads
        .map(|id| *firsts.entry(trace.thread_name(id)).or_insert(id.0))
        .collect()
}
