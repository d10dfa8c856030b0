//! The Info pane's say in how a file is read: as which format, and from which day its times of day count.

use crate::support::*;
use egui::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use std::sync::Arc;
use threadline::base::Job;
use threadline::gui::panes::PANES;
use threadline::load::Reading;
use threadline::load::together::open_together;
use threadline::query::Item;
use threadline::query::details::details;
use threadline::trace::SliceId;
use threadline::view::ruler::TimeFormat;
use threadline::view::{Action, Effect, PaneKind};

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
    act(&mut window, Action::OpenPane(PaneKind::Info));
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
            .query_all_by_label_contains("expected a date")
            .next()
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
    // Tall enough for the first facts.
    window.set_size(egui::vec2(1200.0, 1500.0));
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("2026-11-21 10:00:00.000000000 to 2026-11-21 10:00:02")
            .next()
            .is_some()
    );
    // The ruler and all times show that day's wall clock from now on.
    let format = window.state().state().time_format;
    assert_eq!(format, TimeFormat::WallClock);
}

#[test]
fn a_date_is_for_all_files_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [7, 8].map(|pid| folder.path().join(format!("ff.{pid}")));
    for path in &paths {
        std::fs::write(
            path,
            "10:00:00.5 getppid() = 1\n10:00:02.5 exit_group(0) = ?\n",
        )
        .unwrap();
    }
    let loaded = open_together(&paths, &[], &[], &Job::default(), None).unwrap();
    let mut window = empty_window();
    window.state_mut().show(Arc::new(loaded));
    let ctx = window.ctx.clone();
    let reading = Reading {
        midnight_ns: Some(MIDNIGHT_S * 1_000_000_000),
        ..Reading::default()
    };
    window
        .state_mut()
        .act(&ctx, Action::Do(Effect::ReadAgain(reading)));
    settle(&mut window);
    let trace = &window.state().loaded().unwrap().trace;
    assert_eq!(trace.info.format, "strace, 2 files of -ff");
    assert_eq!(trace.processes.len(), 2);
    let wall = trace.info.wall_clock(trace.span.start);
    assert_eq!(wall.as_deref(), Some("2026-11-21 10:00:00.500000000"));
}

#[test]
fn a_file_is_read_as_the_format_one_chooses() {
    let (_folder, path) = timed_strace();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::Info));
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

const LINES: &str = "Tracing sh (pid 1)
fork() = <..>
    2| Tracing sh*F (pid 2)
    2| fork() = 0
    1|*fork() = 2
    2| read(0, <..>
    1| getpid() = 1
    2|*read(0, <..>
    1| close(3) = <..>
    2|*read(0, ** SIGUSR1 ** <..>
    1|*close(3) = 0
    2|*read(0, <..>
    1| open(\"/etc/passwd\", O_RDONLY) = <..>
    2|*read(0, \"x\", 1) = 1
    2| exit(0)
    2| Process exited normally with code 0
    1'*open(\"/etc/passwd\", O_RDONLY) = 3
exit(0)
Process exited normally with code 0
";

/// The scenario of the tracer's notes: one call of process 2 over five lines, without times.
#[test]
fn a_text_without_times_is_told_in_lines_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.minix");
    std::fs::write(&path, LINES).unwrap();
    let mut window = window(&path);
    let loaded = Arc::clone(window.state().loaded().unwrap());
    let trace = &loaded.trace;
    let reads: Vec<SliceId> = (0..trace.slices.len() as u32)
        .map(SliceId)
        .filter(|&id| trace.text(trace.slices.label(id).name) == "read")
        .collect();
    let [read] = reads[..] else {
        panic!("{reads:?}");
    };
    let whole = details(trace, loaded.reader.as_ref(), Item::Slice(read)).text();
    assert!(whole.contains("start\tline 6\n"), "{whole}");
    assert!(whole.contains("duration\t8 lines\n"), "{whole}");
    act(&mut window, Action::Select(Item::Slice(read)));
    let mut wrong = Vec::new();
    for pane in PANES {
        act(&mut window, Action::OpenPane(pane.kind));
        settle(&mut window);
        if pane.kind == PaneKind::Details {
            assert!(texts(&window).iter().any(|text| text == "8 lines"));
        }
        for unit in [" ns", " µs", " ms", " s", "0.000"] {
            let has = |text: &str| text.ends_with(unit) || text.contains(&format!("{unit} "));
            let found: Vec<String> = texts(&window)
                .into_iter()
                .filter(|text| has(text))
                .collect();
            // How long loading took is in seconds.
            let found: Vec<&String> = found.iter().filter(|text| !is_cost(text)).collect();
            if !found.is_empty() {
                wrong.push(format!("{}: {unit}: {found:?}", pane.kind.title()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All texts that are drawn and can be read by a screen reader.
fn texts(window: &Window) -> Vec<String> {
    window
        .query_all_by(|_| true)
        .flat_map(|node| {
            let node = node.accesskit_node();
            [node.label(), node.value()]
        })
        .flatten()
        .collect()
}

/// Whether a text tells of the program's own work.
fn is_cost(text: &str) -> bool {
    text.strip_suffix(" ms")
        .is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
}
