//! The file that keeps a loaded trace: all its columns as they are in memory, and one block with everything else.
//!
//! ```text
//! head      64 bytes: magic | contents | key | end of the data | where the rest starts | checksums of the two below
//! data      columns, each aligned to 64 bytes (small ones to 8), then the rest: all other values, as postcard has them
//! checksums one CRC-32 for each block of 1 MB of the data
//! ```
//!
//! Every block is checked before its first use. A file whose length, magic, contents, key or checksums differ from what is
//! expected is as good as none.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::{Pod, Zeroable};
use bytes::Bytes;
use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::base::column::{ColumnWriter, restore, store};

/// The first bytes of every model file.
const MAGIC: [u8; 8] = *b"TLMODEL\n";
/// Size of a block with a checksum of its own, in bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// Columns of at least this size are aligned to a cache line.
const LARGE_BYTES: usize = 4096;
const LARGE_ALIGNMENT: u64 = 64;
const SMALL_ALIGNMENT: u64 = 8;

/// The first bytes of the file. All numbers are in the byte order of the machine that wrote it: another machine finds
/// another `contents`.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    /// What the program that wrote the file puts in: changes whenever the meaning of a value may.
    contents: u64,
    /// What was read.
    key: [u64; 2],
    /// Where the checksums start.
    data_end: u64,
    /// Where the rest starts.
    rest_start: u64,
    checksum_of_checksums: u32,
    /// Of the bytes of the head before it.
    checksum_of_head: u32,
    unused: u64,
}

const HEAD_BYTES: usize = size_of::<Head>();

impl Head {
    fn checksum(&self) -> u32 {
        let bytes = bytemuck::bytes_of(self);
        let before = std::mem::offset_of!(Head, checksum_of_head);
        crc32fast::hash(&bytes[..before])
    }
}

/// What a model file was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    /// The version of the values in it.
    pub contents: u64,
    /// The files and options that were read.
    pub key: [u64; 2],
}

/// Writes data and computes the checksums of its blocks.
struct Data {
    out: io::BufWriter<File>,
    /// Offset of the next byte.
    at: u64,
    checksums: Vec<u32>,
    /// Of the block that is being written.
    open: crc32fast::Hasher,
}

impl Data {
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let done = (self.at as usize - HEAD_BYTES) % BLOCK_BYTES;
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_BYTES - done));
            self.open.update(now);
            self.out.write_all(now)?;
            self.at += now.len() as u64;
            if done + now.len() == BLOCK_BYTES {
                self.close_block();
            }
            bytes = later;
        }
        Ok(())
    }

    fn close_block(&mut self) {
        let block = std::mem::take(&mut self.open);
        self.checksums.push(block.finalize());
    }

    /// Writes zeros up to the next multiple of `alignment`.
    fn align(&mut self, alignment: u64) -> io::Result<()> {
        let gap = self.at.next_multiple_of(alignment) - self.at;
        self.write(&[0; LARGE_ALIGNMENT as usize][..gap as usize])
    }
}

/// The data that is being written. The error of the file is kept, because it passes through the serializer as text.
#[derive(Clone)]
struct Writing(Arc<Mutex<(Data, Option<io::Error>)>>);

impl ColumnWriter for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (data, failure) = &mut *guard;
        let alignment = match bytes.len() {
            ..LARGE_BYTES => SMALL_ALIGNMENT,
            _ => LARGE_ALIGNMENT,
        };
        let written = data.align(alignment).and_then(|()| {
            let at = data.at;
            data.write(bytes).map(|()| at)
        });
        written.map_err(|error| {
            let words = error.to_string();
            *failure = Some(error);
            io::Error::other(words)
        })
    }
}

/// Writes `value` to the empty `file`.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write<T: Serialize>(file: &File, label: Label, value: &T) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 20, file.try_clone()?);
    out.write_all(&[0; HEAD_BYTES])?;
    let writing = Writing(Arc::new(Mutex::new((
        Data {
            out,
            at: HEAD_BYTES as u64,
            checksums: Vec::new(),
            open: crc32fast::Hasher::new(),
        },
        None,
    ))));
    let rest = store(value, Box::new(writing.clone()));
    let mut guard = writing.0.lock().unwrap_or_else(PoisonError::into_inner);
    let (data, failure) = &mut *guard;
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let rest = rest.map_err(io::Error::other)?;
    data.align(LARGE_ALIGNMENT)?;
    let rest_start = data.at;
    data.write(&rest)?;
    if !(data.at as usize - HEAD_BYTES).is_multiple_of(BLOCK_BYTES) {
        data.close_block();
    }
    let checksums: &[u8] = bytemuck::cast_slice(&data.checksums);
    data.out.write_all(checksums)?;
    let mut head = Head {
        magic: MAGIC,
        contents: label.contents,
        key: label.key,
        data_end: data.at,
        rest_start,
        checksum_of_checksums: crc32fast::hash(checksums),
        checksum_of_head: 0,
        unused: 0,
    };
    head.checksum_of_head = head.checksum();
    data.out.seek(SeekFrom::Start(0))?;
    data.out.write_all(bytemuck::bytes_of(&head))?;
    data.out.flush()
}

/// Returns the value in `file`, the bytes of a whole file; `None` if the file was not made for `label`, or is damaged.
#[must_use]
pub(crate) fn read<T: DeserializeOwned>(file: Bytes, label: Label) -> Option<T> {
    let head: &Head = bytemuck::try_from_bytes(file.get(..HEAD_BYTES)?).ok()?;
    let is_ours = head.magic == MAGIC
        && head.contents == label.contents
        && head.key == label.key
        && head.checksum_of_head == head.checksum();
    if !is_ours {
        return None;
    }
    let data_end = usize::try_from(head.data_end).ok()?;
    let rest_start = usize::try_from(head.rest_start).ok()?;
    let data = file.get(HEAD_BYTES..data_end)?;
    let checksums = file.get(data_end..)?;
    if checksums.len() != data.len().div_ceil(BLOCK_BYTES) * size_of::<u32>()
        || crc32fast::hash(checksums) != head.checksum_of_checksums
    {
        return None;
    }
    let (checksums, _) = checksums.as_chunks();
    let blocks = data.par_chunks(BLOCK_BYTES).zip(checksums);
    if !blocks
        .into_par_iter()
        .all(|(block, checksum)| crc32fast::hash(block) == u32::from_ne_bytes(*checksum))
    {
        return None;
    }
    let rest = file.get(rest_start..data_end)?;
    restore(rest, file.slice(..data_end)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::column::Column;
    use crate::load::guard::GuardedMap;

    const LABEL: Label = Label {
        contents: 5,
        key: [6, 7],
    };

    type Value = (Column<u32>, Vec<Column<u8>>, String);

    fn value() -> Value {
        (
            (0..600_000).collect(),
            (0..100)
                .map(|at| vec![at; usize::from(at)].into())
                .collect(),
            "the rest".to_owned(),
        )
    }

    fn bytes_of(file: &File) -> Bytes {
        Bytes::from_owner(GuardedMap::new(file).unwrap())
    }

    fn written() -> File {
        let file = tempfile::tempfile().unwrap();
        write(&file, LABEL, &value()).unwrap();
        file
    }

    #[test]
    fn a_value_comes_back() {
        let file = written();
        let back: Value = read(bytes_of(&file), LABEL).unwrap();
        assert_eq!(back, value());
        assert_eq!(back.0.memory_bytes(), 0);
    }

    #[test]
    fn a_file_made_for_something_else_is_not_read() {
        let file = bytes_of(&written());
        for label in [
            Label {
                contents: 4,
                ..LABEL
            },
            Label {
                key: [6, 8],
                ..LABEL
            },
        ] {
            assert!(read::<Value>(file.clone(), label).is_none());
        }
    }

    #[test]
    fn no_damaged_file_is_read() {
        use std::os::unix::fs::FileExt as _;
        let file = written();
        let length = file.metadata().unwrap().len();
        // Each part of the file, and the borders of blocks.
        let places = (0..64).chain((1..40).map(|at| length * at / 40 / 64 * 64));
        for at in places.chain(length - 12..length) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 16], at).unwrap();
            let found = read::<Value>(bytes_of(&file), LABEL);
            let is_unused = (56..64).contains(&at);
            assert_eq!(found.is_none(), !is_unused, "byte {at}");
            file.write_all_at(&byte, at).unwrap();
        }
        for cut in [1, 4, 5, 1000, length / 2, length - 60, length - 1] {
            let file = written();
            file.set_len(length - cut).unwrap();
            assert!(read::<Value>(bytes_of(&file), LABEL).is_none(), "cut {cut}");
        }
        assert!(read::<Value>(bytes_of(&file), LABEL).is_some());
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
            return;
        };
        let error = write(&full, LABEL, &value()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    }
}
