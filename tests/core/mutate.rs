//! Every golden and broken file, cut, flipped and repeated from a fixed seed, through every row of FORMATS:
//! no panic, no endless loop, and no more memory than the file's size can explain.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::everything::{loaded, some_events, write_all};
use threadline::base::Severity;
use threadline::event::EventDetail;
use threadline::formats::{FORMATS, Format, Sniff};
use threadline::load::LoadedTrace;

/// How many mutations a test run makes of all files together, each read as every format. Whole traces are written
/// for the small ones only.
const MUTATIONS: u64 = 300;

/// Traces of files up to this size are also written in every form.
const WRITTEN_BYTES: usize = 16 << 10;

/// Longer than this for one small file is a find.
const HANG: Duration = Duration::from_secs(20);

fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut files = Vec::new();
    for format in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(format.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = file.path();
            // What is expected of files of other formats is JSON, too.
            let is_trace = match path.extension().and_then(|ending| ending.to_str()) {
                Some("txt") => false,
                Some("json") => format.path().ends_with("chrome_json"),
                _ => true,
            };
            if is_trace {
                files.push(file.path());
            }
        }
    }
    files.sort();
    files
}

/// What became of a file.
#[derive(Default)]
struct Outcome {
    /// Whether it was refused, or something was said about it.
    is_complained_about: bool,
    events: usize,
    described: Vec<EventDetail>,
}

/// Opens `bytes` as `format` and does with it all that the program does.
fn exercise(format: &Format, bytes: &[u8], name: &str) -> Outcome {
    let (outcome, loaded) = opened(format, bytes, name);
    let is_small = bytes.len() <= WRITTEN_BYTES;
    loaded.filter(|_| is_small).iter().for_each(write_all);
    outcome
}

/// Opens `bytes` as `format` and decodes some events.
fn opened(format: &Format, bytes: &[u8], name: &str) -> (Outcome, Option<LoadedTrace>) {
    let mut outcome = Outcome::default();
    let Some(loaded) = loaded(format, bytes, name) else {
        outcome.is_complained_about = true;
        return (outcome, None);
    };
    let trace = &loaded.trace;
    assert!(trace.span.start <= trace.span.end, "{name}");
    let mut rows = trace.diagnostics.rows().iter();
    outcome.is_complained_about = rows.any(|row| row.severity != Severity::Info);
    outcome.events = trace.events.len();
    for event in some_events(&loaded) {
        assert!(event.kind.index() < trace.kinds.len(), "{name}");
        outcome.described.push(loaded.reader.describe(event));
    }
    (outcome, Some(loaded))
}

fn format_of(bytes: &[u8]) -> Option<&'static Format> {
    let head = bytes.get(..1 << 16).unwrap_or(bytes);
    FORMATS
        .iter()
        .max_by_key(|format| (format.sniff)(head))
        .filter(|format| (format.sniff)(head) != Sniff::No)
}

struct Random(u64);

impl Random {
    /// What the mutation of this number draws from.
    fn of(number: u64) -> Random {
        let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Random(mixed ^ (mixed >> 29) ^ 0x5eed_0001_2357_1113)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit.max(1)
    }

    /// The bytes with a few of them flipped, cut out, repeated or overwritten by an odd number.
    fn mutate(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            if bytes.len() < 16 {
                break;
            }
            // Heads are where sizes and counts are: half of the damage goes there.
            let reach = if self.below(2) == 0 {
                4096
            } else {
                bytes.len()
            };
            let at = self.below(reach.min(bytes.len() - 8));
            match self.below(6) {
                0 | 1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes[at] = [0, 0x7f, 0x80, 0xff][self.below(4)],
                3 => {
                    let odd = [u64::MAX, 1 << 63, 1 << 31, 0][self.below(4)];
                    bytes[at..at + 8].copy_from_slice(&odd.to_le_bytes());
                }
                4 => bytes.truncate(at + 1),
                _ => {
                    let length = self.below(64).min(bytes.len() - at);
                    let piece = bytes[at..at + length].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        bytes
    }
}

#[test]
fn golden_files_have_events_that_can_be_described() {
    for path in files("golden") {
        let bytes = std::fs::read(&path).unwrap();
        let format = format_of(&bytes).unwrap_or_else(|| panic!("{}: no format", path.display()));
        let outcome = exercise(format, &bytes, &path.display().to_string());
        assert!(outcome.events > 0, "{}", path.display());
        let named = |detail: &EventDetail| !detail.name.is_empty();
        assert!(outcome.described.iter().all(named), "{}", path.display());
    }
}

#[test]
fn broken_files_end_in_an_error_or_a_diagnostic() {
    for path in files("broken") {
        let bytes = std::fs::read(&path).unwrap();
        let Some(format) = format_of(&bytes) else {
            continue;
        };
        let outcome = exercise(format, &bytes, &path.display().to_string());
        // Other formats' broken files have tests of their own that say what is expected.
        if path
            .parent()
            .and_then(|folder| folder.file_name()?.to_str())
            .is_some_and(|folder| ["tracedat", "etrace", "chrome_json"].contains(&folder))
        {
            assert!(outcome.is_complained_about, "{}", path.display());
        }
    }
}

/// The files that are mutated, small ones first.
fn originals() -> Vec<(PathBuf, Vec<u8>)> {
    let folders = ["golden", "broken", "cases"];
    let paths = folders.iter().flat_map(|folder| files(folder));
    let paths = paths.filter(|path| path.extension().is_none_or(|ending| ending != "zst"));
    let mut all: Vec<(PathBuf, Vec<u8>)> = paths
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    all.sort_by_key(|(_, bytes)| bytes.len());
    all
}

#[test]
fn mutated_files_do_no_harm() {
    let all = originals();
    for number in 0..MUTATIONS {
        let (path, bytes) = &all[number as usize % all.len()];
        let mutated = Random::of(number).mutate(bytes);
        let name = format!("{} mutation {number}", path.display());
        for format in FORMATS {
            exercise(format, &mutated, &name);
        }
    }
}

/// Up to which size files are taken in this round: the large ones in few of them.
fn reach_of(round: u64) -> usize {
    match round {
        round if round % 1024 == 1023 => usize::MAX,
        round if round % 64 == 63 => 64 << 10,
        round if round % 8 == 7 => 16 << 10,
        _ => 4 << 10,
    }
}

/// `THREADLINE_MUTATIONS=1000000`: so many; `5000+100`: 100 from number 5000 on. See `fuzz/README.md`.
#[test]
#[ignore = "takes as long as one likes: THREADLINE_MUTATIONS says how many"]
fn as_many_mutated_files_as_are_asked_for_do_no_harm() {
    let asked = std::env::var("THREADLINE_MUTATIONS").unwrap();
    let (first, count) = asked.split_once('+').unwrap_or(("0", &asked));
    let (first, count): (u64, u64) = (first.parse().unwrap(), count.parse().unwrap());
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutated");
    // Waking another thread takes longer than reading a short file.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread();
    let _pool = pool.build().unwrap();
    let (start, all) = (Instant::now(), originals());
    let (mut number, mut found, mut slowest) = (0, 0, Duration::ZERO);
    for round in 0.. {
        for (path, bytes) in all.iter().filter(|it| it.1.len() <= reach_of(round)) {
            if number >= first + count {
                let seconds = start.elapsed().as_secs();
                eprintln!("{count} mutations, {seconds} s, slowest {slowest:?}, found {found}");
                assert_eq!(found, 0, "see {}", kept.display());
                return;
            }
            number += 1;
            if number <= first {
                continue;
            }
            let mutated = Random::of(number).mutate(bytes);
            let name = format!("{} mutation {number}", path.display());
            let begin = Instant::now();
            let ended = std::panic::catch_unwind(|| {
                for format in FORMATS {
                    // Writing takes longer than opening: every eighth.
                    match number % 8 {
                        0 => drop(exercise(format, &mutated, &name)),
                        _ => drop(opened(format, &mutated, &name)),
                    }
                }
            });
            slowest = slowest.max(begin.elapsed());
            if ended.is_err() || begin.elapsed() > HANG {
                found += 1;
                eprintln!("FOUND {name}: {:?}", begin.elapsed());
                std::fs::create_dir_all(&kept).unwrap();
                std::fs::write(kept.join(number.to_string()), &mutated).unwrap();
            }
            if number % 10_000 == 0 {
                let seconds = start.elapsed().as_secs();
                eprintln!("{number} done, {seconds} s, slowest {slowest:?}, found {found}");
            }
        }
    }
}

#[test]
fn trace_dat_cut_anywhere_does_no_harm() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tracedat/generated-v7-none.dat");
    let bytes = std::fs::read(path).unwrap();
    let format = format_of(&bytes).unwrap();
    let whole = exercise(format, &bytes, "whole").events;
    for length in (0..bytes.len()).step_by(331) {
        let outcome = exercise(format, &bytes[..length], "cut");
        assert!(outcome.events <= whole);
        // Only the section of names for people stands behind the last options.
        assert!(
            outcome.is_complained_about || outcome.events == whole,
            "{length}"
        );
    }
}
