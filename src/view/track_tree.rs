//! Builds the outline of a trace: its CPUs, processes with their threads, counters and asynchronous groups.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHasher};

use super::outline::{Node, Outline, count_tracks, hash_of, summary_lanes};
use super::own_keys::{OwnKeys, in_source};
use super::rows::{Lane, LaneKind, RowKey, RowKind};
use crate::base::{Nanos, StringId};
use crate::query::jobs::Jobs;
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, ProcessId, Source, SourceId, ThreadId, Trace, TrackId, TrackKind,
};

/// With more CPUs than this, their counters are closed initially.
const MANY_CPUS: usize = 8;
/// With more threads than this, only the busiest processes are open initially.
const MANY_THREADS: usize = 60;
/// The track of the files that a process had open.
const OPEN_FILES: &str = "open files";
/// Number of processes that are open initially in such a trace.
const OPEN_PROCESSES: usize = 4;

impl Outline {
    /// Builds the tree of `trace`; with several files on the axis, each file is a group.
    #[must_use]
    pub fn new(trace: &Trace) -> Outline {
        let mut owners = Owners::new(trace);
        let nodes = if trace.sources.is_empty() {
            owners.nodes()
        } else {
            (0..trace.sources.len() as u32)
                .map(|source| owners.source_node(SourceId(source)))
                .collect()
        };
        let jobs = Jobs::new(trace);
        let mut nodes = nodes;
        if !jobs.lanes.is_empty() {
            // Where scheduling was recorded, the CPUs come first.
            let has_cpus = !trace.states.is_empty() && !nodes.is_empty();
            nodes.insert(usize::from(has_cpus), jobs_node(&jobs));
        }
        let track_count = nodes.iter().map(count_tracks).sum();
        let mut outline = Outline {
            nodes,
            track_count,
            jobs: jobs.into(),
        };
        outline.open_first_page(trace);
        outline
    }
}

/// Returns the row of the jobs of a build.
fn jobs_node(jobs: &Jobs) -> Node {
    let lanes: Vec<Lane> = (0..jobs.lanes.len() as u32)
        .map(|lane| Lane::new(LaneKind::Jobs(lane)))
        .collect();
    let count: usize = jobs.lanes.iter().map(Vec::len).sum();
    Node {
        key: RowKey::Jobs,
        kind: RowKind::Jobs,
        title: "What ran when".into(),
        note: format!("at most {} at once, {count} processes", jobs.lanes.len()).into(),
        closed_lanes: first_lanes(&lanes),
        lanes,
        children: Vec::new(),
        is_open_at_first: true,
        activity: count as u64,
    }
}

/// The nodes of processes and threads.
struct ProcessNodes {
    /// Processes with their threads, busiest first.
    processes: Vec<Node>,
    /// Threads without a process, busiest first.
    loose: Vec<Node>,
}

/// Which tracks of an owner become rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TrackNames {
    /// All.
    All,
    /// Tracks with a name of their own; the others are lanes of their owner's row.
    Named,
}

/// Tracks and counters by owner.
struct Owners<'a> {
    trace: &'a Trace,
    keys: OwnKeys<'a>,
    /// The file whose nodes are being built, if the trace has several.
    source: Option<SourceId>,
    tracks: FxHashMap<TrackKind, Vec<TrackId>>,
    counters: FxHashMap<CounterScope, Vec<CounterTrackId>>,
    /// Threads of other files, by the file with their process.
    guests: FxHashMap<SourceId, Vec<ThreadId>>,
}

impl<'a> Owners<'a> {
    fn new(trace: &'a Trace) -> Owners<'a> {
        let mut tracks: FxHashMap<TrackKind, Vec<TrackId>> = FxHashMap::default();
        for (id, track) in trace.tracks.iter().enumerate() {
            tracks
                .entry(track.kind)
                .or_default()
                .push(TrackId(id as u32));
        }
        let mut counters: FxHashMap<CounterScope, Vec<CounterTrackId>> = FxHashMap::default();
        for (id, track) in trace.counters.tracks.iter().enumerate() {
            let id = CounterTrackId(id as u32);
            counters.entry(track.scope).or_default().push(id);
        }
        let mut guests: FxHashMap<SourceId, Vec<ThreadId>> = FxHashMap::default();
        for source in &trace.sources {
            let home = source.home;
            let home = home.and_then(|id| trace.source_of(id.0, |source| &source.processes));
            if let Some(home) = home {
                let threads = source.threads.clone().map(ThreadId);
                guests.entry(home).or_default().extend(threads);
            }
        }
        Owners {
            trace,
            keys: OwnKeys::new(trace),
            source: None,
            tracks,
            counters,
            guests,
        }
    }

    fn source_node(&mut self, id: SourceId) -> Node {
        self.source = Some(id);
        let source = self.trace.sources.get(id.0 as usize);
        let mut node = Node::group(
            RowKey::Source(id.0),
            source.map_or("", |source| &source.name),
            self.nodes(),
        );
        node.kind = RowKind::Source(id);
        if let Some(source) = source {
            let mut note = vec![source.info.format.clone()];
            if source.offset() != Nanos(0) {
                note.push(source.offset_text());
            }
            note.extend(self.home_text(source));
            node.note = note.join(" · ").into();
        }
        node
    }

    /// Returns the name of the process under which a file's threads are shown, if that is a process of another file.
    fn home_text(&self, source: &Source) -> Option<String> {
        let home = self.trace.processes.get(source.home?.0 as usize)?;
        let name = self.trace.text(home.name);
        let how = if source.is_aligned() {
            "aligned with"
        } else {
            "in"
        };
        Some(format!("{how} {name} {}", home.pid))
    }

    /// Returns the top-level nodes of the trace, or of the file whose nodes are being built.
    fn nodes(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        let cpus: Vec<Node> = self
            .rows(self.trace.cpus.len(), |source| &source.cpus)
            .map(|cpu| self.cpu_node(CpuId(cpu)))
            .collect();
        // Readers report at least one CPU even for a trace without events.
        let is_empty = self.trace.events.is_empty() && self.trace.span.duration() == Nanos(0);
        if !cpus.is_empty() && !is_empty {
            nodes.push(Node::group(self.group_key(RowKey::Cpus), "CPUs", cpus));
        }
        let counters = self.counter_nodes(CounterScope::Global);
        if !counters.is_empty() {
            let key = self.group_key(RowKey::Counters);
            nodes.push(Node::group(key, "Counters", counters));
        }
        let asyncs = self.track_nodes(TrackKind::Async(None), TrackNames::All);
        if !asyncs.is_empty() {
            let key = self.group_key(RowKey::Asyncs);
            nodes.push(Node::group(key, "Asynchronous", asyncs));
        }
        nodes.append(&mut self.track_nodes(TrackKind::Nobody, TrackNames::All));
        let ProcessNodes {
            mut processes,
            loose,
        } = self.process_nodes();
        if !loose.is_empty() {
            let key = self.group_key(RowKey::Loose);
            if processes.is_empty() {
                nodes.push(Node::group(key, "Threads", loose));
            } else {
                processes.push(Node::group(key, "Other threads", loose));
            }
        }
        nodes.append(&mut processes);
        nodes
    }

    /// Returns the range of a table's rows that belong to the file being built; all rows if there is one file.
    fn rows(&self, count: usize, range: impl Fn(&Source) -> &Range<u32>) -> Range<u32> {
        let source = self
            .source
            .and_then(|id| self.trace.sources.get(id.0 as usize));
        source.map_or(0..count as u32, |source| range(source).clone())
    }

    /// Returns the key of a group; groups of the first file have the same keys as in a trace of that file alone.
    fn group_key(&self, key: RowKey) -> RowKey {
        match self.source {
            None | Some(SourceId(0)) => key,
            Some(source) => RowKey::Group(hash_of((source.0, key))),
        }
    }

    fn tracks_of(&self, kind: TrackKind) -> &[TrackId] {
        self.tracks.get(&kind).map_or(&[], Vec::as_slice)
    }

    fn lanes_of_track(&self, id: TrackId, lanes: &mut Vec<Lane>) -> u64 {
        let Some(track) = self.trace.tracks.get(id.0 as usize) else {
            return 0;
        };
        let mut activity = track.instants.len() as u64;
        if !track.instants.is_empty() {
            lanes.push(Lane::new(LaneKind::Instants(id)));
        }
        for row in track.rows.clone() {
            if let Some(slices) = self.trace.slices.rows.get(row as usize) {
                activity += slices.slices.len() as u64;
                lanes.push(Lane::new(LaneKind::Slices(row)));
            }
        }
        activity
    }

    /// Appends the lanes of the tracks without a name of their own; returns the number of their data rows.
    fn own_lanes(&self, kind: TrackKind, lanes: &mut Vec<Lane>) -> u64 {
        self.tracks_of(kind)
            .iter()
            .filter(|id| self.trace.tracks[id.0 as usize].name.0 == 0)
            .map(|&id| self.lanes_of_track(id, lanes))
            .sum()
    }

    /// Returns whether a track has events of the file being built. Panics if there is no such track.
    fn has_events_of_file(&self, id: TrackId) -> bool {
        let track = &self.trace.tracks[id.0 as usize];
        let first_row = self.trace.slices.rows.get(track.rows.start as usize);
        let first_slice = first_row.filter(|_| !track.rows.is_empty());
        let slice = first_slice.map(|row| self.trace.slices.begins.at(row.slices.start as usize));
        let event = self.trace.instants.of(&track.instants).next().or(slice);
        let source = event.and_then(|event| self.trace.source_of(event, |source| &source.events));
        self.source.is_none() || source == self.source
    }

    fn track_nodes(&self, kind: TrackKind, which: TrackNames) -> Vec<Node> {
        let mut nodes = Vec::new();
        let loose = self.rows(self.trace.tracks.len(), |source| &source.loose_tracks);
        // Tracks of several files may have one name in one process.
        let mut alike = FxHashMap::default();
        for &id in self.tracks_of(kind) {
            let is_own = match kind {
                TrackKind::Async(None) => loose.contains(&id.0),
                TrackKind::Nobody => self.has_events_of_file(id),
                TrackKind::Async(Some(_)) | TrackKind::Thread(_) | TrackKind::Cpu(_) => true,
            };
            if !is_own {
                continue;
            }
            let name = self.trace.text(self.trace.tracks[id.0 as usize].name);
            if which == TrackNames::Named && name.is_empty() {
                continue;
            }
            let mut lanes = Vec::new();
            let activity = self.lanes_of_track(id, &mut lanes);
            if lanes.is_empty() {
                continue;
            }
            let before = count_alike(&mut alike, self.trace.tracks[id.0 as usize].name);
            nodes.push(Node {
                key: RowKey::Track(self.hash_of(kind, &name, before)),
                kind: RowKind::Track(id),
                title: match kind {
                    _ if !name.is_empty() => name.into(),
                    TrackKind::Nobody => "No thread".into(),
                    _ => "Events".into(),
                },
                note: "".into(),
                closed_lanes: first_lanes(&lanes),
                lanes,
                children: Vec::new(),
                is_open_at_first: true,
                activity,
            });
        }
        nodes
    }

    fn counter_nodes(&self, scope: CounterScope) -> Vec<Node> {
        let ids = self.counters.get(&scope).map_or(&[][..], Vec::as_slice);
        // Plots come last in the table and have a group of their own.
        let count = self.trace.counters.tracks.len() - self.trace.plots.len();
        let ours = self.rows(count, |source| &source.counters);
        let mut alike = FxHashMap::default();
        ids.iter()
            .filter(|id| scope != CounterScope::Global || ours.contains(&id.0))
            .map(|&id| {
                let track = &self.trace.counters.tracks[id.0 as usize];
                let before = count_alike(&mut alike, track.name);
                let name = self.trace.text(track.name);
                let lanes = vec![Lane::new(LaneKind::Counter(id))];
                let owner = match scope {
                    CounterScope::Global => TrackKind::Async(None),
                    CounterScope::Cpu(cpu) => TrackKind::Cpu(cpu),
                    CounterScope::Process(process) => TrackKind::Async(Some(process)),
                    CounterScope::Thread(thread) => TrackKind::Thread(thread),
                };
                Node {
                    key: RowKey::Counter(self.hash_of(owner, &name, before)),
                    kind: RowKind::Counter(id),
                    title: name.into(),
                    note: "".into(),
                    closed_lanes: lanes.clone(),
                    lanes,
                    children: Vec::new(),
                    is_open_at_first: true,
                    activity: track.samples.len() as u64,
                }
            })
            .collect()
    }

    /// Returns a hash of a track that is the same in every generation; `before` tracks of the owner have the same name.
    fn hash_of(&self, owner: TrackKind, name: &str, before: u32) -> u64 {
        let mut hasher = FxHasher::default();
        match owner {
            TrackKind::Cpu(cpu) => {
                let number = u64::from(self.cpu_number(cpu));
                (0_u8, in_source(self.source, number)).hash(&mut hasher);
            }
            TrackKind::Thread(thread) => (1_u8, self.keys.thread(thread)).hash(&mut hasher),
            TrackKind::Nobody => 3_u8.hash(&mut hasher),
            TrackKind::Async(process) => {
                let key = process.map(|id| self.keys.process(id));
                let key = key.unwrap_or_else(|| in_source(self.source, u64::MAX));
                (2_u8, key).hash(&mut hasher);
            }
        }
        name.hash(&mut hasher);
        match before {
            0 => hasher.finish(),
            before => hash_of((hasher.finish(), before)),
        }
    }

    fn cpu_number(&self, cpu: CpuId) -> u32 {
        self.trace
            .cpus
            .get(cpu.0 as usize)
            .map_or(cpu.0, |cpu| cpu.number)
    }

    fn cpu_node(&self, cpu: CpuId) -> Node {
        let number = self.cpu_number(cpu);
        let mut lanes = vec![Lane::new(LaneKind::Runs(cpu))];
        let mut activity = self.trace.runs.on(cpu).len() as u64;
        activity += self.own_lanes(TrackKind::Cpu(cpu), &mut lanes);
        let mut children = self.track_nodes(TrackKind::Cpu(cpu), TrackNames::Named);
        children.extend(self.counter_nodes(CounterScope::Cpu(cpu)));
        Node {
            key: RowKey::Cpu(number | self.source.map_or(0, |source| source.0 << 16)),
            kind: RowKind::Cpu(cpu),
            title: format!("CPU {number}").into(),
            note: "".into(),
            closed_lanes: first_lanes(&lanes),
            lanes,
            children,
            is_open_at_first: self
                .rows(self.trace.cpus.len(), |source| &source.cpus)
                .len()
                <= MANY_CPUS,
            activity,
        }
    }

    fn thread_node(&self, thread: ThreadId) -> Option<Node> {
        let mut lanes = Vec::new();
        let states = self.trace.states.of(thread).len() as u64;
        if states > 0 {
            lanes.push(Lane::new(LaneKind::States(thread)));
        }
        let activity = states + self.own_lanes(TrackKind::Thread(thread), &mut lanes);
        let mut children = self.track_nodes(TrackKind::Thread(thread), TrackNames::Named);
        children.extend(self.counter_nodes(CounterScope::Thread(thread)));
        if lanes.is_empty() && children.is_empty() {
            return None;
        }
        Some(Node {
            key: RowKey::Thread(self.keys.thread(thread)),
            kind: RowKind::Thread(thread),
            title: self.trace.thread_name(thread).into(),
            note: self.thread_note(thread).into(),
            closed_lanes: first_lanes(&lanes),
            lanes,
            activity: activity + children.iter().map(|child| child.activity).sum::<u64>(),
            children,
            is_open_at_first: true,
        })
    }

    /// Returns the number of a thread, and whether it is only aligned with the others of its process.
    fn thread_note(&self, thread: ThreadId) -> String {
        let row = self.trace.thread(thread);
        let source = self.trace.source_of(thread.0, |source| &source.threads);
        let source = source.and_then(|id| self.trace.sources.get(id.0 as usize));
        let is_aligned = source.is_some_and(Source::is_aligned);
        // A thread without a name has its tid as title.
        let tid = (row.name != StringId::EMPTY).then(|| row.tid.to_string());
        let note = tid
            .into_iter()
            .chain(is_aligned.then(|| "aligned".to_owned()));
        note.collect::<Vec<_>>().join(" · ")
    }

    fn process_nodes(&self) -> ProcessNodes {
        let mut of_process: FxHashMap<ProcessId, Vec<Node>> = FxHashMap::default();
        let mut loose = Vec::new();
        let mut thread_count = 0_usize;
        let own = self.rows(self.trace.threads.len(), |source| &source.threads);
        let own = own.map(ThreadId).filter(|_| !self.is_guest());
        let guests = self.source.and_then(|source| self.guests.get(&source));
        for thread in own.chain(guests.into_iter().flatten().copied()) {
            if let Some(node) = self.thread_node(thread) {
                thread_count += 1;
                match self.trace.thread(thread).process {
                    Some(process) => of_process.entry(process).or_default().push(node),
                    None => loose.push(node),
                }
            }
        }
        let mut processes: Vec<Node> = self
            .rows(self.trace.processes.len(), |source| &source.processes)
            .filter_map(|id| {
                let threads = of_process.remove(&ProcessId(id)).unwrap_or_default();
                self.process_node(ProcessId(id), threads)
            })
            .collect();
        // In the order that the file states, else the busiest first.
        let in_order = |a: &Node, b: &Node| {
            let (rank_a, rank_b) = (self.rank(a), self.rank(b));
            (rank_a, b.activity, &a.title, &a.note).cmp(&(rank_b, a.activity, &b.title, &b.note))
        };
        processes.sort_by(in_order);
        loose.sort_by(in_order);
        // In a large trace, only the busiest processes are open initially.
        if thread_count > MANY_THREADS {
            for node in processes.iter_mut().skip(OPEN_PROCESSES) {
                node.is_open_at_first = node.kind != RowKind::Group && node.children.is_empty();
            }
        }
        ProcessNodes { processes, loose }
    }

    /// Returns whether the current file belongs to a process of another file, under which its threads are shown.
    fn is_guest(&self) -> bool {
        let source = self
            .source
            .and_then(|id| self.trace.sources.get(id.0 as usize));
        source.is_some_and(|source| source.home.is_some())
    }

    /// Returns the sort rank that the file states for a process, 0 if none. A thread's row that also represents its
    /// process has the rank of the process.
    fn rank(&self, node: &Node) -> i64 {
        let process = match node.kind {
            RowKind::Process(process) => Some(process),
            RowKind::Thread(thread) => self.trace.thread(thread).process,
            _ => None,
        };
        let process = process.and_then(|id| self.trace.processes.get(id.0 as usize));
        process.and_then(|process| process.rank).unwrap_or(0)
    }

    fn process_node(&self, id: ProcessId, mut threads: Vec<Node>) -> Option<Node> {
        let process = self.trace.processes.get(id.0 as usize)?;
        let asyncs = self.track_nodes(TrackKind::Async(Some(id)), TrackNames::All);
        let counters = self.counter_nodes(CounterScope::Process(id));
        let name = self.trace.text(process.name);
        let labels = self.trace.text(process.labels);
        let labels = (!labels.is_empty()).then(|| labels.into_owned());
        let are_files = asyncs.iter().all(|node| &*node.title == OPEN_FILES);
        if threads.len() == 1 && are_files && counters.is_empty() {
            // A process with a single thread has one row for both; the files that it opened are folded away.
            let mut node = threads.pop()?;
            if !asyncs.is_empty() {
                node.children.splice(0..0, asyncs);
                node.is_open_at_first = false;
                node.closed_lanes = node.lanes.clone();
            }
            if let Some(labels) = labels {
                let parts = [node.note.as_ref(), &labels];
                let parts = parts.iter().filter(|part| !part.is_empty());
                node.note = parts.copied().collect::<Vec<_>>().join(" · ").into();
            }
            return Some(node);
        }
        // In the order that the file states, else the main thread first, then the busiest.
        threads.sort_by_key(|node| {
            let thread = match node.kind {
                RowKind::Thread(thread) => Some(thread),
                _ => None,
            };
            let rank = thread.and_then(|thread| self.trace.thread(thread).rank);
            let is_main = thread.is_some() && thread == process.main_thread;
            (
                rank.unwrap_or(0),
                !is_main,
                std::cmp::Reverse(node.activity),
            )
        });
        let thread_count = threads.len();
        let mut children = asyncs;
        children.extend(counters);
        children.append(&mut threads);
        if children.is_empty() {
            return None;
        }
        let threads_word = match thread_count {
            0 => None,
            1 => Some("1 thread".to_owned()),
            many => Some(format!("{many} threads")),
        };
        // A process without a name has its pid as title.
        let pid = (!name.is_empty()).then(|| process.pid.to_string());
        let note = pid.into_iter().chain(threads_word).chain(labels);
        let note: Vec<String> = note.collect();
        let key = RowKey::Process(self.keys.process(id));
        Some(Node {
            key,
            kind: RowKind::Process(id),
            title: if name.is_empty() {
                format!("pid {}", process.pid).into()
            } else {
                name.into()
            },
            note: note.join(" · ").into(),
            lanes: Vec::new(),
            closed_lanes: summary_lanes(key, &children),
            activity: children.iter().map(|child| child.activity).sum(),
            children,
            is_open_at_first: true,
        })
    }
}

/// Counts a name; returns how often it was counted before.
fn count_alike(alike: &mut FxHashMap<StringId, u32>, name: StringId) -> u32 {
    let alike = alike.entry(name);
    *alike.and_modify(|count| *count += 1).or_insert(0)
}

/// Returns the lanes a closed row still shows: its first lane, and its first slices if the first lane has no slices.
fn first_lanes(lanes: &[Lane]) -> Vec<Lane> {
    let mut first: Vec<Lane> = lanes.iter().take(1).cloned().collect();
    if let Some(lane) = lanes
        .iter()
        .skip(1)
        .find(|lane| matches!(lane.kind, LaneKind::Slices(_)))
        && matches!(
            lanes.first().map(|lane| &lane.kind),
            Some(LaneKind::States(_) | LaneKind::Instants(_))
        )
    {
        first.push(lane.clone());
    }
    first
}
