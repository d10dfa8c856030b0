//! Asynchronous slices and objects: begins, instants and ends that are matched by category, scope and id.

use super::emit::{Emitter, Event};
use super::ids::{IdReach, Identity, async_number};
use crate::base::StringId;
use crate::event::slice_kind::{Nesting, SliceKind};
use crate::event::{AsyncMark, AsyncOp, AsyncScope, Role};

impl<'f> Emitter<'f> {
    pub(super) fn async_mark(&mut self, event: &Event<'_, 'f>, op: AsyncOp) {
        let inner = self
            .stated_category(event)
            .map(|category| Event { category, ..*event });
        let event = inner.as_ref().unwrap_or(event);
        let moved = self.recorded_elsewhere(event);
        let recorded = moved.as_ref().unwrap_or(event);
        let index = self.push(recorded, Role::Named);
        let group = self.stated_group(event);
        let id = Identity::of(event.raw);
        let Some(number) = id.number else {
            self.note("no_id", event.at, || {
                "an asynchronous event has no id: it belongs to no slice, and is only in the list of events".to_owned()
            });
            return;
        };
        let scope = match (id.reach, self.out.people.process(event.pair.process)) {
            (IdReach::Local, Some(process)) => AsyncScope::Process(process),
            (IdReach::Unspecified, Some(process)) if event.raw.is_object() => {
                AsyncScope::Process(process)
            }
            // Our exporter gives local ids to whatever belongs to a process.
            (IdReach::Global, _) if self.source.is_ours => AsyncScope::Global,
            // After all parts are read, `reader` replaces this by the thread's process.
            _ => AsyncScope::ProcessOf(event.thread.into()),
        };
        let kind = match self.source.is_ours {
            true => self.stated_slice_kind(event).unwrap_or_else(|| {
                let category = self.out.columns.strings.bytes(event.category);
                SliceKind::implied(category, Nesting::Async)
            }),
            false => SliceKind::Async,
        };
        match op {
            AsyncOp::Begin => {
                self.own_cut(event, index);
                self.bound_flow(recorded, index);
            }
            AsyncOp::Instant => {
                self.own_cpu(recorded, index);
                self.bound_flow(recorded, index);
            }
            AsyncOp::End | AsyncOp::Over => {}
        }
        self.out.columns.asyncs.push(AsyncMark {
            event: index,
            op,
            scope,
            id: async_number(event.raw, number, id.reach),
            name: event.name,
            category: event.category,
            kind,
            group: group.unwrap_or(StringId::EMPTY),
        });
    }
}
