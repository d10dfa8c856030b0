//! What is kept of a trace from one session to the next, and what goes with it to a colleague.

use crate::support::*;
use egui_kittest::kittest::Queryable;
use std::sync::Arc;
use threadline::base::{Job, Nanos, TimeSpan};
use threadline::load;
use threadline::view::{Action, Arrange, Effect, Flagging, Marker, RowKey};

/// Does some work on a trace: all that a session keeps.
fn work(window: &mut Window) {
    let start = window.state().state().trace_span.start;
    let time = |ms: i64| start + Nanos(ms * 1_000_000);
    act(window, Action::Show(TimeSpan::new(time(10), time(30))));
    act(window, Action::Arrange(Arrange::Pin(RowKey::Cpu(1))));
    act(
        window,
        Action::Arrange(Arrange::Rename(RowKey::Cpu(0), "the first".into())),
    );
    act(window, Action::Mark(Marker::A, time(12)));
    act(window, Action::Flag(Flagging::Add(time(15))));
    act(window, Action::Flag(Flagging::Note(0, "look here".into())));
    act(window, Action::SavePlace(2));
    act(
        window,
        Action::SelectRange(TimeSpan::new(time(11), time(12))),
    );
    window
        .get_all_by_label_contains("hackbench, ")
        .next_back()
        .unwrap()
        .click();
    window.run_steps(3);
    assert!(window.state().state().selected.is_some());
}

fn assert_same_work(window: &Window, other: &threadline::view::ViewState) {
    let state = window.state().state();
    assert_eq!(state.span, other.span);
    assert_eq!(state.marks, other.marks);
    assert_eq!(state.flags, other.flags);
    assert_eq!(state.places, other.places);
    assert_eq!(state.range, other.range);
    assert_eq!(state.layout, other.layout);
    assert_eq!(state.selected, other.selected);
    assert_eq!(&*state.rows.pinned()[0].title, "CPU 1");
}

#[test]
fn a_trace_is_shown_again_as_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let mut first = window_keeping(&settings);
    show(&mut first, &hackbench());
    work(&mut first);
    first.state_mut().close();
    let left = first.state().state().clone();
    let mut second = window_keeping(&settings);
    show(&mut second, &hackbench());
    assert_same_work(&second, &left);
    act(&mut second, Action::StartOver);
    assert!(second.state().state().flags.is_empty());
}

#[test]
fn a_trace_on_which_nothing_was_done_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("window.json");
    let mut window = window_keeping(&settings);
    show(&mut window, &hackbench());
    window.state_mut().close();
    assert!(!folder.path().join("sessions").exists());
    assert!(settings.exists());
}

#[test]
fn a_session_is_sent_with_its_trace_and_opened_elsewhere() {
    let here = tempfile::tempdir().unwrap();
    let trace = here.path().join("run.dat");
    std::fs::copy(hackbench(), &trace).unwrap();
    let mut window = empty_window();
    show(&mut window, &trace);
    work(&mut window);
    let session = here.path().join("stall.threadline");
    act(
        &mut window,
        Action::Do(Effect::SaveSession(session.clone())),
    );
    assert!(
        window
            .query_all_by_label_contains("The session is saved")
            .next()
            .is_some()
    );
    let left = window.state().state().clone();
    // The colleague gets both in another folder, and the first one is gone.
    let there = tempfile::tempdir().unwrap();
    std::fs::rename(&trace, there.path().join("run.dat")).unwrap();
    std::fs::rename(&session, there.path().join("stall.threadline")).unwrap();
    let mut window = empty_window();
    drop_on(&mut window, there.path().join("stall.threadline"));
    assert!(
        window.state().loaded().is_some(),
        "{:?}",
        window.state().notice()
    );
    assert_same_work(&window, &left);
}

#[test]
fn what_is_no_session_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.threadline");
    std::fs::write(&path, b"{\"traces\": 7}").unwrap();
    let mut window = empty_window();
    drop_on(&mut window, path.clone());
    assert!(
        window
            .state()
            .notice()
            .unwrap()
            .contains("not a session file")
    );
    std::fs::write(&path, b"{}").unwrap();
    drop_on(&mut window, path);
    assert!(
        window
            .state()
            .notice()
            .unwrap()
            .contains("contains no trace")
    );
}

#[test]
fn the_selection_stays_when_more_of_the_trace_is_there() {
    let mut window = window(&hackbench());
    work(&mut window);
    let before = window.state().state().clone();
    // The same file again, as a generation that follows an unfinished one.
    let mut first = load::open(&hackbench(), &Job::default()).unwrap();
    first.is_complete = false;
    let mut again = empty_window();
    again.state_mut().show(Arc::new(first));
    settle(&mut again);
    work(&mut again);
    let whole = load::open(&hackbench(), &Job::default()).unwrap();
    again.state_mut().show(Arc::new(whole));
    settle(&mut again);
    assert_eq!(again.state().state().selected, before.selected);
    assert!(again.state().state().selected_time.is_some());
    assert_eq!(again.state().state().span, before.span);
}
