//! One line of ftrace text: its columns, and what its body is.
//!
//! ```text
//! comm-pid [(tgid)] [cpu] [flags] seconds.micros: body         trace, trace_pipe, trace-cmd report
//! comm-pid  cpu flags micros"us"mark: body                     latency format
//! comm-pid  cpu flags seconds.micros: body                     trace-cmd report -l
//! comm pid cpu flags depth number [raw] 1.234ms (+0.001ms): body     latency format, verbose
//! CPU:n [LOST m EVENTS]    CPU:n [m EVENTS DROPPED]            what was lost before the next line of that CPU
//!  => symbol                                                   a frame, belongs to the line before
//! ```
//!
//! Columns are found from the right: a name may hold spaces, dashes and brackets.

use super::fields::find_short;
use crate::formats::atrace::may_be_mark;

/// The columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix<'a> {
    /// The thread's name, `<...>` if it was not known.
    pub comm: &'a [u8],
    /// Its pid.
    pub pid: u32,
    /// Its process, if the column is there and known.
    pub tgid: Option<u32>,
    /// The CPU.
    pub cpu: u32,
    /// The latency flags; empty if the column is not there.
    pub flags: &'a [u8],
    /// ns, or the clock's own number.
    pub time: i64,
    /// Whether the time had no point: a counter's number.
    pub is_raw: bool,
    /// What follows.
    pub body: &'a [u8],
}

/// What a line without columns is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plain {
    /// A comment, a header, or nothing.
    Silent,
    /// A frame of a stack.
    Frame,
    /// Events of this CPU were lost; how many, if it is said.
    Lost(u32, Option<u64>),
    /// Anything else.
    Text,
}

/// The kernel's limit: pids are smaller.
const MOST_PID: u32 = 1 << 22;
/// CPUs have smaller numbers.
const MOST_CPU: u32 = 8192;
/// Flags of `trace-cmd report -l` are at least so many: else any `a-1 2x 3.4: ` would be a line.
const LEAST_FLAGS: usize = 4;
/// Columns end before this many bytes.
const MOST_PREFIX: usize = 256;

/// A whole number at the start of `text`, and how many digits it has.
#[must_use]
#[inline]
pub fn digits(text: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    let mut at = 0;
    while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
        value = value
            .checked_mul(10)?
            .checked_add(u64::from(digit - b'0'))?;
        at += 1;
    }
    (at > 0).then_some((value, at))
}

/// Takes the columns off a line.
#[must_use]
#[inline]
pub fn split_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'[', head.get(from..)?) {
        let open = from + found;
        if let Some(prefix) = prefix_at(line, open) {
            return Some(prefix);
        }
        from = open + 1;
    }
    latency_prefix(line)
        .or_else(|| columns_prefix(line))
        .or_else(|| verbose_prefix(line))
}

/// What stands behind a line's time, without the `(+24)` of `trace-cmd report --ts-diff`.
#[inline]
fn body_behind(after: &[u8]) -> &[u8] {
    let body = after.strip_prefix(b" ").unwrap_or(after);
    let without = || {
        let inner = body.strip_prefix(b"(+")?;
        let (_, length) = digits(inner)?;
        let rest = inner.get(length..)?.strip_prefix(b")")?;
        Some(rest.trim_ascii_start())
    };
    without().unwrap_or(body)
}

#[inline]
fn prefix_at(line: &[u8], open: usize) -> Option<Prefix<'_>> {
    let (cpu, length) = digits(line.get(open + 1..)?)?;
    let after = line.get(open + 1 + length..)?.strip_prefix(b"]")?;
    let cpu = u32::try_from(cpu).ok().filter(|&cpu| cpu < MOST_CPU)?;
    let (comm, pid, tgid) = task(line.get(..open)?)?;
    let after = after.trim_ascii_start();
    let (flags, after) = match time(after) {
        Some(_) => (&after[..0], after),
        None => {
            let end = memchr::memchr(b' ', after).filter(|&end| end <= 12)?;
            (after.get(..end)?, after.get(end..)?.trim_ascii_start())
        }
    };
    let (time, is_raw, length) = time(after)?;
    Some(Prefix {
        comm,
        pid,
        tgid,
        cpu,
        flags,
        time,
        is_raw,
        body: body_behind(after.get(length..)?),
    })
}

/// `comm-pid` or `comm-pid (tgid)`, padded, perhaps behind an instance's name.
fn task(text: &[u8]) -> Option<(&[u8], u32, Option<u32>)> {
    let mut text = text.trim_ascii_end();
    let mut tgid = None;
    if let Some(inner) = text.strip_suffix(b")") {
        let open = memchr::memrchr(b'(', inner)?;
        let group = inner.get(open + 1..)?.trim_ascii();
        match digits(group) {
            Some((number, length)) if length == group.len() => tgid = pid_of(number),
            _ if group.iter().all(|b| *b == b'-') => {}
            _ => return None,
        }
        text = inner.get(..open)?.trim_ascii_end();
    }
    let dash = memchr::memrchr(b'-', text)?;
    let number = text.get(dash + 1..)?;
    let (pid, length) = digits(number)?;
    if length != number.len() {
        return None;
    }
    let mut comm = text.get(..dash)?.trim_ascii_start();
    // `instance:      comm`, as trace-cmd prints several instances.
    if let Some(colon) = find_short(comm, b": ") {
        comm = comm.get(colon + 1..)?.trim_ascii_start();
    }
    Some((comm, pid_of(pid)?, tgid))
}

/// A number as a pid, if the kernel can have such.
#[must_use]
pub fn pid_of(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&pid| pid < MOST_PID)
}

/// `seconds.fraction:` or `number:` at the start of `text`: value, whether it is a bare number, length.
#[inline]
fn time(text: &[u8]) -> Option<(i64, bool, usize)> {
    let (whole, length) = digits(text)?;
    let whole = i64::try_from(whole).ok()?;
    match text.get(length)? {
        b':' => Some((whole, true, length + 1)),
        b'.' => {
            let mut ns = 0_i64;
            let mut scale = 100_000_000;
            let mut at = length + 1;
            while let Some(digit) = text.get(at).filter(|b| b.is_ascii_digit()) {
                ns += i64::from(digit - b'0') * scale;
                scale /= 10;
                at += 1;
            }
            if at == length + 1 || text.get(at) != Some(&b':') {
                return None;
            }
            let ns = whole.checked_mul(1_000_000_000)?.checked_add(ns)?;
            Some((ns, false, at + 1))
        }
        _ => None,
    }
}

/// `  <idle>-0         1dn.h5..    3us!: body`.
fn latency_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    let mut from = 0;
    loop {
        let us = from + memchr::memmem::find(head.get(from..)?, b"us")?;
        if let Some(prefix) = latency_at(line, us) {
            return Some(prefix);
        }
        from = us + 2;
    }
}

fn latency_at(line: &[u8], us: usize) -> Option<Prefix<'_>> {
    let after = line.get(us + 2..)?;
    let body = match after {
        [b':', b' ', body @ ..] | [_, b':', b' ', body @ ..] => body,
        _ => return None,
    };
    let before = line.get(..us)?;
    let space = memchr::memrchr(b' ', before)?;
    let number = before.get(space + 1..)?;
    let (micros, length) = digits(number)?;
    if length != number.len() {
        return None;
    }
    let time = i64::try_from(micros).ok()?.checked_mul(1000)?;
    with_task(before.get(..space)?, time, body)
}

/// The columns `comm-pid  cpu flags` of the latency format, and what stands behind them.
fn with_task<'a>(before: &'a [u8], time: i64, body: &'a [u8]) -> Option<Prefix<'a>> {
    let before = before.trim_ascii_end();
    let space = memchr::memrchr(b' ', before)?;
    let column = before.get(space + 1..)?;
    let (cpu, length) = digits(column)?;
    let cpu = u32::try_from(cpu).ok().filter(|&cpu| cpu < MOST_CPU)?;
    let (comm, pid, tgid) = task(before.get(..space)?)?;
    Some(Prefix {
        comm,
        pid,
        tgid,
        cpu,
        flags: column.get(length..)?,
        time,
        is_raw: false,
        body,
    })
}

/// `  mix.sh-291     0.....    46.972530: body`, as `trace-cmd report -l` has it.
fn columns_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    let mut from = 0;
    loop {
        let colon = from + memchr::memmem::find(head.get(from..)?, b": ")?;
        let before = line.get(..colon)?;
        // An instance's name may stand at the line's start: its colon is not the time's.
        if let Some(space) = memchr::memrchr(b' ', before)
            && let Some((time, false, length)) = time(line.get(space + 1..)?)
            && space + 1 + length == colon + 1
            && let Some(prefix) = with_task(before.get(..space)?, time, &[])
            && prefix.flags.len() >= LEAST_FLAGS
        {
            return Some(Prefix {
                body: body_behind(line.get(colon + 1..)?),
                ..prefix
            });
        }
        from = colon + 2;
    }
}

/// `  bash   24776   0 37 00000002 0000000f [58eddd440] 10.130ms (+0.001ms): body`.
fn verbose_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    let ms = memchr::memmem::find(head, b"ms (+")?;
    let end = ms + memchr::memmem::find(head.get(ms..)?, b"ms): ")?;
    let before = line.get(..ms)?;
    let space = memchr::memrchr(b' ', before)?;
    let number = before.get(space + 1..)?;
    let (whole, length) = digits(number)?;
    let (micros, rest) = digits(number.get(length..)?.strip_prefix(b".")?)?;
    if rest != 3 {
        return None;
    }
    let micros = i64::try_from(whole)
        .ok()?
        .checked_mul(1000)?
        .checked_add(i64::try_from(micros).ok()?)?;
    // From the right: raw time, number, depth, flags, CPU, pid; what is left is the name.
    let mut left = before.get(..space)?.trim_ascii_end();
    let mut word = || {
        let at = memchr::memrchr(b' ', left)?;
        let word = left.get(at + 1..)?;
        left = left.get(..at)?.trim_ascii_end();
        Some(word)
    };
    let whole_number = |word: &[u8]| digits(word).filter(|(_, length)| *length == word.len());
    word()?.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let (_number, _depth) = (word()?, word()?);
    let flags = word()?;
    let cpu = whole_number(word()?)?.0;
    let pid = whole_number(word()?)?.0;
    Some(Prefix {
        comm: left.trim_ascii_start(),
        pid: pid_of(pid)?,
        tgid: None,
        cpu: u32::try_from(cpu).ok().filter(|&cpu| cpu < MOST_CPU)?,
        flags,
        time: micros.checked_mul(1000)?,
        is_raw: false,
        body: line.get(end + "ms): ".len()..)?,
    })
}

/// What a line is that has no columns.
#[must_use]
pub fn plain(line: &[u8]) -> Plain {
    let text = line.trim_ascii();
    if text.is_empty() || text.starts_with(b"#") || text.starts_with(b"cpus=") {
        return Plain::Silent;
    }
    if text.starts_with(b"=> ") || text == b"=>" {
        return Plain::Frame;
    }
    lost(text).unwrap_or(Plain::Text)
}

fn lost(text: &[u8]) -> Option<Plain> {
    let rest = text.strip_prefix(b"CPU:")?;
    let (cpu, length) = digits(rest)?;
    let cpu = u32::try_from(cpu).ok().filter(|&cpu| cpu < MOST_CPU)?;
    let inner = rest
        .get(length..)?
        .trim_ascii()
        .strip_prefix(b"[")?
        .strip_suffix(b"]")?;
    let is_lost = inner.starts_with(b"LOST") || inner.ends_with(b"EVENTS DROPPED");
    let number = inner.strip_prefix(b"LOST ").unwrap_or(inner);
    is_lost.then(|| Plain::Lost(cpu, digits(number).map(|(count, _)| count)))
}

/// What a body says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body<'a> {
    /// `name: info`.
    Event(&'a [u8], &'a [u8]),
    /// `sys_NAME(...)`, as the kernel prints sys_enter_NAME: name and arguments.
    SysEnter(&'a [u8], &'a [u8]),
    /// `sys_NAME -> 0x0`: name and result.
    SysExit(&'a [u8], &'a [u8]),
    /// `function <-caller`.
    Function(&'a [u8], &'a [u8]),
    /// `<stack trace>`; frames follow.
    Stack(&'a [u8]),
    /// Anything else.
    Text,
}

/// No event has a longer name.
const MOST_NAME: usize = 100;

/// Tells the forms of bodies apart.
#[must_use]
#[inline]
pub fn classify(body: &[u8]) -> Body<'_> {
    let text = body.trim_ascii_start();
    let length = text
        .iter()
        .take(MOST_NAME)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'$'))
        .count();
    let (name, rest) = text.split_at(length);
    let starts_well = name
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    match rest {
        [b':', info @ ..] if starts_well && matches!(info.first(), None | Some(b' ')) => {
            Body::Event(name, info.trim_ascii_start())
        }
        // Who wrote the mark could not be told.
        [b':', b' ', info @ ..] if is_address(name) && may_be_mark(info) => {
            Body::Event(b"tracing_mark_write", info)
        }
        [b'(', inner @ ..] if name.starts_with(b"sys_") => {
            let inner = inner.trim_ascii_end();
            let inner = inner.strip_suffix(b")").unwrap_or(inner);
            Body::SysEnter(&name[4..], inner)
        }
        [b' ', b'-', b'>', b' ', result @ ..] if name.starts_with(b"sys_") => {
            Body::SysExit(&name[4..], result.trim_ascii())
        }
        _ if text.starts_with(b"<") && text.trim_ascii_end().ends_with(b">") => Body::Stack(text),
        // Only a name: the function tracer without callers.
        rest if starts_well && rest.trim_ascii().is_empty() => Body::Function(name, b""),
        [b'+', b'0', b'x', ..] if starts_well => symbol_body(name, text),
        _ => match find_short(text, b"<-")
            .filter(|&at| text.get(..at).is_some_and(|name| name.ends_with(b" ")))
        {
            Some(at) if starts_well && at > 0 => Body::Function(
                text.get(..at).unwrap_or(&[]).trim_ascii(),
                text.get(at + 2..).unwrap_or(&[]).trim_ascii(),
            ),
            _ => Body::Text,
        },
    }
}

/// `0` or `0xffffffff81498b1a`, where there should be a name.
fn is_address(name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"0x").unwrap_or(b"0");
    (name == b"0" || name.starts_with(b"0x")) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// `tracing_mark_write+0x8a/0x170 <ffffffff81498b1a>: text` and the like: names with offsets and addresses.
fn symbol_body<'a>(name: &'a [u8], text: &'a [u8]) -> Body<'a> {
    if let Some(at) = memchr::memmem::find(text, b" <-") {
        return Body::Function(
            text.get(..at).unwrap_or(&[]).trim_ascii(),
            text.get(at + 3..).unwrap_or(&[]).trim_ascii(),
        );
    }
    let near = text.get(..MOST_NAME * 2).unwrap_or(text);
    match memchr::memmem::find(near, b": ") {
        Some(colon) => Body::Event(name, text.get(colon + 2..).unwrap_or(&[])),
        None => Body::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Prefix<'_> {
        split_prefix(line.as_bytes()).unwrap_or_else(|| panic!("{line}"))
    }

    #[test]
    fn columns_of_all_writers() {
        let line = split("            bash-96      [001] .....    69.626109: myprobe: (f+0x0/0x1)");
        assert_eq!((line.comm, line.pid, line.cpu), (&b"bash"[..], 96, 1));
        assert_eq!(line.time, 69_626_109_000);
        assert_eq!(
            (line.flags, line.body),
            (&b"....."[..], &b"myprobe: (f+0x0/0x1)"[..])
        );
        let tgid = split("  my prog-9 [x]-1234  (   77) [012] d.h1.  1.000001: a: b");
        assert_eq!((tgid.comm, tgid.pid), (&b"my prog-9 [x]"[..], 1234));
        assert_eq!((tgid.tgid, tgid.cpu), (Some(77), 12));
        let unknown = split("  <...>-12  (-------) [000] d....  1.5: a: b");
        assert_eq!((unknown.tgid, unknown.time), (None, 1_500_000_000));
        let report = split("          <idle>-0     [001]    64.608890070: sched_switch:         x");
        assert_eq!((report.flags, report.time), (&b""[..], 64_608_890_070));
        let tsc = split("   mix.sh-22 [001]4631252878692: sched_switch: x");
        assert_eq!((tsc.time, tsc.is_raw), (4_631_252_878_692, true));
        let instance =
            split("timers:       clang++-19-24534 [001]  2305.883414307: hrtimer_cancel: x");
        assert_eq!((instance.comm, instance.pid), (&b"clang++-19"[..], 24534));
        let latency =
            split("  <idle>-0         1dn.h5..    3us!:        0:120:R   + [001]     286: 19:R x");
        assert_eq!((latency.pid, latency.cpu, latency.time), (0, 1, 3000));
        let report = split("        mix.sh-291     0d.h1.    46.972530078: sys_enter:   NR 288");
        assert_eq!(
            (report.comm, report.pid, report.cpu),
            (&b"mix.sh"[..], 291, 0)
        );
        assert_eq!((report.flags, report.time), (&b"d.h1."[..], 46_972_530_078));
        let verbose = split(
            "            bash   24776   1 37 00000002 0000000f [58eddd440] 10.130ms (+0.001ms): sys_exit: NR 14 = 0",
        );
        assert_eq!(
            (verbose.comm, verbose.pid, verbose.cpu),
            (&b"bash"[..], 24776, 1)
        );
        assert_eq!(
            (verbose.time, verbose.body),
            (10_130_000, &b"sys_exit: NR 14 = 0"[..])
        );
        let steps = split(" mix.sh-291   [000]    46.972530: (+24)    sys_enter:   NR 288");
        assert_eq!(steps.body, b"sys_enter:   NR 288");
        assert!(split_prefix(b"a-1 2x 3.4: b").is_none());
        let worker = split("     kworker/0:1-17    [000]    64.612930323: a: b");
        assert_eq!(worker.comm, b"kworker/0:1");
    }

    #[test]
    fn lines_without_columns() {
        assert_eq!(plain(b"# tracer: nop"), Plain::Silent);
        assert_eq!(plain(b" => schedule"), Plain::Frame);
        assert_eq!(plain(b"CPU:1 [LOST 45 EVENTS]"), Plain::Lost(1, Some(45)));
        assert_eq!(
            plain(b"CPU:0 [3285 EVENTS DROPPED]"),
            Plain::Lost(0, Some(3285))
        );
        assert_eq!(plain(b"CPU:0 [EVENTS DROPPED]"), Plain::Lost(0, None));
        assert_eq!(plain(b"CPU:0 [LOST EVENTS]"), Plain::Lost(0, None));
        assert_eq!(plain(b"hello"), Plain::Text);
        assert!(split_prefix(b"int a[3] = f(1);").is_none());
    }

    #[test]
    fn forms_of_bodies() {
        assert_eq!(
            classify(b"irq_handler_exit:     irq=1"),
            Body::Event(b"irq_handler_exit", b"irq=1")
        );
        assert_eq!(
            classify(b"sys_read(fd: 7)"),
            Body::SysEnter(b"read", b"fd: 7")
        );
        assert_eq!(classify(b"sys_read -> 0x8"), Body::SysExit(b"read", b"0x8"));
        assert_eq!(
            classify(b"vfs_read <-ksys_read"),
            Body::Function(b"vfs_read", b"ksys_read")
        );
        assert_eq!(classify(b"vfs_read"), Body::Function(b"vfs_read", b""));
        assert_eq!(
            classify(b"tracing_mark_write+0x8a/0x170 <ffffffff81498b1a>: B|1|x"),
            Body::Event(b"tracing_mark_write", b"B|1|x")
        );
        for address in ["0", "0x0", "0xffffffff81498b1a"] {
            let line = format!("{address}: C|1|x|2");
            assert_eq!(
                classify(line.as_bytes()),
                Body::Event(b"tracing_mark_write", b"C|1|x|2")
            );
        }
        assert_eq!(classify(b"0: no mark"), Body::Text);
        assert_eq!(
            classify(b"tracing_mark_write: E"),
            Body::Event(b"tracing_mark_write", b"E")
        );
        assert_eq!(
            classify(b"<user stack trace>"),
            Body::Stack(b"<user stack trace>")
        );
        assert_eq!(classify(b"  7,0    M  WS 24 + 8 [dd]"), Body::Text);
        assert_eq!(classify(b"       0:120:R   + [001]"), Body::Text);
    }
}
