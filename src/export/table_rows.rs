//! The rows of the tables: one function for each, in the order of [`TABLES`](super::tables::TABLES).

use super::Chosen;
use super::build_tables;
use super::rows::{Cell, RowWriter};
use crate::base::strings::exact_text;
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::event::{FieldRef, FileOp, Interrupt, ValueRef};
use crate::load::LoadedTrace;
use crate::query;
use crate::query::waker::Waker;
use crate::trace::counters::CounterScope;
use crate::trace::{
    CounterTrackId, EventId, ProcessId, RunId, SliceId, StateId, ThreadId, Trace, TrackId,
    TrackKind,
};

pub(super) fn blobs(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let all = query::blobs::blobs(&loaded.trace, loaded.reader.as_ref());
    for (number, blob) in all.into_iter().enumerate() {
        if chosen.span.contains(blob.time) {
            rows.row(&[
                (number as u64).into(),
                blob.time.0.into(),
                blob.name.into(),
                blob.category.into(),
                blob.sort.into(),
                blob.size_bytes.into(),
            ])?;
        }
    }
    Ok(())
}

/// The end of something that may not have ended.
fn until(end: Option<Timestamp>) -> Timestamp {
    end.unwrap_or(Timestamp::MAX)
}

pub(super) fn meets(span: TimeSpan, start: Timestamp, end: Timestamp) -> bool {
    start < span.end && (end > span.start || (start == end && start >= span.start))
}

fn duration(start: Timestamp, end: Option<Timestamp>) -> Cell {
    end.map(|end| (end - start).0).into()
}

fn text_or_none(trace: &Trace, id: StringId) -> Cell {
    if id == StringId::EMPTY {
        Cell::None
    } else {
        Cell::of_string(trace, id)
    }
}

/// pid, tid of a thread.
fn owner(trace: &Trace, id: ThreadId) -> (Cell, Cell) {
    if id == ThreadId::NONE || id == ThreadId::IDLE {
        return (
            Cell::None,
            if id == ThreadId::IDLE {
                0_u32.into()
            } else {
                Cell::None
            },
        );
    }
    (
        trace.process_of(id).map(|process| process.pid).into(),
        trace.thread(id).tid.into(),
    )
}

pub(super) fn track_name(trace: &Trace, id: TrackId) -> String {
    let Some(track) = trace.tracks.get(id.0 as usize) else {
        return String::new();
    };
    match track.kind {
        _ if track.name != StringId::EMPTY => {
            exact_text(trace.strings.bytes(track.name)).into_owned()
        }
        TrackKind::Cpu(cpu) => format!(
            "CPU {}",
            trace
                .cpus
                .get(cpu.0 as usize)
                .map_or(cpu.0, |cpu| cpu.number)
        ),
        TrackKind::Thread(thread) => trace.thread_name(thread),
        TrackKind::Async(_) => String::new(),
    }
}

fn cpu_number(trace: &Trace, index: Option<u32>) -> Cell {
    index
        .and_then(|index| trace.cpus.get(index as usize))
        .map(|cpu| cpu.number)
        .into()
}

pub(super) fn slices(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    let table = &trace.slices;
    let depths = table.depths();
    let mut order: Vec<u32> = (0..table.len() as u32).collect();
    order.sort_by_key(|&id| {
        (
            table.starts.at(id as usize),
            table.begins.at(id as usize),
            depths[id as usize],
        )
    });
    for id in order {
        let slice = table.get(SliceId(id));
        // One whose end was lost is over where it is drawn up to.
        let end = Timestamp(table.open_end(id as usize));
        if !meets(span, slice.start, end) {
            continue;
        }
        let label = table.label(slice.id);
        let row = table.row_of(slice.id);
        if !chosen.has_slice(row.track, id as usize) {
            continue;
        }
        let kind = trace
            .tracks
            .get(row.track.0 as usize)
            .map(|track| track.kind);
        let thread = match kind {
            Some(TrackKind::Thread(thread)) => thread,
            _ => trace.events.thread(slice.begin),
        };
        let (mut pid, mut tid) = owner(trace, thread);
        if let Some(TrackKind::Async(Some(process))) = kind {
            pid = trace
                .processes
                .get(process.0 as usize)
                .map(|process| process.pid)
                .into();
        }
        if matches!(kind, Some(TrackKind::Cpu(_))) && thread == ThreadId::IDLE {
            tid = 0_u32.into();
        }
        let process = trace
            .process_of(thread)
            .map(|process| Cell::of_string(trace, process.name));
        rows.row(&[
            slice.start.0.into(),
            slice.duration().map(|length| length.0).into(),
            depths[id as usize].into(),
            Cell::of_string(trace, label.name),
            text_or_none(trace, label.category),
            pid,
            tid,
            process.into(),
            trace.thread_name(thread).into(),
            track_name(trace, row.track).into(),
            id.into(),
            slice.parent.map(|parent| parent.0).into(),
        ])?;
    }
    Ok(())
}

pub(super) fn instants(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    let mut order: Vec<(Timestamp, u32, u32)> = Vec::with_capacity(trace.instants.len());
    for (track, row) in trace.tracks.iter().enumerate() {
        for event in trace.instants.of(&row.instants) {
            order.push((trace.events.time(EventId(event)), event, track as u32));
        }
    }
    order.sort_unstable();
    for (time, event, track) in order {
        let is_chosen = chosen.has_point(TrackId(track), EventId(event));
        if !span.contains(time) || !is_chosen {
            continue;
        }
        let event = trace.events.get(EventId(event));
        let kind = trace.kinds.get(usize::from(event.row.kind.0));
        let (pid, tid) = owner(trace, trace.events.thread(event.id));
        rows.row(&[
            time.0.into(),
            trace.kind_name(event.row.kind).into(),
            kind.map_or(Cell::None, |kind| text_or_none(trace, kind.category)),
            pid,
            tid,
            cpu_number(trace, event.cpu),
            track_name(trace, TrackId(track)).into(),
        ])?;
    }
    Ok(())
}

pub(super) fn counters(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    let table = &trace.counters;
    let mut order: Vec<(i64, u32, u32, u32)> = Vec::with_capacity(table.times.len());
    for (number, track) in table.tracks.iter().enumerate() {
        let key = |row: u32| {
            (
                table.times[row as usize],
                table.events[row as usize],
                row,
                number as u32,
            )
        };
        order.extend(track.samples.clone().map(key));
    }
    order.sort_unstable();
    for (time, _, row, number) in order {
        if !span.contains(Timestamp(time)) {
            continue;
        }
        let track = &table.tracks[number as usize];
        if !chosen.has_sample(CounterTrackId(number), row) {
            continue;
        }
        let (pid, cpu) = match track.scope {
            CounterScope::Process(id) => (
                trace
                    .processes
                    .get(id.0 as usize)
                    .map(|process| process.pid)
                    .into(),
                Cell::None,
            ),
            CounterScope::Thread(id) => (owner(trace, id).0, Cell::None),
            CounterScope::Cpu(id) => (Cell::None, cpu_number(trace, Some(id.0))),
            CounterScope::Global => (Cell::None, Cell::None),
        };
        rows.row(&[
            time.into(),
            Cell::of_string(trace, track.name),
            counter_value(loaded, row as usize, trace.strings.bytes(track.name)),
            pid,
            cpu,
        ])?;
    }
    Ok(())
}

/// The value of a counter's sample. Whole numbers that the table's has no room for are those of the event.
fn counter_value(loaded: &LoadedTrace, row: usize, track: &[u8]) -> Cell {
    let table = &loaded.trace.counters;
    let value = table.values[row];
    if value.abs() < MOST_EXACT || table.events[row] == u32::MAX {
        return Cell::Float(value);
    }
    let mut fields = Vec::new();
    let event = loaded.trace.events.get(EventId(table.events[row]));
    loaded.reader.fields_into(event.into(), &mut fields);
    let whole = |field: &FieldRef<'_>| {
        let whole = match field.value {
            ValueRef::Int(number) if number as f64 == value => i128::from(number),
            ValueRef::UInt(number) if number as f64 == value => i128::from(number),
            _ => return None,
        };
        let is_called_so = track.ends_with(field.name.as_bytes());
        Some((is_called_so, field.name.len(), whole))
    };
    // Of several that fit it is the one which the counter is called after.
    let best = fields
        .iter()
        .filter_map(whole)
        .max_by_key(|&(is_called_so, length, _)| (is_called_so, length));
    best.map_or(Cell::Float(value), |(_, _, whole)| Cell::Int(whole))
}

/// Whole numbers below are exact as floating point numbers.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn flows(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for (id, flow) in trace.flows.rows.iter().enumerate() {
        let is_chosen = chosen.has_track_of(flow.from.thread)
            && chosen.has_track_of(flow.to.thread)
            && chosen.has_cpu_of(flow.from.event)
            && chosen.has_cpu_of(flow.to.event);
        if !is_chosen || !flow.has_end_in(span) {
            continue;
        }
        rows.row(&[
            (id as u32).into(),
            Cell::of_string(trace, flow.name),
            flow.from.time.0.into(),
            owner(trace, flow.from.thread).1,
            flow.to.time.0.into(),
            owner(trace, flow.to.thread).1,
            flow.key.into(),
            flow.from.slice.map(|slice| slice.0).into(),
            flow.to.slice.map(|slice| slice.0).into(),
        ])?;
    }
    Ok(())
}

pub(super) fn runs(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    let mut order: Vec<u32> = (0..trace.runs.len() as u32).collect();
    order.sort_by_key(|&id| trace.runs.starts[id as usize]);
    for id in order {
        let run = trace.runs.get(RunId(id));
        let is_chosen = chosen.has_run(run.cpu, run.thread);
        if !is_chosen || !meets(span, run.start, until(run.end)) {
            continue;
        }
        let (pid, tid) = owner(trace, run.thread);
        rows.row(&[
            run.start.0.into(),
            duration(run.start, trace.run_end(&run)),
            cpu_number(trace, Some(run.cpu.0)),
            pid,
            tid,
            trace.thread_name(run.thread).into(),
            run.priority.into(),
            (trace.run_end(&run).map(|_| run.end_state.letters())).into(),
        ])?;
    }
    Ok(())
}

pub(super) fn states(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    let mut order: Vec<u32> = (0..trace.states.len() as u32).collect();
    order.sort_by_key(|&id| trace.states.starts[id as usize]);
    for id in order {
        let state = trace.states.get(StateId(id));
        if !chosen.has_states_of(state.thread) || !meets(span, state.start, until(state.end)) {
            continue;
        }
        // The dead stay dead: who died before the range is not in it.
        let died = trace.over_at(state.thread);
        if died.is_some_and(|end| end <= span.start) {
            continue;
        }
        let waker = query::waker::waker_of(trace, &state);
        let interrupt = match &waker {
            Some(Waker::Interrupt(interrupt)) => {
                Some(interrupt.kind.map_or("interrupt", Interrupt::word))
            }
            _ => None,
        };
        rows.row(&[
            state.start.0.into(),
            duration(state.start, trace.state_end(&state)),
            state.state.word().into(),
            owner(trace, state.thread).1,
            trace.thread_name(state.thread).into(),
            (waker.as_ref().and_then(Waker::thread))
                .map_or(Cell::None, |waker| owner(trace, waker).1),
            cpu_number(trace, state.cpu),
            waker.map(|waker| waker.text(trace)).into(),
            interrupt.map(str::to_owned).into(),
            u32::from(state.notes.spans_loss()).into(),
        ])?;
    }
    Ok(())
}

/// Whether a life, of which either end may not be known, meets `span`.
fn lives_in(
    span: TimeSpan,
    trace: &Trace,
    (start, end): (Option<Timestamp>, Option<Timestamp>),
) -> bool {
    meets(span, start.unwrap_or(trace.span.start), until(end))
}

pub(super) fn processes(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for (id, process) in trace.processes.iter().enumerate() {
        if !chosen.has_process(ProcessId(id as u32))
            || !lives_in(span, trace, (process.start, process.end))
        {
            continue;
        }
        rows.row(&[
            (id as u32).into(),
            process.key.into(),
            process.pid.into(),
            process.parent.map(|parent| parent.0).into(),
            Cell::of_string(trace, process.name),
            process.start.map(|time| time.0).into(),
            process.end.map(|time| time.0).into(),
            process.exit_status.into(),
            (process.images.len() as u32).into(),
            process.opens.into(),
            build_tables::arguments_cell(trace, ProcessId(id as u32)),
            process.exit_signal.into(),
        ])?;
    }
    Ok(())
}

pub(super) fn threads(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for (id, thread) in trace.threads.iter().enumerate().skip(1) {
        let over = trace.over_at(ThreadId(id as u32));
        if !chosen.has_thread(ThreadId(id as u32)) || !lives_in(span, trace, (thread.start, over)) {
            continue;
        }
        rows.row(&[
            (id as u32).into(),
            thread.key.into(),
            thread.tid.into(),
            trace
                .process_of(ThreadId(id as u32))
                .map(|process| process.pid)
                .into(),
            Cell::of_string(trace, thread.name),
            thread.start.map(|time| time.0).into(),
            thread.end.map(|time| time.0).into(),
        ])?;
    }
    Ok(())
}

pub(super) fn files(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for row in trace
        .files
        .rows
        .iter()
        .filter(|row| span.contains(row.time) && chosen.has_thread(row.thread))
    {
        let mode = match (row.op, row.flags & 3) {
            (FileOp::Open, 0) => "r".into(),
            (FileOp::Open, 1) => "w".into(),
            (FileOp::Open, _) => "rw".into(),
            _ => Cell::None,
        };
        rows.row(&[
            row.time.0.into(),
            owner(trace, row.thread).0,
            text_or_none(trace, row.path),
            mode,
            (row.fd >= 0).then_some(row.fd).into(),
            row.result.into(),
            format!("{:?}", row.op).to_lowercase().into(),
            text_or_none(trace, row.other_path),
            row.flags.into(),
        ])?;
    }
    Ok(())
}

pub(super) fn events(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for id in trace.events.from_time(span.start) {
        let event = trace.events.get(id);
        if event.row.time >= span.end && span.end != Timestamp::MAX {
            break;
        }
        if !chosen.has_event(id) {
            continue;
        }
        let kind = trace.kinds.get(usize::from(event.row.kind.0));
        rows.row(&[
            event.row.time.0.into(),
            cpu_number(trace, event.cpu),
            owner(trace, trace.events.thread(id)).1,
            trace.kind_name(event.row.kind).into(),
            kind.map_or(Cell::None, |kind| text_or_none(trace, kind.category)),
            id.0.into(),
        ])?;
    }
    Ok(())
}

pub(super) fn logs(
    loaded: &LoadedTrace,
    chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let span = chosen.span;
    for row in trace
        .logs
        .rows
        .iter()
        .filter(|row| span.contains(row.time) && chosen.has_log(row))
    {
        let (pid, tid) = owner(trace, row.thread);
        rows.row(&[
            row.time.0.into(),
            text_or_none(trace, row.severity),
            pid,
            tid,
            Cell::of_string(trace, row.message),
        ])?;
    }
    Ok(())
}

pub(super) fn diagnostics(
    loaded: &LoadedTrace,
    _chosen: &Chosen<'_>,
    rows: &mut RowWriter<'_>,
) -> std::io::Result<()> {
    for row in loaded.trace.diagnostics.rows() {
        let severity = match row.severity {
            crate::base::Severity::Info => "info",
            crate::base::Severity::Error => "error",
            crate::base::Severity::DataLoss => "data_loss",
        };
        rows.row(&[
            severity.into(),
            row.code.into(),
            row.count.into(),
            row.places.first().map(ToString::to_string).into(),
            row.message.as_str().into(),
        ])?;
    }
    Ok(())
}
