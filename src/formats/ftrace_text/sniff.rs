//! Detects text of ftrace, of trace-cmd or of the function graph tracer.

use std::ops::Range;

use super::graph;
use super::recipe::system_of;
use super::refused::refused;
use crate::base::Leading;
use crate::base::leading::digits;
use crate::base::lines::lines;
use crate::formats::Sniff;
use crate::formats::ftrace_line::flags::{Flags, is_flags};
use crate::formats::ftrace_line::line::{Body, Plain, classify, plain};
use crate::formats::ftrace_line::prefix::split_prefix;
use crate::formats::ftrace_line::short::find_short;

const MOST_LINE_BYTES: usize = 1 << 12;
/// This number of consecutive events is a trace, whatever the other lines are.
const ENOUGH_IN_A_ROW: usize = 3;
/// A single event is enough if there are at most this many other lines.
const FEW_OTHERS: usize = 64;
/// Maximum length of text before a trace (kernel messages, shell output), in bytes.
const MOST_NOISE: usize = 4 << 20;
/// Number of bytes of a text in which its properties are detected.
const HEAD: usize = 1 << 16;

/// Returns the certainty that a file with this head is ftrace text.
#[must_use]
pub(super) fn sniff(head: &[u8]) -> Sniff {
    // Accepted, so that opening the file reports what it is.
    if refused(head).is_some() {
        return Sniff::Yes;
    }
    let mut hits = 0;
    let mut others = 0;
    let mut has_header = false;
    let mut in_a_row = 0;
    let mut most_in_a_row = 0;
    let mut is_sure = false;
    let whole = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
    for line in lines(head.get(..whole).unwrap_or(head), 1, 0) {
        let bytes = line.bytes.get(..MOST_LINE_BYTES).unwrap_or(line.bytes);
        has_header |= bytes.starts_with(b"# tracer: ");
        if is_etrace(bytes) {
            others += 2;
        } else if is_json(bytes) {
            others += 1;
            in_a_row = 0;
        } else if split_prefix(bytes).is_some() || is_graph_line(bytes) {
            hits += 1;
            in_a_row += 1;
            most_in_a_row = most_in_a_row.max(in_a_row);
            is_sure = is_sure || is_surely_event(bytes);
        } else {
            match plain(bytes) {
                Plain::Silent | Plain::Frame | Plain::Lost(..) | Plain::Started(_) => {}
                Plain::Text => {
                    others += 1;
                    in_a_row = 0;
                }
            }
        }
    }
    // With the option printk-msg-only, most lines may have no columns.
    if has_header && hits > 0 {
        return Sniff::Yes;
    }
    let is_maybe = has_header
        || (hits >= 2 && hits * 8 >= others)
        || most_in_a_row >= ENOUGH_IN_A_ROW
        || (is_sure && others <= FEW_OTHERS);
    if hits > 0 && hits >= others {
        Sniff::Yes
    } else if is_maybe {
        Sniff::Maybe
    } else {
        Sniff::No
    }
}

/// Returns whether a line starts like JSON, which may contain whole texts of ftrace in quotes.
fn is_json(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"{\"") || line.starts_with(b"[{")
}

/// Returns whether a line is certainly an event: it has flags that the kernel prints, or a known event name.
fn is_surely_event(line: &[u8]) -> bool {
    let Some(prefix) = split_prefix(line) else {
        return false;
    };
    let has_flags = matches!(prefix.flags, Flags::Letters(letters) if is_flags(letters));
    let has_name = || match classify(prefix.body) {
        Body::Event(name, _) => {
            std::str::from_utf8(name).is_ok_and(|name| !system_of(name).is_empty())
        }
        Body::SysEnter(..) | Body::SysExit(..) => true,
        _ => false,
    };
    has_flags || has_name()
}

/// Returns the range of a text in which its properties are detected: from the start of the text or, if something else
/// precedes the trace, from a little before the trace's first line.
#[must_use]
pub(crate) fn head_of(text: &[u8]) -> Range<usize> {
    let near = text.get(..MOST_NOISE).unwrap_or(text);
    let is_ours = |line: &[u8]| {
        let line = line.get(..MOST_LINE_BYTES).unwrap_or(line);
        line.starts_with(b"# tracer: ") || split_prefix(line).is_some() || is_graph_line(line)
    };
    let first = lines(near, 1, 0)
        .find(|line| is_ours(line.bytes))
        .map_or(0, |line| line.offset as usize);
    let start = match first.checked_sub(HEAD / 4) {
        Some(before) if first > HEAD / 2 => {
            let rest = near.get(before..first).unwrap_or(&[]);
            memchr::memchr(b'\n', rest).map_or(first, |end| before + end + 1)
        }
        _ => 0,
    };
    start..text.len().min(start + HEAD)
}

/// Returns how many events were overwritten before they were read, from the kernel's header: `#
/// entries-in-buffer/entries-written: 53/116   #P:4` or, for latency tracers, `# latency: 6 us, #53/116, CPU#0 |`.
#[must_use]
pub(crate) fn overwritten(head: &[u8]) -> u64 {
    let of_line = |line: &[u8]| {
        let text = line.strip_prefix(b"# ")?;
        let pair = match text.strip_prefix(b"entries-in-buffer/entries-written: ") {
            Some(pair) => pair,
            None => {
                let rest = text.strip_prefix(b"latency: ")?;
                rest.get(find_short(rest, b", #")? + 3..)?
            }
        };
        let Leading {
            value: left,
            length,
        } = digits(pair)?;
        let Leading { value: written, .. } = digits(pair.get(length..)?.strip_prefix(b"/")?)?;
        written.checked_sub(left)
    };
    let found = lines(head, 1, 0).filter_map(|line| of_line(line.bytes));
    found.fold(0, u64::saturating_add)
}

/// Returns whether the text is from the kernel's function_graph tracer.
#[must_use]
pub(crate) fn is_graph(head: &[u8]) -> bool {
    let mut hits = 0;
    for line in lines(head, 1, 0) {
        // Latency tracers can also print graphs.
        if line.bytes.starts_with(b"# tracer: function_graph") {
            return true;
        }
        if split_prefix(line.bytes).is_some() {
            return false;
        }
        hits += usize::from(is_graph_line(line.bytes));
    }
    hits > 0
}

fn is_graph_line(bytes: &[u8]) -> bool {
    graph::split_line(bytes).is_some_and(|found| graph::step(found.rest).is_some())
}

/// Returns whether the text is `0: upid,cpu,sec,nsec!Tag|...`: lines of etrace.
fn is_etrace(bytes: &[u8]) -> bool {
    let Some(Leading { length, .. }) = digits(bytes) else {
        return false;
    };
    let rest = bytes.get(length..).unwrap_or(&[]);
    rest.starts_with(b": ")
        && memchr::memchr(b'!', rest).is_some_and(|bang| {
            let numbers = rest.get(2..bang).unwrap_or(&[]);
            numbers
                .iter()
                .all(|b| b.is_ascii_digit() || matches!(b, b',' | b' '))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ftrace_text_of_all_writers_and_nothing_else() {
        for text in [
            &b"# tracer: nop\n#\n            bash-96      [001] .....    69.626109: sys_read(fd: 3)\n"[..],
            b"cpus=2\n          <idle>-0     [001]    64.608890070: sched_switch:         a:1 [2] R ==> b:2 [3]\n",
            b"           <...>-200     [000] .....    11.242176: x: y\nCPU:1 [LOST 4 EVENTS]\n",
            b"# tracer: function_graph\n#\n# CPU  DURATION                  FUNCTION CALLS\n 0)   0.541 us    |  f();\n",
            b" 0)   0.541 us    |  f();\n 0)               |  g() {\n",
            b"  <idle>-0         1dn.h5..  133us : 0\n",
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(sniff(text), Sniff::Yes, "{shown}");
        }
        for text in [
            &b""[..],
            b"int main(void)\n{\n  int a[3];\n  return a-1 [0];\n}\n",
            b"It was a dark and stormy night.\n1) One | two.\n",
            b"0: 12,3,4,5!Proc_Create|1\n0: 12,3,4,6!Proc_Exit|\n",
            b"15634 1795231677.383917 brk(NULL)       = 0x56002162a000 <0.000007>\n",
            b"Tracing ls (pid 12685)\nminix_kerninfo() = 0\n",
            b"[    0.000000] Linux version 6.18\n[    0.100000] a-1 [000] b\n$ cat trace\n",
            b"# A readme\n\nSome text with - dashes [1] and: colons.\n",
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(sniff(text), Sniff::No, "{shown}");
        }
    }

    #[test]
    fn headers_say_what_was_overwritten() {
        for (head, count) in [
            (
                &b"# tracer: nop\n#\n# entries-in-buffer/entries-written: 53/116   #P:4\n"[..],
                63,
            ),
            (b"# entries-in-buffer/entries-written: 53/53   #P:4\n", 0),
            (
                b"# latency: 6 us, #53/60, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n",
                7,
            ),
            (
                b"# entries-in-buffer/entries-written: 9/x\n# latency: 6\n",
                0,
            ),
        ] {
            assert_eq!(overwritten(head), count, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn noise_around_a_trace_does_not_hide_it() {
        let noise: String = (0..400)
            .map(|i| format!("[  {i:>3}.000000] usb 1-1: new device number {i}\n"))
            .collect();
        let event = "            bash-96      [001] d..1.    69.626109: my_event: x=3\n";
        for text in [
            format!("{noise}{event}{event}{event}"),
            format!("{noise}# tracer: nop\n#\n{event}{noise}"),
            format!("$ cat trace\n{event}\nNAME  CALLS  ERRORS\na     1      2\nb     3      4\n"),
            format!(
                "{noise} 0)   0.541 us    |  f();\n 0)               |  g() {{\n 0)   1.0 us    |  }}\n"
            ),
        ] {
            assert_ne!(
                sniff(text.as_bytes()),
                Sniff::No,
                "{}",
                &text[text.len() - 200..]
            );
        }
        let noise = noise.repeat(30);
        let text = format!("{noise}# tracer: nop\n{event}");
        let head = head_of(text.as_bytes());
        assert!(head.start > 400_000 && head.start < noise.len() && head.end == text.len());
        assert!(text[head].starts_with('['));
        assert_eq!(head_of(event.as_bytes()), 0..event.len());
        assert_eq!(head_of(b""), 0..0);
    }
}
