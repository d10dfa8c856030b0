//! The events of the kernel for which Perfetto has messages of its own, and the fields of these messages.
//!
//! Numbers are those of `trace/ftrace/ftrace_event.proto` (the event in `FtraceEvent`) and of the file named above each
//! group, below `protos/perfetto/` of <https://github.com/google/perfetto>. Only events that Perfetto's own analysis
//! uses, or that its documentation lists for scheduling, interrupts, system calls, block devices, power and the lives of
//! tasks, are here; all others are described in the file itself (see `plan`). **To add an event, add a row to
//! [`EVENT_TYPES`].** A field that a kernel has and the message lacks is left out.

use super::proto::FieldNumber;

/// An event that has a message of its own.
#[derive(Debug)]
pub(super) struct EventType {
    /// `system:event`.
    pub event: &'static str,
    /// The number of the message in `FtraceEvent`.
    pub number: FieldNumber,
    /// What trace_processor derives from it.
    pub derives: Derives,
    /// The names of the fields without which the message means nothing.
    pub needs: &'static [&'static str],
    /// The fields of the message.
    pub fields: &'static [EventField],
}

impl EventType {
    /// Returns whether it begins or ends a system call that only has a number.
    pub(crate) fn is_call_by_number(&self) -> bool {
        self.event.starts_with("raw_syscalls:")
    }

    /// Returns whether trace_processor gives the thread in the event's field [`SUBJECT`] a state that starts with the
    /// event, even if the thread has no other events.
    pub(crate) fn starts_state(&self) -> bool {
        matches!(self.event, "sched:sched_waking" | BIRTH)
    }

    /// Returns the name of the event at the other end of the slices that trace_processor derives; `None` if it derives
    /// no slices from two events.
    pub(crate) fn other_end(&self) -> Option<String> {
        const ENDS: [(&str, &str); 4] = [
            ("_entry", "_exit"),
            ("_enter", "_exit"),
            ("_start", "_end"),
            ("_start", "_done"),
        ];
        if self.derives != Derives::Slices {
            return None;
        }
        ENDS.iter().find_map(|&(begin, end)| {
            let stem = self.event.strip_suffix(begin);
            let other = |stem: &str, ending: &str| {
                let name = format!("{stem}{ending}");
                EVENT_TYPES
                    .iter()
                    .any(|row| row.event == name)
                    .then_some(name)
            };
            match stem {
                Some(stem) => other(stem, end),
                None => other(self.event.strip_suffix(end)?, begin),
            }
        })
    }
}

/// What trace_processor derives from an event besides a row of its `ftrace_event` table. It is not written a second
/// time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Derives {
    /// Nothing, or runs and thread states.
    #[default]
    Nothing,
    /// The begin or the end of a slice.
    Slices,
    /// The sample of a counter.
    Counters,
    /// Slices and counters, as programs mark them (atrace).
    Marks,
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct EventField {
    /// Its number.
    pub number: FieldNumber,
    /// Its name in the message and in the kernel's format.
    pub name: &'static str,
    /// How its value is written.
    pub kind: Kind,
}

/// How the value of a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// As text.
    Text,
    /// As a signed number.
    Int,
    /// As an unsigned number.
    UInt,
    /// As an unsigned number of 32 bits.
    UInt32,
    /// Each element of a list as an unsigned number.
    UIntList,
    /// As the address of a kernel function, whose name is interned under that number.
    Symbol,
    /// As the bits of a thread's state.
    TaskState,
}

const fn field(number: FieldNumber, name: &'static str, kind: Kind) -> EventField {
    EventField { number, name, kind }
}

/// Returns the message of `system:event`; an empty system fits all.
pub(super) fn event_type(system: &str, event: &str) -> Option<&'static EventType> {
    // Text formats name the event of a program's marks after the kernel function that writes it.
    let event = if event == "tracing_mark_write" {
        "print"
    } else {
        event
    };
    EVENT_TYPES.iter().find(|row| {
        let own = row.event.split_once(':');
        own.is_some_and(|(own, name)| name == event && (own == system || system.is_empty()))
    })
}

/// The event that shows trace_processor that a thread or process starts; the field [`SUBJECT`] is its number.
pub(super) const BIRTH: &str = "task:task_newtask";

/// The field of an event with the number of the thread that the event is about, if that is not the thread of the event.
pub(super) const SUBJECT: &str = "pid";

/// The events of an accounted block request: see `accounted`.
pub(super) const IO_START: &str = "block:block_io_start";
pub(super) const IO_DONE: &str = "block:block_io_done";

/// The fields of both events of an accounted block request.
const IO_FIELDS: &[EventField] = &[
    field(1, "dev", Kind::UInt),
    field(2, "sector", Kind::UInt),
    field(3, "nr_sector", Kind::UInt32),
    field(4, "bytes", Kind::UInt32),
    field(5, "ioprio", Kind::UInt32),
    field(6, "rwbs", Kind::Text),
    field(7, "comm", Kind::Text),
    field(8, "cmd", Kind::Text),
];

/// The message of a context switch.
pub(super) const SWITCH: &EventType = &EVENT_TYPES[0];

/// All messages.
const EVENT_TYPES: &[EventType] = &[
    // trace/ftrace/sched.proto
    EventType {
        event: "sched:sched_switch",
        number: 4,
        derives: Derives::Nothing,
        needs: &["prev_pid", "next_pid"],
        fields: &[
            field(1, "prev_comm", Kind::Text),
            field(2, "prev_pid", Kind::Int),
            field(3, "prev_prio", Kind::Int),
            field(4, "prev_state", Kind::TaskState),
            field(5, "next_comm", Kind::Text),
            field(6, "next_pid", Kind::Int),
            field(7, "next_prio", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_waking",
        number: 20,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
            field(4, "success", Kind::Int),
            field(5, "target_cpu", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_wakeup",
        number: 17,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
            field(4, "success", Kind::Int),
            field(5, "target_cpu", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_wakeup_new",
        number: 114,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
            field(4, "success", Kind::Int),
            field(5, "target_cpu", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_exit",
        number: 238,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "tgid", Kind::Int),
            field(4, "prio", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_fork",
        number: 239,
        derives: Derives::Nothing,
        needs: &["child_pid"],
        fields: &[
            field(1, "parent_comm", Kind::Text),
            field(2, "parent_pid", Kind::Int),
            field(3, "child_comm", Kind::Text),
            field(4, "child_pid", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_exec",
        number: 237,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "filename", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "old_pid", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_free",
        number: 240,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_wait",
        number: 242,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_process_hang",
        number: 241,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[field(1, "comm", Kind::Text), field(2, "pid", Kind::Int)],
    },
    EventType {
        event: "sched:sched_blocked_reason",
        number: 18,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "pid", Kind::Int),
            field(2, "caller", Kind::Symbol),
            field(3, "io_wait", Kind::UInt32),
        ],
    },
    EventType {
        event: "sched:sched_pi_setprio",
        number: 353,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "newprio", Kind::Int),
            field(3, "oldprio", Kind::Int),
            field(4, "pid", Kind::Int),
        ],
    },
    EventType {
        event: "sched:sched_migrate_task",
        number: 491,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "pid", Kind::Int),
            field(3, "prio", Kind::Int),
            field(4, "orig_cpu", Kind::Int),
            field(5, "dest_cpu", Kind::Int),
            field(6, "running", Kind::Int),
            field(7, "load", Kind::UInt32),
        ],
    },
    // trace/ftrace/task.proto
    EventType {
        event: BIRTH,
        number: 235,
        derives: Derives::Nothing,
        needs: &["pid", "clone_flags"],
        fields: &[
            field(1, "pid", Kind::Int),
            field(2, "comm", Kind::Text),
            field(3, "clone_flags", Kind::UInt),
            field(4, "oom_score_adj", Kind::Int),
        ],
    },
    EventType {
        event: "task:task_rename",
        number: 236,
        derives: Derives::Nothing,
        needs: &["pid", "newcomm"],
        fields: &[
            field(1, "pid", Kind::Int),
            field(2, "oldcomm", Kind::Text),
            field(3, "newcomm", Kind::Text),
            field(4, "oom_score_adj", Kind::Int),
        ],
    },
    // trace/ftrace/oom.proto
    EventType {
        event: "oom:oom_score_adj_update",
        number: 326,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[
            field(1, "comm", Kind::Text),
            field(2, "oom_score_adj", Kind::Int),
            field(3, "pid", Kind::Int),
        ],
    },
    EventType {
        event: "oom:mark_victim",
        number: 334,
        derives: Derives::Nothing,
        needs: &["pid"],
        fields: &[field(1, "pid", Kind::Int)],
    },
    // trace/ftrace/signal.proto
    EventType {
        event: "signal:signal_generate",
        number: 325,
        derives: Derives::Nothing,
        needs: &["sig", "pid"],
        fields: &[
            field(1, "code", Kind::Int),
            field(2, "comm", Kind::Text),
            field(3, "group", Kind::Int),
            field(4, "pid", Kind::Int),
            field(5, "result", Kind::Int),
            field(6, "sig", Kind::Int),
        ],
    },
    EventType {
        event: "signal:signal_deliver",
        number: 324,
        derives: Derives::Nothing,
        needs: &["sig"],
        fields: &[
            field(1, "code", Kind::Int),
            field(2, "sa_flags", Kind::UInt),
            field(3, "sig", Kind::Int),
        ],
    },
    // trace/ftrace/irq.proto
    EventType {
        event: "irq:irq_handler_entry",
        number: 36,
        derives: Derives::Slices,
        needs: &["irq"],
        fields: &[
            field(1, "irq", Kind::Int),
            field(2, "name", Kind::Text),
            field(3, "handler", Kind::UInt32),
        ],
    },
    EventType {
        event: "irq:irq_handler_exit",
        number: 37,
        derives: Derives::Slices,
        needs: &["irq"],
        fields: &[field(1, "irq", Kind::Int), field(2, "ret", Kind::Int)],
    },
    EventType {
        event: "irq:softirq_entry",
        number: 24,
        derives: Derives::Slices,
        needs: &["vec"],
        fields: &[field(1, "vec", Kind::UInt32)],
    },
    EventType {
        event: "irq:softirq_exit",
        number: 25,
        derives: Derives::Slices,
        needs: &["vec"],
        fields: &[field(1, "vec", Kind::UInt32)],
    },
    EventType {
        event: "irq:softirq_raise",
        number: 26,
        derives: Derives::Nothing,
        needs: &["vec"],
        fields: &[field(1, "vec", Kind::UInt32)],
    },
    // trace/ftrace/ipi.proto
    EventType {
        event: "ipi:ipi_raise",
        number: 23,
        derives: Derives::Nothing,
        needs: &[],
        fields: &[
            field(1, "target_cpus", Kind::UInt32),
            field(2, "reason", Kind::Text),
        ],
    },
    EventType {
        event: "ipi:ipi_entry",
        number: 21,
        derives: Derives::Slices,
        needs: &["reason"],
        fields: &[field(1, "reason", Kind::Text)],
    },
    EventType {
        event: "ipi:ipi_exit",
        number: 22,
        derives: Derives::Slices,
        needs: &["reason"],
        fields: &[field(1, "reason", Kind::Text)],
    },
    // trace/ftrace/raw_syscalls.proto
    EventType {
        event: "raw_syscalls:sys_enter",
        number: 329,
        derives: Derives::Slices,
        needs: &["id"],
        fields: &[field(1, "id", Kind::Int), field(2, "args", Kind::UIntList)],
    },
    EventType {
        event: "raw_syscalls:sys_exit",
        number: 330,
        derives: Derives::Slices,
        needs: &["id"],
        fields: &[field(1, "id", Kind::Int), field(2, "ret", Kind::Int)],
    },
    // trace/ftrace/block.proto
    EventType {
        event: IO_START,
        number: 546,
        derives: Derives::Slices,
        needs: &["dev", "sector"],
        fields: IO_FIELDS,
    },
    EventType {
        event: IO_DONE,
        number: 547,
        derives: Derives::Slices,
        needs: &["dev", "sector"],
        fields: IO_FIELDS,
    },
    EventType {
        event: "block:block_rq_issue",
        number: 45,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "bytes", Kind::UInt32),
            field(5, "rwbs", Kind::Text),
            field(6, "comm", Kind::Text),
            field(7, "cmd", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_rq_complete",
        number: 125,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "errors", Kind::Int),
            field(5, "rwbs", Kind::Text),
            field(6, "cmd", Kind::Text),
            field(7, "error", Kind::Int),
        ],
    },
    EventType {
        event: "block:block_rq_insert",
        number: 126,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "bytes", Kind::UInt32),
            field(5, "rwbs", Kind::Text),
            field(6, "comm", Kind::Text),
            field(7, "cmd", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_rq_requeue",
        number: 129,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "errors", Kind::Int),
            field(5, "rwbs", Kind::Text),
            field(6, "cmd", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_rq_remap",
        number: 128,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "old_dev", Kind::UInt),
            field(5, "old_sector", Kind::UInt),
            field(6, "nr_bios", Kind::UInt32),
            field(7, "rwbs", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_queue",
        number: 119,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_complete",
        number: 117,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "error", Kind::Int),
            field(5, "rwbs", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_backmerge",
        number: 115,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_frontmerge",
        number: 118,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_remap",
        number: 120,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "old_dev", Kind::UInt),
            field(5, "old_sector", Kind::UInt),
            field(6, "rwbs", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_bio_bounce",
        number: 116,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_getrq",
        number: 122,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "nr_sector", Kind::UInt32),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_split",
        number: 131,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "new_sector", Kind::UInt),
            field(4, "rwbs", Kind::Text),
            field(5, "comm", Kind::Text),
        ],
    },
    EventType {
        event: "block:block_dirty_buffer",
        number: 121,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "size", Kind::UInt),
        ],
    },
    EventType {
        event: "block:block_touch_buffer",
        number: 132,
        derives: Derives::Nothing,
        needs: &["dev", "sector"],
        fields: &[
            field(1, "dev", Kind::UInt),
            field(2, "sector", Kind::UInt),
            field(3, "size", Kind::UInt),
        ],
    },
    EventType {
        event: "block:block_plug",
        number: 123,
        derives: Derives::Nothing,
        needs: &["comm"],
        fields: &[field(1, "comm", Kind::Text)],
    },
    EventType {
        event: "block:block_unplug",
        number: 133,
        derives: Derives::Nothing,
        needs: &["comm"],
        fields: &[field(1, "nr_rq", Kind::Int), field(2, "comm", Kind::Text)],
    },
    // trace/ftrace/power.proto
    EventType {
        event: "power:cpu_idle",
        number: 13,
        derives: Derives::Counters,
        needs: &["state", "cpu_id"],
        fields: &[
            field(1, "state", Kind::UInt32),
            field(2, "cpu_id", Kind::UInt32),
        ],
    },
    EventType {
        event: "power:cpu_frequency",
        number: 11,
        derives: Derives::Counters,
        needs: &["state", "cpu_id"],
        fields: &[
            field(1, "state", Kind::UInt32),
            field(2, "cpu_id", Kind::UInt32),
        ],
    },
    EventType {
        event: "power:cpu_frequency_limits",
        number: 12,
        derives: Derives::Counters,
        needs: &["min_freq", "max_freq", "cpu_id"],
        fields: &[
            field(1, "min_freq", Kind::UInt32),
            field(2, "max_freq", Kind::UInt32),
            field(3, "cpu_id", Kind::UInt32),
        ],
    },
    EventType {
        event: "power:clock_enable",
        number: 14,
        derives: Derives::Counters,
        needs: &["name", "state"],
        fields: &[
            field(1, "name", Kind::Text),
            field(2, "state", Kind::UInt),
            field(3, "cpu_id", Kind::UInt),
        ],
    },
    EventType {
        event: "power:clock_disable",
        number: 15,
        derives: Derives::Counters,
        needs: &["name", "state"],
        fields: &[
            field(1, "name", Kind::Text),
            field(2, "state", Kind::UInt),
            field(3, "cpu_id", Kind::UInt),
        ],
    },
    EventType {
        event: "power:clock_set_rate",
        number: 16,
        derives: Derives::Counters,
        needs: &["name", "state"],
        fields: &[
            field(1, "name", Kind::Text),
            field(2, "state", Kind::UInt),
            field(3, "cpu_id", Kind::UInt),
        ],
    },
    EventType {
        event: "power:suspend_resume",
        number: 113,
        derives: Derives::Slices,
        needs: &["action", "val", "start"],
        fields: &[
            field(1, "action", Kind::Text),
            field(2, "val", Kind::Int),
            field(3, "start", Kind::UInt32),
        ],
    },
    EventType {
        event: "power:wakeup_source_activate",
        number: 404,
        derives: Derives::Nothing,
        needs: &["name"],
        fields: &[field(1, "name", Kind::Text), field(2, "state", Kind::UInt)],
    },
    EventType {
        event: "power:wakeup_source_deactivate",
        number: 405,
        derives: Derives::Nothing,
        needs: &["name"],
        fields: &[field(1, "name", Kind::Text), field(2, "state", Kind::UInt)],
    },
    EventType {
        event: "power:device_pm_callback_start",
        number: 504,
        derives: Derives::Slices,
        needs: &["device", "driver"],
        fields: &[
            field(1, "device", Kind::Text),
            field(2, "driver", Kind::Text),
            field(3, "parent", Kind::Text),
            field(4, "pm_ops", Kind::Text),
            field(5, "event", Kind::Int),
        ],
    },
    EventType {
        event: "power:device_pm_callback_end",
        number: 505,
        derives: Derives::Slices,
        needs: &["device", "driver"],
        fields: &[
            field(1, "device", Kind::Text),
            field(2, "driver", Kind::Text),
            field(3, "error", Kind::Int),
        ],
    },
    // trace/ftrace/workqueue.proto
    EventType {
        event: "workqueue:workqueue_queue_work",
        number: 59,
        derives: Derives::Nothing,
        needs: &["work"],
        fields: &[
            field(1, "work", Kind::UInt),
            field(2, "function", Kind::Symbol),
            field(4, "req_cpu", Kind::Int),
            field(5, "cpu", Kind::Int),
            field(6, "workqueue", Kind::Text),
        ],
    },
    EventType {
        event: "workqueue:workqueue_activate_work",
        number: 56,
        derives: Derives::Nothing,
        needs: &["work"],
        fields: &[
            field(1, "work", Kind::UInt),
            field(2, "function", Kind::Symbol),
        ],
    },
    EventType {
        event: "workqueue:workqueue_execute_start",
        number: 58,
        derives: Derives::Slices,
        needs: &["work", "function"],
        fields: &[
            field(1, "work", Kind::UInt),
            field(2, "function", Kind::Symbol),
        ],
    },
    EventType {
        event: "workqueue:workqueue_execute_end",
        number: 57,
        derives: Derives::Slices,
        needs: &["work"],
        fields: &[
            field(1, "work", Kind::UInt),
            field(2, "function", Kind::Symbol),
        ],
    },
    // trace/ftrace/ftrace.proto
    EventType {
        event: "ftrace:print",
        number: 3,
        derives: Derives::Marks,
        needs: &["buf"],
        fields: &[field(1, "ip", Kind::UInt), field(2, "buf", Kind::Text)],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_has_two_ends_and_every_number_one_event() {
        let mut numbers: Vec<_> = EVENT_TYPES.iter().map(|row| row.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), EVENT_TYPES.len());
        for row in EVENT_TYPES
            .iter()
            .filter(|row| row.derives == Derives::Slices)
        {
            let Some(other) = row.other_end() else {
                assert_eq!(row.event, "power:suspend_resume");
                continue;
            };
            let (system, name) = other.split_once(':').unwrap();
            let back = event_type(system, name).unwrap().other_end();
            assert_eq!(back.as_deref(), Some(row.event));
        }
        for row in EVENT_TYPES {
            let has = |name: &&str| row.fields.iter().any(|field| field.name == *name);
            assert!(row.needs.iter().all(has), "{}", row.event);
        }
    }
}
