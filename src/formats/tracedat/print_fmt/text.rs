//! Prints the argument of `%s`.

use super::eval::Scope;
use super::expr::{ArrayForm, ArrayParts, Expr, Named};
use super::pointer::{push_bit_list, push_bitmap, push_bytes};
use super::printf::{Layout, push_decimal, push_hex, push_text};
use crate::formats::tracedat::event_format::{Shape, loc_range};

/// Maximum number of elements of an array that are printed.
const MAX_ELEMENTS: u64 = 65_536;

/// Appends `argument` as `%s` with `layout` prints it.
pub(crate) fn push_string(out: &mut Vec<u8>, scope: &Scope<'_>, layout: &Layout, argument: &Expr) {
    match argument {
        Expr::Text(text) => push_text(out, layout, text),
        Expr::Symbol(name, _) => push_text(out, layout, name.as_bytes()),
        Expr::String(field) => {
            // A length of 0 means that there is no string; any other string ends at its NUL.
            let is_empty = scope.data(*field).is_none_or(<[u8]>::is_empty);
            if !is_empty {
                push_text(out, layout, to_end(scope, *field));
            }
        }
        Expr::StringOf(field, index) => push_text(out, layout, string_of(scope, *field, *index)),
        Expr::Field(field) => {
            let shape = scope.fields.get(usize::from(*field)).map(|f| f.shape);
            let data = scope.data(*field).unwrap_or(&[]);
            if shape == Some(Shape::DataLocs) {
                push_text(out, layout, string_of(scope, *field, 0));
            } else {
                push_text(out, layout, data);
            }
        }
        Expr::Data(field) => push_text(out, layout, scope.data(*field).unwrap_or(&[])),
        Expr::Number(field, at) => {
            if u32::from(at.size) == scope.long_size {
                // The number is the address of one of the kernel's constant strings.
                let address = scope.number(argument);
                match scope.lookup.printk(address) {
                    Some(text) => out.extend_from_slice(text),
                    None => push_hex(out, address),
                }
            } else {
                push_text(out, layout, scope.data(*field).unwrap_or(&[]));
            }
        }
        Expr::Pointer(_, inner) => push_string(out, scope, layout, inner),
        Expr::Choice(_, parts) => {
            let (condition, yes, no) = &**parts;
            let chosen = if scope.number(condition) != 0 {
                yes
            } else {
                no
            };
            push_string(out, scope, layout, chosen);
        }
        Expr::Flags(value, delimiter, rows) => {
            let rest = push_flags(out, layout, scope.number(value), delimiter, rows);
            if rest != 0 {
                push_number(out, rest & bits_of(value));
            }
        }
        Expr::Symbolic(value, rows) => {
            let number = scope.number(value);
            match symbol_of(number, rows) {
                Some(text) => push_text(out, layout, text),
                None => push_number(out, number & bits_of(value)),
            }
        }
        Expr::Hex(data, length, separator) => {
            let length = usize::try_from(scope.number(length)).unwrap_or(usize::MAX);
            let bytes = scope.bytes(data).unwrap_or(&[]);
            push_bytes(
                out,
                bytes.get(..length).unwrap_or(bytes),
                separator.as_bytes(),
            );
        }
        Expr::Array(parts, form) => push_array(out, scope, parts, *form),
        Expr::Bitmask(field) => {
            let bytes = scope.data(*field).unwrap_or(&[]);
            let mut text = Vec::new();
            push_bitmap(&mut text, bytes, bytes.len() * 8, scope.endian);
            push_text(out, layout, &text);
        }
        Expr::CpuList(field) => {
            let bytes = scope.data(*field).unwrap_or(&[]);
            let mut text = Vec::new();
            push_bit_list(&mut text, bytes, bytes.len() * 8, scope.endian);
            push_text(out, layout, &text);
        }
        Expr::Call(function, arguments) => super::call::push(out, scope, *function, arguments),
        Expr::Cast(_, inner) => push_string(out, scope, layout, inner),
        Expr::Constant(..)
        | Expr::Element(..)
        | Expr::DataLength(_)
        | Expr::Unary(..)
        | Expr::Binary(..) => {}
    }
}

/// Returns whether the argument is a string that the kernel could not read: unlike for an empty string, the record does
/// not even contain its NUL.
pub(crate) fn is_unread(scope: &Scope<'_>, argument: &Expr) -> bool {
    match argument {
        Expr::String(field) => scope.data(*field).is_none_or(<[u8]>::is_empty),
        Expr::StringOf(field, index) => string_of(scope, *field, *index).is_empty(),
        _ => false,
    }
}

/// Returns the bytes from a dynamic string's start to the end of the record, because the string ends at its NUL, not at
/// its length.
fn to_end<'a>(scope: &Scope<'a>, field: u16) -> &'a [u8] {
    scope
        .fields
        .get(usize::from(field))
        .and_then(|f| f.data_range(scope.record, scope.endian))
        .and_then(|range| scope.record.get(range.start..))
        .unwrap_or(&[])
}

fn string_of<'a>(scope: &Scope<'a>, field: u16, index: u32) -> &'a [u8] {
    let found = scope.fields.get(usize::from(field)).and_then(|f| {
        let step = usize::try_from(index).ok()?.checked_mul(4)?;
        if step >= f.size as usize {
            return None;
        }
        let at = (f.offset as usize).checked_add(step)?;
        scope
            .record
            .get(loc_range(scope.record, at, 0, scope.endian)?)
    });
    found.unwrap_or(&[])
}

/// Appends the names of all set bits. Returns the bits without a name; if there are any, a delimiter for them was
/// appended.
fn push_flags(
    out: &mut Vec<u8>,
    layout: &Layout,
    mut value: u64,
    delimiter: &[u8],
    rows: &[Named],
) -> u64 {
    let mut is_first = true;
    for row in rows {
        match row.value {
            Some(mask) if mask != 0 && value & mask == mask => {
                if !is_first {
                    out.extend_from_slice(delimiter);
                }
                is_first = false;
                push_text(out, layout, &row.text);
                value &= !mask;
            }
            _ => {}
        }
    }
    if value != 0 && !is_first {
        out.extend_from_slice(delimiter);
    }
    value
}

/// Returns the text of the row with `value`.
fn symbol_of(value: u64, rows: &[Named]) -> Option<&[u8]> {
    let same = |row: &&Named| row.value == Some(value);
    rows.iter().find(same).map(|row| &*row.text)
}

fn push_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(b"0x");
    push_hex(out, value);
}

/// Returns the mask of the bits that are printed for a number without a name: as many bits as its field has, so that a
/// negative number is not extended.
fn bits_of(value: &Expr) -> u64 {
    let ones = |bytes: u8| u64::MAX >> (64 - 8 * u32::from(bytes.clamp(1, 8)));
    match value {
        Expr::Number(_, at) => ones(at.size),
        Expr::Element(_, width, _) => ones(width.size),
        Expr::Pointer(_, inner) => bits_of(inner),
        Expr::Cast(width, inner) => bits_of(inner).min(ones(width.size)),
        other if other.int().is_wide => u64::MAX,
        _ => ones(4),
    }
}

fn push_array(out: &mut Vec<u8>, scope: &Scope<'_>, parts: &ArrayParts, form: ArrayForm) {
    let ArrayParts { data, count, size } = parts;
    let bytes = scope.bytes(data).unwrap_or(&[]);
    let count = scope.number(count).min(MAX_ELEMENTS) as usize;
    let size = scope.number(size);
    let is_kernels = form == ArrayForm::Kernel;
    if is_kernels {
        out.push(b'{');
    }
    if let Ok(size @ (1 | 2 | 4 | 8)) = usize::try_from(size) {
        for (i, element) in bytes.chunks_exact(size).take(count).enumerate() {
            if i > 0 {
                out.push(if is_kernels { b',' } else { b' ' });
            }
            let value = crate::formats::tracedat::event_format::read_number(element, scope.endian);
            let value = value.unwrap_or(0);
            if is_kernels {
                push_number(out, value);
            } else {
                push_decimal(out, value);
            }
        }
    }
    if is_kernels {
        out.push(b'}');
    }
}
