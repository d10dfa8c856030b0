//! The marks of flows as events.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

use super::flow_labels::FlowLabel;
use super::values::{exact, or};
use crate::event::flow_kind::{FLOW_KIND, FlowKind};
use crate::export::Chosen;
use crate::export::shared::flow_marks::{FlowMark, FlowStepSort, ReallyIn};
use crate::fxt::agreed::{REALLY_IN, REALLY_IN_FROM};
use crate::trace::{SliceId, Trace, TrackKind};

/// An event for a mark, without its process and thread.
pub(super) struct FlowEvent<'a> {
    pub phase: &'static str,
    pub category: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub time_ns: i64,
    /// The members of the event after its name and time.
    pub more: String,
    pub args: Map<String, Json>,
}

impl<'a> FlowEvent<'a> {
    /// Returns the event for a mark whose flow has `label`. `next` is the slice that [`next_slice`] returns.
    pub(super) fn new(
        trace: &'a Trace,
        mark: &FlowMark,
        label: FlowLabel,
        next: Option<SliceId>,
    ) -> FlowEvent<'a> {
        let row = trace.events.get(mark.event).row;
        let mut args = Map::new();
        if mark.is_moved {
            args.insert("really_at_ns".to_owned(), json!(row.time.0));
        }
        if label.id != mark.id {
            args.insert("id".to_owned(), json!(format!("{:#x}", mark.id)));
        }
        if let Some(own) = mark.name.filter(|&own| own != label.name) {
            args.insert("name".to_owned(), json!(exact(trace, own)));
        }
        let name = trace.strings.bytes(mark.name.unwrap_or(label.name));
        if mark.kind != FlowKind::implied(name) {
            args.insert(FLOW_KIND.to_owned(), json!(mark.kind.word()));
        }
        let bound = match (next, mark.really_in) {
            (Some(_), _) => "",
            (None, really_in) => {
                if let Some(really_in) = really_in {
                    args.insert(REALLY_IN.to_owned(), really_in_json(trace, really_in));
                    if let ReallyIn::Slice(slice) = really_in {
                        let start = trace.slices.starts.at(slice.0 as usize);
                        args.insert(REALLY_IN_FROM.to_owned(), json!(start));
                    }
                }
                ",\"bp\":\"e\""
            }
        };
        FlowEvent {
            phase: match mark.sort {
                FlowStepSort::Begin => "s",
                FlowStepSort::Step => "t",
                FlowStepSort::End => "f",
            },
            category: or(exact(trace, label.category), "flow"),
            name: exact(trace, label.name),
            time_ns: mark.time,
            more: format!(",\"id\":\"{:#x}\"{bound}", label.id),
            args,
        }
    }
}

/// Returns the slice to which a mark belongs, if readers find it as the next slice: an end without `bp` belongs to it.
/// That of a moved end is not written, nor is one that begins after the range.
pub(super) fn next_slice(trace: &Trace, chosen: &Chosen<'_>, mark: &FlowMark) -> Option<SliceId> {
    let (FlowStepSort::End, Some(ReallyIn::Slice(slice))) = (mark.sort, mark.really_in) else {
        return None;
    };
    let own = trace.slices.get(slice);
    let around = own.parent.map(|around| trace.slices.get(around).start);
    let is_outermost = around.is_none_or(|around| around < own.start);
    let track = trace.slices.row_of(slice).track;
    let kind = trace.tracks.get(track.0 as usize).map(|track| track.kind);
    let is_of_thread = mark.thread.map(TrackKind::Thread) == kind;
    let is_written = own.start < chosen.span.end && chosen.has_slice(track, slice.0 as usize);
    let is_next = !mark.is_moved && own.start.0 >= mark.time && is_outermost;
    (is_next && is_of_thread && is_written).then_some(slice)
}

/// Returns the name of the slice to which a mark belongs; null if it belongs to none.
fn really_in_json(trace: &Trace, really_in: ReallyIn) -> Json {
    match really_in {
        ReallyIn::Slice(slice) => json!(exact(trace, trace.slices.label(slice).name)),
        ReallyIn::Nothing => Json::Null,
    }
}
