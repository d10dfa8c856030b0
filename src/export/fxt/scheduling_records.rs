//! Writes scheduling records: context switches and wakeups of the newer form.

use super::fixed_tables::well_known;
use super::records::{ArgValue, Records};
use crate::fxt::layout::scheduling::{self, IDLE_WEIGHT};
use crate::fxt::layout::{RECORD_TYPE, argument, record_type};

/// One side of a context switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The CPU's idle thread.
    Idle,
    /// A thread that is left out: the file shows the CPU as idle, and an argument contains the thread's koid.
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
    /// Prepares an argument for the next switch: no thread states follow from it.
    pub(crate) fn prepare_without_states(&mut self) {
        let name = self.name("without_states");
        self.prepare_one(name, &ArgValue::Bool(true));
    }

    /// Writes a context switch without arguments.
    #[cfg(test)]
    pub(crate) fn context_switch(
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

    /// Writes a wakeup without arguments.
    #[cfg(test)]
    pub(crate) fn wakeup(&mut self, time: u64, cpu: u16, thread: u64, waker: Option<u64>) {
        self.prepare(&[]);
        self.prepared_wakeup(time, cpu, thread, waker);
    }

    /// Writes a context switch of the newer form, with the prepared arguments. The outgoing thread's state is a number
    /// of the format; if its letters contain more than the number, they are an argument `outgoing_state`. Other
    /// readers ignore that argument, `border`, an argument with the real start or end of a run that is cut there, and
    /// those that name a thread that is left out.
    pub(crate) fn prepared_switch(
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
        let header = header(
            scheduling::SWITCH,
            2 + state_words + self.argument_count,
            cpu,
        ) | scheduling::STATE.put(state.into());
        let words = [
            header,
            time,
            out_koid,
            in_koid,
            arg_word(argument::INT32, INCOMING_WEIGHT, in_weight as u32),
            arg_word(argument::INT32, OUTGOING_WEIGHT, out_weight as u32),
            arg_word(
                argument::TEXT,
                OUTGOING_STATE,
                u32::from(well_known(letters)),
            ),
        ];
        // The last word, the letters of the state, is written only if there are letters.
        for &word in words.iter().take(6 + state_words as usize) {
            self.word(word);
        }
        // The words above contain string indices directly: the fixed strings must be in the file.
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

    /// Writes a context switch with the fields of another file's record and the prepared arguments, which include the
    /// weights.
    pub(crate) fn switch_as_it_stands(
        &mut self,
        (time, cpu): (u64, u16),
        state: u8,
        (outgoing, incoming): (u64, u64),
    ) {
        let start = self.out.len();
        self.word(
            header(scheduling::SWITCH, self.argument_count, cpu)
                | scheduling::STATE.put(state.into()),
        );
        for word in [time, outgoing, incoming] {
            self.word(word);
        }
        self.append_arguments();
        self.close(start);
        self.counts.switches += 1;
    }

    /// Writes a wakeup of a thread, by `waker` if that is known, with the prepared arguments.
    pub(crate) fn prepared_wakeup(&mut self, time: u64, cpu: u16, thread: u64, waker: Option<u64>) {
        let arg_count = self.argument_count + u64::from(waker.is_some());
        let start = self.out.len();
        self.word(header(scheduling::WAKEUP, arg_count, cpu));
        self.word(time);
        self.word(thread);
        if let Some(waker) = waker {
            self.word(
                argument::KIND.put(argument::KOID)
                    | argument::WORDS.put(2)
                    | argument::NAME.put(WAKER.into()),
            );
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

/// Returns an argument whose value is in its header.
const fn arg_word(kind: u64, name: u16, value: u32) -> u64 {
    argument::KIND.put(kind)
        | argument::WORDS.put(1)
        | argument::NAME.put(name as u64)
        | argument::HIGH.put(value as u64)
}

/// Returns the header of a scheduling record, without its size and state.
fn header(kind: u64, arg_count: u64, cpu: u16) -> u64 {
    RECORD_TYPE.put(record_type::SCHEDULING)
        | scheduling::KIND.put(kind)
        | scheduling::ARGS.put(arg_count)
        | scheduling::CPU.put(cpu.into())
}

/// Returns koid and weight: idle threads have the smallest weight.
fn side_words(side: Side) -> (u64, i32) {
    match side {
        Side::Idle | Side::NotChosen { .. } => (0, IDLE_WEIGHT),
        // The smallest weight would mean that the thread is idle.
        Side::Thread { koid, weight } => (koid, weight.max(IDLE_WEIGHT + 1)),
    }
}
