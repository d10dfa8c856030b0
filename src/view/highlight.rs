//! What is set off from the rest: stretches of processes' lives, such as the critical chain of a build.

use crate::base::TimeSpan;
use crate::trace::ProcessId;

/// Stretches of processes' lives that are outlined in the timeline and marked in the process tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// What they are, for people.
    pub title: String,
    /// Who, and from when to when; sorted.
    spans: Vec<(ProcessId, TimeSpan)>,
}

impl Highlight {
    /// Sets these off.
    #[must_use]
    pub fn new(title: &str, mut spans: Vec<(ProcessId, TimeSpan)>) -> Highlight {
        spans.sort_by_key(|(id, span)| (*id, span.start));
        Highlight {
            title: title.to_owned(),
            spans,
        }
    }

    /// The stretches of one process.
    #[must_use]
    pub fn of(&self, id: ProcessId) -> &[(ProcessId, TimeSpan)] {
        let start = self.spans.partition_point(|entry| entry.0 < id);
        let end = self.spans.partition_point(|entry| entry.0 <= id);
        &self.spans[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    #[test]
    fn stretches_are_found_by_process() {
        let span = |start, end| TimeSpan::new(Timestamp(start), Timestamp(end));
        let of = |id: u32, start| (ProcessId(id), span(start, start + 5));
        let highlight = Highlight::new("chain", vec![of(3, 20), of(1, 5), of(3, 10)]);
        assert_eq!(highlight.of(ProcessId(3)), [of(3, 10), of(3, 20)]);
        assert!(highlight.of(ProcessId(2)).is_empty());
    }
}
