//! Which label takes most time, of many items: a few labels with the largest sums are kept (the Misra-Gries summary).

use bytemuck::{Pod, Zeroable};

/// The number of labels that are kept, unless stated otherwise.
const KEPT: usize = 4;

/// The `N` labels with most time so far, each with a lower bound of its time in ns: others took from all when they had no
/// place. A label that takes more than one of `N + 1` parts of the time is always among them: with 4, more than a fifth.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Tally<const N: usize = KEPT>([Sum; N]);

/// The time of a label; no time: no label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Sum {
    label: u32,
    time: f32,
}

impl<const N: usize> Default for Tally<N> {
    fn default() -> Tally<N> {
        Tally([Sum::default(); N])
    }
}

impl<const N: usize> Tally<N> {
    /// Returns the tally of one item.
    #[inline]
    pub(crate) fn of(label: u32, time: f32) -> Tally<N> {
        let mut tally = Tally::default();
        tally.0[0] = Sum { label, time };
        tally
    }

    /// Returns the tally with a part of each time, from 0 to 1.
    #[inline]
    pub(crate) fn scaled(self, part: f32) -> Tally<N> {
        Tally(self.0.map(|sum| Sum {
            time: sum.time * part,
            ..sum
        }))
    }

    /// Adds the labels of another tally.
    #[inline]
    pub(crate) fn add_all(&mut self, other: &Tally<N>) {
        for sum in &other.0 {
            if sum.time > 0.0 {
                self.add(sum.label, sum.time);
            }
        }
    }

    /// Adds the time of a label.
    #[inline]
    pub(crate) fn add(&mut self, label: u32, time: f32) {
        if self.0[0].label == label {
            self.0[0].time += time;
            return;
        }
        let own = |sum: &&mut Sum| sum.label == label && sum.time > 0.0;
        if let Some(sum) = self.0.iter_mut().find(own) {
            sum.time += time;
            return;
        }
        let (mut least, mut at) = (f32::INFINITY, 0);
        for (place, sum) in self.0.iter().enumerate() {
            if sum.time < least {
                (least, at) = (sum.time, place);
            }
        }
        if least <= 0.0 {
            self.0[at] = Sum { label, time };
            return;
        }
        let taken = least.min(time);
        for sum in &mut self.0 {
            sum.time -= taken;
        }
        if time > taken {
            let time = time - taken;
            self.0[at] = Sum { label, time };
        }
    }

    /// Returns the labels with their times in ns.
    #[inline]
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, f32)> {
        let all = self.0.into_iter().map(|sum| (sum.label, sum.time));
        all.filter(|(_, time)| *time > 0.0)
    }

    /// Returns the two labels with the largest sums, with these in ns. The first is that of [`Tally::most`].
    #[inline]
    pub(crate) fn first_two(&self) -> [(u32, f32); 2] {
        let mut two = [(self.0[0].label, self.0[0].time), (0, 0.0)];
        for &Sum { label, time } in self.0.iter().skip(1) {
            if time > two[0].1 {
                two = [(label, time), two[0]];
            } else if time > two[1].1 {
                two[1] = (label, time);
            }
        }
        two
    }

    /// Returns the label with the largest sum, the first of several.
    #[inline]
    pub(crate) fn most(&self) -> u32 {
        let mut best = self.0[0];
        for &sum in &self.0 {
            if sum.time > best.time {
                best = sum;
            }
        }
        best.label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_with_most_time_wins_without_a_majority() {
        // 40 %, 30 %, 30 %, in any order and merged in any grouping.
        let items = [(1, 4.0), (2, 3.0), (3, 3.0)];
        let mut whole = Tally::<KEPT>::default();
        for turn in 0..999 {
            let mut part = Tally::<KEPT>::default();
            for step in 0..3 {
                let (label, time) = items[(turn * 2 + step) % 3];
                part.add_all(&Tally::of(label, time));
            }
            assert_eq!(part.most(), 1);
            whole.add_all(&part);
        }
        assert_eq!(whole.most(), 1);
        // Among thousands of names that take little, one that takes a third.
        let mut many = Tally::<KEPT>::default();
        for name in 0..4_000 {
            many.add_all(&Tally::of(100 + name, 2.0));
            many.add_all(&Tally::of(7, 1.0));
        }
        assert_eq!(many.most(), 7);
    }
}
