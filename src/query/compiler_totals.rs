//! The sums that compilers write at the end of their traces of themselves (clang's `Total Source`, ...), added up over
//! all compilations. They include work that was too short to be a slice in the trace.

use std::cmp::Reverse;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::compiler_costs::{compilers, process_of};
use super::item::event_ref;
use crate::base::{Cancelled, Job};
use crate::event::{Field, SUM_FIELDS, Value};
use crate::formats::Events;
use crate::trace::{EventId, InstantId, Trace, TrackId};

/// The total time of compilers in slices of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerTotal {
    /// The name, without the word `Total`.
    pub name: String,
    /// The number of slices, including those that are not in the trace.
    pub count: u64,
    /// The number of traces of compilations that contain such slices.
    pub compilations: u64,
    /// The slices' total time, in ns. A slice nested in a slice of the same name counts once.
    pub total_ns: i64,
    /// The largest sum of one compilation, in ns.
    pub most_ns: i64,
    /// The point that contains the largest sum.
    pub most: InstantId,
}

/// Returns the total time of compilers in slices of each name, the largest first. Only points that `is_chosen` accepts
/// count.
///
/// # Errors
/// Errors if the job is cancelled.
pub(crate) fn compiler_totals(
    trace: &Trace,
    reader: &dyn Events,
    is_chosen: impl Fn(TrackId, EventId) -> bool + Sync,
    job: &Job,
) -> Result<Vec<CompilerTotal>, Cancelled> {
    let compilers = compilers(trace);
    let tracks: Vec<_> = (0..)
        .map(TrackId)
        .zip(trace.tracks.iter())
        .filter(|(_, track)| {
            let process = process_of(trace, track.kind);
            process.is_some_and(|process| compilers.contains(&process))
        })
        .collect();
    let of_tracks = tracks.par_iter().map(|(id, track)| {
        job.check()?;
        let points = track.instants.clone().map(InstantId);
        let points = points.filter(|&point| is_chosen(*id, trace.instants.event(point)));
        let sums = points.filter_map(|point| sum_of(trace, reader, point));
        Ok(sums.collect::<Vec<_>>())
    });
    let of_tracks = of_tracks.collect::<Result<Vec<_>, Cancelled>>()?;
    let mut totals: FxHashMap<String, CompilerTotal> = FxHashMap::default();
    for sum in of_tracks.into_iter().flatten() {
        let known = totals.entry(sum.name.clone());
        let total = known.or_insert_with(|| CompilerTotal {
            count: 0,
            compilations: 0,
            total_ns: 0,
            most_ns: -1,
            ..sum.clone()
        });
        total.count = total.count.saturating_add(sum.count);
        total.compilations += 1;
        total.total_ns = total.total_ns.saturating_add(sum.total_ns);
        if sum.total_ns > total.most_ns {
            (total.most_ns, total.most) = (sum.total_ns, sum.most);
        }
    }
    let mut totals: Vec<CompilerTotal> = totals.into_values().collect();
    totals.sort_by(|a, b| (Reverse(a.total_ns), &a.name).cmp(&(Reverse(b.total_ns), &b.name)));
    Ok(totals)
}

/// Returns the sum that a point represents; `None` if the point is no sum.
fn sum_of(trace: &Trace, reader: &dyn Events, point: InstantId) -> Option<CompilerTotal> {
    let event: EventId = trace.instants.event(point);
    let fields = reader.fields(event_ref(trace, event));
    if !fields
        .iter()
        .map(|field| field.name.as_str())
        .eq(SUM_FIELDS)
    {
        return None;
    }
    let number = |field: &Field| match field.value {
        Value::Int(number) => Some(number),
        Value::UInt(number) => i64::try_from(number).ok(),
        Value::Double(number) if number.is_finite() => Some(number as i64),
        _ => None,
    };
    let [total, count, _] = fields.as_slice() else {
        return None;
    };
    let total_ns = number(total)?.checked_mul(1000)?;
    let kind = trace.kinds.get(trace.events.get(event).row.kind.index())?;
    let name = trace.text(kind.name);
    Some(CompilerTotal {
        name: name.strip_prefix("Total ").unwrap_or(&name).to_owned(),
        count: u64::try_from(number(count)?).ok()?,
        compilations: 1,
        total_ns,
        most_ns: total_ns,
        most: point,
    })
}
