//! Merges streams of records into batches in time order. Each line contains what it needs from earlier records.

use std::sync::Arc;

use super::selected::{Next, RecordFacts, Selected};
use super::setup::{Head, Look, Lost, Setup, Stream};
use crate::formats::report::ReportOptions;
use crate::formats::tracedat::decoder::{Memory, Raw, Style};
use crate::formats::tracedat::kind::Kind;
use crate::formats::tracedat::plugins::Callers;
use crate::formats::tracedat::printed_time::Times;

/// Number of lines in a full batch.
pub(super) const BATCH_LINES: usize = 16_384;

/// The records of up to `BATCH_LINES` lines, copied from the streams.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// For each line, one after the other: the thread's name, the record, and the record that is printed with it.
    pub(super) bytes: Vec<u8>,
    pub(super) lines: Vec<Line>,
    /// Whether one thread must print all lines in order, because a line with raw fields depends on the texts of earlier
    /// lines.
    pub(super) is_serial: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) name_length: u32,
    pub(super) record_length: u32,
    pub(super) next_length: u32,
    pub(super) kind: Option<u16>,
    pub(super) buffer: u16,
    pub(super) cpu: u32,
    pub(super) pid: i32,
    pub(super) time: u64,
    pub(super) lost: Lost,
    /// Indentation of a traced function, in levels.
    pub(super) depth: u32,
}

/// Merges the streams, by repeatedly taking the earliest record of all streams.
pub(super) struct Merge<'a, S> {
    streams: Vec<S>,
    setup: Arc<Setup<'a>>,
    options: &'a ReportOptions,
    /// Thread names from sched_switch and sched_wakeup that the file's list lacks.
    memory: Memory,
    /// Call stacks of each CPU: the only state that lines of functions need from earlier records.
    callers: Callers,
    selected: Selected,
    /// Whether one thread must print all lines in order.
    is_serial: bool,
    /// For each kind, how the lines of its events depend on other events.
    roles: Vec<Role>,
    /// The stream with the earliest record, and (time, stream) of the second one: up to that time no other stream is
    /// earlier.
    current: usize,
    limit: Option<(u64, usize)>,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Neither depends on other events nor affects them.
    Independent,
    /// Contains thread names that later lines use.
    Names,
    /// Indented relative to its caller.
    Function,
    /// May be printed together with its return.
    Call,
    /// Printed if the previous event on its CPU is printed.
    Stack,
}

impl<'a, S: Stream> Merge<'a, S> {
    pub(super) fn new(
        streams: Vec<S>,
        setup: Arc<Setup<'a>>,
        options: &'a ReportOptions,
        look: Look,
    ) -> Merge<'a, S> {
        let role = |(kind, style): (&Kind, &Style)| match kind.plugin {
            _ if matches!(kind.format.name.as_str(), "kernel_stack" | "user_stack") => Role::Stack,
            Some(plugin) if *style == Style::Plugins => match plugin.event {
                "sched_switch" | "sched_wakeup" | "sched_wakeup_new" => Role::Names,
                "function" | "func_repeats" => Role::Function,
                "funcgraph_entry" => Role::Call,
                _ => Role::Independent,
            },
            _ => Role::Independent,
        };
        let kinds = setup.decoder.kinds().iter();
        Merge {
            roles: kinds.zip(&setup.styles).map(role).collect(),
            is_serial: setup
                .styles
                .iter()
                .any(|style| matches!(style, Style::Raw(_))),
            streams,
            setup,
            options,
            memory: Memory {
                options: look.functions,
                ..Memory::default()
            },
            selected: Selected::new(options),
            callers: Callers::default(),
            current: 0,
            limit: None,
            scratch: Vec::new(),
        }
    }

    /// Makes the stream with the earliest record current, at equal times the first stream; returns the head of that
    /// record.
    fn find_earliest(&mut self) -> Option<Head> {
        // While the current stream is before the second one, no other stream must be compared.
        if let (Some((time, stream)), Some(head)) = (
            self.limit,
            self.streams.get(self.current).and_then(Stream::head),
        ) && (head.time, self.current) < (time, stream)
        {
            return Some(head);
        }
        let mut best: Option<(usize, Head)> = None;
        let mut second = (u64::MAX, usize::MAX);
        for (index, stream) in self.streams.iter().enumerate() {
            let Some(head) = stream.head() else {
                continue;
            };
            match best {
                Some((at, earliest)) if head.time >= earliest.time => {
                    let _ = at;
                    second = second.min((head.time, index));
                }
                _ => {
                    if let Some((at, earliest)) = best {
                        second = second.min((earliest.time, at));
                    }
                    best = Some((index, head));
                }
            }
        }
        let (index, head) = best?;
        self.current = index;
        self.limit = Some(second);
        Some(head)
    }

    /// Returns the index of the stream with the earliest record of one buffer.
    fn earliest_of(&self, buffer: usize) -> Option<usize> {
        let heads = self
            .streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| {
                let head = stream.head()?;
                (stream.buffer() == buffer).then_some((head.time, index))
            });
        heads.min().map(|(_, index)| index)
    }

    fn is_wanted(&self, cpu: u32, time: u64) -> bool {
        let options = self.options;
        let time = i64::try_from(time).unwrap_or(i64::MAX);
        options.cpus.contains(cpu)
            && options.from.is_none_or(|from| time >= from.0)
            && options.until.is_none_or(|until| time < until.0)
    }

    pub(super) fn fill(&mut self, batch: &mut Batch) {
        batch.bytes.clear();
        batch.lines.clear();
        batch.is_serial = self.is_serial;
        while batch.lines.len() < BATCH_LINES {
            let Some(head) = self.find_earliest() else {
                return;
            };
            self.take(self.current, head, batch);
        }
    }

    /// Copies the next record of the stream `index` into the batch.
    fn take(&mut self, index: usize, head: Head, batch: &mut Batch) {
        let decoder = self.setup.decoder;
        let Some(stream) = self.streams.get(index) else {
            return;
        };
        let (cpu, buffer) = (stream.cpu(), stream.buffer());
        let record = stream.record();
        let kind = decoder.kind_of(record);
        let pid = decoder.pid_of(record);
        let role = kind
            .and_then(|kind| self.roles.get(kind))
            .copied()
            .unwrap_or(Role::Independent);
        let name = match pid {
            0 => &b"<idle>"[..],
            _ => self
                .setup
                .threads
                .name(pid)
                .or_else(|| self.memory.learned.get(&pid).map(|name| &**name))
                .unwrap_or(b"<...>"),
        };
        let is_selected = self.selected.is_all() || {
            let facts = RecordFacts {
                decoder,
                kind,
                record,
                name,
                pid,
                cpu,
                time: head.time,
            };
            let next = Next {
                stream: index,
                is_stack: role == Role::Stack,
            };
            self.selected
                .contains(next, &facts, |list| stream.is_listed(list))
        };
        let is_wanted = is_selected && self.is_wanted(cpu, head.time);
        let start = batch.bytes.len();
        batch.bytes.extend_from_slice(name);
        let name_length = batch.bytes.len() - start;
        batch.bytes.extend_from_slice(record);
        let mut line = Line {
            start,
            name_length: name_length as u32,
            record_length: record.len() as u32,
            next_length: 0,
            kind: kind.and_then(|kind| u16::try_from(kind).ok()),
            buffer: buffer as u16,
            cpu,
            pid,
            time: head.time,
            lost: head.lost,
            depth: 0,
        };
        match (role, kind) {
            // Records that are not printed also contain names.
            (Role::Names, Some(kind)) => self.learn(index, kind),
            (Role::Function, Some(kind)) if is_wanted => {
                let raw = Raw {
                    record,
                    cpu,
                    time: head.time,
                    next: None,
                    depth: 0,
                };
                line.depth = decoder.depth(kind, raw, &mut self.callers);
            }
            _ => {}
        }
        if let Some(stream) = self.streams.get_mut(index) {
            stream.advance();
        }
        // The return of a call that is not printed has its own line.
        if role == Role::Call && is_wanted {
            self.take_return(&mut line, batch, kind, buffer);
        }
        if is_wanted {
            batch.lines.push(line);
        } else {
            batch.bytes.truncate(start);
        }
    }

    /// Stores the thread names in a record of sched_switch or sched_wakeup.
    fn learn(&mut self, index: usize, kind: usize) {
        let decoder = self.setup.decoder;
        let (Some(stream), Some(kind)) = (self.streams.get(index), decoder.kinds().get(kind))
        else {
            return;
        };
        let record = stream.record();
        let scope = decoder.scope(kind, record);
        let pairs: &[(usize, usize)] = if kind.format.name == "sched_switch" {
            &[(0, 1), (4, 5)]
        } else {
            &[(0, 1)]
        };
        for &(name, pid) in pairs {
            let field = |index: usize| {
                let field = kind.plugin_fields.get(index).copied().flatten()?;
                kind.format.fields.get(usize::from(field))
            };
            let (Some(name), Some(pid)) = (field(name), field(pid)) else {
                continue;
            };
            let Some(pid) = pid.number(record, scope.endian) else {
                continue;
            };
            let pid = pid as i32;
            if self.setup.threads.name(pid).is_some() || self.memory.learned.contains_key(&pid) {
                continue;
            }
            let name = name.data(record, scope.endian).unwrap_or(&[]);
            let length = memchr::memchr(0, name).unwrap_or(name.len());
            let name = name.get(..length).unwrap_or(name);
            self.memory.learned.insert(pid, name.into());
        }
    }

    /// Adds the next record to `line`, if `line` is a call and the record is its return.
    fn take_return(
        &mut self,
        line: &mut Line,
        batch: &mut Batch,
        kind: Option<usize>,
        buffer: usize,
    ) {
        let Some((kind, next)) = kind.zip(self.earliest_of(buffer)) else {
            return;
        };
        let Some(stream) = self.streams.get_mut(next) else {
            return;
        };
        let start = line.start + line.name_length as usize;
        let record = batch
            .bytes
            .get(start..start + line.record_length as usize)
            .unwrap_or(&[]);
        let raw = Raw {
            record,
            cpu: line.cpu,
            time: line.time,
            next: Some(stream.record()),
            depth: 0,
        };
        self.scratch.clear();
        let has_taken = self.setup.decoder.push_info(
            &mut self.scratch,
            kind,
            raw,
            Style::Plugins,
            Times::Nanoseconds,
            &mut self.memory,
        );
        if has_taken {
            line.next_length = stream.record().len() as u32;
            batch.bytes.extend_from_slice(stream.record());
            stream.advance();
            // The return may be from another stream than `current`: compare all streams again.
            self.limit = None;
        }
    }
}
