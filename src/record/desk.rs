//! What a recording is, and what it works with from its start to its file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::counts::Counts;
use super::names::Names;
use super::output::{About, Target};
use super::pump::Shared;
use super::session::{Rights, Session};
use super::source::CpuSource;
use super::trigger::{Stage, Trigger};
use super::trouble::RecordError;
use crate::query::expression::Expression;
use crate::tracedat::bytes::Bytes;
use crate::tracedat::layout::id;
use crate::tracefs::head::{NATIVE, SectionText};
use crate::tracefs::order::Order;

/// What is recorded, until when, and where to.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the kernel is told.
    pub order: Order,
    /// The command that gives a shell on another machine; empty: this machine.
    pub on: Vec<OsString>,
    /// When it ends.
    pub ending: Ending,
    /// Only the last stretch is kept and written when something happens.
    pub flight: Option<Flight>,
    /// The file.
    pub target: Target,
    /// What becomes of the rights of root.
    pub rights: Rights,
}

/// When a recording ends. A signal ends it, too.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// After this time.
    pub after: Option<Duration>,
    /// When something matches this expression.
    pub until: Option<Watchword>,
    /// When this command ends; empty: no command.
    pub command: Vec<OsString>,
}

/// An expression as the user wrote it.
#[derive(Clone, Debug)]
pub struct Watchword {
    /// The text.
    pub text: String,
    /// What it means.
    pub expression: Expression,
}

/// A flight recorder: the last stretch is kept in memory, and written when something happens.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The time that is kept.
    pub keep: Duration,
    /// The most memory that is used for it, in bytes.
    pub bytes: u64,
    /// What must happen.
    pub trigger: Watchword,
    /// For how long recording goes on then.
    pub after: Duration,
    /// How many files are written at most.
    pub repeat: u32,
}

/// How far a recording is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Situation {
    /// Time since its start.
    pub elapsed: Duration,
    /// Bytes that were recorded.
    pub bytes: u64,
    /// Events that were lost.
    pub lost: u64,
    /// The time that a flight recorder really holds.
    pub held: Option<Duration>,
}

/// A recording that ended.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// The files that were written, with their sizes in bytes.
    pub files: Vec<(PathBuf, u64)>,
    /// Events that were read from the kernel.
    pub events: u64,
    /// Events that were lost.
    pub lost: u64,
    /// How the command ended.
    pub command: Option<ExitStatus>,
    /// Whether it ended because the disk was full.
    pub is_disk_full: bool,
    /// Share of one CPU's time that looking for the trigger took.
    pub trigger_share: Option<f64>,
}

/// Everything that a recording works with.
pub(super) struct Desk<'a> {
    pub plan: &'a Plan,
    pub session: &'a mut Session,
    pub cpus: &'a [CpuSource],
    /// Names of threads so far.
    pub names: Names,
    /// Size of a page in bytes.
    pub page_size: u32,
    pub shared: Arc<Shared>,
    pub is_stopped: &'a AtomicBool,
    pub report: &'a mut dyn FnMut(Situation),
}

impl Desk<'_> {
    /// Returns a search for an expression in what is recorded.
    pub(super) fn trigger(&mut self, word: &Watchword) -> Result<Trigger, RecordError> {
        let stage = Stage {
            clocks: &self.session.clocks.clone(),
            page_size: self.page_size,
            sections: self.session.formats()?,
        };
        let trigger = Trigger::new(word.expression.clone(), &stage);
        trigger.map_err(|error| RecordError::Expression(error.pointed(&word.text)))
    }

    /// Returns the counts of all CPUs.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for source in self.cpus {
            counts.add(Counts::of(&source.counts()));
        }
        counts
    }

    /// Returns what a file contains besides pages.
    pub(super) fn about(&mut self) -> Result<About, RecordError> {
        let stats = self.cpus.iter();
        let stats = stats.map(|source| format!("CPU: {}\n{}", source.cpu, source.counts()));
        Ok(About {
            stats: stats.collect(),
            clocks: self.session.clocks.clone(),
            machine: self.session.machine(),
            page_size: self.page_size,
            sections: sections(self.session, &mut self.names)?,
        })
    }
}

/// Returns the size of a page, from the text of header_page.
pub(super) fn page_size(formats: &[SectionText]) -> u32 {
    let headers = formats.iter().find(|it| it.id == id::HEADER_INFO);
    let text = headers.map_or(&[][..], |section| &section.body);
    let text = String::from_utf8_lossy(text);
    let number = |line: &str, name: &str| -> Option<u32> {
        let (_, after) = line.split_once(name)?;
        after.split(';').next()?.trim().parse().ok()
    };
    let data = text.lines().find(|line| line.contains(" data;"));
    let size = data.and_then(|line| Some(number(line, "offset:")? + number(line, "size:")?));
    size.filter(|size| size.is_power_of_two()).unwrap_or(4096)
}

/// Returns all metadata sections, with the names that were gathered.
fn sections(session: &mut Session, names: &mut Names) -> Result<Vec<SectionText>, RecordError> {
    let mut sections = session.formats()?.to_vec();
    sections.extend(session.names()?);
    session.add_names(names);
    if let Some(section) = sections.iter_mut().find(|it| it.id == id::CMDLINES) {
        names.add_lines(&String::from_utf8_lossy(&section.body));
        let lines = names.lines();
        let mut body = Bytes::new(NATIVE);
        body.u64(lines.len() as u64).raw(lines.as_bytes());
        section.body = body.all;
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_page_is_where_its_data_ends() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
            \tfield: char data;\toffset:16;\tsize:16368;\tsigned:0;\n";
        let section = SectionText {
            id: id::HEADER_INFO,
            body: text.as_bytes().to_vec(),
        };
        assert_eq!(page_size(&[section]), 16384);
        assert_eq!(page_size(&[]), 4096);
    }
}
