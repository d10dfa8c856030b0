//! The table of gaps, in which events were lost.

use super::columns::CPU;
use super::rows::RowsOfIds;
use super::{ColumnDef, RowSource, Rows, Scope, TableDef};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::trace::GapId;

/// The gaps in order of time.
pub(crate) const GAPS: TableDef = TableDef {
    name: "gaps",
    title: "Lost events",
    about: "Where events were lost, and how many.",
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
    let ids = loaded.index.gaps.all().ids().filter(is_chosen).collect();
    Box::new(gap_rows(ids))
}

/// Returns rows of [`GAPS`]; the item of each is its gap.
pub(crate) fn gap_rows(ids: Vec<GapId>) -> impl RowSource {
    let rows = RowsOfIds::new(ids, (), |loaded: &LoadedTrace, (), &id: &GapId, cells| {
        let trace = &loaded.trace;
        let (Some(gap), Some(span)) = (trace.gap(id), trace.gap_span(id)) else {
            return;
        };
        let source = trace.gap_source(id);
        let source = source.and_then(|id| trace.sources.get(id.0 as usize));
        cells.extend([
            gap.event_before().map(|_| span.start).into(),
            gap.duration().map(|duration| duration.0).into(),
            gap.lost.filter(|lost| *lost > 0).into(),
            gap.cpu.into(),
            source.map(|source| source.name.as_str()).into(),
            gap.event_after().map(|_| span.end).into(),
        ]);
    });
    rows.about(|(), &id| Some(Item::Gap(id)))
}
