//! Finds lines of etrace among the `print` events of a trace.dat. Samples from the whole file decide whether there are
//! any.
//!
//! Of the 99 trace.dat files of the corpus and the samples, 1 contains such lines.

use super::TraceDat;
use super::buffers::CpuPages;
use crate::event::{KindId, LaneColumns};
use crate::formats::etrace_lines::{Found, parse_payload};
use crate::formats::stream::IndependentParts;

/// Number of places that are sampled on each CPU; fewer in compressed data, because each place must be unpacked.
const PLACES: u64 = 48;
const PACKED_PLACES: u64 = 3;
/// Number of events that are read at each place.
const MOST_EVENTS: usize = 256;

/// A kind of print events.
struct PrintText {
    /// The kind's number in the file.
    number: u16,
    kind: KindId,
    /// Offset of the text in the record, in bytes.
    offset: usize,
}

fn texts_of_prints(reader: &TraceDat) -> Vec<PrintText> {
    let file = reader.file();
    let formats = file.metadata.formats.iter();
    formats
        .filter(|format| format.name == "print")
        .filter_map(|format| {
            let id = u16::try_from(format.id).ok()?;
            let text = format.field("buf")?;
            Some(PrintText {
                number: id,
                kind: KindId(file.kind_of_id(id)?),
                offset: text.offset as usize,
            })
        })
        .collect()
}

/// Returns the bytes of a print event from its text on; `None` for other events.
fn text_in<'a>(reader: &TraceDat, texts: &[PrintText], record: &'a [u8]) -> Option<&'a [u8]> {
    let id = *record.first_chunk::<2>()?;
    let id = match reader.file().endian() {
        crate::base::Endian::Little => u16::from_le_bytes(id),
        crate::base::Endian::Big => u16::from_be_bytes(id),
    };
    record.get(texts.iter().find(|text| text.number == id)?.offset..)
}

/// Returns the lines of etrace among the events of a part with the columns `read`. Texts are not trimmed, because a
/// name may end in spaces.
#[must_use]
pub(crate) fn lines_in(reader: &TraceDat, part: u32, read: &LaneColumns) -> Found {
    let mut found = Found::default();
    let prints = reader.prints();
    let Some(CpuPages { buffer, data }) =
        reader.source_of_part(part).filter(|_| !prints.is_empty())
    else {
        return found;
    };
    let texts = texts_of_prints(reader);
    for index in 0..read.events.len() as u32 {
        if !prints.contains(&read.events.kind(index)) {
            continue;
        }
        let row = read.events.row(index);
        let add = |record: &[u8]| {
            let text = text_in(reader, &texts, record).unwrap_or(&[]);
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            let line = text.get(..end).unwrap_or(text);
            found.add(line, None, row.time, row.thread);
        };
        // A record that cannot be read was reported when its part was read.
        let _ = (reader.file()).with_event(data, buffer.page_size, row.place, add);
    }
    for gap in &read.gaps {
        found.add_hole(gap.span().end);
    }
    found
}

/// Returns the kinds of print events if a sampled text is a line of etrace; otherwise an empty list.
#[must_use]
pub(crate) fn prints_with_etrace(reader: &TraceDat) -> Vec<KindId> {
    let file = reader.file();
    let texts = texts_of_prints(reader);
    if texts.is_empty() {
        return Vec::new();
    }
    let parts = IndependentParts::parts(reader).len() as u32;
    let mut seen = None;
    for CpuPages { buffer, data } in (0..parts).filter_map(|part| reader.source_of_part(part)) {
        // Parts of one CPU are adjacent, and each CPU is sampled once.
        if seen.replace(std::ptr::from_ref(data)) == Some(std::ptr::from_ref(data)) {
            continue;
        }
        let page = u64::from(buffer.page_size.max(1));
        let places = if data.chunks.is_some() {
            PACKED_PLACES
        } else {
            PLACES
        };
        let step = (data.stream_size / places / page).max(1) * page;
        for number in 0..places {
            let place = number * step;
            if place >= data.stream_size {
                break;
            }
            let mut records = file.records_from(data, buffer.page_size, place);
            for _ in 0..MOST_EVENTS {
                if records.advance().is_none() {
                    break;
                }
                let payload = records.payload();
                let is_line = text_in(reader, &texts, payload)
                    .is_some_and(|text| parse_payload(text.trim_ascii_start()).is_some());
                if is_line {
                    return texts.iter().map(|text| text.kind).collect();
                }
            }
        }
    }
    Vec::new()
}
