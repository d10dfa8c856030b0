//! What the user plots is made off the window's thread: the trace that is shown becomes one with these counters.

use std::sync::Arc;

use egui::{RichText, Ui};

use super::app::App;
use super::asked::Asked;
use super::notices::Mood;
use super::pane::TraceKey;
use super::theme::Palette;
use crate::base::{Cancelled, Job};
use crate::load::LoadedTrace;
use crate::query::plots::{PlotError, Samples, samples_of, with_plots};
use crate::trace::Plot;

/// Plots with their numbers.
type Made = Vec<(Plot, Arc<Samples>)>;

/// A trace with plots, and what could not be plotted.
struct Plotted {
    of: TraceKey,
    made: Made,
    loaded: Arc<LoadedTrace>,
    refused: Vec<(Plot, String)>,
}

/// The plots that are being made.
#[derive(Default)]
pub(super) struct Plotting {
    asked: Asked<(TraceKey, Vec<Plot>), Arc<Plotted>>,
    /// What was made of the trace as it was read: it is not made twice.
    kept: Option<(TraceKey, Made)>,
    /// How many were made: no two traces with plots are of one generation.
    count: u32,
}

impl Plotting {
    /// Whether plots are being made.
    pub(super) fn is_busy(&self) -> bool {
        self.asked.is_waiting()
    }

    /// Stops that.
    pub(super) fn stop(&mut self) {
        self.asked.stop();
    }
}

impl App {
    /// Once a frame: has made what the layout asks for and the trace does not have yet.
    pub(super) fn poll_plots(&mut self, ctx: &egui::Context) {
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.is_complete) else {
            return;
        };
        let arrived = self.follow.as_ref().and_then(|it| it.arrived.clone());
        let wanted = &self.state.layout.plots;
        if arrived.is_none() && loaded.trace.plots == *wanted {
            self.plotting.asked.cancel();
            return;
        }
        if self.plotting.asked.is_stopped() {
            // What the user did not wait for is not wanted.
            self.follow = None;
            self.state.keep_plots(&loaded.trace);
            self.plotting.asked.clear();
            return;
        }
        let has_grown = arrived.is_some();
        let plain = arrived.unwrap_or_else(|| LoadedTrace::as_read(&loaded));
        let of = TraceKey::of(&plain);
        let key = (of, wanted.clone());
        let kept = self.plotting.kept.as_ref().filter(|(made, _)| *made == of);
        let made = kept.map(|(_, made)| made.clone()).unwrap_or_default();
        let plots = wanted.clone();
        let generation = plain.generation.wrapping_add(self.plotting.count + 1);
        self.plotting.asked.ask(ctx, key.clone(), move |job| {
            plotted(&plain, &plots, made, generation, job).map(Arc::new)
        });
        if !self.plotting.asked.is_of(&key) {
            return;
        }
        let Some(answer) = self.plotting.asked.answer().cloned() else {
            return;
        };
        self.plotting.asked.clear();
        self.plotting.count += 1;
        self.plotting.kept = Some((answer.of, answer.made.clone()));
        for (plot, words) in &answer.refused {
            let words = format!("'{}' cannot be plotted: {words}", plot.title());
            self.notices.say(Mood::Wrong, words);
        }
        match has_grown {
            true => self.show_grown(Arc::clone(&answer.loaded)),
            false => self.show(Arc::clone(&answer.loaded)),
        }
    }

    /// Whether something is to be plotted that is not there yet.
    pub(super) fn lacks_plots(&self) -> bool {
        let loaded = self.loaded.as_ref().filter(|loaded| loaded.is_complete);
        loaded.is_some_and(|loaded| loaded.trace.plots != self.state.layout.plots)
    }

    /// In the status bar: how far it is, and a way to stop it.
    pub(super) fn plotting_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if self.plotting.is_busy() {
            ui.separator();
            ui.label(RichText::new("Plotting").color(palette.weak).size(12.0));
            self.plotting.asked.ui(ui, palette);
        }
    }
}

/// `plain` with `plots`; those that are `made` already are not made again.
fn plotted(
    plain: &Arc<LoadedTrace>,
    plots: &[Plot],
    made: Made,
    generation: u32,
    job: &Job,
) -> Result<Plotted, Cancelled> {
    let mut all: Made = Vec::new();
    let mut refused = Vec::new();
    for plot in plots {
        if let Some(known) = made.iter().find(|(known, _)| known == plot) {
            all.push(known.clone());
            continue;
        }
        match samples_of(&plain.trace, plain.reader.as_ref(), plot, job) {
            Ok(samples) => {
                if samples.times.is_empty() {
                    refused.push((plot.clone(), nothing_of(plot, &samples)));
                }
                all.push((plot.clone(), Arc::new(samples)));
            }
            Err(PlotError::Cancelled) => return Err(Cancelled),
            Err(error) => {
                refused.push((plot.clone(), error.to_string()));
                all.push((plot.clone(), Arc::default()));
            }
        }
    }
    let loaded = if all.is_empty() {
        Arc::clone(plain)
    } else {
        let (trace, index) = with_plots(&plain.trace, &plain.index, &all);
        Arc::new(LoadedTrace {
            trace: Arc::new(trace),
            index: Arc::new(index),
            without_plots: Some(Arc::clone(plain)),
            generation,
            ..plain.as_ref().clone()
        })
    };
    Ok(Plotted {
        of: TraceKey::of(plain),
        made: all,
        loaded,
        refused,
    })
}

/// Why there is not one number.
fn nothing_of(plot: &Plot, samples: &Samples) -> String {
    if samples.meant == 0 {
        return "no event is meant".to_owned();
    }
    let count = crate::view::ruler::counted(samples.meant as usize, "event is", "events are");
    format!("{count} meant, but none has a number '{}'", plot.field)
}
