//! What is looked at and how it is changed, without a screen: `ViewState`, `Action`, and `apply`, the one door.

pub mod action;
pub mod apply;
pub mod export_order;
pub mod history;
pub mod locate;
pub mod outline;
pub mod rows;
pub mod ruler;
pub mod saved;
pub mod scale;
pub mod state;

pub use action::{Action, Direction, Marker};
pub use apply::{Effect, apply};
pub use export_order::{Existing, ExportOrder};
pub use outline::Outline;
pub use rows::{Fold, Lane, LaneKind, Row, RowKey, RowKind, Rows};
pub use ruler::{Origins, TimeFormat};
pub use scale::Scale;
pub use state::{Place, ThemeChoice, ViewState};
