//! What depends on which part was read first, put right once all were: numbers of threads that the scan did not
//! know, and which names have a kind of their own where there are more than there is room for.
//!
//! Threads are numbered by what they are; kinds by the first of their events, in the order of parts and times. Files
//! with few names and no such threads, which is nearly all, are left as they are.

use crate::base::{Diagnostics, Severity};
use crate::event::{AsyncScope, KindId, LaneColumns, SeriesScope, ThreadKey};

use super::emit::unresolved_text;
use super::header::{Order, TextRef, Words, bits, read_text, record_type};
use super::kinds::{Kinds, Names, Sort};
use super::scan::{Scan, string_bytes};

/// See the module's text; the columns of all parts stand in their order.
pub fn settle<O: Order>(
    bytes: &[u8],
    scan: &Scan,
    kinds: &Kinds,
    parts: &mut [&mut LaneColumns],
) -> Diagnostics {
    let moved = scan.entities.settle_late();
    if !moved.is_empty() {
        for part in parts.iter_mut() {
            move_threads(part, &|key| moved.get(&key).copied().unwrap_or(key));
        }
    }
    let mut diagnostics = Diagnostics::default();
    let nameless = kinds.settle(parts, &|place| {
        names_at(Words::<O>::new(bytes), scan, place)
    });
    if nameless > 0 {
        diagnostics.note_many("too_many_names", Severity::Info, None, nameless, || {
            "events whose names lists of events do not tell apart, as there are more than 65,000 (40,000 for all but points); slices and details have them"
                .to_owned()
        });
    }
    diagnostics
}

/// The names of the record at a place, as the bulk pass makes its kind of them.
fn names_at<O: Order>(file: Words<'_, O>, scan: &Scan, place: u64) -> Option<Names> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    let empty = TextRef::Index(0);
    let (sort, category, name) = match bits(header, 0, 3) {
        record_type::EVENT => {
            let mut next = if bits(header, 24, 31) == 0 { 4 } else { 2 };
            let category = read_text(header >> 32, record, &mut next)?;
            let name = read_text(header >> 48, record, &mut next)?;
            (Sort::from_event_type(bits(header, 16, 19))?, category, name)
        }
        record_type::BLOB => {
            let name = read_text(bits(header, 16, 31), record, &mut 1)?;
            (Sort::Blob, empty, name)
        }
        record_type::USERSPACE_OBJECT => {
            let mut next = 2 + usize::from(bits(header, 16, 23) == 0);
            let name = read_text(bits(header, 24, 39), record, &mut next)?;
            (Sort::Object, empty, name)
        }
        record_type::LARGE => {
            let fields = record.get(1)?;
            let mut next = 2;
            let category = read_text(bits(fields, 0, 15), record, &mut next)?;
            let name = read_text(bits(fields, 16, 31), record, &mut next)?;
            (Sort::Blob, category, name)
        }
        _ => return None,
    };
    let slot = scan.tables.provider_at(place);
    let text = |text: TextRef<'_>| match text {
        TextRef::Inline(bytes) => bytes.to_vec(),
        TextRef::Index(0) => Vec::new(),
        TextRef::Index(index) => match scan.tables.string_at(slot, index, place) {
            Some(place) => string_bytes(file, place).unwrap_or(&[]).to_vec(),
            None => unresolved_text(index).into_bytes(),
        },
    };
    Some((sort, text(category), text(name)))
}

fn move_threads(part: &mut LaneColumns, now: &dyn Fn(ThreadKey) -> ThreadKey) {
    part.events.renumber_threads(now);
    for row in &mut part.switches {
        (row.prev, row.next) = (now(row.prev), now(row.next));
    }
    for row in &mut part.wakeups {
        (row.thread, row.waker) = (now(row.thread), now(row.waker));
    }
    for row in &mut part.asyncs {
        if let AsyncScope::ProcessOf(key) = &mut row.scope {
            *key = now(*key);
        }
    }
    for row in &mut part.series {
        if let SeriesScope::Thread(key) = &mut row.scope {
            *key = now(*key);
        }
    }
}

/// The kinds that `table` gives, by the first event of each, in all parts. How many events are left without a kind of
/// their own.
pub fn renumber(
    parts: &mut [&mut LaneColumns],
    kind_of: &mut dyn FnMut(KindId, u64) -> KindId,
) -> u64 {
    let mut nameless = 0;
    for part in parts.iter_mut() {
        for event in 0..part.events.len() as u32 {
            let (old, place) = (part.events.kind(event), part.events.place(event));
            let new = kind_of(old, place);
            nameless += u64::from(Sort::has_names(new));
            if new != old {
                part.events.set_kind(event, new);
            }
        }
    }
    nameless
}
