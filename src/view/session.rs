//! A session: what the user made of a trace (place, layout, marks, flags, filters, search), as JSON. Kept for
//! each trace and taken up again when it is opened; saved to a file that finds its traces again, also beside it.

use super::anchor::{Anchor, find};
use super::flags::Flag;
use super::layout::{FoundBy, Layout, SavedLayout};
use super::rows::RowKey;
use super::saved::{make_private_folder, write_json};
use super::scale::held_within;
use super::settings::Motion;
use super::state::{Isolation, Place, ViewState};
use super::sums::Sums;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What session files end with.
pub const ENDING: &str = "threadline";
/// A session file is never larger than this.
const MAX_BYTES: u64 = 64 << 20;

/// Everything that is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The program that wrote it.
    pub written_by: String,
    /// The traces, in their order.
    pub traces: Vec<PathBuf>,
    /// Where the user put them on the axis.
    pub offsets: Vec<Option<Nanos>>,
    /// Midnight of the first day that the user gave to times of day.
    pub midnight_ns: Option<i64>,
    /// What is seen.
    pub place: Option<Place>,
    /// The selected range.
    pub range: Option<TimeSpan>,
    /// The selected tracks.
    pub area_rows: Option<Vec<RowKey>>,
    /// The selected item.
    pub selected: Option<Anchor>,
    /// Markers A and B.
    pub marks: [Option<Timestamp>; 2],
    /// Flags.
    pub flags: Vec<Flag>,
    /// Places 1 to 9.
    pub places: [Option<Place>; 9],
    /// The filter of tracks.
    pub filter: String,
    /// What is searched for.
    pub search: String,
    /// Whether the rest is dimmed.
    pub isolation: Isolation,
    /// What was done to the tracks.
    pub layout: SavedLayout,
    /// What is added up.
    #[serde(skip_serializing_if = "Sums::is_plain")]
    pub sums: Sums,
    /// What panes keep, by their names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub panes: BTreeMap<String, serde_json::Value>,
}

impl Session {
    /// Reads a session file.
    ///
    /// # Errors
    /// In words for the user.
    pub fn read(path: &Path) -> Result<Session, String> {
        let told = |error: std::io::Error| format!("{error} ({})", path.display());
        let size = std::fs::metadata(path).map_err(told)?.len();
        if size > MAX_BYTES {
            return Err(format!(
                "a session of {size} bytes is none ({})",
                path.display()
            ));
        }
        let bytes = std::fs::read(path).map_err(told)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| format!("this is no session file: {error} ({})", path.display()))
    }

    /// Writes it to `path`, whole and on the disk before it has its name.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        make_private_folder(path)?;
        write_json(path, self)
    }

    /// Whether nothing was made of the trace yet.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        let plain = Session {
            written_by: self.written_by.clone(),
            traces: self.traces.clone(),
            offsets: self.offsets.clone(),
            layout: SavedLayout {
                dock: self.layout.dock.clone(),
                ..SavedLayout::default()
            },
            ..Session::default()
        };
        *self == plain
    }

    /// The traces where they are now: where they were, else beside the session file (a colleague's folder).
    #[must_use]
    pub fn traces_near(&self, session: &Path) -> Vec<PathBuf> {
        let beside = |path: &PathBuf| Some(session.parent()?.join(path.file_name()?));
        let found = |path: &PathBuf| match beside(path) {
            Some(near) if !path.exists() && near.exists() => near,
            _ => path.clone(),
        };
        self.traces.iter().map(found).collect()
    }

    /// Where the session of a trace is kept in `folder`.
    #[must_use]
    pub fn path_in(folder: &Path, traces: &[PathBuf]) -> PathBuf {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        for trace in traces {
            let whole = std::fs::canonicalize(trace).unwrap_or_else(|_| trace.clone());
            whole.hash(&mut hasher);
        }
        folder.join(format!("{:016x}.json", hasher.finish()))
    }
}

impl ViewState {
    /// What is to be kept of this view.
    #[must_use]
    pub fn session(&self, traces: Vec<PathBuf>, offsets: Vec<Option<Nanos>>) -> Session {
        Session {
            written_by: concat!("threadline ", env!("CARGO_PKG_VERSION")).to_owned(),
            traces,
            offsets,
            midnight_ns: None,
            place: (self.span != self.bounds()).then(|| self.place()),
            range: self.range,
            area_rows: self.area_rows.clone(),
            selected: self.selected_anchor.clone(),
            marks: self.marks,
            flags: self.flags.clone(),
            places: self.places,
            filter: self.filter.clone(),
            search: self.search.text.clone(),
            isolation: self.search.isolation,
            sums: self.sums,
            layout: SavedLayout {
                dock: Some(self.dock.clone()),
                ..self.layout.saved(&self.outline, "")
            },
            panes: BTreeMap::new(),
        }
    }

    /// Takes up a session where it was left.
    pub fn resume(&mut self, trace: &Trace, session: &Session) {
        let saved = &session.layout;
        (self.layout, self.outline) = Layout::taken_up(saved, trace, FoundBy::Key);
        if let Some(dock) = &saved.dock {
            self.dock = dock.clone().held();
        }
        self.filter.clone_from(&session.filter);
        self.search.text.clone_from(&session.search);
        self.search.isolation = session.isolation;
        self.search.is_open = !session.search.is_empty();
        self.sums = session.sums;
        self.range = session.range;
        self.area_rows.clone_from(&session.area_rows);
        self.marks = session.marks;
        self.flags.clone_from(&session.flags);
        self.flags.sort_by_key(|flag| flag.time);
        self.places = session.places;
        self.selected_anchor.clone_from(&session.selected);
        self.find_selected(trace);
        self.rebuild_rows();
        if let Some(place) = session.place {
            self.span = held_within(place.span, self.bounds());
            self.scroll = place.scroll.max(0.0);
        }
        self.motion = Motion::Jump;
    }

    /// Looks for what was selected, in a new generation.
    pub(super) fn find_selected(&mut self, trace: &Trace) {
        let item = self
            .selected_anchor
            .as_ref()
            .and_then(|anchor| find(trace, anchor));
        self.selected = item;
        self.selected_time = item.and_then(|item| super::locate::span_of(trace, item));
    }
}
