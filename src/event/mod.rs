//! What readers say, in words that all formats share: lanes of compact columns, and one event in full.
//!
//! A reader's bulk pass turns each [`Part`] of a file into a [`LaneColumns`]: every event as
//! 9 bytes in [`EventColumns`], plus typed rows for only what the timeline draws. `build` makes a
//! `Trace` of them. Nothing here knows a format, and nothing here knows the `Trace`.

pub mod columns;
pub mod detail;
pub mod field_ref;
pub mod keys;
pub mod lane;
pub mod pairs;
pub mod part;
pub mod syscalls;
mod thread_column;

pub use columns::EventColumns;
pub use detail::{EventDetail, Field, STACK, TEXT, Value};
pub use field_ref::{FieldRef, ValueRef};
pub use keys::{
    Directory, EventKind, KindId, ProcessEntry, ProcessKey, Role, SaidImage, SaidLife, ThreadEntry,
    ThreadKey,
};
pub use lane::*;
pub use part::{Coarse, CpuLoss, FirstDay, Lane, Part, TraceInfo};
