//! The kernel's extensions of `%p`: addresses as symbols, MAC and IP addresses, UUIDs, bytes.

use super::eval::{FunctionAt, Lookup, Scope};
use super::expr::Expr;
use super::printf::{push_decimal, push_hex, push_hex_digits, push_many};
use crate::base::Endian;

/// Whether addresses are printed after the names of symbols (`-R`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Only the name.
    Named,
    /// The name and the address in parentheses.
    Shown,
}

/// Whether the offset of an address in its function is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offset {
    /// `vfs_read+0x5`
    Shown,
    /// `vfs_read`
    Hidden,
}

/// The two forms of IP addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `10.0.8.254`, and with colons.
    Usual,
    /// `010.000.008.254`, and without colons.
    Fixed,
}

/// Prints the argument of `%p` with the letters `extension`; `width` is the number before the `p`.
pub(crate) fn push_pointer(
    out: &mut Vec<u8>,
    scope: &Scope<'_>,
    extension: &[u8],
    width: Option<u64>,
    argument: &Expr,
    addresses: Addresses,
) {
    match extension.first() {
        Some(b'F' | b'f' | b'S' | b's' | b'B') => {
            let offset = offset_of(extension);
            let address = scope.number(argument);
            push_function(out, scope.lookup, address, offset, addresses);
        }
        Some(b'M' | b'm') => push_mac(out, extension, scope.bytes(argument)),
        Some(b'I' | b'i') => push_ip(out, scope, extension, argument),
        Some(b'U') => push_uuid(out, extension, scope.bytes(argument)),
        Some(b'h') => {
            let separator: &[u8] = match extension.get(1) {
                Some(b'C') => b":",
                Some(b'D') => b"-",
                Some(b'N') => b"",
                _ => b" ",
            };
            let most = usize::try_from(width.unwrap_or(1)).unwrap_or(usize::MAX);
            let bytes = scope.bytes(argument).unwrap_or(&[]);
            push_bytes(out, bytes.get(..most).unwrap_or(bytes), separator);
        }
        Some(b'b') => {
            let bytes = scope.bytes(argument).unwrap_or(&[]);
            let bits = usize::try_from(width.unwrap_or(0)).unwrap_or(usize::MAX);
            let bits = bits.min(bytes.len().saturating_mul(8));
            if extension.get(1) == Some(&b'l') {
                push_bit_list(out, bytes, bits, scope.endian);
            } else {
                push_bitmap(out, bytes, bits, scope.endian);
            }
        }
        Some(b'x') => {
            let digits = scope.long_size as usize * 2;
            push_hex_digits(out, scope.number(argument), digits);
        }
        Some(b'e') if is_error(scope.number(argument), scope.long_size) => {
            let value = scope.number(argument);
            let value = if scope.long_size == 4 {
                i64::from(value as u32 as i32)
            } else {
                value as i64
            };
            super::printf::push_signed(out, value);
        }
        _ => push_address(out, scope.number(argument)),
    }
}

fn is_error(value: u64, long_size: u32) -> bool {
    let value = if long_size == 4 {
        value as u32 as i32 as i64
    } else {
        value as i64
    };
    (-4095..0).contains(&value)
}

/// Appends an address as the C library's `%p` prints it.
pub(crate) fn push_address(out: &mut Vec<u8>, address: u64) {
    if address == 0 {
        out.extend_from_slice(b"(nil)");
    } else {
        out.extend_from_slice(b"0x");
        push_hex(out, address);
    }
}

/// Appends the function at `address`, or the address if no symbol contains it.
pub(crate) fn push_function(
    out: &mut Vec<u8>,
    lookup: &dyn Lookup,
    address: u64,
    offset: Offset,
    addresses: Addresses,
) {
    let symbol = lookup.symbol(address);
    if let Some(FunctionAt { name, start }) = symbol {
        out.extend_from_slice(name);
        if offset == Offset::Shown {
            out.extend_from_slice(b"+0x");
            push_hex(out, address.wrapping_sub(start));
        }
    }
    if symbol.is_none() || addresses == Addresses::Shown {
        if addresses == Addresses::Shown {
            out.extend_from_slice(b" (");
        }
        out.extend_from_slice(b"0x");
        push_hex(out, address);
        if addresses == Addresses::Shown {
            out.push(b')');
        }
    }
}

/// Appends bytes as pairs of hexadecimal digits.
pub(crate) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8], separator: &[u8]) {
    for (i, &byte) in bytes.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        push_hex_digits(out, u64::from(byte), 2);
    }
}

fn push_mac(out: &mut Vec<u8>, extension: &[u8], bytes: Option<&[u8]>) {
    let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<6>()) else {
        out.extend_from_slice(b"INVALIDMAC");
        return;
    };
    let mut bytes = *bytes;
    let separator: &[u8] = match extension {
        [b'm', ..] => b"",
        [_, b'F', ..] => b"-",
        _ => b":",
    };
    if extension.get(1) == Some(&b'R') {
        bytes.reverse();
    }
    push_bytes(out, &bytes, separator);
}

fn push_uuid(out: &mut Vec<u8>, extension: &[u8], bytes: Option<&[u8]>) {
    let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<16>()) else {
        out.extend_from_slice(b"INVALIDUUID");
        return;
    };
    let mut bytes = *bytes;
    if let Some(b'l' | b'L') = extension.get(1) {
        let [a, b, c, d, e, f, g, h, ..] = bytes;
        for (slot, byte) in bytes.iter_mut().zip([d, c, b, a, f, e, h, g]) {
            *slot = byte;
        }
    }
    let start = out.len();
    for (i, &byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        push_hex_digits(out, u64::from(byte), 2);
    }
    if let Some(b'L' | b'B') = extension.get(1)
        && let Some(text) = out.get_mut(start..)
    {
        text.make_ascii_uppercase();
    }
}

fn push_ip(out: &mut Vec<u8>, scope: &Scope<'_>, extension: &[u8], argument: &Expr) {
    let form = form_of(extension);
    let bytes = scope.bytes(argument);
    match extension.get(1) {
        Some(b'4') => {
            let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<4>()) else {
                out.extend_from_slice(b"INVALIDIPv4");
                return;
            };
            push_ip4(out, in_order(*bytes, scope, extension), form);
        }
        Some(b'6') => {
            let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<16>()) else {
                out.extend_from_slice(b"INVALIDIPv6");
                return;
            };
            if form == Form::Usual && extension.get(2) == Some(&b'c') {
                push_ip6_short(out, bytes);
            } else {
                push_ip6(out, bytes, form);
            }
        }
        Some(b'S') => push_socket_address(out, scope, extension, bytes.unwrap_or(&[])),
        _ => push_address(out, scope.number(argument)),
    }
}

/// Reverses the bytes if the letters require it: `h` (host order) on little endian, `l` (little endian) always.
fn in_order(mut bytes: [u8; 4], scope: &Scope<'_>, extension: &[u8]) -> [u8; 4] {
    let is_reversed = extension.iter().skip(2).any(|letter| match letter {
        b'h' => scope.endian == Endian::Little,
        b'l' => true,
        _ => false,
    });
    if is_reversed {
        bytes.reverse();
    }
    bytes
}

fn form_of(extension: &[u8]) -> Form {
    match extension.first() {
        Some(b'i') => Form::Fixed,
        _ => Form::Usual,
    }
}

/// Returns whether `%pS`, `%ps` and similar conversions print offsets.
#[must_use]
pub(crate) fn offset_of(extension: &[u8]) -> Offset {
    match extension.first() {
        Some(b'F' | b'S' | b'B') => Offset::Shown,
        _ => Offset::Hidden,
    }
}

fn push_ip4(out: &mut Vec<u8>, bytes: [u8; 4], form: Form) {
    for (i, byte) in bytes.into_iter().enumerate() {
        if i > 0 {
            out.push(b'.');
        }
        if form == Form::Fixed {
            push_many(out, b'0', usize::from(byte < 100) + usize::from(byte < 10));
        }
        push_decimal(out, u64::from(byte));
    }
}

fn push_ip6(out: &mut Vec<u8>, bytes: &[u8; 16], form: Form) {
    for (i, &byte) in bytes.iter().enumerate() {
        if i > 0 && i % 2 == 0 && form == Form::Usual {
            out.push(b':');
        }
        push_hex_digits(out, u64::from(byte), 2);
    }
}

/// Appends the shortest form of an IPv6 address, as `%pI6c` prints it.
fn push_ip6_short(out: &mut Vec<u8>, bytes: &[u8; 16]) {
    let word = |i: usize| {
        let high = bytes.get(i * 2).copied().unwrap_or(0);
        let low = bytes.get(i * 2 + 1).copied().unwrap_or(0);
        u16::from_be_bytes([high, low])
    };
    let is_mapped = (0..5).all(|i| word(i) == 0) && word(5) == 0xffff;
    let is_isatap = word(4) | 0x0200 == 0x0200 && word(5) == 0x5efe;
    let has_ip4 = is_mapped || is_isatap;
    let words = if has_ip4 { 6 } else { 8 };
    // The first of the longest runs of zero words, if it has more than one word.
    let mut run = (0, 1);
    for start in 0..words {
        let length = (start..words).take_while(|&i| word(i) == 0).count();
        if length > run.1 {
            run = (start, length);
        }
    }
    let mut needs_colon = false;
    let mut i = 0;
    while i < words {
        if run.1 > 1 && i == run.0 {
            if needs_colon || i == 0 {
                out.push(b':');
            }
            out.push(b':');
            needs_colon = false;
            i += run.1;
            continue;
        }
        if needs_colon {
            out.push(b':');
        }
        push_hex(out, u64::from(word(i)));
        needs_colon = true;
        i += 1;
    }
    if has_ip4 {
        if needs_colon {
            out.push(b':');
        }
        if let Some(tail) = bytes.last_chunk::<4>() {
            push_ip4(out, *tail, Form::Usual);
        }
    }
}

/// Appends a `struct sockaddr`: family, port in network order, address.
fn push_socket_address(out: &mut Vec<u8>, scope: &Scope<'_>, extension: &[u8], bytes: &[u8]) {
    let options = extension.get(2..).unwrap_or(&[]);
    let has_port = options.contains(&b'p');
    let form = form_of(extension);
    let Some(family) = bytes.first_chunk().map(|b| scope.endian.u16(*b)) else {
        return;
    };
    let port = bytes
        .get(2..)
        .and_then(|b| b.first_chunk())
        .map_or(0, |b| u64::from(u16::from_be_bytes(*b)));
    match family {
        2 => {
            let Some(address) = bytes.get(4..).and_then(|b| b.first_chunk::<4>()) else {
                out.extend_from_slice(b"INVALIDIPv4");
                return;
            };
            push_ip4(out, in_order(*address, scope, extension), form);
            if has_port {
                out.push(b':');
                push_decimal(out, port);
            }
        }
        10 => {
            let Some(address) = bytes.get(8..).and_then(|b| b.first_chunk::<16>()) else {
                out.extend_from_slice(b"INVALIDIPv6");
                return;
            };
            if has_port {
                out.push(b'[');
            }
            if options.contains(&b'c') {
                push_ip6_short(out, address);
            } else {
                push_ip6(out, address, form);
            }
            if has_port {
                out.extend_from_slice(b"]:");
                push_decimal(out, port);
            }
        }
        _ => {}
    }
}

/// Returns byte `index` of a bitmap, counted from its least significant byte. Bitmaps are arrays of longs.
fn bitmap_byte(bytes: &[u8], index: usize, endian: Endian) -> u8 {
    let at = match endian {
        Endian::Little => index,
        Endian::Big => bytes.len().wrapping_sub(index + 1),
    };
    bytes.get(at).copied().unwrap_or(0)
}

/// Appends a bitmap in hexadecimal, most significant digits first, with a comma after every 32 bits.
pub(crate) fn push_bitmap(out: &mut Vec<u8>, bytes: &[u8], bits: usize, endian: Endian) {
    let count = bits.div_ceil(8);
    for index in (0..count).rev() {
        push_hex_digits(out, u64::from(bitmap_byte(bytes, index, endian)), 2);
        if index % 4 == 0 && index > 0 {
            out.push(b',');
        }
    }
}

/// Appends the set bits of a bitmap as a list of ranges: `0-2,5`.
pub(crate) fn push_bit_list(out: &mut Vec<u8>, bytes: &[u8], bits: usize, endian: Endian) {
    let is_set =
        |bit: usize| bit < bits && bitmap_byte(bytes, bit / 8, endian) >> (bit % 8) & 1 != 0;
    let mut is_first = true;
    let mut bit = 0;
    while bit < bits {
        if !is_set(bit) {
            bit += 1;
            continue;
        }
        let start = bit;
        while is_set(bit) {
            bit += 1;
        }
        if !is_first {
            out.push(b',');
        }
        is_first = false;
        push_decimal(out, start as u64);
        if bit > start + 1 {
            out.push(b'-');
            push_decimal(out, bit as u64 - 1);
        }
    }
}
