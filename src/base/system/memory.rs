//! Memory usage and memory limits of this process, as the operating system reports them. Sources: proc(5),
//! getrlimit(2), the kernel's Documentation/admin-guide/cgroup-v2.rst.

#[cfg(target_os = "linux")]
pub(crate) use linux::{address_space_bytes, limit_bytes, page_bytes, used};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{address_space_bytes, limit_bytes, page_bytes, used};

/// Memory used by this process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// Resident memory that is not backed by a file, in bytes.
    pub anonymous_bytes: u64,
    /// Size of the address space, in bytes.
    pub mapped_bytes: u64,
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Used;

    /// Returns the memory usage from `/proc/self/status`, lines `VmSize:` and `RssAnon:` (kB).
    pub(crate) fn used() -> Used {
        let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        Used {
            anonymous_bytes: bytes_in(&text, "RssAnon:").unwrap_or(0),
            mapped_bytes: bytes_in(&text, "VmSize:").unwrap_or(0),
        }
    }

    /// Parses the line `NAME: 1234 kB` and returns its value in bytes.
    fn bytes_in(text: &str, name: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes.saturating_mul(1024))
    }

    /// Returns the limit of this process's address space in bytes, if there is one.
    #[must_use]
    pub(crate) fn address_space_bytes() -> Option<u64> {
        rustix::process::getrlimit(rustix::process::Resource::As).current
    }

    /// Returns the size of a page of memory in bytes.
    #[must_use]
    pub(crate) fn page_bytes() -> u64 {
        rustix::param::page_size() as u64
    }

    /// Returns the smallest of the limits of the process, its cgroup and the machine, in bytes, if there is one.
    #[must_use]
    pub(crate) fn limit_bytes() -> Option<u64> {
        let data = rustix::process::getrlimit(rustix::process::Resource::Data);
        let limits = [data.current, cgroup_bytes(), available_bytes()];
        limits.into_iter().flatten().min()
    }

    /// Returns the machine's available memory (`MemAvailable`) in bytes. Read once, at the start of the program.
    fn available_bytes() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        bytes_in(&text, "MemAvailable:")
    }

    /// Returns the smallest limit of this process's cgroups and their ancestors, in bytes.
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
            // A line of cgroup v2 has no controllers; a line of v1 lists them.
            let (root, file) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                }
                _ => continue,
            };
            // The limits of all ancestors apply, too.
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
mod other {
    use super::Used;

    /// Returns zeros: unknown on this system.
    #[must_use]
    pub(crate) fn used() -> Used {
        Used::default()
    }

    /// Returns `None`: unknown on this system.
    #[must_use]
    pub(crate) fn address_space_bytes() -> Option<u64> {
        None
    }

    /// Returns 4096: unknown on this system.
    #[must_use]
    pub(crate) fn page_bytes() -> u64 {
        4096
    }

    /// Returns `None`: unknown on this system.
    #[must_use]
    pub(crate) fn limit_bytes() -> Option<u64> {
        None
    }
}
