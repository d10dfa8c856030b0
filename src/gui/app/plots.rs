//! Making the plots that the layout contains.

use super::App;
use crate::base::{Cancelled, Job, TaskKey};
use crate::export::dataset::plotted::samples_of_answer;
use crate::gui::notices::Mood;
use crate::gui::plotting::{Made, Plotted};
use crate::gui::theme::Palette;
use crate::index::IndexedTrace;
use crate::load::LoadedTrace;
use crate::query::plots::{MadePlot, PlotError, Samples, samples_of, with_plots};
use crate::trace::{Plot, PlotSource};
use egui::{RichText, Ui};
use std::sync::Arc;

impl App {
    /// Computes the plots that the layout requests and the trace lacks; called once a frame.
    pub(super) fn poll_plots(&mut self, ctx: &egui::Context) {
        let Some(loaded) = self.loaded.clone().filter(|loaded| loaded.is_complete) else {
            return;
        };
        let arrived = self.follow.as_ref().and_then(|it| it.arrived.clone());
        let wanted = &self.state.layout.plots;
        if arrived.is_none() && loaded.trace.plots == *wanted {
            self.plotting.plotted.cancel();
            return;
        }
        if self.plotting.plotted.is_stopped() {
            // Plots that the user cancelled are removed.
            self.follow = None;
            self.state.keep_plots(&loaded.trace);
            self.plotting.plotted.clear();
            return;
        }
        let has_grown = arrived.is_some();
        let plain = arrived.unwrap_or_else(|| LoadedTrace::as_read(&loaded));
        let of = plain.id;
        let kept = self.plotting.kept.as_ref().filter(|(made, _)| *made == of);
        let made = kept.map(|(_, made)| made.clone()).unwrap_or_default();
        let plots = wanted.clone();
        let question = TaskKey::about(of, wanted.clone());
        self.plotting.plotted.ask(ctx, question, move |job| {
            plotted(&plain, &plots, made, job).map(Arc::new)
        });
        if let Some(failure) = self.plotting.plotted.take_failure() {
            // A plot that failed is removed, so that nothing waits for it.
            self.notices
                .say(Mood::Wrong, format!("Not plotted: {failure}"));
            self.follow = None;
            self.state.keep_plots(&loaded.trace);
            return;
        }
        if !self.plotting.plotted.is_of(of, wanted) {
            return;
        }
        let Some(answer) = self.plotting.plotted.take() else {
            return;
        };
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

    /// Returns whether a requested plot is still missing.
    pub(super) fn lacks_plots(&self) -> bool {
        let loaded = self.loaded.as_ref().filter(|loaded| loaded.is_complete);
        loaded.is_some_and(|loaded| loaded.trace.plots != self.state.layout.plots)
    }

    /// Draws the progress in the status bar, with a way to stop it.
    pub(super) fn plotting_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        if self.plotting.is_busy() {
            ui.separator();
            ui.label(RichText::new("Plotting").color(palette.weak).size(12.0));
            self.plotting.plotted.ui(ui, palette);
        }
    }
}

/// Returns `plain` with `plots`; the samples in `made` are reused.
fn plotted(
    plain: &Arc<LoadedTrace>,
    plots: &[Plot],
    made: Made,
    job: &Job,
) -> Result<Plotted, Cancelled> {
    let mut all: Made = Vec::new();
    let mut refused = Vec::new();
    for plot in plots {
        if let Some(known) = made.iter().find(|known| known.plot == *plot) {
            all.push(known.clone());
            continue;
        }
        let made = match plot.source {
            PlotSource::Events => samples_of(&plain.trace, plain.reader.as_ref(), plot, job),
            PlotSource::Answer => samples_of_answer(plain, plot, job),
        };
        match made {
            Ok(samples) => {
                // A failed plot is kept as an empty one: each plot of the layout must be in the trace, or it would be
                // requested again.
                if samples.times.is_empty() {
                    refused.push((plot.clone(), nothing_of(plot, &samples)));
                }
                all.push(MadePlot {
                    plot: plot.clone(),
                    samples: Arc::new(samples),
                });
            }
            Err(PlotError::Cancelled) => return Err(Cancelled),
            Err(error) => {
                refused.push((plot.clone(), error.to_string()));
                all.push(MadePlot {
                    plot: plot.clone(),
                    samples: Arc::default(),
                });
            }
        }
    }
    let loaded = if all.is_empty() {
        Arc::clone(plain)
    } else {
        let IndexedTrace { trace, index } = with_plots(&plain.trace, &plain.index, &all);
        Arc::new(LoadedTrace {
            trace: Arc::new(trace),
            index: Arc::new(index),
            without_plots: Some(Arc::clone(plain)),
            id: plain.id.next_generation(),
            ..plain.as_ref().clone()
        })
    };
    Ok(Plotted {
        of: plain.id,
        made: all,
        loaded,
        refused,
    })
}

/// Returns why a plot has no samples.
fn nothing_of(plot: &Plot, samples: &Samples) -> String {
    if samples.meant == 0 {
        return "no event matches".to_owned();
    }
    let count =
        crate::view::ruler::counted(samples.meant as usize, "event matches", "events match");
    format!("{count}, but none has a number '{}'", plot.field)
}
