//! Predefined sets of events.

use crate::tracefs::order::{EventOrder, Presence};

/// A set of events.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// What the set shows.
    pub about: &'static str,
    /// Patterns of events and systems.
    events: &'static [&'static str],
}

const SCHEDULING: &[&str] = &[
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "sched:sched_process_fork",
    "sched:sched_process_exec",
    "sched:sched_process_exit",
    "task:task_newtask",
    "task:task_rename",
];

/// All predefined sets.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "sched",
        about: "who runs, who waits and who wakes whom",
        events: SCHEDULING,
    },
    Preset {
        name: "irq",
        about: "interrupts, softirqs, timers and work queues",
        events: &["irq", "irq_vectors", "timer", "workqueue", "ipi"],
    },
    Preset {
        name: "syscalls",
        about: "all system calls, and who runs",
        events: &[
            "syscalls",
            "sched:sched_switch",
            "sched:sched_wakeup",
            "signal",
        ],
    },
    Preset {
        name: "block",
        about: "requests to disks, and who waits for them",
        events: &[
            "block",
            "scsi",
            "nvme",
            "virtio",
            "writeback",
            "sched:sched_switch",
            "sched:sched_wakeup",
            "sched:sched_waking",
        ],
    },
    Preset {
        name: "latency",
        about: "what delays threads: scheduling, interrupts, idle states, page faults",
        events: &[
            "sched:sched_switch",
            "sched:sched_waking",
            "sched:sched_wakeup",
            "sched:sched_wakeup_new",
            "sched:sched_migrate_task",
            "irq",
            "irq_vectors",
            "ipi",
            "power:cpu_idle",
            "power:cpu_frequency",
            "timer:hrtimer_expire_entry",
            "timer:hrtimer_expire_exit",
            "exceptions",
        ],
    },
    Preset {
        name: "build",
        about: "processes, programs, files and job concurrency of a build",
        events: &[
            "sched:sched_switch",
            "sched:sched_waking",
            "sched:sched_wakeup_new",
            "sched:sched_process_fork",
            "sched:sched_process_exec",
            "sched:sched_process_exit",
            "task:task_newtask",
            "task:task_rename",
            "syscalls:sys_*_execve",
            "syscalls:sys_*_execveat",
            "syscalls:sys_*_open",
            "syscalls:sys_*_openat",
            "syscalls:sys_*_openat2",
            "syscalls:sys_*_creat",
            "syscalls:sys_*_close",
            "syscalls:sys_*_dup",
            "syscalls:sys_*_dup2",
            "syscalls:sys_*_dup3",
            "syscalls:sys_*_pipe2",
            "syscalls:sys_*_rename*",
            "syscalls:sys_*_unlink*",
            "syscalls:sys_*_link*",
            "syscalls:sys_*_symlink*",
            "syscalls:sys_*_chdir",
            "syscalls:sys_*_wait4",
            "syscalls:sys_enter_exit_group",
        ],
    },
];

/// Returns the set with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Preset {
    /// Returns the events of the set. Events that the recorded kernel does not have are skipped.
    #[must_use]
    pub fn events(&self) -> Vec<EventOrder> {
        let patterns = self.events.iter();
        patterns
            .map(|pattern| EventOrder {
                pattern: (*pattern).to_owned(),
                filter: None,
                presence: Presence::IfThere,
            })
            .collect()
    }
}
