//! Calls in a print fmt: the kernel's functions that print fields, and functions that trace-cmd's plugins implement.

use super::Parser;
use super::constants::{combine, constant, known_name};
use super::types::Type;
use crate::formats::tracedat::print_fmt::expr::{
    ArrayForm, ArrayParts, Binary, Expr, Function, Int, Named,
};
use crate::formats::tracedat::print_fmt::token::Token;

impl Parser<'_> {
    /// Parses a call of the function `name`, after its `(`.
    pub(super) fn call(&mut self, name: &str) -> Option<Expr> {
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
                let parts = Box::new(ArrayParts { data, count, size });
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

    /// Parses expressions up to and including the closing parenthesis.
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

    /// Parses `, { value, "text" }` rows up to and including the closing parenthesis.
    fn named_rows(&mut self) -> Option<Box<[Named]>> {
        let mut rows = Vec::new();
        let mut is_complete = false;
        while self.take(",") {
            if !self.take("{") {
                // The print fmt does not contain the rows of the table.
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
            // In tables, trace-cmd's library evaluates only the simplest operators.
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
            // trace-cmd's library accepts no other names of types.
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
