//! Protocol buffer messages as bytes: field numbers and values in, the wire format out.
//!
//! ```text
//! field: key (number << 3 | wire type) as varint | value
//! value: 0 varint | 1 eight bytes | 2 length as varint, then that many bytes
//! ```
//!
//! (<https://protobuf.dev/programming-guides/encoding/>.) A message inside another one is opened and closed; its length
//! is filled in when it is closed. Nothing here decides which fields a message has: see `layout`.

/// The number of a field in its message.
pub(super) type FieldNumber = u32;

/// A message that is being written, with all messages inside it.
#[derive(Debug, Default)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

/// A message inside another one that must be closed.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(super) struct Open {
    /// Offset of the first byte after the place for the length.
    start: usize,
    /// Bytes reserved for the length.
    reserved: usize,
}

/// The wire types that are used.
const VARINT: u64 = 0;
const EIGHT_BYTES: u64 = 1;
const DELIMITED: u64 = 2;

/// Bytes for the length of a message that may be large; up to 2^28 - 1 fit.
const LARGE_LENGTH: usize = 4;

impl Message {
    /// Returns what was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the written bytes and forgets them.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets the bytes after the first `length`.
    pub fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    #[inline]
    fn raw_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    #[inline]
    fn key(&mut self, field: FieldNumber, wire_type: u64) {
        self.raw_varint(u64::from(field) << 3 | wire_type);
    }

    /// Writes an unsigned number.
    #[inline]
    pub fn uint(&mut self, field: FieldNumber, value: u64) {
        self.key(field, VARINT);
        self.raw_varint(value);
    }

    /// Writes a signed number as `int32` and `int64` have it: a negative one needs ten bytes.
    #[inline]
    pub fn int(&mut self, field: FieldNumber, value: i64) {
        self.uint(field, value.cast_unsigned());
    }

    /// Writes a truth value that is true.
    pub fn flag(&mut self, field: FieldNumber) {
        self.uint(field, 1);
    }

    /// Writes a number of eight bytes (`fixed64`).
    pub fn fixed64(&mut self, field: FieldNumber, value: u64) {
        self.key(field, EIGHT_BYTES);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a floating-point number (`double`).
    pub fn double(&mut self, field: FieldNumber, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    /// Writes bytes, or a text.
    #[inline]
    pub fn bytes_field(&mut self, field: FieldNumber, value: &[u8]) {
        self.key(field, DELIMITED);
        self.raw_varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Appends fields that are bytes already.
    pub fn append(&mut self, fields: &[u8]) {
        self.bytes.extend_from_slice(fields);
    }

    /// Writes a text.
    #[inline]
    pub fn text(&mut self, field: FieldNumber, value: &str) {
        self.bytes_field(field, value.as_bytes());
    }

    /// Opens a message that usually has fewer than 128 bytes.
    #[inline]
    pub fn open(&mut self, field: FieldNumber) -> Open {
        self.key(field, DELIMITED);
        self.reserve(1)
    }

    /// Opens a message that may have many bytes, fewer than 2^28.
    pub fn open_large(&mut self, field: FieldNumber) -> Open {
        self.key(field, DELIMITED);
        self.reserve(LARGE_LENGTH)
    }

    #[inline]
    fn reserve(&mut self, reserved: usize) -> Open {
        let start = self.bytes.len() + reserved;
        self.bytes.resize(start, 0);
        Open { start, reserved }
    }

    /// Closes the message that was opened last.
    #[inline]
    pub fn close(&mut self, open: Open) {
        let length = self.bytes.len() - open.start;
        if open.reserved == 1 && length < 0x80 {
            self.bytes[open.start - 1] = length as u8;
            return;
        }
        self.close_long(open, length);
    }

    #[cold]
    fn close_long(&mut self, open: Open, length: usize) {
        let needed = varint_size(length as u64);
        if needed > open.reserved {
            let zeros = std::iter::repeat_n(0, needed - open.reserved);
            self.bytes.splice(open.start..open.start, zeros);
        }
        // Where more bytes are reserved than needed, the varint is padded: readers accept zeros at its end.
        let size = needed.max(open.reserved);
        let first = open.start - open.reserved;
        let mut rest = length;
        for (at, byte) in self.bytes.iter_mut().skip(first).take(size).enumerate() {
            let more = if at + 1 < size { 0x80 } else { 0 };
            *byte = (rest & 0x7f) as u8 | more;
            rest >>= 7;
        }
    }
}

/// The number of bytes of a varint.
fn varint_size(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::super::tests::read::fields_of;
    use super::*;

    #[test]
    fn lengths_of_every_size_are_read_back() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 3_000_000] {
            let payload = vec![7; length];
            for is_large in [false, true] {
                let mut message = Message::default();
                message.uint(1, 300);
                let outer = match is_large {
                    true => message.open_large(2),
                    false => message.open(2),
                };
                let inner = message.open(3);
                message.bytes_field(4, &payload);
                message.close(inner);
                message.close(outer);
                message.int(5, -1);
                let fields = fields_of(message.bytes());
                assert_eq!(fields.len(), 3);
                assert_eq!(fields[0].number(), 300);
                let inner = fields_of(fields[1].bytes());
                assert_eq!(fields_of(inner[0].bytes())[0].bytes(), payload);
                assert_eq!(fields[2].number(), u64::MAX);
            }
        }
    }
}
