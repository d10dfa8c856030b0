//! Profiler records (type 10): modules, memory mappings and backtraces of a sampling profiler.
//!
//! ```text
//! header: 16..19 subtype | 20..27 thread reference; ticks | [process [, thread]] | then, depending on the subtype:
//! 0 module     28..43 module id | 44..51 name bytes | 52..59 build id bytes; name, build id
//! 1 mapping    28..43 module id | 44..46 flags; start address, length, address in the module
//! 2 backtrace  28..35 count; that many addresses, innermost first
//! ```
//!
//! Writers disagree whether an inline thread is one word or two: the record's size decides.
//!
//! Of the 50 FXT files of the corpus and the samples, 1 contains such records. It was made for tests, with a record of
//! every type.

use crate::base::ByteOrder;
use crate::fxt::layout::profiler;
use crate::fxt::words::Words;

/// Body of a profiler record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Profile<'a> {
    /// A loaded module.
    Module {
        id: u64,
        name: &'a [u8],
        build_id: &'a [u8],
    },
    /// A mapping of a module into memory.
    Mapping {
        module: u64,
        flags: u64,
        start: u64,
        length: u64,
        module_address: u64,
    },
    /// A call stack, innermost first.
    Backtrace(Vec<u64>),
}

/// Returns the length of the body after the inline thread, in words.
fn body_words(header: u64) -> Option<usize> {
    Some(match profiler::KIND.get(header) {
        profiler::A_MODULE => {
            let name = profiler::NAME_BYTES.get(header) as usize;
            let build_id = profiler::BUILD_ID_BYTES.get(header) as usize;
            name.div_ceil(8) + build_id.div_ceil(8)
        }
        profiler::A_MAPPING => 3,
        profiler::A_BACKTRACE => profiler::FRAMES.get(header) as usize,
        _ => return None,
    })
}

/// Returns the word index at which a record's body starts, after its thread.
fn body_at<O: ByteOrder>(header: u64, record: Words<'_, O>) -> Option<usize> {
    if profiler::THREAD.get(header) != 0 {
        return Some(2);
    }
    let extra = record.count().checked_sub(2 + body_words(header)?)?;
    Some(2 + extra.min(2))
}

/// Returns whether a record without a thread index contains both process and thread.
#[must_use]
pub(crate) fn has_two_word_thread<O: ByteOrder>(header: u64, record: Words<'_, O>) -> bool {
    body_at(header, record) == Some(4)
}

/// Reads a record's body; `None` if the record is too short for it.
#[must_use]
pub(crate) fn read_profile<O: ByteOrder>(record: Words<'_, O>) -> Option<Profile<'_>> {
    let header = record.get(0)?;
    let at = body_at(header, record)?;
    match profiler::KIND.get(header) {
        profiler::A_MODULE => {
            let name_bytes = profiler::NAME_BYTES.get(header) as usize;
            let build_id_bytes = profiler::BUILD_ID_BYTES.get(header) as usize;
            Some(Profile::Module {
                id: profiler::MODULE.get(header),
                name: record.text(at, name_bytes)?,
                build_id: record.text(at + name_bytes.div_ceil(8), build_id_bytes)?,
            })
        }
        profiler::A_MAPPING => Some(Profile::Mapping {
            module: profiler::MODULE.get(header),
            flags: profiler::FLAGS.get(header),
            start: record.get(at)?,
            length: record.get(at + 1)?,
            module_address: record.get(at + 2)?,
        }),
        profiler::A_BACKTRACE => {
            let count = profiler::FRAMES.get(header) as usize;
            (0..count)
                .map(|index| record.get(at + index))
                .collect::<Option<Vec<u64>>>()
                .map(Profile::Backtrace)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Little;

    #[test]
    fn the_size_tells_how_long_the_thread_is() {
        let header = 10 | 2 << 16 | 2 << 28;
        for (thread_words, is_two) in [(1, false), (2, true)] {
            let mut words = vec![header, 5];
            words.extend(std::iter::repeat_n(77, thread_words));
            words.extend([0x10, 0x20]);
            let bytes: Vec<u8> = words
                .iter()
                .flat_map(|word: &u64| word.to_le_bytes())
                .collect();
            let record = Words::<Little>::new(&bytes);
            assert_eq!(has_two_word_thread(header, record), is_two);
            assert_eq!(
                read_profile(record),
                Some(Profile::Backtrace(vec![0x10, 0x20]))
            );
        }
    }
}
