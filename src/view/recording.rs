//! A recording that the window makes: the settings as the arguments of `threadline record`, the commands to it, and its
//! state.
//!
//! The arguments are the only description of the settings: the window shows them as a command line, and starts the
//! program with them.

use std::path::PathBuf;

use super::ruler;
use crate::base::Nanos;
use crate::base::strings::{shell_bytes, text_of};

/// What the user chose to record, as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSettings {
    /// Names of ready sets of events.
    pub sets: Vec<String>,
    /// Single events, or patterns of events.
    pub events: Vec<RecordedEvent>,
    /// Definitions of probes, one a line.
    pub probes: String,
    /// Whether each event records the kernel's stack.
    pub has_stacks: bool,
    /// Numbers of threads, separated by blanks or commas; empty: all threads.
    pub threads: String,
    /// Whether threads that these threads start are also recorded.
    pub has_children: bool,
    /// Size of the kernel's buffer for each CPU, such as `16M`; empty: the default.
    pub buffer: String,
    /// Name of the clock; empty: the kernel's default.
    pub clock: String,
    /// The time after which the recording ends, such as `10s`; empty: no limit.
    pub after: String,
    /// The expression at whose first match the recording ends; empty: none.
    pub until: String,
}

/// Events to record, with an optional filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedEvent {
    /// `SYSTEM:EVENT`, `SYSTEM` or `EVENT`, each with `*` for any characters.
    pub pattern: String,
    /// The kernel's filter; empty: none.
    pub filter: String,
}

/// Who has the rights to use tracefs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordRights {
    /// The user: the program records directly.
    #[default]
    Own,
    /// Only root.
    Root,
}

impl RecordSettings {
    /// Returns whether nothing is chosen that could be recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty() && self.events.is_empty() && self.probe_lines().next().is_none()
    }

    /// Returns the definitions of probes, without empty lines.
    pub(crate) fn probe_lines(&self) -> impl Iterator<Item = &str> {
        let lines = self.probes.lines().map(str::trim);
        lines.filter(|line| !line.is_empty())
    }

    /// Returns the numbers of threads, as typed.
    pub(crate) fn thread_words(&self) -> impl Iterator<Item = &str> {
        let words = self.threads.split([' ', ',']);
        words.filter(|word| !word.is_empty())
    }

    /// Returns the settings as arguments of `threadline record`.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut out = Arguments::default();
        for set in &self.sets {
            out.value("--preset", "--preset", set);
        }
        for event in &self.events {
            out.value("-e", "--event", &event.pattern);
            out.text("-f", "--filter", &event.filter);
        }
        for probe in self.probe_lines() {
            out.value("--probe", "--probe", probe);
        }
        if self.has_stacks {
            out.0.push("--stack".to_owned());
        }
        for thread in self.thread_words() {
            out.value("-P", "--pid", thread);
        }
        if self.has_children && self.thread_words().next().is_some() {
            out.0.push("--children".to_owned());
        }
        out.text("-C", "--clock", &self.clock);
        out.text("-b", "--buffer-size", &self.buffer);
        out.text("--for", "--for", &self.after);
        out.text("--until-event", "--until-event", &self.until);
        out.0
    }

    /// Returns the command line that records the same in a terminal, quoted as for a shell.
    #[must_use]
    pub fn command_line(&self, rights: RecordRights) -> String {
        let program: &[&str] = match rights {
            RecordRights::Own => &["threadline", "record"],
            RecordRights::Root => &["sudo", "threadline", "record"],
        };
        let arguments = self.arguments();
        let words = program.iter().copied();
        let words = words.chain(arguments.iter().map(String::as_str));
        text_of(&shell_bytes(words.map(str::as_bytes))).into_owned()
    }
}

/// Arguments of a command line.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    /// Adds an argument with its value. A value that starts like an argument is joined to the long name.
    fn value(&mut self, short: &str, long: &str, value: &str) {
        match value.starts_with('-') {
            true => self.0.push(format!("{long}={value}")),
            false => self.0.extend([short.to_owned(), value.to_owned()]),
        }
    }

    /// Adds an argument unless its text is empty.
    fn text(&mut self, short: &str, long: &str, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.value(short, long, text);
        }
    }
}

/// A command to the recording of the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordCommand {
    /// Show the settings.
    Choose,
    /// Hide the settings that are shown without a trace.
    Leave,
    /// Start to record.
    Start(Box<RecordSettings>, RecordRights),
    /// End the recording; its file is written.
    Stop,
    /// Show the recording in place of another trace, or its end in place of another part.
    Show,
    /// Copy the finished recording to this file, replacing an old one.
    Save(PathBuf),
}

/// Numbers about a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordFacts {
    /// Time since the start.
    pub elapsed: Nanos,
    /// Bytes that were recorded.
    pub bytes: u64,
    /// Events that were lost.
    pub lost: u64,
}

impl RecordFacts {
    /// Returns the numbers in words.
    #[must_use]
    pub fn words(&self) -> String {
        let seconds = self.elapsed.0 as f64 / 1e9;
        let lost = match self.lost {
            0 => "no event lost".to_owned(),
            lost => {
                let lost = ruler::counted(lost as usize, "event", "events");
                format!("{lost} lost (a larger buffer loses fewer)")
            }
        };
        format!("{seconds:.1} s, {:.1} MB, {lost}", self.bytes as f64 / 1e6)
    }
}

/// A recording whose file is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedRecording {
    /// Its numbers.
    pub facts: RecordFacts,
    /// Number of its events.
    pub events: u64,
    /// Whether it ended because the disk was full.
    pub is_disk_full: bool,
    /// Where it was saved; `None`: it is deleted when the window closes or another recording starts.
    pub saved: Option<PathBuf>,
    /// Whether it is being saved now.
    pub is_saving: bool,
}

/// The state of the window's recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RecordState {
    /// Nothing was recorded yet.
    #[default]
    Idle,
    /// The kernel is being set up; the user may be typing a password.
    Starting,
    /// Events are recorded.
    Running {
        /// Its numbers.
        facts: RecordFacts,
        /// The duration of the last part that the timeline shows; `None`: it shows the whole recording.
        shown: Option<Nanos>,
    },
    /// The file is being written.
    Finishing,
    /// The file is complete.
    Finished(FinishedRecording),
    /// Nothing was recorded, for this reason.
    Failed(String),
}

impl RecordState {
    /// Returns whether a recording is being made.
    #[must_use]
    pub fn is_active(&self) -> bool {
        matches!(
            self,
            RecordState::Starting | RecordState::Running { .. } | RecordState::Finishing
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_a_command_line_that_a_shell_reads() {
        let settings = RecordSettings {
            sets: vec!["sched".into(), "irq".into()],
            events: vec![
                RecordedEvent {
                    pattern: "sched:sched_switch".into(),
                    filter: "prev_comm == \"it's\"".into(),
                },
                RecordedEvent {
                    pattern: "block*".into(),
                    filter: " ".into(),
                },
            ],
            probes: "p vfs_read count=%dx\n\n".into(),
            has_stacks: true,
            threads: "12, 40".into(),
            has_children: true,
            buffer: "16M".into(),
            clock: "mono".into(),
            after: "10s".into(),
            until: "-x == 1".into(),
        };
        assert_eq!(
            settings.command_line(RecordRights::Root),
            "sudo threadline record --preset sched --preset irq -e sched:sched_switch \
             -f 'prev_comm == \"it'\\''s\"' -e 'block*' --probe 'p vfs_read count=%dx' --stack -P 12 -P 40 \
             --children -C mono -b 16M --for 10s '--until-event=-x == 1'"
        );
        assert!(!settings.is_empty());
        let nothing = RecordSettings {
            has_children: true,
            probes: " \n".into(),
            ..RecordSettings::default()
        };
        assert!(nothing.is_empty());
        assert_eq!(nothing.command_line(RecordRights::Own), "threadline record");
    }
}
