//! The meaning of events by name; it is the same as in binary traces, from the tables in `event::pairs`.
//!
//! Text does not contain an event's system, which is derived from the name if it is needed.

use crate::event::kernel::{
    ASYNC_PAIRS, AsyncPair, COUNTERS, Counter, EndOfPair, Noise, PAIRS, Pair, PairEnd, RequestOp,
    find_async_pair, find_counters, find_noise, find_pair, find_request, is_of_cpu, is_user_mode,
};
use crate::event::{Role, WakeupSort};

/// How events with one name are processed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recipe {
    /// An instant, unless its text is that of a probe.
    Plain,
    /// sched_switch.
    Switch,
    /// sched_waking, sched_wakeup, sched_wakeup_new.
    Wakeup(WakeupSort),
    /// Begin or end of a slice.
    Mark(&'static Pair, PairEnd),
    /// Begin or end of an asynchronous slice.
    Async(&'static AsyncPair, PairEnd),
    /// A step of a bio or request.
    Request(RequestOp),
    /// Samples of counters.
    Counters(&'static [Counter]),
    /// Noise: time that something else used on the CPU.
    Noise(&'static Noise),
    /// sched_process_fork.
    Fork,
    /// task_newtask.
    NewTask,
    /// sched_process_exec.
    Exec,
    /// sched_process_exit.
    Exit,
    /// sched_process_free.
    Forget,
    /// sched_migrate_task.
    Migrate,
    /// sched_stat_runtime.
    Ran,
    /// task_rename.
    Rename,
    /// Shows that its thread is not in a system call.
    UserMode,
    /// A mark written by a program or the kernel.
    Print,
    /// A step of the function graph tracer.
    Graph,
}

/// Prefixes of event names and their systems.
const SYSTEMS: &[(&str, &str)] = &[
    ("sched_", "sched"),
    ("sys_enter_", "syscalls"),
    ("sys_exit_", "syscalls"),
    ("irq_handler_", "irq"),
    ("softirq_", "irq"),
    ("tasklet_", "irq"),
    ("local_timer_", "irq_vectors"),
    ("spurious_apic_", "irq_vectors"),
    ("error_apic_", "irq_vectors"),
    ("x86_platform_ipi_", "irq_vectors"),
    ("irq_work_", "irq_vectors"),
    ("reschedule_", "irq_vectors"),
    ("call_function_", "irq_vectors"),
    ("thermal_apic_", "irq_vectors"),
    ("threshold_apic_", "irq_vectors"),
    ("deferred_error_apic_", "irq_vectors"),
    ("vector_", "irq_vectors"),
    ("page_fault_", "exceptions"),
    ("hrtimer_", "timer"),
    ("timer_", "timer"),
    ("itimer_", "timer"),
    ("tick_stop", "timer"),
    ("workqueue_", "workqueue"),
    ("ipi_", "ipi"),
    ("napi_", "napi"),
    ("netif_", "net"),
    ("net_", "net"),
    ("cpuhp_", "cpuhp"),
    ("kvm_", "kvm"),
    ("block_", "block"),
    ("ext4_", "ext4"),
    ("9p_", "9p"),
    ("jbd2_", "jbd2"),
    ("kmem_", "kmem"),
    ("mm_page_", "kmem"),
    ("kmalloc", "kmem"),
    ("kfree", "kmem"),
    ("rss_stat", "kmem"),
    ("signal_", "signal"),
    ("task_", "task"),
    ("cpu_idle", "power"),
    ("cpu_frequency", "power"),
    ("clock_", "power"),
    ("clk_", "clk"),
    ("device_pm_", "power"),
    ("pstate_", "power"),
    ("thermal_", "thermal"),
    ("cdev_update", "thermal"),
    ("writeback_", "writeback"),
    ("global_dirty_state", "writeback"),
    ("skb_", "skb"),
    ("consume_skb", "skb"),
    ("tcp_", "tcp"),
    ("udp_", "udp"),
    ("inet_sock_", "sock"),
    ("sock_", "sock"),
    ("lock_", "lock"),
    ("contention_", "lock"),
    ("rcu_", "rcu"),
    ("funcgraph_", "ftrace"),
    ("fgraph_", "ftrace"),
    ("function", "ftrace"),
    ("func_repeats", "ftrace"),
    ("raw_data", "ftrace"),
    ("hwlat", "ftrace"),
    ("timerlat", "ftrace"),
    ("osnoise", "ftrace"),
    ("kernel_stack", "ftrace"),
    ("user_stack", "ftrace"),
    ("print", "ftrace"),
    ("bprint", "ftrace"),
    ("bputs", "ftrace"),
];

/// Returns the system of events with this name; empty if the name does not show it.
#[must_use]
pub(crate) fn system_of(name: &str) -> &'static str {
    match name {
        "sys_enter" | "sys_exit" => return "raw_syscalls",
        "cpu_idle_miss" => return "power",
        "irq_noise" | "thread_noise" | "softirq_noise" | "nmi_noise" | "sample_threshold" => {
            return "osnoise";
        }
        _ => {}
    }
    let rows = PAIRS.iter().flat_map(|pair| [pair.begin, pair.end]);
    let rows = rows.chain(COUNTERS.iter().map(|row| row.event));
    let rows = rows.chain(
        ASYNC_PAIRS
            .iter()
            .flat_map(|row| std::iter::once(&row.begin).chain(row.ends).copied()),
    );
    for row in rows {
        if let Some((system, event)) = row.split_once(':')
            && event == name
        {
            return system;
        }
    }
    SYSTEMS
        .iter()
        .find(|(start, _)| name.starts_with(start))
        .map_or("", |(_, system)| system)
}

/// Returns the meaning of events with this name.
#[must_use]
pub(crate) fn recipe_for(name: &str) -> Recipe {
    let system = system_of(name);
    match name {
        "sched_switch" => return Recipe::Switch,
        "sched_waking" => return Recipe::Wakeup(WakeupSort::Waking),
        "sched_wakeup" => return Recipe::Wakeup(WakeupSort::Wakeup),
        "sched_wakeup_new" => return Recipe::Wakeup(WakeupSort::New),
        "sched_migrate_task" => return Recipe::Migrate,
        "sched_stat_runtime" => return Recipe::Ran,
        "sched_process_fork" => return Recipe::Fork,
        "sched_process_exec" => return Recipe::Exec,
        "sched_process_exit" => return Recipe::Exit,
        "sched_process_free" => return Recipe::Forget,
        "task_newtask" => return Recipe::NewTask,
        "task_rename" => return Recipe::Rename,
        "tracing_mark_write" | "print" | "bprint" | "bputs" => return Recipe::Print,
        "funcgraph_entry" | "funcgraph_exit" | "fgraph_retaddr_entry" => return Recipe::Graph,
        _ => {}
    }
    if is_user_mode(system, name) {
        return Recipe::UserMode;
    }
    if let Some(found) = find_pair(system, name) {
        return Recipe::Mark(found.pair, found.end);
    }
    if let Some(EndOfPair { pair, end }) = find_async_pair(system, name) {
        return Recipe::Async(pair, end);
    }
    if let Some(row) = find_noise(system, name) {
        return Recipe::Noise(row);
    }
    if let Some(op) = find_request(system, name) {
        return Recipe::Request(op);
    }
    match find_counters(system, name) {
        [] => Recipe::Plain,
        rows => Recipe::Counters(rows),
    }
}

/// Returns the role of events with this meaning whose text is not that of a probe or a mark.
#[must_use]
pub(crate) fn role_of(recipe: Recipe, system: &str) -> Role {
    match recipe {
        Recipe::Switch => Role::Switch,
        Recipe::Mark(pair, _) if pair.family.is_of_calls() => Role::SystemCall,
        Recipe::Wakeup(_)
        | Recipe::Mark(..)
        | Recipe::Async(..)
        | Recipe::Counters(_)
        | Recipe::Noise(_)
        | Recipe::Graph => Role::Consumed,
        // A merge neither begins nor ends a request.
        Recipe::Request(op) if op != RequestOp::Merge => Role::Consumed,
        _ if is_of_cpu(system) => Role::CpuInstant,
        _ => Role::Instant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_systems_and_recipes() {
        assert_eq!(system_of("sched_switch"), "sched");
        assert_eq!(system_of("sys_enter"), "raw_syscalls");
        assert_eq!(system_of("sys_enter_read"), "syscalls");
        assert_eq!(system_of("local_timer_entry"), "irq_vectors");
        assert_eq!(system_of("hrtimer_expire_entry"), "timer");
        assert_eq!(system_of("my_event"), "");
        assert!(matches!(
            recipe_for("irq_handler_exit"),
            Recipe::Mark(_, PairEnd::End)
        ));
        assert!(matches!(
            recipe_for("block_rq_issue"),
            Recipe::Request(RequestOp::Issue)
        ));
        assert!(matches!(recipe_for("cpu_idle"), Recipe::Counters(_)));
        assert!(matches!(recipe_for("whatever"), Recipe::Plain));
    }
}
