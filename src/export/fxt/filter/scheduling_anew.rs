//! Scheduling records that the encoder writes: the arguments of their original records, and the records at the range's
//! start.

use super::file::{FxtFile, SchedulingAction, SchedulingRecord};
use super::places::Record;
use crate::export::fxt::encode::Encoder;
use crate::export::fxt::records::Arg;
use crate::export::fxt::scheduling_args::int32_of;
use crate::export::fxt::scheduling_records::{NumberedState, OnCpu, Outgoing, Side};
use crate::export::fxt::switches::{COMPUTED_AGAIN, runnable_number};
use crate::export::shared::arguments::argument;
use crate::formats::Events;
use crate::fxt::layout::scheduling::IDLE_WEIGHT;
use crate::trace::{CpuId, EventId, ThreadId, Trace};

/// Returns the arguments of the scheduling record of an event; `None` for a switch of the older form, which has none.
pub(crate) fn scheduling_args(
    file: FxtFile<'_>,
    trace: &Trace,
    reader: &dyn Events,
    id: EventId,
) -> Option<Vec<Arg<'static>>> {
    let event = trace.events.get(id);
    // The first fields are words of the record: the threads, and the state of the outgoing one.
    let word_count = match file.scheduling(event.row.place)?.action {
        SchedulingAction::OldSwitch { .. } => return None,
        SchedulingAction::Switch { .. } => 3,
        SchedulingAction::Wakeup { .. } => 1,
    };
    let mut fields = Vec::new();
    reader.fields_into(event.into(), &mut fields);
    let own = fields.into_iter().skip(word_count);
    let own = own.filter(|field| field.role.is_argument());
    Some(
        own.map(|field| argument(field.into_field().into()))
            .collect(),
    )
}

impl Encoder<'_, '_> {
    /// Writes a scheduling record: unchanged, except switches of the older form, and switches from a thread that was
    /// dead at the range's start.
    pub(super) fn scheduling_anew(&mut self, file: FxtFile<'_>, record: &Record) {
        let id = EventId(record.event);
        let Some(SchedulingRecord { cpu, action }) = file.scheduling(record.place) else {
            return;
        };
        let at = OnCpu {
            time: self.ticks(record.time),
            cpu: cpu as u16,
        };
        let is_at_start = record.time == self.source.chosen.span.start.0;
        let prev = self.events.thread(id);
        let is_dead =
            is_at_start && prev.is_some_and(|prev| self.is_dead_at_start(prev, record.time));
        self.records.prepare(&[]);
        let own = scheduling_args(file, self.source.trace, self.source.reader, id);
        match action {
            SchedulingAction::Wakeup { thread } => {
                if let Some(own) = own {
                    self.records.prepare(&own);
                }
                self.records.prepared_wakeup(at, thread, None);
            }
            SchedulingAction::Switch {
                state,
                outgoing,
                incoming,
            } => {
                let Some(own) = own else { return };
                if !is_dead {
                    self.records.prepare(&own);
                    let records = &mut self.records;
                    return records.switch_as_it_stands(at, state, outgoing, incoming);
                }
                self.prepare_but(&own, COMPUTED_AGAIN);
                let weight = int32_of(&own, "incoming_weight");
                if weight != Some(IDLE_WEIGHT) {
                    let koid = incoming;
                    let weight = weight.unwrap_or(0);
                    let incoming = Side::Thread { koid, weight };
                    let idle = Outgoing {
                        side: Side::Idle,
                        state: runnable_number(),
                    };
                    self.records.prepared_switch(at, idle, incoming, None);
                }
            }
            SchedulingAction::OldSwitch {
                state,
                outgoing_priority,
                incoming_priority,
            } => {
                let side = match prev {
                    None | Some(ThreadId::IDLE) => Side::Idle,
                    _ if is_dead => Side::Idle,
                    Some(prev) => self.side(prev, outgoing_priority),
                };
                let next = run_of_event(self.source.trace, cpu, record);
                let incoming = next.map_or(Side::Idle, |next| self.side(next, incoming_priority));
                if !is_dead || incoming != Side::Idle {
                    let state = NumberedState {
                        number: state,
                        letters: "",
                    };
                    let outgoing = Outgoing { side, state };
                    self.records.prepared_switch(at, outgoing, incoming, None);
                }
            }
        }
    }
}

/// Returns the thread of the run that a switch begins.
fn run_of_event(trace: &Trace, cpu: u32, record: &Record) -> Option<ThreadId> {
    let cpu = trace
        .cpus
        .binary_search_by_key(&cpu, |cpu| cpu.number)
        .ok()?;
    let range = trace.runs.on(CpuId(cpu as u32));
    let (first, last) = (range.start as usize, range.end as usize);
    let starts = trace.runs.starts.get(first..last)?;
    let from = first + starts.partition_point(|&start| start < record.time);
    let mut same = (from..last).take_while(|&run| trace.runs.starts[run] == record.time);
    let run = same.find(|&run| trace.runs.events[run] == record.event)?;
    Some(ThreadId(trace.runs.threads[run]))
}
