//! How much memory the program may use, and allocations of sizes that a file decides.
//!
//! The limit is the smallest of: what the user said (`--memory`), the cgroup's (v2 `memory.max`, v1
//! `memory.limit_in_bytes`), the process's data limit (`ulimit -d`), and what the machine had available at the start
//! (`MemAvailable`). The address space (`ulimit -v`) is held against what is mapped besides. Where the system tells none
//! of them, there is no limit but the allocator's. Source of the fields: proc(5), getrlimit(2), the kernel's
//! Documentation/admin-guide/cgroup-v2.rst.
//!
//! Small allocations are not counted one by one: a size is held against the limit where a file decides it, in one piece
//! or piece by piece.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::Problem;

/// Smaller requests are not held against the limit: looking it up would cost more than they do.
const FROM_BYTES: u64 = 1 << 20;
/// A stream may take this share of the limit: its tables need memory too.
const STREAM_SHARE: u64 = 4;

/// What the user said; `u64::MAX`: nothing.
static ASKED: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the user's limit in bytes.
pub fn set_limit(bytes: u64) {
    ASKED.store(bytes, Ordering::Relaxed);
}

/// The limit in bytes of what the program allocates; `u64::MAX` if there is none.
#[must_use]
pub fn limit_bytes() -> u64 {
    static SYSTEM: OnceLock<u64> = OnceLock::new();
    let system = *SYSTEM.get_or_init(system::limit_bytes);
    system.min(ASKED.load(Ordering::Relaxed))
}

/// How many bytes may still be allocated.
#[must_use]
pub fn left_bytes() -> u64 {
    let limit = limit_bytes();
    let used = system::used();
    let by_memory = limit.saturating_sub(used.anonymous_bytes);
    by_memory.min(system::address_space_bytes().saturating_sub(used.mapped_bytes))
}

/// How many bytes of a stream are read at most.
#[must_use]
pub fn stream_bytes() -> u64 {
    left_bytes() / STREAM_SHARE
}

/// `Err` if `bytes` more would exceed the limit.
///
/// # Errors
/// [`Problem::NoMemory`].
pub fn require(bytes: u64) -> Result<(), Problem> {
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

/// Makes room for `additional` more items, with room to spare where the limit allows it.
///
/// # Errors
/// [`Problem::NoMemory`].
pub fn grow<T>(items: &mut Vec<T>, additional: usize) -> Result<(), Problem> {
    if items.capacity() - items.len() >= additional {
        return Ok(());
    }
    let spare = items.capacity().max(additional);
    if require(bytes_of::<T>(spare)).is_ok() && items.try_reserve(additional).is_ok() {
        return Ok(());
    }
    grow_exact(items, additional)
}

/// Makes room for `additional` more items and no others.
///
/// # Errors
/// [`Problem::NoMemory`].
pub fn grow_exact<T>(items: &mut Vec<T>, additional: usize) -> Result<(), Problem> {
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

/// A size in bytes as people write it: `512M`, `2G`, `1.5GiB`, `4096`.
///
/// # Errors
/// In words, if it is no such size, or 0.
pub fn parse_size(text: &str) -> Result<u64, String> {
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

/// Memory of this process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// Resident, and in no file.
    anonymous_bytes: u64,
    /// Address space.
    mapped_bytes: u64,
}

#[cfg(target_os = "linux")]
mod system {
    use super::Used;

    /// `/proc/self/status`, lines `VmSize:` and `RssAnon:`, in kB.
    pub(super) fn used() -> Used {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Used {
            anonymous_bytes: bytes_in(&text, "RssAnon:").unwrap_or(0),
            mapped_bytes: bytes_in(&text, "VmSize:").unwrap_or(0),
        }
    }

    /// The number of bytes in the line `NAME: 1234 kB`.
    fn bytes_in(text: &str, name: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes.saturating_mul(1024))
    }

    pub(super) fn address_space_bytes() -> u64 {
        let limit = rustix::process::getrlimit(rustix::process::Resource::As);
        limit.current.unwrap_or(u64::MAX)
    }

    pub(super) fn limit_bytes() -> u64 {
        let data = rustix::process::getrlimit(rustix::process::Resource::Data);
        let limits = [data.current, cgroup_bytes(), available_bytes()];
        limits.into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// What the machine can still give, and what this process has of it.
    fn available_bytes() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        bytes_in(&text, "MemAvailable:")
    }

    /// The smallest limit of this process's cgroup and of those around it.
    fn cgroup_bytes() -> Option<u64> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let number = |path: String| -> Option<u64> {
            std::fs::read_to_string(path).ok()?.trim().parse().ok()
        };
        let mut limits = Vec::new();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(group)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let (root, file) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                }
                _ => continue,
            };
            let mut group = group.trim_end_matches('/');
            loop {
                limits.extend(number(format!("{root}{group}/{file}")));
                match group.rsplit_once('/') {
                    Some((above, _)) => group = above,
                    None => break,
                }
            }
        }
        limits.into_iter().min()
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::Used;

    pub(super) fn used() -> Used {
        Used::default()
    }

    pub(super) fn address_space_bytes() -> u64 {
        u64::MAX
    }

    pub(super) fn limit_bytes() -> u64 {
        u64::MAX
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
