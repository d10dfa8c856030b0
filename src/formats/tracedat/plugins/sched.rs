//! The scheduler's events: `comm:pid [prio] STATE ==> comm:pid [prio]`.

use super::plugin::{Event, Plugin, State, Then};
use crate::formats::tracedat::print_fmt::printf::{push_decimal, push_signed};

pub(super) const PLUGINS: &[Plugin] = &[
    Plugin {
        system: "sched",
        event: "sched_switch",
        fields: &[
            "prev_comm",
            "prev_pid",
            "prev_prio",
            "prev_state",
            "next_comm",
            "next_pid",
            "next_prio",
        ],
        show: show_switch,
    },
    Plugin {
        system: "sched",
        event: "sched_wakeup",
        fields: &["comm", "pid", "prio", "success", "target_cpu"],
        show: show_wakeup,
    },
    Plugin {
        system: "sched",
        event: "sched_wakeup_new",
        fields: &["comm", "pid", "prio", "success", "target_cpu"],
        show: show_wakeup,
    },
];

fn show_switch(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(previous) = event.require(out, 1) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    push_name(out, event, 0, previous, state);
    push_signed(out, previous as i64);
    out.push(b' ');
    if event.require(out, 2).is_some() {
        out.push(b'[');
        push_signed(out, event.signed(2).unwrap_or(0));
        out.extend_from_slice(b"] ");
    }
    if let Some(value) = event.require(out, 3) {
        event.kind.state_letters().push(out, value);
    }
    out.extend_from_slice(b" ==> ");
    let Some(next) = event.require(out, 5) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    push_name(out, event, 4, next, state);
    push_signed(out, next as i64);
    if event.require(out, 6).is_some() {
        out.extend_from_slice(b" [");
        push_signed(out, event.signed(6).unwrap_or(0));
        out.push(b']');
    }
    Then::Done
}

fn show_wakeup(out: &mut Vec<u8>, event: &Event<'_>, state: &mut State<'_>) -> Then {
    let Some(pid) = event.require(out, 1) else {
        out.push(b'!');
        return Then::PrintFmt;
    };
    push_name(out, event, 0, pid, state);
    push_signed(out, pid as i64);
    if event.require(out, 2).is_some() {
        out.extend_from_slice(b" [");
        push_signed(out, event.signed(2).unwrap_or(0));
        out.push(b']');
    }
    if let Some(success) = event.value(3) {
        out.extend_from_slice(b" success=");
        push_signed(out, success as i64);
    }
    if let Some(cpu) = event.require(out, 4) {
        out.extend_from_slice(b" CPU:");
        let zeros = usize::from(cpu < 100) + usize::from(cpu < 10);
        out.extend_from_slice(b"00".get(..zeros).unwrap_or(b""));
        push_decimal(out, cpu);
    }
    Then::Done
}

/// Appends a thread's name and a colon. The name is stored for later lines.
fn push_name(out: &mut Vec<u8>, event: &Event<'_>, index: usize, pid: u64, state: &mut State<'_>) {
    let Some(field) = event.field(index) else {
        return;
    };
    let name = field
        .data(event.scope.record, event.scope.endian)
        .unwrap_or(&[]);
    let length = memchr::memchr(0, name).unwrap_or(name.len());
    let name = name.get(..length).unwrap_or(name);
    out.extend_from_slice(name);
    out.push(b':');
    (state.learn_name)(pid as i32, name);
}
