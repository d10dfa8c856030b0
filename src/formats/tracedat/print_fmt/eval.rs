//! Evaluates an expression over a record to a 64-bit number, by the rules of C.

use super::expr::{Binary, Expr, Int, NumberAt, Unary, Width};
use crate::base::Endian;
use crate::formats::tracedat::event_format::FieldFormat;

/// A function of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionAt<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// Its start address.
    pub start: u64,
}

/// How a parameter's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterSort {
    /// With its sign.
    Signed,
    /// A pointer or an unsigned number.
    Unsigned,
    /// A structure or union of this many bytes.
    Compound(u32),
    /// Its type is not known.
    Unknown,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its name; empty if it has none.
    pub name: &'a str,
    /// How its value is written.
    pub sort: ParameterSort,
}

/// Resolves addresses and numbers to names: symbols of the kernel, its constant strings, values of enums.
pub trait Lookup {
    /// Returns the function that contains `address`.
    fn symbol(&self, address: u64) -> Option<FunctionAt<'_>>;
    /// Returns the address of the symbol `name`.
    fn symbol_address(&self, name: &str) -> Option<u64>;
    /// Returns the constant string at `address` (printk formats).
    fn printk(&self, address: u64) -> Option<&[u8]>;
    /// Returns the name of `value` in the enum that `type_name` (`enum NAME`) means; `None` if the file does not
    /// contain it.
    fn enum_value(&self, _type_name: &str, _value: i64) -> Option<&str> {
        None
    }
    /// Returns the parameters of a function; `None` if the file does not describe them.
    fn parameters(&self, _function: &str) -> Option<Vec<Parameter<'_>>> {
        None
    }
}

/// A record with everything that expressions over it are evaluated with.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The bytes of the event.
    pub record: &'a [u8],
    /// The fields of the event's kind.
    pub fields: &'a [FieldFormat],
    /// Byte order of the file.
    pub endian: Endian,
    /// Size of the kernel's `long`, in bytes.
    pub long_size: u32,
    /// Resolves addresses to names.
    pub lookup: &'a dyn Lookup,
}

impl Scope<'_> {
    /// Returns the value of `expr`; fields outside the record count as 0.
    #[must_use]
    pub fn number(&self, expr: &Expr) -> u64 {
        match expr {
            Expr::Constant(value, _) => *value,
            Expr::Number(_, at) => self.number_at(*at),
            Expr::Symbol(name, address) => {
                *address.get_or_init(|| self.lookup.symbol_address(name).unwrap_or(0))
            }
            Expr::Unary(op, int, inner) => unary(*op, *int, self.number(inner)),
            Expr::Binary(Binary::AndAlso, _, left, right) => {
                u64::from(self.number(left) != 0 && self.number(right) != 0)
            }
            Expr::Binary(Binary::OrElse, _, left, right) => {
                u64::from(self.number(left) != 0 || self.number(right) != 0)
            }
            Expr::Binary(op, int, left, right) => {
                binary(*op, *int, self.number(left), self.number(right))
            }
            Expr::Choice(int, parts) => {
                let (condition, yes, no) = &**parts;
                int.hold(if self.number(condition) != 0 {
                    self.number(yes)
                } else {
                    self.number(no)
                })
            }
            Expr::Cast(width, inner) => width.hold(self.number(inner)),
            Expr::Pointer(_, inner) => self.number(inner),
            Expr::Element(field, width, index) => self.element(*field, *width, index).unwrap_or(0),
            Expr::DataLength(field) => self.data_length(*field),
            Expr::Call(function, arguments) => super::call::number(self, *function, arguments),
            _ => 0,
        }
    }

    fn number_at(&self, at: NumberAt) -> u64 {
        let offset = at.offset as usize;
        let Some(bytes) = self.record.get(offset..) else {
            return 0;
        };
        let value = match at.size {
            1 => bytes.first().map(|&byte| u64::from(byte)),
            2 => bytes.first_chunk().map(|b| u64::from(self.endian.u16(*b))),
            4 => bytes.first_chunk().map(|b| u64::from(self.endian.u32(*b))),
            _ => bytes.first_chunk().map(|b| self.endian.u64(*b)),
        };
        let value = value.unwrap_or(0);
        if at.is_signed {
            Width {
                size: at.size,
                is_signed: true,
            }
            .hold(value)
        } else {
            value
        }
    }

    fn element(&self, field: u16, width: Width, index: &Expr) -> Option<u64> {
        let data = self.data(field)?;
        let start = usize::try_from(self.number(index))
            .ok()?
            .checked_mul(usize::from(width.size))?;
        let bytes = data.get(start..start.checked_add(usize::from(width.size))?)?;
        let value = crate::formats::tracedat::event_format::read_number(bytes, self.endian)?;
        Some(width.hold(value))
    }

    /// Returns the data of a field; `None` if it is not completely in the record.
    #[must_use]
    pub fn data(&self, field: u16) -> Option<&[u8]> {
        self.fields
            .get(usize::from(field))?
            .data(self.record, self.endian)
    }

    fn data_length(&self, field: u16) -> u64 {
        self.data(field).map_or(0, |data| data.len() as u64)
    }

    /// Returns the bytes of an argument that is printed as bytes (`%pI4`, `__print_hex`).
    #[must_use]
    pub fn bytes<'s>(&'s self, expr: &'s Expr) -> Option<&'s [u8]> {
        match expr {
            Expr::Number(field, _) | Expr::Field(field) | Expr::Data(field) => self.data(*field),
            Expr::String(field) => self.data(*field),
            Expr::Pointer(_, inner) | Expr::Cast(_, inner) => self.bytes(inner),
            Expr::Text(text) => Some(text),
            Expr::Choice(_, parts) => {
                let (condition, yes, no) = &**parts;
                self.bytes(if self.number(condition) != 0 { yes } else { no })
            }
            _ => None,
        }
    }
}

/// Computes `op x` in the type `int`.
#[must_use]
pub(crate) fn unary(op: Unary, int: Int, value: u64) -> u64 {
    match op {
        Unary::Minus => int.hold(value.wrapping_neg()),
        Unary::Not => int.hold(!value),
        Unary::IsZero => u64::from(value == 0),
    }
}

/// Computes `left op right` in the type `int`; division by zero returns 0.
#[must_use]
pub(crate) fn binary(op: Binary, int: Int, left: u64, right: u64) -> u64 {
    let shift = right as u32;
    let left = int.hold(left);
    if !matches!(op, Binary::Shl | Binary::Shr) {
        let right = int.hold(right);
        let order = if int.is_signed {
            (left as i64).cmp(&(right as i64))
        } else {
            left.cmp(&right)
        };
        let value = match op {
            Binary::Mul => left.wrapping_mul(right),
            Binary::Div if right == 0 => 0,
            Binary::Rem if right == 0 => 0,
            Binary::Div if int.is_signed => (left as i64).wrapping_div(right as i64) as u64,
            Binary::Rem if int.is_signed => (left as i64).wrapping_rem(right as i64) as u64,
            Binary::Div => left / right,
            Binary::Rem => left % right,
            Binary::Add => left.wrapping_add(right),
            Binary::Sub => left.wrapping_sub(right),
            Binary::And => left & right,
            Binary::Xor => left ^ right,
            Binary::Or => left | right,
            Binary::Lt => return u64::from(order.is_lt()),
            Binary::Gt => return u64::from(order.is_gt()),
            Binary::Le => return u64::from(order.is_le()),
            Binary::Ge => return u64::from(order.is_ge()),
            Binary::Eq => return u64::from(order.is_eq()),
            Binary::Ne => return u64::from(order.is_ne()),
            Binary::AndAlso => return u64::from(left != 0 && right != 0),
            Binary::OrElse => return u64::from(left != 0 || right != 0),
            Binary::Shl | Binary::Shr => 0,
        };
        return int.hold(value);
    }
    // Shift counts that are too large wrap around, as on most machines.
    let shift = shift & if int.is_wide { 63 } else { 31 };
    let value = match (op, int.is_signed) {
        (Binary::Shl, _) => left.wrapping_shl(shift),
        (_, true) => (left as i64).wrapping_shr(shift) as u64,
        (_, false) => left.wrapping_shr(shift),
    };
    int.hold(value)
}
