//! The pages that are written of each CPU: stretches of the input that are copied, and new pages.
//!
//! Parts are planned by themselves, on all cores. A stretch is a range of bytes of the input: whole pages, or whole
//! chunks of a compressed file.

use std::ops::Range;

use rayon::prelude::*;

use super::chooser::{Chooser, Places};
use crate::base::{Big, ByteOrder, Endian, Job, Little, budget};
use crate::export::ExportError;
use crate::formats::compression::pack_block;
use crate::formats::tracedat::buffers::{Chunk, CpuIndex, CpuPages};
use crate::formats::tracedat::page::{Records, read_head};
use crate::formats::tracedat::{TraceDat, TraceFile};
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::{CHUNK_PAGES, Lost};
use crate::tracedat::page_writer::PageWriter;

/// Bytes that are written of a CPU.
pub(super) enum Piece {
    /// Bytes that are copied from the input: this range.
    Copied(Range<u64>),
    /// New bytes.
    New(Vec<u8>),
}

/// The pages that are written of a CPU.
#[derive(Default)]
pub(super) struct CpuPlan {
    /// The CPU among those of the input.
    pub index: CpuIndex,
    /// The pieces in order.
    pub pieces: Vec<Piece>,
    /// Number of chunks, in a compressed file.
    pub chunks: u32,
    /// Number of exported events.
    pub events: u64,
    /// Number of pages that are the input's.
    pub copied_pages: u64,
    /// Number of pages that are made of single records.
    pub new_pages: u64,
}

impl CpuPlan {
    /// Size of all pieces in bytes.
    pub(super) fn size(&self) -> u64 {
        let sizes = self.pieces.iter().map(|piece| match piece {
            Piece::Copied(range) => range.end - range.start,
            Piece::New(bytes) => bytes.len() as u64,
        });
        sizes.sum()
    }

    fn copy(&mut self, range: Range<u64>) {
        match self.pieces.last_mut() {
            Some(Piece::Copied(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Copied(range)),
        }
    }

    fn append(&mut self, other: CpuPlan) {
        for piece in other.pieces {
            match piece {
                Piece::Copied(range) => self.copy(range),
                piece @ Piece::New(_) => self.pieces.push(piece),
            }
        }
        self.chunks += other.chunks;
        self.events += other.events;
        self.copied_pages += other.copied_pages;
        self.new_pages += other.new_pages;
    }
}

/// Plans all CPUs with chosen records, in the order of the input.
///
/// # Errors
/// Errors if the job is cancelled, or memory does not suffice for the new pages.
pub(super) fn plan_cpus(
    reader: &TraceDat,
    chooser: &Chooser<'_>,
    job: &Job,
) -> Result<Vec<CpuPlan>, ExportError> {
    let parts: Result<Vec<CpuPlan>, ExportError> = (0..reader.part_count())
        .into_par_iter()
        .map(|part| plan_part(reader, chooser, part, job))
        .collect();
    let mut plans: Vec<CpuPlan> = Vec::new();
    for part in parts? {
        match plans.last_mut().filter(|last| last.index == part.index) {
            Some(last) => last.append(part),
            None => plans.push(part),
        }
    }
    plans.retain(|plan| !plan.pieces.is_empty());
    Ok(plans)
}

fn plan_part(
    reader: &TraceDat,
    chooser: &Chooser<'_>,
    part: u32,
    job: &Job,
) -> Result<CpuPlan, ExportError> {
    job.check()?;
    let Some((index, pages, range)) = reader.pages_of_part(part) else {
        return Ok(CpuPlan::default());
    };
    let segment = chooser.segment_of(part);
    let places = match segment {
        _ if chooser.is_whole() => Places::All,
        Some(segment) => chooser.places(segment, pages),
        None => Places::Only(Vec::new()),
    };
    let mut planner = Planner {
        file: reader.file(),
        pages,
        plan: CpuPlan {
            index,
            ..CpuPlan::default()
        },
        pending: Pending::default(),
        losses: match (&places, segment) {
            (Places::Only(_), Some(segment)) => chooser.losses(segment),
            _ => Vec::new(),
        },
    };
    match places {
        Places::All => {
            planner.plan.events = segment.map_or(0, |segment| segment.columns.len() as u64);
            planner.copy_all(range);
        }
        Places::Only(places) => {
            planner.plan.events = places.len() as u64;
            match planner.file.endian() {
                Endian::Little => planner.choose::<Little>(range, &places)?,
                Endian::Big => planner.choose::<Big>(range, &places)?,
            }
        }
    }
    Ok(planner.plan)
}

/// Plans a part.
struct Planner<'a> {
    file: &'a TraceFile,
    pages: CpuPages<'a>,
    plan: CpuPlan,
    pending: Pending,
    /// The places of records before which chosen losses end.
    losses: Vec<u64>,
}

/// Pages that are not yet pieces.
#[derive(Default)]
struct Pending {
    /// Records of pages that are cut.
    writer: Option<PageWriter>,
    /// Whole pages of chunks that are cut.
    pages: Vec<u8>,
}

impl Planner<'_> {
    fn page_size(&self) -> usize {
        self.pages.buffer.page_size.max(1) as usize
    }

    fn chunks(&self, range: &Range<u64>) -> Option<&[Chunk]> {
        let chunks = self.pages.data.chunks.as_ref()?;
        chunks.get(range.start as usize..range.end as usize)
    }

    fn copy_all(&mut self, range: Range<u64>) {
        let offset = self.pages.data.offset;
        match self.chunks(&range) {
            None => {
                let size = range.end - range.start;
                self.plan.copied_pages += size.div_ceil(self.page_size() as u64);
                self.plan.copy(offset + range.start..offset + range.end);
            }
            Some(chunks) => {
                let chunks: Vec<Chunk> = chunks.to_vec();
                for chunk in chunks {
                    self.copy_chunk(chunk);
                }
            }
        }
    }

    fn copy_chunk(&mut self, chunk: Chunk) {
        // The sizes of a chunk are the 8 bytes before its block.
        let start = chunk.offset - 8;
        self.plan
            .copy(start..chunk.offset + u64::from(chunk.packed_size));
        self.plan.chunks += 1;
        self.plan.copied_pages += u64::from(chunk.plain_size).div_ceil(self.page_size() as u64);
    }

    /// Returns whether a page at these places states a chosen loss.
    fn states_loss(&self, page: Range<u64>) -> bool {
        !between(&self.losses, page).is_empty()
    }

    /// Plans the pages in `range`; of their records, those at `places` are chosen.
    fn choose<E: ByteOrder>(
        &mut self,
        range: Range<u64>,
        places: &[u64],
    ) -> Result<(), ExportError> {
        match self.chunks(&range) {
            None => {
                let mut place = range.start;
                while place < range.end {
                    let end = range.end.min(place + self.page_size() as u64);
                    let inside = between(places, place..end);
                    if !inside.is_empty() || self.states_loss(place..end) {
                        self.choose_in_place::<E>(place, inside)?;
                    }
                    place = end;
                }
            }
            Some(chunks) => {
                let chunks: Vec<Chunk> = chunks.to_vec();
                for chunk in chunks {
                    let start = chunk.stream_offset;
                    let end = start + u64::from(chunk.plain_size);
                    let inside = between(places, start..end);
                    if !inside.is_empty() || self.states_loss(start..end) {
                        self.choose_in_chunk::<E>(chunk, inside)?;
                    }
                }
            }
        }
        self.flush(Flush::Everything)
    }

    fn choose_in_place<E: ByteOrder>(
        &mut self,
        place: u64,
        chosen: &[u64],
    ) -> Result<(), ExportError> {
        let CpuPages { buffer, data } = self.pages;
        let Ok(page) = self.file.page_at(data, buffer.page_size, place) else {
            return Ok(());
        };
        if self.has_all::<E>(&page.bytes, chosen.len()) {
            self.flush(Flush::Everything)?;
            let start = data.offset + page.start;
            self.plan.copied_pages += 1;
            self.plan.copy(start..start + page.bytes.len() as u64);
            return Ok(());
        }
        self.take_records::<E>(&page.bytes, page.start, chosen);
        Ok(())
    }

    fn choose_in_chunk<E: ByteOrder>(
        &mut self,
        chunk: Chunk,
        chosen: &[u64],
    ) -> Result<(), ExportError> {
        let Ok(plain) = self.file.unpacked(chunk) else {
            return Ok(());
        };
        let size = self.page_size();
        let all: usize = plain.chunks(size).map(|page| self.count::<E>(page)).sum();
        if all == chosen.len() {
            self.flush(Flush::Everything)?;
            self.copy_chunk(chunk);
            return Ok(());
        }
        for (number, page) in plain.chunks(size).enumerate() {
            let start = chunk.stream_offset + (number * size) as u64;
            let end = start + page.len() as u64;
            let inside = between(chosen, start..end);
            if inside.is_empty() && !self.states_loss(start..end) {
                continue;
            }
            if self.has_all::<E>(page, inside.len()) && page.len() == size {
                self.flush(Flush::Records)?;
                self.plan.copied_pages += 1;
                self.pending.pages.extend_from_slice(page);
                self.flush(Flush::FullChunks)?;
            } else {
                self.take_records::<E>(page, start, inside);
            }
        }
        Ok(())
    }

    /// Number of records in a page.
    fn count<E: ByteOrder>(&self, page: &[u8]) -> usize {
        let head = read_head::<E>(page, self.file.layout);
        head.map_or(0, |head| {
            Records::<E>::new(page, self.file.layout, &head).count()
        })
    }

    fn has_all<E: ByteOrder>(&self, page: &[u8], chosen: usize) -> bool {
        self.count::<E>(page) == chosen
    }

    /// Copies the records at the file offsets `chosen` from the page at `start`.
    fn take_records<E: ByteOrder>(&mut self, page: &[u8], start: u64, chosen: &[u64]) {
        let layout = self.file.layout;
        let Some(head) = read_head::<E>(page, layout) else {
            return;
        };
        let size = self.page_size();
        let states_loss = self.states_loss(start..start + page.len() as u64);
        let writer =
            (self.pending.writer).get_or_insert_with(|| PageWriter::new(E::ENDIAN, layout, size));
        let mut lost = head.lost;
        let mut chosen = chosen.iter().copied().peekable();
        for record in Records::<E>::new(page, layout, &head) {
            if chosen.next_if_eq(&(start + record.at as u64)).is_none() {
                // The loss was before a record that is not exported.
                if states_loss && lost != Lost::No {
                    writer.state_loss(record.time, lost);
                }
                lost = Lost::No;
                continue;
            }
            let lost = std::mem::replace(&mut lost, Lost::No);
            // A record of the input fits into a page of the input's size, unless the page states losses: then it is
            // the only record there, and the number of lost events is left out.
            if !writer.push(record.time, record.payload, lost) {
                let _too_large = writer.push(record.time, record.payload, Lost::No);
            }
        }
    }

    /// Makes pieces of the pending pages and records.
    fn flush(&mut self, what: Flush) -> Result<(), ExportError> {
        let size = self.page_size();
        if let Some(writer) = self.pending.writer.take_if(|_| what != Flush::FullChunks) {
            let pages = writer.finish();
            self.plan.new_pages += (pages.len() / size) as u64;
            self.pending.pages.extend_from_slice(&pages);
        }
        if self.pages.data.chunks.is_none() {
            let pages = std::mem::take(&mut self.pending.pages);
            if !pages.is_empty() {
                require(pages.len())?;
                self.plan.pieces.push(Piece::New(pages));
            }
            return Ok(());
        }
        let full = size * CHUNK_PAGES;
        while self.pending.pages.len() >= full
            || (what == Flush::Everything && !self.pending.pages.is_empty())
        {
            let rest = (self.pending.pages).split_off(full.min(self.pending.pages.len()));
            let plain = std::mem::replace(&mut self.pending.pages, rest);
            let packed = pack_block(self.file.header.codec, &plain)?;
            require(packed.len())?;
            let mut chunk = Bytes::new(self.file.endian());
            chunk.u32(packed.len() as u32).u32(plain.len() as u32);
            chunk.raw(&packed);
            self.plan.pieces.push(Piece::New(chunk.all));
            self.plan.chunks += 1;
        }
        Ok(())
    }
}

/// The pending pages that become a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    /// Chunks that are full.
    FullChunks,
    /// Single records, as pages; and chunks that are full.
    Records,
    /// All that is pending.
    Everything,
}

fn require(bytes: usize) -> Result<(), ExportError> {
    budget::require(bytes as u64).map_err(|problem| {
        let words = format!("the new pages do not fit into memory: {problem}");
        ExportError::Io(std::io::Error::new(std::io::ErrorKind::OutOfMemory, words))
    })
}

/// Returns the places inside `range`.
fn between(places: &[u64], range: Range<u64>) -> &[u64] {
    let first = places.partition_point(|&place| place < range.start);
    let end = places.partition_point(|&place| place < range.end);
    places.get(first..end).unwrap_or(&[])
}
