//! Records that cannot be copied: they are too short for their content, refer to entries that were never registered,
//! or contain a statement that is false for the range. They are decoded and encoded again. Only damaged files contain
//! some, and ranges at whose start a thread that has ended is switched from.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::file::FxtFile;
use super::kept::Kept;
use super::places::Record;
use super::references::KernelObject;
use crate::export::fxt::args::{self, Fitted, MOST_ARG_WORDS};
use crate::export::fxt::encode::{Encoder, EventAt};
use crate::export::fxt::item::{Item, ItemTime, What, order_of};
use crate::export::fxt::records::{EventType, ObjectKey};
use crate::export::shared::arguments::flow_id_in;
use crate::fxt::layout::{RECORD_TYPE, event, record_type};
use crate::trace::{EventId, Trace};

/// The rows of logs and slices by their events; filled at the first lookup.
#[derive(Debug, Default)]
pub(crate) struct RowsOfEvents {
    logs: OnceCell<FxHashMap<u32, u32>>,
    slices: OnceCell<FxHashMap<u32, u32>>,
}

impl RowsOfEvents {
    fn log(&self, trace: &Trace, event: u32) -> Option<u32> {
        let rows = self.logs.get_or_init(|| {
            let rows = (0_u32..).zip(&trace.logs.rows);
            rows.map(|(row, log)| (log.event.0, row)).collect()
        });
        rows.get(&event).copied()
    }

    /// Returns the slice that an event began.
    fn slice(&self, trace: &Trace, event: u32) -> Option<usize> {
        let rows = self.slices.get_or_init(|| {
            let rows = (0_u32..).zip(trace.slices.begins.iter());
            rows.map(|(row, begin)| (begin, row)).collect()
        });
        rows.get(&event).map(|&row| row as usize)
    }
}

impl Encoder<'_, '_> {
    /// Encodes the record of an event again; `header` is the record's header.
    pub(super) fn record_anew(
        &mut self,
        file: FxtFile<'_>,
        kept: &Kept,
        rows: &RowsOfEvents,
        header: u64,
        record: &Record,
    ) {
        let at = ItemTime {
            time: record.time,
            order: order_of(record.event),
        };
        match RECORD_TYPE.get(header) {
            record_type::EVENT => {
                if let Some(event_type) = kept.becomes(event::KIND.get(header), record.event) {
                    self.event_anew(rows, record, event_type);
                }
            }
            record_type::SCHEDULING => {
                self.scheduling_anew(file, record);
            }
            record_type::LOG => {
                if let Some(row) = rows.log(self.source.trace, record.event) {
                    self.item(&Item::new(What::Log, at, row, 0));
                }
            }
            _ => self.item(&Item::trackless(at, record.event)),
        }
    }

    /// Writes a kernel object.
    pub(super) fn object_anew(&mut self, object: &KernelObject) {
        let mut args = object.args.clone();
        let Fitted { is_packed, cut } = args::fit(&mut args, MOST_ARG_WORDS);
        self.records.counts.packed += u64::from(is_packed);
        self.cut_texts += cut.len() as u64;
        let key = ObjectKey {
            object_type: object.kind,
            koid: object.koid,
        };
        self.records.object(key, object.name, &args);
    }

    /// Encodes an event record again, field by field.
    fn event_anew(&mut self, rows: &RowsOfEvents, record: &Record, event_type: EventType) {
        let id = EventId(record.event);
        self.read(id);
        let names = self.names_of(self.events.kind(id));
        let last_word = match event_type {
            EventType::Instant => self.scope_word(),
            EventType::Counter => self.counter_id(),
            EventType::Complete => {
                let slices = &self.source.trace.slices;
                let slice = rows.slice(self.source.trace, record.event);
                let end = slice.map_or(record.time, |slice| slices.end(slice).or_greatest());
                Some(self.ticks(end.max(record.time)))
            }
            EventType::Begin | EventType::End => None,
            EventType::AsyncBegin | EventType::AsyncInstant | EventType::AsyncEnd => {
                self.async_id()
            }
            _ => flow_id_in(&self.fields),
        };
        let thread = self.source.koids.thread(self.events.thread(id));
        let at = EventAt {
            time: record.time,
            thread,
        };
        self.event(event_type, at, names, &[], last_word);
    }
}
