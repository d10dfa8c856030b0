//! The trace.dat exporter: any range, CPUs, threads and events of a trace.dat as a trace.dat of version 7.
//!
//! ```text
//! head | metadata sections, as stored | each buffer's section: pages of its CPUs | options | names of sections
//! ```
//!
//! - **Pages** whose records are all chosen are copied byte for byte, in compressed files whole chunks are. Of other
//!   pages the chosen records are copied to new pages (`pages`); their times stay the same.
//! - **Borders**: a record belongs to the range if its time does. A call, wait or request that crosses a border keeps
//!   the records inside the range and loses those outside: in the exported file it is unended, or its begin is unknown,
//!   as in a recording that was started late or stopped early. No record is made up.
//! - **Threads** include the records that they wrote, and the scheduler's records about them that other threads wrote
//!   (`chooser`).
//! - **Metadata and options** are the input's: formats, symbols, thread names, clocks, time shifts. The kernel's
//!   statistics are copied for the exported CPUs; they count the whole recording. Only the number of overwritten events is
//!   that of the exported time range, as far as their times are known.
//! - **Lost events** are stated by the page after them. If its first record is not exported, a new page states them, with
//!   the time of that record: so a loss in which the range ends is in the file as a whole.
//! - Files of version 6 become version 7. The compression stays the input's.

mod chooser;
mod file;
mod pages;

use std::io::Write;

use rustc_hash::FxHashMap;

use super::shared::losses::{GapRow, chosen_rows};
use super::{Chosen, ExportError, ExportedText, Exporter, Request, Summary};
use crate::formats::tracedat::TraceDat;
use crate::trace::{GapId, Trace};
use chooser::Chooser;
use file::OutputFile;
use pages::plan_cpus;

/// This exporter's row.
pub(crate) const EXPORTER: Exporter = Exporter {
    name: "trace-dat",
    title: "trace.dat",
    about: "trace.dat of a trace.dat, for trace-cmd, KernelShark and Threadline: whole pages are copied",
    extension: "dat",
    text: ExportedText::AsWritten,
    table: None,
    write,
};

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Summary, ExportError> {
    let Request {
        loaded,
        chosen,
        job,
        ..
    } = *request;
    let nothing = |words: &str| Err(ExportError::Nothing(words.to_owned()));
    let reader = loaded.reader.record_file();
    let Some(reader) = reader.and_then(|file| file.downcast_ref::<TraceDat>()) else {
        return nothing(
            "only a single trace.dat can be exported as trace.dat: this trace is of another format, or of several files",
        );
    };
    if chosen.names_tracks() {
        return nothing(
            "trace.dat contains records, not tracks and counters: choose a time range, CPUs, processes, threads or events",
        );
    }
    let chooser = Chooser::new(&loaded.trace, chosen, reader.file());
    let plans = plan_cpus(reader, &chooser, job)?;
    let lost = lost_in_part(&loaded.trace, chosen);
    let file = OutputFile::new(reader.file(), &plans, lost.as_ref());
    job.set_total(file.size().max(1));
    file.write(out, job)?;
    let mut summary = Summary::default();
    let sum = |count: fn(&pages::CpuPlan) -> u64| plans.iter().map(count).sum();
    summary.count("events", sum(|plan| plan.events));
    summary.count("copied pages", sum(|plan| plan.copied_pages));
    summary.count("new pages", sum(|plan| plan.new_pages));
    if summary.count_of("new pages") > 0 && !chosen.is_narrowed() {
        summary.notes.push(
            "calls and waits that cross the range's borders are unended, or begin unseen, in the exported file"
                .to_owned(),
        );
    }
    Ok(summary)
}

/// How many events of a CPU were overwritten in the exported part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overwritten {
    /// This number.
    Known(u64),
    /// A page says that events were lost, but not how many.
    Unknown,
}

/// The losses of each CPU, by the CPU's number.
type LostInPart = FxHashMap<u32, Overwritten>;

/// Returns the losses that overlap the range of a selection. `None` if the selection is the whole time of the trace.
fn lost_in_part(trace: &Trace, chosen: &Chosen<'_>) -> Option<LostInPart> {
    if chosen.has_all_times() {
        return None;
    }
    let mut lost = LostInPart::default();
    for GapRow { row, gap } in chosen_rows(trace, chosen) {
        let cpu = trace.gap_cpu(GapId(row));
        let cpu = cpu.and_then(|cpu| trace.cpus.get(cpu.0 as usize));
        let Some(cpu) = cpu else {
            continue;
        };
        let before = lost.entry(cpu.number).or_insert(Overwritten::Known(0));
        *before = match (*before, gap.lost) {
            (Overwritten::Known(before), Some(count)) => {
                Overwritten::Known(before.saturating_add(count))
            }
            _ => Overwritten::Unknown,
        };
    }
    Some(lost)
}
