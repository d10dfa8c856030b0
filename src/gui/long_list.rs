//! Scrolls a list of any length: computes the first visible row.
//!
//! Counts rows, not points: an `f32` cannot represent the height of 100 million rows in points exactly.

use egui::{CornerRadius, Rect, Sense, Ui, pos2};

use super::theme::Palette;

/// Width of the scroll bar, in points.
const BAR_WIDTH: f32 = 10.0;

/// Scroll position of a long list.
#[derive(Debug, Default)]
pub(crate) struct LongList {
    top: usize,
    /// Wheel movement that is less than a row so far, in points.
    rest: f32,
    /// Where on the handle the drag started, in points from its top.
    grip: Option<f32>,
}

impl LongList {
    /// Returns the index of the first visible row.
    #[must_use]
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// Makes `row` the first visible row.
    pub(crate) fn show_first(&mut self, row: usize) {
        self.top = row;
        self.rest = 0.0;
    }

    /// Scrolls `row` to the middle if it is not visible already; `seen` is the number of visible rows.
    pub(crate) fn show(&mut self, row: usize, seen: usize) {
        if row < self.top || row >= self.top + seen {
            self.show_first(row.saturating_sub(seen / 2));
        }
    }

    /// Handles the wheel over `area` and draws the scroll bar at its right; returns the remaining area for the list.
    pub(crate) fn scroll_ui(
        &mut self,
        ui: &Ui,
        area: Rect,
        count: usize,
        row_height: f32,
        palette: &Palette,
    ) -> Rect {
        let seen = (area.height() / row_height).floor().max(1.0) as usize;
        let last = count.saturating_sub(seen);
        if ui.rect_contains_pointer(area) {
            self.rest -= ui.input(|input| input.smooth_scroll_delta().y);
            let rows = (self.rest / row_height).trunc();
            self.rest -= rows * row_height;
            self.top = self.top.saturating_add_signed(rows as isize);
        }
        self.top = self.top.min(last);
        let left = Rect::from_min_max(
            area.min,
            pos2(area.right() - BAR_WIDTH - 2.0, area.bottom()),
        );
        if last > 0 {
            self.bar_ui(ui, area, seen, last, palette);
        }
        left
    }

    fn bar_ui(&mut self, ui: &Ui, area: Rect, seen: usize, last: usize, palette: &Palette) {
        let bar = Rect::from_min_max(pos2(area.right() - BAR_WIDTH, area.top()), area.max);
        let share = seen as f64 / (last + seen) as f64;
        let length = (f64::from(bar.height()) * share).max(24.0) as f32;
        let way = (bar.height() - length).max(1.0);
        let handle_top = bar.top() + (self.top as f64 / last as f64 * f64::from(way)) as f32;
        let response = ui.interact(bar, ui.scope_id().with("bar"), Sense::click_and_drag());
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::ScrollBar, true, "Scroll the list")
        });
        if let Some(pos) = response.interact_pointer_pos() {
            let is_on_handle = pos.y >= handle_top && pos.y <= handle_top + length;
            // A press beside the handle moves its middle to the pointer.
            let grip = *self.grip.get_or_insert(if is_on_handle {
                pos.y - handle_top
            } else {
                length / 2.0
            });
            let at = f64::from((pos.y - grip - bar.top()) / way).clamp(0.0, 1.0);
            self.top = (at * last as f64).round() as usize;
        } else {
            self.grip = None;
        }
        let color = if response.hovered() || response.dragged() {
            palette.weak
        } else {
            palette.line
        };
        let top = bar.top() + (self.top as f64 / last as f64 * f64::from(way)) as f32;
        let handle = Rect::from_min_max(
            pos2(bar.left() + 2.0, top),
            pos2(bar.right() - 1.0, top + length),
        );
        ui.painter().rect_filled(bar, 0, palette.canvas_alternate);
        ui.painter()
            .rect_filled(handle, CornerRadius::same(3), color);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use egui::vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    const COUNT: usize = 100_000_000;
    const ROW: f32 = 20.0;

    fn harness() -> Harness<'static, LongList> {
        Harness::builder()
            .with_size(vec2(200.0, 400.0))
            .build_ui_state(
                |ui, list: &mut LongList| {
                    let palette = crate::gui::theme::palette(egui::Theme::Dark);
                    let area = Rect::from_min_size(ui.min_rect().min, vec2(180.0, 360.0));
                    list.scroll_ui(ui, area, COUNT, ROW, &palette);
                },
                LongList::default(),
            )
    }

    /// An `f32` is exact to one in 16 million: in a longer list, positions in points would skip rows.
    #[test]
    fn each_of_100_million_rows_is_reached() {
        let mut window = harness();
        window.run();
        let last = COUNT - 18;
        window.state_mut().show(COUNT - 1, 18);
        window.run();
        assert_eq!(window.state().top(), last);
        for row in [16_777_217, 33_554_433, 99_999_001] {
            window.state_mut().show(row, 18);
            window.run();
            assert_eq!(window.state().top(), row - 9);
            // One notch of the wheel scrolls by one row, and one back.
            for (turn, top) in [(-ROW, row - 8), (ROW, row - 9)] {
                window.hover_at(egui::pos2(60.0, 60.0));
                window.event(egui::Event::MouseWheel {
                    unit: egui::MouseWheelUnit::Point,
                    delta: vec2(0.0, turn),
                    phase: egui::TouchPhase::Move,
                    source: egui::MouseWheelSource::Wheel,
                    modifiers: egui::Modifiers::NONE,
                });
                window.run_steps(20);
                assert_eq!(window.state().top(), top);
            }
        }
        // The scroll bar reaches both ends.
        let bar = window.get_by_label("Scroll the list").rect();
        for (y, top) in [(bar.bottom() + 50.0, last), (bar.top() - 50.0, 0)] {
            window.hover_at(bar.center());
            window.drag_at(bar.center());
            window.run_steps(2);
            window.hover_at(egui::pos2(bar.center().x, y));
            window.run_steps(2);
            window.drop_at(egui::pos2(bar.center().x, y));
            window.run_steps(2);
            assert_eq!(window.state().top(), top);
        }
    }
}
