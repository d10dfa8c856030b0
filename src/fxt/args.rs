//! Decodes the arguments of a record one by one, from its words to typed values (bits: `layout::argument`).
//!
//! An argument's size gives the start of the next one, whatever its content. A size of 0 or past the end of the record
//! ends the list. Does not resolve names: that needs the tables of the record's provider.

use super::layout::{argument, userspace_object};
use super::words::{TextRef, Words, read_text, without_nuls};
use crate::base::ByteOrder;

/// The message for an argument of an unknown type.
pub(crate) const UNKNOWN_ARGUMENT: &str =
    "an argument of a type that is not known; its size is skipped";

/// The value of an argument. Readers and writers use different types for texts and bytes, and have other additional
/// values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TypedValue<Text, Bytes, Other> {
    /// Type 0: no value.
    Null,
    /// Type 1: a signed integer of 32 bits.
    Int32(i32),
    /// Type 2: an unsigned integer of 32 bits.
    UInt32(u32),
    /// Type 3: a signed integer of 64 bits.
    Int64(i64),
    /// Type 4: an unsigned integer of 64 bits.
    UInt64(u64),
    /// Type 5: floating point.
    Double(f64),
    /// Type 6: text.
    Text(Text),
    /// Type 7: an address.
    Pointer(u64),
    /// Type 8: the koid of a kernel object.
    Koid(u64),
    /// Type 9: a boolean.
    Bool(bool),
    /// Type 10: bytes, which older readers do not know.
    Blob(Bytes),
    /// A value that only readers or only writers have.
    Other(Other),
}

/// The value of an argument that was read.
pub(crate) type ArgValue<'a> = TypedValue<TextRef<'a>, &'a [u8], UnknownType>;

/// The number of an unknown type, which newer writers may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UnknownType(pub u8);

/// One argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arg<'a> {
    /// Its name.
    pub name: TextRef<'a>,
    /// Its value.
    pub value: ArgValue<'a>,
}

/// Returns the number of words of a userspace object record that identify its owner if no thread index does: one for
/// the process, and in files of some writers a second one for the thread. The record's size shows which.
#[must_use]
pub(crate) fn object_owner_words<O: ByteOrder>(header: u64, record: Words<'_, O>) -> usize {
    if userspace_object::THREAD.get(header) != 0 {
        return 0;
    }
    let fills_record = |owner_words: usize| {
        let mut next = 2 + owner_words;
        let has_name = read_text(userspace_object::NAME.get(header), record, &mut next).is_some();
        let args = Args::new(record, next, userspace_object::ARGS.get(header));
        has_name && args.skip_all() == Some(record.count())
    };
    match !fills_record(1) && fills_record(2) {
        true => 2,
        false => 1,
    }
}

/// Arguments that were skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// The index of the word after them.
    pub behind: usize,
    /// The number of arguments with an unknown type.
    pub unknown_count: u64,
}

/// An iterator over the arguments of a record.
#[derive(Clone, Debug)]
pub(crate) struct Args<'a, O> {
    record: Words<'a, O>,
    at: usize,
    left: u64,
    is_bad: bool,
}

impl<'a, O: ByteOrder> Args<'a, O> {
    /// Returns the `count` arguments that start at word `at` of `record`.
    #[inline]
    #[must_use]
    pub(crate) fn new(record: Words<'a, O>, at: usize, count: u64) -> Args<'a, O> {
        Args {
            record,
            at,
            left: count,
            is_bad: false,
        }
    }

    /// Returns whether an argument's size was impossible, or its content did not fit into it.
    #[inline]
    #[must_use]
    pub(crate) fn is_bad(&self) -> bool {
        self.is_bad
    }

    /// Skips all arguments; returns the index of the word after them.
    #[inline]
    #[must_use]
    pub(crate) fn skip_all(self) -> Option<usize> {
        self.skip_counting().map(|skipped| skipped.behind)
    }

    /// Returns the word after all arguments.
    #[must_use]
    pub(crate) fn word_behind(&self) -> Option<u64> {
        self.record.get(self.clone().skip_all()?)
    }

    /// Skips all arguments, and counts those of an unknown type; `None` if an argument's size is impossible.
    #[inline]
    #[must_use]
    pub(crate) fn skip_counting(mut self) -> Option<Skipped> {
        let mut unknown_count = 0;
        while self.left > 0 {
            let header = self.record.get(self.at)?;
            let size = argument::WORDS.get(header) as usize;
            if size == 0 || self.at + size > self.record.count() {
                return None;
            }
            unknown_count += u64::from(argument::KIND.get(header) > argument::BLOB);
            self.at += size;
            self.left -= 1;
        }
        Some(Skipped {
            behind: self.at,
            unknown_count,
        })
    }

    fn value(&mut self, header: u64, words: Words<'a, O>, at: &mut usize) -> Option<ArgValue<'a>> {
        let high = argument::HIGH.get(header);
        Some(match argument::KIND.get(header) {
            argument::NULL => ArgValue::Null,
            argument::INT32 => ArgValue::Int32(high as u32 as i32),
            argument::UINT32 => ArgValue::UInt32(high as u32),
            argument::INT64 => ArgValue::Int64(words.get(*at)? as i64),
            argument::UINT64 => ArgValue::UInt64(words.get(*at)?),
            argument::DOUBLE => ArgValue::Double(f64::from_bits(words.get(*at)?)),
            argument::TEXT => ArgValue::Text(read_text(high, words, at)?),
            argument::POINTER => ArgValue::Pointer(words.get(*at)?),
            argument::KOID => ArgValue::Koid(words.get(*at)?),
            argument::BOOL => ArgValue::Bool(high & 1 == 1),
            argument::BLOB => ArgValue::Blob(words.text(*at, usize::try_from(high).ok()?)?),
            other => ArgValue::Other(UnknownType(other as u8)),
        })
    }
}

impl<'a, O: ByteOrder> Iterator for Args<'a, O> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        while self.left > 0 {
            let Some(header) = self.record.get(self.at) else {
                self.is_bad = true;
                break;
            };
            let size = argument::WORDS.get(header) as usize;
            if size == 0 || self.at + size > self.record.count() {
                self.is_bad = true;
                break;
            }
            let words = self.record.from(self.at).up_to(size);
            self.at += size;
            self.left -= 1;
            let mut at = 1;
            let reference = argument::NAME.get(header);
            // A name that is longer than its argument (some writers count a NUL twice) is cut to the bytes that are
            // there.
            let name = read_text(reference, words, &mut at).unwrap_or_else(|| {
                at = size;
                let all = words.text(1, (size - 1) * 8).unwrap_or(&[]);
                TextRef::Inline(without_nuls(all))
            });
            match self.value(header, words, &mut at) {
                Some(value) => return Some(Arg { name, value }),
                None => self.is_bad = true,
            }
        }
        self.left = 0;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Little;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn arguments_are_typed_and_found_by_size() {
        let minus_two = u64::from((-2_i32) as u32) << 32;
        let record = bytes(&[
            1 | 1 << 4 | 5 << 16 | minus_two,
            11 | 3 << 4 | 6 << 16,
            99,
            99,
            7 | 3 << 4 | 0x8002 << 16,
            u64::from_le_bytes(*b"ab\0\0\0\0\0\0"),
            0xdead,
            77,
        ]);
        let mut args = Args::new(Words::<Little>::new(&record), 0, 3);
        let all: Vec<_> = args.by_ref().collect();
        assert_eq!(
            all,
            vec![
                Arg {
                    name: TextRef::Index(5),
                    value: ArgValue::Int32(-2)
                },
                Arg {
                    name: TextRef::Index(6),
                    value: ArgValue::Other(UnknownType(11))
                },
                Arg {
                    name: TextRef::Inline(b"ab"),
                    value: ArgValue::Pointer(0xdead)
                },
            ]
        );
        assert!(!args.is_bad());
        let all = Args::new(Words::<Little>::new(&record), 0, 3);
        assert_eq!(all.skip_all(), Some(7));
    }

    #[test]
    fn impossible_sizes_end_the_list() {
        for header in [1, 1 | 9 << 4] {
            let record = bytes(&[1 | 1 << 4, header, 5]);
            let mut args = Args::new(Words::<Little>::new(&record), 0, 3);
            assert_eq!(args.by_ref().count(), 1);
            assert!(args.is_bad());
            assert_eq!(
                Args::new(Words::<Little>::new(&record), 0, 3).skip_all(),
                None
            );
        }
    }

    #[test]
    fn a_name_that_counts_a_second_word_is_cut_to_its_argument() {
        let record = bytes(&[
            9 | 2 << 4 | 0x8009 << 16 | 1 << 32,
            u64::from_le_bytes(*b"is_slept"),
        ]);
        let arg = Args::new(Words::<Little>::new(&record), 0, 1).next();
        assert_eq!(
            arg,
            Some(Arg {
                name: TextRef::Inline(b"is_slept"),
                value: ArgValue::Bool(true)
            })
        );
    }
}
