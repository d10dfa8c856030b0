//! Prints definitions as the kernel does, and describes their parts in words.

use std::fmt;

use super::definition::{FetchType, ProbeDefinition, ProbePlace, ProbeSort};

impl fmt::Display for ProbeDefinition {
    /// Prints the line that defines this probe.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())?;
        if let Some(count) = self.max_active {
            write!(f, "{count}")?;
        }
        write!(f, ":{}/{} {}", self.group, self.event, self.place)?;
        if self.sort == ProbeSort::Return && matches!(self.place, ProbePlace::Function { .. }) {
            f.write_str("%return")?;
        }
        for argument in &self.arguments {
            if argument.is_named {
                write!(f, " {}={}", argument.name, argument.text)?;
            } else {
                write!(f, " {}", argument.text)?;
            }
        }
        Ok(())
    }
}

impl ProbeDefinition {
    /// Returns the letter with which the probe's line starts.
    #[must_use]
    pub(crate) fn letter(&self) -> char {
        match (&self.place, self.sort) {
            (ProbePlace::Function { .. }, _) => 'f',
            (ProbePlace::Tracepoint(_), _) => 't',
            (_, ProbeSort::Entry) => 'p',
            (_, ProbeSort::Return) => 'r',
            (_, ProbeSort::Event) => 'e',
        }
    }
}

impl fmt::Display for ProbePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbePlace::Symbol {
                module,
                name,
                offset,
            } => {
                if !module.is_empty() {
                    write!(f, "{module}:")?;
                }
                f.write_str(name)?;
                if *offset > 0 {
                    write!(f, "+{offset}")?;
                }
                Ok(())
            }
            ProbePlace::Address(address) => write!(f, "{address:#x}"),
            ProbePlace::File {
                path,
                offset,
                counter,
            } => {
                write!(f, "{path}:{offset:#x}")?;
                match counter {
                    Some(counter) => write!(f, "({counter:#x})"),
                    None => Ok(()),
                }
            }
            ProbePlace::Event { system, event } => write!(f, "{system}.{event}"),
            ProbePlace::Function { module, name } if module.is_empty() => f.write_str(name),
            ProbePlace::Function { module, name } => write!(f, "{module}:{name}"),
            ProbePlace::Tracepoint(name) => f.write_str(name),
        }
    }
}

impl ProbeSort {
    /// Returns the kind in one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ProbeSort::Entry => "entry",
            ProbeSort::Return => "return",
            ProbeSort::Event => "event",
        }
    }
}

impl FetchType {
    /// Returns a number of this type as text; `None` if the type is not numeric.
    ///
    /// `raw` is the number that the trace stored or printed, possibly without the type's sign or size.
    #[must_use]
    pub(crate) fn number_text(self, raw: u64) -> Option<String> {
        let cut = |bits: u8| {
            let unused = 64 - u32::from(bits.clamp(1, 64));
            (
                raw << unused >> unused,
                (raw << unused).cast_signed() >> unused,
            )
        };
        match self {
            FetchType::Word | FetchType::Symbol => Some(format!("{raw:#x}")),
            FetchType::Unsigned(bits) => Some(cut(bits).0.to_string()),
            FetchType::Signed(bits) => Some(cut(bits).1.to_string()),
            FetchType::Hex(bits) => Some(format!("{:#x}", cut(bits).0)),
            FetchType::Bits { width, .. } => Some(cut(width).0.to_string()),
            FetchType::Char => {
                let byte = raw as u8;
                Some(format!("'{}'", byte.escape_ascii()))
            }
            FetchType::Declared | FetchType::Text | FetchType::UserText | FetchType::SymbolText => {
                None
            }
        }
    }

    /// Returns the type as it is written in a definition; empty for types that have no notation.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            FetchType::Word | FetchType::Declared => String::new(),
            FetchType::Unsigned(bits) => format!("u{bits}"),
            FetchType::Signed(bits) => format!("s{bits}"),
            FetchType::Hex(bits) => format!("x{bits}"),
            FetchType::Char => "char".to_owned(),
            FetchType::Text => "string".to_owned(),
            FetchType::UserText => "ustring".to_owned(),
            FetchType::Symbol => "symbol".to_owned(),
            FetchType::SymbolText => "symstr".to_owned(),
            FetchType::Bits {
                width,
                offset,
                size,
            } => format!("b{width}@{offset}/{size}"),
        }
    }
}
