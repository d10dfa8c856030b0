//! Joins and normalizes paths as bytes. `.` and `..` are resolved in the text alone, without access to the disk:
//! symbolic links are not followed.

/// Maximum length of both arguments of [`joined`] together, in bytes.
const MOST_PATH_BYTES: usize = 1 << 12;

/// Returns whether `path` is absolute and not normalized (contains `//`, `.` or `..`, or ends in `/`).
pub(crate) fn is_uneven(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    path.len() > 1
        && parts.next() == Some(b"")
        && parts.any(|part| matches!(part, b"" | b"." | b".."))
}

/// Returns `path`, relative to the directory `here`, in normalized form; `None` if both are too long together.
/// The parts of `path` are appended to `here` even if `path` starts with `/`.
pub(crate) fn joined(here: &[u8], path: &[u8]) -> Option<Vec<u8>> {
    if here.len() + path.len() > MOST_PATH_BYTES {
        return None;
    }
    let mut parts: Vec<&[u8]> = Vec::new();
    let is_whole = here.starts_with(b"/");
    let all = here.split(|&byte| byte == b'/');
    for part in all.chain(path.split(|&byte| byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            b".." if is_whole => {}
            part => parts.push(part),
        }
    }
    let text = parts.join(&b'/');
    Some(match (is_whole, text.is_empty()) {
        (true, _) => [b"/", text.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_count_from_where_one_is() {
        for (here, path, expected) in [
            ("/proj/src", "../a.c", "/proj/a.c"),
            ("/", "../../x", "/x"),
            ("", "./a//b/./c", "a/b/c"),
            ("sub", "../..", ".."),
            ("sub", "..", "."),
            ("", "../../a", "../../a"),
            ("/proj/", "sub/", "/proj/sub"),
        ] {
            let found = joined(here.as_bytes(), path.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(&found), expected, "{here} {path}");
        }
    }

    #[test]
    fn uneven_paths_are_told_by_their_bytes() {
        for path in ["/a//b", "/a/./b", "/a/../b", "/a/", "/a/.", "/a/..", "/.."] {
            assert!(is_uneven(path.as_bytes()), "{path}");
        }
        for path in ["/", "/a", "/a/.b", "/a/..b/c", "/a./b..", "a/../b", ""] {
            assert!(!is_uneven(path.as_bytes()), "{path}");
        }
    }
}
