//! The table of kernel events that belong together: which pairs become slices, which events become
//! counters. Readers of kernel events (trace.dat, ftrace text) look their events up here; `build` only
//! sees families. **To add a pair, add a row to [`PAIRS`]; to add a counter, a row to [`COUNTERS`].**
//!
//! kprobe and uprobe pairs are not rows, because users name them: an event whose format has `__probe_ip`
//! is an entry, one with `__probe_func` a return, and both carry the function's address as label key.

/// A kind of slice: where it lies and how its ends find their begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// For diagnostics and filters.
    pub name: &'static str,
    /// The track of its slices.
    pub place: Place,
    /// How an end finds its begin.
    pub matching: Matching,
    /// What becomes of a begin that never ends.
    pub open: OpenBegin,
}

/// The track that a slice lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The thread of its begin.
    Thread,
    /// The CPU it happened on.
    Cpu,
}

/// How an end finds its begin, among the open begins of its family on its track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// It closes the innermost one whose label key is equal; begins above it have lost their ends.
    ByKey,
    /// It closes the innermost one, whatever it is called.
    Innermost,
    /// There is only ever one: it closes the one that is open if the key is equal, or if its own key is
    /// [`ANY_KEY`]; a begin while one is open shows that the end of that one was lost.
    OneAtATime,
}

/// The key of an end that says nothing: a system call whose registers were replaced ends as number -1.
pub const ANY_KEY: u64 = u64::MAX;

/// What becomes of a begin that found no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenBegin {
    /// A slice that lasts to the trace's end, marked unfinished, if it was still open there;
    /// an instant if another end showed that its own was lost.
    Unfinished,
    /// An instant: the begin alone says nothing of a duration.
    Instant,
}

/// All families. A label's `family` is an index into this table; the constants below name the rows.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "durations",
        place: Place::Thread,
        matching: Matching::Innermost,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "syscalls",
        place: Place::Thread,
        matching: Matching::OneAtATime,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "functions",
        place: Place::Thread,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "kprobes",
        place: Place::Thread,
        matching: Matching::ByKey,
        open: OpenBegin::Instant,
    },
    Family {
        name: "uprobes",
        place: Place::Thread,
        matching: Matching::ByKey,
        open: OpenBegin::Instant,
    },
    Family {
        name: "irqs",
        place: Place::Cpu,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "softirqs",
        place: Place::Cpu,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "vectors",
        place: Place::Cpu,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "timers",
        place: Place::Cpu,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "work",
        place: Place::Thread,
        matching: Matching::ByKey,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "pairs",
        place: Place::Thread,
        matching: Matching::ByKey,
        open: OpenBegin::Instant,
    },
    Family {
        name: "programs",
        place: Place::Thread,
        matching: Matching::Innermost,
        open: OpenBegin::Unfinished,
    },
    Family {
        name: "cpu pairs",
        place: Place::Cpu,
        matching: Matching::ByKey,
        open: OpenBegin::Instant,
    },
];

/// Durations that the file itself calls so (FXT, atrace marks).
pub const DURATIONS: u8 = 0;
/// System calls.
pub const SYSCALLS: u8 = 1;
/// The function graph tracer.
pub const FUNCTIONS: u8 = 2;
/// kprobe to kretprobe of the same function.
pub const KPROBES: u8 = 3;
/// uprobe to uretprobe of the same function.
pub const UPROBES: u8 = 4;
/// Interrupt handlers.
pub const IRQS: u8 = 5;
/// Soft interrupts and tasklets.
pub const SOFTIRQS: u8 = 6;
/// Interrupt vectors and IPIs.
pub const VECTORS: u8 = 7;
/// Timer callbacks.
pub const TIMERS: u8 = 8;
/// Work items.
pub const WORK: u8 = 9;
/// Other pairs by naming convention.
pub const PAIRED: u8 = 10;
/// Program images between execs.
pub const PROGRAMS: u8 = 11;
/// Other pairs that happen on a CPU.
pub const CPU_PAIRED: u8 = 12;

/// Two kernel events that are the ends of one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Row of [`FAMILIES`].
    pub family: u8,
    /// `system:event` that begins it; one `*` stands for any text, which both names then share.
    pub begin: &'static str,
    /// `system:event` that ends it.
    pub end: &'static str,
    /// The field, in both events, that tells concurrent ones apart; empty: the shared text of the names.
    pub key: &'static str,
    /// What the slice is called.
    pub name: PairName,
}

/// What a pair's slice is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairName {
    /// What the `*` of the event's name stands for, or the name up to its ending.
    Stem,
    /// The text of a field of the begin.
    Text(&'static str),
    /// The symbol at the address in a field of the begin.
    Symbol(&'static str),
    /// The name of the system call whose number is in a field.
    Syscall(&'static str),
    /// The word for the number in a field.
    Word(&'static str, &'static [&'static str]),
}

/// The soft interrupts by number (include/linux/interrupt.h).
pub const SOFTIRQ_NAMES: &[&str] = &[
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// The pairs, most particular first: the first row that fits an event's name is taken.
pub const PAIRS: &[Pair] = &[
    Pair {
        family: SYSCALLS,
        begin: "raw_syscalls:sys_enter",
        end: "raw_syscalls:sys_exit",
        key: "id",
        name: PairName::Syscall("id"),
    },
    Pair {
        family: SYSCALLS,
        begin: "syscalls:sys_enter_*",
        end: "syscalls:sys_exit_*",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: IRQS,
        begin: "irq:irq_handler_entry",
        end: "irq:irq_handler_exit",
        key: "irq",
        name: PairName::Text("name"),
    },
    Pair {
        family: SOFTIRQS,
        begin: "irq:softirq_entry",
        end: "irq:softirq_exit",
        key: "vec",
        name: PairName::Word("vec", SOFTIRQ_NAMES),
    },
    Pair {
        family: SOFTIRQS,
        begin: "irq:tasklet_entry",
        end: "irq:tasklet_exit",
        key: "tasklet",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: SOFTIRQS,
        begin: "irq:tasklet_hi_entry",
        end: "irq:tasklet_hi_exit",
        key: "tasklet",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: VECTORS,
        begin: "ipi:ipi_entry",
        end: "ipi:ipi_exit",
        key: "",
        name: PairName::Text("reason"),
    },
    Pair {
        family: VECTORS,
        begin: "irq_vectors:*_entry",
        end: "irq_vectors:*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: FUNCTIONS,
        begin: "ftrace:funcgraph_entry",
        end: "ftrace:funcgraph_exit",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: FUNCTIONS,
        begin: "ftrace:funcgraph_retaddr_entry",
        end: "ftrace:funcgraph_exit",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: WORK,
        begin: "workqueue:workqueue_execute_start",
        end: "workqueue:workqueue_execute_end",
        key: "work",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: TIMERS,
        begin: "timer:hrtimer_expire_entry",
        end: "timer:hrtimer_expire_exit",
        key: "hrtimer",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: TIMERS,
        begin: "timer:timer_expire_entry",
        end: "timer:timer_expire_exit",
        key: "timer",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: CPU_PAIRED,
        begin: "napi:*_entry",
        end: "napi:*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: CPU_PAIRED,
        begin: "power:device_pm_callback_start",
        end: "power:device_pm_callback_end",
        key: "device",
        name: PairName::Text("device"),
    },
    Pair {
        family: CPU_PAIRED,
        begin: "cpuhp:cpuhp_enter",
        end: "cpuhp:cpuhp_exit",
        key: "cpu",
        name: PairName::Stem,
    },
    Pair {
        family: PAIRED,
        begin: "exceptions:page_fault_*_entry",
        end: "exceptions:page_fault_*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: PAIRED,
        begin: "kvm:kvm_entry",
        end: "kvm:kvm_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: PAIRED,
        begin: "*_entry",
        end: "*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: PAIRED,
        begin: "*_enter",
        end: "*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: PAIRED,
        begin: "*_begin",
        end: "*_end",
        key: "",
        name: PairName::Stem,
    },
];

/// Two kernel events that are the ends of an asynchronous slice, on tracks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncPair {
    /// Name of the group of tracks.
    pub group: &'static str,
    /// `system:event` that begins it.
    pub begin: &'static str,
    /// `system:event` that ends it.
    pub end: &'static str,
    /// The fields, in both events, that make its id.
    pub keys: &'static [&'static str],
    /// The field of the begin that names it.
    pub name: &'static str,
}

/// Operations that begin on one thread and end on another.
pub const ASYNC_PAIRS: &[AsyncPair] = &[AsyncPair {
    group: "block requests",
    begin: "block:block_rq_issue",
    end: "block:block_rq_complete",
    keys: &["dev", "sector"],
    name: "rwbs",
}];

/// A kernel event that carries the value of something numeric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// `system:event`.
    pub event: &'static str,
    /// What the track is called.
    pub name: &'static str,
    /// The field with the value.
    pub value: &'static str,
    /// The field with the CPU it is of; empty: it is the whole machine's.
    pub cpu: &'static str,
    /// A field whose text or number is added to the name; empty: none.
    pub label: &'static str,
}

/// The counters. `cpu_idle`'s 4294967295 ("not idle") is shown as -1 by its readers, as the kernel means it.
pub const COUNTERS: &[Counter] = &[
    Counter {
        event: "power:cpu_frequency",
        name: "frequency (kHz)",
        value: "state",
        cpu: "cpu_id",
        label: "",
    },
    Counter {
        event: "power:cpu_idle",
        name: "idle state",
        value: "state",
        cpu: "cpu_id",
        label: "",
    },
    Counter {
        event: "power:cpu_frequency_limits",
        name: "max frequency (kHz)",
        value: "max_freq",
        cpu: "cpu_id",
        label: "",
    },
    Counter {
        event: "power:clock_set_rate",
        name: "clock",
        value: "state",
        cpu: "",
        label: "name",
    },
    Counter {
        event: "power:clock_enable",
        name: "clock on",
        value: "state",
        cpu: "",
        label: "name",
    },
    Counter {
        event: "power:clock_disable",
        name: "clock on",
        value: "state",
        cpu: "",
        label: "name",
    },
    Counter {
        event: "clk:clk_set_rate",
        name: "clock",
        value: "rate",
        cpu: "",
        label: "name",
    },
    Counter {
        event: "thermal:thermal_temperature",
        name: "temperature (m°C)",
        value: "temp",
        cpu: "",
        label: "thermal_zone",
    },
    Counter {
        event: "thermal:cdev_update",
        name: "cooling state",
        value: "target",
        cpu: "",
        label: "type",
    },
    Counter {
        event: "sched:sched_load_cfs_rq",
        name: "cfs load",
        value: "load",
        cpu: "cpu",
        label: "",
    },
    Counter {
        event: "sched:sched_cpu_capacity",
        name: "capacity",
        value: "capacity",
        cpu: "cpu",
        label: "",
    },
    Counter {
        event: "writeback:global_dirty_state",
        name: "dirty pages",
        value: "nr_dirty",
        cpu: "",
        label: "",
    },
];

/// Which end of a pair an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairEnd {
    /// The begin.
    Begin,
    /// The end.
    End,
}

/// The row and the end that `system:event` is, and the text that the row's `*` stands for (else the name
/// of the event without its ending).
#[must_use]
pub fn find_pair<'a>(system: &str, event: &'a str) -> Option<(&'static Pair, PairEnd, &'a str)> {
    PAIRS.iter().find_map(|pair| {
        if let Some(stem) = match_pattern(pair.begin, system, event) {
            Some((pair, PairEnd::Begin, stem))
        } else {
            match_pattern(pair.end, system, event).map(|stem| (pair, PairEnd::End, stem))
        }
    })
}

/// The text that the pattern's `*` stands for in `event` (the whole name if there is no `*`).
fn match_pattern<'a>(pattern: &str, system: &str, event: &'a str) -> Option<&'a str> {
    let name = match pattern.split_once(':') {
        Some((wanted, name)) if wanted == system => name,
        Some(_) => return None,
        None => pattern,
    };
    match name.split_once('*') {
        Some((before, after)) => event
            .strip_prefix(before)?
            .strip_suffix(after)
            .filter(|stem| !stem.is_empty()),
        None => (name == event).then(|| strip_ending(event)),
    }
}

fn strip_ending(event: &str) -> &str {
    for ending in ["_entry", "_exit", "_enter", "_begin", "_end", "_start"] {
        if let Some(stem) = event.strip_suffix(ending) {
            return stem;
        }
    }
    event
}

/// The row of [`COUNTERS`] for `system:event`.
#[must_use]
pub fn find_counter(system: &str, event: &str) -> Option<&'static Counter> {
    COUNTERS
        .iter()
        .find(|row| row.event.split_once(':') == Some((system, event)))
}

/// The row of [`ASYNC_PAIRS`] and the end that `system:event` is.
#[must_use]
pub fn find_async_pair(system: &str, event: &str) -> Option<(&'static AsyncPair, PairEnd)> {
    let is = |pattern: &str| pattern.split_once(':') == Some((system, event));
    ASYNC_PAIRS.iter().find_map(|pair| {
        if is(pair.begin) {
            Some((pair, PairEnd::Begin))
        } else {
            is(pair.end).then_some((pair, PairEnd::End))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_find_their_rows() {
        let (pair, end, stem) = find_pair("syscalls", "sys_enter_openat").unwrap();
        assert_eq!(
            (pair.family, end, stem),
            (SYSCALLS, PairEnd::Begin, "openat")
        );
        let (pair, end, stem) = find_pair("irq_vectors", "local_timer_exit").unwrap();
        assert_eq!(
            (pair.family, end, stem),
            (VECTORS, PairEnd::End, "local_timer")
        );
        let (pair, end, stem) = find_pair("ext4", "ext4_sync_file_enter").unwrap();
        assert_eq!(
            (pair.family, end, stem),
            (PAIRED, PairEnd::Begin, "ext4_sync_file")
        );
        assert!(find_pair("sched", "sched_switch").is_none());
        assert!(find_counter("power", "cpu_idle").is_some());
        assert_eq!(
            find_async_pair("block", "block_rq_complete").map(|(_, end)| end),
            Some(PairEnd::End)
        );
    }

    #[test]
    fn family_constants_name_their_rows() {
        for (constant, name) in [
            (DURATIONS, "durations"),
            (SYSCALLS, "syscalls"),
            (FUNCTIONS, "functions"),
            (KPROBES, "kprobes"),
            (UPROBES, "uprobes"),
            (IRQS, "irqs"),
            (SOFTIRQS, "softirqs"),
            (VECTORS, "vectors"),
            (TIMERS, "timers"),
            (WORK, "work"),
            (PAIRED, "pairs"),
            (PROGRAMS, "programs"),
            (CPU_PAIRED, "cpu pairs"),
        ] {
            assert_eq!(FAMILIES[usize::from(constant)].name, name);
        }
    }
}
