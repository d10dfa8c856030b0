//! Groups the tokens of all parts by task, and sorts the tokens of each task by time.
//!
//! Lines with equal times are in file order. Real tracers write the lines of a task in time order, so usually nothing
//! is sorted and no token is copied.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::{ReadError, budget};

use super::notes::Moment;
use super::tokens::{Token, Tokens};

/// Minimum number of tokens that one thread assembles at once.
const SHARD_TOKENS: usize = 1 << 16;

/// The tasks of a recording.
pub(super) struct Tasks<'a> {
    parts: &'a [Tokens],
    /// The tasks, in the order of their first lines in the file.
    tasks: Vec<Task>,
    /// The groups of all tasks, task by task; the groups of a task are in file order.
    groups: Vec<GroupOfPart>,
    /// Tasks with lines whose times were corrected.
    corrected: FxHashSet<i64>,
}

struct Task {
    upid: i64,
    /// Range in `Tasks::groups`.
    groups: Range<usize>,
    token_count: usize,
}

#[derive(Clone, Copy, Default)]
struct GroupOfPart {
    part: u32,
    group: u32,
}

/// One event of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Time, ns.
    pub time: i64,
    /// Start of the event, byte offset in the text.
    pub place: u64,
    /// Length of the event up to its tag, bytes.
    pub start_bytes: u16,
    /// The CPU.
    pub cpu: u16,
}

impl Line {
    fn new(part: &Tokens, token: &Token) -> Line {
        Line {
            time: token.time,
            place: part.start + u64::from(token.place),
            start_bytes: token.start_bytes,
            cpu: token.cpu,
        }
    }

    pub(super) fn moment(&self) -> Moment {
        (self.time, self.place)
    }
}

impl<'a> Tasks<'a> {
    /// Finds the groups of each task; `parts` are in file order.
    pub(super) fn new(parts: &'a [Tokens]) -> Tasks<'a> {
        let mut numbers: FxHashMap<i64, u32> = FxHashMap::default();
        let mut tasks: Vec<Task> = Vec::new();
        let mut of_groups: Vec<u32> = Vec::new();
        for part in parts {
            for (group, at) in part.groups.iter().zip(0..) {
                let new = tasks.len() as u32;
                let task = *numbers.entry(group.upid).or_insert(new);
                if task == new {
                    tasks.push(Task {
                        upid: group.upid,
                        groups: 0..0,
                        token_count: 0,
                    });
                }
                let entry = &mut tasks[task as usize];
                entry.groups.end += 1;
                entry.token_count += part.of_group(at).len();
                of_groups.push(task);
            }
        }
        let mut start = 0;
        for task in &mut tasks {
            let count = task.groups.end;
            // `end` is increased when groups are added.
            task.groups = start..start;
            start += count;
        }
        let mut groups = vec![GroupOfPart::default(); of_groups.len()];
        let mut of_groups = of_groups.into_iter();
        for (part, number) in parts.iter().zip(0..) {
            for (task, group) in of_groups.by_ref().take(part.groups.len()).zip(0..) {
                let end = &mut tasks[task as usize].groups.end;
                groups[*end] = GroupOfPart {
                    part: number,
                    group,
                };
                *end += 1;
            }
        }
        Tasks {
            parts,
            tasks,
            groups,
            corrected: parts
                .iter()
                .flat_map(|part| part.corrected.iter().copied())
                .collect(),
        }
    }

    /// Number of tasks.
    pub(super) fn count(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn upid(&self, task: usize) -> i64 {
        self.tasks[task].upid
    }

    pub(super) fn token_count(&self, tasks: Range<usize>) -> usize {
        self.tasks[tasks].iter().map(|task| task.token_count).sum()
    }

    /// Returns the task with this upid.
    pub(super) fn find(&self, upid: i64) -> Option<usize> {
        self.tasks.iter().position(|task| task.upid == upid)
    }

    /// Returns ranges of tasks with about equally many lines, to be assembled at once.
    pub(super) fn shards(&self) -> Vec<Range<usize>> {
        let mut shards = Vec::new();
        let (mut start, mut tokens) = (0, 0);
        for (number, task) in self.tasks.iter().enumerate() {
            tokens += task.token_count;
            if tokens >= SHARD_TOKENS || number + 1 == self.tasks.len() {
                shards.push(start..number + 1);
                (start, tokens) = (number + 1, 0);
            }
        }
        shards
    }

    /// Calls `visit` with each line of a task, in time order. Returns the order of the lines if it differs from their
    /// order in the text.
    ///
    /// # Errors
    /// Errors if there is not enough memory to sort the lines, or if `visit` errs.
    pub(super) fn visit(
        &self,
        task: usize,
        mut visit: impl FnMut(&Line) -> Result<(), ReadError>,
    ) -> Result<Option<Vec<Moment>>, ReadError> {
        if self.is_in_order(task) && !self.corrected.contains(&self.upid(task)) {
            self.lines(task).try_for_each(|line| visit(&line))?;
            return Ok(None);
        }
        let lines = self.sorted(task)?;
        lines.iter().try_for_each(visit)?;
        Ok(Some(lines.iter().map(Line::moment).collect()))
    }

    /// Returns the moments of a task's lines. They must be in time order in the file.
    ///
    /// # Errors
    /// Errors if there is not enough memory.
    pub(super) fn moments(&self, task: usize) -> Result<Vec<Moment>, ReadError> {
        let mut moments = Vec::new();
        budget::grow_exact(&mut moments, self.tasks[task].token_count)
            .map_err(|problem| ReadError::at_byte(0, "lines of a task", problem))?;
        moments.extend(self.lines(task).map(|line| line.moment()));
        Ok(moments)
    }

    /// Returns whether the lines of a task are in time order in the file.
    fn is_in_order(&self, task: usize) -> bool {
        let mut last = i64::MIN;
        self.of_task(task).all(|(_, tokens)| {
            tokens
                .iter()
                .all(|token| std::mem::replace(&mut last, token.time) <= token.time)
        })
    }

    /// Returns the lines of a task, sorted by time; lines of equal time stay in file order.
    fn sorted(&self, task: usize) -> Result<Vec<Line>, ReadError> {
        let mut lines = Vec::new();
        budget::grow_exact(&mut lines, self.tasks[task].token_count)
            .map_err(|problem| ReadError::at_byte(0, "lines of a task", problem))?;
        lines.extend(self.lines(task));
        lines.sort_by_key(|line: &Line| line.time);
        Ok(lines)
    }

    /// Iterates over the lines of a task in file order.
    fn lines(&self, task: usize) -> impl Iterator<Item = Line> {
        self.of_task(task)
            .flat_map(|(part, tokens)| tokens.iter().map(|token| Line::new(part, token)))
    }

    fn of_task(&self, task: usize) -> impl Iterator<Item = (&'a Tokens, &'a [Token])> {
        let groups = self.groups[self.tasks[task].groups.clone()].iter();
        groups.map(|it| {
            let part = &self.parts[it.part as usize];
            (part, part.of_group(it.group as usize))
        })
    }

    /// Returns moments of lines that divide all lines into `count` time spans with about the same number of lines, in
    /// order.
    pub(super) fn cuts(&self, count: usize) -> Vec<Moment> {
        /// Only one line of this many is used.
        const STEP: usize = 64;
        let mut samples: Vec<Moment> = Vec::new();
        for part in self.parts {
            let tokens = part.all.iter().step_by(STEP);
            samples.extend(tokens.map(|token| Line::new(part, token).moment()));
        }
        samples.sort_unstable();
        (1..count)
            .filter_map(|number| samples.get(number * samples.len() / count).copied())
            .collect()
    }
}
