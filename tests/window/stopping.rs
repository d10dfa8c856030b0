//! Work in the background: that it goes on is seen, and it is stopped by a button and by keys.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use std::sync::Arc;
use std::time::Duration;
use threadline::base::Job;
use threadline::event::{DecodedEvent, Need};
use threadline::formats::{EventRef, Events};
use threadline::load;
use threadline::view::{Action, PaneKind};

/// A reader that takes its time over every event.
struct Slow(Arc<dyn Events>);

impl Events for Slow {
    fn decode<'a>(&'a self, event: EventRef, need: Need<'_>, decoded: &mut DecodedEvent<'a>) {
        std::thread::sleep(Duration::from_millis(8));
        self.0.decode(event, need, decoded);
    }
}

fn slow_window() -> Window {
    let mut loaded = load::open(&hackbench(), &Job::default()).unwrap();
    loaded.reader = Arc::new(Slow(loaded.reader));
    let mut window = window(&hackbench());
    window.state_mut().show(Arc::new(loaded));
    window.run_steps(2);
    window
}

fn type_into(window: &mut Window, field: &str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).click();
    window.run_steps(2);
    let field = window.get_by_role_and_label(Role::TextInput, field);
    field.type_text(text);
    window.run_steps(3);
}

#[test]
fn a_search_is_stopped_by_its_button_and_by_esc_and_goes_on() {
    let mut window = slow_window();
    key(&mut window, Modifiers::NONE, Key::Slash);
    type_into(&mut window, "Search", "no such text");
    assert!(window.state().is_busy());
    // How far it is shows as soon as its thread knows.
    let tells = |window: &Window| window.query_all_by_label_contains(" %").next().is_some();
    for _ in 0..50 {
        if !tells(&window) {
            std::thread::sleep(Duration::from_millis(5));
            window.step();
        }
    }
    assert!(tells(&window));
    window.get_by_label("Stop").click();
    settle(&mut window);
    let stopped = |window: &Window| {
        window
            .query_by_label("Stopped; no match up to there")
            .is_some()
    };
    assert!(stopped(&window));
    window.get_by_label("Go on").click();
    window.run_steps(3);
    assert!(window.state().is_busy() && !stopped(&window));
    // Esc while one types stops it, and the text stays.
    key(&mut window, Modifiers::NONE, Key::Escape);
    settle(&mut window);
    assert!(stopped(&window));
    assert_eq!(window.state().state().search.text, "no such text");
    // So does it while nothing has the keyboard; only then it selects nothing.
    window.get_by_label("Go on").click();
    window.run_steps(3);
    let focused = window.ctx.memory(|memory| memory.focused());
    if let Some(id) = focused {
        window.ctx.memory_mut(|memory| memory.surrender_focus(id));
    }
    let span = window.state().state().trace_span;
    let ctx = window.ctx.clone();
    window.state_mut().act(&ctx, Action::SelectRange(span));
    key(&mut window, Modifiers::NONE, Key::Escape);
    settle(&mut window);
    assert!(stopped(&window) && window.state().state().range.is_some());
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.state().state().range.is_none());
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!window.state().state().search.is_open);
}

#[test]
fn events_and_pairs_are_stopped_with_all_that_goes_on() {
    let mut window = slow_window();
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .act(&ctx, Action::OpenPane(PaneKind::Events));
    window.run_steps(3);
    type_into(&mut window, "Filter events", "no such text");
    key(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(3);
    assert!(window.state().is_busy());
    window.get_by_label("Stop").click();
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("where it was stopped")
            .next()
            .is_some()
    );
    window
        .state_mut()
        .act(&ctx, Action::OpenPane(PaneKind::Latency));
    window.run_steps(3);
    window.get_by_label("Event to event").click();
    window.run_steps(3);
    type_into(&mut window, "First event", "no such text");
    type_into(&mut window, "Second event", "no such text");
    window.run_steps(3);
    if let Some(id) = window.ctx.memory(|memory| memory.focused()) {
        window.ctx.memory_mut(|memory| memory.surrender_focus(id));
    }
    assert!(window.state().is_busy());
    key(&mut window, Modifiers::SHIFT, Key::Escape);
    settle(&mut window);
    assert!(window.query_by_label("Stopped").is_some());
    window.get_by_label("Go on").click();
    window.run_steps(3);
    assert!(window.state().is_busy());
}
