//! Events of the block layer to asynchronous begins and ends: which of them are of the same bio or request.
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
//! What begins again at a sector where it is open shows that the end of the one before was lost.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::merge::Merged;
use crate::base::StringId;
use crate::event::pairs::RequestOp;
use crate::event::{AsyncOp, RequestRow};

/// A begin or end of an asynchronous slice, with numbers of the whole trace.
pub(super) struct RequestMark {
    pub time: i64,
    pub event: u32,
    pub id: u64,
    pub op: AsyncOp,
    pub name: StringId,
    pub category: StringId,
    pub group: StringId,
}

/// A bio or request that is open.
#[derive(Clone, Copy)]
struct Open {
    id: u64,
    /// First sector after it.
    end: u64,
    /// Another one took it in.
    is_merged: bool,
    name: StringId,
}

/// What is open of one kind on one device, by first sector.
#[derive(Default)]
struct OpenOnes(BTreeMap<u64, Open>);

/// Where the marks go.
struct Out {
    marks: Vec<RequestMark>,
    category: StringId,
    next_id: u64,
}

/// The event at hand.
#[derive(Clone, Copy)]
struct Now {
    time: i64,
    event: u32,
    name: StringId,
    group: StringId,
}

impl Out {
    fn push(&mut self, now: &Now, op: AsyncOp, (id, name): (u64, StringId)) {
        self.marks.push(RequestMark {
            time: now.time,
            event: now.event,
            id,
            op,
            name,
            category: self.category,
            group: now.group,
        });
    }
}

impl OpenOnes {
    /// One of `count` sectors begins at `sector`.
    fn begin(&mut self, sector: u64, count: u64, now: &Now, out: &mut Out) {
        out.next_id += 1;
        let open = Open {
            id: out.next_id,
            end: sector.saturating_add(count),
            is_merged: false,
            name: now.name,
        };
        if let Some(before) = self.0.insert(sector, open) {
            out.push(now, AsyncOp::Over, (before.id, before.name));
        }
        out.push(now, AsyncOp::Begin, (open.id, open.name));
    }

    /// The one that starts at `sector` ends, if `count` sectors are all of it; otherwise the rest goes on.
    fn end(&mut self, sector: u64, count: u64, now: &Now, out: &mut Out) {
        let Some(open) = self.0.remove(&sector) else {
            return;
        };
        let done = sector.saturating_add(count);
        if count > 0 && done < open.end {
            self.0.insert(done, open);
            return;
        }
        out.push(now, AsyncOp::End, (open.id, open.name));
    }

    /// All `which` whose last sector lies in the `count` sectors from `sector` on end.
    fn end_covered(
        &mut self,
        (sector, count): (u64, u64),
        which: impl Fn(&Open) -> bool,
        now: &Now,
        out: &mut Out,
    ) {
        let until = sector.saturating_add(count);
        // Those that overlap start after each other, so that only the one before can reach into the range.
        let before = self.0.range(..sector).next_back();
        let reaches_in = before.filter(|(_, open)| open.end > sector && open.end <= until);
        let reaches_in = reaches_in.filter(|(_, open)| which(open));
        let mut found: Vec<u64> = reaches_in.map(|(&start, _)| start).into_iter().collect();
        let starts = self.0.range(sector..until.max(sector.saturating_add(1)));
        found.extend(
            starts
                .filter(|(_, open)| open.end <= until && which(open))
                .map(|(&start, _)| start),
        );
        for start in found {
            if let Some(open) = self.0.remove(&start) {
                out.push(now, AsyncOp::End, (open.id, open.name));
            }
        }
    }

    /// The one that starts at `sector`, or has it, ends.
    fn end_at_sector(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let before = self.0.range(..=sector).next_back();
        let found = before.filter(|(start, open)| **start == sector || open.end > sector);
        let start = found.map(|(&start, _)| start);
        if let Some(open) = start.and_then(|start| self.0.remove(&start)) {
            out.push(now, AsyncOp::End, (open.id, open.name));
        }
    }

    /// The one that starts at `sector`, or ends there, ends.
    fn end_at(&mut self, sector: u64, now: &Now, out: &mut Out) {
        let before = self.0.range(..sector).next_back();
        let ends_there = before.filter(|(_, open)| open.end == sector);
        let ends_there = ends_there.map(|(&start, _)| start);
        let start = match self.0.contains_key(&sector) {
            true => Some(sector),
            false => ends_there,
        };
        if let Some(open) = start.and_then(|start| self.0.remove(&start)) {
            out.push(now, AsyncOp::End, (open.id, open.name));
        }
    }

    /// What starts at `sector` ends at `at` from now on; its rest is one of its own.
    fn split(&mut self, sector: u64, at: u64, now: &Now, out: &mut Out) {
        let end = match self.0.get_mut(&sector) {
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

/// What is open on a device.
#[derive(Default)]
struct Device {
    bios: OpenOnes,
    waiting: OpenOnes,
    issued: OpenOnes,
    counted: OpenOnes,
}

/// Takes the rows of the block layer out of the parts.
pub(super) fn build_requests(merged: &mut Merged) -> Vec<RequestMark> {
    let mut rows: Vec<(i64, u32, RequestRow, StringId)> = Vec::new();
    for part in &mut merged.parts {
        let own = std::mem::take(&mut part.rows.requests);
        let columns = &merged.events.segments()[part.segment as usize].columns;
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
    let mut word = |text| merged.strings.intern_text(text);
    let (bios, queue, requests, accounting) = (
        word("block bios"),
        word("block queue"),
        word("block requests"),
        word("block accounting"),
    );
    let mut out = Out {
        marks: Vec::new(),
        category: word("block"),
        next_id: 0,
    };
    let mut devices: FxHashMap<u64, Device> = FxHashMap::default();
    for (time, event, row, name) in rows {
        let device = devices.entry(row.device).or_default();
        let (sector, count) = (row.sector, row.count);
        let now = |group| Now {
            time,
            event,
            name,
            group,
        };
        let before = out.marks.len();
        match row.op {
            // Without what ends them they would all last to the end.
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
                waiting.end_covered((sector, count), |_| true, &now(queue), &mut out);
                if has_ends {
                    device.issued.begin(sector, count, &now(requests), &mut out);
                }
            }
            RequestOp::Requeue => {
                device.issued.end(sector, 0, &now(requests), &mut out);
            }
            RequestOp::Complete => {
                let issued = &mut device.issued;
                issued.end(sector, count, &now(requests), &mut out);
                let done = &mut device.bios;
                done.end_covered((sector, count), |_| true, &now(bios), &mut out);
                let counted = &mut device.counted;
                let is_merged = |open: &Open| open.is_merged;
                counted.end_covered((sector, count), is_merged, &now(accounting), &mut out);
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
                if let Some(open) = device.counted.0.get_mut(&sector) {
                    open.is_merged = true;
                }
            }
            RequestOp::IoStart | RequestOp::Queue | RequestOp::Split | RequestOp::Insert => {}
        }
        // What belongs to nothing is a point.
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
            out.push(&now(requests), op, (id, name));
        }
    }
    out.marks
}
