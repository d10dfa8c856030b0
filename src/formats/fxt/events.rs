//! Event records (type 4): one record in, an event and the typed row that its type calls for out.
//!
//! ```text
//! header: 16..19 event type | 20..23 argument count | 24..31 thread | 32..47 category | 48..63 name
//! ticks | [process, thread] | [category] | [name] | arguments | a word by type: counter id, end ticks, id
//! ```
//!
//! A counter's series is named `event:argument`, with `:id` if the id is not 0; only `event` if the
//! argument has no name or the same. A flow with an argument `really_in` is bound to no slice: that of our own
//! files whose slice lies outside of their range. Other flows and ends of asynchronous events are bound by `build`.

use crate::base::{Location, Severity, StringId};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Complete, FlowBound, FlowMark, FlowOp, Sample, SeriesScope,
    ThreadKey,
};

use super::args::{ArgValue, Args, UNKNOWN_ARGUMENT};
use super::emit::Emitter;
use super::header::{Order, Words, bits, read_text};
use super::kinds::Sort;
use super::rows::{END_BIT, NO_SAMPLES};

/// What an event record says before its arguments.
struct Head {
    at: u64,
    time: i64,
    thread: ThreadKey,
    category: StringId,
    name: StringId,
    label: u32,
}

impl<'f, O: Order> Emitter<'f, O> {
    pub(super) fn event(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        let Some(sort) = Sort::from_event_type(bits(header, 16, 19)) else {
            let event_type = bits(header, 16, 19);
            self.diagnostics().note(
                "unknown_event_type",
                Severity::Info,
                Location::Byte(at),
                || format!("an event of type {event_type} was skipped"),
            );
            return;
        };
        let Some(ticks) = record.get(1) else {
            return self.short(at, "an event record");
        };
        let Some(time) = self.time(ticks, at) else {
            return;
        };
        let mut next = 2;
        let Some(thread) = self.thread(header >> 24, record, &mut next, at) else {
            return self.short(at, "an event record");
        };
        let category = read_text(header >> 32, record, &mut next);
        let name = read_text(header >> 48, record, &mut next);
        let (Some(category), Some(name)) = (category, name) else {
            return self.short(at, "an event record");
        };
        let (category, name) = (self.text(category, at), self.text(name, at));
        let arg_count = bits(header, 20, 23);
        if matches!(sort, Sort::Instant | Sort::Begin | Sort::End) {
            let (kind, label) = self.kind(sort, category, name);
            let detail = if sort == Sort::End {
                self.end_label() | END_BIT
            } else {
                label
            };
            let kind = (kind, sort);
            self.cache.rows.push((time, at), thread, kind, detail);
            if arg_count > 0 {
                self.pass_arguments(Args::new(record, next, arg_count), sort, at);
            }
            return;
        }
        let args = Args::new(record, next, arg_count);
        let behind = self.pass_arguments(args.clone(), sort, at);
        let trailing = behind.and_then(|behind| record.get(behind));
        let is_needed = !matches!(sort, Sort::Counter | Sort::Complete) || behind.is_some();
        if trailing.is_none() && is_needed {
            return self.short(at, "an event record");
        }
        let end = match (sort, trailing) {
            (Sort::Complete, Some(ticks)) => match self.time(ticks, at) {
                Some(end) => end,
                None => return,
            },
            _ => time,
        };
        let (kind, label) = self.kind(sort, category, name);
        let head = Head {
            at,
            time,
            thread,
            category,
            name,
            label,
        };
        let id = trailing.unwrap_or(0);
        let detail = match sort {
            Sort::Counter => self.counter(&head, id, args),
            Sort::Complete => self.complete(&head, end),
            Sort::AsyncBegin => self.async_mark(&head, AsyncOp::Begin, id),
            Sort::AsyncInstant => self.async_mark(&head, AsyncOp::Instant, id),
            Sort::AsyncEnd => self.async_mark(&head, AsyncOp::End, id),
            Sort::FlowBegin => self.flow(&head, (FlowOp::Begin, id), args),
            Sort::FlowStep => self.flow(&head, (FlowOp::Step, id), args),
            _ => self.flow(&head, (FlowOp::End, id), args),
        };
        let rows = &mut self.cache.rows;
        rows.push((time, at), thread, (kind, sort), detail);
    }

    /// The word behind the arguments; what is odd in them is noted.
    #[inline]
    fn pass_arguments(&mut self, args: Args<'f, O>, sort: Sort, at: u64) -> Option<usize> {
        let Some((behind, unknown_count)) = args.skip_counting() else {
            if sort != Sort::Counter {
                self.bad_argument(at);
            }
            return None;
        };
        if unknown_count > 0 {
            self.unknown_arguments(at, unknown_count);
        }
        Some(behind)
    }

    /// Notes arguments of unknown types where nothing else is asked of the arguments.
    pub(super) fn count_unknown(&mut self, args: Args<'f, O>, at: u64) {
        if let Some((_, count @ 1..)) = args.skip_counting() {
            self.unknown_arguments(at, count);
        }
    }

    #[cold]
    pub(super) fn unknown_arguments(&mut self, at: u64, count: u64) {
        self.diagnostics().note_many(
            "unknown_argument_type",
            Severity::Info,
            Some(Location::Byte(at)),
            count,
            || UNKNOWN_ARGUMENT.to_owned(),
        );
    }

    #[cold]
    pub(super) fn bad_argument(&mut self, at: u64) {
        self.note("bad_argument", at, || {
            "an argument's size is 0 or reaches past its record: the arguments from there on are lost"
                .to_owned()
        });
    }

    fn complete(&mut self, head: &Head, end: i64) -> u32 {
        if end < head.time {
            self.note("end_before_begin", head.at, || {
                "a complete event ends before it begins: it is shown with no length".to_owned()
            });
        }
        let completes = &mut self.cache.rows.completes;
        completes.push(Complete {
            event: 0,
            label: head.label,
            duration_ns: end.saturating_sub(head.time).max(0),
        });
        completes.len() as u32 - 1
    }

    fn async_mark(&mut self, head: &Head, op: AsyncOp, id: u64) -> u32 {
        let scope = match self.scan.entities.process_of(head.thread) {
            Some(process) => AsyncScope::Process(process),
            None => AsyncScope::ProcessOf(head.thread),
        };
        let asyncs = &mut self.cache.rows.asyncs;
        asyncs.push(AsyncMark {
            event: 0,
            op,
            scope,
            id,
            name: head.name,
            category: head.category,
            group: StringId::EMPTY,
        });
        asyncs.len() as u32 - 1
    }

    fn flow(&mut self, head: &Head, (op, id): (FlowOp, u64), mut args: Args<'f, O>) -> u32 {
        // Only a range of a trace says that what held the mark is not in it.
        let is_cut_off = args.any(|arg| self.text(arg.name, head.at) == self.well_known.really_in);
        let bound = match is_cut_off {
            true => FlowBound::Nowhere,
            false => FlowBound::Around,
        };
        let flows = &mut self.cache.rows.flows;
        flows.push(FlowMark {
            event: 0,
            op,
            bound,
            id,
            name: head.name,
            category: head.category,
        });
        flows.len() as u32 - 1
    }

    fn counter(&mut self, head: &Head, id: u64, mut args: Args<'f, O>) -> u32 {
        let event = self.cache.rows.next_event();
        let first = self.cache.rows.samples.len() as u32;
        let scope = match self.scan.entities.process_of(head.thread) {
            Some(process) => SeriesScope::Process(process),
            None => SeriesScope::Thread(head.thread),
        };
        for arg in args.by_ref() {
            let value = match arg.value {
                ArgValue::Int32(value) => f64::from(value),
                ArgValue::UInt32(value) => f64::from(value),
                ArgValue::Int64(value) => value as f64,
                ArgValue::UInt64(value) => value as f64,
                ArgValue::Double(value) => value,
                _ => {
                    self.diagnostics().note(
                        "counter_not_a_number",
                        Severity::Info,
                        Location::Byte(head.at),
                        || "an argument of a counter is not a number".to_owned(),
                    );
                    continue;
                }
            };
            let argument = self.text(arg.name, head.at);
            let series = self.series((head.name, argument), id, scope);
            self.cache.rows.samples.push(Sample {
                event,
                series,
                value,
            });
        }
        if args.is_bad() {
            self.bad_argument(head.at);
        }
        if self.cache.rows.samples.len() as u32 == first {
            self.scan.note_counter_without_number(head.at);
            return NO_SAMPLES;
        }
        first
    }
}
