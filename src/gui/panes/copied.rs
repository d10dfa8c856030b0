//! Rows as tab-separated text for the clipboard, where a pane has no table of its own that does so.

use crate::base::{Cancelled, Job};
use crate::gui::asked::Asked;
use crate::gui::table::{Cell, push_line};
use crate::view::Action;

/// At most so many rows are copied: what is longer is saved by a command (`threadline help`).
pub const MOST_COPIED: usize = 100_000;

/// The button that copies what a pane says.
pub fn copy_button(ui: &mut egui::Ui) -> bool {
    ui.button("Copy")
        .on_hover_text("Copy what is listed as tab-separated text, at most 100 000 rows")
        .clicked()
}

/// Adds a line of texts.
pub fn push_texts<'a>(text: &mut String, cells: impl IntoIterator<Item = &'a str>) {
    let cells: Vec<Cell> = cells
        .into_iter()
        .map(|it| Cell::Text(it.to_owned()))
        .collect();
    push_line(text, &cells);
}

/// Text for the clipboard that is put together off the window's thread.
#[derive(Default)]
pub struct Copying {
    asked: Asked<u64, String>,
    count: u64,
}

impl Copying {
    /// Begins; what was begun before is called off.
    pub fn start(
        &mut self,
        ctx: &egui::Context,
        work: impl FnOnce(&Job) -> Result<String, Cancelled> + Send + 'static,
    ) {
        self.count += 1;
        self.asked.ask(ctx, self.count, work);
    }

    /// Copies what has come.
    pub fn poll(&mut self, actions: &mut Vec<Action>) {
        self.asked.poll();
        if let Some(text) = self.asked.answer() {
            actions.push(Action::Copy(text.clone()));
            self.asked.clear();
        }
    }

    /// Whether it goes on.
    pub fn is_waiting(&self) -> bool {
        self.asked.is_waiting()
    }

    /// Calls it off.
    pub fn stop(&mut self) {
        self.asked.stop();
    }
}
