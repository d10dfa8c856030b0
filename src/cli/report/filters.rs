//! Parses the values of `-F` and `-v` to the selection that a report prints.
//!
//! A value is a filter of trace-cmd if it has that syntax and the file has its events. Such a filter is evaluated while
//! records are printed, so that a trace.dat need not be loaded first. Any other value is a text, a regular expression
//! or an expression of our own search language.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::ArgMatches;

use crate::base::Timestamp;
use crate::cli::command::{CliError, warn};
use crate::cli::search::usage;
use crate::event::Value;
use crate::formats::Events;
use crate::formats::event_filter::{
    BoundFilter, EventFacts, EventFilter, Fact, FilterError, KindFields, MissingField,
};
use crate::formats::record_report::{Choice, EventPlace, Selection};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::expression::{Expression, ExpressionError, Matcher, nearest, unknown_event};
use crate::query::item::{cpu_number, event_ref};
use crate::trace::{EventId, ThreadId, Trace};

/// The values of `-F`, and of `-F` after `-v`.
pub(super) struct Filters {
    shown: Vec<Asked>,
    left_out: Vec<Asked>,
    files: FileOfSeveral,
    met: RefCell<Met>,
}

/// What events of any file passed.
#[derive(Debug, Default)]
struct Met {
    /// Whether an event passed all filters.
    all: bool,
    /// Whether an event passed each value of `-F`, in order; empty if no events were compared with them.
    each: Vec<bool>,
}

/// The file for which the values are resolved.
#[derive(Clone, Debug)]
struct FileOfSeveral {
    /// Its index.
    index: Cell<usize>,
    /// The number of files.
    count: usize,
}

/// One value of `-F`, parsed in both languages.
struct Asked {
    text: String,
    filter: Result<EventFilter, FilterError>,
    expression: Result<Expression, ExpressionError>,
    /// Whether no event is printed unless it passes this value.
    is_required: bool,
    /// In a report of several files: the files without events of a name in the filter, by their index, each with the
    /// error.
    lacking: RefCell<BTreeMap<usize, CliError>>,
}

/// A value that was resolved for a file.
enum Bound<'a> {
    Filter(BoundFilter),
    Search(&'a Asked),
}

/// Why a value is not a filter for a file.
enum Unbound {
    /// The value is meant for our own search language.
    Search,
    Wrong(CliError),
}

impl Filters {
    /// Parses the command line for a report of `file_count` files, so that errors are reported before a long load.
    pub(super) fn of(matches: &ArgMatches, file_count: usize) -> Result<Filters, CliError> {
        let texts = matches.get_many::<String>("filter").unwrap_or_default();
        let places = matches.indices_of("filter").into_iter().flatten();
        let turned = match matches.get_flag("leave-out") {
            true => matches.index_of("leave-out"),
            false => None,
        };
        let mut filters = Filters {
            shown: Vec::new(),
            left_out: Vec::new(),
            files: FileOfSeveral {
                index: Cell::new(0),
                count: file_count,
            },
            met: RefCell::default(),
        };
        for (text, place) in texts.zip(places) {
            let asked = Asked::parse(text)?;
            match turned {
                Some(turned) if place > turned => filters.left_out.push(asked),
                _ => filters.shown.push(asked),
            }
        }
        if let [only] = filters.shown.as_mut_slice() {
            only.is_required = true;
        }
        if turned.is_some() && filters.left_out.is_empty() {
            return Err(CliError::Usage(
                "-v needs a filter (-F) after it".to_owned(),
            ));
        }
        Ok(filters)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty() && self.left_out.is_empty()
    }

    /// States the index of the file for which the values are resolved next.
    pub(crate) fn begin_file(&self, index: usize) {
        self.files.index.set(index);
    }

    /// Checks, after all files were opened, that at least one has the events that a filter names.
    ///
    /// # Errors
    /// If no file has them.
    pub(crate) fn require_events(&self) -> Result<(), CliError> {
        for asked in self.shown.iter().chain(&self.left_out) {
            let mut lacking = asked.lacking.borrow_mut();
            if lacking.len() >= self.files.count
                && let Some((_, error)) = lacking.pop_first()
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Returns the selection for a report that evaluates filters itself, of a file with these kinds of events. `None`
    /// if one of the values needs our own search language and the file is not loaded.
    pub(super) fn selection(
        &self,
        kinds: &[KindFields<'_>],
        start: Timestamp,
        loaded: Option<&LoadedTrace>,
    ) -> Result<Option<Arc<Selection>>, CliError> {
        let all = |asked: &[Asked]| -> Result<Option<Vec<Choice>>, CliError> {
            let choices = asked.iter().map(|asked| {
                Ok(match (asked.bind(&self.files, kinds, start)?, loaded) {
                    (Bound::Filter(filter), _) => Some(Choice::Filter(filter)),
                    (Bound::Search(asked), Some(loaded)) => {
                        Some(Choice::Events(asked.search(&self.files, loaded)?))
                    }
                    (Bound::Search(_), None) => None,
                })
            });
            choices.collect()
        };
        let both = all(&self.shown)?.zip(all(&self.left_out)?);
        if self.files.count == 1
            && let Some((shown, _)) = &both
            && !shown.is_empty()
            && shown.iter().all(is_hopeless)
        {
            let words = "no event can pass any of these filters";
            return Err(CliError::Usage(words.to_owned()));
        }
        Ok(both.map(|(shown, left_out)| {
            Arc::new(Selection {
                shown,
                left_out,
                ..Selection::default()
            })
        }))
    }

    /// Returns the events of a loaded trace that pass the filters, in order.
    pub(super) fn wanted(&self, loaded: &LoadedTrace) -> Result<Vec<EventId>, CliError> {
        let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
        let kinds = kinds_of(trace, reader);
        let start = trace.span.start;
        let Some(selection) = self.selection(&kinds, start, Some(loaded))? else {
            return Ok(Vec::new());
        };
        let is_chosen = |choices: &[Choice], facts: &LoadedFacts<'_>| {
            choices.iter().fold(false, |so_far, choice| match choice {
                Choice::Filter(filter) => {
                    let is_asked = !so_far || !filter.is_met();
                    so_far | (is_asked && filter.is_match(facts.kind(), facts))
                }
                Choice::Events(events) => so_far | events.binary_search(&facts.place()).is_ok(),
            })
        };
        let is_wanted = |id: &EventId| {
            let facts = LoadedFacts {
                trace,
                reader,
                id: *id,
            };
            let is_shown = is_chosen(&selection.shown, &facts) || selection.shown.is_empty();
            let is_left_out = is_chosen(&selection.left_out, &facts);
            is_shown && !is_left_out
        };
        let all = trace.events.in_order();
        let wanted: Vec<EventId> = all.filter(is_wanted).collect();
        selection
            .is_met
            .store(!wanted.is_empty(), Ordering::Relaxed);
        if !trace.events.is_empty() {
            self.note_met(&selection);
        }
        Ok(wanted)
    }

    /// Notes which filters events of a file passed.
    pub(crate) fn note_met(&self, selection: &Selection) {
        let choices = selection.shown.iter().chain(&selection.left_out);
        let each = choices.map(|choice| match choice {
            Choice::Filter(filter) => filter.is_met(),
            Choice::Events(events) => !events.is_empty(),
        });
        let mut met = self.met.borrow_mut();
        met.all |= selection.is_met();
        for (at, is_met) in each.enumerate() {
            match met.each.get_mut(at) {
                Some(known) => *known |= is_met,
                None => met.each.push(is_met),
            }
        }
    }

    /// Warns of filters that no event of any file passed.
    pub(crate) fn warn_of_unmet(&self) {
        let met = self.met.borrow();
        let whose = match self.files.count {
            1 => "this trace",
            _ => "these traces",
        };
        if met.each.is_empty() {
            return;
        }
        if !met.all {
            warn(&format!("no event of {whose} passes the filters"));
            return;
        }
        let asked = self.shown.iter().chain(&self.left_out);
        for (asked, _) in asked.zip(&met.each).filter(|(_, is_met)| !**is_met) {
            let text = &asked.text;
            warn(&format!("no event of {whose} passes the filter '{text}'"));
        }
    }
}

impl Asked {
    fn parse(text: &str) -> Result<Asked, CliError> {
        let asked = Asked {
            text: text.to_owned(),
            filter: EventFilter::parse(text),
            expression: Expression::parse(text),
            is_required: false,
            lacking: RefCell::default(),
        };
        match (&asked.filter, &asked.expression) {
            (Err(_), Err(error)) => Err(usage(text, error)),
            _ => Ok(asked),
        }
    }

    /// Notes that a file has no events of a name in the filter.
    ///
    /// # Errors
    /// `error`, if there are no other files, which may have them.
    fn lacks(&self, files: &FileOfSeveral, error: CliError) -> Result<(), CliError> {
        if files.count <= 1 {
            return Err(error);
        }
        self.lacking.borrow_mut().insert(files.index.get(), error);
        Ok(())
    }

    fn bind(
        &self,
        files: &FileOfSeveral,
        kinds: &[KindFields<'_>],
        start: Timestamp,
    ) -> Result<Bound<'_>, CliError> {
        let bound = match &self.filter {
            Ok(filter) => self.bind_filter(files, filter, kinds, start),
            Err(_) => Err(Unbound::Search),
        };
        match (bound, &self.expression, &self.filter) {
            (Ok(filter), ..) => Ok(Bound::Filter(filter)),
            (Err(Unbound::Wrong(error)), ..) => Err(error),
            (Err(Unbound::Search), Ok(_), _) => Ok(Bound::Search(self)),
            (Err(Unbound::Search), Err(error), _) => Err(usage(&self.text, error)),
        }
    }

    /// Returns the events that match the expression, sorted.
    fn search(
        &self,
        files: &FileOfSeveral,
        loaded: &LoadedTrace,
    ) -> Result<Vec<EventPlace>, CliError> {
        let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
        let wrong = |error: &ExpressionError| usage(&self.text, error);
        let expression = self.expression.as_ref().map_err(wrong)?;
        if let Some(error) = unknown_event(expression, trace) {
            self.lacks(files, wrong(&error))?;
            return Ok(Vec::new());
        }
        let matcher = Matcher::new(expression, trace, reader).map_err(|error| wrong(&error))?;
        let mut probe = matcher.probe();
        let all = trace.events.in_order();
        let places = all.filter_map(|id| {
            let event = event_ref(trace, id);
            let is_match = probe.is_match(Item::Event(id));
            is_match.then_some(EventPlace::of(event))
        });
        let mut places: Vec<EventPlace> = places.collect();
        places.sort_unstable();
        Ok(places)
    }

    fn bind_filter(
        &self,
        files: &FileOfSeveral,
        filter: &EventFilter,
        kinds: &[KindFields<'_>],
        start: Timestamp,
    ) -> Result<BoundFilter, Unbound> {
        // Without a colon it may only be a list of names: the error of the search language is more precise.
        let is_of_search = self.expression.is_ok() || !self.text.contains(':');
        let bound = match filter.bind(kinds, start) {
            Ok(bound) => bound,
            Err(_) if is_of_search => return Err(Unbound::Search),
            Err(error) => return Err(Unbound::Wrong(wrong(&self.text, error))),
        };
        if let Some(unknown) = bound.unknown().first() {
            if is_of_search {
                return Err(Unbound::Search);
            }
            let error = wrong(&self.text, unknown.clone());
            self.lacks(files, error).map_err(Unbound::Wrong)?;
            return Ok(bound);
        }
        let Some(missing) = bound.missing().first() else {
            return Ok(bound);
        };
        let error = missing_field(missing, kinds);
        if bound.is_hopeless() && self.is_required {
            return Err(Unbound::Wrong(usage(&self.text, &error)));
        }
        let message = error.pointed(&self.text);
        warn(&format!(
            "comparisons with this field are false:\n{message}"
        ));
        Ok(bound)
    }
}

/// Returns whether it is already known that no event passes, because of missing fields.
fn is_hopeless(choice: &Choice) -> bool {
    match choice {
        Choice::Filter(filter) => filter.is_hopeless(),
        Choice::Events(_) => false,
    }
}

/// Names that mean the event's header in trace-cmd's filters, not a field.
const OF_LINE: [&str; 4] = ["COMM", "CPU", "PID", "TIMESTAMP"];

fn missing_field(missing: &MissingField, kinds: &[KindFields<'_>]) -> ExpressionError {
    let name = &missing.name;
    let fields = kinds.iter().filter_map(|kind| kind.fields.as_ref());
    let names = fields.flatten().copied().chain(OF_LINE);
    let upper = name.to_ascii_uppercase();
    let hint = match OF_LINE.iter().find(|known| **known == upper) {
        Some(known) => format!("; {known} is that of the event's line"),
        None => match nearest(name, names) {
            Some(meant) => format!("; there is '{meant}'"),
            None => String::new(),
        },
    };
    ExpressionError {
        at: missing.at,
        length: name.len(),
        message: format!("none of these events has a field '{name}'{hint}"),
    }
}

fn wrong(text: &str, error: FilterError) -> CliError {
    let FilterError {
        at,
        length,
        message,
    } = error;
    usage(
        text,
        &ExpressionError {
            at,
            length,
            message,
        },
    )
}

/// Returns the kinds of events of a loaded trace.
fn kinds_of<'a>(trace: &'a Trace, reader: &'a dyn Events) -> Vec<KindFields<'a>> {
    let kinds = trace.kinds.iter().zip(0..);
    let kinds = kinds.map(|(kind, index)| {
        let (system, name) = trace.recorded_as(&kind);
        KindFields {
            system,
            name,
            fields: reader.field_names(crate::event::KindId(index)),
        }
    });
    kinds.collect()
}

/// One event of a loaded trace.
struct LoadedFacts<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
    id: EventId,
}

impl LoadedFacts<'_> {
    fn kind(&self) -> usize {
        self.trace.events.kind(self.id).index()
    }

    fn place(&self) -> EventPlace {
        EventPlace::of(event_ref(self.trace, self.id))
    }
}

impl EventFacts for LoadedFacts<'_> {
    fn number(&self, fact: &Fact) -> Option<i128> {
        let time = || i128::from(self.trace.events.time(self.id).0);
        match fact {
            Fact::Field { name, .. } => {
                match self.reader.value(event_ref(self.trace, self.id), name)? {
                    Value::Bool(value) => Some(i128::from(value)),
                    Value::Int(value) => Some(i128::from(value)),
                    Value::UInt(value) | Value::Pointer(value) | Value::Koid(value) => {
                        Some(i128::from(value))
                    }
                    Value::Text(text) => text.trim().parse().ok(),
                    _ => None,
                }
            }
            Fact::Comm => None,
            Fact::Cpu => cpu_number(self.trace, Item::Event(self.id)).map(i128::from),
            Fact::Pid => {
                let thread = self.trace.events.thread(self.id);
                Some(i128::from(self.trace.thread(thread).tid))
            }
            Fact::Time => Some(time()),
            Fact::TimeMicros => Some(time().div_euclid(1000)),
        }
    }

    fn has_text(&self, fact: &Fact, is_it: &dyn Fn(&[u8]) -> bool) -> Option<bool> {
        match fact {
            Fact::Field { name, .. } => {
                let event = event_ref(self.trace, self.id);
                let value = self.reader.value(event, name)?;
                let text = match &value {
                    Value::Text(text) => return Some(is_it(text.as_bytes())),
                    Value::Int(number) => format!("{number:#x}"),
                    Value::UInt(number) => format!("{number:#x}"),
                    value => value.to_string(),
                };
                let is_shown = || {
                    let detail = self.reader.describe(event);
                    let field = detail.fields.iter().find(|field| field.name == *name);
                    field.is_some_and(|field| is_it(field.text().as_bytes()))
                };
                Some(is_it(text.as_bytes()) || is_shown())
            }
            Fact::Comm => {
                let thread = self.trace.events.thread(self.id);
                Some(match thread {
                    Some(ThreadId::IDLE) => is_it(b"<idle>"),
                    _ => is_it(self.trace.thread_name(thread).as_bytes()),
                })
            }
            _ => self.number(fact).map(|it| is_it(it.to_string().as_bytes())),
        }
    }
}
