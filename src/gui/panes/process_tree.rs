//! Who started whom: the processes as an indented table with lifetime bars.

use egui::{Rect, RichText, Sense, Ui, pos2};
use egui_extras::{Column, TableBuilder};

use crate::gui::pane::{Later, Pane, Scene};
use crate::gui::theme::hash_name;
use crate::query::Item;
use crate::query::process_tree::ProcessTree;
use crate::trace::ProcessId;
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<TreePane>::default()
}

#[derive(Default)]
struct TreePane {
    later: Later<u32, Vec<(ProcessId, u32, usize)>>,
}

impl Pane for TreePane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.processes.is_empty() {
            ui.label(RichText::new("This trace names no processes.").color(scene.palette.weak));
            return actions;
        }
        let loaded = scene.loaded.clone();
        let work = move || {
            let tree = ProcessTree::new(&loaded.trace);
            tree.walk()
                .into_iter()
                .map(|(id, depth)| (id, depth, tree.children[id.0 as usize].len()))
                .collect()
        };
        let Some(rows) = self.later.ask(ui.ctx(), scene.loaded.generation, work) else {
            ui.spinner();
            return actions;
        };
        let unit = scene.state.origins.unit;
        TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("processes")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(260.0).at_least(100.0).clip(true))
            .column(Column::initial(70.0).clip(true))
            .column(Column::initial(100.0).clip(true))
            .column(Column::initial(100.0).clip(true))
            .column(Column::initial(60.0).clip(true))
            .column(Column::initial(60.0).clip(true))
            .column(Column::initial(200.0).at_least(80.0).clip(true))
            .column(Column::remainder().clip(true))
            .header(20.0, |mut header| {
                for title in [
                    "Process",
                    "Pid",
                    "Start",
                    "Duration",
                    "Exit",
                    "Children",
                    "Lifetime",
                    "Arguments",
                ] {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(18.0, rows.len(), |mut row| {
                    let Some(&(id, depth, children)) = rows.get(row.index()) else {
                        return;
                    };
                    let Some(process) = trace.processes.get(id.0 as usize) else {
                        return;
                    };
                    row.set_selected(scene.state.selected == Some(Item::Process(id)));
                    let start = process.start.unwrap_or(trace.span.start);
                    let end = process.end.unwrap_or(trace.span.end);
                    let started = process.start.map_or("before".to_owned(), |time| {
                        ruler::full_text(time, scene.state.time_format, scene.state.origins)
                    });
                    let lasted = ruler::length_text(end - start, unit);
                    let lasted = if process.end.is_some() {
                        lasted
                    } else {
                        format!("{lasted} +")
                    };
                    let exit = match (process.exit_signal, process.exit_status) {
                        (Some(signal), _) => format!("signal {signal}"),
                        (None, Some(status)) => status.to_string(),
                        (None, None) => String::new(),
                    };
                    let name = format!(
                        "{}{}",
                        "    ".repeat(depth.min(40) as usize),
                        trace.text(process.name)
                    );
                    let arguments = process.images.last().map(|image| {
                        let words: Vec<_> =
                            image.arguments.iter().map(|&id| trace.text(id)).collect();
                        if words.is_empty() {
                            trace.text(image.program).into_owned()
                        } else {
                            words.join(" ")
                        }
                    });
                    let counted = if children == 0 {
                        String::new()
                    } else {
                        children.to_string()
                    };
                    for text in [
                        name,
                        process.pid.to_string(),
                        started,
                        lasted,
                        exit,
                        counted,
                    ] {
                        row.col(|ui| {
                            ui.add(egui::Label::new(RichText::new(text).size(12.0)).truncate());
                        });
                    }
                    row.col(|ui| {
                        let area = ui.max_rect().shrink2(egui::vec2(2.0, 5.0));
                        let length = (trace.span.duration().0 as f64).max(1.0);
                        let x = |time: crate::base::Timestamp| {
                            let share = (time - trace.span.start).0 as f64 / length;
                            area.left() + (share.clamp(0.0, 1.0) as f32) * area.width()
                        };
                        let (left, right) = (x(start), x(end));
                        let bar = Rect::from_min_max(
                            pos2(left, area.top()),
                            pos2(right.max(left + 2.0), area.bottom()),
                        );
                        let color = scene
                            .palette
                            .of_hash(hash_name(trace.strings.bytes(process.name)));
                        ui.painter().rect_filled(bar, 2, color);
                    });
                    row.col(|ui| {
                        let text = RichText::new(arguments.unwrap_or_default())
                            .size(12.0)
                            .monospace();
                        ui.add(egui::Label::new(text).truncate());
                    });
                    if row.response().clicked() {
                        let target = process.main_thread.map_or(Item::Process(id), Item::Thread);
                        actions.push(Action::Reveal(target));
                        actions.push(Action::Select(Item::Process(id)));
                    }
                });
            });
        actions
    }

    fn is_waiting(&self) -> bool {
        self.later.is_waiting()
    }
}
