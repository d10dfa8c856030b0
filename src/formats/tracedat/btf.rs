//! The kernel's types (BTF), which trace-cmd 3.4 stores: the names of enum values, and the parameters of functions.
//!
//! ```text
//! header: magic eb9f u16 | version u8 | flags u8 | header length u32 | types: offset, length u32 | strings: offset, length u32
//! type:   name u32 | info u32: members in bits 0..15, kind in bits 24..28, signed in bit 31 | size or type u32 | by
//! kind
//! enum:   a member is name u32, value i32; enum64: name u32, value as two u32
//! func:   its type is a func_proto, whose members are the parameters: name u32, type u32
//! int:    u32 with the encoding in bits 24..27, of which the lowest means signed
//! ```
//!
//! Offsets of types and strings count from the header's end. Types are numbered from 1 (0 is `void`).

use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::print_fmt::{Parameter, ParameterSort};
use crate::base::Endian;

const MAGIC: u16 = 0xeb9f;
const INT: u32 = 1;
const POINTER: u32 = 2;
const ENUM: u32 = 6;
const FUNC: u32 = 12;
const FUNC_PROTO: u32 = 13;
const ENUM64: u32 = 19;
/// Kinds that only rename or qualify another type: typedef, volatile, const, restrict, type tag.
const MODIFIERS: [u32; 5] = [8, 9, 10, 11, 18];
/// Maximum number of modifiers of a type.
const MAX_MODIFIERS: usize = 32;
/// Maximum number of enum values that are kept.
const MAX_VALUES: usize = 1 << 20;

/// The names of enum values, and the functions of the kernel.
#[derive(Debug, Default)]
pub struct Btf {
    /// Numbers, by the name of the enum value.
    values: FxHashMap<Box<str>, i64>,
    /// For each enum name, its values with their names, sorted by value.
    enums: FxHashMap<Box<str>, Vec<(i64, Box<str>)>>,
    /// The section, if it has functions.
    section: Option<Section>,
    /// The places of types; filled when a function's parameters are first asked for.
    places: OnceLock<Places>,
}

#[derive(Debug)]
struct Section {
    bytes: Box<[u8]>,
    endian: Endian,
}

/// Where the types of a section are, in bytes from the start of the types.
#[derive(Debug, Default)]
struct Places {
    /// By the number of the type, from 1.
    types: Vec<u32>,
    /// The functions, by the hash of their names.
    functions: FxHashMap<u64, u32>,
}

/// The types and names of a section.
struct Tables<'a> {
    types: Bytes<'a>,
    strings: &'a [u8],
}

/// A type.
#[derive(Clone, Copy)]
struct Type {
    name: u32,
    kind: u32,
    /// Its number of members.
    count: usize,
    is_signed: bool,
    /// Its size in bytes, or the type that it refers to.
    size_or_type: u32,
    /// Where its members are.
    members: usize,
    /// Where the next type is.
    next: usize,
}

impl<'a> Tables<'a> {
    /// Returns the tables of a section; `None` if it is damaged.
    fn of(file: &Bytes<'a>) -> Option<Tables<'a>> {
        let magic = *file.bytes.first_chunk::<2>()?;
        let is_btf = match file.endian {
            Endian::Little => u16::from_le_bytes(magic) == MAGIC,
            Endian::Big => u16::from_be_bytes(magic) == MAGIC,
        };
        if !is_btf {
            return None;
        }
        let header = usize::try_from(file.u32(4)?).ok()?;
        let place = |at| header.checked_add(usize::try_from(file.u32(at)?).ok()?);
        Some(Tables {
            types: Bytes {
                bytes: file.part(place(8)?, file.u32(12)?)?,
                endian: file.endian,
            },
            strings: file.part(place(16)?, file.u32(20)?)?,
        })
    }

    fn text(&self, offset: u32) -> Option<&'a str> {
        let text = self.strings.get(usize::try_from(offset).ok()?..)?;
        let end = memchr::memchr(0, text)?;
        std::str::from_utf8(text.get(..end)?).ok()
    }

    /// Returns the type at `at`; `None` at the end, or if it is damaged.
    fn type_at(&self, at: usize) -> Option<Type> {
        let types = &self.types;
        let info = types.u32(at.checked_add(4)?)?;
        let count = usize::try_from(info & 0xffff).ok()?;
        let kind = info >> 24 & 0x1f;
        let members = at.checked_add(12)?;
        // Bytes after the first 12 bytes of a type. Int, var and decl_tag: 4. Array: 12. Struct, union, datasec and
        // enum64: 12 per member. Enum and func_proto: 8 per member. All others: none.
        let member_bytes = match kind {
            INT | 14 | 17 => 4,
            3 => 12,
            4 | 5 | 15 | ENUM64 => count.checked_mul(12)?,
            ENUM | FUNC_PROTO => count.checked_mul(8)?,
            POINTER | 7..=FUNC | 16 | 18 => 0,
            _ => return None,
        };
        Some(Type {
            name: types.u32(at)?,
            kind,
            count,
            is_signed: info >> 31 != 0,
            size_or_type: types.u32(at.checked_add(8)?)?,
            members,
            next: members.checked_add(member_bytes)?,
        })
    }

    fn places(&self) -> Places {
        let mut places = Places::default();
        let mut at = 0;
        while let Some(found) = self.type_at(at) {
            let Ok(place) = u32::try_from(at) else { break };
            places.types.push(place);
            if let Some(name) = self.text(found.name).filter(|_| found.kind == FUNC) {
                let hash = hash_of(name.as_bytes());
                places.functions.entry(hash).or_insert(place);
            }
            at = found.next;
        }
        places
    }

    fn type_of(&self, places: &Places, number: u32) -> Option<Type> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.type_at(*places.types.get(index)? as usize)
    }

    /// Returns how values of the type with this number are written.
    fn sort_of(&self, places: &Places, mut number: u32) -> ParameterSort {
        for _ in 0..MAX_MODIFIERS {
            let Some(found) = self.type_of(places, number) else {
                break;
            };
            match found.kind {
                kind if MODIFIERS.contains(&kind) => number = found.size_or_type,
                POINTER => return ParameterSort::Unsigned,
                INT => {
                    let encoding = self.types.u32(found.members).unwrap_or(0);
                    return match encoding >> 24 & 1 {
                        1 => ParameterSort::Signed,
                        _ => ParameterSort::Unsigned,
                    };
                }
                ENUM | ENUM64 => return ParameterSort::Signed,
                _ => return ParameterSort::Compound(found.size_or_type),
            }
        }
        ParameterSort::Unknown
    }
}

fn hash_of(name: &[u8]) -> u64 {
    FxBuildHasher.hash_one(name)
}

struct Bytes<'a> {
    bytes: &'a [u8],
    endian: Endian,
}

impl<'a> Bytes<'a> {
    fn u32(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(match self.endian {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        })
    }

    fn part(&self, start: usize, length: u32) -> Option<&'a [u8]> {
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        self.bytes.get(start..end.min(self.bytes.len()))
    }
}

impl Btf {
    /// Parses a BTF section up to its first damaged type.
    #[must_use]
    pub fn parse(bytes: &[u8], endian: Endian) -> Btf {
        let mut btf = Btf::default();
        let Some(tables) = Tables::of(&Bytes { bytes, endian }) else {
            return btf;
        };
        let mut has_functions = false;
        let mut at = 0;
        while let Some(found) = tables.type_at(at) {
            has_functions |= found.kind == FUNC;
            if matches!(found.kind, ENUM | ENUM64) && btf.read_enum(&tables, found).is_none() {
                break;
            }
            at = found.next;
        }
        if has_functions {
            let bytes = bytes.into();
            btf.section = Some(Section { bytes, endian });
        }
        for values in btf.enums.values_mut() {
            values.sort();
            values.dedup_by_key(|value| value.0);
        }
        btf
    }

    fn read_enum(&mut self, tables: &Tables<'_>, found: Type) -> Option<()> {
        let types = &tables.types;
        let own = tables.text(found.name).unwrap_or("");
        for member in 0..found.count {
            let width = if found.kind == ENUM { 8 } else { 12 };
            let at = found.members.checked_add(member.checked_mul(width)?)?;
            let low = types.u32(at.checked_add(4)?)?;
            let value = match found.kind {
                ENUM if found.is_signed => i64::from(low.cast_signed()),
                ENUM => i64::from(low),
                _ => {
                    let high = types.u32(at.checked_add(8)?)?;
                    (u64::from(high) << 32 | u64::from(low)).cast_signed()
                }
            };
            if let Some(name) = tables.text(types.u32(at)?).filter(|name| !name.is_empty()) {
                self.add(own, name, value)?;
            }
        }
        Some(())
    }

    /// Returns the parameters of a function of the kernel; `None` if the section does not describe it.
    pub(crate) fn parameters(&self, function: &str) -> Option<Vec<Parameter<'_>>> {
        let Section { bytes, endian } = self.section.as_ref()?;
        let endian = *endian;
        let tables = Tables::of(&Bytes { bytes, endian })?;
        let places = self.places.get_or_init(|| tables.places());
        let at = *places.functions.get(&hash_of(function.as_bytes()))?;
        let found = tables.type_at(at as usize)?;
        if tables.text(found.name) != Some(function) {
            return None;
        }
        let proto = tables.type_of(places, found.size_or_type)?;
        let parameter = |number: usize| {
            let at = proto.members.checked_add(number.checked_mul(8)?)?;
            let name = tables.text(tables.types.u32(at)?).unwrap_or("");
            let sort = tables.sort_of(places, tables.types.u32(at.checked_add(4)?)?);
            Some(Parameter { name, sort })
        };
        let all = (0..proto.count).map(parameter);
        (proto.kind == FUNC_PROTO).then(|| all.collect())?
    }

    fn add(&mut self, own: &str, name: &str, value: i64) -> Option<()> {
        if self.values.len() >= MAX_VALUES {
            return None;
        }
        self.values.entry(name.into()).or_insert(value);
        if !own.is_empty() {
            let values = self.enums.entry(own.into()).or_default();
            values.push((value, name.into()));
        }
        Some(())
    }

    /// Returns whether no names were read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the name of `value` in the enum that `type_name` (`enum NAME`) means; `None` if either is unknown.
    #[must_use]
    pub(crate) fn name_of(&self, type_name: &str, value: i64) -> Option<&str> {
        let values = self
            .enums
            .get(type_name.trim().strip_prefix("enum ")?.trim())?;
        let at = values.binary_search_by_key(&value, |known| known.0).ok()?;
        values.get(at).map(|known| &*known.1)
    }

    /// Replaces the names of enum values in the tables of a print format by numbers, as the kernel does in the print
    /// formats that it resolves itself.
    #[must_use]
    pub(crate) fn resolve(&self, print_fmt: &str) -> String {
        let mut out = String::with_capacity(print_fmt.len());
        let mut rest = print_fmt;
        let (mut is_in_text, mut depth) = (false, 0_u32);
        while let Some(first) = rest.chars().next() {
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let length = match first {
                _ if is_in_text => 1,
                _ if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
                _ => 1,
            };
            let length = match length {
                1 => first.len_utf8(),
                length => length,
            };
            let (word, behind) = rest.split_at_checked(length).unwrap_or((rest, ""));
            match first {
                '\\' if is_in_text => {
                    // An escaped character does not end the literal.
                    let next = behind.chars().next().map_or(0, char::len_utf8);
                    let (escaped, behind) = behind.split_at_checked(next).unwrap_or((behind, ""));
                    out.push_str(word);
                    out.push_str(escaped);
                    rest = behind;
                    continue;
                }
                '"' => is_in_text = !is_in_text,
                '{' if !is_in_text => depth = depth.saturating_add(1),
                '}' if !is_in_text => depth = depth.saturating_sub(1),
                _ => {}
            }
            let is_free = depth > 0 && !is_in_text && !out.ends_with("->");
            match self.values.get(word).filter(|_| is_free) {
                Some(value) => out.push_str(&value.to_string()),
                None => out.push_str(word),
            }
            rest = behind;
        }
        out
    }
}

#[cfg(test)]
pub(in crate::formats::tracedat) mod tests {
    use super::*;

    /// Returns a BTF section with an int, an enum `color` (RED 1, BLUE -2) and a nameless enum64 (BIG 2^33).
    pub(crate) fn section() -> Vec<u8> {
        let strings = b"\0int\0color\0RED\0BLUE\0BIG\0";
        let words: Vec<u32> = vec![
            1,
            1 << 24,
            4,
            32, // int
            5,
            6 << 24 | 1 << 31 | 2,
            4,
            11,
            1,
            15,
            (-2_i32).cast_unsigned(),
            0,
            19 << 24 | 1,
            8,
            20,
            0,
            2,
        ];
        let types: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or(0);
        for word in [24, 0, length(&types), length(&types), length(strings)] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&types);
        bytes.extend_from_slice(strings);
        bytes
    }

    /// Returns a BTF section with the function `vfs_read(struct file *file, int whence, unsigned long count, loff_t)`.
    pub(crate) fn functions() -> Vec<u8> {
        let strings = b"\0int\0ulong\0file\0whence\0count\0loff_t\0vfs_read\0";
        let words: Vec<u32> = vec![
            1,
            1 << 24,
            4,
            1 << 24 | 32, // 1: int
            5,
            1 << 24,
            8,
            64, // 2: ulong
            11,
            4 << 24,
            16, // 3: struct file
            0,
            2 << 24,
            3, // 4: pointer to 3
            29,
            8 << 24,
            1, // 5: typedef loff_t of 1
            0,
            13 << 24 | 4,
            1,
            11,
            4,
            16,
            1,
            23,
            2,
            0,
            5, // 6: func_proto
            36,
            12 << 24,
            6, // 7: func
        ];
        let types: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        let length = |part: &[u8]| u32::try_from(part.len()).unwrap_or(0);
        for word in [24, 0, length(&types), length(&types), length(strings)] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&types);
        bytes.extend_from_slice(strings);
        bytes
    }

    #[test]
    fn functions_have_parameters() {
        let btf = Btf::parse(&functions(), Endian::Little);
        let of = |name, sort| Parameter { name, sort };
        let expected = vec![
            of("file", ParameterSort::Unsigned),
            of("whence", ParameterSort::Signed),
            of("count", ParameterSort::Unsigned),
            of("", ParameterSort::Signed),
        ];
        assert_eq!(btf.parameters("vfs_read"), Some(expected));
        assert_eq!(btf.parameters("vfs_write"), None);
        for length in 0..functions().len() {
            let cut = Btf::parse(functions().get(..length).unwrap_or(&[]), Endian::Little);
            let _ = cut.parameters("vfs_read");
        }
    }

    #[test]
    fn enums_name_values_and_resolve_tables() {
        let btf = Btf::parse(&section(), Endian::Little);
        assert_eq!(btf.name_of("enum color", -2), Some("BLUE"));
        assert_eq!(btf.name_of("enum color", 2), None);
        assert_eq!(btf.name_of("int", 1), None);
        let table = r#""RED %s", __print_symbolic(REC->RED, { RED, "\"RED" }, { BIG|1, "b" })"#;
        assert_eq!(
            btf.resolve(table),
            r#""RED %s", __print_symbolic(REC->RED, { 1, "\"RED" }, { 8589934592|1, "b" })"#
        );
        // A section that is cut at any length must not panic.
        for length in 0..section().len() {
            let _ = Btf::parse(section().get(..length).unwrap_or(&[]), Endian::Little);
        }
        assert!(Btf::parse(&section(), Endian::Big).is_empty());
    }
}
