//! Reads the start of a trace.dat: its version, byte order and sizes.
//!
//! ```text
//! 17 08 44 "tracing" | version text NUL | endian u8: 0 little, 1 big | long size u8 | page size u32
//! version 7 only:      codec name NUL, codec version NUL | file offset of the first options section u64
//! ```

use crate::base::{Cursor, Endian, Problem, ReadError};
use crate::formats::compression::Codec;
use crate::tracedat::layout::MAGIC;

/// Largest valid size of a page (sub-buffer), in bytes.
pub(crate) const MAX_PAGE_SIZE: u32 = 16 << 20;

/// The start of the file, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the format, 6 or 7.
    pub version: u32,
    /// Byte order of all numbers after this field, and of the pages.
    pub endian: Endian,
    /// Size of `long` in the recording program in bytes, 4 or 8; the size in `HeaderPage::commit` is that of the
    /// kernel's `long`.
    pub long_size: u32,
    /// Page size of the recording machine, in bytes.
    pub page_size: u32,
    /// Compression of sections and chunks.
    pub codec: Codec,
    /// Name and version of the codec as the file states them, e.g. `zstd 1.5.4`.
    pub compression: String,
    /// Version 7: file offset of the first options section; 0 if the file states none.
    pub first_options: u64,
    /// File offset after the header.
    pub end: u64,
}

/// Reads the header of the file.
///
/// # Errors
/// If the file is not a trace.dat, is cut in the header, or has a version or codec that cannot be read.
pub(crate) fn read_header(bytes: &[u8]) -> Result<Header, ReadError> {
    let mut cursor = Cursor::new(bytes, 0, Endian::Little);
    if cursor.take(10, "trace.dat magic")? != MAGIC {
        let problem = Problem::BadMagic;
        return Err(ReadError::at_byte(0, "trace.dat magic", problem));
    }
    let version_text = String::from_utf8_lossy(cursor.until_nul("file version")?).into_owned();
    let version = match version_text.as_str() {
        "6" => 6,
        "7" => 7,
        _ => {
            let problem = Problem::Unsupported {
                what: "version",
                version: version_text,
            };
            return Err(ReadError::at_byte(10, "trace.dat", problem));
        }
    };
    let bad = |at: u64, item, value: u64, max| {
        let problem = Problem::TooLarge {
            field: item,
            value,
            max,
        };
        Err(ReadError::at_byte(at, "trace.dat header", problem))
    };
    let at = cursor.file_offset();
    let endian = match cursor.u8("byte order")? {
        0 => Endian::Little,
        1 => Endian::Big,
        other => return bad(at, "byte order", u64::from(other), 1),
    };
    cursor.set_endian(endian);
    let long_size = u32::from(cursor.u8("size of long")?);
    if !matches!(long_size, 4 | 8) {
        return bad(at + 1, "size of long", u64::from(long_size), 8);
    }
    let page_size = cursor.u32("page size")?;
    if !(64..=MAX_PAGE_SIZE).contains(&page_size) {
        let (value, max) = (u64::from(page_size), u64::from(MAX_PAGE_SIZE));
        return bad(at + 2, "page size", value, max);
    }
    let mut header = Header {
        version,
        endian,
        long_size,
        page_size,
        codec: Codec::None,
        compression: String::new(),
        first_options: 0,
        end: cursor.file_offset(),
    };
    if version >= 7 {
        let at = cursor.file_offset();
        let name = cursor.until_nul("codec name")?;
        let codec_version = String::from_utf8_lossy(cursor.until_nul("codec version")?);
        let shown = String::from_utf8_lossy(name);
        header.compression = format!("{shown} {codec_version}").trim_end().to_owned();
        header.codec = Codec::by_name(name).ok_or_else(|| {
            let problem = Problem::Unsupported {
                what: "compression",
                version: header.compression.clone(),
            };
            ReadError::at_byte(at, "trace.dat header", problem)
        })?;
        header.first_options = cursor.u64("offset of the first options")?;
        header.end = cursor.file_offset();
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        let mut file = MAGIC.to_vec();
        file.extend(b"6\0\0\x08\0\x10\0\0");
        let header = read_header(&file).unwrap();
        assert_eq!((header.version, header.page_size), (6, 4096));
        assert_eq!(header.end, file.len() as u64);

        let mut file = MAGIC.to_vec();
        file.extend(b"7\0\x01\x04\0\0\x10\0zstd\x001.5\0\0\0\0\0\0\0\0\x40");
        let header = read_header(&file).unwrap();
        assert_eq!((header.version, header.endian), (7, Endian::Big));
        assert_eq!((header.long_size, header.page_size), (4, 4096));
        assert_eq!(header.compression, "zstd 1.5");
        assert_eq!((header.codec, header.first_options), (Codec::Zstd, 0x40));
        for length in 0..file.len() {
            assert!(read_header(&file[..length]).is_err());
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let mut file = MAGIC.to_vec();
        file.extend(b"7\0\0\x08\0\x10\0\0bzip9\x001\0\0\0\0\0\0\0\0\0");
        assert_eq!(
            read_header(&file).unwrap_err().to_string(),
            "trace.dat header at byte 0x12: this version of Threadline cannot read compression bzip9 1"
        );
    }
}
