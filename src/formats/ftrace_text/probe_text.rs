//! The addresses at the start of a probe's text, by which probes are recognised.
//!
//! ```text
//! (do_sys_open+0x0/0xd6) dfd=3                      kprobe, uprobe with a number
//! (sys_openat+0xc/0xe <- do_sys_open) $retval=4     kretprobe: return address, function
//! (ffffffff8f963fa0 <- ffffffff8f96469a) arg1=4     kretprobe by trace-cmd: function, return address
//! (syscalls.sys_enter_openat) file="x"              eprobe: the event to which it is attached
//! __probe_ip=ffffffff8f963fa0 dfd=3                 entry, fields of `trace-cmd report -R` or after
//!                                                   `[FAILED TO PARSE]`
//! __probe_func=ffffffff8f963fa0 __probe_ret_ip=...  return
//! ```

use super::fields::{field, first_word};
use crate::event::kernel::is_probe_field;
use crate::formats::ftrace_line::short::find_short;

/// Addresses of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe<'a> {
    /// `(do_sys_open+0x0/0xd6)`: the probe's address.
    Entry(&'a [u8]),
    /// `(sys_openat+0xc/0xe <- do_sys_open)`: the function that returned, and the return address.
    Return(&'a [u8], &'a [u8]),
}

/// Maximum length of the text between the parentheses.
const MOST_PLACE: usize = 400;

/// Returns the text between the parentheses at the start of a probe's text.
#[inline]
pub(super) fn probe_place(info: &[u8]) -> Option<&[u8]> {
    let inner = info.strip_prefix(b"(")?;
    let close = memchr::memchr(b')', inner.get(..MOST_PLACE).unwrap_or(inner))?;
    inner.get(..close)
}

/// Parses the addresses at the start of a probe's text. The kernel prints the return address first, and symbols;
/// trace-cmd prints the function first, and bare hex numbers.
#[must_use]
pub(super) fn probe(info: &[u8]) -> Option<Probe<'_>> {
    if let Some(fields) = probe_fields(info) {
        let address = |name: &[u8]| field(fields, name).map(first_word);
        return match address(b"__probe_func") {
            Some(function) => Some(Probe::Return(function, address(b"__probe_ret_ip")?)),
            None => address(b"__probe_ip").map(Probe::Entry),
        };
    }
    let inner = probe_place(info)?;
    let is_bare = |text: &[u8]| text.len() >= 4 && text.iter().all(u8::is_ascii_hexdigit);
    if let Some(arrow) = find_short(inner, b"<- ") {
        let (first, second) = (
            inner.get(..arrow)?.trim_ascii_end(),
            inner.get(arrow + 3..)?,
        );
        let (function, to) = if is_bare(first) {
            (first, second)
        } else {
            (second, first)
        };
        return (!function.is_empty()).then_some(Probe::Return(function, to));
    }
    let is_address =
        inner.starts_with(b"0x") || is_bare(inner) || find_short(inner, b"+0x").is_some();
    is_address.then_some(Probe::Entry(inner))
}

/// Returns the fields of a probe, if they are printed raw.
#[must_use]
#[inline]
pub(crate) fn probe_fields(info: &[u8]) -> Option<&[u8]> {
    let fields = info.strip_prefix(b"[FAILED TO PARSE] ").unwrap_or(info);
    is_probe_field(fields).then_some(fields)
}

/// Returns whether a text may belong to a probe or an event probe.
#[must_use]
#[inline]
pub(crate) fn may_be_probe(info: &[u8]) -> bool {
    info.first() == Some(&b'(') || probe_fields(info).is_some()
}

/// Returns whether the text belongs to a probe on an event: `(syscalls.sys_enter_openat) file=...`.
#[must_use]
pub(crate) fn is_event_probe(info: &[u8]) -> bool {
    let Some(inner) = info.strip_prefix(b"(") else {
        return false;
    };
    let near = inner.get(..200).unwrap_or(inner);
    let place = memchr::memchr(b')', near).and_then(|close| inner.get(..close));
    let dot = place.and_then(|place| memchr::memchr(b'.', place));
    let split = place.zip(dot);
    let Some((system, event)) = split.and_then(|(place, dot)| place.split_at_checked(dot)) else {
        return false;
    };
    let event = event.get(1..).unwrap_or_default();
    let is_name = |text: &[u8]| {
        let starts_well = text
            .first()
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        starts_well && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    is_name(system) && is_name(event)
}

/// Offsets of probes on a function's entry: at its start, or after an instruction that some machines require there
/// (`endbr64`, `bti c`, the global entry of powerpc).
const ENTRIES: [&[u8]; 3] = [b"+0x0/", b"+0x4/", b"+0x8/"];

/// Returns the position of the offset in the address of a function's entry; `None` for other addresses.
#[must_use]
pub(crate) fn entry_offset(address: &[u8]) -> Option<usize> {
    let at = find_short(address, b"+0x")?;
    let offset = address.get(at..)?;
    let is_entry = ENTRIES.iter().any(|entry| offset.starts_with(entry));
    is_entry.then_some(at)
}

/// Returns the function in an address: `do_sys_open` for `do_sys_open+0x0/0xd6 [mod]`; offsets that are not at the
/// entry are kept. A function that returned is printed without an offset: `do_sys_open [mod]`.
#[must_use]
pub(crate) fn function_of(address: &[u8]) -> &[u8] {
    let address = first_word(address);
    // Some numbers have the prefix and some do not, even from one writer.
    let address = address.strip_prefix(b"0x").unwrap_or(address);
    match entry_offset(address) {
        Some(at) => address.get(..at).unwrap_or(address),
        None => {
            let end = memchr::memchr(b'/', address).unwrap_or(address.len());
            address.get(..end).unwrap_or(address)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_of_both_writers() {
        assert_eq!(
            probe(b"(do_sys_open+0x0/0xd6) dfd=3"),
            Some(Probe::Entry(b"do_sys_open+0x0/0xd6"))
        );
        assert_eq!(
            probe(b"(sys_openat+0xc/0xe <- do_sys_open) $retval=1"),
            Some(Probe::Return(b"do_sys_open", b"sys_openat+0xc/0xe"))
        );
        assert_eq!(
            probe(b"(ffffffff8f963fa0 <- ffffffff8f96469a) arg1=0x4"),
            Some(Probe::Return(b"ffffffff8f963fa0", b"ffffffff8f96469a"))
        );
        assert_eq!(
            probe(b"(0x5620b09802b8 <- 0x5620b0980169) ret=0"),
            Some(Probe::Return(b"0x5620b0980169", b"0x5620b09802b8"))
        );
        assert_eq!(probe(b"(syscalls.sys_enter_openat) file=1"), None);
        assert_eq!(
            probe(b"__probe_ip=40f840 dfd=0xffffffffffffff9c"),
            Some(Probe::Entry(b"40f840"))
        );
        assert_eq!(
            probe(b"[FAILED TO PARSE] __probe_ip=0x5620b0980169 id=-5"),
            Some(Probe::Entry(b"0x5620b0980169"))
        );
        assert_eq!(
            probe(b"__probe_func=0xc32cb050 (3274485840) __probe_ret_ip=0xc32cb60b (1) ret=3"),
            Some(Probe::Return(b"0xc32cb050", b"0xc32cb60b"))
        );
        assert_eq!(probe(b"__probe_func=1 ret=3"), None);
        assert_eq!(function_of(b"0xc32cb050"), function_of(b"c32cb050"));
        assert_eq!(function_of(b"do_sys_open+0x0/0xd6"), b"do_sys_open");
        assert_eq!(function_of(b"do_sys_open+0x10/0xd6"), b"do_sys_open+0x10");
        assert_eq!(function_of(b"vfs_read+0x4/0x330"), b"vfs_read");
        assert_eq!(function_of(b"schedule+0x5/0xb0"), b"schedule+0x5");
        // The begin and the end of a call in a module have the same key.
        assert_eq!(function_of(b"ext4_sync+0x0/0x10 [ext4]"), b"ext4_sync");
        assert_eq!(function_of(b"ext4_sync [ext4]"), b"ext4_sync");
    }
}
