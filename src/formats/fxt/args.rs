//! The arguments of a record: its words in, one typed argument at a time out.
//!
//! ```text
//! bits 0..3 type | 4..15 size in words | 16..31 name reference | 32..63 int32, uint32, bool, string reference or
//! byte count by type; then the inline name, then the value: a word, an inline text, or bytes padded to words
//! ```
//!
//! An argument's size says where the next one begins, whatever else it contains. A size of 0 or past the
//! record ends the list. Does not look up names: that needs the tables of the record's provider.

use super::header::{Order, TextRef, Words, bits, read_text, without_nuls};

/// What is said of an argument of another type.
pub const UNKNOWN_ARGUMENT: &str = "an argument of a type that is not known; its size is skipped";

/// Argument types up to this are known.
const LAST_TYPE: u64 = 10;

/// The value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgValue<'a> {
    /// Type 0.
    Null,
    /// Type 1.
    Int32(i32),
    /// Type 2.
    UInt32(u32),
    /// Type 3.
    Int64(i64),
    /// Type 4.
    UInt64(u64),
    /// Type 5.
    Double(f64),
    /// Type 6.
    Text(TextRef<'a>),
    /// Type 7.
    Pointer(u64),
    /// Type 8: a kernel object's number.
    Koid(u64),
    /// Type 9.
    Bool(bool),
    /// Type 10.
    Blob(&'a [u8]),
    /// A type that newer writers may have added.
    Unknown(u8),
}

/// One argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arg<'a> {
    /// Its name.
    pub name: TextRef<'a>,
    /// Its value.
    pub value: ArgValue<'a>,
}

/// An argument of one word, or of two, whose name stands in the string table, as does its value if that is a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainArg {
    /// Its type.
    pub kind: u64,
    /// The index of its name.
    pub name: u16,
    /// What the upper half of its header says for its type.
    pub high: u32,
    /// Its second word.
    pub word: Option<u64>,
}

/// How many words of a userspace object record say whose it is where no index does: one for the process, and in files of
/// some writers one more for the thread. The record's size tells.
#[must_use]
pub fn object_owner_words<O: Order>(header: u64, record: Words<'_, O>) -> usize {
    if bits(header, 16, 23) != 0 {
        return 0;
    }
    let fills_record = |owner_words: usize| {
        let mut next = 2 + owner_words;
        let has_name = read_text(bits(header, 24, 39), record, &mut next).is_some();
        let args = Args::new(record, next, bits(header, 40, 43));
        has_name && args.skip_all() == Some(record.count())
    };
    match !fills_record(1) && fills_record(2) {
        true => 2,
        false => 1,
    }
}

/// Walks the arguments of a record.
#[derive(Clone, Debug)]
pub struct Args<'a, O> {
    record: Words<'a, O>,
    at: usize,
    left: u64,
    is_bad: bool,
}

impl<'a, O: Order> Args<'a, O> {
    /// The `count` arguments that start at word `at` of `record`.
    #[inline]
    #[must_use]
    pub fn new(record: Words<'a, O>, at: usize, count: u64) -> Args<'a, O> {
        Args {
            record,
            at,
            left: count,
            is_bad: false,
        }
    }

    /// Whether an argument's size was impossible, or its contents did not fit in it.
    #[inline]
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.is_bad
    }

    /// Passes all arguments without looking at them; the number of the word behind them.
    #[inline]
    #[must_use]
    pub fn skip_all(self) -> Option<usize> {
        self.skip_counting().map(|(behind, _)| behind)
    }

    /// The word that stands behind all arguments.
    #[must_use]
    pub fn word_behind(&self) -> Option<u64> {
        self.record.get(self.clone().skip_all()?)
    }

    /// Whether all were taken.
    #[inline]
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// The next argument, if it is a plain one. Where it is not, nothing is taken.
    #[inline]
    pub fn next_plain(&mut self) -> Option<PlainArg> {
        if self.is_done() {
            return None;
        }
        let header = self.record.get(self.at)?;
        let (kind, name) = (bits(header, 0, 3), bits(header, 16, 31) as u16);
        let high = bits(header, 32, 63) as u32;
        let (size, high) = match kind {
            0 => (1, 0),
            1 | 2 => (1, high),
            3..=5 | 7 | 8 => (2, 0),
            6 if high & 0x8000 == 0 => (1, high & 0xffff),
            9 => (1, high & 1),
            _ => return None,
        };
        if name & 0x8000 != 0 || bits(header, 4, 15) != size {
            return None;
        }
        let word = match size {
            1 => None,
            _ => Some(self.record.get(self.at + 1)?),
        };
        self.at += size as usize;
        self.left -= 1;
        Some(PlainArg {
            kind,
            name,
            high,
            word,
        })
    }

    /// The same, and how many have a type that is not known.
    #[inline]
    #[must_use]
    pub fn skip_counting(mut self) -> Option<(usize, u64)> {
        let mut unknown_count = 0;
        while self.left > 0 {
            let header = self.record.get(self.at)?;
            let size = bits(header, 4, 15) as usize;
            if size == 0 || self.at + size > self.record.count() {
                return None;
            }
            unknown_count += u64::from(bits(header, 0, 3) > LAST_TYPE);
            self.at += size;
            self.left -= 1;
        }
        Some((self.at, unknown_count))
    }

    fn value(&mut self, header: u64, words: Words<'a, O>, at: &mut usize) -> Option<ArgValue<'a>> {
        let high = bits(header, 32, 63);
        Some(match bits(header, 0, 3) as u8 {
            0 => ArgValue::Null,
            1 => ArgValue::Int32(high as u32 as i32),
            2 => ArgValue::UInt32(high as u32),
            3 => ArgValue::Int64(words.get(*at)? as i64),
            4 => ArgValue::UInt64(words.get(*at)?),
            5 => ArgValue::Double(f64::from_bits(words.get(*at)?)),
            6 => ArgValue::Text(read_text(high, words, at)?),
            7 => ArgValue::Pointer(words.get(*at)?),
            8 => ArgValue::Koid(words.get(*at)?),
            9 => ArgValue::Bool(high & 1 == 1),
            10 => ArgValue::Blob(words.text(*at, usize::try_from(high).ok()?)?),
            other => ArgValue::Unknown(other),
        })
    }
}

impl<'a, O: Order> Iterator for Args<'a, O> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        while self.left > 0 {
            let Some(header) = self.record.get(self.at) else {
                self.is_bad = true;
                break;
            };
            let size = bits(header, 4, 15) as usize;
            if size == 0 || self.at + size > self.record.count() {
                self.is_bad = true;
                break;
            }
            let words = self.record.from(self.at).up_to(size);
            self.at += size;
            self.left -= 1;
            let mut at = 1;
            let reference = bits(header, 16, 31);
            // A name that claims more than its argument holds (a NUL counted twice) is cut to what is there.
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
    use super::super::header::Little;
    use super::*;

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
                    value: ArgValue::Unknown(11)
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
