//! Kernel events that begin and end slices of a thread or CPU. **To add a pair, add a row to [`PAIRS`].**
//!
//! kprobe and uprobe pairs are not rows, because users name them: an event whose format has `__probe_ip` is an entry,
//! and one with `__probe_func` is a return; both use the function's address as label key.

use crate::event::family::Family;

/// Two kernel events that are the ends of one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// The family of the slice.
    pub family: Family,
    /// `system:event` that begins the slice; one `*` matches any text, which must be equal in both names.
    pub begin: &'static str,
    /// `system:event` that ends the slice.
    pub end: &'static str,
    /// The field, in both events, that distinguishes concurrent slices; empty: the text that `*` matched.
    pub key: &'static str,
    /// The slice's name.
    pub name: PairName,
}

impl Pair {
    /// Returns a number that is mixed into the pair's keys, so that the keys of different pairs of one family do not
    /// collide.
    #[must_use]
    pub(crate) fn salt(&self) -> u64 {
        use std::hash::Hasher;
        if self.key.is_empty() || !matches!(self.family, Family::Paired | Family::CpuPaired) {
            return 0;
        }
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(self.end.as_bytes());
        hasher.finish()
    }
}

/// Where the name of a pair's slice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairName {
    /// The text that the `*` of the event's name matches, or the name without its ending.
    Stem,
    /// The text of this field of the begin.
    Text(&'static str),
    /// The symbol at the address in this field of the begin.
    Symbol(&'static str),
    /// The name of the system call whose number is in this field.
    Syscall(&'static str),
    /// The word for the number in this field, from this list.
    Word(&'static str, &'static [&'static str]),
}

/// The soft interrupts by number (include/linux/interrupt.h).
pub(super) const SOFTIRQ_NAMES: &[&str] = &[
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
];

/// The pairs, most specific first: the first row that matches an event's name is used.
pub(crate) const PAIRS: &[Pair] = &[
    Pair {
        family: Family::RawSyscalls,
        begin: "raw_syscalls:sys_enter",
        end: "raw_syscalls:sys_exit",
        key: "id",
        name: PairName::Syscall("id"),
    },
    Pair {
        family: Family::Syscalls,
        begin: "syscalls:sys_enter_*",
        end: "syscalls:sys_exit_*",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Irqs,
        begin: "irq:irq_handler_entry",
        end: "irq:irq_handler_exit",
        key: "irq",
        name: PairName::Text("name"),
    },
    Pair {
        family: Family::Softirqs,
        begin: "irq:softirq_entry",
        end: "irq:softirq_exit",
        key: "vec",
        name: PairName::Word("vec", SOFTIRQ_NAMES),
    },
    Pair {
        family: Family::Softirqs,
        begin: "irq:tasklet_entry",
        end: "irq:tasklet_exit",
        key: "tasklet",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Softirqs,
        begin: "irq:tasklet_hi_entry",
        end: "irq:tasklet_hi_exit",
        key: "tasklet",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Vectors,
        begin: "ipi:ipi_entry",
        end: "ipi:ipi_exit",
        key: "",
        name: PairName::Text("reason"),
    },
    Pair {
        family: Family::Vectors,
        begin: "irq_vectors:*_entry",
        end: "irq_vectors:*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Functions,
        begin: "ftrace:funcgraph_entry",
        end: "ftrace:funcgraph_exit",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Functions,
        begin: "ftrace:fgraph_retaddr_entry",
        end: "ftrace:funcgraph_exit",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Work,
        begin: "workqueue:workqueue_execute_start",
        end: "workqueue:workqueue_execute_end",
        key: "work",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: Family::Timers,
        begin: "timer:hrtimer_expire_entry",
        end: "timer:hrtimer_expire_exit",
        key: "hrtimer",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: Family::Timers,
        begin: "timer:timer_expire_entry",
        end: "timer:timer_expire_exit",
        key: "timer",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: Family::CpuPaired,
        begin: "napi:*_entry",
        end: "napi:*_exit",
        key: "",
        name: PairName::Stem,
    },
    // These callbacks sleep and continue on other CPUs.
    Pair {
        family: Family::Paired,
        begin: "power:device_pm_callback_start",
        end: "power:device_pm_callback_end",
        key: "device",
        name: PairName::Text("device"),
    },
    Pair {
        family: Family::Paired,
        begin: "cpuhp:cpuhp_enter",
        end: "cpuhp:cpuhp_exit",
        key: "cpu",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "cpuhp:cpuhp_multi_enter",
        end: "cpuhp:cpuhp_exit",
        key: "cpu",
        name: PairName::Stem,
    },
    Pair {
        family: Family::CpuPaired,
        begin: "csd:csd_function_entry",
        end: "csd:csd_function_exit",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Paired,
        begin: "lock:contention_begin",
        end: "lock:contention_end",
        key: "lock_addr",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "sched:sched_kthread_work_execute_start",
        end: "sched:sched_kthread_work_execute_end",
        key: "work",
        name: PairName::Symbol("function"),
    },
    Pair {
        family: Family::Paired,
        begin: "initcall:initcall_start",
        end: "initcall:initcall_finish",
        key: "func",
        name: PairName::Symbol("func"),
    },
    Pair {
        family: Family::Paired,
        begin: "vmscan:mm_shrink_slab_start",
        end: "vmscan:mm_shrink_slab_end",
        key: "shr",
        name: PairName::Symbol("shrink"),
    },
    Pair {
        family: Family::Paired,
        begin: "vmscan:mm_vmscan_kswapd_wake",
        end: "vmscan:mm_vmscan_kswapd_sleep",
        key: "nid",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "compaction:mm_compaction_kcompactd_wake",
        end: "compaction:mm_compaction_kcompactd_sleep",
        key: "nid",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "ksm:ksm_enter",
        end: "ksm:ksm_exit",
        key: "mm",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "migrate:mm_migrate_pages_start",
        end: "migrate:mm_migrate_pages",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "dma_fence:dma_fence_wait_start",
        end: "dma_fence:dma_fence_wait_end",
        key: "seqno",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "regmap:regmap_hw_read_start",
        end: "regmap:regmap_hw_read_done",
        key: "reg",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "regmap:regmap_hw_write_start",
        end: "regmap:regmap_hw_write_done",
        key: "reg",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "spi:spi_transfer_start",
        end: "spi:spi_transfer_stop",
        key: "xfer",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "rpm:rpm_suspend",
        end: "rpm:rpm_return_int",
        key: "name",
        name: PairName::Text("name"),
    },
    Pair {
        family: Family::Paired,
        begin: "rpm:rpm_resume",
        end: "rpm:rpm_return_int",
        key: "name",
        name: PairName::Text("name"),
    },
    Pair {
        family: Family::Paired,
        begin: "rpm:rpm_idle",
        end: "rpm:rpm_return_int",
        key: "name",
        name: PairName::Text("name"),
    },
    Pair {
        family: Family::Paired,
        begin: "ext4:ext4_da_write_folios_start",
        end: "ext4:ext4_da_write_folios_end",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "xfs:xlog_iclog_callbacks_start",
        end: "xfs:xlog_iclog_callbacks_done",
        key: "lsn",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "clk:clk_rate_request_start",
        end: "clk:clk_rate_request_done",
        key: "name",
        name: PairName::Text("name"),
    },
    Pair {
        family: Family::Paired,
        begin: "writeback:writeback_start",
        end: "writeback:writeback_written",
        key: "name",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "writeback:writeback_single_inode_start",
        end: "writeback:writeback_single_inode",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "writeback:writeback_write_inode_start",
        end: "writeback:writeback_write_inode",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "writeback:writeback_dirty_inode_start",
        end: "writeback:writeback_dirty_inode",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "ext4:ext4_writepages",
        end: "ext4:ext4_writepages_result",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "ext4:ext4_ext_remove_space",
        end: "ext4:ext4_ext_remove_space_done",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "ext4:ext4_fc_commit_start",
        end: "ext4:ext4_fc_commit_stop",
        key: "dev",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "f2fs:f2fs_dataread_start",
        end: "f2fs:f2fs_dataread_end",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "f2fs:f2fs_datawrite_start",
        end: "f2fs:f2fs_datawrite_end",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "xfs:xfs_buf_iowait",
        end: "xfs:xfs_buf_iowait_done",
        key: "bno",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "xfs:xfs_itruncate_extents_start",
        end: "xfs:xfs_itruncate_extents_end",
        key: "ino",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "regulator:regulator_enable",
        end: "regulator:regulator_enable_complete",
        key: "name",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "regulator:regulator_disable",
        end: "regulator:regulator_disable_complete",
        key: "name",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "clk:clk_prepare",
        end: "clk:clk_prepare_complete",
        key: "name",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "clk:clk_enable",
        end: "clk:clk_enable_complete",
        key: "name",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "exceptions:page_fault_*_entry",
        end: "exceptions:page_fault_*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "kvm:kvm_entry",
        end: "kvm:kvm_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "*_entry",
        end: "*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "*_enter",
        end: "*_exit",
        key: "",
        name: PairName::Stem,
    },
    Pair {
        family: Family::Paired,
        begin: "*_begin",
        end: "*_end",
        key: "",
        name: PairName::Stem,
    },
];

/// Which end of a pair an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PairEnd {
    /// The begin.
    Begin,
    /// The end.
    End,
}

/// The row of [`PAIRS`] that an event belongs to.
#[derive(Clone, Copy)]
pub(crate) struct PairOfEvent<'a> {
    /// The row.
    pub(crate) pair: &'static Pair,
    /// Which end of the pair the event is.
    pub(crate) end: PairEnd,
    /// The text that the row's `*` matches; without `*`, the event's name without its ending.
    pub(crate) stem: &'a str,
}

/// Returns the row of [`PAIRS`] for `system:event`.
#[must_use]
pub(crate) fn find_pair<'a>(system: &str, event: &'a str) -> Option<PairOfEvent<'a>> {
    // Both ends of a pair are of one system.
    let mut of_system = PAIRS.iter().filter(|pair| is_in_system(pair.begin, system));
    of_system.find_map(|pair| {
        let at = |pattern, end| {
            let stem = match_pattern(pattern, event)?;
            Some(PairOfEvent { pair, end, stem })
        };
        at(pair.begin, PairEnd::Begin).or_else(|| at(pair.end, PairEnd::End))
    })
}

/// Returns whether a pattern is one of events of a system; a pattern without a system is one of all systems.
fn is_in_system(pattern: &str, system: &str) -> bool {
    let rest = pattern.strip_prefix(system);
    rest.is_some_and(|rest| rest.starts_with(':')) || !pattern.contains(':')
}

/// Returns the text that the `*` of a pattern, which may start with `system:`, matches in `event` (the whole name if
/// there is no `*`), or `None` if the pattern does not match.
fn match_pattern<'a>(pattern: &str, event: &'a str) -> Option<&'a str> {
    let name = pattern.split_once(':').map_or(pattern, |(_, name)| name);
    match name.split_once('*') {
        Some((before, after)) => event
            .strip_prefix(before)?
            .strip_suffix(after)
            .filter(|stem| !stem.is_empty()),
        None => (name == event).then(|| strip_ending(event)),
    }
}

/// Returns an event's name without the ending that marks the begin or end of a pair.
pub(super) fn strip_ending(event: &str) -> &str {
    for ending in ["_entry", "_exit", "_enter", "_begin", "_end", "_start"] {
        if let Some(stem) = event.strip_suffix(ending) {
            return stem;
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_find_their_rows() {
        let found = |system, event| {
            let PairOfEvent { pair, end, stem } = find_pair(system, event).unwrap();
            (pair.family, end, stem)
        };
        assert_eq!(
            found("syscalls", "sys_enter_openat"),
            (Family::Syscalls, PairEnd::Begin, "openat")
        );
        assert_eq!(
            found("irq_vectors", "local_timer_exit"),
            (Family::Vectors, PairEnd::End, "local_timer")
        );
        assert_eq!(
            found("ext4", "ext4_sync_file_enter"),
            (Family::Paired, PairEnd::Begin, "ext4_sync_file")
        );
        assert!(find_pair("sched", "sched_switch").is_none());
        let system = |pattern: &'static str| Some(pattern.split_once(':')?.0);
        assert!(
            PAIRS
                .iter()
                .all(|pair| system(pair.begin) == system(pair.end))
        );
    }
}
