//! Flow events, and slices at which arrows start or end.

use super::emit::{Emitter, Event, argument_of};
use super::ids::{Identity, id_number};
use super::numbers::whole;
use super::scan::Raw;
use crate::base::StringId;
use crate::event::flow_kind::FLOW_KIND;
use crate::event::{FlowBound, FlowJoin, FlowKind, FlowMark, FlowOp, Role};
use crate::fxt::agreed::{REALLY_IN, REALLY_IN_FROM};

impl<'f> Emitter<'f> {
    pub(super) fn flow(&mut self, event: &Event<'_, 'f>, op: FlowOp) {
        let Some(id) = Identity::of(event.raw).number else {
            self.push(event, Role::Named);
            self.note("no_id", event.at, || {
                "a flow event has no id and belongs to no arrow".to_owned()
            });
            return;
        };
        let mut bound = match (op, event.raw.more.bound.bytes()) {
            (FlowOp::End, bound) if bound != b"e" => FlowBound::Next,
            _ if self.source.is_ours => FlowBound::Around,
            _ => FlowBound::AroundOrEnding,
        };
        let mut moved = *event;
        if self.source.is_ours
            && let Some(really) = argument_of(event, b"really_at_ns")
            && whole(really.bytes()) == u64::try_from(event.time.saturating_add(1)).ok()
        {
            bound = FlowBound::AtEnd;
            moved.time += 1;
        }
        if self.source.is_ours
            && let Some(slice) = argument_of(event, REALLY_IN.as_bytes())
        {
            // Readers would bind this end otherwise. If it has no slice, or that was not written, it belongs to none.
            let from = argument_of(event, REALLY_IN_FROM.as_bytes());
            let from = from.and_then(|from| whole(from.bytes()));
            bound = match (slice, from.and_then(|from| i64::try_from(from).ok())) {
                (Raw::Text(name), Some(at)) => FlowBound::Begun {
                    at,
                    name: self.intern(name),
                },
                _ => FlowBound::Nowhere,
            };
        }
        let index = self.push(&moved, Role::Named);
        let (joined, name, kind) = match self.source.is_ours {
            false => (FlowJoin::ByIdAndNames, event.name, FlowKind::Stated),
            true => self.own_flow(event),
        };
        self.out.columns.flows.push(FlowMark {
            event: index,
            op,
            bound,
            joined,
            id,
            name,
            category: event.category,
            kind,
        });
    }

    /// Returns how an arrow of our own exporter is joined to others, its name and its kind. All arrows of a flow share a
    /// name in the file, which other readers join them by; each flow has an id of its own.
    fn own_flow(&mut self, event: &Event<'_, 'f>) -> (FlowJoin, StringId, FlowKind) {
        let name = match argument_of(event, b"name") {
            Some(Raw::Text(own)) => self.intern(own),
            _ => event.name,
        };
        let kind = match argument_of(event, FLOW_KIND.as_bytes()) {
            Some(word) => FlowKind::of_word(word.bytes()).unwrap_or_default(),
            None => FlowKind::implied(self.out.columns.strings.bytes(name)),
        };
        (FlowJoin::ById, name, kind)
    }

    /// Adds the arrow that starts at the slice or instant of an event with `bind_id`, passes through it or ends at it.
    #[inline]
    pub(super) fn bound_flow(&mut self, event: &Event<'_, 'f>, index: u32) {
        if event.raw.more.bind_id != Raw::None {
            let op = match (
                is_true(event.raw.more.flow_in),
                is_true(event.raw.more.flow_out),
            ) {
                (true, true) => FlowOp::Step,
                (true, false) => FlowOp::End,
                (false, true) => FlowOp::Begin,
                (false, false) => return,
            };
            self.out.columns.flows.push(FlowMark {
                event: index,
                op,
                bound: match event.raw.phase {
                    b'n' => FlowBound::Nowhere,
                    _ => FlowBound::Own,
                },
                joined: FlowJoin::ByIdAndNames,
                id: id_number(event.raw.more.bind_id),
                name: StringId::EMPTY,
                category: StringId::EMPTY,
                kind: FlowKind::Stated,
            });
        }
    }
}

fn is_true(raw: Raw<'_>) -> bool {
    matches!(raw.bytes(), b"true" | b"1")
}
