//! Cache of line starts: `0: upid,cpu,seconds,` is the same in most lines of a task, so its numbers need not be parsed
//! again.

use super::line::{Payload, Second, parse_line, parse_rest, parse_second};

const PREFIX: &[u8; 3] = b"0: ";
/// Longer starts are always parsed.
const MOST_BYTES: usize = 32;
const WORDS: usize = MOST_BYTES / 8;
/// Number of cached starts.
const SLOTS: usize = 64;

/// See the module's documentation.
pub(super) struct Seconds {
    slots: [Slot; SLOTS],
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The bytes of the start, and masks of the bytes that count; all zero if the slot is empty.
    words: [u64; WORDS],
    masks: [u64; WORDS],
    /// Length of the start in bytes, with the prefix.
    length: usize,
    second: Second,
}

impl Seconds {
    pub(super) fn new() -> Seconds {
        Seconds {
            slots: [Slot::default(); SLOTS],
        }
    }

    /// Parses a line like [`parse_line`].
    #[inline]
    pub(super) fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Payload<'a>> {
        let Some(head) = line.first_chunk::<MOST_BYTES>() else {
            return parse_line(line);
        };
        let words = words_of(head);
        let slot = &mut self.slots[place(words)];
        if slot.length > 0 && slot.begins(words) {
            return match parse_rest(line, slot.length, slot.second) {
                None => parse_line(line),
                read => read,
            };
        }
        slot.learn(words, line);
        parse_line(line)
    }
}

impl Slot {
    /// Returns whether the line with these first words has this start.
    #[inline]
    fn begins(&self, words: [u64; WORDS]) -> bool {
        let ([a, b, c, d], [e, f, g, h], masks) = (words, self.words, self.masks);
        (a ^ e) & masks[0] | (b ^ f) & masks[1] | (c ^ g) & masks[2] | (d ^ h) & masks[3] == 0
    }

    /// Stores the start of a line, if it has one.
    fn learn(&mut self, words: [u64; WORDS], line: &[u8]) {
        let Some(rest) = line.strip_prefix(PREFIX) else {
            return;
        };
        let Some((second, used)) = parse_second(rest) else {
            return;
        };
        let length = PREFIX.len() + used;
        if length > MOST_BYTES {
            return;
        }
        let mask = |at: usize| match length.saturating_sub(8 * at) {
            0 => 0,
            bytes => u64::MAX >> (64 - 8 * bytes.min(8)),
        };
        *self = Slot {
            words,
            masks: std::array::from_fn(mask),
            length,
            second,
        };
    }
}

/// Returns the first bytes of a line as words.
#[inline]
fn words_of(head: &[u8; MOST_BYTES]) -> [u64; WORDS] {
    match head.as_chunks::<8>().0 {
        [a, b, c, d] => [a, b, c, d].map(|word| u64::from_le_bytes(*word)),
        _ => [0; WORDS],
    }
}

/// Returns the slot of a start: a hash of the first digits of the upid, which follow the prefix.
#[inline]
fn place(words: [u64; WORDS]) -> usize {
    let digits = words[0] >> 24 | words[1] << 40;
    (digits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_without_memory() {
        let mut seconds = Seconds::new();
        let tails = [
            "1!FN|/a/path/that/is/long/enough/for/a/word",
            "999999999!Close|fd=3 and some more of it, so that it is long",
            "1000000000!Close|fd=3 and some more of it, so that it is long",
            "5!A[12]an argument that is not short either",
            "77!Open|fnamesize=1,forigsize=1,flags=0,mode=0,fd=3",
            "78!|no tag in this line, which is no event",
            "!FN|no time in this line, which is no event",
            "79!FN",
        ];
        for _ in 0..2 {
            for upid in [
                "1",
                "4194604",
                "12583215",
                "419430400123",
                "9223372036850581897",
            ] {
                for middle in [
                    ",0,38,",
                    ",12,4123456,",
                    ",70000,38,",
                    ",0,99999999999,",
                    ",,38,",
                ] {
                    for prefix in ["0: ", "", "0x0: ", " sh-1 [000] 0: "] {
                        for tail in tails {
                            let line = format!("{prefix}{upid}{middle}{tail}");
                            let read = seconds.parse(line.as_bytes());
                            assert_eq!(read, parse_line(line.as_bytes()), "{line}");
                        }
                    }
                }
            }
        }
    }
}
