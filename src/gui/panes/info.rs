//! A pane about the file: its metadata, its diagnostics, and its memory use.

use egui::{RichText, ScrollArea, Ui};

use super::lost::LostTable;
use super::reading::ReadingRow;
use super::sources::SourcesTable;
use crate::base::Severity;
use crate::event::Fact;
use crate::gui::pane::{Pane, Scene};
use crate::gui::table::{TableData, copy_button, whole_text};
use crate::tables::recorded::{DIAGNOSTICS, diagnostic_rows};
use crate::tables::sources::{FACTS, SOURCES, fact_rows, source_rows};
use crate::view::{Action, Effect, ruler};

/// The least width at which long texts wrap, in points.
const LEAST_WIDTH: f32 = 240.0;
/// The space that is left free for the scroll bar, in points.
const SCROLL_BAR: f32 = 16.0;

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<InfoPane>::default()
}

#[derive(Default)]
struct InfoPane {
    sources: SourcesTable,
    reading: ReadingRow,
    lost: LostTable,
}

impl Pane for InfoPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let loaded = scene.loaded;
        let trace = &loaded.trace;
        let weak = scene.palette.weak;
        let mut actions = Vec::new();
        let width = ui.available_width();
        let right = ui.max_rect().right() - SCROLL_BAR;
        ScrollArea::both()
            .auto_shrink([false, false])
            .show(ui, |ui| {
                self.sources.ui(ui, scene, width, &mut actions);
                self.lost.ui(ui, scene, width, &mut actions);
                ui.horizontal(|ui| {
                    ui.label(RichText::new(DIAGNOSTICS.title).strong());
                    let copy = copy_button(ui, 1, "Copy all that is below as tab-separated tables")
                        .accessible_name("Copy the facts");
                    if copy.clicked() {
                        actions.push(Action::Do(Effect::Copy(text_of(scene))));
                    }
                });
                if trace.diagnostics.is_empty() {
                    let words = match loaded.is_complete {
                        true => "Nothing was odd in this file.",
                        false => "The file is still being read.",
                    };
                    ui.label(RichText::new(words).color(weak));
                }
                egui::Grid::new("diagnostics")
                    .num_columns(4)
                    .spacing([14.0, 3.0])
                    .show(ui, |ui| {
                        for row in trace.diagnostics.rows() {
                            let (word, color) = match row.severity {
                                Severity::Info => ("info", weak),
                                Severity::Error => ("error", scene.palette.error),
                                Severity::DataLoss => ("data loss", scene.palette.error),
                            };
                            ui.label(RichText::new(word).color(color));
                            ui.label(RichText::new(row.code).monospace());
                            ui.label(format!("{} ×", ruler::grouped(row.count as i64)));
                            let places: Vec<String> =
                                row.places.iter().map(ToString::to_string).collect();
                            let at = if places.is_empty() {
                                String::new()
                            } else {
                                format!(" (at {})", places.join(", "))
                            };
                            let rest = (right - ui.cursor().left()).max(LEAST_WIDTH);
                            ui.vertical(|ui| {
                                ui.set_max_width(rest);
                                let text = format!("{}{at}", row.message);
                                ui.add(egui::Label::new(text).wrap());
                            });
                            ui.end_row();
                        }
                    });
                ui.add_space(8.0);
                ui.label(RichText::new(FACTS.title).strong());
                self.reading.ui(ui, scene, &mut actions);
                let facts = facts_of(scene);
                egui::Grid::new("facts")
                    .num_columns(2)
                    .spacing([14.0, 3.0])
                    .show(ui, |ui| {
                        for Fact { name, value } in &facts {
                            ui.label(RichText::new(name).color(weak));
                            let rest = (right - ui.cursor().left()).max(LEAST_WIDTH);
                            ui.vertical(|ui| {
                                ui.set_max_width(rest);
                                let value = RichText::new(value).monospace().size(12.0);
                                ui.add(egui::Label::new(value).wrap());
                            });
                            ui.end_row();
                        }
                    });
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        self.lost.is_waiting() || self.sources.is_waiting()
    }
}

/// Returns facts about the file.
fn facts_of(scene: &Scene<'_>) -> Vec<Fact> {
    let loaded = scene.loaded;
    let trace = &loaded.trace;
    let mut facts = vec![
        Fact::new("file", loaded.file_name()),
        Fact::new("format", trace.info.format.clone()),
        Fact::new("size", ruler::size_text(loaded.file_bytes)),
        Fact::new("clock", trace.info.clock.clone()),
        Fact::new(
            "wall clock",
            trace.info.wall_clock_of(trace.span).unwrap_or_default(),
        ),
        Fact::new("events", ruler::grouped(trace.events.len() as i64)),
        Fact::new("slices", ruler::grouped(trace.slices.len() as i64)),
        Fact::new("lost events", trace.lost_text()),
        Fact::new("memory", ruler::size_text(loaded.memory_bytes())),
        Fact::new(
            "loaded in",
            format!("{:.0} ms", loaded.timings.full.as_secs_f64() * 1e3),
        ),
    ];
    facts.extend(trace.info.facts.iter().cloned());
    facts.retain(|fact| !fact.value.is_empty());
    for fact in &mut facts {
        fact.value.truncate(fact.value.trim_end().len());
    }
    facts
}

/// Returns all content of the pane as tab-separated text: a table with its headings for each kind.
fn text_of(scene: &Scene<'_>) -> String {
    let loaded = scene.loaded;
    let trace = &loaded.trace;
    let mut tables = Vec::new();
    if !trace.sources.is_empty() {
        let rows = source_rows(trace.sources.len());
        tables.push(TableData::whole(&SOURCES, rows));
    }
    tables.push(TableData::whole(&FACTS, fact_rows(facts_of(scene))));
    if !trace.diagnostics.is_empty() {
        let rows = diagnostic_rows(trace.diagnostics.rows().len());
        tables.push(TableData::whole(&DIAGNOSTICS, rows));
    }
    let texts: Vec<String> = tables.iter().map(|it| whole_text(it, loaded)).collect();
    texts.join("\n")
}
