//! Puts the steps of a chain on the axis of the trace, with the waits between and inside them.

use super::chain::{Because, Chain, ChainStep, ChainWait, Wait};
use crate::base::{Nanos, TimeSpan};
use crate::query::job_slots::JobSlots;
use crate::query::process_times::ProcessTimes;
use crate::trace::Trace;

/// A step of a chain, and the part of it in which all job slots were taken.
pub(super) struct SlottedStep {
    pub step: ChainStep,
    /// In ns.
    pub no_slot: i64,
}

/// Returns the steps, and the waits between and inside them.
pub(super) fn on_axis(
    mut steps: Vec<SlottedStep>,
    trace: &Trace,
    times: &ProcessTimes,
    slots: &JobSlots,
) -> Chain {
    // The last event ends a ns before the trace does.
    let ends = times.rows.iter().map(|row| row.span.end);
    let end = ends
        .max()
        .map_or(trace.span.end, |end| end.min(trace.span.end));
    let wall = TimeSpan::new(trace.span.start, end.max(trace.span.start));
    let mut waits = Vec::new();
    let mut wait = |process, span: TimeSpan, time: i64, why| {
        if time > 0 {
            waits.push(ChainWait {
                process,
                span,
                time: Nanos(time),
                why,
            });
        }
    };
    let mut now = wall.start;
    let mut is_first = true;
    for SlottedStep { step, no_slot } in &mut steps {
        // If times contradict each other (in a damaged file), overlapping times count once.
        let start = step.span.start.clamp(now, wall.end.max(now));
        let end = step.span.end.clamp(start, wall.end.max(start));
        let gap = TimeSpan::new(now, start);
        if std::mem::take(&mut is_first) {
            wait(step.process, gap, gap.duration().0, Wait::Before);
        } else if step.because == Because::Child {
            // After the child on the chain ended, the process still waited for other children.
            let no_slot = match slots.is_runner(step.process) {
                true => slots.taken(now, start),
                false => 0,
            };
            wait(step.process, gap, no_slot, Wait::NoSlot);
            wait(
                step.process,
                gap,
                gap.duration().0 - no_slot,
                Wait::Children,
            );
        } else {
            // A process that reads a file: before its job was started, the job may have waited for a slot. From then on
            // the job had one.
            let job = slots.job_of(step.process);
            let born = times.of(job).span.start.clamp(now, start);
            let no_slot = slots.taken(now, born);
            let before = TimeSpan::new(now, born);
            let idle = before.duration().0 - no_slot;
            wait(step.process, before, no_slot, Wait::NoSlot);
            wait(step.process, before, idle, Wait::NotStarted);
            let beside = TimeSpan::new(born, start);
            wait(step.process, beside, beside.duration().0, Wait::Beside);
        }
        let span = TimeSpan::new(start, end);
        let length = span.duration().0;
        step.own = Nanos(step.own.0.clamp(0, length));
        let rest = length - step.own.0;
        let no_slot = (*no_slot).clamp(0, rest);
        wait(step.process, span, no_slot, Wait::NoSlot);
        wait(step.process, span, rest - no_slot, Wait::Children);
        now = end;
    }
    let after = TimeSpan::new(now, wall.end.max(now));
    if let Some(SlottedStep { step: last, .. }) = steps.last() {
        // Jobs that are not on the chain ran later because they had no slot before.
        let no_slot = slots.taken(after.start, after.end);
        wait(last.process, after, no_slot, Wait::NoSlot);
        let rest = after.duration().0 - no_slot;
        wait(last.process, after, rest, Wait::After);
    }
    let steps: Vec<ChainStep> = steps.into_iter().map(|it| it.step).collect();
    Chain {
        length: Nanos(steps.iter().map(|step| step.own.0).sum()),
        steps,
        waits,
        wall,
    }
}
