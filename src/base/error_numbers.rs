//! The numbers of Linux's errors and their names (`asm-generic/errno.h`).

/// Error names, indexed by number (asm-generic/errno.h); empty if Linux has no such error.
const ERRORS: &[&str] = &[
    "",
    "EPERM",
    "ENOENT",
    "ESRCH",
    "EINTR",
    "EIO",
    "ENXIO",
    "E2BIG",
    "ENOEXEC",
    "EBADF",
    "ECHILD",
    "EAGAIN",
    "ENOMEM",
    "EACCES",
    "EFAULT",
    "ENOTBLK",
    "EBUSY",
    "EEXIST",
    "EXDEV",
    "ENODEV",
    "ENOTDIR",
    "EISDIR",
    "EINVAL",
    "ENFILE",
    "EMFILE",
    "ENOTTY",
    "ETXTBSY",
    "EFBIG",
    "ENOSPC",
    "ESPIPE",
    "EROFS",
    "EMLINK",
    "EPIPE",
    "EDOM",
    "ERANGE",
    "EDEADLK",
    "ENAMETOOLONG",
    "ENOLCK",
    "ENOSYS",
    "ENOTEMPTY",
    "ELOOP",
    "",
    "ENOMSG",
    "EIDRM",
    "ECHRNG",
    "EL2NSYNC",
    "EL3HLT",
    "EL3RST",
    "ELNRNG",
    "EUNATCH",
    "ENOCSI",
    "EL2HLT",
    "EBADE",
    "EBADR",
    "EXFULL",
    "ENOANO",
    "EBADRQC",
    "EBADSLT",
    "",
    "EBFONT",
    "ENOSTR",
    "ENODATA",
    "ETIME",
    "ENOSR",
    "ENONET",
    "ENOPKG",
    "EREMOTE",
    "ENOLINK",
    "EADV",
    "ESRMNT",
    "ECOMM",
    "EPROTO",
    "EMULTIHOP",
    "EDOTDOT",
    "EBADMSG",
    "EOVERFLOW",
    "ENOTUNIQ",
    "EBADFD",
    "EREMCHG",
    "ELIBACC",
    "ELIBBAD",
    "ELIBSCN",
    "ELIBMAX",
    "ELIBEXEC",
    "EILSEQ",
    "ERESTART",
    "ESTRPIPE",
    "EUSERS",
    "ENOTSOCK",
    "EDESTADDRREQ",
    "EMSGSIZE",
    "EPROTOTYPE",
    "ENOPROTOOPT",
    "EPROTONOSUPPORT",
    "ESOCKTNOSUPPORT",
    "EOPNOTSUPP",
    "EPFNOSUPPORT",
    "EAFNOSUPPORT",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "ENETDOWN",
    "ENETUNREACH",
    "ENETRESET",
    "ECONNABORTED",
    "ECONNRESET",
    "ENOBUFS",
    "EISCONN",
    "ENOTCONN",
    "ESHUTDOWN",
    "ETOOMANYREFS",
    "ETIMEDOUT",
    "ECONNREFUSED",
    "EHOSTDOWN",
    "EHOSTUNREACH",
    "EALREADY",
    "EINPROGRESS",
    "ESTALE",
    "EUCLEAN",
    "ENOTNAM",
    "ENAVAIL",
    "EISNAM",
    "EREMOTEIO",
    "EDQUOT",
    "ENOMEDIUM",
    "EMEDIUMTYPE",
    "ECANCELED",
    "ENOKEY",
    "EKEYEXPIRED",
    "EKEYREVOKED",
    "EKEYREJECTED",
    "EOWNERDEAD",
    "ENOTRECOVERABLE",
    "ERFKILL",
    "EHWPOISON",
];

/// Returns the number of the error with this name (`ENOENT` is 2); aliases are known. `None` if Linux has no such error.
#[must_use]
pub(crate) fn number(name: &[u8]) -> Option<i32> {
    let name = match name {
        b"EWOULDBLOCK" => &b"EAGAIN"[..],
        b"ENOTSUP" => b"EOPNOTSUPP",
        b"EDEADLOCK" => b"EDEADLK",
        other => other,
    };
    if name.is_empty() {
        return None;
    }
    ERRORS
        .iter()
        .position(|error| error.as_bytes() == name)
        .and_then(|number| i32::try_from(number).ok())
}

/// Returns the name of an error number: 2 is `ENOENT`. `None` if Linux has no such error.
#[must_use]
pub(crate) fn name(number: u64) -> Option<&'static str> {
    // Errors inside the kernel, whose names strace prints.
    match number {
        512 => return Some("ERESTARTSYS"),
        513 => return Some("ERESTARTNOINTR"),
        514 => return Some("ERESTARTNOHAND"),
        516 => return Some("ERESTART_RESTARTBLOCK"),
        _ => {}
    }
    let found = ERRORS.get(usize::try_from(number).ok()?).copied()?;
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_kernels_numbers() {
        assert_eq!(number(b"ENOENT"), Some(2));
        assert_eq!(number(b"EHWPOISON"), Some(133));
        assert_eq!(number(b"ENOTSUP"), Some(95));
        assert_eq!(number(b""), None);
        assert_eq!(name(2), Some("ENOENT"));
        assert_eq!(name(516), Some("ERESTART_RESTARTBLOCK"));
        assert_eq!((name(0), name(41), name(u64::MAX)), (None, None, None));
    }
}
