//! The lines of tasks whose order in time differs from their order in the text: decoding a single call must read the
//! call's lines in the order of the bulk pass. Also the places of lines that are far apart, among the lines of very
//! many other tasks, where a search would take long; and the moments of losses.
//!
//! Of the 21 etrace files of the corpus, none contains such tasks, and 1 contains losses.
//!
//! ```text
//! 0: 7,..,1!A[0]sh   0: 7,..,3!A[2]run   0: 7,..,2!A[1]a.sh   0: 7,..,4!A[3]x     A[1] is read before A[2]
//! ```

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::file::File;
use super::line::{Payload, parse_line};
use super::lines::{LONG_LINE, Placed, line_at, lines_after};
use super::notes::Moment;
use crate::base::column::Column;

/// The order of the lines that are out of order or far apart, and the losses among all lines.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reordered {
    /// The moments at which losses are noticed, sorted.
    losses: Moments,
    /// All lines of the tasks whose lines are out of order or far apart; those of a task are in time order.
    lines: Moments,
    /// The rows of each task in `lines`, by upid.
    tasks: FxHashMap<i64, Range<u64>>,
}

/// A list of moments.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Moments {
    times: Column<i64>,
    places: Column<u64>,
}

impl Moments {
    fn add(&mut self, (time, place): Moment) {
        self.times.push(time);
        self.places.push(place);
    }

    fn len(&self) -> usize {
        self.times.len().min(self.places.len())
    }

    fn get(&self, row: usize) -> Option<Moment> {
        Some((*self.times.get(row)?, *self.places.get(row)?))
    }

    /// Returns the first of `rows` that is later than `moment`, or their end. The rows are sorted.
    fn first_after(&self, rows: Range<usize>, moment: Moment) -> usize {
        let (mut from, mut until) = (rows.start, rows.end.min(self.len()));
        while from < until {
            let middle = from.midpoint(until);
            match self.get(middle).is_some_and(|at| at <= moment) {
                true => from = middle + 1,
                false => until = middle,
            }
        }
        from
    }

    fn memory_bytes(&self) -> u64 {
        self.times.memory_bytes() + self.places.memory_bytes()
    }
}

/// A line of a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextLine<'a> {
    /// The line.
    pub line: Payload<'a>,
    /// Whether events were lost between this line and the task's previous line.
    pub follows_loss: bool,
}

impl Reordered {
    pub(super) fn new(mut losses: Vec<Moment>) -> Reordered {
        losses.sort_unstable();
        let mut reordered = Reordered::default();
        losses
            .into_iter()
            .for_each(|loss| reordered.losses.add(loss));
        reordered
    }

    /// Adds a task with all its lines in time order.
    pub(super) fn add(&mut self, upid: i64, lines: Vec<Moment>) {
        let first = self.lines.len();
        lines.into_iter().for_each(|line| self.lines.add(line));
        let rows = first as u64..self.lines.len() as u64;
        self.tasks.insert(upid, rows);
    }

    /// Returns the rows of a task's lines after `moment` in `lines`; `None` if its lines stand in order in the file.
    fn rows_after(&self, upid: i64, moment: Moment) -> Option<Range<usize>> {
        let rows = self.tasks.get(&upid)?;
        let rows = rows.start as usize..rows.end as usize;
        Some(self.lines.first_after(rows.clone(), moment)..rows.end)
    }

    fn is_lost_between(&self, from: Moment, to: Moment) -> bool {
        let after = self.losses.first_after(0..self.losses.len(), from);
        self.losses.get(after).is_some_and(|loss| loss < to)
    }

    /// Returns the heap memory in bytes.
    #[must_use]
    pub(crate) fn memory_bytes(&self) -> u64 {
        let tasks = self.tasks.capacity() * size_of::<(i64, Range<u64>)>();
        self.losses.memory_bytes() + self.lines.memory_bytes() + tasks as u64
    }
}

/// Iterates over the lines of a task after its line at `moment`, in time order and within about `limit` bytes of text.
/// `next` is the offset of the next line in the file.
pub(crate) fn lines_behind<'a>(
    file: &'a File,
    upid: i64,
    moment: Moment,
    next: usize,
    limit: usize,
) -> impl Iterator<Item = NextLine<'a>> {
    let text = file.text();
    let order = file.order.get();
    let mut in_known = order.and_then(|order| {
        let rows = order.rows_after(upid, moment)?;
        Some(rows.map_while(|row| order.lines.get(row)))
    });
    let mut in_file = lines_after(text, next, limit).flat_map(|Placed { line, place }| {
        let events = std::iter::successors(parse_line(line), |event| {
            event.rest_of_line().and_then(parse_line)
        });
        events.map(move |event| ((event.time, place as u64), event))
    });
    let mut left = limit;
    let mut last = moment;
    std::iter::from_fn(move || {
        let (moment, line) = match &mut in_known {
            None => in_file.find(|(_, event)| event.upid == upid)?,
            Some(lines) => {
                let (time, place) = lines.next().filter(|_| left > 0)?;
                let text = line_at(text, usize::try_from(place).ok()?)?.line;
                left = left.saturating_sub(text.len().min(LONG_LINE));
                ((time, place), parse_line(text)?)
            }
        };
        let from = std::mem::replace(&mut last, moment);
        Some(NextLine {
            line,
            follows_loss: order.is_some_and(|order| order.is_lost_between(from, moment)),
        })
    })
}
