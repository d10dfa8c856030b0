//! The parsed arguments of a print fmt: numbers with C types, and expressions that print as text.

use std::sync::OnceLock;

/// A C integer type after promotion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Int {
    /// Whether it has 64 bits, otherwise 32.
    pub is_wide: bool,
    /// Whether it is signed.
    pub is_signed: bool,
}

impl Int {
    /// `int`.
    pub(crate) const INT: Int = Int {
        is_wide: false,
        is_signed: true,
    };
    /// `unsigned long long`.
    pub(crate) const ULONG: Int = Int {
        is_wide: true,
        is_signed: false,
    };

    /// Returns the type in which an operator computes with operands of these two types.
    #[must_use]
    pub(crate) fn common(self, other: Int) -> Int {
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

    /// Truncates `value` to this type and extends it to 64 bits again; sign-extended if the type is signed.
    #[must_use]
    pub(crate) fn hold(self, value: u64) -> u64 {
        match (self.is_wide, self.is_signed) {
            (true, _) => value,
            (false, true) => value as u32 as i32 as i64 as u64,
            (false, false) => u64::from(value as u32),
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Minus,
    /// `~x`
    Not,
    /// `!x`
    IsZero,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `x * y`
    Mul,
    /// `x / y`
    Div,
    /// `x % y`
    Rem,
    /// `x + y`
    Add,
    /// `x - y`
    Sub,
    /// `x << y`
    Shl,
    /// `x >> y`
    Shr,
    /// `x < y`
    Lt,
    /// `x > y`
    Gt,
    /// `x <= y`
    Le,
    /// `x >= y`
    Ge,
    /// `x == y`
    Eq,
    /// `x != y`
    Ne,
    /// `x & y`
    And,
    /// `x ^ y`
    Xor,
    /// `x | y`
    Or,
    /// `x && y`
    AndAlso,
    /// `x || y`
    OrElse,
}

/// Offset and type of a number in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberAt {
    /// Offset from the record's start, in bytes.
    pub offset: u32,
    /// Size in bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// Whether it is sign-extended.
    pub is_signed: bool,
}

/// One row of a `__print_flags` or `__print_symbolic` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The value; `None` for a name whose value is unknown.
    pub value: Option<u64>,
    /// The text that is printed for the value.
    pub text: Box<[u8]>,
}

/// The type of an integer cast or of an array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Size in bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// Whether it is signed.
    pub is_signed: bool,
}

/// Functions of the kernel that print formats call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `jbd2_dev_to_name`: major and minor number of a device.
    Jbd2DevToName,
    /// `xen_hypercall_name`: the name of a hypercall's number.
    XenHypercallName,
    /// `scsi_trace_parse_cdb`: the text of a SCSI command.
    ScsiTraceParseCdb,
    /// `jiffies_to_msecs`
    JiffiesToMsecs,
    /// `__le16_to_cpup`: a little-endian number of 16 bits.
    Le16ToCpup,
    /// `is_writable_pte`: the bit of a page table entry that allows writes.
    IsWritablePte,
}

/// The arguments of `__print_array`.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayParts {
    /// The bytes.
    pub data: Expr,
    /// The number of elements.
    pub count: Expr,
    /// The size of an element in bytes.
    pub size: Expr,
}

/// The form in which `__print_array` prints elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayForm {
    /// `1 2`, the form of trace-cmd.
    Decimal,
    /// `{0x1,0x2}`, the form of the kernel: for print formats that trace-cmd cannot print.
    Kernel,
}

/// An argument of a print fmt.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant and its type.
    Constant(u64, Int),
    /// An unknown name: the address of the kernel symbol with this name, or 0. Looked up once.
    Symbol(Box<str>, OnceLock<u64>),
    /// A string literal.
    Text(Box<[u8]>),
    /// A numeric field: index of the field, and offset and type of its number.
    Number(u16, NumberAt),
    /// Any other field (array, string): its bytes.
    Field(u16),
    /// `&REC->field` and `__get_dynamic_array(field)`: the bytes of the data.
    Data(u16),
    /// `base[index]`: index of the field that contains the elements, type of an element, element index.
    Element(u16, Width, Box<Expr>),
    /// `__get_dynamic_array_len(field)`.
    DataLength(u16),
    /// `__get_str(field)`.
    String(u16),
    /// `__get_str(field[i])`: the i-th of several strings.
    StringOf(u16, u32),
    /// `op x`, computed in this type.
    Unary(Unary, Int, Box<Expr>),
    /// `x op y`, computed in this type.
    Binary(Binary, Int, Box<Expr>, Box<Expr>),
    /// `x ? y : z`, computed in this type.
    Choice(Int, Box<(Expr, Expr, Expr)>),
    /// `(type) x` for a type that truncates or extends.
    Cast(Width, Box<Expr>),
    /// `(struct x *) x`: the value is unchanged. Contains the type of the elements that the pointer refers to, if
    /// known.
    Pointer(Option<Width>, Box<Expr>),
    /// `__print_flags(value, delimiter, table)`.
    Flags(Box<Expr>, Box<[u8]>, Box<[Named]>),
    /// `__print_symbolic(value, table)`.
    Symbolic(Box<Expr>, Box<[Named]>),
    /// `__print_hex(data, length)`, with the text between two bytes.
    Hex(Box<Expr>, Box<Expr>, &'static str),
    /// `__print_array(data, count, element size)`.
    Array(Box<ArrayParts>, ArrayForm),
    /// `__get_bitmask(field)`.
    Bitmask(u16),
    /// `__get_cpumask(field)`.
    CpuList(u16),
    /// A call of a kernel function that this reader implements.
    Call(Function, Box<[Expr]>),
}

impl Expr {
    /// Returns the C type of the expression; 64 bits unsigned if it is not a number.
    #[must_use]
    pub(crate) fn int(&self) -> Int {
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
    /// Returns the type after C's integer promotion.
    #[must_use]
    pub(crate) fn promoted(self) -> Int {
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

    /// Truncates `value` to this width and extends it to 64 bits again; sign-extended if the type is signed.
    #[must_use]
    pub(crate) fn hold(self, value: u64) -> u64 {
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
