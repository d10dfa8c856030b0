//! Parses the fields in an event's text: `name=value` pairs and other forms.
//!
//! A thread's name can contain anything, even ` ==> ` and ` pid=1`. It ends before the text that the kernel always
//! prints after it, and has at most 15 bytes.

use crate::base::leading::digits;
use crate::event::kernel::MOST_COMM;
use crate::formats::ftrace_line::prefix::pid_of;

/// Returns a value by name; `text` is `a=1 b=two words c=3`. A value ends where the next ` name=` starts.
#[must_use]
pub(super) fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut from = 0;
    loop {
        let equals = from + memchr::memchr(b'=', text.get(from..)?)?;
        let before = text.get(..equals)?;
        let value = text.get(equals + 1..)?;
        if before.last() == name.last()
            && let Some(before) = before.strip_suffix(name)
            && matches!(before.last(), None | Some(b' ' | b'(' | b','))
        {
            return Some(match value_end(name, value) {
                Some(end) => unlisted(name, value.get(..end)?),
                None => value.trim_ascii(),
            });
        }
        // `=` inside thread names and between quotes does not start a field.
        from = equals + 1;
        let may_be_name = matches!(before.last(), Some(b'm' | b'e'));
        if !may_be_name && value.first() != Some(&b'"') {
            continue;
        }
        let own = before.get(word_start(before)..)?;
        if own.ends_with(b"comm") || own == b"filename" || value.first() == Some(&b'"') {
            from += value_end(own, value).unwrap_or(value.len());
        }
    }
}

/// Reads the fields of a text in the order in which the kernel prints them: each is first looked for where the one before it
/// ended, so that the text is read once.
pub(super) struct InOrder<'a> {
    text: &'a [u8],
    /// Where the next field is expected.
    at: usize,
}

impl<'a> InOrder<'a> {
    pub(super) fn new(text: &'a [u8]) -> InOrder<'a> {
        InOrder { text, at: 0 }
    }

    /// Returns the text after `name=`, if that is the next field.
    #[inline]
    fn here(&self, name: &[u8]) -> Option<&'a [u8]> {
        let rest = self.text.get(self.at..)?.strip_prefix(name)?;
        rest.strip_prefix(b"=")
    }

    /// Returns the same as [`field`].
    pub(super) fn field(&mut self, name: &[u8]) -> Option<&'a [u8]> {
        let Some(value) = self.here(name) else {
            return field(self.text, name);
        };
        let end = value_end(name, value).unwrap_or(value.len());
        self.at = self.text.len() - value.len() + end + 1;
        Some(unlisted(name, value.get(..end)?))
    }

    /// Returns the same as [`number`] of a field.
    pub(super) fn number(&mut self, name: &[u8]) -> Option<i64> {
        if let Some(value) = self.here(name)
            && let Some(found) = digits(value)
            && matches!(value.get(found.length), None | Some(b' '))
            && let Ok(number) = i64::try_from(found.value)
        {
            self.at = self.text.len() - value.len() + found.length + 1;
            return Some(number);
        }
        number(self.field(name)?)
    }

    /// Returns the same as [`pid`].
    pub(super) fn pid(&mut self, name: &[u8]) -> Option<u32> {
        pid_of(u64::try_from(self.number(name)?).ok()?)
    }
}

/// Returns the start of the last word of `text`.
fn word_start(text: &[u8]) -> usize {
    memchr::memrchr(b' ', text).map_or(0, |space| space + 1)
}

/// Returns the end of the value of field `name`: before the next ` name=`, or for a thread's name before the text that
/// the kernel always prints after it.
fn value_end(name: &[u8], value: &[u8]) -> Option<usize> {
    if name == b"filename"
        && let Some(at) = memchr::memmem::rfind(value, b" old_pid=")
        && let Some(at) = value
            .get(..at)
            .and_then(|text| memchr::memmem::rfind(text, b" pid="))
    {
        // sched_process_exec: the path ends before the pids.
        return Some(at);
    }
    let Some(owner) = name.strip_suffix(b"comm") else {
        return next_field(value);
    };
    let near = value.get(..=MOST_COMM).unwrap_or(value);
    let ends_name = |at: usize| {
        let rest = value.get(at + 1..).unwrap_or(&[]);
        let pid = || rest.strip_prefix(owner)?.strip_prefix(b"pid=");
        let is_pid = || pid().is_some_and(|pid| digits(pid).is_some());
        // task_newtask and task_rename print the pid before the name.
        let other: &[u8] = match owner {
            b"old" => b"newcomm=",
            b"new" => b"oom_score_adj=",
            _ => b"clone_flags=",
        };
        is_pid() || rest.starts_with(other)
    };
    let end = (near.iter().enumerate().rev()).find(|(at, byte)| **byte == b' ' && ends_name(*at));
    end.map(|(at, _)| at).or_else(|| next_field(value))
}

/// Removes the comma that some events print between a value and the next field (`func=f, csd=0x1`); thread names are
/// unchanged, because they can contain anything.
fn unlisted<'a>(name: &[u8], value: &'a [u8]) -> &'a [u8] {
    let value = value.trim_ascii();
    match name.ends_with(b"comm") {
        true => value,
        false => value.strip_suffix(b",").unwrap_or(value),
    }
}

/// Returns the start of the next ` name=` in `text`.
fn next_field(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    // A quoted value can contain anything.
    if text.first() == Some(&b'"') {
        from = 1 + memchr::memchr(b'"', text.get(1..)?)?;
    }
    loop {
        let space = from + memchr::memchr(b' ', text.get(from..)?)?;
        let rest = text.get(space + 1..)?;
        let length = rest
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
            .count();
        if length > 0 && rest.get(length) == Some(&b'=') && rest.get(length + 1) != Some(&b'=') {
            return Some(space);
        }
        from = space + 1;
    }
}

/// Returns all `name=value` pairs of `text`.
#[must_use]
pub(super) fn pairs(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    const MOST: usize = 256;
    let mut found = Vec::new();
    let mut rest = text.trim_ascii_start();
    // Skip words before the first pair.
    while !starts_field(rest) {
        match memchr::memchr(b' ', rest) {
            Some(space) => rest = rest.get(space + 1..).unwrap_or(&[]).trim_ascii_start(),
            None => return found,
        }
    }
    while found.len() < MOST {
        let Some(equals) = memchr::memchr(b'=', rest) else {
            break;
        };
        let name = rest.get(..equals).unwrap_or(&[]);
        let value = rest.get(equals + 1..).unwrap_or(&[]);
        match value_end(name, value) {
            Some(end) => {
                found.push((name, unlisted(name, value.get(..end).unwrap_or(&[]))));
                rest = value.get(end + 1..).unwrap_or(&[]);
            }
            None => {
                found.push((name, value.trim_ascii()));
                break;
            }
        }
    }
    found
}

fn starts_field(text: &[u8]) -> bool {
    let length = text
        .iter()
        .take(64)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
        .count();
    length > 0 && text.get(length) == Some(&b'=')
}

/// Returns `name:value` pairs, as tracers of noise and latency print them (`noise:852679\tmax_sample:65351`); none if
/// `text` contains anything else.
#[must_use]
pub(crate) fn colon_pairs(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    let words = text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let pair = |word: &'_ [u8]| memchr::memchr(b':', word).filter(|at| *at > 0);
    let split = words.map(|word| {
        let (name, value) = word.split_at_checked(pair(word)?)?;
        let value = value.get(1..).filter(|value| !value.is_empty())?;
        let is_name = name.first()?.is_ascii_alphabetic()
            && name
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        is_name.then_some((name, value))
    });
    let found: Option<Vec<_>> = split.take(64).collect();
    found.filter(|pairs| pairs.len() > 1).unwrap_or_default()
}

/// Parses the arguments of a system call: `fd: 7, buf: 0x7f (68 65) "a, b", count: 0x200`. Newer kernels also print the
/// data that pointers point to; an argument ends where the name of the next one starts.
#[must_use]
pub(super) fn arguments(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    const MOST: usize = 64;
    let name_length = |text: &[u8]| {
        let length = text
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        (length > 0
            && text
                .get(length..)
                .is_some_and(|rest| rest.starts_with(b": ")))
        .then_some(length)
    };
    let mut found = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() && found.len() < MOST {
        let length = name_length(rest);
        let (name, value) = match length.and_then(|length| rest.split_at_checked(length)) {
            Some((name, value)) => (name, value.get(2..).unwrap_or(&[])),
            None => (&rest[..0], rest),
        };
        // Search for the next name, or if there are no names, for the next comma.
        let mut from = 0;
        let mut is_quoted = false;
        let end = loop {
            let Some(at) = value
                .get(from..)
                .and_then(|rest| memchr::memchr2(b'"', b',', rest))
            else {
                break value.len();
            };
            let at = from + at;
            from = at + 1;
            if value.get(at) == Some(&b'"') {
                is_quoted = !is_quoted;
                continue;
            }
            let next = value.get(at + 1..).and_then(|next| next.strip_prefix(b" "));
            let is_next = next.is_some_and(|next| length.is_none() || name_length(next).is_some());
            if is_next && !is_quoted {
                break at;
            }
        };
        found.push((name, value.get(..end).unwrap_or(value).trim_ascii()));
        rest = value.get(end + 1..).unwrap_or(&[]).trim_ascii_start();
    }
    found
}

/// Returns the first word of a value: `1 [action=TIMER]` is `1`.
#[must_use]
pub(crate) fn first_word(value: &[u8]) -> &[u8] {
    let end = memchr::memchr(b' ', value).unwrap_or(value.len());
    value.get(..end).unwrap_or(value)
}

/// Parses the number at the start of a value: decimal with sign, or hex after `0x`. Of `0xffffffff (-1)`, a field that is
/// shown raw, it is the number in parentheses: the hex digits are as many as the field has.
#[must_use]
pub(super) fn number(value: &[u8]) -> Option<i64> {
    let word = first_word(value);
    if word.starts_with(b"0x")
        && let Some(inner) = value
            .get(word.len()..)
            .and_then(|rest| rest.strip_prefix(b" ("))
        && let Some(signed) = inner.split(|&byte| byte == b')').next()
        && let Some(digits) = signed.strip_prefix(b"-")
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
    {
        return number(signed);
    }
    let (is_negative, digits) = match word.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix(b"0x") {
        Some(rest) => (16, rest),
        None => (10, digits),
    };
    let length = digits
        .iter()
        .take_while(|b| (**b as char).is_digit(radix))
        .count();
    let text = std::str::from_utf8(digits.get(..length)?).ok()?;
    let value = u64::from_str_radix(text, radix).ok()?.cast_signed();
    Some(if is_negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// Returns the pid in a field.
#[must_use]
pub(crate) fn pid(text: &[u8], name: &[u8]) -> Option<u32> {
    pid_of(u64::try_from(number(field(text, name)?)?).ok()?)
}

/// Returns the system-call number in `NR 3 (...)`, or in `id=3 ...` if fields are shown raw.
#[must_use]
pub(crate) fn raw_syscall(info: &[u8]) -> Option<i64> {
    match info.strip_prefix(b"NR ") {
        Some(rest) => number(rest),
        None => number(field(info, b"id")?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_in_order_are_those_that_are_found_by_their_names() {
        for text in [
            "comm=a b pid=12 prio=120 target_cpu=003",
            "comm=a pid=1 pid=2 prio=-1 target_cpu=0",
            "comm=x=y pid=0x60c8 (24776) prio=0x78 (120) target_cpu=1",
            "pid=7 comm=late prio=120",
            "comm=a, pid=5, prio=120",
            "comm=a pid=99999999999999999999 prio=3x target_cpu=4",
            "",
        ] {
            let text = text.as_bytes();
            let mut fields = InOrder::new(text);
            assert_eq!(fields.field(b"comm"), field(text, b"comm"));
            assert_eq!(fields.pid(b"pid"), pid(text, b"pid"));
            assert_eq!(
                fields.number(b"prio"),
                field(text, b"prio").and_then(number)
            );
            assert_eq!(fields.pid(b"target_cpu"), pid(text, b"target_cpu"));
        }
    }

    #[test]
    fn a_comma_between_fields_belongs_to_neither() {
        let text = b"cpu=1 func=flush_tlb_func, csd=0x1, comm=a, pid=3";
        assert_eq!(field(text, b"func"), Some(&b"flush_tlb_func"[..]));
        assert_eq!(field(text, b"csd"), Some(&b"0x1"[..]));
        assert_eq!(field(text, b"comm"), Some(&b"a,"[..]));
        assert_eq!(pairs(text)[1], (&b"func"[..], &b"flush_tlb_func"[..]));
    }

    #[test]
    fn values_end_where_the_next_name_begins() {
        let text = b"comm=my prog pid=12 q=\"a b=c\" vec=1 [action=TIMER] x=";
        assert_eq!(field(text, b"comm"), Some(&b"my prog"[..]));
        assert_eq!(field(text, b"pid"), Some(&b"12"[..]));
        assert_eq!(field(text, b"q"), Some(&b"\"a b=c\""[..]));
        assert_eq!(number(field(text, b"vec").unwrap()), Some(1));
        assert_eq!(field(text, b"id"), None);
        assert_eq!(pairs(b"(a+0x0/0x1) p=1 q=two words r=0x3").len(), 3);
        assert!(pairs(b"no pairs here").is_empty());
    }

    #[test]
    fn arguments_end_where_the_next_name_begins() {
        let shown = |text: &str| {
            let found = arguments(text.as_bytes());
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let shown = found
                .iter()
                .map(|(name, value)| format!("{}={}", text(name), text(value)));
            shown.collect::<Vec<_>>().join("|")
        };
        assert_eq!(
            shown("fd: 7, buf: 0x7f, count: 0x200"),
            "fd=7|buf=0x7f|count=0x200"
        );
        assert_eq!(
            shown("fd: 1, buf: 0x55 (68 65, 6c) \"he, count: l\", count: 3"),
            "fd=1|buf=0x55 (68 65, 6c) \"he, count: l\"|count=3"
        );
        assert_eq!(
            shown("flags: O_RDONLY|O_CLOEXEC, mode: 0"),
            "flags=O_RDONLY|O_CLOEXEC|mode=0"
        );
        assert_eq!(shown("0x1, 0x2"), "=0x1|=0x2");
        assert_eq!(shown("name: \"unfinished, b: 3"), "name=\"unfinished, b: 3");
        assert_eq!(shown(""), "");
        assert_eq!(colon_pairs(b"noise:8\tmax_sample:6\thw:9").len(), 3);
        assert!(colon_pairs(b"hello world: 3").is_empty());
    }
}
