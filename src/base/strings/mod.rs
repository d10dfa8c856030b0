//! Interned strings: each distinct text is stored once and has an id.

mod absorb;
mod ascending;
mod id;
mod index;
mod texts;

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;

use ascending::{Ascending, Place, Watch};
pub use id::StringId;
use index::{Index, Slot, first_slot};
use texts::AllTexts;

/// A table of byte strings, which are distinct but for those that [`Strings::intern_first`] and [`Strings::absorb_all`]
/// describe. Bytes need not be UTF-8: they are kept exactly, and shown through [`Strings::text`].
#[derive(Clone, Serialize, Deserialize)]
pub struct Strings {
    texts: AllTexts,
    /// Strings by hash, but for those in `ascending` and those that [`Strings::intern_first`] did not put here.
    index: Index,
    ascending: Ascending,
    /// Strings that [`Strings::intern_first`] added last, by hash; empty, or of [`RECENT`] slots.
    #[serde(skip)]
    recent: Vec<Slot>,
    /// Whether [`Strings::intern_first`] adds strings to the index.
    #[serde(skip)]
    growth: Growth,
    /// Ascending strings that [`Strings::intern_first`] added.
    #[serde(skip)]
    watch: Watch,
}

/// How many of the strings that are in no list and not in the index are remembered.
const RECENT: usize = 1 << 10;
/// All of so many first strings that [`Strings::intern_first`] adds are found again.
const FIRST_KEPT: u32 = 1 << 13;
/// At most so many of the strings that [`Strings::intern_first`] adds are found again.
const MOST_KEPT: u32 = 1 << 17;
/// The index goes on growing if strings in it were found again late, once for each so many strings in it.
const FOUND_AGAIN: u32 = 64;

/// How many strings [`Strings::intern_first`] adds to the index. More than the first ones are added if they are found
/// again, but not only just after they were added: names of functions, not those of single frames or requests.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// The number of strings up to which they are added.
    limit: u32,
    /// Whether the limit does not change any more.
    is_over: bool,
    /// How often a string was found again long after it was added, since the last change of the limit; without the first
    /// [`RECENT`] strings, which are those that most events have.
    found: u32,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth {
            limit: FIRST_KEPT,
            is_over: false,
            found: 0,
        }
    }
}

impl Growth {
    /// Notes that a string was found when the table had `count` strings.
    #[inline]
    fn found(&mut self, id: StringId, count: u32) {
        let is_first = id.0 < RECENT as u32;
        let is_recent = count - id.0 <= RECENT as u32;
        self.found += u32::from(!is_first && !is_recent);
    }

    /// Returns whether the next string of a table of `count` strings is added to the index.
    #[inline]
    fn adds(&mut self, count: u32) -> bool {
        count < self.limit || (!self.is_over && self.grows(count))
    }

    #[cold]
    fn grows(&mut self, count: u32) -> bool {
        self.is_over = count >= MOST_KEPT || self.found <= self.limit / FOUND_AGAIN;
        if !self.is_over {
            self.limit = (count + 1).next_power_of_two();
            self.found = 0;
        }
        !self.is_over
    }
}

impl Default for Strings {
    fn default() -> Strings {
        let mut strings = Strings::without_strings();
        strings.intern(b"");
        strings
    }
}

impl std::fmt::Debug for Strings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Strings({})", self.len())
    }
}

#[inline]
fn hash_bytes(bytes: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // The high bits of FxHasher are better distributed than the low ones.
    (hasher.finish() >> 20) as u32
}

/// The last part of a path; empty if it ends in a slash.
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
    /// Returns a table without any string, not even the empty one.
    fn without_strings() -> Strings {
        Strings {
            texts: AllTexts::default(),
            index: Index::default(),
            ascending: Ascending::default(),
            recent: Vec::new(),
            growth: Growth::default(),
            watch: Watch::default(),
        }
    }

    /// Number of ids, including that of the empty string.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns `false`: the empty string is always in the table.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the id of `bytes`; adds them if they are not in the table.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> StringId {
        self.index.make_room();
        let hash = hash_bytes(bytes);
        match self.look_up(bytes, hash) {
            Ok(known) => known,
            Err(free) => {
                let id = self.texts.push(bytes);
                self.texts.keep_hash(hash);
                self.index.fill(free, Slot::of(hash, id));
                id
            }
        }
    }

    /// Returns an id of `bytes`; adds them if they are not found. After the first strings, if few of them are found again,
    /// only strings that ascend and the last of the others are found, and a string that was added before a list of
    /// ascending strings was begun may be added to the list once more: then it has two ids. So a million names that occur
    /// once fill no hash table. [`Strings::absorb_all`] finds equal strings.
    pub(crate) fn intern_first(&mut self, bytes: &[u8]) -> StringId {
        let count = self.len() as u32;
        let text = |id| self.texts.bytes(id);
        match self.watch.place(bytes, StringId(count), text) {
            Place::Known(id) => return id,
            Place::Next => return self.texts.push(bytes),
            Place::Elsewhere => {}
        }
        let id = match self.growth.adds(count) {
            true => self.intern(bytes),
            false => self.intern_recent(bytes),
        };
        match id.0 < count {
            true => self.growth.found(id, count),
            false => (self.watch).added(bytes, id, |id| self.texts.bytes(id)),
        }
        id
    }

    /// Returns the id of `bytes`; adds them if they are neither in the index nor one of the last strings.
    #[inline]
    fn intern_recent(&mut self, bytes: &[u8]) -> StringId {
        let hash = hash_bytes(bytes);
        if let Ok(known) = self.look_up(bytes, hash) {
            return known;
        }
        if self.recent.is_empty() {
            self.recent = vec![Slot::FREE; RECENT];
        }
        let at = first_slot(hash, RECENT);
        if let Some(known) = self.recent[at].id_of(hash)
            && self.bytes(known) == bytes
        {
            return known;
        }
        let id = self.texts.push(bytes);
        self.texts.keep_hash(hash);
        self.recent[at] = Slot::of(hash, id);
        id
    }

    /// Returns the id of `bytes`; as error, the index of the free slot for them.
    #[inline]
    fn look_up(&self, bytes: &[u8], hash: u32) -> Result<StringId, usize> {
        let found = self.index.look_up(hash, |id| self.bytes(id) == bytes);
        found.or_else(|free| {
            let member = self.ascending.find(bytes, |id| self.bytes(id));
            member.map(|member| member.id).ok_or(free)
        })
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

    /// The bytes of a string; empty if the id is out of range (an id of another table).
    #[inline]
    #[must_use]
    pub fn bytes(&self, id: StringId) -> &[u8] {
        self.texts.bytes(id)
    }

    /// Returns the text of a string for display: bytes that are not UTF-8 become `\xNN`.
    #[must_use]
    pub fn text(&self, id: StringId) -> std::borrow::Cow<'_, str> {
        text_of(self.bytes(id))
    }

    /// Iterates over all ids with their bytes.
    pub fn iter(&self) -> impl Iterator<Item = (StringId, &[u8])> {
        self.texts.iter()
    }

    /// Adds all strings of `other`; the returned vector maps ids of `other` (its index) to ids of this table.
    pub(crate) fn absorb(&mut self, other: &Strings) -> Vec<StringId> {
        other.iter().map(|(_, bytes)| self.intern(bytes)).collect()
    }

    /// Returns the allocated heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let recent = (self.recent.capacity() * size_of::<Slot>()) as u64;
        let lists = self.ascending.memory_bytes() + self.watch.memory_bytes();
        self.texts.memory_bytes() + self.index.memory_bytes() + lists + recent
    }
}

/// Returns a text with its first letter capitalised.
#[must_use]
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
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
        part.growth.limit = 3;
        let names = ["a", "b", "c", "b", "c", "d", "c"];
        // In no order, so that they are remembered only for a while.
        let mut others = (0_u32..).map(|number| number.wrapping_mul(0x9e37_79b1));
        let mut intern = |name: &&str| {
            let id = part.intern_first(name.as_bytes());
            // So many that no name after the first ones is remembered.
            let count = if part.len() > 3 { 20_000 } else { 0 };
            for other in others.by_ref().take(count) {
                part.intern_first(format!("other {other}").as_bytes());
            }
            id
        };
        let ids: Vec<_> = names.iter().map(&mut intern).collect();
        assert_eq!(ids[1], ids[3]);
        assert_ne!(ids[2], ids[4]);
        let again = [part.intern_first(b"e"), part.intern_first(b"e")];
        assert_eq!(again[0], again[1]);
        assert_eq!(part.find(b"c"), None);
        let mut all = Strings::default();
        let map = &all.absorb_all(vec![part])[0];
        let joined: Vec<_> = (ids.iter())
            .map(|id| map.get(id.0 as usize).unwrap())
            .collect();
        assert_eq!(joined[2], joined[4]);
        assert_eq!(joined[2], joined[6]);
        for (id, name) in joined.iter().zip(names) {
            assert_eq!(all.text(*id), name);
            assert_eq!(all.find(name.as_bytes()), Some(*id));
        }
    }

    #[test]
    fn the_index_grows_while_strings_are_found_again() {
        let count = 100_000_u32;
        let distinct = |of: fn(u32) -> u32| {
            let mut part = Strings::default();
            for number in 0..count {
                let mixed = (number ^ number >> 9).wrapping_mul(0x85eb_ca6b);
                let name = of((mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35));
                part.intern_first(format!("f{name}x").as_bytes());
            }
            part
        };
        // Each of 30,000 names occurs three or four times, in no order.
        let repeated = distinct(|number| number % 30_000);
        assert!(repeated.len() < 40_000, "{repeated:?}");
        assert!(repeated.growth.limit > FIRST_KEPT);
        // Each occurs once.
        let once = distinct(|number| number);
        assert!(once.len() > 99_000, "{once:?}");
        assert_eq!(once.growth.limit, FIRST_KEPT);
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
