//! The lists of the Files pane as tab-separated text: times in ns of the trace's clock.

use super::copied::{MOST_COPIED, push_texts};
use crate::base::{Cancelled, Job};
use crate::gui::table::{Cell, push_line};
use crate::query::files::{FileList, FileSummary, Relative};
use crate::query::process_times::program_of;
use crate::trace::{FileId, ProcessId, Trace};

/// Files with how often and by how many they were used.
///
/// # Errors
/// If the job is cancelled.
pub fn list_text(
    trace: &Trace,
    list: &FileList,
    files: &[(FileId, FileSummary)],
    job: &Job,
) -> Result<String, Cancelled> {
    let mut text = String::new();
    let titles = [
        "File",
        "Read",
        "Written",
        "Renamed",
        "Processes",
        "First use",
    ];
    push_texts(&mut text, titles);
    for &(file, summary) in files.iter().take(MOST_COPIED) {
        job.check()?;
        let mut cells = vec![Cell::Text(trace.text(list.history.name(file)).into_owned())];
        let counts = [
            summary.reads,
            summary.writes,
            summary.renames,
            summary.processes,
        ];
        cells.extend(counts.map(|count| Cell::Count(u64::from(count))));
        cells.push(Cell::Time(summary.first));
        push_line(&mut text, &cells);
    }
    Ok(text)
}

/// Who used a file, when, and for what.
///
/// # Errors
/// If the job is cancelled.
pub fn uses_text(
    trace: &Trace,
    list: &FileList,
    file: FileId,
    job: &Job,
) -> Result<String, Cancelled> {
    let mut text = String::new();
    push_texts(&mut text, ["Time", "Use", "Program", "Pid", "Until"]);
    for index in 0..list.use_count(file).min(MOST_COPIED) {
        job.check()?;
        let Some(it) = list.use_at(trace, file, index) else {
            continue;
        };
        let [program, pid] = process_cells(trace, it.process);
        let until = it.until.map_or(Cell::None, Cell::Time);
        let word = Cell::Text(it.word.to_owned());
        push_line(&mut text, &[Cell::Time(it.time), word, program, pid, until]);
    }
    Ok(text)
}

/// What went into a file, or was made from it.
pub fn kin_text(trace: &Trace, list: &FileList, relatives: &[Relative]) -> String {
    let mut text = String::new();
    push_texts(&mut text, ["Steps", "File", "Through", "Pid", "Later name"]);
    for relative in relatives.iter().take(MOST_COPIED) {
        let [program, pid] = process_cells(trace, Some(relative.through));
        let name = Cell::Text(trace.text(relative.name(trace)).into_owned());
        let steps = Cell::Count(u64::from(relative.steps));
        let later = relative.later_name(trace, list);
        let later = later.map_or(Cell::None, |it| Cell::Text(trace.text(it).into_owned()));
        push_line(&mut text, &[steps, name, program, pid, later]);
    }
    text
}

/// The program and the number of a process.
fn process_cells(trace: &Trace, id: Option<ProcessId>) -> [Cell; 2] {
    let process = id.and_then(|id| trace.processes.get(id.0 as usize));
    match (id, process) {
        (Some(id), Some(process)) => [
            Cell::Text(program_of(trace, id).to_string()),
            Cell::Text(process.pid.to_string()),
        ],
        _ => [Cell::None, Cell::None],
    }
}
