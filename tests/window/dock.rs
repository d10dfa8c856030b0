//! The panes: dragged, split, closed, opened again, sized, put at the other side, and kept.

use crate::support::*;
use egui::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::view::dock::Tile;
use threadline::view::{Action, Arrange, Dock, DockSide, Docking, PaneKind, RowKey};

fn dock(window: &Window) -> &Dock {
    &window.state().state().dock
}

fn tab(window: &Window, name: &str) -> egui::Rect {
    window
        .get_by_role_and_label(egui::Role::Button, name)
        .rect()
}

fn parts(tile: &Option<Tile>) -> &[(f32, Tile)] {
    match tile {
        Some(Tile::Row(parts) | Tile::Column(parts)) => parts,
        _ => panic!("{tile:?}"),
    }
}

#[test]
fn a_tab_is_dragged_beside_the_others_and_among_others() {
    let mut window = window_at_first(&hackbench());
    assert_eq!(parts(&dock(&window).tiles).len(), 2);
    let canvas = window.get_by_label("Timeline").rect();
    // To the right edge of the panes: a column of its own.
    let from = tab(&window, "Durations").center();
    drag(&mut window, from, egui::pos2(canvas.right() - 6.0, 470.0));
    let row = parts(&dock(&window).tiles);
    assert_eq!(row.len(), 3, "{:?}", dock(&window).tiles);
    assert_eq!(row[2].1, Tile::tab(PaneKind::Durations));
    // All three are seen at once.
    let role = egui::accesskit::Role::TabPanel;
    for name in ["Details", "Events", "Durations"] {
        window.get_by_role_and_label(role, name);
    }
    window.snapshot("dock-split");
    // Onto the tab of Details: among its tabs.
    let (from, until) = (tab(&window, "Durations"), tab(&window, "Details"));
    drag(&mut window, from.center(), until.center());
    let row = parts(&dock(&window).tiles);
    assert_eq!(row.len(), 2, "{:?}", dock(&window).tiles);
    assert!(matches!(&row[0].1, Tile::Tabs { panes, .. } if panes.len() == 2));
}

#[test]
fn panes_are_closed_and_opened_by_hand() {
    let mut window = window_at_first(&hackbench());
    window.get_by_label("Close Details").click();
    settle(&mut window);
    assert!(!dock(&window).panes().contains(&PaneKind::Details));
    window.get_by_label_contains("Open a pane beside").click();
    window.run_steps(2);
    window
        .get_by_role_and_label(egui::Role::Button, "Details")
        .click();
    settle(&mut window);
    let last = dock(&window).panes().last().copied();
    assert_eq!(last, Some(PaneKind::Details));
    tab(&window, "Details");
    // From the tab's menu: below the others.
    let details = window.get_by_role_and_label(egui::Role::Button, "Details");
    details.click_secondary();
    window.run_steps(2);
    window.get_by_label("Put below the others").click();
    settle(&mut window);
    assert!(matches!(&dock(&window).tiles, Some(Tile::Column(parts)) if parts.len() == 2));
    // The last one that is closed leaves the whole window to the timeline; Q brings panes back.
    for pane in [PaneKind::Details, PaneKind::Events] {
        let only = Docking::CloseOthers(pane);
        act(&mut window, Action::Dock(only));
        if let Some(close) = window.query_by_label(&format!("Close {}", pane.title())) {
            close.click();
            settle(&mut window);
        }
    }
    assert!(dock(&window).tiles.is_none());
    key(&mut window, egui::Modifiers::NONE, egui::Key::Q);
    assert_eq!(dock(&window).panes().len(), 9);
}

#[test]
fn the_panes_are_sized_and_put_at_the_right() {
    let mut window = window_at_first(&hackbench());
    let before = window.get_by_label("Timeline").rect();
    let grip = window.get_by_label("Size of the panes").rect().center();
    drag(&mut window, grip, grip - egui::vec2(0.0, 90.0));
    let after = window.get_by_label("Timeline").rect();
    assert!((before.height() - after.height() - 90.0).abs() < 3.0);
    act(&mut window, Action::Dock(Docking::Side(DockSide::Right)));
    let beside = window.get_by_label("Timeline").rect();
    assert!(beside.height() > before.height() && beside.width() < before.width() * 0.7);
    window.snapshot("dock-right");
}

#[test]
fn the_arrangement_comes_back_with_the_window_the_session_and_the_layout() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let mut first = window_keeping(&settings);
    show(&mut first, &hackbench());
    act(&mut first, Action::OpenPane(PaneKind::Marks));
    act(&mut first, Action::Dock(Docking::Side(DockSide::Right)));
    act(&mut first, Action::Dock(Docking::Share(0.5)));
    act(&mut first, Action::Arrange(Arrange::Save("mine".into())));
    let kept = dock(&first).clone();
    first.state_mut().close();
    // The settings: a window that shows nothing yet.
    let mut second = window_keeping(&settings);
    assert_eq!(*dock(&second), kept);
    // The session: work on a trace, and panes that are its own.
    show(&mut second, &hackbench());
    act(&mut second, Action::Arrange(Arrange::Pin(RowKey::Cpu(1))));
    act(&mut second, Action::Dock(Docking::Reset));
    act(&mut second, Action::OpenPane(PaneKind::Files));
    let of_trace = dock(&second).clone();
    second.state_mut().close();
    let mut third = window_keeping(&settings);
    act(&mut third, Action::Dock(Docking::Reset));
    show(&mut third, &hackbench());
    assert_eq!(*dock(&third), of_trace);
    // The layout.
    act(&mut third, Action::Arrange(Arrange::Use("mine".into())));
    assert_eq!(*dock(&third), kept);
}

#[test]
fn a_narrow_pane_puts_its_charts_below_its_table() {
    let mut window = window_at_first(&hackbench());
    act(&mut window, Action::Dock(Docking::Side(DockSide::Right)));
    act(
        &mut window,
        Action::Dock(Docking::ShowOnly(vec![PaneKind::Durations])),
    );
    let table = window.get_by_label("Filter rows").rect();
    let chart = window.get_by_label("Histogram of durations").rect();
    window.snapshot("durations-narrow");
    assert!(chart.top() > table.bottom() + 100.0, "{chart:?} {table:?}");
    assert!(chart.width() > 250.0);
    // Marks are one table, below the words on how to make those that are missing.
    act(
        &mut window,
        Action::Dock(Docking::ShowOnly(vec![PaneKind::Marks])),
    );
    let words = |window: &Window| {
        let hints = ["put markers", "keeps what is seen", "puts a flag"];
        hints.map(|it| window.get_by_label_contains(it).rect().top())
    };
    assert!(words(&window).is_sorted());
    act(&mut window, Action::Dock(Docking::Side(DockSide::Bottom)));
    assert!(words(&window).is_sorted());
    act(
        &mut window,
        Action::Dock(Docking::ShowOnly(vec![PaneKind::Durations])),
    );
    // In a low pane it stands beside it.
    act(&mut window, Action::Dock(Docking::Side(DockSide::Bottom)));
    let table = window.get_by_label("Filter rows").rect();
    let chart = window.get_by_label("Histogram of durations").rect();
    assert!(chart.left() > table.right(), "{chart:?} {table:?}");
}

#[test]
fn tabs_are_turned_moved_closed_and_walked_through_by_keys() {
    use egui::{Key, Modifiers};
    let ctrl = Modifiers::COMMAND;
    let ctrl_shift = ctrl | Modifiers::SHIFT;
    let mut window = window_at_first(&hackbench());
    let fronts = |window: &Window| {
        let fronts = dock(window).fronts();
        fronts
            .iter()
            .map(|pane| pane.title())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(fronts(&window), "Details Events");
    // At first the fullest tabs are at hand.
    key(&mut window, ctrl, Key::Tab);
    assert_eq!(fronts(&window), "Details Selection");
    key(&mut window, ctrl, Key::PageDown);
    assert_eq!(fronts(&window), "Details Durations");
    key(&mut window, ctrl_shift, Key::Tab);
    key(&mut window, ctrl, Key::PageUp);
    key(&mut window, ctrl, Key::PageUp);
    assert_eq!(fronts(&window), "Details Info");
    // F6 goes from the timeline through the panes and back; what it comes to has the keyboard.
    let has_focus = |window: &Window, name: &str| {
        let tab = window.get_by_role_and_label(egui::Role::Button, name);
        tab.accesskit_node().is_focused()
    };
    act(&mut window, Action::AtPane(None, Default::default()));
    key(&mut window, Modifiers::NONE, Key::F6);
    assert!(has_focus(&window, "Details"));
    key(&mut window, Modifiers::NONE, Key::F6);
    assert!(has_focus(&window, "Info"));
    // Its neighbour takes the keyboard over, and letters still do what they do.
    key(&mut window, ctrl, Key::Tab);
    assert!(has_focus(&window, "Events"));
    let whole = visible(&window);
    key(&mut window, Modifiers::NONE, Key::W);
    assert!(visible(&window) < whole);
    key(&mut window, Modifiers::NONE, Key::F6);
    assert!(window.ctx.memory(|memory| memory.focused()).is_none());
    key(&mut window, Modifiers::SHIFT, Key::F6);
    key(&mut window, Modifiers::SHIFT, Key::F6);
    assert!(has_focus(&window, "Details"));
    // The tab is moved into the next ones, along them, and closed.
    key(&mut window, ctrl_shift, Key::PageDown);
    assert_eq!(fronts(&window), "Details");
    key(&mut window, ctrl_shift, Key::PageDown);
    assert_eq!(
        dock(&window).panes()[..2],
        [PaneKind::Events, PaneKind::Details]
    );
    key(&mut window, ctrl_shift, Key::PageUp);
    assert_eq!(
        dock(&window).panes()[..2],
        [PaneKind::Details, PaneKind::Events]
    );
    key(&mut window, ctrl, Key::W);
    assert!(!dock(&window).panes().contains(&PaneKind::Details));
    assert_eq!(fronts(&window), "Events");
}

#[test]
fn keys_are_for_the_tabs_that_were_pressed_last() {
    use egui::{Key, Modifiers};
    let mut window = window_at_first(&hackbench());
    let at = tab(&window, "Details").left_bottom() + egui::vec2(20.0, 100.0);
    window.hover_at(at);
    window.drag_at(at);
    window.drop_at(at);
    window.run_steps(3);
    key(&mut window, Modifiers::COMMAND, Key::W);
    assert!(!dock(&window).panes().contains(&PaneKind::Details));
    // The key is said where one looks for it.
    key(&mut window, Modifiers::NONE, Key::Questionmark);
    // The page that contains the group Window.
    {
        let pages = window.query_all_by_role(Role::Button);
        let mut pages = pages.filter(|page| {
            let label = page.accesskit_node().label();
            label.is_some_and(|it| it.split(" · ").any(|group| group == "Window"))
        });
        let page = pages.next_back();
        page.expect("a page with the keys of the window").click();
    }
    window.run_steps(3);
    for keys in ["Ctrl+Tab\nCtrl+Page Down", "Ctrl+W", "F6"] {
        assert!(window.query_by_label(keys).is_some(), "{keys}");
    }
}

#[test]
fn however_long_a_name_is_the_buttons_beside_it_stay_in_sight() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.txt");
    let name = "long::name<of<a<template>>>::".repeat(40);
    let text = format!(
        "# tracer: nop\n#\n  a-7     [000] d..2.  1.000001: tracing_mark_write: B|7|{name}\n  \
         a-7     [000] d..2.  1.000009: tracing_mark_write: E|7\n"
    );
    std::fs::write(&path, text).unwrap();
    let mut window = window_at_first(&path);
    let slice = threadline::query::Item::Slice(threadline::trace::SliceId(0));
    act(&mut window, Action::Select(slice));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    let details = window.get_by_role_and_label(Role::Button, "Details").rect();
    let copies = window.query_all_by_role_and_label(Role::Button, "Copy");
    let mut copies: Vec<_> = copies.map(|it| it.rect()).collect();
    copies.sort_by(|a, b| a.left().total_cmp(&b.left()));
    assert!(copies[0].right() < details.left() + 270.0, "{copies:?}");
    act(&mut window, Action::OpenPane(PaneKind::Durations));
    let field = window.get_by_role_and_label(Role::TextInput, "Filter rows");
    let button = window.get_by_role_and_label(Role::Button, "log");
    assert!(button.rect().top() < field.rect().bottom() + 30.0);
}
