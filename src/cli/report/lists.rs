//! Options of `report` that print what a file contains besides events, and those that exist only for compatibility with
//! trace-cmd.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command};

use super::{Bytes, File, with_out};
use crate::cli::command::CliError;
use crate::formats::ReportOptions;
use crate::formats::record_report::List;

/// An option that prints a list instead of events.
struct ListOption {
    list: List,
    name: &'static str,
    short: Option<char>,
    help: &'static str,
}

const LISTS: &[ListOption] = &[
    ListOption {
        list: List::Statistics,
        name: "stat",
        short: None,
        help: "Only what the kernel counted per CPU (trace.dat)",
    },
    ListOption {
        list: List::Formats,
        name: "events",
        short: None,
        help: "Only the descriptions of events in the file (trace.dat)",
    },
    ListOption {
        list: List::Events,
        name: "event-names",
        short: Some('E'),
        help: "Only the names of events in the file (trace.dat)",
    },
    ListOption {
        list: List::ByteOrder,
        name: "endian",
        short: Some('e'),
        help: "Only the byte order of the file (trace.dat)",
    },
    ListOption {
        list: List::PageSize,
        name: "page-size",
        short: Some('p'),
        help: "Only the page size of the recorded machine (trace.dat)",
    },
    ListOption {
        list: List::Functions,
        name: "functions",
        short: Some('f'),
        help: "Only the kernel's symbols (trace.dat)",
    },
    ListOption {
        list: List::PrintFormats,
        name: "printk",
        short: Some('P'),
        help: "Only the formats of trace_printk (trace.dat)",
    },
    ListOption {
        list: List::System,
        name: "uname",
        short: None,
        help: "Only the system that was recorded (trace.dat)",
    },
    ListOption {
        list: List::Version,
        name: "version",
        short: None,
        help: "Only the version of trace-cmd that recorded (trace.dat)",
    },
    ListOption {
        list: List::Cpus,
        name: "cpus",
        short: None,
        help: "Only the CPUs that have data (trace.dat)",
    },
    ListOption {
        list: List::FirstEvents,
        name: "first-event",
        short: None,
        help: "Only the time of each CPU's first event (trace.dat)",
    },
    ListOption {
        list: List::LastEvents,
        name: "last-event",
        short: None,
        help: "Only the time of each CPU's last event (trace.dat)",
    },
];

/// An option of trace-cmd that exists so that its command lines work.
struct OfTraceCmd {
    name: &'static str,
    short: char,
    help: &'static str,
}

const OF_TRACE_CMD: &[OfTraceCmd] = &[
    OfTraceCmd {
        name: "local-plugins",
        short: 'L',
        help: "As -N: trace-cmd then uses the plugins in the user's folder alone",
    },
    OfTraceCmd {
        name: "global",
        short: 'G',
        help: "Accepted as in trace-cmd, without effect: it is for --profile",
    },
    OfTraceCmd {
        name: "quiet",
        short: 'q',
        help: "Accepted as in trace-cmd, without effect: formats are read without warnings",
    },
    OfTraceCmd {
        name: "verbose",
        short: 'V',
        help: "Accepted as in trace-cmd, without effect: there are no messages about plugins",
    },
];

/// Adds the options to the command.
pub(super) fn arguments(command: Command) -> Command {
    let lists = LISTS.iter().map(|option| {
        let arg = Arg::new(option.name).help(option.help);
        let arg = arg.action(ArgAction::SetTrue);
        match option.short {
            Some(short) => arg.short(short),
            None => arg.long(option.name),
        }
    });
    let others = OF_TRACE_CMD.iter().map(|option| {
        let arg = Arg::new(option.name).help(option.help);
        arg.action(ArgAction::SetTrue).short(option.short)
    });
    command
        .args(lists)
        .group(ArgGroup::new("list").args(LISTS.iter().map(|option| option.name)))
        .args(others)
}

/// Returns the list that the user asked for.
pub(super) fn asked(matches: &ArgMatches) -> Option<List> {
    let mut lists = LISTS.iter();
    let asked = lists.find(|option| matches.get_flag(option.name))?;
    Some(asked.list)
}

/// Prints a list of each file; `own` are the options of each, empty if a file has no report.
pub(super) fn print(files: &[File], list: List, own: &[ReportOptions]) -> Result<(), CliError> {
    let texts = files.iter().zip(own);
    let texts = texts.map(|(file, options)| file.report()?.list(list, options));
    let texts: Option<Vec<Vec<u8>>> = texts.collect();
    let texts = texts.filter(|texts| texts.len() == files.len());
    let texts = texts.ok_or_else(|| {
        let mut lists = LISTS.iter();
        let option = lists.find(|option| option.list == list);
        let sign = option.map_or_else(String::new, |option| match option.short {
            Some(short) => format!("-{short}"),
            None => format!("--{}", option.name),
        });
        CliError::Usage(format!("{sign} is for files of trace-cmd (trace.dat)"))
    })?;
    with_out(Bytes::Exact, |out| {
        texts.iter().try_for_each(|text| out.write_all(text))
    })
}
