//! Where bytes come from: a mapped file, standard input, or what was unpacked. From there on they are `&[u8]`.

use std::fs::{File, Metadata};
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::guard::GuardedMap;
use super::opened::OpenedFile;
use super::reading::Reading;
use super::{HEAD_BYTES, WIDE_HEAD_BYTES};
use crate::base::{Job, Problem, ReadError, budget};
use crate::formats::Input;
use crate::formats::compression::{self, Stopped, Unwrapped};

/// Files from this size on are mapped; smaller ones are read.
const MAP_FROM_BYTES: u64 = 1 << 20;
/// A stream is read in pieces of at most this size.
const PIECE_BYTES: usize = 1 << 20;

/// A file's bytes, and the file itself as long as bytes are read from it.
#[derive(Debug)]
pub struct Source {
    /// The bytes, unpacked.
    pub input: Input,
    /// Size on disk.
    pub file_bytes: u64,
    /// Where a wrapped file could be unpacked no further, if it was not whole.
    pub stopped: Option<Stopped>,
    /// Notices what happens to the file. `None`: all its bytes are in memory.
    pub opened: Option<Arc<OpenedFile>>,
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

fn io_error(error: &std::io::Error) -> ReadError {
    let words = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => {
            "you may not read it (permission denied)".to_owned()
        }
        _ => error.to_string(),
    };
    ReadError::at_byte(0, "file", Problem::Io(words))
}

/// Opens `path` (`-` is standard input) and unpacks what is wrapped in gzip, zstd or lz4. `reading` says which format is
/// expected, so that a stream without end that is no trace is refused after its first megabytes.
///
/// # Errors
/// In words for the user: no such file, a folder, no permission, nothing that could be unpacked, more than fits into
/// the memory budget.
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
        let stream = read_stream(&mut file, reading, job)?;
        return in_memory(stream, &file_name, job);
    }
    let map = Arc::new(GuardedMap::new(&file).map_err(|error| io_error(&error))?);
    let opened = OpenedFile::new(path, file, &metadata, Arc::clone(&map));
    let mapped = Input::new(Arc::new(Mapped(map)), file_name);
    let (input, stopped, is_mapped) = unwrapped(mapped, job)?;
    Ok(Source {
        input,
        file_bytes: metadata.len(),
        stopped,
        opened: Some(Arc::new(opened)),
        is_mapped,
    })
}

fn is_mappable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() >= MAP_FROM_BYTES
}

/// What a stream gave.
struct Stream {
    bytes: Vec<u8>,
    /// Where reading stopped although there was more.
    stopped: Option<Stopped>,
}

/// Reads a stream to its end, which need not come: after [`reading::head_is_known`]'s megabytes a stream that is no
/// trace is refused, and one that is a trace is read up to [`budget::stream_bytes`].
///
/// [`reading::head_is_known`]: super::reading::Reading::head_is_known
fn read_stream(source: &mut impl Read, reading: Reading, job: &Job) -> Result<Stream, ReadError> {
    let most = budget::stream_bytes();
    let mut bytes = Vec::new();
    let mut buffer = vec![0; PIECE_BYTES];
    // The sizes at which the head is looked at: something else may stand before a trace.
    let mut looks = [HEAD_BYTES, WIDE_HEAD_BYTES].into_iter().peekable();
    loop {
        job.check()?;
        let count = match source.read(&mut buffer) {
            Ok(0) => {
                return Ok(Stream {
                    bytes,
                    stopped: None,
                });
            }
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(io_error(&error)),
        };
        let piece = buffer.get(..count).unwrap_or_default();
        if (bytes.len() + count) as u64 > most {
            let words = format!(
                "only the first {} bytes were read: the input has no end within what the memory limit leaves for it",
                bytes.len()
            );
            let at = bytes.len() as u64;
            return Ok(Stream {
                bytes,
                stopped: Some(Stopped { at, words }),
            });
        }
        budget::grow(&mut bytes, count)
            .map_err(|problem| ReadError::at_byte(0, "file", problem))?;
        bytes.extend_from_slice(piece);
        if looks.next_if(|&size| bytes.len() >= size).is_some() && reading.head_is_known(&bytes)? {
            looks.by_ref().for_each(drop);
        }
    }
}

fn in_memory(stream: Stream, name: &str, job: &Job) -> Result<Source, ReadError> {
    let file_bytes = stream.bytes.len() as u64;
    let (input, stopped, _) = unwrapped(Input::from_vec(stream.bytes, name), job)?;
    Ok(Source {
        input,
        file_bytes,
        stopped: stream.stopped.or(stopped),
        opened: None,
        is_mapped: false,
    })
}

/// The plain bytes, where unpacking them stopped, and whether they are still those of `input`.
fn unwrapped(input: Input, job: &Job) -> Result<(Input, Option<Stopped>, bool), ReadError> {
    match compression::unwrap_file(input.bytes(), job)? {
        Some(Unwrapped { plain, stopped }) => {
            let input = Input::from_vec(plain, &input.file_name);
            Ok((input, stopped, false))
        }
        None => Ok((input, None, true)),
    }
}
