//! Packets about the whole file: clocks, the machine, lost events; and the notes for the user.

use super::arrows::Arrows;
use super::context::Context;
use super::layout::{clock, clock_sync, ftrace_stats, packet, system_info};
use super::output::Output;
use super::plan::CallNames;
use super::proto::{FieldNumber, Message};
use super::sources::{KernelSources, Machine};
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

/// A machine whose kernel's events are in the file, as `uname -a` describes it.
pub(super) struct System {
    machine: Machine,
    uname: Option<Vec<String>>,
    cpu_count: Option<u32>,
}

impl System {
    /// Returns the system information of the machine's file.
    pub(super) fn of(sources: &KernelSources<'_>, machine: Machine) -> System {
        let info = sources.info(machine);
        let uname = info.uname.as_deref();
        let words = uname.map(|uname| uname.split_whitespace().map(str::to_owned).collect());
        System {
            machine,
            // System, host, release, version ..., machine.
            uname: words.filter(|words: &Vec<String>| words.len() >= 4),
            cpu_count: info.cpu_count,
        }
    }

    fn machine_name(&self) -> &str {
        let words = self.uname.as_deref().unwrap_or(&[]);
        words.last().map_or("", String::as_str)
    }

    /// Returns whether Perfetto has names for the machine's system calls.
    pub(crate) fn call_names(&self) -> CallNames {
        match MACHINES.contains(&self.machine_name()) {
            true => CallNames::Known,
            false => CallNames::Unknown,
        }
    }

    /// Returns how trace_processor reads the numbers of thread states; [`StateBits::Assumed`] if the file does not state
    /// the kernel's version.
    pub(super) fn states(&self) -> StateBits {
        let release = self.uname.as_ref().and_then(|words| words.get(2));
        let mut numbers = release.map_or("", String::as_str).split(['.', '-']);
        let mut number = || numbers.next().and_then(|text| text.parse::<u32>().ok());
        match (number(), number()) {
            (Some(major), Some(minor)) if (major, minor) >= (4, 14) => StateBits::New,
            (Some(_), Some(_)) => StateBits::Old,
            _ => StateBits::Assumed,
        }
    }
}

/// Writes a packet of a machine with one message.
fn write_message(
    output: &mut Output<'_>,
    time: u64,
    machine: Machine,
    field: FieldNumber,
    fill: impl FnOnce(&mut Message),
) -> Result<(), ExportError> {
    output.packet(time, machine, |message| {
        let inner = message.open(field);
        fill(message);
        message.close(inner);
    })
}

fn write_clock(message: &mut Message, id: u64, time: u64) {
    let entry = message.open(clock::CLOCKS);
    message.uint(clock::CLOCK_ID, id);
    message.uint(clock::TIME, time);
    message.close(entry);
}

/// Writes the packets at the start of the file.
pub(super) fn write_head(
    context: &Context<'_>,
    systems: &[System],
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
    write_message(
        output,
        time,
        Machine::HOST,
        packet::CLOCK_SNAPSHOT,
        |message| {
            write_clock(message, clock::BOOTTIME, time);
            if let Some(time) = wall_clock {
                write_clock(message, clock::REALTIME, time);
            }
            message.uint(clock::PRIMARY, clock::BOOTTIME);
        },
    )?;
    for system in systems {
        if system.machine != Machine::HOST {
            write_sync(output, time, system.machine)?;
        }
        system.write(output, time)?;
        write_stats(context, time, system.machine, Phase::Start, output)?;
    }
    Ok(())
}

/// Writes that the clock of a machine equals the host's clock. Readers need two comparisons, at times other than 0.
fn write_sync(output: &mut Output<'_>, time: u64, machine: Machine) -> Result<(), ExportError> {
    write_message(
        output,
        time,
        machine,
        packet::REMOTE_CLOCK_SYNC,
        |message| {
            for time in [time.saturating_add(1), time.saturating_add(2)] {
                let both = message.open(clock_sync::SYNCED_CLOCKS);
                for side in [clock_sync::OF_MACHINE, clock_sync::OF_HOST] {
                    let clocks = message.open(side);
                    write_clock(message, clock::BOOTTIME, time);
                    message.close(clocks);
                }
                message.close(both);
            }
        },
    )
}

impl System {
    fn write(&self, output: &mut Output<'_>, time: u64) -> Result<(), ExportError> {
        if self.uname.is_none() && self.cpu_count.is_none() {
            return Ok(());
        }
        write_message(output, time, self.machine, packet::SYSTEM_INFO, |message| {
            if let Some(words) = &self.uname {
                let entry = message.open(system_info::UTSNAME);
                let word = |at: usize| words.get(at).map_or("", String::as_str);
                let version = words.get(3..words.len() - 1).unwrap_or(&[]).join(" ");
                message.text(system_info::SYSTEM, word(0));
                if !version.is_empty() {
                    message.text(system_info::VERSION, &version);
                }
                message.text(system_info::RELEASE, word(2));
                message.text(system_info::MACHINE, self.machine_name());
                message.close(entry);
            }
            if let Some(count) = self.cpu_count {
                message.uint(system_info::CPU_COUNT, u64::from(count));
            }
        })
    }
}

/// Writes the packets at the end of the file.
pub(super) fn write_tail(
    context: &Context<'_>,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let time = context.time(context.span().end.0);
    let mut machines = context.sources.machines();
    machines.try_for_each(|machine| write_stats(context, time, machine, Phase::End, output))
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

/// Writes how many events each CPU of a machine lost: none before the trace.
fn write_stats(
    context: &Context<'_>,
    time: u64,
    machine: Machine,
    phase: Phase,
    output: &mut Output<'_>,
) -> Result<(), ExportError> {
    let lost = lost_events(context);
    write_message(output, time, machine, packet::FTRACE_STATS, |message| {
        let number = match phase {
            Phase::Start => ftrace_stats::START,
            Phase::End => ftrace_stats::END,
        };
        message.uint(ftrace_stats::PHASE, number);
        for (cpu, lost) in (0_u32..).zip(&lost) {
            let is_own = context.sources.of_cpu(CpuId(cpu)) == Some(machine);
            let Some(number) = context.cpu(cpu).filter(|_| is_own) else {
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

/// Returns the numbers of lost events by CPU: as the recorder counted them, or else the sum of the gaps.
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
    for machine in context.sources.machines().skip(1) {
        let name = context.sources.name(machine);
        notes.push(format!(
            "{name} is another machine in Perfetto, number {}",
            machine.0
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
        arrows.apart_count,
        "arrow between machines is left out: Perfetto has none",
        "arrows between machines are left out: Perfetto has none",
    );
    note(
        arrows.lone.len() as u64,
        "flow event makes no arrow and is an instant",
        "flow events make no arrows and are instants",
    );
    note(
        counts.tasks.left_out,
        "thread state is left out: the format has no number for it",
        "thread states are left out: the format has no numbers for them",
    );
}
