//! How the kernel's events of each kind are written, decided once before any is: as Perfetto's own message, or as a
//! message whose description is in the file.
//!
//! Perfetto's own recorder describes the events that Perfetto has no message for in the first bundle
//! (`generic_event_descriptors`), so that each event is as small as one with a message. An event that does not fit its
//! kind's description (texts have fields that differ from line to line) is a `GenericFtraceEvent`, which names its
//! fields itself.

use rustc_hash::FxHashMap;

use super::event_types::{Derives, EventType, Kind, event_type};
use super::layout::{bundle, descriptor, ftrace_event};
use super::proto::{FieldNumber, Message};
use super::sources::KernelSources;
use crate::base::strings::exact_text;
use crate::event::decoded::is_common;
use crate::event::{EventKind, FieldRef, KindId, Role, ValueRef};
use crate::formats::Events;
use crate::query::selection::Chosen;
use crate::trace::{EventId, Trace};

/// The number of events of a kind that are looked at.
const SAMPLES: usize = 6;
/// trace_processor refuses descriptions with this field number or a larger one (`kMaxAllowedFields`).
const MAX_FIELDS: usize = 32;

/// How events of a kind are written.
#[derive(Debug, Default)]
pub(super) struct KindPlan {
    /// The form of their messages.
    pub form: EventForm,
    /// Whether they are context switches.
    pub is_switch: bool,
}

/// The form of an event's message.
#[derive(Debug, Default)]
pub(super) enum EventForm {
    /// Perfetto's own message.
    Typed(TypedForm),
    /// A message that the file describes.
    Described(DescribedForm),
    /// A `GenericFtraceEvent`.
    #[default]
    Named,
}

/// Perfetto's own message for a kind.
#[derive(Debug)]
pub(super) struct TypedForm {
    /// The message.
    pub event_type: &'static EventType,
    /// The fields without which the message means nothing, as bits by their index in the message.
    pub needs: u32,
    /// By the index of a field in the kind's events: its name, and its index in the message.
    pub places: Vec<TypedPlace>,
}

/// Where the value of a field goes.
#[derive(Debug)]
pub(super) struct TypedPlace {
    /// The field's name in the event.
    pub name: String,
    /// Its index in the message; `None` if the message lacks it.
    pub index: Option<u8>,
}

impl TypedForm {
    fn new(event_type: &'static EventType, names: &[String]) -> TypedForm {
        let needed = (0..).zip(event_type.fields);
        let needed = needed.filter(|(_, field)| event_type.needs.contains(&field.name));
        TypedForm {
            event_type,
            needs: needed.fold(0, |bits, (index, _)| bits | 1_u32 << index),
            places: names
                .iter()
                .map(|name| TypedPlace {
                    index: place_in(event_type, name),
                    name: name.clone(),
                })
                .collect(),
        }
    }

    /// Returns the index in the message of the field `name`, which is at `at` in its event.
    #[inline]
    pub fn index(&self, at: usize, name: &str) -> Option<usize> {
        let index = match self.places.get(at) {
            Some(place) if place.name == name => place.index,
            _ => place_in(self.event_type, name),
        };
        index.map(usize::from)
    }
}

fn place_in(event_type: &EventType, name: &str) -> Option<u8> {
    let at = (event_type.fields.iter()).position(|field| field.name == name)?;
    u8::try_from(at).ok()
}

/// A message that the file describes.
#[derive(Debug)]
pub(super) struct DescribedForm {
    /// Its number in `FtraceEvent`.
    pub number: FieldNumber,
    /// Its fields; the number of each is its index plus 1.
    pub fields: Vec<DescribedField>,
}

/// A field of a described message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedField {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: ValueKind,
}

/// The type of a described field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Int,
    UInt,
    Double,
    Text,
}

impl ValueKind {
    /// Returns the type for a value; `None` if it is missing.
    pub fn of(value: &ValueRef<'_>) -> Option<ValueKind> {
        match value {
            ValueRef::Null => None,
            ValueRef::Int(_) => Some(ValueKind::Int),
            ValueRef::UInt(_) | ValueRef::Pointer(_) | ValueRef::Koid(_) | ValueRef::Bool(_) => {
                Some(ValueKind::UInt)
            }
            ValueRef::Double(_) => Some(ValueKind::Double),
            ValueRef::Text(_) | ValueRef::Bytes(_) | ValueRef::List(_) => Some(ValueKind::Text),
        }
    }

    fn number(self) -> u64 {
        match self {
            ValueKind::Int => descriptor::INT64,
            ValueKind::UInt => descriptor::UINT64,
            ValueKind::Double => descriptor::DOUBLE,
            ValueKind::Text => descriptor::STRING,
        }
    }
}

/// The plans of all kinds.
pub(super) struct Plans {
    kinds: Vec<KindPlan>,
    /// The number of chosen events of the kernel.
    pub event_count: u64,
}

impl Plans {
    /// Looks at the first chosen events of each kind; `more` are events out of the range that may be written.
    pub fn new(trace: &Trace, chosen: &Chosen<'_>, more: &[EventId], kernel: Kernel<'_>) -> Plans {
        let Kernel {
            sources,
            reader,
            machine,
        } = kernel;
        let mut plans = Plans {
            kinds: trace.kinds.iter().map(|_| KindPlan::default()).collect(),
            event_count: 0,
        };
        let mut samples = plans.sample(trace, chosen, sources);
        for &event in more {
            let of_kind = samples.entry(trace.events.kind(event).0).or_default();
            if of_kind.len() < SAMPLES {
                of_kind.push(event);
            }
        }
        // Calls recorded by name and by number are one slice each, from the first of both begins to the last end:
        // trace_processor would only use those by number.
        let is_by_name = |(index, kind): (u32, &EventKind)| {
            trace.strings.bytes(kind.category) == b"syscalls" && samples.contains_key(&index)
        };
        let machine = match (0..).zip(&trace.kinds).any(is_by_name) {
            true => Machine::Unknown,
            false => machine,
        };
        // Begins without ends, or ends without begins, are no slices.
        let is_recorded = |event: &str| {
            (0..).zip(&trace.kinds).any(|(index, kind)| {
                samples.contains_key(&index)
                    && type_of(trace, kind).is_some_and(|it| it.event == event)
            })
        };
        let mut next = ftrace_event::FIRST_DESCRIBED;
        for (index, kind) in trace.kinds.iter().enumerate() {
            let typed = type_of(trace, kind).filter(|event_type| {
                let is_whole = event_type
                    .other_end()
                    .is_none_or(|other| is_recorded(&other));
                // Of an unknown machine, trace_processor would call each system call by its number.
                let has_names =
                    machine == Machine::Known || !event_type.event.starts_with("raw_syscalls:");
                is_whole && has_names && !kind.is_probe
            });
            let events = samples.get(&(index as u32)).map_or(&[][..], Vec::as_slice);
            let Some(plan) = plans.kinds.get_mut(index).filter(|_| !events.is_empty()) else {
                continue;
            };
            plan.is_switch = kind.role == Role::Switch;
            plan.form = form_of(trace, typed, events, reader, next);
            if let EventForm::Described(_) = plan.form {
                next += 1;
            }
        }
        plans
    }

    /// Returns the first chosen events of each kind, and counts all.
    fn sample(
        &mut self,
        trace: &Trace,
        chosen: &Chosen<'_>,
        sources: &KernelSources<'_>,
    ) -> FxHashMap<u32, Vec<EventId>> {
        let mut samples: FxHashMap<u32, Vec<EventId>> = FxHashMap::default();
        for segment in trace.events.segments() {
            if !sources.has_segment(segment) {
                continue;
            }
            let from = segment.lower_bound(chosen.span.start);
            let until = segment.lower_bound(chosen.span.end).max(from);
            self.event_count += u64::from(until - from);
            for index in from..until {
                let of_kind = samples.entry(segment.kind(index).0).or_default();
                if of_kind.len() < SAMPLES {
                    of_kind.push(EventId(segment.first + index));
                }
            }
        }
        samples
    }

    /// Returns the plan of a kind.
    pub fn of(&self, kind: KindId) -> &KindPlan {
        static NAMED: KindPlan = KindPlan {
            form: EventForm::Named,
            is_switch: false,
        };
        self.kinds.get(kind.index()).unwrap_or(&NAMED)
    }

    /// Returns what trace_processor makes of events of a kind.
    pub fn derives(&self, kind: KindId) -> Derives {
        match &self.of(kind).form {
            EventForm::Typed(form) => form.event_type.derives,
            _ => Derives::Nothing,
        }
    }

    /// Returns whether some kind has the message of this event.
    pub fn has_typed(&self, event: &str) -> bool {
        self.kinds.iter().any(|plan| match &plan.form {
            EventForm::Typed(form) => form.event_type.event == event,
            _ => false,
        })
    }

    /// Writes the descriptions of described messages into a bundle.
    pub fn write_descriptors(&self, trace: &Trace, message: &mut Message) {
        for (plan, kind) in self.kinds.iter().zip(&trace.kinds) {
            let EventForm::Described(form) = &plan.form else {
                continue;
            };
            let text = |id| exact_text(trace.strings.bytes(id));
            let entry = message.open(bundle::DESCRIPTORS);
            message.uint(bundle::DESCRIPTOR_NUMBER, u64::from(form.number));
            let described = message.open(bundle::DESCRIPTOR_MESSAGE);
            message.text(descriptor::NAME, &text(kind.name));
            for (number, field) in (1..).zip(&form.fields) {
                let of_field = message.open(descriptor::FIELD);
                message.text(descriptor::FIELD_NAME, &field.name);
                message.uint(descriptor::FIELD_NUMBER, number);
                message.uint(descriptor::FIELD_LABEL, descriptor::OPTIONAL);
                message.uint(descriptor::FIELD_TYPE, field.kind.number());
                message.close(of_field);
            }
            message.close(described);
            message.text(bundle::DESCRIPTOR_GROUP, &text(kind.category));
            message.close(entry);
        }
    }
}

/// What decides how the kernel's events are written.
#[derive(Clone, Copy)]
pub(super) struct Kernel<'a> {
    pub sources: &'a KernelSources<'a>,
    pub reader: &'a dyn Events,
    pub machine: Machine,
}

/// Whether trace_processor makes the same slices of system calls by number that the trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    /// It has the names of the machine's calls.
    Known,
    /// It has not, or the calls are recorded by name as well.
    Unknown,
}

/// Returns the message that Perfetto has for a kind.
fn type_of(trace: &Trace, kind: &EventKind) -> Option<&'static EventType> {
    let text = |id| exact_text(trace.strings.bytes(id));
    event_type(&text(kind.category), &text(kind.name))
}

fn form_of(
    trace: &Trace,
    mut typed: Option<&'static EventType>,
    events: &[EventId],
    reader: &dyn Events,
    next: FieldNumber,
) -> EventForm {
    let mut described: Option<Vec<DescribedField>> = None;
    let mut fields: Vec<FieldRef<'_>> = Vec::new();
    for &event in events {
        fields.clear();
        reader.fields_into(trace.events.get(event).into(), &mut fields);
        fields.retain(|field| !is_common(&field.name));
        typed = typed.filter(|event_type| has_needs(event_type, &fields));
        let own = described_fields(&fields);
        described = match described {
            None => Some(own),
            Some(known) => Some(joined(known, own)),
        };
    }
    let described = described.unwrap_or_default();
    if let Some(event_type) = typed {
        let names: Vec<String> = described.iter().map(|field| field.name.clone()).collect();
        return EventForm::Typed(TypedForm::new(event_type, &names));
    }
    match described.len() < MAX_FIELDS {
        true => EventForm::Described(DescribedForm {
            number: next,
            fields: described,
        }),
        false => EventForm::Named,
    }
}

/// Returns whether an event has the fields without which a message means nothing.
fn has_needs(event_type: &EventType, fields: &[FieldRef<'_>]) -> bool {
    event_type.needs.iter().all(|need| {
        let of_message = event_type.fields.iter().find(|field| field.name == *need);
        let own = fields.iter().find(|field| field.name == *need);
        match (of_message, own.map(|own| &own.value)) {
            (Some(field), Some(value)) => match field.kind {
                Kind::Text | Kind::Symbol => *value != ValueRef::Null,
                _ => super::values::number_of(value).is_some(),
            },
            _ => false,
        }
    })
}

fn described_fields(fields: &[FieldRef<'_>]) -> Vec<DescribedField> {
    let fields = fields.iter().map(|field| DescribedField {
        name: exact_text(field.name_bytes()).into_owned(),
        kind: ValueKind::of(&field.value).unwrap_or(ValueKind::Text),
    });
    fields.collect()
}

/// Returns the longer list where one has the fields of the other and more, else the first one.
fn joined(known: Vec<DescribedField>, own: Vec<DescribedField>) -> Vec<DescribedField> {
    match own.len() > known.len() && own.starts_with(&known) {
        true => own,
        false => known,
    }
}
