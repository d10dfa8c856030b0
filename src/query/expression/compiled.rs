//! Binds an expression to a trace: a tree of tests with lists of the kinds of events, names of slices, threads and tracks
//! that match.

use super::ExpressionError;
use super::comparison::{NumberTest, TextTest, ValueTest};
use super::parse::{Field, Literal, Node, Number, Op};
use super::pattern::{Pattern, kinds_called};
use super::unknown::{is_field_too, no_such_field};
use crate::base::Comparison;
use crate::event::KindId;
use crate::formats::Events;
use crate::query::item::track_title;
use crate::trace::{ProcessId, ThreadId, ThreadState, Trace, TrackId};

/// Whether events of a kind, or slices with a name, match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// None of them matches.
    No,
    /// All of them match.
    Yes,
    /// Each of them is tested separately.
    Ask,
}

impl Verdict {
    fn of(known: Option<bool>) -> Verdict {
        match known {
            Some(true) => Verdict::Yes,
            Some(false) => Verdict::No,
            None => Verdict::Ask,
        }
    }
}

/// The kinds and labels whose name or category matches.
#[derive(Clone, Debug, Default)]
pub(super) struct ByLabel {
    /// By kind of event: whether it matches.
    pub kinds: Vec<bool>,
    /// By label of slices: whether it matches.
    pub labels: Vec<bool>,
}

/// A part of an expression, bound to a trace.
#[derive(Debug)]
pub(super) enum Test {
    Not(Box<Test>),
    All(Vec<Test>),
    Any(Vec<Test>),
    /// By kind: whether events of the kind have the field.
    Event(Vec<bool>, Box<Test>),
    /// The pattern in names, categories and texts.
    Anywhere(Pattern, ByLabel),
    Name(TextTest, ByLabel),
    /// Whether the category of an event or slice matches, or the kind of a slice.
    Label(ByLabel),
    /// Whether a thread or process matches: by thread, and by process.
    Whose(Vec<bool>, Vec<bool>),
    Cpu(NumberTest),
    Time(NumberTest),
    Duration(NumberTest),
    Depth(NumberTest),
    /// Whether a thread state matches, by state.
    State([bool; 13]),
    /// Whether a track matches, by track.
    Track(TextTest, Vec<bool>),
    Text(TextTest),
    /// The name, the comparison, the kinds that have the argument (`None`: not known), and the test for items without
    /// the argument.
    Argument(String, ValueTest, Vec<Option<bool>>, Option<Box<Test>>),
    Never,
}

/// The kind or label that a verdict is about.
#[derive(Clone, Copy)]
pub(super) enum About {
    Kind(usize),
    Label(usize),
}

pub(super) struct Compiler<'a> {
    pub trace: &'a Trace,
    pub field_names: Vec<Option<Vec<&'a str>>>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(trace: &'a Trace, reader: &'a dyn Events) -> Compiler<'a> {
        let kinds = 0..trace.kinds.len() as u32;
        Compiler {
            trace,
            field_names: kinds.map(|kind| reader.field_names(KindId(kind))).collect(),
        }
    }

    /// Prepares a part of the expression for the trace.
    pub(super) fn compile(&self, node: &Node, scope: Scope) -> Result<Test, ExpressionError> {
        let all = |nodes: &[Node]| -> Result<Vec<Test>, ExpressionError> {
            nodes.iter().map(|node| self.compile(node, scope)).collect()
        };
        Ok(match node {
            Node::Text(pattern) => {
                let found = |bytes: &[u8]| pattern.is_in(bytes);
                let names = self.by_label(Part::Name, &found);
                let categories = self.by_label(Part::Category, &found);
                let either = |a: Vec<bool>, b: Vec<bool>| {
                    a.into_iter().zip(b).map(|(a, b)| a || b).collect()
                };
                let both = ByLabel {
                    kinds: either(names.kinds, categories.kinds),
                    labels: either(names.labels, categories.labels),
                };
                Test::Anywhere(pattern.clone(), both)
            }
            Node::Not(inner) => Test::Not(Box::new(self.compile(inner, scope)?)),
            Node::All(nodes) => Test::All(all(nodes)?),
            Node::Any(nodes) => Test::Any(all(nodes)?),
            Node::Event(names, inner) => {
                let inner = Box::new(self.compile(inner, Scope::Event)?);
                Test::Event(self.kinds_named(names), inner)
            }
            Node::Compare {
                field,
                at,
                op,
                value,
            } => self.compare(field, *at, *op, value, scope)?,
        })
    }

    fn compare(
        &self,
        field: &Field,
        at: usize,
        op: Op,
        value: &Literal,
        scope: Scope,
    ) -> Result<Test, ExpressionError> {
        if let Field::Argument(name) = field {
            let kinds = self.kinds_with(name);
            if !kinds.is_empty() && kinds.iter().all(|has| *has == Some(false)) {
                let names = self.field_names.iter().flatten().flatten().copied();
                return Err(no_such_field(name, at, names));
            }
            if value.is_bare && value.pattern.is_none() && self.share_a_kind(name, &value.text) {
                return Err(is_field_too(name, at, &value.text));
            }
            return Ok(Test::Argument(
                name.clone(),
                ValueTest::of(op, value),
                kinds,
                None,
            ));
        }
        let test = self.compare_own(field, op, value);
        let name = super::FIELDS
            .iter()
            .find(|(_, own, _)| own == field)
            .map_or("", |(name, ..)| *name);
        let kinds = self.kinds_with(name);
        // If an argument has the name of one of our own fields, `event:` refers to the argument; so does `state` for
        // everything but thread states.
        let may_be_argument = scope == Scope::Event || *field == Field::State;
        if !may_be_argument || kinds.iter().all(|has| *has == Some(false)) {
            return Ok(test);
        }
        let test = Some(Box::new(test));
        Ok(Test::Argument(
            name.to_owned(),
            ValueTest::of(op, value),
            kinds,
            test,
        ))
    }

    fn compare_own(&self, field: &Field, op: Op, value: &Literal) -> Test {
        let number = NumberTest::of(op, value);
        let text = TextTest::of(op, value);
        let with_text = |make: &dyn Fn(TextTest) -> Test| text.clone().map_or(Test::Never, make);
        let with_number = |make: fn(NumberTest) -> Test| number.map_or(Test::Never, make);
        match field {
            Field::Name => with_text(&|test| {
                let by_label = self.by_label(Part::Name, &|bytes| test.holds(bytes));
                Test::Name(test, by_label)
            }),
            Field::Category => with_text(&|test| {
                Test::Label(self.by_label(Part::Category, &|bytes| test.holds(bytes)))
            }),
            Field::SliceKind => with_text(&|test| Test::Label(self.by_slice_kind(&test))),
            Field::Cpu => with_number(Test::Cpu),
            Field::Duration => with_number(Test::Duration),
            Field::Depth => with_number(Test::Depth),
            Field::Time => {
                let start = self.trace.span.start;
                let time = value.time.map(|time| i128::from(time.resolve(start).0));
                let number = time.map(Number::Int).or(value.number);
                number.map_or(Test::Never, |number| Test::Time(NumberTest { op, number }))
            }
            Field::Tid | Field::Pid | Field::Thread | Field::Process => {
                self.whose(field, number, text.as_ref())
            }
            Field::State => with_text(&|test| {
                Test::State(ThreadState::ALL.map(|state| test.holds(state.word().as_bytes())))
            }),
            Field::Track => with_text(&|test| {
                let tracks = 0..self.trace.tracks.len() as u32;
                let titles = tracks.map(|id| track_title(self.trace, TrackId(id)));
                let held = titles.map(|title| test.holds(title.as_bytes())).collect();
                Test::Track(test, held)
            }),
            Field::Text => with_text(&Test::Text),
            Field::Argument(_) => Test::Never,
        }
    }

    fn whose(&self, field: &Field, number: Option<NumberTest>, text: Option<&TextTest>) -> Test {
        let holds = |name: &[u8], count: u64| {
            let is_number = number.is_some_and(|test| test.holds(i128::from(count)));
            match (field, text) {
                (Field::Tid | Field::Pid, _) | (_, None) => is_number,
                (_, Some(text)) => match number {
                    // `thread != 5` means neither that number nor that name.
                    Some(test) if test.op == Op::Values(Comparison::Differs) => {
                        is_number && text.holds(name)
                    }
                    Some(test) if test.op == Op::Values(Comparison::Equal) => {
                        is_number || text.holds(name)
                    }
                    _ => text.holds(name),
                },
            }
        };
        let trace = self.trace;
        let processes: Vec<bool> = trace
            .processes
            .iter()
            .map(|process| holds(trace.strings.bytes(process.name), process.pid))
            .collect();
        if matches!(field, Field::Tid | Field::Thread) {
            let threads = 0..trace.threads.len() as u32;
            let threads = threads.map(|id| {
                let name = trace.thread_name(ThreadId(id));
                holds(name.as_bytes(), trace.thread(ThreadId(id)).tid)
            });
            return Test::Whose(threads.collect(), Vec::new());
        }
        let of = |id: Option<ProcessId>| {
            id.and_then(|id| processes.get(id.0 as usize).copied())
                .unwrap_or(false)
        };
        let threads = trace
            .threads
            .iter()
            .map(|thread| of(thread.process))
            .collect();
        Test::Whose(threads, processes)
    }

    fn by_label(&self, part: Part, holds: &dyn Fn(&[u8]) -> bool) -> ByLabel {
        let strings = &self.trace.strings;
        let of = |name, category| match part {
            Part::Name => holds(strings.bytes(name)),
            Part::Category => holds(strings.bytes(category)),
        };
        let kinds = self.trace.kinds.iter();
        let labels = self.trace.slices.labels.iter();
        ByLabel {
            kinds: kinds.map(|kind| of(kind.name, kind.category)).collect(),
            labels: labels.map(|label| of(label.name, label.category)).collect(),
        }
    }

    /// Returns the labels whose kind matches; events have none.
    fn by_slice_kind(&self, test: &TextTest) -> ByLabel {
        let labels = self.trace.slices.labels.iter();
        ByLabel {
            kinds: vec![false; self.trace.kinds.len()],
            labels: labels
                .map(|label| test.holds(label.kind.word().as_bytes()))
                .collect(),
        }
    }

    fn kinds_named(&self, names: &[String]) -> Vec<bool> {
        let mut found = vec![false; self.trace.kinds.len()];
        for name in names {
            for (found, is_it) in found.iter_mut().zip(kinds_called(self.trace, name)) {
                *found |= is_it;
            }
        }
        found
    }

    /// Returns whether a kind of events has both fields.
    fn share_a_kind(&self, one: &str, other: &str) -> bool {
        let mut kinds = self.field_names.iter().flatten();
        kinds.any(|names| names.contains(&one) && names.contains(&other))
    }

    fn kinds_with(&self, name: &str) -> Vec<Option<bool>> {
        let kinds = self.field_names.iter();
        kinds
            .map(|names| names.as_ref().map(|names| names.contains(&name)))
            .collect()
    }
}

/// Where a comparison is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Any,
    /// Inside `event:`.
    Event,
}

#[derive(Clone, Copy)]
enum Part {
    Name,
    Category,
}

impl Test {
    /// Returns whether events of a kind, or slices with a label, match.
    pub(crate) fn verdict(&self, about: About) -> Verdict {
        Verdict::of(self.known(about))
    }

    fn known(&self, about: About) -> Option<bool> {
        let by_label = |by: &ByLabel| match about {
            About::Kind(at) => by.kinds.get(at).copied(),
            About::Label(at) => by.labels.get(at).copied(),
        };
        match (self, about) {
            (Test::Never, _) => Some(false),
            (Test::Not(inner), _) => inner.known(about).map(|known| !known),
            (Test::All(tests), _) => join(tests, about, Settled::ByOneNo),
            (Test::Any(tests), _) => join(tests, about, Settled::ByOneYes),
            (Test::Name(_, by) | Test::Label(by), _) => Some(by_label(by).unwrap_or(false)),
            (Test::Anywhere(_, by), About::Kind(_)) => by_label(by).filter(|known| *known),
            (Test::Anywhere(_, by), About::Label(_)) => Some(by_label(by).unwrap_or(false)),
            (Test::Event(kinds, inner), About::Kind(at)) => match kinds.get(at) {
                Some(true) => inner.known(about),
                _ => Some(false),
            },
            (Test::Event(kinds, _), About::Label(_)) => (!kinds.contains(&true)).then_some(false),
            (Test::Duration(_) | Test::Depth(_) | Test::State(_), About::Kind(_)) => Some(false),
            (Test::State(_), About::Label(_)) => Some(false),
            (Test::Argument(_, _, kinds, otherwise), About::Kind(at)) => match kinds.get(at) {
                Some(Some(false)) => otherwise.as_ref().map_or(Some(false), |it| it.known(about)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The answer of a single part that decides the answer of all parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Settled {
    ByOneNo,
    ByOneYes,
}

fn join(tests: &[Test], about: About, settled: Settled) -> Option<bool> {
    let decisive = settled == Settled::ByOneYes;
    let mut answer = Some(!decisive);
    for test in tests {
        match test.known(about) {
            Some(known) if known == decisive => return Some(decisive),
            Some(_) => {}
            None => answer = None,
        }
    }
    answer
}
