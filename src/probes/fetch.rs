//! One argument of a probe: `[NAME=]FETCH[:TYPE]`.

use super::fault::Fault;
use super::place::{Wrong, is_name, is_symbol, signed, symbol_offset, unsigned};
use super::{Fetch, FetchArgument, FetchType, Space};

/// All arguments, where the kernel has their types (BTF).
const ALL: &str = "$arg*";
const MOST_NAME: usize = 32;
const MOST_TEXT: usize = 63;
const MOST_ELEMENTS: u32 = 64;
/// How often memory can be followed: the kernel has room for 16 steps, two of which it needs itself.
const MOST_DEPTH: usize = 14;
/// Words on a kernel stack.
const MOST_STACK: u64 = 2048;
/// Fields that every probe's event has.
const TAKEN: &[&str] = &[
    "common_type",
    "common_flags",
    "common_preempt_count",
    "common_pid",
    "common_tgid",
    "__probe_ip",
    "__probe_func",
    "__probe_ret_ip",
];

/// What a probe can fetch depends on where it sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// At a kernel function's entry.
    FunctionEntry,
    /// Somewhere else in the kernel.
    Kernel,
    /// Where a kernel function returns.
    KernelReturn,
    /// In a program.
    User,
    /// Where a program's function returns.
    UserReturn,
    /// On an event.
    Event,
}

impl Around {
    fn is_return(self) -> bool {
        matches!(self, Around::KernelReturn | Around::UserReturn)
    }

    fn is_user(self) -> bool {
        matches!(self, Around::User | Around::UserReturn)
    }
}

/// Reads the `index`-th argument (from 0). Places in the answer's error are bytes of `word`.
pub(super) fn argument(
    word: &str,
    index: usize,
    before: &[FetchArgument],
    around: Around,
) -> Result<FetchArgument, Wrong> {
    let (name, body_at) = match word.find('=') {
        Some(equals) if equals > MOST_NAME => return Err((0, Fault::ArgumentNameTooLong)),
        Some(0) => return Err((0, Fault::NoArgumentName)),
        Some(equals) => (word.get(..equals), equals + 1),
        None => (None, 0),
    };
    if word
        .get(body_at..)
        .is_some_and(|body| body.starts_with(ALL))
    {
        return all_arguments(word, body_at, before, around);
    }
    let is_named = name.is_some();
    let name = name.map_or_else(|| format!("arg{}", index + 1), str::to_owned);
    if !is_name(&name) {
        return Err((0, Fault::BadArgumentName));
    }
    if TAKEN.contains(&name.as_str()) || before.iter().any(|it| it.name == name) {
        return Err((0, Fault::ArgumentNameUsed));
    }
    let text = word.get(body_at..).unwrap_or("");
    let (fetch, type_, count) = body(text, around).map_err(|(at, fault)| (body_at + at, fault))?;
    Ok(FetchArgument {
        name,
        is_named,
        fetch,
        type_,
        count,
        text: text.to_owned(),
    })
}

/// `$arg*`: all arguments of the function, by itself and once.
fn all_arguments(
    word: &str,
    body_at: usize,
    before: &[FetchArgument],
    around: Around,
) -> Result<FetchArgument, Wrong> {
    if word != ALL {
        return Err((body_at, Fault::AllNotAlone));
    }
    if around != Around::FunctionEntry && around != Around::KernelReturn {
        return Err((0, Fault::ArgumentNotAtEntry));
    }
    if before.iter().any(|it| it.fetch == Fetch::AllArguments) {
        return Err((0, Fault::AllTwice));
    }
    Ok(FetchArgument {
        name: ALL.to_owned(),
        is_named: false,
        fetch: Fetch::AllArguments,
        type_: FetchType::Word,
        count: None,
        text: ALL.to_owned(),
    })
}

fn body(text: &str, around: Around) -> Result<(Fetch, FetchType, Option<u32>), Wrong> {
    if text.len() > MOST_TEXT {
        return Err((0, Fault::ArgumentTooLong));
    }
    if text.is_empty() {
        return Err((0, Fault::NoArgumentBody));
    }
    let (value, type_text, type_at) = match text.find(':') {
        Some(colon) => (
            text.get(..colon).unwrap_or(""),
            text.get(colon + 1..),
            colon + 1,
        ),
        None => (text, None, 0),
    };
    let (type_text, count) = match type_text {
        Some(text) => array(text).map_err(|(at, fault)| (type_at + at, fault))?,
        None => ("", None),
    };
    let has_type = type_at > 0;
    let is_text_value = matches!(value, "$comm" | "$COMM") || value.starts_with("\\\"");
    let type_ = if is_text_value {
        if count.is_some() || (has_type && type_text != "string") {
            return Err((type_at, Fault::NeedsText));
        }
        FetchType::Text
    } else if has_type {
        named_type(type_text).map_err(|fault| (type_at, fault))?
    } else {
        FetchType::Word
    };
    let fetch = fetch(value, 0, around)?;
    let is_memory = matches!(
        fetch,
        Fetch::Memory { .. } | Fetch::Address(_) | Fetch::Symbol(..) | Fetch::FileOffset(_)
    );
    let is_right = match type_ {
        FetchType::Text | FetchType::UserText => {
            let is_held = matches!(
                fetch,
                Fetch::Comm | Fetch::ImmediateText(_) | Fetch::Immediate(_) | Fetch::EventField(_)
            );
            is_memory || is_held
        }
        FetchType::SymbolText => {
            let is_held = matches!(
                fetch,
                Fetch::Comm | Fetch::ImmediateText(_) | Fetch::Immediate(_) | Fetch::Stack
            );
            if is_held {
                return Err((type_at, Fault::BadSymbolText));
            }
            true
        }
        _ => is_memory || count.is_none(),
    };
    if !is_right {
        return Err((type_at, Fault::NotInMemory));
    }
    Ok((fetch, type_, count))
}

/// Splits `TYPE[N]`.
fn array(text: &str) -> Result<(&str, Option<u32>), Wrong> {
    let Some(open) = text.find('[') else {
        return Ok((text, None));
    };
    let inner = text.get(open + 1..).unwrap_or("");
    let close = inner.find(']').ok_or((text.len(), Fault::ArrayNotClosed))?;
    if close + 1 != inner.len() {
        return Err((open + close + 2, Fault::ArraySuffix));
    }
    let number = inner.get(..close).and_then(unsigned);
    let count = number
        .and_then(|number| u32::try_from(number).ok())
        .filter(|&count| count > 0)
        .ok_or((open + 1, Fault::BadArrayNumber))?;
    if count > MOST_ELEMENTS {
        return Err((open + 1, Fault::ArrayTooBig));
    }
    Ok((text.get(..open).unwrap_or(""), Some(count)))
}

/// The type called `name`.
fn named_type(name: &str) -> Result<FetchType, Fault> {
    match name {
        "char" => return Ok(FetchType::Char),
        "string" => return Ok(FetchType::Text),
        "ustring" => return Ok(FetchType::UserText),
        "symbol" => return Ok(FetchType::Symbol),
        "symstr" => return Ok(FetchType::SymbolText),
        _ => {}
    }
    let mut letters = name.chars();
    let letter = letters.next().ok_or(Fault::BadType)?;
    let rest = letters.as_str();
    if letter == 'b' {
        return bits(rest);
    }
    let size = match rest {
        "8" => 8,
        "16" => 16,
        "32" => 32,
        "64" => 64,
        _ => return Err(Fault::BadType),
    };
    match letter {
        'u' => Ok(FetchType::Unsigned(size)),
        's' => Ok(FetchType::Signed(size)),
        'x' => Ok(FetchType::Hex(size)),
        _ => Err(Fault::BadType),
    }
}

/// `WIDTH@OFFSET/SIZE`.
fn bits(text: &str) -> Result<FetchType, Fault> {
    let size = text.split_once('/').and_then(|(_, size)| unsigned(size));
    let size = match size {
        Some(size @ (8 | 16 | 32 | 64)) => size,
        _ => return Err(Fault::BadType),
    };
    let inner = text.split('/').next().unwrap_or("");
    let (width, offset) = inner.split_once('@').ok_or(Fault::BadBits)?;
    let (Some(width), Some(offset)) = (unsigned(width), unsigned(offset)) else {
        return Err(Fault::BadBits);
    };
    let is_inside = width > 0 && width.checked_add(offset).is_some_and(|end| end <= size);
    if !is_inside {
        return Err(Fault::BadBits);
    }
    Ok(FetchType::Bits {
        width: width as u8,
        offset: offset as u8,
        size: size as u8,
    })
}

/// Reads where a value comes from, `depth` brackets deep.
fn fetch(text: &str, depth: usize, around: Around) -> Result<Fetch, Wrong> {
    let rest = text.get(1..).unwrap_or("");
    match text.as_bytes().first() {
        Some(b'$') => variable(rest, around).map_err(|fault| (0, fault)),
        Some(b'%') if around == Around::Event => Err((0, Fault::BadVariable)),
        Some(b'%') => {
            if is_register(rest) {
                Ok(Fetch::Register(rest.to_owned()))
            } else {
                Err((0, Fault::BadRegister))
            }
        }
        Some(b'@') => at_address(rest, around).map_err(|fault| (0, fault)),
        Some(b'+' | b'-') => memory(text, depth, around),
        Some(b'\\') => immediate(rest).map_err(|(at, fault)| (at + 1, fault)),
        _ => Err((0, Fault::BadFetch)),
    }
}

fn variable(name: &str, around: Around) -> Result<Fetch, Fault> {
    match name {
        "comm" | "COMM" => return Ok(Fetch::Comm),
        _ if around == Around::Event => {
            return if is_name(name) {
                Ok(Fetch::EventField(name.to_owned()))
            } else {
                Err(Fault::BadVariable)
            };
        }
        "retval" if around.is_return() => return Ok(Fetch::ReturnValue),
        "retval" => return Err(Fault::ReturnValueOnEntry),
        "stack" => return Ok(Fetch::Stack),
        _ => {}
    }
    let number = |digits: &str| -> Option<u64> {
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u64::MAX))
    };
    if let Some(entry) = name.strip_prefix("stack").and_then(number) {
        return match u32::try_from(entry) {
            Ok(entry) if u64::from(entry) <= MOST_STACK => Ok(Fetch::StackEntry(entry)),
            _ => Err(Fault::BadStackNumber),
        };
    }
    if let Some(argument) = name.strip_prefix("arg").and_then(number) {
        if argument == 0 || argument > MOST_STACK {
            return Err(Fault::BadArgumentNumber);
        }
        return match around {
            Around::FunctionEntry => Ok(Fetch::Argument(argument as u32)),
            Around::User | Around::UserReturn => Err(Fault::BadVariable),
            _ => Err(Fault::ArgumentNotAtEntry),
        };
    }
    Err(Fault::BadVariable)
}

fn at_address(text: &str, around: Around) -> Result<Fetch, Fault> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return unsigned(text).map(Fetch::Address).ok_or(Fault::BadAddress);
    }
    if let Some(offset) = text.strip_prefix('+') {
        if !around.is_user() {
            return Err(Fault::FileOffsetInKernel);
        }
        return signed(offset)
            .map(Fetch::FileOffset)
            .ok_or(Fault::BadOffsetInFile);
    }
    if around.is_user() {
        return Err(Fault::SymbolInProgram);
    }
    match symbol_offset(text) {
        Some((name, offset)) if is_symbol(name) => Ok(Fetch::Symbol(name.to_owned(), offset)),
        _ => Err(Fault::BadAddress),
    }
}

/// `+|-[u]OFFS(FETCH)`.
fn memory(text: &str, depth: usize, around: Around) -> Result<Fetch, Wrong> {
    let is_negative = text.starts_with('-');
    let mut at = 1;
    let space = if text.get(1..).is_some_and(|rest| rest.starts_with('u')) {
        at = 2;
        Space::User
    } else {
        Space::Kernel
    };
    let open = text.find('(').ok_or((0, Fault::NoBracket))?;
    let number = text.get(at..open).and_then(|digits| {
        if is_negative {
            signed(digits)?
                .checked_neg()
                .filter(|_| !digits.starts_with('-'))
        } else {
            signed(digits)
        }
    });
    let offset = number.ok_or((0, Fault::BadOffset))?;
    let inner_at = open + 1;
    let inner = text.get(inner_at..).unwrap_or("");
    let close = inner
        .rfind(')')
        .ok_or((text.len(), Fault::BracketNotClosed))?;
    if depth >= MOST_DEPTH {
        return Err((inner_at, Fault::TooDeep));
    }
    let inner = inner.get(..close).unwrap_or("");
    let address = fetch(inner, depth + 1, around).map_err(|(at, fault)| (inner_at + at, fault))?;
    if matches!(address, Fetch::Comm | Fetch::ImmediateText(_)) {
        return Err((inner_at, Fault::CommNotFollowed));
    }
    Ok(Fetch::Memory {
        offset,
        space,
        address: Box::new(address),
    })
}

fn immediate(text: &str) -> Result<Fetch, Wrong> {
    if let Some(quoted) = text.strip_prefix('"') {
        return match quoted.strip_suffix('"') {
            Some(inner) => Ok(Fetch::ImmediateText(inner.to_owned())),
            None => Err((text.len(), Fault::ImmediateNotClosed)),
        };
    }
    let value = if text.starts_with(|c: char| c.is_ascii_digit()) {
        unsigned(text).map(u64::cast_signed)
    } else if text.starts_with(['-', '+']) {
        signed(text)
    } else {
        None
    };
    value.map(Fetch::Immediate).ok_or((0, Fault::BadImmediate))
}

/// Whether some machine has a register of this name, as the kernel calls them.
fn is_register(name: &str) -> bool {
    const NAMED: &[&str] = &[
        // x86
        "ax",
        "bx",
        "cx",
        "dx",
        "si",
        "di",
        "bp",
        "sp",
        "ip",
        "flags",
        "cs",
        "ds",
        "es",
        "fs",
        "gs",
        "ss",
        "orig_ax", // arm
        "fp",
        "lr",
        "pc",
        "cpsr",
        "ORIG_r0", // arm64
        "pstate",  // powerpc
        "nip",
        "msr",
        "orig_gpr3",
        "ctr",
        "link",
        "xer",
        "ccr",
        "softe",
        "trap",
        "dar",
        "dsisr",
        "mq", // riscv, mips, loongarch
        "epc",
        "ra",
        "gp",
        "tp",
        "status",
        "badaddr",
        "cause",
        "orig_a0",
        "lo",
        "hi",
        "cp0_status",
        "cp0_cause",
        "cp0_badvaddr",
        "cp0_epc",
        "csr_era", // s390
        "psw",
    ];
    /// Letters before a number, and the highest number.
    const NUMBERED: &[(&str, u32)] = &[
        ("r", 31),
        ("x", 30),
        ("gpr", 31),
        ("regs", 31),
        ("a", 7),
        ("s", 11),
        ("t", 8),
        ("$", 31),
    ];
    if NAMED.contains(&name) {
        return true;
    }
    NUMBERED.iter().any(|(letters, highest)| {
        let digits = name.strip_prefix(letters);
        digits.is_some_and(|digits| {
            let is_plain = digits == "0" || !digits.starts_with(['0', '+']);
            is_plain && digits.parse().is_ok_and(|number: u32| number <= *highest)
        })
    })
}
