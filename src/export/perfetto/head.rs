//! What is said once about the whole file: clocks, the machine, lost events; and the notes for the user.

use super::arrows::Arrows;
use super::context::Context;
use super::layout::{clock, ftrace_stats, packet, system_info, trace as top};
use super::output::{OTHER_SEQUENCE, Output};
use super::plan::Machine;
use super::proto::{FieldNumber, Message};
use super::sources::KernelSources;
use super::track_marks::RowCounts;
use super::values::StateBits;
use crate::event::part::{ClockUnit, FirstDay};
use crate::export::shared::arguments::ArgValue;
use crate::export::shared::losses::{self, Counted};
use crate::export::{ExportError, Summary};
use crate::fxt::agreed::OVERWRITTEN;
use crate::trace::{CpuId, GapId};

/// The machines for which trace_processor has the names of system calls (`src/kernel_utils/syscall_table.cc`).
const MACHINES: [&str; 7] = ["x86_64", "aarch64", "arm64", "i386", "i486", "i586", "i686"];

/// The machine of the kernel's events, as `uname -a` describes it.
pub(super) struct System {
    uname: Option<Vec<String>>,
    cpu_count: Option<u32>,
}

impl System {
    /// Reads what the kernel's file states.
    pub fn of(sources: &KernelSources<'_>) -> System {
        let info = sources.info();
        let fact = info.and_then(|info| info.facts.iter().find(|fact| fact.name == "uname"));
        let words = fact.map(|fact| fact.value.split_whitespace().map(str::to_owned).collect());
        System {
            // System, host, release, version ..., machine.
            uname: words.filter(|words: &Vec<String>| words.len() >= 4),
            cpu_count: info.and_then(|info| info.cpu_count),
        }
    }

    fn machine_name(&self) -> &str {
        let words = self.uname.as_deref().unwrap_or(&[]);
        words.last().map_or("", String::as_str)
    }

    /// Returns whether Perfetto has names for the machine's system calls.
    pub fn machine(&self) -> Machine {
        match MACHINES.contains(&self.machine_name()) {
            true => Machine::Known,
            false => Machine::Unknown,
        }
    }

    /// Returns how trace_processor reads the numbers of thread states.
    pub fn states(&self) -> StateBits {
        let release = self.uname.as_ref().and_then(|words| words.get(2));
        let mut numbers = release.map_or("", String::as_str).split(['.', '-']);
        let mut number = || numbers.next().and_then(|text| text.parse::<u32>().ok());
        match (number(), number()) {
            (Some(major), Some(minor)) if (major, minor) >= (4, 14) => StateBits::New,
            _ => StateBits::Old,
        }
    }
}

/// Writes one packet with a time.
fn write_packet(
    output: &mut Output<'_>,
    time: u64,
    field: FieldNumber,
    fill: impl FnOnce(&mut Message),
) -> Result<(), ExportError> {
    let mut message = Message::default();
    let outer = message.open(top::PACKET);
    message.uint(packet::TIMESTAMP, time);
    message.uint(packet::SEQUENCE, OTHER_SEQUENCE);
    let inner = message.open(field);
    fill(&mut message);
    message.close(inner);
    message.close(outer);
    output.write(message.bytes())
}

/// Writes the packets at the start of the file.
pub(super) fn write_head(
    context: &Context<'_>,
    system: &System,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let time = output.start;
    let info = &context.trace.info;
    let wall_clock = info
        .wall_clock_zero_ns
        .filter(|_| info.first_day != FirstDay::Unknown);
    let wall_clock = wall_clock.and_then(|zero| {
        let own = time.cast_signed().checked_sub(context.shift)?;
        u64::try_from(zero.checked_add(own)?).ok()
    });
    write_packet(output, time, packet::CLOCK_SNAPSHOT, |message| {
        let clocks = [(clock::BOOTTIME, Some(time)), (clock::REALTIME, wall_clock)];
        for (id, time) in clocks {
            let Some(time) = time else { continue };
            let entry = message.open(clock::CLOCKS);
            message.uint(clock::CLOCK_ID, id);
            message.uint(clock::TIME, time);
            message.close(entry);
        }
        message.uint(clock::PRIMARY, clock::BOOTTIME);
    })?;
    if system.uname.is_some() || system.cpu_count.is_some() {
        write_packet(output, time, packet::SYSTEM_INFO, |message| {
            if let Some(words) = &system.uname {
                let entry = message.open(system_info::UTSNAME);
                let word = |at: usize| words.get(at).map_or("", String::as_str);
                let version = words.get(3..words.len() - 1).unwrap_or(&[]).join(" ");
                message.text(system_info::SYSTEM, word(0));
                if !version.is_empty() {
                    message.text(system_info::VERSION, &version);
                }
                message.text(system_info::RELEASE, word(2));
                message.text(system_info::MACHINE, system.machine_name());
                message.close(entry);
            }
            if let Some(count) = system.cpu_count {
                message.uint(system_info::CPU_COUNT, u64::from(count));
            }
        })?;
    }
    if context.sources.is_any() {
        write_stats(context, time, Phase::Start, output)?;
    }
    Ok(())
}

/// Writes the packets at the end of the file.
pub(super) fn write_tail(
    context: &Context<'_>,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    if !context.sources.is_any() {
        return Ok(());
    }
    let time = context.time(context.span().end.0);
    write_stats(context, time, Phase::End, output)
}

/// When statistics are taken: trace_processor computes the difference.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    End,
}

/// The numbers of lost events of a CPU.
#[derive(Clone, Copy, Debug, Default)]
struct LostEvents {
    overwritten: u64,
    dropped: u64,
}

/// Writes how many events each CPU of the kernel lost: none before the trace.
fn write_stats(
    context: &Context<'_>,
    time: u64,
    phase: Phase,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let lost = lost_events(context);
    write_packet(output, time, packet::FTRACE_STATS, |message| {
        let number = match phase {
            Phase::Start => ftrace_stats::START,
            Phase::End => ftrace_stats::END,
        };
        message.uint(ftrace_stats::PHASE, number);
        for (cpu, lost) in (0_u32..).zip(&lost) {
            let Some(number) = context
                .cpu(cpu)
                .filter(|_| context.sources.has_cpu(CpuId(cpu)))
            else {
                continue;
            };
            let lost = match phase {
                Phase::Start => LostEvents::default(),
                Phase::End => *lost,
            };
            let entry = message.open(ftrace_stats::CPU_STATS);
            message.uint(ftrace_stats::CPU, u64::from(number));
            message.uint(ftrace_stats::OVERRUN, lost.overwritten);
            message.uint(ftrace_stats::DROPPED_EVENTS, lost.dropped);
            message.close(entry);
        }
    })
}

/// Returns the numbers of lost events by CPU: as the recorder counted them, or at least those of the gaps.
fn lost_events(context: &Context<'_>) -> Vec<LostEvents> {
    let trace = context.trace;
    let mut lost = vec![LostEvents::default(); trace.cpus.len()];
    for row in losses::chosen_rows(trace, context.chosen) {
        let cpu = trace.gap_cpu(GapId(row.row));
        if let Some(lost) = cpu.and_then(|cpu| lost.get_mut(cpu.0 as usize)) {
            let count = row.gap.lost.unwrap_or(0);
            lost.overwritten = lost.overwritten.saturating_add(count);
        }
    }
    let counted = Counted::of(trace, context.chosen);
    for (cpu, lost) in (0_u32..).map(CpuId).zip(&mut lost) {
        let mut own = LostEvents::default();
        for arg in counted.arguments(cpu) {
            let ArgValue::UInt64(count) = arg.value else {
                continue;
            };
            match &*arg.name == OVERWRITTEN.as_bytes() {
                true => own.overwritten = count,
                false => own.dropped = count,
            }
        }
        if own.overwritten.saturating_add(own.dropped) >= lost.overwritten {
            *lost = own;
        }
    }
    lost
}

/// Adds the notes for the user.
pub(super) fn add_notes(
    context: &Context<'_>,
    arrows: &Arrows,
    counts: &RowCounts,
    summary: &mut Summary,
) {
    let notes = &mut summary.notes;
    if context.shift > 0 {
        let shift = context.shift;
        notes.push(format!(
            "Perfetto has no times below zero: {shift} ns were added to all times"
        ));
    }
    let word = match context.trace.info.clock_unit {
        ClockUnit::Nanoseconds => None,
        ClockUnit::Cycles => Some("cycles"),
        ClockUnit::Order => Some("steps"),
        ClockUnit::Lines => Some("lines"),
    };
    if let Some(word) = word {
        notes.push(format!(
            "the clock counts {word}: Perfetto shows each as one nanosecond"
        ));
    }
    for name in context.sources.others() {
        notes.push(format!(
            "the events of {name} are track events: Perfetto knows the threads of one kernel only"
        ));
    }
    notes.extend_from_slice(&context.people.notes);
    let mut note = |count: u64, one: &str, many: &str| match count {
        0 => {}
        1 => notes.push(format!("1 {one}")),
        count => notes.push(format!("{count} {many}")),
    };
    note(
        arrows.points.len() as u64,
        "end of an arrow is outside of all slices and is an instant",
        "ends of arrows are outside of all slices and are instants",
    );
    note(
        arrows.lone_count,
        "flow event makes no arrow and is left out",
        "flow events make no arrows and are left out",
    );
    note(
        counts.tasks.left_out,
        "thread state is left out: the format has no number for it",
        "thread states are left out: the format has no numbers for them",
    );
}
