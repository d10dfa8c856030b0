//! The table of kernel events that belong together: which pairs become slices, which events become counters. Readers of
//! kernel events (trace.dat, ftrace text) look up their events here; `assemble` only sees families. **To add a pair,
//! add a row to [`PAIRS`]; to add a counter, a row to [`COUNTERS`].**
//!
//! kprobe and uprobe pairs are not rows, because users name them: an event whose format has `__probe_ip`
//! is an entry, one with `__probe_func` a return, and both carry the function's address as label key.

use super::family::Family;

/// Key of an end that does not identify its begin: a system call whose registers were replaced ends as number -1.
pub const ANY_KEY: u64 = u64::MAX;

/// Key of system call number 0, and of anything else whose key would be 0 (which means "no key").
pub(crate) const NUMBER_ZERO: u64 = 1 << 62;

/// Key of system call marks that only show that their thread is outside of the kernel.
pub(crate) const USER_MODE: u64 = 1 << 61;

/// Events that only a thread outside of system calls causes, as `system:event`: whichever call was open is over.
pub(crate) const USER_MODE_EVENTS: &[&str] =
    &["exceptions:page_fault_user", "signal:signal_deliver"];

/// Returns whether the kernel puts events of probes into a system if the user names none.
#[must_use]
pub(crate) fn is_probe_system(system: &[u8]) -> bool {
    matches!(system, b"kprobes" | b"uprobes" | b"eprobes")
}

/// Returns whether `system:event` shows that its thread is outside of system calls.
#[must_use]
pub(crate) fn is_user_mode(system: &str, event: &str) -> bool {
    let mut rows = USER_MODE_EVENTS.iter();
    rows.any(|row| row.split_once(':') == Some((system, event)))
}

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
    /// The word for the number in this field.
    Word(&'static str, &'static [&'static str]),
}

/// The soft interrupts by number (include/linux/interrupt.h).
pub(crate) const SOFTIRQ_NAMES: &[&str] = &[
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
    Pair {
        family: Family::CpuPaired,
        begin: "power:device_pm_callback_start",
        end: "power:device_pm_callback_end",
        key: "device",
        name: PairName::Text("device"),
    },
    Pair {
        family: Family::CpuPaired,
        begin: "cpuhp:cpuhp_enter",
        end: "cpuhp:cpuhp_exit",
        key: "cpu",
        name: PairName::Stem,
    },
    Pair {
        family: Family::CpuPaired,
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

/// Kernel events that begin and end an asynchronous slice, on tracks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsyncPair {
    /// Name of the group of tracks.
    pub group: &'static str,
    /// `system:event` that begins the slice.
    pub begin: &'static str,
    /// The `system:event`s that end the slice.
    pub ends: &'static [&'static str],
    /// The fields, in all events, whose values form the slice's id. Names of the field in other kernels follow after
    /// `|`; fields that an event does not have are left out.
    pub keys: &'static [&'static str],
    /// The field of the begin with the slice's name; empty: the begin's own name is used.
    pub name: &'static str,
}

impl Pair {
    /// Returns a number that is mixed into the pair's keys, so that the keys of pairs that share a family do not
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

impl AsyncPair {
    /// Returns the name of the begin event without its ending.
    #[must_use]
    pub(crate) fn stem(&self) -> &'static str {
        strip_ending(
            self.begin
                .split_once(':')
                .map_or(self.begin, |(_, event)| event),
        )
    }
}

/// Operations that begin on one thread and end on another.
pub(crate) const ASYNC_PAIRS: &[AsyncPair] = &[
    AsyncPair {
        group: "SCSI commands",
        begin: "scsi:scsi_dispatch_cmd_start",
        ends: &[
            "scsi:scsi_dispatch_cmd_done",
            "scsi:scsi_dispatch_cmd_error",
            "scsi:scsi_dispatch_cmd_timeout",
        ],
        keys: &["host_no", "channel", "id", "lun", "driver_tag"],
        name: "",
    },
    AsyncPair {
        group: "ATA commands",
        begin: "libata:ata_qc_issue",
        ends: &[
            "libata:ata_qc_complete_done",
            "libata:ata_qc_complete_failed",
            "libata:ata_qc_complete_internal",
        ],
        keys: &["ata_port", "ata_dev", "tag"],
        name: "",
    },
    AsyncPair {
        group: "NVMe commands",
        begin: "nvme:nvme_setup_cmd",
        ends: &["nvme:nvme_complete_rq"],
        keys: &["ctrl_id", "qid", "cid|cmdid"],
        name: "",
    },
    AsyncPair {
        group: "MMC requests",
        begin: "mmc:mmc_request_start",
        ends: &["mmc:mmc_request_done"],
        keys: &["mrq"],
        name: "",
    },
    AsyncPair {
        group: "FUSE requests",
        begin: "fuse:fuse_request_send",
        ends: &["fuse:fuse_request_end"],
        keys: &["connection", "unique|req"],
        name: "",
    },
    AsyncPair {
        group: "RPC tasks",
        begin: "sunrpc:rpc_task_begin",
        ends: &["sunrpc:rpc_task_end"],
        keys: &["client_id", "task_id"],
        name: "",
    },
    AsyncPair {
        group: "SPI messages",
        begin: "spi:spi_message_start",
        ends: &["spi:spi_message_done"],
        keys: &["msg"],
        name: "",
    },
    AsyncPair {
        group: "jbd2 commits",
        begin: "jbd2:jbd2_start_commit",
        ends: &["jbd2:jbd2_end_commit"],
        keys: &["dev", "transaction"],
        name: "",
    },
];

/// What happened to a bio or request, by an event of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOp {
    /// A bio was handed to the block layer.
    Queue,
    /// A bio was split in two.
    Split,
    /// A bio that went through no request is complete.
    BioComplete,
    /// A request waits in a scheduler's queue.
    Insert,
    /// A request was handed to the driver.
    Issue,
    /// The driver gave a request back.
    Requeue,
    /// A request was merged into another one.
    Merge,
    /// A request counts as I/O from here on.
    IoStart,
    /// A request that counted as I/O is done.
    IoDone,
    /// Sectors of a request are complete, and so are the bios that they cover.
    Complete,
}

/// The events of the block layer that begin and end bios and requests: see `assemble::requests`.
pub(crate) const REQUEST_EVENTS: &[(&str, RequestOp)] = &[
    ("block_bio_queue", RequestOp::Queue),
    ("block_split", RequestOp::Split),
    ("block_bio_complete", RequestOp::BioComplete),
    ("block_rq_insert", RequestOp::Insert),
    ("block_rq_issue", RequestOp::Issue),
    ("block_rq_requeue", RequestOp::Requeue),
    ("block_rq_merge", RequestOp::Merge),
    ("block_io_start", RequestOp::IoStart),
    ("block_io_done", RequestOp::IoDone),
    ("block_rq_complete", RequestOp::Complete),
];

/// Returns what `system:event` means for a bio or request, if it is in [`REQUEST_EVENTS`].
#[must_use]
pub(crate) fn find_request(system: &str, event: &str) -> Option<RequestOp> {
    let rows = REQUEST_EVENTS.iter().filter(|_| system == "block");
    rows.copied().find(|row| row.0 == event).map(|row| row.1)
}

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

/// An event of the osnoise system: something used a CPU for `duration` ns from `start` on, by the kernel's local clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    /// The event's name, which is the category of its slices.
    pub event: &'static str,
    /// The slice's name if no field contains it.
    pub name: &'static str,
    /// The field with the slice's name; empty: `number` or `name` gives it.
    pub text: &'static str,
    /// The field with a number that follows the name after a colon; empty: none.
    pub number: &'static str,
    /// Names of the numbers, by number.
    pub words: &'static [&'static str],
}

impl Noise {
    /// Returns the slice's name, as the kernel prints it before `start`.
    #[must_use]
    pub fn name(&self, text: Option<&str>, number: Option<i64>) -> String {
        let word = || {
            let word = self.words.get(usize::try_from(number?).ok()?);
            word.copied()
        };
        let name = text.or_else(word).unwrap_or(self.name);
        match number {
            Some(number) => format!("{name}:{number}"),
            None => name.to_owned(),
        }
    }
}

/// Events that contain the start and the duration of noise.
pub(crate) const NOISES: &[Noise] = &[
    Noise {
        event: "thread_noise",
        name: "thread",
        text: "comm",
        number: "pid",
        words: &[],
    },
    Noise {
        event: "irq_noise",
        name: "irq",
        text: "desc",
        number: "vector",
        words: &[],
    },
    Noise {
        event: "softirq_noise",
        name: "softirq",
        text: "",
        number: "vector",
        words: SOFTIRQ_NAMES,
    },
    Noise {
        event: "nmi_noise",
        name: "NMI",
        text: "",
        number: "",
        words: &[],
    },
];

/// Returns the row of [`NOISES`] for `system:event`.
#[must_use]
pub(crate) fn find_noise(system: &str, event: &str) -> Option<&'static Noise> {
    let mut rows = NOISES.iter();
    rows.find(|row| system == "osnoise" && row.event == event)
}

/// Value of [`Counter::cpu`]: the counter belongs to the CPU that the event happened on.
pub(crate) const OWN_CPU: &str = "(own)";

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
    pub(crate) pair: &'static Pair,
    /// Which end of the pair the event is.
    pub(crate) end: PairEnd,
    /// The text that the row's `*` matches; without `*`, the event's name without its ending.
    pub(crate) stem: &'a str,
}

/// Returns the row of [`PAIRS`] for `system:event`.
#[must_use]
pub(crate) fn find_pair<'a>(system: &str, event: &'a str) -> Option<PairOfEvent<'a>> {
    PAIRS.iter().find_map(|pair| {
        let at = |pattern, end| {
            let stem = match_pattern(pattern, system, event)?;
            Some(PairOfEvent { pair, end, stem })
        };
        at(pair.begin, PairEnd::Begin).or_else(|| at(pair.end, PairEnd::End))
    })
}

/// Returns the text that the pattern's `*` matches in `event` (the whole name if there is no `*`), or `None` if the
/// pattern does not match.
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

/// Returns the rows of [`COUNTERS`] for `system:event`, which are adjacent.
#[must_use]
pub(crate) fn find_counters(system: &str, event: &str) -> &'static [Counter] {
    let is_its = |row: &Counter| row.event.split_once(':') == Some((system, event));
    let first = COUNTERS.iter().position(is_its).unwrap_or(COUNTERS.len());
    let (_, rows) = COUNTERS.split_at(first);
    let count = rows.iter().take_while(|row| is_its(row)).count();
    rows.split_at(count).0
}

/// Returns the row of [`ASYNC_PAIRS`] for `system:event`, and which end the event is.
#[must_use]
pub(crate) fn find_async_pair(system: &str, event: &str) -> Option<(&'static AsyncPair, PairEnd)> {
    let is = |pattern: &str| pattern.split_once(':') == Some((system, event));
    ASYNC_PAIRS.iter().find_map(|pair| {
        if is(pair.begin) {
            Some((pair, PairEnd::Begin))
        } else {
            let is_end = pair.ends.iter().any(|end| is(end));
            is_end.then_some((pair, PairEnd::End))
        }
    })
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
        assert_eq!(find_counters("power", "cpu_idle").len(), 1);
        assert_eq!(find_counters("ftrace", "hwlat").len(), 2);
        assert!(find_counters("ftrace", "print").is_empty());
        let softirq = find_noise("osnoise", "softirq_noise").unwrap();
        assert_eq!(softirq.name(None, Some(3)), "NET_RX:3");
        assert_eq!(
            find_async_pair("libata", "ata_qc_complete_failed").map(|(_, end)| end),
            Some(PairEnd::End)
        );
    }
}
