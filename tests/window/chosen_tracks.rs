//! What panes count of chosen tracks: a CPU's are what threads did there, events are those of threads and CPUs.

use crate::program::json;
use crate::support::*;
use egui::Role;
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Job, TimeSpan};
use threadline::query::area::events::event_counts;
use threadline::query::area::{Area, GroupBy, Lane, Lanes, What, groups};
use threadline::query::latency::Among;
use threadline::trace::{CpuId, ThreadId, Trace, TrackId, TrackKind};
use threadline::view::rows::RowKey;
use threadline::view::{Action, PaneKind, ruler};

fn scheduling() -> Window {
    window(&file("sample-traces/sched-irq-syscalls.dat"))
}

fn has_label_with(window: &Window, words: &str) -> bool {
    window.query_all_by_label_contains(words).next().is_some()
}

fn trace(window: &Window) -> std::sync::Arc<Trace> {
    window.state().loaded().unwrap().trace.clone()
}

fn choose(window: &mut Window, keys: Vec<RowKey>) -> TimeSpan {
    let range = middle_half(window);
    act(window, Action::SelectArea(range, keys));
    range
}

/// Has the Selection pane add up slices: it begins with runs where a CPU is selected.
fn add_up_slices(window: &mut Window) {
    act(window, Action::OpenPane(PaneKind::Selection));
    settle(window);
    let buttons = window.query_all_by_role_and_label(Role::Button, "Slices");
    let lowest = buttons.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    lowest.unwrap().click();
    settle(window);
}

/// A CPU on which many slices of threads ran.
fn busy_cpu(trace: &Trace, span: TimeSpan) -> (CpuId, u32) {
    let count = |cpu: &CpuId| -> u64 {
        let area = Area {
            lanes: Lanes::Of(vec![Lane::OnCpu(*cpu)]),
            ..Area::of(span)
        };
        let job = Job::default();
        let found = groups(trace, &area, What::Slices, GroupBy::Cpu, &job).unwrap();
        found.iter().map(|group| group.count).sum()
    };
    let cpus = (0..trace.cpus.len() as u32).map(CpuId);
    let cpu = cpus.max_by_key(count).unwrap();
    (cpu, trace.cpus[cpu.0 as usize].number)
}

#[test]
fn a_chosen_cpu_counts_the_slices_that_ran_there() {
    let mut window = scheduling();
    let trace = trace(&window);
    let (cpu, number) = busy_cpu(&trace, middle_half(&window));
    let span = choose(&mut window, vec![RowKey::Cpu(number)]);
    let mut area = Area::of(span);
    area.add_cpu(&trace, cpu);
    let job = Job::default();
    let expected = groups(&trace, &area, What::Slices, GroupBy::Name, &job).unwrap();
    assert!(expected.len() > 5);
    let first = format!(
        "{}, Count {}",
        expected[0].key.label(&trace),
        ruler::grouped(expected[0].count as i64)
    );
    let words = format!(", CPU {number}");
    add_up_slices(&mut window);
    for pane in [PaneKind::Selection, PaneKind::Durations] {
        act(&mut window, Action::OpenPane(pane));
        let found = table_rows(&window);
        assert!(
            found.iter().any(|row| row.starts_with(&first)),
            "{pane:?}: {first} {found:?}"
        );
        assert!(has_label_with(&window, &words), "{pane:?} {words}");
    }
    act(&mut window, Action::OpenPane(PaneKind::FlameGraph));
    assert!(has_label_with(&window, &words));
    click_button(&mut window, "Names");
    assert!(table_rows(&window).len() > 5);
    // Two CPUs by their numbers; a CPU and a thread as tracks.
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    choose(&mut window, vec![RowKey::Cpu(0), RowKey::Cpu(1)]);
    assert!(has_label_with(&window, ", CPUs 0, 1"));
    let thread = trace.threads[1].key;
    choose(&mut window, vec![RowKey::Cpu(0), RowKey::Thread(thread)]);
    assert!(has_label_with(&window, ", 2 tracks"));
}

#[test]
fn a_cpu_beside_a_thread_counts_as_on_the_command_line() {
    let mut window = scheduling();
    let trace = trace(&window);
    let (_, number) = busy_cpu(&trace, middle_half(&window));
    let count = |thread: &ThreadId| {
        let is_own =
            |track: TrackId| trace.tracks[track.0 as usize].kind == TrackKind::Thread(*thread);
        let rows = trace.slices.rows.iter().filter(|row| is_own(row.track));
        rows.map(|row| row.slices.len()).sum::<usize>()
    };
    let threads = (1..trace.threads.len() as u32).map(ThreadId);
    let thread = threads.max_by_key(count).unwrap();
    let tid = trace.threads[thread.0 as usize].tid;
    let key = RowKey::Thread(tid);
    let span = choose(&mut window, vec![RowKey::Cpu(number), key]);
    let (track, tid) = (format!("CPU {number}"), tid.to_string());
    let (from, until) = (format!("@{}", span.start.0), format!("@{}", span.end.0));
    let path = file("sample-traces/sched-irq-syscalls.dat");
    let printed = json(&[
        "stats",
        &path.to_string_lossy(),
        "--track",
        &track,
        "--thread",
        &tid,
        "--from",
        &from,
        "--until",
        &until,
    ]);
    let mut printed: Vec<String> = printed
        .iter()
        .map(|row| {
            let count = row["count"].as_i64().unwrap();
            let name = row["group"].as_str().unwrap();
            format!("{name}, Count {}", ruler::grouped(count))
        })
        .collect();
    printed.sort_unstable();
    add_up_slices(&mut window);
    act(&mut window, Action::OpenPane(PaneKind::Durations));
    let rows = table_rows(&window);
    // The other table of the pane lists slices of one name.
    let counted = |row: &String| {
        let mut cells = row.split(", ");
        let (name, count) = (cells.next()?, cells.next()?);
        count
            .starts_with("Count ")
            .then(|| format!("{name}, {count}"))
    };
    let mut shown: Vec<String> = rows.iter().filter_map(counted).collect();
    shown.sort_unstable();
    assert!(shown.len() > 3, "{shown:?}");
    for row in &shown {
        assert!(printed.contains(row), "{row}: {printed:?}");
    }
}

#[test]
fn a_drag_over_a_cpu_shows_sums_with_the_words_for_what_they_are_of() {
    let mut window = scheduling();
    let (_, number) = busy_cpu(&trace(&window), middle_half(&window));
    choose(&mut window, vec![RowKey::Cpu(number)]);
    add_up_slices(&mut window);
    let row = window
        .query_all_by_label_contains(&format!("CPU {number}"))
        .map(|node| node.rect())
        .find(|rect| canvas(&window).y_range().contains(rect.center().y))
        .unwrap();
    let canvas = canvas(&window);
    let from = egui::pos2(canvas.left() + canvas.width() * 0.45, row.center().y);
    let until = egui::pos2(canvas.right() - 20.0, row.center().y);
    drag_and_hold(&mut window, from, until);
    // Sums come while the button is down, one after the other.
    settle(&mut window);
    let held = table_rows(&window);
    let is_of_cpu = has_label_with(&window, &format!(", CPU {number}"));
    assert!(is_of_cpu && held.len() > 3, "{held:?}");
    window.drop_at(until);
    settle(&mut window);
    assert_eq!(table_rows(&window), held);
}

#[test]
fn events_of_the_selection_are_counted_in_four_ways() {
    let mut window = scheduling();
    let trace = trace(&window);
    let (cpu, number) = busy_cpu(&trace, middle_half(&window));
    act(&mut window, Action::OpenPane(PaneKind::Selection));
    let span = choose(&mut window, vec![RowKey::Cpu(number)]);
    // The pane of that name has a tab above.
    let buttons = window.query_all_by_role_and_label(Role::Button, "Events");
    let lowest = buttons.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()));
    lowest.unwrap().click();
    settle(&mut window);
    let mut area = Area::of(span);
    area.add_cpu(&trace, cpu);
    for (by, button) in [
        (GroupBy::Name, "name"),
        (GroupBy::Thread, "thread"),
        (GroupBy::Process, "process"),
        (GroupBy::Cpu, "CPU"),
    ] {
        click_button(&mut window, button);
        let expected = event_counts(&trace, &area, by, &Job::default()).unwrap();
        let first = format!(
            "{}, Count {}",
            expected[0].label(&trace, by),
            ruler::grouped(expected[0].count as i64)
        );
        let found = table_rows(&window);
        assert!(found[0].starts_with(&first), "{first}: {found:?}");
        if by == GroupBy::Name {
            window.snapshot("selection-events");
        }
    }
}

fn count_in(trace: &Trace, span: TimeSpan, among: &Among) -> usize {
    let events = trace.events.from_time(span.start);
    events
        .take_while(|id| trace.events.time(*id) < span.end)
        .filter(|id| among.has(trace.events.thread(*id), trace.cpu_of(*id)))
        .count()
}

#[test]
fn listed_events_are_those_of_the_selected_tracks() {
    let mut window = scheduling();
    let trace = trace(&window);
    let busy = (1..trace.threads.len() as u32).map(ThreadId);
    let busy = busy.max_by_key(|id| trace.runs.of(*id).len()).unwrap();
    let (cpu, number) = busy_cpu(&trace, middle_half(&window));
    act(&mut window, Action::OpenPane(PaneKind::Events));
    let choices = [
        (
            RowKey::Thread(trace.thread(busy).key),
            Among::AnyOf(vec![busy], vec![]),
            " of 1 track".to_owned(),
        ),
        (
            RowKey::Cpu(number),
            Among::AnyOf(vec![], vec![cpu]),
            format!(" of CPU {number}"),
        ),
    ];
    let mut is_on = false;
    for (key, among, words) in choices {
        let span = choose(&mut window, vec![key]);
        if !is_on {
            click_button(&mut window, "In the selection");
            is_on = true;
        }
        let count = count_in(&trace, span, &among);
        assert!(count > 20, "{key:?}");
        let grouped = ruler::grouped(count as i64);
        let said = format!(
            "{grouped} of {} events, in ",
            ruler::grouped(trace.events.len() as i64)
        );
        let listed: Vec<String> = window
            .query_all_by_label_contains(" events, ")
            .filter_map(|node| node.accesskit_node().label())
            .collect();
        assert!(has_label_with(&window, &said), "{said}: {listed:?} {key:?}");
        assert!(has_label_with(&window, &words), "{words}");
    }
}

#[test]
fn events_of_a_process_are_those_of_its_threads() {
    let mut window = window(&file("sample-traces/compress.fxt"));
    let trace = trace(&window);
    let state = window.state().state();
    let key = state.rows.all().iter().find_map(|row| match row.key {
        RowKey::Process(key) => Some(key),
        _ => None,
    });
    let is_it = |id: &ThreadId| {
        let process = trace.thread(*id).process;
        process.is_some_and(|id| Some(trace.processes[id.0 as usize].key) == key)
    };
    let threads: Vec<ThreadId> = (0..trace.threads.len() as u32)
        .map(ThreadId)
        .filter(is_it)
        .collect();
    assert!(threads.len() > 1);
    act(&mut window, Action::OpenPane(PaneKind::Events));
    choose(&mut window, vec![RowKey::Process(key.unwrap())]);
    click_button(&mut window, "In the selection");
    let count = count_in(&trace, middle_half(&window), &Among::AnyOf(threads, vec![]));
    let said = format!("{} of ", ruler::grouped(count as i64));
    assert!(count > 20 && has_label_with(&window, &said), "{said}");
    assert!(has_label_with(&window, " of 1 track"));
}

#[test]
fn events_of_whole_tracks_are_listed_without_a_range() {
    let mut window = scheduling();
    act(&mut window, Action::OpenPane(PaneKind::Events));
    act(&mut window, Action::SelectRows(vec![RowKey::Cpu(1)]));
    click_button(&mut window, "In the selection");
    assert!(has_label_with(&window, " events, of CPU 1"));
    window.snapshot("events-of-a-cpu");
    // With a filter it is those of them that fit.
    type_into(&mut window, "Filter events", "cpu == 0");
    assert!(has_label_with(&window, "0 of "));
    assert!(has_label_with(&window, "No event in the selection matches"));
}
