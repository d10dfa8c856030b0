//! Label keys of slices that are neither a number nor an address from the recording.

/// Key of an end that does not identify its begin: a system call whose registers were replaced ends as number -1.
pub const ANY_KEY: u64 = u64::MAX;

/// Key of system call number 0, and of anything else whose key would be 0 (which means "no key").
pub(crate) const NUMBER_ZERO: u64 = 1 << 62;

/// Key of system call marks that only show that their thread is outside the kernel.
pub(crate) const USER_MODE: u64 = 1 << 61;
