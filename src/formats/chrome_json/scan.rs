//! A position in JSON text: skips values and returns strings and scalars as bytes of the file.
//!
//! Reads each byte once, except behind errors, and allocates nothing, except for values that are nested deeper than 128.
//! A string may contain any bytes, also raw control characters and bytes that are not UTF-8: many writers do not escape
//! them.

/// Maximum nesting of values that is read.
const MOST_DEPTH: u32 = 1 << 16;
/// Maximum number of bytes behind an error in which the brackets of a value may match.
const NEAR_FAULT: usize = 1 << 10;

/// A position in JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    /// The offset of the next byte. After a failure: the offset of the error, or the end of the text.
    pub(super) at: usize,
    /// The offset of an error inside a value that was read nevertheless.
    pub(super) fault: Option<usize>,
}

/// A value as it is in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Raw<'a> {
    /// No value, or `null`.
    #[default]
    None,
    /// The bytes between the quotes of a string.
    Text(Quoted<'a>),
    /// A number, `true` or `false`.
    Word(&'a [u8]),
    /// An object or array, with its brackets.
    Nested(&'a [u8]),
}

/// The bytes between the quotes of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    /// The bytes in the file.
    pub(super) bytes: &'a [u8],
    /// Whether the bytes contain a backslash.
    pub(super) has_escape: bool,
}

/// Class of white space. Each class of bytes is one bit.
const SPACE: u8 = 1;
/// Class of bytes of a number or word.
const WORD: u8 = 2;

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b' ' | b'\n' | b'\r' | b'\t' => SPACE,
            b'.' | b'-' | b'+' => WORD,
            byte if byte.is_ascii_alphanumeric() => WORD,
            _ => 0,
        };
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

/// Returns whether a byte belongs to a class.
#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASSES
        .get(usize::from(byte))
        .is_some_and(|classes| classes & class != 0)
}

/// Returns the high bit of each of eight bytes that is a quote or a backslash. The lowest bit is certain; bytes above
/// it may be reported wrongly.
#[inline]
fn marks(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let equals = |mark: u8| {
        let other = word ^ (ONES * u64::from(mark));
        other.wrapping_sub(ONES) & !other
    };
    (equals(b'"') | equals(b'\\')) & HIGHS
}

impl<'a> Scan<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Scan<'a> {
        Scan {
            bytes,
            at,
            fault: None,
        }
    }

    /// Returns the next byte without skipping it.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Skips white space and returns the next byte without skipping it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(byte) if is(byte, SPACE) => self.at += 1,
                other => return other,
            }
        }
    }

    /// Skips white space and this byte; `None` if another byte is next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    /// Skips white space and commas, and returns the next byte without skipping it.
    #[inline]
    pub(super) fn next_after_commas(&mut self) -> Option<u8> {
        loop {
            match self.next() {
                Some(b',') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Reads a string that starts at the next byte.
    #[inline]
    pub(super) fn string(&mut self) -> Option<Quoted<'a>> {
        let rest = self.bytes.get(self.at..)?;
        let (&[b'"'], inside) = rest.split_first_chunk()? else {
            return None;
        };
        // Most strings end in the first eight bytes.
        if let Some(chunk) = inside.first_chunk::<8>() {
            let found = marks(u64::from_le_bytes(*chunk));
            let length = (found.trailing_zeros() / 8) as usize;
            if found != 0 && chunk.get(length) == Some(&b'"') {
                self.at += length + 2;
                return Some(Quoted {
                    bytes: inside.get(..length)?,
                    has_escape: false,
                });
            }
        }
        self.long_string(inside)
    }

    /// Reads a string; `inside` are the bytes after its first quote.
    fn long_string(&mut self, inside: &'a [u8]) -> Option<Quoted<'a>> {
        let mut has_escape = false;
        let mut length = 0;
        loop {
            let found = memchr::memchr2(b'"', b'\\', inside.get(length..).unwrap_or(&[]));
            let Some(found) = found else {
                self.at = self.bytes.len();
                return None;
            };
            length += found;
            if inside.get(length) == Some(&b'"') {
                self.at += length + 2;
                let bytes = inside.get(..length)?;
                return Some(Quoted { bytes, has_escape });
            }
            has_escape = true;
            length += 2;
        }
    }

    /// Reads a number, `true`, `false` or `null`: all bytes up to one that ends a value.
    #[inline]
    fn word(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|&byte| !is(byte, WORD));
        let length = length.unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).filter(|word| !word.is_empty())
    }

    /// Skips white space and reads a value of any kind.
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

    /// Reads an object or array that starts at the next byte. If it is not JSON, but its brackets match until shortly
    /// behind the error, it is read nevertheless, and [`Scan::fault`] is the error.
    #[inline]
    fn nested(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        let mut inside = Inside::default();
        if self.item(&mut inside).is_none() {
            let fault = self.at;
            self.close(&mut inside, fault.saturating_add(NEAR_FAULT))?;
            self.fault = self.fault.or(Some(fault));
        }
        self.bytes.get(start..self.at)
    }

    /// Passes over the object or array that starts at the next byte. `None` if it is not JSON: then the scan is at the
    /// error, and `inside` tells what it is in. Commas too many are no error.
    pub(super) fn item(&mut self, inside: &mut Inside) -> Option<()> {
        let mut wanted = Wanted::Value;
        loop {
            let byte = self.next()?;
            wanted = match (byte, wanted) {
                (b'"', Wanted::Value | Wanted::ValueOrEnd) => {
                    inside.string = Some(self.at);
                    self.string()?;
                    Wanted::CommaOrEnd
                }
                (b'"', Wanted::KeyOrEnd) => {
                    inside.string = Some(self.at);
                    self.string()?;
                    self.expect(b':')?;
                    Wanted::Value
                }
                (b'}' | b']', Wanted::KeyOrEnd | Wanted::ValueOrEnd | Wanted::CommaOrEnd) => {
                    inside.string = None;
                    inside.open.close(byte)?;
                    self.at += 1;
                    if inside.open.is_empty() {
                        return Some(());
                    }
                    Wanted::CommaOrEnd
                }
                (b',', Wanted::KeyOrEnd | Wanted::ValueOrEnd | Wanted::CommaOrEnd) => {
                    inside.string = None;
                    self.at += 1;
                    match inside.open.is_object() {
                        true => Wanted::KeyOrEnd,
                        false => Wanted::ValueOrEnd,
                    }
                }
                (b'{' | b'[', Wanted::Value | Wanted::ValueOrEnd) => {
                    inside.string = None;
                    inside.open.open(byte)?;
                    self.at += 1;
                    match byte {
                        b'{' => Wanted::KeyOrEnd,
                        _ => Wanted::ValueOrEnd,
                    }
                }
                (_, Wanted::Value | Wanted::ValueOrEnd) => {
                    inside.string = None;
                    self.word()?;
                    Wanted::CommaOrEnd
                }
                (_, Wanted::KeyOrEnd | Wanted::CommaOrEnd) => return None,
            };
        }
    }

    /// Passes over brackets and strings until all brackets of `inside` are closed. `None` if they do not match up to the
    /// offset `until`; then the scan is where it was.
    #[cold]
    pub(super) fn close(&mut self, inside: &mut Inside, until: usize) -> Option<()> {
        let mut ahead = *self;
        while ahead.at < until {
            match ahead.peek()? {
                b'"' => {
                    ahead.string()?;
                    continue;
                }
                bracket @ (b'{' | b'[') => inside.open.open(bracket)?,
                bracket @ (b'}' | b']') => {
                    inside.open.close(bracket)?;
                    if inside.open.is_empty() {
                        self.at = ahead.at + 1;
                        return Some(());
                    }
                }
                _ => {}
            }
            ahead.at += 1;
        }
        None
    }
}

/// What is wanted next in an object or array.
#[derive(Clone, Copy)]
enum Wanted {
    Value,
    ValueOrEnd,
    KeyOrEnd,
    CommaOrEnd,
}

/// What a position is inside of.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    /// The brackets that are open.
    open: Brackets,
    /// The offset of the last string, if nothing follows it, or its end is missing.
    pub(super) string: Option<usize>,
}

/// Open brackets, each of which is one bit: 1 if it is a brace.
#[derive(Clone, Debug, Default)]
struct Brackets {
    /// The innermost brackets, the last one in the lowest bit.
    inner: u128,
    /// All others, in groups of 128.
    outer: Vec<u128>,
    depth: u32,
}

impl Brackets {
    fn is_empty(&self) -> bool {
        self.depth == 0
    }

    fn is_object(&self) -> bool {
        self.inner & 1 == 1
    }

    /// Adds a bracket; `None` if there are too many.
    #[inline]
    fn open(&mut self, bracket: u8) -> Option<()> {
        if self.depth == MOST_DEPTH {
            return None;
        }
        if self.depth > 0 && self.depth.is_multiple_of(u128::BITS) {
            self.outer.push(std::mem::take(&mut self.inner));
        }
        self.depth += 1;
        self.inner = self.inner << 1 | u128::from(bracket == b'{');
        Some(())
    }

    /// Removes the innermost bracket; `None` if it is of another kind, or if there is none.
    #[inline]
    fn close(&mut self, bracket: u8) -> Option<()> {
        if self.depth == 0 || self.is_object() != (bracket == b'}') {
            return None;
        }
        self.depth -= 1;
        self.inner >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(u128::BITS) {
            self.inner = self.outer.pop().unwrap_or_default();
        }
        Some(())
    }
}

/// Returns the position after the first bracket of a value; the end if the value starts with another byte.
fn inside(value: &[u8], bracket: u8) -> Scan<'_> {
    let starts = value.first() == Some(&bracket);
    Scan::new(value, if starts { 1 } else { value.len() })
}

/// Iterates over the members of an object that starts at the first byte.
///
/// Stops at the end of the object, or where the text is not JSON.
pub(super) struct Members<'a> {
    scan: Scan<'a>,
    /// The rest of the object, if it is not JSON.
    rest: &'a [u8],
}

impl<'a> Members<'a> {
    /// Returns the members of an object; none if `object` is not an object.
    pub(super) fn of(object: &'a [u8]) -> Members<'a> {
        Members {
            scan: inside(object, b'{'),
            rest: &[],
        }
    }

    /// Returns the text of the object from where it is not JSON, without the last brace; empty if all members were read,
    /// or not all were asked for.
    pub(super) fn rest(&self) -> &'a [u8] {
        let rest = self.rest.trim_ascii_end();
        rest.strip_suffix(b"}").unwrap_or(rest).trim_ascii_end()
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Quoted<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.scan.next_after_commas()? == b'}' {
            return None;
        }
        let start = self.scan.at;
        let member = self.member();
        if member.is_none() {
            self.rest = self.scan.bytes.get(start..).unwrap_or(&[]);
            self.scan.at = self.scan.bytes.len();
        }
        member
    }
}

impl<'a> Members<'a> {
    fn member(&mut self) -> Option<(Quoted<'a>, Raw<'a>)> {
        let key = self.scan.string()?;
        self.scan.expect(b':')?;
        Some((key, self.scan.value()?))
    }
}

/// Iterates over the elements of an array that starts at the first byte; stops like [`Members`].
pub(super) struct Elements<'a> {
    scan: Scan<'a>,
}

impl<'a> Elements<'a> {
    /// Returns the elements of an array; none if `array` is not an array.
    pub(super) fn of(array: &'a [u8]) -> Elements<'a> {
        Elements {
            scan: inside(array, b'['),
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
    /// Returns the bytes between the quotes of a string, or those of a number or word; empty for other values.
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
            ("[1 2]", 3),
            ("{\"a\" 1}", 5),
            (":", 0),
            (deep.as_str(), deep.len()),
        ] {
            let mut scan = Scan::new(text.as_bytes(), 0);
            let found = scan.value();
            match scan.fault {
                // The brackets match.
                Some(fault) => {
                    assert_eq!(fault, at, "{text}");
                    assert_eq!(found, Some(Raw::Nested(text.as_bytes())));
                }
                None => {
                    assert_eq!(found, None, "{text}");
                    assert_eq!(scan.at, at, "{text}");
                }
            }
        }
    }

    #[test]
    fn values_are_nested_to_any_depth() {
        for depth in [1, 127, 128, 129, 300, 5_000] {
            let open: String = "[{\"a\":".repeat(depth);
            let text = format!("{open}1{}", "}]".repeat(depth));
            let mut scan = Scan::new(text.as_bytes(), 0);
            assert_eq!(scan.value(), Some(Raw::Nested(text.as_bytes())));
            let text = format!("{open}1{}", "]}".repeat(depth));
            assert_eq!(Scan::new(text.as_bytes(), 0).value(), None);
        }
    }

    #[test]
    fn what_follows_an_error_in_an_object_is_its_rest() {
        for (text, rest) in [
            (&br#"{"a":1,"b":,"c":2}"#[..], &br#""b":,"c":2"#[..]),
            (br#"{"a":1}"#, b""),
            (br#"{x:1,"y":2} "#, br#"x:1,"y":2"#),
        ] {
            let mut members = Members::of(text);
            while members.next().is_some() {}
            assert_eq!(members.rest(), rest);
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
