//! Files of `strace -ff` and the forks that created their processes: a process with a fork is not the command of strace,
//! and where the files' own times do not order them, it starts after the call that created it.
//!
//! ```text
//! o.10   1 execve   2 clone = 11   3 wait4          o.11 without times:   1 -> 3 execve   2 -> 4 exit_group
//! ```
//!
//! Files without times or with relative times start at their fork. Whole seconds are spread over the lines: a child
//! whose first second is the second of its fork starts after the fork. Other times are unchanged.
//!
//! Of the 29 strace texts of the corpus and the samples, 3 are files of `-ff`, of one recording. Their times are
//! complete, so none of them is shifted.

use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::fold::Found;
use super::reader::{TextReader, pid_of_name};

const SECOND_NS: i64 = 1_000_000_000;

/// A fork in one of the files.
#[derive(Clone, Copy)]
struct Origin {
    /// Index of the file that contains the fork.
    parent: usize,
    /// Time of the fork on the time axis of that file, if its call is on one line.
    time: Option<i64>,
}

/// Notes which files of `readers` begin with a fork, and shifts their start times; `found` contains the facts about each
/// file.
pub(super) fn join_at_forks(readers: &[TextReader], found: &mut [Found]) {
    let origins = origins(readers, found);
    for (found, origin) in found.iter_mut().zip(&origins) {
        found.is_command &= origin.is_none();
    }
    let Some(clock) = readers.first().map(|reader| reader.head.clock) else {
        return;
    };
    let is_placed = matches!(clock, Clock::Unix | Clock::Day);
    if is_placed || readers.iter().any(|reader| reader.head.clock != clock) {
        return;
    }
    let mut shifts: Vec<Option<i64>> = vec![None; readers.len()];
    // For each file, the last walk that visited it (its first file + 1).
    let mut on_path = vec![0_usize; readers.len()];
    for file in 0..readers.len() {
        // Walk to ancestors until the start of a file is known; files in a cycle of ancestors are not moved.
        let mut path = Vec::new();
        let mut at = file;
        while shifts[at].is_none() && on_path[at] != file + 1 {
            on_path[at] = file + 1;
            path.push(at);
            match origins.get(at).copied().flatten() {
                Some(origin) => at = origin.parent,
                None => break,
            }
        }
        for &at in path.iter().rev() {
            if shifts[at].is_none() {
                let origin = origins.get(at).copied().flatten();
                let shift = origin.map(|origin| shift(readers, &shifts, clock, at, origin));
                shifts[at] = Some(shift.unwrap_or(0));
            }
        }
    }
    for (found, shift) in found.iter_mut().zip(shifts) {
        found.shift = shift.unwrap_or(0).max(0);
    }
}

/// Returns the shift of file `at`, whose process was created at `origin`.
fn shift(
    readers: &[TextReader],
    shifts: &[Option<i64>],
    clock: Clock,
    at: usize,
    origin: Origin,
) -> i64 {
    let Some(forked) = origin.time else { return 0 };
    let start = |file: usize| {
        let reader = readers.get(file).filter(|it| !it.parts.is_empty());
        reader.map_or(0, |reader| reader.head.start().last())
    };
    let of_parent = shifts.get(origin.parent).copied().flatten().unwrap_or(0);
    if clock != Clock::DaySeconds {
        return forked.saturating_add(of_parent);
    }
    let is_in_second = |time: i64, of: i64| (0..SECOND_NS).contains(&time.saturating_sub(of));
    let moves = is_in_second(forked, start(origin.parent));
    let time = forked.saturating_add(if moves { of_parent } else { 0 });
    match is_in_second(time, start(at)) {
        // One step (1 us) after the line of the fork.
        true => time.saturating_sub(start(at)).saturating_add(1_000),
        false => 0,
    }
}

/// Returns, for each file, the first fork that created its process.
fn origins(readers: &[TextReader], found: &[Found]) -> Vec<Option<Origin>> {
    let pids = readers
        .iter()
        .map(|reader| pid_of_name(&reader.input.file_name));
    let files: FxHashMap<u32, usize> = pids.zip(0..).filter_map(|(p, at)| Some((p?, at))).collect();
    let mut origins = vec![None; readers.len()];
    for (parent, found) in found.iter().enumerate() {
        for fork in &found.forks {
            let slot = files.get(&fork.child).and_then(|&at| origins.get_mut(at));
            if let Some(slot) = slot {
                let time = fork.whole;
                slot.get_or_insert(Origin { parent, time });
            }
        }
    }
    origins
}
