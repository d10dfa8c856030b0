//! FXT to FXT: a filter of records.
//!
//! ```text
//! model    which events are chosen, and which of them the range cuts (`kept`, `borders`): by places of records
//! pass 1   over the headers: which entries of the string and thread tables the kept records refer to
//! pass 2   the copy: magic | providers, tick rates, needed entries, kept records: byte for byte, in the file's order
//!          before, among and after them, in sections of a provider of our own: records that the encoder writes
//! ```
//!
//! Kept records stay in the sections of their providers, with their own tables and tick rates; records of big-endian
//! files are converted. The encoder writes: what crosses the range's borders, whole slices that start together (their
//! order shows which is the outer slice), flow marks that need another id, where events were lost, and
//! damaged records. Each of these is written before or after the record to which it belongs, or before all records if
//! it comes before all others of its time. A copy without any of these has no provider of our own, and reads back
//! exactly like the file.
//!
//! The filter accesses the model only through the exporter's items and through places. Several files on one axis are
//! not filtered: they may use the same koids and CPUs, so the encoder writes all of them.

mod anew;
mod arguments;
mod file;
mod input;
mod kept;
mod places;
mod references;
mod scheduling_anew;
mod tables;

use std::io::Write;

use rustc_hash::FxHashSet;

use super::encode::Encoder;
use super::item::Item;
use super::names::write_people;
use super::record_words::{push_provider_info, push_section, push_ticks};
use super::records::{ObjectKey, THREAD};
use super::written::{MOST_BYTES_AT_ONCE, Written};
use crate::base::{Big, ByteOrder, Endian, Job, Little, StringId};
use crate::export::exporter::ExportError;
use crate::fxt::Words;
use crate::fxt::agreed::OWN_BORDERS;
use crate::fxt::layout::{MAGIC, RECORD_TYPE, event, metadata, record_type, scheduling};
use crate::fxt::parts::push_little;
use crate::fxt::words::{fetch_ahead, size_bytes, without_nuls};
use anew::RowsOfEvents;
pub(crate) use file::{FxtFile, header_at};
pub(crate) use input::Input;
use places::{
    Beside, BesidePlace, BesideRecords, Places, beside_records, is_timed, is_untimed, places,
    records_at,
};
use references::{References, is_loss};
pub(crate) use scheduling_anew::scheduling_args;
use tables::{Section, Tables};

/// The number of bytes of the copy that are collected before they are written.
const PIECE_BYTES: usize = 1 << 18;

/// Writes the copy.
pub(crate) fn write<'t>(
    input: &Input<'_, 't>,
    written: &mut Written<'t>,
    out: &mut dyn Write,
    job: &Job,
) -> Result<(), ExportError> {
    match input.file.endian {
        Endian::Little => write_as::<Little>(input, written, out, job),
        Endian::Big => write_as::<Big>(input, written, out, job),
    }
}

fn write_as<'t, O: ByteOrder>(
    input: &Input<'_, 't>,
    written: &mut Written<'t>,
    out: &mut dyn Write,
    job: &Job,
) -> Result<(), ExportError> {
    let mut places = places::<O>(input);
    job.check()?;
    let at_start = input.items.across_start();
    let references = References::find::<O>(input, &places, job)?;
    let odd = records_at(input, &references.odd);
    places.anew.extend(odd);
    let BesideRecords { top, beside } = beside_records(input, &places, &references);
    job.set_total(input.file.bytes.len() as u64);
    let mut copy = Copy::<O> {
        input,
        file: Words::new(input.file.bytes),
        references: &references,
        places: &places,
        encoder: Encoder::new(input.source, input.tables),
        written,
        out,
        job,
        buffer: Vec::new(),
        span: 0..0,
        tables: Tables::default(),
        section: Some(Section::Implicit),
        announced: FxHashSet::default(),
        is_own_announced: false,
        last_timed: None,
        last_written: None,
        rows: RowsOfEvents::default(),
    };
    copy.buffer.extend_from_slice(&MAGIC.to_le_bytes());
    if !references.is_whole {
        copy.encoder.last_moment();
    }
    // A whole file contains its own names, except those of threads that no table has.
    let unseen = input.named.filtered(input.source, |person| {
        let is_unnamed = person.name == StringId::EMPTY;
        let is_needed = !references.is_whole
            || person.kind == THREAD && !is_unnamed
            || person.kind == THREAD && references.unused_threads.contains(&person.koid)
            || person.koid != person.koid_in_file && !is_unnamed;
        let key = ObjectKey {
            object_type: person.kind,
            koid: person.koid,
        };
        is_needed && !references.seen.contains(&key)
    });
    write_people(&mut copy.encoder, &unseen);
    for object in &references.objects {
        copy.encoder.object_anew(object);
    }
    for item in at_start.iter().chain(&top) {
        copy.item(item)?;
    }
    copy.records(&beside)?;
    for item in &input.items.across_end() {
        copy.item(item)?;
    }
    copy.finish()
}

/// The record whose time applies to following records that have none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timed {
    /// A record of the file.
    Place(u64),
    /// A record of this time, in ns, that the encoder wrote.
    Item(i64),
}

/// The state of writing the copy.
struct Copy<'i, 'a, 't, 'w, O> {
    input: &'i Input<'a, 't>,
    file: Words<'a, O>,
    references: &'i References<'a>,
    places: &'i Places,
    encoder: Encoder<'a, 't>,
    written: &'w mut Written<'t>,
    out: &'w mut dyn Write,
    job: &'w Job,
    /// Bytes of the copy that are not yet written.
    buffer: Vec<u8>,
    /// Bytes of the file that are copied after `buffer`.
    span: std::ops::Range<usize>,
    /// The tables and the section at this point of the file.
    tables: Tables,
    /// The section at this point of the copy; `None`: our own provider's.
    section: Option<Section>,
    announced: FxHashSet<u32>,
    is_own_announced: bool,
    last_timed: Option<u64>,
    last_written: Option<Timed>,
    rows: RowsOfEvents,
}

impl<'a, O: ByteOrder> Copy<'_, 'a, '_, '_, O> {
    fn records(&mut self, beside: &[BesidePlace]) -> Result<(), ExportError> {
        let bytes = self.input.file.bytes;
        let (mut at, mut done) = (0, 0);
        let mut beside = beside.iter().copied().peekable();
        while let Some(header) = header_at::<O>(bytes, at as u64) {
            fetch_ahead(bytes, at);
            if at - done >= PIECE_BYTES {
                self.job.check()?;
                self.job.advance((at - done) as u64);
                done = at;
            }
            let Some(size) = size_bytes(header) else {
                // Zeroes between records are skipped; a header without a size ends the file.
                if header == 0 {
                    at += 8;
                    continue;
                }
                break;
            };
            if bytes.len() - at < size {
                break;
            }
            let place = at as u64;
            while let Some(entry) = beside.next_if(|entry| entry.place <= place) {
                self.beside(entry.what)?;
            }
            self.record(header, place, size)?;
            at += size;
        }
        for entry in beside {
            self.beside(entry.what)?;
        }
        self.job.advance((bytes.len() - done) as u64);
        Ok(())
    }

    fn record(&mut self, header: u64, place: u64, size: usize) -> Result<(), ExportError> {
        match RECORD_TYPE.get(header) {
            record_type::METADATA => return self.metadata(header, place, size),
            _ if !self.places.kept.has((place / 8) as usize) => {}
            _ if is_untimed(header) && !self.has_its_time(place) => {
                self.without_its_time(header, place, size)?;
            }
            record_type::EVENT if self.places.points.binary_search(&place).is_ok() => {
                self.point(header, place)?;
            }
            _ => {
                self.keep(place, size)?;
                self.count(header);
                if self.references.is_loss(place) {
                    self.written.counts.described_losses += 1;
                } else if is_timed(header) {
                    self.last_written = Some(Timed::Place(place));
                }
            }
        }
        if is_timed(header) && !self.references.is_loss(place) {
            self.last_timed = Some(place);
        }
        Ok(())
    }

    /// Announces providers at the same place as the file; a section starts when one of its records is written.
    fn metadata(&mut self, header: u64, place: u64, size: usize) -> Result<(), ExportError> {
        self.tables.metadata(header);
        if is_loss(header) && self.places.kept.has((place / 8) as usize) {
            self.written.counts.losses += 1;
            return self.keep(place, size);
        }
        if metadata::KIND.get(header) != metadata::PROVIDER_INFO {
            return Ok(());
        }
        let number = metadata::PROVIDER.get(header) as u32;
        let record = self.file.record_at(place);
        let name = record.and_then(|record| {
            let most = record.count().saturating_sub(1) * 8;
            record.text(1, (metadata::NAME_BYTES.get(header) as usize).min(most))
        });
        self.announce(number, without_nuls(name.unwrap_or(&[])))
    }

    fn announce(&mut self, number: u32, name: &[u8]) -> Result<(), ExportError> {
        self.flush_span()?;
        push_provider_info(&mut self.buffer, number, name);
        self.announced.insert(number);
        self.section = Some(Section::Of(number));
        Ok(())
    }

    /// Begins a section of the copy, unless it is the current one.
    fn enter(&mut self, section: Option<Section>) -> Result<(), ExportError> {
        if self.section == section {
            return Ok(());
        }
        self.flush_span()?;
        let number = match section {
            None => self.input.source.providers.own(),
            Some(Section::Implicit) => 0,
            Some(Section::Of(number)) => number,
        };
        match section {
            None if !self.is_own_announced => {
                push_provider_info(&mut self.buffer, number, OWN_BORDERS.as_bytes());
                push_ticks(&mut self.buffer, 1_000_000_000);
                self.is_own_announced = true;
            }
            Some(Section::Of(number)) if !self.announced.contains(&number) => {
                // The file has a section of a provider that it did not announce.
                return self.announce(number, b"");
            }
            _ => push_section(&mut self.buffer, number),
        }
        self.section = section;
        Ok(())
    }

    /// Writes what was encoded before the current record, and enters the record's section.
    fn enter_of_file(&mut self) -> Result<(), ExportError> {
        self.flush_own()?;
        self.enter(Some(self.tables.section))
    }

    /// Copies a record.
    fn keep(&mut self, place: u64, size: usize) -> Result<(), ExportError> {
        self.enter_of_file()?;
        let at = place as usize;
        if self.span.end != at {
            self.flush_span()?;
            self.span = at..at;
        }
        self.span.end = at + size;
        if self.span.len() >= PIECE_BYTES {
            self.flush_span()?;
        }
        Ok(())
    }

    /// Copies an end as a point.
    fn point(&mut self, header: u64, place: u64) -> Result<(), ExportError> {
        self.enter_of_file()?;
        self.flush_span()?;
        let kind = match event::KIND.get(header) {
            event::END => event::INSTANT,
            _ => event::ASYNC_INSTANT,
        };
        let header = event::KIND.set(header, kind);
        let start = self.buffer.len();
        if let Some(record) = self.file.record_at(place) {
            push_little(record, &mut self.buffer);
        }
        if let Some(first) = self.buffer.get_mut(start..start + 8) {
            first.copy_from_slice(&header.to_le_bytes());
        }
        self.count(header);
        self.last_written = Some(Timed::Place(place));
        Ok(())
    }

    /// Returns whether a record without a time follows the same record in the copy as in the file.
    fn has_its_time(&self, place: u64) -> bool {
        match self.last_written {
            Some(Timed::Place(last)) => self.last_timed == Some(last),
            Some(Timed::Item(time)) => self
                .places
                .untimed(place)
                .is_some_and(|record| record.time == time),
            None => self.last_timed.is_none() && self.references.is_whole,
        }
    }

    /// Writes a record without a time at another time: an object gets an argument for it, a blob has no room for one.
    fn without_its_time(
        &mut self,
        header: u64,
        place: u64,
        size: usize,
    ) -> Result<(), ExportError> {
        if RECORD_TYPE.get(header) != record_type::USERSPACE_OBJECT {
            self.encoder.records.counts.moved_blobs += 1;
            self.keep(place, size)?;
            self.count(header);
            return Ok(());
        }
        let Some(record) = self.places.untimed(place) else {
            return Ok(());
        };
        self.encoder.anchor = Some(i64::MIN);
        self.beside(Beside::Anew(record))
    }

    fn beside(&mut self, what: Beside) -> Result<(), ExportError> {
        match what {
            Beside::Between(index) => match self.input.items.between().get(index as usize) {
                Some(item) => self.item(item),
                None => Ok(()),
            },
            Beside::Blob(record) => {
                self.encoder.anchor = Some(record.time);
                self.beside(Beside::Anew(record))
            }
            Beside::Anew(record) => {
                let header = header_at::<O>(self.input.file.bytes, record.place).unwrap_or(0);
                let input = self.input;
                let before = self.encoder.records.out.len();
                self.encoder
                    .record_anew(input.file, input.kept, &self.rows, header, &record);
                self.encoded(before, record.time, header)
            }
        }
    }

    fn item(&mut self, item: &Item) -> Result<(), ExportError> {
        let before = self.encoder.records.out.len();
        self.encoder.item(item);
        self.encoded(before, item.time, 0)
    }

    /// Counts the encoded records; `header` is the header of the original record, if the encoded record has the same
    /// type.
    fn encoded(&mut self, before: usize, time: i64, header: u64) -> Result<(), ExportError> {
        if self.encoder.records.out.len() > before && !is_untimed(header) {
            self.last_written = Some(Timed::Item(time));
        }
        match self.encoder.records.out.len() > MOST_BYTES_AT_ONCE {
            true => self.flush_own(),
            false => Ok(()),
        }
    }

    /// Returns whether our own provider can be announced. If providers use entries that were registered before the
    /// first announcement, ours must not be the first provider: they would lose these entries.
    fn may_have_own(&self) -> bool {
        !self.references.has_inheritance || !self.announced.is_empty()
    }

    /// Writes what was encoded, into a section of our provider.
    fn flush_own(&mut self) -> Result<(), ExportError> {
        if self.encoder.records.out.is_empty() || !self.may_have_own() {
            return Ok(());
        }
        self.enter(None)?;
        let fixed = self.written.registered.before(&self.encoder.records.used);
        let fixed = fixed.finish();
        self.written.counts.add(&fixed.counts);
        self.buffer.extend_from_slice(&fixed.bytes);
        self.buffer.append(&mut self.encoder.records.out);
        self.write_buffer()
    }

    /// Copies the pending bytes of the file into the buffer.
    fn flush_span(&mut self) -> Result<(), ExportError> {
        let span = std::mem::replace(&mut self.span, 0..0);
        if O::ENDIAN == Endian::Little {
            let bytes = self.input.file.bytes.get(span).unwrap_or(&[]);
            let (last, pieces) = match bytes.len() > PIECE_BYTES {
                true => bytes.split_at(bytes.len() - bytes.len() % PIECE_BYTES),
                false => (&[][..], bytes),
            };
            if !last.is_empty() {
                self.write_buffer()?;
                for piece in last.chunks(PIECE_BYTES) {
                    self.job.check()?;
                    self.out.write_all(piece)?;
                }
            }
            self.buffer.extend_from_slice(pieces);
        } else {
            let mut at = span.start;
            while at < span.end
                && let Some(record) = self.file.record_at(at as u64)
            {
                push_little(record, &mut self.buffer);
                at += record.count() * 8;
            }
        }
        match self.buffer.len() >= PIECE_BYTES {
            true => self.write_buffer(),
            false => Ok(()),
        }
    }

    fn write_buffer(&mut self) -> Result<(), ExportError> {
        for piece in self.buffer.chunks(MOST_BYTES_AT_ONCE) {
            self.job.check()?;
            self.out.write_all(piece)?;
        }
        self.buffer.clear();
        Ok(())
    }

    fn count(&mut self, header: u64) {
        let counts = &mut self.written.counts;
        match RECORD_TYPE.get(header) {
            record_type::EVENT => {
                if let Some(count) = counts.events.get_mut(event::KIND.get(header) as usize) {
                    *count += 1;
                }
            }
            record_type::SCHEDULING if scheduling::KIND.get(header) == scheduling::WAKEUP => {
                counts.wakeups += 1;
            }
            record_type::SCHEDULING => counts.switches += 1,
            record_type::LOG => counts.logs += 1,
            record_type::BLOB => counts.blobs += 1,
            record_type::USERSPACE_OBJECT => counts.userspace_objects += 1,
            record_type::LARGE => counts.large += 1,
            record_type::PROFILER => counts.events[event::INSTANT as usize] += 1,
            _ => {}
        }
    }

    fn finish(mut self) -> Result<(), ExportError> {
        self.flush_own()?;
        self.flush_span()?;
        self.write_buffer()?;
        self.written.counts.add(&self.encoder.records.counts);
        self.written.cut_texts += self.encoder.cut_texts;
        Ok(())
    }
}
