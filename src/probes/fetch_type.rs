//! Parses the type of a probe's argument, `:TYPE[N]`, and checks whether the fetched value can have it.

use super::around::Around;
use super::definition::{Fetch, FetchType, Space};
use super::fault::Fault;
use super::place::{Wrong, unsigned};

const MOST_ELEMENTS: u32 = 64;
/// Maximum number of steps of a fetch: the kernel has room for 16, and uses the last as end mark.
pub(super) const MOST_STEPS: usize = 15;

/// Splits `TYPE[N]` into type and array length.
pub(super) fn array(text: &str) -> Result<(&str, Option<u32>), Wrong> {
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

/// Returns the type called `name`.
pub(super) fn named_type(name: &str, around: Around) -> Result<FetchType, Fault> {
    match name {
        // The kernel does not have the symbols of programs.
        "symbol" | "symstr" if around.is_user() => return Err(Fault::BadType),
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

/// Parses `WIDTH@OFFSET/SIZE`, in bits.
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

/// Returns the number of steps of a fetch before the step that yields the value.
pub(super) fn steps(fetch: &Fetch) -> usize {
    match fetch {
        Fetch::Address(_) | Fetch::FileOffset(_) => 1,
        Fetch::Symbol(..) => 2,
        Fetch::Memory { address, .. } => steps(address) + 1,
        Fetch::Named(name) => name.matches("->").count(),
        _ => 0,
    }
}

/// The source from which the last step of a fetch reads the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Memory(Space),
    /// A constant, or a text that the kernel has already (`$comm`).
    Held,
    /// The field of an event, or the argument of a function by its name: a value of any kind.
    Any,
    Stack,
    /// An argument that was saved at the function's entry.
    Kept,
    Register,
}

/// Returns why a value cannot be stored as this type; `None` if it can.
pub(super) fn finish(
    fetch: &Fetch,
    type_: FetchType,
    count: Option<u32>,
    around: Around,
) -> Option<Fault> {
    let last = match fetch {
        Fetch::Memory { space, .. } => Last::Memory(*space),
        Fetch::Address(_) | Fetch::Symbol(..) | Fetch::FileOffset(_) => Last::Memory(Space::Kernel),
        Fetch::Named(name) if name.contains("->") => Last::Memory(Space::Kernel),
        Fetch::Immediate(_) | Fetch::ImmediateText(_) | Fetch::Comm => Last::Held,
        Fetch::EventField(_) | Fetch::Named(_) => Last::Any,
        Fetch::Stack => Last::Stack,
        Fetch::Argument(_) if around == Around::FprobeReturn => Last::Kept,
        _ => Last::Register,
    };
    let is_memory = matches!(last, Last::Memory(_));
    let mut used = steps(fetch);
    let is_text = matches!(type_, FetchType::Text | FetchType::UserText);
    match type_ {
        FetchType::SymbolText => {
            let is_no_address = matches!(last, Last::Held | Last::Stack | Last::Kept);
            if is_no_address || last == Last::Memory(Space::User) {
                return Some(Fault::BadSymbolText);
            }
        }
        _ if is_text && !(is_memory || matches!(last, Last::Held | Last::Any)) => {
            return Some(Fault::NotInMemory);
        }
        _ => {}
    }
    let is_in_place = match is_text {
        true => is_memory && count.is_none(),
        false => is_memory && type_ != FetchType::SymbolText,
    };
    // Storing, extracting bits and repeating for an array each need a step.
    used += usize::from(!is_in_place);
    if used >= MOST_STEPS {
        return Some(Fault::TooDeep);
    }
    if matches!(type_, FetchType::Bits { .. }) {
        used += 1;
        if used >= MOST_STEPS {
            return Some(Fault::BadBits);
        }
    }
    if count.is_some() {
        let is_right = match last {
            _ if is_text => true,
            Last::Memory(Space::User) if type_ != FetchType::SymbolText => {
                return Some(Fault::UserArray);
            }
            Last::Memory(_) => type_ != FetchType::SymbolText,
            _ => false,
        };
        if !is_right {
            return Some(Fault::NotInMemory);
        }
        used += 1;
        if used >= MOST_STEPS {
            return Some(Fault::TooDeep);
        }
    }
    None
}
