//! The bulk pass: the lines of one block become events of every CPU's lane.
//!
//! A block holds lines of all CPUs; it is read once and gives columns for each lane. Begins and ends find
//! each other later, by thread or CPU and key, so a block needs to know of the text before it only who
//! wrote the last line. The function graph tracer's own text (which says neither thread nor, often, time)
//! is the exception: it is one block.

use rustc_hash::FxHashMap;

use super::fields::{
    Probe, TracerText, end_state, field, first_word, function_of, number, pid, probe, switch,
    tracer_text, wakeup,
};
use super::graph::{self, Step};
use super::line::{Body, Plain, Prefix, classify, plain, split_prefix};
use super::recipe::{Recipe, recipe_for, role_of, system_of};
use super::with_etrace::is_call;
use crate::base::lines::{Line, lines};
use crate::base::{Job, Location, ReadError, Severity, StringId, Timestamp};
use crate::event::pairs::{
    AsyncPair, Counter, FUNCTIONS, KPROBES, Pair, PairEnd, PairName, SYSCALLS, UPROBES,
};
use crate::event::syscalls::{self, Abi};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Complete, ForkSort, Gap, KindId, Label, LaneColumns, Life,
    LifeRow, Mark, MarkOp, Role, Sample, Series, SeriesScope, Switch, ThreadKey, Wakeup,
    WakeupSort,
};
use crate::formats::atrace;
use crate::formats::text_kinds::Kinds;

/// Category of lines that are not understood.
pub const TEXT: &str = "text";

const CLONE_THREAD: u64 = 0x10000;
const CHECK_BYTES: u64 = 1 << 20;
const NAMES: usize = 1024;

/// How a text is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A line an event.
    Events,
    /// Function graph's braces.
    Graph,
}

/// What stands before a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// When the line before was written.
    pub time: i64,
    /// On which CPU.
    pub cpu: u32,
    /// By whom; `u32::MAX` if nobody did.
    pub thread: u32,
    /// The time that stands in it, and how many lines before it in a row have the same.
    pub written: i64,
    /// See `written`.
    pub steps: i64,
}

/// Lines of one microsecond are at most so many ns apart from its start.
const MOST_STEPS: i64 = 999;

impl Last {
    /// The time of the next line, which says `written`.
    ///
    /// Lines stand in the order in which things happened, on all CPUs: of those that say the same microsecond
    /// each lies one ns after the one before, so that no switch comes before the wakeup that led to it.
    #[inline]
    pub fn spread(&mut self, line: &Prefix<'_>) -> i64 {
        let written = line.time;
        if written == self.written && !line.is_raw && written % 1000 == 0 {
            self.steps = (self.steps + 1).min(MOST_STEPS);
        } else {
            self.written = written;
            self.steps = 0;
        }
        self.time = written.saturating_add(self.steps);
        self.time
    }
}

/// A lane while it is read.
#[derive(Debug)]
struct Lane {
    columns: LaneColumns,
    labels: FxHashMap<Label, u32>,
    series: FxHashMap<Series, u32>,
    last_time: Option<i64>,
    /// Events were lost before the next one; how many, if that was said.
    lost: Option<Option<u64>>,
    /// The function graph's own clock and open calls, where the text has no times.
    now: i64,
    open: Vec<i64>,
    /// Who runs, as the function graph's text says.
    task: Option<u32>,
}

/// Reads one block; see [`Block`].
pub struct Emitter<'a> {
    kinds: &'a Kinds,
    lanes: Vec<Lane>,
    /// CPUs of the lanes, sorted.
    cpus: &'a [u32],
    by_name: FxHashMap<&'a [u8], (Recipe, KindId)>,
    by_probe: FxHashMap<&'a [u8], KindId>,
    by_syscall: FxHashMap<(&'static str, &'a [u8]), KindId>,
    /// Last names from fields, by the low bits of the pid.
    names: Vec<(u32, &'a [u8])>,
    /// Names from the lines' columns.
    columns_names: Vec<(u32, &'a [u8])>,
    /// What the columns said of pids: names, for the directory.
    pub seen_names: FxHashMap<u32, &'a [u8]>,
    last: Last,
    layout: Layout,
}

/// An event that is being read.
#[derive(Clone, Copy)]
struct Now {
    lane: usize,
    event: u32,
    thread: ThreadKey,
    cpu: u32,
}

/// A number that stands for a text as label key.
#[must_use]
pub fn hash_text(text: &[u8]) -> u64 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(text);
    // 0 would mean that the name says it all.
    hasher.finish().max(1)
}

impl<'a> Emitter<'a> {
    /// Before the first line of a block.
    #[must_use]
    pub fn new(kinds: &'a Kinds, cpus: &'a [u32], last: Last, layout: Layout) -> Emitter<'a> {
        let lanes = cpus.iter().map(|_| Lane {
            columns: LaneColumns::new(0),
            labels: FxHashMap::default(),
            series: FxHashMap::default(),
            last_time: None,
            lost: None,
            now: 0,
            open: Vec::new(),
            task: None,
        });
        Emitter {
            kinds,
            lanes: lanes.collect(),
            cpus,
            by_name: FxHashMap::default(),
            by_probe: FxHashMap::default(),
            by_syscall: FxHashMap::default(),
            names: vec![(0, &[]); NAMES],
            columns_names: vec![(0, &[]); NAMES],
            seen_names: FxHashMap::default(),
            last,
            layout,
        }
    }

    /// Reads `text`, which lies at `base` and starts with line `first_line`.
    ///
    /// # Errors
    /// If the job was cancelled.
    pub fn read(
        &mut self,
        text: &'a [u8],
        base: u64,
        first_line: u64,
        job: &Job,
    ) -> Result<(), ReadError> {
        let mut checked = base;
        for line in lines(text, first_line, base) {
            if self.layout == Layout::Graph {
                self.graph_line(&line);
            } else {
                self.line(&line);
            }
            if line.offset - checked >= CHECK_BYTES {
                job.check()?;
                checked = line.offset;
            }
        }
        Ok(())
    }

    /// The columns of each lane.
    #[must_use]
    pub fn into_columns(self) -> Vec<LaneColumns> {
        self.lanes.into_iter().map(|lane| lane.columns).collect()
    }

    fn lane_of(&self, cpu: u32) -> usize {
        self.cpus.binary_search(&cpu).unwrap_or(0)
    }

    #[inline]
    fn line(&mut self, line: &Line<'a>) {
        match split_prefix(line.bytes) {
            Some(mut prefix) => {
                prefix.time = self.last.spread(&prefix);
                self.event(&prefix, line);
            }
            None => self.plain(line),
        }
    }

    fn event(&mut self, prefix: &Prefix<'a>, line: &Line<'a>) {
        let lane = self.lane_of(prefix.cpu);
        self.last.cpu = prefix.cpu;
        self.last.thread = prefix.pid;
        if let Some(lane) = self.lanes.get_mut(lane) {
            if let Some(lost) = lane.lost.take() {
                lane.columns.gaps.push(Gap {
                    start: Timestamp(lane.last_time.unwrap_or(prefix.time).min(prefix.time)),
                    end: Timestamp(prefix.time),
                    cpu: Some(prefix.cpu),
                    lost,
                });
            }
            lane.last_time = Some(prefix.time);
        }
        let mut now = Now {
            lane,
            event: 0,
            thread: ThreadKey(prefix.pid),
            cpu: prefix.cpu,
        };
        match classify(prefix.body) {
            Body::Event(name, info) => self.named(&mut now, prefix, line, name, info),
            Body::SysEnter(name, _) => self.syscall(&mut now, prefix, line, name, MarkOp::Begin),
            Body::SysExit(name, _) => self.syscall(&mut now, prefix, line, name, MarkOp::End),
            Body::Function(..) => {
                let kind = self.kind_by_name(b"function").1;
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            Body::Stack(text) => {
                let name: &[u8] = if text.starts_with(b"<user") {
                    b"user_stack"
                } else {
                    b"kernel_stack"
                };
                let kind = self.kind_by_name(name).1;
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            // What it says is told by a part of its own (`with_etrace`).
            Body::Text if is_call(prefix.body) => {
                let kind = self.kinds.intern("ftrace", b"print", Role::Consumed);
                self.push(&mut now, prefix.time, line.offset, kind);
            }
            Body::Text => match tracer_text(prefix.body) {
                Some(found) => self.tracer(&mut now, prefix, line, found),
                None => self.unknown(&mut now, prefix.time, line, prefix.body),
            },
        }
        self.column_name(&now, prefix);
    }

    #[inline]
    fn push(&mut self, now: &mut Now, time: i64, place: u64, kind: KindId) {
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            now.event = lane.columns.events.push(time, place, kind, now.thread);
        }
    }

    fn kind_by_name(&mut self, name: &'a [u8]) -> (Recipe, KindId) {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let text = String::from_utf8_lossy(name);
        let recipe = recipe_for(&text);
        let system = system_of(&text);
        let kind = self.kinds.intern(system, name, role_of(recipe, system));
        self.by_name.insert(name, (recipe, kind));
        (recipe, kind)
    }

    /// The name in the line's own columns: for the directory, and whose thread it is.
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
        if let Some(tgid) = prefix.tgid.filter(|&tgid| tgid != 0 && prefix.pid != 0) {
            self.live(
                now,
                Life::Member {
                    thread: ThreadKey(prefix.pid),
                    leader: ThreadKey(tgid),
                },
            );
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
        let (recipe, kind) = self.kind_by_name(name);
        if let (Recipe::Plain | Recipe::Mark(..), b'(') =
            (recipe, info.first().copied().unwrap_or(0))
            && let Some(found) = probe(info)
        {
            return self.probe(now, prefix.time, line.offset, name, found);
        }
        if matches!(recipe, Recipe::Print) {
            return self.print(now, prefix.time, line.offset, name, info);
        }
        self.push(now, prefix.time, line.offset, kind);
        let done = match recipe {
            Recipe::Switch => self.switch(now, info),
            Recipe::Wakeup(sort) => wakeup(info).map(|(task, target)| {
                let row = Wakeup {
                    event: now.event,
                    thread: ThreadKey(task.pid),
                    waker: now.thread,
                    target_cpu: target.unwrap_or(u32::MAX),
                    sort,
                };
                if let Some(lane) = self.lanes.get_mut(now.lane) {
                    lane.columns.wakeups.push(row);
                }
                self.name(now, task.pid, task.comm);
            }),
            Recipe::Mark(pair, end) => self.mark(now, name, pair, end, info),
            Recipe::Async(pair, end) => self.request(now, pair, end, info),
            Recipe::Counter(row) => self.counter(now, row, info),
            Recipe::Graph => self.graph_info(now, info),
            Recipe::Fork | Recipe::NewTask | Recipe::Exec | Recipe::Exit | Recipe::Rename => {
                self.life(now, recipe, info)
            }
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

    fn switch(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let found = switch(info)?;
        let lane = self.lanes.get_mut(now.lane)?;
        lane.columns.switches.push(Switch {
            event: now.event,
            cpu: now.cpu,
            prev: ThreadKey(found.prev.pid),
            next: ThreadKey(found.next.pid),
            prev_priority: found.prev.priority,
            next_priority: found.next.priority,
            prev_state: end_state(found.state),
        });
        self.name(now, found.prev.pid, found.prev.comm);
        self.name(now, found.next.pid, found.next.comm);
        Some(())
    }

    /// A switch or wakeup as the wakeup tracers print it.
    fn tracer(
        &mut self,
        now: &mut Now,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        found: TracerText<'a>,
    ) {
        let name: &[u8] = if found.is_wakeup {
            b"wakeup"
        } else {
            b"context_switch"
        };
        let kind = self.kinds.intern("ftrace", name, Role::Consumed);
        self.push(now, prefix.time, line.offset, kind);
        let Some(lane) = self.lanes.get_mut(now.lane) else {
            return;
        };
        if found.is_wakeup {
            lane.columns.wakeups.push(Wakeup {
                event: now.event,
                thread: ThreadKey(found.next.pid),
                waker: ThreadKey(found.prev.pid),
                target_cpu: found.cpu,
                sort: WakeupSort::Wakeup,
            });
        } else {
            let (prev, next) = (ThreadKey(found.prev.pid), ThreadKey(found.next.pid));
            // The event sched_switch has said it already, if it was recorded too.
            let last = lane.columns.switches.last();
            if last.is_some_and(|last| (last.prev, last.next) == (prev, next)) {
                return;
            }
            lane.columns.switches.push(Switch {
                event: now.event,
                cpu: now.cpu,
                prev,
                next,
                prev_priority: found.prev.priority,
                next_priority: found.next.priority,
                prev_state: end_state(found.state),
            });
        }
        self.name(now, found.next.pid, found.next.comm);
    }

    /// Notes a thread's name if it is not the one that was seen last.
    #[inline]
    fn name(&mut self, now: &Now, pid: u32, comm: &'a [u8]) {
        let Some(slot) = self.names.get_mut(pid as usize % NAMES) else {
            return;
        };
        if slot.0 == pid && slot.1 == comm {
            return;
        }
        *slot = (pid, comm);
        if pid != 0 && comm != b"<...>" {
            let thread = ThreadKey(pid);
            if let Some(lane) = self.lanes.get_mut(now.lane) {
                let name = lane.columns.strings.intern(comm);
                self.live(now, Life::Name { thread, name });
            }
        }
    }

    fn live(&mut self, now: &Now, life: Life) {
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            let event = now.event;
            lane.columns.lives.push(LifeRow { event, life });
        }
    }

    fn life(&mut self, now: &Now, recipe: Recipe, info: &'a [u8]) -> Option<()> {
        let lane = self.lanes.get_mut(now.lane)?;
        let strings = &mut lane.columns.strings;
        let life = match recipe {
            Recipe::Fork => {
                let parent = pid(info, b"parent_pid").or_else(|| pid(info, b"pid"))?;
                let child = pid(info, b"child_pid")?;
                let name = strings.intern(field(info, b"child_comm").unwrap_or(b""));
                self.forget(child);
                Life::Fork {
                    parent: ThreadKey(parent),
                    child: ThreadKey(child),
                    sort: ForkSort::Unknown,
                    name,
                }
            }
            Recipe::NewTask => {
                let child = pid(info, b"pid")?;
                let name = strings.intern(field(info, b"comm").unwrap_or(b""));
                let flags = field(info, b"clone_flags").and_then(hex);
                let sort = match flags {
                    Some(flags) if flags & CLONE_THREAD != 0 => ForkSort::Thread,
                    Some(_) => ForkSort::Process,
                    None => ForkSort::Unknown,
                };
                self.forget(child);
                Life::Fork {
                    parent: now.thread,
                    child: ThreadKey(child),
                    sort,
                    name,
                }
            }
            Recipe::Exec => Life::Exec {
                thread: ThreadKey(pid(info, b"pid")?),
                program: strings.intern(field(info, b"filename").unwrap_or(b"")),
                arguments: Vec::new(),
                directory: StringId::EMPTY,
                interpreter: StringId::EMPTY,
            },
            Recipe::Exit => Life::Exit {
                thread: ThreadKey(pid(info, b"pid")?),
                status: None,
                signal: None,
            },
            _ => {
                let whose = pid(info, b"pid").unwrap_or(now.thread.0);
                let name = field(info, b"newcomm")?;
                self.name(now, whose, name);
                return Some(());
            }
        };
        self.live(now, life);
        Some(())
    }

    /// `pid` is somebody new: what it was called before is not its name.
    fn forget(&mut self, pid: u32) {
        if let Some(slot) = self.names.get_mut(pid as usize % NAMES)
            && slot.0 == pid
        {
            *slot = (0, &[]);
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

    /// A begin or end by the table of pairs.
    fn mark(
        &mut self,
        now: &Now,
        event: &'a [u8],
        pair: &'static Pair,
        end: PairEnd,
        info: &'a [u8],
    ) -> Option<()> {
        let event = std::str::from_utf8(event).ok()?;
        let system = system_of(event);
        let (_, _, stem) = crate::event::pairs::find_pair(system, event)?;
        let is_raw_syscall = matches!(pair.name, PairName::Syscall(_));
        let raw_number = || number(info.strip_prefix(b"NR ")?);
        let key = if is_raw_syscall {
            raw_number()?.cast_unsigned()
        } else if pair.key.is_empty() {
            hash_text(stem.as_bytes())
        } else {
            match field(info, pair.key.as_bytes()) {
                Some(value) => hash_text(first_word(value)),
                None => hash_text(pair.begin.as_bytes()),
            }
        };
        let text_of = |name: &str| field(info, name.as_bytes());
        let syscall;
        let name: &[u8] = match (end, pair.name) {
            (_, PairName::Syscall(_)) => {
                syscall = match syscalls::name(Abi::X86_64, key) {
                    Some(name) => name.to_owned(),
                    None => format!("syscall {}", key.cast_signed()),
                };
                syscall.as_bytes()
            }
            (PairEnd::End, _) => b"",
            (_, PairName::Stem) => stem.as_bytes(),
            (_, PairName::Text(name)) => text_of(name).unwrap_or(stem.as_bytes()),
            (_, PairName::Symbol(name)) => match text_of(name) {
                // `function=tick_nohz_handler/0x0`
                Some(value) => first_word(value)
                    .split(|b| *b == b'/')
                    .next()
                    .unwrap_or(value),
                None => stem.as_bytes(),
            },
            (_, PairName::Word(name, words)) => {
                let number = text_of(name).and_then(number);
                let word = number.and_then(|n| words.get(usize::try_from(n).ok()?));
                word.map_or(stem, |word| word).as_bytes()
            }
        };
        let op = match end {
            PairEnd::Begin => MarkOp::Begin,
            PairEnd::End => MarkOp::End,
        };
        let category: &[u8] = match op {
            MarkOp::Begin => system.as_bytes(),
            MarkOp::End => b"",
        };
        let label = Label {
            family: pair.family,
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category),
            key,
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, op);
        Some(())
    }

    /// `sys_read(...)` and `sys_read -> 0x8`.
    fn syscall(
        &mut self,
        now: &mut Now,
        prefix: &Prefix<'a>,
        line: &Line<'a>,
        name: &'a [u8],
        op: MarkOp,
    ) {
        let start: &'static str = match op {
            MarkOp::Begin => "sys_enter_",
            MarkOp::End => "sys_exit_",
        };
        let kinds = self.kinds;
        let kind = *self.by_syscall.entry((start, name)).or_insert_with(|| {
            let full = [start.as_bytes(), name].concat();
            kinds.intern("syscalls", &full, Role::Consumed)
        });
        self.push(now, prefix.time, line.offset, kind);
        let label = Label {
            family: SYSCALLS,
            name: match op {
                MarkOp::Begin => self.intern(now.lane, name),
                MarkOp::End => StringId::EMPTY,
            },
            category: match op {
                MarkOp::Begin => self.intern(now.lane, b"syscalls"),
                MarkOp::End => StringId::EMPTY,
            },
            key: hash_text(name),
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, op);
    }

    /// Entry and return of a probed function; users name the events.
    fn probe(&mut self, now: &mut Now, time: i64, place: u64, name: &'a [u8], found: Probe<'a>) {
        let address = match found {
            Probe::Entry(address) | Probe::Return(address) => address,
        };
        let is_user = is_user_address(address);
        let kind = match self.by_probe.get(name) {
            Some(kind) => *kind,
            None => {
                let system = if is_user { "uprobes" } else { "kprobes" };
                let kind = self.kinds.intern(system, name, Role::Consumed);
                self.by_probe.insert(name, kind);
                kind
            }
        };
        self.push(now, time, place, kind);
        let function = function_of(address);
        let is_symbol =
            !address.starts_with(b"0x") && memchr::memmem::find(address, b"+0x0/").is_some();
        let (op, shown): (_, &[u8]) = match found {
            Probe::Entry(_) if is_symbol => (MarkOp::Begin, function),
            Probe::Entry(_) => (MarkOp::Begin, name),
            Probe::Return(_) => (MarkOp::End, b""),
        };
        let category: &[u8] = match (op, is_user) {
            (MarkOp::End, _) => b"",
            (_, true) => b"uprobes",
            (_, false) => b"kprobes",
        };
        let label = Label {
            family: if is_user { UPROBES } else { KPROBES },
            name: self.intern(now.lane, shown),
            category: self.intern(now.lane, category),
            key: hash_text(function),
        };
        let label = self.label(now.lane, label);
        self.push_mark(now, label, op);
    }

    /// `dev sector` requests of the block layer, in their own form: `254,0 WS 131072 () 328771840 + 256 [dd]`.
    fn request(
        &mut self,
        now: &Now,
        pair: &'static AsyncPair,
        end: PairEnd,
        info: &'a [u8],
    ) -> Option<()> {
        let plus = memchr::memmem::find(info, b" + ")?;
        let before = info.get(..plus)?;
        let sector_at = memchr::memrchr(b' ', before)?;
        let sector = number(before.get(sector_at + 1..)?)?;
        let device = first_word(info);
        let after = info.get(device.len()..)?.trim_ascii_start();
        let id = hash_text(device).rotate_left(40) ^ sector.cast_unsigned();
        let (op, name): (_, &[u8]) = match end {
            PairEnd::Begin => (AsyncOp::Begin, first_word(after)),
            PairEnd::End => (AsyncOp::End, b""),
        };
        let category = pair.begin.split(':').next().unwrap_or("");
        let mark = AsyncMark {
            event: now.event,
            op,
            scope: AsyncScope::Global,
            id,
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category.as_bytes()),
            group: self.intern(now.lane, pair.group.as_bytes()),
        };
        self.lanes.get_mut(now.lane)?.columns.asyncs.push(mark);
        Some(())
    }

    fn counter(&mut self, now: &Now, row: &'static Counter, info: &'a [u8]) -> Option<()> {
        // `clk_set_rate: NAME RATE` and the like have no names: they stay points that are counted.
        let raw = number(field(info, row.value.as_bytes())?)?;
        let is_idle = row.event == "power:cpu_idle";
        let value = if is_idle && raw == i64::from(u32::MAX) {
            -1.0
        } else {
            raw as f64
        };
        let scope = match row.cpu {
            "" => SeriesScope::Global,
            name => pid(info, name.as_bytes()).map_or(SeriesScope::Global, SeriesScope::Cpu),
        };
        let name = match field(info, row.label.as_bytes()) {
            Some(label) if !row.label.is_empty() => {
                format!("{} {}", row.name, String::from_utf8_lossy(label))
            }
            _ => row.name.to_owned(),
        };
        let name = self.intern(now.lane, name.as_bytes());
        self.sample(now, Series { name, scope }, value)
    }

    fn sample(&mut self, now: &Now, series: Series, value: f64) -> Option<()> {
        let lane = self.lanes.get_mut(now.lane)?;
        let all = &mut lane.columns.series;
        let series = *lane.series.entry(series).or_insert_with(|| {
            all.push(series);
            all.len() as u32 - 1
        });
        lane.columns.samples.push(Sample {
            event: now.event,
            series,
            value,
        });
        Some(())
    }

    /// Text that a program wrote (trace_marker): atrace marks are slices and counters, the rest points.
    fn print(&mut self, now: &mut Now, time: i64, place: u64, name: &'a [u8], info: &'a [u8]) {
        let is_wrapped = name != b"tracing_mark_write";
        let text = match info.strip_prefix(b"tracing_mark_write: ") {
            Some(text) if is_wrapped => text,
            _ => info,
        };
        // trace-cmd puts the function that wrote it in front.
        let behind_function = || {
            let colon = memchr::memmem::find(text, b": ")?;
            let is_name = !text.get(..colon)?.contains(&b' ');
            atrace::atrace(text.get(colon + 2..)?).filter(|_| is_name)
        };
        let mark = atrace::atrace(text).or_else(behind_function);
        let role = match mark {
            Some(_) => Role::Consumed,
            None => Role::Instant,
        };
        let event_name: &[u8] = if is_wrapped { name } else { b"print" };
        let kind = match role {
            // A point is called as its text, up to a length: that is what people look for.
            Role::Consumed => self.kinds.intern("ftrace", event_name, role),
            _ => {
                self.kind_by_name(if is_wrapped { name } else { b"print" })
                    .1
            }
        };
        self.push(now, time, place, kind);
        let Some(mark) = mark else { return };
        if let Some(lane) = self.lanes.get_mut(now.lane) {
            let (labels, series) = (&mut lane.labels, &mut lane.series);
            atrace::emit(mark, now.event, &mut lane.columns, labels, series);
        }
    }

    /// A function graph step in trace-cmd's text.
    fn graph_info(&mut self, now: &Now, info: &'a [u8]) -> Option<()> {
        let found = graph::step(info)?;
        self.graph_step(now, found.depth, found.step);
        Some(())
    }

    /// Begins and ends of the graph find each other by depth: an end does not say its function.
    fn graph_step(&mut self, now: &Now, depth: u32, step: Step<'a>) {
        let (name, op): (&[u8], _) = match step {
            Step::Leaf(name, _) | Step::Enter(name) => (name, MarkOp::Begin),
            Step::Leave(_) => (b"", MarkOp::End),
            Step::Comment(_) => return,
        };
        let category: &[u8] = match op {
            MarkOp::Begin => b"ftrace",
            MarkOp::End => b"",
        };
        let label = Label {
            family: FUNCTIONS,
            name: self.intern(now.lane, name),
            category: self.intern(now.lane, category),
            key: u64::from(depth) + 1,
        };
        let label = self.label(now.lane, label);
        match step {
            Step::Leaf(_, duration_ns) => {
                if let Some(lane) = self.lanes.get_mut(now.lane) {
                    lane.columns.completes.push(Complete {
                        event: now.event,
                        label,
                        duration_ns,
                    });
                }
            }
            _ => self.push_mark(now, label, op),
        }
    }

    /// A line of the kernel's own function_graph text.
    fn graph_line(&mut self, line: &Line<'a>) {
        let Some(found) = graph::split_line(line.bytes) else {
            return match split_prefix(line.bytes) {
                Some(prefix) => self.event(&prefix, line),
                None => self.plain(line),
            };
        };
        let lane_number = self.lane_of(found.cpu);
        let Some(lane) = self.lanes.get_mut(lane_number) else {
            return;
        };
        let switched = graph::switched_to(found.rest).filter(|_| graph::step(found.rest).is_none());
        if let Some((comm, pid)) = found.task.or(switched) {
            lane.task = Some(pid);
            if pid != 0 {
                self.seen_names.insert(pid, comm);
            }
            if switched.is_some() && found.task.is_none() {
                return;
            }
        }
        let step = graph::step(found.rest);
        // Without a column of times, leaves and returns move the CPU's own clock by their durations.
        let time = match (found.time, step.map(|found| found.step)) {
            (Some(time), _) => time,
            (None, Some(Step::Leaf(_, ns))) => {
                let time = lane.now;
                lane.now = lane.now.saturating_add(ns.max(1));
                time
            }
            (None, Some(Step::Enter(_))) => {
                lane.open.push(lane.now);
                lane.now
            }
            (None, Some(Step::Leave(ns))) => {
                let begin = lane.open.pop().unwrap_or(lane.now);
                lane.now = lane.now.max(begin.saturating_add(ns.unwrap_or(0)));
                lane.now
            }
            (None, _) => lane.now,
        };
        let thread = lane.task.map_or(ThreadKey::IDLE, ThreadKey);
        let mut now = Now {
            lane: lane_number,
            event: 0,
            thread,
            cpu: found.cpu,
        };
        self.last.time = time;
        self.last.cpu = found.cpu;
        self.last.thread = thread.0;
        match step {
            Some(found) if !matches!(found.step, Step::Comment(_)) => {
                let name: &[u8] = match found.step {
                    Step::Leave(_) => b"funcgraph_exit",
                    _ => b"funcgraph_entry",
                };
                let kind = self.kind_by_name(name).1;
                self.push(&mut now, time, line.offset, kind);
                self.graph_step(&now, found.depth, found.step);
            }
            Some(graph::Graph {
                step: Step::Comment(text),
                ..
            }) => {
                let name = match classify(text) {
                    Body::Event(name, _) => name,
                    _ => b"comment",
                };
                let kind = self.kinds.intern(TEXT, name, Role::Instant);
                self.push(&mut now, time, line.offset, kind);
            }
            _ => self.unknown(&mut now, time, line, line.bytes),
        }
    }

    /// A line without columns.
    fn plain(&mut self, line: &Line<'a>) {
        match plain(line.bytes) {
            Plain::Silent | Plain::Frame => {}
            Plain::Lost(cpu, count) => {
                let lane = self.lane_of(cpu);
                if let Some(lane) = self.lanes.get_mut(lane) {
                    lane.lost = Some(count);
                }
            }
            Plain::Text
                if self.layout == Layout::Graph && line.bytes.trim_ascii().starts_with(b"---") => {}
            Plain::Text => {
                let last = self.last;
                let mut now = Now {
                    lane: self.lane_of(last.cpu),
                    event: 0,
                    thread: ThreadKey(last.thread),
                    cpu: last.cpu,
                };
                self.unknown(&mut now, last.time, line, line.bytes);
            }
        }
    }

    /// Text that is not understood is kept as a point.
    fn unknown(&mut self, now: &mut Now, time: i64, line: &Line<'a>, text: &'a [u8]) {
        let kind = self.kinds.intern(TEXT, b"line", Role::Instant);
        self.push(now, time, line.offset, kind);
        let at = Location::Line(line.number);
        self.note(now.lane, "unknown_line", at, || {
            format!(
                "lines that are no events, shown as instants; the first: {}",
                shown(text)
            )
        });
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

/// `1200000`: hex without a prefix, as task_newtask prints its flags.
fn hex(value: &[u8]) -> Option<u64> {
    let word = first_word(value);
    let word = word.strip_prefix(b"0x").unwrap_or(word);
    u64::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()
}

/// Whether a probe's address is one of a program: a number in the lower half.
fn is_user_address(address: &[u8]) -> bool {
    let digits = address.strip_prefix(b"0x").unwrap_or(address);
    let is_number = digits.len() >= 4 && digits.iter().all(u8::is_ascii_hexdigit);
    is_number
        && (digits.len() < 16 || digits.first().is_some_and(|b| matches!(b, b'0'..=b'7')))
        && !(digits.len() == 8 && digits.first().is_some_and(|b| matches!(b, b'c'..=b'f')))
}
