//! The lives of processes and threads that the file itself describes, without events: FXT of our own exporter.

use super::identities::ProcessOfKey;
use super::merge::Merged;
use crate::base::{StringId, Timestamp};
use crate::event::Directory;
use crate::trace::{ProgramImage, Trace};

/// Gives processes and threads the lives that the directory describes, whatever was concluded from their events.
pub fn apply(directory: &Directory, merged: &Merged, keys: &ProcessOfKey, trace: &mut Trace) {
    let string = |id: StringId| {
        let strings = &merged.directory_strings;
        strings
            .get(id.0 as usize)
            .copied()
            .unwrap_or(StringId::EMPTY)
    };
    for (key, life) in &directory.thread_lives {
        let thread = merged.events.threads.at(*key, Timestamp::MAX);
        if let Some(thread) = trace.threads.get_mut(thread.0 as usize) {
            (thread.start, thread.end) = (life.start, life.end);
        }
    }
    for (key, life) in &directory.process_lives {
        let process = keys.get(key);
        let process = process.and_then(|id| trace.processes.get_mut(id.0 as usize));
        let Some(process) = process else { continue };
        (process.start, process.end) = (life.start, life.end);
        process.made = life.made;
        process.parent = life.parent.and_then(|parent| keys.get(&parent).copied());
        process.exit_status = life.exit_status;
        process.exit_signal = life.exit_signal;
    }
    for (key, image) in &directory.images {
        let process = keys.get(key);
        let process = process.and_then(|id| trace.processes.get_mut(id.0 as usize));
        let Some(process) = process else { continue };
        process.images.push(ProgramImage {
            start: image.start,
            program: string(image.program),
            arguments: image.arguments.iter().map(|&id| string(id)).collect(),
            directory: string(image.directory),
            interpreter: string(image.interpreter),
        });
    }
}
