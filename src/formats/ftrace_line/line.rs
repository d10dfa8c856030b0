//! Classifies lines without columns, and the bodies of lines with columns.
//!
//! ```text
//! CPU:n [LOST m EVENTS]    CPU:n [m EVENTS DROPPED]    CPU:n [LOST EVENTS]    lost before the next line of that CPU
//!  => symbol                                                                  a stack frame of the line before
//! ```

use super::prefix::{MOST_CPU, split_prefix, without_console_time};
use super::short::find_short;
use crate::base::Leading;
use crate::base::leading::digits;
use crate::formats::atrace::may_be_mark;

/// Kind of a line without columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// A comment, a header, or an empty line.
    Silent,
    /// A stack frame.
    Frame,
    /// Events of this CPU were lost; with their count, if printed.
    Lost(u32, Option<u64>),
    /// The events of this CPU begin here, and some before them were overwritten.
    Started(u32),
    /// Anything else.
    Text,
}

/// Returns the kind of a line without columns.
#[must_use]
pub(crate) fn plain(line: &[u8]) -> Plain {
    let text = without_console_time(line).trim_ascii();
    if text.is_empty() || text.starts_with(b"#") || is_header(text) {
        return started(text).map_or(Plain::Silent, Plain::Started);
    }
    if text.starts_with(b"=> ") || text == b"=>" {
        return Plain::Frame;
    }
    lost(text).unwrap_or(Plain::Text)
}

/// Returns whether trace-cmd prints the line before the first event: for one file, for several files (`NAME: cpus=2`),
/// for pairs of events (`start (null):sched_wakeup:pid ((null)) end (null):sched_switch:next_pid ((null))`), or as a
/// separator.
fn is_header(text: &[u8]) -> bool {
    let is_number = |text: &[u8]| {
        digits(text.trim_ascii()).is_some_and(|it| it.length == text.trim_ascii().len())
    };
    let of_cpus = |text: &[u8]| text.strip_prefix(b"cpus=").is_some_and(is_number);
    let behind_name = || {
        text.rsplitn(2, |byte| *byte == b' ')
            .next()
            .is_some_and(of_cpus)
    };
    let is_empty_cpu = || {
        let cpu = text.strip_prefix(b"CPU ")?.strip_suffix(b" is empty")?;
        Some(is_number(cpu))
    };
    // `report -w` prints these lines after the last event.
    let of_wakeups = [
        &b"Average wakeup latency: "[..],
        b"Maximum Latency: ",
        b"Minimum Latency: ",
        b"RT task timings:",
    ];
    let is_hook = text.starts_with(b"start ") && text.ends_with(b")");
    of_cpus(text)
        || of_wakeups.iter().any(|start| text.starts_with(start))
        || (is_hook && memchr::memmem::find(text, b") end ").is_some())
        || text.strip_prefix(b"version = ").is_some_and(is_number)
        || is_empty_cpu() == Some(true)
        || (memchr::memmem::find(text, b": cpus=").is_some() && behind_name())
        || (text.len() >= 10 && text.iter().all(|byte| *byte == b'-'))
}

/// Returns the CPU in `##### CPU 1 buffer started ####`, which the kernel prints if events were overwritten.
fn started(text: &[u8]) -> Option<u32> {
    let rest = text.strip_prefix(b"##### CPU ")?;
    let Leading { value: cpu, length } = digits(rest)?;
    let is_it = rest.get(length..)?.starts_with(b" buffer started ");
    u32::try_from(cpu)
        .ok()
        .filter(|&cpu| is_it && cpu < MOST_CPU)
}

fn lost(text: &[u8]) -> Option<Plain> {
    // An instance's name may precede it. The text of a mark, without columns, may look the same.
    let text = match find_short(text, b": CPU:") {
        Some(at) if is_mark_name(text.get(..at)?) => return None,
        Some(at) => text.get(at + 2..)?,
        None => text,
    };
    let rest = text.strip_prefix(b"CPU:")?;
    let Leading { value: cpu, length } = digits(rest)?;
    let cpu = u32::try_from(cpu).ok().filter(|&cpu| cpu < MOST_CPU)?;
    let inner = rest
        .get(length..)?
        .trim_ascii()
        .strip_prefix(b"[")?
        .strip_suffix(b"]")?;
    let is_lost = inner.starts_with(b"LOST") || inner.ends_with(b"EVENTS DROPPED");
    let number = inner.strip_prefix(b"LOST ").unwrap_or(inner);
    is_lost.then(|| Plain::Lost(cpu, digits(number).map(|count| count.value)))
}

/// Returns whether an event name is that of a written text; an offset or an address may follow the name.
pub(crate) fn is_mark_name(name: &[u8]) -> bool {
    name.starts_with(b"tracing_mark_write") || matches!(name, b"print" | b"bprint" | b"bputs")
}

/// Contents of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body<'a> {
    /// `name: info`.
    Event(&'a [u8], &'a [u8]),
    /// `sys_NAME(...)`, the kernel's form of sys_enter_NAME: name and arguments.
    SysEnter(&'a [u8], &'a [u8]),
    /// `sys_NAME -> 0x0`: name and result.
    SysExit(&'a [u8], &'a [u8]),
    /// `function <-caller`.
    Function(&'a [u8], &'a [u8]),
    /// `<stack trace>`; stack frames follow.
    Stack(&'a [u8]),
    /// Anything else.
    Text,
}

/// Maximum length of an event's name, in bytes.
const MOST_NAME: usize = 100;

/// Whether each byte may be in a name.
const IN_NAMES: [bool; 256] = {
    let mut all = [false; 256];
    let mut byte = 0_u8;
    loop {
        all[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'$');
        if byte == u8::MAX {
            break all;
        }
        byte += 1;
    }
};

/// Returns the contents of a body.
#[must_use]
#[inline]
pub(crate) fn classify(body: &[u8]) -> Body<'_> {
    let text = body.trim_ascii_start();
    let near = text.get(..MOST_NAME).unwrap_or(text);
    let is_over = |byte: &u8| !IN_NAMES[usize::from(*byte)];
    let length = near.iter().position(is_over).unwrap_or(near.len());
    let (name, rest) = text.split_at(length);
    let starts_well = match name.first() {
        Some(b'0'..=b'9') => starts_with_digit(name),
        Some(first) => first.is_ascii_alphabetic() || *first == b'_',
        None => false,
    };
    // A function's name cannot start with a digit.
    let is_symbol = starts_well && !name.first().is_some_and(u8::is_ascii_digit);
    match rest {
        [b':', info @ ..] if starts_well && matches!(info.first(), None | Some(b' ')) => {
            Body::Event(name, info.trim_ascii_start())
        }
        // The function that wrote the mark is printed as an address, without a name.
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
        // A name alone: the function tracer without callers.
        rest if is_symbol && rest.trim_ascii().is_empty() => Body::Function(name, b""),
        [b'+', b'0', b'x', ..] if is_symbol => symbol_body(name, text),
        _ => match find_short(text, b"<-")
            .filter(|&at| text.get(..at).is_some_and(|name| name.ends_with(b" ")))
        {
            Some(at) if is_symbol && at > 0 => Body::Function(
                text.get(..at).unwrap_or(&[]).trim_ascii(),
                text.get(at + 2..).unwrap_or(&[]).trim_ascii(),
            ),
            _ => Body::Text,
        },
    }
}

/// Splits `ksys_read (repeats: 4, last_ts:   69.626111)`, for repeated calls, into the caller and the count.
#[must_use]
pub(crate) fn repeats(caller: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::find(caller, b" (repeats: ")?;
    let rest = caller.get(at + 11..)?;
    let count = rest.get(..digits(rest)?.length)?;
    Some((caller.get(..at)?, count))
}

/// Splits `vfs_read(fd=3)` of a function tracer with arguments into the name and the text between the parentheses.
#[must_use]
pub(crate) fn split_arguments(function: &[u8]) -> (&[u8], Option<&[u8]>) {
    let found = || {
        let open = memchr::memchr(b'(', function)?;
        let inner = function.get(open + 1..)?.strip_suffix(b")")?;
        Some((function.get(..open)?, Some(inner)))
    };
    found().unwrap_or((function, None))
}

/// Returns whether a name that starts with a digit, such as `9p_client_req`, is a name and not a number or an address.
fn starts_with_digit(name: &[u8]) -> bool {
    let is_word = name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let is_hex = |text: &[u8]| text.iter().all(u8::is_ascii_hexdigit);
    is_word && !is_hex(name) && !name.strip_prefix(b"0x").is_some_and(is_hex)
}

/// Returns whether the text in place of a name is `0` or an address like `0xffffffff81498b1a`.
fn is_address(name: &[u8]) -> bool {
    let digits = name.strip_prefix(b"0x").unwrap_or(b"0");
    (name == b"0" || name.starts_with(b"0x")) && digits.iter().all(u8::is_ascii_hexdigit)
}

/// Parses `tracing_mark_write+0x8a/0x170 <ffffffff81498b1a>: text` and similar: names with offsets and addresses.
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

/// Returns whether a line is an event in the columns of the kernel or of trace-cmd.
#[must_use]
pub(crate) fn is_event_line(line: &[u8]) -> bool {
    split_prefix(line)
        .is_some_and(|prefix| !matches!(classify(prefix.body), Body::Text | Body::Stack(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_columns() {
        assert_eq!(plain(b"# tracer: nop"), Plain::Silent);
        assert_eq!(plain(b"##### CPU 3 buffer started ####"), Plain::Started(3));
        assert_eq!(plain(b" => schedule"), Plain::Frame);
        assert_eq!(plain(b"CPU:1 [LOST 45 EVENTS]"), Plain::Lost(1, Some(45)));
        assert_eq!(
            plain(b"CPU:0 [3285 EVENTS DROPPED]"),
            Plain::Lost(0, Some(3285))
        );
        assert_eq!(plain(b"CPU:0 [EVENTS DROPPED]"), Plain::Lost(0, None));
        assert_eq!(plain(b"CPU:0 [LOST EVENTS]"), Plain::Lost(0, None));
        assert_eq!(
            plain(b"irqs: CPU:0 [7 EVENTS DROPPED]"),
            Plain::Lost(0, Some(7))
        );
        assert_eq!(
            plain(b"tracing_mark_write: CPU:0 [LOST 5 EVENTS]"),
            Plain::Text
        );
        for header in [
            &b"version = 6"[..],
            b"CPU 1 is empty",
            b"cpus=4",
            b"   a.dat: cpus=2",
            b"------------------------------------------",
            b"\0\0\0",
        ] {
            assert_eq!(plain(header), Plain::Silent);
        }
        for text in [
            &b"hello"[..],
            b"version = x",
            b"CPU is empty",
            b"----",
            b"cpus=a",
        ] {
            assert_eq!(plain(text), Plain::Text);
        }
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
            classify(b"9p_client_req: client 1"),
            Body::Event(b"9p_client_req", b"client 1")
        );
        for number in [&b"12ab: x"[..], b"0x12: x", b"8,0: x", b"1.5: x"] {
            assert_eq!(classify(number), Body::Text);
        }
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
