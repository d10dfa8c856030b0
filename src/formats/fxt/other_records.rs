//! Records other than events, scheduling and tables: logs, blobs, userspace objects, profiler and large records.
//!
//! Blobs and userspace objects have no time: the fold gave each the time of the previous record.

use crate::base::{ByteOrder, Location, Maybe, Severity, StringId};
use crate::event::{LogRow, ThreadKey, Ties};
use crate::formats::part_names::NameIds;
use crate::fxt::args::{Args, object_owner_words};
use crate::fxt::layout::{blob, large, log, profiler, userspace_object};
use crate::fxt::words::{TextRef, Words, read_text};

use super::describe::{UNKNOWN_BLOB, blob_type_name};
use super::emit::Emitter;
use super::entities::LateThread;
use super::rows::NewEvent;
use super::sort::Sort;

impl<'f, O: ByteOrder> Emitter<'f, O> {
    pub(super) fn blob(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let mut next = 1;
        let name = read_text(blob::NAME.get(header), record, &mut next);
        let blob_type = blob::KIND.get(header);
        if blob_type_name(blob_type) == UNKNOWN_BLOB {
            self.diagnostics().note(
                "unknown_blob_type",
                Severity::Info,
                Location::Byte(at),
                || format!("a blob of type {blob_type}, which no specification contains"),
            );
        }
        let thread = self.provider_thread();
        self.untimed(at, Sort::Blob, thread, Some(TextRef::Index(0)), name);
    }

    pub(super) fn userspace_object(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let reference = userspace_object::THREAD.get(header) as u8;
        let owner_words = object_owner_words(header, record);
        let mut next = 2 + owner_words;
        let thread = match (reference, record.get(2), record.get(3)) {
            (0, Some(process), Some(tid)) if owner_words == 2 => self.inline_thread(process, tid),
            (0, ..) => self.provider_thread(),
            (index, ..) => self.indexed_thread(index, at),
        };
        let name = read_text(userspace_object::NAME.get(header), record, &mut next);
        self.untimed(at, Sort::Object, thread, Some(TextRef::Index(0)), name);
        if name.is_some() {
            self.count_unknown(
                Args::new(record, next, userspace_object::ARGS.get(header)),
                at,
            );
        }
    }

    pub(super) fn log(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let mut next = 2;
        let Some(ticks) = record.get(1) else {
            return self.short(at, "a log record");
        };
        let Some(time) = self.time(ticks, at) else {
            return;
        };
        let length = log::BYTES.get(header) as usize;
        let thread = self.thread(log::THREAD.get(header), record, &mut next, at);
        let (Some(thread), Some(message)) = (thread, record.text(next, length)) else {
            return self.short(at, "a log record");
        };
        let message = self.out.strings.intern(message);
        let kind = self.own_kind(Sort::Log);
        let rows = &mut self.cache.rows;
        rows.push(NewEvent {
            time,
            at,
            thread,
            kind,
            sort: Sort::Log,
            detail: rows.logs.len() as u32,
        });
        rows.logs.push(LogRow {
            event: 0,
            severity: StringId::EMPTY,
            message,
        });
    }

    /// Adds an event whose time is that of the previous record, found by the fold.
    fn untimed(
        &mut self,
        at: u64,
        sort: Sort,
        thread: Maybe<ThreadKey>,
        category: Option<TextRef<'f>>,
        name: Option<TextRef<'f>>,
    ) {
        let (Some(category), Some(name)) = (category, name) else {
            return self.short(at, sort.text());
        };
        let time = self.scan.shown_at(at).map_or(0, |time| time.0);
        let names = NameIds {
            category: self.text(category, at),
            name: self.text(name, at),
        };
        let kind = self.kind(sort, names);
        self.cache.rows.push(NewEvent {
            time,
            at,
            thread,
            kind,
            sort,
            detail: 0,
        });
    }

    pub(super) fn profiler(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let sort = match profiler::KIND.get(header) {
            0 => Sort::Module,
            1 => Sort::Mapping,
            2 => Sort::Backtrace,
            other => {
                self.out.diagnostics.note(
                    "unknown_record_type",
                    Severity::Info,
                    Location::Byte(at),
                    || format!("a profiler record of subtype {other} was skipped"),
                );
                return;
            }
        };
        let Some(ticks) = record.get(1) else {
            return self.short(at, "a profiler record");
        };
        let Some(time) = self.time(ticks, at) else {
            return;
        };
        let reference = profiler::THREAD.get(header);
        let thread = if reference != 0 {
            self.indexed_thread(reference as u8, at)
        } else if super::profiler::has_two_word_thread(header, record) {
            self.thread(0, record, &mut 2, at)
                .unwrap_or_else(|| self.provider_thread())
        } else {
            self.provider_thread()
        };
        if super::profiler::read_profile(record).is_none() {
            return self.short(at, "a profiler record");
        }
        let kind = self.own_kind(sort);
        self.cache.rows.push(NewEvent {
            time,
            at,
            thread,
            kind,
            sort,
            detail: 0,
        });
    }

    pub(super) fn large(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        if large::KIND.get(header) != 0 {
            return;
        }
        let Some(fields) = record.get(1) else {
            return self.short(at, "a large record");
        };
        let mut next = 2;
        let category = read_text(large::CATEGORY.get(fields), record, &mut next);
        let name = read_text(large::NAME.get(fields), record, &mut next);
        match large::FORMAT.get(header) {
            0 => {
                let (Some(category), Some(name), Some(ticks)) = (category, name, record.get(next))
                else {
                    return self.short(at, "a large record");
                };
                next += 1;
                let Some(time) = self.time(ticks, at) else {
                    return;
                };
                let reference = large::THREAD.get(fields);
                let Some(thread) = self.thread(reference, record, &mut next, at) else {
                    return self.short(at, "a large record");
                };
                let names = NameIds {
                    category: self.text(category, at),
                    name: self.text(name, at),
                };
                let kind = self.kind(Sort::Blob, names);
                if self.out.ties == Ties::First {
                    self.read_cpu(Args::new(record, next, large::ARGS.get(fields)), at);
                }
                self.cache.rows.push(NewEvent {
                    time,
                    at,
                    thread,
                    kind,
                    sort: Sort::Blob,
                    detail: 0,
                });
                self.count_unknown(Args::new(record, next, large::ARGS.get(fields)), at);
            }
            1 => {
                let thread = self.provider_thread();
                self.untimed(at, Sort::Blob, thread, category, name);
            }
            _ => {}
        }
    }

    /// Returns the artificial thread of the current provider, for records without a thread.
    fn provider_thread(&self) -> Maybe<ThreadKey> {
        let slot = self.cache.slot();
        self.scan
            .entities
            .find_late(LateThread::Provider(slot))
            .into()
    }
}
