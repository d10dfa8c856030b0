//! The bulk pass: reads the lines of one block and adds events to the lane of each CPU.
//!
//! A block contains lines of all CPUs; it is read once and yields columns for each lane. Begins and ends are matched
//! later, by thread or CPU and key, so a block needs only the last event from the text before it. A lane begins with the
//! first line of its CPU; what is found about the block is collected on the way ([`Summary`]). The function graph
//! tracer's own text (without threads and often without times) is an exception: it is a single block.

mod graph_lines;
mod marks;
mod scheduling;

use rustc_hash::{FxHashMap, FxHashSet};

use super::doubles::Doubles;
use super::etrace_call::is_etrace_call;
use super::event_lines::{EventLine, LineKind, event_lines};
use super::facts::{Facts, Layout};
use super::forms::field_of;
use super::last::Last;
use super::probe_text::{is_event_probe, may_be_probe};
use super::recipe::{Recipe, recipe_for, role_of, system_of};
use super::summary::Summary;
use super::tasks::tracer_text;
use super::tracers::{tracer_event, tracer_event_named};
use super::with_etrace::EtraceLines;
use crate::base::lines::Line;
use crate::base::{Job, Location, Maybe, ReadError, Severity, StringId, Timestamp};
use crate::event::kernel::{EXIT_GROUP, PairEnd, PairName, ProbeGroup, UNKNOWN_SYSTEM};
use crate::event::{
    Gap, KindId, Label, LaneClock, LaneColumns, Life, Mark, MarkOp, MeasuredClock, Role, Series,
    ThreadKey,
};
use crate::formats::atrace::Claim;
use crate::formats::etrace_lines::Found;
use crate::formats::ftrace_line::line::{Body, Plain, classify, repeats};
use crate::formats::ftrace_line::prefix::{Group, Prefix};
use crate::formats::kind_table::Kinds;
use crate::formats::open_calls::{DepthFollower, OpenCalls};
use graph_lines::GraphClock;
use marks::{HitProbe, ProbePlace};

/// Category of unrecognised lines.
pub(crate) const TEXT: &str = UNKNOWN_SYSTEM;

/// The name of the call whose event is [`EXIT_GROUP`].
const EXIT_GROUP_CALL: &[u8] = b"exit_group";

const CHECK_BYTES: u64 = 1 << 20;
const NAMES: usize = 1024;
const MOST_PROBES: usize = 4096;

/// State of a lane while it is read.
#[derive(Debug)]
struct Lane {
    cpu: u32,
    /// Whether the block has events or losses of the CPU.
    is_met: bool,
    columns: LaneColumns,
    labels: FxHashMap<Label, u32>,
    series: FxHashMap<Series, u32>,
    last_time: Option<i64>,
    /// Whether events were lost before the next event, with their count, if printed.
    lost: Option<Option<u64>>,
    /// The function graph's own clock, for a text without times.
    clock: GraphClock,
    /// The depths of traced functions.
    depths: DepthFollower,
    /// The running thread, as the function graph's text shows it.
    task: Option<u32>,
}

impl Lane {
    /// Adds a gap before an event at `time`, if events were lost before it.
    #[inline]
    fn lost_before(&mut self, time: i64, cpu: u32) {
        if let Some(lost) = self.lost.take() {
            let start = self.last_time.map(|last| Timestamp(last.min(time)));
            let gap = Gap::between(start, Some(Timestamp(time))).on(Some(cpu));
            self.columns.gaps.push(gap.losing(lost));
        }
        self.last_time = Some(time);
        self.is_met = true;
    }
}

/// The kind of events with one name, and how they are processed.
#[derive(Clone, Copy)]
struct NamedKind {
    recipe: Recipe,
    kind: KindId,
}

/// Reads one block; see `Block`.
pub(crate) struct Emitter<'a> {
    kinds: &'a Kinds,
    /// The lanes of the CPUs that were met so far.
    lanes: Vec<Lane>,
    /// By CPU, the number of its lane.
    lane_of_cpu: Vec<Maybe<u32>>,
    /// The clock of all lanes.
    clock: LaneClock,
    /// What was found about the block.
    found: Summary,
    by_name: FxHashMap<&'a [u8], NamedKind>,
    by_probe: FxHashMap<&'a [u8], KindId>,
    /// The probes that were hit in this block; at most [`MOST_PROBES`].
    hit_probes: FxHashMap<ProbePlace<'a>, HitProbe>,
    by_syscall: FxHashMap<(&'static str, &'a [u8]), KindId>,
    /// The last name of each pid from event fields, by the low bits of the pid.
    names: Vec<(u32, &'a [u8])>,
    /// The last name of each pid from the lines' columns, by the low bits of the pid.
    columns_names: Vec<(u32, &'a [u8])>,
    /// Names of pids from the columns, for the directory.
    pub seen_names: FxHashMap<u32, &'a [u8]>,
    /// Calls of functions that began in this block.
    open_calls: OpenCalls,
    /// (thread, process) pairs that marks have already claimed.
    claims: FxHashSet<Claim>,
    /// Whether no event precedes the block.
    is_first: bool,
    last: Last,
    facts: &'a Facts,
    /// Recent events, if the text is from several instances.
    doubles: Option<Doubles<'a>>,
    /// The lines of etrace, if the text contains any.
    etrace: Option<EtraceLines<'a>>,
}

/// The result of reading a block.
pub(super) struct BlockRead {
    /// The columns of the CPUs that are in the block.
    pub columns: Vec<CpuColumns>,
    /// The etrace lines of the block.
    pub etrace: Found,
    /// The facts about the block, unless the text is a graph.
    pub summary: Summary,
}

/// The columns of a CPU.
pub(super) struct CpuColumns {
    /// The CPU.
    pub cpu: u32,
    /// Its columns.
    pub columns: LaneColumns,
}

/// Returns columns without rows.
#[must_use]
pub(super) fn no_columns(clock: LaneClock) -> LaneColumns {
    LaneColumns {
        measured_clock: MeasuredClock::Unproven,
        clock,
        ..LaneColumns::new(0)
    }
}

/// The event that is being read.
#[derive(Clone, Copy)]
struct Now {
    lane: usize,
    event: u32,
    thread: Option<ThreadKey>,
    cpu: u32,
}

/// Returns a hash of a text, for use as a label key.
#[must_use]
pub(crate) fn hash_text(text: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    // Key 0 means that the name alone identifies a label.
    hasher.finish().max(1)
}

impl<'a> Emitter<'a> {
    /// Returns the state before the first line of a block.
    #[must_use]
    pub(super) fn new(
        kinds: &'a Kinds,
        clock: LaneClock,
        last: Last,
        facts: &'a Facts,
    ) -> Emitter<'a> {
        Emitter {
            kinds,
            lanes: Vec::new(),
            lane_of_cpu: Vec::new(),
            clock,
            found: Summary::default(),
            by_name: FxHashMap::default(),
            by_probe: FxHashMap::default(),
            hit_probes: FxHashMap::default(),
            by_syscall: FxHashMap::default(),
            names: vec![(0, &[]); NAMES],
            columns_names: vec![(0, &[]); NAMES],
            seen_names: FxHashMap::default(),
            open_calls: OpenCalls::default(),
            claims: FxHashSet::default(),
            is_first: false,
            last,
            facts,
            doubles: None,
            etrace: None,
        }
    }

    /// Enables collecting the lines of etrace; `text` is the whole text.
    pub(crate) fn look_for_etrace(&mut self, text: &'a [u8]) {
        self.etrace = Some(EtraceLines::new(text));
    }

    /// Enables detection of events that several instances recorded. `before` is the text before the block.
    pub(crate) fn look_for_doubles(&mut self, before: &'a [u8]) {
        let mut doubles = Doubles::default();
        for line in event_lines(before, 1, 0, self.facts) {
            if let LineKind::Event(prefix) = line.kind {
                let _ = doubles.is_double(&prefix);
            }
        }
        self.doubles = Some(doubles);
    }

    /// Reads `text`, which is at offset `base` and starts with line number `first_line`.
    ///
    /// # Errors
    /// Errors if the job was cancelled.
    pub(super) fn read(
        &mut self,
        text: &'a [u8],
        base: u64,
        first_line: u64,
        job: &Job,
    ) -> Result<(), ReadError> {
        let mut checked = base;
        self.is_first = base == 0;
        for EventLine { line, kind } in event_lines(text, first_line, base, self.facts) {
            match kind {
                LineKind::Continues => {}
                _ if self.facts.layout == Layout::Graph => self.graph_line(&line),
                LineKind::Event(mut prefix) => {
                    prefix.time = self.last.spread(&prefix);
                    self.event(&prefix, &line);
                    self.found.add(&prefix, &self.last);
                }
                LineKind::Graph(_) => {}
                LineKind::Other(plain) => {
                    if let Some(etrace) = &mut self.etrace {
                        etrace.plain(&plain);
                    }
                    self.plain(&line, plain);
                }
            }
            self.found.lines = line.number + 1 - first_line;
            if line.offset - checked >= CHECK_BYTES {
                job.check()?;
                checked = line.offset;
            }
        }
        Ok(())
    }

    /// Returns the columns of each CPU, the lines of etrace, and the facts about the block.
    #[must_use]
    pub(crate) fn into_read(self) -> BlockRead {
        let columns = |mut lane: Lane| {
            // The next event of this CPU, if any, is in a later block; see `gaps`.
            if let Some(lost) = lane.lost {
                let gap = Gap::between(lane.last_time.map(Timestamp), None).on(Some(lane.cpu));
                lane.columns.gaps.push(gap.losing(lost));
            }
            CpuColumns {
                cpu: lane.cpu,
                columns: lane.columns,
            }
        };
        let (etrace, end) = (self.etrace, self.last.time);
        let mut summary = self.found;
        let met = self.lanes.iter().filter(|lane| lane.is_met);
        summary.cpus.extend(met.map(|lane| lane.cpu));
        BlockRead {
            columns: self.lanes.into_iter().map(columns).collect(),
            etrace: etrace.map_or_else(Found::default, |etrace| etrace.into_found(end)),
            summary,
        }
    }

    #[inline]
    fn lane_of(&mut self, cpu: u32) -> usize {
        let known = self.lane_of_cpu.get(cpu as usize);
        match known.and_then(|lane| lane.get()) {
            Some(lane) => lane as usize,
            None => self.new_lane(cpu),
        }
    }

    #[cold]
    fn new_lane(&mut self, cpu: u32) -> usize {
        let number = self.lanes.len();
        if self.lane_of_cpu.len() <= cpu as usize {
            self.lane_of_cpu.resize(cpu as usize + 1, Maybe::NONE);
        }
        self.lane_of_cpu[cpu as usize] = Maybe::new(number as u32);
        self.lanes.push(Lane {
            cpu,
            is_met: false,
            columns: no_columns(self.clock),
            labels: FxHashMap::default(),
            series: FxHashMap::default(),
            last_time: None,
            lost: None,
            clock: GraphClock::of(self.facts),
            depths: DepthFollower::default(),
            task: None,
        });
        number
    }

    fn event(&mut self, prefix: &Prefix<'a>, line: &Line<'a>) {
        let lane = self.lane_of(prefix.cpu);
        self.last.cpu = prefix.cpu;
        self.last.thread = Some(ThreadKey(prefix.pid));
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.lost_before(prefix.time, prefix.cpu);
        }
        let mut now = Now {
            lane,
            event: 0,
            thread: Some(ThreadKey(prefix.pid)),
            cpu: prefix.cpu,
        };
        let body = classify(prefix.body);
        if self
            .doubles
            .as_mut()
            .is_some_and(|known| known.is_double(prefix))
        {
            return self.double(&mut now, prefix.time, line.offset, body);
        }
        if let Some(etrace) = &mut self.etrace {
            etrace.event(prefix, line.number);
        }
        match body {
            Body::Event(name, info) => self.named(&mut now, prefix, line, name, info),
            Body::SysEnter(name, arguments) => {
                self.syscall(&mut now, prefix, line, name, MarkOp::Begin);
                if name == EXIT_GROUP_CALL {
                    self.exiting(&now, arguments);
                }
            }
            Body::SysExit(name, _) => self.syscall(&mut now, prefix, line, name, MarkOp::End),
            Body::Function(_, caller) => {
                let name: &[u8] = match repeats(caller) {
                    Some(_) => b"func_repeats",
                    None => b"function",
                };
                let kind = self.kind_by_name(name).kind;
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            Body::Stack(text) => {
                let name: &[u8] = if text.starts_with(b"<user") {
                    b"user_stack"
                } else {
                    b"kernel_stack"
                };
                let kind = self.kind_by_name(name).kind;
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            // `with_etrace` adds the call in a part of its own.
            Body::Text if is_etrace_call(prefix.body) => {
                let kind = self.kinds.intern("ftrace", b"print", Role::Consumed);
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            Body::Text => match (tracer_text(prefix.body), tracer_event(prefix.body)) {
                (Some(found), _) => self.tracer(&mut now, prefix, line, found),
                (None, Some(found)) => {
                    self.tracer_event(&mut now, prefix.time, line.offset, &found)
                }
                (None, None) => self.unknown(&mut now, prefix.time, line, prefix.body),
            },
        }
        self.column_name(&now, prefix);
    }

    /// Adds an event that another instance also recorded; its rows were added for that instance.
    fn double(&mut self, now: &mut Now, time: i64, place: u64, body: Body<'a>) {
        let full;
        let name: &[u8] = match body {
            Body::Event(name, _) => name,
            Body::SysEnter(name, _) => {
                full = [b"sys_enter_", name].concat();
                &full
            }
            Body::SysExit(name, _) => {
                full = [b"sys_exit_", name].concat();
                &full
            }
            Body::Function(..) => b"function",
            Body::Stack(_) => b"kernel_stack",
            Body::Text => b"line",
        };
        let system = system_of(&String::from_utf8_lossy(name));
        let kind = self.kinds.intern(system, name, Role::Consumed);
        self.push(now, time, place, kind);
    }

    #[inline]
    fn push(&mut self, now: &mut Now, time: i64, place: u64, kind: KindId) {
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            now.event = lane.columns.events.push(time, place, kind, now.thread);
        }
    }

    fn kind_by_name(&mut self, name: &'a [u8]) -> NamedKind {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let text = String::from_utf8_lossy(name);
        let recipe = recipe_for(&text);
        let system = system_of(&text);
        let kind = self.kinds.intern(system, name, role_of(recipe, system));
        let named = NamedKind { recipe, kind };
        self.by_name.insert(name, named);
        named
    }

    /// Adds the name in the line's columns, for the directory, and the thread's process.
    fn column_name(&mut self, now: &Now, prefix: &Prefix<'a>) {
        let Some(slot) = self.columns_names.get_mut(prefix.pid as usize % NAMES) else {
            return;
        };
        if slot.0 == prefix.pid && slot.1 == prefix.comm {
            return;
        }
        *slot = (prefix.pid, prefix.comm);
        if prefix.comm != b"<...>" && prefix.pid != 0 {
            self.seen_names.insert(prefix.pid, prefix.comm);
        }
        if let Group::Is(leader @ 1..) = prefix.group
            && prefix.pid != 0
        {
            let (thread, leader) = (ThreadKey(prefix.pid), ThreadKey(leader));
            self.live(now, Life::Member { thread, leader });
        }
    }

    fn named(
        &mut self,
        now: &mut Now,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        name: &'a [u8],
        info: &'a [u8],
    ) {
        // Users choose the names of probes, even names of existing events: the form of the text decides. A text that a
        // program writes can have any form.
        if may_be_probe(info) && name != b"tracing_mark_write" {
            if self.probe(now, prefix.time, line.offset, name, info) {
                return;
            }
            if is_event_probe(info) {
                let kind = self
                    .kinds
                    .intern(ProbeGroup::Eprobes.name(), name, Role::Instant);
                return self.push(now, prefix.time, line.offset, kind);
            }
        }
        if let Some(found) = tracer_event_named(name, info) {
            return self.tracer_event(now, prefix.time, line.offset, &found);
        }
        let NamedKind { recipe, kind } = self.kind_by_name(name);
        if matches!(recipe, Recipe::Print) {
            return self.print(now, prefix.time, line.offset, name, info);
        }
        self.push(now, prefix.time, line.offset, kind);
        let done = match recipe {
            Recipe::Switch => self.switch(now, info),
            Recipe::Wakeup(sort) => self.woken(now, sort, prefix, line, info),
            Recipe::Mark(pair, end) => {
                let is_numbered =
                    matches!((pair.name, end), (PairName::Syscall(_), PairEnd::Begin));
                if is_numbered && self.facts.abi.is_none() {
                    let at = Location::Line(line.number);
                    self.note(now.lane, "unsaid_machine", at, || {
                        "system calls are named as on x86-64: the text does not name the machine"
                            .to_owned()
                    });
                }
                if name == EXIT_GROUP.as_bytes() {
                    self.exiting(now, info);
                }
                self.mark(now, name, pair, end, info)
            }
            Recipe::Async(pair, end) => self.operation(now, name, pair, end, info),
            Recipe::Request(op) => self.request(now, op, info),
            Recipe::Counters(rows) => rows.iter().try_for_each(|row| {
                let event = row.event.split_once(':').map_or("", |(_, name)| name);
                self.counter(now, row, |name| field_of(event.as_bytes(), info, name))
            }),
            Recipe::Noise(row) => self.noise(now, row, info),
            Recipe::UserMode => {
                let label = self.label(now.lane, Label::USER_MODE);
                self.push_mark(now, label, MarkOp::Over);
                Some(())
            }
            Recipe::Graph => self.graph_info(now, name, info),
            Recipe::Fork
            | Recipe::NewTask
            | Recipe::Exec
            | Recipe::Exit
            | Recipe::Forget
            | Recipe::Rename => self.life(now, recipe, info),
            Recipe::Migrate => self.migrated(now, info),
            Recipe::Ran => self.ran(now, info),
            Recipe::Plain | Recipe::Print => Some(()),
        };
        if done.is_none() {
            let at = Location::Line(line.number);
            self.note(now.lane, "unknown_fields", at, || {
                format!(
                    "events whose fields do not have the expected form; the first: {}",
                    shown(prefix.body)
                )
            });
        }
    }

    fn label(&mut self, lane: usize, label: Label) -> u32 {
        let Some(lane) = self.lanes.get_mut(lane) else {
            return 0;
        };
        let labels = &mut lane.columns.labels;
        *lane.labels.entry(label).or_insert_with(|| {
            labels.push(label);
            labels.len() as u32 - 1
        })
    }

    fn intern(&mut self, lane: usize, text: &[u8]) -> StringId {
        self.lanes
            .get_mut(lane)
            .map_or(StringId::EMPTY, |lane| lane.columns.strings.intern(text))
    }

    fn push_mark(&mut self, now: &Now, label: u32, op: MarkOp) {
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            lane.columns.marks.push(Mark::new(now.event, label, op));
        }
    }

    /// Reads a line without columns.
    fn plain(&mut self, line: &Line<'a>, plain: Plain) {
        match plain {
            Plain::Silent | Plain::Frame => {}
            Plain::Started(cpu) => {
                let lane = self.lane_of(cpu);
                if let Some(lane) = self.lanes.get_mut(lane) {
                    lane.lost.get_or_insert(None);
                }
            }
            Plain::Lost(cpu, count) => {
                let lane = self.lane_of(cpu);
                if let Some(lane) = self.lanes.get_mut(lane) {
                    lane.is_met = true;
                    // Two consecutive losses: add their counts.
                    lane.lost = Some(match lane.lost {
                        Some(before) => before.zip(count).map(|(a, b)| a.saturating_add(b)),
                        None => count,
                    });
                }
                self.open_calls.forget();
                self.is_first = false;
                self.note_loss(lane, count, Location::Line(line.number));
            }
            Plain::Text
                if self.facts.layout == Layout::Graph
                    && line.bytes.trim_ascii().starts_with(b"---") => {}
            Plain::Text => {
                let last = self.last;
                let mut now = Now {
                    lane: self.lane_of(last.cpu),
                    event: 0,
                    thread: last.thread,
                    cpu: last.cpu,
                };
                self.unknown(&mut now, last.time, line, line.bytes);
            }
        }
    }

    /// Adds unrecognised text as an instant.
    fn unknown(&mut self, now: &mut Now, time: i64, line: &Line<'a>, text: &'a [u8]) {
        let kind = self.kinds.intern(TEXT, b"line", Role::Instant);
        self.push(now, time, line.offset, kind);
        let at = Location::Line(line.number);
        self.note(now.lane, "unknown_line", at, || {
            format!(
                "unrecognised lines, shown as instants; the first: {}",
                shown(text)
            )
        });
    }

    fn note_loss(&mut self, lane: usize, count: Option<u64>, at: Location) {
        let Some(lane) = self.lanes.get_mut(lane) else {
            return;
        };
        let diagnostics = &mut lane.columns.diagnostics;
        let severity = Severity::DataLoss;
        match count {
            Some(count) => diagnostics.note_many("lost_events", severity, Some(at), count, || {
                "the kernel lost an event before this line, or before another line that reports a loss of its CPU"
                    .to_owned()
            }),
            None => diagnostics.note("uncounted_loss", severity, at, || {
                "events were lost; the text does not contain their number".to_owned()
            }),
        }
    }

    fn note(
        &mut self,
        lane: usize,
        code: &'static str,
        at: Location,
        message: impl FnOnce() -> String,
    ) {
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.columns
                .diagnostics
                .note(code, Severity::Info, at, message);
        }
    }
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(..80).unwrap_or(text)).into_owned()
}
