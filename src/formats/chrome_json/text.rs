//! The text of a JSON string, with its escapes replaced.

use std::borrow::Cow;

use super::scan::{Quoted, Raw};
use crate::base::strings::text_of;

/// Returns the bytes of a string, with its escapes replaced. A surrogate without its partner becomes U+FFFD; an escape
/// that JSON does not define is kept.
#[inline]
pub(super) fn plain(quoted: Quoted<'_>) -> Cow<'_, [u8]> {
    match quoted.has_escape {
        false => Cow::Borrowed(quoted.bytes),
        true => Cow::Owned(unescaped(quoted.bytes)),
    }
}

impl<'a> Raw<'a> {
    /// Returns the bytes of a string, with its escapes replaced, or those of a number or word; empty for other values.
    pub(super) fn plain(self) -> Cow<'a, [u8]> {
        match self {
            Raw::Text(text) => plain(text),
            other => Cow::Borrowed(other.bytes()),
        }
    }
}

/// Returns a string as text for display: bytes that are not UTF-8 become `\xNN`.
pub(super) fn shown(quoted: Quoted<'_>) -> Cow<'_, str> {
    match plain(quoted) {
        Cow::Borrowed(bytes) => text_of(bytes),
        Cow::Owned(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Cow::Owned(text),
            Err(error) => Cow::Owned(text_of(error.as_bytes()).into_owned()),
        },
    }
}

fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or(&[]));
        let escape = rest.get(at..).unwrap_or(&[]);
        let (plain, length) = match escape.get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(&byte @ (b'"' | b'\\' | b'/')) => (char::from(byte), 2),
            Some(b'u') => unicode(escape).unwrap_or(('\\', 1)),
            _ => ('\\', 1),
        };
        out.extend_from_slice(plain.encode_utf8(&mut [0; 4]).as_bytes());
        rest = escape.get(length..).unwrap_or(&[]);
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the character of a `\uXXXX` escape, or of two for a surrogate pair, and its length in the text in bytes.
fn unicode(escape: &[u8]) -> Option<(char, usize)> {
    let first = unit(escape)?;
    if let Some(plain) = char::from_u32(first) {
        return Some((plain, 6));
    }
    let second = escape.get(6..).and_then(unit);
    let pair = second.filter(|second| first < 0xdc00 && (0xdc00..0xe000).contains(second));
    Some(match pair {
        Some(second) => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
        }
        None => ('\u{fffd}', 6),
    })
}

/// Returns the number of a `\uXXXX` escape.
fn unit(escape: &[u8]) -> Option<u32> {
    let digits = escape.strip_prefix(b"\\u")?.get(..4)?;
    let mut number = 0;
    for &digit in digits {
        number = number << 4 | char::from(digit).to_digit(16)?;
    }
    Some(number)
}

/// Maximum length of a fact's text, in characters.
const MOST_TEXT: usize = 200;

/// Returns a text of at most [`MOST_TEXT`] characters.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_replaced() {
        for (text, expected) in [
            (r"plain", "plain"),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"\u00e9\u4e2d", "é中"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d!", "\u{fffd}!"),
            (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\x41 \u12", r"\x41 \u12"),
        ] {
            let quoted = Quoted {
                bytes: text.as_bytes(),
                has_escape: true,
            };
            assert_eq!(shown(quoted), expected);
        }
        let raw = Quoted {
            bytes: b"caf\xe9",
            has_escape: false,
        };
        assert_eq!(shown(raw), "caf\\xe9");
        assert_eq!(&*plain(raw), b"caf\xe9");
    }
}
