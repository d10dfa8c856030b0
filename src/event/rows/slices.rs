//! Slices of threads and CPUs: begins, ends, slices recorded whole, and measured durations.

use crate::base::StringId;
use crate::base::streaks::Follows;
use crate::event::SliceKind;
use crate::event::family::Family;
use crate::event::kernel::USER_MODE;
use serde::{Deserialize, Serialize};

/// A begin or end of a slice on the event's thread or CPU (by the label's family).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The event.
    pub event: u32,
    /// Label index in the low 30 bits, [`MarkOp`] in the high 2 bits.
    packed: u32,
}

/// What a [`Mark`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkOp {
    /// A slice begins.
    Begin,
    /// A slice ends.
    End,
    /// A slice ended earlier, but its end was not recorded.
    Over,
}

impl Mark {
    /// Returns a mark; `label` is an index below 2^30 into the part's labels.
    #[inline]
    #[must_use]
    pub fn new(event: u32, label: u32, op: MarkOp) -> Mark {
        let bit = match op {
            MarkOp::Begin => 0,
            MarkOp::End => 1 << 30,
            MarkOp::Over => 1 << 31,
        };
        Mark {
            event,
            packed: (label & 0x3fff_ffff) | bit,
        }
    }

    /// Index into the part's labels.
    #[inline]
    #[must_use]
    pub fn label(self) -> u32 {
        self.packed & 0x3fff_ffff
    }

    /// Returns whether the mark is a begin, an end or an unseen end.
    #[inline]
    #[must_use]
    pub fn op(self) -> MarkOp {
        match self.packed >> 30 {
            0 => MarkOp::Begin,
            1 => MarkOp::End,
            _ => MarkOp::Over,
        }
    }
}

/// The name of a slice, and which ends match it. Labels are the same if all fields are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// Defines the slice's track and how ends match begins.
    pub family: Family,
    /// What the slice is about.
    pub kind: SliceKind,
    /// The name that is shown on the slice.
    pub name: StringId,
    /// The slice's category or system.
    pub category: StringId,
    /// Distinguishes begins with equal names (an irq number, a function's address); 0 if the name is enough. A slice
    /// gets the name of its begin; an end matches by family and key only.
    pub key: u64,
}

impl Follows for Label {
    #[inline]
    fn after(self, steps: u32) -> Label {
        Label {
            name: self.name.after(steps),
            ..self
        }
    }
}

impl Label {
    /// The label of a mark that only shows that its thread is outside of system calls.
    pub(crate) const USER_MODE: Label = Label {
        family: Family::Syscalls,
        kind: SliceKind::SystemCalls,
        name: StringId::EMPTY,
        category: StringId::EMPTY,
        key: USER_MODE,
    };
}

/// A slice that is recorded as a whole; it starts at its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The event.
    pub event: u32,
    /// Index into the part's labels; if [`UNSEEN_END`] is set, `duration_ns` only defines how far the slice is drawn.
    pub label: u32,
    /// Duration in ns, 0 or more.
    pub duration_ns: i64,
}

/// Bit of [`Complete::label`]: the slice's end was not recorded.
pub(crate) const UNSEEN_END: u32 = 1 << 31;

/// Which of several whole slices that start at the same time is the outer one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ties {
    /// The longest: many recorders write a slice when it ends, so inner slices come first.
    #[default]
    Longest,
    /// The first in the file, as our own exporter writes them.
    First,
}

/// What a begin means in a recording without any end of its family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoneBegins {
    /// An instant: ends were not recorded at all.
    #[default]
    Points,
    /// A slice that had not ended yet: the recorder writes a begin only for something that lasts (strace's `<unfinished
    /// ...>`).
    Open,
}

/// The duration of a slice as the recorder measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The event that ends the slice, or that is the whole slice.
    pub event: u32,
    /// A [`MeasuredEnd`] in 4 bytes: the difference of `Late`, or one of the constants below.
    end: i32,
    /// Duration in ns, 0 or more.
    pub duration_ns: i64,
}

/// What a file states about the end of a slice whose duration it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredEnd {
    /// The end, by the clock that measured it, is this number of ns before its event.
    Late(i32),
    /// The time of the end is not recorded; only an event for the end is.
    NotRecorded,
    /// One event both begins and ends the slice; the time of its end is not recorded.
    OneEvent,
    /// The slice is drawn with another length. The event is one of `completes`, or the end of a pair.
    DrawnOtherwise,
}

impl Measured {
    const NOT_RECORDED: i32 = i32::MIN;
    const ONE_EVENT: i32 = i32::MIN + 1;
    const DRAWN_OTHERWISE: i32 = i32::MIN + 2;

    /// Returns the duration of a slice that ended at `ended` (ns) by the clock that measured it, and whose event is at
    /// `time` (ns).
    #[must_use]
    pub fn new(event: u32, duration_ns: i64, time: i64, ended: Option<i64>) -> Measured {
        let late = ended.and_then(|ended| i32::try_from(time.checked_sub(ended)?).ok());
        let late = late.filter(|&late| late > Measured::DRAWN_OTHERWISE);
        Measured::with(event, duration_ns, late.unwrap_or(Measured::NOT_RECORDED))
    }

    /// Returns the duration of a slice that one event both begins and ends.
    #[must_use]
    pub(crate) fn of_one_event(event: u32, duration_ns: i64) -> Measured {
        Measured::with(event, duration_ns, Measured::ONE_EVENT)
    }

    /// Returns the duration of a slice that is drawn with another length.
    #[must_use]
    pub(crate) fn drawn_otherwise(event: u32, duration_ns: i64) -> Measured {
        Measured::with(event, duration_ns, Measured::DRAWN_OTHERWISE)
    }

    fn with(event: u32, duration_ns: i64, end: i32) -> Measured {
        Measured {
            event,
            end,
            duration_ns: duration_ns.max(0),
        }
    }

    /// Returns what the file states about the slice's end.
    #[must_use]
    pub(crate) fn end(&self) -> MeasuredEnd {
        match self.end {
            Measured::NOT_RECORDED => MeasuredEnd::NotRecorded,
            Measured::ONE_EVENT => MeasuredEnd::OneEvent,
            Measured::DRAWN_OTHERWISE => MeasuredEnd::DrawnOtherwise,
            late => MeasuredEnd::Late(late),
        }
    }

    /// Returns how many ns before its event the slice ended, if that is known.
    #[must_use]
    pub(crate) fn lateness(&self) -> Option<i32> {
        match self.end() {
            MeasuredEnd::Late(late) => Some(late),
            _ => None,
        }
    }
}

/// How the clock that measured durations relates to the clock of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasuredClock {
    /// The times cannot be compared with the events' times.
    #[default]
    Other,
    /// The unit is the same; the times themselves show whether the zero is the same.
    Unproven,
    /// Both are the same clock.
    Same,
}

/// The label for an end whose begin was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The event of the end, whose duration is in `measured`.
    pub event: u32,
    /// Index into the part's labels.
    pub label: u32,
}

/// The recorded depth of a call of a traced function. The row is present only if the depth does not follow from the
/// previous function event of the lane: another thread runs, or events were lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallDepth {
    /// The event of the entry or return.
    pub event: u32,
    /// The number of enclosing calls.
    pub depth: u32,
}

/// Name of a function call whose entry was lost and whose return does not contain the function's name.
pub(crate) const NAMELESS_CALL: &str = "(entry lost)";
