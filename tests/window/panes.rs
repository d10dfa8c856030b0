//! The analysis panes through their controls: what is selected is added up, filtered, compared, drawn and copied.

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::query::Item;
use threadline::query::wakeup_chain::{chain, longest_wait};
use threadline::trace::{SliceId, StateId, ThreadId};
use threadline::view::{Action, Marker, PaneKind, ThemeChoice};

/// What the last frames put on the clipboard after `button` was clicked.
fn copied_by(window: &mut Window, button: &str) -> String {
    window.get_by_role_and_label(Role::Button, button).click();
    for _ in 0..200 {
        window.step();
        let commands = &window.output().platform_output.commands;
        for command in commands {
            if let egui::OutputCommand::CopyText(text) = command {
                return text.clone();
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("nothing was copied");
}

/// The left of the first row below a field.
fn row_below(window: &Window, field: &str) -> egui::Pos2 {
    let field = window.get_by_role_and_label(Role::TextInput, field).rect();
    let rows = window.query_all_by_role(Role::Row).map(|row| row.rect());
    let mut below: Vec<egui::Rect> = rows.filter(|row| row.top() > field.bottom()).collect();
    below.sort_by(|a, b| a.top().total_cmp(&b.top()));
    below[0].left_top() + egui::vec2(20.0, 4.0)
}

/// What the frames from here on copy.
fn copied(window: &mut Window) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..20 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                texts.push(text.clone());
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    texts
}

fn pictures(window: &mut Window, name: &str) {
    for (theme, word) in [(ThemeChoice::Dark, "dark"), (ThemeChoice::Light, "light")] {
        act(window, Action::SetTheme(theme));
        window.snapshot(format!("{name}-{word}"));
    }
}

#[test]
fn the_selected_area_is_added_up_by_name_thread_and_cpu() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let visible = table_rows(&window);
    let (first, category) = (&visible[0], ", Category fsio");
    assert!(
        first.starts_with("read_in, Count 172") && first.ends_with(category),
        "{visible:?}"
    );
    let range = middle_half(&window);
    act(&mut window, Action::SelectRange(range));
    let selected = table_rows(&window);
    assert!(selected[0].starts_with("read_in") && selected != visible);
    click_button(&mut window, "thread");
    assert!(
        table_rows(&window)
            .iter()
            .all(|row| row.contains("hackbench"))
    );
    click_button(&mut window, "Thread states");
    click_button(&mut window, "state");
    assert!(
        table_rows(&window)
            .iter()
            .any(|row| row.starts_with("Sleeping") || row.starts_with("sleeping"))
    );
    click_button(&mut window, "CPU use");
    click_button(&mut window, "CPU");
    let by_cpu = table_rows(&window);
    assert!(
        by_cpu.iter().any(|row| row.starts_with("CPU 3")),
        "{by_cpu:?}"
    );
    let text = copied_by(&mut window, "Copy");
    assert_eq!(text.lines().count(), by_cpu.len() + 1, "{text}");
    assert!(text.starts_with("CPU\tCount\tTotal"), "{text}");
    pictures(&mut window, "selection-cpu-use");
}

#[test]
fn sums_follow_a_drag_before_it_ends() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let ruler = window.get_by_label("Ruler").rect();
    let at = |x: f32| egui::pos2(ruler.left() + x, ruler.center().y);
    window.hover_at(at(100.0));
    window.drag_at(at(100.0));
    window.run_steps(2);
    window.hover_at(at(300.0));
    window.run_steps(4);
    let early = table_rows(&window);
    window.hover_at(at(600.0));
    window.run_steps(4);
    let late = table_rows(&window);
    assert!(window.state().state().range.is_some());
    assert_ne!(early, late);
    window.drop_at(at(600.0));
    window.run_steps(2);
    settle(&mut window);
    // The exact sums have the same counts.
    let count = |rows: &[String]| {
        rows.first()
            .and_then(|row| row.split(", ").nth(2).map(str::to_owned))
    };
    assert_eq!(count(&late), count(&table_rows(&window)));
}

#[test]
fn a_table_is_sorted_by_its_headings_and_filtered() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let first = table_rows(&window);
    window.get_by_label("Sort by Count").click();
    window.run_steps(3);
    let sorted = table_rows(&window);
    assert_ne!(first, sorted);
    type_into(&mut window, "Filter rows", "wait4");
    let filtered = table_rows(&window);
    assert!(
        filtered.len() == 1 && filtered[0].starts_with("wait4"),
        "{filtered:?}"
    );
}

#[test]
fn events_are_filtered_by_an_expression_and_say_where_it_is_wrong() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    assert!(window.query_by_label("441 events").is_some());
    type_into(&mut window, "Filter events", "sched_switch:");
    let count = window.query_by_label_contains(" of 441 events");
    let words = count.unwrap().accesskit_node().label().unwrap_or_default();
    assert!(
        table_rows(&window)
            .iter()
            .all(|row| row.contains("sched_switch")),
        "{words}"
    );
    pictures(&mut window, "events-filtered");
    type_into(&mut window, "Filter events", " next_prio <");
    assert!(window.query_by_label_contains("(column").is_some());
    window.snapshot("events-filter-error");
}

#[test]
fn the_listed_events_are_saved_as_csv() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switches.csv");
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    type_into(&mut window, "Filter events", "sched_switch:");
    let count: usize = table_rows(&window).len();
    assert!(count > 2);
    click_button(&mut window, "Save…");
    let field = "File for the events";
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, Key::A);
    window.run_steps(1);
    type_into(&mut window, field, path.to_str().unwrap());
    click_button(&mut window, "Write");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Time,CPU,Thread,Event,What it says");
    assert!(
        lines[1..]
            .iter()
            .all(|line| line.contains(",sched_switch,"))
    );
    assert!(
        window
            .query_all_by_label_contains("Wrote ")
            .next()
            .is_some()
    );
    // It is not replaced unasked.
    click_button(&mut window, "Write");
    assert!(window.query_by_label("The file exists already.").is_some());
    let copied = copied_by(&mut window, "Copy");
    assert_eq!(copied.lines().count(), lines.len());
}

#[test]
fn a_row_of_events_shows_it_in_the_timeline_and_back() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    let third = table_rows(&window)[2].clone();
    window.get_by_role_and_label(Role::Row, &third).click();
    window.run_steps(3);
    let Some(Item::Event(_)) = window.state().state().selected else {
        panic!("{:?}", window.state().state().selected);
    };
    // The list goes along with what the timeline shows.
    let late = middle_half(&window);
    act(&mut window, Action::Show(late));
    assert!(!table_rows(&window).contains(&third));
}

#[test]
fn a_range_of_durations_is_dragged_out_of_the_histogram() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Durations));
    let chart = window.get_by_label("Histogram of durations").rect();
    let at = |share: f32| {
        egui::pos2(
            chart.left() + 30.0 + share * (chart.width() - 40.0),
            chart.center().y - 10.0,
        )
    };
    window.hover_at(at(0.6));
    window.drag_at(at(0.6));
    window.run_steps(2);
    window.hover_at(at(0.8));
    window.run_steps(3);
    window.drop_at(at(0.95));
    window.run_steps(3);
    settle(&mut window);
    let search = window.state().state().search.text.clone();
    assert!(
        search.contains("name == \"read_in\" && dur >= "),
        "{search}"
    );
    assert!(
        window
            .query_all_by_label_contains(" of 172 take ")
            .next()
            .is_some()
    );
    pictures(&mut window, "durations-range");
}

#[test]
fn c_on_a_slice_tells_of_the_wait_in_it_or_that_there_is_none() {
    let mut window = window(&file("sample-traces/sched-irq-syscalls.dat"));
    let trace = window.state().loaded().unwrap().trace.clone();
    let found = |is_wanted: &dyn Fn(SliceId) -> bool| {
        let mut ids = (0..trace.slices.len() as u32).map(SliceId);
        ids.find(|id| is_wanted(*id)).unwrap()
    };
    let waits = |id: SliceId| {
        let span = Item::Slice(id).span(&trace)?;
        longest_wait(&trace, Item::Slice(id).thread(&trace)?, span)
    };
    let name = |id: SliceId| trace.text(trace.slices.label(id).name).into_owned();
    let with = found(&|id| name(id) == "wait4" && waits(id).is_some());
    act(&mut window, Action::Reveal(Item::Slice(with)));
    key(&mut window, Modifiers::NONE, Key::C);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains(" waited ")
            .next()
            .is_some()
    );
    let without = found(&|id| Item::Slice(id).thread(&trace).is_some() && waits(id).is_none());
    act(&mut window, Action::Reveal(Item::Slice(without)));
    key(&mut window, Modifiers::NONE, Key::C);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains("did not wait in the selected slice")
            .next()
            .is_some()
    );
}

#[test]
fn c_shows_why_a_thread_waited_as_a_table_and_as_a_path() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    let loaded = window.state().loaded().unwrap().clone();
    let trace = &loaded.trace;
    let states = (0..trace.states.len() as u32).map(StateId);
    let chains = states.filter_map(|id| {
        let chain = chain(trace, id)?;
        Some((id, chain.hops.len()))
    });
    let (wait, hops) = chains.max_by_key(|(_, hops)| *hops).unwrap();
    assert!(hops > 3, "{hops}");
    act(&mut window, Action::Reveal(Item::State(wait)));
    key(&mut window, Modifiers::NONE, Key::C);
    settle(&mut window);
    assert!(
        window
            .query_all_by_label_contains(" waited ")
            .next()
            .is_some()
    );
    assert!(!table_rows(&window).is_empty());
    assert!(window.state().state().path.len() > 3);
    click_button(&mut window, "Show the wait");
    pictures(&mut window, "wakeup-chain");
    // A hop that is looked at does not begin another chain.
    let path = window.state().state().path.clone();
    let second = table_rows(&window)[1].clone();
    window.get_by_role_and_label(Role::Row, &second).click();
    window.run_steps(3);
    settle(&mut window);
    assert_eq!(window.state().state().path, path);
    key(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.state().state().path.is_empty());
}

#[test]
fn latencies_are_listed_by_thread_and_between_any_two_events() {
    let mut window = window(&file("sample-traces/sched-irq.ftrace"));
    act(&mut window, Action::OpenPane(PaneKind::Latency));
    assert!(
        table_rows(&window)
            .iter()
            .any(|row| row.contains("ksoftirqd"))
    );
    assert!(
        window
            .query_by_label("Percentiles of wakeup latency")
            .is_some()
    );
    pictures(&mut window, "latency-wakeups");
    click_button(&mut window, "Event to event");
    assert!(
        window
            .query_all_by_label_contains("Choose which event begins")
            .next()
            .is_some()
    );
    type_into(&mut window, "First event", "sched_waking:");
    type_into(&mut window, "Second event", "sched_switch:");
    click_button(&mut window, "field");
    type_into(&mut window, "Field of the first", "pid");
    type_into(&mut window, "Field of the second", "next_pid");
    assert!(
        window
            .query_all_by_label_contains("unmatched: ")
            .next()
            .is_some()
    );
    window.snapshot("latency-pairs");
    let longest = table_rows(&window).first().cloned();
    if let Some(longest) = longest {
        window.get_by_role_and_label(Role::Row, &longest).click();
        window.run_steps(3);
        assert!(window.state().state().range.is_some());
    }
}

#[test]
fn a_frame_of_the_flame_graph_takes_the_whole_width_when_clicked() {
    let mut window = window(&file("sample-traces/function-graph.dat"));
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    let width = |window: &Window| {
        let frames = window.query_all_by_label_contains("vfs_write ");
        frames.map(|frame| frame.rect().width()).fold(0.0, f32::max)
    };
    let wide = width(&window);
    let frame = window.query_all_by_label_contains("vfs_write ");
    frame
        .max_by(|a, b| a.rect().width().total_cmp(&b.rect().width()))
        .unwrap()
        .click();
    window.run_steps(3);
    assert!(width(&window) > wide * 2.0);
    pictures(&mut window, "flame-zoomed");
    click_button(&mut window, "Whole graph");
    type_into(&mut window, "Highlight names", "file");
    window.snapshot("flame-highlight");
    click_button(&mut window, "Top-down");
    assert!(
        table_rows(&window)
            .iter()
            .any(|row| row.starts_with("vfs_read"))
    );
    let counts = |window: &Window| -> Vec<String> { table_rows(window) };
    let by_total = counts(&window);
    window.get_by_label("Sort by Name").click();
    window.run_steps(3);
    let by_name = counts(&window);
    assert_ne!(by_name, by_total);
    window.get_by_label("Sort by Name").click();
    window.run_steps(3);
    assert_ne!(counts(&window), by_name);
    window.get_by_label("Sort by Total").click();
    window.run_steps(3);
    assert_eq!(counts(&window), by_total);
    click_button(&mut window, "Bottom-up");
    window.snapshot("flame-bottom-up");
    click_button(&mut window, "Names");
    let text = copied_by(&mut window, "Copy");
    assert!(text.starts_with("Name\tSelf"), "{text}");
}

#[test]
fn a_flame_graph_of_times_as_long_as_numbers_go_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.json");
    // 4e18 ns each.
    let slice = |tid: u32| {
        format!(r#"{{"ph":"X","name":"long","ts":0,"dur":4000000000000000,"pid":1,"tid":{tid}}}"#)
    };
    std::fs::write(&path, format!("[{},{}]", slice(1), slice(2))).unwrap();
    let mut window = window(&path);
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    settle(&mut window);
    click_button(&mut window, "Top-down");
    let rows = table_rows(&window);
    assert!(rows.iter().any(|row| row.contains("long")), "{rows:?}");
}

#[test]
fn counters_share_the_time_of_the_timeline() {
    let mut window = window(&file("sample-traces/compress.fxt"));
    act(&mut window, Action::OpenPane(PaneKind::Counters));
    let before = window.state().state().span;
    let plots = || ["Change", "Rate", "Value"];
    for mode in plots() {
        click_button(&mut window, mode);
    }
    pictures(&mut window, "counters");
    let text = copied_by(&mut window, "Copy");
    assert!(text.starts_with("counter\tts\tvalue"), "{text}");
    let below = window.get_by_label("Change").rect().bottom();
    let canvas = {
        let mut canvases = window.query_all_by_role(Role::Canvas);
        let plot = canvases.find(|canvas| canvas.rect().top() > below);
        plot.unwrap().rect()
    };
    let half = middle_half(&window);
    act(&mut window, Action::Show(half));
    let zoomed = window.state().state().span;
    assert_ne!(zoomed, before);
    let from = canvas.center();
    window.hover_at(from);
    window.drag_at(from);
    window.run_steps(2);
    window.hover_at(from + egui::vec2(60.0, 0.0));
    window.run_steps(2);
    window.drop_at(from + egui::vec2(60.0, 0.0));
    window.run_steps(3);
    assert!(window.state().state().span.start < zoomed.start);
}

#[test]
fn two_parts_of_a_trace_and_two_traces_are_compared() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Compare));
    assert!(
        window
            .query_all_by_label_contains("Nothing to compare with yet")
            .next()
            .is_some()
    );
    let range = middle_half(&window);
    act(&mut window, Action::SelectRange(range));
    assert!(
        table_rows(&window)[0].starts_with("read_in, Total change -64.0 %, "),
        "{:?}",
        table_rows(&window)
    );
    let span = window.state().state().trace_span;
    act(&mut window, Action::Mark(Marker::A, span.start));
    act(&mut window, Action::Mark(Marker::B, range.start));
    pictures(&mut window, "compare-two");
    // All that has durations has its distribution, threads of one name together.
    let shown = |window: &Window| window.query_all_by_label("Percentiles of both").count();
    let unended = "None of them ended in the recording: there are no percentiles.";
    for (button, first) in [("CPU time", "hackbench, "), ("Thread states", "running, ")] {
        click_button(&mut window, button);
        let found = table_rows(&window);
        let row = found.iter().find(|row| row.starts_with(first)).unwrap();
        assert!(
            row.matches(" ms").count() + row.matches(" µs").count() > 5,
            "{row}"
        );
        assert_eq!(found.iter().filter(|row| row.starts_with(first)).count(), 1);
        assert_eq!(shown(&window), 1, "{button}");
    }
    window.snapshot("compare-states");
    click_button(&mut window, "Slices");
    let other = file("sample-traces/sched-irq-syscalls.dat");
    type_into(
        &mut window,
        "Trace to compare with",
        other.to_str().unwrap(),
    );
    click_button(&mut window, "Open for comparing");
    assert!(
        table_rows(&window)
            .iter()
            .any(|row| row.contains(", Count change new, Count left 0, "))
    );
    // The curves of both are those of the row that is clicked, and of the first until then.
    let rows = table_rows(&window);
    let said = window.query_all_by_label(unended).count();
    assert_eq!((shown(&window), said), (0, 1), "{}", rows[0]);

    let third = rows[2].clone();
    // Its middle may be scrolled out.
    let at = window.get_by_label(&third).rect().left_center() + egui::vec2(20.0, 0.0);
    click_at(&mut window, at);
    assert_eq!(shown(&window), 1);
    let name = third.split(", ").next().unwrap();
    assert!(window.query_all_by_label(name).next().is_some(), "{third}");
    let absent = "no such trace";
    type_into(&mut window, "Trace to compare with", absent);
    click_button(&mut window, "Open for comparing");
    assert!(window.query_all_by_label_contains(absent).next().is_some());
    // The next trace is compared with the same file.
    show(&mut window, &file("sample-traces/function-graph.dat"));
    let is_side = |window: &Window, name: &str| {
        let mut boxes = window.query_all_by_role(Role::ComboBox);
        boxes.any(|node| node.accesskit_node().value().as_deref() == Some(name))
    };
    for side in ["function-graph.dat", "sched-irq-syscalls.dat"] {
        assert!(is_side(&window, side), "{side}");
    }
    assert!(!is_side(&window, "kprobe-hackbench.dat"));
    let rows = table_rows(&window);
    assert!(
        rows.iter()
            .any(|row| row.contains(", Count change new, Count left 0, ")),
        "{rows:?}"
    );
}

#[test]
fn every_pane_copies_what_it_lists() {
    let mut without: Vec<PaneKind> = PaneKind::ALL.to_vec();
    for name in [
        "kprobe-hackbench.dat",
        "lua-make-j2.etrace.zst",
        "block-ext4.dat",
    ] {
        let mut window = window(&file("sample-traces").join(name));
        let start = window.state().state().trace_span.start;
        let trace = window.state().loaded().unwrap().trace.clone();
        act(&mut window, Action::Mark(Marker::A, start));
        act(&mut window, Action::Search("r".to_owned()));
        let threads = (1..trace.threads.len() as u32).map(ThreadId);
        let wait = threads
            .filter_map(|id| longest_wait(&trace, id, trace.span))
            .next();
        let item = wait.map_or(Item::Slice(SliceId(0)), Item::State);
        act(&mut window, Action::Select(item));
        without.retain(|pane| {
            act(&mut window, Action::OpenPane(*pane));
            let buttons = window.query_all_by_role(Role::Button);
            let mut names = buttons.filter_map(|button| button.accesskit_node().label());
            !names.any(|name| name == "Copy" || name.starts_with("Copy the "))
        });
    }
    // An answer needs DuckDB: `query_pane` copies one.
    assert_eq!(without, [PaneKind::Query]);
}

#[test]
fn facts_marks_processes_and_probes_are_copied_as_text() {
    let mut window = window(&hackbench());
    let span = window.state().state().trace_span;
    let range = middle_half(&window);
    act(&mut window, Action::MarkBoth(range));
    act(&mut window, Action::AddFlag(span.start));
    act(&mut window, Action::NoteFlag(None));
    let note = threadline::view::Flagging::Note(0, "here\tit began".to_owned());
    act(&mut window, Action::Flag(note));
    act(&mut window, Action::OpenPane(PaneKind::Marks));
    let text = copied_by(&mut window, "Copy");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "Mark\tTime\tDuration\tNote");
    let begin = format!("A\t{}\t", range.start.0);
    assert!(lines[1].starts_with(&begin), "{text}");
    assert!(lines[2].starts_with(&format!("B\t{}\t", range.end.0)));
    assert!(
        lines[3].starts_with("B − A\t") && lines[3].contains("\t29191"),
        "{text}"
    );
    assert!(lines[4].starts_with("flag\t") && lines[4].ends_with("\\N\there\\tit began"));
    act(&mut window, Action::OpenPane(PaneKind::Info));
    let text = copied_by(&mut window, "Copy the facts");
    assert!(
        text.contains("format\ttrace.dat 7\n") && text.contains("events\t441\n"),
        "{text}"
    );
    act(&mut window, Action::OpenPane(PaneKind::Probes));
    let text = copied_by(&mut window, "Copy");
    assert!(text.starts_with("Event\tWhen\tPlace\t") && text.contains("\nfsio/read_in\tentry\t"));
    show(&mut window, &file("sample-traces/lua-make-j2.etrace.zst"));
    act(&mut window, Action::OpenPane(PaneKind::ProcessTree));
    let shown = window.query_all_by_role(Role::Row).count();
    let text = copied_by(&mut window, "Copy");
    assert!(text.starts_with("Program\tPid\tStart\tDuration\t"));
    assert!(
        text.lines().count() > shown.max(20),
        "{}",
        text.lines().count()
    );
    assert!(
        text.lines()
            .any(|line| line.starts_with("  ") && line.contains("gcc")),
        "{text}"
    );
}

#[test]
fn a_copied_row_has_the_columns_that_are_shown_and_matches_are_exact() {
    let mut window = window(&hackbench());
    act(&mut window, Action::OpenPane(PaneKind::Events));
    click_button(&mut window, "Columns");
    window.get_by_role_and_label(Role::CheckBox, "CPU").click();
    window.run_steps(3);
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    settle(&mut window);
    let place = row_below(&window, "Filter events");
    right_click(&mut window, place);
    window.run_steps(3);
    let text = copied_by(&mut window, "Copy the row");
    let cells: Vec<&str> = text.trim_end().split('\t').collect();
    assert_eq!(cells.len(), 4, "{text}");
    assert!(cells[0].parse::<i64>().is_ok(), "{text}");

    act(&mut window, Action::Search("/^read/".to_owned()));
    act(&mut window, Action::OpenPane(PaneKind::Matches));
    let text = copied_by(&mut window, "Copy");
    let first: Vec<&str> = text.lines().nth(1).unwrap().split('\t').collect();
    let exact = [first[0], first[3]].map(str::parse::<i64>);
    assert!(exact.iter().all(Result::is_ok), "{text}");
}

#[test]
fn a_text_that_is_typed_is_copied_and_not_the_table_under_the_pointer() {
    for (pane, field) in [
        (PaneKind::Durations, "Filter rows"),
        (PaneKind::Events, "Filter events"),
    ] {
        let mut window = window(&hackbench());
        act(&mut window, Action::OpenPane(pane));
        type_into(&mut window, field, "r");
        let place = row_below(&window, field);
        window.hover_at(place);
        window.run_steps(2);
        key(&mut window, egui::Modifiers::COMMAND, egui::Key::A);
        window.event(egui::Event::Copy);
        assert_eq!(copied(&mut window), ["r"], "{pane:?}");
        key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
        window.event(egui::Event::Copy);
        let last = copied(&mut window).pop().expect("the table");
        assert!(last.lines().count() > 1, "{last}");
    }
}
