//! Parses steps of the function graph as `trace-cmd report` prints them without its plugins (`-N`) or raw (`-R`), and
//! as the kernel prints them with the option `fields`.
//!
//! ```text
//! --> mutex_lock (2)                                                         -N
//! <-- mutex_lock (2) (start: 9efb5d634  end: 9efb5e4c2) over: 2
//! func=mutex_lock depth=2                                                    -R
//! func=mutex_lock depth=2 overrun=0 calltime=9efb5d634 rettime=9efb5e4c2
//! ```
//!
//! Times are in ns, in hex.
//!
//! Of the 267 texts of the corpus, 3 contain these fields: reports made with `-R`.

use super::fields::{field, first_word, number};
use super::graph::{Graph, Step};
use crate::formats::ftrace_line::short::find_short;

/// Parses the text of an event called `name`.
#[must_use]
pub(crate) fn raw_step<'a>(name: &[u8], info: &'a [u8]) -> Option<Graph<'a>> {
    let is_return = name == b"funcgraph_exit";
    if let Some(rest) = info.strip_prefix(b"--> ") {
        let call = named(rest)?;
        return Some(Graph {
            depth: call.depth,
            step: Step::Enter(call.function),
        });
    }
    if let Some(rest) = info.strip_prefix(b"<-- ") {
        let NamedCall {
            function,
            depth,
            rest,
        } = named(rest)?;
        let span = || {
            let start = rest.get(find_short(rest, b"(start: ")? + 8..)?;
            let end = rest.get(find_short(rest, b"end: ")? + 5..)?;
            duration(start, end)
        };
        return Some(Graph {
            depth,
            step: Step::Leave(span(), function),
        });
    }
    let function = first_word(field(info, b"func")?);
    let depth = u32::try_from(number(field(info, b"depth")?)?).ok()?;
    let step = match is_return {
        true => {
            let span = || duration(field(info, b"calltime")?, field(info, b"rettime")?);
            Step::Leave(span(), function)
        }
        false => Step::Enter(function),
    };
    Some(Graph { depth, step })
}

/// Returns the time of a return in ns, by the kernel's local clock, if the text contains it.
#[must_use]
pub(crate) fn raw_ended(info: &[u8]) -> Option<i64> {
    let end = match info.strip_prefix(b"<-- ") {
        Some(rest) => rest.get(find_short(rest, b"end: ")? + 5..)?,
        None => field(info, b"rettime")?,
    };
    i64::try_from(hex(end)?).ok()
}

/// A call and the text after it.
struct NamedCall<'a> {
    function: &'a [u8],
    depth: u32,
    rest: &'a [u8],
}

/// Parses `mutex_lock (2) rest`.
fn named(text: &[u8]) -> Option<NamedCall<'_>> {
    let open = find_short(text, b" (")?;
    let inner = text.get(open + 2..)?;
    let depth = u32::try_from(number(inner)?).ok()?;
    let close = memchr::memchr(b')', inner)?;
    Some(NamedCall {
        function: text.get(..open)?,
        depth,
        rest: inner.get(close + 1..)?,
    })
}

fn duration(start: &[u8], end: &[u8]) -> Option<i64> {
    let ns = hex(end)?.checked_sub(hex(start)?)?;
    i64::try_from(ns).ok()
}

fn hex(text: &[u8]) -> Option<u64> {
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let length = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    u64::from_str_radix(std::str::from_utf8(text.get(..length)?).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_say_when_they_were() {
        for (info, ended) in [
            ("<-- f (2) (start: 9e  end: 9f) over: 2", Some(0x9f)),
            (
                "func=f depth=2 overrun=0 calltime=9e rettime=9f",
                Some(0x9f),
            ),
            ("func=f depth=2", None),
            ("<-- f (2)", None),
        ] {
            assert_eq!(raw_ended(info.as_bytes()), ended, "{info}");
        }
    }

    #[test]
    fn steps_without_plugins_raw_and_as_fields() {
        let enter = Step::Enter(b"mutex_lock");
        let leave = Step::Leave(Some(0xe8e), b"mutex_lock");
        for (name, info, step) in [
            ("funcgraph_entry", "--> mutex_lock (2)", enter),
            ("funcgraph_entry", "func=mutex_lock depth=2", enter),
            (
                "funcgraph_entry",
                "func=mutex_lock (1234) depth=0x2 (2)",
                enter,
            ),
            (
                "funcgraph_exit",
                "<-- mutex_lock (2) (start: 9efb5d634  end: 9efb5e4c2) over: 2",
                leave,
            ),
            (
                "funcgraph_exit",
                "func=mutex_lock depth=2 overrun=0 calltime=9efb5d634 rettime=9efb5e4c2",
                leave,
            ),
            (
                "funcgraph_exit",
                "func=mutex_lock depth=2 retval=0x0 overrun=0",
                Step::Leave(None, b"mutex_lock"),
            ),
        ] {
            let found = raw_step(name.as_bytes(), info.as_bytes());
            assert_eq!(found, Some(Graph { depth: 2, step }), "{info}");
        }
        for info in ["", "--> f", "--> f (x)", "func=f", "depth=1", "<-- f (1"] {
            assert_eq!(raw_step(b"funcgraph_exit", info.as_bytes()), None, "{info}");
        }
    }
}
