//! Options of `report` about times: differences, corrections, alignment, and the check that times never decrease on a
//! CPU.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{File, RecordOptions, ReportOptions};
use crate::base::Nanos;
use crate::cli::command::{CliError, offset_argument, warn};
use crate::formats::record_report::{ReportClock, StepBack};

/// The options without a value: name and help.
const FLAGS: &[(&str, &str)] = &[
    (
        "ts-diff",
        "The time from the line before to each line (trace.dat)",
    ),
    (
        "ts-check",
        "Warn of each event whose time is before that of the event before it on its CPU (trace.dat)",
    ),
    (
        "raw-ts",
        "Times as they were recorded, without any correction (trace.dat)",
    ),
    (
        "nodate",
        "Times without what record --date or --ts-offset added (trace.dat)",
    ),
    (
        "align-ts",
        "Times since the first event of all files (trace.dat)",
    ),
];

/// Adds the options to the command.
pub(super) fn arguments(command: Command) -> Command {
    let flags = FLAGS.iter().map(|&(name, help)| {
        let arg = Arg::new(name).long(name).help(help);
        arg.action(ArgAction::SetTrue)
    });
    command.args(flags).arg(offset_argument())
}

/// Returns whether the user gave an option that needs the records of a trace.dat.
pub(super) fn is_asked(matches: &ArgMatches) -> bool {
    FLAGS.iter().any(|(name, _)| matches.get_flag(name))
}

/// Sets the options that are the same for every file.
pub(super) fn set(options: &mut RecordOptions, matches: &ArgMatches) {
    options.shows_steps = matches.get_flag("ts-diff");
    options.clock = match (matches.get_flag("raw-ts"), matches.get_flag("nodate")) {
        (true, _) => ReportClock::Raw,
        (false, true) => ReportClock::WithoutDate,
        (false, false) => ReportClock::Corrected,
    };
}

/// Returns the offset that `--offset` gives each file.
pub(super) fn offsets(matches: &ArgMatches, count: usize) -> Result<Vec<Nanos>, CliError> {
    let mut offsets = vec![Nanos(0); count];
    let given = matches.get_many::<(usize, Nanos)>("offset");
    for &(index, offset) in given.unwrap_or_default() {
        let place = offsets.get_mut(index).ok_or_else(|| {
            CliError::Usage(format!("--offset {}: there are {count} files", index + 1))
        })?;
        *place = offset;
    }
    if matches.get_flag("raw-ts") {
        // Recorded times are shown without correction.
        offsets.fill(Nanos(0));
    }
    Ok(offsets)
}

/// Returns whether times are shown relative to the first event. Recorded times (`--raw-ts`) are not.
pub(super) fn is_aligned(matches: &ArgMatches) -> bool {
    matches.get_flag("align-ts") && !matches.get_flag("raw-ts")
}

/// A file whose times are checked.
pub(super) struct Checked<'a> {
    pub file: &'a File,
    pub path: &'a Path,
    /// The options with which its events were printed.
    pub options: &'a ReportOptions,
}

/// If the user asked for it, warns of each event whose time is before that of the previous event on its CPU.
pub(super) fn check<'a>(matches: &ArgMatches, files: impl Iterator<Item = Checked<'a>>) {
    if !matches.get_flag("ts-check") {
        return;
    }
    for Checked {
        file,
        path,
        options,
    } in files
    {
        let steps = file.report().map(|report| report.steps_back(options));
        let steps = steps.unwrap_or_default();
        let path = path.display();
        for StepBack { cpu, from, to } in &steps.first {
            let by = from.saturating_sub(*to);
            warn(&format!(
                "a record on CPU {cpu} went backwards: {from} to {to}, by {by}: {path}"
            ));
        }
        let named = steps.first.len() as u64;
        if let Some(more @ 1..) = steps.count.checked_sub(named) {
            warn(&format!("{more} more records went backwards: {path}"));
        }
    }
}
