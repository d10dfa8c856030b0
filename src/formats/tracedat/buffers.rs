//! File offsets of each CPU's ring-buffer pages, and access to one page: borrowed from the mapped file, or unpacked
//! from a compressed chunk. The most recently used chunks are cached.
//!
//! ```text
//! plain:  pages, one after the other
//! packed: chunks u32 | (packed size u32 | plain size u32 | block) ...      each block contains some whole pages
//! ```
//!
//! A place is a byte offset into the unpacked pages of a CPU.

use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::{Cursor, Diagnostics, Endian, Location, Problem, ReadError, Severity};
use crate::formats::compression::{Codec, unpack_block_into};

/// Maximum number of pages in one chunk (trace-cmd packs 10).
const MAX_CHUNK_PAGES: u64 = 64;

/// One trace instance's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Name of the instance; empty for the top-level instance.
    pub name: String,
    /// Name of its clock; empty if the file does not state it.
    pub clock: String,
    /// Size of its pages (sub-buffers), in bytes.
    pub page_size: u32,
    /// Its CPUs that have data.
    pub cpus: Vec<CpuData>,
}

/// One CPU's pages in one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuData {
    /// Number of the CPU.
    pub cpu: u32,
    /// File offset of its data; for packed data, file offset of the number of chunks.
    pub offset: u64,
    /// Size of its pages when unpacked, in bytes.
    pub stream_size: u64,
    /// Its chunks in file order; `None` if the pages are not packed.
    pub chunks: Option<Vec<Chunk>>,
}

/// A chunk: several pages that are compressed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// File offset of its compressed block.
    pub offset: u64,
    /// Size of the block, in bytes.
    pub packed_size: u32,
    /// Size when unpacked, in bytes.
    pub plain_size: u32,
    /// Offset of its first byte in the CPU's unpacked pages.
    pub stream_offset: u64,
}

/// One CPU's pages, with the buffer that they belong to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuPages<'a> {
    pub buffer: &'a Buffer,
    pub data: &'a CpuData,
}

/// The position of a CPU's pages in the buffers of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuIndex {
    /// The index of the buffer.
    pub buffer: usize,
    /// The index of the CPU in the buffer's list.
    pub cpu: usize,
}

impl CpuData {
    /// Returns a CPU's pages of `size` bytes at file offset `offset`, which are not packed. If the file ends earlier,
    /// the size is reduced and a diagnostic is added.
    #[must_use]
    pub(crate) fn plain(
        bytes: &[u8],
        cpu: u32,
        offset: u64,
        size: u64,
        diagnostics: &mut Diagnostics,
    ) -> CpuData {
        let left = (bytes.len() as u64).saturating_sub(offset);
        if size > left {
            note_cut(diagnostics, cpu, offset.saturating_add(left));
        }
        CpuData {
            cpu,
            offset,
            stream_size: size.min(left),
            chunks: None,
        }
    }

    /// Returns a CPU's pages in chunks, whose number is at file offset `offset`. Stops at the first chunk that is cut
    /// or damaged, with a diagnostic.
    #[must_use]
    pub(crate) fn packed(
        bytes: &[u8],
        cpu: u32,
        offset: u64,
        page_size: u32,
        endian: Endian,
        diagnostics: &mut Diagnostics,
    ) -> CpuData {
        let mut data = CpuData {
            cpu,
            offset,
            stream_size: 0,
            chunks: None,
        };
        let rest = usize::try_from(offset).ok().and_then(|at| bytes.get(at..));
        let mut cursor = Cursor::new(rest.unwrap_or(&[]), offset, endian);
        let mut chunks = Vec::new();
        match cursor.u32("number of chunks") {
            Ok(count) => {
                for _ in 0..count {
                    match read_chunk(&mut cursor, page_size, data.stream_size) {
                        Ok(chunk) => {
                            data.stream_size += u64::from(chunk.plain_size);
                            chunks.push(chunk);
                        }
                        Err(ReadError {
                            problem: Problem::Truncated { .. },
                            ..
                        }) => {
                            note_cut(diagnostics, cpu, cursor.file_offset());
                            break;
                        }
                        Err(error) => {
                            let code = "chunk_damaged";
                            diagnostics.note(code, Severity::Error, error.at, || {
                                format!("CPU {cpu} is read only up to here: {error}")
                            });
                            break;
                        }
                    }
                }
            }
            Err(_) => note_cut(diagnostics, cpu, offset),
        }
        data.chunks = Some(chunks);
        data
    }

    /// Returns the chunk that contains the byte at `place`; `None` if the pages are not packed.
    #[must_use]
    pub(crate) fn chunk_at(&self, place: u64) -> Option<Chunk> {
        let chunks = self.chunks.as_ref()?;
        let after = chunks.partition_point(|chunk| chunk.stream_offset <= place);
        chunks.get(after.checked_sub(1)?).copied()
    }
}

fn note_cut(diagnostics: &mut Diagnostics, cpu: u32, at: u64) {
    diagnostics.note("file_cut", Severity::Error, Location::Byte(at), || {
        format!("the file ends before the data of CPU {cpu} does")
    });
}

fn read_chunk(
    cursor: &mut Cursor<'_>,
    page_size: u32,
    stream_offset: u64,
) -> Result<Chunk, ReadError> {
    let at = cursor.file_offset();
    let packed_size = cursor.u32("packed size of a chunk")?;
    let plain_size = cursor.u32("plain size of a chunk")?;
    let max = u64::from(page_size) * MAX_CHUNK_PAGES;
    if u64::from(plain_size) > max {
        let problem = Problem::TooLarge {
            field: "plain size",
            value: u64::from(plain_size),
            max,
        };
        return Err(ReadError::at_byte(at, "chunk", problem));
    }
    let offset = cursor.file_offset();
    cursor.skip(u64::from(packed_size), "chunk")?;
    Ok(Chunk {
        offset,
        packed_size,
        plain_size,
        stream_offset,
    })
}

/// Bytes of a CPU's pages, in the mapped file or in an unpacked chunk.
#[derive(Clone, Debug)]
pub(crate) enum PageBytes<'a> {
    /// In the file.
    File(&'a [u8]),
    /// In a chunk.
    Chunk(Arc<Vec<u8>>, Range<usize>),
}

impl Deref for PageBytes<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            PageBytes::File(bytes) => bytes,
            PageBytes::Chunk(bytes, range) => bytes.get(range.clone()).unwrap_or(&[]),
        }
    }
}

/// The codec of a file's chunks, and a cache of the most recently used chunks.
#[derive(Debug)]
pub(crate) struct ChunkCache {
    codec: Codec,
    /// (file offset of the chunk's block, its unpacked bytes), least recently used first.
    kept: Mutex<Vec<(u64, Arc<Vec<u8>>)>>,
}

impl ChunkCache {
    const KEPT: usize = 64;

    /// Returns an empty cache.
    #[must_use]
    pub(crate) fn new(codec: Codec) -> ChunkCache {
        ChunkCache {
            codec,
            kept: Mutex::new(Vec::new()),
        }
    }

    /// Unpacks `chunk` into `plain` without using the cache.
    ///
    /// # Errors
    /// If the block is damaged.
    pub(crate) fn unpack_into(
        &self,
        bytes: &[u8],
        chunk: Chunk,
        plain: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        let block = usize::try_from(chunk.offset)
            .ok()
            .and_then(|start| bytes.get(start..start.checked_add(chunk.packed_size as usize)?));
        let size = chunk.plain_size as usize;
        unpack_block_into(self.codec, block.unwrap_or(&[]), size, chunk.offset, plain)
    }

    /// Returns the unpacked bytes of `chunk`, from the cache if it contains them.
    ///
    /// # Errors
    /// If the block is damaged.
    pub(crate) fn chunk(&self, bytes: &[u8], chunk: Chunk) -> Result<Arc<Vec<u8>>, ReadError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().rposition(|(offset, _)| *offset == chunk.offset) {
            let entry = kept.remove(at);
            let plain = Arc::clone(&entry.1);
            kept.push(entry);
            return Ok(plain);
        }
        drop(kept);
        let mut plain = Vec::new();
        self.unpack_into(bytes, chunk, &mut plain)?;
        let plain = Arc::new(plain);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= Self::KEPT {
            kept.remove(0);
        }
        kept.push((chunk.offset, Arc::clone(&plain)));
        Ok(plain)
    }

    /// Returns the heap memory of the cached chunks, in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(|(_, plain)| plain.capacity() as u64).sum()
    }
}
