//! `threadline report`: the trace as text, as its reference tool prints it (trace.dat: `trace-cmd report`).

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::command::{
    CliError, Command, asked_span, file_argument, reading, time_arguments, warn_of_losses,
    with_progress,
};
use super::search::{parse, usage};
use crate::base::strings::one_line;
use crate::base::time::TimeArg;
use crate::base::{Job, TimeSpan, Timestamp};
use crate::event::part::ClockUnit;
use crate::formats::ReportOptions;
use crate::formats::format::Wrote;
use crate::load::together::open_as;
use crate::load::{LoadedTrace, open_reader_only};
use crate::query::Item;
use crate::query::details::describe;
use crate::query::expression::Matcher;
use crate::query::item::event_ref;
use crate::trace::ThreadId;

/// This command's row.
pub const COMMAND: Command = Command {
    name: "report",
    about: "Print all events as text, byte for byte as the format's own tool does",
    arguments: |command| {
        let flag = |name: &'static str, short: Option<char>, help: &'static str| {
            let arg = Arg::new(name).help(help).action(ArgAction::SetTrue);
            match short {
                Some(short) => arg.short(short),
                None => arg.long(name),
            }
        };
        time_arguments(command)
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
                "no-flags",
                None,
                "Leave out the latency-flags column, as trace-cmd before 3.2 did",
            ))
            .arg(
                Arg::new("cpu")
                    .long("cpu")
                    .value_name("N")
                    .help("Only this CPU (may be given several times)")
                    .action(ArgAction::Append)
                    .value_parser(value_parser!(u32)),
            )
            .arg(
                Arg::new("filter")
                    .long("filter")
                    .value_name("EXPR")
                    .help(
                        "Only events that this text, /regex/ or expression means (see search); \
                         lines of a trace.dat then have no latency-flags column",
                    )
                    .allow_hyphen_values(true),
            )
            .arg(file_argument())
    },
    run: report,
};

fn report(matches: &ArgMatches) -> Result<(), CliError> {
    let path = matches
        .get_one::<PathBuf>("file")
        .cloned()
        .unwrap_or_default();
    let job = Job::default();
    let fail = |error: crate::load::LoadError| CliError::Input(error.to_string());
    let mut options = ReportOptions {
        has_full_times: matches.get_flag("full-times"),
        is_plain: matches.get_flag("plain"),
        is_raw: matches.get_flag("raw"),
        has_no_flags: matches.get_flag("no-flags"),
        cpus: matches
            .get_many::<u32>("cpu")
            .unwrap_or_default()
            .copied()
            .collect(),
        from: None,
        until: None,
    };
    let mut out = BufWriter::with_capacity(1 << 18, std::io::stdout().lock());
    let filter = matches.get_one::<String>("filter");
    let filter = filter.map(|text| parse(text)).transpose()?;
    let (reader, stopped) = open_reader_only(&path, reading(matches), &job).map_err(fail)?;
    if let Some(tool) = reader.report().filter(|_| filter.is_none()) {
        if let Some(words) = stopped {
            eprintln!("threadline: {words}");
        }
        // Times since the start need the first event's time: the coarse picture knows it.
        let start = reader.coarse().span.start;
        let time = |name: &str| {
            matches
                .get_one::<TimeArg>(name)
                .map(|time| time.resolve(start))
        };
        options.from = time("from");
        options.until = time("until");
        with_progress("printing", &job, || tool.write(&options, &mut out, &job))?;
        out.flush()?;
        return Ok(());
    }
    drop(reader);
    let loaded = with_progress("reading", &job, || {
        open_as(
            std::slice::from_ref(&path),
            reading(matches),
            &[],
            &[],
            &job,
            None,
        )
    })
    .map_err(fail)?;
    warn_of_losses(&loaded);
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let matcher = filter
        .as_ref()
        .map(|filter| {
            Matcher::new(filter, trace, reader).map_err(|error| usage(filter.text(), &error))
        })
        .transpose()?;
    let span = asked_span(matches, trace);
    write_events(&loaded, span, &options, matcher.as_ref(), &mut out)?;
    out.flush()?;
    Ok(())
}

/// One line an event, for formats without a reference tool.
fn write_events(
    loaded: &LoadedTrace,
    span: TimeSpan,
    options: &ReportOptions,
    filter: Option<&Matcher<'_>>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let trace = &loaded.trace;
    let mut filter = filter.map(Matcher::probe);
    for id in trace.events.from_time(span.start) {
        let time = trace.events.time(id);
        if time >= span.end && span.end != Timestamp::MAX {
            break;
        }
        if filter
            .as_mut()
            .is_some_and(|probe| !probe.is_match(Item::Event(id)))
        {
            continue;
        }
        let reader = loaded.reader.as_ref();
        let detail = describe(trace, reader, id);
        if !options.cpus.is_empty() && !detail.cpu.is_some_and(|cpu| options.cpus.contains(&cpu)) {
            continue;
        }
        if let Some(tool) = reader.report()
            && tool.write_event(event_ref(trace, id), options, out)? == Wrote::Line
        {
            continue;
        }
        let thread = trace.events.thread(id);
        let name = if thread == ThreadId::IDLE {
            "<idle>".to_owned()
        } else {
            trace.thread_name(thread)
        };
        let name = one_line(&name);
        let cpu = detail
            .cpu
            .map_or_else(|| "---".to_owned(), |cpu| format!("{cpu:03}"));
        let tid = trace.thread(thread).tid;
        let stamp = if trace.info.clock_unit != ClockUnit::Nanoseconds {
            time.0.to_string()
        } else if options.has_full_times {
            time.to_string()
        } else {
            let micros = time.0.saturating_add(500).div_euclid(1000);
            format!(
                "{}.{:06}",
                micros.div_euclid(1_000_000),
                micros.rem_euclid(1_000_000)
            )
        };
        write!(
            out,
            "{name:>16}-{tid:<5} [{cpu}] {stamp:>12}: {:<22}",
            format!("{}: ", one_line(&detail.name))
        )?;
        if detail.text.is_empty() {
            let fields: Vec<String> = detail
                .fields
                .iter()
                .map(|field| format!("{}={}", one_line(&field.name), one_line(&field.text())))
                .collect();
            writeln!(out, "{}", fields.join(" "))?;
        } else {
            writeln!(out, "{}", one_line(&detail.text.replace('\n', " ")))?;
        }
    }
    Ok(())
}
