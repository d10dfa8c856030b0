//! What an argument of a print fmt is, once parsed: numbers with C types, and the things that print as text.

use std::sync::OnceLock;

/// A C integer type after promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Int {
    /// Whether it has 64 bits (else 32).
    pub is_wide: bool,
    /// Whether it has a sign.
    pub is_signed: bool,
}

impl Int {
    /// `int`.
    pub const INT: Int = Int {
        is_wide: false,
        is_signed: true,
    };
    /// `unsigned int`.
    pub const UINT: Int = Int {
        is_wide: false,
        is_signed: false,
    };
    /// `long long`.
    pub const LONG: Int = Int {
        is_wide: true,
        is_signed: true,
    };
    /// `unsigned long long`.
    pub const ULONG: Int = Int {
        is_wide: true,
        is_signed: false,
    };

    /// The type in which two operands meet.
    #[must_use]
    pub fn common(self, other: Int) -> Int {
        if self.is_wide == other.is_wide {
            Int {
                is_wide: self.is_wide,
                is_signed: self.is_signed && other.is_signed,
            }
        } else if self.is_wide {
            self
        } else {
            other
        }
    }

    /// `value` as a value of this type, widened to 64 bits by its sign.
    #[must_use]
    pub fn hold(self, value: u64) -> u64 {
        match (self.is_wide, self.is_signed) {
            (true, _) => value,
            (false, true) => value as u32 as i32 as i64 as u64,
            (false, false) => u64::from(value as u32),
        }
    }
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Minus,
    /// `~x`
    Not,
    /// `!x`
    IsZero,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    And,
    Xor,
    Or,
    AndAlso,
    OrElse,
}

/// A number in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberAt {
    /// Bytes from the record's start.
    pub offset: u32,
    /// 1, 2, 4 or 8.
    pub size: u8,
    /// Whether it is sign-extended.
    pub is_signed: bool,
}

/// One row of a `__print_flags` or `__print_symbolic` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The value; `None` for a name that the kernel did not resolve.
    pub value: Option<u64>,
    /// What is printed for it.
    pub text: Box<[u8]>,
}

/// What an integer cast or an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// 1, 2, 4 or 8 bytes.
    pub size: u8,
    /// Whether it has a sign.
    pub is_signed: bool,
}

/// Functions of the kernel that print formats call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Function {
    Jbd2DevToName,
    XenHypercallName,
    ScsiTraceParseCdb,
    JiffiesToMsecs,
    Le16ToCpup,
    IsWritablePte,
}

/// How `__print_array` shows its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayForm {
    /// `1 2`, as trace-cmd does.
    Decimal,
    /// `{0x1,0x2}`, as the kernel does: where trace-cmd cannot print the format at all.
    Kernel,
}

/// An argument of a print fmt.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant and its type.
    Constant(u64, Int),
    /// A name that is none of ours: the address of a kernel symbol, or 0; looked up once.
    Symbol(Box<str>, OnceLock<u64>),
    /// A string literal.
    Text(Box<[u8]>),
    /// A numeric field: index of the field, and where its number is.
    Number(u16, NumberAt),
    /// Any other field (arrays, strings): its bytes.
    Field(u16),
    /// `&REC->field` and `__get_dynamic_array(field)`: the data themselves.
    Data(u16),
    /// `base[index]`: the field whose data are indexed, the element, the index.
    Element(u16, Width, Box<Expr>),
    /// `__get_dynamic_array_len(field)`.
    DataLength(u16),
    /// `__get_str(field)`.
    String(u16),
    /// `__get_str(field[i])`: the i-th of several strings.
    StringOf(u16, u32),
    /// `op x`, in its type.
    Unary(Unary, Int, Box<Expr>),
    /// `x op y`, computed in this type.
    Binary(Binary, Int, Box<Expr>, Box<Expr>),
    /// `x ? y : z`, in its type.
    Choice(Int, Box<(Expr, Expr, Expr)>),
    /// `(type) x` for a type that cuts or widens.
    Cast(Width, Box<Expr>),
    /// `(struct x *) x`: the value stays. Element type of the pointer, where known.
    Pointer(Option<Width>, Box<Expr>),
    /// `__print_flags(value, delimiter, table)`.
    Flags(Box<Expr>, Box<[u8]>, Box<[Named]>),
    /// `__print_symbolic(value, table)`.
    Symbolic(Box<Expr>, Box<[Named]>),
    /// `__print_hex(data, length)`; the separator.
    Hex(Box<Expr>, Box<Expr>, &'static str),
    /// `__print_array(data, count, element size)`.
    Array(Box<(Expr, Expr, Expr)>, ArrayForm),
    /// `__get_bitmask(field)`.
    Bitmask(u16),
    /// `__get_cpumask(field)`.
    CpuList(u16),
    /// A function that the plugins know.
    Call(Function, Box<[Expr]>),
}

impl Expr {
    /// The type of the number that it is (64 bits for what is none).
    #[must_use]
    pub fn int(&self) -> Int {
        match self {
            Expr::Constant(_, int) | Expr::Unary(_, int, _) | Expr::Choice(int, _) => *int,
            Expr::Binary(op, int, ..) => match op {
                Binary::Lt
                | Binary::Gt
                | Binary::Le
                | Binary::Ge
                | Binary::Eq
                | Binary::Ne
                | Binary::AndAlso
                | Binary::OrElse => Int::INT,
                _ => *int,
            },
            Expr::Number(_, at) => Width {
                size: at.size,
                is_signed: at.is_signed,
            }
            .promoted(),
            Expr::Element(_, width, _) | Expr::Cast(width, _) => width.promoted(),
            Expr::DataLength(_) => Int::INT,
            _ => Int::ULONG,
        }
    }
}

impl Width {
    /// The type in which it is computed with.
    #[must_use]
    pub fn promoted(self) -> Int {
        match self.size {
            1 | 2 => Int::INT,
            4 => Int {
                is_wide: false,
                is_signed: self.is_signed,
            },
            _ => Int {
                is_wide: true,
                is_signed: self.is_signed,
            },
        }
    }

    /// `value` cut to this width and widened again by its sign.
    #[must_use]
    pub fn hold(self, value: u64) -> u64 {
        match (self.size, self.is_signed) {
            (1, false) => u64::from(value as u8),
            (2, false) => u64::from(value as u16),
            (4, false) => u64::from(value as u32),
            (1, true) => value as u8 as i8 as i64 as u64,
            (2, true) => value as u16 as i16 as i64 as u64,
            (4, true) => value as u32 as i32 as i64 as u64,
            _ => value,
        }
    }
}
