//! The part of the trace whose events are listed: all of it or the selection, with a description for people.

use serde::{Deserialize, Serialize};

use crate::base::TimeSpan;
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::{area_of, whose};
use crate::load::TraceId;
use crate::query::latency::Among;
use crate::view::ruler;

/// The user's choice of that part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Within {
    /// The whole trace.
    #[default]
    Trace,
    /// The selected range and tracks.
    Range,
}

/// The events that are searched.
#[derive(Default)]
pub(crate) struct Searched {
    /// The trace.
    pub trace: Option<TraceId>,
    /// The span; `None`: all times.
    pub span: Option<TimeSpan>,
    /// The threads and CPUs.
    pub among: Among,
    /// A description that follows the word "events".
    pub words: String,
}

impl Searched {
    /// Returns the current meaning of `within`.
    pub(crate) fn now(within: Within, scene: &Scene<'_>) -> Searched {
        let mut now = Searched {
            trace: Some(scene.loaded.id),
            ..Searched::default()
        };
        if within == Within::Trace {
            return now;
        }
        now.span = scene.state.range;
        if let Some(span) = now.span {
            let length = ruler::length_text(span.duration(), scene.state.origins.unit);
            now.words = format!(", in {length}");
        }
        if scene.state.area_rows.is_some() {
            let area = area_of(scene.state, &scene.loaded.trace).area;
            now.among = Among::area(&scene.loaded.trace, &area);
            let and = if now.words.is_empty() { "," } else { "" };
            now.words += &format!("{and} of {}", whose(scene, &area));
        }
        now
    }

    /// Returns whether no event can match: the selected tracks belong neither to threads nor to CPUs.
    pub(crate) fn is_of_nobody(&self) -> bool {
        matches!(&self.among, Among::AnyOf(threads, cpus) if threads.is_empty() && cpus.is_empty())
    }
}
