//! The interface between readers and the other modules, common to all formats: lanes of compact event columns, and
//! single events in full.
//!
//! A reader's bulk pass turns each [`Part`] of a file into a [`LaneColumns`]: every event as 9 bytes in
//! [`EventColumns`], and typed rows only for what the timeline draws. `assemble` creates a `Trace` from them. Nothing
//! here depends on a format or on the `Trace`.

pub(crate) mod clocks;
pub mod columns;
mod compiler_work;
pub mod decoded;
pub mod detail;
pub mod family;
pub(crate) mod field_ref;
mod field_role;
mod field_sink;
pub(crate) mod flow_kind;
pub mod kernel;
pub mod keys;
pub(crate) mod kind_column;
pub mod lane;
pub mod part;
mod rows;
pub mod slice_kind;
pub mod syscalls;
pub(crate) mod thread_column;
mod thread_state;

pub(crate) use columns::EventColumns;
pub(crate) use compiler_work::CompilerWork;
pub(crate) use compiler_work::SUM_FIELDS;
pub use decoded::{DecodedEvent, Need};
pub use detail::{EventDetail, Value};
pub(crate) use detail::{Field, STACK};
pub use field_ref::{ExactTexts, FieldRef, ValueRef};
pub(crate) use field_role::{FieldRole, InstantScope};
pub use field_sink::{FieldSink, FieldView, NumberValue};
pub use flow_kind::FlowKind;
pub use keys::{Directory, EventKind, ForkSort, KindId, KindOrigin, Role, ThreadKey};
pub(crate) use keys::{ProcessEntry, ProcessKey, RecordedImage, RecordedLife, ThreadEntry};
pub use lane::{LaneClock, LaneColumns, PartColumns};
pub(crate) use part::{Coarse, CpuLoss, DensitySample, FirstDay, Part};
pub use part::{Fact, Lane, TraceInfo};
pub use rows::*;
pub use slice_kind::SliceKind;
pub use thread_state::ThreadState;
