//! Kinds of events that trace-cmd prints otherwise than their print fmt says, one row each in [`PLUGINS`].
//!
//! A plugin names the fields it wants; they are looked up once per kind of event, so that showing an
//! event costs no search for names.

mod function;
mod futex;
mod graph;
mod kmem;
mod kvm;
mod sched;
mod timer;
mod tlb;
mod wireless;

pub use function::{Callers, Functions, pad_left, push_time};
pub use sched::state_letters;

use super::decoder::Kind;
use super::event_format::{FieldFormat, read_number, sign_extend};
use super::print_fmt::Scope;
use crate::formats::format::FunctionOptions;

/// Prints one kind of event.
#[derive(Clone, Copy)]
pub struct Plugin {
    /// The event's system.
    pub system: &'static str,
    /// The event's name.
    pub event: &'static str,
    /// The fields that `show` asks for, by their place here.
    pub fields: &'static [&'static str],
    /// Appends the text.
    pub show: fn(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plugin({}:{})", self.system, self.event)
    }
}

/// What follows the plugin's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing.
    Done,
    /// The event's own print fmt.
    PrintFmt,
}

/// All of them. (Functions that print formats call are in `print_fmt::call`.)
pub const PLUGINS: &[&[Plugin]] = &[
    function::PLUGINS,
    futex::PLUGINS,
    graph::PLUGINS,
    kmem::PLUGINS,
    kvm::PLUGINS,
    sched::PLUGINS,
    timer::PLUGINS,
    tlb::PLUGINS,
    wireless::PLUGINS,
];

/// The plugin for an event.
#[must_use]
pub fn plugin_of(system: &str, event: &str) -> Option<&'static Plugin> {
    PLUGINS
        .iter()
        .copied()
        .flatten()
        .find(|plugin| plugin.event == event && plugin.system == system)
}

/// The event to show.
pub struct Event<'a> {
    /// Its record and fields.
    pub scope: Scope<'a>,
    /// Its kind.
    pub kind: &'a Kind,
    /// Its CPU.
    pub cpu: u32,
    /// Its time on the printed clock.
    pub time: u64,
    /// The record that is printed after it, if there is one: for calls that return at once.
    pub next: Option<&'a [u8]>,
    /// What a return from a function looks like, if the file has such events.
    pub graph_exit: Option<&'a Kind>,
    /// Whether times have nanoseconds.
    pub times: Times,
    /// How deep it is indented below its callers: see [`Callers`].
    pub depth: u32,
    /// How functions are shown.
    pub functions: FunctionOptions,
}

/// How a time is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `1.234567890`
    Nanoseconds,
    /// `1.234568`
    Microseconds,
    /// `1234567890`: no clock that counts seconds.
    Counts,
}

/// What plugins remember from event to event.
pub struct State<'a> {
    /// Told the names of threads that the file does not know yet.
    pub learn_name: &'a mut dyn FnMut(i32, &[u8]),
    /// Names of functions that were shown before.
    pub functions: &'a mut Functions,
    /// Set by a plugin that has shown the next record too.
    pub has_taken_next: bool,
}

impl<'a> Event<'a> {
    /// The plugin's `index`-th field.
    #[must_use]
    pub fn field(&self, index: usize) -> Option<&'a FieldFormat> {
        let field = self.kind.plugin_fields.get(index).copied().flatten()?;
        self.scope.fields.get(usize::from(field))
    }

    /// The plugin's `index`-th field as a number without regard to its sign.
    #[must_use]
    pub fn value(&self, index: usize) -> Option<u64> {
        let field = self.field(index)?;
        let offset = field.offset as usize;
        let end = offset.checked_add(field.size as usize)?;
        read_number(self.scope.record.get(offset..end)?, self.scope.endian)
    }

    /// The plugin's `index`-th field as a number with its sign.
    #[must_use]
    pub fn signed(&self, index: usize) -> Option<i64> {
        let field = self.field(index)?;
        let value = self.value(index)?;
        Some(if field.is_signed {
            sign_extend(value, field.size) as i64
        } else {
            value as i64
        })
    }

    /// The same as [`Event::value`]; says so in the text if there is no such field.
    pub fn require(&self, out: &mut Vec<u8>, index: usize) -> Option<u64> {
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

    /// The function at `address`.
    #[must_use]
    pub fn function(&self, address: u64) -> Option<(&'a [u8], u64)> {
        self.scope.lookup.symbol(address)
    }
}
