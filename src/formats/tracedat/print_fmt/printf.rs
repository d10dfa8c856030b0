//! Splits a C format string into pieces, and prints numbers and strings as in C.

/// Width, precision and flags of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// `-`
    pub is_left: bool,
    /// `+`
    pub has_plus: bool,
    /// A blank
    pub has_space: bool,
    /// `#`
    pub is_alternate: bool,
    /// `0`
    pub has_zeros: bool,
    /// Minimum width, in bytes.
    pub width: usize,
    /// Minimum number of digits, or maximum number of bytes of text.
    pub precision: Option<usize>,
}

/// A width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Not given.
    None,
    /// A number in the format string.
    Fixed(usize),
    /// `*`: the value of the next argument.
    Argument,
}

/// Size of the argument that a conversion reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// `hh`
    Char,
    /// `h`
    Short,
    /// No letter.
    Int,
    /// `l`, `z`, `t`: the size of the kernel's `long`.
    Long,
    /// `ll`, `L`, `q`, `j`
    LongLong,
}

/// One piece of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text that is printed as it is.
    Text(Vec<u8>),
    /// A conversion.
    Conversion(Conversion),
}

/// A parsed conversion such as `%-08.3lx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// Its flags.
    pub layout: Layout,
    /// Its width.
    pub width: Amount,
    /// The number after the point.
    pub precision: Amount,
    /// The size of its argument.
    pub length: Length,
    /// The conversion letter.
    pub letter: u8,
    /// The letters after `%p`.
    pub extension: Vec<u8>,
}

/// Maximum width that is padded to, in bytes; larger widths are assumed to be garbage.
const MAX_WIDTH: usize = 4096;

/// Splits a format string (escapes resolved) into pieces.
#[must_use]
pub(crate) fn pieces(format: &[u8]) -> Vec<Piece> {
    let mut found = Vec::new();
    let mut text = Vec::new();
    let mut rest = format;
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            text.push(*first);
            rest = tail;
        } else if let [b'%', tail @ ..] = tail {
            text.push(b'%');
            rest = tail;
        } else if let Some((conversion, tail)) = conversion(tail) {
            if !text.is_empty() {
                found.push(Piece::Text(std::mem::take(&mut text)));
            }
            found.push(Piece::Conversion(conversion));
            rest = tail;
        } else {
            text.push(b'%');
            rest = tail;
        }
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    found
}

fn conversion(mut rest: &[u8]) -> Option<(Conversion, &[u8])> {
    let mut layout = Layout::default();
    loop {
        match rest.first()? {
            b'-' => layout.is_left = true,
            b'+' => layout.has_plus = true,
            b' ' => layout.has_space = true,
            b'#' => layout.is_alternate = true,
            b'0' => layout.has_zeros = true,
            _ => break,
        }
        rest = rest.get(1..)?;
    }
    let width = amount(&mut rest).unwrap_or(Amount::None);
    let mut precision = Amount::None;
    if let Some(tail) = rest.strip_prefix(b".") {
        rest = tail;
        precision = amount(&mut rest).unwrap_or(Amount::Fixed(0));
    }
    let mut length = Length::Int;
    loop {
        length = match (rest.first()?, length) {
            (b'h', Length::Short) => Length::Char,
            (b'h', _) => Length::Short,
            (b'l', Length::Long) => Length::LongLong,
            (b'l' | b'z' | b'Z' | b't', _) => Length::Long,
            (b'L' | b'q' | b'j', _) => Length::LongLong,
            _ => break,
        };
        rest = rest.get(1..)?;
    }
    let (&letter, mut rest) = rest.split_first()?;
    let mut extension = Vec::new();
    match letter {
        b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' => {}
        b'p' => {
            let count = pointer_letters(rest);
            let (letters, tail) = rest.split_at(count);
            extension = letters.to_vec();
            rest = tail;
        }
        _ => return None,
    }
    let conversion = Conversion {
        layout,
        width,
        precision,
        length,
        letter,
        extension,
    };
    Some((conversion, rest))
}

fn amount(rest: &mut &[u8]) -> Option<Amount> {
    if let Some(tail) = rest.strip_prefix(b"*") {
        *rest = tail;
        return Some(Amount::Argument);
    }
    let count = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    if count == 0 {
        return None;
    }
    let (digits, tail) = rest.split_at(count);
    *rest = tail;
    let value = digits.iter().fold(0_usize, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(usize::from(digit - b'0'))
    });
    Some(Amount::Fixed(value.min(MAX_WIDTH)))
}

/// Returns the number of letters after `%p` that belong to the conversion.
fn pointer_letters(rest: &[u8]) -> usize {
    let at = |index: usize| rest.get(index).copied().unwrap_or(0);
    let one_of = |index: usize, letters: &[u8]| usize::from(letters.contains(&at(index)));
    match at(0) {
        b'M' | b'm' => 1 + one_of(1, b"RF"),
        b'I' | b'i' => match at(1) {
            b'S' => {
                let mut count = 2;
                while b"pfschnbl".contains(&at(count)) {
                    count += 1;
                }
                count
            }
            b'4' => 2 + one_of(2, b"hnbl"),
            b'6' => 2 + one_of(2, b"c"),
            _ => 1,
        },
        b'U' => 1 + one_of(1, b"LlBb"),
        b'h' => 1 + one_of(1, b"CDN"),
        b'b' => 1 + one_of(1, b"l"),
        b'S' | b's' | b'F' | b'f' | b'B' | b'x' | b'e' | b'K' => 1,
        b'G' | b'd' | b'D' | b'g' => 1 + one_of(1, b"pgvf234"),
        _ => 0,
    }
}

/// Appends `value` in decimal.
pub(crate) fn push_decimal(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        count += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(20 - count..).unwrap_or(&[]));
}

/// Appends `value` in decimal with its sign.
pub(crate) fn push_signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_decimal(out, value.unsigned_abs());
}

/// Appends `value` in hexadecimal, lower case.
pub(crate) fn push_hex(out: &mut Vec<u8>, value: u64) {
    let count = (16 - value.leading_zeros() as usize / 4).max(1);
    push_hex_digits(out, value, count);
}

/// Appends the low `count` (at most 16) hexadecimal digits of `value`.
pub(crate) fn push_hex_digits(out: &mut Vec<u8>, value: u64, count: usize) {
    for place in (0..count.min(16)).rev() {
        let digit = (value >> (place * 4)) as u8 & 15;
        out.push(if digit < 10 {
            b'0' + digit
        } else {
            b'a' - 10 + digit
        });
    }
}

/// Appends `value`, already truncated to its length, as the conversion `letter` prints it.
pub(crate) fn push_number(out: &mut Vec<u8>, layout: &Layout, letter: u8, value: u64) {
    let is_plain = *layout == Layout::default();
    if is_plain {
        match letter {
            b'u' => return push_decimal(out, value),
            b'd' | b'i' => return push_signed(out, value as i64),
            b'x' => return push_hex(out, value),
            _ => {}
        }
    }
    let mut digits = Vec::with_capacity(24);
    let mut sign: &[u8] = b"";
    match letter {
        b'd' | b'i' => {
            let signed = value as i64;
            push_decimal(&mut digits, signed.unsigned_abs());
            if signed < 0 {
                sign = b"-";
            } else if layout.has_plus {
                sign = b"+";
            } else if layout.has_space {
                sign = b" ";
            }
        }
        b'x' | b'X' => {
            push_hex(&mut digits, value);
            if letter == b'X' {
                digits.make_ascii_uppercase();
            }
            if layout.is_alternate && value != 0 {
                sign = if letter == b'X' { b"0X" } else { b"0x" };
            }
        }
        b'o' => {
            let text = format!("{value:o}");
            if layout.is_alternate && value != 0 {
                digits.push(b'0');
            }
            digits.extend_from_slice(text.as_bytes());
        }
        _ => push_decimal(&mut digits, value),
    }
    if layout.precision == Some(0) && value == 0 {
        digits.clear();
    }
    let mut zeros = layout
        .precision
        .map_or(0, |least| least.min(MAX_WIDTH).saturating_sub(digits.len()));
    let used = digits.len() + sign.len() + zeros;
    let mut blanks = layout.width.min(MAX_WIDTH).saturating_sub(used);
    if layout.has_zeros && !layout.is_left && layout.precision.is_none() {
        zeros += blanks;
        blanks = 0;
    }
    if !layout.is_left {
        push_many(out, b' ', blanks);
    }
    out.extend_from_slice(sign);
    push_many(out, b'0', zeros);
    out.extend_from_slice(&digits);
    if layout.is_left {
        push_many(out, b' ', blanks);
    }
}

/// Appends `text` up to its NUL, as `%s` prints it.
pub(crate) fn push_text(out: &mut Vec<u8>, layout: &Layout, text: &[u8]) {
    let text = match layout.precision {
        Some(most) => text.get(..most).unwrap_or(text),
        None => text,
    };
    let length = memchr::memchr(0, text).unwrap_or(text.len());
    let text = text.get(..length).unwrap_or(text);
    let blanks = layout.width.min(MAX_WIDTH).saturating_sub(length);
    if !layout.is_left {
        push_many(out, b' ', blanks);
    }
    out.extend_from_slice(text);
    if layout.is_left {
        push_many(out, b' ', blanks);
    }
}

/// Inserts spaces at `start`, so that the text after `start` has at least `width` bytes.
pub(crate) fn pad_left(out: &mut Vec<u8>, start: usize, width: usize) {
    let length = out.len().saturating_sub(start);
    if length < width {
        push_many(out, b' ', width - length);
        if let Some(text) = out.get_mut(start..) {
            text.rotate_right(width - length);
        }
    }
}

/// Appends `count` times `byte`.
#[inline]
pub(crate) fn push_many(out: &mut Vec<u8>, byte: u8, count: usize) {
    const BLANKS: &[u8] = &[b' '; 64];
    const ZEROS: &[u8] = &[b'0'; 64];
    let many = match byte {
        b' ' => BLANKS.get(..count),
        b'0' => ZEROS.get(..count),
        _ => None,
    };
    match many {
        Some(many) => out.extend_from_slice(many),
        None => out.resize(out.len().saturating_add(count), byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(format: &str, value: u64) -> String {
        let pieces = pieces(format.as_bytes());
        let Some(Piece::Conversion(c)) = pieces.first() else {
            panic!("no conversion in {format}");
        };
        let mut layout = c.layout;
        if let Amount::Fixed(width) = c.width {
            layout.width = width;
        }
        if let Amount::Fixed(precision) = c.precision {
            layout.precision = Some(precision);
        }
        let mut out = Vec::new();
        push_number(&mut out, &layout, c.letter, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_print_as_in_c() {
        assert_eq!(print("%d", -5_i64 as u64), "-5");
        assert_eq!(print("%+d", 5), "+5");
        assert_eq!(print("% d", 5), " 5");
        assert_eq!(print("%05d", -42_i64 as u64), "-0042");
        assert_eq!(print("%-5d|", 42), "42   ");
        assert_eq!(print("%8.3d", 7), "     007");
        assert_eq!(print("%#x", 255), "0xff");
        assert_eq!(print("%#x", 0), "0");
        assert_eq!(print("%#010x", 255), "0x000000ff");
        assert_eq!(print("%#X", 255), "0XFF");
        assert_eq!(print("%#o", 8), "010");
        assert_eq!(print("%.2x", 10), "0a");
        assert_eq!(print("%016llx", 0xabc), "0000000000000abc");
        assert_eq!(print("%lX", 0xabc), "ABC");
    }

    #[test]
    fn pointers_keep_their_letters() {
        let found = pieces(b"a %pISpc b %*pbl %5phD %pS+ %px 100%% 5% n");
        let letters: Vec<_> = found
            .iter()
            .filter_map(|piece| match piece {
                Piece::Conversion(c) => Some(String::from_utf8_lossy(&c.extension).into_owned()),
                Piece::Text(_) => None,
            })
            .collect();
        assert_eq!(letters, ["ISpc", "bl", "hD", "S", "x"]);
        assert_eq!(found.last(), Some(&Piece::Text(b" 100% 5% n".to_vec())));
    }
}
