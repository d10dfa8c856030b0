//! Whether standard output was closed when the program started.
//!
//! Rust's runtime opens `/dev/null` in place of closed standard streams before `main`, so that output is lost without
//! an error. The check must run before the runtime does: the C library calls the functions in `.init_array` first.
//! Afterwards the runtime's `/dev/null` looks like one that the user gave: other programs also open it for reading and
//! writing.

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Checks that standard output was open when the program started; true on systems where this is unknown.
///
/// # Errors
/// If it was closed; the message is for the user.
pub(crate) fn stdout_was_open() -> std::io::Result<()> {
    match STDOUT_WAS_CLOSED.load(Ordering::Relaxed) {
        true => Err(std::io::Error::other("standard output is closed")),
        false => Ok(()),
    }
}

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "functions that run before the runtime starts are named by linker section"
)]
mod before_main {
    use super::{Ordering, STDOUT_WAS_CLOSED};

    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: `F_GETFD` reads the flags of a descriptor, and fails if there is no such descriptor. An atomic that is
        // initialised at compile time needs no runtime.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        STDOUT_WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }
}
