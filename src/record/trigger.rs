//! Searches for an expression in events while they are recorded.
//!
//! New pages are put in a small trace.dat in memory (`memory_file`), which is opened and searched like any file. So an
//! expression has the same meaning as in a search: it finds events, slices (`name == "vfs_read" && dur > 5ms`), and
//! states of threads (`state == runnable && dur > 5ms`: a wakeup latency). Pages of the last [`CARRIED`] are searched
//! again together with the new ones, to find what began in them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::memory_file::{MemoryFile, PagesByCpu, Stage};
use crate::base::Job;
use crate::load::{Reading, open_bytes};
use crate::query::expression::{Expression, ExpressionError};
use crate::query::search::{Place, Places, Query, search};

/// Maximum age of pages that are searched again together with new ones.
const CARRIED: Duration = Duration::from_millis(500);

/// Pages of a CPU.
#[derive(Clone, Debug)]
pub(crate) struct FreshPages {
    /// Number of the CPU.
    pub cpu: u32,
    /// Whole pages, oldest first.
    pub pages: Arc<Vec<u8>>,
}

/// A search for an expression in new pages.
pub(crate) struct Trigger {
    query: Query,
    maker: MemoryFile,
    carried: Vec<(Instant, Vec<FreshPages>)>,
    /// Time spent on searching.
    pub spent: Duration,
}

impl Trigger {
    /// Returns a trigger that has searched nothing yet.
    ///
    /// # Errors
    /// If the expression names an event or a field that this kernel does not have.
    pub(crate) fn new(
        expression: Expression,
        stage: &Stage<'_>,
    ) -> Result<Trigger, ExpressionError> {
        let mut query = Query::new(expression);
        let places = [Place::Slices, Place::Events, Place::States, Place::Instants];
        query.places = Places::of(&places);
        query.limit = 1;
        let mut trigger = Trigger {
            query,
            maker: MemoryFile::new(stage),
            carried: Vec::new(),
            spent: Duration::ZERO,
        };
        // A file without pages but with all formats: a name that is unknown in it can never match.
        let all = trigger.maker.all_ids();
        trigger.search(&trigger.maker.file(&PagesByCpu::new(), &all, &[]))?;
        trigger.spent = Duration::ZERO;
        Ok(trigger)
    }

    /// Searches new pages; returns whether anything matches.
    pub(crate) fn matches(&mut self, fresh: Vec<FreshPages>) -> bool {
        if fresh.iter().all(|cpu| cpu.pages.is_empty()) {
            return false;
        }
        let start = Instant::now();
        self.carried
            .retain(|(taken, _)| start.duration_since(*taken) <= CARRIED);
        self.carried.push((start, fresh));
        let mut by_cpu = PagesByCpu::new();
        for cpu in self.carried.iter().flat_map(|(_, pages)| pages) {
            by_cpu
                .entry(cpu.cpu)
                .or_default()
                .extend_from_slice(&cpu.pages);
        }
        let ids = self.maker.ids_in(&by_cpu);
        let is_match = self.search(&self.maker.file(&by_cpu, &ids, &[]));
        let is_match = is_match.unwrap_or(false);
        if is_match {
            self.carried.clear();
        }
        self.spent += start.elapsed();
        is_match
    }

    fn search(&self, file: &[u8]) -> Result<bool, ExpressionError> {
        let job = Job::default();
        let path = Path::new("live.dat");
        let name = path.to_string_lossy();
        let Ok(loaded) = open_bytes(&name, file.to_vec(), Reading::default(), &job) else {
            return Ok(false);
        };
        let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
        let found = search(trace, reader, &self.query, &job, &mut |_| {})?;
        match found.unknown {
            // An event that has not occurred yet is unknown in the small file, but not to the kernel.
            Some(error) if trace.events.is_empty() => Err(error),
            _ => Ok(found.total() > 0),
        }
    }
}
