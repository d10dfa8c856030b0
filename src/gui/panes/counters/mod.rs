//! A pane that plots chosen counters over the timeline's time: their values, changes or rates.

mod series;

use egui::{RichText, Ui};
use egui_plot::{GridMark, HoverPosition, Line, Plot, PlotPoints, VLine};
use rustc_hash::FxHashMap;

use self::series::{Mode, points};
use crate::base::{Nanos, Timestamp};
use crate::export::escaped::tsv_line;
use crate::gui::boxes::check_box;
use crate::gui::chart::{labels_apart, time_marks};
use crate::gui::pane::{Pane, Scene, empty_ui};
use crate::gui::table::{filtered_ui, number_text};
use crate::load::TraceId;
use crate::query::Item;
use crate::tables::Cell;
use crate::tables::groups::{Numbered, name_of_counter, owner_of_counter};
use crate::trace::{CounterTrackId, Trace};
use crate::view::scale::zoomed;
use crate::view::{Action, Effect, ruler};

/// Returns the pane.
pub fn make() -> Box<dyn Pane> {
    Box::<CountersPane>::default()
}

/// The most counters that are plotted at once.
const MOST: usize = 8;
/// The most counters that are chosen initially.
const AT_FIRST: usize = 3;

/// The least height of a plot with its name, in points.
const LEAST_HEIGHT: f32 = 46.0;

/// The width of the values left of each plot, in points: equal, so that times align across plots.
const VALUES_WIDTH: f32 = 72.0;

/// The height of the times below the last plot, in points.
const TIMES_HEIGHT: f32 = 18.0;

/// Whether a plot has times below it: only the last one does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Shown,
    Hidden,
}

#[derive(Default)]
struct CountersPane {
    chosen: Vec<CounterTrackId>,
    /// The trace to which `chosen` and `names` belong.
    trace: Option<TraceId>,
    filter: String,
    mode: Mode,
    /// Cached: a trace may have a hundred thousand names.
    names: Vec<String>,
}

impl Pane for CountersPane {
    fn ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        let trace = &scene.loaded.trace;
        if trace.counters.tracks.is_empty() {
            let words = "This trace has no counters. They come from cpu_frequency, cpu_idle and other events with a numeric state, from counter events of FXT, and from C marks of atrace. Shift+P makes one of a number of any event.";
            empty_ui(ui, scene, words);
            return actions;
        }
        if self.trace != Some(scene.loaded.id) {
            self.begin(scene);
        }
        ui.horizontal_wrapped(|ui| {
            for (mode, word, about) in [
                (Mode::Value, "Value", "The value as it was sampled"),
                (Mode::Delta, "Change", "How much it changed from sample to sample, or from pixel to pixel where samples are denser"),
                (Mode::Rate, "Rate", "Change per second"),
            ] {
                let button = egui::Button::selectable(self.mode == mode, word);
                if ui.add(button).on_hover_text(about).clicked() {
                    self.mode = mode;
                }
            }
            ui.separator();
            let copy = ui.button("Copy").on_hover_text("Copy the plotted points as tab-separated text");
            if copy.clicked() {
                actions.push(Action::Do(Effect::Copy(self.text(scene))));
            }
            let words = format!(
                "{} of {}. Drag a plot to pan, Ctrl+wheel to zoom: the timeline moves along.",
                self.chosen.len(),
                ruler::counted(trace.counters.tracks.len(), "counter", "counters")
            );
            ui.label(RichText::new(words).color(scene.palette.weak));
        });
        egui::Panel::left("choose counters")
            .resizable(true)
            .default_size(230.0)
            .show(ui, |ui| {
                ui.set_min_size(ui.available_size());
                self.choose_ui(ui, scene);
            });
        if self.chosen.is_empty() {
            ui.label(RichText::new("Choose counters at the left.").color(scene.palette.weak));
            return actions;
        }
        let gaps = ui.spacing().item_spacing.y * self.chosen.len() as f32;
        let room = ui.available_height() - gaps - TIMES_HEIGHT;
        let height = (room / self.chosen.len() as f32).max(LEAST_HEIGHT);
        let chosen = self.chosen.clone();
        egui::ScrollArea::vertical()
            .id_salt("counter plots")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let last = chosen.len() - 1;
                for (at, id) in chosen.into_iter().enumerate() {
                    let (times, height) = if at == last {
                        (Times::Shown, height + TIMES_HEIGHT)
                    } else {
                        (Times::Hidden, height)
                    };
                    self.plot_ui(ui, scene, id, height, times, &mut actions);
                }
            });
        actions
    }
}

impl CountersPane {
    fn begin(&mut self, scene: &Scene<'_>) {
        let trace = &scene.loaded.trace;
        self.trace = Some(scene.loaded.id);
        self.names = full_names(trace);
        // Counters that change are more interesting than constant ones.
        let mut lively: Vec<u32> = (0..trace.counters.tracks.len() as u32).collect();
        lively.sort_by_key(|&id| {
            let track = trace.counters.tracks.get(id as usize);
            let samples = track.map_or(0, |track| track.samples.len());
            let is_flat = track.is_none_or(|track| track.range.0 >= track.range.1);
            (is_flat, std::cmp::Reverse(samples), id)
        });
        let mut first: Vec<CounterTrackId> = lively
            .into_iter()
            .take(AT_FIRST)
            .map(CounterTrackId)
            .collect();
        if let Some(Item::Sample(id, _)) = scene.state.selected
            && !first.contains(&id)
        {
            first.insert(0, id);
        }
        self.chosen = first;
        // Plots have the order of the list.
        self.chosen.sort_unstable();
    }

    fn choose_ui(&mut self, ui: &mut Ui, scene: &Scene<'_>) {
        let field = egui::TextEdit::singleline(&mut self.filter)
            .hint_text("Filter counters")
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::TextInput, true, "Filter counters")
        });
        let wanted = self.filter.to_lowercase();
        let names = self.names.iter().zip(0..);
        let shown: Vec<u32> = names
            .filter(|(name, _)| wanted.is_empty() || name.to_lowercase().contains(&wanted))
            .map(|(_, id)| id)
            .collect();
        if shown.is_empty() {
            let count = ruler::counted(self.names.len(), "counter", "counters");
            if filtered_ui(ui, scene, &format!("The filter hides {count}.")) {
                self.filter.clear();
            }
        }
        egui::ScrollArea::vertical()
            .id_salt("counter names")
            .auto_shrink([false, false])
            .show_rows(ui, 18.0, shown.len(), |ui, rows| {
                for &id in shown.get(rows).unwrap_or_default() {
                    let Some(name) = self.names.get(id as usize) else {
                        continue;
                    };
                    let id = CounterTrackId(id);
                    let mut is_chosen = self.chosen.contains(&id);
                    if check_box(ui, &mut is_chosen, name).changed() {
                        if is_chosen {
                            let many = (self.chosen.len() + 1).saturating_sub(MOST);
                            self.chosen.drain(..many);
                            self.chosen.push(id);
                            self.chosen.sort_unstable();
                        } else {
                            self.chosen.retain(|other| *other != id);
                        }
                    }
                }
            });
    }

    fn plot_ui(
        &self,
        ui: &mut Ui,
        scene: &Scene<'_>,
        id: CounterTrackId,
        height: f32,
        times: Times,
        actions: &mut Vec<Action>,
    ) {
        let state = scene.state;
        let span = state.span;
        let origin = state.trace_span.start;
        let columns = ui.available_width().clamp(50.0, 4000.0) as u32;
        let points = points(scene.loaded, id, span, columns, origin.0, self.mode);
        let name = self.names.get(id.0 as usize).cloned().unwrap_or_default();
        let color = scene.palette.counter.1;
        let x = |time: Timestamp| (time - origin).0 as f64;
        let (left, right) = (x(span.start), x(span.end));
        let hover = state.hover.map(x);
        let (accent, weak) = (scene.palette.accent, scene.palette.weak);
        let range = state.range.map(|range| (x(range.start), x(range.end)));
        let range_color = scene.palette.range;
        let title = name.clone();
        let (low, high) = bounds_of(&points);
        // A constant counter needs a range of values, too.
        let level = if low == high {
            (low.abs() / 20.0).max(0.5)
        } else {
            0.0
        };
        let mode = self.mode;
        let before = ui.cursor().top();
        let heading = RichText::new(&name).size(12.0);
        ui.add(egui::Label::new(heading).truncate());
        let height = height - (ui.cursor().top() - before);
        let (format, origins) = (state.time_format, state.origins);
        let zero = ruler::zero_of(format, origins);
        let answer = Plot::new(("counter", id.0))
            .height(height)
            .allow_drag(false)
            .allow_zoom(false)
            .allow_scroll(false)
            .allow_boxed_zoom(false)
            .allow_axis_zoom_drag(false)
            .allow_double_click_reset(false)
            .show_axes([times == Times::Shown, true])
            .grid_color(scene.palette.line)
            .grid_fade(0.25)
            .set_margin_fraction(egui::vec2(0.0, 0.1))
            .x_grid_spacer(move |input| time_marks(&input, origin, 1.0, zero))
            .custom_x_axes(vec![
                egui_plot::AxisHints::new_x()
                    .label_spacing(labels_apart(60.0))
                    .tick_label_color(weak)
                    .formatter(move |mark, _| {
                        let time = origin.saturating_add(Nanos(mark.value as i64));
                        ruler::tick_text(time, Nanos(mark.step_size as i64), format, origins)
                    }),
            ])
            .custom_y_axes(vec![
                egui_plot::AxisHints::new_y()
                    .label_spacing(labels_apart(12.0))
                    .min_thickness(VALUES_WIDTH)
                    .tick_label_color(weak)
                    .formatter(move |mark, _| level_text(mark.value, mode)),
            ])
            .include_y(low - level)
            .include_y(high + level)
            .y_grid_spacer(move |_| level_marks(low, high))
            .label_formatter(move |at| match at {
                HoverPosition::NearDataPoint {
                    plot_name,
                    position,
                    ..
                } if !plot_name.is_empty() => {
                    let time = Timestamp(origin.0.saturating_add(position.x as i64));
                    let time = ruler::full_text(time, format, origins);
                    Some(format!(
                        "{plot_name}\n{} at {time}",
                        value_text(position.y, mode)
                    ))
                }
                _ => None,
            })
            .show(ui, |plot| {
                plot.set_plot_bounds_x(left..=right);
                if let Some((from, until)) = range {
                    let span = egui_plot::Span::new("", from..=until);
                    plot.span(span.fill(range_color).border_width(0.0));
                }
                let line = Line::new(title, PlotPoints::from(points));
                plot.line(line.color(color).width(1.5).allow_band(false));
                if let Some(hover) = hover {
                    plot.vline(VLine::new("", hover).color(weak).width(1.0));
                }
            });
        let response = answer.response;
        let label = name.clone();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, label.clone()));
        let painter = ui.painter_at(response.rect);
        if response.dragged() {
            let per_point = (right - left) / f64::from(response.rect.width().max(1.0));
            let by = (-f64::from(response.drag_delta().x) * per_point) as i64;
            actions.push(Action::Drag(span.shifted(crate::base::Nanos(by))));
        }
        if let Some(pos) = response.hover_pos() {
            let at = answer.transform.value_from_position(pos).x;
            let time = Timestamp(origin.0.saturating_add(at as i64));
            let zoom = ui.input(egui::InputState::zoom_delta);
            if zoom != 1.0 {
                actions.push(Action::Drag(zoomed(span, 1.0 / f64::from(zoom), time)));
            }
            painter.vline(
                pos.x,
                response.rect.y_range(),
                egui::Stroke::new(1.0, accent),
            );
        }
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            let at = answer.transform.value_from_position(pos).x;
            let time = origin.0.saturating_add(at as i64);
            let trace = &scene.loaded.trace;
            let track = trace.counters.tracks.get(id.0 as usize);
            let row = track.and_then(|it| trace.counters.sample_at(it, Timestamp(time)));
            actions.extend(row.map(|row| Action::Select(Item::Sample(id, row))));
        }
    }

    fn text(&self, scene: &Scene<'_>) -> String {
        let mut text = "counter\tts\tvalue\n".to_owned();
        let start = scene.state.trace_span.start.0;
        for &id in &self.chosen {
            let name = self.names.get(id.0 as usize).cloned().unwrap_or_default();
            for [at, value] in points(scene.loaded, id, scene.state.span, 2000, start, self.mode) {
                let time = start.saturating_add(at as i64);
                let cells = [Cell::from(name.as_str()), time.into(), value.into()];
                text.push_str(&tsv_line(&cells));
            }
        }
        text
    }
}

/// Returns a value with all its digits.
fn value_text(value: f64, mode: Mode) -> String {
    match mode {
        Mode::Rate => format!("{} a second", number_text(value)),
        Mode::Value | Mode::Delta => number_text(value),
    }
}

/// Returns a value for the axis of a plot: all digits if they are few, otherwise three digits with a suffix for
/// thousands, millions ...
fn level_text(value: f64, mode: Mode) -> String {
    let (most, after) = match mode {
        Mode::Rate => (6, "/s"),
        Mode::Value | Mode::Delta => (9, ""),
    };
    let whole = number_text(value);
    if whole.len() <= most {
        return format!("{whole}{after}");
    }
    let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
    let step = steps.into_iter().find(|(by, _)| value.abs() >= *by);
    let Some((by, word)) = step.filter(|_| value.abs() < 1e15) else {
        return format!("{value:.1e}{after}");
    };
    let short = value / by;
    let decimals = match short.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let space = if word.is_empty() { "" } else { " " };
    format!("{short:.decimals$}{space}{word}{after}")
}

/// Returns the lowest and the highest of the values.
fn bounds_of(points: &[[f64; 2]]) -> (f64, f64) {
    let values = points
        .iter()
        .map(|point| point[1])
        .filter(|it| it.is_finite());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Returns the values at the axis of a plot: the lowest and the highest, for which even a low plot has room.
fn level_marks(low: f64, high: f64) -> Vec<GridMark> {
    let mark = |value: f64, step_size: f64| GridMark { value, step_size };
    if low > high {
        return Vec::new();
    }
    if low == high {
        return vec![mark(low, low.abs().max(1.0))];
    }
    vec![mark(low, high - low), mark(high, high - low)]
}

/// Returns the names of all counters with those of their owners. Owners of one name have their numbers if they have
/// counters of one name.
fn full_names(trace: &Trace) -> Vec<String> {
    let ids = || (0..trace.counters.tracks.len() as u32).map(CounterTrackId);
    let joined = |id, owner: String| {
        let name = name_of_counter(trace, id);
        match owner.is_empty() || name.contains(&owner) {
            true => name,
            false => format!("{name} · {owner}"),
        }
    };
    let short = |id| joined(id, owner_of_counter(trace, id, Numbered::No));
    let short: Vec<String> = ids().map(short).collect();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for name in &short {
        *counts.entry(name).or_default() += 1;
    }
    let name = |(id, short): (CounterTrackId, &String)| match counts.get(short.as_str()) {
        Some(1) => short.clone(),
        _ => joined(id, owner_of_counter(trace, id, Numbered::Yes)),
    };
    ids().zip(&short).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beside_a_plot_fit_there() {
        let text = |value| level_text(value, Mode::Value);
        assert_eq!(text(229_202.0), "229 202");
        assert_eq!(text(0.25), "0.250");
        assert_eq!(text(-11_568_477_598.715), "-11.6 G");
        assert_eq!(text(9_876_543_210.0), "9.88 G");
        assert_eq!(text(0.0), "0");
        let rate = |value| level_text(value, Mode::Rate);
        assert_eq!(rate(-11_568_477_598.715), "-11.6 G/s");
        assert_eq!(rate(12.5), "12.500/s");
        assert_eq!(rate(123.456_7), "123/s");
        assert_eq!(rate(250.0), "250/s");
        assert_eq!(rate(3e17), "3.0e17/s");
    }
}
