//! Pass 1: which entries of the string and thread tables the kept records refer to, and which kernel objects are kept.

use rustc_hash::FxHashSet;

use super::arguments::own_args;
use super::file::header_at;
use super::input::Input;
use super::kept::Marks;
use super::places::{Places, Record, is_blob, is_timed};
use super::tables::Tables;
use crate::base::{ByteOrder, Job, Timestamp};
use crate::export::exporter::ExportError;
use crate::export::fxt::lives;
use crate::export::fxt::records::{Arg, ObjectKey, PROCESS, THREAD};
use crate::fxt::agreed::{
    DROPPED, LIFE_ARGUMENTS, LOST_EVENTS, OVERWRITTEN, OWN_CATEGORY, OWN_PROVIDER, is_of_recording,
    is_stand_in,
};
use crate::fxt::args::Args;
use crate::fxt::layout::{
    RECORD_TYPE, event, kernel_object, metadata, record_type, string, thread,
};
use crate::fxt::parts::{Parts, visit};
use crate::fxt::words::{TextRef, Words, fetch_ahead, read_text, size_bytes, without_nuls};

/// The most events of one time among which a kept one is searched.
const MOST_LOOKED_AT: usize = 64;

/// The result of pass 1.
#[derive(Debug, Default)]
pub(crate) struct References<'a> {
    /// Kept records that cannot be copied, sorted by place.
    pub odd: Vec<u64>,
    /// Kernel objects that are encoded again.
    pub objects: Vec<KernelObject<'a>>,
    /// The processes and threads that have kernel objects, as kind and koid.
    pub seen: FxHashSet<ObjectKey>,
    /// Koids of threads that a whole file registers and to which no kept record refers: the table of threads still
    /// gets them.
    pub unused_threads: FxHashSet<u64>,
    /// Blobs that are written after another record than in the file, each with the place after which it is written.
    pub moved: Vec<(u64, Record)>,
    /// Whether providers use entries that were registered before the first provider was announced.
    pub has_inheritance: bool,
    /// Whether the whole trace is chosen.
    pub is_whole: bool,
    /// Places of events that only describe where events were lost, sorted.
    losses: Vec<u64>,
}

/// A kernel object record that cannot be copied.
#[derive(Debug)]
pub(crate) struct KernelObject<'a> {
    /// The kind of object: process, thread or another.
    pub kind: u64,
    /// The koid.
    pub koid: u64,
    /// The name.
    pub name: &'a [u8],
    /// The arguments, without those that are true for the whole trace only.
    pub args: Vec<Arg<'a>>,
}

/// The places of the entries to which one record refers.
struct Entries<'t> {
    tables: &'t Tables,
    found: Vec<u64>,
    /// Whether all entries were registered, and all argument types are known.
    is_resolved: bool,
    /// The word after the arguments of an event.
    last_word: Option<u64>,
}

impl Parts for Entries<'_> {
    fn string(&mut self, index: u16) {
        let place = self.tables.string(index);
        self.is_resolved &= place.is_some();
        self.found.extend(place);
    }

    fn thread(&mut self, index: u8) {
        let place = self.tables.thread(index);
        self.is_resolved &= place.is_some();
        self.found.extend(place);
    }

    fn last_word(&mut self, word: u64) {
        self.last_word = Some(word);
    }

    fn unknown(&mut self) {
        self.is_resolved = false;
    }
}

impl<'a> References<'a> {
    /// Walks the file. Adds the other records that the copy needs to `kept`, and removes those that cannot be copied.
    pub(super) fn find<O: ByteOrder>(
        input: &Input<'a, '_>,
        places: &Places,
        job: &Job,
    ) -> Result<References<'a>, ExportError> {
        let bytes = input.file.bytes;
        let mut walk = Walk::<O> {
            input,
            file: Words::new(bytes),
            places,
            kept: &places.kept,
            last_timed: None,
            tables: Tables::default(),
            found: References {
                is_whole: input.source.chosen.is_whole(),
                ..References::default()
            },
            lives: FxHashSet::default(),
            registered: Vec::new(),
            entries: Vec::new(),
            is_after_loss: false,
            own: FxHashSet::default(),
        };
        if !walk.found.is_whole {
            walk.lives = known_lives(input);
        }
        let (mut at, mut next_check) = (0, 0);
        while let Some(header) = header_at::<O>(bytes, at as u64) {
            fetch_ahead(bytes, at);
            if at >= next_check {
                job.check()?;
                next_check = at + (1 << 20);
            }
            let Some(size) = size_bytes(header) else {
                // Zeroes between records are skipped; a header without a size ends the file.
                if header == 0 {
                    at += 8;
                    continue;
                }
                break;
            };
            let Some(record) = bytes.get(at..).and_then(|rest| rest.get(..size)) else {
                break;
            };
            walk.record(header, Words::new(record), at as u64);
            at += size;
        }
        walk.found.has_inheritance = walk.tables.has_inheritance;
        let unused = (walk.registered.iter())
            .filter(|(place, _)| !walk.kept.has((place / 8) as usize))
            .map(|(_, koid)| *koid);
        walk.found.unused_threads = unused.collect();
        Ok(walk.found)
    }

    /// Returns whether an event only describes a loss: no other record may get its time.
    pub(crate) fn is_loss(&self, place: u64) -> bool {
        !self.losses.is_empty() && self.losses.binary_search(&place).is_ok()
    }
}

/// Returns the processes and threads for which the encoder would write when they began or ended.
fn known_lives(input: &Input<'_, '_>) -> FxHashSet<ObjectKey> {
    let (source, named) = (input.source, input.named);
    let processes = named.processes.iter().filter_map(|id| {
        let process = source.trace.processes.get(id.0 as usize)?;
        (!lives::of_process(source, *id).is_empty()).then_some(ObjectKey {
            object_type: PROCESS,
            koid: process.pid,
        })
    });
    let threads = named.threads.iter().filter_map(|id| {
        let is_known = !lives::of_thread(source, *id).is_empty();
        is_known.then(|| ObjectKey {
            object_type: THREAD,
            koid: source.trace.thread(*id).tid,
        })
    });
    processes.chain(threads).collect()
}

/// Returns whether a record is a complete event that ends before it starts: the reader shows it without a length, and
/// reports that.
fn ends_before_it_begins<O: ByteOrder>(record: Words<'_, O>, last_word: Option<u64>) -> bool {
    let header = record.get(0).unwrap_or(0);
    RECORD_TYPE.get(header) == record_type::EVENT
        && event::KIND.get(header) == event::COMPLETE
        && last_word < record.get(1)
}

/// Returns whether a metadata record reports that a provider's buffer was full.
pub(crate) fn is_loss(header: u64) -> bool {
    metadata::KIND.get(header) == metadata::PROVIDER_EVENT
        && metadata::EVENT.get(header) == metadata::BUFFER_FULL
}

struct Walk<'i, 'a, 't, O> {
    input: &'i Input<'a, 't>,
    file: Words<'a, O>,
    places: &'i Places,
    kept: &'i Marks,
    /// The place of the last record before that has a time: a blob in the file has this time.
    last_timed: Option<u64>,
    tables: Tables,
    found: References<'a>,
    /// The processes and threads whose start or end the model contains, as kind and koid; empty for whole files.
    lives: FxHashSet<ObjectKey>,
    /// The places of thread records and their koids; for whole files only.
    registered: Vec<(u64, u64)>,
    /// A buffer for the entries of a record.
    entries: Vec<u64>,
    /// Whether the next event may describe a loss.
    is_after_loss: bool,
    /// The providers that this program announced in an earlier export.
    own: FxHashSet<u32>,
}

impl<'a, O: ByteOrder> Walk<'_, 'a, '_, O> {
    fn record(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        match RECORD_TYPE.get(header) {
            record_type::METADATA => {
                self.tables.metadata(header);
                self.note_own(header, record);
                if self.found.is_whole && is_loss(header) {
                    self.keep(place);
                }
                return;
            }
            record_type::INITIALIZATION => {
                // A rate of 0 gives no record a time.
                if record.get(1).is_some_and(|rate| rate != 0) {
                    self.tables.add_rate();
                    self.keep(place);
                }
                return;
            }
            record_type::STRING => {
                self.tables
                    .add_string(string::INDEX.get(header) as u16, place);
                return;
            }
            record_type::THREAD => {
                if record.get(2).is_some() {
                    self.tables
                        .add_thread(thread::INDEX.get(header) as u8, place);
                    if self.found.is_whole {
                        self.registered
                            .extend(record.get(2).map(|koid| (place, koid)));
                    }
                }
                return;
            }
            record_type::KERNEL_OBJECT => return self.kernel_object(header, record, place),
            record_type::SCHEDULING => self.is_after_loss = false,
            record_type::EVENT
                if std::mem::take(&mut self.is_after_loss)
                    && self.describes_loss(header, record) =>
            {
                self.found.losses.push(place);
                if self.found.is_whole && self.refer(record) {
                    self.keep(place);
                }
                return;
            }
            _ => {}
        }
        if is_timed(header) {
            self.last_timed = Some(place);
        } else if is_blob(header) && self.kept.has((place / 8) as usize) {
            self.follow_another(place);
        }
        if self.kept.has((place / 8) as usize) && !self.refer(record) {
            self.kept.remove((place / 8) as usize);
            self.found.odd.push(place);
        }
    }

    fn note_own(&mut self, header: u64, record: Words<'a, O>) {
        let number = metadata::PROVIDER.get(header) as u32;
        match metadata::KIND.get(header) {
            metadata::PROVIDER_INFO => {
                let name = record.text(1, OWN_PROVIDER.len()).unwrap_or(&[]);
                match name == OWN_PROVIDER.as_bytes() {
                    true => self.own.insert(number),
                    false => self.own.remove(&number),
                };
            }
            metadata::PROVIDER_EVENT if is_loss(header) => {
                self.is_after_loss = self.own.contains(&number);
            }
            _ => {}
        }
    }

    /// Moves a blob after a kept record of its time, if the record before it is not kept.
    fn follow_another(&mut self, place: u64) {
        let is_kept = |place: u64| self.kept.has((place / 8) as usize);
        if self.last_timed.is_none_or(is_kept) {
            return;
        }
        let Some(record) = self.places.untimed(place) else {
            return;
        };
        let events = &self.input.source.trace.events;
        let same = events
            .from_time(Timestamp(record.time))
            .take_while(|&id| events.time(id).0 == record.time)
            .take(MOST_LOOKED_AT);
        let mut places = same.map(|id| events.get(id).row.place);
        let is_timed_at =
            |place: u64| header_at::<O>(self.input.file.bytes, place).is_some_and(is_timed);
        if let Some(other) = places.find(|&other| is_kept(other) && is_timed_at(other)) {
            self.kept.remove((place / 8) as usize);
            self.found.moved.push((other.saturating_add(1), record));
        }
    }

    fn keep(&self, place: u64) {
        self.kept.add((place / 8) as usize);
    }

    /// Keeps the entries to which a record refers. Returns `false` if the record is too short for its content, some
    /// entries were never registered, or an argument has an unknown type.
    fn refer(&mut self, record: Words<'a, O>) -> bool {
        let mut entries = Entries {
            tables: &self.tables,
            found: std::mem::take(&mut self.entries),
            is_resolved: true,
            last_word: None,
        };
        entries.found.clear();
        let is_whole = visit(record, &mut entries).is_some()
            && entries.is_resolved
            && !ends_before_it_begins(record, entries.last_word);
        self.entries = entries.found;
        if is_whole {
            for &place in &self.entries {
                self.keep(place);
            }
        }
        is_whole
    }

    fn text(&self, text: TextRef<'a>) -> Option<&'a [u8]> {
        match text {
            TextRef::Inline(bytes) => Some(bytes),
            TextRef::Index(0) => Some(&[]),
            TextRef::Index(index) => {
                let record = self.file.record_at(self.tables.string(index)?)?;
                let most = record.count().saturating_sub(1) * 8;
                let length = string::BYTES.get(record.get(0)?) as usize;
                record.text(1, length.min(most)).map(without_nuls)
            }
        }
    }

    /// Returns whether an event describes the loss before it, as this exporter writes it.
    fn describes_loss(&self, header: u64, record: Words<'a, O>) -> bool {
        let mut at = match event::THREAD.get(header) {
            0 => 4,
            _ => 2,
        };
        let category = read_text(event::CATEGORY.get(header), record, &mut at);
        let name = read_text(event::NAME.get(header), record, &mut at);
        let is = |text: Option<TextRef<'a>>, wanted: &str| {
            text.and_then(|text| self.text(text)) == Some(wanted.as_bytes())
        };
        event::KIND.get(header) == event::INSTANT
            && is(category, OWN_CATEGORY)
            && is(name, LOST_EVENTS)
    }

    /// Returns whether a kernel object contains when it began or ended.
    fn has_life(&self, header: u64, record: Words<'a, O>) -> bool {
        let mut at = 2;
        if read_text(kernel_object::NAME.get(header), record, &mut at).is_none() {
            return false;
        }
        Args::new(record, at, kernel_object::ARGS.get(header)).any(|arg| {
            let name = self.text(arg.name).unwrap_or(&[]);
            LIFE_ARGUMENTS.iter().any(|known| known.as_bytes() == name)
        })
    }

    fn kernel_object(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        let kind = kernel_object::KIND.get(header);
        let Some(koid) = record.get(1) else { return };
        if is_of_recording(kind, koid) {
            // A part of the recording has another last moment.
            if self.found.is_whole && self.refer(record) {
                self.keep(place);
            }
            return;
        }
        let named = self.input.named;
        let is_kept = match kind {
            _ if is_stand_in(koid) && named.has_stand_in(koid) => true,
            PROCESS => named.process_koids.contains(&koid),
            THREAD => named.thread_koids.contains(&koid),
            _ => true,
        };
        let key = ObjectKey {
            object_type: kind,
            koid,
        };
        if self.lives.contains(&key) && !self.has_life(header, record) {
            // The events that contain these times may be outside the range: the encoder writes the object again, with
            // the times.
            return;
        }
        self.found.seen.insert(key);
        if !is_kept {
            return;
        }
        // The losses of a CPU are counted for the whole trace: for a part they are unknown.
        let is_true = self.found.is_whole || !is_stand_in(koid);
        if is_true && self.refer(record) {
            return self.keep(place);
        }
        let mut at = 2;
        let name = read_text(kernel_object::NAME.get(header), record, &mut at);
        if let Some(name) = name.and_then(|name| self.text(name)) {
            let args = Args::new(record, at, kernel_object::ARGS.get(header));
            let mut args = own_args(args, |text| self.text(text));
            let of_all = [OVERWRITTEN, DROPPED].map(str::as_bytes);
            args.retain(|arg| !of_all.contains(&&*arg.name));
            self.found.objects.push(KernelObject {
                kind,
                koid,
                name,
                args,
            });
        }
    }
}
