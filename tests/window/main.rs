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
#[path = "../support/window.rs"]
mod support;
