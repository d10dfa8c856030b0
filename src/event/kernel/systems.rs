//! Kernel events that mean the same whatever their fields are: by their system, or by their system and name.

/// Events that only a thread outside of system calls causes, as `system:event`: its open call is over.
const USER_MODE_EVENTS: &[&str] = &["exceptions:page_fault_user", "signal:signal_deliver"];

/// Returns whether `system:event` shows that its thread is outside of system calls.
#[must_use]
pub(crate) fn is_user_mode(system: &str, event: &str) -> bool {
    let mut rows = USER_MODE_EVENTS.iter();
    rows.any(|row| row.split_once(':') == Some((system, event)))
}

/// Returns whether events of a system that are instants belong to their CPU, not to the thread that was interrupted.
#[must_use]
pub(crate) fn is_of_cpu(system: &str) -> bool {
    matches!(system, "irq" | "irq_vectors" | "ipi")
}

/// The system of events in texts that do not contain their system.
pub(crate) const UNKNOWN_SYSTEM: &str = "text";
