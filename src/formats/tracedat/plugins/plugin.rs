//! The definition of a plugin: a row with an event, its fields, and the function that prints such events.

use super::function_names::Functions;
use crate::formats::function_options::FunctionOptions;
use crate::formats::tracedat::event_format::{FieldFormat, read_number, sign_extend};
use crate::formats::tracedat::kind::Kind;
use crate::formats::tracedat::print_fmt::{FunctionAt, Scope};
use crate::formats::tracedat::printed_time::Times;

/// Prints one kind of event.
#[derive(Clone, Copy)]
pub struct Plugin {
    /// The event's system.
    pub system: &'static str,
    /// The event's name.
    pub event: &'static str,
    /// Names of the fields that `show` reads; `show` refers to a field by its index in this list.
    pub fields: &'static [&'static str],
    /// Appends the text of an event.
    pub show: fn(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plugin({}:{})", self.system, self.event)
    }
}

/// What is printed after the plugin's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing: the text is complete.
    Done,
    /// The event's own print fmt.
    PrintFmt,
}

/// The event to print.
pub struct Event<'a> {
    /// Its record and fields.
    pub scope: Scope<'a>,
    /// Its kind.
    pub kind: &'a Kind,
    /// Its CPU.
    pub cpu: u32,
    /// Its time on the clock that the report prints.
    pub time: u64,
    /// The record that is printed after it, if there is one: a call that returns at once is printed together with its
    /// return.
    pub next: Option<&'a [u8]>,
    /// The kind of events for returns from functions, if the file has it.
    pub graph_exit: Option<&'a Kind>,
    /// How times are printed.
    pub times: Times,
    /// Indentation relative to its callers, in levels; see [`Callers`](super::Callers).
    pub depth: u32,
    /// How functions are shown.
    pub functions: FunctionOptions,
}

/// State that plugins keep between events.
pub struct State<'a> {
    /// Called with each pid and thread name in a record, for names that are not in the file's list.
    pub learn_name: &'a mut dyn FnMut(i32, &[u8]),
    /// Cache of function names.
    pub functions: &'a mut Functions,
    /// Whether the plugin's text includes the next record; set by the plugin.
    pub has_taken_next: bool,
}

impl<'a> Event<'a> {
    /// Returns the plugin's `index`-th field.
    #[must_use]
    pub fn field(&self, index: usize) -> Option<&'a FieldFormat> {
        let field = self.kind.plugin_fields.get(index).copied().flatten()?;
        self.scope.fields.get(usize::from(field))
    }

    /// Returns the plugin's `index`-th field as an unsigned number; signed fields are not sign-extended.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<u64> {
        let field = self.field(index)?;
        let offset = field.offset as usize;
        let end = offset.checked_add(field.size as usize)?;
        read_number(self.scope.record.get(offset..end)?, self.scope.endian)
    }

    /// Returns the plugin's `index`-th field as a signed number.
    #[must_use]
    pub(crate) fn signed(&self, index: usize) -> Option<i64> {
        let field = self.field(index)?;
        let value = self.value(index)?;
        Some(if field.is_signed {
            sign_extend(value, field.size) as i64
        } else {
            value as i64
        })
    }

    /// Returns [`Event::value`]; if there is no such field, appends a note to the text.
    pub(crate) fn require(&self, out: &mut Vec<u8>, index: usize) -> Option<u64> {
        let value = self.value(index);
        if value.is_none() {
            let name = self
                .kind
                .plugin
                .and_then(|plugin| plugin.fields.get(index))
                .copied()
                .unwrap_or("");
            out.extend_from_slice(b"<CANT FIND FIELD ");
            out.extend_from_slice(name.as_bytes());
            out.push(b'>');
        }
        value
    }

    /// Returns the function that contains `address`.
    #[must_use]
    pub(crate) fn function(&self, address: u64) -> Option<FunctionAt<'a>> {
        self.scope.lookup.symbol(address)
    }
}
