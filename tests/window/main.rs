//! The window, driven as a user drives it (egui_kittest), and its pictures.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test may panic and print"
)]

mod build_panes;
mod chosen_tracks;
mod dock;
mod everyday;
mod export_window;
mod first_page;
mod following;
mod gestures;
mod gui;
mod guides;
mod habits;
mod layers;
mod lost_events;
mod misleading;
mod opening;
mod panes;
mod plots;
mod probes_window;
mod query_pane;
mod reading_window;
#[cfg(target_os = "linux")]
mod record_pane;
mod screen_reader;
mod sessions;
mod several_files;
mod startup;
mod states;
mod stopping;
mod sums;
mod tracks;
mod workbench;

#[path = "../support/certain.rs"]
mod certain;
#[path = "../support/farm.rs"]
mod farm;
#[path = "../support/program.rs"]
mod program;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the command line's tests use the rest")]
#[path = "../support/recording.rs"]
mod recording;
#[path = "../support/window.rs"]
mod support;
