//! Files that grow while they are shown: watches their sizes, cuts off an incomplete last line, and copies standard
//! input to a file.
//!
//! A text that is being written may end within a line: that line is read when it is complete.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use super::detection::{HEAD_BYTES, WIDE_HEAD_BYTES};
use super::reading::Reading;
use crate::formats::Input;

/// Interval at which the sizes of files are read.
const EVERY: Duration = Duration::from_millis(150);
/// Name of the spooled file, which the window shows as the file's name.
const STANDARD_INPUT: &str = "standard input";
/// Number of bytes at a file's end that contain no zero byte if the file is a text.
const TAIL: usize = 64 << 10;

/// Watches the sizes of files on a thread of its own until it is dropped.
#[derive(Debug)]
pub(crate) struct Watch {
    bytes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
}

impl Watch {
    /// Starts to watch; `wake` is called on the watching thread whenever the sum of the sizes has changed.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub(crate) fn start(
        paths: Vec<PathBuf>,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Watch> {
        let watch = Watch {
            bytes: Arc::new(AtomicU64::new(size_of_all(&paths))),
            is_over: Arc::default(),
        };
        let (bytes, is_over) = (watch.bytes.clone(), watch.is_over.clone());
        std::thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(EVERY);
                    let now = size_of_all(&paths);
                    if bytes.swap(now, Ordering::Relaxed) != now {
                        wake();
                    }
                }
            })?;
        Ok(watch)
    }

    /// Returns the sum of the files' sizes in bytes.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn size_of_all(paths: &[PathBuf]) -> u64 {
    let size = |path: &PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
    paths.iter().map(size).sum()
}

/// Copies standard input (or any other stream) to a file of its own, which is deleted when this is dropped.
#[derive(Debug)]
pub struct Spool {
    folder: TempDir,
    has_ended: Arc<AtomicBool>,
}

impl Spool {
    /// Starts to copy standard input; see [`Spool::of`].
    ///
    /// # Errors
    /// If the file cannot be created, or the system cannot start a thread.
    pub(crate) fn of_standard_input(
        reading: Reading,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Spool> {
        Spool::of(std::io::stdin(), reading, wake)
    }

    /// Starts to copy any stream; `wake` is called once it has ended. If `reading` finds no trace in its head, the copy
    /// ends there.
    ///
    /// # Errors
    /// If the file cannot be created, or the system cannot start a thread.
    pub fn of(
        mut stream: impl Read + Send + 'static,
        reading: Reading,
        wake: impl Fn() + Send + 'static,
    ) -> std::io::Result<Spool> {
        let spool = Spool {
            folder: tempfile::Builder::new().prefix("threadline-").tempdir()?,
            has_ended: Arc::default(),
        };
        let mut file = File::create(spool.path())?;
        let has_ended = spool.has_ended.clone();
        std::thread::Builder::new()
            .name("spool".to_owned())
            .spawn(move || {
                let mut buffer = vec![0; 256 << 10];
                let mut head = Head::default();
                loop {
                    let count = match stream.read(&mut buffer) {
                        Ok(count) => count,
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                        Err(_) => 0,
                    };
                    let part = buffer.get(..count).unwrap_or_default();
                    // A full disk ends the copy like the end of the stream: the bytes so far are shown. A stream that
                    // is not a trace may have no end.
                    if part.is_empty()
                        || file.write_all(part).is_err()
                        || !head.may_be_of_a_trace(part, reading)
                    {
                        break;
                    }
                }
                has_ended.store(true, Ordering::Release);
                wake();
            })?;
        Ok(spool)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(STANDARD_INPUT)
    }

    /// Returns whether the copy has ended.
    #[must_use]
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Returns whether a path belongs to a spooled file, which is deleted when the program ends.
    #[must_use]
    pub(crate) fn is_of(path: &Path) -> bool {
        let folder = path.parent().and_then(Path::file_name);
        let is_ours = folder.is_some_and(|name| name.to_string_lossy().starts_with("threadline-"));
        is_ours && path.file_name().is_some_and(|name| name == STANDARD_INPUT)
    }
}

/// The head of a stream, kept until its format is known.
#[derive(Default)]
struct Head {
    bytes: Vec<u8>,
    is_known: bool,
}

impl Head {
    /// Adds bytes of the stream. Returns `false` once there are enough bytes to know that they are not a trace.
    fn may_be_of_a_trace(&mut self, part: &[u8], reading: Reading) -> bool {
        if self.is_known {
            return true;
        }
        let before = self.bytes.len();
        self.bytes.extend_from_slice(part);
        let crosses = |size: usize| before < size && self.bytes.len() >= size;
        if !(crosses(HEAD_BYTES) || crosses(WIDE_HEAD_BYTES)) {
            return true;
        }
        match reading.head_is_known(&self.bytes) {
            Ok(is_known) => {
                self.is_known = is_known;
                if is_known {
                    self.bytes = Vec::new();
                }
                true
            }
            Err(_) => false,
        }
    }
}

struct Part {
    whole: Input,
    length: usize,
}

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let bytes = self.whole.bytes();
        bytes.get(..self.length).unwrap_or(bytes)
    }
}

/// Returns a text without its last line if that line is incomplete; any other input unchanged.
pub(super) fn whole_lines(input: Input) -> Input {
    let bytes = input.bytes();
    let tail = bytes
        .get(bytes.len().saturating_sub(TAIL)..)
        .unwrap_or(bytes);
    if memchr::memchr(0, tail).is_some() {
        return input;
    }
    let Some(last) = memchr::memrchr(b'\n', bytes) else {
        return input;
    };
    let length = last + 1;
    if length == bytes.len() {
        return input;
    }
    let (file_name, midnight_ns) = (input.file_name.clone(), input.midnight_ns);
    let part = Part {
        whole: input,
        length,
    };
    let mut input = Input::new(Arc::new(part), file_name);
    input.midnight_ns = midnight_ns;
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_being_written_is_left_for_later() {
        let cut = |text: &[u8]| {
            let input = whole_lines(Input::from_vec(text.to_vec(), "a"));
            input.bytes().to_vec()
        };
        assert_eq!(cut(b"one\ntwo\nthr"), b"one\ntwo\n");
        assert_eq!(cut(b"one\n"), b"one\n");
        assert_eq!(cut(b"one"), b"one");
        assert_eq!(cut(b"\0\x01\nbinary"), b"\0\x01\nbinary");
        assert_eq!(cut(b""), b"");
    }

    #[test]
    fn a_stream_is_kept_and_watched() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let spool = Spool::of(reader, Reading::default(), || ()).unwrap();
        let path = spool.path();
        assert!(Spool::is_of(&path) && !Spool::is_of(Path::new("/t/standard input")));
        let (sender, woken) = std::sync::mpsc::channel();
        let watch = Watch::start(vec![path.clone()], move || {
            let _gone = sender.send(());
        })
        .unwrap();
        writer.write_all(b"one\n").unwrap();
        let wait = Duration::from_secs(20);
        while watch.bytes() < 4 {
            woken.recv_timeout(wait).unwrap();
        }
        assert!(!spool.has_ended());
        drop(writer);
        while !spool.has_ended() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
        drop((watch, spool));
        assert!(!path.exists());
    }
}
