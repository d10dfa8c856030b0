//! The table of the chain of wakeups that ended a wait: a row for each hop.

use super::columns::{CPU, DUR, TID, TS};
use super::rows::RowsOfIds;
use super::{Cell, ColumnDef, RowSource, Rows, TableDef, Unit};
use crate::load::LoadedTrace;
use crate::query::wakeup_chain::Chain;
use crate::trace::ThreadId;

/// The hops of a chain of wakeups.
pub(crate) const HOPS: TableDef = TableDef {
    name: "wakeup_chain",
    title: "Wakeup chain",
    about: "Why a thread waited: who woke it, who woke the waker, with the share of each.",
    columns: &[
        TS,
        DUR,
        ColumnDef::number("share", "Share", Unit::Percent, "Its share of the wait."),
        ColumnDef::text("what", "What", "What happened then."),
        ColumnDef::text("who", "Who", "The thread, or the interrupt."),
        TID,
        CPU,
        ColumnDef::text("waker", "Waker", "The thread or interrupt that ended it."),
        ColumnDef::text("rival", "Rival", "The thread that had the CPU meanwhile."),
    ],
    stored: None,
    rows: Rows::Answer("chain --thread TID --at T FILE"),
};

/// For panes only: the thread (with its number) or interrupt of the hop.
pub(crate) const WHO: ColumnDef<'static> =
    ColumnDef::text("who_in_full", "Who", "The thread, or the interrupt");
/// For panes only: the thread that was on the CPU, for an interrupt without a name.
pub(crate) const BEHIND: ColumnDef<'static> = ColumnDef::text(
    "behind",
    "Behind",
    "Who had the CPU for the longest time meanwhile",
);

/// Returns rows of [`HOPS`], followed by cells of [`WHO`] and [`BEHIND`]; the item of each is its event.
pub(crate) fn hop_rows(chain: Chain) -> impl RowSource {
    let ids = (0..chain.hops.len()).collect();
    RowsOfIds::new(ids, chain, hop_cells).about(|chain, &at| Some(chain.hops.get(at)?.item))
}

fn hop_cells<'a>(
    loaded: &'a LoadedTrace,
    chain: &'a Chain,
    &at: &'a usize,
    cells: &mut Vec<Cell<'a>>,
) {
    let trace = loaded.trace.as_ref();
    let Some(hop) = chain.hops.get(at) else {
        return;
    };
    let cpu = hop.cpu.and_then(|cpu| trace.cpus.get(cpu.0 as usize));
    let who = hop.who(trace);
    let who_in_full = match hop.kind.is_interrupt() {
        true => who.clone(),
        false => trace.thread_title(hop.thread),
    };
    let behind = hop.rival.map(|id| match id {
        ThreadId::IDLE => "an interrupt".to_owned(),
        id => trace.thread_title(id),
    });
    cells.extend([
        hop.span.start.into(),
        hop.span.duration().0.into(),
        Cell::percent(hop.share),
        hop.what(trace).into(),
        who.into(),
        trace.thread(hop.thread).tid.into(),
        cpu.map(|cpu| cpu.number).into(),
        chain.waker_of(trace, at).into(),
        hop.rival.map(|id| trace.thread_title(id)).into(),
        who_in_full.into(),
        behind.into(),
    ]);
}
