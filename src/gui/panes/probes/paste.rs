//! The box into which definitions are pasted: checked while the user types, each error marked under its column.

use egui::{RichText, ScrollArea, TextEdit, Ui};

use crate::gui::pane::Scene;
use crate::probes::{Definitions, parse};
use crate::view::{Action, Effect};

const HINT: &str = "p:myprobe do_sys_openat2 dfd=$arg1:s32 filename=+0($arg2):ustring\nr:myretprobe do_sys_openat2 ret=$retval:s32";

/// The text that is being typed, and its check.
#[derive(Default)]
pub(super) struct PasteBox {
    pub(super) is_open: bool,
    text: String,
    /// The text from which `parsed` was made.
    checked: String,
    parsed: Definitions,
}

impl PasteBox {
    pub(super) fn open(&mut self) {
        self.is_open = true;
    }

    pub(super) fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>, actions: &mut Vec<Action>) {
        if self.checked != self.text {
            self.parsed = parse(&self.text);
            self.checked.clone_from(&self.text);
        }
        let right = self.parsed.standing().count();
        let wrong = self.parsed.errors().count();
        ui.horizontal(|ui| {
            ui.label(RichText::new("Probe definitions").strong());
            let use_it = ui.add_enabled(right > 0, egui::Button::new("Use these definitions"));
            if use_it
                .on_disabled_hover_text(
                    "Paste the text of kprobe_events, dynamic_events or kprobe_event=",
                )
                .clicked()
            {
                actions.push(Action::Do(Effect::DefineProbes(self.text.clone())));
                self.is_open = false;
            }
            if self.is_open && ui.button("Cancel").clicked() {
                self.is_open = false;
            }
            let words = match (right, wrong) {
                (0, 0) => String::new(),
                (right, 0) => format!("{right} right"),
                (right, wrong) => format!("{right} right, {wrong} wrong"),
            };
            ui.label(RichText::new(words).color(if wrong > 0 {
                scene.palette.error
            } else {
                scene.palette.weak
            }));
        });
        let height = if wrong > 0 {
            ui.available_height() * 0.5
        } else {
            ui.available_height()
        };
        ScrollArea::both()
            .id_salt("definitions")
            .max_height(height.max(60.0))
            .show(ui, |ui| {
                let edit = TextEdit::multiline(&mut self.text)
                    .font(egui::TextStyle::Monospace)
                    .hint_text(HINT)
                    .desired_width(f32::INFINITY)
                    .desired_rows(5);
                let response = ui.add(edit);
                response.widget_info(|| {
                    egui::WidgetInfo::labeled(
                        egui::Role::MultilineTextInput,
                        true,
                        "Probe definitions",
                    )
                });
            });
        if wrong > 0 {
            ScrollArea::both()
                .id_salt("errors")
                .auto_shrink([false, false])
                .show(ui, |ui| errors_ui(ui, scene, &self.parsed));
        }
    }
}

/// Draws each line with an error, a mark under its column, and the message.
pub(super) fn errors_ui(ui: &mut Ui, scene: &Scene<'_>, definitions: &Definitions) {
    for line in &definitions.lines {
        let Err(error) = &line.command else { continue };
        let mark = " ".repeat(error.column.saturating_sub(1) as usize);
        let text = format!("{}\n{mark}^", line.text);
        ui.add(egui::Label::new(RichText::new(text).monospace().size(12.0)).extend());
        let words = format!("{}{error}", line.file_words());
        let words = RichText::new(words).color(scene.palette.error);
        ui.add(egui::Label::new(words).extend());
        ui.add_space(4.0);
    }
}
