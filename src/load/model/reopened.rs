//! The events of a recording whose columns came from a model file.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::base::Job;
use crate::event::{DecodedEvent, KindId, Need};
use crate::formats::events::FieldReader;
use crate::formats::{AnyStream, EventRef, Events};
use crate::trace::Trace;

/// Decodes events; prepares the reader when the first event is decoded. That takes up to as long as reading the file.
pub(crate) struct Reopened {
    events: Arc<dyn Events>,
    stream: Arc<dyn AnyStream>,
    trace: Arc<Trace>,
    is_ready: OnceLock<()>,
}

impl Reopened {
    /// Returns the events of the recording with this stream, of which `trace` was made.
    pub(crate) fn new(
        events: Arc<dyn Events>,
        stream: Arc<dyn AnyStream>,
        trace: Arc<Trace>,
    ) -> Reopened {
        Reopened {
            events,
            stream,
            trace,
            is_ready: OnceLock::new(),
        }
    }

    fn ready(&self) -> &dyn Events {
        // Without memory for it, events have no text and no fields, as if the file could no longer be read.
        self.is_ready
            .get_or_init(|| drop(self.stream.prepare(&self.trace, &Job::default())));
        &*self.events
    }
}

impl Events for Reopened {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        self.ready().decode(event, need, decoded);
    }

    fn payload(&self, event: EventRef) -> Option<Cow<'_, [u8]>> {
        self.ready().payload(event)
    }

    fn field_names(&self, kind: KindId) -> Option<Vec<&str>> {
        self.ready().field_names(kind)
    }

    fn record_file(&self) -> Option<&dyn Any> {
        self.ready().record_file()
    }

    fn own_field_reader(&self) -> Option<Box<dyn FieldReader + '_>> {
        self.ready().own_field_reader()
    }

    fn memory_bytes(&self) -> u64 {
        self.events.memory_bytes()
    }
}
