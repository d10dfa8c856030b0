//! How a process ended, as its parent learns it: from a signal, or from a call that waits for it.
//!
//! ```text
//! --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=7, si_utime=0, si_stime=0} ---
//! wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 7}], 0, NULL) = 101
//! waitid(P_PID, 101, {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=101, si_uid=0, si_status=SIGKILL, ...}, WEXITED, NULL) = 0
//! ```
//!
//! Needed for processes without lines of their own ends: those that strace did not follow, or let go (`-b execve`).
//! Of the 29 strace texts of the corpus and the samples, 2 report the end of a process without such a line: in one,
//! strace did not follow the process; the other is a file of `-ff`, whose children have files of their own.

use super::numbers::signal_number;
use super::prefix::{number, pid_of};
use super::values::outcome;
use crate::formats::syscall_text::dialect::Dialect;

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChildEnd {
    pub pid: u32,
    /// The exit code, if known.
    pub status: Option<i32>,
    /// The signal that killed it, if known.
    pub signal: Option<i32>,
}

/// Returns the end in a line of a signal.
#[must_use]
pub(crate) fn of_signal(body: &[u8]) -> Option<ChildEnd> {
    let start = memchr::memchr(b'{', body)?;
    of_siginfo(body.get(start..)?.strip_suffix(b" ---")?)
}

/// Returns how a child ended, from a SIGCHLD's siginfo; `None` if it was stopped or continued.
#[must_use]
pub(crate) fn of_siginfo(text: &[u8]) -> Option<ChildEnd> {
    let value = |name: &[u8]| {
        let at = memchr::memmem::find(text, name)? + name.len();
        text.get(at..)
    };
    let word = |name: &[u8]| {
        let value = value(name)?;
        let end = value
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b' '));
        value.get(..end.unwrap_or(value.len()))
    };
    // In a PID namespace, strace's own number is in a comment.
    let pid = outcome(value(b"si_pid=")?, Dialect::Strace);
    let pid = match pid.pid() {
        Some(pid) => pid,
        None => pid_of(number(value(b"si_pid=")?)?.0)?,
    };
    let status = word(b"si_status=");
    match word(b"si_code=")? {
        b"CLD_EXITED" => Some(ChildEnd {
            pid,
            status: status
                .and_then(number)
                .and_then(|(status, _)| i32::try_from(status).ok()),
            signal: None,
        }),
        b"CLD_KILLED" | b"CLD_DUMPED" => Some(ChildEnd {
            pid,
            status: None,
            signal: status.and_then(signal_number),
        }),
        _ => None,
    }
}

/// Returns how the process `pid` that `wait4` returned ended, from its status and the call's options; `None` if the
/// process was stopped or continued, or if that is unknown.
#[must_use]
pub(crate) fn of_wait(pid: u32, status: &[u8], options: &[u8]) -> Option<ChildEnd> {
    let after = |words: &[u8]| {
        let at = memchr::memmem::find(status, words)? + words.len();
        status.get(at..)
    };
    let exited = after(b"WEXITSTATUS(s) == ").and_then(number);
    let killed = after(b"WTERMSIG(s) == ").map(|text| {
        let end = text.iter().position(|byte| matches!(byte, b' ' | b'}'));
        text.get(..end.unwrap_or(text.len())).unwrap_or(text)
    });
    let may_stop = [&b"WUNTRACED"[..], b"WCONTINUED", b"WSTOPPED"];
    let only_ends = || {
        let has = |word: &&[u8]| memchr::memmem::find(options, word).is_some();
        status == b"NULL" && !may_stop.iter().any(has)
    };
    if exited.is_none() && killed.is_none() && !only_ends() {
        return None;
    }
    Some(ChildEnd {
        pid,
        status: exited.and_then(|(status, _)| i32::try_from(status).ok()),
        signal: killed.and_then(signal_number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(status: Option<i32>, signal: Option<i32>) -> Option<ChildEnd> {
        Some(ChildEnd {
            pid: 101,
            status,
            signal,
        })
    }

    #[test]
    fn ends_are_read_from_signals_and_waits() {
        let exited = b"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=101, si_uid=0, si_status=7, si_utime=0, si_stime=0} ---";
        assert_eq!(of_signal(exited), end(Some(7), None));
        let inside = b"--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=2 /* 101 in strace's PID NS */, si_uid=0, si_status=0} ---";
        assert_eq!(of_signal(inside), end(Some(0), None));
        let killed = b"{si_signo=SIGCHLD, si_code=CLD_DUMPED, si_pid=101, si_uid=0, si_status=SIGSEGV, si_utime=0, si_stime=0}";
        assert_eq!(of_siginfo(killed), end(None, Some(11)));
        let stopped =
            b"{si_signo=SIGCHLD, si_code=CLD_STOPPED, si_pid=101, si_uid=0, si_status=SIGSTOP}";
        assert_eq!(of_siginfo(stopped), None);
        let wait = |status: &[u8], options: &[u8]| of_wait(101, status, options);
        assert_eq!(
            wait(b"[{WIFEXITED(s) && WEXITSTATUS(s) == 7}]", b"0"),
            end(Some(7), None)
        );
        assert_eq!(
            wait(b"[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}]", b"0"),
            end(None, Some(9))
        );
        assert_eq!(
            wait(b"[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}]", b"WUNTRACED"),
            None
        );
        assert_eq!(wait(b"NULL", b"0"), end(None, None));
        assert_eq!(wait(b"NULL", b"WNOHANG|WUNTRACED"), None);
        assert_eq!(wait(b"0x7ffd1de00d6c", b"0"), None);
    }
}
