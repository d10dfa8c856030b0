//! A whole trace as `trace-cmd report` prints it: streams of records in, lines in time order out.
//!
//! ```text
//!         comm-PID   [CPU] flags     time: NAME:                info
//!  %16s   -%-5d     [%03d] 5     %5u.%09u:  padded to 20
//! ```
//!
//! The streams are merged by one thread, which copies the records of a few thousand lines into a [`Batch`];
//! the lines of the batch before are made by the other threads meanwhile. What a line needs to know of those
//! before it (names learned from sched_switch, calls that return at once) is settled while merging.

use std::io::{Error, ErrorKind, Write};

use super::decoder::{Decoder, Memory, Raw, Style};
use super::plugins::{Times, pad_left, push_time};
use super::print_fmt::Addresses;
use super::print_fmt::printf::{push_decimal, push_hex, push_many, push_signed};
use crate::base::Job;
use crate::formats::format::ReportOptions;

/// How many lines are made at a time.
const BATCH_LINES: usize = 16_384;

/// How many of them one thread makes at a time.
const CHUNK_LINES: usize = 2_048;

/// Where a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Time of the next record on the printed clock.
    pub time: u64,
    /// Events lost before it.
    pub lost: Lost,
}

/// Whether events were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lost {
    /// No.
    #[default]
    None,
    /// That many.
    Known(u64),
    /// Nobody counted them.
    Unknown,
}

/// The records of one CPU of one buffer, in order.
pub trait Stream: Send {
    /// The next record's time; `None` at the end.
    fn head(&self) -> Option<Head>;
    /// The next record's bytes.
    fn record(&self) -> &[u8];
    /// Goes on to the record after it.
    fn advance(&mut self);
    /// The CPU.
    fn cpu(&self) -> u32;
    /// Index into [`Setup::buffers`].
    fn buffer(&self) -> usize;
}

/// A buffer: the trace itself, or an instance.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What its lines begin with.
    pub prefix: Vec<u8>,
    /// How its times are printed.
    pub times: Times,
}

/// Who is who.
pub trait ThreadNames {
    /// The name of thread `pid`.
    fn name(&self, pid: i32) -> Option<&[u8]>;
}

/// All that stays the same for every line.
pub struct Setup<'a> {
    /// Decodes the events.
    pub decoder: &'a Decoder,
    /// The names of threads, as the file has them.
    pub threads: &'a (dyn ThreadNames + Sync),
    /// The buffers, in the order in which equal times are printed.
    pub buffers: Vec<Buffer>,
    /// What `trace-cmd record -H` was told: each becomes a line before all others.
    pub hooks: Vec<Vec<u8>>,
    /// The number in the line after them.
    pub cpu_count: u32,
}

/// What becomes of the options that the user gave.
#[derive(Clone, Copy, Debug)]
struct Look {
    style: Style,
    has_flags: bool,
}

/// Prefixes of lines: blanks for the trace itself (an empty name), `name: ` for instances. None if there
/// are no instances.
#[must_use]
pub fn prefixes(names: &[&[u8]]) -> Vec<Vec<u8>> {
    if names.iter().all(|name| name.is_empty()) {
        return vec![Vec::new(); names.len()];
    }
    let width = names.iter().map(|name| name.len()).max().unwrap_or(0);
    let prefix = |name: &&[u8]| {
        let mut prefix = vec![b' '; width - name.len()];
        prefix.extend_from_slice(name);
        prefix.extend_from_slice(if name.is_empty() { b"  " } else { b": " });
        prefix
    };
    names.iter().map(prefix).collect()
}

/// Writes the report of `streams` (in the order in which equal times are printed).
///
/// # Errors
/// Those of `out`; `Interrupted` if the job is cancelled.
pub fn write_report<S: Stream>(
    streams: Vec<S>,
    setup: &Setup<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
    job: &Job,
) -> std::io::Result<()> {
    for hook in &setup.hooks {
        out.write_all(&hook_line(hook))?;
    }
    writeln!(out, "cpus={}", setup.cpu_count)?;
    let look = Look {
        style: match (options.is_raw, options.is_plain) {
            (true, _) if options.has_no_flags => Style::Raw(Addresses::Named),
            (true, _) => Style::Raw(Addresses::Shown),
            (_, true) => Style::Plain,
            _ => Style::Plugins,
        },
        has_flags: !options.has_no_flags,
    };
    let mut merge = Merge::new(streams, setup, options, look);
    let mut ready = Batch::default();
    let mut filling = Batch::default();
    let mut memory = Memory::default();
    merge.fill(&mut ready);
    while !ready.lines.is_empty() {
        if job.check().is_err() {
            return Err(Error::from(ErrorKind::Interrupted));
        }
        if ready.is_serial {
            let mut text = Vec::new();
            for line in &ready.lines {
                push_line(&mut text, &ready, line, setup, look, &mut memory);
            }
            out.write_all(&text)?;
            merge.fill(&mut filling);
        } else {
            let mut texts = Vec::new();
            texts.resize_with(ready.lines.len().div_ceil(CHUNK_LINES), Vec::new);
            rayon::in_place_scope(|scope| {
                for (lines, text) in ready.lines.chunks(CHUNK_LINES).zip(&mut texts) {
                    let batch = &ready;
                    scope.spawn(move |_| {
                        text.reserve(lines.len() * 128);
                        let mut memory = Memory::default();
                        for line in lines {
                            push_line(text, batch, line, setup, look, &mut memory);
                        }
                    });
                }
                merge.fill(&mut filling);
            });
            for text in &texts {
                out.write_all(text)?;
            }
        }
        std::mem::swap(&mut ready, &mut filling);
    }
    Ok(())
}

/// `sched_wakeup,pid/sched_switch,next_pid`, as trace-cmd repeats it: start and end, each
/// `system:event,field,pid field`, of which all but the event may be missing.
fn hook_line(hook: &[u8]) -> Vec<u8> {
    let hook = hook.split(|&byte| byte == 0).next().unwrap_or(&[]);
    let mut ends = hook.splitn(2, |&byte| byte == b'/');
    let mut line = Vec::new();
    for label in ["start ", " end "] {
        let end = ends.next().unwrap_or(&[]);
        let mut parts = end.splitn(3, |&byte| byte == b',');
        let event = parts.next().unwrap_or(&[]);
        let (system, event) = match memchr::memchr(b':', event) {
            Some(colon) => (event.get(..colon), event.get(colon + 1..)),
            None => (None, Some(event)),
        };
        let null = b"(null)";
        line.extend_from_slice(label.as_bytes());
        line.extend_from_slice(system.unwrap_or(null));
        line.push(b':');
        line.extend_from_slice(event.unwrap_or(null));
        line.push(b':');
        line.extend_from_slice(parts.next().unwrap_or(null));
        line.extend_from_slice(b" (");
        line.extend_from_slice(parts.next().unwrap_or(null));
        line.push(b')');
    }
    line.push(b'\n');
    line
}

/// The records of some thousand lines.
#[derive(Debug, Default)]
struct Batch {
    /// For each line: the thread's name, the record, and the record that is shown with it.
    bytes: Vec<u8>,
    lines: Vec<Line>,
    /// Whether its lines must be made one after the other.
    is_serial: bool,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    name_length: u32,
    record_length: u32,
    next_length: u32,
    kind: Option<u16>,
    buffer: u16,
    cpu: u32,
    pid: i32,
    time: u64,
    lost: Lost,
}

/// Takes the earliest record of all streams, again and again.
struct Merge<'a, S> {
    streams: Vec<S>,
    setup: &'a Setup<'a>,
    options: &'a ReportOptions,
    /// Names that the file does not have, from sched_switch and sched_wakeup.
    memory: Memory,
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
}

impl<'a, S: Stream> Merge<'a, S> {
    fn new(
        streams: Vec<S>,
        setup: &'a Setup<'a>,
        options: &'a ReportOptions,
        look: Look,
    ) -> Merge<'a, S> {
        let role = |kind: &super::decoder::Kind| match kind.plugin {
            Some(plugin) if look.style == Style::Plugins => match plugin.event {
                "sched_switch" | "sched_wakeup" | "sched_wakeup_new" => Role::Names,
                "function" | "func_repeats" => Role::Function,
                "funcgraph_entry" | "funcgraph_retaddr_entry" => Role::Call,
                _ => Role::Independent,
            },
            _ => Role::Independent,
        };
        Merge {
            roles: setup.decoder.kinds().iter().map(role).collect(),
            streams,
            setup,
            options,
            memory: Memory::default(),
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
        (options.cpus.is_empty() || options.cpus.contains(&cpu))
            && options.from.is_none_or(|from| time >= from.0)
            && options.until.is_none_or(|until| time < until.0)
    }

    fn fill(&mut self, batch: &mut Batch) {
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
        let is_wanted = self.is_wanted(cpu, head.time);
        let kind = decoder.kind_of(record);
        let pid = decoder.pid_of(record);
        let role = kind
            .and_then(|kind| self.roles.get(kind))
            .copied()
            .unwrap_or(Role::Independent);
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
        };
        match (role, kind) {
            (Role::Names, Some(kind)) => self.learn(index, kind),
            (Role::Function, _) => batch.is_serial = true,
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

fn push_line(
    out: &mut Vec<u8>,
    batch: &Batch,
    line: &Line,
    setup: &Setup<'_>,
    look: Look,
    memory: &mut Memory,
) {
    let decoder = setup.decoder;
    let bytes = batch.bytes.get(line.start..).unwrap_or(&[]);
    let (name, rest) = bytes
        .split_at_checked(line.name_length as usize)
        .unwrap_or_default();
    let (record, rest) = rest
        .split_at_checked(line.record_length as usize)
        .unwrap_or_default();
    let next = rest.get(..line.next_length as usize).unwrap_or(&[]);
    let buffer = setup.buffers.get(usize::from(line.buffer));
    if let Some(buffer) = buffer {
        out.extend_from_slice(&buffer.prefix);
    }
    let times = buffer.map_or(Times::Nanoseconds, |buffer| buffer.times);
    push_lost(out, line);
    let Some(kind) = line.kind else {
        let unknown = b"[UNKNOWN EVENT]";
        for _ in 0..if look.has_flags && look.style == Style::Plugins {
            3
        } else {
            2
        } {
            out.extend_from_slice(unknown);
        }
        out.extend_from_slice(b" (NULL):               ");
        out.extend_from_slice(unknown);
        out.push(b'\n');
        return;
    };
    let start = out.len();
    push_many(out, b' ', 16_usize.saturating_sub(name.len()));
    out.extend_from_slice(name);
    out.push(b'-');
    let pid_start = out.len();
    push_signed(out, i64::from(line.pid));
    let pid_length = out.len() - pid_start;
    push_many(out, b' ', 5_usize.saturating_sub(pid_length));
    out.extend_from_slice(b" [");
    push_many(
        out,
        b'0',
        usize::from(line.cpu < 100) + usize::from(line.cpu < 10),
    );
    push_decimal(out, u64::from(line.cpu));
    out.push(b']');
    if look.has_flags {
        if matches!(look.style, Style::Raw(_)) {
            out.extend_from_slice(b"-0x");
            push_hex(out, decoder.flags_of(record));
        } else {
            out.push(b' ');
            decoder.push_flags(out, record);
        }
    }
    if times == Times::Counts {
        let start = out.len();
        push_decimal(out, line.time);
        pad_left(out, start, 12);
    } else {
        out.push(b' ');
        push_time(out, line.time, times);
    }
    out.extend_from_slice(b": ");
    let name = decoder
        .kinds()
        .get(usize::from(kind))
        .map_or("", |kind| kind.format.name.as_str());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    push_many(out, b' ', 20_usize.saturating_sub(name.len()));
    let raw = Raw {
        record,
        cpu: line.cpu,
        time: line.time,
        next: (!next.is_empty()).then_some(next),
    };
    decoder.push_info(out, usize::from(kind), raw, look.style, times, memory);
    // A text ends at its first NUL, and one line end is cut off.
    if let Some(text) = out.get(start..)
        && let Some(length) = memchr::memchr(0, text)
    {
        out.truncate(start + length);
    } else if out.last() == Some(&b'\n') {
        out.pop();
    }
    out.push(b'\n');
}

fn push_lost(out: &mut Vec<u8>, line: &Line) {
    let count = match line.lost {
        Lost::None => return,
        Lost::Known(count) => Some(count),
        Lost::Unknown => None,
    };
    out.extend_from_slice(b"CPU:");
    push_decimal(out, u64::from(line.cpu));
    out.extend_from_slice(b" [");
    if let Some(count) = count {
        push_decimal(out, count);
        out.push(b' ');
    }
    out.extend_from_slice(b"EVENTS DROPPED]\n");
}
