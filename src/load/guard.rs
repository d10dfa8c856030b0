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
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use memmap2::Mmap;

/// Maps that one block of the table holds.
const SLOTS: usize = 64;

/// The address range of one live map; `start` is 0 while the slot is free.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
}

/// A block of the table of maps. Blocks are linked and never freed, so that the signal handler can walk them without
/// a lock; slots of dropped maps are used again, so the table is as large as the most maps that ever lived at once.
struct Block {
    slots: [Slot; SLOTS],
    next: AtomicPtr<Block>,
}

impl Block {
    const fn new() -> Block {
        Block {
            slots: [const {
                Slot {
                    start: AtomicUsize::new(0),
                    end: AtomicUsize::new(0),
                    is_torn: AtomicBool::new(false),
                }
            }; SLOTS],
            next: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The block after this one, if there is one.
    fn next(&self) -> Option<&'static Block> {
        // SAFETY: `next` is null or comes from `Box::leak` in `next_or_new`.
        unsafe { self.next.load(Ordering::SeqCst).as_ref() }
    }

    /// The block after this one; a new one is linked if there is none.
    fn next_or_new(&self) -> &'static Block {
        if let Some(next) = self.next() {
            return next;
        }
        let made = Box::into_raw(Box::new(Block::new()));
        let linked = self.next.compare_exchange(
            std::ptr::null_mut(),
            made,
            Ordering::SeqCst,
            Ordering::SeqCst,
        );
        let block = match linked {
            Ok(_) => made,
            Err(other) => {
                // SAFETY: `made` was not linked, so nobody else has seen it.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        };
        // SAFETY: linked blocks are never freed.
        unsafe { &*block }
    }
}

static TABLE: Block = Block::new();

/// Takes a free slot for the map at `start`, `length` bytes long.
fn take_slot(start: usize, length: usize) -> &'static Slot {
    let mut block: &'static Block = &TABLE;
    loop {
        let free = block.slots.iter().find(|slot| {
            slot.start
                .compare_exchange(0, start, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        });
        if let Some(slot) = free {
            slot.is_torn.store(false, Ordering::SeqCst);
            slot.end.store(start + length, Ordering::SeqCst);
            return slot;
        }
        block = block.next_or_new();
    }
}

/// A read-only map of a whole file.
pub struct GuardedMap {
    map: Mmap,
    slot: &'static Slot,
}

impl std::fmt::Debug for GuardedMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GuardedMap({} bytes)", self.map.len())
    }
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
        let slot = take_slot(map.as_ptr() as usize, map.len());
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
        self.slot.is_torn.load(Ordering::SeqCst)
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        self.slot.end.store(0, Ordering::SeqCst);
        self.slot.start.store(0, Ordering::SeqCst);
    }
}

#[cfg(unix)]
mod handler {
    use super::{Once, Ordering, TABLE};
    use std::sync::OnceLock;

    /// What was installed for SIGBUS before our handler.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    pub(super) fn install() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: plain system calls with valid pointers; the handler only does what signal handlers may.
            unsafe {
                let mut before: libc::sigaction = std::mem::zeroed();
                if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) == 0 {
                    // Known before the handler can run.
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
        // SAFETY: the kernel gives a valid `info`; atomics, `mmap` and `sysconf` are safe in a handler here.
        let is_ours = unsafe { fill_with_zeros((*info).si_addr() as usize) };
        if !is_ours {
            // SAFETY: as above; `context` is handed on as the kernel gave it.
            unsafe { pass_on(signal, info, context) };
        }
    }

    /// Puts zero pages from `address` to the end of the map it belongs to. `false`: it belongs to none of ours, or no
    /// pages could be had.
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
                // SAFETY: the range lies inside one of our own maps, whose bytes are only read.
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

    /// A fault that is not ours: the handler that was there before decides. Without one the signal has its usual
    /// effect when the instruction is tried again.
    unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let before = BEFORE.get();
        let own = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
        if own == libc::SIG_DFL || own == libc::SIG_IGN {
            // SAFETY: `sigaction` is async-signal-safe and gets valid pointers.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
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
}

#[cfg(unix)]
fn install_handler() {
    handler::install();
}

#[cfg(not(unix))]
fn install_handler() {
    // Windows refuses to cut a mapped file short.
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {});
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

    #[test]
    fn more_maps_than_one_block_of_the_table_survive_a_cut() {
        let maps: Vec<_> = (0..200)
            .map(|_| {
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&[7; 12_288]).unwrap();
                (GuardedMap::new(&file).unwrap(), file)
            })
            .collect();
        for (_, file) in &maps {
            file.set_len(4096).unwrap();
        }
        for (map, _) in &maps {
            let sum: u64 = map.bytes().iter().map(|&byte| u64::from(byte)).sum();
            assert_eq!((sum, map.was_torn()), (7 * 4096, true));
        }
    }

    /// Set in the process that faults outside of all guarded maps.
    const CHILD: &str = "THREADLINE_TEST_FOREIGN_FAULT";

    #[cfg(unix)]
    #[test]
    fn a_fault_outside_of_our_maps_goes_to_the_handler_that_was_there_before() {
        extern "C" fn earlier(_: libc::c_int) {
            // SAFETY: `_exit` may be called in a handler.
            unsafe { libc::_exit(42) };
        }
        if std::env::var_os(CHILD).is_none() {
            let name = "load::guard::tests::a_fault_outside_of_our_maps_goes_to_the_handler_that_was_there_before";
            let child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name])
                .env(CHILD, "1")
                .output()
                .unwrap();
            assert_eq!(child.status.code(), Some(42), "{child:?}");
            return;
        }
        // SAFETY: as in `install`; the map is only read.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = earlier as *const () as usize;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&[7; 12_288]).unwrap();
            let guarded = GuardedMap::new(&file).unwrap();
            let plain = Mmap::map(&file).unwrap();
            file.set_len(4096).unwrap();
            assert_eq!(guarded.bytes()[8192], 0);
            assert_eq!(plain[8192], 0, "read although the page is gone");
        }
    }
}
