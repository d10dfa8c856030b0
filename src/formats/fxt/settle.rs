//! Corrects what depends on the order in which parts were read, after all were read: the numbers of threads that the
//! fold did not find, and, if there is no room for all names, which names have a kind of their own.
//!
//! Threads are numbered in sorted order; kinds by their first event, in the order of parts and times. Nearly all files
//! have few names and no such threads, and are left unchanged.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::base::{Diagnostics, Severity};
use crate::event::{AsyncScope, EventColumns, KindId, LaneColumns, SeriesScope, ThreadKey};

use super::kinds::{Kinds, Names, Sort};
use super::scan::{Scan, string_bytes};
use crate::base::ByteOrder;
use crate::fxt::args::object_owner_words;
use crate::fxt::layout::{RECORD_TYPE, blob, event, large, record_type, userspace_object};
use crate::fxt::words::{TextRef, Words, read_text, unresolved_text};

/// Corrects the columns of all parts, which are in file order. Returns diagnostics.
pub(crate) fn settle<O: ByteOrder>(
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
    let nameless = settle_kinds(kinds, parts, &|place| {
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

/// If names found no room, assigns all kinds again by the first event of each in `parts`, so that the result does not
/// depend on which part was read first. `names_at` returns the names of the record at a place. Returns how many events
/// have a generic kind.
fn settle_kinds(
    kinds: &Kinds,
    parts: &mut [&mut LaneColumns],
    names_at: &(dyn Fn(u64) -> Option<Names> + Sync),
) -> u64 {
    let Some(old_names) = kinds.restart_if_full() else {
        return 0;
    };
    let met: Vec<Met> = parts
        .par_iter()
        .map(|part| Met::new(&part.events, names_at))
        .collect();
    let mut new_of = vec![NewKind::AsBefore; old_names.len()];
    let mut new_kind = |first: &First| match first {
        First::Named(names) => {
            let found = kinds.intern_with_room(names);
            found.unwrap_or_else(|| names.sort.generic_kind())
        }
        First::Known(kind) => {
            let index = usize::from(kind.0);
            if let (Some(entry), Some(Some(names))) = (new_of.get_mut(index), old_names.get(index))
                && *entry == NewKind::AsBefore
            {
                let found = kinds.intern_with_room(names);
                *entry = found.map_or(NewKind::NoRoom, NewKind::Is);
            }
            *kind
        }
    };
    let given: Vec<Vec<KindId>> = met
        .iter()
        .map(|part| part.firsts.iter().map(&mut new_kind).collect())
        .collect();
    let parts = parts.par_iter_mut().zip(&met).zip(&given);
    parts
        .map(|((part, met), given)| met.apply(&mut part.events, &new_of, given, names_at))
        .sum()
}

/// Returns the names of the record at a place, exactly as the bulk pass uses them for its kind.
fn names_at<O: ByteOrder>(file: Words<'_, O>, scan: &Scan, place: u64) -> Option<Names> {
    let record = file.record_at(place)?;
    let header = record.get(0)?;
    let empty = TextRef::Index(0);
    let (sort, category, name) = match RECORD_TYPE.get(header) {
        record_type::EVENT => {
            let mut next = if event::THREAD.get(header) == 0 { 4 } else { 2 };
            let category = read_text(header >> 32, record, &mut next)?;
            let name = read_text(header >> 48, record, &mut next)?;
            (
                Sort::from_event_type(event::KIND.get(header))?,
                category,
                name,
            )
        }
        record_type::BLOB => {
            let name = read_text(blob::NAME.get(header), record, &mut 1)?;
            (Sort::Blob, empty, name)
        }
        record_type::USERSPACE_OBJECT => {
            let mut next = 2 + object_owner_words(header, record);
            let name = read_text(userspace_object::NAME.get(header), record, &mut next)?;
            (Sort::Object, empty, name)
        }
        record_type::LARGE => {
            let fields = record.get(1)?;
            let mut next = 2;
            let category = read_text(large::CATEGORY.get(fields), record, &mut next)?;
            let name = read_text(large::NAME.get(fields), record, &mut next)?;
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
    Some(Names {
        sort,
        category: text(category),
        name: text(name),
    })
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

/// The kinds in one part, in the order of their first events.
#[derive(Debug, Default)]
struct Met {
    /// The kinds.
    firsts: Vec<First>,
    /// The events whose names found no room, each with the index in `firsts` of its kind: (event, index).
    late: Vec<(u32, u32)>,
}

/// The new number of a kind that had found room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NewKind {
    /// Unchanged, as generic kinds are.
    AsBefore,
    /// The new kind.
    Is(KindId),
    /// No room is left: other kinds come first.
    NoRoom,
}

/// A kind that occurs in a part.
#[derive(Debug)]
enum First {
    /// A kind in the table.
    Known(KindId),
    /// Names that found no room in the table.
    Named(Names),
}

impl Met {
    /// Collects the kinds of all events.
    fn new(events: &EventColumns, names_at: &dyn Fn(u64) -> Option<Names>) -> Met {
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

    /// Sets the new kinds of the events: `new_of` for kinds that had found room, `given` for entries of `firsts`.
    /// Returns how many events have a generic kind although they have names.
    fn apply(
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
                    let sort = names.map_or(Sort::Begin, |names| names.sort);
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
