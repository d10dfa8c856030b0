//! Folds the summaries of the parts, in file order, into the tables of the whole file and the range of each part.
//!
//! Only the fold has the tables as they were before a record: it processes the facts of a summary, and reads again the
//! few records that need the tables. All tables are looked up by place (`tables`), so all parts share the tables of the
//! whole file, and each part only needs its range.
//!
//! A summary starts at a place that only looks like a record border (`borders`). If the records of the previous part
//! end elsewhere, the part is summarised again from there.

use crate::base::{ByteOrder, Cancelled, Job, Location, Severity};
use crate::event::ThreadKey;
use crate::fxt::words::{TextRef, Words};

use super::borders::Window;
use super::loss_facts::StatedLoss;
use super::scan::{Scan, string_bytes};
use super::summary::{Pair, RECENT_COUNT, Summary, What, summarise};
use super::tables::{ProviderSlot, Tables};

/// Number of facts between two checks whether the job was cancelled: a few milliseconds of work.
const CHECK_FACTS: usize = 1 << 14;

/// The records of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartRange {
    /// Offset of the first record.
    pub start: u64,
    /// Offset after the last record.
    pub end: u64,
}

/// The facts about the parts so far.
#[derive(Debug)]
pub(crate) struct State {
    pub(super) found: Scan,
    /// Slot of the current provider.
    pub(super) slot: ProviderSlot,
    /// Offset after the last record so far.
    end: u64,
    /// Whether no record can be read after `end`.
    is_over: bool,
    /// Place of the record that made the current provider current.
    pub(super) entered_at: u64,
    /// The last record with a time; `provider_timed` contains the last one of each provider that is not current.
    pub(super) last_timed: Option<u64>,
    pub(super) first_timed: Option<u64>,
    pub(super) provider_timed: Vec<Option<u64>>,
    /// Records without a time.
    pub(super) untimed: Vec<Untimed>,
    pub(super) holes: Vec<Hole>,
    /// Whether the next event may describe the last of `holes`.
    pub(super) expects_loss_facts: bool,
    /// Direct-mapped cache: recent threads need no look-up.
    recent_pairs: Vec<Option<(Pair, ThreadKey)>>,
}

/// A record without a time of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Untimed {
    pub place: u64,
    /// Place of the record whose time this record gets.
    pub from: Option<u64>,
    /// The registration time in ns that the object contains.
    pub stated: Option<i64>,
}

/// A place at which a provider ran out of buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub place: u64,
    /// The number of the provider in the record.
    pub provider: u32,
    /// The provider with that number; if none was announced, the current one.
    pub slot: ProviderSlot,
    /// Place of the provider's last record with a time before the hole.
    pub last_timed: Option<u64>,
    /// The facts in the event after the hole.
    pub stated: Option<StatedLoss>,
}

impl Default for State {
    fn default() -> State {
        State {
            found: Scan::default(),
            slot: 0,
            entered_at: 0,
            end: 0,
            is_over: false,
            last_timed: None,
            first_timed: None,
            provider_timed: vec![None],
            untimed: Vec::new(),
            holes: Vec::new(),
            expects_loss_facts: false,
            recent_pairs: vec![None; RECENT_COUNT],
        }
    }
}

impl State {
    /// Advances the state past the part with this summary, and returns the range of the part's records.
    ///
    /// # Errors
    /// Errors only if the job was cancelled.
    pub(crate) fn pass<O: ByteOrder>(
        &mut self,
        bytes: &[u8],
        window: Window,
        mut summary: Summary,
        job: &Job,
    ) -> Result<PartRange, Cancelled> {
        let start = self.end;
        if self.is_over || start >= window.end {
            return Ok(PartRange { start, end: start });
        }
        if summary.start != Some(start) {
            summary = summarise::<O>(bytes, start, window.end, job)?;
        }
        let mut fold = Fold::<O> {
            file: Words::new(bytes),
            state: self,
        };
        fold.replay(&summary, job)?;
        self.first_timed = self.first_timed.or(summary.first_timed);
        self.last_timed = self.last_timed.max(summary.last_timed);
        self.found.record_count += summary.record_count;
        self.found.diagnostics.merge(summary.diagnostics);
        self.end = summary.end;
        self.is_over = summary.is_last;
        Ok(PartRange {
            start,
            end: summary.end,
        })
    }

    /// Returns the tables of the parts so far.
    #[must_use]
    pub(crate) fn into_tables(self) -> Tables {
        self.found.tables
    }
}

/// A state, and the file whose facts are added to it.
pub(super) struct Fold<'s, 'a, O> {
    pub(super) file: Words<'a, O>,
    pub(super) state: &'s mut State,
}

impl<'a, O: ByteOrder> Fold<'_, 'a, O> {
    fn replay(&mut self, summary: &Summary, job: &Job) -> Result<(), Cancelled> {
        let mut pairs = summary.pairs.iter().copied();
        let mut koids = summary.koids.iter().copied();
        let mut timed = summary.timed.iter().copied();
        for (number, &fact) in summary.facts.iter().enumerate() {
            if number.is_multiple_of(CHECK_FACTS) {
                job.check()?;
            }
            let place = summary.place_of(fact);
            match fact.what {
                What::String(index) => {
                    let slot = self.state.slot;
                    self.state.found.tables.add_string(slot, index, place);
                }
                What::Thread(index) => {
                    if let Some(pair) = pairs.next() {
                        let (key, slot) = (self.pair(pair), self.state.slot);
                        let tables = &mut self.state.found.tables;
                        tables.add_thread(slot, index, place, key);
                    }
                }
                What::Pair => {
                    pairs.next().map(|pair| self.pair(pair));
                }
                What::Scheduled => {
                    if let Some(koid) = koids.next() {
                        self.state.found.entities.add_scheduled(koid);
                    }
                }
                What::Record => {
                    self.state.last_timed = self.state.last_timed.max(timed.next().flatten());
                    self.record_again(place);
                }
                What::MayDescribeLoss => self.perhaps_loss_facts(place, summary.first_timed),
                What::NoLossFacts => self.state.expects_loss_facts = false,
            }
        }
        Ok(())
    }

    /// Reads the first event after a record that may describe a loss. Other events have times of their own.
    fn perhaps_loss_facts(&mut self, place: u64, first_timed: Option<u64>) {
        let state = &mut *self.state;
        if std::mem::take(&mut state.expects_loss_facts)
            && let Some(record) = self.file.record_at(place)
            && self.takes_loss_facts(record.get(0).unwrap_or(0), record, place)
        {
            return;
        }
        let state = &mut *self.state;
        state.last_timed = state.last_timed.max(Some(place));
        if first_timed.is_none_or(|first| place < first) {
            state.first_timed = state.first_timed.or(Some(place));
        }
    }

    pub(super) fn untimed(&mut self, place: u64, stated: Option<i64>) {
        let from = self.state.last_timed;
        self.state.untimed.push(Untimed {
            place,
            from,
            stated,
        });
    }

    pub(super) fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: u64,
        message: impl FnOnce() -> String,
    ) {
        let at = Location::Byte(at);
        let diagnostics = &mut self.state.found.diagnostics;
        diagnostics.note(code, severity, at, message);
    }

    pub(super) fn pair(&mut self, pair: Pair) -> ThreadKey {
        let index = pair.recent_index();
        if let Some(Some((recent, key))) = self.state.recent_pairs.get(index)
            && *recent == pair
        {
            return *key;
        }
        let key = self.state.found.entities.pair(pair.process, pair.thread);
        if let Some(entry) = self.state.recent_pairs.get_mut(index) {
            *entry = Some((pair, key));
        }
        key
    }

    /// Returns the bytes of a text that a record refers to, by the current tables.
    pub(super) fn text(&self, text: TextRef<'a>, place: u64) -> Option<&'a [u8]> {
        match text {
            TextRef::Inline(bytes) => Some(bytes),
            TextRef::Index(0) => Some(&[]),
            TextRef::Index(index) => {
                let place = self
                    .state
                    .found
                    .tables
                    .string_at(self.state.slot, index, place)?;
                string_bytes(self.file, place)
            }
        }
    }
}
