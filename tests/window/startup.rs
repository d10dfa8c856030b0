//! What is done when the trace is there: commands by their names, and links to a view.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::base::{Nanos, TimeSpan};
use threadline::gui::startup::{Command, Todo};
use threadline::query::Item;
use threadline::trace::SliceId;
use threadline::view::link::Link;
use threadline::view::{Action, Effect, Marker, PaneKind};

fn opened(commands: &[&str]) -> Window {
    let mut window = empty_window();
    let todo = commands
        .iter()
        .map(|text| Todo::Do(Command::parse(text).unwrap()));
    window.state_mut().later(todo.collect::<Vec<_>>());
    act(&mut window, Action::Do(Effect::Open(vec![hackbench()])));
    window
}

#[test]
fn commands_are_done_by_their_names_once_the_trace_is_there() {
    let window = opened(&[
        "Go to a time: 10ms .. 20ms",
        "Pane: Latency",
        "search: dur > 1ms",
        "Dim all but the matches",
        "Plot a number of events as a track: sched_switch next_prio",
        "Find a track: rcu",
    ]);
    let state = window.state().state();
    assert_eq!(state.span.duration(), Nanos(10_000_000));
    assert_eq!(state.front_pane(), Some(PaneKind::Latency));
    assert_eq!(state.search.text, "dur > 1ms");
    assert_eq!(state.layout.plots.len(), 1);
    assert!(matches!(state.selected, Some(Item::Thread(_))));
    assert!(window.state().todo_errors().is_empty());
}

#[test]
fn what_cannot_be_done_is_told() {
    let window = opened(&[
        "Go to a time: noon",
        "Use the layout: mine",
        "Fold all",
        "Go to a time: 900s",
        "Keep the layout: mine",
        "Use the layout: mine",
    ]);
    let errors = window.state().todo_errors();
    assert!(errors[2].contains("outside the trace"), "{errors:?}");
    assert!(
        errors[0].contains("'Go to a time: noon': expected a time"),
        "{errors:?}"
    );
    assert!(errors[1].contains("no layout"), "{errors:?}");
    assert_eq!(errors.len(), 3);
    assert!(
        window
            .query_all_by_label_contains("no layout")
            .next()
            .is_some()
    );
}

/// The link that the window puts on the clipboard.
fn copied_link(window: &mut Window) -> String {
    let ctx = window.ctx.clone();
    window.state_mut().act(&ctx, Action::Do(Effect::CopyLink));
    window.step();
    let commands = &window.output().platform_output.commands;
    let text = commands.iter().find_map(|command| match command {
        egui::OutputCommand::CopyText(text) => Some(text.clone()),
        _ => None,
    });
    text.expect("a link")
}

#[test]
fn a_link_opens_the_same_view_elsewhere() {
    let mut window = window_at_first(&hackbench());
    let start = window.state().state().trace_span.start;
    let seen = TimeSpan::new(start + Nanos(5_000_000), start + Nanos(30_000_000));
    let range = TimeSpan::new(start + Nanos(6_000_000), start + Nanos(9_000_000));
    act(&mut window, Action::Mark(Marker::B, start + Nanos(77)));
    act(&mut window, Action::Select(Item::Slice(SliceId(3))));
    act(&mut window, Action::SelectRange(range));
    act(&mut window, Action::Show(seen));
    let left = window.state().state().clone();
    let link = copied_link(&mut window);
    assert!(Link::is_one(&link) && !link.contains('\n'), "{link}");

    let shows_the_same = |window: &Window| {
        let state = window.state().state();
        assert_eq!(
            (state.span, state.range, state.marks),
            (seen, Some(range), left.marks)
        );
        assert_eq!(state.selected, Some(Item::Slice(SliceId(3))));
    };
    // In the window that shows the file already, somewhere else.
    act(&mut window, Action::Fit);
    act(&mut window, Action::DeselectItems);
    key(&mut window, Modifiers::COMMAND, Key::G);
    let field = window.get_by_role_and_label(Role::TextInput, "Go to a time");
    field.type_text(&link);
    window.run_steps(2);
    assert!(
        window
            .query_all_by_label_contains("Open what the link shows")
            .next()
            .is_some()
    );
    key(&mut window, Modifiers::NONE, Key::Enter);
    settle(&mut window);
    shows_the_same(&window);
    // In one that shows something else.
    let mut other = window_at_first(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut other, Action::Do(Effect::OpenLink(link)));
    shows_the_same(&other);
    act(
        &mut other,
        Action::Do(Effect::OpenLink("threadline:?file=/no/such.dat".to_owned())),
    );
    assert!(other.state().notice().unwrap().contains("no such file"));
    act(
        &mut other,
        Action::Do(Effect::OpenLink("threadline:?view=1..2".to_owned())),
    );
    assert!(other.state().notice().unwrap().contains("names no file"));
}
