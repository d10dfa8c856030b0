//! Facts from the head and the end of a text, before the rest is read: its clock, its first time, and the start of the
//! table of `strace -C`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::clock::{Clock, TimeState};
use super::dialect::Dialect;
use super::forks::fork_result;
use super::line::{Body, classify};
use super::prefix::{RawTime, split_prefix};
use crate::base::Timestamp;
use crate::base::lines::lines;
use crate::event::{Coarse, DensitySample, ThreadKey};

/// Key of the thread of lines without a pid, if the text contains no pid.
const LONE: ThreadKey = ThreadKey(u32::MAX - 1);

/// The process or thread of a call, as far as the lines up to the call name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Caller {
    /// The one with this pid.
    Pid(u32),
    /// The one whose lines have no pid, because no other was traced yet.
    Lone,
}

impl Caller {
    /// Returns the caller of a line with this pid, if it has one.
    #[must_use]
    pub(crate) fn of(pid: Option<u32>) -> Caller {
        pid.map_or(Caller::Lone, Caller::Pid)
    }

    /// Returns the pid, if it is named.
    #[must_use]
    pub(crate) fn pid(self) -> Option<u32> {
        match self {
            Caller::Pid(pid) => Some(pid),
            Caller::Lone => None,
        }
    }

    /// Returns the key of its thread.
    #[must_use]
    pub(crate) fn key(self) -> ThreadKey {
        self.pid().map_or(LONE, ThreadKey)
    }

    /// Returns the caller with this key.
    #[must_use]
    pub(crate) fn of_key(key: ThreadKey) -> Caller {
        match key {
            LONE => Caller::Lone,
            ThreadKey(pid) => Caller::Pid(pid),
        }
    }
}

/// Number of bytes at the start of a text, and of each part, that are read in advance.
const HEAD_BYTES: usize = 1 << 16;
/// Maximum length of a table of `strace -C`, in bytes.
const MOST_SUMMARY: usize = 1 << 17;

/// The facts; see the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The program that wrote the text.
    pub dialect: Dialect,
    /// Kind of times.
    pub clock: Clock,
    /// First time in the text.
    first_time: Option<RawTime>,
    /// Number of days between the recording's first day and the start of this text.
    pub days: i64,
    /// Offset of the table of `strace -C` after the calls.
    pub table_at: Option<u64>,
    /// The process that the first calls belong to, if they have no pid and strace says that it attached to it.
    pub attached: Option<u32>,
    /// The process to which strace attached with all its threads, if it is the only one (`strace -f -p`).
    pub group: Option<u32>,
}

impl Head {
    /// Reads the head of `text`.
    #[must_use]
    pub(super) fn of(text: &[u8], dialect: Dialect) -> Head {
        let table_at = match dialect {
            Dialect::Strace => summary_at(text),
            Dialect::Minix => None,
        };
        let calls = calls_of(text, table_at);
        let head = calls.get(..HEAD_BYTES).unwrap_or(calls);
        let first_time = first_time(head, dialect);
        let Attached { alone, group } = Attached::of(head, dialect);
        Head {
            dialect,
            clock: first_time.map_or(Clock::Lines, Clock::of),
            first_time,
            days: 0,
            table_at: table_at.map(|at| at as u64),
            attached: alone,
            group,
        }
    }

    /// Returns the state of the clock before the first line.
    #[must_use]
    pub(crate) fn start(&self) -> TimeState {
        TimeState::at_start(self.clock, self.first_time).later(self.days)
    }

    /// Returns the first time in ns since midnight, if times are times of day.
    #[must_use]
    pub(crate) fn first_of_day(&self) -> Option<i64> {
        match self.first_time? {
            RawTime::Day(ns, _) => Some(ns),
            _ => None,
        }
    }

    /// Returns the pid that a lone process prints near the start: `set_tid_address(0x..) = 15691`.
    #[must_use]
    pub(crate) fn own_pid(&self, text: &[u8]) -> Option<u32> {
        let calls = calls_of(text, self.table_at.map(|at| at as usize));
        let head = calls.get(..HEAD_BYTES).unwrap_or(calls);
        lines(head, 1, 0).find_map(|line| {
            let line = split_prefix(&line, self.dialect);
            match classify(&line, self.dialect) {
                Body::Call {
                    name: b"set_tid_address" | b"getpid" | b"gettid",
                    text,
                    is_open: false,
                } if line.pid.is_none() => fork_result(text, self.dialect),
                _ => None,
            }
        })
    }

    /// Returns times of the parts in `ranges`, from the first time in each. Empty if the time of a line depends on all
    /// lines before it.
    #[must_use]
    pub(super) fn coarse(&self, text: &[u8], ranges: &[Range<usize>]) -> Coarse {
        if matches!(self.clock, Clock::Lines | Clock::Relative) {
            return Coarse::default();
        }
        let mut time = self.start();
        let sample = |range: &Range<usize>| {
            let part = text.get(range.clone()).unwrap_or(&[]);
            let head = part.get(..HEAD_BYTES).unwrap_or(part);
            if let Some(first) = first_time(head, self.dialect) {
                let _ = time.advance(self.clock, Some(first), 0);
            }
            DensitySample::new(0, Timestamp(time.last()), range.len() as u64)
        };
        Coarse::of_one_lane(ranges.iter().map(sample).collect())
    }
}

/// Returns the text before the table.
fn calls_of(text: &[u8], table_at: Option<usize>) -> &[u8] {
    table_at.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// The processes to which strace attached before the first call.
#[derive(Default)]
struct Attached {
    /// The first one, if the calls have no pids.
    alone: Option<u32>,
    /// The only one, if strace says that it attached to its threads too (`strace: Process 7 attached with 4 threads`).
    group: Option<u32>,
}

impl Attached {
    /// Reads the lines `strace: Process 7 attached` before the first call.
    fn of(head: &[u8], dialect: Dialect) -> Attached {
        let (mut first, mut group, mut count) = (None, None, 0);
        if dialect != Dialect::Strace {
            return Attached::default();
        }
        for line in lines(head, 1, 0) {
            let line = split_prefix(&line, dialect);
            match classify(&line, dialect) {
                Body::Attached(pid) => {
                    count += 1;
                    let has_threads = memchr::memmem::find(line.body, b" attached with ").is_some();
                    group = Some(pid).filter(|_| has_threads && count == 1);
                    first = first.or(Some(pid));
                }
                Body::Call { .. } => {
                    let alone = first.filter(|_| line.pid.is_none());
                    return Attached { alone, group };
                }
                _ => {}
            }
        }
        Attached { alone: None, group }
    }
}

/// Returns the time of the first line that has one.
fn first_time(head: &[u8], dialect: Dialect) -> Option<RawTime> {
    lines(head, 1, 0).find_map(|line| split_prefix(&line, dialect).time)
}

/// Returns the offset of the tables that `strace -C` prints after the calls: one for each of 64-bit and 32-bit calls.
fn summary_at(text: &[u8]) -> Option<usize> {
    let near = text.len().saturating_sub(MOST_SUMMARY);
    let tail = text.get(near..)?;
    let mut first = last_table(tail)?;
    loop {
        let mut above = tail.get(..first)?;
        if let Some((before, b"System call usage summary")) =
            last_line(above).map(|(before, line)| (before, line.get(..25).unwrap_or(line)))
        {
            above = before;
        }
        let is_end = last_line(above).is_some_and(|(_, line)| line.ends_with(b" total"));
        match last_table(above).filter(|_| is_end) {
            Some(upper) => first = upper,
            None => return Some(near + first),
        }
    }
}

/// Returns the offset of the last table in `text`.
fn last_table(text: &[u8]) -> Option<usize> {
    let dashes = memchr::memmem::rfind(text, b"\n------ ")
        .or_else(|| memchr::memmem::rfind(text, b"\n-----"))?;
    // The last row of dashes may be the end of the table.
    let header = |dashes: usize| {
        let start = memchr::memrchr(b'\n', text.get(..dashes)?)? + 1;
        super::sniff::is_summary(text.get(start..)?).then_some(start)
    };
    let upper = memchr::memmem::rfind(text.get(..dashes)?, b"\n-----");
    header(dashes).or_else(|| header(upper?))
}

/// Returns the last line of `text` and the text before it.
fn last_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    let start = memchr::memrchr(b'\n', text).map_or(0, |at| at + 1);
    Some((text.get(..start)?, text.get(start..)?))
}
