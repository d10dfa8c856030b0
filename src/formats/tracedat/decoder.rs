//! Turns raw events into text: kinds of events by number, with their print formats and plugins.
//!
//! A [`Decoder`] is created once from the format texts of a file and shared by all threads; a print format is parsed
//! when the first event of its kind is shown.

use std::sync::{Arc, RwLock};

use rustc_hash::FxHashMap;

use super::event_format::{EventFormat, FieldFormat, blktrace_format, read_number};
use super::kind::Kind;
use super::plugins::{Callers, Event, Functions, State, Then, plugin_of};
use super::print_fmt::binary::{Packed, push_binary};
use super::print_fmt::pointer::{Offset, push_function};
use super::print_fmt::printf::{Piece, pieces, push_hex, push_signed};
use super::print_fmt::raw::{Seen, push_fields_with};
use super::print_fmt::token::unescape;
use super::print_fmt::{Addresses, Lookup, Scope};
use super::printed_time::Times;
use crate::base::Endian;
use crate::formats::function_options::FunctionOptions;

/// The text that is printed for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The plugin's text; for kinds without a plugin, the text of the print format.
    Plugins,
    /// Always the text of the print format.
    Plain,
    /// All fields as `name=value`.
    Raw(Addresses),
}

/// Offset and size of a common field, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    offset: usize,
    size: usize,
}

impl Place {
    fn of(field: Option<&FieldFormat>) -> Option<Place> {
        field.map(|field| Place {
            offset: field.offset as usize,
            size: field.size as usize,
        })
    }

    fn read(self, record: &[u8], endian: Endian) -> Option<u64> {
        let end = self.offset.checked_add(self.size)?;
        read_number(record.get(self.offset..end)?, endian)
    }
}

/// All kinds of events of a file.
pub struct Decoder {
    kinds: Vec<Kind>,
    /// Index into `kinds` plus one, by the number of the kind; 0: there is no kind.
    by_id: Vec<u16>,
    endian: Endian,
    long_size: u32,
    names: Arc<dyn Lookup + Send + Sync>,
    kind_id: Place,
    pid: Place,
    flags: Option<Place>,
    preempt_count: Option<Place>,
    lock_depth: Option<Place>,
    migrate_disable: Option<Place>,
    graph_exit: Option<usize>,
    /// Parsed formats of trace_printk, by their address in the kernel.
    binary_formats: RwLock<FxHashMap<u64, Arc<Vec<Piece>>>>,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decoder({} kinds)", self.kinds.len())
    }
}

/// One event as it is stored in the file.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// Its bytes.
    pub record: &'a [u8],
    /// Its CPU.
    pub cpu: u32,
    /// Its time on the clock that the report prints.
    pub time: u64,
    /// The record that is printed after this one, if there is one.
    pub next: Option<&'a [u8]>,
    /// Indentation of a traced function relative to its callers, in levels.
    pub depth: u32,
}

/// State that is kept between shown events.
#[derive(Debug, Default)]
pub struct Memory {
    /// Cache of function names.
    pub functions: Functions,
    /// Thread names from sched_switch, by pid.
    pub learned: FxHashMap<i32, Box<[u8]>>,
    /// For each kind, by index: which of its text fields have contained bytes that are not text.
    pub seen: Vec<Seen>,
    /// How functions are printed.
    pub options: FunctionOptions,
}

impl Decoder {
    /// Returns a decoder for events of these formats. `names` resolves addresses.
    #[must_use]
    pub fn new(
        formats: impl IntoIterator<Item = EventFormat>,
        endian: Endian,
        long_size: u32,
        names: Arc<dyn Lookup + Send + Sync>,
    ) -> Decoder {
        let mut formats: Vec<EventFormat> = formats.into_iter().collect();
        formats.extend(blktrace_format(&formats));
        let kinds: Vec<Kind> = formats
            .into_iter()
            .take(usize::from(u16::MAX) - 1)
            .map(|format| {
                let plugin = plugin_of(&format.system, &format.name);
                Kind::new(format, plugin, long_size)
            })
            .collect();
        let mut by_id = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            // Numbers of kinds have 16 bits in the records.
            let id = kind.format.id as usize;
            if id > usize::from(u16::MAX) {
                continue;
            }
            if by_id.len() <= id {
                by_id.resize(id + 1, 0);
            }
            if let Some(slot @ 0) = by_id.get_mut(id) {
                *slot = index as u16 + 1;
            }
        }
        // All kinds have the same common fields.
        let common = |name: &str| {
            let found = kinds.iter().find_map(|kind| kind.format.field(name));
            Place::of(found.filter(|field| field.is_common()))
        };
        Decoder {
            kind_id: common("common_type").unwrap_or(Place { offset: 0, size: 2 }),
            pid: common("common_pid").unwrap_or(Place { offset: 4, size: 4 }),
            flags: common("common_flags"),
            preempt_count: common("common_preempt_count"),
            lock_depth: common("common_lock_depth"),
            migrate_disable: common("common_migrate_disable"),
            graph_exit: kinds.iter().position(|kind| {
                kind.format.system == "ftrace" && kind.format.name == "funcgraph_exit"
            }),
            kinds,
            by_id,
            endian,
            long_size: if long_size == 4 { 4 } else { 8 },
            names,
            binary_formats: RwLock::default(),
        }
    }

    /// Returns all kinds, in the order of the formats that were passed in.
    #[must_use]
    pub(crate) fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// Returns the index in [`Decoder::kinds`] of a record's kind; `None` for an unknown number.
    #[must_use]
    pub(crate) fn kind_of(&self, record: &[u8]) -> Option<usize> {
        let id = self.kind_id.read(record, self.endian)?;
        self.kind_of_id(u32::try_from(id).ok()?)
    }

    /// Returns the index in [`Decoder::kinds`] of the kind with the number `id`.
    #[must_use]
    pub(crate) fn kind_of_id(&self, id: u32) -> Option<usize> {
        let slot = *self.by_id.get(id as usize)?;
        usize::from(slot).checked_sub(1)
    }

    /// Returns the pid of the thread that wrote a record.
    #[must_use]
    pub(crate) fn pid_of(&self, record: &[u8]) -> i32 {
        self.pid.read(record, self.endian).unwrap_or(0) as i32
    }

    /// Returns the field `common_flags` of a record; 0 if the file has no such field.
    #[must_use]
    pub(crate) fn flags_of(&self, record: &[u8]) -> u64 {
        let read = |place: Place| place.read(record, self.endian);
        self.flags.and_then(read).unwrap_or(0)
    }

    /// Appends the column of latency flags, one character each: interrupts off, need-resched, in interrupt, preempt
    /// depth (low and high half of the count); then migrate-disable depth and lock depth, if the file has them.
    pub(crate) fn push_flags(&self, out: &mut Vec<u8>, record: &[u8]) {
        let flags = self.flags_of(record);
        let read = |place: Option<Place>| place.and_then(|p| p.read(record, self.endian));
        let count = read(self.preempt_count).unwrap_or(0) as u8;
        let pick = |mask: u64, letter: u8| (flags & mask != 0).then_some(letter);
        // Bits of common_flags: 1 interrupts off, 2 interrupt state unsupported, 4 need-resched, 8 hard interrupt,
        // 16 soft interrupt.
        out.push(pick(1, b'd').or(pick(2, b'X')).unwrap_or(b'.'));
        out.push(pick(4, b'N').unwrap_or(b'.'));
        out.push(match flags & 0x18 {
            0x18 => b'H',
            0x08 => b'h',
            0x10 => b's',
            _ => b'.',
        });
        for depth in [count & 15, count >> 4] {
            if depth == 0 {
                out.push(b'.');
            } else {
                push_hex(out, u64::from(depth));
            }
        }
        for place in [self.migrate_disable, self.lock_depth]
            .into_iter()
            .flatten()
        {
            match place.read(record, self.endian).unwrap_or(0) as i32 {
                ..0 => out.push(b'.'),
                depth => push_signed(out, i64::from(depth)),
            }
        }
    }

    /// Returns everything that expressions over a record of `kind` are evaluated with.
    #[must_use]
    pub fn scope<'a>(&'a self, kind: &'a Kind, record: &'a [u8]) -> Scope<'a> {
        Scope {
            record,
            fields: &kind.format.fields,
            endian: self.endian,
            long_size: self.long_size,
            lookup: &*self.names,
        }
    }

    /// Returns the byte order of the records.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Appends the text of an event; `kind` is an index into [`Decoder::kinds`]. Returns whether the text includes the
    /// next record.
    pub fn push_info(
        &self,
        out: &mut Vec<u8>,
        kind: usize,
        raw: Raw<'_>,
        style: Style,
        times: Times,
        memory: &mut Memory,
    ) -> bool {
        let index = kind;
        let Some(kind) = self.kinds.get(index) else {
            return false;
        };
        let scope = self.scope(kind, raw.record);
        if let Style::Raw(addresses) = style {
            if memory.seen.len() <= index {
                memory.seen.resize(index + 1, Seen::default());
            }
            if let Some(seen) = memory.seen.get_mut(index) {
                push_fields_with(out, &scope, kind.print_fmt(), seen, addresses);
            }
            return false;
        }
        if let (Style::Plugins, Some(plugin)) = (style, kind.plugin) {
            let event = self.event(scope, kind, raw, times, memory.options);
            let learned = &mut memory.learned;
            let mut learn_name = |pid: i32, name: &[u8]| {
                learned.entry(pid).or_insert_with(|| name.into());
            };
            let mut state = State {
                learn_name: &mut learn_name,
                functions: &mut memory.functions,
                has_taken_next: false,
            };
            if (plugin.show)(out, &event, &mut state) == Then::Done {
                return state.has_taken_next;
            }
        }
        if kind.is_binary_print {
            self.push_binary_print(out, kind, raw.record);
        } else {
            kind.print_fmt().push(out, &scope);
        }
        false
    }

    fn event<'a>(
        &'a self,
        scope: Scope<'a>,
        kind: &'a Kind,
        raw: Raw<'a>,
        times: Times,
        functions: FunctionOptions,
    ) -> Event<'a> {
        Event {
            scope,
            kind,
            cpu: raw.cpu,
            time: raw.time,
            next: raw.next,
            graph_exit: self.graph_exit.and_then(|at| self.kinds.get(at)),
            times,
            depth: raw.depth,
            functions,
        }
    }

    /// Returns the indentation of a record of the function tracer, in levels. Records must be passed in time order,
    /// because `callers` is updated.
    pub fn depth(&self, kind: usize, raw: Raw<'_>, callers: &mut Callers) -> u32 {
        self.kinds.get(kind).map_or(0, |kind| {
            let scope = self.scope(kind, raw.record);
            let functions = FunctionOptions::default();
            callers.depth(&self.event(scope, kind, raw, Times::Nanoseconds, functions))
        })
    }

    /// Appends the text of a trace_printk in binary form: `function: text`.
    fn push_binary_print(&self, out: &mut Vec<u8>, kind: &Kind, record: &[u8]) {
        let number = |name: &str| {
            Place::of(kind.format.field(name)).and_then(|place| place.read(record, self.endian))
        };
        let (Some(function), Some(address)) = (number("ip"), number("fmt")) else {
            return;
        };
        push_function(
            out,
            &*self.names,
            function,
            Offset::Hidden,
            Addresses::Named,
        );
        out.extend_from_slice(b": ");
        if !self.push_printk(out, kind, record) {
            out.extend_from_slice(b"(NO FORMAT FOUND at ");
            push_hex(out, address);
            out.push(b')');
        }
    }

    /// Appends the text of a trace_printk without its function; returns whether its format is known.
    pub(crate) fn push_printk(&self, out: &mut Vec<u8>, kind: &Kind, record: &[u8]) -> bool {
        let address =
            Place::of(kind.format.field("fmt")).and_then(|it| it.read(record, self.endian));
        let Some(found) = address.and_then(|address| self.binary_format(address)) else {
            return false;
        };
        let arguments = kind
            .format
            .field("buf")
            .and_then(|field| record.get(field.offset as usize..))
            .unwrap_or(&[]);
        let mut packed = Packed::new(arguments, self.endian, self.long_size);
        push_binary(out, &found, &mut packed, &*self.names);
        true
    }

    fn binary_format(&self, address: u64) -> Option<Arc<Vec<Piece>>> {
        if let Ok(formats) = self.binary_formats.read()
            && let Some(found) = formats.get(&address)
        {
            return Some(found.clone());
        }
        let text = self.names.printk(address)?;
        let found = Arc::new(pieces(&unescape(text)));
        if let Ok(mut formats) = self.binary_formats.write() {
            formats.insert(address, found.clone());
        }
        Some(found)
    }
}
