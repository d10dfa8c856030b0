//! Parses one line of an etrace file into task, CPU, time, tag and text.
//!
//! ```text
//! [ftrace context] [0: | 0x0: ] upid,cpu,seconds,nanoseconds!TAG|text      a call, or a whole text
//!                                                            TAG[n]text    piece n of a text, or argument n
//!                                                            TAG_end|      the end of a text in pieces
//! ```
//!
//! Nanoseconds are not padded: `38,90983795` is 38.090983795 s. The tag ends at the first `|` or `[`; the text is the
//! raw bytes up to the line's end. `calls` describes how lines with different tags form a call.

use super::digits::eight_digits;
use super::sorts::{Slot, Sort};
use crate::base::Leading;

/// Contents of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payload<'a> {
    /// The task: (serial << bits) | pid.
    pub upid: i64,
    /// CPU on which the line was printed.
    pub cpu: u16,
    /// Time in ns.
    pub time: i64,
    /// Meaning of the tag.
    pub word: Word,
    /// The tag's bytes in the file.
    pub tag: &'a [u8],
    /// The number in brackets, if the tag has one.
    pub number: Option<u64>,
    /// The rest of the line.
    pub text: &'a [u8],
}

impl<'a> Payload<'a> {
    /// Returns how many bytes of `line`, which contains this event, are before the event's tag.
    #[inline]
    #[must_use]
    pub(super) fn bytes_before_tag(&self, line: &[u8]) -> usize {
        (self.tag.as_ptr() as usize).saturating_sub(line.as_ptr() as usize)
    }

    /// Returns the text after the event if the next event follows there, because the tracer omitted the line end.
    #[inline]
    #[must_use]
    pub(super) fn rest_of_line(&self) -> Option<&'a [u8]> {
        (self.word == Word::ContEnd && !self.text.is_empty()).then_some(self.text)
    }
}

/// Meaning of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Starts a call.
    Call(Sort),
    /// A text of a call, or a piece of it.
    Text(Slot),
    /// Ends a text in pieces.
    TextEnd,
    /// Another line of the latest text.
    Cont,
    /// Ends a [`Word::Cont`] line.
    ContEnd,
    /// Ends a program's arguments.
    EndOfArgs,
    /// An unknown tag.
    Unknown,
}

/// Maximum length of a tag in bytes.
const MOST_TAG_BYTES: usize = 32;
/// The bytes that may be in a tag.
const IN_TAGS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};
/// Maximum length of ftrace's context at the start of a line, bytes.
const MOST_CONTEXT_BYTES: usize = 200;
const NS_PER_SECOND: u64 = 1_000_000_000;

/// Parses a line, with any context before its event; `None` if the line contains no event.
#[inline]
#[must_use]
pub(crate) fn parse_line(line: &[u8]) -> Option<Payload<'_>> {
    if let Some(rest) = line.strip_prefix(b"0: ")
        && let Some(payload) = parse_payload(rest)
    {
        return Some(payload);
    }
    parse_other(line)
}

#[cold]
fn parse_other(line: &[u8]) -> Option<Payload<'_>> {
    if let Some(payload) = parse_payload(line) {
        return Some(payload);
    }
    let head = line.get(..MOST_CONTEXT_BYTES).unwrap_or(line);
    memchr::memmem::find_iter(head, b"0: ")
        .chain(memchr::memmem::find_iter(head, b"0x0: "))
        .find_map(|at| {
            let is_start = at == 0 || line.get(at - 1).is_some_and(|&byte| byte == b' ');
            let rest = line.get(at..).filter(|_| is_start)?;
            let rest = rest
                .strip_prefix(b"0: ")
                .or_else(|| rest.strip_prefix(b"0x0: "))?;
            parse_payload(rest)
        })
}

/// Parses an event without context, as it is in the text of a `print` event of a trace.dat.
#[inline]
#[must_use]
pub(crate) fn parse_payload(bytes: &[u8]) -> Option<Payload<'_>> {
    let mut at = 0;
    let upid = number_until(bytes, &mut at, b',')?;
    let cpu = number_until(bytes, &mut at, b',')?;
    let seconds = number_until(bytes, &mut at, b',')?;
    let nanos = number_until(bytes, &mut at, b'!')?;
    let nanos = Some(nanos).filter(|&nanos| nanos < NS_PER_SECOND)?;
    let time = seconds.checked_mul(NS_PER_SECOND)?.checked_add(nanos)?;
    let stamp = Stamp {
        upid: i64::try_from(upid).ok()?,
        cpu: u16::try_from(cpu).ok()?,
        time: i64::try_from(time).ok()?,
    };
    parse_body(bytes.get(at..)?, stamp)
}

/// The numbers at the start of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// See [`Payload::upid`].
    pub upid: i64,
    /// See [`Payload::cpu`].
    pub cpu: u16,
    /// See [`Payload::time`].
    pub time: i64,
}

/// Parses `TAG|text`, the rest of an event after its numbers, up to the end of the line.
#[inline]
pub(super) fn parse_body(body: &[u8], stamp: Stamp) -> Option<Payload<'_>> {
    let Stamp { upid, cpu, time } = stamp;
    if let Some(Leading {
        value: word,
        length,
    }) = frequent(body)
    {
        let (tag, text) = (body.get(..length)?, body.get(length + 1..)?);
        return Some(Payload {
            upid,
            cpu,
            time,
            word,
            tag,
            number: None,
            text,
        });
    }
    let mut length = 0;
    while let Some(&byte) = body.get(length)
        && IN_TAGS[usize::from(byte)]
    {
        length += 1;
        if length > MOST_TAG_BYTES {
            return None;
        }
    }
    if length == 0 {
        return None;
    }
    let (tag, rest) = body.split_at_checked(length)?;
    let (number, text) = match rest.split_first() {
        None => (None, rest),
        Some((b'|', text)) => (None, text),
        Some((b'[', rest)) => {
            let mut at = 0;
            let number = number_until(rest, &mut at, b']')?;
            (Some(number), rest.get(at..)?)
        }
        Some(_) => return None,
    };
    Some(Payload {
        upid,
        cpu,
        time,
        word: word_of(tag),
        tag,
        number,
        text,
    })
}

/// Returns meaning and length of a frequent tag that ends with `|`.
#[inline]
fn frequent(body: &[u8]) -> Option<Leading<Word>> {
    // A word with a tag and its `|` in the low bytes.
    const fn word(tag: &[u8]) -> u64 {
        let mut word = 0;
        let mut at = 0;
        while at < tag.len() {
            word |= (tag[at] as u64) << (8 * at);
            at += 1;
        }
        word
    }
    const PATH: u64 = word(b"FN|");
    const ORIGINAL: u64 = word(b"FO|");
    const OPEN: u64 = word(b"Open|");
    const CLOSE: u64 = word(b"Close|");
    let found = |value, length| Some(Leading { value, length });
    let start = u64::from_le_bytes(*body.first_chunk::<8>()?);
    match start & 0xff_ffff {
        PATH => return found(Word::Text(Slot::Path), 2),
        ORIGINAL => return found(Word::Text(Slot::Original), 2),
        _ => {}
    }
    if start & 0xff_ffff_ffff == OPEN {
        return found(Word::Call(Sort::Open), 4);
    }
    match start & 0xffff_ffff_ffff {
        CLOSE => found(Word::Call(Sort::Close), 5),
        _ => None,
    }
}

/// Parses the decimal number at `at`, which must end with `end`; advances `at` past `end`. Reads eight digits at once.
#[inline]
fn number_until(bytes: &[u8], at: &mut usize, end: u8) -> Option<u64> {
    let start = *at;
    let mut next = start;
    let mut value = 0_u64;
    if let Some(chunk) = bytes.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
        let digits = eight_digits(*chunk);
        value = digits.value;
        next = start + digits.length;
    }
    loop {
        let byte = *bytes.get(next)?;
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if byte != end || next == start || next - start > 19 {
                return None;
            }
            *at = next + 1;
            return Some(value);
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        next += 1;
    }
}

#[inline]
fn word_of(tag: &[u8]) -> Word {
    // Frequent tags with other endings first.
    match tag {
        b"A" => return Word::Text(Slot::Argument),
        b"Cont" => return Word::Cont,
        b"Cont_end" => return Word::ContEnd,
        b"End_of_args" => return Word::EndOfArgs,
        b"PI" => return Word::Text(Slot::Interpreter),
        b"PP" => return Word::Text(Slot::Program),
        b"CW" => return Word::Text(Slot::Directory),
        b"SchedFork" => return Word::Call(Sort::SchedFork),
        b"SysClone" => return Word::Call(Sort::SysClone),
        b"New_proc" => return Word::Call(Sort::NewProc),
        b"Exit" => return Word::Call(Sort::Exit),
        b"Dup" => return Word::Call(Sort::Dup),
        _ => {}
    }
    if let Some(sort) = Sort::from_tag(tag) {
        return Word::Call(sort);
    }
    if let Some(slot) = Slot::from_tag(tag) {
        return Word::Text(slot);
    }
    match tag.strip_suffix(b"_end").and_then(Slot::from_tag) {
        Some(_) => Word::TextEnd,
        None => Word::Unknown,
    }
}

/// A line about lost events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostLine {
    pub cpu: u16,
    /// How many events were lost, if the kernel knows it.
    pub lost: Option<u64>,
}

/// Parses `CPU:n [LOST m EVENTS]`, or `CPU:n [LOST EVENTS]` if the kernel does not know the count.
#[must_use]
pub(crate) fn parse_lost(line: &[u8]) -> Option<LostLine> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let (cpu, rest) = text.strip_prefix("CPU:")?.split_once(' ')?;
    let cpu = cpu.parse::<u16>().ok()?;
    let count = rest.trim().strip_prefix("[LOST")?;
    let count = count.strip_suffix("EVENTS]")?.trim();
    let lost = match count.is_empty() {
        true => None,
        false => Some(count.parse().ok()?),
    };
    Some(LostLine { cpu, lost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_any_prefix() {
        let plain = parse_line(b"9183,2,38,90983795!SchedFork|pid=7").unwrap();
        assert_eq!(
            (plain.upid, plain.cpu, plain.time),
            (9183, 2, 38_090_983_795)
        );
        assert_eq!(plain.word, Word::Call(Sort::SchedFork));
        assert_eq!(plain.text, b"pid=7");
        for prefix in [
            "0: ",
            "0x0: ",
            "  my sh-0: -938     [002] ...1.   105.251041: 0: ",
            "           <...>-12    [000] .....    12.5: print:                0x0: ",
        ] {
            let line = format!("{prefix}9183,2,38,90983795!SchedFork|pid=7");
            let read = parse_line(line.as_bytes());
            assert_eq!(read.map(|read| read.time), Some(38_090_983_795), "{prefix}");
        }
        for bad in [
            "",
            "INITCWD=/x",
            "0: 1,2,3!Exit|",
            "0: 1,2,3,4000000000!Exit|",
            "0: ,,,!A|",
        ] {
            assert_eq!(parse_line(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn numbers_of_any_length_are_read() {
        let mut number = 1_u64;
        for digits in 1..=19_usize {
            for value in [number, number * 10 - 1, number + 3 % number.max(2)] {
                let text = format!("{value},17!x");
                let mut at = 0;
                assert_eq!(number_until(text.as_bytes(), &mut at, b','), Some(value));
                assert_eq!(at, value.to_string().len() + 1, "{digits}");
            }
            number = number.saturating_mul(10).min(u64::MAX / 10);
        }
        for bad in [
            "",
            ",",
            "12",
            "1:2,aaaaaaaa",
            "12345678901234567890,",
            "+1,345678",
            "1/,45678",
        ] {
            assert_eq!(number_until(bad.as_bytes(), &mut 0, b','), None, "{bad}");
        }
    }

    #[test]
    fn the_first_of_bar_and_bracket_ends_the_tag() {
        let whole = parse_payload(b"1,0,0,1!FN|/x/br[0]ack").unwrap();
        assert_eq!((whole.number, whole.text), (None, &b"/x/br[0]ack"[..]));
        let part = parse_payload(b"1,0,0,1!A[12]has|pipe").unwrap();
        assert_eq!((part.number, part.text), (Some(12), &b"has|pipe"[..]));
        assert_eq!(
            parse_payload(b"1,0,0,1!FN_end|").unwrap().word,
            Word::TextEnd
        );
        assert_eq!(
            parse_payload(b"1,0,0,1!Cont_end").unwrap().word,
            Word::ContEnd
        );
        assert_eq!(
            parse_payload(b"1,0,0,1!Novel|x").unwrap().word,
            Word::Unknown
        );
    }

    #[test]
    fn holes_are_read() {
        let lost = parse_lost(b"CPU:3 [LOST 1547 EVENTS]");
        let wanted = |lost| Some(LostLine { cpu: 3, lost });
        assert_eq!(lost, wanted(Some(1547)));
        assert_eq!(parse_lost(b"CPU:3 [LOST EVENTS]"), wanted(None));
        for bad in [
            "CPU:3 [LOST x EVENTS]",
            "CPU:3 [EVENTS",
            "CPU:x [LOST EVENTS]",
        ] {
            assert_eq!(parse_lost(bad.as_bytes()), None, "{bad}");
        }
    }
}
