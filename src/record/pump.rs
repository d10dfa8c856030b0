//! Moves pages of a CPU from the kernel to a file by splice: no byte passes through this process.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use super::source::Pages;

/// Size of the pipe between the kernel's buffer and the file, in bytes.
const PIPE_BYTES: usize = 1 << 20;
/// The longest time between two reads.
pub(crate) const TAKEN_EVERY: Duration = Duration::from_millis(100);

/// State that the pumps of all CPUs and their owner share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Whether recording has stopped, so that pumps read the rest and end.
    pub is_stopping: AtomicBool,
    /// Whether the disk is full.
    pub is_full: AtomicBool,
    /// Bytes in the files.
    pub bytes: AtomicU64,
}

/// Moves the pages of a CPU to a file.
pub(crate) struct Pump<'a> {
    /// The source of the pages.
    pub pages: &'a Pages,
    /// The file to which they are written.
    pub out: &'a File,
    /// Size of a page in bytes.
    pub page_size: usize,
    /// How often pages that are not yet full are read, because a search or a viewer waits for their events; `None`:
    /// only at the end.
    pub rest_every: Option<Duration>,
    /// Bytes of whole pages in the file.
    pub taken: &'a AtomicU64,
    /// State that all pumps share.
    pub shared: &'a Shared,
}

/// The two ends of the pipe through which pages are moved.
struct Pipe {
    /// The pipe's read end: pages leave it for the file.
    out_of: OwnedFd,
    /// The pipe's write end: pages of the kernel's buffer enter it.
    into: OwnedFd,
}

impl Pipe {
    fn new() -> std::io::Result<Pipe> {
        let (out_of, into) = pipe_with(PipeFlags::CLOEXEC)?;
        // If the pipe stays smaller, moving is only slower.
        let _smaller = fcntl_setpipe_size(&into, PIPE_BYTES);
        Ok(Pipe { out_of, into })
    }
}

/// Waits until a CPU's buffer is as full as `buffer_percent` requires, at most `limit`.
pub(crate) fn wait_for_pages(pages: &File, limit: Duration) {
    let mut fds = [PollFd::new(pages, PollFlags::IN)];
    let time = Timespec::try_from(limit).ok();
    let is_there = poll(&mut fds, time.as_ref());
    if is_there.is_err() {
        std::thread::sleep(limit);
    }
}

impl Pump<'_> {
    /// Moves pages until recording has stopped and the buffer is empty, or until the disk is full. Returns the number
    /// of bytes in the file.
    ///
    /// # Errors
    /// If a system call fails, except because the disk is full.
    pub(crate) fn run(&self) -> std::io::Result<u64> {
        let result = match self.pages {
            Pages::Kernel(pages) => self.run_kernel(pages),
            Pages::Stream(pages) => self.run_stream(pages),
        };
        match result {
            // The pages before this one are in the file.
            Err(error) if error.kind() == ErrorKind::StorageFull => {
                self.shared.is_full.store(true, Ordering::Release);
                Ok(self.taken.load(Ordering::Acquire))
            }
            result => result,
        }
    }

    /// Moves the pages of a stream until it ends.
    fn run_stream(&self, mut pages: &File) -> std::io::Result<u64> {
        let mut buffer = vec![0; PIPE_BYTES];
        let mut at = 0;
        loop {
            let count = match pages.read(&mut buffer) {
                Ok(0) => return Ok(at - at % self.page_size as u64),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.out
                .write_all_at(buffer.get(..count).unwrap_or(&[]), at)?;
            at += count as u64;
            self.shared.bytes.fetch_add(count as u64, Ordering::Relaxed);
            self.taken
                .store(at - at % self.page_size as u64, Ordering::Release);
        }
    }

    fn run_kernel(&self, pages: &File) -> std::io::Result<u64> {
        let pipe = Pipe::new()?;
        let mut at = 0_u64;
        loop {
            // If the disk is full for one CPU, the others may still have room for what they have.
            let is_last = self.shared.is_stopping.load(Ordering::Acquire)
                || self.shared.is_full.load(Ordering::Acquire);
            let moved = self.take_full_pages(pages, &pipe, &mut at);
            let moved = moved.and_then(|()| match is_last || self.rest_every.is_some() {
                true => self.take_rest(pages, &mut at),
                false => Ok(()),
            });
            // Only whole pages count: the last page may be cut.
            self.taken
                .store(at - at % self.page_size as u64, Ordering::Release);
            moved?;
            if is_last {
                return Ok(at);
            }
            wait_for_pages(pages, self.rest_every.unwrap_or(TAKEN_EVERY));
        }
    }

    /// Moves all full pages.
    fn take_full_pages(&self, pages: &File, pipe: &Pipe, at: &mut u64) -> std::io::Result<()> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        loop {
            let mut left = match splice(pages, None, &pipe.into, None, PIPE_BYTES, flags) {
                Ok(0) | Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
                // The CPU is offline, or its buffer was never allocated.
                Err(Errno::NODEV | Errno::INVAL) => return Ok(()),
                Ok(count) => count,
                Err(error) => return Err(error.into()),
            };
            while left > 0 {
                let moved = splice(
                    &pipe.out_of,
                    None,
                    self.out,
                    Some(at),
                    left,
                    SpliceFlags::MOVE,
                )?;
                left = left.saturating_sub(moved.max(1));
                self.shared.bytes.fetch_add(moved as u64, Ordering::Relaxed);
            }
        }
    }

    /// Reads the pages that are not yet full.
    fn take_rest(&self, mut pages: &File, at: &mut u64) -> std::io::Result<()> {
        let mut page = vec![0; self.page_size];
        loop {
            let count = match pages.read(&mut page) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.raw_os_error() == Some(libc::ENODEV) => return Ok(()),
                Err(error) => return Err(error),
            };
            page.get_mut(count..).unwrap_or(&mut []).fill(0);
            self.out.write_all_at(&page, *at)?;
            *at += page.len() as u64;
            self.shared
                .bytes
                .fetch_add(page.len() as u64, Ordering::Relaxed);
        }
    }
}
