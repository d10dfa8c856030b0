//! What depends on which part was read first, put right once all were: numbers of threads that the scan did not
//! know, and which names have a kind of their own where there are more than there is room for.
//!
//! Threads are numbered by what they are; kinds by the first of their events, in the order of parts and times. Files
//! with few names and no such threads, which is nearly all, are left as they are.

use rustc_hash::FxHashMap;

use crate::base::{Diagnostics, Severity};
use crate::event::{AsyncScope, EventColumns, KindId, LaneColumns, SeriesScope, ThreadKey};

use super::args::object_owner_words;
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
            let mut next = 2 + object_owner_words(header, record);
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

/// What a part has of kinds, in the order of their first events.
#[derive(Debug, Default)]
pub struct Met {
    /// The kinds.
    pub firsts: Vec<First>,
    /// The events that had found no room, each with its kind's index in `firsts`.
    late: Vec<(u32, u32)>,
}

/// What becomes of a kind that had found room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewKind {
    /// It keeps its number, as the generic kinds do.
    AsBefore,
    /// This.
    Is(KindId),
    /// There is no room for it: others come first.
    NoRoom,
}

/// A kind that a part has.
#[derive(Debug)]
pub enum First {
    /// It found room.
    Known(KindId),
    /// It found none.
    Named(Names),
}

impl Met {
    /// Looks at all events.
    pub fn new(events: &EventColumns, names_at: &dyn Fn(u64) -> Option<Names>) -> Met {
        let mut met = Met::default();
        let mut is_known = vec![false; 1 << 16];
        let mut named: FxHashMap<Names, u32> = FxHashMap::default();
        for (event, &kind) in (0_u32..).zip(events.kinds()) {
            if Sort::has_names(KindId(kind)) {
                let Some(names) = names_at(events.place(event)) else {
                    continue;
                };
                let index = *named.entry(names).or_insert_with_key(|names| {
                    met.firsts.push(First::Named(names.clone()));
                    met.firsts.len() as u32 - 1
                });
                met.late.push((event, index));
            } else if let Some(is_known @ false) = is_known.get_mut(usize::from(kind)) {
                *is_known = true;
                met.firsts.push(First::Known(KindId(kind)));
            }
        }
        met
    }

    /// Gives the events their new kinds: `new_of` those of kinds that had found room, `given` those of `firsts`. How
    /// many events have a generic kind in spite of their names.
    pub fn apply(
        &self,
        events: &mut EventColumns,
        new_of: &[NewKind],
        given: &[KindId],
        names_at: &dyn Fn(u64) -> Option<Names>,
    ) -> u64 {
        for event in 0..events.len() as u32 {
            match new_of.get(usize::from(events.kind(event).0)) {
                Some(NewKind::Is(kind)) => events.set_kind(event, *kind),
                Some(NewKind::NoRoom) => {
                    let names = names_at(events.place(event));
                    let sort = names.map_or(Sort::Begin, |(sort, ..)| sort);
                    events.set_kind(event, sort.generic_kind());
                }
                Some(NewKind::AsBefore) | None => {}
            }
        }
        for &(event, index) in &self.late {
            if let Some(&kind) = given.get(index as usize) {
                events.set_kind(event, kind);
            }
        }
        let nameless = |kind: &&u16| Sort::has_names(KindId(**kind));
        events.kinds().iter().filter(nameless).count() as u64
    }
}
