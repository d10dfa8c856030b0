//! Switches to the runs of each CPU.

use std::mem::take;

use rayon::prelude::*;

use super::super::group::{Groups, Pieces, Sorted, join_in_order};
use super::losses::Hole;
use super::{Change, SwitchRow, To};
use crate::base::Timestamp;
use crate::event::{EndState, SwitchTells};
use crate::trace::{Runs, ThreadId, ThreadState, Trace};

/// The runs of one CPU, and what else they tell.
#[derive(Default)]
pub struct CpuRuns {
    cpu: u32,
    /// In order of time.
    pub runs: Runs,
    /// How many switches did not fit the run before them.
    pub mismatches: u64,
    /// What changes for threads without a switch of theirs, each with its thread.
    told: Vec<(u32, Change)>,
}

pub(super) fn runs_of_cpus(
    cpus: Vec<(u32, Pieces<'_, SwitchRow>)>,
    times: &[Option<Hole>],
    trace: &Trace,
) -> Vec<CpuRuns> {
    let gaps = trace.gaps_by_cpu();
    cpus.into_par_iter()
        .map_init(Vec::new, |rows, (cpu, pieces)| {
            join_in_order(&pieces, |row| row.time, rows);
            let times = times.get(cpu as usize).copied().flatten();
            let first_event = times.map(|(first, _)| Timestamp(first));
            let holes = gaps.get(cpu as usize).into_iter().flatten();
            let holes: Vec<(i64, i64)> = holes.map(|hole| (hole.start.0, hole.end.0)).collect();
            runs_of_cpu(cpu, rows, first_event, &holes)
        })
        .collect()
}

/// What runs of all CPUs tell of threads' states, taken out of them.
pub(super) fn told_by_runs(cpus: &mut [CpuRuns]) -> Sorted<Change> {
    let mut told = Groups::default();
    for (thread, change) in cpus.iter_mut().flat_map(|cpu| take(&mut cpu.told)) {
        told.push(thread, change);
    }
    told.sorted()
}

pub(super) fn join_runs(each: Vec<CpuRuns>, cpu_count: usize, thread_count: usize) -> Runs {
    let mut runs = Runs {
        of_cpu: vec![0..0; cpu_count],
        ..Runs::default()
    };
    let total: usize = each.iter().map(|cpu| cpu.runs.len()).sum();
    reserve(&mut runs, total);
    for mut cpu in each {
        let first = runs.starts.len() as u32;
        runs.append(&mut cpu.runs);
        runs.of_cpu[cpu.cpu as usize] = first..runs.starts.len() as u32;
    }
    sort_by_thread(&mut runs, thread_count);
    end_before_elsewhere(&mut runs);
    runs
}

/// Ends runs where their thread begins to run on another CPU: the switch that ended them there was lost.
fn end_before_elsewhere(runs: &mut Runs) {
    for range in &runs.of_thread {
        let list = &runs.by_thread[range.start as usize..range.end as usize];
        for pair in list.windows(2) {
            let (run, next) = (pair[0] as usize, pair[1] as usize);
            // A run that was not seen to end may last until the trace does.
            if runs.ends[run] > runs.starts[next] {
                runs.ends[run] = runs.starts[next].max(runs.starts[run]);
                runs.end_states[run] = EndState::Unknown;
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

/// The runs that a CPU's switches tell, in order of time. `holes` in its recording are sorted by their starts.
pub fn runs_of_cpu(
    cpu: u32,
    rows: &[SwitchRow],
    first_event: Option<Timestamp>,
    holes: &[(i64, i64)],
) -> CpuRuns {
    let mut all = CpuRuns {
        cpu,
        ..CpuRuns::default()
    };
    reserve(&mut all.runs, rows.len() + 1);
    let mut is_open = false;
    let mut holes = holes.iter().peekable();
    // Since when the CPU is recorded, if nothing is known yet of who runs.
    let mut recorded_since = first_event.map(|first| first.0);
    for row in rows {
        // What was overwritten before the first event ends with it: that comes before its switch.
        while let Some((start, end)) =
            holes.next_if(|hole| hole.0 < row.time || (!is_open && hole.1 <= row.time))
        {
            if take(&mut is_open) {
                all.lose(*start);
            }
            recorded_since = recorded_since.max(Some(*end));
        }
        let since = recorded_since.take();
        if is_open {
            all.end(row);
        } else if let Some(start) = since.filter(|&start| start < row.time)
            && row.prev != ThreadId::IDLE.0
            && row.prev != ThreadId::NONE.0
        {
            all.begin_without_switch(row, start);
        }
        is_open = row.next != ThreadId::IDLE.0 && row.next != ThreadId::NONE.0;
        if is_open {
            push_run(
                &mut all.runs,
                row.time,
                row.next,
                row.next_priority,
                row.event,
            );
        }
    }
    if let Some(&(start, _)) = holes.next().filter(|_| is_open) {
        all.lose(start);
    }
    all
}

impl CpuRuns {
    /// The latest run ends with a switch.
    fn end(&mut self, row: &SwitchRow) {
        let runs = &mut self.runs;
        let Some(last) = runs.ends.len().checked_sub(1) else {
            return;
        };
        if runs.threads[last] == row.prev && row.tells == SwitchTells::Runs {
            // Where a state followed from it, another switch would say so.
            runs.ends[last] = row.time.max(runs.starts[last]);
            return;
        }
        if runs.threads[last] == row.prev {
            runs.ends[last] = row.time.max(runs.starts[last]);
            runs.end_states[last] = row.prev_state;
            return;
        }
        // From idle to idle: whoever wrote that says no more than that the run ended (our FXT, where the state
        // after a run is not known).
        let says_only_end = row.prev == row.next && row.prev == ThreadId::IDLE.0;
        self.mismatches += u64::from(!says_only_end);
        let goes_on = runs.threads[last] == row.next;
        match goes_on {
            true => runs.ends[last] = row.time.max(runs.starts[last]),
            false => self.lose(row.time),
        }
    }

    /// From `time` on nobody knows who runs: the latest run ends.
    fn lose(&mut self, time: i64) {
        let runs = &mut self.runs;
        let Some(last) = runs.ends.len().checked_sub(1) else {
            return;
        };
        let end = time.max(runs.starts[last]);
        runs.ends[last] = end;
        let to = To::stops_running_on(self.cpu);
        self.told.push((runs.threads[last], Change::told(end, to)));
    }

    /// Whom a switch takes off has run since `start`.
    fn begin_without_switch(&mut self, row: &SwitchRow, start: i64) {
        let runs = &mut self.runs;
        push_run(runs, start, row.prev, row.prev_priority, u32::MAX);
        if let (Some(end), Some(state)) = (runs.ends.last_mut(), runs.end_states.last_mut()) {
            *end = row.time;
            *state = row.prev_state;
        }
        let to = To::new(ThreadState::Running, self.cpu);
        self.told.push((row.prev, Change::told(start, to)));
    }
}

fn push_run(runs: &mut Runs, start: i64, thread: u32, priority: i32, event: u32) {
    runs.starts.push(start);
    runs.ends.push(i64::MAX);
    runs.threads.push(thread);
    runs.priorities.push(priority);
    runs.end_states.push(EndState::Unknown);
    runs.events.push(event);
}

/// Fills `by_thread` and `of_thread`: a counting sort, then each thread's few runs by start.
pub fn sort_by_thread(runs: &mut Runs, thread_count: usize) {
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
    let starts = &runs.starts;
    for range in &runs.of_thread {
        let list = &mut by_thread[range.start as usize..range.end as usize];
        if !list.is_sorted_by_key(|&run| starts[run as usize]) {
            list.sort_by_key(|&run| starts[run as usize]);
        }
    }
    runs.by_thread = by_thread;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(told: &[(u32, Change)]) -> Vec<(u32, i64, To)> {
        let show = |(thread, change): &(u32, Change)| (*thread, change.time, change.to);
        told.iter().map(show).collect()
    }

    fn switch(time: i64, prev: u32, next: u32) -> SwitchRow {
        SwitchRow {
            time,
            event: 0,
            prev,
            next,
            next_priority: 120,
            prev_priority: 100,
            prev_state: EndState::Sleeping,
            tells: SwitchTells::RunsAndStates,
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
        let all = runs_of_cpu(2, &rows, Some(Timestamp(3)), &[]);
        let runs = &all.runs;
        assert_eq!(runs.starts, vec![3, 10, 30, 40, 45]);
        assert_eq!(runs.ends, vec![10, 20, 40, 45, i64::MAX]);
        assert_eq!(runs.threads, vec![5, 6, 7, 9, 9]);
        assert_eq!(all.mismatches, 2);
        // Who ran on the CPU is known to run on it again: that is no change.
        let running = To::new(ThreadState::Running, 2);
        let told = vec![(5, 3, running), (7, 40, To::stops_running_on(2))];
        assert_eq!(shown(&all.told), told);
        assert_eq!(
            runs.end_states[1..4],
            [EndState::Sleeping, EndState::Unknown, EndState::Unknown]
        );
    }

    #[test]
    fn nobody_is_known_to_run_in_a_hole() {
        let rows = [switch(10, 5, 6), switch(50, 6, 7), switch(70, 7, 0)];
        let holes = [(2, 4), (20, 30), (35, 40), (72, 80)];
        let all = runs_of_cpu(1, &rows, None, &holes);
        assert_eq!(all.runs.starts, vec![4, 10, 40, 50]);
        assert_eq!(all.runs.ends, vec![10, 20, 50, 70]);
        assert_eq!(all.runs.threads, vec![5, 6, 6, 7]);
        assert_eq!(all.mismatches, 0);
        let (running, lost) = (To::new(ThreadState::Running, 1), To::stops_running_on(1));
        let told = vec![(5, 4, running), (6, 20, lost), (6, 40, running)];
        assert_eq!(shown(&all.told), told);
        let all = runs_of_cpu(1, &rows[..2], None, &holes[3..]);
        assert_eq!(all.runs.ends, vec![50, 72]);
        // A hole that ends with the first switch hides nothing of who runs then.
        let all = runs_of_cpu(1, &rows[..2], None, &[(10, 10)]);
        assert_eq!(all.runs.starts, vec![10, 50]);
        // One before a CPU's first event does not say who ran up to it.
        let all = runs_of_cpu(1, &rows[..2], Some(Timestamp(8)), &[(5, 5)]);
        assert_eq!(all.runs.starts, vec![8, 10, 50]);
    }
}
