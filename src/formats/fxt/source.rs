//! The original records of an opened FXT file, for an exporter that writes FXT: decoded only as far as writing needs.
//!
//! Arguments keep their references to the string table, so that the caller looks up each entry, and how long it stays
//! valid, only once. Texts are the bytes of the file.

use super::scan::{Scan, string_bytes};
use super::tables::Provider;
use crate::base::{Big, ByteOrder, Endian, Little};
use crate::event::{FlowOp, Ties};
use crate::fxt::args::{Arg, ArgValue, Args, object_owner_words};
use crate::fxt::layout::scheduling::{self, legacy};
use crate::fxt::layout::{RECORD_TYPE, event, kernel_object, large, record_type};
use crate::fxt::words::{TextRef, Words, read_text};

/// Ticks per second of a provider without a rate.
const DEFAULT_RATE: u64 = 1_000_000_000;
/// The records of one file.
#[derive(Clone, Copy, Debug)]
pub struct FxtSource<'a> {
    bytes: &'a [u8],
    endian: Endian,
    scan: &'a Scan,
}

/// A userspace object record.
#[derive(Clone, Copy, Debug)]
pub struct SourceObject {
    /// The pointer that it names.
    pub pointer: u64,
    /// Koid of the process, if the record contains it instead of a thread.
    pub process: Option<u64>,
}

/// Contents of a scheduling record besides its time and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceScheduling {
    /// Number of the CPU.
    pub cpu: u32,
    /// Type of the record.
    pub sort: SchedulingSort,
}

/// The types of scheduling records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingSort {
    /// A context switch of the older form.
    OldSwitch {
        /// The outgoing thread's state, 4 bits.
        state: u8,
        /// Priorities of the outgoing and the incoming thread.
        priorities: (i32, i32),
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

impl<'a> FxtSource<'a> {
    pub(super) fn new(bytes: &'a [u8], endian: Endian, scan: &'a Scan) -> FxtSource<'a> {
        FxtSource {
            bytes,
            endian,
            scan,
        }
    }

    /// Returns the first four words of the record at a place; 0 for words that it lacks.
    fn words(&self, place: u64) -> Option<[u64; 4]> {
        fn read<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<[u64; 4]> {
            let record = Words::<O>::new(bytes).record_at(place)?;
            let word = |index| record.get(index).unwrap_or(0);
            Some([word(0), word(1), word(2), word(3)])
        }
        match self.endian {
            Endian::Little => read::<Little>(self.bytes, place),
            Endian::Big => read::<Big>(self.bytes, place),
        }
    }

    /// Returns the userspace object record at a place.
    #[must_use]
    pub fn object(&self, place: u64) -> Option<SourceObject> {
        match self.endian {
            Endian::Little => object::<Little>(self.bytes, place),
            Endian::Big => object::<Big>(self.bytes, place),
        }
    }

    /// Returns whether the file has userspace objects.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        !self.scan.objects.is_empty()
    }

    /// Returns whether the record at a place is a userspace object.
    #[must_use]
    pub fn is_object(&self, place: u64) -> bool {
        self.object(place).is_some()
    }

    /// Returns the place of the last record before `place` that names a pointer of a process.
    #[must_use]
    pub(crate) fn object_of(&self, process: u64, pointer: u64, place: u64) -> Option<u64> {
        self.scan.object_of(process, pointer, place)
    }

    /// Returns kernel objects other than processes and threads: (koid, type, name), sorted by koid.
    #[must_use]
    pub(crate) fn kernel_objects(&self) -> Vec<(u64, u64, &'a [u8])> {
        self.scan.entities.other_objects()
    }

    /// Returns the places of counter events without a numeric argument, sorted: they have no sample in any counter.
    #[must_use]
    pub(crate) fn counters_without_numbers(&self) -> Vec<u64> {
        self.scan.counters_without_numbers()
    }

    /// Returns whether the record at a place is a flow event.
    #[inline]
    #[must_use]
    pub(crate) fn is_flow(&self, place: u64) -> bool {
        let flows = event::FLOW_BEGIN..=event::FLOW_END;
        self.event_type(place)
            .is_some_and(|event_type| flows.contains(&event_type))
    }

    /// Returns operation and id of the flow event at a place.
    #[must_use]
    pub fn flow(&self, place: u64) -> Option<(FlowOp, u64)> {
        if !self.is_flow(place) {
            return None;
        }
        let op = match self.event_type(place)? {
            event::FLOW_BEGIN => FlowOp::Begin,
            event::FLOW_STEP => FlowOp::Step,
            event::FLOW_END => FlowOp::End,
            _ => return None,
        };
        Some((op, self.word_behind(place)?))
    }

    /// Returns the event type of the record at a place, if it is an event record.
    #[inline]
    #[must_use]
    pub fn event_type(&self, place: u64) -> Option<u64> {
        let rest = self.bytes.get(usize::try_from(place).ok()?..)?;
        let bytes = *rest.first_chunk::<8>()?;
        let header = match self.endian {
            Endian::Little => Little::u64(bytes),
            Endian::Big => Big::u64(bytes),
        };
        let is_event = RECORD_TYPE.get(header) == record_type::EVENT;
        is_event.then_some(event::KIND.get(header))
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Byte order of the file.
    #[must_use]
    pub fn endian(&self) -> Endian {
        self.endian
    }

    /// Returns how complete slices with the same start nest.
    #[must_use]
    pub(crate) fn ties(&self) -> Ties {
        self.scan.tables.ties()
    }

    /// Converts a tick to ns with the tick rate that is valid at a place.
    #[must_use]
    pub fn nanos(&self, tick: u64, place: u64) -> Option<i64> {
        let tables = &self.scan.tables;
        tables
            .scale_at(tables.provider_at(place), place)
            .nanos(tick)
    }

    /// Returns the arguments of the record at a place, if its type can have arguments. Registered texts are returned as
    /// bytes, unregistered ones keep their index.
    #[must_use]
    pub fn args(&self, place: u64) -> Option<Vec<Arg<'a>>> {
        match self.endian {
            Endian::Little => self.args_of(arguments::<Little>(self.bytes, place)?, place),
            Endian::Big => self.args_of(arguments::<Big>(self.bytes, place)?, place),
        }
    }

    fn args_of<O: ByteOrder>(&self, args: Args<'a, O>, place: u64) -> Option<Vec<Arg<'a>>> {
        let slot = self.scan.tables.provider_at(place);
        let text = |text: TextRef<'a>| match text {
            TextRef::Index(index) if index != 0 => {
                let registered = self.scan.tables.string_at(slot, index, place);
                let bytes =
                    registered.and_then(|place| string_bytes(Words::<O>::new(self.bytes), place));
                bytes.map_or(text, TextRef::Inline)
            }
            text => text,
        };
        let args = args.map(|arg| Arg {
            name: text(arg.name),
            value: match arg.value {
                ArgValue::Text(value) => ArgValue::Text(text(value)),
                value => value,
            },
        });
        Some(args.collect())
    }

    /// Returns the word after the arguments of an event record: its id, or an instant's scope.
    #[must_use]
    pub(crate) fn word_behind(&self, place: u64) -> Option<u64> {
        self.event_type(place)?;
        match self.endian {
            Endian::Little => arguments::<Little>(self.bytes, place)?.word_behind(),
            Endian::Big => arguments::<Big>(self.bytes, place)?.word_behind(),
        }
    }

    /// Returns the place of a kernel object's record that has arguments other than the process.
    #[must_use]
    pub(crate) fn object_with_arguments(&self, koid: u64, object_type: u64) -> Option<u64> {
        self.scan.entities.object_place(koid, object_type)
    }

    /// Returns the koid of the thread that the wakeup at a place wakes.
    #[must_use]
    pub fn woken(&self, place: u64) -> Option<u64> {
        match self.scheduling(place)?.sort {
            SchedulingSort::Wakeup { thread } => Some(thread),
            _ => None,
        }
    }

    /// Returns the scheduling record at a place.
    #[must_use]
    pub fn scheduling(&self, place: u64) -> Option<SourceScheduling> {
        let [header, _, first, second] = self.words(place)?;
        if RECORD_TYPE.get(header) != record_type::SCHEDULING {
            return None;
        }
        let newer = |sort| SourceScheduling {
            cpu: scheduling::CPU.get(header) as u32,
            sort,
        };
        match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => Some(SourceScheduling {
                cpu: legacy::CPU.get(header) as u32,
                sort: SchedulingSort::OldSwitch {
                    state: legacy::STATE.get(header) as u8,
                    priorities: (
                        legacy::OUTGOING_PRIORITY.get(header) as i32,
                        legacy::INCOMING_PRIORITY.get(header) as i32,
                    ),
                },
            }),
            scheduling::SWITCH => Some(newer(SchedulingSort::Switch {
                state: scheduling::STATE.get(header) as u8,
                outgoing: first,
                incoming: second,
            })),
            scheduling::WAKEUP => Some(newer(SchedulingSort::Wakeup { thread: first })),
            _ => None,
        }
    }

    /// Returns the providers that the file announces: (id, name, ticks per second).
    #[must_use]
    pub fn providers(&self) -> Vec<(u32, &'a [u8], u64)> {
        let scan: &'a Scan = self.scan;
        let announced = scan.tables.providers().iter().skip(1);
        let row = |provider: &'a Provider| {
            let rate = provider.rates().last();
            let rate = rate.map_or(DEFAULT_RATE, |(_, scale)| scale.ticks_per_second());
            (provider.id, provider.name.as_slice(), rate)
        };
        announced.map(row).collect()
    }

    /// Returns id and name of the provider at a place.
    #[must_use]
    pub(crate) fn provider_at(&self, place: u64) -> (u32, &'a [u8]) {
        let scan: &'a Scan = self.scan;
        let slot = scan.tables.provider_at(place);
        let provider = scan.tables.providers().get(slot as usize);
        provider.map_or((0, &[]), |provider| (provider.id, &provider.name))
    }

    /// Returns the CPU number in the scheduling record at a place.
    #[must_use]
    pub fn cpu(&self, place: u64) -> Option<u32> {
        Some(self.scheduling(place)?.cpu)
    }

    /// Returns whether the record at a place is a blob, small or large, without a time and a thread.
    #[must_use]
    pub(crate) fn is_blob(&self, place: u64) -> bool {
        self.scan.blobs.binary_search(&place).is_ok()
            && self
                .words(place)
                .is_some_and(|[header, ..]| match RECORD_TYPE.get(header) {
                    record_type::BLOB => true,
                    record_type::LARGE => large::FORMAT.get(header) == large::BLOB,
                    _ => false,
                })
    }

    /// Same as `is_blob`, but computes the place only if the file has blobs: few files do.
    #[inline]
    pub(crate) fn is_blob_at(&self, place: impl FnOnce() -> u64) -> bool {
        !self.scan.blobs.is_empty() && self.is_blob(place())
    }
}

fn object<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<SourceObject> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    if RECORD_TYPE.get(header) != record_type::USERSPACE_OBJECT {
        return None;
    }
    let names_process = object_owner_words(header, record) == 1;
    Some(SourceObject {
        pointer: record.get(1).unwrap_or(0),
        process: names_process.then(|| record.get(2).unwrap_or(0)),
    })
}

/// Returns the arguments of a record whose type can have some: an event, a context switch of the newer form, a wakeup,
/// an object, or a large event.
fn arguments<O: ByteOrder>(bytes: &[u8], place: u64) -> Option<Args<'_, O>> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    let (next, count) = match RECORD_TYPE.get(header) {
        record_type::EVENT if event::KIND.get(header) <= event::FLOW_END => {
            let mut next = match event::THREAD.get(header) {
                0 => 4,
                _ => 2,
            };
            read_text(event::CATEGORY.get(header), record, &mut next)?;
            read_text(event::NAME.get(header), record, &mut next)?;
            (next, event::ARGS.get(header))
        }
        record_type::SCHEDULING => match scheduling::KIND.get(header) {
            scheduling::SWITCH => (4, scheduling::ARGS.get(header)),
            scheduling::WAKEUP => (3, scheduling::ARGS.get(header)),
            _ => return None,
        },
        sort @ (record_type::KERNEL_OBJECT | record_type::USERSPACE_OBJECT) => {
            let mut next = match sort {
                record_type::USERSPACE_OBJECT => 2 + object_owner_words(header, record),
                _ => 2,
            };
            read_text(kernel_object::NAME.get(header), record, &mut next)?;
            (next, kernel_object::ARGS.get(header))
        }
        record_type::LARGE if large::FORMAT.get(header) == large::EVENT => {
            let fields = record.get(1)?;
            let mut next = 2;
            read_text(large::CATEGORY.get(fields), record, &mut next)?;
            read_text(large::NAME.get(fields), record, &mut next)?;
            let thread_words = match large::THREAD.get(fields) {
                0 => 2,
                _ => 0,
            };
            (next + 1 + thread_words, large::ARGS.get(fields))
        }
        _ => return None,
    };
    Some(Args::new(record, next, count))
}
