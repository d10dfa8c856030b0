//! Converts ids of asynchronous events and flows, which are texts or numbers, to 64 bits.

use super::event::RawEvent;
use super::numbers::{whole, whole_of_any};
use super::scan::{Members, Raw};
use super::text::plain;

/// The processes in which an id has the same meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdReach {
    /// `id`: all processes; its own process for objects.
    Unspecified,
    /// `id2.local`: its own process.
    Local,
    /// `id2.global`: all processes.
    Global,
}

/// The id of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) number: Option<u64>,
    pub(super) reach: IdReach,
}

impl Identity {
    pub(super) fn of(raw: &RawEvent<'_>) -> Identity {
        let number = |raw: Raw<'_>| (raw != Raw::None).then(|| id_number(raw));
        let unspecified = Identity {
            number: number(raw.more.id),
            reach: IdReach::Unspecified,
        };
        let mut members = Members::of(raw.more.id2.nested());
        let found = members.find_map(|(key, value)| {
            let reach = match key.bytes {
                b"local" => IdReach::Local,
                b"global" => IdReach::Global,
                _ => return None,
            };
            Some(Identity {
                number: number(value),
                reach,
            })
        });
        found.unwrap_or(unspecified)
    }
}

/// Returns the number of an id: the number that its digits form, or a 64-bit hash of any other text.
pub(super) fn id_number(raw: Raw<'_>) -> u64 {
    match raw {
        Raw::Text(text) => whole(text.bytes).unwrap_or_else(|| hash(&plain(text))),
        Raw::Word(word) => whole_of_any(word).unwrap_or_else(|| hash(word)),
        Raw::Nested(bytes) => hash(bytes),
        Raw::None => 0,
    }
}

/// Returns 64 bits for an asynchronous event's id, from its number and reach. Ids are distinct for each category and
/// each `scope`, for objects, and for `id2.local`; the result contains all of this, because readers of our FXT files
/// see only these 64 bits.
pub(super) fn async_number(event: &RawEvent<'_>, number: u64, reach: IdReach) -> u64 {
    let category = hash(&event.category.plain());
    let is_local = reach == IdReach::Local;
    // An `id` means all processes, but of an object only its own: there, a global one differs from it.
    let is_global_object = event.is_object() && reach == IdReach::Global;
    let space =
        u64::from(event.is_object()) ^ u64::from(is_local) << 1 ^ u64::from(is_global_object) << 2;
    let space = category ^ hash(&event.more.scope.plain()) ^ space;
    mixed(space ^ mixed(number))
}

/// Returns 64 well-mixed bits of some bytes; 0 for no bytes.
fn hash(bytes: &[u8]) -> u64 {
    let mut state = 0;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(chunk) {
            *to = *from;
        }
        state = mixed(state ^ u64::from_le_bytes(word)).wrapping_add(chunk.len() as u64);
    }
    state
}

/// Mixes the bits of a number: each bit affects about half of the result's bits, and different numbers have different
/// results.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
