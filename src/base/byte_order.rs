//! Byte orders: as a value, if the order is known only after a file was opened; as a type, for loops that are compiled
//! once for each order.

/// Which byte of a number comes first in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    /// Decodes a 2-byte number.
    #[must_use]
    pub fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Endian::Little => Little::u16(bytes),
            Endian::Big => Big::u16(bytes),
        }
    }

    /// Decodes a 4-byte number.
    #[must_use]
    pub fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Endian::Little => Little::u32(bytes),
            Endian::Big => Big::u32(bytes),
        }
    }

    /// Decodes an 8-byte number.
    #[must_use]
    pub(crate) fn u64(self, bytes: [u8; 8]) -> u64 {
        match self {
            Endian::Little => Little::u64(bytes),
            Endian::Big => Big::u64(bytes),
        }
    }
}

/// A byte order as a type parameter.
pub trait ByteOrder: Copy + Send + Sync + 'static {
    /// This byte order as a value.
    const ENDIAN: Endian;
    /// Decodes a 2-byte number.
    fn u16(bytes: [u8; 2]) -> u16;
    /// Decodes a 4-byte number.
    fn u32(bytes: [u8; 4]) -> u32;
    /// Decodes an 8-byte number.
    fn u64(bytes: [u8; 8]) -> u64;
}

/// Least significant byte first.
#[derive(Clone, Copy, Debug)]
pub struct Little;

/// Most significant byte first.
#[derive(Clone, Copy, Debug)]
pub struct Big;

impl ByteOrder for Little {
    const ENDIAN: Endian = Endian::Little;
    #[inline(always)]
    fn u16(bytes: [u8; 2]) -> u16 {
        u16::from_le_bytes(bytes)
    }
    #[inline(always)]
    fn u32(bytes: [u8; 4]) -> u32 {
        u32::from_le_bytes(bytes)
    }
    #[inline(always)]
    fn u64(bytes: [u8; 8]) -> u64 {
        u64::from_le_bytes(bytes)
    }
}

impl ByteOrder for Big {
    const ENDIAN: Endian = Endian::Big;
    #[inline(always)]
    fn u16(bytes: [u8; 2]) -> u16 {
        u16::from_be_bytes(bytes)
    }
    #[inline(always)]
    fn u32(bytes: [u8; 4]) -> u32 {
        u32::from_be_bytes(bytes)
    }
    #[inline(always)]
    fn u64(bytes: [u8; 8]) -> u64 {
        u64::from_be_bytes(bytes)
    }
}
