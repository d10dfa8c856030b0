//! Converts numbers to words: flags of open, clone, rename, link and mount, file modes; and bytes to text.

use crate::base::signals::signal_name;
use crate::event::ForkSort;

/// Bits and their names.
type Bits = &'static [(u64, &'static str)];

const OPEN: Bits = &[
    (0o100, "O_CREAT"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o1000, "O_TRUNC"),
    (0o2000, "O_APPEND"),
    (0o4000, "O_NONBLOCK"),
    (0o4_010_000, "O_SYNC"),
    (0o10000, "O_DSYNC"),
    (0o20000, "O_ASYNC"),
    (0o40000, "O_DIRECT"),
    (0o100_000, "O_LARGEFILE"),
    (0o20_200_000, "O_TMPFILE"),
    (0o200_000, "O_DIRECTORY"),
    (0o400_000, "O_NOFOLLOW"),
    (0o1_000_000, "O_NOATIME"),
    (0o2_000_000, "O_CLOEXEC"),
    (0o10_000_000, "O_PATH"),
];

const CLONE: Bits = &[
    (0x80, "CLONE_NEWTIME"),
    (0x100, "CLONE_VM"),
    (0x200, "CLONE_FS"),
    (0x400, "CLONE_FILES"),
    (0x800, "CLONE_SIGHAND"),
    (0x1000, "CLONE_PIDFD"),
    (0x2000, "CLONE_PTRACE"),
    (0x4000, "CLONE_VFORK"),
    (ForkSort::CLONE_PARENT, "CLONE_PARENT"),
    (ForkSort::CLONE_THREAD, "CLONE_THREAD"),
    (0x2_0000, "CLONE_NEWNS"),
    (0x4_0000, "CLONE_SYSVSEM"),
    (0x8_0000, "CLONE_SETTLS"),
    (0x10_0000, "CLONE_PARENT_SETTID"),
    (0x20_0000, "CLONE_CHILD_CLEARTID"),
    (0x40_0000, "CLONE_DETACHED"),
    (0x80_0000, "CLONE_UNTRACED"),
    (0x100_0000, "CLONE_CHILD_SETTID"),
    (0x200_0000, "CLONE_NEWCGROUP"),
    (0x400_0000, "CLONE_NEWUTS"),
    (0x800_0000, "CLONE_NEWIPC"),
    (0x1000_0000, "CLONE_NEWUSER"),
    (0x2000_0000, "CLONE_NEWPID"),
    (0x4000_0000, "CLONE_NEWNET"),
    (0x8000_0000, "CLONE_IO"),
];

const RENAME: Bits = &[
    (1, "RENAME_NOREPLACE"),
    (2, "RENAME_EXCHANGE"),
    (4, "RENAME_WHITEOUT"),
];

const LINK: Bits = &[(0x400, "AT_SYMLINK_FOLLOW"), (0x1000, "AT_EMPTY_PATH")];

const MOUNT: Bits = &[
    (1, "MS_RDONLY"),
    (2, "MS_NOSUID"),
    (4, "MS_NODEV"),
    (8, "MS_NOEXEC"),
    (16, "MS_SYNCHRONOUS"),
    (32, "MS_REMOUNT"),
    (64, "MS_MANDLOCK"),
    (128, "MS_DIRSYNC"),
    (256, "MS_NOSYMFOLLOW"),
    (1024, "MS_NOATIME"),
    (2048, "MS_NODIRATIME"),
    (4096, "MS_BIND"),
    (8192, "MS_MOVE"),
    (16384, "MS_REC"),
    (32768, "MS_SILENT"),
    (1 << 16, "MS_POSIXACL"),
    (1 << 17, "MS_UNBINDABLE"),
    (1 << 18, "MS_PRIVATE"),
    (1 << 19, "MS_SLAVE"),
    (1 << 20, "MS_SHARED"),
    (1 << 21, "MS_RELATIME"),
    (1 << 24, "MS_STRICTATIME"),
    (1 << 25, "MS_LAZYTIME"),
];

const UMOUNT: Bits = &[
    (1, "MNT_FORCE"),
    (2, "MNT_DETACH"),
    (4, "MNT_EXPIRE"),
    (8, "UMOUNT_NOFOLLOW"),
];

/// Joins the names of the set bits, with the remaining bits in hexadecimal; returns `zero` if no bit is set.
fn join(mut flags: u64, bits: Bits, first: Vec<&str>, zero: &str) -> String {
    let mut words: Vec<String> = first.into_iter().map(str::to_owned).collect();
    for &(bit, word) in bits {
        if bit != 0 && flags & bit == bit {
            words.push(word.to_owned());
            flags &= !bit;
        }
    }
    if flags != 0 {
        words.push(format!("{flags:#x}"));
    }
    if words.is_empty() {
        zero.to_owned()
    } else {
        words.join("|")
    }
}

/// Returns flags of open as text, e.g. `O_RDONLY|O_CLOEXEC`.
#[must_use]
pub(crate) fn open_flags(flags: i64) -> String {
    let flags = flags as u32;
    let access = match flags & 3 {
        0 => "O_RDONLY",
        1 => "O_WRONLY",
        2 => "O_RDWR",
        _ => "O_ACCMODE",
    };
    join(u64::from(flags & !3), OPEN, vec![access], "")
}

/// Returns flags of dup3 and pipe2 as text: those of open, without an access mode.
#[must_use]
pub(crate) fn descriptor_flags(flags: i64) -> String {
    join(flags as u64 & 0xffff_ffff, OPEN, Vec::new(), "0")
}

/// Returns flags of clone and the signal that is sent when the child ends, e.g. `CLONE_VM|CLONE_THREAD`.
#[must_use]
pub(crate) fn clone_flags(flags: i64) -> String {
    let flags = flags as u64;
    let signal = (flags & 0x7f) as i32;
    let words = join(flags & !0x7f, CLONE, Vec::new(), "");
    let signal = if signal == 0 {
        String::new()
    } else {
        signal_name(signal)
    };
    match (words.is_empty(), signal.is_empty()) {
        (true, true) => "0".to_owned(),
        (false, true) => words,
        (true, false) => signal,
        (false, false) => format!("{words}|{signal}"),
    }
}

/// Returns flags of renameat2 as text.
#[must_use]
pub(crate) fn rename_flags(flags: i64) -> String {
    join(flags as u64, RENAME, Vec::new(), "0")
}

/// Returns flags of linkat as text.
#[must_use]
pub(crate) fn link_flags(flags: i64) -> String {
    join(flags as u64, LINK, Vec::new(), "0")
}

/// Returns flags of mount as text.
#[must_use]
pub(crate) fn mount_flags(flags: i64) -> String {
    join(flags as u64, MOUNT, Vec::new(), "0")
}

/// Returns flags of umount2 as text.
#[must_use]
pub(crate) fn umount_flags(flags: i64) -> String {
    join(flags as u64, UMOUNT, Vec::new(), "0")
}

/// Returns whether an open with these flags uses its mode; otherwise the mode in the file is an arbitrary number.
#[must_use]
pub(crate) fn has_mode(flags: u32) -> bool {
    flags & 0o100 != 0 || flags & 0o20_200_000 == 0o20_200_000
}

/// Returns bytes as text, with bytes that are not UTF-8 as `\xNN`.
#[must_use]
pub(crate) fn text(bytes: &[u8]) -> String {
    crate::base::strings::text_of(bytes).into_owned()
}

/// Returns bytes as one line: control characters, invalid UTF-8 and the characters in `more` are escaped with
/// backslashes.
#[must_use]
pub(crate) fn escaped(bytes: &[u8], more: &str) -> String {
    let mut shown = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => shown.push_str("\\n"),
                '\t' => shown.push_str("\\t"),
                '\r' => shown.push_str("\\r"),
                c if c.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", c as u32)),
                c if c.is_control() => shown.push_str(&format!("\\u{:04x}", c as u32)),
                c => {
                    if more.contains(c) {
                        shown.push('\\');
                    }
                    shown.push(c);
                }
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_words() {
        assert_eq!(open_flags(524_288), "O_RDONLY|O_CLOEXEC");
        assert_eq!(open_flags(577), "O_WRONLY|O_CREAT|O_TRUNC");
        assert_eq!(open_flags(0o4_010_002), "O_RDWR|O_SYNC");
        assert_eq!(
            clone_flags(18_874_385),
            "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD"
        );
        assert_eq!(ForkSort::of_clone(8_195_840), ForkSort::Thread);
        assert_eq!(ForkSort::of_clone(18_874_385), ForkSort::Process);
        assert!(clone_flags(8_195_840).contains("CLONE_THREAD"));
        assert_eq!(mount_flags(4096), "MS_BIND");
        assert_eq!(rename_flags(0), "0");
        assert_eq!(rename_flags(9), "RENAME_NOREPLACE|0x8");
        assert_eq!(text(b"a\xffb"), "a\\xffb");
        assert_eq!(escaped(b"a\xffb\0\x1b[1m\\", ""), "a\\xffb\\x00\\x1b[1m\\");
    }
}
