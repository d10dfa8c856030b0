//! Counters: series that were sampled by the same events are arguments of one event, which readers stack; every other
//! series has events of its own. Names are unique in their process, because readers identify counters by process and
//! name.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, json};

use super::JsonEvents;
use super::event_parts::{Head, When};
use crate::base::strings::exact_text;
use crate::export::ExportError;
use crate::export::shared::ThreadKoids;
use crate::export::shared::arguments::record_word;
use crate::export::shared::counter_names::{CounterName, counter_names};
use crate::export::shared::koids::Koids;
use crate::trace::counters::CounterScope;
use crate::trace::{CounterTrackId, EventId};

/// Series that were sampled by the same events.
struct Together {
    owner: ThreadKoids,
    event: Vec<u8>,
    id: u64,
    /// The counter tracks, each with the name of its series.
    series: Vec<(CounterTrackId, Vec<u8>)>,
}

impl JsonEvents<'_> {
    /// Writes the chosen counters; returns the number of samples.
    pub(super) fn counters(&mut self) -> Result<u64, ExportError> {
        let mut names: FxHashSet<(u64, String)> = FxHashSet::default();
        // The last number appended to each name that several counters share.
        let mut numbers: FxHashMap<(u64, String), u32> = FxHashMap::default();
        let mut count = 0;
        for together in self.counters_together() {
            let text = exact_text(&together.event);
            let base = match together.id {
                0 => text.into_owned(),
                id => format!("{text}:{id}"),
            };
            let mut name = base.clone();
            let number = numbers
                .entry((together.owner.process, base.clone()))
                .or_insert(1);
            while !names.insert((together.owner.process, name.clone())) {
                *number += 1;
                name = format!("{base} ({number})");
            }
            count += self.counter_events(&together, &name)?;
        }
        Ok(count)
    }

    /// Returns the chosen counters, grouped by the events of their samples.
    fn counters_together(&self) -> Vec<Together> {
        type Key<'a> = (ThreadKoids, Vec<u8>, u64, &'a [u32], &'a [i64]);
        let counters = &self.trace.counters;
        let names: Vec<CounterName> = counter_names(self.trace);
        let mut all: Vec<Together> = Vec::new();
        let mut known: FxHashMap<Key<'_>, usize> = FxHashMap::default();
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
            let rows = track.samples.start as usize..track.samples.end as usize;
            let events = counters.events.get(rows.clone()).unwrap_or(&[]);
            let times = counters.times.get(rows).unwrap_or(&[]);
            let name = self.name_in_file(events.first().copied(), name, track.name);
            let key = (owner, name.event.clone(), name.id, events, times);
            let series = (id, name.argument);
            match known.get(&key).and_then(|&at| all.get_mut(at)) {
                // One event may have several values of one name: they cannot share an object's key.
                Some(found) if found.series.iter().all(|(_, name)| *name != series.1) => {
                    found.series.push(series);
                }
                _ => {
                    all.push(Together {
                        owner,
                        event: name.event,
                        id: name.id,
                        series: vec![series],
                    });
                    known.insert(key, all.len() - 1);
                }
            }
        }
        all
    }

    /// The counter's name as the FXT event of its first sample records it; `name` for other formats.
    fn name_in_file(
        &self,
        first: Option<u32>,
        name: CounterName,
        track: crate::base::StringId,
    ) -> CounterName {
        let Some(event) = first.map(EventId) else {
            return name;
        };
        let fields = self.fields(event);
        let Some(id) = record_word(&fields, "counter id") else {
            return name;
        };
        let kind = self.trace.kind_name(self.trace.events.kind(event));
        let whole = self.trace.strings.bytes(track);
        let ending = if id == 0 {
            String::new()
        } else {
            format!(":{id}")
        };
        let argument = (whole.strip_suffix(ending.as_bytes()))
            .and_then(|whole| whole.strip_prefix(kind.as_bytes()));
        match argument {
            Some([]) => CounterName {
                event: kind.as_bytes().to_vec(),
                argument: kind.as_bytes().to_vec(),
                id,
            },
            Some([b':', argument @ ..]) => CounterName {
                event: kind.as_bytes().to_vec(),
                argument: argument.to_vec(),
                id,
            },
            _ => name,
        }
    }

    fn counter_events(&mut self, together: &Together, name: &str) -> Result<u64, ExportError> {
        let counters = &self.trace.counters;
        let Some((first, _)) = together.series.first() else {
            return Ok(0);
        };
        let Some(track) = counters.tracks.get(first.0 as usize) else {
            return Ok(0);
        };
        let (chosen, start) = (self.chosen, self.chosen.span.start.0);
        let in_force = counters.in_force(track, chosen.span);
        let inside = in_force
            .filter(|&row| counters.times[row as usize] >= start && chosen.has_sample(*first, row));
        let rows: Vec<u32> = chosen
            .sample_at_start(*first)
            .into_iter()
            .chain(inside)
            .collect();
        let mut count = 0;
        for row in rows {
            // The series of an event have equally many samples, at the same indices.
            let index = row - track.samples.start;
            let mut args = Map::new();
            for (id, series) in &together.series {
                let samples = counters
                    .tracks
                    .get(id.0 as usize)
                    .map(|track| &track.samples);
                let row = samples.map_or(0, |samples| samples.start) + index;
                if let Some(&value) = counters.values.get(row as usize) {
                    let value = match value.is_finite() {
                        true => json!(value),
                        false => json!(value.to_string()),
                    };
                    args.insert(exact_text(series).into_owned(), value);
                    count += 1;
                }
            }
            let head = Head {
                phase: "C",
                category: "",
                name,
                owner: together.owner,
            };
            let time = counters.times[row as usize].max(start);
            self.event(&head, When::at(time), "", Some(args))?;
        }
        Ok(count)
    }
}
