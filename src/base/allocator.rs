//! What the C library's allocator is told.

#![allow(unsafe_code, reason = "the C library's switches are functions of C")]

/// Blocks up to this size come from the heap, not from the kernel, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FROM_HEAP: libc::c_int = 32 << 20;
/// So much freed memory is kept at the heap's end, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 128 << 20;

/// Keeps memory that is freed for what comes next. A frame frees some ten MB of shapes and the next one asks for as
/// much again: given back to the kernel in between, its pages are cleared anew each time, a third of a frame's cost.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt takes two numbers and may be called at any time; what it does not know it ignores.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, FROM_HEAP);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}
