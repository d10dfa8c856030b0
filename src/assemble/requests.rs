//! Makes asynchronous begins and ends from events of the block layer: finds which events belong to the same bio or
//! request.
//!
//! ```text
//! bio_queue A ............................... rq_complete A+B     "block bios": until the range that completes covers it
//!        bio_queue B (merged into A's request)       |
//! rq_insert A ---- rq_issue A                                     "block queue": until the range that is issued covers it
//!                  rq_issue A --- rq_requeue A                    "block requests"
//!                                 rq_issue A ------- rq_complete
//! bio_queue C ------- split C / D ... rq_complete C
//!                     split C / D ........... rq_complete D       a remainder is a bio of its own
//! ```
//!
//! Several bios or requests of the same sectors may be open: programs read them at the same time. They end in the order
//! in which they began. If fewer ends than begins were recorded, the ends are given to the latest begins that they can
//! belong to; each other bio or request lost its end, and is over when the next one begins ([`Crowd`]). If a bio or
//! request of another length begins at an open sector, the ends of those before it were lost.
//!
//! Requests without sectors write nothing and only request a flush of the device's cache. The flush itself is a
//! request of the kernel's own, whose operation is printed as `FF` (block/blk-flush.c): its events name no sector and
//! no bio, so its end ends nothing else.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::recorded::Recorded;
use super::rows::PerPart;
use crate::base::{StringId, Strings};
use crate::event::kernel::RequestOp;
use crate::event::{AsyncOp, RequestRow};

/// How the kernel prints the operation of its own flush requests: a flush that a flush comes before (`blk_fill_rwbs`).
const FLUSH: &[u8] = b"FF";

/// At most this many of the ranges that start in an event's sectors are examined in vain: ranges that end after these
/// sectors, or that the event does not end. An event of the 7 trace.dat files of the corpus and the samples that have
/// events of the block layer meets at most 4.
const MOST_OTHERS: usize = 64;

/// A begin or end of an asynchronous slice, with the trace's numbers.
pub(super) struct RequestMark {
    pub time: i64,
    pub event: u32,
    pub id: u64,
    pub op: AsyncOp,
    pub name: StringId,
    pub category: StringId,
    pub group: StringId,
}

/// A bio or request that is open; its first sector is its key in [`OpenOnes`].
#[derive(Clone, Copy)]
struct Open {
    id: u64,
    /// The first sector after it.
    end: u64,
    /// Another request absorbed it.
    is_merged: bool,
    name: StringId,
}

/// The id and the name of a bio or request.
#[derive(Clone, Copy)]
struct Named {
    id: u64,
    name: StringId,
}

impl Open {
    fn named(&self) -> Named {
        Named {
            id: self.id,
            name: self.name,
        }
    }
}

/// The bios or requests that are open at one sector.
enum Here {
    One(Open),
    Several(Box<Crowd>),
}

/// Bios or requests of the same sectors that were open together, until none is.
struct Crowd {
    begins: Vec<CrowdBegin>,
    ends: Vec<Now>,
}

/// A begin in a crowd.
struct CrowdBegin {
    open: Open,
    now: Now,
    /// The number of ends before it.
    ends_before: usize,
}

impl Here {
    /// Returns the one that ends next.
    fn front(&self) -> &Open {
        match self {
            Here::One(open) => open,
            Here::Several(crowd) => crowd.front(),
        }
    }

    /// Returns the one that began last.
    fn back(&mut self) -> Option<&mut Open> {
        match self {
            Here::One(open) => Some(open),
            Here::Several(crowd) => crowd.begins.last_mut().map(|begin| &mut begin.open),
        }
    }
}

impl Crowd {
    fn front(&self) -> &Open {
        // Fewer ended than began.
        &self.begins[self.ends.len().min(self.begins.len() - 1)].open
    }

    /// Returns, for each begin, whether its end is among the ends: from the last begin back, each takes an end after
    /// it that no later one took.
    fn have_ended(&self) -> Vec<bool> {
        let mut have_ended = vec![false; self.begins.len()];
        let (mut free, mut until) = (0, self.ends.len());
        for (has_ended, begin) in have_ended.iter_mut().zip(&self.begins).rev() {
            free += until - begin.ends_before;
            until = begin.ends_before;
            if free > 0 {
                *has_ended = true;
                free -= 1;
            }
        }
        have_ended
    }

    /// Adds the ends of all; returns the one that ended last. `next` is the begin after which all are over.
    fn resolve(&self, next: Option<&Now>, out: &mut Out) -> Option<Open> {
        let have_ended = self.have_ended();
        let mut ends = self.ends.iter();
        let mut last = None;
        for (at, begin) in self.begins.iter().enumerate() {
            let (end, op) = match have_ended[at] {
                true => (ends.next(), AsyncOp::End),
                false => {
                    let following = self.begins.get(at + 1).map(|begin| &begin.now);
                    (following.or(next), AsyncOp::Over)
                }
            };
            if let Some(end) = end {
                out.push(end, op, begin.open.named());
            }
            if have_ended[at] {
                last = Some(begin.open);
            }
        }
        last
    }
}

/// A range of sectors.
#[derive(Clone, Copy)]
struct Sectors {
    first: u64,
    count: u64,
}

/// Open bios, or open requests of one stage, on one device, by their first sector.
#[derive(Default)]
struct OpenOnes {
    ranges: BTreeMap<u64, Here>,
    /// The bios or requests without sectors, oldest first.
    empty: BTreeMap<u64, VecDeque<Open>>,
}

/// The marks that are made.
#[derive(Default)]
struct Out {
    marks: Vec<RequestMark>,
    next_id: u64,
    /// Whether the current event began or ended something; its mark may be added later.
    is_used: bool,
}

/// The time, event, name and group of the marks that the current event makes.
#[derive(Clone, Copy)]
struct Now {
    time: i64,
    event: u32,
    name: StringId,
    group: StringId,
}

impl Out {
    fn push(&mut self, now: &Now, op: AsyncOp, of: Named) {
        self.is_used = true;
        self.marks.push(RequestMark {
            time: now.time,
            event: now.event,
            id: of.id,
            op,
            name: of.name,
            category: now.group,
            group: now.group,
        });
    }
}

impl OpenOnes {
    /// Opens a range of `count` sectors at `sector`, beside others that are open there.
    fn begin(&mut self, sector: u64, count: u64, now: &Now, out: &mut Out) {
        out.next_id += 1;
        let open = Open {
            id: out.next_id,
            end: sector.saturating_add(count),
            is_merged: false,
            name: now.name,
        };
        match count {
            0 => self.empty.entry(sector).or_default().push_back(open),
            _ => self.open(sector, open, now, out),
        }
        out.push(now, AsyncOp::Begin, open.named());
    }

    /// Adds a range that starts at `sector`. Ranges of another length that are open there are over.
    fn open(&mut self, sector: u64, open: Open, now: &Now, out: &mut Out) {
        let begin = |open, ends_before| CrowdBegin {
            open,
            now: *now,
            ends_before,
        };
        match self.ranges.entry(sector) {
            Entry::Vacant(place) => _ = place.insert(Here::One(open)),
            Entry::Occupied(mut here) if here.get().front().end != open.end => {
                match here.insert(Here::One(open)) {
                    Here::One(before) => out.push(now, AsyncOp::Over, before.named()),
                    Here::Several(crowd) => _ = crowd.resolve(Some(now), out),
                }
            }
            Entry::Occupied(mut here) => match here.get_mut() {
                Here::One(first) => {
                    let begins = vec![begin(*first, 0), begin(open, 0)];
                    let ends = Vec::new();
                    _ = here.insert(Here::Several(Box::new(Crowd { begins, ends })));
                }
                Here::Several(crowd) => crowd.begins.push(begin(open, crowd.ends.len())),
            },
        }
    }

    /// Ends all that can still end: the trace is over.
    fn conclude(&self, out: &mut Out) {
        for here in self.ranges.values() {
            if let Here::Several(crowd) = here {
                let _ = crowd.resolve(None, out);
            }
        }
    }

    /// Ends the oldest range without sectors at `sector`.
    fn end_empty(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let Some(queue) = self.empty.get_mut(&sector) else {
            return;
        };
        if let Some(open) = queue.pop_front() {
            out.push(now, AsyncOp::End, open.named());
        }
        if queue.is_empty() {
            self.empty.remove(&sector);
        }
    }

    /// Ends the oldest range that starts at `sector`, whatever its length.
    fn end_from(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let Entry::Occupied(mut here) = self.ranges.entry(sector) else {
            return;
        };
        match here.get_mut() {
            Here::One(open) => out.push(now, AsyncOp::End, open.named()),
            Here::Several(crowd) => {
                crowd.ends.push(*now);
                out.is_used = true;
                if crowd.ends.len() < crowd.begins.len() {
                    return;
                }
                let _ = crowd.resolve(None, out);
            }
        }
        here.remove();
    }

    /// Ends the oldest range that starts at the start of `sectors`, if `sectors` contains it; otherwise its rest stays
    /// open.
    fn end(&mut self, sectors: Sectors, now: &Now, out: &mut Out) {
        if sectors.count == 0 {
            return self.end_empty(sectors.first, now, out);
        }
        let done = sectors.first.saturating_add(sectors.count);
        let Entry::Occupied(mut here) = self.ranges.entry(sectors.first) else {
            return;
        };
        if done >= here.get().front().end {
            return self.end_from(sectors.first, now, out);
        }
        let rest = match here.get_mut() {
            Here::One(open) => Some(*open),
            // Which of several it is must be decided now, because the rest starts elsewhere.
            Here::Several(crowd) => {
                let mut ended = Out::default();
                crowd.ends.push(*now);
                let rest = crowd.resolve(None, &mut ended);
                let ended = ended.marks.into_iter();
                let is_other = |mark: &RequestMark| rest.is_none_or(|rest| rest.id != mark.id);
                out.marks.extend(ended.filter(is_other));
                rest
            }
        };
        here.remove();
        if let Some(rest) = rest {
            out.is_used = true;
            self.open(done, rest, now, out);
        }
    }

    /// Ends all ranges that `which` accepts and whose last sector is in `sectors`; of ranges without sectors only the
    /// oldest.
    fn end_covered(
        &mut self,
        sectors: Sectors,
        which: impl Fn(&Open) -> bool,
        now: &Now,
        out: &mut Out,
    ) {
        let sector = sectors.first;
        if sectors.count == 0 {
            let oldest = self.empty.get(&sector).and_then(VecDeque::front);
            if oldest.is_some_and(which) {
                self.end_empty(sector, now, out);
            }
            return;
        }
        let until = sector.saturating_add(sectors.count);
        // Open ranges that overlap have ascending starts, so only the range directly before can reach into `sectors`.
        let before = self.ranges.range(..sector).next_back();
        let before = before.map(|(start, here)| (start, here.front()));
        let reaches_in = before.filter(|(_, open)| open.end > sector && open.end <= until);
        let reaches_in = reaches_in.filter(|(_, open)| which(open));
        let mut found: Vec<u64> = reaches_in.map(|(&start, _)| start).into_iter().collect();
        let mut others = 0;
        for (&start, here) in self.ranges.range(sector..until) {
            let open = here.front();
            if open.end <= until && which(open) {
                found.push(start);
                continue;
            }
            others += 1;
            if others == MOST_OTHERS {
                break;
            }
        }
        for start in found {
            self.end_from(start, now, out);
        }
    }

    /// Ends the range that contains `sector`. If a range without sectors is open there and the range has another
    /// operation than the event, it ends instead.
    fn end_at_sector(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let before = self.ranges.range(..=sector).next_back();
        let before = before.map(|(start, here)| (start, here.front()));
        let found = before.filter(|(_, open)| open.end > sector);
        match found {
            Some((&start, open)) if open.name == now.name || !self.empty.contains_key(&sector) => {
                self.end_from(start, now, out);
            }
            _ => self.end_empty(sector, now, out),
        }
    }

    /// Ends the range that starts at `sector`, or else the range that ends there, or else a range without sectors.
    fn end_at(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let before = self.ranges.range(..sector).next_back();
        let ends_there = before.filter(|(_, here)| here.front().end == sector);
        let ends_there = ends_there.map(|(&start, _)| start);
        let start = match self.ranges.contains_key(&sector) {
            true => Some(sector),
            false => ends_there,
        };
        match start {
            Some(start) => self.end_from(start, now, out),
            None => self.end_empty(sector, now, out),
        }
    }

    /// Splits the newest range that starts at `sector`: it now ends at `at`, and the rest is a new range from there.
    fn split(&mut self, sector: u64, at: u64, now: &Now, out: &mut Out) {
        let open = self.ranges.get_mut(&sector).and_then(Here::back);
        let end = match open {
            Some(open) => {
                let end = open.end;
                open.end = at.min(end);
                end
            }
            None => at,
        };
        self.begin(at, end.saturating_sub(at), now, out);
    }
}

/// All open bios and requests of a device.
#[derive(Default)]
struct Device {
    bios: OpenOnes,
    waiting: OpenOnes,
    issued: OpenOnes,
    counted: OpenOnes,
    /// Flushes of the device's cache, all at sector 0.
    flushes: OpenOnes,
}

/// An event of the block layer.
struct Moment {
    time: i64,
    /// The number of the event.
    event: u32,
    row: RequestRow,
    name: StringId,
}

/// Returns the indices of the issues that a requeue ends, in a recording without completions: the others would all last
/// to its end.
fn requeued_issues(rows: &[Moment]) -> FxHashSet<usize> {
    let mut last: FxHashMap<(u64, u64), usize> = FxHashMap::default();
    let mut requeued = FxHashSet::default();
    for (number, Moment { row, .. }) in rows.iter().enumerate() {
        let place = (row.device, row.sector);
        match row.op {
            RequestOp::Issue => drop(last.insert(place, number)),
            RequestOp::Requeue => requeued.extend(last.remove(&place)),
            _ => {}
        }
    }
    requeued
}

/// Returns the begins and ends that follow from the events of the block layer, in order of time.
pub(super) fn build_requests(
    of_parts: PerPart<RequestRow>,
    recorded: &Recorded,
    strings: &mut Strings,
) -> Vec<RequestMark> {
    let mut rows: Vec<Moment> = Vec::new();
    for (part, own) in recorded.parts.iter().zip(of_parts) {
        let columns = recorded.columns(part);
        rows.extend(own.into_iter().map(|row| Moment {
            time: columns.time(row.event).0,
            event: part.event(row.event).0,
            name: part.string(row.name),
            row,
        }));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    rows.sort_by_key(|moment| moment.time);
    let has = |op| rows.iter().any(|moment| moment.row.op == op);
    let (has_issues, has_ends) = (has(RequestOp::Issue), has(RequestOp::Complete));
    let has_io_ends = has(RequestOp::IoDone);
    let has_bio_ends = has_ends || has(RequestOp::BioComplete);
    let mut word = |text| strings.intern_text(text);
    let (bios, queue, requests, accounting) = (
        word("block bios"),
        word("block queue"),
        word("block requests"),
        word("block accounting"),
    );
    let mut out = Out::default();
    let mut devices: FxHashMap<u64, Device> = FxHashMap::default();
    let requeued = match has_ends {
        true => FxHashSet::default(),
        false => requeued_issues(&rows),
    };
    for (number, moment) in rows.into_iter().enumerate() {
        let Moment {
            time,
            event,
            row,
            name,
        } = moment;
        let device = devices.entry(row.device).or_default();
        let (sector, count) = (row.sector, row.count);
        let sectors = Sectors {
            first: sector,
            count,
        };
        let now = |group| Now {
            time,
            event,
            name,
            group,
        };
        out.is_used = false;
        let is_flush = count == 0 && strings.bytes(name).starts_with(FLUSH);
        match row.op {
            RequestOp::Issue if is_flush && has_ends => {
                device.flushes.begin(0, 0, &now(requests), &mut out);
            }
            RequestOp::Complete if is_flush => {
                device.flushes.end_empty(0, &now(requests), &mut out);
            }
            _ if is_flush => {}
            // Begins are left out if the recording has no events that end them: all would last to the trace's end.
            RequestOp::Queue if has_bio_ends => {
                device.bios.begin(sector, count, &now(bios), &mut out);
            }
            RequestOp::Split if has_bio_ends => {
                device.bios.split(sector, row.count, &now(bios), &mut out);
            }
            RequestOp::BioComplete => device.bios.end_at(sector, &now(bios), &mut out),
            RequestOp::Insert if has_issues => {
                device.waiting.begin(sector, count, &now(queue), &mut out);
            }
            RequestOp::Issue => {
                let waiting = &mut device.waiting;
                waiting.end_covered(sectors, |_| true, &now(queue), &mut out);
                if has_ends || requeued.contains(&number) {
                    device.issued.begin(sector, count, &now(requests), &mut out);
                }
            }
            RequestOp::Requeue => {
                device
                    .issued
                    .end_at_sector(sector, &now(requests), &mut out);
            }
            RequestOp::Complete => {
                let issued = &mut device.issued;
                issued.end(sectors, &now(requests), &mut out);
                let done = &mut device.bios;
                done.end_covered(sectors, |_| true, &now(bios), &mut out);
                let counted = &mut device.counted;
                let is_merged = |open: &Open| open.is_merged;
                counted.end_covered(sectors, is_merged, &now(accounting), &mut out);
            }
            RequestOp::IoStart if has_io_ends => {
                let counted = &mut device.counted;
                counted.begin(sector, count, &now(accounting), &mut out);
            }
            RequestOp::IoDone => {
                let counted = &mut device.counted;
                counted.end_at_sector(sector, &now(accounting), &mut out);
            }
            RequestOp::Merge => {
                let counted = device.counted.ranges.get_mut(&sector);
                if let Some(open) = counted.and_then(Here::back) {
                    open.is_merged = true;
                }
            }
            RequestOp::IoStart | RequestOp::Queue | RequestOp::Split | RequestOp::Insert => {}
        }
        // An event that began and ended nothing is an instant.
        if !out.is_used && row.op != RequestOp::Merge {
            let is_end = matches!(
                row.op,
                RequestOp::Complete
                    | RequestOp::Requeue
                    | RequestOp::IoDone
                    | RequestOp::BioComplete
            );
            let op = match is_end && has_issues {
                true => AsyncOp::End,
                false => AsyncOp::Instant,
            };
            out.next_id += 1;
            let id = out.next_id;
            out.push(&now(requests), op, Named { id, name });
        }
    }
    for device in devices.values() {
        let Device {
            bios,
            waiting,
            issued,
            counted,
            flushes,
        } = device;
        for of_stage in [bios, waiting, issued, counted, flushes] {
            of_stage.conclude(&mut out);
        }
    }
    // Where several were open together, marks were added later than their events.
    out.marks
        .sort_by_key(|mark| (mark.time, mark.event, mark.id));
    out.marks
}
