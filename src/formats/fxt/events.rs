//! Event records (type 4): reads one record, and adds an event and the typed row for its event type.
//!
//! ```text
//! header: 16..19 event type | 20..23 argument count | 24..31 thread | 32..47 category | 48..63 name
//! ticks | [process, thread] | [category] | [name] | arguments | a word by event type: counter id, end ticks, id
//! ```
//!
//! A counter's series is named `event:argument`, with `:id` if the id is not 0; only `event` if the argument has no
//! name or the same name. In files of our own exporter, a flow with the argument `really_in` belongs to no slice,
//! because its slice is outside the exported range; a flow with an argument `really_at_ns` that is 1 ns after its own
//! time belongs to the later time, the end of its slice. `assemble` binds all other flows, and the ends of asynchronous
//! events.

use crate::base::{Location, Maybe, Severity, StringId};
use crate::event::{
    AsyncMark, AsyncOp, AsyncScope, Complete, CutSide, FlowBound, FlowJoin, FlowKind, FlowMark,
    FlowOp, KindId, ProcessKey, Sample, SeriesScope, SliceKind, ThreadKey, Ties, UNSEEN_END,
};

use crate::event::slice_kind::Nesting;
use crate::formats::part_names::{KindAndLabel, NameIds};

use super::emit::{Emitter, SeriesKey, WellKnown};
use super::rows::{END_BIT, NewEvent, OVER_BIT};
use super::sort::Sort;
use crate::base::ByteOrder;
use crate::fxt::args::{Arg, ArgValue, Args, Skipped, UNKNOWN_ARGUMENT};
use crate::fxt::layout::event;
use crate::fxt::words::{Words, read_text};

/// The fields of an event record before its arguments.
struct Head {
    at: u64,
    time: i64,
    thread: Maybe<ThreadKey>,
    names: NameIds,
    label: u32,
}

impl<'f, O: ByteOrder> Emitter<'f, O> {
    /// Returns the process of a thread, if both are known.
    fn process_of(&self, thread: Maybe<ThreadKey>) -> Option<ProcessKey> {
        self.scan.entities.process_of(thread.get()?)
    }

    pub(super) fn event(&mut self, at: u64, header: u64, record: Words<'f, O>) {
        if let Some((first, others)) = self.loss_facts.split_first()
            && *first == at
        {
            // The fold has already used the event for the gap.
            self.loss_facts = others;
            return;
        }
        let Some(mut sort) = Sort::from_event_type(event::KIND.get(header)) else {
            let event_type = event::KIND.get(header);
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
        let Some(mut time) = self.time(ticks, at) else {
            return;
        };
        let mut next = 2;
        let Some(mut thread) = self.thread(header >> 24, record, &mut next, at) else {
            return self.short(at, "an event record");
        };
        let category = read_text(event::CATEGORY.get(header), record, &mut next);
        let name = read_text(event::NAME.get(header), record, &mut next);
        let (Some(category), Some(name)) = (category, name) else {
            return self.short(at, "an event record");
        };
        let names = NameIds {
            category: self.text(category, at),
            name: self.text(name, at),
        };
        let arg_count = event::ARGS.get(header);
        let cpu = self.cpu_of(thread);
        if cpu.is_some() {
            let args = Args::new(record, next, arg_count);
            thread = match sort {
                Sort::Instant | Sort::Begin | Sort::End | Sort::Complete => {
                    self.interrupted(args, at)
                }
                _ => Maybe::NONE,
            };
            if sort == Sort::Instant {
                sort = Sort::CpuInstant;
            }
        }
        if matches!(
            sort,
            Sort::Instant | Sort::CpuInstant | Sort::Begin | Sort::End
        ) {
            let (kind, mut label) = self.kind_and_label(sort, names);
            let args = Args::new(record, next, arg_count);
            if sort == Sort::Begin && arg_count > 0 {
                label = self.own_label(label, args.clone(), at);
            }
            let detail = match (sort, cpu) {
                (Sort::End, _) => {
                    let label = match cpu {
                        Some(_) => self.cpu_end_label(),
                        None => self.end_label(),
                    };
                    match arg_count > 0 && self.has_end_not_seen(at, args) {
                        true => label | END_BIT | OVER_BIT,
                        false => label | END_BIT,
                    }
                }
                (Sort::Begin, Some(_)) => self.label_of_cpu(label),
                _ => label,
            };
            if sort == Sort::Begin && arg_count > 0 {
                self.read_cut(Args::new(record, next, arg_count), at);
            }
            if sort == Sort::Instant && arg_count > 0 && self.out.ties == Ties::First {
                self.read_cpu(Args::new(record, next, arg_count), at);
            }
            self.set_cpu(cpu);
            self.cache.rows.push(NewEvent {
                time,
                at,
                thread,
                kind,
                sort,
                detail,
            });
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
        let (kind, mut label) = self.kind_and_label(sort, names);
        if sort == Sort::Complete && arg_count > 0 {
            label = self.own_label(label, args.clone(), at);
        }
        if sort == Sort::Complete && cpu.is_some() {
            label = self.label_of_cpu(label);
        }
        let head = Head {
            at,
            time,
            thread,
            names,
            label,
        };
        let is_async = matches!(sort, Sort::AsyncBegin | Sort::AsyncInstant | Sort::AsyncEnd);
        if is_async
            && self.out.ties == Ties::First
            && let Some(recorder) = self.recorder(args.clone(), at)
        {
            thread = Maybe::new(recorder);
        }
        let id = trailing.unwrap_or(0);
        let detail = match sort {
            Sort::Counter => Maybe::from(self.counter(&head, cpu, id, args)).or_greatest(),
            Sort::Complete => {
                let unseen = match self.has_end_not_seen(at, args.clone()) {
                    true => UNSEEN_END,
                    false => 0,
                };
                if arg_count > 0 {
                    self.read_cut(args.clone(), at);
                }
                let complete = self.complete(&head, end, unseen);
                if arg_count > 0 && self.out.ties == Ties::First {
                    self.measured(complete, args, at);
                }
                complete
            }
            Sort::AsyncBegin => {
                self.read_cut(args.clone(), at);
                self.async_mark(&head, AsyncOp::Begin, id, args)
            }
            Sort::AsyncInstant => {
                if self.out.ties == Ties::First {
                    self.read_cpu(args.clone(), at);
                }
                self.async_mark(&head, AsyncOp::Instant, id, args)
            }
            Sort::AsyncEnd => {
                let op = match self.has_end_not_seen(at, args.clone()) {
                    true => AsyncOp::Over,
                    false => AsyncOp::End,
                };
                self.async_mark(&head, op, id, args)
            }
            _ => {
                let op = match sort {
                    Sort::FlowBegin => FlowOp::Begin,
                    Sort::FlowStep => FlowOp::Step,
                    _ => FlowOp::End,
                };
                let (bound, later) = self.flow_bound(&head, args.clone());
                time = time.saturating_add(later);
                let kind = self.flow_kind(&head, args);
                self.flow(FlowMark {
                    event: 0,
                    op,
                    bound,
                    joined: FlowJoin::ById,
                    id,
                    name: names.name,
                    category: names.category,
                    kind,
                })
            }
        };
        self.set_cpu(cpu);
        self.cache.rows.push(NewEvent {
            time,
            at,
            thread,
            kind,
            sort,
            detail,
        });
    }

    /// Returns the kind of an event, and the label of the slice that it is or begins; 0 if it is none and begins none.
    #[inline]
    fn kind_and_label(&mut self, sort: Sort, names: NameIds) -> (KindId, u32) {
        if matches!(sort, Sort::Begin | Sort::Complete) {
            let KindAndLabel { kind, label } = self.names.slice(&mut self.out, names);
            return (kind, label);
        }
        (self.kind(sort, names), 0)
    }

    /// Returns the CPU that an artificial thread of our own exporter represents; `None` for other threads.
    #[inline]
    fn cpu_of(&self, thread: Maybe<ThreadKey>) -> Option<u16> {
        match self.out.ties {
            Ties::First => self.scan.entities.cpu_of(thread.get()?),
            Ties::Longest => None,
        }
    }

    /// States the CPU of the next event.
    #[inline]
    fn set_cpu(&mut self, cpu: Option<u16>) {
        if let Some(cpu) = cpu {
            let rows = &mut self.cache.rows;
            rows.cpus.push((rows.next_event(), cpu));
        }
    }

    /// Returns the thread that ran on the CPU when an event of the CPU was recorded; none if that is not known.
    fn interrupted(&mut self, args: Args<'f, O>, at: u64) -> Maybe<ThreadKey> {
        for arg in args {
            if matches!(arg.value, ArgValue::Koid(_) | ArgValue::Null)
                && self.text(arg.name, at) == self.well_known.interrupted
            {
                return match arg.value {
                    ArgValue::Koid(koid) => Maybe::new(self.tid(koid)),
                    _ => Maybe::NONE,
                };
            }
        }
        Maybe::new(ThreadKey::IDLE)
    }

    /// Skips the arguments and returns the index of the word after them; adds diagnostics for bad or unknown arguments.
    #[inline]
    fn pass_arguments(&mut self, args: Args<'f, O>, sort: Sort, at: u64) -> Option<usize> {
        let Some(Skipped {
            behind,
            unknown_count,
        }) = args.skip_counting()
        else {
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

    /// Adds a diagnostic for arguments of unknown types, for records whose arguments are not used otherwise.
    pub(super) fn count_unknown(&mut self, args: Args<'f, O>, at: u64) {
        if let Some(Skipped {
            unknown_count: count @ 1..,
            ..
        }) = args.skip_counting()
        {
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

    /// Returns whether a record of our own exporter states that the end of its slice was not recorded.
    fn has_end_not_seen(&mut self, at: u64, mut args: Args<'f, O>) -> bool {
        if self.out.ties != Ties::First {
            return false;
        }
        let end_not_seen = self.well_known.end_not_seen;
        args.any(|arg| self.text(arg.name, at) == end_not_seen)
    }

    /// Adds a cut if our own exporter cut the slice that begins with the next event.
    fn read_cut(&mut self, mut args: Args<'f, O>, at: u64) {
        if self.out.ties == Ties::First && args.any(|arg| self.cut_by(&arg, at).is_some()) {
            self.cut_next(CutSide::Begin);
        }
    }

    /// Returns the side at which our own exporter cut an item, if the argument states a cut.
    pub(super) fn cut_by(&mut self, arg: &Arg<'f>, at: u64) -> Option<CutSide> {
        let WellKnown {
            never_ended,
            really_began_ns,
            really_ended_ns,
            ..
        } = self.well_known;
        match (self.text(arg.name, at), &arg.value) {
            (name, ArgValue::Int64(_)) if name == really_began_ns => Some(CutSide::Begin),
            (name, ArgValue::Int64(_)) if name == really_ended_ns => Some(CutSide::End),
            (name, ArgValue::Bool(true)) if name == never_ended => Some(CutSide::End),
            _ => None,
        }
    }

    /// Adds a cut for an item that begins or ends with the next event.
    pub(super) fn cut_next(&mut self, side: CutSide) {
        let rows = &mut self.cache.rows;
        rows.cuts.insert(rows.next_event(), side);
    }

    /// Returns the kind of slice that an argument states, in a record of our own exporter.
    fn stated_slice_kind(&mut self, mut args: Args<'f, O>, at: u64) -> Option<SliceKind> {
        if self.out.ties != Ties::First {
            return None;
        }
        args.find_map(|arg| match arg.value {
            ArgValue::Text(word) if self.text(arg.name, at) == self.well_known.slice_kind => {
                let word = self.text(word, at);
                SliceKind::of_word(self.out.strings.bytes(word))
            }
            _ => None,
        })
    }

    /// Returns the label of a slice with arguments, which may state another kind than that of `label`.
    fn own_label(&mut self, label: u32, args: Args<'f, O>, at: u64) -> u32 {
        match self.stated_slice_kind(args, at) {
            Some(kind) => self.label_of_kind(label, kind),
            None => label,
        }
    }

    /// Sets the CPU of the next event: in our own files, the last argument with the name for CPUs contains it.
    pub(super) fn read_cpu(&mut self, args: Args<'f, O>, at: u64) {
        let mut found = None;
        for arg in args {
            let cpu = match arg.value {
                ArgValue::UInt32(cpu) => u16::try_from(cpu).ok(),
                // Copied from our own JSON.
                ArgValue::Int64(cpu) => u16::try_from(cpu).ok(),
                _ => continue,
            };
            if self.text(arg.name, at) == self.well_known.on_cpu {
                found = cpu.filter(|&cpu| cpu < u16::MAX);
            }
        }
        self.set_cpu(found);
    }

    /// Adds a complete slice and returns its row. `unseen` is [`UNSEEN_END`] or 0.
    fn complete(&mut self, head: &Head, end: i64, unseen: u32) -> u32 {
        if end < head.time {
            self.note("end_before_begin", head.at, || {
                "a complete event ends before it begins: it is shown with no length".to_owned()
            });
        }
        let completes = &mut self.cache.rows.completes;
        completes.push(Complete {
            event: 0,
            label: head.label | unseen,
            duration_ns: end.saturating_sub(head.time).max(0),
        });
        completes.len() as u32 - 1
    }

    /// Adds the duration in the argument `measured_ns` of our own files, which differs from the drawn duration.
    fn measured(&mut self, complete: u32, mut args: Args<'f, O>, at: u64) {
        let found = args.find_map(|arg| match arg.value {
            ArgValue::Int64(ns) if self.text(arg.name, at) == self.well_known.measured_ns => {
                Some(ns)
            }
            _ => None,
        });
        if let Some(ns) = found.filter(|ns| *ns >= 0) {
            self.cache.rows.measured.insert(complete, ns);
        }
    }

    fn async_mark(&mut self, head: &Head, op: AsyncOp, id: u64, args: Args<'f, O>) -> u32 {
        let (mut scope, mut group) = match self.process_of(head.thread) {
            Some(process) => (AsyncScope::Process(process), StringId::EMPTY),
            None => (AsyncScope::ProcessOf(head.thread), StringId::EMPTY),
        };
        let mut kind = match self.is_own {
            true => {
                let category = self.out.strings.bytes(head.names.category);
                SliceKind::implied(category, Nesting::Async)
            }
            false => SliceKind::Async,
        };
        if self.out.ties == Ties::First {
            for arg in args {
                let ArgValue::Text(text) = arg.value else {
                    continue;
                };
                let name = self.text(arg.name, head.at);
                let is_global = name == self.well_known.global_async_group;
                if is_global || name == self.well_known.async_group {
                    group = self.text(text, head.at);
                }
                if name == self.well_known.slice_kind {
                    let word = self.text(text, head.at);
                    kind = SliceKind::of_word(self.out.strings.bytes(word)).unwrap_or(kind);
                }
                if is_global {
                    scope = AsyncScope::Global;
                }
            }
        }
        let mark = AsyncMark {
            event: 0,
            op,
            scope,
            id,
            name: head.names.name,
            category: head.names.category,
            kind,
            group,
        };
        let asyncs = &mut self.cache.rows.asyncs;
        asyncs.push(mark);
        asyncs.len() as u32 - 1
    }

    /// Returns the thread that recorded an asynchronous event of another process, from the arguments of our own files.
    fn recorder(&mut self, args: Args<'f, O>, at: u64) -> Option<ThreadKey> {
        let (mut thread, mut process) = (None, None);
        for arg in args {
            if let ArgValue::Koid(koid) = arg.value {
                match self.text(arg.name, at) {
                    name if name == self.well_known.recorded_by => thread = Some(koid),
                    name if name == self.well_known.recorded_by_process => process = Some(koid),
                    _ => {}
                }
            }
        }
        match (thread?, process) {
            (thread, Some(process)) => self.inline_thread(process, thread).get(),
            (thread, None) => Some(self.tid(thread)),
        }
    }

    /// Returns the slice to which a flow event belongs, from the arguments of our own files, and the real time of the
    /// flow event minus the time of its record, in ns: 1 if the end of its slice was moved, otherwise 0.
    fn flow_bound(&mut self, head: &Head, args: Args<'f, O>) -> (FlowBound, i64) {
        let (mut bound, mut later) = (FlowBound::Around, 0);
        let (mut slice, mut from) = (None, None);
        for arg in args {
            let name = self.text(arg.name, head.at);
            if name == self.well_known.really_in {
                slice = Some(match arg.value {
                    ArgValue::Text(text) => Some(self.text(text, head.at)),
                    _ => None,
                });
            }
            if name == self.well_known.really_in_from
                && let ArgValue::Int64(start) = arg.value
            {
                from = Some(start);
            }
            let is_at_end = arg.value == ArgValue::Int64(head.time.saturating_add(1));
            if is_at_end && name == self.well_known.really_at_ns {
                (bound, later) = (FlowBound::AtEnd, 1);
            }
        }
        let bound = match (slice, from) {
            (Some(Some(name)), Some(at)) => FlowBound::Begun { at, name },
            (Some(_), _) => FlowBound::Nowhere,
            (None, _) => bound,
        };
        (bound, later)
    }

    /// Returns the meaning of the arrow of a flow event, in files of our own exporter.
    fn flow_kind(&mut self, head: &Head, args: Args<'f, O>) -> FlowKind {
        let args = match self.out.ties {
            Ties::First => Some(args),
            Ties::Longest => None,
        };
        for arg in args.into_iter().flatten() {
            if let ArgValue::Text(word) = arg.value
                && self.text(arg.name, head.at) == self.well_known.flow_kind
            {
                let word = self.text(word, head.at);
                let stated = FlowKind::of_word(self.out.strings.bytes(word));
                return stated.unwrap_or_default();
            }
        }
        match self.is_own {
            true => FlowKind::implied(self.out.strings.bytes(head.names.name)),
            false => FlowKind::Stated,
        }
    }

    fn flow(&mut self, mark: FlowMark) -> u32 {
        let flows = &mut self.cache.rows.flows;
        flows.push(mark);
        flows.len() as u32 - 1
    }

    /// Adds the samples of a counter event and returns the index of the first one; `None` if it has no number.
    fn counter(
        &mut self,
        head: &Head,
        cpu: Option<u16>,
        id: u64,
        mut args: Args<'f, O>,
    ) -> Option<u32> {
        let event = self.cache.rows.next_event();
        let first = self.cache.rows.samples.len() as u32;
        let scope = match (cpu, self.process_of(head.thread)) {
            // Our own exporter writes the counters of a CPU on its artificial thread.
            (Some(cpu), _) => SeriesScope::Cpu(cpu.into()),
            (None, Some(process)) => SeriesScope::Process(process),
            (None, None) => match head.thread.get() {
                Some(thread) => SeriesScope::Thread(thread),
                None => SeriesScope::Global,
            },
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
            let series = self.series(SeriesKey {
                event: head.names.name,
                argument,
                id,
                scope,
            });
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
            return None;
        }
        Some(first)
    }
}
