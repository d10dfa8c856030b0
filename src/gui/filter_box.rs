//! A text field for an expression; an error is marked at its position.

use egui::{Color32, RichText, Stroke, TextFormat, Ui, text::LayoutJob};

use super::pane::Scene;
use crate::query::expression::{Expression, ExpressionError};

/// An expression field.
#[derive(Debug, Default)]
pub(crate) struct FilterBox {
    /// The typed text.
    pub text: String,
    error: Option<ExpressionError>,
    wants_focus: bool,
}

/// The meaning of a typed text.
#[derive(Clone, Debug)]
pub(crate) enum Typed {
    /// The text is empty.
    Nothing,
    /// A valid expression.
    Expression(Expression),
    /// Not an expression; the field shows the error.
    Wrong,
}

impl Typed {
    /// Returns the expression, if the text is one.
    #[must_use]
    pub(super) fn expression(self) -> Option<Expression> {
        match self {
            Typed::Expression(expression) => Some(expression),
            Typed::Nothing | Typed::Wrong => None,
        }
    }
}

impl FilterBox {
    /// Returns a field with initial text.
    #[must_use]
    pub(super) fn with(text: String) -> FilterBox {
        FilterBox {
            text,
            ..FilterBox::default()
        }
    }

    /// Gives the field the keyboard focus when it is drawn next.
    pub(crate) fn focus_next(&mut self) {
        self.wants_focus = true;
    }

    /// Draws the field; returns its meaning if the text was changed.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        name: &str,
        hint: &str,
        width: f32,
    ) -> Option<Typed> {
        let error = self.error.clone();
        let (normal, bad) = (scene.palette.text, scene.palette.error);
        let mut layouter = move |ui: &Ui, buffer: &dyn egui::TextBuffer, _wrap: f32| {
            let job = underlined(ui, buffer.as_str(), error.as_ref(), normal, bad);
            ui.fonts_mut(|fonts| fonts.layout_job(job))
        };
        let field = egui::TextEdit::singleline(&mut self.text)
            .hint_text(hint)
            .desired_width(width)
            .layouter(&mut layouter);
        let response = ui.add(field);
        let label = name.to_owned();
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, label.clone()));
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
        }
        if !response.changed() {
            return None;
        }
        Some(self.read())
    }

    /// Returns the meaning of the current text.
    pub(super) fn read(&mut self) -> Typed {
        self.error = None;
        if self.text.trim().is_empty() {
            return Typed::Nothing;
        }
        match Expression::parse(&self.text) {
            Ok(expression) => Typed::Expression(expression),
            Err(error) => {
                self.error = Some(error);
                Typed::Wrong
            }
        }
    }

    /// Marks the text as unusable, with this error.
    pub(crate) fn refuse(&mut self, error: ExpressionError) {
        self.error = Some(error);
    }

    /// Draws the error as a sentence, if there is one.
    pub(crate) fn error_ui(&self, ui: &mut Ui, scene: &Scene<'_>) {
        if let Some(error) = &self.error {
            ui.label(RichText::new(error.to_string()).color(scene.palette.error));
        }
    }
}

/// Selects the whole text of a field.
pub(super) fn select_all(ctx: &egui::Context, field: egui::Id, text: &str) {
    if let Some(mut state) = egui::TextEdit::load_state(ctx, field) {
        let until = egui::text::CCursor::new(text.chars().count());
        let all = egui::text::CCursorRange::two(egui::text::CCursor::new(0), until);
        state.cursor.set_char_range(Some(all));
        state.store(ctx, field);
    }
}

fn underlined(
    ui: &Ui,
    text: &str,
    error: Option<&ExpressionError>,
    normal: Color32,
    bad: Color32,
) -> LayoutJob {
    let font_id = egui::TextStyle::Body.resolve(ui.style());
    let plain = TextFormat::simple(font_id.clone(), normal);
    let mut marked = TextFormat::simple(font_id, bad);
    marked.underline = Stroke::new(1.5, bad);
    let mut job = LayoutJob::default();
    let from = error.map_or(text.len(), |error| error.at.min(text.len()));
    let length = error.map_or(0, |error| error.length.max(1));
    let until = from.saturating_add(length).min(text.len());
    let is_whole = text.is_char_boundary(from) && text.is_char_boundary(until);
    if !is_whole {
        job.append(text, 0.0, plain);
        return job;
    }
    let parts = [
        (&text[..from], &plain),
        (&text[from..until], &marked),
        (&text[until..], &plain),
    ];
    for (part, format) in parts {
        job.append(part, 0.0, format.clone());
    }
    job
}
