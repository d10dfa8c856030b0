//! Writes a frame's shapes as an SVG file: rectangles, lines and triangles as such, text as text that can be searched
//! and copied.
//!
//! Clip rectangles become `clipPath`s. Full lanes, which egui draws as textures, become one path per colour.
//! Blurred shadows are left out: they carry no information.

use std::collections::BTreeMap;
use std::fmt::Write;

use egui::epaint::{ClippedShape, ColorMode, PathStroke, TextShape};
use egui::{Color32, FontFamily, Mesh, Pos2, Rect, Shape, Stroke, StrokeKind, TextureId, Vec2};

use super::soft::Soft;

/// Returns shapes, given in points, as the text of an SVG file of `size` pixels with `scale` pixels per point. `soft`
/// holds the shapes' textures.
#[must_use]
pub(crate) fn svg_of(shapes: &[ClippedShape], soft: &Soft, size: [u32; 2], scale: f32) -> String {
    let [width, height] = size;
    let points = Vec2::new(width as f32, height as f32) / scale;
    let mut svg = Svg {
        soft,
        out: String::new(),
        clips: Vec::new(),
    };
    let mut open: Option<Rect> = None;
    for ClippedShape {
        clip_rect, shape, ..
    } in shapes
    {
        let clip = clip_rect.intersect(Rect::from_min_size(Pos2::ZERO, points));
        if !clip.is_positive() {
            continue;
        }
        if open != Some(clip) {
            if open.is_some() {
                svg.out.push_str("</g>\n");
            }
            let number = svg.clip(clip);
            svg.put(format_args!("<g clip-path=\"url(#c{number})\">\n"));
            open = Some(clip);
        }
        svg.shape(shape);
    }
    if open.is_some() {
        svg.out.push_str("</g>\n");
    }
    let mut clips = String::new();
    for (number, clip) in svg.clips.iter().enumerate() {
        let _infallible = writeln!(
            clips,
            "<clipPath id=\"c{number}\"><rect {}/></clipPath>",
            place(*clip)
        );
    }
    let (across, down) = (short(points.x), short(points.y));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {across} {down}\" xml:space=\"preserve\">\n<defs>\n{clips}</defs>\n{}</svg>\n",
        svg.out
    )
}

struct Svg<'a> {
    soft: &'a Soft,
    out: String,
    clips: Vec<Rect>,
}

impl Svg<'_> {
    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        let _infallible = self.out.write_fmt(text);
    }

    fn clip(&mut self, clip: Rect) -> usize {
        let known = self.clips.iter().position(|other| *other == clip);
        known.unwrap_or_else(|| {
            self.clips.push(clip);
            self.clips.len() - 1
        })
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Noop | Shape::Callback(_) | Shape::Band(_) => {}
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| self.shape(shape)),
            Shape::Circle(it) => {
                let (x, y, r) = (short(it.center.x), short(it.center.y), short(it.radius));
                let paint = paint(it.fill, it.stroke);
                self.element(
                    format_args!("circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\""),
                    &paint,
                );
            }
            Shape::Ellipse(it) => {
                let (x, y) = (short(it.center.x), short(it.center.y));
                let (across, down) = (short(it.radius.x), short(it.radius.y));
                let paint = paint(it.fill, it.stroke);
                self.element(
                    format_args!("ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{across}\" ry=\"{down}\""),
                    &paint,
                );
            }
            Shape::LineSegment { points, stroke } => {
                self.path(&lines(points, Ends::Open), Color32::TRANSPARENT, *stroke);
            }
            Shape::Path(it) => {
                let ends = if it.closed { Ends::Meet } else { Ends::Open };
                self.path(&lines(&it.points, ends), it.fill, solid(&it.stroke));
            }
            Shape::Rect(it) if it.blur_width > 0.0 => {}
            Shape::Rect(it) => {
                let half = match it.stroke_kind {
                    StrokeKind::Inside => -it.stroke.width / 2.0,
                    StrokeKind::Middle => 0.0,
                    StrokeKind::Outside => it.stroke.width / 2.0,
                };
                let rect = match it.stroke.is_empty() {
                    true => it.rect,
                    false => it.rect.expand(half),
                };
                let round = match it.corner_radius.average() {
                    radius if radius > 0.0 => format!(" rx=\"{}\"", short(radius)),
                    _ => String::new(),
                };
                let (at, paint) = (place(rect), paint(it.fill, it.stroke));
                self.element(format_args!("rect {at}{round}"), &paint);
            }
            Shape::QuadraticBezier(it) => {
                let [a, b, c] = it.points.map(point);
                self.path(&format!("M{a} Q{b} {c}"), it.fill, solid(&it.stroke));
            }
            Shape::CubicBezier(it) => {
                let [a, b, c, d] = it.points.map(point);
                self.path(&format!("M{a} C{b} {c} {d}"), it.fill, solid(&it.stroke));
            }
            Shape::Text(text) => self.text(text),
            Shape::Mesh(mesh) => self.mesh(mesh),
        }
    }

    /// Writes an element with its paint attributes; without any, SVG would fill it black, so it is skipped.
    fn element(&mut self, what: std::fmt::Arguments<'_>, paint: &str) {
        if !paint.is_empty() {
            self.put(format_args!("<{what}{paint}/>\n"));
        }
    }

    fn path(&mut self, path: &str, fill: Color32, stroke: Stroke) {
        let paint = paint(fill, stroke);
        if !path.is_empty() && !paint.is_empty() {
            self.put(format_args!("<path d=\"{path}\"{paint}/>\n"));
        }
    }

    /// Writes one `text` element per run of one font and colour, stretched to its width in the window.
    fn text(&mut self, shape: &TextShape) {
        let galley = &shape.galley;
        let job = &galley.job;
        let mut at = 0;
        for placed in &galley.rows {
            let row = &placed.row;
            let mut runs: Vec<Run> = Vec::new();
            for glyph in &row.glyphs {
                let next = job.text.get(at..).and_then(|rest| rest.chars().next());
                let section = job.sections.iter().position(|section| {
                    at >= section.byte_range.start.0 && at < section.byte_range.end.0
                });
                if next == Some(glyph.chr) {
                    at += glyph.chr.len_utf8();
                }
                let section = section.unwrap_or(job.sections.len().saturating_sub(1));
                let vertex = row.visuals.mesh.vertices.get(glyph.first_vertex as usize);
                let painted = vertex.map_or(Color32::PLACEHOLDER, |vertex| vertex.color);
                let color = match (shape.override_text_color, painted) {
                    (Some(color), _) => color,
                    (None, Color32::PLACEHOLDER) => shape.fallback_color,
                    (None, color) => color,
                };
                // Blanks are invisible and need no run of their own colour.
                let is_blank = glyph.chr.is_whitespace();
                let end = glyph.pos.x + glyph.advance_width;
                match runs.last_mut() {
                    Some(run) if run.section == section && (is_blank || run.color == color) => {
                        run.text.push(glyph.chr);
                        run.end = end;
                    }
                    _ if is_blank => {}
                    _ => runs.push(Run {
                        section,
                        color,
                        start: glyph.pos,
                        end,
                        text: glyph.chr.to_string(),
                    }),
                }
            }
            if placed.ends_with_newline {
                at += 1;
            }
            let origin = shape.pos + placed.pos.to_vec2();
            for run in runs {
                self.run(&run, shape, origin);
            }
        }
    }

    fn run(&mut self, run: &Run, shape: &TextShape, origin: Pos2) {
        let Some(section) = shape.galley.job.sections.get(run.section) else {
            return;
        };
        let text = run.text.trim_end();
        let font = &section.format.font_id;
        let family = match font.family {
            FontFamily::Monospace => "Hack, monospace",
            _ => "Ubuntu, 'DejaVu Sans', sans-serif",
        };
        let at = origin + run.start.to_vec2();
        let color = color_of("fill", run.color.gamma_multiply(shape.opacity_factor));
        let length = match text.len() == run.text.len() {
            true => format!(" textLength=\"{}\"", short(run.end - run.start.x)),
            false => String::new(),
        };
        let turned = match shape.angle {
            0.0 => String::new(),
            angle => format!(
                " transform=\"rotate({} {})\"",
                short(angle.to_degrees()),
                point(shape.pos)
            ),
        };
        let (x, y, size) = (short(at.x), short(at.y), short(font.size));
        let text = escaped(text);
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" font-family=\"{family}\"{color}{length}{turned}>{text}</text>\n"
        ));
    }

    fn mesh(&mut self, mesh: &Mesh) {
        let is_plain = mesh.texture_id == TextureId::default();
        let mut same = Same::default();
        for Piece { corners, rect } in pieces(mesh) {
            let [first, ..] = corners;
            match rect {
                Some(rect) if is_plain => {
                    same.add(self, first.color, rect);
                }
                Some(rect) => {
                    same.end(self);
                    self.strip(rect, mesh, &corners);
                }
                None => {
                    same.end(self);
                    let points = corners.map(|corner| corner.pos);
                    // A gradient is drawn in the colour of its middle vertex.
                    let color = corners[1].color;
                    self.path(&lines(&points, Ends::Meet), color, Stroke::NONE);
                }
            }
        }
        same.end(self);
    }

    /// Writes a rectangle that shows columns of a texture: a lane.
    fn strip(&mut self, rect: Rect, mesh: &Mesh, corners: &[egui::epaint::Vertex; 3]) {
        let across = corners.iter().map(|corner| corner.uv.x);
        let (from, until) = across.fold((f32::MAX, f32::MIN), |(low, high), u| {
            (low.min(u), high.max(u))
        });
        let rows = self.soft.rows(mesh.texture_id);
        let height = rect.height() / rows.clone().count().max(1) as f32;
        // A sorted map: paths have the same order every time.
        let mut by_color: BTreeMap<[u8; 4], String> = BTreeMap::new();
        for (at, pixels) in rows.enumerate() {
            let count = pixels.len() as f32;
            let first = (from * count).round().max(0.0) as usize;
            let last = ((until * count).round().max(0.0) as usize).min(pixels.len());
            let Some(pixels) = pixels.get(first..last).filter(|some| !some.is_empty()) else {
                continue;
            };
            let step = rect.width() / pixels.len() as f32;
            let mut start = 0;
            for stretch in pixels.chunk_by(|a, b| a == b) {
                let (left, length) = (start as f32 * step, stretch.len() as f32 * step);
                start += stretch.len();
                let Some(color) = stretch.first().filter(|color| color.a() > 0) else {
                    continue;
                };
                let bar = Rect::from_min_size(
                    rect.min + Vec2::new(left, height * at as f32),
                    Vec2::new(length, height),
                );
                by_color
                    .entry(color.to_array())
                    .or_default()
                    .push_str(&boxed(bar));
            }
        }
        for ([r, g, b, a], path) in by_color {
            let color = Color32::from_rgba_premultiplied(r, g, b, a);
            self.path(&path, color, Stroke::NONE);
        }
    }
}

/// A run of text in one font and colour.
struct Run {
    section: usize,
    color: Color32,
    start: Pos2,
    end: f32,
    text: String,
}

/// Consecutive rectangles of one colour, collected into one path.
#[derive(Default)]
struct Same {
    color: Color32,
    path: String,
}

impl Same {
    fn add(&mut self, svg: &mut Svg<'_>, color: Color32, rect: Rect) {
        if color != self.color {
            self.end(svg);
            self.color = color;
        }
        self.path.push_str(&boxed(rect));
    }

    fn end(&mut self, svg: &mut Svg<'_>) {
        svg.path(&std::mem::take(&mut self.path), self.color, Stroke::NONE);
    }
}

/// A triangle of a mesh, or two that form a rectangle of one colour.
struct Piece {
    /// The corners of the first triangle.
    corners: [egui::epaint::Vertex; 3],
    rect: Option<Rect>,
}

fn pieces(mesh: &Mesh) -> Vec<Piece> {
    let vertex = |at: u32| mesh.vertices.get(at as usize).copied().unwrap_or_default();
    let triangles: Vec<[egui::epaint::Vertex; 3]> = mesh
        .indices
        .chunks_exact(3)
        .map(|three| [vertex(three[0]), vertex(three[1]), vertex(three[2])])
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&corners) = triangles.get(at) {
        let rect = triangles
            .get(at + 1)
            .and_then(|second| rect_of(&corners, second));
        at += if rect.is_some() { 2 } else { 1 };
        found.push(Piece { corners, rect });
    }
    found
}

fn rect_of(first: &[egui::epaint::Vertex; 3], second: &[egui::epaint::Vertex; 3]) -> Option<Rect> {
    let all = || first.iter().chain(second);
    let rect = Rect::from_points(&all().map(|corner| corner.pos).collect::<Vec<_>>());
    let is_corner = |pos: Pos2| {
        (pos.x == rect.left() || pos.x == rect.right())
            && (pos.y == rect.top() || pos.y == rect.bottom())
    };
    let color = first[0].color;
    let is_one = all().all(|corner| corner.color == color && is_corner(corner.pos));
    (is_one && rect.is_positive()).then_some(rect)
}

fn solid(stroke: &PathStroke) -> Stroke {
    match &stroke.color {
        ColorMode::Solid(color) => Stroke::new(stroke.width, *color),
        ColorMode::UV(_) => Stroke::NONE,
    }
}

/// Returns a number with at most two decimals.
fn short(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_owned(),
        text => text.to_owned(),
    }
}

fn point(pos: Pos2) -> String {
    format!("{} {}", short(pos.x), short(pos.y))
}

fn place(rect: Rect) -> String {
    format!(
        "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
        short(rect.left()),
        short(rect.top()),
        short(rect.width()),
        short(rect.height())
    )
}

fn boxed(rect: Rect) -> String {
    let (across, down) = (short(rect.width()), short(rect.height()));
    format!("M{}h{across}v{down}h-{across}z", point(rect.min))
}

/// Whether a path's last point is joined to its first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Meet,
    Open,
}

fn lines(points: &[Pos2], ends: Ends) -> String {
    let mut path = String::new();
    for (at, pos) in points.iter().enumerate() {
        let sign = if at == 0 { 'M' } else { 'L' };
        let _infallible = write!(path, "{sign}{}", point(*pos));
    }
    if ends == Ends::Meet && !path.is_empty() {
        path.push('z');
    }
    path
}

fn paint(fill: Color32, stroke: Stroke) -> String {
    let has_stroke = !stroke.is_empty();
    if fill.a() == 0 && !has_stroke {
        return String::new();
    }
    let mut text = match fill.a() {
        0 => " fill=\"none\"".to_owned(),
        _ => color_of("fill", fill),
    };
    if has_stroke {
        text.push_str(&color_of("stroke", stroke.color));
        let _infallible = write!(text, " stroke-width=\"{}\"", short(stroke.width));
    }
    text
}

fn color_of(what: &str, color: Color32) -> String {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    let mut text = format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\"");
    if a < 255 {
        let _infallible = write!(text, " {what}-opacity=\"{}\"", short(f32::from(a) / 255.0));
    }
    text
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // Few fonts have these arrows.
            '⏷' => safe.push('▾'),
            '⏵' => safe.push('▸'),
            '⏴' => safe.push('◂'),
            // XML cannot represent these characters.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    fn drawn(shape: Shape) -> String {
        let clip = Rect::from_min_max(pos2(0.0, 0.0), pos2(50.0, 50.0));
        svg_of(
            &[ClippedShape::new(clip, shape)],
            &Soft::default(),
            [100, 100],
            2.0,
        )
    }

    #[test]
    fn rectangles_of_a_mesh_are_one_path_for_a_colour() {
        let mut mesh = Mesh::default();
        let bar = |left: f32| Rect::from_min_max(pos2(left, 1.0), pos2(left + 2.0, 5.5));
        for (left, color) in [
            (0.0, Color32::RED),
            (3.0, Color32::RED),
            (6.0, Color32::BLUE),
        ] {
            mesh.add_colored_rect(bar(left), color);
        }
        let svg = drawn(Shape::mesh(mesh));
        assert_eq!(svg.matches("<path").count(), 2, "{svg}");
        assert!(
            svg.contains("M0 1h2v4.5h-2zM3 1h2v4.5h-2z\" fill=\"#ff0000\""),
            "{svg}"
        );
        assert!(svg.contains("viewBox=\"0 0 50 50\"") && svg.contains("width=\"100\""));
        assert!(
            svg.contains("<clipPath id=\"c0\"><rect x=\"0\" y=\"0\" width=\"50\" height=\"50\"/>")
        );
    }

    #[test]
    fn what_is_half_seen_through_stays_so() {
        let color = Color32::from_rgba_unmultiplied(255, 0, 0, 128);
        let rect = Rect::from_min_max(pos2(1.0, 2.0), pos2(3.0, 4.0));
        let svg = drawn(Shape::rect_filled(rect, 0, color));
        assert!(
            svg.contains("fill=\"#ff0000\" fill-opacity=\"0.5\""),
            "{svg}"
        );
        // SVG fills an element without a fill black.
        let nothing = drawn(Shape::rect_filled(rect, 0, Color32::TRANSPARENT));
        assert!(!nothing.contains("<rect x=\"1\""), "{nothing}");
        assert_eq!(
            escaped("a<b> & \"c\"\u{1}"),
            "a&lt;b&gt; &amp; \"c\"\u{fffd}"
        );
        assert_eq!(
            (short(-0.001), short(1.50), short(10.0)),
            ("0".into(), "1.5".into(), "10".into())
        );
    }
}
