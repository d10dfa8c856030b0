//! The rows of a part's columns: one file for each kind of fact that events contain.
//!
//! `event` in a row is an index into the same part's [`EventColumns`](super::EventColumns), which contains the event's
//! time, thread and CPU; rows do not repeat them. Strings are ids in the part's own [`Strings`](crate::base::Strings).

mod asyncs;
mod counters;
mod cuts;
mod files;
mod flows;
mod lives;
mod logs;
mod losses;
mod scheduling;
mod slices;

pub use asyncs::*;
pub use counters::*;
pub use cuts::*;
pub use files::*;
pub use flows::*;
pub use lives::*;
pub use logs::*;
pub use losses::*;
pub use scheduling::*;
pub use slices::*;
