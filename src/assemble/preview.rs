//! A trace of the parts that are read so far: which thread ran on which CPU, shown while the file loads.
//!
//! Parts come in lane order, so whole CPUs appear one after the other. Only switches and names are read: the preview
//! has no events, slices or states; the whole trace has them.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::scheduling::{NoWitness, SwitchRow, SwitchSource, runs_of_cpu, sort_by_thread};
use crate::base::{Maybe, StringId, Strings, TimeSpan, Timestamp};
use crate::event::{Lane, LaneColumns, Life, ThreadKey, TraceInfo};
use crate::trace::{Cpu, CpuId, Runs, SeenTimes, Thread, ThreadId, Trace};

/// The switches and names of the parts added so far.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    lanes: Vec<Lane>,
    info: TraceInfo,
    strings: Strings,
    threads: Vec<Thread>,
    ids: FxHashMap<u32, u32>,
    /// For each CPU number: its switches in order, and the time of the first event of its lane.
    switches: FxHashMap<u32, (Vec<SwitchRow>, Timestamp)>,
}

impl Preview {
    /// Returns an empty preview of a file with these lanes.
    #[must_use]
    pub(crate) fn of(lanes: &[Lane], info: &TraceInfo) -> Preview {
        Preview {
            lanes: lanes.to_vec(),
            info: info.clone(),
            ..Preview::default()
        }
    }

    /// Adds the columns of one part of a lane; the parts of a lane must come in order.
    pub(crate) fn add(&mut self, lane: u32, rows: &LaneColumns) {
        if self.threads.is_empty() {
            self.thread(ThreadKey::IDLE);
        }
        let lane_cpu = self.lanes.get(lane as usize).and_then(|lane| lane.cpu);
        for row in &rows.lives {
            if let Life::Name { thread, name } = &row.life {
                let name = self.strings.intern(rows.strings.bytes(*name));
                let id = self.thread(*thread);
                self.threads[id as usize].name = name;
            }
        }
        for switch in &rows.switches {
            let (prev, next) = (self.thread(switch.prev), self.thread(switch.next));
            let time = rows.events.time(switch.event);
            let first = if lane_cpu == Some(switch.cpu) {
                rows.events.time(0)
            } else {
                time
            };
            let list = &mut self
                .switches
                .entry(switch.cpu)
                .or_insert_with(|| (Vec::new(), first))
                .0;
            list.push(SwitchRow {
                time: time.0,
                event: Maybe::NONE,
                prev: Some(ThreadId(prev)),
                next: Some(ThreadId(next)),
                prev_priority: switch.prev_priority,
                next_priority: switch.next_priority,
                prev_state: switch.prev_state,
                content: switch.content,
            });
        }
    }

    fn thread(&mut self, key: ThreadKey) -> u32 {
        let threads = &mut self.threads;
        *self.ids.entry(key.0).or_insert_with(|| {
            let tid = u64::from(key.0);
            let seen = SeenTimes::once(Timestamp(0));
            threads.push(Thread {
                tid,
                key: tid,
                process: None,
                name: StringId::EMPTY,
                rank: None,
                start: None,
                end: None,
                seen,
            });
            threads.len() as u32 - 1
        })
    }

    /// Returns whether no switches were added: there is then nothing to show beyond the overview.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Returns the trace so far; `span` is the overview's.
    #[must_use]
    pub(crate) fn trace(&self, span: TimeSpan) -> Trace {
        let mut numbers: Vec<u32> = (self.lanes.iter())
            .filter_map(|lane| lane.cpu)
            .chain(self.switches.keys().copied())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut runs = Runs::default();
        for number in &numbers {
            let first = runs.starts.len() as u32;
            if let Some((rows, first_event)) = self.switches.get(number) {
                let source = SwitchSource {
                    first_event: Some(*first_event),
                    holes: &[],
                };
                let mut part = runs_of_cpu(CpuId(*number), rows, source, &NoWitness).runs;
                if let (Some(end), Some(last)) = (part.ends.last_mut(), rows.last()) {
                    // Parts of this CPU may be missing: its last run is certain only up to its last switch.
                    *end = Maybe::new(end.at_most(last.time.saturating_add(1)));
                }
                runs.append(&part);
            }
            runs.of_cpu.push(Range {
                start: first,
                end: runs.starts.len() as u32,
            });
        }
        sort_by_thread(&mut runs, self.threads.len());
        Trace {
            info: self.info.clone(),
            span,
            strings: self.strings.clone().into(),
            cpus: numbers.into_iter().map(|number| Cpu { number }).collect(),
            threads: self.threads.clone(),
            runs: runs.into(),
            ..Trace::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{KindId, Switch, SwitchContent, ThreadState};
    use crate::trace::ThreadId;

    #[test]
    fn a_cpu_is_shown_as_soon_as_its_part_is_read() {
        let mut columns = LaneColumns::new(0);
        for (time, prev, next) in [(10, 0, 5), (20, 5, 6)] {
            let event = columns.events.push(time, 0, KindId(0), ThreadKey(prev));
            let (prev, next, prev_state) =
                (ThreadKey(prev), ThreadKey(next), ThreadState::Sleeping);
            columns.switches.push(Switch {
                event,
                cpu: 1,
                prev,
                next,
                prev_priority: 0,
                next_priority: 0,
                prev_state,
                content: SwitchContent::RunsAndStates,
            });
        }
        let lanes: Vec<Lane> = (0..2)
            .map(|cpu| Lane {
                name: String::new(),
                cpu: Some(cpu),
            })
            .collect();
        let mut preview = Preview::of(&lanes, &TraceInfo::default());
        assert!(preview.is_empty());
        preview.add(1, &columns);
        let span = TimeSpan::new(Timestamp(0), Timestamp(100));
        let trace = preview.trace(span);
        assert_eq!(trace.runs.starts, vec![10, 20]);
        assert_eq!(trace.runs.ends, vec![20, 21]);
        assert_eq!(trace.cpus.len(), 2);
        assert_eq!(trace.thread(ThreadId(trace.runs.threads[1])).tid, 6);
    }
}
