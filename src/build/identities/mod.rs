//! Keys to threads and processes, each of which is one thing only.
//!
//! A fork begins a new life of its child's key; what the key meant before (if it was seen before) is another
//! thread. A thread that shares its parent's process (the file says so) joins it; every other thread is a
//! process of its own, unless the directory names its process. Names, ends and programs go to the life
//! that the key meant at their time.

use rustc_hash::FxHashMap;

mod births;
mod names;
mod seen;

use super::lost_forks::date_lost_forks;
use super::merge::Merged;
use super::reused_pids::end_reused;
use crate::base::strings::base_name;
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::event::keys::Derive;
use crate::event::{Directory, ForkSort, Life, ProcessKey, ThreadEntry, ThreadKey};
use crate::trace::{EventId, Process, ProcessId, ProgramImage, Thread, ThreadId, ThreadMap};
use births::{Birth, SAME_FORK, births};
pub use births::{Told, sorted_lives};
use names::Naming;
use seen::{Seen, seen_keys};

/// The process that a reader's key means.
pub type ProcessOfKey = FxHashMap<ProcessKey, ProcessId>;

/// Everybody in the trace.
pub struct People {
    /// Which thread a key means at which time.
    pub map: ThreadMap,
    /// Threads; the first is idle.
    pub threads: Vec<Thread>,
    /// Processes.
    pub processes: Vec<Process>,
    /// Processes by the reader's key.
    pub process_of_key: ProcessOfKey,
    /// Who was made by whom, by time.
    pub births: Vec<Born>,
    /// The execs and exits of all tasks, by time; only for formats that ask for programs.
    pub acts: Vec<Act>,
}

/// An exec or exit with common numbers.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// When.
    pub time: Timestamp,
    /// Who.
    pub thread: ThreadId,
    /// The event.
    pub event: EventId,
    /// The program, for an exec.
    pub program: Option<StringId>,
}

/// A fork with common numbers.
#[derive(Clone, Copy, Debug)]
pub struct Born {
    /// When.
    pub time: Timestamp,
    /// Who made it.
    pub parent: ThreadId,
    /// Who is new.
    pub child: ThreadId,
    /// Whether the file says that it is a thread of its parent's process.
    pub is_thread: bool,
    /// The event that says so.
    pub event: EventId,
}

/// See the module's text.
pub fn build_identities(merged: &Merged, directory: &Directory, span: TimeSpan) -> People {
    let (seen, lives) = rayon::join(|| seen_keys(merged), || sorted_lives(merged));
    let births = births(directory, &seen, &lives);
    let mut entries: Vec<&ThreadEntry> = directory.threads.iter().collect();
    entries.sort_by_key(|entry| entry.key);
    let mut entries = entries.into_iter().peekable();
    let mut keys: Vec<u32> = seen
        .keys()
        .copied()
        .chain(births.iter().map(|birth| birth.0))
        .chain(used_entries(directory, &seen))
        .collect();
    keys.sort_unstable();
    keys.dedup();

    let mut people = People {
        map: ThreadMap::default(),
        threads: Vec::with_capacity(keys.len() + 1),
        processes: Vec::with_capacity(directory.processes.len()),
        process_of_key: ProcessOfKey::default(),
        births: Vec::new(),
        acts: Vec::new(),
    };
    people.threads.push(idle_thread(merged, directory, span));
    people
        .map
        .insert(ThreadKey::IDLE, Timestamp::MIN, ThreadId::IDLE);
    people.add_directory_processes(merged, directory);
    let mut born = Vec::with_capacity(births.len());
    let mut births = births.as_slice();
    for key in keys {
        // Keys, births and entries are all in the order of keys.
        let count = births.iter().take_while(|birth| birth.0 == key).count();
        let (of_key, later) = births.split_at(count);
        births = later;
        let mut entry = None;
        while let Some(more) = entries.next_if(|entry| entry.key.0 <= key) {
            entry = Some(more).filter(|entry| entry.key.0 == key);
        }
        if key == ThreadKey::IDLE.0 || key == ThreadKey::UNKNOWN.0 {
            continue;
        }
        let was_seen = seen.get(&key).copied();
        people.add_lives(key, was_seen, of_key, entry, &mut born, span);
    }
    born.sort_by_key(|(time, _, _)| *time);
    people.births = born
        .iter()
        .map(|&(time, child, birth)| Born {
            time,
            parent: people.map.at(birth.parent, time),
            child,
            is_thread: birth.sort == ForkSort::Thread,
            event: birth.event,
        })
        .collect();
    people.join_processes(&born, &lives);
    let naming = people.tell_lives(merged, directory.derive, &lives);
    people.name_all(directory, merged, &naming);
    people.furnish(merged, directory);
    date_lost_forks(&people.threads, &mut people.processes, directory.unseen);
    end_reused(&mut people.threads, &mut people.processes);
    if directory.derive == Derive::Programs {
        people.acts = acts(&people.map, &lives);
    }
    people
}

fn acts(threads: &ThreadMap, lives: &[Told<'_>]) -> Vec<Act> {
    let act = |told: &Told<'_>| {
        let (thread, program) = match told.life {
            Life::Exec {
                thread, program, ..
            } => (*thread, Some(told.part.string(*program))),
            Life::Exit { thread, .. } => (*thread, None),
            _ => return None,
        };
        Some(Act {
            time: told.time,
            thread: threads.at(thread, told.time),
            event: told.event,
            program,
        })
    };
    lives.iter().filter_map(act).collect()
}

/// Directory entries are threads even if they did nothing, where the file lists them on purpose (it has a
/// process for them); saved command lines of tasks that never appear are not.
fn used_entries<'a>(directory: &'a Directory, seen: &'a Seen) -> impl Iterator<Item = u32> + 'a {
    directory
        .threads
        .iter()
        .filter(|entry| entry.process.is_some() || seen.contains_key(&entry.key.0))
        .map(|entry| entry.key.0)
}

fn idle_thread(merged: &Merged, directory: &Directory, span: TimeSpan) -> Thread {
    let entry = directory
        .threads
        .iter()
        .find(|entry| entry.key == ThreadKey::IDLE);
    let name = entry
        .and_then(|entry| entry.name)
        .map_or(StringId::EMPTY, |name| directory_name(merged, name));
    Thread {
        tid: 0,
        key: 0,
        process: None,
        name,
        start: None,
        end: None,
        seen: (span.start, span.end),
    }
}

/// Whether two paths end in the same name.
fn have_one_name(merged: &Merged, a: StringId, b: StringId) -> bool {
    let name = |path: StringId| base_name(merged.strings.bytes(path));
    a == b || name(a) == name(b)
}

fn directory_name(merged: &Merged, id: StringId) -> StringId {
    merged
        .directory_strings
        .get(id.0 as usize)
        .copied()
        .unwrap_or(StringId::EMPTY)
}

impl People {
    fn add_directory_processes(&mut self, merged: &Merged, directory: &Directory) {
        for entry in &directory.processes {
            let id = self.new_process(entry.pid, entry.file_key);
            let process = &mut self.processes[id.0 as usize];
            process.name = entry
                .name
                .map_or(StringId::EMPTY, |name| directory_name(merged, name));
            self.process_of_key.insert(entry.key, id);
        }
    }

    fn new_process(&mut self, pid: u64, key: u64) -> ProcessId {
        self.processes.push(Process::new(pid, key));
        ProcessId(self.processes.len() as u32 - 1)
    }

    /// Adds a thread for each life of `key`; notes births in `born`.
    fn add_lives(
        &mut self,
        key: u32,
        seen: Option<(Timestamp, Timestamp)>,
        births: &[(u32, Birth)],
        entry: Option<&ThreadEntry>,
        born: &mut Vec<(Timestamp, ThreadId, Birth)>,
        span: TimeSpan,
    ) {
        let mut thread = Thread {
            tid: entry.map_or(u64::from(key), |entry| entry.tid),
            key: entry.map_or(u64::from(key), |entry| entry.file_key),
            process: entry
                .and_then(|entry| entry.process)
                .and_then(|key| self.process_of_key.get(&key).copied()),
            name: StringId::EMPTY,
            start: None,
            end: None,
            seen: seen.unwrap_or((span.start, span.start)),
        };
        let lived_before = match (births.first(), seen) {
            (Some((_, birth)), Some((first, _))) => first < birth.time,
            (Some(_), None) => false,
            (None, _) => true,
        };
        if lived_before {
            let mut earlier = thread.clone();
            if let Some((_, birth)) = births.first() {
                earlier.seen.1 = earlier.seen.1.min(birth.time);
            }
            self.push_thread(key, Timestamp::MIN, earlier);
        }
        for (index, (_, birth)) in births.iter().enumerate() {
            thread.start = Some(birth.time);
            thread.name = birth.name;
            let until = births
                .get(index + 1)
                .map_or(thread.seen.1, |(_, next)| next.time.min(thread.seen.1));
            thread.seen = (birth.time, until.max(birth.time));
            let id = self.push_thread(key, birth.time, thread.clone());
            born.push((birth.time, id, *birth));
            thread.seen.1 = seen.map_or(birth.time, |(_, last)| last);
        }
    }

    fn push_thread(&mut self, key: u32, from: Timestamp, thread: Thread) -> ThreadId {
        let id = ThreadId(self.threads.len() as u32);
        self.threads.push(thread);
        self.map.insert(ThreadKey(key), from, id);
        id
    }

    /// Gives every thread its process and every process its parent.
    fn join_processes(&mut self, born: &[(Timestamp, ThreadId, Birth)], lives: &[Told<'_>]) {
        let mut leaders: FxHashMap<u32, ThreadId> = FxHashMap::default();
        for told in lives {
            if let Life::Member { thread, leader } = told.life
                && thread != leader
            {
                leaders.insert(
                    self.map.at(*thread, told.time).0,
                    self.map.at(*leader, told.time),
                );
            }
        }
        self.believe_claims(born, lives, &mut leaders);
        let mut is_born = vec![false; self.threads.len()];
        for (_, id, _) in born {
            is_born[id.0 as usize] = true;
        }
        for index in 1..self.threads.len() as u32 {
            if !is_born[index as usize] && !leaders.contains_key(&index) {
                self.own_process(ThreadId(index));
            }
        }
        for &(time, id, birth) in born {
            let parent = self.map.at(birth.parent, time);
            let parent_process = self
                .threads
                .get(parent.0 as usize)
                .filter(|_| parent != id)
                .and_then(|thread| thread.process);
            if leaders.contains_key(&id.0) {
                continue;
            }
            if birth.sort == ForkSort::Thread && parent_process.is_some() {
                self.threads[id.0 as usize].process = parent_process;
                continue;
            }
            let Some(process) = self.own_process(id) else {
                continue;
            };
            let row = &mut self.processes[process.0 as usize];
            row.start = row.start.or(Some(time));
            if birth.parent != ThreadKey::UNKNOWN {
                row.made = row.made.or(Some(birth.sort));
            }
            if parent_process != Some(process) {
                row.parent = row.parent.or(parent_process);
            }
        }
        for (thread, leader) in leaders {
            let process = self.own_process(leader);
            if let (Some(process), Some(thread)) = (process, self.threads.get_mut(thread as usize))
            {
                thread.process = Some(process);
            }
        }
    }

    /// Adds those who say themselves whose process they are of, where neither a column, the directory nor their
    /// birth does.
    fn believe_claims(
        &self,
        born: &[(Timestamp, ThreadId, Birth)],
        lives: &[Told<'_>],
        leaders: &mut FxHashMap<u32, ThreadId>,
    ) {
        let mut claims: FxHashMap<u32, ThreadId> = FxHashMap::default();
        for told in lives {
            if let Life::Claim { thread, leader } = told.life {
                let (thread, leader) = (
                    self.map.at(*thread, told.time),
                    self.map.at(*leader, told.time),
                );
                claims.insert(thread.0, leader);
            }
        }
        if claims.is_empty() {
            return;
        }
        for (_, id, birth) in born {
            if birth.sort != ForkSort::Unknown {
                claims.remove(&id.0);
            }
        }
        claims.retain(|thread, leader| {
            let row = self.threads.get(*thread as usize);
            *thread != leader.0
                && row.is_some_and(|row| row.process.is_none())
                && !leaders.contains_key(thread)
        });
        // Who is a thread of another process leads none.
        let is_leader =
            |leader: &ThreadId| !claims.contains_key(&leader.0) && !leaders.contains_key(&leader.0);
        let believed: Vec<(u32, ThreadId)> = claims
            .iter()
            .filter(|(_, leader)| is_leader(leader))
            .map(|(thread, leader)| (*thread, *leader))
            .collect();
        leaders.extend(believed);
    }

    /// The process of `thread`, made for it if it has none; none for a thread that nobody knows.
    fn own_process(&mut self, thread: ThreadId) -> Option<ProcessId> {
        let row = self.threads.get(thread.0 as usize)?;
        let (tid, key, name) = (row.tid, row.key, row.name);
        let process = match row.process {
            Some(process) => process,
            None => self.new_process(tid, key),
        };
        self.threads[thread.0 as usize].process = Some(process);
        let row = &mut self.processes[process.0 as usize];
        if row.main_thread.is_none() && row.pid == tid {
            row.main_thread = Some(thread);
            if row.name == StringId::EMPTY {
                row.name = name;
            }
        }
        Some(process)
    }

    /// Names, programs and ends.
    fn tell_lives(&mut self, merged: &Merged, derive: Derive, lives: &[Told<'_>]) -> Naming {
        let mut naming = Naming::new(derive, self.threads.len());
        for told in lives {
            let lane = || merged.events.segments()[told.part.segment as usize].lane;
            let at = |people: &People, key: ThreadKey| people.map.at(key, told.time).0 as usize;
            match told.life {
                Life::Name { thread, name } => {
                    let index = at(self, *thread);
                    if let Some(thread) = self.threads.get_mut(index) {
                        thread.name = told.part.string(*name);
                        naming.tell(index, lane());
                    }
                }
                Life::Exit {
                    thread,
                    status,
                    signal,
                } => {
                    let index = at(self, *thread);
                    let (key, map) = (*thread, &self.map);
                    let Some(thread) = self.threads.get_mut(index) else {
                        continue;
                    };
                    let was_told = thread.end.replace(told.time).is_some();
                    if map.at(key, thread.seen.1).0 as usize != index {
                        // That was the birth of the next one with this key.
                        thread.seen.1 = told.time;
                    }
                    let (id, of) = (ThreadId(index as u32), thread.process);
                    if let Some(process) = of.and_then(|of| self.processes.get_mut(of.0 as usize))
                        && (process.main_thread == Some(id) || process.end.is_some())
                    {
                        // Of a thread behind the leader, too: it went on, and the process with it.
                        process.end = Some(told.time);
                        // Two kinds of events may tell of one exit: the first is when it let go of its files.
                        if !was_told || process.exit_event.is_none() {
                            process.exit_event = Some(told.event);
                        }
                        process.exit_status = status.or(process.exit_status);
                        process.exit_signal = signal.or(process.exit_signal);
                    }
                }
                Life::Exec {
                    thread,
                    program,
                    arguments,
                    directory,
                    interpreter,
                } => {
                    let index = at(self, *thread);
                    if let Some(thread) = self.threads.get_mut(index) {
                        naming.exec(index, thread, told.part.string(*program), lane(), merged);
                    }
                    let process = self.threads.get(index).and_then(|thread| thread.process);
                    if let Some(process) =
                        process.and_then(|id| self.processes.get_mut(id.0 as usize))
                    {
                        // Two kinds of events may tell of one exec: the one that knows more is kept. (Where programs are
                        // derived, one without a program is another exec, of which the rest was lost.)
                        let name = told.part.string(*program);
                        let is_same = |last: &ProgramImage| match (last.program, name) {
                            (_, StringId::EMPTY) => derive != Derive::Programs,
                            (StringId::EMPTY, _) => true,
                            (last, name) => have_one_name(merged, last, name),
                        };
                        let is_told = process.images.last().is_some_and(|last| {
                            // Who knows the interpreter knows the arguments, too: there are none.
                            let is_whole = [last.interpreter, told.part.string(*interpreter)];
                            last.arguments.is_empty() != arguments.is_empty()
                                && is_whole.contains(&StringId::EMPTY)
                                && told.time - last.start <= SAME_FORK
                                && is_same(last)
                        });
                        if is_told && arguments.is_empty() {
                            continue;
                        }
                        if is_told {
                            process.images.pop();
                        }
                        if process.images.is_empty() {
                            // Most run one.
                            process.images.reserve_exact(1);
                        }
                        process.images.push(ProgramImage {
                            start: told.time,
                            program: told.part.string(*program),
                            arguments: arguments.iter().map(|&id| told.part.string(id)).collect(),
                            directory: told.part.string(*directory),
                            interpreter: told.part.string(*interpreter),
                        });
                    }
                }
                Life::Fork { .. }
                | Life::Member { .. }
                | Life::Claim { .. }
                | Life::Directory { .. } => {}
            }
        }
        naming
    }

    /// Gives processes their environments.
    fn furnish(&mut self, merged: &Merged, directory: &Directory) {
        for environment in &directory.environments {
            let thread = self.map.at(environment.thread, Timestamp::MAX);
            let process = self.threads.get(thread.0 as usize);
            let process = process.and_then(|thread| thread.process);
            if let Some(process) = process.and_then(|id| self.processes.get_mut(id.0 as usize)) {
                let variables = environment.variables.iter();
                process.environment = variables.map(|&id| directory_name(merged, id)).collect();
            }
        }
    }
}
