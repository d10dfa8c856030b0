//! The numbers after a call's tag: `fnamesize=16,flags=524288,fd=3`.

use super::digits::eight_digits;
use crate::base::Leading;

/// Name of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Key {
    /// `fnamesize`: length of `FN`, or of the name that is renamed or linked, bytes.
    PathSize,
    /// `forigsize`: length of `FO`, bytes.
    OriginalSize,
    /// `flags`: flags of the call.
    Flags,
    /// `mode`: mode of a new file.
    Mode,
    /// `fd`: file descriptor.
    Fd,
    /// `fd1`: read end of a pipe.
    Fd1,
    /// `fd2`: write end of a pipe.
    Fd2,
    /// `oldfd`: descriptor that is duplicated.
    OldFd,
    /// `newfd`: the duplicate.
    NewFd,
    /// `pid`: upid of a child.
    Pid,
    /// `status`: exit status.
    Status,
    /// `argsize`: length of all arguments, each with a NUL after it, bytes.
    ArgumentsSize,
    /// `prognameisize`: length of `PI`.
    InterpreterSize,
    /// `prognamepsize`: length of `PP`.
    ProgramSize,
    /// `cwdsize`: length of `CW`.
    DirectorySize,
    /// `targetnamesize`: length of `ST` or `MT`.
    TargetSize,
    /// `resolvednamesize`: length of `SR`.
    ResolvedSize,
    /// `linknamesize`: length of `SL`.
    LinkSize,
    /// `sourcenamesize`: length of `MS`.
    SourceSize,
    /// `typenamesize`: length of `MX`.
    TypeSize,
    /// `size`: length of `CN`, bytes.
    Size,
    /// Any other name.
    #[default]
    Other,
}

impl Key {
    #[inline]
    fn of(name: &[u8]) -> Key {
        match name {
            b"fnamesize" => Key::PathSize,
            b"forigsize" => Key::OriginalSize,
            b"flags" => Key::Flags,
            b"mode" => Key::Mode,
            b"fd" => Key::Fd,
            b"fd1" => Key::Fd1,
            b"fd2" => Key::Fd2,
            b"oldfd" => Key::OldFd,
            b"newfd" => Key::NewFd,
            b"pid" => Key::Pid,
            b"status" => Key::Status,
            b"argsize" => Key::ArgumentsSize,
            b"prognameisize" => Key::InterpreterSize,
            b"prognamepsize" => Key::ProgramSize,
            b"cwdsize" => Key::DirectorySize,
            b"targetnamesize" => Key::TargetSize,
            b"resolvednamesize" => Key::ResolvedSize,
            b"linknamesize" => Key::LinkSize,
            b"sourcenamesize" => Key::SourceSize,
            b"typenamesize" => Key::TypeSize,
            b"size" => Key::Size,
            _ => Key::Other,
        }
    }
}

/// The usual names and order of a call's numbers, which are read without a search by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// Two name lengths, flags, mode and descriptor.
    Open,
    /// One descriptor.
    Descriptor,
    /// No usual order.
    Nothing,
}

/// The numbers of one call, in file order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Values {
    keys: [Key; Values::MOST],
    numbers: [i64; Values::MOST],
    count: u8,
}

impl Values {
    const MOST: usize = 6;

    /// Replaces the numbers with those of a text like `fnamesize=16,flags=524288,fd=3`; stops at the first piece in
    /// another form. Numbers beyond 63 bits keep their low 64 bits, so that the kernel's unsigned -1 becomes -1.
    #[inline]
    pub(super) fn read(&mut self, text: &[u8], usual: Usual) {
        self.count = 0;
        let mut rest = text;
        match usual {
            Usual::Open => {
                let _ = self.take(b"fnamesize=", Key::PathSize, &mut rest)
                    && self.take(b"forigsize=", Key::OriginalSize, &mut rest)
                    && self.take(b"flags=", Key::Flags, &mut rest)
                    && self.take(b"mode=", Key::Mode, &mut rest)
                    && self.take(b"fd=", Key::Fd, &mut rest);
            }
            Usual::Descriptor => {
                let _ = self.take(b"fd=", Key::Fd, &mut rest);
            }
            Usual::Nothing => {}
        }
        if rest.is_empty() {
            return;
        }
        for (name, value) in pairs(rest).take(Values::MOST) {
            self.push(Key::of(name), value);
        }
    }

    /// If `rest` starts with `name`, reads the number and advances `rest`, which becomes empty after the last number.
    /// Returns whether another number follows.
    #[inline]
    fn take<const N: usize>(&mut self, name: &[u8; N], key: Key, rest: &mut &[u8]) -> bool {
        let Some((start, number)) = rest.split_first_chunk::<N>() else {
            return false;
        };
        if start != name {
            return false;
        }
        let Some(Leading {
            value,
            length: used,
        }) = parse_number(number)
        else {
            return false;
        };
        self.push(key, value);
        let more = number.get(used..).and_then(|more| more.strip_prefix(b","));
        *rest = more.unwrap_or(&[]);
        more.is_some()
    }

    #[inline]
    fn push(&mut self, key: Key, value: i64) {
        let at = usize::from(self.count);
        if let (Some(key_place), Some(place)) = (self.keys.get_mut(at), self.numbers.get_mut(at)) {
            *key_place = key;
            *place = value;
            self.count += 1;
        }
    }

    /// Removes all numbers.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Returns the number with this key.
    #[inline]
    #[must_use]
    pub(super) fn get(&self, key: Key) -> Option<i64> {
        let keys = self.keys.get(..usize::from(self.count))?;
        let at = keys.iter().position(|known| *known == key)?;
        self.numbers.get(at).copied()
    }
}

/// Iterates over names and numbers of a text like `fnamesize=16,flags=524288,fd=3`, up to a piece in another form.
#[inline]
pub(super) fn pairs(text: &[u8]) -> impl Iterator<Item = (&[u8], i64)> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let (name, number) = text.split_at_checked(text.iter().position(|&byte| byte == b'=')?)?;
        let number = number.get(1..)?;
        let Leading { value, length } = parse_number(number)?;
        rest = number.get(length..)?.strip_prefix(b",");
        Some((name, value))
    })
}

/// Parses a decimal number, which may be negative. Returns it with its length in bytes.
#[inline]
pub(crate) fn parse_number(text: &[u8]) -> Option<Leading<i64>> {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    // Parses eight bytes at once if there are eight, which need not all be digits.
    let mut found = Leading {
        value: 0,
        length: 0,
    };
    if let Some(chunk) = digits.first_chunk::<8>() {
        found = eight_digits(*chunk);
    }
    let Leading {
        mut value,
        mut length,
    } = found;
    let more = match length {
        0 if digits.len() >= 8 => &[],
        _ => digits.get(length..20.min(digits.len())).unwrap_or(&[]),
    };
    for &byte in more {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    if length == 0 {
        return None;
    }
    let value = value as i64;
    Some(if is_negative {
        Leading {
            value: value.wrapping_neg(),
            length: length + 1,
        }
    } else {
        Leading { value, length }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_keys() {
        let mut values = Values::default();
        values.read(b"a=1,b=2,c=3,d=4,e=5,f=6,flags=7", Usual::Nothing);
        values.read(b"fd=18446744073709551615,novel=7,mode=-1,x", Usual::Nothing);
        assert_eq!(values.get(Key::Fd), Some(-1));
        assert_eq!(values.get(Key::Mode), Some(-1));
        assert_eq!(values.get(Key::Flags), None);
        assert_eq!(values.get(Key::Other), Some(7));
        for usual in [Usual::Open, Usual::Descriptor, Usual::Nothing] {
            for (text, path, fd) in [
                ("fnamesize=3,fd=4", Some(3), Some(4)),
                (
                    "fnamesize=3,forigsize=4,flags=5,mode=6,fd=7",
                    Some(3),
                    Some(7),
                ),
                ("fnamesize=3,forigsize=4,flags=5,mode=6,fd=", Some(3), None),
                ("fnamesize=3,fd=", Some(3), None),
                ("fnamesize=3,mode=5,fd=4", Some(3), Some(4)),
                ("fnamesize=3;fd=4", Some(3), None),
                ("fd=4,fnamesize=3", Some(3), Some(4)),
                ("fd=4;fnamesize=3", None, Some(4)),
                ("fd=4,", None, Some(4)),
                ("fnamesize=-,fd=4", None, None),
                ("", None, None),
            ] {
                values.read(text.as_bytes(), usual);
                assert_eq!(
                    (values.get(Key::PathSize), values.get(Key::Fd)),
                    (path, fd),
                    "{text}"
                );
            }
        }
        let all: Vec<_> = pairs(b"oldfd=3,newfd=10,flags=0").collect();
        assert_eq!(all, [(&b"oldfd"[..], 3), (b"newfd", 10), (b"flags", 0)]);
    }
}
