//! A pane about latencies: how long woken threads waited for a CPU, and how long it took from one event to another.

mod pairs;
mod wakeups;

use std::sync::Arc;

use egui::Ui;
use serde::{Deserialize, Serialize};

use self::pairs::{KeptPair, PairsView};
use self::wakeups::WakeupsView;
use crate::base::TimeSpan;
use crate::gui::pane::{Pane, Scene};
use crate::gui::panes::selection::area::{ShownArea, area_of};
use crate::gui::table::{PaneColumn, TableData};
use crate::load::TraceId;
use crate::query::latency::Sample;
use crate::tables::columns::THREAD_IN_FULL;
use crate::tables::latency::{SUMS, WORST as WORST_COLUMNS, sample_rows};
use crate::view::Action;

/// Returns the pane.
pub(crate) fn make() -> Box<dyn Pane> {
    Box::<LatencyPane>::default()
}

/// The width of the list of the longest latencies beside its chart, in points.
const LIST_WIDTH: f32 = 354.0;
/// The number of longest latencies that are kept.
const WORST: usize = 200;
/// The number of points of a percentile curve.
const CURVE_POINTS: usize = 160;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Shown {
    #[default]
    Wakeups,
    Pairs,
}

#[derive(Default)]
struct LatencyPane {
    shown: Shown,
    wakeups: WakeupsView,
    pairs: PairsView,
}

impl Pane for LatencyPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let mut shown = self.shown;
        let mut modes = |ui: &mut Ui| {
            for (mode, word, about) in [
                (
                    Shown::Wakeups,
                    "Wakeup to run",
                    "How long woken threads waited for a CPU",
                ),
                (
                    Shown::Pairs,
                    "Event to event",
                    "From any event to any other that belongs to it",
                ),
            ] {
                let button = egui::Button::selectable(shown == mode, word);
                if ui.add(button).on_hover_text(about).clicked() {
                    shown = mode;
                }
            }
            ui.separator();
        };
        match self.shown {
            Shown::Wakeups => self.wakeups.ui(ui, scene, &mut modes, &mut actions),
            Shown::Pairs => self.pairs.ui(ui, scene, &mut modes, &mut actions),
        }
        self.shown = shown;
        actions
    }

    fn is_waiting(&self) -> bool {
        self.wakeups.is_waiting() || self.pairs.is_waiting()
    }

    fn kept(&self) -> Option<serde_json::Value> {
        let kept = (self.shown, self.pairs.kept());
        (kept != Default::default())
            .then(|| serde_json::to_value(kept).ok())
            .flatten()
    }

    fn take_up(&mut self, kept: Option<&serde_json::Value>) {
        let kept: Option<(Shown, KeptPair)> =
            kept.and_then(|kept| Deserialize::deserialize(kept).ok());
        let (shown, pair) = kept.unwrap_or_default();
        self.shown = shown;
        self.pairs.take_up(pair);
    }

    fn stop(&mut self) {
        self.wakeups.stop();
        self.pairs.stop();
    }
}

/// Returns the columns of a distribution.
fn measures() -> [PaneColumn; 7] {
    let of = |name: &str, title: &'static str| PaneColumn::of(&SUMS, name, 76.0).titled(title);
    [
        PaneColumn::of(&SUMS, "count", 60.0),
        of("p50", "p50"),
        of("p95", "p95"),
        of("p99", "p99"),
        of("max", "Max"),
        of("mean", "Mean"),
        of("sum", "Total"),
    ]
}

/// Returns the table of the longest latencies in this generation of a trace.
fn worst_of(samples: &[Sample], trace: TraceId) -> Arc<TableData> {
    let columns = vec![
        PaneColumn::of(&WORST_COLUMNS, "dur", 84.0)
            .titled("Latency")
            .about("How long it took; the longest first"),
        PaneColumn::of(&WORST_COLUMNS, "ts", 112.0)
            .titled("Start")
            .about("When it began"),
        PaneColumn::after(&WORST_COLUMNS, 0, THREAD_IN_FULL, 130.0).about("Whose it was"),
    ];
    Arc::new(TableData::new(columns, sample_rows(samples.to_vec())).about(trace))
}

/// The area of a list. Showing a latency of the list selects its time, which must not become the list's area.
#[derive(Default)]
struct Held {
    /// The time that was selected for a latency, the area of the list, and the trace.
    held: Option<(TimeSpan, ShownArea, TraceId)>,
}

impl Held {
    /// Returns the selected area; while the time of a latency from the list is selected, the area before that.
    fn area(&mut self, scene: &Scene<'_>) -> ShownArea {
        let state = scene.state;
        match &self.held {
            Some((span, of, trace))
                if state.range == Some(*span)
                    && state.area_rows.is_none()
                    && scene.loaded.id == *trace =>
            {
                of.clone()
            }
            _ => {
                self.held = None;
                area_of(state, &scene.loaded.trace)
            }
        }
    }

    /// Shows a latency of the list for the area `of`: selects its begin, and its time as the range.
    fn show(
        &mut self,
        sample: &Sample,
        of: ShownArea,
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        actions.push(Action::Reveal(sample.from));
        let span = sample.span().intersection(scene.state.bounds());
        if !span.is_empty() {
            actions.push(Action::SelectRange(span));
            self.held = Some((span, of, scene.loaded.id));
        }
    }
}
