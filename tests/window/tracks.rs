//! Tracks: grouped by hand, named, folded, dragged into groups and out of them, made higher; and all of it kept.

use crate::support::*;
use egui_kittest::kittest::Queryable;
use threadline::view::{Action, Arrange, Fold, RowKey};

const NONE: egui::Modifiers = egui::Modifiers::NONE;

/// The header of the first track of that name.
fn header(window: &Window, title: &str) -> egui::Rect {
    let all = window.get_all_by_label(title);
    let mut rects = all.map(|node| node.rect());
    rects.find(|rect| rect.left() < 20.0).unwrap()
}

fn click(window: &mut Window, at: egui::Pos2, modifiers: egui::Modifiers) {
    window.hover_at(at);
    window.run_steps(1);
    for pressed in [true, false] {
        let event = egui::Event::PointerButton {
            pos: at,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers,
        };
        window.event_modifiers(event, modifiers);
        window.run_steps(1);
    }
    settle(window);
}

fn titles(window: &Window) -> Vec<String> {
    let rows = window.state().state().rows.all();
    rows.iter().map(|row| row.title.to_string()).collect()
}

fn row(window: &Window, title: &str) -> threadline::view::Row {
    let rows = window.state().state().rows.all();
    rows.iter()
        .find(|row| &*row.title == title)
        .cloned()
        .unwrap()
}

fn tall_window() -> Window {
    let mut window = window(&hackbench());
    act(&mut window, Action::ToggleDock);
    window
}

/// Two tracks chosen by hand, grouped by key and named by typing.
fn grouped(window: &mut Window) -> RowKey {
    let first = header(window, "rcu_preempt").center();
    click(window, first, NONE);
    let second = header(window, "CPU 2").center();
    click(window, second, egui::Modifiers::COMMAND);
    assert_eq!(
        window
            .state()
            .state()
            .area_rows
            .as_ref()
            .map(std::vec::Vec::len),
        Some(2)
    );
    key(window, NONE, egui::Key::G);
    settle(window);
    let name = window.get_by_role_and_label(egui::Role::TextInput, "New name of the track");
    name.type_text("Suspects");
    window.run_steps(2);
    window.key_press(egui::Key::Enter);
    settle(window);
    row(window, "Suspects").key
}

#[test]
fn tracks_are_grouped_named_folded_and_ungrouped() {
    let mut window = tall_window();
    let before = titles(&window);
    let group = grouped(&mut window);
    let shown = titles(&window);
    let at = shown.iter().position(|title| title == "Suspects").unwrap();
    assert_eq!(shown[at + 1..at + 3], ["CPU 2", "rcu_preempt"]);
    assert_eq!(shown.len(), before.len() + 1);
    assert_eq!(row(&window, "CPU 2").depth, 1);
    window.snapshot("track-group");
    // Fold it by a click on its arrow.
    let area = header(&window, "Suspects");
    click(
        &mut window,
        area.left_center() + egui::vec2(10.0, 0.0),
        NONE,
    );
    assert_eq!(row(&window, "Suspects").fold, Fold::Closed);
    assert!(!titles(&window).contains(&"rcu_preempt".to_owned()));
    act(&mut window, Action::Toggle(group));
    act(&mut window, Action::Arrange(Arrange::Ungroup(group)));
    assert_eq!(titles(&window), before);
}

#[test]
fn a_track_is_dragged_into_a_group_and_out_of_it() {
    let mut window = tall_window();
    let group = grouped(&mut window);
    let from = header(&window, "CPU 1").center();
    let until = header(&window, "rcu_preempt").center() + egui::vec2(0.0, 4.0);
    drag_and_hold(&mut window, from, until);
    window.snapshot("track-into-group");
    window.drop_at(until);
    settle(&mut window);
    let shown = titles(&window);
    let at = shown.iter().position(|title| title == "Suspects").unwrap();
    assert_eq!(shown[at + 1..at + 4], ["CPU 2", "rcu_preempt", "CPU 1"]);
    // Within the group: to its top.
    let from = header(&window, "CPU 1").center();
    let until = header(&window, "CPU 2").center() - egui::vec2(0.0, 6.0);
    drag_and_hold(&mut window, from, until);
    window.drop_at(until);
    settle(&mut window);
    let shown = titles(&window);
    assert_eq!(shown[at + 1..at + 4], ["CPU 1", "CPU 2", "rcu_preempt"]);
    // And out: to where it lies by nature.
    let from = header(&window, "CPU 2").center();
    let until = header(&window, "CPU 0").center();
    drag_and_hold(&mut window, from, until);
    window.drop_at(until);
    settle(&mut window);
    let state = window.state().state();
    assert_eq!(state.layout.group(group).unwrap().members.len(), 2);
    assert!(state.layout.group_of(RowKey::Cpu(2)).is_none());
}

#[test]
fn groups_and_heights_are_kept_with_the_session_and_the_layout() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let mut first = window_keeping(&settings);
    show(&mut first, &hackbench());
    act(&mut first, Action::ToggleDock);
    let group = grouped(&mut first);
    let inner = Arrange::Group(vec![RowKey::Cpu(2)]);
    act(&mut first, Action::Arrange(inner));
    act(&mut first, Action::StartRename(None));
    let higher = Arrange::Height(RowKey::Cpu(2), 250);
    act(&mut first, Action::Arrange(higher));
    act(&mut first, Action::Arrange(Arrange::Save("mine".into())));
    let (layout, shown) = (first.state().state().layout.clone(), titles(&first));
    assert_eq!(layout.groups.len(), 2);
    first.state_mut().close();
    let mut second = window_keeping(&settings);
    show(&mut second, &hackbench());
    assert_eq!(titles(&second), shown);
    assert_eq!(second.state().state().layout, layout);
    assert_eq!(row(&second, "CPU 2").lanes[0].height, 50.0);
    // In another trace the tracks are found by their names.
    act(&mut second, Action::Arrange(Arrange::Reset));
    assert!(
        second
            .state()
            .state()
            .outline
            .node(RowKey::Made(1))
            .is_none()
    );
    act(&mut second, Action::Arrange(Arrange::Use("mine".into())));
    assert_eq!(titles(&second), shown);
    assert_eq!(second.state().state().layout.heights, layout.heights);
    act(&mut second, Action::Arrange(Arrange::Ungroup(group)));
    assert_eq!(second.state().state().layout.groups.len(), 1);
}

#[test]
fn a_track_is_made_higher_by_its_lower_edge_and_by_keys() {
    let mut window = tall_window();
    // Heights follow what is visible once the view rests.
    window.run_steps(4);
    settle(&mut window);
    let before = row(&window, "CPU 3").height;
    let area = header(&window, "CPU 3");
    let edge = area.center_bottom() - egui::vec2(0.0, 1.0);
    let until = edge + egui::vec2(0.0, 30.0);
    drag_and_hold(&mut window, edge, until);
    window.drop_at(until);
    settle(&mut window);
    let after = row(&window, "CPU 3").height;
    assert!(
        (after - before - 30.0).abs() <= 2.0,
        "{before} became {after}"
    );
    let at = header(&window, "CPU 3").center();
    let canvas = window.get_by_label("Timeline").rect();
    window.hover_at(egui::pos2(canvas.center().x, at.y));
    window.run_steps(2);
    key(&mut window, egui::Modifiers::ALT, egui::Key::Minus);
    assert!(row(&window, "CPU 3").height < after);
    key(&mut window, egui::Modifiers::ALT, egui::Key::Num0);
    settle(&mut window);
    assert_eq!(row(&window, "CPU 3").height, before);
}
