//! `trace-cmd report -w`: the time from each thread's wakeup until it ran, appended to each switch, with a summary.

use rustc_hash::FxHashMap;

use super::merge::{Batch, Line};
use crate::formats::tracedat::decoder::Decoder;
use crate::formats::tracedat::kind::Kind;

/// Priorities below this number are those of real-time threads.
const FIRST_NORMAL: u64 = 100;

/// Statistics of the waits so far.
#[derive(Debug, Default)]
pub(super) struct Wakeups {
    /// For each pid, the time of the wakeup of a thread that has not run since.
    woken: FxHashMap<u64, u64>,
    all: Waits,
    real_time: Waits,
}

/// Statistics of several waits, in ns.
#[derive(Debug, Default)]
struct Waits {
    count: u64,
    total: u64,
    /// (duration of the wait, time of its end).
    longest: (u64, u64),
    shortest: Option<(u64, u64)>,
}

impl Waits {
    fn add(&mut self, length: u64, end: u64) {
        self.count += 1;
        self.total = self.total.wrapping_add(length);
        if length > self.longest.0 {
            self.longest = (length, end);
        }
        if self.shortest.is_none_or(|shortest| length < shortest.0) {
            self.shortest = Some((length, end));
        }
    }

    fn text(&self) -> String {
        let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
        let stamp = |ns: u64| {
            let part = (ns.wrapping_add(500) % 1_000_000_000) / 1000;
            format!("{}.{part:06}", ns / 1_000_000_000)
        };
        let shortest = self.shortest.unwrap_or_default();
        format!(
            "\nAverage wakeup latency: {} usecs\nMaximum Latency: {} usecs at timestamp: {}\n\
             Minimum Latency: {} usecs at timestamp: {}\n\n",
            micros(self.total / self.count.max(1)),
            micros(self.longest.0),
            stamp(self.longest.1),
            micros(shortest.0),
            stamp(shortest.1)
        )
    }
}

impl Wakeups {
    /// Returns the statistics; `None` if the file has no formats of wakeups and switches.
    pub(super) fn of(decoder: &Decoder) -> Option<Wakeups> {
        let has = |name: &str| decoder.kinds().iter().any(|kind| kind.format.name == name);
        (has("sched_wakeup") && has("sched_switch")).then(Wakeups::default)
    }

    /// Processes an event. For a switch to a thread that waited, returns the text that is appended to its line.
    pub(super) fn see(&mut self, batch: &Batch, line: &Line, decoder: &Decoder) -> Option<String> {
        let kind = decoder.kinds().get(usize::from(line.kind?))?;
        if kind.format.system != "sched" {
            return None;
        }
        let start = line.start + line.name_length as usize;
        let record = batch
            .bytes
            .get(start..start + line.record_length as usize)?;
        let number = |kind: &Kind, name: &str| {
            let field = kind.format.field(name)?;
            field.number(record, decoder.endian())
        };
        match kind.format.name.as_str() {
            "sched_wakeup" | "sched_wakeup_new" => {
                if number(kind, "success") != Some(0) {
                    self.woken.insert(number(kind, "pid")?, line.time);
                }
                None
            }
            "sched_switch" => {
                let priority = number(kind, "next_prio")?;
                let woken = self.woken.remove(&number(kind, "next_pid")?)?;
                let length = line.time.wrapping_sub(woken);
                self.all.add(length, line.time);
                if priority < FIRST_NORMAL {
                    self.real_time.add(length, line.time);
                }
                Some(format!(
                    " Latency: {}.{:03} usecs",
                    length / 1000,
                    length % 1000
                ))
            }
            _ => None,
        }
    }

    /// Returns the summary of all waits; empty if there were none.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        if self.all.count > 0 {
            text.push_str(&self.all.text());
        }
        if self.real_time.count > 0 {
            text.push_str("RT task timings:\n");
            text.push_str(&self.real_time.text());
        }
        text
    }
}
