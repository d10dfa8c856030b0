//! The process tree as the list of rows that a table shows: sorted, filtered, opened and closed.
//!
//! Siblings are sorted among themselves, so a child always stands below its parent. A filter keeps what matches
//! with all its ancestors, and shows them open.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::process_times::{ProcessTimes, arguments_of, program_of};
use crate::trace::{ProcessId, Trace};

/// What siblings are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortBy {
    /// The program's name.
    Program,
    /// The pid.
    Pid,
    /// When it began.
    #[default]
    Start,
    /// How long it lived.
    Duration,
    /// The time in which none of its children lived.
    Own,
    /// Its own time and that of all below it.
    Subtree,
    /// Its exit code or signal.
    Exit,
    /// How many children it has.
    Children,
    /// How many files it opened.
    Files,
    /// Its arguments.
    Arguments,
}

/// Which end of the order comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

/// Which processes show their children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opened {
    /// What holds for those that are not in `others`.
    pub rule: OpenRule,
    /// Those for which the opposite holds. Shared: a view is compared and kept once a frame.
    pub others: Arc<FxHashSet<ProcessId>>,
}

/// What is open unless the user said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OpenRule {
    /// Everything.
    #[default]
    All,
    /// Nothing.
    None,
}

impl Opened {
    /// Whether the children of `id` are shown.
    #[must_use]
    pub(crate) fn is_open(&self, id: ProcessId) -> bool {
        (self.rule == OpenRule::All) != self.others.contains(&id)
    }

    /// Shows or hides the children of `id`.
    pub(crate) fn set(&mut self, id: ProcessId, open: OpenRule) {
        if open == self.rule {
            Arc::make_mut(&mut self.others).remove(&id);
        } else {
            Arc::make_mut(&mut self.others).insert(id);
        }
    }

    /// Shows them if they are hidden, else hides them.
    pub(crate) fn toggle(&mut self, id: ProcessId) {
        let open = if self.is_open(id) {
            OpenRule::None
        } else {
            OpenRule::All
        };
        self.set(id, open);
    }
}

/// How the tree is to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeView {
    /// What siblings are sorted by.
    pub sort: SortBy,
    /// Which end comes first.
    pub order: Order,
    /// Words that must all be in a process's program, arguments or pid.
    pub filter: String,
    /// What is open.
    pub opened: Opened,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TreeRow {
    /// The process.
    pub id: ProcessId,
    /// How deep it lies.
    pub depth: u32,
    /// Whether its children follow.
    pub is_open: bool,
    /// Whether it has children that can be shown.
    pub has_children: bool,
    /// Whether it matches the filter itself (it may be there for what lies below).
    pub is_match: bool,
}

/// Puts the rows together.
#[must_use]
pub fn rows(trace: &Trace, times: &ProcessTimes, view: &TreeView) -> Vec<TreeRow> {
    let words: Vec<String> = view
        .filter
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let filtered = (!words.is_empty()).then(|| Filtered::new(trace, times, &words));
    let keeps = |id: ProcessId| {
        filtered
            .as_ref()
            .is_none_or(|filtered| filtered.kept[id.0 as usize])
    };
    let sorted = |ids: &[ProcessId]| -> Vec<ProcessId> {
        let mut ids: Vec<ProcessId> = ids.iter().copied().filter(|&id| keeps(id)).collect();
        sort_siblings(trace, times, view, &mut ids);
        ids
    };
    let mut out = Vec::new();
    let mut stack: Vec<(ProcessId, u32)> = Vec::new();
    let push = |stack: &mut Vec<(ProcessId, u32)>, ids: Vec<ProcessId>, depth| {
        stack.extend(ids.into_iter().rev().map(|id| (id, depth)));
    };
    push(&mut stack, sorted(&times.tree.roots), 0);
    while let Some((id, depth)) = stack.pop() {
        let all = times
            .tree
            .children
            .get(id.0 as usize)
            .map_or(&[][..], Vec::as_slice);
        let has_children = all.iter().any(|&child| keeps(child));
        let is_open = has_children && (filtered.is_some() || view.opened.is_open(id));
        out.push(TreeRow {
            id,
            depth,
            is_open,
            has_children,
            is_match: filtered
                .as_ref()
                .is_none_or(|filtered| filtered.matches[id.0 as usize]),
        });
        if is_open {
            push(&mut stack, sorted(all), depth + 1);
        }
    }
    out
}

fn sort_siblings(trace: &Trace, times: &ProcessTimes, view: &TreeView, ids: &mut [ProcessId]) {
    if ids.len() < 2 {
        return;
    }
    let process = |id: ProcessId| trace.processes.get(id.0 as usize);
    let time = |id: ProcessId| times.of(id);
    let oriented = |order: Ordering| match view.order {
        Order::Ascending => order,
        Order::Descending => order.reverse(),
    };
    let name = |id: ProcessId| process(id).map(|it| trace.strings.bytes(it.name));
    let exit = |id: ProcessId| process(id).map(|it| (it.exit_signal, it.exit_status));
    let start = |id: ProcessId| (time(id).span.start, id);
    match view.sort {
        SortBy::Arguments => {
            let mut keyed: Vec<(String, ProcessId)> = ids
                .iter()
                .map(|&id| (arguments_of(trace, id), id))
                .collect();
            keyed.sort_by(|a, b| oriented(a.0.cmp(&b.0)).then(start(a.1).cmp(&start(b.1))));
            for (slot, (_, id)) in ids.iter_mut().zip(keyed) {
                *slot = id;
            }
        }
        sort => ids.sort_by(|&a, &b| {
            let order = match sort {
                SortBy::Program => name(a).cmp(&name(b)),
                SortBy::Pid => process(a)
                    .map(|it| it.pid)
                    .cmp(&process(b).map(|it| it.pid)),
                SortBy::Start | SortBy::Arguments => time(a).span.start.cmp(&time(b).span.start),
                SortBy::Duration => time(a).span.duration().cmp(&time(b).span.duration()),
                SortBy::Own => time(a).own.cmp(&time(b).own),
                SortBy::Subtree => time(a).subtree.cmp(&time(b).subtree),
                SortBy::Exit => exit(a).cmp(&exit(b)),
                SortBy::Children => time(a).children.cmp(&time(b).children),
                SortBy::Files => process(a)
                    .map(|it| it.opens)
                    .cmp(&process(b).map(|it| it.opens)),
            };
            oriented(order).then_with(|| start(a).cmp(&start(b)))
        }),
    }
}

/// What a filter keeps.
struct Filtered {
    matches: Vec<bool>,
    kept: Vec<bool>,
}

impl Filtered {
    fn new(trace: &Trace, times: &ProcessTimes, words: &[String]) -> Filtered {
        use rayon::prelude::*;
        let matches: Vec<bool> = (0..trace.processes.len() as u32)
            .into_par_iter()
            .map(|id| matches(trace, ProcessId(id), words))
            .collect();
        let mut kept = matches.clone();
        for (id, _) in times.tree.walk().into_iter().rev() {
            let children = &times.tree.children[id.0 as usize];
            if children.iter().any(|child| kept[child.0 as usize]) {
                kept[id.0 as usize] = true;
            }
        }
        Filtered { matches, kept }
    }
}

/// Whether all words are in a process's program, path, arguments or pid. The words are in lower case.
#[must_use]
pub(crate) fn matches(trace: &Trace, id: ProcessId, words: &[String]) -> bool {
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return false;
    };
    let mut text = program_of(trace, id).to_lowercase();
    for image in &process.images {
        text.push(' ');
        text.push_str(&trace.text(image.program).to_lowercase());
        for &argument in &image.arguments {
            text.push(' ');
            text.push_str(&trace.text(argument).to_lowercase());
        }
    }
    let pid = process.pid.to_string();
    words
        .iter()
        .all(|word| text.contains(word.as_str()) || pid == *word)
}

#[cfg(test)]
mod tests {
    use super::super::process_times::tests::trace_of;
    use super::*;

    fn shown(trace: &Trace, view: &TreeView) -> Vec<(u32, u32)> {
        let times = ProcessTimes::new(trace);
        rows(trace, &times, view)
            .iter()
            .map(|row| (row.id.0, row.depth))
            .collect()
    }

    fn tree() -> Trace {
        let mut trace = trace_of(&[
            (None, 0, 50),
            (Some(0), 1, 5),
            (Some(0), 2, 30),
            (Some(2), 3, 4),
            (Some(2), 6, 20),
            (None, 40, 60),
        ]);
        for (process, name) in trace
            .processes
            .iter_mut()
            .zip(["make", "sh", "gcc", "as", "cc1", "rmmod"])
        {
            process.name = trace.strings.intern_text(name);
        }
        trace
    }

    #[test]
    fn siblings_are_sorted_within_their_parents() {
        let trace = tree();
        let view = TreeView::default();
        let by_start = [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2), (5, 0)];
        assert_eq!(shown(&trace, &view), by_start);
        let longest = TreeView {
            sort: SortBy::Duration,
            order: Order::Descending,
            ..view.clone()
        };
        let expected = [(0, 0), (2, 1), (4, 2), (3, 2), (1, 1), (5, 0)];
        assert_eq!(shown(&trace, &longest), expected);
        let names = TreeView {
            sort: SortBy::Program,
            ..view
        };
        assert_eq!(shown(&trace, &names)[1..3], [(2, 1), (3, 2)]);
    }

    #[test]
    fn a_filter_shows_matches_with_their_ancestors() {
        let trace = tree();
        let mut view = TreeView {
            filter: "CC1".to_owned(),
            ..TreeView::default()
        };
        view.opened.rule = OpenRule::None;
        assert_eq!(shown(&trace, &view), [(0, 0), (2, 1), (4, 2)]);
        let times = ProcessTimes::new(&trace);
        let is_match: Vec<bool> = rows(&trace, &times, &view)
            .iter()
            .map(|row| row.is_match)
            .collect();
        assert_eq!(is_match, [false, false, true]);
    }

    #[test]
    fn closed_processes_hide_what_is_below() {
        let trace = tree();
        let mut view = TreeView::default();
        view.opened.toggle(ProcessId(2));
        assert_eq!(shown(&trace, &view), [(0, 0), (1, 1), (2, 1), (5, 0)]);
        view.opened = Opened {
            rule: OpenRule::None,
            ..Opened::default()
        };
        view.opened.set(ProcessId(0), OpenRule::All);
        assert_eq!(shown(&trace, &view), [(0, 0), (1, 1), (2, 1), (5, 0)]);
    }

    #[test]
    fn all_of_two_hundred_thousand_processes_are_listed() {
        let lives: Vec<_> = (0..200_000_u32)
            .map(|id| {
                (
                    (id > 0).then_some(id / 3),
                    i64::from(id),
                    i64::from(id) + 50,
                )
            })
            .collect();
        let trace = trace_of(&lives);
        let times = ProcessTimes::new(&trace);
        let view = TreeView {
            sort: SortBy::Own,
            ..TreeView::default()
        };
        assert_eq!(rows(&trace, &times, &view).len(), 200_000);
    }
}
