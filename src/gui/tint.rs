//! Colours of threads, processes, CPUs, names and states. Lanes and the panes' swatches both take them from here, so
//! that a colour has one meaning.

use super::theme::{Palette, hash_name};
use crate::trace::{CpuId, ProcessId, ThreadId, ThreadState, Trace};
use crate::view::ColorBy;
use egui::Color32;

/// The property that determines a colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tint {
    /// The name of a slice.
    Name(u64),
    /// A thread: hashes of itself, its process and its name.
    Thread {
        /// Hash of the thread's name and tid.
        own: u64,
        /// Hash of its process; without a process, `own`.
        process: u64,
        /// Hash of its name, shared by all threads of that name.
        name: u64,
    },
    /// All threads of a name.
    ThreadName(u64),
    /// A process.
    Process(u64),
    /// A CPU.
    Cpu(u64),
    /// A state.
    State(ThreadState),
}

impl Tint {
    /// Returns the tint of slices called `name`.
    #[must_use]
    pub(crate) fn of_name(name: &[u8]) -> Tint {
        Tint::Name(hash_name(name))
    }

    /// Returns the tint of a thread, on its own lanes and on every CPU.
    #[must_use]
    pub(crate) fn of_thread(trace: &Trace, id: ThreadId) -> Tint {
        let thread = trace.thread(id);
        let name = hash_name(trace.strings.bytes(thread.name));
        let own = name ^ thread.tid.wrapping_mul(0x51_7cc1_b727);
        let process = thread.process.and_then(|it| process_hash(trace, it));
        Tint::Thread {
            own,
            process: process.unwrap_or(own),
            name,
        }
    }

    /// Returns the tint shared by all threads of a name.
    #[must_use]
    pub(crate) fn of_thread_name(name: &[u8]) -> Tint {
        Tint::ThreadName(hash_name(name))
    }

    /// Returns the tint of the thread state with this name.
    #[must_use]
    pub(crate) fn of_state_word(word: &str) -> Option<Tint> {
        let mut states = ThreadState::ALL.into_iter();
        states.find(|state| state.word() == word).map(Tint::State)
    }

    /// Returns the tint of a process.
    #[must_use]
    pub(crate) fn of_process(trace: &Trace, id: ProcessId) -> Option<Tint> {
        process_hash(trace, id).map(Tint::Process)
    }

    /// Returns the tint of a CPU.
    #[must_use]
    pub(crate) fn of_cpu(cpu: CpuId) -> Tint {
        Tint::Cpu(u64::from(cpu.0).wrapping_mul(0x9e37) ^ 0x5bd1)
    }

    /// Returns the colour regardless of the timeline's settings.
    #[must_use]
    pub(crate) fn plain(self, palette: &Palette) -> Color32 {
        match self {
            Tint::Name(hash) | Tint::ThreadName(hash) | Tint::Process(hash) | Tint::Cpu(hash) => {
                palette.of_hash(hash)
            }
            Tint::Thread { own, .. } => palette.of_hash(own),
            Tint::State(state) => palette.of_state(state),
        }
    }

    /// Returns the colour on the timeline; `None` if bars of this tint have several colours there.
    #[must_use]
    pub(crate) fn on_timeline(self, palette: &Palette, color_by: ColorBy) -> Option<Color32> {
        let hash = match (self, color_by) {
            (Tint::State(state), _) => return Some(palette.of_state(state)),
            (Tint::Name(hash), ColorBy::Kind | ColorBy::Name)
            | (Tint::Thread { own: hash, .. }, ColorBy::Kind | ColorBy::Thread)
            | (Tint::Thread { process: hash, .. }, ColorBy::Process)
            | (Tint::Thread { name: hash, .. }, ColorBy::Name)
            | (Tint::ThreadName(hash), ColorBy::Name)
            | (Tint::Process(hash), ColorBy::Process)
            | (Tint::Cpu(hash), ColorBy::Cpu) => hash,
            _ => return None,
        };
        Some(palette.of_hash(hash))
    }
}

fn process_hash(trace: &Trace, id: ProcessId) -> Option<u64> {
    let process = trace.processes.get(id.0 as usize)?;
    let name = hash_name(trace.strings.bytes(process.name));
    Some(name ^ process.pid.wrapping_mul(0x2545_f491_4f6c_dd1d))
}
