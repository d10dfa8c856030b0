//! Prints the text of a record from its event's `print fmt`.
//!
//! A print fmt is parsed once ([`PrintFmt::new`]). For each event it is evaluated into a buffer that the caller reuses
//! ([`PrintFmt::push`]), without allocating. If a print fmt cannot be evaluated (statements, functions that only the
//! kernel has), a list of the fields is printed instead.

pub(crate) mod binary;
pub(crate) mod call;
pub(crate) mod eval;
pub(crate) mod expr;
pub mod parse;
pub(crate) mod pointer;
pub(crate) mod printf;
pub mod raw;
pub mod text;
pub(crate) mod token;

pub(crate) use eval::{FunctionAt, Lookup, Parameter, ParameterSort, Scope};
pub use pointer::Addresses;

use binary::set_amounts;
use expr::{Expr, Int, Width};
use printf::{Amount, Conversion, Length, Piece};

use super::event_format::EventFormat;

/// A parsed print fmt.
#[derive(Clone, Debug, Default)]
pub struct PrintFmt {
    /// Texts and conversions in order; `None` if it cannot be evaluated.
    steps: Option<Vec<Step>>,
    /// Whether trace-cmd's library cannot parse it.
    is_beyond_reference: bool,
}

/// A text, or one conversion with its arguments.
#[derive(Clone, Debug)]
enum Step {
    Text(Box<[u8]>),
    Show(Box<Show>),
    /// A string of a probe; printed in quotes, unless the kernel could not read it.
    Quoted(Box<Show>),
}

#[derive(Clone, Debug)]
struct Show {
    conversion: Conversion,
    width: Option<Expr>,
    precision: Option<Expr>,
    argument: Expr,
}

impl PrintFmt {
    /// Parses the print fmt of `format`. Never fails (see the module's header).
    #[must_use]
    pub fn new(format: &EventFormat, long_size: u32) -> PrintFmt {
        let Some(parsed) = parse::parse(format, long_size) else {
            return PrintFmt {
                steps: None,
                is_beyond_reference: true,
            };
        };
        let mut arguments = parsed.arguments.into_iter();
        let mut steps = Vec::new();
        for piece in printf::pieces(&token::unescape(&parsed.format)) {
            match piece {
                Piece::Text(text) => steps.push(Step::Text(text.into_boxed_slice())),
                Piece::Conversion(conversion) => {
                    let mut amount = |amount: Amount| match amount {
                        Amount::None => Some(None),
                        Amount::Fixed(value) => Some(Some(Expr::Constant(value as u64, Int::INT))),
                        Amount::Argument => arguments.next().map(Some),
                    };
                    let show = amount(conversion.width)
                        .zip(amount(conversion.precision))
                        .and_then(|(width, precision)| {
                            Some(Show {
                                argument: arguments.next()?,
                                width,
                                precision,
                                conversion,
                            })
                        });
                    // A conversion without an argument: the print fmt cannot be evaluated.
                    let Some(show) = show else {
                        return PrintFmt {
                            steps: None,
                            is_beyond_reference: true,
                        };
                    };
                    steps.push(Step::Show(Box::new(show)));
                }
            }
        }
        if is_probe(format, &steps) {
            take_quotes(&mut steps);
        }
        PrintFmt {
            steps: Some(steps),
            is_beyond_reference: parsed.is_beyond_reference,
        }
    }

    /// Appends the text for the record in `scope`.
    pub(crate) fn push(&self, out: &mut Vec<u8>, scope: &Scope<'_>) {
        let Some(steps) = &self.steps else {
            let start = out.len();
            raw::push_fields(out, scope, self, &mut raw::Seen::default());
            if out.get(start) == Some(&b' ') {
                out.remove(start);
            }
            return;
        };
        for step in steps {
            match step {
                Step::Text(text) => out.extend_from_slice(text),
                Step::Show(show) => show.push(out, scope, Addresses::Named),
                // The kernel's text for a string that a probe could not read (`PRINT_TYPE_FUNC_NAME(string)`).
                Step::Quoted(show) if text::is_unread(scope, &show.argument) => {
                    out.extend_from_slice(b"(fault)");
                }
                Step::Quoted(show) => {
                    out.push(b'"');
                    show.push(out, scope, Addresses::Named);
                    out.push(b'"');
                }
            }
        }
    }

    /// Returns a print fmt that `-R` does not use: then `-R` prints fields by type, as if trace-cmd's library could not
    /// parse the print fmt.
    #[must_use]
    pub(crate) fn bare(mut self) -> PrintFmt {
        self.is_beyond_reference = true;
        self
    }

    /// Returns whether `-R` prints fields in the form of the print fmt.
    fn has_table(&self) -> bool {
        !self.is_beyond_reference
    }

    /// Returns the `__print_flags` or `__print_symbolic` expression over a field; `None` if the print fmt has none.
    #[must_use]
    pub(crate) fn naming_of(&self, field: u16) -> Option<&Expr> {
        self.shows()
            .find_map(|show| named_field(&show.argument, field))
    }

    /// Appends a field in the form of the print fmt, unless that is a plain number: as names, a symbol, or a network
    /// address. Returns whether anything was appended.
    pub(crate) fn push_named(&self, out: &mut Vec<u8>, scope: &Scope<'_>, field: u16) -> bool {
        let plain = printf::Layout::default();
        if let Some(expr) = self.naming_of(field) {
            text::push_string(out, scope, &plain, expr);
            return true;
        }
        let is_of_field = |show: &&Show| {
            show.conversion.letter == b'p'
                && !matches!(show.conversion.extension.first(), None | Some(b'x' | b'K'))
                && is_bare(&show.argument, field)
        };
        let Some(show) = self.shows().find(is_of_field) else {
            return false;
        };
        show.push(out, scope, Addresses::Named);
        true
    }

    fn shows(&self) -> impl Iterator<Item = &Show> {
        self.steps.iter().flatten().filter_map(|step| match step {
            Step::Show(show) | Step::Quoted(show) => Some(&**show),
            Step::Text(_) => None,
        })
    }
}

/// Returns whether `format` belongs to a probe. A probe on another event has no probe's field, but its print fmt starts
/// with the space before its first argument.
fn is_probe(format: &EventFormat, steps: &[Step]) -> bool {
    format.has_probe_field()
        || matches!(steps.first(), Some(Step::Text(text)) if text.starts_with(b" "))
}

/// Moves the quotes around strings into the steps of the strings, because a string that the kernel could not read is
/// printed without quotes.
fn take_quotes(steps: &mut [Step]) {
    for at in 1..steps.len().saturating_sub(1) {
        let Some([Step::Text(before), shown, Step::Text(after)]) = steps.get_mut(at - 1..at + 2)
        else {
            continue;
        };
        let Step::Show(show) = &*shown else {
            continue;
        };
        if !matches!(show.argument, Expr::String(_) | Expr::StringOf(..)) {
            continue;
        }
        if let (b's', Some(before_quote), Some(after_quote)) = (
            show.conversion.letter,
            before.strip_suffix(b"\""),
            after.strip_prefix(b"\""),
        ) {
            (*before, *after) = (before_quote.into(), after_quote.into());
            *shown = Step::Quoted(show.clone());
        }
    }
}

/// Returns the flags or symbolic expression over `field` in `expr`.
fn named_field(expr: &Expr, field: u16) -> Option<&Expr> {
    match expr {
        Expr::Flags(value, ..) | Expr::Symbolic(value, _) => mentions(value, field).then_some(expr),
        Expr::Pointer(_, inner) | Expr::Cast(_, inner) => named_field(inner, field),
        Expr::Choice(_, parts) => {
            named_field(&parts.1, field).or_else(|| named_field(&parts.2, field))
        }
        _ => None,
    }
}

/// Returns whether `expr` is only the field `field`, possibly with casts.
fn is_bare(expr: &Expr, field: u16) -> bool {
    match expr {
        Expr::Number(found, _) | Expr::Field(found) | Expr::Data(found) => *found == field,
        Expr::Pointer(_, inner) | Expr::Cast(_, inner) => is_bare(inner, field),
        _ => false,
    }
}

fn mentions(expr: &Expr, field: u16) -> bool {
    match expr {
        Expr::Number(found, _) | Expr::Field(found) => *found == field,
        Expr::Unary(_, _, inner) | Expr::Pointer(_, inner) | Expr::Cast(_, inner) => {
            mentions(inner, field)
        }
        Expr::Binary(_, _, left, right) => mentions(left, field) || mentions(right, field),
        _ => false,
    }
}

impl Show {
    fn push(&self, out: &mut Vec<u8>, scope: &Scope<'_>, addresses: Addresses) {
        let conversion = &self.conversion;
        let mut layout = conversion.layout;
        if self.width.is_some() || self.precision.is_some() {
            let amount = |expr: &Option<Expr>| {
                expr.as_ref()
                    .map(|expr| i64::from(scope.number(expr) as u32 as i32))
            };
            set_amounts(&mut layout, amount(&self.width), amount(&self.precision));
        }
        match conversion.letter {
            b's' => text::push_string(out, scope, &layout, &self.argument),
            b'p' => {
                let width = self.width.as_ref().map(|expr| scope.number(expr));
                pointer::push_pointer(
                    out,
                    scope,
                    &conversion.extension,
                    width,
                    &self.argument,
                    addresses,
                );
            }
            b'c' => {
                let byte = scope.number(&self.argument) as u8;
                printf::push_text(out, &layout, &[byte]);
            }
            letter => {
                let width = Width {
                    size: match conversion.length {
                        Length::Char => 1,
                        Length::Short => 2,
                        Length::Int => 4,
                        Length::Long => scope.long_size as u8,
                        Length::LongLong => 8,
                    },
                    is_signed: matches!(letter, b'd' | b'i'),
                };
                let value = width.hold(scope.number(&self.argument));
                printf::push_number(out, &layout, letter, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
