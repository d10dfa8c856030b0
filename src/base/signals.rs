//! Names of signals (Linux, x86 and ARM), and what an exit status means.

/// Signal names by number, without `SIG`.
pub const SIGNALS: &[&str] = &[
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// `SIGSEGV`; the number itself where it has no name.
#[must_use]
pub fn signal_name(number: i32) -> String {
    let name = usize::try_from(number)
        .ok()
        .and_then(|number| SIGNALS.get(number))
        .filter(|name| !name.is_empty());
    match name {
        Some(name) => format!("SIG{name}"),
        None => number.to_string(),
    }
}

/// An exit code or a signal in words: `0`, `SIGKILL`, `139 (128 + SIGSEGV)`; empty if neither is known.
#[must_use]
pub fn exit_text(status: Option<i32>, signal: Option<i32>) -> String {
    match (signal, status) {
        (Some(signal), _) => signal_name(signal),
        // A shell tells so that the command it ran was killed.
        (None, Some(status)) if (129..128 + SIGNALS.len() as i32).contains(&status) => {
            format!("{status} (128 + {})", signal_name(status - 128))
        }
        (None, Some(status)) => status.to_string(),
        (None, None) => String::new(),
    }
}

/// The same where there is little room: `139 SEGV`.
#[must_use]
pub fn exit_short(status: Option<i32>, signal: Option<i32>) -> String {
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
