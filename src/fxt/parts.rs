//! The parts of a record that matter when it is copied: the entries of the string and thread tables that it refers to,
//! and which of its words are bytes instead of numbers.

use std::ops::Range;

use super::args::object_owner_words;
use super::layout::scheduling::{self, legacy};
use super::layout::{
    INLINE_TEXT, RECORD_TYPE, argument, blob, event, kernel_object, large, log, metadata, profiler,
    record_type, userspace_object,
};
use super::words::Words;
use crate::base::ByteOrder;

/// Receives the parts of a record.
pub(crate) trait Parts {
    /// The record refers to an entry of the string table.
    fn string(&mut self, _index: u16) {}
    /// The record refers to an entry of the thread table.
    fn thread(&mut self, _index: u8) {}
    /// These words of the record are bytes, which are not swapped for another byte order.
    fn bytes(&mut self, _words: Range<usize>) {}
    /// The word after the arguments of an event.
    fn last_word(&mut self, _word: u64) {}
    /// An argument has an unknown type: it may refer to table entries that cannot be found.
    fn unknown(&mut self) {}
}

/// Calls `parts` for each part of a record, in order. `None` if the record is too short for its content.
pub(crate) fn visit<O: ByteOrder>(record: Words<'_, O>, parts: &mut impl Parts) -> Option<()> {
    let header = record.get(0)?;
    let mut walk = Walk {
        record,
        at: 2,
        parts,
    };
    match RECORD_TYPE.get(header) {
        record_type::METADATA if metadata::KIND.get(header) == metadata::PROVIDER_INFO => {
            walk.at = 1;
            walk.rest()
        }
        record_type::STRING => {
            walk.at = 1;
            walk.rest()
        }
        record_type::EVENT => {
            walk.thread(event::THREAD.get(header))?;
            walk.text(event::CATEGORY.get(header))?;
            walk.text(event::NAME.get(header))?;
            walk.args(event::ARGS.get(header))?;
            match event::KIND.get(header) {
                event::INSTANT | event::BEGIN | event::END => Some(()),
                _ => {
                    let word = record.get(walk.at)?;
                    walk.parts.last_word(word);
                    Some(())
                }
            }
        }
        record_type::BLOB => {
            walk.at = 1;
            walk.text(blob::NAME.get(header))?;
            walk.rest()
        }
        record_type::USERSPACE_OBJECT => {
            walk.at += object_owner_words(header, record);
            match userspace_object::THREAD.get(header) {
                0 => {}
                index => walk.parts.thread(index as u8),
            }
            walk.text(userspace_object::NAME.get(header))?;
            walk.args(userspace_object::ARGS.get(header))
        }
        record_type::KERNEL_OBJECT => {
            walk.text(kernel_object::NAME.get(header))?;
            walk.args(kernel_object::ARGS.get(header))
        }
        record_type::SCHEDULING => match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => {
                walk.thread(legacy::OUTGOING.get(header))?;
                walk.thread(legacy::INCOMING.get(header))
            }
            scheduling::SWITCH => {
                walk.at = 4;
                walk.args(scheduling::ARGS.get(header))
            }
            _ => {
                walk.at = 3;
                walk.args(scheduling::ARGS.get(header))
            }
        },
        record_type::LOG => {
            walk.thread(log::THREAD.get(header))?;
            walk.take((log::BYTES.get(header) as usize).div_ceil(8))
        }
        record_type::PROFILER => {
            // An inline thread has one or two words, depending on the writer. So a module's names, which end the
            // record, are located from its end.
            match profiler::THREAD.get(header) {
                0 => {}
                index => walk.parts.thread(index as u8),
            }
            if profiler::KIND.get(header) == profiler::A_MODULE {
                let name = (profiler::NAME_BYTES.get(header) as usize).div_ceil(8);
                let build_id = (profiler::BUILD_ID_BYTES.get(header) as usize).div_ceil(8);
                walk.at = record.count().checked_sub(name + build_id)?;
                return walk.rest();
            }
            Some(())
        }
        record_type::LARGE => {
            let fields = record.get(1)?;
            walk.text(large::CATEGORY.get(fields))?;
            walk.text(large::NAME.get(fields))?;
            if large::FORMAT.get(header) == large::EVENT {
                walk.at += 1;
                walk.thread(large::THREAD.get(fields))?;
                walk.args(large::ARGS.get(fields))?;
            }
            record.get(walk.at)?;
            walk.at += 1;
            walk.rest()
        }
        _ => Some(()),
    }
}

/// The words of a record that were not visited yet.
struct Walk<'r, 'p, O, P> {
    record: Words<'r, O>,
    at: usize,
    parts: &'p mut P,
}

impl<O: ByteOrder, P: Parts> Walk<'_, '_, O, P> {
    fn take(&mut self, count: usize) -> Option<()> {
        let end = self.at.checked_add(count)?;
        (end <= self.record.count()).then_some(())?;
        self.parts.bytes(self.at..end);
        self.at = end;
        Some(())
    }

    fn rest(&mut self) -> Option<()> {
        self.take(self.record.count().checked_sub(self.at)?)
    }

    fn text(&mut self, reference: u64) -> Option<()> {
        let reference = reference as u16;
        if reference & INLINE_TEXT != 0 {
            return self.take(usize::from(reference & !INLINE_TEXT).div_ceil(8));
        }
        if reference != 0 {
            self.parts.string(reference);
        }
        Some(())
    }

    fn thread(&mut self, reference: u64) -> Option<()> {
        match reference {
            0 => {
                self.at += 2;
                (self.at <= self.record.count()).then_some(())
            }
            index => {
                self.parts.thread(index as u8);
                Some(())
            }
        }
    }

    fn args(&mut self, count: u64) -> Option<()> {
        for _ in 0..count {
            let header = self.record.get(self.at)?;
            let size = argument::WORDS.get(header) as usize;
            let end = self.at.checked_add(size)?;
            if size == 0 || end > self.record.count() {
                return None;
            }
            let whole = self.record;
            self.record = whole.up_to(end);
            self.at += 1;
            // A name that is longer than its argument is cut to the bytes that are there.
            let name = argument::NAME.get(header);
            if self.text(name).is_none() {
                self.rest()?;
            }
            match argument::KIND.get(header) {
                argument::TEXT => self.text(argument::HIGH.get(header))?,
                argument::BLOB => {
                    self.take((argument::HIGH.get(header) as usize).div_ceil(8))?;
                }
                argument::INT64
                | argument::UINT64
                | argument::DOUBLE
                | argument::POINTER
                | argument::KOID => {
                    self.record.get(self.at)?;
                }
                kind if kind > argument::BLOB => self.parts.unknown(),
                _ => {}
            }
            self.record = whole;
            self.at = end;
        }
        Some(())
    }
}

/// Appends a record to `out` in little-endian byte order.
pub(crate) fn push_little<O: ByteOrder>(record: Words<'_, O>, out: &mut Vec<u8>) {
    struct Texts(Vec<Range<usize>>);
    impl Parts for Texts {
        fn bytes(&mut self, words: Range<usize>) {
            self.0.push(words);
        }
    }
    let mut texts = Texts(Vec::new());
    // If the record is too short, the texts before its end are still found.
    let _is_whole = visit(record, &mut texts);
    let mut at = 0;
    let numbers = |out: &mut Vec<u8>, words: Range<usize>| {
        for index in words {
            let word = record.get(index).unwrap_or(0);
            out.extend_from_slice(&word.to_le_bytes());
        }
    };
    for Range { start, end } in texts.0 {
        numbers(out, at..start);
        out.extend_from_slice(record.text(start, (end - start) * 8).unwrap_or(&[]));
        at = end;
    }
    numbers(out, at..record.count());
}

#[cfg(test)]
mod tests {
    use super::super::layout::{RECORD_WORDS, record_type};
    use super::*;
    use crate::base::{Big, Little};

    /// Returns an instant with an inline name, a text argument in the table, an inline text and a number.
    fn words() -> Vec<u64> {
        let text = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let arg = |kind, words, name: u64| {
            argument::KIND.put(kind) | argument::WORDS.put(words) | argument::NAME.put(name)
        };
        let mut words = vec![
            RECORD_TYPE.put(record_type::EVENT)
                | event::ARGS.put(3)
                | event::THREAD.put(7)
                | event::CATEGORY.put(3)
                | event::NAME.put(0x8003),
            1000,
            text(b"abc\0\0\0\0\0"),
            arg(argument::TEXT, 1, 4) | argument::HIGH.put(5),
            arg(argument::TEXT, 2, 6) | argument::HIGH.put(0x8002),
            text(b"xy\0\0\0\0\0\0"),
            arg(argument::UINT64, 2, 8),
            77,
        ];
        words[0] |= RECORD_WORDS.put(words.len() as u64);
        words
    }

    #[derive(Default)]
    struct Found(Vec<u64>);

    impl Parts for Found {
        fn string(&mut self, index: u16) {
            self.0.push(index.into());
        }

        fn thread(&mut self, index: u8) {
            self.0.push(100 + u64::from(index));
        }

        fn bytes(&mut self, words: Range<usize>) {
            self.0.push(1000 * words.start as u64 + words.end as u64);
        }
    }

    #[test]
    fn references_and_bytes_are_found_and_short_records_noticed() {
        let bytes: Vec<u8> = words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut found = Found::default();
        assert_eq!(visit(Words::<Little>::new(&bytes), &mut found), Some(()));
        assert_eq!(found.0, [107, 3, 2003, 4, 5, 6, 5006, 8]);
        for count in 1..words().len() {
            let short = Words::<Little>::new(&bytes[..count * 8]);
            assert_eq!(visit(short, &mut Found::default()), None, "{count}");
        }
    }

    #[test]
    fn numbers_are_turned_and_texts_are_not() {
        let little: Vec<u8> = words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let is_text = |index: usize| index == 2 || index == 5;
        let big: Vec<u8> = words()
            .iter()
            .enumerate()
            .flat_map(|(index, word)| match is_text(index) {
                true => word.to_le_bytes(),
                false => word.to_be_bytes(),
            })
            .collect();
        let mut out = Vec::new();
        push_little(Words::<Big>::new(&big), &mut out);
        assert_eq!(out, little);
        out.clear();
        push_little(Words::<Little>::new(&little), &mut out);
        assert_eq!(out, little);
    }
}
