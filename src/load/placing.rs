//! Finds the offset of each of several traces on one axis, and the evidence for it in words.
//!
//! The axis is the first trace's clock. A later trace is compared with all before it; the most certain relation
//! decides. In order of certainty: a recorded relation of the clocks (host and guest), the same clock on the same
//! machine, the time of day, two clocks that both count from boot, overlapping times if a text does not name its clock.
//! Without any relation the trace of a compiler is aligned with the process that wrote it, and any other trace starts
//! where the first one starts.
//!
//! In the corpus, 1 pair of host and guest has a recorded relation, and 1 build and the 3 traces of its compiler have
//! the time of day. Of the 22 texts of the kernel beside the trace.dat of the same events, 20 have overlapping times
//! and 2 no relation.

use std::sync::Arc;

use super::LoadedTrace;
use super::compilers::{Writer, writers};
use crate::base::{Nanos, TimeSpan};
use crate::event::TraceInfo;
use crate::event::clocks::kernel_clock;
use crate::event::part::{ClockMark, ClockUnit, UnnamedClock};
use crate::trace::sources::PlacedBy;

/// The offset of a trace on the common axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The offset, added to the trace's own times, in ns.
    pub offset: Nanos,
    /// Where the offset comes from, in words for the user.
    pub evidence: String,
    /// Whether the user or evidence in the files decided it.
    pub by: PlacedBy,
}

impl Placed {
    /// Returns the offset that the user gave.
    #[must_use]
    pub fn by_user(offset: Nanos) -> Placed {
        Placed {
            offset,
            evidence: "set by you".to_owned(),
            by: PlacedBy::User,
        }
    }
}

/// Returns the offset of each of `traces`; offsets that the user has `fixed` are kept.
///
/// A trace that a process of another trace wrote is placed after all traces that no process wrote, and no other trace
/// is compared with it unless it is the first: a build may have thousands of them.
#[must_use]
pub fn place(traces: &[Arc<LoadedTrace>], fixed: &[Option<Nanos>]) -> Vec<Placed> {
    let writers = writers(traces);
    let (others, written): (Vec<usize>, Vec<usize>) =
        (0..traces.len()).partition(|&at| at == 0 || writers[at].is_none());
    let mut places: Vec<Option<Placed>> = vec![None; traces.len()];
    let mut before: Vec<(usize, Placed)> = Vec::new();
    for (turn, &at) in others.iter().chain(&written).enumerate() {
        let loaded = &traces[at];
        let placed = match (fixed.get(at).copied().flatten(), before.is_empty()) {
            (Some(offset), _) => Placed::by_user(offset),
            (None, true) => Placed {
                offset: Nanos(0),
                evidence: match loaded.trace.info.clock.as_str() {
                    "" => "its clock is the axis".to_owned(),
                    clock => format!("its clock, {clock}, is the axis"),
                },
                by: PlacedBy::Evidence,
            },
            (None, false) => before
                .iter()
                .filter_map(|(number, there)| {
                    let other = &traces[*number];
                    let pair = Pair {
                        other,
                        loaded,
                        written: [(at, *number), (*number, at)]
                            .map(|(of, by)| writers[of].filter(|writer| writer.trace == by)),
                    };
                    relation(other, there.offset, loaded).or_else(|| pair.alignment(there.offset))
                })
                .min_by_key(|relation| relation.sureness)
                .map_or_else(|| at_the_start_of(&traces[0], loaded), |it| it.placed),
        };
        if turn < others.len() {
            before.push((at, placed.clone()));
        }
        places[at] = Some(placed);
    }
    places.into_iter().flatten().collect()
}

/// How certain a relation is, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sureness {
    Recorded,
    SameClock,
    TimeOfDay,
    SinceBoot,
    Overlap,
    Aligned,
}

/// How two clocks are related.
struct Relation {
    sureness: Sureness,
    /// The resulting offset and its evidence.
    placed: Placed,
}

/// Two traces, one of which may be the trace of a compiler that is a process of the other one.
struct Pair<'a> {
    other: &'a LoadedTrace,
    loaded: &'a LoadedTrace,
    /// The process in `other` that wrote `loaded`; the process in `loaded` that wrote `other`.
    written: [Option<Writer>; 2],
}

impl Pair<'_> {
    /// Returns the offset of `loaded` at which the compiler's trace starts at the same time as its process.
    fn alignment(&self, other_offset: Nanos) -> Option<Relation> {
        let Pair { other, loaded, .. } = self;
        let name = other.file_name();
        let [of_loaded, of_other] = self.written;
        let (there, here, words) = match (of_loaded, of_other) {
            (Some(writer), _) => {
                let process = writer.words(&other.trace);
                (
                    writer.start(&other.trace)?,
                    loaded.trace.span.start,
                    format!(
                        "aligned: the relation of its clock and that of {name} is unknown; it was made to start with {process}, the process that wrote it"
                    ),
                )
            }
            (None, Some(writer)) => {
                let process = writer.words(&loaded.trace);
                (
                    other.trace.span.start,
                    writer.start(&loaded.trace)?,
                    format!(
                        "aligned: the relation of its clock and that of {name} is unknown; {process}, the process that wrote {name}, was made to start with it"
                    ),
                )
            }
            (None, None) => return None,
        };
        let shift = there.0.saturating_sub(here.0);
        Some(Relation {
            sureness: Sureness::Aligned,
            placed: Placed {
                offset: Nanos(other_offset.0.saturating_add(shift)),
                evidence: words,
                by: PlacedBy::Alignment,
            },
        })
    }
}

/// Returns the relation of the clock of `loaded` to that of `other`; `None` if they have nothing in common.
fn relation(other: &LoadedTrace, other_offset: Nanos, loaded: &LoadedTrace) -> Option<Relation> {
    let (a, b) = (&other.trace.info, &loaded.trace.info);
    let name = other.file_name();
    let found = |sureness, offset: Nanos, evidence: String| {
        let offset = Nanos(other_offset.0.saturating_add(offset.0));
        let by = PlacedBy::Evidence;
        let placed = Placed {
            offset,
            evidence,
            by,
        };
        Some(Relation { sureness, placed })
    };
    if loaded.part_name.is_some() && loaded.path == other.path {
        let (offset, words) = match common_mark(a, b, |_| true) {
            None => (
                Nanos(0),
                format!(
                    "both are in one file, which does not state how their clocks differ: the offset to {name} is taken as 0"
                ),
            ),
            Some(offset) => (
                offset,
                format!(
                    "it is in one file with the events of {name}, which relates their clocks (clock sync)"
                ),
            ),
        };
        return found(Sureness::Recorded, offset, words);
    }
    if let Some(offset) = common_mark(a, b, |mark| mark.id != ClockMark::MONOTONIC_ZERO) {
        let words = format!("both it and {name} have the same mark (clock sync)");
        return found(Sureness::Recorded, offset, words);
    }
    let is_shifted = |guest: &TraceInfo, host: &TraceInfo| {
        guest.shifted_to.is_some() && guest.shifted_to == host.trace_id
    };
    if is_shifted(b, a) {
        let words =
            format!("its times were measured against those of {name} while recording (TIME_SHIFT)");
        return found(Sureness::Recorded, Nanos(0), words);
    }
    if is_shifted(a, b) {
        let words = format!(
            "the times of {name} were measured against its own while recording (TIME_SHIFT)"
        );
        return found(Sureness::Recorded, Nanos(0), words);
    }
    if a.clock_unit != ClockUnit::Nanoseconds || b.clock_unit != ClockUnit::Nanoseconds {
        return None;
    }
    let is_near = is_near(other.trace.span, loaded.trace.span);
    let is_same_machine = match (&a.uname, &b.uname) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    if !a.clock.is_empty() && a.clock == b.clock && is_near && is_same_machine {
        let words = format!("it has the same clock as {name}: {}", a.clock);
        return found(Sureness::SameClock, Nanos(0), words);
    }
    if let (Some(zero_a), Some(zero_b)) = (a.wall_clock_zero_ns, b.wall_clock_zero_ns) {
        let words = format!(
            "both it and {name} contain the time of day; the clocks of two machines can be some ms apart"
        );
        return found(
            Sureness::TimeOfDay,
            Nanos(zero_b.saturating_sub(zero_a)),
            words,
        );
    }
    let counts_from_boot = |clock: &str| kernel_clock(clock).counts_from_boot;
    if counts_from_boot(&a.clock) && counts_from_boot(&b.clock) && is_near && is_same_machine {
        let words = format!(
            "its clock, {}, and that of {name}, {}, both count from boot; they can be some ms apart",
            b.clock, a.clock
        );
        return found(Sureness::SinceBoot, Nanos(0), words);
    }
    // ftrace texts have times but do not name their clock; in most of them the clock counts from boot.
    let is_unnamed =
        |info: &TraceInfo| info.clock.is_empty() && info.unnamed_clock == UnnamedClock::OfKernel;
    let may_be_same = match (is_unnamed(a), is_unnamed(b)) {
        (true, true) => true,
        (true, false) => counts_from_boot(&b.clock),
        (false, true) => counts_from_boot(&a.clock),
        (false, false) => false,
    };
    let (there, here) = (other.trace.span, loaded.trace.span);
    if may_be_same && there.start < here.end && here.start < there.end && is_same_machine {
        let words = match is_unnamed(b) {
            true => format!(
                "it does not name its clock; its times overlap those of {name}, so both are taken for one clock"
            ),
            false => format!(
                "{name} does not name its clock; its times overlap these, so both are taken for one clock"
            ),
        };
        return found(Sureness::Overlap, Nanos(0), words);
    }
    // Our own export keeps the original times, and FXT has no field for the clock's name.
    let is_part = |part: &TraceInfo, of: TimeSpan, whole: TimeSpan| {
        part.unnamed_clock == UnnamedClock::OfOrigin && whole.start < of.end && of.start < whole.end
    };
    if is_part(b, here, there) && is_same_machine {
        let words = format!(
            "Threadline exported it with the times of its origin, and they overlap those of {name}: both are taken for one clock"
        );
        return found(Sureness::Overlap, Nanos(0), words);
    }
    if is_part(a, there, here) && is_same_machine {
        let words = format!(
            "Threadline exported {name} with the times of its origin, and they overlap these: both are taken for one clock"
        );
        return found(Sureness::Overlap, Nanos(0), words);
    }
    None
}

/// Returns the offset that must be added to the times of `b` so that a clock mark of both traces is at the same time.
fn common_mark(
    a: &TraceInfo,
    b: &TraceInfo,
    is_meant: impl Fn(&ClockMark) -> bool,
) -> Option<Nanos> {
    let marks = a.clock_marks.iter().filter(|mark| is_meant(mark));
    marks.into_iter().find_map(|mark| {
        let other = b.clock_marks.iter().find(|other| other.id == mark.id)?;
        Some(Nanos(mark.time_ns.saturating_sub(other.time_ns)))
    })
}

/// Distance in ns. Recordings that are further apart on a clock of the same name were probably not made together.
const NEAR: i64 = 600_000_000_000;

fn is_near(a: TimeSpan, b: TimeSpan) -> bool {
    a.start.0.saturating_sub(NEAR) < b.end.0 && b.start.0.saturating_sub(NEAR) < a.end.0
}

/// Returns the name of one step of a clock.
fn step_word(unit: ClockUnit) -> &'static str {
    match unit {
        ClockUnit::Nanoseconds => "nanosecond",
        ClockUnit::Cycles => "cycle",
        ClockUnit::Order => "step",
        ClockUnit::Lines => "line",
    }
}

fn at_the_start_of(first: &LoadedTrace, loaded: &LoadedTrace) -> Placed {
    let (there, here) = (first.trace.span.start, loaded.trace.span.start);
    let name = first.file_name();
    let units = (first.trace.info.clock_unit, loaded.trace.info.clock_unit);
    let evidence = match units {
        (ClockUnit::Nanoseconds, unit) if unit != ClockUnit::Nanoseconds => format!(
            "it has no times: each {} of it takes a nanosecond of the axis, and it was made to start with {name}",
            step_word(unit)
        ),
        (unit, ClockUnit::Nanoseconds) if unit != ClockUnit::Nanoseconds => format!(
            "{name} has no times: each {} of that takes a nanosecond of this file's axis, and they were made to start together",
            step_word(unit)
        ),
        _ => format!(
            "the relation of its clock and that of {name} is unknown: they were made to start together"
        ),
    };
    Placed {
        offset: Nanos(there.0.saturating_sub(here.0)),
        evidence,
        by: PlacedBy::Evidence,
    }
}
