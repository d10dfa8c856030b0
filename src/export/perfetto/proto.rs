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
    /// The bytes that were written, and unused space after them, so that writing a field does not allocate.
    bytes: Vec<u8>,
    /// The number of bytes that were written.
    length: usize,
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
/// Space for a key of at most 5 bytes and a number of at most 10 bytes: 8 bytes are written at a time, so a write may
/// reach beyond their end.
const ROOM: usize = 24;
/// The size of a new buffer in bytes.
const SMALL_BUFFER: usize = 128;

/// Writes a varint at an offset of `room`; returns the offset after it.
#[inline]
fn put_varint(room: &mut [u8; ROOM], at: usize, value: u64) -> usize {
    if value < 0x80 {
        room[at] = value as u8;
        return at + 1;
    }
    if value < 0x4000 {
        room[at] = value as u8 | 0x80;
        room[at + 1] = (value >> 7) as u8;
        return at + 2;
    }
    put_long_varint(room, at, value)
}

#[inline(never)]
fn put_long_varint(room: &mut [u8; ROOM], at: usize, value: u64) -> usize {
    // Spreads groups of 7 bits over 8 bytes.
    let spread = (value & 0xfff_ffff) | (value & 0xff_ffff_f000_0000) << 4;
    let spread = (spread & 0x3fff_0000_3fff) | (spread & 0xfff_c000_0fff_c000) << 2;
    let spread = (spread & 0x7f_007f_007f_007f) | (spread & 0x3f80_3f80_3f80_3f80) << 1;
    let size = varint_size(value);
    if size <= 8 {
        let more = 0x8080_8080_8080_8080 >> (72 - 8 * size);
        room[at..at + 8].copy_from_slice(&(spread | more).to_le_bytes());
        return at + size;
    }
    // Addresses and negative numbers have 8 bits more.
    room[at..at + 8].copy_from_slice(&(spread | 0x8080_8080_8080_8080).to_le_bytes());
    let rest = (value >> 56) as u8;
    let more = if size == 10 { 0x80 } else { 0 };
    room[at + 8] = rest & 0x7f | more;
    room[at + 9] = rest >> 7;
    at + size
}

#[inline]
fn put_key(room: &mut [u8; ROOM], field: FieldNumber, wire_type: u64) -> usize {
    put_varint(room, 0, u64::from(field) << 3 | wire_type)
}

impl Message {
    /// Returns an empty message that writes into the memory of `buffer`.
    pub(crate) fn with_buffer(buffer: Vec<u8>) -> Message {
        Message {
            bytes: buffer,
            length: 0,
        }
    }

    /// Returns the written bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the written bytes and empties the message.
    pub(super) fn take(&mut self) -> Vec<u8> {
        self.bytes.truncate(self.length);
        self.length = 0;
        std::mem::take(&mut self.bytes)
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Removes the bytes after the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    #[cold]
    fn grow(&mut self, more: usize) {
        let needed = (self.length + more).max(2 * self.length).max(SMALL_BUFFER);
        self.bytes.resize(needed, 0);
    }

    /// Calls `put` with space for a field without its text; `put` returns how many bytes it wrote.
    #[inline]
    fn put(&mut self, put: impl FnOnce(&mut [u8; ROOM]) -> usize) {
        if self.bytes.len() - self.length < ROOM {
            self.grow(ROOM);
        }
        if let Some(room) = self.bytes[self.length..].first_chunk_mut() {
            self.length += put(room);
        }
    }

    /// Writes an unsigned number.
    #[inline]
    pub(crate) fn uint(&mut self, field: FieldNumber, value: u64) {
        self.put(|room| {
            let at = put_key(room, field, VARINT);
            put_varint(room, at, value)
        });
    }

    /// Writes a signed number as `int32` and `int64` have it: a negative one needs ten bytes.
    #[inline]
    pub(super) fn int(&mut self, field: FieldNumber, value: i64) {
        self.uint(field, value.cast_unsigned());
    }

    /// Writes a truth value that is true.
    pub(super) fn flag(&mut self, field: FieldNumber) {
        self.uint(field, 1);
    }

    /// Writes a number of eight bytes (`fixed64`).
    pub(crate) fn fixed64(&mut self, field: FieldNumber, value: u64) {
        self.put(|room| {
            let at = put_key(room, field, EIGHT_BYTES);
            room[at..at + 8].copy_from_slice(&value.to_le_bytes());
            at + 8
        });
    }

    /// Writes a floating-point number (`double`).
    pub(super) fn double(&mut self, field: FieldNumber, value: f64) {
        self.fixed64(field, value.to_bits());
    }

    /// Writes bytes, or a text.
    #[inline]
    pub(crate) fn bytes_field(&mut self, field: FieldNumber, value: &[u8]) {
        self.put(|room| {
            let at = put_key(room, field, DELIMITED);
            put_varint(room, at, value.len() as u64)
        });
        self.append(value);
    }

    /// Appends fields that are bytes already.
    #[inline]
    pub(super) fn append(&mut self, fields: &[u8]) {
        if self.bytes.len() - self.length < fields.len() {
            self.grow(fields.len());
        }
        let end = self.length + fields.len();
        copy(&mut self.bytes[self.length..end], fields);
        self.length = end;
    }

    /// Writes a text.
    #[inline]
    pub(super) fn text(&mut self, field: FieldNumber, value: &str) {
        self.bytes_field(field, value.as_bytes());
    }

    /// Opens a message that usually has fewer than 128 bytes.
    #[inline]
    pub(super) fn open(&mut self, field: FieldNumber) -> Open {
        self.open_reserving(field, 1)
    }

    /// Opens a message that may have many bytes, fewer than 2^28.
    pub(crate) fn open_large(&mut self, field: FieldNumber) -> Open {
        self.open_reserving(field, LARGE_LENGTH)
    }

    #[inline]
    fn open_reserving(&mut self, field: FieldNumber, reserved: usize) -> Open {
        self.put(|room| put_key(room, field, DELIMITED) + reserved);
        Open {
            start: self.length,
            reserved,
        }
    }

    /// Closes the message that was opened last.
    #[inline]
    pub(super) fn close(&mut self, open: Open) {
        let length = self.length - open.start;
        if open.reserved == 1 && length < 0x80 {
            self.bytes[open.start - 1] = length as u8;
            return;
        }
        self.close_long(open, length);
    }

    #[inline(never)]
    fn close_long(&mut self, open: Open, length: usize) {
        let needed = varint_size(length as u64);
        if needed > open.reserved {
            let more = needed - open.reserved;
            if self.bytes.len() - self.length < more {
                self.grow(more);
            }
            let end = self.length;
            self.bytes.copy_within(open.start..end, open.start + more);
            self.length += more;
        }
        // Where more bytes are reserved than needed, the varint is padded: readers accept zeros at its end.
        let size = needed.max(open.reserved);
        let first = open.start - open.reserved;
        let mut rest = length;
        for (at, byte) in self.bytes[first..first + size].iter_mut().enumerate() {
            let more = if at + 1 < size { 0x80 } else { 0 };
            *byte = (rest & 0x7f) as u8 | more;
            rest >>= 7;
        }
    }
}

/// Copies bytes to a place of their length. Most texts are short: a call would take longer than the copy.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let is_copied = from.len() <= 16
        && (copy_ends::<8>(to, from)
            || copy_ends::<4>(to, from)
            || copy_ends::<2>(to, from)
            || copy_ends::<1>(to, from));
    if !is_copied {
        to.copy_from_slice(from);
    }
}

/// Copies the first and the last `N` bytes; returns whether there are at least `N` bytes.
#[inline]
fn copy_ends<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
    let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) else {
        return false;
    };
    if let Some(to) = to.first_chunk_mut() {
        *to = *first;
    }
    if let Some(to) = to.last_chunk_mut() {
        *to = *last;
    }
    true
}

/// The number of bytes of a varint.
#[inline]
fn varint_size(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    // Division by 7, rounded up, for 1 to 64 bits.
    (9 * bits + 64) / 64
}

#[cfg(test)]
mod tests {
    use super::super::tests::read::fields_of;
    use super::*;

    #[test]
    fn numbers_of_every_size_are_read_back() {
        let mut message = Message::default();
        let numbers = (0..64).flat_map(|bit| [1_u64 << bit, (1_u64 << bit) - 1, u64::MAX >> bit]);
        let numbers: Vec<u64> = numbers.collect();
        for &number in &numbers {
            let before = message.len();
            message.uint(70_000, number);
            let bits = 64 - (number | 1).leading_zeros() as usize;
            assert_eq!(message.len() - before, 3 + bits.div_ceil(7), "{number}");
        }
        let read: Vec<u64> = fields_of(message.bytes())
            .iter()
            .map(|it| it.number())
            .collect();
        assert_eq!(read, numbers);
    }

    #[test]
    fn texts_of_every_length_are_copied() {
        for length in 0..40 {
            let text: Vec<u8> = (1..=length).collect();
            let mut message = Message::default();
            message.bytes_field(1, &text);
            message.uint(2, 7);
            let fields = fields_of(message.bytes());
            assert_eq!((fields[0].bytes(), fields[1].number()), (&text[..], 7));
        }
    }

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
