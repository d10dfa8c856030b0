//! The memory limit of the program, and checked allocations of sizes that a file decides.
//!
//! The limit is the smallest of: the user's (`--memory`), the cgroup's (v2 `memory.max`, v1 `memory.limit_in_bytes`),
//! the process's data limit (`ulimit -d`), and the memory that the machine had available at the start (`MemAvailable`).
//! The address space limit (`ulimit -v`) is compared with the mapped address space separately. On a system with none of
//! these limits, only the allocator limits. Source of the fields: proc(5), getrlimit(2), the kernel's
//! Documentation/admin-guide/cgroup-v2.rst.
//!
//! Small allocations are not counted: a size is checked where a file decides it, as a whole or piece by piece.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Maybe;
use super::error::Problem;
use super::system::memory;

/// Smaller requests are not checked, in bytes: reading the current usage takes longer than such an allocation.
const FROM_BYTES: u64 = 1 << 20;
/// A stream may use this fraction (1/4) of the memory that is left: its tables need memory too.
const STREAM_SHARE: u64 = 4;

/// The user's limit in bytes; `u64::MAX`: none. Read by [`limit_bytes`] only.
static ASKED: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the user's limit in bytes.
pub(crate) fn set_limit(bytes: u64) {
    ASKED.store(bytes, Ordering::Relaxed);
}

/// Returns the limit in bytes of the program's memory, if there is one.
#[must_use]
pub(crate) fn limit_bytes() -> Option<u64> {
    static SYSTEM: OnceLock<Option<u64>> = OnceLock::new();
    let system = *SYSTEM.get_or_init(memory::limit_bytes);
    let asked = Maybe::new(ASKED.load(Ordering::Relaxed)).get();
    system.into_iter().chain(asked).min()
}

/// Returns how many bytes may still be allocated; `u64::MAX` if there is no limit.
#[must_use]
pub(crate) fn left_bytes() -> u64 {
    let used = memory::used();
    let by_memory = limit_bytes().map(|limit| limit.saturating_sub(used.anonymous_bytes));
    let space = memory::address_space_bytes();
    let by_space = space.map(|space| space.saturating_sub(used.mapped_bytes));
    let left = by_memory.into_iter().chain(by_space).min();
    left.unwrap_or(u64::MAX)
}

/// Returns the maximum number of bytes that are read from a stream.
#[must_use]
pub(crate) fn stream_bytes() -> u64 {
    left_bytes() / STREAM_SHARE
}

/// Checks whether `bytes` more may be allocated.
///
/// # Errors
/// [`Problem::NoMemory`] if that would exceed the limit.
pub(crate) fn require(bytes: u64) -> Result<(), Problem> {
    if bytes < FROM_BYTES {
        return Ok(());
    }
    let left_bytes = left_bytes();
    if bytes > left_bytes {
        return Err(Problem::NoMemory {
            needed_bytes: bytes,
            left_bytes,
        });
    }
    Ok(())
}

/// Reserves room for `additional` more items; doubles the capacity if the limit allows it.
///
/// # Errors
/// [`Problem::NoMemory`] if there is no room for `additional` items.
pub(crate) fn grow<T>(items: &mut Vec<T>, additional: usize) -> Result<(), Problem> {
    if items.capacity() - items.len() >= additional {
        return Ok(());
    }
    let spare = items.capacity().max(additional);
    if require(bytes_of::<T>(spare)).is_ok() && items.try_reserve(additional).is_ok() {
        return Ok(());
    }
    grow_exact(items, additional)
}

/// Reserves room for exactly `additional` more items.
///
/// # Errors
/// [`Problem::NoMemory`] if there is no room for them.
pub(crate) fn grow_exact<T>(items: &mut Vec<T>, additional: usize) -> Result<(), Problem> {
    let free = items.capacity() - items.len();
    let needed_bytes = bytes_of::<T>(additional.saturating_sub(free));
    require(needed_bytes)?;
    items
        .try_reserve_exact(additional)
        .map_err(|_| Problem::NoMemory {
            needed_bytes,
            left_bytes: left_bytes(),
        })
}

fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

/// Parses a size as people write it (`512M`, `2G`, `1.5GiB`, `4096`) and returns it in bytes.
///
/// # Errors
/// A sentence for the user, if `text` is not a size or is 0.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || format!("'{text}': expected a size such as 512M, 2G or 4096");
    let text = text.trim();
    let digits = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().map_err(|_| expected())?;
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(expected()),
    };
    let bytes = number * (1_u64 << shift) as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 {
        Ok(bytes as u64)
    } else {
        Err(expected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("1.5 GiB"), Ok(3 << 29));
        assert_eq!(parse_size("2kb"), Ok(2048));
        for wrong in ["", "M", "0", "-1", "2X", "1e9", "nan", "99999999T"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_uses_memory_and_more_than_there_is_is_refused() {
        let before = left_bytes();
        assert!(before > 0 && before < u64::MAX);
        let mut bytes: Vec<u8> = Vec::new();
        grow(&mut bytes, 8 << 20).unwrap();
        assert!(bytes.capacity() >= 8 << 20);
        let problem = grow(&mut bytes, 1 << 50).unwrap_err();
        assert!(matches!(problem, Problem::NoMemory { .. }), "{problem}");
    }
}
