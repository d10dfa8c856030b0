//! Reads bytes from a mapped file or a stream, and unpacks them. All later code sees only `&[u8]`.

use std::fs::{File, Metadata};
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::detection::{HEAD_BYTES, WIDE_HEAD_BYTES, detect};
use super::guard::GuardedMap;
use super::opened::OpenedFile;
use super::reading::{EXAMINED_BYTES, Reading};
use crate::base::{Job, Location, Problem, ReadError, budget};
use crate::formats::compression::{self, Stopped, Unwrapped};
use crate::formats::html::{self, Embedded};
use crate::formats::{FORMATS, Input, Inside};

/// Files of this size or larger are mapped; smaller ones are read into memory.
const MAP_FROM_BYTES: u64 = 1 << 20;
/// A stream is read in pieces of at most this size.
const PIECE_BYTES: usize = 1 << 20;

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
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    };
    ReadError::at_byte(0, "file", Problem::Io(words))
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
        let stream = read_stream(&mut file, reading, job)?;
        return in_memory(stream, &file_name, job);
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
        opened: Some(Arc::new(opened)),
        is_mapped: plain.is_as_given,
    })
}

/// Returns the bytes of a file that is in memory already, unpacked as by [`read`].
///
/// # Errors
/// If they cannot be unpacked, or do not fit into the memory budget.
pub(crate) fn of_bytes(bytes: Vec<u8>, name: &str, job: &Job) -> Result<Source, ReadError> {
    let stopped = None;
    in_memory(Stream { bytes, stopped }, name, job)
}

fn is_mappable(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.len() >= MAP_FROM_BYTES
}

/// The bytes that were read from a stream.
struct Stream {
    bytes: Vec<u8>,
    /// Where reading stopped, if the stream is longer.
    stopped: Option<Stopped>,
}

/// Reads a stream, which may have no end. A stream that is not a trace is refused after the megabytes that
/// [`Reading::head_is_known`] needs; a trace is read up to [`budget::stream_bytes`].
fn read_stream(source: &mut impl Read, reading: Reading, job: &Job) -> Result<Stream, ReadError> {
    let most = budget::stream_bytes();
    let mut bytes = Vec::new();
    let mut buffer = vec![0; PIECE_BYTES];
    // The sizes at which the format is detected: other text may come before a trace.
    let mut looks = [HEAD_BYTES, WIDE_HEAD_BYTES, EXAMINED_BYTES]
        .into_iter()
        .peekable();
    let mut is_known = false;
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
            Err(error) => {
                let at = Location::Byte(bytes.len() as u64);
                return Err(ReadError {
                    at,
                    ..io_error(&error)
                });
            }
        };
        let piece = buffer.get(..count).unwrap_or_default();
        if bytes.is_empty() && count as u64 > most {
            let needed_bytes = count as u64;
            let left_bytes = most;
            let problem = Problem::NoMemory {
                needed_bytes,
                left_bytes,
            };
            return Err(ReadError::at_byte(0, "file", problem));
        }
        if (bytes.len() + count) as u64 > most {
            if !is_known {
                reading.require_format(&bytes)?;
            }
            let words = format!(
                "only the first {} bytes were read: the memory limit leaves no room for the rest of the input",
                bytes.len()
            );
            let at = bytes.len() as u64;
            return Ok(Stream {
                bytes,
                stopped: Some(Stopped { at, words }),
            });
        }
        budget::grow(&mut bytes, count)
            .map_err(|problem| ReadError::at_byte(bytes.len() as u64, "file", problem))?;
        bytes.extend_from_slice(piece);
        if looks.next_if(|&size| bytes.len() >= size).is_some() && reading.head_is_known(&bytes)? {
            is_known = true;
            looks.by_ref().for_each(drop);
        }
    }
}

fn in_memory(stream: Stream, name: &str, job: &Job) -> Result<Source, ReadError> {
    let file_bytes = stream.bytes.len() as u64;
    let plain = unwrapped(Input::from_vec(stream.bytes, name), job)?;
    Ok(Source {
        input: plain.input,
        file_bytes,
        stopped: stream.stopped.or(plain.stopped),
        inside: plain.inside,
        opened: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that returns one to seven bytes at a time, is often interrupted, and fails after `good` bytes.
    struct Flaky<'a> {
        bytes: &'a [u8],
        good: usize,
        calls: usize,
    }

    impl Read for Flaky<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            if self.good == 0 {
                return Err(std::io::Error::other("the cable came off"));
            }
            let wanted = to.len().min(self.calls % 7 + 1).min(self.good);
            let count = self.bytes.read(to.get_mut(..wanted).unwrap_or_default())?;
            self.good -= count;
            Ok(count)
        }
    }

    fn read_flaky(bytes: &[u8], good: usize) -> Result<Stream, ReadError> {
        let calls = 0;
        let mut source = Flaky { bytes, good, calls };
        read_stream(&mut source, Reading::default(), &Job::default())
    }

    #[test]
    fn short_and_interrupted_reads_lose_nothing() {
        let bytes: Vec<u8> = (0..10_000_u32).map(|at| at as u8).collect();
        let stream = read_flaky(&bytes, usize::MAX).unwrap();
        assert!(stream.bytes == bytes && stream.stopped.is_none());
    }

    #[test]
    fn a_read_that_fails_is_an_error_and_not_an_end() {
        let bytes = [b'x'; 10_000];
        for good in [0, 1, 9_999, 10_000] {
            let error = read_flaky(&bytes, good).map(|_| ()).unwrap_err();
            assert!(error.to_string().contains("the cable came off"), "{error}");
            assert_eq!(error.at, Location::Byte(good as u64));
        }
    }
}
