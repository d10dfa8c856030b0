//! The heading of a column: sorts by click.

use egui::{Align, Layout, Response, RichText, Ui, WidgetInfo};

use super::data::TEXT_SIZE;
use super::order::Order;

/// Draws one heading, with an arrow if the rows are sorted by it.
pub(super) fn heading_button(
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
