//! Scheduling records: context switches and wakeups of the newer form.

use super::fixed_tables::well_known;
use super::records::{ArgValue, Records};

/// One side of a context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The CPU's idle thread.
    Idle,
    /// A thread that is left out: the CPU is as idle for all that is written, and an argument says who it was.
    NotChosen {
        /// Its koid.
        koid: u64,
    },
    /// A thread, with its weight.
    Thread {
        /// Its koid.
        koid: u64,
        /// Its weight.
        weight: i32,
    },
}

impl Records<'_> {
    /// Says of the switch that comes next that no states of threads follow from it.
    pub fn prepare_without_states(&mut self) {
        let name = self.name("without_states");
        self.prepare_one(name, &ArgValue::Bool(true));
    }

    /// The same with no arguments before it.
    #[cfg(test)]
    pub fn context_switch(
        &mut self,
        at: (u64, u16),
        outgoing: Side,
        state: (u8, &'static str),
        incoming: Side,
        border: Option<(&'static str, i64)>,
    ) {
        self.prepare(&[]);
        self.prepared_switch(at, outgoing, state, incoming, border);
    }

    /// The same with no arguments before it.
    #[cfg(test)]
    pub fn wakeup(&mut self, time: u64, cpu: u16, thread: u64, waker: Option<u64>) {
        self.prepare(&[]);
        self.prepared_wakeup(time, cpu, thread, waker);
    }

    /// A context switch of the newer form, with the arguments that were prepared. The outgoing thread's state is a number of the format, and the letters
    /// that say more than the number, if any: an argument `outgoing_state`, which other readers pass over; as they do
    /// over `border`, an argument that says when a run began or ended that is cut there, and over those that say who
    /// is left out.
    pub fn prepared_switch(
        &mut self,
        (time, cpu): (u64, u16),
        outgoing: Side,
        (state, letters): (u8, &'static str),
        incoming: Side,
        border: Option<(&'static str, i64)>,
    ) {
        let really = [("really_outgoing", outgoing), ("really_incoming", incoming)];
        for (name, side) in really {
            if let Side::NotChosen { koid } = side {
                let name = self.name(name);
                self.prepare_one(name, &ArgValue::Koid(koid));
            }
        }
        if let Some((name, time)) = border {
            let name = self.name(name);
            self.prepare_one(name, &ArgValue::Int64(time));
        }
        let (out_koid, out_weight) = side_words(outgoing);
        let (in_koid, in_weight) = side_words(incoming);
        let state_words = u64::from(!letters.is_empty());
        let start = self.out.len();
        let header = 8
            | (2 + state_words + self.argument_count) << 16
            | u64::from(cpu) << 20
            | u64::from(state & 0xf) << 36
            | SWITCH_SUBTYPE << 60;
        let words = [
            header,
            time,
            out_koid,
            in_koid,
            arg_word(1, INCOMING_WEIGHT, in_weight as u32),
            arg_word(1, OUTGOING_WEIGHT, out_weight as u32),
            arg_word(6, OUTGOING_STATE, u32::from(well_known(letters))),
        ];
        for &word in words.iter().take(6 + state_words as usize) {
            self.word(word);
        }
        for name in [INCOMING_WEIGHT, OUTGOING_WEIGHT] {
            self.used.string(name);
        }
        if !letters.is_empty() {
            self.used.string(OUTGOING_STATE);
            self.used.string(well_known(letters));
        }
        self.append_arguments();
        self.close(start);
        self.counts.switches += 1;
    }

    /// A context switch as another file has it, with the arguments that were prepared: they say the weights.
    pub fn switch_as_it_stands(
        &mut self,
        (time, cpu): (u64, u16),
        state: u8,
        (outgoing, incoming): (u64, u64),
    ) {
        let start = self.out.len();
        self.word(
            8 | self.argument_count << 16
                | u64::from(cpu) << 20
                | u64::from(state & 0xf) << 36
                | SWITCH_SUBTYPE << 60,
        );
        for word in [time, outgoing, incoming] {
            self.word(word);
        }
        self.append_arguments();
        self.close(start);
        self.counts.switches += 1;
    }

    /// A thread is made ready to run, by `waker` if that is known, with the arguments that were prepared.
    pub fn prepared_wakeup(&mut self, time: u64, cpu: u16, thread: u64, waker: Option<u64>) {
        let arg_count = self.argument_count + u64::from(waker.is_some());
        let start = self.out.len();
        self.word(8 | arg_count << 16 | u64::from(cpu) << 20 | WAKEUP_SUBTYPE << 60);
        self.word(time);
        self.word(thread);
        if let Some(waker) = waker {
            self.word(8 | 2 << 4 | u64::from(WAKER) << 16);
            self.used.string(WAKER);
            self.word(waker);
        }
        self.append_arguments();
        self.close(start);
        self.counts.wakeups += 1;
    }
}

const INCOMING_WEIGHT: u16 = well_known("incoming_weight");
const OUTGOING_WEIGHT: u16 = well_known("outgoing_weight");
const OUTGOING_STATE: u16 = well_known("outgoing_state");
const WAKER: u16 = well_known("waker");

/// An argument whose value stands in its header.
const fn arg_word(kind: u64, name: u16, value: u32) -> u64 {
    kind | 1 << 4 | (name as u64) << 16 | (value as u64) << 32
}

const SWITCH_SUBTYPE: u64 = 1;
const WAKEUP_SUBTYPE: u64 = 2;

/// Koid and weight: idle threads have the smallest weight there is.
fn side_words(side: Side) -> (u64, i32) {
    match side {
        Side::Idle | Side::NotChosen { .. } => (0, i32::MIN),
        // The smallest weight would say that it is idle.
        Side::Thread { koid, weight } => (koid, weight.max(i32::MIN + 1)),
    }
}
