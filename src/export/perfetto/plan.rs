//! How the kernel's events of each kind are written, decided once before any is: as Perfetto's own message, or as a
//! message whose description is in the file.
//!
//! Perfetto's own recorder describes the events that Perfetto has no message for in the first bundle
//! (`generic_event_descriptors`), so that each event is as small as one with a message. An event that does not fit its
//! kind's description (texts have fields that differ from line to line) is a `GenericFtraceEvent`, which names its
//! fields itself.

use std::borrow::Cow;

use super::accounted::are_separate;
use super::event_types::{Derives, EventType, IO_DONE, IO_START, Kind, SUBJECT, event_type};
use super::layout::{bundle, descriptor, ftrace_event};
use super::printed::{PrintedForm, is_printed, printed_form};
use super::proto::{FieldNumber, Message};
use super::sources::{KernelSources, Machine};
use crate::base::StringId;
use crate::base::strings::exact_text;
use crate::event::{
    EventKind, FieldRef, FieldRole, FieldSink, FieldView, KindId, KindOrigin, Role, ValueRef,
};
use crate::formats::{EventRef, Events};
use crate::query::selection::Chosen;
use crate::trace::{EventId, Trace};

/// The number of events of each kind that are examined.
const SAMPLES: usize = 6;
/// trace_processor refuses descriptions with this field number or a larger one (`kMaxAllowedFields`).
const MAX_FIELDS: usize = 32;

/// How events of a kind are written.
#[derive(Debug, Default)]
pub(super) struct KindPlan<'a> {
    /// The form of their messages.
    pub form: EventForm<'a>,
    /// The events' name.
    pub name: StringId,
    /// Whether they are context switches.
    pub is_switch: bool,
}

impl KindPlan<'_> {
    /// Returns what trace_processor derives from the events.
    pub(crate) fn derives(&self) -> Derives {
        match &self.form {
            EventForm::Typed(form) => form.event_type.derives,
            _ => Derives::Nothing,
        }
    }
}

/// The form of an event's message.
#[derive(Debug, Default)]
pub(super) enum EventForm<'a> {
    /// Perfetto's own message.
    Typed(TypedForm<'a>),
    /// A message that the file describes.
    Described(DescribedForm<'a>),
    /// A `GenericFtraceEvent`.
    #[default]
    Named,
}

/// Perfetto's own message for a kind.
#[derive(Debug)]
pub(super) struct TypedForm<'a> {
    /// The message.
    pub event_type: &'static EventType,
    /// The fields without which the message means nothing, as bits by their index in the message.
    pub needs: u32,
    /// How the events are printed, if they are texts whose fields differ from the message's.
    pub printed: Option<&'static PrintedForm>,
    /// The index in the message of the thread that gets a state from the event.
    pub subject: Option<usize>,
    /// By the index of a field in the kind's events: its name, and its index in the message.
    pub places: Vec<TypedPlace<'a>>,
}

/// Where the value of a field goes.
#[derive(Debug)]
pub(super) struct TypedPlace<'a> {
    /// The field's name in the event.
    pub name: Cow<'a, str>,
    /// Its index in the message; `None` if the message lacks it.
    pub index: Option<u8>,
}

/// Returns whether two texts are equal. Names of fields are mostly the same bytes of the same format.
#[inline]
pub(super) fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && (std::ptr::eq(a.as_ptr(), b.as_ptr()) || a == b)
}

impl<'a> TypedForm<'a> {
    fn new(
        event_type: &'static EventType,
        printed: Option<&'static PrintedForm>,
        fields: &[DescribedField<'a>],
    ) -> TypedForm<'a> {
        let needed = (0..).zip(event_type.fields);
        let needed = needed.filter(|(_, field)| event_type.needs.contains(&field.name));
        let subject = place_in(event_type, SUBJECT).filter(|_| event_type.starts_state());
        TypedForm {
            event_type,
            printed,
            subject: subject.map(usize::from),
            needs: needed.fold(0, |bits, (index, _)| bits | 1_u32 << index),
            places: fields
                .iter()
                .map(|field| TypedPlace {
                    index: place_in(event_type, &field.name),
                    name: field.name.clone(),
                })
                .collect(),
        }
    }

    /// Returns the index in the message of the field `name`, which is at `at` in its event.
    #[inline]
    pub(super) fn index(&self, at: usize, name: &str) -> Option<usize> {
        let index = match self.places.get(at) {
            Some(place) if is_same(&place.name, name) => place.index,
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
pub(super) struct DescribedForm<'a> {
    /// Its number in `FtraceEvent`.
    pub number: FieldNumber,
    /// Its fields; the number of each is its index plus 1.
    pub fields: Vec<DescribedField<'a>>,
}

/// A field of a described message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DescribedField<'a> {
    /// Its name.
    pub name: Cow<'a, str>,
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
    pub(super) fn of(value: &ValueRef<'_>) -> Option<ValueKind> {
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
pub(super) struct Plans<'a> {
    machines: Vec<MachinePlans<'a>>,
    /// Whether trace_processor makes slices or counters of any kind.
    derive_any: bool,
}

/// The plans for the events of one machine.
#[derive(Default)]
struct MachinePlans<'a> {
    kinds: Vec<KindPlan<'a>>,
}

/// The properties that decide how the kernel's events are written.
#[derive(Clone, Copy)]
pub(super) struct Kernel<'s, 'a> {
    pub trace: &'a Trace,
    pub sources: &'s KernelSources<'a>,
    pub reader: &'a dyn Events,
}

/// Whether trace_processor derives the same slices of system calls by number that the trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallNames {
    /// trace_processor has the names of the machine's calls.
    Known,
    /// trace_processor has no names for the machine's calls, or the calls are also recorded by name.
    Unknown,
}

/// Whether trace_processor derives the same slices of accounted block requests that the trace has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requests {
    Separate,
    Overlapping,
}

impl<'a> Plans<'a> {
    /// Examines the first chosen events of each kind; `more` are events out of the range that may be written, `names`
    /// has an entry for each machine.
    pub(super) fn new(
        kernel: Kernel<'_, 'a>,
        chosen: &Chosen<'_>,
        more: &[EventId],
        names: &[CallNames],
    ) -> Plans<'a> {
        let mut samples = sample(kernel, chosen);
        for &event in more {
            if let Some(Machine(machine)) = kernel.sources.of_event(event)
                && let Some(samples) = samples.get_mut(machine as usize)
            {
                samples.add(kernel.trace.events.kind(event), || event);
            }
        }
        let machines = kernel.sources.machines().zip(samples.iter().zip(names));
        let machines = machines.map(|(machine, (samples, &names))| {
            let requests = match are_separate(kernel.trace, kernel.sources, machine) {
                true => Requests::Separate,
                false => Requests::Overlapping,
            };
            MachinePlans::new(kernel, samples, names, requests)
        });
        let machines: Vec<MachinePlans<'_>> = machines.collect();
        let mut kinds = machines.iter().flat_map(|machine| &machine.kinds);
        Plans {
            derive_any: kinds.any(|plan| plan.derives() != Derives::Nothing),
            machines,
        }
    }

    /// Returns the plan of a kind.
    #[inline]
    pub(super) fn of(&self, machine: Machine, kind: KindId) -> &KindPlan<'a> {
        static NAMED: KindPlan<'static> = KindPlan {
            form: EventForm::Named,
            name: StringId::EMPTY,
            is_switch: false,
        };
        let plans = self.machines.get(machine.0 as usize);
        let plan = plans.and_then(|plans| plans.kinds.get(kind.index()));
        plan.unwrap_or(&NAMED)
    }

    /// Returns whether trace_processor makes slices or counters of any kind.
    #[inline]
    pub(crate) fn derive_any(&self) -> bool {
        self.derive_any
    }

    /// Returns whether some kind has the message of this event.
    pub(crate) fn has_typed(&self, machine: Machine, event: &str) -> bool {
        let plans = self.machines.get(machine.0 as usize);
        let mut kinds = plans.into_iter().flat_map(|plans| &plans.kinds);
        kinds.any(|plan| match &plan.form {
            EventForm::Typed(form) => form.event_type.event == event,
            _ => false,
        })
    }

    /// Writes the descriptions of a machine's described messages into a bundle.
    pub(crate) fn write_descriptors(&self, machine: Machine, trace: &Trace, message: &mut Message) {
        let Some(plans) = self.machines.get(machine.0 as usize) else {
            return;
        };
        for (plan, kind) in plans.kinds.iter().zip(&trace.kinds) {
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

/// The first chosen events of each kind of a machine.
struct Samples(Vec<Vec<EventId>>);

impl Samples {
    #[inline]
    fn add(&mut self, kind: KindId, event: impl FnOnce() -> EventId) {
        if let Some(of_kind) = self.0.get_mut(kind.index())
            && of_kind.len() < SAMPLES
        {
            of_kind.push(event());
        }
    }

    fn of(&self, kind: usize) -> &[EventId] {
        self.0.get(kind).map_or(&[], Vec::as_slice)
    }
}

/// Returns the first chosen events of each kind, by machine.
fn sample(kernel: Kernel<'_, '_>, chosen: &Chosen<'_>) -> Vec<Samples> {
    let Kernel { trace, sources, .. } = kernel;
    let kind_count = trace.kinds.len();
    let machines = sources.machines();
    let mut samples: Vec<Samples> = machines
        .map(|_| Samples(vec![Vec::new(); kind_count]))
        .collect();
    for segment in trace.events.segments() {
        let Some(Machine(machine)) = sources.of_segment(segment) else {
            continue;
        };
        let Some(samples) = samples.get_mut(machine as usize) else {
            continue;
        };
        let from = segment.lower_bound(chosen.span.start);
        let until = segment.lower_bound(chosen.span.end).max(from);
        for index in from..until {
            samples.add(segment.kind(index), || EventId(segment.first + index));
        }
    }
    samples
}

impl<'a> MachinePlans<'a> {
    fn new(
        kernel: Kernel<'_, 'a>,
        samples: &Samples,
        names: CallNames,
        requests: Requests,
    ) -> MachinePlans<'a> {
        let trace = kernel.trace;
        // Calls recorded by name and by number are one slice each, from the first of both begins to the last end:
        // trace_processor would only use those by number.
        let is_by_name = |(index, kind): (usize, EventKind)| {
            let is_by_number = || type_of(trace, &kind).is_some_and(EventType::is_call_by_number);
            kind.role == Role::SystemCall && !samples.of(index).is_empty() && !is_by_number()
        };
        let names = match trace.kinds.iter().enumerate().any(is_by_name) {
            true => CallNames::Unknown,
            false => names,
        };
        // Begins without ends, or ends without begins, are no slices.
        let is_recorded = |event: &str| {
            trace.kinds.iter().enumerate().any(|(index, kind)| {
                !samples.of(index).is_empty()
                    && type_of(trace, &kind).is_some_and(|it| it.event == event)
            })
        };
        let mut next = ftrace_event::FIRST_DESCRIBED;
        let kinds = trace.kinds.iter().enumerate().map(|(index, kind)| {
            let events = samples.of(index);
            if events.is_empty() {
                return KindPlan {
                    name: kind.name,
                    ..KindPlan::default()
                };
            }
            let typed = type_of(trace, &kind).filter(|event_type| {
                let is_whole = event_type
                    .other_end()
                    .is_none_or(|other| is_recorded(&other));
                // Without names, trace_processor would call each system call by its number.
                let has_names = names == CallNames::Known || !event_type.is_call_by_number();
                let is_request = matches!(event_type.event, IO_START | IO_DONE);
                let is_same = requests == Requests::Separate || !is_request;
                is_whole && has_names && is_same && kind.origin != KindOrigin::Probe
            });
            let form = form_of(trace, typed, events, kernel.reader, next);
            if let EventForm::Described(_) = form {
                next += 1;
            }
            KindPlan {
                form,
                name: kind.name,
                is_switch: kind.role == Role::Switch,
            }
        });
        MachinePlans {
            kinds: kinds.collect(),
        }
    }
}

/// Returns the message that Perfetto has for a kind.
fn type_of(trace: &Trace, kind: &EventKind) -> Option<&'static EventType> {
    let (system, name) = trace.recorded_as(kind);
    event_type(&exact_text(system), &exact_text(name))
}

fn form_of<'a>(
    trace: &Trace,
    mut typed: Option<&'static EventType>,
    events: &[EventId],
    reader: &'a dyn Events,
    next: FieldNumber,
) -> EventForm<'a> {
    let mut described: Option<Vec<DescribedField<'a>>> = None;
    let mut fields: Vec<FieldRef<'a>> = Vec::new();
    let mut printed = typed.and_then(|event_type| printed_form(event_type.event));
    for &event in events {
        let event = trace.events.get(event).into();
        fields.clear();
        reader.fields_into(event, &mut fields);
        fields.retain(|field| field.role.is_argument() && field.role != FieldRole::Common);
        printed = printed.filter(|_| is_printed(&fields));
        typed = typed.filter(|event_type| match printed {
            Some(printed) => has_needs(event_type, &fields_of_message(printed, reader, event)),
            None => has_needs(event_type, &fields),
        });
        let own = described_fields(&fields);
        described = match described {
            None => Some(own),
            Some(known) => Some(joined(known, own)),
        };
    }
    let described = described.unwrap_or_default();
    if let Some(event_type) = typed {
        // The places of fields in a text are not their places in the message.
        let fields = match printed {
            Some(_) => &[][..],
            None => &described,
        };
        return EventForm::Typed(TypedForm::new(event_type, printed, fields));
    }
    match described.len() < MAX_FIELDS {
        true => EventForm::Described(DescribedForm {
            number: next,
            fields: described,
        }),
        false => EventForm::Named,
    }
}

/// Returns the fields of a printed event, with the names and values of the message.
fn fields_of_message(
    printed: &PrintedForm,
    reader: &dyn Events,
    event: EventRef,
) -> Vec<FieldRef<'static>> {
    let mut collected = CollectedFields(Vec::new());
    printed.read(reader, event, &mut collected);
    collected.0
}

/// The fields of one event.
struct CollectedFields(Vec<FieldRef<'static>>);

impl FieldSink for CollectedFields {
    fn common_flags(&mut self, _: &ValueRef<'_>) {}

    fn field(&mut self, field: FieldView<'_>) {
        let value = field.value.clone().into_value();
        self.0.push(FieldRef::of_value(field.name, value));
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

fn described_fields<'a>(fields: &[FieldRef<'a>]) -> Vec<DescribedField<'a>> {
    let fields = fields.iter().map(|field| DescribedField {
        name: field.name.clone(),
        kind: ValueKind::of(&field.value).unwrap_or(ValueKind::Text),
    });
    fields.collect()
}

/// Returns `own` if it starts with all fields of `known` and has more, else `known`.
fn joined<'a>(
    known: Vec<DescribedField<'a>>,
    own: Vec<DescribedField<'a>>,
) -> Vec<DescribedField<'a>> {
    match own.len() > known.len() && own.starts_with(&known) {
        true => own,
        false => known,
    }
}
