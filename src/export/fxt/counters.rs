//! Counters: the name of a track as event, argument and id, and samples as counter events.

use super::encode::{Encoder, EventAt};
use super::item::Item;
use super::records::{Arg, ArgValue, EventType, Head};
use super::scheduling_args::value_of;
use crate::event::Role;
use crate::export::shared::koids::Koids;
use crate::query::whole_samples::{MOST_EXACT, whole_value};
use crate::trace::EventId;
use crate::trace::counters::CounterScope;

impl Encoder<'_, '_> {
    pub(super) fn sample(&mut self, item: &Item) {
        let source = self.source;
        let counters = &source.trace.counters;
        let (Some(track), Some(name)) = (
            counters.tracks.get(item.of as usize),
            source.counter_names.get(item.of as usize),
        ) else {
            return;
        };
        let by = self
            .events
            .thread(EventId(counters.events[item.row as usize]));
        let thread = match track.scope {
            CounterScope::Global => Koids::MACHINE,
            CounterScope::Cpu(cpu) => source.koids.cpu(cpu),
            CounterScope::Thread(thread) => source.koids.thread(thread),
            CounterScope::Process(process) if source.trace.thread(by).process == Some(process) => {
                source.koids.thread(by)
            }
            CounterScope::Process(process) => self.source.koids.on_process(process),
        };
        let value = self.value_of_sample(item.row, self.name_bytes(track.name));
        let at = EventAt {
            time: item.time,
            thread,
        };
        if self.own_sample(item, at, &value).is_some() {
            return;
        }
        let event = counters.events[item.row as usize];
        let category = self.names_of(self.events.kind(EventId(event))).category;
        let args = [Arg {
            name: name.argument.as_slice().into(),
            value,
        }];
        let head = Head {
            event_type: EventType::Counter,
            time: self.ticks(item.time),
            thread,
            category: self.records.exact_name(self.name_bytes(category)),
            name: self.records.exact_name(&name.event),
        };
        self.records.event(head, &args, Some(name.id));
    }

    /// Returns the value of a sample of a counter with that name: whole numbers as integers, which readers show without a
    /// fraction, also those that no double can contain.
    fn value_of_sample(&self, row: u32, track: &[u8]) -> ArgValue<'static> {
        let source = self.source;
        let value = source.trace.counters.values[row as usize];
        if let Some(whole) = whole_value(source.trace, source.reader, row as usize, track) {
            let signed = i64::try_from(whole).map(ArgValue::Int64);
            let unsigned = || u64::try_from(whole).map(ArgValue::UInt64);
            if let Ok(whole) = signed.or_else(|_| unsigned()) {
                return whole;
            }
        }
        let is_whole = value.fract() == 0.0 && value.abs() <= MOST_EXACT;
        match is_whole && !(value == 0.0 && value.is_sign_negative()) {
            true => ArgValue::Int64(value as i64),
            false => ArgValue::Double(value),
        }
    }

    /// Writes the counter event that a sample comes from, if its arguments are the counter's values, as in FXT. The record
    /// contains all values of the event (their items are adjacent); only this value if others are not chosen, or if the
    /// event is before the range. Returns `None` if nothing was written.
    fn own_sample(&mut self, item: &Item, at: EventAt, value: &ArgValue<'_>) -> Option<()> {
        let source = self.source;
        let counters = &source.trace.counters;
        let id = *counters.events.get(item.row as usize)?;
        if self.role_of(EventId(id)) != Role::Named {
            return None;
        }
        let event = self.event_ref(EventId(id));
        let has_all_values =
            source.has_all_counters || source.chosen.has_thread(self.events.thread(EventId(id)));
        let is_whole = has_all_values && event.time.0 == item.time;
        if is_whole && self.last_counter == Some(id) {
            return Some(());
        }
        if self.without_counter_id == Some(id) {
            return None;
        }
        let names = self.names_of(event.kind);
        self.read(EventId(id));
        let Some(counter_id) = self.counter_id() else {
            // The event may have thousands of values: it is read once, not for each of them.
            self.without_counter_id = Some(id);
            return None;
        };
        let track = self.name_bytes(counters.tracks.get(item.of as usize)?.name);
        let argument = argument_of(track, self.name_bytes(names.name), counter_id)?;
        let mut one = [Arg {
            name: argument.into(),
            value: value.clone(),
        }];
        if !is_whole {
            let number = *counters.values.get(item.row as usize)?;
            if let Some(own) = self.own_number(argument, number) {
                one[0].value = own;
            }
        }
        let args = if is_whole {
            self.last_counter = Some(id);
            &[][..]
        } else {
            self.read_nothing();
            &one[..]
        };
        self.event(EventType::Counter, at, names, args, Some(counter_id));
        Some(())
    }

    /// Returns the argument of the current event that is a counter's value, with its recorded type.
    fn own_number(&mut self, name: &[u8], value: f64) -> Option<ArgValue<'static>> {
        let of = |own: &ArgValue<'_>| {
            let (number, own) = match *own {
                ArgValue::Int32(own) => (f64::from(own), ArgValue::Int32(own)),
                ArgValue::UInt32(own) => (f64::from(own), ArgValue::UInt32(own)),
                ArgValue::Int64(own) => (own as f64, ArgValue::Int64(own)),
                ArgValue::UInt64(own) => (own as f64, ArgValue::UInt64(own)),
                ArgValue::Double(own) => (own, ArgValue::Double(own)),
                _ => return None,
            };
            (number.to_bits() == value.to_bits()).then_some(own)
        };
        let args = self.take_args();
        // An argument without a name has the event's name.
        value_of(&args, name, of).or_else(|| value_of(&args, b"", of))
    }
}

/// Returns the name of the argument of a counter event from which a track was made: readers join `event:argument:id`.
fn argument_of<'t>(track: &'t [u8], event: &'t [u8], id: u64) -> Option<&'t [u8]> {
    let rest = track.strip_prefix(event)?;
    let rest = match id {
        0 => rest,
        id => rest.strip_suffix(format!(":{id}").as_bytes())?,
    };
    match rest {
        [] => Some(event),
        rest => rest.strip_prefix(b":"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_what_the_event_leaves_of_the_track() {
        assert_eq!(argument_of(b"A::B:v:7", b"A::B", 7), Some(&b"v"[..]));
        assert_eq!(argument_of(b"A::B:v", b"A", 0), Some(&b":B:v"[..]));
        assert_eq!(argument_of(b"load", b"load", 0), Some(&b"load"[..]));
        assert_eq!(argument_of(b"load:3", b"load", 3), Some(&b"load"[..]));
        assert_eq!(argument_of(b"counter", b"load", 0), None);
    }
}
