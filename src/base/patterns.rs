//! Compiles patterns of other tools (POSIX basic regular expressions and the kernel's globs) to regular expressions
//! over bytes.

use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

use regex::bytes::{Regex, RegexBuilder};

/// Largest compiled regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// Whether upper and lower case letters differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// Upper and lower case letters differ.
    Differs,
    /// Upper and lower case letters are equal.
    Ignored,
}

/// Compiles a regular expression of the `regex` crate's syntax. Errors with a sentence if it is malformed or too large.
pub(crate) fn regex_of(pattern: &str, case: Case) -> Result<Regex, String> {
    // Names in a file need not be UTF-8; without Unicode, a byte is a character.
    RegexBuilder::new(pattern)
        .case_insensitive(case == Case::Ignored)
        .unicode(!pattern.is_ascii())
        .size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "this regular expression is too large".to_owned(),
            other => {
                let words = other.to_string();
                let last = words.lines().last().unwrap_or("").trim();
                format!("regular expression: {}", last.trim_start_matches("error: "))
            }
        })
}

/// Compiles a POSIX basic regular expression as glibc's `regcomp(3)` reads it: `\( \) \{ \} \| \+ \?` are operators,
/// the same characters without a backslash are text. Errors if it is malformed, too large, or has a back reference.
pub(crate) fn basic_regex(pattern: &str, case: Case) -> Result<Regex, String> {
    let mut out = String::from("(?s)");
    let mut chars = pattern.chars().peekable();
    // Whether a star has nothing before it to repeat: then the star is text, and `^` is an anchor.
    let mut is_start = true;
    while let Some(c) = chars.next() {
        let was_start = std::mem::replace(&mut is_start, false);
        match c {
            '\\' => match chars.next() {
                Some(c @ ('(' | '|')) => {
                    out.push(c);
                    is_start = true;
                }
                Some('{') => push_count(&mut chars, &mut out)?,
                Some(c @ (')' | '+' | '?')) => out.push(c),
                Some(c @ ('w' | 'W' | 's' | 'S' | 'b' | 'B')) => {
                    let _ = write!(out, "\\{c}");
                }
                Some('<') => out.push_str(r"\b{start}"),
                Some('>') => out.push_str(r"\b{end}"),
                Some('`') => out.push_str(r"\A"),
                Some('\'') => out.push_str(r"\z"),
                Some('1'..='9') => {
                    return Err("a regular expression cannot refer back (\\1)".to_owned());
                }
                Some(c) => push_text(c, &mut out),
                None => return Err("a regular expression ends with a backslash".to_owned()),
            },
            '*' if was_start => push_text('*', &mut out),
            '*' => out.push('*'),
            '.' => out.push('.'),
            '^' if was_start => {
                out.push('^');
                is_start = true;
            }
            '$' if is_end(&chars) => out.push('$'),
            '[' => push_bracket(&mut chars, &mut out)?,
            c => push_text(c, &mut out),
        }
    }
    regex_of(&out, case)
}

/// Returns whether the branch ends here.
fn is_end(rest: &Peekable<Chars<'_>>) -> bool {
    let rest: String = rest.clone().take(2).collect();
    rest.is_empty() || rest == r"\)" || rest == r"\|"
}

fn push_text(c: char, out: &mut String) {
    out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
}

/// Parses the text after `\{`, up to `\}`, and appends it as `{2,3}`.
fn push_count(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    let mut count = String::new();
    loop {
        match chars.next() {
            Some(c @ ('0'..='9' | ',')) => count.push(c),
            Some('\\') if chars.next_if_eq(&'}').is_some() => break,
            _ => return Err("a regular expression has a malformed \\{count\\}".to_owned()),
        }
    }
    if count.starts_with(',') {
        count.insert(0, '0');
    }
    let _ = write!(out, "{{{count}}}");
    Ok(())
}

/// Parses the bracket expression after `[`, and appends it.
fn push_bracket(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> Result<(), String> {
    let unclosed = || "a regular expression has a [ without ]".to_owned();
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut is_first = true;
    loop {
        let c = chars.next().ok_or_else(unclosed)?;
        match c {
            ']' if !is_first => break,
            '[' if chars.next_if_eq(&':').is_some() => {
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphabetic()) {
                    name.push(c);
                }
                if chars.next() != Some(':') || chars.next() != Some(']') {
                    return Err(unclosed());
                }
                let _ = write!(out, "[:{name}:]");
            }
            // A hyphen between two characters is a range; at the start or end it is text.
            '-' if !is_first && chars.peek().is_some_and(|next| *next != ']') => out.push('-'),
            c if c.is_alphanumeric() => out.push(c),
            c => {
                out.push('\\');
                out.push(c);
            }
        }
        is_first = false;
    }
    out.push(']');
    Ok(())
}

/// Returns whether a pattern is a glob (`*` for any text, `?` for any character, `[...]` for one character of a set)
/// and not a regular expression: it contains one of these signs and no sign that only regular expressions have.
pub(crate) fn is_glob(pattern: &str) -> bool {
    let has_sign = pattern.contains(['*', '?', '[']);
    let is_regex = pattern.contains(['(', ')', '{', '}', '+', '^', '$', '|', '\\']);
    has_sign && !is_regex && ![".*", ".?"].iter().any(|sign| pattern.contains(sign))
}

/// Compiles a glob of the kernel's filters, which must match the whole text. Errors if a bracket is not closed.
pub(crate) fn glob_regex(glob: &str, case: Case) -> Result<Regex, String> {
    let mut out = String::from("(?s)^");
    let mut chars = glob.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            '[' => push_bracket(&mut chars, &mut out)?,
            c => push_text(c, &mut out),
        }
    }
    out.push('$');
    regex_of(&out, case)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basic(pattern: &str, text: &str) -> bool {
        let regex = basic_regex(pattern, Case::Ignored).unwrap();
        regex.is_match(text.as_bytes())
    }

    // Checked with `grep -i` (GNU grep 3.11), whose basic regular expressions are glibc's.
    #[test]
    fn basic_regular_expressions_are_posix() {
        for (pattern, text, is_match) in [
            ("^sched_.*$", "SCHED_switch", true),
            ("^sched_(switch|waking)$", "sched_switch", false),
            ("^sched_(switch|waking)$", "sched_(switch|waking)", true),
            (r"^sched_\(switch\|waking\)$", "sched_waking", true),
            ("*a", "*a", true),
            ("*a", "a", false),
            (r"\(*a\)", "b*a", true),
            ("a+", "aa", false),
            (r"a\+b", "aab", true),
            (r"ab\?c", "ac", true),
            (r"^a\{2,3\}$", "aaa", true),
            (r"^a\{2,3\}$", "aaaa", false),
            (r"^a\{,1\}$", "", true),
            ("a^b", "a^b", true),
            ("a$b", "a$b", true),
            (r"a\(b$\)", "ab", true),
            ("[]x]", "]", true),
            ("[^]x]", "]", false),
            ("[a-]", "-", true),
            (r"[\]", r"\", true),
            ("[[:digit:]_]", "5", true),
            ("[+-.]", ",", true),
            ("[&&a]", "&", true),
            ("[a~~b]", "~", true),
            (r"\bab\b", "x ab y", true),
            ("a.b", "a\nb", true),
        ] {
            assert_eq!(basic(pattern, text), is_match, "{pattern} {text}");
        }
        for wrong in ["[a", r"\(a", r"a\", r"\(a\)\1", r"a\{x\}"] {
            assert!(basic_regex(wrong, Case::Differs).is_err(), "{wrong}");
        }
    }

    #[test]
    fn globs_match_whole_texts() {
        let glob = |glob: &str, text: &str| {
            let regex = glob_regex(glob, Case::Differs).unwrap();
            regex.is_match(text.as_bytes())
        };
        assert!(glob("*sh*", "bash-5") && glob("kworker/?:*", "kworker/0:1-x"));
        assert!(glob("mix.sh*", "mix.sh") && !glob("mix.sh*", "mixxsh"));
        assert!(glob("[ab]*", "bash") && !glob("ash", "bash"));
        for (pattern, is_it) in [
            ("*sh*", true),
            ("cyclic.*", false),
            ("a|b*", false),
            ("sh", false),
        ] {
            assert_eq!(is_glob(pattern), is_it, "{pattern}");
        }
    }
}
