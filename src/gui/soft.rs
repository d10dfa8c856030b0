//! A rasteriser of egui's triangles on the CPU: draws pictures without a display or graphics driver, deterministically.
//!
//! Triangles are filled with the top-left rule in 1/256 pixel fixed point, textured bilinearly, and blended
//! premultiplied in gamma space, as egui's own backends do. Paint callbacks are not drawn; none are used.

use std::collections::HashMap;
use std::ops::Range;

use egui::epaint::{ImageData, ImageDelta, Primitive};
use egui::{Color32, ColorImage, TextureId};

/// Textures, kept from frame to frame.
#[derive(Default)]
pub struct Soft {
    textures: HashMap<TextureId, Texture>,
}

struct Texture {
    size: [usize; 2],
    pixels: Vec<Color32>,
}

/// A finished picture: RGBA, opaque, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Four bytes per pixel.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Returns the picture as a PNG file.
    ///
    /// Returns a sentence if the picture has no pixels.
    pub(crate) fn png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
        writer
            .write_image_data(&self.rgba)
            .map_err(|error| error.to_string())?;
        writer.finish().map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}

impl Soft {
    /// Applies a frame's changes to textures.
    pub fn take_textures(&mut self, delta: &mut egui::TexturesDelta) {
        for (id, deltas) in delta.set.drain() {
            for delta in deltas {
                self.set(id, &delta);
            }
        }
        for id in delta.free.drain() {
            self.textures.remove(&id);
        }
    }

    /// Returns the rows of a texture's pixels, from the top.
    pub(super) fn rows(&self, id: TextureId) -> std::slice::ChunksExact<'_, Color32> {
        match self.textures.get(&id) {
            Some(texture) => texture.pixels.chunks_exact(texture.size[0].max(1)),
            None => [].chunks_exact(1),
        }
    }

    fn set(&mut self, id: TextureId, delta: &ImageDelta) {
        let ImageData::Color(image) = &delta.image;
        let image: &ColorImage = image;
        match delta.pos {
            None => {
                self.textures.insert(
                    id,
                    Texture {
                        size: image.size,
                        pixels: image.pixels.clone(),
                    },
                );
            }
            Some([left, top]) => {
                let Some(texture) = self.textures.get_mut(&id) else {
                    return;
                };
                for y in 0..image.size[1] {
                    let from = y * image.size[0];
                    let to = (top + y) * texture.size[0] + left;
                    let row = image.pixels.get(from..from + image.size[0]);
                    if let (Some(row), Some(target)) =
                        (row, texture.pixels.get_mut(to..to + image.size[0]))
                    {
                        target.copy_from_slice(row);
                    }
                }
            }
        }
    }

    /// Draws one frame.
    #[must_use]
    pub fn draw(
        &self,
        primitives: &[egui::ClippedPrimitive],
        width: usize,
        height: usize,
        scale: f32,
    ) -> Picture {
        let mut canvas = Canvas {
            width,
            height,
            pixels: vec![[0, 0, 0]; width * height],
        };
        for clipped in primitives {
            let Primitive::Mesh(mesh) = &clipped.primitive else {
                continue;
            };
            let Some(texture) = self.textures.get(&mesh.texture_id) else {
                continue;
            };
            let clip = Clip {
                left: (clipped.clip_rect.min.x * scale)
                    .round()
                    .clamp(0.0, width as f32) as i64,
                top: (clipped.clip_rect.min.y * scale)
                    .round()
                    .clamp(0.0, height as f32) as i64,
                right: (clipped.clip_rect.max.x * scale)
                    .round()
                    .clamp(0.0, width as f32) as i64,
                bottom: (clipped.clip_rect.max.y * scale)
                    .round()
                    .clamp(0.0, height as f32) as i64,
            };
            for triangle in mesh.indices.chunks_exact(3) {
                let corner = |i: usize| mesh.vertices.get(triangle[i] as usize);
                if let (Some(a), Some(b), Some(c)) = (corner(0), corner(1), corner(2)) {
                    canvas.triangle([a, b, c], texture, &clip, scale);
                }
            }
        }
        let mut rgba = vec![255; canvas.pixels.len() * 4];
        for (bytes, pixel) in rgba.chunks_exact_mut(4).zip(&canvas.pixels) {
            bytes[..3].copy_from_slice(pixel);
        }
        Picture {
            width,
            height,
            rgba,
        }
    }
}

struct Clip {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

const ONE: i64 = 256;

/// Corners that are farther away than two million pixels are moved in, so that no product overflows.
const FARTHEST: f64 = (1 << 29) as f64;

/// A place in 1/256 pixel.
#[derive(Clone, Copy)]
struct Point {
    x: i64,
    y: i64,
}

/// An edge of a clockwise triangle. Points inside the triangle are on the side where [`Edge::at`] is not negative.
struct Edge {
    from: Point,
    to: Point,
    /// 0 if points on the edge belong to the triangle (top and left edges), otherwise -1.
    bias: i64,
}

impl Edge {
    fn new(from: Point, to: Point) -> Self {
        let is_top = from.y == to.y && to.x > from.x;
        let is_left = to.y < from.y;
        let bias = if is_top || is_left { 0 } else { -1 };
        Self { from, to, bias }
    }

    /// Returns twice the area of the triangle of the edge and a point, positive if it is clockwise on screen.
    fn at(&self, point: Point) -> i64 {
        (self.to.x - self.from.x) * (point.y - self.from.y)
            - (self.to.y - self.from.y) * (point.x - self.from.x)
    }

    /// Returns how much [`Edge::at`] changes from one pixel to the next one on the right.
    fn step(&self) -> i64 {
        (self.from.y - self.to.y) * ONE
    }

    /// Removes the pixels that are outside of this edge from a row's span, which begins where [`Edge::at`] is `first`.
    fn narrow(&self, first: i64, left: i64, span: &mut Range<i64>) {
        let (value, step) = (first + self.bias, self.step());
        if step > 0 && value < 0 {
            span.start = span.start.max(left + (-value + step - 1) / step);
        } else if step < 0 && value >= 0 {
            span.end = span.end.min(left + value / -step + 1);
        } else if step <= 0 && value < 0 {
            span.end = span.start;
        }
    }
}

impl Canvas {
    fn triangle(
        &mut self,
        mut corners: [&egui::epaint::Vertex; 3],
        texture: &Texture,
        clip: &Clip,
        scale: f32,
    ) {
        let fixed = |value: f32| {
            (f64::from(value * scale) * ONE as f64)
                .round()
                .clamp(-FARTHEST, FARTHEST) as i64
        };
        let mut points = corners.map(|vertex| Point {
            x: fixed(vertex.pos.x),
            y: fixed(vertex.pos.y),
        });
        let area = Edge::new(points[0], points[1]).at(points[2]);
        if area == 0 {
            return;
        }
        if area < 0 {
            points.swap(1, 2);
            corners.swap(1, 2);
        }
        let area = area.abs() as f32;
        let [a, b, c] = points;
        let left = (a.x.min(b.x).min(c.x) / ONE - 1).max(clip.left);
        let right = (a.x.max(b.x).max(c.x) / ONE + 2).min(clip.right.min(self.width as i64));
        let top = (a.y.min(b.y).min(c.y) / ONE - 1).max(clip.top);
        let bottom = (a.y.max(b.y).max(c.y) / ONE + 2).min(clip.bottom.min(self.height as i64));
        let edges = [Edge::new(b, c), Edge::new(c, a), Edge::new(a, b)];
        let steps = [edges[0].step(), edges[1].step(), edges[2].step()];
        let [first, others @ ..] = &corners;
        // A triangle of one colour and one texel needs no interpolation per pixel.
        let is_flat = others
            .iter()
            .all(|vertex| vertex.color == first.color && vertex.uv == first.uv);
        let colors = corners.map(|vertex| vertex.color.to_array().map(f32::from));
        let flat = is_flat.then(|| modulate(texture.sample(first.uv.x, first.uv.y), colors[0]));
        for y in top..bottom {
            let start = Point {
                x: left * ONE + ONE / 2,
                y: y * ONE + ONE / 2,
            };
            let mut weights = [edges[0].at(start), edges[1].at(start), edges[2].at(start)];
            let mut span = left..right;
            for (edge, weight) in edges.iter().zip(weights) {
                edge.narrow(weight, left, &mut span);
            }
            if span.is_empty() {
                continue;
            }
            let row = y as usize * self.width;
            let pixels = &mut self.pixels[row + span.start as usize..row + span.end as usize];
            if let Some(source) = flat {
                fill(pixels, source);
                continue;
            }
            for (weight, step) in weights.iter_mut().zip(steps) {
                *weight += (span.start - left) * step;
            }
            for pixel in pixels {
                let share = [
                    weights[0] as f32 / area,
                    weights[1] as f32 / area,
                    weights[2] as f32 / area,
                ];
                let mix = |a: f32, b: f32, c: f32| a * share[0] + b * share[1] + c * share[2];
                let u = mix(corners[0].uv.x, corners[1].uv.x, corners[2].uv.x);
                let v = mix(corners[0].uv.y, corners[1].uv.y, corners[2].uv.y);
                let mut color = [0.0; 4];
                for (channel, value) in color.iter_mut().enumerate() {
                    *value = mix(colors[0][channel], colors[1][channel], colors[2][channel]);
                }
                blend(pixel, modulate(texture.sample(u, v), color));
                for (weight, step) in weights.iter_mut().zip(steps) {
                    *weight += step;
                }
            }
        }
    }
}

/// Blends one colour over adjacent pixels.
fn fill(pixels: &mut [[u8; 3]], source: [f32; 4]) {
    // The last blended pixel and its result: backgrounds are long stretches of one colour.
    let (mut before, mut after) = ([0; 3], [0; 3]);
    blend(&mut after, source);
    for pixel in pixels {
        if *pixel != before {
            before = *pixel;
            after = before;
            blend(&mut after, source);
        }
        *pixel = after;
    }
}

fn blend(pixel: &mut [u8; 3], source: [f32; 4]) {
    let keep = 1.0 - source[3] / 255.0;
    for (channel, value) in pixel.iter_mut().zip(source) {
        *channel = (value + f32::from(*channel) * keep)
            .round()
            .clamp(0.0, 255.0) as u8;
    }
}

fn modulate(texel: [f32; 4], color: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|c| texel[c] * color[c] / 255.0)
}

impl Texture {
    fn sample(&self, u: f32, v: f32) -> [f32; 4] {
        let x = (u * self.size[0] as f32 - 0.5).clamp(0.0, self.size[0] as f32 - 1.0);
        let y = (v * self.size[1] as f32 - 0.5).clamp(0.0, self.size[1] as f32 - 1.0);
        let (left, top) = (x.floor() as usize, y.floor() as usize);
        let (right, bottom) = (
            (left + 1).min(self.size[0] - 1),
            (top + 1).min(self.size[1] - 1),
        );
        let (fx, fy) = (x - left as f32, y - top as f32);
        let texel = |x: usize, y: usize| {
            self.pixels
                .get(y * self.size[0] + x)
                .copied()
                .unwrap_or_default()
                .to_array()
                .map(f32::from)
        };
        let (a, b, c, d) = (
            texel(left, top),
            texel(right, top),
            texel(left, bottom),
            texel(right, bottom),
        );
        std::array::from_fn(|i| {
            let above = a[i] + (b[i] - a[i]) * fx;
            let below = c[i] + (d[i] - c[i]) * fx;
            above + (below - above) * fy
        })
    }
}
