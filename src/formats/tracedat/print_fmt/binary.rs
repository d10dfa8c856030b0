//! Prints trace_printk's binary form: a format string of the kernel with packed arguments.
//!
//! ```text
//! integers in their own size (%c 1, %hd 2, %d 4, %ld the kernel's long, %lld 8), aligned to min(size, 4)
//! widths for * as int | %s and formatted pointers (%pI4 ...) as text up to a NUL, unaligned
//! %p %px %ps %pS ... as the address, aligned to 4
//! ```

use super::eval::Lookup;
use super::pointer::{Addresses, offset_of, push_address, push_function};
use super::printf::{Amount, Conversion, Layout, Length, Piece, push_hex_digits};
use super::printf::{push_number, push_text};
use crate::base::Endian;
use crate::formats::tracedat::event_format::{read_number, sign_extend};

/// Packed arguments, which are read one after the other.
pub(crate) struct Packed<'a> {
    bytes: &'a [u8],
    /// Offset of `bytes` in the record, because alignment counts from the record's start.
    at: usize,
    endian: Endian,
    long_size: u32,
}

impl<'a> Packed<'a> {
    /// Returns a reader of the arguments in `bytes`, placed before the first argument.
    #[must_use]
    pub(crate) fn new(bytes: &'a [u8], endian: Endian, long_size: u32) -> Packed<'a> {
        Packed {
            bytes,
            at: 0,
            endian,
            long_size,
        }
    }

    fn number(&mut self, size: usize) -> Option<u64> {
        let start = self.at.next_multiple_of(size.min(4));
        let end = start.checked_add(size)?;
        let value = read_number(self.bytes.get(start..end)?, self.endian)?;
        self.at = end;
        Some(value)
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(0, rest).unwrap_or(rest.len());
        self.at += length + 1;
        rest.get(..length)
    }

    fn amount(&mut self, amount: Amount) -> Option<Option<i64>> {
        Some(match amount {
            Amount::None => None,
            Amount::Fixed(value) => Some(value as i64),
            Amount::Argument => Some(i64::from(self.number(4)? as u32 as i32)),
        })
    }
}

/// Prints `pieces` with the arguments in `packed`; stops at the end of the arguments.
pub(crate) fn push_binary(
    out: &mut Vec<u8>,
    pieces: &[Piece],
    packed: &mut Packed<'_>,
    lookup: &dyn Lookup,
) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Conversion(conversion) => {
                if push_conversion(out, conversion, packed, lookup).is_none() {
                    return;
                }
            }
        }
    }
}

fn push_conversion(
    out: &mut Vec<u8>,
    conversion: &Conversion,
    packed: &mut Packed<'_>,
    lookup: &dyn Lookup,
) -> Option<()> {
    let mut layout: Layout = conversion.layout;
    let width = packed.amount(conversion.width)?;
    let precision = packed.amount(conversion.precision)?;
    set_amounts(&mut layout, width, precision);
    match conversion.letter {
        b's' => push_text(out, &layout, packed.text()?),
        b'p' => {
            let long = packed.long_size as usize;
            match conversion.extension.first() {
                None | Some(b'K') => push_address(out, packed.number(long)?),
                Some(b'x') => {
                    let value = packed.number(long)?;
                    push_hex_digits(out, value, long * 2);
                }
                Some(b's' | b'S' | b'f' | b'F' | b'B') => {
                    let address = packed.number(long)?;
                    let offset = offset_of(&conversion.extension);
                    push_function(out, lookup, address, offset, Addresses::Named);
                }
                Some(b'e') => {
                    let address = packed.number(long)?;
                    let value = sign_extend(address, packed.long_size) as i64;
                    if (-4095..0).contains(&value) {
                        super::printf::push_signed(out, value);
                    } else {
                        push_address(out, address);
                    }
                }
                // Other pointers were formatted during the recording: the argument is text.
                Some(_) => out.extend_from_slice(packed.text()?),
            }
        }
        b'c' => {
            let value = packed.number(1)? as u8;
            push_text(out, &layout, &[value]);
        }
        letter => {
            let size = match conversion.length {
                Length::Char => 1,
                Length::Short => 2,
                Length::Int => 4,
                Length::Long => packed.long_size,
                Length::LongLong => 8,
            };
            let value = packed.number(size as usize)?;
            let value = if matches!(letter, b'd' | b'i') {
                sign_extend(value, size)
            } else {
                value
            };
            push_number(out, &layout, letter, value);
        }
    }
    Some(())
}

/// Sets width and precision of a layout from the values of arguments.
pub(crate) fn set_amounts(layout: &mut Layout, width: Option<i64>, precision: Option<i64>) {
    if let Some(width) = width {
        layout.is_left |= width < 0;
        layout.width = usize::try_from(width.unsigned_abs()).unwrap_or(0);
    }
    // A negative precision means no precision.
    layout.precision = precision.and_then(|p| usize::try_from(p).ok());
}

#[cfg(test)]
mod tests {
    use super::super::eval::FunctionAt;
    use super::super::printf::pieces;
    use super::*;

    struct NoNames;
    impl Lookup for NoNames {
        fn symbol(&self, _: u64) -> Option<FunctionAt<'_>> {
            None
        }
        fn symbol_address(&self, _: &str) -> Option<u64> {
            None
        }
        fn printk(&self, _: u64) -> Option<&[u8]> {
            None
        }
    }

    #[test]
    fn arguments_are_packed_in_their_own_size() {
        let mut bytes = vec![b'x', 0xff, 0x2c, 0x01]; // %c; with 2 bytes of alignment the next value would be at 2: %hd 300
        bytes.extend_from_slice(&7_u32.to_le_bytes()); // %*d width
        bytes.extend_from_slice(&(-5_i32).to_le_bytes());
        bytes.extend_from_slice(b"text\0");
        bytes.extend_from_slice(b"1.2.3.4\0");
        bytes.extend_from_slice(&[0xee; 3]); // padding to the next multiple of 4
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        let mut out = Vec::new();
        let found = pieces(b"%c %hd %*d %.2s %pI4 %lld");
        let mut packed = Packed::new(&bytes, Endian::Little, 8);
        push_binary(&mut out, &found, &mut packed, &NoNames);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "x 300      -5 te 1.2.3.4 -1"
        );
    }

    #[test]
    fn missing_arguments_end_the_text() {
        let mut out = Vec::new();
        let mut packed = Packed::new(&[1], Endian::Big, 8);
        push_binary(&mut out, &pieces(b"a %d b"), &mut packed, &NoNames);
        assert_eq!(out, b"a ");
    }
}
