//! One kind of event with everything that is needed to print it: its fields, print fmt, plugin and letters of thread
//! states.

use std::sync::OnceLock;

use super::event_format::{EventFormat, FieldFormat};
use super::plugins::Plugin;
use super::print_fmt::PrintFmt;
use super::print_fmt::expr::Expr;
use super::switch_state::{StateLetters, preempted_bit};
use crate::formats::events::COMMON_FLAGS;

/// One kind of event with everything that is needed to print it.
#[derive(Debug)]
pub struct Kind {
    /// Its number, name and fields.
    pub format: EventFormat,
    /// The plugin that prints it instead of its print fmt.
    pub plugin: Option<&'static Plugin>,
    /// Index in `format.fields` of each of the plugin's fields; `None` for a field that the format lacks.
    pub plugin_fields: Vec<Option<u16>>,
    /// The kind of number in each plain field, for each of `format.fields`.
    pub sorts: Vec<NumberSort>,
    /// Whether it is trace_printk's binary form (`bprint`).
    pub(super) is_binary_print: bool,
    /// What an exporter writes in addition to its fields.
    pub(super) more: More,
    /// Indices in `format.fields` of the fields that are not in every event.
    pub(super) own_fields: Vec<u16>,
    /// Index in `format.fields` of `common_flags`.
    pub(super) flags_field: Option<u16>,
    long_size: u32,
    print_fmt: OnceLock<PrintFmt>,
    state_letters: OnceLock<StateLetters>,
}

/// What an event of the system `ftrace` contains in addition to its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    /// Nothing.
    Nothing,
    /// Frames of a stack.
    Stack,
    /// A text, because its fields are only addresses or bytes.
    Text,
}

impl More {
    fn of(format: &EventFormat) -> More {
        match (format.system.as_str(), format.name.as_str()) {
            ("ftrace", "kernel_stack" | "user_stack") => More::Stack,
            ("ftrace", "function" | "raw_data" | "bprint") => More::Text,
            _ => More::Nothing,
        }
    }
}

/// The kind of number in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberSort {
    /// `bool`: shown as yes or no if it is 0 or 1.
    Bool,
    /// An address, by the type or the name of the field.
    Address,
    /// A signed number.
    Signed,
    /// An unsigned number.
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
    /// Creates the kind that `format` describes and `plugin` prints.
    #[must_use]
    pub fn new(format: EventFormat, plugin: Option<&'static Plugin>, long_size: u32) -> Kind {
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
            more: More::of(&format),
            own_fields: (0..)
                .zip(&format.fields)
                .filter(|(_, field)| !field.is_common())
                .map(|(index, _)| index)
                .collect(),
            flags_field: place(&COMMON_FLAGS),
            is_binary_print: format.system == "ftrace" && format.name == "bprint",
            format,
            long_size,
            print_fmt: OnceLock::new(),
            state_letters: OnceLock::new(),
        }
    }

    /// Returns its print fmt, parsed at the first call.
    #[must_use]
    pub fn print_fmt(&self) -> &PrintFmt {
        self.print_fmt.get_or_init(|| {
            let print_fmt = PrintFmt::new(&self.format, self.long_size);
            if self.is_binary_print {
                // Each record has its own format string; the print fmt is not used.
                print_fmt.bare()
            } else {
                print_fmt
            }
        })
    }

    /// Returns the letters of thread states, by bit of `prev_state` (sched_switch only).
    #[must_use]
    pub(crate) fn state_letters(&self) -> &StateLetters {
        self.state_letters.get_or_init(|| {
            let preempted = preempted_bit(&self.format.print_fmt);
            StateLetters::new(letters_of(self), preempted)
        })
    }
}

/// The letters by bit, for kernels whose print fmt does not contain them.
const STATES: &[u8] = b"SDTtXZPI";

/// Returns the letter of each bit of `prev_state`, from the print fmt of `kind` (sched_switch).
fn letters_of(kind: &Kind) -> Vec<u8> {
    let Some(field) = kind
        .format
        .fields
        .iter()
        .position(|field| field.name == "prev_state")
    else {
        return STATES.to_vec();
    };
    let print_fmt = kind.print_fmt();
    let rows = u16::try_from(field)
        .ok()
        .and_then(|field| match print_fmt.naming_of(field) {
            Some(Expr::Flags(_, _, rows)) => Some(rows),
            _ => None,
        });
    let Some(rows) = rows else {
        return STATES.to_vec();
    };
    let mut letters = Vec::new();
    for row in rows {
        let (Some(mask), Some(&letter)) = (row.value, row.text.first()) else {
            continue;
        };
        let bit = mask.trailing_zeros() as usize;
        if mask == 0 || bit > 31 {
            continue;
        }
        if letters.len() <= bit {
            letters.resize(bit + 1, 0);
        }
        if let Some(slot) = letters.get_mut(bit) {
            *slot = letter;
        }
    }
    // The list ends at the first bit without a letter.
    let known = letters.iter().position(|&letter| letter == 0);
    letters.truncate(known.unwrap_or(letters.len()));
    letters
}
