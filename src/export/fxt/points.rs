//! Points: instants, the parts of them that do not fit into an event record, and userspace objects.

use super::args::MOST_ARG_WORDS;
use super::encode::Encoder;
use super::item::Item;
use super::records::{Arg, ArgValue, EventType, Head, MOST_ARGS, MOST_INLINE_BYTES, ThreadKoids};
use super::source_args::own_args;
use crate::base::StringId;
use crate::event::{FieldRef, ValueRef};
use crate::export::shared::arguments::{blob_of, payload_of};
use crate::formats::fxt::FxtSource;
use crate::fxt::layout::event;
use crate::trace::{CpuId, EventId, ThreadId, TrackKind};

impl<'a> Encoder<'a, '_> {
    pub(super) fn instant(&mut self, item: &Item) {
        let source = self.source;
        let id = EventId(item.row);
        let event = self.events.get(id);
        let (category, name) = self.names_of(event.row.kind);
        let owner = self.events.thread(id);
        let (thread, async_id) = match source
            .trace
            .tracks
            .get(item.of as usize)
            .map(|track| track.kind)
        {
            Some(TrackKind::Cpu(cpu)) => (source.koids.cpu(cpu), None),
            Some(TrackKind::Async(process)) => {
                let chosen_id = source.async_ids.of_instant(id);
                (self.async_thread(process, item.row), Some(chosen_id))
            }
            _ => (source.koids.thread(owner), None),
        };
        let event_type = match async_id {
            Some(_) => EventType::AsyncInstant,
            None => EventType::Instant,
        };
        self.read(id);
        let fxt = source
            .fxt
            .or_else(|| source.reader.fxt_source_of(event.into()));
        if let Some(fxt) = fxt
            && let Some(object) = fxt.object(event.row.place)
        {
            let owner = object.process.map_or(Ok(thread), Err);
            let time = Some(item.time);
            return self.object((fxt, event.row.place, time), object.pointer, owner, name);
        }
        let attached = blob_of(&self.fields);
        if let Some((blob_type, payload)) = attached
            && source.reader.payload(event.into()).is_some()
        {
            // A blob record has neither time nor thread: an attachment that has both becomes a large instant.
            let has_time = match source.fxt {
                Some(fxt) => !fxt.is_blob(event.row.place),
                None => {
                    blob_type.is_none()
                        && owner != ThreadId::NONE
                        && source.trace.thread(owner).tid != 0
                }
            };
            if has_time {
                return self.large_instant(item, thread, (category, name), &payload);
            }
            let (category, name) = (self.name_bytes(category), self.name_bytes(name));
            self.is_untimed = true;
            self.records.counts.moved_blobs += u64::from(self.lacks_anchor(item.time));
            let provider = fxt.and_then(|fxt| source.providers.of_record(&fxt, event.row.place));
            let provider = provider.filter(|_| fits_without_tables(name, category));
            return self
                .records
                .in_section((source.providers, provider), |records| {
                    records.blob(name, category, blob_type, &payload);
                });
        }
        if let Some(payload) = payload_of(&self.fields) {
            return self.large_instant(item, thread, (category, name), &payload);
        }
        let last_word = match async_id {
            Some(chosen_id) => self.async_id().or(Some(chosen_id)),
            None => self.scope_word(),
        };
        let at = (item.time, thread);
        let mut more: Vec<_> = self.group_arg(item.of, id).into_iter().collect();
        more.extend(self.cpu_arg(id));
        self.event(event_type, at, (category, name), &more, last_word);
    }

    fn object(
        &mut self,
        (fxt, place, time): (FxtSource<'a>, u64, Option<i64>),
        pointer: u64,
        owner: Result<ThreadKoids, u64>,
        name: StringId,
    ) {
        self.read_nothing();
        let providers = self.source.providers;
        let provider = match owner {
            Ok(_) => None,
            Err(_) => providers.of_record(&fxt, place),
        };
        self.listed = own_args(&fxt, place);
        let args = self.listed.as_deref().unwrap_or_default();
        let provider = provider.filter(|_| {
            args.len() < MOST_ARGS
                && fits_without_tables(self.name_bytes(name), &[])
                && args.iter().all(is_inline_argument)
        });
        self.is_untimed = true;
        let mut more = Vec::new();
        if let Some(time) = time.filter(|&time| self.lacks_anchor(time)) {
            let time = time.saturating_add(self.source.shift);
            more = self.without_said(&[Arg::new("really_at_ns", ArgValue::Int64(time))]);
        }
        self.records.is_inline = provider.is_some();
        self.prepare(&more, MOST_ARG_WORDS);
        self.records.is_inline = false;
        let name = self.name_bytes(name);
        self.records.in_section((providers, provider), |records| {
            let name = records.exact_name(name);
            records.userspace_object(pointer, owner, name);
        });
    }

    /// Writes an object to which the selection refers but which it does not contain: in its process, so that no thread
    /// is added.
    pub(super) fn object_of_others(&mut self, item: &Item) {
        let id = EventId(item.row);
        let event = self.events.get(id);
        let Some(fxt) = self.source.fxt else { return };
        let Some(object) = fxt.object(event.row.place) else {
            return;
        };
        let (process, _) = self.source.koids.thread(self.events.thread(id));
        let (_, name) = self.names_of(event.row.kind);
        let owner = Err(object.process.unwrap_or(process));
        // Objects from before the range have the time of its start, whatever record comes first there.
        let time = Some(item.time).filter(|&time| time == event.row.time.0);
        self.object((fxt, event.row.place, time), object.pointer, owner, name);
    }

    /// Returns the word for the scope of the current point, unless the scope is the thread.
    pub(super) fn scope_word(&self) -> Option<u64> {
        match (self.own, self.source.fxt) {
            (Some(place), Some(fxt)) => {
                let is_one = fxt.event_type(place) == Some(event::INSTANT);
                let word = is_one.then(|| fxt.word_behind(place)).flatten();
                word.filter(|scope| (1..=2).contains(scope))
            }
            _ => scope_word(&self.fields),
        }
    }

    /// Returns an argument with the CPU of an event, if its file contains it; events of FXT files keep their own
    /// arguments.
    fn cpu_arg(&self, id: EventId) -> Option<Arg<'static>> {
        let event = self.events.get(id);
        let cpu = event.cpu.filter(|_| !self.is_of_fxt(id))?;
        let number = self.source.koids.cpu_number(CpuId(cpu))?;
        Some(Arg::new("on_cpu", ArgValue::UInt32(number.into())))
    }

    /// Writes bytes that do not fit into an argument as a large record.
    fn large_instant(
        &mut self,
        item: &Item,
        thread: ThreadKoids,
        (category, name): (StringId, StringId),
        payload: &[u8],
    ) {
        let place = self.events.get(EventId(item.row)).row.place;
        let fxt = self.source.fxt;
        let own = fxt.and_then(|fxt| own_args(&fxt, place));
        if own.is_some() {
            self.read_nothing();
            self.listed = own;
        }
        self.fields.retain(|field| {
            // Fields that the reader derives from the payload itself.
            !matches!(
                (&*field.name, &*field.type_name),
                ("payload", "blob") | ("size", "bytes")
            )
        });
        let cpu = self.cpu_arg(EventId(item.row));
        self.prepare(cpu.as_slice(), MOST_ARG_WORDS);
        let head = Head {
            event_type: EventType::Instant,
            time: self.ticks(item.time),
            thread,
            category: self.records.exact_name(self.name_bytes(category)),
            name: self.records.exact_name(self.name_bytes(name)),
        };
        self.records.prepared_large_event(head, payload);
    }
}

/// Returns whether a record with these texts needs no table entries.
fn fits_without_tables(name: &[u8], category: &[u8]) -> bool {
    name.len() <= MOST_INLINE_BYTES && category.len() <= MOST_INLINE_BYTES
}

/// Returns whether an argument needs no table entry.
fn is_inline_argument(arg: &Arg<'_>) -> bool {
    let text = match &arg.value {
        ArgValue::Text(text) | ArgValue::LongText(text) => text.len(),
        _ => 0,
    };
    arg.name.len() <= MOST_INLINE_BYTES && text <= MOST_INLINE_BYTES
}

/// Returns the word for a scope, unless the scope is the thread.
fn scope_word(fields: &[FieldRef<'_>]) -> Option<u64> {
    let field = fields
        .iter()
        .find(|field| field.type_name == "instant scope")?;
    match &field.value {
        ValueRef::Text(text) if text == "process" => Some(1),
        ValueRef::Text(text) if text == "global" => Some(2),
        _ => None,
    }
}
