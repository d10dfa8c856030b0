//! Returns the lines of a report one by one, so that they can be merged with lines of other files by time; with time
//! differences between lines, and wakeup latencies.

use std::sync::Arc;

use super::line::push_line;
use super::merge::{Batch, Merge};
use super::setup::{Look, Setup, Stream};
use super::wakeups::Wakeups;
use crate::formats::report::{ReportLines, ReportOptions};
use crate::formats::tracedat::decoder::Memory;

/// The lines of one file's report, in time order.
pub(super) struct Lines<'a, S> {
    setup: Arc<Setup<'a>>,
    merge: Merge<'a, S>,
    batch: Batch,
    next: usize,
    memory: Memory,
    look: Look,
    shows_steps: bool,
    wakeups: Option<Wakeups>,
}

impl<'a, S: Stream> Lines<'a, S> {
    pub(super) fn new(streams: Vec<S>, setup: Setup<'a>, options: &'a ReportOptions) -> Self {
        let setup = Arc::new(setup);
        let look = Look::of(options);
        let mut lines = Lines {
            merge: Merge::new(streams, Arc::clone(&setup), options, look),
            batch: Batch::default(),
            next: 0,
            memory: Memory {
                options: look.functions,
                ..Memory::default()
            },
            look,
            shows_steps: options.records.shows_steps,
            wakeups: options
                .records
                .shows_wakeups
                .then(|| Wakeups::of(setup.decoder))
                .flatten(),
            setup,
        };
        lines.merge.fill(&mut lines.batch);
        lines
    }
}

impl<S: Stream> ReportLines for Lines<'_, S> {
    fn head(&self) -> Vec<u8> {
        self.setup.head()
    }

    fn time(&self) -> Option<u64> {
        self.batch.lines.get(self.next).map(|line| line.time)
    }

    fn push(&mut self, out: &mut Vec<u8>, before: &mut u64) {
        let Some(line) = self.batch.lines.get(self.next) else {
            return;
        };
        let step = self.shows_steps.then(|| {
            let time = match self.setup.has_steps_in_us {
                true => line.time.wrapping_add(500) / 1000,
                false => line.time,
            };
            match std::mem::replace(before, time) {
                0 => String::new(),
                before => format!("(+{})", time.wrapping_sub(before).cast_signed()),
            }
        });
        let (setup, memory) = (&self.setup, &mut self.memory);
        let step = step.as_deref();
        push_line(out, &self.batch, line, setup, self.look, memory, step);
        if let Some(wakeups) = &mut self.wakeups
            && let Some(waited) = wakeups.see(&self.batch, line, setup.decoder)
            && out.last() == Some(&b'\n')
        {
            out.pop();
            out.extend_from_slice(waited.as_bytes());
            out.push(b'\n');
        }
        self.next += 1;
        if self.next == self.batch.lines.len() {
            self.merge.fill(&mut self.batch);
            self.next = 0;
        }
    }

    fn foot(&self) -> Vec<u8> {
        let wakeups = self.wakeups.as_ref();
        wakeups.map_or(Vec::new(), |wakeups| wakeups.summary().into_bytes())
    }
}
