//! How the kernel prints events: the text of an event in, the fields of its message out.
//!
//! Ftrace text contains what `TP_printk` in the kernel's `include/trace/events` prints. Some of its fields have other
//! names than in the event's format, some are numbers in hex without `0x`, some are words for numbers, and some have no
//! names at all. **To add an event whose text differs from its message, add a row to [`PRINTED_FORMS`].**
//!
//! With the trace option `fields`, the kernel prints the names and numbers of the format: such a text matches no row,
//! and its fields are passed on unchanged.

use crate::event::{ExactTexts, FieldRef, FieldRole, FieldSink, FieldView, ValueRef};
use crate::formats::atrace::atrace;
use crate::formats::events::COMMON_FLAGS;
use crate::formats::{EventRef, Events};

/// The text of an event that has a message of Perfetto's own.
#[derive(Debug)]
pub(super) struct PrintedForm {
    /// `system:event`.
    event: &'static str,
    /// The forms of texts whose fields have no names, the most specific one first. `{name}` is the field `name`, up to
    /// the first occurrence of the characters that follow it; `{name*}` is the field up to their last occurrence.
    shapes: &'static [&'static str],
    /// The fields that differ from those of the message; all others have the same names and values.
    fields: &'static [PrintedField],
}

/// A field whose text differs from the message.
#[derive(Debug)]
struct PrintedField {
    /// Its name in the text, or in a shape.
    printed: &'static str,
    /// Its name in the message.
    name: &'static str,
    notation: Notation,
}

/// How the value of a field is printed.
#[derive(Clone, Copy, Debug)]
enum Notation {
    /// As in the message.
    Plain,
    /// As a number in hex without `0x`; of a bit mask, the last of its words of 32 bits is the value.
    Hex,
    /// As a word for a number.
    Words(&'static [(&'static str, i64)]),
    /// As the text that a program wrote.
    ProgramText,
}

const fn renamed(printed: &'static str, name: &'static str) -> PrintedField {
    PrintedField {
        printed,
        name,
        notation: Notation::Plain,
    }
}

const fn hex(printed: &'static str, name: &'static str) -> PrintedField {
    PrintedField {
        printed,
        name,
        notation: Notation::Hex,
    }
}

const fn words(name: &'static str, words: &'static [(&'static str, i64)]) -> PrintedField {
    PrintedField {
        printed: name,
        name,
        notation: Notation::Words(words),
    }
}

const fn fields(event: &'static str, fields: &'static [PrintedField]) -> PrintedForm {
    PrintedForm {
        event,
        shapes: &[],
        fields,
    }
}

const fn shape(event: &'static str, shapes: &'static [&'static str]) -> PrintedForm {
    PrintedForm {
        event,
        shapes,
        fields: &[],
    }
}

/// All events whose text differs from their message.
const PRINTED_FORMS: &[PrintedForm] = &[
    fields(
        "sched:sched_process_fork",
        &[renamed("comm", "parent_comm"), renamed("pid", "parent_pid")],
    ),
    fields(
        "sched:sched_blocked_reason",
        &[renamed("iowait", "io_wait")],
    ),
    fields("task:task_newtask", &[hex("clone_flags", "clone_flags")]),
    fields(
        "signal:signal_generate",
        &[renamed("grp", "group"), renamed("res", "result")],
    ),
    fields("signal:signal_deliver", &[hex("sa_flags", "sa_flags")]),
    fields(
        "irq:irq_handler_exit",
        &[words("ret", &[("unhandled", 0), ("handled", 1)])],
    ),
    fields("ipi:ipi_raise", &[hex("target_cpus", "target_cpus")]),
    // The reader takes the number in brackets for a thread's name, as most events of the block layer have one there.
    fields("block:block_bio_complete", &[renamed("comm", "error")]),
    shape(
        "block:block_bio_remap",
        &["{dev} {rwbs} {sector} + {nr_sector} <- ({old_dev}) {old_sector}"],
    ),
    shape(
        "block:block_rq_remap",
        &["{dev} {rwbs} {sector} + {nr_sector} <- ({old_dev}) {old_sector} {nr_bios}"],
    ),
    shape(
        "block:block_split",
        &["{dev} {rwbs} {sector} / {new_sector} [{comm}]"],
    ),
    shape(
        "block:block_touch_buffer",
        &["{dev} sector={sector} size={size}"],
    ),
    shape(
        "block:block_dirty_buffer",
        &["{dev} sector={sector} size={size}"],
    ),
    shape("block:block_plug", &["[{comm}]"]),
    shape("block:block_unplug", &["[{comm*}] {nr_rq}"]),
    fields(
        "power:cpu_frequency_limits",
        &[renamed("min", "min_freq"), renamed("max", "max_freq")],
    ),
    PrintedForm {
        event: "power:suspend_resume",
        shapes: &["{action}[{val}] {start}"],
        fields: &[words("start", &[("end", 0), ("begin", 1)])],
    },
    shape("power:wakeup_source_activate", &["{name*} state={state}"]),
    shape("power:wakeup_source_deactivate", &["{name*} state={state}"]),
    fields(
        "power:device_pm_callback_start",
        &[words("event", PM_EVENTS)],
    ),
    fields("workqueue:workqueue_queue_work", &[hex("struct", "work")]),
    PrintedForm {
        event: "workqueue:workqueue_activate_work",
        shapes: &["work struct {work} function={function}"],
        fields: &[hex("work", "work")],
    },
    fields("workqueue:workqueue_execute_start", &[hex("work", "work")]),
    fields("workqueue:workqueue_execute_end", &[hex("work", "work")]),
    PrintedForm {
        event: "ftrace:print",
        shapes: &["{text}"],
        fields: &[PrintedField {
            printed: "text",
            name: "buf",
            notation: Notation::ProgramText,
        }],
    },
];

/// The words for changes of a device's power (include/trace/events/power.h, include/linux/pm.h).
const PM_EVENTS: &[(&str, i64)] = &[
    ("freeze", 0x01),
    ("suspend", 0x02),
    ("hibernate", 0x04),
    ("quiesce", 0x08),
    ("resume", 0x10),
    ("thaw", 0x20),
    ("restore", 0x40),
    ("recover", 0x80),
];

/// Returns how the kernel prints the event `system:event`; `None` if the text has the fields of the message.
pub(super) fn printed_form(event: &str) -> Option<&'static PrintedForm> {
    PRINTED_FORMS.iter().find(|form| form.event == event)
}

/// Returns whether these are the fields of a text: fields of a binary trace have declared types.
pub(super) fn is_printed(fields: &[FieldRef<'_>]) -> bool {
    /// The type of a text that a reader adds to the fields.
    const ADDED: &str = "string";
    let mut types = fields.iter().map(|field| field.type_name.as_ref());
    types.all(|declared| declared.is_empty() || declared == ADDED)
}

impl PrintedForm {
    /// Passes the fields of an event's text to `sink`, with the names and values of the message.
    pub(super) fn read(&self, events: &dyn Events, event: EventRef, sink: &mut dyn FieldSink) {
        let detail = events.describe(event);
        let fields = detail.fields.into_iter().map(FieldRef::from);
        let (common, own): (Vec<_>, Vec<_>) =
            fields.partition(|field| field.role == FieldRole::Common);
        if let Some(flags) = common.iter().find(|field| field.name == COMMON_FLAGS) {
            sink.common_flags(&flags.value);
        }
        let text = detail.text.trim();
        match self.shapes.iter().find_map(|shape| parts_of(shape, text)) {
            Some(parts) => {
                for part in parts {
                    self.pass(part.name, ValueRef::Text(part.text.into()), sink);
                }
            }
            None => {
                for field in own.into_iter().filter(|field| field.role.is_argument()) {
                    self.pass(&field.name, field.value, sink);
                }
            }
        }
    }

    fn pass(&self, name: &str, value: ValueRef<'_>, sink: &mut dyn FieldSink) {
        let row = self.fields.iter().find(|row| row.printed == name);
        let (name, value) = match row {
            Some(row) => (row.name, row.notation.value(value)),
            None => (name, value),
        };
        sink.field(FieldView {
            name,
            value: &value,
            role: FieldRole::Argument,
            exact: ExactTexts::default(),
        });
    }
}

impl Notation {
    /// Returns the value of the message; a value in another notation is returned unchanged.
    fn value(self, printed: ValueRef<'_>) -> ValueRef<'_> {
        let value = match (self, &printed) {
            // The reader parsed the digits as a decimal number.
            (Notation::Hex, ValueRef::Int(digits @ 0..)) => {
                hex_in(&digits.to_string()).map(ValueRef::UInt)
            }
            (Notation::Hex, ValueRef::Text(text)) => hex_in(text).map(ValueRef::UInt),
            (Notation::Words(words), ValueRef::Text(text)) => {
                let row = words.iter().find(|row| row.0 == text);
                row.map(|row| ValueRef::Int(row.1))
            }
            (Notation::ProgramText, ValueRef::Text(text)) => {
                Some(ValueRef::Text(program_text(text).to_owned().into()))
            }
            _ => None,
        };
        value.unwrap_or(printed)
    }
}

/// Returns the last of the numbers in the first word of a text: `00000000,0000000a` is 10.
fn hex_in(text: &str) -> Option<u64> {
    let word = text.split_whitespace().next()?;
    let last = word.rsplit(',').next()?;
    u64::from_str_radix(last, 16).ok()
}

/// Returns the text that a program wrote, without what trace-cmd, or the kernel with the trace option `fields`, prints
/// before it. What the reader of ftrace text takes for an atrace mark is one for trace_processor as well.
fn program_text(text: &str) -> &str {
    let text = text.strip_prefix("tracing_mark_write: ").unwrap_or(text);
    let raw = text.strip_prefix("ip=");
    let raw = raw.and_then(|rest| {
        [" buf=", " str="]
            .iter()
            .find_map(|name| rest.split_once(name))
    });
    let text = raw.map_or(text, |(_, own)| own);
    let is_mark = |text: &str| atrace(text.as_bytes()).is_some();
    match text.split_once(": ") {
        Some((function, own)) if !is_mark(text) && !function.contains(' ') && is_mark(own) => own,
        _ => text,
    }
}

/// The text of a field in a shape.
#[derive(Debug, PartialEq, Eq)]
struct Part<'t> {
    name: &'static str,
    text: &'t str,
}

/// Returns the fields of a text that has this shape; `None` if it has another one.
fn parts_of<'t>(shape: &'static str, text: &'t str) -> Option<Vec<Part<'t>>> {
    let mut holes = shape.split('{');
    let mut rest = text.strip_prefix(holes.next()?)?;
    let mut holes = holes.peekable();
    let mut parts = Vec::new();
    while let Some(hole) = holes.next() {
        let (name, after) = hole.split_once('}')?;
        let (name, at) = match (holes.peek(), name.strip_suffix('*')) {
            (None, _) => (name, rest.strip_suffix(after).map(str::len)),
            (Some(_), Some(name)) => (name, rest.rfind(after)),
            (Some(_), None) => (name, rest.find(after)),
        };
        let (text, left) = rest.split_at_checked(at?)?;
        // A text that contains the names of all fields has no shape.
        if text
            .strip_prefix(name)
            .is_some_and(|text| text.starts_with('='))
        {
            return None;
        }
        parts.push(Part { name, text });
        rest = left.strip_prefix(after)?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::event_types::event_type;
    use super::*;

    fn parts(event: &str, text: &str) -> Option<String> {
        let form = printed_form(event).unwrap();
        let found = form.shapes.iter().find_map(|shape| parts_of(shape, text))?;
        let shown = found.iter().map(|it| format!("{}={}", it.name, it.text));
        Some(shown.collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn texts_without_names_have_shapes() {
        for (event, text, expected) in [
            (
                "power:suspend_resume",
                "machine_suspend[3] begin",
                "action=machine_suspend|val=3|start=begin",
            ),
            (
                "power:wakeup_source_activate",
                "a state=b state=0x10001",
                "name=a state=b|state=0x10001",
            ),
            ("block:block_plug", "[a] b]", "comm=a] b"),
            ("block:block_unplug", "[a] b] 3", "comm=a] b|nr_rq=3"),
            (
                "block:block_touch_buffer",
                "254,0 sector=12 size=4096",
                "dev=254,0|sector=12|size=4096",
            ),
            (
                "block:block_split",
                "8,0 WS 10 / 18 [dd]",
                "dev=8,0|rwbs=WS|sector=10|new_sector=18|comm=dd",
            ),
            (
                "block:block_bio_remap",
                "8,0 R 10 + 8 <- (8,1) 2",
                "dev=8,0|rwbs=R|sector=10|nr_sector=8|old_dev=8,1|old_sector=2",
            ),
        ] {
            assert_eq!(parts(event, text).as_deref(), Some(expected));
        }
        // The option `fields` prints names.
        let raw = "dev=0x800000 (8388608) sector=0xc (12) size=0x1000 (4096)";
        assert_eq!(parts("block:block_touch_buffer", raw), None);
        let raw = "name=a state=0x10001 (65537)";
        assert_eq!(parts("power:wakeup_source_activate", raw), None);
        assert_eq!(parts("block:block_plug", "comm=dd"), None);
    }

    #[test]
    fn all_fields_are_those_of_messages() {
        for form in PRINTED_FORMS {
            let (system, name) = form.event.split_once(':').unwrap();
            let own = event_type(system, name).unwrap();
            let has = |name: &str| own.fields.iter().any(|field| field.name == name);
            assert!(
                form.fields.iter().all(|row| has(row.name)),
                "{}",
                form.event
            );
            let printed = |name| form.fields.iter().any(|row| row.printed == name);
            for hole in form
                .shapes
                .iter()
                .flat_map(|shape| shape.split('{').skip(1))
            {
                let name = hole.split('}').next().unwrap().trim_end_matches('*');
                assert!(printed(name) || has(name), "{}: {name}", form.event);
            }
        }
    }

    #[test]
    fn numbers_are_read_from_their_notations() {
        let text = |text: &str| ValueRef::Text(text.to_owned().into());
        assert_eq!(
            Notation::Hex.value(ValueRef::Int(1200000)),
            ValueRef::UInt(0x120_0000)
        );
        assert_eq!(
            Notation::Hex.value(text("3d0f00")),
            ValueRef::UInt(0x3d_0f00)
        );
        assert_eq!(
            Notation::Hex.value(text("00000000,0000000a")),
            ValueRef::UInt(10)
        );
        // The option `fields` prints `0x`.
        assert_eq!(
            Notation::Hex.value(ValueRef::Pointer(18)),
            ValueRef::Pointer(18)
        );
        assert_eq!(Notation::Hex.value(text("(null)")), text("(null)"));
        assert_eq!(
            Notation::Words(PM_EVENTS).value(text("thaw")),
            ValueRef::Int(32)
        );
        assert_eq!(Notation::Words(PM_EVENTS).value(text("x")), text("x"));
    }

    #[test]
    fn the_text_of_a_program_is_what_it_wrote() {
        assert_eq!(program_text("B|1|x: y"), "B|1|x: y");
        assert_eq!(program_text("tracing_mark_write: B|1|x"), "B|1|x");
        assert_eq!(program_text("ip=0xffff8000 buf=B|1|a b=c"), "B|1|a b=c");
        assert_eq!(program_text("my_function: E|1"), "E|1");
        assert_eq!(program_text("my_function: hello"), "my_function: hello");
    }
}
