//! Maps the reader's keys to threads and processes; each row is one thread or process, even if keys are reused.
//!
//! A fork begins a new life of its child's key: if the key was seen before, it belonged to another thread until then. A
//! thread that shares its parent's process (as the file states) joins that process; every other thread is a process of
//! its own, unless the directory names its process. Names, ends and programs belong to the life that the key had at
//! their time.

mod births;
mod ends;
mod lost_forks;
mod names;
mod reused_pids;
mod seen;
mod stated;
mod table;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cuts::CutEnd;
use super::merge::Merged;
use crate::base::strings::base_name;
use crate::base::{StringId, Strings, TimeSpan, Timestamp};
use crate::event::keys::{Derive, Moment};
use crate::event::{Directory, ForkSort, Life, ThreadEntry, ThreadKey};
use crate::trace::{Process, ProcessId, ProgramImage, SeenTimes, Thread, ThreadId, ThreadMap};
use births::{Birth, SAME_FORK, births};
pub(crate) use births::{LifeEvent, sorted_lives};
pub(crate) use ends::with_ends;
use lost_forks::date_lost_forks;
use names::{Exec, Naming};
use reused_pids::{end_reused, forgotten};
use seen::{Seen, seen_keys};
pub(crate) use stated::with_stated_facts;
pub(crate) use table::{Act, Born, People, ProcessOfKey, TakenOver};

/// All threads and processes, and the threads that the reader's keys belong to.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    /// The thread that a key belongs to at each time.
    pub keys: ThreadMap,
    /// Threads and processes.
    pub people: People,
    /// Forks, sorted by time.
    pub births: Vec<Born>,
    /// The execs and exits of all tasks, sorted by time; empty unless the format asks for programs.
    pub acts: Vec<Act>,
    /// Threads that took their leaders' places by `execve`, sorted by time.
    pub taken_over: Vec<TakenOver>,
    /// Threads whose number another thread has from a time on.
    pub replaced: Vec<CutEnd>,
}

/// Threads and processes while they are made.
#[derive(Default)]
struct Making {
    keys: ThreadMap,
    people: People,
}

/// A thread that a fork made, before its process is known.
struct NewThread {
    time: Timestamp,
    id: ThreadId,
    birth: Birth,
}

/// All information that the recording contains about a key.
struct Known<'a> {
    key: u32,
    /// When it was first and last seen.
    seen: Option<SeenTimes>,
    /// The forks that made threads with this key, sorted by time.
    births: &'a [Birth],
    /// The directory's entry for it.
    entry: Option<&'a ThreadEntry>,
}

/// Returns all threads and processes of a recording.
pub(crate) fn identify(merged: &Merged, directory: &Directory) -> Identities {
    let (seen, lives) = rayon::join(
        || seen_keys(&merged.recorded, &merged.rows),
        || sorted_lives(&merged.recorded, &merged.rows.lives),
    );
    let births = births(directory, &merged.recorded.events, &seen, &lives);
    let mut entries: Vec<&ThreadEntry> = directory.threads.iter().collect();
    entries.sort_by_key(|entry| entry.key);
    let mut entries = entries.into_iter().peekable();
    let mut keys: Vec<u32> = seen
        .keys()
        .copied()
        .chain(births.iter().map(|birth| birth.key))
        .chain(used_entries(directory, &seen))
        .collect();
    keys.sort_unstable();
    keys.dedup();

    let mut making = Making::default();
    let people = &mut making.people;
    people.threads.reserve_exact(keys.len() + 1);
    people.processes.reserve_exact(directory.processes.len());
    people
        .threads
        .push(idle_thread(merged, directory, merged.span));
    making
        .keys
        .insert(ThreadKey::IDLE, Timestamp::MIN, ThreadId::IDLE);
    making.add_directory_processes(merged, directory);
    let mut born = Vec::with_capacity(births.len());
    let mut births = births.as_slice();
    for key in keys {
        // Keys, births and entries are all sorted by key.
        let count = births.iter().take_while(|birth| birth.key == key).count();
        let (of_key, later) = births.split_at(count);
        births = later;
        let mut entry = None;
        while let Some(more) = entries.next_if(|entry| entry.key.0 <= key) {
            entry = Some(more).filter(|entry| entry.key.0 == key);
        }
        if key == ThreadKey::IDLE.0 {
            continue;
        }
        let known = Known {
            key,
            seen: seen.get(&key).copied(),
            births: of_key,
            entry,
        };
        making.add_lives(&known, &mut born, merged.span);
    }
    born.sort_by_key(|new| new.time);
    let births = born.iter().map(|new| Born {
        time: new.time,
        parent: making.keys.at(new.birth.parent, new.time),
        child: new.id,
        is_thread: new.birth.sort == ForkSort::Thread,
        event: new.birth.event,
    });
    let births = births.collect();
    making.join_processes(directory, &born, &lives);
    let naming = making.apply_lives(merged, directory.derive, &lives);
    making.name_all(directory, merged, &naming);
    making.furnish(merged, directory);
    let Making { keys, mut people } = making;
    date_lost_forks(&people.threads, &mut people.processes, directory.unseen);
    let forgotten = forgotten(&keys, &people.threads, &lives);
    let replaced = end_reused(&mut people.threads, &mut people.processes, &forgotten);
    let acts = match directory.derive {
        Derive::Programs => acts(&keys, &lives),
        Derive::Nothing => Vec::new(),
    };
    let taken_over = taken_over(&keys, &lives);
    Identities {
        keys,
        people,
        births,
        acts,
        taken_over,
        replaced,
    }
}

fn taken_over(threads: &ThreadMap, lives: &[LifeEvent<'_>]) -> Vec<TakenOver> {
    let taken = |row: &LifeEvent<'_>| match row.life {
        Life::Exec {
            thread,
            caller: Some(caller),
            ..
        } => Some(TakenOver {
            time: row.time,
            caller: threads.at(*caller, row.time)?,
            leader: threads.at(*thread, row.time)?,
        }),
        _ => None,
    };
    lives.iter().filter_map(taken).collect()
}

fn acts(threads: &ThreadMap, lives: &[LifeEvent<'_>]) -> Vec<Act> {
    let act = |row: &LifeEvent<'_>| {
        let (thread, program) = match row.life {
            Life::Exec {
                thread, program, ..
            } => (*thread, Some(row.part.string(*program))),
            Life::Exit { thread, .. } => (*thread, None),
            _ => return None,
        };
        Some(Act {
            time: row.time,
            thread: threads.at(thread, row.time)?,
            event: row.event,
            program,
        })
    };
    lives.iter().filter_map(act).collect()
}

/// Returns the keys of directory entries that are threads. An entry that states a process is a thread even without
/// events, and so is the main thread of one that was seen. Saved command lines of tasks that never appear are not threads.
fn used_entries<'a>(directory: &'a Directory, seen: &'a Seen) -> impl Iterator<Item = u32> + 'a {
    let is_seen = |key: ThreadKey| seen.contains_key(&key.0);
    let entries = (directory.threads.iter())
        .filter(move |entry| entry.process.is_some() || is_seen(entry.key))
        .map(|entry| entry.key.0);
    let groups = (directory.groups.iter())
        .filter(move |group| is_seen(group.thread))
        .map(|group| group.leader.0);
    entries.chain(groups)
}

fn idle_thread(merged: &Merged, directory: &Directory, span: TimeSpan) -> Thread {
    let entry = directory
        .threads
        .iter()
        .find(|entry| entry.key == ThreadKey::IDLE);
    let name = entry
        .and_then(|entry| entry.name)
        .map_or(StringId::EMPTY, |name| merged.directory_strings.get(name));
    Thread {
        tid: 0,
        key: 0,
        process: None,
        name,
        rank: None,
        start: None,
        end: None,
        seen: SeenTimes {
            first: span.start,
            last: span.end,
        },
    }
}

/// Returns whether the exit of a thread ends its process. `may_lead` are the processes whose children may be their
/// threads.
///
/// A process continues without its leader if other threads do. If a thread exits after the leader, the process lived
/// until then. A thread that created no others and was not the last one belongs to another process: it is assigned here
/// only because its real process is unknown.
fn ends_process(
    process: &Process,
    of: ProcessId,
    exit: &Exit,
    may_lead: &FxHashSet<ProcessId>,
) -> bool {
    let is_leader = process.main_thread == Some(exit.thread);
    let may_have_others = may_lead.contains(&of) || !process.may_be_thread();
    let lives_on = exit.is_last == Some(false) && may_have_others;
    (is_leader && !lives_on) || process.end.is_some() || exit.is_last == Some(true)
}

/// How a thread ended, as a file states it.
struct Exit {
    thread: ThreadId,
    key: ThreadKey,
    status: Option<i32>,
    signal: Option<i32>,
    /// Whether it was the last thread of its process, if that is stated.
    is_last: Option<bool>,
}

/// Returns whether two paths have the same last component.
fn have_one_name(strings: &Strings, a: StringId, b: StringId) -> bool {
    let name = |path: StringId| base_name(strings.bytes(path));
    a == b || name(a) == name(b)
}

impl Making {
    fn add_directory_processes(&mut self, merged: &Merged, directory: &Directory) {
        for entry in &directory.processes {
            let id = self.new_process(entry.pid, entry.file_key);
            let process = &mut self.people.processes[id.0 as usize];
            process.name = entry
                .name
                .map_or(StringId::EMPTY, |name| merged.directory_strings.get(name));
            self.people.process_of_key.insert(entry.key, id);
        }
    }

    fn new_process(&mut self, pid: u64, key: u64) -> ProcessId {
        self.people.processes.push(Process::new(pid, key));
        ProcessId(self.people.processes.len() as u32 - 1)
    }

    /// Adds a thread for each life of a key; adds those that a fork made to `born`.
    fn add_lives(&mut self, known: &Known<'_>, born: &mut Vec<NewThread>, span: TimeSpan) {
        let Known {
            key,
            seen,
            births,
            entry,
        } = *known;
        let mut thread = Thread {
            tid: entry.map_or(u64::from(key), |entry| entry.tid),
            key: entry.map_or(u64::from(key), |entry| entry.file_key),
            process: entry
                .and_then(|entry| entry.process)
                .and_then(|key| self.people.process_of_key.get(&key).copied()),
            name: StringId::EMPTY,
            rank: None,
            start: None,
            end: None,
            seen: seen.unwrap_or(SeenTimes::once(span.start)),
        };
        let lived_before = match (births.first(), seen) {
            (Some(birth), Some(seen)) => seen.first < birth.time,
            (Some(_), None) => false,
            (None, _) => true,
        };
        // Events of the key before its first fork belong to an earlier thread.
        if lived_before {
            let mut earlier = thread.clone();
            if let Some(birth) = births.first() {
                earlier.seen.last = earlier.seen.last.min(birth.time);
            }
            self.push_thread(key, Timestamp::MIN, earlier);
        }
        for (index, birth) in births.iter().enumerate() {
            thread.start = Some(birth.time);
            thread.name = birth.name;
            let until = births
                .get(index + 1)
                .map_or(thread.seen.last, |next| next.time.min(thread.seen.last));
            thread.seen = SeenTimes {
                first: birth.time,
                last: until.max(birth.time),
            };
            let id = self.push_thread(key, birth.time, thread.clone());
            born.push(NewThread {
                time: birth.time,
                id,
                birth: *birth,
            });
            thread.seen.last = seen.map_or(birth.time, |seen| seen.last);
        }
    }

    fn push_thread(&mut self, key: u32, from: Timestamp, thread: Thread) -> ThreadId {
        let id = ThreadId(self.people.threads.len() as u32);
        self.people.threads.push(thread);
        self.keys.insert(ThreadKey(key), from, id);
        id
    }

    /// Sets the process of every thread and the parent of every process.
    fn join_processes(
        &mut self,
        directory: &Directory,
        born: &[NewThread],
        lives: &[LifeEvent<'_>],
    ) {
        let mut leaders: FxHashMap<u32, ThreadId> = FxHashMap::default();
        for row in lives {
            if let Life::Member { thread, leader }
            | Life::Exec {
                thread: leader,
                caller: Some(thread),
                ..
            } = row.life
                && thread != leader
                && let Some(thread) = self.keys.at(*thread, row.time)
                && let Some(leader) = self.keys.at(*leader, row.time)
            {
                leaders.insert(thread.0, leader);
            }
        }
        self.believe_directory(directory, &mut leaders);
        self.believe_claims(born, lives, &mut leaders);
        // Threads without a fork get their processes first, then forks in order of time: so a parent has its process
        // before its children need it.
        let mut is_born = vec![false; self.people.threads.len()];
        for new in born {
            is_born[new.id.0 as usize] = true;
        }
        for index in 1..self.people.threads.len() as u32 {
            if !is_born[index as usize] && !leaders.contains_key(&index) {
                self.own_process(ThreadId(index));
            }
        }
        for new in born {
            let (time, id, birth) = (new.time, new.id, new.birth);
            let parent = self.keys.at(birth.parent, time);
            let parent = parent.filter(|&parent| parent != id);
            let parent_process = parent.and_then(|parent| self.people.process_of(parent));
            if leaders.contains_key(&id.0) {
                continue;
            }
            if birth.sort == ForkSort::Thread && parent_process.is_some() {
                self.people.threads[id.0 as usize].process = parent_process;
                continue;
            }
            let Some(process) = self.own_process(id) else {
                continue;
            };
            let maker = parent_process.and_then(|of| self.people.processes.get(of.0 as usize));
            let parent_of_maker = maker.and_then(|maker| maker.parent);
            let row = &mut self.people.processes[process.0 as usize];
            row.start = row.start.or(Some(time));
            if birth.parent.is_some() {
                row.made = row.made.or(Some(birth.sort));
            }
            if parent_process != Some(process) {
                row.parent = row.parent.or(match birth.sort {
                    ForkSort::Sibling => parent_of_maker,
                    _ => parent_process,
                });
            }
        }
        for (thread, leader) in leaders {
            let process = self.own_process(leader);
            if let (Some(process), Some(thread)) =
                (process, self.people.threads.get_mut(thread as usize))
            {
                thread.process = Some(process);
            }
        }
    }

    /// Adds the threads whose process the directory states to `leaders`, unless rows state it. What was so at the
    /// recording's start is about threads that lived before it.
    fn believe_directory(&self, directory: &Directory, leaders: &mut FxHashMap<u32, ThreadId>) {
        let lived_before = |id: &ThreadId| {
            let thread = self.people.threads.get(id.0 as usize);
            thread.is_some_and(|thread| thread.start.is_none())
        };
        for group in &directory.groups {
            let find = |key| match group.when {
                Moment::Start => self.keys.first(key).filter(lived_before),
                Moment::End => self.keys.last(key),
            };
            if group.thread != group.leader
                && let Some(thread) = find(group.thread)
                && let Some(leader) = find(group.leader)
            {
                leaders.entry(thread.0).or_insert(leader);
            }
        }
    }

    /// Adds the threads that state their own process in their rows to `leaders`, unless a column, the directory or
    /// their birth states another process.
    fn believe_claims(
        &self,
        born: &[NewThread],
        lives: &[LifeEvent<'_>],
        leaders: &mut FxHashMap<u32, ThreadId>,
    ) {
        let mut claims: FxHashMap<u32, ThreadId> = FxHashMap::default();
        for row in lives {
            if let Life::Claim { thread, leader } = row.life
                && let Some(thread) = self.keys.at(*thread, row.time)
                && let Some(leader) = self.keys.at(*leader, row.time)
            {
                claims.insert(thread.0, leader);
            }
        }
        if claims.is_empty() {
            return;
        }
        for new in born {
            if new.birth.sort != ForkSort::Unknown {
                claims.remove(&new.id.0);
            }
        }
        claims.retain(|thread, leader| {
            let row = self.people.threads.get(*thread as usize);
            *thread != leader.0
                && row.is_some_and(|row| row.process.is_none())
                && !leaders.contains_key(thread)
        });
        // A thread that belongs to another process leads no process.
        let is_leader =
            |leader: &ThreadId| !claims.contains_key(&leader.0) && !leaders.contains_key(&leader.0);
        let believed: Vec<(u32, ThreadId)> = claims
            .iter()
            .filter(|(_, leader)| is_leader(leader))
            .map(|(thread, leader)| (*thread, *leader))
            .collect();
        leaders.extend(believed);
    }

    /// Returns the process of `thread`, a new one if it has none; `None` if there is no such thread.
    fn own_process(&mut self, thread: ThreadId) -> Option<ProcessId> {
        let row = self.people.threads.get(thread.0 as usize)?;
        let (tid, key, name) = (row.tid, row.key, row.name);
        let process = match row.process {
            Some(process) => process,
            None => self.new_process(tid, key),
        };
        self.people.threads[thread.0 as usize].process = Some(process);
        let row = &mut self.people.processes[process.0 as usize];
        if row.main_thread.is_none() && row.pid == tid {
            row.main_thread = Some(thread);
            if row.name == StringId::EMPTY {
                row.name = name;
            }
        }
        Some(process)
    }

    /// Applies names, programs and ends, in order of time.
    fn apply_lives(&mut self, merged: &Merged, derive: Derive, lives: &[LifeEvent<'_>]) -> Naming {
        let mut naming = Naming::new(derive, self.people.threads.len());
        // The processes whose children may be their threads.
        let may_lead: FxHashSet<ProcessId> = (self.people.processes.iter())
            .filter(|process| process.made == Some(ForkSort::Unknown))
            .filter_map(|process| process.parent)
            .collect();
        for row in lives {
            let lane = || merged.recorded.lane(row.part);
            let at = |making: &Making, key: ThreadKey| {
                let thread = making.keys.at(key, row.time)?;
                Some(thread.0 as usize)
            };
            match row.life {
                Life::Name { thread, name } => {
                    let Some(index) = at(self, *thread) else {
                        continue;
                    };
                    if let Some(thread) = self.people.threads.get_mut(index) {
                        thread.name = row.part.string(*name);
                        naming.note_name(index, lane());
                    }
                }
                Life::Exit {
                    thread,
                    status,
                    signal,
                    is_last,
                } => {
                    if let Some(index) = at(self, *thread) {
                        let exit = Exit {
                            thread: ThreadId(index as u32),
                            key: *thread,
                            status: *status,
                            signal: *signal,
                            is_last: *is_last,
                        };
                        self.exit(row, &exit, &may_lead);
                    }
                }
                Life::Exiting { thread, status } => {
                    let id = at(self, *thread).map(|index| ThreadId(index as u32));
                    let of = id.and_then(|id| self.people.process_of(id));
                    if let Some(of) = of
                        && let Some(process) = self.people.processes.get_mut(of.0 as usize)
                    {
                        // The first thread that ends the process decides.
                        process.exit_status.get_or_insert(*status);
                    }
                }
                Life::Reaped {
                    thread,
                    status,
                    signal,
                } => {
                    let index = at(self, *thread);
                    let lives = |index: &usize| {
                        let thread = self.people.threads.get(*index);
                        thread.is_some_and(|it| it.end.is_none() && it.seen.last <= row.time)
                    };
                    if let Some(index) = index.filter(lives) {
                        let exit = Exit {
                            thread: ThreadId(index as u32),
                            key: *thread,
                            status: *status,
                            signal: *signal,
                            is_last: Some(true),
                        };
                        self.exit(row, &exit, &may_lead);
                    }
                }
                Life::Exec {
                    thread,
                    program,
                    arguments,
                    directory,
                    interpreter,
                    caller,
                } => {
                    let Some(index) = at(self, *thread) else {
                        continue;
                    };
                    if let Some(caller) = caller
                        && let Some(caller) = at(self, *caller)
                        && caller != index
                        && let Some(caller) = self.people.threads.get_mut(caller)
                    {
                        caller.end = caller.end.or(Some(row.time));
                    }
                    if let Some(thread) = self.people.threads.get_mut(index) {
                        let exec = Exec {
                            program: row.part.string(*program),
                            lane: lane(),
                        };
                        naming.exec(index, thread, exec, &merged.strings);
                    }
                    let process = self
                        .people
                        .threads
                        .get(index)
                        .and_then(|thread| thread.process);
                    if let Some(process) =
                        process.and_then(|id| self.people.processes.get_mut(id.0 as usize))
                    {
                        // Two kinds of events may record one exec: the one with more fields is kept. (Where programs
                        // are derived, a record without a program is another exec, whose other fields were lost.)
                        let name = row.part.string(*program);
                        let is_same = |last: &ProgramImage| match (last.program, name) {
                            (_, StringId::EMPTY) => derive != Derive::Programs,
                            (StringId::EMPTY, _) => true,
                            (last, name) => have_one_name(&merged.strings, last, name),
                        };
                        let is_recorded = process.images.last().is_some_and(|last| {
                            // A record with an interpreter also contains the arguments: if it contains none, the
                            // program had none.
                            let is_whole = [last.interpreter, row.part.string(*interpreter)];
                            last.arguments.is_empty() != arguments.is_empty()
                                && is_whole.contains(&StringId::EMPTY)
                                && row.time - last.start <= SAME_FORK
                                && is_same(last)
                        });
                        if is_recorded && arguments.is_empty() {
                            continue;
                        }
                        if is_recorded {
                            process.images.pop();
                        }
                        if process.images.is_empty() {
                            // Most processes run one program.
                            process.images.reserve_exact(1);
                        }
                        process.images.push(ProgramImage {
                            start: row.time,
                            event: Some(row.event),
                            program: row.part.string(*program),
                            arguments: arguments.iter().map(|&id| row.part.string(id)).collect(),
                            directory: row.part.string(*directory),
                            interpreter: row.part.string(*interpreter),
                        });
                    }
                }
                Life::Fork { .. }
                | Life::Forgotten { .. }
                | Life::Member { .. }
                | Life::Claim { .. }
                | Life::Directory { .. } => {}
            }
        }
        naming
    }

    /// Ends a thread, and its process if it ends with it.
    fn exit(&mut self, row: &LifeEvent<'_>, exit: &Exit, may_lead: &FxHashSet<ProcessId>) {
        let (id, keys) = (exit.thread, &self.keys);
        let Some(thread) = self.people.threads.get_mut(id.0 as usize) else {
            return;
        };
        let had_end = thread.end.replace(row.time).is_some();
        let of = thread.process;
        if keys.at(exit.key, thread.seen.last) != Some(id) {
            // The last time seen was the birth of the next thread with this key.
            thread.seen.last = row.time;
        }
        if let Some(of) = of
            && let Some(process) = self.people.processes.get_mut(of.0 as usize)
            && ends_process(process, of, exit, may_lead)
        {
            process.end = Some(row.time);
            // Two kinds of events may record one exit: the process released its files at the first.
            if !had_end || process.exit_event.is_none() {
                process.exit_event = Some(row.event);
            }
            process.exit_status = exit.status.or(process.exit_status);
            process.exit_signal = exit.signal.or(process.exit_signal);
        }
    }

    /// Sets the environments of processes from the directory.
    fn furnish(&mut self, merged: &Merged, directory: &Directory) {
        for environment in &directory.environments {
            let variables = environment.variables.iter();
            let variables: Arc<[StringId]> = variables
                .map(|&id| merged.directory_strings.get(id))
                .collect();
            for &thread in &environment.threads {
                let thread = self.keys.last(thread);
                let process = thread.and_then(|thread| self.people.process_of(thread));
                let process = process.and_then(|id| self.people.processes.get_mut(id.0 as usize));
                if let Some(process) = process {
                    process.environment.push(Arc::clone(&variables));
                }
            }
        }
    }
}
