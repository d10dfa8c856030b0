//! The births of threads and processes that trace_processor learns from the written events: these threads and processes
//! are not in the process tree, as the events contain more about them.

use rustc_hash::FxHashMap;

use super::context::Context;
use super::event_types::{BIRTH, SUBJECT};
use super::ftrace_events::read_event;
use super::plan::{EventForm, TypedForm};
use super::sources::Machine;
use super::values::number_of;
use crate::event::{FieldSink, FieldView, ValueRef};
use crate::formats::events::FieldReader;
use crate::trace::segments::Event;
use crate::trace::{Segment, Thread};

/// A birth at most this many ns before or after a thread's start is the thread's own: a recording may have several
/// events of one birth, and no system uses a number again so soon.
const SAME_BIRTH_NS: u64 = 10_000_000;

/// The births in events that are written with the message [`BIRTH`].
pub(super) struct Births {
    /// The times of the births in ns, by machine and number of the thread.
    times: FxHashMap<(u32, u64), Vec<i64>>,
}

impl Births {
    /// Finds the births among the events that will be written.
    pub(super) fn new(context: &Context<'_>) -> Births {
        let mut births = Births {
            times: FxHashMap::default(),
        };
        let machines = context.sources.machines();
        let own: Vec<Machine> = machines
            .filter(|&machine| context.plans.has_typed(machine, BIRTH))
            .collect();
        let mut reader = context.reader.field_reader();
        for segment in context.trace.events.segments() {
            let machine = context.sources.of_segment(segment);
            if let Some(machine) = machine.filter(|machine| own.contains(machine)) {
                births.add_segment(context, machine, segment, &mut *reader);
            }
        }
        births
    }

    fn add_segment(
        &mut self,
        context: &Context<'_>,
        machine: Machine,
        segment: &Segment,
        reader: &mut dyn FieldReader,
    ) {
        let span = context.chosen.span;
        for index in segment.lower_bound(span.start)..segment.lower_bound(span.end) {
            let form = &context.plans.of(machine, segment.kind(index)).form;
            let EventForm::Typed(form) = form else {
                continue;
            };
            if form.event_type.event != BIRTH {
                continue;
            }
            let event = segment.event(index);
            let child = (context.chosen.has_event(event.id))
                .then(|| child_of(context, form, &event, reader))
                .flatten();
            if let Some(child) = child.filter(|&child| context.subjects.has(machine, child)) {
                let times = self.times.entry((machine.0, child)).or_default();
                times.push(event.row.time.0);
            }
        }
    }

    /// Returns whether the birth of a machine's thread is among the written events.
    pub(super) fn has(&self, Machine(machine): Machine, thread: &Thread) -> bool {
        let times = self.times.get(&(machine, thread.tid));
        let is_own = |start: i64| {
            let mut times = times.into_iter().flatten();
            times.any(|time| time.abs_diff(start) <= SAME_BIRTH_NS)
        };
        thread.start.is_some_and(|start| is_own(start.0))
    }
}

/// Returns the number of the thread that an event creates.
fn child_of(
    context: &Context<'_>,
    form: &TypedForm<'_>,
    event: &Event,
    reader: &mut dyn FieldReader,
) -> Option<u64> {
    let mut child = Child(None);
    read_event(context, form, event, reader, &mut child);
    u64::try_from(child.0?).ok()
}

/// Takes the number of the created thread from the fields of an event.
struct Child(Option<i64>);

impl FieldSink for Child {
    fn common_flags(&mut self, _: &ValueRef<'_>) {}

    fn field(&mut self, field: FieldView<'_>) {
        if field.name == SUBJECT {
            self.0 = number_of(field.value);
        }
    }
}
