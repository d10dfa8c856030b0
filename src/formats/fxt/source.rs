//! The events of an opened file for an exporter that writes FXT again: what stands in their records, not decoded
//! further than writing needs.
//!
//! Arguments keep their references to the string table: whoever writes many asks once what an entry means, and how
//! far it means that. Texts are the bytes that stand in the file.

use super::args::{Arg, Args, object_owner_words};
use super::header::{
    Big, Little, Order, TextRef, Words, bits, read_text, record_type, scheduling_type, size_bytes,
};
use super::kinds::Sort;
use super::scan::{Scan, string_bytes};
use super::tables::{Provider, ProviderSlot, ProviderSpan, RateSpan};
use crate::base::Endian;
use crate::event::{FlowOp, Ties};

/// The ticks per second of a provider that does not say its own.
const DEFAULT_RATE: u64 = 1_000_000_000;
/// The type of what is no event record.
const NO_EVENT: u64 = u64::MAX;

/// See the module's text.
#[derive(Clone, Copy, Debug)]
pub struct FxtSource<'a> {
    bytes: &'a [u8],
    endian: Endian,
    scan: &'a Scan,
}

/// A userspace object record.
#[derive(Clone, Copy, Debug)]
pub struct SourceObject {
    /// What it names.
    pub pointer: u64,
    /// The process koid, where it says that instead of a thread.
    pub process: Option<u64>,
}

/// What a scheduling record says beside its time and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceScheduling {
    /// The CPU's number.
    pub cpu: u32,
    /// Which record it is.
    pub sort: SchedulingSort,
}

/// The sorts of scheduling records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingSort {
    /// A context switch of the older form: the outgoing thread's state, and both priorities.
    OldSwitch {
        /// The 4 bits.
        state: u8,
        /// Of the outgoing and the incoming thread.
        priorities: (i32, i32),
    },
    /// One of the newer form.
    Switch {
        /// The outgoing thread's state.
        state: u8,
        /// Its koid.
        outgoing: u64,
        /// The incoming thread's.
        incoming: u64,
    },
    /// A wakeup.
    Wakeup {
        /// The koid of who is woken.
        thread: u64,
    },
}

/// An event record, or another one with arguments.
#[derive(Clone, Debug)]
pub struct SourceEvent<'a> {
    place: u64,
    /// Category and name.
    names: (TextRef<'a>, TextRef<'a>),
    args: SourceArgs<'a>,
    arg_count: u64,
    event_type: u64,
}

/// The arguments of a record, in the file's byte order.
#[derive(Clone, Debug)]
pub enum SourceArgs<'a> {
    /// Least significant byte first.
    Little(Args<'a, Little>),
    /// Most significant byte first.
    Big(Args<'a, Big>),
}

impl SourceArgs<'_> {
    /// The word behind the arguments.
    fn word_behind(&self) -> Option<u64> {
        match self {
            SourceArgs::Little(args) => args.word_behind(),
            SourceArgs::Big(args) => args.word_behind(),
        }
    }
}

impl<'a> Iterator for SourceArgs<'a> {
    type Item = Arg<'a>;

    #[inline]
    fn next(&mut self) -> Option<Arg<'a>> {
        match self {
            SourceArgs::Little(args) => args.next(),
            SourceArgs::Big(args) => args.next(),
        }
    }
}

/// A byte order, as it says which arguments it has.
trait Known: Order {
    fn args<'a>(args: Args<'a, Self>) -> SourceArgs<'a>
    where
        Self: Sized;
}

impl Known for Little {
    fn args<'a>(args: Args<'a, Little>) -> SourceArgs<'a> {
        SourceArgs::Little(args)
    }
}

impl Known for Big {
    fn args<'a>(args: Args<'a, Big>) -> SourceArgs<'a> {
        SourceArgs::Big(args)
    }
}

/// A text that an index means for a while.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// The index means it behind this place,
    pub from: u64,
    /// up to and at this one.
    pub until: u64,
    /// The text.
    pub text: &'a [u8],
}

impl<'a> FxtSource<'a> {
    pub(super) fn new(bytes: &'a [u8], endian: Endian, scan: &'a Scan) -> FxtSource<'a> {
        FxtSource {
            bytes,
            endian,
            scan,
        }
    }

    /// The first words of the record at a place, as far as it has them.
    fn words(&self, place: u64) -> Option<[u64; 4]> {
        fn read<O: Order>(bytes: &[u8], place: u64) -> Option<[u64; 4]> {
            let record = Words::<O>::new(bytes).record_at(place)?;
            let word = |index| record.get(index).unwrap_or(0);
            Some([word(0), word(1), word(2), word(3)])
        }
        match self.endian {
            Endian::Little => read::<Little>(self.bytes, place),
            Endian::Big => read::<Big>(self.bytes, place),
        }
    }

    /// The userspace object record at a place.
    #[must_use]
    pub fn object(&self, place: u64) -> Option<SourceObject> {
        match self.endian {
            Endian::Little => object::<Little>(self.bytes, place),
            Endian::Big => object::<Big>(self.bytes, place),
        }
    }

    /// Whether the file has userspace objects.
    #[must_use]
    pub fn has_objects(&self) -> bool {
        !self.scan.objects.is_empty()
    }

    /// Whether the record at a place is a userspace object.
    #[must_use]
    pub fn is_object(&self, place: u64) -> bool {
        self.object(place).is_some()
    }

    /// The record that names a pointer of a process for what stands at `place`: the last one before it.
    #[must_use]
    pub fn object_of(&self, process: u64, pointer: u64, place: u64) -> Option<u64> {
        self.scan.object_of(process, pointer, place)
    }

    /// Kernel objects that are neither processes nor threads: koid, type and name, by koid.
    #[must_use]
    pub fn kernel_objects(&self) -> Vec<(u64, u64, &'a [u8])> {
        self.scan.entities.other_objects()
    }

    /// Where counter events are that have no number, sorted: no counter has a sample of them.
    #[must_use]
    pub fn counters_without_numbers(&self) -> Vec<u64> {
        self.scan.counters_without_numbers()
    }

    /// How many flow events the file has.
    #[must_use]
    pub fn flow_count(&self) -> u64 {
        self.scan.flow_count()
    }

    /// Whether the record at a place is a flow event.
    #[inline]
    #[must_use]
    pub fn is_flow(&self, place: u64) -> bool {
        let flows = Sort::FlowBegin as u64..=Sort::FlowEnd as u64;
        self.event_type(place)
            .is_some_and(|event_type| flows.contains(&event_type))
    }

    /// What the flow event at a place does, and the flow's id.
    #[must_use]
    pub fn flow(&self, place: u64) -> Option<(FlowOp, u64)> {
        if !self.is_flow(place) {
            return None;
        }
        let event = self.event(place)?;
        let op = match event.event_type {
            begin if begin == Sort::FlowBegin as u64 => FlowOp::Begin,
            step if step == Sort::FlowStep as u64 => FlowOp::Step,
            end if end == Sort::FlowEnd as u64 => FlowOp::End,
            _ => return None,
        };
        Some((op, event.args.word_behind()?))
    }

    /// The event record at a place. `None`: it is another record, or too short for its names.
    #[must_use]
    #[inline]
    pub fn event(&self, place: u64) -> Option<SourceEvent<'a>> {
        match self.endian {
            Endian::Little => event::<Little>(self.bytes, place),
            Endian::Big => event::<Big>(self.bytes, place),
        }
    }

    /// The type of the event record at a place, if it is one.
    #[inline]
    #[must_use]
    pub fn event_type(&self, place: u64) -> Option<u64> {
        let rest = self.bytes.get(usize::try_from(place).ok()?..)?;
        let bytes = *rest.first_chunk::<8>()?;
        let header = match self.endian {
            Endian::Little => Little::word(bytes),
            Endian::Big => Big::word(bytes),
        };
        let is_event = bits(header, 0, 3) == record_type::EVENT;
        is_event.then_some(bits(header, 16, 19))
    }

    /// The words of the record at a place as bytes, if the file has the least significant byte first, as most have.
    #[inline]
    #[must_use]
    pub fn record(&self, place: u64) -> Option<&'a [u8]> {
        if self.endian == Endian::Big {
            return None;
        }
        let rest = self.bytes.get(usize::try_from(place).ok()?..)?;
        rest.get(..size_bytes(Little::word(*rest.first_chunk::<8>()?))?)
    }

    /// Whether records can be had as they stand: see [`record`](Self::record).
    #[must_use]
    pub fn has_records(&self) -> bool {
        self.endian == Endian::Little
    }

    /// How many bytes the file has.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether the file has records that are shown as points and are no event records: blobs, objects.
    #[must_use]
    pub fn has_odd_points(&self) -> bool {
        !(self.scan.untimed.is_empty() && self.scan.blobs.is_empty())
    }

    /// How whole slices that start together nest in it.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.scan.tables.ties()
    }

    /// The tick rate of a provider at a place, and of what stands around it.
    #[must_use]
    pub fn rate(&self, provider: ProviderSlot, place: u64) -> RateSpan {
        self.scan.tables.rate_span(provider, place)
    }

    /// A record that is no event, for its arguments: a context switch of the newer form, a wakeup, an object, or a
    /// large event.
    #[must_use]
    pub fn with_arguments(&self, place: u64) -> Option<SourceEvent<'a>> {
        match self.endian {
            Endian::Little => with_arguments::<Little>(self.bytes, place),
            Endian::Big => with_arguments::<Big>(self.bytes, place),
        }
    }

    /// The kernel object record of a process, thread or other object that has arguments beside its process.
    #[must_use]
    pub fn object_with_arguments(&self, koid: u64, object_type: u64) -> Option<SourceEvent<'a>> {
        self.with_arguments(self.scan.entities.object_place(koid, object_type)?)
    }

    /// The koid of the thread that the wakeup at a place wakes.
    #[must_use]
    pub fn woken(&self, place: u64) -> Option<u64> {
        match self.scheduling(place)?.sort {
            SchedulingSort::Wakeup { thread } => Some(thread),
            _ => None,
        }
    }

    /// The scheduling record at a place.
    #[must_use]
    pub fn scheduling(&self, place: u64) -> Option<SourceScheduling> {
        let [header, _, first, second] = self.words(place)?;
        if bits(header, 0, 3) != record_type::SCHEDULING {
            return None;
        }
        let newer = |sort| SourceScheduling {
            cpu: bits(header, 20, 35) as u32,
            sort,
        };
        match bits(header, 60, 63) {
            scheduling_type::LEGACY_SWITCH => Some(SourceScheduling {
                cpu: bits(header, 16, 23) as u32,
                sort: SchedulingSort::OldSwitch {
                    state: bits(header, 24, 27) as u8,
                    priorities: (bits(header, 44, 51) as i32, bits(header, 52, 59) as i32),
                },
            }),
            scheduling_type::CONTEXT_SWITCH => Some(newer(SchedulingSort::Switch {
                state: bits(header, 36, 39) as u8,
                outgoing: first,
                incoming: second,
            })),
            scheduling_type::WAKEUP => Some(newer(SchedulingSort::Wakeup { thread: first })),
            _ => None,
        }
    }

    /// Has the record at a place fetched from memory: for whoever needs several soon.
    #[inline]
    pub fn fetch(&self, place: u64) {
        let place = usize::try_from(place).ok();
        std::hint::black_box(place.and_then(|place| self.bytes.get(place).copied()));
    }

    /// The provider of what stands at a place, and around it.
    #[must_use]
    pub fn provider(&self, place: u64) -> ProviderSpan {
        self.scan.tables.provider_span(place)
    }

    /// The providers that the file announces: number, name and ticks per second.
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

    /// Number and name of the provider of what stands at a place.
    #[must_use]
    pub fn provider_at(&self, place: u64) -> (u32, &'a [u8]) {
        let scan: &'a Scan = self.scan;
        let slot = scan.tables.provider_at(place);
        let provider = scan.tables.providers().get(slot as usize);
        provider.map_or((0, &[]), |provider| (provider.id, &provider.name))
    }

    /// The number of the CPU that a scheduling record names.
    #[must_use]
    pub fn cpu(&self, place: u64) -> Option<u32> {
        Some(self.scheduling(place)?.cpu)
    }

    /// Whether the record at a place is a blob, small or large, that has neither a time nor a thread.
    #[must_use]
    pub fn is_blob(&self, place: u64) -> bool {
        self.scan.blobs.binary_search(&place).is_ok()
            && self
                .words(place)
                .is_some_and(|[header, ..]| match bits(header, 0, 3) {
                    record_type::BLOB => true,
                    record_type::LARGE => bits(header, 40, 43) == 1,
                    _ => false,
                })
    }

    /// The same where the place has to be asked for: hardly any file has blobs.
    #[inline]
    pub fn is_blob_at(&self, place: impl FnOnce() -> u64) -> bool {
        !self.scan.blobs.is_empty() && self.is_blob(place())
    }

    /// What a string index of a provider means at a place. `None`: nothing.
    #[must_use]
    pub fn text(&self, provider: ProviderSlot, index: u16, place: u64) -> Option<SourceText<'a>> {
        let (from, until) = self.scan.tables.string_until(provider, index, place)?;
        let text = match self.endian {
            Endian::Little => string_bytes(Words::<Little>::new(self.bytes), from)?,
            Endian::Big => string_bytes(Words::<Big>::new(self.bytes), from)?,
        };
        Some(SourceText { from, until, text })
    }
}

#[inline]
fn event<O: Known>(bytes: &[u8], place: u64) -> Option<SourceEvent<'_>> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    let event_type = bits(header, 16, 19);
    if bits(header, 0, 3) != record_type::EVENT || event_type > Sort::FlowEnd as u64 {
        return None;
    }
    let mut next = if bits(header, 24, 31) == 0 { 4 } else { 2 };
    let category = read_text(header >> 32, record, &mut next)?;
    let name = read_text(header >> 48, record, &mut next)?;
    let arg_count = bits(header, 20, 23);
    Some(SourceEvent {
        place,
        names: (category, name),
        args: O::args(Args::new(record, next, arg_count)),
        arg_count,
        event_type,
    })
}

fn object<O: Order>(bytes: &[u8], place: u64) -> Option<SourceObject> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    if bits(header, 0, 3) != record_type::USERSPACE_OBJECT {
        return None;
    }
    let names_process = object_owner_words(header, record) == 1;
    Some(SourceObject {
        pointer: record.get(1).unwrap_or(0),
        process: names_process.then(|| record.get(2).unwrap_or(0)),
    })
}

fn with_arguments<O: Known>(bytes: &[u8], place: u64) -> Option<SourceEvent<'_>> {
    let record = Words::<O>::new(bytes).record_at(place)?;
    let header = record.get(0)?;
    let (next, arg_count) = match bits(header, 0, 3) {
        record_type::SCHEDULING => match bits(header, 60, 63) {
            scheduling_type::CONTEXT_SWITCH => (4, bits(header, 16, 19)),
            scheduling_type::WAKEUP => (3, bits(header, 16, 19)),
            _ => return None,
        },
        sort @ (record_type::KERNEL_OBJECT | record_type::USERSPACE_OBJECT) => {
            let mut next = match sort {
                record_type::USERSPACE_OBJECT => 2 + object_owner_words(header, record),
                _ => 2,
            };
            read_text(bits(header, 24, 39), record, &mut next)?;
            (next, bits(header, 40, 43))
        }
        record_type::LARGE if bits(header, 36, 43) == 0 => {
            let fields = record.get(1)?;
            let mut next = 2;
            read_text(bits(fields, 0, 15), record, &mut next)?;
            read_text(bits(fields, 16, 31), record, &mut next)?;
            let is_inline = bits(fields, 36, 43) == 0;
            (next + if is_inline { 3 } else { 1 }, bits(fields, 32, 35))
        }
        _ => return None,
    };
    Some(SourceEvent {
        place,
        names: (TextRef::Index(0), TextRef::Index(0)),
        args: O::args(Args::new(record, next, arg_count)),
        arg_count,
        event_type: NO_EVENT,
    })
}

impl<'a> SourceEvent<'a> {
    /// Where the record is.
    #[inline]
    #[must_use]
    pub fn place(&self) -> u64 {
        self.place
    }

    /// How many arguments it has.
    #[inline]
    #[must_use]
    pub fn arg_count(&self) -> usize {
        self.arg_count as usize
    }

    /// Category and name of an event record; of others nothing.
    #[must_use]
    pub fn names(&self) -> (TextRef<'a>, TextRef<'a>) {
        self.names
    }

    /// The word behind the arguments: the id of what has one, the tick at which a complete event ends.
    #[must_use]
    pub fn last_word(&self) -> Option<u64> {
        self.args.word_behind()
    }

    /// Its arguments.
    #[inline]
    pub fn args(&self) -> SourceArgs<'a> {
        self.args.clone()
    }

    /// The id of an asynchronous event.
    #[must_use]
    pub fn async_id(&self) -> Option<u64> {
        let asyncs = Sort::AsyncBegin as u64..=Sort::AsyncEnd as u64;
        let is_one = asyncs.contains(&self.event_type);
        is_one.then(|| self.args.word_behind()).flatten()
    }

    /// The id of a counter event.
    #[must_use]
    pub fn counter_id(&self) -> Option<u64> {
        let is_one = self.event_type == Sort::Counter as u64;
        is_one.then(|| self.args.word_behind().unwrap_or(0))
    }

    /// The scope of a point.
    #[must_use]
    pub fn scope(&self) -> Option<u64> {
        let is_one = self.event_type == Sort::Instant as u64;
        is_one.then(|| self.args.word_behind()).flatten()
    }
}
