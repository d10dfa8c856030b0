//! Parses the text of a call: parameters, result, strings, numbers.
//!
//! ```text
//! params ")" pad "= " result      split on ", " outside of () [] {} "" and, in strace, fd<path> and /* */
//! ```
//!
//! A text with unbalanced brackets is not split: then `is_closed` is false, and the caller keeps the raw line.

use super::dialect::Dialect;
use super::times::split_duration;

/// Maximum number of parameters; the last one contains the rest of a longer list.
const MOST_PARAMS: usize = 256;

/// The parts of the text after a call's opening parenthesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallText<'a> {
    /// The parameters as text.
    pub params: Vec<&'a [u8]>,
    /// Whether the closing parenthesis was found.
    pub is_closed: bool,
    /// The text after ` = `, without strace's `<seconds>`; `None` if the text ends before it.
    pub result: Option<&'a [u8]>,
    /// Duration from strace's `<seconds>`, in ns.
    pub duration_ns: Option<i64>,
}

/// The result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome<'a> {
    /// The returned number, if the result is a number.
    pub value: Option<i64>,
    /// Name of the error.
    pub error: Option<&'a [u8]>,
    /// The text after value and error: strace's explanation, or MINIX's additions.
    pub rest: &'a [u8],
}

impl Outcome<'_> {
    /// Returns the pid that a fork returned, as strace itself knows the process: `2 /* 24786 in strace's PID NS */`
    /// (`--decode-pids=pidns`) is 24786.
    pub(crate) fn pid(&self) -> Option<u32> {
        let comment = self.rest.strip_prefix(b"/* ").and_then(|rest| {
            let end = memchr::memchr(b' ', rest)?;
            let (number, rest) = rest.split_at(end);
            rest.starts_with(b" in strace's PID NS").then_some(number)
        });
        let value = comment.map_or(self.value, integer)?;
        u32::try_from(value).ok().filter(|&pid| pid > 0)
    }

    /// Returns the number; errors are negative numbers, and -1 is an error whose number is unknown.
    #[must_use]
    pub(super) fn number(&self) -> Option<i32> {
        match self.error {
            Some(error) => Some(super::numbers::error_number(error).map_or(-1, |number| -number)),
            None => self.value.map(|value| {
                i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
            }),
        }
    }
}

/// Splits `text`, which starts after a call's opening parenthesis.
#[must_use]
pub(crate) fn split_call(text: &[u8], dialect: Dialect) -> CallText<'_> {
    let mut call = CallText::default();
    let mut depth = 1_u32;
    let mut start = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    call.is_closed = true;
                    break;
                }
            }
            // The path in `3</path>` may contain brackets and commas.
            b'<' if dialect == Dialect::Strace && follows_descriptor(text, at) => {
                at = angle_end(text, at);
                continue;
            }
            // A comment of strace may contain brackets and commas.
            b'/' if text.get(at + 1) == Some(&b'*') => {
                let rest = text.get(at + 2..).unwrap_or(&[]);
                at = memchr::memmem::find(rest, b"*/").map_or(text.len(), |end| at + end + 4);
                continue;
            }
            b',' if depth == 1
                && text.get(at + 1) == Some(&b' ')
                && call.params.len() < MOST_PARAMS =>
            {
                call.params.push(slice(text, start, at));
                start = at + 2;
            }
            _ => {}
        }
        at += 1;
    }
    let last = slice(text, start, at.min(text.len()));
    if !last.trim_ascii().is_empty() || !call.params.is_empty() {
        call.params.push(last);
    }
    if dialect == Dialect::Minix {
        for param in &mut call.params {
            *param = strip_signals(param);
        }
    }
    if call.is_closed {
        let rest = text.get(at + 1..).unwrap_or(&[]).trim_ascii();
        let (rest, duration) = match dialect {
            Dialect::Strace => split_duration(rest),
            Dialect::Minix => (rest, None),
        };
        call.duration_ns = duration;
        call.result = rest
            .strip_prefix(b"=")
            .map(|result| result.trim_ascii())
            .filter(|result| match dialect {
                Dialect::Strace => !result.is_empty(),
                // A signal that ended the call is printed in the place of its result.
                Dialect::Minix => !matches!(strip_signals(result), b"" | b"<..>"),
            });
    }
    call
}

/// Removes `** SIGNAME ** ` from the start: MINIX prints a signal at the position where it interrupted the printing of
/// the call.
fn strip_signals(mut text: &[u8]) -> &[u8] {
    while let Some(inner) = text.strip_prefix(b"** ")
        && let Some(length) = memchr::memmem::find(inner, b" **")
    {
        text = inner.get(length + 3..).unwrap_or(&[]).trim_ascii_start();
    }
    text
}

fn slice(text: &[u8], start: usize, end: usize) -> &[u8] {
    text.get(start..end).unwrap_or(&[])
}

/// Returns whether a `<` follows a number, a name or its comment: `3<`, `AT_FDCWD<`, `-100 /* AT_FDCWD */<`.
fn follows_descriptor(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or(&[]);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    before.last().is_some_and(is_word) || before.ends_with(b"*/")
}

/// Returns the index after the closing quote of the string that starts at `at`; the text's end if there is none.
#[must_use]
pub(crate) fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    loop {
        let Some(found) = text
            .get(at..)
            .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
        else {
            return text.len();
        };
        at += found;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
}

/// Returns the index after the closing angle bracket of `fd<path>`; `->` inside does not close it.
fn angle_end(text: &[u8], open: usize) -> usize {
    let mut depth = 0_u32;
    let mut at = open;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if text.get(at.wrapping_sub(1)) != Some(&b'-') => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    // This is not the path of a descriptor: skip only the bracket.
    open + 1
}

/// Parses a text that is only a decimal number.
#[must_use]
pub(crate) fn plain_number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses the integer at the start of `text`: `12`, `-5`, `0x1f`, `&0x7000`, octal `0644`; `3</path>` is 3.
#[must_use]
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    let text = text.strip_prefix(b"&").unwrap_or(text);
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (radix, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => (8, rest),
        _ => (10, digits),
    };
    let length = digits
        .iter()
        .take_while(|b| (**b as char).is_digit(radix))
        .count();
    let after = digits.get(length);
    if length == 0 || after.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
        return None;
    }
    let digits = std::str::from_utf8(digits.get(..length)?).ok()?;
    // Pointers above `i64::MAX` keep their bits.
    let value = u64::from_str_radix(digits, radix).ok()?.cast_signed();
    Some(if is_negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Splits `name=value`: strace prints some names, MINIX with `-N` prints all.
#[must_use]
pub(crate) fn split_name(param: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let length = param
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count();
    match (param.get(length), param.get(length + 1)) {
        (Some(b'='), after) if length > 0 && !matches!(after, Some(b'=' | b'>')) => {
            (param.get(..length), param.get(length + 1..).unwrap_or(&[]))
        }
        _ => (None, param),
    }
}

/// Returns the path in `3</path>` or `AT_FDCWD</path>`, still escaped, without the additions of `-yy`
/// (`3</dev/null<char 1:3>>`) and without `(deleted)` after it.
#[must_use]
pub(crate) fn angle_path(param: &[u8]) -> Option<&[u8]> {
    let open = memchr::memchr(b'<', param)?;
    let param = param.strip_suffix(b"(deleted)").unwrap_or(param);
    let inner = param.get(open + 1..)?.strip_suffix(b">")?;
    let end = memchr::memchr(b'<', inner).unwrap_or(inner.len());
    // `-xx` writes all bytes as `\xNN`.
    let is_path = |path: &&[u8]| path.starts_with(b"/") || path.starts_with(b"\\x2f");
    inner.get(..end).filter(is_path)
}

/// Unescapes a quoted string; a string that the tracer cut keeps its dots. `None` if `param` is not a string.
#[must_use]
pub(crate) fn string(param: &[u8], dialect: Dialect) -> Option<Vec<u8>> {
    if param.first() != Some(&b'"') {
        return None;
    }
    let end = string_end(param, 0);
    let inner = param.get(1..end.checked_sub(1)?)?;
    let mut text = match dialect {
        Dialect::Strace => unescape_octal(inner),
        Dialect::Minix => unescape_minix(inner),
    };
    if param.get(end..).is_some_and(|rest| rest.starts_with(b"..")) {
        text.extend_from_slice(b"...");
    }
    Some(text)
}

/// Unescapes a string of strace.
#[must_use]
pub(crate) fn unescape_octal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(escape) = bytes.next() else { break };
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'v' => out.push(0x0b),
            b'f' => out.push(0x0c),
            b'a' => out.push(0x07),
            b'b' => out.push(0x08),
            b'x' => {
                let mut value = 0_u8;
                for _ in 0..2 {
                    if let Some(digit) = bytes.peek().and_then(|b| (*b as char).to_digit(16)) {
                        value = (value << 4) | digit as u8;
                        bytes.next();
                    }
                }
                out.push(value);
            }
            b'0'..=b'7' => {
                let mut value = u32::from(escape - b'0');
                for _ in 0..2 {
                    if let Some(digit) = bytes.peek().and_then(|b| (*b as char).to_digit(8)) {
                        value = value * 8 + digit;
                        bytes.next();
                    }
                }
                out.push(value as u8);
            }
            other => out.push(other),
        }
    }
    out
}

/// Unescapes a string of MINIX, which does not escape backslashes: only `\"`, `\0 \t \n \r` and `\xHH` (upper case)
/// count as escapes.
fn unescape_minix(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at + 1..).unwrap_or(&[]);
        let hex = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'A'..=b'F' => Some(b - b'A' + 10),
            _ => None,
        };
        let (value, length) = match (byte, rest) {
            (b'\\', [b'"', ..]) => (b'"', 2),
            (b'\\', [b'0', ..]) => (0, 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b'r', ..]) => (b'\r', 2),
            (b'\\', [b'x', high, low, ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (byte, 1),
            },
            _ => (byte, 1),
        };
        out.push(value);
        at += length;
    }
    out
}

/// Returns the elements of `[a, b, ...]`; dots for omitted elements count as one element.
#[must_use]
pub(crate) fn elements(param: &[u8], dialect: Dialect) -> Vec<&[u8]> {
    let Some(inner) = param.strip_prefix(b"[") else {
        return Vec::new();
    };
    split_call(inner, dialect).params
}

/// Parses a result: `3</path>`, `-1 ENOENT (No such ...)`, `-1 [ENOENT]`, `<ipc> -1 [E]`, `?`, `0 (euid=0)`.
#[must_use]
pub(crate) fn outcome(result: &[u8], dialect: Dialect) -> Outcome<'_> {
    let result = match dialect {
        Dialect::Strace => result,
        Dialect::Minix => strip_signals(result),
    };
    let result = result.strip_prefix(b"<ipc> ").unwrap_or(result);
    let value_length = match (dialect, memchr::memchr(b'<', result)) {
        (Dialect::Strace, Some(angle)) if follows_descriptor(result, angle) => {
            let end = angle_end(result, angle);
            end.max(memchr::memchr(b' ', result).unwrap_or(end).min(end))
        }
        _ => memchr::memchr(b' ', result).unwrap_or(result.len()),
    };
    let value = integer(slice(result, 0, value_length));
    let rest = result.get(value_length..).unwrap_or(&[]).trim_ascii();
    let (error, rest) = match dialect {
        Dialect::Strace => {
            let length = rest
                .iter()
                .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || **b == b'_')
                .count();
            let error = slice(rest, 0, length);
            if error.starts_with(b"E") {
                (Some(error), slice(rest, length, rest.len()).trim_ascii())
            } else {
                (None, rest)
            }
        }
        Dialect::Minix => match (value, rest.strip_prefix(b"[")) {
            (Some(-1), Some(inner)) => match memchr::memchr(b']', inner) {
                Some(end) => (
                    Some(slice(inner, 0, end)),
                    slice(inner, end + 1, inner.len()).trim_ascii(),
                ),
                None => (None, rest),
            },
            _ => (None, rest),
        },
    };
    Outcome { value, error, rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'a>(call: &CallText<'a>) -> Vec<&'a str> {
        let texts = call.params.iter();
        texts.map(|p| std::str::from_utf8(p).unwrap()).collect()
    }

    #[test]
    fn parameters_split_outside_of_quotes_and_brackets() {
        let text =
            br#""a, b) = 3 {x}", {x=[1, 2], y="]"}, 3</a (b, c>, /* ), */ NULL) = 5 <0.000012>"#;
        let call = split_call(text, Dialect::Strace);
        assert_eq!(
            texts(&call),
            [
                r#""a, b) = 3 {x}""#,
                r#"{x=[1, 2], y="]"}"#,
                "3</a (b, c>",
                "/* ), */ NULL"
            ]
        );
        assert_eq!(call.result, Some(&b"5"[..]));
        assert_eq!(call.duration_ns, Some(12_000));
    }

    #[test]
    fn a_call_without_parameters_or_result() {
        let call = split_call(b")", Dialect::Minix);
        assert!(call.is_closed && call.params.is_empty() && call.result.is_none());
        assert!(!split_call(b"{a, [b, c", Dialect::Minix).is_closed);
        assert!(!split_call(b"\"never ends) = 3", Dialect::Strace).is_closed);
    }

    #[test]
    fn a_socket_pair_in_angles_does_not_end_at_its_arrow() {
        let call = split_call(
            b"3<TCP:[127.0.0.1:1->127.0.0.1:2]>, \"x\", 1) = 1",
            Dialect::Strace,
        );
        assert_eq!(call.params.len(), 3);
        assert_eq!(call.result, Some(&b"1"[..]));
    }

    #[test]
    fn results_of_both_dialects() {
        let strace = |text: &'static [u8]| outcome(text, Dialect::Strace);
        let got = strace(b"-1 ENOENT (No such file or directory) (INJECTED)");
        assert_eq!((got.value, got.error), (Some(-1), Some(&b"ENOENT"[..])));
        assert_eq!(got.number(), Some(-2));
        assert_eq!(strace(b"3</etc/a b (c>").value, Some(3));
        let restart = strace(b"? ERESTARTSYS (To be restarted if SA_RESTART is set)");
        assert_eq!(restart.error, Some(&b"ERESTARTSYS"[..]));
        assert_eq!(restart.value, None);
        assert_eq!(strace(b"0x7f01 (flags O_RDONLY)").value, Some(0x7f01));
        let minix = |text: &'static [u8]| outcome(text, Dialect::Minix);
        assert_eq!(minix(b"-1 [ENOENT]").number(), Some(-2));
        assert_eq!(minix(b"<ipc> -1 [123]").number(), Some(-123));
        assert_eq!(minix(b"12685 (ppid=12684)").value, Some(12685));
        assert_eq!(minix(b"12685 (ppid=12684)").rest, b"(ppid=12684)");
        assert_eq!(minix(b"** SIGALRM ** -1 [EINTR]").number(), Some(-4));
        assert_eq!(minix(b"<fault>").value, None);
        assert_eq!(minix(b"1 ([3])").rest, b"([3])");
    }

    #[test]
    fn strings_unescape_as_each_tool_escapes() {
        let strace = |text: &[u8]| string(text, Dialect::Strace);
        assert_eq!(strace(br#""a\33\\\"\x41\n""#).unwrap(), b"a\x1b\\\"A\n");
        assert_eq!(strace(br#""abc"..."#).unwrap(), b"abc...");
        assert_eq!(strace(b"NULL"), None);
        let minix = |text: &[u8]| string(text, Dialect::Minix);
        assert_eq!(
            minix(br#""q \" b\s\0\x7F".."#).unwrap(),
            b"q \" b\\s\0\x7f..."
        );
        assert_eq!(minix(br#"""#), None);
    }

    #[test]
    fn numbers_and_names() {
        assert_eq!(integer(b"-5"), Some(-5));
        assert_eq!(integer(b"0644"), Some(0o644));
        assert_eq!(integer(b"&0xff"), Some(255));
        assert_eq!(integer(b"0xffffffffffffffff"), Some(-1));
        assert_eq!(integer(b"3</x>"), Some(3));
        assert_eq!(integer(b"12abc"), None);
        assert_eq!(split_name(b"flags=3"), (Some(&b"flags"[..]), &b"3"[..]));
        assert_eq!(split_name(b"a => b").0, None);
        assert_eq!(
            elements(br#"["sh", "-c", "x"...]"#, Dialect::Strace).len(),
            3
        );
    }
}
