//! An expression compiled for a trace: returns whether an event, slice, run, state, thread ... matches it.
//!
//! If the columns of an event decide the answer, the event is not decoded; otherwise only the field is decoded that the
//! expression compares.

use std::sync::OnceLock;

use super::compiled::{About, ByLabel, Compiler, Scope, Test, Verdict};
use super::{Expression, ExpressionError};
use crate::event::KindId;
use crate::formats::Events;
use crate::query::Item;
use crate::query::gaps;
use crate::query::item::{cpu_number, event_of, event_ref, title};
use crate::query::seen::{Length, Seen};
use crate::trace::{EventId, Trace};

/// An expression bound to one trace. Threads share it; each uses its own [`Probe`].
pub struct Matcher<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
    test: Test,
    kinds: Vec<Verdict>,
    labels: Vec<Verdict>,
    /// The depth of each slice, computed when it is first needed.
    depths: OnceLock<Vec<u32>>,
    /// The certain durations of unfinished slices, set when a duration is compared for the first time.
    seen: OnceLock<Seen>,
}

impl std::fmt::Debug for Matcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matcher({:?})", self.test)
    }
}

impl<'a> Matcher<'a> {
    /// Binds `expression` to `trace`.
    ///
    /// # Errors
    /// Errors if it contains a field that no event of the trace can have.
    pub fn new(
        expression: &Expression,
        trace: &'a Trace,
        reader: &'a dyn Events,
    ) -> Result<Matcher<'a>, ExpressionError> {
        let compiler = Compiler::new(trace, reader);
        let test = compiler.compile(expression.root(), Scope::Any)?;
        let kinds = (0..trace.kinds.len()).map(|at| test.verdict(About::Kind(at)));
        let labels = (0..trace.slices.labels.len()).map(|at| test.verdict(About::Label(at)));
        Ok(Matcher {
            kinds: kinds.collect(),
            labels: labels.collect(),
            depths: OnceLock::new(),
            seen: OnceLock::new(),
            trace,
            reader,
            test,
        })
    }

    /// Returns whether events of a kind match.
    #[inline]
    #[must_use]
    pub(crate) fn of_kind(&self, kind: KindId) -> Verdict {
        self.kinds
            .get(kind.index())
            .copied()
            .unwrap_or(Verdict::Ask)
    }

    /// Returns whether slices with a label (a row of `Slices::labels`) match.
    #[inline]
    #[must_use]
    pub(crate) fn of_label(&self, label: u32) -> Verdict {
        self.labels
            .get(label as usize)
            .copied()
            .unwrap_or(Verdict::Ask)
    }

    fn seen(&self) -> &Seen {
        self.seen.get_or_init(|| Seen::new(self.trace))
    }

    /// Returns a probe, which is faster than [`Matcher::is_match`] for many items.
    #[must_use]
    pub fn probe(&self) -> Probe<'_> {
        Probe {
            matcher: self,
            text: Vec::new(),
        }
    }

    /// Returns whether `item` matches.
    #[must_use]
    pub fn is_match(&self, item: Item) -> bool {
        self.probe().is_match(item)
    }
}

/// Tests items against a [`Matcher`]; keeps the memory that texts need.
#[derive(Debug)]
pub struct Probe<'a> {
    matcher: &'a Matcher<'a>,
    text: Vec<u8>,
}

impl Probe<'_> {
    /// Returns whether `item` matches. Items that do not exist do not match.
    #[must_use]
    pub fn is_match(&mut self, item: Item) -> bool {
        let matcher = self.matcher;
        let trace = matcher.trace;
        let verdict = match item {
            Item::Event(id) if (id.0 as usize) < trace.events.len() => {
                matcher.of_kind(trace.events.kind(id))
            }
            Item::Slice(id) if (id.0 as usize) < trace.slices.len() => {
                matcher.of_label(trace.slices.label_ids.at(id.0 as usize))
            }
            Item::Cpu(_) | Item::Track(_) => Verdict::Ask,
            item if item.span(trace).is_none() => Verdict::No,
            _ => Verdict::Ask,
        };
        match verdict {
            Verdict::Yes => true,
            Verdict::No => false,
            Verdict::Ask => self.holds(&matcher.test, item),
        }
    }

    fn holds(&mut self, test: &Test, item: Item) -> bool {
        let trace = self.matcher.trace;
        let in_list = |list: &[bool], at: u32| list.get(at as usize).copied().unwrap_or(false);
        match test {
            Test::Never => false,
            Test::Not(inner) => !self.holds(inner, item),
            Test::All(tests) => tests.iter().all(|test| self.holds(test, item)),
            Test::Any(tests) => tests.iter().any(|test| self.holds(test, item)),
            Test::Event(kinds, inner) => {
                let kind = event_of(trace, item).map(|id| trace.events.kind(id));
                kind.is_some_and(|kind| in_list(kinds, kind.0)) && self.holds(inner, item)
            }
            Test::Anywhere(pattern, by) => match self.by_label(by, item) {
                Some(true) => true,
                _ if matches!(item, Item::Slice(_)) => false,
                _ => self.with_text(item, |text| pattern.is_in(text)),
            },
            Test::Name(test, by) => match self.by_label(by, item) {
                Some(known) => known,
                None => test.holds(title(trace, item).as_bytes()),
            },
            Test::Label(by) => self.by_label(by, item).unwrap_or(false),
            Test::Whose(threads, processes) => match item {
                Item::Process(id) => in_list(processes, id.0),
                _ => item.thread(trace).is_some_and(|id| in_list(threads, id.0)),
            },
            Test::Cpu(test) => cpu_number(trace, item).is_some_and(|cpu| test.holds(cpu.into())),
            Test::Time(test) => item
                .span(trace)
                .is_some_and(|span| test.holds(span.start.0.into())),
            Test::Duration(test) => match item {
                Item::Event(_) | Item::Instant(_) => false,
                _ => match item.duration(trace, self.matcher.seen()) {
                    Some(Length::Known(length)) => test.holds(length.into()),
                    Some(Length::AtLeast(length)) => test.holds_from(length.into()),
                    None => false,
                },
            },
            Test::Depth(test) => match item {
                Item::Slice(id) => {
                    let depths = self.matcher.depths.get_or_init(|| trace.slices.depths());
                    let depth = depths.get(id.0 as usize).copied().unwrap_or(0);
                    test.holds(depth.into())
                }
                _ => false,
            },
            Test::State(states) => match item {
                Item::State(id) => states[trace.states.states[id.0 as usize] as usize],
                _ => false,
            },
            Test::Track(test, tracks) => match item {
                Item::Slice(id) => in_list(tracks, trace.slices.row_of(id).track.0),
                Item::Track(id) => in_list(tracks, id.0),
                Item::Sample(..) => test.holds(title(trace, item).as_bytes()),
                _ => false,
            },
            Test::Text(test) => self.with_text(item, |text| test.holds(text)),
            Test::Argument(name, test, kinds, otherwise) => {
                if let (Item::State(_), Some(own)) = (item, otherwise)
                    && matches!(**own, Test::State(_))
                {
                    return self.holds(own, item);
                }
                let events = [event_of(trace, item), finish_of(trace, item)];
                for id in events.into_iter().flatten() {
                    let kind = trace.events.kind(id).index();
                    if kinds.get(kind).copied().flatten() == Some(false) {
                        continue;
                    }
                    let event = event_ref(trace, id);
                    if let Some(value) = self.matcher.reader.value(event, name) {
                        return test.holds(&value).unwrap_or_else(|| {
                            let detail = self.matcher.reader.describe(event);
                            let field = detail.fields.iter().find(|field| field.name == *name);
                            field.is_some_and(|field| test.holds_shown(&field.text()))
                        });
                    }
                }
                otherwise.as_ref().is_some_and(|own| self.holds(own, item))
            }
        }
    }

    /// Returns whether the item's kind or label matches; `None` for items that have neither.
    fn by_label(&self, by: &ByLabel, item: Item) -> Option<bool> {
        let trace = self.matcher.trace;
        match item {
            Item::Slice(id) => {
                let label = trace.slices.label_ids.at(id.0 as usize);
                Some(by.labels.get(label as usize).copied().unwrap_or(false))
            }
            Item::Event(_) | Item::Instant(_) => {
                let kind = event_of(trace, item).map(|id| trace.events.kind(id))?;
                Some(by.kinds.get(kind.index()).copied().unwrap_or(false))
            }
            _ => None,
        }
    }

    /// Calls `question` with all text of an item: of events `name: text`, of others the name.
    fn with_text(&mut self, item: Item, question: impl FnOnce(&[u8]) -> bool) -> bool {
        let (trace, reader) = (self.matcher.trace, self.matcher.reader);
        self.text.clear();
        match item {
            Item::Event(_) | Item::Instant(_) | Item::Slice(_) => {
                if let Item::Slice(id) = item {
                    let name = trace.slices.label(id).name;
                    self.text.extend_from_slice(trace.strings.bytes(name));
                    self.text.push(b' ');
                }
                for id in [event_of(trace, item), finish_of(trace, item)]
                    .into_iter()
                    .flatten()
                {
                    let kind = trace.kinds.get(trace.events.kind(id).index());
                    if let Some(kind) = kind {
                        self.text.extend_from_slice(trace.strings.bytes(kind.name));
                        self.text.extend_from_slice(b": ");
                    }
                    reader.push_line(event_ref(trace, id), &mut self.text);
                }
            }
            _ => self
                .text
                .extend_from_slice(own_text(trace, item).as_bytes()),
        }
        question(&self.text)
    }
}

/// The event that ended a slice.
fn finish_of(trace: &Trace, item: Item) -> Option<EventId> {
    let Item::Slice(id) = item else { return None };
    let row = Some(id.0 as usize).filter(|&row| row < trace.slices.len())?;
    let finish = trace.slices.finish(row);
    finish.filter(|id| (id.0 as usize) < trace.events.len())
}

/// Returns an item's title with its process or thread number, and the program that it ran.
fn own_text(trace: &Trace, item: Item) -> String {
    let name = title(trace, item);
    match item {
        Item::Thread(id) => format!("{name} {}", trace.thread(id).tid),
        Item::Process(id) => {
            let process = &trace.processes[id.0 as usize];
            let mut text = format!("{name} {}", process.pid);
            for image in &process.images {
                text.push(' ');
                text.push_str(&trace.text(image.program));
                for argument in &image.arguments {
                    text.push(' ');
                    text.push_str(&trace.text(*argument));
                }
            }
            text
        }
        Item::Gap(id) => gaps::search_text(trace, id),
        _ => name,
    }
}
