//! Sets parameters of the C library's allocator.

#![allow(unsafe_code, reason = "the C library's switches are functions of C")]

/// Blocks up to this size come from the heap, not from the kernel, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const FROM_HEAP: libc::c_int = 32 << 20;
/// Freed memory up to this size is kept at the heap's end, in bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: libc::c_int = 128 << 20;

/// Makes the allocator keep freed memory instead of returning it to the kernel. A frame frees some ten MB of shapes and
/// the next frame allocates as much again: if the memory were returned in between, the kernel would clear its pages
/// each time, which took a third of a frame's time.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: mallopt takes two numbers and may be called at any time; it ignores parameters that it does not support.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, FROM_HEAP);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}
