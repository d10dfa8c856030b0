//! Collects a lane's rectangles, as few as give the same picture.

use egui::{Color32, Mesh, Rect, pos2};

/// Adds the bars of one lane to a mesh, from left to right: bars hidden by a later one are dropped, and adjacent bars
/// of one colour are merged. Zoomed out, a lane has up to two blocks per pixel, most of them alike.
pub(super) struct Bars<'a> {
    mesh: &'a mut Mesh,
    area: Rect,
    pending: Option<Bar>,
}

#[derive(Clone, Copy)]
struct Bar {
    left: f32,
    right: f32,
    fill: Color32,
}

impl<'a> Bars<'a> {
    /// Returns an empty collection for a lane at `area`, in points.
    pub(super) fn new(mesh: &'a mut Mesh, area: Rect) -> Bars<'a> {
        Bars {
            mesh,
            area,
            pending: None,
        }
    }

    /// Adds a bar, in points; bars must be added in order of their left edges.
    pub(super) fn add(&mut self, left: f32, right: f32, fill: Color32) {
        let next = Bar { left, right, fill };
        let Some(open) = &mut self.pending else {
            self.pending = Some(next);
            return;
        };
        if left <= open.left && right >= open.right {
            *open = next;
        } else if fill == open.fill && left <= open.right {
            open.right = open.right.max(right);
        } else {
            let done = std::mem::replace(open, next);
            self.paint(done);
        }
    }

    fn paint(&mut self, bar: Bar) {
        let area = self.area;
        let rect = Rect::from_min_max(pos2(bar.left, area.top()), pos2(bar.right, area.bottom()));
        self.mesh.add_colored_rect(rect, bar.fill);
    }
}

impl Drop for Bars<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.pending.take() {
            self.paint(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the resulting bars: (left, right, fill).
    fn painted(bars: &[(f32, f32, Color32)]) -> Vec<(f32, f32, Color32)> {
        let mut mesh = Mesh::default();
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(100.0, 10.0));
        let mut painter = Bars::new(&mut mesh, area);
        for &(left, right, fill) in bars {
            painter.add(left, right, fill);
        }
        drop(painter);
        let edge = |four: &[egui::epaint::Vertex], pick: fn(f32, f32) -> f32| {
            let across = four.iter().map(|vertex| vertex.pos.x);
            across.reduce(pick).unwrap_or(f32::NAN)
        };
        let corners = mesh.vertices.chunks(4);
        corners
            .map(|four| (edge(four, f32::min), edge(four, f32::max), four[0].color))
            .collect()
    }

    #[test]
    fn what_shows_the_same_is_painted_once() {
        let (a, b) = (Color32::RED, Color32::BLUE);
        // Of three blocks in one pixel only the last is visible.
        let stacked = [(1.0, 2.0, a), (1.0, 2.0, b), (1.0, 2.0, a)];
        assert_eq!(painted(&stacked), [(1.0, 2.0, a)]);
        // Adjacent bars of one colour are merged; a gap or another colour keeps them apart.
        let touching = [(1.0, 2.0, a), (2.0, 3.0, a), (3.0, 5.0, a)];
        assert_eq!(painted(&touching), [(1.0, 5.0, a)]);
        let apart = [(1.0, 2.0, a), (3.0, 4.0, a), (4.0, 5.0, b)];
        assert_eq!(painted(&apart), apart);
        // A narrow bar on a wide one hides only its own part.
        let over = [(1.0, 9.0, a), (1.0, 2.0, b)];
        assert_eq!(painted(&over), over);
        assert_eq!(painted(&[(1.0, 9.0, a), (2.0, 3.0, a)]), [(1.0, 9.0, a)]);
    }
}
