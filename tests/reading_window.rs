//! The Info pane's say in how a file is read: as which format, and from which day its times of day count.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/window.rs"]
mod support;

use egui::Role;
use egui_kittest::kittest::Queryable as _;
use support::*;
use threadline::view::Action;

/// Seconds since 1970 of 2026-11-21 at midnight.
const MIDNIGHT_S: i64 = 1_795_219_200;

fn timed_strace() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.strace");
    let text =
        "10:00:00 getpid() = 7\n10:00:01 read(0, \"a\", 1) = 1\n10:00:02 exit_group(0) = ?\n";
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn a_typed_date_becomes_the_first_day() {
    let (_folder, path) = timed_strace();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane("Info"));
    let type_date = |window: &mut Window, date: &str| {
        let field = window.get_by_role_and_label(Role::TextInput, "Date of the first day");
        field.focus();
        window.run_steps(2);
        key(window, egui::Modifiers::COMMAND, egui::Key::A);
        let field = window.get_by_role_and_label(Role::TextInput, "Date of the first day");
        field.type_text(date);
        window.run_steps(2);
        window.get_by_role_and_label(Role::Button, "Set").click();
        settle(window);
    };
    type_date(&mut window, "tomorrow");
    assert!(
        window
            .query_by_label_contains("a date is written")
            .is_some()
    );
    type_date(&mut window, "2026-11-21");
    let field = window.get_by_role_and_label(Role::TextInput, "Date of the first day");
    assert_eq!(field.value().as_deref(), Some("2026-11-21"));
    let midnight = window
        .state()
        .loaded()
        .unwrap()
        .trace
        .info
        .wall_clock_zero_ns;
    assert_eq!(midnight, Some(MIDNIGHT_S * 1_000_000_000));
    assert!(window.query_by_label("set").is_some());
}

#[test]
fn a_file_is_read_as_the_format_one_chooses() {
    let (_folder, path) = timed_strace();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane("Info"));
    let format = |window: &Window| window.state().loaded().unwrap().trace.info.format.clone();
    assert_eq!(format(&window), "strace");
    window
        .get_by_role_and_label(Role::ComboBox, "Read the file as")
        .click();
    window.run_steps(3);
    window.get_by_label("MINIX trace(1)").click();
    settle(&mut window);
    assert_eq!(format(&window), "MINIX trace(1)");
}
