//! Helpers of the exporter's tests: small files written in words, and what is read back from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::records::{Arg, ArgValue, EventType, Head, ObjectKey, Records, THREAD};
use super::scheduling_records::{NumberedState, OnCpu, Outgoing, Side};
use super::*;
use crate::base::{TimeSpan, Timestamp};
use crate::event::Field;
use crate::export::{self, Overwrite, Selection};
use crate::load::open;
use crate::trace::{SliceId, ThreadState};

mod choices;
mod copied;
mod edges;
mod exact_bytes;
mod kept;
mod kinds;
mod objects;
mod payloads;
mod ranges;
mod reused_entries;
mod scheduling;
mod several_files;
mod values;
mod whole;

/// Writes a file of the records that `fill` adds.
fn file(folder: &Path, name: &str, fill: impl FnOnce(&mut Records<'_>)) -> PathBuf {
    let tables = tables();
    let mut out = Records::new(&tables);
    out.head_of("test");
    out.well_known_strings();
    fill(&mut out);
    let path = folder.join(name);
    std::fs::write(&path, out.finish().bytes).unwrap();
    path
}

/// Opens a file of the records that `fill` adds.
pub(in crate::export) fn written(
    folder: &Path,
    fill: impl FnOnce(&mut Records<'_>),
) -> LoadedTrace {
    open(&file(folder, "written.fxt", fill), &Job::default()).unwrap()
}

/// Returns the koids of a thread.
pub(in crate::export) fn koids(process: u64, thread: u64) -> ThreadKoids {
    ThreadKoids { process, thread }
}

/// Returns the key of a kernel object.
fn object(object_type: u64, koid: u64) -> ObjectKey {
    ObjectKey { object_type, koid }
}

/// Returns a time on a CPU.
fn on_cpu(time: u64, cpu: u16) -> OnCpu {
    OnCpu { time, cpu }
}

impl Records<'_> {
    /// Writes the name of a thread, and its process: (process, thread).
    fn thread_object(&mut self, (process, koid): (u64, u64), name: &[u8]) {
        let process = Arg::new("process", ArgValue::Koid(process));
        let key = ObjectKey {
            object_type: THREAD,
            koid,
        };
        self.object(key, name, &[process]);
    }

    /// Writes a context switch without arguments, at (ticks, CPU); the state is (number, letters).
    fn context_switch(
        &mut self,
        at: (u64, u16),
        outgoing: Side,
        state: (u8, &'static str),
        incoming: Side,
        border: Option<&Arg<'static>>,
    ) {
        self.prepare(&[]);
        self.switch_with_arguments(at, outgoing, state, incoming, border);
    }

    /// As `context_switch`, with the prepared arguments.
    fn switch_with_arguments(
        &mut self,
        (time, cpu): (u64, u16),
        side: Side,
        (number, letters): (u8, &'static str),
        incoming: Side,
        border: Option<&Arg<'static>>,
    ) {
        let state = NumberedState { number, letters };
        let outgoing = Outgoing { side, state };
        self.prepared_switch(OnCpu { time, cpu }, outgoing, incoming, border);
    }

    /// Writes a wakeup without arguments.
    fn wakeup(&mut self, time: u64, cpu: u16, thread: u64, waker: Option<u64>) {
        self.prepare(&[]);
        self.prepared_wakeup(OnCpu { time, cpu }, thread, waker);
    }
}

fn tables() -> FixedTables {
    FixedTables::new(Zones::FULL, &[], &[], &crate::base::Strings::default(), &[])
}

pub(in crate::export) fn head(event_type: EventType, time: u64, thread: u64) -> Head<'static> {
    Head {
        event_type,
        time,
        thread: koids(10, thread),
        category: super::records::TextRef::EMPTY,
        name: super::records::TextRef::EMPTY,
    }
}

pub(in crate::export) fn complete(
    out: &mut Records<'_>,
    name: &str,
    (start, end): (u64, u64),
    args: &[Arg<'_>],
) {
    let mut args = args.to_vec();
    super::args::fit(&mut args, 3800);
    let name = out.name(name);
    let base = head(EventType::Complete, start, 11);
    out.event(Head { name, ..base }, &args, Some(end));
}

/// Returns a trace of threads 11, 12 and 13 of process 10 from 0 to 1000; see the tests for their events.
fn sample(folder: &Path) -> LoadedTrace {
    written(folder, |out| {
        out.process_object(10, b"game");
        for thread in [11, 12, 13] {
            out.thread_object((10, thread), format!("t{thread}").as_bytes());
        }
        let mut event = |event_type, time, thread, name: &'static str, args: &[Arg<'_>], word| {
            let name = out.name(name);
            out.event(
                Head {
                    name,
                    ..head(event_type, time, thread)
                },
                args,
                word,
            );
        };
        let value = |number| [Arg::new("value", ArgValue::Int64(number))];
        event(EventType::Begin, 0, 11, "outer", &value(1), None);
        event(EventType::Complete, 100, 11, "inner", &value(2), Some(900));
        event(EventType::AsyncBegin, 50, 11, "request", &[], Some(5));
        event(EventType::Counter, 10, 11, "load", &value(1), Some(0));
        event(EventType::Counter, 400, 11, "load", &value(7), Some(0));
        event(EventType::FlowBegin, 150, 11, "work", &[], Some(77));
        event(EventType::Complete, 600, 12, "job", &[], Some(800));
        event(EventType::FlowStep, 650, 12, "work", &[], Some(77));
        event(EventType::Complete, 840, 13, "late", &[], Some(860));
        event(EventType::FlowEnd, 850, 13, "work", &[], Some(77));
        event(EventType::AsyncEnd, 950, 12, "request", &[], Some(5));
        event(EventType::End, 1000, 11, "", &value(3), None);
        let side = |koid, weight| Side::Thread { koid, weight };
        out.context_switch((20, 0), Side::Idle, (1, ""), side(11, 5), None);
        out.context_switch((500, 0), side(11, 5), (3, "D"), side(12, 6), None);
        out.wakeup(800, 0, 11, Some(12));
        out.log(450, koids(10, 12), b"hello");
    })
}

fn cut(folder: &Path, source: &LoadedTrace, selection: &Selection) -> (LoadedTrace, Summary) {
    let path = folder.join("cut.fxt");
    let summary = export::run(
        &EXPORTER,
        source,
        selection,
        &path,
        Overwrite::Replace,
        &Job::default(),
    )
    .unwrap();
    (open(&path, &Job::default()).unwrap(), summary)
}

/// Exports the rows of the model, which a test may have changed, and opens the result: no record is copied.
fn encoded(folder: &Path, source: &LoadedTrace) -> (LoadedTrace, Summary) {
    let request = Request {
        loaded: source,
        chosen: &Chosen::new(&source.trace, &Selection::all()),
        table: None,
        job: &Job::default(),
    };
    let mut bytes = Vec::new();
    let summary = write_as(Zones::FULL, None, &request, &mut bytes).unwrap();
    let path = folder.join("encoded.fxt");
    std::fs::write(&path, bytes).unwrap();
    (open(&path, &Job::default()).unwrap(), summary)
}

fn range(from: i64, until: i64) -> Selection {
    Selection::range(TimeSpan::new(Timestamp(from), Timestamp(until)))
}

/// Returns (name, thread, start, end) of all slices, sorted.
fn slices(loaded: &LoadedTrace) -> Vec<(String, u64, i64, i64)> {
    let trace = &loaded.trace;
    let mut rows: Vec<_> = (0..trace.slices.len() as u32)
        .map(|index| {
            let slice = trace.slices.get(SliceId(index));
            let label = trace.slices.label(slice.id);
            let thread = trace.thread(trace.events.thread(slice.begin)).tid;
            let end = slice.end.map_or(-1, |end| end.0);
            (
                trace.text(label.name).into_owned(),
                thread,
                slice.start.0,
                end,
            )
        })
        .collect();
    rows.sort();
    rows
}

/// As `slices`, with the ends to which unfinished slices are drawn.
fn drawn(loaded: &LoadedTrace) -> Vec<(String, u64, i64, i64)> {
    let trace = &loaded.trace;
    let rows = (0..trace.slices.len() as u32).map(|index| {
        let slice = trace.slices.get(SliceId(index));
        let name = trace.text(trace.slices.label(slice.id).name).into_owned();
        let thread = trace.thread(trace.events.thread(slice.begin)).tid;
        (name, thread, slice.start.0, trace.slice_end(slice.id).0)
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

/// The names of slices whose duration is not known, and how long each lasted at least, in ns.
fn unfinished(loaded: &LoadedTrace) -> Vec<(String, i64)> {
    let trace = &loaded.trace;
    let seen = crate::query::seen::Seen::new(trace);
    let ids = (0..trace.slices.len() as u32).map(SliceId);
    let open = ids.filter(|id| trace.slices.is_unfinished(id.0 as usize));
    let rows = open.map(|id| {
        let name = trace.text(trace.slices.label(id).name).into_owned();
        (name, seen.length(trace, id))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    rows
}

fn arguments(loaded: &LoadedTrace, name: &str) -> BTreeMap<String, String> {
    let trace = &loaded.trace;
    let index = (0..trace.slices.len() as u32)
        .find(|&index| trace.text(trace.slices.label(SliceId(index)).name) == name)
        .unwrap();
    fields_of(loaded, trace.slices.get(SliceId(index)).begin)
}

fn fields_of(loaded: &LoadedTrace, event: EventId) -> BTreeMap<String, String> {
    let event = loaded.trace.events.get(event);
    let detail = loaded.reader.describe(event.into());
    let text = |field: &Field| (field.name.clone(), field.value.to_string());
    detail.fields.iter().map(text).collect()
}

/// Returns thread, state, start and end of all states.
fn states(loaded: &LoadedTrace) -> Vec<(u64, ThreadState, i64, i64)> {
    let (trace, mut found) = (&loaded.trace, Vec::new());
    for (thread, range) in trace.states.of_thread.iter().enumerate() {
        for row in range.start as usize..range.end as usize {
            let states = &trace.states;
            let tid = trace.threads[thread].tid;
            found.push((
                tid,
                states.states[row],
                states.starts[row],
                states.ends[row].or_greatest(),
            ));
        }
    }
    found
}
