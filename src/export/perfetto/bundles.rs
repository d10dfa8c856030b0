//! Ftrace events: the kernel's events of a trace as bundles of one CPU each.
//!
//! ```text
//! packet: sequence | interned kernel symbols | bundle: CPU | lost events? | event, event ...
//! event: time | pid | flags | message of its kind (see `plan`)
//! ```
//!
//! A bundle starts anew after a loss of events and says so. Events are encoded in parallel, a few thousand at a time,
//! and written in the order of the trace's segments; trace_processor sorts the events of a CPU by time.
//!
//! Symbols of kernel functions are interned under their address. A text has only the name: its number is a hash.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};

use super::context::Context;
use super::event_types::{Kind, SWITCH};
use super::layout::{bundle, ftrace_event, interned, packet, trace as top};
use super::output::{BUNDLE_SEQUENCE, Output};
use super::plan::{DescribedForm, EventForm, TypedForm};
use super::proto::Message;
use super::switches::MadeSwitch;
use super::values::{number_of, text_of, write_described, write_typed};
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::event::decoded::is_common;
use crate::event::{FieldRef, Gap, ThreadKey, ValueRef};
use crate::export::ExportError;
use crate::export::shared::losses::chosen_rows;
use crate::trace::segments::Event;
use crate::trace::{EventId, GapId};

/// Events that are encoded at a time.
const EVENTS_IN_CHUNK: u32 = 8192;
/// A bundle is written when it has this many bytes.
const BUNDLE_BYTES: usize = 32 << 10;

/// Events of a segment.
#[derive(Clone, Debug)]
struct Chunk {
    segment: usize,
    events: Range<u32>,
}

/// The gaps of each CPU, by the time of the first event after them.
pub(super) struct GapEnds(FxHashMap<u32, Vec<i64>>);

impl GapEnds {
    fn new(context: &Context<'_>) -> GapEnds {
        let mut ends: FxHashMap<u32, Vec<i64>> = FxHashMap::default();
        for row in chosen_rows(context.trace, context.chosen) {
            let Some(cpu) = context.trace.gap_cpu(GapId(row.row)) else {
                continue;
            };
            if row.gap.end != Gap::OPEN_END {
                ends.entry(cpu.0).or_default().push(row.gap.end.0);
            }
        }
        for of_cpu in ends.values_mut() {
            of_cpu.sort_unstable();
        }
        GapEnds(ends)
    }

    /// Returns whether a gap of the CPU ends after `before` (the previous event, if there is one) and at or before
    /// `time`.
    fn ends_between(&self, cpu: u32, before: Option<i64>, time: i64) -> bool {
        let Some(ends) = self.0.get(&cpu) else {
            return false;
        };
        let first = ends.partition_point(|&end| before.is_some_and(|before| end <= before));
        ends.get(first).is_some_and(|&end| end <= time)
    }
}

/// Names of kernel functions by address, as far as they were looked up.
type Symbols = Mutex<FxHashMap<u64, Option<Arc<str>>>>;

/// Writes the kernel's events that are chosen, those of `extra`, and the context switches that were made for a
/// narrowed selection; returns how many there are.
pub(super) fn write_events(
    context: &Context<'_>,
    extra: &[EventId],
    switches: &[MadeSwitch],
    output: &mut Output<'_>,
) -> Result<u64, ExportError> {
    write_descriptors(context, output)?;
    let gaps = GapEnds::new(context);
    let symbols = Symbols::default();
    let shared = Shared {
        context,
        gaps: &gaps,
        symbols: &symbols,
    };
    let mut count = 0;
    let chunks: Vec<Chunk> = chunks(context).collect();
    let at_once = 2 * rayon::current_num_threads().max(1);
    for chunks in chunks.chunks(at_once) {
        output.job.check()?;
        let encoded: Vec<EncodedChunk> =
            chunks.par_iter().map(|chunk| shared.chunk(chunk)).collect();
        for chunk in encoded {
            count += chunk.event_count;
            output.write(&chunk.bytes)?;
            output.job.advance(chunk.event_count);
        }
    }
    for part in extra.chunks(EVENTS_IN_CHUNK as usize) {
        let mut bundles = Bundles::new(&shared);
        for &id in part {
            bundles.event(&context.trace.events.get(id), Neighbour::None);
        }
        let encoded = bundles.finish();
        count += encoded.event_count;
        output.write(&encoded.bytes)?;
    }
    for part in switches.chunks(EVENTS_IN_CHUNK as usize) {
        let mut bundles = Bundles::new(&shared);
        for switch in part {
            bundles.made_switch(switch);
        }
        let encoded = bundles.finish();
        count += encoded.event_count;
        output.write(&encoded.bytes)?;
    }
    Ok(count)
}

/// Writes the descriptions of events without a message of Perfetto's own, in a bundle without events.
fn write_descriptors(context: &Context<'_>, output: &mut Output<'_>) -> Result<(), ExportError> {
    let mut descriptors = Message::default();
    context
        .plans
        .write_descriptors(context.trace, &mut descriptors);
    if descriptors.len() == 0 {
        return Ok(());
    }
    let cpus = 0..context.trace.cpus.len() as u32;
    let first = cpus.filter(|&cpu| context.sources.has_cpu(crate::trace::CpuId(cpu)));
    let Some(cpu) = first.filter_map(|cpu| context.cpu(cpu)).next() else {
        return Ok(());
    };
    let mut message = Message::default();
    let outer = message.open_large(top::PACKET);
    message.uint(packet::SEQUENCE, BUNDLE_SEQUENCE);
    let inner = message.open_large(packet::FTRACE_EVENTS);
    message.uint(bundle::CPU, u64::from(cpu));
    message.append(descriptors.bytes());
    message.close(inner);
    message.close(outer);
    output.write(message.bytes())
}

fn chunks<'a>(context: &'a Context<'_>) -> impl Iterator<Item = Chunk> + 'a {
    let segments = context.trace.events.segments().iter().enumerate();
    let segments = segments.filter(|(_, it)| context.sources.has_segment(it));
    segments.flat_map(|(segment, it)| {
        let span = context.chosen.span;
        let from = it.lower_bound(span.start);
        let until = it.lower_bound(span.end).max(from);
        let starts = (from..until).step_by(EVENTS_IN_CHUNK as usize);
        starts.map(move |start| Chunk {
            segment,
            events: start..until.min(start + EVENTS_IN_CHUNK),
        })
    })
}

/// What all chunks share.
struct Shared<'a> {
    context: &'a Context<'a>,
    gaps: &'a GapEnds,
    symbols: &'a Symbols,
}

/// Packets.
struct EncodedChunk {
    bytes: Vec<u8>,
    event_count: u64,
}

impl Shared<'_> {
    fn chunk(&self, chunk: &Chunk) -> EncodedChunk {
        let context = self.context;
        let mut bundles = Bundles::new(self);
        let Some(segment) = context.trace.events.segments().get(chunk.segment) else {
            return bundles.finish();
        };
        let is_narrowed = context.chosen.is_narrowed();
        let before = chunk.events.start.checked_sub(1);
        let before = before.map(|index| segment.time(index).0);
        for index in chunk.events.clone() {
            let event = segment.event(index);
            let is_chosen = !is_narrowed
                || (context.chosen.has_event(event.id)
                    && !context.plans.of(event.row.kind).is_switch);
            if is_chosen {
                bundles.event(&event, Neighbour::Segment(before));
            }
        }
        bundles.finish()
    }

    /// Returns the name of the kernel function at `address`, which is in a field of this event.
    fn symbol(&self, event: &Event, field: &str, address: u64) -> Option<Arc<str>> {
        let known = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&address) {
            return known.clone();
        }
        drop(known);
        let detail = self.context.reader.describe((*event).into());
        let shown = detail.fields.into_iter().find(|it| it.name == field);
        let shown = shown.map(|field| field.shown).unwrap_or_default();
        let name = shown.strip_suffix("+0x0").unwrap_or(&shown).trim();
        let is_name = !name.is_empty() && !name.starts_with("0x");
        let name: Option<Arc<str>> = is_name.then(|| name.into());
        let mut known = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(address).or_insert(name).clone()
    }
}

/// A bundle that is not yet written.
#[derive(Default)]
struct OpenBundle {
    events: Message,
    /// The symbols that its events use, by their numbers.
    symbols: BTreeMap<u64, Arc<str>>,
    is_after_loss: bool,
}

/// The open bundles of all CPUs, and what was written.
struct Bundles<'a, 's> {
    shared: &'s Shared<'s>,
    open: BTreeMap<u32, OpenBundle>,
    written: Message,
    event_count: u64,
    /// By CPU: the time of its last event.
    last_times: FxHashMap<u32, i64>,
    /// Kept for its memory.
    fields: Vec<FieldRef<'a>>,
}

/// Where an event comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    /// It follows the other events of its segment; the time of the event before those of this chunk, if there is one.
    Segment(Option<i64>),
    /// It is written out of the order of its segment, and does not show that events were lost.
    None,
}

impl<'a, 's: 'a> Bundles<'a, 's> {
    fn new(shared: &'s Shared<'s>) -> Bundles<'a, 's> {
        Bundles {
            shared,
            open: BTreeMap::new(),
            written: Message::default(),
            event_count: 0,
            last_times: FxHashMap::default(),
            fields: Vec::new(),
        }
    }

    /// Adds an event.
    fn event(&mut self, event: &Event, neighbour: Neighbour) {
        let context = self.shared.context;
        let Some(cpu) = event.cpu else { return };
        let Some(number) = context.cpu(cpu) else {
            return;
        };
        let time = event.row.time.0;
        let last = self.last_times.insert(cpu, time);
        let is_after_loss = match neighbour {
            Neighbour::Segment(before) => self.shared.gaps.ends_between(cpu, last.or(before), time),
            Neighbour::None => false,
        };
        let is_full = (self.open.get(&number))
            .is_some_and(|open| open.events.len() > BUNDLE_BYTES || is_after_loss);
        if is_full && let Some(open) = self.open.remove(&number) {
            write_bundle(&mut self.written, number, &open);
        }
        let mut fields = std::mem::take(&mut self.fields);
        fields.clear();
        context.reader.fields_into((*event).into(), &mut fields);
        let open = self.open.entry(number).or_default();
        open.is_after_loss |= is_after_loss;
        write_event(self.shared, open, event, &fields);
        self.event_count += 1;
        self.fields = fields;
    }

    fn made_switch(&mut self, switch: &MadeSwitch) {
        let context = self.shared.context;
        let Some(number) = context.people.cpu(switch.cpu) else {
            return;
        };
        let open = self.open.entry(number).or_default();
        let message = &mut open.events;
        let entry = message.open(bundle::EVENT);
        message.uint(ftrace_event::TIMESTAMP, context.time(switch.time.0));
        message.uint(
            ftrace_event::PID,
            context.people.raw_tid(switch.from.thread),
        );
        let own = message.open(SWITCH.number);
        for field in SWITCH.fields {
            let side = match field.name.starts_with("prev_") {
                true => &switch.from,
                false => &switch.to,
            };
            match field.name.split_once('_').map_or("", |(_, rest)| rest) {
                "comm" => {
                    let name = context.trace.thread(side.thread).name;
                    let name = context.trace.strings.bytes(name);
                    message.text(field.number, &exact_text(name));
                }
                "pid" => message.uint(field.number, context.people.raw_tid(side.thread)),
                "prio" => message.int(field.number, i64::from(side.priority)),
                _ => {
                    let letters = switch.end_state.letters();
                    let bits = context.states.of_letters(letters).unwrap_or(0);
                    message.int(field.number, bits);
                }
            }
        }
        message.close(own);
        message.close(entry);
        self.event_count += 1;
        if open.events.len() > BUNDLE_BYTES
            && let Some(open) = self.open.remove(&number)
        {
            write_bundle(&mut self.written, number, &open);
        }
    }

    fn finish(mut self) -> EncodedChunk {
        for (number, open) in std::mem::take(&mut self.open) {
            write_bundle(&mut self.written, number, &open);
        }
        EncodedChunk {
            bytes: self.written.take(),
            event_count: self.event_count,
        }
    }
}

fn write_bundle(out: &mut Message, cpu: u32, open: &OpenBundle) {
    let outer = out.open_large(top::PACKET);
    out.uint(packet::SEQUENCE, BUNDLE_SEQUENCE);
    if !open.symbols.is_empty() {
        let flags = packet::STATE_CLEARED | packet::NEEDS_STATE;
        out.uint(packet::SEQUENCE_FLAGS, flags);
        let data = out.open_large(packet::INTERNED_DATA);
        for (&number, name) in &open.symbols {
            let entry = out.open(interned::KERNEL_SYMBOLS);
            out.uint(interned::ENTRY_ID, number);
            out.text(interned::ENTRY_NAME, name);
            out.close(entry);
        }
        out.close(data);
    }
    let inner = out.open_large(packet::FTRACE_EVENTS);
    out.uint(bundle::CPU, u64::from(cpu));
    if open.is_after_loss {
        out.flag(bundle::LOST_EVENTS);
    }
    out.append(open.events.bytes());
    out.close(inner);
    out.close(outer);
}

fn write_event(shared: &Shared<'_>, open: &mut OpenBundle, event: &Event, fields: &[FieldRef<'_>]) {
    let context = shared.context;
    let entry = open.events.open(bundle::EVENT);
    open.events
        .uint(ftrace_event::TIMESTAMP, context.time(event.row.time.0));
    // An event must have a pid: one of an unknown thread has that of the CPU's idle thread.
    let thread = event.row.thread.unwrap_or(ThreadKey::IDLE);
    open.events.uint(ftrace_event::PID, u64::from(thread.0));
    let flags = fields.iter().find(|field| field.name == "common_flags");
    if let Some(flags) = flags
        .and_then(|field| number_of(&field.value))
        .filter(|&it| it != 0)
    {
        open.events.int(ftrace_event::COMMON_FLAGS, flags);
    }
    let start = open.events.len();
    let is_written = match &context.plans.of(event.row.kind).form {
        EventForm::Typed(form) => write_typed_event(shared, open, form, event, fields),
        EventForm::Described(form) => write_described_event(&mut open.events, form, fields),
        EventForm::Named => false,
    };
    if !is_written {
        open.events.truncate(start);
        let kind = context.trace.kinds.get(event.row.kind.index());
        let name = kind.map_or(StringId::EMPTY, |kind| kind.name);
        let name = exact_text(context.trace.strings.bytes(name));
        write_named_event(&mut open.events, &name, fields);
    }
    open.events.close(entry);
}

/// Writes an event as Perfetto's own message; returns whether it has all that the message needs.
fn write_typed_event(
    shared: &Shared<'_>,
    open: &mut OpenBundle,
    form: &TypedForm,
    event: &Event,
    fields: &[FieldRef<'_>],
) -> bool {
    let own = open.events.open(form.event_type.number);
    let mut seen = 0_u32;
    let own_fields = fields.iter().filter(|field| !is_common(&field.name));
    for (at, field) in own_fields.enumerate() {
        let Some(index) = form.index(at, &field.name) else {
            continue;
        };
        let Some(of_message) = form.event_type.fields.get(index) else {
            continue;
        };
        let number = of_message.number;
        let is_written = match (of_message.kind, number_of(&field.value)) {
            (Kind::Symbol, Some(address)) => {
                let address = address.cast_unsigned();
                if address != 0
                    && !open.symbols.contains_key(&address)
                    && let Some(name) = shared.symbol(event, &field.name, address)
                {
                    open.symbols.insert(address, name);
                }
                open.events.uint(number, address);
                true
            }
            (Kind::Symbol, None) if field.value != ValueRef::Null => {
                let id = text_symbol(&mut open.symbols, &text_of(field));
                open.events.uint(number, id);
                true
            }
            (kind, _) => write_typed(&mut open.events, number, kind, field, shared.context.states),
        };
        seen |= u32::from(is_written) << index;
    }
    open.events.close(own);
    seen & form.needs == form.needs
}

/// Returns the number of a symbol without an address.
fn text_symbol(symbols: &mut BTreeMap<u64, Arc<str>>, name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    let mut id = hasher.finish() | 1;
    while symbols.get(&id).is_some_and(|other| **other != *name) {
        id = id.wrapping_add(2);
    }
    symbols.entry(id).or_insert_with(|| name.into());
    id
}

/// Writes an event as a described message; returns whether it has the described fields and no others.
fn write_described_event(
    message: &mut Message,
    form: &DescribedForm,
    fields: &[FieldRef<'_>],
) -> bool {
    let own = message.open(form.number);
    let mut described = form.fields.iter();
    for (number, field) in (1..).zip(fields.iter().filter(|field| !is_common(&field.name))) {
        let Some(of_message) = described.next() else {
            return false;
        };
        if of_message.name != field.name
            || !write_described(message, number, of_message.kind, field)
        {
            return false;
        }
    }
    message.close(own);
    true
}

/// Writes an event that names its fields itself.
fn write_named_event(message: &mut Message, name: &str, fields: &[FieldRef<'_>]) {
    let own = message.open(ftrace_event::GENERIC);
    message.text(ftrace_event::GENERIC_NAME, name);
    for field in fields.iter().filter(|field| !is_common(&field.name)) {
        let entry = message.open(ftrace_event::GENERIC_FIELD);
        message.text(ftrace_event::FIELD_NAME, &exact_text(field.name_bytes()));
        match &field.value {
            ValueRef::Int(value) => message.int(ftrace_event::FIELD_INT, *value),
            ValueRef::UInt(value) | ValueRef::Pointer(value) | ValueRef::Koid(value) => {
                message.uint(ftrace_event::FIELD_UINT, *value);
            }
            ValueRef::Bool(value) => message.uint(ftrace_event::FIELD_UINT, u64::from(*value)),
            _ => message.text(ftrace_event::FIELD_TEXT, &text_of(field)),
        }
        message.close(entry);
    }
    message.close(own);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_an_address_have_numbers_of_their_own() {
        let mut symbols = BTreeMap::new();
        let first = text_symbol(&mut symbols, "vmstat_update");
        let second = text_symbol(&mut symbols, "wb_workfn");
        assert_ne!(first, second);
        assert_eq!(text_symbol(&mut symbols, "vmstat_update"), first);
        // Another name has the number that a name would get.
        symbols.insert(first, "other".into());
        assert_ne!(text_symbol(&mut symbols, "vmstat_update"), first);
    }
}
