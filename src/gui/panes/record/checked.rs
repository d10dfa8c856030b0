//! What the kernel offers, and what is wrong with the settings of a recording: checked as they are typed.

use crate::base::budget::parse_size;
use crate::base::time::parse_duration;
use crate::base::{Cancelled, Job};
use crate::probes;
use crate::query::expression::Expression;
use crate::record::offer::{fault_of, offer};
use crate::record::with_group;
use crate::tracefs::folder::Trouble;
use crate::view::{RecordRights, RecordSettings, RecordedEvent};

/// What this kernel offers to the user of the window.
#[derive(Clone, Debug)]
pub(super) struct Looked {
    /// All events, as `SYSTEM:EVENT`; otherwise why they are not known, with the line that grants the right.
    pub(super) events: Result<Vec<String>, String>,
    /// Whose rights a recording needs.
    pub(super) rights: RecordRights,
    /// Whether the window can start a recording.
    pub(super) can_start: bool,
}

impl Looked {
    /// Returns how the window gets the rights that the user lacks.
    pub(super) fn note(&self) -> Option<&'static str> {
        match (self.rights, self.can_start) {
            (RecordRights::Own, _) => None,
            (RecordRights::Root, true) => Some(
                "Start asks for an administrator's password (polkit). Only threadline-tracer gets root's rights; this \
                 window keeps yours. Names of events are not known here: type them.",
            ),
            (RecordRights::Root, false) => Some(
                "This window could ask for a password if pkexec (polkit) were installed. The command above works in a \
                 terminal.",
            ),
        }
    }
}

/// Looks what the kernel offers.
pub(super) fn look() -> Looked {
    let trouble = match offer() {
        Ok(offer) => {
            return Looked {
                events: Ok(offer.events),
                rights: RecordRights::Own,
                can_start: true,
            };
        }
        Err(trouble) => trouble,
    };
    let (rights, can_start) = match trouble {
        Trouble::NotAllowed(_) => (RecordRights::Root, has_pkexec()),
        _ => (RecordRights::Own, false),
    };
    Looked {
        events: Err(trouble.to_string()),
        rights,
        can_start,
    }
}

/// Returns whether the program that asks polkit for rights is installed.
fn has_pkexec() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("pkexec").is_file())
}

/// Returns what is wrong with each event or its filter.
///
/// # Errors
/// If the job is cancelled.
pub(super) fn faults_of(
    events: &[RecordedEvent],
    job: &Job,
) -> Result<Vec<Option<String>>, Cancelled> {
    let faults = events.iter().map(|event| {
        job.check()?;
        Ok(fault_of(&event.pattern, &event.filter))
    });
    faults.collect()
}

/// Returns a sentence for each wrong definition of a probe.
pub(super) fn probe_faults(settings: &RecordSettings) -> Vec<String> {
    let lines = settings.probe_lines();
    let faults = lines.filter_map(|line| {
        let parsed = probes::parse(line);
        let wrong = parsed.errors().next().map(ToString::to_string);
        let refused = || with_group(line, "g", 0).err().map(str::to_owned);
        let words = wrong.or_else(refused)?;
        Some(format!("{line}: {words}"))
    });
    faults.collect()
}

/// Returns a sentence for each wrong value of the short fields.
pub(super) fn option_faults(settings: &RecordSettings) -> Vec<String> {
    let mut faults = Vec::new();
    let text = settings.after.trim();
    if !text.is_empty()
        && let Err(words) = parse_duration(text)
    {
        faults.push(format!("Stop after: {words}"));
    }
    let text = settings.until.trim();
    if !text.is_empty()
        && let Err(error) = Expression::parse(text)
    {
        faults.push(format!("Stop when: {error}"));
    }
    for word in settings.thread_words() {
        if word.parse::<u32>().is_err() {
            faults.push(format!("Only threads: {word} is no number of a thread"));
        }
    }
    let text = settings.buffer.trim();
    if !text.is_empty()
        && let Err(words) = parse_size(text)
    {
        faults.push(format!("Buffer for each CPU: {words}"));
    }
    faults
}
