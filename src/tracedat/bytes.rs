//! Writes numbers and texts in the byte order of a file.

use crate::base::Endian;

/// Bytes of a file that are assembled in memory.
#[derive(Clone, Debug)]
pub(crate) struct Bytes {
    endian: Endian,
    /// The bytes so far.
    pub all: Vec<u8>,
}

impl Bytes {
    /// Returns an empty list of bytes; numbers will be written in this byte order.
    #[must_use]
    pub(crate) fn new(endian: Endian) -> Bytes {
        let all = Vec::new();
        Bytes { endian, all }
    }

    /// Appends a 2-byte number.
    pub(crate) fn u16(&mut self, number: u16) -> &mut Bytes {
        self.all.extend(match self.endian {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        });
        self
    }

    /// Appends a 4-byte number.
    pub(crate) fn u32(&mut self, number: u32) -> &mut Bytes {
        self.all.extend(match self.endian {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        });
        self
    }

    /// Appends an 8-byte number.
    pub(crate) fn u64(&mut self, number: u64) -> &mut Bytes {
        self.all.extend(match self.endian {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        });
        self
    }

    /// Appends bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Bytes {
        self.all.extend_from_slice(bytes);
        self
    }

    /// Appends a text and a NUL.
    pub(crate) fn text(&mut self, text: &[u8]) -> &mut Bytes {
        self.raw(text).raw(&[0])
    }
}
