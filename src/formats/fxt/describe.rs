//! Decodes one record in full: returns an `EventDetail` with every argument and its type.
//!
//! Uses the tables as they were at the record's place. Words of a record outside its arguments (a counter's id, an
//! instant's scope, weights) come first, with types and roles of their own: `counter id`, `async id`, `flow id`,
//! `ticks`, `instant scope`, `blob type`, `state`, `cpu`.

use crate::event::{EventDetail, Field, FieldRef, FieldRole, STACK, ThreadKey, Value};
use crate::formats::EventRef;

use super::fields::{Texts, field_of, payload_at, record_word};
use super::profiler::{Profile, read_profile};
use super::scan::Scan;
use super::scheduling::end_state;
use super::sort::Sort;
use super::tables::ProviderSlot;
use crate::base::ByteOrder;
use crate::fxt::args::{Arg, ArgValue, Args, UnknownType, object_owner_words};
use crate::fxt::layout::scheduling::{self, IDLE_WEIGHT, legacy};
use crate::fxt::layout::{RECORD_TYPE, blob, event, large, log, record_type, userspace_object};
use crate::fxt::packed::{MORE, unpack_last};
use crate::fxt::words::{TextRef, Words, read_text, without_nuls};

/// Maximum size of payloads that are shown as bytes; for larger payloads only the size is shown.
const MOST_SHOWN_BYTES: usize = 1 << 16;

/// Decodes the record that `event` refers to.
#[must_use]
pub(super) fn describe<O: ByteOrder>(bytes: &[u8], scan: &Scan, event: EventRef) -> EventDetail {
    let file = Words::<O>::new(bytes);
    let slot = scan.tables.provider_at(event.place);
    let mut describer = Describer {
        file,
        scan,
        slot,
        place: event.place,
        detail: EventDetail {
            time: event.time,
            ..EventDetail::default()
        },
    };
    let read = describer.read(event);
    let mut detail = describer.detail;
    if read.is_none() {
        detail.text = "this record cannot be decoded".to_owned();
        return detail;
    }
    let fields = detail.fields.iter();
    let pairs: Vec<String> = fields
        .map(|field| format!("{}={}", field.name, field.text()))
        .collect();
    if detail.text.is_empty() {
        detail.text = pairs.join(", ");
    }
    detail
}

/// Returns whether the record has fields besides name, time and thread; `true` if that is not obvious. Fast.
#[must_use]
pub(crate) fn has_fields<O: ByteOrder>(bytes: &[u8], event: EventRef) -> bool {
    let Some(record) = Words::<O>::new(bytes).record_at(event.place) else {
        return false;
    };
    let header = record.get(0).unwrap_or(0);
    // After the arguments, an instant may have its scope, and all other events except begins and ends have an end or an
    // id.
    let has_no_word = |sort| match sort {
        Sort::Begin | Sort::End => true,
        Sort::Instant => record.count() == 2,
        _ => false,
    };
    RECORD_TYPE.get(header) != record_type::EVENT
        || event::ARGS.get(header) > 0
        || !Sort::from_event_type(event::KIND.get(header)).is_some_and(has_no_word)
}

/// Returns a field whose value is printed unchanged.
fn field(name: &str, type_name: &str, value: Value) -> Field {
    Field {
        name: name.to_owned(),
        type_name: type_name.to_owned(),
        value,
        shown: String::new(),
        role: FieldRole::Argument,
    }
}

fn lossy(bytes: &[u8]) -> String {
    crate::base::strings::text_of(bytes).into_owned()
}

struct Describer<'f, O> {
    file: Words<'f, O>,
    scan: &'f Scan,
    slot: ProviderSlot,
    place: u64,
    detail: EventDetail,
}

impl<'f, O: ByteOrder> Describer<'f, O> {
    /// Reads the record; `None` if there is no such record or it is too short for its header.
    fn read(&mut self, event: EventRef) -> Option<()> {
        let record = self.file.record_at(self.place)?;
        let header = record.get(0)?;
        self.set_thread(event.thread);
        match RECORD_TYPE.get(header) {
            record_type::EVENT => self.event(header, record),
            record_type::SCHEDULING => self.scheduling(header, record),
            record_type::LOG => self.log(header, record),
            record_type::BLOB => self.blob(header, record),
            record_type::USERSPACE_OBJECT => self.userspace_object(header, record),
            record_type::PROFILER => self.profiler(record),
            record_type::LARGE => self.large(header, record),
            _ => None,
        }
    }

    fn set_thread(&mut self, thread: Option<ThreadKey>) {
        let Some(thread) = thread else { return };
        self.detail.tid = self.scan.entities.koids_of(thread).thread.unwrap_or(0);
        self.detail.thread_name = self.scan.entities.thread_name(thread);
    }

    fn push(&mut self, name: &str, type_name: &str, value: Value) {
        self.detail.fields.push(field(name, type_name, value));
    }

    fn texts(&self) -> Texts<'f, O> {
        Texts {
            file: self.file,
            scan: self.scan,
            slot: self.slot,
            place: self.place,
        }
    }

    fn text(&self, text: TextRef<'f>) -> String {
        self.texts().text(text).into_owned()
    }

    fn thread_text(&self, thread: ThreadKey, koid: Option<u64>) -> String {
        let name = self.scan.entities.thread_name(thread);
        match (name.is_empty(), koid) {
            (true, Some(koid)) => koid.to_string(),
            (false, Some(koid)) if thread != ThreadKey::IDLE => format!("{name} ({koid})"),
            _ => name,
        }
    }

    /// Returns the process koid of the record's thread reference; moves `next` past an inline thread.
    fn process_of(&self, reference: u64, record: Words<'f, O>, next: &mut usize) -> Option<u64> {
        if reference & 0xff == 0 {
            let process = record.get(*next);
            *next += 2;
            return process;
        }
        let tables = &self.scan.tables;
        let key = tables.thread_at(self.slot, reference as u8, self.place)?;
        self.scan.entities.koids_of(key).process
    }

    fn event(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        let sort = Sort::from_event_type(event::KIND.get(header))?;
        let mut next = 2;
        let process = self.process_of(event::THREAD.get(header), record, &mut next);
        let category = read_text(event::CATEGORY.get(header), record, &mut next)?;
        let name = read_text(event::NAME.get(header), record, &mut next)?;
        self.detail.category = self.text(category);
        self.detail.name = self.text(name);
        self.event_fields(sort, record, next, event::ARGS.get(header), process);
        Some(())
    }

    /// Adds the word after the arguments, and the `count` arguments that start at word `next`.
    fn event_fields(
        &mut self,
        sort: Sort,
        record: Words<'f, O>,
        next: usize,
        count: u64,
        process: Option<u64>,
    ) {
        let behind = Args::new(record, next, count).skip_all();
        if let Some(word) = behind.and_then(|behind| record.get(behind)) {
            let field = record_word(sort, word).map(FieldRef::into_field);
            self.detail.fields.extend(field);
        }
        self.args(record, next, count, process);
    }

    fn args(&mut self, record: Words<'f, O>, at: usize, count: u64, process: Option<u64>) {
        let first = self.detail.fields.len();
        for arg in Args::new(record, at, count) {
            let field = self.arg(arg, process);
            // The stack of a trace in another format, as our exporter writes it.
            if field.name == STACK
                && let Value::Text(frames) = &field.value
            {
                self.detail.stack = frames.lines().map(str::to_owned).collect();
            }
            self.detail.fields.push(field);
        }
        unpack_last(&mut self.detail.fields, first, |field| match &field.value {
            Value::Text(text) if field.name == MORE => Some(text),
            _ => None,
        });
    }

    fn arg(&self, arg: Arg<'f>, process: Option<u64>) -> Field {
        let shown = match arg.value {
            ArgValue::Pointer(pointer) => process
                .and_then(|process| self.object_name(process, pointer))
                .map(|name| format!("{pointer:#x} ({name})")),
            ArgValue::Koid(koid) => Some(self.scan.entities.object_text(koid))
                .filter(|name| !name.is_empty())
                .map(|name| format!("{koid} ({name})")),
            ArgValue::Other(UnknownType(number)) => {
                Some(format!("a value of the unknown type {number}"))
            }
            _ => None,
        };
        Field {
            shown: shown.unwrap_or_default(),
            ..field_of(&self.texts(), arg).into_field()
        }
    }

    /// Returns the name that the last userspace object record before this record gave to a pointer of a process.
    fn object_name(&self, process: u64, pointer: u64) -> Option<String> {
        let place = self.scan.object_of(process, pointer, self.place)?;
        let record = self.file.record_at(place)?;
        let header = record.get(0)?;
        let mut next = 2 + usize::from(userspace_object::THREAD.get(header) == 0);
        let name = read_text(userspace_object::NAME.get(header), record, &mut next)?;
        let there = Describer {
            file: self.file,
            scan: self.scan,
            slot: self.scan.tables.provider_at(place),
            place,
            detail: EventDetail::default(),
        };
        Some(there.text(name))
    }

    fn scheduling(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        self.detail.category = Sort::Switch.category().to_owned();
        match scheduling::KIND.get(header) {
            scheduling::LEGACY_SWITCH => self.legacy_switch(header, record),
            scheduling::SWITCH => {
                self.detail.name = Sort::Switch.text().to_owned();
                let cpu = scheduling::CPU.get(header);
                self.detail.cpu = Some(cpu as u32);
                let args: Vec<Arg<'f>> =
                    Args::new(record, 4, scheduling::ARGS.get(header)).collect();
                let is_idle = |side: &str| {
                    args.iter().any(|arg| {
                        arg.value == ArgValue::Int32(IDLE_WEIGHT) && self.text(arg.name) == side
                    })
                };
                let idle = [is_idle("outgoing_weight"), is_idle("incoming_weight")];
                let sides = [("outgoing", record.get(2)?), ("incoming", record.get(3)?)];
                for ((name, koid), is_idle) in sides.into_iter().zip(idle) {
                    let key = if is_idle {
                        ThreadKey::IDLE
                    } else {
                        self.scan.entities.find_tid(koid)
                    };
                    self.koid_field(name, koid, self.thread_text(key, Some(koid)));
                }
                self.state_field(scheduling::STATE.get(header));
                self.args(record, 4, scheduling::ARGS.get(header), None);
                Some(())
            }
            scheduling::WAKEUP => {
                self.detail.name = Sort::Wakeup.text().to_owned();
                self.detail.cpu = Some(scheduling::CPU.get(header) as u32);
                let koid = record.get(2)?;
                let key = self.scan.entities.find_tid(koid);
                self.koid_field("thread", koid, self.thread_text(key, Some(koid)));
                self.args(record, 3, scheduling::ARGS.get(header), None);
                Some(())
            }
            _ => None,
        }
    }

    fn legacy_switch(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        self.detail.name = Sort::Switch.text().to_owned();
        self.detail.cpu = Some(legacy::CPU.get(header) as u32);
        let mut next = 2;
        for (name, side) in [
            ("outgoing", legacy::OUTGOING),
            ("incoming", legacy::INCOMING),
        ] {
            let reference = side.get(header);
            let key = if reference == 0 {
                let key = self
                    .scan
                    .entities
                    .known_pair(record.get(next)?, record.get(next + 1)?);
                next += 2;
                key
            } else {
                let tables = &self.scan.tables;
                tables.thread_at(self.slot, reference as u8, self.place)
            };
            let koid = key.and_then(|key| self.scan.entities.koids_of(key).thread);
            let text = key.map_or_else(
                || format!("<thread {reference}?>"),
                |key| self.thread_text(key, koid),
            );
            self.koid_field(name, koid.unwrap_or(0), text);
        }
        self.state_field(legacy::STATE.get(header));
        let priorities = [
            ("outgoing_priority", legacy::OUTGOING_PRIORITY.get(header)),
            ("incoming_priority", legacy::INCOMING_PRIORITY.get(header)),
        ];
        for (name, priority) in priorities {
            self.push(name, "priority", Value::UInt(priority));
        }
        Some(())
    }

    fn koid_field(&mut self, name: &str, koid: u64, shown: String) {
        self.detail.fields.push(Field {
            name: name.to_owned(),
            type_name: "koid".to_owned(),
            value: Value::Koid(koid),
            shown,
            role: FieldRole::Argument,
        });
    }

    fn state_field(&mut self, state: u64) {
        self.detail.fields.push(Field {
            name: "outgoing_state".to_owned(),
            type_name: "state".to_owned(),
            value: Value::UInt(state),
            shown: end_state(state).letters().to_owned(),
            role: FieldRole::Argument,
        });
    }

    fn log(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        let at = if log::THREAD.get(header) == 0 { 4 } else { 2 };
        let message = lossy(record.text(at, log::BYTES.get(header) as usize)?);
        self.detail.name = Sort::Log.text().to_owned();
        self.detail.category = Sort::Log.category().to_owned();
        self.detail.text.clone_from(&message);
        self.push("message", "string", Value::Text(message));
        Some(())
    }

    fn payload(&mut self, payload: &[u8]) {
        self.detail.fields.push(Field {
            role: FieldRole::PayloadSize,
            ..field("size", "bytes", Value::UInt(payload.len() as u64))
        });
        if payload.len() <= MOST_SHOWN_BYTES {
            let shown = format!("{} bytes", payload.len());
            self.detail.fields.push(Field {
                name: "payload".to_owned(),
                type_name: "blob".to_owned(),
                value: Value::Bytes(payload.to_vec()),
                shown,
                role: FieldRole::Payload,
            });
        }
    }

    fn blob(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        let mut next = 1;
        let name = read_text(blob::NAME.get(header), record, &mut next)?;
        self.detail.name = self.text(name);
        self.detail.category = Sort::Blob.category().to_owned();
        let blob_type = blob::KIND.get(header);
        self.detail.fields.push(Field {
            name: "type".to_owned(),
            type_name: "blob type".to_owned(),
            value: Value::UInt(blob_type),
            shown: blob_type_name(blob_type).to_owned(),
            role: FieldRole::BlobType,
        });
        self.payload(payload_at(self.file, self.place)?);
        Some(())
    }

    fn userspace_object(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        let mut next = 2;
        let reference = userspace_object::THREAD.get(header);
        let process = if reference == 0 {
            next += object_owner_words(header, record);
            record.get(2)
        } else {
            self.process_of(reference, record, &mut next)
        };
        let name = read_text(userspace_object::NAME.get(header), record, &mut next)?;
        self.detail.name = self.text(name);
        self.detail.category = Sort::Object.category().to_owned();
        self.push("pointer", "pointer", Value::Pointer(record.get(1)?));
        if let Some(process) = process {
            let shown = self.scan.entities.object_text(process);
            let shown = if shown.is_empty() {
                shown
            } else {
                format!("{process} ({shown})")
            };
            self.detail.fields.push(Field {
                role: FieldRole::PointerProcess,
                shown,
                ..field("process", "koid", Value::Koid(process))
            });
        }
        self.args(record, next, userspace_object::ARGS.get(header), process);
        Some(())
    }

    fn profiler(&mut self, record: Words<'f, O>) -> Option<()> {
        self.detail.category = Sort::Module.category().to_owned();
        match read_profile(record)? {
            Profile::Module { id, name, build_id } => {
                self.detail.name = Sort::Module.text().to_owned();
                self.push("module", "module id", Value::UInt(id));
                let name = lossy(without_nuls(name));
                self.push("name", "string", Value::Text(name));
                self.detail.fields.push(Field {
                    role: FieldRole::BlobArgument,
                    ..field("build_id", "blob", Value::Bytes(build_id.to_vec()))
                });
            }
            Profile::Mapping {
                module,
                flags,
                start,
                length,
                module_address,
            } => {
                self.detail.name = Sort::Mapping.text().to_owned();
                self.push("module", "module id", Value::UInt(module));
                self.push("flags", "mmap flags", Value::UInt(flags));
                self.push("start", "pointer", Value::Pointer(start));
                self.push("length", "bytes", Value::UInt(length));
                self.push("module_address", "pointer", Value::Pointer(module_address));
            }
            Profile::Backtrace(addresses) => {
                self.detail.name = Sort::Backtrace.text().to_owned();
                self.detail.stack = addresses
                    .iter()
                    .map(|address| format!("{address:#x}"))
                    .collect();
                let list = addresses.into_iter().map(Value::Pointer).collect();
                self.push("addresses", "pointer", Value::List(list));
            }
        }
        Some(())
    }

    fn large(&mut self, header: u64, record: Words<'f, O>) -> Option<()> {
        let fields = record.get(1)?;
        let mut next = 2;
        let category = read_text(large::CATEGORY.get(fields), record, &mut next)?;
        let name = read_text(large::NAME.get(fields), record, &mut next)?;
        self.detail.category = self.text(category);
        self.detail.name = self.text(name);
        if large::FORMAT.get(header) == large::EVENT {
            next += 1;
            let process = self.process_of(large::THREAD.get(fields), record, &mut next);
            let count = large::ARGS.get(fields);
            self.args(record, next, count, process);
        }
        self.payload(payload_at(self.file, self.place)?);
        Some(())
    }
}

/// Returns the name of a blob's content type.
#[must_use]
pub(crate) fn blob_type_name(blob_type: u64) -> &'static str {
    match blob_type {
        1 => "data",
        2 => "last branch record",
        3 => "Perfetto trace",
        _ => UNKNOWN_BLOB,
    }
}

/// The result of [`blob_type_name`] for unknown types.
pub(crate) const UNKNOWN_BLOB: &str = "unknown";
