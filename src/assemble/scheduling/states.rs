//! The states of all threads as columns. `state_walk` makes those of each thread.

use rayon::prelude::*;

use super::super::group::{Numbered, Pieces, join_in_order};
use super::super::stretch::cut;
use super::changes::Change;
use super::state_walk::{Facts, OfThread, states_of};
use crate::base::{Maybe, StringId};
use crate::event::StateFacts;
use crate::trace::{StateNotes, States, ThreadId, ThreadState};

/// Returns the states of all threads; `threads` are the changes of each thread.
pub(super) fn build_states(
    threads: Vec<Numbered<Pieces<'_, Change>>>,
    thread_count: usize,
    facts: &Facts<'_>,
) -> States {
    let mut each: Vec<(u32, OfThread)> = threads
        .into_par_iter()
        .map_init(Vec::new, |changes, of| {
            join_in_order(&of.own, |change| change.time, changes);
            (of.number, states_of(ThreadId(of.number), changes, facts))
        })
        .collect();
    // If some threads' switches were filtered out, a thread that was woken but never switched to may be one of them.
    let is_filtered = each.iter().any(|(_, it)| it.ran_unseen && !it.has_switches);
    if is_filtered {
        for (_, of_thread) in each.iter_mut().filter(|(_, it)| !it.has_switches) {
            of_thread.forget_last_wait(facts);
        }
    }
    let total: usize = each.iter().map(|(_, it)| it.rows.len()).sum();
    let mut states = States {
        starts: vec![0; total].into(),
        ends: vec![Maybe::NONE; total].into(),
        states: vec![ThreadState::Running; total],
        partners: vec![Maybe::NONE; total].into(),
        notes: vec![StateNotes::default(); total].into(),
        events: vec![Maybe::NONE; total].into(),
        partial: Vec::new(),
        of_thread: Vec::with_capacity(thread_count),
        woken_by: woken_by(&facts.stated),
    };
    let mut starts = &mut *states.starts;
    let mut ends = &mut *states.ends;
    let mut kinds = states.states.as_mut_slice();
    let mut partners = &mut *states.partners;
    let mut notes = &mut *states.notes;
    let mut events = &mut *states.events;
    let mut jobs = Vec::with_capacity(each.len());
    let mut first = 0;
    for (thread, of_thread) in each {
        let count = of_thread.rows.len();
        states.of_thread.resize(thread as usize, first..first);
        states.of_thread.push(first..first + count as u32);
        first += count as u32;
        jobs.push((
            of_thread,
            (cut(&mut starts, count), cut(&mut ends, count)),
            (cut(&mut kinds, count), cut(&mut notes, count)),
            cut(&mut partners, count),
            cut(&mut events, count),
        ));
    }
    states
        .of_thread
        .resize(thread_count.max(states.of_thread.len()), first..first);
    jobs.into_par_iter().for_each(
        |(of_thread, (starts, ends), (kinds, notes), partners, events)| {
            let rows = &of_thread.rows;
            for (i, row) in rows.iter().enumerate() {
                let end = rows
                    .get(i + 1)
                    .map_or(of_thread.end, |next| Maybe::new(next.start));
                starts[i] = row.start;
                ends[i] = end;
                kinds[i] = row.state;
                partners[i] = row.partner.into();
                events[i] = row.event_number;
                notes[i] = match row.state {
                    // Running states are certain: the runs show them.
                    ThreadState::Running => row.notes,
                    // A wait was already checked against losses.
                    ThreadState::Runnable if row.notes.is_woken() => row.notes,
                    // It never runs again.
                    state if state.is_over() => row.notes,
                    _ if of_thread.is_left_out => row.notes.with_missing_switches(),
                    _ => facts.notes_of(row, end),
                };
            }
        },
    );
    states
}

/// Returns (wakeup event, name of the interrupt handler) for wakeups whose interrupt the file itself names.
fn woken_by(stated: &[StateFacts]) -> Vec<(u32, StringId)> {
    let names = stated.iter();
    let names = names.filter_map(|stated| Some((stated.event, stated.woken_by?)));
    names.collect()
}
