//! `threadline record`: records events of the kernel in a trace.dat.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{CliError, Command, Example, without_reading_arguments};
use crate::base::time::parse_duration;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "record",
    about: "Record what this machine does, with the kernel's tracefs, as a trace.dat",
    arguments,
    examples: &[
        Example {
            line: "--preset sched --for 10s -o sched.dat",
            about: "Who runs, waits and wakes whom, for ten seconds",
        },
        Example {
            line: "-e 'sched:*' -o make.dat -- make -j8",
            about: "What the machine does while a command runs",
        },
    ],
    run,
};

fn arguments(command: clap::Command) -> clap::Command {
    let many = |name: &'static str, short: char, value: &'static str, help: &'static str| {
        Arg::new(name)
            .short(short)
            .value_name(value)
            .help(help)
            .action(ArgAction::Append)
    };
    let command = command
        .arg(many("event", 'e', "EVENT", "Record these events: SYSTEM:EVENT, SYSTEM or EVENT, with * for any characters; may be repeated").long("event"))
        .arg(many("filter", 'f', "FILTER", "The kernel's filter for the -e before it, e.g. 'prev_prio < 100'").long("filter"))
        .arg(Arg::new("tracer").short('p').long("tracer").value_name("TRACER").help("Trace functions: function or function_graph"))
        .arg(many("function", 'l', "FUNC", "Trace only functions with this name (* for any characters); may be repeated").long("function"))
        .arg(many("graph", 'g', "FUNC", "With function_graph, trace this function and what it calls; may be repeated").long("graph-function"))
        .arg(Arg::new("probe").long("probe").value_name("DEFINITION").help("Define a probe for this recording, e.g. 'p vfs_read count=%dx'; may be repeated").action(ArgAction::Append))
        .arg(Arg::new("stack").long("stack").help("Record the kernel's stack after each event").action(ArgAction::SetTrue))
        .arg(many("pid", 'P', "PID", "Record only this thread; may be repeated").long("pid").value_parser(value_parser!(u32)))
        .arg(Arg::new("children").long("children").help("With -P, record what those threads start, too").action(ArgAction::SetTrue).requires("pid"))
        .arg(Arg::new("clock").short('C').long("clock").value_name("CLOCK").help("The clock of the events: local, mono, boot ... [default: the kernel's, local]"))
        .arg(Arg::new("buffer").short('b').long("buffer-size").value_name("SIZE").help("Size of the kernel's buffer for each CPU, e.g. 16M").default_value("4M").value_parser(crate::base::budget::parse_size));
    ending_arguments(without_reading_arguments(command))
}

fn ending_arguments(command: clap::Command) -> clap::Command {
    command
        .arg(
            Arg::new("preset")
                .long("preset")
                .value_name("SET")
                .help("Record a ready set of events: sched, irq, syscalls, block, latency or build; may be repeated")
                .action(ArgAction::Append),
        )
        .arg(
            Arg::new("for")
                .long("for")
                .value_name("T")
                .help("Stop after this time, e.g. 10s")
                .value_parser(parse_duration),
        )
        .arg(
            Arg::new("until-event")
                .long("until-event")
                .value_name("EXPR")
                .help("Stop when something matches this expression of `threadline search`"),
        )
        .arg(
            Arg::new("ring")
                .long("ring")
                .value_name("T")
                .help("Keep only the last stretch, in memory, and write it when --trigger matches")
                .requires("trigger")
                .value_parser(parse_duration),
        )
        .arg(
            Arg::new("ring-memory")
                .long("ring-memory")
                .value_name("SIZE")
                .help("Keep at most this much for --ring")
                .default_value("256M")
                .value_parser(crate::base::budget::parse_size),
        )
        .arg(
            Arg::new("trigger")
                .long("trigger")
                .value_name("EXPR")
                .help("What --ring waits for, as in `threadline search`: 'state == runnable && dur > 5ms' is a late wakeup")
                .requires("ring"),
        )
        .arg(
            Arg::new("after")
                .long("after")
                .value_name("T")
                .help("Record for this time after --trigger matched")
                .requires("ring")
                .value_parser(parse_duration),
        )
        .arg(
            Arg::new("repeat")
                .long("repeat")
                .value_name("N")
                .help("Write up to N files, FILE and FILE-2 to FILE-N, each when --trigger matches again")
                .default_value("1")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Where to write")
                .default_value("trace.dat")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .help("Replace FILE if it exists")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("compress")
                .long("compress")
                .help("Compress the file with zstd")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("on")
                .long("on")
                .value_name("ssh:HOST")
                .help("Record another machine, where only a shell is needed; ssh must not ask for a password, and the user there must be root")
                .value_parser(|text: &str| match text.strip_prefix("ssh:") {
                    Some(host) if !host.is_empty() && !host.starts_with('-') => Ok(host.to_owned()),
                    _ => Err(format!("'{text}': expected ssh:HOST; any other command is for --on-command")),
                }),
        )
        .arg(
            Arg::new("on-command")
                .long("on-command")
                .value_name("COMMAND")
                .help("Record the machine on which this command gives a root shell, e.g. 'docker exec -i NAME sh' or 'adb shell'")
                .conflicts_with("on"),
        )
        .arg(
            Arg::new("pkexec")
                .long("pkexec")
                .help("Get the rights from polkit, which asks for a password, for the part that uses tracefs")
                .conflicts_with_all(["on", "on-command"])
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("live")
                .long("live")
                .value_name("DIR")
                .help("Let another program read the recording in this empty folder while it is made; a line `stop` on standard input ends it")
                .conflicts_with_all(["ring", "on", "on-command", "command"])
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            Arg::new("list")
                .long("list")
                .help("Print the sets, and the events, tracers and clocks of this kernel")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("clean-up")
                .long("clean-up")
                .help("Put back what a killed recording left in the kernel")
                .action(ArgAction::SetTrue),
        )
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .help("Run this command, and stop when it ends; without it, Ctrl+C stops")
                .num_args(1..)
                .last(true)
                .conflicts_with_all(["for", "until-event"])
                .value_parser(value_parser!(OsString)),
        )
        .after_help(
            "COMMAND runs with the rights of the user who called sudo. Only a small process of its own \
             (threadline-tracer) keeps the rights; it uses tracefs and sees no file of yours.",
        )
}

#[cfg(not(target_os = "linux"))]
fn run(_matches: &ArgMatches) -> Result<(), CliError> {
    Err(CliError::Input(
        "only Linux has tracefs to record with".to_owned(),
    ))
}

#[cfg(target_os = "linux")]
fn run(matches: &ArgMatches) -> Result<(), CliError> {
    linux::run(matches)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use clap::ArgMatches;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    use crate::base::Nanos;
    use crate::cli::command::{CliError, stdout, warn};
    use crate::cli::output::overwrite_of;
    use crate::cli::progress::Line;
    use crate::cli::search;
    use crate::export::Overwrite;
    use crate::record::presets::{self, PRESETS};
    use crate::record::{
        self, Authority, Ending, Flight, Live, Plan, RecordError, Recorded, Rights, Situation,
        Target, Watchword,
    };
    use crate::tracedat::sections::Packing;
    use crate::tracefs::catalog;
    use crate::tracefs::folder::Folder;
    use crate::tracefs::journal::{Leftovers, group_name};
    use crate::tracefs::order::{Children, EventOrder, Order, Stacks};

    pub(super) fn run(matches: &ArgMatches) -> Result<(), CliError> {
        if matches.get_flag("list") {
            return list();
        }
        if matches.get_flag("clean-up") {
            return record::clean_up().map_err(failed);
        }
        let order = order_of(matches)?;
        let path = matches.get_one::<PathBuf>("output").cloned();
        let path = path.unwrap_or_else(|| "trace.dat".into());
        let overwrite = overwrite_of(matches);
        if path.as_os_str() == "-" {
            return Err(CliError::Input(
                "a recording cannot be written to standard output: give it a file".to_owned(),
            ));
        }
        if path.is_dir() {
            let path = path.display();
            return Err(CliError::Input(format!("this is a folder: {path}")));
        }
        if path.exists() && !path.is_file() {
            // Opening a pipe would wait for its reader.
            let path = path.display();
            let words = format!("a recording can only be written to a file of a disk: {path}");
            return Err(CliError::Input(words));
        }
        if overwrite == Overwrite::Refuse && path.exists() {
            return Err(failed(RecordError::Exists(path)));
        }
        let on = on_of(matches);
        if on.is_empty() {
            offer_clean_up();
            let absent = order
                .pids
                .iter()
                .filter(|pid| !Path::new("/proc").join(pid.to_string()).exists());
            for pid in absent {
                warn(&format!("no thread or process has the number {pid} now"));
            }
        }
        let is_stopped = Arc::new(AtomicBool::new(false));
        // What was recorded is kept, also if the terminal is closed.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&is_stopped))?;
        }
        let plan = Plan {
            order,
            on,
            ending: ending_of(matches)?,
            flight: flight_of(matches)?,
            target: Target {
                path: path.clone(),
                overwrite,
                packing: match matches.get_flag("compress") {
                    true => Packing::Packed,
                    false => Packing::Plain,
                },
            },
            rights: Rights::GivenUp,
            authority: match matches.get_flag("pkexec") {
                true => Authority::Polkit,
                false => Authority::Own,
            },
            live: matches.get_one::<PathBuf>("live").map(|it| Live::new(it)),
        };
        let line = Line::new();
        let recorded = record::record(&plan, &is_stopped, &mut |now| line.draw(&words(now)));
        line.clear();
        let recorded = recorded.map_err(failed)?;
        conclude(&recorded)
    }

    /// Reports what was recorded.
    fn conclude(recorded: &Recorded) -> Result<(), CliError> {
        if let Some(status) = recorded.command.filter(|status| !status.success()) {
            warn(&format!("the command ended with {status}"));
        }
        if recorded.is_disk_full {
            warn("the disk is full: the file ends there");
        }
        if let Some(share) = recorded.trigger_share {
            warn(&format!(
                "looking for the expression took {:.1} % of one CPU",
                share * 100.0
            ));
        }
        let lost = lost_words(recorded.lost);
        let events = recorded.events;
        match recorded.files.as_slice() {
            [(path, bytes)] if recorded.is_disk_full => {
                warn(&format!(
                    "wrote {bytes} bytes, not all of the {events} events that were read{lost}: {}",
                    path.display()
                ));
            }
            [(path, bytes)] => {
                warn(&format!(
                    "wrote {events} events, {bytes} bytes{lost}: {}",
                    path.display()
                ));
            }
            files => {
                for (path, bytes) in files {
                    warn(&format!("wrote {bytes} bytes: {}", path.display()));
                }
                if files.is_empty() {
                    warn(&format!(
                        "nothing matched in {events} events{lost}: no file was written"
                    ));
                }
            }
        }
        match recorded.is_disk_full {
            true => Err(CliError::Input("recording stopped early".to_owned())),
            false => Ok(()),
        }
    }

    fn failed(error: RecordError) -> CliError {
        CliError::Input(error.to_string())
    }

    fn lost_words(lost: u64) -> String {
        match lost {
            0 => String::new(),
            lost => format!(", {lost} events were lost (a larger buffer, -b, loses fewer)"),
        }
    }

    fn words(now: Situation) -> String {
        let lost = match now.lost {
            0 => "no event lost".to_owned(),
            1 => "1 event lost".to_owned(),
            lost => format!("{lost} events lost"),
        };
        let held = now.held.map_or_else(String::new, |held| {
            format!(", the last {:.1} s are held", held.as_secs_f64())
        });
        format!(
            "recording for {} s: {:.1} MB{held}, {lost} (Ctrl+C stops)",
            now.elapsed.as_secs(),
            now.bytes as f64 / 1e6
        )
    }

    /// Returns the command that opens a shell on another machine.
    fn on_of(matches: &ArgMatches) -> Vec<OsString> {
        let host = matches.get_one::<String>("on");
        let command = matches.get_one::<String>("on-command");
        let words = match (host, command) {
            (Some(host), _) => vec!["ssh", "-T", "-o", "BatchMode=yes", host, "sh"],
            (None, Some(command)) => vec!["sh", "-c", command],
            (None, None) => Vec::new(),
        };
        words.into_iter().map(OsString::from).collect()
    }

    fn duration(matches: &ArgMatches, name: &str) -> Option<Duration> {
        let time = matches.get_one::<Nanos>(name)?;
        Some(Duration::from_nanos(time.0.max(0) as u64))
    }

    fn watchword(matches: &ArgMatches, name: &str) -> Result<Option<Watchword>, CliError> {
        let text = matches.get_one::<String>(name).cloned();
        text.map(|text| {
            let expression = search::parse(&text)?;
            Ok(Watchword { text, expression })
        })
        .transpose()
    }

    fn ending_of(matches: &ArgMatches) -> Result<Ending, CliError> {
        let command = matches.get_many::<OsString>("command");
        Ok(Ending {
            after: duration(matches, "for"),
            until: watchword(matches, "until-event")?,
            command: command.into_iter().flatten().cloned().collect(),
        })
    }

    fn flight_of(matches: &ArgMatches) -> Result<Option<Flight>, CliError> {
        let trigger = watchword(matches, "trigger")?;
        let (Some(keep), Some(trigger)) = (duration(matches, "ring"), trigger) else {
            return Ok(None);
        };
        Ok(Some(Flight {
            keep,
            trigger,
            bytes: matches
                .get_one::<u64>("ring-memory")
                .copied()
                .unwrap_or(256 << 20),
            after: duration(matches, "after").unwrap_or_default(),
            repeat: matches.get_one::<u32>("repeat").copied().unwrap_or(1),
        }))
    }

    /// Reports what a killed recording left in the kernel, and how to restore it.
    fn offer_clean_up() {
        let Ok(top) = Folder::find() else { return };
        if !Leftovers::find(&top).ids.is_empty() {
            warn(
                "a recording that was killed left an instance or probes in the kernel; `sudo threadline record \
                 --clean-up` puts everything back",
            );
        }
    }

    /// Returns the values of an argument that may be repeated, each with its index on the command line.
    fn placed(matches: &ArgMatches, name: &str) -> Vec<(usize, String)> {
        let places = matches.indices_of(name).into_iter().flatten();
        let values = matches.get_many::<String>(name).into_iter().flatten();
        places.zip(values.cloned()).collect()
    }

    fn values(matches: &ArgMatches, name: &str) -> Vec<String> {
        let values = matches.get_many::<String>(name).into_iter().flatten();
        values.cloned().collect()
    }

    fn order_of(matches: &ArgMatches) -> Result<Order, CliError> {
        let pids = matches.get_many::<u32>("pid").into_iter().flatten();
        let order = Order {
            events: events_of(matches)?,
            tracer: matches.get_one::<String>("tracer").cloned(),
            functions: values(matches, "function"),
            graph_functions: values(matches, "graph"),
            probes: probes_of(matches)?,
            has_stacks: match matches.get_flag("stack") {
                true => Stacks::Kernel,
                false => Stacks::No,
            },
            pids: pids.copied().collect(),
            children: match matches.get_flag("children") {
                true => Children::Followed,
                false => Children::Ignored,
            },
            clock: matches.get_one::<String>("clock").cloned(),
            buffer_kib: matches.get_one::<u64>("buffer").map(|it| it.div_ceil(1024)),
        };
        let is_empty = order.events.is_empty() && order.tracer.is_none() && order.probes.is_empty();
        if is_empty {
            let words = "nothing to record: choose events with -e or --preset, a tracer with -p, or a --probe";
            return Err(CliError::Usage(words.to_owned()));
        }
        Ok(order)
    }

    /// Returns the events of predefined sets, then those of `-e`, each with the filter of the `-f` that follows it.
    fn events_of(matches: &ArgMatches) -> Result<Vec<EventOrder>, CliError> {
        let mut events = Vec::new();
        for name in values(matches, "preset") {
            let Some(preset) = presets::find(&name) else {
                let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
                let words = format!("there is no set '{name}'; sets are {}", names.join(", "));
                return Err(CliError::Usage(words));
            };
            events.extend(preset.events());
        }
        let mut ordered: Vec<(usize, EventOrder)> = placed(matches, "event")
            .into_iter()
            .map(|(place, pattern)| {
                let event = EventOrder {
                    pattern,
                    ..EventOrder::default()
                };
                (place, event)
            })
            .collect();
        for (place, filter) in placed(matches, "filter") {
            let before = ordered.iter_mut().rev().find(|(event, _)| *event < place);
            match before {
                Some((_, event)) => event.filter = Some(filter),
                None => {
                    let words = "-f belongs to the -e before it: there is none";
                    return Err(CliError::Usage(words.to_owned()));
                }
            }
        }
        events.extend(ordered.into_iter().map(|(_, event)| event));
        Ok(events)
    }

    /// Returns the probes, in the group of this recording.
    fn probes_of(matches: &ArgMatches) -> Result<Vec<String>, CliError> {
        let group = group_name(std::process::id());
        let definitions = values(matches, "probe").into_iter().enumerate();
        definitions
            .map(|(index, text)| {
                let refused = |words: String| CliError::Usage(format!("--probe '{text}': {words}"));
                crate::probes::parse(&text)
                    .lines
                    .iter()
                    .find_map(|line| line.command.as_ref().err())
                    .map_or(Ok(()), |error| Err(refused(error.to_string())))?;
                record::with_group(&text, &group, index).map_err(|words| refused(words.to_owned()))
            })
            .collect()
    }

    fn list() -> Result<(), CliError> {
        let top = Folder::find().map_err(|error| CliError::Input(error.to_string()))?;
        let mut out = stdout();
        writeln!(out, "Sets (--preset):")?;
        for preset in PRESETS {
            writeln!(out, "  {:<10} {}", preset.name, preset.about)?;
        }
        for (title, file) in [
            ("Tracers (-p)", "available_tracers"),
            ("Clocks (-C), the default in brackets", "trace_clock"),
        ] {
            let text = top.read(file).unwrap_or_default();
            writeln!(out, "{title}: {}", text.trim())?;
        }
        let has = |file: &str| match top.has(file) {
            true => "yes",
            false => "no",
        };
        writeln!(
            out,
            "Probes (--probe): kprobes {}, uprobes {}, others {}",
            has("kprobe_events"),
            has("uprobe_events"),
            has("dynamic_events")
        )?;
        writeln!(out, "Events (-e):")?;
        for event in catalog::events(&top) {
            writeln!(out, "  {}:{}", event.system, event.name)?;
        }
        out.flush()?;
        Ok(())
    }
}
