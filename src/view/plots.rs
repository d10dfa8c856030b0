//! The rows of the user's plots: a group above all other tracks. A plot that is still being computed has a row, too.

use super::outline::{Node, Outline, count_tracks, hash_of};
use super::rows::{Lane, LaneKind, RowKey, RowKind};
use super::state::ViewState;
use crate::query::Item;
use crate::query::item::{event_of, title};
use crate::query::plots::{plot_of, track_of};
use crate::trace::plots::Measure;
use crate::trace::{Plot, Trace};

/// Returns the key of a plot's row.
#[must_use]
pub fn key_of_plot(plot: &Plot) -> RowKey {
    RowKey::Counter(hash_of(("plot", &plot.filter, &plot.field)))
}

impl Outline {
    /// Returns the outline with a row for each of `plots`.
    #[must_use]
    pub(super) fn plotted(mut self, trace: &Trace, plots: &[Plot]) -> Outline {
        if plots.is_empty() {
            return self;
        }
        let rows = plots.iter().map(|plot| node_of(trace, plot)).collect();
        let group = Node::group(RowKey::Plots, "Plots", rows);
        self.track_count += count_tracks(&group);
        self.nodes.insert(0, group);
        self
    }
}

fn node_of(trace: &Trace, plot: &Plot) -> Node {
    let id = track_of(trace, plot);
    let count = id
        .and_then(|id| trace.counters.tracks.get(id.0 as usize))
        .map(|track| track.samples.len());
    let lanes: Vec<Lane> = match (id, count) {
        (Some(id), Some(1..)) => vec![Lane::new(LaneKind::Counter(id))],
        _ => Vec::new(),
    };
    Node {
        key: key_of_plot(plot),
        kind: id.map_or(RowKind::Plot, RowKind::Counter),
        title: plot.title().into(),
        note: match count {
            Some(0) => "nothing here".into(),
            Some(_) => "".into(),
            None => "…".into(),
        },
        closed_lanes: lanes.clone(),
        lanes,
        children: Vec::new(),
        is_open_at_first: true,
        activity: count.unwrap_or(0) as u64,
    }
}

impl ViewState {
    /// Reduces the plots to those of `trace`: the others were cancelled.
    pub(crate) fn keep_plots(&mut self, trace: &Trace) {
        self.layout.plots.clone_from(&trace.plots);
        self.lay_out(trace);
        self.rebuild_rows();
    }
}

/// Returns the plot a user most likely wants for an item: durations of slices of its name, or a number of events of its
/// kind.
#[must_use]
pub(crate) fn draft_of(trace: &Trace, item: Item) -> Plot {
    let name = title(trace, item).replace(['\\', '"'], "");
    match item {
        Item::Slice(_) => Plot::of_events(format!("name == \"{name}\""), Measure::Duration.word()),
        Item::Sample(id, _) if plot_of(trace, id).is_some() => {
            plot_of(trace, id).cloned().unwrap_or_default()
        }
        _ => {
            let kind = event_of(trace, item).map(|id| trace.events.kind(id));
            Plot {
                filter: kind.map_or_else(String::new, |kind| trace.kind_name(kind).into_owned()),
                ..Plot::default()
            }
        }
    }
}
