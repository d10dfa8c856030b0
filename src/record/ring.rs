//! The last pages of each CPU of a recording, in memory; the oldest pages are dropped first.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::pump::{Shared, TAKEN_EVERY, wait_for_pages};
use super::source::Pages;
use super::trigger::FreshPages;

/// How many pages are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The duration that is kept; `None` if the clock does not count nanoseconds.
    pub keep: Option<Duration>,
    /// Maximum number of bytes that are kept of each CPU.
    pub bytes: usize,
    /// Size of a page in bytes.
    pub page_size: usize,
}

/// The last pages of a CPU.
#[derive(Debug)]
pub(crate) struct CpuRing {
    /// Number of the CPU.
    pub cpu: u32,
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pages: VecDeque<Arc<Vec<u8>>>,
    /// Pages that the trigger has not searched.
    fresh: Vec<u8>,
}

impl CpuRing {
    /// Returns a ring without pages.
    #[must_use]
    pub(crate) fn new(cpu: u32, limits: Limits) -> CpuRing {
        CpuRing {
            cpu,
            limits,
            state: Mutex::default(),
        }
    }

    /// Reads pages from the kernel until recording has stopped.
    ///
    /// # Errors
    /// Those of read(2).
    pub(crate) fn fill(&self, pages: &Pages, shared: &Shared) -> std::io::Result<()> {
        match pages {
            Pages::Kernel(pages) => self.fill_from_kernel(pages, shared),
            Pages::Stream(pages) => self.fill_from_stream(pages, shared),
        }
    }

    fn fill_from_stream(&self, mut pages: &File, shared: &Shared) -> std::io::Result<()> {
        loop {
            let mut page = vec![0; self.limits.page_size];
            match pages.read_exact(&mut page) {
                Ok(()) => {
                    let size = page.len() as u64;
                    shared.bytes.fetch_add(size, Ordering::Relaxed);
                    self.push(page);
                }
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn fill_from_kernel(&self, mut pages: &File, shared: &Shared) -> std::io::Result<()> {
        loop {
            let is_last = shared.is_stopping.load(Ordering::Acquire);
            loop {
                let mut page = vec![0; self.limits.page_size];
                match pages.read(&mut page) {
                    Ok(0) => break,
                    Ok(count) => {
                        page.get_mut(count..).unwrap_or(&mut []).fill(0);
                        let size = page.len() as u64;
                        shared.bytes.fetch_add(size, Ordering::Relaxed);
                        self.push(page);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if error.raw_os_error() == Some(libc::ENODEV) => break,
                    Err(error) => return Err(error),
                }
            }
            if is_last {
                return Ok(());
            }
            wait_for_pages(pages, TAKEN_EVERY);
        }
    }

    fn push(&self, page: Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // If the trigger is slower than the events, it misses pages: memory does not grow.
        if state.fresh.len() < self.limits.bytes {
            state.fresh.extend_from_slice(&page);
        }
        let newest = time_of(&page);
        state.pages.push_back(Arc::new(page));
        let most = (self.limits.bytes / self.limits.page_size.max(1)).max(1);
        let keep = self.limits.keep.map(|keep| keep.as_nanos() as u64);
        while state.pages.len() > 1 {
            // All events of the first page are before the start of the second page.
            let second = state.pages.get(1).map_or(0, |page| time_of(page));
            let is_old = keep.is_some_and(|keep| newest.saturating_sub(second) > keep);
            if !is_old && state.pages.len() <= most {
                break;
            }
            state.pages.pop_front();
        }
    }

    /// Returns the pages that were added since the last call.
    pub(crate) fn take_fresh(&self) -> FreshPages {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        FreshPages {
            cpu: self.cpu,
            pages: Arc::new(std::mem::take(&mut state.fresh)),
        }
    }

    /// Returns all kept pages.
    #[must_use]
    pub(crate) fn pages(&self) -> Vec<Arc<Vec<u8>>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pages.iter().cloned().collect()
    }

    /// Returns the start times of the oldest and the newest page, in the clock's unit.
    #[must_use]
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        Some((time_of(state.pages.front()?), time_of(state.pages.back()?)))
    }
}

/// Returns the duration from the oldest to the newest page of all rings.
#[must_use]
pub(crate) fn held(rings: &[CpuRing]) -> Duration {
    let spans = rings.iter().filter_map(CpuRing::span);
    let whole = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let (oldest, newest) = whole.unwrap_or((0, 0));
    Duration::from_nanos(newest.saturating_sub(oldest))
}

/// Returns the start time of a page.
fn time_of(page: &[u8]) -> u64 {
    page.first_chunk()
        .map_or(0, |time| u64::from_ne_bytes(*time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(time: u64) -> Vec<u8> {
        let mut page = vec![0; 64];
        page[..8].copy_from_slice(&time.to_ne_bytes());
        page
    }

    #[test]
    fn old_pages_are_dropped_by_time_and_by_size() {
        let limits = Limits {
            keep: Some(Duration::from_nanos(100)),
            bytes: 640,
            page_size: 64,
        };
        let ring = CpuRing::new(3, limits);
        for time in [0, 40, 90, 140, 200] {
            ring.push(page(time));
        }
        // The page from 90 to 140 may contain events of the last 100 ns.
        assert_eq!(ring.span(), Some((90, 200)));
        assert_eq!(ring.take_fresh().pages.len(), 5 * 64);
        assert_eq!(ring.take_fresh().pages.len(), 0);
        let ring = CpuRing::new(
            3,
            Limits {
                keep: None,
                ..limits
            },
        );
        for time in 0..50 {
            ring.push(page(time));
        }
        assert_eq!(ring.span(), Some((40, 49)));
        assert_eq!(held(&[ring]), Duration::from_nanos(9));
    }
}
