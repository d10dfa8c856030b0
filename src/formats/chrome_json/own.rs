//! Extensions in events of our own exporter: runs, thread states, wakeups and losses, and arguments with a fixed
//! meaning. `docs/chrome-json.md` lists them.

use super::emit::{Emitter, Event, argument_of};
use super::numbers::{Micros, whole, whole_of_any};
use super::people::{Ident, Pair};
use super::scan::{Members, Raw};
use crate::base::{StringId, Timestamp};
use crate::event::family::Family;
use crate::event::slice_kind::{ASYNC_GROUP, SLICE_CATEGORY, SLICE_KIND};
use crate::event::{
    CpuLoss, Cut, CutSide, Gap, Interrupt, LOSS_CATEGORY, Label, Measured, NEVER_ENDED,
    REALLY_BEGAN, REALLY_ENDED, Role, SliceKind, ThreadKey, ThreadState, WholeRun, WholeState,
    WholeWakeup,
};
use crate::fxt::agreed::{
    CPU_TRACK, DROPPED, LOST_COUNT, LOST_EVENTS, LOST_FROM, LOST_UNTIL, MISSES_SWITCHES, ON_CPU,
    OVERWRITTEN,
};

impl<'f> Emitter<'f> {
    /// Returns whether an event of our own exporter has this argument, which has a fixed meaning.
    #[inline]
    pub(super) fn has_own_argument(&self, event: &Event<'_, 'f>, argument: &[u8]) -> bool {
        self.own_argument(event, argument).is_some()
    }

    /// Returns an argument of an event of our own exporter, which has a fixed meaning; nothing is searched in other files.
    #[inline]
    fn own_argument(&self, event: &Event<'_, 'f>, argument: &[u8]) -> Option<Raw<'f>> {
        match self.source.is_ours {
            true => argument_of(event, argument),
            false => None,
        }
    }

    /// Adds a cut if our own exporter cut the item that begins with an event; `index` is the event's number.
    pub(super) fn own_cut(&mut self, event: &Event<'_, 'f>, index: u32) {
        if !self.source.is_ours {
            return;
        }
        let marks = [NEVER_ENDED, REALLY_BEGAN, REALLY_ENDED];
        let mut members = Members::of(event.raw.args.nested());
        let is_mark = |key: &[u8]| marks.iter().any(|mark| mark.as_bytes() == key);
        if members.any(|(key, _)| is_mark(key.bytes)) {
            let side = CutSide::Begin;
            self.out.columns.cuts.push(Cut { event: index, side });
        }
    }

    /// Notes the CPU that an event of our own exporter states; `index` is the event's number.
    pub(super) fn own_cpu(&mut self, event: &Event<'_, 'f>, index: u32) {
        let cpu = self.stated_cpu(event, ON_CPU);
        self.cpus.extend(cpu.map(|cpu| (index, cpu)));
    }

    fn stated_cpu(&self, event: &Event<'_, 'f>, argument: &str) -> Option<u16> {
        let stated = self.own_argument(event, argument.as_bytes())?;
        let cpu = u16::try_from(whole(stated.bytes())?).ok()?;
        (cpu < u16::MAX).then_some(cpu)
    }

    /// Returns an event on the track of a CPU, in a file of our own exporter, moved to the thread that ran there: the one
    /// that it names, else the idle thread; no thread if it says that this is not known. `None` for other events.
    pub(super) fn of_cpu_track<'e>(&mut self, event: &Event<'e, 'f>) -> Option<Event<'e, 'f>> {
        let cpu = self.stated_cpu(event, CPU_TRACK)?;
        if argument_of(event, b"interrupted_tid") == Some(Raw::None) {
            return Some(Event {
                is_of_nobody: true,
                cpu: Some(cpu),
                ..*event
            });
        }
        let process = self.ident(event, b"interrupted_pid");
        let thread = self.ident(event, b"interrupted_tid");
        let pair = Pair {
            process: process.unwrap_or(Ident::Number(0)),
            thread: thread.unwrap_or(Ident::Number(0)),
        };
        Some(Event {
            pair,
            thread: self.out.people.thread(pair),
            cpu: Some(cpu),
            ..*event
        })
    }

    /// Returns the kind of slice that an argument states, in an event of our own exporter.
    pub(super) fn stated_slice_kind(&self, event: &Event<'_, 'f>) -> Option<SliceKind> {
        let word = self.own_argument(event, SLICE_KIND.as_bytes())?;
        SliceKind::of_word(word.bytes())
    }

    /// Returns the category that an argument states, in an asynchronous event of our own exporter.
    pub(super) fn stated_category(&mut self, event: &Event<'_, 'f>) -> Option<StringId> {
        let text = self.own_argument(event, SLICE_CATEGORY.as_bytes())?;
        match text {
            Raw::Text(text) => Some(self.intern(text)),
            _ => None,
        }
    }

    /// Returns the name of the track that an argument states, in an asynchronous event of our own exporter.
    pub(super) fn stated_group(&mut self, event: &Event<'_, 'f>) -> Option<StringId> {
        let text = self.own_argument(event, ASYNC_GROUP.as_bytes())?;
        match text {
            Raw::Text(text) => Some(self.intern(text)),
            _ => None,
        }
    }

    /// Returns an asynchronous event of our own exporter moved to the thread that recorded it, if that is not the one on
    /// which the event is written.
    pub(super) fn recorded_elsewhere<'e>(
        &mut self,
        event: &Event<'e, 'f>,
    ) -> Option<Event<'e, 'f>> {
        if !self.has_own_argument(event, b"recorded_by_tid") {
            return None;
        }
        let process = self.ident(event, b"recorded_by_pid")?;
        self.of_thread(event, process, b"recorded_by_tid")
    }

    /// Returns the label of a slice: with the kind that its arguments state, otherwise with the kind that its category
    /// implies; on the track of a CPU or of a thread.
    pub(super) fn own_label(&mut self, label: u32, event: &Event<'_, 'f>) -> u32 {
        if !self.source.is_ours {
            return label;
        }
        let stated = self.stated_slice_kind(event);
        let Some(of_category) = self.out.columns.labels.get(label as usize) else {
            return label;
        };
        let wanted = Label {
            kind: stated.unwrap_or(of_category.kind),
            family: match event.cpu {
                Some(_) => Family::CpuDurations,
                None => of_category.family,
            },
            ..of_category
        };
        if wanted == of_category {
            return label;
        }
        let labels = &mut self.out.columns.labels;
        *self.labels_by_kind.entry(wanted).or_insert_with(|| {
            labels.push(wanted);
            labels.len() as u32 - 1
        })
    }

    /// Adds the recorder's own measurement of the duration of an event's slice.
    pub(super) fn own_measured(&mut self, event: &Event<'_, 'f>, index: u32) {
        if self.source.is_ours
            && let Some(measured) = argument_of(event, b"measured_ns")
            && let Some(duration_ns) = whole(measured.bytes())
        {
            let duration_ns = i64::try_from(duration_ns).unwrap_or(i64::MAX);
            let measured = Measured::drawn_otherwise(index, duration_ns);
            self.out.columns.measured.push(measured);
        }
    }

    /// Adds a run, a thread state or a wakeup of our own exporter; `None` if the event is something else.
    pub(super) fn own_scheduling(&mut self, event: &Event<'_, 'f>) -> Option<()> {
        match self.out.columns.strings.bytes(event.category) {
            b"runs" => self.whole_run(event),
            b"states" => self.whole_state(event),
            b"wakeups" => {
                let moved = self.of_thread(event, event.pair.process, b"tid")?;
                self.push(&moved, Role::Consumed);
                Some(())
            }
            category
                if category == LOSS_CATEGORY.as_bytes()
                    && self.out.columns.strings.bytes(event.name) == LOST_EVENTS.as_bytes() =>
            {
                self.loss(event);
                Some(())
            }
            _ => None,
        }
    }

    /// Adds a gap, or the recorder's total of a CPU's lost events.
    fn loss(&mut self, event: &Event<'_, 'f>) {
        let cpu = number(event, b"cpu");
        let argument = |name: &str| argument_of(event, name.as_bytes());
        let count = |name: &str| whole_of_any(argument(name)?.bytes());
        let time = |name: &str| signed(argument(name)?).filter(|time| *time < i64::MAX);
        if let (Some(cpu), [Some(overwritten), Some(dropped)]) =
            (cpu, [OVERWRITTEN, DROPPED].map(count))
        {
            self.out.cpu_losses.push(CpuLoss {
                cpu,
                overwritten,
                dropped,
            });
        } else {
            let [before, after] = [LOST_FROM, LOST_UNTIL].map(|name| time(name).map(Timestamp));
            let gap = Gap::between(before, after).on(cpu);
            let gap = gap.losing(count(LOST_COUNT));
            self.out.columns.gaps.push(gap);
        }
        self.push(event, Role::Consumed);
    }

    fn whole_run(&mut self, event: &Event<'_, 'f>) -> Option<()> {
        let duration_ns = duration(event)?;
        let cpu = number(event, b"cpu")?;
        let process = self.ident(event, b"pid")?;
        let moved = self.of_thread(event, process, b"tid")?;
        let event = self.push(&moved, Role::Consumed);
        self.own_cut(&moved, event);
        let priority = argument_of(&moved, b"priority").and_then(signed);
        let end_state = argument_of(&moved, b"end_state");
        self.out.columns.whole_runs.push(WholeRun {
            event,
            cpu,
            thread: moved.thread,
            duration_ns,
            priority: priority.unwrap_or(0),
            end_state: end_state
                .and_then(|letters| ThreadState::of_letters(letters.bytes()))
                .unwrap_or_default(),
        });
        Some(())
    }

    fn whole_state(&mut self, event: &Event<'_, 'f>) -> Option<()> {
        let duration_ns = duration(event)?;
        let word = event.raw.name.bytes();
        let state = ThreadState::of_word(word)?;
        let moved = self.of_thread(event, event.pair.process, b"tid")?;
        let wakeup = argument_of(event, b"woken").map(|_| self.whole_wakeup(event));
        let index = self.push(&moved, Role::Consumed);
        self.own_cut(&moved, index);
        self.own_cpu(&moved, index);
        self.out.columns.whole_states.push(WholeState {
            event: index,
            state,
            duration_ns,
            cpu: number(event, b"cpu"),
            wakeup,
            spans_loss: argument_of(event, b"spans_loss").is_some(),
            misses_switches: argument_of(event, MISSES_SWITCHES.as_bytes()).is_some(),
        });
        Some(())
    }

    fn whole_wakeup(&mut self, event: &Event<'_, 'f>) -> WholeWakeup {
        let interrupt = argument_of(event, b"interrupt");
        let woken_by = argument_of(event, b"woken_by");
        WholeWakeup {
            waker: self.waker(event),
            interrupt: interrupt.and_then(|word| Interrupt::of_word(word.bytes())),
            woken_by: woken_by.map(|name| self.name(name)),
        }
    }

    fn waker(&mut self, event: &Event<'_, 'f>) -> Option<ThreadKey> {
        let process = self.ident(event, b"waker_pid")?;
        let thread = self.ident(event, b"waker_tid")?;
        Some(self.out.people.thread(Pair { process, thread }))
    }

    fn ident(&mut self, event: &Event<'_, 'f>, argument: &[u8]) -> Option<Ident> {
        let value = argument_of(event, argument)?;
        Some(Ident::of(value, &mut self.out.columns.strings))
    }

    /// Returns the event moved to the thread that an argument names.
    fn of_thread<'e>(
        &mut self,
        event: &Event<'e, 'f>,
        process: Ident,
        argument: &[u8],
    ) -> Option<Event<'e, 'f>> {
        let thread = self.ident(event, argument)?;
        let pair = Pair { process, thread };
        Some(Event {
            pair,
            thread: self.out.people.thread(pair),
            ..*event
        })
    }
}

/// Returns how long a run or state lasted, in ns (`Some(None)`: to the trace's end); `None` if the event does not state
/// it.
fn duration(event: &Event<'_, '_>) -> Option<Option<i64>> {
    match event.raw.phase {
        b'B' => Some(None),
        b'X' => {
            let duration = Micros::parse(event.raw.duration.bytes())?;
            let end = event.micros.plus(duration)?.rounded()?;
            Some(Some(end.checked_sub(event.time)?.max(0)))
        }
        _ => None,
    }
}

fn number(event: &Event<'_, '_>, argument: &[u8]) -> Option<u32> {
    let number = whole(argument_of(event, argument)?.bytes())?;
    u32::try_from(number).ok()
}

fn signed<N: std::str::FromStr>(value: Raw<'_>) -> Option<N> {
    std::str::from_utf8(value.bytes()).ok()?.parse().ok()
}
