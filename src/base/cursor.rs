//! Checked reading of bytes: a read that does not fit returns an error, no read panics.

use super::byte_order::Endian;
use super::error::{Location, Problem, ReadError};

/// A position in a byte slice for reading forward.
///
/// `base` is the file offset of the slice's first byte, so that errors contain file offsets.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
    endian: Endian,
}

impl<'a> Cursor<'a> {
    /// Returns a cursor at the start of `bytes`, whose first byte has file offset `base`.
    #[must_use]
    pub(crate) fn new(bytes: &'a [u8], base: u64, endian: Endian) -> Cursor<'a> {
        Cursor {
            bytes,
            at: 0,
            base,
            endian,
        }
    }

    /// Returns the file offset of the next byte.
    #[must_use]
    pub(crate) fn file_offset(&self) -> u64 {
        self.base.saturating_add(self.at as u64)
    }

    /// Returns the number of bytes that are left.
    #[must_use]
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the byte order in which numbers are read.
    #[must_use]
    pub(crate) fn endian(&self) -> Endian {
        self.endian
    }

    /// Sets the byte order of the following reads.
    pub(crate) fn set_endian(&mut self, endian: Endian) {
        self.endian = endian;
    }

    /// Returns the bytes that are left, without moving the cursor.
    #[must_use]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// Reads and returns the next `count` bytes. `item` names what is read, for the error.
    ///
    /// # Errors
    /// [`Problem::Truncated`] if fewer bytes are left; the cursor does not move then.
    pub(crate) fn take(&mut self, count: u64, item: &'static str) -> Result<&'a [u8], ReadError> {
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
    /// [`Problem::Truncated`] if fewer bytes are left.
    pub(crate) fn skip(&mut self, count: u64, item: &'static str) -> Result<(), ReadError> {
        self.take(count, item).map(|_| ())
    }

    fn array<const N: usize>(&mut self, item: &'static str) -> Result<[u8; N], ReadError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, item)?);
        Ok(array)
    }

    /// Reads the next byte.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub(crate) fn u8(&mut self, item: &'static str) -> Result<u8, ReadError> {
        Ok(self.array::<1>(item)?[0])
    }

    /// Reads the next 2-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub(crate) fn u16(&mut self, item: &'static str) -> Result<u16, ReadError> {
        Ok(self.endian.u16(self.array(item)?))
    }

    /// Reads the next 4-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub(crate) fn u32(&mut self, item: &'static str) -> Result<u32, ReadError> {
        Ok(self.endian.u32(self.array(item)?))
    }

    /// Reads the next 8-byte number.
    ///
    /// # Errors
    /// [`Problem::Truncated`].
    pub(crate) fn u64(&mut self, item: &'static str) -> Result<u64, ReadError> {
        Ok(self.endian.u64(self.array(item)?))
    }

    /// Reads the bytes up to the next NUL and skips the NUL, which is not returned.
    ///
    /// # Errors
    /// [`Problem::Truncated`] if no NUL follows.
    pub(crate) fn until_nul(&mut self, item: &'static str) -> Result<&'a [u8], ReadError> {
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
