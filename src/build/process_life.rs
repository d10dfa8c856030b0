//! Lives of processes to slices: one for each program that a task ran, and one for the time before its first.
//!
//! ```text
//! parent  | make ------------------------------------------- |
//! child        | make (fork) | sh ------ | gcc ------------ |        arrow: fork -> first action of the child
//! ```
//!
//! A slice begins with the fork or the exec and ends with the next exec or the exit. What a child is before
//! its first exec is called as its parent was at that time; a task whose fork is not in the trace begins
//! with its first event (category `earlier`). Only for formats that ask for it (`Derive::Programs`).

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::group::zip_by_number;
use super::identities::{Act, Born};
use super::merge::Merged;
use super::nesting::{Draft, Nested, nest};
use super::track_number;
use crate::base::strings::base_name;
use crate::base::{Severity, StringId, Timestamp};
use crate::event::Directory;
use crate::event::pairs::PROGRAMS;
use crate::trace::{EventId, LabelId, SliceLabel, ThreadId, Trace, TrackKind};

/// An arrow that is known before slices are.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// What it is.
    pub name: StringId,
    /// Names it.
    pub key: u64,
    /// Where it starts.
    pub from: EventId,
    /// Where it ends.
    pub to: EventId,
}

/// The first event of each thread; `None` for those that did nothing.
pub fn first_events(merged: &Merged, thread_count: usize) -> Vec<Option<(Timestamp, EventId)>> {
    let each: Vec<FxHashMap<u32, (Timestamp, EventId)>> = merged
        .parts
        .par_iter()
        .map(|part| {
            let columns = &merged.events.segments()[part.segment as usize].columns;
            let mut first: FxHashMap<u32, (Timestamp, EventId)> = FxHashMap::default();
            let threads = &merged.events.threads;
            for (run, key) in columns.thread_runs() {
                // A key that means several threads can mean another one at the next event.
                let count = if threads.is_unique(key) { 1 } else { run.len() };
                for index in run.take(count) {
                    let time = columns.time(index as u32);
                    first
                        .entry(threads.at(key, time).0)
                        .or_insert((time, part.event(index as u32)));
                }
            }
            first
        })
        .collect();
    let mut all = vec![None; thread_count];
    for (thread, found) in each.into_iter().flatten() {
        if let Some(entry) = all.get_mut(thread as usize) {
            let earlier: Option<(Timestamp, EventId)> = *entry;
            *entry = Some(earlier.map_or(found, |earlier| earlier.min(found)));
        }
    }
    all
}

struct Open {
    start: Timestamp,
    label: u32,
    begin: EventId,
}

struct Writer<'a> {
    merged: &'a mut Merged,
    labels: FxHashMap<SliceLabel, u32>,
    names: FxHashMap<StringId, StringId>,
    categories: [StringId; 4],
    /// What each thread runs.
    running: Vec<StringId>,
    open: Vec<Option<Open>>,
    drafts: Vec<(u32, Draft)>,
}

#[derive(Clone, Copy)]
enum Part {
    Fork = 0,
    Thread = 1,
    Exec = 2,
    Earlier = 3,
}

impl Writer<'_> {
    fn begin(&mut self, thread: ThreadId, time: Timestamp, event: EventId, part: Part) {
        let name = self
            .running
            .get(thread.0 as usize)
            .copied()
            .unwrap_or_default();
        let label = SliceLabel {
            name,
            category: self.categories[part as usize],
            family: PROGRAMS,
        };
        let merged = &mut *self.merged;
        let label = *self.labels.entry(label).or_insert_with(|| {
            merged.labels.push(label);
            LabelId(merged.labels.len() as u32 - 1).0
        });
        if let Some(open) = self.open.get_mut(thread.0 as usize) {
            *open = Some(Open {
                start: time,
                label,
                begin: event,
            });
        }
    }

    fn end(&mut self, thread: ThreadId, time: Timestamp, event: u32) {
        let Some(open) = self.open.get_mut(thread.0 as usize).and_then(Option::take) else {
            return;
        };
        if open.start == time && open.begin.0 == event {
            // The task's first event is an exec: there was nothing before it.
            return;
        }
        self.drafts.push((
            thread.0,
            Draft {
                start: open.start.0,
                end: time.0.max(open.start.0),
                is_unended: false,
                label: open.label,
                begin: open.begin.0,
                finish: event,
            },
        ));
    }

    /// The last part of a path.
    fn base_name(&mut self, path: StringId) -> StringId {
        if let Some(&name) = self.names.get(&path) {
            return name;
        }
        let name = base_name(self.merged.strings.bytes(path)).to_vec();
        let name = self.merged.strings.intern(&name);
        self.names.insert(path, name);
        name
    }

    fn set_running(&mut self, thread: ThreadId, name: StringId) {
        if let Some(running) = self.running.get_mut(thread.0 as usize) {
            *running = name;
        }
    }
}

/// The slices of programs by track number, sorted; names for threads and processes that have none; and the
/// arrows from forks to children.
pub fn build_programs(
    merged: &mut Merged,
    directory: &Directory,
    births: &[Born],
    acts: &[Act],
    trace: &mut Trace,
) -> (Vec<(u32, Nested)>, Vec<Link>) {
    let thread_count = trace.threads.len();
    let firsts = first_events(merged, thread_count);
    let unknown = merged.strings.intern_text("(unknown program)");
    let fork = merged.strings.intern_text("fork");
    let categories =
        ["fork", "thread", "exec", "earlier"].map(|word| merged.strings.intern_text(word));
    let mut writer = Writer {
        merged,
        labels: FxHashMap::default(),
        names: FxHashMap::default(),
        categories,
        running: vec![StringId::EMPTY; thread_count],
        open: (0..thread_count).map(|_| None).collect(),
        drafts: Vec::new(),
    };
    for entry in &directory.threads {
        if let Some(name) = entry.name {
            let name = writer
                .merged
                .directory_strings
                .get(name.0 as usize)
                .copied();
            let thread = writer.merged.events.threads.at(entry.key, Timestamp::MIN);
            writer.set_running(thread, name.unwrap_or_default());
        }
    }
    let mut execs = vec![false; thread_count];
    for act in acts.iter().filter(|act| act.program.is_some()) {
        if let Some(execs) = execs.get_mut(act.thread.0 as usize) {
            *execs = true;
        }
    }
    for (index, thread) in trace.threads.iter().enumerate().skip(1) {
        let id = ThreadId(index as u32);
        if let (None, Some((time, event))) = (thread.start, firsts[index]) {
            if writer.running[index] == StringId::EMPTY {
                // One that never executes another program is called as the one it runs.
                writer.running[index] = match thread.name {
                    StringId::EMPTY => unknown,
                    _ if execs[index] => unknown,
                    name => name,
                };
            }
            writer.begin(id, time, event, Part::Earlier);
        }
    }
    let mut links = Vec::new();
    let mut born = births.iter().peekable();
    let mut next_birth = |before: Timestamp| born.next_if(|birth| birth.time <= before);
    let mut be_born = |writer: &mut Writer<'_>, birth: &Born| {
        let name = writer
            .running
            .get(birth.parent.0 as usize)
            .copied()
            .filter(|name| *name != StringId::EMPTY)
            .unwrap_or(unknown);
        writer.set_running(birth.child, name);
        let part = if birth.is_thread {
            Part::Thread
        } else {
            Part::Fork
        };
        writer.begin(birth.child, birth.time, birth.event, part);
        let forked_at = writer.merged.events.time(birth.event);
        if let Some(Some((time, first))) = firsts.get(birth.child.0 as usize)
            && *first != birth.event
            && forked_at <= *time
        {
            links.push(Link {
                name: fork,
                key: u64::from(birth.child.0),
                from: birth.event,
                to: *first,
            });
        }
    };
    for act in acts {
        while let Some(birth) = next_birth(act.time) {
            be_born(&mut writer, birth);
        }
        writer.end(act.thread, act.time, act.event.0);
        if let Some(program) = act.program {
            let name = match program {
                StringId::EMPTY => unknown,
                program => writer.base_name(program),
            };
            writer.set_running(act.thread, name);
            writer.begin(act.thread, act.time, act.event, Part::Exec);
        }
    }
    while let Some(birth) = next_birth(Timestamp::MAX) {
        be_born(&mut writer, birth);
    }
    let (drafts, running) = writer.finish(trace);
    name_people(trace, &running);
    (tracks(drafts, trace.cpus.len()), links)
}

impl Writer<'_> {
    /// What is still open lasts to the end of its thread, or of the trace.
    fn finish(mut self, trace: &mut Trace) -> (Vec<(u32, Draft)>, Vec<StringId>) {
        let mut unfinished = 0;
        for (thread, open) in self.open.iter().enumerate() {
            if let Some(open) = open {
                // Of a thread whose pid somebody else has later it is known by when it ended; of one that ended with
                // its process, when.
                let thread_row = trace.threads.get(thread);
                let end = thread_row.and_then(|thread| thread.end);
                let process = thread_row.and_then(|thread| thread.process);
                let process = process.and_then(|of| trace.processes.get(of.0 as usize));
                let is_told = process.is_some_and(|of| of.exit_event.is_some() && of.end == end);
                unfinished += u64::from(end.is_none());
                self.drafts.push((
                    thread as u32,
                    Draft {
                        start: open.start.0,
                        end: end.map_or(i64::MAX, |end| end.0.max(open.start.0)),
                        is_unended: !(is_told && end.is_some()),
                        label: open.label,
                        begin: open.begin.0,
                        finish: u32::MAX,
                    },
                ));
            }
        }
        if unfinished > 0 {
            let code = "unfinished";
            let at = None;
            trace
                .diagnostics
                .note_many(code, Severity::Info, at, unfinished, || {
                    "slices that were still open at the trace's end".to_owned()
                });
        }
        (self.drafts, self.running)
    }
}

/// Threads and processes without a name are called as the program that they ran last.
fn name_people(trace: &mut Trace, running: &[StringId]) {
    for (thread, &name) in trace.threads.iter_mut().zip(running).skip(1) {
        if thread.name == StringId::EMPTY {
            thread.name = name;
        }
    }
    for process in trace.processes.iter_mut() {
        let path = process.images.last().map(|image| image.program);
        let is_named = process.name != StringId::EMPTY && Some(process.name) != path;
        let main = process
            .main_thread
            .and_then(|id| trace.threads.get(id.0 as usize));
        if let (false, Some(thread)) = (is_named, main) {
            let program = process
                .main_thread
                .and_then(|id| running.get(id.0 as usize));
            process.name = match (path, program) {
                (Some(path), Some(&program)) if path != StringId::EMPTY => program,
                _ => thread.name,
            };
        }
    }
}

fn tracks(mut drafts: Vec<(u32, Draft)>, cpu_count: usize) -> Vec<(u32, Nested)> {
    drafts.sort_by_key(|(thread, draft)| (*thread, draft.start));
    let of_threads: Vec<&[(u32, Draft)]> = drafts.chunk_by(|a, b| a.0 == b.0).collect();
    let track = |drafts: &&[(u32, Draft)]| {
        let own: Vec<Draft> = drafts.iter().map(|(_, draft)| *draft).collect();
        let thread = ThreadId(drafts.first().map_or(0, |(thread, _)| *thread));
        (
            track_number(TrackKind::Thread(thread), cpu_count),
            nest(own),
        )
    };
    of_threads.par_iter().map(track).collect()
}

/// Adds tracks to others; both are sorted by number. Slices of the same track are nested again.
pub fn join_tracks(all: &mut Vec<(u32, Nested)>, more: Vec<(u32, Nested)>) {
    if all.is_empty() {
        *all = more;
        return;
    }
    *all = zip_by_number(std::mem::take(all), more)
        .into_iter()
        .map(|(number, mut own, other)| {
            if own.slices.is_empty() {
                return (number, other);
            }
            if !other.slices.is_empty() {
                // A program lies around a call that begins and ends with it: of equal spans the first is the outer one.
                let mut drafts = other.slices;
                drafts.append(&mut own.slices);
                drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
                own = nest(drafts);
            }
            (number, own)
        })
        .collect();
}
