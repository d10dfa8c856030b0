//! Totals of system calls as `strace -c` prints them: calls by name, with their time and the errors that they returned.
//!
//! Calls are slices. The result of a call is a field of its last event (of its only event, if it was recorded whole):
//! `result` and `error` in system-call text, `ret` in the kernel's events. A call whose end was not seen is counted
//! with its least duration beside the others, and adds no time.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::item::event_ref;
use super::seen::{Length, Seen};
use crate::base::{Cancelled, Job, error_numbers};
use crate::event::{SliceKind, Value};
use crate::formats::Events;
use crate::trace::{SliceId, Trace, TrackId};

/// All calls with one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTotal {
    /// The name.
    pub name: String,
    /// The number of calls, including unfinished ones.
    pub calls: u64,
    /// The number of calls without an end in the trace.
    pub unfinished: u64,
    /// The least total time of these calls, in ns.
    pub unfinished_ns: i128,
    /// The number of calls whose result is known.
    pub returned: u64,
    /// The number of calls that returned an error.
    pub errors: u64,
    /// The total time of the calls that ended, in ns.
    pub time_ns: i128,
    /// The duration of the longest of these calls, in ns.
    pub longest_ns: i64,
    /// The number of times that each error was returned, the most frequent first.
    pub by_error: Vec<(String, u64)>,
}

impl CallTotal {
    /// Returns the mean time of the calls that ended, in ns; `None` if none ended.
    #[must_use]
    pub(crate) fn mean_ns(&self) -> Option<i64> {
        let ended = self.calls.checked_sub(self.unfinished)?;
        (ended > 0).then(|| (self.time_ns / i128::from(ended)) as i64)
    }
}

/// Number of calls whose results one parallel job reads.
const CALLS_A_JOB: usize = 4096;
/// A result below this is not an error (the negative of the kernel's MAX_ERRNO).
const LEAST_ERROR: i64 = -4095;

/// The known result of a call.
#[derive(Default)]
struct Returned {
    is_known: bool,
    error: Option<String>,
}

/// Returns the totals of the calls that `is_chosen` accepts, the name with the longest time first.
///
/// # Errors
///
/// Errors if the job is cancelled.
pub(crate) fn call_totals(
    trace: &Trace,
    reader: &dyn Events,
    is_chosen: impl Fn(TrackId, u32) -> bool,
    job: &Job,
) -> Result<Vec<CallTotal>, Cancelled> {
    let slices = &trace.slices;
    let is_call: Vec<bool> = slices
        .labels
        .iter()
        .map(|label| label.kind == SliceKind::SystemCalls)
        .collect();
    let mut calls: Vec<u32> = Vec::new();
    for row in &slices.rows {
        let of_row = row.slices.clone();
        calls.extend(of_row.filter(|&slice| {
            let label = slices.label_ids.at(slice as usize) as usize;
            is_call.get(label) == Some(&true) && is_chosen(row.track, slice)
        }));
    }
    job.add_total(calls.len() as u64);
    let seen = Seen::new(trace);
    let totals = calls
        .par_chunks(CALLS_A_JOB)
        .map(|calls| {
            job.check()?;
            let mut totals = Totals::default();
            for &slice in calls {
                totals.add(trace, &seen, reader, slice);
            }
            job.advance(calls.len() as u64);
            Ok(totals)
        })
        .try_reduce(Totals::default, |a, b| Ok(a.with(b)))?;
    Ok(totals.sorted(trace))
}

/// Totals by the number of the name.
#[derive(Default)]
struct Totals {
    by_name: FxHashMap<u32, (CallTotal, FxHashMap<String, u64>)>,
}

impl Totals {
    fn add(&mut self, trace: &Trace, seen: &Seen, reader: &dyn Events, slice: u32) {
        let label = trace.slices.label(SliceId(slice));
        let (total, errors) = self.by_name.entry(label.name.0).or_default();
        total.calls += 1;
        match seen.measure(trace, SliceId(slice)) {
            Length::AtLeast(time) => {
                total.unfinished += 1;
                total.unfinished_ns += i128::from(time);
            }
            Length::Known(time) => {
                total.time_ns += i128::from(time);
                total.longest_ns = total.longest_ns.max(time);
            }
        }
        let returned = returned(trace, reader, slice);
        total.returned += u64::from(returned.is_known);
        if let Some(error) = returned.error {
            total.errors += 1;
            *errors.entry(error).or_default() += 1;
        }
    }

    fn with(mut self, other: Totals) -> Totals {
        for (name, (more, more_errors)) in other.by_name {
            let (total, errors) = self.by_name.entry(name).or_default();
            total.calls += more.calls;
            total.unfinished += more.unfinished;
            total.unfinished_ns += more.unfinished_ns;
            total.returned += more.returned;
            total.errors += more.errors;
            total.time_ns += more.time_ns;
            total.longest_ns = total.longest_ns.max(more.longest_ns);
            for (error, count) in more_errors {
                *errors.entry(error).or_default() += count;
            }
        }
        self
    }

    fn sorted(self, trace: &Trace) -> Vec<CallTotal> {
        let mut totals: Vec<CallTotal> = self
            .by_name
            .into_iter()
            .map(|(name, (mut total, errors))| {
                total.name = trace.text(crate::base::StringId(name)).into_owned();
                total.by_error = errors.into_iter().collect();
                total.by_error.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
                total
            })
            .collect();
        totals.sort_by(|a, b| (b.time_ns, b.calls, &a.name).cmp(&(a.time_ns, a.calls, &b.name)));
        totals
    }
}

/// Returns the parts of a call's result that its events contain.
fn returned(trace: &Trace, reader: &dyn Events, slice: u32) -> Returned {
    let finish = trace.slices.finish(slice as usize);
    let begin = trace.slices.begin(slice as usize);
    let mut found = Returned::default();
    // The end event contains the result; a call that was recorded whole, or without its end, has only one event.
    for event in finish.into_iter().chain([begin]) {
        for field in reader.fields(event_ref(trace, event)) {
            match (field.name.as_str(), field.value) {
                ("error", Value::Text(error)) if !error.is_empty() => {
                    found.is_known = true;
                    found.error = Some(error);
                }
                ("ret", value) => {
                    let number = match value {
                        Value::Int(number) => Some(number),
                        Value::UInt(number) => Some(number.cast_signed()),
                        _ => None,
                    };
                    found.is_known |= number.is_some();
                    let error = number.filter(|number| (LEAST_ERROR..0).contains(number));
                    found.error = error.map(|number| {
                        let name = error_numbers::name(number.unsigned_abs());
                        name.map_or_else(|| (-number).to_string(), str::to_owned)
                    });
                }
                // strace prints `?` as the result of a call whose thread ended in it.
                ("result", value) => found.is_known |= value != Value::Text("?".to_owned()),
                _ => {}
            }
        }
        if found.is_known {
            break;
        }
    }
    found
}
