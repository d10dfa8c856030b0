//! `threadline chain`: why a thread waited, one wakeup after the other.

use std::io::Write;

use clap::{Arg, ArgMatches, value_parser};

use super::command::{
    CliError, Command, Example, answer, file_argument, format_arguments, load, row_format, warn,
};
use crate::base::time::TimeArg;
use crate::export::tables::write_rows;
use crate::query::wakeup_chain::{Chain, ChainEnd, chain_at};
use crate::tables::waits::{HOPS, hop_rows};
use crate::trace::ThreadId;

/// This command's row.
pub(crate) const COMMAND: Command = Command {
    name: "chain",
    about: "Show why a thread waited: who woke it, who woke the waker ... with each hop's share",
    arguments: |command| {
        command
            .arg(
                Arg::new("thread")
                    .long("thread")
                    .value_name("TID")
                    .help("Who waited")
                    .required(true)
                    .value_parser(value_parser!(u64)),
            )
            .arg(
                Arg::new("at")
                    .long("at")
                    .value_name("T")
                    .help("The time (1.5s, 250ms since the start, or @N ns): the thread's wait at that time, or the last one before it")
                    .required(true)
                    .allow_hyphen_values(true)
                    .value_parser(|text: &str| text.parse::<TimeArg>()),
            )
            .arg(file_argument())
            .args(format_arguments())
    },
    examples: &[Example {
        line: "--thread 27238 --at 90ms sample-traces/sched-irq.ftrace",
        about: "Why a thread waited",
    }],
    run,
};

fn run(matches: &ArgMatches) -> Result<(), CliError> {
    let loaded = load(matches)?;
    let trace = loaded.trace.as_ref();
    let tid = matches.get_one::<u64>("thread").copied().unwrap_or(0);
    let time = matches
        .get_one::<TimeArg>("at")
        .map_or(trace.span.end, |time| time.resolve(trace.span.start));
    let threads = (0..trace.threads.len() as u32).map(ThreadId);
    let lives: Vec<ThreadId> = threads.filter(|id| trace.thread(*id).tid == tid).collect();
    if lives.is_empty() {
        let words = format!("there is no thread {tid} in this trace");
        return Err(CliError::Usage(words));
    }
    // If several lives have this number, the one whose wait started last is taken.
    let found = lives.iter().filter_map(|id| chain_at(trace, *id, time));
    let Some(chain) = found.max_by_key(|chain| chain.wait.start) else {
        let words = format!(
            "thread {tid} did not wait at that time or before it, or its states are not in this trace"
        );
        return Err(CliError::Input(words));
    };
    say(&chain);
    let mut out = answer();
    let format = row_format(matches, trace);
    write_rows(HOPS.columns, &hop_rows(chain), &loaded, format, &mut out)?;
    out.flush()?;
    Ok(())
}

fn say(chain: &Chain) {
    let end = match chain.end {
        ChainEnd::Whole => "",
        ChainEnd::TooLong => "; the chain is too long to be listed completely",
        ChainEnd::Cycle => "; the chain runs in a circle",
        ChainEnd::Unknown => "; what happened before the first hop is not known",
    };
    warn(&format!("a wait of {}{end}", chain.wait.duration()));
}
