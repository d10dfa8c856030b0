//! Converts the tokens of all parts to columns: completes losses, groups the lines by task, assembles the calls of the
//! tasks in parallel, and puts them into columns that follow each other in time.

use std::ops::Range;

use rayon::prelude::*;

use crate::base::{Diagnostics, Job, ReadError, budget};
use crate::event::{Gap, LaneColumns};

use super::by_task::Tasks;
use super::calls::Call;
use super::columns::columns_of;
use super::describe::MOST_AHEAD_BYTES;
use super::emit::{Called, Calls, Emitter};
use super::environment::Environments;
use super::file::File;
use super::losses::{self, Losses, PartLosses};
use super::notes::{Moment, Notes};
use super::reordered::Reordered;
use super::tokens::Tokens;

/// Number of lines after which the reader checks whether the job was cancelled.
const CHECK_LINES: usize = 1 << 14;
/// Maximum distance of two lines of a call, in bytes, at which the second is found by reading the text between them.
const NEAR_BYTES: u64 = 4096;
/// Estimated memory for a line's call until it is in the columns, in bytes.
const BYTES_A_LINE: u64 = 2 * size_of::<Called>() as u64;

/// The result for the lines of a recording.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    /// The columns, one after the other in time. The first contains all gaps, and the diagnostics of all lines.
    pub parts: Vec<LaneColumns>,
    /// Diagnostics of calls whose halves may not belong together.
    pub doubts: Diagnostics,
    /// The environments of processes.
    pub environments: Environments,
}

/// Assembles the calls of all tasks into `part_count` columns. `read` are the tokens of all parts in file order, `gaps`
/// are the gaps in the recording's other events.
///
/// # Errors
/// Errors if there is not enough memory, or the job was cancelled.
pub(crate) fn assemble(
    file: &File,
    mut read: Vec<Tokens>,
    gaps: &[Gap],
    part_count: usize,
    job: &Job,
) -> Result<Assembled, ReadError> {
    for tag in read.iter().flat_map(|part| &part.unknown_tags) {
        // Assign numbers in file order here, so that they do not depend on which thread needs them first.
        let _ = file.kinds.of_tag(tag);
    }
    let mut notes = Notes::default();
    for part in &mut read {
        notes.append(std::mem::take(&mut part.notes));
    }
    let mut losses: Vec<&mut PartLosses> = read.iter_mut().map(|part| &mut part.losses).collect();
    losses::complete(&mut losses);
    let lines = || read.iter().flat_map(|part| &part.losses.lines);
    let moments: Vec<Moment> = lines().filter_map(|line| line.moment()).collect();
    let own_gaps: Vec<Gap> = lines().filter_map(|line| line.gap()).collect();
    let all_gaps = [gaps, &own_gaps].concat();
    let losses = Losses::new(moments.clone(), &all_gaps);

    let tasks = Tasks::new(&read);
    for task in 0..tasks.count() {
        // Assign keys in file order here.
        let _ = file.upids.key(tasks.upid(task));
    }
    let shards: Vec<Result<Shard, ReadError>> = (tasks.shards().into_par_iter())
        .map(|shard| {
            let bytes = tasks.token_count(shard.clone()) as u64 * BYTES_A_LINE;
            budget::require(bytes).map_err(|problem| ReadError::at_byte(0, "calls", problem))?;
            assemble_shard(file, &tasks, shard, &losses, job)
        })
        .collect();
    let mut reordered = Reordered::new(moments);
    let mut calls = Vec::with_capacity(shards.len());
    for shard in shards {
        let shard = shard?;
        calls.push(shard.calls);
        for (upid, lines) in shard.reordered {
            reordered.add(upid, lines);
        }
    }
    let environments = match tasks.find(0) {
        Some(task) => Environments::of(file, &tasks, task)?,
        None => Environments::default(),
    };
    // A second read finds the same order.
    let _ = file.order.set(reordered);

    let cuts = tasks.cuts(part_count);
    drop(tasks);
    drop(read);
    let mut doubts = Notes::default();
    for calls in &mut calls {
        notes.append(std::mem::take(&mut calls.notes));
        doubts.append(std::mem::take(&mut calls.doubts));
    }
    let starts = std::iter::once((i64::MIN, 0)).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().map(Some).chain([None]);
    let spans: Vec<(Moment, Option<Moment>)> = starts.zip(ends).collect();
    let parts: Vec<Result<LaneColumns, ReadError>> = (spans.par_iter())
        .map(|&(from, until)| {
            job.check()?;
            Ok(columns_of(&calls, from, until))
        })
        .collect();
    let mut parts = parts
        .into_iter()
        .collect::<Result<Vec<LaneColumns>, ReadError>>()?;
    let location = |place| file.location(place);
    if let Some(first) = parts.first_mut() {
        first.gaps = own_gaps;
        first.diagnostics = notes.in_order(location);
    }
    Ok(Assembled {
        parts,
        doubts: doubts.in_order(location),
        environments,
    })
}

/// The results of some tasks.
struct Shard {
    calls: Calls,
    /// The tasks whose lines are not in time order in the text, or are far apart in it, with the order of their lines.
    reordered: Vec<(i64, Vec<Moment>)>,
}

/// Assembles the calls of some tasks.
fn assemble_shard(
    file: &File,
    tasks: &Tasks<'_>,
    shard: Range<usize>,
    losses: &Losses,
    job: &Job,
) -> Result<Shard, ReadError> {
    let mut emitter = Emitter::new(file, losses);
    let mut reordered = Vec::new();
    let mut count = 0_usize;
    for task in shard {
        let upid = tasks.upid(task);
        emitter.start_task(upid);
        let mut distance = Distance::default();
        let order = tasks.visit(task, |line| {
            count += 1;
            if count.is_multiple_of(CHECK_LINES) {
                job.check()?;
            }
            distance.add(line.place, &emitter.call);
            emitter.line(line);
            Ok(())
        })?;
        distance.add(file.text().len() as u64, &emitter.call);
        emitter.finish_task();
        let order = match order {
            None if distance.is_far() => Some(tasks.moments(task)?),
            order => order,
        };
        reordered.extend(order.map(|order| (upid, order)));
    }
    let mut calls = emitter.out;
    calls.sort();
    Ok(Shard { calls, reordered })
}

/// Estimates how many bytes of text are read if each call of a task is decoded separately: the lines of a call can be
/// far apart, and the text between them is also read.
#[derive(Debug, Default)]
struct Distance {
    bytes: u64,
    lines: u64,
    /// Byte offset of the last line.
    last: u64,
}

impl Distance {
    /// Adds the text from the last line to the next one, which is at byte `place`. `call` is the call that is being
    /// assembled: text after its last line is not counted.
    #[inline]
    fn add(&mut self, place: u64, call: &Call<'_>) {
        let bytes = place.saturating_sub(self.last);
        if bytes > NEAR_BYTES && self.lines > 0 && call.may_go_on() {
            self.bytes += bytes.min(MOST_AHEAD_BYTES as u64);
        }
        self.last = place;
        self.lines += 1;
    }

    /// Returns whether the calls' lines are so far apart that their places are stored instead.
    fn is_far(&self) -> bool {
        self.bytes / NEAR_BYTES > self.lines
    }
}
