//! Everything that turns a raw event into text: kinds of events by number, their print formats and plugins.
//!
//! A [`Decoder`] is made once from the format texts of a file and shared by all threads; print formats
//! are parsed when the first event of their kind is shown.

use std::sync::{Arc, OnceLock, RwLock};

use rustc_hash::FxHashMap;

use super::event_format::{EventFormat, FieldFormat, blktrace_format, read_number};
use super::plugins::{
    Callers, Event, Functions, Plugin, State, Then, Times, plugin_of, state_letters,
};
use super::print_fmt::binary::{Packed, push_binary};
use super::print_fmt::pointer::{Offset, push_function};
use super::print_fmt::printf::{Piece, pieces, push_hex};
use super::print_fmt::raw::{Seen, push_fields_with};
use super::print_fmt::token::unescape;
use super::print_fmt::{Addresses, Lookup, PrintFmt, Scope};
use crate::base::Endian;
use crate::formats::format::FunctionOptions;

/// One kind of event with what is needed to show it.
#[derive(Debug)]
pub struct Kind {
    /// Its fields.
    pub format: EventFormat,
    /// What prints it instead of its print fmt.
    pub plugin: Option<&'static Plugin>,
    /// Where the plugin's fields are in `format.fields`.
    pub plugin_fields: Vec<Option<u16>>,
    /// What a plain field's number is, for each of `format.fields`.
    pub sorts: Vec<NumberSort>,
    /// Whether it is trace_printk's binary form.
    is_binary_print: bool,
    long_size: u32,
    print_fmt: OnceLock<PrintFmt>,
    state_letters: OnceLock<Vec<u8>>,
}

/// What a field's number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSort {
    /// `bool`: yes or no where it is 0 or 1.
    Bool,
    /// An address, by its type or by its name.
    Address,
    /// A number with a sign.
    Signed,
    /// A number without.
    Unsigned,
}

impl NumberSort {
    fn of(field: &FieldFormat) -> NumberSort {
        let is_address = field.is_pointer
            || matches!(
                field.name.as_str(),
                "ip" | "parent_ip"
                    | "func"
                    | "call_site"
                    | "caller_ip"
                    | "__probe_ip"
                    | "__probe_func"
                    | "__probe_ret_ip"
            );
        if matches!(field.type_name.as_str(), "bool" | "_Bool") {
            NumberSort::Bool
        } else if is_address {
            NumberSort::Address
        } else if field.is_signed {
            NumberSort::Signed
        } else {
            NumberSort::Unsigned
        }
    }
}

impl Kind {
    /// The kind that `format` describes.
    #[must_use]
    pub fn new(format: EventFormat, long_size: u32) -> Kind {
        let plugin = plugin_of(&format.system, &format.name);
        let place = |name: &&str| {
            let at = format
                .fields
                .iter()
                .position(|field| field.name == **name)?;
            u16::try_from(at).ok()
        };
        Kind {
            plugin_fields: plugin
                .map(|plugin| plugin.fields.iter().map(place).collect())
                .unwrap_or_default(),
            plugin,
            sorts: format.fields.iter().map(NumberSort::of).collect(),
            is_binary_print: format.system == "ftrace" && format.name == "bprint",
            format,
            long_size,
            print_fmt: OnceLock::new(),
            state_letters: OnceLock::new(),
        }
    }

    /// Its print fmt, parsed when first asked for.
    #[must_use]
    pub fn print_fmt(&self) -> &PrintFmt {
        self.print_fmt.get_or_init(|| {
            let print_fmt = PrintFmt::new(&self.format, self.long_size);
            if self.is_binary_print {
                // What it prints is in each record.
                print_fmt.bare()
            } else {
                print_fmt
            }
        })
    }

    /// The letters of a thread's states (sched_switch).
    #[must_use]
    pub fn state_letters(&self) -> &[u8] {
        self.state_letters.get_or_init(|| state_letters(self))
    }
}

/// Whose text is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The plugin's, or the print fmt's where there is no plugin.
    Plugins,
    /// The print fmt's.
    Plain,
    /// Fields as `name=value`.
    Raw(Addresses),
}

/// Where a common field is.
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
    /// Index into `kinds` plus one, by the event's number.
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
    /// Formats of trace_printk that were taken apart, by address.
    binary_formats: RwLock<FxHashMap<u64, Arc<Vec<Piece>>>>,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Decoder({} kinds)", self.kinds.len())
    }
}

/// One event as it lies in the file.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// Its bytes.
    pub record: &'a [u8],
    /// Its CPU.
    pub cpu: u32,
    /// Its time on the printed clock.
    pub time: u64,
    /// The record that is shown after it.
    pub next: Option<&'a [u8]>,
    /// How deep it is indented below its callers.
    pub depth: u32,
}

/// What showing events remembers from one to the next.
#[derive(Debug, Default)]
pub struct Memory {
    /// Names of functions.
    pub functions: Functions,
    /// Names that sched_switch told, by pid.
    pub learned: FxHashMap<i32, Box<[u8]>>,
    /// Per kind, the texts that were none.
    pub seen: Vec<Seen>,
    /// How functions are shown.
    pub options: FunctionOptions,
}

impl Decoder {
    /// A decoder for events of these formats. `names` explains addresses.
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
            .map(|format| Kind::new(format, long_size))
            .collect();
        let mut by_id = Vec::new();
        for (index, kind) in kinds.iter().enumerate() {
            // Numbers are 16 bits wide in the records.
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
            Place::of(found.filter(|field| field.is_common))
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

    /// All kinds, in the order in which their formats came.
    #[must_use]
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The place in [`Decoder::kinds`] of a record's kind.
    #[must_use]
    pub fn kind_of(&self, record: &[u8]) -> Option<usize> {
        let id = self.kind_id.read(record, self.endian)?;
        self.kind_of_id(u32::try_from(id).ok()?)
    }

    /// The place in [`Decoder::kinds`] of the kind with that number.
    #[must_use]
    pub fn kind_of_id(&self, id: u32) -> Option<usize> {
        let slot = *self.by_id.get(id as usize)?;
        usize::from(slot).checked_sub(1)
    }

    /// The thread of a record.
    #[must_use]
    pub fn pid_of(&self, record: &[u8]) -> i32 {
        self.pid.read(record, self.endian).unwrap_or(0) as i32
    }

    /// `common_flags` of a record.
    #[must_use]
    pub fn flags_of(&self, record: &[u8]) -> u64 {
        let read = |place: Place| place.read(record, self.endian);
        self.flags.and_then(read).unwrap_or(0)
    }

    /// Appends the latency-flags column: interrupts off, need-resched, in interrupt, preempt depth,
    /// migrate-disable depth.
    pub fn push_flags(&self, out: &mut Vec<u8>, record: &[u8]) {
        let flags = self.flags_of(record);
        let read = |place: Option<Place>| place.and_then(|p| p.read(record, self.endian));
        let count = read(self.preempt_count).unwrap_or(0) as u8;
        let pick = |mask: u64, letter: u8| (flags & mask != 0).then_some(letter);
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
                depth => super::print_fmt::printf::push_signed(out, i64::from(depth)),
            }
        }
    }

    /// What is needed to evaluate expressions over a record of `kind`.
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

    /// The order of bytes in records.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Names of addresses.
    #[must_use]
    pub fn names(&self) -> &(dyn Lookup + Send + Sync) {
        &*self.names
    }

    /// Appends the text of an event of the kind at `kind` in [`Decoder::kinds`]. Answers whether the
    /// next record was shown with it.
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

    /// How deep a record of the function tracer is indented; its records come in order.
    pub fn depth(&self, kind: usize, raw: Raw<'_>, callers: &mut Callers) -> u32 {
        self.kinds.get(kind).map_or(0, |kind| {
            let scope = self.scope(kind, raw.record);
            let functions = FunctionOptions::default();
            callers.depth(&self.event(scope, kind, raw, Times::Nanoseconds, functions))
        })
    }

    /// trace_printk's binary form: `function: text`.
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

    /// The text of a trace_printk without its function; whether its format is known.
    pub fn push_printk(&self, out: &mut Vec<u8>, kind: &Kind, record: &[u8]) -> bool {
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
