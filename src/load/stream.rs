//! Reads streams, which may have no end, into memory.
//!
//! ```text
//! stream -> Given ----------------------> gather -> Gathered -> Stream       plain
//!           Given -> unpacker ----------> gather -> Gathered -> Stream       compressed: bytes are unpacked
//!             '- kept: all bytes -------> gather -----------> Stream         compressed, but damaged: as they are
//! ```

use std::io::{BufReader, Read};

use super::detection::{HEAD_BYTES, WIDE_HEAD_BYTES};
use super::reading::{EXAMINED_BYTES, Reading};
use crate::base::{Job, Location, Problem, ReadError, budget};
use crate::formats::compression::{self, Stopped};

/// A stream is read in pieces of at most this size.
const PIECE_BYTES: usize = 1 << 20;
/// The number of bytes at the start of a stream that show its compression.
const WRAPPING_BYTES: usize = 4;
/// A compressed stream is read in pieces of at most this size.
const PACKED_PIECE_BYTES: usize = 1 << 16;

/// The bytes that were read from a stream.
pub(super) struct Stream {
    pub bytes: Vec<u8>,
    /// The number of bytes that were read, before unpacking.
    pub given_bytes: u64,
    /// Where reading stopped, if the stream is longer.
    pub stopped: Option<Stopped>,
}

/// Returns the error of a read, in words.
pub(super) fn io_error(error: &std::io::Error) -> ReadError {
    let words = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        _ => error.to_string(),
    };
    ReadError::at_byte(0, "file", Problem::Io(words))
}

/// Reads a file, which has an end: what it unpacks to is read whole or not at all, later.
///
/// # Errors
/// If the file cannot be read or is too large.
pub(super) fn read_file(
    file: &mut dyn Read,
    reading: Reading,
    job: &Job,
) -> Result<Stream, ReadError> {
    gather(Vec::new(), file, Some(reading), job)?.stream(None)
}

/// Reads a stream, which may have no end. A stream that is not a trace is refused after the megabytes that
/// [`Reading::head_is_known`] needs; a trace is read up to [`budget::stream_bytes`]. A compressed stream is unpacked
/// while it is read, so that both hold for its unpacked bytes.
///
/// # Errors
/// If the stream cannot be read or unpacked, is no trace, or does not fit into the memory budget.
pub(super) fn read_stream(
    source: &mut dyn Read,
    reading: Reading,
    job: &Job,
) -> Result<Stream, ReadError> {
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
            if let Err(problem) = budget::grow(&mut self.kept, count) {
                let error = || std::io::Error::other(problem.to_string());
                self.failure = Some(error());
                return Err(error());
            }
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
