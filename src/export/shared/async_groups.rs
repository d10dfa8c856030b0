//! Names of asynchronous tracks, for the events whose readers would give their track another name.
//!
//! A reader names an asynchronous track after the outermost slice of an operation. That is the name in the trace, unless
//! that slice is not written, or the trace's format names its tracks otherwise.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::StringId;
use crate::event::Role;
use crate::query::selection::Chosen;
use crate::trace::{EventId, SliceId, Trace, TrackId, TrackKind};

/// Which events are written with the name of their track. By default those that have no names of their own.
#[derive(Debug, Default)]
pub(crate) struct AsyncGroups {
    /// Whether events that have names of their own are written with a different one of their track, too.
    has_all: bool,
    /// The slices that have names of their own, but no slice around them that has the name of their track.
    otherwise_named: FxHashSet<SliceId>,
}

impl AsyncGroups {
    /// Returns the groups for an export that writes all events anew.
    pub(crate) fn new(trace: &Trace, chosen: &Chosen<'_>) -> AsyncGroups {
        let slices = &trace.slices;
        let mut otherwise_named = FxHashSet::default();
        // By chosen slice: the name of the outermost chosen slice around it.
        let mut outermost: FxHashMap<SliceId, StringId> = FxHashMap::default();
        let mut order: Vec<(EventId, SliceId)> = Vec::new();
        for (row, track) in trace.tracks.iter().zip((0..).map(TrackId)) {
            let is_async = matches!(row.kind, TrackKind::Async(_));
            if !is_async || row.name == StringId::EMPTY || !chosen.has_track(track) {
                continue;
            }
            outermost.clear();
            order.clear();
            let all = slices
                .rows_of(row)
                .iter()
                .flat_map(|row| row.slices.clone());
            let is_chosen = |&slice: &u32| {
                chosen.has_all_slices_of(track) || chosen.has_slice(track, slice as usize)
            };
            let begin = |slice: u32| slices.begin(slice as usize);
            let all = all.filter(|&slice| has_own_name(trace, begin(slice)));
            order.extend(
                all.filter(is_chosen)
                    .map(|slice| (begin(slice), SliceId(slice))),
            );
            // Slices begin after the slices around them.
            order.sort_unstable();
            for &(_, slice) in &order {
                let around = slices.parent(slice.0 as usize);
                let name = around.and_then(|around| outermost.get(&around).copied());
                let name = name.unwrap_or_else(|| slices.label(slice).name);
                outermost.insert(slice, name);
                if name != row.name {
                    otherwise_named.insert(slice);
                }
            }
        }
        AsyncGroups {
            has_all: true,
            otherwise_named,
        }
    }

    /// Returns the name that is written with the begin and end of a slice.
    pub(crate) fn of_slice(
        &self,
        trace: &Trace,
        track: TrackId,
        slice: SliceId,
    ) -> Option<StringId> {
        let begin = trace.slices.begin(slice.0 as usize);
        let is_written = !has_own_name(trace, begin) || self.otherwise_named.contains(&slice);
        name_of(trace, track).filter(|_| is_written)
    }

    /// Returns the name that is written with an instant.
    pub(crate) fn of_instant(
        &self,
        trace: &Trace,
        track: TrackId,
        id: EventId,
    ) -> Option<StringId> {
        let kind = trace.kinds.get(trace.events.kind(id).index());
        let own = kind.filter(|kind| kind.role == Role::Named);
        let is_written = |name| own.is_none_or(|own| self.has_all && own.name != name);
        name_of(trace, track).filter(|&name| is_written(name))
    }
}

/// Returns the name of an asynchronous track, if it has one.
fn name_of(trace: &Trace, track: TrackId) -> Option<StringId> {
    let track = trace.tracks.get(track.0 as usize)?;
    let is_async = matches!(track.kind, TrackKind::Async(_));
    (is_async && track.name != StringId::EMPTY).then_some(track.name)
}

/// Returns whether an event has a name of its own, not that of its kind.
fn has_own_name(trace: &Trace, event: EventId) -> bool {
    let kind = trace.kinds.get(trace.events.kind(event).index());
    kind.is_none_or(|kind| kind.role == Role::Named)
}
