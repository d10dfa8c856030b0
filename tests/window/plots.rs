//! What the user plots: asked for in a dialog, drawn as a counter, kept with layout and session, changed and removed.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::query::Item;
use threadline::trace::Plot;
use threadline::view::plots::key_of_plot;
use threadline::view::{Action, Arrange, Direction, Effect, RowKey, ThemeChoice};

fn switches() -> std::path::PathBuf {
    file("sample-traces/sched-irq-syscalls.dat")
}

fn plot(filter: &str, field: &str) -> Plot {
    Plot::of_events(filter, field)
}

fn titles(window: &Window) -> Vec<String> {
    let rows = window.state().state().rows.all();
    rows.iter().map(|row| row.title.to_string()).collect()
}

fn plotted(window: &Window) -> Vec<Plot> {
    window.state().loaded().unwrap().trace.plots.clone()
}

#[test]
fn the_first_field_that_is_empty_has_the_focus() {
    let mut window = window_at_first(&switches());
    let is_focused = |window: &Window, field: &str| {
        let field = window.get_by_role_and_label(Role::TextInput, field);
        field.is_focused()
    };
    // Nothing is selected: no events are proposed.
    key(&mut window, Modifiers::SHIFT, Key::P);
    window.run_steps(3);
    assert!(is_focused(&window, "Events to plot"));
    assert!(!is_focused(&window, "Number to plot"));
    key(&mut window, Modifiers::NONE, Key::Escape);
    window.run_steps(3);
    let event = threadline::trace::EventId(0);
    act(&mut window, Action::Select(Item::Event(event)));
    key(&mut window, Modifiers::SHIFT, Key::P);
    window.run_steps(3);
    assert!(is_focused(&window, "Number to plot"));
}

#[test]
fn a_number_of_events_is_plotted_changed_and_removed() {
    let mut window = window_at_first(&switches());
    let before = window.state().loaded().unwrap().trace.counters.tracks.len();
    key(&mut window, Modifiers::SHIFT, Key::P);
    type_into(&mut window, "Events to plot", "sched_switch");
    for theme in [ThemeChoice::Light, ThemeChoice::Dark] {
        act(&mut window, Action::SetTheme(theme));
        let word = if theme == ThemeChoice::Dark {
            "dark"
        } else {
            "light"
        };
        window.snapshot(format!("plot-question-{word}"));
    }
    // What numbers these events have is offered.
    click_button(&mut window, "next_prio");
    click_button(&mut window, "Plot");
    let wanted = plot("sched_switch", "next_prio");
    assert_eq!(plotted(&window), std::slice::from_ref(&wanted));
    assert_eq!(titles(&window)[..2], ["Plots", "next_prio of sched_switch"]);
    let trace = window.state().loaded().unwrap().trace.clone();
    assert_eq!(trace.counters.tracks.len(), before + 1);
    window.snapshot("plot");

    // It is a counter like any other: a sample is selected and told.
    let track = trace.counters.tracks.last().unwrap().clone();
    let id = threadline::trace::CounterTrackId(before as u32);
    act(
        &mut window,
        Action::Reveal(Item::Sample(id, track.samples.start)),
    );
    act(&mut window, Action::Step(Direction::Next));
    let second = Item::Sample(id, track.samples.start + 1);
    assert_eq!(window.state().state().selected, Some(second));

    let mut named = plot("sched_switch: next_pid > 0", "$gap");
    let what = Arrange::Plot(named.clone(), Some(wanted.clone()));
    act(&mut window, Action::Arrange(what));
    assert_eq!(plotted(&window), [named.clone()]);
    let key_of = key_of_plot(&named);
    let name = Arrange::Rename(key_of, "pauses".to_owned());
    act(&mut window, Action::Arrange(name));
    act(&mut window, Action::Arrange(Arrange::Unplot(named.clone())));
    assert!(plotted(&window).is_empty() && titles(&window)[0] != "Plots");
    let now = window.state().loaded().unwrap().trace.counters.tracks.len();
    assert_eq!(now, before);
    // What was removed is brought back, with its name.
    key(&mut window, Modifiers::COMMAND, Key::Z);
    settle(&mut window);
    assert_eq!(plotted(&window), [named.clone()]);
    let names = &window.state().state().layout.names;
    assert_eq!(names.get(&key_of).map(String::as_str), Some("pauses"));
    named.field = "no_such_number".to_owned();
    act(&mut window, Action::Arrange(Arrange::Plot(named, None)));
    let notice = window.state().notice().unwrap();
    assert!(notice.contains("no_such_number"), "{notice}");
}

#[test]
fn a_wrong_filter_is_told_where_it_is_typed() {
    let mut window = window_at_first(&switches());
    key(&mut window, Modifiers::SHIFT, Key::P);
    type_into(&mut window, "Events to plot", "no_such_event: x == 1");
    type_into(&mut window, "Number to plot", "x");
    click_button(&mut window, "Plot");
    assert!(window.state().state().question.is_some());
    assert!(window.state().state().layout.plots.is_empty());
    assert!(
        window
            .query_all_by_label_contains("column")
            .next()
            .is_some()
    );
}

#[test]
fn plots_are_kept_with_sessions_and_layouts() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = plot("sched_switch", "next_prio");
    let mut window = window_at_first(&switches());
    let what = Arrange::Plot(wanted.clone(), None);
    act(&mut window, Action::Arrange(what));
    let name = Arrange::Rename(key_of_plot(&wanted), "priorities".to_owned());
    act(&mut window, Action::Arrange(name));
    act(
        &mut window,
        Action::Arrange(Arrange::Save("mine".to_owned())),
    );
    let session = folder.path().join("plots.threadline");
    act(
        &mut window,
        Action::Do(Effect::SaveSession(session.clone())),
    );

    act(&mut window, Action::Do(Effect::Open(vec![hackbench()])));
    assert!(plotted(&window).is_empty());
    act(
        &mut window,
        Action::Arrange(Arrange::Use("mine".to_owned())),
    );
    assert_eq!(plotted(&window), std::slice::from_ref(&wanted));
    let row = window
        .state()
        .state()
        .rows
        .of_key(key_of_plot(&wanted))
        .unwrap();
    assert!(&*row.title == "priorities" && !row.lanes.is_empty());

    let mut other = empty_window();
    drop_on(&mut other, session);
    assert_eq!(plotted(&other), std::slice::from_ref(&wanted));
    let row = other
        .state()
        .state()
        .rows
        .of_key(key_of_plot(&wanted))
        .unwrap();
    assert!(&*row.title == "priorities" && !row.lanes.is_empty());
    // Another file beside it: the plot is of both.
    let before = other.state().loaded().unwrap().trace.counters.times.len();
    act(&mut other, Action::Do(Effect::Add(vec![hackbench()])));
    assert_eq!(plotted(&other), [wanted]);
    let trace = &other.state().loaded().unwrap().trace;
    assert!(trace.sources.len() == 2 && trace.counters.times.len() > before);
    assert_eq!(other.state().state().rows.all()[0].key, RowKey::Plots);
    let tracks = trace.counters.tracks.iter();
    let names = tracks.filter(|track| trace.text(track.name) == "next_prio of sched_switch");
    assert_eq!(names.count(), 1);
}

#[test]
fn a_slice_offers_its_duration() {
    let mut window = window_at_first(&hackbench());
    let slice = Item::Slice(threadline::trace::SliceId(0));
    act(&mut window, Action::DraftPlot(Some(slice)));
    let filter = window.get_by_role_and_label(Role::TextInput, "Events to plot");
    assert!(filter.value().unwrap().starts_with("name == \""));
    click_button(&mut window, "Plot");
    let trace = window.state().loaded().unwrap().trace.clone();
    assert_eq!(trace.plots[0].field, "$dur");
    assert!(!trace.counters.tracks.last().unwrap().samples.is_empty());
}
