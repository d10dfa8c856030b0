//! A mapped file that survives being cut short: pages that vanish under the map read as zeros.
//!
//! Reading a mapped page beyond a file's new end raises SIGBUS, which would kill the program. The handler
//! here looks the address up in a table of our maps; if it is ours, it puts zero pages from there to the
//! map's end, notes that the map is torn, and lets the read go on. Anything else goes to the handler that
//! was there before. This file and `base/allocator` are all that is `unsafe` in the program.
#![allow(
    unsafe_code,
    reason = "mapping files and catching SIGBUS cannot be said otherwise"
)]

use std::fs::File;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memmap2::Mmap;

/// How many maps can be guarded at once; further ones are plain maps.
const SLOTS: usize = 64;

struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_torn: AtomicBool::new(false),
    }
}; SLOTS];

/// A read-only map of a whole file.
#[derive(Debug)]
pub struct GuardedMap {
    map: Mmap,
    slot: Option<usize>,
}

impl GuardedMap {
    /// Maps `file`.
    ///
    /// # Errors
    /// Those of the system call.
    pub fn new(file: &File) -> std::io::Result<GuardedMap> {
        install_handler();
        // SAFETY: the map is only read. If the file changes, the bytes change, which every reader must bear
        // (they check all that they read); if it shrinks, the handler above keeps the pages readable.
        let map = unsafe { Mmap::map(file)? };
        let start = map.as_ptr() as usize;
        let slot = TABLE.iter().position(|slot| {
            slot.start
                .compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        });
        if let Some(slot) = slot {
            TABLE[slot].is_torn.store(false, Ordering::SeqCst);
            TABLE[slot].end.store(start + map.len(), Ordering::SeqCst);
        }
        Ok(GuardedMap { map, slot })
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Whether pages vanished and read as zeros.
    #[must_use]
    pub fn was_torn(&self) -> bool {
        self.slot
            .is_some_and(|slot| TABLE[slot].is_torn.load(Ordering::SeqCst))
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            TABLE[slot].end.store(0, Ordering::SeqCst);
            TABLE[slot].start.store(0, Ordering::SeqCst);
        }
    }
}

#[cfg(unix)]
fn install_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: plain system calls with valid pointers; the handler only does what signal handlers may.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_bus_error as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
}

#[cfg(not(unix))]
fn install_handler() {
    // Windows refuses to cut a mapped file short.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {});
}

#[cfg(unix)]
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives a valid `info`; atomics, `mmap`, `sigaction` and `sysconf` are safe in a handler here.
    unsafe {
        let address = (*info).si_addr() as usize;
        for slot in &TABLE {
            let (start, end) = (
                slot.start.load(Ordering::SeqCst),
                slot.end.load(Ordering::SeqCst),
            );
            if start != 0 && address >= start && address < end {
                slot.is_torn.store(true, Ordering::SeqCst);
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096);
                let from = address & !(page - 1);
                let zeros = libc::mmap(
                    from as *mut libc::c_void,
                    end - from,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                );
                if zeros != libc::MAP_FAILED {
                    return;
                }
            }
        }
        // Not ours: let it have its usual effect when the instruction is tried again.
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_file_cut_short_under_the_map_reads_as_zeros() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7_u8; 1 << 20]).unwrap();
        let map = GuardedMap::new(&file).unwrap();
        assert_eq!(map.bytes()[1 << 19], 7);
        file.set_len(4096).unwrap();
        let sum: u64 = map.bytes().iter().map(|&byte| u64::from(byte)).sum();
        assert_eq!(sum, 7 * 4096);
        assert!(map.was_torn());
    }
}
