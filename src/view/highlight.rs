//! Highlighted spans of processes' lives, such as the critical chain of a build.

use crate::base::TimeSpan;
use crate::trace::ProcessId;

/// Spans of processes' lives that are outlined in the timeline and marked in the process tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Highlight {
    /// Title shown to the user.
    pub title: String,
    /// The spans, sorted by process, then start.
    spans: Vec<LifeSpan>,
}

/// A part of a process's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifeSpan {
    /// The process.
    pub process: ProcessId,
    /// The time range.
    pub span: TimeSpan,
}

impl Highlight {
    /// Makes a highlight of these spans, in any order.
    #[must_use]
    pub fn new(title: &str, mut spans: Vec<LifeSpan>) -> Highlight {
        spans.sort_by_key(|it| (it.process, it.span.start));
        Highlight {
            title: title.to_owned(),
            spans,
        }
    }

    /// Returns all spans, sorted by process.
    #[must_use]
    pub fn spans(&self) -> &[LifeSpan] {
        &self.spans
    }

    /// Returns the spans of one process.
    #[must_use]
    pub fn of(&self, id: ProcessId) -> &[LifeSpan] {
        let start = self.spans.partition_point(|entry| entry.process < id);
        let end = self.spans.partition_point(|entry| entry.process <= id);
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
        let of = |id: u32, start| LifeSpan {
            process: ProcessId(id),
            span: span(start, start + 5),
        };
        let highlight = Highlight::new("chain", vec![of(3, 20), of(1, 5), of(3, 10)]);
        assert_eq!(highlight.of(ProcessId(3)), [of(3, 10), of(3, 20)]);
        assert!(highlight.of(ProcessId(2)).is_empty());
    }
}
