//! The raw records of an FXT file, by their places.

use crate::base::{Big, ByteOrder, Endian, Little};
use crate::event::FlowOp;
use crate::formats::fxt::FxtReader;
use crate::fxt::args::{ArgValue, Args};
use crate::fxt::layout::scheduling::{self, legacy};
use crate::fxt::layout::{RECORD_TYPE, event, record_type};
use crate::fxt::words::{Words, read_text};
use crate::load::LoadedTrace;

/// The records of an FXT file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FxtFile<'a> {
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// Byte order of its numbers.
    pub endian: Endian,
}

/// Operation and id of a flow event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowRecord {
    /// The effect of the event on its flow.
    pub op: FlowOp,
    /// The flow's id.
    pub id: u64,
}

/// Contents of a scheduling record besides its time and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SchedulingRecord {
    /// Number of the CPU.
    pub cpu: u32,
    /// The switch or wakeup.
    pub action: SchedulingAction,
}

/// The content of a scheduling record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchedulingAction {
    /// A context switch of the older form.
    OldSwitch {
        /// The outgoing thread's state, 4 bits.
        state: u8,
        /// Priority of the outgoing thread.
        outgoing_priority: i32,
        /// Priority of the incoming thread.
        incoming_priority: i32,
    },
    /// A context switch of the newer form.
    Switch {
        /// The outgoing thread's state.
        state: u8,
        /// Koid of the outgoing thread.
        outgoing: u64,
        /// Koid of the incoming thread.
        incoming: u64,
    },
    /// A wakeup.
    Wakeup {
        /// Koid of the woken thread.
        thread: u64,
    },
}

impl<'a> FxtFile<'a> {
    /// Returns the file of a trace; `None` if the trace comes from several files, or from a file of another format.
    pub(crate) fn of(loaded: &'a LoadedTrace) -> Option<FxtFile<'a>> {
        let file = loaded.reader.record_file()?.downcast_ref::<FxtReader>()?;
        Some(FxtFile {
            bytes: file.bytes(),
            endian: file.endian(),
        })
    }

    /// Returns the three words after the header of the record at a place; 0 for words that the record lacks.
    fn words(&self, place: u64) -> Option<[u64; 4]> {
        fn read<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<[u64; 4]> {
            let record = Words::<O>::new(bytes).record_at(place)?;
            Some([0, 1, 2, 3].map(|index| record.get(index).unwrap_or(0)))
        }
        match self.endian {
            Endian::Little => read::<Little>(self.bytes, place),
            Endian::Big => read::<Big>(self.bytes, place),
        }
    }

    /// Returns the header of the record at a place.
    #[inline]
    fn header(&self, place: u64) -> Option<u64> {
        match self.endian {
            Endian::Little => header_at::<Little>(self.bytes, place),
            Endian::Big => header_at::<Big>(self.bytes, place),
        }
    }

    /// Returns the event type of the record at a place, if it is an event record.
    #[inline]
    pub(crate) fn event_type(&self, place: u64) -> Option<u64> {
        let header = self.header(place)?;
        let is_event = RECORD_TYPE.get(header) == record_type::EVENT;
        is_event.then_some(event::KIND.get(header))
    }

    /// Returns the flow event at a place.
    pub(crate) fn flow(&self, place: u64) -> Option<FlowRecord> {
        let op = match self.event_type(place)? {
            event::FLOW_BEGIN => FlowOp::Begin,
            event::FLOW_STEP => FlowOp::Step,
            event::FLOW_END => FlowOp::End,
            _ => return None,
        };
        let id = match self.endian {
            Endian::Little => event_args::<Little>(self.bytes, place)?.word_behind(),
            Endian::Big => event_args::<Big>(self.bytes, place)?.word_behind(),
        };
        Some(FlowRecord { op, id: id? })
    }

    /// Returns whether the event at a place has an argument that is a number, as a counter's value is.
    pub(crate) fn has_number(&self, place: u64) -> bool {
        fn find<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<bool> {
            let is_number = |value: ArgValue<'_>| {
                matches!(
                    value,
                    ArgValue::Int32(_)
                        | ArgValue::UInt32(_)
                        | ArgValue::Int64(_)
                        | ArgValue::UInt64(_)
                        | ArgValue::Double(_)
                )
            };
            let mut args = event_args::<O>(bytes, place)?;
            Some(args.any(|arg| is_number(arg.value)))
        }
        let found = match self.endian {
            Endian::Little => find::<Little>(self.bytes, place),
            Endian::Big => find::<Big>(self.bytes, place),
        };
        found == Some(true)
    }

    /// Returns the koid of the thread that the wakeup at a place wakes.
    pub(crate) fn woken(&self, place: u64) -> Option<u64> {
        match self.scheduling(place)?.action {
            SchedulingAction::Wakeup { thread } => Some(thread),
            _ => None,
        }
    }

    /// Returns the scheduling record at a place.
    pub(crate) fn scheduling(&self, place: u64) -> Option<SchedulingRecord> {
        let [header, _, first, second] = self.words(place)?;
        if RECORD_TYPE.get(header) != record_type::SCHEDULING {
            return None;
        }
        let newer = |action| SchedulingRecord {
            cpu: scheduling::CPU.get(header) as u32,
            action,
        };
        match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => Some(SchedulingRecord {
                cpu: legacy::CPU.get(header) as u32,
                action: SchedulingAction::OldSwitch {
                    state: legacy::STATE.get(header) as u8,
                    outgoing_priority: legacy::OUTGOING_PRIORITY.get(header) as i32,
                    incoming_priority: legacy::INCOMING_PRIORITY.get(header) as i32,
                },
            }),
            scheduling::SWITCH => Some(newer(SchedulingAction::Switch {
                state: scheduling::STATE.get(header) as u8,
                outgoing: first,
                incoming: second,
            })),
            scheduling::WAKEUP => Some(newer(SchedulingAction::Wakeup { thread: first })),
            _ => None,
        }
    }
}

/// Returns the header of the record at a place.
#[inline]
pub(crate) fn header_at<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<u64> {
    let rest = bytes.get(usize::try_from(place).ok()?..)?;
    rest.first_chunk::<8>().map(|&chunk| O::u64(chunk))
}

/// Returns the arguments of the event record at a place.
fn event_args<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<Args<'_, O>> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    let mut next = match event::THREAD.get(header) {
        0 => 4,
        _ => 2,
    };
    read_text(event::CATEGORY.get(header), record, &mut next)?;
    read_text(event::NAME.get(header), record, &mut next)?;
    Some(Args::new(record, next, event::ARGS.get(header)))
}
