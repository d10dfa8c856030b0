//! A pane about probes: definitions, hits and misses, their events in the trace, and durations of calls between entry
//! and return; a box into which definitions are pasted, and a script that records the checked probes.

mod calls;
mod list;
mod paste;

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::{Task, TaskKey};
use crate::gui::pane::{Pane, Scene};
use crate::probes::{ProbeSet, script};
use crate::query::probes::{ProbeKey, ProbeRow, ProbeTable, table};
use crate::view::text_order::TextOrder;
use crate::view::{Action, Effect};

use calls::Calls;
use list::ProbeList;
use paste::PasteBox;

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<ProbesPane>::default()
}

/// The margin beside the table, in points.
const MARGIN: f32 = 4.0;

#[derive(Default)]
struct ProbesPane {
    table: Task<(), Arc<ProbeTable>>,
    list: ProbeList,
    /// The row whose calls and events are shown.
    chosen: Option<ProbeKey>,
    /// The probes that the script leaves out.
    left_out: BTreeSet<ProbeKey>,
    paste: PasteBox,
    calls: Calls,
}

impl Pane for ProbesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let loaded = scene.loaded.clone();
        let set = loaded.probes.as_ref().map(|attached| attached.set.clone());
        let its_set = set.clone();
        // Other definitions make another generation of the trace.
        let question = TaskKey::about(loaded.id, ()).in_turn();
        let answer = self.table.ask(ui.ctx(), question, move |work| {
            let reader = Some(loaded.reader.as_ref());
            table(&loaded.trace, reader, its_set.as_deref(), work).map(Arc::new)
        });
        let Some(all) = answer.cloned() else {
            self.table.ui(ui, scene.palette);
            return actions;
        };
        if self.paste.is_open || (all.rows.is_empty() && !has_lines(set.as_deref())) {
            if all.rows.is_empty() {
                empty_ui(ui, scene);
            }
            self.paste.ui(ui, scene, &mut actions);
            return actions;
        }
        self.bar_ui(ui, scene, &all, set.as_deref(), &mut actions);
        if let Some(set) = set.as_deref() {
            errors_ui(ui, scene, set);
        }
        let is_known = |chosen: &ProbeKey| all.rows.iter().any(|row| row.has_key(chosen));
        if !self.chosen.as_ref().is_some_and(is_known) {
            let with_calls = all.rows.iter().find(|row| row.pair.is_some());
            let first = with_calls.or(all.rows.first());
            self.chosen = first.map(ProbeRow::key);
        }
        let rect = ui.available_rect_before_wrap();
        let width = self.list.width_within(ui, &all, rect.width() * 0.58) + MARGIN;
        let (left, right) = rect.split_left_right_at_x(rect.left() + width);
        ui.scope_builder(
            egui::UiBuilder::new().max_rect(left.shrink2(egui::vec2(2.0, 0.0))),
            |ui| {
                let (chosen, left_out) = (&mut self.chosen, &mut self.left_out);
                self.list
                    .ui(ui, scene, &all, chosen, left_out, &mut actions);
            },
        );
        ui.scope_builder(
            egui::UiBuilder::new().max_rect(right.shrink2(egui::vec2(8.0, 0.0))),
            |ui| {
                let chosen = self.chosen.as_ref();
                let is_chosen = |row: &&ProbeRow| chosen.is_some_and(|key| row.has_key(key));
                let row = all.rows.iter().find(is_chosen);
                if let Some(row) = row {
                    self.calls.ui(ui, scene, &all, row, &mut actions);
                }
            },
        );
        actions
    }

    fn is_waiting(&self) -> bool {
        self.table.is_busy() || self.list.is_waiting() || self.calls.is_waiting()
    }

    fn stop(&mut self) {
        self.table.stop();
        self.list.stop();
        self.calls.stop();
    }
}

impl ProbesPane {
    fn bar_ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        all: &Arc<ProbeTable>,
        set: Option<&ProbeSet>,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal(|ui| {
            let defined = all.rows.iter().filter(|row| !row.definitions.is_empty()).count();
            let source = match set {
                Some(set) if !set.source.is_empty() => format!("{defined} defined in {}", set.source),
                Some(_) if defined > 0 => format!("{defined} defined in what was pasted"),
                _ => "no definitions".to_owned(),
            };
            let words = format!("{} probes, {source}", all.rows.len());
            ui.label(RichText::new(words).color(scene.palette.weak));
            let unchecked: Vec<String> = set.map_or_else(Vec::new, |set| set.definitions.unchecked().collect());
            if !unchecked.is_empty() {
                let words = match unchecked.len() {
                    1 => "1 line is not a probe".to_owned(),
                    count => format!("{count} lines are not probes"),
                };
                ui.label(RichText::new(words).color(scene.palette.weak))
                    .on_hover_text(unchecked.join("\n"));
            }
            let has_any = set.is_some_and(|set| !set.definitions.lines.is_empty());
            let label = if has_any {
                "Other definitions…"
            } else {
                "Paste definitions…"
            };
            if ui
                .button(label)
                .on_hover_text("The text of kprobe_events: it makes arguments readable, and a capture script possible")
                .clicked()
            {
                self.paste.open();
            }
            let chosen: Vec<_> = all
                .rows
                .iter()
                .filter(|row| !self.left_out.contains(&row.key()))
                .flat_map(|row| &row.definitions)
                .collect();
            let button = egui::Button::new("Write capture script…");
            if ui
                .add_enabled(!chosen.is_empty(), button)
                .on_hover_text("A shell script that defines the ticked probes, records with trace-cmd and cleans up")
                .on_disabled_hover_text("A script needs definitions: paste them, or tick one")
                .clicked()
            {
                let order = TextOrder {
                    title: "Write the capture script to".to_owned(),
                    name: "capture-probes.sh".to_owned(),
                    text: script::capture_script(&chosen, "probes.dat"),
                    to: None,
                };
                actions.push(Action::Do(Effect::WriteText(Box::new(order))));
            }
            self.list.tools_ui(ui, scene, all, actions);
        });
    }
}

fn has_lines(set: Option<&ProbeSet>) -> bool {
    set.is_some_and(|set| !set.definitions.lines.is_empty())
}

fn empty_ui(ui: &mut Ui, scene: &Scene<'_>) {
    let weak = scene.palette.weak;
    ui.label(RichText::new("This trace has no events of kprobes or uprobes.").strong());
    let words = "Open a trace that has some, or paste definitions here: they are checked as the kernel would, and \
                 become a script that records them.";
    ui.label(RichText::new(words).color(weak));
    ui.add_space(4.0);
}

/// Draws the lines that the kernel would refuse, each with a mark under the wrong column.
fn errors_ui(ui: &mut Ui, scene: &Scene<'_>, set: &ProbeSet) {
    let count = set.definitions.errors().count();
    if count == 0 {
        return;
    }
    let title = if count == 1 {
        "The kernel would refuse a line".to_owned()
    } else {
        format!("The kernel would refuse {count} lines")
    };
    egui::CollapsingHeader::new(RichText::new(title).color(scene.palette.error))
        .default_open(false)
        .show(ui, |ui| paste::errors_ui(ui, scene, &set.definitions));
}
