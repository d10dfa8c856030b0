//! Detects etrace files: their first lines are events, with or without ftrace's context before them.

use crate::formats::Sniff;
use crate::formats::etrace_lines::head::is_named;
use crate::formats::etrace_lines::{parse_line, parse_lost};
use crate::formats::ftrace_line::line::is_event_line;

/// Maximum number of lines that are read.
const MOST_LINES: usize = 1000;

/// Detects etrace in a file's head: certain if most of its first lines are events.
#[must_use]
pub(super) fn sniff(head: &[u8]) -> Sniff {
    let is_named = is_named(head);
    let (mut events, mut mixed, mut others) = (0, 0, 0);
    let lines = head.split(|&byte| byte == b'\n');
    for (index, line) in lines.take(MOST_LINES).enumerate() {
        if line.is_empty() || (index == 0 && is_named) || line.starts_with(b"#") {
            continue;
        }
        if parse_line(line).is_some() || parse_lost(line).is_some() {
            events += 1;
        } else if is_event_line(line) {
            mixed += 1;
        } else {
            others += 1;
        }
    }
    if mixed > 0 && !is_named {
        // The text is from ftrace, whose reader also reads the etrace lines.
        return Sniff::No;
    }
    match (events, others) {
        // The head may cut its last line.
        _ if is_named && (events > 0 || others <= 1) => Sniff::Yes,
        (1.., _) if events >= others => Sniff::Yes,
        (1.., _) => Sniff::Maybe,
        _ => Sniff::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_with_and_without_a_first_line() {
        for head in [
            "INITCWD=/proj\n",
            "INITCWD=/proj",
            "INITCWD=/proj\n0: 4194445,1,9,562506225!SysClone|flags=18874385\n0: 41",
            "0: 4195039,1,87,428382560!SysClone|flags=18874385\n",
            "9183,2,38,90983795!Exit|status=0\n",
            "  sh-938     [002] ...1.   105.251041: 0: 1,2,105,286274460!SchedFork|pid=2\n",
        ] {
            assert_eq!(sniff(head.as_bytes()), Sniff::Yes, "{head}");
        }
        for head in [
            "",
            "# tracer: nop\n",
            "<idle>-0 [000] 1.0: sched_switch: x\n",
            "{\"a\":1}",
            "  sh-9 [002] ...1. 105.251041: 0: 1,2,105,286274460!SchedFork|pid=2\n  sh-9 [002] d..1. 105.252000: sched_waking: comm=a pid=7 prio=120 target_cpu=002\n",
        ] {
            assert_eq!(sniff(head.as_bytes()), Sniff::No, "{head}");
        }
    }
}
