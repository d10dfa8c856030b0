//! `--cpu`, `--process`, `--thread`, `--track`: restrict a command by numbers and names that the user gives.

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{CliError, asked_span};
use crate::base::CpuList;
use crate::export::{self, Selection};
use crate::query::area::{Area, Lane, Lanes};
use crate::trace::{CpuId, ProcessId, ThreadId, Trace, TrackKind};

/// The answer to `--thread 0`, if no thread of a program has this number.
const IDLE_IS_OF_ALL_CPUS: &str = "thread 0 is the idle thread of all CPUs and cannot be chosen: --cpu N chooses what happened on a CPU";

/// Adds the arguments that restrict a command.
pub(crate) fn narrowing_arguments(command: clap::Command) -> clap::Command {
    let numbers = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .help(help)
            .action(ArgAction::Append)
            .value_parser(value_parser!(u64))
    };
    command
        .arg(
            numbers(
                "cpu",
                "N",
                "Only what happened on CPU N, or on several (0,2-4); may be repeated",
            )
            .value_parser(value_parser!(CpuList)),
        )
        .arg(numbers(
            "process",
            "PID",
            "Only what this process did, beside other selected processes, threads and tracks; may be repeated",
        ))
        .arg(numbers(
            "thread",
            "TID",
            "Only what this thread did, beside other selected processes, threads and tracks; may be repeated",
        ))
        .arg(
            Arg::new("track")
                .long("track")
                .value_name("NAME")
                .help(
                    "Only tracks and counters called NAME or, if there are none, with NAME in their name: a \
                     thread's track means --thread; `CPU 0` alone means --cpu 0, with other selections only what that CPU's track shows; may be \
                     repeated",
                )
                .action(ArgAction::Append),
        )
}

/// Explains in the help of `--cpu` how slices are counted there.
pub(crate) fn slices_on_cpu(command: clap::Command) -> clap::Command {
    command.mut_arg("cpu", |arg| {
        arg.help(
            "Only what happened on CPU N, or on several (0,2-4): a thread's slice counts once if the thread \
             ran there during it, with the time that it ran there in the range; slices of the CPU itself \
             (interrupts) count as without --cpu, operations on asynchronous tracks are of no CPU. With \
             --thread or --process only what these did there. May be repeated",
        )
    })
}

/// Returns our ids for the user's numbers and names; for a reused number, the ids of all its lives.
pub(crate) fn selection_of(matches: &ArgMatches, trace: &Trace) -> Result<Selection, CliError> {
    let span = asked_span(matches, trace);
    if span.start >= span.end {
        let words = "--until must be later than --from";
        return Err(CliError::Usage(words.to_owned()));
    }
    let mut selection = Selection::range(span);
    let lists = matches.get_many::<CpuList>("cpu").unwrap_or_default();
    for range in lists.flat_map(|list| &list.ranges) {
        let cpus = (0..).zip(&trace.cpus);
        let found = cpus.filter(|(_, cpu)| range.contains(&cpu.number));
        let before = selection.cpus.len();
        selection.cpus.extend(found.map(|(index, _)| CpuId(index)));
        if selection.cpus.len() == before {
            return Err(absent("CPU", (*range.start()).into()));
        }
    }
    selection.cpus.sort_unstable();
    selection.cpus.dedup();
    for number in numbers(matches, "process") {
        let before = selection.processes.len();
        let processes = trace.processes.iter().enumerate();
        let found = processes.filter(|(_, process)| process.pid == number);
        selection
            .processes
            .extend(found.map(|(index, _)| ProcessId(index as u32)));
        if selection.processes.len() == before {
            return Err(absent("process", number));
        }
    }
    for number in numbers(matches, "thread") {
        let before = selection.threads.len();
        let threads = trace.threads.iter().enumerate().skip(1);
        let found = threads.filter(|(_, thread)| thread.tid == number);
        selection
            .threads
            .extend(found.map(|(index, _)| ThreadId(index as u32)));
        if selection.threads.len() == before {
            return Err(match number {
                0 if !trace.cpus.is_empty() => CliError::Usage(IDLE_IS_OF_ALL_CPUS.to_owned()),
                _ => absent("thread", number),
            });
        }
    }
    for name in matches.get_many::<String>("track").unwrap_or_default() {
        let named = export::choices::tracks_named(trace, name);
        if named.is_empty() {
            let words = format!("there is no track with '{name}' in its name in this trace");
            return Err(CliError::Usage(words));
        }
        // A thread's row also shows its states and runs.
        let tracks = named.tracks.into_iter();
        selection
            .tracks
            .extend(tracks.filter(|&id| match trace.tracks[id.0 as usize].kind {
                TrackKind::Thread(thread) => named.threads.binary_search(&thread).is_err(),
                TrackKind::Async(_) | TrackKind::Cpu(_) | TrackKind::Nobody => true,
            }));
        selection.threads.extend(named.threads);
        selection.counters.extend(named.counters);
        selection.cpu_tracks.extend(named.cpus);
    }
    selection.take_cpus_alone();
    Ok(selection)
}

fn numbers(matches: &ArgMatches, name: &str) -> Vec<u64> {
    matches
        .get_many::<u64>(name)
        .unwrap_or_default()
        .copied()
        .collect()
}

fn absent(what: &str, number: u64) -> CliError {
    CliError::Usage(format!("there is no {what} {number} in this trace"))
}

/// Returns the area that the arguments mean: all lanes if they name nothing. With both threads and CPUs, only what
/// these threads did on these CPUs.
pub(crate) fn area_of(matches: &ArgMatches, trace: &Trace) -> Result<Area, CliError> {
    let selection = selection_of(matches, trace)?;
    let mut area = Area::of(selection.span);
    let threads = threads_of(&selection, trace);
    let names_threads = !(selection.threads.is_empty() && selection.processes.is_empty());
    let names_tracks = !(selection.tracks.is_empty()
        && selection.counters.is_empty()
        && selection.cpu_tracks.is_empty());
    if names_threads && !selection.cpus.is_empty() {
        if names_tracks {
            let words = "--track cannot be given with both --cpu and --thread or --process";
            return Err(CliError::Usage(words.to_owned()));
        }
        area.lanes = Lanes::Both {
            threads,
            cpus: selection.cpus,
        };
        return Ok(area);
    }
    for &cpu in &selection.cpus {
        area.add_cpu(trace, cpu);
    }
    for thread in threads {
        area.add_thread(trace, thread);
    }
    for &process in &selection.processes {
        area.add_process(trace, process);
    }
    for &track in &selection.tracks {
        area.add(Lane::Track(track));
    }
    for &cpu in &selection.cpu_tracks {
        area.add_cpu_track(trace, cpu);
    }
    for &counter in &selection.counters {
        area.add(Lane::Counter(counter));
    }
    if let (Lanes::All, false) = (&area.lanes, selection.processes.is_empty()) {
        area.lanes = Lanes::Of(Vec::new());
    }
    Ok(area)
}

/// Returns the threads that `--thread` and `--process` mean.
pub(crate) fn threads_of(selection: &Selection, trace: &Trace) -> Vec<ThreadId> {
    let of_processes = trace.threads.iter().zip(0..).filter(|(thread, _)| {
        let process = thread.process;
        process.is_some_and(|id| selection.processes.contains(&id))
    });
    let mut threads: Vec<ThreadId> = of_processes.map(|(_, id)| ThreadId(id)).collect();
    threads.extend(&selection.threads);
    threads.sort_unstable();
    threads.dedup();
    threads
}
