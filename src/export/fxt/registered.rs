//! The entries of the fixed tables that a file contains: each is registered before the first chunk that uses it.

use super::fixed_tables::FixedTables;
use super::records::Records;
use crate::base::StringId;

/// The entries of the fixed tables to which records refer: only these must be in the file.
#[derive(Clone, Debug)]
pub(crate) struct Used {
    /// A bit for every possible reference; the bits of inline texts are also set, and ignored.
    strings: Box<[u64; 1024]>,
    threads: [u64; 4],
}

impl Used {
    pub(super) fn none() -> Used {
        Used {
            strings: Box::new([0; 1024]),
            threads: [0; 4],
        }
    }

    #[inline]
    pub(super) fn string(&mut self, bits: u16) {
        self.strings[usize::from(bits >> 6)] |= 1 << (bits & 63);
    }

    #[inline]
    pub(super) fn thread(&mut self, index: u8) {
        self.threads[usize::from(index >> 6)] |= 1 << (index & 63);
    }
}

/// The entries of the fixed tables that the file contains so far.
#[derive(Debug)]
pub(crate) struct Registered<'t> {
    fixed: &'t FixedTables,
    known: Used,
}

impl<'t> Registered<'t> {
    /// Returns a state without registered entries.
    pub(super) fn new(fixed: &'t FixedTables) -> Registered<'t> {
        Registered {
            fixed,
            known: Used::none(),
        }
    }

    /// Returns records for the entries that a chunk uses and the file lacks: they come before the chunk.
    pub(crate) fn before(&mut self, used: &Used) -> Records<'t> {
        let mut records = Records::with_buffer(self.fixed, Vec::new());
        let last_string = self.fixed.zones.strings;
        for (number, (known, used)) in self
            .known
            .strings
            .iter_mut()
            .zip(&*used.strings)
            .enumerate()
        {
            let new = used & !*known;
            *known |= new;
            if new == 0 {
                continue;
            }
            for bit in (0..64).filter(|bit| new >> bit & 1 == 1) {
                let index = (number * 64 + bit) as u16;
                if (1..=last_string).contains(&index) {
                    let bytes = self.fixed.strings.bytes(StringId(u32::from(index)));
                    records.string_record(index, bytes);
                }
            }
        }
        for (at, &koids) in self.fixed.thread_order.iter().enumerate() {
            let (word, bit) = ((at + 1) / 64, (at + 1) % 64);
            if used.threads[word] & !self.known.threads[word] & 1 << bit != 0 {
                self.known.threads[word] |= 1 << bit;
                records.thread_record(at as u8 + 1, koids);
            }
        }
        records
    }
}
