//! The per-CPU files of one recording (`nfsdb_part_N`): their lines are merged by time into one text.
//!
//! ```text
//! nfsdb_part_0   0: upid,0,...      each file contains the lines printed on one CPU, in order; a task moves
//! nfsdb_part_1   0: upid,1,...      between CPUs, so one call may begin in one file and end in another
//! .nfsdb         INITCWD=<directory>                              at most one file has this line
//! ```
//!
//! A line without a time (a gap, garbage) stays after the line before it. [`Pieces`] record which section of the merged
//! text came from which file, so that messages contain the file and line of the user's files.
//!
//! Of the 21 etrace files of the corpus, 4 are such files, of one recording.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::{Job, Location, ReadError};
use crate::formats::Input;

use super::head::is_named;
use super::line::{parse_line, parse_lost};
use super::lines::{LineAt, line_at};

/// Number of lines of a file that are read to find its CPU.
const HEAD_LINES: usize = 200;
const CHECK_LINES: usize = 1 << 14;

/// The text of several files, merged.
pub(crate) struct Merged {
    pub text: Vec<u8>,
    pub pieces: Pieces,
}

/// The origin of the sections of a merged text.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// Start of each section, in order.
    starts: Vec<Piece>,
    inputs: Vec<Input>,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    merged: usize,
    input: u32,
    place: usize,
}

impl Pieces {
    /// Returns the location, in its own file, of the byte at `place` of the merged text.
    #[must_use]
    pub(crate) fn location(&self, place: usize) -> Option<Location> {
        let after = self.starts.partition_point(|piece| piece.merged <= place);
        let piece = self.starts.get(after.checked_sub(1)?)?;
        let own = piece.place + (place - piece.merged);
        let input = self.inputs.get(piece.input as usize)?;
        let before = input.bytes().get(..own)?;
        Some(Location::LineOfPart {
            part: piece.input + 1,
            line: memchr::memchr_iter(b'\n', before).count() as u64 + 1,
        })
    }

    /// Returns the file names, in the order in which locations number them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|input| input.file_name.as_str())
    }

    /// Returns the heap memory of the list of sections, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.starts.capacity() * size_of::<Piece>()) as u64
    }
}

/// Returns whether files are the per-CPU files of one recording: each file has lines of one CPU or is empty, and no two
/// files have the same CPU.
#[must_use]
pub(crate) fn are_parts(inputs: &[Input]) -> bool {
    let mut cpus = Vec::new();
    let mut heads = 0;
    for input in inputs {
        let mut own = None;
        let mut is_other = false;
        for line in input.bytes().split(|&byte| byte == b'\n').take(HEAD_LINES) {
            let is_head = is_named(line);
            heads += usize::from(is_head);
            is_other |= !is_head && !line.is_empty() && parse_lost(line).is_none();
            let Some(line) = parse_line(line) else {
                continue;
            };
            if own.is_some_and(|cpu| cpu != line.cpu) {
                return false;
            }
            own = Some(line.cpu);
        }
        match own {
            Some(cpu) if cpus.contains(&cpu) => return false,
            // The file has lines, but none with a CPU: it is not a per-CPU file.
            None if is_other => return false,
            own => cpus.extend(own),
        }
    }
    heads <= 1 && !cpus.is_empty() && inputs.len() >= 2
}

/// Merges the lines of all files into one text; returns it with the origin of its sections.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(crate) fn merge(inputs: Vec<Input>, job: &Job) -> Result<Merged, ReadError> {
    let total: usize = inputs.iter().map(|input| input.bytes().len()).sum();
    let mut merged = Vec::with_capacity(total.saturating_add(inputs.len()));
    let mut starts: Vec<Piece> = Vec::new();
    // The time of each file's next line; lines with equal times are in the order of the files.
    let mut heads: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let mut places = vec![0_usize; inputs.len()];
    for index in 0..inputs.len() as u32 {
        heads.push(Reverse((i64::MIN, index)));
    }
    let mut count = 0;
    while let Some(Reverse((_, index))) = heads.pop() {
        let (Some(input), Some(place)) =
            (inputs.get(index as usize), places.get_mut(index as usize))
        else {
            continue;
        };
        let next_head = heads.peek().map(|head| head.0);
        if merged.last().is_some_and(|&byte| byte != b'\n') {
            merged.push(b'\n');
        }
        starts.push(Piece {
            merged: merged.len(),
            input: index,
            place: *place,
        });
        let first = *place;
        // Copy lines of this file as long as its next line is the earliest.
        let waits_until = loop {
            count += 1;
            if count % CHECK_LINES == 0 {
                job.check()?;
            }
            let Some(LineAt { line, next }) = line_at(input.bytes(), *place) else {
                break None;
            };
            let time = parse_line(line).map(|line| line.time);
            if let Some(time) = time
                && next_head.is_some_and(|head| (time, index) > head)
            {
                break Some(time);
            }
            *place = next.min(input.bytes().len());
        };
        merged.extend_from_slice(input.bytes().get(first..*place).unwrap_or(&[]));
        if first == *place {
            starts.pop();
        }
        if let Some(time) = waits_until {
            heads.push(Reverse((time, index)));
        }
    }
    Ok(Merged {
        text: merged,
        pieces: Pieces { starts, inputs },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str, name: &str) -> Input {
        Input::from_vec(text.as_bytes().to_vec(), name)
    }

    #[test]
    fn lines_of_several_cpus_are_put_in_order_and_places_tell_the_file() {
        let a = "0: 4194445,0,1,10!Close|fd=1\nCPU:0 [LOST 3 EVENTS]\n0: 4194445,0,1,40!Close|fd=2";
        let b = "0: 4194445,1,1,20!Close|fd=3\n0: 4194445,1,1,30!Close|fd=4\n0: 4194445,1,1,50!Close|fd=5\n";
        let inputs = vec![input(a, "a"), input("", "empty"), input(b, "b")];
        assert!(are_parts(&inputs));
        let Merged { text, pieces } = merge(inputs, &Job::default()).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let ends: Vec<&str> = lines
            .iter()
            .map(|line| line.rsplit(['=', ' ']).next().unwrap())
            .collect();
        assert_eq!(ends, ["1", "EVENTS]", "3", "4", "2", "5"]);
        let location = |needle: &str| pieces.location(text.find(needle).unwrap());
        let at = |part, line| Some(Location::LineOfPart { part, line });
        assert_eq!(location("0: 4194445,0,1,40"), at(1, 3));
        assert_eq!(location("CPU:0"), at(1, 2));
        assert_eq!(location("0: 4194445,1,1,50"), at(3, 3));
    }

    #[test]
    fn files_of_the_same_cpu_or_of_several_are_no_parts() {
        let of = |cpu: u32| format!("0: 4194445,{cpu},1,10!Close|fd=1\n");
        let two = |a: &str, b: &str| are_parts(&[input(a, "a"), input(b, "b")]);
        assert!(two(&of(0), &of(1)));
        // All lines may be from one CPU; the file of another CPU may be empty.
        assert!(two(&of(0), "") && two("INITCWD=/x\n", &of(1)));
        assert!(!two(&of(0), "some log\n") && !two("", "INITCWD=/x\n"));
        assert!(!two(&of(1), &of(1)));
        assert!(!two(&(of(0) + &of(2)), &of(1)));
        assert!(!two(
            &format!("INITCWD=/x\n{}", of(0)),
            &format!("INITCWD=/x\n{}", of(1))
        ));
    }
}
