//! Slices of the selected range (else of the visible span) added up by name.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use crate::base::{Nanos, TimeSpan};
use crate::gui::pane::{Later, Pane, Scene};
use crate::query::Item;
use crate::query::stats::{NameStats, by_name};
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<DurationsPane>::default()
}

#[derive(Default)]
struct DurationsPane {
    later: Later<(u32, TimeSpan), Vec<NameStats>>,
}

impl Pane for DurationsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        let span = scene.state.range.unwrap_or(scene.state.span);
        let loaded = scene.loaded.clone();
        let key = (loaded.generation, span);
        let Some(rows) = self
            .later
            .ask(ui.ctx(), key, move || by_name(&loaded.trace, span))
        else {
            ui.spinner();
            return actions;
        };
        let unit = scene.state.origins.unit;
        let what = if scene.state.range.is_some() {
            "the selected range"
        } else {
            "the visible span"
        };
        let words = format!(
            "{} names in {what}, {}",
            rows.len(),
            ruler::length_text(span.duration(), unit)
        );
        ui.label(RichText::new(words).color(scene.palette.weak));
        TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("durations")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(240.0).at_least(80.0).clip(true))
            .column(Column::initial(120.0).at_least(60.0).clip(true))
            .columns(Column::initial(96.0).at_least(50.0).clip(true), 6)
            .header(20.0, |mut header| {
                for title in [
                    "Name", "Category", "Count", "Total", "Own", "Mean", "Shortest", "Longest",
                ] {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(18.0, rows.len(), |mut row| {
                    let stats = &rows[row.index()];
                    let length = |ns: i128| {
                        ruler::length_text(Nanos(ns.clamp(0, i128::from(i64::MAX)) as i64), unit)
                    };
                    let cells = [
                        trace.text(stats.name).into_owned(),
                        trace.text(stats.category).into_owned(),
                        ruler::grouped(stats.count as i64),
                        length(stats.total_ns),
                        length(stats.own_ns),
                        length(i128::from(stats.mean_ns())),
                        length(i128::from(stats.min_ns)),
                        length(i128::from(stats.max_ns)),
                    ];
                    for text in cells {
                        row.col(|ui| {
                            ui.add(egui::Label::new(RichText::new(text).size(12.0)).truncate());
                        });
                    }
                    let response = row.response();
                    if response.clicked() {
                        actions.push(Action::Reveal(Item::Slice(stats.longest)));
                    }
                    response.on_hover_text("Click to go to the longest one");
                });
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        self.later.is_waiting()
    }
}
