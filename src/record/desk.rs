//! The plan of a recording, and everything that a running recording uses.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::counts::Counts;
use super::live::Live;
use super::memory_file::Stage;
use super::names::Names;
use super::output::{About, Target};
use super::pump::Shared;
use super::session::{Authority, Rights, Session};
use super::source::CpuSource;
use super::trigger::Trigger;
use super::trouble::RecordError;
use crate::query::expression::Expression;
use crate::tracedat::layout::id;
use crate::tracefs::head::SectionText;
use crate::tracefs::order::Order;

/// The events to record, the end of the recording, and the output file.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the kernel records.
    pub order: Order,
    /// The command that opens a shell on another machine; empty: this machine is recorded.
    pub on: Vec<OsString>,
    /// When the recording ends.
    pub ending: Ending,
    /// The flight recorder: only the last events are kept, and written when the trigger matches. `None`: all are
    /// written.
    pub flight: Option<Flight>,
    /// The output file.
    pub target: Target,
    /// Whether the rights of root are given up.
    pub rights: Rights,
    /// Where the process with the rights gets them from.
    pub authority: Authority,
    /// The folder in which another process reads the recording while it is made.
    pub live: Option<Live>,
}

/// When a recording ends. A signal also ends it.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// After this duration.
    pub after: Option<Duration>,
    /// When an event matches this expression.
    pub until: Option<Watchword>,
    /// When this command ends; empty: there is no command.
    pub command: Vec<OsString>,
}

/// An expression as the user wrote it.
#[derive(Clone, Debug)]
pub struct Watchword {
    /// The text of the user.
    pub text: String,
    /// The parsed expression.
    pub expression: Expression,
}

/// A flight recorder: the last events are kept in memory, and written when the trigger matches.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The duration that is kept.
    pub keep: Duration,
    /// Maximum memory for the kept pages of all CPUs, in bytes.
    pub bytes: u64,
    /// The expression that triggers writing.
    pub trigger: Watchword,
    /// How long recording continues after the trigger matched.
    pub after: Duration,
    /// Maximum number of files that are written.
    pub repeat: u32,
}

/// The progress of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct Situation {
    /// Time since the recording started.
    pub elapsed: Duration,
    /// Bytes that were recorded.
    pub bytes: u64,
    /// Events that were lost.
    pub lost: u64,
    /// The duration that a flight recorder holds now.
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
    /// The exit status of the recorded command.
    pub command: Option<ExitStatus>,
    /// Whether the recording ended because the disk was full.
    pub is_disk_full: bool,
    /// Share of one CPU's time that the search for the trigger took.
    pub trigger_share: Option<f64>,
}

/// Everything that a running recording uses.
pub(super) struct Desk<'a> {
    pub plan: &'a Plan,
    pub session: &'a mut Session,
    pub cpus: &'a [CpuSource],
    /// The thread names found until now.
    pub names: Names,
    /// Size of a page in bytes.
    pub page_size: u32,
    pub shared: Arc<Shared>,
    pub is_stopped: &'a AtomicBool,
    pub report: &'a mut dyn FnMut(Situation),
}

impl Desk<'_> {
    /// Returns a search for an expression in the recorded events.
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

    /// Returns everything that the file contains except pages.
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

/// Returns the size of a ring-buffer page in bytes, from the text of `header_page`.
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

/// Returns all metadata sections; those of threads contain `names` and what is known of threads now.
fn sections(session: &mut Session, names: &mut Names) -> Result<Vec<SectionText>, RecordError> {
    let mut sections = session.formats()?.to_vec();
    let (lists, rest): (Vec<_>, Vec<_>) = (session.names()?.into_iter())
        .partition(|it| matches!(it.id, id::CMDLINES | id::THREAD_GROUPS));
    sections.extend(rest);
    session.add_names(names);
    let list = |id| {
        let section = lists.iter().find(|it| it.id == id);
        section.map_or_else(String::new, |it| {
            String::from_utf8_lossy(&it.body).into_owned()
        })
    };
    names.add_saved(&list(id::CMDLINES), &list(id::THREAD_GROUPS));
    sections.extend(names.sections());
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
