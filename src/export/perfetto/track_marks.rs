//! The rows of a trace that are not ftrace events, as marks: slices, instants and samples (see `windows`), then arrows
//! without slices, losses, runs and states.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::context::Context;
use super::lanes::{Lane, Side};
use super::marks::{ArrowEnd, Mark, What};
use super::sources::Machine;
use super::tasks::{TaskCounts, for_each_task};
use super::track_events::MarkWriter;
use super::tracks::{Parent, TrackUuid};
use super::windows::{Agenda, Buckets};
use crate::base::strings::exact_text;
use crate::base::{Maybe, StringId, order};
use crate::export::ExportError;
use crate::export::shared::layers::{Layer, Layers};
use crate::export::shared::losses::chosen_rows;
use crate::tables::items::track_name;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, EventId, GapId, InstantId, TrackId, TrackKind};

/// Numbers of rows that were written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowCounts {
    pub slices: u64,
    pub instants: u64,
    pub samples: u64,
    pub tasks: TaskCounts,
}

/// The name of an asynchronous track that has none.
const UNNAMED_ASYNC: &str = "asynchronous";
/// The name of the track of losses.
pub(super) const LOSSES: &str = "lost events";

/// Writes all marks.
pub(super) fn write_marks(writer: &mut MarkWriter<'_, '_, '_>) -> Result<RowCounts, ExportError> {
    let mut counts = RowCounts::default();
    let context = writer.context;
    write_streams(writer, &mut counts)?;
    for point in &writer.arrows.points {
        let flow = context.trace.flows.rows.get(point.arrow as usize);
        let thread = flow.and_then(|flow| match point.end {
            ArrowEnd::From => flow.from.thread,
            ArrowEnd::To => flow.to.thread,
        });
        let track = writer.tracks.thread(thread);
        writer.mark(Mark {
            time: point.time,
            what: What::Arrow {
                track,
                arrow: point.arrow,
                end: point.end,
            },
        })?;
    }
    write_lone_flows(writer)?;
    write_losses(writer)?;
    counts.tasks = for_each_task(context, |mark| writer.mark(mark))?;
    writer.flush()?;
    Ok(counts)
}

/// Where marks come from that are in order of time.
#[derive(Clone, Copy)]
enum Source {
    Slices(TrackId),
    Instants(TrackId),
    Samples(CounterTrackId),
}

/// A source of marks; some of its marks were already written.
enum Stream {
    Slices(Box<SliceStream>),
    Instants(InstantStream),
    Samples(SampleStream),
}

/// Writes slices, instants and samples.
fn write_streams(
    writer: &mut MarkWriter<'_, '_, '_>,
    counts: &mut RowCounts,
) -> Result<(), ExportError> {
    let context = writer.context;
    let mut agenda = Agenda::new(context);
    let sources = sources(context);
    for (number, source) in (0_u32..).zip(&sources) {
        if let Some(time) = source.first_time(context).get() {
            agenda.add(number, time);
        }
    }
    let mut streams: FxHashMap<u32, Stream> = FxHashMap::default();
    for index in 0..agenda.len() {
        let stretch = agenda.take(index);
        let until = stretch.end();
        let mut marks = Buckets::new(stretch.ends);
        for number in stretch.due {
            writer.check()?;
            let Some(&source) = sources.get(number as usize) else {
                continue;
            };
            let stream = streams.entry(number);
            let stream = stream.or_insert_with(|| Stream::new(context, source));
            match stream.mark_until(writer, &mut marks, until).get() {
                Some(next) => agenda.add(number, next),
                None => {
                    let done = streams.remove(&number);
                    done.into_iter().for_each(|done| done.add_to(counts));
                }
            }
        }
        for marks in marks.into_windows() {
            writer.window(marks)?;
        }
    }
    Ok(())
}

/// Returns what is chosen, in the order in which marks of a window are written.
fn sources(context: &Context<'_>) -> Vec<Source> {
    let (trace, chosen) = (context.trace, context.chosen);
    let tracks = (0..trace.tracks.len() as u32).map(TrackId);
    let counters = (0..trace.counters.tracks.len() as u32).map(CounterTrackId);
    let has_instants = !context.sources.has_all_events();
    let of_tracks = tracks.filter(|&id| chosen.has_track(id)).flat_map(|id| {
        let instants = has_instants.then_some(Source::Instants(id));
        std::iter::once(Source::Slices(id)).chain(instants)
    });
    let counters = counters.filter(|&id| chosen.has_counter(id));
    of_tracks.chain(counters.map(Source::Samples)).collect()
}

impl Source {
    /// Returns when its first mark may be.
    fn first_time(self, context: &Context<'_>) -> Maybe<i64> {
        match self {
            Source::Slices(id) => Lane::first_start(context.trace, context.chosen, id),
            Source::Instants(id) => InstantStream::new(context, id).next(context),
            Source::Samples(id) => SampleStream::new(context, id).next(context),
        }
    }
}

impl Stream {
    fn new(context: &Context<'_>, source: Source) -> Stream {
        match source {
            Source::Slices(id) => Stream::Slices(Box::new(SliceStream {
                lane: Lane::new(context.trace, context.chosen, id),
                tracks: LayerTracks::new(context, id),
            })),
            Source::Instants(id) => Stream::Instants(InstantStream::new(context, id)),
            Source::Samples(id) => Stream::Samples(SampleStream::new(context, id)),
        }
    }

    /// Adds the marks before `until`; returns when the next one may be, if there is one.
    fn mark_until(
        &mut self,
        writer: &mut MarkWriter<'_, '_, '_>,
        marks: &mut Buckets<Mark>,
        until: i64,
    ) -> Maybe<i64> {
        match self {
            Stream::Slices(slices) => slices.mark_until(writer, marks, until),
            Stream::Instants(instants) => instants.mark_until(writer, marks, until),
            Stream::Samples(samples) => samples.mark_until(writer, marks, until),
        }
    }

    fn add_to(self, counts: &mut RowCounts) {
        match self {
            Stream::Slices(slices) => counts.slices += slices.lane.count,
            Stream::Instants(instants) => counts.instants += instants.count,
            Stream::Samples(samples) => counts.samples += samples.count,
        }
    }
}

/// The tracks of the file for the layers of a track of the trace.
struct LayerTracks {
    id: TrackId,
    kind: TrackKind,
    name: String,
    known: Layers<Option<TrackUuid>>,
}

impl LayerTracks {
    fn new(context: &Context<'_>, id: TrackId) -> LayerTracks {
        let name = track_name(context.trace, id).into_owned();
        let track = context.trace.tracks.get(id.0 as usize);
        LayerTracks {
            id,
            kind: track.map_or(TrackKind::Nobody, |track| track.kind),
            name: match name.is_empty() {
                true => UNNAMED_ASYNC.to_owned(),
                false => name,
            },
            known: Layers::default(),
        }
    }

    fn of(&mut self, writer: &mut MarkWriter<'_, '_, '_>, layer: Layer) -> TrackUuid {
        if let Some(known) = *self.known.of(layer) {
            return known;
        }
        let tracks = &mut writer.tracks;
        let track = match (self.kind, layer) {
            (TrackKind::Thread(thread), Layer::Own) => tracks.thread(thread),
            (TrackKind::Nobody, Layer::Own) => tracks.thread(None),
            (TrackKind::Cpu(cpu), Layer::Own) => tracks.cpu(cpu),
            (TrackKind::Async(Some(process)), _) => {
                let parent = Parent::Track(tracks.process(process));
                tracks.named(&self.name, parent)
            }
            (TrackKind::Async(None), _) => {
                let machine = writer.context.sources.of_loose_track(self.id);
                let parent = Parent::Machine(machine.unwrap_or(Machine::HOST));
                tracks.named(&self.name, parent)
            }
            (TrackKind::Nobody, crossing) => {
                let parent = tracks.thread(None);
                tracks.named(&crossing.name(&self.name), Parent::Track(parent))
            }
            (TrackKind::Thread(thread), crossing) => {
                let parent = tracks.thread(thread);
                tracks.named(&crossing.name(&self.name), Parent::Track(parent))
            }
            (TrackKind::Cpu(cpu), crossing) => {
                let parent = tracks.cpu(cpu);
                tracks.named(&crossing.name(&self.name), Parent::Track(parent))
            }
        };
        *self.known.of(layer) = Some(track);
        track
    }
}

/// The slices of a track.
struct SliceStream {
    lane: Lane,
    tracks: LayerTracks,
}

impl SliceStream {
    fn mark_until(
        &mut self,
        writer: &mut MarkWriter<'_, '_, '_>,
        marks: &mut Buckets<Mark>,
        until: i64,
    ) -> Maybe<i64> {
        let (tracks, context) = (&mut self.tracks, writer.context);
        let slices = &context.trace.slices;
        self.lane.marks_until(context, until, |mark| {
            let track = tracks.of(writer, mark.layer);
            let slice = mark.slice;
            let row = slice.0 as usize;
            let has_arrows = writer.arrows.has_any(slice);
            let what = match mark.side {
                Side::Begin => {
                    let begin = slices.begins.at(row);
                    What::Begin {
                        track,
                        slice,
                        label: slices.label_ids.at(row),
                        begin: EventId(begin),
                        finish: slices.finishes.get(row, begin),
                        is_plain: !has_arrows
                            && !slices.is_unended(row)
                            && slices.own_measured(row).is_none(),
                    }
                }
                Side::End => What::End {
                    track,
                    slice,
                    has_arrows,
                },
            };
            let time = mark.time;
            marks.add(time, Mark { time, what });
        });
        self.lane.next()
    }
}

/// The instants of a track.
struct InstantStream {
    id: TrackId,
    /// The rows that are left.
    rows: Range<u32>,
    own: Option<TrackUuid>,
    count: u64,
}

impl InstantStream {
    fn new(context: &Context<'_>, id: TrackId) -> InstantStream {
        let trace = context.trace;
        let track = trace.tracks.get(id.0 as usize);
        let rows = track.map_or(0..0, |track| track.instants.clone());
        let time = |row: u32| trace.events.time(trace.instants.event(InstantId(row)));
        let span = context.chosen.span;
        let from = first_not_before(&rows, |row| time(row) < span.start);
        let until = first_not_before(&(from..rows.end), |row| time(row) < span.end);
        InstantStream {
            id,
            rows: from..until,
            own: None,
            count: 0,
        }
    }

    fn next(&self, context: &Context<'_>) -> Maybe<i64> {
        match self.rows.is_empty() {
            true => Maybe::NONE,
            false => {
                let event = context.trace.instants.event(InstantId(self.rows.start));
                Maybe::new(context.trace.events.time(event).0)
            }
        }
    }

    fn mark_until(
        &mut self,
        writer: &mut MarkWriter<'_, '_, '_>,
        marks: &mut Buckets<Mark>,
        until: i64,
    ) -> Maybe<i64> {
        let context = writer.context;
        for row in self.rows.clone() {
            let event = context.trace.instants.event(InstantId(row));
            let time = writer.events.time(event).0;
            if time >= until {
                return Maybe::new(time);
            }
            self.rows.start = row + 1;
            if !context.chosen.has_point(self.id, event)
                || context.sources.of_event(event).is_some()
            {
                continue;
            }
            // Points of an asynchronous track are on a track beside those of its slices.
            let track = match self.own {
                Some(known) => known,
                None => LayerTracks::new(context, self.id).of(writer, Layer::Own),
            };
            self.own = Some(track);
            self.count += 1;
            let what = What::Instant { track, event };
            marks.add(time, Mark { time, what });
        }
        Maybe::NONE
    }
}

/// Returns the first of `rows` that is not before a time.
fn first_not_before(rows: &Range<u32>, is_before: impl Fn(u32) -> bool) -> u32 {
    let rows = rows.start as usize..rows.end as usize;
    order::first_not(rows, |row| is_before(row as u32)) as u32
}

/// The samples of a counter.
struct SampleStream {
    id: CounterTrackId,
    /// The sample that is valid at the range's start, if it is not yet written.
    before: Option<u32>,
    /// The rows that are left.
    rows: Range<u32>,
    own: Option<TrackUuid>,
    count: u64,
}

impl SampleStream {
    fn new(context: &Context<'_>, id: CounterTrackId) -> SampleStream {
        let counters = &context.trace.counters;
        let span = context.chosen.span;
        let counter = counters.tracks.get(id.0 as usize);
        let rows = counter.map_or(0..0, |counter| counters.in_force(counter, span));
        let time = |row: u32| counters.times.get(row as usize).copied();
        let from = first_not_before(&rows, |row| time(row) < Some(span.start.0));
        SampleStream {
            id,
            before: context.chosen.sample_at_start(id),
            rows: from..rows.end,
            own: None,
            count: 0,
        }
    }

    fn next(&self, context: &Context<'_>) -> Maybe<i64> {
        let times = &context.trace.counters.times;
        let first = (!self.rows.is_empty()).then_some(self.rows.start);
        let first = first.and_then(|row| times.get(row as usize));
        let start = context.chosen.span.start.0;
        let before = self.before.map(|_| start);
        before.or(first.copied()).map_or(Maybe::NONE, Maybe::new)
    }

    fn mark_until(
        &mut self,
        writer: &mut MarkWriter<'_, '_, '_>,
        marks: &mut Buckets<Mark>,
        until: i64,
    ) -> Maybe<i64> {
        let context = writer.context;
        let counters = &context.trace.counters;
        if let Some(row) = self.before.take() {
            self.mark(writer, marks, row, context.chosen.span.start.0);
        }
        for row in self.rows.clone() {
            let time = counters.times.get(row as usize).copied();
            let time = time.unwrap_or(i64::MAX);
            if time >= until {
                return Maybe::new(time);
            }
            self.rows.start = row + 1;
            if context.chosen.has_sample(self.id, row) {
                self.mark(writer, marks, row, time);
            }
        }
        Maybe::NONE
    }

    fn mark(
        &mut self,
        writer: &mut MarkWriter<'_, '_, '_>,
        marks: &mut Buckets<Mark>,
        row: u32,
        time: i64,
    ) {
        let context = writer.context;
        let event = context.trace.counters.events.get(row as usize);
        let event = event.copied().map(EventId);
        if event.is_some_and(|event| context.is_derived(event)) {
            return;
        }
        let track = match self.own {
            Some(known) => known,
            None => counter_track(writer, self.id),
        };
        self.own = Some(track);
        self.count += 1;
        let what = What::Sample {
            track,
            counter: self.id.0,
            row,
        };
        marks.add(time, Mark { time, what });
    }
}

fn counter_track(writer: &mut MarkWriter<'_, '_, '_>, id: CounterTrackId) -> TrackUuid {
    let context = writer.context;
    let counter = context.trace.counters.tracks.get(id.0 as usize);
    let scope = counter.map_or(CounterScope::Global, |counter| counter.scope);
    let name = counter.map_or(StringId::EMPTY, |counter| counter.name);
    let tracks = &mut writer.tracks;
    let parent = match scope {
        CounterScope::Global => {
            let machine = context.sources.of_counter(id);
            Parent::Machine(machine.unwrap_or(Machine::HOST))
        }
        CounterScope::Cpu(cpu) => Parent::Track(tracks.cpu(cpu)),
        CounterScope::Process(process) => Parent::Track(tracks.process(process)),
        CounterScope::Thread(thread) => Parent::Track(tracks.thread(thread)),
    };
    tracks.counter(&exact_text(context.trace.strings.bytes(name)), parent)
}

/// Writes flow events that make no arrow as instants.
fn write_lone_flows(writer: &mut MarkWriter<'_, '_, '_>) -> Result<(), ExportError> {
    let context = writer.context;
    for (row, flow) in (0..).zip(&writer.arrows.lone) {
        let events = &context.trace.events;
        let track = writer.tracks.thread(events.thread(flow.event));
        writer.mark(Mark {
            time: events.time(flow.event).0,
            what: What::LoneFlow { track, row },
        })?;
    }
    Ok(())
}

/// Writes the losses of formats other than the kernel's as slices, which may overlap: each has a track of that name.
fn write_losses(writer: &mut MarkWriter<'_, '_, '_>) -> Result<(), ExportError> {
    let context = writer.context;
    let span = context.span();
    for row in chosen_rows(context.trace, context.chosen) {
        let cpu = context.trace.gap_cpu(GapId(row.row));
        if cpu.is_some_and(|cpu| context.sources.of_cpu(cpu).is_some()) {
            continue;
        }
        let track = writer.tracks.named(LOSSES, Parent::Machine(Machine::HOST));
        let begin = row.gap.event_before().unwrap_or(span.start);
        writer.mark(Mark {
            time: begin.0,
            what: What::LossBegins { track },
        })?;
        if let Some(end) = row.gap.event_after() {
            writer.mark(Mark {
                time: end.0,
                what: What::LossEnds { track },
            })?;
        }
    }
    Ok(())
}
