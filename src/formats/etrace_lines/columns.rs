//! Puts the calls of all tasks into columns that follow each other in time.

use crate::base::Maybe;
use crate::event::{LaneColumns, Life, LifeRow};

use super::emit::{Called, Calls, Target};
use super::notes::Moment;

/// Returns the columns of the calls from `from` to before `until`; `None`: to the end. The calls of each element of
/// `all` are in time order.
pub(super) fn columns_of(all: &[Calls], from: Moment, until: Option<Moment>) -> LaneColumns {
    let moment = |event: &Called| (event.time, event.place);
    let chosen = all.iter().map(|calls| {
        let events = &calls.events;
        let start = events.partition_point(|event| moment(event) < from);
        let end = until.map_or(events.len(), |until| {
            events.partition_point(|event| moment(event) < until)
        });
        (calls, events.get(start..end).unwrap_or(&[]))
    });
    let mut order: Vec<(&Calls, &Called)> = chosen
        .flat_map(|(calls, events)| events.iter().map(move |event| (calls, event)))
        .collect();
    // The stable sort merges sequences that are already in order.
    order.sort_by_key(|(_, event)| moment(event));
    let mut out = LaneColumns::new(0);
    out.events.reserve(order.len());
    for (calls, event) in order {
        let Called {
            time,
            place,
            key,
            kind,
            cpu,
            row,
        } = *event;
        let index = out
            .events
            .push_on_cpu(time, place, kind, key, Maybe::new(cpu));
        match row {
            Target::File(row) => add_file(&mut out, calls, row, index),
            Target::Life(row) => add_life(&mut out, calls, row, index),
            Target::First | Target::Nothing => {}
        }
    }
    out.events.shrink();
    out
}

fn add_file(out: &mut LaneColumns, calls: &Calls, row: u32, event: u32) {
    let Some(row) = calls.files.get(row as usize) else {
        return;
    };
    let mut row = row.clone();
    row.event = event;
    row.path = out.strings.intern(calls.strings.bytes(row.path));
    row.other_path = out.strings.intern(calls.strings.bytes(row.other_path));
    out.files.push(row);
}

fn add_life(out: &mut LaneColumns, calls: &Calls, row: u32, event: u32) {
    let Some(life) = calls.lives.get(row as usize) else {
        return;
    };
    let mut life = life.clone();
    let mut here =
        |id: &mut crate::base::StringId| *id = out.strings.intern(calls.strings.bytes(*id));
    match &mut life {
        Life::Exec {
            program,
            arguments,
            directory,
            interpreter,
            ..
        } => {
            for id in [program, directory, interpreter] {
                here(id);
            }
            arguments.iter_mut().for_each(here);
        }
        Life::Name { name, .. } | Life::Fork { name, .. } => here(name),
        _ => {}
    }
    out.lives.push(LifeRow { event, life });
}
