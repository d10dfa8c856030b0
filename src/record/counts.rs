//! The kernel's event counts of a CPU, parsed from the text of `per_cpu/cpuN/stats`.

/// Counts of a CPU, or of all CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Events that were read.
    pub read: u64,
    /// Events that were lost.
    pub lost: u64,
}

impl Counts {
    /// Adds the counts of `other`.
    pub(crate) fn add(&mut self, other: Counts) {
        self.read = self.read.saturating_add(other.read);
        self.lost = self.lost.saturating_add(other.lost);
    }

    /// Parses the counts in the text of `stats`. Lines with other names are ignored.
    #[must_use]
    pub(crate) fn of(text: &str) -> Counts {
        let mut counts = Counts::default();
        for line in text.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim().parse().unwrap_or(0);
            match name.trim() {
                "overrun" | "commit overrun" | "dropped events" => counts.lost += value,
                "read events" => counts.read += value,
                _ => {}
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_read_events_are_counted() {
        let text = "entries: 9\noverrun: 7\ncommit overrun: 2\nbytes: 500\noldest event ts:  1.5\n\
            dropped events: 1\nread events: 44\n";
        assert_eq!(Counts::of(text), Counts { read: 44, lost: 10 });
    }
}
