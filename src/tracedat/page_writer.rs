//! Builds ring-buffer pages from single records of a CPU.
//!
//! ```text
//! time u64 | commit: 4 or 8 bytes | records | number of lost events, if known | zeros up to the page's size
//! ```
//!
//! Payloads are kept; times become deltas to the previous record, with a time extension if 27 bits do not suffice.

use super::layout::{Layout, Lost, bits};
use crate::base::Endian;

/// Builds pages from records.
#[derive(Clone, Debug)]
pub struct PageWriter {
    endian: Endian,
    layout: Layout,
    page_size: usize,
    /// The finished pages, and the one that is being filled.
    pages: Vec<u8>,
    /// Offset in `pages` of the page that is being filled; `None` before the first page.
    open: Option<usize>,
    lost: Lost,
    last_time: u64,
}

impl PageWriter {
    /// Returns a writer without pages; pages will have `page_size` bytes.
    #[must_use]
    pub fn new(endian: Endian, layout: Layout, page_size: usize) -> PageWriter {
        PageWriter {
            endian,
            layout,
            page_size,
            pages: Vec::new(),
            open: None,
            lost: Lost::No,
            last_time: 0,
        }
    }

    /// Adds a record. `lost` states whether events were lost just before it. Returns `false` if the record is too large
    /// for a page.
    pub fn push(&mut self, time: u64, payload: &[u8], lost: Lost) -> bool {
        // The head of the page, and the number of lost events after the records, need room too.
        let least = self.layout.data + self.layout.commit_size;
        if least + record_bytes(payload.len()) > self.page_size {
            return false;
        }
        let delta = time.wrapping_sub(self.last_time);
        let is_far = delta > bits::MAX_DELTA;
        let needed = record_bytes(payload.len()) + if is_far { 8 } else { 0 };
        let fits = self.open.is_some_and(|start| {
            let used = self.pages.len() - start;
            used + needed + self.layout.commit_size <= self.page_size
        });
        // A time that decreases, or a loss, starts a new page: only the head of a page can state either.
        let delta = if !fits || lost != Lost::No || time < self.last_time {
            self.state_loss(time, lost);
            0
        } else if is_far {
            self.word(bits::TIME_EXTEND, delta);
            self.number((delta >> bits::DELTA_BITS) as u32);
            0
        } else {
            delta
        };
        self.record(delta, payload);
        self.last_time = time;
        true
    }

    /// Begins a page that states whether events were lost before `time`, whether or not a record follows.
    pub(crate) fn state_loss(&mut self, time: u64, lost: Lost) {
        self.close();
        self.start(time, lost);
    }

    /// Returns the pages.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.close();
        self.pages
    }

    fn start(&mut self, time: u64, lost: Lost) {
        self.open = Some(self.pages.len());
        let head = match self.endian {
            Endian::Little => time.to_le_bytes(),
            Endian::Big => time.to_be_bytes(),
        };
        self.pages.extend(head);
        let size = self.pages.len() - head.len() + self.layout.data;
        self.pages.resize(size, 0);
        (self.lost, self.last_time) = (lost, time);
    }

    /// Writes the commit counter of the open page, and fills the page with zeros.
    fn close(&mut self) {
        let Some(start) = self.open.take() else {
            return;
        };
        let used = (self.pages.len() - start - self.layout.data) as u64;
        let flags = match self.lost {
            Lost::No => 0,
            Lost::Some => bits::HAS_LOST,
            Lost::Count(count) => {
                self.long(count);
                bits::HAS_LOST | bits::HAS_LOST_COUNT
            }
        };
        let after = self.pages.len();
        self.long(used | flags);
        let commit = self.pages.split_off(after);
        let place = start + 8;
        if let Some(head) = self.pages.get_mut(place..place + commit.len()) {
            head.copy_from_slice(&commit);
        }
        self.pages.resize(start + self.page_size, 0);
    }

    fn record(&mut self, delta: u64, payload: &[u8]) {
        let words = payload.len().div_ceil(4);
        let is_short =
            payload.len().is_multiple_of(4) && (1..=bits::MAX_WORDS as usize).contains(&words);
        if is_short {
            self.word(words as u32, delta);
        } else {
            self.word(bits::LONG, delta);
            self.number(payload.len() as u32 + 4);
        }
        self.pages.extend_from_slice(payload);
        let padding = words * 4 - payload.len();
        self.pages.extend(std::iter::repeat_n(0, padding));
    }

    /// Writes the header of a record.
    fn word(&mut self, kind: u32, delta: u64) {
        let delta = (delta & bits::MAX_DELTA) as u32;
        self.number(match self.endian {
            Endian::Little => kind | delta << (u32::BITS - bits::DELTA_BITS),
            Endian::Big => kind << bits::DELTA_BITS | delta,
        });
    }

    fn number(&mut self, number: u32) {
        self.pages.extend(match self.endian {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        });
    }

    /// Writes a number of the size of the kernel's `long`.
    fn long(&mut self, number: u64) {
        match (self.layout.commit_size, self.endian) {
            (4, _) => self.number(number as u32),
            (_, Endian::Little) => self.pages.extend(number.to_le_bytes()),
            (_, Endian::Big) => self.pages.extend(number.to_be_bytes()),
        }
    }
}

/// Returns the size of a record in a page, in bytes, without a time extension.
fn record_bytes(payload: usize) -> usize {
    8 + payload.next_multiple_of(4)
}
