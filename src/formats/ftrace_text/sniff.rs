//! Whether text is ftrace's, trace-cmd's or that of the function graph tracer.

use super::graph;
use super::line::{Plain, plain};
use super::prefix::{digits, split_prefix};
use crate::base::lines::lines;
use crate::formats::Sniff;

const MOST_LINES: usize = 300;
const MOST_LINE_BYTES: usize = 1 << 12;

/// Whether the head of a file is ftrace text.
#[must_use]
pub fn sniff(head: &[u8]) -> Sniff {
    let mut hits = 0;
    let mut others = 0;
    let mut has_header = false;
    let whole = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
    for line in lines(head.get(..whole).unwrap_or(head), 1, 0).take(MOST_LINES) {
        let bytes = line.bytes.get(..MOST_LINE_BYTES).unwrap_or(line.bytes);
        has_header |= bytes.starts_with(b"# tracer: ");
        if is_etrace(bytes) {
            others += 2;
        } else if split_prefix(bytes).is_some() || is_graph_line(bytes) {
            hits += 1;
        } else {
            match plain(bytes) {
                Plain::Silent | Plain::Frame | Plain::Lost(..) => {}
                Plain::Text => others += 1,
            }
        }
    }
    // With the option printk-msg-only most lines may lack columns.
    if has_header && hits > 0 {
        return Sniff::Yes;
    }
    if hits > 0 && hits >= others {
        Sniff::Yes
    } else if has_header || (hits >= 2 && hits * 8 >= others) {
        Sniff::Maybe
    } else {
        Sniff::No
    }
}

/// Whether the text is of the kernel's function_graph tracer.
#[must_use]
pub fn is_graph(head: &[u8]) -> bool {
    let mut hits = 0;
    for line in lines(head, 1, 0).take(MOST_LINES) {
        // Latency tracers can show graphs, too.
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

/// `0: upid,cpu,sec,nsec!Tag|...`: another format's lines.
fn is_etrace(bytes: &[u8]) -> bool {
    let Some((_, length)) = digits(bytes) else {
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
            b"# A readme\n\nSome text with - dashes [1] and: colons.\n",
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(sniff(text), Sniff::No, "{shown}");
        }
    }
}
