//! Kernel events that contain values of counters. **To add a counter, add a row to [`COUNTERS`].**

/// A kernel event that contains the value of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// The event, as `system:event`.
    pub event: &'static str,
    /// The counter track's name.
    pub name: &'static str,
    /// The field with the value.
    pub value: &'static str,
    /// The field with the counter's CPU; empty: the counter belongs to the whole machine.
    pub cpu: &'static str,
    /// A field whose text or number is added to the name; empty: none.
    pub label: &'static str,
}

/// Value of [`Counter::cpu`]: the counter belongs to the CPU that the event happened on.
pub(crate) const OWN_CPU: &str = "(own)";

/// The counters. Readers change `cpu_idle`'s value 4294967295 ("not idle") to -1, which the kernel means.
pub(crate) const COUNTERS: &[Counter] = &[
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
    Counter {
        event: "ftrace:timerlat",
        name: "timer latency (ns)",
        value: "timer_latency",
        cpu: OWN_CPU,
        label: "context",
    },
    Counter {
        event: "ftrace:hwlat",
        name: "hardware latency, inner (us)",
        value: "duration",
        cpu: OWN_CPU,
        label: "",
    },
    Counter {
        event: "ftrace:hwlat",
        name: "hardware latency, outer (us)",
        value: "outer_duration",
        cpu: OWN_CPU,
        label: "",
    },
    Counter {
        event: "ftrace:osnoise",
        name: "noise in a period (us)",
        value: "noise",
        cpu: OWN_CPU,
        label: "",
    },
    Counter {
        event: "ftrace:osnoise",
        name: "longest noise in a period (us)",
        value: "max_sample",
        cpu: OWN_CPU,
        label: "",
    },
];

/// Returns the rows of [`COUNTERS`] for `system:event`, which are adjacent.
#[must_use]
pub(crate) fn find_counters(system: &str, event: &str) -> &'static [Counter] {
    let is_its = |row: &Counter| row.event.split_once(':') == Some((system, event));
    let first = COUNTERS.iter().position(is_its).unwrap_or(COUNTERS.len());
    let (_, rows) = COUNTERS.split_at(first);
    let count = rows.iter().take_while(|row| is_its(row)).count();
    rows.split_at(count).0
}

/// Returns the text that is added to a counter's name for the text of its label field: timerlat numbers its contexts.
#[must_use]
pub(crate) fn label_word<'a>(row: &Counter, label: &'a str) -> &'a str {
    match (row.event, label) {
        ("ftrace:timerlat", "0") => "irq",
        ("ftrace:timerlat", "1") => "thread",
        ("ftrace:timerlat", "2") => "user",
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_find_their_counters() {
        assert_eq!(find_counters("power", "cpu_idle").len(), 1);
        assert_eq!(find_counters("ftrace", "hwlat").len(), 2);
        assert!(find_counters("ftrace", "print").is_empty());
    }
}
