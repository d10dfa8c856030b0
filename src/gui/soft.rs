//! A rasteriser of egui's triangles on the CPU: draws pictures without a display or graphics driver, deterministically.
//!
//! Triangles are filled with the top-left rule in 1/256 pixel fixed point, textured bilinearly, and blended
//! premultiplied in gamma space, as egui's own backends do. Paint callbacks are not drawn; none are used.

use std::collections::HashMap;

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
    /// The picture as a PNG file.
    ///
    /// Returns a sentence if the picture has no pixels.
    /// If it has no pixels.
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

    /// Returns the pixels of a texture's row at `v`: 0 is its upper edge, 1 its lower one.
    #[must_use]
    pub fn row(&self, id: TextureId, v: f32) -> Option<&[Color32]> {
        let texture = self.textures.get(&id)?;
        let [width, height] = texture.size;
        let row = ((v * height as f32) as usize).min(height.checked_sub(1)?);
        texture.pixels.get(row * width..(row + 1) * width)
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
        let rgba = canvas
            .pixels
            .iter()
            .flat_map(|&[r, g, b]| [r, g, b, 255])
            .collect();
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

impl Canvas {
    fn triangle(
        &mut self,
        corners: [&egui::epaint::Vertex; 3],
        texture: &Texture,
        clip: &Clip,
        scale: f32,
    ) {
        let fixed = |value: f32| {
            (f64::from(value * scale) * ONE as f64)
                .round()
                .clamp(-1e12, 1e12) as i64
        };
        let mut points = corners.map(|vertex| (fixed(vertex.pos.x), fixed(vertex.pos.y)));
        let mut corners = corners;
        let area = edge(points[0], points[1], points[2]);
        if area == 0 {
            return;
        }
        // The inside test below needs clockwise corners.
        if area < 0 {
            points.swap(1, 2);
            corners.swap(1, 2);
        }
        let area = area.abs() as f32;
        let xs = points.map(|point| point.0);
        let ys = points.map(|point| point.1);
        let left = (xs.iter().min().copied().unwrap_or(0) / ONE - 1).max(clip.left);
        let right = (xs.iter().max().copied().unwrap_or(0) / ONE + 2).min(clip.right);
        let top = (ys.iter().min().copied().unwrap_or(0) / ONE - 1).max(clip.top);
        let bottom = (ys.iter().max().copied().unwrap_or(0) / ONE + 2).min(clip.bottom);
        let bias = [
            top_left(points[1], points[2]),
            top_left(points[2], points[0]),
            top_left(points[0], points[1]),
        ];
        let colors = corners.map(|vertex| vertex.color.to_array().map(f32::from));
        // A triangle of one colour and one texel needs no interpolation per pixel.
        let is_flat = corners
            .iter()
            .all(|vertex| vertex.color == corners[0].color)
            && corners.iter().all(|vertex| vertex.uv == corners[0].uv);
        let flat =
            is_flat.then(|| modulate(texture.sample(corners[0].uv.x, corners[0].uv.y), colors[0]));
        for y in top..bottom {
            for x in left..right {
                let point = (x * ONE + ONE / 2, y * ONE + ONE / 2);
                let weights = [
                    edge(points[1], points[2], point),
                    edge(points[2], points[0], point),
                    edge(points[0], points[1], point),
                ];
                if (0..3).any(|i| weights[i] + bias[i] < 0) {
                    continue;
                }
                let source = flat.unwrap_or_else(|| {
                    let share = weights.map(|weight| weight as f32 / area);
                    let mix = |values: [f32; 3]| {
                        values[0] * share[0] + values[1] * share[1] + values[2] * share[2]
                    };
                    let u = mix([corners[0].uv.x, corners[1].uv.x, corners[2].uv.x]);
                    let v = mix([corners[0].uv.y, corners[1].uv.y, corners[2].uv.y]);
                    let color: [f32; 4] =
                        std::array::from_fn(|c| mix([colors[0][c], colors[1][c], colors[2][c]]));
                    modulate(texture.sample(u, v), color)
                });
                self.blend(x as usize, y as usize, source);
            }
        }
    }

    fn blend(&mut self, x: usize, y: usize, source: [f32; 4]) {
        if x >= self.width || y >= self.height {
            return;
        }
        let pixel = &mut self.pixels[y * self.width + x];
        let keep = 1.0 - source[3] / 255.0;
        for (channel, value) in pixel.iter_mut().zip(source) {
            *channel = (value + f32::from(*channel) * keep)
                .round()
                .clamp(0.0, 255.0) as u8;
        }
    }
}

/// Returns twice the area of the triangle, positive if it is clockwise on screen.
fn edge(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}

/// Returns 0 for top and left edges, whose own pixels are inside; -1 for the others.
fn top_left(a: (i64, i64), b: (i64, i64)) -> i64 {
    let is_top = a.1 == b.1 && b.0 > a.0;
    let is_left = b.1 < a.1;
    if is_top || is_left { 0 } else { -1 }
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
