//! Checked reading of bytes: every read says whether it fits, none can panic.

use super::error::{Location, Problem, ReadError};

/// Which end of a number comes first in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    /// The 2-byte number.
    #[must_use]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Endian::Little => u16::from_le_bytes(bytes),
            Endian::Big => u16::from_be_bytes(bytes),
        }
    }

    /// The 4-byte number.
    #[must_use]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Little => u32::from_le_bytes(bytes),
            Endian::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The 8-byte number.
    #[must_use]
    pub fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }
}

/// A place in a byte slice from which one reads forward.
///
/// `base` is where the slice starts in the file, so that errors name file offsets.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`, which lie at file offset `base`.
    #[must_use]
    pub fn new(bytes: &'a [u8], base: u64, endian: Endian) -> Cursor<'a> {
        Cursor {
            bytes,
            at: 0,
            base,
            endian,
        }
    }

    /// The file offset of the next byte.
    #[must_use]
    pub fn file_offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// How many bytes were read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Byte order of the numbers read here.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Changes the byte order from here on.
    pub fn set_endian(&mut self, endian: Endian) {
        self.endian = endian;
    }

    /// All bytes that are left, without reading them.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// [`Problem::Truncated`] if fewer are left; nothing is read then.
    pub fn take(&mut self, count: u64, item: &'static str) -> Result<&'a [u8], ReadError> {
        let left = self.left();
        let fits = usize::try_from(count).ok().filter(|&count| count <= left);
        let Some(count) = fits else {
            return Err(ReadError {
                at: Location::Byte(self.file_offset()),
                item,
                problem: Problem::Truncated {
                    needed_bytes: count,
                    left_bytes: left as u64,
                },
            });
        };
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// Skips `count` bytes.
    ///
    /// # Errors
    /// [`Problem::Truncated`] if fewer are left.
    pub fn skip(&mut self, count: u64, item: &'static str) -> Result<(), ReadError> {
        self.take(count, item).map(|_| ())
    }

    fn array<const N: usize>(&mut self, item: &'static str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, item)?);
        Ok(array)
    }

    /// The next byte.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub fn u8(&mut self, item: &'static str) -> Result<u8, ReadError> {
        Ok(self.array::<1>(item)?[0])
    }

    /// The next 2-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub fn u16(&mut self, item: &'static str) -> Result<u16, ReadError> {
        Ok(self.endian.u16(self.array(item)?))
    }

    /// The next 4-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub fn u32(&mut self, item: &'static str) -> Result<u32, ReadError> {
        Ok(self.endian.u32(self.array(item)?))
    }

    /// The next 8-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub fn u64(&mut self, item: &'static str) -> Result<u64, ReadError> {
        Ok(self.endian.u64(self.array(item)?))
    }

    /// The bytes up to the next NUL, which is read too but not returned.
    ///
    /// # Errors
    /// [`Problem::Truncated`] if no NUL follows.
    pub fn until_nul(&mut self, item: &'static str) -> Result<&'a [u8], ReadError> {
        let rest = self.rest();
        match memchr::memchr(0, rest) {
            Some(length) => {
                self.at += length + 1;
                Ok(&rest[..length])
            }
            None => Err(ReadError {
                at: Location::Byte(self.file_offset()),
                item,
                problem: Problem::Truncated {
                    needed_bytes: rest.len() as u64 + 1,
                    left_bytes: rest.len() as u64,
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fit_or_say_so() {
        let mut cursor = Cursor::new(&[1, 2, 3, 4, 5, b'a', 0, 9], 100, Endian::Big);
        assert_eq!(cursor.u32("number"), Ok(0x0102_0304));
        cursor.set_endian(Endian::Little);
        assert_eq!(cursor.u8("byte"), Ok(5));
        assert_eq!(cursor.until_nul("text"), Ok(&b"a"[..]));
        let error = cursor.u64("long").unwrap_err();
        assert_eq!(
            error.to_string(),
            "long at byte 0x6b: needs 8 bytes, 1 are left"
        );
        assert!(cursor.take(u64::MAX, "all").is_err());
        assert_eq!(cursor.left(), 1);
    }
}
