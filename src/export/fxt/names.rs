//! Writes the names of processes, threads and CPUs as kernel objects: of all that live in the range, and of those
//! outside to which events of the range refer.

use rustc_hash::FxHashSet;

use super::args::{self, Fitted, MOST_ARG_WORDS};
use super::encode::{Encoder, Source};
use super::item::{Item, What};
use super::lives;
use super::providers::infos;
use super::records::{Arg, ArgValue, ObjectKey, PROCESS, THREAD, ThreadKoids};
use crate::base::{StringId, Timestamp};
use crate::event::part::KernelObject;
use crate::event::{FieldRef, SEEN_UNTIL};
use crate::export::shared::arguments::argument;
use crate::export::shared::flow_marks::FlowMark;
use crate::export::shared::koids::Koids;
use crate::export::shared::losses::{self, Counted};
use crate::export::shared::met::met;
use crate::fxt::agreed::{RECORDING, REUSED_NUMBERS};
use crate::fxt::layout::kernel_object::NO_TYPE;
use crate::query::selection::Chosen;
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, CpuId, EventId, ProcessId, StateId, ThreadId, Trace, Track, TrackId, TrackKind,
};

/// Returns threads to which an arrow or a wakeup refers, whether or not they live in the range and are chosen.
pub(crate) fn met_at_borders(
    trace: &Trace,
    chosen: &Chosen<'_>,
    koids: &Koids,
    at_start: &[Item],
    marks: &[FlowMark],
) -> FxHashSet<ThreadId> {
    let is_wakeup = |item: &&Item| item.what == What::Wakeup;
    let wakeups = at_start.iter().filter(is_wakeup).map(|item| item.row);
    let wakers = wakeups.filter_map(|row| trace.states.get(StateId(row)).waker);
    let moved = marks.iter().filter(|mark| mark.is_moved);
    let mut met = met(trace, chosen, koids);
    met.extend(wakers.chain(moved.filter_map(|mark| mark.thread)));
    met
}

/// The processes and threads that have a name in the file.
#[derive(Debug, Default)]
pub(super) struct Named {
    /// The processes.
    pub processes: Vec<ProcessId>,
    /// The threads.
    pub threads: Vec<ThreadId>,
    /// The koids of processes in an FXT source.
    pub process_koids: FxHashSet<u64>,
    /// The koids of threads in an FXT source.
    pub thread_koids: FxHashSet<u64>,
    /// Koids of the chosen artificial processes and threads of CPUs and the machine; `None` if all are chosen.
    stand_ins: Option<FxHashSet<u64>>,
}

/// A process or thread that may have a kernel object.
pub(crate) struct Person {
    /// The object type: process or thread.
    pub kind: u64,
    /// The koid in the copy. It differs from the source for the second process of a koid.
    pub koid: u64,
    /// The koid in the source.
    pub koid_in_file: u64,
    /// The name; it may be empty.
    pub name: StringId,
}

impl Named {
    /// Returns all that live in the range or are in `met`.
    pub(super) fn new(source: &Source<'_>, met: &FxHashSet<ThreadId>) -> Named {
        let Source {
            trace,
            chosen,
            koids,
            ..
        } = *source;
        let is_alive = |start: Option<Timestamp>, end: Option<Timestamp>| {
            chosen.meets(
                start.unwrap_or(trace.span.start),
                // No process or thread is known to live before or after the trace.
                end.unwrap_or(Timestamp(trace.span.end.0.saturating_add(1))),
            )
        };
        let mut wanted: Vec<bool> = (0..trace.processes.len())
            .map(|index| chosen.has_process(ProcessId(index as u32)))
            .collect();
        let owners = Owners::new(trace, chosen);
        let is_met = |id: ThreadId| met.contains(&id) && id != ThreadId::IDLE;
        let is_wanted = |id: ThreadId| chosen.has_thread(id) || owners.threads.contains(&id);
        let mut homes: FxHashSet<ProcessId> = FxHashSet::default();
        let mut named = Named {
            stand_ins: chosen.is_narrowed().then(|| owners.stand_ins(koids)),
            ..Named::default()
        };
        for (index, thread) in (0_u32..).zip(&trace.threads).skip(1) {
            let id = ThreadId(index);
            let entry = thread.process.and_then(|id| wanted.get_mut(id.0 as usize));
            if let Some(entry) = entry {
                *entry |= is_wanted(id);
            }
            let is_one = is_met(id) || is_wanted(id) && is_alive(thread.start, trace.over_at(id));
            if is_one && !koids.is_provider(id) {
                named.threads.push(id);
                let is_seen = thread.seen.last >= chosen.span.start || is_met(id);
                homes.extend(thread.process.filter(|_| is_seen));
                named.thread_koids.insert(thread.tid);
            }
        }
        for id in &owners.processes {
            if let Some(entry) = wanted.get_mut(id.0 as usize) {
                *entry = true;
            }
        }
        for (index, process) in (0_u32..).zip(&trace.processes) {
            let id = ProcessId(index);
            let is_wanted = wanted.get(index as usize) == Some(&true);
            // A thread may live longer than its process.
            let is_one = homes.contains(&id) || is_wanted && is_alive(process.start, process.end);
            if is_one && !koids.is_of_provider(id) {
                named.processes.push(id);
                named.process_koids.insert(process.pid);
            }
        }
        named
    }
}

impl Named {
    /// Returns whether the artificial process or thread of a CPU or the machine is chosen.
    pub(crate) fn has_stand_in(&self, koid: u64) -> bool {
        self.stand_ins
            .as_ref()
            .is_none_or(|koids| koids.contains(&koid))
    }

    /// Returns the processes and threads for which `is_one` is true.
    pub(crate) fn filtered(&self, source: &Source<'_>, is_one: impl Fn(&Person) -> bool) -> Named {
        let trace = source.trace;
        let process = |id: &&ProcessId| {
            let process = trace.processes.get(id.0 as usize);
            process.is_some_and(|process| {
                is_one(&Person {
                    kind: PROCESS,
                    koid: source.koids.process(**id),
                    koid_in_file: process.pid,
                    name: process.name,
                })
            })
        };
        let thread = |id: &&ThreadId| {
            let thread = trace.thread(**id);
            is_one(&Person {
                kind: THREAD,
                koid: thread.tid,
                koid_in_file: thread.tid,
                name: thread.name,
            })
        };
        Named {
            processes: self.processes.iter().filter(process).copied().collect(),
            threads: self.threads.iter().filter(thread).copied().collect(),
            ..Named::default()
        }
    }
}

/// Writes the names of all processes and threads that have one, and of the CPUs.
pub(crate) fn write_names(encoder: &mut Encoder<'_, '_>, named: &Named) {
    let Source {
        trace,
        chosen,
        koids,
        ..
    } = *encoder.source;
    let owners = Owners::new(trace, chosen);
    write_people(encoder, named);
    let counted = Counted::of(trace, chosen);
    for id in (0..trace.cpus.len() as u32).map(CpuId) {
        if owners.cpus.contains(&id) {
            let name = koids.cpu_name(trace, id);
            let ThreadKoids { process, thread } = koids.cpu(id);
            encoder.records.process_object(process, name.as_bytes());
            let mut args = vec![Arg::new("process", ArgValue::Koid(process))];
            args.extend(counted.arguments(id));
            let object = ObjectKey {
                object_type: THREAD,
                koid: thread,
            };
            encoder.records.object(object, name.as_bytes(), &args);
        }
    }
    if owners.is_machine_needed {
        let machine = Koids::MACHINE.process;
        encoder.records.process_object(machine, b"machine");
        let object = ObjectKey {
            object_type: THREAD,
            koid: Koids::MACHINE.thread,
        };
        let process = Arg::new("process", ArgValue::Koid(machine));
        encoder.records.object(object, b"machine", &[process]);
    }
}

/// Writes the names of processes and threads.
pub(crate) fn write_people(encoder: &mut Encoder<'_, '_>, named: &Named) {
    let Source { trace, koids, .. } = *encoder.source;
    for &id in &named.processes {
        let Some(process) = trace.processes.get(id.0 as usize) else {
            continue;
        };
        let key = ObjectKey {
            object_type: PROCESS,
            koid: koids.process(id),
        };
        let name = trace.strings.bytes(process.name);
        let args = lives::of_process(encoder.source, id);
        encoder.named_object(key, process.pid, name, args);
        encoder.images(id);
    }
    let is_named_last = |id: &&ThreadId| named.threads.binary_search(id).is_ok();
    let last = koids.named_last.iter().filter(is_named_last);
    for &id in named.threads.iter().chain(last) {
        let thread = trace.thread(id);
        let own = koids.thread(id);
        let mut args = vec![Arg::new("process", ArgValue::Koid(own.process))];
        args.extend(lives::of_thread(encoder.source, id));
        let name = trace.strings.bytes(thread.name);
        let key = ObjectKey {
            object_type: THREAD,
            koid: own.thread,
        };
        encoder.named_object(key, thread.tid, name, args);
    }
}

/// Writes the kernel objects that are neither process nor thread.
pub(crate) fn write_other_objects(encoder: &mut Encoder<'_, '_>) {
    let mut described = FxHashSet::default();
    for info in infos(encoder.source.trace) {
        for object in info.objects.iter() {
            let is_person = matches!(object.object_type, PROCESS | THREAD);
            // If several files have it, the first one names it.
            if !is_person && described.insert(object.koid) {
                let key = ObjectKey {
                    object_type: object.object_type,
                    koid: object.koid,
                };
                encoder.object_with_fields(key, &object.name, Vec::new(), Some(object));
            }
        }
    }
}

impl Encoder<'_, '_> {
    /// Writes the last moment of the recording: unfinished items lasted at least until then.
    pub(super) fn last_moment(&mut self) {
        let chosen = self.source.chosen;
        if chosen.span.start >= chosen.span.end {
            return;
        }
        let last = self.source.borders.last_moment();
        let last = ArgValue::Int64(last.saturating_add(self.source.shift));
        let key = ObjectKey {
            object_type: NO_TYPE,
            koid: RECORDING,
        };
        let mut facts = vec![Arg::new(SEEN_UNTIL, last)];
        let reused = i64::try_from(self.source.koids.reused_numbers).unwrap_or(0);
        if reused > 0 {
            facts.push(Arg::new(REUSED_NUMBERS, ArgValue::Int64(reused)));
        }
        self.records.object(key, b"", &facts);
        // It names nothing.
        self.records.counts.objects -= 1;
    }

    /// Writes the kernel object of a process or thread, with `args` and the other fields that it has in the first file
    /// that contains an object with that `number`.
    fn named_object(&mut self, key: ObjectKey, number: u64, name: &[u8], args: Vec<Arg<'_>>) {
        let in_file = (key.object_type, number);
        let described = infos(self.source.trace).into_iter().find_map(|info| {
            let order = |object: &KernelObject| (object.object_type, object.koid);
            let at = info.objects.binary_search_by_key(&in_file, order);
            info.objects.get(at.ok()?)
        });
        self.object_with_fields(key, name, args, described);
    }

    fn object_with_fields(
        &mut self,
        key: ObjectKey,
        name: &[u8],
        mut args: Vec<Arg<'_>>,
        described: Option<&KernelObject>,
    ) {
        if let Some(described) = described {
            let own = described.fields.iter().filter(|field| {
                let is_written = args.iter().any(|arg| *arg.name == *field.name.as_bytes());
                field.role.is_argument() && !is_written
            });
            let own = own.map(|field| argument(FieldRef::from(field.clone())));
            let own: Vec<_> = own.collect();
            args.extend(own);
            let Fitted { is_packed, cut } = args::fit(&mut args, MOST_ARG_WORDS);
            self.records.counts.packed += u64::from(is_packed);
            self.cut_texts += cut.len() as u64;
        }
        self.records.object(key, name, &args);
    }
}

/// The processes and threads whose tracks and counters were chosen.
#[derive(Default)]
struct Owners {
    threads: FxHashSet<ThreadId>,
    processes: FxHashSet<ProcessId>,
    cpus: FxHashSet<CpuId>,
    is_machine_needed: bool,
}

/// Returns whether some of a track's slices and points belong to no thread.
fn has_nobodies(trace: &Trace, track: &Track) -> bool {
    let is_nobody = |event: u32| trace.events.thread(EventId(event)).is_none();
    let rows = trace.slices.rows_of(track).iter();
    let mut slices = rows.flat_map(|row| row.slices.clone());
    trace.instants.of(&track.instants).any(is_nobody)
        || slices.any(|slice| is_nobody(trace.slices.begins.at(slice as usize)))
}

impl Owners {
    /// Returns the koids of the artificial processes and threads of CPUs and the machine.
    fn stand_ins(&self, koids: &Koids) -> FxHashSet<u64> {
        let machine = self.is_machine_needed.then_some(Koids::MACHINE.process);
        let cpus = self.cpus.iter().map(|&cpu| koids.cpu(cpu).thread);
        cpus.chain(machine).collect()
    }

    fn new(trace: &Trace, chosen: &Chosen<'_>) -> Owners {
        let mut owners = Owners::default();
        owners.cpus.extend(losses::cpus(trace, chosen));
        owners.is_machine_needed = losses::are_of_machine(trace, chosen);
        for (number, track) in trace.tracks.iter().enumerate() {
            let is_empty = track.rows.is_empty() && track.instants.is_empty();
            if is_empty || !chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            match track.kind {
                TrackKind::Nobody => owners.is_machine_needed = true,
                TrackKind::Thread(thread) => _ = owners.threads.insert(thread),
                TrackKind::Cpu(cpu) => _ = owners.cpus.insert(cpu),
                TrackKind::Async(Some(process)) => _ = owners.processes.insert(process),
                TrackKind::Async(None) => {
                    owners.is_machine_needed =
                        owners.is_machine_needed || has_nobodies(trace, track);
                }
            }
        }
        for (number, track) in trace.counters.tracks.iter().enumerate() {
            if !chosen.has_counter(CounterTrackId(number as u32)) {
                continue;
            }
            match track.scope {
                CounterScope::Thread(thread) => _ = owners.threads.insert(thread),
                CounterScope::Cpu(cpu) => _ = owners.cpus.insert(cpu),
                CounterScope::Process(process) => _ = owners.processes.insert(process),
                CounterScope::Global => owners.is_machine_needed = true,
            }
        }
        owners
    }
}
