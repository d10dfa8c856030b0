//! The function graph tracer's text: durations, braces and indentation.
//!
//! ```text
//! [time |]  cpu)  [comm-pid |] [flags |]  [mark] 1.234 us    |    function();      a call of a leaf
//!                                                             |    function() {     a call
//!                                              + 12.345 us    |    }                its return
//! ```
//!
//! trace-cmd prints the part from the duration on as the info of `funcgraph_entry` and `funcgraph_exit`.

use super::line::digits;

/// What a graph line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph<'a> {
    /// How deep, counted in steps of two spaces.
    pub depth: u32,
    /// Call, return, or both.
    pub step: Step<'a>,
}

/// A step in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A function that called nothing traced: name and ns.
    Leaf(&'a [u8], i64),
    /// A function begins.
    Enter(&'a [u8]),
    /// One ends, after so many ns if it is said.
    Leave(Option<i64>),
    /// An event in a comment.
    Comment(&'a [u8]),
}

/// Reads `[mark] 1.234 us    |    function();`.
#[must_use]
pub fn step(text: &[u8]) -> Option<Graph<'_>> {
    let bar = memchr::memchr(b'|', text)?;
    let duration = duration_ns(text.get(..bar)?);
    let function = text.get(bar + 1..)?;
    let indent = function.iter().take_while(|b| **b == b' ').count();
    let name = function.trim_ascii();
    let depth = u32::try_from(indent / 2).ok()?;
    let step = if let Some(comment) = name.strip_prefix(b"/*") {
        let comment = comment.strip_suffix(b"*/").unwrap_or(comment);
        Step::Comment(comment.trim_ascii())
    } else if name.first() == Some(&b'}') {
        Step::Leave(duration)
    } else {
        // A return value may follow in a comment.
        let code = match memchr::memmem::find(name, b"/*") {
            Some(at) => name.get(..at)?.trim_ascii(),
            None => name,
        };
        if let Some(call) = code.strip_suffix(b"{") {
            Step::Enter(function_name(call)?)
        } else {
            let call = code.strip_suffix(b";")?;
            Step::Leaf(function_name(call)?, duration.unwrap_or(0))
        }
    };
    Some(Graph { depth, step })
}

/// `f() `, `f [mod]() ` or `f(a=1)`: the name.
fn function_name(call: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'(', call)?;
    let name = call.get(..end)?.trim_ascii();
    let end = memchr::memchr(b' ', name).unwrap_or(name.len());
    name.get(..end).filter(|name| !name.is_empty())
}

/// `! 123.456 us`, with or without a mark.
fn duration_ns(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii().strip_suffix(b"us")?.trim_ascii();
    let start = memchr::memrchr(b' ', text).map_or(0, |at| at + 1);
    let number = text.get(start..)?;
    let (whole, length) = digits(number)?;
    let fraction = number.get(length..)?.strip_prefix(b".").unwrap_or(b"");
    let mut ns = i64::try_from(whole).ok()?.checked_mul(1000)?;
    let mut scale = 100;
    for digit in fraction.iter().take(3) {
        ns = ns.checked_add(i64::from(digit.checked_sub(b'0').filter(|d| *d < 10)?) * scale)?;
        scale /= 10;
    }
    Some(ns)
}

/// A line of the kernel's own function_graph text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLine<'a> {
    /// ns, if the column is there.
    pub time: Option<i64>,
    /// The CPU.
    pub cpu: u32,
    /// The thread, if the column is there.
    pub task: Option<(&'a [u8], u32)>,
    /// From the duration on.
    pub rest: &'a [u8],
}

/// Reads the columns of a function_graph line; `None` if it is none.
#[must_use]
pub fn split_line(line: &[u8]) -> Option<GraphLine<'_>> {
    let head = line.get(..128).unwrap_or(line);
    let close = memchr::memchr(b')', head)?;
    let before = line.get(..close)?;
    let (time, number) = match memchr::memchr(b'|', before) {
        Some(bar) => (Some(seconds(before.get(..bar)?)?), before.get(bar + 1..)?),
        None => (None, before),
    };
    let number = number.trim_ascii();
    let (cpu, length) = digits(number)?;
    if length != number.len() || cpu >= 8192 {
        return None;
    }
    let mut rest = line.get(close + 1..)?;
    let mut task = None;
    for _ in 0..3 {
        let Some(bar) = memchr::memchr(b'|', rest) else {
            break;
        };
        let column = rest.get(..bar)?.trim_ascii();
        if column.is_empty() || column.ends_with(b"us") || column.ends_with(b"=") {
            break;
        }
        let dash = memchr::memrchr(b'-', column);
        let pid = dash.and_then(|dash| {
            let number = column.get(dash + 1..)?;
            let (pid, length) = digits(number)?;
            (length == number.len()).then_some(pid)
        });
        if let (Some(dash), Some(pid)) = (dash, pid) {
            task = Some((column.get(..dash)?, u32::try_from(pid).ok()?));
        }
        rest = rest.get(bar + 1..)?;
    }
    Some(GraphLine {
        time,
        cpu: cpu as u32,
        task,
        rest,
    })
}

/// `bash-96    =>   sh-97`: who runs from now on.
#[must_use]
pub fn switched_to(rest: &[u8]) -> Option<(&[u8], u32)> {
    let arrow = memchr::memmem::find(rest, b"=>")?;
    let next = rest.get(arrow + 2..)?.trim_ascii();
    let dash = memchr::memrchr(b'-', next)?;
    let (pid, _) = digits(next.get(dash + 1..)?)?;
    Some((next.get(..dash)?, u32::try_from(pid).ok()?))
}

fn seconds(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    let (whole, length) = digits(text)?;
    let fraction = text.get(length..)?.strip_prefix(b".")?;
    let (value, length) = digits(fraction)?;
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
            (3, Step::Leaf(b"mutex_unlock", 541))
        );
        let enter = step(b"                    |  vfs_read() {").unwrap();
        assert_eq!((enter.depth, enter.step), (1, Step::Enter(b"vfs_read")));
        let leave = step(b" ! 123.456 us   |  } /* vfs_read */").unwrap();
        assert_eq!(leave.step, Step::Leave(Some(123_456)));
        let comment = step(b"  |  /* sched_switch: x */").unwrap();
        assert_eq!(comment.step, Step::Comment(b"sched_switch: x"));
        let module = step(b" 1.0 us |  f [ext4](); /* = 0x0 */").unwrap();
        assert_eq!(module.step, Step::Leaf(b"f", 1000));
        assert!(step(b"no bar").is_none());
    }

    #[test]
    fn columns_of_the_kernels_text() {
        let plain = split_line(b" 1)   0.541 us    |      mutex_unlock();").unwrap();
        assert_eq!((plain.cpu, plain.time, plain.task), (1, None, None));
        let full =
            split_line(b"  360.774528 |   1)    sh-4802    |   d..1 |   0.541 us    |  f();")
                .unwrap();
        assert_eq!(full.time, Some(360_774_528_000));
        assert_eq!(full.task, Some((&b"sh"[..], 4802)));
        assert!(step(full.rest).is_some());
        let (comm, pid) = switched_to(b"   sshd-1755    =>    <idle>-0   ").unwrap();
        assert_eq!((comm, pid), (&b"<idle>"[..], 0));
    }
}
