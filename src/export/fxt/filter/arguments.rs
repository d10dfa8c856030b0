//! The arguments of a record whose texts are looked up during a walk over the file.

use std::borrow::Cow;

use crate::base::ByteOrder;
use crate::export::fxt::records::{Arg, ArgValue};
use crate::fxt;
use crate::fxt::args::Args;
use crate::fxt::words::unresolved_text;

/// Returns the arguments; `text_at` returns the registered text of an index. Arguments of an unknown type are left out:
/// they may refer to table entries.
pub(super) fn own_args<'a, O: ByteOrder>(
    args: Args<'a, O>,
    text_at: impl Fn(fxt::TextRef<'a>) -> Option<&'a [u8]>,
) -> Vec<Arg<'a>> {
    let text = |text: fxt::TextRef<'a>| -> Cow<'a, [u8]> {
        match (text_at(text), text) {
            (Some(bytes), _) => bytes.into(),
            (None, fxt::TextRef::Index(index)) => unresolved_text(index).into_bytes().into(),
            (None, fxt::TextRef::Inline(bytes)) => bytes.into(),
        }
    };
    let args = args.filter_map(|arg| {
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
            fxt::ArgValue::Other(_) => return None,
        };
        let name = text(arg.name);
        Some(Arg { name, value })
    });
    args.collect()
}
