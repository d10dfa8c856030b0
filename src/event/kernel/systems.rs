//! Kernel events that mean the same whatever their fields are: by their system, or by their system and name.

/// Events that only a thread outside of system calls causes, as `system:event`: its open call is over.
const USER_MODE_EVENTS: &[&str] = &["exceptions:page_fault_user", "signal:signal_deliver"];

/// Returns whether `system:event` shows that its thread is outside of system calls.
#[must_use]
pub(crate) fn is_user_mode(system: &str, event: &str) -> bool {
    let mut rows = USER_MODE_EVENTS.iter();
    rows.any(|row| row.split_once(':') == Some((system, event)))
}

/// Returns whether the kernel puts events of probes into this system if the user names none.
#[must_use]
pub(crate) fn is_probe_system(system: &[u8]) -> bool {
    matches!(system, b"kprobes" | b"uprobes" | b"eprobes")
}
