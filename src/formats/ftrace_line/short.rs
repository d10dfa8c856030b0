//! A search in short texts.

/// Returns the position of `needle` in `text`; `needle` is a few bytes long and starts with a rare byte. For short
/// texts only: setting up a general searcher takes longer than scanning such a text.
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
