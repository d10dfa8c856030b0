//! Decides which end closes which begin. Input: the begins and ends of one track. Output: its slices.

use super::super::draft::Draft;
use super::super::measured::{MeasuredTable, is_placed_by_end};
use super::super::whereabouts::{Missing, WaitsOverLosses};
use super::depths::{Depths, Inside};
use super::named::NamedBegins;
use super::row::{COMPAT, END, OVER, Row};
use super::rules::Rule;
use super::stack::{Open, Stack};
use crate::base::Maybe;
use crate::base::streaks::Streaks;
use crate::event::KindId;
use crate::event::family::{Family, Matching, OpenBegin, Rules};
use crate::trace::{CpuId, EventId, Events};
use rustc_hash::{FxHashMap, FxHashSet};

/// An event and its time.
#[derive(Clone, Copy)]
struct Moment {
    event: u32,
    time: i64,
}

impl Moment {
    fn of(row: &Row) -> Moment {
        Moment {
            event: row.event,
            time: row.time,
        }
    }

    fn begin_of(draft: &Draft) -> Moment {
        Moment {
            event: draft.begin,
            time: draft.start,
        }
    }
}

/// Answers whether events were lost between two events.
#[derive(Clone, Copy)]
pub(super) struct LostEvents<'a> {
    pub(super) missing: Missing<'a>,
    pub(super) waits: &'a WaitsOverLosses,
    pub(super) events: &'a Events,
}

impl LostEvents<'_> {
    /// Returns whether no events are missing.
    fn is_empty(&self) -> bool {
        let Missing {
            losses,
            whereabouts,
        } = self.missing;
        losses.is_empty() && whereabouts.is_empty() && self.waits.is_empty()
    }

    /// Returns the time in ns from which events were lost between a begin and an end, on the CPU of either or on one to
    /// which the begin's thread was sent meanwhile, or may have been taken while it waited for a CPU; `None` if none were
    /// lost.
    fn first_between(&self, begin: Moment, end: Moment) -> Option<i64> {
        let Missing {
            losses,
            whereabouts,
        } = self.missing;
        let elsewhere = || {
            let thread = self.events.thread(EventId(begin.event))?;
            let sent = whereabouts.first_lost(losses, thread, begin.time, end.time);
            let taken = self.waits.first(thread, begin.time, end.time);
            sent.into_iter().chain(taken).min()
        };
        let may_be_elsewhere = !whereabouts.is_empty() || !self.waits.is_empty();
        let elsewhere = may_be_elsewhere.then(elsewhere).flatten();
        if !losses.are_anywhere(begin.time, end.time) {
            return elsewhere;
        }
        let on_cpu_of = |event: u32| {
            let cpu = self.events.get(EventId(event)).cpu?;
            losses.first_on(CpuId(cpu), begin.time, end.time)
        };
        let (first, second) = (on_cpu_of(begin.event), on_cpu_of(end.event));
        let all = first.into_iter().chain(second).chain(elsewhere);
        all.min()
    }
}

/// Marks that are in no slice, and counts of slices that are uncertain.
#[derive(Default)]
pub(super) struct Leftovers {
    pub(super) instants: Vec<u32>,
    pub(super) unmatched_ends: u64,
    pub(super) unmatched_begins: u64,
    pub(super) unfinished: u64,
    /// Pairs that are uncertain, as events were lost between begin and end.
    pub(super) over_losses: u64,
    /// Of calls of traced functions whose returns were lost: their first events, each with the event that shows that the
    /// call is over.
    pub(super) over_by: FxHashMap<u32, u32>,
    /// See [`super::calls::Resolved`].
    pub(super) undecided: u64,
    pub(super) has_compat: bool,
}

/// The state of pairing the marks of one track.
struct Pairer<'a> {
    rules: &'a Streaks<Rule>,
    measured: &'a MeasuredTable,
    /// Position in `measured` of the last duration found.
    hint: usize,
    lost: LostEvents<'a>,
    drafts: Vec<Draft>,
    /// Whether some drafts are not in order of start.
    is_unsorted: bool,
    /// The open begins of each family that has had any.
    stacks: Vec<(Family, Stack)>,
    /// The open begins of the family whose ends name them.
    named: NamedBegins,
    depths: &'a Depths,
    inside: Inside,
    twins: Twins,
    leftovers: Leftovers,
}

/// What is known of several probes at the entry or the return of one function.
#[derive(Default)]
struct Twins {
    /// The labels of two probes at one entry: of the one that is first, and of the other.
    order: FxHashSet<(u32, u32)>,
    /// The pair number of the call that returned last, if nothing of that function began since.
    returned: Option<u32>,
    /// The kinds of events that recorded this return.
    returns: Vec<KindId>,
}

impl Twins {
    /// Adds a begin of a function; `before` is the begin that is open around it, if it is of the same function.
    fn begin(&mut self, pair: u32, label: u32, before: Option<u32>) {
        if self.returned == Some(pair) {
            self.returned = None;
        }
        if let Some(before) = before.filter(|&before| before != label)
            && !self.order.contains(&(label, before))
        {
            self.order.insert((before, label));
        }
    }

    /// Adds a return of a function. Returns whether another probe has recorded the same one.
    fn is_known_return(&mut self, pair: u32, kind: KindId) -> bool {
        let is_known = self.returned == Some(pair) && !self.returns.contains(&kind);
        if !is_known {
            self.returned = Some(pair);
            self.returns.clear();
        }
        self.returns.push(kind);
        is_known
    }
}

/// An event of a traced function which proves that calls of its thread are over.
#[derive(Clone, Copy)]
struct Proof {
    /// Calls at this depth or deeper are over.
    depth: u32,
    /// The event.
    event: u32,
    /// The event's time, in ns.
    time: i64,
    /// For a return without an entry: when its call began, in ns.
    begun: Option<i64>,
}

/// The input of [`pair`] besides the marks.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// The rule of each label.
    pub(super) rules: &'a Streaks<Rule>,
    pub(super) measured: &'a MeasuredTable,
    pub(super) depths: &'a Depths,
    pub(super) lost: LostEvents<'a>,
    /// The time in ns after which no slice of the track's thread lasts; `None` if the thread's end was not seen.
    pub(super) death: Option<i64>,
}

/// The result of pairing the marks of a track.
pub(super) struct PairedMarks {
    /// The slices, sorted by start.
    pub(super) drafts: Vec<Draft>,
    pub(super) leftovers: Leftovers,
}

/// Returns whether a family's begins and ends are probes of functions.
fn is_of_probes(family: Family) -> bool {
    matches!(family, Family::Kprobes | Family::Uprobes)
}

/// Returns the slices of a track; `rows` are its marks in order of time.
pub(super) fn pair(rows: &[Row], known: Known<'_>) -> PairedMarks {
    let begins = rows
        .iter()
        .filter(|row| row.packed & (END | OVER) == 0)
        .count();
    let mut pairer = Pairer {
        rules: known.rules,
        measured: known.measured,
        lost: known.lost,
        hint: 0,
        is_unsorted: false,
        drafts: Vec::with_capacity(begins),
        stacks: Vec::new(),
        named: NamedBegins::default(),
        depths: known.depths,
        inside: Inside::default(),
        twins: Twins::default(),
        leftovers: Leftovers::default(),
    };
    for row in rows {
        match row.packed & (END | OVER) {
            0 => pairer.begin(row),
            OVER => pairer.over(row),
            _ => pairer.end(row),
        }
    }
    pairer.close_all(rows, known.death);
    let Pairer {
        mut drafts,
        leftovers,
        is_unsorted,
        ..
    } = pairer;
    if is_unsorted {
        // Slices whose begins are lost come before others with the same start, the longest first; the other slices keep
        // their order.
        drafts.sort_by_key(|draft| {
            let placed_by_end = is_placed_by_end(draft).then_some(draft.end);
            (draft.start, std::cmp::Reverse(placed_by_end))
        });
    }
    PairedMarks { drafts, leftovers }
}

impl Pairer<'_> {
    fn stack(&mut self, family: Family) -> &mut Stack {
        let at = self.stacks.iter().position(|(own, _)| *own == family);
        let at = at.unwrap_or_else(|| {
            self.stacks.push((family, Stack::default()));
            self.stacks.len() - 1
        });
        &mut self.stacks[at].1
    }

    #[inline]
    fn rule(&self, row: &Row) -> Rule {
        self.rules.get(row.label() as usize).unwrap_or_default()
    }

    fn begin(&mut self, row: &Row) {
        let rule = self.rule(row);
        let family = rule.family.rules();
        if !rule.can_end {
            // No end of this kind was recorded at all: the begin is an instant.
            self.leftovers.instants.push(row.event);
            return;
        }
        if family.matching == Matching::OneAtATime
            && let Some(open) = self.stack(rule.family).pop()
        {
            self.lose_end(open.draft, row.time, family);
        }
        if family.matching == Matching::Once && self.stack(rule.family).holds(rule.pair) {
            while let Some(open) = self.stack(rule.family).pop() {
                self.lose_end(open.draft, row.time, family);
                if open.pair == rule.pair {
                    break;
                }
            }
        }
        let depth = match rule.family {
            Family::Functions => self.inside.enter(self.depths, row.event),
            _ => None,
        };
        if let Some(depth) = depth {
            let proof = Proof {
                depth,
                event: row.event,
                time: row.time,
                begun: None,
            };
            self.close_deeper(proof, family);
        }
        if is_of_probes(rule.family) {
            let around = self.stack(rule.family).open.last();
            let around = around.filter(|open| open.pair == rule.pair);
            let around = around.map(|open| open.draft as usize);
            let before = around.map(|draft| self.drafts[draft].label);
            self.twins.begin(rule.pair, row.label(), before);
        }
        let draft = self.drafts.len() as u32;
        match family.matching {
            Matching::ByName => self.named.push(draft, rule.names),
            _ => self.stack(rule.family).push(Open {
                draft,
                pair: rule.pair,
                depth,
            }),
        }
        self.drafts.push(Draft {
            start: row.time,
            end: Maybe::NONE,
            is_unended: false,
            label: row.label() | row.packed & COMPAT,
            begin: row.event,
            finish: Maybe::NONE,
        });
    }

    fn over(&mut self, row: &Row) {
        let rule = self.rule(row);
        let family = rule.family;
        if family.rules().matching == Matching::ByName {
            if let Some(draft) = self.named.close(rule.names, row.time) {
                self.lose_end(draft, row.time, family.rules());
            }
            return;
        }
        // Innermost first, as for ends: our own exporter writes one such mark for each open slice.
        if let Some(open) = self.stack(family).pop() {
            self.lose_end(open.draft, row.time, family.rules());
        }
    }

    fn end(&mut self, row: &Row) {
        let rule = self.rule(row);
        let pair = rule.pair;
        let family = rule.family.rules();
        if family.matching == Matching::ByName {
            match self.named.close(rule.names, row.time) {
                Some(draft) => self.finish(draft, row),
                None => {
                    self.leftovers.unmatched_ends += 1;
                    self.leftovers.instants.push(row.event);
                }
            }
            return;
        }
        if is_of_probes(rule.family) {
            let kind = self.lost.events.kind(EventId(row.event));
            if self.twins.is_known_return(rule.pair, kind) {
                self.leftovers.instants.push(row.event);
                return;
            }
        }
        let depth = match rule.family {
            Family::Functions => self.inside.leave(self.depths, row.event),
            _ => None,
        };
        let is_open = self.closes_open(row, &rule, depth);
        let lone = match is_open {
            true => None,
            false => self.of_lone_end(row, &rule),
        };
        if let Some(depth) = depth {
            let proof = Proof {
                depth: depth.saturating_add(is_open.into()),
                event: row.event,
                time: row.time,
                begun: lone.map(|draft| draft.start),
            };
            self.close_deeper(proof, family);
        }
        if !is_open {
            if let Some(draft) = lone {
                self.is_unsorted = true;
                self.drafts.push(draft);
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
                self.lose_end(open.draft, row.time, family);
                continue;
            }
            self.finish(open.draft, row);
            if is_of_probes(rule.family) {
                self.finish_twins(open.draft, &rule, row);
            }
            return;
        }
    }

    /// Gives the other open begins of a call its end: several probes may be at the entry of one function, always in the
    /// same order.
    fn finish_twins(&mut self, closed: u32, rule: &Rule, row: &Row) {
        let mut last = self.drafts[closed as usize].label;
        while let Some(open) = self.stack(rule.family).open.last() {
            let (draft, is_same) = (open.draft, open.pair == rule.pair);
            let label = self.drafts[draft as usize].label;
            if !is_same || !self.twins.order.contains(&(label, last)) {
                return;
            }
            last = label;
            self.stack(rule.family).pop();
            self.finish(draft, row);
        }
    }

    /// Returns whether an end closes an open begin; `depth` is that of a traced function, if it is known.
    fn closes_open(&mut self, row: &Row, rule: &Rule, depth: Option<u32>) -> bool {
        let pair = rule.pair;
        let stack = self.stack(rule.family);
        let of_depth = depth.and_then(|depth| {
            let mut around = stack.open.iter().rev();
            let here = around.find(|open| open.depth.is_none_or(|own| own <= depth))?;
            here.depth.map(|own| (here, own == depth))
        });
        if let Some((here, is_its_depth)) = of_depth {
            // A slice of the same function further out belongs to another call.
            let (draft, is_own) = (here.draft, is_its_depth && here.pair == pair);
            return is_own && !self.is_of_another(row, draft);
        }
        let is_open = match rule.family.rules().matching {
            Matching::Innermost | Matching::ByName => !stack.open.is_empty(),
            Matching::OneAtATime => stack
                .open
                .last()
                .is_some_and(|open| open.pair == pair || rule.is_any),
            Matching::ByKey | Matching::Once => stack.holds(pair),
        };
        if !is_open || self.lost.is_empty() || rule.family != Family::Functions {
            return is_open;
        }
        let mut open = self.stack(rule.family).open.iter().rev();
        let draft = open.find(|open| open.pair == pair).map(|open| open.draft);
        !draft.is_some_and(|draft| self.is_of_another(row, draft))
    }

    /// Returns the slice of an end without a begin, if the end states a duration.
    fn of_lone_end(&mut self, row: &Row, rule: &Rule) -> Option<Draft> {
        let stated = self.measured.label(row.event);
        let label = stated.or(rule.call_label)?;
        let found = self.measured.find(row.event, &mut self.hint)?;
        let late = self.measured.lateness(&found).unwrap_or(0);
        let end = row.time.saturating_sub(late.into());
        let drawn = match self.measured.is_in_nanos {
            true => found.duration_ns,
            false => 0,
        };
        Some(Draft {
            start: end.saturating_sub(drawn),
            end: Maybe::new(end),
            is_unended: false,
            label,
            begin: row.event,
            finish: Maybe::NONE,
        })
    }

    /// Closes the open calls of traced functions that a proof shows to be over. Calls whose depth is not known stay
    /// open.
    fn close_deeper(&mut self, proof: Proof, family: Rules) {
        loop {
            let stack = self.stack(Family::Functions);
            let last = stack.open.last().and_then(|open| open.depth);
            if last.is_none_or(|depth| depth < proof.depth) {
                return;
            }
            let Some(Open { draft, .. }) = stack.pop() else {
                return;
            };
            // A slice that began before the proving call was already over when that call began.
            let Draft { start, begin, .. } = self.drafts[draft as usize];
            self.leftovers.over_by.insert(begin, proof.event);
            let before = proof.begun.filter(|&begun| start < begun);
            self.lose_end(draft, before.unwrap_or(proof.time), family);
        }
    }

    /// Gives a draft its end.
    fn finish(&mut self, draft: u32, row: &Row) {
        let is_measured =
            !self.lost.is_empty() && (self.measured.find(row.event, &mut self.hint)).is_some();
        let draft = &mut self.drafts[draft as usize];
        draft.end = Maybe::new(row.time.max(draft.start));
        draft.finish = Maybe::new(row.event);
        // The end may belong to another begin, which was lost.
        let (begin, end) = (Moment::begin_of(draft), Moment::of(row));
        if !is_measured && self.lost.first_between(begin, end).is_some() {
            draft.is_unended = true;
            self.leftovers.over_losses += 1;
        }
    }

    /// Returns whether the return of a call may belong to another call than the open one of `draft`. This is so if
    /// events were lost between them, and the return has another name, or its measured duration shows that its call
    /// began after the loss.
    fn is_of_another(&mut self, row: &Row, draft: u32) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let draft = self.drafts[draft as usize];
        let (begin, end) = (Moment::begin_of(&draft), Moment::of(row));
        let lost = self.lost.first_between(begin, end);
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

    /// Closes a draft without an end: something at `time` (in ns) proves that it is over.
    fn lose_end(&mut self, draft: u32, time: i64, family: Rules) {
        self.leftovers.unmatched_begins += 1;
        let draft = &mut self.drafts[draft as usize];
        let end = match family.open {
            OpenBegin::Unfinished => time.max(draft.start),
            OpenBegin::Point => draft.start,
        };
        draft.end = Maybe::new(end);
        draft.is_unended = true;
    }

    /// Closes all open begins, at the thread's end (`death`, in ns) or the trace's; `rows` are all marks of the track.
    fn close_all(&mut self, rows: &[Row], death: Option<i64>) {
        for left in std::mem::take(&mut self.named).unclosed() {
            let family = Family::NamedDurations.rules();
            match left.until {
                Some(until) => self.lose_end(left.draft, until, family),
                None => self.leave_open(left.draft, death),
            }
        }
        let mut stacks = std::mem::take(&mut self.stacks);
        stacks.sort_by_key(|(family, _)| *family);
        // A slice that is open still ends before its thread does anything else that is recorded as begin or end.
        let last = rows.last().map(|row| row.event);
        for (family, stack) in stacks {
            let rules = family.rules();
            for open in stack.open {
                let is_last = last == Some(self.drafts[open.draft as usize].begin);
                match rules.open == OpenBegin::Point && !is_last {
                    true => self.lose_end(open.draft, 0, rules),
                    false => self.leave_open(open.draft, death),
                }
            }
        }
    }

    /// Closes a draft at the thread's end (`death`, in ns), or leaves it open to the trace's.
    fn leave_open(&mut self, draft: u32, death: Option<i64>) {
        let draft = &mut self.drafts[draft as usize];
        match death {
            Some(death) => {
                draft.end = Maybe::new(death.max(draft.start));
                draft.is_unended = true;
            }
            None => self.leftovers.unfinished += 1,
        }
    }
}
