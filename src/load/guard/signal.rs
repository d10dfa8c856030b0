//! The handler of SIGBUS: zero pages for our maps; every other fault goes to the handler that was installed before. A
//! signal that a process sent is not a fault: it ends the program, as it would without a handler.

use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};

use super::TABLE;

/// The handler of SIGBUS that was installed before ours.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

pub(super) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: plain system calls with valid pointers; the handler only does what signal handlers may.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) == 0 {
                // Stored before our handler can run.
                let _first = BEFORE.set(before);
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
}

extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives a valid `info`. Codes of signals that a process sent are at most 0 (sigaction(2)).
    if unsafe { (*info).si_code } <= 0 {
        restore_default(signal);
        // SAFETY: `raise` is safe in a handler; SA_NODEFER lets the signal arrive at once.
        unsafe { libc::raise(signal) };
        return;
    }
    // SAFETY: the kernel gives a valid `info`; atomics, `mmap` and `sysconf` are safe in a handler here.
    let is_ours = unsafe { fill_with_zeros((*info).si_addr() as usize) };
    if !is_ours {
        // SAFETY: as above; `context` is passed on unchanged.
        unsafe { pass_on(signal, info, context) };
    }
}

/// Maps zero pages from `address` to the end of its map. Returns `false` if the address is in none of our maps, or if
/// the system refuses the pages.
unsafe fn fill_with_zeros(address: usize) -> bool {
    let mut block = Some(&TABLE);
    while let Some(at) = block {
        for slot in &at.slots {
            let start = slot.start.load(Ordering::SeqCst);
            let end = slot.end.load(Ordering::SeqCst);
            if start == 0 || address < start || address >= end {
                continue;
            }
            slot.is_torn.store(true, Ordering::SeqCst);
            // SAFETY: the range is inside one of our own maps, whose bytes are only read.
            let zeros = unsafe {
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
                let from = address & !(page - 1);
                libc::mmap(
                    from as *mut libc::c_void,
                    end - from,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            return zeros != libc::MAP_FAILED;
        }
        block = at.next();
    }
    false
}

fn restore_default(signal: libc::c_int) {
    // SAFETY: `sigaction` is async-signal-safe and gets valid pointers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Passes a fault outside our maps to the handler that was installed before. If there was none, restores the default
/// action, which takes effect when the instruction is retried.
unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get();
    let own = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    if own == libc::SIG_DFL || own == libc::SIG_IGN {
        restore_default(signal);
        return;
    }
    let takes_info = before.is_some_and(|before| before.sa_flags & libc::SA_SIGINFO != 0);
    // SAFETY: the kernel would have called this address with these arguments.
    unsafe {
        if takes_info {
            let call: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(own);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(libc::c_int) = std::mem::transmute(own);
            call(signal);
        }
    }
}
