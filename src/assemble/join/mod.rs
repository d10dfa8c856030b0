//! Joins several traces, each with an offset, into one trace on a common axis.
//!
//! Tables are concatenated file by file, and ids are changed to the new row numbers. Only tables that are sorted by
//! time over all files (flows, logs, files) are sorted again. Runs and states that lasted to a file's end last to that
//! file's end, not to the axis's. Event columns are shared, not copied: their [`Origin`] has the maps to read them
//! with. Thread 0 is the idle task of all files.

mod moves;
mod tracks;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::base::{Cancelled, Job, Maybe, Nanos, StringId};
use crate::event::part::ClockUnit;
use crate::event::{EventKind, Fact, FirstDay, KindId, TraceInfo};
use crate::trace::counters::CounterScope;
use crate::trace::files::OpenPaths;
use crate::trace::sources::PlacedBy;
use crate::trace::{
    CounterTrack, CpuId, EventId, Events, FileUse, Log, Origin, Process, ProcessId, ProgramImage,
    SeenTimes, Segment, SliceLabel, Source, Thread, ThreadId, ThreadState, Trace,
};
use moves::{Moves, Processes, moved_range};

/// A trace that is joined with others.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// File name, shown to the user.
    pub name: String,
    /// Its tables.
    pub trace: Arc<Trace>,
    /// The number of parts that its reader has.
    pub part_count: u32,
    /// Added to its times, in ns.
    pub offset: Nanos,
    /// Where the offset comes from, in words for the user.
    pub evidence: String,
    /// Who decided the offset.
    pub placed_by: PlacedBy,
    /// The process that wrote it, if another member contains that process.
    pub home: Option<Home>,
}

/// A process of another member, to which all of a member's tracks belong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    /// Index of the member that has the process.
    pub member: usize,
    /// Its id there.
    pub process: ProcessId,
}

/// Returns the joined trace of `members`; its axis is the first member's clock.
///
/// The tables have room for fewer than 2^32 - 1 events and fewer than 2^32 - 1 slices. From the first member that does
/// not fit, members are left out, with a diagnostic.
///
/// # Errors
/// If the job is cancelled.
pub(crate) fn join(members: &[Member], job: &Job) -> Result<Trace, Cancelled> {
    let (members, left_out) = members.split_at(fitting(members));
    let homes: Vec<Option<Home>> = (members.iter())
        .map(|member| member.home.filter(|home| home.member < members.len()))
        .collect();
    let mut next = 0;
    let first_processes: Vec<u32> = (members.iter().zip(&homes))
        .map(|(member, home)| {
            let first = next;
            next += match home {
                Some(_) => 0,
                None => member.trace.processes.len() as u32,
            };
            first
        })
        .collect();
    let mut joined = Joined::default();
    for ((member, home), &first) in members.iter().zip(homes).zip(&first_processes) {
        let processes = match home {
            Some(home) => Processes::Home(ProcessId(first_processes[home.member] + home.process.0)),
            None => Processes::From(first),
        };
        joined.add(member, processes, job)?;
    }
    for member in left_out {
        joined.leave_out(member);
    }
    joined.finish(job)
}

/// Returns how many of the members, from the first, fit into one trace.
fn fitting(members: &[Member]) -> usize {
    let (mut events, mut slices) = (0_u64, 0_u64);
    let fits = |member: &&Member| {
        events += member.trace.events.len() as u64;
        slices += member.trace.slices.len() as u64;
        events < u32::MAX.into() && slices < u32::MAX.into()
    };
    members.iter().take_while(fits).count()
}

/// The joined trace while members are added.
#[derive(Default)]
struct Joined<'a> {
    trace: Trace,
    segments: Vec<Segment>,
    event_count: u32,
    part_count: u32,
    lane_count: u32,
    /// Id of each kind: (kind, the number of equal kinds before it in its file), so that equal kinds of one file stay
    /// separate.
    kinds: FxHashMap<(EventKind, u32), KindId>,
    members: Vec<(&'a Trace, Moves)>,
}

impl<'a> Joined<'a> {
    fn leave_out(&mut self, member: &Member) {
        let words = || {
            format!(
                "{} was left out: the files together have too many events",
                member.name
            )
        };
        self.trace.diagnostics.note_many(
            "too_many_events",
            crate::base::Severity::DataLoss,
            None,
            1,
            words,
        );
    }

    fn add(
        &mut self,
        member: &'a Member,
        processes: Processes,
        job: &Job,
    ) -> Result<(), Cancelled> {
        job.check()?;
        let theirs = member.trace.as_ref();
        let count = theirs.events.len() as u32;
        let idle = theirs.threads.first();
        if self.trace.threads.is_empty() {
            self.trace.threads.extend(idle.map(|idle| Thread {
                name: StringId::EMPTY,
                ..idle.clone()
            }));
        }
        // The files share the idle thread: not every file names it.
        if let (Some(ours), Some(theirs_idle)) = (self.trace.threads.first_mut(), idle)
            && ours.name == StringId::EMPTY
        {
            ours.name = (self.trace.strings).intern(theirs.strings.bytes(theirs_idle.name));
        }
        // The member's ids begin at the present lengths of the tables: this must come before any table grows.
        let moves = self.moves_of(member, processes);
        let origin = Arc::new(Origin {
            shift: moves.shift,
            first_cpu: moves.first_cpu,
            kinds: moves.kinds.clone(),
            threads: theirs.events.threads.renamed(|id| moves.thread(id)),
        });
        let source = Source {
            name: member.name.clone(),
            info: theirs.info.clone(),
            own_span: theirs.span,
            origin: Arc::clone(&origin),
            evidence: member.evidence.clone(),
            placed_by: member.placed_by,
            cpus: moved_range(&(0..theirs.cpus.len() as u32), moves.first_cpu),
            threads: moves.first_thread
                ..self.trace.threads.len() as u32 + (theirs.threads.len() as u32).saturating_sub(1),
            processes: match processes {
                Processes::From(first) => moved_range(&(0..theirs.processes.len() as u32), first),
                Processes::Home(_) => {
                    let none = self.trace.processes.len() as u32;
                    none..none
                }
            },
            home: match processes {
                Processes::From(_) => None,
                Processes::Home(home) => Some(home),
            },
            loose_tracks: 0..0,
            counters: moved_range(
                &(0..theirs.counters.tracks.len() as u32),
                self.trace.counters.tracks.len() as u32,
            ),
            events: self.event_count..self.event_count + count,
            gaps: moved_range(&(0..theirs.gaps.len() as u32), self.trace.gaps.len() as u32),
            parts: self.part_count..self.part_count.saturating_add(member.part_count),
            has_files: !theirs.files.rows.is_empty(),
        };
        self.add_people(theirs, &moves);
        self.add_events(theirs, &moves, &origin);
        job.check()?;
        self.add_scheduling(theirs, &moves);
        self.add_counters(theirs, &moves);
        job.check()?;
        self.add_sorted(theirs, &moves);
        self.trace
            .diagnostics
            .add_named(&member.name, &theirs.diagnostics);
        let span =
            crate::base::TimeSpan::new(moves.time(theirs.span.start), moves.time(theirs.span.end));
        self.trace.span = if self.trace.sources.is_empty() || self.trace.span.is_empty() {
            span
        } else if span.is_empty() {
            self.trace.span
        } else {
            self.trace.span.union(span)
        };
        self.event_count += count;
        self.part_count = source.parts.end;
        self.trace.sources.push(source);
        self.members.push((theirs, moves));
        Ok(())
    }

    fn moves_of(&mut self, member: &Member, processes: Processes) -> Moves {
        let theirs = member.trace.as_ref();
        let strings = self.trace.strings.absorb(&theirs.strings);
        let string = |id: StringId| strings.get(id.0 as usize).copied().unwrap_or_default();
        let mut alike: FxHashMap<EventKind, u32> = FxHashMap::default();
        let kinds = theirs
            .kinds
            .iter()
            .map(|kind| {
                let kind = EventKind {
                    name: string(kind.name),
                    category: string(kind.category),
                    role: kind.role,
                    origin: kind.origin,
                };
                let count = alike.entry(kind).or_default();
                *count += 1;
                let all = &mut self.trace.kinds;
                *self.kinds.entry((kind, *count)).or_insert_with(|| {
                    all.push(kind);
                    KindId((all.len() - 1) as u32)
                })
            })
            .collect();
        Moves {
            shift: member.offset,
            end: theirs.span.end.saturating_add(member.offset),
            strings,
            kinds,
            first_cpu: self.trace.cpus.len() as u32,
            first_thread: self.trace.threads.len() as u32,
            processes,
            first_event: self.event_count,
            first_label: self.trace.slices.labels.len() as u32,
        }
    }

    fn add_people(&mut self, theirs: &Trace, moves: &Moves) {
        self.trace.cpus.extend_from_slice(&theirs.cpus);
        let threads = theirs.threads.iter().skip(1).map(|thread| Thread {
            process: thread.process.map(|id| moves.process(id)),
            name: moves.string(thread.name),
            start: thread.start.map(|time| moves.time(time)),
            end: thread.end.map(|time| moves.time(time)),
            seen: SeenTimes {
                first: moves.time(thread.seen.first),
                last: moves.time(thread.seen.last),
            },
            ..*thread
        });
        self.trace.threads.extend(threads);
        if let Processes::Home(_) = moves.processes {
            return;
        }
        // Parts of environments that several processes share are also shared in the joined trace.
        let mut parts: FxHashMap<*const [StringId], Arc<[StringId]>> = FxHashMap::default();
        let moved = |part: &[StringId]| part.iter().map(|&id| moves.string(id)).collect();
        let processes = theirs.processes.iter().map(|process| Process {
            parent: process.parent.map(|id| moves.process(id)),
            main_thread: process.main_thread.map(|id| moves.thread(id)),
            name: moves.string(process.name),
            labels: moves.string(process.labels),
            start: process.start.map(|time| moves.time(time)),
            end: process.end.map(|time| moves.time(time)),
            exit_event: process.exit_event.map(|id| moves.event(id)),
            environment: (process.environment.iter())
                .map(|part| {
                    Arc::clone(
                        parts
                            .entry(Arc::as_ptr(part))
                            .or_insert_with(|| moved(part)),
                    )
                })
                .collect(),
            images: process
                .images
                .iter()
                .map(|image| ProgramImage {
                    start: moves.time(image.start),
                    event: image.event.map(|id| moves.event(id)),
                    program: moves.string(image.program),
                    arguments: image.arguments.iter().map(|&it| moves.string(it)).collect(),
                    directory: moves.string(image.directory),
                    interpreter: moves.string(image.interpreter),
                })
                .collect(),
            ..process.clone()
        });
        self.trace.processes.extend(processes);
    }

    fn add_events(&mut self, theirs: &Trace, moves: &Moves, origin: &Arc<Origin>) {
        let mut last_lane = 0;
        for segment in theirs.events.segments() {
            last_lane = last_lane.max(segment.lane + 1);
            self.segments.push(Segment {
                part: self.part_count.saturating_add(segment.part),
                lane: self.lane_count + segment.lane,
                cpu: segment.cpu.map(|cpu| cpu + moves.first_cpu),
                first: 0,
                origin: Some(Arc::clone(origin)),
                resolution_ns: segment.resolution_ns,
                columns: Arc::clone(&segment.columns),
            });
        }
        self.lane_count += last_lane;
    }

    fn add_scheduling(&mut self, theirs: &Trace, moves: &Moves) {
        let (ours, runs) = (&mut *self.trace.runs, &theirs.runs);
        let (first_run, first_place) = (ours.len() as u32, ours.by_thread.len() as u32);
        ours.starts.extend(moves.times(&runs.starts));
        ours.partial
            .extend(partial_rows(&runs.ends, &runs.partial, first_run));
        ours.ends.extend(moves.ends(&runs.ends));
        let threads = runs.threads.iter().map(|&id| moves.thread(ThreadId(id)).0);
        ours.threads.extend(threads);
        ours.priorities.extend_from_slice(&runs.priorities);
        ours.end_states.extend_from_slice(&runs.end_states);
        ours.events.extend(moves.events(&runs.events));
        let cpu_ranges = (0..theirs.cpus.len() as u32).map(|cpu| runs.on(CpuId(cpu)));
        ours.of_cpu
            .extend(cpu_ranges.map(|range| moved_range(&range, first_run)));
        ours.by_thread
            .extend(runs.by_thread.iter().map(|&run| run + first_run));
        // All files share the idle thread; the first file has added it.
        let idle = usize::from(!ours.of_thread.is_empty());
        let thread_ranges =
            (idle..theirs.threads.len()).map(|id| runs.of_thread.get(id).cloned().unwrap_or(0..0));
        ours.of_thread
            .extend(thread_ranges.map(|range| moved_range(&range, first_place)));

        let (ours, states) = (&mut *self.trace.states, &theirs.states);
        let first_state = ours.len() as u32;
        ours.starts.extend(moves.times(&states.starts));
        ours.partial
            .extend(partial_rows(&states.ends, &states.partial, first_state));
        ours.ends.extend(moves.ends(&states.ends));
        ours.states.extend_from_slice(&states.states);
        let partners = states.states.iter().zip(&states.partners);
        ours.partners.extend(partners.map(|(state, partner)| {
            let moved = |partner| match state {
                ThreadState::Running => moves.cpu(CpuId(partner)).0,
                _ => moves.thread(ThreadId(partner)).0,
            };
            Maybe::from(partner.get().map(moved))
        }));
        ours.notes.extend_from_slice(&states.notes);
        ours.events.extend(moves.events(&states.events));
        let woken_by = states.woken_by.iter();
        ours.woken_by.extend(
            woken_by.map(|&(event, name)| (moves.event(EventId(event)).0, moves.string(name))),
        );
        // All files share the idle thread; the first file has added it.
        let idle = usize::from(!ours.of_thread.is_empty());
        let end = states.len() as u32;
        let thread_ranges = (idle..theirs.threads.len())
            .map(|id| states.of_thread.get(id).cloned().unwrap_or(end..end));
        ours.of_thread
            .extend(thread_ranges.map(|range| moved_range(&range, first_state)));
    }

    fn add_counters(&mut self, theirs: &Trace, moves: &Moves) {
        let (ours, counters) = (&mut self.trace.counters, &theirs.counters);
        let first_sample = ours.times.len() as u32;
        ours.tracks
            .extend(counters.tracks.iter().map(|track| CounterTrack {
                name: moves.string(track.name),
                scope: match track.scope {
                    CounterScope::Global => CounterScope::Global,
                    CounterScope::Cpu(cpu) => CounterScope::Cpu(moves.cpu(cpu)),
                    CounterScope::Process(process) => CounterScope::Process(moves.process(process)),
                    CounterScope::Thread(thread) => CounterScope::Thread(moves.thread(thread)),
                },
                samples: moved_range(&track.samples, first_sample),
                range: track.range,
            }));
        ours.times.extend(moves.times(&counters.times));
        ours.values.extend_from_slice(&counters.values);
        let events = counters.events.iter();
        ours.events
            .extend(events.map(|&id| moves.event(EventId(id)).0));
    }

    /// Adds the tables that are sorted by time over all files; `finish` sorts them.
    fn add_sorted(&mut self, theirs: &Trace, moves: &Moves) {
        self.trace
            .logs
            .rows
            .extend(theirs.logs.rows.iter().map(|log| Log {
                time: moves.time(log.time),
                thread: log.thread.map(|thread| moves.thread(thread)),
                severity: moves.string(log.severity),
                message: moves.string(log.message),
                event: moves.event(log.event),
            }));
        // If files disagree about what the paths of opens mean, all paths get `AsPassed`.
        if self.trace.files.rows.is_empty() {
            self.trace.files.opens = theirs.files.opens;
        } else if !theirs.files.rows.is_empty() && theirs.files.opens != self.trace.files.opens {
            self.trace.files.opens = OpenPaths::AsPassed;
        }
        let moved = |file: &FileUse| FileUse {
            time: moves.time(file.time),
            thread: file.thread.map(|thread| moves.thread(thread)),
            path: moves.string(file.path),
            other_path: moves.string(file.other_path),
            event: moves.event(file.event),
            ..*file
        };
        let files = &mut self.trace.files;
        files.rows.extend(theirs.files.rows.iter().map(moved));
        files.writes.extend(theirs.files.writes.iter().map(moved));
        let gaps = theirs.gaps.iter();
        let gaps = gaps.map(|gap| gap.moved(|time| moves.time(time)));
        self.trace.gaps.extend(gaps);
        self.trace
            .slices
            .labels
            .extend(theirs.slices.labels.iter().map(|label| SliceLabel {
                name: moves.string(label.name),
                category: moves.string(label.category),
                family: label.family,
                kind: label.kind,
            }));
    }

    fn finish(mut self, job: &Job) -> Result<Trace, Cancelled> {
        self.trace.events = Events::new(std::mem::take(&mut self.segments)).into();
        let slice_moves = self.place_tracks(job)?;
        job.check()?;
        self.add_flows(&slice_moves);
        job.check()?;
        let trace = &mut self.trace;
        trace.logs.rows.sort_by_key(|log| log.time);
        trace.files.rows.sort_by_key(|file| file.time);
        trace.files.writes.sort_by_key(|file| file.time);
        trace.info = common_info(&trace.sources);
        Ok(self.trace)
    }
}

/// Returns the numbers, counted from `first`, of rows that are only partly known: the open ones, which get an end when
/// traces are joined, and those that are already partial. The numbers ascend.
fn partial_rows<'a>(
    ends: &'a [Maybe<i64>],
    partial: &'a [u32],
    first: u32,
) -> impl Iterator<Item = u32> + 'a {
    let is_one = |(end, row): &(&Maybe<i64>, u32)| {
        end.is_none() || !partial.is_empty() && partial.binary_search(row).is_ok()
    };
    let rows = ends.iter().zip(0_u32..).filter(is_one);
    rows.map(move |(_, row)| first + row)
}

/// Returns the common header of all files: the axis is the first one's clock. If only some files have times in
/// nanoseconds, the axis has nanoseconds, and one step of the other files is 1 ns.
fn common_info(sources: &[Source]) -> TraceInfo {
    let mut formats: Vec<&str> = Vec::new();
    for source in sources {
        if !formats.contains(&source.info.format.as_str()) {
            formats.push(&source.info.format);
        }
    }
    let first = sources
        .first()
        .map(|source| source.info.clone())
        .unwrap_or_default();
    let timed = sources
        .iter()
        .find(|source| source.info.clock_unit == ClockUnit::Nanoseconds);
    let (clock, clock_unit) = match timed {
        Some(source) if first.clock_unit != ClockUnit::Nanoseconds => {
            (source.info.clock.clone(), ClockUnit::Nanoseconds)
        }
        _ => (first.clock.clone(), first.clock_unit),
    };
    // The axis is moved against each file's clock by that file's offset.
    let wall_clock_zero_ns = sources.iter().find_map(|source| {
        let zero = source.info.wall_clock_zero_ns?;
        zero.checked_sub(source.offset().0)
    });
    let days = sources.iter().map(|source| source.info.first_day);
    let first_day = days
        .clone()
        .find(|day| *day == FirstDay::Given)
        .or_else(|| days.clone().find(|day| *day == FirstDay::Unknown))
        .unwrap_or_default();
    TraceInfo {
        clock,
        clock_unit,
        wall_clock_zero_ns,
        first_day,
        format: format!("{} files: {}", sources.len(), formats.join(", ")),
        facts: sources
            .iter()
            .flat_map(|source| {
                let named =
                    |fact: &Fact| Fact::new(format!("{}: {}", source.name, fact.name), &fact.value);
                source.info.facts.iter().map(named)
            })
            .collect(),
        uname: None,
        cpu_count: None,
        providers: Vec::new(),
        objects: Default::default(),
        ..first
    }
}
