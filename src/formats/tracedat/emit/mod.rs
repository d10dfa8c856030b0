//! The bulk pass: reads a range of ring-buffer pages and returns compact columns.
//!
//! For each event, the loop reads the record's header, the number of the event's kind and its pid, and appends 9 bytes.
//! Only kinds with a [`Recipe`] take longer. Nothing is allocated per event: each name and label is created once per
//! part and then found in a small cache.

mod marks;
mod names;
mod rare;

use rustc_hash::{FxHashMap, FxHashSet};

use super::TraceFile;
use super::clock::TimeMap;
use super::decoder::Decoder;
use super::page::{Records, read_head};
use super::recipe::{Recipe, SwitchRecipe};
use super::recipes::{CommonFields, HAS_RECIPE, Recipes};
use crate::base::{ByteOrder, Location, Severity, Timestamp};
use crate::event::clocks::kernel_clock;
use crate::event::{
    Gap, Interrupt, KindId, Label, LaneColumns, Seam, Series, Switch, SwitchContent, ThreadKey,
    ThreadState, Wakeup,
};
use crate::formats::atrace::Claim;
use crate::formats::etrace_lines;
use crate::formats::kind_table::Kinds;
use crate::formats::open_calls::{DepthFollower, OpenCalls};
use crate::tracedat::layout::{Layout, Lost};

/// Entry of the cache of labels by kind and key.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Kind plus one; 0: the entry is free.
    kind: u32,
    label: u32,
    key: u64,
}

const FOUND_SHIFT: u32 = 10;
const NAMES: usize = 1024;
/// Length of the end of a page, in bytes, in which the kernel may have dropped an event because it did not fit.
const MOST_LEFT_IN_PAGE: usize = 256;

/// The CPU of a part's events, and the name of the clock that their times have.
#[derive(Clone, Copy)]
pub(crate) struct EventClock<'a> {
    pub cpu: u32,
    pub clock: &'a str,
}

/// What becomes of the texts of print events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PrintTexts {
    /// They are read as marks only.
    #[default]
    Marks,
    /// They are read as marks, and as lines of etrace.
    MarksAndEtrace,
}

/// The last name of a thread.
#[derive(Clone, Copy, Default)]
struct ThreadName {
    pid: u32,
    /// The bytes of `comm`, which ends at the first NUL.
    name: [u8; 16],
}

/// The bulk pass over one part.
pub(crate) struct PartPass<'a> {
    file: &'a TraceFile,
    recipes: &'a Recipes,
    kinds: &'a Kinds,
    decoder: &'a (dyn Fn() -> &'a Decoder + 'a),
    layout: Layout,
    cpu: u32,
    map: TimeMap,
    /// The columns of the part so far.
    pub columns: LaneColumns,
    /// Time of the last event so far, in this part or in the previous page.
    pub last_time: Option<i64>,
    /// Whether the kernel dropped events of this CPU at unknown places. It can have dropped them only where a page was
    /// full.
    pub has_seams: bool,
    found: Vec<Found>,
    /// Calls of functions that began in this part.
    open_calls: OpenCalls,
    depths: DepthFollower,
    labels: FxHashMap<Label, u32>,
    series: FxHashMap<Series, u32>,
    /// The processes that threads claimed to belong to, by their marks.
    claims: FxHashSet<Claim>,
    /// Cache of thread names, at index `pid % NAMES`. `other_names` contains names that were removed from the cache.
    names: Vec<ThreadName>,
    other_names: FxHashMap<u32, [u8; 16]>,
    /// The lines of etrace among the texts of print events; `None`: they are not looked for.
    etrace: Option<etrace_lines::Found>,
}

/// The columns of a part, and the lines of etrace in its print events.
pub(crate) struct PartRead {
    pub columns: LaneColumns,
    pub lines: etrace_lines::Found,
}

impl<'a> PartPass<'a> {
    /// Starts the pass over a part with `events`. `decoder` is called only if the text of an event is needed.
    #[must_use]
    pub(crate) fn new(
        file: &'a TraceFile,
        recipes: &'a Recipes,
        kinds: &'a Kinds,
        decoder: &'a (dyn Fn() -> &'a Decoder + 'a),
        events: EventClock<'_>,
    ) -> PartPass<'a> {
        let EventClock { cpu, clock } = events;
        let mut columns = LaneColumns::new(2);
        // The kernel measures durations with its local clock, whatever clock the events use.
        columns.measured_clock = kernel_clock(clock).measured;
        PartPass {
            file,
            recipes,
            kinds,
            decoder,
            layout: file.layout,
            cpu,
            map: file.time_map(cpu),
            columns,
            last_time: None,
            has_seams: file.drops_of(cpu) > 0,
            open_calls: OpenCalls::default(),
            depths: DepthFollower::default(),
            found: vec![Found::default(); 1 << FOUND_SHIFT],
            labels: FxHashMap::default(),
            series: FxHashMap::default(),
            claims: FxHashSet::default(),
            names: vec![ThreadName::default(); NAMES],
            other_names: FxHashMap::default(),
            etrace: None,
        }
    }

    /// Returns the pass with what it is to make of the texts of print events.
    #[must_use]
    pub(crate) fn for_texts(self, texts: PrintTexts) -> PartPass<'a> {
        let is_etrace = texts == PrintTexts::MarksAndEtrace;
        PartPass {
            etrace: is_etrace.then(etrace_lines::Found::default),
            ..self
        }
    }

    /// Ends the pass.
    #[must_use]
    pub(crate) fn into_read(self) -> PartRead {
        let mut lines = self.etrace.unwrap_or_default();
        for gap in &self.columns.gaps {
            lines.add_hole(gap.span().end);
        }
        PartRead {
            columns: self.columns,
            lines,
        }
    }

    /// Reads one page, which starts at `place` in its CPU's pages.
    pub(crate) fn read_page<E: ByteOrder>(&mut self, page: &[u8], place: u64) {
        let Some(head) = read_head::<E>(page, self.layout) else {
            return self.note_damage("page_cut", place, "a page ends before its records begin");
        };
        if head.is_damaged {
            self.note_damage(
                "page_too_full",
                place,
                "a page claims to contain more than it can",
            );
        }
        let first = self.columns.events.len();
        let mut records = Records::<E>::new(page, self.layout, &head);
        // A small event may still fit after a larger one was dropped, so the whole end of the page is suspect.
        let full = page.len().saturating_sub(MOST_LEFT_IN_PAGE);
        let (mut before_full, before_page) = (None, self.last_time);
        let plain = self.map.plain_offset();
        let recipes = self.recipes;
        for record in records.by_ref() {
            let Some(CommonFields { id, thread }) = recipes.common::<E>(record.payload) else {
                self.note_damage("event_cut", place, "an event has no number");
                continue;
            };
            let time = match plain {
                Some(add) => (record.time as i64).wrapping_add(add),
                None => self.map.time(record.time),
            };
            if self.has_seams && (record.at < full || before_full.is_none()) {
                before_full = Some(time);
            }
            let what = recipes.ids.get(usize::from(id)).copied().unwrap_or(0);
            let kind = KindId(what & !HAS_RECIPE);
            let at = place + record.at as u64;
            let event = self.columns.events.push(time, at, kind, thread);
            if what & HAS_RECIPE != 0 {
                self.cook::<E>(event, kind, thread, record.payload);
            } else if kind == recipes.unknown {
                self.note_damage("unknown_event", at, "an event has the number of no format");
            }
        }
        if records.is_damaged() {
            self.note_damage(
                "record_damaged",
                place,
                "a page holds a record that is cut short",
            );
        }
        self.note_lost(head.lost, first, head.time);
        if self.has_seams {
            self.note_seams(first, before_page, before_full);
        }
    }

    /// Adds the time ranges in which events may have been dropped: from the previous page to the first event of this
    /// page, and at the end of this page.
    #[cold]
    fn note_seams(&mut self, first: usize, before: Option<i64>, before_full: Option<i64>) {
        let events = &self.columns.events;
        let count = events.len();
        if first >= count {
            return;
        }
        let (start, end) = (events.time(first as u32), events.time(count as u32 - 1));
        let cpu = self.cpu;
        let seam = |from: i64, until: Timestamp| Seam {
            start: Timestamp(from).min(until),
            end: until,
            cpu,
        };
        let seams = &mut self.columns.seams;
        seams.extend(before.map(|before| seam(before, start)));
        seams.extend(before_full.map(|before| seam(before, end)));
    }

    #[cold]
    fn note_damage(&mut self, code: &'static str, place: u64, message: &str) {
        let cpu = self.cpu;
        let at = Location::Byte(place);
        self.columns
            .diagnostics
            .note(code, Severity::Error, at, || {
                format!("{message} (place in the data of CPU {cpu})")
            });
    }

    fn note_lost(&mut self, lost: Lost, first: usize, page_time: u64) {
        let count = self.columns.events.len();
        if lost != Lost::No {
            // The events were lost between the last event before the page and the first event of the page.
            let end = if first < count {
                self.columns.events.time(first as u32)
            } else {
                Timestamp(self.map.time(page_time))
            };
            let start = self.last_time.map(|last| Timestamp(last).min(end));
            let lost = match lost {
                Lost::Count(count) => Some(count),
                _ => None,
            };
            let gap = Gap::between(start, Some(end)).on(Some(self.cpu));
            self.columns.gaps.push(gap.losing(lost));
        }
        if first < count {
            self.last_time = Some(self.columns.events.time(count as u32 - 1).0);
        }
    }

    #[inline]
    fn cook<E: ByteOrder>(
        &mut self,
        event: u32,
        kind: KindId,
        thread: Option<ThreadKey>,
        payload: &[u8],
    ) {
        let recipes = self.recipes;
        let Some(recipe) = recipes.of(kind.index()) else {
            return;
        };
        let done = match recipe {
            Recipe::Mark(mark) => self.mark::<E>(event, kind, mark, payload),
            Recipe::Switch(switch) => self.switch::<E>(event, switch, payload),
            Recipe::Wakeup {
                pid: woken,
                target_cpu,
                comm,
                sort,
            } => woken.read::<E>(payload).map(|woken| {
                let target = target_cpu.and_then(|cpu| cpu.read::<E>(payload));
                self.columns.wakeups.push(Wakeup {
                    event,
                    thread: ThreadKey(woken as u32),
                    waker: thread.into(),
                    target_cpu: target.map(|cpu| cpu as u32).into(),
                    sort: *sort,
                    interrupt: recipes.flags(payload).and_then(Interrupt::of_flags),
                });
                self.name(event, woken as u32, *comm, payload);
            }),
            Recipe::Print(text) => self.print::<E>(event, kind, *text, payload),
            _ => self.cook_rare::<E>(event, thread, recipe, payload),
        };
        if done.is_none() {
            let place = self.columns.events.place(event);
            self.note_damage("event_cut", place, "an event ends before its fields do");
        }
    }

    #[inline]
    fn switch<E: ByteOrder>(
        &mut self,
        event: u32,
        at: &SwitchRecipe,
        payload: &[u8],
    ) -> Option<()> {
        let prev = at.prev_pid.read::<E>(payload)? as u32;
        let next = at.next_pid.read::<E>(payload)? as u32;
        let priority = |num: Option<super::recipe::Num>| {
            num.and_then(|num| num.read::<E>(payload)).unwrap_or(0) as i32
        };
        let state = at.prev_state.and_then(|state| state.read::<E>(payload));
        self.columns.switches.push(Switch {
            event,
            cpu: self.cpu,
            prev: ThreadKey(prev),
            next: ThreadKey(next),
            prev_priority: priority(at.prev_priority),
            next_priority: priority(at.next_priority),
            prev_state: state.map_or(ThreadState::Unknown, |state| at.states.state(state)),
            content: SwitchContent::RunsAndStates,
        });
        self.name(event, prev, at.prev_comm, payload);
        self.name(event, next, at.next_comm, payload);
        Some(())
    }
}

fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    bytes.get(..end).unwrap_or(bytes)
}
