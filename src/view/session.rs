//! A session: the user's state for a trace (place, layout, marks, flags, filters, search), as JSON. Saved for each
//! trace and restored when the trace is opened; or saved to a file that also finds its traces next to itself.

use super::anchor::{Anchor, find};
use super::flags::Flag;
use super::history::Place;
use super::layout::Layout;
use super::rows::RowKey;
use super::saved::{make_private_folder, write_json};
use super::saved_layout::{FoundBy, SavedLayout};
use super::scale::held_within;
use super::settings::Motion;
use super::state::{Isolation, ViewState};
use super::sums::Sums;
use crate::base::{Nanos, TimeSpan, Timestamp};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Extension of session files.
pub(crate) const ENDING: &str = "threadline";
/// Largest session file that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Content of a session file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Program and version that wrote the session.
    pub written_by: String,
    /// Paths of the traces, in order.
    pub traces: Vec<PathBuf>,
    /// Offset of each trace on the axis, if the user set one.
    pub offsets: Vec<Option<Nanos>>,
    /// Midnight of the first day that the user assigned to times of day.
    pub midnight_ns: Option<i64>,
    /// Visible place; `None`: the whole trace.
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
    /// Saved places 1 to 9.
    pub places: [Option<Place>; 9],
    /// Text of the track filter.
    pub filter: String,
    /// Text of the search.
    pub search: String,
    /// Whether items that do not match are dimmed.
    pub isolation: Isolation,
    /// Arrangement of the tracks.
    pub layout: SavedLayout,
    /// What sums include.
    #[serde(skip_serializing_if = "Sums::is_plain")]
    pub sums: Sums,
    /// Saved state of panes, by pane name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub panes: BTreeMap<String, serde_json::Value>,
}

impl Session {
    /// Reads a session file.
    ///
    /// # Errors
    /// Returns a sentence for the user if the file cannot be read or is not a session.
    pub fn read(path: &Path) -> Result<Session, String> {
        let with_path = |error: std::io::Error| format!("{error} ({})", path.display());
        let mut bytes = Vec::new();
        // Devices and pipes report no size, so the number of bytes that are read is limited.
        let file = std::fs::File::open(path).map_err(with_path)?;
        (file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(with_path)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!(
                "a session file has at most {MAX_BYTES} bytes ({})",
                path.display()
            ));
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| format!("this is not a session file: {error} ({})", path.display()))
    }

    /// Writes the session to `path`: the file is written under another name, synced and then renamed, so that it is
    /// never incomplete.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        make_private_folder(path)?;
        write_json(path, self)
    }

    /// Returns whether the user has changed nothing yet.
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

    /// Returns the paths of the traces: as saved, or next to the session file if only that one exists (a colleague's
    /// folder).
    #[must_use]
    pub(crate) fn traces_near(&self, session: &Path) -> Vec<PathBuf> {
        let beside = |path: &PathBuf| Some(session.parent()?.join(path.file_name()?));
        let found = |path: &PathBuf| match beside(path) {
            Some(near) if !path.exists() && near.exists() => near,
            _ => path.clone(),
        };
        self.traces.iter().map(found).collect()
    }

    /// Returns the path of the session of these traces in `folder`.
    #[must_use]
    pub(crate) fn path_in(folder: &Path, traces: &[PathBuf]) -> PathBuf {
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
    /// Returns the session of this view.
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

    /// Restores a session.
    pub(crate) fn resume(&mut self, trace: &Trace, session: &Session) {
        let saved = &session.layout;
        let taken_up = Layout::taken_up(saved, trace, FoundBy::Key);
        (self.layout, self.outline) = (taken_up.layout, taken_up.outline);
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

    /// Finds the selected item again in a new generation.
    pub(super) fn find_selected(&mut self, trace: &Trace) {
        let item = self
            .selected_anchor
            .as_ref()
            .and_then(|anchor| find(trace, anchor));
        self.selected = item;
        self.selected_time = item.and_then(|item| super::locate::span_of(trace, item));
    }
}
