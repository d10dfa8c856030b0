//! The interface between readers and the rest, common to all formats: lanes of compact event columns, and one event in
//! full.
//!
//! A reader's bulk pass turns each [`Part`] of a file into a [`LaneColumns`]: every event as 9 bytes in
//! [`EventColumns`], and typed rows only for what the timeline draws. `assemble` makes a `Trace` of them. Nothing here
//! depends on a format or on the `Trace`.

pub mod columns;
pub(crate) mod decoded;
pub(crate) mod detail;
pub(crate) mod field_ref;
pub mod keys;
pub(crate) mod lane;
pub mod pairs;
pub mod part;
pub(crate) mod syscalls;
mod thread_column;

pub(crate) use columns::EventColumns;
pub use decoded::{DecodedEvent, Need};
pub use detail::{EventDetail, Value};
pub(crate) use detail::{Field, STACK};
pub use field_ref::{FieldRef, ValueRef};
pub use keys::{Directory, EventKind, ForkSort, KindId, Role, ThreadKey};
pub(crate) use keys::{ProcessEntry, ProcessKey, SaidImage, SaidLife, ThreadEntry};
pub use lane::*;
pub(crate) use part::{Coarse, CpuLoss, DensitySample, FirstDay, Part};
pub use part::{Lane, TraceInfo};
