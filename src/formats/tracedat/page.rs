//! Reads the raw records of a ring-buffer page in time order.
//!
//! ```text
//! page:   time u64 | commit: 4 or 8 bytes, as header_page states | records
//!         commit: bits 0 to 26: bytes of records | bit 31: events were lost before this page
//!                 | bits 30 and 31: the number of lost events follows the records
//! record: u32 with type in 5 bits, time delta in 27 (type: the low bits in little endian, the high bits in big endian)
//!         1..=28 data of type * 4 bytes | 0: u32 length + 4, data | 29 padding: u32 bytes to skip
//!         30 delta, upper bits in the next u32 | 31 absolute time, upper bits in the next u32
//! ```
//!
//! Does not read event formats: a record's payload is returned as bytes.

use super::event_format::HeaderPage;
use crate::base::{ByteOrder, Endian};
use crate::tracedat::layout::{Layout, Lost, bits};

/// Returns the layout that the file's header_page describes; without a header_page, that of a 64-bit kernel.
#[must_use]
pub(crate) fn layout_of(page: Option<&HeaderPage>) -> Layout {
    match page {
        Some(page) if page.commit == (8, 4) => Layout {
            commit_size: 4,
            data: (page.data_offset as usize).clamp(12, 64),
        },
        Some(page) => Layout {
            commit_size: 8,
            data: (page.data_offset as usize).clamp(16, 64),
        },
        None => Layout {
            commit_size: 8,
            data: 16,
        },
    }
}

/// The start of a page, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// Raw time to which the delta of the first record is added.
    pub time: u64,
    /// Offset of the end of the records in the page, in bytes.
    pub end: usize,
    /// Whether events were lost before the page.
    pub lost: Lost,
    /// Whether the page states a length of records that exceeds its size.
    pub is_damaged: bool,
}

/// Reads the start of a page. `None` if the page is too short.
#[inline]
#[must_use]
pub fn read_head<E: ByteOrder>(page: &[u8], layout: Layout) -> Option<PageHead> {
    let time = E::u64(*page.first_chunk::<8>()?);
    let commit_bytes = page.get(8..8 + layout.commit_size)?;
    let commit = match commit_bytes.len() {
        4 => u64::from(E::u32(*commit_bytes.first_chunk()?)),
        _ => E::u64(*commit_bytes.first_chunk()?),
    };
    let room = page.len().checked_sub(layout.data)?;
    let length = (commit & bits::COMMIT_BYTES) as usize;
    let end = layout.data + length.min(room);
    let lost = match (commit & bits::HAS_LOST, commit & bits::HAS_LOST_COUNT) {
        (0, _) => Lost::No,
        (_, 0) => Lost::Some,
        _ => page
            .get(end..end + layout.commit_size)
            .map_or(Lost::Some, |number| match number.first_chunk::<8>() {
                Some(number) => Lost::Count(E::u64(*number)),
                None => number
                    .first_chunk::<4>()
                    .map_or(Lost::Some, |number| Lost::Count(u64::from(E::u32(*number)))),
            }),
    };
    Some(PageHead {
        time,
        end,
        lost,
        is_damaged: length > room,
    })
}

/// One record of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Raw time of the event.
    pub time: u64,
    /// Offset of its header in the page, in bytes.
    pub at: usize,
    /// The bytes of the event.
    pub payload: &'a [u8],
}

/// Iterates over the records of a page. Ends at the end of the page or at the first damaged record.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a, E> {
    /// The bytes of the page up to the end of its records.
    page: &'a [u8],
    at: usize,
    time: u64,
    is_damaged: bool,
    order: std::marker::PhantomData<E>,
}

impl<'a, E: ByteOrder> Records<'a, E> {
    /// Returns an iterator that starts at the first record of `page`.
    #[inline]
    #[must_use]
    pub fn new(page: &'a [u8], layout: Layout, head: &PageHead) -> Records<'a, E> {
        Records::resume(page, head.end, layout.data, head.time)
    }

    /// Returns an iterator that starts at the record at offset `at`; `time` is the raw time of the previous record.
    #[inline]
    #[must_use]
    pub(crate) fn resume(page: &'a [u8], end: usize, at: usize, time: u64) -> Records<'a, E> {
        Records {
            page: page.get(..end).unwrap_or(page),
            at,
            time,
            is_damaged: false,
            order: std::marker::PhantomData,
        }
    }

    /// Returns the offset of the next record's header in the page.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns whether the iteration ended at a damaged record.
    #[must_use]
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    #[inline(always)]
    fn u32_at(&self, at: usize) -> Option<u32> {
        Some(E::u32(*self.page.get(at..)?.first_chunk()?))
    }

    /// Reads a record whose length is stored in the word after its header (type 0).
    #[inline]
    fn long_record(&mut self, at: usize, delta: u64) -> Option<Record<'a>> {
        let length = self.u32_at(at + 4).and_then(|length| length.checked_sub(4));
        let payload = length
            .filter(|&length| length > 0)
            .and_then(|length| self.page.get(at + 8..)?.get(..length as usize));
        let Some(payload) = payload else {
            self.stop();
            return None;
        };
        self.time = self.time.wrapping_add(delta);
        self.at = at + 8 + ((payload.len() + 3) & !3);
        Some(Record {
            time: self.time,
            at,
            payload,
        })
    }

    /// Skips a record that is not an event (types 29 to 31); `false` at the end of the page.
    #[inline(never)]
    fn skip(&mut self, at: usize, sort: u32, delta: u64) -> bool {
        let next = self.u32_at(at + 4);
        match (sort, next) {
            (bits::PADDING, None | Some(0)) if delta == 0 => {
                self.at = self.page.len();
                return false;
            }
            (_, None) => {
                self.stop();
                return false;
            }
            (bits::PADDING, Some(length)) => {
                self.time = self.time.wrapping_add(delta);
                self.at = at + 4 + ((length as usize + 3) & !3);
            }
            (bits::TIME_EXTEND, Some(high)) => {
                let delta = delta.wrapping_add(u64::from(high) << bits::DELTA_BITS);
                self.time = self.time.wrapping_add(delta);
                self.at = at + 8;
            }
            (_, Some(high)) => {
                let mut time = delta.wrapping_add(u64::from(high) << bits::DELTA_BITS);
                // An absolute time has 59 bits. The top 5 bits are those of the previous time; if the time would
                // decrease, the 59 bits have wrapped.
                let top = self.time & (0x1f << 59);
                if top != 0 {
                    time = (time & !(0x1f << 59)) | top;
                    if time < self.time {
                        time = time.wrapping_add(1 << 59);
                    }
                }
                self.time = time;
                self.at = at + 8;
            }
        }
        true
    }

    #[cold]
    fn stop(&mut self) {
        self.is_damaged = true;
        self.at = self.page.len();
    }
}

impl<'a, E: ByteOrder> Iterator for Records<'a, E> {
    type Item = Record<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let at = self.at;
            let rest = self.page.get(at..)?;
            let Some(head) = rest.first_chunk::<4>() else {
                if !rest.is_empty() {
                    self.stop();
                }
                return None;
            };
            let head = E::u32(*head);
            let (sort, delta) = if E::ENDIAN == Endian::Big {
                (head >> bits::DELTA_BITS, u64::from(head) & bits::MAX_DELTA)
            } else {
                (head & 31, u64::from(head >> 5))
            };
            if sort.wrapping_sub(1) < bits::MAX_WORDS {
                let length = sort as usize * 4;
                let Some(payload) = rest.get(4..4 + length) else {
                    self.stop();
                    return None;
                };
                self.time = self.time.wrapping_add(delta);
                self.at = at + 4 + length;
                return Some(Record {
                    time: self.time,
                    at,
                    payload,
                });
            }
            if sort == bits::LONG {
                return self.long_record(at, delta);
            }
            if !self.skip(at, sort, delta) {
                return None;
            }
        }
    }
}

/// Returns the payload of the record whose header is at offset `at` in `page`.
#[must_use]
pub fn payload_at<E: ByteOrder>(page: &[u8], at: usize) -> Option<&[u8]> {
    let mut records = Records::<E>::resume(page, page.len(), at, 0);
    records
        .next()
        .filter(|record| record.at == at)
        .map(|record| record.payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Big, Little};

    const LAYOUT: Layout = Layout {
        commit_size: 8,
        data: 16,
    };

    /// Returns a page of 128 bytes with these words as records.
    fn page<E: ByteOrder>(flags: u64, words: &[u32]) -> Vec<u8> {
        let commit = (words.len() as u64 * 4) | flags;
        let mut page = Vec::new();
        let swap = |number: u64| {
            if E::ENDIAN == Endian::Big {
                number.swap_bytes()
            } else {
                number
            }
        };
        page.extend(swap(1000).to_le_bytes());
        page.extend(swap(commit).to_le_bytes());
        for &word in words {
            let word = if E::ENDIAN == Endian::Big {
                word.swap_bytes()
            } else {
                word
            };
            page.extend(word.to_le_bytes());
        }
        page.resize(128, 0);
        page
    }

    fn head<E: ByteOrder>(sort: u32, delta: u32) -> u32 {
        if E::ENDIAN == Endian::Big {
            sort << 27 | delta
        } else {
            sort | delta << 5
        }
    }

    fn times<E: ByteOrder>(words: &[u32]) -> (Vec<(u64, usize, usize)>, bool) {
        let page = page::<E>(0, words);
        let start = read_head::<E>(&page, LAYOUT).unwrap();
        let mut records = Records::<E>::new(&page, LAYOUT, &start);
        let all = records
            .by_ref()
            .map(|record| (record.time, record.at, record.payload.len()))
            .collect();
        (all, records.is_damaged())
    }

    fn all_sorts<E: ByteOrder>() {
        let words = [
            head::<E>(2, 5),
            1,
            2,
            head::<E>(0, 1),
            10,
            3,
            4,
            head::<E>(30, 3),
            1,
            head::<E>(29, 7),
            8,
            0,
            head::<E>(1, 0),
            9,
            head::<E>(31, 77),
            2,
            head::<E>(1, 1),
            9,
            head::<E>(29, 0),
            0,
            1,
            2,
        ];
        let late = 1006 + 3 + (1 << 27) + 7;
        assert_eq!(
            times::<E>(&words),
            (
                vec![
                    (1005, 16, 8),
                    (1006, 28, 6),
                    (late, 64, 4),
                    (78 + (2 << 27), 80, 4)
                ],
                false
            )
        );
        let page = page::<E>(0, &words);
        assert_eq!(payload_at::<E>(&page, 28).unwrap().len(), 6);
    }

    #[test]
    fn every_sort_of_record_in_both_byte_orders() {
        all_sorts::<Little>();
        all_sorts::<Big>();
    }

    #[test]
    fn damaged_records_end_the_page() {
        let le = head::<Little>;
        for words in [
            &[le(28, 0), 1][..],
            &[le(0, 0), 3],
            &[le(0, 0), 400],
            &[le(30, 1)],
        ] {
            assert_eq!(times::<Little>(words), (vec![], true), "{words:?}");
        }
    }

    #[test]
    fn lost_events_are_told() {
        let mut bytes = page::<Little>(3 << 30 | 0xffff_ffff << 32, &[head::<Little>(1, 0), 0]);
        bytes[24] = 77;
        let start = read_head::<Little>(&bytes, LAYOUT).unwrap();
        assert_eq!((start.lost, start.end), (Lost::Count(77), 24));
        let bytes = page::<Big>(2 << 30, &[]);
        assert_eq!(read_head::<Big>(&bytes, LAYOUT).unwrap().lost, Lost::Some);
        let bytes = page::<Big>(5000, &[]);
        let start = read_head::<Big>(&bytes, LAYOUT).unwrap();
        assert!(start.is_damaged && start.end == 128);
        assert_eq!(read_head::<Big>(&bytes[..12], LAYOUT), None);
    }

    #[test]
    fn absolute_times_keep_the_top_bits() {
        let words = [head::<Little>(31, 5), 0, head::<Little>(1, 0), 0];
        let mut bytes = page::<Little>(0, &words);
        let start = (1_u64 << 60) + 100;
        bytes[..8].copy_from_slice(&start.to_le_bytes());
        let begin = read_head::<Little>(&bytes, LAYOUT).unwrap();
        let record = Records::<Little>::new(&bytes, LAYOUT, &begin)
            .next()
            .unwrap();
        // 5 is less than 100: the 59 bits have wrapped.
        assert_eq!(record.time, (1 << 60) + (1 << 59) + 5);
    }
}
