//! Writes slices as records: whole, as begins and ends, or asynchronous; with arguments that contain the real times
//! where the range cuts a slice.

use super::encode::{Encoder, EventAt, Names};
use super::item::{Item, SliceFacts, What};
use super::records::{Arg, ArgValue, EventType, ThreadKoids};
use crate::base::{StringId, TimeSpan, Timestamp};
use crate::event::Role;
use crate::event::slice_kind::{ASYNC_GROUP, SLICE_KIND};
use crate::export::shared::arguments::merge;
use crate::export::shared::borders::{CutArgument, EndCut};
use crate::fxt::agreed::END_NOT_SEEN;
use crate::trace::slices::SliceLabel;
use crate::trace::{EventId, SliceId, TrackId, TrackKind};

impl Arg<'static> {
    /// Returns the argument that describes a cut; `shift` is added to all times, in ns.
    pub(super) fn of_cut(cut: CutArgument, shift: i64) -> Arg<'static> {
        let value = match cut {
            CutArgument::Time { ns, .. } => ArgValue::Int64(ns.saturating_add(shift)),
            CutArgument::NeverEnded => ArgValue::Bool(true),
        };
        Arg::new(cut.name(), value)
    }
}

impl Encoder<'_, '_> {
    /// Returns arguments with the real start and end of a slice, where the range cuts it.
    fn border_args(&self, item: &Item) -> Vec<Arg<'static>> {
        let (trace, shift) = (self.source.trace, self.source.shift);
        let part = self.source.borders.of_slice(trace, item.row as usize);
        let cuts = part.arguments().map(|cut| Arg::of_cut(cut, shift));
        let mut args: Vec<Arg<'static>> = cuts.collect();
        let is_lost = item.slice.is_unended && item.slice.end.is_some();
        if is_lost && part.cut != Some(EndCut::Never) {
            args.push(Arg::new(END_NOT_SEEN, ArgValue::Bool(true)));
        }
        args
    }

    /// Returns an argument with the duration that the recorder measured, if it differs from the drawn duration; for a
    /// slice that the range cuts, its share of it.
    fn measured_arg(&self, item: &Item) -> Option<Arg<'static>> {
        let (slices, row) = (&self.source.trace.slices, item.row as usize);
        let _measured = slices.measured(row)?;
        let whole = TimeSpan {
            start: Timestamp(slices.starts.at(row)),
            end: Timestamp(item.slice.end.or_greatest()),
        };
        let part = whole.intersection(self.source.chosen.span);
        let ns = slices.part_of_duration(row, whole, part.duration().0);
        Some(Arg::new("measured_ns", ArgValue::Int64(ns)))
    }

    /// Returns an argument with the kind of a slice, if its category does not imply the kind.
    fn kind_arg(&self, item: &Item) -> Option<Arg<'static>> {
        let kinds = self.source.kinds_to_write;
        let kind = kinds.get(item.slice.label as usize).copied().flatten()?;
        Some(Arg::new(SLICE_KIND, ArgValue::text(kind.word())))
    }

    /// Returns whether a slice never ended, and is cut at the range's end or at the end of its file.
    fn is_cut_open(&self, item: &Item) -> bool {
        let (trace, row) = (self.source.trace, item.row as usize);
        self.source.borders.of_slice(trace, row).cut == Some(EndCut::Never)
    }

    fn label(&self, item: &Item) -> SliceLabel {
        let label = self
            .source
            .trace
            .slices
            .labels
            .get(item.slice.label as usize);
        label.unwrap_or_default()
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
                let cut = self.source.cuts.get(&item.row).copied();
                let cut_open = || match end.is_none() {
                    true => self
                        .source
                        .borders
                        .cut_of_open_slice(self.source.trace, begin),
                    false => None,
                };
                let end = match cut.or_else(cut_open) {
                    Some(cut) => cut.max(item.time),
                    None => end.at_most(span.end.0).max(item.time),
                };
                (EventType::Complete, Some(self.ticks(end)))
            }
        };
        let finish = (item.slice.finish.get()).filter(|_| item.what == What::Whole);
        // A slice that began before the range is written at the range's start.
        let may_have_begun = item.time == span.start.0;
        let is_cut = may_have_begun || end > span.end.0;
        let label = self.label(item);
        let begin = EventId(begin);
        self.read(begin);
        if let Some(finish) = finish.filter(|_| end < span.end.0) {
            let mut own = self.take_args();
            self.read(EventId(finish));
            merge(&mut own, self.take_args());
            self.listed = Some(own);
        }
        let mut more = match is_cut || item.slice.is_unended {
            true => self.border_args(item),
            false => Vec::new(),
        };
        if item.what == What::Whole {
            more.extend(self.measured_arg(item));
        }
        more.extend(self.kind_arg(item));
        more.extend(self.interrupted_arg(item.of, begin));
        self.event(
            event_type,
            EventAt {
                time: item.time,
                thread,
            },
            Names {
                category: label.category,
                name: label.name,
            },
            &more,
            last_word,
        );
    }

    fn slice_end(&mut self, item: &Item, thread: ThreadKoids) {
        let label = self.label(item);
        let mut names = Names {
            category: label.category,
            name: label.name,
        };
        let is_inside = item.time < self.source.chosen.span.end.0;
        if let Some(finish) = item.slice.finish.get().filter(|_| is_inside) {
            let finish = EventId(finish);
            // Some readers need the begin's names at the end.
            if self.role_of(finish) == Role::Named {
                names = self.names_of(self.events.kind(finish));
            }
            self.read(finish);
        } else {
            self.read_nothing();
        }
        let unseen = [Arg::new(END_NOT_SEEN, ArgValue::Bool(true))];
        let is_unseen = item.slice.is_unended || item.slice.end.is_none();
        let more: &[Arg<'_>] = match is_unseen && !self.is_cut_open(item) {
            true => &unseen,
            false => &[],
        };
        let at = EventAt {
            time: item.time,
            thread,
        };
        self.event(EventType::End, at, names, more, None);
    }

    /// Returns an argument with the name of an asynchronous track, which also states whether the track belongs to the
    /// whole trace: in FXT each belongs to a process.
    pub(super) fn group_arg(&self, track: TrackId, name: Option<StringId>) -> Option<Arg<'static>> {
        let trace = self.source.trace;
        let argument = match trace.tracks.get(track.0 as usize)?.kind {
            TrackKind::Async(Some(_)) => ASYNC_GROUP,
            TrackKind::Async(None) => "global_async_group",
            _ => return None,
        };
        let text = trace.strings.bytes(name?).to_vec();
        Some(Arg::new(argument, ArgValue::Text(text.into())))
    }

    pub(super) fn async_mark(&mut self, item: &Item) {
        let source = self.source;
        let SliceFacts { begin, finish, .. } = item.slice;
        let begun_on = self.track_thread(item.of, begin);
        let label = self.label(item);
        let mut names = Names {
            category: label.category,
            name: label.name,
        };
        let is_end = item.what == What::AsyncEnd;
        let event = if is_end { finish.get() } else { Some(begin) };
        let is_inside = !is_end || item.time < source.chosen.span.end.0;
        let thread = match event {
            // It may end on another thread of its process: readers take the process as a part of the id.
            Some(event) if is_end => {
                let ended_on = source.koids.thread(self.events.thread(EventId(event)));
                match ended_on.process == begun_on.process {
                    true => ended_on,
                    false => begun_on,
                }
            }
            _ => begun_on,
        };
        let own_fields = event.filter(|_| is_inside).map(EventId);
        let source_event = own_fields.unwrap_or(EventId(begin));
        self.read(source_event);
        let id = self.async_id();
        let id = id.unwrap_or_else(|| source.async_ids.of_slice(SliceId(item.row)));
        match own_fields {
            None => self.read_nothing(),
            Some(event) if is_end && self.role_of(event) == Role::Named => {
                // The same names as for other ends.
                names = self.names_of(self.events.kind(event));
            }
            Some(_) => {}
        }
        let mut more = match is_end {
            // The begin contains that the export cut the slice.
            true if self.is_cut_open(item) => Vec::new(),
            true if finish.is_none() => vec![Arg::new(END_NOT_SEEN, ArgValue::Bool(true))],
            true => Vec::new(),
            false => self.border_args(item),
        };
        let (track, slice) = (TrackId(item.of), SliceId(item.row));
        let group = source.async_groups.of_slice(source.trace, track, slice);
        more.extend(self.group_arg(track, group));
        more.extend(
            (own_fields.into_iter()).flat_map(|event| self.recorded_by_args(thread, event)),
        );
        if !is_end {
            more.extend(self.kind_arg(item));
        }
        let event_type = match is_end {
            true => EventType::AsyncEnd,
            false => EventType::AsyncBegin,
        };
        let at = EventAt {
            time: item.time,
            thread,
        };
        self.event(event_type, at, names, &more, Some(id));
    }
}
