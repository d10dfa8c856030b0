//! The columns by which a row of an answer leads to its place on the timeline.

use crate::base::{Nanos, Timestamp};
use crate::query::row_place::RowPlace;
use crate::tables::Cell;
use crate::trace::ThreadId;

/// The indices of these columns in the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlaceColumns {
    time: Option<usize>,
    length: Option<usize>,
    id: Option<usize>,
    track: Option<usize>,
    thread: Option<usize>,
}

impl PlaceColumns {
    /// Returns the columns among those with these names: `ts`, `dur`, `id`, `track_id` and `utid`, as tables of data sets
    /// call them.
    #[must_use]
    pub(crate) fn of(names: &[&str]) -> PlaceColumns {
        let at = |name: &str| names.iter().position(|it| it.eq_ignore_ascii_case(name));
        PlaceColumns {
            time: at("ts"),
            length: at("dur"),
            id: at("id"),
            track: at("track_id"),
            thread: at("utid"),
        }
    }

    /// Returns whether rows have a time, without which they have no place.
    #[must_use]
    pub(crate) fn has_time(&self) -> bool {
        self.time.is_some()
    }

    /// Returns the place of a row.
    #[must_use]
    pub(crate) fn place(&self, cells: &[Cell<'_>]) -> Option<RowPlace> {
        let whole = |at: Option<usize>| match cells.get(at?)? {
            Cell::Int(value) => Some(*value),
            _ => None,
        };
        let time = |at| whole(at).and_then(|value| i64::try_from(value).ok());
        let number = |at| whole(at).and_then(|value| u32::try_from(value).ok());
        Some(RowPlace {
            time: Timestamp(time(self.time)?),
            length: time(self.length).map(Nanos),
            id: number(self.id),
            track: number(self.track),
            thread: number(self.thread).map(ThreadId),
        })
    }
}
