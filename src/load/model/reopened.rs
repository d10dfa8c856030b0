//! The events of a recording whose columns came from a model file.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::event::{DecodedEvent, KindId, Need};
use crate::formats::events::FieldReader;
use crate::formats::stream::KeptFacts;
use crate::formats::{AnyStream, EventRef, Events};
use crate::trace::Trace;

/// Decodes events; the reader takes the facts from the model file when the first event is decoded.
pub(crate) struct Reopened {
    events: Arc<dyn Events>,
    facts: Taking,
    is_ready: OnceLock<()>,
}

/// What a reader takes from a model file.
pub(crate) struct Taking {
    pub(crate) stream: Arc<dyn AnyStream>,
    /// The trace that was made of the recording.
    pub(crate) trace: Arc<Trace>,
    /// Facts from the model file.
    pub(crate) facts: KeptFacts,
}

impl Taking {
    /// Makes the events of the recording decodable. Does not use the pool: its threads may all be waiting for this.
    pub(crate) fn take(&self) {
        // Without memory for it, events have no text and no fields, as if the file could no longer be read.
        let _no_memory = self.stream.take_facts(&self.facts, &self.trace);
    }
}

impl Reopened {
    /// Returns the events of a recording.
    pub(crate) fn new(events: Arc<dyn Events>, facts: Taking) -> Reopened {
        Reopened {
            events,
            facts,
            is_ready: OnceLock::new(),
        }
    }

    fn ready(&self) -> &dyn Events {
        self.is_ready.get_or_init(|| self.facts.take());
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
