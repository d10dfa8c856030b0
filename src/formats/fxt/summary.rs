//! Summarises a part without the parts before it: reads the headers of its records, and keeps those whose meaning
//! depends on what came before (facts, in file order), and the threads that it names.
//!
//! A fact takes 8 bytes; its thread, koid or time is the next element of a list of its own:
//!
//! ```text
//! facts: string 7 | thread 3 | pair | record | scheduled | ...     pairs: (process, thread), for `thread` and `pair`
//!                                                                  koids: for `scheduled`; timed: for `record`
//! ```

use std::marker::PhantomData;

use rustc_hash::FxHashSet;

use crate::base::{ByteOrder, Cancelled, Diagnostics, Job, Location, Severity};
use crate::fxt::layout::scheduling::{self, legacy};
use crate::fxt::layout::{
    RECORD_TYPE, event, large, log, metadata, profiler, record_type, string, thread,
};
use crate::fxt::words::{Words, fetch_ahead, size_bytes};

const CHECK_BYTES: u64 = 1 << 20;
/// The summaries count as one part in this number of the progress; reading counts as the others.
pub(crate) const SHARE: u64 = 8;

/// A process and one of its threads, by their koids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    /// Koid of the process.
    pub process: u64,
    /// Koid of the thread.
    pub thread: u64,
}

/// A record that only [`State`](super::fold::State) can interpret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A string record with this index.
    String(u16),
    /// A thread record with this index.
    Thread(u8),
    /// The first record of the part with this inline thread.
    Pair,
    /// The first scheduling record of the part with this thread koid.
    Scheduled,
    /// A record that must be read again when the tables before it are known; there are few.
    Record,
    /// An event that may describe the loss before it; see `loss_facts`.
    MayDescribeLoss,
    /// A scheduling record: the events after it cannot describe the loss before it.
    NoLossFacts,
}

/// A fact and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    /// Offset of the record from the start of the summary, in words.
    words: u32,
    /// The kind of fact.
    pub what: What,
}

/// Summary of the records from a record border to the first border of the next part.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    /// Offset of the first record; `None` if no border was found in the part, which is then not summarised.
    pub start: Option<u64>,
    /// Offset after the last record.
    pub end: u64,
    /// Whether no record can be read after `end`.
    pub is_last: bool,
    /// The facts, in file order.
    pub facts: Vec<Fact>,
    /// The threads of facts.
    pub pairs: Vec<Pair>,
    /// The thread koids of facts.
    pub koids: Vec<u64>,
    /// For each `Record` fact, the place of the part's last record with a time before it.
    pub timed: Vec<Option<u64>>,
    /// Place of the first record with a time. Here and in `timed`, events that may describe a loss are not counted.
    pub first_timed: Option<u64>,
    /// Place of the last record with a time.
    pub last_timed: Option<u64>,
    /// Number of records.
    pub record_count: u64,
    /// Diagnostics that need no tables.
    pub diagnostics: Diagnostics,
}

impl Summary {
    /// Returns the place of a fact.
    #[must_use]
    pub(crate) fn place_of(&self, fact: Fact) -> u64 {
        self.start.unwrap_or(0) + (u64::from(fact.words) << 3)
    }
}

/// Summarises the records from `start`, the first one, to the first border at or after `until`.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(crate) fn summarise<O: ByteOrder>(
    bytes: &[u8],
    start: u64,
    until: u64,
    job: &Job,
) -> Result<Summary, Cancelled> {
    let mut summariser = Summariser::<O>::new(start);
    summariser.run(bytes, until, job)?;
    Ok(summariser.found)
}

struct Summariser<O> {
    order: PhantomData<O>,
    start: u64,
    found: Summary,
    /// Whether the next event may describe the loss before it. Initially `true`, because the previous part may end with
    /// a loss.
    may_describe_loss: bool,
    /// All threads of `found.pairs`; recent threads need no look-up here.
    pairs: FxHashSet<Pair>,
    recent_pairs: Vec<Option<Pair>>,
    koids: FxHashSet<u64>,
    recent_koids: Vec<Option<u64>>,
}

/// Number of recent threads, which are found by the upper bits of a product.
pub(crate) const RECENT_COUNT: usize = 256;

/// Returns the index of a koid in a table of [`RECENT_COUNT`] entries.
#[inline]
pub(crate) fn recent_index(koid: u64) -> usize {
    (koid.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

impl Pair {
    /// Returns the pair's index in a table of [`RECENT_COUNT`] entries.
    #[inline]
    pub(crate) fn recent_index(self) -> usize {
        recent_index(self.thread ^ self.process.rotate_left(32))
    }
}

impl<O: ByteOrder> Summariser<O> {
    fn new(start: u64) -> Self {
        Summariser {
            order: PhantomData,
            start,
            found: Summary {
                start: Some(start),
                end: start,
                ..Summary::default()
            },
            may_describe_loss: true,
            pairs: FxHashSet::default(),
            recent_pairs: vec![None; RECENT_COUNT],
            koids: FxHashSet::default(),
            recent_koids: vec![None; RECENT_COUNT],
        }
    }

    fn run(&mut self, bytes: &[u8], until: u64, job: &Job) -> Result<(), Cancelled> {
        let mut at = self.start;
        job.check()?;
        let mut done = at;
        let mut count = 0_u64;
        while at < until {
            if at - done >= CHECK_BYTES {
                job.check()?;
                done = at;
            }
            let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..));
            let rest = rest.unwrap_or(&[]);
            let left = rest.len();
            let Some(&chunk) = rest.first_chunk::<8>() else {
                self.found.is_last = true;
                if left > 0 {
                    self.note("cut_record", Severity::Error, at, || {
                        format!(
                            "the file ends inside a record header, {left} of its 8 bytes are there"
                        )
                    });
                }
                break;
            };
            let header = O::u64(chunk);
            fetch_ahead(rest, 0);
            let Some(size) = size_bytes(header) else {
                if header == 0 {
                    self.note("zero_word", Severity::Info, at, || {
                        "a word of zeroes between two records was skipped".to_owned()
                    });
                    at += 8;
                    continue;
                }
                self.found.is_last = true;
                self.note("record_size_zero", Severity::Error, at, || {
                    format!("a record header of size 0: the {left} bytes from here cannot be read")
                });
                break;
            };
            let Some(record) = rest.get(..size) else {
                self.found.is_last = true;
                self.note("cut_record", Severity::Error, at, || {
                    format!("the file ends inside a record of {size} bytes: only {left} are there")
                });
                break;
            };
            if self.record(header, Words::new(record), at) {
                self.found.last_timed = Some(at);
                if self.found.first_timed.is_none() {
                    self.found.first_timed = Some(at);
                }
            }
            count += 1;
            at += size as u64;
        }
        self.found.end = at;
        self.found.record_count = count;
        Ok(())
    }

    /// Reads a record. Returns whether it has a time and cannot describe a loss.
    #[inline]
    fn record(&mut self, header: u64, record: Words<'_, O>, at: u64) -> bool {
        match RECORD_TYPE.get(header) {
            record_type::EVENT => {
                if event::THREAD.get(header) == 0 {
                    self.inline_thread(record, 2, at);
                }
                let may_describe_loss = std::mem::take(&mut self.may_describe_loss);
                if may_describe_loss {
                    self.fact(What::MayDescribeLoss, at);
                }
                !may_describe_loss
            }
            record_type::SCHEDULING => {
                if std::mem::take(&mut self.may_describe_loss) {
                    self.fact(What::NoLossFacts, at);
                }
                self.scheduling(header, record, at)
            }
            record_type::STRING => {
                let index = string::INDEX.get(header) as u16;
                if index != 0 {
                    self.fact(What::String(index), at);
                }
                false
            }
            _ => self.rare(header, record, at),
        }
    }

    fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: u64,
        message: impl FnOnce() -> String,
    ) {
        let at = Location::Byte(at);
        self.found.diagnostics.note(code, severity, at, message);
    }

    fn fact(&mut self, what: What, at: u64) {
        let words = ((at - self.start) >> 3) as u32;
        self.found.facts.push(Fact { words, what });
    }

    fn again(&mut self, at: u64) {
        self.fact(What::Record, at);
        self.found.timed.push(self.found.last_timed);
    }

    #[inline]
    fn inline_thread(&mut self, record: Words<'_, O>, index: usize, at: u64) {
        let (Some(process), Some(thread)) = (record.get(index), record.get(index + 1)) else {
            return;
        };
        let pair = Pair { process, thread };
        if let Some(entry) = self.recent_pairs.get_mut(pair.recent_index()) {
            if *entry == Some(pair) {
                return;
            }
            *entry = Some(pair);
        }
        if self.pairs.insert(pair) {
            self.found.pairs.push(pair);
            self.fact(What::Pair, at);
        }
    }

    #[inline]
    fn scheduled(&mut self, koid: Option<u64>, at: u64) {
        let Some(koid) = koid else { return };
        if let Some(entry) = self.recent_koids.get_mut(recent_index(koid)) {
            if *entry == Some(koid) {
                return;
            }
            *entry = Some(koid);
        }
        if self.koids.insert(koid) {
            self.found.koids.push(koid);
            self.fact(What::Scheduled, at);
        }
    }

    /// Reads a scheduling record. Returns whether it has a time.
    fn scheduling(&mut self, header: u64, record: Words<'_, O>, at: u64) -> bool {
        match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => {
                let mut index = 2;
                for side in [legacy::OUTGOING, legacy::INCOMING] {
                    if side.get(header) == 0 {
                        self.inline_thread(record, index, at);
                        index += 2;
                    }
                }
                true
            }
            scheduling::SWITCH => {
                self.scheduled(record.get(2), at);
                self.scheduled(record.get(3), at);
                true
            }
            scheduling::WAKEUP => {
                self.scheduled(record.get(2), at);
                true
            }
            _ => false,
        }
    }

    /// Reads a record that is not an event, scheduling or string record. Returns whether it has a time.
    fn rare(&mut self, header: u64, record: Words<'_, O>, at: u64) -> bool {
        match RECORD_TYPE.get(header) {
            record_type::THREAD => {
                let index = thread::INDEX.get(header) as u8;
                if let (Some(process), Some(thread)) = (record.get(1), record.get(2))
                    && index != 0
                {
                    self.found.pairs.push(Pair { process, thread });
                    self.fact(What::Thread(index), at);
                }
            }
            record_type::LOG => {
                if log::THREAD.get(header) == 0 {
                    self.inline_thread(record, 2, at);
                }
                return true;
            }
            record_type::PROFILER => {
                if profiler::THREAD.get(header) == 0
                    && super::profiler::has_two_word_thread(header, record)
                {
                    self.inline_thread(record, 2, at);
                }
                return profiler::KIND.get(header) <= profiler::A_BACKTRACE;
            }
            record_type::METADATA => {
                self.may_describe_loss |= metadata::KIND.get(header) == metadata::PROVIDER_EVENT;
                self.again(at);
            }
            record_type::LARGE if !is_known_large(header) => {
                let (large_type, format) = (large::KIND.get(header), large::FORMAT.get(header));
                self.note("unknown_large_record", Severity::Info, at, || {
                    format!("a large record of type {large_type}, format {format} was skipped")
                });
            }
            record_type::INITIALIZATION
            | record_type::BLOB
            | record_type::USERSPACE_OBJECT
            | record_type::KERNEL_OBJECT
            | record_type::LARGE => self.again(at),
            other => self.note("unknown_record_type", Severity::Info, at, || {
                format!("a record of type {other}, which no specification contains, was skipped")
            }),
        }
        false
    }
}

fn is_known_large(header: u64) -> bool {
    large::KIND.get(header) == 0 && large::FORMAT.get(header) <= large::BLOB
}
