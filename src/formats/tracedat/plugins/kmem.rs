//! Memory allocation: the name of the call site before the event's own text.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::FunctionAt;
use crate::formats::tracedat::print_fmt::printf::push_hex;

const fn row(event: &'static str) -> Plugin {
    Plugin {
        system: "kmem",
        event,
        fields: &["call_site"],
        show: show_call_site,
    }
}

pub(super) const PLUGINS: &[Plugin] = &[
    row("kfree"),
    row("kmalloc"),
    row("kmalloc_node"),
    row("kmem_cache_alloc"),
    row("kmem_cache_alloc_node"),
    row("kmem_cache_free"),
];

fn show_call_site(out: &mut Vec<u8>, event: &Event<'_>, _: &mut State<'_>) -> Then {
    if let Some(address) = event.value(0)
        && let Some(FunctionAt { name, start }) = event.function(address)
    {
        out.push(b'(');
        out.extend_from_slice(name);
        out.extend_from_slice(b"+0x");
        push_hex(out, u64::from(address.wrapping_sub(start) as u32));
        out.extend_from_slice(b") ");
    }
    Then::PrintFmt
}
