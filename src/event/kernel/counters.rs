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
    /// The meaning of the values and labels.
    pub values: CounterValues,
}

/// The meaning of the values and labels of a counter's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterValues {
    /// The recorded ones.
    AsRecorded,
    /// The value is the number of a CPU's idle state; the largest number of 32 bits means "not idle", which the kernel
    /// stores as -1.
    IdleState,
    /// The label is the number of one of timerlat's contexts: interrupt, thread, user.
    TimerlatContexts,
}

/// Value of [`Counter::cpu`]: the counter belongs to the CPU that the event happened on.
pub(crate) const OWN_CPU: &str = "(own)";

/// The counters.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter {
        event: "power:cpu_frequency",
        name: "frequency (kHz)",
        value: "state",
        cpu: "cpu_id",
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "power:cpu_idle",
        name: "idle state",
        value: "state",
        cpu: "cpu_id",
        label: "",
        values: CounterValues::IdleState,
    },
    Counter {
        event: "power:cpu_frequency_limits",
        name: "max frequency (kHz)",
        value: "max_freq",
        cpu: "cpu_id",
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "power:clock_set_rate",
        name: "clock",
        value: "state",
        cpu: "",
        label: "name",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "power:clock_enable",
        name: "clock on",
        value: "state",
        cpu: "",
        label: "name",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "power:clock_disable",
        name: "clock on",
        value: "state",
        cpu: "",
        label: "name",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "clk:clk_set_rate",
        name: "clock",
        value: "rate",
        cpu: "",
        label: "name",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "thermal:thermal_temperature",
        name: "temperature (m°C)",
        value: "temp",
        cpu: "",
        label: "thermal_zone",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "thermal:cdev_update",
        name: "cooling state",
        value: "target",
        cpu: "",
        label: "type",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "sched:sched_load_cfs_rq",
        name: "cfs load",
        value: "load",
        cpu: "cpu",
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "sched:sched_cpu_capacity",
        name: "capacity",
        value: "capacity",
        cpu: "cpu",
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "writeback:global_dirty_state",
        name: "dirty pages",
        value: "nr_dirty",
        cpu: "",
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "ftrace:timerlat",
        name: "timer latency (ns)",
        value: "timer_latency",
        cpu: OWN_CPU,
        label: "context",
        values: CounterValues::TimerlatContexts,
    },
    Counter {
        event: "ftrace:hwlat",
        name: "hardware latency, inner (us)",
        value: "duration",
        cpu: OWN_CPU,
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "ftrace:hwlat",
        name: "hardware latency, outer (us)",
        value: "outer_duration",
        cpu: OWN_CPU,
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "ftrace:osnoise",
        name: "noise in a period (us)",
        value: "noise",
        cpu: OWN_CPU,
        label: "",
        values: CounterValues::AsRecorded,
    },
    Counter {
        event: "ftrace:osnoise",
        name: "longest noise in a period (us)",
        value: "max_sample",
        cpu: OWN_CPU,
        label: "",
        values: CounterValues::AsRecorded,
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

impl Counter {
    /// Returns the text that is added to the counter's name, from the text of its label field.
    #[must_use]
    pub(crate) fn label_word<'a>(&self, label: &'a str) -> &'a str {
        match (self.values, label) {
            (CounterValues::TimerlatContexts, "0") => "irq",
            (CounterValues::TimerlatContexts, "1") => "thread",
            (CounterValues::TimerlatContexts, "2") => "user",
            _ => label,
        }
    }

    /// Returns the value of a sample, from the recorded number.
    #[inline]
    #[must_use]
    pub(crate) fn value(&self, recorded: i64) -> f64 {
        match self.values {
            // Binary records may contain the number with its sign extended.
            CounterValues::IdleState if recorded as u32 == u32::MAX => -1.0,
            _ => recorded as f64,
        }
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

    #[test]
    fn values_and_labels_mean_what_the_kernel_means() {
        let idle = find_counters("power", "cpu_idle")[0];
        assert_eq!(idle.value(0xffff_ffff), -1.0);
        assert_eq!((idle.value(-1), idle.value(3)), (-1.0, 3.0));
        let frequency = find_counters("power", "cpu_frequency")[0];
        assert_eq!(frequency.value(0xffff_ffff), 4_294_967_295.0);
        let timerlat = find_counters("ftrace", "timerlat")[0];
        assert_eq!(
            (timerlat.label_word("1"), idle.label_word("1")),
            ("thread", "1")
        );
    }
}
