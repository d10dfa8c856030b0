//! Finds lines of etrace among the `print` events of a trace.dat. Samples from the whole file decide whether there are
//! any.
//!
//! Of the 99 trace.dat files of the corpus and the samples, 1 contains such lines.

use super::TraceDat;
use super::buffers::CpuPages;
use super::emit::PrintTexts;
use crate::formats::etrace_lines::parse_payload;
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

/// Returns whether the texts of print events are also lines of etrace: whether one of the sampled texts is.
#[must_use]
pub(crate) fn print_texts(reader: &TraceDat) -> PrintTexts {
    let file = reader.file();
    let texts = texts_of_prints(reader);
    if texts.is_empty() {
        return PrintTexts::Marks;
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
                    return PrintTexts::MarksAndEtrace;
                }
            }
        }
    }
    PrintTexts::Marks
}
