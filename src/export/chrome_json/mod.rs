//! Chrome's JSON trace event format: for `chrome://tracing`, Perfetto and scripts.
//!
//! Finished slices are `X`, unfinished ones `B`; instants `i` with their scope, counters `C` (see `counter_events`),
//! flows `s` `t` `f` (bound to the slice around them, see `flow_labels`), asynchronous slices `b` `n` `e` (with an
//! `id2` that is local to their process, or global if they belong to no process), names `M`. Slices of one thread nest:
//! slices that cross others are on an extra thread (`shared::layers`). Runs and interrupts of a CPU are in a process
//! called `CPU n`, states of threads and their wakeups on threads called `NAME states` (`scheduling`), losses are
//! instants (`losses`); the name of a process or thread that only exists in the file contains what it `stands_for`
//! (`names`), so that our reader can restore the trace. Times are microseconds with three decimals, so that no
//! nanosecond is lost; numbers above 2^53 are texts, ids above 32 bits have stand-ins (see `shared::numbers`). Slices,
//! runs and states that reach over a border are cut there and have arguments that state it (see `shared::borders`).
//! Arguments that share a name become a list.

mod asyncs;
mod counter_events;
mod event_parts;
mod flow_events;
mod flow_labels;
mod losses;
mod names;
mod scheduling;
#[cfg(test)]
mod tests;
mod values;

use std::io::Write;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

use super::shared::arguments::{arguments, merge};
use super::shared::borders::{Borders, CutArgument, EndCut, Part};
use super::shared::crossing::crossing_cuts;
use super::shared::flow_marks::{FlowMark, FlowMarks};
use super::shared::koids::Koids;
use super::shared::layers::{Layer, PlacedSlice, placed_slices};
use super::shared::numbers::Numbers;
use super::{Chosen, ExportError, ExportedText, Exporter, Request, Summary};
use crate::base::{Job, TimeSpan, Timestamp};
use crate::event::family::Family;
use crate::event::slice_kind::{Nesting, SLICE_KIND, SliceKind};
use crate::event::{FieldRef, OWN_WRITER, SEEN_UNTIL};
use crate::export::shared::{Interrupted, ThreadKoids};
use crate::formats::EventRef;
use crate::fxt::agreed::{CPU_TRACK, ON_CPU};
use crate::load::LoadedTrace;
use crate::query::event_cpus::EventCpus;
use crate::tables::items::track_name;
use crate::trace::slices::SliceLabel;
use crate::trace::{
    CpuId, EventId, InstantId, ProcessId, SliceId, ThreadId, Trace, TrackId, TrackKind,
};
use asyncs::Operations;
use event_parts::{Head, When};
use flow_events::{FlowEvent, next_slice};
use flow_labels::flow_labels;
use values::{exact, json_args, json_object, scope_letter};

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "chrome-json",
    title: "Chrome JSON",
    about: "Chrome's JSON trace events: for chrome://tracing, scripts and viewers without a format of their own",
    extension: "json",
    text: ExportedText::Json,
    table: None,
    write,
};

/// Added to the thread number of a CPU's interrupts, to get the thread number of its runs.
const RUNS_OFFSET: u64 = 0x0100_0000;
/// The first koid of threads that exist only in the file; no thread of the trace has such a koid. Each gets a stand-in.
const EXTRA_THREADS: u64 = 0xfff0_0000_0000_0000;
const CHECK_EVERY: u64 = 4096;

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let Request {
        loaded,
        chosen,
        job,
        ..
    } = *request;
    let trace = loaded.trace.as_ref();
    let koids = Koids::new(trace);
    let mut writer = JsonEvents {
        loaded,
        trace,
        chosen,
        koids: &koids,
        borders: Borders::new(trace, chosen),
        numbers: numbers_of(trace, &koids),
        out,
        job,
        count: 0,
        cpus: EventCpus::new(trace, loaded.reader.as_ref()),
        operations: Operations::default(),
        moved: FxHashMap::default(),
        extra_threads: 0,
        name_count: 0,
    };
    let total = trace.slices.len()
        + trace.instants.len()
        + trace.counters.times.len()
        + trace.runs.len()
        + trace.states.len();
    job.set_total(total as u64);
    let mut summary = Summary::default();
    write!(
        writer.out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"writer\":\"{OWN_WRITER} {}\",\"{SEEN_UNTIL}\":{}}},",
        env!("CARGO_PKG_VERSION"),
        writer.borders.last_moment()
    )?;
    if let Some(zero) = trace.info.wall_clock_zero_ns.filter(|zero| *zero >= 0) {
        write!(writer.out, "\"baseTimeNanoseconds\":{zero},")?;
    }
    write!(writer.out, "\"traceEvents\":[")?;
    writer.names()?;
    let names = writer.count;
    summary.count("slices", writer.slices()?);
    summary.count("instants", writer.instants()?);
    summary.count("counter samples", writer.counters()?);
    summary.count("flow marks", writer.flows()?);
    summary.count("runs", writer.runs()?);
    let written = writer.states()?;
    summary.count("thread states", written.states);
    summary.count("wakeups", written.wakeups);
    summary.count("names", names + writer.name_count);
    summary.count("losses", writer.losses()?);
    writer.out.write_all(b"\n]}\n")?;
    writer.out.flush()?;
    Ok(summary)
}

struct JsonEvents<'a> {
    loaded: &'a LoadedTrace,
    trace: &'a Trace,
    chosen: &'a Chosen<'a>,
    koids: &'a Koids,
    borders: Borders,
    numbers: Numbers,
    out: &'a mut dyn Write,
    job: &'a Job,
    count: u64,
    cpus: EventCpus<'a>,
    operations: Operations,
    /// Slices that are not on their track's own thread, each with the koid of its thread.
    moved: FxHashMap<SliceId, u64>,
    /// The number of threads that exist only in the file, each with a name.
    extra_threads: u64,
    name_count: u64,
}

impl<'a> JsonEvents<'a> {
    fn event(
        &mut self,
        head: &Head<'_>,
        when: When,
        more: &str,
        args: Option<Map<String, Json>>,
    ) -> Result<(), ExportError> {
        if self.count.is_multiple_of(CHECK_EVERY) {
            self.job.check()?;
            self.job.advance(CHECK_EVERY);
        }
        let start: &[u8] = if self.count == 0 { b"\n" } else { b",\n" };
        self.out.write_all(start)?;
        self.count += 1;
        write!(self.out, "{{\"ph\":\"{}\",\"name\":", head.phase)?;
        serde_json::to_writer(&mut *self.out, head.name).map_err(std::io::Error::from)?;
        if !head.category.is_empty() {
            self.out.write_all(b",\"cat\":")?;
            serde_json::to_writer(&mut *self.out, head.category).map_err(std::io::Error::from)?;
        }
        write!(
            self.out,
            ",\"ts\":{},\"pid\":{},\"tid\":{}",
            micros(when.time),
            self.numbers.of(head.owner.process),
            self.numbers.of(head.owner.thread)
        )?;
        if let Some(duration) = when.duration {
            write!(self.out, ",\"dur\":{}", micros(duration))?;
        }
        self.out.write_all(more.as_bytes())?;
        if let Some(args) = args.filter(|args| !args.is_empty()) {
            self.out.write_all(b",\"args\":")?;
            serde_json::to_writer(&mut *self.out, &args).map_err(std::io::Error::from)?;
        }
        self.out.write_all(b"}")?;
        Ok(())
    }

    fn fields(&self, id: EventId) -> Vec<FieldRef<'a>> {
        let mut fields = Vec::new();
        let event = EventRef::from(self.trace.events.get(id));
        self.loaded.reader.fields_into(event, &mut fields);
        fields
    }

    fn owner_of(&self, kind: TrackKind, event: EventId) -> ThreadKoids {
        match kind {
            TrackKind::Cpu(cpu) => self.koids.cpu(cpu),
            TrackKind::Thread(thread) => self.koids.thread(thread),
            TrackKind::Nobody => Koids::MACHINE,
            TrackKind::Async(process) => {
                let thread = self.trace.events.thread(event);
                self.koids.on_async_track(self.trace, process, thread)
            }
        }
    }

    fn slices(&mut self) -> Result<u64, ExportError> {
        let trace = self.trace;
        let mut count = self.async_slices()?;
        for (track, id) in trace.tracks.iter().zip((0..).map(TrackId)) {
            let is_async = matches!(track.kind, TrackKind::Async(_));
            if is_async || !self.chosen.has_track(id) {
                continue;
            }
            let mut threads: FxHashMap<Layer, u64> = FxHashMap::default();
            let rows = self.trace.slices.rows_of(track).iter();
            let cuts = crossing_cuts(self.trace, self.chosen, id, rows);
            for PlacedSlice { slice, layer, .. } in placed_slices(trace, self.chosen, id) {
                count += 1;
                let own = self.owner_of(track.kind, trace.slices.get(slice).begin);
                let thread = match (layer, threads.get(&layer)) {
                    (Layer::Own, _) => own.thread,
                    (_, Some(&known)) => known,
                    (_, None) => {
                        let thread = self.extra_thread();
                        threads.insert(layer, thread);
                        let name = track_name(trace, id);
                        self.name_extra(own, thread, &layer.name(&name))?;
                        thread
                    }
                };
                if layer != Layer::Own {
                    self.moved.insert(slice, thread);
                }
                let cut = cuts.get(&slice.0).copied();
                self.slice(track.kind, own.with_thread(thread), slice, cut)?;
            }
        }
        Ok(count)
    }

    /// Writes a slice; `cut`: where it is cut at its end, if that is not the range's end.
    fn slice(
        &mut self,
        kind: TrackKind,
        owner: ThreadKoids,
        id: SliceId,
        cut: Option<i64>,
    ) -> Result<(), ExportError> {
        let slice = self.trace.slices.get(id);
        let label = self.trace.slices.label(id);
        // A slice whose end was not seen ends at the time to which it is drawn: without an end, readers would use
        // the end of the next slice for it.
        let mut part = self.borders.of_slice(self.trace, id.0 as usize);
        part.end = cut.or(part.end);
        let is_over = part.end.is_some();
        let mut list = arguments(&mut self.fields(slice.begin));
        if let Some(finish) = slice.finish.filter(|_| part.cut.is_none()) {
            merge(&mut list, arguments(&mut self.fields(finish)));
        }
        let (category, name) = (
            exact(self.trace, label.category),
            exact(self.trace, label.name),
        );
        let head = Head {
            phase: if is_over { "X" } else { "B" },
            category: &category,
            name: &name,
            owner,
        };
        let mut args = json_object(list);
        if is_over && slice.end.is_none() && part.cut != Some(EndCut::Never) {
            args.insert("end_not_seen".to_owned(), json!(true));
        }
        add_cuts(&part, &mut args);
        // `X` events have to nest, so `dur` is the drawn duration and the measured one is an argument.
        if self.trace.slices.measured(id.0 as usize).is_some() {
            args.insert(
                "measured_ns".to_owned(),
                json!(self.measured_part(id, &part)),
            );
        }
        self.add_kind(label, &mut args);
        self.add_interrupted(kind, slice.begin, &mut args);
        let when = when(&part);
        self.event(&head, when, "", Some(args))
    }

    /// Adds the CPU of an event of a CPU track, and the thread that ran there, unless the CPU was idle; `null` if that is
    /// not known.
    fn add_interrupted(&self, kind: TrackKind, event: EventId, args: &mut Map<String, Json>) {
        if let TrackKind::Cpu(cpu) = kind {
            args.insert(CPU_TRACK.to_owned(), json!(self.cpu_number(cpu.0)));
        } else if let Some(own) = args.remove(CPU_TRACK) {
            // An argument of the recorded program with this name must not move its event.
            args.insert(format!("{CPU_TRACK}_"), own);
        }
        match Interrupted::of(kind, self.trace.events.thread(event)) {
            Some(Interrupted::Thread(thread)) => {
                let thread = self.koids.thread(thread);
                self.add_thread(["interrupted_pid", "interrupted_tid"], thread, args);
            }
            Some(Interrupted::Unknown) => {
                args.insert("interrupted_tid".to_owned(), Json::Null);
            }
            Some(Interrupted::Idle) | None => {}
        }
    }

    /// Adds the CPU of an event, if it is known.
    fn add_cpu(&self, cpu: Option<CpuId>, args: &mut Map<String, Json>) {
        if let Some(cpu) = cpu {
            // Replaces that of a file of ours, in which the CPU may have had another number.
            args.insert(ON_CPU.to_owned(), json!(self.cpu_number(cpu.0)));
        }
    }

    /// Returns the share of a slice's measured duration that belongs to a part of the slice, in ns.
    fn measured_part(&self, id: SliceId, part: &Part) -> i64 {
        let (slices, row) = (&self.trace.slices, id.0 as usize);
        let whole = TimeSpan {
            start: Timestamp(slices.starts.at(row)),
            end: Timestamp(slices.end(row).or_greatest()),
        };
        let drawn = part.end.unwrap_or(whole.end.0).saturating_sub(part.start);
        slices.part_of_duration(row, whole, drawn)
    }

    /// Adds the kind of a slice to its arguments, if its category does not imply it.
    fn add_kind(&self, label: SliceLabel, args: &mut Map<String, Json>) {
        let nesting = match label.family {
            Family::Async => Nesting::Async,
            _ => Nesting::Nested,
        };
        let category = self.trace.strings.bytes(label.category);
        if label.kind != SliceKind::implied(category, nesting) {
            args.entry(SLICE_KIND)
                .or_insert_with(|| json!(label.kind.word()));
        }
    }

    fn instants(&mut self) -> Result<u64, ExportError> {
        let trace = self.trace;
        let mut count = 0;
        for (number, track) in trace.tracks.iter().enumerate() {
            if !self.chosen.has_track(TrackId(number as u32)) {
                continue;
            }
            for at in track.instants.clone() {
                let id = trace.instants.event(InstantId(at));
                let event = trace.events.get(id);
                let is_chosen = self.chosen.has_point(TrackId(number as u32), id);
                if !self.chosen.span.contains(event.row.time) || !is_chosen {
                    continue;
                }
                count += 1;
                if let TrackKind::Async(process) = track.kind {
                    self.async_instant(process, TrackId(number as u32), id)?;
                    continue;
                }
                let kind = trace.kinds.get(event.row.kind.index());
                let names = kind.map(|kind| (kind.category, kind.name));
                let (category, name) = names.unwrap_or_default();
                let fields = self.fields(id);
                let more = format!(",\"s\":\"{}\"", scope_letter(&fields));
                let head = Head {
                    phase: "i",
                    category: &exact(trace, category),
                    name: &exact(trace, name),
                    owner: self.owner_of(track.kind, id),
                };
                let mut args = json_args(fields);
                self.add_interrupted(track.kind, id, &mut args);
                self.add_cpu(event.cpu.map(CpuId), &mut args);
                self.event(&head, When::at(event.row.time.0), &more, Some(args))?;
            }
        }
        Ok(count)
    }

    fn flows(&mut self) -> Result<u64, ExportError> {
        let marks = FlowMarks::new(self.trace, self.chosen, self.loaded.reader.as_ref()).marks;
        let labels = flow_labels(self.trace, &marks);
        for mark in &marks {
            let label = labels.get(mark.flow as usize).copied().unwrap_or_default();
            let next = next_slice(self.trace, self.chosen, mark);
            let event = FlowEvent::new(self.trace, mark, label, next);
            let head = Head {
                phase: event.phase,
                category: &event.category,
                name: &event.name,
                owner: self.flow_owner(mark, next),
            };
            let at = When::at(event.time_ns);
            self.event(&head, at, &event.more, Some(event.args))?;
        }
        Ok(marks.len() as u64)
    }

    /// The process and thread of the slice to which a mark belongs: of `next`, or of the one around it.
    fn flow_owner(&self, mark: &FlowMark, next: Option<SliceId>) -> ThreadKoids {
        let owner = self.koids.thread(mark.thread);
        if self.moved.is_empty() {
            return owner;
        }
        let around = || {
            self.trace
                .innermost_slice(mark.thread, Timestamp(mark.time))
        };
        let slice = next.or_else(around);
        let moved = slice.and_then(|slice| self.moved.get(&slice));
        owner.with_thread(moved.copied().unwrap_or(owner.thread))
    }

    /// Adds a thread that the trace does not have; returns its koid.
    fn extra_thread(&mut self) -> u64 {
        self.extra_threads += 1;
        let koid = EXTRA_THREADS + self.extra_threads;
        self.numbers.add(koid);
        koid
    }
}

/// Returns when a part of an item is written.
fn when(part: &Part) -> When {
    When {
        time: part.start,
        duration: part.end.map(|end| end.saturating_sub(part.start)),
    }
}

/// Adds the arguments that describe where an item is cut, if it is.
fn add_cuts(part: &Part, args: &mut Map<String, Json>) {
    for cut in part.arguments() {
        let value = match cut {
            CutArgument::Time { ns, .. } => json!(ns),
            CutArgument::NeverEnded => json!(true),
        };
        args.entry(cut.name()).or_insert(value);
    }
}

/// Formats nanoseconds as microseconds with three decimals.
fn micros(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let ns = ns.unsigned_abs();
    format!("{sign}{}.{:03}", ns / 1000, ns % 1000)
}

/// The numbers of everything that has a koid.
fn numbers_of(trace: &Trace, koids: &Koids) -> Numbers {
    let processes = (0..trace.processes.len() as u32).map(|id| koids.process(ProcessId(id)));
    let threads = (0..trace.threads.len() as u32).flat_map(|id| {
        let ThreadKoids { process, thread } = koids.thread(ThreadId(id));
        [process, thread]
    });
    let cpus = (0..trace.cpus.len() as u32).flat_map(|id| {
        let thread = koids.cpu(CpuId(id)).thread;
        [thread, thread + RUNS_OFFSET]
    });
    let all = processes.chain(threads).chain(cpus);
    Numbers::new(all.chain([Koids::MACHINE.process]))
}
