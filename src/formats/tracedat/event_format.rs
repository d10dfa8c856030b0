//! Parses the text of an event's `format` file to its fields with their offsets.
//!
//! ```text
//! name: sched_waking
//! ID: 255
//! format:
//!     field:unsigned short common_type;   offset:0;  size:2;  signed:0;
//!     ...                                             a blank line ends the common fields
//!     field:char comm[16];                offset:8;  size:16; signed:0;
//!     field:__data_loc char[] name;       offset:24; size:4;  signed:1;
//!
//! print fmt: "comm=%s", REC->comm
//! ```
//!
//! `header_page` has the same grammar, without name and print fmt. This module does not parse the print fmt. Offsets
//! are checked against each record: a field outside the record is read as absent.

use std::ops::Range;

use compact_str::CompactString;

use crate::base::Endian;
use crate::event::FieldRole;
use crate::event::kernel::is_probe_field;

/// Maximum number of fields of one event; further fields are assumed to be garbage.
const MAX_FIELDS: usize = 4096;

/// How a field's bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One number (or pointer) of the field's size.
    Plain,
    /// Elements one after another inside the field.
    Array,
    /// The record from the field's offset to its end (`char buf[]` of size 0).
    Rest,
    /// 4 bytes: length in the high half, offset from the record's start in the low half.
    DataLoc,
    /// Like `DataLoc`, but the offset counts from the end of these 4 bytes.
    RelLoc,
    /// Several `DataLoc`s one after another (`__data_loc char[][3]` of probes).
    DataLocs,
}

/// One field of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFormat {
    /// Its name, without brackets.
    pub name: CompactString,
    /// Its type as declared, without the name: `unsigned long`, `char[16]`, `__data_loc char[]`.
    pub type_name: CompactString,
    /// Offset from the record's start, in bytes.
    pub offset: u32,
    /// Size in the record, in bytes (4 for a `__data_loc`).
    pub size: u32,
    /// Whether numbers are sign-extended.
    pub is_signed: bool,
    /// Whether the elements are characters (`char`, `u8`, `s8` arrays).
    pub is_string: bool,
    /// Whether the type has a star.
    pub is_pointer: bool,
    /// Whether the type contains the word `long`.
    pub is_long: bool,
    /// How its bytes are read.
    pub shape: Shape,
    /// Size of one element in bytes, never 0; the field's size if it is not an array.
    pub element_size: u32,
    /// The role of the field for exporters. Fields before the blank line are [`FieldRole::Common`].
    pub role: FieldRole,
}

/// One kind of event, as its `format` file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFormat {
    /// The number in `common_type`.
    pub id: u32,
    /// Its name, e.g. `sched_switch`.
    pub name: String,
    /// Its system, e.g. `sched`.
    pub system: String,
    /// Fields in the file's order, common ones first.
    pub fields: Vec<FieldFormat>,
    /// The text after `print fmt: `; empty if there is none.
    pub print_fmt: String,
}

/// The fields of `header_page`: the layout of the start of a ring-buffer page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderPage {
    /// Offset and size of the time stamp.
    pub timestamp: (u32, u32),
    /// Offset and size of the commit counter; the size is that of the kernel's `long`.
    pub commit: (u32, u32),
    /// Offset of the first record in a page, in bytes.
    pub data_offset: u32,
    /// Room for records in a page, in bytes.
    pub data_size: u32,
    /// Whether pages can report that events before them were lost.
    pub has_overwrite: bool,
}

impl FieldFormat {
    /// Returns the bytes of the field's data in `record`; for a `__data_loc`, the string or array itself. An array is
    /// cut at the end of the record; `None` if other data is not completely in the record.
    #[must_use]
    pub fn data<'a>(&self, record: &'a [u8], endian: Endian) -> Option<&'a [u8]> {
        record.get(self.data_range(record, endian)?)
    }

    /// Returns the range of [`FieldFormat::data`] in the record, in bytes.
    #[must_use]
    pub(crate) fn data_range(&self, record: &[u8], endian: Endian) -> Option<Range<usize>> {
        let offset = self.offset as usize;
        let range = match self.shape {
            Shape::Rest => offset..record.len(),
            // Records of stack traces end before the arrays that their formats declare.
            Shape::Array => offset..offset.checked_add(self.size as usize)?.min(record.len()),
            Shape::Plain | Shape::DataLocs => offset..offset.checked_add(self.size as usize)?,
            Shape::DataLoc => loc_range(record, offset, 0, endian)?,
            Shape::RelLoc => loc_range(record, offset, offset.checked_add(4)?, endian)?,
        };
        (range.start <= range.end && range.end <= record.len()).then_some(range)
    }

    /// Returns the field as one number, sign-extended if it is signed. `None` if it is not a number or is outside the
    /// record.
    #[inline]
    #[must_use]
    pub fn number(&self, record: &[u8], endian: Endian) -> Option<u64> {
        let offset = self.offset as usize;
        let bytes = record.get(offset..offset.checked_add(self.size as usize)?)?;
        let value = read_number(bytes, endian)?;
        Some(if self.is_signed {
            sign_extend(value, self.size)
        } else {
            value
        })
    }

    /// Returns whether every event has the field.
    #[must_use]
    pub(crate) fn is_common(&self) -> bool {
        self.role == FieldRole::Common
    }

    /// Returns whether the field is one number of 1, 2, 4 or 8 bytes.
    #[must_use]
    pub(crate) fn is_number(&self) -> bool {
        self.shape == Shape::Plain && matches!(self.size, 1 | 2 | 4 | 8)
    }
}

/// Returns the number in `bytes`; `None` unless there are 1, 2, 4 or 8 of them.
#[inline]
#[must_use]
pub(crate) fn read_number(bytes: &[u8], endian: Endian) -> Option<u64> {
    Some(match bytes.len() {
        1 => u64::from(*bytes.first()?),
        2 => u64::from(endian.u16(bytes.try_into().ok()?)),
        4 => u64::from(endian.u32(bytes.try_into().ok()?)),
        8 => endian.u64(bytes.try_into().ok()?),
        _ => return None,
    })
}

/// Sign-extends a number of `size` bytes to 64 bits.
#[inline]
#[must_use]
pub(crate) fn sign_extend(value: u64, size: u32) -> u64 {
    match size {
        1 => value as u8 as i8 as i64 as u64,
        2 => value as u16 as i16 as i64 as u64,
        4 => value as u32 as i32 as i64 as u64,
        _ => value,
    }
}

/// Returns the range in `record` that the `__data_loc` at offset `at` refers to; its offset counts from `base`.
#[must_use]
pub(crate) fn loc_range(
    record: &[u8],
    at: usize,
    base: usize,
    endian: Endian,
) -> Option<Range<usize>> {
    let bytes = record.get(at..at.checked_add(4)?)?;
    let loc = endian.u32(bytes.try_into().ok()?);
    let start = base.checked_add((loc & 0xffff) as usize)?;
    Some(start..start.checked_add((loc >> 16) as usize)?)
}

impl EventFormat {
    /// Parses the text of one `format` file. `None` if it has no name or no ID.
    ///
    /// `long_size` is the size of the kernel's `long` in bytes (4 or 8): the sizes of array elements depend on it.
    #[must_use]
    pub fn parse(text: &[u8], system: &str, long_size: u32) -> Option<EventFormat> {
        let mut format = EventFormat {
            system: system.to_owned(),
            ..EventFormat::default()
        };
        let mut id = None;
        let mut is_common = true;
        let mut rest = text;
        while !rest.is_empty() {
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at(length);
            let line = line.trim_ascii();
            if let Some(value) = line.strip_prefix(b"print fmt:") {
                // Up to the end of the text, because a print fmt may contain newlines.
                let offset = text.len() - rest.len();
                let start = offset + (rest.len() - rest.trim_ascii_start().len()) + 10;
                let all = text.get(start..).unwrap_or(value);
                format.print_fmt = String::from_utf8_lossy(all.trim_ascii()).into_owned();
                break;
            } else if let Some(value) = line.strip_prefix(b"name:") {
                format.name = String::from_utf8_lossy(value.trim_ascii()).into_owned();
            } else if let Some(value) = line.strip_prefix(b"ID:") {
                id = parse_decimal(value);
            } else if line.is_empty() {
                is_common &= format.fields.is_empty();
            } else if format.fields.len() < MAX_FIELDS {
                let role = |name: &str| match (format.name.as_str(), name) {
                    _ if is_common => FieldRole::Common,
                    ("sched_switch", "prev_prio") => FieldRole::OutgoingPriority,
                    _ if is_probe_field(name.as_bytes()) => FieldRole::Probe,
                    _ => FieldRole::Argument,
                };
                let field = parse_field(line, long_size).map(|field| FieldFormat {
                    role: role(&field.name),
                    ..field
                });
                format.fields.extend(field);
            }
            rest = after.get(1..).unwrap_or(&[]);
        }
        format.id = id?;
        (!format.name.is_empty()).then_some(format)
    }

    /// Returns the field with the name `name`.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&FieldFormat> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns whether it is the format of a probe, which has a field such as FIELD_STRING_IP of the kernel's
    /// `trace_probe.c`. The format of a probe on another event has no such field.
    #[must_use]
    pub(crate) fn has_probe_field(&self) -> bool {
        (self.fields.iter()).any(|field| field.role == FieldRole::Probe)
    }
}

/// Returns the format of the block tracer's events, which no kernel describes: their number is one above that of
/// another ftrace event. `None` if there is no such event, or if another event has the number. Of the 99 trace.dat
/// files of the corpus and the samples, 1 contains such events.
#[must_use]
pub(crate) fn blktrace_format(formats: &[EventFormat]) -> Option<EventFormat> {
    let ftrace = |name: &str| {
        formats
            .iter()
            .find(|format| format.system == "ftrace" && format.name == name)
    };
    let before = ["power", "kmem_free", "user_stack"]
        .into_iter()
        .find_map(ftrace)?;
    let id = before.id.checked_add(1)?;
    if formats.iter().any(|format| format.id == id) {
        return None;
    }
    let own = "field:u64 sector;offset:16;size:8;
        field:int bytes;offset:24;size:4;
        field:int action;offset:28;size:4;
        field:int pid;offset:32;size:4;
        field:int device;offset:36;size:4;
        field:int cpu;offset:40;size:4;
        field:short error;offset:44;size:2;
        field:short pdu_len;offset:46;size:2;
        field:void data;offset:48;size:0;";
    let mut fields: Vec<FieldFormat> = before
        .fields
        .iter()
        .filter(|field| field.is_common())
        .cloned()
        .collect();
    let lines = own.lines().map(|line| line.trim().as_bytes());
    fields.extend(lines.filter_map(|line| parse_field(line, 8)));
    Some(EventFormat {
        id,
        name: "blktrace".into(),
        system: "ftrace".into(),
        fields,
        print_fmt: "\"%d\", REC->pid".into(),
    })
}

impl HeaderPage {
    /// Parses the text of `header_page`. `None` if it does not contain the positions of commit and data.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<HeaderPage> {
        let mut fields = text
            .split(|&byte| byte == b'\n')
            .filter_map(|line| parse_field(line.trim_ascii(), 8));
        let mut page = (None, None, None, false);
        for field in fields.by_ref().take(16) {
            let place = (field.offset, field.size);
            match field.name.as_str() {
                "timestamp" => page.0 = Some(place),
                "commit" => page.1 = Some(place),
                "data" => page.2 = Some(place),
                "overwrite" => page.3 = true,
                _ => {}
            }
        }
        let (data_offset, data_size) = page.2?;
        Some(HeaderPage {
            timestamp: page.0?,
            commit: page.1?,
            data_offset,
            data_size,
            has_overwrite: page.3,
        })
    }
}

fn parse_decimal(text: &[u8]) -> Option<u32> {
    let text = text.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}

/// Parses `field:TYPE NAME[dims];\toffset:N;\tsize:N;\tsigned:0|1;`, which any text may follow.
fn parse_field(line: &[u8], long_size: u32) -> Option<FieldFormat> {
    let line = line
        .strip_prefix(b"field:")
        .or_else(|| line.strip_prefix(b"field special:"))?;
    let mut pieces = line.split(|&byte| byte == b';');
    let declaration = String::from_utf8_lossy(pieces.next()?);
    let (mut offset, mut size, mut is_signed) = (None, None, None);
    for piece in pieces {
        let piece = piece.trim_ascii();
        if let Some(value) = piece.strip_prefix(b"offset:") {
            offset = offset.or(parse_decimal(value));
        } else if let Some(value) = piece.strip_prefix(b"size:") {
            size = size.or(parse_decimal(value));
        } else if let Some(value) = piece.strip_prefix(b"signed:") {
            is_signed = is_signed.or(parse_decimal(value));
        }
    }
    let declared = Declaration::parse(&declaration)?;
    let size = size?;
    let is_long = declared.type_name.contains("long");
    let is_array = declared.type_name.contains('[');
    let is_string = is_array
        && ["char", "u8", "s8"]
            .iter()
            .any(|word| declared.base.contains(word));
    let shape = match declared.base.split(' ').next() {
        Some("__data_loc") if declared.type_name.contains("][") => Shape::DataLocs,
        Some("__data_loc") => Shape::DataLoc,
        Some("__rel_loc") => Shape::RelLoc,
        _ if is_array && size == 0 => Shape::Rest,
        _ if is_array => Shape::Array,
        _ => Shape::Plain,
    };
    let element_size = match shape {
        Shape::Plain => size,
        Shape::DataLocs => 4,
        _ => match (declared.count, base_size(&declared.base, long_size)) {
            (Some(count), _) if shape == Shape::Array && size % count == 0 => size / count,
            (_, Some(base)) => base,
            (_, None) if shape == Shape::Array => size,
            _ if is_long => long_size,
            _ => 4,
        },
    };
    Some(FieldFormat {
        name: declared.name.into(),
        is_pointer: declared.base.contains('*'),
        type_name: declared.type_name,
        offset: offset?,
        size,
        is_signed: is_signed.unwrap_or(0) != 0,
        is_string,
        is_long,
        shape,
        element_size: element_size.max(1),
        role: FieldRole::Argument,
    })
}

/// A parsed declaration: `unsigned long args[6]`, `__data_loc char[] name`, `char comm[16]`.
struct Declaration<'a> {
    name: &'a str,
    /// The type with all brackets, without the name.
    type_name: CompactString,
    /// The type without name and brackets.
    base: CompactString,
    /// The product of the numbers in brackets; `None` unless all of them are above 0.
    count: Option<u32>,
}

impl Declaration<'_> {
    fn parse(text: &str) -> Option<Declaration<'_>> {
        let text = text.trim();
        let name = name_in(text)?;
        let mut type_name = CompactString::from(text.get(..name.start)?.trim_end());
        type_name.push_str(text.get(name.end..)?.trim());
        let name = text.get(name)?;
        if !type_name.contains('[') {
            return Some(Declaration {
                name,
                base: type_name.clone(),
                type_name,
                count: None,
            });
        }
        let mut base = CompactString::default();
        let mut count = Some(1_u32);
        let mut inside = None;
        for c in type_name.chars() {
            match (c, &mut inside) {
                ('[', None) => inside = Some(String::new()),
                (']', Some(number)) => {
                    let number = number.trim().parse::<u32>().ok().filter(|&n| n > 0);
                    count = count.zip(number).and_then(|(a, b)| a.checked_mul(b));
                    inside = None;
                }
                (_, Some(number)) => number.push(c),
                (_, None) => base.push(c),
            }
        }
        Some(Declaration {
            name,
            base: base.trim().into(),
            type_name,
            count,
        })
    }
}

/// Returns the place of a declaration's name: the last word outside brackets.
fn name_in(text: &str) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    if !text.contains(['[', ']']) {
        let end = text.trim_end_matches(|c| !is_word(c));
        let start = end.trim_end_matches(is_word).len();
        return (start < end.len()).then_some(start..end.len());
    }
    let mut depth = 0_i32;
    let mut end = None;
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' => depth = depth.saturating_add(1),
            '[' => depth = depth.saturating_sub(1),
            _ if depth != 0 => continue,
            _ => {}
        }
        let in_word = depth == 0 && is_word(c);
        match end {
            None if in_word => end = Some(at + c.len_utf8()),
            Some(end) if !in_word => return Some(at + c.len_utf8()..end),
            _ => {}
        }
    }
    end.map(|end| 0..end)
}

/// Returns the size in bytes of a C or kernel type; `None` if the name is unknown.
fn base_size(base: &str, long_size: u32) -> Option<u32> {
    if base.contains('*') {
        return Some(long_size);
    }
    let mut longs = 0;
    let mut size = None;
    for word in base.split(' ') {
        size =
            match word {
                "long" => {
                    longs += 1;
                    Some(if longs > 1 { 8 } else { long_size })
                }
                "char" | "u8" | "s8" | "__u8" | "__s8" | "bool" | "_Bool" | "uint8_t"
                | "int8_t" => Some(1),
                "short" | "u16" | "s16" | "__u16" | "__s16" | "__le16" | "__be16" | "uint16_t" => {
                    Some(2)
                }
                "u32" | "s32" | "__u32" | "__s32" | "__le32" | "__be32" | "uint32_t"
                | "int32_t" | "pid_t" | "dev_t" | "gfp_t" => Some(4),
                "u64" | "s64" | "__u64" | "__s64" | "__le64" | "__be64" | "uint64_t"
                | "int64_t" => Some(8),
                "int" | "unsigned" | "signed" | "enum" if size.is_none() => Some(4),
                "uintptr_t" | "size_t" | "cpumask_t" => Some(long_size),
                _ => size,
            };
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"name: wakeup_lat
ID: 1501
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:u64 lat;\toffset:8;\tsize:8;\tsigned:0;
\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:1;
\tfield:__data_loc char[] dyn;\toffset:32;\tsize:8;\tsigned:1;
\tfield:u8 tag[];\toffset:40;\tsize:6;\tsigned:0;
\tfield:__data_loc char[][3] names;\toffset:46;\tsize:12;\tsigned:1;
\tfield:const struct iovec * vec;\toffset:58;\tsize:8;\tsigned:0; junk:1;
\tfield:unsigned long args[6];\toffset:66;\tsize:48;\tsigned:0;
\tfield:__rel_loc unsigned long[] mask;\toffset:114;\tsize:4;\tsigned:0;
\tfield:char buf[];\toffset:118;\tsize:0;\tsigned:1;

print fmt: \"lat=%llu\",
 REC->lat
";

    #[test]
    fn every_kind_of_declaration_is_understood() {
        let format = EventFormat::parse(TEXT, "synthetic", 8).unwrap();
        assert_eq!((format.id, format.name.as_str()), (1501, "wakeup_lat"));
        assert_eq!(format.print_fmt, "\"lat=%llu\",\n REC->lat");
        let shapes: Vec<_> = (format.fields.iter())
            .filter(|f| !f.is_common())
            .map(|f| (f.name.as_str(), f.shape, f.element_size, f.is_string))
            .collect();
        assert_eq!(
            shapes,
            [
                ("lat", Shape::Plain, 8, false),
                ("comm", Shape::Array, 1, true),
                ("dyn", Shape::DataLoc, 1, true),
                ("tag", Shape::Array, 1, true),
                ("names", Shape::DataLocs, 4, true),
                ("vec", Shape::Plain, 8, false),
                ("args", Shape::Array, 8, false),
                ("mask", Shape::RelLoc, 8, false),
                ("buf", Shape::Rest, 1, true),
            ]
        );
        let vec = format.field("vec").unwrap();
        assert_eq!(vec.type_name, "const struct iovec *");
        assert!(vec.is_pointer);
        assert_eq!(
            format.field("names").unwrap().type_name,
            "__data_loc char[][3]"
        );
        assert_eq!(format.fields.iter().filter(|f| f.is_common()).count(), 2);
    }

    #[test]
    fn lies_about_places_read_as_nothing() {
        let format = EventFormat::parse(TEXT, "synthetic", 8).unwrap();
        let mut record = vec![0_u8; 40];
        record[32..36].copy_from_slice(&0x0008_0020_u32.to_le_bytes());
        let dynamic = format.field("dyn").unwrap();
        assert_eq!(dynamic.data(&record, Endian::Little).unwrap().len(), 8);
        record[32..36].copy_from_slice(&0x0009_0020_u32.to_le_bytes());
        assert_eq!(dynamic.data(&record, Endian::Little), None);
        assert_eq!(
            format.field("vec").unwrap().number(&record, Endian::Little),
            None
        );
        assert_eq!(
            format.field("buf").unwrap().data(&record, Endian::Little),
            None
        );
        record[8] = 0xff;
        assert_eq!(
            format.field("lat").unwrap().number(&record, Endian::Big),
            Some(0xff << 56)
        );
        assert_eq!(sign_extend(0xfe, 1) as i64, -2);
    }

    #[test]
    fn header_page_tells_sizes() {
        let text = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;
";
        let page = HeaderPage::parse(text).unwrap();
        assert_eq!((page.commit, page.data_offset), ((8, 4), 12));
        assert_eq!((page.data_size, page.has_overwrite), (4084, true));
        assert_eq!(HeaderPage::parse(b"field:int x;"), None);
    }
}
