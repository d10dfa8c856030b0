//! The critical chain and the programs of a build as tab-separated text: times in ns of the trace's clock.

use super::copied::push_texts;
use crate::base::{Cancelled, Job};
use crate::gui::table::{Cell, push_line};
use crate::query::build_chain::{Because, Chain, ChainRow};
use crate::query::process_times::{first_arguments_of, program_of};
use crate::query::programs::ProgramTotal;
use crate::trace::Trace;

/// At most so many bytes of a process' arguments.
const MOST_ARGUMENTS: usize = 4_000;

/// The steps and waits of the chain.
///
/// # Errors
/// If the job is cancelled.
pub fn chain_text(trace: &Trace, chain: &Chain, job: &Job) -> Result<String, Cancelled> {
    let mut text = String::new();
    let titles = [
        "Start",
        "Time",
        "Share (%)",
        "Program",
        "Pid",
        "Why",
        "Arguments",
    ];
    push_texts(&mut text, titles);
    for (row, share) in chain.rows() {
        job.check()?;
        let process = trace.processes.get(row.process().0 as usize);
        let pid = process.map_or(Cell::None, |it| Cell::Text(it.pid.to_string()));
        push_line(
            &mut text,
            &[
                Cell::Time(row.span().start),
                Cell::Length(i128::from(row.time().0)),
                Cell::Text(share_text(share)),
                Cell::Text(program_of(trace, row.process()).to_string()),
                pid,
                Cell::Text(because(trace, &row)),
                Cell::Text(first_arguments_of(trace, row.process(), MOST_ARGUMENTS)),
            ],
        );
    }
    Ok(text)
}

/// Programs by what they took.
pub fn programs_text(trace: &Trace, programs: &[ProgramTotal]) -> String {
    let mut text = String::new();
    let titles = ["Program", "Count", "Total", "Own", "Longest", "Failed"];
    push_texts(&mut text, titles);
    for total in programs {
        let lengths = [total.total, total.own, total.longest];
        let [sum, own, longest] = lengths.map(|it| Cell::Length(i128::from(it.0)));
        push_line(
            &mut text,
            &[
                Cell::Text(program_of(trace, total.longest_process).to_string()),
                Cell::Count(u64::from(total.count)),
                sum,
                own,
                longest,
                Cell::Count(u64::from(total.failed)),
            ],
        );
    }
    text
}

/// Hundredths of a percent as percent.
pub fn share_text(share: u32) -> String {
    format!("{}.{:02}", share / 100, share % 100)
}

/// Why a step comes after the one before, or what was waited for.
pub fn because(trace: &Trace, row: &ChainRow) -> String {
    let step = match row {
        ChainRow::Step(step) => step,
        ChainRow::Wait(wait) => return format!("({})", wait.why.word()),
    };
    match step.because {
        Because::First => "it is the first".to_owned(),
        Because::Fork => "started by it".to_owned(),
        Because::Child => "waited for its end".to_owned(),
        Because::Pipe => "reads its pipe".to_owned(),
        Because::File(path) => {
            let path = trace.text(path);
            let name = path.rsplit('/').next().unwrap_or(&path);
            format!("reads its {name}")
        }
    }
}
