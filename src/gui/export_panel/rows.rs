//! The rows of the form: format, range, tracks, CPUs.

use std::ops::Range;

use egui::{ComboBox, RichText, ScrollArea, TextEdit, Ui, WidgetInfo};

use super::form::{Form, Range as Stretch, Tracks};
use crate::base::Nanos;
use crate::export::EXPORTERS;
use crate::export::choices::ChoiceRow;
use crate::gui::boxes::{check_box, radio_value};
use crate::gui::pane::Scene;
use crate::trace::CpuId;
use crate::view::ruler;

/// Height of the list of choices, in points.
const LIST_HEIGHT: f32 = 150.0;

/// Draws the choice of format and table.
pub(crate) fn format_ui(ui: &mut Ui, form: &mut Form) {
    ui.horizontal(|ui| {
        let mut wanted = None;
        let combo = ComboBox::from_id_salt("export format")
            .selected_text(form.exporter.title)
            .show_ui(ui, |ui| {
                for exporter in EXPORTERS {
                    let is_it = exporter.name == form.exporter.name;
                    let response = ui.selectable_label(is_it, exporter.title);
                    if response.on_hover_text(exporter.about).clicked() {
                        wanted = Some(*exporter);
                    }
                }
            });
        named(&combo.response, "Format");
        if let Some(exporter) = wanted {
            form.set_exporter(&exporter);
        }
        let tables = form.tables();
        if let Some(shown) = form.exporter.table {
            ui.label("of table");
            let combo = ComboBox::from_id_salt("export table")
                .selected_text(shown.name)
                .show_ui(ui, |ui| {
                    for table in tables {
                        let is_it = table.name == shown.name;
                        if ui
                            .selectable_label(is_it, table.name)
                            .on_hover_text(table.about)
                            .clicked()
                        {
                            form.exporter.table = Some(table);
                        }
                    }
                });
            named(&combo.response, "Table");
        }
    });
}

/// Sets a combo box's name for screen readers.
fn named(response: &egui::Response, name: &'static str) {
    response.widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, name));
}

/// Draws the choice of time range.
pub(crate) fn range_ui(ui: &mut Ui, form: &mut Form, scene: &Scene<'_>) {
    let state = scene.state;
    let length = |length: Nanos| ruler::length_text(length, state.origins.unit);
    let rows = [
        (
            Stretch::Selected,
            state
                .range
                .map(|range| format!("Selected, {}", length(range.duration()))),
            "Selected (drag over the timeline to select a range)".to_owned(),
        ),
        (
            Stretch::Visible,
            Some(format!("Visible, {}", length(state.span.duration()))),
            String::new(),
        ),
        (
            Stretch::Whole,
            Some(format!(
                "Whole trace, {}",
                length(state.trace_span.duration())
            )),
            String::new(),
        ),
    ];
    for (range, text, otherwise) in rows {
        ui.add_enabled_ui(text.is_some(), |ui| {
            let text = text.unwrap_or(otherwise);
            radio_value(ui, &mut form.range, range, text);
        });
    }
}

/// Draws the choice of tracks.
pub(crate) fn tracks_ui(ui: &mut Ui, form: &mut Form, scene: &Scene<'_>) {
    let filter = scene.state.filter.trim();
    let filtered = match filter {
        "" => "Filtered ones (type in Filter tracks first)".to_owned(),
        words => format!("Filtered by '{words}'"),
    };
    radio_value(ui, &mut form.tracks, Tracks::All, "All");
    let selected = scene.state.area_rows.as_ref().map(Vec::len);
    let words = match selected {
        Some(count) => {
            let count = ruler::counted(count, "track", "tracks");
            format!("Selected ones, {count}")
        }
        None => "Selected ones (drag over tracks to select an area)".to_owned(),
    };
    ui.add_enabled_ui(selected.is_some(), |ui| {
        radio_value(ui, &mut form.tracks, Tracks::Selected, words);
    });
    ui.add_enabled_ui(!filter.is_empty(), |ui| {
        radio_value(ui, &mut form.tracks, Tracks::Filtered, filtered);
    });
    let checked = match form.checked.len() {
        0 => "From a list".to_owned(),
        count => format!("From a list, {count} checked"),
    };
    radio_value(ui, &mut form.tracks, Tracks::Checked, checked);
}

/// Draws the list of tracks to check.
pub(crate) fn list_ui(
    ui: &mut Ui,
    form: &mut Form,
    rows: &[ChoiceRow],
    find: &mut String,
    scene: &Scene<'_>,
) {
    let words = find.to_lowercase();
    let fits = |row: &&ChoiceRow| {
        row.name.to_lowercase().contains(&words) || row.note.to_lowercase().contains(&words)
    };
    let shown: Vec<&ChoiceRow> = rows.iter().filter(fits).collect();
    ui.horizontal(|ui| {
        let edit = TextEdit::singleline(find)
            .hint_text("Find in the list")
            .desired_width(200.0);
        let response = ui.add(edit);
        response
            .widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Find in the list"));
        if ui.small_button("Check these").clicked() {
            form.checked.extend(shown.iter().map(|row| row.choice));
        }
        if ui.small_button("Clear").clicked() {
            form.checked.clear();
        }
    });
    if shown.is_empty() {
        let words = match rows.is_empty() {
            true => "This trace has no tracks.".to_owned(),
            false => format!("Nothing in the list has '{find}' in its name."),
        };
        ui.label(RichText::new(words).color(scene.palette.weak));
        return;
    }
    let height = ui.text_style_height(&egui::TextStyle::Body).max(18.0);
    ScrollArea::vertical()
        .id_salt("export list")
        .max_height(LIST_HEIGHT)
        .auto_shrink([false, true])
        .show_rows(ui, height, shown.len(), |ui, range| {
            for row in shown.get(range).unwrap_or(&[]) {
                ui.horizontal(|ui| {
                    let mut is_checked = form.checked.contains(&row.choice);
                    let name = match row.name.as_str() {
                        "" => "(no name)",
                        name => name,
                    };
                    if check_box(ui, &mut is_checked, name).changed() {
                        match is_checked {
                            true => form.checked.insert(row.choice),
                            false => form.checked.remove(&row.choice),
                        };
                    }
                    let note = RichText::new(&row.note).color(scene.palette.weak);
                    ui.label(note.size(12.0));
                });
            }
        });
}

/// Draws the choice of CPUs.
pub(crate) fn cpus_ui(ui: &mut Ui, form: &mut Form, scene: &Scene<'_>) {
    let trace = &scene.loaded.trace;
    let whole = 0..trace.cpus.len() as u32;
    let mut files: Vec<(&str, Range<u32>)> = trace
        .sources
        .iter()
        .map(|source| (source.name.as_str(), source.cpus.clone()))
        .filter(|(_, cpus)| !cpus.is_empty())
        .collect();
    if files.is_empty() {
        files.push(("", whole));
    }
    ScrollArea::vertical()
        .id_salt("export CPUs")
        .max_height(64.0)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for (file, cpus) in files {
                if !file.is_empty() {
                    // CPU numbers start at 0 in each file.
                    let file = RichText::new(file).color(scene.palette.weak);
                    ui.label(file.size(12.0));
                }
                ui.horizontal_wrapped(|ui| {
                    for id in cpus.map(CpuId) {
                        let Some(cpu) = trace.cpus.get(id.0 as usize) else {
                            continue;
                        };
                        let about = match file {
                            "" => format!("What happened on CPU {}", cpu.number),
                            file => format!("What happened on CPU {} in {file}", cpu.number),
                        };
                        let mut is_in = !form.without_cpus.contains(&id);
                        let check = check_box(ui, &mut is_in, cpu.number.to_string());
                        if check.on_hover_text(about).changed() {
                            match is_in {
                                true => form.without_cpus.remove(&id),
                                false => form.without_cpus.insert(id),
                            };
                        }
                    }
                });
            }
        });
}
