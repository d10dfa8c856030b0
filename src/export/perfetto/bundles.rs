//! Ftrace events: the kernel's events of a trace as bundles of one CPU each.
//!
//! ```text
//! packet: sequence | machine? | bundle: CPU | lost events? | event, event ... | interned kernel symbols
//! ```
//!
//! After a loss of events a new bundle starts, which states the loss. Events are encoded on all cores, some thousands
//! of a segment at a time, and written in the order of the trace's segments; trace_processor sorts the events of a CPU
//! by time.

use std::ops::Range;

use super::context::Context;
use super::ftrace_events::{EventEncoder, Symbols};
use super::layout::{bundle, interned, packet, trace as top};
use super::losses::{GapEnds, LossesAhead};
use super::output::{BUNDLE_SEQUENCE, Output, write_machine};
use super::proto::{Message, Open};
use super::sources::Machine;
use super::switches::MadeSwitch;
use crate::export::ExportError;
use crate::export::shared::pieces::{Give, encode_in_order};
use crate::formats::events::FieldReader;
use crate::trace::segments::Event;
use crate::trace::{CpuId, EventId};

/// Events that are encoded at a time.
const EVENTS_IN_CHUNK: u32 = 8192;
/// A bundle is written when it has this many bytes.
const BUNDLE_BYTES: usize = 32 << 10;

/// Events that are encoded together.
enum Chunk<'c> {
    /// Events of a segment.
    OfSegment { segment: usize, events: Range<u32> },
    /// Events outside the range that are written besides the chosen ones.
    Extra(&'c [EventId]),
    /// Context switches that were made for a part of the trace (see `switches`).
    Made(&'c [MadeSwitch]),
}

/// An encoded chunk.
struct EncodedChunk {
    bytes: Vec<u8>,
    event_count: u64,
}

/// Returns the number of the kernel's events in the range.
pub(super) fn event_count(context: &Context<'_>) -> u64 {
    ranges(context)
        .map(|(_, events)| u64::from(events.end - events.start))
        .sum()
}

/// Returns the events of the range of each segment of the kernel's events.
fn ranges<'c>(context: &'c Context<'_>) -> impl Iterator<Item = (usize, Range<u32>)> + 'c {
    let span = context.chosen.span;
    let segments = context.trace.events.segments().iter().enumerate();
    let segments = segments.filter(|(_, it)| context.sources.of_segment(it).is_some());
    segments.map(move |(segment, it)| {
        let from = it.lower_bound(span.start);
        (segment, from..it.lower_bound(span.end).max(from))
    })
}

/// Writes the kernel's events that are chosen, those of `extra`, and the context switches that were made for a
/// narrowed selection; returns how many there are.
pub(super) fn write_events(
    context: &Context<'_>,
    extra: &[EventId],
    switches: &[MadeSwitch],
    output: &mut Output<'_>,
) -> Result<u64, ExportError> {
    for machine in context.sources.machines() {
        write_descriptors(context, machine, output)?;
    }
    let gaps = GapEnds::new(context);
    let symbols = Symbols::default();
    let mut count = 0;
    encode_in_order(
        output.job,
        1,
        |give| give_chunks(context, extra, switches, give),
        || {
            let mut bundles = Bundles::new(context, &gaps, &symbols);
            move |chunk, buffer| bundles.chunk(&chunk, buffer)
        },
        |EncodedChunk { bytes, event_count }| {
            count += event_count;
            output.write(&bytes)?;
            output.job.advance(event_count);
            Ok(bytes)
        },
    )?;
    Ok(count)
}

fn give_chunks<'c>(
    context: &Context<'_>,
    extra: &'c [EventId],
    switches: &'c [MadeSwitch],
    give: &mut Give<'_, Chunk<'c>>,
) -> Result<(), ExportError> {
    for (segment, events) in ranges(context) {
        for start in events.clone().step_by(EVENTS_IN_CHUNK as usize) {
            let end = events.end.min(start.saturating_add(EVENTS_IN_CHUNK));
            give(Chunk::OfSegment {
                segment,
                events: start..end,
            })?;
        }
    }
    let mut extra = extra.chunks(EVENTS_IN_CHUNK as usize).map(Chunk::Extra);
    extra.try_for_each(&mut *give)?;
    let mut made = switches.chunks(EVENTS_IN_CHUNK as usize).map(Chunk::Made);
    made.try_for_each(give)
}

/// Writes the descriptions of events without a message of Perfetto's own, in a bundle without events.
fn write_descriptors(
    context: &Context<'_>,
    machine: Machine,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let mut descriptors = Message::default();
    let trace = context.trace;
    context
        .plans
        .write_descriptors(machine, trace, &mut descriptors);
    if descriptors.len() == 0 {
        return Ok(());
    }
    let cpus = (0..trace.cpus.len() as u32).map(CpuId);
    let mut own = cpus.filter(|&cpu| context.sources.of_cpu(cpu) == Some(machine));
    let Some(number) = own.find_map(|cpu| context.people.cpu(cpu)) else {
        return Ok(());
    };
    let mut message = Message::default();
    let outer = message.open_large(top::PACKET);
    message.uint(packet::SEQUENCE, BUNDLE_SEQUENCE);
    write_machine(&mut message, machine);
    let inner = message.open_large(packet::FTRACE_EVENTS);
    message.uint(bundle::CPU, u64::from(number));
    message.append(descriptors.bytes());
    message.close(inner);
    message.close(outer);
    output.write(message.bytes())
}

/// The CPU of a bundle.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BundleCpu {
    machine: Machine,
    /// The CPU's number in the file.
    number: u32,
}

/// A bundle that is being written.
struct OpenBundle {
    cpu: BundleCpu,
    packet: Open,
    bundle: Open,
    /// The offset of its first byte.
    start: usize,
}

/// The encoder of one thread.
struct Bundles<'a> {
    context: &'a Context<'a>,
    gaps: &'a GapEnds,
    reader: Box<dyn FieldReader + 'a>,
    out: Message,
    events: EventEncoder<'a>,
    open: Option<OpenBundle>,
    event_count: u64,
}

impl<'a> Bundles<'a> {
    fn new(context: &'a Context<'a>, gaps: &'a GapEnds, symbols: &'a Symbols) -> Bundles<'a> {
        Bundles {
            context,
            gaps,
            reader: context.reader.field_reader(),
            out: Message::default(),
            events: EventEncoder::new(context, symbols),
            open: None,
            event_count: 0,
        }
    }

    fn chunk(&mut self, chunk: &Chunk<'_>, buffer: Vec<u8>) -> EncodedChunk {
        self.out = Message::with_buffer(buffer);
        self.event_count = 0;
        match chunk {
            Chunk::OfSegment { segment, events } => self.segment(*segment, events.clone()),
            Chunk::Extra(events) => {
                for &id in *events {
                    let event = self.context.trace.events.get(id);
                    let cpu = self.context.sources.of_event(id).zip(event.cpu);
                    if let Some(cpu) = cpu.and_then(|(machine, cpu)| self.cpu(machine, cpu)) {
                        self.event(cpu, &event, Loss::None);
                    }
                }
            }
            Chunk::Made(switches) => {
                for switch in *switches {
                    self.made_switch(switch);
                }
            }
        }
        self.close();
        EncodedChunk {
            bytes: self.out.take(),
            event_count: self.event_count,
        }
    }

    fn cpu(&self, machine: Machine, cpu: u32) -> Option<BundleCpu> {
        let number = self.context.people.cpu(CpuId(cpu))?;
        Some(BundleCpu { machine, number })
    }

    /// Encodes the chosen events among these events of a segment, which all belong to one CPU.
    fn segment(&mut self, segment: usize, events: Range<u32>) {
        let context = self.context;
        let Some(segment) = context.trace.events.segments().get(segment) else {
            return;
        };
        let cpu = context.sources.of_segment(segment).zip(segment.cpu);
        let Some((machine, cpu)) = cpu else { return };
        let Some(own) = self.cpu(machine, cpu) else {
            return;
        };
        let before = events.start.checked_sub(1);
        let before = before.map(|index| segment.time(index).0);
        let mut losses: LossesAhead<'_> = self.gaps.ahead(cpu, before);
        let is_narrowed = context.chosen.is_narrowed();
        for index in events {
            let event = segment.event(index);
            let is_chosen = !is_narrowed
                || (context.chosen.has_event(event.id)
                    && !context.plans.of(machine, event.row.kind).is_switch);
            if is_chosen {
                let loss = match losses.ends_by(event.row.time.0) {
                    true => Loss::Before,
                    false => Loss::None,
                };
                self.event(own, &event, loss);
            }
        }
    }

    /// Adds an event.
    fn event(&mut self, cpu: BundleCpu, event: &Event, loss: Loss) {
        self.start(cpu, loss);
        self.events
            .write(&mut self.out, cpu.machine, event, &mut *self.reader);
        self.event_count += 1;
    }

    fn made_switch(&mut self, switch: &MadeSwitch) {
        let machine = self.context.sources.of_cpu(switch.cpu);
        let Some(cpu) = machine.and_then(|machine| self.cpu(machine, switch.cpu.0)) else {
            return;
        };
        self.start(cpu, Loss::None);
        switch.write(self.context, cpu.machine, &mut self.out);
        self.event_count += 1;
    }

    /// Opens a bundle of this CPU, if the open one is another CPU's or full, or events were lost.
    #[inline]
    fn start(&mut self, cpu: BundleCpu, loss: Loss) {
        let has_room = |open: &OpenBundle| {
            open.cpu == cpu && loss == Loss::None && self.out.len() - open.start < BUNDLE_BYTES
        };
        if !self.open.as_ref().is_some_and(has_room) {
            self.close();
            self.open(cpu, loss);
        }
    }

    fn open(&mut self, cpu: BundleCpu, loss: Loss) {
        let out = &mut self.out;
        let start = out.len();
        let packet = out.open_large(top::PACKET);
        out.uint(packet::SEQUENCE, BUNDLE_SEQUENCE);
        write_machine(out, cpu.machine);
        let bundle = out.open_large(packet::FTRACE_EVENTS);
        out.uint(bundle::CPU, u64::from(cpu.number));
        if loss == Loss::Before {
            out.flag(bundle::LOST_EVENTS);
        }
        self.open = Some(OpenBundle {
            cpu,
            packet,
            bundle,
            start,
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let out = &mut self.out;
        out.close(open.bundle);
        let symbols = self.events.symbols();
        if !symbols.is_empty() {
            let flags = packet::STATE_CLEARED | packet::NEEDS_STATE;
            out.uint(packet::SEQUENCE_FLAGS, flags);
            let data = out.open_large(packet::INTERNED_DATA);
            for (&number, name) in symbols.iter() {
                let entry = out.open(interned::KERNEL_SYMBOLS);
                out.uint(interned::ENTRY_ID, number);
                out.text(interned::ENTRY_NAME, name);
                out.close(entry);
            }
            out.close(data);
            symbols.clear();
        }
        out.close(open.packet);
    }
}

/// Whether events of the CPU were lost before an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loss {
    Before,
    None,
}
