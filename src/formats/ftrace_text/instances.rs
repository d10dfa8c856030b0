//! Counts the events of each buffer from which a text was printed, for the info pane. Of the 267 texts of the corpus,
//! 13 contain events of several buffers.

use rustc_hash::FxHashMap;

/// Maximum number of buffers that are counted separately; further buffers are counted as one.
const MOST: usize = 256;

/// Number of events in each instance's buffer; the top buffer's name is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instances {
    counts: FxHashMap<Vec<u8>, u64>,
    /// The buffer of the last event, and the number of its events that are not in `counts` yet.
    last: (Vec<u8>, u64),
}

impl Instances {
    /// Counts an event of this instance.
    #[inline]
    pub(super) fn count(&mut self, name: &[u8]) {
        // Most events belong to no instance, and even a comparison of empty names would be a call.
        let is_same = self.last.0.len() == name.len() && (name.is_empty() || self.last.0 == name);
        if !is_same {
            self.take_last();
            self.last.0 = name.to_vec();
        }
        self.last.1 += 1;
    }

    #[cold]
    fn take_last(&mut self) {
        let (name, count) = std::mem::take(&mut self.last);
        if count > 0 {
            self.add(name, count);
        }
    }

    fn add(&mut self, name: Vec<u8>, count: u64) {
        let is_full = self.counts.len() >= MOST && !self.counts.contains_key(&name);
        let name = if is_full { b"(others)".to_vec() } else { name };
        *self.counts.entry(name).or_default() += count;
    }

    /// Returns the sums of both counts.
    #[must_use]
    pub(super) fn and(mut self, mut other: Instances) -> Instances {
        self.take_last();
        other.take_last();
        for (name, count) in other.counts {
            self.add(name, count);
        }
        self
    }

    /// Returns one line per buffer, the top buffer first; `None` if there is only the top buffer.
    #[must_use]
    pub(super) fn text(mut self) -> Option<String> {
        self.take_last();
        let mut all: Vec<(Vec<u8>, u64)> = self.counts.into_iter().collect();
        if all.iter().all(|(name, _)| name.is_empty()) {
            return None;
        }
        all.sort();
        let lines = all.iter().map(|(name, count)| {
            let name = String::from_utf8_lossy(name);
            let name = if name.is_empty() { "top" } else { &name };
            let plural = if *count == 1 { "" } else { "s" };
            format!("{name}: {count} event{plural}")
        });
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_listed_with_their_events() {
        let of = |names: &[&str]| {
            let mut found = Instances::default();
            for name in names {
                found.count(name.as_bytes());
            }
            found
        };
        assert_eq!(of(&["", ""]).text(), None);
        assert_eq!(of(&[]).text(), None);
        let both = of(&["irqs", "irqs", ""]).and(of(&["", "a", "irqs"]));
        assert_eq!(
            both.text().unwrap(),
            "top: 2 events\na: 1 event\nirqs: 3 events"
        );
    }
}
