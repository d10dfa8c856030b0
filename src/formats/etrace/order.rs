//! The order of a part's lines: as they stand in the file in, each task's by their times out.
//!
//! A call and its texts are lines that follow each other in time, but the tracer writes those of several CPUs nearly,
//! not quite, in order. So lines are held back in a window of two halves. Where a line of a task is earlier than the one
//! before of the same task, the window is put in order before it goes on; what is out of order over more than that
//! window is found when it is taken in, and then the part is read again with all its lines put in order.

use crate::base::{Job, ReadError};

use super::emit::Emitter;
use super::file::line_at;
use super::line::{Payload, parse_line};
use super::outliers::Outliers;

const CHECK_BYTES: usize = 1 << 20;
const CHECK_LINES: usize = 1 << 14;
/// How many lines one half of the window holds.
const HALF_LINES: usize = 256;

/// Whether the lines of each task could be brought into the order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// They rise.
    Rises,
    /// A line came after a later one of its task had been taken in.
    GoesBack,
}

/// A line that waits in the window.
struct Held<'a> {
    time: i64,
    place: usize,
    /// Whose it is, if it is an event.
    slot: u32,
    said: Said<'a>,
}

enum Said<'a> {
    Event(Payload<'a>),
    Other(&'a [u8]),
}

/// Lines that were read and not yet taken in.
#[derive(Default)]
struct Window<'a> {
    older: Vec<Held<'a>>,
    newer: Vec<Held<'a>>,
    /// Whether some line is earlier than one before it of the same task.
    is_mixed: bool,
}

impl<'a> Window<'a> {
    /// Takes in what may have no earlier line behind it any more.
    fn pass_on(&mut self, emitter: &mut Emitter<'a>) {
        if self.is_mixed {
            self.put_in_order();
        }
        take_in(&mut self.older, emitter);
        std::mem::swap(&mut self.older, &mut self.newer);
    }

    fn finish(mut self, emitter: &mut Emitter<'a>) {
        if self.is_mixed {
            self.put_in_order();
        }
        take_in(&mut self.older, emitter);
        take_in(&mut self.newer, emitter);
    }

    #[cold]
    fn put_in_order(&mut self) {
        let count = self.older.len();
        self.older.append(&mut self.newer);
        self.older.sort_by_key(|line| line.time);
        self.newer.extend(self.older.drain(count..));
        self.is_mixed = false;
    }
}

fn take_in<'a>(lines: &mut Vec<Held<'a>>, emitter: &mut Emitter<'a>) {
    for line in lines.drain(..) {
        match line.said {
            Said::Event(payload) => emitter.lines(payload, line.slot, line.place),
            Said::Other(text) => emitter.other_line(text, line.place as u64),
        }
    }
}

/// Reads lines nearly as they come.
///
/// # Errors
/// Only if the job was cancelled.
pub(super) fn in_file_order(
    emitter: &mut Emitter<'_>,
    part: usize,
    (start, end): (usize, usize),
    job: &Job,
) -> Result<Order, ReadError> {
    let text = emitter.file.text();
    let mut outliers = Outliers::new(text, start);
    let mut window = Window::default();
    let mut last = i64::MIN;
    let mut at = start;
    let mut checked = start;
    let mut line_count = 0;
    while at < end {
        if at - checked >= CHECK_BYTES {
            job.check()?;
            job.advance((at - checked) as u64);
            checked = at;
        }
        let Some((line, next)) = line_at(text, at) else {
            break;
        };
        let mut slot = 0;
        let said = match parse_line(line) {
            Some(mut payload) => {
                last = outliers.corrected(payload.time, next);
                emitter.put_right(&mut payload, at, last);
                let (found, goes_back) = emitter.hear(&payload);
                slot = found;
                window.is_mixed |= goes_back;
                Said::Event(payload)
            }
            None => Said::Other(line),
        };
        window.newer.push(Held {
            time: last,
            place: at,
            slot,
            said,
        });
        at = next;
        line_count += 1;
        if window.newer.len() == HALF_LINES {
            window.pass_on(emitter);
            if emitter.order == Order::GoesBack {
                break;
            }
        }
    }
    window.finish(emitter);
    if emitter.order == Order::Rises {
        emitter.file.line_counts.set(part, line_count);
    }
    // What is read again is not counted again.
    job.advance(end.saturating_sub(checked) as u64);
    Ok(emitter.order)
}

/// Reads lines by their times, those of equal times as they come. A line without a time stays behind the one before.
///
/// # Errors
/// Only if the job was cancelled.
pub(super) fn in_time_order(
    emitter: &mut Emitter<'_>,
    part: usize,
    (start, end): (usize, usize),
    job: &Job,
) -> Result<(), ReadError> {
    let text = emitter.file.text();
    let mut outliers = Outliers::new(text, start);
    let mut lines: Vec<(i64, usize)> = Vec::new();
    let mut at = start;
    let mut last = i64::MIN;
    while at < end {
        let Some((line, next)) = line_at(text, at) else {
            break;
        };
        if let Some(mut payload) = parse_line(line) {
            last = outliers.corrected(payload.time, next);
            emitter.put_right(&mut payload, at, last);
        }
        lines.push((last, at));
        at = next;
    }
    job.check()?;
    emitter.file.line_counts.set(part, lines.len() as u64);
    lines.sort_by_key(|line| line.0);
    for (count, (time, at)) in lines.into_iter().enumerate() {
        if count % CHECK_LINES == 0 {
            job.check()?;
        }
        let Some((line, _)) = line_at(text, at) else {
            continue;
        };
        match parse_line(line) {
            Some(mut payload) => {
                payload.time = time;
                let (slot, _) = emitter.hear(&payload);
                emitter.lines(payload, slot, at);
            }
            None => emitter.other_line(line, at as u64),
        }
    }
    Ok(())
}
