//! Profiler records (type 10): modules, memory mappings and backtraces of a sampling profiler.
//!
//! ```text
//! header: 16..19 subtype | 20..27 thread reference; ticks | [process [, thread]] | then by subtype
//! 0 module     28..43 module id | 44..51 name bytes | 52..59 build id bytes; name, build id
//! 1 mapping    28..43 module id | 44..46 flags; start address, length, address in the module
//! 2 backtrace  28..35 count; that many addresses, innermost first
//! ```
//!
//! Writers disagree whether an inline thread is one word or two: the record's size tells.

use super::header::{Order, Words, bits};

/// What a profiler record says after its thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Profile<'a> {
    /// A loaded module.
    Module {
        id: u64,
        name: &'a [u8],
        build_id: &'a [u8],
    },
    /// Where a module is mapped.
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

/// How many words follow the inline thread.
fn body_words(header: u64) -> Option<usize> {
    Some(match bits(header, 16, 19) {
        0 => {
            let name = bits(header, 44, 51) as usize;
            let build_id = bits(header, 52, 59) as usize;
            name.div_ceil(8) + build_id.div_ceil(8)
        }
        1 => 3,
        2 => bits(header, 28, 35) as usize,
        _ => return None,
    })
}

/// The word where a record's body starts: behind its thread.
fn body_at<O: Order>(header: u64, record: Words<'_, O>) -> Option<usize> {
    if bits(header, 20, 27) != 0 {
        return Some(2);
    }
    let extra = record.count().checked_sub(2 + body_words(header)?)?;
    Some(2 + extra.min(2))
}

/// Whether a record without thread index names both process and thread.
#[must_use]
pub fn has_two_word_thread<O: Order>(header: u64, record: Words<'_, O>) -> bool {
    body_at(header, record) == Some(4)
}

/// Reads what the record says; `None` if it is too short for that.
#[must_use]
pub fn read_profile<O: Order>(record: Words<'_, O>) -> Option<Profile<'_>> {
    let header = record.get(0)?;
    let at = body_at(header, record)?;
    match bits(header, 16, 19) {
        0 => {
            let name_bytes = bits(header, 44, 51) as usize;
            let build_id_bytes = bits(header, 52, 59) as usize;
            Some(Profile::Module {
                id: bits(header, 28, 43),
                name: record.text(at, name_bytes)?,
                build_id: record.text(at + name_bytes.div_ceil(8), build_id_bytes)?,
            })
        }
        1 => Some(Profile::Mapping {
            module: bits(header, 28, 43),
            flags: bits(header, 44, 46),
            start: record.get(at)?,
            length: record.get(at + 1)?,
            module_address: record.get(at + 2)?,
        }),
        2 => {
            let count = bits(header, 28, 35) as usize;
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
    use super::super::header::Little;
    use super::*;

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
