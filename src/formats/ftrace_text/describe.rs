//! Decodes one event in full: parses its line again, with all its fields and the stack after it.

use super::event_lines::event_bytes;
use super::facts::Facts;
use super::fields::{colon_pairs, pairs};
use super::forms::{fixed, word_pairs};
use super::graph::{self, Graph, GraphLine};
use super::probe_text::{Probe, is_event_probe, probe, probe_fields};
use super::raw_graph::raw_step;
use super::tasks::{TracerText, WakeupText, switch, tracer_text, wakeup};
use super::tracers::{TracerEvent, tracer_event, tracer_event_named};
use crate::base::lines::{lines, text_at};
use crate::event::kernel::is_probe_field;
use crate::event::{EventDetail, Field, FieldRole, Value};
use crate::formats::EventRef;
use crate::formats::ftrace_line::flags::{FLAG_FIELDS, Flags};
use crate::formats::ftrace_line::line::{Body, Plain, classify, plain, repeats, split_arguments};
use crate::formats::ftrace_line::prefix::Prefix;
use crate::formats::kind_table::{KindTexts, Kinds};

const LOOK_AHEAD: usize = 1 << 17;
const MOST_FRAMES: usize = 512;
const MOST_TEXT: usize = 1 << 16;

/// Decodes the event; see the module's documentation.
#[must_use]
pub(super) fn describe(text: &[u8], kinds: &Kinds, facts: &Facts, event: EventRef) -> EventDetail {
    let KindTexts { category, name } = kinds.texts(event.kind);
    let mut detail = EventDetail {
        name,
        category,
        time: event.time,
        tid: event.thread.map_or(0, |thread| u64::from(thread.0)),
        ..EventDetail::default()
    };
    let rest = text_at(text, event.place, MOST_TEXT).unwrap_or(&[]);
    let Some(line) = lines(rest, 1, event.place).next() else {
        detail.text = "this line cannot be read any more".to_owned();
        return detail;
    };
    let whole = rest.get(..event_bytes(rest, facts)).unwrap_or(line.bytes);
    let bytes = whole;
    let body = match facts.split(bytes) {
        Some(prefix) => {
            detail.cpu = Some(prefix.cpu);
            detail.thread_name = String::from_utf8_lossy(prefix.comm).into_owned();
            detail.fields = column_fields(&prefix, facts);
            prefix.body
        }
        None => match graph::split_line(bytes) {
            Some(found) => {
                detail.cpu = Some(found.cpu);
                detail.fields = graph_column_fields(&found, facts);
                match graph::step(found.rest).map(|found| found.step) {
                    Some(graph::Step::Comment(text)) => text,
                    _ => found.rest,
                }
            }
            None => bytes,
        },
    };
    detail.text = String::from_utf8_lossy(body.trim_ascii()).into_owned();
    match classify(body) {
        Body::Event(name, info) => {
            detail.text = String::from_utf8_lossy(info).into_owned();
            event_fields(&mut detail, name, info, facts);
        }
        Body::SysEnter(_, arguments) => argument_fields(&mut detail, arguments),
        Body::SysExit(_, result) => detail.fields.push(returned_field(result)),
        Body::Function(function, caller) => function_fields(&mut detail, function, caller),
        Body::Stack(_) => {}
        Body::Text => match (tracer_text(body), tracer_event(body)) {
            (Some(found), _) => tracer_fields(&mut detail, &found),
            (None, Some(found)) => tracer_event_fields(&mut detail, &found),
            (None, None) => {
                let found = graph::step(body).or_else(|| graph::step_without_duration(body));
                graph_fields(&mut detail, body, found);
            }
        },
    }
    detail.stack = stack_behind(rest.get(whole.len()..).unwrap_or(&[]));
    detail
}

/// Returns the columns of a line as fields, with the names of a binary trace.
#[must_use]
pub(crate) fn column_fields(prefix: &Prefix<'_>, facts: &Facts) -> Vec<Field> {
    let mut fields: Vec<Field> = facts.legend.read(prefix.flags).fields().collect();
    fields.push(pid_field(prefix.pid));
    if !prefix.instance.is_empty() {
        fields.push(Field {
            role: FieldRole::Recorder,
            ..field("instance", prefix.instance)
        });
    }
    fields
}

fn graph_column_fields(line: &GraphLine<'_>, facts: &Facts) -> Vec<Field> {
    let mut fields: Vec<Field> = facts
        .legend
        .read(Flags::Letters(line.flags))
        .fields()
        .collect();
    fields.extend(line.task.map(|task| pid_field(task.pid)));
    fields
}

/// The name of the field of a binary trace's event that contains the thread's number.
const PID_FIELD: &str = "common_pid";

fn pid_field(pid: u32) -> Field {
    Field {
        name: PID_FIELD.to_owned(),
        type_name: "int".to_owned(),
        value: Value::Int(i64::from(pid)),
        shown: String::new(),
        role: FieldRole::Common,
    }
}

/// Returns whether a line contains the field `name` in its columns, if at all.
#[must_use]
pub(crate) fn is_in_columns(name: &str) -> bool {
    name == PID_FIELD || FLAG_FIELDS.contains(&name)
}

/// Returns one field of the columns without parsing the rest of the line; `None` if no column has that name.
#[must_use]
pub(crate) fn column_value(
    text: &[u8],
    facts: &Facts,
    event: EventRef,
    name: &str,
) -> Option<Value> {
    let start = usize::try_from(event.place).ok()?;
    let line = lines(text.get(start..)?, 1, 0).next()?;
    let fields = match facts.split(line.bytes) {
        Some(prefix) => column_fields(&prefix, facts),
        None => graph_column_fields(&graph::split_line(line.bytes)?, facts),
    };
    let field = fields.into_iter().find(|field| field.name == name)?;
    Some(field.value)
}

/// Returns a field for its text. Quotes around strings, as probes print them, are removed.
fn field(name: &str, text: &[u8]) -> Field {
    let inner = text.strip_prefix(b"\"");
    if let Some(inner) = inner.and_then(|text| text.strip_suffix(b"\"")) {
        let shown = String::from_utf8_lossy(inner).into_owned();
        return Field {
            name: name.to_owned(),
            type_name: String::new(),
            value: Value::Text(shown.clone()),
            shown,
            role: FieldRole::Argument,
        };
    }
    let shown = String::from_utf8_lossy(text).into_owned();
    let value = if let Some(digits) = shown.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok().map(Value::Pointer)
    } else {
        shown.parse().ok().map(Value::Int)
    };
    let value = value.or_else(|| annotated(&shown));
    Field {
        name: name.to_owned(),
        type_name: String::new(),
        value: value.unwrap_or_else(|| Value::Text(shown.clone())),
        shown,
        role: FieldRole::Argument,
    }
}

/// Returns the field for what a named system call returned, which the kernel prints as the bits of a long.
fn returned_field(text: &[u8]) -> Field {
    let mut field = field("ret", text);
    if let Value::Pointer(bits) = field.value {
        field.value = Value::Int(match u32::try_from(bits) {
            // The error of a kernel whose longs have 32 bits.
            Ok(bits) if bits > u32::MAX - MOST_ERRORS => bits.cast_signed().into(),
            _ => bits.cast_signed(),
        });
    }
    field
}

/// The number of values that are errors: -4095 to -1 (the kernel's MAX_ERRNO).
const MOST_ERRORS: u32 = 4095;

fn probe_field(name: &str, address: &[u8]) -> Field {
    Field {
        role: FieldRole::Probe,
        ..field(name, address)
    }
}

/// Parses a number with its meaning: `1 [action=TIMER]`, `1234 [ns]`, `0x60c8 (24776)`.
fn annotated(shown: &str) -> Option<Value> {
    let (number, meaning) = shown.split_once(' ')?;
    let is_meaning = (meaning.starts_with('[') && meaning.ends_with(']'))
        || (meaning.starts_with('(') && meaning.ends_with(')'));
    if !is_meaning {
        return None;
    }
    match number.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(Value::Pointer),
        None => number.parse().ok().map(Value::Int),
    }
}

fn event_fields(detail: &mut EventDetail, name: &[u8], info: &[u8], facts: &Facts) {
    if let Some(found) = probe(info).filter(|_| name != b"tracing_mark_write") {
        match found {
            Probe::Entry(address) => detail.fields.push(probe_field("__probe_ip", address)),
            Probe::Return(function, to) => {
                detail.fields.push(probe_field("__probe_func", function));
                detail.fields.push(probe_field("__probe_ret_ip", to));
            }
        }
        if let Some(fields) = probe_fields(info) {
            let is_argument = |(name, _): &(&[u8], &[u8])| !is_probe_field(name);
            let arguments = pairs(fields).into_iter().filter(is_argument);
            let arguments =
                arguments.map(|(name, value)| field(&String::from_utf8_lossy(name), value));
            return detail.fields.extend(arguments);
        }
        let close = memchr::memchr(b')', info).map_or(0, |at| at + 1);
        return pair_fields(detail, info.get(close..).unwrap_or(&[]));
    }
    if let Some(found) = tracer_event_named(name, info) {
        return tracer_event_fields(detail, &found);
    }
    if is_event_probe(info) {
        return pair_fields(detail, info);
    }
    match name {
        b"sched_switch" => {
            if let Some(found) = switch(info) {
                let number = |value: i64| value.to_string().into_bytes();
                for (name, value) in [
                    ("prev_comm", found.prev.comm.to_vec()),
                    ("prev_pid", number(found.prev.pid.into())),
                    ("prev_prio", number(found.prev.priority.into())),
                    ("prev_state", found.state.to_vec()),
                    ("next_comm", found.next.comm.to_vec()),
                    ("next_pid", number(found.next.pid.into())),
                    ("next_prio", number(found.next.priority.into())),
                ] {
                    detail.fields.push(field(name, &value));
                }
                let meaning = facts.end_state(&found).letters();
                if let Some(state) = detail.fields.iter_mut().find(|f| f.name == "prev_state") {
                    state.type_name = format!("state {meaning}");
                }
                return mark_outgoing_priority(detail);
            }
        }
        b"sched_wakeup" | b"sched_wakeup_new" | b"sched_waking" if !info.starts_with(b"comm=") => {
            if let Some(WakeupText { task, cpu }) = wakeup(info) {
                detail.fields.push(field("comm", task.comm));
                let pid = task.pid.to_string();
                detail.fields.push(field("pid", pid.as_bytes()));
                let priority = task.priority.to_string();
                detail.fields.push(field("prio", priority.as_bytes()));
                if let Some(cpu) = cpu {
                    let cpu = cpu.to_string();
                    detail.fields.push(field("target_cpu", cpu.as_bytes()));
                }
                return;
            }
        }
        b"sys_enter" | b"sys_exit" => {
            if let Some(rest) = info.strip_prefix(b"NR ") {
                let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
                detail
                    .fields
                    .push(field("id", rest.get(..end).unwrap_or(rest)));
                let rest = rest.get(end..).unwrap_or(&[]).trim_ascii();
                match rest.strip_prefix(b"= ") {
                    Some(result) => detail.fields.push(field("ret", result)),
                    None => detail.fields.push(field("args", rest)),
                }
                return;
            }
        }
        b"function" | b"func_repeats" => {
            if let Body::Function(function, caller) = classify(info) {
                return function_fields(detail, function, caller);
            }
        }
        _ if name.starts_with(b"sys_enter_") => return argument_fields(detail, info),
        _ if name.starts_with(b"sys_exit_") => {
            // With the option `fields`: `__syscall_nr=0x101 (257) ret=0xfffffffffffffffe (-2)`.
            let stated = info.starts_with(b"__syscall_nr=");
            let bits = super::fields::field(info, b"ret").filter(|_| stated);
            let bits = bits.and_then(|ret| ret.split(|byte| *byte == b' ').next());
            detail.fields.push(returned_field(bits.unwrap_or(info)));
            return;
        }
        _ if (name.starts_with(b"funcgraph_") || name == b"fgraph_retaddr_entry")
            && !info.starts_with(b"func=") =>
        {
            let found = graph::step(info).or_else(|| raw_step(name, info));
            return graph_fields(detail, info, found);
        }
        _ => {
            if let Some(found) = fixed(name, info) {
                let fields = found.iter().map(|(name, value)| field(name, value));
                detail.fields.extend(fields);
                return;
            }
        }
    }
    pair_fields(detail, info);
}

fn tracer_event_fields(detail: &mut EventDetail, found: &TracerEvent<'_>) {
    let fields = found.fields.iter();
    let fields = fields.map(|it| match it.name {
        // Ids that programs chose are printed in hex without a prefix.
        "id" => field(it.name, &[b"0x", it.text].concat()),
        _ => field(it.name, it.text),
    });
    detail.fields.extend(fields);
}

fn function_fields(detail: &mut EventDetail, function: &[u8], caller: &[u8]) {
    let (name, arguments) = split_arguments(function);
    detail.fields.push(field("function", name));
    let (caller, count) = match repeats(caller) {
        Some((caller, count)) => (caller, Some(count)),
        None => (caller, None),
    };
    detail.fields.push(field("caller", caller));
    detail
        .fields
        .extend(count.map(|count| field("count", count)));
    let arguments = arguments.unwrap_or(&[]);
    let arguments = arguments
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii);
    for argument in arguments.filter(|argument| !argument.is_empty()) {
        let (name, value) = match memchr::memchr(b'=', argument) {
            Some(equals) => argument.split_at(equals),
            None => (&b""[..], argument),
        };
        let value = value.strip_prefix(b"=").unwrap_or(value);
        detail
            .fields
            .push(field(&String::from_utf8_lossy(name), value));
    }
}

fn tracer_fields(detail: &mut EventDetail, found: &TracerText<'_>) {
    let cpu = found.cpu.to_string();
    let rows = [
        ("prev_pid", found.prev.pid.to_string()),
        ("prev_prio", found.prev.priority.to_string()),
        (
            "prev_state",
            String::from_utf8_lossy(found.state).into_owned(),
        ),
        ("next_cpu", cpu),
        ("next_pid", found.next.pid.to_string()),
        ("next_prio", found.next.priority.to_string()),
        (
            "next_comm",
            String::from_utf8_lossy(found.next.comm).into_owned(),
        ),
    ];
    let rows = rows.iter();
    let fields = rows.map(|(name, value)| field(name, value.as_bytes()));
    detail.fields.extend(fields);
    mark_outgoing_priority(detail);
}

/// Sets the role of the field of a context switch that exporters need.
fn mark_outgoing_priority(detail: &mut EventDetail) {
    if let Some(priority) = detail.fields.iter_mut().find(|it| it.name == "prev_prio") {
        priority.role = FieldRole::OutgoingPriority;
    }
}

fn pair_fields(detail: &mut EventDetail, info: &[u8]) {
    let mut pairs = pairs(info);
    if pairs.is_empty() {
        pairs = colon_pairs(info);
    }
    if pairs.is_empty() {
        pairs = word_pairs(info);
    }
    for (name, value) in pairs {
        let name = String::from_utf8_lossy(name).into_owned();
        detail.fields.push(field(&name, value));
    }
}

/// Adds the fields of `fd: 7, buf: 0x7ffe5d4b9f80, count: 0x200`.
fn argument_fields(detail: &mut EventDetail, arguments: &[u8]) {
    for (name, value) in super::fields::arguments(arguments) {
        detail
            .fields
            .push(field(&String::from_utf8_lossy(name), value));
    }
}

fn graph_fields(detail: &mut EventDetail, text: &[u8], found: Option<Graph<'_>>) {
    let Some(found) = found else {
        return;
    };
    let cut = graph::duration_step_ns(text).filter(|&step| step > 1);
    let cut = cut.zip(graph::duration_text(text));
    let mut push_duration = |ns: i64| {
        let mut shown = crate::base::Nanos(ns).to_string();
        if let Some((step, printed)) = cut {
            let printed = String::from_utf8_lossy(printed);
            let step = crate::base::Nanos(step);
            shown += &format!(" (text: {printed}, cut by less than {step})");
        }
        detail.fields.push(Field {
            name: "duration".to_owned(),
            type_name: "ns".to_owned(),
            value: Value::Int(ns),
            shown,
            role: FieldRole::Argument,
        });
    };
    match found.step {
        graph::Step::Leaf(name, ns) => {
            if let Some(ns) = ns {
                push_duration(ns);
            }
            detail.fields.push(field("func", name));
        }
        graph::Step::Enter(name) => detail.fields.push(field("func", name)),
        graph::Step::Leave(ns, name) => {
            if let Some(ns) = ns {
                push_duration(ns);
            }
            if !name.is_empty() {
                detail.fields.push(field("func", name));
            }
        }
        graph::Step::Comment(_) => {}
    }
    if let Some(value) = graph::returned(text) {
        detail.fields.push(field("retval", value));
    }
    let depth = found.depth.to_string();
    detail.fields.push(field("depth", depth.as_bytes()));
}

/// Returns the stack frames in the lines after an event.
fn stack_behind(rest: &[u8]) -> Vec<String> {
    let near = rest.get(..LOOK_AHEAD).unwrap_or(rest);
    lines(near, 1, 0)
        .skip(1)
        .take_while(|line| plain(line.bytes) == Plain::Frame)
        .take(MOST_FRAMES)
        .map(|line| {
            let frame = line.bytes.trim_ascii();
            let frame = frame.strip_prefix(b"=>").unwrap_or(frame).trim_ascii();
            String::from_utf8_lossy(frame).into_owned()
        })
        .collect()
}
