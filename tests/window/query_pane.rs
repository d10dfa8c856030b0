//! The Query pane: questions in SQL, whose rows lead to the timeline.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::Queryable;
use threadline::export::dataset::query::PREPARED;
use threadline::query::Item;
use threadline::query::item::title;
use threadline::trace::Plot;
use threadline::view::{Action, Arrange, PaneKind};

const FIELD: &str = "Question in SQL";

fn opened(name: &str) -> Window {
    let mut window = window(&file(name));
    act(&mut window, Action::OpenPane(PaneKind::Query));
    window
}

fn put(window: &mut Window, question: &str) {
    window
        .get_by_role_and_label(Role::MultilineTextInput, FIELD)
        .focus();
    window.run_steps(2);
    key(window, Modifiers::COMMAND, Key::A);
    window
        .get_by_role_and_label(Role::MultilineTextInput, FIELD)
        .type_text(question);
    window.run_steps(2);
}

/// Types a question and asks it with Ctrl+Enter.
fn ask(window: &mut Window, question: &str) {
    put(window, question);
    key(window, Modifiers::COMMAND, Key::Enter);
    settle(window);
}

#[test]
fn a_question_stays_when_the_next_trace_is_opened() {
    let mut window = opened("sample-traces/compress.fxt");
    let button = |window: &Window| {
        let button = window.get_by_role_and_label(Role::Button, "Ask");
        egui_kittest::kittest::NodeT::accesskit_node(&button).is_disabled()
    };
    assert!(button(&window), "nothing to ask");
    put(&mut window, "SELECT 1");
    assert!(!button(&window));
    show(&mut window, &file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Query));
    assert!(!button(&window), "the question is still there");
}

#[test]
#[ignore = "needs DuckDB and a cache folder of its own: .ci/run gives it both"]
fn a_row_of_an_answer_leads_to_its_place() {
    let mut window = opened("sample-traces/sched-irq-syscalls.dat");
    let trace = window.state().loaded().unwrap().trace.clone();
    // A slice by its id, a state by its thread's number, and a time at which nothing begins.
    let questions = [
        "SELECT ts, dur, name, track_id, id FROM slice WHERE name = 'write' ORDER BY dur DESC LIMIT 1",
        "SELECT ts, dur, state, utid FROM thread_state WHERE state = 'sleeping' ORDER BY dur DESC LIMIT 1",
        "SELECT ts + 1 AS ts, dur FROM sched ORDER BY dur DESC LIMIT 1",
    ];
    for (at, question) in questions.into_iter().enumerate() {
        ask(&mut window, question);
        assert!(window.query_by_label_contains("1 row, in").is_some());
        window.get_by_role_and_label(Role::Button, "Copy");
        let before = window.state().state().selected;
        let row = window.get_all_by_role(Role::Row).last().unwrap().rect();
        click_at(&mut window, row.left_center() + egui::vec2(20.0, 0.0));
        let selected = window.state().state().selected;
        match (at, selected) {
            (0, Some(item @ Item::Slice(_))) => assert!(title(&trace, item).contains("write")),
            (1, Some(Item::State(id))) => {
                assert_eq!(trace.states.get(id).state.word(), "sleeping");
            }
            (2, selected) => {
                assert_eq!(selected, before, "nothing begins there");
                let longest = (0..trace.runs.len()).filter_map(|row| {
                    let end = trace.runs.ends[row].get()?;
                    Some(end - trace.runs.starts[row])
                });
                let range = window.state().state().range.unwrap();
                let length = longest.max().unwrap();
                assert!((length - 1..=length).contains(&range.duration().0));
            }
            other => panic!("{other:?}"),
        }
    }
    // A question may come with somebody else's session: it reads the tables and nothing else.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let touch = format!("SELECT 1\n.shell touch {out}\n");
    let copy = format!("SELECT 1; COPY (SELECT 1) TO '{out}'");
    for question in [&touch, &copy, "SELECT * FROM read_text('/etc/hostname')"] {
        ask(&mut window, question);
        assert!(
            window.query_by_label_contains("1 row, in").is_none(),
            "{question}"
        );
        assert!(!std::path::Path::new(&out).exists(), "{question}");
    }
    ask(&mut window, "SELECT nothing FROM nowhere");
    assert!(window.query_by_label_contains("nowhere").is_some());
}

#[test]
#[ignore = "needs DuckDB and a cache folder of its own: .ci/run gives it both"]
fn a_column_of_an_answer_is_kept_as_a_track() {
    let mut window = opened("sample-traces/sched-irq-syscalls.dat");
    let question = "SELECT ts, dur FROM slice WHERE name = 'write' AND dur IS NOT NULL";
    ask(&mut window, question);
    window.get_by_label("Keep as a track").click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::Button, "dur").click();
    window.run_steps(3);
    settle(&mut window);
    let trace = window.state().loaded().unwrap().trace.clone();
    assert_eq!(trace.plots, [Plot::of_answer(question, "dur")]);
    let track = trace.counters.tracks.last().unwrap();
    let values = &trace.counters.values[track.samples.start as usize..track.samples.end as usize];
    // The same plot without SQL.
    let plot = Plot::of_events("name == \"write\"", "$dur");
    act(&mut window, Action::Arrange(Arrange::Plot(plot, None)));
    let trace = window.state().loaded().unwrap().trace.clone();
    let same = trace.counters.tracks.last().unwrap();
    assert!(!values.is_empty());
    let same = same.samples.start as usize..same.samples.end as usize;
    assert_eq!(values, &trace.counters.values[same]);
    // The rows still lead to their places, although the trace has other generations now.
    let row = window.get_all_by_role(Role::Row).next().unwrap().rect();
    click_at(&mut window, row.left_center() + egui::vec2(20.0, 0.0));
    let range = window.state().state().range.unwrap();
    assert_eq!(range.duration().0 as f64, values[0]);
}

#[test]
#[ignore = "needs DuckDB and a cache folder of its own: .ci/run gives it both"]
fn every_question_of_the_program_has_an_answer() {
    let mut window = opened("sample-traces/lua-make-j2.etrace.zst");
    for prepared in PREPARED {
        window.get_by_label("Questions").click();
        window.run_steps(3);
        window
            .get_by_role_and_label(Role::Button, prepared.name)
            .click();
        window.run_steps(3);
        settle(&mut window);
        let has_answer = window.query_by_label_contains(", in ").is_some();
        assert!(has_answer, "{}", prepared.name);
    }
}
