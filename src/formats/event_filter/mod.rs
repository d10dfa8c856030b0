//! Filters in trace-cmd's syntax (`-F`), `EVENTS : CONDITION`: parses them and decides which events of a file pass.
//!
//! ```text
//! EVENTS     names of events or systems, or SYSTEM/EVENT, joined by commas. Each name is a basic regular expression
//!            for a whole name, ignoring case; if no event matches, it is tried as a glob (*), or as an extended
//!            regular expression
//! CONDITION  FIELD OP VALUE, joined by && and ||, of equal precedence, from the left; ! before one comparison, ( )
//! OP         == != < <= > >=    =~ !~ basic regular expression, ignoring case    ~ glob, or regular expression
//!            & | ^ + - * / % << >>: the result must not be 0, or is compared itself
//! FIELD      a field of the event; COMM, CPU, PID, TIMESTAMP (ns), TIMESTAMP_USECS of its line
//! VALUE      a number as in C, "text", or a field
//! ```
//!
//! A comparison with a field that an event lacks is false for that event, and its negation (`!`) is true. A text is
//! compared with what trace-cmd compares for a number (the function at an address, otherwise `0x1f`) or with the text
//! that the field shows (`R`). Numbers have the sign of their field: `ret < 0` finds errors, as in the kernel's own
//! filters.
//!
//! A filter is parsed without a file, then bound to the kinds of events of one file.

mod condition;
mod fault;
mod parse;
mod test;
mod token;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::Timestamp;
use crate::base::patterns::{Case, basic_regex, glob_regex, is_glob, regex_of};
use condition::Condition;
pub use fault::{FilterError, MissingField};
use test::{Binding, Test};
pub(crate) use test::{EventFacts, Fact};

/// A parsed filter.
#[derive(Debug)]
pub struct EventFilter {
    text: String,
    names: Vec<Name>,
    condition: Option<Condition>,
}

/// One name before the colon.
#[derive(Debug)]
struct Name {
    system: Option<String>,
    event: String,
    at: usize,
}

/// A kind of events of the file to which a filter is bound.
#[derive(Clone, Debug)]
pub struct KindFields<'a> {
    /// Its system.
    pub system: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// The names of its fields, in order; `None` if they can differ between events.
    pub fields: Option<Vec<&'a str>>,
}

/// A filter bound to the kinds of events of one file.
#[derive(Debug)]
pub struct BoundFilter {
    /// The filter as the user wrote it.
    pub text: String,
    /// For each kind, the test of its events; `None`: the filter does not name the kind.
    by_kind: Vec<Option<Test>>,
    missing: Vec<MissingField>,
    /// Errors of the names that no kind has.
    unknown: Vec<FilterError>,
    is_met: AtomicBool,
}

impl EventFilter {
    /// Parses a filter. Whether its names exist is not checked here.
    ///
    /// # Errors
    /// With the position and the error, if `text` does not have the syntax of trace-cmd's filters.
    pub fn parse(text: &str) -> Result<EventFilter, FilterError> {
        let (list, condition) = match text.split_once(':') {
            Some((list, rest)) if rest.trim().is_empty() => (list, None),
            Some((list, _)) => (list, Some(parse::parse(text, list.len() + 1)?)),
            None => (text, None),
        };
        let mut names = Vec::new();
        let mut at = 0;
        for name in list.split(',') {
            names.push(Name::parse(name, at)?);
            at += name.len() + 1;
        }
        Ok(EventFilter {
            text: text.to_owned(),
            names,
            condition,
        })
    }

    /// Binds the filter to a file whose kinds of events are `kinds` and whose first event is at `start`.
    ///
    /// # Errors
    /// If a value cannot be compared.
    pub fn bind(
        &self,
        kinds: &[KindFields<'_>],
        start: Timestamp,
    ) -> Result<BoundFilter, FilterError> {
        let mut is_named = vec![false; kinds.len()];
        let mut unknown = Vec::new();
        for name in &self.names {
            match name.kinds(kinds) {
                Ok(found) => {
                    for (is_named, found) in is_named.iter_mut().zip(found) {
                        *is_named |= found;
                    }
                }
                Err(error) => unknown.push(error),
            }
        }
        let mut present = BTreeSet::new();
        let mut missing = BTreeSet::new();
        let mut by_kind = Vec::with_capacity(kinds.len());
        for (kind, is_named) in kinds.iter().zip(is_named) {
            by_kind.push(match (&self.condition, is_named) {
                (_, false) => None,
                (None, true) => Some(Test::Always),
                (Some(condition), true) => {
                    let mut binding = Binding {
                        fields: kind.fields.as_deref(),
                        start,
                        present: &mut present,
                        missing: &mut missing,
                    };
                    Some(binding.test(condition)?)
                }
            });
        }
        missing.retain(|field: &MissingField| !present.contains(&field.name));
        Ok(BoundFilter {
            text: self.text.clone(),
            by_kind,
            missing: missing.into_iter().collect(),
            unknown,
            is_met: AtomicBool::new(false),
        })
    }
}

impl BoundFilter {
    /// Returns whether an event of kind `kind` (an index into the kinds that the filter is bound to) passes.
    pub(crate) fn is_match(&self, kind: usize, event: &dyn EventFacts) -> bool {
        let test = self.by_kind.get(kind).and_then(Option::as_ref);
        let is_match = test.is_some_and(|test| test.holds(event));
        if is_match && !self.is_met.load(Ordering::Relaxed) {
            self.is_met.store(true, Ordering::Relaxed);
        }
        is_match
    }

    /// Returns whether the filter names a kind of events.
    #[must_use]
    pub(crate) fn names(&self, kind: usize) -> bool {
        self.by_kind.get(kind).is_some_and(Option::is_some)
    }

    /// Returns whether an event has passed so far.
    #[must_use]
    pub(crate) fn is_met(&self) -> bool {
        self.is_met.load(Ordering::Relaxed)
    }

    /// Returns the fields that the filter compares although none of the events that it names has them.
    #[must_use]
    pub fn missing(&self) -> &[MissingField] {
        &self.missing
    }

    /// Returns an error for each name in the filter that no kind of events has.
    #[must_use]
    pub fn unknown(&self) -> &[FilterError] {
        &self.unknown
    }

    /// Returns whether it is already known that no event passes, because of missing fields.
    #[must_use]
    pub(crate) fn is_hopeless(&self) -> bool {
        let mut tests = self.by_kind.iter().flatten();
        tests.all(|test| test.known() == Some(false))
    }
}

/// A way to compile a name.
type Reading = dyn Fn(&str) -> Result<regex::bytes::Regex, String>;

impl Name {
    fn parse(text: &str, at: usize) -> Result<Name, FilterError> {
        let begin = at + (text.len() - text.trim_start().len());
        let text = text.trim();
        // A text that starts with a slash is a regular expression of our own search language.
        if text.is_empty() || text.starts_with('/') {
            return Err(FilterError {
                at: begin,
                length: text.len(),
                message: "a name of events or of a system is missing".to_owned(),
            });
        }
        let (system, event) = match text.split_once('/') {
            Some((system, event)) if !event.is_empty() => (Some(system), event),
            Some((event, _)) => (None, event),
            None => (None, text),
        };
        Ok(Name {
            system: system.map(|system| system.trim().to_owned()),
            event: event.trim().to_owned(),
            at: begin,
        })
    }

    /// Returns, for each kind, whether the name matches it.
    fn kinds(&self, kinds: &[KindFields<'_>]) -> Result<Vec<bool>, FilterError> {
        let whole = |name: &str| basic_regex(&format!("^{name}$"), Case::Ignored);
        let extended = |name: &str| match is_glob(name) {
            true => glob_regex(name, Case::Ignored),
            false => regex_of(&format!("^(?:{name})$"), Case::Ignored),
        };
        let readings: [&Reading; 2] = [&whole, &extended];
        for reading in readings {
            let Ok(event) = reading(&self.event) else {
                continue;
            };
            let system = match self.system.as_deref().map(reading) {
                Some(Ok(system)) => Some(system),
                Some(Err(_)) => continue,
                None => None,
            };
            let is_meant = |kind: &KindFields<'_>| match &system {
                Some(system) => system.is_match(kind.system) && event.is_match(kind.name),
                None => event.is_match(kind.system) || event.is_match(kind.name),
            };
            let found: Vec<bool> = kinds.iter().map(is_meant).collect();
            if found.contains(&true) {
                return Ok(found);
            }
        }
        let name = match &self.system {
            Some(system) => format!("{system}/{}", self.event),
            None => self.event.clone(),
        };
        Err(FilterError {
            at: self.at,
            length: name.len(),
            message: format!("this trace has no event and no system called '{name}'"),
        })
    }
}
