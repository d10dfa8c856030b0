//! Counters: the series of one counter are arguments of its events, which readers stack; an event without a series leaves
//! that series as it was. A counter is identified by process, name and id, as readers do.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Number, Value, json};

use super::JsonEvents;
use super::event_parts::{Head, When};
use crate::base::strings::exact_text;
use crate::event::FieldRole;
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::export::shared::arguments::record_word;
use crate::export::shared::counter_names::{CounterName, counter_names};
use crate::export::shared::koids::Koids;
use crate::query::whole_samples::whole_value;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, EventId};

/// The series of one counter.
struct Together {
    owner: ThreadKoids,
    event: Vec<u8>,
    id: CounterId,
    /// The counter tracks, each with the name of its series; no name occurs twice.
    series: Vec<(CounterTrackId, Vec<u8>)>,
}

/// The id of a counter.
#[derive(Clone, PartialEq, Eq, Hash)]
enum CounterId {
    /// The counter's name is enough.
    None,
    Number(u64),
    /// A number as its file spells it.
    Spelled(String),
}

impl CounterId {
    /// Returns the member of an event that states the id.
    fn member(&self) -> String {
        match self {
            CounterId::None => String::new(),
            CounterId::Number(number) => format!(",\"id\":{number}"),
            CounterId::Spelled(text) => format!(",\"id\":{}", json!(text)),
        }
    }
}

/// What an event states about the counter whose samples it has.
struct Stated {
    event: EventId,
    id: Option<u64>,
    /// The id as the file spells it; empty if it does not.
    spelled: String,
}

/// The name of a counter's series in the file.
struct SeriesName {
    event: Vec<u8>,
    argument: Vec<u8>,
    id: CounterId,
}

/// A sample of one of the series of a counter. Samples sort in the order of the events that are written: samples of one
/// event are adjacent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SampleRow {
    /// Time in ns, at least the start of the range.
    time: i64,
    /// The event of the sample; `None` for a sample from before the range whose value still holds at the range's start.
    event: Option<u32>,
    /// The number of the sample among those that the event has for the same series, counted from 0.
    nth: u32,
    /// The index of the series.
    series: usize,
    row: u32,
}

impl JsonEvents<'_> {
    /// Writes the chosen counters; returns the number of samples.
    pub(super) fn counters(&mut self) -> Result<u64, ExportError> {
        let mut names: FxHashSet<(u64, String, CounterId)> = FxHashSet::default();
        // The last number appended to each name that several counters share.
        let mut numbers: FxHashMap<(u64, String, CounterId), u32> = FxHashMap::default();
        let mut count = 0;
        for together in self.counters_together() {
            let base = exact_text(&together.event).into_owned();
            let (process, id) = (together.owner.process, &together.id);
            let mut name = base.clone();
            let number = numbers.entry((process, base.clone(), id.clone()));
            let number = number.or_insert(1);
            while !names.insert((process, name.clone(), id.clone())) {
                *number += 1;
                name = format!("{base} ({number})");
            }
            count += self.counter_events(&together, &name)?;
        }
        Ok(count)
    }

    /// Returns the chosen counters, each with its series.
    fn counters_together(&self) -> Vec<Together> {
        type Key = (ThreadKoids, Vec<u8>, CounterId);
        let counters = &self.trace.counters;
        let names: Vec<CounterName> = counter_names(self.trace);
        let mut all: Vec<Together> = Vec::new();
        // An object cannot contain a key twice: if two series of a counter have one name, the second becomes a counter
        // of its own.
        let mut same: FxHashMap<(Key, Vec<u8>), u32> = FxHashMap::default();
        let mut known: FxHashMap<(Key, u32), usize> = FxHashMap::default();
        let mut stated = None;
        for (number, (track, name)) in (0_u32..).zip(counters.tracks.iter().zip(names)) {
            let id = CounterTrackId(number);
            if !self.chosen.has_counter(id) {
                continue;
            }
            let owner = match track.scope {
                CounterScope::Global => Koids::MACHINE,
                CounterScope::Cpu(cpu) => self.koids.cpu(cpu),
                CounterScope::Thread(thread) => self.koids.thread(thread),
                CounterScope::Process(process) => {
                    ThreadKoids::of_process(self.koids.process(process))
                }
            };
            let first = counters.events.get(track.samples.start as usize);
            let first = first.copied().map(EventId);
            // On the thread that took the first sample: no thread is made for the process.
            let written_on = match (track.scope, first) {
                (CounterScope::Process(process), Some(first)) => {
                    let thread = self.trace.events.thread(first);
                    (self.koids).on_async_track(self.trace, Some(process), thread)
                }
                _ => owner,
            };
            // An event may have thousands of series: it is decoded once, not for each of them.
            if let Some(event) = first
                && stated
                    .as_ref()
                    .is_none_or(|stated: &Stated| stated.event != event)
            {
                stated = Some(self.stated(event));
            }
            let of_first = stated.as_ref().filter(|_| first.is_some());
            let name = self.name_in_file(of_first, name, track.name);
            let key: Key = (owner, name.event, name.id);
            let nth = same
                .entry((key.clone(), name.argument.clone()))
                .or_default();
            *nth += 1;
            let at = *known.entry((key.clone(), *nth)).or_insert_with(|| {
                let (_, event, id) = key;
                all.push(Together {
                    owner: written_on,
                    event,
                    id,
                    series: Vec::new(),
                });
                all.len() - 1
            });
            if let Some(together) = all.get_mut(at) {
                together.series.push((id, name.argument));
            }
        }
        all
    }

    /// Returns what an event states about its counter.
    fn stated(&self, event: EventId) -> Stated {
        let fields = self.fields(event);
        let is_id = |role| matches!(role, FieldRole::CounterId | FieldRole::CounterIdOfAll);
        let spelled = fields.iter().find(|field| is_id(field.role));
        Stated {
            event,
            id: spelled.and_then(|field| record_word(&fields, field.role)),
            spelled: spelled.map_or_else(String::new, |field| field.shown.as_str().to_owned()),
        }
    }

    /// Returns the counter's name as the event of its first sample contains it; `name` if the track is not named after
    /// its events.
    fn name_in_file(
        &self,
        first: Option<&Stated>,
        name: CounterName,
        track: crate::base::StringId,
    ) -> SeriesName {
        let name = SeriesName {
            event: name.event,
            argument: name.argument,
            id: match name.id {
                0 => CounterId::None,
                number => CounterId::Number(number),
            },
        };
        let Some(Stated { event, id, spelled }) = first else {
            return name;
        };
        let kind = self.trace.kind_name(self.trace.events.kind(*event));
        let whole = self.trace.strings.bytes(track);
        // The name of the track ends with the id as the file spells it.
        let (ending, own) = match (spelled.as_str(), *id) {
            ("", None | Some(0)) => (String::new(), name.id.clone()),
            ("", Some(id)) => (format!(":{id}"), CounterId::Number(id)),
            (spelled, _) => (
                format!(":{spelled}"),
                CounterId::Spelled(spelled.to_owned()),
            ),
        };
        let argument = (whole.strip_suffix(ending.as_bytes()))
            .and_then(|whole| whole.strip_prefix(kind.as_bytes()));
        match argument {
            Some([]) => SeriesName {
                event: kind.as_bytes().to_vec(),
                argument: kind.as_bytes().to_vec(),
                id: own,
            },
            Some([b':', argument @ ..]) => SeriesName {
                event: kind.as_bytes().to_vec(),
                argument: argument.to_vec(),
                id: own,
            },
            _ => name,
        }
    }

    /// Returns the chosen samples of a counter's series, in the order in which they are written.
    fn samples(&self, together: &Together) -> Vec<SampleRow> {
        let counters = &self.trace.counters;
        let (chosen, start) = (self.chosen, self.chosen.span.start.0);
        let mut samples: Vec<SampleRow> = Vec::new();
        for (series, (id, _)) in together.series.iter().enumerate() {
            let Some(track) = counters.tracks.get(id.0 as usize) else {
                continue;
            };
            let inside = (counters.in_force(track, chosen.span))
                .filter(|&row| counters.times[row as usize] >= start && chosen.has_sample(*id, row))
                .map(|row| (row, counters.events.get(row as usize).copied()));
            let before = chosen.sample_at_start(*id).map(|row| (row, None));
            for (row, event) in before.into_iter().chain(inside) {
                let time = counters.times[row as usize].max(start);
                let last = samples.last().filter(|last| {
                    last.series == series && (last.time, last.event) == (time, event)
                });
                samples.push(SampleRow {
                    time,
                    event,
                    nth: last.map_or(0, |last| last.nth + 1),
                    series,
                    row,
                });
            }
        }
        samples.sort_unstable();
        samples
    }

    fn counter_events(&mut self, together: &Together, name: &str) -> Result<u64, ExportError> {
        let counters = &self.trace.counters;
        let id = together.id.member();
        let mut count = 0;
        let samples = self.samples(together);
        let of_event = |row: &SampleRow| (row.time, row.event, row.nth);
        for of_one in samples.chunk_by(|a, b| of_event(a) == of_event(b)) {
            let mut args = Map::new();
            for sample in of_one {
                let name = together.series.get(sample.series);
                let (Some((track, name)), Some(&value)) =
                    (name, counters.values.get(sample.row as usize))
                else {
                    continue;
                };
                let track = counters.tracks.get(track.0 as usize);
                let track = track.map_or(&[][..], |track| self.trace.strings.bytes(track.name));
                let whole = whole_value(
                    self.trace,
                    self.loaded.reader.as_ref(),
                    sample.row as usize,
                    track,
                );
                let value = match whole.and_then(Number::from_i128) {
                    Some(whole) => Value::Number(whole),
                    None if value.is_finite() => json!(value),
                    None => json!(value.to_string()),
                };
                args.insert(exact_text(name).into_owned(), value);
                count += 1;
            }
            let head = Head {
                phase: "C",
                category: "",
                name,
                owner: together.owner,
            };
            let time = of_one.first().map_or(0, |sample| sample.time);
            self.event(&head, When::at(time), &id, Some(args))?;
        }
        Ok(count)
    }
}
