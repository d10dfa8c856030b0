//! The bulk pass: a run of ring-buffer pages in, compact columns out.
//!
//! For every event the loop reads the record's header, the event's number and its pid, and appends 9 bytes.
//! Only kinds with a [`Recipe`] cost more. Nothing is allocated per event: names and labels are made once a
//! part and found again in small tables.

use rustc_hash::{FxHashMap, FxHashSet};

use super::TraceFile;
use super::clock::TimeMap;
use super::decoder::Decoder;
use super::page::{Layout, Lost, Order, Records, read_head};
use super::recipe::{KeyOf, MarkRecipe, NameOf, PrintText, Recipe, SwitchRecipe, hash_text};
use super::recipes::{HAS_RECIPE, Recipes};
use crate::base::{Location, Severity, StringId, Timestamp};
use crate::event::pairs::{
    AsyncPair, Counter, FUNCTIONS, KPROBES, NOISE, NUMBER_ZERO, OWN_CPU, PairEnd, SYSCALLS,
    UPROBES, USER_MODE, label_word,
};
use crate::event::syscalls;
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, EndState, ForkSort, Gap, Interrupt, KindId, Label, LaneColumns,
    Life, LifeRow, Mark, MarkOp, Measured, MeasuredClock, RequestRow, Sample, Seam, Series,
    SeriesScope, Stated, Switch, SwitchTells, ThreadKey, Wakeup,
};
use crate::formats::atrace;
use crate::formats::open_calls::OpenCalls;

const CLONE_THREAD: u64 = 0x10000;

/// One entry of the table in which labels are found again.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Kind plus one; 0: free.
    kind: u32,
    label: u32,
    key: u64,
}

const FOUND_SHIFT: u32 = 10;
const NAMES: usize = 1024;
/// Most bytes that are left in a page when an event does not fit into it any more.
const MOST_LEFT_IN_PAGE: usize = 256;

/// The bulk pass over one part.
pub struct PartPass<'a> {
    file: &'a TraceFile,
    recipes: &'a Recipes,
    decoder: &'a (dyn Fn() -> &'a Decoder + 'a),
    layout: Layout,
    cpu: u32,
    map: TimeMap,
    /// What was made of the part so far.
    pub columns: LaneColumns,
    /// The last time that was seen, in this part or just before it.
    pub last_time: Option<i64>,
    /// Whether events were dropped, nobody knows where: that was where a page was full.
    pub has_seams: bool,
    found: Vec<Found>,
    /// Calls of functions that began in this part.
    open_calls: OpenCalls,
    labels: FxHashMap<Label, u32>,
    series: FxHashMap<Series, u32>,
    /// Who said whose process they are of.
    claims: FxHashSet<(u32, u32)>,
    /// Last names seen, by the low bits of the pid; and of those that were pushed out.
    names: Vec<(u32, [u8; 16])>,
    other_names: FxHashMap<u32, [u8; 16]>,
}

impl<'a> PartPass<'a> {
    /// Before the first page of a part of a CPU whose buffer has that clock. `decoder` is asked for only if an event must be made text.
    #[must_use]
    pub fn new(
        file: &'a TraceFile,
        recipes: &'a Recipes,
        decoder: &'a (dyn Fn() -> &'a Decoder + 'a),
        (cpu, clock): (u32, &str),
    ) -> PartPass<'a> {
        let mut columns = LaneColumns::new(2);
        // The kernel measures with its local clock, whatever clock the events have.
        columns.measured_clock = match clock {
            "local" => MeasuredClock::Same,
            "x86-tsc" | "ppc-tb" | "s390-tod" | "tsc" | "tsc2nsec" | "counter" => {
                MeasuredClock::Other
            }
            _ => MeasuredClock::Unproven,
        };
        PartPass {
            file,
            recipes,
            decoder,
            layout: file.layout,
            cpu,
            map: file.time_map(cpu),
            columns,
            last_time: None,
            has_seams: file.drops_of(cpu) > 0,
            open_calls: OpenCalls::default(),
            found: vec![Found::default(); 1 << FOUND_SHIFT],
            labels: FxHashMap::default(),
            series: FxHashMap::default(),
            claims: FxHashSet::default(),
            names: vec![(0, [0; 16]); NAMES],
            other_names: FxHashMap::default(),
        }
    }

    /// Takes in one page that starts at `place` of its CPU's pages.
    pub fn read_page<E: Order>(&mut self, page: &[u8], place: u64) {
        let Some(head) = read_head::<E>(page, self.layout) else {
            return self.note_damage("page_cut", place, "a page ends before its records begin");
        };
        if head.is_damaged {
            self.note_damage(
                "page_too_full",
                place,
                "a page claims to hold more than it can",
            );
        }
        let first = self.columns.events.len();
        let mut records = Records::<E>::new(page, self.layout, &head);
        // A small event may still fit behind a large one that was dropped.
        let full = page.len().saturating_sub(MOST_LEFT_IN_PAGE);
        let (mut before_full, before_page) = (None, self.last_time);
        let plain = self.map.plain_offset();
        let recipes = self.recipes;
        for record in records.by_ref() {
            let Some((id, pid)) = recipes.common::<E>(record.payload) else {
                self.note_damage("event_cut", place, "an event has no number");
                continue;
            };
            let time = match plain {
                Some(add) => (record.time as i64).wrapping_add(add),
                None => self.map.time(record.time),
            };
            if self.has_seams && (record.at < full || before_full.is_none()) {
                before_full = Some(time);
            }
            let what = recipes.ids.get(usize::from(id)).copied().unwrap_or(0);
            let kind = KindId(what as u16);
            let at = place + record.at as u64;
            let event = self.columns.events.push(time, at, kind, ThreadKey(pid));
            if what & HAS_RECIPE != 0 {
                self.cook::<E>(event, kind, pid, record.payload);
            } else if kind.0 == recipes.unknown {
                self.note_damage(
                    "unknown_event",
                    at,
                    "an event has a number that no format has",
                );
            }
        }
        if records.is_damaged() {
            self.note_damage(
                "record_damaged",
                place,
                "a page holds a record that is cut short",
            );
        }
        self.note_lost(head.lost, first, head.time);
        if self.has_seams {
            self.note_seams(first, before_page, before_full);
        }
    }

    /// Events may have been dropped between the page before and this one, and where this one is full.
    #[cold]
    fn note_seams(&mut self, first: usize, before: Option<i64>, before_full: Option<i64>) {
        let events = &self.columns.events;
        let count = events.len();
        if first >= count {
            return;
        }
        let (start, end) = (events.time(first as u32), events.time(count as u32 - 1));
        let cpu = self.cpu;
        let seam = |from: i64, until: Timestamp| Seam {
            start: Timestamp(from).min(until),
            end: until,
            cpu,
        };
        let seams = &mut self.columns.seams;
        seams.extend(before.map(|before| seam(before, start)));
        seams.extend(before_full.map(|before| seam(before, end)));
    }

    #[cold]
    fn note_damage(&mut self, code: &'static str, place: u64, message: &str) {
        let cpu = self.cpu;
        let at = Location::Byte(place);
        self.columns
            .diagnostics
            .note(code, Severity::Error, at, || {
                format!("{message} (place in the data of CPU {cpu})")
            });
    }

    fn note_lost(&mut self, lost: Lost, first: usize, page_time: u64) {
        let count = self.columns.events.len();
        if lost != Lost::No {
            let end = if first < count {
                self.columns.events.time(first as u32)
            } else {
                Timestamp(self.map.time(page_time))
            };
            self.columns.gaps.push(Gap {
                start: self.last_time.map_or(end, Timestamp).min(end),
                end,
                cpu: Some(self.cpu),
                lost: match lost {
                    Lost::Count(count) => Some(count),
                    _ => None,
                },
            });
        }
        if first < count {
            self.last_time = Some(self.columns.events.time(count as u32 - 1).0);
        }
    }

    #[inline]
    fn cook<E: Order>(&mut self, event: u32, kind: KindId, pid: u32, payload: &[u8]) {
        let recipes = self.recipes;
        let Some(recipe) = recipes.of(usize::from(kind.0)) else {
            return;
        };
        let done = match recipe {
            Recipe::Mark(mark) => self.mark::<E>(event, kind, mark, payload),
            Recipe::Switch(switch) => self.switch::<E>(event, switch, payload),
            Recipe::Wakeup {
                pid: woken,
                target_cpu,
                comm,
                sort,
            } => woken.read::<E>(payload).map(|woken| {
                let target = target_cpu.and_then(|cpu| cpu.read::<E>(payload));
                self.columns.wakeups.push(Wakeup {
                    event,
                    thread: ThreadKey(woken as u32),
                    waker: ThreadKey(pid),
                    target_cpu: target.map_or(u32::MAX, |cpu| cpu as u32),
                    sort: *sort,
                    interrupt: recipes.flags(payload).and_then(Interrupt::of_flags),
                });
                self.name(event, woken as u32, *comm, payload);
            }),
            Recipe::Print(text) => self.print::<E>(event, kind, *text, payload),
            _ => self.cook_rare::<E>(event, pid, recipe, payload),
        };
        if done.is_none() {
            let place = self.columns.events.place(event);
            self.note_damage("event_cut", place, "an event ends before its fields do");
        }
    }

    #[inline]
    fn switch<E: Order>(&mut self, event: u32, at: &SwitchRecipe, payload: &[u8]) -> Option<()> {
        let prev = at.prev_pid.read::<E>(payload)? as u32;
        let next = at.next_pid.read::<E>(payload)? as u32;
        let priority = |num: Option<super::recipe::Num>| {
            num.and_then(|num| num.read::<E>(payload)).unwrap_or(0) as i32
        };
        let state = at.prev_state.and_then(|state| state.read::<E>(payload));
        self.columns.switches.push(Switch {
            event,
            cpu: self.cpu,
            prev: ThreadKey(prev),
            next: ThreadKey(next),
            prev_priority: priority(at.prev_priority),
            next_priority: priority(at.next_priority),
            prev_state: state.map_or(EndState::Unknown, |state| at.states.state(state)),
            tells: SwitchTells::RunsAndStates,
        });
        self.name(event, prev, at.prev_comm, payload);
        self.name(event, next, at.next_comm, payload);
        Some(())
    }

    /// Notes the name of thread `pid` if it is not the one that was seen last.
    #[inline]
    fn name(&mut self, event: u32, pid: u32, at: Option<u32>, payload: &[u8]) {
        let name = at
            .and_then(|at| payload.get(at as usize..))
            .and_then(<[u8]>::first_chunk::<16>);
        let slot = self.names.get_mut(pid as usize % NAMES);
        if let (Some(name), Some(slot)) = (name, slot)
            && (slot.0 != pid || slot.1 != *name)
        {
            let (old, name) = (*slot, *name);
            *slot = (pid, name);
            self.new_name(event, pid, old, name);
        }
    }

    #[cold]
    fn new_name(&mut self, event: u32, pid: u32, old: (u32, [u8; 16]), name: [u8; 16]) {
        let known = if old.0 == pid {
            Some(old.1)
        } else {
            if old.0 != 0 {
                self.other_names.insert(old.0, old.1);
            }
            self.other_names.get(&pid).copied()
        };
        if pid != 0 && known != Some(name) {
            let name = self.columns.strings.intern(until_nul(&name));
            self.live(
                event,
                Life::Name {
                    thread: ThreadKey(pid),
                    name,
                },
            );
        }
    }

    fn live(&mut self, event: u32, life: Life) {
        self.columns.lives.push(LifeRow { event, life });
    }

    #[inline]
    fn mark<E: Order>(
        &mut self,
        event: u32,
        kind: KindId,
        recipe: &MarkRecipe,
        payload: &[u8],
    ) -> Option<()> {
        let key = match &recipe.key {
            KeyOf::Fixed(key) => *key,
            KeyOf::Num(num) => num.read::<E>(payload)?,
            KeyOf::Text(field) => hash_text(field.data(payload, self.file.endian())?),
        } ^ recipe.salt;
        let slot = (key ^ u64::from(kind.0) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (slot >> (64 - FOUND_SHIFT)) as usize;
        let found = self.found.get(slot).copied().unwrap_or_default();
        let label = if found.kind == u32::from(kind.0) + 1
            && found.key == key
            && self.has_name(&recipe.name, found.label, payload)
        {
            found.label
        } else {
            let label = self.label::<E>(kind, recipe, key, payload);
            if let Some(slot) = self.found.get_mut(slot) {
                *slot = Found {
                    kind: u32::from(kind.0) + 1,
                    label,
                    key,
                };
            }
            label
        };
        self.columns.marks.push(Mark::new(event, label, recipe.op));
        if recipe.family == FUNCTIONS {
            self.call::<E>(event, kind, recipe, key, payload);
        }
        Some(())
    }

    /// Counts calls of functions; of a return whose entry is not in this part, notes how long its call was.
    fn call<E: Order>(
        &mut self,
        event: u32,
        kind: KindId,
        recipe: &MarkRecipe,
        key: u64,
        payload: &[u8],
    ) -> Option<()> {
        let thread = match self.columns.events.thread(event) {
            // Every CPU has an idle thread.
            ThreadKey::IDLE => u32::MAX - self.cpu,
            thread => thread.0,
        };
        let Some(call) = &recipe.call else {
            self.open_calls.begin(thread, key);
            return Some(());
        };
        let has_begun = self.open_calls.end(thread, key);
        let (begun, over) = (
            call.begun.read::<E>(payload)?,
            call.over.read::<E>(payload)?,
        );
        let Some(duration) = over.checked_sub(begun) else {
            return Some(());
        };
        self.measured(event, i64::try_from(duration).ok()?, Some(over));
        if !has_begun {
            let label = self.label::<E>(kind, &call.entry, key, payload);
            self.columns.stated.push(Stated { event, label });
        }
        Some(())
    }

    /// Notes how long the slice was that `event` ends, and when it ended by the kernel's local clock.
    fn measured(&mut self, event: u32, duration_ns: i64, over: Option<u64>) {
        let time = self.columns.events.time(event).0;
        let ended = over.and_then(|over| self.map.local_time(over));
        let row = Measured::new(event, duration_ns, time, ended);
        self.columns.measured.push(row);
    }

    /// Whether a label that was found by its key alone also has this event's name.
    #[inline]
    fn has_name(&self, name: &NameOf, label: u32, payload: &[u8]) -> bool {
        match name {
            NameOf::Text(field) => {
                let text = field.data(payload, self.file.endian()).map(until_nul);
                let label = self.columns.labels.get(label as usize);
                label.is_some_and(|label| {
                    self.columns.strings.bytes(label.name) == text.unwrap_or(b"")
                })
            }
            _ => true,
        }
    }

    #[cold]
    fn label<E: Order>(
        &mut self,
        kind: KindId,
        recipe: &MarkRecipe,
        key: u64,
        payload: &[u8],
    ) -> u32 {
        let file = self.file;
        let symbols = &file.metadata.kallsyms;
        let strings = &mut self.columns.strings;
        let name = match &recipe.name {
            NameOf::Fixed(name) => strings.intern_text(name),
            NameOf::Text(field) => {
                let text = field.data(payload, file.endian());
                strings.intern(text.map_or(b"", until_nul))
            }
            NameOf::Symbol(num) => {
                let address = num.read::<E>(payload).unwrap_or(0);
                match symbols.lookup(address) {
                    Some(symbol) => strings.intern(symbol.name),
                    None => strings.intern_text(&format!("{address:#x}")),
                }
            }
            NameOf::Probe(num, event) => {
                let address = num.read::<E>(payload).unwrap_or(0);
                match symbols.lookup(address) {
                    // An entry may lie behind endbr64, bti c or powerpc's global entry.
                    Some(symbol) if matches!(symbol.offset, 0 | 4 | 8) => {
                        strings.intern(symbol.name)
                    }
                    _ => strings.intern_text(event),
                }
            }
            NameOf::Syscall => match syscalls::name(self.recipes.abi, key) {
                Some(name) => strings.intern_text(name),
                None => strings.intern_text(&format!("syscall {}", key as i64)),
            },
            NameOf::Word(num, words) => {
                let number = num.read::<E>(payload).unwrap_or(0);
                match words.get(number as usize) {
                    Some(word) => strings.intern_text(word),
                    None => strings.intern_text(&number.to_string()),
                }
            }
            NameOf::None => StringId::EMPTY,
        };
        let family = match recipe.family {
            _ if !recipe.is_probe => recipe.family,
            _ if symbols.covers(key) => KPROBES,
            _ => UPROBES,
        };
        let system = file.metadata.formats.get(usize::from(kind.0));
        let category = match recipe.op {
            MarkOp::Begin => strings.intern_text(system.map_or("", |format| &format.system)),
            MarkOp::End | MarkOp::Over => StringId::EMPTY,
        };
        // Key 0 would say that the name tells it all; an end has none.
        let key = if key == 0 { NUMBER_ZERO } else { key };
        let label = Label {
            family,
            name,
            category,
            key,
        };
        let labels = &mut self.columns.labels;
        *self.labels.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        })
    }

    /// Kinds of which there are few.
    fn cook_rare<E: Order>(
        &mut self,
        event: u32,
        pid: u32,
        recipe: &Recipe,
        payload: &[u8],
    ) -> Option<()> {
        let endian = self.file.endian();
        match recipe {
            Recipe::Counter {
                row,
                value,
                is_idle,
                cpu,
                label,
            } => {
                let raw = value.read::<E>(payload)?;
                let value = match raw as u32 {
                    u32::MAX if *is_idle => -1.0,
                    _ => raw as i64 as f64,
                };
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
                let label = label.map(|label| label_word(row, &label).to_owned());
                let series = self.series(row, cpu, label);
                self.columns.samples.push(Sample {
                    event,
                    series,
                    value,
                });
            }
            Recipe::Counters(rows) => {
                for row in rows {
                    self.cook_rare::<E>(event, pid, row, payload)?;
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
                    family: NOISE,
                    name: strings.intern_text(&name),
                    category: strings.intern_text(row.event),
                    key: hash_text(name.as_bytes()).max(1),
                };
                let labels = &mut self.columns.labels;
                let label = *self.labels.entry(label).or_insert_with(|| {
                    labels.push(label);
                    labels.len() as u32 - 1
                });
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
                let mut id = 0_u64;
                for key in keys {
                    id = id.rotate_left(40) ^ key.read::<E>(payload)?;
                }
                let said = name.as_ref().and_then(|field| field.data(payload, endian));
                let name = match (said, *end) {
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
                let parent = ThreadKey(parent.read::<E>(payload)? as u32);
                let child = child.read::<E>(payload)? as u32;
                let name = name.as_ref().and_then(|field| field.data(payload, endian));
                self.fork(event, parent, child, ForkSort::Unknown, name);
            }
            Recipe::NewTask { child, flags, name } => {
                let child = child.read::<E>(payload)? as u32;
                let sort = match flags.and_then(|flags| flags.read::<E>(payload)) {
                    Some(flags) if flags & CLONE_THREAD != 0 => ForkSort::Thread,
                    Some(_) => ForkSort::Process,
                    None => ForkSort::Unknown,
                };
                let name = name.as_ref().and_then(|field| field.data(payload, endian));
                self.fork(event, ThreadKey(pid), child, sort, name);
            }
            Recipe::Exec { pid, program } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                let program = program
                    .as_ref()
                    .and_then(|field| field.data(payload, endian));
                let program = self.columns.strings.intern(program.map_or(b"", until_nul));
                let life = Life::Exec {
                    thread,
                    program,
                    arguments: Vec::new(),
                    directory: StringId::EMPTY,
                    interpreter: StringId::EMPTY,
                };
                self.live(event, life);
            }
            Recipe::Exit { pid } => {
                let thread = ThreadKey(pid.read::<E>(payload)? as u32);
                let life = Life::Exit {
                    thread,
                    status: None,
                    signal: None,
                };
                self.live(event, life);
            }
            Recipe::Rename { pid: whose, name } => {
                let whose = match whose {
                    Some(num) => num.read::<E>(payload)? as u32,
                    None => pid,
                };
                let name = until_nul(name.data(payload, endian)?);
                let mut fixed = [0; 16];
                for (to, from) in fixed.iter_mut().zip(name) {
                    *to = *from;
                }
                self.name_fixed(event, whose, fixed);
            }
            Recipe::UserMode => {
                let label = Label {
                    family: SYSCALLS,
                    name: StringId::EMPTY,
                    category: StringId::EMPTY,
                    key: USER_MODE,
                };
                let labels = &mut self.columns.labels;
                let label = *self.labels.entry(label).or_insert_with(|| {
                    labels.push(label);
                    labels.len() as u32 - 1
                });
                let mark = Mark::new(event, label, MarkOp::Over);
                self.columns.marks.push(mark);
            }
            Recipe::Mark(_) | Recipe::Switch(_) | Recipe::Wakeup { .. } | Recipe::Print(_) => {}
        }
        Some(())
    }

    /// A text: atrace's marks are slices and counters, the rest points.
    fn print<E: Order>(
        &mut self,
        event: u32,
        kind: KindId,
        text: PrintText,
        payload: &[u8],
    ) -> Option<()> {
        let file = self.file;
        let mut made = Vec::new();
        let text: &[u8] = match text {
            PrintText::Inline(offset) => until_nul(payload.get(offset as usize..)?),
            PrintText::Constant(address) => {
                let known = file.metadata.printk.lookup(address.read::<E>(payload)?);
                known.unwrap_or(b"")
            }
            PrintText::Formatted(address) => {
                let format = file.metadata.printk.lookup(address.read::<E>(payload)?);
                if !format.is_some_and(atrace::may_be_mark) {
                    return Some(());
                }
                let decoder = (self.decoder)();
                let kind = decoder.kinds().get(usize::from(kind.0))?;
                decoder.push_printk(&mut made, kind, payload);
                &made
            }
            PrintText::PrintFmt => {
                let decoder = (self.decoder)();
                let kind = decoder.kinds().get(usize::from(kind.0))?;
                kind.print_fmt()
                    .push(&mut made, &decoder.scope(kind, payload));
                &made
            }
        };
        let text = text.strip_prefix(b"tracing_mark_write: ").unwrap_or(text);
        if let Some(mark) = atrace::atrace(text) {
            let is_point = matches!(mark, atrace::Atrace::Instant(_));
            if let Some(kind) = self.recipes.mark_kind(kind).filter(|_| !is_point) {
                self.columns.events.set_kind(event, kind);
            }
            let (labels, series) = (&mut self.labels, &mut self.series);
            atrace::emit(mark, event, &mut self.columns, labels, series);
            let (thread, claims) = (self.columns.events.thread(event), &mut self.claims);
            atrace::claim_process(text, thread, event, &mut self.columns, claims);
        }
        Some(())
    }

    fn name_fixed(&mut self, event: u32, pid: u32, name: [u8; 16]) {
        self.name(event, pid, Some(0), &name);
    }

    fn fork(
        &mut self,
        event: u32,
        parent: ThreadKey,
        child: u32,
        sort: ForkSort,
        name: Option<&[u8]>,
    ) {
        let name = name.map_or(&b""[..], until_nul);
        // Whoever had this pid before is forgotten.
        let mut fixed = [0; 16];
        for (to, from) in fixed.iter_mut().zip(name) {
            *to = *from;
        }
        self.other_names.insert(child, fixed);
        if let Some(slot) = self.names.get_mut(child as usize % NAMES)
            && slot.0 == child
        {
            slot.1 = fixed;
        }
        let name = self.columns.strings.intern(name);
        let child = ThreadKey(child);
        let life = Life::Fork {
            parent,
            child,
            sort,
            name,
        };
        self.live(event, life);
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
            group: strings.intern_text(pair.group),
        };
        if end == PairEnd::Begin {
            // Where one is still open its end was lost.
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

fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}
