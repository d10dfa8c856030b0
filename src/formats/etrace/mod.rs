//! etrace: the text that the build tracer of Samsung's CAS ("Build Awareness Service") writes, file name `.nfsdb`.
//!
//! ```text
//! INITCWD=<directory>                                       first line; not in per-CPU part files
//! 0: upid,cpu,seconds,nanoseconds!TAG|key=number,...        a call (`line`)
//! 0: upid,cpu,seconds,nanoseconds!TAG|text                  a text of the preceding call of the same task (`calls`)
//! CPU:n [LOST m EVENTS]                                     a gap; [LOST EVENTS] if the count is unknown
//! ```
//!
//! Specification: the tracer's description in the CAS project, and the output of its kernel module: where the two
//! differ, files follow the module. Lines of different tasks interleave freely, so the text is cut at line ends and
//! each part (`bulk`) assigns its lines to tasks (`emit`). `around` handles calls that cross a cut, `seconds` caches
//! common line starts, `order` and `jumbled` handle lines out of order, and `lost_pairs` halves of calls that may not
//! belong together. Keys of tasks come from `upids`; `describe` decodes any single call again in full.
//!
//! The clock is the kernel's CLOCK_MONOTONIC in ns. The file does not contain thread groups (only the old clone call
//! shows that a task is a thread), signals, failed execs, and what happens between lines.

mod around;
mod bulk;
mod calls;
mod describe;
mod digits;
mod embedded;
mod emit;
mod environment;
mod file;
mod head;
mod jumbled;
mod kinds;
mod line;
mod lines;
mod lost_pairs;
mod order;
mod outliers;
mod parts;
mod rows;
mod seconds;
mod sniff;
mod sorts;
#[cfg(test)]
mod tests;
mod upids;
mod values;
mod words;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::base::{Diagnostics, Job, Nanos, ReadError, TimeSpan, Timestamp};
use crate::event::keys::{Derive, OpenPaths, Unseen};
use crate::event::{Coarse, DecodedEvent, Directory, Lane, LaneColumns, Need, Part, TraceInfo};
use crate::formats::format::Together;
use crate::formats::stream::in_one_lane;
use crate::formats::text_end::note_cut_line;
use crate::formats::{EventRef, Events, Format, Gathered, IndependentParts, Input, Recording};

use file::File;
use head::{HEAD_BYTES, Head};
use jumbled::Jumbled;
use kinds::Kinds;
use lines::{events_after, lines_before};
use parts::Pieces;
use sorts::Sort;
use upids::{Form, Upids};

pub(crate) use embedded::{Found, Lines};
pub(crate) use line::{parse_line, parse_payload};

/// This format's row in `FORMATS`.
pub const FORMAT: Format = Format {
    name: "etrace (CAS build tracer)",
    extensions: &["etrace", "nfsdb"],
    sniff: sniff::sniff,
    open,
    together: Some(Together {
        are_parts: parts::are_parts,
        open: open_together,
    }),
};

const PART_BYTES: usize = 4 << 20;

fn open(input: Input, _job: &Job) -> Result<Recording, ReadError> {
    Ok(EtraceReader::open(input, PART_BYTES).recording())
}

/// Opens the per-CPU files of one recording as one trace.
fn open_together(inputs: Vec<Input>, job: &Job) -> Result<Recording, ReadError> {
    let (text, pieces) = parts::merge(inputs, job)?;
    let merged = Input::from_vec(text, "parts of a recording");
    let mut reader = EtraceReader::open(merged, PART_BYTES);
    for (number, name) in pieces.names().enumerate() {
        let fact = (format!("file {}", number + 1), name.to_owned());
        reader.info.facts.push(fact);
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
        let seams = file::cut(text, part_bytes);
        let cuts: Vec<usize> = seams.iter().map(|seam| seam.cut).collect();
        let head = Head::of(text);
        let mut diagnostics = Diagnostics::default();
        note_cut_line(text, &mut diagnostics);
        let mut facts = Vec::new();
        if let Some(place) = head.directory {
            let (start, end) = place.directory;
            let directory = text.get(start..end).unwrap_or(&[]);
            facts.push(("started in".to_owned(), words::text(directory)));
        }
        let ids = match head.form {
            Form::SerialAndPid => "serial number and pid",
            Form::Plain => "plain numbers",
        };
        facts.push(("task ids".to_owned(), ids.to_owned()));
        let info = TraceInfo {
            format: "etrace".to_owned(),
            clock: "mono".to_owned(),
            facts,
            ..TraceInfo::default()
        };
        let parts: Vec<Part> = cuts
            .windows(2)
            .map(|cut| Part {
                size_bytes: (cut[1] - cut[0]) as u64,
            })
            .collect();
        EtraceReader {
            file: File {
                input,
                head,
                upids: Upids::new(head.form, head.root),
                kinds: Kinds::default(),
                cuts,
                seams,
                line_counts: file::LineCounts::new(parts.len()),
                environments: AtomicU64::new(u64::MAX),
                pieces: None,
                jumbled: Jumbled::default(),
                numbers: None,
                is_copy,
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
            coarse: reader.coarse(),
            diagnostics: reader.diagnostics.clone(),
            stream: reader.clone(),
            events: reader,
            report: None,
        }
    }

    fn coarse(&self) -> Coarse {
        let text = self.file.text();
        let mut density: Vec<(u32, Timestamp, u32)> = self
            .file
            .cuts
            .windows(2)
            .filter_map(|cut| {
                let (line, _) = events_after(text, cut[0], HEAD_BYTES).next()?;
                let size = u32::try_from(cut[1] - cut[0]).unwrap_or(u32::MAX);
                Some((0, Timestamp(line.time), size))
            })
            .collect();
        density.sort_by_key(|entry| entry.1);
        let last = lines_before(text, text.len(), HEAD_BYTES)
            .filter_map(|(line, _)| parse_line(line))
            .map(|line| Timestamp(line.time))
            .take(100)
            .max();
        let first = density.first().map_or(Timestamp(0), |entry| entry.1);
        let end = density.last().map(|entry| entry.1).max(last);
        let end = end.unwrap_or(first).saturating_add(Nanos(1));
        Coarse {
            span: TimeSpan::new(first, end),
            density,
        }
    }

    fn settle(&self, parts: &mut [&mut LaneColumns]) -> Diagnostics {
        let mut diagnostics = lost_pairs::doubt_forks(parts, 0, Kinds::of_sort(Sort::SysClone));
        let location = |place: u64| self.file.location(place);
        let renames = lost_pairs::doubt_renames(parts, 0, &|kind| kind, &location);
        diagnostics.merge(renames);
        diagnostics
    }

    fn directory(&self) -> Directory {
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
        environment::list_into(&self.file, &mut directory);
        self.file.upids.list_into(&mut directory);
        directory
    }
}

impl IndependentParts for EtraceReader {
    type Read = LaneColumns;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn read(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let index = part as usize;
        let cuts = &self.file.cuts;
        let (Some(&start), Some(&end)) = (cuts.get(index), cuts.get(index + 1)) else {
            return Ok(LaneColumns::new(0));
        };
        bulk::read(&self.file, index, (start, end), job)
    }

    fn gather(&self, mut read: Vec<(u32, LaneColumns)>, _job: &Job) -> Result<Gathered, ReadError> {
        let mut columns: Vec<&mut LaneColumns> = read.iter_mut().map(|(_, read)| read).collect();
        let diagnostics = self.settle(&mut columns);
        Ok(Gathered {
            parts: in_one_lane(read),
            lanes: self.lanes.clone(),
            directory: self.directory(),
            info: self.info.clone(),
            diagnostics,
        })
    }
}

impl Events for EtraceReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        describe::decode(&self.file, event, need, decoded);
    }

    fn memory_bytes(&self) -> u64 {
        let pieces = self.file.pieces.as_ref();
        let copied = match self.file.is_copy {
            true => self.file.text().len() as u64,
            false => 0,
        };
        self.file.upids.memory_bytes() + pieces.map_or(0, Pieces::memory_bytes) + copied
    }
}
