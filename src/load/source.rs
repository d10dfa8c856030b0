//! Reads bytes from a mapped file or a stream, and unpacks them. All later code sees only `&[u8]`.

use std::fs::{File, Metadata};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::detection::{HEAD_BYTES, detect};
use super::guard::GuardedMap;
use super::opened::{OpenedFile, Snapshot};
use super::reading::Reading;
use super::stream::{Stream, io_error, read_file, read_stream};
use crate::base::{Job, Problem, ReadError};
use crate::formats::compression::{self, Stopped, Unwrapped};
use crate::formats::html::{self, Embedded};
use crate::formats::{FORMATS, Input, Inside};

/// Files of this size or larger are mapped; smaller ones are read into memory.
const MAP_FROM_BYTES: u64 = 1 << 20;

/// A file's bytes, and the file itself while bytes are still read from it.
#[derive(Debug)]
pub struct Source {
    /// The bytes, unpacked.
    pub input: Input,
    /// Size on disk, in bytes.
    pub file_bytes: u64,
    /// Where unpacking stopped, if a compressed file is not whole.
    pub stopped: Option<Stopped>,
    /// Other recordings in the file.
    pub inside: Vec<Inside>,
    /// Reports changes of the file; `None` if the bytes do not come from an open file.
    pub opened: Option<Arc<OpenedFile>>,
    /// Which file it is; `None` if the bytes do not come from a file that can be opened again.
    pub(super) snapshot: Option<Snapshot>,
    /// Whether the bytes are still read from the file after it was opened.
    pub is_mapped: bool,
}

struct Mapped(Arc<GuardedMap>);

impl Deref for Mapped {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// Opens `path` (`-` is standard input) and unpacks gzip, zstd and lz4. A stream in which `reading` finds no format is
/// refused after its first megabytes, because it may have no end.
///
/// # Errors
/// If the file does not exist, is a folder, may not be read, cannot be unpacked, or does not fit into the memory
/// budget. The error is worded for the user.
pub fn read(path: &Path, reading: Reading, job: &Job) -> Result<Source, ReadError> {
    let file_name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if path.as_os_str() == "-" {
        let stream = read_stream(&mut std::io::stdin().lock(), reading, job)?;
        return in_memory(stream, "standard input", job);
    }
    let metadata = std::fs::metadata(path).map_err(|error| io_error(&error))?;
    if metadata.is_dir() {
        let words = "this is a folder; open a trace file in it".to_owned();
        return Err(ReadError::at_byte(0, "file", Problem::Io(words)));
    }
    let mut file = File::open(path).map_err(|error| io_error(&error))?;
    if !is_mappable(&metadata) {
        if !metadata.is_file() {
            let stream = read_stream(&mut file, reading, job)?;
            return in_memory(stream, &file_name, job);
        }
        // It has an end: what it unpacks to is read whole or not at all.
        let stream = read_file(&mut file, reading, job)?;
        let snapshot = Snapshot::of(&metadata, &stream.bytes);
        return Ok(Source {
            snapshot: Some(snapshot),
            ..in_memory(stream, &file_name, job)?
        });
    }
    let map = Arc::new(GuardedMap::new(&file).map_err(|error| io_error(&error))?);
    let opened = OpenedFile::new(path, file, &metadata, Arc::clone(&map));
    let mapped = Input::new(Arc::new(Mapped(map)), file_name);
    let plain = unwrapped(mapped, job)?;
    Ok(Source {
        input: plain.input,
        file_bytes: metadata.len(),
        stopped: plain.stopped,
        inside: plain.inside,
        snapshot: Some(opened.snapshot()),
        opened: Some(Arc::new(opened)),
        is_mapped: plain.is_as_given,
    })
}

/// Returns the bytes of a file that is in memory already, unpacked as by [`read`].
///
/// # Errors
/// If they cannot be unpacked, or do not fit into the memory budget.
pub(crate) fn of_bytes(bytes: Vec<u8>, name: &str, job: &Job) -> Result<Source, ReadError> {
    let stream = Stream {
        given_bytes: bytes.len() as u64,
        bytes,
        stopped: None,
    };
    in_memory(stream, name, job)
}

fn is_mappable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() >= MAP_FROM_BYTES
}

fn in_memory(stream: Stream, name: &str, job: &Job) -> Result<Source, ReadError> {
    let file_bytes = stream.given_bytes;
    let plain = unwrapped(Input::from_vec(stream.bytes, name), job)?;
    Ok(Source {
        input: plain.input,
        file_bytes,
        stopped: stream.stopped.or(plain.stopped),
        inside: plain.inside,
        opened: None,
        snapshot: None,
        is_mapped: false,
    })
}

/// The bytes of a file as a format reads them: uncompressed, and without a web page around them.
struct Plain {
    input: Input,
    /// Where unpacking stopped before the end.
    stopped: Option<Stopped>,
    /// Other recordings in the file.
    inside: Vec<Inside>,
    /// Whether the bytes are those of the file, or a range of them.
    is_as_given: bool,
}

fn unwrapped(input: Input, job: &Job) -> Result<Plain, ReadError> {
    let plain = match compression::unwrap_file(input.bytes(), job)? {
        Some(Unwrapped { plain, stopped }) => Plain {
            input: Input::from_vec(plain, &input.file_name),
            stopped,
            inside: Vec::new(),
            is_as_given: false,
        },
        None => Plain {
            input,
            stopped: None,
            inside: Vec::new(),
            is_as_given: true,
        },
    };
    let is_trace = |text: &[u8]| detect(text.get(..HEAD_BYTES).unwrap_or(text)).is_ok();
    let found = html::unwrap(plain.input.bytes(), &is_trace, job)?;
    let mut found = found.into_iter().map(|embedded| match embedded {
        Embedded::Part(range) => (plain.input.part(range), plain.is_as_given),
        Embedded::Decoded(bytes) => (Input::from_vec(bytes, &plain.input.file_name), false),
    });
    if let Some((input, is_as_given)) = found.next() {
        let inside = (2..).zip(found).map(|(number, (input, _))| Inside {
            name: format!("trace {number}"),
            input,
        });
        let inside = inside.collect();
        return Ok(Plain {
            input,
            inside,
            is_as_given,
            ..plain
        });
    }
    drop(found);
    let bytes = plain.input.bytes();
    let mut wrapped = FORMATS.iter().filter_map(|format| format.wrapped);
    Ok(match wrapped.find_map(|wrapped| wrapped(bytes)) {
        Some(text) => Plain {
            input: Input::from_vec(text, &plain.input.file_name),
            is_as_given: false,
            ..plain
        },
        None => plain,
    })
}
