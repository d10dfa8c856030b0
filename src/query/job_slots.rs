//! When the job runners of a build (make, ninja ...) had as many jobs as they may have.
//!
//! ```text
//! make -j2   |-----------------------------|
//! gcc           |-------|    |-------|            2 jobs live: all slots are taken
//! gcc               |--------|
//!                   [===]    [=======]     the time between the two has only one job
//! ```
//!
//! A job is a child of a runner that is not a runner itself and has no runner below it; the jobs of a `make` that
//! another `make` started count for both. The arguments of the outermost runner contain the limit (`-j8`); without one
//! (ninja without `-j`) the limit is the largest number of jobs that ran at once.

use super::process_times::{ProcessTimes, program_bytes};
use super::process_tree::Visited;
use crate::base::{Nanos, Timestamp};
use crate::trace::{ProcessId, Trace};

/// Programs that start jobs, as many at once as they may.
const RUNNERS: &[&[u8]] = &[
    b"make",
    b"gmake",
    b"bmake",
    b"mingw32-make",
    b"ninja",
    b"ninja-build",
    b"samu",
    b"cargo",
    b"bazel",
    b"scons",
    b"waf",
    b"xargs",
    b"parallel",
    b"tup",
    b"just",
    b"rake",
];
/// Runners that run one job at a time unless an option sets another number.
const SERIAL: &[&[u8]] = &[
    b"make",
    b"gmake",
    b"bmake",
    b"mingw32-make",
    b"xargs",
    b"scons",
];
/// If no process is a known runner, a process with at least this many children may be a runner.
const MANY_CHILDREN: u32 = 3;

/// A runner may be this many times slower than usual to start a job.
const SLOW: i64 = 2;

/// The times at which all job slots of a build were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct JobSlots {
    /// The times at which the last free slot is taken or a slot becomes free.
    steps: Vec<Step>,
    runners: Vec<bool>,
    /// By process: the job that it belongs to.
    jobs: Vec<ProcessId>,
    /// Whether the arguments of the runner contain the limit, or it is a program that runs one job at a time without.
    is_limit_stated: bool,
    /// The time that runners usually need to start the next job after one has ended, in ns.
    reaction: i64,
}

/// A time at which all slots become taken, or no longer are.
#[derive(Clone, Copy, Debug)]
struct Step {
    time: Timestamp,
    /// The total time before `time` in which all slots were taken, in ns.
    taken_before: i64,
    are_taken: bool,
}

/// A change of the number of running jobs.
#[derive(Clone, Copy, Debug)]
struct Change {
    time: Timestamp,
    /// 1: a job begins; -1: a job ends.
    jobs: i32,
}

impl JobSlots {
    /// Computes the times of a trace.
    #[must_use]
    pub(crate) fn new(trace: &Trace, times: &ProcessTimes) -> JobSlots {
        let count = times.rows.len();
        let ids = (0..count as u32).map(ProcessId);
        let mut runners: Vec<bool> = ids
            .clone()
            .map(|id| RUNNERS.contains(&program_bytes(trace, id)))
            .collect();
        let is_runner_known = runners.contains(&true);
        if !is_runner_known {
            let most = ids
                .clone()
                .max_by_key(|id| (times.of(*id).children, std::cmp::Reverse(*id)));
            if let Some(id) = most.filter(|id| times.of(*id).children >= MANY_CHILDREN) {
                runners[id.0 as usize] = true;
            }
        }
        let walk = times.tree.walk();
        // In reverse order, each process comes after all processes below it; in forward order, after all above it.
        let mut has_runner = runners.clone();
        let mut outermost = None;
        for Visited { id, .. } in walk.iter().rev().copied() {
            let children = times.tree.children.get(id.0 as usize).into_iter().flatten();
            if children
                .into_iter()
                .any(|child| has_runner[child.0 as usize])
            {
                has_runner[id.0 as usize] = true;
            }
            if runners[id.0 as usize] {
                outermost = Some(id);
            }
        }
        let mut changes: Vec<Change> = Vec::new();
        for id in ids.clone().filter(|id| runners[id.0 as usize]) {
            for &child in times.tree.children.get(id.0 as usize).into_iter().flatten() {
                let span = times.of(child).span;
                if !has_runner[child.0 as usize] && span.end > span.start {
                    changes.extend([
                        Change {
                            time: span.start,
                            jobs: 1,
                        },
                        Change {
                            time: span.end,
                            jobs: -1,
                        },
                    ]);
                }
            }
        }
        // At the same time, ends come before begins.
        changes.sort_unstable_by_key(|change| (change.time, change.jobs));
        let most = most_at_once(&changes);
        let limit = outermost.map(|id| allowed(trace, id));
        let is_limit_stated = is_runner_known && matches!(limit, Some(Allowed::Jobs(_)));
        let may_have = match limit {
            Some(Allowed::Jobs(count)) => count,
            Some(Allowed::AnyNumber) => i32::MAX,
            Some(Allowed::Unspecified) | None => most,
        };
        let mut jobs: Vec<ProcessId> = ids.clone().collect();
        for Visited { id, .. } in walk.iter().copied() {
            let job = jobs[id.0 as usize];
            let children = times.tree.children.get(id.0 as usize).into_iter().flatten();
            for &child in children.filter(|_| !runners[id.0 as usize]) {
                jobs[child.0 as usize] = job;
            }
        }
        let mut slots = JobSlots {
            steps: Vec::new(),
            runners,
            jobs,
            is_limit_stated,
            reaction: reaction(&changes),
        };
        let (mut live, mut sum, mut since) = (0, 0, None::<Timestamp>);
        for change in changes {
            let time = change.time;
            live += change.jobs;
            let are_taken = live >= may_have.max(1);
            match since {
                None if are_taken => {
                    slots.steps.push(Step {
                        time,
                        taken_before: sum,
                        are_taken,
                    });
                    since = Some(time);
                }
                Some(start) if !are_taken => {
                    sum += (time - start).0;
                    slots.steps.push(Step {
                        time,
                        taken_before: sum,
                        are_taken,
                    });
                    since = None;
                }
                _ => {}
            }
        }
        slots
    }

    /// Returns whether a process starts jobs.
    #[must_use]
    pub(crate) fn is_runner(&self, id: ProcessId) -> bool {
        self.runners.get(id.0 as usize).copied().unwrap_or(false)
    }

    /// Returns whether the number of slots is known, not guessed from the jobs that ran at once.
    #[must_use]
    pub(crate) fn is_limit_stated(&self) -> bool {
        self.is_limit_stated
    }

    /// Returns the job that a process belongs to: itself or the process above it that a job runner started; the
    /// outermost process above it if no runner did.
    #[must_use]
    pub(crate) fn job_of(&self, id: ProcessId) -> ProcessId {
        self.jobs.get(id.0 as usize).copied().unwrap_or(id)
    }

    /// Returns for how long all slots were taken between two times, in ns.
    #[must_use]
    pub(crate) fn taken(&self, from: Timestamp, until: Timestamp) -> i64 {
        (self.taken_by(until) - self.taken_by(from)).max(0)
    }

    /// Returns whether all slots were taken until `time`, or until so short before that no runner could have started
    /// another job meanwhile.
    #[must_use]
    pub(crate) fn were_taken_until(&self, time: Timestamp) -> bool {
        let before = SLOW.saturating_mul(self.reaction.max(1));
        self.taken(time.saturating_add(Nanos(-before)), time) > 0
    }

    fn taken_by(&self, time: Timestamp) -> i64 {
        let after = self.steps.partition_point(|step| step.time <= time);
        match after.checked_sub(1).and_then(|at| self.steps.get(at)) {
            Some(step) if step.are_taken => step.taken_before + (time - step.time).0,
            Some(step) => step.taken_before,
            None => 0,
        }
    }
}

/// Returns the median time from the last end of a job to the begin of the next, in ns; 0 if no job begins after one has
/// ended. `changes` are in order of time.
fn reaction(changes: &[Change]) -> i64 {
    let mut last_end = None;
    let mut found = Vec::new();
    for change in changes {
        match change.jobs > 0 {
            true => found.extend(last_end.map(|end: Timestamp| (change.time - end).0)),
            false => last_end = Some(change.time),
        }
    }
    let middle = found.len() / 2;
    match found.is_empty() {
        true => 0,
        false => *found.select_nth_unstable(middle).1,
    }
}

fn most_at_once(changes: &[Change]) -> i32 {
    let counts = changes.iter().scan(0, |jobs, change| {
        *jobs += change.jobs;
        Some(*jobs)
    });
    counts.max().unwrap_or(0)
}

/// The number of jobs that a runner may run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    Jobs(i32),
    AnyNumber,
    Unspecified,
}

fn allowed(trace: &Trace, id: ProcessId) -> Allowed {
    let image = trace.processes.get(id.0 as usize);
    let image = image.and_then(|process| process.images.last());
    let words = image.map_or(&[][..], |image| &image.arguments);
    let words: Vec<&[u8]> = words
        .iter()
        .map(|&word| trace.strings.bytes(word))
        .collect();
    let program = program_bytes(trace, id);
    let is_make = SERIAL.contains(&program) && program != b"xargs";
    let mut found = match SERIAL.contains(&program) {
        true => Allowed::Jobs(1),
        false => Allowed::Unspecified,
    };
    for (at, word) in words.iter().enumerate().skip(1) {
        let options: [&[u8]; 4] = [b"--jobs", b"--max-procs", b"-j", b"-P"];
        let Some(option) = options.into_iter().find(|option| word.starts_with(option)) else {
            continue;
        };
        let value = word.get(option.len()..).unwrap_or_default();
        let value = value.strip_prefix(b"=").unwrap_or(value);
        let next = words.get(at + 1).copied().unwrap_or_default();
        found = match (number(value), value, number(next)) {
            (Some(0), ..) => Allowed::AnyNumber,
            (Some(count), ..) => Allowed::Jobs(count),
            (None, [], Some(count)) => Allowed::Jobs(count),
            (None, [], None) if is_make => Allowed::AnyNumber,
            _ => found,
        };
    }
    found
}

fn number(text: &[u8]) -> Option<i32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::process_times::tests::trace_of;
    use super::*;
    use crate::base::StringId;
    use crate::trace::ProgramImage;

    fn slots(words: &[&str]) -> JobSlots {
        let lives = [
            (None, 0, 100),
            (Some(0), 10, 30),
            (Some(0), 20, 50),
            (Some(0), 50, 60),
            (Some(0), 55, 70),
        ];
        let mut trace = trace_of(&lives);
        let words: Vec<StringId> = words
            .iter()
            .map(|it| trace.strings.intern_text(it))
            .collect();
        trace.processes[0].images.push(ProgramImage {
            start: Timestamp(0),
            event: None,
            program: words[0],
            arguments: words,
            directory: StringId::EMPTY,
            interpreter: StringId::EMPTY,
        });
        JobSlots::new(&trace, &ProcessTimes::new(&trace))
    }

    #[test]
    fn slots_are_taken_while_as_many_jobs_live_as_may() {
        let taken = |words: &[&str]| slots(words).taken(Timestamp(0), Timestamp(100));
        for words in [
            &["make", "-j2"][..],
            &["make", "-j", "2"],
            &["make", "--jobs=2"],
            &["ninja"],
        ] {
            assert_eq!(taken(words), 10 + 5, "{words:?}");
        }
        assert_eq!(taken(&["make"]), 60);
        assert_eq!(taken(&["make", "-j"]), 0);
        assert_eq!(taken(&["ninja", "-j3"]), 0);
        let two = slots(&["make", "-j2"]);
        assert_eq!(two.taken(Timestamp(25), Timestamp(57)), 5 + 2);
        assert!(two.is_runner(ProcessId(0)) && !two.is_runner(ProcessId(1)));
    }
}
