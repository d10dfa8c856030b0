//! Parses lines of tracers that print no event name: raw data of programs, hwlat, timerlat, osnoise, blk.
//!
//! ```text
//! # 12 buf: 68 65 6c                                                      raw_data
//! #1     inner/outer(us):   12/14    ts:1463.123456789 count:1            hwlat
//! #1     context    irq timer_latency       932 ns                        timerlat
//! 1000000  190  99.98100  9  18  0  1007  18  1                           osnoise
//!   8,0    D   W 12345 + 8 [dd]                                           blk
//! ```
//!
//! The forms are those of the kernel's `trace_output.c` and `blktrace.c`.
//!
//! Of the 267 texts of the corpus, 3 are from osnoise, 1 contains raw data, and 1 is from blk; none is from hwlat or
//! timerlat.

use crate::base::Leading;
use crate::base::leading::digits;
use crate::event::kernel::RequestOp;
use crate::formats::ftrace_line::short::find_short;

/// A line that was recognised by its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TracerEvent<'a> {
    /// Name of such events in binary traces.
    pub event: &'static str,
    /// Name of this line's kind; equal to the event's name except for blk.
    pub name: &'static str,
    /// Its fields.
    pub fields: Vec<TracerField<'a>>,
    /// For blk: the request that begins or ends.
    pub request: Option<Request<'a>>,
}

/// A field of a tracer's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TracerField<'a> {
    /// The name that it has in binary traces.
    pub name: &'static str,
    pub text: &'a [u8],
}

fn field<'a>(name: &'static str, text: &'a [u8]) -> TracerField<'a> {
    TracerField { name, text }
}

/// A block-layer request that is issued or completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// Device: `8,0`.
    pub device: &'a [u8],
    /// Operation: `WS`.
    pub kind: &'a [u8],
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub count: u64,
    /// What happens to the request.
    pub op: RequestOp,
}

/// The meanings of blk's letters.
const ACTIONS: [(&[u8], &str); 15] = [
    (b"Q", "blk queue"),
    (b"G", "blk get request"),
    (b"S", "blk sleep"),
    (b"R", "blk requeue"),
    (b"D", "blk issue"),
    (b"C", "blk complete"),
    (b"P", "blk plug"),
    (b"U", "blk unplug"),
    (b"UT", "blk unplug by timer"),
    (b"I", "blk insert"),
    (b"X", "blk split"),
    (b"B", "blk bounce"),
    (b"A", "blk remap"),
    (b"M", "blk merge behind"),
    (b"F", "blk merge before"),
];

/// Parses a body without an event name.
#[must_use]
pub(crate) fn tracer_event(body: &[u8]) -> Option<TracerEvent<'_>> {
    let text = body.trim_ascii();
    match text.first()? {
        b'#' => numbered(text),
        b'0'..=b'9' => blk(text).or_else(|| osnoise(text)),
        _ => None,
    }
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

fn is_number(word: &[u8]) -> bool {
    digits(word).is_some_and(|it| it.length == word.len())
}

fn plain<'a>(event: &'static str, fields: Vec<TracerField<'a>>) -> TracerEvent<'a> {
    TracerEvent {
        event,
        name: event,
        fields,
        request: None,
    }
}

fn numbered(text: &[u8]) -> Option<TracerEvent<'_>> {
    let rest = text.get(1..)?;
    if let Some(rest) = rest.strip_prefix(b" ") {
        let at = find_short(rest, b" buf:")?;
        let (id, bytes) = (rest.get(..at)?, rest.get(at + 5..)?.trim_ascii());
        let is_id = !id.is_empty() && id.iter().all(u8::is_ascii_hexdigit);
        return is_id.then(|| plain("raw_data", vec![field("id", id), field("buf", bytes)]));
    }
    let mut words = words(rest);
    let number = words.next().filter(|word| is_number(word))?;
    match words.next()? {
        b"inner/outer(us):" => {
            // There may be spaces after the slash of `12/14`.
            let mut pair = words.next()?.splitn(2, |byte| *byte == b'/');
            let inner = pair.next()?;
            let outer = match pair.next()? {
                b"" => words.next()?,
                outer => outer,
            };
            let mut fields = vec![
                field("seqnum", number),
                field("duration", inner),
                field("outer_duration", outer),
            ];
            let named: [(&[u8], &'static str); 3] = [
                (b"ts:", "timestamp"),
                (b"count:", "count"),
                (b"nmi-count:", "nmi_count"),
            ];
            for word in words {
                for (start, name) in named {
                    fields.extend(word.strip_prefix(start).map(|value| field(name, value)));
                }
            }
            Some(plain("hwlat", fields))
        }
        b"context" => {
            let context = words.next()?;
            let latency = (words.next()? == b"timer_latency").then(|| words.next())??;
            let fields = vec![
                field("seqnum", number),
                field("context", context),
                field("timer_latency", latency),
            ];
            is_number(latency).then(|| plain("timerlat", fields))
        }
        _ => None,
    }
}

/// Parses runtime, noise, available percentage of CPU, longest single noise, then the number of each kind of noise.
fn osnoise(text: &[u8]) -> Option<TracerEvent<'_>> {
    const NAMES: [&str; 9] = [
        "runtime",
        "noise",
        "available",
        "max_sample",
        "hw_count",
        "nmi_count",
        "irq_count",
        "softirq_count",
        "thread_count",
    ];
    let mut fields = Vec::new();
    for word in words(text) {
        let name = *NAMES.get(fields.len())?;
        let is_percent = || {
            let Leading { length, .. } = digits(word)?;
            Some(is_number(word.get(length..)?.strip_prefix(b".")?))
        };
        let is_fine = match name {
            "available" => is_percent() == Some(true),
            _ => is_number(word),
        };
        if !is_fine {
            return None;
        }
        fields.push(field(name, word));
    }
    (fields.len() == NAMES.len()).then(|| plain("osnoise", fields))
}

fn blk(text: &[u8]) -> Option<TracerEvent<'_>> {
    let mut rest = words(text);
    let device = rest.next()?;
    let comma = memchr::memchr(b',', device)?;
    if !is_number(device.get(..comma)?) || !is_number(device.get(comma + 1..)?) {
        return None;
    }
    let letters = rest.next()?;
    let (_, name) = ACTIONS.iter().find(|(action, _)| *action == letters)?;
    let kind = rest.next()?;
    let mut fields = vec![
        field("dev", device),
        field("action", letters),
        field("rwbs", kind),
    ];
    let mut request = None;
    let mut word = rest.next();
    if let Some(sector) = word.filter(|word| is_number(word)) {
        fields.push(field("sector", sector));
        word = rest.next();
        if word == Some(b"+") {
            let count = rest.next();
            fields.extend(count.map(|count| field("nr_sector", count)));
            word = rest.next();
            let op = match letters {
                b"Q" => Some(RequestOp::Queue),
                b"I" => Some(RequestOp::Insert),
                b"D" => Some(RequestOp::Issue),
                b"R" => Some(RequestOp::Requeue),
                b"C" => Some(RequestOp::Complete),
                _ => None,
            };
            request = op.map(|op| Request {
                device,
                kind,
                sector: digits(sector).map_or(0, |it| it.value),
                count: count.and_then(digits).map_or(0, |it| it.value),
                op,
            });
        }
    }
    let who = word.and_then(|word| word.strip_prefix(b"["));
    fields.extend(who.map(|who| {
        let who = who.strip_suffix(b"]").unwrap_or(who);
        let name = if letters == b"C" { "error" } else { "comm" };
        field(name, who)
    }));
    Some(TracerEvent {
        event: "blktrace",
        name,
        fields,
        request,
    })
}

/// Parses the text of an event with this name, if it has one of these forms: in binary traces, such events have names.
#[must_use]
pub(crate) fn tracer_event_named<'a>(name: &[u8], info: &'a [u8]) -> Option<TracerEvent<'a>> {
    let is_known = matches!(
        name,
        b"raw_data" | b"hwlat" | b"timerlat" | b"osnoise" | b"blktrace"
    );
    if !is_known {
        return None;
    }
    tracer_event(info).filter(|line| line.event.as_bytes() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> String {
        tracer_event(body.as_bytes()).map_or_else(String::new, |line| {
            let fields = line.fields.iter();
            let fields =
                fields.map(|it| format!(" {}={}", it.name, String::from_utf8_lossy(it.text)));
            format!("{}{}", line.name, fields.collect::<String>())
        })
    }

    #[test]
    fn forms_of_tracers_without_names() {
        for (body, wanted) in [
            ("# 1f buf: 68 65", "raw_data id=1f buf=68 65"),
            (
                "#1     inner/outer(us):   12/14    ts:1463.5 count:2 nmi-total:0 nmi-count:0",
                "hwlat seqnum=1 duration=12 outer_duration=14 timestamp=1463.5 count=2 nmi_count=0",
            ),
            (
                "#3 inner/outer(us): 12/   14 ts:1.5",
                "hwlat seqnum=3 duration=12 outer_duration=14 timestamp=1.5",
            ),
            (
                "#1     context    irq timer_latency       932 ns",
                "timerlat seqnum=1 context=irq timer_latency=932",
            ),
            (
                "1000000        190  99.98100       9     18      0   1007     18      1",
                "osnoise runtime=1000000 noise=190 available=99.98100 max_sample=9 hw_count=18 nmi_count=0 irq_count=1007 softirq_count=18 thread_count=1",
            ),
            (
                "  8,0    D  WS 12345 + 8 [dd]",
                "blk issue dev=8,0 action=D rwbs=WS sector=12345 nr_sector=8 comm=dd",
            ),
            (
                "  7,0    P   N [dd]",
                "blk plug dev=7,0 action=P rwbs=N comm=dd",
            ),
            (
                "  7,0    C   W 24 + 8 [0]",
                "blk complete dev=7,0 action=C rwbs=W sector=24 nr_sector=8 error=0",
            ),
            ("# hello", ""),
            ("#1 hello world", ""),
            ("1 2 3", ""),
            ("8,0 hello there", ""),
            ("0", ""),
        ] {
            assert_eq!(shown(body), wanted, "{body}");
        }
        let request = tracer_event(b"8,0 C W 24 + 8 [0]")
            .unwrap()
            .request
            .unwrap();
        assert_eq!(request.op, RequestOp::Complete);
        assert_eq!((request.sector, request.count), (24, 8));
        assert_eq!(tracer_event(b"8,0 M W 24 + 8 [0]").unwrap().request, None);
    }
}
