//! Latencies from one event to another: two expressions and the fields that both events share; counts, percentiles,
//! the longest.

use std::sync::Arc;

use egui::{RichText, Ui};
use serde::{Deserialize, Serialize};

use super::{CURVE_POINTS, Held, WORST, measures, worst_of};
use crate::base::{Task, TaskKey};
use crate::gui::chart::{Curve, curves_ui};
use crate::gui::filter_box::FilterBox;
use crate::gui::pane::{Scene, empty_ui};
use crate::gui::panes::selection::area::{From, unfinished_words};
use crate::gui::table::{DataTable, TableData, text_of};
use crate::load::TraceId;
use crate::query::expression::{Expression, ExpressionError};
use crate::query::latency::{Among, EventPairs, PairKey, PairQuery, Sample, event_pairs};
use crate::tables::Cell;
use crate::tables::latency::pair_sums;
use crate::view::{Action, ruler};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum KeyChoice {
    #[default]
    Thread,
    Cpu,
    Fields,
    Any,
}

impl KeyChoice {
    const ALL: [(KeyChoice, &str, &str); 4] = [
        (KeyChoice::Thread, "thread", "Both belong to one thread"),
        (KeyChoice::Cpu, "CPU", "Both belong to one CPU"),
        (
            KeyChoice::Fields,
            "field",
            "A field of the first has the value of a field of the second",
        ),
        (KeyChoice::Any, "nothing", "The next one ends it"),
    ];
}

struct Found {
    summary: Vec<Cell<'static>>,
    curve: Vec<[f64; 2]>,
    worst: Arc<TableData>,
    samples: Vec<Sample>,
    unmatched_from: u64,
    over_losses: u64,
    unfinished: (u64, i128),
    unmatched_to: u64,
    keyless: u64,
    left_out: u64,
}

type Answer = Result<Arc<Found>, ExpressionError>;

/// What was asked, as text: the expressions, what pairs must share and whose events count; and the range.
#[derive(PartialEq)]
struct Asked {
    from: String,
    to: String,
    key: String,
    span: crate::base::TimeSpan,
}

/// The expressions that find pairs of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct KeptPair {
    from: String,
    to: String,
    key: KeyChoice,
    fields: (String, String),
}

/// The state of the view of pairs.
#[derive(Default)]
pub(crate) struct PairsView {
    from: FilterBox,
    to: FilterBox,
    key: KeyChoice,
    fields: (String, String),
    found: Task<Asked, Answer>,
    worst: DataTable,
    held: Held,
}

impl PairsView {
    /// Returns whether an answer is being computed.
    pub(crate) fn is_waiting(&self) -> bool {
        self.found.is_busy()
    }

    /// Cancels the computation.
    pub(crate) fn stop(&mut self) {
        self.found.stop();
    }

    /// Returns the state that sessions keep.
    pub(crate) fn kept(&self) -> KeptPair {
        KeptPair {
            from: self.from.text.clone(),
            to: self.to.text.clone(),
            key: self.key,
            fields: self.fields.clone(),
        }
    }

    /// Restores the state from a session.
    pub(crate) fn take_up(&mut self, kept: KeptPair) {
        self.from = FilterBox::with(kept.from);
        self.to = FilterBox::with(kept.to);
        (self.key, self.fields) = (kept.key, kept.fields);
    }

    /// Draws the view.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        modes: &mut dyn FnMut(&mut Ui),
        actions: &mut Vec<Action>,
    ) {
        let (mut from, mut to) = (None, None);
        ui.horizontal_wrapped(|ui| {
            modes(ui);
            ui.label("from");
            let _typed = self
                .from
                .ui(ui, scene, "First event", "sched_waking:", 190.0);
            ui.label("to");
            let _typed = self
                .to
                .ui(ui, scene, "Second event", "sched_switch:", 190.0);
            ui.label("of the same");
            for (key, word, about) in KeyChoice::ALL {
                let button = egui::Button::selectable(self.key == key, word);
                if ui.add(button).on_hover_text(about).clicked() {
                    self.key = key;
                }
            }
            if self.key == KeyChoice::Fields {
                let response = ui.add(field(&mut self.fields.0, "pid"));
                response.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Field of the first")
                });
                ui.label("=");
                let response = ui.add(field(&mut self.fields.1, "next_pid"));
                response.widget_info(|| {
                    egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Field of the second")
                });
            }
            from = self.from.read().expression();
            to = self.to.read().expression();
        });
        self.from.error_ui(ui, scene);
        self.to.error_ui(ui, scene);
        let weak = |words: &str| RichText::new(words.to_owned()).color(scene.palette.weak);
        let (Some(from), Some(to), Some(key)) = (from, to, self.pair_key()) else {
            ui.add_space(8.0);
            ui.label(weak(
                "Choose which event begins and which one ends: for example from  sched_waking:  to  sched_switch:  of the same field  pid = next_pid.",
            ));
            return;
        };
        self.ask(ui.ctx(), scene, &from, &to, key);
        let Some(answer) = self.found.answer(scene.loaded.id) else {
            self.found.ui(ui, scene.palette);
            return;
        };
        match answer {
            Err(error) => {
                let words = RichText::new(error.to_string()).color(scene.palette.error);
                ui.label(words);
            }
            Ok(found) => {
                let found = found.clone();
                self.found_ui(ui, scene, &found, actions);
            }
        }
    }

    fn pair_key(&self) -> Option<PairKey> {
        Some(match self.key {
            KeyChoice::Thread => PairKey::Thread,
            KeyChoice::Cpu => PairKey::Cpu,
            KeyChoice::Any => PairKey::Any,
            KeyChoice::Fields => {
                let (first, second) = (self.fields.0.trim(), self.fields.1.trim());
                if first.is_empty() {
                    return None;
                }
                let second = if second.is_empty() { first } else { second };
                PairKey::Fields(first.to_owned(), second.to_owned())
            }
        })
    }

    fn ask(
        &mut self,
        ctx: &egui::Context,
        scene: &Scene<'_>,
        from: &Expression,
        to: &Expression,
        key: PairKey,
    ) {
        let trace = &scene.loaded.trace;
        let shown = self.held.area(scene);
        let (span, among) = match shown.from {
            From::Selection => (shown.area.span, Among::area(trace, &shown.area)),
            From::View => (scene.state.trace_span, Among::All),
        };
        let asked = Asked {
            from: from.text().to_owned(),
            to: to.text().to_owned(),
            key: format!("{key:?} {among:?}"),
            span,
        };
        let query = PairQuery {
            from: from.clone(),
            to: to.clone(),
            key,
            span,
            among,
            worst: WORST,
        };
        let loaded = scene.loaded.clone();
        let question = TaskKey::about(loaded.id, asked);
        self.found.ask(ctx, question, move |job| {
            let (trace, reader) = (&loaded.trace, loaded.reader.as_ref());
            let found = event_pairs(trace, reader, &query, job)?;
            Ok(found.map(|pairs| Arc::new(found_of(pairs, loaded.id))))
        });
    }

    fn found_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        found: &Arc<Found>,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal_wrapped(|ui| {
            for column in measures() {
                let text = text_of(&column.def, column.cell(&found.summary), scene);
                ui.label(RichText::new(&*column.title).color(scene.palette.weak));
                ui.label(RichText::new(text).strong());
            }
            ui.separator();
            let grouped = |count: u64| ruler::grouped(i64::try_from(count).unwrap_or(i64::MAX));
            let mut words = format!(
                "unmatched: {} begin, {} end",
                grouped(found.unmatched_from - found.over_losses),
                grouped(found.unmatched_to)
            );
            if found.over_losses > 0 {
                words.push_str(&format!(
                    ", {} over lost events",
                    grouped(found.over_losses)
                ));
            }
            let (unfinished, ns) = found.unfinished;
            if unfinished > 0 {
                let unfinished = unfinished_words(scene.state.origins.unit, unfinished, ns);
                words.push_str(&format!("; {unfinished}"));
            }
            if found.keyless > 0 {
                words.push_str(&format!(", {} without the field", grouped(found.keyless)));
            }
            if found.left_out > 0 {
                words.push_str(&format!(
                    ", {} too many to look at",
                    grouped(found.left_out)
                ));
            }
            ui.label(RichText::new(words).color(scene.palette.weak));
            self.found.ui(ui, scene.palette);
            self.worst.tools_ui(ui, scene, &found.worst, actions);
        });
        if found.samples.is_empty() {
            let words = "No pairs: no second event follows a first one with the same key. Look at the counts above.";
            empty_ui(ui, scene, words);
            return;
        }
        found.worst.companion(ui, "pair curve").show(ui, |ui| {
            // Without this the panel would shrink to its initial content.
            ui.set_min_size(ui.available_size());
            let curve = Curve {
                name: "All pairs".to_owned(),
                points: found.curve.clone(),
                color: scene.palette.accent,
            };
            curves_ui(ui, scene, "Percentiles of the pairs", &[curve]);
        });
        let answer = self.worst.ui(
            ui,
            scene,
            "worst pairs",
            &found.worst,
            actions,
            |_, _, _| {},
        );
        let clicked = answer.clicked;
        let clicked = clicked.filter(|_| !found.worst.is_stale(scene.loaded.id));
        if let Some(sample) = clicked.and_then(|at| found.samples.get(at)) {
            let of = self.held.area(scene);
            self.held.show(sample, of, scene, actions);
        }
    }
}

fn field<'a>(text: &'a mut String, hint: &'static str) -> egui::TextEdit<'a> {
    egui::TextEdit::singleline(text)
        .hint_text(hint)
        .desired_width(80.0)
}

fn found_of(pairs: EventPairs, trace: TraceId) -> Found {
    Found {
        summary: pair_sums("", &pairs).cells,
        curve: pairs.lengths.curve(CURVE_POINTS),
        worst: worst_of(&pairs.worst, trace),
        samples: pairs.worst,
        unmatched_from: pairs.unmatched_from,
        over_losses: pairs.over_losses,
        unfinished: (pairs.unfinished, pairs.unfinished_ns),
        unmatched_to: pairs.unmatched_to,
        keyless: pairs.keyless,
        left_out: pairs.left_out,
    }
}
