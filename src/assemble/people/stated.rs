//! Facts that a file states about processes and threads without events, besides names: lives in FXT files of our own
//! exporter, sort indices and labels in Chrome JSON.

use super::super::recorded::StringMap;
use super::table::People;
use crate::event::{Directory, ProcessKey};
use crate::trace::{Process, ProgramImage, ThreadMap};

/// Returns `people` with the lives that the directory describes instead of those derived from events; `strings` maps
/// the directory's string ids.
pub(crate) fn with_stated_facts(
    mut people: People,
    directory: &Directory,
    strings: &StringMap,
    threads: &ThreadMap,
) -> People {
    let keys = &people.process_of_key;
    for (key, life) in &directory.thread_lives {
        let thread = threads.last(*key);
        let is_stated = life.start.is_some() || life.end.is_some();
        if let Some(id) = thread
            && let Some(thread) = people.threads.get_mut(id.0 as usize)
            && is_stated
        {
            (thread.start, thread.end) = (life.start, life.end);
            // A process may live on without its leader: its own life is stated below, if it is known.
            let process = thread
                .process
                .and_then(|of| people.processes.get_mut(of.0 as usize));
            if let Some(process) = process.filter(|process| process.main_thread == Some(id)) {
                (process.start, process.end) = (None, None);
            }
        }
    }
    for (key, life) in &directory.process_lives {
        let process = keys.get(key);
        let process = process.and_then(|id| people.processes.get_mut(id.0 as usize));
        let Some(process) = process else { continue };
        (process.start, process.end) = (life.start, life.end);
        process.made = life.made;
        process.parent = life.parent.and_then(|parent| keys.get(&parent).copied());
        process.exit_status = life.exit_status;
        process.exit_signal = life.exit_signal;
    }
    for (key, image) in &directory.images {
        let process = keys.get(key);
        let process = process.and_then(|id| people.processes.get_mut(id.0 as usize));
        let Some(process) = process else { continue };
        process.images.push(ProgramImage {
            start: image.start,
            event: None,
            program: strings.get(image.program),
            arguments: image.arguments.iter().map(|&id| strings.get(id)).collect(),
            directory: strings.get(image.directory),
            interpreter: strings.get(image.interpreter),
        });
    }
    for (key, rank) in &directory.thread_ranks {
        let thread = threads.last(*key);
        if let Some(thread) = thread.and_then(|id| people.threads.get_mut(id.0 as usize)) {
            thread.rank = Some(*rank);
        }
    }
    for (key, rank) in &directory.process_ranks {
        if let Some(process) = process_of(&mut people, *key) {
            process.rank = Some(*rank);
        }
    }
    for (key, labels) in &directory.process_labels {
        if let Some(process) = process_of(&mut people, *key) {
            process.labels = strings.get(*labels);
        }
    }
    people
}

fn process_of(people: &mut People, key: ProcessKey) -> Option<&mut Process> {
    let id = people.process_of_key.get(&key)?;
    people.processes.get_mut(id.0 as usize)
}
