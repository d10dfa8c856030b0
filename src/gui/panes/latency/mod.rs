//! Latencies: how long woken threads waited for a CPU, and how long it takes from any event to any other.

mod pairs;
mod wakeups;

use egui::Ui;
use serde::{Deserialize, Serialize};

use self::pairs::{KeptPair, PairsView};
use self::wakeups::WakeupsView;
use crate::base::TimeSpan;
use crate::gui::pane::{Pane, Scene};
use crate::gui::panes::selection::area::{From, area_of};
use crate::gui::table::{Cell, TableColumn, TableRow, column};
use crate::query::Item;
use crate::query::area::Area;
use crate::query::distribution::Distribution;
use crate::query::latency::Sample;
use crate::view::Action;

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<LatencyPane>::default()
}

/// The width of the list of the longest where it stands beside its chart, in points.
const LIST_WIDTH: f32 = 354.0;
/// How many of the longest are kept.
const WORST: usize = 200;
/// Points of a percentile curve.
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

/// The columns of a distribution.
fn measures() -> [TableColumn; 7] {
    [
        column("Count", 60.0, "How many"),
        column("p50", 76.0, "Half are not longer"),
        column("p95", 76.0, "95 of 100 are not longer"),
        column("p99", 76.0, "99 of 100 are not longer"),
        column("Max", 76.0, "The longest"),
        column("Mean", 76.0, "Total divided by count"),
        column("Total", 76.0, "All together"),
    ]
}

fn cells_of(lengths: &Distribution) -> [Cell; 7] {
    if lengths.count() == 0 {
        // Of nothing there is no length, not even 0.
        let mut cells = [const { Cell::None }; 7];
        cells[0] = Cell::Count(0);
        return cells;
    }
    let length = |ns: i64| Cell::Length(i128::from(ns));
    [
        Cell::Count(lengths.count()),
        length(lengths.per_mille(500)),
        length(lengths.per_mille(950)),
        length(lengths.per_mille(990)),
        length(lengths.max_ns()),
        length(lengths.mean_ns()),
        Cell::Length(lengths.sum_ns()),
    ]
}

/// A row of the list of the longest.
fn worst_row(sample: &Sample, whose: String) -> TableRow {
    TableRow {
        cells: vec![
            Cell::Length(i128::from(sample.length_ns)),
            Cell::Time(sample.start),
            Cell::Text(whose),
        ],
        item: Some(sample.from),
        tint: None,
    }
}

fn worst_columns() -> Vec<TableColumn> {
    vec![
        column("Latency", 84.0, "How long it took; the longest first"),
        column("Start", 112.0, "When it began"),
        column("Thread", 130.0, "Whose it was"),
    ]
}

/// What a list is of. To show one of its latencies selects that one's time, which is no other area to work on.
#[derive(Default)]
struct Held {
    /// The time that was selected for a latency, the area that it was listed in, and the trace's generation.
    held: Option<(TimeSpan, (Area, From), u32)>,
}

impl Held {
    /// The selected area; while the time of a latency is selected that was shown from the list, the area before.
    fn area(&mut self, scene: &Scene<'_>) -> (Area, From) {
        let state = scene.state;
        match &self.held {
            Some((span, of, generation))
                if state.range == Some(*span)
                    && state.area_rows.is_none()
                    && scene.loaded.generation == *generation =>
            {
                of.clone()
            }
            _ => {
                self.held = None;
                area_of(state, &scene.loaded.trace)
            }
        }
    }

    /// Shows a latency of the list of `of`: its begin selected, its time as the range.
    fn show(
        &mut self,
        sample: &Sample,
        of: (Area, From),
        scene: &Scene<'_>,
        actions: &mut Vec<Action>,
    ) {
        actions.push(Action::Reveal(sample.from));
        let span = sample.span().intersection(scene.state.bounds());
        if !span.is_empty() {
            actions.push(Action::SelectRange(span));
            self.held = Some((span, of, scene.loaded.generation));
        }
    }
}

/// The thread of an item, for lists.
fn name_of(trace: &crate::trace::Trace, item: Item) -> String {
    item.thread(trace)
        .map_or_else(String::new, |thread| trace.thread_title(thread))
}
