//! The result of the bulk pass for one part of a lane: all events in 9 bytes each, and typed rows for what is drawn.

use super::columns::EventColumns;
use super::keys::EventKind;
use super::rows::{
    AsyncMark, CallDepth, Complete, Cut, FileRow, FlowMark, Gap, Label, LifeRow, LogRow,
    LoneBegins, Mark, Measured, MeasuredClock, Migration, RequestRow, Sample, Seam, Series,
    Sighted, StateFacts, Stated, Switch, Ties, Wakeup, WholeRun, WholeState,
};
use crate::base::order::put_in_order;
use crate::base::streaks::Streaks;
use crate::base::{Diagnostics, Strings};

/// The clock of a lane's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneClock {
    /// One of the file's clocks: times of different numbers cannot be compared. 0 if the file has one clock.
    Number(u32),
    /// The events come from several buffers of a CPU: their clocks may differ, and the order of events is not certain.
    OfSeveralBuffers,
}

impl Default for LaneClock {
    fn default() -> LaneClock {
        LaneClock::Number(0)
    }
}

/// The columns of one part. All row vectors are in the order of `events`.
#[derive(Clone, Debug, Default)]
pub struct LaneColumns {
    /// Every event.
    pub events: EventColumns,
    /// Context switches.
    pub switches: Vec<Switch>,
    /// Wakeups.
    pub wakeups: Vec<Wakeup>,
    /// Moves of threads to other CPUs.
    pub migrations: Vec<Migration>,
    /// Threads that ran, by events of other threads.
    pub sighted: Vec<Sighted>,
    /// Facts in the file about thread states, by the event that starts the state.
    pub state_facts: Vec<StateFacts>,
    /// Items that an export cut: the file contains only a part of each.
    pub cuts: Vec<Cut>,
    /// Runs that the file states whole.
    pub whole_runs: Vec<WholeRun>,
    /// Thread states that the file states whole.
    pub whole_states: Vec<WholeState>,
    /// Begins and ends of slices.
    pub marks: Vec<Mark>,
    /// The labels that `marks` and `completes` refer to.
    pub labels: Streaks<Label>,
    /// Slices that are recorded whole, with their duration.
    pub completes: Vec<Complete>,
    /// Durations that the recorder measured itself.
    pub measured: Vec<Measured>,
    /// Slices to use for ends whose begin was lost.
    pub stated: Vec<Stated>,
    /// Depths of calls of traced functions that do not follow from the events before.
    pub call_depths: Vec<CallDepth>,
    /// How the clock of `measured` relates to the events' clock.
    pub measured_clock: MeasuredClock,
    /// The clock of the events.
    pub clock: LaneClock,
    /// How `completes` that start at the same time nest.
    pub ties: Ties,
    /// What a begin means in a recording without any end of its family.
    pub lone_begins: LoneBegins,
    /// Begins, instants and ends of asynchronous slices.
    pub asyncs: Vec<AsyncMark>,
    /// Events of bios and requests of the block layer.
    pub requests: Vec<RequestRow>,
    /// Counter samples.
    pub samples: Vec<Sample>,
    /// The counters that `samples` refer to.
    pub series: Vec<Series>,
    /// Flow begins, steps and ends.
    pub flows: Vec<FlowMark>,
    /// Forks, execs, exits, names, and other facts about lives.
    pub lives: Vec<LifeRow>,
    /// Operations on files.
    pub files: Vec<FileRow>,
    /// Log messages.
    pub logs: Vec<LogRow>,
    /// Where events were lost.
    pub gaps: Vec<Gap>,
    /// Where events may have been lost, for recordings that contain the number of lost events but not their place.
    pub seams: Vec<Seam>,
    /// The kinds of the part's events, if the part numbers them itself; else they are those of the directory.
    pub kinds: Streaks<EventKind>,
    /// The strings that all rows refer to.
    pub strings: Strings,
    /// Diagnostics of the part.
    pub diagnostics: Diagnostics,
}

/// The columns of one part, with the part's place in the file.
#[derive(Debug)]
pub struct PartColumns {
    /// Index of the part in the reader's parts.
    pub part: u32,
    /// Index of its lane.
    pub lane: u32,
    /// The part's columns.
    pub columns: LaneColumns,
}

impl LaneColumns {
    /// Returns empty columns; see [`EventColumns::new`] for `place_shift`.
    #[must_use]
    pub fn new(place_shift: u8) -> LaneColumns {
        LaneColumns {
            events: EventColumns::new(place_shift),
            ..LaneColumns::default()
        }
    }

    /// Sorts the events by time if they are not sorted, and all rows accordingly.
    pub(crate) fn sort_by_time(&mut self) {
        if self.events.is_sorted() {
            return;
        }
        let sorted = self.events.sorted_by_time();
        self.events = sorted.events;
        macro_rules! remap {
            ($($rows:ident),*) => {$(
                for row in &mut self.$rows {
                    row.event = sorted.new_indices[row.event as usize];
                }
                put_in_order(&mut self.$rows, |row| row.event);
            )*};
        }
        remap!(
            switches,
            wakeups,
            migrations,
            sighted,
            state_facts,
            cuts,
            whole_runs,
            whole_states,
            marks,
            completes,
            measured,
            stated,
            call_depths,
            asyncs,
            requests,
            samples,
            flows,
            lives,
            files,
            logs
        );
    }
}
