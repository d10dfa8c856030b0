//! Reads bytes from a mapped file or a stream, and unpacks them. All later code sees only `&[u8]`.

use std::fs::{File, Metadata};
use std::io::{BufReader, Read};
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
        let stream = match metadata.is_file() {
            // It has an end: what it unpacks to is read whole or not at all.
            true => gather(Vec::new(), &mut file, Some(reading), job)?.stream(None)?,
            false => read_stream(&mut file, reading, job)?,
        };
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

/// The bytes that were read from a stream.
struct Stream {
    bytes: Vec<u8>,
    /// The number of bytes that were read, before unpacking.
    given_bytes: u64,
    /// Where reading stopped, if the stream is longer.
    stopped: Option<Stopped>,
}

/// Reads a stream, which may have no end. A stream that is not a trace is refused after the megabytes that
/// [`Reading::head_is_known`] needs; a trace is read up to [`budget::stream_bytes`]. A compressed stream is unpacked
/// while it is read, so that both hold for its unpacked bytes.
fn read_stream(source: &mut dyn Read, reading: Reading, job: &Job) -> Result<Stream, ReadError> {
    let mut given = Given::new(source);
    let Some(wrapping) = compression::wrapping(given.head()?) else {
        return gather(Vec::new(), &mut given, Some(reading), job)?.stream(None);
    };
    given.keeps_all = true;
    let buffered = BufReader::with_capacity(PACKED_PIECE_BYTES, &mut given);
    let gathered = match compression::stream_unpacker(wrapping, buffered) {
        Ok(mut unpacker) => gather(Vec::new(), &mut *unpacker, Some(reading), job)?,
        Err(error) => Gathered {
            bytes: Vec::new(),
            end: GatherEnd::Failed(error),
        },
    };
    let read_bytes = given.kept.len() as u64;
    if let Some(error) = given.failure.take() {
        let at = Location::Byte(read_bytes);
        return Err(ReadError {
            at,
            ..io_error(&error)
        });
    }
    match gathered.end {
        // The reader of lz4 stops at the end of a frame, after which another may follow.
        GatherEnd::Complete if wrapping != "lz4" => gathered.stream(Some(read_bytes)),
        GatherEnd::Limit => gathered.stream(Some(read_bytes)),
        // Damaged or cut: unpacking the whole again finds what can be read, and where the damage is.
        _ => {
            drop(gathered);
            given.keeps_all = false;
            let start = std::mem::take(&mut given.kept);
            gather(start, &mut given, None, job)?.stream(None)
        }
    }
}

/// The number of bytes at the start of a stream that show its compression.
const WRAPPING_BYTES: usize = 4;
/// A compressed stream is read in pieces of at most this size.
const PACKED_PIECE_BYTES: usize = 1 << 16;

/// A stream as it is given, whose bytes may be kept for another reading.
struct Given<'a> {
    source: &'a mut dyn Read,
    /// Bytes that were read before others asked for them.
    ahead: Vec<u8>,
    keeps_all: bool,
    kept: Vec<u8>,
    /// The error of the stream itself, which an unpacker may report as damage.
    failure: Option<std::io::Error>,
}

impl<'a> Given<'a> {
    fn new(source: &'a mut dyn Read) -> Given<'a> {
        Given {
            source,
            ahead: Vec::new(),
            keeps_all: false,
            kept: Vec::new(),
            failure: None,
        }
    }

    /// Returns the first bytes of the stream, at least [`WRAPPING_BYTES`] unless it is shorter.
    fn head(&mut self) -> Result<&[u8], ReadError> {
        let mut buffer = [0; WRAPPING_BYTES];
        while self.ahead.len() < WRAPPING_BYTES {
            match self.source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.ahead.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let at = Location::Byte(self.ahead.len() as u64);
                    return Err(ReadError {
                        at,
                        ..io_error(&error)
                    });
                }
            }
        }
        Ok(&self.ahead)
    }
}

impl Read for Given<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = if self.ahead.is_empty() {
            match self.source.read(buffer) {
                Ok(count) => count,
                Err(error) => {
                    if error.kind() != std::io::ErrorKind::Interrupted {
                        self.failure = Some(std::io::Error::new(error.kind(), error.to_string()));
                    }
                    return Err(error);
                }
            }
        } else {
            let count = self.ahead.len().min(buffer.len());
            let piece = self.ahead.drain(..count);
            for (to, byte) in buffer.iter_mut().zip(piece) {
                *to = byte;
            }
            count
        };
        if self.keeps_all {
            let read = buffer.get(..count).unwrap_or_default();
            budget::grow(&mut self.kept, count)
                .map_err(|problem| std::io::Error::other(problem.to_string()))?;
            self.kept.extend_from_slice(read);
        }
        Ok(count)
    }
}

/// The bytes that were read from a reader that may have no end.
struct Gathered {
    bytes: Vec<u8>,
    end: GatherEnd,
}

/// Why reading ended.
enum GatherEnd {
    /// The reader ended.
    Complete,
    /// The memory limit leaves no room for more.
    Limit,
    Failed(std::io::Error),
}

impl Gathered {
    /// Returns the bytes as a stream; `packed_bytes` is the number of compressed bytes of which they were unpacked.
    ///
    /// # Errors
    /// If reading failed.
    fn stream(self, packed_bytes: Option<u64>) -> Result<Stream, ReadError> {
        let count = self.bytes.len();
        let given_bytes = packed_bytes.unwrap_or(count as u64);
        let stopped = match self.end {
            GatherEnd::Complete => None,
            GatherEnd::Limit => {
                let unpacked = packed_bytes.map_or("", |_| "unpacked ");
                let words = format!(
                    "only the first {count} {unpacked}bytes were read: the memory limit leaves no room for the rest of the input"
                );
                let at = given_bytes;
                Some(Stopped { at, words })
            }
            GatherEnd::Failed(error) => {
                return Err(ReadError {
                    at: Location::Byte(given_bytes),
                    ..io_error(&error)
                });
            }
        };
        Ok(Stream {
            bytes: self.bytes,
            given_bytes,
            stopped,
        })
    }
}

/// Appends to `bytes` what `source` returns until its end, an error, or the memory limit. With `reading`, a stream is
/// refused as soon as it is certain that the bytes are no trace.
fn gather(
    mut bytes: Vec<u8>,
    source: &mut dyn Read,
    reading: Option<Reading>,
    job: &Job,
) -> Result<Gathered, ReadError> {
    let most = budget::stream_bytes();
    let mut buffer = vec![0; PIECE_BYTES];
    // The sizes at which the format is detected: other text may come before a trace.
    let mut looks = [HEAD_BYTES, WIDE_HEAD_BYTES, EXAMINED_BYTES]
        .into_iter()
        .peekable();
    let mut unknown = reading;
    loop {
        job.check()?;
        let count = match source.read(&mut buffer) {
            Ok(0) => {
                let end = GatherEnd::Complete;
                return Ok(Gathered { bytes, end });
            }
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let end = GatherEnd::Failed(error);
                return Ok(Gathered { bytes, end });
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
            if let Some(reading) = unknown {
                reading.require_format(&bytes)?;
            }
            let end = GatherEnd::Limit;
            return Ok(Gathered { bytes, end });
        }
        budget::grow(&mut bytes, count)
            .map_err(|problem| ReadError::at_byte(bytes.len() as u64, "file", problem))?;
        bytes.extend_from_slice(piece);
        if let Some(reading) = unknown
            && looks.next_if(|&size| bytes.len() >= size).is_some()
            && reading.head_is_known(&bytes)?
        {
            unknown = None;
        }
    }
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
