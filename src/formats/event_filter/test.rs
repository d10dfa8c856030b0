//! Binds a condition to the fields of one kind of events, as a test of single events.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use regex::bytes::Regex;

use super::condition::{Atom, Condition, Join, Operator, Relation, Sum, Written};
use super::fault::{FilterError, MissingField};
use crate::base::patterns::{Case, basic_regex, glob_regex, is_glob, regex_of};
use crate::base::time::TimeArg;
use crate::base::{Comparison, Timestamp};

/// A value that a filter compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A field of the event, with its index in the kind's list if that is known.
    Field { name: String, index: Option<usize> },
    /// The name of the event's thread, as at the start of the event's line.
    Comm,
    /// The event's CPU.
    Cpu,
    /// The number of the event's thread.
    Pid,
    /// The event's time in ns on the trace's clock.
    Time,
    /// The event's time in whole microseconds.
    TimeMicros,
}

/// The values of an event that is tested.
pub(crate) trait EventFacts {
    /// Returns a fact as a number; `None` if the event lacks it or it is not a number.
    fn number(&self, fact: &Fact) -> Option<i128>;

    /// Returns whether `is_it` accepts a text of the fact; `None` if the event lacks the fact.
    fn has_text(&self, fact: &Fact, is_it: &dyn Fn(&[u8]) -> bool) -> Option<bool>;
}

/// A condition bound to one kind of events.
#[derive(Debug)]
pub(super) enum Test {
    Always,
    /// A comparison with a field that the kind lacks.
    Never,
    Not(Box<Test>),
    Chain(Box<Test>, Vec<(Join, Test)>),
    Numbers(Terms, Comparison, Terms),
    IsNotZero(Terms),
    Text(Fact, TextTest),
    /// A comparison with a word, where the kind's fields are unknown beforehand: a field if the event has it, else a text.
    Word(Box<WordTest>),
}

/// The two meanings of a comparison with a word.
#[derive(Debug)]
pub(super) struct WordTest {
    word: Fact,
    as_field: Test,
    as_text: Test,
}

/// A comparison with a text.
#[derive(Debug)]
pub(super) enum TextTest {
    Is(Vec<u8>),
    IsNot(Vec<u8>),
    Has(Regex),
    HasNot(Regex),
}

/// A number, and operations on it from left to right.
#[derive(Debug)]
pub(super) struct Terms {
    first: Term,
    rest: Vec<(Operator, Term)>,
}

#[derive(Debug)]
enum Term {
    Number(i128),
    Fact(Fact),
}

impl Test {
    /// Returns whether an event passes.
    pub(super) fn holds(&self, event: &dyn EventFacts) -> bool {
        match self {
            Test::Always => true,
            Test::Never => false,
            Test::Not(inner) => !inner.holds(event),
            Test::Chain(first, rest) => {
                rest.iter()
                    .fold(first.holds(event), |so_far, (join, test)| match join {
                        Join::And => so_far && test.holds(event),
                        Join::Or => so_far || test.holds(event),
                    })
            }
            Test::Numbers(left, comparison, right) => {
                let sides = left.number(event).zip(right.number(event));
                sides.is_some_and(|(left, right)| is_so(left, *comparison, right))
            }
            Test::IsNotZero(terms) => terms.number(event).is_some_and(|number| number != 0),
            Test::Text(fact, test) => {
                let has = |is_it: &dyn Fn(&[u8]) -> bool| event.has_text(fact, is_it);
                match test {
                    TextTest::Is(text) => has(&|bytes| bytes == text) == Some(true),
                    TextTest::IsNot(text) => has(&|bytes| bytes == text) == Some(false),
                    TextTest::Has(regex) => has(&|bytes| regex.is_match(bytes)) == Some(true),
                    TextTest::HasNot(regex) => has(&|bytes| regex.is_match(bytes)) == Some(false),
                }
            }
            Test::Word(test) => match event.has_text(&test.word, &|_| true) {
                Some(_) => test.as_field.holds(event),
                None => test.as_text.holds(event),
            },
        }
    }

    /// Returns whether events pass, if the result is the same for all events.
    pub(super) fn known(&self) -> Option<bool> {
        match self {
            Test::Always => Some(true),
            Test::Never => Some(false),
            Test::Not(inner) => inner.known().map(|known| !known),
            Test::Chain(first, rest) => rest.iter().fold(first.known(), |so_far, (join, test)| {
                let decisive = *join == Join::Or;
                match (so_far, test.known()) {
                    (Some(known), _) | (_, Some(known)) if known == decisive => Some(decisive),
                    (Some(_), other) => other,
                    (None, _) => None,
                }
            }),
            _ => None,
        }
    }
}

/// Compares numbers. For `==` and `!=`, a negative number equals the unsigned number with the same 64 bits.
fn is_so(left: i128, comparison: Comparison, right: i128) -> bool {
    let has_same_bits = left as u64 == right as u64;
    let order = match comparison.is_ordered() {
        false if has_same_bits => Ordering::Equal,
        _ => left.cmp(&right),
    };
    comparison.holds(order)
}

impl Terms {
    fn number(&self, event: &dyn EventFacts) -> Option<i128> {
        let value = |term: &Term| match term {
            Term::Number(number) => Some(*number),
            Term::Fact(fact) => event.number(fact),
        };
        let mut so_far = value(&self.first)?;
        for (operator, term) in &self.rest {
            // Computes with 64-bit numbers, like trace-cmd.
            let (left, right) = (so_far as u64, value(term)? as u64);
            so_far = i128::from(match operator {
                Operator::Add => left.wrapping_add(right),
                Operator::Subtract => left.wrapping_sub(right),
                Operator::Multiply => left.wrapping_mul(right),
                Operator::Divide => left.checked_div(right)?,
                Operator::Remainder => left.checked_rem(right)?,
                Operator::ShiftRight => u32::try_from(right)
                    .ok()
                    .and_then(|bits| left.checked_shr(bits))
                    .unwrap_or(0),
                Operator::ShiftLeft => u32::try_from(right)
                    .ok()
                    .and_then(|bits| left.checked_shl(bits))
                    .unwrap_or(0),
                Operator::And => left & right,
                Operator::Or => left | right,
                Operator::Xor => left ^ right,
            });
        }
        Some(so_far)
    }
}

/// The kind of events to which a condition is being bound.
pub(super) struct Binding<'a, 'k> {
    pub fields: Option<&'a [&'k str]>,
    pub start: Timestamp,
    /// Names of compared fields that some kind has.
    pub present: &'a mut BTreeSet<String>,
    pub missing: &'a mut BTreeSet<MissingField>,
}

impl Binding<'_, '_> {
    pub(super) fn test(&mut self, condition: &Condition) -> Result<Test, FilterError> {
        Ok(match condition {
            Condition::Not(inner) => Test::Not(Box::new(self.test(inner)?)),
            Condition::Chain(first, rest) => {
                let first = Box::new(self.test(first)?);
                let rest = rest
                    .iter()
                    .map(|(join, part)| Ok((*join, self.test(part)?)))
                    .collect::<Result<_, FilterError>>()?;
                Test::Chain(first, rest)
            }
            Condition::IsNotZero(sum) => self.terms(sum)?.map_or(Test::Never, Test::IsNotZero),
            Condition::Compare(left, relation, right) => self.comparison(left, *relation, right)?,
        })
    }

    fn comparison(
        &mut self,
        left: &Sum,
        relation: Relation,
        right_side: &Sum,
    ) -> Result<Test, FilterError> {
        if let Some(atom) = right_side.alone()
            && let Some(text) = self.text_of(atom, left, relation)
        {
            if matches!(relation, Relation::Values(comparison) if comparison.is_ordered()) {
                return Err(error_at(
                    atom,
                    "a text can only be compared with == != =~ !~ ~",
                ));
            }
            let Some(Written::Word(name)) = left.alone().map(|atom| &atom.value) else {
                return Err(error_at(
                    &left.first,
                    "a text can only be compared with a field",
                ));
            };
            let Some(fact) = self.fact(name, left.first.at) else {
                return Ok(Test::Never);
            };
            return Ok(Test::Text(fact, text_test(relation, text, atom)?));
        }
        let left_terms = self.terms(left)?;
        let right = match self.time_of(left, right_side) {
            Some(time) => Some(time),
            None => self.terms(right_side)?,
        };
        let as_field = match (left_terms, relation, right) {
            (Some(left), Relation::Values(comparison), Some(right)) => {
                Test::Numbers(left, comparison, right)
            }
            _ => Test::Never,
        };
        let word = match &right_side.alone().map(|atom| (atom, &atom.value)) {
            Some((atom, Written::Word(word))) if self.fields.is_none() => Some((*atom, word)),
            _ => None,
        };
        let left_name = left.alone().map(|atom| &atom.value);
        let (Some((atom, word)), Some(Written::Word(name))) = (word, left_name) else {
            return Ok(as_field);
        };
        let is_ordered = matches!(relation, Relation::Values(how) if how.is_ordered());
        let is_of_line = fact_of_line(word).is_some() || time_arg(left, word).is_some();
        let (Some(fact), false) = (self.fact(name, left.first.at), is_ordered || is_of_line) else {
            return Ok(as_field);
        };
        Ok(Test::Word(Box::new(WordTest {
            word: Fact::Field {
                name: word.clone(),
                index: None,
            },
            as_field,
            as_text: Test::Text(fact, text_test(relation, word, atom)?),
        })))
    }

    /// Returns the text of an atom on the right side: a text in quotes, or a word that is not a field of this kind.
    fn text_of<'t>(&self, atom: &'t Atom, left: &Sum, relation: Relation) -> Option<&'t str> {
        match &atom.value {
            Written::Quoted(text) => Some(text),
            Written::Number(_) => None,
            Written::Word(word) => {
                let is_field = self.index(word).is_some() || fact_of_line(word).is_some();
                let is_time = time_arg(left, word).is_some();
                (relation.has_pattern() || !is_field && !is_time).then_some(word.as_str())
            }
        }
    }

    /// Returns a time with a unit, if it is compared with the event's time.
    fn time_of(&self, left: &Sum, right: &Sum) -> Option<Terms> {
        let Some(Written::Word(word)) = right.alone().map(|atom| &atom.value) else {
            return None;
        };
        let time = time_arg(left, word)?.resolve(self.start);
        Some(Terms {
            first: Term::Number(i128::from(time.0)),
            rest: Vec::new(),
        })
    }

    /// Returns the terms of a sum; `None` if this kind lacks one of the fields.
    fn terms(&mut self, sum: &Sum) -> Result<Option<Terms>, FilterError> {
        let Some(first) = self.term(&sum.first)? else {
            return Ok(None);
        };
        let mut rest = Vec::with_capacity(sum.rest.len());
        for (operator, atom) in &sum.rest {
            let Some(term) = self.term(atom)? else {
                return Ok(None);
            };
            rest.push((*operator, term));
        }
        Ok(Some(Terms { first, rest }))
    }

    fn term(&mut self, atom: &Atom) -> Result<Option<Term>, FilterError> {
        Ok(match &atom.value {
            Written::Number(number) => Some(Term::Number(*number)),
            Written::Word(word) if word.starts_with(|c: char| c.is_ascii_digit() || c == '@') => {
                return Err(error_at(atom, "this is not a number"));
            }
            Written::Word(word) => self.fact(word, atom.at).map(Term::Fact),
            Written::Quoted(_) => {
                return Err(error_at(atom, "a text can only be compared with a field"));
            }
        })
    }

    /// Returns the index of a field of this kind; `Some(None)` if the kind's fields are unknown.
    fn index(&self, name: &str) -> Option<Option<usize>> {
        match self.fields {
            None => Some(None),
            Some(fields) => fields.iter().position(|field| *field == name).map(Some),
        }
    }

    fn fact(&mut self, name: &str, at: usize) -> Option<Fact> {
        let of_line = fact_of_line(name);
        // If the fields are unknown beforehand, the names of the line's values are not fields.
        let index = match self.fields {
            None if of_line.is_some() => None,
            _ => self.index(name),
        };
        if index.is_some() {
            self.present.insert(name.to_owned());
        }
        let field = index.map(|index| Fact::Field {
            name: name.to_owned(),
            index,
        });
        let fact = field.or(of_line);
        if fact.is_none() {
            let name = name.to_owned();
            self.missing.insert(MissingField { at, name });
        }
        fact
    }
}

/// Returns the value that a name of trace-cmd (`COMM`, `CPU` ...) means; `None` for the name of a field.
fn fact_of_line(name: &str) -> Option<Fact> {
    Some(match name {
        "COMM" => Fact::Comm,
        "CPU" => Fact::Cpu,
        "PID" => Fact::Pid,
        "TIMESTAMP" => Fact::Time,
        "TIMESTAMP_USECS" => Fact::TimeMicros,
        _ => return None,
    })
}

/// Parses the time in `TIMESTAMP > 10ms`: a time since the start, or `@N` ns.
fn time_arg(left: &Sum, word: &str) -> Option<TimeArg> {
    let Some(Written::Word(name)) = left.alone().map(|atom| &atom.value) else {
        return None;
    };
    (name == "TIMESTAMP").then(|| word.parse().ok()).flatten()
}

fn text_test(relation: Relation, text: &str, atom: &Atom) -> Result<TextTest, FilterError> {
    let bytes = || text.as_bytes().to_vec();
    let wrong = |message: String| error_at(atom, &message);
    // No regular expression starts with a star: such a pattern is a glob.
    let pattern = || match text.starts_with('*') && is_glob(text) {
        true => glob_regex(text, Case::Ignored).map_err(wrong),
        false => basic_regex(text, Case::Ignored).map_err(wrong),
    };
    Ok(match relation {
        Relation::Values(Comparison::Differs) => TextTest::IsNot(bytes()),
        Relation::Values(_) => TextTest::Is(bytes()),
        Relation::Matches => TextTest::Has(pattern()?),
        Relation::MatchesNot => TextTest::HasNot(pattern()?),
        Relation::Like if is_glob(text) => {
            TextTest::Has(glob_regex(text, Case::Differs).map_err(wrong)?)
        }
        Relation::Like => TextTest::Has(regex_of(text, Case::Differs).map_err(wrong)?),
    })
}

fn error_at(atom: &Atom, message: &str) -> FilterError {
    FilterError {
        at: atom.at,
        length: atom.length,
        message: message.to_owned(),
    }
}
