//! A mapped file that survives truncation: pages that vanish under the map read as zeros.
//!
//! Reading a mapped page after a file's new end raises SIGBUS, which would kill the program. The handler here looks the
//! address up in a table of our maps. If it belongs to one, the handler maps zero pages from there to the map's end,
//! marks the map as torn, and the read continues. Any other fault goes to the handler that was installed before. This
//! folder, `base/allocator` and `base/system/streams` contain all `unsafe` code of the program.
#![allow(
    unsafe_code,
    reason = "mapping files and catching SIGBUS cannot be said otherwise"
)]

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use memmap2::Mmap;

/// Number of maps in one block of the table.
const SLOTS: usize = 64;

/// The address range of one live map; `start` is 0 while the slot is free.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    is_torn: AtomicBool,
}

/// A block of the table of maps. Blocks are linked and never freed, so that the signal handler can walk them without a
/// lock. Slots of dropped maps are reused: the table has room for the most maps that were ever alive at once.
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

    /// Returns the block after this one, if there is one.
    fn next(&self) -> Option<&'static Block> {
        // SAFETY: `next` is null or comes from `Box::leak` in `next_or_new`.
        unsafe { self.next.load(Ordering::SeqCst).as_ref() }
    }

    /// Returns the block after this one; links a new one if there is none.
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
                // SAFETY: `made` was not linked, so no other thread has seen it.
                drop(unsafe { Box::from_raw(made) });
                other
            }
        };
        // SAFETY: linked blocks are never freed.
        unsafe { &*block }
    }
}

static TABLE: Block = Block::new();

/// Takes a free slot for the map at address `start`; `length` is in bytes.
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

/// Installs the handler of bus errors, if that was not done before. A program that calls this first ends at the first
/// SIGBUS that another process sends; otherwise the handler of Rust's runtime takes that first signal for a fault and
/// returns.
pub(crate) fn catch_bus_errors() {
    signal::install();
}

impl std::fmt::Debug for GuardedMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GuardedMap({} bytes)", self.map.len())
    }
}

impl GuardedMap {
    /// Maps the whole of `file`.
    ///
    /// # Errors
    /// If the system cannot map it.
    pub fn new(file: &File) -> std::io::Result<GuardedMap> {
        catch_bus_errors();
        // SAFETY: the map is only read. If the file changes, the bytes change, which every reader must tolerate
        // (readers check all that they read); if it shrinks, the handler above keeps the pages readable.
        let map = unsafe { Mmap::map(file)? };
        let slot = take_slot(map.as_ptr() as usize, map.len());
        Ok(GuardedMap { map, slot })
    }

    /// Returns the file's bytes; bytes of vanished pages are zeros.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Returns whether pages vanished under the map; they read as zeros.
    #[must_use]
    pub(crate) fn was_torn(&self) -> bool {
        self.slot.is_torn.load(Ordering::SeqCst)
    }
}

impl AsRef<[u8]> for GuardedMap {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

impl Drop for GuardedMap {
    fn drop(&mut self) {
        self.slot.end.store(0, Ordering::SeqCst);
        self.slot.start.store(0, Ordering::SeqCst);
    }
}

/// Systems without this signal (Windows) refuse to truncate a mapped file.
#[cfg(not(unix))]
mod signal {
    pub(super) fn install() {}
}
#[cfg(unix)]
mod signal;

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

    /// Set in the child process whose fault is outside all guarded maps.
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
