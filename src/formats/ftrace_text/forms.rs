//! Fields of events whose text has a special form without `name=`: returns them with their names in binary traces.
//!
//! ```text
//! workqueue_execute_start: work struct 0000abc: function vmstat_update
//! ipi_entry: (Rescheduling interrupts)
//! clk_set_rate: osc 24000000            clock_set_rate: osc state=24000000 cpu_id=0
//! device_pm_callback_start: usb 1-1, parent: usb1, driver [suspend]
//! block_rq_issue: 8,0 WS 4096 () 1234 + 8 be,0,4 [dd]
//! ext4_da_write_begin: dev 8,1 ino 12 pos 0 len 5
//! ```
//!
//! The forms are those of `TP_printk` in the kernel's `include/trace/events`. In the corpus, 2 of 25 texts of kernels
//! contain block and ext4 events; of 241 reports of trace-cmd, 3 contain `hwlat` and 3 contain noise events (of one
//! recording each). `tests/cases` contains workqueue, noise and `timerlat` events. No recording of ours contains the
//! other forms.

use super::fields::field;
use crate::base::Leading;
use crate::base::leading::digits;
use crate::formats::ftrace_line::short::find_short;

/// Returns a field of event `event` by its name in a binary trace.
#[must_use]
pub(crate) fn field_of<'a>(event: &[u8], info: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if name.is_empty() {
        return None;
    }
    let fixed = || {
        let fields = fixed(event, info)?;
        let found = fields.into_iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    };
    field(info, name.as_bytes())
        .or_else(|| field(info, printed_as(name).as_bytes()))
        .or_else(fixed)
}

/// Returns the name that the kernel prints instead of a field's own name.
fn printed_as(name: &str) -> &str {
    match name {
        "func" => "function",
        "max_freq" => "max",
        "min_freq" => "min",
        "nr_dirty" => "dirty",
        name => name,
    }
}

type Fields<'a> = Vec<(&'static str, &'a [u8])>;

/// Returns all fields of an event with a special form; `None` if it has none, or if the text does not match it.
#[must_use]
pub(crate) fn fixed<'a>(event: &[u8], info: &'a [u8]) -> Option<Fields<'a>> {
    let info = info.trim_ascii();
    match event {
        _ if event.starts_with(b"workqueue_execute")
            || event.starts_with(b"workqueue_activate") =>
        {
            work(info)
        }
        b"ipi_entry" | b"ipi_exit" => {
            let reason = info.strip_prefix(b"(")?.strip_suffix(b")")?;
            Some(vec![("reason", reason)])
        }
        b"ipi_raise" => {
            let open = memchr::memrchr(b'(', info)?;
            let reason = info.get(open + 1..)?.strip_suffix(b")")?;
            let mask = field(info.get(..open)?, b"target_mask")?;
            Some(vec![("target_cpus", mask), ("reason", reason)])
        }
        _ if event.starts_with(b"clk_") => {
            let mut words = words(info);
            let name = words.next()?;
            let mut fields = vec![("name", name)];
            if event.ends_with(b"_rate") || event.ends_with(b"_rate_complete") {
                fields.push(("rate", words.next().filter(|word| is_number(word))?));
            }
            Some(fields)
        }
        b"clock_set_rate" | b"clock_enable" | b"clock_disable" => {
            let name = words(info).next().filter(|word| !word.contains(&b'='))?;
            let mut fields = vec![("name", name)];
            for name in ["state", "cpu_id"] {
                fields.extend(field(info, name.as_bytes()).map(|value| (name, value)));
            }
            Some(fields)
        }
        b"device_pm_callback_start" | b"device_pm_callback_end" => device(info),
        b"timerlat" | b"hwlat" | b"osnoise" => colons(info),
        b"thread_noise" | b"irq_noise" | b"softirq_noise" | b"nmi_noise" => noise(event, info),
        _ if event.starts_with(b"block_") => block(info),
        _ => None,
    }
}

/// Parses `seq:29 context:0 timer_latency:100979`: events of tracers in the form of binary traces.
fn colons(info: &[u8]) -> Option<Fields<'_>> {
    const NAMES: [(&[u8], &str); 11] = [
        (b"seq:", "seqnum"),
        (b"cnt:", "seqnum"),
        (b"context:", "context"),
        (b"timer_latency:", "timer_latency"),
        (b"inner:", "duration"),
        (b"outer:", "outer_duration"),
        (b"noise:", "noise"),
        (b"max_sample:", "max_sample"),
        (b"hw:", "hw_count"),
        (b"irq:", "irq_count"),
        (b"thread:", "thread_count"),
    ];
    let mut fields = Vec::new();
    for word in info.split(u8::is_ascii_whitespace) {
        for (start, name) in NAMES {
            let value = word.strip_prefix(start);
            // Some kernels print no space after the value: `outer:11522nmi-ts:0`.
            let digits = value.and_then(|value| value.get(..digits(value)?.length));
            fields.extend(digits.map(|digits| (name, digits)));
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// Parses `local_timer:236 start 89.520921872 duration 146943 ns` and `start 89.520921872 duration 146943 ns`.
fn noise<'a>(event: &[u8], info: &'a [u8]) -> Option<Fields<'a>> {
    let at = match info.starts_with(b"start ") {
        true => 0,
        false => memchr::memmem::rfind(info, b" start ")? + 1,
    };
    let who = info.get(..at)?.trim_ascii();
    let mut rest = words(info.get(at + 6..)?);
    let start = rest.next()?;
    let duration = rest.nth(1).filter(|word| is_number(word))?;
    let mut fields = Vec::new();
    if let Some(colon) = memchr::memrchr(b':', who) {
        let (name, number) = (who.get(..colon)?, who.get(colon + 1..)?);
        match event {
            b"thread_noise" => fields.extend([("comm", name), ("pid", number)]),
            b"irq_noise" => fields.extend([("desc", name), ("vector", number)]),
            _ => fields.push(("vector", number)),
        }
    }
    fields.extend([("start", start), ("duration", duration)]);
    Some(fields)
}

/// Converts `89.520921872` s, or an integer number of ns, to ns.
#[must_use]
pub(crate) fn seconds_or_ns(text: &[u8]) -> Option<i64> {
    let Leading {
        value: whole,
        length,
    } = digits(text)?;
    let whole = i64::try_from(whole).ok()?;
    let Some(fraction) = text.get(length..)?.strip_prefix(b".") else {
        return (length == text.len()).then_some(whole);
    };
    let Leading {
        value: part,
        length,
    } = digits(fraction).filter(|it| it.length <= 9)?;
    let scale = 10_i64.pow(9 - u32::try_from(length).ok()?);
    let ns = i64::try_from(part).ok()?.checked_mul(scale)?;
    whole.checked_mul(1_000_000_000)?.checked_add(ns)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
}

fn is_number(word: &[u8]) -> bool {
    digits(word).is_some_and(|it| it.length == word.len())
}

/// Parses `work struct 0000abc: function vmstat_update`; old kernels print the end without the function.
fn work(info: &[u8]) -> Option<Fields<'_>> {
    let rest = info.strip_prefix(b"work struct ")?;
    let Some(colon) = find_short(rest, b": function ") else {
        return Some(vec![("work", rest)]);
    };
    let function = words(rest.get(colon + 11..)?).next()?;
    Some(vec![("work", rest.get(..colon)?), ("function", function)])
}

/// Parses `usb 1-1, parent: usb1, driver [suspend]` and `usb 1-1, err=0`.
fn device(info: &[u8]) -> Option<Fields<'_>> {
    let comma = find_short(info, b", ")?;
    let head = info.get(..comma)?;
    let space = memchr::memchr(b' ', head)?;
    let mut fields = vec![
        ("driver", head.get(..space)?),
        ("device", head.get(space + 1..)?),
    ];
    let rest = info.get(comma + 2..)?;
    if let Some(error) = rest.strip_prefix(b"err=") {
        fields.push(("error", error));
    } else if let Some(rest) = rest.strip_prefix(b"parent: ") {
        let comma = find_short(rest, b", ")?;
        let ops = rest.get(comma + 2..)?;
        let open = memchr::memrchr(b'[', ops)?;
        fields.push(("parent", rest.get(..comma)?));
        fields.push(("pm_ops", ops.get(..open)?.trim_ascii()));
        fields.push(("event", ops.get(open + 1..)?.strip_suffix(b"]")?));
    }
    Some(fields)
}

/// Parses `8,0 WS 4096 () 1234 + 8 be,0,4 [dd]`; some events lack bytes, command, priority or thread name.
fn block(info: &[u8]) -> Option<Fields<'_>> {
    let device = words(info).next()?;
    let comma = memchr::memchr(b',', device)?;
    if !is_number(device.get(..comma)?) || !is_number(device.get(comma + 1..)?) {
        return None;
    }
    let rest = info.get(device.len()..)?.trim_ascii_start();
    let kind = words(rest).next().filter(|word| !word.contains(&b'='))?;
    let mut fields = vec![("dev", device), ("rwbs", kind)];
    let mut rest = rest.get(kind.len()..)?.trim_ascii_start();
    let is_complete = rest.first() == Some(&b'(');
    if let Some(open) = memchr::memchr(b'(', rest)
        && let bytes = rest.get(..open)?.trim_ascii()
        && (bytes.is_empty() || is_number(bytes))
    {
        if !bytes.is_empty() {
            fields.push(("bytes", bytes));
        }
        let inner = rest.get(open + 1..)?;
        let close = memchr::memchr(b')', inner)?;
        fields.push(("cmd", inner.get(..close)?));
        rest = inner.get(close + 1..)?.trim_ascii_start();
    }
    let mut left = words(rest);
    fields.push(("sector", left.next().filter(|word| is_number(word))?));
    if left.next() == Some(b"+") {
        fields.push(("nr_sector", left.next().filter(|word| is_number(word))?));
    }
    // A name may contain spaces: it ends at the last bracket of the line.
    if let Some(open) = memchr::memchr(b'[', rest) {
        let who = rest.get(open + 1..)?;
        let close = memchr::memrchr(b']', who)?;
        let name = if is_complete { "error" } else { "comm" };
        fields.push((name, who.get(..close)?));
    }
    Some(fields)
}

/// Parses `dev 8,1 ino 12 pos 0`: alternating names and values, as file systems print them, up to a word in another
/// form.
#[must_use]
pub(crate) fn word_pairs(info: &[u8]) -> Vec<(&[u8], &[u8])> {
    const MOST: usize = 64;
    let is_name = |word: &[u8]| {
        word.first().is_some_and(u8::is_ascii_lowercase)
            && word.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_')
    };
    let is_value = |word: &[u8]| {
        let word = word.strip_prefix(b"-").unwrap_or(word);
        word.first().is_some_and(u8::is_ascii_digit)
    };
    let mut found = Vec::new();
    let mut words = words(info);
    while let (Some(name), Some(value)) = (words.next(), words.next()) {
        let value = value.strip_suffix(b",").unwrap_or(value);
        if !is_name(name) || !is_value(value) || found.len() == MOST {
            break;
        }
        found.push((name, value));
    }
    if found.len() < 2 {
        found.clear();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(event: &str, info: &str) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found = fixed(event.as_bytes(), info.as_bytes()).unwrap_or_default();
        let shown = found
            .iter()
            .map(|(name, value)| format!("{name}={}", text(value)));
        shown.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn forms_of_events_have_the_fields_of_binary_ones() {
        for (event, info, wanted) in [
            (
                "workqueue_execute_start",
                "work struct 0000abc: function vmstat_update",
                "work=0000abc|function=vmstat_update",
            ),
            (
                "workqueue_execute_end",
                "work struct 0000abc",
                "work=0000abc",
            ),
            (
                "ipi_entry",
                "(Rescheduling interrupts)",
                "reason=Rescheduling interrupts",
            ),
            (
                "irq_noise",
                "local_timer:236 start 89.520921872 duration 146943 ns",
                "desc=local_timer|vector=236|start=89.520921872|duration=146943",
            ),
            (
                "thread_noise",
                "kworker/0:1:11 start 1.000000002 duration 3 ns",
                "comm=kworker/0:1|pid=11|start=1.000000002|duration=3",
            ),
            (
                "nmi_noise",
                "start 1.000000002 duration 3 ns",
                "start=1.000000002|duration=3",
            ),
            (
                "hwlat",
                "cnt:1\tts:1795229611.0089982160\tinner:1739\touter:5761nmi-ts:0",
                "seqnum=1|duration=1739|outer_duration=5761",
            ),
            ("clk_set_rate", "osc 24000000", "name=osc|rate=24000000"),
            ("clk_enable", "osc", "name=osc"),
            (
                "clock_set_rate",
                "osc state=24 cpu_id=0",
                "name=osc|state=24|cpu_id=0",
            ),
            (
                "device_pm_callback_start",
                "usb 1-1, parent: usb1, driver [suspend]",
                "driver=usb|device=1-1|parent=usb1|pm_ops=driver|event=suspend",
            ),
            (
                "device_pm_callback_end",
                "usb 1-1, err=0",
                "driver=usb|device=1-1|error=0",
            ),
            (
                "block_rq_issue",
                "8,0 WS 4096 () 1234 + 8 be,0,4 [my dd]",
                "dev=8,0|rwbs=WS|bytes=4096|cmd=|sector=1234|nr_sector=8|comm=my dd",
            ),
            (
                "block_rq_complete",
                "8,0 WS () 1234 + 8 [0]",
                "dev=8,0|rwbs=WS|cmd=|sector=1234|nr_sector=8|error=0",
            ),
            (
                "block_bio_queue",
                "8,0 R 1234 + 8 [dd]",
                "dev=8,0|rwbs=R|sector=1234|nr_sector=8|comm=dd",
            ),
            ("block_touch_buffer", "8,0 sector=12 size=4096", ""),
            ("block_plug", "[dd]", ""),
            ("ipi_entry", "hello", ""),
        ] {
            assert_eq!(shown(event, info), wanted, "{event}: {info}");
        }
        assert_eq!(
            field_of(b"cpu_frequency_limits", b"min=1 max=2 cpu_id=0", "max_freq"),
            Some(&b"2"[..])
        );
        assert_eq!(
            field_of(b"tasklet_entry", b"tasklet=0 function=f", "func"),
            Some(&b"f"[..])
        );
        let pairs = word_pairs(b"dev 8,1 ino 12 pos 0 len 5, flags DELALLOC more");
        assert_eq!(pairs.len(), 4);
        assert_eq!(pairs[3], (&b"len"[..], &b"5"[..]));
        assert!(word_pairs(b"Start context switch").is_empty());
        assert!(word_pairs(b"after 3").is_empty());
    }
}
