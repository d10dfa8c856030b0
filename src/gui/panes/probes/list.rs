//! The table of probes.

use std::collections::BTreeSet;

use egui::{Align, Layout, RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use crate::gui::pane::Scene;
use crate::gui::panes::copied::push_texts;
use crate::gui::table::{Cell, push_line};
use crate::query::probes::{ProbeRow, ProbeTable};

const TITLES: [&str; 9] = [
    "Event", "When", "Place", "Hits", "Misses", "Events", "Calls", "Median", "Longest",
];

/// The width of the ticks, in points.
const TICK_WIDTH: f32 = 24.0;
/// The widths of the columns to begin with, and the least ones, in points.
const WIDTHS: [(f32, f32); 9] = [
    (120.0, 70.0),
    (48.0, 36.0),
    (130.0, 70.0),
    (46.0, 40.0),
    (52.0, 40.0),
    (52.0, 40.0),
    (46.0, 40.0),
    (76.0, 50.0),
    (76.0, 50.0),
];

/// The columns from this one on are numbers.
const FIRST_NUMBER: usize = 3;

/// How wide the columns are that fit whole into `most`, in points.
pub(super) fn width_within(ui: &Ui, most: f32) -> f32 {
    let gap = ui.spacing().item_spacing.x;
    let mut width = TICK_WIDTH + gap;
    for (column, _) in WIDTHS {
        if width + column + gap > most {
            break;
        }
        width += column + gap;
    }
    width
}

/// Draws it; a click chooses a row, a tick takes it into the script.
pub(super) fn ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    all: &ProbeTable,
    chosen: &mut Option<(String, String)>,
    left_out: &mut BTreeSet<(String, String)>,
) {
    egui::ScrollArea::horizontal()
        .id_salt("probes wide")
        .auto_shrink([false, false])
        .show(ui, |ui| table_ui(ui, scene, all, chosen, left_out));
}

fn table_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    all: &ProbeTable,
    chosen: &mut Option<(String, String)>,
    left_out: &mut BTreeSet<(String, String)>,
) {
    let mut table = TableBuilder::new(ui)
        .min_scrolled_height(0.0)
        .id_salt("probes")
        .striped(true)
        .resizable(true)
        .auto_shrink([false, false])
        .sense(Sense::click())
        .column(Column::exact(TICK_WIDTH));
    for (width, least) in WIDTHS {
        table = table.column(Column::initial(width).at_least(least).clip(true));
    }
    table
        .header(20.0, |mut header| {
            header.col(|_| {});
            for (column, title) in TITLES.into_iter().enumerate() {
                header.col(|ui| {
                    ui.with_layout(layout_of(column), |ui| {
                        ui.add(egui::Label::new(RichText::new(title).strong()).truncate());
                    });
                });
            }
        })
        .body(|body| {
            body.rows(20.0, all.rows.len(), |mut table_row| {
                let row = &all.rows[table_row.index()];
                let name = (row.group.clone(), row.event.clone());
                table_row.set_selected(chosen.as_ref() == Some(&name));
                table_row.col(|ui| {
                    let is_defined = !row.definitions.is_empty();
                    let mut is_in = is_defined && !left_out.contains(&name);
                    let tick = egui::Checkbox::without_text(&mut is_in);
                    let response = ui.add_enabled(is_defined, tick);
                    response.widget_info(|| {
                        let label = format!("{} in the capture script", row.event);
                        egui::WidgetInfo::selected(egui::Role::CheckBox, is_defined, is_in, label)
                    });
                    if response
                        .on_hover_text("Take it into the capture script")
                        .clicked()
                    {
                        if is_in {
                            left_out.remove(&name);
                        } else {
                            left_out.insert(name.clone());
                        }
                    }
                });
                for (column, cell) in cells(all, row).into_iter().enumerate() {
                    table_row.col(|ui| {
                        let is_bad = column == 4 && row.misses.is_some_and(|misses| misses > 0);
                        let mut text = RichText::new(cell.shown(scene)).size(12.0);
                        if is_bad {
                            text = text.color(scene.palette.error);
                        }
                        ui.with_layout(layout_of(column), |ui| {
                            ui.add(egui::Label::new(text).truncate());
                        });
                    });
                }
                let response = table_row.response();
                if response.clicked() {
                    *chosen = Some(name);
                }
                let definitions = row.definitions.iter().map(ToString::to_string);
                let definitions = definitions.collect::<Vec<_>>().join("\n");
                if !definitions.is_empty() {
                    response.on_hover_text(RichText::new(definitions).monospace());
                }
            });
        });
}

/// The table as tab-separated text: durations in ns.
pub(super) fn text_of(all: &ProbeTable) -> String {
    let mut text = String::new();
    push_texts(&mut text, TITLES);
    for row in &all.rows {
        push_line(&mut text, &cells(all, row));
    }
    text
}

/// Names stand at the left of their column, numbers at the right.
fn layout_of(column: usize) -> Layout {
    match column {
        FIRST_NUMBER.. => Layout::right_to_left(Align::Center),
        _ => Layout::left_to_right(Align::Center),
    }
}

fn cells(all: &ProbeTable, row: &ProbeRow) -> [Cell; 9] {
    let count = |count: Option<u64>| count.map_or(Cell::None, Cell::Count);
    let pair = row.pair.and_then(|pair| all.pairs.get(pair));
    let length = |part: f64| {
        pair.map_or(Cell::None, |pair| {
            Cell::Length(i128::from(pair.quantile(part)))
        })
    };
    let group = match row.group.as_str() {
        "kprobes" | "uprobes" => String::new(),
        group => format!("{group}/"),
    };
    let sort = row.sort(all).map_or("", |sort| sort.word());
    [
        Cell::Text(format!("{group}{}", row.event)),
        Cell::Text(sort.to_owned()),
        Cell::Text(row.place(all)),
        count(row.hits),
        count(row.misses),
        count(Some(row.events)),
        count(pair.map(|pair| pair.durations.len() as u64)),
        length(0.5),
        length(1.0),
    ]
}
