//! What definitions say of the arguments in a probe's event: numbers with their sign and base, characters, bits.

use rustc_hash::FxHashMap;

use super::{Definitions, FetchArgument, FetchType, ProbeDefinition};
use crate::event::{EventDetail, Field, Value};

/// Where the standing definition of each event is, by its group and name.
#[derive(Debug, Default)]
pub struct ByEvent(FxHashMap<String, Named>);

/// The events of one name: lines of definitions.
#[derive(Debug)]
struct Named {
    first: usize,
    of_group: FxHashMap<String, usize>,
}

impl ByEvent {
    /// Of all that stand.
    #[must_use]
    pub fn new(definitions: &Definitions) -> ByEvent {
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

    /// The standing definition of an event. Text traces do not say the group: the name will do.
    #[must_use]
    pub fn definition_of<'a>(
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

/// Shows the arguments of a probe's event as its definition types them.
pub fn explain(detail: &mut EventDetail, probe: &ProbeDefinition) {
    for field in &mut detail.fields {
        if let Some(argument) = probe.argument(&field.name) {
            explain_field(field, argument);
        }
    }
}

/// The groups that readers of text give to probes whatever they were called.
#[must_use]
pub fn is_text_group(group: &str) -> bool {
    matches!(group, "" | "kprobes" | "uprobes" | "eprobes" | "text")
}

fn explain_field(field: &mut Field, argument: &FetchArgument) {
    let type_ = argument.type_;
    let is_text = field.type_name.is_empty();
    // Arrays of numbers and texts are as readable as they can be.
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
    // A symbol that the reader found says more than its address.
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

/// The number that a text trace prints: old kernels leave the 0x of hexadecimal numbers out.
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
