//! Start times for files of `strace -ff` whose own times do not order them: a child starts after the call that created
//! it.
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
use super::fold::{Birth, Found};
use super::reader::{TextReader, pid_of_name};

const SECOND_NS: i64 = 1_000_000_000;

/// A fork in one of the files.
#[derive(Clone, Copy)]
struct Fork {
    /// Index of the file that contains the fork.
    parent: usize,
    /// Time of the fork on the time axis of that file.
    time: i64,
}

/// Shifts the start times of the files of `readers`; `found` contains the facts about each file.
pub(super) fn start_at_forks(readers: &[TextReader], found: &mut [Found]) {
    let Some(clock) = readers.first().map(|reader| reader.head.clock) else {
        return;
    };
    let is_placed = matches!(clock, Clock::Unix | Clock::Day);
    if is_placed || readers.iter().any(|reader| reader.head.clock != clock) {
        return;
    }
    let forks = forks(readers, found);
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
            match forks.get(at).copied().flatten() {
                Some(fork) => at = fork.parent,
                None => break,
            }
        }
        for &at in path.iter().rev() {
            if shifts[at].is_none() {
                let fork = forks.get(at).copied().flatten();
                let shift = fork.map(|fork| shift(readers, &shifts, clock, at, fork));
                shifts[at] = Some(shift.unwrap_or(0));
            }
        }
    }
    for (found, shift) in found.iter_mut().zip(shifts) {
        found.shift = shift.unwrap_or(0).max(0);
    }
}

/// Returns the shift of file `at`, whose process `fork` created.
fn shift(
    readers: &[TextReader],
    shifts: &[Option<i64>],
    clock: Clock,
    at: usize,
    fork: Fork,
) -> i64 {
    let start = |file: usize| {
        let reader = readers.get(file).filter(|it| !it.parts.is_empty());
        reader.map_or(0, |reader| reader.head.start().last())
    };
    let of_parent = shifts.get(fork.parent).copied().flatten().unwrap_or(0);
    if clock != Clock::DaySeconds {
        return fork.time.saturating_add(of_parent);
    }
    let is_in_second = |time: i64, of: i64| (0..SECOND_NS).contains(&time.saturating_sub(of));
    let moves = is_in_second(fork.time, start(fork.parent));
    let time = fork.time.saturating_add(if moves { of_parent } else { 0 });
    match is_in_second(time, start(at)) {
        // One step (1 us) after the line of the fork.
        true => time.saturating_sub(start(at)).saturating_add(1_000),
        false => 0,
    }
}

/// Returns, for each file, the first fork that created its process.
fn forks(readers: &[TextReader], found: &[Found]) -> Vec<Option<Fork>> {
    let pids = readers
        .iter()
        .map(|reader| pid_of_name(&reader.input.file_name));
    let files: FxHashMap<u32, usize> = pids.zip(0..).filter_map(|(p, at)| Some((p?, at))).collect();
    let mut forks = vec![None; readers.len()];
    for (parent, found) in found.iter().enumerate() {
        for &Birth { child, time } in &found.births {
            if let Some(slot) = files.get(&child).and_then(|&at| forks.get_mut(at)) {
                slot.get_or_insert(Fork { parent, time });
            }
        }
    }
    forks
}
