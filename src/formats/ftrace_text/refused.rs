//! Text files of tracefs that are not traces: reports what they are, so that users do not take them for damaged traces.
//!
//! ```text
//! # event histogram                                                    events/*/*/hist
//! VERSION 20070824 then PCIDEV, MAP, R, W lines                        tracer mmiotrace
//!   Function            Hit    Time      Avg    s^2                    trace_stat/function0
//!         Depth    Size   Location    (18 entries)                     stack_trace
//! ```
//!
//! None of the files of the corpus and the samples is one.

use crate::base::lines::lines;

/// A recognised file that is not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Message for the user.
    pub words: &'static str,
}

/// Recognises a file that contains no events with times; `None` for any other file.
#[must_use]
pub(crate) fn refused(head: &[u8]) -> Option<Refused> {
    const LINES: usize = 8;
    for line in lines(head, 1, 0).take(LINES) {
        let text = line.bytes.trim_ascii();
        let words = |text: &[u8], wanted: &[&[u8]]| {
            let words = text
                .split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty());
            words
                .take(wanted.len())
                .zip(wanted)
                .filter(|(a, b)| a == *b)
                .count()
                == wanted.len()
        };
        let found = if text == b"# event histogram" {
            "this is an event histogram (a hist file of tracefs): it has sums and no times to draw; record \
             the event itself"
        } else if text.starts_with(b"VERSION 20070824") {
            "this is a log of the tracer mmiotrace (accesses of a driver to its device), which Threadline does \
             not read"
        } else if words(text, &[b"Function", b"Hit", b"Time", b"Avg"])
            || words(text, &[b"Function", b"Hit"])
        {
            "this is a profile of functions (trace_stat of tracefs): it has sums and no times to draw; record \
             with the tracer function_graph"
        } else if words(text, &[b"Depth", b"Size", b"Location"]) {
            "this is the deepest stack that the kernel has seen (stack_trace of tracefs): it has no times to draw"
        } else {
            continue;
        };
        return Some(Refused { words: found });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_events_are_told_what_they_are() {
        for (text, word) in [
            (
                &b"# event histogram\n#\n# trigger info: hist:keys=pid\n"[..],
                "histogram",
            ),
            (b"VERSION 20070824\nPCIDEV 0000 80862580 0\n", "mmiotrace"),
            (
                b"  Function         Hit    Time   Avg   s^2\n  --------  ---\n",
                "profile",
            ),
            (
                b"        Depth    Size   Location    (18 entries)\n",
                "stack",
            ),
        ] {
            let found = refused(text).unwrap();
            assert!(found.words.contains(word), "{}", found.words);
        }
        for text in [
            &b"# tracer: nop\n#\n"[..],
            b"Function calls\n",
            b" 0)   0.541 us    |  f();\n",
            b"",
        ] {
            assert_eq!(refused(text), None);
        }
    }
}
