//! Kinds of events that trace-cmd does not print by their print fmt, one row each in [`PLUGINS`].
//!
//! A plugin lists the names of its fields. They are looked up once per kind of event, so that printing an event needs
//! no search for names.

mod callers;
mod function;
mod function_names;
mod futex;
mod graph;
mod kmem;
mod kvm;
mod plugin;
mod sched;
mod timer;
mod tlb;
mod wireless;

pub(crate) use callers::Callers;
pub(crate) use function_names::Functions;
pub(crate) use plugin::{Event, State};
pub(crate) use plugin::{Plugin, Then};

/// All plugins. (The functions that print formats call are in `print_fmt::call`.)
pub(crate) const PLUGINS: &[&[Plugin]] = &[
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

/// Returns the plugin for events named `event` of `system`; `None` if their print fmt is used.
#[must_use]
pub(crate) fn plugin_of(system: &str, event: &str) -> Option<&'static Plugin> {
    PLUGINS
        .iter()
        .copied()
        .flatten()
        .find(|plugin| plugin.event == event && plugin.system == system)
}
