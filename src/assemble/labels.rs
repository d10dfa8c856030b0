//! One table of the labels of all parts, and which labels pair as begin and end.

use rayon::prelude::*;

use super::recorded::{Part, StringMap};
use super::rows::PerPart;
use crate::base::StringId;
use crate::base::by_string::ByString;
use crate::event::family::{Family, Matching};
use crate::event::kernel::ANY_KEY;
use crate::event::slice_kind::SliceKind;
use crate::event::{Label, Mark, MarkOp};
use crate::trace::{LabelId, SliceLabel};

/// The labels of the trace, and which of them pair.
pub(crate) struct PairedLabels {
    pub labels: Vec<SliceLabel>,
    pub pairs: LabelPairs,
}

/// Which labels pair, indexed by the trace's labels. Labels that later stages add are not included, because no marks
/// pair by them.
#[derive(Debug, Default)]
pub(crate) struct LabelPairs {
    /// The pair number of each label: labels with equal numbers pair.
    pub numbers: Vec<u32>,
    /// The key of each pair number; all its labels share this key.
    keys: Vec<u64>,
    /// For each pair number, whether its begins and ends occur in any part.
    pub has: Vec<PairHas>,
    /// For each family, whether any part contains an end of that family.
    pub family_has_end: Vec<bool>,
}

impl LabelPairs {
    /// Returns the key of a label.
    pub(crate) fn key(&self, label: LabelId) -> u64 {
        self.keys[self.numbers[label.0 as usize] as usize]
    }

    /// The keys of all labels.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = u64> {
        self.numbers.iter().map(|&pair| self.keys[pair as usize])
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

/// The labels of all parts, while parts are added.
#[derive(Default)]
pub(crate) struct LabelTable {
    labels: Vec<SliceLabel>,
    pairs: Vec<u32>,
    /// Key: the name, and the rest of what distinguishes a label: its category, its kind, and its pair number (which
    /// implies the family).
    ids: ByString<(StringId, SliceKind, u32), LabelId>,
    /// Labels pair if their families are equal, and their keys or, without a key, their names. In families whose ends
    /// close any begin, all labels are one pair.
    pair_ids: ByString<(Family, u64), u32>,
    /// The key of each pair.
    pair_keys: Vec<u64>,
}

impl LabelTable {
    /// Returns an empty table with room for `labels` labels, with names of a table of `strings` strings.
    pub(crate) fn with_room(labels: usize, strings: usize) -> LabelTable {
        LabelTable {
            labels: Vec::with_capacity(labels),
            pairs: Vec::with_capacity(labels),
            ids: ByString::with_room(strings),
            ..LabelTable::default()
        }
    }

    /// Adds a part's labels; returns the trace's ids of them.
    pub(crate) fn add(&mut self, labels: &[Label], strings: &StringMap) -> Vec<LabelId> {
        let labels = labels.iter();
        labels.map(|label| self.intern(label, strings)).collect()
    }

    /// Returns the trace's id of a part's label; `strings` maps the part's string ids.
    pub(crate) fn intern(&mut self, label: &Label, strings: &StringMap) -> LabelId {
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
        let pair_key = (label.family, label.key);
        let pair = self.pair_ids.get(paired_name, pair_key);
        let pair = pair.unwrap_or_else(|| {
            let new = self.pair_keys.len() as u32;
            self.pair_ids.set(paired_name, pair_key, new);
            self.pair_keys.push(label.key);
            new
        });
        let rest = (shown.category, shown.kind, pair);
        self.ids.get(shown.name, rest).unwrap_or_else(|| {
            let new = LabelId(self.labels.len() as u32);
            self.labels.push(shown);
            self.pairs.push(pair);
            self.ids.set(shown.name, rest, new);
            new
        })
    }

    /// Returns the labels; `marks` are the marks of all parts.
    pub(crate) fn finish(self, parts: &[Part], marks: &PerPart<Mark>) -> PairedLabels {
        let mut has = pair_ends(parts, marks, &self.pairs, self.pair_keys.len());
        for (has, key) in has.iter_mut().zip(&self.pair_keys) {
            has.is_any = *key == ANY_KEY;
        }
        let mut family_has_end = vec![false; Family::COUNT];
        for (label, pair) in self.labels.iter().zip(&self.pairs) {
            family_has_end[label.family.index()] |= has[*pair as usize].end;
        }
        let pairs = LabelPairs {
            numbers: self.pairs,
            keys: self.pair_keys,
            has,
            family_has_end,
        };
        PairedLabels {
            labels: self.labels,
            pairs,
        }
    }
}

fn pair_ends(
    parts: &[Part],
    marks: &PerPart<Mark>,
    pair_of_label: &[u32],
    pair_count: usize,
) -> Vec<PairHas> {
    let of_part = |(part, marks): (&Part, &Vec<Mark>)| {
        let mut has = vec![PairHas::default(); part.labels.len()];
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
        for (label, has) in part.labels.iter().zip(has) {
            let pair = &mut all[pair_of_label[label.0 as usize] as usize];
            pair.begin |= has.begin;
            pair.end |= has.end;
        }
    }
    all
}
