//! Lines of the log, and the runs of ninja that wrote them.

use rustc_hash::FxHashMap;

use super::MAGIC;
use crate::base::lines::lines;
use crate::base::{Job, Location, Problem, ReadError, Severity};
use crate::event::Fact;
use crate::formats::build_units::{Build, Log, Moment, Unit};
use crate::formats::text_end::note_cut_line;

const NS_PER_MS: i64 = 1_000_000;
/// The first version whose modification times are the starts of commands.
const STARTS_AS_MTIMES: u32 = 6;
/// Smaller modification times, in ns, are not times of day: ninja writes 0 for an unknown time, and old versions wrote
/// seconds. No log at hand contains such a time: the sample (version 5) and those in `tests/golden` (5 and 7) have ns.
const EARLIEST_MTIME: i64 = 100_000_000_000_000_000;
/// Runs of ninja in one folder cannot overlap; they may seem to by this much, because ninja's start is known only to a
/// few ms.
const SLACK_NS: i64 = 1_000_000_000;

/// One line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Start of the command in ms after the start of ninja.
    pub start_ms: i64,
    /// End of the command in ms after the start of ninja.
    pub end_ms: i64,
    /// Modification time, ns since the Unix epoch; 0 if there is none.
    pub mtime: i64,
    /// The output's path.
    pub output: &'a [u8],
    /// Hash of the command, in hexadecimal digits.
    pub hash: &'a [u8],
    /// Number of the line in the file.
    number: u64,
    /// Byte offset of the line in the file.
    place: u64,
}

impl<'a> Line<'a> {
    /// Returns the columns of a line; `None` if it has other columns.
    pub(super) fn parse(line: &'a [u8]) -> Option<Line<'a>> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut columns = line.splitn(4, |byte| *byte == b'\t');
        let start_ms = number(columns.next()?)?;
        let end_ms = number(columns.next()?)?;
        let mtime = number(columns.next()?)?;
        // A path may contain tabs; a hash cannot.
        let rest = columns.next()?;
        let tab = memchr::memrchr(b'\t', rest)?;
        let (output, hash) = rest.split_at_checked(tab)?;
        let hash = hash.strip_prefix(b"\t")?;
        let is_hash = !hash.is_empty() && hash.iter().all(u8::is_ascii_hexdigit);
        let is_whole = is_hash && !output.is_empty() && end_ms >= start_ms;
        is_whole.then_some(Line {
            start_ms,
            end_ms,
            mtime,
            output,
            hash,
            ..Line::default()
        })
    }

    /// Returns whether two lines are outputs of one command.
    pub(super) fn is_of_command(&self, other: &Line<'_>) -> bool {
        let key = |line: &Line<'_>| (line.start_ms, line.end_ms);
        key(self) == key(other) && self.hash == other.hash
    }

    /// Returns whether the times are possible for a build: less than a century.
    fn fits(&self) -> bool {
        const MOST_MS: i64 = 100 * 366 * 86_400_000;
        self.start_ms > -MOST_MS && self.end_ms < MOST_MS
    }

    /// Returns when ninja started, in ns since the Unix epoch, as estimated from this line.
    fn ninja_start(&self, version: u32) -> Option<i64> {
        if self.mtime < EARLIEST_MTIME {
            return None;
        }
        let since = match version >= STARTS_AS_MTIMES {
            true => self.start_ms,
            false => self.end_ms,
        };
        self.mtime.checked_sub(since.checked_mul(NS_PER_MS)?)
    }
}

fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns the version in the first line.
///
/// # Errors
/// Errors if this version has other columns.
pub(super) fn version(text: &[u8]) -> Result<u32, ReadError> {
    let rest = text.strip_prefix(MAGIC).unwrap_or_default();
    let digits = rest.split(|byte| !byte.is_ascii_digit()).next();
    let digits = std::str::from_utf8(digits.unwrap_or_default()).unwrap_or_default();
    match digits.parse() {
        Ok(version @ 5..=7) => Ok(version),
        _ => Err(ReadError::at_line(
            1,
            "ninja log",
            Problem::Unsupported {
                what: "version of the log",
                version: digits.to_owned(),
            },
        )),
    }
}

/// Reads the log.
///
/// # Errors
/// Errors if the version is unknown, or the job was cancelled.
pub(super) fn read(text: &[u8], job: &Job) -> Result<Log, ReadError> {
    let version = version(text)?;
    let mut log = Log::default();
    note_cut_line(text, &mut log.diagnostics);
    let mut all: Vec<Line<'_>> = Vec::new();
    for found in lines(text, 1, 0).skip(1) {
        if found.number.is_multiple_of(1 << 12) {
            job.check()?;
        }
        if found.bytes.is_empty() || found.bytes.starts_with(b"#") {
            continue;
        }
        match Line::parse(found.bytes).filter(Line::fits) {
            Some(line) => all.push(Line {
                number: found.number,
                place: found.offset,
                ..line
            }),
            None => {
                let place = Location::Byte(found.offset);
                log.diagnostics
                    .note("bad_line", Severity::DataLoss, place, || {
                        "lines that are not start, end, time, output and hash of a command"
                            .to_owned()
                    });
            }
        }
    }
    let runs = runs(&all, version);
    if let [run] = runs.as_slice() {
        log.wall_clock_zero_ns = ninja_start(run, version);
    }
    log.facts = facts(runs.len(), log.wall_clock_zero_ns);
    let mut start_ns = 0;
    for run in &runs {
        job.check()?;
        let build = build(run, start_ns);
        start_ns = build.span.1;
        log.builds.push(build);
    }
    Ok(log)
}

/// Returns the lines of each run of ninja, in time order.
fn runs<'a>(all: &[Line<'a>], version: u32) -> Vec<Vec<Line<'a>>> {
    let runs: Vec<&[Line<'a>]> = all
        .chunk_by(|above, below| below.end_ms >= above.end_ms)
        .collect();
    let starts: Vec<Option<i64>> = runs.iter().map(|run| ninja_start(run, version)).collect();
    let is_after = |(above, below): (&Option<i64>, &Option<i64>), run: &[Line<'a>]| {
        let (Some(above), Some(below), Some(last)) = (above, below, run.last()) else {
            return true;
        };
        let end = above.saturating_add(last.end_ms.saturating_mul(NS_PER_MS));
        below.saturating_add(SLACK_NS) >= end
    };
    let pairs = starts.iter().zip(starts.iter().skip(1));
    match pairs.zip(&runs).all(|(pair, run)| is_after(pair, run)) {
        true => runs.into_iter().map(<[Line<'a>]>::to_vec).collect(),
        // If a run starts before the end of the previous one, the lines are out of order.
        false => by_start(all, version),
    }
}

/// Groups lines that are out of order by the time at which their run of ninja started.
fn by_start<'a>(lines: &[Line<'a>], version: u32) -> Vec<Vec<Line<'a>>> {
    let mut timed: Vec<(Option<i64>, Line<'a>)> = lines
        .iter()
        .map(|line| (line.ninja_start(version), *line))
        .collect();
    timed.sort_by_key(|(start, _)| *start);
    let groups = timed.chunk_by(|a, b| match (a.0, b.0) {
        (Some(a), Some(b)) => b.saturating_sub(a) < SLACK_NS,
        (a, b) => a == b,
    });
    let lines = groups.map(|group| group.iter().map(|(_, line)| *line).collect());
    lines.map(in_order_of_ends).collect()
}

fn in_order_of_ends(mut lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    lines.sort_by_key(|line| (line.end_ms, line.start_ms, line.number));
    lines
}

/// Returns when ninja started, in ns since the Unix epoch. From modification times of outputs, the latest estimate is
/// used, because an output is not written after the end of its command; from starts of commands the median, because
/// both clocks advance in steps of a few ms.
fn ninja_start(run: &[Line<'_>], version: u32) -> Option<i64> {
    let mut starts: Vec<i64> = run
        .iter()
        .filter_map(|line| line.ninja_start(version))
        .collect();
    if version >= STARTS_AS_MTIMES {
        let middle = starts.len() / 2;
        (middle < starts.len()).then(|| *starts.select_nth_unstable(middle).1)
    } else {
        starts.into_iter().max()
    }
}

fn facts(runs: usize, wall_clock: Option<i64>) -> Vec<Fact> {
    let mut facts = Vec::new();
    if runs > 1 {
        let words = format!("{runs}, shown one after the other");
        facts.push(Fact::new("runs of ninja", words));
    }
    if wall_clock.is_some() {
        let words = "from modification times of outputs, to some ms";
        facts.push(Fact::new("wall clock", words));
    }
    facts
}

/// Returns the build of a run that starts at `start_ns` on the time axis.
fn build(run: &[Line<'_>], start_ns: i64) -> Build {
    let time = |ms: i64| start_ns.saturating_add(ms.saturating_mul(NS_PER_MS));
    // Outputs of one command: its first line, and their number.
    let mut commands: Vec<(&Line<'_>, u32)> = Vec::new();
    let mut known: FxHashMap<(i64, i64, &[u8]), usize> = FxHashMap::default();
    for line in run {
        let at = *known
            .entry((line.start_ms, line.end_ms, line.hash))
            .or_insert(commands.len());
        match commands.get_mut(at) {
            Some((_, outputs)) => *outputs = outputs.saturating_add(1),
            None => commands.push((line, 1)),
        }
    }
    let unit = |(line, outputs): (&Line<'_>, u32)| {
        let moment = |ms| Moment {
            time: time(ms),
            place: line.place,
        };
        let mut name = line.output.to_vec();
        if let more @ 1.. = outputs.saturating_sub(1) {
            name.extend(format!(" + {more} more").bytes());
        }
        Unit {
            name,
            category: category(line.output).to_vec(),
            number: line.number,
            begin: moment(line.start_ms),
            end: Some(moment(line.end_ms)),
            sections: Vec::new(),
        }
    };
    let last_ms = run.iter().map(|line| line.end_ms).max().unwrap_or(0);
    let first_ms = run.iter().map(|line| line.start_ms).min().unwrap_or(0);
    Build {
        tool: "ninja",
        span: (time(first_ms.min(0)), time(last_ms.max(0))),
        units: commands.into_iter().map(unit).collect(),
        ..Build::default()
    }
}

/// Returns the kind of an output: the extension of its name, or `target`.
fn category(output: &[u8]) -> &[u8] {
    let name = output.rsplit(|byte| *byte == b'/').next().unwrap_or(output);
    let dot = memchr::memrchr(b'.', name).filter(|&at| at > 0);
    let ending = dot.and_then(|dot| name.get(dot.checked_add(1)?..));
    match ending {
        Some(ending) if !ending.is_empty() => ending,
        _ => b"target",
    }
}
