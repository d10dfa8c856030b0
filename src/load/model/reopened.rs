//! The events of a recording whose columns came from a model file.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::base::{Job, ReadError};
use crate::event::{DecodedEvent, KindId, Need};
use crate::formats::events::FieldReader;
use crate::formats::stream::KeptFacts;
use crate::formats::{AnyStream, EventRef, Events};
use crate::trace::Trace;

/// Decodes events; prepares the reader when the first event is decoded. Without facts in the model file, that takes up to
/// as long as reading the file.
pub(crate) struct Reopened {
    events: Arc<dyn Events>,
    preparation: Preparation,
    is_ready: OnceLock<()>,
}

/// What the reader of a recording is prepared with.
pub(crate) struct Preparation {
    pub(crate) stream: Arc<dyn AnyStream>,
    /// The trace that was made of the recording.
    pub(crate) trace: Arc<Trace>,
    /// Facts from the model file.
    pub(crate) facts: Option<KeptFacts>,
}

impl Preparation {
    /// Makes the events of the recording decodable.
    ///
    /// # Errors
    /// If there is not enough memory, or the job was cancelled.
    pub(crate) fn run(&self, job: &Job) -> Result<(), ReadError> {
        let taken =
            (self.facts.as_ref()).and_then(|facts| self.stream.take_facts(facts, &self.trace));
        match taken {
            Some(()) => Ok(()),
            None => self.stream.prepare(&self.trace, job),
        }
    }
}

impl Reopened {
    /// Returns the events of a recording.
    pub(crate) fn new(events: Arc<dyn Events>, preparation: Preparation) -> Reopened {
        Reopened {
            events,
            preparation,
            is_ready: OnceLock::new(),
        }
    }

    fn ready(&self) -> &dyn Events {
        // Without memory for it, events have no text and no fields, as if the file could no longer be read.
        self.is_ready
            .get_or_init(|| apart(|| drop(self.preparation.run(&Job::default()))));
        &*self.events
    }
}

/// Does `work` with threads of its own, which are all that this thread waits for. Threads of the common pool may all be
/// waiting for the end of the work; and one of them that waited for a part of it would take up other work meanwhile,
/// which may wait for that end, too. Without threads the work is left undone.
fn apart(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let in_own_pool = || {
            if let Ok(pool) = rayon::ThreadPoolBuilder::new().build() {
                pool.install(work);
            }
        };
        let thread = std::thread::Builder::new().name("prepare".to_owned());
        let _undone = thread.spawn_scoped(scope, in_own_pool);
    });
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rayon::prelude::*;

    use super::*;

    #[test]
    fn threads_of_the_pool_may_all_wait_for_what_uses_the_pool() {
        let sum = AtomicU32::new(0);
        let is_ready = OnceLock::new();
        let part = |number: u32| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            sum.fetch_add(number, Ordering::Relaxed);
        };
        let look = || {
            let all = || (0..64_u32).into_par_iter().with_max_len(1).for_each(part);
            is_ready.get_or_init(|| apart(all));
            assert_eq!(sum.load(Ordering::Relaxed), 63 * 64 / 2);
        };
        rayon::join(look, || {
            (0..64).into_par_iter().with_max_len(1).for_each(|_| look());
        });
    }
}
