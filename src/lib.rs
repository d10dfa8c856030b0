//! Threadline: a native trace timeline viewer.
//!
//! A trace file becomes a picture in floors, and a file imports only from floors below its own
//! (`tests/core/floors.rs` holds `src/` to this):
//!
//! ```text
//! file bytes -> formats -> lanes -> build -> Trace -> index -> query -> view -> gui
//!                  \-> describe (one event in full, on demand)     \-> export, cli
//! ```

pub mod base;
pub mod build;
pub mod cli;
pub mod event;
pub mod export;
pub mod formats;
#[cfg(feature = "gui")]
pub mod gui;
pub mod index;
pub mod load;
pub mod probes;
pub mod query;
pub mod trace;
pub mod view;
