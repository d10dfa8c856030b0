//! Prints fields as `name=value` pairs (`report -R`), each in the form that the print fmt gives it, if any.

use super::expr::Expr;
use super::pointer::Addresses;
use super::printf::{push_decimal, push_hex, push_hex_digits, push_signed};
use super::{PrintFmt, Scope, Step};
use crate::formats::tracedat::event_format::{FieldFormat, Shape, loc_range, sign_extend};

/// The text fields of one kind of event that have contained bytes which are not text. From then on they are printed as
/// numbers in every later event, as in trace-cmd.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    unprintable: Vec<usize>,
}

/// Appends ` name=value` for every field except the common fields.
pub(crate) fn push_fields(
    out: &mut Vec<u8>,
    scope: &Scope<'_>,
    format: &PrintFmt,
    seen: &mut Seen,
) {
    push_fields_with(out, scope, format, seen, Addresses::Shown);
}

/// Appends the same as `push_fields`; `addresses` decides whether addresses are printed after the names of symbols.
pub(crate) fn push_fields_with(
    out: &mut Vec<u8>,
    scope: &Scope<'_>,
    format: &PrintFmt,
    seen: &mut Seen,
    addresses: Addresses,
) {
    let steps: &[Step] = match &format.steps {
        Some(steps) if format.has_table() => steps,
        _ => &[],
    };
    // In the print fmt, the search continues after the last field that was found.
    let mut place = (!steps.is_empty()).then_some(0);
    for (index, field) in scope.fields.iter().enumerate() {
        if field.is_common() {
            continue;
        }
        out.push(b' ');
        out.extend_from_slice(field.name.as_bytes());
        out.push(b'=');
        let found = match place {
            Some(from) if field.shape == Shape::Plain => find(steps, from, index),
            _ => None,
        };
        if let Some(found) = found {
            if found.has_prefix {
                out.extend_from_slice(b"0x");
            }
            if let Some(Step::Show(show)) = steps.get(found.at) {
                show.push(out, scope, addresses);
            }
            place = (found.at + 1 < steps.len()).then_some(found.at + 1);
        } else {
            push_field(out, scope, index, field, seen);
        }
    }
}

struct Found {
    at: usize,
    /// Whether the text before the conversion ends with `0x`.
    has_prefix: bool,
}

/// Returns the next conversion that prints only the field with `index`. The search starts at step `from` and wraps
/// around at the end.
fn find(steps: &[Step], from: usize, index: usize) -> Option<Found> {
    let mut has_prefix = false;
    for at in (from..steps.len()).chain(0..from) {
        match steps.get(at)? {
            Step::Text(text) => has_prefix = text.len() > 1 && text.ends_with(b"0x"),
            Step::Show(show) if bare_field(&show.argument) == Some(index) => {
                return Some(Found { at, has_prefix });
            }
            Step::Show(_) | Step::Quoted(_) => has_prefix = false,
        }
    }
    None
}

/// Returns the index of the field that `expr` is, possibly with casts.
fn bare_field(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Number(field, _) => Some(usize::from(*field)),
        Expr::Pointer(_, inner) | Expr::Cast(_, inner) => bare_field(inner),
        _ => None,
    }
}

/// Appends the value of a field in the form that its type requires, without the print fmt.
pub(crate) fn push_field(
    out: &mut Vec<u8>,
    scope: &Scope<'_>,
    index: usize,
    field: &FieldFormat,
    seen: &mut Seen,
) {
    match field.shape {
        Shape::Plain => push_plain(out, scope, field),
        // If the type has no brackets, only the kernel's code shows that the field refers to an array.
        Shape::DataLoc | Shape::RelLoc if !field.type_name.contains('[') => {
            push_plain(out, scope, field);
        }
        Shape::DataLocs => {
            out.push(b'{');
            for i in 0..field.size as usize / 4 {
                if i > 0 {
                    out.push(b',');
                }
                let at = (field.offset as usize).saturating_add(i * 4);
                let text = loc_range(scope.record, at, 0, scope.endian)
                    .and_then(|range| scope.record.get(range))
                    .unwrap_or(&[]);
                let length = memchr::memchr(0, text).unwrap_or(text.len());
                out.push(b'"');
                out.extend_from_slice(text.get(..length).unwrap_or(text));
                out.push(b'"');
            }
            out.push(b'}');
        }
        Shape::Array | Shape::Rest | Shape::DataLoc | Shape::RelLoc => {
            let range = field.data_range(scope.record, scope.endian);
            let start = range
                .as_ref()
                .map_or(scope.record.len(), |range| range.start);
            let data = match (field.shape, range) {
                // The rest of a record is printed only as text.
                (Shape::Rest, _) | (_, None) => &[],
                (_, Some(range)) => scope.record.get(range).unwrap_or(&[]),
            };
            let is_text = field.is_string && !seen.unprintable.contains(&index);
            if is_text && is_printable(data) {
                let rest = scope.record.get(start..).unwrap_or(&[]);
                let length = memchr::memchr(0, rest).unwrap_or(rest.len());
                out.extend_from_slice(rest.get(..length).unwrap_or(rest));
            } else {
                out.extend_from_slice(b"ARRAY[");
                for (i, &byte) in data.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    push_hex_digits(out, u64::from(byte), 2);
                }
                out.push(b']');
                if is_text {
                    seen.unprintable.push(index);
                }
            }
        }
    }
}

fn push_plain(out: &mut Vec<u8>, scope: &Scope<'_>, field: &FieldFormat) {
    let offset = field.offset as usize;
    let value = scope
        .record
        .get(offset..offset.saturating_add(field.size as usize))
        .and_then(|bytes| crate::formats::tracedat::event_format::read_number(bytes, scope.endian))
        .unwrap_or(0);
    let is_hex = field.is_pointer
        || match (field.is_signed, field.size) {
            (true, size) => field.is_long && size == 4,
            (false, _) => field.is_long,
        };
    if is_hex {
        out.extend_from_slice(b"0x");
        push_hex(out, value);
    } else if field.is_signed {
        let value = sign_extend(value, field.size) as i64;
        if field.size == 2 && (0..10).contains(&value) {
            out.push(b' ');
        }
        push_signed(out, value);
    } else {
        push_decimal(out, value);
    }
}

/// Returns whether all bytes up to the first NUL are printable.
fn is_printable(data: &[u8]) -> bool {
    data.iter()
        .take_while(|&&byte| byte != 0)
        .all(|&byte| (0x20..0x7f).contains(&byte) || matches!(byte, 9..=13))
}
