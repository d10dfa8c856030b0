//! The Record pane: what to record, its command line, and a recording that is watched while it is made.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::recording::{NOBODY, nothing_in_kernel, turn};
use crate::support::*;
use egui::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::gui::app::App;
use threadline::view::recording::FinishedRecording;
use threadline::view::{
    Action, Effect, PaneKind, RecordCommand, RecordRights, RecordSettings, RecordState,
    RecordedEvent, ThemeChoice,
};

fn command(window: &mut Window, command: RecordCommand) {
    act(window, Action::Do(Effect::Record(command)));
}

/// A window that shows the settings, without a trace.
fn choosing() -> Window {
    let mut app = App::new(None);
    app.hold_still();
    let mut window = egui_kittest::Harness::builder()
        .with_size([1280.0, 720.0])
        .with_render_cursor(false)
        .with_max_steps(40)
        .allow_missing_glyphs()
        .renderer(Renderer::default())
        .with_context_setup(threadline::gui::theme::install)
        .build_ui_state(|ui, app: &mut App| app.ui(ui), app);
    settle(&mut window);
    click_button(&mut window, "Record this machine…");
    window
}

fn type_lines(window: &mut Window, field: &str, text: &str) {
    let role = Role::MultilineTextInput;
    window.get_by_role_and_label(role, field).focus();
    window.run_steps(2);
    window.get_by_role_and_label(role, field).type_text(text);
    window.run_steps(2);
    settle(window);
}

fn enter(window: &mut Window) {
    key(window, egui::Modifiers::NONE, egui::Key::Enter);
    settle(window);
}

fn says(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).next().is_some()
}

fn is_enabled(window: &Window, button: &str) -> bool {
    let button = window.get_by_role_and_label(Role::Button, button);
    !button.accesskit_node().is_disabled()
}

/// Returns the text that a click on Copy puts on the clipboard.
fn copied(window: &mut Window) -> String {
    window.get_by_role_and_label(Role::Button, "Copy").click();
    let mut text = None;
    for _ in 0..4 {
        window.step();
        let commands = &window.output().platform_output.commands;
        text = text.or(commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        }));
    }
    text.expect("nothing was copied")
}

fn recording(window: &Window) -> &RecordState {
    &window.state().state().recording
}

/// Runs frames until the recording is in a state; fails if it failed.
fn wait_for(window: &mut Window, what: &str, is_so: impl Fn(&Window) -> bool) {
    let began = Instant::now();
    while !is_so(window) {
        window.step();
        std::thread::sleep(Duration::from_millis(5));
        let state = recording(window);
        let is_late = began.elapsed() > Duration::from_secs(60);
        assert!(!is_late, "{what}: {state:?}");
        assert!(
            !matches!(state, RecordState::Failed(_)),
            "{what}: {state:?}"
        );
    }
}

fn events(window: &Window) -> usize {
    let loaded = window.state().loaded();
    loaded.map_or(0, |loaded| loaded.trace.events.len())
}

/// The number of bytes that were recorded, as the last report says.
fn recorded_bytes(window: &Window) -> u64 {
    match recording(window) {
        RecordState::Running { facts, .. } => facts.bytes,
        _ => 0,
    }
}

#[test]
fn events_are_found_by_typing_and_become_a_command_line() {
    let name = "events_are_found_by_typing_and_become_a_command_line";
    let Some(_turn) = turn(name) else { return };
    let mut window = choosing();
    assert!(!is_enabled(&window, "Start"));
    assert!(says(&window, "Choose a set, an event or a probe"));
    assert_eq!(copied(&mut window), "threadline record");
    type_into(&mut window, "Events", "sched swit");
    let found = window.query_all_by_label_contains("sched:sched_switch");
    assert!(found.count() >= 1);
    enter(&mut window);
    assert!(is_enabled(&window, "Start"));
    type_into(&mut window, "Events", "irq:irq_h*");
    enter(&mut window);
    window
        .get_by_role_and_label(Role::CheckBox, "block")
        .click();
    window.run_steps(2);
    let filter = "Filter of sched:sched_switch";
    type_into(&mut window, filter, "prev_prio < 100 && next == 1");
    assert!(says(
        &window,
        "the event has no field next; it has prev_comm"
    ));
    window
        .get_by_role_and_label(Role::TextInput, filter)
        .focus();
    window.run_steps(2);
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::A);
    type_into(&mut window, filter, "prev_prio < 100");
    assert!(!says(&window, "column"));
    type_lines(&mut window, "Probes", "p vfs_read count=%dx\nq vfs_read");
    assert!(says(&window, "q vfs_read:"));
    type_into(&mut window, "Stop after", "5 parsecs");
    assert!(says(&window, "Stop after: "));
    type_into(&mut window, "Stop when", "comm ==");
    assert!(says(&window, "Stop when: "));
    type_into(&mut window, "Only threads", "1 x");
    assert!(says(&window, "x is no number of a thread"));
    assert_eq!(
        copied(&mut window),
        "threadline record --preset block -e sched:sched_switch -f 'prev_prio < 100' -e 'irq:irq_h*' \
         --probe 'p vfs_read count=%dx' --probe 'q vfs_read' -P 1 -P x --for '5 parsecs' \
         --until-event 'comm =='"
    );
    window
        .get_by_role_and_label(Role::Button, "Remove irq:irq_h*")
        .click();
    window.run_steps(2);
    assert!(!copied(&mut window).contains("irq_h"));
}

#[test]
fn the_settings_look_as_they_did_in_both_themes() {
    let name = "the_settings_look_as_they_did_in_both_themes";
    let Some(_turn) = turn(name) else { return };
    let mut window = choosing();
    window
        .get_by_role_and_label(Role::CheckBox, "sched")
        .click();
    window.run_steps(2);
    type_into(&mut window, "Events", "sched:sched_switch");
    enter(&mut window);
    type_into(
        &mut window,
        "Filter of sched:sched_switch",
        "prev_prio << 100",
    );
    type_into(&mut window, "Stop after", "10s");
    // Without a cursor that blinks.
    act(&mut window, Action::DeselectItems);
    window.ctx.memory_mut(|memory| {
        if let Some(id) = memory.focused() {
            memory.surrender_focus(id);
        }
    });
    window.run_steps(3);
    for (theme, word) in [(ThemeChoice::Dark, "dark"), (ThemeChoice::Light, "light")] {
        act(&mut window, Action::SetTheme(theme));
        window.snapshot(format!("record-{word}"));
    }
    show(&mut window, &file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Record));
    assert!(says(&window, "--preset sched"), "the settings stay");
    window.snapshot("record-beside-a-trace");
}

/// A recording of what these tests themselves do.
fn sched() -> RecordSettings {
    RecordSettings {
        sets: vec!["sched".to_owned()],
        ..RecordSettings::default()
    }
}

/// A window that records, and shows the first picture of it.
fn recording_one() -> Window {
    let mut window = choosing();
    let start = RecordCommand::Start(Box::new(sched()), RecordRights::Own);
    command(&mut window, start);
    wait_for(&mut window, "the first picture", |it| events(it) > 0);
    window
}

#[test]
fn a_recording_is_watched_stopped_and_saved() {
    let name = "a_recording_is_watched_stopped_and_saved";
    let Some(_turn) = turn(name) else { return };
    let mut window = choosing();
    window
        .get_by_role_and_label(Role::CheckBox, "sched")
        .click();
    window.run_steps(2);
    let began = Instant::now();
    window.get_by_role_and_label(Role::Button, "Start").click();
    window.step();
    wait_for(&mut window, "the first picture", |it| events(it) > 0);
    println!(
        "the first picture came after {} ms",
        began.elapsed().as_millis()
    );
    let first = events(&window);
    assert!(matches!(recording(&window), RecordState::Running { .. }));
    act(&mut window, Action::OpenPane(PaneKind::Record));
    wait_for(&mut window, "more events", |it| events(it) > first);
    assert!(says(&window, "Recording: "));
    // After five seconds the view shows the last five, and moves with the end.
    wait_for(&mut window, "the view follows", |window| {
        let state = window.state().state();
        state.span != state.bounds()
    });
    let before = window.state().state().span;
    wait_for(&mut window, "the view moves", |window| {
        window.state().state().span.end > before.end
    });
    let span = window.state().state().span;
    assert_eq!(span.duration(), before.duration());
    let mut slowest = 0.0_f64;
    let (frames, start) = (60, Instant::now());
    for _ in 0..frames {
        let began = Instant::now();
        window.step();
        slowest = slowest.max(began.elapsed().as_secs_f64());
    }
    let rate = f64::from(frames) / start.elapsed().as_secs_f64();
    println!(
        "{rate:.0} frames a second, the slowest took {:.1} ms",
        slowest * 1e3
    );
    // What the user looks at stays, also when the recording goes on.
    let middle = middle_half(&window);
    act(&mut window, Action::Show(middle));
    let (bytes, shown) = (recorded_bytes(&window), window.state().state().span);
    wait_for(&mut window, "more is recorded", |it| {
        recorded_bytes(it) > bytes + 500_000
    });
    assert_eq!(window.state().state().span, shown);
    window.get_by_label("Go to its end").click();
    window.run_steps(3);
    let ends = window.state().state().span;
    assert!(ends.end > shown.end && window.query_by_label("Go to its end").is_none());
    act(&mut window, Action::Show(middle));
    let shown = window.state().state().span;
    if let Some(folder) = std::env::var_os("THREADLINE_PICTURES") {
        let picture = window.render().unwrap();
        picture
            .save(Path::new(&folder).join("recording.png"))
            .unwrap();
    }
    window.get_by_role_and_label(Role::Button, "Stop").click();
    window.step();
    wait_for(&mut window, "the file is complete", |window| {
        matches!(recording(window), RecordState::Finished(_))
    });
    settle(&mut window);
    nothing_in_kernel();
    let RecordState::Finished(finished) = recording(&window).clone() else {
        panic!("{:?}", recording(&window));
    };
    assert_eq!(events(&window) as u64, finished.events);
    assert_eq!(window.state().state().span, shown, "the view stays");
    assert!(says(&window, "The recording is not saved"));
    let temporary = window.state().loaded().unwrap().path.clone();
    assert!(temporary.exists());

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.dat");
    command(
        &mut window,
        RecordCommand::Save(folder.path().join("no/mine.dat")),
    );
    assert!(window.state().notice().unwrap().contains("not saved"));
    assert!(temporary.exists());
    command(&mut window, RecordCommand::Save(path.clone()));
    wait_for(&mut window, "it is saved", |window| {
        matches!(
            recording(window),
            RecordState::Finished(FinishedRecording { saved: Some(_), .. })
        )
    });
    settle(&mut window);
    assert_eq!(window.state().loaded().unwrap().path, path);
    assert_eq!(events(&window) as u64, finished.events);
    assert_eq!(window.state().state().span, shown, "the view stays");
    assert!(!temporary.exists() && !temporary.parent().unwrap().exists());
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1);
    if let Some(folder) = std::env::var_os("THREADLINE_PICTURES") {
        let picture = window.render().unwrap();
        picture
            .save(Path::new(&folder).join("recorded.png"))
            .unwrap();
    }
}

#[test]
fn what_the_kernel_refuses_is_its_own_sentence() {
    let Some(_turn) = turn("what_the_kernel_refuses_is_its_own_sentence") else {
        return;
    };
    let mut window = choosing();
    let event = RecordedEvent {
        pattern: "sched:sched_switch".into(),
        filter: "nothing == 1".into(),
    };
    let settings = RecordSettings {
        events: vec![event],
        ..RecordSettings::default()
    };
    let start = RecordCommand::Start(Box::new(settings), RecordRights::Own);
    command(&mut window, start);
    let RecordState::Failed(words) = recording(&window) else {
        panic!("{:?}", recording(&window));
    };
    assert!(words.contains("Field not found"), "{words}");
    assert!(says(&window, "Not recorded: the kernel refused the filter"));
    nothing_in_kernel();
}

#[test]
fn a_window_that_closes_leaves_nothing() {
    let Some(_turn) = turn("a_window_that_closes_leaves_nothing") else {
        return;
    };
    let window = recording_one();
    let path = window.state().loaded().unwrap().path.clone();
    assert!(path.parent().unwrap().exists());
    drop(window);
    assert!(!path.parent().unwrap().exists());
    nothing_in_kernel();
}

#[test]
fn another_trace_can_be_shown_while_it_records() {
    let Some(_turn) = turn("another_trace_can_be_shown_while_it_records") else {
        return;
    };
    let mut window = recording_one();
    let sample = file("sample-traces/sched-irq-syscalls.dat");
    show(&mut window, &sample);
    act(&mut window, Action::OpenPane(PaneKind::Record));
    assert_eq!(window.state().loaded().unwrap().path, sample);
    command(&mut window, RecordCommand::Stop);
    wait_for(&mut window, "the file is complete", |window| {
        matches!(recording(window), RecordState::Finished(_))
    });
    assert_eq!(window.state().loaded().unwrap().path, sample);
    click_button(&mut window, "Show it");
    let shown = window.state().loaded().unwrap();
    assert_ne!(shown.path, sample);
    assert!(events(&window) > 0);
    nothing_in_kernel();
}

/// The environment variable by which a test knows that it runs again as a user without rights.
const AGAIN: &str = "THREADLINE_AS_NOBODY";

#[test]
fn without_rights_the_pane_names_the_line_that_grants_them() {
    let name = "without_rights_the_pane_names_the_line_that_grants_them";
    if std::env::var_os(AGAIN).is_none() {
        let Some(_turn) = turn(name) else { return };
        let test = format!("record_pane::{name}");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &test, "--nocapture"]);
        command
            .env(AGAIN, "1")
            .env("PATH", "/nowhere")
            .env("HOME", "/nowhere");
        match command.uid(NOBODY).gid(NOBODY).output() {
            // The build is in a folder that is root's alone.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                eprintln!("\n=== SKIPPED: {name}: user {NOBODY} may not run this test ===\n");
            }
            output => {
                let output = output.unwrap();
                let words = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(output.status.success(), "{words}");
                assert!(words.contains("1 passed"), "{words}");
            }
        }
        return;
    }
    let mut window = choosing();
    assert!(says(&window, "No right to use tracefs"));
    assert!(says(&window, "sudo chown -R"));
    assert!(says(&window, "if pkexec (polkit) were installed"));
    // Events are typed, and the grammar of filters is checked all the same.
    type_into(&mut window, "Events", "sched:sched_switch");
    enter(&mut window);
    type_into(&mut window, "Filter of sched:sched_switch", "prev_prio <");
    assert!(says(&window, "expected a value (column 12)"));
    assert!(!is_enabled(&window, "Start"));
    assert_eq!(
        copied(&mut window),
        "sudo threadline record -e sched:sched_switch -f 'prev_prio <'"
    );
}
