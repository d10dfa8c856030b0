//! Arguments of an FXT file's own records: unchanged values, texts as their bytes.

use std::borrow::Cow;

use super::args::{self, Fitted, MOST_ARG_WORDS};
use super::encode::Encoder;
use super::records::{Arg, ArgValue, MOST_ARGS};
use crate::formats::fxt::{FxtSource, unresolved_text};
use crate::fxt;

/// The most arguments that a copied scheduling record has room for beside those that the encoder adds.
const MOST_OWN_ARGS: usize = MOST_ARGS - 6;

/// Returns the arguments of the record at a place; `None` if this type of record has none.
pub(crate) fn own_args<'a>(fxt: &FxtSource<'a>, place: u64) -> Option<Vec<Arg<'a>>> {
    let text = |text: fxt::TextRef<'a>| -> Cow<'a, [u8]> {
        match text {
            fxt::TextRef::Inline(bytes) => bytes.into(),
            fxt::TextRef::Index(0) => Cow::default(),
            fxt::TextRef::Index(index) => unresolved_text(index).into_bytes().into(),
        }
    };
    let args = fxt.args(place)?.into_iter().filter_map(|arg| {
        let value = match arg.value {
            fxt::ArgValue::Text(value) => ArgValue::Text(text(value)),
            fxt::ArgValue::Null => ArgValue::Null,
            fxt::ArgValue::Int32(value) => ArgValue::Int32(value),
            fxt::ArgValue::UInt32(value) => ArgValue::UInt32(value),
            fxt::ArgValue::Int64(value) => ArgValue::Int64(value),
            fxt::ArgValue::UInt64(value) => ArgValue::UInt64(value),
            fxt::ArgValue::Double(value) => ArgValue::Double(value),
            fxt::ArgValue::Pointer(value) => ArgValue::Pointer(value),
            fxt::ArgValue::Koid(value) => ArgValue::Koid(value),
            fxt::ArgValue::Bool(value) => ArgValue::Bool(value),
            fxt::ArgValue::Blob(bytes) => ArgValue::Blob(bytes.into()),
            // It may refer to table entries, which are unknown.
            fxt::ArgValue::Unknown(_) => return None,
        };
        let name = text(arg.name);
        Some(Arg { name, value })
    });
    Some(args.collect())
}

/// Returns the value of the first argument of that name for which `of` returns one.
pub(crate) fn value_of<T>(
    args: &[Arg<'_>],
    name: &[u8],
    of: impl Fn(&ArgValue<'_>) -> Option<T>,
) -> Option<T> {
    let named = args.iter().filter(|arg| *arg.name == *name);
    named.filter_map(|arg| of(&arg.value)).next()
}

/// Returns the 32-bit value of the argument of that name.
pub(crate) fn int32_of(args: &[Arg<'_>], name: &str) -> Option<i32> {
    value_of(args, name.as_bytes(), |value| match value {
        ArgValue::Int32(value) => Some(*value),
        _ => None,
    })
}

impl<'a> Encoder<'a, '_> {
    /// Prepares arguments of a scheduling record, except those named in `others`. Arguments for which there is no room
    /// go into `more`; long ones are cut.
    pub(super) fn prepare_but(&mut self, args: &[Arg<'a>], others: &[&str]) {
        let is_among = |name: &[u8]| others.iter().any(|other| other.as_bytes() == name);
        let args = args.iter().filter(|arg| !is_among(&arg.name));
        let mut args: Vec<Arg<'a>> = args.cloned().collect();
        let room = (MOST_OWN_ARGS, MOST_ARG_WORDS);
        let Fitted { is_packed, cut } = args::fit_among(&mut args, room);
        self.records.counts.packed += u64::from(is_packed);
        self.records.counts.cut_scheduling += cut.len() as u64;
        self.records.prepare(&args);
    }
}
