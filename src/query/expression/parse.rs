//! Parses tokens into a tree. Checks fields and types, but needs no trace.

use super::ExpressionError;
use super::pattern::{Pattern, WrongPattern, is_glob};
use super::token::{Placed, Token, has_operator, tokens};
use crate::base::Comparison;
use crate::base::time::{TimeArg, parse_duration};

/// Deepest nesting.
const MAX_DEPTH: u32 = 64;

/// The parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    node: Node,
}

/// A part of an expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// A text that any of an item's names and texts may contain.
    Text(Pattern),
    /// A field compared to a value.
    Compare {
        /// The field.
        field: Field,
        /// Byte offset of the field's name in the text.
        at: usize,
        /// The comparison.
        op: Op,
        /// The value that it is compared to.
        value: Literal,
    },
    /// Only events of these names or systems (`sched_switch`, `sched`, `sched/sched_switch`; with `*` for any text, or
    /// as regular expressions of the whole name); in the part after it, fields of these events take precedence.
    Event(Vec<String>, Box<Node>),
    /// The part does not match.
    Not(Box<Node>),
    /// All parts match.
    All(Vec<Node>),
    /// One of the parts matches.
    Any(Vec<Node>),
}

/// The fields that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The item's name.
    Name,
    /// The item's category or system.
    Category,
    /// The kind of a slice.
    SliceKind,
    /// The number of its CPU.
    Cpu,
    /// The number of its thread.
    Tid,
    /// The number of its process.
    Pid,
    /// The item's thread, by name or number.
    Thread,
    /// The item's process, by name or number.
    Process,
    /// The item's track, by name.
    Track,
    /// The item's start.
    Time,
    /// The item's duration.
    Duration,
    /// The number of slices around the item.
    Depth,
    /// The state of the thread.
    State,
    /// The event's text.
    Text,
    /// An argument of the event by its name.
    Argument(String),
}

/// The fields that are not arguments: name, field and meaning.
pub(crate) const FIELDS: &[(&str, Field, &str)] = &[
    ("name", Field::Name, "name of the event, slice, thread ..."),
    ("category", Field::Category, "category or system"),
    (
        "slice_kind",
        Field::SliceKind,
        "kind of a slice: system calls, functions, asynchronous ...",
    ),
    ("cpu", Field::Cpu, "number of the CPU"),
    ("tid", Field::Tid, "number of the thread"),
    ("pid", Field::Pid, "number of the process"),
    ("thread", Field::Thread, "name or number of the thread"),
    ("process", Field::Process, "name or number of the process"),
    ("track", Field::Track, "name of the track"),
    (
        "ts",
        Field::Time,
        "start: 1.5s since the trace's start, or @N ns",
    ),
    (
        "dur",
        Field::Duration,
        "duration: 1ms, or a number of ns; of an unfinished slice its least duration, for > >= != only",
    ),
    ("depth", Field::Depth, "how many slices are around it"),
    (
        "state",
        Field::State,
        "state of a thread: running, runnable, sleeping ...",
    ),
    ("text", Field::Text, "the whole text of the event"),
    ("time", Field::Time, "the same as ts"),
    ("CPU", Field::Cpu, "as in trace-cmd's filters"),
    ("COMM", Field::Thread, "as in trace-cmd's filters"),
    ("TIMESTAMP", Field::Time, "as in trace-cmd's filters"),
];

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// By their values.
    Values(Comparison),
    /// Matches the pattern: `~`.
    Like,
    /// Does not match the pattern: `!~`.
    Unlike,
    /// `&`: any of these bits is set.
    Bits,
}

/// A value that a field is compared to.
#[derive(Clone, Debug)]
pub struct Literal {
    /// The text as it was written, without quotes.
    pub text: String,
    /// Whether the text was written without quotes.
    pub is_bare: bool,
    /// The text as a number (durations in ns), if it is one.
    pub number: Option<Number>,
    /// The text as a time, if it is one.
    pub time: Option<TimeArg>,
    /// The pattern, for `~` and `!~`.
    pub pattern: Option<Pattern>,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Int(i128),
    /// Another number.
    Float(f64),
}

impl std::str::FromStr for Expression {
    type Err = ExpressionError;

    fn from_str(text: &str) -> Result<Expression, ExpressionError> {
        Expression::parse(text)
    }
}

impl Expression {
    /// Parses what a user wrote: plain text, `/regex/` or an expression.
    ///
    /// # Errors
    ///
    /// Errors with the place and the reason if the text is malformed or empty.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let trimmed = text.trim();
        let start = text.len() - text.trim_start().len();
        let whole = |it: WrongPattern| ExpressionError::new(start, trimmed.len(), it.message);
        let node = if trimmed.is_empty() {
            return Err(ExpressionError::new(0, 0, "nothing to look for"));
        } else if let Some((pattern, flags)) = as_regex(trimmed) {
            let wrong = |it: WrongPattern| it.at(start, pattern.len() + 2, pattern.len());
            Node::Text(Pattern::build(pattern, flags).map_err(wrong)?)
        } else if let Some(inner) = as_quoted(trimmed) {
            Node::Text(Pattern::of_text(inner).map_err(whole)?)
        } else if has_operator(text) {
            let mut parser = Parser {
                tokens: tokens(text)?,
                next: 0,
                end: text.len(),
            };
            let node = parser.any(0, Scope::Whole)?;
            match parser.peek() {
                None => node,
                Some(Placed {
                    token: Token::Close,
                    at,
                    ..
                }) => {
                    return Err(ExpressionError::new(*at, 1, "this ) has no partner"));
                }
                Some(other) => {
                    return Err(ExpressionError::new(
                        other.at,
                        other.length,
                        "&& or || is missing here (to find a text as it is, put it in quotes)",
                    ));
                }
            }
        } else {
            Node::Text(Pattern::of_text(trimmed).map_err(whole)?)
        };
        Ok(Expression {
            text: text.to_owned(),
            node,
        })
    }

    /// Returns the text as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the root of the parsed tree.
    #[must_use]
    pub(crate) fn root(&self) -> &Node {
        &self.node
    }

    /// Returns whether `field` is compared anywhere in the expression.
    #[must_use]
    pub(crate) fn mentions(&self, field: &Field) -> bool {
        fn looks_at(node: &Node, wanted: &Field) -> bool {
            match node {
                Node::Text(_) => false,
                Node::Compare { field, .. } => field == wanted,
                Node::Event(_, inner) | Node::Not(inner) => looks_at(inner, wanted),
                Node::All(nodes) | Node::Any(nodes) => {
                    nodes.iter().any(|node| looks_at(node, wanted))
                }
            }
        }
        looks_at(&self.node, field)
    }
}

/// `/pattern/flags`, whole.
fn as_regex(text: &str) -> Option<(&str, &str)> {
    let (pattern, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    (matches!(flags, "" | "i") && !pattern.is_empty()).then_some((pattern, flags))
}

/// `"text"`, whole.
fn as_quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.is_empty() && !inner.contains('"')).then_some(inner)
}

/// The part of an expression that `||` joins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The whole expression.
    Whole,
    /// The part inside `event:`.
    Event,
}

struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Placed> {
        self.tokens.get(self.next)
    }

    fn is_next(&mut self, wanted: &Token) -> bool {
        let is_it = self.peek().is_some_and(|placed| placed.token == *wanted);
        self.next += usize::from(is_it);
        is_it
    }

    fn missing(&self, what: &str) -> ExpressionError {
        match self.peek() {
            Some(placed) => ExpressionError::new(placed.at, placed.length, what),
            None => ExpressionError::new(self.end, 0, what),
        }
    }

    fn any(&mut self, depth: u32, scope: Scope) -> Result<Node, ExpressionError> {
        if depth > MAX_DEPTH {
            return Err(self.missing("too many nested parentheses"));
        }
        let mut nodes = vec![self.all(depth)?];
        while !(scope == Scope::Event && self.is_other_event()) && self.is_next(&Token::Or) {
            nodes.push(self.all(depth)?);
        }
        Ok(one_or(nodes, Node::Any))
    }

    /// Returns whether `|| event:` follows: it ends the part about the event before.
    fn is_other_event(&self) -> bool {
        let after = self.tokens.get(self.next + 1);
        after.is_some_and(|placed| matches!(placed.token, Token::Event(_)))
    }

    fn all(&mut self, depth: u32) -> Result<Node, ExpressionError> {
        let mut nodes = vec![self.one(depth)?];
        while self.is_next(&Token::And) {
            nodes.push(self.one(depth)?);
        }
        Ok(one_or(nodes, Node::All))
    }

    fn one(&mut self, depth: u32) -> Result<Node, ExpressionError> {
        let mut is_not = false;
        while self.is_next(&Token::Not) {
            is_not = !is_not;
        }
        let node = self.plain(depth)?;
        Ok(if is_not {
            Node::Not(Box::new(node))
        } else {
            node
        })
    }

    fn plain(&mut self, depth: u32) -> Result<Node, ExpressionError> {
        let Some(Placed { token, at, length }) = self.peek().cloned() else {
            return Err(self.missing("something is missing at the end"));
        };
        self.next += 1;
        let wrong = |message: String| ExpressionError::new(at, length, message);
        let text = |text: &str| {
            let pattern = Pattern::of_text(text).map_err(|it| wrong(it.message));
            pattern.map(Node::Text)
        };
        match token {
            Token::Event(names) => {
                let inner = self.any(depth + 1, Scope::Event)?;
                Ok(Node::Event(names, Box::new(inner)))
            }
            Token::Open => {
                let node = self.any(depth + 1, Scope::Whole)?;
                if self.is_next(&Token::Close) {
                    Ok(node)
                } else {
                    Err(ExpressionError::new(at, 1, "this ( has no partner"))
                }
            }
            Token::Word(word) => match self.operator() {
                Some(op) => self.compare(&word, at, length, op),
                None => text(&word),
            },
            Token::Quoted(quoted) => text(&quoted),
            Token::Regex(pattern, flags) => Pattern::build(&pattern, &flags)
                .map(Node::Text)
                .map_err(|it| it.at(at, length - flags.len(), pattern.len())),
            _ => Err(wrong("a field or a text is missing before this".to_owned())),
        }
    }

    fn operator(&mut self) -> Option<Op> {
        let op = match self.peek()?.token {
            Token::Compare(comparison) => Op::Values(comparison),
            Token::Like | Token::Matches => Op::Like,
            Token::Unlike => Op::Unlike,
            Token::Bits => Op::Bits,
            _ => return None,
        };
        self.next += 1;
        Some(op)
    }

    fn compare(
        &mut self,
        name: &str,
        at: usize,
        length: usize,
        op: Op,
    ) -> Result<Node, ExpressionError> {
        let field = field_of(name);
        let operator = self.next.checked_sub(1).and_then(|at| self.tokens.get(at));
        let may_be_glob = !operator.is_some_and(|it| it.token == Token::Matches);
        let Some(Placed {
            token,
            at: value_at,
            length: value_length,
        }) = self.peek().cloned()
        else {
            return Err(self.missing("a value is missing at the end"));
        };
        self.next += 1;
        let wrong = |message: String| ExpressionError::new(value_at, value_length, message);
        let is_pattern = matches!(op, Op::Like | Op::Unlike);
        let is_bare = matches!(token, Token::Word(_));
        let (text, pattern) = match token {
            Token::Word(text) | Token::Quoted(text) if is_pattern => {
                let pattern = match may_be_glob && is_glob(&text) {
                    true => Pattern::of_glob(&text),
                    false => Pattern::build(&text, ""),
                };
                let pattern = pattern.map_err(|it| it.at(value_at, value_length, text.len()))?;
                (text, Some(pattern))
            }
            Token::Regex(text, flags) if is_pattern => {
                let length = value_length - flags.len();
                let pattern = Pattern::build(&text, &flags);
                let pattern = pattern.map_err(|it| it.at(value_at, length, text.len()))?;
                (text, Some(pattern))
            }
            Token::Regex(..) => {
                return Err(wrong(
                    "a regular expression is compared with ~ (a path needs quotes)".to_owned(),
                ));
            }
            Token::Word(text) | Token::Quoted(text) => (text, None),
            _ => return Err(wrong("a value is missing before this".to_owned())),
        };
        let value = Literal {
            number: number_of(&text),
            time: text.parse().ok(),
            text,
            is_bare,
            pattern,
        };
        check(&field, name, op, &value).map_err(|message| match message {
            Trouble::Operator(message) => ExpressionError::new(at, length, message),
            Trouble::Value(message) => wrong(message),
        })?;
        Ok(Node::Compare {
            field,
            at,
            op,
            value,
        })
    }
}

enum Trouble {
    Operator(String),
    Value(String),
}

/// Checks that one of our own fields can be compared like this. Arguments can be anything.
fn check(field: &Field, name: &str, op: Op, value: &Literal) -> Result<(), Trouble> {
    let is_ordered = match op {
        Op::Values(comparison) => comparison.is_ordered(),
        Op::Bits => true,
        Op::Like | Op::Unlike => false,
    };
    let is_pattern = matches!(op, Op::Like | Op::Unlike);
    match field {
        Field::Name
        | Field::Category
        | Field::SliceKind
        | Field::Track
        | Field::State
        | Field::Text
            if is_ordered =>
        {
            Err(Trouble::Operator(format!(
                "'{name}' is a text: it can be compared with == != ~ !~"
            )))
        }
        Field::Cpu | Field::Tid | Field::Pid | Field::Time | Field::Duration | Field::Depth
            if is_pattern =>
        {
            Err(Trouble::Operator(format!(
                "'{name}' is a number: it can be compared with == != < <= > >="
            )))
        }
        Field::Cpu | Field::Tid | Field::Pid | Field::Duration | Field::Depth
            if value.number.is_none() =>
        {
            Err(Trouble::Value(format!(
                "'{name}' can only be compared with a number"
            )))
        }
        Field::Time if value.time.is_none() && !matches!(value.number, Some(Number::Int(_))) => {
            Err(Trouble::Value(
                "a time is 1.5s, 250ms, 12us or 7ns since the start, or N or @N for N ns on the trace's own clock".to_owned(),
            ))
        }
        Field::Time => Ok(()),
        _ if is_ordered && value.number.is_none() => Err(Trouble::Value(
            "< <= > >= & can only compare with a number".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn field_of(name: &str) -> Field {
    let argument = ["arg.", "args."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    if let Some(argument) = argument {
        return Field::Argument(argument.to_owned());
    }
    FIELDS.iter().find(|(word, ..)| *word == name).map_or_else(
        || Field::Argument(name.to_owned()),
        |(_, field, _)| field.clone(),
    )
}

fn number_of(text: &str) -> Option<Number> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let plain: String = digits.chars().filter(|&c| c != '_').collect();
    let whole = match plain
        .strip_prefix("0x")
        .or_else(|| plain.strip_prefix("0X"))
    {
        Some(hex) => i128::from_str_radix(hex, 16).ok(),
        None => plain.parse().ok(),
    };
    if let Some(whole) = whole {
        return Some(Number::Int(if is_negative { -whole } else { whole }));
    }
    if let Ok(number) = plain.parse::<f64>() {
        return Some(Number::Float(if is_negative { -number } else { number }));
    }
    let length = parse_duration(text).ok()?;
    Some(Number::Int(i128::from(length.0)))
}

fn one_or(mut nodes: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match nodes.len() {
        1 => nodes.remove(0),
        _ => many(nodes),
    }
}
