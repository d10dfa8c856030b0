//! The time of each process: its life, its own part, and the times of all processes below it.
//!
//! ```text
//! make  |--------------------------------|      life 32
//! gcc      |-----------|   |--------|           own time of make: 32 - 12 - 9 = 11
//! cc1         |------|                          subtree of the first gcc: its own 5 + cc1's 7
//! ```
//!
//! A process's own time is the part of its life in which none of its children lived. In the rest of its life it mostly
//! waited for them.

use super::process_tree::{ProcessTree, Visited};
use super::seen::{Length, Seen};
use crate::base::strings::{base_name, text_of};
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::trace::{ProcessId, Trace};

/// The processes and their times.
#[derive(Clone, Debug, Default)]
pub struct ProcessTimes {
    /// The processes as a forest.
    pub tree: ProcessTree,
    /// The times of each process, by [`ProcessId`].
    pub rows: Vec<ProcessTime>,
    /// The number of processes above each process, by [`ProcessId`].
    pub depths: Vec<u32>,
}

/// The times of one process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessTime {
    /// The part of the process's life that is in the trace; without an end, only as long as it certainly lived.
    pub span: TimeSpan,
    /// The part of its life in which none of its children lived; a lower bound if its life is one.
    pub own: Length,
    /// Its own time and the time of all processes below it; a lower bound if one of these is.
    pub subtree: Length,
    /// The number of its children.
    pub children: u32,
    /// The number of processes below it.
    pub below: u32,
}

/// Returns the part of a process's life that is in the trace.
#[must_use]
pub(crate) fn life_of(trace: &Trace, id: ProcessId) -> TimeSpan {
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return TimeSpan::default();
    };
    let seen = trace.file_span(id.0, |source| &source.processes);
    let start = process.start.unwrap_or(seen.start);
    TimeSpan::new(start, process.end.unwrap_or(seen.end).max(start))
}

impl ProcessTimes {
    /// Computes the times of all processes.
    #[must_use]
    pub fn new(trace: &Trace) -> ProcessTimes {
        let tree = ProcessTree::new(trace);
        let seen = Seen::new(trace);
        let mut rows: Vec<ProcessTime> = certain_lives(trace, &seen)
            .map(|span| ProcessTime {
                span,
                ..ProcessTime::default()
            })
            .collect();
        let walk = tree.walk();
        let mut depths = vec![0; rows.len()];
        for Visited { id, depth } in walk.iter().copied() {
            depths[id.0 as usize] = depth;
            let children = &tree.children[id.0 as usize];
            let span = rows[id.0 as usize].span;
            let life = life_length(trace, id, span);
            let lives = children
                .iter()
                .map(|&child| (child, rows[child.0 as usize].span));
            let own = own_length(trace, life, span, lives);
            let row = &mut rows[id.0 as usize];
            row.own = own;
            row.children = children.len() as u32;
        }
        // The walk visits parents before their children: in reverse order, each child's sum is complete before it is
        // added to its parent's.
        for Visited { id, .. } in walk.iter().rev().copied() {
            let mut row = rows[id.0 as usize];
            row.subtree = row.own;
            for child in &tree.children[id.0 as usize] {
                let child = rows[child.0 as usize];
                row.subtree = row.subtree.plus(child.subtree);
                row.below = row.below.saturating_add(child.below).saturating_add(1);
            }
            rows[id.0 as usize] = row;
        }
        ProcessTimes { tree, rows, depths }
    }

    /// Returns a process's times; zeros if there is no such process.
    #[must_use]
    pub fn of(&self, id: ProcessId) -> ProcessTime {
        self.rows.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// Returns how long a process lived; a lower bound if the trace does not contain its start or its end.
    #[must_use]
    pub(crate) fn life(&self, trace: &Trace, id: ProcessId) -> Length {
        life_length(trace, id, self.of(id).span)
    }

    /// Returns the processes above `id`, starting with the root; `id` itself is last.
    #[must_use]
    pub fn path_to(&self, trace: &Trace, id: ProcessId) -> Vec<ProcessId> {
        let mut path = vec![id];
        let depth = self.depths.get(id.0 as usize).copied().unwrap_or(0);
        // Loops of parents were cut in the tree: the number of ancestors is the depth.
        for _ in 0..depth {
            let above = path
                .last()
                .and_then(|last| trace.processes.get(last.0 as usize)?.parent);
            path.extend(above);
        }
        path.reverse();
        path
    }

    /// Returns `id`, its child that lived longest, the child of that child that lived longest, and so on.
    #[must_use]
    pub(crate) fn slowest_path(&self, id: ProcessId) -> Vec<ProcessId> {
        let mut path = vec![id];
        let mut at = id;
        while let Some(&child) = self.tree.children.get(at.0 as usize).and_then(|children| {
            children
                .iter()
                .max_by_key(|child| (self.of(**child).span.duration(), std::cmp::Reverse(child.0)))
        }) {
            path.push(child);
            at = child;
        }
        path
    }
}

/// Returns the certain part of the life of each process in the trace: without an end, to the last event of its threads,
/// or to where its end may have been lost.
fn certain_lives(trace: &Trace, seen: &Seen) -> impl Iterator<Item = TimeSpan> {
    let processes = (0..).map(ProcessId).zip(&trace.processes);
    processes.map(move |(id, process)| {
        let life = life_of(trace, id);
        if process.end.is_some() {
            return life;
        }
        let until = seen.life_until(trace, id, life.start);
        match until.saturating_add(Nanos(1)) >= life.end {
            true => life,
            false => TimeSpan::new(life.start, until),
        }
    })
}

/// Returns how long a process lived whose certain life in the trace is `span`.
fn life_length(trace: &Trace, id: ProcessId, span: TimeSpan) -> Length {
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return Length::AtLeast(0);
    };
    match (process.born(), process.end) {
        (Some(_), Some(_)) => Length::Known(span.duration().0),
        (None, Some(_)) => Length::AtLeast(span.duration().0),
        (_, None) => {
            // The last event is in the last nanosecond of the file: the time after it is unknown.
            let file = trace.file_span(id.0, |source| &source.processes);
            let last = file.end.saturating_add(Nanos(-1)).max(span.start);
            Length::AtLeast((span.end.min(last) - span.start).0)
        }
    }
}

/// Returns the part of a life over `span` in which none of its children lived; a lower bound if a child may have lived
/// longer in it than `lives` says.
fn own_length(
    trace: &Trace,
    life: Length,
    span: TimeSpan,
    lives: impl Iterator<Item = (ProcessId, TimeSpan)>,
) -> Length {
    let mut are_certain = true;
    let mut possible: Vec<TimeSpan> = lives
        .map(|(id, certain)| {
            let process = trace.processes.get(id.0 as usize);
            let (mut start, mut end) = (certain.start, certain.end);
            if process.is_none_or(|it| it.born().is_none()) {
                start = start.min(span.start);
            }
            if process.is_none_or(|it| it.end.is_none()) {
                end = end.max(span.end);
            }
            let is_longer = |start: Timestamp, end: Timestamp| start < end.min(span.end);
            are_certain &= !is_longer(start.max(span.start), certain.start)
                && !is_longer(certain.end.max(span.start), end);
            TimeSpan::new(start, end)
        })
        .collect();
    possible.sort_unstable_by_key(|life| life.start);
    let own = life.map(|life| life - covered(span, possible.into_iter()));
    match are_certain {
        true => own,
        false => Length::AtLeast(own.certain()),
    }
}

/// Returns the part of `span` that the lives of children cover, which are sorted by start.
fn covered(span: TimeSpan, lives: impl Iterator<Item = TimeSpan>) -> i64 {
    let mut sum = 0;
    let mut until = span.start;
    for life in lives {
        let start = life.start.max(until);
        let end = life.end.min(span.end);
        if end > start {
            sum += (end - start).0;
            until = end;
        }
    }
    sum
}

/// Returns a process's program: the last one that it ran, without its folder, else the process's name. Empty if neither
/// is known.
///
/// The name comes second because the kernel cuts it after 15 bytes, and threads can change it.
#[must_use]
pub(crate) fn program_bytes(trace: &Trace, id: ProcessId) -> &[u8] {
    let Some(process) = trace.processes.get(id.0 as usize) else {
        return &[];
    };
    let image = process.images.last().map(|image| image.program);
    let path = image.map_or(&[][..], |program| trace.strings.bytes(program));
    match base_name(path) {
        [] => trace.strings.bytes(process.name),
        name => name,
    }
}

/// Returns a process's program as text; its pid if the program is not known.
#[must_use]
pub fn program_of(trace: &Trace, id: ProcessId) -> String {
    let name = program_bytes(trace, id);
    match trace.processes.get(id.0 as usize) {
        Some(process) if name.is_empty() => format!("pid {}", process.pid),
        _ => text_of(name).into_owned(),
    }
}

/// Returns the arguments of the last program that a process ran, in one line; its path if the arguments are not known.
#[must_use]
pub fn arguments_of(trace: &Trace, id: ProcessId) -> String {
    let image = trace
        .processes
        .get(id.0 as usize)
        .and_then(|process| process.images.last());
    let Some(image) = image else {
        return String::new();
    };
    if image.arguments.is_empty() {
        return trace.text(image.program).into_owned();
    }
    let words: Vec<_> = image.arguments.iter().map(|&id| trace.text(id)).collect();
    words.join(" ")
}

/// Returns the beginning of the line of [`arguments_of`], of about `most` bytes: a linker may have megabytes of
/// arguments.
#[must_use]
pub(crate) fn first_arguments_of(trace: &Trace, id: ProcessId, most: usize) -> String {
    let image = trace
        .processes
        .get(id.0 as usize)
        .and_then(|process| process.images.last());
    let Some(image) = image else {
        return String::new();
    };
    let program = std::slice::from_ref(&image.program);
    let words = match image.arguments.as_slice() {
        [] => program,
        words => words,
    };
    let mut line = String::new();
    for (index, &word) in words.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        let word = trace.text(word);
        let left = most.saturating_sub(line.len());
        let end = word.floor_char_boundary(left);
        line.push_str(word.get(..end).unwrap_or(""));
        if line.len() >= most || end < word.len() {
            line.push('…');
            break;
        }
    }
    line
}

/// Returns whether all words are in a process's program, path or arguments, or are its pid. The words are in lower
/// case.
#[must_use]
pub(crate) fn is_found(trace: &Trace, id: ProcessId, words: &[&str]) -> bool {
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
    words.iter().all(|word| text.contains(word) || pid == *word)
}

/// A number from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountFrom {
    /// The time of the change.
    pub time: Timestamp,
    /// The number from this time on.
    pub count: u32,
}

/// Returns the number of living processes as steps.
#[must_use]
pub(crate) fn alive(times: &ProcessTimes) -> Vec<CountFrom> {
    steps(times.rows.iter().map(|row| row.span))
}

/// Returns the degree of parallelism as steps: the number of living processes that have no living child.
#[must_use]
pub fn parallelism(trace: &Trace, times: &ProcessTimes) -> Vec<CountFrom> {
    let own = (0..times.rows.len() as u32).flat_map(|id| own_spans(trace, times, ProcessId(id)));
    steps(own)
}

/// Returns the stretches of a process's life in which none of its children lived; none for a process from before the
/// trace. For a process without an end, the last stretch lasts to the end of the trace if the process ran a program and
/// has no children. Otherwise it lasts until the process was last seen, because the process may only wait after that.
fn own_spans(trace: &Trace, times: &ProcessTimes, id: ProcessId) -> Vec<TimeSpan> {
    let life = times.of(id).span;
    let Some(process) = trace
        .processes
        .get(id.0 as usize)
        .filter(|process| process.start.is_some())
    else {
        return Vec::new();
    };
    let mut spans = Vec::new();
    let mut from = life.start;
    let is_leaf = times.tree.children[id.0 as usize].is_empty();
    for child in &times.tree.children[id.0 as usize] {
        let child = times.of(*child).span;
        if child.start > from {
            spans.push(TimeSpan::new(from, child.start.min(life.end)));
        }
        from = from.max(child.end);
    }
    let until = match process.end {
        Some(_) => life.end,
        None if is_leaf && !process.images.is_empty() => life.end,
        None => (process
            .main_thread
            .and_then(|id| trace.threads.get(id.0 as usize)))
        .map_or(from, |thread| thread.seen.last),
    };
    if from < until {
        spans.push(TimeSpan::new(from, until));
    }
    spans
}

fn steps(spans: impl Iterator<Item = TimeSpan>) -> Vec<CountFrom> {
    let mut edges: Vec<(Timestamp, i32)> = spans
        .filter(|span| !span.is_empty())
        .flat_map(|span| [(span.start, 1), (span.end, -1)])
        .collect();
    edges.sort_unstable();
    let mut out: Vec<CountFrom> = Vec::new();
    let mut sum = 0_i64;
    for (time, change) in edges {
        sum += i64::from(change);
        let count = u32::try_from(sum.max(0)).unwrap_or(u32::MAX);
        match out.last_mut() {
            Some(last) if last.time == time => last.count = count,
            _ => out.push(CountFrom { time, count }),
        }
    }
    out.dedup_by(|next, kept| next.count == kept.count);
    out
}

/// The mean and the largest of a number over a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanAndMost {
    /// The time-weighted mean.
    pub mean: f64,
    /// The largest.
    pub most: u32,
}

/// Returns the mean and the largest of `steps` over `span`.
#[must_use]
pub fn mean_and_most(steps: &[CountFrom], span: TimeSpan) -> MeanAndMost {
    let mut sum = 0.0;
    let mut most = 0;
    for (index, step) in steps.iter().enumerate() {
        let until = steps.get(index + 1).map_or(span.end, |next| next.time);
        let part = TimeSpan::new(step.time, until.max(step.time)).intersection(span);
        if part.duration().0 > 0 {
            sum += part.duration().0 as f64 * f64::from(step.count);
            most = most.max(step.count);
        }
    }
    let mean = sum / (span.duration().0 as f64).max(1.0);
    MeanAndMost { mean, most }
}

/// Returns steps as points of a curve over `span`: all steps, or, if there are more than `most`, the largest value in
/// each of `most` equal parts.
#[must_use]
pub(crate) fn curve(steps: &[CountFrom], span: TimeSpan, most: usize) -> Vec<CountFrom> {
    if steps.len() <= most {
        return steps.to_vec();
    }
    let length = i128::from(span.duration().0.max(1));
    let mut out: Vec<CountFrom> = Vec::new();
    let mut before = 0;
    let mut last = None;
    for &CountFrom { time, count } in steps {
        let bucket = i128::from((time - span.start).0) * most as i128 / length;
        if last == Some(bucket) {
            if let Some(entry) = out.last_mut() {
                entry.count = entry.count.max(count);
            }
        } else {
            // The value before this part still holds at its start.
            let count = count.max(before);
            out.push(CountFrom { time, count });
            last = Some(bucket);
        }
        before = count;
    }
    out.extend(steps.last());
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::StringId;
    use crate::event::ForkSort;
    use crate::trace::Process;

    /// Processes from (parent, start, end).
    pub(crate) fn trace_of(lives: &[(Option<u32>, i64, i64)]) -> Trace {
        let processes = lives
            .iter()
            .enumerate()
            .map(|(pid, &(parent, start, end))| Process {
                parent: parent.map(ProcessId),
                start: Some(Timestamp(start)),
                made: Some(ForkSort::Process),
                end: Some(Timestamp(end)),
                ..Process::new(pid as u64, pid as u64)
            })
            .collect::<Vec<_>>()
            .into();
        Trace {
            processes,
            span: TimeSpan::new(Timestamp(0), Timestamp(100)),
            ..Trace::default()
        }
    }

    #[test]
    fn own_and_subtree_times_add_up() {
        let trace = trace_of(&[
            (None, 0, 32),
            (Some(0), 3, 15),
            (Some(1), 6, 13),
            (Some(0), 20, 29),
            // Outlives its parent.
            (Some(3), 25, 40),
        ]);
        let times = ProcessTimes::new(&trace);
        let own: Vec<i64> = times.rows.iter().map(|row| row.own.certain()).collect();
        assert_eq!(own, [32 - 12 - 9, 5, 7, 5, 15]);
        let subtree: Vec<i64> = times.rows.iter().map(|row| row.subtree.certain()).collect();
        assert_eq!(subtree, [11 + 12 + 20, 12, 7, 20, 15]);
        assert_eq!(times.of(ProcessId(0)).below, 4);
        let path = times.path_to(&trace, ProcessId(2));
        assert_eq!(path, [ProcessId(0), ProcessId(1), ProcessId(2)]);
        let slowest = times.slowest_path(ProcessId(0));
        assert_eq!(slowest, [ProcessId(0), ProcessId(1), ProcessId(2)]);
    }

    #[test]
    fn times_of_a_process_without_an_end_are_lower_bounds() {
        let mut trace = trace_of(&[(None, 0, 32), (Some(0), 20, 29), (Some(1), 25, 40)]);
        trace.processes[2].end = None;
        let times = ProcessTimes::new(&trace);
        // The last event is in the last nanosecond of the trace.
        let open = Length::AtLeast(99 - 25);
        assert_eq!(times.life(&trace, ProcessId(2)), open);
        let own: Vec<Length> = times.rows.iter().map(|row| row.own).collect();
        assert_eq!(own, [Length::Known(32 - 9), Length::Known(5), open]);
        let subtree: Vec<Length> = times.rows.iter().map(|row| row.subtree).collect();
        assert_eq!(
            subtree,
            [Length::AtLeast(23 + 5 + 74), Length::AtLeast(5 + 74), open]
        );
    }

    #[test]
    fn a_process_whose_fork_was_lost_may_have_lived_longer() {
        let lives = [(None, 0, 32), (Some(0), 5, 8), (Some(0), 20, 29)];
        let mut trace = trace_of(&lives);
        trace.processes[2].made = None;
        let times = ProcessTimes::new(&trace);
        let second = ProcessId(2);
        assert_eq!(times.life(&trace, second), Length::AtLeast(9));
        let seen = Seen::new(&trace);
        let shown = crate::query::Item::Process(second).duration(&trace, &seen);
        assert_eq!(shown, Some(Length::AtLeast(9)));
        let own: Vec<Length> = times.rows.iter().map(|row| row.own).collect();
        // It may have been there from the start of its parent on.
        let own_of_parent = Length::AtLeast(3);
        assert_eq!(own, [own_of_parent, Length::Known(3), Length::AtLeast(9)]);
        let programs = crate::query::programs::programs(&trace, &times, |_| true);
        let [all] = programs.as_slice() else {
            panic!("{programs:?}")
        };
        assert_eq!((all.count, all.unfinished, all.at_least.0), (3, 1, 9));
    }

    #[test]
    fn long_lines_of_arguments_are_cut_where_a_character_ends() {
        let mut trace = trace_of(&[(None, 0, 32)]);
        let words = ["ld", "ää", "-o", "x"].map(|word| trace.strings.intern_text(word));
        trace.processes[0].images.push(crate::trace::ProgramImage {
            start: Timestamp(0),
            event: None,
            program: words[0],
            arguments: words.to_vec(),
            directory: StringId::EMPTY,
            interpreter: StringId::EMPTY,
        });
        let first = |most| first_arguments_of(&trace, ProcessId(0), most);
        assert_eq!(first(100), arguments_of(&trace, ProcessId(0)));
        assert_eq!(first(4), "ld …");
        assert_eq!(first(5), "ld ä…");
        assert_eq!(first(1), "l…");
    }

    #[test]
    fn parallelism_counts_who_works_not_who_waits() {
        let trace = trace_of(&[(None, 0, 20), (Some(0), 5, 15), (Some(0), 8, 12)]);
        let times = ProcessTimes::new(&trace);
        let steps = parallelism(&trace, &times);
        let numbers = steps.iter().map(|step| (step.time.0, step.count));
        let expected = [(0, 1), (8, 2), (12, 1), (20, 0)];
        assert_eq!(numbers.collect::<Vec<_>>(), expected);
        let found = mean_and_most(&steps, TimeSpan::new(Timestamp(0), Timestamp(20)));
        assert!((found.mean - 1.2).abs() < 1e-9 && found.most == 2);
        assert_eq!(alive(&times).iter().map(|step| step.count).max(), Some(3));
    }
}
