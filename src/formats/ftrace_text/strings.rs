//! Strings of probes that hold line ends: the kernel prints them as they are, so that an event goes on in lines that
//! have no columns.
//!
//! ```text
//! bash-133 [000] ..... 24.479458: open_in: (do_sys_openat2+0x0/0x190) banner="%s version %s
//! " jif=4294898341
//! ```

use super::line::{Plain, plain};
use super::prefix::split_prefix;
use crate::base::lines::lines;

/// No string goes on for more lines.
const MOST_LINES: usize = 64;

/// Whether a line ends inside a string that begins in it, or of which it is a part.
#[must_use]
pub fn ends_inside(line: &[u8], began_before: Began) -> bool {
    let is_odd = memchr::memchr_iter(b'"', line).count() % 2 == 1;
    match began_before {
        Began::Before => !is_odd,
        Began::Here => is_odd && memchr::memmem::find(line, b"=\"").is_some(),
    }
}

/// Where a string begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// In a line before.
    Before,
    /// In the line itself.
    Here,
}

/// Follows the lines without columns behind an event.
#[derive(Debug, Default)]
pub struct Strings<'a> {
    /// The last line of an event, until somebody asks.
    event: &'a [u8],
    /// How many lines the string in it may go on for.
    left: usize,
}

impl<'a> Strings<'a> {
    /// An event's first line.
    #[inline]
    pub fn event(&mut self, line: &'a [u8]) {
        self.event = line;
    }

    /// Whether a line without columns is a part of the event before.
    pub fn is_part(&mut self, line: &[u8]) -> bool {
        if !self.event.is_empty() {
            self.left = match ends_inside(self.event, Began::Here) {
                true => MOST_LINES,
                false => 0,
            };
            self.event = &[];
        }
        let is_part = self.left > 0;
        self.left = match ends_inside(line, Began::Before) {
            true => self.left.saturating_sub(1),
            false => 0,
        };
        is_part
    }
}

/// How many bytes the lines of the event take that `text` begins with, without the line end.
#[must_use]
pub fn event_bytes(text: &[u8]) -> usize {
    let mut all = lines(text, 1, 0);
    let Some(first) = all.next() else {
        return 0;
    };
    let mut end = first.bytes.len();
    let mut strings = Strings::default();
    strings.event(first.bytes);
    for line in all.take(MOST_LINES) {
        let is_bare = split_prefix(line.bytes).is_none() && plain(line.bytes) == Plain::Text;
        if !is_bare || !strings.is_part(line.bytes) {
            break;
        }
        end = line.offset as usize + line.bytes.len();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_goes_on_while_a_string_of_it_is_open() {
        let event = "    a-1 [000] ..... 1.000001: p: (f+0x0/0x1) s=\"one\ntwo\n\" x=3\n";
        let next = "    a-1 [000] ..... 1.000002: q: x=1\nhello\n";
        let text = format!("{event}{next}");
        assert_eq!(event_bytes(text.as_bytes()), event.len() - 1);
        assert_eq!(event_bytes(next.as_bytes()), next.len() - 7);
        // A sign for inches begins no string.
        let inches = "    a-1 [000] ..... 1.000001: print: 5\" disk\nhello\n";
        assert_eq!(event_bytes(inches.as_bytes()), inches.len() - 7);
        let endless = format!(
            "    a-1 [000] ..... 1.000001: p: s=\"\n{}",
            "x\n".repeat(100)
        );
        assert!(event_bytes(endless.as_bytes()) < endless.len() - 60);
        assert_eq!(event_bytes(b""), 0);
    }
}
