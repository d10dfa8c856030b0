//! etrace: the text that the build tracer of Samsung's CAS ("Build Awareness Service") writes, `.nfsdb`.
//!
//! ```text
//! INITCWD=<directory>                                       first line; not in per-CPU part files
//! 0: upid,cpu,seconds,nanoseconds!TAG|key=number,...        a call (`line`)
//! 0: upid,cpu,seconds,nanoseconds!TAG|text                  a text of the call before of the same task (`calls`)
//! CPU:n [LOST m EVENTS]                                     a hole; [LOST EVENTS] where nobody counted
//! ```
//!
//! Specification: the tracer's description in the CAS project, and what its kernel module prints: where the
//! two differ, files follow the module. Lines of different tasks interleave freely, so the text is cut at
//! line ends and each part sorts its lines out by task (`emit`); calls that reach over a cut are dealt with
//! in `around`; the starts that lines have in common in `seconds`; lines that are out of order in `order` and
//! `jumbled`; halves of calls that may be another's in `lost_pairs`. Keys of tasks come from `upids`, any call again in full from `describe`.
//!
//! The clock is the kernel's CLOCK_MONOTONIC in ns. What a file does not say: thread groups (a thread is
//! known only where the old clone call made it), signals, failed execs, and what happens between lines.

mod around;
mod calls;
mod describe;
mod embedded;
mod emit;
mod environment;
mod file;
mod head;
mod jumbled;
mod kinds;
mod line;
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

use std::sync::atomic::AtomicU64;

use crate::base::{Diagnostics, Job, Nanos, ReadError, TimeSpan, Timestamp};
use crate::event::keys::{Derive, OpenPaths, Unseen};
use crate::event::{Coarse, Directory, EventDetail, FieldRef, Lane, LaneColumns, Part, TraceInfo};
use crate::formats::format::Together;
use crate::formats::text_end::note_cut_line;
use crate::formats::{EventRef, Format, Input, Reader};

use file::{File, events_after, lines_before};
use head::{HEAD_BYTES, Head};
use jumbled::Jumbled;
use kinds::Kinds;
use parts::Pieces;
use sorts::Sort;
use upids::{Form, Upids};

pub use embedded::{Found, Lines, Texts, with_etrace};
pub use line::{Payload, Word, parse_line, parse_payload};

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

fn open(input: Input, _job: &Job) -> Result<Box<dyn Reader>, ReadError> {
    Ok(Box::new(EtraceReader::open(input, PART_BYTES)))
}

/// The per-CPU files of one recording as one.
fn open_together(inputs: Vec<Input>, job: &Job) -> Result<Box<dyn Reader>, ReadError> {
    let (text, pieces) = parts::merge(inputs, job)?;
    let merged = Input::from_vec(text, "parts of a recording");
    let mut reader = EtraceReader::open(merged, PART_BYTES);
    for (number, name) in pieces.names().enumerate() {
        let fact = (format!("file {}", number + 1), name.to_owned());
        reader.info.facts.push(fact);
    }
    reader.file.pieces = Some(pieces);
    reader.file.is_copy = true;
    Ok(Box::new(reader))
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
                lane: 0,
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

impl Reader for EtraceReader {
    fn info(&self) -> &TraceInfo {
        &self.info
    }

    fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    fn parts(&self) -> &[Part] {
        &self.parts
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

    fn read_part(&self, part: u32, job: &Job) -> Result<LaneColumns, ReadError> {
        let index = part as usize;
        let cuts = &self.file.cuts;
        let (Some(&start), Some(&end)) = (cuts.get(index), cuts.get(index + 1)) else {
            return Ok(LaneColumns::new(0));
        };
        emit::emit(&self.file, index, (start, end), job)
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

    fn diagnostics(&self) -> Diagnostics {
        self.diagnostics.clone()
    }

    fn describe(&self, event: EventRef) -> EventDetail {
        describe::describe(&self.file, event)
    }

    fn fields_into<'a>(&'a self, event: EventRef, fields: &mut Vec<FieldRef<'a>>) {
        let first = fields.len();
        describe::fields_into(&self.file, event, fields);
        if fields.len() == first {
            let told = self.describe(event).into_told_fields();
            fields.extend(told.into_iter().map(FieldRef::from));
        }
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
