//! Flags: times with a note and a colour.

use super::direction::Direction;
use crate::base::Timestamp;
use serde::{Deserialize, Serialize};

/// Number of flag colours.
pub(crate) const COLORS: u8 = 6;

/// One flag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Flag {
    /// Time of the flag.
    pub time: Timestamp,
    /// Note of the user.
    pub note: String,
    /// Index of the colour, below [`COLORS`].
    pub color: u8,
}

/// A change to the flags; indices are in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flagging {
    /// Add a flag at a time.
    Add(Timestamp),
    /// Set the note of a flag.
    Note(usize, String),
    /// Give a flag the next colour.
    Recolor(usize),
    /// Move the flag at the first time to the second, unless there is one already.
    Move(Timestamp, Timestamp),
    /// Remove a flag.
    Remove(usize),
    /// Remove the flag nearest to a time.
    RemoveNear(Timestamp),
}

/// Carries out a change; flags stay sorted by time.
pub fn change(flags: &mut Vec<Flag>, what: Flagging) {
    match what {
        Flagging::Add(time) => {
            let at = flags.partition_point(|flag| flag.time < time);
            if flags.get(at).is_none_or(|flag| flag.time != time) {
                let color = flags.len() as u8 % COLORS;
                let note = String::new();
                flags.insert(at, Flag { time, note, color });
            }
        }
        Flagging::Note(at, note) => {
            if let Some(flag) = flags.get_mut(at) {
                flag.note = note;
            }
        }
        Flagging::Recolor(at) => {
            if let Some(flag) = flags.get_mut(at) {
                flag.color = (flag.color + 1) % COLORS;
            }
        }
        Flagging::Move(from, to) => {
            let is_free = flags.iter().all(|flag| flag.time != to);
            if let (true, Some(flag)) = (is_free, flags.iter_mut().find(|flag| flag.time == from)) {
                flag.time = to;
                flags.sort_by_key(|flag| flag.time);
            }
        }
        Flagging::Remove(at) => {
            if at < flags.len() {
                flags.remove(at);
            }
        }
        Flagging::RemoveNear(time) => {
            let distance = |flag: &Flag| (flag.time - time).0.unsigned_abs();
            let nearest = (0..flags.len()).min_by_key(|at| distance(&flags[*at]));
            if let Some(at) = nearest {
                flags.remove(at);
            }
        }
    }
}

/// Returns the time of the next or previous flag, seen from `time`.
#[must_use]
pub(crate) fn beside(flags: &[Flag], time: Timestamp, direction: Direction) -> Option<Timestamp> {
    match direction {
        Direction::Next => flags.iter().find(|flag| flag.time > time),
        Direction::Previous => flags.iter().rev().find(|flag| flag.time < time),
    }
    .map(|flag| flag.time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stay_in_order_and_are_stepped_through() {
        let mut flags = Vec::new();
        for time in [30, 10, 20, 10] {
            change(&mut flags, Flagging::Add(Timestamp(time)));
        }
        change(&mut flags, Flagging::Note(1, "here".to_owned()));
        change(&mut flags, Flagging::Recolor(0));
        let times: Vec<i64> = flags.iter().map(|flag| flag.time.0).collect();
        assert_eq!(times, [10, 20, 30]);
        assert_eq!(flags[1].note, "here");
        let next = beside(&flags, Timestamp(10), Direction::Next);
        assert_eq!(next, Some(Timestamp(20)));
        assert_eq!(beside(&flags, Timestamp(10), Direction::Previous), None);
        // A flag that is moved past another keeps its note; no two flags share a time.
        change(&mut flags, Flagging::Move(Timestamp(20), Timestamp(40)));
        change(&mut flags, Flagging::Move(Timestamp(40), Timestamp(30)));
        assert_eq!((flags[2].time, &*flags[2].note), (Timestamp(40), "here"));
        change(&mut flags, Flagging::Move(Timestamp(40), Timestamp(20)));
        change(&mut flags, Flagging::RemoveNear(Timestamp(22)));
        change(&mut flags, Flagging::Remove(9));
        assert_eq!(flags.len(), 2);
    }
}
