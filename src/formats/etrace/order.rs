//! Puts the lines of a part into time order per task.
//!
//! A call and its texts are consecutive in time, but the tracer writes the lines of several CPUs only nearly in order.
//! So lines wait in a window and leave it in time order. If lines of a task are out of order by more than the window,
//! the part is read again with all its lines sorted.

use crate::base::{Job, ReadError};

use super::emit::{Emitter, Order};
use super::file::Seam;
use super::line::{Payload, parse_line};
use super::lines::{is_hole, line_at};
use super::outliers::Outliers;
use super::seconds::Seconds;

const CHECK_BYTES: usize = 1 << 20;
const CHECK_LINES: usize = 1 << 14;
/// Capacity of the window in lines; when it is full, the earlier half leaves.
const WINDOW_LINES: usize = 512;
/// How many consecutive gap lines may wait for the line after them.
const MOST_HOLES: usize = 64;

/// A line in the window.
struct Held<'a> {
    time: i64,
    place: usize,
    said: Said<'a>,
}

enum Said<'a> {
    Event(Payload<'a>),
    Other(&'a [u8]),
}

/// Lines that were read but not yet passed to the emitter.
struct Window<'a> {
    /// Unordered slots.
    held: Vec<Held<'a>>,
    /// Indices of `held` in time order; lines of equal time in file order.
    order: Vec<u16>,
    /// Indices of `held` that can be reused.
    free: Vec<u16>,
}

impl<'a> Window<'a> {
    fn new() -> Window<'a> {
        Window {
            held: Vec::with_capacity(WINDOW_LINES),
            order: Vec::with_capacity(WINDOW_LINES),
            free: Vec::with_capacity(WINDOW_LINES),
        }
    }

    #[inline]
    fn push(&mut self, line: Held<'a>) {
        let time = line.time;
        let mut at = self.order.len();
        while at > 0 && self.time_at(at - 1) > time {
            at -= 1;
        }
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.held.len() as u16,
        };
        match self.held.get_mut(usize::from(index)) {
            Some(place) => *place = line,
            None => self.held.push(line),
        }
        match at == self.order.len() {
            true => self.order.push(index),
            false => self.order.insert(at, index),
        }
    }

    /// Adds gap lines with the time of the next line: a gap line is printed before the next line of its CPU.
    #[cold]
    fn push_holes(&mut self, holes: &mut Vec<(usize, &'a [u8])>, time: i64) {
        for (place, line) in holes.drain(..) {
            let line = Held {
                time,
                place,
                said: Said::Other(line),
            };
            // `push` is not called here: it runs for every line and is faster with a single call site.
            let mut at = self.order.len();
            while at > 0 && self.time_at(at - 1) > time {
                at -= 1;
            }
            let index = self.free.pop().unwrap_or(self.held.len() as u16);
            match self.held.get_mut(usize::from(index)) {
                Some(place) => *place = line,
                None => self.held.push(line),
            }
            self.order.insert(at, index);
        }
    }

    #[inline]
    fn time_at(&self, at: usize) -> i64 {
        let line = self.order.get(at).map(|&index| usize::from(index));
        line.and_then(|index| self.held.get(index))
            .map_or(i64::MIN, |line| line.time)
    }

    fn is_full(&self) -> bool {
        self.order.len() >= WINDOW_LINES
    }

    /// Passes the earliest `count` lines to the emitter.
    fn pass_on(&mut self, count: usize, emitter: &mut Emitter<'a>) {
        for index in self.order.drain(..count) {
            match self.held.get(usize::from(index)) {
                Some(Held {
                    said: Said::Event(payload),
                    place,
                    ..
                }) => emitter.lines(payload, *place),
                Some(Held {
                    said: Said::Other(text),
                    place,
                    ..
                }) => emitter.other_line(text, *place as u64),
                None => {}
            }
            self.free.push(index);
        }
    }
}

/// Returns whether the line at `at`, in one of the part's seams, belongs to the part before or after.
fn is_of_neighbour<'a>(
    emitter: &mut Emitter<'a>,
    [first, last]: [Seam; 2],
    at: usize,
    line: Option<&Payload<'a>>,
) -> bool {
    let time = line.map(|line| line.time);
    if at < first.end && !first.is_later(at, time) {
        if let Some(line) = line {
            emitter.pass_over(line, at);
        }
        return true;
    }
    at >= last.start && last.is_later(at, time)
}

/// Reads the lines of a part in nearly file order, through the window.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(super) fn in_file_order(
    emitter: &mut Emitter<'_>,
    part: usize,
    (start, end): (usize, usize),
    job: &Job,
) -> Result<Order, ReadError> {
    let text = emitter.file.text();
    let [first, last_seam] = emitter.file.seams_of(part);
    let mut outliers = Outliers::new(text, first.start);
    let mut window = Window::new();
    let mut seconds = Seconds::new();
    let mut holes: Vec<(usize, &[u8])> = Vec::new();
    let mut last = i64::MIN;
    let mut at = first.start;
    let mut checked = start;
    let mut line_count = 0;
    while at < last_seam.end {
        if at.saturating_sub(checked) >= CHECK_BYTES {
            job.check()?;
            job.advance((at - checked) as u64);
            checked = at;
        }
        let Some((line, next)) = line_at(text, at) else {
            break;
        };
        let read = seconds.parse(line);
        line_count += 1;
        if at < first.end || at >= last_seam.start {
            line_count -= u64::from(!(start..end).contains(&at));
            if is_of_neighbour(emitter, [first, last_seam], at, read.as_ref()) {
                at = next;
                continue;
            }
        }
        let said = match read {
            Some(mut payload) => {
                last = outliers.corrected(payload.time, next);
                emitter.put_right(&mut payload, at, last);
                if !holes.is_empty() {
                    window.push_holes(&mut holes, last);
                }
                Said::Event(payload)
            }
            None => Said::Other(line),
        };
        match said {
            Said::Other(line) if is_hole(line) && holes.len() < MOST_HOLES => {
                holes.push((at, line));
            }
            said => window.push(Held {
                time: last,
                place: at,
                said,
            }),
        }
        at = next;
        if window.is_full() {
            window.pass_on(WINDOW_LINES / 2, emitter);
            if emitter.order == Order::GoesBack {
                break;
            }
        }
    }
    window.push_holes(&mut holes, i64::MAX);
    window.pass_on(window.order.len(), emitter);
    if emitter.order == Order::Rises {
        emitter.file.line_counts.set(part, line_count);
    }
    // The part is read again: its bytes count only once.
    job.advance(end.saturating_sub(checked) as u64);
    Ok(emitter.order)
}

/// Reads the lines of a part in time order; lines of equal time in file order. A line without a time stays after the
/// line before it, a gap line before the next line.
///
/// # Errors
/// Errors only if the job was cancelled.
pub(super) fn in_time_order(
    emitter: &mut Emitter<'_>,
    part: usize,
    (start, end): (usize, usize),
    job: &Job,
) -> Result<(), ReadError> {
    let text = emitter.file.text();
    let [first, last_seam] = emitter.file.seams_of(part);
    let mut outliers = Outliers::new(text, first.start);
    let mut line_count = 0;
    let mut lines: Vec<(i64, usize)> = Vec::new();
    // How many of the latest lines are gap lines, or follow one.
    let mut holes = 0;
    let mut at = first.start;
    let mut last = i64::MIN;
    while at < last_seam.end {
        let Some((line, next)) = line_at(text, at) else {
            break;
        };
        line_count += u64::from((start..end).contains(&at));
        let read = parse_line(line);
        if is_of_neighbour(emitter, [first, last_seam], at, read.as_ref()) {
            at = next;
            continue;
        }
        if let Some(mut payload) = read {
            last = outliers.corrected(payload.time, next);
            emitter.put_right(&mut payload, at, last);
            // The gap lines that wait for this line get its time.
            for line in lines.iter_mut().rev().take(std::mem::take(&mut holes)) {
                line.0 = last;
            }
        } else if is_hole(line) || holes > 0 {
            holes += 1;
        }
        lines.push((last, at));
        at = next;
    }
    for line in lines.iter_mut().rev().take(holes) {
        line.0 = i64::MAX;
    }
    job.check()?;
    emitter.file.line_counts.set(part, line_count);
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
                emitter.lines(&payload, at);
            }
            None => emitter.other_line(line, at as u64),
        }
    }
    Ok(())
}
