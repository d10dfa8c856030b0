//! How long a build would take with another number of job slots: an estimate with its bounds.
//!
//! No schedule is shorter than the critical chain, or than the work divided by the slots. A runner that never leaves a
//! slot free while a job is ready needs at most `work / slots + chain * (1 - 1 / slots)` (Graham 1966). Both assume that
//! each job takes as long as it did, with a processor for each slot.

use crate::base::Nanos;

/// The duration of a build with a number of job slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotEstimate {
    /// The lower bound of the duration.
    pub least: Nanos,
    /// The upper bound of the duration.
    pub most: Nanos,
}

/// Returns the bounds for `slots` job slots; `work` is the total time of all jobs, `chain` is the length of the
/// critical chain.
#[must_use]
pub(crate) fn with_slots(work: Nanos, chain: Nanos, slots: u32) -> SlotEstimate {
    let slots = i64::from(slots.max(1));
    let chain = chain.0.min(work.0).max(0);
    let share = work.0 / slots;
    SlotEstimate {
        least: Nanos(share.max(chain)),
        most: Nanos(share + chain - chain / slots),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_between_the_chain_and_one_job_at_a_time() {
        let (work, chain) = (Nanos(100), Nanos(30));
        let of = |slots| with_slots(work, chain, slots);
        assert_eq!((of(1).least, of(1).most), (Nanos(100), Nanos(100)));
        assert_eq!((of(2).least, of(2).most), (Nanos(50), Nanos(65)));
        assert_eq!((of(100).least, of(100).most), (Nanos(30), Nanos(31)));
        // A chain is part of the work.
        assert_eq!(with_slots(Nanos(10), Nanos(30), 1).most, Nanos(10));
    }
}
