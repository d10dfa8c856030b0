//! Records that cannot be copied: they are too short for their content, refer to entries that were never registered,
//! or contain a statement that is false for the range. They are decoded and encoded again. Only damaged files contain
//! some, and ranges at whose start a thread that has ended is switched from.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::super::args::{self, Fitted, MOST_ARG_WORDS};
use super::super::encode::Encoder;
use super::super::item::{Item, What, order_of};
use super::super::records::EventType;
use super::super::source_args::own_args;
use super::kept::Kept;
use super::places::Record;
use super::references::KernelObject;
use crate::formats::fxt::FxtSource;
use crate::fxt::agreed::{DROPPED, OVERWRITTEN};
use crate::fxt::layout::{RECORD_TYPE, event, record_type};
use crate::trace::{EventId, Trace};

/// The rows of logs by their events; filled at the first lookup.
#[derive(Debug, Default)]
pub(crate) struct LogRows(OnceCell<FxHashMap<u32, u32>>);

impl LogRows {
    fn row_of(&self, trace: &Trace, event: u32) -> Option<u32> {
        let rows = self.0.get_or_init(|| {
            let rows = (0_u32..).zip(&trace.logs.rows);
            rows.map(|(row, log)| (log.event.0, row)).collect()
        });
        rows.get(&event).copied()
    }
}

impl<'a> Encoder<'a, '_> {
    /// Encodes the record of an event again; `header` is the record's header.
    pub(super) fn record_anew(
        &mut self,
        (fxt, kept, logs): (&FxtSource<'a>, &Kept, &LogRows),
        header: u64,
        record: &Record,
    ) {
        let at = (record.time, order_of(record.event));
        match RECORD_TYPE.get(header) {
            record_type::EVENT => {
                if let Some(event_type) = kept.becomes(event::KIND.get(header), record.event) {
                    self.event_anew(fxt, record, event_type);
                }
            }
            record_type::SCHEDULING => {
                self.scheduling_record(&Item::new(What::Scheduling, at, record.event, 0));
            }
            record_type::LOG => {
                if let Some(row) = logs.row_of(self.source.trace, record.event) {
                    self.item(&Item::new(What::Log, at, row, 0));
                }
            }
            _ => self.item(&Item::new(What::Instant, at, record.event, u32::MAX)),
        }
    }

    /// Writes a kernel object, without arguments that are true for the whole trace only.
    pub(super) fn object_anew(&mut self, fxt: &FxtSource<'a>, object: &KernelObject) {
        let mut args = own_args(fxt, object.place).unwrap_or_default();
        let of_all = [OVERWRITTEN, DROPPED];
        args.retain(|arg| !of_all.iter().any(|name| name.as_bytes() == &*arg.name));
        let Fitted { is_packed, cut } = args::fit(&mut args, MOST_ARG_WORDS);
        self.records.counts.packed += u64::from(is_packed);
        self.cut_texts += cut.len() as u64;
        let of = (object.kind, object.koid);
        self.records.object(of, &object.name, &args);
    }

    /// Encodes an event record again, field by field.
    fn event_anew(&mut self, fxt: &FxtSource<'a>, record: &Record, event_type: EventType) {
        let id = EventId(record.event);
        self.read(id);
        let (category, name) = self.names_of(self.events.kind(id));
        let last_word = match event_type {
            EventType::Instant => self.scope_word(),
            EventType::Counter => self.counter_id(),
            EventType::Complete => {
                let tick = fxt.word_behind(record.place);
                let end = tick.and_then(|tick| fxt.nanos(tick, record.place));
                Some(self.ticks(end.unwrap_or(record.time).max(record.time)))
            }
            EventType::Begin | EventType::End => None,
            _ => fxt.word_behind(record.place),
        };
        let thread = self.source.koids.thread(self.events.thread(id));
        let at = (record.time, thread);
        self.event(event_type, at, (category, name), &[], last_word);
    }
}
