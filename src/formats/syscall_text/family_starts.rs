//! Where the files of `strace -ff` begin whose times do not order them: a child's behind the call that made it.
//!
//! ```text
//! o.10   1 execve   2 clone = 11   3 wait4          o.11 without times:   1 -> 3 execve   2 -> 4 exit_group
//! ```
//!
//! Files without times or with relative ones begin at their fork. Whole seconds are spread over their lines: a child
//! whose first second is that of its fork begins behind it in that second. Other times are as they are.

use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::scan::Birth;
use super::{TextReader, pid_of_name};

const SECOND_NS: i64 = 1_000_000_000;

/// A fork in one of the files.
#[derive(Clone, Copy)]
struct Fork {
    /// The file it is in.
    parent: usize,
    /// When, as that file alone has it.
    time: i64,
}

/// Moves the beginnings of `readers`.
pub(super) fn start_at_forks(readers: &mut [TextReader]) {
    let Some(clock) = readers.first().map(|reader| reader.scan.clock) else {
        return;
    };
    let is_placed = matches!(clock, Clock::Unix | Clock::Day);
    if is_placed || readers.iter().any(|reader| reader.scan.clock != clock) {
        return;
    }
    let forks = forks(readers);
    let mut shifts: Vec<Option<i64>> = vec![None; readers.len()];
    // The last walk (its first file + 1) that met each file.
    let mut on_path = vec![0_usize; readers.len()];
    for file in 0..readers.len() {
        // Up to a file whose beginning is known; who is his own ancestor is not moved.
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
    for (reader, shift) in readers.iter_mut().zip(shifts) {
        let shift = shift.filter(|&shift| shift > 0);
        let first = reader.scan.first_of_day();
        for part in &mut reader.scan.parts {
            let Some(shift) = shift else { continue };
            part.time = match (clock, first) {
                (Clock::DaySeconds, Some(first)) => part.time.within_second(first, shift),
                (Clock::DaySeconds, None) => part.time,
                _ => part.time.moved(shift),
            };
        }
    }
}

/// How far the file `at`, made by `fork`, moves.
fn shift(
    readers: &[TextReader],
    shifts: &[Option<i64>],
    clock: Clock,
    at: usize,
    fork: Fork,
) -> i64 {
    let start = |file: usize| {
        let first = readers.get(file).and_then(|it| it.scan.parts.first());
        first.map_or(0, |part| part.time.last())
    };
    let of_parent = shifts.get(fork.parent).copied().flatten().unwrap_or(0);
    if clock != Clock::DaySeconds {
        return fork.time.saturating_add(of_parent);
    }
    let is_in_second = |time: i64, of: i64| (0..SECOND_NS).contains(&time.saturating_sub(of));
    let moves = is_in_second(fork.time, start(fork.parent));
    let time = fork.time.saturating_add(if moves { of_parent } else { 0 });
    match is_in_second(time, start(at)) {
        // A line's step behind the fork.
        true => time.saturating_sub(start(at)).saturating_add(1_000),
        false => 0,
    }
}

/// The first fork that made each file's process.
fn forks(readers: &[TextReader]) -> Vec<Option<Fork>> {
    let pids = readers
        .iter()
        .map(|reader| pid_of_name(&reader.input.file_name));
    let files: FxHashMap<u32, usize> = pids.zip(0..).filter_map(|(p, at)| Some((p?, at))).collect();
    let mut forks = vec![None; readers.len()];
    for (parent, reader) in readers.iter().enumerate() {
        for &Birth { child, time } in &reader.scan.births {
            if let Some(slot) = files.get(&child).and_then(|&at| forks.get_mut(at)) {
                slot.get_or_insert(Fork { parent, time });
            }
        }
    }
    forks
}
