//! Converts decoded fields to arguments that fit into an event record.
//!
//! An event record has at most 15 arguments. If there are more fields, the first 14 keep their types, and the 15th, a
//! text called `more`, is a JSON object of all the others (see `formats/fxt/packed`): other readers display it as
//! text, and our reader restores the arguments. Texts that do not fit into the record (32 KB) get string records; a
//! text that does not fit into a string record is cut, and a large event record after it has the whole text as payload
//! (see [`Fitted::cut`]). Bytes of FXT files stay blob arguments; those of other files become hex text, which all
//! readers show.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::records::{MOST_ARGS, MOST_STRING_BYTES, Records, TextRef, cut_bytes};
use crate::base::strings::exact_text;
use crate::event::{FieldRef, FieldView, ValueRef};
use crate::export::shared::arguments::{Arg, ArgValue, LongText, value_of};
use crate::fxt::packed::MORE;

/// The most words of arguments that a scheduling record, an object or a large event can have besides its other words.
pub(crate) const MOST_ARG_WORDS: usize = 3800;
/// Longer texts take the slow path: they may not fit into any record. In bytes.
const MOST_QUICK_BYTES: usize = 4096;
/// The number of field names in the cache.
const KNOWN_NAMES: usize = 512;
/// Encodes the fields of events as arguments, and caches which of their names are in the fixed table.
#[derive(Debug)]
pub(crate) struct FieldNames<'a> {
    /// A cache of references of names, by the address of the name in the reader's memory.
    known: Vec<(&'a str, TextRef<'static>)>,
}

impl<'a> FieldNames<'a> {
    /// Returns an empty cache.
    pub(super) fn new() -> FieldNames<'a> {
        FieldNames {
            known: vec![("", TextRef::EMPTY); KNOWN_NAMES],
        }
    }

    /// Prepares `fields` and `more` as the arguments of the next record, which has room for `words` words of arguments.
    /// Returns `false` if they do not fit: see [`fit`].
    pub(crate) fn prepare(
        &mut self,
        fields: &[FieldRef<'a>],
        more: &[Arg<'_>],
        words: usize,
        records: &mut Records<'_>,
    ) -> bool {
        records.prepare(&[]);
        let mut count = more.len();
        for field in fields.iter().filter(|field| field.role.is_argument()) {
            count += 1;
            // A long text may not fit into any record.
            let is_long =
                matches!(&field.value, ValueRef::Text(text) if text.len() > MOST_QUICK_BYTES);
            if count > MOST_ARGS || is_long || field.name.len() > MOST_QUICK_BYTES {
                return false;
            }
            let value = value_of(FieldView::of(field));
            match &field.name {
                Cow::Borrowed(name) => {
                    let name = self.reference(name, records);
                    records.prepare_one(name, &value);
                }
                Cow::Owned(_) => {
                    let name = records.exact_name(field.name_bytes());
                    records.prepare_one(name, &value);
                }
            }
        }
        for arg in more {
            let name = records.exact_name(&arg.name);
            records.prepare_one(name, &arg.value);
        }
        count <= MOST_ARGS && records.prepared_bytes() <= words * 8
    }

    /// Returns the reference of a name, for the next record.
    #[inline]
    fn reference(&mut self, name: &'a str, records: &mut Records<'_>) -> TextRef<'a> {
        let address = name.as_ptr() as usize;
        let slot = (address ^ address >> 8) % KNOWN_NAMES;
        match self.known.get_mut(slot) {
            Some(entry) if std::ptr::eq(entry.0, name) && !name.is_empty() => entry.1,
            entry => {
                let reference = records.name(name);
                if let (Some(entry), Some(lasting)) = (entry, records.lasting(reference)) {
                    *entry = (name, lasting);
                }
                reference
            }
        }
    }
}

/// An argument that was cut to fit.
#[derive(Debug, PartialEq)]
pub(crate) struct CutText {
    /// The name of the argument.
    pub argument: Vec<u8>,
    /// Its whole text or bytes.
    pub whole: Vec<u8>,
}

/// The room for arguments in a record.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// The most arguments.
    pub args: usize,
    /// The most words of all arguments together.
    pub words: usize,
}

/// What `fit` changed in the arguments.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Fitted {
    /// Whether some were moved into `more`.
    pub is_packed: bool,
    /// The arguments that were cut.
    pub cut: Vec<CutText>,
}

/// Makes `args` fit into one record that has room for `most_words` words of arguments.
pub(crate) fn fit(args: &mut Vec<Arg<'_>>, most_words: usize) -> Fitted {
    let room = Room {
        args: MOST_ARGS,
        words: most_words,
    };
    fit_among(args, room)
}

/// As `fit`, for a record that may have less room for arguments than an event.
pub(crate) fn fit_among(args: &mut Vec<Arg<'_>>, room: Room) -> Fitted {
    let mut fitted = Fitted::default();
    if args.len() > room.args {
        let rest = args.split_off(room.args.saturating_sub(1));
        args.push(Arg::new(MORE, ArgValue::text(json_object(&rest))));
        fitted.is_packed = true;
    }
    let mut words: usize = args.iter().map(Arg::most_words).sum();
    // The longest texts get string records of their own.
    while words > room.words {
        let longest = args
            .iter_mut()
            .filter(|arg| matches!(arg.value, ArgValue::Text(_) | ArgValue::Blob(_)))
            .max_by_key(|arg| arg.most_words());
        let Some(arg) = longest else {
            return fitted;
        };
        words -= arg.most_words();
        if let ArgValue::Blob(bytes) = &mut arg.value {
            let summary = format!("{} bytes", bytes.len());
            let whole = std::mem::take(bytes).into_owned();
            fitted.cut.push(CutText {
                argument: arg.name.to_vec(),
                whole,
            });
            arg.value = ArgValue::text(summary);
        } else if let ArgValue::Text(text) = &mut arg.value {
            let mut text = std::mem::take(text);
            if text.len() > MOST_STRING_BYTES {
                let start = [cut_bytes(&text, MOST_STRING_BYTES - 3), "…".as_bytes()].concat();
                let whole = std::mem::replace(&mut text, start.into());
                fitted.cut.push(CutText {
                    argument: arg.name.to_vec(),
                    whole: whole.into_owned(),
                });
            }
            arg.value = ArgValue::Other(LongText(text));
        }
        words += arg.most_words();
    }
    fitted
}

fn json_object(args: &[Arg<'_>]) -> String {
    let mut out = String::from("{");
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&json_text(&arg.name));
        out.push(':');
        let _infallible = match &arg.value {
            ArgValue::Null => write!(out, "null"),
            ArgValue::Int32(value) => write!(out, "{value}"),
            ArgValue::UInt32(value) => write!(out, "{value}"),
            ArgValue::Int64(value) => write!(out, "{value}"),
            ArgValue::UInt64(value) => write!(out, "{value}"),
            ArgValue::Koid(value) => write!(out, "{{\"koid\":{value}}}"),
            ArgValue::Double(value) => match is_read_back(*value) {
                true => write!(out, "{value:?}"),
                false => write!(out, "{{\"double\":\"{value}\"}}"),
            },
            ArgValue::Bool(value) => write!(out, "{value}"),
            ArgValue::Pointer(value) => write!(out, "{{\"pointer\":\"{value:#x}\"}}"),
            ArgValue::Text(text) | ArgValue::Other(LongText(text)) => {
                out.push_str(&json_text(text));
                Ok(())
            }
            ArgValue::Blob(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                write!(out, "{{\"blob\":\"{digits}\"}}")
            }
        };
    }
    out.push('}');
    out
}

/// Returns whether a JSON reader restores the same number from its digits.
fn is_read_back(value: f64) -> bool {
    value.is_finite()
        && serde_json::from_str::<f64>(&format!("{value:?}"))
            .is_ok_and(|read| read.to_bits() == value.to_bits())
}

/// Returns a text as JSON; bytes that are not UTF-8 become `\xNN`.
fn json_text(text: &[u8]) -> String {
    serde_json::Value::from(exact_text(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_fifteen_go_on_in_json() {
        let mut args: Vec<Arg<'_>> = (0..20)
            .map(|i| Arg::new(format!("a{i}"), ArgValue::Int64(i)))
            .collect();
        args[17].value = ArgValue::text("say \"hi\"");
        let fitted = fit(&mut args, MOST_ARG_WORDS);
        assert!(fitted.is_packed && fitted.cut.is_empty());
        assert_eq!(args.len(), 15);
        let ArgValue::Text(more) = &args[14].value else {
            panic!("{:?}", args[14]);
        };
        let more: serde_json::Value = serde_json::from_slice(more).unwrap();
        assert_eq!(more["a14"], 14);
        assert_eq!(more["a17"], "say \"hi\"");
        assert_eq!(more["a19"], 19);
    }

    #[test]
    fn long_texts_leave_the_record_and_what_is_cut_is_told_whole() {
        let long = "ä".repeat(40_000);
        let middle = long.get(..20_000).unwrap();
        let mut args = vec![
            Arg::new("short", ArgValue::text("kept")),
            Arg::new("long", ArgValue::text(long.as_str())),
            Arg::new("middle", ArgValue::text(middle)),
            Arg::new("other", ArgValue::text(middle)),
            Arg::new("longer", ArgValue::text(format!("{long}!"))),
        ];
        let fitted = fit(&mut args, MOST_ARG_WORDS);
        let words: usize = args.iter().map(Arg::most_words).sum();
        assert!(words <= MOST_ARG_WORDS);
        assert_eq!(args[0].value, ArgValue::text("kept"));
        assert_eq!(args[2].value, ArgValue::text(middle));
        assert_eq!(
            args[3].value,
            ArgValue::Other(LongText(middle.as_bytes().into()))
        );
        for index in [1, 4] {
            let ArgValue::Other(LongText(text)) = &args[index].value else {
                panic!("{:?}", args[index]);
            };
            assert!(text.len() <= MOST_STRING_BYTES && text.len() > 32_000);
            assert!(text.ends_with("…".as_bytes()));
        }
        let expected = [("longer", format!("{long}!")), ("long", long)];
        assert_eq!(
            fitted.cut,
            expected.map(|(name, text)| CutText {
                argument: name.as_bytes().to_vec(),
                whole: text.into_bytes(),
            })
        );
    }
}
