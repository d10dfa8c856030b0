//! The pass over all record headers: collects tables, names and cut points.
//!
//! It reads every record's header, and more only of records that set tables or name threads, so it runs at memory
//! speed. The parts (`emit`) read whole events, in parallel: cut points are at record boundaries about every 8 MB.

use crate::base::{Diagnostics, Job, Location, ReadError, Severity};
use crate::event::{CpuLoss, Gap, ThreadKey};

use super::entities::{Entities, OBJECT_THREAD};
use super::lives::ObjectLife;
use super::loss_facts::SaidLoss;
use super::tables::{ProviderSlot, Tables};
use super::ticks::TickScale;
use crate::base::ByteOrder;
use crate::fxt::args::{ArgValue, Args, UNKNOWN_ARGUMENT, object_owner_words};
use crate::fxt::layout::scheduling::{self, legacy};
use crate::fxt::layout::{
    MAGIC, RECORD_TYPE, event, kernel_object, large, log, metadata, profiler, record_type, string,
    thread, userspace_object,
};
use crate::fxt::words::{TextRef, Words, fetch_ahead, read_text, size_bytes, without_nuls};

/// A part ends at the first record boundary at or after each multiple of this, bytes.
const PART_BYTES: usize = 8 << 20;
const CHECK_BYTES: usize = 1 << 20;

/// Result of the pass over headers.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Strings, threads, rates and providers by place.
    pub tables: Tables,
    /// Threads, processes and names.
    pub entities: Entities,
    /// Start of each part, then the end of the last part: right after the last whole record. Byte offsets.
    pub cuts: Vec<u64>,
    /// Per part, the place of its first record that has a time.
    pub first_timed: Vec<Option<u64>>,
    /// Records without a time of their own, each with the time in ns at which it is shown.
    pub untimed: Vec<(u64, i64)>,
    /// Gaps at which providers ran out of buffer, with their places.
    pub gaps: Vec<(u64, Gap)>,
    /// Places of the events that only describe one of `gaps`, in file order; see `loss_facts`.
    pub loss_facts: Vec<u64>,
    /// Count of events that each CPU lost, in files of our own exporter.
    pub cpu_losses: Vec<CpuLoss>,
    /// Userspace objects: (process koid, pointer, place of the record), sorted.
    pub objects: Vec<(u64, u64, u64)>,
    /// Places of large and small blobs, in file order.
    pub blobs: Vec<u64>,
    /// Of the first 4-word initialization record: base tick in ns on the trace's clock, and wall-clock time in ns.
    pub wall_clock: Option<(i64, u64)>,
    /// Number of records.
    pub record_count: u64,
    /// Diagnostics of the pass.
    pub diagnostics: Diagnostics,
}

impl Scan {
    /// Returns the place of the last userspace object record before `place` that names a pointer of a process.
    #[must_use]
    pub(crate) fn object_of(&self, process: u64, pointer: u64, place: u64) -> Option<u64> {
        let key = (process, pointer, place);
        let after = self.objects.partition_point(|object| *object <= key);
        let &(found_process, found_pointer, place) = self.objects.get(after.checked_sub(1)?)?;
        ((found_process, found_pointer) == (process, pointer)).then_some(place)
    }
}

/// Runs over all records of a file.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(crate) fn scan<O: ByteOrder>(bytes: &[u8], job: &Job) -> Result<Scan, ReadError> {
    let mut scanner = Scanner::<O> {
        file: Words::new(bytes),
        found: Scan::default(),
        slot: 0,
        last_timed: None,
        first_timed: None,
        provider_timed: vec![None],
        untimed: Vec::new(),
        said_times: Vec::new(),
        holes: Vec::new(),
        said_losses: Vec::new(),
        expects_loss_facts: false,
        recent_pairs: vec![(0, 0, ThreadKey::IDLE); 256],
        recent_tids: vec![0; 256],
    };
    scanner.run(bytes, job)?;
    Ok(scanner.finish())
}

pub(super) struct Scanner<'a, O> {
    pub(super) file: Words<'a, O>,
    pub(super) found: Scan,
    pub(super) slot: ProviderSlot,
    /// The last record with a time, in the current provider; `provider_timed` has those of the others.
    last_timed: Option<u64>,
    pub(super) first_timed: Option<u64>,
    provider_timed: Vec<Option<u64>>,
    /// Records without a time, each with the place of the record whose time it gets.
    pub(super) untimed: Vec<(u64, Option<u64>)>,
    /// Objects whose record contains their time of registration, each with that time in ns.
    pub(super) said_times: Vec<(u64, i64)>,
    pub(super) holes: Vec<(u64, ProviderSlot, Option<u64>)>,
    /// Facts about `holes`, by index.
    pub(super) said_losses: Vec<(usize, SaidLoss)>,
    /// Whether the next event may describe the loss before it.
    expects_loss_facts: bool,
    /// Direct-mapped: recent registrations need no look-up.
    recent_pairs: Vec<(u64, u64, ThreadKey)>,
    recent_tids: Vec<u64>,
}

fn cache_index(koid: u64) -> usize {
    (koid.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}

impl<'a, O: ByteOrder> Scanner<'a, O> {
    fn run(&mut self, bytes: &'a [u8], job: &Job) -> Result<(), ReadError> {
        let mut at = 0;
        let mut next_cut = 0;
        let mut next_check = 0;
        let mut part_first_timed = None;
        let mut count = 0_u64;
        while let Some(&chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let header = O::u64(chunk);
            fetch_ahead(bytes, at);
            let Some(size) = size_bytes(header) else {
                if header == 0 {
                    self.note("zero_word", Severity::Info, at, || {
                        "a word of zeroes between two records was skipped".to_owned()
                    });
                    at += 8;
                    continue;
                }
                let left = bytes.len() - at;
                self.note("record_size_zero", Severity::Error, at, || {
                    format!("a record header of size 0: the {left} bytes from here cannot be read")
                });
                break;
            };
            let Some(record) = bytes.get(at..).and_then(|rest| rest.get(..size)) else {
                let left = bytes.len() - at;
                self.note("cut_record", Severity::Error, at, || {
                    format!(
                        "the file ends inside a record of {size} bytes, of which {left} are there"
                    )
                });
                break;
            };
            // Cut only at record boundaries, and rarely: both checks are needed once per megabyte at most.
            if at >= next_check {
                job.check()?;
                next_check = at + CHECK_BYTES;
                if at >= next_cut {
                    if at > 0 {
                        self.found.first_timed.push(part_first_timed.take());
                    }
                    self.found.cuts.push(at as u64);
                    next_cut = at + PART_BYTES;
                }
            }
            let record = Words::<O>::new(record);
            let is_timed = match RECORD_TYPE.get(header) {
                record_type::EVENT => {
                    if event::THREAD.get(header) == 0 {
                        self.inline_thread(record, 2);
                    }
                    !(std::mem::take(&mut self.expects_loss_facts)
                        && self.takes_loss_facts(header, record, at))
                }
                record_type::SCHEDULING => {
                    self.expects_loss_facts = false;
                    self.scheduling(header, record)
                }
                record_type::STRING => {
                    self.string(header, at);
                    false
                }
                _ => self.rare(header, record, at),
            };
            if is_timed {
                self.last_timed = Some(at as u64);
                if part_first_timed.is_none() {
                    part_first_timed = self.last_timed;
                    self.first_timed = self.first_timed.or(part_first_timed);
                }
            }
            count += 1;
            at += size;
        }
        if bytes.len() - at.min(bytes.len()) > 0 && bytes.len() - at < 8 {
            let left = bytes.len() - at;
            self.note("cut_record", Severity::Error, at, || {
                format!("the file ends inside a record header, {left} of its 8 bytes are there")
            });
        }
        if !self.found.cuts.is_empty() {
            self.found.first_timed.push(part_first_timed);
            self.found.cuts.push(at as u64);
        }
        self.found.record_count = count;
        Ok(())
    }

    pub(super) fn note(
        &mut self,
        code: &'static str,
        severity: Severity,
        at: usize,
        message: impl FnOnce() -> String,
    ) {
        let at = Location::Byte(at as u64);
        self.found.diagnostics.note(code, severity, at, message);
    }

    fn pair(&mut self, process: u64, tid: u64) -> ThreadKey {
        let index = cache_index(tid ^ process.rotate_left(32));
        if let Some(&(recent_process, recent_tid, key)) = self.recent_pairs.get(index)
            && (recent_process, recent_tid) == (process, tid)
            && key != ThreadKey::IDLE
        {
            return key;
        }
        let key = self.found.entities.pair(process, tid);
        if let Some(entry) = self.recent_pairs.get_mut(index) {
            *entry = (process, tid, key);
        }
        key
    }

    fn inline_thread(&mut self, record: Words<'a, O>, at: usize) {
        if let (Some(process), Some(tid)) = (record.get(at), record.get(at + 1)) {
            self.pair(process, tid);
        }
    }

    fn scheduled(&mut self, tid: Option<u64>) {
        let Some(tid) = tid else { return };
        if let Some(entry) = self.recent_tids.get_mut(cache_index(tid)) {
            if *entry == tid && tid != 0 {
                return;
            }
            *entry = tid;
        }
        self.found.entities.add_scheduled(tid);
    }

    /// Reads a scheduling record. Returns whether it has a time.
    fn scheduling(&mut self, header: u64, record: Words<'a, O>) -> bool {
        match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => {
                let mut at = 2;
                for side in [legacy::OUTGOING, legacy::INCOMING] {
                    if side.get(header) == 0 {
                        self.inline_thread(record, at);
                        at += 2;
                    }
                }
                true
            }
            scheduling::SWITCH => {
                self.scheduled(record.get(2));
                self.scheduled(record.get(3));
                true
            }
            scheduling::WAKEUP => {
                self.scheduled(record.get(2));
                true
            }
            _ => false,
        }
    }

    fn string(&mut self, header: u64, at: usize) {
        let index = string::INDEX.get(header) as u16;
        if index != 0 {
            self.found.tables.add_string(self.slot, index, at as u64);
        }
    }

    /// Reads a record other than event, scheduling and string. Returns whether it has a time.
    fn rare(&mut self, header: u64, record: Words<'a, O>, at: usize) -> bool {
        match RECORD_TYPE.get(header) {
            record_type::METADATA => self.metadata(header, record, at),
            record_type::INITIALIZATION => self.initialization(record, at),
            record_type::THREAD => {
                let index = thread::INDEX.get(header) as u8;
                if let (Some(process), Some(tid)) = (record.get(1), record.get(2))
                    && index != 0
                {
                    let key = self.pair(process, tid);
                    self.found
                        .tables
                        .add_thread(self.slot, index, at as u64, key);
                }
            }
            record_type::BLOB => {
                self.found.blobs.push(at as u64);
                self.untimed.push((at as u64, self.last_timed));
            }
            record_type::USERSPACE_OBJECT => self.userspace_object(header, record, at),
            record_type::KERNEL_OBJECT => self.kernel_object(header, record, at),
            record_type::LOG => {
                if log::THREAD.get(header) == 0 {
                    self.inline_thread(record, 2);
                }
                return true;
            }
            record_type::PROFILER => {
                if profiler::THREAD.get(header) == 0
                    && super::profiler::has_two_word_thread(header, record)
                {
                    self.inline_thread(record, 2);
                }
                return profiler::KIND.get(header) <= profiler::A_BACKTRACE;
            }
            record_type::LARGE => self.large(header, record, at),
            other => self.note("unknown_record_type", Severity::Info, at, || {
                format!("a record of type {other}, which no specification has, was skipped")
            }),
        }
        false
    }

    fn metadata(&mut self, header: u64, record: Words<'a, O>, at: usize) {
        let place = at as u64;
        let id = metadata::PROVIDER.get(header) as u32;
        match metadata::KIND.get(header) {
            metadata::PROVIDER_INFO => {
                let length = metadata::NAME_BYTES.get(header) as usize;
                let most = record.count().saturating_sub(1) * 8;
                if length > most {
                    self.note("short_record", Severity::Error, at, || {
                        "a provider's name reaches past its record".to_owned()
                    });
                }
                let name = without_nuls(record.text(1, length.min(most)).unwrap_or(&[]));
                let slot = self.found.tables.announce(place, id, name);
                self.enter(slot);
            }
            metadata::PROVIDER_SECTION => {
                if let Some(slot) = self.found.tables.switch(place, id) {
                    self.enter(slot);
                } else {
                    self.note("unknown_provider", Severity::Error, at, || {
                        format!("a section of provider {id}, which was not announced")
                    });
                    let slot = self.found.tables.announce(place, id, b"");
                    self.enter(slot);
                }
            }
            metadata::PROVIDER_EVENT => {
                let event = metadata::EVENT.get(header);
                if event == metadata::BUFFER_FULL {
                    let slot = self.found.tables.latest(id).unwrap_or(self.slot);
                    self.remember_timed();
                    let last = self.provider_timed.get(slot as usize).copied().flatten();
                    self.holes.push((place, slot, last));
                    self.expects_loss_facts = self.is_of_our_own(slot);
                } else {
                    self.note("unknown_metadata", Severity::Info, at, || {
                        format!("provider event {event} was skipped")
                    });
                }
            }
            metadata::TRACE_INFO => {
                let info_type = metadata::INFO_TYPE.get(header);
                if header != MAGIC {
                    self.note("unknown_metadata", Severity::Info, at, || {
                        format!("a trace info record of type {info_type} was skipped")
                    });
                }
            }
            other => self.note("unknown_metadata", Severity::Info, at, || {
                format!("a metadata record of type {other} was skipped")
            }),
        }
    }

    fn remember_timed(&mut self) {
        if let Some(entry) = self.provider_timed.get_mut(self.slot as usize) {
            *entry = self.last_timed;
        }
    }

    fn enter(&mut self, slot: ProviderSlot) {
        self.remember_timed();
        let count = self.provider_timed.len().max(slot as usize + 1);
        self.provider_timed.resize(count, None);
        self.slot = slot;
    }

    fn initialization(&mut self, record: Words<'a, O>, at: usize) {
        let Some(rate) = record.get(1) else {
            self.note("short_record", Severity::Error, at, || {
                "an initialization record without a tick rate".to_owned()
            });
            return;
        };
        if rate == 0 {
            self.note("tick_rate_zero", Severity::Error, at, || {
                "a tick rate of 0: what follows has no time and cannot be shown".to_owned()
            });
        }
        let scale = TickScale::new(rate);
        self.found.tables.add_rate(self.slot, at as u64, scale);
        if let (Some(base), Some(wall), None) =
            (record.get(2), record.get(3), self.found.wall_clock)
        {
            self.found.wall_clock = scale.nanos(base).map(|base| (base, wall));
        }
    }

    /// Returns the bytes of a text that a record refers to, with the tables as they are now.
    pub(super) fn text(&self, text: TextRef<'a>, at: usize) -> Option<&'a [u8]> {
        match text {
            TextRef::Inline(bytes) => Some(bytes),
            TextRef::Index(0) => Some(&[]),
            TextRef::Index(index) => {
                let place = self.found.tables.string_at(self.slot, index, at as u64)?;
                string_bytes(self.file, place)
            }
        }
    }

    fn kernel_object(&mut self, header: u64, record: Words<'a, O>, at: usize) {
        let mut next = 2;
        let (Some(koid), Some(name)) = (
            record.get(1),
            read_text(kernel_object::NAME.get(header), record, &mut next),
        ) else {
            self.note("short_record", Severity::Error, at, || {
                "a kernel object record is too short for what it says".to_owned()
            });
            return;
        };
        let Some(name) = self.text(name, at) else {
            self.note("unresolved_string", Severity::Error, at, || {
                "the name of a kernel object was not registered".to_owned()
            });
            return;
        };
        let object = (koid, kernel_object::KIND.get(header));
        let is_ours = self.is_of_our_own(self.slot);
        let mut life = ObjectLife::default();
        let (mut process, mut has_others) = (None, false);
        for arg in Args::new(record, next, kernel_object::ARGS.get(header)) {
            if is_ours {
                life.take_in(&arg, |text| self.text(text, at).unwrap_or(&[]));
            }
            match arg.value {
                ArgValue::Koid(koid) if self.text(arg.name, at) == Some(b"process") => {
                    process = process.or(Some(koid));
                    has_others |= object.1 != OBJECT_THREAD;
                }
                ArgValue::Unknown(_) => {
                    self.note("unknown_argument_type", Severity::Info, at, || {
                        UNKNOWN_ARGUMENT.to_owned()
                    });
                }
                ArgValue::UInt64(count) if self.takes_cpu_loss(koid, (arg.name, count), at) => {}
                _ => has_others = true,
            }
        }
        let with_arguments = has_others.then_some(at as u64);
        let entities = &mut self.found.entities;
        entities.add_object(object, name, process, with_arguments);
        if life != ObjectLife::default() {
            entities.add_life(object, process, &life);
        }
    }

    fn userspace_object(&mut self, header: u64, record: Words<'a, O>, at: usize) {
        self.untimed.push((at as u64, self.last_timed));
        let said_time = self.really_at(header, record, at as u64);
        self.said_times
            .extend(said_time.map(|time| (at as u64, time)));
        let thread = userspace_object::THREAD.get(header) as u8;
        let process = if thread == 0 {
            if object_owner_words(header, record) == 2 {
                self.inline_thread(record, 2);
            }
            record.get(2)
        } else {
            let key = self.found.tables.thread_at(self.slot, thread, at as u64);
            key.and_then(|key| self.found.entities.koids_of(key).0)
        };
        if let Some(pointer) = record.get(1) {
            let process = process.unwrap_or(0);
            self.found.objects.push((process, pointer, at as u64));
        }
    }

    /// Returns an object's time of registration, in exports that omit the records before it.
    fn really_at(&self, header: u64, record: Words<'a, O>, at: u64) -> Option<i64> {
        let mut next = 2 + object_owner_words(header, record);
        read_text(userspace_object::NAME.get(header), record, &mut next)?;
        let mut args = Args::new(record, next, userspace_object::ARGS.get(header));
        let text = |name: TextRef<'a>| match name {
            TextRef::Inline(bytes) => Some(bytes),
            TextRef::Index(index) => {
                let place = self.found.tables.string_at(self.slot, index, at)?;
                string_bytes(self.file, place)
            }
        };
        args.find_map(|arg| match arg.value {
            ArgValue::Int64(time) if text(arg.name) == Some(b"really_at_ns") => Some(time),
            _ => None,
        })
        .filter(|time| (0..i64::MAX).contains(time))
    }

    fn large(&mut self, header: u64, record: Words<'a, O>, at: usize) {
        let (large_type, format) = (large::KIND.get(header), large::FORMAT.get(header));
        if large_type != 0 || format > large::BLOB {
            self.note("unknown_large_record", Severity::Info, at, || {
                format!("a large record of type {large_type}, format {format} was skipped")
            });
            return;
        }
        self.found.blobs.push(at as u64);
        if format == large::BLOB {
            self.untimed.push((at as u64, self.last_timed));
        } else if let Some(fields) = record.get(1)
            && large::THREAD.get(fields) == 0
        {
            let mut next = 2;
            let category = read_text(large::CATEGORY.get(fields), record, &mut next);
            let name = read_text(large::NAME.get(fields), record, &mut next);
            if category.is_some() && name.is_some() {
                self.inline_thread(record, next + 1);
            }
        }
    }
}

/// Returns the bytes of the string record at `place`.
#[inline]
#[must_use]
pub(crate) fn string_bytes<O: ByteOrder>(file: Words<'_, O>, place: u64) -> Option<&[u8]> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    let most = record.count().saturating_sub(1) * 8;
    let length = (string::BYTES.get(header) as usize).min(most);
    record.text(1, length).map(without_nuls)
}
