//! Facts about all lines of a text, from marks that some lines contain: its writer, its machine.
//!
//! - Names of functions of system calls contain the machine (`__x64_sys_read`).
//! - trace-cmd before 3.2 printed states with the letters of kernels before 3.14, for any kernel: there, a lone `W` is
//!   idle, `X` a zombie and `x` parked. No other writer prints a lone `W`.
//! - Probe addresses below 4 GiB without symbols belong to a program linked to a fixed address, or to a kernel at such
//!   addresses, like that of s390. An address that threads with different names share is not in a program.
//! - Android's recorders write times of other clocks into the trace: `trace_event_clock_sync:
//!   realtime_ts=1700000000123`, the wall clock in milliseconds; `parent_ts=36665.5`, `CLOCK_MONOTONIC` in seconds (0:
//!   the trace uses that clock); `name=ID`, a moment that other recordings contain with the same id.
//! - A counting clock's time may follow raw flags without a separator (`-0x14631252878692`): the number of its digits.
//!
//! Of the 267 texts of the corpus, 47 contain a lone `W`, and 2 contain probe addresses below 4 GiB; none contains
//! marks of other clocks, or times without a separator.

use super::graph;
use super::probe_text::{Probe, function_of, may_be_probe, probe};
use super::tasks::{Form, StateLetters, SwitchText, end_state};
use crate::base::decimal_seconds::decimal_seconds;
use crate::base::leading::digits;
use crate::base::lines::lines;
use crate::event::ThreadState;
use crate::event::part::ClockMark;
use crate::event::syscalls::Abi;
use crate::formats::ftrace_line::flags::Legend;
use crate::formats::ftrace_line::line::{Body, classify};
use crate::formats::ftrace_line::prefix::{Prefix, RAW_FLAGS, split_prefix};

/// Number of bytes of a text in which marks are searched.
const NEAR: usize = 1 << 20;
/// Number of bytes in which rare states are searched.
const FAR: usize = 1 << 22;

/// Layout of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One event per line.
    Events,
    /// The braces of function graph.
    Graph,
}

/// Owner of probe addresses below 4 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LowAddresses {
    /// Programs.
    Programs,
    /// The kernel.
    Kernel,
}

/// Facts about a whole text that are needed to read its lines.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// Layout of the text.
    pub layout: Layout,
    /// Meaning of the letters of the flags.
    pub legend: Legend,
    /// The machine, if symbols show it.
    pub abi: Option<Abi>,
    /// Meaning of the letters of thread states in switches.
    pub states: StateLetters,
    /// Owner of probe addresses below 4 GiB.
    pub low_addresses: LowAddresses,
    /// Number of digits of times that follow flags without a separator; 0 if there are none.
    pub time_digits: usize,
    /// Whether the text is a graph with neither times nor durations: only the order of its steps is known.
    pub has_steps_alone: bool,
    /// Whether lines start with the names of files, each of its own machine: `host.dat: cpus=4`.
    pub is_of_several_files: bool,
    /// Wall-clock time at zero of the trace's clock, ns since the Unix epoch, if the text contains it.
    pub wall_clock_zero_ns: Option<i64>,
    /// Moments that other recordings may also contain.
    pub clock_marks: Vec<ClockMark>,
}

impl Facts {
    /// Finds the facts about a text; `head` is the range that shows the text's properties.
    #[must_use]
    pub(super) fn of(text: &[u8], head: &[u8], layout: Layout) -> Facts {
        let near = text.get(..NEAR).unwrap_or(text);
        let abi = abi_of(near);
        let is_s390 = abi == Some(Abi::S390x);
        let has_low = is_s390 || has_shared_low_probe(near);
        Facts {
            layout,
            legend: Legend::of(head),
            abi,
            states: state_letters(text.get(..FAR).unwrap_or(text)),
            low_addresses: match has_low {
                true => LowAddresses::Kernel,
                false => LowAddresses::Programs,
            },
            time_digits: time_digits(head),
            has_steps_alone: layout == Layout::Graph && has_steps_alone(head),
            is_of_several_files: is_of_several_files(head),
            wall_clock_zero_ns: wall_clock_zero_ns(near),
            clock_marks: clock_marks(near),
        }
    }

    /// Parses the columns of a line.
    #[must_use]
    #[inline]
    pub(crate) fn split<'a>(&self, line: &'a [u8]) -> Option<Prefix<'a>> {
        let prefix = split_prefix(line)?;
        Some(match prefix.glued.is_empty() {
            true => prefix,
            false => prefix.with_digits(self.time_digits),
        })
    }

    /// Returns the state of the thread that was switched out.
    #[must_use]
    pub(crate) fn end_state(&self, switch: &SwitchText<'_>) -> ThreadState {
        match switch.form {
            Form::Short => end_state(switch.state, self.states),
            Form::Fields => end_state(switch.state, StateLetters::Kernel),
        }
    }

    /// Returns whether a probe's address is in a program: a number in the lower half of the address space.
    #[must_use]
    pub(crate) fn is_user_address(&self, address: &[u8]) -> bool {
        let digits = address.strip_prefix(b"0x").unwrap_or(address);
        let is_number = digits.len() >= 4 && digits.iter().all(u8::is_ascii_hexdigit);
        let is_high = match digits.len() {
            16.. => !matches!(digits.first(), Some(b'0'..=b'7')),
            8 => matches!(digits.first(), Some(b'c'..=b'f')),
            _ => false,
        };
        let is_kernels = self.low_addresses == LowAddresses::Kernel && is_low(digits);
        is_number && !is_high && !is_kernels
    }
}

/// Returns the machine, from the functions of system calls near the start.
fn abi_of(near: &[u8]) -> Option<Abi> {
    let marks: [(&[u8], Abi); 4] = [
        (b"__x64_sys_", Abi::X86_64),
        (b"do_syscall_64+", Abi::X86_64),
        (b"__arm64_sys_", Abi::Aarch64),
        (b"__s390x_sys_", Abi::S390x),
    ];
    let found = |needle: &[u8]| memchr::memmem::find(near, needle).is_some();
    marks
        .iter()
        .find(|(needle, _)| found(needle))
        .map(|row| row.1)
}

fn state_letters(text: &[u8]) -> StateLetters {
    match memchr::memmem::find(text, b"] W ==> ") {
        Some(_) => StateLetters::OldTraceCmd,
        None => StateLetters::Kernel,
    }
}

/// Returns whether a hex number is below 4 GiB.
fn is_low(digits: &[u8]) -> bool {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.len() - zeros <= 8
}

/// Returns whether threads with two different names hit the same low address.
fn has_shared_low_probe(near: &[u8]) -> bool {
    const MOST: usize = 256;
    let mut met: Vec<(&[u8], &[u8])> = Vec::new();
    for line in lines(near, 1, 0) {
        let Some(prefix) = split_prefix(line.bytes) else {
            continue;
        };
        let Body::Event(_, info) = classify(prefix.body) else {
            continue;
        };
        if !may_be_probe(info) || matches!(prefix.comm, b"<...>") {
            continue;
        }
        let Some(Probe::Entry(address) | Probe::Return(address, _)) = probe(info) else {
            continue;
        };
        let address = function_of(address);
        if !address.iter().all(u8::is_ascii_hexdigit) || !is_low(address) {
            continue;
        }
        match met.iter().find(|(known, _)| *known == address) {
            Some((_, comm)) if *comm != prefix.comm => return true,
            Some(_) => {}
            None if met.len() < MOST => met.push((address, prefix.comm)),
            None => return false,
        }
    }
    false
}

/// Returns whether the text was printed from several files: then trace-cmd prints the CPU count of each.
fn is_of_several_files(head: &[u8]) -> bool {
    lines(head, 1, 0).any(|line| {
        let mut text = line.bytes.trim_ascii_end();
        while let [rest @ .., b'0'..=b'9'] = text {
            text = rest;
        }
        let name = text.strip_suffix(b": cpus=");
        name.is_some_and(|name| !name.trim_ascii().is_empty())
    })
}

/// A line in which a recorder wrote the time of another clock, or an id.
struct Sync<'a> {
    /// The line's time in ns.
    time: i64,
    /// The text after the mark, such as `parent_ts=1.5`.
    text: &'a [u8],
}

/// Iterates over the lines with marks of other clocks.
fn syncs(near: &[u8]) -> impl Iterator<Item = Sync<'_>> {
    const MARK: &[u8] = b"trace_event_clock_sync: ";
    memchr::memmem::find_iter(near, MARK).filter_map(|at| {
        let start = memchr::memrchr(b'\n', near.get(..at)?).map_or(0, |end| end + 1);
        let line = lines(near.get(start..)?, 1, 0).next()?.bytes;
        let prefix = split_prefix(line).filter(|prefix| !prefix.is_raw())?;
        let text = line.get(at.checked_sub(start)?.checked_add(MARK.len())?..)?;
        Some(Sync {
            time: prefix.time,
            text: text.trim_ascii(),
        })
    })
}

/// Returns the wall-clock time at the trace clock's zero, from a mark that recorders write.
fn wall_clock_zero_ns(near: &[u8]) -> Option<i64> {
    let mut marks = syncs(near);
    let (time, millis) = marks.find_map(|sync| {
        let millis = digits(sync.text.strip_prefix(b"realtime_ts=")?)?.value;
        Some((sync.time, millis))
    })?;
    i64::try_from(millis)
        .ok()?
        .checked_mul(1_000_000)?
        .checked_sub(time)
}

/// Returns moments that other recordings may also contain: the zero of `CLOCK_MONOTONIC`, from the first mark with its
/// time, as in catapult; and marks with ids.
fn clock_marks(near: &[u8]) -> Vec<ClockMark> {
    let mut marks: Vec<ClockMark> = Vec::new();
    for sync in syncs(near) {
        let mark = if let Some(seconds) = sync.text.strip_prefix(b"parent_ts=") {
            let there = decimal_seconds(seconds).and_then(|there| match there.ns {
                0 => Some(0),
                there => sync.time.checked_sub(there),
            });
            there.map(|zero| (ClockMark::MONOTONIC_ZERO, zero))
        } else {
            let id = sync.text.strip_prefix(b"name=");
            let id = id.and_then(|id| id.split(u8::is_ascii_whitespace).next());
            id.map(|id| (id, sync.time))
        };
        if let Some((id, time_ns)) = mark {
            ClockMark::add_to(id, time_ns, &mut marks);
        }
    }
    marks
}

/// Returns whether the lines of a graph have neither a time column nor a duration column.
fn has_steps_alone(head: &[u8]) -> bool {
    let mut has_steps = false;
    for found in lines(head, 1, 0).filter_map(|line| graph::split_line(line.bytes)) {
        if found.time.is_some() || graph::step(found.rest).is_some() {
            return false;
        }
        has_steps |= graph::step_without_duration(found.rest).is_some();
    }
    has_steps
}

/// Returns the number of digits of times without a separator after the flags. All times have the same length, flags
/// have one or two digits: if the split is ambiguous, the shortest text decides.
fn time_digits(head: &[u8]) -> usize {
    let mut shortest: Option<usize> = None;
    for line in lines(head, 1, 0) {
        let Some(glued) = split_prefix(line.bytes).map(|prefix| prefix.glued) else {
            continue;
        };
        match glued.get(RAW_FLAGS.len()..).unwrap_or(&[]) {
            [] => {}
            [b'0', time @ ..] | [_, b'a'..=b'f', time @ ..] => return time.len(),
            [_, time @ ..] => {
                let known = shortest.unwrap_or(time.len());
                shortest = Some(known.min(time.len()));
            }
        }
    }
    shortest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(text: &str) -> Facts {
        Facts::of(text.as_bytes(), text.as_bytes(), Layout::Events)
    }

    #[test]
    fn low_addresses_are_the_kernels_where_several_programs_meet_them() {
        let s390 = "            bash-96    [001]    69.626109234: myprobe:              (40f840) dfd=3\n            \
                    tail-412   [000]    69.651281812: myprobe:              (40f840) dfd=4\n";
        let go = s390.replace("tail-412", "bash-412");
        let (s390, go) = (facts(s390), facts(&go));
        assert!(!s390.is_user_address(b"40f840") && go.is_user_address(b"40f840"));
        for facts in [s390, go] {
            assert!(facts.is_user_address(b"0x5620b09802b8"));
            assert!(facts.is_user_address(b"0x000003ff8a1802b8"));
            assert!(!facts.is_user_address(b"ffffffff8f9669e0"));
            assert!(!facts.is_user_address(b"c32cb050"));
            assert!(!facts.is_user_address(b"do_sys_open+0x0/0xd6"));
        }
        assert!(!facts("  => __s390x_sys_read\n").is_user_address(b"3d5f10"));
    }

    #[test]
    fn the_wall_clock_is_that_of_the_mark_that_says_it() {
        let text = "   sf-500     [000] .....   100.5: tracing_mark_write: x\n   \
                    sf-500     [000] .....   101.5: tracing_mark_write: trace_event_clock_sync: realtime_ts=1700000000123\n";
        let zero = 1_700_000_000_123_000_000 - 101_500_000_000;
        assert_eq!(facts(text).wall_clock_zero_ns, Some(zero));
        assert_eq!(
            facts("trace_event_clock_sync: realtime_ts=1\n").wall_clock_zero_ns,
            None
        );
    }

    #[test]
    fn other_recordings_are_related_by_marks() {
        let line = |time: &str, mark: &str| {
            format!(
                "   sf-500     [000] .....   {time}: tracing_mark_write: trace_event_clock_sync: {mark}\n"
            )
        };
        let marks = |text: &str| -> Vec<(String, i64)> {
            let marks = facts(text).clock_marks.into_iter();
            let words = |mark: ClockMark| (String::from_utf8(mark.id).unwrap(), mark.time_ns);
            marks.map(words).collect()
        };
        let zero = "CLOCK_MONOTONIC is 0".to_owned();
        let text = line("100.5", "parent_ts=36.1234567891")
            + &line("101.0", "name=9d28-a4 x")
            + &line("102.0", "parent_ts=1.0");
        let expected = [
            (zero.clone(), 100_500_000_000 - 36_123_456_789),
            ("9d28-a4".to_owned(), 101_000_000_000),
        ];
        assert_eq!(marks(&text), expected);
        assert_eq!(marks(&line("7.0", "parent_ts=0.0")), [(zero, 0)]);
        assert_eq!(marks(&line("7.0", "parent_ts=x")), []);
        assert_eq!(marks("trace_event_clock_sync: parent_ts=1\n"), []);
    }

    #[test]
    fn a_time_glued_to_raw_flags_is_told_from_them() {
        let line = |glued: &str| format!("          mix.sh-22053 [001]-0x{glued}: a: b\n");
        let (one, two) = (line("14631252878692"), line("2d4631252878793"));
        let (zero, even) = (line("04631252878692"), line("144631252878692"));
        for text in [
            [&one, &two, &even].map(String::as_str).concat(),
            [&even, &one].map(String::as_str).concat(),
            [&even, &zero].map(String::as_str).concat(),
        ] {
            let facts = facts(&text);
            let times: Vec<i64> = text
                .lines()
                .map(|line| facts.split(line.as_bytes()).unwrap().time)
                .collect();
            assert!(
                times.iter().all(|time| time / 1000 == 4_631_252_878),
                "{times:?}"
            );
        }
        let alone = facts(&one).split(one.as_bytes()).map(|line| line.time);
        assert_eq!(alone, Some(4_631_252_878_692));
    }
}
