//! Kinds of events that are rare in recordings: counters, noise, asynchronous pairs, requests, and births and ends of
//! threads.

use super::{PartPass, until_nul};
use crate::base::{ByteOrder, StringId};
use crate::event::family::Family;
use crate::event::kernel::{AsyncPair, Counter, OWN_CPU, PairEnd};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, ForkSort, Label, Life, Mark, MarkOp, Migration, RequestRow,
    Sample, Series, SeriesScope, Sighted, SliceKind, Stated, ThreadKey,
};
use crate::formats::tracedat::recipe::{Recipe, hash_text};

impl PartPass<'_> {
    /// Reads an event of a rare kind. `None` if the event is too short for its fields.
    pub(super) fn cook_rare<E: ByteOrder>(
        &mut self,
        event: u32,
        own: Option<ThreadKey>,
        recipe: &Recipe,
        payload: &[u8],
    ) -> Option<()> {
        let endian = self.file.endian();
        match recipe {
            Recipe::Counter {
                row,
                value,
                cpu,
                label,
            } => {
                let raw = value.read::<E>(payload)?;
                let value = row.value(raw.cast_signed());
                let cpu = match row.cpu {
                    OWN_CPU => Some(self.cpu.into()),
                    _ => cpu.and_then(|cpu| cpu.read::<E>(payload)),
                };
                let label = label.as_ref().map(|field| {
                    match (field.number(payload, endian), field.data(payload, endian)) {
                        (Some(number), _) if field.is_number() => number.to_string(),
                        (_, Some(text)) => String::from_utf8_lossy(until_nul(text)).into_owned(),
                        _ => String::new(),
                    }
                });
                let label = label.map(|label| row.label_word(&label).to_owned());
                let series = self.series(row, cpu, label);
                self.columns.samples.push(Sample {
                    event,
                    series,
                    value,
                });
            }
            Recipe::Counters(rows) => {
                for row in rows {
                    self.cook_rare::<E>(event, own, row, payload)?;
                }
            }
            Recipe::Noise {
                row,
                start,
                duration,
                text,
                number,
            } => {
                let start = start.read::<E>(payload)?;
                let duration = duration.read::<E>(payload)?;
                let text = text.as_ref().and_then(|field| field.data(payload, endian));
                let text = text.map(|text| String::from_utf8_lossy(until_nul(text)));
                let number = number.and_then(|number| number.read::<E>(payload));
                let name = row.name(text.as_deref(), number.map(|number| number as i64));
                let strings = &mut self.columns.strings;
                let label = Label {
                    family: Family::Noise,
                    kind: Family::Noise.slice_kind(),
                    name: strings.intern_text(&name),
                    category: strings.intern_text(row.event),
                    key: hash_text(name.as_bytes()).max(1),
                };
                let label = self.number_of(label);
                // A single event at the end describes the whole slice: its begin is not in the file.
                let mark = Mark::new(event, label, MarkOp::End);
                self.columns.marks.push(mark);
                let ended = start.checked_add(duration);
                self.measured(event, i64::try_from(duration).ok()?, ended);
                self.columns.stated.push(Stated { event, label });
            }
            Recipe::Async {
                pair,
                end,
                keys,
                name,
            } => {
                // The order of the keys matters: (a, b) and (b, a) are different ids.
                let mut id = 0_u64;
                for key in keys {
                    id = id.rotate_left(40) ^ key.read::<E>(payload)?;
                }
                let name_bytes = name.as_ref().and_then(|field| field.data(payload, endian));
                let name = match (name_bytes, *end) {
                    (Some(name), _) => self.columns.strings.intern(until_nul(name)),
                    (None, PairEnd::Begin) => self.columns.strings.intern_text(pair.stem()),
                    (None, PairEnd::End) => StringId::EMPTY,
                };
                self.async_mark(event, pair, *end, id, name);
            }
            Recipe::Request {
                op,
                device,
                sector,
                count,
                name,
            } => {
                let name = name.as_ref().and_then(|field| field.data(payload, endian));
                let row = RequestRow {
                    event,
                    op: *op,
                    device: device.read::<E>(payload)?,
                    sector: sector.read::<E>(payload)?,
                    count: count
                        .and_then(|count| count.read::<E>(payload))
                        .unwrap_or(0),
                    name: self.columns.strings.intern(name.map_or(b"", until_nul)),
                };
                self.columns.requests.push(row);
            }
            Recipe::Fork {
                parent,
                child,
                name,
            } => {
                let parent = Some(ThreadKey(parent.read::<E>(payload)? as u32));
                let child = child.read::<E>(payload)? as u32;
                let name = name.as_ref().and_then(|field| field.data(payload, endian));
                self.fork(event, parent, child, ForkSort::Unknown, name);
            }
            Recipe::NewTask { child, flags, name } => {
                let child = child.read::<E>(payload)? as u32;
                let flags = flags.and_then(|flags| flags.read::<E>(payload));
                let sort = flags.map_or(ForkSort::Unknown, ForkSort::of_clone);
                let name = name.as_ref().and_then(|field| field.data(payload, endian));
                self.fork(event, own, child, sort, name);
            }
            Recipe::Exec {
                pid,
                caller,
                program,
            } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                let caller = caller.and_then(|caller| caller.read::<E>(payload));
                let caller = caller.map(|pid| ThreadKey(pid as u32));
                let program = program
                    .as_ref()
                    .and_then(|field| field.data(payload, endian));
                let program = self.columns.strings.intern(program.map_or(b"", until_nul));
                self.live(event, Life::exec(thread, program, caller));
            }
            Recipe::Ran { pid } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                if own != Some(thread) {
                    self.columns.sighted.push(Sighted { event, thread });
                }
            }
            Recipe::Migrate { pid, from, to } => {
                let row = Migration {
                    event,
                    thread: ThreadKey(pid.read::<E>(payload)? as u32),
                    from_cpu: from.read::<E>(payload)? as u32,
                    to_cpu: to.read::<E>(payload)? as u32,
                };
                self.columns.migrations.push(row);
            }
            Recipe::Exit { pid, is_last } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                let is_last = is_last.and_then(|is_last| is_last.read::<E>(payload));
                let life = Life::Exit {
                    thread,
                    status: None,
                    signal: None,
                    is_last: is_last.map(|is_last| is_last != 0),
                };
                self.live(event, life);
            }
            Recipe::Forget { pid } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                self.live(event, Life::Forgotten { thread });
            }
            Recipe::Rename { pid: whose, name } => {
                let whose = match whose {
                    Some(num) => num.read::<E>(payload)? as u32,
                    None => own?.0,
                };
                let name = until_nul(name.data(payload, endian)?);
                let mut fixed = [0; 16];
                for (to, from) in fixed.iter_mut().zip(name) {
                    *to = *from;
                }
                self.name_fixed(event, whose, fixed);
            }
            Recipe::UserMode => {
                let label = self.number_of(Label::USER_MODE);
                let mark = Mark::new(event, label, MarkOp::Over);
                self.columns.marks.push(mark);
            }
            Recipe::Mark(_) | Recipe::Switch(_) | Recipe::Wakeup { .. } | Recipe::Print(_) => {}
        }
        Some(())
    }

    fn async_mark(&mut self, event: u32, pair: &AsyncPair, end: PairEnd, id: u64, name: StringId) {
        let category = pair.begin.split(':').next().unwrap_or("");
        let strings = &mut self.columns.strings;
        let mark = AsyncMark {
            event,
            op: match end {
                PairEnd::Begin => AsyncOp::Begin,
                PairEnd::End => AsyncOp::End,
            },
            scope: AsyncScope::Global,
            id,
            name,
            category: strings.intern_text(category),
            kind: SliceKind::Async,
            group: strings.intern_text(pair.group),
        };
        if end == PairEnd::Begin {
            // If a slice with this id is still open, its end was lost.
            let over = AsyncMark {
                op: AsyncOp::Over,
                name: StringId::EMPTY,
                ..mark
            };
            self.columns.asyncs.push(over);
        }
        self.columns.asyncs.push(mark);
    }

    fn series(&mut self, row: &Counter, cpu: Option<u64>, label: Option<String>) -> u32 {
        let strings = &mut self.columns.strings;
        let name = match label {
            Some(label) if !label.is_empty() => {
                strings.intern_text(&format!("{} {label}", row.name))
            }
            _ => strings.intern_text(row.name),
        };
        let series = Series {
            name,
            scope: cpu.map_or(SeriesScope::Global, |cpu| SeriesScope::Cpu(cpu as u32)),
        };
        let all = &mut self.columns.series;
        *self.series.entry(series).or_insert_with(|| {
            all.push(series);
            all.len() as u32 - 1
        })
    }
}
