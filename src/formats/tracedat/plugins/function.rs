//! The function tracer and the stack traces: system `ftrace`.

use rustc_hash::FxHashMap;

use super::super::print_fmt::printf::{push_hex, push_hex_digits, push_many, push_signed};
use super::{Event, Plugin, State, Then, Times};
use crate::formats::tracedat::event_format::read_number;

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "ftrace",
        event: "function",
        fields: &["ip", "parent_ip"],
        show: show_function,
    },
    Plugin {
        system: "ftrace",
        event: "func_repeats",
        fields: &[
            "ip",
            "parent_ip",
            "count",
            "top_delta_ts",
            "bottom_delta_ts",
        ],
        show: show_repeats,
    },
    Plugin {
        system: "ftrace",
        event: "kernel_stack",
        fields: &["caller"],
        show: show_stack,
    },
    Plugin {
        system: "ftrace",
        event: "raw_data",
        fields: &["id", "buf"],
        show: show_raw_data,
    },
];

/// Most CPUs for which callers are remembered.
const MAX_CPUS: usize = 65_536;

/// Most callers remembered for one CPU: trace-cmd has no limit, but names that call each other run out long before.
const MAX_DEPTH: usize = 1 << 17;

/// How many addresses have their function at hand.
const MOST_RECENT: usize = 1 << 16;

/// What was found out about addresses: the same few thousand come again and again.
type Recent<T> = FxHashMap<u64, Option<T>>;

fn remember<T>(recent: &mut Recent<T>, address: u64, found: Option<T>) -> &Option<T> {
    if recent.len() >= MOST_RECENT {
        recent.clear();
    }
    recent.entry(address).insert_entry(found).into_mut()
}

/// The functions at addresses that were shown before.
#[derive(Debug, Default)]
pub struct Functions {
    recent: Recent<Box<[u8]>>,
}

impl Functions {
    /// Appends the name of the function at `address`, or the address.
    fn push(&mut self, out: &mut Vec<u8>, event: &Event<'_>, address: u64) {
        let name = match self.recent.get(&address) {
            Some(name) => name,
            None => {
                let name = event.function(address).map(|(name, _)| name.into());
                remember(&mut self.recent, address, name)
            }
        };
        match name {
            Some(name) => out.extend_from_slice(name),
            None => {
                out.extend_from_slice(b"0x");
                push_hex(out, address);
            }
        }
    }
}

/// The number of a function's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NameId(u32);

/// Per CPU, the functions that were last seen calling each other: a function is indented below its caller.
#[derive(Debug, Default)]
pub struct Callers {
    stacks: Vec<Vec<NameId>>,
    names: FxHashMap<Box<[u8]>, NameId>,
    /// The names at addresses that were looked up last.
    recent: Recent<NameId>,
}

impl Callers {
    /// How deep the function of a `function` event is, whose events come in order.
    pub fn depth(&mut self, event: &Event<'_>) -> u32 {
        let (Some(function), Some(parent)) = (event.value(0), event.value(1)) else {
            return 0;
        };
        let function = self.name(event, function);
        match self.name(event, parent) {
            Some(parent) => self.depth_below(parent, function, event.cpu) as u32,
            None => 0,
        }
    }

    fn name(&mut self, event: &Event<'_>, address: u64) -> Option<NameId> {
        if let Some(name) = self.recent.get(&address) {
            return *name;
        }
        let next = NameId(self.names.len() as u32);
        let name = event
            .function(address)
            .map(|(name, _)| match self.names.get(name) {
                Some(id) => *id,
                None => *self.names.entry(name.into()).or_insert(next),
            });
        *remember(&mut self.recent, address, name)
    }

    /// How deep `function` is when `parent` calls it.
    fn depth_below(&mut self, parent: NameId, function: Option<NameId>, cpu: u32) -> usize {
        let cpu = cpu as usize;
        if cpu >= MAX_CPUS {
            return 0;
        }
        if self.stacks.len() <= cpu {
            self.stacks.resize(cpu + 1, Vec::new());
        }
        let Some(stack) = self.stacks.get_mut(cpu) else {
            return 0;
        };
        if let Some(at) = stack.iter().position(|name| *name == parent) {
            set(stack, at + 1, function);
            return at;
        }
        set(stack, 0, Some(parent));
        set(stack, 1, function);
        0
    }
}

fn set(stack: &mut Vec<NameId>, at: usize, name: Option<NameId>) {
    let Some(name) = name else {
        return;
    };
    match stack.get_mut(at) {
        Some(slot) => *slot = name,
        None if at < MAX_DEPTH => stack.push(name),
        None => {}
    }
}

fn show_function(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(address) = event.require(out, 0) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    if event.require(out, 1).is_none() {
        out.push(b'!');
        return Then::PrintFmt;
    }
    if !event.functions.is_flat {
        push_many(out, b' ', event.depth as usize * 3);
    }
    push_function(out, event, address, state);
    if let Some(parent) = event.value(1).filter(|_| event.functions.shows_parent) {
        out.extend_from_slice(b" <-- ");
        push_function(out, event, parent, state);
    }
    Then::Done
}

/// A function, with the place in it that `address` is if that is asked for.
fn push_function(out: &mut Vec<u8>, event: &Event<'_>, address: u64, state: &mut State<'_>) {
    state.functions.push(out, event, address);
    if event.functions.shows_offset
        && let Some((_, start)) = event.function(address)
    {
        out.extend_from_slice(b"+0x");
        push_hex(out, address.wrapping_sub(start));
    }
}

fn show_repeats(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    show_function(out, event, state);
    let values = [2, 3, 4].map(|index| event.require(out, index));
    let [Some(count), Some(top), Some(bottom)] = values else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    out.extend_from_slice(b" (count: ");
    push_signed(out, count as i64);
    out.extend_from_slice(b"  last_ts: ");
    let time = event.time.wrapping_sub(top << 32 | bottom);
    push_time(out, time, event.times);
    out.push(b')');
    Then::Done
}

/// A time as it stands in the report's lines.
pub fn push_time(out: &mut Vec<u8>, time: u64, times: Times) {
    use crate::formats::tracedat::print_fmt::printf::push_decimal;
    let (unit, digits) = match times {
        Times::Nanoseconds => (1_000_000_000, 9),
        Times::Microseconds => (1_000_000, 6),
        Times::Counts => {
            let start = out.len();
            push_decimal(out, time);
            return pad_left(out, start, 12);
        }
    };
    let time = if times == Times::Microseconds {
        time.wrapping_add(500) / 1000
    } else {
        time
    };
    let seconds = time / unit;
    push_many(out, b' ', 5_usize.saturating_sub(decimal_digits(seconds)));
    push_decimal(out, seconds);
    out.push(b'.');
    let mut rest = (time % unit) as u32;
    let mut fraction = [b'0'; 9];
    for slot in fraction.iter_mut().take(digits).rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(fraction.get(..digits).unwrap_or(&fraction));
}

/// How many digits a number has, at most 5.
fn decimal_digits(value: u64) -> usize {
    match value {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        1000..10_000 => 4,
        _ => 5,
    }
}

/// Puts blanks before what was appended since `start`, so that it is `width` wide.
pub fn pad_left(out: &mut Vec<u8>, start: usize, width: usize) {
    let length = out.len().saturating_sub(start);
    if length < width {
        push_many(out, b' ', width - length);
        if let Some(text) = out.get_mut(start..) {
            text.rotate_right(width - length);
        }
    }
}

fn show_stack(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let Some(field) = event.field(0) else {
        out.extend_from_slice(b"<CANT FIND FIELD caller>");
        return Then::Done;
    };
    out.extend_from_slice(b"<stack trace >\n");
    let size = event.scope.long_size as usize;
    let frames = event
        .scope
        .record
        .get(field.offset as usize..)
        .unwrap_or(&[]);
    for frame in frames.chunks_exact(size.max(1)) {
        let address = read_number(frame, event.scope.endian).unwrap_or(u64::MAX);
        if (size == 8 && address == u64::MAX) || address as u32 == u32::MAX {
            break;
        }
        out.extend_from_slice(b"=> ");
        if let Some((name, _)) = event.function(address) {
            out.extend_from_slice(name);
            out.extend_from_slice(b" (");
            push_hex(out, address);
            out.extend_from_slice(b")\n");
        } else {
            push_hex(out, address);
            out.push(b'\n');
        }
    }
    Then::Done
}

fn show_raw_data(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    let Some(id) = event.require(out, 0) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    out.extend_from_slice(b"# ");
    push_hex(out, id);
    let Some(field) = event.field(1) else {
        out.extend_from_slice(b"<CANT FIND FIELD buf>");
        return Then::Done;
    };
    let bytes = event.scope.record.get(field.offset as usize..);
    for &byte in bytes.unwrap_or(&[]) {
        out.push(b' ');
        push_hex_digits(out, u64::from(byte), 2);
    }
    Then::Done
}
