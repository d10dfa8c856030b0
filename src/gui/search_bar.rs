//! The search bar: the text, the position of an error in it, the number of matches, and steps from match to match. The
//! search itself runs in the background.

use super::filter_box::select_all;
use super::task_ui::percent;
use super::theme::Palette;
use crate::base::{Nanos, Task};
use crate::load::LoadedTrace;
use crate::load::TraceId;
use crate::query::expression::{Expression, ExpressionError};
use crate::query::search::{Found, Query, SearchedTrace, start_search};
use crate::view::{Action, Direction, Effect, Isolation, PaneKind, ViewState, ruler};
use egui::text::{LayoutJob, TextFormat};
use egui::{FontId, Key, RichText, Stroke, Ui};
use std::sync::Arc;

/// The running or finished search, and the error of its text.
#[derive(Default)]
pub(super) struct SearchBox {
    search: Task<String, Arc<Found>>,
    error: Option<ExpressionError>,
    /// The text and the trace of the search.
    of: Option<(String, TraceId)>,
}

impl SearchBox {
    /// Starts and stops the search to follow the view's search text.
    pub(super) fn poll(&mut self, ctx: &egui::Context, state: &ViewState, loaded: &LoadedTrace) {
        let text = &state.search.text;
        if text.trim().is_empty() {
            *self = SearchBox::default();
            return;
        }
        let is_same = self
            .of
            .as_ref()
            .is_some_and(|(of, trace)| of == text && *trace == loaded.id);
        if !is_same {
            self.of = Some((text.clone(), loaded.id));
            self.start(ctx, text, loaded);
        }
        self.search.poll();
        if let Some(found) = self.search.part_of(loaded.id, text) {
            self.error.clone_from(&found.unknown);
        }
    }

    fn start(&mut self, ctx: &egui::Context, text: &str, loaded: &LoadedTrace) {
        self.error = None;
        let searched = SearchedTrace {
            id: loaded.id,
            trace: loaded.trace.clone(),
            reader: loaded.reader.clone(),
        };
        let started = Expression::parse(text).and_then(|expression| {
            start_search(&mut self.search, ctx, searched, Query::new(expression))
        });
        if let Err(error) = started {
            self.error = Some(error);
            self.search.clear();
        }
    }

    /// Returns the matches so far. Those of the previous search in the same generation of the trace stay until there are
    /// new ones, so that marks do not flicker while the user types.
    pub(super) fn found(&self) -> Option<&Arc<Found>> {
        let (_, trace) = self.of.as_ref()?;
        self.search.exact(*trace)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.search.is_pending()
    }

    /// Stops the running search; its matches so far stay.
    pub(super) fn stop(&mut self) {
        self.search.interrupt();
    }

    /// Returns whether a search was stopped before it was complete.
    fn is_stopped(&self) -> bool {
        let has_ended = !self.is_busy();
        has_ended && self.found().is_some_and(|found| !found.is_complete)
    }

    /// Returns the action that selects the next or previous match; wraps around at the end.
    pub(super) fn next(&self, state: &ViewState, direction: Direction) -> Option<Action> {
        let found = self.found()?;
        let hits = &found.hits;
        let selected = state.selected.and_then(|item| {
            let time = state.selected_time?.start;
            found.position(time, item)
        });
        // Without a selection, stepping starts at the edge of the visible span.
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

    /// Draws the bar.
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
                // Typing replaces the old search.
                select_all(ui.ctx(), response.id, &state.search.text);
            }
            let keys = |key| ui.input(|i| i.key_pressed(key));
            if response.lost_focus() && keys(Key::Escape) && self.is_busy() {
                actions.push(Action::Do(Effect::StopSearch));
                response.request_focus();
            }
            if response.changed() {
                actions.push(Action::Search(text));
            }
            if response.lost_focus() && keys(Key::Enter) {
                // The modifiers of the key event itself: Shift may be released again within the frame.
                let is_back = ui.input(|i| {
                    i.events.iter().any(|event| {
                        matches!(event, egui::Event::Key { key: Key::Enter, pressed: true, modifiers, .. } if modifiers.shift)
                    })
                });
                actions.push(Action::Do(Effect::StepMatch(if is_back {
                    Direction::Previous
                } else {
                    Direction::Next
                })));
                response.request_focus();
            }
            for (text, about, direction) in [
                ("⏴", "Previous match", Direction::Previous),
                ("⏵", "Next match", Direction::Next),
            ] {
                let button = ui.button(text).on_hover_text(about);
                button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, about));
                if button.clicked() {
                    actions.push(Action::Do(Effect::StepMatch(direction)));
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
                actions.push(Action::OpenPane(PaneKind::Matches));
            }
            if ui.button("Close").clicked() {
                actions.push(Action::CloseSearch);
            }
            if self.is_busy() {
                ui.spinner();
                if ui
                    .button("Stop")
                    .on_hover_text("Stop searching (Esc); what was found stays")
                    .clicked()
                {
                    actions.push(Action::Do(Effect::StopSearch));
                }
                if let Some(share) = percent(self.search.progress()) {
                    ui.label(weak(share));
                }
            } else if self.is_stopped() && ui.button("Go on").clicked() {
                // The search continues with the same text; the matches stay until there are new ones.
                if let Some((text, _)) = &mut self.of {
                    text.clear();
                }
                self.search.go_on();
            }
            if let Some(failure) = self.search.failure() {
                let words = RichText::new("Failed").color(palette.error).size(12.0);
                ui.label(words).on_hover_text(failure.to_string());
            }
            let wrong = self.error.as_ref();
            match wrong.filter(|_| !state.search.text.trim().is_empty()) {
                // On the same line, so that the tracks do not jump while the user types.
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

    /// Returns the words that screen readers speak about the search; `None` while it is running.
    pub(super) fn spoken(&self, state: &ViewState) -> Option<SearchWords> {
        if let Some(error) = &self.error {
            let words = format!("Column {}: {}", error.at + 1, error.message);
            return Some(SearchWords::Outcome(words));
        }
        if self.is_busy() || self.found().is_none() {
            return None;
        }
        let words = self.count_text(state);
        Some(match self.place(state) {
            Some(_) => SearchWords::Match(format!("Match {words}")),
            None => SearchWords::Outcome(words),
        })
    }

    /// Returns the place of the selected item among the matches.
    fn place(&self, state: &ViewState) -> Option<usize> {
        let time = state.selected_time?.start;
        self.found()?.position(time, state.selected?)
    }

    fn count_text(&self, state: &ViewState) -> String {
        let Some(found) = self.found() else {
            return String::new();
        };
        let total = ruler::grouped(found.total() as i64);
        match (self.place(state), found.total()) {
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

/// The words that screen readers speak about a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SearchWords {
    /// The place of the selected match: `Match 3 of 40`.
    Match(String),
    /// The number of matches, or the error.
    Outcome(String),
}

impl SearchWords {
    /// Returns the words.
    pub(super) fn text(&self) -> &str {
        match self {
            SearchWords::Match(words) | SearchWords::Outcome(words) => words,
        }
    }
}

/// Returns the text with its erroneous part underlined.
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
