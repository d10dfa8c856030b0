//! A search in short texts.

/// Returns where `needle`, a few bytes starting with a rare byte, is in `text`. For short texts only: a general
/// searcher takes longer to build than such texts take to scan.
#[must_use]
#[inline]
pub(crate) fn find_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(first, text.get(from..)?)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}
