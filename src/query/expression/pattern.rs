//! Compiles texts, globs and regular expressions; errors contain the place in the text.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::ExpressionError;
use crate::trace::Trace;

/// Largest compiled regular expression.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// A compiled search for a text.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Returns whether the pattern occurs in these bytes.
    #[inline]
    #[must_use]
    pub(crate) fn is_in(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }

    /// A text as it is, whatever the case.
    pub(super) fn of_text(text: &str) -> Result<Pattern, WrongPattern> {
        Pattern::build(&regex::escape(text), "i")
    }

    /// Returns a pattern that matches whole texts; `*` in it matches any text.
    pub(super) fn of_glob(glob: &str) -> Result<Pattern, WrongPattern> {
        let parts: Vec<String> = glob.split('*').map(regex::escape).collect();
        Pattern::build(&format!("(?s)^{}$", parts.join(".*")), "")
    }

    /// A name of events or of a system, whole and whatever the case: with `*` for any text, or a regular expression.
    pub(super) fn of_name(name: &str) -> Result<Pattern, WrongPattern> {
        if is_glob(name) {
            let parts: Vec<String> = name.split('*').map(regex::escape).collect();
            return Pattern::build(&format!("^{}$", parts.join(".*")), "i");
        }
        Pattern::build(&format!("^(?:{name})$"), "i")
    }

    /// Returns the pattern of a regular expression with flags.
    pub(super) fn build(pattern: &str, flags: &str) -> Result<Pattern, WrongPattern> {
        if let Some(flag) = flags.chars().find(|flag| *flag != 'i') {
            let message = format!("'{flag}' after a regular expression; only i is known");
            return Err(WrongPattern::whole(message));
        }
        // Names in a file need not be UTF-8; without Unicode, a byte is a character.
        RegexBuilder::new(pattern)
            .case_insensitive(flags.contains('i'))
            .unicode(!pattern.is_ascii())
            .size_limit(MAX_REGEX_BYTES)
            .build()
            .map(Pattern)
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => {
                    WrongPattern::whole("this regular expression is too large".to_owned())
                }
                other => {
                    let words = other.to_string();
                    let last = words.lines().last().unwrap_or("").trim();
                    let last = last.trim_start_matches("error: ");
                    WrongPattern {
                        message: format!("regular expression: {last}"),
                        within: place_of_fault(pattern),
                    }
                }
            })
    }
}

/// Returns whether a pattern is a text with `*` for any text (`*sh*`, as in the kernel's filters), not a regular
/// expression: it has a star and no other special character.
pub(super) fn is_glob(pattern: &str) -> bool {
    pattern.contains('*') && !pattern.contains(|c| ".[](){}+?^$|\\".contains(c))
}

/// The reason why a pattern is malformed.
pub(super) struct WrongPattern {
    pub message: String,
    /// The malformed bytes of the pattern, if they are known.
    within: Option<Range<usize>>,
}

impl WrongPattern {
    fn whole(message: String) -> WrongPattern {
        WrongPattern {
            message,
            within: None,
        }
    }

    /// Returns the error as one of the whole expression. The pattern was written at `at`, as `length` bytes including
    /// its quotes or slashes; it has `bytes` bytes without them.
    pub(super) fn at(self, at: usize, length: usize, bytes: usize) -> ExpressionError {
        // If the pattern was written with backslashes, it is shorter than its text, and positions in it are not
        // positions in the text.
        let opening = match length.checked_sub(bytes) {
            Some(0) => Some(0),
            Some(2) => Some(1),
            _ => None,
        };
        match opening.zip(self.within) {
            Some((opening, within)) => {
                ExpressionError::new(at + opening + within.start, within.len(), self.message)
            }
            None => ExpressionError::new(at, length, self.message),
        }
    }
}

/// Returns the malformed bytes of a pattern.
fn place_of_fault(pattern: &str) -> Option<Range<usize>> {
    let mut parser = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .unicode(!pattern.is_ascii())
        .build();
    let span = match parser.parse(pattern).err()? {
        regex_syntax::Error::Parse(error) => *error.span(),
        regex_syntax::Error::Translate(error) => *error.span(),
        _ => return None,
    };
    Some(span.start.offset..span.end.offset)
}

/// Returns by kind of events whether `name` (of an event or a system, or `system/event`) matches it. A malformed
/// pattern matches nothing.
pub(super) fn kinds_called(trace: &Trace, name: &str) -> Vec<bool> {
    let (system, event) = match name.split_once('/') {
        Some((system, event)) => (Pattern::of_name(system).ok(), event),
        None => (None, name),
    };
    let is_either = !name.contains('/');
    let event = Pattern::of_name(event).ok();
    let is_in = |pattern: &Option<Pattern>, bytes: &[u8]| {
        pattern.as_ref().is_some_and(|pattern| pattern.is_in(bytes))
    };
    let kinds = trace.kinds.iter();
    kinds
        .map(|kind| {
            let name = is_in(&event, trace.strings.bytes(kind.name));
            let category = trace.strings.bytes(kind.category);
            match is_either {
                true => name || is_in(&event, category),
                false => name && is_in(&system, category),
            }
        })
        .collect()
}
