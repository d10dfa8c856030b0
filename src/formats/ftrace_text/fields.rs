//! The fields in an event's text: `name=value` pairs, and the fixed forms of some events.
//!
//! A thread's name holds whatever it likes, also ` ==> ` and ` pid=1`: what the kernel prints behind it tells where
//! it ends, and that it has at most 15 bytes.

use super::prefix::{digits, pid_of};
use crate::event::EndState;

/// A value in `text` by name: `text` is `a=1 b=two words c=3`. A value ends where the next ` name=` begins.
#[must_use]
pub fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut from = 0;
    loop {
        let equals = from + memchr::memchr(b'=', text.get(from..)?)?;
        let before = text.get(..equals)?;
        let value = text.get(equals + 1..)?;
        if let Some(before) = before.strip_suffix(name)
            && matches!(before.last(), None | Some(b' ' | b'(' | b','))
        {
            let end = value_end(name, value).unwrap_or(value.len());
            return value.get(..end).map(<[u8]>::trim_ascii);
        }
        // What stands in names and between quotes are no fields.
        let own = before.get(word_start(before)..)?;
        from = equals + 1;
        if own.ends_with(b"comm") || own == b"filename" || value.first() == Some(&b'"') {
            from += value_end(own, value).unwrap_or(value.len());
        }
    }
}

/// Where the last word of `text` begins.
fn word_start(text: &[u8]) -> usize {
    memchr::memrchr(b' ', text).map_or(0, |space| space + 1)
}

/// Names of threads are no longer.
const MOST_COMM: usize = 15;

/// Where the value of field `name` ends in `value`: before the next ` name=`, or of a thread's name, before what the
/// kernel prints behind it.
fn value_end(name: &[u8], value: &[u8]) -> Option<usize> {
    if name == b"filename"
        && let Some(at) = memchr::memmem::rfind(value, b" old_pid=")
        && let Some(at) = value
            .get(..at)
            .and_then(|text| memchr::memmem::rfind(text, b" pid="))
    {
        // sched_process_exec: what stands before the pids is the path.
        return Some(at);
    }
    let Some(owner) = name.strip_suffix(b"comm") else {
        return next_field(value);
    };
    let near = value.get(..MOST_COMM + 40).unwrap_or(value);
    let mut found = None;
    let mut from = 0;
    while let Some(at) = near.get(from..).and_then(|rest| memchr::memchr(b' ', rest)) {
        let at = from + at;
        from = at + 1;
        if at > MOST_COMM {
            break;
        }
        let rest = near.get(at + 1..).unwrap_or(&[]);
        let pid = || rest.strip_prefix(owner)?.strip_prefix(b"pid=");
        let is_pid = || pid().is_some_and(|pid| digits(pid).is_some());
        // task_newtask and task_rename say the pid first.
        let other: &[u8] = match owner {
            b"old" => b"newcomm=",
            b"new" => b"oom_score_adj=",
            _ => b"clone_flags=",
        };
        if is_pid() || rest.starts_with(other) {
            found = Some(at);
        }
    }
    found.or_else(|| next_field(value))
}

/// Where `needle`, a few bytes that begin with a rare one, stands in `text`. For short texts: a searcher for
/// any needle takes longer to make than they take to read.
#[must_use]
#[inline]
pub fn find_short(text: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(first, text.get(from..)?)?;
        if text.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Where the next ` name=` begins in `text`.
fn next_field(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    // A quoted value holds whatever it likes.
    if text.first() == Some(&b'"') {
        from = 1 + memchr::memchr(b'"', text.get(1..)?)?;
    }
    loop {
        let space = from + memchr::memchr(b' ', text.get(from..)?)?;
        let rest = text.get(space + 1..)?;
        let length = rest
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
            .count();
        if length > 0 && rest.get(length) == Some(&b'=') && rest.get(length + 1) != Some(&b'=') {
            return Some(space);
        }
        from = space + 1;
    }
}

/// All `name=value` pairs of `text`.
#[must_use]
pub fn pairs(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    const MOST: usize = 256;
    let mut found = Vec::new();
    let mut rest = text.trim_ascii_start();
    // Words before the first pair are none of it.
    while !starts_field(rest) {
        match memchr::memchr(b' ', rest) {
            Some(space) => rest = rest.get(space + 1..).unwrap_or(&[]).trim_ascii_start(),
            None => return found,
        }
    }
    while found.len() < MOST {
        let Some(equals) = memchr::memchr(b'=', rest) else {
            break;
        };
        let name = rest.get(..equals).unwrap_or(&[]);
        let value = rest.get(equals + 1..).unwrap_or(&[]);
        match value_end(name, value) {
            Some(end) => {
                found.push((name, value.get(..end).unwrap_or(&[]).trim_ascii()));
                rest = value.get(end + 1..).unwrap_or(&[]);
            }
            None => {
                found.push((name, value.trim_ascii()));
                break;
            }
        }
    }
    found
}

fn starts_field(text: &[u8]) -> bool {
    let length = text
        .iter()
        .take(64)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
        .count();
    length > 0 && text.get(length) == Some(&b'=')
}

/// `name:value` words, as tracers of noise and latency have them (`noise:852679\tmax_sample:65351`), if there is
/// nothing else in `text`.
#[must_use]
pub fn colon_pairs(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    let words = text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let pair = |word: &'_ [u8]| memchr::memchr(b':', word).filter(|at| *at > 0);
    let split = words.map(|word| {
        let (name, value) = word.split_at_checked(pair(word)?)?;
        let value = value.get(1..).filter(|value| !value.is_empty())?;
        let is_name = name.first()?.is_ascii_alphabetic()
            && name
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        is_name.then_some((name, value))
    });
    let found: Option<Vec<_>> = split.take(64).collect();
    found.filter(|pairs| pairs.len() > 1).unwrap_or_default()
}

/// `fd: 7, buf: 0x7f (68 65) "a, b", count: 0x200`: what a system call was given. Newer kernels show what pointers
/// point to; names tell where the next argument begins.
#[must_use]
pub fn arguments(text: &[u8]) -> Vec<(&[u8], &[u8])> {
    const MOST: usize = 64;
    let name_length = |text: &[u8]| {
        let length = text
            .iter()
            .take(64)
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
            .count();
        (length > 0
            && text
                .get(length..)
                .is_some_and(|rest| rest.starts_with(b": ")))
        .then_some(length)
    };
    let mut found = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() && found.len() < MOST {
        let length = name_length(rest);
        let (name, value) = match length.and_then(|length| rest.split_at_checked(length)) {
            Some((name, value)) => (name, value.get(2..).unwrap_or(&[])),
            None => (&rest[..0], rest),
        };
        // Where the next name stands, or without names, the next comma.
        let mut from = 0;
        let mut is_quoted = false;
        let end = loop {
            let Some(at) = value
                .get(from..)
                .and_then(|rest| memchr::memchr2(b'"', b',', rest))
            else {
                break value.len();
            };
            let at = from + at;
            from = at + 1;
            if value.get(at) == Some(&b'"') {
                is_quoted = !is_quoted;
                continue;
            }
            let next = value.get(at + 1..).and_then(|next| next.strip_prefix(b" "));
            let is_next = next.is_some_and(|next| length.is_none() || name_length(next).is_some());
            if is_next && !is_quoted {
                break at;
            }
        };
        found.push((name, value.get(..end).unwrap_or(value).trim_ascii()));
        rest = value.get(end + 1..).unwrap_or(&[]).trim_ascii_start();
    }
    found
}

/// The first word of a value: `1 [action=TIMER]` is `1`.
#[must_use]
pub fn first_word(value: &[u8]) -> &[u8] {
    let end = memchr::memchr(b' ', value).unwrap_or(value.len());
    value.get(..end).unwrap_or(value)
}

/// A number at the start of a value: decimal with sign, or hex behind `0x`.
#[must_use]
pub fn number(value: &[u8]) -> Option<i64> {
    let word = first_word(value);
    let (is_negative, digits) = match word.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let (radix, digits) = match digits.strip_prefix(b"0x") {
        Some(rest) => (16, rest),
        None => (10, digits),
    };
    let length = digits
        .iter()
        .take_while(|b| (**b as char).is_digit(radix))
        .count();
    let text = std::str::from_utf8(digits.get(..length)?).ok()?;
    let value = u64::from_str_radix(text, radix).ok()?.cast_signed();
    Some(if is_negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// The pid in a field.
#[must_use]
pub fn pid(text: &[u8], name: &[u8]) -> Option<u32> {
    pid_of(u64::try_from(number(field(text, name)?)?).ok()?)
}

/// One side of a context switch, or who was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    /// Its name.
    pub comm: &'a [u8],
    /// Its pid.
    pub pid: u32,
    /// Its priority.
    pub priority: i32,
}

/// A context switch as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchText<'a> {
    /// Who stopped.
    pub prev: Task<'a>,
    /// Who runs.
    pub next: Task<'a>,
    /// Why the first stopped.
    pub state: &'a [u8],
}

/// `prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b ...` or `a:1 [120] R ==> b:2 [120]`.
#[must_use]
pub fn switch(info: &[u8]) -> Option<SwitchText<'_>> {
    if info.starts_with(b"prev_comm=") {
        let side = |comm: &[u8], pid_name: &[u8], prio: &[u8]| {
            Some(Task {
                comm: field(info, comm)?,
                pid: pid(info, pid_name)?,
                priority: number(field(info, prio)?).and_then(|p| i32::try_from(p).ok())?,
            })
        };
        return Some(SwitchText {
            prev: side(b"prev_comm", b"prev_pid", b"prev_prio")?,
            next: side(b"next_comm", b"next_pid", b"next_prio")?,
            state: first_word(field(info, b"prev_state")?),
        });
    }
    // Until 2.6.33: `task a:1 [120] (R) ==> b:2 [120]`.
    let info = info.strip_prefix(b"task ").unwrap_or(info);
    let mut from = 0;
    loop {
        let arrow = from + find_short(info.get(from..)?, b"==> ")?;
        let found = || {
            let (prev, state) = short_task(info.get(..arrow)?.strip_suffix(b" ")?)?;
            let (next, _) = short_task(info.get(arrow + 4..)?)?;
            let state = state.strip_prefix(b"(").unwrap_or(state);
            let state = state.strip_suffix(b")").unwrap_or(state);
            let is_one_word = !state.is_empty() && !state.contains(&b' ');
            let are_names = prev.comm.len() <= MOST_COMM && next.comm.len() <= MOST_COMM;
            (is_one_word && are_names).then_some(SwitchText { prev, next, state })
        };
        // An arrow in a name has no thread before it, or too much of one behind.
        if let Some(found) = found() {
            return Some(found);
        }
        from = arrow + 4;
    }
}

/// What the wakeup tracers print in place of events: `0:120:R ==> [001]  286: 19:R cat`, or `+` for a wakeup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracerText<'a> {
    /// Who stopped or woke somebody; its name is in the line's columns.
    pub prev: Task<'a>,
    /// Its state's letter.
    pub state: &'a [u8],
    /// Who runs or was woken.
    pub next: Task<'a>,
    /// The CPU it is to run on.
    pub cpu: u32,
    /// Whether it was woken, not switched to.
    pub is_wakeup: bool,
}

/// Reads the text of the kernel's `context_switch` and `wakeup` entries.
#[must_use]
pub fn tracer_text(body: &[u8]) -> Option<TracerText<'_>> {
    let text = body.trim_ascii();
    let open = memchr::memchr(b'[', text.get(..64).unwrap_or(text))?;
    let before = text.get(..open)?.trim_ascii_end();
    let (before, is_wakeup) = match before.strip_suffix(b"==>") {
        Some(before) => (before, false),
        None => (before.strip_suffix(b"+")?, true),
    };
    let inner = text.get(open + 1..)?;
    let close = memchr::memchr(b']', inner)?;
    let (prev, state, _) = colon_task(before.trim_ascii_end())?;
    let (next, _, comm) = colon_task(inner.get(close + 1..)?.trim_ascii_start())?;
    Some(TracerText {
        prev,
        state,
        next: Task { comm, ..next },
        cpu: u32::try_from(number(inner.get(..close)?)?).ok()?,
        is_wakeup,
    })
}

/// `pid:prio:state rest`.
fn colon_task(text: &[u8]) -> Option<(Task<'_>, &[u8], &[u8])> {
    let (pid, rest) = text.split_at_checked(memchr::memchr(b':', text)?)?;
    let rest = rest.get(1..)?;
    let (priority, rest) = rest.split_at_checked(memchr::memchr(b':', rest)?)?;
    let state = first_word(rest.get(1..)?);
    let all_digits = |text: &[u8]| {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    };
    if !all_digits(pid) || !all_digits(priority.trim_ascii()) {
        return None;
    }
    let task = Task {
        comm: b"",
        pid: pid_of(u64::try_from(number(pid)?).ok()?)?,
        priority: i32::try_from(number(priority.trim_ascii())?).ok()?,
    };
    let after = rest.get(1 + state.len()..)?.trim_ascii();
    (state.len() <= 2).then_some((task, state, after))
}

/// `comm:pid [prio] rest`.
fn short_task(text: &[u8]) -> Option<(Task<'_>, &[u8])> {
    let open = memchr::memmem::rfind(text, b" [")?;
    let inner = text.get(open + 2..)?;
    let close = memchr::memchr(b']', inner)?;
    let name = text.get(..open)?;
    let colon = memchr::memrchr(b':', name)?;
    let task = Task {
        comm: name.get(..colon)?,
        pid: pid_of(u64::try_from(number(name.get(colon + 1..)?)?).ok()?)?,
        priority: i32::try_from(number(inner.get(..close)?)?).ok()?,
    };
    Some((task, inner.get(close + 1..)?.trim_ascii()))
}

/// `comm=a pid=1 prio=120 target_cpu=001` or `a:1 [120] success=1 CPU:001`: who, and the CPU.
#[must_use]
pub fn wakeup(info: &[u8]) -> Option<(Task<'_>, Option<u32>)> {
    if info.starts_with(b"comm=") {
        let task = Task {
            comm: field(info, b"comm")?,
            pid: pid(info, b"pid")?,
            priority: field(info, b"prio")
                .and_then(number)
                .and_then(|p| i32::try_from(p).ok())
                .unwrap_or(0),
        };
        return Some((task, pid(info, b"target_cpu")));
    }
    // Until 2.6.33: `task a:1 [120] success=1 [001]`.
    if let Some(info) = info.strip_prefix(b"task ") {
        let (before, cpu) = info.split_at_checked(memchr::memrchr(b'[', info)?)?;
        let (task, _) = short_task(before)?;
        let cpu = number(cpu.get(1..)?);
        return Some((task, cpu.and_then(|cpu| u32::try_from(cpu).ok())));
    }
    let (task, rest) = short_task(info)?;
    let cpu = memchr::memmem::find(rest, b"CPU:").and_then(|at| rest.get(at + 4..));
    Some((
        task,
        cpu.and_then(number).and_then(|cpu| u32::try_from(cpu).ok()),
    ))
}

/// What the letters of `prev_state` mean, or its number where fields are shown raw; of several the first counts.
#[must_use]
pub fn end_state(letters: &[u8]) -> EndState {
    match letters {
        [b'0'..=b'9', ..] => numbered_state(number(letters).unwrap_or(-1)),
        b"R+" => EndState::Preempted,
        [b'R', ..] => EndState::Runnable,
        [b'S', ..] => EndState::Sleeping,
        [b'D', ..] => EndState::Uninterruptible,
        [b'T', ..] => EndState::Stopped,
        [b't', ..] => EndState::Traced,
        [b'Z', ..] => EndState::Zombie,
        [b'X' | b'x', ..] => EndState::Dead,
        [b'P', ..] => EndState::Parked,
        [b'I', ..] => EndState::Idle,
        _ => EndState::Unknown,
    }
}

/// The kernel's numbers of states (since 4.14): the lowest bit counts.
fn numbered_state(bits: i64) -> EndState {
    match bits {
        0 => EndState::Runnable,
        1.. => match 1_i64 << bits.trailing_zeros() {
            0x01 => EndState::Sleeping,
            0x02 => EndState::Uninterruptible,
            0x04 => EndState::Stopped,
            0x08 => EndState::Traced,
            0x10 => EndState::Dead,
            0x20 => EndState::Zombie,
            0x40 => EndState::Parked,
            0x80 => EndState::Idle,
            0x100 => EndState::Preempted,
            _ => EndState::Unknown,
        },
        _ => EndState::Unknown,
    }
}

/// The number of a system call in `NR 3 (...)`, or in `id=3 ...` where fields are shown raw.
#[must_use]
pub fn raw_syscall(info: &[u8]) -> Option<i64> {
    match info.strip_prefix(b"NR ") {
        Some(rest) => number(rest),
        None => number(field(info, b"id")?),
    }
}

/// A probe's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe<'a> {
    /// `(do_sys_open+0x0/0xd6)`: where it is.
    Entry(&'a [u8]),
    /// `(sys_openat+0xc/0xe <- do_sys_open)`: the function that returned, and where to.
    Return(&'a [u8], &'a [u8]),
}

/// The addresses at the start of a probe's text. The kernel prints where a function returned to first and
/// symbols; trace-cmd prints the function first and bare hex numbers.
#[must_use]
pub fn probe(info: &[u8]) -> Option<Probe<'_>> {
    let inner = info.strip_prefix(b"(")?;
    let close = memchr::memchr(b')', inner.get(..400).unwrap_or(inner))?;
    let inner = inner.get(..close)?;
    let is_bare = |text: &[u8]| text.len() >= 4 && text.iter().all(u8::is_ascii_hexdigit);
    if let Some(arrow) = find_short(inner, b"<- ") {
        let (first, second) = (
            inner.get(..arrow)?.trim_ascii_end(),
            inner.get(arrow + 3..)?,
        );
        let (function, to) = if is_bare(first) {
            (first, second)
        } else {
            (second, first)
        };
        return (!function.is_empty()).then_some(Probe::Return(function, to));
    }
    let is_address =
        inner.starts_with(b"0x") || is_bare(inner) || find_short(inner, b"+0x").is_some();
    is_address.then_some(Probe::Entry(inner))
}

/// The event that a probe sits on, `(syscalls.sys_enter_openat) file=...`: its system and name.
#[must_use]
pub fn event_probe(info: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = info.strip_prefix(b"(")?;
    let close = memchr::memchr(b')', inner.get(..200).unwrap_or(inner))?;
    let (system, event) = inner
        .get(..close)?
        .split_at_checked(memchr::memchr(b'.', inner)?)?;
    let event = event.get(1..)?;
    let is_name = |text: &[u8]| {
        let starts_well = text
            .first()
            .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        starts_well && text.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    (is_name(system) && is_name(event)).then_some((system, event))
}

/// Where a probe on a function sits: at its start, or behind what machines want there first (`endbr64`, `bti c`,
/// the global entry of powerpc).
const ENTRIES: [&[u8]; 3] = [b"+0x0/", b"+0x4/", b"+0x8/"];

/// Where the offset begins in the address of a function's entry.
#[must_use]
pub fn entry_offset(address: &[u8]) -> Option<usize> {
    let at = find_short(address, b"+0x")?;
    let offset = address.get(at..)?;
    let is_entry = ENTRIES.iter().any(|entry| offset.starts_with(entry));
    is_entry.then_some(at)
}

/// `do_sys_open+0x0/0xd6 [mod]` is `do_sys_open`; an offset inside stays. Where a function returned from is
/// printed without offset: `do_sys_open [mod]`.
#[must_use]
pub fn function_of(address: &[u8]) -> &[u8] {
    let address = first_word(address);
    match entry_offset(address) {
        Some(at) => address.get(..at).unwrap_or(address),
        None => {
            let end = memchr::memchr(b'/', address).unwrap_or(address.len());
            address.get(..end).unwrap_or(address)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_wakeups_of_the_wakeup_tracers() {
        let found = tracer_text(b"        0:120:R   + [001]     286: 19:R cyclic test").unwrap();
        assert!(found.is_wakeup);
        assert_eq!((found.prev.pid, found.state), (0, &b"R"[..]));
        assert_eq!((found.next.pid, found.next.priority), (286, 19));
        assert_eq!((found.next.comm, found.cpu), (&b"cyclic test"[..], 1));
        let found = tracer_text(b"      96:120:S ==> [003]     286: -1:R cat").unwrap();
        assert!(!found.is_wakeup);
        assert_eq!((found.prev.pid, found.next.priority), (96, -1));
        assert!(tracer_text(b"do_idle <-cpu_startup [a] 1:2").is_none());
        assert!(tracer_text(b"1:2 ==> [0").is_none());
    }

    #[test]
    fn values_end_where_the_next_name_begins() {
        let text = b"comm=my prog pid=12 q=\"a b=c\" vec=1 [action=TIMER] x=";
        assert_eq!(field(text, b"comm"), Some(&b"my prog"[..]));
        assert_eq!(field(text, b"pid"), Some(&b"12"[..]));
        assert_eq!(field(text, b"q"), Some(&b"\"a b=c\""[..]));
        assert_eq!(number(field(text, b"vec").unwrap()), Some(1));
        assert_eq!(field(text, b"id"), None);
        assert_eq!(pairs(b"(a+0x0/0x1) p=1 q=two words r=0x3").len(), 3);
        assert!(pairs(b"no pairs here").is_empty());
    }

    #[test]
    fn switches_and_wakeups_of_both_writers() {
        let kernel = switch(b"prev_comm=recx prev_pid=27217 prev_prio=120 prev_state=R+ ==> next_comm=a b next_pid=2 next_prio=98").unwrap();
        assert_eq!((kernel.prev.pid, kernel.next.pid), (27217, 2));
        assert_eq!((kernel.next.comm, kernel.state), (&b"a b"[..], &b"R+"[..]));
        let short = switch(b"kworker/0:1:17 [120] W ==> swapper/0:0 [120]").unwrap();
        assert_eq!((short.prev.comm, short.prev.pid), (&b"kworker/0:1"[..], 17));
        assert_eq!(short.next.pid, 0);
        assert_eq!(end_state(short.state), EndState::Unknown);
        let raw = switch(b"prev_comm=bash prev_pid=0x60c8 (24776) prev_prio=0x78 (120) prev_state=0x100 (256) next_comm=a next_pid=0x6151 (24913) next_prio=0x78 (120)").unwrap();
        assert_eq!((raw.prev.pid, raw.next.priority), (24776, 120));
        assert_eq!(end_state(raw.state), EndState::Preempted);
        assert_eq!(raw_syscall(b"id=0x3b (59) ret=0x0 (0)"), Some(59));
        assert_eq!(raw_syscall(b"NR 59 = 0"), Some(59));
        let (task, cpu) = wakeup(b"rcu_preempt:15 [120] success=1 CPU:001").unwrap();
        assert_eq!((task.pid, cpu), (15, Some(1)));
        let (task, cpu) = wakeup(b"comm=recx pid=27218 prio=120 target_cpu=001").unwrap();
        assert_eq!((task.pid, cpu), (27218, Some(1)));
    }

    #[test]
    fn names_of_threads_hold_what_they_like() {
        for name in [
            "Web Content",
            "a=b",
            "x prev_pid=1",
            "x pid=7",
            "a ==> b",
            "kworker/u8:1-ev",
            "-:>",
            "a [1] b:2",
            "[120]",
            "a:1 [3] R ==> b",
            "",
        ] {
            let text = format!(
                "prev_comm={name} prev_pid=12 prev_prio=120 prev_state=S ==> next_comm={name} next_pid=13 next_prio=98"
            );
            let found = switch(text.as_bytes()).unwrap();
            assert_eq!(
                (found.prev.comm, found.prev.pid),
                (name.as_bytes(), 12),
                "{text}"
            );
            assert_eq!(
                (found.next.comm, found.next.pid),
                (name.as_bytes(), 13),
                "{text}"
            );
            assert_eq!(
                (found.state, found.next.priority),
                (&b"S"[..], 98),
                "{text}"
            );
            let values = pairs(text.as_bytes());
            assert_eq!(values.len(), 7, "{values:?}");
            let short = format!("{name}:12 [120] R+ ==> {name}:13 [98]");
            let found = switch(short.as_bytes()).unwrap();
            assert_eq!(
                (found.prev.comm, found.prev.pid),
                (name.as_bytes(), 12),
                "{short}"
            );
            assert_eq!(
                (found.next.comm, found.next.pid),
                (name.as_bytes(), 13),
                "{short}"
            );
            assert_eq!(found.state, b"R+");
            let woken = format!("comm={name} pid=12 prio=120 target_cpu=003");
            let (task, cpu) = wakeup(woken.as_bytes()).unwrap();
            assert_eq!((task.comm, task.pid, cpu), (name.as_bytes(), 12, Some(3)));
            let woken = format!("{name}:12 [120] success=1 CPU:003");
            let (task, cpu) = wakeup(woken.as_bytes()).unwrap();
            assert_eq!((task.comm, task.pid, cpu), (name.as_bytes(), 12, Some(3)));
            let fork = format!("comm={name} pid=12 child_comm={name} child_pid=13");
            assert_eq!(field(fork.as_bytes(), b"child_comm"), Some(name.as_bytes()));
            assert_eq!(
                (
                    pid(fork.as_bytes(), b"pid"),
                    pid(fork.as_bytes(), b"child_pid")
                ),
                (Some(12), Some(13))
            );
            let renamed = format!("pid=12 oldcomm={name} newcomm={name} oom_score_adj=0");
            assert_eq!(field(renamed.as_bytes(), b"newcomm"), Some(name.as_bytes()));
        }
        let exec = b"filename=/usr/bin/a b=c pid=1 pid=2233 old_pid=2234";
        assert_eq!(field(exec, b"filename"), Some(&b"/usr/bin/a b=c pid=1"[..]));
        assert_eq!(
            (pid(exec, b"pid"), pid(exec, b"old_pid")),
            (Some(2233), Some(2234))
        );
        let old = switch(b"task swapper:0 [140] (R) ==> kblockd/0:55 [115]").unwrap();
        assert_eq!(
            (old.prev.comm, old.state, old.next.pid),
            (&b"swapper"[..], &b"R"[..], 55)
        );
        let (task, cpu) = wakeup(b"task kblockd/0:55 [115] success=1 [002]").unwrap();
        assert_eq!((task.comm, task.pid, cpu), (&b"kblockd/0"[..], 55, Some(2)));
        assert_eq!(
            number(field(b"q=\"pid=3 x\" pid=4", b"pid").unwrap()),
            Some(4)
        );
    }

    #[test]
    fn arguments_end_where_the_next_name_begins() {
        let shown = |text: &str| {
            let found = arguments(text.as_bytes());
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let shown = found
                .iter()
                .map(|(name, value)| format!("{}={}", text(name), text(value)));
            shown.collect::<Vec<_>>().join("|")
        };
        assert_eq!(
            shown("fd: 7, buf: 0x7f, count: 0x200"),
            "fd=7|buf=0x7f|count=0x200"
        );
        assert_eq!(
            shown("fd: 1, buf: 0x55 (68 65, 6c) \"he, count: l\", count: 3"),
            "fd=1|buf=0x55 (68 65, 6c) \"he, count: l\"|count=3"
        );
        assert_eq!(
            shown("flags: O_RDONLY|O_CLOEXEC, mode: 0"),
            "flags=O_RDONLY|O_CLOEXEC|mode=0"
        );
        assert_eq!(shown("0x1, 0x2"), "=0x1|=0x2");
        assert_eq!(shown("name: \"unfinished, b: 3"), "name=\"unfinished, b: 3");
        assert_eq!(shown(""), "");
        assert_eq!(colon_pairs(b"noise:8\tmax_sample:6\thw:9").len(), 3);
        assert!(colon_pairs(b"hello world: 3").is_empty());
    }

    #[test]
    fn probes_of_both_writers() {
        assert_eq!(
            probe(b"(do_sys_open+0x0/0xd6) dfd=3"),
            Some(Probe::Entry(b"do_sys_open+0x0/0xd6"))
        );
        assert_eq!(
            probe(b"(sys_openat+0xc/0xe <- do_sys_open) $retval=1"),
            Some(Probe::Return(b"do_sys_open", b"sys_openat+0xc/0xe"))
        );
        assert_eq!(
            probe(b"(ffffffff8f963fa0 <- ffffffff8f96469a) arg1=0x4"),
            Some(Probe::Return(b"ffffffff8f963fa0", b"ffffffff8f96469a"))
        );
        assert_eq!(
            probe(b"(0x5620b09802b8 <- 0x5620b0980169) ret=0"),
            Some(Probe::Return(b"0x5620b0980169", b"0x5620b09802b8"))
        );
        assert_eq!(probe(b"(syscalls.sys_enter_openat) file=1"), None);
        assert_eq!(function_of(b"do_sys_open+0x0/0xd6"), b"do_sys_open");
        assert_eq!(function_of(b"do_sys_open+0x10/0xd6"), b"do_sys_open+0x10");
        assert_eq!(function_of(b"vfs_read+0x4/0x330"), b"vfs_read");
        assert_eq!(function_of(b"schedule+0x5/0xb0"), b"schedule+0x5");
        // In a module: both ends of a call have one key.
        assert_eq!(function_of(b"ext4_sync+0x0/0x10 [ext4]"), b"ext4_sync");
        assert_eq!(function_of(b"ext4_sync [ext4]"), b"ext4_sync");
    }
}
