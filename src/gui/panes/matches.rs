//! All matches of the search as a list, of which only the seen rows are made.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use super::copied::{Copying, MOST_COPIED, copy_button, push_texts};
use crate::base::{Cancelled, Job, Nanos};
use crate::gui::pane::{Pane, Scene, TraceKey, empty_ui};
use crate::gui::script::one_line;
use crate::gui::shortened::shortened;
use crate::gui::table::{Cell, push_line};
use crate::query::Item;
use crate::query::item::{title, type_word};
use crate::query::search::{Found, Hit};
use crate::trace::{Length, Seen, Trace};
use crate::view::{Action, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<MatchesPane>::default()
}

const ROW_HEIGHT: f32 = 18.0;
const TITLES: [&str; 5] = ["Time", "Type", "Name", "Duration", "Thread"];

#[derive(Default)]
struct MatchesPane {
    shown: Option<Item>,
    copying: Copying,
    /// What is known of unfinished slices, for the trace that is shown.
    seen: Option<(TraceKey, Seen)>,
}

impl Pane for MatchesPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        self.copying.poll(&mut actions);
        let state = scene.state;
        let weak = |text: &str| RichText::new(text.to_owned()).color(scene.palette.weak);
        let Some(found) = scene.found else {
            let words = "Nothing is searched for. Press / and type a text, a /regex/ or an expression such as dur > 1ms.";
            empty_ui(ui, scene, words);
            return actions;
        };
        if found.hits.is_empty() {
            let words = if found.is_complete {
                "Nothing matches."
            } else {
                "Searching…"
            };
            empty_ui(ui, scene, words);
            return actions;
        }
        ui.horizontal_wrapped(|ui| {
            if copy_button(ui) {
                let (loaded, found) = (scene.loaded.clone(), found.clone());
                self.copying
                    .start(ui.ctx(), move |job| text_of(&loaded.trace, &found, job));
            }
        });
        if !found.lists_all() {
            ui.label(weak(&format!(
                "The first {} of {} matches",
                ruler::grouped(found.hits.len() as i64),
                ruler::grouped(found.total() as i64)
            )));
        }
        let key = TraceKey::of(scene.loaded);
        let seen = match self.seen.take() {
            Some((of, seen)) if of == key => seen,
            _ => Seen::new(&scene.loaded.trace),
        };
        let selected = state.selected.zip(state.selected_time);
        let at = selected.and_then(|(item, span)| found.position(span.start, item));
        let mut table = TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("matches")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(130.0).at_least(60.0).clip(true))
            .column(Column::initial(70.0).at_least(40.0).clip(true))
            .column(Column::initial(260.0).at_least(60.0).clip(true))
            .column(Column::initial(100.0).at_least(40.0).clip(true))
            .column(Column::remainder().clip(true));
        if self.shown != state.selected {
            self.shown = state.selected;
            if let Some(at) = at {
                table = table.scroll_to_row(at, None);
            }
        }
        table
            .header(20.0, |mut header| {
                for title in TITLES {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, found.hits.len(), |mut row| {
                    let index = row.index();
                    let Some(hit) = found.hits.get(index) else {
                        return;
                    };
                    row.set_selected(at == Some(index));
                    let cells = cells_of(scene, &seen, hit);
                    let said = cells.join(", ");
                    for (column, text) in cells.into_iter().enumerate() {
                        // Times and durations stand below each other.
                        let is_mono = column == 0 || column == 3;
                        row.col(|ui| {
                            let text = RichText::new(shortened(&text)).size(12.0);
                            let text = if is_mono { text.monospace() } else { text };
                            let text = one_line(ui, text);
                            ui.add(egui::Label::new(text).truncate());
                        });
                    }
                    let response = row.response();
                    response.widget_info(|| {
                        egui::WidgetInfo::labeled(egui::Role::Row, true, said.clone())
                    });
                    if response.clicked() {
                        actions.push(Action::Reveal(hit.item));
                    }
                });
            });
        self.seen = Some((key, seen));
        actions
    }

    fn is_waiting(&self) -> bool {
        self.copying.is_waiting()
    }

    fn stop(&mut self) {
        self.copying.stop();
    }
}

/// How long a match took, if it took any time.
fn length_of(trace: &Trace, seen: &Seen, hit: &Hit) -> Option<Length> {
    let length = hit.item.duration(trace, seen);
    length.filter(|length| *length != Length::Known(0))
}

/// A match in words, by column.
fn cells_of(scene: &Scene<'_>, seen: &Seen, hit: &Hit) -> [String; 5] {
    let (state, trace) = (scene.state, &scene.loaded.trace);
    let text = |ns: i64| ruler::length_text(Nanos(ns), state.origins.unit);
    let length = match length_of(trace, seen, hit) {
        None => String::new(),
        Some(Length::Known(ns)) => text(ns),
        Some(Length::AtLeast(ns)) => format!("≥ {}", text(ns)),
    };
    let thread = match hit.item.thread(trace) {
        None => String::new(),
        Some(id) => trace.thread_title(id),
    };
    [
        ruler::full_text(hit.time, state.time_format, state.origins),
        type_word(hit.item).to_owned(),
        title(trace, hit.item),
        length,
        thread,
    ]
}

/// The list as tab-separated text: times in ns of the trace's clock.
fn text_of(trace: &Trace, found: &Found, job: &Job) -> Result<String, Cancelled> {
    let (mut text, seen) = (String::new(), Seen::new(trace));
    push_texts(&mut text, TITLES);
    for hit in found.hits.iter().take(MOST_COPIED) {
        job.check()?;
        let thread = hit.item.thread(trace);
        push_line(
            &mut text,
            &[
                Cell::Time(hit.time),
                Cell::Text(type_word(hit.item).to_owned()),
                Cell::Text(title(trace, hit.item)),
                length_of(trace, &seen, hit).map_or(Cell::None, Cell::of_length),
                thread.map_or(Cell::None, |id| Cell::Text(trace.thread_title(id))),
            ],
        );
    }
    Ok(text)
}
