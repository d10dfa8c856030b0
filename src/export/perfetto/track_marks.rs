//! The rows of a trace that are not ftrace events, as marks: track by track, then counters, arrows without slices,
//! losses, runs and states.

use super::lanes::{Side, for_each_mark, placed_asyncs, sort_by_nesting};
use super::marks::{ArrowEnd, Mark, What};
use super::sources::Machine;
use super::tasks::{TaskCounts, for_each_task};
use super::track_events::MarkWriter;
use super::tracks::{Parent, TrackUuid};
use crate::base::strings::exact_text;
use crate::event::Gap;
use crate::export::ExportError;
use crate::export::shared::layers::{Layer, Layers, PlacedSlice, placed_slices};
use crate::export::shared::losses::chosen_rows;
use crate::tables::items::track_name;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, EventId, GapId, InstantId, Track, TrackId, TrackKind};

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
    for (number, track) in (0_u32..).zip(&context.trace.tracks) {
        let id = TrackId(number);
        if context.chosen.has_track(id) {
            counts.slices += write_slices(writer, id, track)?;
            counts.instants += write_instants(writer, id, track)?;
        }
    }
    for counter in (0..context.trace.counters.tracks.len() as u32).map(CounterTrackId) {
        if context.chosen.has_counter(counter) {
            counts.samples += write_samples(writer, counter)?;
        }
    }
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

/// The tracks of the file for the layers of a track of the trace.
struct LayerTracks {
    id: TrackId,
    kind: TrackKind,
    name: String,
    known: Layers<Option<TrackUuid>>,
}

impl LayerTracks {
    fn new(writer: &MarkWriter<'_, '_, '_>, id: TrackId, kind: TrackKind) -> LayerTracks {
        let name = track_name(writer.context.trace, id).into_owned();
        LayerTracks {
            id,
            kind,
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

fn write_slices(
    writer: &mut MarkWriter<'_, '_, '_>,
    id: TrackId,
    track: &Track,
) -> Result<u64, ExportError> {
    let context = writer.context;
    let mut placed: Vec<PlacedSlice> = match track.kind {
        TrackKind::Async(_) => placed_asyncs(context.trace, context.chosen, id),
        _ => placed_slices(context.trace, context.chosen, id),
    };
    sort_by_nesting(context.trace, &mut placed);
    placed.retain(|placed| !context.is_derived_slice(placed.slice));
    let mut tracks = LayerTracks::new(writer, id, track.kind);
    for_each_mark(context.trace, &placed, |mark| {
        let track = tracks.of(writer, mark.layer);
        let slice = mark.slice;
        writer.mark(Mark {
            time: mark.time,
            what: match mark.side {
                Side::Begin => What::Begin { track, slice },
                Side::End => What::End { track, slice },
            },
        })
    })?;
    Ok(placed.len() as u64)
}

fn write_instants(
    writer: &mut MarkWriter<'_, '_, '_>,
    id: TrackId,
    track: &Track,
) -> Result<u64, ExportError> {
    let context = writer.context;
    let mut own: Option<TrackUuid> = None;
    let mut count = 0;
    if context.sources.has_all_events() {
        return Ok(count);
    }
    let events = context.trace.events.cursor();
    for at in track.instants.clone() {
        let event = context.trace.instants.event(InstantId(at));
        let time = events.time(event);
        if !context.chosen.span.contains(time)
            || !context.chosen.has_point(id, event)
            || context.sources.of_event(event).is_some()
        {
            continue;
        }
        // Points of an asynchronous track are on a track beside those of its slices.
        let own_track = match own {
            Some(known) => known,
            None => LayerTracks::new(writer, id, track.kind).of(writer, Layer::Own),
        };
        own = Some(own_track);
        writer.mark(Mark {
            time: time.0,
            what: What::Instant {
                track: own_track,
                event,
            },
        })?;
        count += 1;
    }
    Ok(count)
}

fn write_samples(
    writer: &mut MarkWriter<'_, '_, '_>,
    id: CounterTrackId,
) -> Result<u64, ExportError> {
    let context = writer.context;
    let counters = &context.trace.counters;
    let Some(counter) = counters.tracks.get(id.0 as usize) else {
        return Ok(0);
    };
    let start = context.chosen.span.start.0;
    let inside = counters
        .in_force(counter, context.chosen.span)
        .filter(|&row| {
            let time = counters.times.get(row as usize);
            time.is_some_and(|&time| time >= start) && context.chosen.has_sample(id, row)
        });
    let before = context.chosen.sample_at_start(id);
    let mut own: Option<TrackUuid> = None;
    let mut count = 0;
    for row in before.into_iter().chain(inside) {
        let event = counters.events.get(row as usize).copied().map(EventId);
        if event.is_some_and(|event| context.is_derived(event)) {
            continue;
        }
        let track = match own {
            Some(known) => known,
            None => {
                let tracks = &mut writer.tracks;
                let parent = match counter.scope {
                    CounterScope::Global => {
                        let machine = context.sources.of_counter(id);
                        Parent::Machine(machine.unwrap_or(Machine::HOST))
                    }
                    CounterScope::Cpu(cpu) => Parent::Track(tracks.cpu(cpu)),
                    CounterScope::Process(process) => Parent::Track(tracks.process(process)),
                    CounterScope::Thread(thread) => Parent::Track(tracks.thread(thread)),
                };
                let name = exact_text(context.trace.strings.bytes(counter.name));
                tracks.counter(&name, parent)
            }
        };
        own = Some(track);
        let time = counters.times.get(row as usize).copied();
        writer.mark(Mark {
            time: time.unwrap_or(start).max(start),
            what: What::Sample {
                track,
                counter: id.0,
                row,
            },
        })?;
        count += 1;
    }
    Ok(count)
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
        let begin = match row.gap.start {
            Gap::OPEN_START => span.start,
            start => start,
        };
        writer.mark(Mark {
            time: begin.0,
            what: What::LossBegins { track },
        })?;
        if row.gap.end != Gap::OPEN_END {
            writer.mark(Mark {
                time: row.gap.end.0,
                what: What::LossEnds { track },
            })?;
        }
    }
    Ok(())
}
