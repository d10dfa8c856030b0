//! Sections of a file in which lines of a task are out of order. The bulk pass finds them and sorts the lines; code
//! that reads a call again later must sort them in the same way.
//!
//! ```text
//! 0: 7,..,1!A[0]sh   0: 7,..,3!A[2]run   0: 7,..,2!A[1]a.sh   0: 7,..,4!A[3]x     from A[2] to A[1]
//! ```
//!
//! A section extends from a line to the last line that is after it and has an earlier time. Outside the sections the
//! lines of the task are in order, so sorting each section sorts all lines.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, RwLock};

use rustc_hash::FxHashMap;

use super::line::{Payload, parse_line};
use super::lines::{LONG_LINE, Step, line_at, lines_after};

/// The places of the first and the last line of a section.
type Stretch = (u64, u64);

/// Sections of a part while it is read, by task, in order.
#[derive(Debug, Default)]
pub(crate) struct Found(FxHashMap<i64, Vec<Stretch>>);

impl Found {
    /// Records that the line of `upid` at `place` is earlier in time than the line at `furthest`, its furthest line so
    /// far.
    #[cold]
    pub(crate) fn goes_back(&mut self, upid: i64, place: u64, furthest: u64) {
        push(self.0.entry(upid).or_default(), (place, furthest));
    }
}

/// Appends a section whose end is after those of all others, and merges it with the sections that it touches.
fn push(list: &mut Vec<Stretch>, mut stretch: Stretch) {
    while let Some(last) = list.pop_if(|last| last.1 >= stretch.0) {
        stretch = (last.0.min(stretch.0), last.1.max(stretch.1));
    }
    list.push(stretch);
}

/// The sections of a file.
#[derive(Debug, Default)]
pub(crate) struct Jumbled(RwLock<FxHashMap<i64, Vec<Arc<Known>>>>);

/// A section, and after the first use its lines: (time, place), in time order.
#[derive(Debug)]
struct Known {
    stretch: Stretch,
    lines: OnceLock<Vec<(i64, usize)>>,
}

impl Known {
    /// Returns the lines of `upid` and the gap lines, in time order.
    fn lines(&self, text: &[u8], upid: i64) -> &[(i64, usize)] {
        self.lines.get_or_init(|| {
            let start = usize::try_from(self.stretch.0).unwrap_or(usize::MAX);
            let lines = lines_after(text, start, usize::MAX);
            let lines = lines.take_while(|(_, place)| *place as u64 <= self.stretch.1);
            let steps = lines.filter_map(|(line, at)| Some((Step::of_line(line).next()?, at)));
            let mut lines = in_order(steps);
            lines.retain(|(_, step, _)| step.is_of(upid));
            lines.into_iter().map(|(time, _, at)| (time, at)).collect()
        })
    }
}

impl Jumbled {
    /// Adds the sections of a part.
    pub fn add(&self, found: Found) {
        if found.0.is_empty() {
            return;
        }
        let Ok(mut all) = self.0.write() else {
            return;
        };
        for (upid, mut stretches) in found.0 {
            let list = all.entry(upid).or_default();
            stretches.extend(list.drain(..).map(|known| known.stretch));
            stretches.sort_unstable();
            let mut joined = Vec::with_capacity(stretches.len());
            for stretch in stretches {
                push(&mut joined, stretch);
            }
            let known = joined.into_iter().map(|stretch| Known {
                stretch,
                lines: OnceLock::new(),
            });
            *list = known.map(Arc::new).collect();
        }
    }

    /// Returns the first section of a task that ends at or after `place`.
    fn at(&self, upid: i64, place: usize) -> Option<Arc<Known>> {
        let all = self.0.read().ok()?;
        let list = all.get(&upid)?;
        let place = place as u64;
        let first = list.partition_point(|known| known.stretch.1 < place);
        list.get(first).cloned()
    }
}

/// Iterates over the events of `line`'s task after `line`, and over gaps, in time order and within about `limit` bytes.
/// `place` is the start of the line, `next` the start of the line after it.
pub(crate) fn steps_behind<'a>(
    (text, jumbled): (&'a [u8], &'a Jumbled),
    line: &Payload<'a>,
    (place, next): (usize, usize),
    limit: usize,
) -> impl Iterator<Item = Step<'a>> {
    let upid = line.upid;
    let mut stretch = jumbled.at(upid, place);
    // Index of the next line to return, while inside a section.
    let mut inside = None;
    let mut waiting: VecDeque<Step<'a>> = VecDeque::new();
    let mut at = next;
    if let Some(known) = &stretch
        && known.stretch.0 <= place as u64
    {
        // The line that contains the event may start before the event.
        let start = text
            .get(..place)
            .and_then(|before| memchr::memrchr(b'\n', before));
        let start = start.map_or(0, |newline| newline + 1);
        let whole = line_at(text, start).map_or(&[][..], |(whole, _)| whole);
        let time = parse_line(whole).map_or(line.time, |first| first.time);
        let lines = known.lines(text, upid);
        inside = Some(lines.partition_point(|known| *known <= (time, start)));
        let rest = Step::of_line(whole).skip_while(|step| match step {
            Step::Event(event) => !std::ptr::eq(event.tag, line.tag),
            Step::Hole => true,
        });
        waiting.extend(rest.skip(1).filter(|step| step.is_of(upid)));
    }
    let mut left = limit;
    std::iter::from_fn(move || {
        loop {
            if let Some(step) = waiting.pop_front() {
                return Some(step);
            }
            if left == 0 {
                return None;
            }
            let (here, is_behind) = match (&stretch, &mut inside) {
                (Some(known), Some(index)) => match known.lines(text, upid).get(*index) {
                    Some((_, here)) => {
                        *index += 1;
                        (*here, false)
                    }
                    None => {
                        let last = usize::try_from(known.stretch.1).unwrap_or(usize::MAX);
                        at = line_at(text, last).map_or(text.len(), |(_, next)| next);
                        inside = None;
                        stretch = jumbled.at(upid, at);
                        continue;
                    }
                },
                (Some(known), inside) if known.stretch.0 <= at as u64 => {
                    *inside = Some(0);
                    continue;
                }
                _ => (at, true),
            };
            let (line, end) = line_at(text, here)?;
            waiting.extend(Step::of_line(line).filter(|step| step.is_of(upid)));
            left = left.saturating_sub((end - here).min(LONG_LINE));
            if is_behind {
                at = end;
            }
        }
    })
}

/// Sorts steps by time; returns each with its time and the value given with it. A gap line is printed before the next
/// line of its CPU and gets that line's time.
pub(crate) fn in_order<'a, T>(
    steps: impl Iterator<Item = (Step<'a>, T)>,
) -> Vec<(i64, Step<'a>, T)> {
    let mut timed: Vec<(i64, Step<'a>, T)> = Vec::new();
    let mut holes = 0;
    for (step, with) in steps {
        match step.time() {
            None => holes += 1,
            Some(time) => {
                for hole in timed.iter_mut().rev().take(std::mem::take(&mut holes)) {
                    hole.0 = time;
                }
            }
        }
        timed.push((step.time().unwrap_or(i64::MAX), step, with));
    }
    timed.sort_by_key(|step| step.0);
    timed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_touch_are_one() {
        let mut found = Found::default();
        for (place, furthest) in [(10, 20), (30, 40), (35, 50), (60, 70), (45, 80)] {
            found.goes_back(7, place, furthest);
        }
        assert_eq!(found.0[&7], [(10, 20), (30, 80)]);
        let all = Jumbled::default();
        all.add(found);
        let mut more = Found::default();
        more.goes_back(7, 5, 12);
        more.goes_back(7, 90, 95);
        all.add(more);
        let at = |upid, place| all.at(upid, place).map(|known| known.stretch);
        assert_eq!(at(7, 0), Some((5, 20)));
        assert_eq!(at(7, 21), Some((30, 80)));
        assert_eq!(at(7, 81), Some((90, 95)));
        assert_eq!((at(7, 96), at(8, 0)), (None, None));
    }
}
