//! States of threads have names and colours: in the legend, in bars, in tooltips, and the same in panes.

use crate::support::*;
use std::collections::BTreeSet;

use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Nanos, TimeSpan};
use threadline::trace::ThreadState;
use threadline::view::rows::{LaneKind, RowKind};
use threadline::view::{Action, PaneKind, ThemeChoice};

fn irqs() -> Window {
    let mut window = window_at_first(&file("sample-traces/sched-irq-syscalls.dat"));
    let start = window.state().state().trace_span.start;
    let at = |ms: i64| start + Nanos(ms * 1_000_000);
    act(&mut window, Action::Show(TimeSpan::new(at(600), at(660))));
    window
}

#[test]
fn the_legend_names_every_state_and_opens_by_key_and_menu() {
    let mut window = irqs();
    key(&mut window, Modifiers::SHIFT, Key::L);
    for state in ThreadState::ALL {
        for words in [state.word(), state.meaning()] {
            assert!(window.query_all_by_label(words).next().is_some(), "{words}");
        }
    }
    for words in ["hatched", "fades out", "arrow", "lines A and B"] {
        assert!(window.query_by_label(words).is_some(), "{words}");
    }
    window.snapshot("legend-dark");
    act(&mut window, Action::SetTheme(ThemeChoice::Light));
    window.snapshot("legend-light");
    // The tracks behind it can be used, and one Esc after the selection's closes it.
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!window.state().state().is_legend_open);
    // High enough for the whole menu.
    window.set_size(egui::vec2(1280.0, 900.0));
    window.run_steps(3);
    for menu in ["View", "Help"] {
        window.get_by_label(menu).click();
        window.run_steps(3);
        window.get_by_label_contains("Legend:").click();
        window.run_steps(3);
        assert!(window.state().state().is_legend_open, "{menu}");
        window.get_by_role_and_label(Role::Button, "Close").click();
        window.run_steps(3);
        assert!(!window.state().state().is_legend_open);
    }
}

/// The colours in a part of the picture.
fn colors_in(picture: &image::RgbaImage, part: egui::Rect) -> BTreeSet<[u8; 4]> {
    let mut colors = BTreeSet::new();
    for y in part.top().ceil() as u32..part.bottom() as u32 {
        for x in part.left().ceil() as u32..part.right() as u32 {
            colors.insert(picture.get_pixel(x, y).0);
        }
    }
    colors
}

/// The colour at the left end of the widest bar of this name.
fn bar_color(window: &Window, picture: &image::RgbaImage, name: &str) -> [u8; 4] {
    let area = canvas(window);
    let bars = bars_named(window, name).into_iter();
    let bars = bars.map(|bar| bar.intersect(area));
    let widest = bars.max_by(|a, b| a.width().total_cmp(&b.width())).unwrap();
    let at = widest.left_center() + egui::vec2(2.0, 0.0);
    picture.get_pixel(at.x as u32, at.y as u32).0
}

#[test]
fn swatches_in_panes_have_the_colours_of_the_bars() {
    for theme in [ThemeChoice::Dark, ThemeChoice::Light] {
        let mut window = irqs();
        act(&mut window, Action::SetTheme(theme));
        window.set_size(egui::vec2(1280.0, 900.0));
        settle(&mut window);
        let plain = window.render().unwrap();
        let states = ["running", "sleeping", "preempted"];
        let bars = states.map(|state| bar_color(&window, &plain, state));
        assert!(bars[0] != bars[1] && bars[1] != bars[2]);
        key(&mut window, Modifiers::SHIFT, Key::L);
        window.run_steps(2);
        let picture = window.render().unwrap();
        for (state, color) in states.into_iter().zip(bars) {
            let words = window.query_all_by_label(state);
            let mut beside = words.map(|word| {
                let rect = word.rect();
                rect.with_min_x(rect.left() - 40.0).with_max_x(rect.left())
            });
            assert!(
                beside.any(|part| colors_in(&picture, part).contains(&color)),
                "{theme:?}: the legend's {state}"
            );
        }
        key(&mut window, Modifiers::SHIFT, Key::L);
        let span = window.state().state().span;
        act(&mut window, Action::SelectRange(span));
        act(&mut window, Action::OpenPane(PaneKind::Selection));
        click_button(&mut window, "Thread states");
        let picture = window.render().unwrap();
        for (state, color) in states.into_iter().zip(bars) {
            let rows = window.query_all_by_role(Role::Row);
            let is_it = |row: &egui_kittest::Node<'_>| {
                let label = row.accesskit_node().label();
                label.is_some_and(|label| label.starts_with(state))
            };
            let row = rows.into_iter().find(is_it);
            let row = row.unwrap_or_else(|| panic!("{theme:?}: no row {state}"));
            let start = row.rect().with_max_x(row.rect().left() + 24.0);
            assert!(
                colors_in(&picture, start).contains(&color),
                "{theme:?}: {state}"
            );
        }
    }
}

/// How high the lane of the states of the first thread is that is shown.
fn state_height(window: &Window) -> f32 {
    let rows = window.state().state().rows.all().iter();
    let mut lanes = rows
        .filter(|row| matches!(row.kind, RowKind::Thread(_) | RowKind::Process(_)))
        .flat_map(|row| &row.lanes);
    let of_states = |lane: &&threadline::view::rows::Lane| matches!(lane.kind, LaneKind::States(_));
    lanes.find(of_states).unwrap().height
}

#[test]
fn bars_grow_where_few_tracks_leave_room_and_shrink_again() {
    let mut window = irqs();
    assert_eq!(state_height(&window), 12.0);
    act(&mut window, Action::Filter("mix.sh".to_owned()));
    window.run_steps(3);
    assert_eq!(state_height(&window), 18.0);
    window.snapshot("grown-bars");
    let (rows, area) = (&window.state().state().rows, canvas(&window));
    assert!(rows.height() <= area.height());
    act(&mut window, Action::Filter(String::new()));
    window.run_steps(3);
    assert_eq!(state_height(&window), 12.0);
}

#[test]
fn tooltips_name_the_state() {
    let mut window = irqs();
    let area = canvas(&window);
    let hover = |window: &mut Window, name: &str| {
        let bars = bars_named(window, name).into_iter();
        let widest = bars
            .map(|bar| bar.intersect(area))
            .max_by(|a, b| a.width().total_cmp(&b.width()));
        window.hover_at(widest.unwrap().center());
        window.run_steps(12);
    };
    hover(&mut window, "seq");
    assert!(
        window
            .query_all_by_label_contains("running, then")
            .next()
            .is_some()
    );
    hover(&mut window, "preempted");
    let tip = window.query_all_by_label_contains("preempted\n").next();
    assert!(tip.is_some());
}
