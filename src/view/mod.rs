//! What is looked at and how it is changed, without a screen: `ViewState`, `Action`, and `apply`, the one door.

pub mod action;
pub mod active;
pub mod anchor;
pub mod apply;
pub mod arrange;
pub mod export_order;
pub mod flags;
pub mod fuzzy;
pub mod grouping;
pub mod highlight;
pub mod history;
pub mod jump;
pub mod layout;
pub mod locate;
pub mod outline;
pub mod rows;
pub mod ruler;
pub mod saved;
pub mod scale;
pub mod session;
pub mod settings;
pub mod state;
pub mod text_order;

pub use action::{Action, Direction, Finder, Level, Marker, Pointed};
pub use apply::{Effect, apply};
pub use export_order::{Existing, ExportOrder};
pub use flags::{Flag, Flagging};
pub use grouping::{GroupBy, SortBy};
pub use layout::{Arrange, Layout};
pub use outline::Outline;
pub use rows::{Fold, Lane, LaneKind, Row, RowKey, RowKind, Rows};
pub use ruler::{Origins, TimeFormat};
pub use scale::Scale;
pub use session::Session;
pub use settings::{ColorBy, FlowsShown, Motion, Settings, Snapping, Wheel};
pub use state::{Isolation, Place, Search, ThemeChoice, ViewState};
