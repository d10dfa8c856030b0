//! The time that compilers spent on headers, templates and passes, from the traces that clang writes with
//! `-ftime-trace`, added up over all compiled files.
//!
//! ```text
//! ExecuteCompiler |--------------------------------------------|      a compilation: the process of such a slice
//!   Source        |--a.hpp-------------|                              total of a.hpp: all of it
//!     Source         |--string--|                                     own time of a.hpp: without string
//!   RunPass                               |--DAG selection--|
//! ```
//!
//! Headers and templates are named by the argument `detail`. A header or template that is nested in itself adds nothing
//! to its total. Compilers that write headers as asynchronous slices (clang 19) have them on tracks of their own.

use std::cmp::Reverse;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::item::event_ref;
use crate::base::{Cancelled, Job, StringId, dev_assert};
use crate::event::{CompilerWork, Value};
use crate::formats::Events;
use crate::trace::{ProcessId, SliceId, Trace, Track, TrackId, TrackKind};

/// The kinds of work of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostKind {
    /// A file that was read because of an `#include`.
    Header,
    /// A class or function made from a template.
    Template,
    /// A step of the optimiser or of the code generator.
    Pass,
}

impl CostKind {
    /// Returns the kind as one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            CostKind::Header => "header",
            CostKind::Template => "template",
            CostKind::Pass => "pass",
        }
    }
}

/// The cost of one header, template or pass in all compilations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerCost {
    /// Whether it is a header, template or pass.
    pub kind: CostKind,
    /// The path of a header, or the name.
    pub name: String,
    /// How often it was processed.
    pub count: u64,
    /// The number of compilations that contain it.
    pub compilations: u64,
    /// The time from begin to end, in ns; a header nested in itself counts once.
    pub total_ns: i64,
    /// The time without other headers, templates and passes inside of it, in ns.
    pub own_ns: i64,
    /// The duration of the longest slice, in ns.
    pub longest_ns: i64,
    /// The longest slice.
    pub longest: SliceId,
}

impl CompilerCost {
    /// Returns the time in ns that would be saved without it. For passes this is the own time, because some passes only
    /// call other passes.
    fn worth_ns(&self) -> i64 {
        match self.kind {
            CostKind::Header | CostKind::Template => self.total_ns,
            CostKind::Pass => self.own_ns,
        }
    }
}

/// The argument with the name of a header or template.
const DETAIL: &str = "detail";

/// The kind of a label's slices, and whether their argument names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sort {
    kind: CostKind,
    is_named_by_argument: bool,
}

impl Sort {
    /// Returns the kind of the slices with this work; `None` if they are neither headers, templates nor passes.
    fn of(work: CompilerWork) -> Option<Sort> {
        let (kind, is_named_by_argument) = match work {
            CompilerWork::Header => (CostKind::Header, true),
            CompilerWork::Template => (CostKind::Template, true),
            CompilerWork::NamedPass => (CostKind::Pass, true),
            CompilerWork::Pass => (CostKind::Pass, false),
            CompilerWork::None | CompilerWork::Compilation => return None,
        };
        Some(Sort {
            kind,
            is_named_by_argument,
        })
    }
}

/// Returns the cost of each header, template and pass: headers first, then templates, then passes, each kind with the
/// most expensive first. Only slices that `is_chosen` accepts count.
///
/// # Errors
/// Errors if the job is cancelled.
pub(crate) fn compiler_costs(
    trace: &Trace,
    reader: &dyn Events,
    is_chosen: impl Fn(TrackId, u32) -> bool + Sync,
    job: &Job,
) -> Result<Vec<CompilerCost>, Cancelled> {
    let compilers = compilers(trace);
    if compilers.is_empty() {
        return Ok(Vec::new());
    }
    let labels = trace.slices.labels.iter();
    let works = labels.map(|label| label.compiler_work(&trace.strings));
    let sorts: Vec<Option<Sort>> = works.map(Sort::of).collect();
    let ground = Ground {
        trace,
        reader,
        sorts: &sorts,
    };
    let tracks: Vec<(TrackId, &Track, ProcessId)> = (0..)
        .map(TrackId)
        .zip(trace.tracks.iter())
        .filter_map(|(id, track)| {
            let process = process_of(trace, track.kind)?;
            compilers.contains(&process).then_some((id, track, process))
        })
        .collect();
    job.add_total(tracks.len() as u64);
    let costs = tracks
        .par_iter()
        .map(|(id, track, process)| {
            job.check()?;
            let mut costs = Costs::default();
            ground.add_track(track, *process, |slice| is_chosen(*id, slice), &mut costs);
            job.advance(1);
            Ok(costs)
        })
        .try_reduce(Costs::default, |a, b| Ok(a.with(b)))?;
    Ok(costs.sorted())
}

/// Returns the processes of compilers that traced a compilation.
pub(super) fn compilers(trace: &Trace) -> FxHashSet<ProcessId> {
    if !trace.has_compilations() {
        return FxHashSet::default();
    }
    let slices = &trace.slices;
    let is_one: Vec<bool> = (slices.labels.iter())
        .map(|label| label.compiler_work(&trace.strings) == CompilerWork::Compilation)
        .collect();
    let has_one = |track: &&Track| {
        let ids = slices
            .rows_of(track)
            .iter()
            .flat_map(|row| row.slices.clone());
        ids.map(|slice| slices.label_ids.at(slice as usize) as usize)
            .any(|label| is_one.get(label) == Some(&true))
    };
    let tracks = trace.tracks.iter().filter(has_one);
    tracks
        .filter_map(|track| process_of(trace, track.kind))
        .collect()
}

pub(super) fn process_of(trace: &Trace, kind: TrackKind) -> Option<ProcessId> {
    match kind {
        TrackKind::Thread(thread) => trace.thread(thread).process,
        TrackKind::Async(process) => process,
        TrackKind::Cpu(_) | TrackKind::Nobody => None,
    }
}

#[derive(Clone, Copy)]
struct Ground<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
    /// By label.
    sorts: &'a [Option<Sort>],
}

/// A slice that may contain the next one.
struct Around {
    slice: u32,
    /// Its number in the track's costs, if it counts.
    cost: Option<usize>,
    duration_ns: i64,
    /// The time of other headers, templates and passes inside of it.
    inner_ns: i64,
}

impl Ground<'_> {
    /// Adds the slices of a track of a compilation.
    fn add_track(
        self,
        track: &Track,
        process: ProcessId,
        is_chosen: impl Fn(u32) -> bool,
        costs: &mut Costs,
    ) {
        let slices = &self.trace.slices;
        let of_rows = (0_u32..).zip(slices.rows_of(track));
        let mut all: Vec<(i64, u32, u32)> = of_rows
            .flat_map(|(depth, row)| row.slices.clone().map(move |slice| (depth, slice)))
            .map(|(depth, slice)| (slices.starts.at(slice as usize), depth, slice))
            .collect();
        all.sort_unstable();
        // For each cost, the number of its slices that are open.
        let mut open: FxHashMap<usize, u32> = FxHashMap::default();
        let mut around: Vec<Around> = Vec::new();
        for (start, _, slice) in all {
            let parent = slices.parent(slice as usize);
            while let Some(over) = around.pop_if(|it| Some(SliceId(it.slice)) != parent) {
                costs.close(&over, &mut open);
            }
            let end = slices.own_end(slice as usize).filter(|_| is_chosen(slice));
            let duration_ns = end.map_or(0, |end| end.saturating_sub(start).max(0));
            if let Some(outer) = around.last_mut() {
                outer.inner_ns += duration_ns;
            }
            let cost = end.and_then(|_| self.cost_of(slice, process, costs));
            if let Some(cost) = cost {
                let nested = open.entry(cost).or_default();
                // A slice nested in a slice of the same cost counts once.
                let added_ns = if *nested == 0 { duration_ns } else { 0 };
                costs.open(cost, slice, duration_ns, added_ns);
                *nested += 1;
            }
            around.push(Around {
                slice,
                cost,
                duration_ns,
                inner_ns: 0,
            });
        }
        while let Some(over) = around.pop() {
            costs.close(&over, &mut open);
        }
    }

    fn cost_of(self, slice: u32, process: ProcessId, costs: &mut Costs) -> Option<usize> {
        let slices = &self.trace.slices;
        let label = slices.label_ids.at(slice as usize) as usize;
        let sort = (*self.sorts.get(label)?)?;
        let name = match sort.is_named_by_argument {
            true => self.detail(slice)?,
            false => self.text(slices.label(SliceId(slice)).name),
        };
        Some(costs.number(sort.kind, name, process))
    }

    fn text(self, id: StringId) -> String {
        self.trace.text(id).into_owned()
    }

    /// Returns the name of the header or template of a slice, from its event's argument.
    fn detail(self, slice: u32) -> Option<String> {
        let begin = self.trace.slices.begin(slice as usize);
        let fields = self.reader.fields(event_ref(self.trace, begin));
        fields.into_iter().find_map(|field| match field.value {
            Value::Text(text) if field.name == DETAIL => Some(text),
            _ => None,
        })
    }
}

/// The costs, and the compilations that contain each.
#[derive(Default)]
struct Costs {
    numbers: FxHashMap<(CostKind, String), usize>,
    costs: Vec<(CompilerCost, FxHashSet<ProcessId>)>,
}

impl Costs {
    fn number(&mut self, kind: CostKind, name: String, process: ProcessId) -> usize {
        let next = self.costs.len();
        let number = *self.numbers.entry((kind, name)).or_insert(next);
        if number == next {
            let cost = CompilerCost {
                kind,
                name: String::new(),
                count: 0,
                compilations: 0,
                total_ns: 0,
                own_ns: 0,
                longest_ns: -1,
                longest: SliceId(0),
            };
            self.costs.push((cost, FxHashSet::default()));
        }
        if let Some((_, processes)) = self.costs.get_mut(number) {
            processes.insert(process);
        }
        number
    }

    /// Counts a slice that adds `added_ns` to the total of its cost.
    fn open(&mut self, cost: usize, slice: u32, duration_ns: i64, added_ns: i64) {
        let Some((cost, _)) = self.costs.get_mut(cost) else {
            return;
        };
        cost.count += 1;
        cost.total_ns += added_ns;
        if duration_ns > cost.longest_ns {
            (cost.longest_ns, cost.longest) = (duration_ns, SliceId(slice));
        }
    }

    fn close(&mut self, over: &Around, open: &mut FxHashMap<usize, u32>) {
        let Some(number) = over.cost else { return };
        if let Some(count) = open.get_mut(&number) {
            *count -= 1;
        }
        if let Some((cost, _)) = self.costs.get_mut(number) {
            cost.own_ns += (over.duration_ns - over.inner_ns).max(0);
        }
    }

    fn with(mut self, other: Costs) -> Costs {
        for ((kind, name), number) in other.numbers {
            let Some((more, processes)) = other.costs.get(number) else {
                continue;
            };
            for process in processes {
                let own = self.number(kind, name.clone(), *process);
                dev_assert!(own < self.costs.len());
            }
            let own = self.numbers.get(&(kind, name)).copied();
            if let Some((cost, _)) = own.and_then(|own| self.costs.get_mut(own)) {
                cost.count += more.count;
                cost.total_ns += more.total_ns;
                cost.own_ns += more.own_ns;
                if (more.longest_ns, Reverse(more.longest))
                    > (cost.longest_ns, Reverse(cost.longest))
                {
                    (cost.longest_ns, cost.longest) = (more.longest_ns, more.longest);
                }
            }
        }
        self
    }

    fn sorted(self) -> Vec<CompilerCost> {
        let Costs { numbers, mut costs } = self;
        for ((_, name), number) in numbers {
            if let Some((cost, processes)) = costs.get_mut(number) {
                cost.name = name;
                cost.compilations = processes.len() as u64;
            }
        }
        let mut costs: Vec<CompilerCost> = costs.into_iter().map(|(cost, _)| cost).collect();
        costs.sort_by(|a, b| {
            let key = |cost: &CompilerCost| (cost.kind, Reverse(cost.worth_ns()));
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        costs
    }
}
