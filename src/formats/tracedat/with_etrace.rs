//! Whether a trace.dat has lines of etrace among its `print` events: some are looked at, all over the file.

use super::TraceDat;
use crate::event::KindId;
use crate::formats::etrace::{Texts, parse_payload};
use crate::formats::format::Reader;

/// How many places of a CPU are looked at; of a compressed one fewer, since each must be unpacked.
const PLACES: u64 = 48;
const PACKED_PLACES: u64 = 3;
/// How many events at each place.
const MOST_EVENTS: usize = 256;

/// A kind of print events: its id in the file, its kind, and where its text is.
type PrintText = (u16, u16, usize);

fn texts_of_prints(reader: &TraceDat) -> Vec<PrintText> {
    let file = reader.file();
    let formats = file.metadata.formats.iter();
    formats
        .filter(|format| format.name == "print")
        .filter_map(|format| {
            let id = u16::try_from(format.id).ok()?;
            let text = format.field("buf")?;
            Some((id, file.kind_of_id(id), text.offset as usize))
        })
        .collect()
}

/// The text of a record, with what follows it in memory, if it is a print event.
fn text_in<'a>(reader: &TraceDat, texts: &[PrintText], record: &'a [u8]) -> Option<&'a [u8]> {
    let id = *record.first_chunk::<2>()?;
    let id = match reader.file().endian() {
        crate::base::Endian::Little => u16::from_le_bytes(id),
        crate::base::Endian::Big => u16::from_be_bytes(id),
    };
    record.get(texts.iter().find(|text| text.0 == id)?.2..)
}

/// What appends the text of a print event of the file, each byte as the kernel wrote it: a name may end in blanks.
#[must_use]
pub fn texts_of(reader: TraceDat) -> Texts {
    let texts = texts_of_prints(&reader);
    Box::new(move |event, out| {
        let Some((buffer, data)) = reader.source_of_part(event.part) else {
            return;
        };
        let push = |record: &[u8]| {
            let text = text_in(&reader, &texts, record).unwrap_or(&[]);
            let end = memchr::memchr(0, text).unwrap_or(text.len());
            out.extend_from_slice(text.get(..end).unwrap_or(text));
        };
        let file = reader.file();
        // A record that cannot be read was told when its part was.
        let _ = file.with_event(data, buffer.page_size, event.place, push);
    })
}

/// The kinds of the events whose texts are lines of etrace; empty if no line was found.
#[must_use]
pub fn prints_with_etrace(reader: &TraceDat) -> Vec<KindId> {
    let file = reader.file();
    let texts = texts_of_prints(reader);
    if texts.is_empty() {
        return Vec::new();
    }
    let parts = reader.parts().len() as u32;
    let mut seen = None;
    for (buffer, data) in (0..parts).filter_map(|part| reader.source_of_part(part)) {
        // The parts of a CPU follow each other.
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
                    return texts.iter().map(|text| KindId(text.1)).collect();
                }
            }
        }
    }
    Vec::new()
}
