//! FXT records: values in, the bytes of whole records out, with string and thread tables kept on the way.
//!
//! ```text
//! string index 1..=fixed        registered once, before the first chunk that uses it, and valid from there on
//!              fixed+1..=last   each chunk registers its own here, the oldest entry is replaced when all are taken
//! thread index the same, with 255 as the last
//! ```
//!
//! A chunk is encoded without knowing the others, so that chunks are made in parallel: it uses the fixed entries,
//! and of the rest only what it has registered itself. Names are registered when they are first used, values of
//! text arguments when they come a second time. Texts are written as their bytes.
//! Knows nothing of a trace; does not decide what becomes which record.
//! Specification: Fuchsia trace format, "Records", "Arguments"; scheduling records by its newer form.

use rustc_hash::FxHashMap;

pub use super::fixed_tables::{FixedTables, Zones};
use super::references::RECENT_THREADS;
pub use super::references::{TextRef, ThreadKoids, cut_bytes};
use super::registered::Used;
pub use super::values::{Arg, ArgValue, EventType, RecordCounts};
use crate::base::Strings;

/// The magic number record, first in a file.
pub const MAGIC: u64 = 0x0016_5478_4604_0010;
/// An ordinary record's size is 12 bits of words.
pub const MOST_RECORD_WORDS: usize = 4095;
/// An event's argument count is 4 bits.
pub const MOST_ARGS: usize = 15;
/// Texts up to this are registered when they may be repeated; longer ones hardly ever are.
pub const MOST_REPEATED_BYTES: usize = 256;
/// Names up to this may stand in a record, beside its 15 arguments; longer ones are registered.
pub const MOST_INLINE_BYTES: usize = 1000;
/// The longest text that can be registered: its record's size is limited.
pub const MOST_STRING_BYTES: usize = (MOST_RECORD_WORDS - 1) * 8;
/// The longest message of a log record: header and time are two words.
pub const MOST_LOG_BYTES: usize = (MOST_RECORD_WORDS - 2) * 8;
/// A blob record's payload size is 15 bits.
const MOST_BLOB_BYTES: usize = 0x7fff;

/// What an event record says before its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// What it is.
    pub event_type: EventType,
    /// When, in ticks.
    pub time: u64,
    /// Whose.
    pub thread: ThreadKoids,
    /// Its category.
    pub category: TextRef<'a>,
    /// Its name.
    pub name: TextRef<'a>,
}

impl Head<'_> {
    /// The words that are left for arguments: header, time and a last word are there as well.
    #[inline]
    pub fn room(&self) -> usize {
        MOST_RECORD_WORDS - 3 - self.category.words() - self.name.words()
    }
}

/// The type of the kernel objects that are processes.
pub const PROCESS: u64 = 1;
/// The type of those that are threads.
pub const THREAD: u64 = 2;

/// A growing list of records: one chunk of a file.
#[derive(Debug)]
pub struct Records<'t> {
    pub(super) fixed: &'t FixedTables,
    pub(super) out: Vec<u8>,
    /// Every text that this chunk met, and by its number there: 0, [`SEEN_ONCE`] (a value), or its index.
    pub(super) texts: Strings,
    pub(super) indices: Vec<u16>,
    /// Which of `texts` each index of the chunk's own zone holds.
    pub(super) string_ring: Vec<u32>,
    pub(super) next_string: usize,
    pub(super) threads: FxHashMap<ThreadKoids, u8>,
    pub(super) thread_ring: Vec<ThreadKoids>,
    pub(super) next_thread: usize,
    /// Threads that were asked for lately, each at [`thread_slot`].
    pub(super) recent_threads: Box<[(ThreadKoids, u8); RECENT_THREADS]>,
    /// The arguments of the record that is being written, and how many they are.
    arguments: Vec<u8>,
    pub(super) argument_count: u64,
    pub(super) used: Used,
    /// Whether texts stand in their record, as its section is that of a provider without tables.
    pub(super) is_inline: bool,
    /// What was written so far.
    pub counts: RecordCounts,
}

impl<'t> Records<'t> {
    /// No records yet.
    #[cfg(test)]
    pub fn new(fixed: &'t FixedTables) -> Records<'t> {
        Records::with_buffer(fixed, Vec::new())
    }

    /// No records yet; `buffer` is emptied and its room used.
    pub fn with_buffer(fixed: &'t FixedTables, mut buffer: Vec<u8>) -> Records<'t> {
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
            recent_threads: Box::new([((0, 0), 0); RECENT_THREADS]),
            arguments: Vec::new(),
            argument_count: 0,
            used: Used::none(),
            is_inline: false,
            counts: RecordCounts::default(),
        }
    }

    /// The bytes, what they are, and what must stand before them.
    pub fn finish(self) -> (Vec<u8>, RecordCounts, Used) {
        (self.out, self.counts, self.used)
    }

    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        push_word(&mut self.out, word);
    }

    #[inline]
    fn stream(&mut self, bytes: &[u8]) {
        push_bytes(&mut self.out, bytes);
    }

    /// Puts the size of the record that starts at `start` into its header.
    #[inline]
    pub(super) fn close(&mut self, start: usize) {
        close(&mut self.out, start);
    }

    /// The magic number.
    pub(super) fn magic(&mut self) {
        self.word(MAGIC);
    }

    /// Announces a provider: what follows is of its section.
    pub(super) fn provider_info(&mut self, number: u32, name: &[u8]) {
        let name = cut_bytes(name, 255);
        let start = self.out.len();
        self.word(1 << 16 | u64::from(number) << 20 | (name.len() as u64) << 52);
        self.stream(name);
        self.close(start);
    }

    /// What follows is of a section of the provider of that number.
    pub(super) fn provider_section(&mut self, number: u32) {
        self.word(1 << 4 | 2 << 16 | u64::from(number) << 20);
    }

    /// The head of a file of one provider.
    #[cfg(test)]
    pub fn head_of(&mut self, provider: &str) {
        self.magic();
        self.provider_info(1, provider.as_bytes());
        self.ticks_per_second(1_000_000_000);
    }

    /// The tick rate of the provider whose section it is.
    pub(super) fn ticks_per_second(&mut self, rate: u64) {
        self.word(1 | 2 << 4);
        self.word(rate);
    }

    /// The provider's event 0: its buffer was full, and what came then is lost.
    pub fn buffer_full(&mut self, provider: u32) {
        self.word(1 << 4 | 3 << 16 | u64::from(provider) << 20);
        self.counts.losses += 1;
    }

    /// The strings of the fixed table, of a file that is written in one piece.
    #[cfg(test)]
    pub fn well_known_strings(&mut self) {
        let fixed = self.fixed;
        for (id, bytes) in fixed.strings.iter().skip(1) {
            self.string_record(id.0 as u16, bytes);
        }
    }

    pub(super) fn string_record(&mut self, index: u16, text: &[u8]) {
        let start = self.out.len();
        self.word(2 | u64::from(index) << 16 | (text.len() as u64) << 32);
        self.stream(text);
        self.close(start);
        self.counts.strings += 1;
    }

    pub(super) fn thread_record(&mut self, index: u8, (process, thread): ThreadKoids) {
        self.word(3 | 3 << 4 | u64::from(index) << 16);
        self.word(process);
        self.word(thread);
        self.counts.threads += 1;
    }

    /// An event. There are at most [`MOST_ARGS`] arguments, and they fit (see `args::fit`).
    pub fn event(&mut self, head: Head<'_>, args: &[Arg<'_>], last_word: Option<u64>) {
        self.prepare(args);
        self.prepared_event(head, last_word);
    }

    /// An event with the arguments that were prepared.
    pub fn prepared_event(&mut self, head: Head<'_>, last_word: Option<u64>) {
        let thread = self.thread(head.thread);
        self.used.string(head.category.bits);
        self.used.string(head.name.bits);
        let texts = head.category.words() + head.name.words();
        let words = 2 + texts + self.arguments.len() / 8 + usize::from(last_word.is_some());
        debug_assert!(words <= MOST_RECORD_WORDS);
        let header = 4
            | (words as u64) << 4
            | (head.event_type as u64) << 16
            | self.argument_count << 20
            | u64::from(thread) << 24
            | u64::from(head.category.bits) << 32
            | u64::from(head.name.bits) << 48;
        // Every event comes here: as few steps as can be.
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
        debug_assert_eq!(self.out.len() - start, words * 8);
        self.counts.events[head.event_type as usize] += 1;
    }

    /// An event with a payload of any size: a large record of format 0.
    pub fn large_event(&mut self, head: Head<'_>, args: &[Arg<'_>], payload: &[u8]) {
        self.prepare(args);
        self.prepared_large_event(head, payload);
    }

    /// The same with the arguments that were prepared.
    pub fn prepared_large_event(&mut self, head: Head<'_>, payload: &[u8]) {
        let thread = self.thread(head.thread);
        self.used.string(head.category.bits);
        self.used.string(head.name.bits);
        let start = self.out.len();
        self.word(0);
        self.word(
            u64::from(head.category.bits)
                | u64::from(head.name.bits) << 16
                | self.argument_count << 32
                | u64::from(thread) << 36,
        );
        self.stream(head.category.inline);
        self.stream(head.name.inline);
        self.word(head.time);
        self.append_arguments();
        self.word(payload.len() as u64);
        self.bytes(payload);
        self.close_large(start, 0);
    }

    /// Bytes that belong to nobody: a blob of `blob_type` (1 is data), or a large one of that category.
    pub fn blob(&mut self, name: &[u8], category: &[u8], blob_type: Option<u8>, payload: &[u8]) {
        let name = self.exact_name(name);
        self.used.string(name.bits);
        let start = self.out.len();
        let words = 1 + name.inline.len().div_ceil(8) + payload.len().div_ceil(8);
        match blob_type {
            Some(blob_type) if payload.len() <= MOST_BLOB_BYTES && words <= MOST_RECORD_WORDS => {
                self.word(
                    5 | u64::from(name.bits) << 16
                        | (payload.len() as u64) << 32
                        | u64::from(blob_type) << 48,
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
                self.word(u64::from(category.bits) | u64::from(name.bits) << 16);
                self.stream(category.inline);
                self.stream(name.inline);
                self.word(payload.len() as u64);
                self.bytes(payload);
                self.close_large(start, 1);
            }
        }
    }

    fn bytes(&mut self, payload: &[u8]) {
        push_bytes(&mut self.out, payload);
    }

    /// Writes the header of the large blob record that starts at `start`.
    fn close_large(&mut self, start: usize, format: u64) {
        let words = (self.out.len() - start) as u64 / 8;
        let header = 15 | words << 4 | format << 40;
        if let Some(place) = self.out.get_mut(start..start + 8) {
            place.copy_from_slice(&header.to_le_bytes());
        }
        self.counts.large += 1;
    }

    /// Encodes arguments for the record that comes next. What must be registered for them is registered now, so that
    /// no record may be open.
    pub fn prepare(&mut self, args: &[Arg<'_>]) {
        self.arguments.clear();
        self.argument_count = 0;
        for arg in args {
            let name = self.exact_name(&arg.name);
            self.prepare_one(name, &arg.value);
        }
    }

    /// Adds an argument to those of the record that comes next. `name` was asked for last.
    #[inline]
    pub fn prepare_one(&mut self, name: TextRef<'_>, value: &ArgValue<'_>) {
        let (kind, high, word) = match *value {
            ArgValue::Text(ref text) => {
                let text = self.value(text);
                return self.prepare_text(name, text);
            }
            ArgValue::LongText(ref text) => {
                let text = self.exact_name(text);
                return self.prepare_text(name, text);
            }
            ArgValue::Blob(ref bytes) => return self.prepare_blob(name, bytes),
            ArgValue::Null => (0, 0, None),
            ArgValue::Int32(value) => (1, value as u32, None),
            ArgValue::UInt32(value) => (2, value, None),
            ArgValue::Int64(value) => (3, 0, Some(value as u64)),
            ArgValue::UInt64(value) => (4, 0, Some(value)),
            ArgValue::Double(value) => (5, 0, Some(value.to_bits())),
            ArgValue::Pointer(value) => (7, 0, Some(value)),
            ArgValue::Koid(value) => (8, 0, Some(value)),
            ArgValue::Bool(value) => (9, u32::from(value), None),
        };
        self.prepare_value(name, (kind, high), word);
    }

    /// The same for a text, by its reference.
    #[inline]
    pub fn prepare_text(&mut self, name: TextRef<'_>, text: TextRef<'_>) {
        self.used.string(name.bits);
        self.used.string(text.bits);
        let out = &mut self.arguments;
        let size = 1 + (name.inline.len().div_ceil(8) + text.inline.len().div_ceil(8)) as u64;
        push_word(
            out,
            6 | size << 4 | u64::from(name.bits) << 16 | u64::from(text.bits) << 32,
        );
        push_bytes(out, name.inline);
        push_bytes(out, text.inline);
        self.argument_count += 1;
    }

    /// The same for bytes.
    #[inline]
    pub fn prepare_blob(&mut self, name: TextRef<'_>, bytes: &[u8]) {
        self.used.string(name.bits);
        let out = &mut self.arguments;
        let size = 1 + (name.inline.len().div_ceil(8) + bytes.len().div_ceil(8)) as u64;
        push_word(
            out,
            10 | size << 4 | u64::from(name.bits) << 16 | (bytes.len() as u64) << 32,
        );
        push_bytes(out, name.inline);
        push_bytes(out, bytes);
        self.argument_count += 1;
    }

    /// The same for any other value: its type, the upper half of its header, and its word.
    #[inline]
    pub fn prepare_value(
        &mut self,
        name: TextRef<'_>,
        (kind, high): (u64, u32),
        word: Option<u64>,
    ) {
        self.used.string(name.bits);
        let out = &mut self.arguments;
        let size = 1 + name.inline.len().div_ceil(8) as u64 + u64::from(word.is_some());
        push_word(
            out,
            kind | size << 4 | u64::from(name.bits) << 16 | u64::from(high) << 32,
        );
        push_bytes(out, name.inline);
        if let Some(word) = word {
            push_word(out, word);
        }
        self.argument_count += 1;
    }

    /// Bytes that the prepared arguments take.
    pub fn prepared_bytes(&self) -> usize {
        self.arguments.len()
    }

    /// Appends the arguments that were prepared.
    #[inline]
    pub(super) fn append_arguments(&mut self) {
        self.out.extend_from_slice(&self.arguments);
    }

    /// The name of what a pointer points to, with the arguments that were prepared: in a thread's process, or in the
    /// process of that koid.
    pub fn userspace_object(
        &mut self,
        pointer: u64,
        owner: Result<ThreadKoids, u64>,
        name: TextRef<'_>,
    ) {
        let thread = owner.map_or(0, |koids| self.thread(koids));
        self.used.string(name.bits);
        let start = self.out.len();
        self.word(
            6 | u64::from(thread) << 16 | u64::from(name.bits) << 24 | self.argument_count << 40,
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

    /// The name of a process.
    pub fn process_object(&mut self, koid: u64, name: &[u8]) {
        self.object((PROCESS, koid), name, &[]);
    }

    /// The name of a thread, and its process.
    #[cfg(test)]
    pub fn thread_object(&mut self, (process, thread): ThreadKoids, name: &[u8]) {
        let process = Arg::new("process", ArgValue::Koid(process));
        self.object((THREAD, thread), name, &[process]);
    }

    /// With up to [`MOST_ARGS`] arguments, which fit.
    pub fn object(&mut self, (object_type, koid): (u64, u64), name: &[u8], args: &[Arg<'_>]) {
        // Names of objects are used once: they stand in the record if they fit.
        let name = match name.len() {
            0..=MOST_INLINE_BYTES => TextRef::inline(name),
            _ => self.exact_name(name),
        };
        self.used.string(name.bits);
        self.prepare(args);
        let start = self.out.len();
        let bits = u64::from(name.bits);
        self.word(7 | object_type << 16 | bits << 24 | (args.len() as u64) << 40);
        self.word(koid);
        self.stream(name.inline);
        self.append_arguments();
        self.close(start);
        self.counts.objects += 1;
    }

    /// A log message; one that is too long for a record goes on in the next.
    pub fn log(&mut self, time: u64, koids: ThreadKoids, message: &[u8]) {
        let mut rest = message;
        loop {
            let piece = cut_bytes(rest, MOST_LOG_BYTES);
            let thread = self.thread(koids);
            let start = self.out.len();
            self.word(9 | (piece.len() as u64) << 16 | u64::from(thread) << 32);
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

#[inline]
fn push_word(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Bytes, padded to whole words.
#[inline]
fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    out.extend_from_slice(bytes);
    let padded = out.len().next_multiple_of(8);
    out.resize(padded, 0);
}

/// Puts the size of what starts at `start` into its header: bits 4 to 15, in words.
#[inline]
fn close(out: &mut [u8], start: usize) {
    let words = (out.len() - start) as u64 / 8;
    debug_assert!(words <= MOST_RECORD_WORDS as u64);
    if let Some(header) = out.get_mut(start..start + 2) {
        header[0] |= (words << 4) as u8;
        header[1] |= (words >> 4) as u8;
    }
}
