//! The rules that begins and ends follow, for each label.

use rustc_hash::FxHashMap;

use super::super::labels::{LabelPairs, PairNumber};
use super::named::MarkNames;
use crate::base::streaks::{Follows, Streaks};
use crate::base::{StringId, Strings};
use crate::event::family::{Family, Matching, OpenBegin};
use crate::event::{LoneBegins, NAMELESS_CALL};
use crate::trace::SliceLabel;

/// The rule for the begins and ends with a label.
#[derive(Clone, Copy, Default, PartialEq)]
pub(super) struct Rule {
    /// Pair number: begins and ends with equal numbers pair.
    pub(super) pair: u32,
    /// Its family.
    pub(super) family: Family,
    /// Whether the trace has ends for its begins.
    pub(super) can_end: bool,
    /// Whether the trace has begins for its ends.
    pub(super) can_begin: bool,
    /// Whether its ends close any begin of the family.
    pub(super) is_any: bool,
    /// Name and category of the label.
    pub(super) names: MarkNames,
    /// For calls of a function: the label of all begins with this pair number; `None` if they have several.
    pub(super) call_label: Option<u32>,
    /// For calls of a function: the function's name, if it is known.
    pub(super) call_name: Option<StringId>,
}

/// The rules of labels that follow each other, of functions apart.
impl Follows for Rule {
    #[inline]
    fn after(self, steps: u32) -> Rule {
        let names = MarkNames {
            name: self.names.name.after(steps),
            ..self.names
        };
        Rule { names, ..self }
    }
}

/// The input of [`rules`].
#[derive(Clone, Copy)]
pub(super) struct RuleSource<'a> {
    pub(super) labels: &'a Streaks<SliceLabel>,
    pub(super) pairs: &'a LabelPairs,
    pub(super) strings: &'a Strings,
    pub(super) lone_begins: LoneBegins,
}

/// Returns the rule of each label, indexed by the trace's labels.
pub(super) fn rules(from: RuleSource<'_>) -> Streaks<Rule> {
    let are_open = from.lone_begins == LoneBegins::Open;
    let call_labels = call_labels(from);
    let nameless = from.strings.find(NAMELESS_CALL.as_bytes());
    let rule = |label: SliceLabel, PairNumber(pair)| {
        let family = label.family.rules();
        // A thread is in one call at a time, whether it was recorded by name or by number.
        let is_call = label.family.is_of_calls();
        let has_end = |family: Family| from.pairs.family_has_end[family.index()];
        let has = from.pairs.has[pair as usize];
        let is_function = label.family == Family::Functions;
        Rule {
            pair,
            family: if is_call {
                Family::Syscalls
            } else {
                label.family
            },
            can_end: match (family.matching, family.open) {
                (Matching::ByKey, OpenBegin::Point) => has.end,
                // The file itself records these slices as durations: a begin without an end did not end.
                (Matching::Innermost | Matching::ByName, OpenBegin::Unfinished) => true,
                // So does the function graph tracer.
                _ if is_function => true,
                _ if is_call => {
                    are_open || has_end(Family::Syscalls) || has_end(Family::RawSyscalls)
                }
                _ => are_open || has_end(label.family),
            },
            can_begin: has.begin,
            is_any: has.is_any,
            names: MarkNames {
                name: label.name,
                category: label.category,
            },
            call_name: is_function
                .then_some(label.name)
                .filter(|&name| name != StringId::EMPTY && Some(name) != nameless),
            call_label: is_function
                .then(|| call_labels.get(&pair).copied().flatten())
                .flatten(),
        }
    };
    let mut rules = Streaks::default();
    while let (Some(label), Some(pair)) = (
        from.labels.get(rules.len()),
        from.pairs.numbers.get(rules.len()),
    ) {
        let most = match label.family {
            Family::Functions => 1,
            _ => from.labels.streak_from(rules.len(), usize::MAX),
        };
        let count = from.pairs.numbers.streak_from(rules.len(), most);
        rules.push_streak(rule(label, pair), count);
    }
    rules
}

/// For each pair number, the label of the begins of calls with that number; `None` if there are several.
fn call_labels(from: RuleSource<'_>) -> FxHashMap<u32, Option<u32>> {
    let mut labels: FxHashMap<u32, Option<u32>> = FxHashMap::default();
    let mut first = 0;
    for (label, count) in from.labels.streaks() {
        let numbers = first..first + count as u32;
        first = numbers.end;
        if label.family != Family::Functions || label.name == StringId::EMPTY {
            continue;
        }
        for number in numbers {
            let pair = from.pairs.numbers.get(number as usize).unwrap_or_default();
            let known = labels.entry(pair.0).or_insert(Some(number));
            if *known != Some(number) {
                *known = None;
            }
        }
    }
    labels
}
