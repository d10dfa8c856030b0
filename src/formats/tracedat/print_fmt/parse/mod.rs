//! Parses the tokens of a print fmt to its arguments as expressions, with the precedence of C.

mod calls;
mod constants;
mod types;

use std::sync::OnceLock;

use super::expr::{ArrayForm, Expr, Int, NumberAt, Unary, Width};
use super::token::{Token, tokens, unescape};
use crate::formats::tracedat::event_format::EventFormat;
use constants::{binary_operator, combine, fold};
use types::cast;

/// Maximum nesting of expressions.
const MAX_DEPTH: u32 = 400;

/// Maximum number of operators in one print fmt, which limits the height of the tree that is evaluated recursively.
const MAX_OPERATORS: u32 = 2048;

/// A parsed print fmt.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The format string, with unresolved escapes.
    pub format: Vec<u8>,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// Whether trace-cmd's library cannot parse it; `-R` then prints fields by type.
    pub is_beyond_reference: bool,
}

/// Parses the text after `print fmt:`. `None` if it contains something that cannot be evaluated (statements, unknown
/// functions).
#[must_use]
pub fn parse(format: &EventFormat, long_size: u32) -> Option<Parsed> {
    let tokens = tokens(&format.print_fmt)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        format,
        long_size: if long_size == 4 { 4 } else { 8 },
        depth: 0,
        operators: 0,
        is_beyond_reference: tokens.iter().any(has_control_characters),
        is_fatal_to_reference: false,
    };
    let Some(Token::Text(text)) = parser.next() else {
        return None;
    };
    let text = text.clone();
    let mut arguments = Vec::new();
    while parser.take(",") {
        if parser.peek().is_none() {
            break;
        }
        arguments.push(parser.expression()?);
    }
    if parser.is_beyond_reference || parser.is_fatal_to_reference {
        arguments.iter_mut().for_each(show_arrays_as_the_kernel);
    }
    parser.peek().is_none().then_some(Parsed {
        format: text,
        arguments,
        is_beyond_reference: parser.is_beyond_reference,
    })
}

/// Returns whether a literal contains a character that ends it for trace-cmd's library: an unescaped tab, or a byte
/// that is not ASCII.
fn has_control_characters(token: &Token) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b'\n' | 0x20..0x7f);
    matches!(token, Token::Text(text) if !text.iter().all(is_plain))
}

fn show_arrays_as_the_kernel(argument: &mut Expr) {
    match argument {
        Expr::Array(_, form) => *form = ArrayForm::Kernel,
        Expr::Choice(_, parts) => {
            show_arrays_as_the_kernel(&mut parts.1);
            show_arrays_as_the_kernel(&mut parts.2);
        }
        _ => {}
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    format: &'a EventFormat,
    long_size: u8,
    depth: u32,
    operators: u32,
    is_beyond_reference: bool,
    /// Whether trace-cmd's library crashes when it prints the format.
    is_fatal_to_reference: bool,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn is_op(&self, ahead: usize, op: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some(Token::Op(found)) if *found == op)
    }

    fn take(&mut self, op: &str) -> bool {
        let found = self.is_op(0, op);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, op: &str) -> Option<()> {
        self.take(op).then_some(())
    }

    fn word(&mut self) -> Option<&'a str> {
        match self.next()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn expression(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let result = if self.take("?") {
            let yes = if self.is_op(0, ":") {
                condition.clone()
            } else {
                self.expression()?
            };
            self.expect(":")?;
            let no = self.expression()?;
            let int = yes.int().common(no.int());
            Expr::Choice(int, Box::new((condition, yes, no)))
        } else {
            condition
        };
        self.depth -= 1;
        Some(result)
    }

    fn binary(&mut self, least: u8) -> Option<Expr> {
        let mut left = self.unary()?;
        while let Some(Token::Op(op)) = self.peek() {
            let Some((operator, strength)) = binary_operator(op) else {
                break;
            };
            if strength < least {
                break;
            }
            self.at += 1;
            let right = self.binary(strength + 1)?;
            left = combine(operator, left, right);
            if !matches!(left, Expr::Constant(..)) {
                self.operators += 1;
            }
            if self.operators > MAX_OPERATORS {
                return None;
            }
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let result = self.unary_inner();
        self.depth -= 1;
        result
    }

    fn unary_inner(&mut self) -> Option<Expr> {
        let Some(Token::Op(op)) = self.peek() else {
            return self.postfix();
        };
        let operator = match *op {
            "-" => Unary::Minus,
            "~" => Unary::Not,
            "!" => Unary::IsZero,
            "+" => {
                self.at += 1;
                return self.unary();
            }
            "&" => {
                self.at += 1;
                self.is_beyond_reference = true;
                return match self.unary()? {
                    Expr::Number(field, _) | Expr::Field(field) | Expr::Data(field) => {
                        Some(Expr::Data(field))
                    }
                    _ => None,
                };
            }
            "*" => {
                self.at += 1;
                self.is_beyond_reference = true;
                // Only `*(type *)data` can be evaluated: element 0 of a field's data.
                let pointer = self.unary()?;
                let width = match &pointer {
                    Expr::Pointer(Some(width), _) => *width,
                    _ => return None,
                };
                let field = data_field(&pointer)?;
                let zero = Box::new(Expr::Constant(0, Int::INT));
                return Some(Expr::Element(field, width, zero));
            }
            "(" => {
                let start = self.at;
                self.at += 1;
                // A cast; otherwise an expression in parentheses, whose tokens are read again.
                if let Some(kind) = self.cast_type() {
                    let inner = self.unary()?;
                    return Some(cast(kind, inner));
                }
                self.at = start;
                return self.postfix();
            }
            _ => return None,
        };
        self.at += 1;
        let inner = self.unary()?;
        let int = if operator == Unary::IsZero {
            Int::INT
        } else {
            inner.int()
        };
        Some(fold(Expr::Unary(operator, int, Box::new(inner))))
    }

    fn postfix(&mut self) -> Option<Expr> {
        let mut expr = self.primary()?;
        if self.take("[") {
            let index = self.expression()?;
            self.expect("]")?;
            expr = self.element(expr, index)?;
        }
        Some(expr)
    }

    fn element(&self, base: Expr, index: Expr) -> Option<Expr> {
        let field = data_field(&base)?;
        let format = self.format.fields.get(usize::from(field))?;
        let width = match &base {
            Expr::Pointer(Some(width), _) => *width,
            Expr::String(_) => Width {
                size: 1,
                is_signed: false,
            },
            _ => Width {
                size: u8::try_from(format.element_size)
                    .ok()
                    .filter(|size| matches!(size, 1 | 2 | 4 | 8))?,
                is_signed: format.is_signed,
            },
        };
        Some(Expr::Element(field, width, Box::new(index)))
    }

    fn primary(&mut self) -> Option<Expr> {
        match self.next()? {
            Token::Number {
                value,
                longs,
                is_unsigned,
            } => {
                let int = Int {
                    is_wide: *longs == 2 || (*longs == 1 && self.long_size == 8),
                    is_signed: !is_unsigned,
                };
                Some(Expr::Constant(int.hold(*value), int))
            }
            Token::Text(text) => Some(Expr::Text(unescape(text).into_boxed_slice())),
            Token::Op("(") => {
                // `(REC)->field`
                if matches!(self.peek(), Some(Token::Word(word)) if word == "REC")
                    && self.is_op(1, ")")
                {
                    self.at += 2;
                    return self.record_field();
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Some(inner)
            }
            Token::Op(_) => None,
            Token::Word(word) if word == "REC" => self.record_field(),
            Token::Word(word) if self.take("(") => self.call(word),
            Token::Word(word) => {
                // Adjacent words are a type or an unresolved macro.
                while matches!(self.peek(), Some(Token::Word(_))) {
                    self.at += 1;
                }
                Some(Expr::Symbol(word.as_str().into(), OnceLock::new()))
            }
        }
    }

    fn record_field(&mut self) -> Option<Expr> {
        self.expect("->")?;
        let name = self.word()?;
        let index = self.field(name)?;
        let field = self.format.fields.get(usize::from(index))?;
        if field.is_number() {
            let at = NumberAt {
                offset: field.offset,
                size: field.size as u8,
                is_signed: field.is_signed,
            };
            Some(Expr::Number(index, at))
        } else {
            Some(Expr::Field(index))
        }
    }

    fn field(&self, name: &str) -> Option<u16> {
        let at = self.format.fields.iter().position(|f| f.name == name)?;
        u16::try_from(at).ok()
    }

    /// Parses a field's name as argument of a `__get_` function, and the closing parenthesis.
    fn field_argument(&mut self) -> Option<u16> {
        let name = self.word()?;
        let field = self.field(name)?;
        self.expect(")")?;
        Some(field)
    }
}

/// Returns the field that contains the data of `base[...]` or `*base`.
fn data_field(base: &Expr) -> Option<u16> {
    match base {
        Expr::Number(field, _) | Expr::Field(field) | Expr::Data(field) | Expr::String(field) => {
            Some(*field)
        }
        Expr::Pointer(_, inner) => data_field(inner),
        _ => None,
    }
}
