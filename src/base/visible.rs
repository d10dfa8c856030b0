//! Makes characters visible that cannot be seen but change what a terminal or an editor shows.
//!
//! Control characters (C0, DEL, C1) can move the cursor, colour or rename a terminal; marks of writing direction
//! reorder the text around them. [`is_active`] matches them. In text, each of their bytes is written as `\xNN`, which
//! `base::strings::exact_bytes` converts back; in a JSON string they are written as `\uNNNN`, which every reader
//! decodes to the same text.

use std::borrow::Cow;
use std::io::Write;

/// Returns whether a character changes what is shown: a control character other than a tab or a line end, or a mark of
/// writing direction.
#[must_use]
pub(crate) fn is_active(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => c.is_control(),
    }
}

/// Returns the text with each byte of an active character written as `\xNN`.
#[must_use]
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_active(c) {
            true => push_bytes(&mut shown, c),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Returns the text of [`harmless`] on one line: line ends are written as `\n` and `\r`.
#[must_use]
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\r']) {
        true => harmless(&text.replace('\n', "\\n").replace('\r', "\\r"))
            .into_owned()
            .into(),
        false => harmless(text),
    }
}

fn push_bytes(shown: &mut String, c: char) {
    let mut bytes = [0; 4];
    for byte in c.encode_utf8(&mut bytes).bytes() {
        shown.push_str(&format!("\\x{byte:02x}"));
    }
}

/// How active characters are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Lines of text: `\xNN` for each byte, also for bytes that are not UTF-8. A carriage return that does not end a
    /// line is active.
    Text,
    /// JSON, where active characters can only be inside strings: `\uNNNN`.
    Json,
}

/// A writer that escapes active characters and writes to `out`. A character may be split between two writes.
#[derive(Debug)]
pub(crate) struct Visible<W> {
    out: W,
    form: Form,
    /// The first bytes of a character, or a carriage return, whose rest was not written yet.
    pending: Vec<u8>,
}

impl<W: Write> Visible<W> {
    /// Returns a writer of lines of text.
    pub(crate) fn text(out: W) -> Visible<W> {
        Visible {
            out,
            form: Form::Text,
            pending: Vec::new(),
        }
    }

    /// Returns a writer of JSON.
    pub(crate) fn json(out: W) -> Visible<W> {
        Visible {
            out,
            form: Form::Json,
            pending: Vec::new(),
        }
    }

    /// Writes the pending bytes although they are incomplete. Does not flush `out`.
    ///
    /// # Errors
    /// The errors of `out`.
    pub(crate) fn finish(&mut self) -> std::io::Result<()> {
        let rest = std::mem::take(&mut self.pending);
        self.write_chunks(&rest)
    }

    /// Escapes and writes bytes that end with a complete character.
    fn write_chunks(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        if !may_be_active(bytes, self.form) {
            return self.out.write_all(bytes);
        }
        for chunk in bytes.utf8_chunks() {
            self.write_valid(chunk.valid())?;
            for byte in chunk.invalid() {
                match self.form {
                    Form::Text => write!(self.out, "\\x{byte:02x}")?,
                    Form::Json => self.out.write_all(&[*byte])?,
                }
            }
        }
        Ok(())
    }

    fn write_valid(&mut self, text: &str) -> std::io::Result<()> {
        let mut plain = 0;
        for (at, c) in text.char_indices() {
            let is_lone_return = c == '\r' && !text[at..].starts_with("\r\n");
            let is_seen = match self.form {
                Form::Text => !is_active(c) && !is_lone_return,
                Form::Json => !is_active(c),
            };
            if is_seen {
                continue;
            }
            self.out.write_all(&text.as_bytes()[plain..at])?;
            plain = at + c.len_utf8();
            match self.form {
                Form::Text => {
                    let mut shown = String::new();
                    push_bytes(&mut shown, c);
                    self.out.write_all(shown.as_bytes())?;
                }
                Form::Json => write!(self.out, "\\u{:04x}", u32::from(c))?,
            }
        }
        self.out.write_all(&text.as_bytes()[plain..])
    }
}

/// Returns whether any byte could belong to an active character or to invalid UTF-8. Most texts have no such byte, and
/// are written unchanged.
fn may_be_active(bytes: &[u8], form: Form) -> bool {
    match form {
        Form::Text => !bytes
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n')),
        Form::Json => {
            memchr::memchr3(0x7f, 0xc2, 0xe2, bytes).is_some()
                || memchr::memchr(0xd8, bytes).is_some()
        }
    }
}

/// Returns how many bytes at the end of `bytes` may be the start of a character or line end whose rest follows.
fn unfinished(bytes: &[u8], form: Form) -> usize {
    if form == Form::Text && bytes.last() == Some(&b'\r') {
        return 1;
    }
    let starts = bytes.iter().rev().take(3).enumerate();
    for (behind, byte) in starts {
        let length = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if behind + 1 < length { behind + 1 } else { 0 };
    }
    0
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let joined;
        let all: &[u8] = match self.pending.is_empty() {
            true => bytes,
            false => {
                joined = [&std::mem::take(&mut self.pending), bytes].concat();
                &joined
            }
        };
        let kept = all.len() - unfinished(all, self.form);
        let (whole, rest) = all.split_at(kept);
        self.pending = rest.to_vec();
        self.write_chunks(whole)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::strings::exact_bytes;

    #[test]
    fn texts_have_their_active_bytes_as_escapes() {
        let text = "a\x1b[31m\u{9b}\u{202e}b\tc\nd\u{e9}";
        let shown = "a\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xaeb\tc\nd\u{e9}";
        assert_eq!(harmless(text), shown);
        assert_eq!(exact_bytes(shown), text.as_bytes());
        assert_eq!(one_line("a\r\nb\x07"), "a\\r\\nb\\x07");
    }

    #[test]
    fn pieces_of_any_length_become_the_same() {
        let bytes = b"a\x1b]0;x\x07\xc2\x9b\xe2\x80\xae\xffb\rc\r\n\xf0\x9f\x98\x80\xe2\x80";
        let text = "a\\x1b]0;x\\x07\\xc2\\x9b\\xe2\\x80\\xae\\xffb\\x0dc\r\n\u{1f600}\\xe2\\x80";
        for size in 1..bytes.len() {
            let mut out = Vec::new();
            let mut visible = Visible::text(&mut out);
            for piece in bytes.chunks(size) {
                visible.write_all(piece).unwrap();
            }
            visible.finish().unwrap();
            assert_eq!(String::from_utf8_lossy(&out), text, "{size}");
        }
    }

    #[test]
    fn json_strings_mean_the_same() {
        let value = "a\x7f\u{9b}\u{202e}\u{e9}\u{2067}";
        for size in 1..8 {
            let mut out = Vec::new();
            let mut visible = Visible::json(&mut out);
            for piece in serde_json::to_vec(value).unwrap().chunks(size) {
                visible.write_all(piece).unwrap();
            }
            visible.finish().unwrap();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text, "\"a\\u007f\\u009b\\u202e\u{e9}\\u2067\"");
            assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
        }
    }
}
