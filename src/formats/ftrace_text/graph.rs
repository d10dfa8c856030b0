//! Parses the function graph tracer's text: durations, braces and indentation.
//!
//! ```text
//! [time |]  cpu)  [comm-pid |] [flags |]  [mark] 1.234 us    |    function();      a call of a leaf
//!                                                             |    function() {     a call
//!                                              + 12.345 us    |    }                its return
//! ```
//!
//! The kernel prints a duration with at most seven digits and cuts the rest (`trace_print_graph_duration`, kernel's
//! `trace_functions_graph.c`): the resolution is 10 ns from 10 ms on, 100 ns from 100 ms on, 1 us from 1 s on.
//!
//! trace-cmd prints the text from the duration on as the info of `funcgraph_entry` and `funcgraph_exit`.

use crate::base::Leading;
use crate::base::leading::digits;
use crate::formats::ftrace_line::flags::{Flags, is_flags};
use crate::formats::ftrace_line::prefix::{Group, Prefix, pid_of};
use crate::formats::ftrace_line::short::find_short;

/// Contents of a graph line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Graph<'a> {
    /// Depth of the call: the indentation in units of two spaces.
    pub depth: u32,
    /// Call, return, or both.
    pub step: Step<'a>,
}

/// A step in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A function without traced callees: its name, and its duration in ns if printed.
    Leaf(&'a [u8], Option<i64>),
    /// A function begins: its name.
    Enter(&'a [u8]),
    /// A function ends: its duration in ns if printed, and its name if the text contains it.
    Leave(Option<i64>, &'a [u8]),
    /// An event in a comment.
    Comment(&'a [u8]),
}

/// Parses `[mark] 1.234 us    |    function();`.
#[must_use]
pub(crate) fn step(text: &[u8]) -> Option<Graph<'_>> {
    let bar = memchr::memchr(b'|', text)?;
    let before = text.get(..bar)?;
    if is_arrow(before.trim_ascii()) {
        let step = Step::Comment(before.trim_ascii());
        return Some(Graph { depth: 0, step });
    }
    function_step(duration_ns(before), text.get(bar + 1..)?)
}

/// Returns whether the duration column contains an arrow: an interrupt begins or ends.
fn is_arrow(column: &[u8]) -> bool {
    column.starts_with(b"====") || column.starts_with(b"<===")
}

/// Parses a step without a duration column (`nofuncgraph-duration`): the function follows directly after the CPU.
#[must_use]
pub(crate) fn step_without_duration(text: &[u8]) -> Option<Graph<'_>> {
    function_step(None, text)
}

fn function_step(duration: Option<i64>, function: &[u8]) -> Option<Graph<'_>> {
    let indent = function.iter().take_while(|b| **b == b' ').count();
    let name = without_depth(function.trim_ascii());
    let depth = u32::try_from(indent / 2).ok()?;
    let step = if let Some(comment) = name.strip_prefix(b"/*") {
        let comment = comment.strip_suffix(b"*/").unwrap_or(comment);
        Step::Comment(comment.trim_ascii())
    } else if let Some(rest) = name.strip_prefix(b"}") {
        Step::Leave(duration, name_behind(rest))
    } else {
        // A return value may follow in a comment.
        let code = match memchr::memmem::find(name, b"/*") {
            Some(at) => name.get(..at)?.trim_ascii(),
            None => name,
        };
        if let Some(call) = code.strip_suffix(b"{") {
            Step::Enter(function_name(call)?)
        } else {
            let call = code
                .strip_suffix(b";")
                .filter(|call| call.ends_with(b")"))?;
            Step::Leaf(function_name(call)?, duration)
        }
    };
    Some(Graph { depth, step })
}

/// Returns a step without the depth that `report -O depth` prints after it: `f(); (2)`, `} (2)`.
fn without_depth(step: &[u8]) -> &[u8] {
    let before = || {
        let inside = step.strip_suffix(b")")?;
        let digits = inside.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let count = digits.count();
        let before = inside.get(..inside.len() - count)?.strip_suffix(b" (")?;
        let is_end = matches!(before.last(), Some(b';' | b'{' | b'}' | b'/'));
        (count > 0 && is_end).then_some(before)
    };
    before().unwrap_or(step)
}

/// Returns the name in `/* name */`, `/* name = 0x0 */` or `/* name ret=0x0 */` after a return.
fn name_behind(rest: &[u8]) -> &[u8] {
    let words = || {
        let text = rest.trim_ascii().strip_prefix(b"/*")?;
        let word = super::fields::first_word(text.trim_ascii_start());
        let is_name = word
            .first()
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        (is_name && !word.contains(&b'=')).then_some(word)
    };
    words().unwrap_or(&[])
}

/// Returns the function's return value from a step's comment: `/* = 0x0 */` or `/* f ret=0x0 */`.
#[must_use]
pub(crate) fn returned(text: &[u8]) -> Option<&[u8]> {
    let comment = text.get(memchr::memmem::find(text, b"/*")? + 2..)?;
    let comment = comment.get(..memchr::memmem::find(comment, b"*/")?)?;
    let at = match find_short(comment, b"ret=") {
        Some(at) => at + 4,
        None => find_short(comment, b"= ")? + 2,
    };
    Some(super::fields::first_word(comment.get(at..)?)).filter(|value| !value.is_empty())
}

/// Returns the function name in `f() `, `f [mod]() ` or `f(a=1)`.
fn function_name(call: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'(', call)?;
    let name = call.get(..end)?.trim_ascii();
    let end = memchr::memchr(b' ', name).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// Parses `! 123.456 us`, with or without a mark, to ns.
fn duration_ns(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii().strip_suffix(b"us")?.trim_ascii();
    let start = memchr::memrchr(b' ', text).map_or(0, |at| at + 1);
    let number = text.get(start..)?;
    let Leading {
        value: whole,
        length,
    } = digits(number)?;
    let fraction = number.get(length..)?.strip_prefix(b".").unwrap_or(b"");
    let mut ns = i64::try_from(whole).ok()?.checked_mul(1000)?;
    let mut scale = 100;
    for digit in fraction.iter().take(3) {
        ns = ns.checked_add(i64::from(digit.checked_sub(b'0').filter(|d| *d < 10)?) * scale)?;
        scale /= 10;
    }
    Some(ns)
}

/// Returns a step's duration as printed, without its mark: `12345.67 us`.
#[must_use]
pub(crate) fn duration_text(text: &[u8]) -> Option<&[u8]> {
    let before = text.get(..memchr::memchr(b'|', text)?)?.trim_ascii();
    let start = before.iter().position(u8::is_ascii_digit)?;
    before.get(start..).filter(|text| text.ends_with(b"us"))
}

/// Returns the resolution of a step's printed duration in ns: the true duration is longer by less than this.
#[must_use]
pub(crate) fn duration_step_ns(text: &[u8]) -> Option<i64> {
    let number = duration_text(text)?.strip_suffix(b"us")?.trim_ascii();
    let point = memchr::memrchr(b'.', number);
    let digits = point.map_or(0, |point| number.len().saturating_sub(point + 1));
    let digits = u32::try_from(digits).ok()?.min(3);
    Some(10_i64.pow(3 - digits))
}

/// Columns of a line of the kernel's own function_graph text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GraphLine<'a> {
    /// Time in ns, if the column exists.
    pub time: Option<i64>,
    /// Number of the CPU.
    pub cpu: u32,
    /// Name and pid of the thread, if the column exists.
    pub task: Option<NamedTask<'a>>,
    /// The latency flags; empty if the column does not exist.
    pub flags: &'a [u8],
    /// The text from the duration on.
    pub rest: &'a [u8],
}

impl<'a> GraphLine<'a> {
    /// Returns the columns as those of an event of a thread at this time.
    pub(super) fn prefix(&self, task: NamedTask<'a>, time: i64, body: &'a [u8]) -> Prefix<'a> {
        Prefix {
            instance: &[],
            comm: task.comm,
            pid: task.pid,
            group: Group::NoColumn,
            cpu: self.cpu,
            flags: Flags::Letters(self.flags),
            time,
            precision: Some(6),
            step: &[],
            glued: &[],
            body,
        }
    }
}

/// Parses the columns of a function_graph line; `None` for other lines.
#[must_use]
pub(crate) fn split_line(line: &[u8]) -> Option<GraphLine<'_>> {
    let head = line.get(..128).unwrap_or(line);
    let close = memchr::memchr(b')', head)?;
    let before = line.get(..close)?;
    let (time, number) = match memchr::memchr(b'|', before) {
        Some(bar) => (Some(moment(before.get(..bar)?)?), before.get(bar + 1..)?),
        None => (None, before),
    };
    let number = number.trim_ascii();
    let Leading { value: cpu, length } = digits(number)?;
    if length != number.len() || cpu >= 8192 {
        return None;
    }
    let mut rest = line.get(close + 1..)?;
    let (mut task, mut flags) = (None, &rest[..0]);
    for _ in 0..3 {
        let Some(mut bar) = memchr::memchr(b'|', rest) else {
            break;
        };
        let mut column = rest.get(..bar)?.trim_ascii();
        // A name may contain `|`.
        if task.is_none()
            && !ends_in_pid(column)
            && !column.is_empty()
            && !column.ends_with(b"us")
            && !is_flags(column)
            && let Some(more) = memchr::memchr(b'|', rest.get(bar + 1..)?)
            && let Some(wider) = rest.get(..bar + 1 + more)
            && ends_in_pid(wider.trim_ascii())
            && wider.len() < 40
        {
            bar += 1 + more;
            column = wider.trim_ascii();
        }
        if column.is_empty() || column.ends_with(b"us") || is_arrow(column) {
            break;
        }
        let dash = memchr::memrchr(b'-', column);
        let pid = dash.and_then(|dash| {
            let number = column.get(dash + 1..)?;
            let Leading { value: pid, length } = digits(number)?;
            (length == number.len()).then_some(pid)
        });
        if let (Some(dash), Some(pid)) = (dash, pid) {
            task = Some(NamedTask {
                comm: column.get(..dash)?,
                pid: pid_of(pid)?,
            });
        } else if is_flags(column) {
            flags = column;
        }
        rest = rest.get(bar + 1..)?;
    }
    Some(GraphLine {
        time,
        cpu: cpu as u32,
        task,
        flags,
        rest,
    })
}

/// Returns whether a column ends like `comm-123`.
fn ends_in_pid(column: &[u8]) -> bool {
    let pid = memchr::memrchr(b'-', column).and_then(|dash| column.get(dash + 1..));
    pid.is_some_and(|pid| digits(pid).is_some_and(|it| it.length == pid.len()))
}

/// Parses a line without a CPU column (`nofuncgraph-cpu`). Call this only for texts that are known to be graphs.
#[must_use]
pub(crate) fn without_cpu(line: &[u8]) -> Option<GraphLine<'_>> {
    step(line).map(|_| GraphLine {
        time: None,
        cpu: 0,
        task: None,
        flags: &[],
        rest: line,
    })
}

/// A thread's name and pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedTask<'a> {
    /// The name.
    pub comm: &'a [u8],
    /// The pid.
    pub pid: u32,
}

/// The two threads of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switched<'a> {
    pub prev: NamedTask<'a>,
    pub next: NamedTask<'a>,
}

/// Parses `bash-96    =>   sh-97`.
#[must_use]
pub(crate) fn switched(rest: &[u8]) -> Option<Switched<'_>> {
    let arrow = memchr::memmem::find(rest, b"=>")?;
    Some(Switched {
        prev: named(rest.get(..arrow)?)?,
        next: named(rest.get(arrow + 2..)?)?,
    })
}

fn named(text: &[u8]) -> Option<NamedTask<'_>> {
    let text = text.trim_ascii();
    let dash = memchr::memrchr(b'-', text)?;
    let Leading { value: pid, length } = digits(text.get(dash + 1..)?)?;
    let is_whole = dash + 1 + length == text.len();
    Some(NamedTask {
        comm: text.get(..dash)?,
        pid: pid_of(pid).filter(|_| is_whole)?,
    })
}

/// Parses `360.774528`, or `12 us` since the start of the trace.
fn moment(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    if let Some(micros) = text.strip_suffix(b" us") {
        let Leading {
            value: micros,
            length,
        } = digits(micros)?;
        let is_whole = length + 3 == text.len();
        return i64::try_from(micros)
            .ok()?
            .checked_mul(1000)
            .filter(|_| is_whole);
    }
    let Leading {
        value: whole,
        length,
    } = digits(text)?;
    let fraction = text.get(length..)?.strip_prefix(b".")?;
    let Leading { value, length } = digits(fraction)?;
    let scale = 10_u64.checked_pow(9_u32.checked_sub(u32::try_from(length).ok()?)?)?;
    let ns = value.checked_mul(scale)?;
    i64::try_from(whole)
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(i64::try_from(ns).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_depth_and_duration() {
        let leaf = step(b"   0.541 us    |      mutex_unlock();").unwrap();
        assert_eq!(
            (leaf.depth, leaf.step),
            (3, Step::Leaf(b"mutex_unlock", Some(541)))
        );
        let enter = step(b"                    |  vfs_read() {").unwrap();
        assert_eq!((enter.depth, enter.step), (1, Step::Enter(b"vfs_read")));
        let leave = step(b" ! 123.456 us   |  } /* vfs_read */").unwrap();
        assert_eq!(leave.step, Step::Leave(Some(123_456), b"vfs_read"));
        for (text, name, value) in [
            (
                &b" 1.0 us | } /* f = -22 */"[..],
                &b"f"[..],
                Some(&b"-22"[..]),
            ),
            (b" 1.0 us | } /* f ret=0x0 */", b"f", Some(b"0x0")),
            (b" 1.0 us | } /* = 0x1 */", b"", Some(b"0x1")),
            (b" 1.0 us | }", b"", None),
        ] {
            assert_eq!(step(text).unwrap().step, Step::Leave(Some(1000), name));
            assert_eq!(returned(text), value);
        }
        let comment = step(b"  |  /* sched_switch: x */").unwrap();
        assert_eq!(comment.step, Step::Comment(b"sched_switch: x"));
        let module = step(b" 1.0 us |  f [ext4](); /* = 0x0 */").unwrap();
        assert_eq!(module.step, Step::Leaf(b"f", Some(1000)));
        assert!(step(b"no bar").is_none());
        let irq = step(b"   ==========> |").unwrap();
        assert_eq!(irq.step, Step::Comment(b"==========>"));
        let bare = step_without_duration(b"    f(a=1) { /* <-g+0x1/0x2 */").unwrap();
        assert_eq!((bare.depth, bare.step), (2, Step::Enter(b"f")));
        assert!(step_without_duration(b"  hello;").is_none());
    }

    #[test]
    fn durations_are_as_exact_as_their_digits() {
        for (text, step) in [
            (&b"   0.541 us    |  f();"[..], Some(1)),
            (b" * 12345.67 us |  f();", Some(10)),
            (b" @ 123456.7 us |  f();", Some(100)),
            (b" $ 1234567 us  |  }", Some(1000)),
            (b"               |  f() {", None),
            (b"  f();", None),
        ] {
            assert_eq!(duration_step_ns(text), step);
        }
    }

    #[test]
    fn columns_of_the_kernels_text() {
        let plain = split_line(b" 1)   0.541 us    |      mutex_unlock();").unwrap();
        assert_eq!((plain.cpu, plain.time, plain.task), (1, None, None));
        let full =
            split_line(b"  360.774528 |   1)    sh-4802    |   d..1 |   0.541 us    |  f();")
                .unwrap();
        assert_eq!(full.time, Some(360_774_528_000));
        assert_eq!(
            full.task,
            Some(NamedTask {
                comm: b"sh",
                pid: 4802
            })
        );
        assert!(step(full.rest).is_some());
        let since =
            split_line(b"       12 us |   1)    <idle>-0    |  d..1 |   0.541 us    |  f();")
                .unwrap();
        assert_eq!((since.time, since.cpu), (Some(12_000), 1));
        let bar = split_line(b"   1.5 |   0)  a|b-78    |   1.0 us |  g();").unwrap();
        assert_eq!(
            bar.task,
            Some(NamedTask {
                comm: b"a|b",
                pid: 78
            })
        );
        assert!(without_cpu(b"   0.541 us    |  f();").is_some());
        let switch = switched(b"   sshd-1755    =>    <idle>-0   ").unwrap();
        let task = |comm, pid| NamedTask { comm, pid };
        assert_eq!(
            (switch.prev, switch.next),
            (task(b"sshd", 1755), task(b"<idle>", 0))
        );
    }
}
