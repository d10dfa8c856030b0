//! Points: instants, the parts of them that do not fit into an event record, and userspace objects.

use super::args::MOST_ARG_WORDS;
use super::encode::{Encoder, EventAt, Names};
use super::item::Item;
use super::records::{Arg, ArgValue, EventType, Head, MOST_ARGS, MOST_INLINE_BYTES, ThreadKoids};
use crate::base::StringId;
use crate::event::{FieldRef, FieldRole, InstantScope, Role, ValueRef};
use crate::export::shared::arguments::{
    Blob, LongText, arguments, blob_of, instant_scope, payload_of,
};
use crate::fxt::agreed::ON_CPU;
use crate::trace::{CpuId, EventId, TrackKind};

/// The name of the argument with the time of a record that has no time of its own.
const REALLY_AT: &[u8] = b"really_at_ns";

/// A userspace object besides its name and arguments.
struct Object {
    /// The pointer that it names.
    pointer: u64,
    /// Koid of the process, if the event contains it.
    process: Option<u64>,
}

impl Encoder<'_, '_> {
    pub(super) fn instant(&mut self, item: &Item) {
        let source = self.source;
        let id = EventId(item.row);
        let event = self.events.get(id);
        let names = self.names_of(event.row.kind);
        let owner = self.events.thread(id);
        let track = item.track();
        let track_row = track.and_then(|id| source.trace.tracks.get(id.0 as usize));
        let (thread, async_id) = match track_row.map(|track| track.kind) {
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
        if let Some(object) = self.take_object(id) {
            let owner = match source.koids.is_provider(owner) {
                true => Err(object.process.unwrap_or(0)),
                false => Ok(thread),
            };
            let provider = source.providers.of_thread(self.events.thread(id));
            return self.object(object.pointer, owner, names.name, provider, Some(item.time));
        }
        let attached = blob_of(&self.fields);
        if let Some(Blob { blob_type, payload }) = attached
            && source.reader.payload(event.into()).is_some()
        {
            // A blob record has neither time nor thread: an attachment that has both becomes a large instant.
            let has_time = blob_type.is_none()
                && owner.is_some_and(|owner| source.trace.thread(owner).tid != 0);
            if has_time {
                return self.large_instant(item, thread, names, &payload);
            }
            let category = self.name_bytes(names.category);
            let name = self.name_bytes(names.name);
            self.is_untimed = true;
            self.records.counts.moved_blobs += u64::from(self.lacks_anchor(item.time));
            let provider = source.providers.of_thread(owner);
            let provider = provider.filter(|_| fits_without_tables(name, category));
            return self
                .records
                .in_section(source.providers, provider, |records| {
                    records.blob(name, category, blob_type, &payload);
                });
        }
        if let Some(payload) = payload_of(&self.fields) {
            return self.large_instant(item, thread, names, &payload);
        }
        let last_word = match async_id {
            Some(chosen_id) => self.async_id().or(Some(chosen_id)),
            None => self.scope_word(),
        };
        let at = EventAt {
            time: item.time,
            thread,
        };
        let mut more: Vec<_> = track
            .and_then(|track| {
                self.group_arg(
                    track,
                    source.async_groups.of_instant(source.trace, track, id),
                )
            })
            .into_iter()
            .collect();
        more.extend(track.and_then(|track| self.interrupted_arg(track.0, id)));
        more.extend((async_id.into_iter()).flat_map(|_| self.recorded_by_args(thread, id)));
        more.extend(self.cpu_arg(id));
        self.event(event_type, at, names, &more, last_word);
    }

    /// Reads the object of an event that names the target of a pointer; its other fields become the current arguments.
    fn take_object(&mut self, id: EventId) -> Option<Object> {
        if self.role_of(id) != Role::PointerName {
            return None;
        }
        self.read(id);
        let mut fields = std::mem::take(&mut self.fields);
        let process = match fields.get(1).map(|field| (field.role, &field.value)) {
            Some((FieldRole::PointerProcess, &ValueRef::Koid(process))) => Some(process),
            _ => None,
        };
        let ValueRef::Pointer(pointer) = fields.first()?.value else {
            return None;
        };
        fields.drain(..1 + usize::from(process.is_some()));
        self.listed = Some(arguments(&mut fields));
        Some(Object { pointer, process })
    }

    /// Writes an object with the current arguments: in a thread's process, or in the process of that koid. It has its
    /// `time` as an argument unless the record before it has that time.
    fn object(
        &mut self,
        pointer: u64,
        owner: Result<ThreadKoids, u64>,
        name: StringId,
        provider: Option<u32>,
        time: Option<i64>,
    ) {
        let args = self.listed.as_deref().unwrap_or_default();
        let provider = provider.filter(|_| {
            args.len() < MOST_ARGS
                && fits_without_tables(self.name_bytes(name), &[])
                && args.iter().all(is_inline_argument)
        });
        self.is_untimed = true;
        let time = time.filter(|&time| self.lacks_anchor(time) && !self.has_argument(REALLY_AT));
        let more = time.map(|time| {
            let time = time.saturating_add(self.source.shift);
            Arg::new("really_at_ns", ArgValue::Int64(time))
        });
        self.records.is_inline = provider.is_some();
        self.prepare(more.as_slice(), MOST_ARG_WORDS);
        self.records.is_inline = false;
        let name = self.name_bytes(name);
        self.records
            .in_section(self.source.providers, provider, |records| {
                let name = records.exact_name(name);
                records.userspace_object(pointer, owner, name);
            });
    }

    /// Writes an object to which the selection refers but which it does not contain: in its process, so that no thread
    /// is added.
    pub(super) fn object_of_others(&mut self, item: &Item) {
        let id = EventId(item.row);
        let event = self.events.get(id);
        let Some(object) = self.take_object(id) else {
            return;
        };
        let thread = self.events.thread(id);
        let process = self.source.koids.thread(thread).process;
        let name = self.names_of(event.row.kind).name;
        let owner = Err(object.process.unwrap_or(process));
        // Objects from before the range have the time of its start, whatever record comes first there.
        let time = Some(item.time).filter(|&time| time == event.row.time.0);
        let provider = self.source.providers.of_thread(thread);
        self.object(object.pointer, owner, name, provider, time);
    }

    /// Returns the word for the scope of the current point, unless the scope is the thread.
    pub(super) fn scope_word(&self) -> Option<u64> {
        scope_word(&self.fields)
    }

    /// Returns an argument with the CPU of an event, if its file contains it.
    fn cpu_arg(&self, id: EventId) -> Option<Arg<'static>> {
        let event = self.events.get(id);
        let cpu = event.cpu?;
        let number = self.source.koids.cpu_number(CpuId(cpu))?;
        Some(Arg::new(ON_CPU, ArgValue::UInt32(number.into())))
    }

    /// Writes bytes that do not fit into an argument as a large record.
    fn large_instant(
        &mut self,
        item: &Item,
        thread: ThreadKoids,
        names: Names<StringId>,
        payload: &[u8],
    ) {
        self.fields.retain(|field| {
            // Fields that the reader derives from the payload itself.
            !matches!(field.role, FieldRole::Payload | FieldRole::PayloadSize)
        });
        let cpu = self.cpu_arg(EventId(item.row));
        let cpu = cpu.filter(|arg| !self.has_argument(&arg.name));
        self.prepare(cpu.as_slice(), MOST_ARG_WORDS);
        let head = Head {
            event_type: EventType::Instant,
            time: self.ticks(item.time),
            thread,
            category: self.records.exact_name(self.name_bytes(names.category)),
            name: self.records.exact_name(self.name_bytes(names.name)),
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
        ArgValue::Text(text) | ArgValue::Other(LongText(text)) => text.len(),
        _ => 0,
    };
    arg.name.len() <= MOST_INLINE_BYTES && text <= MOST_INLINE_BYTES
}

/// Returns the word for a scope, unless the scope is the thread.
fn scope_word(fields: &[FieldRef<'_>]) -> Option<u64> {
    match instant_scope(fields)? {
        InstantScope::Process => Some(1),
        InstantScope::Global => Some(2),
        InstantScope::Thread => None,
    }
}
