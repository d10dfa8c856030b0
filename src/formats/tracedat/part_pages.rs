//! Reads the pages of one part, plain or packed, and returns the columns.

use std::ops::Range;

use super::TraceFile;
use super::buffers::{Buffer, CpuData, CpuPages};
use super::emit::{PartPass, PartRead};
use super::page::{Records, read_head};
use crate::base::{ByteOrder, Job, Location, ReadError, Severity};
use crate::tracedat::layout::Lost;

/// Number of pages of a part after which memory for the part's remaining events is reserved.
const TASTE_PAGES: u64 = 8;

/// The pass over the pages of one part.
pub(super) struct PartPages<'a> {
    file: &'a TraceFile,
    buffer: &'a Buffer,
    data: &'a CpuData,
    pass: PartPass<'a>,
    /// Number of pages that were read.
    seen: u64,
}

impl<'a> PartPages<'a> {
    /// Returns the pass before the first page.
    pub(super) fn new(
        file: &'a TraceFile,
        pages: CpuPages<'a>,
        pass: PartPass<'a>,
    ) -> PartPages<'a> {
        PartPages {
            file,
            buffer: pages.buffer,
            data: pages.data,
            pass,
            seen: 0,
        }
    }

    /// Reads the pages in `range` (bytes of the CPU's pages, or indices of chunks if they are packed). Errors if the job
    /// was cancelled.
    pub(super) fn read<E: ByteOrder>(
        mut self,
        range: Range<u64>,
        job: &Job,
    ) -> Result<PartRead, ReadError> {
        match self.data.chunks.is_none() {
            true => self.read_plain::<E>(range, job)?,
            false => self.read_packed::<E>(range, job)?,
        }
        Ok(self.pass.into_read())
    }

    fn read_plain<E: ByteOrder>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
        let start = self.data.offset.saturating_add(range.start) as usize;
        let length = (range.end - range.start) as usize;
        let bytes = self.file.input.bytes();
        let bytes = bytes.get(start..).and_then(|rest| rest.get(..length));
        let page_size = self.buffer.page_size as usize;
        let pages = (length / page_size.max(1)) as u64;
        let mut place = range.start;
        let run = page_size.max(1) * ((1 << 20) / page_size.max(1)).max(1);
        for megabyte in bytes.unwrap_or(&[]).chunks(run) {
            job.check()?;
            for page in megabyte.chunks(page_size.max(1)) {
                self.read_page::<E>(page, place, pages);
                place += page.len() as u64;
            }
            job.advance(megabyte.len() as u64);
        }
        Ok(())
    }

    fn read_packed<E: ByteOrder>(&mut self, range: Range<u64>, job: &Job) -> Result<(), ReadError> {
        let chunks = self.data.chunks.as_deref().unwrap_or(&[]);
        let run = chunks.get(range.start as usize..range.end as usize);
        let run = run.unwrap_or(&[]);
        let page_size = self.buffer.page_size as usize;
        let plain_size: u64 = run.iter().map(|chunk| u64::from(chunk.plain_size)).sum();
        let pages = plain_size / page_size.max(1) as u64;
        let mut plain = Vec::new();
        for (number, chunk) in run.iter().enumerate() {
            job.check()?;
            let number = range.start as usize + number;
            match self.file.unpack_chunk(self.data, number, &mut plain) {
                Ok(()) => {
                    for (number, page) in plain.chunks(page_size.max(1)).enumerate() {
                        let place = chunk.stream_offset + (number * page_size) as u64;
                        self.read_page::<E>(page, place, pages);
                    }
                }
                Err(error) => self.pass.columns.diagnostics.note(
                    "chunk_damaged",
                    Severity::DataLoss,
                    Location::Byte(chunk.offset),
                    || format!("the events of a chunk are lost: {error}"),
                ),
            }
            job.advance(u64::from(chunk.packed_size) + 8);
        }
        Ok(())
    }

    #[inline]
    fn read_page<E: ByteOrder>(&mut self, page: &[u8], place: u64, pages: u64) {
        if self.seen == 0 && place > 0 {
            let head = read_head::<E>(page, self.file.layout);
            let is_lost = head.is_some_and(|head| head.lost != Lost::No);
            // Only gaps and seams start at the last event before the part: otherwise no earlier page is needed.
            if is_lost || self.pass.has_seams {
                self.pass.last_time = time_before::<E>(
                    self.file,
                    CpuPages {
                        buffer: self.buffer,
                        data: self.data,
                    },
                    place,
                );
            }
        }
        self.pass.read_page::<E>(page, place);
        self.seen += 1;
        if self.seen == TASTE_PAGES {
            let events = self.pass.columns.events.len() as u64;
            let more = events * pages.saturating_sub(self.seen) / self.seen;
            self.pass
                .columns
                .events
                .reserve((more + more / 16) as usize);
        }
    }
}

/// Returns the time in ns of the last record in the page before the page at `place`; `None` if there is no such page.
pub(super) fn time_before<E: ByteOrder>(
    file: &TraceFile,
    pages: CpuPages<'_>,
    place: u64,
) -> Option<i64> {
    let CpuPages { buffer, data } = pages;
    let before = place.checked_sub(1)?;
    let page = file.page_at(data, buffer.page_size, before).ok()?.bytes;
    let head = read_head::<E>(&page, file.layout)?;
    let last = Records::<E>::new(&page, file.layout, &head).last();
    let raw = last.map_or(head.time, |record| record.time);
    Some(file.time_map(data.cpu).time(raw))
}
