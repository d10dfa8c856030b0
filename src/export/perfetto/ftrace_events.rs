//! One ftrace event: its fields in, its message out.
//!
//! ```text
//! event: time | pid | flags | message of its kind (see `plan`)
//! ```
//!
//! Symbols of kernel functions are interned under their address. Ftrace text contains only the name of a function: its
//! number is a hash of the name.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHasher};

use super::context::Context;
use super::event_types::Kind;
use super::layout::{bundle, ftrace_event};
use super::plan::{DescribedForm, EventForm, TypedForm, ValueKind, is_same};
use super::proto::Message;
use super::sources::Machine;
use super::values::{StateBits, number_of, text_of, write_described, write_number, write_typed};
use crate::base::strings::exact_text;
use crate::event::{FieldSink, FieldView, NumberValue, ThreadKey, ValueRef};
use crate::formats::events::{EventAt, EventRef, FieldReader};
use crate::trace::segments::Event;

/// Names of the kernel functions that were looked up, by machine and address; `None` if a function has no name.
type SymbolNames = FxHashMap<(u32, u64), Option<Arc<str>>>;

/// Names of kernel functions of each machine.
#[derive(Default)]
pub(super) struct Symbols(Mutex<SymbolNames>);

/// The symbols that the events of a bundle use, by their numbers.
type UsedSymbols = BTreeMap<u64, Arc<str>>;

/// The numbers that trace_processor assumes for the thread states of kernels whose versions are not in the file, by
/// machine and the kernel's own number; `None` if the letters of a state are not known.
type StateNumbers = FxHashMap<(u32, u64), Option<i64>>;

/// The numbers of thread states other than 0, which have at most 16 bits. Other numbers are those of damaged events.
const STATES: RangeInclusive<i64> = 1..=0xffff;

/// The start of the type of a thread state in ftrace text; then its letters.
const STATE_TYPE: &str = "state ";

/// Encodes events.
pub(super) struct EventEncoder<'a> {
    context: &'a Context<'a>,
    symbols: &'a Symbols,
    used: UsedSymbols,
    state_bits: StateNumbers,
}

impl<'a> EventEncoder<'a> {
    /// Returns an encoder that has met no symbols.
    pub(super) fn new(context: &'a Context<'a>, symbols: &'a Symbols) -> EventEncoder<'a> {
        EventEncoder {
            context,
            symbols,
            used: UsedSymbols::new(),
            state_bits: StateNumbers::default(),
        }
    }

    /// Returns the symbols that the events so far use.
    pub(super) fn symbols(&mut self) -> &mut UsedSymbols {
        &mut self.used
    }

    /// Writes an event into a bundle.
    pub(super) fn write(
        &mut self,
        out: &mut Message,
        machine: Machine,
        event: &Event,
        reader: &mut dyn FieldReader,
    ) {
        let context = self.context;
        let entry = out.open(bundle::EVENT);
        out.uint(ftrace_event::TIMESTAMP, context.time(event.row.time.0));
        // An event must have a pid: an event of an unknown thread gets the pid of the CPU's idle thread.
        let ThreadKey(pid) = event.row.thread.unwrap_or(ThreadKey::IDLE);
        out.uint(ftrace_event::PID, u64::from(pid));
        let start = out.len();
        let plan = context.plans.of(machine, event.row.kind);
        let is_written = match &plan.form {
            EventForm::Typed(form) => self.typed(out, machine, form, event, reader),
            EventForm::Described(form) => described(out, form, event, reader),
            EventForm::Named => false,
        };
        if !is_written {
            out.truncate(start);
            let name = exact_text(context.trace.strings.bytes(plan.name));
            named(out, &name, event, reader);
        }
        out.close(entry);
    }

    /// Writes an event as Perfetto's own message; returns whether it has all that the message needs, and gives no state to
    /// a thread whose states are not chosen.
    fn typed(
        &mut self,
        out: &mut Message,
        machine: Machine,
        form: &TypedForm<'_>,
        event: &Event,
        reader: &mut dyn FieldReader,
    ) -> bool {
        let own = out.open(form.event_type.number);
        let mut sink = TypedSink {
            context: self.context,
            symbols: self.symbols,
            used: &mut self.used,
            state_bits: &mut self.state_bits,
            out,
            form,
            states: self.context.states(machine),
            machine,
            event,
            at: 0,
            seen: 0,
            subject: None,
            flags: 0,
        };
        read_event(self.context, form, event, reader, &mut sink);
        let (seen, subject, flags) = (sink.seen, sink.subject, sink.flags);
        out.close(own);
        write_flags(out, flags);
        let is_chosen = |tid| self.context.subjects.has(machine, tid);
        seen & form.needs == form.needs && subject.is_none_or(is_chosen)
    }
}

/// Passes the fields of an event that has a message of Perfetto's own to `sink`, with the names of the message.
pub(super) fn read_event(
    context: &Context<'_>,
    form: &TypedForm<'_>,
    event: &Event,
    reader: &mut dyn FieldReader,
    sink: &mut dyn FieldSink,
) {
    match form.printed {
        Some(printed) => printed.read(context.reader, (*event).into(), sink),
        None => reader.read(at(event, &|| (*event).into()), sink),
    }
}

/// Returns the position of an event in the trace.
fn at<'e>(event: &Event, whole: &'e dyn Fn() -> EventRef) -> EventAt<'e> {
    EventAt {
        part: event.part,
        place: event.row.place,
        whole,
    }
}

/// Writes the event's flags, after its message.
#[inline]
fn write_flags(out: &mut Message, flags: i64) {
    if flags != 0 {
        out.int(ftrace_event::COMMON_FLAGS, flags);
    }
}

/// Writes the fields of a message of Perfetto's own.
struct TypedSink<'s, 'a> {
    context: &'s Context<'a>,
    symbols: &'s Symbols,
    used: &'s mut UsedSymbols,
    state_bits: &'s mut StateNumbers,
    out: &'s mut Message,
    form: &'s TypedForm<'s>,
    states: StateBits,
    machine: Machine,
    event: &'s Event,
    /// Index of the next field in the event.
    at: usize,
    /// The fields of the message that have values, as bits.
    seen: u32,
    /// The number of the thread that gets a state from the event.
    subject: Option<u64>,
    flags: i64,
}

impl FieldSink for TypedSink<'_, '_> {
    fn common_flags(&mut self, flags: &ValueRef<'_>) {
        self.flags = number_of(flags).unwrap_or(0);
    }

    fn field(&mut self, field: FieldView<'_>) {
        let at = self.at;
        self.at += 1;
        let Some(index) = self.form.index(at, field.name) else {
            return;
        };
        let Some(of_message) = self.form.event_type.fields.get(index) else {
            return;
        };
        let number = of_message.number;
        if self.form.subject == Some(index) {
            self.subject = number_of(field.value).map(i64::cast_unsigned);
        }
        let is_written = match of_message.kind {
            Kind::TaskState if self.has_assumed_states(field.value) => {
                let state = self.assumed_state(field);
                self.out.int(number, state);
                true
            }
            Kind::Symbol => match self.symbol(field) {
                Some(symbol) => {
                    self.out.uint(number, symbol);
                    true
                }
                None => false,
            },
            kind => write_typed(self.out, number, kind, field, self.states),
        };
        self.seen |= u32::from(is_written) << index;
    }

    fn number(&mut self, name: &str, number: NumberValue) {
        let form = self.form;
        let index = form.index(self.at, name);
        let of_message = index.and_then(|index| form.event_type.fields.get(index));
        let is_plain = |kind| match kind {
            Kind::Symbol | Kind::Text => false,
            Kind::TaskState => self.states != StateBits::Assumed,
            Kind::Int | Kind::UInt | Kind::UInt32 | Kind::UIntList => true,
        };
        match (index, of_message) {
            (Some(index), Some(of_message))
                if is_plain(of_message.kind) && form.subject != Some(index) =>
            {
                write_number(self.out, of_message.number, of_message.kind, number);
                self.seen |= 1 << index;
                self.at += 1;
            }
            (Some(_), Some(_)) => self.field(FieldView::of_number(name, &number.into())),
            _ => self.at += 1,
        }
    }
}

impl TypedSink<'_, '_> {
    /// Returns whether a thread state is a number of a kernel whose version is not in the file.
    fn has_assumed_states(&self, state: &ValueRef<'_>) -> bool {
        self.states == StateBits::Assumed && number_of(state).is_some()
    }

    /// Returns the number that trace_processor assumes for the kernel's thread state in a field: the reader of the file
    /// finds the letters of the kernel's number in the description of the event. Unknown letters keep the number.
    fn assumed_state(&mut self, field: FieldView<'_>) -> i64 {
        let own = number_of(field.value).unwrap_or(0);
        if !STATES.contains(&own) {
            return own;
        }
        let (context, event, states) = (self.context, self.event, self.states);
        let find = || {
            let detail = context.reader.describe((*event).into());
            let own = detail.fields.iter().find(|it| it.name == field.name)?;
            // Texts with the trace option `fields` show the number; the type has the letters.
            let stated = || states.of_letters(own.type_name.strip_prefix(STATE_TYPE)?);
            states.of_letters(&own.shown).or_else(stated)
        };
        let key = (self.machine.0, own.cast_unsigned());
        let found = *self.state_bits.entry(key).or_insert_with(find);
        found.unwrap_or(own)
    }

    /// Returns the number of the symbol in a field; `None` if there is none.
    fn symbol(&mut self, field: FieldView<'_>) -> Option<u64> {
        match number_of(field.value) {
            Some(address) => {
                let address = address.cast_unsigned();
                if address != 0
                    && !self.used.contains_key(&address)
                    && let Some(name) = self.name_at(field.name, address)
                {
                    self.used.insert(address, name);
                }
                Some(address)
            }
            None if *field.value == ValueRef::Null => None,
            None => Some(text_symbol(self.used, &text_of(field))),
        }
    }

    /// Returns the name of the kernel function at `address`, which is in a field of this event.
    fn name_at(&self, field: &str, address: u64) -> Option<Arc<str>> {
        let Symbols(known) = self.symbols;
        let key = (self.machine.0, address);
        let known = || known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&key) {
            return known.clone();
        }
        let detail = self.context.reader.describe((*self.event).into());
        let shown = detail.fields.into_iter().find(|it| it.name == field);
        let shown = shown.map(|field| field.shown).unwrap_or_default();
        let name = shown.strip_suffix("+0x0").unwrap_or(&shown).trim();
        let is_name = !name.is_empty() && !name.starts_with("0x");
        let name: Option<Arc<str>> = is_name.then(|| name.into());
        known().entry(key).or_insert(name).clone()
    }
}

/// Returns the number of a symbol without an address.
fn text_symbol(symbols: &mut UsedSymbols, name: &str) -> u64 {
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
fn described(
    out: &mut Message,
    form: &DescribedForm<'_>,
    event: &Event,
    reader: &mut dyn FieldReader,
) -> bool {
    let own = out.open(form.number);
    let mut sink = DescribedSink {
        out,
        form,
        at: 0,
        fits: true,
        flags: 0,
    };
    reader.read(at(event, &|| (*event).into()), &mut sink);
    let DescribedSink { fits, flags, .. } = sink;
    out.close(own);
    write_flags(out, flags);
    fits
}

/// Writes the fields of a described message.
struct DescribedSink<'s> {
    out: &'s mut Message,
    form: &'s DescribedForm<'s>,
    /// Index of the next field.
    at: usize,
    /// Whether all fields so far are described.
    fits: bool,
    flags: i64,
}

impl FieldSink for DescribedSink<'_> {
    fn common_flags(&mut self, flags: &ValueRef<'_>) {
        self.flags = number_of(flags).unwrap_or(0);
    }

    fn field(&mut self, field: FieldView<'_>) {
        let of_message = self.form.fields.get(self.at);
        self.at += 1;
        self.fits &= of_message.is_some_and(|of_message| {
            is_same(&of_message.name, field.name)
                && write_described(self.out, self.at as u32, of_message.kind, field)
        });
    }

    fn number(&mut self, name: &str, number: NumberValue) {
        let of_message = self.form.fields.get(self.at);
        self.at += 1;
        let at = self.at as u32;
        let kind = of_message.filter(|of_message| is_same(&of_message.name, name));
        match (kind.map(|of_message| of_message.kind), number) {
            (Some(ValueKind::Int), NumberValue::Int(value)) => self.out.int(at, value),
            (Some(ValueKind::UInt), NumberValue::UInt(value) | NumberValue::Pointer(value)) => {
                self.out.uint(at, value);
            }
            _ => self.fits = false,
        }
    }
}

/// Writes an event that names its fields itself.
fn named(out: &mut Message, name: &str, event: &Event, reader: &mut dyn FieldReader) {
    let own = out.open(ftrace_event::GENERIC);
    out.text(ftrace_event::GENERIC_NAME, name);
    let mut sink = NamedSink { out, flags: 0 };
    reader.read(at(event, &|| (*event).into()), &mut sink);
    let flags = sink.flags;
    out.close(own);
    write_flags(out, flags);
}

/// Writes the fields of a `GenericFtraceEvent`.
struct NamedSink<'s> {
    out: &'s mut Message,
    flags: i64,
}

impl FieldSink for NamedSink<'_> {
    fn common_flags(&mut self, flags: &ValueRef<'_>) {
        self.flags = number_of(flags).unwrap_or(0);
    }

    fn field(&mut self, field: FieldView<'_>) {
        let out = &mut *self.out;
        let entry = out.open(ftrace_event::GENERIC_FIELD);
        out.text(ftrace_event::FIELD_NAME, &exact_text(field.name_bytes()));
        match field.value {
            ValueRef::Int(value) => out.int(ftrace_event::FIELD_INT, *value),
            ValueRef::UInt(value) | ValueRef::Pointer(value) | ValueRef::Koid(value) => {
                out.uint(ftrace_event::FIELD_UINT, *value);
            }
            ValueRef::Bool(value) => out.uint(ftrace_event::FIELD_UINT, u64::from(*value)),
            _ => out.text(ftrace_event::FIELD_TEXT, &text_of(field)),
        }
        out.close(entry);
    }
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
        // Another name already has the number that a name would get.
        symbols.insert(first, "other".into());
        assert_ne!(text_symbol(&mut symbols, "vmstat_update"), first);
    }
}
