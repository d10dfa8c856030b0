//! Threadline: a native trace timeline viewer.
//!
//! The code is divided into floors, and a file imports only from floors below its own (`tests/core/floors/` checks
//! this):
//!
//! ```text
//! file bytes -> formats -> lanes -> assemble -> Trace -> index -> query -> view -> gui
//!                  \-> describe (one event in full, on demand)     \-> export, cli
//! ```

// What only this crate uses is `pub(crate)`, so that the compiler finds it once nothing uses it.
#![warn(unreachable_pub)]
#![cfg_attr(
    not(feature = "gui"),
    allow(
        dead_code,
        unused_imports,
        reason = "the window uses what the command line does not"
    )
)]

pub mod assemble;
pub mod base;
pub mod cli;
pub mod event;
pub mod export;
pub mod formats;
pub mod fxt;
#[cfg(feature = "gui")]
pub mod gui;
pub mod index;
pub mod load;
pub mod probes;
pub mod query;
#[cfg(target_os = "linux")]
pub mod record;
pub mod tables;
pub mod trace;
pub mod tracedat;
#[cfg(target_os = "linux")]
pub mod tracefs;
pub mod view;
