//! Stretches of a file in which the lines of a task are out of order: the bulk pass meets them and puts the lines in
//! order; whoever reads a call again later must do the same.
//!
//! ```text
//! 0: 7,..,1!A[0]sh   0: 7,..,3!A[2]run   0: 7,..,2!A[1]a.sh   0: 7,..,4!A[3]x     from A[2] to A[1]
//! ```
//!
//! A stretch reaches from a line to the last one that comes after it and is earlier: around stretches the lines of the
//! task are in order, so that sorting each stretch sorts them all.

use std::collections::VecDeque;
use std::sync::RwLock;

use rustc_hash::FxHashMap;

use super::file::{File, LONG_LINE, Step, line_at, lines_after};
use super::line::Payload;

/// The places of the first and the last line of a stretch.
type Stretch = (u64, u64);

/// Stretches of a part while it is read, by task; each in order.
#[derive(Debug, Default)]
pub struct Found(FxHashMap<i64, Vec<Stretch>>);

impl Found {
    /// The line of `upid` at `place` came after the one at `furthest`, which stands behind all that came before.
    #[cold]
    pub fn goes_back(&mut self, upid: i64, place: u64, furthest: u64) {
        push(self.0.entry(upid).or_default(), (place, furthest));
    }
}

/// Puts a stretch that ends behind all others into a list; those that it touches become one with it.
fn push(list: &mut Vec<Stretch>, mut stretch: Stretch) {
    while let Some(last) = list.pop_if(|last| last.1 >= stretch.0) {
        stretch = (last.0.min(stretch.0), last.1.max(stretch.1));
    }
    list.push(stretch);
}

/// The stretches of a file.
#[derive(Debug, Default)]
pub struct Jumbled(RwLock<FxHashMap<i64, Vec<Stretch>>>);

impl Jumbled {
    /// Takes in those of a part.
    pub fn add(&self, found: Found) {
        if found.0.is_empty() {
            return;
        }
        let Ok(mut all) = self.0.write() else {
            return;
        };
        for (upid, stretches) in found.0 {
            let list = all.entry(upid).or_default();
            list.extend(stretches);
            list.sort_unstable();
            let mut joined = Vec::with_capacity(list.len());
            for stretch in list.drain(..) {
                push(&mut joined, stretch);
            }
            *list = joined;
        }
    }

    /// Those of a task from `place` on, in order.
    fn of(&self, upid: i64, place: u64) -> Vec<Stretch> {
        let Ok(all) = self.0.read() else {
            return Vec::new();
        };
        let Some(list) = all.get(&upid) else {
            return Vec::new();
        };
        let first = list.partition_point(|stretch| stretch.1 < place);
        list.get(first..).unwrap_or(&[]).to_vec()
    }
}

/// What `line`'s task says after it, in order of time, and the holes; within about `limit` bytes. `place` is where the
/// line starts, `next` where the one behind it does.
pub fn steps_behind<'a>(
    file: &'a File,
    line: &Payload<'a>,
    (place, next): (usize, usize),
    limit: usize,
) -> impl Iterator<Item = Step<'a>> {
    let text = file.text();
    let upid = line.upid;
    let mut stretches = file.jumbled.of(upid, place as u64).into_iter().peekable();
    let mut waiting: VecDeque<Step<'a>> = VecDeque::new();
    let mut at = next;
    if let Some((first, last)) = stretches.next_if(|stretch| stretch.0 <= place as u64) {
        let mut steps = sorted(text, upid, (first, last));
        let is_line = |step: &Step<'_>| match step {
            Step::Event(event) => std::ptr::eq(event.tag, line.tag),
            Step::Hole => false,
        };
        let own = steps.iter().position(is_line);
        waiting.extend(steps.drain(own.map_or(0, |own| own + 1)..));
        at = behind(text, last).max(next);
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
            let end = match stretches.next_if(|stretch| stretch.0 <= at as u64) {
                Some(stretch) => {
                    waiting.extend(sorted(text, upid, stretch));
                    behind(text, stretch.1).max(at + 1)
                }
                None => {
                    let (line, end) = line_at(text, at)?;
                    waiting.extend(Step::of_line(line).filter(|step| step.is_of(upid)));
                    end
                }
            };
            left = left.saturating_sub((end - at).min(LONG_LINE));
            at = end;
        }
    })
}

/// Where the line behind the one at `place` starts.
fn behind(text: &[u8], place: u64) -> usize {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    line_at(text, place).map_or(text.len(), |(_, next)| next)
}

/// What a task says in a stretch, in order of time.
fn sorted<'a>(text: &'a [u8], upid: i64, (first, last): Stretch) -> Vec<Step<'a>> {
    let start = usize::try_from(first).unwrap_or(usize::MAX);
    let lines = lines_after(text, start, usize::MAX);
    let lines = lines.take_while(|(_, place)| *place as u64 <= last);
    let steps = lines.flat_map(|(line, _)| Step::of_line(line));
    let mut steps = in_order(steps.map(|step| (step, ())));
    steps.retain(|step| step.0.is_of(upid));
    steps.into_iter().map(|step| step.0).collect()
}

/// Steps in order of time, each with what was given with it. A hole is told of before the next line of its CPU: it goes
/// with that.
pub fn in_order<'a, T>(steps: impl Iterator<Item = (Step<'a>, T)>) -> Vec<(Step<'a>, T)> {
    let mut timed: Vec<(i64, (Step<'a>, T))> = Vec::new();
    let mut holes = 0;
    for (step, with) in steps {
        match step {
            Step::Hole => holes += 1,
            Step::Event(event) => {
                for hole in timed.iter_mut().rev().take(std::mem::take(&mut holes)) {
                    hole.0 = event.time;
                }
            }
        }
        let time = match step {
            Step::Hole => i64::MAX,
            Step::Event(event) => event.time,
        };
        timed.push((time, (step, with)));
    }
    timed.sort_by_key(|step| step.0);
    timed.into_iter().map(|step| step.1).collect()
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
        assert_eq!(all.of(7, 0), [(5, 20), (30, 80), (90, 95)]);
        assert_eq!(all.of(7, 81), [(90, 95)]);
        assert_eq!(all.of(8, 0), []);
    }
}
