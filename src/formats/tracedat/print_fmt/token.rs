//! Splits the text after `print fmt:` into C tokens.

use crate::base::Leading;

/// A C token, of the kinds that print formats use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or keyword.
    Word(String),
    /// An integer: its value, whether it is unsigned and whether it is long (64 bits on 64-bit kernels).
    Number {
        /// The value.
        value: u64,
        /// Number of `L`s after the number.
        longs: u8,
        /// Whether a `U` follows the number, or no signed type can store it.
        is_unsigned: bool,
    },
    /// A string literal with unresolved escapes; adjacent literals are joined.
    Text(Vec<u8>),
    /// An operator or delimiter of up to two characters.
    Op(&'static str),
}

const OPERATORS: [&str; 36] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "++", "--", "::", "+", "-", "*", "/",
    "%", "<", ">", "&", "|", "^", "~", "!", "?", ":", "(", ")", "[", "]", "{", "}", ",", ".", "=",
    ";",
];

/// Maximum number of tokens of a print fmt.
const MAX_TOKENS: usize = 65_536;

/// Splits `text` into tokens. `None` if it contains a character that does not occur in print formats.
pub(crate) fn tokens(text: &str) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if found.len() > MAX_TOKENS {
            return None;
        }
        let rest = bytes.get(at..)?;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => at += 1,
            b'"' => {
                let Leading {
                    value: literal,
                    length,
                } = quoted(rest, b'"')?;
                if let Some(Token::Text(before)) = found.last_mut() {
                    before.extend_from_slice(literal);
                } else {
                    found.push(Token::Text(literal.to_vec()));
                }
                at += length;
            }
            b'\'' => {
                let Leading {
                    value: literal,
                    length,
                } = quoted(rest, b'\'')?;
                let value = unescape(literal).first().map_or(0, |&c| u64::from(c));
                found.push(Token::Number {
                    value,
                    longs: 0,
                    is_unsigned: false,
                });
                at += length;
            }
            b'0'..=b'9' => {
                let Leading {
                    value: token,
                    length,
                } = number(rest);
                found.push(token);
                at += length;
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => {
                let length = rest
                    .iter()
                    .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$'))
                    .count();
                let word = text.get(at..at + length)?;
                found.push(Token::Word(word.to_owned()));
                at += length;
            }
            _ => {
                let op = OPERATORS
                    .iter()
                    .find(|op| rest.starts_with(op.as_bytes()))?;
                found.push(Token::Op(op));
                at += op.len();
            }
        }
    }
    Some(found)
}

/// Returns the content of a literal, and its length in bytes with both quotes.
fn quoted(rest: &[u8], quote: u8) -> Option<Leading<&[u8]>> {
    let mut at = 1;
    loop {
        match rest.get(at)? {
            b'\\' => at += 2,
            &c if c == quote => {
                return Some(Leading {
                    value: rest.get(1..at)?,
                    length: at + 1,
                });
            }
            _ => at += 1,
        }
    }
}

fn number(rest: &[u8]) -> Leading<Token> {
    let length = rest
        .iter()
        .take_while(|c| c.is_ascii_alphanumeric())
        .count();
    let all = rest.get(..length).unwrap_or(&[]);
    let (radix, prefix) = match all {
        [b'0', b'x' | b'X', ..] => (16, 2),
        [b'0', b'0'..=b'7', ..] => (8, 1),
        _ => (10, 0),
    };
    let mut value = 0_u64;
    let mut digits = 0;
    for &c in all.get(prefix..).unwrap_or(&[]) {
        let Some(digit) = (c as char).to_digit(radix) else {
            break;
        };
        value = value
            .wrapping_mul(u64::from(radix))
            .wrapping_add(u64::from(digit));
        digits += 1;
    }
    let suffix = all.get(prefix + digits..).unwrap_or(&[]);
    let count = |letter: u8| {
        suffix
            .iter()
            .filter(|c| c.eq_ignore_ascii_case(&letter))
            .count()
    };
    let fits = if radix == 10 {
        i64::MAX as u64
    } else {
        u64::from(u32::MAX)
    };
    let mut longs = count(b'l').min(2) as u8;
    let mut is_unsigned = count(b'u') > 0 || value > i64::MAX as u64;
    if radix != 10 && longs == 0 && value > i32::MAX as u64 && value <= fits {
        is_unsigned = true;
    }
    let int_max = if is_unsigned {
        u64::from(u32::MAX)
    } else {
        i32::MAX as u64
    };
    if longs == 0 && value > int_max {
        longs = 2;
    }
    let token = Token::Number {
        value,
        longs,
        is_unsigned,
    };
    Leading {
        value: token,
        length: length.max(1),
    }
}

/// Replaces the escapes of a C literal by the bytes that they denote.
#[must_use]
pub(crate) fn unescape(literal: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(literal.len());
    let mut rest = literal;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            text.push(*first);
            continue;
        }
        let [escape, tail @ ..] = rest else { break };
        rest = tail;
        let octal = |c: &u8| (b'0'..=b'7').contains(c);
        match escape {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'r' => text.push(b'\r'),
            b'e' => text.push(0x1b),
            b'0'..=b'7' => {
                let more = rest.iter().take(2).take_while(|c| octal(c)).count();
                let (digits, tail) = rest.split_at(more);
                rest = tail;
                let value = digits.iter().fold(u32::from(escape - b'0'), |value, c| {
                    value * 8 + u32::from(c - b'0')
                });
                text.push(value as u8);
            }
            other => text.push(*other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_types_and_strings_join() {
        let found = tokens("\"a\" \"b\\n\", 0x80000000, 10ULL, 'c', REC->x<<2").unwrap();
        assert_eq!(found[0], Token::Text(b"ab\\n".to_vec()));
        assert_eq!(
            found[2],
            Token::Number {
                value: 0x8000_0000,
                longs: 0,
                is_unsigned: true
            }
        );
        assert_eq!(
            found[4],
            Token::Number {
                value: 10,
                longs: 2,
                is_unsigned: true
            }
        );
        assert_eq!(found.last(), tokens("2").unwrap().last());
        assert_eq!(unescape(b"a\\n\\033\\\\"), b"a\n\x1b\\");
        assert_eq!(tokens("\"open"), None);
    }
}
