//! Begins and ends of each track to slices.
//!
//! A begin writes its slice at once, in order of start; an end looks for the innermost open begin of its
//! family that it fits (see [`Matching`]) and closes it. Begins above that one have lost their ends: they are
//! drawn up to the end of the one around them, with an unknown duration, or become instants where the
//! family says so. A begin and an end between which events of their CPU were lost are a slice of unknown duration: the end
//! may be that of another. An end that finds no begin is an instant, or where it says how long its slice was, that slice.
//! Only pairs of which both ends occur in the trace take part: a lone kprobe is a point.

use std::mem::take;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::group::{Groups, Pieces, Sorted, gather, join_in_order, zip_by_number};
use super::measured::{Axis, MeasuredTable, is_told_by_end, of_lone_ends, place};
use super::merge::{Merged, MergedPart};
use super::nesting::{Draft, Nested, nest};
use super::scheduling::losses::{Losses, recorded_times};
use super::{track_kind, track_number};
use crate::base::{Diagnostics, Severity, StringId};
use crate::event::pairs::{
    FAMILIES, FUNCTIONS, Family, Matching, NUMBER_ZERO, OpenBegin, Place, RAW_SYSCALLS, SYSCALLS,
};
use crate::event::part::ClockUnit;
use crate::event::syscalls::{self, Abi};
use crate::event::{
    Complete, LoneBegins, Mark, MarkOp, Measured, NAMELESS_CALL, ThreadKey, Ties, UNSEEN_END,
};
use crate::trace::{CpuId, EventId, Events, SliceLabel, ThreadId, Trace, TrackKind};

/// What pairing gives.
pub struct Paired {
    /// Slices of each track, by track number.
    pub tracks: Vec<(u32, Nested)>,
    /// Marks that became points: (track number, event).
    pub leftover_instants: Vec<(u32, u32)>,
    /// Counts of unmatched begins and ends.
    pub diagnostics: Diagnostics,
}

/// A begin or end on its track, 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub time: i64,
    pub event: u32,
    /// Common label, with [`END`] or [`OVER`] if it is no begin, and [`COMPAT`].
    pub packed: u32,
}

/// It is an end.
pub(super) const END: u32 = 1 << 31;
/// The innermost that is open of the family is over: its end was lost.
pub(super) const OVER: u32 = 1 << 30;
/// A system call by the numbers of 32-bit programs: it has another name than its label.
pub(super) const COMPAT: u32 = 1 << 29;

impl Row {
    pub fn label(self) -> u32 {
        self.packed & !(END | OVER | COMPAT)
    }

    pub fn is_end(self) -> bool {
        self.packed & END != 0
    }
}

/// A slice that arrived whole.
#[derive(Clone, Copy)]
struct Whole {
    start: i64,
    duration: i64,
    event: u32,
    /// Common label, and [`UNSEEN_END`].
    label: u32,
}

/// See the module's text. Takes the marks out of the parts.
pub fn build_slices(merged: &mut Merged, trace: &Trace, abi: Option<Abi>) -> Paired {
    let cpu_count = trace.cpus.len();
    let rules = rules(merged);
    let measured = take(&mut merged.measured);
    let axis = match trace.info.clock_unit {
        ClockUnit::Nanoseconds => Axis::Nanos(trace.span),
        _ => Axis::OtherUnit,
    };
    let losses = Losses::new(merged, trace, &recorded_times(merged, trace));
    let ties = ties(merged);
    let take = |part: &mut MergedPart| {
        let rows = &mut part.rows;
        (take(&mut rows.marks), take(&mut rows.completes))
    };
    let taken: Vec<(Vec<Mark>, Vec<Complete>)> = merged.parts.iter_mut().map(take).collect();
    let shared: &Merged = merged;
    // What was sorted out of a part is all that is left of it: there are many.
    let parts: Vec<(Sorted<Row>, Sorted<Whole>)> = taken
        .into_par_iter()
        .zip(&shared.parts)
        .map_init(Default::default, |room, (rows, part)| {
            sort_out(part, rows, shared, cpu_count, room)
        })
        .collect();
    let marks = gather(parts.iter().map(|part| &part.0));
    let wholes = gather(parts.iter().map(|part| &part.1));
    let rows_of = |marks: &Pieces<'_, Row>, rows: &mut Vec<Row>| {
        join_in_order(marks, |row| row.time, rows);
    };
    let lost = Lost {
        losses: &losses,
        events: &shared.events,
    };
    let calls = Calls::new(shared, abi, &marks, |(_, marks), rows| rows_of(marks, rows));
    let mut results: Vec<(u32, Nested, Leftovers)> = zip_by_number(marks, wholes)
        .into_par_iter()
        .map_init(Vec::new, |rows, (track, marks, wholes)| {
            rows_of(&marks, rows);
            let resolved = calls.resolve(rows);
            let (mut drafts, mut leftovers) =
                pair(rows, &rules, (&measured, lost), death_of(track, trace));
            leftovers.instants.extend(resolved.points);
            leftovers.undecided = resolved.undecided;
            leftovers.has_compat = resolved.has_compat;
            let mut odd = FxHashMap::default();
            if !measured.is_empty() {
                let is_call = |label: u32| {
                    let label = shared.labels.get(label as usize);
                    label.is_some_and(|label| label.family == FUNCTIONS)
                };
                odd = place(&mut drafts, &measured, axis, is_call);
                if axis == Axis::OtherUnit {
                    of_lone_ends(&drafts, &measured, &mut odd);
                }
                drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
            }
            if !wholes.is_empty() {
                add_wholes(&mut drafts, &wholes, ties);
                add_drawn_otherwise(&wholes, &measured, &mut odd);
            }
            let mut nested = nest(drafts);
            if !odd.is_empty() {
                let slices = nested.slices.iter().zip(0_u32..);
                let known = slices.filter_map(|(draft, at)| Some((at, *odd.get(&draft.begin)?)));
                nested.measured = known.collect();
            }
            (track, nested, leftovers)
        })
        .collect();
    drop(parts);
    name_compat_calls(merged, abi.unwrap_or_default(), &mut results);
    for label in &mut merged.labels {
        if label.family == RAW_SYSCALLS {
            label.family = SYSCALLS;
        }
    }

    let mut paired = Paired {
        tracks: Vec::new(),
        leftover_instants: Vec::new(),
        diagnostics: Diagnostics::default(),
    };
    for (track, nested, leftovers) in results {
        paired
            .leftover_instants
            .extend(leftovers.instants.iter().map(|&event| (track, event)));
        let unmatched = [
            (
                "unmatched_end",
                leftovers.unmatched_ends,
                "ends whose beginning was not seen; shown as instants",
            ),
            (
                "unmatched_begin",
                leftovers.unmatched_begins,
                "slices whose end is not recorded: how long they lasted is not known",
            ),
            (
                "unfinished",
                leftovers.unfinished,
                "slices that were still open at the trace's end",
            ),
            (
                "slices_over_losses",
                leftovers.over_losses,
                "slices during which events of their CPU were lost: what ends there may have begun later, so that \
                 their durations are not known",
            ),
            (
                "undecided_syscall_names",
                leftovers.undecided,
                "system calls named by the machine's own table: nothing else was recorded that tells those of \
                 32-bit programs, which have other numbers",
            ),
        ];
        for (code, count, message) in unmatched {
            if count > 0 {
                paired
                    .diagnostics
                    .note_many(code, Severity::Info, None, count, || message.to_owned());
            }
        }
        paired.tracks.push((track, nested));
    }
    paired
}

/// Gives calls of 32-bit programs labels with the names of their numbers.
fn name_compat_calls(merged: &mut Merged, native: Abi, tracks: &mut [(u32, Nested, Leftovers)]) {
    let Some(compat) = native.compat() else {
        return;
    };
    let mut labels: FxHashMap<u32, u32> = FxHashMap::default();
    let with_compat = tracks.iter_mut().filter(|track| track.2.has_compat);
    for slice in with_compat.flat_map(|track| &mut track.1.slices) {
        if slice.label & COMPAT == 0 {
            continue;
        }
        let raw = slice.label & !COMPAT;
        slice.label = *labels.entry(raw).or_insert_with(|| {
            let number = match merged.label_keys[raw as usize] {
                NUMBER_ZERO => 0,
                number => number,
            };
            let name = match syscalls::name(compat, number) {
                Some(name) => merged.strings.intern_text(name),
                None => merged.strings.intern_text(&format!("syscall {number}")),
            };
            let label = SliceLabel {
                name,
                ..merged.labels[raw as usize]
            };
            merged.labels.push(label);
            merged.labels.len() as u32 - 1
        });
    }
}

/// The marks and whole slices of a part by track. The groups are room to work in.
fn sort_out(
    part: &MergedPart,
    (own_marks, completes): (Vec<Mark>, Vec<Complete>),
    merged: &Merged,
    cpu_count: usize,
    (marks, wholes): &mut (Groups<Row>, Groups<Whole>),
) -> (Sorted<Row>, Sorted<Whole>) {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let places: Vec<Place> = part
        .rows
        .labels
        .iter()
        .map(|label| family_of(label.family).1.place)
        .collect();
    let mut last = (ThreadKey::UNKNOWN, ThreadId::NONE);
    let mut track_of = |event: u32, place: Place| {
        let key = columns.thread(event);
        if let (Place::Cpu, Some(cpu)) = (place, part.cpu) {
            return track_number(TrackKind::Cpu(cpu), cpu_count);
        }
        if let (ThreadKey::IDLE | ThreadKey::UNKNOWN, Some(cpu)) = (key, part.cpu) {
            return track_number(TrackKind::Cpu(cpu), cpu_count);
        }
        if last.0 != key {
            let thread = merged.events.threads.at(key, columns.time(event));
            if !merged.events.threads.is_unique(key) {
                return track_number(TrackKind::Thread(thread), cpu_count);
            }
            last = (key, thread);
        }
        track_number(TrackKind::Thread(last.1), cpu_count)
    };
    marks.reserve(own_marks.len());
    for mark in &own_marks {
        let index = mark.label() as usize;
        let (Some(label), Some(&place)) = (part.label_map.get(index), places.get(index)) else {
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
        marks.push(track_of(mark.event, place), row);
    }
    wholes.reserve(completes.len());
    for row in &completes {
        let index = (row.label & !UNSEEN_END) as usize;
        let (Some(label), Some(&place)) = (part.label_map.get(index), places.get(index)) else {
            continue;
        };
        let whole = Whole {
            start: columns.time(row.event).0,
            duration: row.duration_ns.max(0),
            event: part.event(row.event).0,
            label: label.0 | row.label & UNSEEN_END,
        };
        wholes.push(track_of(row.event, place), whole);
    }
    (marks.sorted(), wholes.sorted())
}

fn family_of(number: u8) -> (usize, Family) {
    let number = usize::from(number);
    let number = if number < FAMILIES.len() { number } else { 0 };
    (number, FAMILIES[number])
}

/// Adds the slices that arrived whole.
fn add_wholes(drafts: &mut Vec<Draft>, wholes: &Pieces<'_, Whole>, ties: Ties) {
    drafts.reserve_exact(wholes.iter().map(|piece| piece.len()).sum());
    drafts.extend(wholes.iter().copied().flatten().map(|whole| Draft {
        start: whole.start,
        end: whole.start.saturating_add(whole.duration),
        is_unended: whole.label & UNSEEN_END != 0,
        label: whole.label & !UNSEEN_END,
        begin: whole.event,
        finish: u32::MAX,
    }));
    match ties {
        Ties::Longest => drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end))),
        Ties::First => drafts.sort_by_key(|draft| (draft.start, draft.begin)),
    }
}

/// Adds the measured durations of whole slices that are drawn otherwise, by event.
fn add_drawn_otherwise(
    wholes: &Pieces<'_, Whole>,
    measured: &MeasuredTable,
    odd: &mut FxHashMap<u32, i64>,
) {
    if measured.is_empty() {
        return;
    }
    let mut hint = 0;
    for whole in wholes.iter().copied().flatten() {
        if let Some(found) = measured.find(whole.event, &mut hint)
            && found.late == Measured::COMPLETE
            && found.duration_ns != whole.duration
        {
            odd.insert(whole.event, found.duration_ns);
        }
    }
}

/// Which of whole slices that start together is around the others.
fn ties(merged: &Merged) -> Ties {
    let has_wholes = |part: &&MergedPart| !part.rows.completes.is_empty();
    let mut with_wholes = merged.parts.iter().filter(has_wholes);
    match with_wholes.all(|part| part.rows.ties == Ties::First) {
        true => Ties::First,
        false => Ties::Longest,
    }
}

/// What begins and ends with a label do.
#[derive(Clone, Copy)]
struct Rule {
    /// Begins and ends with equal numbers pair.
    pair: u32,
    /// Index of its family.
    family: u8,
    /// Whether the trace has ends for its begins.
    can_end: bool,
    /// Whether the trace has begins for its ends.
    can_begin: bool,
    /// Whether its ends close whatever is open.
    is_any: bool,
    /// Of calls of a function: the only label that a begin has; else `u32::MAX`.
    call_label: u32,
    /// Of calls of a function: its name, where it is known.
    call_name: Option<StringId>,
}

/// By common label.
fn rules(merged: &Merged) -> Vec<Rule> {
    let mut parts = merged.parts.iter();
    let are_open = parts.any(|part| part.rows.lone_begins == LoneBegins::Open);
    let call_labels = call_labels(merged);
    let nameless = merged.strings.find(NAMELESS_CALL.as_bytes());
    let rule = |(label, &pair): (&crate::trace::SliceLabel, &u32)| {
        let (number, family) = family_of(label.family);
        // A thread is in one call, however that was recorded.
        let is_call = matches!(label.family, SYSCALLS | RAW_SYSCALLS);
        let has_end = |family: u8| merged.family_has_end[usize::from(family)];
        let has = merged.pair_has[pair as usize];
        Rule {
            pair,
            family: if is_call { SYSCALLS } else { number as u8 },
            can_end: match (family.matching, family.open) {
                (Matching::ByKey, OpenBegin::Instant) => has.end,
                // The file itself calls it a duration: without an end it is one that did not end.
                (Matching::Innermost, OpenBegin::Unfinished) => true,
                // The graph of functions as well.
                _ if label.family == FUNCTIONS => true,
                _ if is_call => are_open || has_end(SYSCALLS) || has_end(RAW_SYSCALLS),
                _ => are_open || merged.family_has_end[number],
            },
            can_begin: has.begin,
            is_any: has.is_any,
            call_name: (label.family == FUNCTIONS)
                .then_some(label.name)
                .filter(|&name| name != StringId::EMPTY && Some(name) != nameless),
            call_label: match label.family {
                FUNCTIONS => call_labels.get(&pair).copied().unwrap_or(u32::MAX),
                _ => u32::MAX,
            },
        }
    };
    let labels = merged.labels.iter().zip(&merged.pair_of_label);
    labels.map(rule).collect()
}

/// What calls are called whose ends have a pair number, where that is always the same.
fn call_labels(merged: &Merged) -> FxHashMap<u32, u32> {
    let mut labels: FxHashMap<u32, u32> = FxHashMap::default();
    let all = merged.labels.iter().zip(&merged.pair_of_label).zip(0..);
    for ((label, &pair), number) in all {
        if label.family == FUNCTIONS && label.name != StringId::EMPTY {
            let known = labels.entry(pair).or_insert(number);
            if *known != number {
                *known = u32::MAX;
            }
        }
    }
    labels
}

/// Where events were lost.
#[derive(Clone, Copy)]
struct Lost<'a> {
    losses: &'a Losses,
    events: &'a Events,
}

impl Lost<'_> {
    /// From when on events were lost between two that are to be a pair, on the CPU of either of them; `None`: never.
    fn first_between(&self, begin: (u32, i64), end: (u32, i64)) -> Option<i64> {
        if !self.losses.are_anywhere(begin.1, end.1) {
            return None;
        }
        let on_cpu_of = |event: u32| {
            let cpu = self.events.get(EventId(event)).cpu?;
            self.losses.first_on(CpuId(cpu), begin.1, end.1)
        };
        let (first, second) = (on_cpu_of(begin.0), on_cpu_of(end.0));
        first.into_iter().chain(second).min()
    }
}

#[derive(Default)]
struct Leftovers {
    instants: Vec<u32>,
    unmatched_ends: u64,
    unmatched_begins: u64,
    unfinished: u64,
    /// Pairs that were not seen to be one.
    over_losses: u64,
    /// See [`super::calls::Resolved`].
    undecided: u64,
    has_compat: bool,
    /// Some drafts are to be dropped.
    has_dropped: bool,
}

/// An open begin: its draft and what it pairs with.
struct Open {
    draft: u32,
    pair: u32,
}

/// Open begins of a family, innermost last.
#[derive(Default)]
struct Stack {
    open: Vec<Open>,
    /// How many open begins each pair number has, once that was asked while there were too many to look at.
    counts: Option<FxHashMap<u32, u32>>,
}

/// Up to so many open begins are looked at one by one.
const SHALLOW: usize = 16;

impl Stack {
    fn push(&mut self, open: Open) {
        if let Some(counts) = &mut self.counts {
            *counts.entry(open.pair).or_insert(0) += 1;
        }
        self.open.push(open);
    }

    fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        if let Some(counts) = &mut self.counts {
            if self.open.len() < SHALLOW / 2 {
                self.counts = None;
            } else if let Some(count) = counts.get_mut(&open.pair) {
                *count -= 1;
            }
        }
        Some(open)
    }

    fn holds(&mut self, pair: u32) -> bool {
        if self.open.len() <= SHALLOW {
            return self.open.iter().rev().any(|open| open.pair == pair);
        }
        let counts = self.counts.get_or_insert_with(|| {
            let mut counts = FxHashMap::default();
            for open in &self.open {
                *counts.entry(open.pair).or_insert(0) += 1;
            }
            counts
        });
        counts.get(&pair).is_some_and(|&count| count > 0)
    }
}

/// The begins and ends of a track on their way to slices.
struct Pairer<'a> {
    rules: &'a [Rule],
    measured: &'a MeasuredTable,
    /// Where the last measured duration was found.
    hint: usize,
    lost: Lost<'a>,
    drafts: Vec<Draft>,
    /// Whether some drafts are not in order of start.
    is_unsorted: bool,
    /// Open begins of each family that has some.
    stacks: Vec<(u8, Stack)>,
    leftovers: Leftovers,
}

/// A draft with this end is to be dropped: its event became an instant.
const DROPPED: i64 = i64::MIN;

/// When the thread of a track was last seen, if its end was seen: nothing of it lasts longer.
fn death_of(track: u32, trace: &Trace) -> Option<i64> {
    let TrackKind::Thread(id) = track_kind(track, trace.cpus.len()) else {
        return None;
    };
    let thread = trace.threads.get(id.0 as usize)?;
    thread.end.map(|end| end.max(thread.seen.1).0)
}

fn pair(
    rows: &[Row],
    rules: &[Rule],
    (measured, lost): (&MeasuredTable, Lost<'_>),
    death: Option<i64>,
) -> (Vec<Draft>, Leftovers) {
    let begins = rows
        .iter()
        .filter(|row| row.packed & (END | OVER) == 0)
        .count();
    let mut pairer = Pairer {
        rules,
        measured,
        lost,
        hint: 0,
        is_unsorted: false,
        drafts: Vec::with_capacity(begins),
        stacks: Vec::new(),
        leftovers: Leftovers::default(),
    };
    for row in rows {
        match row.packed & (END | OVER) {
            0 => pairer.begin(row),
            OVER => pairer.over(row),
            _ => pairer.end(row),
        }
    }
    pairer.close_all(death);
    let Pairer {
        mut drafts,
        leftovers,
        is_unsorted,
        ..
    } = pairer;
    if leftovers.has_dropped {
        drafts.retain(|draft| draft.end != DROPPED);
    }
    if is_unsorted {
        // Slices that only their ends tell of come first, the longest before the others; begins keep their order.
        drafts.sort_by_key(|draft| {
            let told_by_end = is_told_by_end(draft).then_some(draft.end);
            (draft.start, std::cmp::Reverse(told_by_end))
        });
    }
    (drafts, leftovers)
}

impl Pairer<'_> {
    fn stack(&mut self, family: u8) -> &mut Stack {
        let at = self.stacks.iter().position(|(own, _)| *own == family);
        let at = at.unwrap_or_else(|| {
            self.stacks.push((family, Stack::default()));
            self.stacks.len() - 1
        });
        &mut self.stacks[at].1
    }

    fn begin(&mut self, row: &Row) {
        let rule = self.rules[row.label() as usize];
        let family = &FAMILIES[usize::from(rule.family)];
        if !rule.can_end {
            // Its ends were not recorded at all: it is a point, not the start of something.
            self.leftovers.instants.push(row.event);
            return;
        }
        if family.matching == Matching::OneAtATime
            && let Some(open) = self.stack(rule.family).pop()
        {
            self.lose_end(&open, row.time, family);
        }
        if family.matching == Matching::Once && self.stack(rule.family).holds(rule.pair) {
            while let Some(open) = self.stack(rule.family).pop() {
                self.lose_end(&open, row.time, family);
                if open.pair == rule.pair {
                    break;
                }
            }
        }
        let open = Open {
            draft: self.drafts.len() as u32,
            pair: rule.pair,
        };
        self.stack(rule.family).push(open);
        self.drafts.push(Draft {
            start: row.time,
            end: i64::MAX,
            is_unended: false,
            label: row.label() | row.packed & COMPAT,
            begin: row.event,
            finish: u32::MAX,
        });
    }

    fn over(&mut self, row: &Row) {
        let family = self.rules[row.label() as usize].family;
        // Innermost first, as ends are: our own exporter writes one for each.
        if let Some(open) = self.stack(family).pop() {
            self.lose_end(&open, row.time, &FAMILIES[usize::from(family)]);
        }
    }

    fn end(&mut self, row: &Row) {
        let rule = self.rules[row.label() as usize];
        let pair = rule.pair;
        let family = &FAMILIES[usize::from(rule.family)];
        let stack = self.stack(rule.family);
        let is_open = match family.matching {
            Matching::Innermost => !stack.open.is_empty(),
            Matching::OneAtATime => stack
                .open
                .last()
                .is_some_and(|open| open.pair == pair || rule.is_any),
            Matching::ByKey | Matching::Once => stack.holds(pair),
        };
        if !is_open || self.is_of_another(row, &rule) {
            let stated = self.measured.label(row.event);
            let stated = stated.or(Some(rule.call_label).filter(|&label| label != u32::MAX));
            if let Some(label) = stated
                && let Some(found) = self.measured.find(row.event, &mut self.hint)
            {
                let late = self.measured.lateness(&found).unwrap_or(0);
                let end = row.time.saturating_sub(late.into());
                let drawn = match self.measured.is_in_nanos {
                    true => found.duration_ns,
                    false => 0,
                };
                self.is_unsorted = true;
                self.drafts.push(Draft {
                    start: end.saturating_sub(drawn),
                    end,
                    is_unended: false,
                    label,
                    begin: row.event,
                    finish: u32::MAX,
                });
                return;
            }
            let is_keyed = matches!(family.matching, Matching::ByKey | Matching::Once);
            if rule.can_begin || !is_keyed {
                self.leftovers.unmatched_ends += 1;
            }
            self.leftovers.instants.push(row.event);
            return;
        }
        while let Some(open) = self.stack(rule.family).pop() {
            let is_keyed = matches!(family.matching, Matching::ByKey | Matching::Once);
            if is_keyed && open.pair != pair {
                self.lose_end(&open, row.time, family);
                continue;
            }
            let is_measured = !self.lost.losses.is_empty()
                && (self.measured.find(row.event, &mut self.hint)).is_some();
            let draft = &mut self.drafts[open.draft as usize];
            draft.end = row.time.max(draft.start);
            draft.finish = row.event;
            // It may be the end of another one, of which the begin is lost.
            let ends = ((draft.begin, draft.start), (row.event, row.time));
            if !is_measured && self.lost.first_between(ends.0, ends.1).is_some() {
                draft.is_unended = true;
                self.leftovers.over_losses += 1;
            }
            return;
        }
    }

    /// Whether the return of a call may be that of another one than of the call that is open: events were lost, and its own
    /// call has another name, or began when they were.
    fn is_of_another(&mut self, row: &Row, rule: &Rule) -> bool {
        if self.lost.losses.is_empty() || rule.family != FUNCTIONS {
            return false;
        }
        let open = self.stack(rule.family).open.iter().rev();
        let mut drafts = open
            .filter(|open| open.pair == rule.pair)
            .map(|open| open.draft);
        let Some(draft) = drafts.next() else {
            return false;
        };
        let draft = self.drafts[draft as usize];
        let lost = self
            .lost
            .first_between((draft.begin, draft.start), (row.event, row.time));
        let Some(lost_from) = lost else {
            return false;
        };
        let stated = self.measured.label(row.event);
        let stated = stated.and_then(|label| self.rules.get(label as usize)?.call_name);
        let own = self.rules.get(draft.label as usize);
        let own = own.and_then(|rule| rule.call_name);
        if stated.is_some_and(|name| own.is_some_and(|own| own != name)) {
            return true;
        }
        let measured = self.measured.find(row.event, &mut self.hint);
        measured.is_some_and(|found| self.measured.latest_begin(&found, row.time) > lost_from)
    }

    /// Something at `time` proves that `open` is over: its end was lost.
    fn lose_end(&mut self, open: &Open, time: i64, family: &Family) {
        self.leftovers.unmatched_begins += 1;
        let draft = &mut self.drafts[open.draft as usize];
        match family.open {
            OpenBegin::Unfinished => {
                draft.end = time.max(draft.start);
                draft.is_unended = true;
            }
            OpenBegin::Instant => {
                self.leftovers.instants.push(draft.begin);
                self.leftovers.has_dropped = true;
                draft.end = DROPPED;
            }
        }
    }

    /// The trace is over, or the thread's life was.
    fn close_all(&mut self, death: Option<i64>) {
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.sort_by_key(|(family, _)| *family);
        for (family, stack) in stacks {
            let family = &FAMILIES[usize::from(family)];
            for open in stack.open {
                match family.open {
                    OpenBegin::Unfinished => match death {
                        Some(death) => {
                            let draft = &mut self.drafts[open.draft as usize];
                            draft.end = death.max(draft.start);
                            draft.is_unended = true;
                        }
                        None => self.leftovers.unfinished += 1,
                    },
                    OpenBegin::Instant => {
                        self.leftovers.unmatched_begins += 1;
                        let draft = &mut self.drafts[open.draft as usize];
                        self.leftovers.instants.push(draft.begin);
                        self.leftovers.has_dropped = true;
                        draft.end = DROPPED;
                    }
                }
            }
        }
    }
}
