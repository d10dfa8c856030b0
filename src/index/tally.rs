//! Which label takes most time, of many items: a few labels with the largest sums are kept (the Misra-Gries summary).

/// The number of labels that are kept. A label that takes more than a fifth of the time is always among them.
const KEPT: usize = 4;

/// The labels with most time so far, each with a lower bound of its time in ns: others took from all when they had no
/// place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    labels: [u32; KEPT],
    times: [f32; KEPT],
}

impl Tally {
    /// Returns the tally of one item.
    #[inline]
    pub(crate) fn of(label: u32, time: f32) -> Tally {
        let mut tally = Tally::default();
        (tally.labels[0], tally.times[0]) = (label, time);
        tally
    }

    /// Returns the tally with a part of each time, from 0 to 1.
    #[inline]
    pub(crate) fn scaled(self, part: f32) -> Tally {
        Tally {
            times: self.times.map(|time| time * part),
            ..self
        }
    }

    /// Adds the labels of another tally.
    #[inline]
    pub(crate) fn add_all(&mut self, other: &Tally) {
        for (&label, &time) in other.labels.iter().zip(&other.times) {
            if time > 0.0 {
                self.add(label, time);
            }
        }
    }

    /// Adds the time of a label.
    #[inline]
    pub(crate) fn add(&mut self, label: u32, time: f32) {
        if self.labels[0] == label {
            self.times[0] += time;
            return;
        }
        for (own, sum) in self.labels.iter().zip(&mut self.times) {
            if *own == label && *sum > 0.0 {
                *sum += time;
                return;
            }
        }
        let (mut least, mut at) = (f32::INFINITY, 0);
        for (place, &sum) in self.times.iter().enumerate() {
            if sum < least {
                (least, at) = (sum, place);
            }
        }
        if least <= 0.0 {
            (self.labels[at], self.times[at]) = (label, time);
            return;
        }
        let taken = least.min(time);
        for sum in &mut self.times {
            *sum -= taken;
        }
        if time > taken {
            (self.labels[at], self.times[at]) = (label, time - taken);
        }
    }

    /// Returns the label with the largest sum, the first of several.
    #[inline]
    pub(crate) fn most(&self) -> u32 {
        let (mut best, mut most) = (self.labels[0], self.times[0]);
        for (&label, &time) in self.labels.iter().zip(&self.times) {
            if time > most {
                (best, most) = (label, time);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_with_most_time_wins_without_a_majority() {
        // 40 %, 30 %, 30 %, in any order and merged in any grouping.
        let items = [(1, 4.0), (2, 3.0), (3, 3.0)];
        let mut whole = Tally::default();
        for turn in 0..999 {
            let mut part = Tally::default();
            for step in 0..3 {
                let (label, time) = items[(turn * 2 + step) % 3];
                part.add_all(&Tally::of(label, time));
            }
            assert_eq!(part.most(), 1);
            whole.add_all(&part);
        }
        assert_eq!(whole.most(), 1);
        // Among thousands of names that take little, one that takes a third.
        let mut many = Tally::default();
        for name in 0..4_000 {
            many.add_all(&Tally::of(100 + name, 2.0));
            many.add_all(&Tally::of(7, 1.0));
        }
        assert_eq!(many.most(), 7);
    }
}
