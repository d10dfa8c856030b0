//! All colours and sizes of the window, for dark and light. The only file with raw colours.
#![allow(clippy::disallowed_methods, reason = "this is the home of raw colours")]

use egui::{Color32, CornerRadius, Stroke, Visuals};

use super::{fonts, part_names};
use crate::trace::ThreadState;

/// Share of the accent colour blended over selected rows of lists and tables.
const SELECTED: f32 = 0.40;
/// Share of the accent colour blended over a selected header.
pub(crate) const SELECTED_HEADER: f32 = 0.30;
/// Share of its colours that a disabled widget keeps.
const DISABLED: f32 = 0.68;

/// Colours of one theme.
#[derive(Clone, Debug)]
pub struct Palette {
    /// Whether text is light on dark.
    pub is_dark: bool,
    /// Background of the tracks.
    pub canvas: Color32,
    /// Background of every other track.
    pub canvas_alternate: Color32,
    /// Background of track headers, ruler and bars.
    pub panel: Color32,
    /// Background of group headers.
    pub group: Color32,
    /// Lines between rows.
    pub line: Color32,
    /// Lines of the time grid.
    pub grid: Color32,
    /// Text.
    pub text: Color32,
    /// Less prominent text.
    pub weak: Color32,
    /// Selection and emphasis.
    pub accent: Color32,
    /// The selected range.
    pub range: Color32,
    /// Errors.
    pub error: Color32,
    /// Markers A and B.
    pub marks: [Color32; 2],
    /// Gaps where events were lost.
    pub gap: Color32,
    /// Event density in the overview.
    pub density: Color32,
    /// Line of CPU use in the overview.
    pub cpu_use: Color32,
    /// Shade over the overview outside the brush.
    pub shade: Color32,
    /// Points.
    pub instant: Color32,
    /// Counters: fill and line.
    pub counter: (Color32, Color32),
    /// Flows.
    pub flow: Color32,
    /// Matches of the search.
    pub found: Color32,
    /// The critical chain of a build.
    pub chain: Color32,
}

/// Returns the palette of a theme.
#[must_use]
pub fn palette(theme: egui::Theme) -> Palette {
    let rgb = Color32::from_rgb;
    match theme {
        egui::Theme::Dark => Palette {
            is_dark: true,
            canvas: rgb(24, 26, 31),
            canvas_alternate: rgb(28, 30, 36),
            panel: rgb(33, 36, 42),
            group: rgb(42, 46, 54),
            line: rgb(50, 54, 62),
            grid: rgb(44, 47, 55),
            text: rgb(226, 229, 235),
            weak: rgb(163, 170, 182),
            accent: rgb(99, 179, 255),
            range: Color32::from_rgba_unmultiplied(99, 179, 255, 36),
            error: rgb(255, 123, 114),
            marks: [rgb(255, 196, 87), rgb(122, 222, 160)],
            gap: rgb(214, 92, 92),
            density: rgb(92, 112, 150),
            cpu_use: rgb(120, 200, 140),
            shade: Color32::from_rgba_unmultiplied(0, 0, 0, 130),
            instant: rgb(222, 184, 120),
            counter: (
                Color32::from_rgba_unmultiplied(105, 170, 225, 80),
                rgb(125, 190, 240),
            ),
            flow: rgb(235, 150, 90),
            found: rgb(255, 214, 64),
            chain: rgb(255, 123, 84),
        },
        egui::Theme::Light => Palette {
            is_dark: false,
            canvas: rgb(255, 255, 255),
            canvas_alternate: rgb(249, 250, 252),
            panel: rgb(241, 243, 246),
            group: rgb(226, 230, 236),
            line: rgb(214, 219, 227),
            grid: rgb(231, 234, 240),
            text: rgb(28, 33, 42),
            weak: rgb(88, 97, 112),
            accent: rgb(9, 96, 190),
            range: Color32::from_rgba_unmultiplied(9, 96, 190, 30),
            error: rgb(184, 32, 32),
            marks: [rgb(140, 84, 0), rgb(16, 112, 58)],
            gap: rgb(196, 60, 60),
            density: rgb(160, 176, 204),
            cpu_use: rgb(34, 139, 84),
            shade: Color32::from_rgba_unmultiplied(90, 100, 120, 70),
            instant: rgb(158, 102, 16),
            counter: (
                Color32::from_rgba_unmultiplied(40, 120, 190, 60),
                rgb(32, 108, 180),
            ),
            flow: rgb(200, 92, 20),
            found: rgb(196, 120, 0),
            chain: rgb(196, 48, 16),
        },
    }
}

impl Palette {
    /// Returns the colour for a hash: equal things have equal colours in every trace.
    #[must_use]
    pub(crate) fn of_hash(&self, hash: u64) -> Color32 {
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hue = (mixed >> 40) as f32 / (1_u64 << 24) as f32;
        let tone = ((mixed >> 32) & 0xff) as f32 / 255.0;
        if self.is_dark {
            hsl(hue, 0.42 + 0.12 * tone, 0.46 + 0.10 * (1.0 - tone))
        } else {
            hsl(hue, 0.55 + 0.12 * tone, 0.68 + 0.08 * (1.0 - tone))
        }
    }

    /// Returns the colour of a flag by its colour index.
    #[must_use]
    pub(crate) fn flag(&self, number: u8) -> Color32 {
        let hues = [0.12, 0.0, 0.55, 0.33, 0.8, 0.92];
        let hue = hues.get(usize::from(number)).copied().unwrap_or(0.12);
        hsl(hue, 0.75, if self.is_dark { 0.62 } else { 0.40 })
    }

    /// Returns the colour of a state during which events were lost: a little like that of gaps.
    #[must_use]
    pub(crate) fn doubtful(&self, state: Color32) -> Color32 {
        state.lerp_to_gamma(self.gap, 0.25)
    }

    /// Returns the colour of a thread that events name on a CPU without recorded runs, so that it may not have run all
    /// the time: halfway to the canvas.
    #[must_use]
    pub(crate) fn seen(&self, color: Color32) -> Color32 {
        color.lerp_to_gamma(self.canvas, 0.5)
    }

    /// Returns a receding colour, hardly different from the canvas.
    #[must_use]
    pub(crate) fn dimmed(&self, color: Color32) -> Color32 {
        let mix = |a: u8, b: u8| (u16::from(a) / 7 + u16::from(b) * 6 / 7) as u8;
        let ([r, g, b, _], [x, y, z, _]) = (color.to_array(), self.canvas.to_array());
        Color32::from_rgb(mix(r, x), mix(g, y), mix(b, z))
    }

    /// Returns the colour of text on a dimmed block: legible on close look.
    #[must_use]
    pub(crate) fn dimmed_text(&self, fill: Color32) -> Color32 {
        let mix = |a: u8, b: u8| (u16::from(a) * 2 / 5 + u16::from(b) * 3 / 5) as u8;
        let ([r, g, b, _], [x, y, z, _]) = (self.text.to_array(), fill.to_array());
        Color32::from_rgb(mix(r, x), mix(g, y), mix(b, z))
    }

    /// Returns the colour of a thread state. The colours also differ for colour-blind eyes (`colour_vision`).
    #[must_use]
    pub(crate) fn of_state(&self, state: ThreadState) -> Color32 {
        let rgb = Color32::from_rgb;
        let (dark, light) = match state {
            ThreadState::Running => (rgb(72, 166, 117), rgb(20, 119, 71)),
            ThreadState::Runnable => (rgb(227, 225, 137), rgb(240, 196, 32)),
            ThreadState::Preempted => (rgb(215, 119, 19), rgb(220, 149, 56)),
            ThreadState::Sleeping => (rgb(71, 77, 87), rgb(209, 216, 229)),
            ThreadState::Uninterruptible => (rgb(197, 57, 45), rgb(201, 42, 29)),
            ThreadState::Stopped | ThreadState::Traced => (rgb(167, 103, 209), rgb(103, 64, 163)),
            ThreadState::Created => (rgb(123, 217, 255), rgb(74, 154, 213)),
            ThreadState::Zombie | ThreadState::Dead => (rgb(49, 53, 57), rgb(231, 233, 235)),
            ThreadState::Parked | ThreadState::Idle => (rgb(97, 110, 120), rgb(175, 185, 203)),
            ThreadState::Unknown => (rgb(169, 172, 181), rgb(137, 137, 139)),
        };
        if self.is_dark { dark } else { light }
    }

    /// Returns black or white, whichever has more contrast with `fill`.
    #[must_use]
    pub(crate) fn text_on(fill: Color32) -> Color32 {
        let channel = |value: u8| {
            let value = f32::from(value) / 255.0;
            if value <= 0.04 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let luminance =
            0.2126 * channel(fill.r()) + 0.7152 * channel(fill.g()) + 0.0722 * channel(fill.b());
        // Black and white have equal contrast at a luminance of 0.179.
        if luminance > 0.179 {
            Color32::BLACK
        } else {
            Color32::WHITE
        }
    }
}

fn hsl(hue: f32, saturation: f32, lightness: f32) -> Color32 {
    let a = saturation * lightness.min(1.0 - lightness);
    let channel = |n: f32| {
        let k = (n + hue * 12.0) % 12.0;
        let value = lightness - a * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    Color32::from_rgb(channel(0.0), channel(8.0), channel(4.0))
}

/// Sets the style of all widgets for both themes.
pub fn install(ctx: &egui::Context) {
    fonts::install(ctx);
    part_names::install(ctx);
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let palette = palette(theme);
        let mut visuals = match theme {
            egui::Theme::Dark => Visuals::dark(),
            egui::Theme::Light => Visuals::light(),
        };
        visuals.panel_fill = palette.panel;
        visuals.window_fill = palette.panel;
        visuals.extreme_bg_color = palette.canvas;
        visuals.faint_bg_color = palette.canvas_alternate;
        visuals.override_text_color = Some(palette.text);
        visuals.hyperlink_color = palette.accent;
        visuals.weak_text_color = Some(palette.weak);
        visuals.disabled_alpha = DISABLED;
        visuals.selection.bg_fill = palette.accent.gamma_multiply(SELECTED);
        visuals.selection.stroke = Stroke::new(1.0, palette.text);
        visuals.widgets.noninteractive.bg_stroke = Stroke::new(1.0, palette.line);
        visuals.window_stroke = Stroke::new(1.0, palette.line);
        for widget in [
            &mut visuals.widgets.noninteractive,
            &mut visuals.widgets.inactive,
            &mut visuals.widgets.hovered,
            &mut visuals.widgets.active,
            &mut visuals.widgets.open,
        ] {
            widget.corner_radius = CornerRadius::same(3);
        }
        ctx.set_visuals_of(theme, visuals);
    }
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = egui::vec2(8.0, 4.0);
        // A faint scroll bar stays visible without the pointer: it shows that there is more content.
        style.spacing.scroll.dormant_handle_opacity = 0.35;
        style.spacing.button_padding = egui::vec2(8.0, 3.0);
        style.animation_time = 0.0;
    });
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

/// Returns a hash of a name without its digits, so that `worker 1` and `worker 2` get one colour.
#[must_use]
pub(crate) fn hash_name(name: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in name.iter().filter(|byte| !byte.is_ascii_digit()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(a: Color32, b: Color32) -> f32 {
        let luminance = |color: Color32| {
            let channel = |value: u8| {
                let value = f32::from(value) / 255.0;
                if value <= 0.04 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(color.r()) + 0.7152 * channel(color.g()) + 0.0722 * channel(color.b())
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Returns one colour blended over another with weight `share`.
    fn over(color: Color32, fill: Color32, share: f32) -> Color32 {
        let mix = |a: u8, b: u8| (f32::from(a) * share + f32::from(b) * (1.0 - share)) as u8;
        let ([r, g, b, _], [x, y, z, _]) = (color.to_array(), fill.to_array());
        Color32::from_rgb(mix(r, x), mix(g, y), mix(b, z))
    }

    #[test]
    fn text_can_be_read_also_where_something_is_selected_disabled_or_only_a_hint() {
        let ctx = egui::Context::default();
        install(&ctx);
        for theme in [egui::Theme::Dark, egui::Theme::Light] {
            let palette = palette(theme);
            let visuals = &ctx.style_of(theme).visuals;
            let fills = [palette.canvas, palette.panel];
            let headers = [palette.panel, palette.group];
            let selected = fills.map(|fill| over(palette.accent, fill, SELECTED));
            let selected_headers = headers.map(|fill| over(palette.accent, fill, SELECTED_HEADER));
            let disabled = fills.map(|fill| (over(palette.text, fill, DISABLED), fill));
            let hints = fills.map(|fill| (visuals.weak_text_color(), fill));
            let marks = fills
                .into_iter()
                .flat_map(|fill| palette.marks.map(|mark| (mark, fill)));
            let links = headers.map(|fill| (palette.accent, fill));
            let on = |fills: [Color32; 2]| fills.map(|fill| (palette.text, fill));
            let all = on(selected).into_iter().chain(on(selected_headers));
            for (text, fill) in all.chain(disabled).chain(hints).chain(marks).chain(links) {
                let ratio = contrast(text, fill);
                assert!(ratio >= 4.5, "{theme:?}: {text:?} on {fill:?} has {ratio}");
            }
        }
    }

    #[test]
    fn text_can_be_read_everywhere() {
        for theme in [egui::Theme::Dark, egui::Theme::Light] {
            let palette = palette(theme);
            for fill in [
                palette.canvas,
                palette.canvas_alternate,
                palette.panel,
                palette.group,
            ] {
                for text in [palette.text, palette.weak, palette.error] {
                    assert!(
                        contrast(text, fill) >= 4.5,
                        "{theme:?}: {text:?} on {fill:?}"
                    );
                }
            }
            for hash in 0..500_u64 {
                let fill = palette.of_hash(hash.wrapping_mul(0x1234_5678_9abc_def1));
                assert!(contrast(Palette::text_on(fill), fill) >= 4.5, "{fill:?}");
            }
            for state in ThreadState::ALL {
                let fill = palette.of_state(state);
                assert!(contrast(Palette::text_on(fill), fill) >= 4.5, "{state:?}");
            }
        }
    }
}
