//! Headings of tables that are sorted by a click: a second click turns the order around. All tables have these.

use egui::{Align, Layout, Response, RichText, ScrollArea, Ui, WidgetInfo};
use egui_extras::TableRow;

use super::table::TEXT_SIZE;
use crate::query::process_rows::Order;

/// One column's heading.
#[derive(Clone, Copy, Debug)]
pub struct Heading<S> {
    title: &'static str,
    about: &'static str,
    sort: S,
    /// What the first click sorts by: names begin with A, numbers with the largest.
    first: Order,
    align: Align,
}

impl<S: Copy> Heading<S> {
    /// A heading that sorts by `sort`.
    pub const fn new(title: &'static str, sort: S) -> Heading<S> {
        Heading {
            title,
            about: "",
            sort,
            first: Order::Ascending,
            align: Align::Min,
        }
    }

    /// A heading over numbers, which stand at the right; the largest come first.
    pub const fn number(title: &'static str, sort: S) -> Heading<S> {
        Heading {
            first: Order::Descending,
            align: Align::Max,
            ..Heading::new(title, sort)
        }
    }

    /// The same, but the smallest come first: times and names that are numbers.
    pub const fn smallest_first(self) -> Heading<S> {
        Heading {
            first: Order::Ascending,
            ..self
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

/// A heading of a table that has one order only.
pub fn title_ui(ui: &mut Ui, title: &str, align: Align) {
    let layout = match align {
        Align::Max => Layout::right_to_left(Align::Center),
        _ => Layout::left_to_right(Align::Center),
    };
    let text = RichText::new(title).size(TEXT_SIZE).strong();
    ui.with_layout(layout, |ui| ui.add(egui::Label::new(text).truncate()));
}

/// One heading, with an arrow if the rows are sorted by it.
pub fn heading_button(
    ui: &mut Ui,
    title: &str,
    about: &str,
    sorted: Option<Order>,
    align: Align,
) -> Response {
    let arrow = match sorted {
        None => "",
        Some(Order::Ascending) => " ⏶",
        Some(Order::Descending) => " ⏷",
    };
    let text = RichText::new(format!("{title}{arrow}")).size(TEXT_SIZE);
    let button = egui::Button::new(text.strong()).frame(false).truncate();
    let layout = match align {
        Align::Max => Layout::right_to_left(Align::Center),
        _ => Layout::left_to_right(Align::Center),
    };
    let response = ui.with_layout(layout, |ui| ui.add(button)).inner;
    response.widget_info(|| {
        let words = format!("Sort by {title}");
        let mut info = WidgetInfo::labeled(egui::Role::ColumnHeader, true, words);
        info.current_text_value = sorted.map(|order| match order {
            Order::Ascending => "smallest first".to_owned(),
            Order::Descending => "largest first".to_owned(),
        });
        info
    });
    if about.is_empty() {
        response
    } else {
        response.on_hover_text(about)
    }
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
            let sorted = is_on.then_some(*order);
            let (title, about) = (heading.title, heading.about);
            if heading_button(ui, title, about, sorted, heading.align).clicked() {
                *order = match (*sort == heading.sort, *order) {
                    (false, _) => heading.first,
                    (true, Order::Ascending) => Order::Descending,
                    (true, Order::Descending) => Order::Ascending,
                };
                *sort = heading.sort;
            }
        });
    }
}
