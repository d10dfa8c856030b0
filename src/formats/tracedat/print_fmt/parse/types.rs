//! Names of types in casts and `sizeof`.

use super::Parser;
use super::constants::fold;
use crate::formats::tracedat::print_fmt::expr::{Expr, Width};
use crate::formats::tracedat::print_fmt::token::Token;

/// The type in a cast.
pub(super) enum Type {
    Int(Width),
    Pointer(Option<Width>),
    Other,
}

impl Parser<'_> {
    /// Parses the type of a cast after its `(`, and the `)`. `None` if it is not a cast; tokens may have been consumed.
    pub(super) fn cast_type(&mut self) -> Option<Type> {
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
            // `(NAME)` is a cast only if an operand follows.
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
}

/// Casts `inner` to the type `kind`.
pub(super) fn cast(kind: Type, inner: Expr) -> Expr {
    match kind {
        Type::Int(width) => fold(Expr::Cast(width, Box::new(inner))),
        Type::Pointer(width) => Expr::Pointer(width, Box::new(inner)),
        Type::Other => inner,
    }
}

/// Returns the integer type of a cast that changes a number; `None` for types that leave it unchanged.
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
