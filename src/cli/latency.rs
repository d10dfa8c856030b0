//! `threadline latency`: from wakeup to run by thread, or between any two events.

use std::io::Write;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, answer, files_arguments, format_arguments, load, row_format, time_arguments,
    with_progress,
};
use super::narrow::{narrowing_arguments, selection_of, threads_of};
use super::search::{parse, usage};
use crate::base::Job;
use crate::export::rows::{Cell, RowFormat, RowWriter};
use crate::load::LoadedTrace;
use crate::query::distribution::Distribution;
use crate::query::item::{cpu_number, title};
use crate::query::latency::{
    Among, EventPairs, PairKey, PairQuery, Sample, event_pairs, parse_events, wakeups,
};

/// This command's row.
pub const COMMAND: Command = Command {
    name: "latency",
    about: "Say how long woken threads waited, or how long it took from one event to another",
    arguments: |command| {
        narrowing_arguments(files_arguments(time_arguments(command)))
            .arg(
                Arg::new("begin")
                    .long("begin")
                    .value_name("EXPR")
                    .help("The events where it begins: a name, or an expression as in search; without, wakeups of threads")
                    .requires("end"),
            )
            .arg(
                Arg::new("end")
                    .long("end")
                    .value_name("EXPR")
                    .help("The events where it ends")
                    .requires("begin"),
            )
            .arg(
                Arg::new("key")
                    .long("key")
                    .value_name("KEY")
                    .help(
                        "What both have in common: any, tid, cpu, FIELD, or FIELD=FIELD of the end",
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
    run,
};

const SUMS: &[&str] = &[
    "name",
    "tid",
    "count",
    "sum",
    "mean",
    "min",
    "p50",
    "p90",
    "p95",
    "p99",
    "p999",
    "max",
    "unmatched",
    "unfinished",
    "at_least",
];
const WORST: &[&str] = &["ts", "dur", "from", "to", "cpu", "tid", "thread"];

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let (begin, end) = (text("begin"), text("end"));
    // What is wrong is said before a long load.
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
    let format = row_format(matches);
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
        warn(&pairs);
        match worst {
            Some(_) => write_worst(&loaded, &pairs.worst, format, &mut out)?,
            None => {
                let mut rows = RowWriter::new(&mut out, format, SUMS)?;
                let unmatched = Unmatched {
                    all: pairs.unmatched_from + pairs.unmatched_to,
                    unfinished: pairs.unfinished,
                    unfinished_ns: pairs.unfinished_ns,
                };
                rows.row(&sums(
                    format!("{begin} → {end}"),
                    None,
                    &pairs.lengths,
                    &unmatched,
                ))?;
                rows.finish()?;
            }
        }
        out.flush()?;
        return Ok(());
    }
    let found =
        wakeups(trace, &among, selection.span, worst.unwrap_or(0), &job).unwrap_or_default();
    if let Some(count) = worst {
        let mut all: Vec<Sample> = found.iter().flat_map(|row| row.worst.clone()).collect();
        all.sort_by_key(|sample| (std::cmp::Reverse(sample.length_ns), sample.start));
        all.truncate(count);
        write_worst(&loaded, &all, format, &mut out)?;
    } else {
        let mut rows = RowWriter::new(&mut out, format, SUMS)?;
        for row in &found {
            let tid = trace.thread(row.thread).tid;
            let name = trace.thread_name(row.thread);
            let unmatched = Unmatched {
                all: row.unmatched,
                unfinished: row.unfinished,
                unfinished_ns: row.unfinished_ns,
            };
            rows.row(&sums(name, Some(tid), &row.lengths, &unmatched))?;
        }
        rows.finish()?;
    }
    out.flush()?;
    Ok(())
}

/// What has no end: how many, how many of these were still open at the end, and how long those lasted at least.
struct Unmatched {
    all: u64,
    unfinished: u64,
    unfinished_ns: i128,
}

fn sums(
    name: String,
    tid: Option<u64>,
    lengths: &Distribution,
    unmatched: &Unmatched,
) -> [Cell; 15] {
    // Of nothing there is no length, not even 0.
    let length = |ns: i64| Cell::from((lengths.count() > 0).then_some(ns));
    [
        name.into(),
        tid.into(),
        lengths.count().into(),
        Cell::Int(lengths.sum_ns()),
        length(lengths.mean_ns()),
        length(lengths.min_ns()),
        length(lengths.per_mille(500)),
        length(lengths.per_mille(900)),
        length(lengths.per_mille(950)),
        length(lengths.per_mille(990)),
        length(lengths.per_mille(999)),
        length(lengths.max_ns()),
        unmatched.all.into(),
        unmatched.unfinished.into(),
        Cell::Int(unmatched.unfinished_ns),
    ]
}

fn write_worst(
    loaded: &LoadedTrace,
    samples: &[Sample],
    format: RowFormat,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let trace = loaded.trace.as_ref();
    let mut rows = RowWriter::new(out, format, WORST)?;
    for sample in samples {
        let thread = sample.to.thread(trace);
        rows.row(&[
            sample.start.0.into(),
            sample.length_ns.into(),
            title(trace, sample.from).into(),
            title(trace, sample.to).into(),
            cpu_number(trace, sample.to).into(),
            thread.map(|id| trace.thread(id).tid).into(),
            thread.map(|id| trace.thread_name(id)).into(),
        ])?;
    }
    rows.finish()?;
    Ok(())
}

fn warn(pairs: &EventPairs) {
    let mut stderr = std::io::stderr().lock();
    for (count, words) in [
        (pairs.unmatched_from, "began and have no end"),
        (pairs.unmatched_to, "ended and have no begin"),
        (pairs.keyless, "do not have the key"),
        (pairs.left_out, "are too many, and were left out"),
    ] {
        if count > 0 {
            let _unwritable = writeln!(stderr, "threadline: {count} events {words}");
        }
    }
}
