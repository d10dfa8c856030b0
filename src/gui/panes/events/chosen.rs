//! What of the trace is listed: all of it, or what is selected, with the words for it.

use serde::{Deserialize, Serialize};

use crate::base::TimeSpan;
use crate::gui::pane::Scene;
use crate::gui::panes::selection::area::{area_of, whose};
use crate::query::latency::Among;
use crate::view::ruler;

/// What the user wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Within {
    /// All.
    #[default]
    Trace,
    /// The selected range and tracks.
    Range,
}

/// What is searched.
#[derive(Default)]
pub struct Searched {
    /// Of which generation.
    pub generation: u32,
    /// In which span; `None`: at all times.
    pub span: Option<TimeSpan>,
    /// Whose events.
    pub among: Among,
    /// That in words, to stand behind "events".
    pub words: String,
}

impl Searched {
    /// What `within` means now.
    pub fn now(within: Within, scene: &Scene<'_>) -> Searched {
        let mut now = Searched {
            generation: scene.loaded.generation,
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
            let (area, _) = area_of(scene.state, &scene.loaded.trace);
            now.among = Among::area(&scene.loaded.trace, &area);
            let and = if now.words.is_empty() { "," } else { "" };
            now.words += &format!("{and} of {}", whose(scene, &area));
        }
        now
    }

    /// Whether nothing can be found: the selected tracks are neither of threads nor of CPUs.
    pub fn is_of_nobody(&self) -> bool {
        matches!(&self.among, Among::AnyOf(threads, cpus) if threads.is_empty() && cpus.is_empty())
    }
}
