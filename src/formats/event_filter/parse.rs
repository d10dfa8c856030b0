//! Parses the tokens of a condition to its tree.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::condition::{Atom, Condition, Join, Operator, Sum, Written};
use super::fault::FilterError;
use super::token::{Placed, Token, tokens};

/// Maximum nesting of `( )` and `!`.
const MAX_DEPTH: u32 = 64;

/// Parses the condition that starts at byte `from` of `text`.
pub(super) fn parse(text: &str, from: usize) -> Result<Condition, FilterError> {
    let mut parser = Parser {
        tokens: tokens(text, from)?.into_iter().peekable(),
        end: text.len(),
        depth: 0,
    };
    let condition = parser.chain()?;
    match parser.tokens.next() {
        None => Ok(condition),
        Some(placed) if placed.token == Token::Close => {
            Err(error_at(&placed, "this ) has no partner"))
        }
        Some(placed) => Err(error_at(&placed, "&& or || is missing before this")),
    }
}

fn error_at(placed: &Placed, message: &str) -> FilterError {
    FilterError {
        at: placed.at,
        length: placed.length,
        message: message.to_owned(),
    }
}

struct Parser {
    tokens: Peekable<IntoIter<Placed>>,
    /// Length of the text in bytes.
    end: usize,
    depth: u32,
}

impl Parser {
    fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek().map(|placed| &placed.token)
    }

    fn join(&mut self) -> Option<Join> {
        match self.peek() {
            Some(&Token::Join(join)) => {
                self.tokens.next();
                Some(join)
            }
            _ => None,
        }
    }

    /// Parses parts that are joined by `&&` and `||`, from left to right.
    fn chain(&mut self) -> Result<Condition, FilterError> {
        let first = self.part()?;
        let mut rest = Vec::new();
        while let Some(join) = self.join() {
            rest.push((join, self.part()?));
        }
        Ok(match rest.is_empty() {
            true => first,
            false => Condition::Chain(Box::new(first), rest),
        })
    }

    fn part(&mut self) -> Result<Condition, FilterError> {
        let Some(placed) = self.tokens.peek().cloned() else {
            return Err(self.missing("a comparison"));
        };
        if !matches!(placed.token, Token::Not | Token::Open) {
            return self.comparison();
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error_at(&placed, "too many parentheses around this"));
        }
        self.tokens.next();
        let condition = match placed.token {
            Token::Not => Condition::Not(Box::new(self.part()?)),
            _ => {
                let inner = self.chain()?;
                if self
                    .tokens
                    .next_if(|next| next.token == Token::Close)
                    .is_none()
                {
                    return Err(match self.tokens.peek() {
                        None => error_at(&placed, "this ( has no partner"),
                        Some(next) => error_at(next, "&& or || is missing before this"),
                    });
                }
                inner
            }
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn comparison(&mut self) -> Result<Condition, FilterError> {
        let left = self.sum()?;
        let Some(&Token::Compare(relation)) = self.peek() else {
            return match left.alone() {
                Some(Atom {
                    at,
                    length,
                    value: Written::Quoted(_),
                }) => Err(FilterError {
                    at: *at,
                    length: *length,
                    message: "a text can only be compared with a field".to_owned(),
                }),
                _ => Ok(Condition::IsNotZero(left)),
            };
        };
        let sign = self.tokens.next();
        let right = self.sum()?;
        let is_text = matches!(
            right.alone().map(|atom| &atom.value),
            Some(Written::Quoted(_) | Written::Word(_))
        );
        match sign {
            Some(sign) if relation.has_pattern() && !is_text => {
                Err(error_at(&sign, "this operator needs a text on its right"))
            }
            _ => Ok(Condition::Compare(left, relation, right)),
        }
    }

    fn operator(&mut self) -> Option<Operator> {
        match self.peek() {
            Some(&Token::Operator(operator)) => {
                self.tokens.next();
                Some(operator)
            }
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Sum, FilterError> {
        let first = self.atom()?;
        let mut rest = Vec::new();
        while let Some(operator) = self.operator() {
            rest.push((operator, self.atom()?));
        }
        Ok(Sum { first, rest })
    }

    fn atom(&mut self) -> Result<Atom, FilterError> {
        let minus = self
            .tokens
            .next_if(|next| next.token == Token::Operator(Operator::Subtract));
        let Some(placed) = self.tokens.next() else {
            return Err(self.missing("a value"));
        };
        let value = match &placed.token {
            Token::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()) => {
                match number_of(word) {
                    Some(number) => Written::Number(number),
                    None => Written::Word(word.clone()),
                }
            }
            Token::Word(word) => Written::Word(word.clone()),
            Token::Quoted(text) => Written::Quoted(text.clone()),
            _ => return Err(error_at(&placed, "a value is missing before this")),
        };
        let value = match (minus, value) {
            (None, value) => value,
            (Some(_), Written::Number(number)) => Written::Number(-number),
            (Some(minus), _) => return Err(error_at(&minus, "a number is missing after this")),
        };
        Ok(Atom {
            at: placed.at,
            length: placed.length,
            value,
        })
    }

    fn missing(&self, what: &str) -> FilterError {
        FilterError {
            at: self.end,
            length: 0,
            message: format!("{what} is missing at the end"),
        }
    }
}

/// Parses a number as in C: `31`, `0x1f`, `037`.
fn number_of(word: &str) -> Option<i128> {
    let lower = word.to_ascii_lowercase();
    let number = match lower.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None if lower.len() > 1 && lower.starts_with('0') => u64::from_str_radix(&lower, 8),
        None => lower.parse(),
    };
    number.ok().map(i128::from)
}
