//! The providers of the sources: each is announced with its name before our own, and blobs and objects that belong to
//! no thread are in a section of the provider that wrote them.
//!
//! All other records are in the section of our own provider, and use its tables and tick rate.

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::Records;
use crate::event::part::Provider;
use crate::event::{Role, TraceInfo};
use crate::fxt::agreed::OWN_PROVIDER;
use crate::trace::{EventId, ThreadId, Trace, TrackKind};

/// The most providers of a file whose blobs and objects keep their provider.
const MOST_NAMED: usize = 256;
/// The tick rate of our provider: one tick is a nanosecond.
const TICKS_PER_SECOND: u64 = 1_000_000_000;

/// The providers of the output.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    own: u32,
    /// The providers of the sources, with their numbers in the output.
    others: Vec<Provider>,
    /// The number of the provider, by the thread that represents it.
    of_threads: FxHashMap<ThreadId, u32>,
}

impl Providers {
    /// Returns the providers of a trace's files, which the threads `stand_ins` represent; each keeps its number unless
    /// another provider already has it.
    pub(crate) fn of(trace: &Trace, stand_ins: &FxHashSet<ThreadId>) -> Providers {
        let mut providers = Providers::default();
        // A provider that this program announced has no information besides its name.
        let is_other = |provider: &&Provider| {
            !provider.name.is_empty() && !provider.name.starts_with(OWN_PROVIDER.as_bytes())
        };
        let of_infos = infos(trace).into_iter();
        let all = of_infos.flat_map(|info| info.providers.iter().filter(is_other));
        let all: Vec<&Provider> = all.collect();
        let taken: FxHashSet<u32> = all.iter().map(|provider| provider.number).collect();
        let mut used = FxHashSet::default();
        let mut next = 1;
        let mut free = |used: &FxHashSet<u32>| {
            while used.contains(&next) || taken.contains(&next) {
                next += 1;
            }
            next
        };
        let mut numbers: FxHashMap<(u32, &[u8]), u32> = FxHashMap::default();
        for provider in all {
            let key = (provider.number, provider.name.as_slice());
            if numbers.contains_key(&key) {
                continue;
            }
            let number = match used.contains(&provider.number) {
                true => free(&used),
                false => provider.number,
            };
            used.insert(number);
            numbers.insert(key, number);
            providers.others.push(Provider {
                number,
                ..provider.clone()
            });
        }
        providers.own = free(&used);
        providers.find_threads(trace, stand_ins, |provider| {
            let key = (provider.number, provider.name.as_slice());
            numbers.get(&key).copied()
        });
        providers
    }

    /// Returns our own provider and those of a file whose records are kept: each of these keeps its number.
    pub(crate) fn beside(trace: &Trace, stand_ins: &FxHashSet<ThreadId>) -> Providers {
        let all = &trace.info.providers;
        let used: FxHashSet<u32> = all.iter().map(|provider| provider.number).collect();
        let count_of = |number: u32| all.iter().filter(|other| other.number == number).count();
        // Only a damaged or hostile file announces thousands of providers.
        let named = all
            .iter()
            .take(MOST_NAMED)
            .filter(|provider| !provider.name.is_empty() && count_of(provider.number) == 1);
        let mut providers = Providers {
            own: (1..).find(|number| !used.contains(number)).unwrap_or(0),
            others: named.cloned().collect(),
            ..Providers::default()
        };
        let numbers: FxHashSet<u32> = providers.others.iter().map(|it| it.number).collect();
        providers.find_threads(trace, stand_ins, |provider| {
            Some(provider.number).filter(|number| numbers.contains(number))
        });
        providers
    }

    /// Finds the provider of each thread that represents one: the first provider of its file with the thread's name.
    fn find_threads(
        &mut self,
        trace: &Trace,
        stand_ins: &FxHashSet<ThreadId>,
        number_of: impl Fn(&Provider) -> Option<u32>,
    ) {
        for &id in stand_ins {
            let source = trace.source_of(id.0, |source| &source.threads);
            let source = source.and_then(|id| trace.sources.get(id.0 as usize));
            let info = source.map_or(&trace.info, |source| &source.info);
            let name = trace.text(trace.thread(id).name);
            let provider = info.providers.iter().find(|it| it.thread_name == name);
            let number = provider.and_then(&number_of);
            self.of_threads.extend(number.map(|number| (id, number)));
        }
    }

    /// Returns the number of our own provider.
    pub(crate) fn own(&self) -> u32 {
        self.own
    }

    /// Returns the number of the provider that a thread represents, if the provider is announced.
    pub(crate) fn of_thread(&self, id: impl Into<Option<ThreadId>>) -> Option<u32> {
        self.of_threads.get(&id.into()?).copied()
    }
}

/// Returns the facts of each file of a trace about itself.
pub(crate) fn infos(trace: &Trace) -> Vec<&TraceInfo> {
    match trace.sources.is_empty() {
        true => vec![&trace.info],
        false => trace.sources.iter().map(|source| &source.info).collect(),
    }
}

/// Returns the threads that represent providers: threads without a number whose points come from records that contain
/// neither a time nor a thread.
pub(crate) fn stand_ins(trace: &Trace) -> FxHashSet<ThreadId> {
    let is_of_provider = |event: u32| {
        let kind = trace.events.kind(EventId(event));
        let kind = trace.kinds.get(kind.index());
        kind.is_some_and(|kind| matches!(kind.role, Role::Attachment | Role::PointerName))
    };
    let tracks = trace.tracks.iter().filter_map(|track| {
        let TrackKind::Thread(thread) = track.kind else {
            return None;
        };
        let is_unnumbered = trace.thread(thread).tid == 0;
        let first = trace.instants.of(&track.instants).next()?;
        (is_unnumbered && is_of_provider(first)).then_some(thread)
    });
    tracks.collect()
}

impl Records<'_> {
    /// Writes the head of a file: magic number and providers; ours is last, and one of its ticks is a nanosecond.
    /// `shift` was added to all times, in ns; `wall_clock_zero` is the wall clock at the trace's time 0, in ns since the Unix
    /// epoch.
    pub(crate) fn file_head(
        &mut self,
        providers: &Providers,
        shift: i64,
        wall_clock_zero: Option<i64>,
    ) {
        self.magic();
        for provider in &providers.others {
            self.provider_info(provider.number, &provider.name);
            self.ticks_per_second(provider.ticks_per_second);
        }
        let own = match shift {
            0 => OWN_PROVIDER.to_owned(),
            ns => format!("{OWN_PROVIDER} (all times + {ns} ns)"),
        };
        self.provider_info(providers.own, own.as_bytes());
        // Neither the tick nor the time may be negative.
        let wall = wall_clock_zero.map(|zero| (zero.min(0).unsigned_abs(), zero.max(0)));
        match wall {
            Some((before, wall)) => {
                let tick = shift.cast_unsigned().saturating_add(before);
                self.wall_clock_at(tick, wall.cast_unsigned());
            }
            None => self.ticks_per_second(TICKS_PER_SECOND),
        }
    }

    /// Writes a record by `write` into the section of `provider`, if there is one. The record then contains its texts,
    /// because the provider has no tables.
    pub(crate) fn in_section(
        &mut self,
        providers: &Providers,
        provider: Option<u32>,
        write: impl FnOnce(&mut Self),
    ) {
        let Some(provider) = provider else {
            return write(self);
        };
        self.is_inline = true;
        self.provider_section(provider);
        write(self);
        self.is_inline = false;
        self.provider_section(providers.own);
    }
}
