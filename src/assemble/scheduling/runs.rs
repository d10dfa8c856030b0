//! Makes the runs of each CPU from its context switches.

use std::mem::take;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::super::cuts::CutEnd;
use super::super::group::{Groups, Numbered, Pieces, Sorted, join_in_order};
use super::super::losses::{Hole, Losses};
use super::super::recorded::Recorded;
use super::breaks::{Break, Filter};
use super::changes::{Change, SHORTEST_TURN, SwitchRow, To};
use super::witnesses::{
    CallKinds, CpuEvents, LanesOfCpu, Sighting, Sightings, TakenNumbers, Witness, Witnessed,
    lanes_of_cpus,
};
use crate::base::streaks::Streaks;
use crate::base::{Maybe, TimeSpan, Timestamp};
use crate::event::{EventKind, SwitchContent};
use crate::trace::{CpuId, Runs, ThreadId, ThreadState};

/// The runs of one CPU, and the changes of threads' states that follow from them.
#[derive(Default)]
pub(crate) struct CpuRuns {
    cpu: u32,
    /// The runs, in order of time.
    pub runs: Runs,
    /// Number of switches that did not match the run before them.
    pub mismatches: u64,
    /// Where switches are missing without a recorded loss, in order of time.
    breaks: Vec<Break>,
    /// (thread, change) for changes of a thread's state without a switch of that thread.
    changes: Vec<(u32, Change)>,
    /// The threads whose runs ended unseen, where events of the CPU were lost or are missing, and the time until
    /// which each was seen to run.
    lost: Vec<CutEnd>,
    /// If the last run has no end: what the events after it show.
    open: Option<Witnessed>,
}

/// What runs are made from, besides switches.
#[derive(Clone, Copy)]
pub(super) struct RunSource<'a> {
    pub recorded: &'a Recorded,
    /// The kinds of the events.
    pub kinds: &'a Streaks<EventKind>,
    pub losses: &'a Losses,
    pub taken_over: &'a TakenNumbers,
}

/// Returns the runs of all CPUs. `filter`: the threads by which the recording was filtered.
pub(super) fn runs_of_cpus(
    cpus: &[Numbered<Pieces<'_, SwitchRow>>],
    source: &RunSource<'_>,
    filter: Option<&Filter>,
) -> Vec<CpuRuns> {
    let RunSource {
        recorded,
        kinds,
        losses,
        taken_over,
    } = *source;
    let lanes = lanes_of_cpus(recorded);
    let calls = CallKinds::of(kinds);
    let no_lanes = LanesOfCpu::default();
    let mut cpus: Vec<CpuRuns> = (cpus.par_iter())
        .map_init(Vec::new, |rows, of| {
            let cpu = of.number;
            join_in_order(&of.own, |row| row.time, rows);
            let source = SwitchSource {
                first_event: losses.first_event_of(CpuId(cpu)).map(Timestamp),
                holes: losses.gaps_of(CpuId(cpu)),
            };
            let witness = CpuEvents {
                cursor: recorded.events.cursor(),
                lanes: lanes.get(cpu as usize).unwrap_or(&no_lanes),
                calls: &calls,
                taken_over,
                filter,
            };
            runs_of_cpu(CpuId(cpu), rows, source, &witness)
        })
        .collect();
    leave_for_elsewhere(&mut cpus);
    cpus
}

/// Ends the last runs of CPUs that have no end, if their threads ran on other CPUs later: the switches that ended them
/// are missing.
fn leave_for_elsewhere(cpus: &mut [CpuRuns]) {
    let last = |cpu: &CpuRuns| Some((*cpu.runs.threads.last()?, *cpu.runs.starts.last()?));
    let open = cpus.iter().filter(|cpu| cpu.open.is_some());
    // The start of the latest run of each thread whose run is open.
    let mut latest: FxHashMap<u32, i64> = open.filter_map(last).collect();
    if latest.is_empty() {
        return;
    }
    for runs in cpus.iter().map(|cpu| &cpu.runs) {
        for (thread, &start) in runs.threads.iter().zip(&runs.starts) {
            if let Some(latest) = latest.get_mut(thread) {
                *latest = start.max(*latest);
            }
        }
    }
    for cpu in cpus {
        if let Some(seen) = cpu.open.take()
            && let Some((thread, start)) = last(cpu)
            && latest.get(&thread).is_some_and(|&latest| latest > start)
        {
            cpu.leave_unseen(seen);
        }
    }
}

/// Takes the places where switches are missing without a recorded loss out of `cpus`.
pub(super) fn breaks_of(cpus: &mut [CpuRuns]) -> Vec<Break> {
    let breaks = cpus.iter_mut().flat_map(|cpu| take(&mut cpu.breaks));
    breaks.collect()
}

/// Takes the list of threads that still ran where events of their CPU were lost out of `cpus`; returns it.
pub(super) fn lost_runs(cpus: &mut [CpuRuns]) -> Vec<CutEnd> {
    let lost = cpus.iter_mut().flat_map(|cpu| take(&mut cpu.lost));
    lost.collect()
}

/// Returns the changes of threads' states that follow from the runs of all CPUs; takes them out of `cpus`.
pub(super) fn changes_of_runs(cpus: &mut [CpuRuns]) -> Sorted<Change> {
    let mut changes = Groups::default();
    for (thread, change) in cpus.iter_mut().flat_map(|cpu| take(&mut cpu.changes)) {
        changes.push(thread, change);
    }
    changes.sorted()
}

pub(super) fn join_runs(each: Vec<CpuRuns>, cpu_count: usize, thread_count: usize) -> Runs {
    let mut runs = Runs {
        of_cpu: vec![0..0; cpu_count],
        ..Runs::default()
    };
    let total: usize = each.iter().map(|cpu| cpu.runs.len()).sum();
    reserve(&mut runs, total);
    for cpu in each {
        let first = runs.starts.len() as u32;
        runs.append(&cpu.runs);
        runs.of_cpu[cpu.cpu as usize] = first..runs.starts.len() as u32;
    }
    runs.place_empty_cpus();
    sort_by_thread(&mut runs, thread_count);
    end_before_elsewhere(&mut runs);
    runs
}

/// Ends runs where their thread begins to run on another CPU: the clocks of CPUs may differ a little, or the file does not
/// show who was on the CPU when the switch that ended the run was lost.
fn end_before_elsewhere(runs: &mut Runs) {
    for range in &runs.of_thread {
        let list = &runs.by_thread[range.start as usize..range.end as usize];
        for pair in list.windows(2) {
            let (run, next) = (pair[0] as usize, pair[1] as usize);
            if runs.ends[run] > runs.starts[next] {
                runs.ends[run] = Maybe::new(runs.starts[next].max(runs.starts[run]));
                runs.end_states[run] = ThreadState::Unknown;
            }
        }
    }
}

fn reserve(runs: &mut Runs, count: usize) {
    runs.starts.reserve_exact(count);
    runs.ends.reserve_exact(count);
    runs.threads.reserve_exact(count);
    runs.priorities.reserve_exact(count);
    runs.end_states.reserve_exact(count);
    runs.events.reserve_exact(count);
}

/// The time at which the recording of a CPU begins, and its holes.
#[derive(Clone, Copy, Default)]
pub(crate) struct SwitchSource<'a> {
    /// The time of the CPU's first event.
    pub first_event: Option<Timestamp>,
    /// The holes, sorted by start.
    pub holes: &'a [Hole],
}

/// Returns the runs that follow from a CPU's switches, in order of time. `witness` is used where a switch is missing.
pub(crate) fn runs_of_cpu(
    cpu: CpuId,
    rows: &[SwitchRow],
    source: SwitchSource<'_>,
    witness: &impl Witness,
) -> CpuRuns {
    let mut all = CpuRuns {
        cpu: cpu.0,
        ..CpuRuns::default()
    };
    reserve(&mut all.runs, rows.len() + 1);
    let mut is_open = false;
    let mut holes = source.holes.iter().peekable();
    // While the running thread is unknown: the time in ns at which the recording of the CPU starts or continues.
    let mut recorded_since = source.first_event.map(|first| first.0);
    let mut seen_threads = Sightings::default();
    // The switch before, unless it is before a hole.
    let mut before: Option<&SwitchRow> = None;
    for row in rows {
        // A hole before the first event ends at that event's time: at equal times it comes before that event's switch.
        while let Some(hole) =
            holes.next_if(|hole| hole.from < row.time || (!is_open && hole.until <= row.time))
        {
            // The event at which the hole begins was recorded.
            let lost_from = Timestamp(hole.from.saturating_add(1));
            let seen = before.map(|before| witness.until(before, lost_from, &mut seen_threads));
            if let (None, Some(since)) = (before, recorded_since) {
                let span = TimeSpan::new(Timestamp(since), lost_from.max(Timestamp(since)));
                witness.see(row, span, &mut seen_threads);
            }
            if take(&mut is_open) {
                match seen.filter(|seen| seen.left_by.is_some()) {
                    Some(seen) => all.leave_unseen(seen),
                    None => all.lose_in_hole(hole.from),
                }
            }
            recorded_since = recorded_since.max(Some(hole.until));
            before = None;
        }
        if before.is_some_and(|before| is_twin(before, row, witness)) {
            continue;
        }
        let seen = match before {
            Some(before) if before.next.is_some() && row.prev.is_some() => {
                witness.between(before, row, &mut seen_threads)
            }
            _ => Witnessed::default(),
        };
        let found = before.and_then(|before| break_between(cpu, before, row, seen, witness));
        all.breaks.extend(found);
        let since = recorded_since.take();
        let since = since.map(|from| {
            witness
                .prev_since(row, Timestamp(from), &mut seen_threads)
                .0
        });
        let since = since.or(seen.prev_since);
        if is_open {
            let ran = all.runs.threads.last().map(|&thread| ThreadId(thread));
            if ran.is_some_and(|ran| has_new_number(ran, row, witness)) {
                all.end_number(since.unwrap_or(row.time));
            } else {
                all.end(row, witness.sees().then_some(seen));
            }
        }
        if let Some(start) = since.filter(|&start| start < row.time)
            && (!is_open || seen.prev_since.is_some())
            && let Some(prev) = row.prev.filter(|&prev| prev != ThreadId::IDLE)
            && row.content != SwitchContent::StatesAndNextRun
        {
            all.mismatches += u64::from(!is_open && seen.prev_since.is_some());
            all.begin_without_switch(prev, row, start);
        }
        let next = row.next.filter(|&next| next != ThreadId::IDLE);
        is_open = next.is_some();
        if let Some(next) = next {
            push_run(&mut all.runs, row.time, next, row.next_priority, row.event);
        }
        before = Some(row);
    }
    if let Some(last) = rows.last() {
        let seen = witness.after(last, &mut seen_threads);
        let lost_from = holes.next().map(|hole| hole.from);
        match (seen.left_by, lost_from) {
            _ if !is_open => {}
            (Some(left), lost) if lost.is_none_or(|lost| left < lost) => all.leave_unseen(seen),
            (_, Some(lost)) => all.lose_in_hole(lost),
            _ => all.open = witness.sees().then_some(seen),
        }
    }
    let sightings = seen_threads.into_all().into_iter();
    let sightings = sightings.map(
        |Sighting {
             thread,
             time,
             event,
         }| {
            let change = Change {
                time,
                event_number: Maybe::new(event.0),
                to: To::seen_on(cpu.0),
            };
            (thread.0, change)
        },
    );
    all.changes.extend(sightings);
    all
}

/// Returns the break between two successive switches, if there is one. `seen` is what the events between them show.
fn break_between(
    cpu: CpuId,
    before: &SwitchRow,
    row: &SwitchRow,
    seen: Witnessed,
    witness: &impl Witness,
) -> Option<Break> {
    let (brought, taken_off) = before.next.zip(row.prev)?;
    let follows = match brought == taken_off {
        true => seen.left_by.is_none(),
        false => has_new_number(brought, row, witness),
    };
    let has_runs = |row: &SwitchRow| row.content == SwitchContent::RunsAndStates;
    if follows || !has_runs(before) || !has_runs(row) || is_only_an_end(row) {
        return None;
    }
    let hole = Hole {
        from: seen.seen_until.unwrap_or(before.time),
        until: seen.prev_since.unwrap_or(row.time),
    };
    Some(Break {
        cpu,
        hole,
        brought: (brought, before.time),
        taken_off: (taken_off, row.time),
    })
}

/// Returns whether a switch takes `ran` off under another number. An `execve` exchanges the numbers of the thread that
/// calls it and of the main thread, which dies.
fn has_new_number(ran: ThreadId, row: &SwitchRow, witness: &impl Witness) -> bool {
    row.prev.is_some_and(|prev| {
        witness.took_over(ran, prev) || (row.prev_state.is_over() && witness.took_over(prev, ran))
    })
}

/// Returns whether two successive rows of a CPU are one switch, which two buffers recorded, or a text contains twice.
fn is_twin(before: &SwitchRow, row: &SwitchRow, witness: &impl Witness) -> bool {
    let is_same = (before.prev, before.next) == (row.prev, row.next) && row.prev != row.next;
    let is_soon = row.time.saturating_sub(before.time) < SHORTEST_TURN;
    is_same && witness.sees() && (is_soon || witness.are_of_two_buffers(before, row))
}

/// Returns whether a switch is from idle to idle: it only ends the run. Our own FXT export writes it where the state after a
/// run is unknown.
fn is_only_an_end(row: &SwitchRow) -> bool {
    row.prev == row.next && row.prev == Some(ThreadId::IDLE)
}

impl CpuRuns {
    /// Ends the latest run with a switch. `seen` is what the events before it show; `None` if the file does not show who
    /// was on the CPU: the run then lasts until the switch, whoever that takes off.
    fn end(&mut self, row: &SwitchRow, seen: Option<Witnessed>) {
        let runs = &mut self.runs;
        let Some(last) = runs.ends.len().checked_sub(1) else {
            return;
        };
        let thread = Some(ThreadId(runs.threads[last]));
        if thread == row.prev && seen.is_none_or(|seen| seen.left_by.is_none()) {
            runs.ends[last] = Maybe::new(row.time.max(runs.starts[last]));
            runs.end_states[last] = row.prev_state;
            return;
        }
        let is_only_an_end = is_only_an_end(row);
        self.mismatches += u64::from(!is_only_an_end);
        if let Some(seen) = seen.filter(|_| row.prev.is_some() && !is_only_an_end) {
            self.leave_unseen(seen);
        } else if thread == row.next {
            runs.ends[last] = Maybe::new(row.time.max(runs.starts[last]));
        } else {
            self.lose(row.time, To::stops_running_on(self.cpu));
        }
    }

    /// Ends the latest run at `time` (ns), because its thread continued under another number: the old number is dead.
    fn end_number(&mut self, time: i64) {
        self.lose(time, To::new(ThreadState::Dead, None));
        if let Some(state) = self.runs.end_states.last_mut() {
            *state = ThreadState::Dead;
        }
    }

    /// Ends the latest run, whose switch off the CPU is missing, at the last time at which its thread was seen to run.
    fn leave_unseen(&mut self, seen: Witnessed) {
        let Some(&start) = self.runs.starts.last() else {
            return;
        };
        let until = seen.seen_until.map_or(start, |until| until.max(start));
        let to = match seen.left_by {
            Some(left_by) if left_by <= until => To::had_left(self.cpu),
            _ => To::stops_running_on(self.cpu),
        };
        self.lose_open(until, to);
    }

    /// Ends the latest run at `time` (ns), where a hole begins: it lasted at least until then.
    fn lose_in_hole(&mut self, time: i64) {
        self.lose_open(time, To::stops_running_on(self.cpu));
    }

    /// As [`CpuRuns::lose`], for a run that lasted at least until `time`.
    fn lose_open(&mut self, time: i64, to: To) {
        self.lose(time, to);
        let runs = &self.runs;
        let last = runs.threads.last().zip(runs.ends.last());
        let last = last.and_then(|(&thread, end)| Some((ThreadId(thread), Timestamp(end.get()?))));
        (self.lost).extend(last.map(|(thread, time)| CutEnd { thread, time }));
    }

    /// Ends the latest run at `time` (ns). Its thread changes to `to`.
    fn lose(&mut self, time: i64, to: To) {
        let runs = &mut self.runs;
        let Some(last) = runs.ends.len().checked_sub(1) else {
            return;
        };
        let end = time.max(runs.starts[last]);
        runs.ends[last] = Maybe::new(end);
        self.changes
            .push((runs.threads[last], Change::without_event(end, to)));
    }

    /// Adds a run from `start` (ns) to the switch, of the thread that the switch takes off.
    fn begin_without_switch(&mut self, prev: ThreadId, row: &SwitchRow, start: i64) {
        let runs = &mut self.runs;
        push_run(runs, start, prev, row.prev_priority, Maybe::NONE);
        if let (Some(end), Some(state)) = (runs.ends.last_mut(), runs.end_states.last_mut()) {
            *end = Maybe::new(row.time);
            *state = row.prev_state;
        }
        let to = To::new(ThreadState::Running, Some(self.cpu));
        self.changes
            .push((prev.0, Change::without_event(start, to)));
    }
}

fn push_run(runs: &mut Runs, start: i64, thread: ThreadId, priority: i32, event: Maybe<u32>) {
    runs.starts.push(start);
    runs.ends.push(Maybe::NONE);
    runs.threads.push(thread.0);
    runs.priorities.push(priority);
    runs.end_states.push(ThreadState::Unknown);
    runs.events.push(event);
}

/// Fills `by_thread` and `of_thread`: a counting sort by thread, then each thread's runs by start and end if out
/// of order.
pub(crate) fn sort_by_thread(runs: &mut Runs, thread_count: usize) {
    let mut counts = vec![0_u32; thread_count + 1];
    for &thread in &runs.threads {
        counts[thread as usize + 1] += 1;
    }
    for i in 1..counts.len() {
        counts[i] += counts[i - 1];
    }
    runs.of_thread = counts.windows(2).map(|w| w[0]..w[1]).collect();
    let mut next = counts;
    let mut by_thread = vec![0_u32; runs.threads.len()];
    for (run, &thread) in runs.threads.iter().enumerate() {
        by_thread[next[thread as usize] as usize] = run as u32;
        next[thread as usize] += 1;
    }
    // At one time, a run without a length comes first: the thread continued elsewhere.
    let order = |&run: &u32| (runs.starts[run as usize], runs.ends[run as usize]);
    for range in &runs.of_thread {
        let list = &mut by_thread[range.start as usize..range.end as usize];
        if !list.is_sorted_by_key(order) {
            list.sort_by_key(order);
        }
    }
    runs.by_thread = by_thread.into();
}

#[cfg(test)]
mod tests {
    use super::super::witnesses::NoWitness;
    use super::*;

    /// Answers for the switches at 10 and 40 ns, and those at 40 and 60 ns.
    struct OfTwoPairs;

    impl Witness for OfTwoPairs {
        fn sees(&self) -> bool {
            true
        }

        fn between(&self, first: &SwitchRow, second: &SwitchRow, _: &mut Sightings) -> Witnessed {
            let of = |seen_until, left_by, prev_since| Witnessed {
                seen_until,
                left_by: Some(left_by),
                prev_since: Some(prev_since),
            };
            match (first.time, second.time) {
                (10, 40) => of(Some(17), 22, 31),
                (40, 60) => of(None, 51, 51),
                pair => panic!("asked about {pair:?}"),
            }
        }

        fn prev_since(&self, _: &SwitchRow, from: Timestamp, _: &mut Sightings) -> Timestamp {
            from
        }

        fn until(&self, _: &SwitchRow, _: Timestamp, _: &mut Sightings) -> Witnessed {
            Witnessed::default()
        }

        fn see(&self, _: &SwitchRow, _: TimeSpan, _: &mut Sightings) {}

        fn after(&self, _: &SwitchRow, _: &mut Sightings) -> Witnessed {
            Witnessed::default()
        }
    }

    fn shown(changes: &[(u32, Change)]) -> Vec<(u32, i64, To)> {
        let show = |(thread, change): &(u32, Change)| (*thread, change.time, change.to);
        changes.iter().map(show).collect()
    }

    fn switch(time: i64, prev: u32, next: u32) -> SwitchRow {
        SwitchRow {
            time,
            event: Maybe::new(0),
            prev: Some(ThreadId(prev)),
            next: Some(ThreadId(next)),
            next_priority: 120,
            prev_priority: 100,
            prev_state: ThreadState::Sleeping,
            content: SwitchContent::RunsAndStates,
        }
    }

    #[test]
    fn lost_switches_end_a_run_without_a_state() {
        let rows = [
            switch(10, 5, 6),
            switch(20, 6, 0),
            switch(30, 0, 7),
            switch(40, 8, 9),
            switch(45, 8, 9),
        ];
        let source = SwitchSource {
            first_event: Some(Timestamp(3)),
            holes: &[],
        };
        let all = runs_of_cpu(CpuId(2), &rows, source, &NoWitness);
        let runs = &all.runs;
        assert_eq!(runs.starts, vec![3, 10, 30, 40, 45]);
        assert_eq!(runs.ends, vec![10, 20, 40, 45, i64::MAX]);
        assert_eq!(runs.threads, vec![5, 6, 7, 9, 9]);
        assert_eq!(all.mismatches, 2);
        let running = To::new(ThreadState::Running, Some(2));
        let lost = To::stops_running_on(2);
        // A thread that ran on the CPU continues to run on it: that is not a change of state.
        let changes = vec![(5, 3, running), (7, 40, lost)];
        assert_eq!(shown(&all.changes), changes);
        assert_eq!(
            runs.end_states[1..4],
            [
                ThreadState::Sleeping,
                ThreadState::Unknown,
                ThreadState::Unknown
            ]
        );
    }

    #[test]
    fn events_of_other_threads_end_a_run_whose_switch_is_missing() {
        let rows = [switch(10, 5, 6), switch(40, 7, 0), switch(60, 8, 6)];
        let source = SwitchSource::default();
        let all = runs_of_cpu(CpuId(2), &rows, source, &OfTwoPairs);
        let runs = &all.runs;
        assert_eq!(runs.threads, vec![6, 7, 8, 6]);
        assert_eq!(runs.starts, vec![10, 31, 51, 60]);
        assert_eq!(runs.ends, vec![17, 40, 60, i64::MAX]);
        assert_eq!(all.mismatches, 2);
        let running = To::new(ThreadState::Running, Some(2));
        let changes = vec![
            (6, 17, To::stops_running_on(2)),
            (7, 31, running),
            (8, 51, running),
        ];
        assert_eq!(shown(&all.changes), changes);
    }

    #[test]
    fn nobody_is_known_to_run_in_a_hole() {
        let rows = [switch(10, 5, 6), switch(50, 6, 7), switch(70, 7, 0)];
        let hole = |from, until| Hole { from, until };
        let holes = [hole(2, 4), hole(20, 30), hole(35, 40), hole(72, 80)];
        let of = |rows: &[SwitchRow], first_event: Option<Timestamp>, holes: &[Hole]| {
            let source = SwitchSource { first_event, holes };
            runs_of_cpu(CpuId(1), rows, source, &NoWitness)
        };
        let all = of(&rows, None, &holes);
        assert_eq!(all.runs.starts, vec![4, 10, 40, 50]);
        assert_eq!(all.runs.ends, vec![10, 20, 50, 70]);
        assert_eq!(all.runs.threads, vec![5, 6, 6, 7]);
        assert_eq!(all.mismatches, 0);
        let (running, lost) = (
            To::new(ThreadState::Running, Some(1)),
            To::stops_running_on(1),
        );
        let changes = vec![(5, 4, running), (6, 20, lost), (6, 40, running)];
        assert_eq!(shown(&all.changes), changes);
        let all = of(&rows[..2], None, &holes[3..]);
        assert_eq!(all.runs.ends, vec![50, 72]);
        // A hole that ends at the time of the first switch hides nothing about which thread runs then.
        let all = of(&rows[..2], None, &[hole(10, 10)]);
        assert_eq!(all.runs.starts, vec![10, 50]);
        // A hole before a CPU's first event does not show which thread ran up to that event.
        let all = of(&rows[..2], Some(Timestamp(8)), &[hole(5, 5)]);
        assert_eq!(all.runs.starts, vec![8, 10, 50]);
    }
}
