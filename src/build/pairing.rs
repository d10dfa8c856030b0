//! Begins and ends of each track to slices.
//!
//! A begin writes its slice at once, in order of start; an end looks for the innermost open begin of its
//! family that it fits (see [`Matching`]) and closes it. Begins above that one have lost their ends: they
//! end where the one around them ends, which is the latest that can be true, or become instants where the
//! family says so. An end that finds no begin is an instant, or where it says how long its slice was, that slice.
//! Only pairs of which both ends occur in the trace take part: a lone kprobe is a point.

use std::mem::take;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::group::{Groups, Pieces, Sorted, gather, join_in_order, zip_by_number};
use super::merge::{Merged, MergedPart};
use super::nesting::{Draft, Nested, nest};
use super::{track_kind, track_number};
use crate::base::{Diagnostics, Severity};
use crate::event::pairs::{FAMILIES, FUNCTIONS, Family, Matching, OpenBegin, Place};
use crate::event::{Complete, Mark, MarkOp, ThreadKey, Ties};
use crate::trace::{ThreadId, Trace, TrackKind};

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
struct Row {
    time: i64,
    event: u32,
    /// Common label, and [`END`] if it is an end.
    packed: u32,
}

const END: u32 = 1 << 31;

impl Row {
    fn label(self) -> u32 {
        self.packed & !END
    }
}

/// A slice that arrived whole.
#[derive(Clone, Copy)]
struct Whole {
    start: i64,
    duration: i64,
    event: u32,
    label: u32,
}

/// See the module's text. Takes the marks out of the parts.
pub fn build_slices(merged: &mut Merged, trace: &Trace) -> Paired {
    let cpu_count = trace.cpus.len();
    let rules = rules(merged);
    let stated = stated(merged);
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
    let results: Vec<(u32, Nested, Leftovers)> = zip_by_number(marks, wholes)
        .into_par_iter()
        .map_init(Vec::new, |rows, (track, marks, wholes)| {
            join_in_order(&marks, |row| row.time, rows);
            let (mut drafts, leftovers) = pair(rows, &rules, &stated, death_of(track, trace));
            if !wholes.is_empty() {
                add_wholes(&mut drafts, &wholes, ties);
            }
            (track, nest(drafts), leftovers)
        })
        .collect();
    drop(parts);

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
                "beginnings whose end was lost",
            ),
            (
                "unfinished",
                leftovers.unfinished,
                "slices that were still open at the trace's end",
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
        let index = row.label as usize;
        let (Some(label), Some(&place)) = (part.label_map.get(index), places.get(index)) else {
            continue;
        };
        let whole = Whole {
            start: columns.time(row.event).0,
            duration: row.duration_ns.max(0),
            event: part.event(row.event).0,
            label: label.0,
        };
        wholes.push(track_of(row.event, place), whole);
    }
    (marks.sorted(), wholes.sorted())
}

/// What ends say of their slices, by event: label and length.
type Stated = FxHashMap<u32, (u32, i64)>;

/// Takes it out of the parts.
fn stated(merged: &mut Merged) -> Stated {
    let mut all = Stated::default();
    for part in &mut merged.parts {
        for row in take(&mut part.rows.stated) {
            if let Some(label) = part.label_map.get(row.label as usize) {
                let length = row.duration_ns.max(0);
                all.insert(part.event(row.event).0, (label.0, length));
            }
        }
    }
    all
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
        label: whole.label,
        begin: whole.event,
        finish: u32::MAX,
    }));
    match ties {
        Ties::Longest => drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end))),
        Ties::First => drafts.sort_by_key(|draft| (draft.start, draft.begin)),
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
}

/// By common label.
fn rules(merged: &Merged) -> Vec<Rule> {
    let rule = |(label, &pair): (&crate::trace::SliceLabel, &u32)| {
        let (number, family) = family_of(label.family);
        let has = merged.pair_has[pair as usize];
        Rule {
            pair,
            family: number as u8,
            can_end: match (family.matching, family.open) {
                (Matching::ByKey, OpenBegin::Instant) => has.end,
                // The file itself calls it a duration: without an end it is one that did not end.
                (Matching::Innermost, OpenBegin::Unfinished) => true,
                // The graph of functions as well.
                _ if label.family == FUNCTIONS => true,
                _ => merged.family_has_end[number],
            },
            can_begin: has.begin,
            is_any: has.is_any,
        }
    };
    let labels = merged.labels.iter().zip(&merged.pair_of_label);
    labels.map(rule).collect()
}

#[derive(Default)]
struct Leftovers {
    instants: Vec<u32>,
    unmatched_ends: u64,
    unmatched_begins: u64,
    unfinished: u64,
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
    stated: &'a Stated,
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
    stated: &Stated,
    death: Option<i64>,
) -> (Vec<Draft>, Leftovers) {
    let begins = rows.iter().filter(|row| row.packed & END == 0).count();
    let mut pairer = Pairer {
        rules,
        stated,
        is_unsorted: false,
        drafts: Vec::with_capacity(begins),
        stacks: Vec::new(),
        leftovers: Leftovers::default(),
    };
    for row in rows {
        if row.packed & END == 0 {
            pairer.begin(row);
        } else {
            pairer.end(row);
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
        drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
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
        let open = Open {
            draft: self.drafts.len() as u32,
            pair: rule.pair,
        };
        self.stack(rule.family).push(open);
        self.drafts.push(Draft {
            start: row.time,
            end: i64::MAX,
            label: row.label(),
            begin: row.event,
            finish: u32::MAX,
        });
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
            Matching::ByKey => stack.holds(pair),
        };
        if !is_open {
            if let Some(&(label, length)) = self.stated.get(&row.event) {
                self.is_unsorted = true;
                self.drafts.push(Draft {
                    start: row.time.saturating_sub(length),
                    end: row.time,
                    label,
                    begin: row.event,
                    finish: u32::MAX,
                });
                return;
            }
            if rule.can_begin || family.matching != Matching::ByKey {
                self.leftovers.unmatched_ends += 1;
            }
            self.leftovers.instants.push(row.event);
            return;
        }
        while let Some(open) = self.stack(rule.family).pop() {
            if family.matching == Matching::ByKey && open.pair != pair {
                self.lose_end(&open, row.time, family);
                continue;
            }
            let draft = &mut self.drafts[open.draft as usize];
            draft.end = row.time.max(draft.start);
            draft.finish = row.event;
            return;
        }
    }

    /// An end around `open` came at `time`: its own was lost.
    fn lose_end(&mut self, open: &Open, time: i64, family: &Family) {
        self.leftovers.unmatched_begins += 1;
        let draft = &mut self.drafts[open.draft as usize];
        match family.open {
            OpenBegin::Unfinished => draft.end = time.max(draft.start),
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
