//! Prints a text in the layout of `trace-cmd report`: one line for each line of the text.
//!
//! ```text
//! instance: %16s-%-5d [(tgid)] [%03d] flags %5u.%06u: [(+step)] NAME:  padded to 20  info
//! ```
//!
//! Lines keep their order. Contents that trace-cmd would not print (the process, forms of tracers) are kept, with
//! trace-cmd's names for such events. A function graph without tasks or times keeps the kernel's layout, because
//! trace-cmd's columns cannot be filled. Comments are omitted.

use std::io::{Error, ErrorKind, Write};

use rayon::prelude::*;

use super::emit::CpuColumns;
use super::event_lines::{EventLine, LineKind, event_lines};
use super::facts::Layout;
use super::graph;
use super::reader::{Block, FtraceReader};
use super::summary::{BlockStart, Shape, Whole};
use super::tasks::tracer_text;
use super::tracers::tracer_event;
use crate::base::Job;
use crate::formats::EventRef;
use crate::formats::ftrace_line::flags::Flags;
use crate::formats::ftrace_line::line::{Body, Plain, classify, repeats};
use crate::formats::ftrace_line::prefix::{Group, Prefix};
use crate::formats::ftrace_line::report_layout::{
    COUNT_WIDTH, EVENT_WIDTH, PID_WIDTH, STEP_WIDTH, TASK_WIDTH, push_dropped, push_event_name,
    push_padding,
};
use crate::formats::report::{Report, ReportOptions, Wrote};

impl Report for FtraceReader {
    fn write(
        &self,
        options: &ReportOptions,
        out: &mut dyn Write,
        job: &Job,
    ) -> std::io::Result<()> {
        let interrupted = || Error::from(ErrorKind::Interrupted);
        let (starts, whole) = self.facts_first(job).map_err(|_| interrupted())?;
        let cpus = self.info.cpu_count.unwrap_or(whole.cpus.len() as u32);
        writeln!(out, "cpus={cpus}")?;
        let layout = TextLayout {
            options,
            shape: whole.shape,
        };
        let starts: Vec<(u32, BlockStart)> = (0..).zip(starts).collect();
        for starts in starts.chunks(rayon::current_num_threads().max(1)) {
            let texts: Vec<Vec<u8>> = starts
                .par_iter()
                .map(|(part, start)| {
                    job.check().map_err(|_| interrupted())?;
                    let block = self.block(*part, start, &whole);
                    let times = self.graph_times(&block, &layout, &whole, job)?;
                    let text = self.block_text(&block, &layout, &times);
                    job.advance(block.range.len() as u64);
                    Ok(text)
                })
                .collect::<std::io::Result<_>>()?;
            for text in texts {
                out.write_all(&text)?;
            }
        }
        Ok(())
    }

    fn write_event(
        &self,
        event: EventRef,
        options: &ReportOptions,
        out: &mut dyn Write,
    ) -> std::io::Result<Wrote> {
        if self.etrace_of(event).is_some() {
            return Ok(Wrote::Nothing);
        }
        let start = usize::try_from(event.place).unwrap_or(usize::MAX);
        let text = self.input.bytes().get(start..).unwrap_or(&[]);
        let layout = TextLayout {
            options,
            shape: self.shape(),
        };
        let mut made = Vec::new();
        for (number, EventLine { line, kind }) in event_lines(text, 1, 1, &self.facts).enumerate() {
            match kind {
                LineKind::Continues | LineKind::Other(Plain::Frame) => {}
                _ if number == 0 => {}
                _ => break,
            }
            self.push_line(&mut made, line.bytes, kind, &layout);
        }
        out.write_all(&made)?;
        Ok(Wrote::Line)
    }
}

/// Layout of the report's lines.
struct TextLayout<'a> {
    options: &'a ReportOptions,
    /// The columns of the text's lines.
    shape: Shape,
}

/// Selection of lines.
struct Wanted<'a> {
    options: &'a ReportOptions,
    /// Whether the previous event was selected: stack frames and continuation lines belong to it.
    is_last: bool,
}

impl Wanted<'_> {
    fn cpu(&self, cpu: u32) -> bool {
        self.options.cpus.contains(cpu)
    }

    fn time(&self, time: i64) -> bool {
        let is_after = self.options.from.is_none_or(|from| time >= from.0);
        is_after && self.options.until.is_none_or(|until| time < until.0)
    }

    fn event(&mut self, cpu: u32, time: i64) -> bool {
        self.is_last = self.cpu(cpu) && self.time(time);
        self.is_last
    }
}

/// The time of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LineTime {
    /// The line's offset in the file, in bytes.
    offset: u64,
    /// Its time in ns.
    time: i64,
}

impl FtraceReader {
    fn block_text(&self, block: &Block, layout: &TextLayout<'_>, times: &[LineTime]) -> Vec<u8> {
        let text = self.input.bytes().get(block.range.clone()).unwrap_or(&[]);
        let mut out = Vec::with_capacity(text.len() + text.len() / 8);
        let mut wanted = Wanted {
            options: layout.options,
            is_last: true,
        };
        if block.first_line > 1 {
            wanted.event(block.last.cpu, block.last.printed());
        }
        if self.facts.layout == Layout::Graph {
            self.push_graph(&mut out, text, times, layout, &mut wanted);
            return out;
        }
        let mut now = block.last.printed();
        for EventLine { line, kind } in event_lines(text, 1, block.range.start as u64, &self.facts)
        {
            let is_wanted = match kind {
                LineKind::Event(prefix) => {
                    now = prefix.time;
                    wanted.event(prefix.cpu, now)
                }
                LineKind::Continues => wanted.is_last,
                LineKind::Other(Plain::Silent | Plain::Started(_)) => false,
                LineKind::Other(Plain::Lost(cpu, _)) => wanted.cpu(cpu) && wanted.time(now),
                LineKind::Graph(_) | LineKind::Other(_) => wanted.is_last,
            };
            if is_wanted {
                self.push_line(&mut out, line.bytes, kind, layout);
            }
        }
        out
    }

    /// Returns the time of each line of a graph, sorted by offset; empty unless `options` select a time range.
    fn graph_times(
        &self,
        block: &Block,
        layout: &TextLayout<'_>,
        whole: &Whole,
        job: &Job,
    ) -> std::io::Result<Vec<LineTime>> {
        let options = layout.options;
        let is_asked = options.from.is_some() || options.until.is_some();
        if !is_asked || self.facts.layout != Layout::Graph {
            return Ok(Vec::new());
        }
        let read = self
            .read_block(0, block, whole, job)
            .map_err(|_| Error::from(ErrorKind::Interrupted))?;
        let mut times: Vec<LineTime> = (read.columns)
            .iter()
            .flat_map(|CpuColumns { columns, .. }| {
                (0..columns.events.len() as u32).map(|event| {
                    let row = columns.events.row(event);
                    LineTime {
                        offset: row.place,
                        time: row.time.0,
                    }
                })
            })
            .collect();
        times.sort_unstable();
        Ok(times)
    }

    fn push_graph(
        &self,
        out: &mut Vec<u8>,
        text: &[u8],
        times: &[LineTime],
        layout: &TextLayout<'_>,
        wanted: &mut Wanted<'_>,
    ) {
        for EventLine { line, kind } in event_lines(text, 1, 0, &self.facts) {
            let time = || {
                let at = times.partition_point(|row| row.offset < line.offset);
                let row = times.get(at).or(times.last());
                row.map_or(0, |row| row.time)
            };
            let is_wanted = match kind {
                LineKind::Graph(found) => wanted.event(found.cpu, time()),
                LineKind::Event(prefix) => wanted.event(prefix.cpu, time()),
                LineKind::Other(Plain::Lost(cpu, _)) => wanted.cpu(cpu) && wanted.time(time()),
                LineKind::Other(Plain::Silent | Plain::Started(_)) => false,
                LineKind::Other(_) | LineKind::Continues => wanted.is_last,
            };
            if is_wanted {
                self.push_line(out, line.bytes, kind, layout);
            }
        }
    }

    /// Appends a line in the report's layout.
    fn push_line(
        &self,
        out: &mut Vec<u8>,
        line: &[u8],
        kind: LineKind<'_>,
        layout: &TextLayout<'_>,
    ) {
        let graph_line = match kind {
            LineKind::Graph(found) if layout.shape.has_graph_columns => Some(found),
            _ => None,
        };
        // The task column already shows the switch.
        if graph_line.is_some_and(|line| {
            graph::switched(line.rest).is_some() && graph::step(line.rest).is_none()
        }) {
            return;
        }
        let prefix = match graph_line.and_then(|line| Some((line, line.time?, line.task?))) {
            Some((found, time, task)) => Some(found.prefix(task, time, found.rest)),
            None => match kind {
                LineKind::Event(prefix) => Some(prefix),
                _ => None,
            },
        };
        match (prefix, kind) {
            (Some(prefix), _) => {
                self.push_columns(out, &prefix, layout);
                match graph_line {
                    Some(found) => push_step(out, found.rest),
                    None => push_body(out, prefix.body),
                }
            }
            (None, LineKind::Other(Plain::Lost(cpu, count))) => {
                let name = memchr::memmem::find(line, b": CPU:")
                    .and_then(|at| line.get(..at + 2))
                    .unwrap_or(&[]);
                out.extend_from_slice(name);
                push_dropped(out, cpu, count);
            }
            (None, _) => out.extend_from_slice(line),
        }
        out.push(b'\n');
    }

    fn push_columns(&self, out: &mut Vec<u8>, prefix: &Prefix<'_>, layout: &TextLayout<'_>) {
        let TextLayout { options, shape } = layout;
        let width = shape.instance_width;
        if width > 0 {
            let name = prefix.instance;
            push_padding(out, width, name.len());
            out.extend_from_slice(name);
            out.extend_from_slice(if name.is_empty() { b"  " } else { b": " });
        }
        push_padding(out, TASK_WIDTH, prefix.comm.len());
        out.extend_from_slice(prefix.comm);
        out.extend_from_slice(format!("-{:<PID_WIDTH$} ", prefix.pid).as_bytes());
        match prefix.group {
            Group::NoColumn => {}
            Group::Unknown => out.extend_from_slice(b"(-------) "),
            Group::Is(tgid) => out.extend_from_slice(format!("({tgid:>7}) ").as_bytes()),
        }
        out.extend_from_slice(format!("[{:03}]", prefix.cpu).as_bytes());
        let letters = if options.has_no_flags {
            Vec::new()
        } else {
            self.letters(prefix.flags, options)
        };
        if !letters.is_empty() && !letters.starts_with(b"-") {
            out.push(b' ');
        }
        out.extend_from_slice(&letters);
        push_time(out, prefix, letters.len(), options);
        out.extend_from_slice(b": ");
        if shape.has_steps {
            out.extend_from_slice(prefix.step);
            push_padding(out, STEP_WIDTH, prefix.step.len());
            out.push(b' ');
        }
    }

    /// Returns the flags column.
    fn letters(&self, flags: Flags<'_>, options: &ReportOptions) -> Vec<u8> {
        let values = self.facts.legend.read(flags);
        match (flags, values.flags) {
            (_, Some(bits)) if options.is_raw => format!("-{bits:#x}").into_bytes(),
            (Flags::Letters(letters), _) => letters.to_vec(),
            (Flags::Numbers { .. }, _) => values.letters(),
        }
    }
}

/// Appends the time with all printed digits, or in microseconds.
fn push_time(out: &mut Vec<u8>, prefix: &Prefix<'_>, flag_letters: usize, options: &ReportOptions) {
    let Some(precision) = prefix.precision else {
        // trace-cmd prints no space before the time. Five flag letters can be separated from the time without a space,
        // other lengths cannot.
        if !matches!(flag_letters, 0 | 5) {
            out.push(b' ');
        }
        out.extend_from_slice(format!("{:>COUNT_WIDTH$}", prefix.time).as_bytes());
        return;
    };
    let digits = match options.has_full_times {
        true => precision.max(6),
        false => 6,
    };
    let unit = 10_i64.pow(9 - u32::from(digits.min(9)));
    let steps = prefix.time.saturating_add(unit / 2).div_euclid(unit);
    let second = 1_000_000_000 / unit;
    let (whole, part) = (steps.div_euclid(second), steps.rem_euclid(second));
    let width = usize::from(digits);
    out.extend_from_slice(format!(" {whole:>5}.{part:0width$}").as_bytes());
}

/// Returns the text after `name: ` and its padding, with its own spaces at the start (a function's depth).
fn as_it_stands<'a>(body: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = body.trim_ascii_start().strip_prefix(name)?;
    let rest = rest.strip_prefix(b": ")?;
    let padding = EVENT_WIDTH.saturating_sub(name.len());
    let is_padded = rest.iter().take(padding).all(|byte| *byte == b' ');
    match is_padded {
        true => rest.get(padding..),
        false => Some(rest),
    }
}

/// Appends the name of the event and its info.
fn push_body(out: &mut Vec<u8>, body: &[u8]) {
    let text = body.trim_ascii();
    match classify(body) {
        Body::Event(name, info) if name.starts_with(b"tracing_mark_write") => {
            push_event_name(out, &[b"print"]);
            out.extend_from_slice(b"tracing_mark_write: ");
            out.extend_from_slice(info);
        }
        Body::Event(name, info) => {
            push_event_name(out, &[name]);
            out.extend_from_slice(as_it_stands(body, name).unwrap_or(info));
        }
        Body::SysEnter(name, arguments) => {
            push_event_name(out, &[b"sys_enter_", name]);
            out.extend_from_slice(arguments);
        }
        Body::SysExit(name, result) => {
            push_event_name(out, &[b"sys_exit_", name]);
            out.extend_from_slice(result);
        }
        Body::Function(_, caller) => {
            push_event_name(
                out,
                &[match repeats(caller) {
                    Some(_) => b"func_repeats",
                    None => b"function",
                }],
            );
            out.extend_from_slice(text);
        }
        Body::Stack(_) => {
            let name: &[u8] = match text.starts_with(b"<user") {
                true => b"user_stack",
                false => b"kernel_stack",
            };
            push_event_name(out, &[name]);
            out.extend_from_slice(text);
        }
        Body::Text => {
            match (tracer_text(body), tracer_event(body)) {
                (Some(found), _) if found.is_wakeup => push_event_name(out, &[b"wakeup"]),
                (Some(_), _) => push_event_name(out, &[b"context_switch"]),
                (None, Some(found)) => push_event_name(out, &[found.event.as_bytes()]),
                (None, None) => {}
            }
            out.extend_from_slice(text);
        }
    }
}

/// Appends a step of a graph.
fn push_step(out: &mut Vec<u8>, rest: &[u8]) {
    let found = graph::step(rest).or_else(|| graph::step_without_duration(rest));
    match found.map(|found| found.step) {
        Some(graph::Step::Comment(text)) => push_body(out, text),
        Some(graph::Step::Leave(..)) => {
            push_event_name(out, &[b"funcgraph_exit"]);
            out.extend_from_slice(rest.trim_ascii_end());
        }
        Some(_) => {
            push_event_name(out, &[b"funcgraph_entry"]);
            out.extend_from_slice(rest.trim_ascii_end());
        }
        None => out.extend_from_slice(rest.trim_ascii()),
    }
}
