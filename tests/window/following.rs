//! A file that grows while it is shown, and a stream: what is seen stays, and goes on with the end while that is in sight.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::*;
use egui_kittest::kittest::Queryable;
use threadline::base::{Nanos, Severity, TimeSpan, Timestamp};
use threadline::load::Reading;
use threadline::load::growing::Spool;
use threadline::query::Item;
use threadline::trace::{Plot, SliceId};
use threadline::view::{Action, Arrange, Docking, Effect, PaneKind};

/// Lines of ftrace text from `from` to `until` milliseconds.
fn lines(from: u32, until: u32) -> String {
    let line = |at: u32| {
        let (time, pid) = (1.0 + f64::from(at) / 1e3, 100 + at % 2);
        let (name, step) = (["work", "rest"][at as usize % 2], at / 2 % 2);
        let mark = if step == 0 {
            format!("B|{pid}|{name}")
        } else {
            "E".to_owned()
        };
        format!(
            "            {name}-{pid}     [000] ..... {time:11.6}: tracing_mark_write: {mark}\n"
        )
    };
    (from..until).map(line).collect()
}

fn write(path: &Path, text: &str) {
    let file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

fn events(window: &Window) -> usize {
    window
        .state()
        .loaded()
        .map_or(0, |loaded| loaded.trace.events.len())
}

/// Runs frames until so many events are shown.
fn wait_for(window: &mut Window, count: usize) {
    let began = Instant::now();
    while events(window) != count || window.state().is_busy() {
        window.step();
        std::thread::sleep(Duration::from_millis(5));
        let so_far = events(window);
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "{so_far} of {count} events"
        );
    }
    window.run_steps(3);
}

fn followed(path: &Path) -> Window {
    let mut window = empty_window();
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .follow(&ctx, vec![path.to_path_buf()], Reading::default());
    window.step();
    window
}

fn file_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("growing.txt")
}

#[test]
fn a_growing_file_is_read_again_and_the_view_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_in(&folder);
    write(&path, "");
    let mut window = followed(&path);
    window.run_steps(3);
    assert!(
        window
            .query_all_by_label_contains("Waiting for the first events of growing.txt")
            .next()
            .is_some()
    );
    window.snapshot("following-nothing");
    write(&path, &lines(0, 100));
    wait_for(&mut window, 100);
    assert!(window.query_by_label("Following").is_some());
    window.snapshot("following");
    // A line that is not whole yet is none.
    let more = lines(100, 151);
    let (whole, rest) = more.split_at(more.len() - 30);
    write(&path, whole);
    wait_for(&mut window, 150);
    let odd = window.state().loaded().unwrap().trace.diagnostics.clone();
    let is_bad = odd.rows().iter().any(|row| row.severity != Severity::Info);
    assert!(!is_bad, "{odd:?}");
    // Seen whole, all of what came is seen.
    let state = window.state().state();
    assert_eq!(state.span, state.bounds());
    write(&path, rest);
    wait_for(&mut window, 151);

    // A view and a selection in the middle stay where they are.
    let start = window.state().state().trace_span.start;
    let middle = TimeSpan::new(start + Nanos(20_000_000), start + Nanos(60_000_000));
    act(&mut window, Action::Show(middle));
    act(&mut window, Action::Select(Item::Slice(SliceId(5))));
    act(&mut window, Action::SelectRange(middle));
    let plot = Plot::of_events("print", "$count");
    act(&mut window, Action::Arrange(Arrange::Plot(plot, None)));
    let before = window.state().state().clone();
    write(&path, &lines(151, 400));
    wait_for(&mut window, 400);
    let after = window.state().state();
    assert_eq!(after.span, before.span);
    assert_eq!(after.selected_anchor, before.selected_anchor);
    assert!(after.selected.is_some() && after.range == before.range);
    // What is plotted is plotted of all.
    let trace = &window.state().loaded().unwrap().trace;
    assert_eq!(trace.counters.tracks.last().unwrap().samples.len(), 400);

    // The end in sight stays in sight.
    let end = window.state().state().trace_span.end;
    let last = TimeSpan::new(end - Nanos(30_000_000), end + Nanos(1));
    act(&mut window, Action::Show(last));
    let seen = window.state().state().span;
    write(&path, &lines(400, 500));
    wait_for(&mut window, 500);
    let (now, grown) = (
        window.state().state().span,
        window.state().state().trace_span.end,
    );
    assert_eq!(now.duration(), seen.duration());
    assert_eq!(now.end - seen.end, grown - end);

    // Stopped, it stays as it is.
    act(&mut window, Action::Do(Effect::ToggleFollow));
    assert!(window.query_by_label("Following").is_none());
    // Another window notices two changes: between them this one, which checks as often, would have noticed the first.
    let mut other = followed(&path);
    wait_for(&mut other, 500);
    for (from, until) in [(500, 550), (550, 600)] {
        write(&path, &lines(from, until));
        wait_for(&mut other, until as usize);
    }
    settle(&mut window);
    assert_eq!(events(&window), 500);
    // And is taken up again.
    act(&mut window, Action::Do(Effect::ToggleFollow));
    wait_for(&mut window, 600);
    // A file that is begun anew is another trace of the same name.
    std::fs::write(&path, lines(0, 50)).unwrap();
    wait_for(&mut window, 50);
}

#[test]
fn a_stream_is_followed_until_it_ends() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut window = empty_window();
    let ctx = window.ctx.clone();
    let spool = Spool::of(reader, Reading::default(), || ()).unwrap();
    window
        .state_mut()
        .follow_stream(&ctx, spool, Reading::default());
    window.run_steps(3);
    assert!(
        window
            .query_all_by_label_contains("standard input")
            .next()
            .is_some()
    );
    writer.write_all(lines(0, 80).as_bytes()).unwrap();
    wait_for(&mut window, 80);
    writer
        .write_all(lines(80, 120).trim_end().as_bytes())
        .unwrap();
    drop(writer);
    // Its last line is whole now, though nothing ends it.
    wait_for(&mut window, 120);
    assert!(window.query_by_label("Following").is_none());
    assert_eq!(
        window.state().loaded().unwrap().file_name(),
        "standard input"
    );
    let span = window.state().state().trace_span;
    assert_eq!(span.start, Timestamp(1_000_000_000));
}

#[test]
fn a_stream_that_is_no_trace_is_told_at_its_end() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut window = empty_window();
    let ctx = window.ctx.clone();
    let spool = Spool::of(reader, Reading::default(), || ()).unwrap();
    window
        .state_mut()
        .follow_stream(&ctx, spool, Reading::default());
    writer
        .write_all(b"nothing that anybody would know\n")
        .unwrap();
    drop(writer);
    let began = Instant::now();
    while window.state().notice().is_none() {
        window.step();
        std::thread::sleep(Duration::from_millis(5));
        assert!(began.elapsed() < Duration::from_secs(120));
    }
    assert!(
        window
            .state()
            .notice()
            .unwrap()
            .contains("not a trace that Threadline can read")
    );
}

#[test]
fn a_binary_trace_that_comes_in_a_stream_is_whole_at_its_end() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut window = empty_window();
    let ctx = window.ctx.clone();
    let spool = Spool::of(reader, Reading::default(), || ()).unwrap();
    window
        .state_mut()
        .follow_stream(&ctx, spool, Reading::default());
    let bytes = std::fs::read(hackbench()).unwrap();
    let whole = threadline::load::open(&hackbench(), &threadline::base::Job::default()).unwrap();
    let (first, rest) = bytes.split_at(bytes.len() / 3);
    writer.write_all(first).unwrap();
    for _ in 0..10 {
        window.step();
        std::thread::sleep(Duration::from_millis(30));
    }
    writer.write_all(rest).unwrap();
    drop(writer);
    wait_for(&mut window, whole.trace.events.len());
    let shown = window.state().loaded().unwrap().trace.clone();
    assert_eq!(shown.slices.len(), whole.trace.slices.len());
    let codes = |trace: &threadline::trace::Trace| {
        let rows = trace.diagnostics.rows().iter();
        rows.map(|row| row.code.clone()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&shown), codes(&whole.trace));
}

#[test]
fn a_file_that_is_cut_short_while_it_is_shown_is_told_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.ftrace");
    std::fs::write(&path, lines(0, 40_000)).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1 << 20);
    let mut window = window(&path);
    assert_eq!(window.state().notice(), None);
    std::fs::write(&path, lines(0, 100)).unwrap();
    let told = Instant::now();
    while window.state().notice().is_none() {
        assert!(told.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
        window.run_steps(1);
    }
    let notice = window.state().notice().unwrap();
    assert!(notice.starts_with("The file was cut short"), "{notice}");
    key(&mut window, egui::Modifiers::NONE, egui::Key::F5);
    wait_for(&mut window, 100);
}

/// Returns a slice of one thread with this name, as lines of ftrace text.
fn slice(name: &str, from_ms: u32, until_ms: u32) -> String {
    let line = |at: u32, mark: &str| {
        let time = 1.0 + f64::from(at) / 1e3;
        format!("            app-100     [000] ..... {time:11.6}: tracing_mark_write: {mark}\n")
    };
    line(from_ms, &format!("B|100|{name}")) + &line(until_ms, "E|100")
}

#[test]
fn rows_under_the_pointer_keep_their_places_while_a_file_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = file_in(&folder);
    write(&path, &(slice("first", 0, 10) + &slice("second", 20, 25)));
    let mut window = followed(&path);
    wait_for(&mut window, 4);
    act(
        &mut window,
        Action::Dock(Docking::ShowOnly(vec![PaneKind::Durations])),
    );
    settle(&mut window);
    let names = |window: &Window| {
        let rows = table_rows(window).into_iter();
        let name = |row: String| {
            ["first", "second", "third"]
                .into_iter()
                .find(|it| row.contains(it))
        };
        rows.filter_map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(&window), ["first", "second"]);
    let row = window
        .get_all_by_label_contains("second")
        .last()
        .unwrap()
        .rect();
    window.hover_at(row.center());
    window.run_steps(3);
    write(&path, &(slice("third", 30, 50) + &slice("second", 60, 100)));
    wait_for(&mut window, 8);
    settle(&mut window);
    assert_eq!(names(&window), ["first", "second", "third"]);
    // The pointer leaves: the longest comes first.
    window.hover_at(egui::pos2(2.0, 2.0));
    settle(&mut window);
    assert_eq!(names(&window), ["second", "third", "first"]);
}
