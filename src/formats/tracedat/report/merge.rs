//! Streams of records in, batches of records in time order out, with what each line must know of those before.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{BATCH_LINES, Head, Look, Lost, Setup, Stream};
use crate::formats::format::ReportOptions;
use crate::formats::tracedat::decoder::{Kind, Memory, Raw, Style};
use crate::formats::tracedat::plugins::{Callers, Times};

/// The records of some thousand lines.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// For each line: the thread's name, the record, and the record that is shown with it.
    pub(super) bytes: Vec<u8>,
    pub(super) lines: Vec<Line>,
    /// Whether its lines must be made one after the other: raw ones show texts of the lines before them.
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
    /// How deep a function is indented.
    pub(super) depth: u32,
}

/// Takes the earliest record of all streams, again and again.
pub(super) struct Merge<'a, S> {
    streams: Vec<S>,
    setup: Arc<Setup<'a>>,
    options: &'a ReportOptions,
    /// Names that the file does not have, from sched_switch and sched_wakeup.
    memory: Memory,
    /// Who called whom on each CPU: the only thing that functions need to know of those before them.
    callers: Callers,
    /// By stream, whether its last event was wanted, where only some are.
    is_last_wanted: FxHashMap<usize, bool>,
    look: Look,
    /// Per kind, whether showing it changes what later lines look like.
    roles: Vec<Role>,
    /// The stream to look at first, and the time up to which no other one comes before it.
    current: usize,
    limit: Option<(u64, usize)>,
    scratch: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It does not.
    Independent,
    /// It tells threads' names.
    Names,
    /// It is indented below its caller.
    Function,
    /// It may be shown with its return.
    Call,
    /// It belongs to the event before it on its CPU.
    Stack,
}

impl<'a, S: Stream> Merge<'a, S> {
    pub(super) fn new(
        streams: Vec<S>,
        setup: Arc<Setup<'a>>,
        options: &'a ReportOptions,
        look: Look,
    ) -> Merge<'a, S> {
        let role = |kind: &Kind| match kind.plugin {
            Some(plugin) if look.style == Style::Plugins => match plugin.event {
                "sched_switch" | "sched_wakeup" | "sched_wakeup_new" => Role::Names,
                "function" | "func_repeats" => Role::Function,
                "funcgraph_entry" => Role::Call,
                "kernel_stack" => Role::Stack,
                _ => Role::Independent,
            },
            _ if kind.format.name == "kernel_stack" => Role::Stack,
            _ => Role::Independent,
        };
        Merge {
            roles: setup.decoder.kinds().iter().map(role).collect(),
            streams,
            setup,
            options,
            memory: Memory {
                options: look.functions,
                ..Memory::default()
            },
            is_last_wanted: FxHashMap::default(),
            callers: Callers::default(),
            look,
            current: 0,
            limit: None,
            scratch: Vec::new(),
        }
    }

    /// The stream with the earliest record; the first of several.
    fn earliest(&mut self) -> Option<(usize, Head)> {
        if let (Some((time, stream)), Some(head)) = (
            self.limit,
            self.streams.get(self.current).and_then(Stream::head),
        ) && (head.time, self.current) < (time, stream)
        {
            return Some((self.current, head));
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
        Some((index, head))
    }

    /// The stream with the earliest record of one buffer.
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
        batch.is_serial = matches!(self.look.style, Style::Raw(_));
        while batch.lines.len() < BATCH_LINES {
            let Some((index, head)) = self.earliest() else {
                return;
            };
            self.take(index, head, batch);
        }
    }

    /// Copies the next record of a stream into the batch.
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
        let mut is_wanted = self.is_wanted(cpu, head.time);
        if self.options.only.is_some() {
            let is_chosen = match role {
                Role::Stack if !stream.is_chosen() => {
                    self.is_last_wanted.get(&index).copied().unwrap_or(false)
                }
                _ => stream.is_chosen(),
            };
            is_wanted &= is_chosen;
            if role != Role::Stack {
                self.is_last_wanted.insert(index, is_chosen);
            }
        }
        let start = batch.bytes.len();
        let name = match pid {
            0 => &b"<idle>"[..],
            _ => self
                .setup
                .threads
                .name(pid)
                .or_else(|| self.memory.learned.get(&pid).map(|name| &**name))
                .unwrap_or(b"<...>"),
        };
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
        if role == Role::Call {
            self.take_return(&mut line, batch, kind, buffer);
        }
        if is_wanted {
            batch.lines.push(line);
        } else {
            batch.bytes.truncate(start);
        }
    }

    /// Remembers the names in a record of the scheduler.
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

    /// Takes the next record too if it is the return from the call that `line` is.
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
            // Another stream may have moved: look at all again.
            self.limit = None;
        }
    }
}
