//! Several files on one axis, as a user of the window has them: dropped, added, moved, taken away; and loads that
//! come to nothing.

use std::sync::Arc;

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::base::{Job, Nanos};
use threadline::load::together::open_together;
use threadline::load::{self, LoadedTrace};
use threadline::query::Item;
use threadline::trace::sources::PlacedBy;
use threadline::trace::{EventId, RunId, SourceId};
use threadline::view::dock::{Docking, Tile};
use threadline::view::{Action, Effect, PaneKind, RowKey};

fn irqs() -> std::path::PathBuf {
    file("sample-traces/sched-irq-syscalls.dat")
}

fn both() -> Window {
    let paths = [irqs(), hackbench()];
    let loaded = open_together(&paths, &[], &[], &Job::default(), None);
    let mut window = empty_window();
    window
        .state_mut()
        .show(Arc::new(loaded.unwrap_or_else(|error| panic!("{error}"))));
    settle(&mut window);
    window
}

fn loaded(window: &Window) -> &LoadedTrace {
    window.state().loaded().unwrap()
}

fn titles(window: &Window) -> Vec<String> {
    let rows = window.state().state().rows.all();
    rows.iter()
        .filter(|row| row.depth == 0)
        .map(|row| row.title.to_string())
        .collect()
}

#[test]
fn a_builds_compiler_traces_are_found_in_the_background_and_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let build = folder.path().join("build.strace");
    let line = |call: &str| format!("70 1795511445.1 {call}\n");
    let path = "/nowhere/out/a.json";
    let text =
        line("execve(\"/usr/bin/clang\", [\"clang\", \"-ftime-trace\"], 0x7f /* 1 vars */) = 0")
            + &line(&format!(
                "openat(AT_FDCWD, \"{path}\", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3"
            ))
            + &line("close(3) = 0")
            + "70 1795511446.5 +++ exited with 0 +++\n";
    std::fs::write(&build, text).unwrap();
    let json = r#"{"traceEvents":[{"pid":70,"tid":70,"ph":"X","ts":5,"dur":900,"name":"ExecuteCompiler"}]}"#;
    std::fs::write(folder.path().join("a.json"), json).unwrap();
    let mut window = empty_window();
    drop_on(&mut window, build);
    assert_eq!(titles(&window).len(), 2);
    assert_eq!(loaded(&window).members.len(), 2);
    assert!(loaded(&window).trace.sources[1].home.is_some());
    // They are not files that were asked for: the window's title and what is opened again have the recording alone.
    let panes = vec![PaneKind::Info];
    let tabs = Tile::Tabs { panes, front: 0 };
    act(&mut window, Action::Dock(Docking::Tiles(Some(tabs))));
    act(&mut window, Action::Dock(Docking::Share(0.7)));
    let choose = |window: &mut Window| {
        let choice = window.get_by_role_and_label(Role::CheckBox, "traces of compilers");
        choice.click();
        window.run_steps(3);
        settle(window);
    };
    choose(&mut window);
    assert!(loaded(&window).members.is_empty());
    choose(&mut window);
    assert_eq!(loaded(&window).members.len(), 2);
}

#[test]
fn files_dropped_together_share_the_axis() {
    let mut window = empty_window();
    for path in [irqs(), hackbench()] {
        drop_without_waiting(&mut window, path);
    }
    window.run_steps(2);
    settle(&mut window);
    assert_eq!(
        titles(&window),
        ["sched-irq-syscalls.dat", "kprobe-hackbench.dat"]
    );
    assert_eq!(loaded(&window).members.len(), 2);
    assert!(
        window
            .state()
            .title()
            .starts_with("sched-irq-syscalls.dat and 1 more")
    );
    window.snapshot("several-files");
}

#[test]
fn a_file_is_added_placed_and_removed_and_the_view_stays() {
    let mut window = window(&irqs());
    let events = loaded(&window).trace.events.len();
    act(&mut window, Action::Do(Effect::Add(vec![hackbench()])));
    assert_eq!(loaded(&window).trace.events.len(), events + 441);
    let own = loaded(&window).members[1].trace.events.time(EventId(0));
    let inner = loaded(&window).trace.span;
    let view = threadline::base::TimeSpan::new(inner.start, inner.start + Nanos(50_000_000));
    act(&mut window, Action::Show(view));
    act(
        &mut window,
        Action::Do(Effect::Place(SourceId(1), Some(Nanos(5_000)))),
    );
    let source = &loaded(&window).trace.sources[1];
    assert_eq!(
        (source.offset(), source.placed_by),
        (Nanos(5_000), PlacedBy::User)
    );
    let first = loaded(&window)
        .trace
        .events
        .time(EventId(source.events.start));
    assert_eq!(first, own + Nanos(5_000));
    assert_eq!(window.state().state().span, view);
    act(&mut window, Action::Do(Effect::Place(SourceId(1), None)));
    assert_eq!(
        loaded(&window).trace.sources[1].placed_by,
        PlacedBy::Evidence
    );
    act(&mut window, Action::Do(Effect::Remove(SourceId(1))));
    assert!(loaded(&window).trace.sources.is_empty());
    assert_eq!(loaded(&window).trace.events.len(), events);
}

#[test]
fn dragging_a_file_s_bar_moves_it_against_the_others() {
    let mut window = both();
    act(&mut window, Action::Toggle(RowKey::Source(0)));
    let before = loaded(&window).trace.sources[1].offset();
    let bar = window.get_by_label_contains("kprobe-hackbench.dat, moved by");
    let from = bar.rect().center();
    let until = from + egui::vec2(60.0, 0.0);
    let per_point = window.state().state().span.duration().0 as f64;
    window.hover_at(from);
    window.drag_at(from);
    window.run_steps(2);
    window.hover_at(until);
    window.run_steps(2);
    window.drop_at(until);
    settle(&mut window);
    let source = &loaded(&window).trace.sources[1];
    assert_eq!(source.placed_by, PlacedBy::User);
    let moved = (source.offset().0 - before.0) as f64;
    // 60 points of a canvas that is some 670 points wide.
    assert!(
        moved > per_point * 0.05 && moved < per_point * 0.15,
        "{moved} of {per_point}"
    );
}

fn type_offset(window: &mut Window, text: &str) {
    let field = "Offset of kprobe-hackbench.dat";
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    key(window, Modifiers::COMMAND, Key::A);
    window
        .get_by_role_and_label(Role::TextInput, field)
        .type_text(text);
    window.run_steps(2);
    key(window, Modifiers::NONE, Key::Enter);
    settle(window);
}

#[test]
fn an_offset_is_typed_and_a_wrong_one_is_told() {
    let mut window = both();
    act(&mut window, Action::OpenPane(PaneKind::Info));
    type_offset(&mut window, "-2.5ms");
    assert_eq!(loaded(&window).trace.sources[1].offset(), Nanos(-2_500_000));
    type_offset(&mut window, "soon");
    assert!(
        window
            .query_all_by_label_contains("expected a time with a unit")
            .next()
            .is_some()
    );
    assert_eq!(loaded(&window).trace.sources[1].offset(), Nanos(-2_500_000));
}

#[test]
fn a_cancelled_load_leaves_what_was_shown() {
    let mut window = window(&hackbench());
    let ctx = window.ctx.clone();
    window.state_mut().open(&ctx, &irqs());
    window.state_mut().act(&ctx, Action::Do(Effect::CancelLoad));
    settle(&mut window);
    // By the end of another load of the file, the cancelled one would have ended, too.
    load::open(&irqs(), &Job::default()).unwrap();
    settle(&mut window);
    assert_eq!(loaded(&window).trace.events.len(), 441);
    assert!(loaded(&window).is_complete);
    assert!(window.state().notice().is_none());
}

#[test]
fn a_file_that_cannot_be_added_is_named_and_the_rest_stays() {
    let mut window = window(&hackbench());
    act(
        &mut window,
        Action::Do(Effect::Add(vec![file("Cargo.toml")])),
    );
    assert_eq!(loaded(&window).trace.events.len(), 441);
    let notice = window.state().notice().unwrap_or_default().to_owned();
    assert!(notice.contains("Cargo.toml"), "{notice}");
}

/// The time at which Details says that the selected item starts.
fn start_in_details(window: &mut Window) -> String {
    act(window, Action::OpenPane(PaneKind::Details));
    let labels = window.query_all_by_role(Role::Label);
    let mut labels = labels.filter_map(|label| label.value());
    labels.find(|text| text == "start");
    labels.next().unwrap_or_default()
}

#[test]
fn an_answer_for_one_trace_is_never_shown_for_another() {
    let mut window = both();
    let last = RunId(loaded(&window).trace.runs.len() as u32 - 1);
    act(&mut window, Action::Select(Item::Run(last)));
    let shown = |window: &mut Window| {
        let start = loaded(window).trace.runs.get(last).start.0;
        let (seconds, ns) = (start / 1_000_000_000, start % 1_000_000_000);
        let text = start_in_details(window);
        assert!(
            text.ends_with(&format!("({seconds}.{ns:09})")),
            "{text}, {start}"
        );
        start
    };
    let before = shown(&mut window);
    // The same files at other places on the axis are another trace: its runs have other times.
    act(&mut window, Action::OpenPane(PaneKind::Info));
    type_offset(&mut window, "7s");
    act(&mut window, Action::Select(Item::Run(last)));
    assert_ne!(shown(&mut window), before);
}
