//! Parses one argument of a probe: `[NAME=]FETCH[:TYPE]`.

use super::around::Around;
use super::definition::{Fetch, FetchArgument, FetchType, Space};
use super::fault::Fault;
use super::fetch_type::{MOST_STEPS, array, finish, named_type, steps};
use super::place::{Wrong, is_name, is_symbol, signed, symbol_offset, unsigned};

/// The argument for all arguments of the function, if the kernel has their types (BTF).
const ALL: &str = "$arg*";
const MOST_NAME: usize = 32;
const MOST_TEXT: usize = 63;
/// Largest index of a word on a kernel stack.
const MOST_STACK: u64 = 2048;
/// Names of fields that each event of a probe already has.
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

/// Parses the `index`-th argument (from 0); `before` are the arguments before it. An error's position is a byte offset
/// in `word`.
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
    let is_all = |body: &str| body.starts_with(ALL);
    if !around.is_user() && word.get(body_at..).is_some_and(is_all) {
        return all_arguments(word, body_at, before, around);
    }
    let is_named = name.is_some();
    let name = match name {
        Some(name) => name.to_owned(),
        // An argument of a function that is fetched by its name also gets that name.
        None => match word.split(':').next() {
            Some(name) if is_name(name) => name.to_owned(),
            _ => format!("arg{}", index + 1),
        },
    };
    if !is_name(&name) {
        return Err((0, Fault::BadArgumentName));
    }
    if TAKEN.contains(&name.as_str()) || before.iter().any(|it| it.name == name) {
        return Err((0, Fault::ArgumentNameUsed));
    }
    let text = word.get(body_at..).unwrap_or("");
    let body = body(text, around).map_err(|(at, fault)| (body_at + at, fault))?;
    Ok(FetchArgument {
        name,
        is_named,
        fetch: body.fetch,
        type_: body.type_,
        count: body.count,
        text: text.to_owned(),
    })
}

/// Parses `$arg*`, all arguments of the function: it has no name or type, and may occur once.
fn all_arguments(
    word: &str,
    body_at: usize,
    before: &[FetchArgument],
    around: Around,
) -> Result<FetchArgument, Wrong> {
    if word != ALL {
        return Err((body_at, Fault::AllNotAlone));
    }
    if !around.is_entry() && !around.is_kernel_return() {
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

/// `FETCH[:TYPE[N]]`, an argument without its name.
struct Body {
    fetch: Fetch,
    type_: FetchType,
    /// The length of an array.
    count: Option<u32>,
}

fn body(text: &str, around: Around) -> Result<Body, Wrong> {
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
    if matches!(type_text, "%pd" | "%pD") && count.is_none() && around.has_files() {
        // For the name of a directory entry or of a file, the kernel follows two or three pointers to the text.
        let fetch = fetch(value, around)?;
        if matches!(fetch, Fetch::Comm | Fetch::ImmediateText(_)) {
            return Err((0, Fault::CommNotFollowed));
        }
        return Ok(Body {
            fetch,
            type_: FetchType::Text,
            count: None,
        });
    }
    let has_type = type_at > 0;
    let is_text_value = matches!(value, "$comm" | "$COMM") || value.starts_with("\\\"");
    let type_ = if is_text_value && around != Around::Event {
        if count.is_some() || (has_type && type_text != "string") {
            return Err((type_at, Fault::NeedsText));
        }
        FetchType::Text
    } else if has_type {
        named_type(type_text, around).map_err(|fault| (type_at, fault))?
    } else if is_text_value {
        FetchType::Text
    } else {
        FetchType::Word
    };
    let fetch = fetch(value, around)?;
    let type_ = match &fetch {
        Fetch::Named(_) if !has_type => FetchType::Declared,
        _ => type_,
    };
    let bracket_at = match fetch {
        Fetch::Memory { .. } => value.find('(').map_or(0, |open| open + 1),
        _ => 0,
    };
    match finish(&fetch, type_, count, around) {
        None => Ok(Body {
            fetch,
            type_,
            count,
        }),
        // The kernel reports too many steps at the position of the first opening bracket.
        Some(Fault::TooDeep) => Err((bracket_at, Fault::TooDeep)),
        Some(fault) => Err((type_at, fault)),
    }
}

/// Parses the source of a value.
fn fetch(text: &str, around: Around) -> Result<Fetch, Wrong> {
    let rest = text.get(1..).unwrap_or("");
    match text.as_bytes().first() {
        Some(b'$') => variable(rest, around),
        Some(b'%') if !around.has_registers() => Err((0, Fault::BadVariable)),
        Some(b'%') => {
            if is_register(rest) {
                Ok(Fetch::Register(rest.to_owned()))
            } else {
                Err((0, Fault::BadRegister))
            }
        }
        Some(b'@') => at_address(rest, around).map_err(|fault| (0, fault)),
        Some(b'+' | b'-') => memory(text, around),
        Some(b'\\') => immediate(rest).map_err(|(at, fault)| (at + 1, fault)),
        Some(first) if first.is_ascii_alphabetic() || matches!(first, b'_' | b'(') => {
            if around.is_entry() || around.is_kernel_return() {
                named(text, 0).map(|()| Fetch::Named(text.to_owned()))
            } else {
                Err((0, Fault::NoDeclaration))
            }
        }
        _ => Err((0, Fault::BadFetch)),
    }
}

/// Checks the form of `NAME[->FIELD[.FIELD]...]`, whose first letter is at byte `at`.
fn named(text: &str, at: usize) -> Result<(), Wrong> {
    let mut rest_at = at;
    let mut is_first = true;
    loop {
        let rest = text.get(rest_at..).unwrap_or("");
        let length = rest.find(['.', '-']).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or("");
        let behind = rest.get(length..).unwrap_or("");
        let separator = if behind.starts_with("->") {
            2
        } else if behind.starts_with('-') {
            return Err((rest_at + length, Fault::LoneHyphen));
        } else if behind.starts_with('.') && is_first {
            return Err((rest_at + length + 1, Fault::FieldOfNoPointer));
        } else {
            behind.len().min(1)
        };
        let is_name = is_name(name.strip_prefix('$').filter(|_| is_first).unwrap_or(name));
        if !is_name {
            return Err((rest_at, Fault::UnknownName));
        }
        if behind.is_empty() {
            return Ok(());
        }
        rest_at += length + separator;
        is_first = false;
    }
}

fn variable(name: &str, around: Around) -> Result<Fetch, Wrong> {
    match name {
        "comm" | "COMM" => return Ok(Fetch::Comm),
        _ if around == Around::Event => {
            return if is_name(name) {
                Ok(Fetch::EventField(name.to_owned()))
            } else {
                Err((0, Fault::BadVariable))
            };
        }
        "stack" => return Ok(Fetch::Stack),
        _ => {}
    }
    if let Some(behind) = name.strip_prefix("retval") {
        return match around {
            _ if !around.is_return() => Err((0, Fault::ReturnValueOnEntry)),
            // The kernel ignores the text that follows.
            Around::UserReturn => Ok(Fetch::ReturnValue),
            _ if behind.is_empty() => Ok(Fetch::ReturnValue),
            _ if behind.starts_with(['-', '.']) => {
                let text = format!("${name}");
                named(&text, 0).map(|()| Fetch::Named(text))
            }
            _ => Err((0, Fault::UnknownName)),
        };
    }
    let number = |digits: &str| -> Option<u64> {
        let is_number = digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| is_number)
    };
    if let Some(entry) = name.strip_prefix("stack").and_then(number) {
        return match u32::try_from(entry) {
            Ok(entry) if around.is_user() || u64::from(entry) <= MOST_STACK => {
                Ok(Fetch::StackEntry(entry))
            }
            _ => Err((0, Fault::BadStackNumber)),
        };
    }
    if name.starts_with("arg*") && !around.is_user() {
        return Err((0, Fault::AllNotAlone));
    }
    if let Some(argument) = name.strip_prefix("arg").and_then(number) {
        if argument == 0 || argument > MOST_STACK {
            return Err((0, Fault::BadArgumentNumber));
        }
        return if around.is_entry() || around == Around::FprobeReturn {
            Ok(Fetch::Argument(argument as u32))
        } else {
            Err((0, Fault::ArgumentNotAtEntry))
        };
    }
    Err((0, Fault::BadVariable))
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

/// Parses `+|-[u]OFFS(FETCH)`.
fn memory(text: &str, around: Around) -> Result<Fetch, Wrong> {
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
                .filter(|_| !digits.starts_with(['-', '+']))
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
    let inner = inner.get(..close).unwrap_or("");
    let address = fetch(inner, around).map_err(|(at, fault)| (inner_at + at, fault))?;
    if matches!(address, Fetch::Comm | Fetch::ImmediateText(_)) {
        return Err((inner_at, Fault::CommNotFollowed));
    }
    if steps(&address) + 1 >= MOST_STEPS {
        return Err((inner_at, Fault::TooDeep));
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

/// Returns whether any architecture has a register of this name in the kernel.
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
    /// Prefix before a register's number, and the highest number.
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
