//! Adds begins, ends and counters: from the tables of pairs and counters, system calls, probes, requests, and texts of
//! programs.

use super::{Emitter, MOST_PROBES, Now, hash_text};
use crate::base::StringId;
use crate::base::lines::Line;
use crate::event::family::Family;
use crate::event::kernel::{
    AsyncPair, Counter, NUMBER_ZERO, Noise, OWN_CPU, Pair, PairEnd, PairName, ProbeGroup,
    RequestOp, find_counters, find_pair,
};
use crate::event::syscalls;
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, KindId, Label, MarkOp, Measured, RequestRow, Role, Sample,
    Series, SeriesScope, SliceKind, Stated,
};
use crate::formats::atrace::{self, Atrace};
use crate::formats::ftrace_line::prefix::Prefix;
use crate::formats::ftrace_line::short::find_short;
use crate::formats::ftrace_text::fields::{field, first_word, number, raw_syscall};
use crate::formats::ftrace_text::forms::{field_of, seconds_or_ns};
use crate::formats::ftrace_text::probe_text::{
    Probe, entry_offset, function_of, probe, probe_place,
};
use crate::formats::ftrace_text::recipe::system_of;
use crate::formats::ftrace_text::tracers::TracerEvent;

/// The sectors of a bio or request.
#[derive(Clone, Copy)]
struct Sectors {
    first: u64,
    /// Number of sectors; for a split, the first sector of the rest.
    count: u64,
}

/// A probe on a CPU: the lane, the probe's name, and the text between the parentheses.
pub(super) type ProbePlace<'a> = (usize, &'a [u8], &'a [u8]);

/// What a hit of a probe adds.
#[derive(Clone, Copy)]
pub(super) struct HitProbe {
    kind: KindId,
    label: u32,
    op: MarkOp,
}

impl<'a> Emitter<'a> {
    /// Adds a begin or end from the table of pairs.
    pub(super) fn mark(
        &mut self,
        now: &Now,
        event: &'a [u8],
        pair: &'static Pair,
        end: PairEnd,
        info: &'a [u8],
    ) -> Option<()> {
        let name_bytes = event;
        let event = std::str::from_utf8(event).ok()?;
        let system = system_of(event);
        let stem = find_pair(system, event)?.stem;
        let is_raw_syscall = matches!(pair.name, PairName::Syscall(_));
        let key = if is_raw_syscall {
            match raw_syscall(info)? {
                0 => NUMBER_ZERO,
                number => number.cast_unsigned(),
            }
        } else if pair.key.is_empty() {
            hash_text(stem.as_bytes())
        } else {
            match field_of(name_bytes, info, pair.key) {
                Some(value) => hash_text(first_word(value)),
                None => hash_text(pair.begin.as_bytes()),
            }
        };
        let key = key ^ pair.salt();
        let text_of = |name: &str| field_of(name_bytes, info, name);
        let syscall;
        let name: &[u8] = match (end, pair.name) {
            (_, PairName::Syscall(_)) => {
                syscall = match syscalls::name(self.facts.abi.unwrap_or_default(), number_of(key)) {
                    Some(name) => name.to_owned(),
                    None => format!("syscall {}", number_of(key).cast_signed()),
                };
                syscall.as_bytes()
            }
            (PairEnd::End, _) => b"",
            (_, PairName::Stem) => stem.as_bytes(),
            (_, PairName::Text(name)) => text_of(name).unwrap_or(stem.as_bytes()),
            (_, PairName::Symbol(name)) => match text_of(name) {
                // The value may have an offset: `function=tick_nohz_handler/0x0`.
                Some(value) => first_word(value)
                    .split(|b| *b == b'/')
                    .next()
                    .unwrap_or(value),
                None => stem.as_bytes(),
            },
            (_, PairName::Word(name, words)) => {
                let number = text_of(name).and_then(number);
                let word = number.and_then(|n| words.get(usize::try_from(n).ok()?));
                word.map_or(stem, |word| word).as_bytes()
            }
        };
        let op = match end {
            PairEnd::Begin => MarkOp::Begin,
            PairEnd::End => MarkOp::End,
        };
        let category: &[u8] = match op {
            MarkOp::Begin => system.as_bytes(),
            MarkOp::End | MarkOp::Over => b"",
        };
        let label = Label {
            family: pair.family,
            kind: pair.family.slice_kind(),
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category),
            key,
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, op);
        Some(())
    }

    /// Adds `sys_read(...)` and `sys_read -> 0x8`.
    pub(super) fn syscall(
        &mut self,
        now: &mut Now,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        name: &'a [u8],
        op: MarkOp,
    ) {
        let start: &'static str = match op {
            MarkOp::Begin => "sys_enter_",
            MarkOp::End | MarkOp::Over => "sys_exit_",
        };
        let kinds = self.kinds;
        let kind = *self.by_syscall.entry((start, name)).or_insert_with(|| {
            let full = [start.as_bytes(), name].concat();
            kinds.intern("syscalls", &full, Role::SystemCall)
        });
        self.push(now, prefix.time, line.offset, kind);
        let label = Label {
            family: Family::Syscalls,
            kind: Family::Syscalls.slice_kind(),
            name: match op {
                MarkOp::Begin => self.intern(now.lane, name),
                MarkOp::End | MarkOp::Over => StringId::EMPTY,
            },
            category: match op {
                MarkOp::Begin => self.intern(now.lane, b"syscalls"),
                MarkOp::End | MarkOp::Over => StringId::EMPTY,
            },
            key: hash_text(name),
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, op);
    }

    /// Adds entry or return of a probed function; returns `false` if the text is not that of a probe. The events have
    /// names that users chose.
    #[inline]
    pub(super) fn probe(
        &mut self,
        now: &mut Now,
        time: i64,
        line: u64,
        name: &'a [u8],
        info: &'a [u8],
    ) -> bool {
        let place = probe_place(info).map(|place| (now.lane, name, place));
        let known = place.and_then(|place| self.hit_probes.get(&place)).copied();
        let hit = match known {
            Some(hit) => hit,
            None => {
                let Some(found) = probe(info) else {
                    return false;
                };
                let hit = self.first_hit(now.lane, name, found);
                if let Some(place) = place
                    && self.hit_probes.len() < MOST_PROBES
                {
                    self.hit_probes.insert(place, hit);
                }
                hit
            }
        };
        self.push(now, time, line, hit.kind);
        self.push_mark(now, hit.label, hit.op);
        true
    }

    /// Returns what a hit of a probe adds to a lane.
    fn first_hit(&mut self, lane: usize, name: &'a [u8], found: Probe<'a>) -> HitProbe {
        let address = match found {
            Probe::Entry(address) | Probe::Return(address, _) => address,
        };
        let (group, family) = match self.facts.is_user_address(address) {
            true => (ProbeGroup::Uprobes, Family::Uprobes),
            false => (ProbeGroup::Kprobes, Family::Kprobes),
        };
        let kind = match self.by_probe.get(name) {
            Some(kind) => *kind,
            None => {
                let kind = self.kinds.intern(group.name(), name, Role::Consumed);
                self.by_probe.insert(name, kind);
                kind
            }
        };
        let function = function_of(address);
        let is_symbol = !address.starts_with(b"0x") && entry_offset(address).is_some();
        let (op, shown): (_, &[u8]) = match found {
            Probe::Entry(_) if is_symbol => (MarkOp::Begin, function),
            Probe::Entry(_) => (MarkOp::Begin, name),
            Probe::Return(..) => (MarkOp::End, b""),
        };
        let category: &[u8] = match op {
            MarkOp::End => b"",
            MarkOp::Begin | MarkOp::Over => group.name().as_bytes(),
        };
        let label = Label {
            family,
            kind: family.slice_kind(),
            name: self.intern(lane, shown),
            category: self.intern(lane, category),
            key: hash_text(function),
        };
        let label = self.label(lane, label);
        HitProbe { kind, label, op }
    }

    /// Adds a step of a bio or request of the block layer, from the text `254,0 WS 131072 () 328771840 + 256 [dd]`; for
    /// a split, `254,0 W 320870560 / 320873288 [dd]`.
    pub(super) fn request(&mut self, now: &Now, op: RequestOp, info: &'a [u8]) -> Option<()> {
        let sign: &[u8] = match op {
            RequestOp::Split => b" / ",
            _ => b" + ",
        };
        let Some(at) = memchr::memmem::find(info, sign) else {
            // The fields are shown raw.
            let number_of = |name: &[u8]| Some(number(field(info, name)?)?.cast_unsigned());
            let count = match op {
                RequestOp::Split => number_of(b"new_sector")?,
                _ => number_of(b"nr_sector").unwrap_or(0),
            };
            let sectors = Sectors {
                first: number_of(b"sector")?,
                count,
            };
            let device = first_word(field(info, b"dev")?);
            let kind = first_word(field(info, b"rwbs")?);
            return self.push_request(now, op, device, sectors, kind);
        };
        let before = info.get(..at)?;
        let sector_at = memchr::memrchr(b' ', before)?;
        let sector = number(before.get(sector_at + 1..)?)?;
        let count = number(first_word(info.get(at + sign.len()..)?))?;
        let sectors = Sectors {
            first: sector.cast_unsigned(),
            count: count.cast_unsigned(),
        };
        let device = first_word(info);
        let after = info.get(device.len()..)?.trim_ascii_start();
        self.push_request(now, op, device, sectors, first_word(after))
    }

    fn push_request(
        &mut self,
        now: &Now,
        op: RequestOp,
        device: &[u8],
        sectors: Sectors,
        kind: &[u8],
    ) -> Option<()> {
        let row = RequestRow {
            event: now.event,
            op,
            device: hash_text(device),
            sector: sectors.first,
            count: sectors.count,
            name: self.intern(now.lane, kind),
        };
        self.lanes.get_mut(now.lane)?.columns.requests.push(row);
        Some(())
    }

    /// Adds a begin or end of an operation that may end on another thread, from the table of asynchronous pairs.
    pub(super) fn operation(
        &mut self,
        now: &Now,
        event: &'a [u8],
        pair: &'static AsyncPair,
        end: PairEnd,
        info: &'a [u8],
    ) -> Option<()> {
        let mut id = None;
        for names in pair.keys {
            let mut names = names.split('|');
            if let Some(value) = names.find_map(|name| field_of(event, info, name)) {
                // In `qid=1, cmdid=5,` the comma does not belong to the value.
                let value = first_word(value);
                let value = value.strip_suffix(b",").unwrap_or(value);
                id = Some(id.unwrap_or(0_u64).rotate_left(20) ^ hash_text(value));
            }
        }
        let id = id?;
        let name: &[u8] = match end {
            PairEnd::Begin => {
                field_of(event, info, pair.name).map_or(pair.stem().as_bytes(), first_word)
            }
            PairEnd::End => b"",
        };
        let category = pair.begin.split(':').next().unwrap_or("");
        let mark = AsyncMark {
            event: now.event,
            op: match end {
                PairEnd::Begin => AsyncOp::Begin,
                PairEnd::End => AsyncOp::End,
            },
            scope: AsyncScope::Global,
            id,
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category.as_bytes()),
            kind: SliceKind::Async,
            group: self.intern(now.lane, pair.group.as_bytes()),
        };
        let marks = &mut self.lanes.get_mut(now.lane)?.columns.asyncs;
        if end == PairEnd::Begin {
            // An open operation with the same id lost its end.
            marks.push(AsyncMark {
                op: AsyncOp::Over,
                name: StringId::EMPTY,
                ..mark
            });
        }
        marks.push(mark);
        Some(())
    }

    /// Adds the line of a tracer without event names. Requests of the tracer blk are handled like those of the block
    /// layer's events.
    pub(super) fn tracer_event(
        &mut self,
        now: &mut Now,
        time: i64,
        place: u64,
        found: &TracerEvent<'a>,
    ) {
        let counters = find_counters("ftrace", found.event);
        let (system, role) = match found.request {
            Some(_) => ("block", Role::Consumed),
            None if found.event == "blktrace" => ("block", Role::Instant),
            None if counters.is_empty() => ("ftrace", Role::Instant),
            None => ("ftrace", Role::Consumed),
        };
        let kind = self.kinds.intern(system, found.name.as_bytes(), role);
        self.push(now, time, place, kind);
        for row in counters {
            let value = |name: &str| {
                let fields = found.fields.iter();
                let mut named = fields.filter(|it| it.name == name);
                named.next().map(|it| it.text)
            };
            let _without_value = self.counter(now, row, value);
        }
        if let Some(request) = found.request {
            let sectors = Sectors {
                first: request.sector,
                count: request.count,
            };
            self.push_request(now, request.op, request.device, sectors, request.kind);
        }
    }

    pub(super) fn counter(
        &mut self,
        now: &Now,
        row: &'static Counter,
        text_of: impl Fn(&str) -> Option<&'a [u8]>,
    ) -> Option<()> {
        let raw = number(text_of(row.value)?)?;
        let value = row.value(raw);
        let scope = match row.cpu {
            "" => SeriesScope::Global,
            OWN_CPU => SeriesScope::Cpu(now.cpu),
            name => {
                let number = text_of(name).and_then(number);
                let cpu = number.and_then(|number| u32::try_from(number).ok());
                cpu.map_or(SeriesScope::Global, SeriesScope::Cpu)
            }
        };
        let name = match text_of(row.label) {
            Some(label) if !row.label.is_empty() => {
                let label = String::from_utf8_lossy(label);
                format!("{} {}", row.name, row.label_word(&label))
            }
            _ => row.name.to_owned(),
        };
        let name = self.intern(now.lane, name.as_bytes());
        self.sample(now, Series { name, scope }, value)
    }

    /// Adds noise: time that something else used on the CPU.
    pub(super) fn noise(&mut self, now: &Now, row: &'static Noise, info: &'a [u8]) -> Option<()> {
        let text_of = |name: &str| field_of(row.event.as_bytes(), info, name);
        let start = seconds_or_ns(text_of("start")?)?;
        let duration_ns = number(text_of("duration")?)?;
        let text = text_of(row.text).map(String::from_utf8_lossy);
        let name = row.name(text.as_deref(), text_of(row.number).and_then(number));
        let label = Label {
            family: Family::Noise,
            kind: Family::Noise.slice_kind(),
            name: self.intern(now.lane, name.as_bytes()),
            category: self.intern(now.lane, row.event.as_bytes()),
            key: hash_text(name.as_bytes()),
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, MarkOp::End);
        let lane = self.lanes.get_mut(now.lane)?;
        let event = now.event;
        let time = lane.columns.events.time(event).0;
        let ended = start.checked_add(duration_ns);
        let measured = Measured::new(event, duration_ns, time, ended);
        lane.columns.measured.push(measured);
        lane.columns.stated.push(Stated { event, label });
        Some(())
    }

    pub(super) fn sample(&mut self, now: &Now, series: Series, value: f64) -> Option<()> {
        let lane = self.lanes.get_mut(now.lane)?;
        let all = &mut lane.columns.series;
        let series = *lane.series.entry(series).or_insert_with(|| {
            all.push(series);
            all.len() as u32 - 1
        });
        lane.columns.samples.push(Sample {
            event: now.event,
            series,
            value,
        });
        Some(())
    }

    /// Adds text that a program wrote (trace_marker): atrace marks are slices and counters, other texts instants.
    pub(super) fn print(
        &mut self,
        now: &mut Now,
        time: i64,
        place: u64,
        name: &'a [u8],
        info: &'a [u8],
    ) {
        let is_wrapped = name != b"tracing_mark_write";
        let text = match info.strip_prefix(b"tracing_mark_write: ") {
            Some(text) if is_wrapped => text,
            _ => raw_text(info).unwrap_or(info),
        };
        let text = behind_function(text);
        let mark = atrace::atrace(text);
        let event_name: &[u8] = if is_wrapped { name } else { b"print" };
        let named = match &mark {
            Some(mark) if event_name == b"print" => atrace::named_kind(mark, self.kinds),
            _ => None,
        };
        let kind = named.unwrap_or_else(|| match mark {
            None | Some(Atrace::Instant(_)) => self.kind_by_name(event_name).kind,
            Some(_) => self.kinds.intern("ftrace", event_name, Role::Consumed),
        });
        self.push(now, time, place, kind);
        let Some(mark) = mark else { return };
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            let (labels, series) = (&mut lane.labels, &mut lane.series);
            atrace::emit(mark, now.event, &mut lane.columns, labels, series);
            let claims = &mut self.claims;
            atrace::claim_process(text, now.thread, now.event, &mut lane.columns, claims);
        }
    }
}

/// Returns the number of the system call with this key.
fn number_of(key: u64) -> u64 {
    match key {
        NUMBER_ZERO => 0,
        number => number,
    }
}

/// Removes the function that trace-cmd prints before an atrace mark.
fn behind_function(text: &[u8]) -> &[u8] {
    let mark = || {
        let colon = memchr::memmem::find(text, b": ")?;
        let is_name = !text.get(..colon)?.contains(&b' ');
        let mark = text.get(colon + 2..)?;
        (is_name && atrace::atrace(mark).is_some()).then_some(mark)
    };
    match atrace::may_be_mark(text) {
        true => text,
        false => mark().unwrap_or(text),
    }
}

/// Returns the text that a program wrote, if fields are shown raw: `ip=tracing_mark_write buf=B|1|x`.
fn raw_text(info: &[u8]) -> Option<&[u8]> {
    let rest = info.strip_prefix(b"ip=")?;
    let find = |name: &[u8]| find_short(rest, name).and_then(|at| rest.get(at + name.len()..));
    find(b" buf=").or_else(|| find(b" str="))
}
