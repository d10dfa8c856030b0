//! Marks where along the overview the search has matches.

use crate::base::TimeSpan;
use crate::query::search::Found;
use egui::{Color32, Mesh, Rect, Shape, pos2, vec2};
use std::sync::{Arc, Weak};

/// The columns of the overview with matches; recomputed only when something changes.
#[derive(Default)]
pub(super) struct MatchesSeen {
    /// The matches, the span and the number of columns that `columns` was computed for. (The weak pointer keeps the
    /// allocation, so that no other one gets its address.)
    of: Option<(Weak<Found>, TimeSpan, usize)>,
    /// Indices of columns with matches.
    columns: Vec<u32>,
}

impl MatchesSeen {
    fn columns(&mut self, found: &Arc<Found>, bounds: TimeSpan, columns: usize) -> &[u32] {
        let is_known = self.of.as_ref().is_some_and(|(of, span, count)| {
            std::ptr::eq(of.as_ptr(), Arc::as_ptr(found)) && (*span, *count) == (bounds, columns)
        });
        if !is_known {
            let counts = found.density(bounds, columns).into_iter();
            let with_any = counts.enumerate().filter(|&(_, count)| count > 0);
            self.columns = with_any.map(|(column, _)| column as u32).collect();
            self.of = Some((Arc::downgrade(found), bounds, columns));
        }
        &self.columns
    }

    /// Draws a line at the top of every column with matches.
    pub(super) fn paint(
        &mut self,
        painter: &egui::Painter,
        rect: Rect,
        bounds: TimeSpan,
        found: &Arc<Found>,
        color: Color32,
    ) {
        let columns = (rect.width() / 2.0).max(1.0) as usize;
        let mut mesh = Mesh::default();
        for &column in self.columns(found, bounds, columns) {
            let left = rect.left() + column as f32 * 2.0;
            let mark = Rect::from_min_size(pos2(left, rect.top() + 1.0), vec2(2.0, 9.0));
            mesh.add_colored_rect(mark, color);
        }
        painter.add(Shape::mesh(mesh));
    }
}
