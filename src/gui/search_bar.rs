//! The search bar: what is looked for, what is wrong with it and where, how much was found, and the way from
//! one match to the next. The search itself runs in the background.

use super::asked::percent;
use super::filter_box::select_all;
use super::theme::Palette;
use crate::base::Nanos;
use crate::load::LoadedTrace;
use crate::query::expression::{Expression, ExpressionError};
use crate::query::search::{Found, Query, Searching};
use crate::view::{Action, Direction, Isolation, ViewState, ruler};
use egui::text::{LayoutJob, TextFormat};
use egui::{FontId, Key, RichText, Stroke, Ui};
use std::sync::Arc;

/// The search that is under way or through, and what is wrong with the text.
#[derive(Default)]
pub(super) struct SearchBox {
    searching: Option<Searching>,
    error: Option<ExpressionError>,
    /// The text and the generation that it is of.
    of: Option<(String, u32, std::path::PathBuf)>,
    found: Option<Arc<Found>>,
}

impl SearchBox {
    /// Starts, stops and looks after the search that the view asks for.
    pub(super) fn poll(&mut self, ctx: &egui::Context, state: &ViewState, loaded: &LoadedTrace) {
        let text = &state.search.text;
        if text.trim().is_empty() {
            *self = SearchBox::default();
            return;
        }
        let is_same = self.of.as_ref().is_some_and(|(of, generation, path)| {
            of == text && *generation == loaded.generation && *path == loaded.path
        });
        if !is_same {
            self.of = Some((text.clone(), loaded.generation, loaded.path.clone()));
            self.start(ctx, text, loaded);
        }
        // What was found before stays until there is more: marks do not flicker while one types.
        if let Some(searching) = &self.searching {
            let found = searching.found();
            if searching.is_over() || found.total() > 0 {
                self.error = found.unknown.clone();
                self.found = Some(found);
            }
        }
    }

    fn start(&mut self, ctx: &egui::Context, text: &str, loaded: &LoadedTrace) {
        self.searching = None;
        self.error = None;
        let ctx = ctx.clone();
        let started = Expression::parse(text).and_then(|expression| {
            let (trace, reader) = (loaded.trace.clone(), loaded.reader.clone());
            Searching::start(trace, reader, Query::new(expression), move || {
                ctx.request_repaint()
            })
        });
        match started {
            Ok(searching) => self.searching = Some(searching),
            Err(error) => {
                self.error = Some(error);
                self.found = None;
            }
        }
    }

    /// What was found up to now.
    pub(super) fn found(&self) -> Option<&Arc<Found>> {
        self.found.as_ref()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.searching.as_ref().is_some_and(|it| !it.is_over())
    }

    /// Stops the search that is under way; what was found stays.
    pub(super) fn stop(&mut self) {
        if let Some(searching) = self.searching.as_ref().filter(|it| !it.is_over()) {
            searching.cancel();
        }
    }

    /// Whether a search was stopped before its end.
    fn is_stopped(&self) -> bool {
        let over = self.searching.as_ref().filter(|it| it.is_over());
        over.is_some_and(|it| !it.found().is_complete)
    }

    /// The match after or before where the view is; past the last comes the first.
    pub(super) fn next(&self, state: &ViewState, direction: Direction) -> Option<Action> {
        let hits = &self.found.as_ref()?.hits;
        let found = self.found.as_ref()?;
        let selected = state.selected.and_then(|item| {
            let time = state.selected_time?.start;
            found.position(time, item)
        });
        // The first one is the first that is seen.
        let from = state
            .selected_time
            .map_or(state.span.start - Nanos(1), |span| span.start);
        let last = hits.len().checked_sub(1)?;
        let at = match (selected, direction) {
            (Some(at), Direction::Next) => (at + 1) % hits.len(),
            (Some(at), Direction::Previous) => at.checked_sub(1).unwrap_or(last),
            (None, Direction::Next) => found.after(from).unwrap_or(0),
            (None, Direction::Previous) => found.before(from).unwrap_or(last),
        };
        Some(Action::Reveal(hits.get(at)?.item))
    }

    /// The bar.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        state: &ViewState,
        palette: &Palette,
        wants_focus: &mut bool,
        actions: &mut Vec<Action>,
    ) {
        ui.horizontal(|ui| {
            let mut text = state.search.text.clone();
            let error = self.error.clone();
            let mut layouter = |ui: &Ui, text: &dyn egui::TextBuffer, width: f32| {
                let job = marked(text.as_str(), error.as_ref(), palette, width);
                ui.fonts_mut(|fonts| fonts.layout_job(job))
            };
            let edit = egui::TextEdit::singleline(&mut text)
                .hint_text("Text, /regex/, or name ~ \"sched.*\" && dur > 1ms")
                .desired_width((ui.available_width() - 560.0).clamp(160.0, 520.0))
                .layouter(&mut layouter);
            let response = ui.add(edit);
            response
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Search"));
            if std::mem::take(wants_focus) {
                response.request_focus();
                // What is typed takes the place of the old search.
                select_all(ui.ctx(), response.id, &state.search.text);
            }
            let keys = |key| ui.input(|i| i.key_pressed(key));
            if response.lost_focus() && keys(Key::Escape) && self.is_busy() {
                actions.push(Action::StopSearch);
                response.request_focus();
            }
            if response.changed() {
                actions.push(Action::Search(text));
            }
            if response.lost_focus() && keys(Key::Enter) {
                // As it was when the key went down: Shift may be up again within the frame.
                let is_back = ui.input(|i| {
                    i.events.iter().any(|event| {
                        matches!(event, egui::Event::Key { key: Key::Enter, pressed: true, modifiers, .. } if modifiers.shift)
                    })
                });
                actions.push(Action::StepMatch(if is_back {
                    Direction::Previous
                } else {
                    Direction::Next
                }));
                response.request_focus();
            }
            for (text, about, direction) in [
                ("⏴", "Previous match", Direction::Previous),
                ("⏵", "Next match", Direction::Next),
            ] {
                let button = ui.button(text).on_hover_text(about);
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, about));
                if button.clicked() {
                    actions.push(Action::StepMatch(direction));
                }
            }
            let weak = |text: String| RichText::new(text).color(palette.weak).size(12.0);
            let mut is_isolating = state.search.isolation == Isolation::On;
            if ui
                .toggle_value(&mut is_isolating, "Isolate")
                .on_hover_text("Dim everything that does not match (I)")
                .clicked()
            {
                actions.push(Action::ToggleIsolation);
            }
            if ui
                .button("List")
                .on_hover_text("All matches as a list")
                .clicked()
            {
                actions.push(Action::OpenPane("Matches"));
            }
            if ui.button("Close").clicked() {
                actions.push(Action::CloseSearch);
            }
            if let Some(searching) = self.searching.as_ref().filter(|it| !it.is_over()) {
                ui.spinner();
                if ui
                    .button("Stop")
                    .on_hover_text("Stop searching (Esc); what was found stays")
                    .clicked()
                {
                    actions.push(Action::StopSearch);
                }
                if let Some(share) = percent(searching.progress()) {
                    ui.label(weak(share));
                }
            } else if self.is_stopped() && ui.button("Go on").clicked() {
                self.of = None;
            }
            let wrong = self.error.as_ref();
            match wrong.filter(|_| !state.search.text.trim().is_empty()) {
                // In the same line: the tracks must not jump while one types.
                Some(error) => {
                    let words = format!("Column {}: {}", error.at + 1, error.message);
                    let label = RichText::new(&words).color(palette.error).size(12.0);
                    ui.add(egui::Label::new(label).truncate())
                        .on_hover_text(words);
                }
                None => drop(ui.label(weak(self.count_text(state)))),
            }
        });
    }

    fn count_text(&self, state: &ViewState) -> String {
        let Some(found) = &self.found else {
            return String::new();
        };
        let total = ruler::grouped(found.total() as i64);
        let at = state.selected.and_then(|item| {
            let time = state.selected_time?.start;
            found.position(time, item)
        });
        match (at, found.total()) {
            (_, 0) if self.is_busy() => "Searching…".to_owned(),
            (_, 0) if self.is_stopped() => "Stopped; no match up to there".to_owned(),
            (_, 0) => "No match".to_owned(),
            (Some(at), _) => format!("{} of {total}", ruler::grouped(at as i64 + 1)),
            (None, 1) => "1 match".to_owned(),
            (None, _) if self.is_stopped() => format!("{total} matches up to where it was stopped"),
            (None, _) => format!("{total} matches"),
        }
    }
}

/// The text with the wrong part of it underlined.
fn marked(text: &str, error: Option<&ExpressionError>, palette: &Palette, width: f32) -> LayoutJob {
    let plain = TextFormat::simple(FontId::proportional(13.0), palette.text);
    let mut job = LayoutJob::default();
    job.wrap.max_width = width;
    let cut = |at: usize| {
        (0..=at.min(text.len()))
            .rev()
            .find(|at| text.is_char_boundary(*at))
    };
    let from = error.and_then(|error| cut(error.at)).unwrap_or(text.len());
    let until = error
        .and_then(|error| cut(error.at.saturating_add(error.length)))
        .unwrap_or(text.len())
        .max(from);
    let wrong = TextFormat {
        underline: Stroke::new(1.5, palette.error),
        color: palette.error,
        ..plain.clone()
    };
    job.append(&text[..from], 0.0, plain.clone());
    job.append(&text[from..until], 0.0, wrong);
    job.append(&text[until..], 0.0, plain);
    job
}
