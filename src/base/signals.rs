//! Names of signals (Linux, x86 and ARM) and texts for exit statuses.

/// Signal names without `SIG`, indexed by signal number.
pub(crate) const SIGNALS: &[&str] = &[
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// Returns the name of a signal, e.g. `SIGSEGV`, or its number if it has no name.
#[must_use]
pub(crate) fn signal_name(number: i32) -> String {
    let name = usize::try_from(number)
        .ok()
        .and_then(|number| SIGNALS.get(number))
        .filter(|name| !name.is_empty());
    match name {
        Some(name) => format!("SIG{name}"),
        None => number.to_string(),
    }
}

/// Returns an exit code or signal as text: `0`, `SIGKILL`, `139 (128 + SIGSEGV)`; empty if both are `None`.
#[must_use]
pub(crate) fn exit_text(status: Option<i32>, signal: Option<i32>) -> String {
    match (signal, status) {
        (Some(signal), _) => signal_name(signal),
        // A shell exits with 128 + N if the command that it ran was killed by signal N.
        (None, Some(status)) if (129..128 + SIGNALS.len() as i32).contains(&status) => {
            format!("{status} (128 + {})", signal_name(status - 128))
        }
        (None, Some(status)) => status.to_string(),
        (None, None) => String::new(),
    }
}

/// Returns the text of [`exit_text`], shorter for statuses of shells: `139 SEGV`.
#[must_use]
pub(crate) fn exit_short(status: Option<i32>, signal: Option<i32>) -> String {
    match (signal, status) {
        (None, Some(status)) if (129..128 + SIGNALS.len() as i32).contains(&status) => {
            let name = signal_name(status - 128);
            format!("{status} {}", name.strip_prefix("SIG").unwrap_or(&name))
        }
        _ => exit_text(status, signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_told_in_words() {
        assert_eq!(exit_text(Some(0), None), "0");
        assert_eq!(exit_text(Some(139), None), "139 (128 + SIGSEGV)");
        assert_eq!(exit_short(Some(139), None), "139 SEGV");
        assert_eq!(exit_short(None, Some(9)), "SIGKILL");
        assert_eq!(exit_text(None, Some(9)), "SIGKILL");
        assert_eq!(exit_text(None, Some(44)), "44");
        assert_eq!(exit_text(Some(255), None), "255");
        assert_eq!(exit_text(None, None), "");
    }
}
