//! Headings of tables that are sorted by a click: a second click turns the order around.

use egui::{RichText, ScrollArea, Sense, Ui};
use egui_extras::TableRow;

use crate::query::process_rows::Order;

/// One column's heading.
#[derive(Clone, Copy, Debug)]
pub struct Heading<S> {
    title: &'static str,
    about: &'static str,
    sort: S,
}

impl<S: Copy> Heading<S> {
    /// A heading that sorts by `sort`.
    pub const fn new(title: &'static str, sort: S) -> Heading<S> {
        Heading {
            title,
            about: "",
            sort,
        }
    }

    /// Says more when the pointer is over it.
    pub const fn about(self, about: &'static str) -> Heading<S> {
        Heading { about, ..self }
    }
}

/// A place for a table that is at least `least` points wide: where there is less room, it scrolls sideways.
pub fn wide<R>(ui: &mut Ui, id: &str, least: f32, add: impl FnOnce(&mut Ui) -> R) -> R {
    let width = ui.available_width().max(least);
    ScrollArea::horizontal()
        .id_salt(id)
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_max_width(width);
            add(ui)
        })
        .inner
}

/// Draws the headings, with an arrow at the one that the rows are sorted by.
pub fn heading_ui<S: Copy + PartialEq>(
    header: &mut TableRow<'_, '_>,
    headings: &[Heading<S>],
    sort: &mut S,
    order: &mut Order,
) {
    let mut has_arrow = false;
    for heading in headings {
        header.col(|ui| {
            let is_on = *sort == heading.sort && !has_arrow;
            has_arrow |= is_on;
            let arrow = match (is_on, *order) {
                (false, _) => "",
                (true, Order::Ascending) => " ⏶",
                (true, Order::Descending) => " ⏷",
            };
            let text = RichText::new(format!("{}{arrow}", heading.title)).strong();
            let label = egui::Label::new(text)
                .selectable(false)
                .truncate()
                .sense(Sense::click());
            let response = ui.add(label);
            let response = if heading.about.is_empty() {
                response
            } else {
                response.on_hover_text(heading.about)
            };
            if response.clicked() {
                if *sort == heading.sort {
                    *order = match *order {
                        Order::Ascending => Order::Descending,
                        Order::Descending => Order::Ascending,
                    };
                } else {
                    *sort = heading.sort;
                    *order = Order::Ascending;
                }
            }
        });
    }
}
