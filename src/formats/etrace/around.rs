//! What lies around a part: the rest of its open calls behind it, what a task was doing before it, and how
//! far a hole reaches. Each looks a bounded way, far beyond what one call takes in a whole file.

use crate::base::{StringId, Strings, Timestamp};

use super::calls::Fit;
use super::emit::{Emitter, Target, Task};
use super::file::{Step, events_after, is_hole, lines_after, lines_before};
use super::line::{Payload, Word, parse_line};
use super::sorts::Sort;

/// How far behind its end a part reads on.
const MOST_AHEAD_BYTES: usize = 8 << 20;
/// How far back the call before is looked for.
pub const MOST_BACK_BYTES: usize = 4 << 20;

/// Reads on behind a part's end until all its calls are whole, or it is clear that they never will be.
pub(super) fn read_on<'a>(emitter: &mut Emitter<'a>, text: &'a [u8], end: usize) {
    let mut is_waiting: Vec<bool> = emitter
        .tasks
        .iter()
        .map(|task| task.is_ours && !task.call.is_settled())
        .collect();
    let mut count = is_waiting.iter().filter(|&&waits| waits).count();
    if count == 0 {
        return;
    }
    let lines = lines_after(text, end, MOST_AHEAD_BYTES);
    for step in lines.flat_map(|(line, _)| Step::of_line(line)) {
        let Step::Event(line) = step else {
            emitter.holes = emitter.holes.wrapping_add(1);
            continue;
        };
        let Some(slot) = emitter.known_slot(line.upid) else {
            continue;
        };
        let Some(waits) = is_waiting.get_mut(slot as usize).filter(|waits| **waits) else {
            continue;
        };
        let fit = emitter.read_late(slot, &line);
        let Some(task) = emitter.tasks.get(slot as usize) else {
            break;
        };
        if fit == Fit::Alone {
            let fails = matches!(
                (task.call.sort, line.word),
                (Sort::Mount, Word::Call(Sort::MountFailed))
                    | (Sort::Umount, Word::Call(Sort::UmountFailed))
            );
            if fails {
                emitter.fail(task.target);
            }
        }
        if fit == Fit::Alone
            || emitter
                .tasks
                .get(slot as usize)
                .is_none_or(|task| task.call.is_settled())
        {
            *waits = false;
            count -= 1;
            if count == 0 {
                return;
            }
        }
    }
}

/// Whether the first line of a task in a part only makes sense with what it did before.
pub(super) fn needs_context(line: &Payload<'_>) -> bool {
    match line.word {
        Word::Call(sort) => match sort {
            Sort::SchedFork
            | Sort::RenameTo
            | Sort::RenameFailed
            | Sort::LinkTo
            | Sort::LinkFailed => true,
            Sort::Env => line.number.is_some_and(|number| number > 0),
            _ => false,
        },
        Word::Unknown => line.number.is_some_and(|number| number > 0),
        _ => true,
    }
}

/// Brings `task` into the state in which `upid` was at `start`: finds its latest call before and reads that
/// again. The call stays its own part's. `budget` are the bytes that may still be looked at.
pub(super) fn look_back<'a>(
    text: &'a [u8],
    start: usize,
    upid: i64,
    budget: &mut usize,
    task: &mut Task<'a>,
    strings: &mut Strings,
) {
    let prefix = format!("0: {upid},");
    // The latest first; `None` is a hole.
    let mut lines: Vec<Option<(Payload<'a>, usize)>> = Vec::new();
    let mut reached = start;
    for (line, place) in lines_before(text, start, MOST_BACK_BYTES.min(*budget)) {
        reached = place;
        // Most lines can be told by their first bytes.
        if line.starts_with(b"0: ") && !line.starts_with(prefix.as_bytes()) {
            continue;
        }
        if is_hole(line) {
            lines.push(None);
            continue;
        }
        let Some(payload) = parse_line(line).filter(|payload| payload.upid == upid) else {
            continue;
        };
        lines.push(Some((payload, place)));
        let is_start = match payload.word {
            Word::Call(_) | Word::Unknown => payload.number.is_none_or(|number| number == 0),
            _ => false,
        };
        if is_start {
            break;
        }
    }
    *budget = budget.saturating_sub(start - reached);
    let mut first = StringId::EMPTY;
    for line in lines.iter().rev() {
        let Some((line, place)) = line else {
            task.call.meet_hole();
            continue;
        };
        let mut keep = |_, bytes: &[u8]| first = strings.intern(bytes);
        let sort = match line.word {
            Word::Call(sort) => Some(sort),
            Word::Unknown => Some(Sort::Unknown),
            _ => None,
        };
        match sort {
            Some(sort) if line.number.is_none_or(|number| number == 0) => {
                task.call.start(sort, line, *place as u64);
            }
            _ => {
                if task.call.read(line, &mut keep) == Fit::Alone
                    && let Word::Text(slot) = line.word
                {
                    task.call.finish_text(&mut keep);
                    task.call.start_lone(slot, line, *place as u64);
                }
            }
        }
    }
    task.target = match task.call.sort {
        Sort::RenameFrom | Sort::Rename2From | Sort::LinkFrom | Sort::LinkatFrom => Target::First,
        _ => Target::Nothing,
    };
    task.first = first;
}

/// The last time of `cpu` before the line at `place`, and the first after it.
pub(super) fn hole(text: &[u8], place: u64, cpu: u32) -> (Timestamp, Timestamp) {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    let before = lines_before(text, place, MOST_BACK_BYTES)
        .filter_map(|(line, _)| parse_line(line))
        .find(|line| line.cpu == cpu)
        .map_or(Timestamp::MIN, |line| Timestamp(line.time));
    let after = events_after(text, place, MOST_BACK_BYTES)
        .find(|(line, _)| line.cpu == cpu)
        .map_or(Timestamp::MAX, |(line, _)| Timestamp(line.time));
    (before, after.max(before))
}
