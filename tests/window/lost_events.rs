//! Lost events can be inspected: pointed at, selected, stepped through, listed, seen in the overview, found by search; in
//! every format that tells of them, in joined files and in FXT that is opened again.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::support::*;
use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT, Queryable};
use threadline::base::{Job, TimeSpan, Timestamp};
use threadline::gui::theme;
use threadline::load::together::open_together;
use threadline::query::Item;
use threadline::trace::{GapId, Trace};
use threadline::view::{Action, Docking, PaneKind, RowKind};

fn recorded() -> std::path::PathBuf {
    file("sample-traces/function-graph.dat")
}

fn text() -> std::path::PathBuf {
    file("tests/golden/ftrace_text/atrace-marks.ftrace")
}

/// ftrace text with two losses on each of two CPUs, by turns.
fn made(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let line = |at: u32| {
        let cpu = at % 2;
        format!(
            "             app-{}     [00{cpu}] .....   1.{at:06}: tracing_mark_write: I|{}|tick\n",
            100 + cpu,
            100 + cpu
        )
    };
    let lost = |at: u32| match at {
        10 | 11 | 20 | 21 => format!("CPU:{} [LOST {at} EVENTS]\n", at % 2),
        _ => String::new(),
    };
    let lines: String = (0..40).map(|at| lost(at) + &line(at)).collect();
    let path = folder.path().join("losses.txt");
    std::fs::write(&path, format!("# tracer: nop\n#\n{lines}")).unwrap();
    path
}

fn trace(window: &Window) -> Arc<Trace> {
    window.state().loaded().unwrap().trace.clone()
}

/// The gaps as a list in the order of time, by a plain sort.
fn by_time(trace: &Trace) -> Vec<GapId> {
    let mut ids: Vec<GapId> = (0..trace.gaps.len() as u32).map(GapId).collect();
    ids.sort_by_key(|id| (trace.gap_span(*id).unwrap().start, *id));
    ids
}

fn selected(window: &Window) -> Option<Item> {
    window.state().state().selected
}

/// Where a time of the row of a CPU is on the screen.
fn place_on_cpu(window: &Window, number: u32, time: Timestamp) -> egui::Pos2 {
    let (area, state) = (canvas(window), window.state().state());
    let trace = trace(window);
    let is_it =
        |kind| matches!(kind, RowKind::Cpu(id) if trace.cpus[id.0 as usize].number == number);
    let row = state.rows.all().iter().find(|row| is_it(row.kind)).unwrap();
    let share = (time - state.span.start).0 as f64 / state.span.duration().0 as f64;
    let x = area.left() + (share * f64::from(area.width())) as f32;
    egui::pos2(x, area.top() + row.top - state.scroll + row.height / 2.0)
}

#[test]
fn a_gap_is_pointed_at_clicked_and_told_in_full() {
    for path in [recorded(), text()] {
        let mut window = window(&path);
        act(&mut window, Action::OpenPane(PaneKind::Details));
        let trace = trace(&window);
        let id = by_time(&trace)[0];
        let (gap, span) = (*trace.gap(id).unwrap(), trace.gap_span(id).unwrap());
        act(&mut window, Action::Reveal(Item::Gap(id)));
        act(&mut window, Action::Focus);
        act(&mut window, Action::DeselectItems);
        assert_eq!(selected(&window), None);
        let middle = Timestamp(span.start.0.midpoint(span.end.0));
        let at = place_on_cpu(&window, gap.cpu.unwrap(), middle);
        window.hover_at(at);
        window.run_steps(12);
        let lost = threadline::query::gaps::count_words(&gap);
        assert!(lost.ends_with("lost"), "{lost}");
        let tip = window.query_by_label_contains("Nothing is known of what happened in between");
        assert!(tip.is_some(), "a tooltip");
        window.drag_at(at);
        window.drop_at(at);
        window.run_steps(3);
        settle(&mut window);
        assert_eq!(selected(&window), Some(Item::Gap(id)));
        let words = format!("gap in the recording of CPU {}", gap.cpu.unwrap());
        assert!(window.query_all_by_label_contains(&words).next().is_some());
        assert!(
            window
                .query_all_by_label_contains("first event after")
                .next()
                .is_some()
        );
        // Its CPU is a link.
        click_value(&mut window, &gap.cpu.unwrap().to_string());
        assert!(matches!(selected(&window), Some(Item::Cpu(_))));
    }
}

#[test]
fn keys_menus_and_the_palette_go_from_gap_to_gap() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = window(&made(&folder));
    let gaps = by_time(&trace(&window));
    assert_eq!(gaps.len(), 4);
    for id in &gaps {
        key(&mut window, Modifiers::NONE, Key::X);
        settle(&mut window);
        assert_eq!(selected(&window), Some(Item::Gap(*id)));
        let state = window.state().state();
        assert!(state.span.overlaps(state.selected_time.unwrap()));
    }
    // Past the last comes the first.
    key(&mut window, Modifiers::NONE, Key::X);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[0])));
    key(&mut window, Modifiers::SHIFT, Key::X);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[gaps.len() - 1])));
    // Back leads to where one was.
    key(&mut window, Modifiers::SHIFT, Key::X);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[gaps.len() - 2])));
    // The keys for neighbours keep to the CPU.
    let trace = trace(&window);
    key(&mut window, Modifiers::NONE, Key::Comma);
    let Some(Item::Gap(other)) = selected(&window) else {
        panic!("a gap");
    };
    let cpu = |id: GapId| trace.gap(id).unwrap().cpu;
    assert_eq!(cpu(other), cpu(gaps[2]));
    assert_eq!(other, gaps[0]);
    // A range and nothing else selected: on from what is seen.
    act(&mut window, Action::Fit);
    act(&mut window, Action::Deselect);
    window.get_by_label("Find").click();
    window.run_steps(2);
    let item = "Next place where events were lost";
    window.get_by_label_contains(item).click();
    settle(&mut window);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[0])));
    key(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    let field = "Find a command";
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.run_steps(2);
    window
        .get_by_role_and_label(Role::TextInput, field)
        .type_text(item);
    window.run_steps(2);
    key(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[1])));

    // Where nothing was lost, the key says so.
    show(&mut window, &hackbench());
    key(&mut window, Modifiers::NONE, Key::X);
    assert!(
        window
            .query_by_label("No events were lost in this trace")
            .is_some()
    );
}

#[test]
fn gaps_are_listed_and_a_row_leads_to_its_gap() {
    let mut window = window(&recorded());
    act(&mut window, Action::OpenPane(PaneKind::Info));
    let trace = trace(&window);
    let gaps = by_time(&trace);
    let mut rows = table_rows(&window);
    rows.retain(|row| row.contains("Lost "));
    assert_eq!(rows.len(), gaps.len(), "{rows:?}");
    assert!(rows.iter().all(|row| row.contains("CPU ")), "{rows:?}");
    let words = threadline::query::gaps::sum_words(&trace);
    assert!(window.query_by_label(&words).is_some(), "{words}");
    window.query_all_by_role(Role::Row).nth(1).unwrap().click();
    window.run_steps(2);
    settle(&mut window);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[1])));
}

#[test]
fn the_overview_marks_where_events_were_lost() {
    let marked = |path: &Path| {
        let mut window = window(path);
        let area = window.get_by_label("Overview").rect();
        let color = theme::palette(egui::Theme::Dark).gap;
        let picture = window.render().unwrap();
        let y = area.bottom() as u32 - 3;
        let columns = area.left() as u32..area.right() as u32;
        let is_marked = |x: &u32| {
            let pixel = picture.get_pixel(*x, y).0;
            let near = |a: u8, b: u8| a.abs_diff(b) < 30;
            near(pixel[0], color.r()) && near(pixel[1], color.g()) && near(pixel[2], color.b())
        };
        columns.filter(is_marked).count()
    };
    assert!(marked(&recorded()) >= 2);
    assert!(marked(&text()) >= 2);
    assert_eq!(marked(&hackbench()), 0);
}

#[test]
fn a_search_finds_gaps_in_the_window_and_on_the_command_line() {
    let mut window = window(&recorded());
    let gaps = by_time(&trace(&window));
    act(&mut window, Action::Search("lost events".to_owned()));
    act(&mut window, Action::OpenPane(PaneKind::Matches));
    let rows = table_rows(&window);
    assert!(rows[0].contains("Type gap, Name lost events"), "{rows:?}");
    let words = format!("{} matches", gaps.len());
    assert!(window.query_by_label(&words).is_some(), "{words}");
    key(&mut window, Modifiers::NONE, Key::F3);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[0])));

    for (path, count) in [(recorded(), gaps.len()), (text(), 1), (hackbench(), 0)] {
        for expression in ["name == \"lost events\"", "lost events"] {
            let found = Command::new(env!("CARGO_BIN_EXE_threadline"))
                .args(["search", "--in", "gaps", "--count"])
                .arg(expression)
                .arg(&path)
                .output()
                .unwrap();
            let found = String::from_utf8_lossy(&found.stdout).trim().to_owned();
            assert_eq!(
                found,
                count.to_string(),
                "{expression} in {}",
                path.display()
            );
        }
    }
}

#[test]
fn joined_files_keep_their_gaps_apart() {
    let loaded = open_together(&[recorded(), text()], &[], &[], &Job::default(), None);
    let mut window = empty_window();
    window.state_mut().show(Arc::new(loaded.unwrap()));
    settle(&mut window);
    let trace = trace(&window);
    let gaps = by_time(&trace);
    let alone = threadline::load::open(&recorded(), &Job::default()).unwrap();
    assert_eq!(gaps.len(), alone.trace.gaps.len() + 1);
    for id in &gaps {
        key(&mut window, Modifiers::NONE, Key::X);
        assert_eq!(selected(&window), Some(Item::Gap(*id)));
    }
    // Both files have a CPU 1: the gap of the text is on its own.
    let last = GapId(trace.gaps.len() as u32 - 1);
    let cpu = trace.gap_cpu(last).unwrap();
    assert!(trace.sources[1].cpus.contains(&cpu.0));
    act(&mut window, Action::Dock(Docking::Share(0.7)));
    act(&mut window, Action::OpenPane(PaneKind::Info));
    let rows = table_rows(&window);
    assert!(
        rows.iter().any(|row| row.ends_with("function-graph.dat")),
        "{rows:?}"
    );
    act(&mut window, Action::Reveal(Item::Gap(last)));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    let words = "gap in the recording of CPU 1 · atrace-marks.ftrace";
    assert!(window.query_by_label(words).is_some());
    assert!(window.query_by_label("12 events lost").is_some());
}

#[test]
fn events_at_a_gap_of_no_length_are_neither_before_nor_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let event = |at: u32| {
        format!("             app-100     [000] .....   1.{at:06}: tracing_mark_write: I|100|x\n")
    };
    let lost = "CPU:0 [LOST 7 EVENTS]\n";
    let [one, two, three] = [1, 2, 3].map(event);
    let same = event(1);
    for (lines, expected) in [
        (format!("{lost}{one}{two}"), &["first event after"][..]),
        (format!("{one}{two}{lost}"), &["last event before"]),
        (
            format!("{one}{lost}{two}{three}"),
            &["last event before", "first event after"],
        ),
        (
            format!("{one}{lost}{same}{two}"),
            &["event at this time", "event after"],
        ),
    ] {
        let path = folder.path().join("losses.txt");
        std::fs::write(&path, format!("# tracer: nop\n#\n{lines}")).unwrap();
        let mut window = window(&path);
        act(&mut window, Action::OpenPane(PaneKind::Details));
        key(&mut window, Modifiers::NONE, Key::X);
        settle(&mut window);
        let links = window.query_all_by_role(Role::Link);
        let links: Vec<String> = links.filter_map(|it| it.accesskit_node().label()).collect();
        let around: Vec<_> = links.iter().filter(|it| it.contains("event")).collect();
        assert_eq!(around.len(), expected.len(), "{links:?}");
        for (link, words) in around.iter().zip(expected) {
            assert!(link.starts_with(&format!("{words}: ")), "{links:?}");
        }
        let times = around.iter().map(|it| it.rsplit(' ').next().unwrap());
        let times: Vec<&str> = times.collect();
        assert!(times.is_sorted_by(|a, b| a < b), "{links:?}");
    }
}

/// A trace exported as FXT.
fn exported(path: &Path, folder: &tempfile::TempDir) -> std::path::PathBuf {
    let out = folder.path().join("again.fxt");
    let status = Command::new(env!("CARGO_BIN_EXE_threadline"))
        .args(["export", "--force"])
        .arg(path)
        .arg("-o")
        .arg(&out)
        .status()
        .unwrap();
    assert!(status.success());
    out
}

/// What the command line prints of a trace's gaps: the list, and the lines of `info` about them.
fn printed(path: &Path) -> (String, Vec<String>) {
    let run = |arguments: &[&str]| {
        let found = Command::new(env!("CARGO_BIN_EXE_threadline"))
            .args(arguments)
            .arg(path)
            .output()
            .unwrap();
        String::from_utf8_lossy(&found.stdout).into_owned()
    };
    let list = run(&["search", "--in", "gaps", "name == \"lost events\""]);
    let info = run(&["info"]);
    let lines = info.lines().filter(|line| line.starts_with("lost"));
    (list, lines.map(str::to_owned).collect())
}

#[test]
fn fxt_that_is_opened_again_lost_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let case = |name: &str| file(&format!("tests/cases/{name}"));
    let uncounted = case("tracedat/lost-count-unknown.dat.zst");
    for (path, sum) in [
        (recorded(), "1 315 events lost in 2 gaps"),
        (text(), "12 events lost in 1 gap"),
        (
            case("ftrace_text/digit-event-name.txt"),
            "102 299 events lost in 1 gap",
        ),
        (uncounted, "12 110 events lost"),
        (case("tracedat/overwritten-false-latency.dat.zst"), ""),
    ] {
        let again = exported(&path, &folder);
        assert_eq!(printed(&again), printed(&path), "{}", path.display());
        let (ours, theirs) = (window(&path), window(&again));
        let (ours, theirs) = (trace(&ours), trace(&theirs));
        assert_eq!(theirs.gaps, ours.gaps);
        assert!(!theirs.gaps.is_empty());
        let is_of_cpus = theirs.gaps.iter().any(|gap| gap.cpu.is_some());
        assert_eq!(is_of_cpus, !path.ends_with("digit-event-name.txt"));
        let words = threadline::query::gaps::sum_words(&theirs);
        assert!(words.contains(sum), "{words}");
        let cpu = |trace: &Trace, id| {
            let cpu = trace.gap_cpu(id)?;
            Some(trace.cpus[cpu.0 as usize].number)
        };
        for id in by_time(&theirs) {
            assert_eq!(cpu(&theirs, id), cpu(&ours, id));
        }
        // Nobody and nothing is there that the source did not have, but for tracks of CPUs.
        let is_loss = |name: &str| name.contains("lost events");
        assert!(
            (0..theirs.kinds.len()).all(|kind| {
                !is_loss(&theirs.kind_name(threadline::event::KindId(kind as u32)))
            })
        );
        // A copy of the copy says the same again.
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(printed(&exported(&again, &folder)), printed(&path));
    }
}

#[test]
fn gaps_of_no_cpu_are_bands_that_can_be_inspected() {
    let path = file("tests/cases/fxt/all_args.fxt.zst");
    let mut window = window(&path);
    let trace = trace(&window);
    let gaps = by_time(&trace);
    assert!(!gaps.is_empty());
    assert!(gaps.iter().all(|id| trace.gap_cpu(*id).is_none()));
    act(&mut window, Action::OpenPane(PaneKind::Details));
    key(&mut window, Modifiers::NONE, Key::X);
    settle(&mut window);
    assert_eq!(selected(&window), Some(Item::Gap(gaps[0])));
    assert!(
        window
            .query_all_by_label_contains("the file names none")
            .next()
            .is_some()
    );
    // Over empty places of any track the band can be pointed at.
    let span = trace.gap_span(gaps[0]).unwrap();
    let wide = TimeSpan::new(
        span.start - threadline::base::Nanos(50),
        span.end + threadline::base::Nanos(50),
    );
    act(&mut window, Action::Show(wide));
    act(&mut window, Action::DeselectItems);
    let state = window.state().state();
    let share = (span.start - state.span.start).0 as f32 / state.span.duration().0 as f32;
    let area = canvas(&window);
    let x = area.left() + share * area.width() + 1.0;
    let found = (0..40).any(|step| {
        window.hover_at(egui::pos2(x, area.top() + 4.0 + step as f32 * 5.0));
        window.run_steps(2);
        matches!(window.state().state().pointed, Some(Item::Gap(_)))
    });
    assert!(found, "the band is under the pointer somewhere");
}
