//! The input of the export panel, and the export order made from it.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::base::TimeSpan;
use crate::export::choices::Choice;
use crate::export::{EXPORTERS, Exporter};
use crate::load::LoadedTrace;
use crate::query::selection::Selection;
use crate::tables::{TABLES, TableDef};
use crate::trace::{CpuId, Trace};
use crate::view::outline::Node;
use crate::view::rows::{Fold, LaneKind, Row, matching};
use crate::view::{Existing, ExportOrder, RowKind, ViewState};

/// Time range to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// The selected range.
    Selected,
    /// The visible span.
    Visible,
    /// The whole trace.
    Whole,
}

/// Tracks to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tracks {
    /// All.
    All,
    /// Tracks of the selected area.
    Selected,
    /// Tracks that match the track filter.
    Filtered,
    /// Tracks checked in the list.
    Checked,
}

/// The input of the panel.
#[derive(Debug)]
pub(crate) struct Form {
    /// Format: a row of `EXPORTERS`.
    pub exporter: Exporter,
    /// Time range to export.
    pub range: Range,
    /// Tracks to export.
    pub tracks: Tracks,
    /// Checked entries of the list.
    pub checked: FxHashSet<Choice>,
    /// CPUs to leave out.
    pub without_cpus: FxHashSet<CpuId>,
    /// Output file, as typed.
    pub path: String,
    /// Whether the user named the file; otherwise the name follows the form.
    pub is_path_typed: bool,
    /// An existing file that the user allowed to be replaced.
    pub replaceable: Option<PathBuf>,
}

impl Form {
    /// Returns the initial form.
    #[must_use]
    pub(super) fn new(state: &ViewState) -> Form {
        let tracks = match (&state.area_rows, state.filter.trim()) {
            (Some(_), _) => Tracks::Selected,
            (None, "") => Tracks::All,
            (None, _) => Tracks::Filtered,
        };
        Form {
            exporter: EXPORTERS[0],
            range: match state.range {
                Some(_) => Range::Selected,
                None => Range::Whole,
            },
            tracks,
            checked: FxHashSet::default(),
            without_cpus: FxHashSet::default(),
            path: String::new(),
            is_path_typed: false,
            replaceable: None,
        }
    }

    /// Resets choices that refer to another trace or are no longer available.
    pub(crate) fn fit(&mut self, state: &ViewState) {
        if self.range == Range::Selected && state.range.is_none() {
            self.range = Range::Whole;
        }
        if self.tracks == Tracks::Selected && state.area_rows.is_none() {
            self.tracks = Tracks::All;
        }
        if self.tracks == Tracks::Filtered && state.filter.trim().is_empty() {
            self.tracks = Tracks::All;
        }
    }

    /// Returns the time range to export.
    #[must_use]
    pub(crate) fn span(&self, state: &ViewState) -> TimeSpan {
        match (self.range, state.range) {
            (Range::Selected, Some(range)) => range,
            (Range::Visible, _) => state.span,
            (Range::Selected | Range::Whole, _) => TimeSpan::ALL,
        }
    }

    /// Sets the format; the file's extension follows.
    pub(crate) fn set_exporter(&mut self, exporter: &Exporter) {
        let old_ending = format!(".{}", self.exporter.extension);
        if let Some(stem) = self.path.strip_suffix(&old_ending) {
            self.path = format!("{stem}.{}", exporter.extension);
        }
        self.exporter = *exporter;
    }

    /// Returns the tables to choose from, if the format writes one table.
    #[must_use]
    pub(super) fn tables(&self) -> Vec<&'static TableDef> {
        let has_table = self.exporter.table.is_some();
        let tables = TABLES
            .iter()
            .filter(|table| has_table && table.is_of_trace());
        tables.collect()
    }

    /// Proposes a file next to the trace, unless the user named one.
    pub(crate) fn propose_path(&mut self, trace_path: &Path) {
        if self.is_path_typed {
            return;
        }
        let mut stem = PathBuf::from(trace_path.file_stem().unwrap_or_default());
        let wrapped = ["gz", "zst", "lz4"];
        let is_wrapped = trace_path
            .extension()
            .is_some_and(|ending| wrapped.iter().any(|it| ending == *it));
        if is_wrapped {
            stem = PathBuf::from(stem.file_stem().unwrap_or_default());
        }
        let what = match (self.range, self.tracks) {
            (Range::Whole, Tracks::All) => "",
            _ => "-part",
        };
        let folder = trace_path.parent().unwrap_or(Path::new(""));
        let ending = self.exporter.extension;
        let mut path = folder.join(format!("{}{what}.{ending}", stem.display()));
        if path == trace_path {
            path = folder.join(format!("{}-export.{ending}", stem.display()));
        }
        self.path = path.display().to_string();
    }

    /// Returns the path of the output file.
    #[must_use]
    pub(super) fn file(&self) -> PathBuf {
        let typed = self.path.trim();
        match (typed.strip_prefix("~/"), std::env::var_os("HOME")) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            _ => PathBuf::from(typed),
        }
    }

    /// Returns the export order.
    ///
    /// # Errors
    /// Returns a sentence for the user if something is missing.
    pub(crate) fn order(
        &self,
        loaded: &LoadedTrace,
        state: &ViewState,
    ) -> Result<ExportOrder, String> {
        if !loaded.is_complete {
            return Err("The trace is still being read.".to_owned());
        }
        if self.path.trim().is_empty() {
            return Err("Name a file to write to.".to_owned());
        }
        let path = self.file();
        let mut order = ExportOrder {
            format: self.exporter.name.to_owned(),
            table: self.exporter.table.map(|table| table.name.to_owned()),
            selection: Selection::range(self.span(state)),
            // The permission to replace is for that path only.
            existing: match self.replaceable.as_ref() == Some(&path) {
                true => Existing::Replace,
                false => Existing::Ask,
            },
            path,
        };
        let chosen = &mut order.selection;
        match self.tracks {
            Tracks::All => {}
            Tracks::Selected => narrow_by_area(chosen, &loaded.trace, state),
            Tracks::Filtered => {
                let nodes = matching(&state.outline, &state.filter);
                narrow_by_nodes(chosen, nodes);
            }
            Tracks::Checked => narrow_by_list(chosen, &self.checked),
        }
        // An order that narrows nothing exports everything: an error below, unless the user chose all.
        let is_narrowed = chosen.is_narrowed();
        match self.tracks {
            Tracks::Checked if !is_narrowed => {
                return Err("Nothing is checked in the list.".to_owned());
            }
            Tracks::Selected if !is_narrowed && chosen.cpus.is_empty() => {
                return Err("The selected tracks are empty.".to_owned());
            }
            Tracks::Filtered if !is_narrowed && chosen.cpus.is_empty() => {
                return Err("The filter names no track.".to_owned());
            }
            _ => {}
        }
        if !self.without_cpus.is_empty() {
            let all = (0..loaded.trace.cpus.len() as u32).map(CpuId);
            let wanted = |cpu: &CpuId| {
                !self.without_cpus.contains(cpu)
                    && (chosen.cpus.is_empty() || chosen.cpus.contains(cpu))
            };
            let cpus: Vec<CpuId> = all.filter(wanted).collect();
            if cpus.is_empty() {
                return Err("All CPUs are left out.".to_owned());
            }
            chosen.cpus = cpus;
        }
        Ok(order)
    }
}

fn narrow_by_list(chosen: &mut Selection, checked: &FxHashSet<Choice>) {
    for choice in checked {
        match *choice {
            Choice::Process(id) => chosen.processes.push(id),
            Choice::Thread(id) => chosen.threads.push(id),
            Choice::Track(id) => chosen.tracks.push(id),
            Choice::Counter(id) => chosen.counters.push(id),
            Choice::Cpu(id) => chosen.cpu_tracks.push(id),
        }
    }
    chosen.processes.sort_unstable();
    chosen.threads.sort_unstable();
    chosen.tracks.sort_unstable();
    chosen.counters.sort_unstable();
    chosen.cpu_tracks.sort_unstable();
}

/// Narrows to the tracks of the selected area. If several are selected, an open row counts without the rows inside it,
/// as in [`ViewState::area_lanes`].
fn narrow_by_area(chosen: &mut Selection, trace: &Trace, state: &ViewState) {
    let keys = state.area_rows.as_deref().unwrap_or_default();
    let mut whole = Vec::new();
    for key in keys {
        let row = state.rows.of_key(*key);
        match row.filter(|row| row.fold == Fold::Open && keys.len() > 1) {
            Some(row) => narrow_by_lanes(chosen, trace, row),
            None => whole.extend(state.outline.node(*key)),
        }
    }
    narrow_by_nodes(chosen, whole);
    chosen.cpu_tracks.sort_unstable();
    chosen.cpu_tracks.dedup();
    chosen.tracks.sort_unstable();
    chosen.tracks.dedup();
    chosen.counters.sort_unstable();
    chosen.counters.dedup();
}

/// Narrows to the lanes that a row draws itself.
fn narrow_by_lanes(chosen: &mut Selection, trace: &Trace, row: &Row) {
    for kind in row.kinds() {
        match kind {
            LaneKind::Slices(at) => {
                let row = trace.slices.rows.get(at as usize);
                chosen.tracks.extend(row.map(|row| row.track));
            }
            LaneKind::Instants(track) => chosen.tracks.push(track),
            LaneKind::Counter(id) => chosen.counters.push(id),
            LaneKind::States(thread) => chosen.threads.push(thread),
            LaneKind::Runs(cpu) => chosen.cpu_tracks.push(cpu),
            LaneKind::Profile { .. } | LaneKind::Summary(..) | LaneKind::Jobs(_) => {}
        }
    }
}

/// Narrows to these nodes and all nodes inside them. CPUs alone mean everything that happens on them; together with
/// other nodes, only what the CPUs' own tracks show.
fn narrow_by_nodes(chosen: &mut Selection, mut open: Vec<&Node>) {
    let mut cpus = Vec::new();
    while let Some(node) = open.pop() {
        match node.kind {
            RowKind::Group | RowKind::Source(_) => open.extend(&node.children),
            RowKind::Cpu(id) => cpus.push(id),
            RowKind::Process(id) => chosen.processes.push(id),
            RowKind::Thread(id) => chosen.threads.push(id),
            RowKind::Track(id) => chosen.tracks.push(id),
            RowKind::Counter(id) => chosen.counters.push(id),
            RowKind::Plot | RowKind::Jobs => {}
        }
    }
    match chosen.is_narrowed() {
        true => chosen.cpu_tracks.extend(cpus),
        false => {
            cpus.sort_unstable();
            chosen.cpus = cpus;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Timestamp;

    #[test]
    fn the_file_is_named_after_the_trace_until_the_user_names_one() {
        let mut form = Form::new(&ViewState::default());
        form.propose_path(Path::new("/a/b.etrace.zst"));
        assert_eq!(form.path, "/a/b.fxt");
        form.propose_path(Path::new("/a/b.fxt"));
        assert_eq!(form.path, "/a/b-export.fxt");
        form.range = Range::Visible;
        form.propose_path(Path::new("/a/b.fxt"));
        assert_eq!(form.path, "/a/b-part.fxt");
        form.path = "/c/mine.fxt".to_owned();
        form.is_path_typed = true;
        form.propose_path(Path::new("/a/b.fxt"));
        let csv = crate::export::find("csv").unwrap();
        form.set_exporter(csv);
        assert_eq!(form.path, "/c/mine.csv");
        assert!(!form.tables().is_empty());
    }

    #[test]
    fn what_cannot_be_chosen_any_more_is_let_go() {
        let mut state = ViewState {
            range: Some(TimeSpan::new(Timestamp(5), Timestamp(9))),
            filter: "worker".to_owned(),
            ..ViewState::default()
        };
        let mut form = Form::new(&state);
        assert_eq!(
            (form.range, form.tracks),
            (Range::Selected, Tracks::Filtered)
        );
        assert_eq!(form.span(&state).end, Timestamp(9));
        state.range = None;
        state.filter.clear();
        form.fit(&state);
        assert_eq!((form.range, form.tracks), (Range::Whole, Tracks::All));
        state.area_rows = Some(Vec::new());
        let mut form = Form::new(&state);
        assert_eq!(form.tracks, Tracks::Selected);
        state.area_rows = None;
        form.fit(&state);
        assert_eq!(form.tracks, Tracks::All);
        assert_eq!(form.span(&state).end, Timestamp::MAX);
    }
}
