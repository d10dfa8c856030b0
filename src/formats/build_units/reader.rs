//! Opens a log of builds: one lane, read as a whole because these logs are small.

use std::sync::Arc;

use super::Build;
use super::columns::{Written, kind_name, write};
use crate::base::{Diagnostics, Job, Problem, ReadError, budget};
use crate::event::{DecodedEvent, EventDetail, Fact, Field, Lane, Need, Part, TraceInfo};
use crate::formats::stream::{PartRead, Shown, in_one_lane};
use crate::formats::{EventRef, Events, Gathered, IndependentParts, Input, Recording};

/// What a log's text contains.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The builds, one after the other on the time axis.
    pub builds: Vec<Build>,
    /// Facts for the info pane: (name, value).
    pub facts: Vec<Fact>,
    /// Wall-clock time of the time axis' zero in ns since the Unix epoch, if it is known.
    pub wall_clock_zero_ns: Option<i64>,
    /// Diagnostics about the text.
    pub diagnostics: Diagnostics,
}

/// The functions that define a format of build logs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogFormat {
    /// The format's name and version, from the text.
    pub name: fn(&[u8]) -> String,
    /// The name of the lane.
    pub lane: &'static str,
    /// Reads the text. Errors if nothing of it can be shown, or the job was cancelled.
    pub read: fn(&[u8], &Job) -> Result<Log, ReadError>,
    /// Returns the fields of the record at a byte offset.
    pub fields: fn(&[u8], u64) -> Vec<Field>,
}

/// Bytes of memory for each byte of a log's text, at most, approximately.
const MODEL_BYTES: u64 = 16;

#[derive(Debug)]
struct LogReader {
    input: Input,
    format: LogFormat,
    info: TraceInfo,
    parts: Vec<Part>,
    lanes: Vec<Lane>,
}

/// The result of reading the only part.
#[derive(Debug)]
struct ReadLog {
    written: Written,
    facts: Vec<Fact>,
    wall_clock_zero_ns: Option<i64>,
    diagnostics: Diagnostics,
}

/// Opens a log of builds.
pub(crate) fn open(input: Input, format: LogFormat) -> Recording {
    let info = TraceInfo {
        format: (format.name)(input.bytes()),
        ..TraceInfo::default()
    };
    let reader = Arc::new(LogReader {
        parts: vec![Part {
            start: 0,
            size_bytes: input.bytes().len() as u64,
        }],
        lanes: vec![Lane {
            name: format.lane.to_owned(),
            cpu: None,
        }],
        input,
        format,
        info,
    });
    Recording {
        info: reader.info.clone(),
        lanes: reader.lanes.clone(),
        diagnostics: Diagnostics::default(),
        stream: reader.clone(),
        events: reader,
        report: None,
        instead: None,
    }
}

impl IndependentParts for LogReader {
    type Read = ReadLog;

    fn parts(&self) -> &[Part] {
        &self.parts
    }

    fn read(&self, _part: u32, job: &Job) -> Result<ReadLog, ReadError> {
        let text = self.input.bytes();
        let no_memory = |problem: Problem| ReadError::at_byte(0, "build log", problem);
        budget::require((text.len() as u64).saturating_mul(MODEL_BYTES)).map_err(no_memory)?;
        let log = (self.format.read)(text, job)?;
        let written = write(&log.builds, job)?;
        job.advance(text.len() as u64);
        Ok(ReadLog {
            written,
            facts: log.facts,
            wall_clock_zero_ns: log.wall_clock_zero_ns,
            diagnostics: log.diagnostics,
        })
    }

    fn shown<'a>(&self, _part: u32, read: &'a ReadLog) -> Vec<Shown<'a>> {
        vec![Shown {
            lane: 0,
            columns: &read.written.columns,
        }]
    }

    fn gather(&self, read: Vec<PartRead<ReadLog>>, _job: &Job) -> Result<Gathered, ReadError> {
        let mut gathered = Gathered {
            lanes: self.lanes.clone(),
            info: self.info.clone(),
            ..Gathered::default()
        };
        let mut parts = Vec::new();
        for PartRead { part, read: log } in read {
            let read = log.written.columns;
            parts.push(PartRead { part, read });
            gathered.directory = log.written.directory;
            gathered.info.facts.extend(log.facts);
            gathered.info.wall_clock_zero_ns = log.wall_clock_zero_ns;
            gathered.diagnostics.merge(log.diagnostics);
        }
        gathered.parts = in_one_lane(parts);
        Ok(gathered)
    }
}

impl Events for LogReader {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        if need == Need::AnyField {
            decoded.perhaps();
            return;
        }
        let detail = EventDetail {
            name: kind_name(event.kind).to_owned(),
            category: "build".to_owned(),
            time: event.time,
            tid: event.thread.map_or(0, |thread| u64::from(thread.0)),
            fields: (self.format.fields)(self.input.bytes(), event.place),
            ..EventDetail::default()
        };
        decoded.take(detail, need);
    }
}
