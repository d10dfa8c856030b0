//! Encodes FXT records: values in, the bytes of whole records out; maintains the string and thread tables.
//!
//! ```text
//! string index 1..=fixed        registered once, before the first chunk that uses it, and valid from there on
//!              fixed+1..=last   each chunk registers its own entries here, and replaces the oldest when all are used
//! thread index as for strings, with 255 as the last
//! ```
//!
//! A chunk is encoded independently of the others, so that chunks are made in parallel: it uses the fixed entries, and
//! of the others only those that it has registered itself. Names are registered when they are first used, values of
//! text arguments when they occur a second time. Texts are written as their bytes. Does not access a trace and does
//! not decide which record a row becomes. Specification: Fuchsia trace format, "Records", "Arguments"; scheduling
//! records by its newer form.

use rustc_hash::FxHashMap;

pub(crate) use super::fixed_tables::{FixedTables, Zones};
pub(crate) use super::limits::{MOST_INLINE_BYTES, MOST_LOG_BYTES, MOST_STRING_BYTES};
pub(crate) use super::record_words::cut_bytes;
use super::record_words::{
    argument_header, close, metadata_record, push_bytes, push_provider_info, push_section,
    push_ticks, push_wall_clock, push_word, record, sized,
};
use super::references::RECENT_THREADS;
pub(crate) use super::references::TextRef;
use super::registered::Used;
pub(crate) use super::values::{EventType, RecordCounts};
use crate::base::{Strings, dev_assert};
pub(crate) use crate::export::shared::ThreadKoids;
pub(crate) use crate::export::shared::arguments::{Arg, ArgValue, LongText};
pub(crate) use crate::fxt::layout::argument::MOST as MOST_ARGS;
pub(crate) use crate::fxt::layout::kernel_object::{PROCESS, THREAD};
pub(crate) use crate::fxt::layout::{MAGIC, MOST_RECORD_WORDS};
use crate::fxt::layout::{
    argument, blob, event, kernel_object, large, log, metadata, record_type, string, thread,
    userspace_object,
};

/// The most bytes of a blob record's payload: its size field has 15 bits.
const MOST_BLOB_BYTES: usize = blob::BYTES.max() as usize;

/// The fields of an event record before its arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    /// The type of event.
    pub event_type: EventType,
    /// Time, in ticks.
    pub time: u64,
    /// The koids of its thread.
    pub thread: ThreadKoids,
    /// Its category.
    pub category: TextRef<'a>,
    /// Its name.
    pub name: TextRef<'a>,
}

impl Head<'_> {
    /// The number of words that are left for arguments: header, time and a last word also take space.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        MOST_RECORD_WORDS - 3 - self.category.words() - self.name.words()
    }
}

/// Records that are encoded.
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub counts: RecordCounts,
    /// The fixed entries that must come before the records.
    pub used: Used,
}

/// Which kernel object a record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectKey {
    /// The format's number of its type, such as [`PROCESS`].
    pub object_type: u64,
    pub koid: u64,
}

/// The value of an argument besides texts and bytes.
#[derive(Clone, Copy)]
struct PlainValue {
    /// The format's number of its type.
    kind: u64,
    /// The upper half of the argument's header.
    high: u32,
    /// The word after the header.
    word: Option<u64>,
}

/// A growing list of records: one chunk of a file.
#[derive(Debug)]
pub(crate) struct Records<'t> {
    pub(super) fixed: &'t FixedTables,
    pub(super) out: Vec<u8>,
    /// Every text of this chunk, and by its number: 0, `SEEN_ONCE` (a value), or its index in the table.
    pub(super) texts: Strings,
    pub(super) indices: Vec<u16>,
    /// The number in `texts` of the text at each index of the chunk's own zone.
    pub(super) string_ring: Vec<u32>,
    pub(super) next_string: usize,
    pub(super) threads: FxHashMap<ThreadKoids, u8>,
    pub(super) thread_ring: Vec<ThreadKoids>,
    pub(super) next_thread: usize,
    /// A cache of recently used threads, each at its `thread_slot`.
    pub(super) recent_threads: Box<[(ThreadKoids, u8); RECENT_THREADS]>,
    /// The arguments of the record that is being written, and their number.
    arguments: Vec<u8>,
    pub(super) argument_count: u64,
    pub(super) used: Used,
    /// Whether records contain their texts, because the current section's provider has no tables.
    pub(super) is_inline: bool,
    /// Counts of the records that were written.
    pub counts: RecordCounts,
}

impl<'t> Records<'t> {
    /// Returns an empty chunk.
    #[cfg(test)]
    pub(crate) fn new(fixed: &'t FixedTables) -> Records<'t> {
        Records::with_buffer(fixed, Vec::new())
    }

    /// Returns an empty chunk that reuses the memory of `buffer`.
    pub(crate) fn with_buffer(fixed: &'t FixedTables, mut buffer: Vec<u8>) -> Records<'t> {
        buffer.clear();
        Records {
            fixed,
            out: buffer,
            texts: Strings::default(),
            indices: vec![0],
            string_ring: Vec::new(),
            next_string: 0,
            threads: FxHashMap::default(),
            thread_ring: Vec::new(),
            next_thread: 0,
            recent_threads: Box::new([(ThreadKoids::default(), 0); RECENT_THREADS]),
            arguments: Vec::new(),
            argument_count: 0,
            used: Used::none(),
            is_inline: false,
            counts: RecordCounts::default(),
        }
    }

    /// Returns the records.
    pub(crate) fn finish(self) -> Chunk {
        Chunk {
            bytes: self.out,
            counts: self.counts,
            used: self.used,
        }
    }

    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        push_word(&mut self.out, word);
    }

    #[inline]
    fn stream(&mut self, bytes: &[u8]) {
        push_bytes(&mut self.out, bytes);
    }

    /// Writes the size of the record that starts at `start` into its header.
    #[inline]
    pub(super) fn close(&mut self, start: usize) {
        close(&mut self.out, start);
    }

    /// Writes the magic number.
    pub(super) fn magic(&mut self) {
        self.word(MAGIC);
    }

    /// Announces a provider: the following records belong to its section.
    pub(super) fn provider_info(&mut self, number: u32, name: &[u8]) {
        push_provider_info(&mut self.out, number, name);
    }

    /// Begins a section of the provider with that number.
    pub(super) fn provider_section(&mut self, number: u32) {
        push_section(&mut self.out, number);
    }

    /// Writes the head of a file with one provider.
    #[cfg(test)]
    pub(crate) fn head_of(&mut self, provider: &str) {
        self.magic();
        self.provider_info(1, provider.as_bytes());
        self.ticks_per_second(1_000_000_000);
    }

    /// Sets the tick rate of the current section's provider.
    pub(super) fn ticks_per_second(&mut self, rate: u64) {
        push_ticks(&mut self.out, rate);
    }

    /// Sets the tick rate of the current section's provider to ticks of 1 ns, and states the wall clock (ns since the Unix
    /// epoch) at a tick.
    pub(super) fn wall_clock_at(&mut self, tick: u64, wall_ns: u64) {
        push_wall_clock(&mut self.out, tick, wall_ns);
    }

    /// Writes the provider's event 0: its buffer was full, and events were lost.
    pub(crate) fn buffer_full(&mut self, provider: u32) {
        let event = metadata::EVENT.put(metadata::BUFFER_FULL);
        self.word(sized(1) | metadata_record(metadata::PROVIDER_EVENT, provider) | event);
        self.counts.losses += 1;
    }

    /// Writes the strings of the fixed table, for a file that is written in one piece.
    #[cfg(test)]
    pub(crate) fn well_known_strings(&mut self) {
        let fixed = self.fixed;
        for (id, bytes) in fixed.strings.iter().skip(1) {
            self.string_record(id.0 as u16, bytes);
        }
    }

    pub(super) fn string_record(&mut self, index: u16, text: &[u8]) {
        let start = self.out.len();
        self.word(
            record(record_type::STRING)
                | string::INDEX.put(index.into())
                | string::BYTES.put(text.len() as u64),
        );
        self.stream(text);
        self.close(start);
        self.counts.strings += 1;
    }

    pub(super) fn thread_record(&mut self, index: u8, koids: ThreadKoids) {
        self.word(record(record_type::THREAD) | sized(3) | thread::INDEX.put(index.into()));
        self.word(koids.process);
        self.word(koids.thread);
        self.counts.threads += 1;
    }

    /// Writes an event. There are at most [`MOST_ARGS`] arguments, and they fit (see `args::fit`).
    pub(crate) fn event(&mut self, head: Head<'_>, args: &[Arg<'_>], last_word: Option<u64>) {
        self.prepare(args);
        self.prepared_event(head, last_word);
    }

    /// Writes an event with the prepared arguments.
    pub(crate) fn prepared_event(&mut self, head: Head<'_>, last_word: Option<u64>) {
        let thread = self.thread(head.thread);
        self.used.string(head.category.bits);
        self.used.string(head.name.bits);
        let texts = head.category.words() + head.name.words();
        let words = 2 + texts + self.arguments.len() / 8 + usize::from(last_word.is_some());
        dev_assert!(words <= MOST_RECORD_WORDS);
        let header = record(record_type::EVENT)
            | sized(words as u64)
            | event::KIND.put(head.event_type as u64)
            | event::ARGS.put(self.argument_count)
            | event::THREAD.put(thread.into())
            | event::CATEGORY.put(head.category.bits.into())
            | event::NAME.put(head.name.bits.into());
        // Hot path: every event is written here.
        let start = self.out.len();
        self.out.reserve(words * 8);
        let mut first = [0; 16];
        first[..8].copy_from_slice(&header.to_le_bytes());
        first[8..].copy_from_slice(&head.time.to_le_bytes());
        self.out.extend_from_slice(&first);
        if texts > 0 {
            self.stream(head.category.inline);
            self.stream(head.name.inline);
        }
        if self.argument_count > 0 {
            self.append_arguments();
        }
        if let Some(word) = last_word {
            self.word(word);
        }
        dev_assert!(self.out.len() - start == words * 8);
        self.counts.events[head.event_type as usize] += 1;
    }

    /// Writes an event with a payload of any size: a large record of format 0.
    pub(crate) fn large_event(&mut self, head: Head<'_>, args: &[Arg<'_>], payload: &[u8]) {
        self.prepare(args);
        self.prepared_large_event(head, payload);
    }

    /// Writes an event with a payload of any size and the prepared arguments.
    pub(crate) fn prepared_large_event(&mut self, head: Head<'_>, payload: &[u8]) {
        let thread = self.thread(head.thread);
        self.used.string(head.category.bits);
        self.used.string(head.name.bits);
        let start = self.out.len();
        self.word(0);
        self.word(
            large::CATEGORY.put(head.category.bits.into())
                | large::NAME.put(head.name.bits.into())
                | large::ARGS.put(self.argument_count)
                | large::THREAD.put(thread.into()),
        );
        self.stream(head.category.inline);
        self.stream(head.name.inline);
        self.word(head.time);
        self.append_arguments();
        self.word(payload.len() as u64);
        self.bytes(payload);
        self.close_large(start, large::EVENT);
    }

    /// Writes bytes without a thread: a blob of type `blob_type` (1 is data), or without a type a large record of that
    /// category.
    pub(crate) fn blob(
        &mut self,
        name: &[u8],
        category: &[u8],
        blob_type: Option<u8>,
        payload: &[u8],
    ) {
        let name = self.exact_name(name);
        self.used.string(name.bits);
        let start = self.out.len();
        let words = 1 + name.inline.len().div_ceil(8) + payload.len().div_ceil(8);
        match blob_type {
            Some(blob_type) if payload.len() <= MOST_BLOB_BYTES && words <= MOST_RECORD_WORDS => {
                self.word(
                    record(record_type::BLOB)
                        | blob::NAME.put(name.bits.into())
                        | blob::BYTES.put(payload.len() as u64)
                        | blob::KIND.put(blob_type.into()),
                );
                self.stream(name.inline);
                self.bytes(payload);
                self.close(start);
                self.counts.blobs += 1;
            }
            _ => {
                let category = self.exact_name(category);
                self.used.string(category.bits);
                // Registering the category may have written a record.
                let start = self.out.len();
                self.word(0);
                self.word(
                    large::CATEGORY.put(category.bits.into()) | large::NAME.put(name.bits.into()),
                );
                self.stream(category.inline);
                self.stream(name.inline);
                self.word(payload.len() as u64);
                self.bytes(payload);
                self.close_large(start, large::BLOB);
            }
        }
    }

    fn bytes(&mut self, payload: &[u8]) {
        push_bytes(&mut self.out, payload);
    }

    /// Writes the header of the large blob record that starts at `start`.
    fn close_large(&mut self, start: usize, format: u64) {
        let words = (self.out.len() - start) as u64 / 8;
        let header =
            record(record_type::LARGE) | large::WORDS.put(words) | large::FORMAT.put(format);
        if let Some(place) = self.out.get_mut(start..start + 8) {
            place.copy_from_slice(&header.to_le_bytes());
        }
        self.counts.large += 1;
    }

    /// Encodes arguments for the next record. Their names and texts are registered now, so no record may be open.
    pub(crate) fn prepare(&mut self, args: &[Arg<'_>]) {
        self.arguments.clear();
        self.argument_count = 0;
        for arg in args {
            let name = self.exact_name(&arg.name);
            self.prepare_one(name, &arg.value);
        }
    }

    /// Adds an argument to those of the next record. `name` must be the last reference that was requested.
    #[inline]
    pub(crate) fn prepare_one(&mut self, name: TextRef<'_>, value: &ArgValue<'_>) {
        let (kind, high, word) = match *value {
            ArgValue::Text(ref text) => {
                let text = self.value(text);
                return self.prepare_text(name, text);
            }
            ArgValue::Other(LongText(ref text)) => {
                let text = self.exact_name(text);
                return self.prepare_text(name, text);
            }
            ArgValue::Blob(ref bytes) => return self.prepare_blob(name, bytes),
            ArgValue::Null => (argument::NULL, 0, None),
            ArgValue::Int32(value) => (argument::INT32, value as u32, None),
            ArgValue::UInt32(value) => (argument::UINT32, value, None),
            ArgValue::Int64(value) => (argument::INT64, 0, Some(value as u64)),
            ArgValue::UInt64(value) => (argument::UINT64, 0, Some(value)),
            ArgValue::Double(value) => (argument::DOUBLE, 0, Some(value.to_bits())),
            ArgValue::Pointer(value) => (argument::POINTER, 0, Some(value)),
            ArgValue::Koid(value) => (argument::KOID, 0, Some(value)),
            ArgValue::Bool(value) => (argument::BOOL, u32::from(value), None),
        };
        self.prepare_value(name, PlainValue { kind, high, word });
    }

    /// As `prepare_one`, for a text by its reference.
    #[inline]
    pub(crate) fn prepare_text(&mut self, name: TextRef<'_>, text: TextRef<'_>) {
        self.used.string(name.bits);
        self.used.string(text.bits);
        let out = &mut self.arguments;
        let size = 1 + (name.inline.len().div_ceil(8) + text.inline.len().div_ceil(8)) as u64;
        push_word(
            out,
            argument_header(argument::TEXT, size, name.bits) | argument::HIGH.put(text.bits.into()),
        );
        push_bytes(out, name.inline);
        push_bytes(out, text.inline);
        self.argument_count += 1;
    }

    /// As `prepare_one`, for bytes.
    #[inline]
    pub(crate) fn prepare_blob(&mut self, name: TextRef<'_>, bytes: &[u8]) {
        self.used.string(name.bits);
        let out = &mut self.arguments;
        let size = 1 + (name.inline.len().div_ceil(8) + bytes.len().div_ceil(8)) as u64;
        push_word(
            out,
            argument_header(argument::BLOB, size, name.bits)
                | argument::HIGH.put(bytes.len() as u64),
        );
        push_bytes(out, name.inline);
        push_bytes(out, bytes);
        self.argument_count += 1;
    }

    /// As `prepare_one`, for other values.
    #[inline]
    fn prepare_value(&mut self, name: TextRef<'_>, value: PlainValue) {
        let PlainValue { kind, high, word } = value;
        self.used.string(name.bits);
        let out = &mut self.arguments;
        let size = 1 + name.inline.len().div_ceil(8) as u64 + u64::from(word.is_some());
        push_word(
            out,
            argument_header(kind, size, name.bits) | argument::HIGH.put(high.into()),
        );
        push_bytes(out, name.inline);
        if let Some(word) = word {
            push_word(out, word);
        }
        self.argument_count += 1;
    }

    /// Returns the number of bytes of the prepared arguments.
    pub(crate) fn prepared_bytes(&self) -> usize {
        self.arguments.len()
    }

    /// Appends the prepared arguments.
    #[inline]
    pub(super) fn append_arguments(&mut self) {
        self.out.extend_from_slice(&self.arguments);
    }

    /// Writes the name of the object at a pointer, with the prepared arguments: in a thread's process, or in the
    /// process of that koid.
    pub(crate) fn userspace_object(
        &mut self,
        pointer: u64,
        owner: Result<ThreadKoids, u64>,
        name: TextRef<'_>,
    ) {
        let thread = owner.map_or(0, |koids| self.thread(koids));
        self.used.string(name.bits);
        let start = self.out.len();
        self.word(
            record(record_type::USERSPACE_OBJECT)
                | userspace_object::THREAD.put(thread.into())
                | userspace_object::NAME.put(name.bits.into())
                | userspace_object::ARGS.put(self.argument_count),
        );
        self.word(pointer);
        if let Err(process) = owner {
            self.word(process);
        }
        self.stream(name.inline);
        self.append_arguments();
        self.close(start);
        self.counts.userspace_objects += 1;
    }

    /// Writes the name of a process.
    pub(crate) fn process_object(&mut self, koid: u64, name: &[u8]) {
        let process = ObjectKey {
            object_type: PROCESS,
            koid,
        };
        self.object(process, name, &[]);
    }

    /// Writes a kernel object with up to [`MOST_ARGS`] arguments, which fit.
    pub(crate) fn object(&mut self, key: ObjectKey, name: &[u8], args: &[Arg<'_>]) {
        // The name of an object is used once: it is inside the record if it fits.
        let name = match name.len() {
            0..=MOST_INLINE_BYTES => TextRef::inline(name),
            _ => self.exact_name(name),
        };
        self.used.string(name.bits);
        self.prepare(args);
        let start = self.out.len();
        self.word(
            record(record_type::KERNEL_OBJECT)
                | kernel_object::KIND.put(key.object_type)
                | kernel_object::NAME.put(name.bits.into())
                | kernel_object::ARGS.put(args.len() as u64),
        );
        self.word(key.koid);
        self.stream(name.inline);
        self.append_arguments();
        self.close(start);
        self.counts.objects += 1;
    }

    /// Writes a log message; one that is too long for a record continues in the next record.
    pub(crate) fn log(&mut self, time: u64, koids: ThreadKoids, message: &[u8]) {
        let mut rest = message;
        loop {
            let piece = cut_bytes(rest, MOST_LOG_BYTES);
            let thread = self.thread(koids);
            let start = self.out.len();
            self.word(
                record(record_type::LOG)
                    | log::BYTES.put(piece.len() as u64)
                    | log::THREAD.put(thread.into()),
            );
            self.word(time);
            self.stream(piece);
            self.close(start);
            self.counts.logs += 1;
            rest = rest.get(piece.len()..).unwrap_or(&[]);
            if rest.is_empty() {
                return;
            }
        }
    }
}
