//! The surroundings of a part: the rest of its open calls after its end, the state of a task before its start, and the
//! extent of a gap. Each search is bounded, far beyond what one call takes up in a whole file.

use crate::base::{StringId, Strings, Timestamp};

use super::calls::Fit;
use super::emit::{Emitter, Target, Task};
use super::file::Seam;
use super::jumbled::in_order;
use super::line::{Payload, Word, parse_line};
use super::lines::{Step, events_after, is_hole, lines_after, lines_before};
use super::sorts::Sort;

/// How far after its end a part reads on, bytes.
const MOST_AHEAD_BYTES: usize = 8 << 20;
/// How many lines after a part's end, and before its start, are sorted by time.
const AROUND_LINES: usize = 256;
/// How far back the preceding call is searched, bytes.
pub(crate) const MOST_BACK_BYTES: usize = 4 << 20;

/// Reads on after a part's end until all its calls are complete, or cannot become complete.
pub(super) fn read_on<'a>(emitter: &mut Emitter<'a>, text: &'a [u8], seam: Seam) {
    let mut is_waiting: Vec<bool> = emitter
        .tasks
        .iter()
        .map(|task| task.is_ours && !task.call.is_settled())
        .collect();
    let mut count = is_waiting.iter().filter(|&&waits| waits).count();
    if count == 0 {
        return;
    }
    let mut lines = lines_after(text, seam.start, MOST_AHEAD_BYTES).flat_map(|(line, place)| {
        let steps = Step::of_line(line);
        let is_later =
            move |step: &Step<'_>| place >= seam.end || seam.is_later(place, step.time());
        steps.filter(is_later).map(move |step| (step, place))
    });
    let of_seam = text.get(seam.start..seam.end).unwrap_or(&[]);
    let in_seam = memchr::memchr_iter(b'\n', of_seam).count();
    // Only lines near the cut can be out of order: sort these, and read the rest in file order.
    let near = in_order(lines.by_ref().take(in_seam + AROUND_LINES));
    let near = near.into_iter().map(|(_, step, place)| (step, place));
    for (step, place) in near.chain(lines) {
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
        let fit = emitter.read_late(slot, &line, place);
        let Some(task) = emitter.tasks.get(slot as usize) else {
            break;
        };
        if fit == Fit::Alone {
            // The failure of a mount or unmount is reported by the task's next call line.
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

/// Returns whether the first line of a task in a part depends on the task's call before it.
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

/// Brings `task` into the state that `upid` had at `seam`: finds its latest call before it and reads the call again.
/// The call still belongs to its own part. `budget` is the number of bytes that may still be searched.
pub(super) fn look_back<'a>(
    text: &'a [u8],
    seam: Seam,
    upid: i64,
    budget: &mut usize,
    task: &mut Task<'a>,
    strings: &mut Strings,
) {
    let prefix = format!("0: {upid},");
    // Latest line first.
    let mut lines: Vec<(Step<'a>, usize)> = Vec::new();
    let in_seam = lines_after(text, seam.start, seam.end - seam.start);
    for (line, place) in in_seam.take_while(|(_, place)| *place < seam.end) {
        let steps = Step::of_line(line).filter(|step| step.is_of(upid));
        let steps = steps.filter(|step| !seam.is_later(place, step.time()));
        lines.extend(steps.map(|step| (step, place)));
    }
    lines.reverse();
    let mut reached = seam.start;
    let mut more = None;
    for (line, place) in lines_before(text, seam.start, MOST_BACK_BYTES.min(*budget)) {
        // Search some lines further: lines may be out of order here.
        match &mut more {
            Some(0) => break,
            Some(more) => *more -= 1,
            None => {}
        }
        reached = place;
        // The first bytes of most lines show the task.
        if line.starts_with(b"0: ") && !line.starts_with(prefix.as_bytes()) {
            continue;
        }
        if is_hole(line) {
            lines.push((Step::Hole, place));
            continue;
        }
        let Some(payload) = parse_line(line).filter(|payload| payload.upid == upid) else {
            continue;
        };
        lines.push((Step::Event(payload), place));
        let is_start = match payload.word {
            Word::Call(_) | Word::Unknown => payload.number.is_none_or(|number| number == 0),
            _ => false,
        };
        if is_start && more.is_none() {
            more = Some(AROUND_LINES);
        }
    }
    *budget = budget.saturating_sub(seam.start - reached);
    let mut first = StringId::EMPTY;
    for (_, step, place) in in_order(lines.into_iter().rev()) {
        let Step::Event(line) = &step else {
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
                first = StringId::EMPTY;
                task.call.start(sort, line, place as u64);
            }
            _ => {
                if task.call.read(line, &mut keep) == Fit::Alone
                    && let Word::Text(slot) = line.word
                {
                    task.call.finish_text(&mut keep);
                    task.call.start_lone(slot, line, place as u64);
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

/// Returns the last time of `cpu` before the line at `place`, and the first after it.
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
