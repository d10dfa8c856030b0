//! Slices to records: whole ones, begins and ends, asynchronous ones; with what the range hides of them.

use super::args;
use super::encode::Encoder;
use super::item::{Item, SliceFacts, What};
use super::records::{Arg, ArgValue, EventType, ThreadKoids};
use crate::trace::slices::SliceLabel;
use crate::trace::{EventId, SliceId};

impl Encoder<'_, '_> {
    /// When a slice really began and ended, where the range hides it.
    fn border_args(&self, item: &Item) -> Vec<Arg<'static>> {
        let start = self.source.trace.slices.starts.at(item.row as usize);
        let end = item.slice.end;
        let mut args = Vec::new();
        let span = self.source.chosen.span;
        let shift = self.source.shift;
        if start < span.start.0 {
            args.push(Arg::new(
                "really_began_ns",
                ArgValue::Int64(start.saturating_add(shift)),
            ));
        }
        if end == i64::MAX && self.source.chosen.ends_before_trace() {
            args.push(Arg::new("never_ended", ArgValue::Bool(true)));
        } else if end > span.end.0 && end != i64::MAX {
            args.push(Arg::new(
                "really_ended_ns",
                ArgValue::Int64(end.saturating_add(shift)),
            ));
        }
        args
    }

    fn label(&self, item: &Item) -> SliceLabel {
        let label = self
            .source
            .trace
            .slices
            .labels
            .get(item.slice.label as usize);
        label.copied().unwrap_or_default()
    }

    pub(super) fn slice(&mut self, item: &Item) {
        let span = self.source.chosen.span;
        let SliceFacts { end, begin, .. } = item.slice;
        let thread = self.track_thread(item.of, begin);
        if item.what == What::End {
            return self.slice_end(item, thread);
        }
        let (event_type, last_word) = match item.what {
            What::Begin => (EventType::Begin, None),
            _ => {
                let end = match self.source.cuts.get(&item.row) {
                    Some(&cut) => cut,
                    None => end.min(span.end.0).max(item.time),
                };
                (EventType::Complete, Some(self.ticks(end)))
            }
        };
        let is_merged = item.what == What::Whole && item.slice.finish != u32::MAX;
        // What began before the range is told at its start.
        let may_have_begun = item.time == span.start.0;
        let is_cut = may_have_begun || end > span.end.0;
        let label = self.label(item);
        let begin = EventId(begin);
        self.read(begin);
        if is_merged && end < span.end.0 {
            let mut own = self.take_args();
            self.read(EventId(item.slice.finish));
            args::merge(&mut own, self.take_args());
            self.listed = Some(own);
        }
        let more = match is_cut {
            true => self.border_args(item),
            false => Vec::new(),
        };
        self.event(
            event_type,
            (item.time, thread),
            (label.category, label.name),
            &more,
            last_word,
        );
    }

    fn slice_end(&mut self, item: &Item, thread: ThreadKoids) {
        let label = self.label(item);
        let mut names = (label.category, label.name);
        let is_inside = item.time < self.source.chosen.span.end.0;
        if is_inside {
            let finish = EventId(item.slice.finish);
            // Some readers want the begin's names there. Ends of FXT files keep what they say, or do not.
            if self.is_of_fxt(finish) {
                names = self.names_of(self.events.kind(finish));
            }
            self.read(finish);
        } else {
            self.read_nothing();
        }
        self.event(EventType::End, (item.time, thread), names, &[], None);
    }

    /// Whether an event is of an FXT file: of the one that there is, or of one of several on one axis.
    fn is_of_fxt(&self, id: EventId) -> bool {
        let is_of_one = || {
            self.source
                .reader
                .fxt_source_of(self.event_ref(id))
                .is_some()
        };
        self.source.fxt.is_some() || is_of_one()
    }

    pub(super) fn async_mark(&mut self, item: &Item) {
        let source = self.source;
        let SliceFacts { begin, finish, .. } = item.slice;
        let begun_on = self.track_thread(item.of, begin);
        let label = self.label(item);
        let mut names = (label.category, label.name);
        let is_end = item.what == What::AsyncEnd;
        let event = if is_end { finish } else { begin };
        let is_inside = !is_end || item.time < source.chosen.span.end.0;
        let thread = match event {
            // It may end on another thread of its process.
            event if is_end && event != u32::MAX => {
                let ended_on = source.koids.thread(self.events.thread(EventId(event)));
                match ended_on.0 == begun_on.0 {
                    true => ended_on,
                    false => begun_on,
                }
            }
            _ => begun_on,
        };
        let has_own_fields = is_inside && event != u32::MAX;
        let said_by = if has_own_fields { event } else { begin };
        self.read(EventId(said_by));
        let id = self.async_id();
        let id = id.unwrap_or_else(|| source.async_ids.of_slice(SliceId(item.row)));
        if !has_own_fields {
            self.read_nothing();
        } else if is_end && self.is_of_fxt(EventId(event)) {
            // As other ends.
            names = self.names_of(self.events.kind(EventId(event)));
        }
        let more = match is_end {
            true => Vec::new(),
            false => self.border_args(item),
        };
        let event_type = match is_end {
            true => EventType::AsyncEnd,
            false => EventType::AsyncBegin,
        };
        self.event(event_type, (item.time, thread), names, &more, Some(id));
    }
}
