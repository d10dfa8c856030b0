//! The records that the fold reads itself, because their meaning depends on the tables before them: providers, tick
//! rates, objects; and blobs, whose time is that of the previous record.

use crate::base::{ByteOrder, Severity};
use crate::event::SEEN_UNTIL;
use crate::fxt::agreed::{REUSED_NUMBERS, is_of_recording};
use crate::fxt::args::{ArgValue, Args, UNKNOWN_ARGUMENT, object_owner_words};
use crate::fxt::layout::{
    MAGIC, RECORD_TYPE, kernel_object, large, metadata, record_type, userspace_object,
};
use crate::fxt::words::{Words, read_text, without_nuls};

use super::fold::{Fold, Hole};
use super::lives::ObjectLife;
use super::named_objects::{KernelObject, OBJECT_THREAD};
use super::scan::NamedPointer;
use super::summary::Pair;
use super::tables::ProviderSlot;
use super::ticks::TickScale;

impl<'a, O: ByteOrder> Fold<'_, 'a, O> {
    /// Reads the record at `place`.
    pub(super) fn record_again(&mut self, place: u64) {
        let Some(record) = self.file.record_at(place) else {
            return;
        };
        let header = record.get(0).unwrap_or(0);
        match RECORD_TYPE.get(header) {
            record_type::METADATA => self.metadata(header, record, place),
            record_type::INITIALIZATION => self.initialization(record, place),
            record_type::BLOB => {
                self.state.found.blobs.push(place);
                self.untimed(place, None);
            }
            record_type::USERSPACE_OBJECT => self.userspace_object(header, record, place),
            record_type::KERNEL_OBJECT => self.kernel_object(header, record, place),
            record_type::LARGE => self.large(header, record, place),
            _ => {}
        }
    }

    fn inline_thread(&mut self, record: Words<'a, O>, index: usize) {
        if let (Some(process), Some(thread)) = (record.get(index), record.get(index + 1)) {
            self.pair(Pair { process, thread });
        }
    }

    fn metadata(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        let id = metadata::PROVIDER.get(header) as u32;
        match metadata::KIND.get(header) {
            metadata::PROVIDER_INFO => {
                let length = metadata::NAME_BYTES.get(header) as usize;
                let most = record.count().saturating_sub(1) * 8;
                if length > most {
                    self.note("short_record", Severity::Error, place, || {
                        "a provider's name reaches past its record".to_owned()
                    });
                }
                let name = without_nuls(record.text(1, length.min(most)).unwrap_or(&[]));
                let slot = self.state.found.tables.announce(place, id, name);
                self.enter(slot, place);
            }
            metadata::PROVIDER_SECTION => {
                if let Some(slot) = self.state.found.tables.switch(place, id) {
                    self.enter(slot, place);
                } else {
                    self.note("unknown_provider", Severity::Error, place, || {
                        format!("a section of provider {id}, which was not announced")
                    });
                    let slot = self.state.found.tables.announce(place, id, b"");
                    self.enter(slot, place);
                }
            }
            metadata::PROVIDER_EVENT => {
                let event = metadata::EVENT.get(header);
                if event == metadata::BUFFER_FULL {
                    let slot = self
                        .state
                        .found
                        .tables
                        .latest(id)
                        .unwrap_or(self.state.slot);
                    self.remember_timed();
                    let last = self
                        .state
                        .provider_timed
                        .get(slot as usize)
                        .copied()
                        .flatten();
                    self.state.holes.push(Hole {
                        place,
                        provider: id,
                        slot,
                        last_timed: last,
                        stated: None,
                    });
                    self.state.expects_loss_facts = self.is_of_our_own(slot);
                } else {
                    self.note("unknown_metadata", Severity::Info, place, || {
                        format!("provider event {event} was skipped")
                    });
                }
            }
            metadata::TRACE_INFO => {
                let info_type = metadata::INFO_TYPE.get(header);
                if header != MAGIC {
                    self.note("unknown_metadata", Severity::Info, place, || {
                        format!("a trace info record of type {info_type} was skipped")
                    });
                }
            }
            other => self.note("unknown_metadata", Severity::Info, place, || {
                format!("a metadata record of type {other} was skipped")
            }),
        }
    }

    fn remember_timed(&mut self) {
        let entered_at = self.state.entered_at;
        let own = self.state.last_timed.filter(|place| *place >= entered_at);
        let entry = self.state.provider_timed.get_mut(self.state.slot as usize);
        if let (Some(entry), Some(_)) = (entry, own) {
            *entry = own;
        }
    }

    fn enter(&mut self, slot: ProviderSlot, place: u64) {
        self.remember_timed();
        self.state.entered_at = place;
        let count = self.state.provider_timed.len().max(slot as usize + 1);
        self.state.provider_timed.resize(count, None);
        self.state.slot = slot;
    }

    fn initialization(&mut self, record: Words<'a, O>, place: u64) {
        let Some(rate) = record.get(1) else {
            self.note("short_record", Severity::Error, place, || {
                "an initialization record without a tick rate".to_owned()
            });
            return;
        };
        if rate == 0 {
            self.note("tick_rate_zero", Severity::Error, place, || {
                "a tick rate of 0: the records after it have no time and cannot be shown".to_owned()
            });
        }
        let scale = TickScale::new(rate);
        self.state
            .found
            .tables
            .add_rate(self.state.slot, place, scale);
        if let (Some(base), Some(wall), None) = (
            record.get(2),
            record.get(3),
            self.state.found.wall_clock_zero,
        ) {
            self.state.found.wall_clock_zero = scale
                .nanos(base)
                .map(|base| i128::from(wall) - i128::from(base));
        }
    }

    fn kernel_object(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        let mut next = 2;
        let (Some(koid), Some(name)) = (
            record.get(1),
            read_text(kernel_object::NAME.get(header), record, &mut next),
        ) else {
            self.note("short_record", Severity::Error, place, || {
                "a kernel object record is too short for its content".to_owned()
            });
            return;
        };
        let Some(name) = self.text(name, place) else {
            self.note("unresolved_string", Severity::Error, place, || {
                "the name of a kernel object was not registered".to_owned()
            });
            return;
        };
        let object_type = kernel_object::KIND.get(header);
        let is_ours = self.is_of_our_own(self.state.slot);
        if is_ours && is_of_recording(object_type, koid) {
            let args = Args::new(record, next, kernel_object::ARGS.get(header));
            return self.recording_facts(args, place);
        }
        let mut life = ObjectLife::default();
        let (mut process, mut has_others) = (None, false);
        for arg in Args::new(record, next, kernel_object::ARGS.get(header)) {
            if is_ours {
                life.take_in(&arg, |text| self.text(text, place).unwrap_or(&[]));
            }
            match arg.value {
                ArgValue::Koid(koid) if self.text(arg.name, place) == Some(b"process") => {
                    process = process.or(Some(koid));
                    has_others |= object_type != OBJECT_THREAD;
                }
                ArgValue::Other(_) => {
                    self.note("unknown_argument_type", Severity::Info, place, || {
                        UNKNOWN_ARGUMENT.to_owned()
                    });
                }
                ArgValue::UInt64(count) if self.takes_cpu_loss(koid, arg.name, count, place) => {}
                _ => has_others = true,
            }
        }
        let object = KernelObject {
            koid,
            object_type,
            name,
            process,
            with_arguments: has_others.then_some(place),
        };
        let entities = &mut self.state.found.entities;
        entities.add_object(&object);
        if life != ObjectLife::default() {
            entities.add_life(&object, &life);
        }
    }

    /// Reads the facts about the whole recording that our own exporter states.
    fn recording_facts(&mut self, args: Args<'a, O>, place: u64) {
        for arg in args {
            let ArgValue::Int64(value) = arg.value else {
                continue;
            };
            let name = self.text(arg.name, place);
            if name == Some(SEEN_UNTIL.as_bytes()) {
                self.state.found.seen_until = Some(value).filter(|time| *time < i64::MAX);
            } else if name == Some(REUSED_NUMBERS.as_bytes()) {
                self.state.found.reused_numbers = value.unsigned_abs();
            }
        }
    }

    fn userspace_object(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        let stated = self.really_at(header, record, place);
        self.untimed(place, stated);
        let thread = userspace_object::THREAD.get(header) as u8;
        let process = if thread == 0 {
            if object_owner_words(header, record) == 2 {
                self.inline_thread(record, 2);
            }
            record.get(2)
        } else {
            let key = self
                .state
                .found
                .tables
                .thread_at(self.state.slot, thread, place);
            key.and_then(|key| self.state.found.entities.koids_of(key).process)
        };
        if let Some(pointer) = record.get(1) {
            let process = process.unwrap_or(0);
            self.state.found.objects.push(NamedPointer {
                process,
                pointer,
                place,
            });
        }
    }

    /// Returns an object's time of registration, from exports that omit the records before it.
    fn really_at(&self, header: u64, record: Words<'a, O>, place: u64) -> Option<i64> {
        let mut next = 2 + object_owner_words(header, record);
        read_text(userspace_object::NAME.get(header), record, &mut next)?;
        let mut args = Args::new(record, next, userspace_object::ARGS.get(header));
        args.find_map(|arg| match arg.value {
            ArgValue::Int64(time) if self.text(arg.name, place) == Some(b"really_at_ns") => {
                Some(time)
            }
            _ => None,
        })
        .filter(|time| (0..i64::MAX).contains(time))
    }

    fn large(&mut self, header: u64, record: Words<'a, O>, place: u64) {
        self.state.found.blobs.push(place);
        if large::FORMAT.get(header) == large::BLOB {
            self.untimed(place, None);
        } else if let Some(fields) = record.get(1)
            && large::THREAD.get(fields) == 0
        {
            let mut next = 2;
            let category = read_text(large::CATEGORY.get(fields), record, &mut next);
            let name = read_text(large::NAME.get(fields), record, &mut next);
            if category.is_some() && name.is_some() {
                self.inline_thread(record, next + 1);
            }
        }
    }
}
