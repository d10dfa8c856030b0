//! Interned strings: each distinct text is stored once and has an id.

mod absorb;

use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The id of a string in one [`Strings`] table; 0 is always the empty string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StringId(pub u32);

impl StringId {
    /// The empty string, in every table.
    pub const EMPTY: StringId = StringId(0);
}

/// A table of distinct byte strings in one buffer ([`Strings::intern_first`] may store duplicates). Strings need not be
/// UTF-8: they are stored exactly, and shown through [`Strings::text`].
#[derive(Clone)]
pub struct Strings {
    buffer: Vec<u8>,
    ends: Vec<usize>,
    /// The number of strings in `slots`.
    listed: usize,
    /// Hash table with open addressing and linear probing, in the order of the hashes; its length is a power of two.
    slots: Vec<Slot>,
}

/// An entry of the hash table. Comparing the hashes first avoids most comparisons of bytes.
#[derive(Clone, Copy)]
struct Slot {
    hash: u32,
    /// String id + 1; 0: the slot is free.
    taken: u32,
}

const FREE: Slot = Slot { hash: 0, taken: 0 };

impl Default for Strings {
    fn default() -> Strings {
        let mut strings = Strings {
            buffer: Vec::new(),
            ends: Vec::new(),
            listed: 0,
            slots: vec![FREE; 16],
        };
        strings.intern(b"");
        strings
    }
}

impl std::fmt::Debug for Strings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Strings({})", self.len())
    }
}

fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // The high bits of FxHasher are better distributed than the low ones.
    (hasher.finish() >> 20) as u32
}

/// Returns the index of the first slot for a hash, in a table of `count` slots (a power of two). The order of the slots
/// is that of the hashes, so that a larger table is filled from its start to its end.
#[inline]
fn first_slot(hash: u32, count: usize) -> usize {
    ((u64::from(hash) * count as u64) >> u32::BITS) as usize
}

/// Inserts an entry into a table that has room for it.
#[inline]
fn insert(slots: &mut [Slot], entry: Slot) {
    let mask = slots.len() - 1;
    let mut at = first_slot(entry.hash, slots.len());
    while slots[at].taken != 0 {
        at = (at + 1) & mask;
    }
    slots[at] = entry;
}

/// Returns the last part of a path; empty if the path ends in a slash.
#[must_use]
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    path.get(start..).unwrap_or_default()
}

/// Returns bytes as text to show: bytes that are not UTF-8 become `\xNN`.
#[must_use]
pub fn text_of(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len() + 8);
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                for byte in chunk.invalid() {
                    text.push_str(&format!("\\x{byte:02x}"));
                }
            }
            text.into()
        }
    }
}

/// Returns bytes as text that [`exact_bytes`] converts back: bytes that are not UTF-8 become `\xNN`, and a backslash
/// that could be read as the start of such an escape becomes `\x5c`.
#[must_use]
pub(crate) fn exact_text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let is_escape = |at: usize| is_escape(bytes.get(at..).unwrap_or(&[]));
    let has_escape = memchr::memchr_iter(b'\\', bytes).any(is_escape);
    if !has_escape {
        return text_of(bytes);
    }
    let mut plain = Vec::with_capacity(bytes.len() + 8);
    for (at, &byte) in bytes.iter().enumerate() {
        plain.push(byte);
        if byte == b'\\' && is_escape(at) {
            plain.extend_from_slice(b"x5c");
        }
    }
    text_of(&plain).into_owned().into()
}

/// Returns the bytes from which [`exact_text`] made `text`.
#[must_use]
pub fn exact_bytes(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some(&first) = rest.first() {
        let escape = rest.get(2..4).filter(|_| is_escape(rest));
        let digits = escape.and_then(|digits| std::str::from_utf8(digits).ok());
        let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(value.unwrap_or(first));
        rest = rest
            .get(if value.is_some() { 4 } else { 1 }..)
            .unwrap_or(&[]);
    }
    bytes
}

/// Returns whether bytes start with `\xNN`.
fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'\\', b'x', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
}

impl Strings {
    /// Returns the number of distinct strings, including the empty one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `false`: the empty string is always in the table.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the id of `bytes`; adds them if they are not in the table.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> StringId {
        if (self.listed + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = hash_bytes(bytes);
        match self.look_up(bytes, hash) {
            Ok(known) => known,
            Err(slot) => self.list(bytes, hash, slot),
        }
    }

    /// Returns the id of `bytes`; adds them if they are not in the table. After the first `most` strings, new strings
    /// are not entered in the hash table: if they occur again, they get another id. So a million names that occur once
    /// do not fill the hash table. [`Strings::absorb_all`] merges equal strings.
    pub(crate) fn intern_first(&mut self, bytes: &[u8], most: usize) -> StringId {
        if self.ends.len() < most {
            return self.intern(bytes);
        }
        self.look_up(bytes, hash_bytes(bytes))
            .unwrap_or_else(|_| self.push(bytes))
    }

    fn list(&mut self, bytes: &[u8], hash: u32, slot: usize) -> StringId {
        let id = self.push(bytes);
        self.listed += 1;
        self.slots[slot] = Slot {
            hash,
            taken: id.0 + 1,
        };
        id
    }

    fn push(&mut self, bytes: &[u8]) -> StringId {
        let id = StringId(self.ends.len() as u32);
        self.buffer.extend_from_slice(bytes);
        self.ends.push(self.buffer.len());
        id
    }

    /// Returns the id of `bytes`; as error, the index of the free slot for them.
    #[inline]
    fn look_up(&self, bytes: &[u8], hash: u32) -> Result<StringId, usize> {
        let mask = self.slots.len() - 1;
        let mut at = first_slot(hash, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot.taken == 0 {
                return Err(at);
            }
            let id = StringId(slot.taken.wrapping_sub(1));
            if slot.hash == hash && self.bytes(id) == bytes {
                return Ok(id);
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the id of a text; adds it if it is not in the table.
    pub fn intern_text(&mut self, text: &str) -> StringId {
        self.intern(text.as_bytes())
    }

    /// Returns the id of `bytes`, or `None` if they are not in the table.
    #[must_use]
    pub fn find(&self, bytes: &[u8]) -> Option<StringId> {
        self.look_up(bytes, hash_bytes(bytes)).ok()
    }

    fn grow(&mut self) {
        let mut grown = vec![FREE; self.slots.len() * 2];
        for slot in self.slots.iter().filter(|slot| slot.taken != 0) {
            insert(&mut grown, *slot);
        }
        self.slots = grown;
    }

    /// Returns the bytes of a string; empty if the id is out of range (an id of another table).
    #[must_use]
    pub fn bytes(&self, id: StringId) -> &[u8] {
        let index = id.0 as usize;
        let Some(&end) = self.ends.get(index) else {
            return &[];
        };
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.buffer[start..end]
    }

    /// Returns the text of a string for display: bytes that are not UTF-8 become `\xNN`.
    #[must_use]
    pub fn text(&self, id: StringId) -> std::borrow::Cow<'_, str> {
        text_of(self.bytes(id))
    }

    /// Iterates over all ids with their bytes.
    pub fn iter(&self) -> impl Iterator<Item = (StringId, &[u8])> {
        (0..self.ends.len() as u32).map(|id| (StringId(id), self.bytes(StringId(id))))
    }

    /// Adds all strings of `other`; the returned vector maps ids of `other` (its index) to ids of this table.
    pub(crate) fn absorb(&mut self, other: &Strings) -> Vec<StringId> {
        other.iter().map(|(_, bytes)| self.intern(bytes)).collect()
    }

    /// Returns the allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        (self.buffer.capacity()
            + self.ends.capacity() * size_of::<usize>()
            + self.slots.capacity() * size_of::<Slot>()) as u64
    }
}

/// Returns the arguments on one line, quoted as a shell needs it.
pub(crate) fn shell_bytes<'a>(arguments: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(b' ');
        }
        let is_plain = !argument.is_empty()
            && argument
                .iter()
                .all(|c| c.is_ascii_alphanumeric() || b"_-./=+:,@%".contains(c));
        if is_plain {
            line.extend_from_slice(argument);
        } else {
            line.push(b'\'');
            for &byte in argument {
                if byte == b'\'' {
                    line.extend_from_slice(b"'\\''");
                } else {
                    line.push(byte);
                }
            }
            line.push(b'\'');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_texts_give_their_bytes_again() {
        for (bytes, text) in [
            (&b"caf\xe9.c"[..], "caf\\xe9.c"),
            (b"caf\\xe9.c", "caf\\x5cxe9.c"),
            (b"caf\\x5cxe9.c", "caf\\x5cx5cxe9.c"),
            (b"\\\\xff\\x\\n\xff", "\\\\x5cxff\\x\\n\\xff"),
            ("\u{e9} \\xg1 \\".as_bytes(), "\u{e9} \\xg1 \\"),
        ] {
            assert_eq!(exact_text(bytes), text);
            assert_eq!(exact_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn equal_bytes_get_equal_ids() {
        let mut strings = Strings::default();
        let ids: Vec<_> = (0..1000)
            .map(|i| strings.intern_text(&format!("name{i}")))
            .collect();
        assert_eq!(strings.intern_text("name7"), ids[7]);
        assert_eq!(strings.find(b"name999"), Some(ids[999]));
        assert_eq!(strings.find(b"absent"), None);
        assert_eq!(strings.intern(b""), StringId::EMPTY);
        let bad = strings.intern(b"\xff\xfe");
        assert_eq!(strings.bytes(bad), b"\xff\xfe");
        let mut other = Strings::default();
        let map = other.absorb(&strings);
        assert_eq!(other.bytes(map[ids[42].0 as usize]), b"name42");
    }

    #[test]
    fn strings_after_the_first_ones_are_equal_once_tables_are_joined() {
        let mut part = Strings::default();
        let names = ["a", "b", "c", "b", "c", "d", "c"];
        let ids: Vec<_> = names
            .iter()
            .map(|name| part.intern_first(name.as_bytes(), 3))
            .collect();
        assert_eq!(ids[1], ids[3]);
        assert_ne!(ids[2], ids[4]);
        assert_eq!(part.find(b"c"), None);
        let mut all = Strings::default();
        let map = &all.absorb_all(&[&part])[0];
        let joined: Vec<_> = ids.iter().map(|id| map[id.0 as usize]).collect();
        assert_eq!(joined[2], joined[4]);
        assert_eq!(joined[2], joined[6]);
        assert_eq!(all.len(), 5);
        for (id, name) in joined.iter().zip(names) {
            assert_eq!(all.text(*id), name);
            assert_eq!(all.find(name.as_bytes()), Some(*id));
        }
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        let words = ["gcc", "-o", "a b", "it's", ""].map(str::as_bytes);
        assert_eq!(
            shell_bytes(words.into_iter()),
            b"gcc -o 'a b' 'it'\\''s' ''"
        );
    }
}
