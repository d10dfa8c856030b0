//! Splits the text of an expression into tokens with their places.

use super::ExpressionError;
use crate::base::{Comparison, Leading};

/// A word of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Not,
    And,
    Or,
    Compare(Comparison),
    Like,
    /// `=~`: compares with a regular expression, whatever the value looks like.
    Matches,
    Unlike,
    Bits,
    /// Text in quotes.
    Quoted(String),
    /// The text between slashes, and the flags after them.
    Regex(String, String),
    /// `a, b:` before the tests of these events.
    Event(Vec<String>),
    /// Anything else: a field, a number, a time, a bare word.
    Word(String),
}

/// A token and its byte range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub token: Token,
    pub at: usize,
    pub length: usize,
}

/// Operators, the longest first.
const OPERATORS: &[(&str, Token)] = &[
    ("&&", Token::And),
    ("||", Token::Or),
    ("==", Token::Compare(Comparison::Equal)),
    ("=~", Token::Matches),
    ("!=", Token::Compare(Comparison::Differs)),
    ("!~", Token::Unlike),
    ("<=", Token::Compare(Comparison::LessOrEqual)),
    (">=", Token::Compare(Comparison::MoreOrEqual)),
    ("=", Token::Compare(Comparison::Equal)),
    ("<", Token::Compare(Comparison::Less)),
    (">", Token::Compare(Comparison::More)),
    ("~", Token::Like),
    ("&", Token::Bits),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
];

impl Token {
    /// Returns whether the token makes a text an expression: parentheses and `!` alone do not.
    fn is_operator(&self) -> bool {
        !matches!(
            self,
            Token::Open
                | Token::Close
                | Token::Not
                | Token::Quoted(_)
                | Token::Regex(..)
                | Token::Event(_)
                | Token::Word(_)
        )
    }
}

/// Cuts `text` into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, ExpressionError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let Leading {
            value: token,
            length,
        } = token_at(text, at, first)?;
        found.push(Placed { token, at, length });
        at += length;
    }
    Ok(with_events(&found))
}

/// Returns the tokens, with `a, b:` as one token. `a:field` is cut in two where `field` is compared; elsewhere a colon
/// is part of a word.
fn with_events(tokens: &[Placed]) -> Vec<Placed> {
    let mut found: Vec<Placed> = Vec::with_capacity(tokens.len());
    let mut next = 0;
    while let Some(placed) = tokens.get(next) {
        let is_begin = found.last().is_none_or(|last| {
            matches!(
                last.token,
                Token::And | Token::Or | Token::Open | Token::Not
            )
        });
        if is_begin && let Some(prefix) = event_prefix(tokens, next, placed.at) {
            next += prefix.taken;
            found.push(prefix.event);
            found.extend(prefix.field);
        } else {
            found.push(placed.clone());
            next += 1;
        }
    }
    found
}

struct Prefix {
    event: Placed,
    field: Option<Placed>,
    taken: usize,
}

fn event_prefix(tokens: &[Placed], from: usize, start: usize) -> Option<Prefix> {
    let mut names: Vec<String> = Vec::new();
    for (taken, placed) in tokens.get(from..)?.iter().enumerate() {
        let Token::Word(word) = &placed.token else {
            return None;
        };
        let Some((list, rest)) = word.split_once(':') else {
            names.extend(word.split(',').map(str::to_owned));
            continue;
        };
        let length = placed.length - rest.len();
        let field = (!rest.is_empty()).then(|| Placed {
            token: Token::Word(rest.to_owned()),
            at: placed.at + length,
            length: rest.len(),
        });
        let after = tokens.get(from + taken + 1).map(|after| &after.token);
        let is_compared =
            after.is_some_and(Token::is_operator) && !matches!(after, Some(Token::And | Token::Or));
        if field.is_some() && !is_compared {
            return None;
        }
        names.extend(list.split(',').map(str::to_owned));
        names.retain(|name| !name.is_empty());
        return Some(Prefix {
            event: Placed {
                token: Token::Event(names),
                at: start,
                length: placed.at + length - start,
            },
            field,
            taken: taken + 1,
        });
    }
    None
}

fn token_at(text: &str, at: usize, first: char) -> Result<Leading<Token>, ExpressionError> {
    let rest = text.get(at..).unwrap_or("");
    match first {
        '"' | '\'' => quoted(rest, at, first),
        '/' => regex(rest, at),
        _ => {
            let operator = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
            if let Some((sign, token)) = operator {
                return Ok(Leading {
                    value: token.clone(),
                    length: sign.len(),
                });
            }
            if first == '|' {
                return Err(ExpressionError::new(at, 1, "'or' is written ||"));
            }
            let length = rest
                .find(|c: char| c.is_whitespace() || "()!=<>~&|\"'".contains(c))
                .unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or(rest);
            Ok(Leading {
                value: Token::Word(word.to_owned()),
                length,
            })
        }
    }
}

fn quoted(rest: &str, at: usize, quote: char) -> Result<Leading<Token>, ExpressionError> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((place, c)) = chars.next() {
        match c {
            // Other backslashes are the regular expression's.
            '\\' => match chars.next() {
                Some((_, next)) if next == quote => text.push(next),
                Some((_, next)) => text.extend(['\\', next]),
                None => break,
            },
            c if c == quote => {
                return Ok(Leading {
                    value: Token::Quoted(text),
                    length: place + c.len_utf8(),
                });
            }
            c => text.push(c),
        }
    }
    Err(ExpressionError::new(
        at,
        rest.len(),
        format!("this {quote} has no partner"),
    ))
}

fn regex(rest: &str, at: usize) -> Result<Leading<Token>, ExpressionError> {
    let mut pattern = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((place, c)) = chars.next() {
        match c {
            '\\' if chars.peek().is_some_and(|(_, next)| *next == '/') => {
                chars.next();
                pattern.push('/');
            }
            '\\' => {
                pattern.push('\\');
                pattern.extend(chars.next().map(|(_, next)| next));
            }
            '/' => {
                let after = rest.get(place + 1..).unwrap_or("");
                let length = after
                    .find(|c: char| !c.is_ascii_alphabetic())
                    .unwrap_or(after.len());
                let flags = after.get(..length).unwrap_or("").to_owned();
                return Ok(Leading {
                    value: Token::Regex(pattern, flags),
                    length: place + 1 + length,
                });
            }
            c => pattern.push(c),
        }
    }
    Err(ExpressionError::new(
        at,
        rest.len(),
        "a regular expression ends with /",
    ))
}

/// Returns whether `text` is meant as an expression: it has an operator outside of quotes.
pub(super) fn has_operator(text: &str) -> bool {
    // A text with an unmatched quote may still be an expression: only the operators before that quote count.
    let mut at = 0;
    while let Some(first) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        match token_at(text, at, first) {
            Ok(found) if found.value.is_operator() => return true,
            Ok(found) => at += found.length,
            Err(_) => at += first.len_utf8(),
        }
    }
    false
}
