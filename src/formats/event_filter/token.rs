//! Splits the text of a condition into tokens.

use super::condition::{Join, Operator, Relation};
use super::fault::FilterError;
use crate::base::{Comparison, Leading};

/// A token of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Not,
    Join(Join),
    Compare(Relation),
    Operator(Operator),
    Quoted(String),
    Word(String),
}

/// A token and its byte range.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub token: Token,
    pub at: usize,
    pub length: usize,
}

/// Operator signs; a sign is before its own prefixes.
const SIGNS: &[(&str, Token)] = &[
    ("&&", Token::Join(Join::And)),
    ("||", Token::Join(Join::Or)),
    ("==", Token::Compare(Relation::Values(Comparison::Equal))),
    ("!=", Token::Compare(Relation::Values(Comparison::Differs))),
    ("=~", Token::Compare(Relation::Matches)),
    ("!~", Token::Compare(Relation::MatchesNot)),
    (
        "<=",
        Token::Compare(Relation::Values(Comparison::LessOrEqual)),
    ),
    (
        ">=",
        Token::Compare(Relation::Values(Comparison::MoreOrEqual)),
    ),
    ("<<", Token::Operator(Operator::ShiftLeft)),
    (">>", Token::Operator(Operator::ShiftRight)),
    ("<", Token::Compare(Relation::Values(Comparison::Less))),
    (">", Token::Compare(Relation::Values(Comparison::More))),
    ("=", Token::Compare(Relation::Values(Comparison::Equal))),
    ("~", Token::Compare(Relation::Like)),
    ("+", Token::Operator(Operator::Add)),
    ("-", Token::Operator(Operator::Subtract)),
    ("*", Token::Operator(Operator::Multiply)),
    ("/", Token::Operator(Operator::Divide)),
    ("%", Token::Operator(Operator::Remainder)),
    ("&", Token::Operator(Operator::And)),
    ("|", Token::Operator(Operator::Or)),
    ("^", Token::Operator(Operator::Xor)),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
];

/// Splits `text` into tokens, from byte `from`.
pub(super) fn tokens(text: &str, from: usize) -> Result<Vec<Placed>, FilterError> {
    let mut found = Vec::new();
    let mut at = from;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let Leading {
            value: token,
            length,
        } = token_of(rest, first).ok_or_else(|| FilterError {
            at,
            length: first.len_utf8(),
            message: match first {
                '"' | '\'' => format!("this {first} has no partner"),
                _ => format!("'{first}' means nothing in a filter"),
            },
        })?;
        found.push(Placed { token, at, length });
        at += length;
    }
    Ok(found)
}

fn token_of(rest: &str, first: char) -> Option<Leading<Token>> {
    if matches!(first, '"' | '\'') {
        return quoted(rest, first);
    }
    if let Some((sign, token)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Some(Leading {
            value: token.clone(),
            length: sign.len(),
        });
    }
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@');
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let word = rest.get(..length).filter(|word| !word.is_empty())?;
    Some(Leading {
        value: Token::Word(word.to_owned()),
        length,
    })
}

/// Parses a text in quotes. Backslashes are kept, except those before the quote character.
fn quoted(rest: &str, quote: char) -> Option<Leading<Token>> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                next if next == quote => text.push(next),
                next => text.extend(['\\', next]),
            },
            c if c == quote => {
                return Some(Leading {
                    value: Token::Quoted(text),
                    length: at + c.len_utf8(),
                });
            }
            c => text.push(c),
        }
    }
    None
}
