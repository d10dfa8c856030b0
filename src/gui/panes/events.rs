//! All raw events in time order: a table of which only the seen rows are decoded, in the background.

use egui::{RichText, Sense, Ui};
use egui_extras::{Column, TableBuilder};

use crate::base::TimeSpan;
use crate::gui::pane::{Later, Pane, Scene};
use crate::load::LoadedTrace;
use crate::query::Item;
use crate::query::details::describe;
use crate::trace::{EventId, ThreadId};
use crate::view::{Action, locate, ruler};

/// Makes the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<EventsPane>::default()
}

/// Rows are decoded in pages of this many.
const PAGE: usize = 128;
const ROW_HEIGHT: f32 = 18.0;

#[derive(Default)]
struct EventsPane {
    later: Later<(u32, usize), (usize, Vec<Line>)>,
    first_seen: usize,
    shown: Option<Item>,
    /// The span that the list last went along with.
    followed: Option<TimeSpan>,
}

struct Line {
    id: EventId,
    time: crate::base::Timestamp,
    cpu: String,
    thread: String,
    name: String,
    text: String,
}

fn read_page(loaded: &LoadedTrace, first: usize) -> Vec<Line> {
    let trace = &loaded.trace;
    let walk = trace.events.from_rank(first as u32).take(PAGE * 2);
    walk.map(|id| {
        let detail = describe(trace, loaded.reader.as_ref(), id);
        let thread = trace.events.thread(id);
        let text = if detail.text.is_empty() {
            let fields: Vec<String> = detail
                .fields
                .iter()
                .map(|f| format!("{}={}", f.name, f.text()))
                .collect();
            fields.join(" ")
        } else {
            detail.text.replace('\n', " ")
        };
        Line {
            id,
            time: trace.events.time(id),
            cpu: detail.cpu.map(|cpu| cpu.to_string()).unwrap_or_default(),
            thread: format!(
                "{} ({})",
                if thread == ThreadId::IDLE {
                    "idle".to_owned()
                } else {
                    trace.thread_name(thread)
                },
                trace.thread(thread).tid
            ),
            name: detail.name,
            text,
        }
    })
    .collect()
}

impl Pane for EventsPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        let count = trace.events.len();
        if count == 0 {
            let words = if scene.loaded.is_complete {
                "This trace has no events."
            } else {
                "Events come when the file is read."
            };
            ui.label(RichText::new(words).color(scene.palette.weak));
            return actions;
        }
        let page = self.first_seen / PAGE * PAGE;
        let loaded = scene.loaded.clone();
        let answer = self
            .later
            .ask(ui.ctx(), (loaded.generation, page), move || {
                (page, read_page(&loaded, page))
            });
        let (first, lines): (usize, &[Line]) =
            answer.map_or((0, &[]), |(first, lines)| (*first, lines));
        let selected_event = scene
            .state
            .selected
            .and_then(|item| locate::event_of(trace, item));

        let mut table = TableBuilder::new(ui)
            .min_scrolled_height(0.0)
            .id_salt("events")
            .striped(true)
            .resizable(true)
            .auto_shrink([false, false])
            .sense(Sense::click())
            .column(Column::initial(120.0).at_least(60.0).clip(true))
            .column(Column::initial(40.0).at_least(30.0).clip(true))
            .column(Column::initial(170.0).at_least(60.0).clip(true))
            .column(Column::initial(170.0).at_least(60.0).clip(true))
            .column(Column::remainder().clip(true));
        if scene.state.selected != self.shown {
            self.shown = scene.state.selected;
            if let Some(rank) = selected_event.and_then(|id| locate::rank_of_event(trace, id)) {
                table = table.scroll_to_row(rank as usize, None);
            }
        } else if self.followed != Some(scene.state.span) {
            let first = trace.events.rank(scene.state.span.start) as usize;
            table = table.scroll_to_row(first.min(count - 1), Some(egui::Align::TOP));
        }
        self.followed = Some(scene.state.span);
        let mut first_seen = None;
        table
            .header(20.0, |mut header| {
                for title in ["Time", "CPU", "Thread", "Event", "What it says"] {
                    header.col(|ui| {
                        ui.label(RichText::new(title).strong());
                    });
                }
            })
            .body(|body| {
                body.rows(ROW_HEIGHT, count, |mut row| {
                    let index = row.index();
                    first_seen.get_or_insert(index);
                    let line = index.checked_sub(first).and_then(|at| lines.get(at));
                    row.set_selected(line.is_some_and(|line| Some(line.id) == selected_event));
                    let Some(line) = line else {
                        for _ in 0..5 {
                            row.col(|_| {});
                        }
                        return;
                    };
                    let time =
                        ruler::full_text(line.time, scene.state.time_format, scene.state.origins);
                    for (text, is_mono) in [
                        (&time, true),
                        (&line.cpu, true),
                        (&line.thread, false),
                        (&line.name, false),
                        (&line.text, true),
                    ] {
                        row.col(|ui| {
                            let text = RichText::new(text).size(12.0);
                            ui.add(
                                egui::Label::new(if is_mono { text.monospace() } else { text })
                                    .truncate(),
                            );
                        });
                    }
                    if row.response().clicked() {
                        actions.push(Action::Reveal(Item::Event(line.id)));
                    }
                });
            });
        if let Some(first) = first_seen {
            if first / PAGE * PAGE != page {
                ui.ctx().request_repaint();
            }
            self.first_seen = first;
        }
        actions
    }

    fn is_waiting(&self) -> bool {
        self.later.is_waiting()
    }
}
