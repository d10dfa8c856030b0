//! Texts as they are shown: a name may have a hundred million bytes, of which nobody reads more than the start.

use std::borrow::Cow;

use crate::base::time::grouped;

/// So many bytes of a text are shown.
const MOST_BYTES: usize = 2_000;

/// `text`, or its start and how long it is.
pub fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MOST_BYTES {
        return text.into();
    }
    let start = text.get(..text.floor_char_boundary(MOST_BYTES));
    let start = start.unwrap_or_default();
    format!("{start}… ({} bytes)", grouped(text.len() as i64)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_texts_are_cut_and_not_within_a_letter() {
        assert_eq!(shortened("short"), "short");
        let long = format!("x{}", "é".repeat(2_000));
        let shown = shortened(&long);
        let end = format!("é… ({} bytes)", grouped(4_001));
        assert!(shown.starts_with("xé") && shown.ends_with(&end), "{shown}");
        assert!(shown.len() < 2_100);
    }
}
