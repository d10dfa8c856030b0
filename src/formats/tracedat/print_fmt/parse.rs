//! Tokens of a print fmt in, its arguments as expressions out, with the precedence of C.

use std::sync::OnceLock;

use super::expr::{ArrayForm, Binary, Expr, Function, Int, Named, Unary, Width};
use super::token::{Token, tokens, unescape};
use crate::formats::tracedat::event_format::EventFormat;

/// How deep expressions may nest.
const MAX_DEPTH: u32 = 400;

/// How many operators one print fmt may have: bounds the height of the tree that evaluation climbs.
const MAX_OPERATORS: u32 = 2048;

/// A print fmt taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The format string, escapes not yet resolved.
    pub format: Vec<u8>,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// Whether trace-cmd's library gives up on it (then `-R` shows bare fields).
    pub is_beyond_reference: bool,
}

/// Parses the text after `print fmt:`. `None` if it holds what cannot be evaluated (statements, unknown functions).
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

/// Whether a literal holds what trace-cmd's library takes for its end: tabs as they are, letters beyond ASCII.
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

/// A type as a cast names it.
enum Type {
    Int(Width),
    Pointer(Option<Width>),
    Other,
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

    /// The type of a cast whose `(` was read, with its `)`; `None` (anything read) if it is no cast.
    fn cast_type(&mut self) -> Option<Type> {
        let (mut longs, mut size, mut is_unsigned, mut is_known) = (0, None, false, true);
        let mut words = 0;
        while let Some(Token::Word(word)) = self.peek() {
            match word.as_str() {
                "REC" => return None,
                "long" => longs += 1,
                "unsigned" => is_unsigned = true,
                "signed" | "int" | "const" | "volatile" | "__force" => {}
                "struct" | "union" => is_known = false,
                "enum" => size = Some(4),
                other => match integer_type(other, self.long_size) {
                    Some(width) => {
                        size = Some(width.size);
                        is_unsigned |= !width.is_signed;
                    }
                    None if size != Some(4) || words == 0 => is_known = false,
                    None => {}
                },
            }
            words += 1;
            self.at += 1;
        }
        let width = Width {
            size: match (size, longs) {
                (Some(size), _) => size,
                (None, 0) => 4,
                (None, 1) => self.long_size,
                (None, _) => 8,
            },
            is_signed: !is_unsigned,
        };
        let mut stars = 0;
        while self.take("*") {
            stars += 1;
        }
        if words == 0 || !self.take(")") {
            return None;
        }
        if !is_known && stars == 0 {
            // `(NAME)` is a cast only if something follows that could be its operand.
            let is_operand = match self.peek() {
                Some(Token::Word(_) | Token::Number { .. } | Token::Text(_)) => true,
                Some(Token::Op(op)) => *op == "(",
                None => false,
            };
            return is_operand.then_some(Type::Other);
        }
        Some(match stars {
            0 => Type::Int(width),
            1 => Type::Pointer(is_known.then_some(width)),
            _ => Type::Pointer(None),
        })
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
                // Neighbouring words are a type or a macro that nobody resolved.
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
            let at = super::expr::NumberAt {
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

    /// A field's name as argument of a `__get_` function, with the closing parenthesis.
    fn field_argument(&mut self) -> Option<u16> {
        let name = self.word()?;
        let field = self.field(name)?;
        self.expect(")")?;
        Some(field)
    }

    fn call(&mut self, name: &str) -> Option<Expr> {
        match name {
            "__get_str" | "__get_rel_str" => {
                let field_name = self.word()?;
                let field = self.field(field_name)?;
                if self.take("[") {
                    self.is_beyond_reference = true;
                    let Some(Token::Number { value, .. }) = self.next() else {
                        return None;
                    };
                    self.expect("]")?;
                    self.expect(")")?;
                    return Some(Expr::StringOf(field, u32::try_from(*value).ok()?));
                }
                self.expect(")")?;
                Some(Expr::String(field))
            }
            "__get_dynamic_array"
            | "__get_rel_dynamic_array"
            | "__get_sockaddr"
            | "__get_rel_sockaddr"
            | "__get_sockaddr_rel" => Some(Expr::Data(self.field_argument()?)),
            "__get_dynamic_array_len" => Some(Expr::DataLength(self.field_argument()?)),
            "__get_rel_dynamic_array_len" => {
                self.is_fatal_to_reference = true;
                Some(Expr::DataLength(self.field_argument()?))
            }
            "__get_bitmask" | "__get_rel_bitmask" => Some(Expr::Bitmask(self.field_argument()?)),
            "__get_cpumask" | "__get_rel_cpumask" => Some(Expr::CpuList(self.field_argument()?)),
            "__print_flags" | "__print_flags_u64" => {
                self.is_beyond_reference |= name.ends_with("_u64");
                let value = self.expression()?;
                self.expect(",")?;
                let delimiter = match self.expression()? {
                    Expr::Text(text) => text,
                    _ => return None,
                };
                let rows = self.named_rows()?;
                Some(Expr::Flags(Box::new(value), delimiter, rows))
            }
            "__print_symbolic" | "__print_symbolic_u64" => {
                self.is_beyond_reference |= name.ends_with("_u64");
                let value = self.expression()?;
                let rows = self.named_rows()?;
                Some(Expr::Symbolic(Box::new(value), rows))
            }
            "__print_hex" | "__print_hex_str" => {
                let separator = if name == "__print_hex" { " " } else { "" };
                let mut arguments = self.arguments()?.into_iter();
                let (data, length) = (arguments.next()?, arguments.next()?);
                Some(Expr::Hex(Box::new(data), Box::new(length), separator))
            }
            "__print_hex_dump" => {
                self.is_beyond_reference = true;
                let mut arguments = self.arguments()?.into_iter().skip(4);
                let (data, length) = (arguments.next()?, arguments.next()?);
                Some(Expr::Hex(Box::new(data), Box::new(length), " "))
            }
            "__print_array" => {
                let mut arguments = self.arguments()?.into_iter();
                let (data, count) = (arguments.next()?, arguments.next()?);
                let size = arguments.next()?;
                let parts = Box::new((data, count, size));
                Some(Expr::Array(parts, ArrayForm::Decimal))
            }
            "__builtin_expect" => self.arguments()?.into_iter().next(),
            "__builtin_choose_expr" => {
                self.is_beyond_reference = true;
                let mut arguments = self.arguments()?.into_iter();
                let condition = arguments.next()?;
                let (yes, no) = (arguments.next()?, arguments.next()?);
                match condition {
                    Expr::Constant(0, _) => Some(no),
                    Expr::Constant(..) => Some(yes),
                    _ => None,
                }
            }
            "pte_val" | "pmd_val" | "pud_val" | "p4d_val" | "pgd_val" | "native_make_pte"
            | "native_make_pmd" | "native_make_pud" | "native_make_p4d" | "native_make_pgd" => {
                self.is_beyond_reference = true;
                self.arguments()?.into_iter().next()
            }
            "sizeof" => self.size_of(),
            "__print_ns_to_secs" | "__print_ns_without_secs" => {
                self.is_beyond_reference = true;
                let value = self.arguments()?.into_iter().next()?;
                let billion = Expr::Constant(1_000_000_000, Int::ULONG);
                let operator = if name == "__print_ns_to_secs" {
                    Binary::Div
                } else {
                    Binary::Rem
                };
                Some(combine(operator, value, billion))
            }
            _ => {
                let function = match name {
                    "jbd2_dev_to_name" => Function::Jbd2DevToName,
                    "xen_hypercall_name" => Function::XenHypercallName,
                    "scsi_trace_parse_cdb" => Function::ScsiTraceParseCdb,
                    "jiffies_to_msecs" => Function::JiffiesToMsecs,
                    "__le16_to_cpup" => Function::Le16ToCpup,
                    "is_writable_pte" => Function::IsWritablePte,
                    _ => return None,
                };
                let arguments = self.arguments()?;
                Some(Expr::Call(function, arguments.into_boxed_slice()))
            }
        }
    }

    /// Expressions up to the closing parenthesis.
    fn arguments(&mut self) -> Option<Vec<Expr>> {
        let mut found = Vec::new();
        if self.take(")") {
            return Some(found);
        }
        loop {
            found.push(self.expression()?);
            if self.take(")") {
                return Some(found);
            }
            self.expect(",")?;
        }
    }

    /// `, { value, "text" }` rows and the closing parenthesis.
    fn named_rows(&mut self) -> Option<Box<[Named]>> {
        let mut rows = Vec::new();
        let mut is_complete = false;
        while self.take(",") {
            if !self.take("{") {
                // A table that the kernel kept to itself.
                return None;
            }
            if self.take("}") {
                self.is_beyond_reference = true;
                continue;
            }
            let start = self.at;
            let value = match self.expression()? {
                Expr::Constant(value, _) => Some(value),
                Expr::Symbol(name, _) => known_name(&name),
                other => constant(&other),
            };
            // Of the operators, trace-cmd's library computes only the simplest in tables.
            let beyond = |token: &Token| matches!(token, Token::Op("*" | "/" | "%" | "^" | "?"));
            let read = self.tokens.get(start..self.at).unwrap_or(&[]);
            self.is_beyond_reference |= read.iter().any(beyond);
            self.expect(",")?;
            let text = match self.expression()? {
                Expr::Text(text) => text,
                Expr::Symbol(name, _) => name.as_bytes().into(),
                _ => {
                    // A null pointer ends the table.
                    is_complete = true;
                    Box::default()
                }
            };
            self.expect("}")?;
            if !is_complete {
                rows.push(Named { value, text });
            }
        }
        self.expect(")")?;
        Some(rows.into_boxed_slice())
    }

    fn size_of(&mut self) -> Option<Expr> {
        let size = if matches!(self.peek(), Some(Token::Word(word)) if word == "REC") {
            match self.expression()? {
                Expr::Number(_, at) => u64::from(at.size),
                Expr::Element(_, width, _) => u64::from(width.size),
                Expr::Field(field) => {
                    self.is_beyond_reference = true;
                    u64::from(self.format.fields.get(usize::from(field))?.size)
                }
                _ => return None,
            }
        } else {
            // trace-cmd's library knows these and no other names of types.
            let is_known = |token: &Token| matches!(token, Token::Word(word) if matches!(word.as_str(), "unsigned" | "int" | "long"));
            let mut words = self.tokens.get(self.at..)?.iter();
            self.is_beyond_reference |= !words
                .by_ref()
                .take_while(|token| **token != Token::Op(")"))
                .all(is_known);
            return match self.cast_type()? {
                Type::Int(width) => Some(Expr::Constant(u64::from(width.size), self.size_int())),
                Type::Pointer(_) => {
                    Some(Expr::Constant(u64::from(self.long_size), self.size_int()))
                }
                Type::Other => None,
            };
        };
        self.expect(")")?;
        Some(Expr::Constant(size, self.size_int()))
    }

    fn size_int(&self) -> Int {
        Int {
            is_wide: self.long_size == 8,
            is_signed: false,
        }
    }
}

/// The field whose data `base[...]` or `*base` reaches into.
fn data_field(base: &Expr) -> Option<u16> {
    match base {
        Expr::Number(field, _) | Expr::Field(field) | Expr::Data(field) | Expr::String(field) => {
            Some(*field)
        }
        Expr::Pointer(_, inner) => data_field(inner),
        _ => None,
    }
}

fn cast(kind: Type, inner: Expr) -> Expr {
    match kind {
        Type::Int(width) => fold(Expr::Cast(width, Box::new(inner))),
        Type::Pointer(width) => Expr::Pointer(width, Box::new(inner)),
        Type::Other => inner,
    }
}

/// Casts to these change a number; other type names leave it as it is.
fn integer_type(name: &str, long_size: u8) -> Option<Width> {
    let (size, is_signed) = match name {
        "char" | "s8" | "__s8" | "int8_t" => (1, true),
        "u8" | "__u8" | "uint8_t" | "bool" | "_Bool" => (1, false),
        "short" | "s16" | "__s16" | "int16_t" => (2, true),
        "u16" | "__u16" | "uint16_t" | "umode_t" | "__le16" | "__be16" => (2, false),
        "s32" | "__s32" | "int32_t" | "pid_t" => (4, true),
        "u32" | "__u32" | "uint32_t" | "gfp_t" | "dev_t" | "__le32" | "__be32" | "uint"
        | "__poll_t" => (4, false),
        "s64" | "__s64" | "int64_t" | "loff_t" | "ktime_t" => (8, true),
        "u64" | "__u64" | "uint64_t" | "sector_t" | "dma_addr_t" | "phys_addr_t" | "__le64"
        | "__be64" | "blkcnt_t" => (8, false),
        "size_t" | "ulong" | "uintptr_t" => (long_size, false),
        "ssize_t" | "intptr_t" => (long_size, true),
        _ => return None,
    };
    Some(Width { size, is_signed })
}

fn binary_operator(op: &str) -> Option<(Binary, u8)> {
    Some(match op {
        "||" => (Binary::OrElse, 1),
        "&&" => (Binary::AndAlso, 2),
        "|" => (Binary::Or, 3),
        "^" => (Binary::Xor, 4),
        "&" => (Binary::And, 5),
        "==" => (Binary::Eq, 6),
        "!=" => (Binary::Ne, 6),
        "<" => (Binary::Lt, 7),
        ">" => (Binary::Gt, 7),
        "<=" => (Binary::Le, 7),
        ">=" => (Binary::Ge, 7),
        "<<" => (Binary::Shl, 8),
        ">>" => (Binary::Shr, 8),
        "+" => (Binary::Add, 9),
        "-" => (Binary::Sub, 9),
        "*" => (Binary::Mul, 10),
        "/" => (Binary::Div, 10),
        "%" => (Binary::Rem, 10),
        _ => return None,
    })
}

fn combine(operator: Binary, left: Expr, right: Expr) -> Expr {
    let int = match operator {
        Binary::Shl | Binary::Shr => left.int(),
        _ => left.int().common(right.int()),
    };
    fold(Expr::Binary(operator, int, Box::new(left), Box::new(right)))
}

/// Computes what is constant.
fn fold(expr: Expr) -> Expr {
    let value = match &expr {
        Expr::Unary(op, int, inner) => match **inner {
            Expr::Constant(value, _) => super::eval::unary(*op, *int, value),
            _ => return expr,
        },
        Expr::Binary(op, int, left, right) => match (&**left, &**right) {
            (Expr::Constant(left, _), Expr::Constant(right, _)) => {
                super::eval::binary(*op, *int, *left, *right)
            }
            _ => return expr,
        },
        Expr::Cast(width, inner) => match **inner {
            Expr::Constant(value, _) => width.hold(value),
            _ => return expr,
        },
        _ => return expr,
    };
    Expr::Constant(value, expr.int())
}

/// The value of an expression over constants; `None` if it has a name whose value nobody knows.
fn constant(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Constant(value, _) => Some(*value),
        Expr::Symbol(name, _) => known_name(name),
        Expr::Unary(op, int, inner) => Some(super::eval::unary(*op, *int, constant(inner)?)),
        Expr::Binary(op, int, left, right) => Some(super::eval::binary(
            *op,
            *int,
            constant(left)?,
            constant(right)?,
        )),
        Expr::Cast(width, inner) => Some(width.hold(constant(inner)?)),
        Expr::Pointer(_, inner) => constant(inner),
        _ => None,
    }
}

/// Names that kernels leave unresolved in their tables and that everybody knows.
fn known_name(name: &str) -> Option<u64> {
    Some(match name {
        "HI_SOFTIRQ" | "HRTIMER_NORESTART" => 0,
        "TIMER_SOFTIRQ" | "HRTIMER_RESTART" => 1,
        "NET_TX_SOFTIRQ" => 2,
        "NET_RX_SOFTIRQ" => 3,
        "BLOCK_SOFTIRQ" => 4,
        "IRQ_POLL_SOFTIRQ" => 5,
        "TASKLET_SOFTIRQ" => 6,
        "SCHED_SOFTIRQ" => 7,
        "HRTIMER_SOFTIRQ" => 8,
        "RCU_SOFTIRQ" => 9,
        _ => return None,
    })
}
