//! The rows of the process tree as tab-separated text: times in ns, names as deep as they lie.

use super::copied::{MOST_COPIED, push_texts};
use crate::base::signals::exit_text;
use crate::base::{Cancelled, Job};
use crate::gui::table::{Cell, push_line};
use crate::query::process_rows::TreeRow;
use crate::query::process_times::{ProcessTimes, first_arguments_of, program_of};
use crate::trace::Trace;

/// At most so many bytes of a process' arguments.
const MOST_ARGUMENTS: usize = 4_000;

const TITLES: [&str; 10] = [
    "Program",
    "Pid",
    "Start",
    "Duration",
    "Own",
    "Subtree",
    "Exit",
    "Children",
    "Files",
    "Arguments",
];

/// These rows with their headings.
///
/// # Errors
/// If the job is cancelled.
pub fn text_of(
    trace: &Trace,
    times: &ProcessTimes,
    rows: &[TreeRow],
    job: &Job,
) -> Result<String, Cancelled> {
    let mut text = String::new();
    push_texts(&mut text, TITLES);
    for row in rows.iter().take(MOST_COPIED) {
        job.check()?;
        let Some(process) = trace.processes.get(row.id.0 as usize) else {
            continue;
        };
        let time = times.of(row.id);
        let indent = "  ".repeat(row.depth.min(200) as usize);
        push_line(
            &mut text,
            &[
                Cell::Text(format!("{indent}{}", program_of(trace, row.id))),
                Cell::Text(process.pid.to_string()),
                process.start.map_or(Cell::None, Cell::Time),
                Cell::Length(i128::from(time.span.duration().0)),
                Cell::Length(i128::from(time.own.0)),
                Cell::Length(i128::from(time.subtree.0)),
                Cell::Text(exit_text(process.exit_status, process.exit_signal)),
                Cell::Count(u64::from(time.children)),
                Cell::Count(u64::from(process.opens)),
                Cell::Text(first_arguments_of(trace, row.id, MOST_ARGUMENTS)),
            ],
        );
    }
    Ok(text)
}
