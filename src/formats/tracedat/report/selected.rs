//! Decides which records are in the user's selection: filters and lists of events, and the stacks that belong to them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::formats::event_filter::{EventFacts, Fact};
use crate::formats::record_report::{Choice, Selection};
use crate::formats::report::ReportOptions;
use crate::formats::tracedat::decoder::Decoder;
use crate::formats::tracedat::describe::shown_number;
use crate::formats::tracedat::event_format::{FieldFormat, Shape, loc_range};
use crate::formats::tracedat::kind::Kind;

/// A record, and the values at the start of its line.
pub(super) struct RecordFacts<'a> {
    pub decoder: &'a Decoder,
    pub kind: Option<usize>,
    pub record: &'a [u8],
    /// The thread's name.
    pub name: &'a [u8],
    pub pid: i32,
    pub cpu: u32,
    pub time: u64,
}

/// The user's selection, and the last printed line that is in it.
#[derive(Debug, Default)]
pub(super) struct Selected {
    selection: Option<Arc<Selection>>,
    left_out_flags: u64,
    /// For each stream, whether its last event that is not a stack is printed.
    is_last_chosen: FxHashMap<usize, bool>,
}

/// A stream's next record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// Index of the stream.
    pub stream: usize,
    /// Whether the record is the stack of the previous event.
    pub is_stack: bool,
}

impl Selected {
    pub(super) fn new(options: &ReportOptions) -> Selected {
        Selected {
            selection: options.records.selection.clone(),
            left_out_flags: options.records.left_out_flags,
            is_last_chosen: FxHashMap::default(),
        }
    }

    /// Returns whether all records are selected.
    pub(super) fn is_all(&self) -> bool {
        self.selection.is_none() && self.left_out_flags == 0
    }

    /// Returns whether a record is selected. `is_listed` returns whether it is in a list of events, by the list's
    /// index.
    pub(super) fn contains(
        &mut self,
        next: Next,
        facts: &RecordFacts<'_>,
        is_listed: impl Fn(usize) -> bool,
    ) -> bool {
        if self.left_out_flags != 0
            && facts.decoder.flags_of(facts.record) & self.left_out_flags != 0
        {
            return false;
        }
        let Some(selection) = &self.selection else {
            return true;
        };
        let mut list = 0;
        // Every choice must test the event, so that a choice that matches no event can be reported.
        let mut is_chosen = |choices: &[Choice]| {
            choices.iter().fold(false, |so_far, choice| match choice {
                Choice::Filter(filter) => {
                    let is_asked = !so_far || !filter.is_met();
                    let kind = facts.kind.filter(|_| is_asked);
                    so_far | kind.is_some_and(|kind| filter.is_match(kind, facts))
                }
                Choice::Events(_) => {
                    list += 1;
                    so_far | is_listed(list - 1)
                }
            })
        };
        let is_shown = is_chosen(&selection.shown) || selection.shown.is_empty();
        let is_left_out = is_chosen(&selection.left_out);
        let is_last = self.is_last_chosen.entry(next.stream).or_insert(false);
        let is_printed = !is_left_out && (is_shown || next.is_stack && *is_last);
        if !next.is_stack {
            *is_last = is_printed;
        }
        if is_printed && !selection.is_met() {
            selection.is_met.store(true, Ordering::Relaxed);
        }
        is_printed
    }
}

impl RecordFacts<'_> {
    fn field(&self, index: Option<usize>) -> Option<(&Kind, &FieldFormat)> {
        let kind = self.decoder.kinds().get(self.kind?)?;
        Some((kind, kind.format.fields.get(index?)?))
    }
}

impl EventFacts for RecordFacts<'_> {
    fn number(&self, fact: &Fact) -> Option<i128> {
        match fact {
            Fact::Field { index, .. } => {
                let (_, field) = self.field(*index)?;
                let number = field.number(self.record, self.decoder.endian())?;
                let number = field.is_number().then_some(number)?;
                Some(match field.is_signed {
                    true => i128::from(number.cast_signed()),
                    false => i128::from(number),
                })
            }
            Fact::Comm => None,
            Fact::Cpu => Some(i128::from(self.cpu)),
            Fact::Pid => Some(i128::from(self.pid)),
            Fact::Time => Some(i128::from(self.time)),
            Fact::TimeMicros => Some(i128::from(self.time / 1000)),
        }
    }

    fn has_text(&self, fact: &Fact, is_it: &dyn Fn(&[u8]) -> bool) -> Option<bool> {
        let Fact::Field { index, .. } = fact else {
            return match fact {
                Fact::Comm => Some(is_it(self.name)),
                _ => self.number(fact).map(|it| is_it(it.to_string().as_bytes())),
            };
        };
        let (kind, field) = self.field(*index)?;
        let endian = self.decoder.endian();
        let is_text = |bytes: &[u8]| {
            let length = memchr::memchr(0, bytes).unwrap_or(bytes.len());
            is_it(bytes.get(..length).unwrap_or(bytes))
        };
        if field.shape == Shape::DataLocs {
            let mut texts = (0..field.size as usize / 4).filter_map(|text| {
                let at = (field.offset as usize).saturating_add(text.saturating_mul(4));
                let range = loc_range(self.record, at, 0, endian)?;
                self.record.get(range)
            });
            return Some(texts.any(is_text));
        }
        if field.is_string {
            return field.data(self.record, endian).map(is_text);
        }
        let number = field.number(self.record, endian)?;
        let number = field.is_number().then_some(number)?;
        let scope = self.decoder.scope(kind, self.record);
        let symbol = match field.is_pointer || field.is_long {
            true => scope.lookup.symbol(number).map(|function| function.name),
            false => None,
        };
        let is_named = match symbol {
            Some(name) => is_it(name),
            None => is_it(format!("{number:#x}").as_bytes()),
        };
        let shown = || shown_number(kind, (*index)?, &scope, number);
        Some(is_named || shown().is_some_and(|text| is_it(text.as_bytes())))
    }
}
