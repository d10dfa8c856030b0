//! Reads a recording while it is made: the folder of `live` comes in, traces of its last part go out.
//!
//! ```text
//! cpuN --(only what was appended)--> pages kept in memory --> a trace.dat in memory --> a loaded trace
//! ```
//!
//! Only new pages are read from the folder. As many of the last pages are kept as can be loaded in the time that the
//! reader's owner allows, however long the recording is; the file of the recording contains everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::desk::page_size;
use super::live::{HEAD, NAMES, pages_name};
use super::memory_file::{MemoryFile, PagesByCpu, Stage};
use crate::base::Job;
use crate::load::{LoadError, LoadedTrace, Reading, open_bytes};
use crate::tracedat::layout::id;
use crate::tracefs::head::{SectionText, unpack};

/// Bytes of pages that are kept at first, of all CPUs.
const FIRST_BYTES: usize = 16 << 20;
/// The fewest and the most bytes that are kept.
const KEPT_BYTES: std::ops::RangeInclusive<usize> = 4 << 20..=64 << 20;

/// Reads the folder of a running recording.
pub struct LiveReader {
    folder: PathBuf,
    page_size: usize,
    maker: MemoryFile,
    cpus: BTreeMap<u32, CpuTail>,
    /// The ids of all events that occurred.
    ids: BTreeSet<u16>,
    names: Vec<SectionText>,
    names_of: Option<SystemTime>,
    most_bytes: usize,
    /// Whether pages were dropped.
    is_cut: bool,
}

/// The pages of a CPU.
struct CpuTail {
    file: File,
    /// Number of bytes that were read from the file.
    read: u64,
    /// The kept pages, oldest first.
    kept: Vec<u8>,
}

impl std::fmt::Debug for LiveReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LiveReader({})", self.folder.display())
    }
}

impl LiveReader {
    /// Opens a folder; `None` if it cannot be read yet, because the recording has not started.
    #[must_use]
    pub fn open(folder: &Path) -> Option<LiveReader> {
        LiveReader::keeping(folder, FIRST_BYTES)
    }

    fn keeping(folder: &Path, most_bytes: usize) -> Option<LiveReader> {
        let sections = unpack(&std::fs::read(folder.join(HEAD)).ok()?);
        let clocks = sections.iter().find(|it| it.id == id::TRACECLOCK)?;
        let clocks = String::from_utf8_lossy(&clocks.body).into_owned();
        let page_size = page_size(&sections);
        let maker = MemoryFile::new(&Stage {
            sections: &sections,
            clocks: &clocks,
            page_size,
        });
        let mut cpus = BTreeMap::new();
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let name = entry.file_name();
            let number = name.to_str().and_then(|it| it.strip_prefix("cpu"));
            let Some(cpu) = number.and_then(|it| it.parse().ok()) else {
                continue;
            };
            let file = File::open(folder.join(pages_name(cpu))).ok()?;
            let (read, kept) = (0, Vec::new());
            cpus.insert(cpu, CpuTail { file, read, kept });
        }
        Some(LiveReader {
            folder: folder.to_path_buf(),
            page_size: page_size as usize,
            maker,
            cpus,
            ids: BTreeSet::new(),
            names: Vec::new(),
            names_of: None,
            most_bytes,
            is_cut: false,
        })
    }

    /// Returns whether the oldest pages were dropped: then a trace shows only the last part of the recording.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Keeps as many pages from now on as can be loaded within `limit`; the last load took `took`.
    pub(crate) fn keep_what_loads_within(&mut self, limit: Duration, took: Duration) {
        let bytes = if took > limit {
            self.most_bytes / 4 * 3
        } else if self.is_cut && took < limit / 2 {
            self.most_bytes / 2 * 3
        } else {
            self.most_bytes
        };
        self.most_bytes = bytes.clamp(*KEPT_BYTES.start(), *KEPT_BYTES.end());
    }

    /// Reads the pages that were appended since the last call. Returns whether there were any.
    ///
    /// # Errors
    /// Those of read(2).
    pub fn read_new(&mut self) -> std::io::Result<bool> {
        let mut fresh = PagesByCpu::new();
        for (cpu, tail) in &mut self.cpus {
            let size = tail.file.metadata()?.len();
            let whole = size - size % self.page_size as u64;
            // What would be dropped at once is not read.
            let most = self.most_bytes - self.most_bytes % self.page_size;
            let from = tail.read.max(whole.saturating_sub(most as u64));
            self.is_cut |= from > tail.read;
            let mut pages = vec![0; whole.saturating_sub(from) as usize];
            tail.file.read_exact_at(&mut pages, from)?;
            tail.read = tail.read.max(whole);
            if !pages.is_empty() {
                tail.kept.extend_from_slice(&pages);
                fresh.insert(*cpu, pages);
            }
        }
        self.ids.extend(self.maker.ids_in(&fresh));
        self.drop_oldest();
        Ok(!fresh.is_empty())
    }

    /// Drops the oldest pages of all CPUs until at most seven eighths of the limit are kept, so that the next calls
    /// need not drop any.
    fn drop_oldest(&mut self) {
        let kept = |cpus: &BTreeMap<u32, CpuTail>| -> usize {
            cpus.values().map(|tail| tail.kept.len()).sum()
        };
        let count = kept(&self.cpus);
        if count <= self.most_bytes {
            return;
        }
        self.is_cut = true;
        let page_size = self.page_size;
        let excess = (count - self.most_bytes / 8 * 7).div_ceil(page_size);
        let mut times: Vec<u64> = (self.cpus.values())
            .flat_map(|tail| tail.kept.chunks(page_size).map(time_of))
            .collect();
        times.sort_unstable();
        let border = times.get(excess).copied().unwrap_or(u64::MAX);
        for tail in self.cpus.values_mut() {
            let old = tail.kept.chunks(page_size);
            let old = old.take_while(|page| time_of(page) < border).count();
            tail.kept.drain(..old * page_size);
        }
    }

    /// Loads the kept pages as a file with this path.
    ///
    /// # Errors
    /// If they cannot be shown, or the job is cancelled.
    pub fn load(&mut self, path: &Path, job: &Job) -> Result<LoadedTrace, LoadError> {
        self.read_names();
        let pages: PagesByCpu = (self.cpus.iter())
            .map(|(cpu, tail)| (*cpu, tail.kept.clone()))
            .collect();
        let ids: Vec<u16> = self.ids.iter().copied().collect();
        let bytes = self.maker.file(&pages, &ids, &self.names);
        drop(pages);
        open_bytes(&path.to_string_lossy(), bytes, Reading::default(), job)
    }

    /// Reads the names again if they were replaced.
    fn read_names(&mut self) {
        let path = self.folder.join(NAMES);
        let changed = std::fs::metadata(&path).and_then(|found| found.modified());
        let changed = changed.ok();
        if changed.is_some()
            && changed != self.names_of
            && let Ok(bytes) = std::fs::read(path)
        {
            self.names = unpack(&bytes);
            self.names_of = changed;
        }
    }
}

/// Returns the start time of a page.
fn time_of(page: &[u8]) -> u64 {
    page.first_chunk()
        .map_or(0, |time| u64::from_ne_bytes(*time))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::tracefs::head::pack;

    const PAGE: usize = 4096;

    fn page(time: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE];
        page[..8].copy_from_slice(&time.to_ne_bytes());
        page
    }

    #[test]
    fn as_much_is_kept_as_loads_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let clocks = SectionText {
            id: id::TRACECLOCK,
            body: Vec::new(),
        };
        std::fs::write(folder.path().join(HEAD), pack(&[clocks])).unwrap();
        let mut reader = LiveReader::open(folder.path()).unwrap();
        let limit = Duration::from_millis(100);
        for _ in 0..30 {
            reader.keep_what_loads_within(limit, limit * 2);
        }
        assert_eq!(reader.most_bytes, *KEPT_BYTES.start());
        // Nothing was dropped yet: more room would change nothing.
        reader.keep_what_loads_within(limit, limit / 4);
        assert_eq!(reader.most_bytes, *KEPT_BYTES.start());
        reader.is_cut = true;
        for _ in 0..30 {
            reader.keep_what_loads_within(limit, limit / 4);
        }
        assert_eq!(reader.most_bytes, *KEPT_BYTES.end());
    }

    #[test]
    fn only_new_whole_pages_are_read_and_the_oldest_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert!(LiveReader::open(folder.path()).is_none());
        let clocks = SectionText {
            id: id::TRACECLOCK,
            body: b"[local]".to_vec(),
        };
        let mut files: Vec<File> = (0..2)
            .map(|cpu| File::create(folder.path().join(pages_name(cpu))).unwrap())
            .collect();
        std::fs::write(folder.path().join(HEAD), pack(&[clocks])).unwrap();
        let mut reader = LiveReader::keeping(folder.path(), 8 * PAGE).unwrap();
        assert!(!reader.read_new().unwrap());
        files[0].write_all(&page(10)).unwrap();
        // Half a page waits for its other half.
        let (half, rest) = (&page(11)[..2000], &page(11)[2000..]);
        files[1].write_all(half).unwrap();
        assert!(reader.read_new().unwrap());
        assert_eq!(reader.cpus[&1].kept.len(), 0);
        files[1].write_all(rest).unwrap();
        assert!(reader.read_new().unwrap() && !reader.read_new().unwrap());
        assert_eq!(reader.cpus[&1].kept.len(), PAGE);
        assert!(!reader.is_cut());
        for time in 20..28 {
            files[0].write_all(&page(time)).unwrap();
        }
        reader.read_new().unwrap();
        assert!(reader.is_cut());
        let times = |cpu: u32| -> Vec<u64> {
            let pages = reader.cpus[&cpu].kept.chunks(PAGE);
            pages.map(time_of).collect()
        };
        assert_eq!(times(0), (21..28).collect::<Vec<_>>());
        assert!(times(1).is_empty());
        // A reader that comes late does not read what it would drop.
        for time in 30..80 {
            files[1].write_all(&page(time)).unwrap();
        }
        reader.read_new().unwrap();
        let times: Vec<u64> = reader.cpus[&1].kept.chunks(PAGE).map(time_of).collect();
        assert_eq!(times, (73..80).collect::<Vec<_>>());
        assert_eq!(reader.cpus[&1].read, 51 * PAGE as u64);
    }
}
