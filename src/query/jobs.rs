//! The jobs of a build over time: the processes that did work of their own, packed into lanes; the number of lanes is
//! the number of jobs that ran at the same time.
//!
//! ```text
//! make       |-----------------------------------|
//!   gcc        |-----------|  |------|              lanes   cc1 lvm.c | as lvm.o   cc1 lapi.c
//!     cc1        |------|       |---|                       cc1 lgc.c
//!     as                |--|
//! ```
//!
//! A process is a job if it has no children, or if it worked at least half of its life without a living child. A
//! process that only waits for others (make, gcc, sh -c) is not a job.

use super::process_times::{ProcessTimes, program_bytes};
use crate::base::strings::{base_name, text_of};
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::trace::{Process, ProcessId, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A trace with fewer jobs has no lanes of jobs, because the rows of its processes already show them.
const LEAST_JOBS: usize = 4;
/// A name shows at most this many bytes of an argument.
const MOST_BYTES: usize = 60;

/// The jobs of a build, by lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    /// The lanes; the jobs of a lane do not overlap and are sorted by start.
    pub lanes: Vec<Vec<Job>>,
}

/// A process that did work of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The process.
    pub process: ProcessId,
    /// The part of its life that is in the trace.
    pub span: TimeSpan,
}

impl Jobs {
    /// Returns the jobs of a trace; none if it is not of a build.
    #[must_use]
    pub fn new(trace: &Trace) -> Jobs {
        // The units of a build log run no programs that are recorded, but have names of their own.
        let has_programs = trace
            .processes
            .iter()
            .any(|process| !process.images.is_empty());
        let is_unit = |process: &Process| {
            let can_be = !has_programs && trace.states.is_empty();
            can_be && has_other_name(trace, process)
        };
        let known = |id: u32| {
            let process = &trace.processes[id as usize];
            // A process that never ran a program of its own is a part of its parent.
            process.start.is_some() && (!process.images.is_empty() || is_unit(process))
        };
        let ids: Vec<u32> = (0..trace.processes.len() as u32)
            .filter(|&id| known(id))
            .collect();
        if ids.len() < LEAST_JOBS {
            return Jobs::default();
        }
        let times = ProcessTimes::new(trace);
        let mut jobs: Vec<Job> = ids
            .into_iter()
            .map(ProcessId)
            .filter_map(|process| {
                let time = times.of(process);
                let life = time.span.duration().0;
                let works = time.children == 0 || time.own.certain() >= life - life / 2;
                let job = Job {
                    process,
                    span: time.span,
                };
                (works && life > 0).then_some(job)
            })
            .collect();
        if jobs.len() < LEAST_JOBS {
            return Jobs::default();
        }
        jobs.sort_by_key(|job| (job.span.start, Reverse(job.span.end), job.process));
        Jobs {
            lanes: packed(jobs),
        }
    }
}

/// Returns whether a process has another name than its parent.
fn has_other_name(trace: &Trace, process: &Process) -> bool {
    let parent = process
        .parent
        .and_then(|of| trace.processes.get(of.0 as usize));
    parent.is_some_and(|parent| {
        let names = [parent.name, process.name];
        parent.name != process.name && !names.contains(&StringId::EMPTY)
    })
}

/// Packs jobs that are sorted by start into lanes: each goes to the first lane that is free.
fn packed(jobs: Vec<Job>) -> Vec<Vec<Job>> {
    let mut lanes: Vec<Vec<Job>> = Vec::new();
    let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
    let mut taken: BinaryHeap<Reverse<(Timestamp, usize)>> = BinaryHeap::new();
    for job in jobs {
        while let Some(&Reverse((end, lane))) = taken.peek()
            && end <= job.span.start
        {
            taken.pop();
            free.push(Reverse(lane));
        }
        let lane = match free.pop() {
            Some(Reverse(lane)) => lane,
            None => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        taken.push(Reverse((job.span.end, lane)));
        if let Some(lane) = lanes.get_mut(lane) {
            lane.push(job);
        }
    }
    lanes
}

/// Returns the work of a process as text: its program and the file that it worked on, as in `cc1 lvm.c`.
#[must_use]
pub(crate) fn job_name(trace: &Trace, process: ProcessId) -> String {
    let program = text_of(program_bytes(trace, process)).into_owned();
    if program.is_empty() {
        let pid = trace.processes.get(process.0 as usize).map(|it| it.pid);
        return pid.map(|pid| format!("pid {pid}")).unwrap_or_default();
    }
    match subject(trace, process) {
        Some(file) => format!("{program} {file}"),
        None => program,
    }
}

/// Endings of files that a compiler reads.
const SOURCES: &[&[u8]] = &[
    b"c", b"cc", b"cpp", b"cxx", b"C", b"m", b"mm", b"s", b"S", b"i", b"ii", b"rs", b"go", b"f90",
    b"java",
];

/// Returns the name of the file that a process worked on: a source file, else its output, else its first argument that
/// is not an option.
fn subject(trace: &Trace, process: ProcessId) -> Option<String> {
    let image = trace.processes.get(process.0 as usize)?.images.last()?;
    let words: Vec<&[u8]> = image
        .arguments
        .iter()
        .skip(1)
        .map(|&word| trace.strings.bytes(word))
        .collect();
    let is_option = |word: &[u8]| {
        word.first()
            .is_none_or(|first| matches!(first, b'-' | b'@'))
    };
    let is_source = |word: &[u8]| {
        let ending = word.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
        !is_option(word) && ending.len() < word.len() && SOURCES.contains(&ending)
    };
    let is_value = |at: usize| {
        at.checked_sub(1)
            .and_then(|before| words.get(before))
            .is_some_and(|before| {
                matches!(
                    *before,
                    b"-o"
                        | b"-dumpbase"
                        | b"-auxbase"
                        | b"-auxbase-strip"
                        | b"-MF"
                        | b"-MT"
                        | b"-MQ"
                        | b"-D"
                        | b"-I"
                        | b"-imultiarch"
                        | b"-dynamic-linker"
                        | b"-m"
                        | b"-plugin"
                )
            })
    };
    let output = words
        .iter()
        .position(|word| *word == b"-o")
        .and_then(|at| words.get(at + 1));
    let plain = |(at, word): &(usize, &&[u8])| !is_option(word) && !is_value(*at);
    let source = words
        .iter()
        .enumerate()
        .filter(plain)
        .find(|(_, word)| is_source(word));
    // In `ar rcs libx.a`, the first word after the options is an operation, not a file.
    let first = words
        .iter()
        .enumerate()
        .filter(plain)
        .find(|(_, word)| word.contains(&b'.') || word.contains(&b'/'));
    let found = source
        .map(|(_, word)| word)
        .or(output)
        .or(first.map(|(_, word)| word))?;
    let name = base_name(found);
    let name = name.get(..MOST_BYTES).unwrap_or(name);
    (!name.is_empty()).then(|| text_of(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::StringId;
    use crate::query::process_times::tests::trace_of;
    use crate::trace::ProgramImage;

    fn job(process: u32, start: i64, end: i64) -> Job {
        Job {
            process: ProcessId(process),
            span: TimeSpan::new(Timestamp(start), Timestamp(end)),
        }
    }

    #[test]
    fn jobs_take_as_many_lanes_as_ran_at_once() {
        let jobs = vec![
            job(0, 0, 10),
            job(1, 2, 4),
            job(2, 4, 9),
            job(3, 9, 12),
            job(4, 10, 11),
        ];
        let lanes = packed(jobs);
        let ids = |lane: &Vec<Job>| lane.iter().map(|job| job.process.0).collect::<Vec<_>>();
        assert_eq!(
            lanes.iter().map(ids).collect::<Vec<_>>(),
            [vec![0, 4], vec![1, 2, 3]]
        );
    }

    #[test]
    fn a_process_that_only_waits_is_no_job() {
        // make (0) starts gcc (1), which starts cc1 (2) and as (3); then three that work themselves.
        let mut trace = trace_of(&[
            (None, 0, 100),
            (Some(0), 1, 40),
            (Some(1), 2, 30),
            (Some(1), 30, 39),
            (Some(0), 41, 60),
            (Some(0), 41, 70),
            (Some(0), 70, 99),
        ]);
        assert_eq!(Jobs::new(&trace), Jobs::default(), "no program was started");
        for process in trace.processes.iter_mut() {
            process.images.push(ProgramImage {
                start: Timestamp(0),
                event: None,
                program: StringId::EMPTY,
                arguments: Vec::new(),
                directory: StringId::EMPTY,
                interpreter: StringId::EMPTY,
            });
        }
        let lanes = Jobs::new(&trace).lanes;
        let ids = |lane: &Vec<Job>| lane.iter().map(|job| job.process.0).collect::<Vec<_>>();
        assert_eq!(
            lanes.iter().map(ids).collect::<Vec<_>>(),
            [vec![2, 3, 5, 6], vec![4]]
        );
    }
}
