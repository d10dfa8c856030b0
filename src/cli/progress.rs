//! A line on standard error that shows the progress of long work, on a terminal only; the line is removed when the work
//! is done.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Thread};
use std::time::{Duration, Instant};

use super::terminal;
use crate::base::{Job, Progress};

/// Whether the line is on the screen. Code that prints to standard error must hold the lock.
static IS_DRAWN: Mutex<bool> = Mutex::new(false);
/// Work that takes less time shows no line.
const SHORT: Duration = Duration::from_millis(200);
const REDRAWN_EVERY: Duration = Duration::from_millis(100);

/// Prints on standard error after removing the progress line.
pub(crate) fn print_clear(print: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
    let mut is_drawn = IS_DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stderr = std::io::stderr().lock();
    if std::mem::take(&mut *is_drawn) {
        let _unwritable = write!(stderr, "\r\x1b[K");
    }
    let _unwritable = print(&mut stderr);
}

/// Does `work`; meanwhile the progress of `job` is shown in a line on stderr, if stderr is a terminal.
pub(crate) fn with_progress<T>(what: &str, job: &Job, work: impl FnOnce() -> T) -> T {
    if !terminal::is_person_warned() {
        return work();
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let draw = || draw_until(&is_done, what, job);
        // Without a thread for the line there is no line.
        let Ok(line) = Builder::new().spawn_scoped(scope, draw) else {
            return work();
        };
        // Ends the line also if the work panics: the scope waits for its thread.
        let _end = End {
            is_done: &is_done,
            line: line.thread().clone(),
        };
        work()
    })
}

/// Does work that prints on standard output. Progress is shown only if that output cannot appear on the terminal,
/// directly or through a pager at the other end of a pipe: a progress line would spoil it.
pub(crate) fn while_printing<T>(what: &str, job: &Job, work: impl FnOnce() -> T) -> T {
    match terminal::is_person() || terminal::may_be_paged() {
        true => work(),
        false => with_progress(what, job, work),
    }
}

/// A line on stderr that shows what is being done, if stderr is a terminal.
#[cfg(target_os = "linux")]
pub(crate) struct Line {
    is_shown: bool,
}

#[cfg(target_os = "linux")]
impl Line {
    /// Returns a line that is not shown yet.
    pub(crate) fn new() -> Line {
        let is_shown = terminal::is_person_warned();
        Line { is_shown }
    }

    /// Shows `words` in place of the earlier words.
    pub(crate) fn draw(&self, words: &str) {
        if self.is_shown {
            let mut is_drawn = IS_DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
            let _unwritable = write!(std::io::stderr(), "\r\x1b[K{words}");
            *is_drawn = true;
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        print_clear(|_| Ok(()));
    }
}

struct End<'a> {
    is_done: &'a AtomicBool,
    line: Thread,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        self.line.unpark();
    }
}

fn draw_until(is_done: &AtomicBool, what: &str, job: &Job) {
    let start = Instant::now();
    while !is_done.load(Ordering::Relaxed) {
        std::thread::park_timeout(REDRAWN_EVERY);
        let elapsed = start.elapsed();
        if elapsed < SHORT || is_done.load(Ordering::Relaxed) {
            continue;
        }
        let words = words(what, elapsed, job.progress());
        let mut is_drawn = IS_DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
        let _unwritable = write!(std::io::stderr(), "\r\x1b[K{words}");
        *is_drawn = true;
    }
    print_clear(|_| Ok(()));
}

/// Returns the text of the line. The remaining time is shown after one second, if at least 2 % of the work is done.
fn words(what: &str, elapsed: Duration, progress: Progress) -> String {
    if progress.total.is_none() {
        return match elapsed.as_secs() {
            0 => format!("{what} ..."),
            seconds => format!("{what} ... {}", length_text(seconds)),
        };
    }
    let share = progress.share();
    let percent = (share * 100.0) as u64;
    if elapsed < Duration::from_secs(1) || share < 0.02 {
        return format!("{what} {percent:3} %");
    }
    let left = elapsed.as_secs_f64() * (1.0 - share) / share;
    let left = length_text(left.ceil() as u64);
    format!("{what} {percent:3} %, {left} left")
}

fn length_text(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_said_once_there_is_something_to_learn_from() {
        let at = |millis, done, total| {
            let progress = Progress { done, total };
            words("reading", Duration::from_millis(millis), progress)
        };
        assert_eq!(at(300, 50, Some(100)), "reading  50 %");
        assert_eq!(at(5_000, 1, Some(100)), "reading   1 %");
        assert_eq!(at(5_000, 25, Some(100)), "reading  25 %, 15 s left");
        assert_eq!(at(60_000, 10, Some(100)), "reading  10 %, 9 min 0 s left");
        assert_eq!(at(5_000, 300, Some(200)), "reading 100 %, 0 s left");
        assert_eq!(at(300, 0, None), "reading ...");
        assert_eq!(at(3_000, 7, None), "reading ... 3 s");
    }
}
