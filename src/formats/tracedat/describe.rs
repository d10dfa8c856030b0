//! Describes one raw event in full: typed fields with their meanings, the text of the report, stack frames.

use std::borrow::Cow;

use super::decoder::{Decoder, Memory, Raw, Style};
use super::event_format::{FieldFormat, Shape, loc_range, read_number};
use super::kind::{Kind, More, NumberSort};
use super::print_fmt::printf::push_hex;
use super::print_fmt::{FunctionAt, Lookup, Parameter, ParameterSort, Scope};
use super::printed_time::Times;
use crate::base::{Endian, Timestamp};
use crate::event::{DecodedEvent, EventDetail, Field, FieldRef, NumberValue, Value, ValueRef};
use crate::formats::ftrace_line::flag_bits;

/// Maximum number of elements of an array that are shown.
const MAX_ELEMENTS: usize = 4096;

/// Maximum number of frames of a stack that are shown.
const MAX_FRAMES: usize = 512;

/// Facts about an event that are not in its record.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Time of the event.
    pub time: Timestamp,
    /// CPU of the event.
    pub cpu: u32,
    /// Name of the event's thread; empty if unknown.
    pub thread_name: String,
}

/// Describes the event with the bytes `record`.
#[must_use]
pub fn describe(decoder: &Decoder, record: &[u8], about: Circumstances) -> EventDetail {
    let mut detail = EventDetail {
        time: about.time,
        cpu: Some(about.cpu),
        tid: u64::from(decoder.pid_of(record) as u32),
        thread_name: about.thread_name,
        ..EventDetail::default()
    };
    let found = decoder
        .kind_of(record)
        .and_then(|index| Some((index, decoder.kinds().get(index)?)));
    let Some((index, kind)) = found else {
        detail.name = "unknown".to_owned();
        detail.text = "The file has no description of this kind of event.".to_owned();
        return detail;
    };
    detail.name.clone_from(&kind.format.name);
    detail.category.clone_from(&kind.format.system);
    let scope = decoder.scope(kind, record);
    detail.fields = kind
        .format
        .fields
        .iter()
        .zip(0..)
        .map(|(field, index)| describe_field(kind, field, index, &scope))
        .collect();
    detail.text = text(decoder, index, kind, record, &about.time, about.cpu);
    detail.stack = stack(kind, &scope);
    detail
}

/// Returns the field `name` without its `shown` text; `None` if the event has no such field.
#[must_use]
pub fn value<'a>(decoder: &'a Decoder, record: &[u8], name: &str) -> Option<FieldRef<'a>> {
    let kind = decoder.kinds().get(decoder.kind_of(record)?)?;
    let mut places = kind.format.fields.iter().zip(&kind.sorts);
    let (field, &sort) = places.find(|(field, _)| field.name == name)?;
    let value = value_ref(field, sort, record, decoder.endian()).into_value();
    Some(field_ref(field, value.into()))
}

fn field_ref<'a>(field: &'a FieldFormat, value: ValueRef<'a>) -> FieldRef<'a> {
    FieldRef {
        name: Cow::Borrowed(field.name.as_str()),
        type_name: Cow::Borrowed(field.type_name.as_str()),
        value,
        shown: String::new(),
        role: field.role,
        exact: None,
    }
}

/// Appends the text of [`describe`] as one line; for a kernel stack, with its frames.
pub(crate) fn push_text(
    decoder: &Decoder,
    record: &[u8],
    time: Timestamp,
    cpu: u32,
    memory: &mut Memory,
    out: &mut Vec<u8>,
) {
    let found = decoder
        .kind_of(record)
        .and_then(|index| Some((index, decoder.kinds().get(index)?)));
    let Some((index, kind)) = found else {
        return;
    };
    if kind.format.field("__probe_ip").is_some() || kind.format.field("__probe_func").is_some() {
        out.extend_from_slice(text(decoder, index, kind, record, &time, cpu).as_bytes());
        return;
    }
    let start = out.len();
    let raw = Raw {
        record,
        cpu,
        time: time.0 as u64,
        next: None,
        depth: 0,
    };
    decoder.push_info(out, index, raw, Style::Plugins, Times::Nanoseconds, memory);
    while out.len() > start && matches!(out.last(), Some(b'\n' | 0 | b' ')) {
        out.pop();
    }
    for byte in out.iter_mut().skip(start) {
        if *byte == b'\n' {
            *byte = b' ';
        }
    }
}

/// Returns the info column of the report without line ends after it; the place of a probe is printed as the kernel
/// prints it.
fn text(
    decoder: &Decoder,
    index: usize,
    kind: &Kind,
    record: &[u8],
    time: &Timestamp,
    cpu: u32,
) -> String {
    let mut out = Vec::new();
    let raw = Raw {
        record,
        cpu,
        time: time.0 as u64,
        next: None,
        depth: 0,
    };
    let mut memory = Memory::default();
    let style = Style::Plugins;
    decoder.push_info(&mut out, index, raw, style, Times::Nanoseconds, &mut memory);
    let text = String::from_utf8_lossy(&out);
    let text = text.trim_end_matches(['\n', '\0', ' ']);
    match probe_place(kind, &decoder.scope(kind, record)) {
        Some(place) => match text.strip_prefix('(').and_then(|text| text.split_once(')')) {
            Some((_, rest)) => format!("({place}){rest}"),
            None => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

/// Returns where a probe was hit: `function+0x0`; for returns `caller+0x0 <- function`. `None` if the event is not a
/// probe's.
fn probe_place(kind: &Kind, scope: &Scope<'_>) -> Option<String> {
    let address = |name: &str| {
        let field = kind.format.field(name)?;
        field.number(scope.record, scope.endian)
    };
    if let Some(address) = address("__probe_ip") {
        return Some(symbol_text(scope.lookup, address));
    }
    let function = address("__probe_func")?;
    let caller = symbol_text(scope.lookup, address("__probe_ret_ip")?);
    let function = match scope.lookup.symbol(function) {
        Some(FunctionAt { name, start }) if start == function => {
            String::from_utf8_lossy(name).into_owned()
        }
        _ => symbol_text(scope.lookup, function),
    };
    Some(format!("{caller} <- {function}"))
}

/// Returns `function+0x12`, or only the address if no symbol contains it.
fn symbol_text(lookup: &dyn Lookup, address: u64) -> String {
    match lookup.symbol(address) {
        Some(FunctionAt { name, start }) => {
            let offset = address.wrapping_sub(start);
            format!("{}+{offset:#x}", String::from_utf8_lossy(name))
        }
        None => format!("{address:#x}"),
    }
}

/// Returns the text that is shown for the number in field `index` of `kind`; `None` if the number itself is shown.
pub(crate) fn shown_number(
    kind: &Kind,
    index: usize,
    scope: &Scope<'_>,
    number: u64,
) -> Option<String> {
    let field = kind.format.fields.get(index)?;
    let value = match field.is_signed {
        true => Value::Int(number.cast_signed()),
        false => Value::UInt(number),
    };
    let text = shown(kind, field, u16::try_from(index).ok()?, scope, &value);
    (!text.is_empty()).then_some(text)
}

fn describe_field(kind: &Kind, field: &FieldFormat, index: u16, scope: &Scope<'_>) -> Field {
    let value = value_of(kind, field, index, scope);
    Field {
        name: field.name.to_string(),
        type_name: field.type_name.to_string(),
        shown: shown(kind, field, index, scope, &value),
        role: field.role,
        value,
    }
}

/// Appends what the fields of an event do not contain: the text of a traced function or of a raw or binary print, and
/// the frames of a stack.
pub(crate) fn decode_into(decoder: &Decoder, record: &[u8], decoded: &mut DecodedEvent<'_>) {
    let found = decoder
        .kind_of(record)
        .and_then(|index| Some((index, decoder.kinds().get(index)?)));
    let Some((index, kind)) = found else {
        return;
    };
    match kind.more {
        More::Nothing => {}
        More::Stack => decoded.stack = stack(kind, &decoder.scope(kind, record)),
        More::Text => {
            let text = text(decoder, index, kind, record, &Timestamp(0), 0);
            decoded.text.extend_from_slice(text.as_bytes());
        }
    }
}

/// Appends the text of an event of the kind at `index`, like [`decode_into`]; `memory` is kept between events.
pub(super) fn push_more_text(
    decoder: &Decoder,
    index: usize,
    record: &[u8],
    memory: &mut Memory,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    let raw = Raw {
        record,
        cpu: 0,
        time: 0,
        next: None,
        depth: 0,
    };
    decoder.push_info(out, index, raw, Style::Plugins, Times::Nanoseconds, memory);
    while out.len() > start && matches!(out.last(), Some(b'\n' | 0 | b' ')) {
        out.pop();
    }
}

/// Appends the fields of the event with the bytes `record`, as [`describe`] lists them; nothing if the kind is unknown.
pub fn fields_into<'a>(
    decoder: &'a Decoder,
    record: Cow<'a, [u8]>,
    fields: &mut Vec<FieldRef<'a>>,
) {
    let kind = decoder.kind_of(&record);
    let Some(kind) = kind.and_then(|index| decoder.kinds().get(index)) else {
        return;
    };
    let endian = decoder.endian();
    let places = kind.format.fields.iter().zip(&kind.sorts);
    match record {
        Cow::Borrowed(record) => fields.extend(
            places.map(|(field, &sort)| field_ref(field, value_ref(field, sort, record, endian))),
        ),
        Cow::Owned(record) => fields.extend(places.map(|(field, &sort)| {
            let value = value_ref(field, sort, &record, endian).into_value();
            field_ref(field, value.into())
        })),
    }
}

fn value_of(kind: &Kind, field: &FieldFormat, index: u16, scope: &Scope<'_>) -> Value {
    let sort = kind.sorts.get(usize::from(index));
    let sort = sort.copied().unwrap_or(NumberSort::Unsigned);
    value_ref(field, sort, scope.record, scope.endian).into_value()
}

fn value_ref<'r>(
    field: &FieldFormat,
    sort: NumberSort,
    record: &'r [u8],
    endian: Endian,
) -> ValueRef<'r> {
    value_in(field, sort, record, endian, &mut Vec::new())
}

/// Returns the value of a field that is one number and not a truth value; `None` for every other field.
#[inline]
pub(super) fn number_in(
    field: &FieldFormat,
    sort: NumberSort,
    record: &[u8],
    endian: Endian,
) -> Option<NumberValue> {
    if field.shape != Shape::Plain {
        return None;
    }
    let number = field.number(record, endian)?;
    match sort {
        NumberSort::Bool if number < 2 => None,
        NumberSort::Address => Some(NumberValue::Pointer(number)),
        _ if field.is_signed => Some(NumberValue::Int(number as i64)),
        _ => Some(NumberValue::UInt(number)),
    }
}

/// Returns the value of a field; a list uses the memory of `list`, which must be empty.
#[inline]
pub(super) fn value_in<'r>(
    field: &FieldFormat,
    sort: NumberSort,
    record: &'r [u8],
    endian: Endian,
    list: &mut Vec<Value>,
) -> ValueRef<'r> {
    match field.shape {
        Shape::Plain => match number_in(field, sort, record, endian) {
            Some(number) => number.into(),
            // A plain field that is not a number is a bool, or is not in the record.
            None => (field.number(record, endian))
                .map_or(ValueRef::Null, |number| ValueRef::Bool(number == 1)),
        },
        Shape::DataLocs => {
            let strings = (0..field.size as usize / 4).map(|i| {
                let at = (field.offset as usize).saturating_add(i * 4);
                let bytes = loc_range(record, at, 0, endian).and_then(|range| record.get(range));
                bytes.map_or(Value::Null, |bytes| {
                    Value::Text(until_nul(bytes).into_owned())
                })
            });
            list.extend(strings.take(MAX_ELEMENTS));
            ValueRef::List(std::mem::take(list))
        }
        _ => {
            let Some(bytes) = field.data(record, endian) else {
                return ValueRef::Null;
            };
            // `is_string` is also true for arrays of u8 and s8, which are bytes here.
            if field.is_string
                && field.type_name.contains("char")
                && let Some(text) = as_text(bytes)
            {
                return ValueRef::Text(Cow::Borrowed(text));
            }
            let size = field.element_size as usize;
            if size == 1 {
                return ValueRef::Bytes(Cow::Borrowed(bytes));
            }
            let elements =
                bytes.chunks_exact(size).take(MAX_ELEMENTS).map(|bytes| {
                    match read_number(bytes, endian) {
                        None => Value::Bytes(bytes.to_vec()),
                        Some(number) if field.is_signed => Value::Int(
                            super::event_format::sign_extend(number, field.element_size) as i64,
                        ),
                        Some(number) => Value::UInt(number),
                    }
                });
            list.extend(elements);
            ValueRef::List(std::mem::take(list))
        }
    }
}

/// Returns the text in `bytes` up to the NUL; `None` if it is not UTF-8 or contains control characters other than white
/// space.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let length = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    let text = std::str::from_utf8(bytes.get(..length).unwrap_or(bytes)).ok()?;
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let is_readable = || {
        text.chars()
            .all(|c| !c.is_control() || c.is_ascii_whitespace())
    };
    (is_plain || is_readable()).then_some(text)
}

fn until_nul(bytes: &[u8]) -> Cow<'_, str> {
    let length = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..length).unwrap_or(bytes))
}

/// Returns the meaning of a number as text (thread state, flags, symbol); empty if it has no other meaning.
fn shown(kind: &Kind, field: &FieldFormat, index: u16, scope: &Scope<'_>, value: &Value) -> String {
    let number = match value {
        Value::Pointer(number) | Value::UInt(number) => *number,
        Value::Int(number) => *number as u64,
        _ => 0,
    };
    if field.name == "prev_state" && kind.format.name == "sched_switch" {
        return kind.state_letters().text(number);
    }
    if field.name == "common_flags" {
        return flag_bits::words(number);
    }
    let mut out = Vec::new();
    if kind.print_fmt().push_named(&mut out, scope, index) {
        let text = String::from_utf8_lossy(&out).into_owned();
        if !text.is_empty() && text != format!("{number:#x}") {
            return text;
        }
        return String::new();
    }
    match value {
        Value::List(values) if field.name == "args" && kind.format.system == "ftrace" => {
            arguments_text(kind, scope, values).unwrap_or_default()
        }
        Value::Pointer(address) => match scope.lookup.symbol(*address) {
            Some(_) => symbol_text(scope.lookup, *address),
            None => String::new(),
        },
        Value::UInt(_) if field.type_name == "dev_t" => {
            format!("{}:{}", number >> 20, number & 0xf_ffff)
        }
        Value::UInt(_) if field.is_long && scope.lookup.symbol(number).is_some() => {
            let mut text = b"0x".to_vec();
            push_hex(&mut text, number);
            let symbol = symbol_text(scope.lookup, number);
            format!("{} ({symbol})", String::from_utf8_lossy(&text))
        }
        Value::UInt(_) | Value::Int(_) if field.type_name.starts_with("enum ") => {
            let name = |value| scope.lookup.enum_value(&field.type_name, value);
            let name = name(number.cast_signed())
                .or_else(|| name(i64::from((number as u32).cast_signed())));
            name.unwrap_or("").to_owned()
        }
        _ => String::new(),
    }
}

/// Returns the arguments of a traced function with their names, as the kernel's own text shows them: `(file=0x12, ...`;
/// `None` if the file does not describe the function.
fn arguments_text(kind: &Kind, scope: &Scope<'_>, values: &[Value]) -> Option<String> {
    // The function tracer calls the function's address `ip`, the function graph `func`.
    let field = kind
        .format
        .field("func")
        .or_else(|| kind.format.field("ip"))?;
    let symbol = (scope.lookup).symbol(field.number(scope.record, scope.endian)?)?;
    let parameters = scope
        .lookup
        .parameters(std::str::from_utf8(symbol.name).ok()?)?;
    let mut values = values.iter().map(|value| match value {
        Value::UInt(number) | Value::Pointer(number) => *number,
        Value::Int(number) => number.cast_unsigned(),
        _ => 0,
    });
    let mut texts = Vec::new();
    for Parameter { name, sort } in parameters {
        // An architecture passes only its first arguments in registers.
        let Some(value) = values.next() else {
            texts.push("...".to_owned());
            break;
        };
        let value = match sort {
            ParameterSort::Signed => value.cast_signed().to_string(),
            ParameterSort::Unsigned => format!("{value:#x}"),
            ParameterSort::Unknown => format!("?{value:#x}"),
            ParameterSort::Compound(size) => {
                let rest = (size as usize).div_ceil(scope.long_size.max(4) as usize);
                let rest = values.by_ref().take(rest.saturating_sub(1));
                let words: Vec<String> = rest.map(|word| format!(":{word:#x}")).collect();
                format!("[{value:#x}{}]", words.concat())
            }
        };
        texts.push(match name {
            "" => value,
            name => format!("{name}={value}"),
        });
    }
    Some(format!("({})", texts.join(", ")))
}

/// Returns the frames of a stack event, innermost first; none for other events.
fn stack(kind: &Kind, scope: &Scope<'_>) -> Vec<String> {
    let is_kernel = kind.format.name == "kernel_stack";
    if kind.format.system != "ftrace" || !(is_kernel || kind.format.name == "user_stack") {
        return Vec::new();
    }
    let Some(field) = kind.format.field("caller") else {
        return Vec::new();
    };
    // Records of kernel stacks may be longer than the array that their format declares.
    let bytes = if is_kernel {
        scope.record.get(field.offset as usize..)
    } else {
        field.data(scope.record, scope.endian)
    };
    let size = scope.long_size.max(4) as usize;
    let end = if size == 4 {
        u64::from(u32::MAX)
    } else {
        u64::MAX
    };
    bytes
        .unwrap_or(&[])
        .chunks_exact(size)
        .map_while(|frame| read_number(frame, scope.endian))
        .take_while(|&address| address != end && address != 0)
        .take(MAX_FRAMES)
        .map(|address| symbol_text(scope.lookup, address))
        .collect()
}
