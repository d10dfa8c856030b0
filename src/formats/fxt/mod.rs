//! Fuchsia's trace format (FXT): a stream of records, each of whole 64-bit words.
//!
//! ```text
//! magic record | { provider info | ticks per second | string | thread | kernel object | event | ... } until the end
//! every record: header word (type, size in words, fields by type), then its words and padded texts
//! ```
//!
//! Specification: "Fuchsia trace format" of the Fuchsia project; deviations of real writers are described at the code
//! that handles them. Opening makes one pass over all record headers (`scan`), which collects string and thread tables
//! with their places (`tables`), names (`entities`) and cut points. The parts between cut points are read in parallel
//! (`emit`, `events`, `scheduling`); `describe` decodes any single record again in full.
//!
//! The time axis is the trace's own clock: ticks converted to nanoseconds, even if an initialization record of four
//! words contains the wall-clock time. Both byte orders are read, and files without the magic record.

mod cache;
mod describe;
mod emit;
mod entities;
mod events;
mod fields;
mod kinds;
mod lives;
mod loss_facts;
mod objects;
mod other_records;
mod profiler;
mod rows;
mod scan;
mod scan_end;
mod scheduling;
mod settle;
mod sniff;
mod tables;
mod ticks;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::{
    Big, ByteOrder, Diagnostics, Endian, Job, Little, Location, Problem, ReadError, Severity,
    TimeSpan, Timestamp,
};
use crate::event::part::{ClockUnit, Provider};
use crate::event::{Coarse, DecodedEvent, Directory, Lane, LaneColumns, Need, Part, TraceInfo};
use crate::formats::stream::in_one_lane;
use crate::formats::{
    EventRef, Events, Format, Gathered, IndependentParts, Input, RawRecords, Recording,
};
use crate::fxt::Words;
use crate::fxt::layout::{RECORD_TYPE, record_type};

use cache::Cache;
use kinds::Kinds;
use scan::Scan;
use sniff::Magic;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "Fuchsia (FXT)",
    extensions: &["fxt"],
    sniff: sniff::sniff,
    open,
    together: None,
};

/// Ticks per second of a provider without a rate.
const DEFAULT_RATE: u64 = 1_000_000_000;
/// Maximum count of blobs that the file's facts list.
const MOST_LISTED_BLOBS: usize = 32;

fn open(input: Input, job: &Job) -> Result<Recording, ReadError> {
    let reader = Arc::new(FxtReader::open(input, job)?);
    Ok(Recording {
        info: reader.info.clone(),
        lanes: reader.lanes.clone(),
        coarse: reader.coarse(),
        diagnostics: reader.diagnostics.clone(),
        stream: reader.clone(),
        events: reader,
        report: None,
    })
}

/// An opened FXT file.
#[derive(Debug)]
struct FxtReader {
    input: Input,
    endian: Endian,
    scan: Scan,
    kinds: Kinds,
    info: TraceInfo,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    diagnostics: Diagnostics,
    /// Look-up results of parts that were read, for reuse by later parts.
    caches: Mutex<Vec<Cache>>,
}

impl FxtReader {
    fn open(input: Input, job: &Job) -> Result<FxtReader, ReadError> {
        let head = input.bytes();
        let (endian, magic) = sniff::likely_order_of(head.get(..1 << 16).unwrap_or(head))
            .ok_or_else(|| ReadError::at_byte(0, "FXT magic record", Problem::BadMagic))?;
        let scan = match endian {
            Endian::Little => scan::scan::<Little>(input.bytes(), job)?,
            Endian::Big => scan::scan::<Big>(input.bytes(), job)?,
        };
        let mut diagnostics = Diagnostics::default();
        if magic == Magic::Absent {
            diagnostics.note("no_magic_record", Severity::Info, Location::Byte(0), || {
                "the file does not start with the magic record; its records look like FXT"
                    .to_owned()
            });
        }
        diagnostics.merge(scan.diagnostics.clone());
        let parts = scan
            .cuts
            .iter()
            .zip(scan.cuts.iter().skip(1))
            .map(|(start, end)| Part {
                size_bytes: end - start,
            })
            .collect();
        let mut reader = FxtReader {
            input,
            endian,
            scan,
            kinds: Kinds::default(),
            info: TraceInfo::default(),
            lanes: vec![Lane {
                name: "FXT records".to_owned(),
                cpu: None,
            }],
            parts,
            diagnostics,
            caches: Mutex::default(),
        };
        reader.info = match endian {
            Endian::Little => reader.facts::<Little>(),
            Endian::Big => reader.facts::<Big>(),
        };
        Ok(reader)
    }

    fn facts<O: ByteOrder>(&self) -> TraceInfo {
        let mut facts = Vec::new();
        let order = match self.endian {
            Endian::Little => "little-endian",
            Endian::Big => "big-endian",
        };
        facts.push(("byte order".to_owned(), order.to_owned()));
        facts.push(("records".to_owned(), self.scan.record_count.to_string()));
        for (slot, provider) in self.scan.tables.providers().iter().enumerate() {
            if slot == 0 && provider.rates().is_empty() {
                continue;
            }
            let name = match slot {
                0 => "before the first provider".to_owned(),
                _ => format!("provider {}", provider.id),
            };
            let rate = provider.rates().last().map_or_else(
                || "no tick rate of its own".to_owned(),
                |(_, scale)| format!("{} ticks/s", scale.ticks_per_second()),
            );
            let text = String::from_utf8_lossy(&provider.name);
            facts.push((name, format!("{text} ({rate})").trim().to_owned()));
        }
        for &place in self.scan.blobs.iter().take(MOST_LISTED_BLOBS) {
            facts.push(("blob".to_owned(), self.blob_text::<O>(place)));
        }
        let more = self.scan.blobs.len().saturating_sub(MOST_LISTED_BLOBS);
        if more > 0 {
            facts.push(("more blobs".to_owned(), more.to_string()));
        }
        let prefix = match self.endian {
            Endian::Little => "",
            Endian::Big => "big-endian ",
        };
        TraceInfo {
            format: format!("{prefix}FXT"),
            clock: String::new(),
            clock_unit: ClockUnit::Nanoseconds,
            wall_clock_zero_ns: self
                .scan
                .wall_clock
                .and_then(|(base, wall)| i64::try_from(i128::from(wall) - i128::from(base)).ok()),
            cpu_count: None,
            losses: self.scan.cpu_losses.clone(),
            ties: self.scan.tables.ties(),
            providers: self.providers(),
            objects: objects::kernel_objects::<O>(self.input.bytes(), &self.scan).into(),
            facts,
            ..TraceInfo::default()
        }
    }

    /// Returns the providers that the file announces.
    fn providers(&self) -> Vec<Provider> {
        let announced = (0_u32..).zip(self.scan.tables.providers()).skip(1);
        let provider = announced.map(|(slot, provider)| Provider {
            number: provider.id,
            name: provider.name.clone(),
            ticks_per_second: (provider.rates().last())
                .map_or(DEFAULT_RATE, |(_, scale)| scale.ticks_per_second()),
            thread_name: self.scan.entities.provider_thread_name(slot),
        });
        provider.collect()
    }

    /// Returns the name, size and place of a blob as text.
    fn blob_text<O: ByteOrder>(&self, place: u64) -> String {
        let event = EventRef {
            part: 0,
            place,
            time: Timestamp(0),
            kind: kinds::Sort::Blob.generic_kind(),
            thread: crate::event::ThreadKey::UNKNOWN,
        };
        let detail = describe::describe::<O>(self.input.bytes(), &self.scan, event);
        let find = |name: &str| {
            let found = detail.fields.iter().find(|field| field.name == name);
            found.map(|field| field.text())
        };
        let sort = find("type").unwrap_or_else(|| "large".to_owned());
        let size = find("size").unwrap_or_else(|| "?".to_owned());
        format!("{} ({sort}, {size} bytes) at byte {place:#x}", detail.name)
    }

    fn caches(&self) -> MutexGuard<'_, Vec<Cache>> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a cache for the part at `start`: preferably the cache of the part that ends there.
    fn take_cache(&self, start: u64) -> Cache {
        let mut caches = self.caches();
        match caches.iter().position(|cache| cache.end() == start) {
            Some(index) => caches.swap_remove(index),
            None => caches.pop().unwrap_or_default(),
        }
    }

    /// Returns the time in ns of the record at `place`, whose ticks must be in word 1; `None` for a large record.
    fn time_of<O: ByteOrder>(&self, place: u64) -> Option<i64> {
        let record = Words::<O>::new(self.input.bytes()).record_at(place)?;
        if RECORD_TYPE.get(record.get(0)?) == record_type::LARGE {
            return None;
        }
        let tables = &self.scan.tables;
        let scale = tables.scale_at(tables.provider_at(place), place);
        scale.nanos(record.get(1)?)
    }
}

impl FxtReader {
    fn coarse(&self) -> Coarse {
        let mut density: Vec<(u32, Timestamp, u32)> = self
            .parts
            .iter()
            .zip(&self.scan.first_timed)
            .filter_map(|(part, place)| {
                let time = match self.endian {
                    Endian::Little => self.time_of::<Little>((*place)?),
                    Endian::Big => self.time_of::<Big>((*place)?),
                };
                let size = u32::try_from(part.size_bytes).unwrap_or(u32::MAX);
                Some((0, Timestamp(time?), size))
            })
            .collect();
        density.sort_by_key(|entry| entry.1);
        let first = density.first().map_or(Timestamp(0), |entry| entry.1);
        let last = density.last().map_or(Timestamp(0), |entry| entry.1);
        Coarse {
            span: TimeSpan::new(first, last.saturating_add(crate::base::Nanos(1))),
            density,
        }
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        let (bytes, scan, kinds) = (self.input.bytes(), &self.scan, &self.kinds);
        match self.endian {
            Endian::Little => settle::settle::<Little>(bytes, scan, kinds, parts),
            Endian::Big => settle::settle::<Big>(bytes, scan, kinds, parts),
        }
    }

    fn directory(&self) -> Directory {
        // All parts were read.
        self.caches().clear();
        let (kinds, strings) = self.kinds.list();
        let mut directory = Directory {
            kinds,
            strings,
            ..Directory::default()
        };
        let ties = self.scan.tables.ties();
        self.scan.entities.list_into(&mut directory, ties);
        directory
    }
}

impl IndependentParts for FxtReader {
    type Read = LaneColumns;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn read(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let index = part as usize;
        let (Some(&start), Some(&end)) = (self.scan.cuts.get(index), self.scan.cuts.get(index + 1))
        else {
            return Ok(LaneColumns::new(3));
        };
        let mut cache = self.take_cache(start);
        let (bytes, scan, range) = (self.input.bytes(), &self.scan, (start, end));
        let (kinds, own) = (&self.kinds, &mut cache);
        let read = match self.endian {
            Endian::Little => emit::emit::<Little>(bytes, scan, kinds, own, range, job),
            Endian::Big => emit::emit::<Big>(bytes, scan, kinds, own, range, job),
        };
        if read.is_ok() && cache.is_small() {
            self.caches().push(cache);
        }
        read
    }

    fn gather(&self, mut read: Vec<(u32, LaneColumns)>, _job: &Job) -> Result<Gathered, ReadError> {
        let mut columns: Vec<&mut LaneColumns> = read.iter_mut().map(|(_, read)| read).collect();
        let diagnostics = self.settle(&mut columns);
        Ok(Gathered {
            parts: in_one_lane(read),
            lanes: self.lanes.clone(),
            directory: self.directory(),
            info: self.info.clone(),
            diagnostics,
        })
    }
}

impl FxtReader {
    fn decode_as<'a, O: ByteOrder>(
        &'a self,
        event: EventRef,
        need: Need<'_>,
        decoded: &mut DecodedEvent<'a>,
    ) {
        let bytes = self.input.bytes();
        match need {
            Need::Detail | Need::Line => {
                decoded.take(describe::describe::<O>(bytes, &self.scan, event), need);
            }
            Need::AnyField => {
                if describe::has_fields::<O>(bytes, event) {
                    decoded.perhaps();
                }
            }
            _ => fields::fields_into::<O>(bytes, &self.scan, event, &mut decoded.fields),
        }
    }
}

impl Events for FxtReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        match self.endian {
            Endian::Little => self.decode_as::<Little>(event, need, decoded),
            Endian::Big => self.decode_as::<Big>(event, need, decoded),
        }
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        let bytes = self.input.bytes();
        let found = match self.endian {
            Endian::Little => fields::payload_at(Words::<Little>::new(bytes), event.place),
            Endian::Big => fields::payload_at(Words::<Big>::new(bytes), event.place),
        };
        found.map(Cow::Borrowed)
    }

    fn raw_records(&self) -> Option<RawRecords<'_>> {
        Some(RawRecords {
            format: FORMAT.name,
            bytes: self.input.bytes(),
            endian: self.endian,
        })
    }

    fn memory_bytes(&self) -> u64 {
        self.scan.tables.memory_bytes()
            + self.scan.entities.memory_bytes()
            + self.kinds.memory_bytes()
            + (self.scan.untimed.capacity() * 16 + self.scan.objects.capacity() * 24) as u64
    }
}

#[cfg(test)]
mod tests;
