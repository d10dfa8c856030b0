//! What a screen reader finds: every part of the window has a name in words, and every change is announced.

use std::path::PathBuf;

use crate::support::*;
use egui::accesskit::{self, Live, Role};
use egui_kittest::kittest::{AccessKitNode, NodeT, Queryable};
use threadline::gui::panes::PANES;
use threadline::view::{Action, Effect, Finder, PaneKind};

/// The part of the window that a node belongs to: its pane, dialog or menu; the empty text: the window itself.
fn part_of(node: &AccessKitNode<'_>) -> String {
    let mut above = node.parent();
    while let Some(node) = above {
        let is_part = matches!(
            node.role(),
            Role::TabPanel | Role::Window | Role::Dialog | Role::Menu
        );
        if is_part && !node.is_root() {
            return format!("{:?} {}", node.role(), node.label().unwrap_or_default());
        }
        above = node.parent();
    }
    String::new()
}

fn has_words(name: &str) -> bool {
    name.chars().any(char::is_alphanumeric)
}

/// What a listener would miss in the window as it is now; `place` says in the answer what is shown.
fn faults(window: &Window, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut named: Vec<(String, String, egui::Rect)> = Vec::new();
    let mut rows: Vec<egui::Rect> = Vec::new();
    let mut live_regions = 0;
    for node in window.root().children_recursive() {
        let it = node.accesskit_node();
        if it.is_hidden() {
            continue;
        }
        live_regions += usize::from(it.live() == Live::Polite);
        let part = part_of(&it);
        // The text of a label is its value.
        let name = it.label().or(it.value()).unwrap_or_default();
        if matches!(it.role(), Role::Row | Role::TreeItem) {
            rows.push(node.rect());
        }
        let takes_text = matches!(it.role(), Role::TextInput | Role::MultilineTextInput);
        let takes = |action| it.data().supports_action(action);
        let is_used =
            takes(accesskit::Action::Focus) || takes(accesskit::Action::Click) || takes_text;
        if is_used && !has_words(&name) {
            faults.push(format!(
                "{place}: {part}: {:?} '{name}' at {:?} has no name in words",
                it.role(),
                node.rect()
            ));
        }
        let is_control = matches!(
            it.role(),
            Role::Button | Role::CheckBox | Role::RadioButton | Role::ComboBox | Role::Link
        );
        if is_control || takes_text {
            named.push((part, name, node.rect()));
        }
    }
    let name = window.root().accesskit_node().label().unwrap_or_default();
    if name != window.state().title() {
        faults.push(format!("{place}: the window is called '{name}'"));
    }
    if live_regions != 1 {
        faults.push(format!("{place}: {live_regions} live regions"));
    }
    let row_of = |rect: egui::Rect| {
        let holds = |row: &&egui::Rect| row.y_range().contains(rect.center().y);
        rows.iter().find(holds)
    };
    named.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    for pair in named.windows(2) {
        let [(part, name, first), (other_part, other, second)] = pair else {
            continue;
        };
        let in_rows = row_of(*first).zip(row_of(*second));
        if part == other_part && name == other && in_rows.is_none_or(|(a, b)| a == b) {
            faults.push(format!(
                "{place}: {part}: '{name}' is the name of two at {first:?} and {second:?}"
            ));
        }
    }
    faults
}

fn sample_traces() -> Vec<PathBuf> {
    let files = std::fs::read_dir(file("sample-traces")).unwrap();
    let mut paths: Vec<PathBuf> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| threadline::load::open(path, &threadline::base::Job::default()).is_ok())
        .collect();
    paths.sort();
    assert!(paths.len() >= 10);
    paths
}

#[track_caller]
fn assert_none(mut faults: Vec<String>) {
    faults.sort();
    faults.dedup();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn every_part_of_every_pane_has_a_name() {
    let mut found = Vec::new();
    for path in sample_traces() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut window = window(&path);
        for row in PANES {
            act(&mut window, Action::OpenPane(row.kind));
            found.extend(faults(&window, &format!("{name}, {}", row.kind.title())));
        }
    }
    assert_none(found);
}

#[test]
fn panes_about_what_is_selected_have_names_for_all() {
    let mut found = Vec::new();
    for path in ["sched-irq-syscalls.dat", "lua-make-j2.etrace.zst"] {
        let mut window = window(&file("sample-traces").join(path));
        let span = middle_half(&window);
        act(&mut window, Action::SelectTrack);
        act(&mut window, Action::SelectRange(span));
        act(&mut window, Action::MarkBoth(span));
        for time in [span.start, span.end] {
            act(
                &mut window,
                Action::Flag(threadline::view::flags::Flagging::Add(time)),
            );
        }
        let slice = threadline::query::Item::Slice(threadline::trace::SliceId(3));
        act(&mut window, Action::Reveal(slice));
        act(&mut window, Action::PinTip(slice));
        act(&mut window, Action::Search("e".to_owned()));
        for row in PANES {
            act(&mut window, Action::OpenPane(row.kind));
            found.extend(faults(
                &window,
                &format!("{path} selected, {}", row.kind.title()),
            ));
        }
    }
    assert_none(found);
}

#[test]
fn every_part_of_every_dialog_has_a_name() {
    let mut empty = empty_window();
    settle(&mut empty);
    let mut found = faults(&empty, "nothing is open");
    drop_on(&mut empty, file("Cargo.toml"));
    found.extend(faults(&empty, "an error"));
    let mut window = window_at_first(&hackbench());
    let layers = [
        Action::ToggleSettings,
        Action::ToggleHelp,
        Action::ToggleExport,
        Action::ToggleLegend,
        Action::Find(Finder::Commands),
        Action::Find(Finder::Tracks),
        Action::Find(Finder::Time),
        Action::OpenSearch,
        Action::DraftPlot(None),
        Action::Ask(Some(threadline::view::Question::KeepLayout)),
        Action::Ask(Some(threadline::view::Question::StartOver)),
        Action::Ask(Some(threadline::view::Question::Path(
            threadline::view::Purpose::Open,
        ))),
    ];
    for layer in layers {
        act(&mut window, layer.clone());
        found.extend(faults(&window, &format!("{layer:?}")));
        let away = match layer {
            Action::Find(_) => Action::CloseFinder,
            Action::DraftPlot(_) | Action::Ask(_) => Action::Ask(None),
            Action::OpenSearch => Action::CloseSearch,
            toggle => toggle,
        };
        act(&mut window, away);
    }
    for menu in ["File", "View", "Find", "Panes", "Tracks", "Help"] {
        if window.query_by_role_and_label(Role::Button, menu).is_some() {
            window.get_by_role_and_label(Role::Button, menu).click();
            window.run_steps(3);
            found.extend(faults(&window, &format!("menu {menu}")));
            key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
        }
    }
    assert_none(found);
}

/// The words of the live region, without the space that tells a repetition apart.
fn announced(window: &Window) -> String {
    let nodes: Vec<_> = window.root().children_recursive().collect();
    let region = nodes
        .iter()
        .find(|node| node.accesskit_node().live() == Live::Polite)
        .expect("a live region");
    let words = region.accesskit_node().label().unwrap_or_default();
    words.trim_end().to_owned()
}

/// Presses a key, waits until the view rests, and returns what is announced.
fn heard_after(window: &mut Window, modifiers: egui::Modifiers, pressed: egui::Key) -> String {
    window.key_press_modifiers(modifiers, pressed);
    window.run_steps(8);
    settle(window);
    announced(window)
}

const NONE: egui::Modifiers = egui::Modifiers::NONE;

#[test]
fn each_move_by_key_is_announced() {
    let mut window = window_at_first(&hackbench());
    window.run_steps(4);
    let expect = |words: &str, parts: &[&str]| {
        for part in parts {
            assert!(words.contains(part), "'{part}' is not in '{words}'");
        }
    };
    let slice = threadline::query::Item::Slice(threadline::trace::SliceId(3));
    act(&mut window, Action::Reveal(slice));
    window.run_steps(4);
    expect(
        &announced(&window),
        &["Selected: slice ", "thread ", " of ", "at "],
    );
    let first = announced(&window);
    let next = heard_after(&mut window, NONE, egui::Key::Period);
    expect(&next, &["Selected: slice "]);
    assert_ne!(first, next);
    let cases: &[(egui::Modifiers, egui::Key, &[&str])] = &[
        (NONE, egui::Key::W, &["Visible: ", ", from ", " to "]),
        (NONE, egui::Key::D, &["Visible: "]),
        (NONE, egui::Key::Num0, &["The whole trace is visible: "]),
        (
            egui::Modifiers::ALT,
            egui::Key::ArrowLeft,
            &["Back. Visible: "],
        ),
        (
            egui::Modifiers::ALT,
            egui::Key::ArrowRight,
            &["Forward. The whole trace"],
        ),
    ];
    for (modifiers, pressed, parts) in cases {
        expect(&heard_after(&mut window, *modifiers, *pressed), parts);
    }
    let help = heard_after(&mut window, egui::Modifiers::SHIFT, egui::Key::Questionmark);
    expect(&help, &["Keys and gestures opened"]);
    let closed = heard_after(&mut window, NONE, egui::Key::Escape);
    expect(&closed, &["Keys and gestures closed"]);
}

#[test]
fn what_is_done_to_tracks_marks_and_panes_is_announced() {
    let mut window = window_at_first(&hackbench());
    window.run_steps(4);
    assert!(announced(&window).starts_with("Loaded kprobe-hackbench.dat: trace.dat"));
    let row = window.state().state().rows.all()[0].key;
    let time = middle_half(&window).start;
    let range = middle_half(&window);
    let cases: Vec<(Action, &str)> = vec![
        (Action::Toggle(row), "CPUs collapsed, "),
        (Action::Toggle(row), "CPUs expanded, "),
        (Action::FoldAll, "tracks are shown"),
        (Action::Back, "Back. "),
        (
            Action::Arrange(threadline::view::Arrange::Pin(row)),
            "Pinned: CPUs",
        ),
        (
            Action::Arrange(threadline::view::Arrange::Hide(row)),
            "Hidden: CPUs",
        ),
        (
            Action::Arrange(threadline::view::Arrange::UnhideAll),
            "Shown again: CPUs",
        ),
        (Action::GoToRow(row), "Selected: Track CPUs"),
        (
            Action::Mark(threadline::view::Marker::A, time),
            "Marker A at ",
        ),
        (Action::MarkBoth(range), "From A to B "),
        (Action::ClearMarks, "Marker A removed. Marker B removed"),
        (
            Action::Flag(threadline::view::Flagging::Add(time)),
            "Flag added at ",
        ),
        (
            Action::StepFlag(threadline::view::Direction::Next),
            "No flag in that direction",
        ),
        (Action::SelectRange(range), "Selected range: "),
        (
            Action::OpenPane(PaneKind::Durations),
            "Pane Durations shown",
        ),
        (Action::ToggleDock, "Panes hidden"),
        (Action::Filter("kworker".to_owned()), "Filter kworker, "),
        (Action::Search("read".to_owned()), " matches"),
        (
            Action::Do(Effect::StepMatch(threadline::view::Direction::Next)),
            "Match 1 of ",
        ),
        (Action::CloseSearch, "Search closed"),
        (Action::Do(Effect::Copy("x".to_owned())), "Copied"),
        (Action::Do(Effect::Close), "Trace closed"),
    ];
    for (action, words) in cases {
        act(&mut window, action.clone());
        window.run_steps(6);
        settle(&mut window);
        let said = announced(&window);
        assert!(
            said.contains(words),
            "{action:?}: '{words}' is not in '{said}'"
        );
    }
    drop_on(&mut window, file("Cargo.toml"));
    window.run_steps(4);
    assert!(
        announced(&window).contains("Error: "),
        "{}",
        announced(&window)
    );
}

/// What is selected is marked in the tree as well, and tracks say what they are.
#[test]
fn the_selected_item_and_tracks_are_marked_in_the_tree() {
    let mut window = window_at_first(&hackbench());
    let name = "hackbench, ";
    window
        .get_all_by_label_contains(name)
        .next_back()
        .unwrap()
        .click();
    window.run_steps(3);
    settle(&mut window);
    let nodes: Vec<_> = window.root().children_recursive().collect();
    let selected: Vec<String> = nodes
        .iter()
        .filter(|node| node.accesskit_node().role() == Role::Button)
        .filter(|node| node.accesskit_node().is_selected() == Some(true))
        .filter_map(|node| node.accesskit_node().label())
        .collect();
    assert_eq!(selected.len(), 1, "{selected:?}");
    assert!(selected[0].starts_with(name) && selected[0].contains(", at "));
    let canvas = window.get_by_label("Timeline");
    let active = canvas.accesskit_node().data().active_descendant();
    assert!(active.is_some());
    let group = window.get_by_role_and_label(Role::TreeItem, "CPUs");
    let data = group.accesskit_node();
    assert_eq!(data.data().is_expanded(), Some(true));
    assert_eq!(data.data().level(), Some(1));
    assert_eq!(data.data().position_in_set(), Some(0));
    assert!(data.data().size_of_set() > Some(2));
}

/// A window that nobody listens to puts nothing into words.
#[test]
fn without_a_listener_nothing_is_announced() {
    let ctx = egui::Context::default();
    let input = |second: i32| egui::RawInput {
        time: Some(f64::from(second)),
        ..egui::RawInput::default()
    };
    threadline::gui::theme::install(&ctx);
    let mut app = threadline::gui::app::App::new(None);
    for second in 1..4 {
        let mut output = ctx.run_ui(input(second), |ui| app.ui(ui));
        output.textures_delta.clear();
        assert!(output.platform_output.accesskit_update.is_none());
        app.act(&ctx, Action::ToggleHelp);
    }
    assert_eq!(app.announced(), "");
    ctx.enable_accesskit();
    for second in 4..7 {
        let mut output = ctx.run_ui(input(second), |ui| app.ui(ui));
        output.textures_delta.clear();
        assert!(output.platform_output.accesskit_update.is_some());
        app.act(&ctx, Action::ToggleHelp);
    }
    assert!(app.announced().starts_with("Keys and gestures "));
}

#[test]
fn no_text_of_a_trace_cuts_the_window_off_from_screen_readers() {
    // An argument of the first event contains NUL, which no text on D-Bus may.
    let mut window = window(&file("tests/cases/fxt/all_args.fxt.zst"));
    let slice = threadline::query::Item::Slice(threadline::trace::SliceId(0));
    act(&mut window, Action::Select(slice));
    let mut seen = String::new();
    for pane in [PaneKind::Events, PaneKind::Details] {
        act(&mut window, Action::OpenPane(pane));
        settle(&mut window);
        for node in window.root().children_recursive() {
            let it = node.accesskit_node();
            let texts = [
                it.label(),
                it.value(),
                it.description(),
                it.placeholder().map(str::to_owned),
            ];
            for text in texts.into_iter().flatten() {
                assert!(!text.contains('\0'), "{:?} {text:?}", it.role());
                seen += &text;
            }
        }
    }
    assert!(seen.contains("value from table"), "the argument is shown");
}
