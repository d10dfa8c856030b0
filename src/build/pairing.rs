//! Begins and ends of each track to slices.
//!
//! A begin writes its slice at once, in order of start; an end looks for the innermost open begin of its
//! family that it fits (see [`Matching`]) and closes it. Begins above that one have lost their ends: they
//! end where the one around them ends, which is the latest that can be true, or become instants where the
//! family says so. Only pairs of which both ends occur in the trace take part: a lone kprobe is a point.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::group::{Groups, Pieces, gather, in_order};
use super::merge::{Merged, MergedPart};
use super::nesting::{Draft, Nested, nest};
use super::{track_kind, track_number};
use crate::base::{Diagnostics, Severity};
use crate::event::pairs::{FAMILIES, Family, Matching, OpenBegin, Place};
use crate::event::{MarkOp, ThreadKey, Ties};
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
    let groups: Vec<(Groups<Row>, Groups<Whole>)> = merged
        .parts
        .par_iter()
        .map(|part| sort_out(part, merged, cpu_count))
        .collect();
    let has_wholes = |part: &&MergedPart| !part.rows.completes.is_empty();
    let wholes_of: Vec<Ties> = merged
        .parts
        .iter()
        .filter(has_wholes)
        .map(|part| part.rows.ties)
        .collect();
    for part in &mut merged.parts {
        part.rows.marks = Vec::new();
        part.rows.completes = Vec::new();
    }
    let (marks, wholes): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
    let mut with_wholes = wholes_of.iter();
    let ties = match with_wholes.all(|&ties| ties == Ties::First) {
        true => Ties::First,
        false => Ties::Longest,
    };
    let results: Vec<(u32, Nested, Leftovers)> = join(gather(marks), gather(wholes))
        .into_par_iter()
        .map(|(track, marks, wholes)| {
            let rows = in_order(marks, |row| row.time);
            let death = death_of(track, trace);
            let (mut drafts, leftovers) = pair(&rows, merged, death);
            drop(rows);
            if !wholes.is_empty() {
                drafts.extend(wholes.into_iter().flatten().map(|whole| Draft {
                    start: whole.start,
                    end: whole.start.saturating_add(whole.duration),
                    label: whole.label,
                    begin: whole.event,
                    finish: u32::MAX,
                }));
                match ties {
                    Ties::Longest => {
                        drafts.sort_by_key(|draft| (draft.start, std::cmp::Reverse(draft.end)));
                    }
                    Ties::First => drafts.sort_by_key(|draft| (draft.start, draft.begin)),
                }
            }
            (track, nest(&drafts), leftovers)
        })
        .collect();

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

/// Tracks that have begins and ends, whole slices, or both; sorted by track.
fn join(
    marks: Vec<(u32, Pieces<Row>)>,
    wholes: Vec<(u32, Pieces<Whole>)>,
) -> Vec<(u32, Pieces<Row>, Pieces<Whole>)> {
    let mut all: Vec<_> = marks
        .into_iter()
        .map(|(track, marks)| (track, marks, Pieces::new()))
        .collect();
    for (track, wholes) in wholes {
        match all.binary_search_by_key(&track, |row| row.0) {
            Ok(at) => all[at].2 = wholes,
            Err(at) => all.insert(at, (track, Pieces::new(), wholes)),
        }
    }
    all
}

fn sort_out(part: &MergedPart, merged: &Merged, cpu_count: usize) -> (Groups<Row>, Groups<Whole>) {
    let columns = &merged.events.segments()[part.segment as usize].columns;
    let mut groups = Groups::default();
    let families: Vec<Family> = part
        .rows
        .labels
        .iter()
        .map(|label| {
            FAMILIES
                .get(usize::from(label.family))
                .copied()
                .unwrap_or(FAMILIES[0])
        })
        .collect();
    let mut last = (ThreadKey::UNKNOWN, ThreadId::NONE);
    let mut track_of = |event: u32, family: Family| {
        let key = columns.thread(event);
        if let (Place::Cpu, Some(cpu)) = (family.place, part.cpu) {
            return track_number(TrackKind::Cpu(cpu), cpu_count);
        }
        if let (ThreadKey::IDLE, Some(cpu)) = (key, part.cpu) {
            return track_number(TrackKind::Cpu(cpu), cpu_count);
        }
        if !merged.events.threads.is_unique(key) {
            return track_number(
                TrackKind::Thread(merged.events.threads.at(key, columns.time(event))),
                cpu_count,
            );
        }
        if last.0 != key {
            last = (key, merged.events.threads.at(key, columns.time(event)));
        }
        track_number(TrackKind::Thread(last.1), cpu_count)
    };
    for mark in &part.rows.marks {
        let index = mark.label() as usize;
        let (Some(label), Some(&family)) = (part.label_map.get(index), families.get(index)) else {
            continue;
        };
        let end = match mark.op() {
            MarkOp::Begin => 0,
            MarkOp::End => END,
        };
        let track = track_of(mark.event, family);
        let (time, event) = (columns.time(mark.event).0, part.event(mark.event).0);
        groups.push(
            track,
            Row {
                time,
                event,
                packed: label.0 | end,
            },
        );
    }
    let mut wholes = Groups::default();
    for row in &part.rows.completes {
        let index = row.label as usize;
        let (Some(label), Some(&family)) = (part.label_map.get(index), families.get(index)) else {
            continue;
        };
        let track = track_of(row.event, family);
        let (start, event) = (columns.time(row.event).0, part.event(row.event).0);
        wholes.push(
            track,
            Whole {
                start,
                duration: row.duration_ns.max(0),
                event,
                label: label.0,
            },
        );
    }
    (groups, wholes)
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

struct Pairer<'a> {
    merged: &'a Merged,
    drafts: Vec<Draft>,
    /// Open begins of each family, innermost last.
    stacks: Vec<Vec<Open>>,
    /// How many open begins a pair number has.
    open_counts: FxHashMap<u32, u32>,
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

fn pair(rows: &[Row], merged: &Merged, death: Option<i64>) -> (Vec<Draft>, Leftovers) {
    let mut pairer = Pairer {
        merged,
        drafts: Vec::with_capacity(rows.len() / 2 + 1),
        stacks: FAMILIES.iter().map(|_| Vec::new()).collect(),
        open_counts: FxHashMap::default(),
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
        ..
    } = pairer;
    if leftovers.has_dropped {
        drafts.retain(|draft| draft.end != DROPPED);
    }
    (drafts, leftovers)
}

impl Pairer<'_> {
    fn family(&self, label: u32) -> (usize, Family) {
        let family = usize::from(
            self.merged
                .labels
                .get(label as usize)
                .map_or(0, |label| label.family),
        );
        (
            family.min(FAMILIES.len() - 1),
            FAMILIES[family.min(FAMILIES.len() - 1)],
        )
    }

    fn begin(&mut self, row: &Row) {
        let pair = self.merged.pair_of_label[row.label() as usize];
        let (number, family) = self.family(row.label());
        let can_end = match (family.matching, family.open) {
            (Matching::ByKey, OpenBegin::Instant) => self.merged.pair_has[pair as usize].end,
            _ => self.merged.family_has_end[number],
        };
        if !can_end {
            // Its ends were not recorded at all: it is a point, not the start of something.
            self.leftovers.instants.push(row.event);
            return;
        }
        if family.matching == Matching::OneAtATime
            && let Some(open) = self.stacks[number].pop()
        {
            self.lose_end(&open, row.time, family);
        }
        self.stacks[number].push(Open {
            draft: self.drafts.len() as u32,
            pair,
        });
        if family.matching == Matching::ByKey {
            *self.open_counts.entry(pair).or_insert(0) += 1;
        }
        self.drafts.push(Draft {
            start: row.time,
            end: i64::MAX,
            label: row.label(),
            begin: row.event,
            finish: u32::MAX,
        });
    }

    fn end(&mut self, row: &Row) {
        let pair = self.merged.pair_of_label[row.label() as usize];
        let (number, family) = self.family(row.label());
        let has = self.merged.pair_has[pair as usize];
        let is_open = match family.matching {
            Matching::Innermost => !self.stacks[number].is_empty(),
            Matching::OneAtATime => self.stacks[number]
                .last()
                .is_some_and(|open| open.pair == pair || has.is_any),
            Matching::ByKey => self.open_counts.get(&pair).is_some_and(|&count| count > 0),
        };
        if !is_open {
            if has.begin || family.matching != Matching::ByKey {
                self.leftovers.unmatched_ends += 1;
            }
            self.leftovers.instants.push(row.event);
            return;
        }
        while let Some(open) = self.stacks[number].pop() {
            if family.matching == Matching::ByKey {
                if let Some(count) = self.open_counts.get_mut(&open.pair) {
                    *count -= 1;
                }
                if open.pair != pair {
                    self.lose_end(&open, row.time, family);
                    continue;
                }
            }
            let draft = &mut self.drafts[open.draft as usize];
            draft.end = row.time.max(draft.start);
            draft.finish = row.event;
            return;
        }
    }

    /// An end around `open` came at `time`: its own was lost.
    fn lose_end(&mut self, open: &Open, time: i64, family: Family) {
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
        for (number, stack) in std::mem::take(&mut self.stacks).into_iter().enumerate() {
            for open in stack {
                match FAMILIES[number].open {
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
