//! A position in JSON text: skips values and returns strings and scalars as the bytes that the file has.
//!
//! Touches each byte once and allocates nothing. What is between quotes may be any bytes, also raw control characters
//! and bytes that are no UTF-8: many writers do not escape them.

/// Deepest nesting of values that is read.
pub(super) const MOST_DEPTH: u32 = 120;

/// A position in JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    /// The offset of the next byte. After a failure: where the text is not JSON, or the end of the text.
    pub(super) at: usize,
}

/// A value as the file has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    /// No value, or `null`.
    #[default]
    None,
    /// What is between the quotes of a string.
    Text(Quoted<'a>),
    /// A number, `true` or `false`.
    Word(&'a [u8]),
    /// An object or array, with its brackets.
    Nested(&'a [u8]),
}

/// The bytes between the quotes of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    /// The bytes as the file has them.
    pub(super) bytes: &'a [u8],
    /// Whether there is a backslash in them.
    pub(super) has_escape: bool,
}

/// Returns whether a byte is white space between values.
#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Returns the index of the first quote or backslash in eight bytes, 8 if there is none.
#[inline]
fn first_mark(chunk: [u8; 8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let word = u64::from_le_bytes(chunk);
    // The lowest byte that equals the mark is found exactly; only bytes above it may be taken for one.
    let equals = |mark: u8| {
        let other = word ^ (ONES * u64::from(mark));
        other.wrapping_sub(ONES) & !other & HIGHS
    };
    ((equals(b'"') | equals(b'\\')).trailing_zeros() / 8) as usize
}

impl<'a> Scan<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Scan<'a> {
        Scan { bytes, at }
    }

    /// Returns the next byte without passing it.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes white space and returns the next byte without passing it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(byte) if is_space(byte) => self.at += 1,
                other => return other,
            }
        }
    }

    /// Passes white space and this byte; `None` if another byte is next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Passes white space and commas, and returns the next byte.
    #[inline]
    pub(super) fn next_after_commas(&mut self) -> Option<u8> {
        loop {
            match self.next() {
                Some(b',') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Passes a string that starts at the next byte.
    #[inline]
    pub(super) fn string(&mut self) -> Option<Quoted<'a>> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        let mut has_escape = false;
        loop {
            let rest = self.bytes.get(at..).unwrap_or(&[]);
            let step = match rest.first_chunk::<8>() {
                Some(chunk) => first_mark(*chunk),
                None => match rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
                    Some(found) => found,
                    None => {
                        self.at = self.bytes.len();
                        return None;
                    }
                },
            };
            at += step;
            match self.bytes.get(at) {
                _ if step == 8 => {
                    // A long string: the library's search is faster from here on.
                    if at - start >= 32 {
                        let rest = self.bytes.get(at..).unwrap_or(&[]);
                        match memchr::memchr2(b'"', b'\\', rest) {
                            Some(found) => at += found,
                            None => {
                                self.at = self.bytes.len();
                                return None;
                            }
                        }
                    }
                }
                Some(b'"') => {
                    self.at = at + 1;
                    let bytes = self.bytes.get(start..at)?;
                    return Some(Quoted { bytes, has_escape });
                }
                _ => {
                    has_escape = true;
                    at += 2;
                }
            }
        }
    }

    /// Passes a number, `true`, `false` or `null`: all bytes up to the next that ends a value.
    #[inline]
    fn word(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
        while self.peek().is_some_and(is_part) {
            self.at += 1;
        }
        self.bytes
            .get(start..self.at)
            .filter(|word| !word.is_empty())
    }

    /// Passes white space and a value of any kind.
    #[inline]
    pub(super) fn value(&mut self) -> Option<Raw<'a>> {
        match self.next()? {
            b'"' => self.string().map(Raw::Text),
            b'{' | b'[' => self.nested().map(Raw::Nested),
            _ => match self.word()? {
                b"null" => Some(Raw::None),
                word => Some(Raw::Word(word)),
            },
        }
    }

    /// Passes an object or array that starts at the next byte, by its brackets and strings alone.
    #[inline]
    fn nested(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        // One bit for each open bracket, the innermost lowest: whether it is a brace.
        let mut open = 0_u128;
        let mut depth = 0_u32;
        loop {
            match self.peek()? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                bracket @ (b'{' | b'[') => {
                    if depth == MOST_DEPTH {
                        return None;
                    }
                    depth += 1;
                    open = open << 1 | u128::from(bracket == b'{');
                }
                bracket @ (b'}' | b']') => {
                    if (open & 1 == 1) != (bracket == b'}') {
                        return None;
                    }
                    depth -= 1;
                    open >>= 1;
                    if depth == 0 {
                        self.at += 1;
                        return self.bytes.get(start..self.at);
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}

/// Iterates over the members of an object that starts at the first byte.
///
/// Stops at the end of the object, or where the text is not JSON.
pub(super) struct Members<'a> {
    scan: Scan<'a>,
}

impl<'a> Members<'a> {
    /// Returns the members of an object; none if `object` is no object.
    pub(super) fn of(object: &'a [u8]) -> Members<'a> {
        let is_object = object.first() == Some(&b'{');
        let at = if is_object { 1 } else { object.len() };
        Members {
            scan: Scan::new(object, at),
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Quoted<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.scan.next_after_commas()?;
        let key = self.scan.string()?;
        self.scan.expect(b':')?;
        Some((key, self.scan.value()?))
    }
}

/// Iterates over the elements of an array that starts at the first byte; stops as [`Members`] does.
pub(super) struct Elements<'a> {
    scan: Scan<'a>,
}

impl<'a> Elements<'a> {
    /// Returns the elements of an array; none if `array` is no array.
    pub(super) fn of(array: &'a [u8]) -> Elements<'a> {
        let is_array = array.first() == Some(&b'[');
        let at = if is_array { 1 } else { array.len() };
        Elements {
            scan: Scan::new(array, at),
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        match self.scan.next_after_commas()? {
            b']' => None,
            _ => self.scan.value(),
        }
    }
}

impl<'a> Raw<'a> {
    /// Returns the string; `None` if the value is none.
    pub(super) fn text(self) -> Option<Quoted<'a>> {
        match self {
            Raw::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns what is between the quotes of a string, or a number or word; empty for other values.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Raw::Text(text) => text.bytes,
            Raw::Word(word) => word,
            Raw::None | Raw::Nested(_) => &[],
        }
    }

    /// Returns the bytes of an object or array; empty for other values.
    pub(super) fn nested(self) -> &'a [u8] {
        match self {
            Raw::Nested(bytes) => bytes,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_passed_whole() {
        let long = format!("\"{}\\\"x\"", "a".repeat(100));
        for value in [
            "\"\"",
            "\"a\"",
            "\"1234567\"",
            "\"12345678\"",
            "\"a\\\\\"",
            "\"\\\"\"",
            "\"raw\nline\"",
            "12.5e-3",
            "true",
            "[]",
            "{\"a\":[1,{\"b\":\"]}\"}]}",
            &long,
        ] {
            let text = format!(" {value} ,");
            let mut scan = Scan::new(text.as_bytes(), 0);
            assert!(scan.value().is_some(), "{value}");
            assert_eq!(scan.at, value.len() + 1, "{value}");
        }
    }

    #[test]
    fn what_is_not_json_fails_where_it_is_wrong() {
        let deep = "[".repeat(200);
        for (text, at) in [
            ("\"open", 5),
            ("[1,2", 4),
            ("[}", 1),
            ("{\"a\":]", 5),
            (":", 0),
            (deep.as_str(), MOST_DEPTH as usize),
        ] {
            let mut scan = Scan::new(text.as_bytes(), 0);
            assert_eq!(scan.value(), None, "{text}");
            assert_eq!(scan.at, at, "{text}");
        }
    }

    #[test]
    fn members_and_elements_are_walked() {
        let object = b"{\"a\": 1, \"b\":[true,null,\"x\"],}";
        let members: Vec<_> = Members::of(object).map(|(key, _)| key.bytes).collect();
        assert_eq!(members, [&b"a"[..], b"b"]);
        let array = Members::of(object).last().map(|(_, value)| value.nested());
        let elements: Vec<_> = Elements::of(array.unwrap_or(&[])).collect();
        assert_eq!(elements.len(), 3);
        assert_eq!(elements.last().map(|last| last.bytes()), Some(&b"x"[..]));
    }
}
