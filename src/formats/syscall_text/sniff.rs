//! Detects text of strace or of MINIX's trace(1).

use super::dialect::Dialect;
use super::line::{Body, banner, call_name, classify};
use super::prefix::{TextLine, split_prefix};
use super::values::split_call;
use crate::base::lines::{Line, lines};
use crate::formats::Sniff;

/// Maximum number of lines that are read.
const MOST_LINES: usize = 200;
/// Maximum length up to which a line is read, in bytes.
const MOST_LINE_BYTES: usize = 1 << 14;

/// Returns the certainty that a file with this head is from strace.
#[must_use]
pub(crate) fn sniff_strace(head: &[u8]) -> Sniff {
    if is_only_summary(head) {
        return Sniff::Yes;
    }
    if minix_marks(head) {
        return Sniff::No;
    }
    let LineCounts { hits, others } = count(head, Dialect::Strace);
    judge(hits, others)
}

/// Returns the certainty that a file with this head is from MINIX's trace(1).
#[must_use]
pub(crate) fn sniff_minix(head: &[u8]) -> Sniff {
    if !minix_marks(head) {
        return Sniff::No;
    }
    let LineCounts { hits, others } = count(head, Dialect::Minix);
    judge(hits, others)
}

/// Returns whether the text is only the table of `strace -c`, possibly after output of the traced program.
#[must_use]
pub(crate) fn is_only_summary(head: &[u8]) -> bool {
    for line in lines(head, 1, 0).take(MOST_LINES) {
        if is_no_row(line.bytes.trim_ascii()) {
            continue;
        }
        let at = usize::try_from(line.offset).unwrap_or(usize::MAX);
        if head.get(at..).is_some_and(is_summary) {
            return true;
        }
        let text = split_prefix(&start_of(&line), Dialect::Strace);
        if !matches!(
            classify(&text, Dialect::Strace),
            Body::Text | Body::Empty | Body::Note | Body::Attached(_)
        ) {
            return false;
        }
    }
    false
}

/// Returns whether a line is between the rows of a table: blank, or the title of one process's table (`-C -f`).
fn is_no_row(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"System call usage summary")
}

/// Returns whether the text starts with the table of `strace -c`, with any choice of columns (`-U`).
#[must_use]
pub(crate) fn is_summary(head: &[u8]) -> bool {
    let mut rows = lines(head, 1, 0)
        .take(MOST_LINES)
        .map(|line| line.bytes.trim_ascii())
        .filter(|row| !is_no_row(row));
    let words = |row: &'_ [u8], wanted: &[u8]| {
        row.split(u8::is_ascii_whitespace)
            .any(|word| word == wanted)
    };
    let Some(header) = rows.next() else {
        return false;
    };
    let is_ruled = rows
        .next()
        .is_some_and(|row| row.starts_with(b"---") && row.iter().all(|b| matches!(b, b'-' | b' ')));
    is_ruled && (words(header, b"syscall") || words(header, b"calls"))
}

fn judge(hits: usize, others: usize) -> Sniff {
    if hits > 0 && hits >= others {
        Sniff::Yes
    } else if hits >= 2 && hits * 8 >= others {
        Sniff::Maybe
    } else {
        Sniff::No
    }
}

/// Returns whether the text contains something that only MINIX prints: a banner with a pid, a `pid|` column, or `-1
/// [ENAME]`.
fn minix_marks(head: &[u8]) -> bool {
    lines(head, 1, 0).take(MOST_LINES).any(|line| {
        let start = start_of(&line);
        let text = split_prefix(&start, Dialect::Minix);
        if banner(text.body).is_some() {
            return true;
        }
        let has_bar = text.pid.is_some() && text.body.len() < start.bytes.len();
        has_bar && !matches!(classify(&text, Dialect::Minix), Body::Text | Body::Empty)
    })
}

/// Returns the start of a line, of at most [`MOST_LINE_BYTES`].
fn start_of<'a>(line: &Line<'a>) -> Line<'a> {
    Line {
        bytes: line.bytes.get(..MOST_LINE_BYTES).unwrap_or(line.bytes),
        ..*line
    }
}

/// The number of lines that match the grammar, and of other lines.
struct LineCounts {
    hits: usize,
    others: usize,
}

/// Counts the lines that match the grammar, and the other lines.
fn count(head: &[u8], dialect: Dialect) -> LineCounts {
    let mut hits = 0;
    let mut others = 0;
    let whole = memchr::memrchr(b'\n', head).map_or(head.len(), |end| end + 1);
    for line in lines(head.get(..whole).unwrap_or(head), 1, 0).take(MOST_LINES) {
        let start = start_of(&line);
        let line_text = split_prefix(&start, dialect);
        // A call may contain data of any length: then its result is after the head.
        if start.bytes.len() < line.bytes.len() && begins_with_data(&line_text) {
            hits += 1;
            continue;
        }
        match classify(&line_text, dialect) {
            Body::Call { text, is_open, .. } => {
                let call = split_call(text, dialect);
                let is_whole = call.is_closed
                    && match dialect {
                        Dialect::Strace => call.result.is_some() && !looks_like_code(&call),
                        Dialect::Minix => true,
                    };
                // Other texts may also end inside a word and a parenthesis.
                let has_columns = start.bytes.len() > line_text.body.len();
                if (is_open && (!line_text.is_cut || has_columns)) || is_whole {
                    hits += 1;
                } else {
                    others += 1;
                }
            }
            Body::Text => others += 1,
            Body::Empty | Body::Stack => {}
            // These lines are evidence even without calls.
            Body::Rest { .. }
            | Body::Signal
            | Body::Exited(_)
            | Body::Killed(_)
            | Body::Superseded(_)
            | Body::Banner(..)
            | Body::Attached(_) => hits += 1,
            Body::Note => {}
        }
    }
    LineCounts { hits, others }
}

/// Returns whether the line is a call that continues with data: `write(1, "...` or `[{iov_base="...`.
fn begins_with_data(line: &TextLine<'_>) -> bool {
    const NEAR: usize = 512;
    let Some((name, text)) = call_name(line.body) else {
        return false;
    };
    // Source code may also have long lines.
    let moves_data = [
        &b"read"[..],
        b"write",
        b"pread",
        b"pwrite",
        b"send",
        b"recv",
        b"exec",
    ];
    let is_call = moves_data.iter().any(|start| name.starts_with(start));
    if !is_call && line.pid.is_none() && line.time.is_none() {
        return false;
    }
    let near = text.get(..NEAR).unwrap_or(text);
    let is_plain = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let open = memchr::memchr(b'"', near);
    open.is_some_and(|open| near.iter().take(open).all(is_plain)) && is_plain_text(line.body)
}

/// Returns whether data is printed with escapes: all bytes are printable ASCII.
fn is_plain_text(text: &[u8]) -> bool {
    text.iter().all(|byte| (b' '..0x7f).contains(byte))
}

/// Returns whether the line may be source code: its result is not a number, a pointer or `?`, or the line ends with
/// `;`.
fn looks_like_code(call: &super::values::CallText<'_>) -> bool {
    let result = call.result.unwrap_or(&[]);
    let first = result.first().copied().unwrap_or(b'x');
    result.ends_with(b";") || !(first.is_ascii_digit() || matches!(first, b'-' | b'?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_its_own_only() {
        let strace = b"execve(\"/bin/true\", [\"true\"], 0x7ffdf8921d58 /* 3 vars */) = 0\nbrk(NULL) = 0x1\n";
        assert_eq!(sniff_strace(strace), Sniff::Yes);
        assert_eq!(sniff_minix(strace), Sniff::No);
        let minix = b"Tracing ls (pid 12685)\nminix_kerninfo() = 0\nbrk(&0x80ab000) = 0\n";
        assert_eq!(sniff_minix(minix), Sniff::Yes);
        assert_eq!(sniff_strace(minix), Sniff::No);
        let cut = b"  312|*close(3) = 0\n  311| close(4) = <..>\n";
        assert_eq!(sniff_minix(cut), Sniff::Yes);
        assert_eq!(sniff_strace(cut), Sniff::No);
    }

    #[test]
    fn other_texts_are_neither() {
        let others: [&[u8]; 7] = [
            b"",
            b"int main(void)\n{\n  x = f(a);\n  printf(\"%d = \", 3);\n  return 0;\n}\n",
            b"It was a dark and stormy night (pid 3) = 4.\nNothing moved.\n",
            b"# tracer: nop\n#\n            bash-96      [001] .....    69.626109: sys_read(fd: 3) = 4\n",
            b"<idle>-0 [000] d..2. 2588.76: sched_switch: prev_comm=x\n",
            b"0: 12,3,4,5!Proc_Create|1\n",
            b"f(x) = x + 1\ng(x) = y\n",
        ];
        for text in others {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(sniff_strace(text), Sniff::No, "{shown}");
            assert_eq!(sniff_minix(text), Sniff::No, "{shown}");
        }
    }

    #[test]
    fn a_call_with_more_data_than_is_looked_at_is_known() {
        let data = "A\\n".repeat(1 << 14);
        for line in [
            "write(1, \"",
            "12 12:00:01.000002 sendmsg(3, {msg_iov=[{iov_base=\"",
            "[pid 12] read(3, \"",
            "12 newcall(3, \"",
        ] {
            let text = format!("{line}{data}");
            assert_eq!(sniff_strace(text.as_bytes()), Sniff::Yes, "{line}");
            let text = format!("{line}{data}\", 32768) = 32768\n{line}x\", 1) = 1\n");
            assert_eq!(sniff_strace(text.as_bytes()), Sniff::Yes, "{line}");
        }
        for line in [
            "function(e){return \"",
            "define(\"",
            "write(\u{e9}, \"",
            "1 + 2 \"",
        ] {
            let text = format!("{line}{data}");
            assert_eq!(sniff_strace(text.as_bytes()), Sniff::No, "{line}");
        }
    }

    #[test]
    fn a_summary_is_known_so_that_it_can_be_refused_in_words() {
        assert!(is_summary(
            b"% time     seconds  usecs/call     calls    errors syscall\n------ ------\n"
        ));
        assert!(is_summary(
            b"syscall           longest     calls\n---------------- -------- ---------\nread 0.1 2\n"
        ));
        assert!(is_summary(
            b"System call usage summary for 32 bit mode:\n% time calls syscall\n------ ----- ---\n"
        ));
        assert!(!is_summary(b"% of all"));
    }
}
