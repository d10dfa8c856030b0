//! Waiting until a recording is over.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::desk::{Desk, Situation};
use super::trouble::RecordError;
use crate::tracefs::shell;

/// How often the state of a recording is checked.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often the state is reported.
const REPORT_EVERY: Duration = Duration::from_millis(250);

/// The recorded command.
pub(super) struct Subject {
    child: Option<Child>,
    /// Its exit status, once it ended.
    pub status: Option<ExitStatus>,
}

impl Subject {
    /// Starts the command, if there is one; `on` is the command that gives a shell on another machine, or empty.
    pub(super) fn start(command: &[OsString], on: &[OsString]) -> Result<Subject, RecordError> {
        let mut child = None;
        if let Some((program, arguments)) = command.split_first() {
            let started = match on {
                [] => Command::new(program).args(arguments).spawn(),
                on => shell::run_there(on, command),
            };
            child = Some(started.map_err(|error| RecordError::Command {
                name: program.to_string_lossy().into_owned(),
                error,
            })?);
        }
        let status = None;
        Ok(Subject { child, status })
    }

    fn has_ended(&mut self) -> std::io::Result<bool> {
        if let Some(child) = &mut self.child {
            self.status = child.try_wait()?;
        }
        Ok(self.status.is_some())
    }
}

/// The time since a recording started.
pub(super) struct Watch {
    start: Instant,
    reported: Instant,
}

impl Watch {
    /// Starts the time now.
    pub(super) fn new() -> Watch {
        let start = Instant::now();
        let reported = start;
        Watch { start, reported }
    }

    /// Time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Waits a moment; returns whether the recording is over. Reports the progress regularly; `held` returns the
    /// duration that a flight recorder holds.
    pub(super) fn is_over(
        &mut self,
        desk: &mut Desk<'_>,
        subject: &mut Subject,
        held: &dyn Fn() -> Option<Duration>,
    ) -> Result<bool, RecordError> {
        if let Some(live) = &desk.plan.live {
            live.look(desk.is_stopped);
        }
        let elapsed = self.elapsed();
        let after = desk.plan.ending.after;
        let is_over = after.is_some_and(|after| elapsed >= after)
            || desk.is_stopped.load(Ordering::Relaxed)
            || desk.shared.is_full.load(Ordering::Acquire)
            || subject.has_ended()?;
        if is_over {
            return Ok(true);
        }
        if !desk.session.is_alive() {
            return Err(RecordError::TracerGone);
        }
        if self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            let now = Situation {
                elapsed,
                bytes: desk.shared.bytes.load(Ordering::Relaxed),
                lost: desk.counts().lost,
                held: held(),
            };
            (desk.report)(now);
        }
        let left = after.map_or(LOOK_EVERY, |after| after.saturating_sub(elapsed));
        std::thread::sleep(LOOK_EVERY.min(left));
        Ok(false)
    }
}
