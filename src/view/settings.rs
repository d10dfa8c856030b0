//! The user's settings: motion, snapping, colours and scale of the window. Saved between starts.

use serde::{Deserialize, Serialize};

/// How the view moves to another span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Motion {
    /// The view glides there within a moment; a new action redirects it at once.
    #[default]
    Glide,
    /// The view is there immediately.
    Jump,
}

/// Colour theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ThemeChoice {
    /// Follows the desktop.
    System,
    /// Light on dark.
    #[default]
    Dark,
    /// Dark on light.
    Light,
}

impl ThemeChoice {
    /// All variants, in menu order.
    pub const ALL: [ThemeChoice; 3] = [ThemeChoice::System, ThemeChoice::Dark, ThemeChoice::Light];

    /// Label in menus.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ThemeChoice::System => "System",
            ThemeChoice::Dark => "Dark",
            ThemeChoice::Light => "Light",
        }
    }
}

/// What the wheel without modifiers does over the tracks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Wheel {
    /// Scrolls; with Ctrl it zooms.
    #[default]
    Scrolls,
    /// Zooms at the pointer; with Ctrl it scrolls.
    Zooms,
}

/// Whether edges of ranges and markers snap to slice edges nearby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Snapping {
    /// Edges snap, unless Alt is held.
    #[default]
    On,
    /// Edges snap only while Alt is held.
    Off,
}

/// Whether rows change their heights with what is visible in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Heights {
    /// Heights follow the content, once a gesture rests.
    #[default]
    Follow,
    /// All rows keep the heights that they have.
    Held,
}

/// What determines the colour of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ColorBy {
    /// The thread for runs, the name for slices.
    #[default]
    Kind,
    /// Its thread.
    Thread,
    /// Its process.
    Process,
    /// Its CPU.
    Cpu,
    /// Its name without numbers.
    Name,
}

impl ColorBy {
    /// All variants, in menu order.
    pub const ALL: [ColorBy; 5] = [
        ColorBy::Kind,
        ColorBy::Thread,
        ColorBy::Process,
        ColorBy::Cpu,
        ColorBy::Name,
    ];

    /// Label in menus.
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
    /// Flows of the selected item.
    #[default]
    OfSelection,
    /// Flows of the selected item and of the item under the pointer.
    OfPointer,
    /// All flows in view, up to a limit.
    AllInView,
    /// None.
    None,
}

impl FlowsShown {
    /// All variants, in the order of menus and of the key that cycles through them.
    pub const ALL: [FlowsShown; 4] = [
        FlowsShown::OfSelection,
        FlowsShown::OfPointer,
        FlowsShown::AllInView,
        FlowsShown::None,
    ];

    /// Label in menus.
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

/// Initial width of the track headers, in points.
pub(crate) const HEADER_POINTS: u16 = 230;

/// All settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How the view moves to another span.
    pub motion: Motion,
    /// What the wheel does.
    pub wheel: Wheel,
    /// Whether edges snap to slice edges.
    pub snapping: Snapping,
    /// What determines the colour of a block.
    pub color_by: ColorBy,
    /// Which flows are drawn as arrows.
    pub flows: FlowsShown,
    /// Whether rows change their heights with what is visible.
    pub heights: Heights,
    /// Scale of the whole window, in percent: 50 to 300.
    pub ui_percent: u16,
    /// The height of all tracks, in percent: 50 to 400.
    pub row_percent: u16,
    /// Width of the track headers, in points: 90 to 900.
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
            heights: Heights::default(),
            ui_percent: 100,
            row_percent: 100,
            header_points: HEADER_POINTS,
        }
    }
}

impl Settings {
    /// Returns the settings with every number clamped to its range.
    #[must_use]
    pub(crate) fn held(self) -> Settings {
        Settings {
            ui_percent: self.ui_percent.clamp(50, 300),
            row_percent: self.row_percent.clamp(50, 400),
            header_points: self.header_points.clamp(90, 900),
            ..self
        }
    }
}
