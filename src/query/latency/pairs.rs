//! Pairs of events: finds for each event of a first expression the event of a second expression with the same key, and
//! the time between them.
//!
//! In time order, an event of the first expression opens its key; an event of the second closes it. An event has no
//! partner if its key is opened again before it is closed, or is never closed; an event of the second expression has no
//! partner if its key is not open. If events of the CPU of either event were lost between both, the second event may
//! belong to a first one that was lost: the pair's length is unknown, and at least the time to the loss.

use rustc_hash::FxHashMap;

use super::{Among, Sample, longest};
use crate::base::{Cancelled, Job, TimeSpan, Timestamp};
use crate::event::Value;
use crate::formats::Events;
use crate::query::Item;
use crate::query::distribution::Distribution;
use crate::query::expression::{Expression, ExpressionError};
use crate::query::item::event_ref;
use crate::query::search::{Hit, Place, Places, Query, search};
use crate::query::seen::Seen;
use crate::trace::{CpuId, EventId, GapId, SourceId, Trace};

/// The most events of each expression that are kept.
const MAX_EVENTS: usize = 8_000_000;

/// The property that two events must share to be a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairKey {
    /// Nothing: the next event of the second expression closes the pair.
    Any,
    /// The thread.
    Thread,
    /// The CPU.
    Cpu,
    /// A field of the first event has the value of a field of the second event.
    Fields(String, String),
}

impl std::str::FromStr for PairKey {
    type Err = String;

    /// Parses `any`, `tid`, `cpu`, `field`, or `field=other field`.
    fn from_str(text: &str) -> Result<PairKey, String> {
        match text.trim() {
            "" => Err("a key is any, tid, cpu, FIELD or FIELD=FIELD".to_owned()),
            "any" => Ok(PairKey::Any),
            "tid" | "thread" => Ok(PairKey::Thread),
            "cpu" => Ok(PairKey::Cpu),
            text => {
                let (from, to) = text.split_once('=').unwrap_or((text, text));
                Ok(PairKey::Fields(
                    from.trim().to_owned(),
                    to.trim().to_owned(),
                ))
            }
        }
    }
}

/// Parses the expression for the events that begin or end a pair. The bare name of a kind of event means the events of
/// that name, not every event that mentions it.
///
/// # Errors
/// Errors if the expression is wrong, with the position.
pub(crate) fn parse_events(text: &str, trace: &Trace) -> Result<Expression, ExpressionError> {
    let name = text.trim();
    let is_kind = trace.kinds.iter().any(|kind| trace.text(kind.name) == name);
    if is_kind && !name.contains('"') {
        return Expression::parse(&format!("name == \"{name}\""));
    }
    Expression::parse(text)
}

/// The pairs to find.
#[derive(Clone, Debug)]
pub struct PairQuery {
    /// The event that opens a pair.
    pub from: Expression,
    /// The event that closes a pair.
    pub to: Expression,
    /// The property that both events share.
    pub key: PairKey,
    /// The time range.
    pub span: TimeSpan,
    /// The threads and CPUs.
    pub among: Among,
    /// The number of longest pairs to keep.
    pub worst: usize,
}

/// The pairs that were found.
#[derive(Clone, Debug)]
pub struct EventPairs {
    /// In the order in which they closed.
    pub samples: Vec<Sample>,
    /// The lengths.
    pub lengths: Distribution,
    /// The longest, the longest first.
    pub worst: Vec<Sample>,
    /// The number of opening events that were never closed, or whose key was opened again before; and `over_losses`.
    pub unmatched_from: u64,
    /// The number of pairs during which events were lost.
    pub over_losses: u64,
    /// The number of pairs that were still open at the end, or during which events were lost.
    pub unfinished: u64,
    /// The total time in ns for which these pairs were open, until the end or the loss.
    pub unfinished_ns: i128,
    /// The number of closing events whose key was not open.
    pub unmatched_to: u64,
    /// The number of events without the field of the key.
    pub keyless: u64,
    /// The number of events beyond the limit, which were not examined.
    pub left_out: u64,
}

/// Finds pairs. Returns `Ok(Err(..))` if one of the expressions refers to something that the trace does not have.
///
/// # Errors
///
/// Errors if the job is cancelled.
pub fn event_pairs(
    trace: &Trace,
    reader: &dyn Events,
    query: &PairQuery,
    job: &Job,
) -> Result<Result<EventPairs, ExpressionError>, Cancelled> {
    let mut left_out = 0;
    let among = &query.among;
    let mut find = |expression: &Expression| -> Result<Vec<Hit>, ExpressionError> {
        let query = Query {
            places: Places::of(&[Place::Events]),
            expression: expression.clone(),
            span: query.span,
            limit: MAX_EVENTS,
        };
        let found = search(trace, reader, &query, job, &mut |_| {})?;
        left_out += found.total() - found.hits.len() as u64;
        let mut hits = found.hits;
        hits.retain(|hit| is_among(trace, hit, among));
        Ok(hits)
    };
    let (from, to) = match (find(&query.from), find(&query.to)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    job.check()?;
    let mut pairs = EventPairs {
        samples: Vec::new(),
        lengths: Distribution::default(),
        worst: Vec::new(),
        unmatched_from: 0,
        over_losses: 0,
        unfinished: 0,
        unfinished_ns: 0,
        unmatched_to: 0,
        keyless: 0,
        left_out,
    };
    let mut keys = Keys {
        trace,
        reader,
        open: FxHashMap::default(),
        losses: Losses::new(trace),
    };
    let (mut from, mut to) = (from.iter().peekable(), to.iter().peekable());
    loop {
        let opens = match (from.peek(), to.peek()) {
            (None, None) => break,
            (Some(open), Some(close)) => {
                open.time < close.time || open.time == close.time && precedes(trace, open, close)
            }
            (Some(_), None) => true,
            (None, Some(_)) => false,
        };
        let (next, end) = if opens {
            (from.next(), End::Begin)
        } else {
            (to.next(), End::Finish)
        };
        let Some(&hit) = next else { break };
        keys.take(hit, end, &query.key, &mut pairs);
        if pairs.samples.len() & 0xfff == 0 {
            job.check()?;
        }
    }
    pairs.unmatched_from += keys.open.len() as u64;
    let seen = Seen::new(trace);
    for hit in keys.open.values() {
        let file = match hit.item {
            Item::Event(id) => trace.source_of(id.0, |source| &source.events),
            _ => None,
        };
        let until = seen.open_until(trace, file, hit.time).min(query.span.end);
        pairs.unfinished += 1;
        pairs.unfinished_ns += i128::from((until - hit.time).0.max(0));
    }
    let lengths = pairs.samples.iter().map(|sample| sample.length_ns);
    pairs.lengths = Distribution::of(lengths.collect());
    pairs.worst = longest(&pairs.samples, query.worst);
    Ok(Ok(pairs))
}

/// Returns whether the opening one of two events of one time comes first: its lane records it first. Of two lanes the
/// closing one comes first, because it belongs to a pair that was already open; an event that both expressions match closes
/// the last pair and opens the next one.
fn precedes(trace: &Trace, open: &Hit, close: &Hit) -> bool {
    match (open.item, close.item) {
        (Item::Event(open), Item::Event(close)) => {
            open < close && trace.events.lane_of(open) == trace.events.lane_of(close)
        }
        _ => false,
    }
}

fn is_among(trace: &Trace, hit: &Hit, among: &Among) -> bool {
    let Item::Event(id) = hit.item else {
        return false;
    };
    let cpu = || trace.events.get(id).cpu.map(CpuId);
    *among == Among::All || among.has(trace.events.thread(id), cpu())
}

/// The end of the pair at which an event is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Begin,
    Finish,
}

#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(i128),
    Text(String),
}

struct Keys<'a> {
    trace: &'a Trace,
    reader: &'a dyn Events,
    open: FxHashMap<Key, Hit>,
    losses: Losses,
}

/// When events were lost, as spans in ns between the recorded events around each loss.
struct Losses {
    /// By CPU, sorted by start.
    of_cpu: Vec<Vec<TimeSpan>>,
    /// Losses that name no CPU, with their files.
    loose: Vec<(Option<SourceId>, TimeSpan)>,
}

impl Losses {
    fn new(trace: &Trace) -> Losses {
        let all = (0..).map(GapId).zip(&trace.gaps);
        let loose = all.filter(|(_, gap)| gap.cpu.is_none());
        Losses {
            of_cpu: trace.gaps_by_cpu(),
            loose: loose
                .map(|(id, gap)| (trace.gap_source(id), gap.span()))
                .collect(),
        }
    }

    /// Returns the time from which events of the CPU of either event were lost between both; at least that of the first
    /// event. `None` if none were lost.
    fn first_between(&self, trace: &Trace, first: &Hit, second: &Hit) -> Option<Timestamp> {
        let (from, until) = (first.time, second.time);
        let meets = |span: &TimeSpan| span.end > from && span.start < until;
        let on_cpu_of = |hit: &Hit| {
            let Item::Event(id) = hit.item else {
                return None;
            };
            let cpu = trace.events.get(id).cpu?;
            let spans = self.of_cpu.get(cpu as usize)?;
            let next = spans.partition_point(|span| span.end <= from);
            spans.get(next).filter(|span| meets(span))
        };
        let file = |hit: &Hit| match hit.item {
            Item::Event(id) => trace.source_of(id.0, |source| &source.events),
            _ => None,
        };
        let files = [file(first), file(second)];
        let loose = self.loose.iter();
        let loose = loose.filter(|(of, span)| files.contains(of) && meets(span));
        let loose = loose.map(|(_, span)| span);
        let all = [first, second]
            .into_iter()
            .filter_map(on_cpu_of)
            .chain(loose);
        all.map(|span| span.start.max(from)).min()
    }
}

impl Keys<'_> {
    fn take(&mut self, hit: Hit, end: End, key: &PairKey, pairs: &mut EventPairs) {
        let Some(key) = self.key_of(hit, end, key) else {
            pairs.keyless += 1;
            return;
        };
        if end == End::Begin {
            pairs.unmatched_from += u64::from(self.open.insert(key, hit).is_some());
            return;
        }
        match self.open.remove(&key) {
            Some(begin) => match self.losses.first_between(self.trace, &begin, &hit) {
                Some(lost) => {
                    pairs.unmatched_from += 1;
                    pairs.over_losses += 1;
                    pairs.unfinished += 1;
                    pairs.unfinished_ns += i128::from((lost - begin.time).0);
                }
                None => pairs.samples.push(Sample {
                    start: begin.time,
                    length_ns: (hit.time - begin.time).0,
                    from: begin.item,
                    to: hit.item,
                }),
            },
            None => pairs.unmatched_to += 1,
        }
    }

    fn key_of(&self, hit: Hit, end: End, key: &PairKey) -> Option<Key> {
        let Item::Event(id) = hit.item else {
            return None;
        };
        match key {
            PairKey::Any => Some(Key::Number(0)),
            PairKey::Thread => {
                let thread = self.trace.events.thread(id);
                Some(Key::Number(thread.map_or(-1, |thread| thread.0.into())))
            }
            PairKey::Cpu => self
                .trace
                .events
                .get(id)
                .cpu
                .map(|cpu| Key::Number(cpu.into())),
            PairKey::Fields(from, to) => self.field(id, if end == End::Begin { from } else { to }),
        }
    }

    fn field(&self, id: EventId, name: &str) -> Option<Key> {
        let event = event_ref(self.trace, id);
        Some(match self.reader.value(event, name)? {
            Value::Null => return None,
            Value::Bool(value) => Key::Number(value.into()),
            Value::Int(value) => Key::Number(value.into()),
            Value::UInt(value) | Value::Pointer(value) | Value::Koid(value) => {
                Key::Number(value.into())
            }
            other => Key::Text(other.to_string()),
        })
    }
}
