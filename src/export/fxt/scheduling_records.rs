//! Writes scheduling records: context switches and wakeups of the newer form.

use super::fixed_tables::well_known;
use super::records::{Arg, ArgValue, Records};
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

/// When and where a switch or wakeup happened.
#[derive(Clone, Copy)]
pub(crate) struct OnCpu {
    /// The time in ticks.
    pub time: u64,
    /// The CPU's number.
    pub cpu: u16,
}

/// A thread state as the format numbers it.
#[derive(Clone, Copy)]
pub(crate) struct NumberedState {
    pub number: u8,
    /// The state's letters if the number is less precise, else empty.
    pub letters: &'static str,
}

/// The thread that leaves a CPU, and its next state.
#[derive(Clone, Copy)]
pub(crate) struct Outgoing {
    pub side: Side,
    pub state: NumberedState,
}

impl Records<'_> {
    /// Prepares an argument for the next switch: no thread states follow from it.
    pub(crate) fn prepare_without_states(&mut self) {
        let name = self.name("without_states");
        self.prepare_one(name, &ArgValue::Bool(true));
    }

    /// Writes a context switch of the newer form, with the prepared arguments. The outgoing thread's state is a number
    /// of the format; if its letters contain more than the number, they are an argument `outgoing_state`. Other readers
    /// ignore `outgoing_state`, `border` (an argument with the real start or end of a run that is cut there), and the
    /// arguments that name a thread that is left out.
    pub(crate) fn prepared_switch(
        &mut self,
        at: OnCpu,
        outgoing: Outgoing,
        incoming: Side,
        border: Option<&Arg<'static>>,
    ) {
        let NumberedState { number, letters } = outgoing.state;
        let really = [
            ("really_outgoing", outgoing.side),
            ("really_incoming", incoming),
        ];
        for (name, side) in really {
            if let Side::NotChosen { koid } = side {
                let name = self.name(name);
                self.prepare_one(name, &ArgValue::Koid(koid));
            }
        }
        if let Some(border) = border {
            let name = self.exact_name(&border.name);
            self.prepare_one(name, &border.value);
        }
        let (outgoing, incoming) = (SideWords::of(outgoing.side), SideWords::of(incoming));
        let state_words = u64::from(!letters.is_empty());
        let start = self.out.len();
        let header = header(
            scheduling::SWITCH,
            2 + state_words + self.argument_count,
            at.cpu,
        ) | scheduling::STATE.put(number.into());
        let words = [
            header,
            at.time,
            outgoing.koid,
            incoming.koid,
            arg_word(argument::INT32, INCOMING_WEIGHT, incoming.weight as u32),
            arg_word(argument::INT32, OUTGOING_WEIGHT, outgoing.weight as u32),
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
        at: OnCpu,
        state: u8,
        outgoing: u64,
        incoming: u64,
    ) {
        let start = self.out.len();
        self.word(
            header(scheduling::SWITCH, self.argument_count, at.cpu)
                | scheduling::STATE.put(state.into()),
        );
        for word in [at.time, outgoing, incoming] {
            self.word(word);
        }
        self.append_arguments();
        self.close(start);
        self.counts.switches += 1;
    }

    /// Writes a wakeup of a thread, by `waker` if that is known, with the prepared arguments.
    pub(crate) fn prepared_wakeup(&mut self, at: OnCpu, thread: u64, waker: Option<u64>) {
        let arg_count = self.argument_count + u64::from(waker.is_some());
        let start = self.out.len();
        self.word(header(scheduling::WAKEUP, arg_count, at.cpu));
        self.word(at.time);
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

/// A thread in a switch record: the idle thread has the smallest weight.
struct SideWords {
    koid: u64,
    weight: i32,
}

impl SideWords {
    fn of(side: Side) -> SideWords {
        match side {
            Side::Idle | Side::NotChosen { .. } => SideWords {
                koid: 0,
                weight: IDLE_WEIGHT,
            },
            // The smallest weight would mean that the thread is idle.
            Side::Thread { koid, weight } => SideWords {
                koid,
                weight: weight.max(IDLE_WEIGHT + 1),
            },
        }
    }
}
