//! Kernel events whose meaning depends only on their system, or their system and name, not on their fields.

/// Events that a thread causes only outside of system calls, as `system:event`: its open call is over.
const USER_MODE_EVENTS: &[&str] = &["exceptions:page_fault_user", "signal:signal_deliver"];

/// Returns whether `system:event` shows that its thread is outside of system calls.
#[must_use]
pub(crate) fn is_user_mode(system: &str, event: &str) -> bool {
    let mut rows = USER_MODE_EVENTS.iter();
    rows.any(|row| row.split_once(':') == Some((system, event)))
}

/// Returns whether instants of a system belong to their CPU, not to the interrupted thread.
#[must_use]
pub(crate) fn is_of_cpu(system: &str) -> bool {
    matches!(system, "irq" | "irq_vectors" | "ipi")
}

/// The system of events in texts that do not name systems.
pub(crate) const UNKNOWN_SYSTEM: &str = "text";
