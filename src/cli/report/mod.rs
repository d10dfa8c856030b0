//! `threadline report`: the trace as text, as its reference tool prints it (trace.dat: `trace-cmd report`).
//!
//! One trace.dat is printed by all threads at once. With time differences, wakeup latencies or several files in one
//! order, lines are printed one by one. Control characters are escaped on a terminal, and always if the file is not a
//! trace.dat.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

mod clock;
mod event_lines;
mod filters;
mod lists;

use super::command::{
    CliError, Command, Example, answer, asked_span, file_argument, load_files, not_loaded, reading,
    time_arguments, warn, warn_of_losses, watch, while_printing, with_progress,
};
use crate::base::time::TimeArg;
use crate::base::visible::Visible;
use crate::base::{CpuList, Job, TimeSpan, Timestamp};
use crate::formats::event_filter::EventFilter;
use crate::formats::ftrace_line::flag_bits::{HARDIRQ, SOFTIRQ};
use crate::formats::function_options::FunctionOptions;
use crate::formats::record_report::{KindStyle, OwnStyle, Selection};
use crate::formats::report::{FileLabel, Report, ReportLines};
use crate::formats::{HasReport, RecordOptions, Recording, ReportOptions};
use crate::load::together::open_as;
use crate::load::{LoadedTrace, OpenedHead, open_head};
use crate::trace::EventId;
use event_lines::write_events;
use filters::Filters;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "report",
    about: "Print all events as text, byte for byte as the format's own tool does",
    arguments,
    examples: &[
        Example {
            line: "sample-traces/sched-irq-syscalls.dat --until 1ms",
            about: "The first millisecond, as trace-cmd prints it",
        },
        Example {
            line: "sample-traces/sched-irq.ftrace -F 'next_pid != 0'",
            about: "Only switches to threads, not to idle",
        },
    ],
    run: report,
};

fn arguments(command: clap::Command) -> clap::Command {
    let flag = |name: &'static str, short: Option<char>, help: &'static str| {
        let arg = Arg::new(name).help(help).action(ArgAction::SetTrue);
        match short {
            Some(short) => arg.short(short),
            None => arg.long(name),
        }
    };
    let list = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .value_name(value)
            .help(help)
            .action(ArgAction::Append)
    };
    time_arguments(clock::arguments(lists::arguments(command)))
        .arg(flag(
            "full-times",
            Some('t'),
            "Full time stamps instead of microseconds",
        ))
        .arg(flag(
            "plain",
            Some('N'),
            "No plugins: only each event's own print format",
        ))
        .arg(flag("raw", Some('R'), "Raw field values"))
        .arg(flag(
            "latency",
            Some('l'),
            "The columns of the latency format",
        ))
        .arg(flag(
            "no-flags",
            None,
            "Leave out the latency-flags column, as trace-cmd before 3.2 did",
        ))
        .arg(flag(
            "wakeups",
            Some('w'),
            "How long threads waited from wakeup to switch (trace.dat)",
        ))
        .arg(
            list(
                "function-option",
                "OPTION",
                "How functions are shown: parent, offset, indent=0, tailprint, depth (trace.dat)",
            )
            .short('O')
            .value_parser(|option: &str| {
                match FunctionOptions::default().set(option) {
                    true => Ok(option.to_owned()),
                    false => Err(format!(
                        "there is no such option; there are: {}",
                        FunctionOptions::NAMES.join(", ")
                    )),
                }
            }),
        )
        .arg(
            list(
                "cpu",
                "N",
                "Only these CPUs: numbers and ranges from low to high (0,2-4); may be repeated",
            )
            .long("cpu")
            .value_parser(value_parser!(CpuList)),
        )
        .arg(
            list(
                "filter",
                "EXPR",
                "Only events that match this filter, as in trace-cmd (sched_switch: next_prio < 100; irq; \
                 sched/.*: COMM =~ \"bash\"), or this text, /regex/ or expression (see search); may be \
                 repeated",
            )
            .short('F')
            .long("filter")
            .allow_hyphen_values(true),
        )
        .arg(flag(
            "leave-out",
            Some('v'),
            "Leave out the events that match the filters after this option",
        ))
        .arg(flag(
            "no-hardirq",
            Some('I'),
            "Leave out events in hard interrupts (trace.dat)",
        ))
        .arg(flag(
            "no-softirq",
            Some('S'),
            "Leave out events in soft interrupts (trace.dat)",
        ))
        .arg(
            list(
                "raw-event",
                "EVENTS",
                "The raw fields of these events (a regular expression); may be repeated (trace.dat)",
            )
            .short('r'),
        )
        .arg(
            list(
                "plain-event",
                "EVENTS",
                "No plugins for these events (a regular expression); may be repeated (trace.dat)",
            )
            .short('n'),
        )
        .arg(
            list("input", "FILE", "A trace, as trace-cmd takes it")
                .short('i')
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            file_argument()
                .help("The trace; - for standard input; several are printed in one order")
                .num_args(1..)
                .required(false)
                .required_unless_present("input"),
        )
}

/// Returns the options that are the same for every file.
fn options_of(matches: &ArgMatches) -> ReportOptions {
    let plugin_options = matches.get_many::<String>("function-option");
    let lists = matches.get_many::<CpuList>("cpu").unwrap_or_default();
    let ranges = lists.flat_map(|list| list.ranges.iter().cloned());
    let mut options = ReportOptions {
        has_full_times: matches.get_flag("full-times"),
        is_raw: matches.get_flag("raw"),
        has_no_flags: matches.get_flag("no-flags"),
        cpus: CpuList {
            ranges: ranges.collect(),
        },
        records: RecordOptions {
            is_plain: ["plain", "local-plugins"]
                .iter()
                .any(|name| matches.get_flag(name)),
            has_latency_columns: matches.get_flag("latency"),
            shows_wakeups: matches.get_flag("wakeups"),
            plugin_options: plugin_options.unwrap_or_default().cloned().collect(),
            left_out_flags: [("no-hardirq", HARDIRQ), ("no-softirq", SOFTIRQ)]
                .iter()
                .filter(|(name, _)| matches.get_flag(name))
                .fold(0, |bits, (_, bit)| bits | bit),
            ..RecordOptions::default()
        },
        ..ReportOptions::default()
    };
    clock::set(&mut options.records, matches);
    options
}

fn report(matches: &ArgMatches) -> Result<(), CliError> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for name in ["input", "file"] {
        paths.extend(
            matches
                .get_many::<PathBuf>(name)
                .unwrap_or_default()
                .cloned(),
        );
    }
    let options = options_of(matches);
    if paths.len() > 1 && options.records.shows_wakeups {
        return Err(CliError::Usage(
            "-w takes one file: threads of several files may have the same number".to_owned(),
        ));
    }
    let filters = Filters::of(matches, paths.len())?;
    let mut files = Vec::new();
    for (index, path) in paths.iter().enumerate() {
        filters.begin_file(index);
        files.push(open(matches, path, &filters)?);
    }
    filters.require_events()?;
    let reports: Option<Vec<&dyn Report>> = files.iter().map(File::report).collect();
    if let Some(list) = lists::asked(matches) {
        let labels = reports.map(|reports| labels(matches, &reports));
        let own = labels.unwrap_or_default().into_iter().zip(&paths);
        let own = own.map(|(label, path)| ReportOptions {
            path: Some(path.clone()),
            label,
            ..options.clone()
        });
        return lists::print(&files, list, &own.collect::<Vec<_>>());
    }
    // The text of a latency tracer has no records that filters could select.
    let plain = ReportOptions::default();
    let can_choose = |report: &&dyn Report| filters.is_empty() || report.lines(&plain).is_some();
    let exact = reports.filter(|all| {
        let mut all = all.iter();
        all.all(|report| report.is_exact() && can_choose(report))
    });
    let job = Job::default();
    match (exact, files.as_slice()) {
        (Some(reports), _) => {
            let files = Files {
                files: &files,
                paths: &paths,
                reports,
            };
            print_exact(matches, &files, options, &filters, &job)
        }
        _ if needs_records(matches, &options) => Err(only_trace_dat()),
        (None, [file]) if filters.is_empty() && file.report().is_some() => {
            let options = within(matches, &options, file.start());
            with_out(Bytes::Visible, |out| match file.report() {
                Some(tool) => while_printing("printing", &job, || tool.write(&options, out, &job)),
                None => Ok(()),
            })
        }
        _ => print_events(matches, &paths, files, &options, &filters),
    }
}

/// Returns whether the user gave an option that needs the records of a trace.dat.
fn needs_records(matches: &ArgMatches, options: &ReportOptions) -> bool {
    let has_styles = ["raw-event", "plain-event"]
        .iter()
        .any(|name| matches.contains_id(name));
    let RecordOptions {
        shows_wakeups,
        left_out_flags,
        ..
    } = options.records;
    clock::is_asked(matches) || shows_wakeups || left_out_flags != 0 || has_styles
}

fn only_trace_dat() -> CliError {
    let words = "--ts-diff, --ts-check, --raw-ts, --nodate, --align-ts, -w, -I, -S, -r and -n are for files of \
                 trace-cmd (trace.dat)";
    CliError::Usage(words.to_owned())
}

/// How the bytes of a trace's text are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// As they are, to a file or pipe; on a terminal they are escaped.
    Exact,
    /// Control characters and invalid bytes are escaped.
    Visible,
}

/// Calls `print` with standard output, and flushes it.
fn with_out(
    bytes: Bytes,
    print: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), CliError> {
    let is_exact = bytes == Bytes::Exact && !std::io::stdout().is_terminal();
    let mut out = answer();
    if is_exact {
        print(&mut out)?;
    } else {
        let mut visible = Visible::text(&mut out);
        print(&mut visible)?;
        visible.finish()?;
    }
    Ok(out.flush()?)
}

/// Returns the options with the user's time span; `start` is the start of the trace.
fn within(matches: &ArgMatches, options: &ReportOptions, start: Timestamp) -> ReportOptions {
    let time = |name: &str| {
        let time = matches.get_one::<TimeArg>(name);
        time.map(|time| time.resolve(start))
    };
    ReportOptions {
        from: time("from"),
        until: time("until"),
        ..options.clone()
    }
}

/// An opened file, and the events that pass the filters.
enum File {
    /// Only the head was read: events are opened when needed.
    Head(Box<Recording>, Option<Arc<Selection>>),
    /// A loaded file, for a report that evaluates filters itself.
    Asked(Box<LoadedTrace>, Arc<Selection>),
    Loaded(Box<LoadedTrace>, Vec<EventId>),
}

impl File {
    fn report(&self) -> Option<&dyn Report> {
        let has_report = match self {
            File::Head(head, _) => head.report.as_deref(),
            File::Asked(loaded, _) | File::Loaded(loaded, _) => loaded.report.as_deref(),
        };
        has_report.map(HasReport::report)
    }

    fn start(&self) -> Timestamp {
        match self {
            // For times since the start: the coarse trace contains the time of the first event.
            File::Head(head, _) => head.stream.coarse().span.start,
            File::Asked(loaded, _) | File::Loaded(loaded, _) => loaded.trace.span.start,
        }
    }

    fn selection(&self) -> Option<&Arc<Selection>> {
        match self {
            File::Head(_, selection) => selection.as_ref(),
            File::Asked(_, selection) => Some(selection),
            File::Loaded(..) => None,
        }
    }
}

fn open(matches: &ArgMatches, path: &PathBuf, filters: &Filters) -> Result<File, CliError> {
    let job = Job::default();
    let fail = |error: crate::load::LoadError| not_loaded(&error);
    let OpenedHead {
        mut recording,
        stopped,
        opened,
        has_more,
    } = with_progress("reading", &job, || open_head(path, reading(matches), &job)).map_err(fail)?;
    if has_more {
        // The reference tool of one of the recordings would print only that one.
        recording.report = None;
    }
    let asked = match recording.report.as_deref() {
        Some(report) if !filters.is_empty() => {
            let kinds = report.report().kinds();
            let start = recording.stream.coarse().span.start;
            let selection = kinds.map(|kinds| filters.selection(&kinds, start, None));
            selection.transpose()?.flatten()
        }
        _ => None,
    };
    if filters.is_empty() || asked.is_some() {
        watch(&opened);
        if let (Some(words), true) = (stopped, recording.report.is_some()) {
            warn(&words);
        }
        return Ok(File::Head(Box::new(recording), asked));
    }
    drop(recording);
    let paths = std::slice::from_ref(path);
    let loaded = with_progress("reading", &job, || {
        open_as(paths, reading(matches), &[], &[], &job, None)
    })
    .map_err(fail)?;
    watch(loaded.opened_files());
    warn_of_losses(&loaded);
    let loaded = Box::new(loaded);
    let kinds = loaded.report.as_deref().and_then(|it| it.report().kinds());
    let start = loaded.trace.span.start;
    let selection = match kinds {
        Some(kinds) => filters.selection(&kinds, start, Some(&loaded))?,
        None => None,
    };
    if let Some(selection) = selection {
        return Ok(File::Asked(loaded, selection));
    }
    let wanted = filters.wanted(&loaded)?;
    Ok(File::Loaded(loaded, wanted))
}

/// Files of trace-cmd.
struct Files<'a> {
    files: &'a [File],
    paths: &'a [PathBuf],
    reports: Vec<&'a dyn Report>,
}

/// Prints files of trace-cmd: one file as it is, several merged by the times of their lines.
fn print_exact(
    matches: &ArgMatches,
    files: &Files<'_>,
    options: ReportOptions,
    filters: &Filters,
    job: &Job,
) -> Result<(), CliError> {
    let Files {
        files,
        paths,
        reports,
    } = files;
    let mut offsets = clock::offsets(matches, files.len())?;
    let starts = files.iter().zip(reports).zip(&offsets);
    let starts = starts.map(|((file, report), offset)| {
        let start = report.start(&options).unwrap_or_else(|| file.start());
        start.saturating_add(*offset)
    });
    let mut start = starts.min().unwrap_or(Timestamp(0));
    if clock::is_aligned(matches) {
        for offset in &mut offsets {
            offset.0 = offset.0.saturating_sub(start.0);
        }
        start = Timestamp(0);
    }
    let options = within(matches, &options, start);
    let labels = labels(matches, reports);
    let own: Vec<ReportOptions> = files
        .iter()
        .zip(labels)
        .zip(&offsets)
        .map(|((file, label), offset)| ReportOptions {
            records: RecordOptions {
                selection: file.selection().cloned(),
                styles: styles(matches, file),
                ..options.records.clone()
            },
            label,
            offset: offset.0,
            ..options.clone()
        })
        .collect();
    print_lines(reports, &own, job)?;
    let checked = files.iter().zip(paths.iter()).zip(&own);
    let checked = checked.map(|((file, path), options)| clock::Checked {
        file,
        path,
        options,
    });
    clock::check(matches, checked);
    for selection in files.iter().filter_map(File::selection) {
        filters.note_met(selection);
    }
    filters.warn_of_unmet();
    Ok(())
}

/// Returns the styles of individual kinds of events (`-r`, `-n`); warns of names that match no event of the file.
fn styles(matches: &ArgMatches, file: &File) -> Vec<KindStyle> {
    let kinds = file.report().and_then(|report| report.kinds());
    let kinds = kinds.unwrap_or_default();
    let mut styles = Vec::new();
    for (name, style) in [
        ("raw-event", OwnStyle::Raw),
        ("plain-event", OwnStyle::Plain),
    ] {
        for text in matches.get_many::<String>(name).unwrap_or_default() {
            let filter = EventFilter::parse(text).and_then(|it| it.bind(&kinds, file.start()));
            let known = filter.and_then(|events| match events.unknown().first() {
                Some(error) => Err(error.clone()),
                None => Ok(events),
            });
            match known {
                Ok(events) => styles.push(KindStyle {
                    events: Arc::new(events),
                    style,
                }),
                Err(error) => warn(&error.message),
            }
        }
    }
    styles
}

/// Prints files merged by the times of their lines, or one file as it is.
fn print_lines(reports: &[&dyn Report], own: &[ReportOptions], job: &Job) -> Result<(), CliError> {
    if let ([report], [options]) = (reports, own)
        && !options.records.shows_steps
        && !options.records.shows_wakeups
    {
        return with_out(Bytes::Exact, |out| {
            while_printing("printing", job, || report.write(options, out, job))
        });
    }
    let lines = reports.iter().zip(own);
    let lines: Option<Vec<_>> = lines.map(|(report, own)| report.lines(own)).collect();
    let mut lines = lines.ok_or_else(|| {
        CliError::Input(
            "a latency tracer's text has no lines with times to put in order".to_owned(),
        )
    })?;
    with_out(Bytes::Exact, |out| write_in_order(&mut lines, out))
}

/// Returns the prefix of each file's lines, if there are several files.
fn labels(matches: &ArgMatches, reports: &[&dyn Report]) -> Vec<Option<FileLabel>> {
    if reports.len() < 2 {
        return vec![None; reports.len()];
    }
    let mut names: Vec<String> = Vec::new();
    for name in ["input", "file"] {
        let paths = matches.get_many::<PathBuf>(name).unwrap_or_default();
        let names_of = paths.map(|path| path.file_name().unwrap_or(path.as_os_str()).display());
        names.extend(names_of.map(|name| name.to_string()));
    }
    let of_files = names.iter().map(String::len).max().unwrap_or(0);
    let longest = |report: &&dyn Report| {
        let names = report.instances();
        names.iter().map(String::len).max().unwrap_or(0)
    };
    let width = reports.iter().map(longest).max().unwrap_or(0).max(of_files);
    let mut head_width = of_files;
    let labels = names.into_iter().zip(reports).map(|(name, report)| {
        let label = FileLabel {
            name,
            width,
            head_width,
        };
        head_width = head_width.max(longest(report));
        Some(label)
    });
    labels.collect()
}

fn write_in_order(
    lines: &mut [Box<dyn ReportLines + '_>],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for lines in &*lines {
        out.write_all(&lines.head())?;
    }
    let mut text = Vec::new();
    let mut before = 0;
    loop {
        let times = lines.iter().enumerate();
        let next = times.filter_map(|(index, lines)| Some((lines.time()?, index)));
        let Some((_, index)) = next.min() else {
            break;
        };
        text.clear();
        if let Some(lines) = lines.get_mut(index) {
            lines.push(&mut text, &mut before);
        }
        out.write_all(&text)?;
    }
    for lines in &*lines {
        out.write_all(&lines.foot())?;
    }
    Ok(())
}

/// Prints events of a file that trace-cmd cannot read, or only some events: one line per event.
fn print_events(
    matches: &ArgMatches,
    paths: &[PathBuf],
    files: Vec<File>,
    options: &ReportOptions,
    filters: &Filters,
) -> Result<(), CliError> {
    if let [File::Loaded(loaded, wanted)] = files.as_slice() {
        filters.warn_of_unmet();
        let span = asked_span(matches, &loaded.trace);
        return print_found(loaded, span, options, wanted);
    }
    drop(files);
    let loaded = load_files(matches, paths, Vec::new(), reading(matches))?;
    let span = asked_span(matches, &loaded.trace);
    let wanted = match filters.is_empty() {
        true => loaded.trace.events.from_time(span.start).collect(),
        false => filters.wanted(&loaded)?,
    };
    filters.warn_of_unmet();
    print_found(&loaded, span, options, &wanted)
}

fn print_found(
    loaded: &LoadedTrace,
    span: TimeSpan,
    options: &ReportOptions,
    wanted: &[EventId],
) -> Result<(), CliError> {
    let job = Job::default();
    with_out(Bytes::Visible, |out| {
        while_printing("printing", &job, || {
            write_events(loaded, span, options, wanted, out, &job)
        })
    })
}
