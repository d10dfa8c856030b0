//! Shows the arguments in a probe's events with the types of its definition: numbers with their sign and base,
//! characters, bits.

use rustc_hash::FxHashMap;

use super::definition::{Definitions, FetchArgument, FetchType, ProbeDefinition};
use crate::event::kernel::{ProbeGroup, UNKNOWN_SYSTEM};
use crate::event::{EventDetail, Field, Value};

/// The index of the line that defines each event's probe, by group and name.
#[derive(Debug, Default)]
pub(crate) struct ByEvent(FxHashMap<String, Named>);

/// The lines that define events of one name: the first line, and the line of each group.
#[derive(Debug)]
struct Named {
    first: usize,
    of_group: FxHashMap<String, usize>,
}

impl ByEvent {
    /// Indexes all defined probes.
    #[must_use]
    pub(crate) fn new(definitions: &Definitions) -> ByEvent {
        let mut all: FxHashMap<String, Named> = FxHashMap::default();
        for (at, line) in definitions.lines.iter().enumerate() {
            let Some(probe) = line.standing() else {
                continue;
            };
            let named = all.entry(probe.event.clone()).or_insert_with(|| Named {
                first: at,
                of_group: FxHashMap::default(),
            });
            named.of_group.entry(probe.group.clone()).or_insert(at);
        }
        ByEvent(all)
    }

    /// Returns the definition of an event. Text traces do not contain the group: for them the name is enough.
    #[must_use]
    pub(crate) fn definition_of<'a>(
        &self,
        definitions: &'a Definitions,
        group: &str,
        event: &str,
    ) -> Option<&'a ProbeDefinition> {
        let named = self.0.get(event)?;
        let first = is_text_group(group).then_some(named.first);
        let at = named.of_group.get(group).copied().or(first)?;
        definitions.lines.get(at)?.standing()
    }
}

/// Sets type, value and shown text of the fields of a probe's event from its definition.
pub(crate) fn explain(detail: &mut EventDetail, probe: &ProbeDefinition) {
    for field in &mut detail.fields {
        if let Some(argument) = probe.argument(&field.name) {
            explain_field(field, argument);
        }
    }
}

/// Returns whether `group` is one that readers of text give to probes because the text does not contain the real group.
#[must_use]
pub(crate) fn is_text_group(group: &str) -> bool {
    let is_of_texts = || ProbeGroup::of(group.as_bytes()).is_some_and(ProbeGroup::is_of_texts);
    matches!(group, "" | UNKNOWN_SYSTEM) || is_of_texts()
}

fn explain_field(field: &mut Field, argument: &FetchArgument) {
    let type_ = argument.type_;
    let is_text = field.type_name.is_empty();
    // Arrays of numbers, and texts, are readable already.
    let raw = if is_text {
        raw_of_text(&field.text(), type_)
    } else {
        match field.value {
            Value::UInt(raw) | Value::Pointer(raw) => Some(raw),
            Value::Int(raw) => Some(raw.cast_unsigned()),
            _ => None,
        }
    };
    let type_name = type_.name();
    if !type_name.is_empty() {
        field.type_name = match argument.count {
            Some(count) => format!("{type_name}[{count}]"),
            None => type_name,
        };
    }
    let Some(raw) = raw.filter(|_| argument.count.is_none()) else {
        return;
    };
    // A symbol that the reader resolved is more useful than its address.
    let has_symbol = type_ == FetchType::Symbol && !field.shown.is_empty();
    if let Some(text) = type_.number_text(raw).filter(|_| !has_symbol) {
        field.value = match type_ {
            FetchType::Signed(_) => text.parse().map_or(Value::UInt(raw), Value::Int),
            FetchType::Word | FetchType::Hex(_) | FetchType::Symbol => Value::UInt(raw),
            _ => text.parse().map_or(Value::UInt(raw), Value::UInt),
        };
        field.shown = text;
    }
}

/// Parses a number that a text trace printed. Old kernels print hexadecimal numbers without 0x.
fn raw_of_text(text: &str, type_: FetchType) -> Option<u64> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    match type_ {
        FetchType::Word | FetchType::Hex(_) => u64::from_str_radix(text, 16).ok(),
        FetchType::Signed(_) => text.parse().ok().map(i64::cast_unsigned),
        FetchType::Unsigned(_) | FetchType::Bits { .. } => text.parse().ok(),
        _ => None,
    }
}
