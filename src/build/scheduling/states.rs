//! Changes to the states of each thread.

use rayon::prelude::*;

use super::super::group::{Pieces, join_in_order};
use super::super::slice_table::cut;
use super::Change;
use crate::trace::{States, ThreadState};

/// All states, from what each thread changes to.
pub(super) fn build_states(threads: Vec<(u32, Pieces<'_, Change>)>, thread_count: usize) -> States {
    let each: Vec<(u32, (Vec<Change>, i64))> = threads
        .into_par_iter()
        .map_init(Vec::new, |changes, (thread, pieces)| {
            join_in_order(&pieces, |change| change.time, changes);
            let end = keep_states(changes);
            (thread, (changes.clone(), end))
        })
        .collect();
    let total: usize = each.iter().map(|(_, (rows, _))| rows.len()).sum();
    let mut states = States {
        starts: vec![0; total],
        ends: vec![0; total],
        states: vec![ThreadState::Running; total],
        partners: vec![0; total],
        events: vec![0; total],
        of_thread: Vec::with_capacity(thread_count),
    };
    let mut starts = states.starts.as_mut_slice();
    let mut ends = states.ends.as_mut_slice();
    let mut kinds = states.states.as_mut_slice();
    let mut partners = states.partners.as_mut_slice();
    let mut events = states.events.as_mut_slice();
    let mut jobs = Vec::with_capacity(each.len());
    let mut first = 0;
    for (thread, (rows, end)) in each {
        let count = rows.len();
        states.of_thread.resize(thread as usize, first..first);
        states.of_thread.push(first..first + count as u32);
        first += count as u32;
        jobs.push((
            (rows, end),
            (cut(&mut starts, count), cut(&mut ends, count)),
            cut(&mut kinds, count),
            cut(&mut partners, count),
            cut(&mut events, count),
        ));
    }
    states
        .of_thread
        .resize(thread_count.max(states.of_thread.len()), first..first);
    jobs.into_par_iter()
        .for_each(|((rows, end), (starts, ends), kinds, partners, events)| {
            for (i, row) in rows.iter().enumerate() {
                starts[i] = row.time;
                ends[i] = rows.get(i + 1).map_or(end, |next| next.time);
                kinds[i] = row.to.state();
                partners[i] = row.to.partner();
                events[i] = row.event;
            }
        });
    states
}

/// Keeps of a thread's changes, in order of time, those that begin a state. When the last of them ends.
fn keep_states(changes: &mut Vec<Change>) -> i64 {
    let mut count = 0_usize;
    for at in 0..changes.len() {
        let change = changes[at];
        let now = count.checked_sub(1).map(|last| changes[last]);
        let Some(to) = change.to.after(now.map(|now| now.to)) else {
            continue;
        };
        if now.is_some_and(|now| now.time == change.time) {
            // Nothing lasts no time at all: a new thread is ready as soon as it is made.
            count -= 1;
        }
        changes[count] = Change { to, ..change };
        count += 1;
    }
    changes.truncate(count);
    let is_unknown = |last: &mut Change| last.to.state() == ThreadState::Unknown;
    changes
        .pop_if(is_unknown)
        .map_or(i64::MAX, |last| last.time)
}

#[cfg(test)]
mod tests {
    use super::super::To;
    use super::*;

    fn shown(changes: &[Change]) -> Vec<(i64, ThreadState, u32)> {
        let show = |row: &Change| (row.time, row.to.state(), row.to.partner());
        changes.iter().map(show).collect()
    }

    fn change(time: i64, to: To) -> Change {
        Change {
            time,
            event: time as u32,
            to,
        }
    }

    #[test]
    fn a_thread_sleeps_is_woken_and_runs_again() {
        use ThreadState::{Created, Preempted, Runnable, Running, Sleeping};
        let mut changes = vec![
            change(9, To::new(Created, To::NOBODY)),
            change(9, To::woken(u32::MAX)),
            change(10, To::new(Running, 1)),
            change(20, To::new(Sleeping, To::NOBODY)),
            change(50, To::woken(7)),
            change(51, To::woken(8)),
            change(55, To::new(Created, To::NOBODY)),
            change(60, To::new(Running, 0)),
            change(70, To::new(Preempted, To::NOBODY)),
            change(71, To::woken(3)),
        ];
        changes.push(change(80, To::new(ThreadState::Unknown, To::NOBODY)));
        assert_eq!(keep_states(&mut changes), 80);
        assert_eq!(
            shown(&changes),
            vec![
                (9, Runnable, u32::MAX),
                (10, Running, 1),
                (20, Sleeping, u32::MAX),
                (50, Runnable, 7),
                (60, Running, 0),
                (70, Preempted, u32::MAX)
            ]
        );
    }

    #[test]
    fn a_thread_that_runs_elsewhere_is_not_lost() {
        use ThreadState::{Running, Unknown};
        let mut changes = vec![
            change(10, To::new(Running, 1)),
            change(12, To::stops_running_on(0)),
            change(20, To::stops_running_on(1)),
            change(25, To::stops_running_on(1)),
            change(30, To::new(Running, 1)),
        ];
        assert_eq!(keep_states(&mut changes), i64::MAX);
        assert_eq!(
            shown(&changes),
            vec![(10, Running, 1), (20, Unknown, u32::MAX), (30, Running, 1)]
        );
    }
}
