//! The columns of lines without a CPU in brackets: the latency format of the kernel and of trace-cmd.
//!
//! ```text
//! comm-pid  cpu flags micros"us"mark: body                         latency format
//! comm-pid  cpu flags seconds.micros: body                         trace-cmd report -l
//! comm pid cpu flags depth number [raw] 1.234ms (+0.001ms): body   latency format, verbose
//! ```

use super::flags::{Flags, is_flags};
use super::prefix::{
    Group, MOST_PREFIX, Prefix, StepAndBody, Task, Time, body_behind, cpu_of, pid_of, task, time,
    whole,
};
use crate::base::Leading;
use crate::base::leading::digits;

/// Minimum length of the flags of `trace-cmd report -l`: otherwise any `a-1 2x 3.4: ` would match.
const LEAST_FLAGS: usize = 4;
/// Maximum length of the step in verbose lines, with what is around it.
const MOST_STEP: usize = 40;
/// Width to which names are padded.
pub(super) const SHORT_NAME: usize = 8;

/// Parses the columns of a line without a CPU in brackets.
#[must_use]
pub(crate) fn other_columns(line: &[u8]) -> Option<Prefix<'_>> {
    latency_prefix(line)
        .or_else(|| columns_prefix(line))
        .or_else(|| verbose_prefix(line))
}

/// Returns the first result of `read`, which is called for each position of `mark`.
fn first_at<'a>(
    line: &'a [u8],
    mark: &[u8],
    read: fn(&'a [u8], usize) -> Option<Prefix<'a>>,
) -> Option<Prefix<'a>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    memchr::memmem::find_iter(head, mark).find_map(|at| read(line, at))
}

/// Parses `  <idle>-0         1dn.h5..    3us!: body`.
fn latency_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    first_at(line, b"us", latency_at)
}

pub(super) fn latency_at(line: &[u8], us: usize) -> Option<Prefix<'_>> {
    let after = line.get(us + 2..)?;
    let body = match after {
        [b':', b' ', body @ ..] | [_, b':', b' ', body @ ..] => body,
        _ => return None,
    };
    let before = line.get(..us)?;
    let space = memchr::memrchr(b' ', before)?;
    let micros = whole(before.get(space + 1..)?)?;
    let time = Time {
        ns: i64::try_from(micros).ok()?.checked_mul(1000)?,
        precision: Some(6),
    };
    with_task(before.get(..space)?, time, body)
}

/// Parses the columns `comm-pid  cpu flags` of the latency format and returns the whole prefix.
fn with_task<'a>(before: &'a [u8], time: Time, body: &'a [u8]) -> Option<Prefix<'a>> {
    let before = before.trim_ascii_end();
    let space = memchr::memrchr(b' ', before)?;
    let column = before.get(space + 1..)?;
    let Leading { value: cpu, length } = digits(column)?;
    let cpu = cpu_of(cpu)?;
    let task = task(before.get(..space)?, SHORT_NAME)?;
    let flags = Flags::Letters(column.get(length..)?);
    Some(Prefix {
        body,
        ..task.columns(cpu, flags, time)
    })
}

/// Parses `  mix.sh-291     0.....    46.972530: body`, as printed by `trace-cmd report -l`, and the latency format of
/// a counting clock: `  mix.sh-291     0d..2.        1234: body`.
fn columns_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    // The first `: ` need not be after the time: an instance's name may start the line.
    first_at(line, b": ", columns_at)
}

fn columns_at(line: &[u8], colon: usize) -> Option<Prefix<'_>> {
    let before = line.get(..colon)?;
    let space = memchr::memrchr(b' ', before)?;
    let word = line.get(space + 1..=colon)?;
    let (columns, time, length) = match time(word) {
        Some(Leading {
            value: time,
            length,
        }) => (before.get(..space)?, time, length),
        None => {
            // No space before a counter's integer: `1d..2.4631252878692:`.
            let cpu = digits(word)?.length;
            let Leading {
                value: found,
                length,
            } = time(word.get(cpu + 5..)?)?;
            let columns = before.get(..space + 1 + cpu + 5)?;
            (columns, found, length + cpu + 5)
        }
    };
    if length != word.len() {
        return None;
    }
    let StepAndBody { step, body } = body_behind(line.get(colon + 1..)?);
    let prefix = with_task(columns, time, body)?;
    let Flags::Letters(letters) = prefix.flags else {
        return None;
    };
    let is_hex = letters.starts_with(b"-0x");
    let is_sure = match prefix.precision {
        Some(_) => is_hex || letters.len() >= LEAST_FLAGS,
        None => is_hex || is_flags(letters),
    };
    is_sure.then_some(Prefix { step, ..prefix })
}

/// Parses `  bash   24776   0 37 00000002 0000000f [58eddd440] 10.130ms (+0.001ms): body`, and with a counting clock
/// `... [0000000058eddd44] 130 (+1): body`.
fn verbose_prefix(line: &[u8]) -> Option<Prefix<'_>> {
    let head = line.get(..MOST_PREFIX).unwrap_or(line);
    verbose_at(line, memchr::memmem::find(head, b" (+")?)
}

/// Parses the columns of the verbose latency format around the ` (+` at `step`.
pub(super) fn verbose_at(line: &[u8], step: usize) -> Option<Prefix<'_>> {
    let behind = line.get(step..)?;
    let behind = behind.get(..MOST_STEP).unwrap_or(behind);
    let end = step + memchr::memmem::find(behind, b"): ")?;
    let before = line.get(..step)?;
    let space = memchr::memrchr(b' ', before)?;
    let number = before.get(space + 1..)?;
    let time = match number.strip_suffix(b"ms") {
        Some(number) => {
            let Leading {
                value: millis,
                length,
            } = digits(number)?;
            let Leading {
                value: micros,
                length: rest,
            } = digits(number.get(length..)?.strip_prefix(b".")?)?;
            let micros = millis.checked_mul(1000)?.checked_add(micros)?;
            let ns = i64::try_from(micros).ok()?.checked_mul(1000)?;
            let time = Time {
                ns,
                precision: Some(6),
            };
            (rest == 3).then_some(time)?
        }
        None => Time {
            ns: i64::try_from(whole(number)?).ok()?,
            precision: None,
        },
    };
    // From the right: raw time, number, depth, flags, CPU, pid; the rest is the name.
    let mut left = before.get(..space)?.trim_ascii_end();
    let mut word = || {
        let at = memchr::memrchr(b' ', left)?;
        let word = left.get(at + 1..)?;
        left = left.get(..at)?.trim_ascii_end();
        Some(word)
    };
    word()?.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let (_number, depth) = (word()?, word()?);
    let depth = u64::from_str_radix(std::str::from_utf8(depth).ok()?, 16).ok()?;
    let flags = whole(word()?)?;
    let cpu = cpu_of(whole(word()?)?)?;
    let pid = pid_of(whole(word()?)?)?;
    let task = Task {
        instance: &[],
        comm: left.trim_ascii_start(),
        pid,
        group: Group::NoColumn,
    };
    Some(Prefix {
        body: line.get(end + "): ".len()..)?,
        ..task.columns(cpu, Flags::Numbers { flags, depth }, time)
    })
}
