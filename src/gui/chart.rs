//! Charts that several panes draw: a histogram of durations in which a range can be dragged, and percentile curves.

use std::ops::Range;

use egui::{Color32, Stroke, Ui};
use egui_plot::{
    AxisHints, Bar, BarChart, GridInput, GridMark, HoverPosition, Line, Plot, PlotPoints, Points,
    Span,
};

use super::pane::Scene;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::event::part::ClockUnit;
use crate::query::distribution::{Buckets, Histogram};
use crate::view::ruler;

/// Axes of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistogramStyle {
    /// Scale of x.
    pub buckets: Buckets,
    /// Scale of y.
    pub heights: Heights,
}

/// Scale of the bars' heights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heights {
    /// Proportional to the count.
    Linear,
    /// Logarithmic, so that rare durations are visible beside frequent ones.
    Log,
}

/// Returns the x coordinate of a duration.
#[must_use]
pub(crate) fn place(ns: f64, buckets: Buckets) -> f64 {
    match buckets {
        Buckets::Linear => ns,
        Buckets::Log => (ns.max(0.0) + 1.0).log10(),
    }
}

fn length_at(x: f64, buckets: Buckets) -> f64 {
    match buckets {
        Buckets::Linear => x,
        Buckets::Log => 10_f64.powf(x.min(18.9)) - 1.0,
    }
}

fn height(count: u64, heights: Heights) -> f64 {
    match heights {
        Heights::Linear => count as f64,
        Heights::Log => (count as f64 + 1.0).log10(),
    }
}

/// Returns a duration in few digits, for axes.
#[must_use]
pub(crate) fn short_length(ns: f64, unit: ClockUnit) -> String {
    length_apart(ns, f64::INFINITY, unit)
}

/// Returns a duration with enough digits that marks `step` apart have different texts.
fn length_apart(ns: f64, step: f64, unit: ClockUnit) -> String {
    let whole = ns.round().clamp(-9e18, 9e18);
    if unit != ClockUnit::Nanoseconds {
        return ruler::grouped(whole as i64);
    }
    let size = whole.abs();
    let (by, word) = match size {
        _ if size < 1e3 => (1.0, "ns"),
        _ if size < 1e6 => (1e3, "µs"),
        _ if size < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = whole / by;
    let digits = if step < by {
        (((by / step).log10() - 1e-6).ceil() as usize).min(9)
    } else {
        usize::from(value.fract().abs() > 0.05 && value.abs() < 100.0)
    };
    format!("{value:.digits$} {word}")
}

/// Returns the text of a mark on an axis of durations.
#[must_use]
pub(crate) fn mark_text(mark: GridMark, buckets: Buckets, unit: ClockUnit) -> String {
    let ns = length_at(mark.value, buckets);
    let step = length_at(mark.value + mark.step_size, buckets) - ns;
    length_apart(ns, step, unit)
}

/// Width in points of the smallest step of a plot's grid: the step that [`egui_plot`] passes to grid spacers.
const BASE_POINTS: f64 = 8.0;
/// Space that a mark's label needs along x and along y, in points.
pub(crate) const ROOM_ACROSS: f64 = 46.0;
const ROOM_UP: f64 = 14.0;

/// Returns the next of 1, 2, 5, 10, 20 ... that is at least `least`.
fn round_step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|by| by * decade >= least);
    factor.unwrap_or(10.0) * decade
}

/// Returns a grid spacer for a logarithmic axis: marks at 1, 2, 5, 10, 20 ..., as many as fit with `room` points each;
/// at round numbers if the axis is too short for those.
pub(crate) fn decades(room: f64) -> impl Fn(GridInput) -> Vec<GridMark> {
    move |input| decades_of(&input, room)
}

/// Returns the range for labels at least `least` points apart, drawn in full colour: faded labels are unreadable.
#[must_use]
pub(crate) fn labels_apart(least: f32) -> std::ops::RangeInclusive<f32> {
    least..=least + 0.01
}

/// Returns [`decades`] for the x axis, without marks whose labels would be cut at the right edge.
pub(crate) fn decades_across() -> impl Fn(GridInput) -> Vec<GridMark> {
    |input| without_cut(decades_of(&input, ROOM_ACROSS), &input)
}

/// Half the width of the widest label along x, in points, minus the space that a plot leaves at its right.
const HALF_WORDS: f64 = 15.0;

fn without_cut(mut marks: Vec<GridMark>, input: &GridInput) -> Vec<GridMark> {
    let points = BASE_POINTS / input.base_step_size;
    marks.retain(|mark| (input.bounds.1 - mark.value) * points >= HALF_WORDS);
    marks
}

/// Returns marks at round durations, as many as fit along x.
fn lengths_across(input: GridInput) -> Vec<GridMark> {
    let step = round_step((input.base_step_size / BASE_POINTS * 1.4 * ROOM_ACROSS).max(1.0));
    without_cut(marks_at(step, &input), &input)
}

fn decades_of(input: &GridInput, room: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let mut marks: Vec<GridMark> = Vec::new();
    let (least, most) = (length_at(low, Buckets::Log), length_at(high, Buckets::Log));
    if most - least < 4.0 {
        // On an axis of only a few nanoseconds, all marks would have the same text.
        return vec![GridMark {
            value: low.midpoint(high),
            step_size: high - low,
        }];
    }
    let decade_points = BASE_POINTS / input.base_step_size;
    let is_long = decade_points < room;
    let digits: &[(f64, f64)] = if is_long {
        // Only thousands (ns, µs, ms, s): three decades apart.
        &[(1.0, 3.0)]
    } else {
        &[(1.0, 1.0), (2.0, 0.25), (5.0, 0.25)]
    };
    for decade in low.floor().max(0.0) as i32..=high.ceil().min(19.0) as i32 {
        if is_long && decade % 3 != 0 {
            continue;
        }
        // A larger step lets thousands (1 µs, 1 ms) keep their labels where not all fit.
        let thousand = if decade % 3 == 0 { 3.0 } else { 1.0 };
        for &(digit, step_size) in digits {
            let step_size = if digit == 1.0 { thousand } else { step_size };
            let value = (digit * 10_f64.powi(decade) + 1.0).log10();
            if (low..=high).contains(&value) {
                marks.push(GridMark { value, step_size });
            }
        }
    }
    let with_room = marks
        .iter()
        .filter(|it| it.step_size * decade_points >= room);
    if with_room.count() < 2 {
        let many = ((high - low) * decade_points / (1.6 * room)).clamp(1.0, 6.0);
        marks = round_marks(least, most, round_step((most - least) / many));
    }
    marks
}

/// Returns marks at round numbers of a logarithmic axis.
fn round_marks(least: f64, most: f64, step: f64) -> Vec<GridMark> {
    let first = (least / step).ceil() as i64;
    let at = |number: i64| place(number as f64 * step, Buckets::Log);
    (first..first + 12)
        .filter(|&number| number as f64 * step <= most)
        .map(|number| GridMark {
            value: at(number),
            step_size: at(number + 1) - at(number),
        })
        .collect()
}

/// Returns marks at round counts, as many as fit along y.
#[must_use]
pub(crate) fn count_marks(input: GridInput) -> Vec<GridMark> {
    let step = round_step((input.base_step_size * 3.0).max(1.0));
    marks_at(step, &input)
}

/// Returns marks at multiples of `step` within the axis, at most 200.
fn marks_at(step: f64, input: &GridInput) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let first = (low / step).ceil() as i64;
    (first..first + 200)
        .map(|number| number as f64 * step)
        .take_while(|value| *value <= high)
        .map(|value| GridMark {
            value,
            step_size: step,
        })
        .collect()
}

/// Returns marks at the ticks of the ruler, for an x axis that starts at time `start` and has `per_nano` units per ns.
#[must_use]
pub(crate) fn time_marks(
    input: &GridInput,
    start: Timestamp,
    per_nano: f64,
    zero: Timestamp,
) -> Vec<GridMark> {
    let point = input.base_step_size / BASE_POINTS;
    let step = ruler::step_for(point / per_nano * 80.0);
    let time = |place: f64| start.saturating_add(Nanos((place / per_nano) as i64));
    // A label at the right edge would be cut.
    let (low, high) = (input.bounds.0, input.bounds.1 - 14.0 * point);
    let span = TimeSpan::new(time(low), time(high.max(low)));
    let marks = ruler::ticks(span, zero, step).map(|tick| GridMark {
        value: tick.0.saturating_sub(start.0) as f64 * per_nano,
        step_size: step.0 as f64 * per_nano,
    });
    marks.collect()
}

/// Draws a histogram; a drag chooses a range of durations, a click clears it.
pub(crate) fn histogram_ui(
    ui: &mut Ui,
    scene: &Scene<'_>,
    name: &str,
    histogram: &Histogram,
    style: HistogramStyle,
    chosen: &mut Option<Range<i64>>,
    drag_from: &mut Option<i64>,
) {
    let unit = scene.state.origins.unit;
    let (buckets, heights) = (style.buckets, style.heights);
    let palette = scene.palette;
    let bars: Vec<Bar> = histogram
        .edges
        .windows(2)
        .zip(&histogram.counts)
        .map(|(edges, &count)| {
            let left = place(edges[0] as f64, buckets);
            let right = place(edges[1] as f64, buckets);
            // Without a chosen range all bars are highlighted.
            let is_in = (chosen.as_ref())
                .is_none_or(|chosen| edges[1] > chosen.start && edges[0] < chosen.end);
            let color = if is_in {
                palette.accent
            } else {
                palette.density
            };
            Bar::new(left.midpoint(right), height(count, heights))
                .width(right - left)
                .fill(color)
                .stroke(Stroke::new(1.0, palette.canvas))
        })
        .collect();
    let counts = histogram.clone();
    let range = palette.range;
    let shown = chosen.clone();
    let plot = Plot::new(name)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .show_crosshair(false)
        .include_y(0.0)
        .grid_color(palette.line)
        .grid_fade(0.25)
        .set_margin_fraction(egui::vec2(0.01, 0.06))
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label_spacing(labels_apart(38.0))
                .tick_label_color(palette.weak)
                .formatter(move |mark, _| mark_text(mark, buckets, unit)),
        ])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .label_spacing(labels_apart(12.0))
                .tick_label_color(palette.weak)
                .formatter(move |mark, _| match heights {
                    Heights::Linear if mark.value.fract() == 0.0 => short_count(mark.value),
                    Heights::Linear => String::new(),
                    Heights::Log => short_count((10_f64.powf(mark.value.min(18.0)) - 1.0).round()),
                }),
        ])
        .label_formatter(move |at| {
            let (HoverPosition::NearDataPoint { position, .. }
            | HoverPosition::Elsewhere { position }) = at;
            let ns = length_at(position.x, buckets);
            let bucket = counts.edges.partition_point(|&edge| edge as f64 <= ns);
            let bucket = bucket.checked_sub(1)?;
            let count = counts.counts.get(bucket)?;
            let (low, high) = (counts.edges.get(bucket)?, counts.edges.get(bucket + 1)?);
            Some(format!(
                "{} to {}\n{} ({} together)",
                ruler::length_text(Nanos(*low), unit),
                ruler::length_text(Nanos(*high), unit),
                ruler::grouped(*count as i64),
                short_length(counts.sums.get(bucket).copied().unwrap_or(0) as f64, unit),
            ))
        });
    let plot = match buckets {
        Buckets::Log => plot.x_grid_spacer(decades_across()),
        Buckets::Linear => plot.x_grid_spacer(lengths_across),
    };
    let plot = match heights {
        Heights::Log => plot.y_grid_spacer(decades(ROOM_UP)),
        Heights::Linear => plot.y_grid_spacer(count_marks),
    };
    let answer = plot.show(ui, |plot| {
        if let Some(Range { start, end }) = shown {
            let (low, high) = (place(start as f64, buckets), place(end as f64, buckets));
            plot.span(Span::new("", low..=high).fill(range).border_width(0.0));
        }
        plot.bar_chart(BarChart::new("", bars).allow_hover(false));
    });
    let response = answer.response;
    let label = name.to_owned();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, label.clone()));
    let at = response.interact_pointer_pos().map(|pos| {
        let x = answer.transform.value_from_position(pos).x;
        length_at(x, buckets).clamp(0.0, 9e18) as i64
    });
    if response.drag_started() {
        let origin = ui.input(|input| input.pointer.press_origin());
        *drag_from = origin.map(|pos| {
            let x = answer.transform.value_from_position(pos).x;
            length_at(x, buckets).clamp(0.0, 9e18) as i64
        });
    }
    if let (true, Some(from), Some(at)) = (response.dragged(), *drag_from, at) {
        *chosen = Some(from.min(at)..from.max(at).saturating_add(1));
    }
    if response.clicked() {
        *chosen = None;
    }
    response.on_hover_cursor(egui::CursorIcon::Crosshair);
}

fn short_count(count: f64) -> String {
    match count.abs() {
        size if size >= 1e9 => format!("{:.0} G", count / 1e9),
        size if size >= 1e6 => format!("{:.0} M", count / 1e6),
        size if size >= 1e4 => format!("{:.0} k", count / 1e3),
        _ => format!("{count:.0}"),
    }
}

/// A percentile curve with its name and colour.
pub(crate) struct Curve {
    /// Title of the curve.
    pub name: String,
    /// Points as (percent, ns), increasing.
    pub points: Vec<[f64; 2]>,
    /// Colour of the curve.
    pub color: Color32,
}

/// Returns the text of a mark on the percentile axis, which is logarithmic in the distance to 100 %.
fn percent_text(place: f64) -> String {
    let percent = 100.0 - 100.0 * 10_f64.powf(-place);
    if percent >= 99.998 {
        return "max".to_owned();
    }
    let text = format!("{percent:.2}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Draws percentile curves: percent along x, stretched towards 100 %; durations along y, logarithmic.
pub(crate) fn curves_ui(ui: &mut Ui, scene: &Scene<'_>, name: &str, curves: &[Curve]) {
    let unit = scene.state.origins.unit;
    // The distance from 99.9 % to 99.99 % equals that from 99 % to 99.9 %.
    let across = |percent: f64| -((100.0 - percent).max(0.001) / 100.0).log10();
    let plot = Plot::new(name)
        .allow_scroll(false)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .set_margin_fraction(egui::vec2(0.02, 0.06))
        .grid_color(scene.palette.line)
        .grid_fade(0.25)
        .include_x(0.0)
        .x_grid_spacer(|input| {
            // Marks with a larger step keep their label in a narrower chart.
            let marks = [
                (50.0, 1.7),
                (90.0, 0.7),
                (99.0, 1.7),
                (99.9, 1.0),
                (99.99, 1.0),
                (100.0, 1.7),
            ];
            let marks = marks
                .into_iter()
                .map(|(percent, step_size): (f64, f64)| GridMark {
                    value: -((100.0 - percent).max(0.001) / 100.0).log10(),
                    step_size,
                });
            let (low, high) = input.bounds;
            marks
                .filter(|mark| (low..=high).contains(&mark.value))
                .collect()
        })
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label_spacing(labels_apart(38.0))
                .tick_label_color(scene.palette.weak)
                .formatter(|mark, _| percent_text(mark.value)),
        ])
        .y_grid_spacer(decades(ROOM_UP))
        .custom_y_axes(vec![
            AxisHints::new_y()
                .label_spacing(labels_apart(12.0))
                .tick_label_color(scene.palette.weak)
                .formatter(move |mark, _| mark_text(mark, Buckets::Log, unit)),
        ])
        .label_formatter(move |at| match at {
            HoverPosition::NearDataPoint {
                plot_name,
                position,
                ..
            } => Some(format!(
                "{plot_name}\n{:.2} % take at most {}",
                100.0 - 100.0 * 10_f64.powf(-position.x),
                short_length(length_at(position.y, Buckets::Log), unit)
            )),
            HoverPosition::Elsewhere { .. } => None,
        });
    let answer = plot.show(ui, |plot| {
        for curve in curves {
            let points: Vec<[f64; 2]> = curve
                .points
                .iter()
                .map(|[percent, ns]| [across(*percent), place(*ns, Buckets::Log)])
                .collect();
            if let [only] = points[..] {
                let dot = Points::new(curve.name.clone(), vec![only]);
                plot.points(dot.color(curve.color).radius(3.5));
                continue;
            }
            let line = Line::new(curve.name.clone(), PlotPoints::from(points));
            plot.line(line.color(curve.color).width(1.8).allow_band(false));
        }
    });
    let label = name.to_owned();
    answer
        .response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, label.clone()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(low: f64, high: f64, points: f64) -> GridInput {
        GridInput {
            bounds: (low, high),
            base_step_size: (high - low) / points * BASE_POINTS,
        }
    }

    #[test]
    fn axes_have_round_marks_with_room_for_words() {
        let texts = |input: &GridInput| -> Vec<String> {
            let unit = ClockUnit::Nanoseconds;
            let scale = BASE_POINTS / input.base_step_size;
            let marks = decades_of(input, ROOM_ACROSS).into_iter();
            let shown = marks.filter(|mark| mark.step_size * scale >= ROOM_ACROSS);
            shown
                .map(|mark| mark_text(mark, Buckets::Log, unit))
                .collect()
        };
        // Within a decade, marks are at round numbers.
        let short = input(311e3_f64.log10(), 390e3_f64.log10(), 400.0);
        assert_eq!(texts(&short), ["320 µs", "340 µs", "360 µs", "380 µs"]);
        let long = input(0.0, 8.0, 800.0);
        assert_eq!(texts(&long).len(), 8, "{:?}", texts(&long));
        let narrow = input(0.0, 8.0, 200.0);
        assert_eq!(texts(&narrow), ["1 ns", "1 µs", "1 ms"]);
        let values = |most: f64, points| -> Vec<f64> {
            count_marks(input(0.0, most, points))
                .iter()
                .map(|mark| mark.value)
                .collect()
        };
        assert_eq!(values(17.0, 80.0), [0.0, 10.0]);
        assert_eq!(values(2.1, 80.0), [0.0, 1.0, 2.0]);
        assert_eq!(
            values(370.0, 200.0),
            [0.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0]
        );
    }

    #[test]
    fn words_of_marks_end_before_the_edge() {
        for (high, points) in [(7.0, 370.0), (7.0, 372.0), (6.2, 120.0), (8.9, 900.0)] {
            let input = || input(0.0, high, points);
            let across = decades_across()(input());
            let cut = |mark: &GridMark| (high - mark.value) * points / high < HALF_WORDS;
            assert!(
                !across.is_empty() && !across.iter().any(cut),
                "{high} {points}"
            );
        }
        let all = lengths_across(input(0.0, 5_000_000.0, 340.0));
        let values: Vec<f64> = all.iter().map(|mark| mark.value).collect();
        assert_eq!(values, [0.0, 1e6, 2e6, 3e6, 4e6]);
    }

    #[test]
    fn marks_that_lie_close_read_differently() {
        let text = |ns, step| length_apart(ns, step, ClockUnit::Nanoseconds);
        assert_eq!(text(1.2e9, 1e9), "1.2 s");
        assert_eq!(text(1.2e9, 5e6), "1.200 s");
        assert_eq!(text(1.205e9, 5e6), "1.205 s");
        assert_eq!(text(20e6, 10e6), "20 ms");
        assert_eq!(short_length(49_354.0, ClockUnit::Nanoseconds), "49.4 µs");
    }
}
