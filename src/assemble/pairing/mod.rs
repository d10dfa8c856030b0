//! Makes slices from the begins and ends of each track.
//!
//! A begin adds its slice at once, in order of start. An end looks up the innermost open begin of its family that it
//! matches (see `Matching`) and closes it. Begins above that one have lost their ends: they are drawn up to the end of
//! the slice around them, with an unknown duration, or become instants, as the family's rule demands; where ends name
//! their begins (`named`), they may still get their own ends. If events of their CPU were lost between a begin and an
//! end, or on another CPU while the thread waited for one, the slice's duration is unknown: the end may belong to another
//! begin. An end without a begin is an instant, or the whole slice if the end states how long it was. A begin or end only
//! becomes a slice if the trace contains both begins and ends of its pair: a kprobe without a return probe is an instant.

mod calls;
mod depths;
mod named;
mod pairer;
mod row;
mod rules;
mod stack;
mod taken_over;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::group::{
    Groups, Numbered, Pieces, Sorted, Zipped, gather, join_in_order, zip_by_number,
};
use super::labels::LabelPairs;
use super::measured::{Axis, MeasuredTable, drawn_otherwise, of_lone_ends, place};
use super::merge::SliceHabits;
use super::nesting::{Nested, nest};
use super::people::{Born, TakenOver};
use super::recorded::{Part, Recorded};
use super::rows::PerPart;
use super::track_number::{self, TrackEvent};
use super::whereabouts::{Missing, WaitsOverLosses};
use crate::base::streaks::{Follows, Streaks};
use crate::base::{Cancelled, Diagnostics, Job, Maybe, Severity, Strings};
use crate::event::family::{Family, Place};
use crate::event::kernel::NUMBER_ZERO;
use crate::event::syscalls::{self, Abi};
use crate::event::{CallDepth, Complete, Mark, MarkOp, ThreadKey, Ties, UNSEEN_END};
use crate::trace::{LabelId, SliceLabel, Thread, TrackKind};
use calls::{CallSource, Calls, Mode, Stated, created_by_compat};
use depths::Depths;
use pairer::{Known, Leftovers, LostEvents, PairedMarks, pair};
use row::{COMPAT, END, OVER, Row};
use rules::{RuleSource, rules};
use taken_over::MovedEnds;

/// The input of [`pair_slices`]: the rows to pair, and the rules for pairing.
pub(crate) struct PairingRows {
    /// Begins and ends of slices.
    pub marks: PerPart<Mark>,
    /// Slices that arrived whole.
    pub completes: PerPart<Complete>,
    /// Durations that the recorder measured.
    pub measured: MeasuredTable,
    /// Depths of calls of traced functions.
    pub call_depths: PerPart<CallDepth>,
    /// Whether the events' times are in ns, as measured durations are.
    pub axis: Axis,
    /// Which labels pair.
    pub pairs: LabelPairs,
    /// How the recorder wrote slices.
    pub habits: SliceHabits,
    /// The machine whose numbers raw system calls have, if the file states it.
    pub abi: Option<Abi>,
    /// Threads that took their leaders' places by `execve`.
    pub taken_over: Vec<TakenOver>,
}

/// The parts of the trace that pairing reads.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// All events.
    pub recorded: &'a Recorded,
    /// Times at which events were lost.
    pub missing: Missing<'a>,
    /// Waits for a CPU during which events were lost.
    pub waits: &'a WaitsOverLosses,
    /// All threads.
    pub threads: &'a [Thread],
    /// All forks.
    pub births: &'a [Born],
}

/// The slices of all tracks, and the marks that are in no slice.
pub(crate) struct Paired {
    /// The slices of each track, sorted by track number.
    pub tracks: Vec<Numbered<Nested>>,
    /// Marks that became instants.
    pub leftovers: Vec<TrackEvent>,
    /// Counts of unmatched begins and ends.
    pub diagnostics: Diagnostics,
}

/// The slices and leftovers of one track.
struct PairedTrack {
    track: u32,
    nested: Nested,
    leftovers: Leftovers,
    /// See [`calls::Resolved`].
    programs: Vec<Stated>,
}

/// A slice that arrived whole.
#[derive(Clone, Copy)]
struct Whole {
    start: i64,
    duration: i64,
    event: u32,
    /// The trace's label, and [`UNSEEN_END`].
    label: u32,
}

/// Returns the slices of all tracks. Adds labels and names for calls whose names are not recorded.
///
/// # Errors
/// If the job is cancelled.
pub(crate) fn pair_slices(
    rows: PairingRows,
    around: Surroundings<'_>,
    strings: &mut Strings,
    labels: &mut Streaks<SliceLabel>,
    job: &Job,
) -> Result<Paired, Cancelled> {
    let PairingRows {
        marks,
        completes,
        measured,
        call_depths,
        axis,
        pairs,
        habits,
        abi,
        taken_over,
    } = rows;
    let Surroundings {
        recorded,
        missing,
        waits,
        threads,
        births,
    } = around;
    let cpu_count = recorded.cpus.len();
    let depths = Depths::new(call_depths, recorded);
    let rules = rules(RuleSource {
        labels,
        pairs: &pairs,
        strings,
        lone_begins: habits.lone_begins,
    });
    // The rows of a part are freed once they are grouped: the marks of all parts are large.
    let parts: Vec<PartRows> = (marks.into_par_iter().zip(completes))
        .zip(&recorded.parts)
        .map_init(Sorter::default, |sorter, ((marks, completes), part)| {
            job.check()?;
            Ok(sorter.sort_out(part, recorded, labels, &marks, &completes))
        })
        .collect::<Result<_, Cancelled>>()?;
    let marks = gather(parts.iter().map(|part| &part.marks));
    let wholes = gather(parts.iter().map(|part| &part.wholes));
    let rows_of = |marks: &Pieces<'_, Row>, rows: &mut Vec<Row>| {
        join_in_order(marks, |row| row.time, rows);
    };
    let lost = LostEvents {
        missing,
        waits,
        events: &recorded.events,
    };
    let calls = CallSource {
        labels,
        pairs: &pairs,
        strings,
        abi,
    };
    let calls = Calls::new(calls, &marks, |of, rows| rows_of(&of.own, rows));
    job.check()?;
    let moved = MovedEnds::new(&taken_over, cpu_count, &calls, &marks, rows_of);
    let tracks = zip_by_number(marks, wholes);
    let pair_track =
        |rows: &mut Vec<Row>, of_track: &Zipped<Pieces<'_, Row>, Pieces<'_, Whole>>, inherited| {
            job.check()?;
            let (track, wholes) = (of_track.number, &of_track.right);
            rows_of(&of_track.left, rows);
            moved.give(track, rows);
            let resolved = calls.resolve(rows, inherited);
            moved.take(track, rows);
            let known = Known {
                rules: &rules,
                measured: &measured,
                depths: &depths,
                lost,
                death: death_of(track, threads, cpu_count),
            };
            let PairedMarks {
                mut drafts,
                mut leftovers,
            } = pair(rows, known);
            leftovers.instants.extend(resolved.points);
            leftovers.undecided = resolved.undecided;
            leftovers.has_compat = resolved.has_compat;
            let mut odd = FxHashMap::default();
            if !measured.is_empty() {
                let is_call = |label: u32| {
                    let label = labels.get(label as usize);
                    label.is_some_and(|label| label.family == Family::Functions)
                };
                odd = place(&mut drafts, &measured, axis, &leftovers.over_by, is_call);
                if axis == Axis::OtherUnit {
                    of_lone_ends(&drafts, &measured, &mut odd);
                }
                drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
            }
            if !wholes.is_empty() {
                add_wholes(&mut drafts, wholes, habits.ties);
            }
            if measured.has_drawn_otherwise {
                drawn_otherwise(&drafts, &measured, &mut odd);
            }
            let mut nested = nest(drafts);
            if !odd.is_empty() {
                nested.set_measured(|draft| odd.get(&draft.begin).copied());
            }
            Ok(PairedTrack {
                track,
                nested,
                leftovers,
                programs: resolved.programs,
            })
        };
    let mut results: Vec<PairedTrack> = tracks
        .par_iter()
        .map_init(Vec::new, |rows, of_track| pair_track(rows, of_track, None))
        .collect::<Result<_, Cancelled>>()?;
    // Rare: the calls of threads that 32-bit programs created are named anew.
    let programs = results.iter_mut().filter_map(|of| {
        let programs = std::mem::take(&mut of.programs);
        let TrackKind::Thread(thread) = track_number::kind_of(of.track, cpu_count) else {
            return None;
        };
        (!programs.is_empty()).then_some((thread.0, programs))
    });
    for thread in created_by_compat(programs.collect(), births) {
        let number = track_number::of_thread(thread, cpu_count);
        if let Ok(at) = tracks.binary_search_by_key(&number, |of| of.number) {
            results[at] = pair_track(&mut Vec::new(), &tracks[at], Some(Mode::Compat))?;
        }
    }
    drop(tracks);
    drop(parts);
    let compat = CompatNames {
        native: abi.unwrap_or_default(),
        pairs: &pairs,
        strings,
        labels,
    };
    compat.give_to(&mut results);
    join_families_of_calls(labels);

    let mut paired = Paired {
        tracks: Vec::new(),
        leftovers: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    for of_track in results {
        let PairedTrack {
            track,
            nested,
            leftovers,
            programs: _,
        } = of_track;
        let instants = leftovers.instants.iter();
        let instants = instants.map(|&event| TrackEvent { track, event });
        paired.leftovers.extend(instants);
        let unmatched = [
            (
                "unmatched_end",
                leftovers.unmatched_ends,
                "ends whose beginning was not seen; shown as instants",
            ),
            (
                "unmatched_begin",
                leftovers.unmatched_begins,
                "slices whose end is not recorded: their durations are not known",
            ),
            (
                "unfinished",
                leftovers.unfinished,
                "slices that were still open at the trace's end",
            ),
            (
                "slices_over_losses",
                leftovers.over_losses,
                "slices during which events or switches of their CPU are missing: the recorded end may belong to a later \
                 slice, so their durations are not known",
            ),
            (
                "undecided_syscall_names",
                leftovers.undecided,
                "system calls named by the machine's own table: calls of 32-bit programs have other numbers, \
                 and the recording does not distinguish them",
            ),
        ];
        for (code, count, message) in unmatched {
            if count > 0 {
                paired
                    .diagnostics
                    .note_many(code, Severity::Info, None, count, || message.to_owned());
            }
        }
        paired.tracks.push(Numbered {
            number: track,
            own: nested,
        });
    }
    Ok(paired)
}

/// Gives system calls that were recorded by number the family of those recorded by name.
fn join_families_of_calls(labels: &mut Streaks<SliceLabel>) {
    let mut first = 0;
    let mut raw = Vec::new();
    for (label, count) in labels.streaks() {
        if label.family == Family::RawSyscalls {
            raw.extend(
                (first..)
                    .zip(0..count as u32)
                    .map(|(at, steps)| (at, label.after(steps))),
            );
        }
        first += count;
    }
    for (at, label) in raw {
        let family = Family::Syscalls;
        labels.set(at, SliceLabel { family, ..label });
    }
}

/// Gives calls of 32-bit programs labels with the names of their numbers.
struct CompatNames<'a> {
    native: Abi,
    pairs: &'a LabelPairs,
    strings: &'a mut Strings,
    labels: &'a mut Streaks<SliceLabel>,
}

impl CompatNames<'_> {
    fn give_to(self, tracks: &mut [PairedTrack]) {
        let Some(compat) = self.native.compat() else {
            return;
        };
        let mut known: FxHashMap<u32, u32> = FxHashMap::default();
        let with_compat = tracks.iter_mut().filter(|of| of.leftovers.has_compat);
        for slice in with_compat.flat_map(|of| &mut of.nested.slices) {
            if slice.label & COMPAT == 0 {
                continue;
            }
            let raw = slice.label & !COMPAT;
            slice.label = *known.entry(raw).or_insert_with(|| {
                let number = match self.pairs.key(LabelId(raw)) {
                    NUMBER_ZERO => 0,
                    number => number,
                };
                let name = match syscalls::name(compat, number) {
                    Some(name) => self.strings.intern_text(name),
                    None => {
                        let text = format!("syscall {}", number.cast_signed());
                        self.strings.intern_text(&text)
                    }
                };
                let label = SliceLabel {
                    name,
                    ..self.labels.get(raw as usize).unwrap_or_default()
                };
                self.labels.push(label);
                self.labels.len() as u32 - 1
            });
        }
    }
}

/// Returns the time in ns after which no slice of a track's thread lasts: the thread's end, or its last event if that
/// is later. `None` if its end was not seen.
fn death_of(track: u32, threads: &[Thread], cpu_count: usize) -> Option<i64> {
    let TrackKind::Thread(id) = track_number::kind_of(track, cpu_count) else {
        return None;
    };
    let thread = threads.get(id.0 as usize)?;
    thread.end.map(|end| end.max(thread.seen.last).0)
}

/// Reused memory to group the rows of a part by track.
#[derive(Default)]
struct Sorter {
    marks: Groups<Row>,
    wholes: Groups<Whole>,
}

/// The rows of a part, grouped by track.
struct PartRows {
    marks: Sorted<Row>,
    wholes: Sorted<Whole>,
}

impl Sorter {
    /// Returns the marks and whole slices of a part, grouped by track number; `labels` are the trace's.
    fn sort_out(
        &mut self,
        part: &Part,
        recorded: &Recorded,
        labels: &Streaks<SliceLabel>,
        marks: &[Mark],
        completes: &[Complete],
    ) -> PartRows {
        let columns = recorded.columns(part);
        let threads = &recorded.events.threads;
        let cpu_count = recorded.cpus.len();
        let place_of = |id: LabelId| {
            labels
                .get(id.0 as usize)
                .unwrap_or_default()
                .family
                .rules()
                .place
        };
        let mut places: Vec<Place> = Vec::with_capacity(part.labels.len());
        while let Some(id) = part.labels.get(places.len()) {
            let most = part.labels.streak_from(places.len(), usize::MAX);
            let count = labels.streak_from(id.0 as usize, most).max(1);
            places.resize(places.len() + count, place_of(id));
        }
        // Neighbouring rows mostly have the same key: the thread of a unique key is looked up once.
        let mut last = (None, None);
        let mut track_of = |event: u32, place: Place| {
            let key = columns.thread(event);
            if place == Place::Cpu
                && let Some(cpu) = recorded.cpu(part, event)
            {
                return track_number::of_cpu(cpu);
            }
            if let (Some(ThreadKey::IDLE) | None, Some(cpu)) = (key, part.cpu) {
                return track_number::of_cpu(cpu);
            }
            if last.0 != key {
                let thread = threads.at(key, columns.time(event));
                if !threads.is_unique(key) {
                    return track_number::of_thread(thread, cpu_count);
                }
                last = (key, thread);
            }
            track_number::of_thread(last.1, cpu_count)
        };
        self.marks.reserve(marks.len());
        for mark in marks {
            let index = mark.label() as usize;
            let (Some(label), Some(&place)) = (part.labels.get(index), places.get(index)) else {
                continue;
            };
            let end = match mark.op() {
                MarkOp::Begin => 0,
                MarkOp::End => END,
                MarkOp::Over => OVER,
            };
            let row = Row {
                time: columns.time(mark.event).0,
                event: part.event(mark.event).0,
                packed: label.0 | end,
            };
            self.marks.push(track_of(mark.event, place), row);
        }
        self.wholes.reserve(completes.len());
        for row in completes {
            let index = (row.label & !UNSEEN_END) as usize;
            let (Some(label), Some(&place)) = (part.labels.get(index), places.get(index)) else {
                continue;
            };
            let whole = Whole {
                start: columns.time(row.event).0,
                duration: row.duration_ns.max(0),
                event: part.event(row.event).0,
                label: label.0 | row.label & UNSEEN_END,
            };
            self.wholes.push(track_of(row.event, place), whole);
        }
        PartRows {
            marks: self.marks.sorted(),
            wholes: self.wholes.sorted(),
        }
    }
}

/// Adds the slices that arrived whole, and sorts all by start. Slices of begins and ends keep their order: a slice that
/// was over before another began at the same time is not inside it.
fn add_wholes(drafts: &mut Vec<Draft>, wholes: &Pieces<'_, Whole>, ties: Ties) {
    let paired = drafts.len();
    drafts.reserve_exact(wholes.iter().map(|piece| piece.len()).sum());
    drafts.extend(wholes.iter().copied().flatten().map(|whole| Draft {
        start: whole.start,
        end: Maybe::new(whole.start.saturating_add(whole.duration)),
        is_unended: whole.label & UNSEEN_END != 0,
        label: whole.label & !UNSEEN_END,
        begin: whole.event,
        finish: Maybe::NONE,
    }));
    match ties {
        Ties::First => drafts.sort_by_key(|draft| (draft.start, draft.begin)),
        Ties::Longest if paired == 0 => {
            drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end), draft.begin));
        }
        Ties::Longest => {
            let ends = latest_ends(drafts, paired);
            let mut sorted: Vec<(Maybe<i64>, Draft)> =
                ends.into_iter().zip(drafts.drain(..)).collect();
            sorted.sort_by_key(|(end, draft)| (draft.start, std::cmp::Reverse(*end), draft.begin));
            drafts.extend(sorted.into_iter().map(|(_, draft)| draft));
        }
    }
}

/// Returns the end of each slice; for one of the first `paired`, which are sorted by start, the latest end of those that
/// begin at the same time, but not before it.
fn latest_ends(drafts: &[Draft], paired: usize) -> Vec<Maybe<i64>> {
    let mut ends: Vec<Maybe<i64>> = drafts.iter().map(|draft| draft.end).collect();
    for at in (1..paired).rev() {
        if drafts[at - 1].start == drafts[at].start {
            ends[at - 1] = ends[at - 1].max(ends[at]);
        }
    }
    ends
}
