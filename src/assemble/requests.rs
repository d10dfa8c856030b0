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
//! A begin at a sector where a bio or request is already open shows that the end of the earlier one was lost. Only
//! requests without sectors may be open together: they write nothing and only request a flush of the device's cache,
//! and they end in the order in which they began. The flush itself is a request of the kernel's own, whose operation is
//! printed as `FF` (block/blk-flush.c): its events are about no sector and no bio, so its end ends nothing else.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::recorded::Recorded;
use super::rows::PerPart;
use crate::base::{StringId, Strings};
use crate::event::kernel::RequestOp;
use crate::event::{AsyncOp, RequestRow};

/// How the kernel prints the operation of its own flush requests: a flush that a flush comes before (`blk_fill_rwbs`).
const FLUSH: &[u8] = b"FF";

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

/// A range of sectors.
#[derive(Clone, Copy)]
struct Sectors {
    first: u64,
    count: u64,
}

/// Open bios, or open requests of one stage, on one device, by their first sector.
#[derive(Default)]
struct OpenOnes {
    ranges: BTreeMap<u64, Open>,
    /// The bios or requests without sectors, oldest first.
    empty: BTreeMap<u64, VecDeque<Open>>,
}

/// The marks that are made.
struct Out {
    marks: Vec<RequestMark>,
    next_id: u64,
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
    /// Opens a range of `count` sectors at `sector`. A range that is already open there is over, because its end was
    /// lost; a range without sectors may be open beside others.
    fn begin(&mut self, sector: u64, count: u64, now: &Now, out: &mut Out) {
        out.next_id += 1;
        let open = Open {
            id: out.next_id,
            end: sector.saturating_add(count),
            is_merged: false,
            name: now.name,
        };
        let before = match count {
            0 => {
                self.empty.entry(sector).or_default().push_back(open);
                None
            }
            _ => self.ranges.insert(sector, open),
        };
        if let Some(before) = before {
            out.push(now, AsyncOp::Over, before.named());
        }
        out.push(now, AsyncOp::Begin, open.named());
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

    /// Ends the range that starts at `sector`, whatever its length.
    fn end_from(&mut self, sector: u64, now: &Now, out: &mut Out) {
        if let Some(open) = self.ranges.remove(&sector) {
            out.push(now, AsyncOp::End, open.named());
        }
    }

    /// Ends the range that starts at the start of `sectors`, if `sectors` contains it; otherwise its rest stays open.
    fn end(&mut self, sectors: Sectors, now: &Now, out: &mut Out) {
        if sectors.count == 0 {
            return self.end_empty(sectors.first, now, out);
        }
        let Some(open) = self.ranges.remove(&sectors.first) else {
            return;
        };
        let done = sectors.first.saturating_add(sectors.count);
        if done < open.end {
            self.ranges.insert(done, open);
            return;
        }
        out.push(now, AsyncOp::End, open.named());
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
        let reaches_in = before.filter(|(_, open)| open.end > sector && open.end <= until);
        let reaches_in = reaches_in.filter(|(_, open)| which(open));
        let mut found: Vec<u64> = reaches_in.map(|(&start, _)| start).into_iter().collect();
        let starts = self.ranges.range(sector..until);
        found.extend(
            starts
                .filter(|(_, open)| open.end <= until && which(open))
                .map(|(&start, _)| start),
        );
        for start in found {
            self.end_from(start, now, out);
        }
    }

    /// Ends the range that contains `sector`. If a range without sectors is open there and the range has another
    /// operation than the event, it ends instead.
    fn end_at_sector(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let before = self.ranges.range(..=sector).next_back();
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
        let ends_there = before.filter(|(_, open)| open.end == sector);
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

    /// Splits the range that starts at `sector`: it now ends at `at`, and the rest is a new range from there.
    fn split(&mut self, sector: u64, at: u64, now: &Now, out: &mut Out) {
        let end = match self.ranges.get_mut(&sector) {
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

/// Returns the begins and ends that follow from the events of the block layer, in order of time.
pub(super) fn build_requests(
    of_parts: PerPart<RequestRow>,
    recorded: &Recorded,
    strings: &mut Strings,
) -> Vec<RequestMark> {
    let mut rows: Vec<(i64, u32, RequestRow, StringId)> = Vec::new();
    for (part, own) in recorded.parts.iter().zip(of_parts) {
        let columns = recorded.columns(part);
        rows.extend(own.into_iter().map(|row| {
            let time = columns.time(row.event).0;
            (time, part.event(row.event).0, row, part.string(row.name))
        }));
    }
    if rows.is_empty() {
        return Vec::new();
    }
    rows.sort_by_key(|row| row.0);
    let has = |op| rows.iter().any(|row| row.2.op == op);
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
    let mut out = Out {
        marks: Vec::new(),
        next_id: 0,
    };
    let mut devices: FxHashMap<u64, Device> = FxHashMap::default();
    for (time, event, row, name) in rows {
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
        let before = out.marks.len();
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
                if has_ends {
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
                if let Some(open) = device.counted.ranges.get_mut(&sector) {
                    open.is_merged = true;
                }
            }
            RequestOp::IoStart | RequestOp::Queue | RequestOp::Split | RequestOp::Insert => {}
        }
        // An event that began and ended nothing is an instant.
        if out.marks.len() == before && row.op != RequestOp::Merge {
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
    out.marks
}
