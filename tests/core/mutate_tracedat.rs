//! trace.dat files cut and flipped, through everything that reads them: opening, the bulk pass and the report
//! in its three styles. No panic, no case of more than seconds, and no more memory than the size explains.
//!
//! `MUTATE_ROUNDS` (default 40), `MUTATE_FOLDER` (default: the golden files) and `MUTATE_SEED` set up a long run;
//! use a release build with `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true` for it.

use crate::alone::is_alone;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use threadline::base::Job;
use threadline::formats::tracedat::TraceFile;
use threadline::formats::tracedat::report::source::{TraceReport, decoder_of};
use threadline::formats::{FORMATS, Input, RecordOptions, Report, ReportOptions};

/// Number of rounds, each of one damaged copy of every file: 240 copies of the 6 golden files take a test build
/// 8 seconds on a busy machine.
const ROUNDS: u64 = 40;

/// The longest that one damaged file may take.
const LONGEST: Duration = Duration::from_secs(60);

/// What a file may cost beside a multiple of its size: tables, batches, threads.
const BASE_MEMORY: u64 = 192 << 20;

/// How many times its size a file may cost. Metadata and pages that are packed 30 to 1 are common.
const MEMORY_RATIO: u64 = 64;

/// Counts what the report writes; a damaged file must not make it endless.
struct Sink {
    left: u64,
}

impl std::io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| std::io::Error::other("the report is too long"))?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn exercise(bytes: &[u8]) {
    let job = Job::default();
    for format in FORMATS
        .iter()
        .filter(|format| format.name.contains("trace.dat"))
    {
        let input = Input::from_vec(bytes.to_vec(), "trace.dat");
        let Ok(recording) = format.open(input, &job) else {
            continue;
        };
        let _ = recording.read_whole(&job);
    }
    let Ok(file) = TraceFile::open(Input::from_vec(bytes.to_vec(), "trace.dat")) else {
        return;
    };
    let file = Arc::new(file);
    let decoder = Arc::new(decoder_of(&file));
    let report = TraceReport::new(file, decoder);
    for (is_plain, is_raw) in [(false, false), (true, false), (false, true)] {
        let options = ReportOptions {
            is_raw,
            records: RecordOptions {
                is_plain,
                ..RecordOptions::default()
            },
            ..ReportOptions::default()
        };
        let mut sink = Sink { left: 4 << 30 };
        report.write(&options, &mut sink, &job).unwrap();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit.max(1)
    }

    /// Cuts (one case of ten), or flips some bits and words.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        if self.below(10) == 0 {
            bytes.truncate(self.below(bytes.len()));
            return bytes;
        }
        for _ in 0..=self.below(8) {
            let reach = match self.below(3) {
                0 => 4096.min(bytes.len()),
                1 => (64 << 10).min(bytes.len()),
                _ => bytes.len(),
            };
            let at = self.below(reach.saturating_sub(8));
            let Some(place) = bytes.get_mut(at..at + 8) else {
                break;
            };
            match self.below(4) {
                0 => place[0] ^= 1 << self.below(8),
                1 => place[0] = [0, 1, 0x7f, 0x80, 0xff][self.below(5)],
                2 => {
                    let odd = [0, 1, 4, 0x7fff_ffff, 0x8000_0000, u32::MAX][self.below(6)];
                    place[..4].copy_from_slice(&odd.to_le_bytes());
                }
                _ => {
                    let odd = [u64::MAX, 1 << 63, 1 << 32, 0, 1 << 20][self.below(5)];
                    place.copy_from_slice(&odd.to_le_bytes());
                }
            }
        }
        bytes
    }
}

/// The most memory that this process ever held, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

fn held_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_trace_dat_files_do_no_harm() {
    if !is_alone(concat!(
        module_path!(),
        "::damaged_trace_dat_files_do_no_harm"
    )) {
        return;
    }
    let folder = std::env::var_os("MUTATE_FOLDER").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tracedat"),
        PathBuf::from,
    );
    let rounds = number("MUTATE_ROUNDS", ROUNDS);
    let mut random = Random(number("MUTATE_SEED", 0x5eed_2357) | 1);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "dat"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no file in {}", folder.display());
    let files: Vec<(PathBuf, Vec<u8>)> = files
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    let (mut cases, mut slowest, mut largest) = (0, Duration::ZERO, 0);
    for _ in 0..rounds {
        for (path, bytes) in &files {
            let seed = random.0;
            let damaged = random.damage(bytes);
            // Starts the peak anew; without the right to, the peak of all cases must do.
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            let before = held_memory();
            let begin = Instant::now();
            let name = format!("{} seed {seed:#x}", path.display());
            if let Err(panic) = std::panic::catch_unwind(|| exercise(&damaged)) {
                println!("{name}");
                std::panic::resume_unwind(panic);
            }
            let taken = begin.elapsed();
            assert!(taken < LONGEST, "{name} took {taken:?}");
            slowest = slowest.max(taken);
            if let (Some(before), Some(peak)) = (before, peak_memory()) {
                let cost = peak.saturating_sub(before);
                largest = largest.max(cost);
                let allowed = BASE_MEMORY + MEMORY_RATIO * bytes.len() as u64;
                assert!(cost < allowed, "{name} took {} MB", cost >> 20);
            }
            cases += 1;
        }
    }
    println!(
        "{cases} damaged files; slowest {slowest:?}, largest {} MB",
        largest >> 20
    );
}
