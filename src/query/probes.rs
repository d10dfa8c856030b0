//! Probes and their hits: definitions, counts of the kernel and events of the trace in; one row for each probe, and the
//! durations of calls whose entry and return were matched, out.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Item;
use super::details::describe;
use crate::base::{Cancelled, Job};
use crate::event::{EventDetail, KindId, KindOrigin, SliceKind};
use crate::formats::Events;
use crate::probes::readable::is_text_group;
use crate::probes::{ProbeDefinition, ProbeSet, ProbeSort};
use crate::trace::{EventId, SliceId, Trace};

/// All probes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeTable {
    /// One row for each event of a probe: first the defined events in the order of their definitions, then events that
    /// only the trace has.
    pub rows: Vec<ProbeRow>,
    /// Entries and returns that belong together.
    pub pairs: Vec<ProbePair>,
}

/// The name of a probe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProbeKey {
    /// The group of its event.
    pub group: String,
    /// Its event.
    pub event: String,
}

/// A probe's event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProbeRow {
    /// The event's group.
    pub group: String,
    /// The event's name.
    pub event: String,
    /// The event's definitions: several probes may share one event.
    pub definitions: Vec<ProbeDefinition>,
    /// The number of hits that the kernel counted.
    pub hits: Option<u64>,
    /// The number of misses that the kernel counted.
    pub misses: Option<u64>,
    /// The event's kinds in the trace.
    pub kinds: Vec<KindId>,
    /// The number of its events in the trace.
    pub events: u64,
    /// Index of its durations.
    pub pair: Option<usize>,
    /// The place of the probe according to its first event in the trace; empty if there is none.
    pub seen_at: String,
    /// The type of the probe according to its first event.
    pub seen_as: Option<ProbeSort>,
}

impl ProbeRow {
    /// Returns the probe's name.
    #[must_use]
    pub(crate) fn key(&self) -> ProbeKey {
        ProbeKey {
            group: self.group.clone(),
            event: self.event.clone(),
        }
    }

    /// Returns whether the probe has this name.
    #[must_use]
    pub(crate) fn has_key(&self, key: &ProbeKey) -> bool {
        self.group == key.group && self.event == key.event
    }

    /// Returns whether the probe is an entry, a return or an event, by its definition or by the trace.
    #[must_use]
    pub fn sort(&self, table: &ProbeTable) -> Option<ProbeSort> {
        if let Some(probe) = self.definitions.first() {
            return Some(probe.sort);
        }
        let Some(pair) = self.pair.and_then(|pair| table.pairs.get(pair)) else {
            return self.seen_as;
        };
        Some(if self.kinds.contains(&pair.entry) {
            ProbeSort::Entry
        } else {
            ProbeSort::Return
        })
    }

    /// Returns the place of the probe; if it is not defined: the name of its slices, or the place that its events
    /// contain.
    #[must_use]
    pub fn place(&self, table: &ProbeTable) -> String {
        if self.definitions.is_empty() {
            let pair = self.pair.and_then(|pair| table.pairs.get(pair));
            let called = pair.map(|pair| pair.subject.clone());
            return called.unwrap_or_else(|| self.seen_at.clone());
        }
        let places = self.definitions.iter().map(|probe| probe.place.to_string());
        places.collect::<Vec<_>>().join(", ")
    }
}

/// The calls of a function whose entry and return were both probed.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbePair {
    /// The entries' kind.
    pub entry: KindId,
    /// The returns' kind.
    pub back: KindId,
    /// The name of the slices: the function.
    pub subject: String,
    /// The durations of the calls in ns, sorted.
    pub durations: Vec<i64>,
    /// The longest call.
    pub longest: SliceId,
}

impl ProbePair {
    /// Returns the duration that the given part (0 to 1) of the calls do not exceed.
    #[must_use]
    pub fn quantile(&self, part: f64) -> i64 {
        let last = self.durations.len().saturating_sub(1);
        let at = (part.clamp(0.0, 1.0) * self.durations.len() as f64).ceil() as usize;
        let at = at.saturating_sub(1).min(last);
        self.durations.get(at).copied().unwrap_or(0)
    }

    /// The mean duration.
    #[must_use]
    pub(crate) fn mean(&self) -> i64 {
        let sum: i128 = self.durations.iter().copied().map(i128::from).sum();
        (sum / self.durations.len().max(1) as i128) as i64
    }

    /// Returns the distribution of the durations, from the shortest to the longest. There are four buckets from one
    /// power of two to the next.
    #[must_use]
    pub fn histogram(&self) -> Vec<Step> {
        let step_of = |ns: i64| ((ns.max(1) as f64).log2() * STEPS_A_DOUBLING).floor() as i32;
        let (Some(&shortest), Some(&longest)) = (self.durations.first(), self.durations.last())
        else {
            return Vec::new();
        };
        let (first, last) = (step_of(shortest), step_of(longest));
        let mut steps: Vec<Step> = (first..=last)
            .map(|step| Step {
                from_log2: f64::from(step) / STEPS_A_DOUBLING,
                count: 0,
            })
            .collect();
        for &ns in &self.durations {
            if let Some(step) = steps.get_mut((step_of(ns) - first) as usize) {
                step.count += 1;
            }
        }
        steps
    }
}

/// Number of buckets of a histogram from one power of two to the next.
pub(crate) const STEPS_A_DOUBLING: f64 = 4.0;

/// One bucket of a histogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The binary logarithm of the shortest duration in it, in ns.
    pub from_log2: f64,
    /// The number of calls.
    pub count: u64,
}

/// Number of slices that are examined between two checks of the job.
const SLICES_BETWEEN_CHECKS: usize = 1 << 16;

/// Returns all probes of a trace, whose events `reader` describes, and of the definitions in `set`.
///
/// # Errors
/// If the job is cancelled.
pub fn table(
    trace: &Trace,
    reader: Option<&dyn Events>,
    set: Option<&ProbeSet>,
    job: &Job,
) -> Result<ProbeTable, Cancelled> {
    let pairs = pairs(trace, job)?;
    let of_kinds = events_of_kinds(trace, job)?;
    let mut rows = Rows::of(set);
    let mut best_pairs: FxHashMap<KindId, usize> = FxHashMap::default();
    for (index, pair) in pairs.iter().enumerate() {
        for kind in [pair.entry, pair.back] {
            let best = best_pairs.entry(kind).or_insert(index);
            if pairs[*best].durations.len() <= pair.durations.len() {
                *best = index;
            }
        }
    }
    let defined = rows.all.len();
    for (kind, entry) in (0..).map(KindId).zip(&trace.kinds) {
        let (group, event) = (trace.text(entry.category), trace.text(entry.name));
        let count = of_kinds.get(kind.index()).map_or(0, |of| of.count);
        let at = rows.at(&group, &event).or_else(|| {
            let is_probe = best_pairs.contains_key(&kind) || entry.origin == KindOrigin::Probe;
            (is_probe && count > 0).then(|| rows.add(&group, &event))
        });
        if let Some(row) = at.and_then(|at| rows.all.get_mut(at)) {
            row.kinds.push(kind);
            row.events += count;
        }
    }
    let mut rows = rows.all;
    if let Some(only_traced) = rows.get_mut(defined..) {
        only_traced.sort_by(|a, b| (&a.group, &a.event).cmp(&(&b.group, &b.event)));
    }
    // The kernel also counts probes that are neither defined here nor in the trace.
    let mut named: FxHashSet<String> = rows.iter().map(|row| row.event.clone()).collect();
    for counted in set.into_iter().flat_map(|set| set.profile.iter()) {
        if named.insert(counted.event.clone()) {
            rows.push(ProbeRow {
                event: counted.event.clone(),
                ..ProbeRow::default()
            });
        }
    }
    let counted = set.map(ProbeSet::counts).unwrap_or_default();
    for row in &mut rows {
        let counted = counted.get(row.event.as_str());
        row.hits = counted.map(|it| it.hits);
        row.misses = counted.and_then(|it| it.misses);
        // Of several pairs, the one with the most calls is used.
        let own_pairs = row.kinds.iter().filter_map(|kind| best_pairs.get(kind));
        row.pair = own_pairs
            .max_by_key(|&&index| (pairs[index].durations.len(), index))
            .copied();
        let mut firsts = row
            .kinds
            .iter()
            .filter_map(|kind| of_kinds.get(kind.index())?.first);
        if let Some((first, reader)) = firsts.next().zip(reader) {
            let seen = seen(&describe(trace, reader, first));
            (row.seen_at, row.seen_as) = (seen.place, seen.sort);
        }
    }
    Ok(ProbeTable { rows, pairs })
}

/// Rows that are being made, and the index of each event's row.
#[derive(Default)]
struct Rows {
    all: Vec<ProbeRow>,
    /// The indices of rows, by event and group.
    places: FxHashMap<String, FxHashMap<String, usize>>,
    /// The row of the first definition of each event.
    defined: FxHashMap<String, usize>,
}

impl Rows {
    /// Returns one row for each event that is defined.
    fn of(set: Option<&ProbeSet>) -> Rows {
        let mut rows = Rows::default();
        for probe in set.into_iter().flat_map(|set| set.definitions.standing()) {
            let at = rows.own(&probe.group, &probe.event);
            let at = at.unwrap_or_else(|| rows.add(&probe.group, &probe.event));
            if let Some(row) = rows.all.get_mut(at) {
                row.definitions.push(probe.clone());
            }
            rows.defined.entry(probe.event.clone()).or_insert(at);
        }
        rows
    }

    fn own(&self, group: &str, event: &str) -> Option<usize> {
        self.places.get(event)?.get(group).copied()
    }

    /// Returns the row of an event's probe; text traces do not contain the group of a defined probe.
    fn at(&self, group: &str, event: &str) -> Option<usize> {
        let defined = self.defined.get(event).filter(|_| is_text_group(group));
        let own = self.own(group, event);
        own.into_iter().chain(defined.copied()).min()
    }

    fn add(&mut self, group: &str, event: &str) -> usize {
        let at = self.all.len();
        self.all.push(ProbeRow {
            group: group.to_owned(),
            event: event.to_owned(),
            ..ProbeRow::default()
        });
        let groups = self.places.entry(event.to_owned()).or_default();
        groups.insert(group.to_owned(), at);
        at
    }
}

/// The properties of a probe that one of its events shows.
#[derive(Default)]
struct SeenProbe {
    /// The place of the probe; empty if the event does not show it.
    place: String,
    sort: Option<ProbeSort>,
}

/// Returns the place and type of a probe, from the text of one of its events.
fn seen(detail: &EventDetail) -> SeenProbe {
    let field = |name: &str| {
        let field = detail.fields.iter().find(|field| field.name == name)?;
        Some(field.text())
    };
    // `do_sys_open+0x80/0xd6`: the function's size is not part of the place, and offset 0 is not shown.
    let place = |text: String| {
        let without_size = match text.find("+0x").zip(text.rfind("/0x")) {
            Some((plus, slash)) if slash > plus => {
                let module = text.get(slash..).and_then(|rest| rest.split_once(' '));
                let module = module.map(|(_, module)| format!(" {module}"));
                format!("{}{}", &text[..slash], module.unwrap_or_default())
            }
            _ => text,
        };
        match without_size.strip_suffix("+0x0") {
            Some(name) => name.to_owned(),
            None => without_size.replace("+0x0 ", " "),
        }
    };
    if let Some(address) = field("__probe_ip") {
        return SeenProbe {
            place: place(address),
            sort: Some(ProbeSort::Entry),
        };
    }
    if let Some(function) = field("__probe_func") {
        return SeenProbe {
            place: place(function),
            sort: Some(ProbeSort::Return),
        };
    }
    let source = detail.text.strip_prefix('(');
    let source = source.and_then(|text| text.split_once(')'));
    match source.and_then(|(source, _)| source.split_once('.')) {
        Some((system, event)) => SeenProbe {
            place: format!("{system}/{event}"),
            sort: Some(ProbeSort::Event),
        },
        None => SeenProbe::default(),
    }
}

/// Returns the calls between entries and returns, by the kinds of both.
fn pairs(trace: &Trace, job: &Job) -> Result<Vec<ProbePair>, Cancelled> {
    let slices = &trace.slices;
    let is_probe: Vec<bool> = slices
        .labels
        .iter()
        .map(|label| label.kind == SliceKind::Probes)
        .collect();
    let mut found: FxHashMap<(KindId, KindId, u32), ProbePair> = FxHashMap::default();
    if !is_probe.contains(&true) {
        return Ok(Vec::new());
    }
    let cursor = trace.events.cursor();
    for (index, label) in slices.label_ids.iter().enumerate() {
        if index.is_multiple_of(SLICES_BETWEEN_CHECKS) {
            job.check()?;
        }
        if !is_probe.get(label as usize).copied().unwrap_or(false) {
            continue;
        }
        let slice = slices.get(SliceId(index as u32));
        let (Some(finish), Some(end)) = (slice.finish, slice.end) else {
            continue;
        };
        let (entry, back) = (cursor.kind(slice.begin), cursor.kind(finish));
        let name = slices.label(slice.id).name;
        let duration = (end - slice.start).0;
        let pair = found
            .entry((entry, back, name.0))
            .or_insert_with(|| ProbePair {
                entry,
                back,
                subject: trace.text(name).into_owned(),
                durations: Vec::new(),
                longest: slice.id,
            });
        let longest = slices.get(pair.longest);
        if longest
            .end
            .is_some_and(|end| duration > (end - longest.start).0)
        {
            pair.longest = slice.id;
        }
        pair.durations.push(duration);
    }
    let mut pairs: Vec<ProbePair> = found.into_values().collect();
    for pair in &mut pairs {
        pair.durations.sort_unstable();
    }
    pairs.sort_by(|a, b| (&a.subject, a.entry, a.back).cmp(&(&b.subject, b.entry, b.back)));
    Ok(pairs)
}

/// The events of a kind.
#[derive(Clone, Default)]
struct EventsOfKind {
    count: u64,
    /// The first that was read.
    first: Option<EventId>,
}

/// Returns the events of each kind.
fn events_of_kinds(trace: &Trace, job: &Job) -> Result<Vec<EventsOfKind>, Cancelled> {
    let mut all = vec![EventsOfKind::default(); trace.kinds.len()];
    for segment in trace.events.segments() {
        job.check()?;
        segment.columns.kinds().for_each(|index, kind| {
            let kind = match &segment.origin {
                None => kind,
                Some(origin) => origin.kinds.get(kind.index()).copied().unwrap_or(kind),
            };
            if let Some(of) = all.get_mut(kind.index()) {
                of.count += 1;
                of.first.get_or_insert(EventId(segment.first + index));
            }
        });
    }
    Ok(all)
}

/// Returns the events of these kinds in time order, at most `most`.
///
/// # Errors
/// If the job is cancelled.
pub fn events_of(
    trace: &Trace,
    kinds: &[KindId],
    most: usize,
    job: &Job,
) -> Result<Vec<EventId>, Cancelled> {
    let mut found = Vec::new();
    for segment in trace.events.segments() {
        job.check()?;
        for index in 0..segment.columns.len() as u32 {
            if kinds.contains(&segment.kind(index)) {
                found.push((segment.time(index), EventId(segment.first + index)));
            }
        }
    }
    found.sort_unstable();
    found.truncate(most);
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

/// Returns the item to select for an event of a probe: the slice that the event begins or ends, if there is one on its
/// thread.
#[must_use]
pub(crate) fn item_of(trace: &Trace, event: EventId) -> Item {
    let thread = trace.events.thread(event);
    let time = trace.events.time(event);
    let innermost = trace.innermost_slice(thread, time).filter(|&slice| {
        let slice = trace.slices.get(slice);
        slice.begin == event || slice.finish == Some(event)
    });
    innermost.map_or(Item::Event(event), Item::Slice)
}
