//! The table of gaps, in which events were lost.

use super::columns::CPU;
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::trace::{CpuId, GapId, SourceId, UnplacedLoss};

/// The gaps in order of time.
pub(crate) const GAPS: TableDef = TableDef {
    name: "gaps",
    title: "Lost events",
    about: "Where events were lost, and how many; in rows without times: events that the recorder counted as lost, at a \
            time that is not known.",
    columns: &[
        ColumnDef::time(
            "ts",
            "From",
            "The last event before the loss; empty if there is none.",
        ),
        ColumnDef::duration(
            "dur",
            "Duration",
            "How long nothing was recorded; empty if no event comes before or after the loss.",
        ),
        ColumnDef::count(
            "lost",
            "Lost",
            "The number of lost events, if it is recorded.",
        ),
        CPU,
        ColumnDef::text("file", "File", "In which of several files."),
        ColumnDef::time(
            "end",
            "Until",
            "The first event after the loss; empty if there is none.",
        ),
    ],
    stored: None,
    rows: Rows::Trace(gaps),
};

fn gaps(scope: &Scope<'_>) -> Box<dyn RowSource> {
    let (loaded, chosen) = (scope.loaded, scope.chosen);
    let trace = &loaded.trace;
    let is_chosen = |id: &GapId| {
        let span = trace.gap_span(*id);
        let cpu = trace.gap_cpu(*id);
        let is_on_chosen = cpu.map_or(!chosen.is_narrowed(), |cpu| chosen.has_cpu(cpu));
        is_on_chosen && span.is_some_and(|span| chosen.meets(span.start, span.end))
    };
    let mut rows = gaps_and_more(loaded, usize::MAX);
    // The times of unplaced losses are unknown: only a selection of the whole trace contains them.
    let is_all_times = chosen.has_all_times();
    rows.retain(|row| match row {
        GapRow::Gap(id) => is_chosen(id),
        GapRow::Unplaced(loss) => is_all_times && is_chosen_cpu(scope, loss),
    });
    Box::new(gap_rows(rows))
}

/// Returns whether the CPU of a loss was chosen.
fn is_chosen_cpu(scope: &Scope<'_>, loss: &UnplacedLoss) -> bool {
    let (trace, chosen) = (&scope.loaded.trace, scope.chosen);
    let source = loss.source.and_then(|id| trace.sources.get(id.0 as usize));
    let rows = source.map_or(0..trace.cpus.len() as u32, |source| source.cpus.clone());
    let mut cpus = rows.map(CpuId);
    let number = |id: CpuId| trace.cpus.get(id.0 as usize).map(|cpu| cpu.number);
    match cpus.find(|&id| number(id) == Some(loss.cpu)) {
        Some(id) => chosen.has_cpu(id),
        // A CPU without any event.
        None => !chosen.is_narrowed() && !chosen.limits_cpus(),
    }
}

/// A row of [`GAPS`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum GapRow {
    /// A gap of the file.
    Gap(GapId),
    /// Lost events that belong to no gap.
    Unplaced(UnplacedLoss),
}

/// Returns at most `most` rows: the gaps in order of time, then the lost events that the file counts without a gap.
pub(crate) fn gaps_and_more(loaded: &LoadedTrace, most: usize) -> Vec<GapRow> {
    let gaps = loaded.index.gaps.all().ids().map(GapRow::Gap);
    let others = loaded.trace.unplaced_losses().into_iter();
    gaps.chain(others.map(GapRow::Unplaced))
        .take(most)
        .collect()
}

/// Returns rows of [`GAPS`]; the item of each is its gap, if it has one.
pub(crate) fn gap_rows(rows: Vec<GapRow>) -> impl RowSource {
    let rows = RowsOfIds::new(rows, (), |loaded: &LoadedTrace, (), row: &GapRow, cells| {
        let trace = &loaded.trace;
        let file = |id: Option<SourceId>| {
            let source = id.and_then(|id| trace.sources.get(id.0 as usize));
            source.map(|source| source.name.as_str())
        };
        let id = match row {
            GapRow::Gap(id) => *id,
            GapRow::Unplaced(UnplacedLoss { source, cpu, lost }) => {
                cells.extend([
                    Cell::None,
                    Cell::None,
                    Some(*lost).into(),
                    Some(*cpu).into(),
                    file(*source).into(),
                    Cell::None,
                ]);
                return;
            }
        };
        let (Some(gap), Some(span)) = (trace.gap(id), trace.gap_span(id)) else {
            return;
        };
        cells.extend([
            gap.event_before().map(|_| span.start).into(),
            gap.duration().map(|duration| duration.0).into(),
            gap.lost.filter(|lost| *lost > 0).into(),
            gap.cpu.into(),
            file(trace.gap_source(id)).into(),
            gap.event_after().map(|_| span.end).into(),
        ]);
    });
    rows.about(|(), row| match row {
        GapRow::Gap(id) => Some(Item::Gap(*id)),
        GapRow::Unplaced(_) => None,
    })
}
