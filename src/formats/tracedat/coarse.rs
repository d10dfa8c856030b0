//! The coarse preview of a trace.dat: how much each CPU recorded over time, from the times of some of its pages.

use super::TraceFile;
use super::buffers::CpuPages;
use super::part_pages::time_before;
use crate::base::{Big, Endian, Little, TimeSpan, Timestamp};
use crate::event::{Coarse, DensitySample};

/// Maximum number of page headers that are read for the whole file.
const MOST_PAGES: u64 = 16_384;
/// Maximum number of chunks that are unpacked for the whole file.
const MOST_CHUNKS: usize = 256;

/// A place that is sampled.
struct Place {
    /// Offset in the CPU's pages, in bytes.
    offset: u64,
    /// Number of bytes up to the next place.
    bytes: u64,
}

/// The distances between sampled places.
#[derive(Clone, Copy)]
struct Strides {
    /// In pages that are not packed: one page of this many is sampled.
    pages: u64,
    /// In packed pages: the number of chunks of each lane that are sampled.
    chunks: usize,
}

/// Returns the preview of the lanes, whose pages are `lanes`.
pub(super) fn coarse(file: &TraceFile, lanes: &[Option<CpuPages<'_>>]) -> Coarse {
    let mut coarse = Coarse::default();
    let mut span: Option<TimeSpan> = None;
    let page_counts = lanes
        .iter()
        .flatten()
        .map(|pages| pages.data.stream_size / u64::from(pages.buffer.page_size.max(1)));
    let strides = Strides {
        pages: page_counts.sum::<u64>().div_ceil(MOST_PAGES),
        chunks: (MOST_CHUNKS / lanes.len().max(1)).max(2),
    };
    for (lane, pages) in (0..).zip(lanes) {
        let Some(CpuPages { buffer, data }) = *pages else {
            continue;
        };
        let map = file.time_map(data.cpu);
        let mut include = |time: i64| {
            let (time, known) = (
                Timestamp(time),
                span.unwrap_or(TimeSpan::new(Timestamp(time), Timestamp(time))),
            );
            span = Some(TimeSpan::new(known.start.min(time), known.end.max(time)));
        };
        // One sample per place: the time of its page, and the number of bytes up to the next place. Times of a CPU must
        // not decrease: a smaller time is replaced by the last one.
        let mut last = i64::MIN;
        for place in places(CpuPages { buffer, data }, strides) {
            if let Some(raw) = file.page_time(data, buffer.page_size, place.offset) {
                last = map.time(raw).max(last);
                include(last);
                let sample = DensitySample::new(lane, Timestamp(last), place.bytes);
                coarse.density.push(sample);
            }
        }
        let end = match file.endian() {
            Endian::Little => {
                time_before::<Little>(file, CpuPages { buffer, data }, data.stream_size)
            }
            Endian::Big => time_before::<Big>(file, CpuPages { buffer, data }, data.stream_size),
        };
        end.into_iter().for_each(include);
    }
    if let Some(span) = span {
        let after = Timestamp(span.end.0.saturating_add(1));
        coarse.span = TimeSpan::new(span.start, after);
    }
    coarse
}

/// Returns the places that are sampled in the pages of one lane.
fn places(pages: CpuPages<'_>, strides: Strides) -> Vec<Place> {
    let CpuPages { buffer, data } = pages;
    match &data.chunks {
        None => {
            let step = strides.pages.max(1) * u64::from(buffer.page_size.max(1));
            (0..data.stream_size.div_ceil(step))
                .map(|number| Place {
                    offset: number * step,
                    bytes: step.min(data.stream_size - number * step),
                })
                .collect()
        }
        Some(chunks) => {
            let step = chunks.len().div_ceil(strides.chunks).max(1);
            chunks
                .chunks(step)
                .filter_map(|run| {
                    Some(Place {
                        offset: run.first()?.stream_offset,
                        bytes: run.iter().map(|chunk| u64::from(chunk.plain_size)).sum(),
                    })
                })
                .collect()
        }
    }
}
