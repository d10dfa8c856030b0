//! Chrome's JSON trace event format: for `chrome://tracing`, Perfetto and scripts.
//!
//! Finished slices are `X`, unfinished ones `B`; instants `i` with their scope, counters `C` (see `counter_events`),
//! flows `s` `t` `f` (bound to the slice around them, see `flow_labels`), asynchronous slices `b` `n` `e` (with an
//! `id2` that is local to their process, or global if they belong to no process), names `M`. Slices of one thread nest:
//! slices that cross others are on an extra thread (`shared::layers`). Runs and interrupts of a CPU are in a process
//! called `CPU n`, states of threads and their wakeups on threads called `NAME states` (`scheduling`), losses are
//! instants (`losses`); the name record of a process or thread that only exists in the file contains what it
//! `stands_for`, so that our reader can restore the trace. Times are microseconds with three decimals, so that no
//! nanosecond is lost; numbers above 2^53 are texts, ids above 32 bits have stand-ins (see `shared::numbers`). Slices,
//! runs and states that reach over a border are cut there and have arguments that state it (see `shared::borders`).
//! Arguments that share a name become a list.

mod counter_events;
mod event_parts;
mod flow_events;
mod flow_labels;
mod losses;
mod scheduling;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::io::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value as Json, json};

use super::shared::arguments::{arguments, async_id, async_id_in, merge};
use super::shared::async_ids::AsyncIds;
use super::shared::borders::{Borders, CutArgument, EndCut, Part};
use super::shared::flow_marks::{FlowMark, FlowMarks};
use super::shared::koids::Koids;
use super::shared::layers::{Layer, PlacedSlice, placed_slices};
use super::shared::losses::cpus as losses_of_cpus;
use super::shared::met::met;
use super::shared::numbers::{AsyncId, AsyncNumbers, Numbers, exact_number};
use super::{Chosen, ExportError, ExportedText, Exporter, Request, Summary};
use crate::base::{Job, StringId, TimeSpan, Timestamp};
use crate::event::family::Family;
use crate::event::slice_kind::{Nesting, SLICE_CATEGORY, SLICE_KIND, SliceKind};
use crate::event::{FieldRef, OWN_WRITER, SEEN_UNTIL};
use crate::export::shared::{ThreadKoids, interrupted};
use crate::formats::EventRef;
use crate::load::LoadedTrace;
use crate::tables::items::track_name;
use crate::trace::slices::SliceLabel;
use crate::trace::{
    CpuId, EventId, InstantId, ProcessId, SliceId, ThreadId, Trace, TrackId, TrackKind,
};
use event_parts::{Head, Name, OwnNumber, StandsFor, When};
use flow_events::FlowEvent;
use flow_labels::flow_labels;
use values::{exact, json_args, json_object, scope_letter};

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "chrome-json",
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
        async_numbers: AsyncNumbers::default(),
        mixed_tracks: mixed_tracks(trace),
        categories_of_ids: FxHashMap::default(),
        outermost: FxHashMap::default(),
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
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"writer\":\"{OWN_WRITER} {}\",\"{SEEN_UNTIL}\":{}}},\
         \"traceEvents\":[",
        env!("CARGO_PKG_VERSION"),
        writer.borders.last_moment()
    )?;
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
    async_numbers: AsyncNumbers,
    /// Asynchronous tracks with slices that threads of other processes began: their ids are of the whole trace.
    mixed_tracks: FxHashSet<TrackId>,
    /// The categories of the outermost asynchronous slices with an id, for their instants.
    categories_of_ids: FxHashMap<AsyncId, Vec<StringId>>,
    /// The outermost slices around asynchronous ones, as far as they are known.
    outermost: FxHashMap<SliceId, SliceId>,
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

    fn names(&mut self) -> Result<(), ExportError> {
        let trace = self.trace;
        let met = met(trace, self.chosen);
        let threads = (1..trace.threads.len() as u32).map(ThreadId);
        let threads: Vec<ThreadId> = threads
            .filter(|&id| self.chosen.has_thread(id) || met.contains(&id))
            .collect();
        let homes: FxHashSet<ProcessId> = (threads.iter())
            .filter_map(|&id| trace.thread(id).process)
            .collect();
        for (index, process) in trace.processes.iter().enumerate() {
            let id = ProcessId(index as u32);
            if self.chosen.has_process(id) || homes.contains(&id) {
                let koid = self.koids.process(id);
                let own = OwnNumber {
                    word: "pid",
                    number: process.pid,
                    koid,
                };
                self.name(&Name {
                    what: "process_name",
                    owner: ThreadKoids::of_process(koid),
                    name: &exact(trace, process.name),
                    own: Some(own),
                    stands_for: None,
                })?;
                let owner = ThreadKoids::of_process(koid);
                if let Some(rank) = process.rank {
                    self.fact("process_sort_index", owner, "sort_index", json!(rank))?;
                }
                if process.labels != StringId::EMPTY {
                    let labels = json!(exact(trace, process.labels));
                    self.fact("process_labels", owner, "labels", labels)?;
                }
            }
        }
        for id in threads {
            let thread = trace.thread(id);
            let owner = self.koids.thread(id);
            let own = OwnNumber {
                word: "tid",
                number: thread.tid,
                koid: owner.thread,
            };
            self.name(&Name {
                what: "thread_name",
                owner,
                name: &exact(trace, thread.name),
                own: Some(own),
                stands_for: None,
            })?;
            if let Some(rank) = thread.rank {
                self.fact("thread_sort_index", owner, "sort_index", json!(rank))?;
            }
        }
        let lossy: FxHashSet<CpuId> = losses_of_cpus(trace, self.chosen).collect();
        for id in (0..trace.cpus.len() as u32).map(CpuId) {
            if self.chosen.has_runs_of(id) || lossy.contains(&id) {
                let owner = self.koids.cpu(id);
                let name = self.koids.cpu_name(trace, id);
                for what in ["process_name", "thread_name"] {
                    self.name(&Name {
                        what,
                        owner,
                        name: &name,
                        own: None,
                        stands_for: Some(StandsFor::Cpu(self.cpu_number(id.0))),
                    })?;
                }
                self.name(&Name {
                    what: "thread_name",
                    owner: owner.with_thread(owner.thread + RUNS_OFFSET),
                    name: &format!("{name} runs"),
                    own: None,
                    stands_for: Some(StandsFor::Runs),
                })?;
            }
        }
        Ok(())
    }

    /// Writes the name of a process or thread, and its own number if a stand-in replaces the koid.
    fn name(&mut self, of: &Name<'_>) -> Result<(), ExportError> {
        let own = (of.own.as_ref()).filter(|own| self.numbers.is_other(own.koid));
        let name = match own {
            Some(OwnNumber { word, number, .. }) if of.name.is_empty() => {
                Cow::from(format!("{word} {number}"))
            }
            _ => Cow::from(of.name),
        };
        if name.is_empty() {
            return Ok(());
        }
        let mut args = Map::new();
        args.insert("name".to_owned(), json!(name));
        if let Some(OwnNumber { word, number, .. }) = own {
            args.insert((*word).to_owned(), exact_number(*number));
        }
        if let Some(stands_for) = of.stands_for {
            if let StandsFor::Cpu(number) = stands_for {
                args.insert("cpu".to_owned(), json!(number));
            }
            let word = match stands_for {
                StandsFor::Cpu(_) => json!("cpu"),
                StandsFor::Runs => json!("runs"),
                StandsFor::Thread(koid) => json!(self.numbers.of(koid)),
            };
            args.insert("stands_for".to_owned(), word);
        }
        let head = Head {
            phase: "M",
            category: "",
            name: of.what,
            owner: of.owner,
        };
        self.event(&head, When::at(0), "", Some(args))
    }

    /// Writes a metadata event with one argument about a process or thread.
    fn fact(
        &mut self,
        what: &'static str,
        owner: ThreadKoids,
        argument: &'static str,
        value: Json,
    ) -> Result<(), ExportError> {
        let head = Head {
            phase: "M",
            category: "",
            name: what,
            owner,
        };
        let args = Map::from_iter([(argument.to_owned(), value)]);
        self.event(&head, When::at(0), "", Some(args))
    }

    fn owner_of(&self, kind: TrackKind, event: EventId) -> ThreadKoids {
        match kind {
            TrackKind::Cpu(cpu) => self.koids.cpu(cpu),
            TrackKind::Thread(thread) => self.koids.thread(thread),
            TrackKind::Nobody => Koids::MACHINE,
            TrackKind::Async(process) => {
                let own = self.koids.thread(self.trace.events.thread(event));
                let process = process.map(|process| self.koids.process(process));
                ThreadKoids {
                    process: process.unwrap_or(own.process),
                    ..own
                }
            }
        }
    }

    /// Returns the kind of an asynchronous track, without its process if its ids are of the whole trace.
    fn async_kind(&self, id: TrackId) -> TrackKind {
        match self.trace.tracks.get(id.0 as usize).map(|track| track.kind) {
            Some(kind) if !self.mixed_tracks.contains(&id) => kind,
            _ => TrackKind::Async(None),
        }
    }

    fn slices(&mut self) -> Result<u64, ExportError> {
        let trace = self.trace;
        let loaded = self.loaded;
        let reader = loaded.reader.as_ref();
        let own_id = |id: EventId| async_id(reader, trace.events.get(id).into());
        let async_ids = AsyncIds::new(trace, self.chosen, &own_id);
        let mut count = 0;
        for (track, id) in trace.tracks.iter().zip((0..).map(TrackId)) {
            if !self.chosen.has_track(id) {
                continue;
            }
            let mut threads: FxHashMap<Layer, u64> = FxHashMap::default();
            for PlacedSlice { slice, layer, .. } in placed_slices(trace, self.chosen, id) {
                count += 1;
                if let TrackKind::Async(_) = track.kind {
                    self.async_slice(id, slice, async_ids.of_slice(slice))?;
                    continue;
                }
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
                self.slice(track.kind, own.with_thread(thread), slice)?;
            }
        }
        Ok(count)
    }

    fn slice(
        &mut self,
        kind: TrackKind,
        owner: ThreadKoids,
        id: SliceId,
    ) -> Result<(), ExportError> {
        let slice = self.trace.slices.get(id);
        let label = self.trace.slices.label(id);
        // A slice whose end was not seen ends at the time to which it is drawn: without an end, readers would use
        // the end of the next slice for it.
        let part = self.borders.of_slice(self.trace, id.0 as usize);
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

    /// Adds the thread that ran when an event of a CPU track was recorded, unless the CPU was idle.
    fn add_interrupted(&self, kind: TrackKind, event: EventId, args: &mut Map<String, Json>) {
        if let Some(thread) = interrupted(kind, self.trace.events.thread(event)) {
            let thread = self.koids.thread(thread);
            self.add_thread(["interrupted_pid", "interrupted_tid"], thread, args);
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

    fn async_slice(&mut self, track: TrackId, id: SliceId, number: u64) -> Result<(), ExportError> {
        let slice = self.trace.slices.get(id);
        let label = self.trace.slices.label(id);
        // The format joins what has one category and one id, so slices inside each other share a category.
        let own_category = exact(self.trace, label.category);
        let outermost = self.outermost(id).category;
        let category = exact(self.trace, outermost);
        let name = exact(self.trace, label.name);
        let fields = self.fields(slice.begin);
        let number = self.async_id(slice.begin, async_id_in(&fields).unwrap_or(number));
        let known = self.categories_of_ids.entry(number).or_default();
        if !known.contains(&outermost) {
            known.push(outermost);
        }
        let kind = self.async_kind(track);
        let id = async_id_text(kind, self.async_numbers.of(number));
        let head = Head {
            phase: "b",
            category: &category,
            name: &name,
            owner: self.owner_of(kind, slice.begin),
        };
        let part = self.borders.of_slice(self.trace, slice.id.0 as usize);
        let mut args = json_args(fields);
        self.add_kind(label, &mut args);
        if category != own_category {
            add_category(&own_category, &mut args);
        }
        add_cuts(&part, &mut args);
        self.event(&head, When::at(part.start), &id, Some(args))?;
        if let Some(end) = part.end {
            let finish = slice.finish.filter(|_| part.cut.is_none());
            let mut args = finish.map(|finish| json_args(self.fields(finish)));
            if slice.end.is_none() && part.cut != Some(EndCut::Never) {
                let args = args.get_or_insert_default();
                args.insert("end_not_seen".to_owned(), json!(true));
            }
            if category != own_category {
                add_category(&own_category, args.get_or_insert_default());
            }
            let head = Head { phase: "e", ..head };
            self.event(&head, When::at(end), &id, args)?;
        }
        Ok(())
    }

    /// Returns an id with the file of the event that has it.
    fn async_id(&self, event: EventId, id: u64) -> AsyncId {
        let file = self.trace.source_of(event.0, |source| &source.events);
        AsyncId {
            file: file.map_or(0, |file| file.0),
            id,
        }
    }

    /// Returns the label of the outermost slice around a slice, or its own.
    fn outermost(&mut self, id: SliceId) -> SliceLabel {
        let slices = &self.trace.slices;
        let mut path = Vec::new();
        let mut at = id;
        // Steps over what is known already, so that deep nesting costs no more than shallow.
        while let Some(parent) = slices.parent(at.0 as usize) {
            path.push(at);
            at = self.outermost.get(&at).copied().unwrap_or(parent);
        }
        self.outermost
            .extend(path.into_iter().map(|below| (below, at)));
        slices.label(at)
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
                let kind = trace.kinds.get(event.row.kind.index());
                let own_label = kind.map_or(StringId::EMPTY, |kind| kind.category);
                let category = exact(trace, own_label);
                let name = trace.kind_name(event.row.kind);
                let fields = self.fields(id);
                let async_id = async_id_in(&fields);
                let place = match track.kind {
                    TrackKind::Async(_) => self.async_kind(TrackId(number as u32)),
                    kind => kind,
                };
                let own_category = category.clone();
                let (phase, category, more) = match (place, async_id) {
                    (TrackKind::Async(_), Some(number)) => {
                        let number = self.async_id(id, number);
                        let around = self.categories_of_ids.get(&number);
                        let around = around.filter(|around| !around.contains(&own_label));
                        let around = around.and_then(|around| around.first());
                        let category = around.map_or(category, |&around| exact(trace, around));
                        let id = async_id_text(place, self.async_numbers.of(number));
                        ("n", category, id)
                    }
                    _ => (
                        "i",
                        category,
                        format!(",\"s\":\"{}\"", scope_letter(&fields)),
                    ),
                };
                let head = Head {
                    phase,
                    category: &category,
                    name: &name,
                    owner: self.owner_of(place, id),
                };
                let mut args = json_args(fields);
                if category != own_category {
                    add_category(&own_category, &mut args);
                }
                self.add_interrupted(track.kind, id, &mut args);
                self.event(&head, When::at(event.row.time.0), &more, Some(args))?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn flows(&mut self) -> Result<u64, ExportError> {
        let marks = FlowMarks::new(self.trace, self.chosen, self.loaded.reader.as_ref()).marks;
        let labels = flow_labels(self.trace, &marks);
        for mark in &marks {
            let label = labels.get(mark.flow as usize).copied().unwrap_or_default();
            let event = FlowEvent::new(self.trace, mark, label);
            let head = Head {
                phase: event.phase,
                category: &event.category,
                name: &event.name,
                owner: self.flow_owner(mark),
            };
            let at = When::at(event.time_ns);
            self.event(&head, at, &event.more, Some(event.args))?;
        }
        Ok(marks.len() as u64)
    }

    /// The process and thread of the slice to which a mark belongs.
    fn flow_owner(&self, mark: &FlowMark) -> ThreadKoids {
        let owner = self.koids.thread(mark.thread);
        if self.moved.is_empty() {
            return owner;
        }
        let slice = self
            .trace
            .innermost_slice(mark.thread, Timestamp(mark.time));
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

    /// Writes the name of a `thread` from `extra_thread` that has events of `own`.
    fn name_extra(&mut self, own: ThreadKoids, thread: u64, name: &str) -> Result<(), ExportError> {
        self.name_count += 1;
        self.name(&Name {
            what: "thread_name",
            owner: own.with_thread(thread),
            name,
            own: None,
            stands_for: Some(StandsFor::Thread(own.thread)),
        })
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

/// Adds the category of an asynchronous event that is written with the category of the outermost slice around it.
fn add_category(own: &str, args: &mut Map<String, Json>) {
    args.entry(SLICE_CATEGORY).or_insert_with(|| json!(own));
}

/// Returns the asynchronous tracks of processes on which threads of other processes began slices.
fn mixed_tracks(trace: &Trace) -> FxHashSet<TrackId> {
    let mut found = FxHashSet::default();
    for (track, id) in trace.tracks.iter().zip((0..).map(TrackId)) {
        let TrackKind::Async(Some(process)) = track.kind else {
            continue;
        };
        let rows = trace.slices.rows_of(track).iter();
        let mut slices = rows.flat_map(|row| row.slices.clone());
        let is_mixed = slices.any(|slice| {
            let begin = EventId(trace.slices.begins.at(slice as usize));
            let thread = trace.events.thread(begin);
            let own = thread.and_then(|thread| trace.thread(thread).process);
            own.is_some_and(|own| own != process)
        });
        if is_mixed {
            found.insert(id);
        }
    }
    found
}

/// The JSON member that joins the events of an asynchronous slice: its id in its process, or in the whole trace.
fn async_id_text(kind: TrackKind, number: u64) -> String {
    match kind {
        TrackKind::Async(None) => format!(",\"id2\":{{\"global\":\"{number:#x}\"}}"),
        _ => format!(",\"id2\":{{\"local\":\"{number:#x}\"}}"),
    }
}
