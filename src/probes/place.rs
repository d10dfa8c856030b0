//! Parses the first two words of a definition: the names of group and event, and the probed place.

use super::definition::{ProbePlace, ProbeSort};
use super::fault::Fault;

/// Size of the kernel's buffer for names, with the final NUL: a name has at most one character less.
const NAME_SIZE: usize = 64;

/// The byte offset in the word, and the fault there.
pub(super) type Wrong = (usize, Fault);

/// Returns whether `text` is a C identifier.
pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Parses a number as the kernel does: decimal, octal after `0`, hexadecimal after `0x`.
pub(super) fn unsigned(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..)?, 16),
        [b'0', _, ..] => (text.get(1..)?, 8),
        _ => (text, 10),
    };
    // `from_str_radix` alone would accept a sign.
    let is_number = digits.bytes().all(|b| b.is_ascii_alphanumeric());
    u64::from_str_radix(digits, radix)
        .ok()
        .filter(|_| is_number)
}

/// Parses a number of [`unsigned`]'s form with an optional sign.
pub(super) fn signed(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => {
            0_i64.checked_sub_unsigned(unsigned(rest).filter(|_| !rest.starts_with('+'))?)
        }
        None => i64::try_from(unsigned(text)?).ok(),
    }
}

/// Splits `SYM+offs` or `SYM-offs` into symbol and offset in bytes (0 without offset).
pub(super) fn symbol_offset(text: &str) -> Option<(&str, i64)> {
    match text.find(['+', '-']) {
        Some(at) => Some((text.get(..at)?, signed(text.get(at..)?)?)),
        None => Some((text, 0)),
    }
}

/// Returns whether `text` can be the name of a function: C characters, and suffixes that compilers append (`.isra.0`).
pub(super) fn is_symbol(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$'))
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$' | b'@'))
}

/// The name of a probe's event: `[GRP/][EVENT]`.
#[derive(Default)]
pub(super) struct EventName {
    pub(super) group: Option<String>,
    pub(super) event: Option<String>,
}

/// Parses `[GRP/][EVENT]`, the text after the first colon; `at` is its byte offset in the word.
pub(super) fn event_name(text: &str, at: usize) -> Result<EventName, Wrong> {
    let slash = text.find('/').or_else(|| text.find('.'));
    let (group, event, event_at) = match slash {
        Some(slash) => {
            let (group, rest) = text.split_at(slash);
            (Some(group), rest.get(1..).unwrap_or(""), at + slash + 1)
        }
        None => (None, text, at),
    };
    if let Some(group) = group {
        let fault = if group.is_empty() {
            Some(Fault::NoGroup)
        } else if group.len() >= NAME_SIZE {
            Some(Fault::GroupTooLong)
        } else if !is_name(&group.replace('-', "_")) {
            Some(Fault::BadGroup)
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err((at, fault));
        }
    }
    let named = |event: Option<&str>| EventName {
        group: group.map(str::to_owned),
        event: event.map(str::to_owned),
    };
    let fault = if event.is_empty() {
        if group.is_some() {
            return Ok(named(None));
        }
        Fault::NoEvent
    } else if event.len() >= NAME_SIZE {
        Fault::EventTooLong
    } else if is_name(event) {
        return Ok(named(Some(event)));
    } else {
        Fault::BadEvent
    };
    Err((event_at, fault))
}

/// Parses the second word, the place of a probe whose definition starts with `letter`. Sets `sort` if the word makes it
/// a return probe.
pub(super) fn place(letter: u8, word: &str, sort: &mut ProbeSort) -> Result<ProbePlace, Wrong> {
    match letter {
        b'e' => return event_place(word),
        b'f' => return function_place(word, sort),
        b't' => return tracepoint(word),
        _ => {}
    }
    if let Some(address) = unsigned(word) {
        return Ok(ProbePlace::Address(address));
    }
    if has_size(word) {
        return Err((0, Fault::PlaceWithSize));
    }
    if word.contains('/') && word.contains(':') {
        return file_place(word, sort);
    }
    let mut symbol = word;
    if let Some(percent) = word.find('%') {
        if word.get(percent..) != Some("%return") {
            return Err((percent, Fault::BadPlaceSuffix));
        }
        *sort = ProbeSort::Return;
        symbol = word.get(..percent).unwrap_or(word);
    }
    let bad = (0, Fault::BadPlace);
    let (module, rest) = match symbol.split_once(':') {
        Some((module, rest)) if is_name(&module.replace('-', "_")) => (module, rest),
        Some(_) => return Err(bad),
        None => ("", symbol),
    };
    let (name, offset) = symbol_offset(rest).ok_or(bad)?;
    let offset = u64::try_from(offset).map_err(|_| bad)?;
    if !is_symbol(name) || offset > u64::from(u32::MAX) {
        return Err(bad);
    }
    if *sort == ProbeSort::Return && offset != 0 {
        return Err((0, Fault::ReturnNotAtEntry));
    }
    Ok(ProbePlace::Symbol {
        module: module.to_owned(),
        name: name.to_owned(),
        offset,
    })
}

/// Returns whether a word is `[MOD:]SYM+offs/size`, as stack traces and events print symbols.
fn has_size(word: &str) -> bool {
    let split = || {
        let (place, size) = word.split_once('/')?;
        let (symbol, offset) = place.rsplit_once('+')?;
        Some((symbol.rsplit(':').next()?, offset, size))
    };
    split().is_some_and(|(symbol, offset, size)| {
        is_symbol(symbol) && unsigned(offset).is_some() && unsigned(size).is_some()
    })
}

/// Parses `SYSTEM.EVENT` or `SYSTEM/EVENT`.
fn event_place(word: &str) -> Result<ProbePlace, Wrong> {
    let found = word.split_once(['.', '/']);
    match found.filter(|(system, event)| is_name(&system.replace('-', "_")) && is_name(event)) {
        Some((system, event)) => Ok(ProbePlace::Event {
            system: system.to_owned(),
            event: event.to_owned(),
        }),
        None => Err((0, Fault::BadEventPlace)),
    }
}

/// Parses `[MOD:]SYM[%return]`.
fn function_place(word: &str, sort: &mut ProbeSort) -> Result<ProbePlace, Wrong> {
    let mut symbol = word;
    if let Some(percent) = word.find('%') {
        if word.get(percent..) != Some("%return") {
            return Err((percent, Fault::BadPlaceSuffix));
        }
        *sort = ProbeSort::Return;
        symbol = word.get(..percent).unwrap_or(word);
    }
    let (module, name) = symbol.split_once(':').unwrap_or(("", symbol));
    if !(module.is_empty() || is_name(&module.replace('-', "_"))) || !is_symbol(name) {
        return Err((0, Fault::BadPlace));
    }
    Ok(ProbePlace::Function {
        module: module.to_owned(),
        name: name.to_owned(),
    })
}

fn tracepoint(word: &str) -> Result<ProbePlace, Wrong> {
    if let Some(percent) = word.find('%') {
        return Err((percent, Fault::BadPlaceSuffix));
    }
    let is_wrong = |b: u8| !(b.is_ascii_alphanumeric() || b == b'_');
    match word.bytes().position(is_wrong) {
        Some(at) => Err((at, Fault::BadTracepoint)),
        None => Ok(ProbePlace::Tracepoint(word.to_owned())),
    }
}

/// Parses `PATH:OFFSET[%return][(COUNTER)]`.
fn file_place(word: &str, sort: &mut ProbeSort) -> Result<ProbePlace, Wrong> {
    let colon = word.rfind(':').unwrap_or(word.len());
    let (path, rest) = (
        word.get(..colon).unwrap_or(""),
        word.get(colon + 1..).unwrap_or(""),
    );
    let at = colon + 1;
    if !rest.starts_with(|c: char| c.is_ascii_digit()) {
        return Err((at, Fault::BadFileOffset));
    }
    let (rest, counter) = match rest.find('(') {
        None => (rest, None),
        Some(open) => {
            let inner = rest.get(open + 1..).unwrap_or("");
            let close = inner
                .find(')')
                .ok_or((at + rest.len(), Fault::CounterNotClosed))?;
            if close + 1 != inner.len() {
                return Err((at + open + close + 2, Fault::CounterSuffix));
            }
            let number = inner.get(..close).unwrap_or("");
            let counter = unsigned(number).ok_or((at + open + 1, Fault::BadCounter))?;
            (rest.get(..open).unwrap_or(""), Some(counter))
        }
    };
    let (offset, suffix) = rest.split_at(rest.find('%').unwrap_or(rest.len()));
    match suffix {
        "" => {}
        "%return" => *sort = ProbeSort::Return,
        _ => return Err((at + offset.len(), Fault::BadPlaceSuffix)),
    }
    let offset = unsigned(offset).ok_or((at, Fault::BadFileOffset))?;
    Ok(ProbePlace::File {
        path: path.to_owned(),
        offset,
        counter,
    })
}

/// Returns the name that the kernel generates for an event without a name.
pub(super) fn generated_name(sort: ProbeSort, place: &ProbePlace) -> String {
    let letter = match sort {
        ProbeSort::Return => 'r',
        ProbeSort::Entry | ProbeSort::Event => 'p',
    };
    let text = match place {
        ProbePlace::Symbol {
            module,
            name,
            offset,
        } => {
            let module = if module.is_empty() {
                String::new()
            } else {
                format!("{module}_")
            };
            format!("{letter}_{module}{name}_{offset}")
        }
        ProbePlace::Address(address) => format!("{letter}_0x{address:x}"),
        ProbePlace::File { path, offset, .. } => {
            let file = path.rsplit('/').next().unwrap_or(path);
            let stem = file.split(['.', '-', '_']).next().unwrap_or(file);
            // The kernel uses `p_` for return probes in files, too.
            format!("p_{stem}_0x{offset:x}")
        }
        ProbePlace::Event { system: _, event } => event.clone(),
        ProbePlace::Function { name, .. } if sort == ProbeSort::Return => format!("{name}__exit"),
        ProbePlace::Function { name, .. } => format!("{name}__entry"),
        ProbePlace::Tracepoint(name) if name.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("_{name}")
        }
        ProbePlace::Tracepoint(name) => name.clone(),
    };
    let mut name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    name.truncate(NAME_SIZE - 1);
    name
}
