//! The columns at the start of a line: thread, CPU, flags, time.
//!
//! ```text
//! comm-pid [(tgid)] [cpu] [(tgid)] [flags] seconds.micros: body    trace, trace_pipe, trace-cmd report
//! comm-pid  cpu flags micros"us"mark: body                         latency format
//! comm-pid  cpu flags seconds.micros: body                         trace-cmd report -l
//! comm pid cpu flags depth number [raw] 1.234ms (+0.001ms): body   latency format, verbose
//! instance: or file: before any of them                            trace-cmd report of several buffers or files
//! [   12.345678] or <4>[   12.345678] before any of them           a dump on the console
//! ```
//!
//! Columns are parsed from the right, because a name may contain spaces, dashes and brackets. A counting clock prints
//! an integer instead of seconds, and trace-cmd prints no space before it.
//!
//! Of the 267 texts of the corpus (25 by the kernel, 1 of `trace-cmd stream`, 241 of `trace-cmd report`), 13 name
//! instances, 3 contain the process, and 2 are in the latency format. None is verbose, from `report -l`, from a console,
//! or has a counting clock, and none has the process after the CPU: kernels 4.13 to 5.8 print these columns, which their
//! documentation describes.

use super::flags::{Flags, is_flags};
use super::latency_columns::{SHORT_NAME, latency_at, other_columns, verbose_at};
use super::padded::padded_columns;
use super::short::find_short;
use crate::base::Leading;
use crate::base::decimal_seconds::fraction_ns;
use crate::base::leading::digits;

/// The columns of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prefix<'a> {
    /// Name of the buffer or file that contains the line; empty if there is only one.
    pub instance: &'a [u8],
    /// The thread's name; `<...>` if it is unknown.
    pub comm: &'a [u8],
    /// The thread's pid.
    pub pid: u32,
    /// The thread's process.
    pub group: Group,
    /// Number of the CPU.
    pub cpu: u32,
    /// The latency flags.
    pub flags: Flags<'a>,
    /// Time in ns, or in the clock's own unit.
    pub time: i64,
    /// Number of digits after the decimal point; `None` for the integer of a counting clock.
    pub precision: Option<u8>,
    /// The column after the time that `trace-cmd report --ts-diff` adds: `(+24)`; empty if missing.
    pub step: &'a [u8],
    /// Raw flags and a counter's integer without a separator: `-0x14631252878692`.
    pub glued: &'a [u8],
    /// The text after the columns.
    pub body: &'a [u8],
}

/// The column of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// The line has no such column.
    NoColumn,
    /// `(-------)`: unknown.
    Unknown,
    /// Pid of the process.
    Is(u32),
}

impl Prefix<'_> {
    /// Splits `glued` so that its last `digits` digits are the time; 0 if their number is unknown.
    #[must_use]
    pub(crate) fn with_digits(self, digits: usize) -> Self {
        let number = self.glued.get(RAW_FLAGS.len()..).unwrap_or(&[]);
        let least = match number {
            [b'0', ..] => 1,
            [_, b'a'..=b'f', ..] => 2,
            _ => 1,
        };
        let known = number.len().checked_sub(digits).filter(|_| digits > 0);
        let mut flags = known.unwrap_or(least).clamp(least, 2);
        // No integer starts with a zero.
        if number.get(flags) == Some(&b'0') {
            flags = least;
        }
        let found = || {
            let (flags, time) = self.glued.split_at_checked(RAW_FLAGS.len() + flags)?;
            Some((flags, i64::try_from(whole(time)?).ok()?))
        };
        match found() {
            Some((flags, time)) => Prefix {
                flags: Flags::Letters(flags),
                time,
                ..self
            },
            None => self,
        }
    }

    /// Returns whether the time is the integer of a counting clock.
    #[must_use]
    #[inline]
    pub(crate) fn is_raw(&self) -> bool {
        self.precision.is_none()
    }
}

/// The kernel's limit: each pid is smaller.
const MOST_PID: u32 = 1 << 22;
/// Limit for CPU numbers: each number is smaller.
pub(crate) const MOST_CPU: u32 = 8192;
/// Maximum length of the flags column.
pub(super) const MOST_FLAGS: usize = 12;
/// Prefix of raw flags.
pub(crate) const RAW_FLAGS: &[u8] = b"-0x";
/// Minimum length of raw flags and a counter's integer together, if no separator is between them: the integer is padded
/// to twelve digits, so a shorter integer has spaces before it.
const LEAST_GLUED: usize = 16;
/// Maximum length of all columns, in bytes.
pub(super) const MOST_PREFIX: usize = 256;
/// Width to which names of tasks are padded: at least this many bytes follow the name of an instance.
const WIDE_NAME: usize = 15;
/// Width to which the kernel pads the names of tasks; a name has at least one byte less.
pub(crate) const TASK_WIDTH: usize = 16;
/// Maximum length of a task's name, pid and process together, in bytes, and also of CPU, flags and time together.
const MOST_TASK: usize = 64;

/// Parses a text that is only an integer.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let Leading { value, length } = digits(text)?;
    (length == text.len()).then_some(value)
}

/// Parses the columns of a line.
#[must_use]
#[inline]
pub(crate) fn split_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    padded_columns(line).or_else(|| any_columns(line))
}

/// Parses the columns of a line of any form.
pub(super) fn any_columns(line: &[u8]) -> Option<Prefix<'_>> {
    let line = without_console_time(line);
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'[', head.get(from..)?) {
        let open = from + found;
        if let Some(prefix) = prefix_at(line, open) {
            return Some(match prefix.comm.len() < TASK_WIDTH {
                true => prefix,
                false => first_columns(line, prefix),
            });
        }
        from = open + 1;
    }
    other_columns(line)
}

/// Returns the first of the columns in a line: `inside`, before which there is more than a task's name, or columns
/// without brackets before them. The text of a mark may look like columns.
#[cold]
fn first_columns<'a>(line: &'a [u8], inside: Prefix<'a>) -> Prefix<'a> {
    let other = other_columns(line);
    let is_first = |other: &Prefix<'_>| other.body.len() > inside.body.len();
    other.filter(is_first).unwrap_or(inside)
}

/// Removes the console's prefix from a line of a dump, and the zeros before it in a file that was not completely
/// written.
#[inline]
#[must_use]
pub(crate) fn without_console_time(line: &[u8]) -> &[u8] {
    if !matches!(line.first(), Some(b'[' | b'<' | 0)) {
        return line;
    }
    let zeros = line.iter().take_while(|byte| **byte == 0).count();
    let line = line.get(zeros..).unwrap_or(line);
    let stamp = || {
        let mut rest = line;
        if let Some(level) = rest.strip_prefix(b"<") {
            rest = level.get(digits(level)?.length..)?.strip_prefix(b">")?;
        }
        let inner = rest.strip_prefix(b"[")?.trim_ascii_start();
        let Leading { length, .. } = digits(inner)?;
        let inner = inner.get(length..)?.strip_prefix(b".")?;
        let rest = inner.get(digits(inner)?.length..)?.strip_prefix(b"]")?;
        // The kernel may also print the thread or CPU that printed the line.
        match rest.trim_ascii_start().strip_prefix(b"[") {
            Some(caller) => {
                let caller = caller.trim_ascii_start();
                let number = caller.strip_prefix(b"T").or(caller.strip_prefix(b"C"))?;
                number.get(digits(number)?.length..)?.strip_prefix(b"]")
            }
            None => Some(rest),
        }
    };
    stamp().unwrap_or(line)
}

/// The text after a line's time.
pub(super) struct StepAndBody<'a> {
    /// The step of `trace-cmd report --ts-diff`; empty if there is none.
    pub(super) step: &'a [u8],
    pub(super) body: &'a [u8],
}

/// Splits the text after a line's time.
#[inline]
pub(super) fn body_behind(after: &[u8]) -> StepAndBody<'_> {
    let body = after.strip_prefix(b" ").unwrap_or(after);
    let with_step = || {
        let inner = body.strip_prefix(b"(+")?;
        let Leading { length, .. } = digits(inner)?;
        let rest = inner.get(length..)?.strip_prefix(b")")?;
        Some(StepAndBody {
            step: body.get(..length + 3)?,
            body: rest.trim_ascii_start(),
        })
    };
    with_step().unwrap_or(StepAndBody { step: &[], body })
}

pub(super) fn cpu_of(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&cpu| cpu < MOST_CPU)
}

#[inline]
fn prefix_at(line: &[u8], open: usize) -> Option<Prefix<'_>> {
    let Leading { value: cpu, length } = digits(line.get(open + 1..)?)?;
    let after = line.get(open + 1 + length..)?.strip_prefix(b"]")?;
    let cpu = cpu_of(cpu)?;
    let mut task = task(line.get(..open)?, WIDE_NAME)?;
    let mut after = after.trim_ascii_start();
    // From Linux 4.13 to 5.8 the process is printed after the CPU.
    if let Some(inner) = after.strip_prefix(b"(") {
        let close = memchr::memchr(b')', inner.get(..MOST_FLAGS).unwrap_or(inner))?;
        task.group = group_of(inner.get(..close)?)?;
        after = inner.get(close + 1..)?.trim_ascii_start();
    }
    let found = match time(after) {
        Some(Leading {
            value: time,
            length,
        }) => FlagsAndTime {
            flags: &[],
            time,
            length,
            text: after,
        },
        None => match flags_and_time(after) {
            Some(found) => found,
            None => return glued_at(task, cpu, after),
        },
    };
    let StepAndBody { step, body } = body_behind(found.text.get(found.length..)?);
    Some(Prefix {
        step,
        body,
        ..task.columns(cpu, Flags::Letters(found.flags), found.time)
    })
}

/// Parses `-0x14631252878692:`, raw flags and a counter's integer without a separator.
#[cold]
fn glued_at<'a>(task: Task<'a>, cpu: u32, after: &'a [u8]) -> Option<Prefix<'a>> {
    let number = after.strip_prefix(RAW_FLAGS)?;
    let length = number.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let rest = number.get(length..)?.strip_prefix(b":")?;
    let glued = after.get(..RAW_FLAGS.len() + length)?;
    if glued.len() < LEAST_GLUED {
        return None;
    }
    let StepAndBody { step, body } = body_behind(rest);
    let time = Time {
        ns: 0,
        precision: None,
    };
    let prefix = Prefix {
        step,
        glued,
        body,
        ..task.columns(cpu, Flags::Letters(&[]), time)
    };
    let prefix = prefix.with_digits(0);
    matches!(prefix.flags, Flags::Letters([_, ..])).then_some(prefix)
}

/// The flags and the time of a line.
struct FlagsAndTime<'a> {
    flags: &'a [u8],
    time: Time,
    /// The length of the time's text, in bytes.
    length: usize,
    /// The text that starts with the time.
    text: &'a [u8],
}

/// Parses `d..2.    12.345678:`, or with a counter's integer `d..2.4631252878692:`.
#[inline]
fn flags_and_time(text: &[u8]) -> Option<FlagsAndTime<'_>> {
    let near = text.get(..=MOST_FLAGS).unwrap_or(text);
    if let Some(end) = memchr::memchr(b' ', near) {
        let after = text.get(end..)?.trim_ascii_start();
        if let Some(Leading {
            value: time,
            length,
        }) = time(after)
        {
            return Some(FlagsAndTime {
                flags: text.get(..end)?,
                time,
                length,
                text: after,
            });
        }
    }
    // Five letters; the last two may be digits.
    let (flags, after) = text.split_at_checked(5)?;
    let Leading {
        value: time,
        length,
    } = time(after)?;
    is_flags(flags).then_some(FlagsAndTime {
        flags,
        time,
        length,
        text: after,
    })
}

/// The columns `comm-pid` or `comm-pid (tgid)`, padded, possibly after an instance's name.
pub(super) struct Task<'a> {
    pub(super) instance: &'a [u8],
    pub(super) comm: &'a [u8],
    pub(super) pid: u32,
    pub(super) group: Group,
}

impl<'a> Task<'a> {
    /// Returns the columns of a line of the task, without a body.
    #[inline]
    pub(super) fn columns(self, cpu: u32, flags: Flags<'a>, time: Time) -> Prefix<'a> {
        Prefix {
            instance: self.instance,
            comm: self.comm,
            pid: self.pid,
            group: self.group,
            cpu,
            flags,
            time: time.ns,
            precision: time.precision,
            step: &[],
            glued: &[],
            body: &[],
        }
    }
}

/// Parses the task. At least `width` bytes, or a space, must follow the name of an instance.
pub(super) fn task(text: &[u8], width: usize) -> Option<Task<'_>> {
    let mut text = text.trim_ascii_end();
    let mut group = Group::NoColumn;
    if let Some(inner) = text.strip_suffix(b")") {
        let open = memchr::memrchr(b'(', inner)?;
        group = group_of(inner.get(open + 1..)?)?;
        text = inner.get(..open)?.trim_ascii_end();
    }
    let dash = memchr::memrchr(b'-', text)?;
    let pid = whole(text.get(dash + 1..)?)?;
    let mut comm = text.get(..dash)?;
    let mut instance = &comm[..0];
    // `instance:      comm`, as trace-cmd prints it for several instances.
    if let Some(colon) = find_short(comm, b": ") {
        let name = comm.get(colon + 2..)?;
        let before = comm.get(..colon)?.trim_ascii_start();
        if (name.first() == Some(&b' ') || name.len() >= width) && !before.is_empty() {
            (instance, comm) = (before, name);
        }
    }
    Some(Task {
        instance,
        comm: comm.trim_ascii_start(),
        pid: pid_of(pid)?,
        group,
    })
}

/// Parses the text between the parentheses of the process.
fn group_of(text: &[u8]) -> Option<Group> {
    let text = text.trim_ascii();
    match whole(text) {
        Some(number) => Some(pid_of(number).map_or(Group::Unknown, Group::Is)),
        None => text.iter().all(|b| *b == b'-').then_some(Group::Unknown),
    }
}

/// Columns inside a text.
pub(crate) struct Inside<'a> {
    /// The offset of the columns in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) prefix: Prefix<'a>,
}

/// Finds the first columns inside `text`: a padded task name before a pid, a CPU and a time. Reads a limited number of
/// bytes around each bracket.
#[must_use]
#[inline]
pub(crate) fn columns_inside(text: &[u8]) -> Option<Inside<'_>> {
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'[', text.get(from..)?) {
        let open = from + found;
        let before = open.saturating_sub(MOST_TASK);
        let inside = || {
            let prefix = prefix_at(text.get(before..)?, open - before)?;
            padded(text, prefix, TASK_WIDTH)
        };
        // The padding of a name has at least one byte.
        let inside = inside().filter(|inside| text.get(inside.start) == Some(&b' '));
        if inside.is_some() {
            return inside;
        }
        from = open + 1;
    }
    None
}

/// Finds the first columns of the latency format, which has no bracket, inside `text`.
#[must_use]
pub(crate) fn latency_columns_inside(text: &[u8]) -> Option<Inside<'_>> {
    memchr::memmem::find_iter(text, b"us").find_map(|us| {
        let before = us.saturating_sub(MOST_TASK);
        let prefix = latency_at(text.get(before..)?, us - before)?;
        padded(text, prefix, SHORT_NAME)
    })
}

/// Finds the first columns of the verbose latency format inside `text`.
#[must_use]
pub(crate) fn verbose_columns_inside(text: &[u8]) -> Option<Inside<'_>> {
    memchr::memmem::find_iter(text, b" (+").find_map(|step| {
        let before = step.saturating_sub(2 * MOST_TASK);
        let prefix = verbose_at(text.get(before..)?, step - before)?;
        padded(text, prefix, TASK_WIDTH)
    })
}

/// Returns the start of columns whose name is padded to `width`: the name ends at the dash before the pid, whatever
/// precedes the padding.
fn padded<'a>(text: &'a [u8], prefix: Prefix<'a>, width: usize) -> Option<Inside<'a>> {
    let name_end = prefix.comm.as_ptr() as usize + prefix.comm.len();
    let dash = name_end.checked_sub(text.as_ptr() as usize)?;
    let start = dash.checked_sub(width)?;
    let comm = text.get(start..dash)?.trim_ascii_start();
    let prefix = Prefix {
        instance: &[],
        comm,
        ..prefix
    };
    (!comm.is_empty()).then_some(Inside { start, prefix })
}

/// Returns a number as a pid, if it is below the kernel's limit.
#[must_use]
pub(crate) fn pid_of(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&pid| pid < MOST_PID)
}

/// A time as printed.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) ns: i64,
    pub(super) precision: Option<u8>,
}

/// Number of digits of a fraction of a second in ns.
const NS_DIGITS: usize = 9;

/// Parses `seconds.fraction:` or `number:` at the start of `text`. Returns the time and its length in bytes.
#[inline]
pub(super) fn time(text: &[u8]) -> Option<Leading<Time>> {
    let Leading {
        value: whole,
        length,
    } = digits(text)?;
    let whole = i64::try_from(whole).ok()?;
    match text.get(length)? {
        b':' => {
            let time = Time {
                ns: whole,
                precision: None,
            };
            Some(Leading {
                value: time,
                length: length + 1,
            })
        }
        b'.' => {
            let Leading {
                value: ns,
                length: fraction,
            } = fraction_ns(text.get(length..)?);
            // The point is not a digit.
            let precision = fraction.checked_sub(1)?.min(NS_DIGITS);
            if text.get(length + fraction) != Some(&b':') {
                return None;
            }
            let time = Time {
                ns: whole.checked_mul(1_000_000_000)?.checked_add(ns)?,
                precision: Some(precision as u8),
            };
            Some(Leading {
                value: time,
                length: length + fraction + 1,
            })
        }
        _ => None,
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
            (Flags::Letters(b"....."), &b"myprobe: (f+0x0/0x1)"[..])
        );
        let tgid = split("  my prog-9 [x]-1234  (   77) [012] d.h1.  1.000001: a: b");
        assert_eq!((tgid.comm, tgid.pid), (&b"my prog-9 [x]"[..], 1234));
        assert_eq!((tgid.group, tgid.cpu), (Group::Is(77), 12));
        let unknown = split("  <...>-12  (-------) [000] d....  1.5: a: b");
        assert_eq!(
            (unknown.group, unknown.time),
            (Group::Unknown, 1_500_000_000)
        );
        let report = split("          <idle>-0     [001]    64.608890070: sched_switch:         x");
        assert_eq!(
            (report.flags, report.time),
            (Flags::Letters(b""), 64_608_890_070)
        );
        let tsc = split("   mix.sh-22 [001]4631252878692: sched_switch: x");
        assert_eq!((tsc.time, tsc.is_raw()), (4_631_252_878_692, true));
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
        assert_eq!(
            (report.flags, report.time),
            (Flags::Letters(b"d.h1."), 46_972_530_078)
        );
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
}
