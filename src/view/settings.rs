//! What the user chose for good: how the window moves, snaps, colours and scales. Kept from start to start.

use serde::{Deserialize, Serialize};

/// How the view gets from one span to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Motion {
    /// It glides there in a moment; what is done meanwhile turns it at once.
    #[default]
    Glide,
    /// It is there at once.
    Jump,
}

/// What the plain wheel does on the tracks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wheel {
    /// Scrolls them; with Ctrl it zooms.
    #[default]
    Scrolls,
    /// Zooms at the pointer; with Ctrl it scrolls.
    Zooms,
}

/// Whether edges of ranges and markers are drawn to the edges of slices nearby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Snapping {
    /// They are, unless Alt is held.
    #[default]
    On,
    /// They are not, unless Alt is held.
    Off,
}

/// What gives a block its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ColorBy {
    /// Runs by their thread, slices by their name.
    #[default]
    Kind,
    /// The thread it belongs to.
    Thread,
    /// The process it belongs to.
    Process,
    /// The CPU it ran on.
    Cpu,
    /// Its name alone, numbers in it left out.
    Name,
}

impl ColorBy {
    /// All, in the order of menus.
    pub const ALL: [ColorBy; 5] = [
        ColorBy::Kind,
        ColorBy::Thread,
        ColorBy::Process,
        ColorBy::Cpu,
        ColorBy::Name,
    ];

    /// What menus call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ColorBy::Kind => "Threads on CPUs, names of slices",
            ColorBy::Thread => "Thread",
            ColorBy::Process => "Process",
            ColorBy::Cpu => "CPU",
            ColorBy::Name => "Name without numbers",
        }
    }
}

/// Which flows are drawn as arrows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FlowsShown {
    /// Those of the selected item.
    #[default]
    OfSelection,
    /// Those of the selected item and of the one under the pointer.
    OfPointer,
    /// All that are in view, up to a number.
    AllInView,
    /// None.
    None,
}

impl FlowsShown {
    /// All, in the order of menus and of the key that walks through them.
    pub const ALL: [FlowsShown; 4] = [
        FlowsShown::OfSelection,
        FlowsShown::OfPointer,
        FlowsShown::AllInView,
        FlowsShown::None,
    ];

    /// What menus call it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FlowsShown::OfSelection => "Of the selection",
            FlowsShown::OfPointer => "Of the selection and under the pointer",
            FlowsShown::AllInView => "All in view",
            FlowsShown::None => "None",
        }
    }
}

/// The width of the names of tracks at first, in points.
pub const HEADER_POINTS: u16 = 230;

/// All choices together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How the view moves.
    pub motion: Motion,
    /// What the wheel does.
    pub wheel: Wheel,
    /// Whether edges snap.
    pub snapping: Snapping,
    /// What gives a block its colour.
    pub color_by: ColorBy,
    /// Which flows are drawn.
    pub flows: FlowsShown,
    /// The size of everything in the window, in percent: 50 to 300.
    pub ui_percent: u16,
    /// The height of all tracks, in percent: 50 to 400.
    pub row_percent: u16,
    /// The width of the names of tracks, in points: 90 to 900.
    pub header_points: u16,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            motion: Motion::default(),
            wheel: Wheel::default(),
            snapping: Snapping::default(),
            color_by: ColorBy::default(),
            flows: FlowsShown::default(),
            ui_percent: 100,
            row_percent: 100,
            header_points: HEADER_POINTS,
        }
    }
}

impl Settings {
    /// The same with every number in its range.
    #[must_use]
    pub fn held(self) -> Settings {
        Settings {
            ui_percent: self.ui_percent.clamp(50, 300),
            row_percent: self.row_percent.clamp(50, 400),
            header_points: self.header_points.clamp(90, 900),
            ..self
        }
    }
}
