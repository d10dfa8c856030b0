//! Headings of tables that sort by click; a second click reverses the order.

use egui::{Align, Layout, Response, RichText, ScrollArea, Ui, WidgetInfo};
use egui_extras::TableRow;

use super::table::TEXT_SIZE;
use crate::query::process_rows::Order;

/// One column's heading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading<S> {
    title: &'static str,
    about: &'static str,
    sort: S,
    /// Order after the first click: names ascending, numbers descending.
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

    /// Returns a heading for numbers: right-aligned, largest first.
    pub const fn number(title: &'static str, sort: S) -> Heading<S> {
        Heading {
            first: Order::Descending,
            align: Align::Max,
            ..Heading::new(title, sort)
        }
    }

    /// Returns the heading with smallest first: for times, and for numbers used as names.
    pub(crate) const fn smallest_first(self) -> Heading<S> {
        Heading {
            first: Order::Ascending,
            ..self
        }
    }

    /// Returns the title.
    pub const fn title(&self) -> &'static str {
        self.title
    }

    /// Sets the tooltip.
    pub(crate) const fn about(self, about: &'static str) -> Heading<S> {
        Heading { about, ..self }
    }
}

/// Draws a table at least `least` points wide: in a narrower space it scrolls sideways.
pub(crate) fn wide<R>(ui: &mut Ui, id: &str, least: f32, add: impl FnOnce(&mut Ui) -> R) -> R {
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

/// Draws one heading, with an arrow if the rows are sorted by it.
pub(crate) fn heading_button(
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

/// Draws the headings of a table, with an arrow at the one it is sorted by.
pub(crate) fn heading_ui<S: Copy + PartialEq>(
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
