//! `threadline latency`: the time from wakeup to run for each thread, or between any two events.

use std::io::Write;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, files_arguments, format_arguments, load, row_format,
    time_arguments, warn, with_progress,
};
use super::narrow::{narrowing_arguments, selection_of, threads_of};
use super::search::{parse, usage};
use crate::base::Job;
use crate::export::tables::write_rows;
use crate::query::latency::{
    Among, EventPairs, PairKey, PairQuery, Sample, event_pairs, parse_events, wakeups,
};
use crate::tables::MadeRow;
use crate::tables::latency::{SUMS, WORST, pair_sums, sample_rows, wakeup_sums};

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "latency",
    about: "Show how long woken threads waited, or how long it took from one event to another",
    arguments: |command| {
        narrowing_arguments(files_arguments(time_arguments(command)))
            .arg(
                Arg::new("begin")
                    .long("begin")
                    .value_name("EXPR")
                    .help("The first event of each pair: a name, or an expression as in search; without it, wakeups of threads")
                    .requires("end"),
            )
            .arg(
                Arg::new("end")
                    .long("end")
                    .value_name("EXPR")
                    .help("The second event of each pair")
                    .requires("begin"),
            )
            .arg(
                Arg::new("key")
                    .long("key")
                    .value_name("KEY")
                    .help(
                        "What the two events have in common: any, tid, cpu, FIELD, or FIELD=FIELD of the second",
                    )
                    .default_value("tid")
                    .value_parser(|text: &str| text.parse::<PairKey>()),
            )
            .arg(
                Arg::new("worst")
                    .long("worst")
                    .value_name("N")
                    .help("Print the N longest one by one instead of the sums")
                    .value_parser(value_parser!(usize)),
            )
            .args(format_arguments())
    },
    examples: &[
        Example {
            line: "sample-traces/sched-irq.ftrace",
            about: "How long each thread waited for a CPU",
        },
        Example {
            line: "sample-traces/sched-irq.ftrace --worst 10",
            about: "The ten longest waits",
        },
    ],
    run,
};

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (begin, end) = (text("begin"), text("end"));
    // Report errors before a long load.
    if !begin.is_empty() {
        parse(begin)?;
        parse(end)?;
    }
    let loaded = load(matches)?;
    let (trace, reader) = (loaded.trace.as_ref(), loaded.reader.as_ref());
    let events = |text: &str| parse_events(text, trace).map_err(|error| usage(text, &error));
    let expressions = match begin {
        "" => None,
        _ => Some((events(begin)?, events(end)?)),
    };
    let selection = selection_of(matches, trace)?;
    let threads = threads_of(&selection, trace);
    let among = match threads.is_empty() && !selection.processes.is_empty() {
        true => Among::AnyOf(Vec::new(), Vec::new()),
        false => Among::AllOf(threads, selection.cpus.clone()),
    };
    let worst = matches.get_one::<usize>("worst").copied();
    let format = row_format(matches, trace);
    let job = Job::default();
    let mut out = answer();
    if let Some((from, to)) = expressions {
        let query = PairQuery {
            from,
            to,
            key: matches
                .get_one::<PairKey>("key")
                .cloned()
                .unwrap_or(PairKey::Thread),
            span: selection.span,
            among,
            worst: worst.unwrap_or(0),
        };
        let found = with_progress("searching", &job, || {
            event_pairs(trace, reader, &query, &job)
        });
        let pairs = match found {
            Ok(Ok(pairs)) => pairs,
            Ok(Err(error)) => {
                let is_first =
                    crate::query::expression::Matcher::new(&query.from, trace, reader).is_err();
                return Err(usage(if is_first { begin } else { end }, &error));
            }
            Err(_) => return Err(CliError::Input("cancelled".to_owned())),
        };
        warn_of(&pairs);
        match worst {
            Some(_) => {
                let rows = sample_rows(pairs.worst);
                write_rows(WORST.columns, &rows, &loaded, format, &mut out)?;
            }
            None => {
                let rows = vec![pair_sums(&format!("{begin} → {end}"), &pairs)];
                write_rows(SUMS.columns, &rows, &loaded, format, &mut out)?;
            }
        }
        out.flush()?;
        return Ok(());
    }
    let found = with_progress("measuring", &job, || {
        wakeups(trace, &among, selection.span, worst.unwrap_or(0), &job)
    });
    let found = found.unwrap_or_default();
    if let Some(count) = worst {
        let mut all: Vec<Sample> = found.iter().flat_map(|row| row.worst.clone()).collect();
        all.sort_by_key(|sample| (std::cmp::Reverse(sample.length_ns), sample.start));
        all.truncate(count);
        write_rows(WORST.columns, &sample_rows(all), &loaded, format, &mut out)?;
    } else {
        let rows: Vec<MadeRow> = found.iter().map(|row| wakeup_sums(trace, row)).collect();
        write_rows(SUMS.columns, &rows, &loaded, format, &mut out)?;
    }
    out.flush()?;
    Ok(())
}

fn warn_of(pairs: &EventPairs) {
    for (count, words) in [
        (
            pairs.unmatched_from - pairs.over_losses,
            "begin a pair and have no second event",
        ),
        (
            pairs.over_losses,
            "begin a pair during which events were lost: how long it took is unknown",
        ),
        (pairs.unmatched_to, "end a pair and have no first event"),
        (pairs.keyless, "do not have the key"),
        (pairs.left_out, "were left out: there are too many"),
    ] {
        if count > 0 {
            warn(&format!("{count} events {words}"));
        }
    }
}
