//! Makes slices from lives of processes: one for each program that a task ran, and one for the time before its first
//! exec.
//!
//! ```text
//! parent  | make ------------------------------------------- |
//! child        | make (fork) | sh ------ | gcc ------------ |        arrow: fork -> first action of the child
//! ```
//!
//! A slice begins with the fork or the exec and ends with the next exec or the exit. Before its first exec a child has
//! its parent's program name at that time. A task whose fork is not in the trace begins with its first event (category
//! `earlier`). Only for formats that ask for programs (`Derive::Programs`).

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::group::{Numbered, zip_by_number};
use super::link::Link;
use super::nesting::{Nested, nest};
use super::people::{Act, Born, People};
use super::recorded::{Recorded, StringMap};
use super::track_number;
use crate::base::streaks::Streaks;
use crate::base::strings::base_name;
use crate::base::{Diagnostics, Maybe, Severity, StringId, Strings, Timestamp};
use crate::event::ThreadEntry;
use crate::event::family::Family;
use crate::event::thread_column::ThreadRun;
use crate::event::{FlowKind, SliceKind};
use crate::trace::{EventId, LabelId, SliceLabel, ThreadId};

/// The programs that tasks ran.
#[derive(Default)]
pub(crate) struct Programs {
    /// Slices, sorted by track number.
    pub tracks: Vec<Numbered<Nested>>,
    /// Arrows from forks to the first action of the child.
    pub links: Vec<Link>,
    /// The name of the program that each thread ran last.
    pub running: Vec<StringId>,
    /// Count of the programs that did not end.
    pub diagnostics: Diagnostics,
}

/// The lives that [`programs`] makes slices from.
#[derive(Clone, Copy)]
pub(crate) struct ProgramLives<'a> {
    /// Threads and processes.
    pub people: &'a People,
    /// Forks, sorted by time.
    pub births: &'a [Born],
    /// Execs and exits, sorted by time.
    pub acts: &'a [Act],
    /// The directory's threads.
    pub entries: &'a [ThreadEntry],
    /// Maps the directory's string ids to the trace's.
    pub entry_strings: &'a StringMap,
}

/// Returns the time and id of each thread's first event; `None` for threads without events.
fn first_events(recorded: &Recorded, thread_count: usize) -> Vec<Option<(Timestamp, EventId)>> {
    let each: Vec<FxHashMap<u32, (Timestamp, EventId)>> = recorded
        .parts
        .par_iter()
        .map(|part| {
            let columns = recorded.columns(part);
            let mut first: FxHashMap<u32, (Timestamp, EventId)> = FxHashMap::default();
            let threads = &recorded.events.threads;
            for ThreadRun {
                events: run,
                thread: key,
            } in columns.thread_runs()
            {
                // A key that belonged to several threads may mean another thread at the next event: each event of the
                // run is examined.
                let count = if threads.is_unique(key) { 1 } else { run.len() };
                for index in run.take(count) {
                    let time = columns.time(index as u32);
                    if let Some(thread) = threads.at(key, time) {
                        let event = part.event(index as u32);
                        first.entry(thread.0).or_insert((time, event));
                    }
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

/// A slice and its thread.
#[derive(Clone, Copy)]
struct OfThread {
    thread: ThreadId,
    draft: Draft,
}

struct Writer<'a> {
    strings: &'a mut Strings,
    labels: &'a mut Streaks<SliceLabel>,
    known: FxHashMap<SliceLabel, u32>,
    names: FxHashMap<StringId, StringId>,
    categories: [StringId; 4],
    /// The name of the program that each thread runs.
    running: Vec<StringId>,
    open: Vec<Option<Open>>,
    drafts: Vec<OfThread>,
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
            family: Family::Programs,
            kind: SliceKind::Processes,
        };
        let labels = &mut *self.labels;
        let label = *self.known.entry(label).or_insert_with(|| {
            labels.push(label);
            LabelId(labels.len() as u32 - 1).0
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
            // The task's first event is an exec: it ran nothing before.
            return;
        }
        self.drafts.push(OfThread {
            thread,
            draft: Draft {
                start: open.start.0,
                end: Maybe::new(time.0.max(open.start.0)),
                is_unended: false,
                label: open.label,
                begin: open.begin.0,
                finish: Maybe::new(event),
            },
        });
    }

    /// Returns the last component of a path, interned.
    fn base_name(&mut self, path: StringId) -> StringId {
        if let Some(&name) = self.names.get(&path) {
            return name;
        }
        let name = base_name(self.strings.bytes(path)).to_vec();
        let name = self.strings.intern(&name);
        self.names.insert(path, name);
        name
    }

    fn set_running(&mut self, thread: ThreadId, name: StringId) {
        if let Some(running) = self.running.get_mut(thread.0 as usize) {
            *running = name;
        }
    }
}

/// Returns the programs of all tasks; adds their names to `strings` and `labels`.
pub(super) fn programs(
    lives: ProgramLives<'_>,
    recorded: &Recorded,
    strings: &mut Strings,
    labels: &mut Streaks<SliceLabel>,
) -> Programs {
    let ProgramLives {
        people,
        births,
        acts,
        ..
    } = lives;
    let thread_count = people.threads.len();
    let firsts = first_events(recorded, thread_count);
    let unknown = strings.intern_text("(unknown program)");
    let fork = strings.intern_text(FlowKind::Fork.word());
    let categories = ["fork", "thread", "exec", "earlier"].map(|word| strings.intern_text(word));
    let mut writer = Writer {
        strings,
        labels,
        known: FxHashMap::default(),
        names: FxHashMap::default(),
        categories,
        running: vec![StringId::EMPTY; thread_count],
        open: (0..thread_count).map(|_| None).collect(),
        drafts: Vec::new(),
    };
    for entry in lives.entries {
        if let Some(name) = entry.name {
            let thread = recorded.events.threads.first(entry.key);
            let name = lives.entry_strings.get(name);
            thread.inspect(|&thread| writer.set_running(thread, name));
        }
    }
    let mut execs = vec![false; thread_count];
    for act in acts.iter().filter(|act| act.program.is_some()) {
        if let Some(execs) = execs.get_mut(act.thread.0 as usize) {
            *execs = true;
        }
    }
    for (index, thread) in people.threads.iter().enumerate().skip(1) {
        let id = ThreadId(index as u32);
        if let (None, Some((time, event))) = (thread.start, firsts[index]) {
            if writer.running[index] == StringId::EMPTY {
                // The name of a thread that never executes another program is the name of its program.
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
        let name = (birth.parent)
            .and_then(|parent| writer.running.get(parent.0 as usize).copied())
            .filter(|name| *name != StringId::EMPTY)
            .unwrap_or(unknown);
        writer.set_running(birth.child, name);
        let part = if birth.is_thread {
            Part::Thread
        } else {
            Part::Fork
        };
        writer.begin(birth.child, birth.time, birth.event, part);
        let forked_at = recorded.events.time(birth.event);
        if let Some(Some((time, first))) = firsts.get(birth.child.0 as usize)
            && *first != birth.event
            && forked_at <= *time
        {
            links.push(Link {
                name: fork,
                kind: FlowKind::Fork,
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
    let mut diagnostics = Diagnostics::default();
    let Finished { drafts, running } = writer.finish(people, &mut diagnostics);
    Programs {
        tracks: tracks(drafts, recorded.cpus.len()),
        links,
        running,
        diagnostics,
    }
}

/// The result of a writer.
struct Finished {
    drafts: Vec<OfThread>,
    /// The program that each thread ran last.
    running: Vec<StringId>,
}

impl Writer<'_> {
    /// Ends open slices at the end of their thread, or leaves them open to the trace's end. Returns slices and
    /// programs.
    fn finish(mut self, people: &People, diagnostics: &mut Diagnostics) -> Finished {
        let mut unfinished = 0;
        for (thread, open) in self.open.iter().enumerate() {
            if let Some(open) = open {
                // The end is certain only if the process has an exit event at that time: the end of a thread whose pid
                // is reused without an exit event is only the time of its last event.
                let thread_row = people.threads.get(thread);
                let end = thread_row.and_then(|thread| thread.end);
                let process = thread_row.and_then(|thread| thread.process);
                let process = process.and_then(|of| people.process(of));
                let has_exit = process.is_some_and(|of| of.exit_event.is_some() && of.end == end);
                unfinished += u64::from(end.is_none());
                self.drafts.push(OfThread {
                    thread: ThreadId(thread as u32),
                    draft: Draft {
                        start: open.start.0,
                        end: end.map(|end| end.0.max(open.start.0)).into(),
                        is_unended: !(has_exit && end.is_some()),
                        label: open.label,
                        begin: open.begin.0,
                        finish: Maybe::NONE,
                    },
                });
            }
        }
        if unfinished > 0 {
            let code = "unfinished";
            let at = None;
            diagnostics.note_many(code, Severity::Info, at, unfinished, || {
                "slices that were still open at the trace's end".to_owned()
            });
        }
        Finished {
            drafts: self.drafts,
            running: self.running,
        }
    }
}

/// Returns `people` with names for threads and processes that have none: the program that the thread ran last.
pub(crate) fn with_program_names(mut people: People, running: &[StringId]) -> People {
    let (threads, processes) = (&mut people.threads, &mut people.processes);
    for (thread, &name) in threads.iter_mut().zip(running).skip(1) {
        if thread.name == StringId::EMPTY {
            thread.name = name;
        }
    }
    for process in processes.iter_mut() {
        let path = process.images.last().map(|image| image.program);
        let is_named = process.name != StringId::EMPTY && Some(process.name) != path;
        let main = process
            .main_thread
            .and_then(|id| threads.get(id.0 as usize));
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
    people
}

fn tracks(mut drafts: Vec<OfThread>, cpu_count: usize) -> Vec<Numbered<Nested>> {
    drafts.sort_by_key(|of| (of.thread, of.draft.start));
    let of_threads: Vec<&[OfThread]> = drafts.chunk_by(|a, b| a.thread == b.thread).collect();
    let track = |drafts: &&[OfThread]| {
        let own: Vec<Draft> = drafts.iter().map(|of| of.draft).collect();
        let thread = drafts.first().map_or(ThreadId(0), |of| of.thread);
        Numbered {
            number: track_number::of_thread(thread, cpu_count),
            own: nest(own),
        }
    };
    of_threads.par_iter().map(track).collect()
}

/// Joins two lists of tracks that are sorted by number; slices of a track that both have are nested again.
pub(crate) fn join_tracks(
    all: Vec<Numbered<Nested>>,
    more: Vec<Numbered<Nested>>,
) -> Vec<Numbered<Nested>> {
    if all.is_empty() {
        return more;
    }
    if more.is_empty() {
        return all;
    }
    zip_by_number(all, more)
        .into_iter()
        .map(|both| Numbered {
            number: both.number,
            own: nested_together(both.left, both.right),
        })
        .collect()
}

/// Nests the slices of two lists of one track together.
fn nested_together(calls: Nested, programs: Nested) -> Nested {
    if calls.slices.is_empty() {
        return programs;
    }
    if programs.slices.is_empty() {
        return calls;
    }
    // A program may begin with the event of a call: their labels differ.
    let identity = |draft: &Draft| (draft.begin, draft.label);
    let measured = calls.measured.iter().filter_map(|&(index, ns)| {
        let draft = calls.slices.get(index as usize)?;
        Some((identity(draft), ns))
    });
    let measured: FxHashMap<(u32, u32), i64> = measured.collect();
    // If a program and a call have the same span, the first one is the outer slice: the program must contain the call.
    let mut drafts = programs.slices;
    drafts.extend(calls.slices);
    drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
    let mut nested = nest(drafts);
    if !measured.is_empty() {
        nested.set_measured(|draft| measured.get(&identity(draft)).copied());
    }
    nested
}
