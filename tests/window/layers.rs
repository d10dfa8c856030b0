//! What lies over the window: one Esc closes one layer and leaves the rest, and what is typed there goes nowhere else.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::query::Item;
use threadline::trace::SliceId;
use threadline::view::{Action, Finder, PaneKind, Question};

fn selected() -> Window {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::Reveal(Item::Slice(SliceId(3))));
    window
}

fn escape(window: &mut Window) {
    key(window, Modifiers::NONE, Key::Escape);
}

fn is_selected(window: &Window) -> bool {
    window.state().state().selected == Some(Item::Slice(SliceId(3)))
}

fn click_menu(window: &mut Window, name: &str) {
    window.get_by_label(name).click();
    window.run_steps(3);
}

#[test]
fn one_esc_closes_what_is_asked_and_leaves_the_selection() {
    let mut window = selected();
    for finder in [Finder::Commands, Finder::Tracks, Finder::Time] {
        act(&mut window, Action::Find(finder));
        window.run_steps(2);
        escape(&mut window);
        assert!(window.state().state().finder.is_none());
        assert!(is_selected(&window), "{finder:?}");
    }
    act(&mut window, Action::ToggleSettings);
    escape(&mut window);
    assert!(!window.state().state().is_settings_open && is_selected(&window));
    act(&mut window, Action::ToggleHelp);
    escape(&mut window);
    assert!(!window.state().state().is_help_open && is_selected(&window));
    act(&mut window, Action::Ask(Some(Question::StartOver)));
    escape(&mut window);
    assert!(window.state().state().question.is_none() && is_selected(&window));
    escape(&mut window);
    assert!(window.state().state().selected.is_none(), "it was the last");
}

#[test]
fn one_esc_closes_a_menu_and_leaves_the_selection() {
    let mut window = selected();
    click_menu(&mut window, "View");
    assert!(
        window.query_by_label("Go to a time").is_some() || egui::Popup::is_any_open(&window.ctx)
    );
    escape(&mut window);
    assert!(!egui::Popup::is_any_open(&window.ctx) && is_selected(&window));
    act(&mut window, Action::OpenPane(PaneKind::Events));
    window.get_by_label("Columns").click();
    window.run_steps(3);
    assert!(egui::Popup::is_any_open(&window.ctx));
    escape(&mut window);
    assert!(!egui::Popup::is_any_open(&window.ctx) && is_selected(&window));
    let at = canvas(&window).center();
    window.hover_at(at);
    window.event(egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Secondary,
        pressed: true,
        modifiers: Modifiers::NONE,
    });
    window.run_steps(2);
    window.event(egui::Event::PointerButton {
        pos: at,
        button: egui::PointerButton::Secondary,
        pressed: false,
        modifiers: Modifiers::NONE,
    });
    window.run_steps(3);
    assert!(egui::Popup::is_any_open(&window.ctx));
    let before = window.state().state().selected;
    // Keys do not act behind it.
    let view = format!("{:?}", window.state().state());
    for behind in [Key::H, Key::F, Key::X, Key::W, Key::Questionmark] {
        key(&mut window, Modifiers::NONE, behind);
    }
    assert!(egui::Popup::is_any_open(&window.ctx));
    assert_eq!(format!("{:?}", window.state().state()), view);
    escape(&mut window);
    assert!(!egui::Popup::is_any_open(&window.ctx));
    assert_eq!(window.state().state().selected, before);
}

#[test]
fn the_search_is_found_in_a_menu() {
    let mut window = selected();
    click_menu(&mut window, "Find");
    window.get_by_label_contains("Search").click();
    window.run_steps(3);
    assert!(window.state().state().search.is_open);
    window.event(egui::Event::Text("read".to_owned()));
    window.run_steps(3);
    assert_eq!(window.state().state().search.text, "read");
    click_menu(&mut window, "Help");
    window.get_by_label_contains("Keys and gestures").click();
    window.run_steps(3);
    assert!(window.state().state().is_help_open);
}

#[test]
fn one_esc_leaves_a_field_and_leaves_the_selection() {
    let mut window = selected();
    act(&mut window, Action::OpenPane(PaneKind::Events));
    type_into(&mut window, "Filter events", "sched");
    escape(&mut window);
    assert!(!window.ctx.egui_wants_keyboard_input() && is_selected(&window));
    key(&mut window, Modifiers::NONE, Key::Slash);
    window
        .get_by_role_and_label(Role::TextInput, "Search")
        .type_text("sched");
    window.run_steps(2);
    settle(&mut window);
    escape(&mut window);
    assert!(is_selected(&window) && window.state().state().search.is_open);
    escape(&mut window);
    let state = window.state().state();
    assert!(state.selected.is_none() && state.search.is_open);
    escape(&mut window);
    assert!(!window.state().state().search.is_open);
}

#[test]
fn a_layout_is_kept_by_mouse_and_keyboard() {
    let mut window = selected();
    let view = window.get_by_label("View").rect().center();
    click_at(&mut window, view);
    let layouts = window.get_by_label_contains("Layouts").rect().center();
    window.hover_at(layouts);
    window.run_steps(4);
    let field = window.get_by_role_and_label(Role::TextInput, "Name of the layout");
    let field = field.rect().center();
    // Along the menu's row, as a hand goes.
    window.hover_at(egui::pos2(field.x, layouts.y));
    window.run_steps(2);
    click_at(&mut window, field);
    assert!(
        window.query_by_label("Name of the layout").is_some(),
        "the menu stays"
    );
    window.event(egui::Event::Text("wide".to_owned()));
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    let names = |window: &Window| -> Vec<String> {
        let layouts = window.state().state().layouts.iter();
        layouts.map(|layout| layout.name.clone()).collect()
    };
    assert_eq!(names(&window), ["wide"]);
    window.get_by_label("wide").click();
    window.run_steps(3);
    assert!(!egui::Popup::is_any_open(&window.ctx), "it is chosen");
}

#[test]
fn a_layout_is_kept_and_used_from_the_palette() {
    let mut window = selected();
    let command = |window: &mut Window, text: &str| {
        key(window, Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
        window.event(egui::Event::Text(text.to_owned()));
        window.run_steps(2);
        key(window, Modifiers::NONE, Key::Enter);
    };
    command(&mut window, "Keep the layout");
    window.event(egui::Event::Text("mine".to_owned()));
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(window.state().state().layouts[0].name, "mine");
    assert!(window.state().state().question.is_none());
    act(&mut window, Action::FoldAll);
    let folded = window.state().state().rows.all().len();
    command(&mut window, "Use the layout: mine");
    assert!(window.state().state().rows.all().len() > folded);
}
