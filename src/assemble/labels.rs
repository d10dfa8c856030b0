//! One table of the labels of all parts, and which labels pair as begin and end.

use rayon::prelude::*;

use super::recorded::{Part, StringMap};
use super::rows::PerPart;
use crate::base::StringId;
use crate::base::by_string::ByString;
use crate::base::numbered::{Named, Numbered};
use crate::base::streaks::{Follows, Streaks};
use crate::event::family::{Family, Matching};
use crate::event::kernel::ANY_KEY;
use crate::event::{Label, Mark, MarkOp};
use crate::trace::{LabelId, SliceLabel};

/// The labels of the trace, and which of them pair.
pub(crate) struct PairedLabels {
    pub labels: Streaks<SliceLabel>,
    pub pairs: LabelPairs,
}

/// Which labels pair, indexed by the trace's labels. Labels that later stages add are not included, because no marks
/// pair by them.
#[derive(Debug, Default)]
pub(crate) struct LabelPairs {
    /// The pair number of each label: labels with equal numbers pair.
    pub numbers: Streaks<PairNumber>,
    /// The key of each pair number; all its labels share this key.
    keys: Vec<u64>,
    /// For each pair number, whether its begins and ends occur in any part.
    pub has: Vec<PairHas>,
    /// For each family, whether any part contains an end of that family.
    pub family_has_end: Vec<bool>,
}

/// The number of a pair. Labels that follow each other have mostly one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct PairNumber(pub u32);

impl Follows for PairNumber {
    #[inline]
    fn after(self, _: u32) -> PairNumber {
        self
    }
}

impl LabelPairs {
    /// Returns the key of a label.
    pub(crate) fn key(&self, label: LabelId) -> u64 {
        let pair = self.numbers.get(label.0 as usize);
        pair.map_or(0, |pair| self.keys[pair.0 as usize])
    }

    /// The keys of all labels.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = u64> {
        self.numbers.iter().map(|pair| self.keys[pair.0 as usize])
    }
}

/// Which marks occur with a pair number.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairHas {
    /// Begins occur.
    pub begin: bool,
    /// Ends occur.
    pub end: bool,
    /// Its ends have no key of their own: an end closes the innermost open begin.
    pub is_any: bool,
}

/// A label, and the number of its pair, which implies the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PairedLabel {
    label: SliceLabel,
    pair: PairNumber,
}

impl Follows for PairedLabel {
    #[inline]
    fn after(self, steps: u32) -> PairedLabel {
        PairedLabel {
            label: self.label.after(steps),
            ..self
        }
    }
}

impl Named for PairedLabel {
    fn name(&self) -> StringId {
        self.label.name
    }
}

/// The labels of all parts, while parts are added.
#[derive(Default)]
pub(crate) struct LabelTable {
    all: Numbered<PairedLabel>,
    /// Labels pair if their families are equal, and their keys or, without a key, their names. In families whose ends
    /// close any begin, all labels are one pair.
    pair_ids: ByString<PairKey, PairNumber>,
    /// The key of each pair.
    pair_keys: Vec<u64>,
    /// The family of each pair.
    pair_families: Vec<Family>,
}

/// What labels of one pair have in common besides their name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct PairKey {
    family: Family,
    key: u64,
}

impl LabelTable {
    /// Adds a part's labels; returns the trace's ids of them. `strings` maps the part's string ids.
    pub(crate) fn add(&mut self, labels: &Streaks<Label>, strings: &StringMap) -> Streaks<LabelId> {
        let mut ids = Streaks::default();
        while let Some(label) = labels.get(ids.len()) {
            let shown = SliceLabel {
                name: strings.get(label.name),
                category: strings.get(label.category),
                family: label.family,
                kind: label.kind,
            };
            let paired_name = match label.family.rules().matching {
                Matching::Innermost | Matching::ByName => StringId::EMPTY,
                _ if label.key != 0 => StringId::EMPTY,
                _ => shown.name,
            };
            let most = match paired_name {
                StringId::EMPTY => labels.streak_from(ids.len(), usize::MAX),
                _ => 1,
            };
            let most = strings.0.streak_from(label.name.0 as usize, most);
            let paired = PairedLabel {
                label: shown,
                pair: self.pair(
                    paired_name,
                    PairKey {
                        family: label.family,
                        key: label.key,
                    },
                ),
            };
            let (id, count) = self.all.add(paired, most);
            ids.push_streak(LabelId(id), count);
        }
        ids
    }

    fn pair(&mut self, name: StringId, key: PairKey) -> PairNumber {
        self.pair_ids.get(name, key).unwrap_or_else(|| {
            let new = PairNumber(self.pair_keys.len() as u32);
            self.pair_ids.set(name, key, new);
            self.pair_keys.push(key.key);
            self.pair_families.push(key.family);
            new
        })
    }

    /// Returns the labels; `marks` are the marks of all parts.
    pub(crate) fn finish(self, parts: &[Part], marks: &PerPart<Mark>) -> PairedLabels {
        let (mut labels, mut numbers) = (Streaks::default(), Streaks::default());
        for (paired, count) in self.all.into_items().streaks() {
            labels.push_streak(paired.label, count);
            numbers.push_streak(paired.pair, count);
        }
        let mut has = pair_ends(parts, marks, &numbers, self.pair_keys.len());
        for (has, key) in has.iter_mut().zip(&self.pair_keys) {
            has.is_any = *key == ANY_KEY;
        }
        let mut family_has_end = vec![false; Family::COUNT];
        for (family, has) in self.pair_families.iter().zip(&has) {
            family_has_end[family.index()] |= has.end;
        }
        let pairs = LabelPairs {
            numbers,
            keys: self.pair_keys,
            has,
            family_has_end,
        };
        PairedLabels { labels, pairs }
    }
}

fn pair_ends(
    parts: &[Part],
    marks: &PerPart<Mark>,
    pair_of_label: &Streaks<PairNumber>,
    pair_count: usize,
) -> Vec<PairHas> {
    let of_part = |(part, marks): (&Part, &Vec<Mark>)| {
        let label_count = if marks.is_empty() {
            0
        } else {
            part.labels.len()
        };
        let mut has = vec![PairHas::default(); label_count];
        for mark in marks {
            if let Some(has) = has.get_mut(mark.label() as usize) {
                match mark.op() {
                    MarkOp::Begin => has.begin = true,
                    MarkOp::End => has.end = true,
                    // `Over` has no begin and is not a recorded end: labels do not pair by it.
                    MarkOp::Over => {}
                }
            }
        }
        has
    };
    let each: Vec<Vec<PairHas>> = parts.par_iter().zip(marks).map(of_part).collect();
    let mut all = vec![PairHas::default(); pair_count];
    for (part, has) in parts.iter().zip(each) {
        for (has, label) in has.into_iter().zip(&part.labels) {
            let pair = pair_of_label.get(label.0 as usize).unwrap_or_default();
            let pair = &mut all[pair.0 as usize];
            pair.begin |= has.begin;
            pair.end |= has.end;
        }
    }
    all
}
