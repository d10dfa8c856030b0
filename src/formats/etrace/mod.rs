//! etrace: the files that the build tracer of Samsung's CAS ("Build Awareness Service") writes, file name `.nfsdb`.
//!
//! [`etrace_lines`](super::etrace_lines) reads the lines; this module contains the files: their heads, their detection,
//! and the per-CPU files of one recording.
//!
//! The clock is the kernel's CLOCK_MONOTONIC in ns.

mod sniff;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::base::column::store_inside;
use crate::base::{Diagnostics, Job, Nanos, ReadError, TimeSpan, Timestamp};
use crate::event::keys::{Derive, OpenPaths, Unseen};
use crate::event::{
    Coarse, DecodedEvent, DensitySample, Directory, Fact, Lane, Need, Part, TraceInfo,
};
use crate::formats::etrace_lines::environment::Environments;
use crate::formats::etrace_lines::file::{self, File, PART_BYTES};
use crate::formats::etrace_lines::gather::assemble;
use crate::formats::etrace_lines::head::{HEAD_BYTES, Head};
use crate::formats::etrace_lines::lines::{events_after, lines_before};
use crate::formats::etrace_lines::parts::{self, Merged};
use crate::formats::etrace_lines::tokens::{Tokens, tokenise};
use crate::formats::etrace_lines::upids::{Form, Upids};
use crate::formats::etrace_lines::{describe, parse_line, words};
use crate::formats::format::Together;
use crate::formats::stream::{KeptFacts, PartRead, in_one_lane};
use crate::formats::text_end::note_cut_line;
use crate::formats::{EventRef, Events, Format, Gathered, IndependentParts, Input, Recording};
use crate::trace::Trace;

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "etrace (CAS build tracer)",
    extensions: &["etrace", "nfsdb"],
    sniff: sniff::sniff,
    read_head: open,
    together: Some(Together {
        are_parts: parts::are_parts,
        open: open_together,
    }),
    wrapped: None,
    may_be_self_trace: false,
};

fn open(input: Input, _job: &Job) -> Result<Recording, ReadError> {
    Ok(EtraceReader::open(input, PART_BYTES).recording())
}

/// Opens the per-CPU files of one recording as one trace.
fn open_together(inputs: Vec<Input>, job: &Job) -> Result<Recording, ReadError> {
    let Merged { text, pieces } = parts::merge(inputs, job)?;
    let merged = Input::from_vec(text, "parts of a recording");
    let mut reader = EtraceReader::open(merged, PART_BYTES);
    for (number, name) in pieces.names().enumerate() {
        let title = format!("file {}", number + 1);
        reader.info.facts.push(Fact::new(title, name));
    }
    reader.file.pieces = Some(pieces);
    reader.file.is_copy = true;
    Ok(reader.recording())
}

/// An opened etrace file.
#[derive(Debug)]
struct EtraceReader {
    file: File,
    info: TraceInfo,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
    diagnostics: Diagnostics,
}

impl EtraceReader {
    fn open(input: Input, part_bytes: usize) -> EtraceReader {
        let copy = file::with_plain_ends(&input);
        let is_copy = copy.is_some();
        let input = copy.unwrap_or(input);
        let text = input.bytes();
        let cuts = file::cut(text, part_bytes);
        let head = Head::of(text);
        let mut diagnostics = Diagnostics::default();
        note_cut_line(text, &mut diagnostics);
        let mut facts = Vec::new();
        if let Some(place) = head.directory {
            let (start, end) = place.directory;
            let directory = text.get(start..end).unwrap_or(&[]);
            facts.push(Fact::new("started in", words::text(directory)));
        }
        let ids = match head.form {
            Form::SerialAndPid => "serial number and pid",
            Form::Plain => "plain numbers",
        };
        facts.push(Fact::new("task ids", ids));
        let info = TraceInfo {
            format: "etrace".to_owned(),
            clock: "mono".to_owned(),
            facts,
            ..TraceInfo::default()
        };
        let parts: Vec<Part> = cuts
            .windows(2)
            .map(|cut| Part {
                start: cut[0] as u64,
                size_bytes: (cut[1] - cut[0]) as u64,
            })
            .collect();
        EtraceReader {
            file: File {
                head,
                is_copy,
                ..File::new(input, cuts, Upids::new(head.form, head.root))
            },
            info,
            lanes: vec![Lane {
                name: "etrace lines".to_owned(),
                cpu: None,
            }],
            parts,
            diagnostics,
        }
    }
}

impl EtraceReader {
    fn recording(self) -> Recording {
        let reader = Arc::new(self);
        Recording {
            info: reader.info.clone(),
            lanes: reader.lanes.clone(),
            diagnostics: reader.diagnostics.clone(),
            stream: reader.clone(),
            events: reader,
            report: None,
            instead: None,
        }
    }

    fn directory(&self, environments: &Environments) -> Directory {
        let mut directory = Directory {
            derive: Derive::Programs,
            opens: OpenPaths::Resolved,
            unseen: match self.file.head.directory {
                Some(_) => Unseen::NewButRoot(self.file.head.root.map_or(0, |root| root as u64)),
                None => Unseen::NumbersRise,
            },
            ..Directory::default()
        };
        directory.kinds = self.file.kinds.list(&mut directory.strings);
        environments.list_into(&self.file.upids, &mut directory);
        self.file.upids.list_into(&mut directory);
        directory
    }
}

impl IndependentParts for EtraceReader {
    type Read = Tokens;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn coarse(&self) -> Coarse {
        let text = self.file.text();
        let mut density: Vec<DensitySample> = self
            .file
            .cuts
            .windows(2)
            .filter_map(|cut| {
                let line = events_after(text, cut[0], HEAD_BYTES).next()?.line;
                let bytes = (cut[1] - cut[0]) as u64;
                Some(DensitySample::new(0, Timestamp(line.time), bytes))
            })
            .collect();
        density.sort_by_key(|sample| sample.time);
        let last = lines_before(text, text.len(), HEAD_BYTES)
            .filter_map(|it| parse_line(it.line))
            .map(|line| Timestamp(line.time))
            .take(100)
            .max();
        let first = density.first().map_or(Timestamp(0), |sample| sample.time);
        let end = density.last().map(|sample| sample.time).max(last);
        let end = end.unwrap_or(first).saturating_add(Nanos(1));
        Coarse {
            span: TimeSpan::new(first, end),
            density,
        }
    }

    fn read(&self, part: u32, job: &Job) -> Result<Tokens, ReadError> {
        tokenise(&self.file, part as usize, job)
    }

    fn gather(&self, read: Vec<PartRead<Tokens>>, job: &Job) -> Result<Gathered, ReadError> {
        let tokens = read.into_iter().map(|part| part.read).collect();
        let assembled = assemble(&self.file, tokens, &[], self.parts.len(), job)?;
        let parts = (0..).zip(assembled.parts);
        let parts = parts.map(|(part, read)| PartRead { part, read });
        Ok(Gathered {
            parts: in_one_lane(parts.collect()),
            lanes: self.lanes.clone(),
            directory: self.directory(&assembled.environments),
            info: self.info.clone(),
            diagnostics: assembled.doubts,
            inside: Vec::new(),
        })
    }

    fn facts(&self) -> Option<Vec<u8>> {
        store_inside(self.file.order.get()?).ok()
    }

    fn take_facts(&self, facts: &KeptFacts, _trace: &Trace) -> Option<()> {
        self.file.order.set(facts.restored()?).ok()
    }
}

impl Events for EtraceReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        describe::decode(&self.file, event, need, decoded);
    }

    fn memory_bytes(&self) -> u64 {
        self.file.memory_bytes()
    }
}
